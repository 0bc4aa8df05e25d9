"""A model trained, its test set's verdict read, a threshold and a class changed, a run made, everything taken home."""

import csv
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.downloads import take
from tests.browser.server import Server
from tests.browser.test_main_job import click_run, shared_address, verdict
from tests.browser.waiting import click, settled, unfold

pytestmark = [pytest.mark.browser, pytest.mark.evidence]
SETTINGS = "data=wine&network=Linear model (SGD)&epochs=10&resplits=19"  # few, so that the test is quick


def test_from_training_to_what_the_test_set_covers(server: Server, page: Page, tab: Callable[..., Page]):
    page.goto(f"{server.url}/test_quality?{SETTINGS}")
    train = page.get_by_role("button", name="Train", exact=True)
    expect(train).to_be_enabled()
    click(train)
    expect(page.get_by_text("held-out samples").first).to_be_visible()
    first = verdict(page)
    assert "36 test samples, 142 training samples" in first

    settled(page).get_by_role("spinbutton", name="Boundary up to").fill("0.95")
    page.get_by_role("spinbutton", name="Boundary up to").press("Enter")
    expect(page).to_have_url(re.compile("theta2=0.95"))
    expect(page.locator(".st-key-verdict")).not_to_have_text(first, use_inner_text=True)
    said = verdict(page)
    unfold(page, "How close are two classes")
    click(page.get_by_role("radio", name="class_2").first)
    plane = page.get_by_role("figure", name=re.compile("class_2 and class_[01] in a plane"))
    expect(plane).to_be_visible()

    click_run(page)
    expect(page.locator(".st-key-shift-verdict")).to_contain_text("19 re-splits of each class")
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)

    download = take(page, "Samples (TSV)")
    rows = list(csv.DictReader(download.path().read_text("utf-8").splitlines(), delimiter="\t"))
    assert len(rows) == 36
    at_a_boundary = sum(row["in_boundary"] == "True" for row in rows)
    assert re.search(rf"At a boundary\s+{100 * at_a_boundary / 36:.1f}\s%", said)
    assert all(0.33 <= float(row["confidence"]) <= 0.95 for row in rows if row["in_boundary"] == "True")
    download = take(page, "Covariate shift (TSV)")
    shift = list(csv.DictReader(download.path().read_text("utf-8").splitlines(), delimiter="\t"))
    assert [row["n_resplits"] for row in shift] == ["19"] * 3

    address = shared_address(page)
    other = tab()
    other.goto(address)
    expect(other.locator(".st-key-verdict").get_by_test_id("stMetric")).to_have_count(4)
    assert verdict(other) == said
    expect(other.get_by_role("button", name="Run", exact=True)).to_be_disabled()
    expect(other.get_by_role("figure", name=re.compile("class_2 and class_[01] in a plane"))).to_be_visible()
