"""Reports: of every kind of run, whole in themselves, in the page's words, and of names only as text."""

import base64
import gzip
import hashlib
import json
import operator
import re
from dataclasses import replace
from functools import reduce
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from plotly.offline import get_plotlyjs

from tests.report.runs import NAME, NAMES, a_workspace, plans, stored
from touchstone.core.data import load_example
from touchstone.core.evaluate.claims import entry_of
from touchstone.core.evaluate.wording import Sentences, Verdict, quoted
from touchstone.core.questions import QUESTIONS, of_kind, plan_class
from touchstone.core.report import html
from touchstone.core.report.html import to_html
from touchstone.core.report.markup import formula, markup
from touchstone.core.report.parts import NOTHING_YET, Answer, Figure, KeyNumber, Note, Report, Section, Table
from touchstone.core.report.run_report import report_of
from touchstone.core.trials import TrialPlan
from touchstone.core.workspace import LOCAL_OWNER, Workspace

PAGES = Path(__file__).resolve().parents[2] / "pages"
KINDS = [question.kind for question in QUESTIONS.values() if question.plan and question.plan.startswith("touchstone.")]
"""Ours; other tests add kinds of their own."""
VERDICTS = [kind for kind in KINDS if not of_kind(kind).serves]
FILES = ("https://", "data:text/tab-separated-values;base64,", "data:application/json;base64,")
TYPES = ("application/json", "text/plain", None)
"""What an element "script" holds: a figure, what draws figures (packed), and what a browser runs."""
VOID = {"meta", "br", "hr", "img", "input", "link"}


def how_to_read(stem: str) -> str:
    return (PAGES / f"{stem}.md").read_text("utf-8")


@pytest.fixture(scope="module")
def workspace() -> Workspace:
    return a_workspace()


class Page(HTMLParser):
    """What a browser would make of a report: elements with their attributes, their texts, and what never closed."""

    def __init__(self, content: bytes):
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict]] = []
        self.scripts: list[tuple[dict, str]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(content.decode())
        self.close()

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append((self.elements[-1][1], data))
        elif self.open and self.open[-1] != "style":
            self.words.append(data)


def report(workspace: Workspace, kind: str, **options):
    return report_of(workspace, LOCAL_OWNER, stored(workspace, kind), how_to_read=how_to_read, **options)


@pytest.mark.parametrize("kind", VERDICTS)
def test_class_names_stand_in_quotation_marks(workspace, kind):
    verdict = report(workspace, kind).answer.verdict
    assert verdict is not None
    for name in NAMES:
        assert verdict.text.count(name) == verdict.text.count(quoted(name)), verdict.text


def test_every_kind_of_plan_has_a_question_and_a_page():
    assert set(KINDS) == set(plans())
    for kind in KINDS:
        question = of_kind(kind)
        assert plan_class(question).kind == kind
        assert (PAGES / f"{question.page}.py").exists()
        assert how_to_read(question.page)


@pytest.mark.parametrize("kind", KINDS)
def test_a_report_is_one_whole_page_and_names_are_text(workspace, kind):
    told = report(workspace, kind)
    content = to_html(told)
    page = Page(content)
    assert len(content) < 1_000_000
    assert not page.open
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"img", "svg", "iframe", "link", "object", "embed", "form", "base"}, "something beside text"
    for tag, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on")], (tag, attributes)
        assert not (set(attributes) & {"src", "srcdoc", "action"}), "something would be fetched"
        assert tag != "a" or attributes["href"].startswith(FILES), attributes
    assert NAME in page.text
    assert of_kind(kind).title in page.text
    by_type = {kind: [code for about, code in page.scripts if about.get("type") == kind] for kind in TYPES}
    assert len(by_type["application/json"]) == len(told.answer.figures)
    drawn = [json.loads(code) for code in by_type["application/json"]]
    packed = by_type["text/plain"]
    assert len(packed) == bool(drawn)
    scripts = by_type[None] + [gzip.decompress(base64.b64decode(code)).decode() for code in packed]
    assert len(scripts) == len(page.scripts) - len(drawn)
    policy = next(attributes["content"] for tag, attributes in page.elements if attributes.get("http-equiv"))
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy.split("style-src")[0]
    for code in scripts:
        assert f"'sha256-{base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()}'" in policy


@pytest.mark.parametrize("kind", KINDS)
def test_figures_of_a_report_become_those_of_a_dark_page(workspace, kind):
    told = report(workspace, kind)
    for figure in told.answer.figures:
        content, dark = html._draw(figure).content, json.loads(figure.draw(dark=True).to_json())
        light = json.loads(figure.draw(dark=False).to_json())
        assert content["layout"] == light["layout"]
        for path, value in content["dark"]:
            *before, last = path
            reduce(operator.getitem, before, content)[last] = value
        for mark in dark["data"]:
            mark["type"] = mark["type"].replace("scattergl", "scatter")
        assert _known(content["data"]) == _known(dark["data"])
        assert _known(content["layout"]) == _known(dark["layout"])


def _known(value):
    """Without what is None, which plotly takes for what is not there."""
    if isinstance(value, dict):
        return {key: _known(each) for key, each in value.items() if each is not None}
    return list(map(_known, value)) if isinstance(value, list) else value


