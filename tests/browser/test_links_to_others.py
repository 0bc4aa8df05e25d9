"""Where links open to others, a link shows its result there; nothing else does, and no owner is there."""

import http.client
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from distributed import Security
from playwright.sync_api import Browser, Page, expect

from tests.browser.downloads import take
from tests.browser.server import CERTIFICATE, SECONDS_TO_STOP, Server, free_port, serve
from tests.browser.test_links import create_link, watched
from tests.browser.waiting import PATIENCE, click, settled
from touchstone.core.questions import with_page
from touchstone.core.workspace import events
from touchstone.ui.shell.only_links import AT_ONCE, NOTHING_ELSE, SETTING, TOO_MANY

pytestmark = pytest.mark.browser
TITLE = "What is in the data?"


@pytest.fixture(scope="module")
def door() -> str:
    """Where links open to others."""
    return f"127.0.0.1:{free_port()}"


@pytest.fixture(scope="module")
def server(tmp_path_factory, door: str) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("browser-home")
    with serve(home, settings={SETTING: door, events.SETTING: str(home / "events.log")}) as running:
        yield running


@pytest.fixture
def visitor(browser: Browser) -> Iterator[Page]:
    """A tab of somebody who was never here, on a phone."""
    context = browser.new_context(viewport={"width": 390, "height": 844})
    context.set_default_timeout(PATIENCE)
    yield watched(context.new_page())
    context.close()


def asked(door: str, path: str) -> tuple[int, str]:
    """What is answered there to a program without cookies."""
    connection = http.client.HTTPConnection(door, timeout=60)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def asked_at_once(door: str, n: int, *, client: str) -> str:
    """All that is answered there to so many requests by one connection, from an address of this machine."""
    host, port = door.split(":")
    ask = f"GET / HTTP/1.1\r\nHost: {door}\r\n".encode()
    with socket.create_connection((host, int(port)), timeout=60, source_address=(client, 0)) as connection:
        connection.sendall((ask + b"\r\n") * (n - 1) + ask + b"Connection: close\r\n\r\n")
        return b"".join(iter(lambda: connection.recv(2**16), b"")).decode()


def test_a_link_opens_there_until_it_is_revoked_and_nothing_else_does(
    server: Server, door: str, page: Page, visitor: Page
):
    page.goto(f"{server.url}/data_sets?data=wine")
    expect(page.get_by_role("heading", name=TITLE)).to_be_visible()
    link = create_link(page)
    assert link.startswith(f"http://{door}/shared_run?t=")
    expect(page.get_by_text(f"opens for whoever has it and can reach http://{door}/")).to_be_visible()
    expect(page.get_by_text("would open for you alone")).to_have_count(0)
    expect(page.locator(".st-key-verdict").get_by_test_id("stMetric")).to_have_count(5)
    answer = page.locator(".st-key-verdict").inner_text()
    visitor.goto(link)
    expect(visitor.get_by_role("heading", name=TITLE)).to_be_visible()
    expect(visitor.locator(".st-key-verdict")).to_be_in_viewport()
    expect(visitor.locator(".st-key-verdict")).to_have_text(answer, use_inner_text=True)
    report = take(visitor, "Report (Markdown)").path().read_text("utf-8")
    assert report.startswith(f"# {TITLE}\n")
    expect(visitor.get_by_text("Read-only").filter(visible=True)).to_have_count(1)
    expect(visitor.locator(".stPlotlyChart:has(canvas)")).to_be_visible()
    assert settled(visitor).evaluate("window.violations ?? []") == []
    for name in ("", *with_page(), "shared_run", "auth/login"):
        answer = visitor.context.request.get(f"http://{door}/{name}")  # by a browser that opened a link
        assert answer.status == asked(door, f"/{name}")[0] == 403
        assert NOTHING_ELSE in answer.text()
    assert asked(door, "/_stcore/health")[0] == 403
    beside = visitor.context.new_page()
    beside.goto(f"http://{door}/")
    expect(beside.get_by_role("heading", name="Open the whole link")).to_be_visible()
    click(page.get_by_role("button", name="Revoke"))
    expect(visitor.get_by_text("This link does not work")).to_be_visible()
    expect(visitor.locator(".stPlotlyChart")).to_have_count(0)
    answer = visitor.reload()
    assert answer is not None
    assert answer.status == 403
    expect(visitor.get_by_role("heading", name="This link does not work")).to_be_visible()
    log = (server.home / "server.log").read_text()
    assert f"Links that you share open at http://{door}/" in log
    events_log = (server.home / "events.log").read_text()
    came = [json.loads(line) for line in events_log.splitlines()]
    assert [one["works"] for one in came if one["event"] == "link_asked"] == [True, False, False]
    assert link.split("t=")[1].split("&")[0] not in log + events_log


@pytest.mark.evidence
def test_over_tls_a_link_opens_there_too(tmp_path: Path, tab: Callable[..., Page]):
    certificate, key = tmp_path / "touchstone.pem", tmp_path / "touchstone.key"
    made = Security.temporary()
    certificate.write_text(made.tls_client_cert)
    key.write_text(made.tls_client_key)
    door = f"127.0.0.1:{free_port()}"
    tls = {CERTIFICATE: str(certificate), "STREAMLIT_SERVER_SSL_KEY_FILE": str(key)}
    with serve(tmp_path, settings={SETTING: door, **tls}) as server:
        owner, visitor = tab(ignore_https_errors=True), watched(tab(ignore_https_errors=True))
        owner.goto(f"{server.url}/data_sets?data=wine")
        expect(owner.get_by_role("heading", name=TITLE)).to_be_visible()
        link = create_link(owner)
        assert link.startswith(f"https://{door}/shared_run?t=")
        visitor.goto(link)
        expect(visitor.get_by_role("heading", name=TITLE)).to_be_visible()
        expect(visitor.locator(".stPlotlyChart:has(canvas)")).to_be_visible()
        assert settled(visitor).evaluate("window.violations ?? []") == []
        click(owner.get_by_role("button", name="Revoke"))
        expect(visitor.get_by_text("This link does not work")).to_be_visible()


def test_too_many_requests_are_refused_there_and_others_go_on(server: Server, door: str, page: Page):
    answers = asked_at_once(door, AT_ONCE, client="127.0.0.2")
    assert (answers.count("403 Forbidden"), answers.count(TOO_MANY)) == (AT_ONCE, 0)
    while TOO_MANY not in answers:  # a slow machine earns some requests more meanwhile
        answers = asked_at_once(door, 100, client="127.0.0.2")
    assert "429 Too Many Requests" in answers
    assert asked(door, "/")[0] == 403
    page.goto(f"{server.url}/data_sets?data=wine")
    expect(page.get_by_role("heading", name=TITLE)).to_be_visible()


def test_it_ends_with_the_server_also_where_that_is_killed(tmp_path: Path):
    door = f"127.0.0.1:{free_port()}"
    with serve(tmp_path, settings={SETTING: door}) as server:
        until = time.monotonic() + SECONDS_TO_STOP
        while not answers(door):
            assert time.monotonic() < until
            time.sleep(0.1)
        os.kill(server.process, signal.SIGKILL)
        while answers(door):
            assert time.monotonic() < until
            time.sleep(0.1)


def answers(door: str) -> bool:
    try:
        return asked(door, "/")[0] > 0
    except OSError:
        return False
