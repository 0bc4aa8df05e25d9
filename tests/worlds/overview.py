"""Samples cross-examined where it is known who is weak: groups, classes and models, on folds with real fits.

Held-out predictions are logistic regression's where no other model is named, fitted anew for every fold. A group is a
source of a class; where labels are wrong by lot at one rate and classes are alike, no group and no class is weaker than
another, whatever a single model makes of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import nan

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from tests.worlds.world import World
from touchstone.core.data import Dataset
from touchstone.core.evaluate.claims import Claim, claim
from touchstone.core.evaluate.intervals import UNKNOWN
from touchstone.core.evaluate.overview import find_slices, weak_classes, weak_slices
from touchstone.core.report.model_pairs import ModelPair, on_folds

WEAK_GROUP, WEAK_CLASS, BETTER = "overview.weak_group", "overview.weak_class", "overview.better_model"
RANDOM = "correct on Random folds"
N_CLASSES, N_SOURCES, N_FOLDS = 3, 6, 5
Drawn = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Inputs, labels and sources."""
Recipes = tuple[np.ndarray, np.ndarray, list[tuple[slice, Callable[[int], BaseEstimator]]]]
"""Inputs, labels, and two recipes: the columns that each is given, and what makes it from a seed."""
DrawTwo = Callable[[np.random.Generator, int], Recipes]


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


def even(rng: np.random.Generator, n: int) -> Drawn:
    """The clouds with as many samples of each class: no model has a reason to prefer one."""
    y, source = np.arange(n) % N_CLASSES, rng.integers(N_SOURCES, size=n)
    return 4.0 * np.eye(N_CLASSES, 6)[y] + rng.normal(size=(n, 6)), y, source


def wide_class(rng: np.random.Generator, n: int) -> Drawn:
    """Class 0 is so wide that it reaches into the others, which are narrow."""
    y = rng.integers(N_CLASSES, size=n)
    centres = 3.0 * np.eye(N_CLASSES, 6)
    return (
        centres[y] + rng.normal(size=(n, 6)) * np.where(y == 0, 2.0, 0.5)[:, None],
        y,
        rng.integers(N_SOURCES, size=n),
    )


