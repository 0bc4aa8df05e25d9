"""Is Touchstone whole where it is installed as a tool? Its wheel in a fresh environment, far from any checkout."""

import os
import re
import signal
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from shutil import copyfile
from sysconfig import get_path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.browser.server import free_port
from tests.conftest import ROOT
from tests.test_command_check import predictions, worse_model
from touchstone.core.installed import command

pytestmark = pytest.mark.evidence
IN_WHEEL = ("touchstone", "touchstone_dashboard")
SECONDS = 120
LINKS = ("touchstone/core", "touchstone/ui", "touchstone/pages")


def tracked() -> list[str]:
    """The files of the checkout that are the project's."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built in a copy, for building writes beside the sources."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    for name in tracked():
        if not name.startswith(("docs/", "tests/", "benchmarks/")):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            copyfile(ROOT / name, source / name, follow_symlinks=False)
    (source / ".streamlit" / "secrets.toml").write_text("[auth]\n")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(built), str(source))
    [file] = built.glob("*.whl")
    return file


def pip(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "-q", *words], check=True, timeout=SECONDS)


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The folder of the programs of an environment that has the wheel, and sees the packages of this one."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=SECONDS)
    pip("--python", str(folder / "bin" / "python"), "install", "--no-deps", "--no-index", str(wheel))
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(get_path("purelib"))
    return folder / "bin"


@pytest.fixture
def away(tmp_path) -> dict:
    """How a program is started in an empty folder, with a home of its own, without a checkout on its path."""
    known = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TOUCHSTONE"))}
    (tmp_path / "away").mkdir()
    return {"cwd": tmp_path / "away", "env": known | {"TOUCHSTONE_HOME": str(tmp_path / "home")}, "text": True}


def test_the_wheel_holds_what_is_read_at_run_time_and_no_secret(wheel):
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
    assert {name.partition("/")[0].partition(".py")[0].partition("-")[0] for name in names} == set(IN_WHEEL)
    ours = ("core/", "pages/", "ui/", "app.py", ".streamlit/config.toml")
    assert {f"touchstone/{name}" for name in tracked() if name.startswith(ours)} <= names
    assert {"touchstone/__init__.pyi", "touchstone/py.typed"} <= names
    assert "touchstone/.streamlit/secrets.toml" not in names


def test_the_wheel_of_an_archive_of_the_sources_is_the_same(wheel, tmp_path):
    """And so of a checkout in which links are files: neither needs them."""
    source = tmp_path / "source"
    for name in tracked():
        if not name.startswith(("docs/", "tests/", "benchmarks/", *LINKS)):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            copyfile(ROOT / name, source / name, follow_symlinks=False)
    for link in LINKS:
        (source / link).write_text(f"../{Path(link).name}")
    code = "import setuptools.build_meta as build, sys; print(build.build_sdist(sys.argv[1]))"
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=source, check=True, timeout=SECONDS, capture_output=True
    )
    [archive] = tmp_path.glob("*.tar.gz")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path), str(archive))
    [file] = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(file) as other:
        assert set(one.namelist()) == set(other.namelist())


def test_a_check_and_a_run_go_far_from_a_checkout(installed, away):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    table = pd.DataFrame(rng.normal(size=(120, 2)) + 2 * y[:, None], columns=["a", "b"])
    table.assign(label=np.where(y, "yes", "no")).to_csv(away["cwd"] / "t.csv", index=False)
    words = ["check", "--data", "t.csv", "--budget", "1s", "--require", "source_robustness.rho >= 0"]
    done = subprocess.run([installed / "touchstone", *words], capture_output=True, timeout=SECONDS, check=False, **away)
    assert done.returncode in (0, 3), done.stderr
    assert "source_robustness.rho" in done.stdout
    assert "The same command goes on." in done.stderr
    assert sorted(file.name for file in away["cwd"].iterdir()) == ["t.csv"]
    where = "import touchstone; from touchstone import core; print(touchstone.__file__, core.COMMAND, core.version())"
    for folder in ("core", "ui", "pages", "app"):  # of a project of somebody's own
        (away["cwd"] / f"{folder}.py").write_text("raise SystemExit('a foreign module was imported')")
    told = subprocess.run([installed / "python", "-c", where], capture_output=True, timeout=SECONDS, check=True, **away)
    assert told.stdout.startswith(str(installed.parent))
    assert told.stdout.split()[1] == "touchstone"
    plan = '{"kind": "trials", "models": ["nearest_neighbours"], "n_repeats": 2}'
    run = [installed / "touchstone", "run", "--data", "t.csv", plan]
    rows = subprocess.run(run, capture_output=True, timeout=SECONDS, check=True, **away).stdout
    assert "n_correct" in rows.partition("\n")[0].split("\t")
    refused = subprocess.run(
        [installed / "touchstone", "check"], capture_output=True, timeout=SECONDS, check=False, **away
    )
    assert (refused.returncode, refused.stdout) == (2, "")


def test_the_steps_that_the_docs_give_a_ci_system_run(installed, away, tmp_path):
    page = (ROOT / "docs" / "checks.md").read_text("utf-8")
    [step] = re.findall(r"- run: (touchstone .*)", page)
    worse_model(away["cwd"])
    away["env"] |= {"PATH": f"{installed}{os.pathsep}{os.environ['PATH']}", "TOUCHSTONE_HOME": ".touchstone"}
    done = subprocess.run(step, shell=True, capture_output=True, timeout=SECONDS, check=False, **away)
    assert done.returncode == 1, done.stderr
    assert "fails: model_comparison.difference.lower >= -0.01" in done.stderr
    assert ElementTree.parse(away["cwd"] / "accuracy.xml").getroot().get("failures") == "1"


def test_alone_it_starts_the_app_behind_its_printed_address(installed, away, tmp_path):
    url = f"http://127.0.0.1:{(port := free_port())}"
    with open(tmp_path / "log", "w") as log:
        app = subprocess.Popen([installed / "touchstone", f"--port={port}"], stdout=log, stderr=log, **away)
    try:
        until = time.monotonic() + SECONDS
        while (status := answer(f"{url}/_stcore/health")) != 200 and app.poll() is None and time.monotonic() < until:
            time.sleep(0.2)
        assert status == 200, (tmp_path / "log").read_text()
        assert answer(url) == 403, "anybody is let in"
        told = subprocess.run(
            [installed / "touchstone", "address"], capture_output=True, timeout=SECONDS, check=True, **away
        )
        printed = told.stdout.strip()
        assert printed.startswith(f"{url}/?token=")
        assert printed in (tmp_path / "log").read_text()
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(printed, timeout=SECONDS) as page:
            assert page.headers["Content-Security-Policy"], "not our launcher"
            assert "window.__streamlit" in page.read().decode()
    finally:
        app.send_signal(signal.SIGINT)
        app.wait(timeout=SECONDS)


def answer(url: str) -> int | None:
    """The status of an answer; None where there is none."""
    try:
        with urllib.request.urlopen(url, timeout=5) as page:
            return page.status
    except urllib.error.HTTPError as refused:
        return refused.code
    except OSError:
        return None


def test_pytest_finds_the_fixture_of_an_installed_touchstone(installed, away):
    for name, accuracy in (("old.csv", 0.9), ("new.csv", 0.9)):
        predictions(away["cwd"] / name, accuracy=accuracy, seed=1)
    test = "def test_it(assert_not_worse):\n    assert_not_worse('new.csv', 'old.csv', margin=.02)\n"
    (away["cwd"] / "test_it.py").write_text(test)
    words = [installed / "python", "-m", "pytest", "-q", "test_it.py"]
    done = subprocess.run(words, capture_output=True, timeout=SECONDS, check=False, **away)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


LIGHT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import numpy as np
import touchstone
from touchstone.core.__main__ import main

truth = np.tile(["cat", "dog"], 60)
sides = [touchstone.predictions(truth, np.where(np.arange(120) < n, "cat", truth)) for n in (5, 40)]
print(touchstone.compare(*sides).verdict.headline)
touchstone.compare(*sides, design="independent").report("matched.html")
print(touchstone.check("source_robustness", "wine", models=("logistic",), n_repeats=3).verdict.headline)
list(touchstone.KMeansFolds(n_folds=3).split(np.random.default_rng(0).normal(size=(60, 2))))
rows = [f"{row},{label},cat" for row, label in enumerate(truth)]
with open("old.csv", "w") as file:
    print("id,truth,predicted", *rows, sep=chr(10), file=file)
assert main(["read", "old.csv"]) == 0
assert main(["compare", "old.csv", "old.csv", "--report", "pair.html"]) == 0
assert main(["plan", "--difference", ".02"]) == 0
assert main(["claims", "M01"]) == 0 and main(["plans", "trials"]) == 0
assert main(["check", "--predictions", "old.csv", "old.csv", "--require", "difference >= 0"]) in (0, 3)
assert main(["check", "--data", "wine"]) == 2
from touchstone.core import testing
logistic = testing.REGISTRIES["touchstone.models"]["logistic"]
assert not list(filter(None, (testing._problem_with(law, "logistic", logistic) for law in testing.OF_MODELS)))
try:
    touchstone.check("source_robustness", "wine", models=("linear",), n_repeats=3)
except touchstone.core.data.DataError as error:
    print(error)
"""
NOT_LIGHT = ("torch", "safetensors", "streamlit", "umap", "distributed", "dask", "sqlalchemy", "onnxruntime", "psycopg")


