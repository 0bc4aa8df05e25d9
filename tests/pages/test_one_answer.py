"""Page, report and Python say the same of a data set and of a test set: sentences, numbers, figures and tables."""

import pytest

from tests.pages.conftest import charts, plainly, sent_report
from tests.pages.test_test_quality import clouds
from tests.report.test_reports import Page
from touchstone import check
from touchstone.core.figures.theme import alt_text
from touchstone.core.report.parts import Answer, Table
from touchstone.core.workspace import LOCAL_OWNER

FOLDED = ("confusions", "more-findings", "columns", "by-class", "detail", "classes", "pairs")


def spaced(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(params=["data_sets", "test_quality"])
def shown(request, open_page, workspace, wine):
    """The page with what is folded open, and the answer that Python gives."""
    data, address, asked = wine, {}, {}
    if request.param == "test_quality":
        data, model = clouds(workspace)
        address, asked = {"model": model}, {"model": workspace.model_bytes(LOCAL_OWNER, model)}
    app = open_page(request.param, data=data.fingerprint, **address)
    for name in FOLDED:
        app.session_state[f"fold-{name}"] = True
    return app.run(), check(request.param, data, **asked).answer


def in_sight(answer: Answer) -> list[Table]:
    """The tables of the parts that a page has."""
    return [part for section in answer.sections if section.key for part in section.flat if isinstance(part, Table)]


def test_page_report_and_python_say_the_same(shown):
    app, answer = shown
    report = Page(sent_report(app).encode())
    assert not report.open
    verdict, page = answer.verdict, spaced(plainly(app).replace("*", ""))
    for sentence in filter(None, (verdict.headline, verdict.used, verdict.advice, *verdict.findings)):
        assert spaced(sentence) in page
        assert spaced(sentence) in spaced(report.text)
    numbers = [(metric.label, metric.value, metric.interval) for metric in answer.key_numbers]
    drawn = [tuple(part.replace("\\", "") for part in (each.label, each.value, each.delta)) for each in app.metric]
    assert drawn == numbers
    assert all(spaced(part) in spaced(report.text) for each in numbers for part in each)
    alts = [alt_text(figure.draw(dark=False)) for figure in answer.figures]
    assert set(alts) <= set(charts(app))
    assert set(alts) <= {given.get("aria-label") for _, given in report.elements}
    assert len(in_sight(answer)) >= 2
    for table in in_sight(answer):
        assert any(frame.value.equals(table.lines) for frame in app.dataframe), table.title
        assert table.title in report.text
        assert spaced(table.caption) in page
