"""What is known of samples stands in their rows, and rank correlations hold with ties, classes and missing values."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.evaluate.average_case_rows import rows_of
from touchstone.core.data import Dataset, load_example
from touchstone.core.evaluate.average_case.robustness import evaluate_robustness
from touchstone.core.evaluate.cluster_folds.tested import rows_of_run
from touchstone.core.evaluate.data_sets import NearCopies
from touchstone.core.evaluate.overview import (
    FEWEST_COMPARED,
    agreement,
    agreement_by_class,
    agreement_table,
    held_out_by,
    in_words,
    interval_of,
    known_of_samples,
    measures,
)
from touchstone.core.trials.fold_plan import FoldTrial, frame_of_folds


@pytest.fixture(scope="module")
def wine():
    return load_example("wine")


def table(n: int, rng: np.random.Generator, **measures) -> pd.DataFrame:
    return pd.DataFrame({"id": range(n), "label": rng.integers(0, 3, n).astype(str), **measures})


def test_each_measure_stands_in_the_row_of_its_sample(wine):
    rows, wrong = np.arange(0, wine.n_samples, 2), 4
    trials = []
    for seed, miss in ((0, ()), (1, (wrong,))):
        y_pred = np.where(np.isin(rows, miss), (wine.y[rows] + 1) % 3, wine.y[rows])
        trial = FoldTrial("random_folds", seed, "svm", 0)
        known = {"schemes": ["random_folds"], "models": ["svm"], "row": rows, "fold": np.zeros(len(rows), int)}
        trials.append(frame_of_folds(trial, y_pred=y_pred, n_train=9, **known))
    folds = rows_of_run(pd.concat(trials, ignore_index=True), wine)
    p_robust = np.linspace(0.2, 1, wine.n_samples)
    found = evaluate_robustness(rows_of(p_robust, wine.y), class_names=wine.class_names)
    known = known_of_samples(wine, folds=folds, robustness=found)
    assert known["label"].tolist() == [wine.class_names[code] for code in wine.y]
    share = known["correct on Random folds"]
    assert share[wrong] == 0.5
    assert share[rows].drop(wrong).eq(1).all()
    assert share.drop(rows).isna().all()
    np.testing.assert_allclose(known["p_robust"], p_robust)


def test_without_any_measure_there_is_nothing_to_compare(wine):
    assert agreement(known_of_samples(wine)) == ()
    assert "yet" in in_words(())


def test_overall_is_spearmans_own_number_with_ties_and_missing_values():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 4, 200) / 3
    y = x + rng.normal(size=200)
    y[::7] = np.nan
    [each] = agreement(table(200, rng, a=x, b=y))
    keep = ~np.isnan(y)
    assert each.overall == pytest.approx(stats.spearmanr(x[keep], y[keep]).statistic)
    assert each.n == keep.sum()


def test_classes_that_are_hard_as_a_whole_are_no_agreement_on_samples():
    rng = np.random.default_rng(1)
    label = np.repeat(["a", "b"], 300)
    easy = (label == "b") * 3.0
    frame = pd.DataFrame(
        {"id": range(600), "label": label, "a": easy + rng.normal(size=600), "b": easy + rng.normal(size=600)}
    )
    [each] = agreement(frame)
    assert each.overall > 0.5
    assert abs(each.within) < 0.15
    assert not each.agrees
    assert "No two" in in_words((each,))


def test_the_interval_holds_a_known_correlation_of_a_share_with_a_number():
    """Correct or not (a share of three seeds) beside a continuous measure: the truth is of two million draws."""
    rng = np.random.default_rng(2)

    def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
        skill = rng.normal(size=n)
        return rng.binomial(3, 1 / (1 + np.exp(-2 - skill))) / 3, skill + rng.normal(size=n)

    truth = stats.spearmanr(*draw(2_000_000)).statistic
    held = 0
    for _ in range(1000):
        interval = interval_of(stats.spearmanr(*draw(150)).statistic, 150)
        held += interval.lower <= truth <= interval.upper
    assert stats.binomtest(held, 1000, 0.95).pvalue > 0.001


def test_of_nothing_to_find_few_pairs_agree():
    rng = np.random.default_rng(3)
    n_claims = sum(
        any(each.agrees for each in agreement(table(120, rng, **{name: rng.integers(0, 3, 120) for name in "abc"})))
        for _ in range(300)
    )
    assert stats.binomtest(n_claims, 300, 0.05, alternative="greater").pvalue > 0.001


def test_too_few_or_constant_measures_are_left_out():
    rng = np.random.default_rng(4)
    few = FEWEST_COMPARED - 1
    assert agreement(table(few, rng, a=np.arange(few), b=np.arange(few))) == ()
    assert agreement(table(50, rng, a=np.ones(50), b=np.arange(50.0))) == ()
    assert agreement_table(()).empty


def test_facts_of_samples_stand_beside_the_measures_and_are_none(wine):
    near = NearCopies(np.array([[0, 3], [0, 5]]), np.array([0.99, 0.98]), np.array([True, False]), full=False)
    regions = pd.DataFrame({"row": [2, 0], "in_centroid": [True, True], "in_boundary": [False, True]})
    known = known_of_samples(wine, near=near, regions=regions)
    assert known["near_copies"].iloc[:6].tolist() == [2, 0, 0, 1, 0, 1]
    assert known["region"].iloc[[0, 2]].tolist() == ["both", "centroid"]
    assert known["region"].isna().sum() == wine.n_samples - 2
    assert known["copies"].eq(0).all()
    assert measures(known) == []


def test_subsets_join_samples_of_the_data_only(wine):
    names = np.array(wine.class_names)[wine.y]
    held = pd.DataFrame({"set": "reference", "id": wine.ids[:50], "truth": names[:50], "subset": "matched reference"})
    counted = pd.DataFrame({"set": "target", "id": wine.ids, "truth": np.roll(names, 1), "subset": "matched target"})
    known = known_of_samples(wine, subsets=pd.concat([held, counted], ignore_index=True))
    assert known["subset"].iloc[:50].eq("matched reference").all()
    assert known["subset"].iloc[50:].isna().all()
    assert measures(known) == []


def test_each_class_by_itself_has_spearmans_number_and_small_classes_have_none():
    rng = np.random.default_rng(6)
    label = np.repeat(["a", "b", "c"], [60, 40, FEWEST_COMPARED - 1])
    x, noise = rng.normal(size=(2, len(label)))
    frame = pd.DataFrame({"id": range(len(label)), "label": label, "x": x, "y": np.where(label == "a", x, -x) + noise})
    frame.loc[5:9, "y"] = np.nan
    found = agreement_by_class(frame).set_index("label")
    assert found.index.tolist() == ["a", "b"]
    for name in found.index:
        own = frame[frame["label"] == name].dropna()
        assert found.loc[name, "rho"] == pytest.approx(stats.spearmanr(own["x"], own["y"]).statistic)
        assert found.loc[name, "n"] == len(own)
        assert found.loc[name, "lower"] < found.loc[name, "rho"] < found.loc[name, "upper"]
    assert found.loc["a", "rho"] > 0 > found.loc["b", "rho"]


def test_of_nothing_to_find_few_classes_agree():
    rng = np.random.default_rng(7)
    worlds = [
        agreement_by_class(table(150, rng, **{name: rng.integers(0, 3, 150) for name in "abc"})) for _ in range(200)
    ]
    n_claims = sum(bool((found["p_holm"] < 0.05).any()) for found in worlds)
    assert all(len(found) == 9 for found in worlds)
    assert stats.binomtest(n_claims, 200, 0.05, alternative="greater").pvalue > 0.001


def test_measures_with_ties_that_have_nothing_in_common_do_not_agree():
    """Two measures of 0s and 1s that go with the class and not with each other, which ranking twice made agree."""
    rng, n_agree = np.random.default_rng(5), 0
    label = np.repeat(["a", "b", "c"], 100)
    for _ in range(100):
        right = (rng.random(300) < np.repeat(rng.uniform(0.85, 0.95, 3), 100)).astype(float)
        kept = np.where(rng.random(300) < 0.7, 1.0, rng.random(300))
        table = pd.DataFrame({"id": range(300), "label": label, "correct on Random folds": right, "p_robust": kept})
        n_agree += any(each.p < 0.05 for each in agreement(table))
    assert n_agree <= stats.binom.isf(0.001, 100, 0.05)


def test_a_copy_is_of_the_same_label_whatever_the_order():
    """One content of two classes tells something of both."""
    data = Dataset("d", "tabular", [[0.0], [0.0], [0.0], [1.0]], [0, 1, 1, 0], ("a", "b"), list("wxyz"))
    known = known_of_samples(data)
    assert known["is_copy"].tolist() == [False, False, True, False]
    assert known["copies"].tolist() == [2, 2, 2, 0]


def test_who_was_right_is_known_by_seed_and_fold(wine):
    trials = []
    for model, miss in (("svm", 3), ("logistic", 5)):
        rows, wrong = np.arange(wine.n_samples), (wine.y + 1) % 3
        y_pred = np.where(rows == miss, wrong, wine.y)
        known = {"schemes": ["random_folds"], "models": [model], "row": rows, "fold": np.zeros(len(rows), int)}
        trials.append(frame_of_folds(FoldTrial("random_folds", 0, model, 0), y_pred=y_pred, n_train=9, **known))
    tested = held_out_by(rows_of_run(pd.concat(trials, ignore_index=True), wine))
    assert list(tested) == ["correct on Random folds"]
    by_row = tested["correct on Random folds"].set_index("row")["right"]
    assert by_row[[3, 5]].tolist() == [0.5, 0.5]
    assert by_row.drop([3, 5]).eq(1).all()
