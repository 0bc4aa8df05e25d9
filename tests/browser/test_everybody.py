"""Can everybody use the pages? Words and focus that can be seen, headings in order, links that look like links."""

import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from tests.browser.server import ROOT, Server, serve
from tests.browser.waiting import settled

pytestmark = [pytest.mark.browser, pytest.mark.evidence]
LEAST = 4.5
"""The contrast of words that can be read (WCAG 2, AA)."""
LEAST_OF_FOCUS = 3.0
"""The contrast of what is not words (WCAG 2, AA)."""
GOLDEN = ROOT / "tests" / "golden"
JUDGED = ("average_case", "covariate_shift", "guided_tests")
"""The kinds of run whose pages are about a model."""
USUAL = {"data_sets": "data=digits", "matched_subsets": "reference=digits_own&target=digits_shifted", "runs": ""}


def addresses() -> dict[str, str]:
    """The query of each page at which it has something to show, in the home that is written there."""
    golden = json.loads((GOLDEN / "plans.json").read_text("utf-8"))
    found = USUAL | {"overview": f"data={golden['about']['data']}"}
    computed = [entry for entry in golden["plans"] if entry["kind"] in ("trials", "adequacy", "folds")]
    for entry in reversed([entry for entry in computed if entry["address"] is not None and entry["fits"]]):
        found[entry["page"]] = urlencode({"data": entry["fingerprint"], **entry["address"]}, doseq=True)
    return found


def about_models() -> dict[str, str]:
    """The same for pages that are about a model."""
    golden = json.loads((GOLDEN / "plans.json").read_text("utf-8"))
    judged = [entry for entry in golden["plans"] if entry["kind"] in JUDGED and entry["address"] and entry["fits"]]
    return {
        entry["page"]: urlencode({"data": entry["fingerprint"], **entry["address"]}, doseq=True)
        for entry in reversed(judged)
    }


