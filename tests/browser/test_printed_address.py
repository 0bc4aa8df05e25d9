"""A default start: whoever has not opened the printed address sees no page, and results are sent as files."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.downloads import take
from tests.browser.server import Server, printed_address, serve
from tests.browser.waiting import PATIENCE, click, settled
from touchstone.ui.shell.share import START

pytestmark = pytest.mark.browser


@pytest.fixture
def stranger(browser: Browser) -> Iterator[Page]:
    """A tab of somebody who was never here, on a phone in the dark."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark", is_mobile=True)
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


def test_a_default_start_sends_a_file_offers_no_link_and_says_what_opens_links(
    server: Server, page: Page, stranger: Page, tmp_path: Path
):
    page.goto(f"{server.url}/data_sets?data=wine")
    expect(page.locator(".st-key-verdict")).to_be_visible()
    take(page, "Report (HTML)").save_as(tmp_path / "report.html")
    click(page.get_by_role("button", name="Send"))
    expect(page.get_by_test_id("stCode").filter(has_text=START)).to_be_visible()
    expect(page.get_by_role("button", name="Create a link")).to_have_count(0)
    answer = settled(page).locator(".st-key-verdict strong").first.inner_text()
    stranger.goto(page.url)
    expect(stranger.get_by_role("heading", name="Open the printed address")).to_be_visible()
    expect(stranger.get_by_text("Did somebody send you this address?")).to_be_visible()
    assert stranger.evaluate("[document.documentElement.scrollWidth, innerWidth]") == [390, 390]
    expect(stranger.locator("html")).to_have_css("background-color", "rgb(15, 19, 24)")
    expect(stranger.locator("p").first).to_have_css("font-size", "16px")
    stranger.goto((tmp_path / "report.html").as_uri())
    expect(stranger.locator(".verdict")).to_contain_text(answer)
