"""Are metrics what scikit-learn says, and their intervals what independent code and theory say?"""

import warnings
from dataclasses import replace
from math import inf, isnan, sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict

from touchstone import compare
from touchstone.core.__main__ import main
from touchstone.core.data import DataError, Predictions
from touchstone.core.evaluate.calibration import expected_calibration_error
from touchstone.core.evaluate.matched_subsets.plan import MatchingPlan
from touchstone.core.evaluate.metric_estimates import (
    FEWEST_OF_CLASS,
    estimate,
    metrics_given,
    metrics_on_sets,
    positive_class,
)
from touchstone.core.evaluate.metric_functions import Counts, Scored
from touchstone.core.evaluate.metrics import METRICS, Metric, metric_named
from touchstone.core.evaluate.units import Design, samples_as_units, units_of
from touchstone.core.parameters import About, asked
from touchstone.core.report.html import to_html
from touchstone.core.report.parts import Report
from touchstone.core.testing import LAWS
from touchstone.core.testing.metrics import interval_holds
from touchstone.core.testing.metrics import predictions_drawn as drawn

OF_COUNTS = [name for name, metric in METRICS.items() if metric.of_counts is not None]


def labels(name: str, **options):
    """A function of scikit-learn of true and predicted classes."""
    function = getattr(sklearn_metrics, name)
    return lambda scored, weights: function(scored.y_true, scored.y_pred, sample_weight=weights, **options)


def positive(name: str, *, rest: bool = False):
    """Of the positive class against the rest, or of the rest against it; NaN where it is of nothing."""

    def value(scored: Scored, weights):
        sides = ((side == scored.positive) != rest for side in (scored.y_true, scored.y_pred))
        return getattr(sklearn_metrics, name)(*sides, sample_weight=weights, zero_division=np.nan)

    return value


def jaccard(scored: Scored, weights) -> float:
    """Of the positive class; scikit-learn's has no NaN for "of nothing"."""
    if not np.isin(scored.positive, [scored.y_true, scored.y_pred]):
        return float("nan")
    of_one = {"labels": [scored.positive], "average": "macro", "zero_division": 0.0}
    return labels("jaccard_score", **of_one)(scored, weights)


def ratio(which: int):
    """The positive likelihood ratio, or the negative one, of the positive class against the rest."""

    def value(scored: Scored, weights):
        sides = [side == scored.positive for side in (scored.y_true, scored.y_pred)]
        undefined = {"labels": [False, True], "replace_undefined_by": np.nan}
        return sklearn_metrics.class_likelihood_ratios(*sides, sample_weight=weights, **undefined)[which]

    return value


def probabilities(name: str, **options):
    """A function of scikit-learn of true classes and probabilities of all."""

    def value(scored: Scored, weights):
        every = {"labels": np.arange(scored.n_classes), "sample_weight": weights, **options}
        return getattr(sklearn_metrics, name)(scored.y_true, scored.proba, **every)

    return value


def where(known, function):
    """NaN where it is not defined."""
    return lambda scored, weights: function(scored, weights) if known(scored) else float("nan")


def area(name: str, *, by_frequency: bool = False):
    """The mean over classes, each against the rest; NaN where a class has no rest."""

    def value(scored: Scored, weights):
        codes = [scored.positive] if scored.n_classes == 2 else np.unique(scored.y_true)
        own = [scored.y_true == code for code in codes]
        if any(each.all() or not each.any() for each in own):
            return float("nan")
        function, weights = getattr(sklearn_metrics, name), np.ones(scored.n) if weights is None else weights
        made = [function(y, scored.proba[:, k], sample_weight=weights) for y, k in zip(own, codes, strict=True)]
        return np.average(made, weights=[weights[y].sum() for y in own] if by_frequency else None)

    return value


def calibration_error(scored: Scored, _) -> float:
    sure = scored.proba[np.arange(scored.n), scored.y_pred]
    return expected_calibration_error(sure, scored.y_true == scored.y_pred)


