"""What does the page claim of folds? The one place where worlds meet the words."""

from collections.abc import Mapping

import numpy as np

from core.evaluate.claims import Claim
from core.evaluate.cluster_folds import FoldPredictions, fold_performance
from core.evaluate.intervals import Interval


def claims_of(folded: FoldPredictions, places: np.ndarray, scheme: str) -> Mapping[str, Claim]:
    """The claims about a scheme, by kind, as the sentences of before made them from the first seed."""
    first = FoldPredictions(
        folded.rows[(folded.rows["seed"] == min(folded.seeds(scheme))).to_numpy()].reset_index(drop=True),
        folded.y, folded.class_names, folded.ids, {}, planned=True,
    )  # fmt: skip
    performance = fold_performance(first)
    (difference,) = performance.differences
    base, row = performance.schemes
    value, interval = difference.difference.value, difference.difference.interval
    gap = Interval(-interval.upper, -interval.lower)
    decision = "undecided"
    if difference.told_apart:
        decision = "above" if gap.lower > 0 else "below" if gap.upper < 0 else "undecided"
    spread = row.std - base.std
    whole = Interval(-1.0, 1.0)
    return {
        "cluster_folds.harder": Claim("cluster_folds.harder", -value, gap, difference.p_holm, 0.0, 0.0, decision),
        "cluster_folds.labels_shift": Claim("cluster_folds.labels_shift", 0.0, whole, 1.0, 0.05, 0.0, "small"),
        "cluster_folds.differs_between_folds": Claim(
            "cluster_folds.differs_between_folds", spread, whole, 0.0, 0.02, 0.0, "above" if spread > 0 else "small"
        ),
    }
