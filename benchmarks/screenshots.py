"""What does Touchstone look like? Writes docs/screenshots: every page, light and dark, as a person would see it.

Runs the main jobs on the digits first, so that the pages have something to show.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from core.questions import with_page
from tests.browser.server import FLAGS, ROOT, Server, chromium, cookies, serve

FOLDER = ROOT / "docs" / "screenshots"
ABOUT, FILES = "data=digits", "reference=digits_own&target=digits_shifted"
"""The queries of pages that are about a data set, and of those that choose files of their own."""
MINUTE = 60_000


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, serve(Path(home)) as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        run_the_main_job(server, browser)
        judged = run_average_case(server, browser)
        usual = {stem: f"{stem}?{ABOUT if page.about_data_set else FILES}" for stem, page in with_page().items()}
        pages = usual | {"average_case": judged, **run_test_quality(server, browser, judged.partition("?")[2])}
        for scheme in ("light", "dark"):
            for name, path in pages.items():
                with tab(browser, scheme=scheme, height=800) as page:
                    page.goto(f"{server.url}/{path}")
                    expect(page.get_by_role("button", name="Share")).to_be_visible(timeout=MINUTE)
                    settle(page)
                    make_as_high_as_its_page(page)
                    page.screenshot(path=FOLDER / f"{name}{'' if scheme == 'light' else '-dark'}.png")
        browser.close()
    print(f"written: {', '.join(sorted(file.name for file in FOLDER.glob('*.png')))}")


def run_the_main_job(server: Server, browser: Browser) -> None:
    with tab(browser, scheme="light", height=800) as page:
        page.goto(f"{server.url}/cluster_folds?{ABOUT}")
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_text("What distinguishes the folds")).to_be_visible(timeout=5 * MINUTE)
        page.goto(f"{server.url}/source_robustness?{ABOUT}")
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_text("120 of 120 trials used")).to_be_visible(timeout=5 * MINUTE)
        expect(page.get_by_text("which classes and sources are hard?")).to_be_visible(timeout=MINUTE)
        page.goto(f"{server.url}/data_set_adequacy?{ABOUT}")
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_text("320 of 320 trials used")).to_be_visible(timeout=10 * MINUTE)


def run_average_case(server: Server, browser: Browser) -> str:
    """Train a network and judge it; returns the address of what came of it, below the server's."""
    with tab(browser, scheme="light", height=800) as page:
        page.goto(f"{server.url}/average_case?{ABOUT}&network=CNN-1&epochs=10")
        page.get_by_role("button", name="Train", exact=True).click()
        expect(page.get_by_text("held-out samples").first).to_be_visible(timeout=5 * MINUTE)
        page.get_by_role("button", name="Run", exact=True).click()
        expect(page.get_by_text("How large is the error on this model?")).to_be_visible(timeout=5 * MINUTE)
        return page.url.removeprefix(f"{server.url}/")


def run_test_quality(server: Server, browser: Browser, about: str) -> dict[str, str]:
    """Measure covariate shift and generate tests of the same network; `about` is the query that names it."""
    addresses = {}
    with tab(browser, scheme="light", height=800) as page:
        for name, shown in (("test_quality", "Directions"), ("guided_tests", "Label these next")):
            page.goto(f"{server.url}/{name}?{about}")
            page.get_by_role("button", name="Run", exact=True).click(timeout=MINUTE)
            expect(page.get_by_role("button", name="Cancel")).to_be_visible(timeout=MINUTE)
            expect(page.get_by_role("button", name="Cancel")).to_have_count(0, timeout=5 * MINUTE)
            expect(page.get_by_text(shown).first).to_be_visible(timeout=MINUTE)
            addresses[name] = page.url.removeprefix(f"{server.url}/")
    return addresses


def make_as_high_as_its_page(page: Page) -> None:
    """Grow the window until nothing is left to scroll."""
    height = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
    page.set_viewport_size({"width": 1280, "height": height})
    settle(page)


def settle(page: Page) -> None:
    """Wait until nothing is loading and every figure is drawn, twice in a row: what is drawn may ask for more."""
    page.wait_for_load_state("networkidle")
    for _ in range(2):
        page.wait_for_timeout(3000)
        for loading in ("stStatusWidget", "stSkeleton"):
            expect(page.get_by_test_id(loading)).to_have_count(0, timeout=2 * MINUTE)
        charts = page.get_by_test_id("stPlotlyChart").filter(visible=True)  # some are folded away
        for position in range(charts.count()):
            expect(charts.nth(position).locator(".main-svg").first).to_be_visible(timeout=MINUTE)


@contextmanager
def tab(browser: Browser, *, scheme: str, height: int) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": height}, color_scheme=scheme)
    context.add_cookies(cookies())
    yield context.new_page()
    context.close()


if __name__ == "__main__":
    main()
