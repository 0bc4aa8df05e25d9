"""What does a reader meet on each page? Height, words, captions, controls and figures; what a rerun costs; axe.

Prints a table; asserts nothing. The home is that of tests/golden with its runs, the window 1280 x 800, everything
folded as a page first shows it. A rerun is Streamlit's own shortcut, with nothing changed: processor seconds of the
server and bytes that the browser gets, the median of three. Axe (serious and critical violations) runs where AXE names
its `axe.min.js` (`npm pack axe-core`), which is no dependency of the project.
"""

import json
import os
import platform
import statistics
import tempfile
import zipfile
from datetime import date
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, expect, sync_playwright

from benchmarks.bench_pages import processor_seconds, until_idle
from benchmarks.screenshots import settle
from core.questions import with_page
from tests.browser.server import FLAGS, ROOT, Server, chromium, cookies, serve
from tests.browser.test_everybody import GOLDEN, RUNS

JUDGED = ("average_case", "covariate_shift", "guided_tests")
"""The kinds of the golden home whose pages are about a model."""
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
    plans = json.loads((GOLDEN / "plans.json").read_text("utf-8"))["plans"]
    judged = [entry for entry in plans if entry["kind"] in JUDGED and entry["address"] is not None and entry["fits"]]
    told = {
        entry["page"]: urlencode({"data": entry["fingerprint"], **entry["address"]}, doseq=True)
        for entry in reversed(judged)
    }
    return RUNS | told


def main() -> None:
    asked = queries()
    print(f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print("| page | height (px) | words | captions | controls | figures | rerun (s) | rerun (kB) | axe |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---|")
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
    seconds, size = rerun(page, server, received)
    numbers = [f"{counted[name]:,}" for name in ("height", "words", "captions", "controls", "figures")]
    return f"| {stem} | {' | '.join(numbers)} | {seconds:.2f} | {size / 1000:.1f} | {violations(page)} |"


def rerun(page: Page, server: Server, received: list[int]) -> tuple[float, float]:
    """Processor seconds and bytes of a rerun in which nothing changes."""
    until_idle(server.process)
    seconds, sizes = [], []
    for _ in range(N_RERUNS):
        before, so_far = processor_seconds(server.process), sum(received)
        page.locator("body").press("r")
        seconds.append(until_idle(server.process) - before)
        sizes.append(sum(received) - so_far)
    return statistics.median(seconds), statistics.median(sizes)


def violations(page: Page) -> str:
    """The serious and critical findings of axe; that it was not run where AXE names no file."""
    script = os.environ.get("AXE", "")
    if not script:
        return "not run"
    page.add_script_tag(path=script)
    return ", ".join(page.evaluate(VIOLATIONS)) or "none"


if __name__ == "__main__":
    main()
