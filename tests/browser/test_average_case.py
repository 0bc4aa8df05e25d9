"""A model trained, its robustness estimated, the verdict read, the least robust samples seen, everything taken home."""

import csv
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.downloads import take
from tests.browser.server import Server
from tests.browser.test_main_job import click_run, shared_address, verdict
from tests.browser.waiting import click

pytestmark = [pytest.mark.browser, pytest.mark.evidence]
SETTINGS = "data=digits&sigmas=0.1,0.3&judged=200&audited=10&half_width=0.05"  # few, so that the test is quick


def test_from_training_to_the_least_robust_samples(server: Server, page: Page, tab: Callable[..., Page]):
    page.goto(f"{server.url}/average_case?{SETTINGS}&network=Linear model (SGD)&epochs=10")
    train = page.get_by_role("button", name="Train", exact=True)
    expect(train).to_be_enabled()
    click(train)
    expect(page.get_by_text("held-out samples").first).to_be_visible()

    click_run(page)
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    said = verdict(page)
    assert "noise level sigma 0.3" in said
    assert re.search(r"n = 200; means from 32 fresh noisy copies of each, single samples estimated by MMSE", said)
    assert "Error vs. Monte-Carlo" in said

    expect(page.get_by_role("heading", name="Least and most robust samples")).to_be_visible()
    least = page.locator(".st-key-least-robust-p-robust")
    expect(least.get_by_role("img")).to_have_count(5)
    shares = shares_robust(least)
    assert len(shares) == 5
    assert shares == sorted(shares)
    most = page.locator(".st-key-most-robust-p-robust")
    assert max(shares) <= min(shares_robust(most))

    download = take(page, "Samples (TSV)")
    rows = list(csv.DictReader(download.path().read_text("utf-8").splitlines(), delimiter="\t"))
    assert len(rows) == 2 * 200
    assert {"id", "label", "predicted", "sigma", "p_robust", "confidence", "monte_carlo_p_robust"} <= set(rows[0])
    audited = [row for row in rows if row["monte_carlo_p_robust"]]
    assert len(audited) == 2 * 10

    address = shared_address(page)
    other = tab()
    other.goto(address)
    expect(other.locator(".st-key-verdict").get_by_test_id("stMetric")).to_have_count(4)
    assert verdict(other) == said
    expect(other.get_by_role("button", name="Run", exact=True)).to_be_disabled()


def shares_robust(pictures: Locator) -> list[float]:
    """The p_robust under each picture, which stands behind the predicted class."""
    return [float(share) for share in re.findall(r"”(?: \(wrong\))?,\s(\d+\.\d)\s%", pictures.inner_text())]
