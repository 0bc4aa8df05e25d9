"""How far would the numbers of a matching be off with other data? A bootstrap that matches anew."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from core.evaluate.matched_subsets.matching import Candidates
from core.evaluate.matched_subsets.tally import statistics, tally


@dataclass(frozen=True)
class Spread:
    """Of each of `statistics`: variances over data and over the luck of one matching, and degrees of freedom."""

    data: Float[np.ndarray, " n_statistics"]
    luck: Float[np.ndarray, " n_statistics"]
    df: Float[np.ndarray, " n_statistics"]


def resample(
    pairable: Candidates, *, n_resamples: int, rng: np.random.Generator, on_step: Callable[[], None]
) -> Float[np.ndarray, "n_resamples 2 n_statistics"]:
    """Draw both sets anew with replacement, and match each such pair of sets twice."""
    counts = []
    for _ in range(n_resamples):
        counts.append(_rematched_twice(pairable, rng))
        on_step()
    return statistics(np.stack(counts))


def spread_of(draws: Float[np.ndarray, "n_resamples 2 n_statistics"]) -> Spread:
    """Take the variances apart.

    Two matchings of the same resample differ by the luck of matching alone; what is left is the data's share. The
    published figure is a mean over matchings, so that its variance is the data's and that of luck divided by their
    number. A spread of single matchings would count luck in full (up to 1.4 times too wide), the spread of the repeats
    would count nothing but luck. A resample's duplicates compete for the same partners, which shifts its values: hence
    variances around the figure itself, not percentiles.
    """
    known = ~np.isnan(draws).any(axis=1)
    n = known.sum(axis=0)
    first, second = (np.where(known, draws[:, turn], 0.0) for turn in range(2))
    middle = (first + second) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        luck = ((first - second) ** 2 / 2).sum(axis=0) / n
        around = np.where(known, middle - middle.sum(axis=0) / n, 0.0)
        data = np.maximum((around**2).sum(axis=0) / (n - 1) - luck / 2, 0.0)
    few = n < 2
    return Spread(np.where(few, np.nan, data), np.where(few, np.nan, luck), np.where(few, np.nan, n - 1.0))


def _rematched_twice(pairable: Candidates, rng: np.random.Generator) -> Float[np.ndarray, "2 width"]:
    from core.evaluate.matched_subsets.kernels import draw_partners

    n_reference, n_target = len(pairable.reference), len(pairable.target)
    copies = np.bincount(rng.integers(n_reference, size=n_reference), minlength=n_reference).astype(np.int32)
    turn = rng.integers(n_target, size=n_target)
    counts = []
    for _ in range(2):
        partner = draw_partners(pairable.first, pairable.last, turn, copies, rng.random(n_target))
        counts.append(tally(pairable, partner, turn, copies))
        turn = rng.permutation(turn)
    return np.stack(counts)