def test_without_extras_files_are_read_compared_and_reported(installed, away):
    code = LIGHT.replace("ABSENT", repr(set(NOT_LIGHT)))
    done = subprocess.run([installed / "python", "-c", code], capture_output=True, timeout=SECONDS, **away)
    assert done.returncode == 0, done.stderr
    assert "the new model is worse than the reference" in done.stdout
    assert "this takes sqlalchemy, which is not installed. Install it: pip install 'touchstone-dashboard[cluster]'" in (
        done.stderr
    )
    assert "this takes torch, which is not installed. Install it: pip install 'touchstone-dashboard[torch]'" in (
        done.stdout
    )


def test_requirements_are_what_the_package_and_the_app_take():
    about = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = about["optional-dependencies"]
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    listed = {line.partition("#")[0].strip() for line in lines} - {""}
    app = {each for name in ("app", "cluster", "torch") for each in extras[name] if not each.startswith(about["name"])}
    assert listed == {*about["dependencies"], *app}
    assert not any(each.partition("[")[0].partition(">")[0] in NOT_LIGHT for each in about["dependencies"])


def test_constraints_are_versions_of_all_that_is_required():
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pinned = dict(canonical(line) for line in lines if not line.startswith("#"))
    for file in ("requirements.txt", "requirements-dev.txt"):
        for line in (ROOT / file).read_text("utf-8").splitlines():
            needed = Requirement(line.partition("#")[0].strip())
            assert pinned[canonicalize_name(needed.name)] in needed.specifier, line


def canonical(line: str) -> tuple[str, str]:
    name, version = line.split("==")
    return canonicalize_name(name), version


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("pipx_metadata.json", "{}", "pipx inject touchstone-dashboard openpyxl"),
        ("uv-receipt.toml", "", "uv tool install touchstone-dashboard --with openpyxl"),
        ("pyvenv.cfg", "home = /usr/bin\nuv = 0.9.1\n", "uv pip install openpyxl"),
        ("pyvenv.cfg", "home = /usr/bin\n", "pip install openpyxl"),
    ],
)
def test_a_remedy_is_in_the_words_of_what_installed_it(monkeypatch, tmp_path, file, content, words):
    (tmp_path / file).write_text(content)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert command("openpyxl") == words


def test_without_the_app_its_start_says_what_brings_it(installed, away):
    code = "import sys; sys.modules['streamlit'] = None; from touchstone.ui.shell.tool import main; main()"
    done = subprocess.run([installed / "python", "-c", code], capture_output=True, timeout=SECONDS, **away)
    assert done.returncode == 2
    assert done.stderr == "touchstone: this takes streamlit, which is not installed. Install it: pip install " + (
        "'touchstone-dashboard[app]'\n"
    )
