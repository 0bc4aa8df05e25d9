"""Tests generated for fitted models: does the model do worse near the centroids than on the original test samples?

The head is logistic regression fitted on drawn clouds. What is generated near a centroid lies where classes are
clearest, so that a model that has learned its classes does no worse there. One that learned nothing does, if its test
set was labelled by the model itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from tests.worlds.guided_tests_claims import claims_of
from tests.worlds.world import World
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.guided_tests.generate import generate_tests, start
from touchstone.core.evaluate.guided_tests.plan import Guided
from touchstone.core.evaluate.test_quality.regions import fit_regions
from touchstone.core.models.layers import LayerSamples

WORSE = "guided_tests.worse_near_centroids"


@dataclass(frozen=True)
class Design:
    """Three clouds `apart`; `by_head`, labels of the test set are what the model says, but for one in fifty."""

    name: str
    n_test: int
    effect: float
    apart: float = 2.0
    by_head: bool = False

    def world(self) -> World:
        """The world of this design."""
        return World("guided_tests", f"{self.name}, n = {self.n_test}", {WORSE: self.effect}, self.claims)

    def claims(self, data_seed: int, method_seed: int) -> Mapping[str, Claim]:
        """What the page claims of tests that are generated for a model fitted anew."""
        from sklearn.linear_model import LogisticRegression

        rng = np.random.default_rng([data_seed, self.n_test])
        parts = [self.drawn(rng, n) for n in (300, self.n_test)]
        model = LogisticRegression().fit(*parts[0])
        names = ("a", "b", "c")

        def head(features: np.ndarray) -> np.ndarray:
            return softmax(features @ model.coef_.T + model.intercept_, axis=1)

        train, test = (LayerSamples(x, y, head(x), names) for x, y in parts)
        if self.by_head:
            y = np.where(rng.random(len(test)) < 0.98, test.predicted, rng.integers(3, size=len(test)))
            test = LayerSamples(test.features, y, test.proba, names)
        begin = start(fit_regions(train), head, train=train, test=test)
        tests = generate_tests(begin, 30, centroid_share=0.5, seed=method_seed)
        n_correct = int((test.predicted == test.labels).sum())
        return claims_of(Guided(names, len(test), n_correct, tests, None, None, None))

    def drawn(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Clouds of four columns around three corners."""
        y = np.arange(n) % 3
        return self.apart * np.eye(3, 4)[y] + rng.normal(size=(n, 4)), y


DESIGNS = (
    Design("three clouds, 2 apart", 60, -0.08),
    Design("three clouds, 2 apart", 600, -0.08),
    Design("three clouds, 4 apart", 150, -0.007, apart=4.0),
    Design("clouds that nearly coincide, tests labelled by the head", 300, 0.3, apart=0.3, by_head=True),
)
WORLDS = tuple(design.world() for design in DESIGNS)
