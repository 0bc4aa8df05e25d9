"""A file of one's own: a good one becomes a data set, a broken one gets a sentence."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import Server
from tests.browser.waiting import click, settled

pytestmark = pytest.mark.browser
GOOD = "text\tlabel\n" + "".join(f"a fine film, number {n}\tgood\na dull film, number {n}\tbad\n" for n in range(30))


def test_a_good_file_becomes_a_data_set_that_outlives_the_tab(server: Server, page: Page):
    page.goto(f"{server.url}/data_sets?data=wine")
    upload(page, "films.tsv", GOOD)
    expect(page.get_by_text("60 texts, 2 classes")).to_be_visible()
    click(page.get_by_role("button", name="Use this data set"))
    expect(page.get_by_role("heading", name="films")).to_be_visible()
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


def upload(page: Page, name: str, content: str) -> None:
    expect(page.get_by_role("heading", name="Wine")).to_be_visible()  # a fresh server reads it first
    click(page.get_by_text("choose another, or bring your own"))
    file = {"name": name, "mimeType": "text/tab-separated-values", "buffer": content.encode()}
    page.get_by_test_id("stFileUploader").first.locator("input[type=file]").set_input_files(file)
