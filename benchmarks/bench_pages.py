"""How long does one wait for a page? The first paint of a fresh server, one click to the verdict, and reruns.

Prints a table; asserts nothing. First paint: `streamlit run` to the title, of which the server's own start. The main
job: from the click on Start (digits, two models, 20 repeats). Reruns: the script alone, without the browser, the median
of five, on a data set with a finished run. Processor: what the server itself spends on a rerun that a browser asks for,
Streamlit's garbage collection included, the median of five.
"""

import logging
import os
import platform
import statistics
import tempfile
import time
from datetime import date
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright
from streamlit.testing.v1 import AppTest

from tests.browser.server import FLAGS, ROOT, chromium, cookies, serve
from touchstone.core.data import load_example
from touchstone.core.trials import TrialPlan
from touchstone.core.workspace import LOCAL_OWNER
from touchstone.core.workspace.engine.runner import close_engine, engine
from touchstone.ui.shell import serving

N_RERUNS = 5
MINUTE = 60_000
IDLE = 3.0


def first_paint_and_main_job() -> dict[str, float]:
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as home, serve(Path(home)) as server, sync_playwright() as playwright:
        seconds = {"server answers": time.perf_counter() - started}
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page()
        page.context.add_cookies(cookies())
        opened = time.perf_counter()
        page.goto(server.url)
        expect(page.get_by_role("heading", name="What can be trusted here?")).to_be_visible(timeout=MINUTE)
        seconds["first page: title"] = time.perf_counter() - opened
        expect(page.get_by_role("button", name="Start")).to_be_visible(timeout=MINUTE)
        seconds["first page: complete"] = time.perf_counter() - opened
        seconds |= main_job(page)
        seconds["processor: rerun with results"] = processor_of_rerun(page, server.process)
        browser.close()
    return seconds


def main_job(page: Page) -> dict[str, float]:
    seconds, clicked = {}, time.perf_counter()
    page.get_by_role("button", name="Start").click()
    for name, locator in {
        "click to another page": page.get_by_role("heading", name="How far does accuracy fall"),
        "click to progress": page.get_by_role("button", name="Cancel"),
        "click to first trial": page.get_by_text("left", exact=False).and_(page.get_by_text("of 160 trials")),
        "click to first verdict": page.locator(".st-key-verdict"),
        "click to final verdict": page.get_by_text("120 of 160 trials used"),
    }.items():
        expect(locator.first).to_be_visible(timeout=5 * MINUTE)
        seconds[name] = time.perf_counter() - clicked
    return seconds


def processor_of_rerun(page: Page, process: int) -> float:
    """Processor seconds of a server's own process for a rerun of the page that a browser shows."""
    until_idle(process)
    rounds = []
    for _ in range(N_RERUNS):
        before = processor_seconds(process)
        page.locator("body").press("r")  # Streamlit's shortcut for a rerun
        rounds.append(until_idle(process) - before)
    return statistics.median(rounds)


def until_idle(process: int) -> float:
    """Wait until a process has had nothing to do for a while; what it has spent until then."""
    spent, since = processor_seconds(process), time.monotonic()
    while time.monotonic() - since < IDLE:
        time.sleep(0.1)
        now = processor_seconds(process)
        if now - spent > 2 / os.sysconf("SC_CLK_TCK"):
            spent, since = now, time.monotonic()
    return spent


def processor_seconds(process: int) -> float:
    """What a process has spent in all its threads, without its children."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def reruns() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"TOUCHSTONE_HOME": home, serving.LAUNCHED: "yes"}
        dataset, plan = load_example("digits"), TrialPlan(models=("svm", "logistic"))
        workspace = engine().workspace
        run = workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, dataset, example="digits"))
        engine().start(LOCAL_OWNER, run.id)
        while workspace.run(LOCAL_OWNER, run.id).state == "running":
            time.sleep(0.2)
        seconds = {f"rerun of {stem}": rerun(stem) for stem in ("overview", "data_sets", "source_robustness", "runs")}
        close_engine()
    return seconds


def rerun(stem: str) -> float:
    app = AppTest.from_file(ROOT / "ui" / "shell" / "router.py", default_timeout=120).run()
    if stem != "overview":
        app.switch_page(f"../../pages/{stem}.py").run()
    assert not app.exception, app.exception
    rounds = []
    for _ in range(N_RERUNS):
        start = time.perf_counter()
        app.run()
        rounds.append(time.perf_counter() - start)
    return statistics.median(rounds)


def main() -> None:
    logging.disable(logging.WARNING)
    seconds = first_paint_and_main_job() | reruns()
    print(f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    for name, value in seconds.items():
        print(f"{name:28}{value:8.2f} s")


if __name__ == "__main__":
    main()
