"""A model trained, its way to another class walked, tests generated, looked at, and taken home with their report."""

import re
import zipfile
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.downloads import take
from tests.browser.server import Server
from tests.browser.test_main_job import click_run, shared_address
from tests.browser.waiting import click, settled
from touchstone.core.data import load_example

pytestmark = [pytest.mark.browser, pytest.mark.evidence]
SETTINGS = "data=digits&network=CNN-1&epochs=3&decoder=2&size=25 %25&table2=no&mix=30-70"  # few, so that it is quick


@pytest.fixture
def server(own_server: Server) -> Server:
    """One on which nobody has trained a network of the digits yet, so that the form for it stands open."""
    return own_server


def card(page: Page) -> str:
    """The whole verdict, once its last number is there."""
    of = page.locator(".st-key-verdict")
    expect(of.get_by_test_id("stMetric")).to_have_count(5)
    settled(page)
    return of.inner_text()


def test_from_example_data_to_a_generated_test_set(server: Server, page: Page, tab: Callable[..., Page]):
    page.goto(f"{server.url}/guided_tests?{SETTINGS}")
    train = page.get_by_role("button", name="Train", exact=True)
    expect(train).to_be_enabled()
    click(train)
    expect(page.get_by_text("held-out samples").first).to_be_visible()

    explorer = page.locator(".st-key-explorer")
    expect(explorer.get_by_text("the nearest real test image")).to_be_visible()
    settled(page)
    slider = explorer.get_by_role("slider")
    slider.focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(explorer.get_by_text("20 % of the way")).to_be_visible()

    click_run(page)
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    expect(page.get_by_role("heading", name="Generated tests")).to_be_visible()
    said = card(page)
    assert re.search(r"Accuracy is \d+\.\d % \[", said)
    assert re.search(r"on [\d\s]+ generated pictures", said)
    assert "on the original test samples" in said
    expect(explorer.get_by_text("Here, decoded")).to_be_visible()
    expect(page.locator(".st-key-gallery").get_by_role("img")).to_have_count(12)

    generated = take(page, "Generated features (NPZ)")
    with np.load(generated.path(), allow_pickle=False) as file:
        made = {name: file[name] for name in file.files}
    n = len(made["labels"])
    assert {"features", "images", "labels", "region", "parent_ids"} <= set(made)
    assert made["images"].shape == (n, 8, 8, 1)
    assert 0 <= made["images"].min() < 0.5 < made["images"].max() <= 1
    assert set(made["region"]) == {"centroid", "boundary"}
    assert set(made["parent_ids"]) <= set(load_example("digits").ids)
    suite = take(page, "Suite for pytest (ZIP)")
    assert set(zipfile.ZipFile(suite.path()).namelist()) == {"guided_suite.npz", "test_guided_suite.py"}

    report = take(page, "Report (Markdown)").path().read_text("utf-8")
    assert "Mix: 30-70" in report
    assert "Every 0-100 column of its table 2 is chance" in report

    address = shared_address(page)
    other = tab()
    other.goto(address)
    expect(other.locator(".st-key-explorer").get_by_text("20 % of the way")).to_be_visible()
    assert card(other) == said
    expect(other.get_by_role("button", name="Run", exact=True)).to_be_disabled()
