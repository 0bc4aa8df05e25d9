"""Would more digits help? From one click to a verdict that survives a reload, and whoever gets the address sees it."""

import csv
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.downloads import take
from tests.browser.server import Server
from tests.browser.test_main_job import click_run, shared_address, verdict
from tests.browser.waiting import unfold

pytestmark = [pytest.mark.browser, pytest.mark.evidence]
SETTINGS = "data=digits&models=Logistic regression&sizes=50, 150, 500, all&repeats=6&clusterings=1"  # few: 48 trials


def test_from_one_click_to_a_verdict_that_survives_a_reload(server: Server, page: Page, tab: Callable[..., Page]):
    page.goto(f"{server.url}/data_set_adequacy?{SETTINGS}")
    click_run(page)
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    page.reload()  # the run goes on without the tab
    expect(page.locator(".st-key-verdict")).to_be_visible()
    expect(page.get_by_text("48 of 48 trials used")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.get_by_test_id("stPlotlyChart")).to_have_count(1)
    said = verdict(page)
    assert re.search(r"Twice as many samples would bring .?\d+\.\d points \[.?\d+\.\d, .?\d+\.\d\]", said)
    unfold(page, "Logistic regression: which classes would gain?", "Split by split")
    expect(page.get_by_test_id("stPlotlyChart")).to_have_count(4)

    download = take(page, "Table (TSV)")
    rows = list(csv.DictReader(download.path().read_text("utf-8").splitlines(), delimiter="\t"))
    whole = [row for row in rows if not row["label"]]
    assert [row["size"] for row in whole] == ["50", "150", "500", "0"]
    familiar = [float(row["inclusive"]) for row in whole]
    assert familiar[0] < familiar[-1], "ten times as many digits taught nothing"
    assert all(float(row["exclusive"]) < float(row["inclusive"]) for row in whole)
    assert len(rows) == 4 * (1 + 10)

    download = take(page, "Verdicts (TSV)")
    told = list(csv.DictReader(download.path().read_text("utf-8").splitlines(), delimiter="\t"))
    assert len(told) == 1 + 10
    assert told[0]["sentence"][1:] in said

    address = shared_address(page)
    assert "sizes=50%2C+150%2C+500%2C+all" in address
    other = tab()
    other.goto(address)
    expect(other.locator(".st-key-verdict").get_by_test_id("stMetric")).to_have_count(4)
    assert verdict(other) == said
    expect(other.get_by_role("button", name="Run", exact=True)).to_be_disabled()
