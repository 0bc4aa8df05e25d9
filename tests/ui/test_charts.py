"""A figure of the very same results is not drawn twice; of any others it is."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import plotly
import plotly.graph_objects as go
import pytest
import streamlit as st
from plotly import tools
from plotly.basedatatypes import BaseFigure

from touchstone.ui import cache
from touchstone.ui.shell.charts import drawn


@dataclass(frozen=True, eq=False)
class Intervals:
    """Results, as touchstone.core.evaluate makes them."""

    values: np.ndarray


@dataclass(frozen=True)
class Row:
    """Results that are equal to others with the same numbers."""

    value: float


def chart(of: object, rows: object = (), *, names: object = None, dark: bool = False) -> go.Figure:
    return go.Figure(layout={"meta": {"alt": "Nothing"}})


def other_chart(of: object, rows: object = (), *, names: object = None, dark: bool = False) -> go.Figure:
    return go.Figure(layout={"meta": {"alt": "Nothing"}})


@pytest.fixture(autouse=True)
def emptied() -> Iterator[None]:
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


def test_the_same_results_are_drawn_once():
    of, rows = Intervals(np.zeros(3)), (Row(1.0), Row(2.0))
    first = drawn(partial(chart, of, rows, names={"svm": "SVM"}), dark=False)
    assert drawn(partial(chart, of, tuple(rows), names={"svm": "SVM"}), dark=False) is first


@pytest.mark.parametrize(
    "change",
    [
        lambda of, rows: (partial(other_chart, of, rows), False),
        lambda of, rows: (partial(chart, of, rows), True),
        lambda of, rows: (partial(chart, Intervals(of.values), rows), False),
        lambda of, rows: (partial(chart, of, (Row(1.0), rows[1])), False),
        lambda of, rows: (partial(chart, of, rows[:1]), False),
        lambda of, rows: (partial(chart, of, rows, names={"svm": "SVM"}), False),
        lambda of, rows: (partial(chart, of, list(rows)), False),
    ],
    ids=["function", "theme", "results", "one of the rows", "fewer rows", "names", "a list, which may change"],
)
def test_what_is_not_the_same_is_drawn_for_itself(change):
    of, rows = Intervals(np.zeros(3)), (Row(1.0), Row(2.0))
    first = drawn(partial(chart, of, rows), dark=False)
    draw, dark = change(of, rows)
    assert drawn(draw, dark=dark) is not first
    assert drawn(partial(chart, of, rows), dark=False) is first


def test_results_whose_figure_is_kept_are_not_replaced_in_memory():
    figures = {id(drawn(partial(chart, Intervals(np.zeros(3))), dark=False)) for _ in range(50)}
    assert len(figures) == 50


def test_owners_do_not_share_figures(monkeypatch):
    of = Intervals(np.zeros(3))
    mine = drawn(partial(chart, of), dark=False)
    monkeypatch.setattr(cache, "owner", lambda: "somebody else")
    assert drawn(partial(chart, of), dark=False) is not mine


def test_what_is_sent_of_a_kept_figure_is_what_plotly_sends_of_it():
    def marks(*, dark: bool) -> go.Figure:
        values = np.array([[1.0, np.nan], [0.1, 1e-9]])
        layout = {"meta": {"alt": "Two marks"}, "template": "plotly_dark" if dark else "plotly", "height": 300}
        return go.Figure([go.Heatmap(z=values), go.Scattergl(x=values[0], y=["a", "b"], customdata=values)], layout)

    ready = drawn(marks, dark=True)
    assert isinstance(ready, BaseFigure), "Streamlit takes nothing else as it is"
    sent = plotly.io.to_json(tools.return_figure_from_figure_or_data(ready, validate_figure=True), validate=False)
    assert sent == plotly.io.to_json(marks(dark=True).to_dict(), validate=False)
    assert ready.alt == "Two marks"