SEVERAL = {"average": "macro", "zero_division": 0.0}
DEFINITIONS = {
    "accuracy": labels("accuracy_score"),
    "balanced_accuracy": labels("balanced_accuracy_score"),
    **{f"{name}_macro": labels(f"{name}_score", **SEVERAL) for name in ("f1", "precision", "recall", "jaccard")},
    **{
        f"{name}_weighted": labels(f"{name}_score", **SEVERAL | {"average": "weighted"})
        for name in ("f1", "precision", "jaccard")
    },
    "jaccard_micro": labels("jaccard_score", average="micro", zero_division=0.0),
    "matthews_corrcoef": labels("matthews_corrcoef"),
    "cohen_kappa": labels("cohen_kappa_score"),
    **{name: positive(f"{name}_score") for name in ("recall", "precision", "f1")},
    "specificity": positive("recall_score", rest=True),
    "negative_predictive_value": positive("precision_score", rest=True),
    "jaccard": jaccard,
    "positive_likelihood_ratio": ratio(0),
    "negative_likelihood_ratio": ratio(1),
    "top_k_accuracy": where(lambda scored: scored.n_classes > 2, probabilities("top_k_accuracy_score", k=2)),
    "roc_auc": area("roc_auc_score"),
    "roc_auc_ovr_weighted": area("roc_auc_score", by_frequency=True),
    "average_precision": area("average_precision_score"),
    "brier_score": probabilities("brier_score_loss"),
    "log_loss": probabilities("log_loss"),
    "d2_brier_score": where(lambda scored: np.ptp(scored.y_true), probabilities("d2_brier_score")),
    "d2_log_loss_score": where(lambda scored: np.ptp(scored.y_true), probabilities("d2_log_loss_score")),
    "expected_calibration_error": calibration_error,
}
"""What scikit-learn says of predictions and weights of samples; the calibration error is none of its."""


def definition(name: str, scored: Scored, weights: np.ndarray | None = None) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(DEFINITIONS[name](scored, weights))


def learned(load) -> Scored:
    """What a model says of real data that it was not trained on."""
    x, y = load(return_X_y=True)
    proba = cross_val_predict(
        LogisticRegression(max_iter=20_000), x / x.std(axis=0).clip(1e-9), y, method="predict_proba"
    )
    return Scored(y, proba.argmax(axis=1), proba.shape[1], proba)


@pytest.fixture(scope="module")
def sets() -> list[Scored]:
    return [
        *(learned(load) for load in (load_wine, load_iris, load_breast_cancer)),
        *map(drawn, range(50)),
    ]


def weighted(scored: Scored, weights: np.ndarray) -> Counts:
    hit = scored.y_true == scored.y_pred
    columns = ((scored.y_true[hit], weights[hit]), (scored.y_true, weights), (scored.y_pred, weights))
    return Counts(*(np.bincount(of, weight, minlength=scored.n_classes) for of, weight in columns))


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("law", LAWS[METRICS.group], ids=lambda law: law.__name__)
def test_a_metric_keeps_every_law(law, name):
    law(name, METRICS[name])


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_what_scikit_learn_says(name, sets):
    n_known = 0
    for scored in sets:
        ours, theirs = METRICS[name].value(scored), definition(name, scored)
        assert ours == pytest.approx(theirs, abs=1e-12, nan_ok=True)
        n_known += not isnan(theirs)
    assert n_known > 25


