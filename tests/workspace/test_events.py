"""One line of JSON per event where a setting asks for it, of what is listed and of nothing else."""

import json
import re
import stat
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.workspace.conftest import wait_until
from tests.workspace.plans import SleepPlan
from touchstone.core.workspace import LOCAL_OWNER, WorkspaceError, events
from touchstone.core.workspace.engine import runner


@pytest.fixture
def log(tmp_path, monkeypatch) -> Path:
    file = tmp_path / "events.log"
    monkeypatch.setenv(events.SETTING, str(file))
    return file


def lines(log: Path) -> list[dict]:
    written = [json.loads(line) for line in log.read_text("utf-8").splitlines()] if log.exists() else []
    for line in written:
        assert tuple(line) == ("time", "event", *events.EVENTS[line["event"]])
    return written


def of(line: dict) -> dict:
    """All but when it was, and how long it took."""
    return {name: value for name, value in line.items() if name not in ("time", "seconds")}


def test_it_is_off_unless_somebody_asks_for_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    events.note("too_many_requests")
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr() == ("", "")


def test_an_event_is_a_line_with_its_time_in_a_file_of_ones_own(log):
    events.note("link_asked", link="e3316e2b", works=True)
    [line] = lines(log)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", line["time"])
    assert of(line) == {"event": "link_asked", "link": "e3316e2b", "works": True}
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    log.rename(log.with_suffix(".1"))
    events.note("too_many_requests")
    assert [line["event"] for line in lines(log)] == ["too_many_requests"]


def test_it_may_be_standard_error(monkeypatch, capsys):
    monkeypatch.setenv(events.SETTING, "-")
    events.note("too_many_requests")
    assert json.loads(capsys.readouterr().err)["event"] == "too_many_requests"


@pytest.mark.parametrize("facts", [{}, {"link": "e3316e2b"}, {"link": "e3316e2b", "works": True, "owner": "alice"}])
def test_what_is_not_listed_is_not_written(log, facts):
    with pytest.raises(TypeError):
        events.note("link_asked", **facts)
    assert lines(log) == []


def test_the_docs_repeat_the_list():
    text = (ROOT / "docs" / "deployment.md").read_text("utf-8").split("## A log")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*)\|", text, re.M)
    assert {name: tuple(re.findall(r"`(\w+)`", facts)) for name, facts in rows} == events.EVENTS


def test_where_a_line_cannot_be_written_work_goes_on(tmp_path, monkeypatch):
    monkeypatch.setenv(events.SETTING, str(tmp_path / "nowhere" / "events.log"))
    events.note("too_many_requests")
    assert list(tmp_path.iterdir()) == []


def note_many(_: int) -> None:
    for _ in range(200):
        events.note("link_asked", link="x" * 400, works=True)


def test_lines_of_several_processes_stay_whole(log):
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as processes:
        list(processes.map(note_many, range(2)))
    assert len(lines(log)) == 400


def test_a_fault_is_its_type_and_its_place_but_not_its_words(log):
    try:
        events.note("no such event of alice")
    except KeyError as problem:
        events.note_fault(problem)
    events.note_fault(ValueError("raised nowhere, of alice"))
    assert "alice" not in log.read_text()
    here, nowhere = lines(log)
    assert here["type"] == "KeyError"
    assert re.fullmatch(r"core/workspace/events\.py:\d+", here["where"])
    assert (nowhere["type"], nowhere["where"]) == ("ValueError", "")


def test_a_run_is_noted_when_it_begins_and_when_it_ends(log, run_plan):
    run = run_plan(SleepPlan(n=3))
    about = {"run": run.id, "kind": "sleep"}
    wait_until(lambda: len(lines(log)), lambda n: n == 2)
    assert [of(line) for line in lines(log)] == [
        {"event": "run_started", **about, "n_trials": 3, "n_done": 0},
        {"event": "run_finished", **about, "state": "done"},
    ]


@pytest.mark.parametrize("problem", [WorkspaceError("alice's file"), ZeroDivisionError("alice's file")])
def test_of_a_run_that_fails_the_log_has_the_type_and_not_the_words(log, run_plan, monkeypatch, problem):
    def stop(*_: object, **__: object) -> None:
        raise problem

    monkeypatch.setattr(runner, "RunInWork", stop)
    run = run_plan(SleepPlan(n=2))
    assert "alice" in run.errors[0]
    assert "alice" not in log.read_text()
    foreseen = isinstance(problem, WorkspaceError)
    assert [line["event"] for line in lines(log)] == ["run_started", *([] if foreseen else ["fault"]), "run_failed"]
    assert lines(log)[-1]["type"] == type(problem).__name__


def test_sign_ins_are_noted_when_they_begin_and_end(log, workspace):
    for _ in range(2):
        workspace.follow_sign_in(LOCAL_OWNER, "0123456789abcdef", browser="Firefox on Linux")
    for _ in range(2):
        workspace.sign_out(LOCAL_OWNER, "0123456789abcdef")
    assert [of(line) for line in lines(log)] == [
        {"event": "signed_in", "sign_in": "01234567"},
        {"event": "signed_out", "sign_in": "01234567"},
    ]
