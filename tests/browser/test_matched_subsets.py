"""Two files of predictions from end to end: roles, a verdict, a table, and the same for whoever gets the address."""

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.downloads import take
from tests.browser.server import Server
from tests.browser.test_main_job import shared_address
from tests.browser.waiting import click, settled, unfold

pytestmark = pytest.mark.browser


def test_two_files_become_a_verdict_that_can_be_shared(
    server: Server, page: Page, tab: Callable[..., Page], shared_data: Path
):
    page.goto(f"{server.url}/matched_subsets")
    upload(page, shared_data / "predictions" / "spam__preds.tsv", "reference")
    expect(page.get_by_text("Truth: column 'target'")).to_be_visible()
    expect(page.get_by_text("Confidence: column 'prob'")).to_be_visible()
    use = page.get_by_role("button", name="Use as reference set")
    click(use)
    expect(use).to_have_count(0)
    upload(page, shared_data / "predictions" / "spam__hindi_preds.tsv", "target")
    click(page.get_by_role("button", name="Use as new set"))
    shown = verdict(page)
    assert re.search(r"Accuracy falls by 46\.1 points \[4\d\.\d, 4\d\.\d\]", shown)
    click(page.get_by_text("New set spam__hindi_preds.tsv against reference set"))
    expect(page.get_by_text("accuracy 99.8 %")).to_be_visible()
    expect(page.get_by_text("accuracy 53.7 %")).to_be_visible()
    unfold(page, "By epsilon and by predicted label", "Is the model calibrated?")
    expect(page.get_by_test_id("stPlotlyChart").filter(visible=True)).to_have_count(7)

    download = take(page, "Samples (TSV)")
    rows = list(csv.DictReader(download.path().read_text("utf-8").splitlines(), delimiter="\t"))
    assert len(rows) == 17_830 + 16_617
    assert {row["subset"] for row in rows} == {
        f"{part} {name}" for part in ("matched", "unmatched") for name in ("reference", "target")
    }
    assert rows[0]["id"] == "5453"

    address = shared_address(page)
    assert "epsilon=0.005" in address
    other = tab()
    other.goto(address)
    assert verdict(other) == shown


def test_a_broken_file_gets_its_error_as_written(server: Server, page: Page, tmp_path: Path):
    file = tmp_path / "broken.tsv"
    file.write_text("id\tgold\tpredicted\n1\tcat\n")
    page.goto(f"{server.url}/matched_subsets")
    upload(page, file, "reference")
    expect(page.get_by_test_id("stAlert").get_by_text("broken.tsv, line 2")).to_be_visible()
    expect(page.get_by_role("button", name="Use as reference set")).to_have_count(0)
    click(page.get_by_role("button", name="Discard"))
    expect(page.get_by_test_id("stAlert")).to_have_count(0)


def upload(page: Page, file: Path, side: str) -> None:
    card = settled(page).locator(f".st-key-card-{side}")
    card.get_by_test_id("stFileUploader").locator("input[type=file]").set_input_files(file)


def verdict(page: Page) -> str:
    """The whole card, once its last number is there."""
    card = page.locator(".st-key-verdict")
    expect(card.get_by_test_id("stMetric")).to_have_count(4)
    settled(page)
    return card.inner_text()
