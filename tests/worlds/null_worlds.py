"""Worlds in which classes are clouds without sources, and worlds in which they have some: clusters stand in for both.

Four classes of 150 samples in 8 dimensions (60 in the high ones), each with a covariance of its own.
"""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import pandas as pd

from tests.worlds.world import World
from touchstone.core.data import Dataset
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.source_robustness.parametric_null import (
    FEWEST_CLOUDS,
    KIND,
    ParametricNullPlan,
    cloud_gaps,
)
from touchstone.core.trials import Context

N_CLASSES, N_PER_CLASS, N_DIMENSIONS = 4, 150, 8
WEAK, MID, STRONG = 1.0, 1.5, 3.0
"""Standard deviation of the sources' centres about their class, where a class's own is about 1."""

Shape = Callable[[np.ndarray, np.random.Generator], np.ndarray]
"""Standard normal samples of one class in, the class's shape out."""


def as_it_is(z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return z


def skewed(z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Log-normal marginals."""
    return np.exp(0.8 * z)


def heavy(z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Student's t with 3 degrees of freedom in all directions at once, which no copula of marginals has."""
    return z / np.sqrt(rng.chisquare(3, len(z)) / 3)[:, None]


def curved(z: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A banana: the second direction bends with the first."""
    bent = z.copy()
    bent[:, 1] += 0.8 * (z[:, 0] ** 2 - 1)
    return bent


def with_sources(z: np.ndarray, rng: np.random.Generator, *, spread: float) -> np.ndarray:
    """Five sources of about the same size, their centres drawn anew for each class."""
    return z + spread * rng.standard_normal((5, z.shape[1]))[rng.integers(0, 5, len(z))]


def drawn(seed: int, shape: Shape, *, n_dimensions: int = N_DIMENSIONS) -> Dataset:
    """A data set of this world; the same seed gives the same."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(N_CLASSES), N_PER_CLASS)
    classes = []
    for _ in range(N_CLASSES):
        mixing = rng.standard_normal((n_dimensions, n_dimensions)) / np.sqrt(n_dimensions) + 0.5 * np.eye(n_dimensions)
        centre = rng.standard_normal(n_dimensions) * np.sqrt(N_DIMENSIONS / n_dimensions)
        classes.append(shape(rng.standard_normal((N_PER_CLASS, n_dimensions)) @ mixing, rng) + centre)
    names = [f"class {label}" for label in range(N_CLASSES)]
    return Dataset("drawn", "tabular", np.concatenate(classes), y, names, [str(row) for row in range(len(y))])


def claims(data_seed: int, method_seed: int, *, shape: Shape, n_dimensions: int = N_DIMENSIONS) -> Mapping[str, Claim]:
    """The claim of a plan as pages start it, but for its Gaussian clouds, on which the claim does not rest."""
    plan = ParametricNullPlan(seed=method_seed)
    dataset = drawn(data_seed, shape, n_dimensions=n_dimensions)
    rows = [plan.run_trial(dataset, index, context=Context()) for index in range(1 + FEWEST_CLOUDS)]
    return {KIND: cloud_gaps(pd.concat(rows)).claim}


def _world(
    name: str, shape: Shape, effect: float, *, reported: bool = False, n_dimensions: int = N_DIMENSIONS
) -> World:
    return World(
        question="source_robustness",
        name=f"{name}, {N_CLASSES} classes of {N_PER_CLASS} in {n_dimensions} dimensions, k-means",
        effects={KIND: effect},
        claims=partial(claims, shape=shape, n_dimensions=n_dimensions),
        best=(lambda data_seed: {KIND: True}) if effect else None,
        reported=reported,
    )


WORLDS: tuple[World, ...] = (
    _world("one Gaussian per class", as_it_is, 0.0),
    _world("one Gaussian per class", as_it_is, 0.0, n_dimensions=60),
    _world("skewed marginals", skewed, 0.0),
    _world("heavy tails", heavy, 0.0, reported=True),
    _world("curved classes", curved, 0.0, reported=True),
    _world("weak source effect", partial(with_sources, spread=WEAK), 0.03, reported=True),
    _world("mid source effect", partial(with_sources, spread=MID), 0.1),
    _world("strong source effect", partial(with_sources, spread=STRONG), 0.2),
)
