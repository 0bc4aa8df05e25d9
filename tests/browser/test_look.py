"""What only a browser tells of the look: words that can be read in both themes, and a header that keeps to its row."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import Server
from tests.browser.test_main_job import click_run
from tests.browser.waiting import click, settled

pytestmark = [pytest.mark.browser, pytest.mark.evidence]
LEAST = 4.5
"""The contrast of words that can be read (WCAG 2, AA)."""
CONTRAST = """(element) => {
    const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number)
    const over = (top, below) => top.slice(0, 3).map((c, i) => c * (top[3] ?? 1) + below[i] * (1 - (top[3] ?? 1)))
    const behind = []
    for (let at = element; at; at = at.parentElement) behind.unshift(numbers(getComputedStyle(at).backgroundColor))
    const ground = behind.reduce((below, top) => over(top, below), [255, 255, 255])
    const words = over(numbers(getComputedStyle(element).color), ground)
    const linear = (c) => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4
    const light = (rgb) => rgb.reduce((sum, c, i) => sum + [.2126, .7152, .0722][i] * linear(c), 0)
    const [high, low] = [light(words), light(ground)].sort((a, b) => b - a)
    return (high + .05) / (low + .05)
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_selected_pills_and_buttons_can_be_read(server: Server, tab: Callable[..., Page], theme: str):
    page = tab(color_scheme=theme)
    page.goto(f"{server.url}/source_robustness?data=wine&repeats=5")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_visible()
    selected = settled(page).locator("button[data-selected=true] p")
    assert selected.count() >= 3
    for words in [*selected.all(), page.get_by_role("button", name="Run", exact=True).locator("p")]:
        assert words.evaluate(CONTRAST) >= LEAST, words.inner_text()


def test_a_quiet_button_can_be_read_while_its_menu_is_open(server: Server, tab: Callable[..., Page]):
    for theme in ("light", "dark"):
        page = tab(color_scheme=theme)
        page.goto(f"{server.url}/source_robustness?data=wine&repeats=4&clusterings=1")
        if theme == "light":
            click_run(page)
        button = page.get_by_role("button", name="Parameters")
        expect(button).to_be_visible()
        click(button)
        expect(button).to_have_attribute("aria-expanded", "true")
        for under_the_mouse in (button, page.get_by_role("heading", level=1)):
            under_the_mouse.hover()
            assert button.locator("p").first.evaluate(CONTRAST) >= LEAST, theme


def test_the_menus_stay_on_the_row_of_the_title(server: Server, page: Page):
    for stem in ("source_robustness", "data_set_adequacy", "data_sets"):  # the longest titles; and a short one
        page.goto(f"{server.url}/{stem}?data=wine")
        menu = page.locator(".st-key-header").get_by_role("button", name="Send")
        expect(menu).to_be_visible()
        title, send = settled(page).get_by_role("heading", level=1).bounding_box(), menu.bounding_box()
        assert title is not None
        assert send is not None
        assert title["y"] < send["y"] + send["height"] / 2 < title["y"] + title["height"], stem


def test_the_question_keeps_room_for_its_words_on_a_phone(server: Server, page: Page):
    page.set_viewport_size({"width": 390, "height": 800})
    for stem in ("runs", "matched_subsets", "data_sets"):
        page.goto(f"{server.url}/{stem}?data=wine")
        title = page.get_by_role("heading", level=1)
        expect(title).to_be_visible()
        wide = settled(page).locator(".st-key-header").bounding_box()
        assert wide is not None
        place = title.bounding_box()
        assert place is not None
        assert place["width"] > 0.6 * wide["width"], stem
        assert place["x"] + place["width"] <= wide["x"] + wide["width"] <= 390, stem