def test_many_points_are_drawn_by_the_graphics_card_and_its_larger_script():
    def drawing(n):
        x = np.arange(n) / n
        about = {"meta": {"alt": "A cloud."}}
        return Figure("cloud", lambda *, dark: go.Figure(go.Scattergl(x=x, y=x, mode="markers"), about), "A cloud.")

    few, many = (html._draw(drawing(n)) for n in (html.MOST_SHAPES, html.MOST_SHAPES + 1))
    assert (few.types, many.types) == ({"scatter"}, {"scattergl"})
    assert html._library([few]) is html._small()
    assert html._library([few, many]) is html._whole()
    assert html._whole().script == get_plotlyjs()


@pytest.mark.parametrize("kind", VERDICTS)
def test_a_report_says_what_the_verdict_says(workspace, kind):
    told = report(workspace, kind)
    page = Page(to_html(told))
    text = page.text
    assert told.answer.verdict is not None
    for sentence in (
        told.answer.verdict.headline,
        told.answer.verdict.used,
        told.answer.verdict.advice,
        *told.answer.verdict.findings,
    ):
        assert " ".join(sentence.split()) in text
    for metric in told.answer.key_numbers:
        assert " ".join(f"{metric.label} {metric.value} {metric.interval}".split()) in text
    for figure in told.answer.figures:
        assert " ".join(figure.caption.split()) in text
    assert told.answer.figures
    drawn = [json.loads(code) for attributes, code in page.scripts if attributes.get("type") == "application/json"]
    named = escape("<img src=x onerror=alert(1)>", quote=False)
    assert named in json.dumps(drawn) or NAMES[1] in text, "no class is named as it is called"


@pytest.mark.parametrize("kind", VERDICTS)
def test_a_report_names_the_claim_of_its_verdict_and_muting_leaves_no_sentence_that_rests_on_one(workspace, kind):
    told = report(workspace, kind)
    verdict = told.answer.verdict
    assert verdict is not None
    for made in verdict.claims[:1]:
        assert f"{made.of_kind.name}." in Page(to_html(told)).text
    kinds = {made.kind for made in verdict.claims}
    muted = verdict.muting(dict.fromkeys(kinds, "known"))
    texts = [text for text in (verdict.headline, verdict.advice, *verdict.findings) if isinstance(text, Sentences)]
    resting = {sentence: set(rests_on) & kinds for text in texts for sentence, rests_on in text.parts}
    assert {made.kind for made in verdict.claims if made.interval.known} <= set().union(*resting.values())
    assert not [sentence for sentence, rests_on in resting.items() if rests_on and sentence and sentence in muted.text]
    assert [line for line in muted.findings if line.startswith("Muted: ")] == [
        f"Muted: {entry_of(name).name} (known)." for name, _ in muted.muted
    ]
    assert muted.claims == verdict.claims


@pytest.mark.parametrize("kind", ["training", "map"])
def test_what_has_no_verdict_says_so(workspace, kind):
    told = report(workspace, kind)
    assert told.answer.verdict is None
    assert "no verdict" in Page(to_html(told)).text


def files(page: Page, name: str) -> list[dict]:
    """The links of a report that save a file of this name."""
    return [attributes for tag, attributes in page.elements if tag == "a" and attributes.get("download") == name]


def test_the_parameters_are_a_file_in_the_report_and_no_json_stands_in_it(workspace):
    told = report(workspace, "trials")
    page = Page(to_html(told))
    (link,) = files(page, "parameters.json")
    assert base64.b64decode(link["href"].partition("base64,")[2]).decode() == told.parameters
    assert "pre" not in [tag for tag, _ in page.elements]
    assert '"kind"' not in page.text
    assert hashlib.sha256(told.parameters.encode()).hexdigest()[:16] in page.text


def test_an_example_is_called_in_a_report_as_it_is_on_the_pages():
    shelf = a_workspace()
    digits = load_example("digits")
    shelf.add_dataset(LOCAL_OWNER, digits, example="digits")
    run = shelf.create_run(LOCAL_OWNER, TrialPlan(models=("svm",)), digits.fingerprint)
    assert report_of(shelf, LOCAL_OWNER, run, how_to_read=how_to_read).subject == "Handwritten digits"


def test_rows_of_data_are_there_only_where_asked_for(workspace):
    assert "<i>7</i>" not in Page(to_html(report(workspace, "average_case"))).text
    page = Page(to_html(report(workspace, "trials", with_rows=True)))
    (link,) = files(page, "trials.tsv")
    content = base64.b64decode(link["href"].partition("base64,")[2]).decode()
    run = stored(workspace, "trials")
    assert len(content.splitlines()) == 1 + len(workspace.rows(LOCAL_OWNER, run.id))
    assert not files(Page(to_html(report(workspace, "trials"))), "trials.tsv")


def test_the_figures_of_a_report_hold_no_value_for_every_sample(workspace):
    page = Page(to_html(report(workspace, "average_case")))
    drawn = [json.loads(code) for attributes, code in page.scripts if attributes.get("type") == "application/json"]
    lengths = [n for figure in drawn for n in arrays(figure["data"])]
    assert 0 < max(lengths) < plans()["average_case"].n_audit, "fewer samples are audited than judged"


