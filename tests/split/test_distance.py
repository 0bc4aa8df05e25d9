"""Distances between two parts: right by hand and by loops, near 0 (or .5, or 1) for alike parts, and never a crash."""

import math

import numpy as np
import pytest

from touchstone.core.split.describe_folds import auc_interval, part_distances


def by_loops(train: np.ndarray, test: np.ndarray) -> tuple[float, float]:
    """MMD and relative energy distance, written out pair by pair."""

    def distances(first, second, same):
        return [math.dist(a, b) for i, a in enumerate(first) for j, b in enumerate(second) if not (same and i == j)]

    within = [distances(train, train, True), distances(test, test, True)]
    between = distances(train, test, False)
    pooled = np.concatenate([train, test])
    width = np.median([math.dist(pooled[i], pooled[j]) for i in range(len(pooled)) for j in range(i)])
    kernel = [np.mean([math.exp(-((d / width) ** 2) / 2) for d in part]) for part in (*within, between)]
    mean = [np.mean(part) for part in (*within, between)]
    return kernel[0] + kernel[1] - 2 * kernel[2], (2 * mean[2] - mean[0] - mean[1]) / (2 * mean[2])


@pytest.mark.parametrize("shift", [0.0, 0.5, 4.0])
def test_mmd_and_energy_are_those_of_the_loops(shift):
    rng = np.random.default_rng(1)
    train, test = rng.normal(size=(30, 3)), rng.normal(size=(20, 3)) + shift
    mmd, energy = by_loops(train, test)
    found = part_distances(train, test, rng=rng)
    assert found.mmd == pytest.approx(mmd, abs=1e-9)
    assert found.energy == pytest.approx(energy, abs=1e-9)
    assert (found.n_train, found.n_test) == (30, 20)


@pytest.mark.parametrize(("n_train", "n_test", "n_folds"), [(400, 20, 5), (9, 7, 5), (2, 3, 2)])
@pytest.mark.parametrize("auc", [0.0, 0.03, 0.5, 0.8, 1.0])
def test_the_ends_of_an_auc_are_as_far_as_their_errors_go(auc, n_train, n_test, n_folds):
    lower, upper = auc_interval(auc, n_train, n_test, n_folds=n_folds)
    assert 0 <= lower <= auc <= upper <= 1
    assert lower < upper
    for end in {lower, upper} - {0.0, 1.0}:
        within = (n_train + n_test - 2) / 2 * ((1 - end) / (2 - end) + end / (1 + end))
        variance = end * (1 - end) * (1 + within) / n_train / n_test * (1 + n_folds / (n_folds - 1))
        assert abs(auc - end) == pytest.approx(1.96 * math.sqrt(variance), rel=1e-3)
    assert auc_interval(1 - auc, n_test, n_train, n_folds=n_folds) == pytest.approx((1 - upper, 1 - lower))


@pytest.mark.evidence
@pytest.mark.parametrize("n_test", [20, 60])
def test_the_interval_of_an_auc_covers_one_half_where_parts_are_alike(n_test):
    inside = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        found = part_distances(rng.normal(size=(160, 3)), rng.normal(size=(n_test, 3)), rng=rng)
        inside += found.auc_lower <= 0.5 <= found.auc_upper
    assert inside / 200 >= 0.92


def test_an_auc_of_one_is_no_certainty():
    rng = np.random.default_rng(9)
    found = part_distances(rng.normal(size=(100, 3)), rng.normal(size=(6, 3)) + 8, rng=rng)
    assert found.auc == found.auc_upper == 1
    assert 0.5 < found.auc_lower < 0.9


def test_alike_parts_come_out_alike_on_average_and_on_both_sides():
    rng = np.random.default_rng(3)
    found = [part_distances(rng.normal(size=(160, 4)), rng.normal(size=(60, 4)), rng=rng) for _ in range(120)]
    for measure, alike in {"mmd": 0.0, "energy": 0.0, "auc": 0.5, "nearest": 1.0}.items():
        values = np.array([getattr(each, measure) for each in found])
        assert abs(values.mean() - alike) < 4 * values.std() / math.sqrt(len(values)), measure
        assert 0.25 < (values < alike).mean() < 0.75, measure


def test_the_farther_the_parts_the_larger_every_distance():
    rng = np.random.default_rng(4)
    train, test = rng.normal(size=(300, 4)), rng.normal(size=(200, 4))
    found = [part_distances(train, test + shift, rng=np.random.default_rng(0)) for shift in (0.0, 0.5, 1.0, 3.0)]
    for measure in ("mmd", "energy", "auc", "nearest"):
        values = [getattr(each, measure) for each in found]
        assert values == sorted(values)
        assert values[-1] > values[0]
    assert 0 < found[-1].energy <= 1
    assert found[-1].auc == pytest.approx(1, abs=0.01)


def test_equal_generators_give_equal_distances_and_rows_are_capped():
    rng = np.random.default_rng(5)
    train, test = rng.normal(size=(500, 2)), rng.normal(size=(400, 2))
    first, second = (part_distances(train, test, rng=np.random.default_rng(7), max_rows=100) for _ in range(2))
    assert first == second
    assert (first.n_train, first.n_test) == (100, 100)


def test_a_scale_changes_none_of_them():
    rng = np.random.default_rng(6)
    train, test = rng.normal(size=(100, 3)), rng.normal(size=(100, 3)) + 0.5
    small, large = (part_distances(by * train, by * test, rng=np.random.default_rng(0)) for by in (1.0, 1000.0))
    for measure in ("mmd", "energy", "auc", "nearest"):
        assert getattr(small, measure) == pytest.approx(getattr(large, measure))


@pytest.mark.parametrize(("n_train", "n_test"), [(1, 5), (5, 1), (1, 1), (2, 2)])
def test_parts_of_a_row_or_two(n_train, n_test):
    rng = np.random.default_rng(8)
    found = part_distances(rng.normal(size=(n_train, 2)), rng.normal(size=(n_test, 2)), rng=rng)
    too_small = min(n_train, n_test) < 2
    assert math.isnan(found.mmd) == math.isnan(found.energy) == math.isnan(found.auc) == too_small
    assert math.isnan(found.nearest) == (n_train < 2)


def test_rows_that_are_all_the_same_are_alike():
    found = part_distances(np.ones((20, 2)), np.ones((10, 2)), rng=np.random.default_rng(0))
    assert (found.mmd, found.energy, found.auc) == (0, 0, 0.5)
    assert math.isnan(found.nearest)


def test_whole_numbers_will_do():
    rng = np.random.default_rng(0)
    assert part_distances(rng.integers(9, size=(50, 2)), rng.integers(9, size=(50, 2)), rng=rng).energy < 0.1
