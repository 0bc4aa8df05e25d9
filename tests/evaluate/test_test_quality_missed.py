"""What a test set could have missed: exact bounds of error rates, and classes of which too little is known."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from tests.evaluate.feature_populations import cloud, head
from touchstone.core.evaluate.test_quality.missed import WITHIN, ErrorBounds, measure_missed
from touchstone.core.evaluate.test_quality.quality import measure_quality
from touchstone.core.evaluate.test_quality.regions import fit_regions
from touchstone.core.evaluate.test_quality.verdict import findings, quality_verdict
from touchstone.core.models.layers import LayerSamples


def of_counts(n_wrong, n) -> ErrorBounds:
    return ErrorBounds(np.atleast_1d(n_wrong), np.atleast_1d(n))


def upper(n_wrong: int, n: int, *, level: float) -> float:
    """An independent second opinion."""
    return stats.binomtest(n_wrong, n, alternative="less").proportion_ci(level, method="exact").high


def test_no_error_among_36_leaves_8_percent_and_19_over_90_pairs():
    pairs = ErrorBounds(np.zeros((10, 10), dtype=np.int64), np.full((10, 10), 36), ~np.eye(10, dtype=bool))
    assert pairs.n_asked == 90
    assert pairs.alone[4, 9] == pytest.approx(0.080, abs=5e-4)
    assert pairs.together[4, 9] == pytest.approx(0.188, abs=5e-4)
    more = ErrorBounds(pairs.n_wrong, pairs.n + 120, pairs.asked)
    assert (more.alone[4, 9], more.together[4, 9]) == pytest.approx((0.019, 0.047), abs=5e-4)
    assert np.isnan(pairs.alone[4, 4])


@given(st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.integers(1, 20))
def test_bounds_are_clopper_and_pearsons(counts, n_classes):
    n_wrong, n = counts
    bounds = of_counts(np.full(n_classes, n_wrong), np.full(n_classes, n))
    assert bounds.alone[0] == pytest.approx(upper(n_wrong, n, level=0.95), abs=1e-9)
    assert bounds.together[0] == pytest.approx(upper(n_wrong, n, level=1 - 0.05 / n_classes), abs=1e-9)


@pytest.mark.parametrize(("n_wrong", "n"), [(0, 36), (0, 0), (3, 50), (7, 9), (2, 5000)])
def test_so_many_more_are_enough_and_one_fewer_is_not(n_wrong, n):
    n_more = int(of_counts(n_wrong, n).n_more[0])
    rate = n_wrong / max(n, 1)

    def unseen(size: int) -> float:
        return float(stats.beta.ppf(0.95, rate * size + 1, size - rate * size)) - rate

    assert unseen(n + n_more) <= WITHIN
    assert n_more == 0 or unseen(n + n_more - 1) > WITHIN


def test_without_a_sample_everything_may_be_wrong():
    bounds = of_counts([0, 0], [0, 10])
    assert bounds.alone.tolist() == [1.0, pytest.approx(upper(0, 10, level=0.95))]


def test_bounds_hold_for_all_classes_at_once():
    rng, rates, held, n_repeats = np.random.default_rng(0), np.linspace(0.01, 0.3, 10), 0, 2000
    n = np.full(10, 40)
    for _ in range(n_repeats):
        held += bool((ErrorBounds(rng.binomial(n, rates), n).together >= rates).all())
    assert held / n_repeats >= 0.95


def test_errors_are_counted_by_class_and_by_what_they_are_taken_for():
    test = cloud(head(3, 6, apart=1.5), [70, 50, 60], seed=2)
    regions = fit_regions(cloud(head(3, 6, apart=1.5), 300), theta2=0.8)
    missed = measure_missed(test, regions)
    taken = [[int(((test.labels == i) & (test.predicted == j)).sum()) for j in range(3)] for i in range(3)]
    assert (missed.pairs.n_wrong + np.diag(np.diag(taken)) == taken).all()
    assert missed.classes.n.tolist() == [70, 50, 60]
    assert (missed.classes.n_wrong == missed.pairs.n_wrong.sum(axis=1)).all()
    unsure = test.confidence <= 0.8
    assert missed.classes_at_boundary.n.sum() == unsure.sum()
    assert (missed.pairs_at_boundary.n.sum(axis=1) == missed.classes_at_boundary.n).all()
    assert (missed.pairs_at_boundary.n_wrong <= missed.pairs.n_wrong).all()
    table, pairs = missed.table(), missed.pairs_table()
    assert sorted(table["label"]) == sorted(test.class_names)
    assert ((table["bound_together"] - table["rate"]).diff().dropna() <= 0).all()
    assert len(pairs) == 6


def digits() -> tuple[LayerSamples, LayerSamples]:
    """A model of .97, its training samples and its test samples, in its own probabilities."""
    x, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    fitted, rest = order[:900], order[900:]
    model = LogisticRegression(max_iter=500, C=0.02).fit(x[fitted] / 16, y[fitted])
    names = tuple(str(name) for name in range(10))
    train, test = (
        LayerSamples(x[rows] / 16, y[rows], model.predict_proba(x[rows] / 16), names) for rows in (fitted, rest)
    )
    return train, test


@pytest.mark.evidence
def test_a_good_model_is_not_told_that_all_its_classes_are_undertested():
    found = measure_quality(*digits(), rng=np.random.default_rng(0))
    assert [finding for finding in findings(found) if finding.direction == "under"] == []
    verdict = quality_verdict(found)
    assert re.match("For “.+”, an error rate up to ", verdict.headline)
    assert "“8”" in verdict.headline


def test_a_class_whose_boundary_was_removed_is_found_out():
    train, test = digits()
    removed = (test.labels == 3) & (test.confidence <= 0.7)
    found = measure_quality(train, test.take(~removed), theta2=0.7, rng=np.random.default_rng(0))
    under = {finding.label for finding in findings(found) if finding.direction == "under" and not finding.rival}
    assert under == {"3"}
    assert "“3”" in quality_verdict(found).advice
    assert found.missed.classes_at_boundary.alone[3] == 1  # nothing is known of errors there
