"""Means of classes and the largest gap: intervals that hold, though the gap was chosen because it is the largest."""

import numpy as np
import pytest
from scipy.stats import binom

from tests.evaluate.average_case_rows import skewed
from touchstone.core.evaluate.average_case.class_means import bounded_mean, class_means, mean_of


def drawn(means, n, rng):
    y = np.repeat(np.arange(len(means)), n)
    return np.concatenate([skewed(n, mean, rng) for mean in means]), y


def test_means_are_means_and_classes_without_samples_are_unknown():
    rng = np.random.default_rng(0)
    p, y = drawn([0.9, 0.6], 40, rng)
    of = class_means(p, y, 3, rng=rng)
    assert [mean.n for mean in of.means] == [40, 40, 0]
    assert of.means[1].value == pytest.approx(p[40:].mean())
    assert np.isnan(of.means[2].value)
    assert not of.means[2].interval.known
    assert (of.gap.least, of.gap.most) == (1, 0)
    assert of.gap.raw == pytest.approx(p[:40].mean() - p[40:].mean())


def test_one_class_alone_has_no_gap_and_nothing_is_no_error():
    rng = np.random.default_rng(0)
    assert class_means(rng.random(20), np.zeros(20, dtype=int), 1, rng=rng).gap is None
    assert class_means(rng.random(2), np.array([0, 1]), 2, rng=rng).gap is None
    assert class_means(np.zeros(0), np.zeros(0, dtype=int), 2, rng=rng).gap is None
    assert np.isnan(mean_of(np.zeros(0), rng=rng).value)


def test_where_no_sample_moves_the_mean_is_not_certain():
    interval = bounded_mean(np.ones(36)).interval
    assert interval.upper == 1.0
    assert 0.85 < interval.lower < 0.95


def test_a_mean_that_rests_on_one_sample_may_be_several_times_as_large():
    values = np.r_[np.zeros(49), 1.0]
    of = mean_of(values, rng=np.random.default_rng(0))
    assert of.interval.lower < of.value < 3 * of.value < of.interval.upper < 10 * of.value


def test_the_same_generator_gives_the_same_answer():
    p, y = drawn([0.9, 0.6, 0.8], 30, np.random.default_rng(3))
    one, other = (class_means(p, y, 3, rng=np.random.default_rng(1)) for _ in range(2))
    assert one.means == other.means
    assert one.gap == other.gap


def test_of_classes_that_are_alike_no_gap_is_claimed_though_one_is_largest():
    claimed, raw, corrected, by_chance = [], [], [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        p, y = drawn([0.85] * 8, 40, rng)
        gap = class_means(p, y, 8, rng=rng, n_deals=399).gap
        claimed.append(gap.interval.lower > 0)
        raw.append(gap.raw)
        corrected.append(gap.value)
        by_chance.append(gap.by_chance)
    assert np.mean(claimed) <= 0.1
    assert np.mean(raw) > 0.05, "alike as they are, some two classes differ"
    assert np.mean(by_chance) == pytest.approx(np.mean(raw), rel=0.25)
    assert np.mean(corrected) < 0.8 * np.mean(raw)


def test_a_large_gap_is_found_and_its_interval_holds_it():
    means, held, found = [0.95, 0.85, 0.8, 0.5], [], []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        p, y = drawn(means, 60, rng)
        gap = class_means(p, y, 4, rng=rng, n_deals=399).gap
        held.append(gap.interval.holds(0.45))
        found.append(gap.interval.lower > 0)
    assert np.mean(held) >= 0.9
    assert all(found)


@pytest.mark.evidence
@pytest.mark.parametrize(("mean", "n"), [(0.995, 20), (0.995, 100), (0.95, 20), (0.95, 100), (0.7, 20), (0.7, 100)])
def test_intervals_of_class_means_hold_the_truth(mean, n):
    held = []
    for seed in range(500):
        rng = np.random.default_rng(seed)
        p, y = drawn([mean] * 4, n, rng)
        held += [of.interval.holds(mean) for of in class_means(p, y, 4, rng=rng, n_deals=399).means]
    assert np.mean(held) >= 0.93


@pytest.mark.evidence
@pytest.mark.parametrize("n", [15, 40, 100])
@pytest.mark.parametrize("means", [[0.99] * 10, [0.8] * 10, [0.99, 0.98, 0.95, 0.9, 0.9], [0.9, 0.8, 0.8, 0.7, 0.6]])
def test_intervals_of_the_largest_gap_hold_the_truth(means, n):
    held, claimed, truth = [], [], max(means) - min(means)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        p, y = drawn(means, n, rng)
        gap = class_means(p, y, len(means), rng=rng, n_deals=399).gap
        held.append(gap.interval.holds(truth))
        claimed.append(gap.interval.lower > 0)
    # Shuffled labels keep their level of 5 % exactly: of 200 data sets 20 and more would be claimed once in a thousand.
    assert np.sum(held) >= binom.ppf(0.001, 200, 0.93)
    assert truth > 0 or np.sum(claimed) <= binom.ppf(0.999, 200, 0.05)
