"""Do the intervals hold what they say, where classes are many and folds lack some of them? Simulated, in public."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.evaluate.fold_populations import simulated
from touchstone.core.data import Predictions
from touchstone.core.evaluate.cluster_folds import results
from touchstone.core.evaluate.cluster_folds.performance import WILSON, fold_performance, over_both, predicted_on_sources
from touchstone.core.evaluate.cluster_folds.results import (
    FoldPerformance,
    ScoredBy,
    ScoreEstimate,
    counted,
    pulls_on_mean,
    scores_without,
    standard_error,
)
from touchstone.core.evaluate.cluster_folds.tested import predictions_on_folds
from touchstone.core.evaluate.cluster_folds.verdict import beats_baselines
from touchstone.core.evaluate.intervals import Interval, p_of_interval

HARD = {"randomized": 0.25, "kmeans": 0.35, "sds": 0.3}
"""How often a model errs; folds of "kmeans" have classes of their own, so that each lacks most classes."""
EASY = {scheme: error / 4 for scheme, error in HARD.items()}
METRICS = (
    ScoredBy(),
    ScoredBy("accuracy"),
    ScoredBy("f1", "b"),
    ScoredBy("matthews_corrcoef"),
    ScoredBy("cohen_kappa"),
)


def found(error, rng, metric: ScoredBy | None = None, **options) -> FoldPerformance:
    return fold_performance(simulated(error, concentrated=("kmeans",), rng=rng, **options), metric=metric)


def estimates(performance: FoldPerformance) -> dict[str, ScoreEstimate]:
    """Every number that has an interval, by what it is of."""
    told = {f"mean, {row.scheme}": row.mean for row in performance.schemes}
    told |= {f"{each.scheme} less {each.other}": each.difference for each in performance.differences}
    told |= {
        f"fold {fold.fold}, {fold.scheme} {fold.seed}": fold.score for run in performance.runs for fold in run.folds
    }
    told |= {f"run, {run.scheme} {run.seed}": run.mean for run in performance.runs}
    told |= {f"accuracy, {run.scheme} {run.seed}": run.accuracy for run in performance.runs}
    return told


def coverage(error, n_data_sets: int, **options) -> tuple[dict[str, float], dict[str, float]]:
    """How often intervals hold what data sets of the same size come to on average, and how wide they are.

    The width is in those that would be right, of 1.96 standard deviations of the numbers to either side.
    """
    drawn = [estimates(found(error, np.random.default_rng(seed), **options)) for seed in range(n_data_sets)]
    held, width = {}, {}
    for name in [name for name in drawn[0] if name.startswith("mean") or "less" in name]:
        values = np.array([of[name].value for of in drawn])
        held[name] = float(np.mean([of[name].interval.holds(values.mean()) for of in drawn]))
        width[name] = float(np.mean([of[name].interval.width for of in drawn]) / (2 * 1.96 * values.std()))
    return held, width


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10_000), n=st.integers(5, 80), n_classes=st.integers(2, 30), wrong=st.floats(0.0, 1.0),
    metric=st.sampled_from(METRICS),
)  # fmt: skip
@pytest.mark.evidence
def test_every_interval_holds_its_own_value(seed, n, n_classes, wrong, metric):
    error = {"randomized": wrong, "kmeans": wrong / 2, "group_folds": wrong}
    told = found(error, np.random.default_rng(seed), metric, n=n, n_classes=n_classes, seeds=(0, 1), rare=0.2)
    predicted_held_out = {f"foretold {each.scheme}": each.difference for each in predicted_on_sources(told)}
    for name, of in (estimates(told) | predicted_held_out).items():
        if of.interval.known:
            assert of.interval.lower - 1e-12 <= of.value <= of.interval.upper + 1e-12, name
        else:
            assert np.isnan(of.value), name


@pytest.mark.evidence
@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), error=st.floats(0.0, 0.5), n=st.integers(40, 300))
def test_a_p_value_and_its_interval_say_the_same(seed, error, n):
    for each in found({"randomized": 0.2, "sds": error}, np.random.default_rng(seed), n=n).differences:
        if abs(each.p - 0.05) > 1e-9:
            assert (each.p < 0.05) == (not each.difference.interval.holds(0.0)), each.difference.by


def test_p_of_few_wrong_samples_is_that_of_the_interval_that_is_shown():
    (each,) = found({"randomized": 0.0, "sds": 0.004}, np.random.default_rng(1), n=400).differences
    assert each.difference.by == WILSON
    assert each.p == p_of_interval(each.difference.value, each.difference.interval)
    assert p_of_interval(-0.2, Interval(-0.5, 0.2)) == pytest.approx(2 * stats.norm.sf(1.96 / 2), abs=1e-3)


@pytest.mark.evidence
@given(seed=st.integers(0, 10_000), n=st.integers(4, 40), n_classes=st.integers(2, 8), metric=st.sampled_from(METRICS))
def test_pulls_are_what_leaving_each_sample_out_does(seed, n, n_classes, metric):
    rng = np.random.default_rng(seed)
    y, said, fold = (rng.integers(high, size=n) for high in (n_classes, n_classes, 3))
    names = tuple("abcdefgh"[:n_classes])

    def scores(rows: np.ndarray) -> np.ndarray:
        return metric.score(counted(y[rows], said[rows], fold[rows], 3, n_classes), names)

    counts, rows = counted(y, said, fold, 3, n_classes), np.arange(n)
    without = scores_without(counts, lambda of: metric.score(of, names), fold=fold, y=y, y_pred=said)
    pulls = pulls_on_mean(scores(rows), without, fold)
    for row in rows:
        rest = scores(np.delete(rows, row))
        assert without[row] == pytest.approx(rest[fold[row]], nan_ok=True)
        if not np.isnan(rest).all():
            assert pulls[row] == pytest.approx(np.nanmean(scores(rows)) - np.nanmean(rest))


def test_the_error_of_an_accuracy_is_the_binomial_one():
    said, y = np.repeat([0, 1], [30, 70]), np.ones(100, dtype=int)
    fold, names = np.zeros(100, dtype=int), ("a", "b")
    counts = counted(y, said, fold, 1, 2)
    without = scores_without(counts, lambda of: METRICS[1].score(of, names), fold=fold, y=y, y_pred=said)
    se = standard_error(pulls_on_mean(np.array([0.7]), without, fold), np.ones(100, dtype=bool))
    assert se == pytest.approx((0.3 * 0.7 / 99) ** 0.5)


def test_more_folds_and_classes_take_more_time_but_no_more_room(monkeypatch):
    rng = np.random.default_rng(0)
    y, said, fold = rng.integers(400, size=20_000), rng.integers(400, size=20_000), rng.integers(50, size=20_000)
    names, counts = tuple(map(str, range(400))), counted(y, said, fold, 50, 400)

    def without() -> np.ndarray:
        return scores_without(counts, lambda of: ScoredBy().score(of, names), fold=fold, y=y, y_pred=said)

    tracemalloc.start()
    found = without()
    assert tracemalloc.get_traced_memory()[1] < 60e6
    tracemalloc.stop()
    monkeypatch.setattr(results, "_AT_ONCE", 2_000_000)
    assert np.array_equal(found, without())


@pytest.mark.parametrize(
    ("error", "options", "widest"),
    [
        pytest.param(0.25, {"n": 150, "n_classes": 4}, 1.3, id="many wrong"),
        pytest.param(0.25, {"n": 300, "n_classes": 2, "rare": 0.2}, 1.3, id="a rare class"),
        pytest.param(0.02, {"n": 178, "n_classes": 3}, 2.3, id="few wrong"),
    ],
)
def test_intervals_of_a_correlation_hold_it(error, options, widest):
    n_sets, metric = 100, ScoredBy("matthews_corrcoef")
    held, width = coverage({"randomized": error, "sds": 1.2 * error}, n_sets, metric=metric, **options)
    assert len(held) == 3
    assert min(held.values()) >= 0.93 - 2 * (0.93 * 0.07 / n_sets) ** 0.5, held
    assert max(width.values()) <= widest, width


@pytest.mark.parametrize("metric", ["f1_macro", "balanced_accuracy", "precision_macro"])
@pytest.mark.parametrize("answers", [0.01, 0.05, 0.5])
def test_a_model_that_answers_by_lot_is_as_good_as_its_score(metric, answers):
    """One sample in twenty is of the rarer class: hardly any right one of it is there to tell what others would do."""
    n_sets, scores = 60, []
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        y, y_pred, fold = rng.random(500) < 0.05, rng.random(500) < answers, rng.permutation(500) % 5
        ids, groups = [str(row) for row in range(500)], {"fold": fold.astype(str).tolist()}
        said = Predictions(ids, y * 1, y_pred * 1, ["usual", "rare"], groups=groups)
        scores += fold_performance(predictions_on_folds({"lot": said}), metric=ScoredBy(metric)).schemes
    truth = np.mean([score.mean.value for score in scores])
    held = np.mean([score.mean.interval.holds(truth) for score in scores])
    below = np.mean([score.beyond_guesses.interval.upper < 0 for score in scores])
    assert held >= 0.93 - 2 * (0.93 * 0.07 / n_sets) ** 0.5
    assert below <= 0.05 or (metric == "f1_macro" and answers == 0.5)  # which is worse than saying "usual" throughout


@pytest.mark.evidence
def test_folds_that_lack_classes_are_covered_too():
    held, _ = coverage(HARD, 60, n=400, n_classes=20)
    assert min(held.values()) >= 0.88, held


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("error", "options"),
    [
        pytest.param(HARD, {"n": 1000, "n_classes": 20}, id="20 classes"),
        pytest.param(HARD, {"n": 500, "n_classes": 50}, id="50 classes, 2 samples of each in a fold"),
        pytest.param(HARD, {"n": 1000, "n_classes": 50, "rare": 0.1}, id="50 classes, some rare"),
        pytest.param(EASY, {"n": 2000, "n_classes": 50, "rare": 0.1}, id="50 classes, accurate model"),
        pytest.param(EASY, {"n": 200, "n_classes": 20, "rare": 0.3}, id="20 classes, few samples wrong"),
    ],
)
def test_coverage_of_macro_f1_over_many_classes(error, options, capsys):
    held, width = coverage(error, 200, **options)
    with capsys.disabled():
        print(f"\n{options}")
        for name in held:
            print(f"  {name:28} {100 * held[name]:5.1f} %, {width[name]:.2f} times as wide as needed")
    assert len(held) == 6
    for name in held:
        assert 0.92 <= held[name] <= 0.995, name
        assert 0.95 <= width[name] <= 1.5, name


@pytest.mark.parametrize("n_folds", [5, 10])
def test_a_coin_does_not_beat_guessing_where_folds_are_dealt_by_lot(n_folds):
    """Of two classes alike in number, the more frequent one in training is the rarer one in the test part."""
    rng, n_above = np.random.default_rng(7), 0
    for _ in range(150):
        y, guessed = rng.permutation(100) % 2, rng.integers(2, size=100)
        fold = (rng.permutation(100) % n_folds).astype(str)
        coin = Predictions([str(row) for row in range(100)], y, guessed, ["a", "b"], groups={"fold": fold.tolist()})
        [row] = fold_performance(predictions_on_folds({"coin": coin}), metric=ScoredBy("accuracy")).schemes
        n_above += beats_baselines(row).decision == "above"
    assert n_above <= stats.binom.isf(0.001, 150, 0.05)


def test_p_values_over_samples_and_seeds_are_honest_in_the_tails_that_corrections_read():
    """Three seeds: their mean has two degrees of freedom, whatever the samples have."""
    rng, levels = np.random.default_rng(8), np.array([0.05, 0.05 / 3, 0.05 / 9])
    p_values = []
    for _ in range(2000):
        seeds = rng.normal(0, 0.05, 3)
        value = seeds.mean() + rng.normal(0, 0.005)
        over_samples = Interval(value - 1.96 * 0.005, value + 1.96 * 0.005)
        interval, p = over_both(value, over_samples, seeds)
        assert (p < 0.05) == (not interval.holds(0.0))
        p_values.append(p)
    n_wrong = (np.array(p_values)[:, None] < levels).sum(axis=0)
    assert (n_wrong <= stats.binom.isf(0.001, 2000, levels)).all()
    assert (n_wrong >= stats.binom.ppf(0.001, 2000, 0.6 * levels)).all()


def test_without_seeds_that_differ_it_is_the_interval_over_samples():
    over_samples = Interval(0.01, 0.05)
    interval, p = over_both(0.03, over_samples, np.full(3, 0.03))
    assert (interval.lower, interval.upper) == pytest.approx((0.01, 0.05))
    assert p == pytest.approx(p_of_interval(0.03, over_samples), rel=1e-6)
    assert over_both(0.0, Interval(-0.1, 0.1), np.array([-0.1, 0.0, 0.1]))[1] == 1.0
    assert over_both(0.0, Interval(0.0, 0.0), np.zeros(3)) == (Interval(0.0, 0.0), 1.0), "the same predictions twice"
