"""One address says whether database and workers answer: in a few words, soon, and to everybody who may ask."""

import asyncio
import json
import threading
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette

from tests.browser.server import free_port
from tests.ui.test_access import ask
from touchstone.core.workspace.engine import runner
from touchstone.core.workspace.engine.runner import close_engine
from touchstone.ui.shell import health

WELL = {"database": "ok", "workers": "not started"}


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch) -> Iterator:
    monkeypatch.setenv("TOUCHSTONE_HOME", str(tmp_path))
    for name in ("TOUCHSTONE_DATABASE", "TOUCHSTONE_SCHEDULER"):
        monkeypatch.delenv(name, raising=False)
    close_engine()
    yield tmp_path
    close_engine()


async def answer(app: Starlette) -> tuple[int, dict]:
    came: list[dict] = []

    async def send(message: dict) -> None:
        came.append(message)

    await app({"type": "http", "method": "GET", "path": "/health", "headers": [], "query_string": b""}, None, send)
    return came[0]["status"], json.loads(came[1]["body"])


def asked() -> tuple[int, dict]:
    return asyncio.run(answer(Starlette(routes=[health.route()])))


def test_a_server_on_which_nothing_ran_yet_is_well():
    assert asked() == (200, WELL)


def test_a_database_that_does_not_answer_is_told_without_its_address(monkeypatch):
    monkeypatch.setenv("TOUCHSTONE_DATABASE", f"postgresql://touchstone:secret@127.0.0.1:{free_port()}/touchstone")
    assert asked() == (503, {"database": "no answer", "workers": "no answer"})


def test_a_damaged_database_is_told(home):
    (home / "touchstone.sqlite").write_bytes(b"no database at all" * 100)
    assert asked()[1]["database"] == "no answer"


def test_many_who_ask_at_once_are_one_question_and_nobody_waits_for_long(monkeypatch):
    n_asked, may_answer = [], threading.Event()

    def slow(_engine) -> str:
        n_asked.append(1)
        may_answer.wait(timeout=60)
        return "ok"

    monkeypatch.setattr(health, "SECONDS_PATIENT", 1.0)
    monkeypatch.setattr(runner, "PARTS", {"database": lambda _engine: "ok", "workers": slow})

    async def many() -> list[tuple[int, dict]]:
        app = Starlette(routes=[health.route()])
        early = await asyncio.gather(*(answer(app) for _ in range(20)))
        may_answer.set()
        while (late := await answer(app))[0] != 200:
            await asyncio.sleep(0.05)
        return [*early, late]

    *early, late = asyncio.run(many())
    assert len(n_asked) == 1
    assert early == [(503, {"database": "ok", "workers": "no answer"})] * 20
    assert late == (200, {"database": "ok", "workers": "ok"})


@pytest.mark.parametrize(("path", "status"), [("/health", 200), ("/x/health", 403), ("/healthy", 403)])
def test_it_is_told_without_the_printed_address(path: str, status: int):
    assert ask(path).status == status
