"""Do the figures of models on the same samples draw what was found?"""

import numpy as np
import pytest

from tests.evaluate.test_model_comparison import compared, drawn
from touchstone.core.figures.model_comparison import forest, ladder, square
from touchstone.core.figures.theme import alt_text


def test_the_forest_has_a_row_for_each_model_and_lines_at_none_and_at_the_margin():
    found = compared(drawn(np.random.default_rng(3), 400, n_models=4, noise=(1.0,)), margin=0.02)
    figure = forest(found)
    dots = [trace for trace in figure.data if trace.mode == "markers"]
    rows = sorted(found.against_reference, key=lambda each: -each.value)
    assert [float(trace.x[0]) for trace in dots] == pytest.approx([100 * each.value for each in rows])
    assert {round(shape.x0, 6) for shape in figure.layout.shapes} == {0, -2}
    assert alt_text(figure).startswith("How much better models are than model 0 by accuracy.")


def test_the_ladder_fills_those_that_may_be_the_best():
    found = compared(drawn(np.random.default_rng(3), 400, n_models=4, noise=(1.5,)), metric="log_loss")
    figure = ladder(found)
    dots = [trace for trace in figure.data if trace.mode == "markers"]
    assert [float(trace.x[0]) for trace in dots] == pytest.approx([each.value for each in found.ranked])
    filled = [each.model for each, trace in zip(found.ranked, dots, strict=True) if trace.marker.symbol == "circle"]
    assert tuple(filled) == found.may_be_best
    assert "model 0" not in filled
    assert figure.layout.xaxis.title.text == "Log loss"


def test_the_square_has_what_is_decided_once_with_each_sign():
    found = compared(drawn(np.random.default_rng(0), 800, n_models=5, noise=(0.0, 0.3, 0.6, 0.9, 1.2)))
    [heat] = square(found).data
    z, names = np.array(heat.z, dtype=float), [each.model for each in found.ranked]
    decided = {
        (names.index(each.model), names.index(each.other)): 100 * each.value
        for each in found.differences
        if each.better
    }
    assert decided
    assert np.isfinite(z).sum() == 2 * len(decided)
    assert all(z[at] == pytest.approx(value) and z[at[::-1]] == pytest.approx(-value) for at, value in decided.items())
    assert alt_text(square(found)) == f"Who beats whom: {len(decided)} of 10 pairs are decided."