def arrays(drawn: object) -> list[int]:
    """How long every array is in the JSON of a figure, where arrays of numbers are the bytes that they had."""
    if isinstance(drawn, dict) and {"bdata", "dtype"} <= set(drawn):
        return [len(base64.b64decode(drawn["bdata"])) // np.dtype(drawn["dtype"]).itemsize]
    if isinstance(drawn, dict):
        return [n for part in drawn.values() for n in arrays(part)]
    return [len(drawn), *(n for part in drawn for n in arrays(part))] if isinstance(drawn, list) else []


def test_a_run_without_results_has_a_report_that_says_so(workspace):
    plan = plans()["trials"].__class__(models=("svm",), n_repeats=3)
    run = workspace.create_run(LOCAL_OWNER, plan, stored(workspace, "trials").fingerprint)
    told = report_of(workspace, LOCAL_OWNER, run, how_to_read=how_to_read)
    assert NOTHING_YET in Page(to_html(told)).text


def test_a_long_table_is_cut_and_says_so(workspace):
    told = report(workspace, "trials")
    long = Table("Many", pd.DataFrame({"n": range(1000)}))
    page = Page(to_html(replace(told, answer=Answer(None, (), (Section("", (long,)),)))))
    assert sum(tag == "tr" for tag, _ in page.elements) == 201
    assert re.search(r"The first 200 of 1.000 lines\.", page.text)


def test_names_are_text_in_attributes_and_in_every_kind_of_part():
    wild = """<script>alert(1)</script> "onload="alert(1)' & <b>"""
    lines = pd.DataFrame({wild: [wild, None], "n": [1.5, float("nan")]})
    figure = Figure("k", lambda dark: go.Figure(go.Scatter(y=[1], name=wild)).update_layout(meta={"alt": wild}), wild)
    parts = (figure, Table(wild, lines, caption=wild), Verdict(wild, wild, wild, ()), Note(wild), wild)
    card = (KeyNumber(wild, wild, wild, wild, wild),)
    body = Answer(Verdict(wild, wild, wild, (wild,)), card, (Section(wild, parts),))
    page = Page(to_html(Report(wild, wild, body, wild, ((wild, wild),), "{}", lines)))
    assert not page.open
    assert not {tag for tag, _ in page.elements} & {"b", "img"}
    attributes = [(name, value) for _, given in page.elements for name, value in given.items()]
    assert not [name for name, _ in attributes if name.startswith("on")]
    assert ("title", wild) in attributes
    assert page.text.count(wild) >= 20
    [drawn] = [json.loads(code) for given, code in page.scripts if given.get("type") == "application/json"]
    assert drawn["data"][0]["name"] == wild
    assert len(page.scripts) == 3


def test_every_text_beside_a_page_becomes_html_without_formulas_left_over():
    for path in sorted(PAGES.glob("*.md")):
        html = markup(path.read_text("utf-8"))
        assert "$" not in html, path.name
        assert "\\" not in html, path.name
        assert "\ue000" not in html, path.name
        Page(html.encode())


@pytest.mark.parametrize(
    ("latex", "html"),
    [
        (r"\theta_2", "θ<sub>2</sub>"),
        (r"a - b\,n^{-c}", "<i>a</i> - <i>b</i> <i>n</i><sup>-<i>c</i></sup>"),
        (r"N(0, \sigma^2)", "<i>N</i>(0, σ<sup>2</sup>)"),
        ("a < b", "<i>a</i> &lt; <i>b</i>"),
        ("{a", "<i>a</i>"),
        ("a_", "<i>a</i><sub></sub>"),
    ],
)
def test_formulas_are_letters(latex, html):
    assert formula(latex) == f'<span class="formula">{html}</span>'


def test_markdown_takes_html_and_wild_links_for_text():
    html = markup("<img src=x onerror=alert(1)> [x](javascript:alert(1)) [y](https://example.org)")
    assert "<img" not in html
    assert 'href="javascript' not in html
    assert '<a href="https://example.org">y</a>' in html


def test_names_are_text_in_markdown_and_a_muted_claim_leaves_sections_too(workspace):
    from touchstone.core.evaluate.wording import resting
    from touchstone.core.report.markdown import escaped, to_markdown
    from touchstone.core.report.parts import Beside

    falls = "matched_subsets.falls"
    parts = (resting("It falls.", falls), Beside((resting("Much.", falls), Note("<b>*note*</b>"))))
    told = replace(report(workspace, "trials"), subject="<img src=x>", answer=Answer(None, (), (Section("S", parts),)))
    text = to_markdown(told).decode()
    assert "\\<img src=x>" in text
    assert escaped("<b>*note*</b>") in text
    assert "It falls." in text
    assert told.parameters in text, "whoever has the report can compute the run again"
    muted = to_markdown(replace(told, answer=told.answer.muting({falls: "Known"}))).decode()
    assert "It falls." not in muted
    assert "Much." not in muted
    assert escaped("<b>*note*</b>") in muted
