"""Class names that are markup, formulas and templates: on every page that shows them they are text and nothing runs."""

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.downloads import take
from tests.browser.server import Server
from tests.browser.test_links import create_link
from tests.browser.test_main_job import click_run
from tests.browser.waiting import click, settled, unfold

pytestmark = [pytest.mark.browser, pytest.mark.evidence]
NAMES = (
    '<a href="javascript:alert(1)">click</a>',
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
)
SHOWN = "<img src=x onerror="  # long names are cut where there is little room
FOREIGN = "a[href^='javascript:'], img[src='x'], img[onerror], [onload], [onerror], iframe[srcdoc]"
RUN = {
    "source_robustness": "models=Logistic regression&repeats=4&clusterings=1",
    "data_set_adequacy": "models=Logistic regression&repeats=4&clusterings=1&sizes=30, all",
    "cluster_folds": "models=Logistic regression&k=3",
}

NETWORK = "network=Linear model (SGD)&epochs=5"
NEEDS_A_NETWORK = {
    "average_case": "sigmas=0.1&judged=60&audited=4&half_width=0.1",
    "test_quality": "resplits=19",
    "guided_tests": "table2=no&size=100 %25",
}

DRAWN = "() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
"""What the mouse brought about has been drawn."""
DONE = {
    "average_case": ".st-key-verdict",
    "test_quality": ".st-key-shift-verdict",
    "guided_tests": "role=heading[name='Generated tests']",
}


@pytest.fixture(scope="module")
def server(server_with_links: Server) -> Server:
    return server_with_links


def table() -> bytes:
    rng, stream = np.random.default_rng(0), io.StringIO()
    writer = csv.writer(stream, delimiter="\t", lineterminator="\n")
    writer.writerow(["id", "label", "<b>height</b>", "%{x} $w$"])
    for row in range(120):
        x = rng.normal(size=2) + 1.5 * np.eye(3, 2)[row % 3]
        writer.writerow([f"<i>{row}</i>", NAMES[row % 3], *(f"{value:.4f}" for value in x)])
    return stream.getvalue().encode()


def predictions(seed: int) -> bytes:
    rng, stream = np.random.default_rng(seed), io.StringIO()
    writer = csv.writer(stream, delimiter="\t", lineterminator="\n")
    writer.writerow(["id", "true", "predicted", "confidence"])
    for row in range(300):
        said = row if rng.random() < 0.7 else row + 1
        writer.writerow([f"<i>{row}</i>", NAMES[row % 3], NAMES[said % 3], f"{rng.uniform(0.4, 1):.4f}"])
    return stream.getvalue().encode()


@pytest.fixture
def watched(page: Page) -> Iterator[Page]:
    """A page on which no dialogue may open."""
    opened: list[str] = []
    page.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))
    yield page
    assert not opened, "a name was run"


def nothing_foreign(page: Page, where: str) -> None:
    """Nothing that a name asks for stands in the page, and figures have no link; hovered or not."""
    if where != "report":
        settled(page)
    assert page.locator(FOREIGN).count() == 0, where
    assert page.locator(".js-plotly-plot a").count() == 0, where
    for figure in page.locator(".js-plotly-plot .nsewdrag").all()[:6]:
        if figure.is_visible():
            figure.hover(force=True)
            page.evaluate(DRAWN)
    assert page.locator(FOREIGN).count() == 0, f"{where}, hovered"


def uploaded(page: Page, server: Server) -> str:
    """The data set with such names in use on its page; gives what names it in addresses."""
    page.goto(f"{server.url}/data_sets")
    expect(page.get_by_role("heading", name="Handwritten digits")).to_be_visible()
    settled(page).locator("input[type=file]").first.set_input_files(
        {"name": "<svg onload=alert(1)>.tsv", "mimeType": "text/tab-separated-values", "buffer": table()}
    )
    expect(page.get_by_role("button", name="Use this data set")).to_be_visible()
    assert settled(page).locator(FOREIGN).count() == 0, "before it is used"
    click(page.get_by_role("button", name="Use this data set"))
    expect(page.get_by_test_id("stPlotlyChart").first).to_be_visible()
    expect(page.locator(".js-plotly-plot text", has_text=SHOWN).first).to_be_visible()
    data = settled(page).url.partition("data=")[2].partition("&")[0]
    assert len(data) >= 12
    return data


