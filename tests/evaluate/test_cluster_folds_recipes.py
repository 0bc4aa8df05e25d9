"""Two recipes on the same folds: what luck in a training adds, and that no shared training is counted twice."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.tree import DecisionTreeClassifier

from touchstone.core.evaluate.cluster_folds.performance import recipe_difference
from touchstone.core.evaluate.intervals import t_p_value


def rows_of(apart: np.ndarray, folds: np.ndarray, seed: int = 0) -> pd.DataFrame:
    """Rows whose second recipe is right in half of all cases and whose first is right `apart` more often."""
    return pd.DataFrame({"seed": seed, "fold": folds, "row": np.arange(len(folds)), "first": apart, "second": 0.0})


def test_where_trainings_differ_and_samples_do_not_it_is_the_t_test_over_folds():
    of_fold = np.array([0.1, 0.3, 0.2, 0.4, 0.0])
    difference = recipe_difference(rows_of(np.repeat(of_fold, 2000), np.repeat(np.arange(5), 2000)))
    assert t_p_value(difference.mean, difference.se, difference.df) == pytest.approx(
        stats.ttest_1samp(of_fold, 0.0).pvalue, rel=0.01
    )
    assert difference.df == pytest.approx(4, rel=0.01)


def test_where_trainings_are_alike_it_is_the_paired_test_over_samples():
    rng, p_values = np.random.default_rng(0), []
    for _ in range(200):
        apart = rng.choice([-1.0, 0.0, 1.0], p=[0.1, 0.75, 0.15], size=1000)
        parts = [rows_of(apart, rng.permutation(1000) % 10, seed) for seed in range(3)]
        difference = recipe_difference(pd.concat(parts))
        own = stats.ttest_1samp(apart, 0.0).pvalue
        p_values.append((own, t_p_value(difference.mean, difference.se, difference.df)))
    by_sample, by_recipe = np.array(p_values).T
    assert np.median(by_recipe / by_sample) < 3  # what trainings add has to be learnt
    assert (by_recipe < 0.05).sum() >= 0.9 * (by_sample < 0.05).sum() > 150


def test_folds_that_another_seed_repeats_are_no_more_trainings():
    """Folds by clusters may be the same for every seed, and a recipe without chance is then the same three times."""
    rng, folds = np.random.default_rng(1), np.repeat(np.arange(5), 100)
    apart = np.repeat(rng.normal(0.1, 0.1, 5), 100) + rng.normal(0, 0.3, 500)
    once = recipe_difference(rows_of(apart, folds))
    thrice = recipe_difference(pd.concat([rows_of(apart, folds, seed) for seed in range(3)]))
    assert (thrice.mean, thrice.se, thrice.df) == pytest.approx((once.mean, once.se, once.df))


def test_one_recipe_twice_is_seldom_said_to_be_better_than_itself():
    """The luck of a training is as large here as that of its samples, which alone would be wrong in 15 % and more."""
    rng, n_wrong, n_by_samples = np.random.default_rng(2), 0, 0
    for _ in range(300):
        parts = []
        for seed in range(3):
            folds = rng.permutation(300) % 5
            right = [rng.random(300) < (0.7 + 0.08 * rng.normal(size=5))[folds] for _ in range(2)]
            parts.append(rows_of(right[0].astype(float) - right[1], folds, seed))
        difference = recipe_difference(pd.concat(parts))
        n_wrong += t_p_value(difference.mean, difference.se, difference.df) < 0.05
        of_row = pd.concat(parts).groupby("row")["first"].mean()
        n_by_samples += stats.ttest_1samp(of_row, 0.0).pvalue < 0.05
    assert n_wrong <= stats.binom.isf(0.001, 300, 0.05)
    assert n_by_samples > stats.binom.isf(0.001, 300, 0.10)


def test_one_fold_says_nothing_of_other_trainings_and_folds_of_one_sample_need_nothing_more():
    apart = np.tile([1.0, 0.0, 0.0, 1.0], 10)
    assert recipe_difference(rows_of(apart, np.zeros(40, dtype=int))).df == 0
    assert recipe_difference(rows_of(apart, np.arange(40))).df == 39


def test_seeds_do_not_average_out_what_all_trainings_owe_to_the_same_data():
    """Two recipes with a block of columns each, of which neither is better: deep trees, five seeds."""
    rng, n_wrong = np.random.default_rng(3), 0
    for _ in range(60):
        y = rng.integers(2, size=150)
        x, parts = rng.normal(size=(150, 6)) + 0.5 * y[:, None], []
        for seed in range(5):
            folds = rng.permutation(150) % 5
            right = np.empty((2, 150))
            for fold, (block, columns) in product(range(5), enumerate((slice(3), slice(3, 6)))):
                tree, test = DecisionTreeClassifier(random_state=int(rng.integers(2**30))), folds == fold
                right[block, test] = tree.fit(x[~test, columns], y[~test]).predict(x[test, columns]) == y[test]
            rows = {"seed": seed, "fold": folds, "row": np.arange(150), "first": right[0], "second": right[1]}
            parts.append(pd.DataFrame(rows))
        difference = recipe_difference(pd.concat(parts))
        n_wrong += t_p_value(difference.mean, difference.se, difference.df) < 0.05
    assert n_wrong <= stats.binom.isf(0.001, 60, 0.05)
