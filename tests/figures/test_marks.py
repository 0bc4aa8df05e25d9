"""The marks of all figures: what is unknown is left out, names stay themselves, ranges have room."""

import numpy as np
import plotly.graph_objects as go
import pytest

from touchstone.core.figures import marks


def test_bars_leave_out_what_is_unknown():
    at, lower, upper = np.arange(3.0), np.array([0.1, np.nan, 0.3]), np.array([0.2, 0.5, 0.4])
    figure = go.Figure()
    marks.bars(figure, at, (lower, upper), "#1B5FAA", "bars")
    (bars,) = figure.data
    assert np.array_equal(bars.x, [0.1, 0.2, np.nan, 0.3, 0.4, np.nan], equal_nan=True)
    assert np.array_equal(bars.y, [0, 0, np.nan, 2, 2, np.nan], equal_nan=True)


def test_names_are_positions_so_that_two_may_look_alike():
    figure = go.Figure()
    marks.name_axis(figure, ["01", "1", "1"])
    assert list(figure.layout.yaxis.ticktext) == ["“01”", "“1”", "“1”"]
    assert list(figure.layout.yaxis.tickvals) == [0, 1, 2]
    assert list(figure.layout.yaxis.range) == [2.5, -0.5]


def test_the_range_has_room_and_nothing_has_none():
    assert marks.padded(go.Figure()) is None
    assert marks.padded(go.Figure(go.Scatter(x=[np.nan, 5.0]))) == [pytest.approx(4.8), pytest.approx(5.2)]
