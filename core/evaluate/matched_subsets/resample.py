"""How far would the numbers of a matching be off with other data? A bootstrap that matches anew."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from core.evaluate.matched_subsets.matching import Candidates
from core.evaluate.matched_subsets.tally import STATISTICS, if_no_gap, statistics, tally


@dataclass(frozen=True)
class Spread:
    """Of each of `statistics`: variances over data and over the luck of one matching, and degrees of freedom.

    `if_no_gap` is that over data where both sets are as right as each other at equal confidence, and `drawn` what of it
    rests on the resamples; they are others than `data` for matched gaps alone.
    """

    data: Float[np.ndarray, " n_statistics"]
    if_no_gap: Float[np.ndarray, " n_statistics"]
    drawn: Float[np.ndarray, " n_statistics"]
    luck: Float[np.ndarray, " n_statistics"]
    df: Float[np.ndarray, " n_statistics"]


def resample(
    pairable: Candidates, *, n_resamples: int, rng: np.random.Generator, on_step: Callable[[], None]
) -> Float[np.ndarray, "n_resamples 2 width"]:
    """Draw both sets anew with replacement, and match each such pair of sets twice; the counts of each matching."""
    counts = []
    for _ in range(n_resamples):
        counts.append(_rematched_twice(pairable, rng))
        on_step()
    return np.stack(counts)


def spread_of(counts: Float[np.ndarray, "n_resamples 2 width"]) -> Spread:
    """Take the variances apart.

    Two matchings of the same resample differ by the luck of matching alone; what is left is the data's share. The
    published figure is a mean over matchings, so that its variance is the data's and that of luck divided by their
    number. A spread of single matchings would count luck in full (up to 1.4 times too wide), the spread of the repeats
    would count nothing but luck. A resample's duplicates compete for the same partners, which shifts its values: hence
    variances around the figure itself, not percentiles.

    Where there is no gap a target is as often right as references like it: it counts as right by that share, and what
    its being right or wrong adds in one matching is known. Of that, what luck has by choosing the target is no data's.
    """
    draws = statistics(counts)
    n, data, luck = _apart(draws)
    of_gaps = [STATISTICS.index("matched_gap"), *range(len(STATISTICS), draws.shape[-1])]
    values, variances = if_no_gap(counts)
    known, smooth, luck_of_smooth = _apart(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        added = np.where(np.isnan(values), 0.0, variances).mean(axis=1).sum(axis=0) / known
    no_gap, drawn = data.copy(), data.copy()
    drawn[of_gaps] = smooth
    no_gap[of_gaps] = smooth + np.maximum(added - np.maximum(luck[of_gaps] - luck_of_smooth, 0.0), 0.0)
    few = n < 2
    return Spread(*(np.where(few, np.nan, part) for part in (data, no_gap, drawn, luck, n - 1.0)))


def _apart(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Resamples that can tell, and the variances over data and over the luck of one matching."""
    known = ~np.isnan(draws).any(axis=1)
    n = known.sum(axis=0)
    first, second = (np.where(known, draws[:, turn], 0.0) for turn in range(2))
    middle = (first + second) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        luck = ((first - second) ** 2 / 2).sum(axis=0) / n
        around = np.where(known, middle - middle.sum(axis=0) / n, 0.0)
        data = np.maximum((around**2).sum(axis=0) / (n - 1) - luck / 2, 0.0)
    return n, data, luck


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
