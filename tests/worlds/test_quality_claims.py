"""What does the page claim of a test set? The one place where worlds meet the words."""

from collections.abc import Mapping, Sequence

import numpy as np

from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.covariate_shift import covariate_shift
from touchstone.core.evaluate.test_quality import measure_quality
from touchstone.core.evaluate.test_quality.quality_claims import (
    class_shares,
    differs_between_classes,
    moved,
    moved_together,
    pair_share,
    shares_beside,
)
from touchstone.core.models.layers import LayerSamples


def quality_claims(train: LayerSamples, test: LayerSamples, *, seed: int, any_class: bool) -> Mapping[str, Claim]:
    """The claims by kind: of class 0, or the first that any class is named for."""
    quality = measure_quality(train, test, rng=np.random.default_rng(seed))
    names = range(quality.n_classes)
    pairs = [pair_share(quality.pairs, i, j) for i in names for j in names if i != j]
    families = [
        class_shares(quality.equivalence),
        shares_beside(quality.boundary),
        shares_beside(quality.centroid),
        pairs,
    ]
    chosen = [_one(family, any_class=any_class) for family in families]
    chosen.append(_one(list(differs_between_classes(quality).values()), any_class=True))
    return {claim.kind: claim for claim in chosen}


def shift_claims(train, y_train, test, y_test, *, seed: int, n_resplits: int, any_class: bool) -> Mapping[str, Claim]:
    """The claims that a class moved, and that all together did."""
    names = tuple(f"class {label}" for label in range(int(y_train.max()) + 1))
    shift = covariate_shift(train, y_train, test, y_test, class_names=names, seed=seed, n_resplits=n_resplits)
    together = moved_together(shift)
    return {"test_quality.shift": _one(list(map(moved, shift.classes)), any_class=any_class), together.kind: together}


def _one(family: Sequence[Claim], *, any_class: bool) -> Claim:
    return next((claim for claim in family if any_class and claim.decided), family[0])
