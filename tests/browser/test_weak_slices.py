"""A person's minute with one file: dropped, a slice named, its samples at a click, a report, and a link to it all."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.downloads import take
from tests.browser.server import Server
from tests.browser.test_links import create_link
from tests.browser.test_matched_subsets import upload
from tests.browser.waiting import click, settled
from tests.pages.test_weak_slices import WEAK, people, written

pytestmark = pytest.mark.browser
HEADLINE = WEAK.replace(">=", "≥")
"""As a page draws it."""


@pytest.fixture(scope="module")
def server(server_with_links: Server) -> Server:
    return server_with_links


def test_a_file_dropped_becomes_a_slice_with_its_samples_a_report_and_a_link(
    server: Server, page: Page, tab: Callable[..., Page], tmp_path: Path
):
    file = tmp_path / "people.tsv"
    file.write_bytes(written(people()))
    page.goto(f"{server.url}/weak_slices")
    upload(page, file, "target")
    click(page.get_by_role("button", name="Use as test set"))
    card = page.locator(".st-key-verdict")
    expect(card).to_contain_text(f"{HEADLINE}: accuracy ")
    said = settled(page).locator(".st-key-verdict").inner_text()
    lines = page.get_by_test_id("data-grid-canvas").first
    lines.scroll_into_view_if_needed()
    place = lines.bounding_box()
    assert place is not None
    page.mouse.click(place["x"] + place["width"] / 20, place["y"] + 3 * place["height"] / 4, delay=100)
    n = int((people()["age"] >= 65).sum())
    expect(page.get_by_text(f"{HEADLINE}: {n} samples of both halves")).to_be_visible()
    take(page, "Report (HTML)").save_as(tmp_path / "report.html")
    report = tab(offline=True)
    report.goto((tmp_path / "report.html").as_uri())
    expect(report.locator(".verdict")).to_contain_text(f"{WEAK}: accuracy ")
    expect(report.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    visitor = tab()
    visitor.goto(create_link(page))
    expect(visitor.locator(".st-key-verdict")).to_contain_text(f"{HEADLINE}: accuracy ")
    assert settled(visitor).locator(".st-key-verdict").inner_text() == said