def logistic(_seed: int) -> BaseEstimator:
    """Logistic regression, in which nothing is drawn."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=300)


def small_tree(seed: int) -> BaseEstimator:
    """A tree of depth two that looks at two columns drawn by lot at each node: the next one may be quite another."""
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(max_depth=2, max_features=2, random_state=seed)


def held_out(
    x: np.ndarray, y: np.ndarray, fold: np.ndarray, make: Callable[[int], BaseEstimator] = logistic, first_seed: int = 0
) -> np.ndarray:
    """What is predicted of each sample by a model that was trained without its fold."""
    predicted = np.empty(len(y), dtype=np.int64)
    for number in range(N_FOLDS):
        trains, tests = fold != number, fold == number
        predicted[tests] = make(first_seed + number).fit(x[trains], y[trains]).predict(x[tests])
    return predicted


def examined(
    draw: Callable[[np.random.Generator, int], Drawn],
    n: int,
    kind: str,
    make: Callable[[int], BaseEstimator] = logistic,
    n_seeds: int = 1,
) -> Callable[[int, int], dict]:
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
        seeds = []
        for seed in range(n_seeds):
            fold = rng.permutation(n) % N_FOLDS
            first_seed = int(rng.integers(2**30)) if make is not logistic else 0
            right = (held_out(x, y, fold, make, first_seed) == y).astype(float)
            seeds.append(pd.DataFrame({"seed": seed, "fold": fold, "row": range(n), "right": right}))
        tested = pd.concat(seeds, ignore_index=True)
        correct = tested.groupby("row")["right"].mean()
        known = pd.DataFrame({"id": dataset.ids, "label": np.array(names)[y], RANDOM: correct})
        if kind == WEAK_CLASS:
            weak = weak_classes(known, {RANDOM: tested})
        else:
            weak = weak_slices(known, {RANDOM: tested}, find_slices(dataset, x), rng=rng)
        return {kind: weak[0].claim if weak else claim(kind, nan, UNKNOWN, nan)}

    return claims


def columns_apart(n_own: int, n_other: int) -> DrawTwo:
    """Two models that are given so many columns each, none of them the same."""

    def draw(rng: np.random.Generator, n: int) -> Recipes:
        y = rng.integers(2, size=n)
        x = rng.normal(size=(n, n_own + n_other)) + 0.8 * y[:, None]
        return x, y, [(slice(n_own), logistic), (slice(n_own, None), logistic)]

    return draw


def trees_alike(rng: np.random.Generator, n: int) -> Recipes:
    """One recipe twice, which gives quite another model each time; two of five columns tell the classes apart."""
    y = np.arange(n) % 2
    x = rng.normal(size=(n, 5)) + y[:, None] * np.array([1.5, 0.7, 0.0, 0.0, 0.0])
    return x, y, [(slice(None), small_tree), (slice(None), small_tree)]


@dataclass(frozen=True)
class TwoModels:
    """Two models on the same folds of drawn data, with so many seeds.

    `spread` is the standard deviation of the difference over data sets, as a large simulation has it: the best test is
    a z-test that knows it.
    """

    name: str
    draw: DrawTwo
    n: int
    effect: float
    n_seeds: int = 1
    spread: float = 0.0

    def pair(self, data_seed: int, method_seed: int) -> ModelPair:
        """What the sheet says of the two."""
        x, y, models = self.draw(np.random.default_rng([data_seed, self.n]), self.n)
        rows = []
        for seed in range(self.n_seeds):
            rng = np.random.default_rng([method_seed, self.n, seed])
            fold = rng.permutation(self.n) % N_FOLDS
            for name, (columns, make) in zip(("svm", "logistic"), models, strict=True):
                y_pred = held_out(x[:, columns], y, fold, make, int(rng.integers(2**30)))
                known = {"scheme": "random_folds", "seed": seed, "model": name, "fold": fold}
                rows.append(pd.DataFrame(known | {"row": range(self.n), "y_pred": y_pred}))
        [pair] = on_folds(pd.concat(rows, ignore_index=True), y)
        return pair

    def world(self) -> World:
        """The world of this design."""
        return World(
            "overview",
            f"{self.name}, n = {self.n}",
            {BETTER: self.effect},
            lambda data_seed, method_seed: {BETTER: self.pair(data_seed, method_seed).claim},
            best=self.best if self.spread else None,
        )

    def best(self, data_seed: int) -> dict[str, bool]:
        """Whether a test that knows the spread finds the difference."""
        return {BETTER: abs(self.pair(data_seed, 1000 * data_seed).claim.estimate) > 1.96 * self.spread}


def _world(name: str, n: int, kind: str, effect: float, claims: Callable[[int, int], dict]) -> World:
    return World("overview", f"{name}, n = {n}", {kind: effect}, claims)


FEW_COLUMNS = TwoModels(
    "a model with 4 columns, one with 1, three seeds", columns_apart(4, 1), 200, 0.132, n_seeds=3, spread=0.0463
)
_EQUAL = "15 % of all labels wrong by lot"
WORLDS = (
    *(_world(f"{_EQUAL}, sources", n, WEAK_GROUP, 0.0, examined(noisy, n, WEAK_GROUP)) for n in (300, 1200)),
    *(_world(f"{_EQUAL}, classes", n, WEAK_CLASS, 0.0, examined(noisy, n, WEAK_CLASS)) for n in (300, 1200)),
    _world("40 % wrong in one group, 5 % elsewhere", 1200, WEAK_GROUP, 0.35, examined(noisy_group, 1200, WEAK_GROUP)),
    _world("class 0 reaches into the others", 600, WEAK_CLASS, 0.095, examined(wide_class, 600, WEAK_CLASS)),
    _world(
        "class 0 reaches into the others, three seeds",
        200,
        WEAK_CLASS,
        0.11,
        examined(wide_class, 200, WEAK_CLASS, n_seeds=3),
    ),
    *(
        _world(f"{of} alike, small trees, {seeds}", 600, kind, 0.0, examined(even, 600, kind, small_tree, n_seeds))
        for kind, of in ((WEAK_CLASS, "classes"), (WEAK_GROUP, "groups"))
        for n_seeds, seeds in ((1, "one seed"), (3, "three seeds"))
    ),
    *(TwoModels("two models with 2 columns each", columns_apart(2, 2), n, 0.0).world() for n in (100, 1000)),
    *(
        TwoModels(f"one recipe twice, small trees, {seeds}", trees_alike, n, 0.0, n_seeds).world()
        for n, n_seeds, seeds in ((1000, 1, "one seed"), (200, 3, "three seeds"))
    ),
    TwoModels("a model with 4 columns, one with 1", columns_apart(4, 1), 600, 0.13).world(),
    FEW_COLUMNS.world(),
)
