"""Folds made, read, taken home, brought back with predictions, and seen by whoever gets the address."""

import csv
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.downloads import take
from tests.browser.server import Server
from tests.browser.test_main_job import click_run, shared_address, verdict
from tests.browser.waiting import click, settled, unfold
from tests.data.uploads import predictions_file
from touchstone.core.data import load_example

pytestmark = [pytest.mark.browser, pytest.mark.evidence]


def test_folds_are_made_scored_taken_home_and_brought_back(
    server: Server, page: Page, tab: Callable[..., Page], tmp_path: Path
):
    page.goto(f"{server.url}/cluster_folds?data=digits")
    click_run(page)
    expect(page.get_by_text("What differs in the folds")).to_be_visible()
    said = verdict(page)
    assert re.search(r"loses \d\.\d points \[.*\] of macro F1 on SDS k-means folds: 9\d\.\d % on random folds", said)

    download = take(page, "Datasplits (TSV)")
    folds = tmp_path / download.suggested_filename
    download.save_as(folds)
    assert folds.name == "datasplits_distribution_sensitive_kmeans_seed0.tsv"
    rows = list(csv.DictReader(folds.read_text("utf-8").splitlines(), delimiter="\t"))
    assert list(rows[0]) == ["ids", "clustering_labels"]
    assert {row["clustering_labels"] for row in rows} == set("12345")

    digits = load_example("digits")
    gold = np.array(digits.class_names, dtype=object)[digits.y]
    predicted = np.where(np.arange(len(gold)) % 10 == 0, digits.class_names[0], gold)
    predictions = tmp_path / "predictions_distribution_sensitive_kmeans.tsv"
    predictions.write_bytes(predictions_file(digits.ids, gold, predicted))

    click(page.get_by_text("predictions of your own").first)
    card = settled(page).locator(".st-key-slot-first")
    card.locator("input[type=file]").nth(0).set_input_files(predictions)
    expect(card.get_by_text("no column gives the fold of a row")).to_be_visible()
    others = tmp_path / "datasplits_others.tsv"
    others.write_text("ids\tclustering_labels\nx1\t1\nx2\t2\n")
    card.locator("input[type=file]").nth(1).set_input_files(others)
    expect(card.get_by_text("ids of datasplits_others.tsv are not in predictions")).to_be_visible()
    expect(card.get_by_role("button", name="Use", exact=True)).to_have_count(0)
    card.locator("input[type=file]").nth(1).set_input_files(folds)
    click(card.get_by_role("button", name="Use", exact=True))
    expect(page.locator(".st-key-verdict")).to_contain_text(re.compile(r"Uploaded model: macro F1 9\d\.\d %"))
    shown = own_verdict(page)

    other = tab()
    other.goto(shared_address(page))
    assert own_verdict(other) == shown


def own_verdict(page: Page) -> str:
    """The card of predictions without a benchmark, once its last number is there."""
    card = page.locator(".st-key-verdict")
    expect(card.get_by_test_id("stMetric")).to_have_count(2)
    settled(page)
    return card.inner_text()


def test_a_cell_of_label_by_fold_that_is_changed_stands_in_the_address(server: Server, page: Page):
    page.goto(f"{server.url}/cluster_folds?data=wine&folds=3")
    unfold(page, "Labels by fold as a table")
    cells = settled(page).get_by_test_id("stDataFrame").first
    width = cells.bounding_box()["width"]
    cells.click(position={"x": width / 2, "y": 52})  # fold 2 of class_0: drawn on a canvas, so there is nothing to name
    page.keyboard.press("Enter")
    editor = page.locator("#portal input, #portal textarea")
    editor.fill("30")
    expect(editor).to_have_value("30")
    editor.press("Enter")
    page.wait_for_function("new URLSearchParams(location.search).get('labels_by_fold') === 'class_0: 14.5 30 14.5'")
    expect(page.get_by_text("Samples by fold: 54.2, 69.7, 54.2.")).to_be_visible()
