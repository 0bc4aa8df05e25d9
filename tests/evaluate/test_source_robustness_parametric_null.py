"""Clouds without groups: what they keep of a class, what they lose, and what may be said beside them."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.worlds.null_worlds import drawn, with_sources
from touchstone.core.data import DataError, load_example
from touchstone.core.evaluate.claims import claim
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.source_robustness.parametric_null import (
    COLUMNS,
    KIND,
    ParametricNullPlan,
    cloud_gaps,
    cloud_sentence,
    clouds_plan,
    copula_cloud,
    gaussian_cloud,
)
from touchstone.core.trials import Context, TrialPlan


@pytest.fixture(scope="module")
def groups() -> tuple[np.ndarray, np.ndarray]:
    """Two classes; the first is two groups far apart, skewed and correlated."""
    rng = np.random.default_rng(0)
    x = np.exp(
        0.5 * rng.standard_normal((300, 4)) @ np.array([[1, 0.8, 0, 0], [0, 0.6, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    )
    x[:75] += 8
    return x, np.repeat([0, 1], 150)


def test_a_copula_cloud_keeps_marginals_and_rank_correlations_and_loses_groups(groups):
    x, y = groups
    cloud = copula_cloud(x, y, rng=np.random.default_rng(1))
    for label, tolerance in ((0, 0.2), (1, 0.1)):  # a copula cannot correlate ranks as far as two groups do
        own, other = x[y == label], cloud[y == label]
        assert np.array_equal(np.sort(own, axis=0), np.sort(other, axis=0))
        assert np.abs(stats.spearmanr(own).statistic - stats.spearmanr(other).statistic).max() < tolerance
    between = (cloud[y == 0].sum(axis=1) > 14) & (cloud[y == 0].sum(axis=1) < 30)
    assert not ((x[y == 0].sum(axis=1) > 14) & (x[y == 0].sum(axis=1) < 30)).any()
    assert between.mean() > 0.1


def test_a_gaussian_cloud_keeps_means_and_covariances_also_with_more_columns_than_samples(groups):
    x, y = groups
    wide = np.random.default_rng(2).standard_normal((300, 400))
    for features in (x, wide):
        cloud = gaussian_cloud(features, y, rng=np.random.default_rng(1))
        for label in (0, 1):
            own, other = features[y == label], cloud[y == label]
            assert np.allclose(own.mean(axis=0), other.mean(axis=0))
            assert np.allclose(np.cov(own.T), np.cov(other.T))
            assert not np.allclose(own, other)


def test_columns_that_never_change_stay_as_they_are():
    x = np.column_stack([np.ones(40), np.arange(40.0)])
    for cloud in (copula_cloud, gaussian_cloud):
        assert np.allclose(cloud(x, np.zeros(40, dtype=int), rng=np.random.default_rng(0))[:, 0], 1)
        assert np.allclose(cloud(x[:, :1], np.zeros(40, dtype=int), rng=np.random.default_rng(0)), 1)


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    plan = ParametricNullPlan(n_clusterings=1, n_repeats=5)
    dataset = drawn(0, partial(with_sources, spread=3.0))
    return pd.concat([plan.run_trial(dataset, index, context=Context()) for index in range(20)], ignore_index=True)


def test_strong_sources_are_beyond_any_cloud(rows):
    gaps = cloud_gaps(rows)
    assert list(rows.columns) == list(COLUMNS)
    assert len(gaps.copula) == 19
    assert gaps.observed > gaps.copula.max()
    assert gaps.claim.decision == "above"
    assert gaps.claim.kind == KIND
    assert gaps.claim.smallest == 0.02
    assert gaps.claim.estimate == pytest.approx(gaps.observed - gaps.copula.mean())


@pytest.mark.parametrize("missing", ["data", "cloud"])
def test_nothing_is_decided_before_all_clouds_are_there(rows, missing):
    part = rows[(rows["shape"] != "data") if missing == "data" else (rows["cloud"] != 7)]
    assert not cloud_gaps(part).claim.decided
    assert "Undecided" in cloud_sentence(cloud_gaps(part).claim)
    assert not cloud_gaps(rows.iloc[:0]).claim.decided


def test_a_trial_is_the_same_whenever_it_runs_and_another_by_another_seed():
    wine = load_example("wine")
    plan = ParametricNullPlan(n_clusterings=1, n_repeats=3)
    first, again = (plan.run_trial(wine, 4, context=Context())["n_correct"].tolist() for _ in range(2))
    other = ParametricNullPlan(n_clusterings=1, n_repeats=3, seed=1).run_trial(wine, 4, context=Context())
    assert first == again
    assert first != other["n_correct"].tolist()
    assert plan.failed_trial(wine, 25)[["shape", "status"]].values.tolist() == [["gaussian", "failed"]]


def test_many_samples_and_columns_are_cut_to_the_budget():
    plan = ParametricNullPlan(n_clusterings=1, n_repeats=2, max_samples=500)
    rows = plan.run_trial(load_example("digits"), 0, context=Context())
    assert rows["n_samples"].iloc[0] == pytest.approx(500, abs=10)
    assert rows["n_dimensions"].iloc[0] == 20


@pytest.mark.parametrize(
    "options", [{"source_finder": "acol"}, {"source_finder": "known"}, {"n_clouds": 18}, {"representation": "x"}]
)
def test_what_makes_no_plan_is_refused(options):
    with pytest.raises(DataError):
        ParametricNullPlan(**options)


def test_clouds_stand_beside_clusterings_of_features_alone():
    trials = TrialPlan(n_sources=4, seed=3, test_share=0.25, source_finders=("same_size_kmeans", "known", "acol"))
    beside = [clouds_plan(trials, finder) for finder in trials.source_finders]
    assert beside == [ParametricNullPlan("same_size_kmeans", n_sources=4, test_share=0.25, seed=3), None, None]


@pytest.mark.parametrize(
    ("estimate", "ends", "p", "words"),
    [
        (0.06, (0.04, 0.08), 0.001, "by 6.0 points [4.0, 8.0]. Classes have groups or curved shapes"),
        (0.01, (0.001, 0.019), 0.03, "as in simulated data without groups. They are no evidence of sources"),
        (0.01, (-0.03, 0.05), 0.6, "not significantly harder than those of simulated data without groups (p = .600)"),
        (-0.05, (-0.08, -0.02), 0.01, "as in simulated data without groups. They are no evidence of sources"),
    ],
)
def test_what_is_said_follows_from_the_claim(estimate, ends, p, words):
    assert words in cloud_sentence(claim(KIND, estimate, Interval(*ends), p, smallest=0.02))
