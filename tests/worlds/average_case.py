"""Fitted models whose robustness is known exactly: do classes differ, are the least robust samples wrong more often?

The model is logistic regression on drawn clouds, refitted for each data set; robustness under normal noise is then the
normal probability of the way to its boundary. Where a world has no effect, classes are dealt to samples by lot.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr

from tests.evaluate.average_case_rows import rows_of
from tests.worlds.average_case_claims import claims_of
from tests.worlds.world import World
from touchstone.core.evaluate.average_case.robustness import evaluate_robustness
from touchstone.core.evaluate.claims import Claim

DIFFER, WRONG_MORE = "average_case.classes_differ", "average_case.least_robust_wrong_more"
SIGMA = 0.5


@dataclass(frozen=True)
class Design:
    """Samples of `n_classes`, dealt `by_lot` or as the model has them; class 0 is `spread` times as wide as class 1.

    Where `in_order`, they stand in the file class by class, the later class the more often right, which robustness has
    nothing to do with; four fifths of them are then robust to the last digit.
    """

    name: str
    n: int
    effects: Mapping[str, float] = field(hash=False)
    by_lot: bool = False
    n_classes: int = 2
    spread: float = 1.0
    in_order: bool = False

    def world(self) -> World:
        """The world of this design."""
        return World("average_case", f"{self.name}, n = {self.n}", dict(self.effects), self.claims)

    def claims(self, data_seed: int, method_seed: int) -> Mapping[str, Claim]:
        """What the page claims of data drawn anew."""
        from sklearn.linear_model import LogisticRegression

        rng = np.random.default_rng([data_seed, self.n])
        x, y = self.drawn(rng, 400)
        model = LogisticRegression().fit(x, y)
        x, y = self.drawn(rng, self.n)
        margin = model.decision_function(x) / np.linalg.norm(model.coef_)
        predicted = (margin > 0).astype(np.int64)
        p = ndtr(np.abs(margin) / SIGMA)
        if self.by_lot:
            y, predicted = rng.integers(self.n_classes, size=self.n), rng.integers(self.n_classes, size=self.n)
        if self.in_order:
            p, y = ndtr(5 * np.abs(margin) / SIGMA), np.sort(y)
            right = rng.random(self.n) < np.linspace(0.75, 0.97, self.n_classes)[y]
            predicted = np.where(right, y, (y + 1) % self.n_classes)
        names = tuple(f"class {label}" for label in range(self.n_classes))
        rows = rows_of(p, y, sigma=SIGMA, predicted=predicted)
        return claims_of(evaluate_robustness(rows, class_names=names, seed=method_seed), SIGMA)

    def drawn(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Two clouds of three columns, 2 apart in the first."""
        y = np.arange(n) % 2
        x = rng.normal(size=(n, 3)) * np.where(y == 0, self.spread, 1.0)[:, None]
        x[:, 0] += 2.0 * y
        return x, y


DESIGNS = (
    Design("classes by lot, 2 classes", 60, {DIFFER: 0.0, WRONG_MORE: 0.0}, by_lot=True),
    Design("classes by lot, 5 classes", 300, {DIFFER: 0.0, WRONG_MORE: 0.0}, by_lot=True, n_classes=5),
    Design("classes by lot, 20 classes", 1000, {DIFFER: 0.0, WRONG_MORE: 0.0}, by_lot=True, n_classes=20),
    Design("ties in order of their classes, by lot, 3 classes", 300, {DIFFER: 0.0, WRONG_MORE: 0.0}, by_lot=True,
           n_classes=3, in_order=True),
    Design("two clouds alike", 400, {WRONG_MORE: 0.4}),
    Design("class 0 four times as wide", 400, {DIFFER: 0.07}, spread=4.0),
)  # fmt: skip
WORLDS = tuple(design.world() for design in DESIGNS)
