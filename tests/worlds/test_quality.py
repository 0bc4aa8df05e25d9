"""Test sets of known make: is a class, its boundary or its middle over- or under-represented, and did a class move?

Models are fitted on the drawn training samples; features are the inputs. In worlds without an effect any class that is
named is an error; in the others class 0 is looked at.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tests.worlds.test_quality_claims import quality_claims, shift_claims
from tests.worlds.world import World
from touchstone.core.evaluate.claims import Claim
from touchstone.core.models.layers import LayerSamples

SHARE, BOUNDARY, CENTROID, PAIR, DIFFERS, SHIFT, TOGETHER = (
    f"test_quality.{name}"
    for name in (
        "class_share",
        "boundary_share",
        "centroid_share",
        "pair_share",
        "differs_between_classes",
        "shift",
        "shift_together",
    )
)
NOTHING = {SHARE: 0.0, BOUNDARY: 0.0, CENTROID: 0.0, PAIR: 0.0, DIFFERS: 0.0}
RESPLITS = 40


@dataclass(frozen=True)
class Design:
    """A test set beside its training set: `keep` of class 0 is drawn, `scale` times as spread, and `moved` off.

    Test labels are dealt evenly, or `by_lot`, as they come where nobody chooses.
    """

    name: str
    n_test: int
    effects: Mapping[str, float] = field(hash=False)
    n_classes: int = 3
    n_train: int = 900
    keep: float = 1.0
    scale: float = 1.0
    moved: float = 0.0
    shift: bool = False
    by_lot: bool = False

    def world(self) -> World:
        """The world of this design."""
        return World(
            "test_quality", f"{self.name}, n = {self.n_train} + {self.n_test}", dict(self.effects), self.claims
        )

    def claims(self, data_seed: int, method_seed: int) -> Mapping[str, Claim]:
        """What the page claims of data drawn anew."""
        rng = np.random.default_rng([data_seed, self.n_test])
        place = 2.0 * np.eye(self.n_classes, 4)
        n_train, n_test = self.n_train // self.n_classes, self.n_test // self.n_classes
        y_train, y_test = (np.repeat(np.arange(self.n_classes), n) for n in (n_train, n_test))
        if self.by_lot:
            y_test = rng.integers(self.n_classes, size=self.n_test)
        y_test = y_test[(y_test > 0) | (rng.random(len(y_test)) < self.keep)]
        train = place[y_train] + rng.normal(size=(len(y_train), 4))
        noise = rng.normal(size=(len(y_test), 4)) * np.where(y_test == 0, self.scale, 1.0)[:, None]
        test = place[y_test] + noise + self.moved * (y_test == 0)[:, None]
        none = not any(self.effects.values())
        if self.shift:
            return shift_claims(train, y_train, test, y_test, seed=method_seed, n_resplits=RESPLITS, any_class=none)
        return quality_claims(*_samples(train, y_train, test, y_test), seed=method_seed, any_class=none)


def _samples(train: np.ndarray, y_train: np.ndarray, test: np.ndarray, y_test: np.ndarray) -> list[LayerSamples]:
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit(train, y_train)
    names = tuple(f"class {label}" for label in range(int(y_train.max()) + 1))
    return [LayerSamples(x, y, model.predict_proba(x), names) for x, y in ((train, y_train), (test, y_test))]


DESIGNS = (
    Design("as the training set, 3 classes", 300, NOTHING),
    Design("as the training set, 4 classes, small", 60, NOTHING, n_classes=4, n_train=200),
    Design("as the training set, 50 classes by lot", 150, {SHARE: 0.0}, n_classes=50, by_lot=True),
    Design("half of class 0 missing", 600, {SHARE: -0.4}, keep=0.5),
    Design("class 0 half as wide", 600, {BOUNDARY: -0.1, CENTROID: 0.4, DIFFERS: 0.1}, scale=0.5),
    Design("nothing moved, 2 classes", 160, {SHIFT: 0.0, TOGETHER: 0.0}, n_classes=2, n_train=320, shift=True),
    Design("class 0 moved by .4 in each of 4 columns", 160, {SHIFT: 0.1, TOGETHER: 0.05}, n_classes=2, n_train=320,
           moved=0.4, shift=True),
)  # fmt: skip
WORLDS = tuple(design.world() for design in DESIGNS)
