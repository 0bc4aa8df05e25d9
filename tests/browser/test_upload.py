"""A file of one's own: a good one becomes a data set, a broken one gets a sentence."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.server import Server
from tests.browser.waiting import click, settled, unfold
from tests.data.shared_files import recordings

pytestmark = pytest.mark.browser
GOOD = "text\tlabel\n" + "".join(f"a fine film, number {n}\tgood\na dull film, number {n}\tbad\n" for n in range(30))


def test_a_good_file_becomes_a_data_set_that_outlives_the_tab(server: Server, page: Page):
    page.goto(f"{server.url}/data_sets?data=wine")
    upload(page, "films.tsv", GOOD)
    expect(page.get_by_text("60 texts, 2 classes")).to_be_visible()
    click(page.get_by_role("button", name="Use this data set"))
    expect(page.get_by_role("heading", name="films")).to_be_visible()
    unfold(page, "Samples")
    expect(page.get_by_text("a fine film, number").first).to_be_visible()
    page.wait_for_function("new URLSearchParams(location.search).get('data').length === 64")
    settled(page).reload()
    expect(page.get_by_role("heading", name="films")).to_be_visible()


def test_a_broken_file_gets_its_error_as_written(server: Server, page: Page):
    page.goto(f"{server.url}/data_sets?data=wine")
    upload(page, "films.tsv", "text\tlabel\na fine film\tgood\ta third cell\n")
    expect(page.get_by_test_id("stAlert").get_by_text("films.tsv, line 2")).to_be_visible()
    expect(page.get_by_role("heading", name="Wine")).to_be_visible()
    expect(page.get_by_role("button", name="Use this data set")).to_have_count(0)


@pytest.mark.evidence
def test_from_recordings_to_a_verdict_about_new_subjects_in_four_clicks(own_server: Server, page: Page):
    page.goto(f"{own_server.url}/data_sets?data=wine")
    clicks = Clicks()
    clicks.file(page, "voices.tsv", recordings(n_columns=6))
    expect(page.get_by_text("186 rows, 2 classes: “1” 74.2 %, “0” 25.8 %. 31 sources, each a unit.")).to_be_visible()
    expect(page.get_by_role("heading", name="Wine")).to_have_count(0)
    clicks.on(page.get_by_role("button", name="Use this data set"))
    expect(page.get_by_role("heading", name="voices")).to_be_visible()
    clicks.on(page.get_by_role("link", name="Source robustness"))
    expect(page.get_by_text("known sources").first).to_be_visible()
    clicks.on(page.get_by_role("button", name="Run", exact=True))
    verdict = page.locator(".st-key-verdict")
    expect(verdict).to_contain_text("held-out sources")
    assert clicks.n <= 4


class Clicks:
    """What a person clicks on, counted; choosing a file is one click on the page, the rest is the machine's own."""

    def __init__(self) -> None:
        self.n = 0

    def on(self, place: Locator) -> None:
        self.n += 1
        click(place)

    def file(self, page: Page, name: str, content: bytes) -> None:
        self.n += 1
        settled(page)
        with page.expect_file_chooser() as chooser:
            page.get_by_test_id("stFileUploader").first.get_by_role("button", name="Upload", exact=True).click()
        chooser.value.set_files({"name": name, "mimeType": "text/tab-separated-values", "buffer": content})


def upload(page: Page, name: str, content: str) -> None:
    expect(page.get_by_role("heading", name="Wine")).to_be_visible()  # a fresh server reads it first
    Clicks().file(page, name, content.encode())
