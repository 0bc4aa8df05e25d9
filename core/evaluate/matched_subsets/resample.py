"""How far would the matched gap be off with other data? A bootstrap that matches anew."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from core.evaluate.matched_subsets.matching import Candidates

STATISTICS = ("gap", "matched_gap", "explained", "unmatched_target", "unmatched_reference")


@dataclass(frozen=True)
class Resampled:
    """Standard errors over data of a mean over `n_repeats` matchings, by statistic; NaN where unknown."""

    se: dict[str, float]
    df: float


def resample(
    pairable: Candidates, *, n_resamples: int, n_repeats: int, rng: np.random.Generator, on_step: Callable[[], None]
) -> Resampled:
    """Draw both sets anew with replacement, match each such pair of sets twice, and take variances apart.

    Two matchings of the same resample differ by the luck of matching alone; what is left is the data's share. The
    published figure is a mean over `n_repeats` matchings, so its variance is the data's plus that of luck divided by
    `n_repeats`. A spread of single matchings would count luck in full (up to 1.4 times too wide), the spread of the
    repeats would count nothing but luck. A resample's duplicates compete for the same partners, which shifts its
    values: hence standard errors around the figure itself, not percentiles.
    """
    draws = np.full((n_resamples, 2, len(STATISTICS)), np.nan)
    for i in range(n_resamples):
        draws[i] = _rematched_twice(pairable, rng)
        on_step()
    draws = draws[~np.isnan(draws).any(axis=(1, 2))]
    if len(draws) < 2:
        return Resampled(dict.fromkeys(STATISTICS, float("nan")), float("nan"))
    luck: Float[np.ndarray, " n_statistics"] = (np.diff(draws, axis=1)[:, 0] ** 2 / 2).mean(axis=0)
    data = np.maximum(draws.mean(axis=1).var(axis=0, ddof=1) - luck / 2, 0.0)
    se = np.sqrt(data + luck / n_repeats)
    return Resampled(dict(zip(STATISTICS, se.tolist(), strict=True)), float(len(draws) - 1))


def _rematched_twice(pairable: Candidates, rng: np.random.Generator) -> list[tuple[float, ...]]:
    from core.evaluate.matched_subsets.kernels import draw_partners

    n_reference, n_target = len(pairable.reference), len(pairable.target)
    copies = np.bincount(rng.integers(n_reference, size=n_reference), minlength=n_reference).astype(np.int32)
    turn = rng.integers(n_target, size=n_target)
    correct, target_correct = (
        pairable.reference.correct[pairable.reference_order],
        pairable.target.correct[pairable.target_order],
    )
    gap = (copies @ correct) / n_reference - target_correct[turn].mean()
    draws = []
    for _ in range(2):
        partner = draw_partners(pairable.first, pairable.last, turn, copies, rng.random(n_target))
        paired = partner >= 0
        n = int(paired.sum())
        matched = correct[partner[paired]].mean() - target_correct[turn[paired]].mean() if n else np.nan
        draws.append((gap, matched, gap - matched, 1 - n / n_target, 1 - n / n_reference))
        turn = rng.permutation(turn)
    return draws
