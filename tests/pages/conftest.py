"""The pages without a browser: AppTest runs the router, as every session does."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
import streamlit as st
from streamlit import config
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.report.html import to_html
from touchstone.core.trials import Context, Plan, TrialPlan
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace, frames
from touchstone.core.workspace.engine.needed import about, found_rows
from touchstone.core.workspace.engine.runner import close_engine, engine
from touchstone.ui.shell import background, only_links

ROOT = Path(__file__).resolve().parents[2]
PLAN = TrialPlan(models=("svm", "logistic"), n_repeats=4)
"""What the source-robustness page asks for by default, but for the repeats."""

FOLDS = (
    *("hard", "draws", "true-sources", "agreement", "pictures", "table", "gaining", "more-findings"),
    *("models", "matched", "calibration", "matched-samples", "folds-lie", "fold-details", "inside"),
    "metrics",
    "shift-classes",
)
"""What a reader may open on the pages of source robustness, adequacy, matched subsets, cluster folds and shift."""


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch) -> Iterator[None]:
    """An engine and caches of its own for every test, as a new server has them; pages wait for work beside them."""
    monkeypatch.setattr(background, "MOMENT", 60.0)
    st.cache_resource.clear()
    config.set_option("client.showErrorDetails", "full")  # so that a failing test says why
    yield
    close_engine()
    st.cache_resource.clear()


@pytest.fixture
def workspace() -> Workspace:
    return engine().workspace


@pytest.fixture
def links_open(monkeypatch) -> None:
    """Links open for others, as where TOUCHSTONE_LINKS is set: only there they are made."""
    monkeypatch.setattr(only_links, "address", lambda: "http://192.168.1.20:8502/")


@pytest.fixture
def wine(workspace: Workspace) -> Dataset:
    """The wine data, stored as the pages do at first use."""
    dataset = load_example("wine")
    workspace.add_dataset(LOCAL_OWNER, dataset, example="wine")
    return dataset


def page_hash(stem: str) -> str:
    """What Streamlit calls the page at an address; a session that begins there draws no other page first."""
    return "" if stem == "overview" else calc_hash(stem)


@pytest.fixture
def open_page() -> Callable[..., AppTest]:
    """Open a page by its stem, with the parameters of its address; with all of FOLDS open, unless left `folded`."""

    def open_it(stem: str, *, folded: bool = False, **parameters: str | list[str]) -> AppTest:
        app = AppTest.from_file(ROOT / "ui" / "shell" / "router.py", default_timeout=90)
        app._page_hash = page_hash(stem)
        for name, value in parameters.items():
            app.query_params[name] = value
        for name in () if folded else FOLDS:
            app.session_state[f"fold-{name}"] = True
        app.run()
        assert not app.exception, app.exception[0].value
        return app

    return open_it


def stored_run(workspace: Workspace, dataset: Dataset, *, plan: TrialPlan = PLAN, n_trials: int | None = None) -> Run:
    """A run whose first trials (all of them, by default) were done here and now; left as done or interrupted."""
    trials = range(plan.n_trials(dataset) if n_trials is None else n_trials)
    usual = plan == PLAN and dataset.fingerprint == load_example("wine").fingerprint
    rows = [_usual_rows(trial) if usual else _rows(dataset, plan, trial) for trial in trials]
    return run_of_rows(workspace, dataset, plan, rows, done=n_trials is None)


def _rows(dataset: Dataset, plan: Plan, trial: int) -> bytes:
    return frames.to_bytes(plan.run_trial(dataset, trial, context=Context()))


@cache
def _usual_rows(trial: int) -> bytes:
    """Of the plan and the data set that most tests are about, computed once."""
    return _rows(load_example("wine"), PLAN, trial)


def run_of_rows(workspace: Workspace, dataset: Dataset, plan: Plan, rows: Sequence[bytes], *, done: bool) -> Run:
    """A run whose first trials left these rows; left as done or interrupted."""
    run = workspace.create_run(LOCAL_OWNER, plan, dataset.fingerprint)
    assert workspace.acquire(LOCAL_OWNER, run.id, "test")
    rests_on = {"versions": {"numpy": "2.0.0"}}
    with suppress(DataError):
        rests_on |= about(found_rows(workspace, LOCAL_OWNER, plan, dataset))
    workspace.record_provenance(LOCAL_OWNER, run.id, rests_on)
    for trial, content in enumerate(rows):
        workspace.store_trials(LOCAL_OWNER, run.id, {trial: content})
    workspace.release(LOCAL_OWNER, run.id, "test", "done" if done else "interrupted")
    return workspace.run(LOCAL_OWNER, run.id)


def texts(app: AppTest) -> str:
    """All that a page says, in one piece."""
    kinds = ("title", "header", "subheader", "markdown", "caption", "error", "warning", "text")
    said = [element.value for kind in kinds for element in getattr(app, kind)]
    return "\n".join([*said, *(alert.proto.title for alert in app.error), *(fold.label for fold in app.expander)])


def in_numbers(app: AppTest) -> pd.DataFrame:
    """The table of models, whatever other tables the page has."""
    return next(table.value for table in app.dataframe if "Model" in table.value)


def plainly(app: AppTest) -> str:
    """All that a page says, without the strokes that keep Markdown from being read as such."""
    return texts(app).replace("\\", "")


def sent_address(app: AppTest) -> str:
    """The address of what a page shows, as its menu gives it."""
    return next(block.value for block in app.code if "?" in block.value)


def sent_report(app: AppTest) -> str:
    """The report of what a page shows, as its menu gives it, of one answer."""
    [(_, report)] = app.session_state["share_reports"].values()
    return to_html(report()).decode()


def charts(app: AppTest) -> list[str]:
    """What every chart of a page says to those who cannot see it."""
    return [chart.proto.alt for chart in app.get("plotly_chart")]
