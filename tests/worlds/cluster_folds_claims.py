"""What does the page claim of folds? The one place where worlds meet the words."""

from collections.abc import Mapping

import numpy as np

from touchstone.core.data import Predictions
from touchstone.core.evaluate.claims import Claim, claim
from touchstone.core.evaluate.cluster_folds.performance import (
    characteristics_of,
    fold_performance,
    predicted_on,
    relations,
)
from touchstone.core.evaluate.cluster_folds.results import FoldPerformance, ScoredBy
from touchstone.core.evaluate.cluster_folds.tested import FoldPredictions, labels_shift
from touchstone.core.evaluate.cluster_folds.verdict import fold_verdict
from touchstone.core.evaluate.intervals import UNKNOWN

MACRO_F1 = ScoredBy()


def claims_of(
    folded: FoldPredictions, x: np.ndarray, scheme: str, *, metric: ScoredBy = MACRO_F1
) -> Mapping[str, Claim]:
    """The claims about a scheme, by kind, as the page makes them."""
    folds = [folded.folds(scheme, seed) for seed in folded.seeds(scheme)]
    shift = labels_shift(scheme, x, folded.y, folds, rng=np.random.default_rng(0))
    verdict = fold_verdict(fold_performance(folded, metric=metric), scheme=scheme, shifts=[shift] if shift else [])
    unsaid = claim("cluster_folds.labels_shift", float("nan"), UNKNOWN, float("nan"))
    return {unsaid.kind: unsaid} | {made.kind: made for made in verdict.claims}


def claims_beside(
    folded: FoldPredictions,
    performance: FoldPerformance,
    numbers: Mapping[str, np.ndarray],
    held_out: Predictions | None,
    *,
    about: str = "",
    seed: int,
) -> Mapping[str, Claim]:
    """The claims about what scores go with and what they foretell, by kind, as the page makes them.

    Of what scores go with it is the claim `about` this characteristic where one is named, else the one with the
    smallest p-value, which is the one that is most likely wrong.
    """
    rng = np.random.default_rng(seed)
    characteristics = characteristics_of(folded, numbers=numbers, rng=rng)
    related = relations(performance, characteristics, rng=rng) if numbers else ()
    related = [each for each in related if about in ("", each.characteristic)]
    predicted_held_out = predicted_on(performance, {"": held_out}, name="new samples") if held_out is not None else ()
    verdict = fold_verdict(performance, relations=related, predicted_held_out=predicted_held_out)
    return {made.kind: made for made in sorted(verdict.claims, key=lambda made: -made.p_value)}
