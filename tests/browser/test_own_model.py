"""A model that Touchstone never saw, from end to end: splits home, predictions back, a verdict that can be shared."""

import csv
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from sklearn.tree import DecisionTreeClassifier

from tests.browser.downloads import take
from tests.browser.server import Server
from tests.browser.test_main_job import click_run, shared_address, verdict
from tests.browser.waiting import click, settled
from touchstone.core.data import Dataset, load_example

pytestmark = [pytest.mark.browser, pytest.mark.evidence]
PARAMETERS = "data=wine&repeats=8&clusterings=2"  # few, so that the test is quick: 64 trials, 32 of each model


def test_predictions_by_trial_become_a_verdict_that_can_be_shared(
    server: Server, page: Page, tab: Callable[..., Page], tmp_path: Path
):
    page.goto(f"{server.url}/source_robustness?{PARAMETERS}")
    click_run(page)
    expect(page.get_by_text("64 of 64 trials used")).to_be_visible()
    open_section(page)
    download = take(page, "Splits (TSV)")
    file = tmp_path / "tree.tsv"
    n_trials = predict(load_example("wine"), download.path(), file)
    assert n_trials == 32

    upload(page, file)
    expect(page.get_by_text("Trial: column 'trial'")).to_be_visible()
    expect(page.get_by_text("Predicted label: column 'said'")).to_be_visible()
    expect(page.get_by_text("tree: 32 of 32 trials")).to_be_visible()
    click(page.get_by_role("button", name="Use these predictions"))
    expect(page.get_by_text("96 of 96 trials used")).to_be_visible()
    shown = verdict(page)
    assert re.search(r"tree (loses|shows|gains|is|always|so far)", shown), "the verdict is not about the uploaded model"
    assert re.search(r"rho \.\d{3}", shown)
    expect(page.get_by_text(re.compile("tree (and|keeps)|(and|than) tree")).first).to_be_visible()

    download = take(page, "Table (TSV)")
    rows = list(csv.DictReader(download.path().read_text("utf-8").splitlines(), delimiter="\t"))
    assert {row["model"] for row in rows} == {"svm", "logistic", "tree"}

    address = shared_address(page)
    assert "own=" in address
    other = tab()
    other.goto(address)
    assert verdict(other) == shown
    other.goto(re.sub("own=[0-9a-f]+", "own=0123456789abcdef", address))
    expect(other.get_by_text("These predictions are not here")).to_be_visible()
    expect(other.get_by_text("64 of 64 trials used")).to_be_visible()
    expect(other.get_by_text("tree")).to_have_count(0)


def test_a_prediction_of_what_the_model_was_trained_on_is_refused(server: Server, page: Page, tmp_path: Path):
    page.goto(f"{server.url}/source_robustness?{PARAMETERS}&seed=5")
    open_section(page)
    download = take(page, "Splits (TSV)")
    file = tmp_path / "leaky.tsv"
    predict(load_example("wine"), download.path(), file, parts=("train", "test"))
    upload(page, file)
    expect(page.get_by_test_id("stAlert").get_by_text("rows are in its training part")).to_be_visible()
    expect(page.get_by_role("button", name="Use these predictions")).to_have_count(0)
    click(page.get_by_role("button", name="Discard"))
    expect(page.get_by_test_id("stAlert")).to_have_count(0)


def predict(wine: Dataset, splits: Path, file: Path, *, parts: tuple[str, ...] = ("test",)) -> int:
    """What somebody does at home: train on each trial's "train", write down what is said of its "test"."""
    row_of = {str(name): row for row, name in enumerate(wine.ids)}
    trials: defaultdict[int, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    with splits.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            trials[int(row["trial"])][row["part"]].append(row_of[row["id"]])
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, delimiter="\t")
        writer.writerow(["trial", "id", "said"])
        for trial, rows in trials.items():
            model = DecisionTreeClassifier(max_depth=3, random_state=0)
            model.fit(wine.x[rows["train"]], wine.y[rows["train"]])
            tested = np.concatenate([rows[part] for part in parts])
            names = [wine.class_names[code] for code in model.predict(wine.x[tested])]
            writer.writerows((trial, wine.ids[row], name) for row, name in zip(tested, names, strict=True))
    return len(trials)


def open_section(page: Page) -> None:
    click(page.locator("summary").filter(has_text="A model of your own"))


def upload(page: Page, file: Path) -> None:
    settled(page).get_by_test_id("stFileUploader").locator("input[type=file]").set_input_files(file)
