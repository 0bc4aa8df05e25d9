"""The container file builds, and what it builds starts as somebody of no rights, says that it is well, and ends."""

import shlex
import signal
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.deployment.container import Container, steps
from tests.deployment.page import blocks, commands
from tests.workspace.conftest import wait_until

FILE = ROOT / "deploy" / "Containerfile"
SECONDS_GIVEN = 10.0
"""What docker gives a container to end in."""


def said(name: str) -> list[str]:
    return [rest for step, rest in steps(FILE) if step == name]


def test_it_runs_as_a_user_of_its_own_who_owns_the_volume():
    [user], [volume] = said("USER"), said("VOLUME")
    [account] = [rest for rest in said("RUN") if rest.startswith("useradd ")]
    assert user == "touchstone"
    assert shlex.split(account)[-1] == user
    assert f"--home-dir {volume} " in account
    assert any(f"TOUCHSTONE_HOME={volume}" in rest.split() for rest in said("ENV"))
    order = [name for name, _ in steps(FILE)]
    assert "RUN" not in order[order.index("USER") :], "a step as that user cannot write the image"


def test_secrets_and_tests_are_not_copied():
    sources = [word for rest in said("COPY") for word in shlex.split(rest)[:-1]]
    files, folders = (
        {"requirements.txt", "app.py", "pyproject.toml", ".streamlit/config.toml"},
        {"core", "ui", "pages", "touchstone"},
    )
    assert set(sources) == files | folders


def test_the_commands_of_the_page_name_what_the_file_has():
    lines = [*commands("In a container"), *commands("In a container", 1)]
    build, run, alone = map(shlex.split, lines)
    assert ROOT / build[build.index("--file") + 1] == FILE
    image, [port], [volume] = build[build.index("--tag") + 1], said("EXPOSE"), said("VOLUME")
    assert run[-1] == image
    assert run[run.index("--publish") + 1] == f"127.0.0.1:{port}:{port}"
    for words in (run, alone):
        assert f"touchstone:{volume}" in words
    [folder] = said("WORKDIR")
    assert f"./.streamlit/secrets.toml:{folder}/.streamlit/secrets.toml:ro" in run
    assert alone[alone.index(image) + 1 :][:3] == ["-m", "streamlit", "run"]


@pytest.mark.evidence
def test_its_steps_build_and_start_the_app(tmp_path: Path):
    container = Container(FILE, tmp_path)
    with container.running() as process:
        assert process.wait(timeout=60) != 0, "others reach a published port: it asks for sign-in"
    assert "without sign-in, anyone who can reach it" in container.log
    assert not container.is_healthy()

    alone = shlex.split(commands("In a container", 1)[0])
    with container.running(*alone[alone.index("touchstone") + 1 :]):
        wait_until(container.is_healthy, bool)
        wait_until(lambda: container.log, lambda log: "/?token=" in log)

    [secrets] = blocks("For a group", "toml")
    (container.folder / ".streamlit/secrets.toml").write_text(secrets.replace('"…"', f'"{"s" * 40}"'))
    with container.running() as process:
        wait_until(container.is_healthy, bool)
        asked = time.monotonic()
    assert process.returncode in (0, -signal.SIGTERM), "uvicorn ends by the signal that it was sent, once all is done"
    assert not (container.home / "open.json").exists()
    assert time.monotonic() - asked < SECONDS_GIVEN
    assert (container.home / "access").is_file()
    # Its user can write nothing there, and misses no code that Python keeps.
    later = [file for file in container.folder.rglob("*") if file.stat().st_mtime > container.built and file.is_file()]
    assert {file.name for file in later if file.suffix != ".pyc"} == {"secrets.toml"}
