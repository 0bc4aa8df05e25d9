"""What does the page claim of a test set? The one place where worlds meet the words."""

from collections.abc import Iterable, Mapping

import numpy as np

from core.evaluate.claims import Claim, Decision
from core.evaluate.covariate_shift import covariate_shift
from core.evaluate.intervals import Interval
from core.evaluate.test_quality import measure_quality
from core.evaluate.test_quality.verdict import findings
from core.models.layers import LayerSamples

DIMENSIONS = {
    "class_share": "equivalence partitioning",
    "boundary_share": "boundary conditioning",
    "centroid_share": "centroid positioning",
    "pair_share": "pairwise boundary conditioning",
}


def made(kind: str, decision: Decision) -> Claim:
    """A claim of before."""
    return Claim(f"test_quality.{kind}", 0.0, Interval(-1.0, 1.0), 0.0, 0.0, 0.0, decision)


def quality_claims(train: LayerSamples, test: LayerSamples, *, seed: int, any_class: bool) -> Mapping[str, Claim]:
    """The claims by kind, as the sentences of before made them."""
    quality = measure_quality(train, test, rng=np.random.default_rng(seed))
    claims = {}
    for kind, dimension in DIMENSIONS.items():
        seen = [
            finding.direction
            for finding in findings(quality)
            if finding.dimension == dimension and (any_class or finding.label == "class 0")
            and not (kind == "boundary_share" and "random split" not in finding.text)
        ]  # fmt: skip
        direction = {"over": "above", "under": "below"}[seen[0]] if seen else "undecided"
        claims[f"test_quality.{kind}"] = made(kind, direction)
    spreads = [spread.value > spread.by_chance for spread in quality.spreads.values()]
    claims["test_quality.differs_between_classes"] = made("differs_between_classes", _any(spreads))
    return claims


def shift_claims(train, y_train, test, y_test, *, seed: int, n_resplits: int, any_class: bool) -> Mapping[str, Claim]:
    """The claim that a class moved."""
    names = tuple(f"class {label}" for label in range(int(y_train.max()) + 1))
    shift = covariate_shift(train, y_train, test, y_test, class_names=names, seed=seed, n_resplits=n_resplits)
    moved = [one.shifted for one in shift.classes if any_class or one.label == "class 0"]
    return {"test_quality.shift": made("shift", _any(moved))}


def _any(seen: Iterable[bool]) -> Decision:
    return "above" if any(seen) else "undecided"
