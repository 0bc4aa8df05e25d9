"""Scores of folds are scikit-learn's; intervals hold what they should; schemes are compared row by row."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import (
    accuracy_score,
    cohen_kappa_score,
    f1_score,
    jaccard_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
)

from tests.evaluate.fold_populations import frame, simulated
from touchstone.core.data import DataError, Predictions, load_example
from touchstone.core.evaluate.cluster_folds.performance import fold_performance, predicted_on, predicted_on_sources
from touchstone.core.evaluate.cluster_folds.results import ScoredBy, class_intervals, counted
from touchstone.core.evaluate.cluster_folds.tested import FoldPredictions, predictions_on_folds, rows_of_run
from touchstone.core.evaluate.cluster_folds.verdict import fold_verdict
from touchstone.core.evaluate.intervals import Interval, wilson
from touchstone.core.evaluate.metric_functions import Counts
from touchstone.core.evaluate.metrics import METRICS, metrics_of_counts
from touchstone.core.report.cluster_folds import numbers
from touchstone.core.trials import Context, FoldPlan

SCORES = {
    ScoredBy("f1_macro"): lambda y, said: f1_score(y, said, average="macro"),
    ScoredBy("accuracy"): accuracy_score,
    ScoredBy("f1", "b"): lambda y, said: f1_score(y, said, labels=[1], average="macro", zero_division=np.nan),
    ScoredBy("recall", "b"): lambda y, said: recall_score(y, said, labels=[1], average="macro", zero_division=np.nan),
    ScoredBy("f1_weighted"): lambda y, said: f1_score(y, said, average="weighted", zero_division=0.0),
    ScoredBy("precision_macro"): lambda y, said: precision_score(y, said, average="macro", zero_division=0.0),
    ScoredBy("jaccard_weighted"): lambda y, said: jaccard_score(y, said, average="weighted", zero_division=0.0),
    ScoredBy("matthews_corrcoef"): matthews_corrcoef,
    ScoredBy("cohen_kappa"): cohen_kappa_score,
}


def scored(folded: FoldPredictions, metric: ScoredBy | None = None, **options):
    return fold_performance(folded, metric=metric, **options)


@pytest.mark.filterwarnings("ignore:A single label was found", "ignore::sklearn.exceptions.UndefinedMetricWarning")
@given(seed=st.integers(0, 10_000), n=st.integers(4, 60), n_classes=st.integers(2, 5))
def test_scores_of_a_fold_are_scikit_learns(seed, n, n_classes):
    rng = np.random.default_rng(seed)
    y, said, fold = rng.integers(n_classes, size=n), rng.integers(n_classes, size=n), rng.integers(2, size=n)
    counts = counted(y, said, fold, 2, n_classes)
    names = tuple("abcde"[:n_classes])
    for metric, score in SCORES.items():
        for each in (0, 1):
            of = fold == each
            found = metric.score(counts, names)[each]
            if not of.any():
                assert np.isnan(found)
            else:
                assert found == pytest.approx(score(y[of], said[of]), nan_ok=True)


@pytest.mark.parametrize("metric", [ScoredBy(name) for name in metrics_of_counts() if not METRICS[name].of_class])
def test_folds_are_scored_by_any_metric_of_counts(metric):
    folded = simulated({"random_folds": 0.1, "sds_folds": 0.3}, seeds=(0, 1))
    found = scored(folded, metric)
    for row in found.schemes:
        assert metric.lowest <= row.mean.interval.lower <= row.mean.value <= row.mean.interval.upper <= 1
    assert {each.decision for each in fold_verdict(found, scheme="sds_folds").claims} >= {"above"}
    names = {each.name for each in numbers(folded, found) if each.of[-1] == metric.name}
    assert names == {"cluster_folds.metric"}


@pytest.mark.parametrize("name", ["roc_auc", "positive_likelihood_ratio"])
def test_a_score_that_counts_do_not_give_or_that_has_no_end_is_refused(name):
    with pytest.raises(DataError, match=f"There is no score '{name}'"):
        ScoredBy(name, "b")


@pytest.mark.parametrize("name", ["matthews_corrcoef", "cohen_kappa"])
@pytest.mark.parametrize(("n", "rare", "often"), [(200, 0.5, 0.5), (200, 0.1, 0.1), (500, 0.05, 0.02), (100, 0.1, 0.0)])
def test_a_correlation_of_a_model_that_learned_nothing_has_an_interval_that_holds_0(name, n, rare, often):
    """Its truth is 0 whatever the shares of classes; few samples of the rarer one make nearly all of it."""
    rng, n_held, n_sets = np.random.default_rng(3), 0, 100
    for _ in range(n_sets):
        y, said = ((rng.random(n) < share).astype(int) for share in (rare, often))
        folds = {"fold": (rng.permutation(n) % 5).astype(str).tolist()}
        one = Predictions(list(map(str, range(n))), y, said, ["a", "b"], groups=folds)
        [row] = scored(predictions_on_folds({"mine": one}), ScoredBy(name)).schemes
        assert -1 <= row.mean.interval.lower <= row.mean.value <= row.mean.interval.upper <= 1
        assert -2 <= row.beyond_guesses.interval.lower <= row.beyond_guesses.interval.upper <= 2
        n_held += row.mean.interval.holds(0.0)
    assert n_held >= stats.binom.ppf(0.001, n_sets, 0.95)


def test_a_correlation_can_fall_by_more_than_1_and_no_farther_than_its_range():
    found = scored(simulated({"random_folds": 0.02, "sds_folds": 0.99}, n_classes=2), ScoredBy("matthews_corrcoef"))
    (told,) = found.differences
    assert told.difference.value < -1.9
    assert -2 <= told.difference.interval.lower <= told.difference.value <= told.difference.interval.upper
    assert found.of("sds_folds", "model").mean.interval.lower >= -1


def test_runs_hold_what_an_obvious_loop_finds():
    folded = simulated({"random_folds": 0.1, "sds_folds": 0.3}, seeds=(0, 1), models=("one", "two"))
    found = scored(folded)
    assert len(found.runs) == 2 * 2 * 2
    rows = folded.rows
    for run in found.runs:
        mine = rows[(rows["scheme"] == run.scheme) & (rows["seed"] == run.seed) & (rows["model"] == run.model)]
        values = []
        for fold in run.folds:
            of_fold = mine[mine["fold"] == fold.fold]
            truth, said = folded.y[of_fold["row"].to_numpy(dtype=int)], of_fold["y_pred"].to_numpy(dtype=int)
            values.append(f1_score(truth, said, average="macro"))
            assert fold.score.value == pytest.approx(values[-1])
            assert fold.accuracy.value == pytest.approx((truth == said).mean())
            assert (fold.n, fold.n_train) == (len(of_fold), 600 - len(of_fold))
            by_class = f1_score(truth, said, average=None)
            assert [f1.value for f1 in fold.classes] == pytest.approx(by_class.tolist())
        assert run.mean.value == pytest.approx(np.mean(values))
        assert run.std == pytest.approx(np.std(values, ddof=0))
        assert run.whole


def test_nulls_are_the_majority_class_and_guessing_of_what_was_trained_on():
    folded = simulated({"random_folds": 0.1}, n_classes=2, n=200)
    y = folded.y.copy()
    y[:150] = 0
    (run,) = scored(replace(folded, y=y), ScoredBy("accuracy")).runs
    folds = folded.folds("random_folds", 0)
    for fold in run.folds:
        test, train = y[folds == fold.fold], y[folds != fold.fold]
        assert fold.majority == fold.majority_accuracy == pytest.approx((test == 0).mean())
        share = np.bincount(train) / len(train)
        assert fold.chance == pytest.approx(sum(share[label] * (test == label).mean() for label in (0, 1)))


def test_differences_are_paired_and_average_over_seeds():
    folded = simulated({"random_folds": 0.1, "sds_folds": 0.3}, seeds=(0, 1, 2), shared=1.0)
    found = scored(folded, ScoredBy("accuracy"))
    (told,) = found.differences
    assert (told.scheme, told.other) == ("sds_folds", "random_folds")
    means = {scheme: [run.mean.value for run in found.runs_of(scheme, "model")] for scheme in folded.schemes}
    assert told.difference.value == pytest.approx(np.mean(means["sds_folds"]) - np.mean(means["random_folds"]))
    assert [value for _, value in told.per_seed] == pytest.approx(
        np.subtract(means["sds_folds"], means["random_folds"]).tolist()
    )
    assert told.p_holm < 0.05
    # The same rows are wrong in both schemes: rows tell the difference far more closely than two samples would.
    one, other = found.of("sds_folds", "model"), found.of("random_folds", "model")
    unpaired = np.hypot(one.mean.interval.width, other.mean.interval.width)
    assert told.difference.interval.width < 0.9 * unpaired


def test_the_baseline_is_a_random_scheme_wherever_it_stands_or_what_one_says():
    folded = simulated({"sds_folds": 0.2, "mine": 0.2, "randomized": 0.1})
    assert [each.other for each in scored(folded).differences] == ["randomized", "randomized", "sds_folds"]
    assert scored(folded, baseline="mine").differences[0].other == "mine"


@pytest.mark.evidence
def test_schemes_without_a_difference_are_seldom_significantly_different():
    told = [
        scored(simulated({"random_folds": 0.2, "sds_folds": 0.2}, n=300, rng=np.random.default_rng(seed))).differences[
            0
        ]
        for seed in range(25)
    ]
    assert sum(each.p_holm < 0.05 for each in told) <= 4
    assert sum(each.difference.interval.holds(0.0) for each in told) >= 21


def test_an_interval_speaks_about_samples_so_that_seeds_do_not_shrink_it_to_nothing():
    one, many = (simulated({"sds_folds": 0.3}, seeds=range(n), shared=1.0) for n in (1, 8))
    widths = [scored(folded, ScoredBy("accuracy")).schemes[0].mean.interval.width for folded in (one, many)]
    assert widths[1] > 0.8 * widths[0]


def test_where_nothing_is_wrong_an_interval_is_wilsons():
    folded = simulated({"sds_folds": 0.0}, n=100)
    (run,) = scored(folded, ScoredBy("accuracy")).runs
    for fold in run.folds:
        assert (fold.score.value, fold.score.by) == (1.0, "wilson")
        assert fold.score.interval == wilson(20.0, 20.0)
    assert run.mean.interval.upper == 1.0
    assert run.mean.interval.lower < 1.0
    macro = scored(folded).runs[0].folds[0].score.interval
    assert macro.lower < 0.97


@given(right=st.integers(0, 40), missed=st.integers(0, 40), wrong=st.integers(0, 40))
def test_the_interval_of_a_class_holds_its_f1(right, missed, wrong):
    if right + missed + wrong == 0:
        return
    counts = Counts(*np.array([[right], [right + missed], [right + wrong]]))
    (found,) = class_intervals(counts, METRICS["f1"])
    assert found.lower <= 2 * right / (2 * right + missed + wrong) + 1e-12
    assert 2 * right / (2 * right + missed + wrong) - 1e-12 <= found.upper
    assert found.lower >= 0
    assert found.upper <= 1 + 1e-12


def test_unfinished_runs_stand_with_what_they_have_and_are_not_compared():
    folded = simulated({"random_folds": 0.1, "sds_folds": 0.3})
    tested = folded.rows["model"].notna() & (folded.rows["scheme"] == "sds_folds") & (folded.rows["fold"] > 2)
    lost = frame("sds_folds", 0, "model", [4], [pd.NA], [pd.NA], status="failed")
    partial = replace(folded, rows=pd.concat([folded.rows[~tested], lost], ignore_index=True))
    found = scored(partial)
    half = found.runs_of("sds_folds", "model")[0]
    assert ([fold.fold for fold in half.folds], half.n_folds_wanted, half.whole) == ([0, 1, 2], 5, False)
    assert [row.scheme for row in found.schemes] == ["random_folds"]
    assert found.differences == ()
    assert found.n_failed == 1


def test_no_rows_at_all_are_no_error():
    wine = load_example("wine")
    found = scored(rows_of_run(pd.DataFrame(), wine))
    assert found.runs == found.schemes == found.differences == ()
    assert len(found.table()) == len(found.summary()) == len(found.difference_table()) == 0


def test_tables_have_a_row_for_each_fold_class_run_and_pair():
    found = scored(simulated({"random_folds": 0.1, "sds_folds": 0.3}, seeds=(0, 1)))
    assert len(found.table()) == 2 * 2 * 5
    assert found.table()["fold"].tolist()[:5] == [1, 2, 3, 4, 5]
    assert len(found.class_table()) == 2 * 2 * 3
    assert len(found.summary()) == 2 * 2
    assert len(found.difference_table()) == 1
    assert {"f1_a", "f1_b", "f1_c", "score_lower", "score_upper"} <= set(found.table().columns)


def test_a_class_that_is_not_there_is_named():
    with pytest.raises(DataError, match=r"no class 'z'.*a, b, c"):
        scored(simulated({"sds_folds": 0.1}), ScoredBy("f1", "z"))


def test_a_single_split_tests_once_and_is_compared_over_the_rows_it_tests():
    wine = load_example("wine")
    plan = FoldPlan(schemes=("random_folds", "max_shift"))
    rows = pd.concat([plan.run_trial(wine, i, context=Context()) for i in range(plan.n_trials(wine))])
    found = scored(rows_of_run(rows, wine))
    (run,) = found.runs_of("max_shift", "logistic")
    n_test = int((plan.folds(wine, "max_shift", 0) >= 0).sum())
    assert (len(run.folds), run.std, run.folds[0].n, run.folds[0].n_train) == (1, 0.0, n_test, 178 - n_test)
    assert found.differences[0].difference.n == n_test


def test_a_held_out_set_is_foretold_or_not():
    folded = simulated({"random_folds": 0.05, "sds_folds": 0.3}, n=1500)
    rng = np.random.default_rng(5)
    y = rng.integers(3, size=1000)
    new = Predictions(
        [f"new {row}" for row in range(1000)], y, np.where(rng.random(1000) < 0.7, y, (y + 1) % 3), ("a", "b", "c")
    )
    told = {each.scheme: each for each in predicted_on(scored(folded), {"model": new}, name="the new set")}
    assert told["random_folds"].difference.interval.lower > 0.15
    assert told["sds_folds"].difference.interval.holds(0.0)
    assert told["sds_folds"].held_out_score == pytest.approx(f1_score(y, new.y_pred, average="macro"))


def test_a_data_sets_own_sources_are_a_held_out_set():
    folded = simulated({"group_folds": 0.3, "sds_folds": 0.3, "random_folds": 0.1})
    found = scored(folded)
    told = {each.scheme: each for each in predicted_on_sources(found)}
    assert set(told) == {"sds_folds", "random_folds"}
    for scheme, each in told.items():
        assert each.held_out == "group_folds"
        assert each.paired
        assert each.difference.value == pytest.approx(found.of(scheme, "model").mean.value - each.held_out_score)
        assert each.difference.interval.holds(each.difference.value)
    assert told["random_folds"].difference.interval.lower > 0
    assert predicted_on_sources(scored(simulated({"sds_folds": 0.2, "random_folds": 0.1}))) == ()


def lacking(n: int = 300) -> FoldPredictions:
    """Three folds of which the last neither has a "dog" nor was one said there, in a scheme and in a random one."""
    rng, fold = np.random.default_rng(0), np.repeat([0, 1, 2], n // 3)
    y = ((fold < 2) & (rng.random(n) < 0.4)).astype(np.int64)
    said = np.where((rng.random(n) < 0.2) & (fold < 2), 1 - y, y)
    folds = {"kmeans": fold, "randomized": rng.permutation(fold)}
    ids = [f"id {row}" for row in range(n)]
    return predictions_on_folds({
        scheme: Predictions(ids, y, said, ["cat", "dog"], groups={"fold": (of + 1).astype(str)})
        for scheme, of in folds.items()
    })  # fmt: skip


def test_a_fold_whose_f1_is_not_defined_is_no_part_of_the_mean_and_that_is_said():
    found = scored(lacking(), ScoredBy("f1", "dog"))
    (run,) = found.runs_of("kmeans", "Uploaded model")
    values = [fold.score.value for fold in run.folds]
    assert np.isnan(values[2])
    assert run.folds_defined == run.folds[:2]
    assert run.mean.value == pytest.approx(np.mean(values[:2]))
    assert run.std == pytest.approx(np.std(values[:2]))
    assert run.mean.interval.holds(run.mean.value)
    assert not np.isnan([run.majority, run.chance]).any()
    (told,) = found.differences
    assert told.difference.interval.holds(told.difference.value)
    verdict = fold_verdict(found)
    assert "The F1 of dog is defined on 2 of 3 folds, and the mean is over these" in verdict.used
    assert "nan" not in verdict.text
    assert "not known yet" not in verdict.text


def test_a_score_that_is_defined_on_no_fold_claims_nothing():
    folded = lacking()
    nowhere = replace(folded, class_names=("cat", "dog", "eel"))
    found = scored(nowhere, ScoredBy("f1", "eel"))
    assert all(np.isnan(row.mean.value) and not row.mean.interval.known for row in found.schemes)
    verdict = fold_verdict(found)
    assert verdict.headline.endswith(
        "is not defined on K-means folds, where the class neither occurs nor is predicted."
    )
    by_recall = fold_verdict(scored(nowhere, ScoredBy("recall", "eel"))).headline
    assert by_recall.endswith("of eel is not defined on K-means folds, where the class does not occur.")
    assert not any(word in verdict.text for word in ("harder", "easier", "difference", "nan"))


def test_a_correlation_of_a_fold_of_one_class_is_0_and_may_be_anything():
    (run,) = scored(lacking(), ScoredBy("matthews_corrcoef")).runs_of("kmeans", "Uploaded model")
    assert (run.folds[2].score.value, run.folds[2].score.interval) == (0.0, Interval(-1.0, 1.0))
    assert all(fold.score.interval.lower > 0 for fold in run.folds[:2])


def test_kappa_is_not_defined_where_all_are_of_one_class_and_called_so():
    found, nan = scored(lacking(), ScoredBy("cohen_kappa")), float("nan")
    (run,) = found.runs_of("kmeans", "Uploaded model")
    assert not run.folds[2].score.interval.known
    assert run.mean.value == pytest.approx(np.mean([fold.score.value for fold in run.folds[:2]]))
    verdict = fold_verdict(found)
    assert (
        "Cohen's kappa is defined on 2 of 3 folds, and the mean is over these. In the others one class" in verdict.used
    )
    nowhere = replace(found.schemes[1], mean=replace(found.schemes[1].mean, value=nan))
    verdict = fold_verdict(replace(found, schemes=(found.schemes[0], nowhere)))
    assert (
        "Cohen's kappa is not defined on K-means folds, where one class occurs, and nothing else is predicted."
        in verdict.headline
    )
    assert verdict.advice == "Next: choose another score."


def test_nothing_is_said_of_null_models_where_the_training_part_is_not_known():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    said = np.where(rng.random(300) < 0.52, y, 1 - y)
    one = Predictions([f"id {row}" for row in range(300)], y, said, ["cat", "dog"], groups={"fold": ["1"] * 300})
    found = scored(predictions_on_folds({"max_shift": one}), ScoredBy("accuracy"))
    (fold,) = found.runs[0].folds
    assert fold.n_train is None
    assert np.isnan([fold.majority, fold.chance, found.runs[0].majority, found.schemes[0].chance]).all()
    assert not any(word in fold_verdict(found).text for word in ("learned nothing", "majority-class", "guessing"))
