"""What does a reader meet on each page? Height, words, captions, controls and figures; what a rerun costs; axe.

Prints a table; asserts nothing. The home is that of tests/golden with its runs, the window 1280 x 800, everything
folded as a page first shows it. A rerun is Streamlit's own shortcut, with nothing changed; a change is another choice
of what the page speaks of (the model of the verdict, the noise level, the score, the colours), its answer computed
before: processor seconds of the server and bytes that the browser gets, the median of three. Axe (serious and critical
violations) runs where AXE names its `axe.min.js` (`npm pack axe-core`), which is no dependency of the project.

A folder as the first argument is another checkout of Touchstone, whose pages are measured in place of these.
"""

import json
import os
import platform
import statistics
import sys
import tempfile
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

from playwright.sync_api import Locator, Page, expect, sync_playwright

import tests.browser.server
from benchmarks.bench_pages import processor_seconds, until_idle
from benchmarks.screenshots import settle
from tests.browser.server import FLAGS, ROOT, Server, chromium, cookies, serve
from tests.browser.test_everybody import GOLDEN, MODELS, RUNS
from touchstone.core.questions import with_page

SUBJECTS = {
    "data_sets": "colour",
    "cluster_folds": "score",
    "source_robustness": "about",
    "data_set_adequacy": "of",
    "average_case": "at",
    "guided_tests": "taken",
    "runs": "order-runs",
}
"""The key of the control that says what a page speaks of; pages that are left out have none in sight."""
N_RERUNS = 3
MINUTE = 60_000
CONTROLS = [
    *("stSelectbox", "stMultiSelect", "stNumberInput", "stTextInput", "stTextArea", "stSlider", "stCheckbox"),
    *("stRadio", "stButton", "stButtonGroup", "stDownloadButton", "stPopover", "stFileUploader"),
]
COUNT = """([captions, controls]) => {
    const shown = (each) => each.checkVisibility({opacityProperty: true, visibilityProperty: true})
    const main = document.querySelector("[data-testid=stMain]")
    const seen = (ids) => ids.flatMap((id) => [...main.querySelectorAll(`[data-testid=${id}]`)]).filter(shown).length
    return {
        height: main.scrollHeight,
        words: main.innerText.split(/\\s+/).filter((word) => /\\w/.test(word)).length,
        captions: seen(captions),
        controls: seen(controls),
        figures: seen(["stPlotlyChart"]),
    }
}"""
VIOLATIONS = """async () => (await axe.run(document)).violations
    .filter((each) => ["serious", "critical"].includes(each.impact)).map((each) => each.id)"""


def queries() -> dict[str, str]:
    """The query of each page at which it has something to show in the golden home."""
    about = json.loads((GOLDEN / "plans.json").read_text("utf-8"))["about"]["data"]
    return RUNS | MODELS | {"data_sets": f"data={about}"}


def main() -> None:
    if len(sys.argv) > 1:
        tests.browser.server.ROOT = Path(sys.argv[1]).resolve()
    asked = queries()
    print(f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    names = ("height (px)", "words", "captions", "controls", "figures")
    costs = ("rerun (s)", "rerun (kB)", "change (s)", "change (kB)")
    print(f"| page | {' | '.join((*names, *costs))} | axe |")
    print(f"|---|{'---:|' * len((*names, *costs))}---|")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        with zipfile.ZipFile(ROOT / "tests" / "golden" / "home.zip") as archive:
            archive.extractall(folder)
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        with serve(Path(folder)) as server:
            for stem in with_page():
                page = browser.new_context(viewport={"width": 1280, "height": 800}, bypass_csp=True).new_page()
                page.context.add_cookies(cookies())
                print(line(stem, asked.get(stem, ""), page, server), flush=True)
                page.context.close()
        browser.close()


def line(stem: str, query: str, page: Page, server: Server) -> str:
    """One page's line of the table."""
    received: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
    page.goto(f"{server.url}/{stem}?{query}")
    expect(page.get_by_role("heading", level=1)).to_be_visible(timeout=MINUTE)
    settle(page)
    counted = page.evaluate(COUNT, [["stCaptionContainer"], CONTROLS])
    numbers = [f"{counted[name]:,}" for name in ("height", "words", "captions", "controls", "figures")]
    numbers += cost(lambda: page.locator("body").press("r"), server, received)
    numbers += change(stem, page, server, received)
    return f"| {stem} | {' | '.join(numbers)} | {violations(page)} |"


def change(stem: str, page: Page, server: Server, received: list[int]) -> list[str]:
    """What it costs to have a page speak of something else, there and back again, once both have been seen."""
    control = page.locator(f".st-key-{SUBJECTS.get(stem, 'none')}").filter(visible=True).first
    if not control.count():
        return ["–", "–"]
    for _ in range(2):
        choose_another(control, page)
        until_idle(server.process)
        settle(page)
    return cost(lambda: choose_another(control, page), server, received)


def choose_another(control: Locator, page: Page) -> None:
    """Choose the first value of a control that is not chosen now."""
    if control.get_by_role("combobox").count():
        control.get_by_role("combobox").click()
        page.locator("[role=option][aria-selected=false]").first.click()
    else:
        control.locator("[role=radio][aria-checked=false], button[aria-pressed=false]").first.click()


def cost(act: Callable[[], object], server: Server, received: list[int]) -> list[str]:
    """Processor seconds and kB of what somebody does on a page, the median of several times."""
    until_idle(server.process)
    seconds, sizes = [], []
    for _ in range(N_RERUNS):
        before, so_far = processor_seconds(server.process), sum(received)
        act()
        seconds.append(until_idle(server.process) - before)
        sizes.append(sum(received) - so_far)
    return [f"{statistics.median(seconds):.2f}", f"{statistics.median(sizes) / 1000:.1f}"]


def violations(page: Page) -> str:
    """The serious and critical findings of axe; that it was not run where AXE names no file."""
    script = os.environ.get("AXE", "")
    if not script:
        return "not run"
    page.add_script_tag(path=script)
    return ", ".join(page.evaluate(VIOLATIONS)) or "none"


if __name__ == "__main__":
    main()
