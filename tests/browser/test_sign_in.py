"""Sign-in from end to end, against a provider of OpenID Connect that asks for no password."""

import re
from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.provider import provide, secrets_for
from tests.browser.server import Server, serve
from tests.browser.test_links import create_link, shown, watched
from tests.browser.test_main_job import click_run, verdict
from tests.browser.waiting import click, settled
from touchstone.core.questions import QUESTIONS, with_page
from touchstone.ui.shell.sign_in import SENTENCE

# The first test asks a server that nobody has asked yet.
pytestmark = [pytest.mark.browser, pytest.mark.random_order(disabled=True)]
RESULT = "data=wine&repeats=4&clusterings=1"
PATHS = list(with_page())


@pytest.fixture(scope="module")
def provider(tmp_path_factory) -> Iterator[str]:
    """The address of a provider that knows alice, bob and carol."""
    with provide(tmp_path_factory.mktemp("provider"), "alice", "bob", "carol") as address:
        yield address


@pytest.fixture(scope="module")
def secrets(provider: str) -> Callable[[str], str]:
    """The secrets.toml of a server at an address."""
    return secrets_for(provider)


@pytest.fixture(scope="module")
def server(tmp_path_factory, secrets) -> Iterator[Server]:
    with serve(tmp_path_factory.mktemp("browser-home"), secrets=secrets) as running:
        yield running


@pytest.fixture
def tab(tab: Callable[..., Page]) -> Callable[[], Page]:
    """Tabs that ask nobody elsewhere, and keep what the content policy forbids."""

    def new() -> Page:
        page = tab()
        page.context.route(re.compile("https://"), lambda route: route.abort())
        return watched(page)

    return new


def test_the_first_request_of_a_fresh_server_meets_the_gate(server: Server, tab):
    page = tab()
    page.goto(f"{server.url}/source_robustness?{RESULT}")
    assert_closed(page)
    enter(page, "carol")
    expect(page.get_by_role("heading", name=QUESTIONS["source_robustness"].title)).to_be_visible()
    address = urlsplit(settled(page).url)
    assert address.path == "/source_robustness"
    asked = parse_qs(address.query)
    assert (asked["repeats"], asked["clusterings"]) == (["4"], ["1"])


def assert_closed(page: Page) -> None:
    expect(page.get_by_text(SENTENCE)).to_be_visible()
    expect(page.get_by_role("link", name="Sign in").or_(page.get_by_role("button", name="Sign in"))).to_be_visible()
    expect(page.get_by_test_id("stSidebarNav")).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("Run|Start|Send"))).to_have_count(0)


@pytest.mark.evidence
@pytest.mark.parametrize("path", PATHS)
def test_so_does_the_first_request_to_any_page(path: str, tmp_path, secrets, tab):
    with serve(tmp_path, secrets=secrets) as fresh:
        page = tab()
        page.goto(f"{fresh.url}/{path}?{RESULT}")
        assert_closed(page)


def test_sign_in_share_look_revoke(server: Server, tab):
    alice, bob, visitor = tab(), tab(), tab()
    sign_in(alice, server, "alice")
    alice.goto(f"{server.url}/source_robustness?{RESULT}")
    click_run(alice)
    expect(alice.get_by_text("32 of 32 trials used")).to_be_visible()
    said, own_address = verdict(alice), alice.url
    link = create_link(alice)

    sign_in(bob, server, "bob")
    bob.goto(f"{server.url}/runs")
    expect(bob.get_by_text("No runs yet")).to_be_visible()
    bob.goto(own_address)
    expect(bob.get_by_text("The data set in this address was deleted")).to_be_visible()

    visitor.goto(own_address)
    assert_closed(visitor)
    visitor.goto(link)
    assert shown(visitor) == said
    expect(visitor.get_by_text("Read-only").first).to_be_visible()
    expect(visitor.get_by_test_id("stSidebarNav")).to_have_count(0)
    expect(visitor.get_by_role("button", name=re.compile("^(Run|Create a link|Sign out)$"))).to_have_count(0)

    click(alice.get_by_role("button", name="Revoke"))
    expect(visitor.get_by_text("This link does not work")).to_be_visible()
    expect(visitor.locator(".st-key-verdict")).to_have_count(0)
    visitor.reload()
    expect(visitor.get_by_text("This link does not work")).to_be_visible()

    copy = tab()
    copy.context.add_cookies(alice.context.cookies(server.url))
    copy.goto(f"{server.url}/runs")
    expect(copy.get_by_text("Signed in as alice")).to_be_visible()

    alice.keyboard.press("Escape")
    click(alice.get_by_role("button", name="Sign out"))
    alice.wait_for_url("**/oauth2/end_session**")
    alice.goto(own_address)
    assert_closed(alice)
    copy.goto(f"{server.url}/runs")
    assert_closed(copy)
    bob.goto(f"{server.url}/runs")
    expect(bob.get_by_text("Signed in as bob")).to_be_visible()
    sign_in(alice, server, "alice")
    sign_in(copy, server, "alice")
    click(copy.get_by_role("button", name="Sign-ins"))
    expect(copy.get_by_text("You are signed in here and in 1 other browser.")).to_be_visible()
    expect(copy.get_by_text(re.compile("Chrome on Linux, since"))).to_be_visible()
    click(copy.get_by_role("button", name="End", exact=True))
    expect(copy.get_by_text("You are signed in here, and nowhere else.")).to_be_visible()
    alice.goto(f"{server.url}/runs")
    assert_closed(alice)
    for page in (alice, bob, visitor, copy):
        assert page.evaluate("window.violations ?? []") == []
    log = (server.home / "server.log").read_text()
    assert link.split("t=")[1].split("&")[0] not in log
    assert "warning" not in log.lower()


def sign_in(page: Page, server: Server, who: str) -> None:
    page.goto(server.url)
    enter(page, who)


def enter(page: Page, who: str) -> None:
    """From the gate to the page behind it."""
    page.get_by_role("link", name="Sign in").click()
    page.get_by_role("button", name=who, exact=True).click()
    expect(page.get_by_text(f"Signed in as {who}")).to_be_visible()
