"""A question that is added as a folder in every layer and one record is everywhere; nothing else knows of it."""

import io
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import dask.config
import distributed
import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

import touchstone.core.__main__
from tests.pages.conftest import ROOT, charts, plainly, stored_run
from tests.questions import toy
from touchstone.core.questions import QUESTIONS, module_of, plan_class
from touchstone.core.report.html import to_html
from touchstone.core.report.recreate import recreate
from touchstone.core.report.run_report import recipe, report_of
from touchstone.core.workspace import LOCAL_OWNER, PLANS, Run, load_plan
from touchstone.ui import PAGES

HEADLINE = "The largest class holds"


@pytest.fixture(autouse=True)
def added(monkeypatch, tmp_path: Path) -> Iterator[None]:
    """The toy question among the others, for as long as a test lasts."""
    for name, path in toy.paths().items():
        monkeypatch.setattr(import_module(name), "__path__", path)
    for file in [*PAGES.iterdir(), *(toy.FOLDER / "pages").iterdir()]:
        (tmp_path / file.name).symlink_to(file)
    monkeypatch.setattr("touchstone.ui.PAGES", tmp_path)
    monkeypatch.setitem(QUESTIONS, toy.RECORD.stem, toy.RECORD)
    yield
    for name in [name for name in sys.modules if toy.RECORD.stem in name.split(".")]:
        del sys.modules[name]


@pytest.fixture
def run(workspace, wine) -> Run:
    return stored_run(workspace, wine, plan=plan_class(toy.RECORD)())


def opened(stem: str, **parameters: str) -> AppTest:
    app = AppTest.from_file(ROOT / "ui" / "shell" / "router.py", default_timeout=90)
    for name, value in parameters.items():
        app.query_params[name] = value
    app._page_hash = calc_hash(stem)
    app.run()
    assert not app.exception, app.exception[0].value
    return app


def test_it_is_in_the_navigation_and_has_its_page(run, monkeypatch):
    navigation, declared = st.navigation, []
    monkeypatch.setattr(st, "navigation", lambda pages, **more: declared.append(pages) or navigation(pages, **more))
    app = opened("largest_class", data=run.fingerprint)
    assert app.title[0].value == toy.RECORD.title
    assert HEADLINE in plainly(app)
    assert charts(app) == ["The largest class"]
    groups = {group: [page.title for page in pages] for group, pages in declared[0].items()}
    assert list(groups) == ["", "Data", "Questions", "Work"]
    assert groups[""] == ["Shared result", "Overview"]
    assert groups["Questions"][-1] == "Largest class"


def test_its_runs_are_listed_and_its_verdict_is_on_the_overview(run):
    for page in (opened("runs"), opened("overview", data=run.fingerprint)):
        assert toy.RECORD.title in plainly(page)
        assert "3 draws" in plainly(page)
        assert f"data={run.fingerprint}&draws=3" in [link.proto.query_string for link in page.get("page_link")]
    assert HEADLINE in plainly(page)


def test_a_data_set_with_other_runs_says_that_it_has_not_been_asked(workspace, wine):
    other = stored_run(workspace, wine, n_trials=1)
    app = opened("overview", data=other.fingerprint)
    assert f"ask-{toy.RECORD.stem}" in {button.key for button in app.button}
    assert toy.RECORD.title in plainly(app)


def test_it_has_a_report_and_parameters_that_compute_it_again(run, workspace):
    def how_to_read(stem: str) -> str:
        return (toy.FOLDER / "pages" / f"{stem}.md").read_text("utf-8")

    report = report_of(workspace, LOCAL_OWNER, run, how_to_read=how_to_read)
    assert report.question == toy.RECORD.title
    assert HEADLINE in to_html(report).decode()
    assert recreate(workspace, LOCAL_OWNER, recipe(run, "wine")).key == run.key


def test_a_link_shows_it(run, workspace):
    app = opened("shared_run", t=workspace.create_link(LOCAL_OWNER, run.id), data=run.fingerprint, draws="3")
    assert app.title[0].value == toy.RECORD.title
    assert HEADLINE in plainly(app)


def test_the_command_line_runs_it_and_names_it(capsys):
    with dask.config.set({"distributed.worker.preload": ["tests.questions.toy"]}, config=distributed.config):
        assert touchstone.core.__main__.main(["run", "--data", "wine", '{"kind":"largest_class","n_repeats":2}']) == 0
    rows = pd.read_csv(io.StringIO(capsys.readouterr().out), sep="\t")
    assert rows["n"].tolist() == [178, 178]
    with pytest.raises(SystemExit):
        touchstone.core.__main__.main(["run", "--help"])
    assert "largest_class    How large is the largest class?" in capsys.readouterr().out


def test_its_kind_is_known_only_while_it_is_in_the_list(monkeypatch):
    text = '{"kind":"largest_class"}'
    assert load_plan(text).n_repeats == 3
    assert "largest_class" in list(PLANS)
    monkeypatch.delitem(QUESTIONS, "largest_class")
    with pytest.raises(ValueError, match="Unknown kind of plan 'largest_class'"):
        load_plan(text)


def test_a_module_that_is_missing_is_named_by_its_file():
    with pytest.raises(ImportError, match=r"'largest_class' has no card: ui/largest_class/overview\.py is missing"):
        module_of(toy.RECORD, "card")


def test_a_module_that_is_there_says_what_it_lacks(monkeypatch):
    monkeypatch.setitem(sys.modules, "touchstone.core.figures.largest_class", None)
    with pytest.raises(ImportError, match=r"core\.figures\.largest_class"):
        module_of(toy.RECORD, "report")
