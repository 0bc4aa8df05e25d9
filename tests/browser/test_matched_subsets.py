"""Two files of predictions from end to end: roles, a verdict, a table, and the same for whoever gets the address."""

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

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


def test_a_click_anywhere_on_a_cell_lists_its_samples_in_every_table(server: Server, page: Page, tmp_path: Path):
    rows = [f"{number}\t{truth}\t{called}\t0.{number % 40 + 51}" for number, (truth, called) in enumerate(PREDICTED)]
    page.goto(f"{server.url}/matched_subsets")
    for side, button in (("reference", "Use as reference set"), ("target", "Use as new set")):
        file = tmp_path / f"{side}.tsv"
        file.write_text("\n".join(["id\tgold\tpredicted\tconfidence", *rows[side == "target" :]]))
        upload(page, file, side)
        click(page.get_by_role("button", name=button))
    verdict(page)
    unfold(page, "By metric and class", "Samples and their subsets")
    ham, spam = "“ham” predicted as “spam”", "“spam” predicted as “ham”"
    for side, across, down, cell in (("reference", 0.95, 0.05, ham), ("new", 0.05, 0.95, spam)):
        matrix = page.get_by_role("figure", name=re.compile(f"Confusion matrix of the {side} set"))
        click_at(matrix.locator(".nsewdrag"), across, down)
        expect(page.get_by_text(f"Samples of {cell}:")).to_be_visible()
        expect(page.get_by_text(re.compile(rf"^\d+ samples of 239: {cell}$"))).to_be_visible()
    click_at(page.locator(".st-key-confusions"), 0.1, 0.85)
    expect(page.get_by_text(f"Samples of {ham}:")).to_be_visible()


def click_at(drawn: Locator, across: float, down: float) -> None:
    """Click a place in what is drawn and has nothing to name there, as a mouse does that comes from beside it."""
    settled(drawn.page)
    size = drawn.bounding_box()
    assert size is not None
    drawn.hover(position={"x": size["width"] / 2, "y": size["height"] / 2})
    drawn.hover(position={"x": across * size["width"], "y": down * size["height"]})
    drawn.click(position={"x": across * size["width"], "y": down * size["height"]})


PREDICTED = [
    (truth, called)
    for truth, called, n in (("ham", "ham", 50), ("ham", "spam", 10), ("spam", "spam", 40), ("spam", "ham", 20))
    for _ in range(n)
]
"""Classes of the samples of a file, and what they are predicted as."""


def upload(page: Page, file: Path, side: str) -> None:
    card = settled(page).locator(f".st-key-card-{side}")
    card.get_by_test_id("stFileUploader").locator("input[type=file]").set_input_files(file)


def verdict(page: Page) -> str:
    """The whole card, once its last number is there."""
    card = page.locator(".st-key-verdict")
    expect(card.get_by_test_id("stMetric")).to_have_count(4)
    settled(page)
    return card.inner_text()
