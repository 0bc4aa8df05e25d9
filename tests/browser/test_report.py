"""The report of a digits run, opened from a file with the network cut off: the page's numbers, and its figures."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.downloads import take
from tests.browser.server import Server
from tests.browser.test_main_job import click_run, verdict

pytestmark = [pytest.mark.browser, pytest.mark.evidence]
A4_WIDTH, A4_HEIGHT = 687, 1000
"""The printed part of a page in CSS pixels: A4 less the margins that the report asks for."""
PARAMETERS = "data=digits&models=Logistic regression&repeats=4&clusterings=1"  # few: 16 trials

EARLY = """addEventListener("DOMContentLoaded", () =>
    document.querySelectorAll("details").forEach((fold) => fold.dispatchEvent(new Event("toggle"))))"""
"""A fold that says it was opened before the library is unpacked, as one that is open from the start may."""


def told(locator) -> str:
    return re.sub(r"\s+", " ", locator.inner_text()).strip()


def test_a_report_without_a_network_has_the_numbers_of_the_page(
    server: Server, page: Page, tab: Callable[..., Page], tmp_path: Path
):
    page.goto(f"{server.url}/source_robustness?{PARAMETERS}")
    click_run(page)
    expect(page.get_by_text("16 of 16 trials used")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.get_by_text("In numbers")).to_be_visible()
    card = re.sub(r"\s+", " ", verdict(page))
    file = tmp_path / "report.html"
    take(page, "Report (HTML)").save_as(file)

    report, asked, problems = tab(offline=True), [], []
    report.context.route("**/*", lambda route: (asked.append(route.request.url), route.continue_()))
    report.on("pageerror", lambda error: problems.append(str(error)))
    report.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    report.add_init_script(EARLY)
    report.goto(file.as_uri())
    expect(report.get_by_role("heading", level=1)).to_have_text("How far does accuracy fall on new sources?")
    assert file.stat().st_size < 1_000_000
    expect(report.locator(".js-plotly-plot")).to_have_count(1)
    for fold in report.locator("summary").all():
        fold.click()
    expect(report.locator(".js-plotly-plot")).to_have_count(5)
    light = ink(report)
    report.emulate_media(color_scheme="dark")
    expect(report.locator("body")).to_have_css("background-color", "rgb(15, 19, 24)")
    assert light != ink(report), "the figure stays as it was on a light page"
    for fold in report.locator("summary").all():
        fold.click()
    said = told(report.locator(".verdict"))
    for number in re.findall(r"[\d.]+(?: %)?(?: \[[^\]]*\])?", card):
        assert number in said, number
    assert told(report.locator(".verdict p").first) in card
    report.emulate_media(media="print")
    expect(report.locator(".modebar-container:visible, .screen:visible")).to_have_count(0)
    fits_on_paper(report)
    assert not problems
    assert not [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]


def ink(report: Page) -> str | None:
    """The colour of the main figure's letters, which stand on the page's ground."""
    return report.locator(".js-plotly-plot .xtick text").first.evaluate("letters => getComputedStyle(letters).fill")


def fits_on_paper(report: Page) -> None:
    """The first A4 page holds verdict and main figure, nothing is wider than the paper, and nobody meets raw JSON."""
    report.set_viewport_size({"width": A4_WIDTH, "height": A4_HEIGHT})
    report.evaluate("dispatchEvent(new Event('beforeprint'))")
    figure = report.locator("figure").first
    expect(figure.locator(".main-svg").first).to_be_visible()
    box = figure.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < A4_HEIGHT, "the main figure falls on the second page"
    assert report.evaluate("document.documentElement.scrollWidth") <= A4_WIDTH
    for drawn in report.locator("figure:visible").all():
        assert drawn.locator(".main-svg").first.bounding_box()["width"] <= A4_WIDTH
    assert not re.search(r"[{\[]\s*\"|\bn_[a-z]+\b", told(report.locator("body"))), "raw parameters stand in the text"
    assert len(re.findall(rb"/Type\s*/Page\b", report.pdf(format="A4"))) <= 2, "what is folded stands on paper"
