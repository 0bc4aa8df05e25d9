"""Two test sets drawn again and again from a population that is known."""

from dataclasses import dataclass

import numpy as np

from touchstone.core.evaluate.matched_subsets import Outcomes
from touchstone.core.evaluate.matched_subsets.estimates import Repeats
from touchstone.core.evaluate.matched_subsets.matching import EPSILON, By, candidates, matchings
from touchstone.core.evaluate.matched_subsets.results import STATISTICS


@dataclass(frozen=True)
class TwoSets:
    """The target is harder (less confidence) and, by `fall`, less often right at the same confidence."""

    n_reference: int = 2000
    n_target: int = 400
    n_labels: int = 3
    fall: float = 0.06
    reference_fall: float = 0.02
    sureness: float = 6.0
    hardness: float = 3.0
    decimals: int | None = None

    def draw(self, rng: np.random.Generator) -> tuple[Outcomes, Outcomes]:
        return (
            self._one(rng, self.n_reference, self.sureness, self.reference_fall),
            self._one(rng, self.n_target, self.hardness, self.fall),
        )

    def _one(self, rng: np.random.Generator, n: int, sureness: float, fall: float) -> Outcomes:
        confidence = 1 - (1 - 1 / self.n_labels) * rng.beta(1, sureness, n) ** 1.2
        correct = rng.random(n) < np.clip(confidence - fall, 0, 1)
        if self.decimals is not None:
            confidence = confidence.round(self.decimals)
        names = tuple(f"label {i}" for i in range(self.n_labels))
        return Outcomes(rng.integers(self.n_labels, size=n), confidence, correct, names)

    def truth(
        self, *, by: By = "label", method="random", epsilon: float = EPSILON, n_draws: int = 2000, seed: int = 99
    ) -> dict[str, float]:
        """What matching gives on average, over data sets that nobody else sees."""
        rng, found = np.random.default_rng(seed), []
        for _ in range(n_draws):
            of = candidates(*self.draw(rng), by=by, epsilon=epsilon, scale="accuracy")
            repeats = Repeats(of)
            repeats.add(next(matchings(of, 1, method=method, rng=rng)))
            found.append(repeats.values[: len(STATISTICS)])
        return dict(zip(STATISTICS, np.nanmean(found, axis=0).tolist(), strict=True))
