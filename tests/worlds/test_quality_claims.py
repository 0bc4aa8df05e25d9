"""What does the page claim of a test set? The one place where worlds meet the words."""

from collections.abc import Mapping, Sequence

import numpy as np

from touchstone.core.evaluate.claims import Claim, claim
from touchstone.core.evaluate.covariate_shift import covariate_shift
from touchstone.core.evaluate.intervals import UNKNOWN
from touchstone.core.evaluate.test_quality.quality import measure_quality
from touchstone.core.evaluate.test_quality.verdict import claims_of, moved, moved_together
from touchstone.core.models.layers import LayerSamples


def quality_claims(train: LayerSamples, test: LayerSamples, *, seed: int, any_class: bool) -> Mapping[str, Claim]:
    """The claims by kind: of class 0, or the first that any class is named for."""
    quality = measure_quality(train, test, rng=np.random.default_rng(seed))
    claims, names = claims_of(quality), range(quality.n_classes)
    unsaid = claim("test_quality.pair_share", float("nan"), UNKNOWN, float("nan"))
    pairs = [claims.pairs.get((i, j), unsaid) for i in names for j in names if i != j]
    families = [claims.class_shares, claims.boundary, claims.centroid, pairs]
    chosen = [_one(family, any_class=any_class) for family in families]
    chosen.append(_one(list(claims.differs.values()), any_class=True))
    return {made.kind: made for made in chosen}


def shift_claims(train, y_train, test, y_test, *, seed: int, n_resplits: int, any_class: bool) -> Mapping[str, Claim]:
    """The claims that a class moved, and that all together did."""
    names = tuple(f"class {label}" for label in range(int(y_train.max()) + 1))
    shift = covariate_shift(train, y_train, test, y_test, class_names=names, seed=seed, n_resplits=n_resplits)
    together = moved_together(shift)
    return {"test_quality.shift": _one(list(map(moved, shift.classes)), any_class=any_class), together.kind: together}


def _one(family: Sequence[Claim], *, any_class: bool) -> Claim:
    return next((made for made in family if any_class and made.decided), family[0])
