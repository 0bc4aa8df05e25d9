"""A real server and a real browser, for what only they can show."""

from collections.abc import Generator, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.server import FLAGS, Server, chromium, serve

expect.set_options(timeout=20_000)  # machines are shared: what takes a moment may take many


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What the server wrote stands beside a test that failed."""
    report = yield
    if report.failed and "server" in getattr(item, "funcargs", {}):
        report.sections.append(("Server log", (item.funcargs["server"].home / "server.log").read_text()))
    return report


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    """A fresh server; when the tests of a module are done it is stopped, and must leave no process behind."""
    home = tmp_path_factory.mktemp("browser-home")
    with serve(home) as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium. Fails where there is none: a browser test that did not run has not passed."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A tab in a browser context of its own."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(20_000)
    yield page
    context.close()