RUNS = addresses()
MODELS = about_models()
FAINT_WORDS = """(least) => {
    const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number)
    const over = (top, below) => top.slice(0, 3).map((c, i) => c * (top[3] ?? 1) + below[i] * (1 - (top[3] ?? 1)))
    const linear = (c) => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4
    const light = (rgb) => rgb.reduce((sum, c, i) => sum + [.2126, .7152, .0722][i] * linear(c), 0)
    const contrast = (element) => {
        let ground = [255, 255, 255], opacity = 1
        const around = []
        for (let at = element; at; at = at.parentElement) around.unshift(getComputedStyle(at))
        for (const style of around) {
            ground = over(numbers(style.backgroundColor), ground)
            opacity *= Number(style.opacity)
        }
        const ink = numbers(getComputedStyle(element).color)
        const words = over([...ink.slice(0, 3), (ink[3] ?? 1) * opacity], ground)
        const [high, low] = [light(words), light(ground)].sort((a, b) => b - a)
        return (high + .05) / (low + .05)
    }
    const exempt = ":disabled, [aria-disabled=true], svg, style, script, noscript, [data-testid=stSlider]"
    const faint = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) {
        const text = texts.currentNode.textContent.trim(), element = texts.currentNode.parentElement
        if (!text || element.closest(exempt)) continue
        if (!element.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue
        const found = contrast(element)
        if (found < least) faint.push(`${found.toFixed(2)}: ${text.slice(0, 60)}`)
    }
    return faint
}"""
FRAME = """() => {
    const style = getComputedStyle(document.activeElement)
    return [document.activeElement.dataset.testid, style.outlineStyle, parseFloat(style.outlineWidth)]
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    """A home with a run of every kind, so that pages have something to show."""
    home: Path = tmp_path_factory.mktemp("everybody")
    with zipfile.ZipFile(GOLDEN / "home.zip") as archive:
        archive.extractall(home)
    with serve(home) as running:
        yield running


def opened(page: Page, server: Server, stem: str) -> Page:
    page.goto(f"{server.url}/{stem}?{(RUNS | MODELS)[stem]}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(settled(page).get_by_test_id("stSkeleton")).to_have_count(0)
    return settled(page)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_words_can_be_read(server: Server, tab: Callable[..., Page], theme: str):
    page, faint = tab(color_scheme=theme), {}
    for stem in RUNS:
        faint[stem] = opened(page, server, stem).evaluate(FAINT_WORDS, LEAST)
    assert faint == {stem: [] for stem in RUNS}


def test_grey_words_can_be_read_on_every_ground(server: Server, page: Page):
    opened(page, server, "source_robustness")
    page.get_by_test_id("stCaptionContainer").first.evaluate(
        "(words, tint) => words.parentElement.style.backgroundColor = tint",
        "#E9EBEE",  # the darkest of the theme
    )
    assert page.evaluate(FAINT_WORDS, LEAST) == []


def test_headings_go_down_one_level_at_a_time(server: Server, page: Page):
    for stem in RUNS:
        headings = opened(page, server, stem).locator("h1, h2, h3, h4").filter(visible=True)
        levels = [int(heading.evaluate("(heading) => heading.tagName[1]")) for heading in headings.all()]
        assert levels[0] == 1, stem
        assert all(after - before <= 1 for before, after in pairwise(levels)), (stem, levels)


def test_a_link_of_the_navigation_shows_its_focus(server: Server, page: Page):
    opened(page, server, "runs")
    framed = []
    while len(framed) < 10:
        page.keyboard.press("Tab")
        name, style, width = page.evaluate(FRAME)
        if name == "stSidebarNavLink":
            framed.append((style, width >= 2))
    assert framed == [("solid", True)] * 10


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_links_look_like_links(server: Server, tab: Callable[..., Page], theme: str):
    page = opened(tab(color_scheme=theme), server, "overview")
    words = page.get_by_test_id("stPageLink").first.locator("p").first
    ink = page.get_by_role("heading", level=1).evaluate("(heading) => getComputedStyle(heading).color")
    assert words.evaluate("(words) => getComputedStyle(words).textDecorationLine") == "underline"
    assert words.evaluate("(words) => getComputedStyle(words).color") != ink


def test_a_page_fits_two_screens_before_anything_is_opened(server: Server, page: Page):
    heights = {
        stem: opened(page, server, stem).get_by_test_id("stMain").evaluate("(main) => main.scrollHeight")
        for stem in (RUNS | MODELS)
        if stem not in ("overview", "runs")  # lists, as long as there is something to list
    }
    assert {stem: height for stem, height in heights.items() if height > 2000} == {}


CUT = """() => [...document.querySelectorAll("[data-testid=stMetricLabel] p")]
    .filter((name) => name.scrollWidth > name.clientWidth + 1).map((name) => name.innerText)"""


def test_names_of_numbers_are_whole_on_a_narrow_screen(server: Server, page: Page):
    page.set_viewport_size({"width": 390, "height": 900})
    for stem in ("source_robustness", "data_set_adequacy"):
        expect(opened(page, server, stem).get_by_test_id("stMetricLabel")).to_have_count(4)
        assert page.evaluate(CUT) == [], stem


NOT_WHOLE = """(width) => {
    const chart = document.querySelector(".js-plotly-plot")
    const legend = chart?.querySelector(".legend"), grid = chart?.querySelector(".gridlayer")
    if (!legend || !grid) return "no legend"
    const box = (part) => part.getBoundingClientRect()
    const wide = [chart.clientWidth, chart.querySelector(".main-svg").clientWidth]
    if (Math.max(...wide) > width) return `${wide} px wide`
    const bar = legend.querySelector(".scrollbar")
    if (bar && box(bar).height > 0) return `it scrolls, ${box(bar).height} px`
    return box(legend).bottom > box(grid).top + 1 ? `its ${box(legend).bottom} lies below ${box(grid).top}` : ""
}"""
"""What keeps the first figure from being drawn at this width with a legend that neither scrolls nor lies on data."""


@pytest.mark.parametrize("stem", ["source_robustness", "data_set_adequacy", "cluster_folds"])
def test_the_legend_of_a_main_figure_is_whole_and_lies_on_nothing_at_any_width(server: Server, page: Page, stem: str):
    opened(page, server, stem)
    expect(page.locator(".js-plotly-plot .legend").first).to_be_visible()
    for width in (1280, 768, 390, 768):
        page.set_viewport_size({"width": width, "height": 900})
        with suppress(TimeoutError):
            page.wait_for_function(f"(width) => ({NOT_WHOLE})(width) === ''", arg=width)
        assert page.evaluate(NOT_WHOLE, width) == "", width