@pytest.mark.parametrize("name", OF_COUNTS)
def test_functions_of_counts_are_those_of_weighted_samples_too(name, sets):
    rng = np.random.default_rng(0)
    for scored in sets:
        weights = rng.integers(1, 5, scored.n).astype(float)
        ours = METRICS[name].of_counts(weighted(scored, weights), scored.positive)
        assert float(np.real(ours)) == pytest.approx(definition(name, scored, weights), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", ["roc_auc", "roc_auc_ovr_weighted", "average_precision"])
def test_functions_of_samples_take_their_weights(name, sets):
    rng = np.random.default_rng(0)
    for scored in sets:
        weights = rng.integers(1, 5, scored.n).astype(float)
        if METRICS[name].applies(scored):
            ours = METRICS[name].function(scored, weights)
            assert ours == pytest.approx(definition(name, scored, weights), abs=1e-12, nan_ok=True)


NOT_OF_CLASSES = {
    *("adjusted_mutual_info_score", "adjusted_rand_score", "completeness_score", "fowlkes_mallows_score"),
    *("homogeneity_score", "mutual_info_score", "normalized_mutual_info_score", "rand_score", "v_measure_score"),
    *("explained_variance", "r2", "d2_absolute_error_score"),
    *(name for name in sklearn_metrics.get_scorer_names() if "error" in name or "deviance" in name),
}
"""Scorers of clusterings and of numbers."""
OF_SEVERAL_LABELS = {"f1_samples", "jaccard_samples", "precision_samples", "recall_samples"}
WITHOUT_WEIGHTS = {"roc_auc_ovo", "roc_auc_ovo_weighted"}
"""Scikit-learn gives them no weights of samples."""


def test_every_scorer_of_scikit_learn_for_classes_has_its_entry_and_says_the_same():
    """Of a sample of many classes, and of one of two: by the names that people know."""
    left_out = NOT_OF_CLASSES | OF_SEVERAL_LABELS | WITHOUT_WEIGHTS
    names = [name for name in sklearn_metrics.get_scorer_names() if name not in left_out]
    assert len(names) > 25
    many, two = drawn(15), replace(drawn(27), positive=1)
    assert (len(np.unique(many.y_true)), len(np.unique(two.y_true))) == (many.n_classes, two.n_classes) == (9, 2)
    for name in names:
        metric, scorer = metric_named(name), sklearn_metrics.get_scorer(name)
        scored = two if metric.of_class or name in ("roc_auc", "average_precision") else many
        given = scored.y_pred if metric.needs == "labels" else scored.proba
        if given is scored.proba and scored is two:
            given = given[:, 1]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = scorer._sign * scorer._score_func(scored.y_true, given, **scorer._kwargs)
        sign = -1 if name.startswith("neg_") else 1
        assert sign * metric.value(scored) == pytest.approx(theirs, abs=1e-12), name


@pytest.mark.parametrize("name", [name for name, metric in METRICS.items() if metric.has_interval])
def test_influences_are_what_a_little_more_weight_changes(name, sets):
    """By scikit-learn's own weights; metrics that jump where a class comes in are asked where none is about to."""
    for scored in [each for each in sets[:2] + sets[3:13] if len(np.unique(each.y_true)) == each.n_classes]:
        value, step = definition(name, scored), 1e-6
        if isnan(value):
            continue
        moves = METRICS[name].influences(scored)
        assert abs(moves.sum()) < 1e-9
        for row in range(0, scored.n, 1 + scored.n // 10):
            weights = np.ones(scored.n)
            weights[row] += step
            change = (definition(name, scored, weights) - value) / step
            assert moves[row] == pytest.approx(change, abs=2e-4 * max(1.0, abs(value)))


def test_a_metric_without_a_fast_path_has_the_same_influences():
    scored = drawn(4)
    for name in ("f1_macro", "brier_score"):
        metric = METRICS[name]
        fast = dict.fromkeys(("of_counts", "of_samples", "influence", "saved_of"))
        slow = replace(metric, function=DEFINITIONS[name], **fast)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert slow.influences(scored) == pytest.approx(metric.influences(scored), abs=1e-4)


def delong(of: np.ndarray, score: np.ndarray) -> tuple[float, float]:
    """The area and its standard error, pair by pair (DeLong, DeLong and Clarke-Pearson 1988)."""
    own, other = score[of], score[~of]
    wins = (own[:, None] > other[None, :]) + 0.5 * (own[:, None] == other[None, :])
    first, second = wins.mean(axis=1), wins.mean(axis=0)
    return float(wins.mean()), sqrt(first.var(ddof=1) / len(own) + second.var(ddof=1) / len(other))


def obuchowski(of: np.ndarray, score: np.ndarray, unit: np.ndarray) -> float:
    """The standard error of the area of clustered data (Obuchowski 1997)."""
    own, other = score[of], score[~of]
    wins = (own[:, None] > other[None, :]) + 0.5 * (own[:, None] == other[None, :])
    area, units = wins.mean(), np.unique(unit)
    first, second = wins.mean(axis=1), wins.mean(axis=0)
    x = np.array([(first[unit[of] == u] - area).sum() for u in units])
    y = np.array([(second[unit[~of] == u] - area).sum() for u in units])
    n_own, n_other = len({*unit[of]}), len({*unit[~of]})
    s_own, s_other = (
        n_own / ((n_own - 1) * len(own)) * (x**2).sum(),
        n_other / ((n_other - 1) * len(other)) * (y**2).sum(),
    )
    both = len(units) / (len(units) - 1) * (x * y).sum()
    return sqrt(s_own / len(own) + s_other / len(other) + 2 * both / (len(own) * len(other)))


@pytest.mark.parametrize("ties", [False, True])
def test_the_error_of_an_area_is_delongs(ties):
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], [400, 150])
    score = rng.normal(size=550) + 1.2 * y
    score = np.round(1 / (1 + np.exp(-score)), 1 if ties else 12)
    scored = Scored(y, (score > 0.5).astype(int), 2, np.column_stack([1 - score, score]))
    area, se = delong(y == 1, score)
    metric = METRICS["roc_auc"]
    assert metric.value(scored) == pytest.approx(area, abs=1e-12)
    assert Design().error(metric.influences(scored)).se == pytest.approx(se, rel=0.01)
    interval = estimate(metric, scored).interval
    assert interval.width == pytest.approx(2 * 1.96 * se, rel=0.06)


