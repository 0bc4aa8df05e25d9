"""From a home where nothing was computed to a first verdict, through each of the three doors: clicks and seconds.

How many clicks are asserted; seconds are printed, for other work shares the machine (`pytest -s`).
"""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.server import Server
from tests.browser.test_matched_subsets import upload as upload_predictions
from tests.browser.test_upload import GOOD
from tests.browser.test_upload import upload as upload_data
from tests.browser.waiting import click, settled

# The last computes what the others must not find, and leaves other runs to be begun.
pytestmark = [pytest.mark.browser, pytest.mark.random_order(disabled=True)]


class Way:
    """What a person clicks on from the first page on; choosing a file is a click, too."""

    def __init__(self, page: Page, server: Server):
        self.page, self.url, self.n = page, server.url, 0
        page.goto(server.url)
        settled(page)
        self.began = time.monotonic()

    def about(self, data: str) -> None:
        """Begin again, on another data set."""
        self.page.goto(f"{self.url}/?data={data}")
        settled(self.page)

    def on(self, place: Locator) -> None:
        self.n += 1
        click(place)


@pytest.fixture
def way(own_server: Server, page: Page, request: pytest.FixtureRequest) -> Iterator[Way]:
    way = Way(page, own_server)
    yield way
    print(f"{request.node.name}: {way.n} clicks, {time.monotonic() - way.began:.0f} s")


def test_predictions(way: Way, page: Page, shared_data: Path):
    way.on(page.get_by_role("link", name="Compare two test sets"))
    for side, name, role in (("reference", "spam__preds.tsv", "reference"), ("target", "spam__hindi_preds.tsv", "new")):
        way.n += 1
        upload_predictions(page, shared_data / "predictions" / name, side)
        use = page.get_by_role("button", name=f"Use as {role} set")
        way.on(use)
        expect(use).to_have_count(0)
    expect(page.locator(".st-key-verdict")).to_contain_text("Accuracy falls by 46.1 points")
    assert way.n <= 5


def test_data(way: Way, page: Page):
    way.about("wine")
    way.on(page.get_by_role("link", name="Upload data"))
    way.n += 1
    expect(page.get_by_role("heading", name="What is in the data?")).to_be_visible()
    upload_data(page, "films.tsv", GOOD)
    way.on(page.get_by_role("button", name="Use this data set"))
    expect(page.locator(".st-key-verdict")).to_contain_text("60 texts")
    assert way.n <= 3


def test_show_me(way: Way, page: Page):
    way.on(page.get_by_role("button", name="Start"))
    expect(page.locator(".st-key-verdict")).to_contain_text("held-out clusters")
    assert way.n == 1


def test_ask_all(way: Way, page: Page):
    way.about("wine")
    way.on(page.get_by_role("button", name="Ask all questions"))
    asking = page.locator(".st-key-asking")
    expect(asking).to_contain_text("steps done")
    cards = page.locator("[class*=st-key-card-]")
    expect(cards.filter(has_text="held-out clusters").first).to_be_visible()
    click(page.get_by_role("button", name="Stop"))
    expect(asking).to_have_count(0)
    expect(page.get_by_text("Not answered:")).to_be_visible()
    expect(page.get_by_test_id("stPlotlyChart")).to_have_count(1)
    assert way.n == 1
