"""A person's minute with two models: two files dropped, a verdict, what was gained and lost, and a link to it."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.downloads import take
from tests.browser.server import Server
from tests.browser.test_links import create_link, shown
from tests.browser.test_matched_subsets import upload, verdict
from tests.browser.waiting import click, settled, unfold

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def server(server_with_links: Server) -> Server:
    return server_with_links


def file_of_a_model(file: Path, wrong: np.ndarray) -> Path:
    """Answers on the same 400 texts, `wrong` on some."""
    truths = np.where(np.arange(400) % 3 == 0, "spam", "ham")
    answers = np.where(wrong, np.where(truths == "spam", "ham", "spam"), truths)
    lines = [f"text {row}\t{truth}\t{said}" for row, (truth, said) in enumerate(zip(truths, answers, strict=True))]
    file.write_text("\n".join(["id\tgold\tpredicted", *lines]))
    return file


def test_two_files_dropped_become_a_verdict_with_gains_losses_and_a_link(
    server: Server, page: Page, tab: Callable[..., Page], tmp_path: Path
):
    rows = np.arange(400)
    files = {
        "reference": file_of_a_model(tmp_path / "old.tsv", rows < 80),
        "target": file_of_a_model(tmp_path / "new.tsv", (rows >= 60) & (rows < 90)),
    }
    page.goto(f"{server.url}/model_comparison")
    for side, button in (("reference", "Use as reference model"), ("target", "Use as new model")):
        upload(page, files[side], side)
        click(page.get_by_role("button", name=button))
    said = verdict(page)
    assert "new.tsv is better than old.tsv: accuracy 92.5 % against 80.0 %, a difference of 12.5 points" in said
    expect(page.get_by_text("gains 60 samples and loses 10")).to_be_visible()
    unfold(page, "Samples that changed", "How many samples are needed?")
    expect(page.get_by_text("n = 70 samples that one of both models gets right")).to_be_visible()
    expect(page.get_by_text("by the pilot of 400 samples")).to_be_visible()
    changed = list(
        csv.DictReader(take(page, "Changed samples (TSV)").path().read_text("utf-8").splitlines(), delimiter="\t")
    )
    assert [sum(row["change"] == way for row in changed) for way in ("gained", "lost")] == [60, 10]
    unfold(page, "Class by class")
    lines = settled(page).locator(".st-key-lines-classes [data-testid='data-grid-canvas']").first
    lines.scroll_into_view_if_needed()
    place = lines.bounding_box()
    assert place is not None
    page.mouse.click(place["x"] + place["width"] / 20, place["y"] + place["height"] / 2, delay=100)  # ham, of two lines
    expect(page.get_by_text("n = 47 samples of class “ham” that one of both models gets right.")).to_be_visible()
    visitor = tab()
    visitor.goto(create_link(page))
    assert shown(visitor) == said
