"""Where do samples come from, and how does a model see them that was fitted there? Drawn classes, and real digits."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

SHARED = Path(__file__).parents[3] / "shared" / "data"
CENTRES = np.array([[2.2, 0, 0, 0], [0, 2.2, 0, 0], [0, 0, 2.2, 0], [0, 0, 0, 2.2]])


@dataclass(frozen=True)
class Seen:
    """Samples as one fitted model sees them; `chance` is the true probability that its answer is right, if known."""

    label: np.ndarray
    confidence: np.ndarray
    y: np.ndarray
    chance: np.ndarray

    def part(self, index: np.ndarray) -> "Seen":
        return Seen(self.label[index], self.confidence[index], self.y[index], self.chance[index])

    def with_unknown(self, rows: np.ndarray, unknown: "Seen") -> "Seen":
        """Samples at `rows` replaced by those of a class that the model does not know."""
        label, confidence, y = self.label.copy(), self.confidence.copy(), self.y.copy()
        label[rows], confidence[rows], y[rows] = unknown.label, unknown.confidence, -1
        return Seen(label, confidence, y, self.chance)


class Population(Protocol):
    """Where samples come from, and what was fitted to some of them."""

    @property
    def n_classes(self) -> int: ...

    def fitted(self, rng: np.random.Generator) -> Callable[[int, np.random.Generator], Seen]:
        """Fit; the answer draws that many fresh samples as the model sees them."""
        ...


@dataclass(frozen=True)
class Gaussians:
    """Classes are Gaussian, the model is a logistic regression on few or many samples."""

    n_train: int = 400
    apart: float = 1.0
    n_classes: int = 3

    def fitted(self, rng: np.random.Generator) -> Callable[[int, np.random.Generator], Seen]:
        from sklearn.linear_model import LogisticRegression

        centres = self.apart * CENTRES[: self.n_classes]
        y = np.arange(self.n_train) % self.n_classes
        model = LogisticRegression(C=10.0).fit(centres[y] + rng.normal(size=(self.n_train, 4)), y)

        def draw(n: int, rng: np.random.Generator) -> Seen:
            y = rng.integers(self.n_classes, size=n)
            x = centres[y] + rng.normal(size=(n, 4))
            proba = model.predict_proba(x)
            label = proba.argmax(axis=1)
            density = np.exp(-0.5 * ((x[:, None, :] - centres) ** 2).sum(axis=2))
            chance = density[np.arange(n), label] / density.sum(axis=1)
            return Seen(label, proba.max(axis=1), y, chance)

        return draw


@dataclass(frozen=True)
class ManyClasses:
    """Many Gaussian classes, five samples of each to learn from; the model is a linear discriminant."""

    n_classes: int
    n_inputs: int = 12
    apart: float = 1.3

    def learned(self, rng: np.random.Generator) -> tuple[np.ndarray, Any]:
        """The centres of the classes, and the model."""
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        centres = self.apart * rng.normal(size=(self.n_classes, self.n_inputs))
        known = np.arange(5 * self.n_classes) % self.n_classes
        x = centres[known] + rng.normal(size=(len(known), self.n_inputs))
        return centres, LinearDiscriminantAnalysis().fit(x, known)

    def fitted(self, rng: np.random.Generator) -> Callable[[int, np.random.Generator], Seen]:
        centres, model = self.learned(rng)

        def draw(n: int, rng: np.random.Generator) -> Seen:
            y = rng.integers(self.n_classes, size=n)
            proba = model.predict_proba(centres[y] + rng.normal(size=(n, self.n_inputs)))
            return Seen(proba.argmax(axis=1), np.minimum(proba.max(axis=1), 1.0), y, np.full(n, np.nan))

        return draw


@dataclass(frozen=True)
class Noise:
    """Three quarters are of one class, and the inputs say nothing about it; the model is a tree that believes them."""

    n_train: int = 200
    n_classes: int = 2

    def fitted(self, rng: np.random.Generator) -> Callable[[int, np.random.Generator], Seen]:
        from sklearn.tree import DecisionTreeClassifier

        def data(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
            return rng.normal(size=(n, 4)), (rng.random(n) < 0.25).astype(np.int64)

        model = DecisionTreeClassifier(max_depth=3, random_state=0).fit(*data(self.n_train, rng))

        def draw(n: int, rng: np.random.Generator) -> Seen:
            x, y = data(n, rng)
            proba = np.asarray(model.predict_proba(x))
            label = proba.argmax(axis=1)
            return Seen(label, proba.max(axis=1), y, np.where(label == 0, 0.75, 0.25))

        return draw


@dataclass(frozen=True)
class Digits:
    """MNIST as a small network sees it that was fitted to 1 500 images, of any series or of employees' only."""

    series: int | None = None
    n_classes: int = 10

    def fitted(self, rng: np.random.Generator) -> Callable[[int, np.random.Generator], Seen]:
        seen = mnist()
        pool = seen if self.series is None else seen.part(np.flatnonzero(_series() == self.series))
        return lambda n, rng: pool.part(rng.choice(len(pool.y), size=n, replace=False))


@cache
def mnist() -> Seen:
    """All images that the network was not fitted to, as it sees them; it was fitted to some of series 0."""
    x, y, _ = _images()
    return _as_seen(x[_trained_on()[1]], y[_trained_on()[1]])


@cache
def semeion() -> Seen:
    """Another set of digits as that network sees them, which finds them hard."""
    with np.load(SHARED / "semeion.npz") as digits:
        x = np.pad(digits["x"], ((0, 0), (6, 6), (6, 6))).reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4))
        return _as_seen(x.reshape(len(x), -1).astype(np.float32), digits["y"].astype(np.int64))


def _as_seen(x: np.ndarray, y: np.ndarray) -> Seen:
    proba = np.minimum(_network().predict_proba(x).astype(np.float64), 1.0)
    return Seen(proba.argmax(axis=1), proba.max(axis=1), y, np.full(len(y), np.nan))


@cache
def _network():
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    x, y, _ = _images()
    train, _ = _trained_on()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return MLPClassifier((40,), max_iter=40, random_state=0, alpha=1e-3, tol=0.0).fit(x[train], y[train])


@cache
def _series() -> np.ndarray:
    return _images()[2][_trained_on()[1]]


@cache
def _trained_on() -> tuple[np.ndarray, np.ndarray]:
    series = _images()[2]
    train = np.random.default_rng(0).choice(np.flatnonzero(series == 0), size=1500, replace=False)
    return train, np.setdiff1d(np.arange(len(series)), train)


@cache
def _images() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Half the resolution is enough."""
    with np.load(SHARED / "mnist.npz") as digits, np.load(SHARED / "mnist_sources.npz") as sources:
        x = np.concatenate([digits["x_train"], digits["x_test"]]).reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)) / 255
        y = np.concatenate([digits["y_train"], digits["y_test"]]).astype(np.int64)
        series = np.concatenate([sources["hsf_train"], sources["hsf_test"]]).astype(np.int64)
    return x.reshape(len(x), -1).astype(np.float32), y, series
