"""Do all doors say the same of a run? Page, report, command and Python render one answer, number by number."""

import json

import pandas as pd
import pytest

from tests.pages import conftest
from tests.pages.test_copied_commands import ASKED, small, stored
from tests.report.runs import data
from tests.report.test_reports import Page, how_to_read
from touchstone.core.__main__ import main
from touchstone.core.report.html import to_html
from touchstone.core.report.parts import Answer
from touchstone.core.report.run_report import answer_of, report_of
from touchstone.core.trials import to_json
from touchstone.core.workspace import LOCAL_OWNER
from touchstone.ui.shell import share
from touchstone.ui.shell.page import plain

SUMMARISED = ("Narrow boxes are Monte-Carlo's answers", "Ticks are Monte-Carlo's answer")
"""No single sample is in a report: where the page draws each, that summarises them."""


CHOSEN = ("folds-lie",)
"""Sections of which a control of the page chooses what it draws."""


def frames_of(app) -> list[pd.DataFrame]:
    return [frame.value for frame in app.dataframe]


def same(shown: pd.DataFrame, lines: pd.DataFrame) -> bool:
    """Whether two tables have the same columns and cells (types aside: the page's went through Arrow)."""
    return list(shown.columns) == list(lines.columns) and shown.astype(str).to_numpy().tolist() == (
        lines.astype(str).to_numpy().tolist()
    )


@pytest.fixture(params=ASKED)
def answered(request, workspace):
    """A kind of run, done; and what it comes to."""
    run = stored(workspace, request.param)
    answer: Answer = answer_of(workspace.rows(LOCAL_OWNER, run.id), data(), small(workspace, request.param))
    return run, answer


def test_all_doors_say_one_answer(answered, open_page, workspace, monkeypatch, tmp_path):
    run, answer = answered
    assert answer.verdict is not None
    assert "[" not in answer.verdict.headline or "n = " in answer.verdict.text, "of how many, and in what design?"
    # the report
    report = report_of(workspace, LOCAL_OWNER, run, how_to_read=how_to_read)
    paper = Page(to_html(report)).text
    for sentence in (answer.verdict.headline, answer.verdict.advice, *answer.verdict.findings):
        assert " ".join(sentence.split()) in paper
    for metric in answer.key_numbers:
        assert metric.value in paper
    for figure in answer.figures:
        assert " ".join(figure.caption.split()) in paper
    for title in answer.tables:
        assert title in paper
    # the page
    page, parameters = share.parameters_of(run)
    monkeypatch.setattr(conftest, "FOLDS", [*conftest.FOLDS, "features", *(section.key for section in answer.sections)])
    app = open_page(page, **parameters)
    words = conftest.plainly(app)
    assert answer.verdict.headline in words
    shown = {(each.label, each.value) for each in app.metric}
    assert {(plain(metric.label), plain(metric.value)) for metric in answer.key_numbers} <= shown
    chosen = {figure.key for key in CHOSEN if (section := answer.section(key)) for figure in section.flat}
    for figure in answer.figures:
        assert figure.caption.replace(*SUMMARISED) in words or figure.key in chosen, figure.key
    for title, lines in answer.tables.items():
        assert any(same(shown, lines) for shown in frames_of(app)), title
    # the command
    sheet = json.dumps({"plans": [json.loads(to_json(small(workspace, run.kind)))]})
    written = tmp_path / "numbers.json"
    assert main(["check", sheet, "--data", run.fingerprint, "--json", str(written)]) == 0
    checked = json.loads(written.read_text())
    assert {row["number"]: row["value"] for row in checked["numbers"]} == {
        each.title: each.value for each in answer.numbers
    }
    assert any(answer.verdict.headline in sentence for sentence in checked["said"])
    assert [each["kind"] for each in checked["claims"]] == [claim.kind for claim in answer.claims]
