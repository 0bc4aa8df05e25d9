"""The sheet as people get it: all questions asked by one click, and two files of predictions; both print on one page.

The clock says how long it took (`pytest -s`; 22 to 59 and 159 to 263 seconds on 2 cores beside other tests). What is
asserted is that the first verdict comes within a minute of idle cores (of busy ones in as many as the load asks for),
that the budget holds and that nothing is left out without a reason: other work shares the machine, so that a budget of
five minutes may leave questions for later.
"""

import os
import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.downloads import take
from tests.browser.server import Server
from tests.browser.test_matched_subsets import upload
from tests.browser.waiting import click, settled, unfold
from touchstone.core.questions import QUESTIONS

pytestmark = [pytest.mark.browser, pytest.mark.evidence]

A_MINUTE, FIVE_MINUTES, A_STEP = 60, 300, 60
"""Seconds: until the first verdict, the budget, and what the step under way may still take when it is over."""


def pages_of(page: Page, sheet: Path) -> int:
    """How many pages of A4 a saved sheet prints on."""
    page.goto(sheet.as_uri())
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    return len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))


def test_one_click_fills_the_sheet_within_its_budget(own_server: Server, page: Page, tmp_path: Path):
    page.goto(own_server.url)
    began = time.monotonic()
    click(settled(page).get_by_role("button", name="Ask all questions"))
    cards = page.locator("[class*=st-key-card-]")
    expect(cards.filter(has_text="held-out clusters").filter(has_text="points").first).to_be_visible()
    first, busy = time.monotonic() - began, max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    expect(page.locator(".st-key-asking")).to_have_count(0)
    whole = time.monotonic() - began
    settled(page)
    asked = [question.stem for question in QUESTIONS.values() if question.kind and question.page and question.name]
    print(f"first verdict after {first:.0f} s, sheet after {whole:.0f} s: {cards.count()} of {len(asked)} questions")
    assert first <= A_MINUTE * busy
    assert whole <= FIVE_MINUTES + A_STEP
    left_out = page.get_by_text("Not answered:")
    assert cards.count() == len(asked) or left_out.count()
    unfold(page, "Which class is weakest?")
    expect(page.get_by_text("10 classes, Holm.").first).to_be_visible()
    file = tmp_path / "sheet.html"
    take(page, "Report (HTML)").save_as(file)
    assert pages_of(page, file) == 1


def test_two_files_of_predictions_make_a_sheet_that_prints(
    own_server: Server, page: Page, shared_data: Path, tmp_path: Path
):
    page.goto(f"{own_server.url}/matched_subsets")
    for side, name, role in (("reference", "spam__preds.tsv", "reference"), ("target", "spam__hindi_preds.tsv", "new")):
        upload(settled(page), shared_data / "predictions" / name, side)
        use = page.get_by_role("button", name=f"Use as {role} set")
        click(use)
        expect(use).to_have_count(0)
    expect(page.locator(".st-key-verdict")).to_contain_text("Accuracy falls by 46.1 points")
    page.goto(f"{own_server.url}/?sheet=prediction+files")
    expect(page.locator("[class*=st-key-card-files-]").first).to_contain_text("Accuracy falls by 46.1 points")
    file = tmp_path / "sheet.html"
    take(page, "Report (HTML)").save_as(file)
    assert pages_of(page, file) == 1
    expect(page.get_by_text("Accuracy falls by 46.1 points").first).to_be_visible()
