"""Two networks on one suite of generated pictures: is either more accurate?

A picture is a blob with noise; its class is where the blob lies: left, right or between. Mirroring a picture swaps
the first two classes, and the training part holds every picture with its mirror image. So a network and its mirror
image (mirror the picture, ask, swap the answer) are different models of one true accuracy: nothing separates them but
the test part, which is drawn anew. In other worlds the second network has learned from labels some of which are
wrong; these true effects are means over 100 other data sets (`truth`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from tests.worlds.guided_tests_claims import claim_of_two_models
from tests.worlds.world import World
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.guided_tests.suite import JudgedSuite, make_suite, suite_difference
from touchstone.core.models import MODELS
from touchstone.core.models.classical import Classifier

SECOND = "guided_tests.second_model"
SIDE, N_TRAIN = 8, 300
SWAPPED = np.array([1, 0, 2])
NAMES = ("left", "right", "between")


@dataclass(frozen=True)
class Design:
    """How many test samples are drawn, and which share of the second network's labels is wrong (None: mirrored)."""

    name: str
    n_test: int
    effect: float
    wrong: float | None = None

    def world(self) -> World:
        """The world of this design."""
        return World("guided_tests", f"{self.name}, n = {self.n_test}", {SECOND: self.effect}, self.claims)

    def claims(self, data_seed: int, method_seed: int) -> Mapping[str, Claim]:
        """What the page claims of two networks on a suite made anew."""
        x, y = training_part()
        new_x, new_y = drawn(np.random.default_rng([data_seed, self.n_test]), self.n_test)
        images, labels = np.concatenate([x, new_x]), np.concatenate([y, new_y])
        rows = np.arange(len(labels))
        parts = {"train_rows": rows[: len(y)], "test_rows": rows[len(y) :]}
        suite = make_suite(images, labels, rows.astype(str), **parts, class_names=NAMES, seed=method_seed)
        first = network(0.0).predict_proba(suite.pixels)
        if self.wrong is None:
            second = network(0.0).predict_proba(suite.pixels[:, :, ::-1].copy())[:, SWAPPED]
        else:
            second = network(self.wrong).predict_proba(suite.pixels)
        judged = [JudgedSuite(suite, one.argmax(axis=1), one.max(axis=1)) for one in (first, second)]
        return claim_of_two_models(suite_difference(*judged))


def drawn(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Blobs: their pictures and classes."""
    y = rng.integers(3, size=n)
    column = (np.array([0.3, 0.7, 0.5])[y] + 0.05 * rng.normal(size=n))[:, None, None]
    row, size = rng.uniform(0.3, 0.7, size=(n, 1, 1)), rng.uniform(0.15, 0.25, size=(n, 1, 1))
    rows, columns = np.mgrid[:SIDE, :SIDE] / (SIDE - 1)
    blobs = np.exp(-((rows - row) ** 2 + (columns - column) ** 2) / (2 * size**2))
    noisy = np.clip(blobs + 0.1 * rng.normal(size=blobs.shape), 0, 1)
    return noisy[..., None].astype(np.float32), y


@cache
def training_part() -> tuple[np.ndarray, np.ndarray]:
    """Every picture with its mirror image."""
    x, y = drawn(np.random.default_rng(0), N_TRAIN // 2)
    return np.concatenate([x, x[:, :, ::-1]]), np.concatenate([y, SWAPPED[y]])


@cache
def network(wrong: float) -> Classifier:
    """A network that learned from the first half of the training part, unmirrored, a share of its labels `wrong`."""
    x, y = (part[: N_TRAIN // 2] for part in training_part())
    rng = np.random.default_rng(1)
    changed = rng.random(len(y)) < wrong
    y = np.where(changed, (y + rng.integers(1, 3, len(y))) % 3, y)
    return MODELS["mlp_small"](n_epochs=60).fit(x, y, seed=0, n_classes=3)


def truth(design: Design, n_data_sets: int = 100) -> tuple[float, float]:
    """By how much the second is more accurate: the mean over data sets, and its standard error."""
    values = [design.claims(seed, seed)[SECOND].estimate for seed in range(10_000, 10_000 + n_data_sets)]
    return float(np.mean(values)), float(np.std(values) / np.sqrt(n_data_sets))


DESIGNS = (
    Design("a network and its mirror image", 60, 0.0),
    Design("a network and its mirror image", 300, 0.0),
    Design("a network and one with 20 % wrong labels", 100, -0.069, wrong=0.2),
)
WORLDS = tuple(design.world() for design in DESIGNS)
