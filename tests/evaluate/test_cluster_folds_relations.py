"""Do scores go with what folds are like? Exact for so few folds, and honest about them."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.evaluate.fold_populations import frame, simulated
from touchstone.core.evaluate.cluster_folds.performance import (
    MOST_EXACT,
    characteristics_of,
    correlation,
    fold_characteristics,
    fold_performance,
    mean_by_fold,
    relations,
)
from touchstone.core.evaluate.cluster_folds.results import ScoredBy

EVEN = np.full(9, 40.0)


@given(values=st.lists(st.integers(0, 30), min_size=3, max_size=5), seed=st.integers(0, 1000))
def test_p_is_the_share_of_ways_to_exchange_folds(values, seed):
    rng = np.random.default_rng(seed)
    x, y = np.array(values, dtype=float), rng.random(len(values))
    r, p, least, exact = correlation([x], [y], [EVEN[: len(x)]], rng=rng)
    if np.ptp(x) == 0:
        assert np.isnan(r)
        return
    assert exact
    assert r == pytest.approx(np.corrcoef(x, y)[0, 1])
    every = [abs(np.corrcoef(x, way)[0, 1]) for way in permutations(y)]
    assert p == pytest.approx(np.mean([each >= abs(r) - 1e-9 for each in every]))
    assert least <= p


def test_p_of_many_folds_is_drawn_and_close():
    rng = np.random.default_rng(0)
    x = rng.random(9)
    r, p, least, exact = correlation([x], [x + 0.3 * rng.random(9)], [EVEN[:9]], rng=rng)
    assert not exact
    assert least == 1 / (MOST_EXACT + 1)
    assert r > 0.8
    assert p < 0.02


def test_more_seeds_of_the_same_folds_are_no_more_evidence():
    x, y = np.arange(5.0), np.array([0.0, 1.0, 2.0, 4.0, 3.0])
    rng = np.random.default_rng(0)
    r, one, *_ = correlation([x], [y], [EVEN[:5]], rng=rng)
    same_r, many, *_ = correlation([x] * 6, [y] * 6, [EVEN[:5]] * 6, rng=rng)
    assert r == pytest.approx(same_r)
    assert many == pytest.approx(2 * one)


def test_p_values_are_honest_where_nothing_goes_with_anything():
    rng = np.random.default_rng(1)
    p = [correlation([rng.random(5)], [rng.random(5)], [EVEN[:5]], rng=rng)[1] for _ in range(400)]
    assert np.mean(np.array(p) <= 0.05) <= 0.08
    assert 0.3 < np.mean(np.array(p) <= 0.5) < 0.6


def test_small_folds_that_lie_far_off_by_chance_are_no_relation():
    """Scores are of as many samples as a fold has, and so is the number that they are held against."""
    rng, p = np.random.default_rng(2), []
    for _ in range(400):
        sizes = np.maximum(np.rint(30 * np.exp(1.2 * rng.normal(size=12))), 3)
        far = 0.5 / np.sqrt(sizes) * (1 + rng.random(12))
        p.append(correlation([far], [rng.binomial(sizes.astype(int), 0.7) / sizes], [sizes], rng=rng)[1])
    assert np.mean(np.array(p) <= 0.05) <= 0.09


def test_characteristics_are_what_an_obvious_count_says():
    folded = simulated({"sds_folds": 0.2}, n=200, n_classes=2)
    rng = np.random.default_rng(0)
    features, lengths = rng.normal(size=(200, 3)), rng.gamma(4.0, 5.0, size=200)
    told = characteristics_of(folded, features=features, numbers={"mean length": lengths}, rng=rng)
    folds = folded.folds("sds_folds", 0)
    for row in told.itertuples():
        assert row.samples == (folds == row.fold).sum()
    indexed = told.set_index("fold")
    for fold in range(5):
        x, y = features[folds == fold], folded.y[folds == fold]
        assert indexed["mean length"][fold] == pytest.approx(lengths[folds == fold].mean())
        assert indexed["share of b"][fold] == pytest.approx((y == 1).mean())
        assert indexed["variance within the fold"][fold] == pytest.approx(x.var(axis=0).sum())


def test_far_folds_come_out_far():
    rng = np.random.default_rng(0)
    folds, y = np.repeat([0, 1, 2], 100), rng.integers(2, size=300)
    features = rng.normal(size=(300, 2))
    features[folds == 2] += 5.0
    told = fold_characteristics(folds, y, class_names=("a", "b"), features=features, rng=rng).set_index("fold")
    for name in ("energy distance to training", "distance to the nearest training sample"):
        assert told[name].idxmax() == 2


def test_a_score_that_goes_with_length_is_found_and_equal_sizes_tell_nothing():
    folded = simulated({"sds_folds": 0.0}, n=2000, seeds=(0,))
    folds, rng = folded.folds("sds_folds", 0), np.random.default_rng(0)
    rows = folded.rows.copy()
    tested = rows["model"].notna().to_numpy()
    wrong = rng.random(2000) < 0.1 * folds  # the further up the fold, the more errors
    truth = folded.y
    rows.loc[tested, "y_pred"] = pd.array(np.where(wrong, (truth + 1) % 3, truth), dtype="Int32")
    hard = type(folded)(rows, truth, folded.class_names, folded.ids, {})
    found = fold_performance(hard, metric=ScoredBy("accuracy"))
    told = characteristics_of(hard, numbers={"mean length": 20.0 - 3 * folds}, rng=rng)
    related = {each.characteristic: each for each in relations(found, told, rng=rng)}
    assert "samples" not in related, "sizes are equal"
    length = related["mean length"]
    assert length.r > 0.95
    assert length.p == pytest.approx(2 / 120)
    assert length.n == 5
    assert length.p_holm >= length.p >= length.p_least


def test_means_by_fold_leave_out_what_is_in_no_test_part():
    told = mean_by_fold(np.array([0, 1, 1, -1]), np.array([1.0, 2.0, 4.0, 100.0]))
    assert told["mean"].tolist() == [1.0, 3.0]
    assert told["n"].tolist() == [1, 2]


def test_folds_that_leave_nothing_to_train_on_have_no_characteristics():
    folded = simulated({"sds_folds": 0.2}, n_folds=1)
    assert len(characteristics_of(folded, rng=np.random.default_rng(0))) == 0


@pytest.mark.parametrize("failed", [False, True])
def test_folds_that_are_not_all_known_have_no_characteristics_yet(failed):
    folded = simulated({"random_folds": 0.2, "sds_folds": 0.2})
    rows = folded.rows
    of_scheme = (rows["scheme"] == "sds_folds").to_numpy()
    kept = ~of_scheme | (rows["model"].notna() & (rows["fold"] == 1)).to_numpy(dtype=bool)
    partial = [rows[kept]]
    if failed:
        partial.append(frame("sds_folds", 0, None, [pd.NA], [pd.NA], None, status="failed"))
    told = characteristics_of(replace(folded, rows=pd.concat(partial, ignore_index=True)), rng=np.random.default_rng(0))
    assert set(told["scheme"]) == {"random_folds"}


def test_folds_without_a_score_are_left_out_of_relations():
    folded = simulated({"sds_folds": 0.2}, n=400, n_classes=2)
    fold = folded.folds("sds_folds", 0)
    rows = folded.rows.copy()
    tested = rows["model"].notna().to_numpy()
    rows.loc[tested & (rows["fold"] == 4).to_numpy(dtype=bool), "y_pred"] = 0
    bare = replace(folded, rows=rows, y=np.where(fold == 4, 0, folded.y))
    found = fold_performance(bare, metric=ScoredBy("f1", "b"))
    rng = np.random.default_rng(0)
    told = characteristics_of(bare, numbers={"length": rng.random(400)}, rng=rng)
    assert {each.n for each in relations(found, told, rng=rng)} == {4}


@pytest.mark.parametrize("by_size", [True, False])
def test_where_large_folds_differ_as_much_as_small_ones_little_is_said_to_go_together(by_size):
    """What is weighted alone, the largest fold decides: that would be wrong in a fifth of these and more."""
    rng, n_wrong = np.random.default_rng(5), 0
    size = np.array([1000.0, 300.0, 60.0, 40.0, 30.0, 20.0, 20.0])
    for _ in range(200):
        x = size + rng.random(7) if by_size else rng.normal(size=7)
        score = 0.8 + rng.normal(0, 0.1, 7) + rng.normal(0, 0.4, 7) / np.sqrt(size)
        n_wrong += correlation([x], [score], [size], rng=rng)[1] < 0.05
    assert n_wrong <= stats.binom.isf(0.001, 200, 0.05)
