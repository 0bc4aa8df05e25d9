"""Only a browser has a lasso: what is drawn around on the map is shown beside it, and stays."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.downloads import take
from tests.browser.server import Server
from tests.browser.waiting import click, settled

pytestmark = pytest.mark.browser


def test_a_lasso_on_the_map_shows_the_samples_inside_it_and_keeps_them(server: Server, page: Page):
    page.goto(f"{server.url}/data_sets?data=wine")
    expect(page.get_by_text("178 rows in 3 classes")).to_be_visible()
    chart = page.locator(".js-plotly-plot").filter(has=page.locator(".gl-canvas"))
    expect(chart).to_be_visible()
    draw_around(page, chart)
    said = page.get_by_text(re.compile(r"\d+ samples? selected of 178"))
    expect(said).to_be_visible()
    n_selected = int(said.inner_text().split()[0])
    assert 0 < n_selected < 178

    download = take(page, "Selected samples (TSV)")
    assert len(download.path().read_text("utf-8").splitlines()) == n_selected + 1

    click(page.get_by_text("UMAP (keeps neighbourhoods)"))
    expect(page.get_by_text("Not computed yet for these settings")).to_be_visible()
    click(page.get_by_text("PCA (keeps large distances)"))
    expect(chart).to_be_visible()
    expect(said).to_have_text(f"{n_selected} samples selected of 178")
    click(page.get_by_role("button", name="Clear"))
    expect(page.get_by_text("Lasso points on the map")).to_be_visible()


def draw_around(page: Page, chart: Locator) -> None:
    """A square around the middle of a chart, drawn with the mouse."""
    settled(page)  # what is still to come would move the chart away
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box
    x, y, side = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, 90
    page.mouse.move(x - side, y - side)
    page.mouse.down()
    for across, down in ((side, -side), (side, side), (-side, side), (-side, -side)):
        page.mouse.move(x + across, y + down, steps=8)
    page.mouse.up()