def test_the_error_of_an_area_over_units_is_obuchowskis():
    rng = np.random.default_rng(6)
    unit = np.repeat(np.arange(60), 10)
    y = rng.integers(0, 2, 600)
    score = 1 / (1 + np.exp(-(rng.normal(size=600) + (1 + 1.5 * rng.normal(size=60)[unit]) * y)))
    scored = Scored(y, (score > 0.5).astype(int), 2, np.column_stack([1 - score, score]))
    moves, design = METRICS["roc_auc"].influences(scored), Design(unit, "patient")
    theirs, by_sample = obuchowski(y == 1, score, unit), Design().error(moves).se
    # The project's engine weighs each unit by its share of the set (as CR3 does), which makes it a little larger.
    assert design.error(moves).se == pytest.approx(theirs, rel=0.04)
    assert abs(by_sample - theirs) > 0.1 * theirs


@settings(max_examples=40)
@example(677)  # of classes of one sample each, the sum of their intervals' lengths reached below 0
@given(st.integers(0, 10_000))
def test_intervals_hold_the_value_and_stay_where_the_metric_lives(seed):
    for metric in METRICS.values():
        interval_holds(metric, drawn(seed))


def test_where_a_class_has_few_samples_only_shares_have_intervals():
    y = np.repeat([0, 1], [100, FEWEST_OF_CLASS - 1])
    rng = np.random.default_rng(0)
    score = np.clip(rng.normal(0.4 + 0.2 * y, 0.2), 0.01, 0.99)
    scored = Scored(y, (score > 0.5).astype(int), 2, np.column_stack([1 - score, score]))
    known = {name for name, metric in METRICS.items() if estimate(metric, scored).interval.known}
    shares = {name for name, metric in METRICS.items() if metric.share or metric.mean_of_shares}
    assert known == (shares | {"brier_score", "log_loss"}) - {"top_k_accuracy"}
    assert "f1_macro" not in known
    assert estimate(METRICS["roc_auc"], scored).why_not == "a class has fewer than 20 samples"


def test_baselines_are_what_the_best_constant_model_reaches():
    """By the functions of scikit-learn, on models that learned nothing."""
    rng = np.random.default_rng(1)
    y = rng.choice(3, size=900, p=[0.7, 0.2, 0.1])
    scored = Scored(y, y.copy(), 3, np.full((900, 3), 1 / 3))
    shares = np.bincount(y) / 900
    guesses = [rng.choice(3, size=900, p=shares) for _ in range(300)]
    for name in ("accuracy", "balanced_accuracy", "f1_macro", "matthews_corrcoef", "cohen_kappa"):
        always = definition(name, Scored(y, np.zeros(900, dtype=int), 3))
        by_shares = float(np.mean([definition(name, Scored(y, guess, 3)) for guess in guesses]))
        assert METRICS[name].baseline(scored) == pytest.approx(max(always, by_shares), abs=0.005)
    known = np.tile(shares, (900, 1))
    assert METRICS["log_loss"].baseline(scored) == pytest.approx(sklearn_metrics.log_loss(y, known))
    assert METRICS["roc_auc"].baseline(scored) == 0.5
    assert isnan(METRICS["recall"].baseline(scored))


def test_an_unknown_metric_is_refused_by_name():
    with pytest.raises(DataError, match=r"no metric 'kappa'.*cohen_kappa"):
        metric_named("kappa")


@pytest.mark.parametrize(
    ("names", "n", "expected"),
    [
        (("legit", "fraud"), (10.0, 90.0), (1, True)),
        (("1", "0"), (5.0, 5.0), (0, True)),
        (("-1", "1"), (5.0, 5.0), (1, True)),
        (("cat", "dog"), (3.0, 7.0), (0, False)),
        (("cat", "dog"), (5.0, 5.0), (1, False)),
        (("Malignant", "odd"), (99.0, 1.0), (0, True)),
    ],
)
def test_the_positive_class_is_known_by_its_name_else_the_rarer_one(names, n, expected):
    assert positive_class(names, np.array(n)) == expected