def test_hostile_names_are_text_on_every_page(server: Server, watched: Page, tab: Callable[..., Page], tmp_path: Path):
    page = watched
    data = uploaded(page, server)
    unfold(page)
    nothing_foreign(page, "data_sets")
    for stem, settings in RUN.items():
        page.goto(f"{server.url}/{stem}?data={data}&{settings}")
        click_run(page)
        expect(page.locator(".st-key-verdict")).to_be_visible()
        expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
        unfold(page)
        expect(page.locator(".js-plotly-plot text", has_text=SHOWN).first).to_be_attached()
        nothing_foreign(page, stem)
    page.goto(f"{server.url}/?data={data}")
    expect(page.get_by_text("How far does accuracy fall").first).to_be_visible()
    nothing_foreign(page, "overview")
    page.goto(f"{server.url}/runs")
    expect(page.get_by_text("<svg onload=alert(1)>").first).to_be_visible()
    nothing_foreign(page, "runs")

    page.goto(f"{server.url}/source_robustness?data={data}&{RUN['source_robustness']}")
    expect(page.get_by_text("In numbers")).to_be_visible()
    take(page, "Report (HTML)").save_as(tmp_path / "report.html")
    for where, address in {"link": create_link(page), "report": (tmp_path / "report.html").as_uri()}.items():
        visitor, opened = tab(), []
        visitor.on("dialog", lambda dialog, opened=opened: (opened.append(dialog.message), dialog.dismiss()))
        visitor.goto(address)
        if where == "link":
            expect(visitor.locator(".st-key-verdict")).to_be_visible()
            unfold(visitor)
        for part in visitor.locator("summary").all() if where == "report" else []:
            part.click()
        expect(visitor.locator(".js-plotly-plot text", has_text=SHOWN).first).to_be_attached()
        nothing_foreign(visitor, where)
        assert not opened, f"{where}: a name was run"


def test_hostile_names_are_text_where_a_network_was_trained(server: Server, watched: Page):
    page = watched
    data = uploaded(page, server)
    page.goto(f"{server.url}/average_case?data={data}&{NETWORK}&sigmas=0.1&judged=60&audited=4&half_width=0.1")
    train = page.get_by_role("button", name="Train", exact=True)
    expect(train).to_be_enabled()
    click(train)
    expect(page.get_by_text("held-out samples").first).to_be_visible()
    for stem, settings in NEEDS_A_NETWORK.items():
        page.goto(f"{server.url}/{stem}?data={data}&{NETWORK}&{settings}")
        click_run(page)
        expect(page.locator(DONE[stem])).to_be_visible()
        expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
        expect(page.get_by_text(SHOWN).first).to_be_attached()
        nothing_foreign(page, stem)


def test_hostile_names_in_predictions_are_text(server: Server, watched: Page):
    page = watched
    page.goto(f"{server.url}/matched_subsets")
    for seed, side, role in ((1, "reference", "reference"), (2, "target", "new")):
        name = f"<svg onload=alert(1)>{seed}.tsv"
        page.locator(f".st-key-card-{side} input[type=file]").set_input_files(
            {"name": name, "mimeType": "text/tab-separated-values", "buffer": predictions(seed)}
        )
        use = page.get_by_role("button", name=f"Use as {role} set")
        expect(use).to_be_enabled()
        nothing_foreign(page, f"matched_subsets, the {role} file")
        click(use)
        expect(use).to_have_count(0)
    expect(page.locator(".st-key-verdict")).to_be_visible()
    unfold(page)
    expect(page.locator(".js-plotly-plot text", has_text=SHOWN).first).to_be_attached()
    nothing_foreign(page, "matched_subsets")
