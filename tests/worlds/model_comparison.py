"""Worlds in which models on the same samples are as good, or one is worse by as much as is known.

One fitted classifier is asked about another block of features each time, so that all models are as good; noise on one
block makes a model worse. The true difference is the mean over 300 fits, each on 20,000 samples (its error: .0002).
"""

from collections.abc import Mapping
from functools import partial

import numpy as np

from tests.evaluate.test_model_comparison import compared, drawn
from tests.worlds.world import World
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.model_comparison import BETTER, CLASS_CHANGES


def claims(
    data_seed: int, method_seed: int, *, n: int, n_models: int = 2, unit_sd: float = 0.0, noise: tuple[float, ...] = ()
) -> Mapping[str, Claim]:
    """What is said of the model that differs most surely, and of the class that does."""
    rng = np.random.default_rng([52, data_seed])
    found = compared(drawn(rng, n, n_models=n_models, unit_sd=unit_sd, noise=noise))
    first = min(found.against_reference, key=lambda each: each.claim.p_value)
    of_class = min(found.classes.values(), key=lambda each: each.claim.p_value)
    return {BETTER: first.claim, CLASS_CHANGES: of_class.claim}


def _world(name: str, effects: Mapping[str, float], **how: object) -> World:
    return World("model_comparison", f"{name}, ridge", effects, partial(claims, **how))


WORSE = {BETTER: 0.0253, CLASS_CHANGES: 0.0253}
ALIKE = {BETTER: 0.0, CLASS_CHANGES: 0.0}
WORLDS: tuple[World, ...] = (
    _world("two models as good, n = 400", ALIKE, n=400),
    _world("two models as good, 20 authors, n = 400", ALIKE, n=400, unit_sd=0.4),
    _world("eight models as good, n = 400", ALIKE, n=400, n_models=8),
    _world("the reference is worse, n = 1000", WORSE, n=1000, noise=(0.5,)),
)
