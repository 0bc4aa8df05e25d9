"""Which pairs of models differ, corrected for their number: never wrong too often, and nothing given away."""

from itertools import combinations
from math import isnan, nan

import numpy as np
import pytest
from scipy.special import ndtr

from touchstone.core.evaluate.intervals import holm
from touchstone.core.evaluate.source_robustness.counts import corrected_pairs

THREE = [("a", "b"), ("a", "c"), ("b", "c")]


def drawn(means, rng):
    """Pairs of models, their two-sided p-values, and which pairs are alike; every model is measured with error 1."""
    values = np.asarray(means) + rng.normal(size=len(means))
    pairs = list(combinations(range(len(means)), 2))
    p = [float(2 * ndtr(-abs(values[i] - values[j]) / np.sqrt(2))) for i, j in pairs]
    return [(str(i), str(j)) for i, j in pairs], p, [means[i] == means[j] for i, j in pairs]


@pytest.mark.parametrize(
    "means",
    [(0, 0, 0), (0, 0, 4), (0, 0, 0, 0), (0, 0, 4, 4), (0, 0, 0, 4), (0, 0, 2, 2)],
    ids=lambda means: " ".join(map(str, means)),
)
def test_a_pair_that_is_alike_is_called_different_in_five_of_a_hundred_at_most(means):
    rng, n, wrong = np.random.default_rng(0), 2000, 0
    for _ in range(n):
        pairs, p, alike = drawn(means, rng)
        wrong += any(each < 0.05 and same for each, same in zip(corrected_pairs(pairs, p), alike, strict=True))
    assert wrong <= 0.05 * n + 2 * (0.05 * 0.95 * n) ** 0.5


def test_never_asks_for_more_than_holm_and_often_for_less():
    rng, n_found, n_holm = np.random.default_rng(1), 0, 0
    for _ in range(300):
        pairs, p, _ = drawn((0, 0, 3.5), rng)
        ours, plain = corrected_pairs(pairs, p), holm(p)
        assert all(each <= other + 1e-12 for each, other in zip(ours, plain, strict=True))
        assert all(each >= raw for each, raw in zip(ours, p, strict=True))
        n_found += sum(each < 0.05 for each in ours)
        n_holm += sum(each < 0.05 for each in plain)
    assert n_found > 1.1 * n_holm


def test_a_single_pair_needs_no_correction_and_what_is_unknown_is_passed_over():
    assert corrected_pairs(THREE[:1], [0.03]) == [0.03]
    first, unknown, last = corrected_pairs(THREE, [0.03, nan, 0.04])
    assert isnan(unknown)
    assert (first, last) == (0.04, 0.04)


def test_pairs_of_several_sizes_and_of_very_many_models_are_corrected_by_holm():
    p = [0.01, 0.02, 0.03]
    assert corrected_pairs([("a", "b")] * 3, p) == holm(p)
    many = [("a", other) for other in "bcdefgh"]
    assert corrected_pairs(many, [0.01] * 7) == holm([0.01] * 7)
