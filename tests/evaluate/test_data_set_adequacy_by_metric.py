"""Is adequacy by a metric what scikit-learn says of every trial, and are its gains those of an accuracy's rule?"""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, precision_score, recall_score

from tests.worlds.data_set_adequacy_coverage import POPULATIONS, adequacy_of_world, predicted_by_size, sized_frame
from tests.worlds.source_robustness import Sources
from touchstone.core.data import DataError
from touchstone.core.evaluate.data_set_adequacy.adequacy import adequacy_of
from touchstone.core.evaluate.data_set_adequacy.outlook import EXPONENTS
from touchstone.core.evaluate.data_set_adequacy.plan import ALL
from touchstone.core.evaluate.data_set_adequacy.results import Adequacy, Curve
from touchstone.core.evaluate.data_set_adequacy.verdict import GAIN, GAP, adequacy_verdict, gain_claim, kind, sentence
from touchstone.core.evaluate.intervals import t_interval
from touchstone.core.evaluate.source_robustness import by_metric
from touchstone.core.evaluate.source_robustness.by_metric import metrics_of_trials, metrics_on_sources
from touchstone.core.evaluate.wording import gap, percent
from touchstone.core.figures.data_set_adequacy import interval_curve
from touchstone.core.figures.theme import alt_text
from touchstone.core.report.data_set_adequacy import answer

STEEP = POPULATIONS["20 sources in each of 2 classes, steep"]
FLAT = Sources(2, 10, False, 40, apart=2.0, source_sd=0.5, n_repeats=10, n_idle=2)
UNEVEN = Sources(2, 10, False, 20, first_class=4.0, apart=2.0, source_sd=0.5, n_repeats=10, n_idle=2)
MANY = Sources(4, 8, False, 20, apart=2.5, source_sd=0.6, n_repeats=6)
SCHEMES = {"source_exclusive": "exclusive", "source_inclusive": "inclusive"}
FUNCTIONS = {
    "balanced_accuracy": balanced_accuracy_score,
    "f1_macro": partial(f1_score, average="macro"),
    "f1": f1_score,
    "recall": recall_score,
    "precision": precision_score,
}


def rows_of(world: Sources) -> pd.DataFrame:
    return sized_frame(world, *world.data(1), 1)


def n_per_class(world: Sources) -> dict[str, int]:
    _, y, _ = world.data(1)
    return {f"class {code}": int(n) for code, n in enumerate(np.bincount(y))}


@pytest.fixture(scope="module")
def steep() -> Adequacy:
    return adequacy_of_world(STEEP, 1)


@pytest.fixture(scope="module")
def larger() -> Adequacy:
    """Without the smallest size."""
    rows = rows_of(STEEP)
    rows = rows[(rows["size"] != 32).to_numpy(dtype=bool)]
    return adequacy_of(rows, n_per_class=n_per_class(STEEP), positive="class 1")


