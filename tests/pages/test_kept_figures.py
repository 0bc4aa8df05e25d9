"""A rerun draws no figure anew whose results are the same: its page asks for it by what is kept."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import stored_run
from tests.pages.test_average_case import kept
from tests.pages.test_matched_subsets import settled, two
from touchstone.ui.shell import charts

__all__ = ["two"]  # a fixture


@pytest.fixture
def drawn(monkeypatch) -> list[str]:
    """The figures that are drawn from now on."""
    figures, ready = [], charts.Ready

    def draw(figure: object) -> charts.Ready:
        figures.append(str(figure.layout.meta["alt"]))
        return ready(figure)

    monkeypatch.setattr(charts, "Ready", draw)
    return figures


@pytest.fixture(params=["matched_subsets", "data_sets", "test_quality", "source_robustness"])
def page(request, open_page: Callable[..., AppTest], workspace, wine, two) -> AppTest:
    """A page with its figures; those with a lasso are drawn for themselves."""
    address = {"matched_subsets": two, "data_sets": {"data": wine.fingerprint}}
    if request.param == "test_quality":
        data, model = kept(workspace, "digits")
        address[request.param] = {"data": data.fingerprint, "model": model}
    if request.param == "source_robustness":
        stored_run(workspace, wine)
        address[request.param] = {"data": wine.fingerprint, "repeats": "4"}
    return settled(open_page(request.param, **address[request.param]))


def test_a_rerun_draws_nothing_anew(drawn, page):
    assert drawn, "this page keeps no figures"
    drawn.clear()
    page.run()
    assert not page.exception
    assert drawn == []
