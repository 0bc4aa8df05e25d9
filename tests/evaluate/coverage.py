"""How often does an interval hold the truth? Data sets drawn again and again from a population that is known."""

from collections import Counter

import numpy as np

from tests.evaluate.populations import Population
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.source_robustness.counts import Group, groups
from touchstone.core.evaluate.source_robustness.expected import expected_interval
from touchstone.core.trials.trial_plan import EXCLUSIVE, INCLUSIVE

NUMBERS = ("exclusive", "inclusive", "rho")


def coverage(population: Population, *, n_data_sets: int, n_repeats: int = 20, seed: int = 1) -> dict[str, float]:
    """Share of data sets whose intervals held the truth, by number and kind of interval.

    Through what `expected_accuracy_intervals` calls for all classes together; its rows by class would only take time.
    """
    truth, rng, held = population.truth(), np.random.default_rng(seed), Counter()
    for _ in range(n_data_sets):
        trials = population.data(rng).trials(rng, n_repeats=n_repeats)
        (group,) = groups(trials)
        row = expected_interval("model", 0, group.layout, group.models["model"])
        resampled = percentile_bootstrap(group, rng)
        for name in NUMBERS:
            estimate = getattr(row, name)
            held[name, "over sources"] += estimate.over_sources.holds(truth[name])
            held[name, "over draws"] += estimate.over_draws.holds(truth[name])
            held[name, "bootstrap"] += resampled[name].holds(truth[name])
    return {f"{name} {kind}": held[name, kind] / n_data_sets for name, kind in held}


def percentile_bootstrap(group: Group, rng: np.random.Generator, n_resamples: int = 200) -> dict[str, Interval]:
    """What one would do first: resample each class's sources, pool, take percentiles. For comparison only."""
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