@pytest.fixture(scope="module")
def slow() -> dict[str, pd.DataFrame]:
    """Each metric of each trial, by scikit-learn: draws by size, of each scheme."""
    x, y, sources = STEEP.data(1)
    usual = round(0.8 * len(y))
    sizes = (usual // 8, usual // 4, usual // 2, ALL)
    rows = [
        {"scheme": SCHEMES[scheme], "repeat": repeat, "size": size or 10**6}
        | {name: function(y[split.test], predicted) for name, function in FUNCTIONS.items()}
        for scheme, repeat, size, split, predicted in predicted_by_size(STEEP, x, y, sources, sizes, tuple(SCHEMES), 1)
    ]
    table = pd.DataFrame(rows)
    return {name: table.pivot(index=["scheme", "repeat"], columns="size", values=name) for name in FUNCTIONS}


def by(found: Adequacy, name: str) -> Curve:
    curve = found.by(name, found.overall[0])
    assert curve is not None
    return curve


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_size_has_scikit_learns_mean_over_trials(steep, slow, name):
    curve = by(steep, name)
    for place, point in enumerate(curve.points):
        for end in SCHEMES.values():
            draws = slow[name].loc[end].iloc[:, place]
            estimate = getattr(point.about, end)
            assert estimate.value == pytest.approx(draws.mean())
            assert estimate.sd == pytest.approx(draws.std())
            error = draws.std() / np.sqrt(len(draws))
            assert estimate.over_draws.width == pytest.approx(2 * 2.26 * error, rel=0.1)


def line(n: np.ndarray, values: np.ndarray, exponent: float) -> tuple[float, float]:
    """What twice as many samples add on a straight line in n to the minus exponent, and how badly it fits."""
    x = n**-exponent
    slope, intercept = np.polyfit(x, values, 1)
    return slope * x[-1] * (2**-exponent - 1), float(((values - slope * x - intercept) ** 2).sum())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_gain_is_that_of_a_line_through_these_means(larger, slow, name):
    """Three sizes are too few for a learning curve. Its error over draws is that of the gains of single trials."""
    curve, draws = by(larger, name), slow[name].loc["exclusive"].to_numpy()[:, 1:]
    n, outlook = np.array([point.n for point in curve.points]), curve.outlook
    assert len(n) == 3
    gains = {exponent: line(n, draws.mean(axis=0), exponent)[0] for exponent in EXPONENTS}
    exponent = min(gains, key=lambda each: abs(gains[each] - outlook.next_gain.value))
    assert outlook.next_gain.value == pytest.approx(gains[exponent])
    of_draws = [line(n, each, exponent)[0] for each in draws]
    error = np.std(of_draws, ddof=1) / np.sqrt(len(draws))
    expected = t_interval(outlook.next_gain.value, error, len(draws) - 1.0)
    assert outlook.next_gain.over_draws.lower == pytest.approx(expected.lower)
    last = {end: slow[name].loc[end].iloc[:, -1].mean() for end in SCHEMES.values()}
    assert outlook.gap.value == pytest.approx(last["inclusive"] - last["exclusive"])


@pytest.mark.parametrize("world", [STEEP, MANY])
def test_by_accuracy_it_is_the_very_same(monkeypatch, world):
    """Accuracy by its function of counts has the gain, gap and curve of the accuracy itself, interval for interval."""
    monkeypatch.setattr(by_metric, "metrics_of_trials", lambda _: ("accuracy",))
    found = adequacy_of_world(world, 1, by_class=False)
    [own], [other] = found.overall, found.by_metric
    for name in ("next_gain", "gain"):
        first, second = getattr(own.outlook, name), getattr(other.outlook, name)
        assert second.value == pytest.approx(first.value)
        assert second.interval.lower == pytest.approx(first.interval.lower)
        assert second.interval.upper == pytest.approx(first.interval.upper)
        assert second.p_value == pytest.approx(first.p_value)
    assert other.outlook.gap.value == pytest.approx(own.outlook.gap.value)
    assert sentence(other) == sentence(own)


def test_at_every_size_it_stands_as_on_the_page_of_source_robustness(steep):
    rows = rows_of(STEEP)
    last = rows[(rows["size"] == ALL).to_numpy(dtype=bool)].drop(columns="size")
    alone = {each.metric: each for each in metrics_on_sources(last, positive="class 1")}
    for name, each in alone.items():
        about = by(steep, name).points[-1].about
        assert about.exclusive.value == each.exclusive.value
        assert about.exclusive.over_sources.lower == pytest.approx(each.exclusive.over_sources.lower)
        assert about.baseline == pytest.approx(each.baseline, nan_ok=True)


def test_the_verdict_is_about_the_chosen_metric_and_names_accuracy_beside(steep):
    curve, accuracy = by(steep, "balanced_accuracy"), steep.overall[0]
    verdict = adequacy_verdict(steep, curve)
    assert "of balanced accuracy" in verdict.headline
    assert verdict.findings[0].startswith("By accuracy: ")
    assert verdict.findings[0].endswith("of accuracy.")
    assert [made.kind for made in verdict.claims] == [GAIN, GAIN, GAP, GAP]
    assert verdict.claims[0].estimate == curve.outlook.next_gain.value
    assert verdict.claims[1].estimate == accuracy.outlook.next_gain.value
    value = percent(curve.points[-1].about.exclusive.value)
    assert "At the largest size, balanced accuracy is " in verdict.used
    assert f" and {value} on held-out sources. Baseline" in verdict.used
    assert verdict.used.endswith("Baseline 50.0 %.")
    assert "majority" not in verdict.text.lower()
    named = adequacy_verdict(steep, by(steep, "recall"))
    assert "of sensitivity for “class 1”" in named.headline
    assert "baseline" not in named.used.lower(), "always “yes” finds every one"
    usual = adequacy_verdict(steep)
    assert "balanced" not in usual.text
    assert [made.kind for made in usual.claims] == [GAIN, GAP]


def test_key_numbers_figure_and_numbers_are_the_metrics(steep):
    shown, usual = answer(steep, metric="balanced_accuracy"), answer(steep)
    curve = by(steep, "balanced_accuracy")
    assert [each.label for each in shown.key_numbers][2:] == [
        "Balanced accuracy, held-out sources",
        "Balanced accuracy, sources seen in training",
    ]
    assert shown.key_numbers[2].baseline == "baseline 50.0 %"
    figure = next(each for each in shown.figures if each.key == "curve")
    assert figure.caption.startswith("The band runs from balanced accuracy on held-out sources")
    assert figure.caption.endswith("The baseline is 50.0 %.")
    drawn = figure.draw()
    assert alt_text(drawn).startswith("Expected balanced accuracy interval over the size of the training set.")
    assert drawn.layout.yaxis.title.text == "Expected balanced accuracy (%)"
    [line] = [trace for trace in drawn.data if trace.name == "held out"]
    assert line.y == pytest.approx([100 * point.about.exclusive.value for point in curve.points])
    own = {each.name: each for each in shown.numbers if each.of[-1] == "balanced_accuracy"}
    assert own["data_set_adequacy.metric_gain"].value == curve.outlook.next_gain.value
    assert own["data_set_adequacy.metric_gap"].value == curve.outlook.gap.value
    assert [each for each in shown.numbers if "metric_" not in each.name] == list(usual.numbers)
    assert interval_curve(steep.overall[0]).layout.yaxis.title.text == "Expected accuracy (%)"
    with pytest.raises(DataError, match=r"give no 'roc_auc' here\. Choose from accuracy, balanced_accuracy"):
        answer(steep, metric="roc_auc")


def test_of_more_classes_it_is_about_metrics_of_all_classes_in_their_own_unit():
    found = adequacy_of_world(MANY, 1)
    assert {curve.words.metric.name for curve in found.by_metric} == {*metrics_of_trials(4)}
    assert "of macro F1" in adequacy_verdict(found, by(found, "f1_macro")).headline
    correlation = by(found, "matthews_corrcoef")
    verdict, shown = adequacy_verdict(found, correlation), answer(found, metric="matthews_corrcoef")
    gain = correlation.outlook.next_gain
    assert f"would bring {gap(gain.value, gain.interval)} of Matthews correlation." in verdict.headline
    last = correlation.points[-1].about
    assert gap(last.exclusive.value) in verdict.used
    assert shown.key_numbers[2].value == gap(last.exclusive.value)
    drawn = next(each for each in shown.figures if each.key == "curve").draw()
    assert drawn.layout.yaxis.title.text == "Expected Matthews correlation"
    [line] = [trace for trace in drawn.data if trace.name == "held out"]
    assert line.y == pytest.approx([point.about.exclusive.value for point in correlation.points])


def of_an_older_method(world: Sources) -> Adequacy:
    """As before version 3, when trials did not say how many of a label they trained on: as many of each, then."""
    rows = rows_of(world).drop(columns="n_label_train")
    return adequacy_of(rows, n_per_class=n_per_class(world), positive="class 1")


def test_where_parts_mix_classes_otherwise_a_metric_shows_no_gain():
    """Smaller parts of older methods have as many samples of each class: sensitivity falls from them to the whole."""
    found = of_an_older_method(UNEVEN)
    for name in ("balanced_accuracy", "recall", "precision"):
        curve = by(found, name)
        assert not curve.is_comparable
        assert gain_claim(curve).decision == "undecided"
        assert kind(curve) in ("gap", "unknown")
        assert curve.outlook.gap.interval.known
        verdict = adequacy_verdict(found, curve)
        assert f". {curve.words.title} is " in verdict.headline
        assert "would bring" not in verdict.headline
        assert f"{curve.words.name} shows no gain" in verdict.findings[1]
        assert "learning curve" not in verdict.text
        assert "last step" not in verdict.text
        shown = answer(found, metric=name)
        assert "Only the largest size has the data's own mix of classes." in shown.figures[0].caption
    assert by(found, "f1").points[-1].about.exclusive.value > 0
    assert all(curve.is_comparable for world in (FLAT, UNEVEN) for curve in adequacy_of_world(world, 1).by_metric)


def test_a_little_unevenness_moves_balanced_accuracy_less_than_sensitivity():
    found = of_an_older_method(replace(UNEVEN, size=34, first_class=1.3))
    assert by(found, "balanced_accuracy").is_comparable
    assert not by(found, "recall").is_comparable


def test_where_one_class_has_most_samples_balanced_accuracy_stands_beside_unasked():
    found = adequacy_of_world(UNEVEN, 1)
    assert found.majority > 2 / 3
    verdict = adequacy_verdict(found)
    assert "of accuracy" in verdict.headline
    assert verdict.findings[0].startswith("By balanced accuracy: ")
    assert verdict.findings[0].endswith(" points [−0.5, 0.6] of balanced accuracy.")
    assert [made.kind for made in verdict.claims][-2:] == [GAIN, GAP]


def test_a_metric_at_its_baseline_is_said_first():
    found = adequacy_of_world(replace(FLAT, apart=0.0), 1)
    verdict = adequacy_verdict(found, by(found, "balanced_accuracy"))
    assert "than the baseline of balanced accuracy on sources seen in training: " in verdict.headline
    assert verdict.headline.index("against 50.0 %") < verdict.headline.index("samples would")
    assert verdict.claims[0].kind == "source_robustness.below_baseline"


def test_a_size_at_which_a_metric_is_not_defined_on_every_split_is_not_compared(larger):
    """Precision, where nothing was taken for the class on one split of the smallest size."""
    rows = rows_of(STEEP)
    of_class = (rows["size"] == 32) & (rows["repeat"] == 0) & (rows["label"] == "class 1")
    rows.loc[of_class.to_numpy(dtype=bool), ["n_predicted", "n_correct"]] = 0
    found = adequacy_of(rows, n_per_class=n_per_class(STEEP), positive="class 1")
    curve = by(found, "precision")
    assert len(curve.points) == 4
    assert curve.outlook.next_gain.value == pytest.approx(by(larger, "precision").outlook.next_gain.value)
    assert curve.learning["exclusive"].law is None


@pytest.mark.parametrize("seed", range(3))
def test_a_model_that_learned_nothing_gains_nothing_where_classes_are_uneven(seed):
    """Parts of even classes made accuracy rise to the majority's share, and "more samples would help" was said."""
    found = adequacy_of_world(replace(UNEVEN, apart=0.0, source_sd=0.0), seed)
    [whole], classes = found.overall, found.classes_of(found.overall[0])
    assert all(curve.is_comparable for curve in (whole, *classes))
    for curve in (whole, *classes, *found.by_metric):
        assert gain_claim(curve).decision != "above"
    sizes = [curve.points for curve in classes]
    assert [points[0].n / points[-1].n for points in sizes] == pytest.approx([0.125, 0.125], rel=0.02)
    assert [points[-1].n for points in sizes] == pytest.approx([640, 160], rel=0.02)


def test_of_an_older_method_it_shows_no_gain_at_all():
    found = of_an_older_method(replace(UNEVEN, apart=0.0, source_sd=0.0))
    [whole], classes = found.overall, found.classes_of(found.overall[0])
    assert not any(curve.is_comparable for curve in (whole, *classes))
    said = adequacy_verdict(found, whole)
    assert "would" not in said.headline.partition(". ")[0]
    assert any("otherwise than the data: accuracy shows no gain" in finding for finding in map(str, said.findings))


def test_a_correlation_below_nothing_has_a_curve_or_a_reason_and_warns_of_nothing():
    found = adequacy_of_world(replace(MANY, apart=0.0, source_sd=0.0), 2)
    for name in ("matthews_corrcoef", "cohen_kappa"):
        curve = by(found, name)
        for point in curve.points:
            assert -1 <= point.about.exclusive.over_sources.lower < 0 < point.about.exclusive.over_sources.upper
        assert -1 <= curve.outlook.next_gain.interval.lower <= curve.outlook.next_gain.interval.upper <= 2
        assert all(each.law is not None or each.reason for each in curve.learning.values())
