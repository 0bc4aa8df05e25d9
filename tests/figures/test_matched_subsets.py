"""Figures of matched subsets and calibration: numbers as they are, roles by colour and mark, words for all."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import trapezoid

from touchstone.core.evaluate.calibration import accuracy_by_coverage, calibration, density, logit_density
from touchstone.core.evaluate.matched_subsets import Outcomes, compare_models, compare_sets, epsilon_curve, match
from touchstone.core.figures import matched_subsets as figures
from touchstone.core.figures.matched_subsets import matching_picture
from touchstone.core.figures.theme import alt_text, theme

MARKUP = "<b>bold</b> & <a href='//x'>$y$</a>"
NAMES = (MARKUP, "dog", "hen")


def simulated(n: int, seed: int, fall: float = 0.05) -> Outcomes:
    rng = np.random.default_rng(seed)
    confidence = 1 - 0.66 * rng.beta(1, 3, n)
    return Outcomes(rng.integers(3, size=n), confidence, rng.random(n) < confidence - fall, NAMES)


RNG = np.random.default_rng(0)
OPTIONS = {"n_repeats": 3, "rng": RNG}
ONE = compare_sets(simulated(800, 1), simulated(300, 2, 0.2), **OPTIONS)
CURVE = epsilon_curve(simulated(800, 1), simulated(300, 2, 0.2), epsilons=(0.001, 0.005, 0.05), **OPTIONS)
NAMED = [MARKUP, *(f"model {i}" for i in range(4))]
MODELS = compare_models(
    {name: simulated(400, i) for i, name in enumerate(NAMED)},
    {name: simulated(200, 50 + i, 0.1) for i, name in enumerate(NAMED)},
    **OPTIONS,
)
SUBSETS = ONE.matched.subsets
CALIBRATED = {name: calibration(of.confidence, of.correct, rng=RNG, n_draws=200) for name, of in SUBSETS.items()}
HARD = compare_sets(replace(simulated(50, 1), confidence=np.full(50, np.nan)), simulated(20, 2), **OPTIONS)


def charts(dark: bool) -> dict:
    return {
        "scatter": figures.confidence_scatter(MODELS.rows, dark=dark),
        "picture": matching_picture(match(simulated(12, 1), simulated(6, 2), rng=RNG, epsilon=0.1), dark=dark),
        "gap": figures.gap_chart(ONE, dark=dark),
        "lines": figures.accuracy_lines(MODELS.rows, dark=dark),
        "gaps": figures.gap_lines(MODELS.rows, dark=dark),
        "epsilon": figures.epsilon_chart(CURVE, dark=dark),
        "labels": figures.label_chart(ONE, dark=dark),
        "reliability": figures.reliability_chart(CALIBRATED["reference"], dark=dark),
        "curves": figures.reliability_curves(CALIBRATED, dark=dark),
        "density": figures.density_chart({name: density(of.confidence) for name, of in SUBSETS.items()}, dark=dark),
        "coverage": figures.coverage_chart(
            {name: accuracy_by_coverage(SUBSETS[name].confidence, SUBSETS[name].correct) for name in ("reference",)},
            dark=dark,
        ),
    }


def strings(content):
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        for value in content.values():
            yield from strings(value)
    elif isinstance(content, list | tuple | np.ndarray) and np.asarray(content).dtype.kind in "OU":
        for value in content:
            yield from strings(value)


def trace(figure, name):
    (found,) = [one for one in figure.data if one.name == name]
    return found


@pytest.mark.parametrize("dark", [False, True])
def test_every_chart_has_its_look_its_words_and_no_markup_of_others(dark):
    for figure in charts(dark).values():
        assert figure.layout.template == theme(dark).template
        assert figure.layout.title.text is None
        assert alt_text(figure)
        assert figure.layout.xaxis.title.text
        assert figure.to_json()
        content = figure.to_dict()
        content["layout"].pop("meta")  # plain text, not drawn
        assert not [text for text in strings(content) if "<b>" in text or "<a " in text or "$" in text]
        for one in figure.data:
            assert isinstance(one.x, np.ndarray)
            assert isinstance(one.y, np.ndarray)


@pytest.mark.parametrize("dark", [False, True])
def test_the_same_set_has_the_same_colour_in_every_chart(dark):
    look, drawn = theme(dark), charts(dark)
    for name, colour in (("reference", look.inclusive), ("target", look.exclusive)):
        assert trace(drawn["scatter"], name).marker.color == colour
        for chart in ("lines", "curves", "density"):
            assert trace(drawn[chart], name).line.color == colour
            assert trace(drawn[chart], f"matched {name}").line.color == colour
            assert trace(drawn[chart], name).line.dash != trace(drawn[chart], f"matched {name}").line.dash


def test_the_numbers_drawn_are_the_numbers_found():
    drawn = charts(False)
    rows = MODELS.rows
    assert trace(drawn["lines"], "matched target").y == pytest.approx(
        [100 * row.subset("matched target").reached.value for row in rows]
    )
    assert trace(drawn["gaps"], "matched gap").y == pytest.approx([100 * row.matched_gap.value for row in rows])
    assert trace(drawn["epsilon"], "target unmatched").y == pytest.approx(
        [100 * row.unmatched_target.value for row in CURVE]
    )
    band = trace(drawn["gap"], "matched gap, 95 %").x
    assert band[:2] == pytest.approx([100 * ONE.matched_gap.interval.lower, 100 * ONE.matched_gap.interval.upper])
    bins = [one for one in CALIBRATED["reference"].bins if one.n]
    assert trace(drawn["reliability"], "reference").y == pytest.approx([100 * one.accuracy for one in bins])


def test_models_are_in_order_of_accuracy_on_the_reference():
    y = trace(charts(False)["lines"], "reference").y
    assert (np.diff(y) >= 0).all()
    assert (np.diff(trace(charts(False)["scatter"], "reference").y) >= 0).all()


def test_labels_are_in_order_of_their_gap():
    figure = charts(False)["labels"]
    marks = np.concatenate([one.x for one in figure.data if one.mode == "markers"])
    at = np.concatenate([one.y for one in figure.data if one.mode == "markers"])
    assert (np.diff(marks[np.argsort(at)]) <= 0).all()


def test_pairs_are_joined_in_the_picture():
    subsets = match(simulated(12, 1), simulated(6, 2), rng=RNG, epsilon=0.1)
    figure = matching_picture(subsets)
    assert len(trace(figure, "pair").x) == 3 * subsets.n_pairs
    assert len(trace(figure, "unmatched target").x) == len(subsets.unmatched_target_index)
    by_probability = match(simulated(12, 1), simulated(6, 2), by="probability", rng=RNG, epsilon=0.1)
    assert len(matching_picture(by_probability).layout.yaxis.ticktext) == 1


def test_many_models_are_bands_and_counted():
    rows = MODELS.rows * 10
    for figure in (figures.accuracy_lines(rows), figures.gap_lines(rows)):
        assert "(50)" in figure.layout.xaxis.title.text
        assert figure.layout.xaxis.ticktext is None
        assert any(one.fill == "toself" for one in figure.data)


def test_long_names_below_a_chart_take_nothing_from_it():
    rows = MODELS.rows * 2
    longer = [replace(row, model=f"a name as long as some models have {i}") for i, row in enumerate(rows)]
    for draw in (figures.accuracy_lines, figures.gap_lines):
        assert draw(longer).layout.height >= draw(MODELS.rows).layout.height + 100


def test_empty_bins_are_drawn_empty():
    of = calibration(np.array([0.9] * 50), np.array([True] * 50), binning="width", rng=RNG)
    figure = figures.reliability_chart(of)
    assert len(trace(figure, "reference").x) == 1
    assert trace(figure, "samples").y.tolist().count(0) == 14


def test_what_is_not_known_is_not_drawn_and_nothing_breaks():
    assert len(figures.gap_chart(HARD).layout.yaxis.ticktext) == 1
    for figure in (
        figures.confidence_scatter([HARD]),
        figures.accuracy_lines([HARD]),
        figures.gap_lines([HARD]),
        figures.label_chart(HARD),
        figures.confidence_scatter([]),
        figures.reliability_chart(calibration(np.zeros(0), np.zeros(0, dtype=bool), rng=RNG)),
        figures.density_chart({"reference": density(np.zeros(0))}),
        figures.coverage_chart({"reference": ()}),
    ):
        assert alt_text(figure)
        assert "nan" not in alt_text(figure)


def test_of_labels_alone_there_is_no_line_nor_word_of_matching():
    for figure, names in (
        (figures.accuracy_lines([HARD]), ["reference", "target"]),
        (figures.gap_lines([HARD]), ["gap"]),
    ):
        assert [one.name for one in figure.data] == names
        assert "match" not in alt_text(figure)
    assert figures.gap_lines([HARD]).layout.yaxis.title.text == "Gap (points)"
    mixed = figures.accuracy_lines([HARD, MODELS.rows[0]])
    assert [one.name for one in mixed.data] == ["reference", "target", "matched reference", "matched target"]


def test_words_state_the_takeaway():
    assert "matched gap" in alt_text(charts(False)["gap"])
    assert "outside the band" in alt_text(charts(False)["reliability"])
    assert "on the more confident half" in alt_text(charts(False)["coverage"])


def test_confidences_close_to_one_are_spread_on_a_logit_axis():
    rng = np.random.default_rng(0)
    sure = 1 - 10.0 ** -rng.uniform(2, 5, 3000)
    calibrated = calibration(sure, rng.random(3000) < sure, rng=rng, n_draws=100)
    densities = {"reference": logit_density(sure)}
    charts = (
        figures.reliability_chart(calibrated, logit=True),
        figures.reliability_curves({"reference": calibrated}, logit=True),
        figures.density_chart(densities, logit=True),
    )
    for figure in charts:
        axis = figure.layout.xaxis
        assert "logit" in axis.title.text
        assert {"90", "99", "99.9", "99.99"} <= set(axis.ticktext)
        steps = np.diff([axis.tickvals[axis.ticktext.index(tick)] for tick in ("99", "99.9", "99.99")])
        assert steps == pytest.approx([1, 1], abs=0.01)
    marks = trace(charts[1], "reference").x
    low, high = charts[1].layout.xaxis.range
    assert np.ptp(marks) > 0.3 * (high - low)
    perfect = trace(charts[1], "perfectly calibrated")
    assert perfect.y == pytest.approx(100 / (1 + 10.0**-perfect.x), rel=1e-9)
    x, y = trace(charts[2], "reference").x, trace(charts[2], "reference").y
    assert trapezoid(y, x) == pytest.approx(1, abs=0.02)


def test_a_bin_on_the_logit_axis_is_drawn_on_the_line_of_perfect_models_where_it_is_perfect():
    at = np.repeat([0.9, 0.99], 1000)
    right = np.concatenate([np.arange(1000) < 900, np.arange(1000) < 990])
    figure = figures.reliability_curves({"reference": calibration(at, right, rng=RNG, n_draws=50)}, logit=True)
    bins = trace(figure, "reference")
    assert bins.y == pytest.approx(100 / (1 + 10.0**-bins.x))
