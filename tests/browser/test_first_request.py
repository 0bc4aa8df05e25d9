"""A link is often the very first thing that a fresh server is asked for."""

import urllib.request

import pytest
from playwright.sync_api import Page, expect

from tests.browser.server import Server, cookies
from tests.browser.waiting import click, settled
from touchstone.core.questions import with_page

# The first test asks a server that nobody has asked yet.
pytestmark = [pytest.mark.browser, pytest.mark.random_order(disabled=True)]


@pytest.fixture(scope="module")
def server(own_server: Server) -> Server:
    return own_server


def test_a_deep_link_as_the_first_request_shows_our_navigation(server: Server, page: Page):
    foreign: list[str] = []
    page.on("request", lambda request: foreign.append(request.url) if not is_ours(request.url, server) else None)
    page.goto(f"{server.url}/source_robustness?data=wine")
    expect(page.get_by_role("heading", name="How far does accuracy fall on new sources?")).to_be_visible()
    navigation = page.get_by_test_id("stSidebarNav")
    expect(navigation.get_by_role("link")).to_have_count(len(with_page()))
    for words in ("Data", "Questions", "Work", "Data sets", "Source robustness", "Overview", "Runs"):
        expect(navigation.get_by_text(words, exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_enabled()
    expect(page).to_have_url(f"{server.url}/source_robustness?data={fingerprint_in(page)}")
    assert foreign == []


@pytest.mark.parametrize("path", ["data_sets?data=wine", "runs", "shared_run?t=none", "no_such_page", ""])
def test_nothing_is_asked_for_in_vain(server: Server, page: Page, path: str):
    refused: list[str] = []
    page.on("response", lambda answer: refused.append(answer.url) if answer.status >= 400 else None)
    page.goto(f"{server.url}/{path}")
    settled(page)
    assert refused == []


def test_an_unknown_data_set_gets_a_sentence_and_no_result(server: Server, page: Page):
    page.goto(f"{server.url}/source_robustness?data={'0' * 64}")
    expect(page.get_by_text("No result is shown")).to_be_visible()
    expect(page.get_by_role("button", name="Run", exact=True)).to_have_count(0)
    expect(page).to_have_url(f"{server.url}/source_robustness?data={'0' * 64}")


def test_the_data_set_stays_when_the_page_changes(server: Server, page: Page):
    page.goto(f"{server.url}/data_sets?data=wine")
    expect(page.get_by_role("heading", name="Wine")).to_be_visible()
    click(page.get_by_test_id("stSidebarNav").get_by_text("Overview"))
    expect(page.get_by_text("178 samples of 3 classes")).to_be_visible()
    assert len(fingerprint_in(page)) == 64


def test_answers_carry_security_headers(server: Server):
    [cookie] = cookies()
    asked = urllib.request.Request(server.url, headers={"Cookie": f"{cookie['name']}={cookie['value']}"})
    headers = urllib.request.urlopen(asked, timeout=60).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    rules = dict(rule.split(" ", 1) for rule in headers["Content-Security-Policy"].split("; "))
    assert "'sha256-" in rules["script-src"]
    assert "unsafe-inline" not in rules["script-src"]


def is_ours(url: str, server: Server) -> bool:
    return url.startswith((server.url, server.url.replace("http", "ws"), "data:", "blob:"))


def fingerprint_in(page: Page) -> str:
    page.wait_for_url("**data=*")
    page.wait_for_function("new URLSearchParams(location.search).get('data').length === 64")
    return page.url.split("data=")[1].split("&")[0]