def predictions(y, y_pred, names, score=None, units=None):
    proba = None if score is None else np.column_stack([1 - score, score])
    groups = None if units is None else {"unit": units}
    return Predictions(map(str, range(len(y))), y, y_pred, names, proba=proba, groups=groups)


def test_classes_are_joined_by_name_and_losses_are_worse_where_they_rise():
    y = np.arange(200) % 2
    off = np.linspace(-0.03, 0.03, 200)
    sure, unsure = np.where(y == 1, 0.95, 0.05) + off, np.where(y == 1, 0.6, 0.4) + off
    old = predictions(y, y, ["ham", "spam"], sure)
    new = predictions(1 - y, 1 - y, ["spam", "ham"], 1 - unsure)
    found = metrics_on_sets(old, new, samples_as_units(200, 200))
    assert found.positive == "spam"
    assert found.sure
    assert found.of("accuracy").target.value == 1.0
    theirs = [sklearn_metrics.log_loss(y, each) for each in (sure, unsure)]
    assert found.of("log_loss").worse == pytest.approx(theirs[1] - theirs[0])
    assert found.of("log_loss").worse > 0
    assert found.mistakes == ()
    assert found.of("log_loss").interval.lower > 0


def test_sets_that_share_units_are_compared_by_them():
    rng = np.random.default_rng(2)
    unit = np.repeat(np.arange(40), 20)
    skill = rng.normal(size=40)[unit]
    y = rng.integers(0, 2, 800)
    says = [np.where(rng.random(800) < 1 / (1 + np.exp(-1.5 - 2 * skill)), y, 1 - y) for _ in range(2)]
    one, other = (predictions(y, each, ["no", "yes"], units=unit.astype(str)) for each in says)
    paired = metrics_on_sets(one, other, units_of(unit, unit)).of("balanced_accuracy")
    apart = metrics_on_sets(one, other, units_of(unit, unit + 40)).of("balanced_accuracy")
    assert paired.interval.width < 0.7 * apart.interval.width
    assert paired.interval.holds(0.0)


def test_metrics_of_one_class_are_of_the_named_one():
    y = np.arange(90) % 3
    old = predictions(y, y, ["a", "b", "c"])
    new = predictions(y, np.where(y == 1, 2, y), ["a", "b", "c"])
    plain = metrics_on_sets(old, new, samples_as_units(90, 90))
    assert plain.positive is None
    assert plain.of("recall") is None
    named = metrics_on_sets(old, new, samples_as_units(90, 90), positive="b")
    assert named.of("recall").target.value == 0.0
    [confused] = named.mistakes
    assert (confused.truth, confused.predicted, confused.target.n_predicted, confused.target.n) == ("b", "c", 30, 30)
    with pytest.raises(DataError, match="no class 'x'"):
        metrics_on_sets(old, new, samples_as_units(90, 90), positive="x")
    assert METRICS["log_loss"].highest == (inf, inf)


def test_a_metric_is_added_by_one_entry_and_is_behind_every_door(monkeypatch, tmp_path, capsys):
    """The entry alone: its name is offered by page, command line, check and Python, and its row is in the report."""
    entry = Metric(
        "zero_one_loss",
        "zero-one loss",
        lambda scored, weights: float(
            sklearn_metrics.zero_one_loss(scored.y_true, scored.y_pred, sample_weight=weights)
        ),
        reads_classes=False,
        larger_is_better=False,
    )
    monkeypatch.setitem(METRICS, entry.name, entry)
    rng = np.random.default_rng(0)
    sets = []
    for n, chance in ((400, 0.9), (300, 0.7)):
        y = rng.integers(2, size=n)
        said = np.where(rng.random(n) < chance, y, 1 - y)
        sets.append(predictions(y, said, ["cat", "dog"]))
    assert metrics_given(*sets)[-1] == entry.name  # what the page offers
    assert "zero-one loss" in [asked(MatchingPlan)[0].ask.choices(About())[entry.name]]
    result = compare(*sets, metric=entry.name)
    assert result.verdict.headline.startswith("Zero-one loss rises by")
    assert result.answer.numbers[0].of == ("model", entry.name)
    assert "Zero-one loss" in to_html(Report("?", "", result.answer, "", (), "")).decode()
    files = []
    for name, each in zip(("old", "new"), sets, strict=True):
        files.append(str(tmp_path / f"{name}.csv"))
        names = np.array(each.class_names)
        columns = {"id": each.ids, "truth": names[each.y_true], "predicted": names[each.y_pred]}
        pd.DataFrame(columns).to_csv(files[-1], index=False)
    assert main(["compare", "--reference", files[0], "--target", files[1], "--metric", entry.name]) == 0
    assert "Zero-one loss rises by" in "".join(capsys.readouterr())
    required = ["--require", f"{entry.name}.upper <= .2", "--metric", entry.name]
    assert main(["check", "--predictions", *files, *required]) == 1
    assert "fails" in capsys.readouterr().out


