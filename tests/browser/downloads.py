"""Taking files home, as people do: in the menus “Send” and “Take away”, or behind a button “Download”."""

import re
from contextlib import suppress

from playwright.sync_api import Download, Page, TimeoutError, expect

from tests.browser.waiting import PATIENCE, click, settled

ASKED_AGAIN = PATIENCE // 4
"""Milliseconds after which a file that has not come is asked for once more."""


def take(page: Page, label: str) -> Download:
    """The file that the button of this name gives; the menus and the buttons “Download” are tried one by one for it.

    A menu that is open while its page is drawn again holds what was offered before; so all are tried more than once.
    """
    for _ in range(5):
        if _opened(page, label):
            break
    file = press(page, label)
    page.keyboard.press("Escape")
    return file


def _opened(page: Page, label: str) -> bool:
    """Whether the button of this name stands in a menu, or behind a button, that is left open."""
    settled(page)
    wanted = page.get_by_role("button", name=label, exact=True)
    openers = page.get_by_test_id("stPopover").get_by_role("button", name=re.compile("^(Send|Take away|Download)"))
    expect(openers.last).to_be_visible()
    for opener in (one for one in openers.all() if one.is_visible()):
        click(opener)
        expect(page.get_by_test_id("stPopoverBody").locator("p, button").filter(visible=True).last).to_be_visible()
        settled(page)
        if wanted.count():
            return True
        page.keyboard.press("Escape")
        expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    return False


def press(page: Page, label: str) -> Download:
    """The file that a button in sight gives. A page that is drawn anew just then cancels it: it is asked for again."""
    for _ in range(2):
        with suppress(TimeoutError):
            return _pressed(page, label, ASKED_AGAIN)
    return _pressed(page, label, PATIENCE)


def _pressed(page: Page, label: str, patience: int) -> Download:
    with settled(page).expect_download(timeout=patience) as download:
        click(page.get_by_role("button", name=label, exact=True))
    return download.value
