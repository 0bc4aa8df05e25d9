"""Figures of guided tests: numbers as they are, the place on the way marked, words for who cannot see."""

import numpy as np
import pytest

from tests.evaluate.feature_populations import cloud, head
from touchstone.core.evaluate.guided_tests.generate import generate_tests, start, walk_between
from touchstone.core.evaluate.guided_tests.plan import Guided
from touchstone.core.evaluate.guided_tests.results import accuracy_grid
from touchstone.core.evaluate.test_quality.regions import fit_regions
from touchstone.core.figures import guided_tests as figures
from touchstone.core.figures.theme import alt_text
from touchstone.core.models.layers import LayerSamples

MARKUP = "<b>bold</b> & $y$"
N_CLASSES = 7
HEAD = head(N_CLASSES, 6, apart=3.0)
NAMES = (MARKUP, *(f"class {i}" for i in range(1, N_CLASSES)))


def named(samples: LayerSamples) -> LayerSamples:
    return LayerSamples(samples.features, samples.y, samples.proba, NAMES, name=samples.name)


TRAIN, TEST = named(cloud(HEAD, 100, name="train")), named(cloud(HEAD, 40, seed=2, name="test"))
REGIONS = fit_regions(TRAIN)


@pytest.fixture(scope="module")
def found() -> Guided:
    made = start(REGIONS, HEAD, train=TRAIN, test=TEST)
    near, boundary = (generate_tests(made, 20, centroid_share=share, seed=0) for share in (1.0, 0.0))
    grid = accuracy_grid(
        near, boundary, n_test=len(TEST), n_correct=int((TEST.predicted == TEST.labels).sum()), sizes=(5, 20)
    )
    return Guided(
        NAMES, grid.n_test, grid.n_correct, generate_tests(made, 10, centroid_share=0.5, seed=1), grid, None, None
    )


def test_a_walk_shows_the_probabilities_and_marks_the_place():
    of = walk_between(REGIONS, HEAD, TEST.features[0], label=0, towards=2, n_steps=5)
    figure = figures.walk_chart(of, at=3, towards=2)
    lines = {
        trace.name: np.asarray(trace.y) for trace in figure.data if trace.type == "scatter" and trace.mode == "lines"
    }
    assert lines["&lt;b&gt;bold&lt;/b&gt; &amp; &#36;y&#36;"] == pytest.approx(100 * of.proba[:, 0])
    assert lines["class 2"] == pytest.approx(100 * of.proba[:, 2])
    assert np.sum(list(lines.values()), axis=0) == pytest.approx(np.full(5, 100.0))
    assert len(lines) == figures.MOST_CLASSES + 1
    assert figure.layout.shapes[0].x0 == 75
    assert f"From a sample of {MARKUP} to the centroid of class 2, 75% of the way" in alt_text(figure)


def test_a_walk_to_its_own_centroid_shows_where_the_region_begins():
    of = walk_between(REGIONS, HEAD, TEST.features[0] * 4, label=0, towards=0, n_steps=9)
    figure = figures.walk_chart(of, at=8, towards=0)
    strip = next(trace for trace in figure.data if trace.name == "centroid region")
    assert list(strip.x) == list(100 * of.t[of.in_centroid])
    assert f"in the centroid region of {MARKUP}" in alt_text(figure)
    assert "its own centroid" in figure.layout.xaxis.title.text
    names = [trace.name for trace in figure.data if trace.type == "scatter" and trace.mode == "lines"]
    assert len(names) == len(set(names))


def test_table_2_has_a_line_for_each_size_beside_the_original(found):
    figure = figures.grid_chart(found.grid, dark=True)
    traces = {trace.name: trace for trace in figure.data if trace.name}
    assert set(traces) == {"5 for each class", "20 for each class", "original test set"}
    assert traces["original test set"].y[0] == 100 * found.grid.accuracy
    cells = [cell.overall for cell in found.grid.cells if cell.n_per_class == 20]
    assert list(traces["20 for each class"].y) == [100 * cell.accuracy for cell in cells]
    upper = np.array(traces["20 for each class"].y) + np.array(traces["20 for each class"].error_y.array)
    assert upper == pytest.approx([100 * cell.interval.upper for cell in cells])
    assert list(figure.layout.xaxis.ticktext) == ["0-100", "30-70", "50-50", "70-30", "100-0"]
    assert "with 20 tests for each class" in alt_text(figure)


def test_classes_stand_with_both_regions(found):
    figure = figures.class_chart(found)
    table = found.class_table()
    edge = next(trace for trace in figure.data if trace.mode == "markers" and "boundary" in trace.name)
    assert list(edge.x) == pytest.approx(100 * table.loc[table["region"] == "boundary", "accuracy"], nan_ok=True)
    assert figure.layout.yaxis.ticktext[0].startswith("&lt;b&gt;")
    assert "boundary from" in alt_text(figure)
