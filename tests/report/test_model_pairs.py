"""Two models are told apart where one is better, seldom where none is; pairing uses what both know."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.evaluate.average_case_rows import rows_of
from touchstone.core.data import load_example
from touchstone.core.data.predictions.record import Predictions
from touchstone.core.evaluate.average_case.robustness import evaluate_robustness
from touchstone.core.evaluate.data_set_adequacy.plan import AdequacyPlan
from touchstone.core.report.model_pairs import (
    FEWEST,
    OnTwoSets,
    on_files,
    on_folds,
    on_sizes,
    on_sources,
    pairs_lines,
    pairs_table,
    pairs_verdict,
    under_noise,
)
from touchstone.core.trials import Context, TrialPlan

N_WORLDS = 400


def test_learning_curves_are_compared_at_the_largest_size_that_held_sources_out():
    wine, plan = load_example("wine"), AdequacyPlan(("logistic", "nearest_neighbours"), n_repeats=10, sizes=(60, 0))
    trials = pd.concat(
        (plan.run_trial(wine, trial, context=Context()) for trial in range(plan.n_trials(wine))), ignore_index=True
    )
    [pair] = on_sizes(trials)
    usual = TrialPlan(plan.models, n_repeats=10)
    [same] = on_sources(
        pd.concat(usual.run_trial(wine, trial, context=Context()) for trial in range(usual.n_trials(wine)))
    )
    assert pair.what == "rho, held-out clusters, all training samples"
    assert (pair.values, pair.claim.interval, pair.n) == (same.values, same.claim.interval, same.n)
    smaller = on_sizes(trials[(trials["size"] == 60) | (trials["scheme"] == "source_inclusive")])
    assert [each.what for each in smaller] == ["rho, held-out clusters, 60 training samples"]
    assert on_sizes(trials[trials["scheme"] == "source_inclusive"]) == ()


def folds(
    n: int, rng: np.random.Generator, *, only_first: float, only_second: float
) -> tuple[pd.DataFrame, np.ndarray]:
    """Two models that disagree on so many samples of a hundred percent, either way."""
    y, fate, fold = np.zeros(n, dtype=int), rng.random(n), np.arange(n) % 10
    first = (fate < only_second).astype(int)
    second = ((fate >= only_second) & (fate < only_second + only_first)).astype(int)
    rows = [
        pd.DataFrame(
            {"scheme": "random_folds", "seed": 0, "model": name, "fold": fold, "row": np.arange(n), "y_pred": y_pred}
        )
        for name, y_pred in (("svm", first), ("logistic", second))
    ]
    return pd.concat(rows, ignore_index=True), y


@pytest.mark.parametrize(("n", "disagree"), [(30, 0.05), (200, 0.05), (200, 0.3), (1000, 0.01)])
def test_equal_models_are_seldom_told_apart(n, disagree):
    rng = np.random.default_rng(0)
    worlds = [on_folds(*folds(n, rng, only_first=disagree, only_second=disagree)) for _ in range(N_WORLDS)]
    n_wrong = sum(each.better is not None for [each] in worlds)
    assert n_wrong / N_WORLDS <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / N_WORLDS)


def test_a_better_model_is_found_about_as_often_as_by_mcnemar():
    rng, n_found, n_mcnemar = np.random.default_rng(1), 0, 0
    for _ in range(N_WORLDS):
        rows, y = folds(300, rng, only_first=0.08, only_second=0.02)
        [each] = on_folds(rows, y)
        wrong = [of["y_pred"].to_numpy() != 0 for _, of in rows.groupby("model", sort=False)]
        both = [int((wrong[1] & ~wrong[0]).sum()), int((wrong[0] & ~wrong[1]).sum())]
        n_found += each.better == "SVM"
        n_mcnemar += stats.binomtest(both[0], sum(both)).pvalue < 0.05
    assert n_found >= 0.95 * n_mcnemar
    assert n_mcnemar > 0.8 * N_WORLDS


def test_the_interval_holds_the_true_difference():
    rng, n_held = np.random.default_rng(2), 0
    for _ in range(N_WORLDS):
        [each] = on_folds(*folds(150, rng, only_first=0.1, only_second=0.04))
        n_held += each.claim.interval.holds(0.06)
    assert n_held / N_WORLDS >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / N_WORLDS)


def test_pairs_use_the_samples_that_both_know():
    rows, y = folds(100, np.random.default_rng(3), only_first=0.2, only_second=0.0)
    half = rows[(rows["model"] == "svm") | (rows["row"] < 50)]
    [each] = on_folds(half, y)
    assert each.n == 50
    few = rows[(rows["model"] == "svm") | (rows["row"] < FEWEST - 1)]
    assert on_folds(few, y) == ()


def test_models_under_noise_are_paired_by_sample_and_corrected():
    rng, y = np.random.default_rng(4), np.repeat([0, 1, 2], 40)
    p = rng.uniform(0.5, 0.8, len(y))
    runs = {"weak": p, "strong": np.minimum(p + rng.uniform(0.05, 0.15, len(y)), 1)}
    known = {name: evaluate_robustness(rows_of(of, y), class_names=("a", "b", "c")) for name, of in runs.items()}
    pairs = under_noise(known)
    kept = next(each for each in pairs if each.what.startswith("p_robust"))
    assert kept.better == "strong"
    assert kept.claim.estimate == pytest.approx(float((runs["weak"] - runs["strong"]).mean()))
    own = stats.ttest_rel(runs["weak"], runs["strong"]).confidence_interval()
    assert kept.claim.interval.lower == pytest.approx(own.low, abs=0.02)
    assert next(each for each in pairs if each.what == "accuracy").better is None
    said = pairs_verdict(pairs)
    assert said.headline.startswith("strong beats weak by .")
    assert "−" not in said.headline


def test_equal_predictions_are_undecided_where_few_and_the_same_where_many():
    few, many = (on_folds(*folds(n, np.random.default_rng(5), only_first=0.0, only_second=0.0)) for n in (30, 3000))
    assert [few[0].claim.decision, many[0].claim.decision] == ["undecided", "small"]
    assert pairs_lines(many)["Better"][0] == "about the same"
    assert pairs_lines(few)["Better"][0].endswith("× the data")
    assert pairs_table(few)["n"].tolist() == [30]
    assert pairs_verdict(few).headline == "No model is significantly better than another."


def predicted(n: int, share_wrong: float, rng: np.random.Generator, prefix: str = "s") -> Predictions:
    wrong = (rng.random(n) < share_wrong).astype(int)
    return Predictions([f"{prefix}{row}" for row in range(n)], np.zeros(n, dtype=int), wrong, ["a", "b"])


def test_models_of_files_are_paired_on_the_samples_that_both_predict():
    rng = np.random.default_rng(5)
    sets = [
        OnTwoSets(name, predicted(400, wrong, rng), predicted(300, wrong + more, rng, "t"), ("old", "new"))
        for name, wrong, more in (("svm", 0.05, 0.0), ("mlp", 0.05, 0.4))
    ]
    by_what = {each.what: each for each in on_files(sets)}
    assert by_what["accuracy, old"].better is None
    assert by_what["accuracy, new"].better == "svm"
    change = by_what["accuracy on new less that on old"]
    assert (change.better, change.n) == ("svm", 700)
    kept = [of.target.accuracy - of.reference.accuracy for of in sets]
    assert change.claim.estimate == pytest.approx(kept[0] - kept[1])


def test_of_few_units_nothing_is_claimed():
    rng = np.random.default_rng(5)
    of_two = {"unit": np.repeat(["ann", "bob"], 100).tolist()}
    sets = []
    for name, wrong in (("svm", 0.05), ("mlp", 0.4)):
        sides = (predicted(200, wrong, rng), predicted(200, wrong, rng, "t"))
        old, new = (Predictions(of.ids, of.y_true, of.y_pred, of.class_names, groups=of_two) for of in sides)
        sets.append(OnTwoSets(name, old, new, ("old", "new")))
    assert on_files(sets) == ()


def test_files_that_only_count_their_rows_are_not_paired():
    rng = np.random.default_rng(6)
    other = predicted(300, 0.2, rng)
    swapped = Predictions(other.ids, 1 - other.y_true, other.y_pred, other.class_names)
    sets = [OnTwoSets(name, of, of, (name, name)) for name, of in (("x", predicted(300, 0.1, rng)), ("y", swapped))]
    assert on_files(sets) == ()


@pytest.mark.evidence
def test_equal_models_of_files_seldom_change_differently():
    rng, n_wrong = np.random.default_rng(7), 0
    for _ in range(N_WORLDS):
        sets = [OnTwoSets(n, predicted(150, 0.1, rng), predicted(80, 0.2, rng, "t"), ("o", "n")) for n in "ab"]
        n_wrong += any(each.better for each in on_files(sets))
    assert n_wrong / N_WORLDS <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / N_WORLDS)


def test_under_noise_what_was_counted_is_compared_not_the_estimate():
    p, y = np.full(60, 0.9), np.zeros(60, dtype=int)
    counted = {name: rows_of(share, y).assign(part="counted") for name, share in (("a", p), ("b", p - 0.5))}
    runs = {
        name: evaluate_robustness(pd.concat([rows_of(p, y), rows]), class_names=("x", "y"))
        for name, rows in counted.items()
    }
    by_what = {each.what: each for each in under_noise(runs)}
    [noise] = [each for what, each in by_what.items() if what.startswith("p_robust")]
    assert noise.values == pytest.approx((0.9, 0.4))
    assert noise.better == "a"
