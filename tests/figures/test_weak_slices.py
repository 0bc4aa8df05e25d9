"""Does the figure of weak slices draw what was judged?"""

import numpy as np
import pytest

from touchstone.core.data.predictions.record import Predictions
from touchstone.core.evaluate.weak_slices import WeakSlices, find_weak_slices
from touchstone.core.figures.theme import alt_text
from touchstone.core.figures.weak_slices import slices


@pytest.fixture(scope="module")
def found() -> WeakSlices:
    """One planted slice, and one that one half found by chance among several columns."""
    rng, y = np.random.default_rng(0), np.arange(2000) % 2
    columns = {f"x{number}": rng.normal(size=2000) for number in range(6)}
    wrong = rng.random(2000) < 0.1 + 0.4 * (columns["x0"] >= 1)
    answers = Predictions([f"s{row}" for row in range(2000)], y, np.where(wrong, 1 - y, y), ["a", "b"])
    return find_weak_slices(answers, columns)


def test_each_slice_has_a_mark_at_its_difference_and_those_shown_weak_are_filled(found):
    figure = slices(found)
    dots = [trace for trace in figure.data if trace.mode == "markers"]
    assert [float(trace.x[0]) for trace in dots] == pytest.approx([100 * each.worse for each in found.slices])
    assert [trace.marker.symbol != "circle-open" for trace in dots] == [each.is_weak for each in found.slices]
    assert {each.is_weak for each in found.slices} == {True, False}


def test_no_difference_has_a_line_and_every_slice_is_told_in_words(found):
    figure = slices(found)
    assert {shape.x0 for shape in figure.layout.shapes} == {0}
    assert all(each.name in alt_text(figure) for each in found.slices)
