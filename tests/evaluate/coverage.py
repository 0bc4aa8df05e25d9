"""How often does an interval hold the truth? Data sets drawn again and again from a population that is known."""

from collections import Counter

import numpy as np

from core.evaluate.intervals import Interval
from core.evaluate.source_robustness import expected_accuracy_intervals
from core.evaluate.source_robustness.counts import EXCLUSIVE, INCLUSIVE, groups
from tests.evaluate.populations import Data, Population

NUMBERS = ("exclusive", "inclusive", "rho")


def coverage(population: Population, *, n_data_sets: int, n_repeats: int = 20, seed: int = 1) -> dict[str, float]:
    """Share of data sets whose intervals held the truth, by number and kind of interval."""
    truth, rng, held = population.truth(), np.random.default_rng(seed), Counter()
    for _ in range(n_data_sets):
        trials = population.data(rng).trials(rng, n_repeats=n_repeats)
        (row,) = expected_accuracy_intervals(trials).overall
        resampled = percentile_bootstrap(trials, rng)
        for name in NUMBERS:
            estimate = getattr(row, name)
            held[name, "over sources"] += estimate.over_sources.holds(truth[name])
            held[name, "over draws"] += estimate.over_draws.holds(truth[name])
            held[name, "bootstrap"] += resampled[name].holds(truth[name])
    return {f"{name} {kind}": held[name, kind] / n_data_sets for name, kind in held}


def percentile_bootstrap(trials, rng: np.random.Generator, n_resamples: int = 400) -> dict[str, Interval]:
    """What one would do first: resample each class's sources, pool, take percentiles. For comparison only."""
    (group,) = groups(trials)
    layout, schemes = group.layout, group.models["model"]
    stratum = layout.unit_stratum
    n_sources = np.bincount(stratum)
    offset = np.concatenate([[0], np.cumsum(n_sources)[:-1]])
    picked = np.concatenate(
        [start + rng.integers(n, size=(n_resamples, n)) for start, n in zip(offset, n_sources, strict=True)], axis=1
    )
    by_stratum = np.argsort(stratum, kind="stable")
    values = {}
    for name, scheme in (("exclusive", EXCLUSIVE), ("inclusive", INCLUSIVE)):
        counts = schemes[scheme]
        times = np.maximum(counts.cell_times, 1)
        correct, n = (counts.cell_correct / times)[by_stratum], (counts.cell_n / times)[by_stratum]
        values[name] = correct[picked].sum(axis=1) / n[picked].sum(axis=1)
    values["rho"] = values["exclusive"] / values["inclusive"]
    ends = {name: np.percentile(of, [2.5, 97.5]) for name, of in values.items()}
    return {name: Interval(float(lower), float(upper)) for name, (lower, upper) in ends.items()}


def one_data_set(population: Population, seed: int = 0) -> tuple[Data, np.random.Generator]:
    rng = np.random.default_rng(seed)
    return population.data(rng), rng
