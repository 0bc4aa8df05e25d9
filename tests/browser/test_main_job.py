"""The main job from end to end: one click to a verdict, and the same verdict for whoever gets the address."""

import csv
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.downloads import take
from tests.browser.server import Server
from tests.browser.waiting import click, settled, unfold

pytestmark = [pytest.mark.browser, pytest.mark.random_order(disabled=True)]  # the last leaves its run running
PARAMETERS = "data=digits&repeats=8&clusterings=2"  # few, so that the test is quick: 64 trials


@pytest.fixture(scope="module")
def server(own_server: Server) -> Server:
    return own_server


def test_from_one_click_to_a_verdict_that_can_be_shared(server: Server, page: Page, tab: Callable[..., Page]):
    page.goto(f"{server.url}/source_robustness?{PARAMETERS}")
    click_run(page)
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    expect(page.locator(".st-key-verdict")).to_be_visible()
    expect(page.get_by_text("64 of 64 trials used")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.get_by_text("SVM: which classes").or_(page.get_by_text("regression: which classes"))).to_be_visible()
    expect(page.get_by_test_id("stPlotlyChart")).to_have_count(1)
    unfold(page, "which classes and sources are hard?", "Split by split", "What do the sources look like?")
    expect(page.get_by_test_id("stPlotlyChart")).to_have_count(6)
    expect(page.get_by_text("Hardest held-out clusters")).to_be_visible()
    shown = verdict(page)
    assert re.search(r"rho \.\d{3}", shown)

    download = take(page, "Table (TSV)")
    rows = list(csv.DictReader(download.path().read_text("utf-8").splitlines(), delimiter="\t"))
    assert {row["model"] for row in rows} == {"svm", "logistic"}
    rho = next(float(row["rho"]) for row in rows if row["model"] == "logistic" and not row["label"])
    assert 0.75 < rho < 0.95

    download = take(page, "Drawn splits (TSV)")
    header = download.path().read_text("utf-8").splitlines()[0].split("\t")
    assert {"trial", "scheme", "repeat", "id", "part"} <= set(header)

    address = shared_address(page)
    assert address.startswith(server.url)
    other = tab()
    other.goto(address)
    assert verdict(other) == shown
    expect(other.get_by_role("button", name="Run", exact=True)).to_be_disabled()


def test_a_run_can_be_cancelled_and_resumed_from_any_page(server: Server, page: Page):
    page.goto(f"{server.url}/source_robustness?data=wine&repeats=400")
    click_run(page)
    expect(page.get_by_test_id("stProgress").get_by_text(re.compile(r"^[\d\s]+ of 3.200 trials"))).to_be_visible()
    click(page.get_by_test_id("stSidebarNav").get_by_text("Runs"))
    expect(page.get_by_role("heading", name="What has been computed?")).to_be_visible()
    the_run = re.compile(r"of 3.200 trials")  # its clouds are a run beside it
    run = page.locator("[class*=st-key-run-]").filter(has_text=the_run)
    click(run.get_by_role("button", name="Cancel"))
    expect(run.get_by_text("cancelled")).to_be_visible()
    click(run.get_by_role("button", name="Resume"))
    expect(run.get_by_role("button", name="Cancel")).to_be_visible()
    click(page.get_by_test_id("stSidebarNav").get_by_text("Overview"))
    expect(page.get_by_role("heading", name="What can be trusted here?")).to_be_visible()
    run = page.locator("[class*=st-key-card-]").filter(has_text=the_run)
    expect(run.get_by_role("button", name="Cancel")).to_be_visible()
    # The run is left running: the server's fixture checks that stopping it leaves no process behind.


def click_run(page: Page) -> None:
    button = page.get_by_role("button", name="Run", exact=True)
    expect(button).to_be_enabled()
    click(button)


def verdict(page: Page) -> str:
    """The whole card, once its last number is there."""
    card = page.locator(".st-key-verdict")
    expect(card.get_by_test_id("stMetric")).to_have_count(4)
    settled(page)
    return card.inner_text()


def shared_address(page: Page) -> str:
    click(page.get_by_role("button", name="Send"))
    address = page.get_by_test_id("stCode").filter(has_text="http").last
    expect(address).to_contain_text("http")
    return address.locator("code").inner_text().strip()
