"""Worlds in which a doubling of the data would bring nothing or next to it, much, or cannot mend the sources.

Data are drawn, models are fitted, on training parts of several sizes as AdequacyPlan makes them. What the next doubling
truly brings is the mean difference between the largest size and half of it on data sets twice as large, by
`next_doubling(world, n_data_sets=40)`; the figures below are those, on clusters seen in training and on held-out
sources.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import pandas as pd

from tests.worlds.world import World
from touchstone.core.data import Dataset
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.data_set_adequacy.adequacy import adequacy_of
from touchstone.core.evaluate.data_set_adequacy.outlook import EXPONENTS, misfit, weights
from touchstone.core.evaluate.data_set_adequacy.plan import ALL, AdequacyPlan
from touchstone.core.evaluate.data_set_adequacy.results import Adequacy
from touchstone.core.evaluate.data_set_adequacy.verdict import WORTH, adequacy_verdict
from touchstone.core.models.threads import single_threaded
from touchstone.core.trials import Context

GAIN, GAP = "data_set_adequacy.gain", "data_set_adequacy.gap"
N_CLASSES = 4
USUAL_REPEATS = AdequacyPlan().n_repeats
"""Those of the page, where nobody asks for others; the other worlds have half as many."""


@dataclass(frozen=True)
class Drawn:
    """How data are drawn: samples, dimensions, distance between class centres, known sources and their spread."""

    n_samples: int
    n_dimensions: int
    apart: float
    n_sources: int = 0
    spread: float = 0.0
    mix: tuple[int, ...] = (1,) * N_CLASSES
    """How many samples of each class come before the first of the next round."""

    def data(self, seed: int, *, times: int = 1) -> Dataset:
        """A data set of this world, or one that is so many times as large; the same seed gives the same."""
        rng = np.random.default_rng([seed, times])
        y = np.resize(np.repeat(np.arange(N_CLASSES), self.mix), times * self.n_samples)
        x = rng.standard_normal((len(y), self.n_dimensions)) + _centres(self)[y]
        sources = None
        if self.n_sources:
            of_source = rng.integers(0, self.n_sources, len(y))
            shape = (N_CLASSES, self.n_sources, self.n_dimensions)
            x += (self.spread * rng.standard_normal(shape))[y, of_source]
            sources = [f"{label}-{source}" for label, source in zip(y, of_source, strict=True)]
        names = [f"class {label}" for label in range(N_CLASSES)]
        return Dataset("drawn", "tabular", x, y, names, [str(row) for row in range(len(y))], sources)

    @property
    def finder(self) -> str:
        """Known sources, or k-means clusters where there are none."""
        return "known" if self.n_sources else "kmeans"


def _centres(world: Drawn) -> np.ndarray:
    """The same for all data sets of a world: corners of a simplex, `apart` from each other."""
    return world.apart / np.sqrt(2) * np.eye(N_CLASSES, world.n_dimensions)


@cache
def found(world: Drawn, data_seed: int, method_seed: int, n_repeats: int = 10) -> Adequacy:
    """What the page would know of these data."""
    usual = round(0.8 * world.n_samples)
    sizes = (usual // 8, usual // 4, usual // 2, ALL)
    return _adequacy(world.data(data_seed), AdequacyPlan(**_plan(world, method_seed, n_repeats), sizes=sizes))


def next_doubling(world: Drawn, *, n_data_sets: int) -> dict[str, float]:
    """What twice as many samples bring on held-out and on seen sources, and the gap, on average over data sets."""
    values = []
    for seed in range(n_data_sets):
        plan = AdequacyPlan(**_plan(world, seed), sizes=(round(0.8 * world.n_samples), ALL))
        once, twice = _adequacy(world.data(seed, times=2), plan).overall[0].points
        ends = [(point.expected.exclusive.value, point.expected.inclusive.value) for point in (once, twice)]
        values.append((ends[1][0] - ends[0][0], ends[1][1] - ends[0][1], ends[0][1] - ends[0][0], *ends[0]))
    means, errors = np.mean(values, axis=0), np.std(values, axis=0) / np.sqrt(n_data_sets)
    names = ("gain held out", "gain seen", "gap", "held out", "seen")
    return {f"{name} ± {error:.4f}": float(mean) for name, mean, error in zip(names, means, errors, strict=True)}


def _plan(world: Drawn, seed: int, n_repeats: int = 10) -> dict[str, object]:
    return {
        "models": ("logistic",),
        "source_finders": (world.finder,),
        "n_repeats": n_repeats,
        "n_clusterings": 2,
        "seed": seed,
    }


def _adequacy(dataset: Dataset, plan: AdequacyPlan) -> Adequacy:
    with single_threaded():
        rows = [plan.run_trial(dataset, index, context=Context()) for index in range(plan.n_trials(dataset))]
    n_per_class = dict(zip(dataset.class_names, dataset.n_per_class.tolist(), strict=True))
    return adequacy_of(pd.concat(rows, ignore_index=True), n_per_class=n_per_class, by_class=False)


def claims(data_seed: int, method_seed: int, *, world: Drawn, n_repeats: int = 10) -> Mapping[str, Claim]:
    verdict = adequacy_verdict(found(world, data_seed, method_seed, n_repeats))
    return {claim.kind: claim for claim in verdict.claims}


SPREAD = {
    10: {0.5: (0.0038, 0.0259), 1.0: (0.0017, 0.0205), 2.0: (0.0003, 0.0168)},
    20: {0.5: (0.0029, 0.0194), 1.0: (0.0013, 0.0154), 2.0: (0.0002, 0.0128)},
}
"""Of SOURCES, by repeats and exponent: how the gain of the next doubling varies over data sets, and how the misfit."""


def learns_the_exponent(data_seed: int, n_repeats: int = 10) -> bool:
    """Whether the best test on held-out sources of SOURCES finds the gain small: it knows all of SPREAD.

    It has to hold whichever exponent is true of those that it does not rule out, as the page has to.
    """
    spread, points = SPREAD[n_repeats], found(SOURCES, data_seed, 1000 * data_seed, n_repeats).overall[0].points
    n, accuracy = (
        np.array(of) for of in zip(*((point.n, point.expected.exclusive.value) for point in points), strict=True)
    )
    fits = [e for e in EXPONENTS if abs(misfit(n, e) @ accuracy) <= 1.96 * spread[e][1]] or EXPONENTS
    return all(abs(weights(n, e) @ accuracy) + 1.96 * spread[e][0] < WORTH for e in fits)


CEILING = Drawn(4000, 32, 3.5)
STEEP = Drawn(280, 40, 3.5)
SOURCES = Drawn(600, 6, 3.5, n_sources=8, spread=1.5)
BY_LOT = Drawn(600, 6, 0.0)
MOSTLY_ONE = Drawn(600, 6, 0.0, mix=(17, 1, 1, 1))
ALIKE = Drawn(600, 6, 0.0, n_sources=8, spread=1.5)
"""Classes with the same centre: what is to be known of one is known of its sources alone, and helps on no other."""


def _world(
    name: str,
    drawn: Drawn,
    effects: Mapping[str, float],
    best: Callable[[int], Mapping[str, bool]],
    *,
    n_repeats: int = 10,
) -> World:
    """`best` of worlds without known sources knows the exponent, too."""
    size = f"{N_CLASSES} classes, {drawn.n_samples} samples in {drawn.n_dimensions} dimensions, logistic"
    made = partial(claims, world=drawn, n_repeats=n_repeats)
    return World("data_set_adequacy", f"{name}, {size}", effects, made, best)


WORLDS: tuple[World, ...] = (
    _world("no sources, at the ceiling", CEILING, {GAIN: 0.003}, lambda _: {GAIN: True}),
    _world("no sources, steep", STEEP, {GAIN: 0.035}, lambda _: {GAIN: True}),
    _world(
        "8 known sources in each class, strong",
        SOURCES,
        {GAIN: 0.002, GAP: 0.15},
        lambda data_seed: {GAIN: learns_the_exponent(data_seed), GAP: True},
    ),
    _world(
        "8 known sources in each class, strong, the usual 20 repeats",
        SOURCES,
        {GAIN: 0.002, GAP: 0.15},
        lambda data_seed: {GAIN: learns_the_exponent(data_seed, USUAL_REPEATS), GAP: True},
        n_repeats=USUAL_REPEATS,
    ),
    _world("labels by lot", BY_LOT, {GAIN: 0.0}, lambda _: {}),
    _world("labels by lot, 85 % of one class", MOSTLY_ONE, {GAIN: 0.0}, lambda _: {}),
    _world("8 known sources in each class, classes alike", ALIKE, {GAIN: 0.0}, lambda _: {}),
)
