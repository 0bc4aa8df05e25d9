"""How often do intervals over sources and samples hold the truth with real models, and how wide are they?"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tests.worlds.source_robustness_populations import MODELS, POPULATIONS, TRUTHS, DataSet
from touchstone.core.evaluate.intervals import Interval, wilson
from touchstone.core.evaluate.source_robustness.compare import comparison_of
from touchstone.core.evaluate.source_robustness.counts import Counts, Group, groups
from touchstone.core.evaluate.source_robustness.expected import expected_interval

NUMBERS = ("exclusive", "inclusive", "rho", "fall", "difference")
"""Both accuracies, rho and fall of one model, and its rho less that of the other, paired."""
METHODS = {"by default": False, "sources left out": True}


@dataclass(frozen=True)
class Held:
    """Of one number by one method: data sets whose interval held the truth, missed it, or was too favourable."""

    method: str
    number: str
    n: int
    n_held: int
    n_optimistic: int
    """The model looked better than it is: accuracies and rho too high, the fall too small."""
    width: float
    """The mean width, as a multiple of that of an interval which knows how much the estimate varies (normal)."""

    @property
    def coverage(self) -> Interval:
        """The 95 % interval of the share that held."""
        return wilson(float(self.n_held), float(self.n))

    @property
    def share(self) -> float:
        """The share that held."""
        return self.n_held / self.n

    def reaches(self, goal: float) -> bool:
        """Whether the share is at least the goal, less two of its standard errors."""
        return self.share >= goal - 2 * np.sqrt(goal * (1 - goal) / self.n)


def coverage(name: str, n_data_sets: int, *, methods: tuple[str, ...] = tuple(METHODS), seed: int = 1) -> list[Held]:
    """Count over data sets drawn from a population, through the real format and the real functions."""
    population, truth, rng = POPULATIONS[name], TRUTHS[name], np.random.default_rng(seed)
    intervals: dict[tuple[str, str], list[Interval]] = {}
    estimates: dict[str, list[float]] = {}
    for _ in range(n_data_sets):
        for method, number, value, interval in told(population.data(rng), methods):
            intervals.setdefault((method, number), []).append(interval)
            if method == methods[0]:
                estimates.setdefault(number, []).append(value)
    return [
        _held(method, number, all_of_them, getattr(truth, number), float(np.std(estimates[number], ddof=1)))
        for (method, number), all_of_them in intervals.items()
    ]


def told(data: DataSet, methods: tuple[str, ...]) -> Iterator[tuple[str, str, float, Interval]]:
    """What `expected_accuracy_intervals` and `compare_models` say by each method; the trials are read only once."""
    (group,) = groups(data.trials(left_out=any(METHODS[method] for method in methods)))
    for method in methods:
        own = group if METHODS[method] else _by_default(group)
        model = next(iter(MODELS))
        row = expected_interval(model, 0, own.layout, own.models[model])
        for number in NUMBERS[:-1]:
            yield method, number, getattr(row, number).value, getattr(row, number).over_sources
        comparison = comparison_of(own)
        assert comparison is not None
        yield method, "difference", comparison.difference.value, comparison.difference.over_sources


def _by_default(group: Group) -> Group:
    """The same trials without those that left sources out."""

    def plain(counts: Counts) -> Counts:
        return replace(counts, left_out_correct=counts.left_out_correct[:0], left_out_n=counts.left_out_n[:0])

    models = {
        model: {scheme: plain(counts) for scheme, counts in schemes.items()} for model, schemes in group.models.items()
    }
    return Group(group.layout, models)


def _held(method: str, number: str, intervals: list[Interval], truth: float, sd: float) -> Held:
    above = [interval.lower > truth for interval in intervals]
    below = [interval.upper < truth for interval in intervals]
    return Held(
        method=method,
        number=number,
        n=len(intervals),
        n_held=sum(interval.holds(truth) for interval in intervals),
        n_optimistic=sum(below if number == "fall" else above),
        width=float(np.mean([interval.width for interval in intervals])) / (2 * 1.96 * sd),
    )
