"""A browser that has not opened the printed address sees no page; one that has keeps what it had after a restart."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.server import printed_address, serve
from tests.browser.waiting import PATIENCE

pytestmark = pytest.mark.browser


@pytest.fixture
def stranger(browser: Browser) -> Page:
    """A tab of somebody who was never here."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


def test_the_printed_address_lets_a_browser_in_for_good(tmp_path: Path, stranger: Page):
    with serve(tmp_path) as server:
        asked = stranger.goto(f"{server.url}/data_sets?data=wine")
        assert asked is not None
        assert asked.status == 403
        expect(stranger.get_by_role("heading", name="Open the printed address")).to_be_visible()
        printed = printed_address(server)
        stranger.get_by_label("Token, or the whole printed address").fill(printed)
        stranger.get_by_role("button", name="Open").click()
        expect(stranger.get_by_role("heading", name="Wine")).to_be_visible()
        assert "token" not in stranger.url
        bookmark = stranger.url
    with serve(tmp_path) as again:
        stranger.goto(bookmark.replace(server.url, again.url))
        expect(stranger.get_by_role("heading", name="Wine")).to_be_visible()
        stranger.context.clear_cookies()
        stranger.goto(printed.replace(server.url, again.url))
        expect(stranger.get_by_role("heading", name="What can be trusted here?")).to_be_visible()
