"""What is kept is one owner's, of one state of work, of one choice of arguments; nothing is hashed by a sample."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from touchstone.core.data import load_example
from touchstone.core.data.predictions.upload import GivenFile, PredictionUpload
from touchstone.core.trials import TrialPlan
from touchstone.core.workspace import Run
from touchstone.ui import cache
from touchstone.ui.shell.background import Work

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def emptied() -> Iterator[None]:
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


@dataclass(frozen=True, eq=False)
class Parts:
    """Something large that knows its key."""

    identity: str
    values: np.ndarray


def run(*, n_done: int, state: str = "running", name: str = "r1") -> Run:
    times = {"created": 0.0, "started": None, "finished": None, "seconds_left": None}
    counts = {"n_trials": 4, "n_done": n_done, "n_failed": 0}
    about = {"plan": "{}", "fingerprint": "f1", "dataset_name": "wine", "cancelling": False}
    return Run(id=name, key="k1", kind="trials", state=state, provenance={}, errors=(), **times, **counts, **about)


computed: list[object] = []


@cache.result(max_entries=8)
def kept(value: object, more: str = "usual") -> int:
    computed.append(value)
    return len(computed)


@cache.result(max_entries=8)
def twin(value: object, more: str = "usual") -> str:
    return "another function's"


@cache.task(max_entries=8)
def counted(value: object) -> Work[int]:
    return Work(lambda step: sum(step() is None for _ in range(3)), n_steps=3)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (run(n_done=1), run(n_done=2)),
        (run(n_done=4), run(n_done=4, state="done")),
        (run(n_done=1), run(n_done=1, name="r2")),
        (load_example("wine"), load_example("breast_cancer")),
        (TrialPlan(n_repeats=4), TrialPlan(n_repeats=5)),
        (Parts("a", np.zeros(3)), Parts("b", np.zeros(3))),
        (PredictionUpload(GivenFile("p.csv", b"1")), PredictionUpload(GivenFile("p.csv", b"2"))),
        (("svm", 1), ("svm", 2)),
        (1, 1.0),
        (None, "None"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_differs_is_computed_for_itself_and_what_is_the_same_is_kept(first, second):
    answers = [kept(first), kept(second), kept(first), kept(first, more="usual"), kept(first, "other")]
    assert answers[0] == answers[2] == answers[3]
    assert len(set(answers)) == 3


def test_two_owners_have_two_answers(monkeypatch):
    mine, work = kept("wine"), counted("wine")
    monkeypatch.setattr(cache, "owner", lambda: "somebody else")
    assert kept("wine") != mine
    assert counted("wine") is not work
    monkeypatch.undo()
    assert kept("wine") == mine
    assert counted("wine") is work


def test_functions_with_the_same_arguments_do_not_share_answers():
    assert kept("wine") != twin("wine")


def test_work_beside_the_page_is_begun_once():
    work = counted(run(n_done=1))
    assert (work.future.result(timeout=10), work.n_done, work.share) == (3, 3, 1.0)
    assert counted(run(n_done=1)) is work
    assert counted(run(n_done=2)) is not work


@pytest.mark.parametrize(
    "nameless",
    [
        np.zeros(600_000),
        pd.DataFrame({"a": [1]}),
        (1, np.zeros(2)),
        {1, 2},
        float("nan"),
        GivenFile("p.csv", b"1"),
        len,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_name_is_refused(nameless):
    with pytest.raises((TypeError, ValueError)):
        kept(nameless)


def kept_functions() -> dict[str, ast.FunctionDef]:
    """Every function of the app whose answers are kept."""
    return {
        f"{file.parent.name}.{node.name}": node
        for file in (ROOT / "ui").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(one).startswith(("cache.result", "cache.task")) for one in node.decorator_list)
    }


def test_answers_are_kept_in_one_way_only():
    assert len(kept_functions()) > 40
    files = [*(ROOT / "ui").rglob("*.py"), *(ROOT / "pages").glob("*.py"), ROOT / "app.py"]
    others = [file for file in files if "st.cache_" in file.read_text("utf-8")]
    assert others == [ROOT / "ui" / "cache.py"]


def test_what_rests_on_the_rows_of_a_run_is_named_by_the_run_and_so_by_how_far_it_has_come():
    reading = {name: node for name, node in kept_functions().items() if "run.id" in ast.unparse(node)}
    assert len(reading) >= 6
    for name, node in reading.items():
        assert "run: Run" in ast.unparse(node.args), name
    for name, node in kept_functions().items():
        assert not {"run_id", "owner_name"} & {one.arg for one in node.args.args}, name
