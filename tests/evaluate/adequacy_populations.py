"""Simulated populations of sources whose accuracies change with the size of the training set, and their trials.

Built on `populations`: the same sources, samples and draws at every size; only how much is right changes with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, logit

from tests.evaluate.populations import Data, Population
from touchstone.core.evaluate.data_set_adequacy.adequacy import adequacy_of
from touchstone.core.evaluate.data_set_adequacy.results import Adequacy

SIZES = (100, 300, 1000, 3000, 10_000)
POPULATION = Population(n_classes=4, n_sources=8, size=150, size_sd=0.2, source_sd=0.35, training_sd=0.05)
SAME = dict.fromkeys(SIZES, 0.0)
MORE_HELPS = dict(zip(SIZES, (-2.4, -1.4, -0.4, 0.6, 1.6), strict=True))
"""Added to the logits on unfamiliar sources: from far below the familiar ones up to them."""


def sized_trials(
    data: Data,
    rng: np.random.Generator,
    shifts: Mapping[int, float],
    *,
    n_repeats: int = 20,
    model: str = "model",
    schemes: tuple[str, ...] = ("source_exclusive", "source_inclusive"),
) -> pd.DataFrame:
    """Trials at every size; `shifts` are added to the logits on unfamiliar sources. The largest size is "all"."""
    frames = []
    for size, shift in shifts.items():
        rows = data.trials(rng, n_repeats=n_repeats, model=model, shift=shift, schemes=schemes)
        asked = 0 if size == max(shifts) else size
        frames.append(rows.assign(n_train=pd.array([size] * len(rows), dtype="Int64"), size=asked))
    return pd.concat(frames, ignore_index=True).astype({"size": "Int64"})


def classes(trials: pd.DataFrame) -> dict[str, int]:
    """How many samples of each class there are: those tested, and an equal share of the largest size."""
    by_label = trials[(trials["label"].notna() & trials["source"].isna()).to_numpy()]
    tested = by_label.groupby("label")["n_label"].mean()
    return {str(label): round(float(n) + max(SIZES) / len(tested)) for label, n in tested.items()}


def found_of(
    population: Population, shifts: Mapping[int, float], *, seed: int = 0, source_finder: str = "known", **options
) -> Adequacy:
    rng = np.random.default_rng(seed)
    trials = sized_trials(population.data(rng), rng, shifts, **options).assign(source_finder=source_finder)
    return adequacy_of(trials, n_per_class=classes(trials))


def shifts_of(population: Population, accuracies: Mapping[int, float]) -> dict[int, float]:
    """The shifts at which the mean accuracy on unfamiliar sources comes to the given ones."""

    def mean(shift: float) -> float:
        moved = replace(population, exclusive=float(expit(logit(population.exclusive) + shift)))
        return moved.truth(40_000)["exclusive"]

    return {size: brentq(lambda s, a=a: mean(s) - a, -6, 6, xtol=1e-3) for size, a in accuracies.items()}


def power_law(sizes: Sequence[int], *, ceiling: float, first: float, exponent: float) -> dict[int, float]:
    """Accuracies along a power law that begins at `first`."""
    return {n: ceiling - (ceiling - first) * (n / sizes[0]) ** -exponent for n in sizes}
