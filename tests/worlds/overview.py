"""Samples cross-examined where it is known who is weak: groups, classes and models, on folds with real fits.

Held-out predictions are logistic regression's, fitted anew for every fold. A group is a source of a class; where labels
are wrong by lot at one rate and classes are alike, no group and no class is weaker than another.
"""

from collections.abc import Callable
from math import nan

import numpy as np
import pandas as pd

from core.data import Dataset
from core.evaluate.claims import Claim, claim
from core.evaluate.intervals import UNKNOWN
from core.report.model_pairs import on_folds
from core.report.slices import find_slices, weak_classes, weak_slices
from tests.worlds.world import World

WEAK_GROUP, WEAK_CLASS, BETTER = "overview.weak_group", "overview.weak_class", "overview.better_model"
N_CLASSES, N_SOURCES, N_FOLDS = 3, 6, 5
Drawn = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Inputs, labels and sources."""


def clouds(rng: np.random.Generator, n: int) -> Drawn:
    """Three classes alike, each of one cloud, and sources dealt by lot."""
    y, source = rng.integers(N_CLASSES, size=n), rng.integers(N_SOURCES, size=n)
    return 4.0 * np.eye(N_CLASSES, 6)[y] + rng.normal(size=(n, 6)), y, source


def wrong_by_lot(rng: np.random.Generator, y: np.ndarray, rate: np.ndarray | float) -> np.ndarray:
    """Labels, each changed to one of the others with the chance `rate`."""
    return np.where(rng.random(len(y)) < rate, (y + rng.integers(1, N_CLASSES, len(y))) % N_CLASSES, y)


def noisy(rng: np.random.Generator, n: int) -> Drawn:
    """Every label is wrong in 15 %."""
    x, y, source = clouds(rng, n)
    return x, wrong_by_lot(rng, y, 0.15), source


def noisy_group(rng: np.random.Generator, n: int) -> Drawn:
    """Of those that are labelled class 0 and come from the first source 40 % are wrong, of all others 5 %."""
    x, y, source = clouds(rng, n)
    wrong = rng.random(n) < np.where((y == 0) & (source == 0), 0.4, 0.05)
    others = (y + rng.integers(1, N_CLASSES, n)) % N_CLASSES
    return np.where(wrong[:, None], 4.0 * np.eye(N_CLASSES, 6)[others] + rng.normal(size=(n, 6)), x), y, source


def wide_class(rng: np.random.Generator, n: int) -> Drawn:
    """Class 0 is so wide that it reaches into the others, which are narrow."""
    y = rng.integers(N_CLASSES, size=n)
    centres = 3.0 * np.eye(N_CLASSES, 6)
    return (
        centres[y] + rng.normal(size=(n, 6)) * np.where(y == 0, 2.0, 0.5)[:, None],
        y,
        rng.integers(N_SOURCES, size=n),
    )


def held_out(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """What logistic regression predicts of each sample when its fold is held out."""
    from sklearn.linear_model import LogisticRegression

    fold, predicted = rng.permutation(len(y)) % N_FOLDS, np.empty(len(y), dtype=np.int64)
    for number in range(N_FOLDS):
        trains, tests = fold != number, fold == number
        predicted[tests] = LogisticRegression(max_iter=300).fit(x[trains], y[trains]).predict(x[tests])
    return predicted


def examined(draw: Callable[[np.random.Generator, int], Drawn], n: int, kind: str) -> Callable[[int, int], dict]:
    """What the sheet claims of the weakest group or class of data drawn anew."""

    def claims(data_seed: int, method_seed: int) -> dict[str, Claim]:
        x, y, sources = draw(np.random.default_rng([data_seed, n]), n)
        rng = np.random.default_rng([method_seed, n, 1])
        names = [f"class {label}" for label in range(N_CLASSES)]
        dataset = Dataset(
            "clouds",
            "tabular",
            x,
            y,
            names,
            [str(row) for row in range(n)],
            sources=[f"s{source}" for source in sources],
        )
        correct = (held_out(x, y, rng) == y).astype(float)
        known = pd.DataFrame({"id": dataset.ids, "label": np.array(names)[y], "correct on Random folds": correct})
        weak = weak_classes(known) if kind == WEAK_CLASS else weak_slices(known, find_slices(dataset, x), rng=rng)
        return {kind: weak[0].claim if weak else claim(kind, nan, UNKNOWN, nan)}

    return claims


def two_models(n_own: int, n_other: int, n: int) -> Callable[[int, int], dict]:
    """What the sheet claims of two models that were given so many columns each, none of them the same."""

    def claims(data_seed: int, method_seed: int) -> dict[str, Claim]:
        rng = np.random.default_rng([data_seed, n])
        y = rng.integers(2, size=n)
        x = rng.normal(size=(n, n_own + n_other)) + 0.8 * y[:, None]
        columns = {"svm": x[:, :n_own], "logistic": x[:, n_own:]}
        rows = [
            pd.DataFrame({"scheme": "random_folds", "model": name, "row": range(n), "y_pred": y_pred})
            for name, own in columns.items()
            for y_pred in [held_out(own, y, np.random.default_rng([method_seed, n]))]
        ]
        [pair] = on_folds(pd.concat(rows, ignore_index=True), y)
        return {BETTER: pair.claim}

    return claims


def _world(name: str, n: int, kind: str, effect: float, claims: Callable[[int, int], dict]) -> World:
    return World("overview", f"{name}, n = {n}", {kind: effect}, claims)


_EQUAL = "15 % of all labels wrong by lot"
WORLDS = (
    *(_world(f"{_EQUAL}, sources", n, WEAK_GROUP, 0.0, examined(noisy, n, WEAK_GROUP)) for n in (300, 1200)),
    *(_world(f"{_EQUAL}, classes", n, WEAK_CLASS, 0.0, examined(noisy, n, WEAK_CLASS)) for n in (300, 1200)),
    _world("40 % wrong in one group, 5 % elsewhere", 1200, WEAK_GROUP, 0.35, examined(noisy_group, 1200, WEAK_GROUP)),
    _world("class 0 reaches into the others", 600, WEAK_CLASS, 0.095, examined(wide_class, 600, WEAK_CLASS)),
    *(_world("two models with 2 columns each", n, BETTER, 0.0, two_models(2, 2, n)) for n in (100, 1000)),
    _world("a model with 4 columns, one with 1", 600, BETTER, 0.127, two_models(4, 1, 600)),
)