def test_of_a_class_with_few_samples_from_units_nothing_averages_to_an_interval():
    """Means of shares by few units of a small class held the truth in 57 % of sets (docs/measured/metrics.md)."""
    rng, y = np.random.default_rng(1), np.repeat([0, 1], [95, 10])
    scored = Scored(y, np.where(rng.random(105) < 0.8, y, 1 - y), 2)
    assert estimate(METRICS["balanced_accuracy"], scored).interval.known
    by_author = estimate(METRICS["balanced_accuracy"], scored, Design(np.arange(105) % 20, "author"))
    assert not by_author.interval.known
    assert by_author.why_not == "a class has fewer than 20 samples"


@pytest.mark.parametrize("name", ["matthews_corrcoef", "cohen_kappa", "f1_macro", "roc_auc"])
@pytest.mark.parametrize("n", [50, 51, 52, 57, 60])
def test_a_perfect_model_is_not_known_to_be_perfect(name, n):
    """Rounding alone made a standard error over units of 1e-17, and the interval was the point 1."""
    y = np.arange(n) % 2
    scored = Scored(y, y, 2, np.eye(2)[y] * 0.8 + 0.1)
    for design in (Design(), Design(np.arange(n) // 2 % 20, "author")):
        made = estimate(METRICS[name], scored, design)
        assert made.value == pytest.approx(1)
        assert made.interval.lower < 0.9


def test_of_one_class_nothing_averages_over_classes():
    """The balanced accuracy of a set that lacks a class is no estimate of that of sets that have both."""
    scored = Scored(np.zeros(50, dtype=int), np.arange(50) % 5 // 4, 2, np.full((50, 2), 0.5))
    assert estimate(METRICS["accuracy"], scored).interval.known
    for name in ("balanced_accuracy", "matthews_corrcoef", "f1_macro", "precision_macro", "recall_macro"):
        assert estimate(METRICS[name], scored).why_not == "all samples are of one class"


@pytest.mark.parametrize("name", ["brier_score", "log_loss", "d2_brier_score", "d2_log_loss_score"])
@pytest.mark.parametrize("by_author", [False, True])
def test_losses_that_few_samples_make_up_hold_the_truth_of_all_samples(name, by_author):
    """A model that says .999 and errs once in 100: most sets of 120 hold no, one or two errors, and nothing else."""

    def drawn(rng: np.random.Generator, n: int) -> Scored:
        y = rng.integers(2, size=n)
        sure = np.eye(2)[np.where(rng.random(n) < 0.01, 1 - y, y)] * 0.998 + 0.001
        return Scored(y, sure.argmax(axis=1), 2, sure)

    metric, design = METRICS[name], Design(np.arange(120) % 20, "author") if by_author else Design()
    truth = metric.value(drawn(np.random.default_rng(0), 400_000))
    intervals = [estimate(metric, drawn(np.random.default_rng([1, i]), 120), design).interval for i in range(200)]
    assert all(interval.known for interval in intervals)
    assert sum(interval.holds(truth) for interval in intervals) >= 0.93 * 200 - 2 * sqrt(200 * 0.93 * 0.07)


def test_the_most_that_a_sample_can_lose_is_that_of_its_worst_class():
    rng = np.random.default_rng(0)
    proba = np.column_stack([rng.dirichlet(np.ones(3), size=40), np.zeros(40)])  # of the last the model knows nothing
    scored = Scored(rng.integers(3, size=40), proba.argmax(axis=1), 4, proba)
    for name in ("brier_score", "log_loss"):
        of_class = [METRICS[name].of_samples(replace(scored, y_true=np.full(40, label))) for label in range(3)]
        assert METRICS[name].most_of_samples(scored) == pytest.approx(np.max(of_class, axis=0))
