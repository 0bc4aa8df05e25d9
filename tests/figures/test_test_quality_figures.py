"""Figures of test-set quality: values as they are, the test set orange and the training set blue, names escaped."""

import numpy as np
import pytest

from tests.evaluate.feature_populations import cloud, head
from touchstone.core.evaluate.covariate_shift import Divergence, class_shift, corrected
from touchstone.core.evaluate.test_quality.missed import map_pair
from touchstone.core.evaluate.test_quality.quality import boundary_curve, centroid_curve, measure_quality
from touchstone.core.evaluate.test_quality.verdict import findings
from touchstone.core.figures import test_quality as figures
from touchstone.core.figures.test_quality import Subject, shift_chart
from touchstone.core.figures.theme import alt_text, theme

MARKUP = "<b>bold</b> & $y$"
LOOK = theme(dark=False)


def look_at(n_classes: int = 3, n_train=80, n_test=40, *, apart: float = 3.0, **made):
    """Training and test part with odd names, their quality, and the head."""
    of = head(n_classes, 6, apart=apart)
    names = (MARKUP, *(f"class {code}" for code in range(1, n_classes)))
    parts = [cloud(of, n_train), cloud(of, n_test, seed=2, **made)]
    train, test = (type(part)(part.features, part.labels, part.proba, names) for part in parts)
    return train, test, measure_quality(train, test, rng=np.random.default_rng(0)), of


@pytest.fixture(scope="module")
def three():
    return look_at()


def shift(n_classes: int = 3):
    rng, classes = np.random.default_rng(0), []
    for code in range(n_classes):
        values = [0.9 if code == 1 else 0.2, *rng.uniform(0.1, 0.4, 80)]
        pieces = [Divergence(float(value), 0.01, 3, 0.9, 1, 1) for value in values]
        classes.append(class_shift(MARKUP if code == 0 else f"class {code}", 80, 40, pieces))
    unknown = Divergence(float("nan"), float("nan"), 0, float("nan"), 0, 0)
    return corrected([*classes, class_shift("few", 5, 2, [unknown])])


def charts(found, dark: bool) -> dict:
    train, test, of, model = found
    plane = map_pair(test, of.regions, 0, 1, head=model)
    return {
        "classes": figures.class_chart(of, dark=dark),
        "boxes": figures.box_chart([Subject(MARKUP, ("digits",), of), Subject("other", (MARKUP,), of)], dark=dark),
        "radius": figures.curve_chart(centroid_curve(of.regions, test, train), of.regions, 0, dark=dark),
        "theta": figures.curve_chart(boundary_curve(test, train), of.regions, 0, dark=dark),
        "pairs": figures.pair_chart(of.pairs, findings(of), dark=dark),
        "plane": figures.pair_map_chart(plane, 100 + plane.rows, selected=(100,), dark=dark),
        "shift": shift_chart(shift(), dark=dark),
    }


@pytest.mark.parametrize("dark", [False, True])
def test_every_figure_says_what_it_shows_and_escapes_names(three, dark):
    for name, figure in charts(three, dark).items():
        assert alt_text(figure), name
        assert figure.layout.title.text is None
        assert figure.layout.xaxis.title.text, name
        assert "<b>bold" not in figure.to_json().replace(alt_text(figure).replace('"', '\\"'), ""), name


def test_classes_show_the_values_of_test_and_training(three):
    _, _, of, _ = three
    figure = figures.class_chart(of)
    for panel, shares in (("x", of.equivalence), ("x2", of.centroid), ("x3", of.boundary)):
        mine = [trace for trace in figure.data if (trace.xaxis or "x") == panel]
        unit = 1 if panel == "x" else 100
        train = next(trace for trace in mine if trace.name == "training set")
        assert train.x == pytest.approx(unit * shares.train)
        assert train.marker.color == LOOK.inclusive
        dots = [trace for trace in mine if trace.name.startswith("test set")]
        found = dict(zip(np.concatenate([dot.y for dot in dots]), np.concatenate([dot.x for dot in dots]), strict=True))
        assert [found[code] for code in range(3)] == pytest.approx(unit * shares.value)
        assert {dot.marker.color for dot in dots} == {LOOK.exclusive}


def test_only_what_differs_from_random_splits_is_filled():
    _, _, of, _ = look_at(n_train=200, n_test=100, shrunk=0.3)
    figure = figures.class_chart(of)
    filled = [trace for trace in figure.data if trace.name.endswith("(Holm)") and trace.xaxis == "x2"]
    assert filled[0].marker.symbol == "circle"
    assert len(filled[0].x) == (of.centroid.p_holm < 0.05).sum() == 3
    assert "Different from a random split: <b>bold</b> & $y$, class 1 and class 2" in alt_text(figure)


def test_a_class_that_is_absent_is_a_cross_and_nothing_else():
    _, _, of, _ = look_at(n_test=[40, 0, 40])
    figure = figures.class_chart(of)
    crosses = [trace for trace in figure.data if trace.name == "no test sample"]
    assert [trace.xaxis for trace in crosses] == ["x2", "x3"]
    assert all(list(trace.y) == [1] for trace in crosses)
    assert all(trace.marker.color == LOOK.colours[6] for trace in crosses)
    assert figures.box_chart([Subject("mine", ("clouds",), of)]).data


