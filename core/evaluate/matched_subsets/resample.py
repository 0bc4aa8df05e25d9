"""How far would the numbers of a matching be off with other data? A bootstrap that matches anew."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Integer

from touchstone.core.evaluate.matched_subsets.matching import Candidates
from touchstone.core.evaluate.matched_subsets.tally import STATISTICS, gaps_drawn, statistics, tally


@dataclass(frozen=True)
class Spread:
    """Of each of `statistics`: variances over data and over the luck of one matching, and degrees of freedom.

    `if_no_gap` is that over data where both sets are as right as each other at equal confidence; another than `data`
    for matched gaps alone.
    """

    data: Float[np.ndarray, " n_statistics"]
    if_no_gap: Float[np.ndarray, " n_statistics"]
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

    Where there is no gap, a reference and a target alike are right with the same probability: each resample has right
    answers that are drawn so, too, and their variance is taken apart in the same way.
    """
    draws = statistics(counts)
    n, data, luck = _apart(draws)
    no_gap = data.copy()
    no_gap[[STATISTICS.index("matched_gap"), *range(len(STATISTICS), len(data))]] = _apart(gaps_drawn(counts))[1]
    few = n < 2
    return Spread(*(np.where(few, np.nan, part) for part in (data, no_gap, luck, n - 1.0)))


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
    from touchstone.core.evaluate.matched_subsets.kernels import draw_partners

    (_, copies, right), (turn, _, other) = (_drawn_anew(share, rng) for share in pairable.alike)
    counts = []
    for _ in range(2):
        partner = draw_partners(pairable.first, pairable.last, turn, copies, rng.random(len(turn)))
        counts.append(tally(pairable, partner, turn, copies, (right, other)))
        turn = rng.permutation(turn)
    return np.stack(counts)


def _drawn_anew(
    share: Float[np.ndarray, " n"], rng: np.random.Generator
) -> tuple[Integer[np.ndarray, " n"], Integer[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """Samples drawn with replacement, how often each came, and how many of its copies are right, as a share of them."""
    n = len(share)
    picked = rng.integers(n, size=n)
    copies = np.bincount(picked, minlength=n).astype(np.int32)
    right = np.bincount(picked, weights=rng.random(n) < share[picked], minlength=n)
    return picked, copies, right / np.maximum(copies, 1)
