"""A real server and a real browser, for what only they can show."""

from collections.abc import Callable, Generator, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.server import FLAGS, Server, chromium, cookies, free_port, serve
from tests.browser.waiting import PATIENCE
from touchstone.ui.shell.only_links import SETTING

expect.set_options(timeout=PATIENCE)
STATES = """() => {
    const app = document.querySelector("[data-testid=stApp]")
    return app ? [app.dataset.testScriptState ?? "", app.dataset.testConnectionState ?? ""] : []
}"""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What the server wrote, and what each tab said at last, stand beside a test that failed."""
    report = yield
    known = getattr(item, "funcargs", {})
    if report.failed and "server" in known:
        report.sections.append(("Server log", (known["server"].home / "server.log").read_text()))
    if report.failed and report.when == "call" and "browser" in known:
        for context in known["browser"].contexts:
            report.sections += [(_state(tab), tab.locator("body").inner_text()) for tab in context.pages]
    return report


def _state(tab: Page) -> str:
    """Where a tab is, and whether its app is drawing and connected."""
    return " ".join(["Tab", tab.url.partition("?")[0], *tab.evaluate(STATES)])


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[Server]:
    """The server that most modules share; when all tests are done it is stopped, and must leave no process behind."""
    with serve(tmp_path_factory.mktemp("browser-home")) as running:
        yield running


@pytest.fixture(scope="module")
def own_server(tmp_path_factory) -> Iterator[Server]:
    """A fresh server, stopped with the module: for one that leaves work running, or must be first or alone on it."""
    with serve(tmp_path_factory.mktemp("browser-home")) as running:
        yield running


@pytest.fixture(scope="module")
def server_with_links(tmp_path_factory) -> Iterator[Server]:
    """A fresh server whose links open for others: only there they are made."""
    door = f"127.0.0.1:{free_port()}"
    with serve(tmp_path_factory.mktemp("browser-home"), settings={SETTING: door}) as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium. Fails where there is none: a browser test that did not run has not passed."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def tab(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Makes as many tabs as are needed, each in a browser context of its own that knows nothing of the others.

    They have opened the printed address before.
    """
    contexts = []

    def new(**options: bool) -> Page:
        contexts.append(browser.new_context(viewport={"width": 1280, "height": 900}, **options))
        contexts[-1].set_default_timeout(PATIENCE)
        contexts[-1].add_cookies(cookies())
        return contexts[-1].new_page()

    yield new
    for context in contexts:
        context.close()


@pytest.fixture
def page(tab: Callable[..., Page]) -> Page:
    """One of them."""
    return tab()
