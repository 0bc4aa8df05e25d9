"""Figures of average-case robustness: numbers as they are, estimators by colour and mark, words for who cannot see."""

import numpy as np
import pandas as pd
import pytest

from tests.evaluate.average_case_rows import counted, rows_of, skewed
from touchstone.core.evaluate.average_case.robustness import Robustness, evaluate_robustness
from touchstone.core.figures import average_case as figures
from touchstone.core.figures.theme import alt_text, theme

MARKUP = "<b>bold</b> & $y$"
NAMES = ("plum", MARKUP, "fig")
N, FEW = 90, slice(0, 30)
MEANS = {0.1: (0.95, 0.9, 0.8), 0.3: (0.8, 0.7, 0.4)}


def rows() -> pd.DataFrame:
    rng, y, parts = np.random.default_rng(0), np.arange(N) % 3, []
    for sigma, means in MEANS.items():
        p = np.zeros(N)
        for code, mean in enumerate(means):
            p[y == code] = skewed(N // 3, mean, rng)
        wrong = np.where(np.arange(N) % 10 == 0, (y + 1) % 3, y)
        parts += [rows_of(p, y, sigma=sigma, predicted=wrong), counted(p[FEW], y[FEW], sigma=sigma, rng=rng)]
        parts += [rows_of(np.clip(p + 0.02, 0, 1), y, sigma=sigma, estimator="softmax", predicted=wrong)]
        for name in ("taylor", "mmse", "taylor_mvs", "mmse_mvs", "mmse_plain", "gaussian_logits", "softmax"):
            said = np.clip(p[FEW] + rng.normal(0, 0.02, 30), 0, 1)
            parts.append(rows_of(said, y[FEW], sigma=sigma, estimator=name, part="audit"))
    for name, n in (("mmse", 2), ("mmse", 6), ("mmse_plain", 1), ("mmse_plain", 5)):
        said = np.clip(p[FEW] + rng.normal(0, 0.1 / n, 30), 0, 1)
        parts.append(rows_of(said, y[FEW], sigma=0.3, estimator=name, part="convergence", n_draws=n))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def found() -> Robustness:
    return evaluate_robustness(rows(), class_names=NAMES)


def charts(of: Robustness, dark: bool) -> dict:
    points = np.random.default_rng(1).normal(size=(N, 2))
    return {
        "classes": figures.class_chart(of, 0.3, dark=dark),
        "sigmas": figures.sigma_chart(of, dark=dark),
        "gaps": figures.gap_chart(of, dark=dark),
        "confidence": figures.confidence_chart(of, 0.3, selected=(1, 2), dark=dark),
        "map": figures.robustness_map(points, of, 0.3, selected=(1, 2), dark=dark),
        "errors": figures.error_chart(of.audit, dark=dark),
        "bias": figures.error_chart(of.audit, bias=True, dark=dark),
        "convergence": figures.convergence_chart(of.audit, dark=dark),
        "sigmoid": figures.sigmoid_chart(of.audit, 0.3, dark=dark),
    }


@pytest.mark.parametrize("dark", [False, True])
def test_every_figure_says_what_it_shows_and_escapes_names(found, dark):
    for name, figure in charts(found, dark).items():
        assert alt_text(figure), name
        assert figure.layout.title.text is None
        assert figure.layout.xaxis.title.text, name
        assert "<b>bold" not in figure.to_json(), name


def test_without_an_audit_there_are_charts_all_the_same():
    alone = evaluate_robustness(rows_of(np.linspace(0.2, 1, 12), np.arange(12) % 3), class_names=NAMES)
    drawn = [figures.class_chart(alone, 0.1), figures.sigma_chart(alone), figures.gap_chart(alone)]
    assert all(figure.data for figure in [*drawn, figures.sigmoid_chart(alone.audit, 0.1)])


def test_classes_stand_by_their_mean_with_monte_carlo_in_ink(found):
    figure = figures.class_chart(found, 0.3)
    assert list(figure.layout.yaxis.ticktext) == ["fig", "&lt;b&gt;bold&lt;/b&gt; &amp; &#36;y&#36;", "plum"]
    boxes = [trace for trace in figure.data if trace.type == "box"]
    assert [len(box.x) for box in boxes] == [30, 30, 30]
    assert {box.line.color for box in boxes} == {theme(dark=False).colours[2]}
    ticks = next(trace for trace in figure.data if trace.name.startswith("Monte-Carlo"))
    assert ticks.marker.color == theme(dark=False).ink
    assert len(ticks.x) == 30
    means = next(trace for trace in figure.data if trace.name.startswith("mean with"))
    assert means.x[0] == pytest.approx(100 * found.at(0.3).classes[2].value)


def test_estimators_have_the_colours_of_the_house(found):
    look, figure = theme(dark=False), figures.error_chart(found.audit)
    colours = {trace.name: trace.line.color for trace in figure.data if trace.error_y.array is not None}
    assert colours["MMSE"] == look.colours[2]
    assert colours["Taylor"] == look.colours[3]
    assert colours["Normal logits"] == look.colours[4]
    assert colours["Softmax"] == look.grey
    shapes = {(trace.line.color, trace.line.dash) for trace in figure.data if trace.error_y.array is not None}
    assert len(shapes) == 7, "two estimators look alike"


def test_wrong_predictions_stand_out_and_points_carry_their_positions(found):
    figure = figures.confidence_chart(found, 0.3)
    assert [trace.name.split(",")[0] for trace in figure.data] == ["prediction right", "prediction wrong"]
    assert sorted(np.concatenate([trace.customdata for trace in figure.data]).tolist()) == list(range(N))
    wrong = figure.data[1]
    assert set(wrong.customdata.tolist()) == set(range(0, N, 10))
    assert wrong.marker.symbol != figure.data[0].marker.symbol


def test_errors_are_those_of_the_audit(found):
    figure = figures.error_chart(found.audit)
    mmse = next(trace for trace in figure.data if trace.name == "MMSE")
    assert mmse.y[1] == pytest.approx(found.audit.of("mmse", 0.3).error.value)
    curve = figures.convergence_chart(found.audit)
    plain = next(trace for trace in curve.data if trace.name.startswith("plain"))
    assert list(plain.x) == [1, 5]
    assert plain.line.dash == "dot"


def test_a_summarised_chart_of_classes_is_the_box_that_the_samples_have(found):
    figure = figures.class_chart(found, 0.3, summarised=True)
    boxes = [trace for trace in figure.data if trace.type == "box"]
    assert all(box.x is None and box.boxpoints is None for box in boxes)
    samples = found.samples_at(0.3)
    p = np.sort(100 * samples.loc[samples["label"] == 2, "p_robust"].to_numpy())
    assert boxes[0].median[0] == pytest.approx(np.median(p))
    assert (boxes[0].q1[0], boxes[0].q3[0]) == (pytest.approx(p[7]), pytest.approx(p[22]))  # the middles of 15 and 15
    reach = 1.5 * (p[22] - p[7])
    assert boxes[0].lowerfence[0] == pytest.approx(p[p >= p[7] - reach].min())
    assert boxes[0].upperfence[0] == pytest.approx(p[p <= p[22] + reach].max())
    audited = [box for box in boxes if box.name.startswith("Monte-Carlo")]
    assert [box.showlegend for box in audited] == [True, False, False]
    low, high = figure.layout.xaxis.range
    assert low < min(box.lowerfence[0] for box in boxes) <= max(box.upperfence[0] for box in boxes) <= 100 < high


def test_a_summarised_sigmoid_is_the_means_of_tenths(found):
    pairs = found.audit.sigmoids(0.3)
    drawn = [
        trace for trace in figures.sigmoid_chart(found.audit, 0.3, summarised=True).data if trace.mode == "markers"
    ]
    for trace, name in zip(drawn, ("taylor_mvs", "mmse_mvs"), strict=True):
        of = pairs[pairs["by"] == name]
        last = of[of["cdf"] >= 0.9]
        assert trace.x[-1] == pytest.approx(last["cdf"].mean())
        assert trace.y[-1] == pytest.approx(last["sigmoid"].mean())
        assert len(trace.x) == len(set(np.minimum(of["cdf"] // 0.1, 9))) <= 10


def test_confidences_close_to_one_are_spread_on_a_logit_axis():
    sure = 1 - np.geomspace(1e-2, 1e-5, N)
    said = rows_of(sure, np.arange(N) % 3, sigma=0.3, estimator="softmax")
    robust = rows_of(np.linspace(0.2, 1, N), np.arange(N) % 3, sigma=0.3)
    figure = figures.confidence_chart(
        evaluate_robustness(pd.concat([robust, said], ignore_index=True), class_names=NAMES), 0.3
    )
    x = np.concatenate([trace.x for trace in figure.data])
    low, high = figure.layout.xaxis.range
    assert "99.99" in figure.layout.xaxis.ticktext
    assert np.ptp(x) > 0.3 * (high - low)
