"""Figures of source finders: every number where it belongs, and what they say to who cannot see them."""

import numpy as np
import pandas as pd
import pytest

from tests.evaluate.populations import Population
from touchstone.core.evaluate.source_robustness.agreement import compare_clusterings
from touchstone.core.evaluate.source_robustness.true_sources import true_sources
from touchstone.core.figures.source_robustness import agreement_map, true_sources_chart
from touchstone.core.figures.theme import alt_text, theme

NAMES = {"one": "Model <b>one</b>", "kmeans": "k-means", "known": "known sources"}


@pytest.fixture(scope="module")
def agreed():
    rng, y = np.random.default_rng(0), np.repeat([0, 1], 60)
    first = rng.integers(4, size=120)
    found = {("kmeans", 0): first, ("kmeans", 1): np.where(rng.random(120) < 0.8, first, 0)}
    return compare_clusterings({**found, ("known", 0): rng.integers(9, size=120)}, y, rng=rng, n_permutations=99)


@pytest.fixture(scope="module")
def told():
    rng = np.random.default_rng(0)
    data = [Population(exclusive=e, n_sources=8).data(rng).trials(rng, model="one") for e in (0.6, 0.85)]
    rows = [data[0].assign(source_finder="kmeans"), data[1].assign(source_finder="known")]
    both = pd.concat(rows, ignore_index=True)
    return true_sources(both.assign(n_train=pd.array([500] * len(both), dtype="Int64")))


@pytest.mark.parametrize("dark", [False, True])
def test_the_map_holds_every_pair_and_leaves_the_diagonal_out(agreed, dark):
    figure = agreement_map(agreed, names=NAMES, dark=dark)
    (heat,) = figure.data
    assert np.isnan(np.diag(heat.z)).all()
    assert heat.z[0, 1] == heat.z[1, 0] == agreed.pairs[0].index
    assert list(figure.layout.yaxis.ticktext) == ["k-means 1", "k-means 2", "known sources"]
    assert heat.text[0][1] == f"{agreed.pairs[0].index:.2f}".removeprefix("0")
    assert "agree no better than chance" in alt_text(figure)
    assert figure.layout.template.layout.paper_bgcolor == theme(dark).paper


def test_a_map_of_many_clusterings_keeps_its_numbers_for_the_pointer():
    rng, y = np.random.default_rng(0), np.zeros(40, dtype=np.int64)
    many = {("kmeans", number): rng.integers(3, size=40) for number in range(16)}
    (heat,) = agreement_map(compare_clusterings(many, y, rng=rng, n_permutations=3)).data
    assert {text for row in heat.text for text in row} == {""}
    assert heat.customdata[0][1].startswith("kmeans 1 with kmeans 2: ")


@pytest.mark.parametrize("dark", [False, True])
def test_the_square_stands_where_the_accuracy_is(told, dark):
    figure = true_sources_chart(told, names=NAMES, dark=dark)
    marks = {trace.name: trace for trace in figure.data if trace.mode == "markers"}
    (one,) = told
    assert marks["truly unseen, 95 %"].x[0] == pytest.approx(100 * one.known.exclusive.value)
    assert marks["found, held out"].x[0] == pytest.approx(100 * one.clustered.exclusive.value)
    assert marks["found, seen in training"].x[0] == pytest.approx(100 * one.clustered.inclusive.value)
    assert marks["truly unseen, 95 %"].marker.color == theme(dark).ink
    (bars,) = [trace for trace in figure.data if trace.name == "95 % CI for new data"]
    ends = one.known.exclusive.over_sources
    assert list(bars.x[:2]) == pytest.approx([100 * ends.lower, 100 * ends.upper])
    assert figure.layout.yaxis.ticktext[0].startswith("Model &lt;b&gt;one"), "markup of a name is drawn"
    assert one.answer in alt_text(figure).lower()


def test_nothing_told_is_an_empty_figure():
    assert alt_text(true_sources_chart(())).startswith("Accuracy on truly unseen sources")
