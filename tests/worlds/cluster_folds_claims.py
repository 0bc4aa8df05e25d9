"""What does the page claim of folds? The one place where worlds meet the words."""

from collections.abc import Mapping

import numpy as np

from core.evaluate.claims import Claim, claim
from core.evaluate.cluster_folds import FoldPredictions, fold_performance, fold_verdict, labels_shift
from core.evaluate.intervals import UNKNOWN


def claims_of(folded: FoldPredictions, x: np.ndarray, scheme: str) -> Mapping[str, Claim]:
    """The claims about a scheme, by kind, as the page makes them."""
    folds = [folded.folds(scheme, seed) for seed in folded.seeds(scheme)]
    shift = labels_shift(scheme, x, folded.y, folds, rng=np.random.default_rng(0))
    verdict = fold_verdict(fold_performance(folded), scheme=scheme, shifts=[shift] if shift else [])
    unsaid = claim("cluster_folds.labels_shift", float("nan"), UNKNOWN, float("nan"))
    return {unsaid.kind: unsaid} | {made.kind: made for made in verdict.claims}
