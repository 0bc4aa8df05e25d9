"""Figures of a data set: counts as they are, for two classes and for a hundred."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.figures.data_sets import label_distribution, text_lengths
from core.figures.theme import LIGHT, alt_text


@pytest.mark.parametrize("n_classes", [2, 100])
def test_every_class_has_its_bar_count_and_name(n_classes):
    counts = np.arange(n_classes) * 100 + 1
    names = [f"class <{i}>" for i in range(n_classes)]
    figure = label_distribution(names, counts)
    (bars,) = figure.data
    assert bars.x.tolist() == counts.tolist()
    assert bars.marker.color == LIGHT.inclusive
    assert len(figure.layout.yaxis.ticktext) == n_classes
    assert figure.layout.yaxis.ticktext[0] == "class &lt;0&gt;"
    assert figure.layout.height >= 15 * n_classes
    assert figure.layout.xaxis.range[0] == 0
    assert "class <0>" in alt_text(figure)


@settings(deadline=None)
@given(st.lists(st.integers(0, 5000), min_size=1, max_size=200))
def test_every_text_is_in_one_bin_and_empty_bins_are_drawn(n_words):
    lengths = np.array(n_words)
    (bars,) = text_lengths(lengths).data
    assert bars.y.sum() == len(lengths)
    assert len(bars.y) <= 42
    steps = np.diff(bars.x)
    assert np.allclose(steps, steps[:1].repeat(len(steps)))
    first, last = bars.customdata[:, 0], bars.customdata[:, 1]
    for n, low, high in zip(bars.y, first, last, strict=True):
        assert n == np.sum((lengths >= low) & (lengths <= high))