def test_boxes_hold_the_classes_of_each_model(three):
    _, _, of, _ = three
    figure = figures.box_chart([Subject("first", ("digits", "9 right"), of), Subject("second", ("wine",), of)])
    boxes = [trace for trace in figure.data if trace.type == "box"]
    assert len(boxes) == 2 * 3 * 2
    test = next(box for box in boxes if box.name == "test set" and box.xaxis == "x3" and box.y0 > 0.5)
    assert test.x == pytest.approx(100 * of.boundary.value)
    assert list(figure.layout.yaxis.ticktext) == ["first<br>digits<br>9 right", "second<br>wine"]
    band = next(trace for trace in figure.data if trace.name.startswith("random") and trace.xaxis == "x3")
    assert min(band.x) == pytest.approx(100 * of.boundary.split_lower.min())
    assert max(band.x) == pytest.approx(100 * of.boundary.split_upper.max())
    assert sum(trace.showlegend is not False for trace in figure.data) == 3, "one entry each in the legend"


def test_curves_mark_the_value_in_use(three):
    train, test, of, _ = three
    radius = figures.curve_chart(centroid_curve(of.regions, test, train), of.regions, 1)
    assert radius.layout.shapes[0].x0 == pytest.approx(of.regions.radii[1])
    curve = boundary_curve(test, train)
    theta = figures.curve_chart(curve, of.regions, 1)
    assert theta.layout.shapes[0].x0 == 0.7
    drawn = {trace.name: trace for trace in theta.data}
    assert drawn["class 1, test set"].y == pytest.approx(100 * curve.value[1])
    assert drawn["class 1, training set"].y == pytest.approx(100 * curve.train[1])
    assert len(drawn["other classes, test set"].x) == 2 * (len(curve.threshold) + 1)


def test_cells_of_the_heat_map_hold_the_shares_and_the_signs():
    train, test, _, _ = look_at(n_train=300, n_test=100, apart=1.5)
    kept = (test.labels != 0) | (test.proba[:, 1] < test.proba[:, 2])
    some = type(test)(test.features[kept], test.labels[kept], test.proba[kept], test.class_names)
    of = measure_quality(train, some, rng=np.random.default_rng(0))
    figure = figures.pair_chart(of.pairs, findings(of))
    (cells,) = figure.data
    order = of.pairs.order()
    shown, n_in = np.array(cells.z, dtype=np.float64), of.pairs.n_in[np.ix_(order, order)]
    assert np.isnan(shown[n_in == 0]).all()
    assert shown[n_in > 0] == pytest.approx(100 * of.pairs.value[np.ix_(order, order)][n_in > 0])
    fewer = [one for one in findings(of) if one.rival and one.direction == "under"]
    assert sum("−" in text for row in cells.text for text in row) == len(fewer) > 0


def test_a_hundred_classes_fit_into_one_heat_map():
    _, _, of, _ = look_at(100, 20, 5)
    figure = figures.pair_chart(of.pairs)
    assert figure.layout.height < 1100
    assert len(figure.layout.yaxis.ticktext) == 100
    assert not any(text for row in figure.data[0].text for text in row), "no room for numbers"
    assert "9\N{NARROW NO-BREAK SPACE}900 ordered pairs" in alt_text(figure)


def test_the_plane_carries_positions_and_rings_the_boundary(three):
    _, test, of, model = three
    plane = map_pair(test, of.regions, 0, 1, head=model)
    figure = figures.pair_map_chart(plane, 100 + plane.rows, selected=(100, 101))
    samples = [trace for trace in figure.data if trace.customdata is not None]
    assert sorted(np.concatenate([trace.customdata for trace in samples]).tolist()) == (100 + plane.rows).tolist()
    inside = [trace for trace in samples if "in its centroid" in trace.name]
    assert sum(len(trace.x) for trace in inside) == plane.in_centroid.sum()
    assert all("open" not in trace.marker.symbol for trace in inside)
    assert sum(len(trace.selectedpoints) for trace in samples) == 2
    rings = next(trace for trace in figure.data if (trace.name or "").startswith("at a boundary"))
    assert len(rings.x) == plane.in_boundary.sum()
    assert [(shape.x1 - shape.x0) / 2 for shape in figure.layout.shapes] == pytest.approx(plane.radii)
    assert any(trace.type == "contour" for trace in figure.data)
    alone = figures.pair_map_chart(map_pair(test, of.regions, 0, 1), plane.rows)
    assert not any(trace.type in ("contour", "heatmap") for trace in alone.data), "no head, no boundary"


def test_classes_that_moved_are_filled_and_have_their_error():
    figure = shift_chart(shift())
    filled, hollow = [trace for trace in figure.data if trace.type == "scatter"]
    assert (list(filled.x), list(filled.y)) == ([0.9], [1])
    assert filled.error_x.array[0] == pytest.approx(1.96 * 0.01)
    assert list(hollow.y) == [0, 2]
    boxes = [trace for trace in figure.data if trace.type == "box"]
    assert [len(box.x) for box in boxes] == [80, 80, 80, 0]
    assert {box.line.color for box in boxes} == {LOOK.random}
