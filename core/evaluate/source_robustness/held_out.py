"""How accurate is a model on each source that was held out?"""

from dataclasses import dataclass

import numpy as np

from touchstone.core.evaluate.intervals import wilson
from touchstone.core.evaluate.source_robustness.counts import Counts, Layout, Schemes
from touchstone.core.trials.sources_plan import KNOWN_SOURCES
from touchstone.core.trials.trial_plan import EXCLUSIVE, INCLUSIVE

Cluster = tuple[int, str | None, str]
"""What a source is known by: its clustering, its class (None where classes share it), its name."""


@dataclass(frozen=True)
class HeldOutSource:
    """Accuracy on one source when it was held out, and when it was seen in training.

    `lower` and `upper` are Wilson's 95 % interval of `exclusive` with the source's samples as the unit: it speaks about
    this very source. `label` is None where the source is shared over classes; `inclusive` is NaN where no inclusive
    trial tested it. Ids of found sources mean something within their `clustering` only. `moved` is how much the number
    of right samples varies from training to training, as a share of the variance that as many coins would have; NaN
    where the source was held out once.
    """

    model: str
    source_finder: str
    n_train: int
    clustering: int
    label: str | None
    source: str
    n_repeats: int
    n: int
    exclusive: float
    lower: float
    upper: float
    inclusive: float
    moved: float = float("nan")

    @property
    def cluster(self) -> Cluster:
        """What it is known by."""
        return self.clustering, self.label, self.source


def held_out_sources(model: str, n_train: int, layout: Layout, schemes: Schemes) -> list[HeldOutSource]:
    """Every source that was held out at least once, in the order of clusterings, classes and ids."""
    if EXCLUSIVE not in schemes:
        return []
    exclusive = schemes[EXCLUSIVE]
    correct, n, times = _by_unit(exclusive, layout)
    known_correct, known_n, _ = _by_unit(schemes[INCLUSIVE], layout) if INCLUSIVE in schemes else (correct, 0 * n, 0)
    sources = []
    for unit in np.flatnonzero(times > 0):
        size = n[unit] / times[unit]
        accuracy = float(correct[unit] / n[unit])
        interval = wilson(accuracy * size, size)
        sources.append(
            HeldOutSource(
                model=model,
                source_finder=layout.source_finder,
                n_train=n_train,
                clustering=int(layout.unit_clustering[unit]),
                label=None if layout.shared else layout.labels[layout.unit_stratum[unit]],
                source=str(layout.unit_name[unit]),
                n_repeats=int(times[unit]),
                n=round(float(size)),
                exclusive=accuracy,
                **interval.columns(),
                inclusive=float(known_correct[unit] / known_n[unit]) if known_n[unit] else float("nan"),
                moved=_moved(float(correct[unit]), float(exclusive.unit_squared[unit]), float(times[unit]), accuracy),
            )
        )
    return sources


def _moved(correct: float, squared: float, times: float, accuracy: float) -> float:
    if times < 2:
        return float("nan")
    coins = correct / times * (1 - accuracy)
    variance = max(squared - correct**2 / times, 0.0) / (times - 1)
    return variance / coins if coins > 0 else 0.0


def _by_unit(counts: Counts, layout: Layout) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n_units = len(layout.unit_name)
    times = np.zeros(n_units)
    np.maximum.at(times, layout.cell_unit, counts.cell_times)
    return (
        np.bincount(layout.cell_unit, weights=counts.cell_correct, minlength=n_units),
        np.bincount(layout.cell_unit, weights=counts.cell_n, minlength=n_units),
        times,
    )


# What are sources called? Known ones are sources; found ones are clusters, and never carry the word.


def noun(source_finder: str) -> str:
    """What one of them is.

    >>> noun("known"), noun("kmeans")
    ('source', 'cluster')
    """
    return "source" if source_finder == KNOWN_SOURCES else "cluster"


def held_out(source_finder: str) -> str:
    """What accuracy is lost on.

    >>> held_out("kmeans")
    'held-out clusters'
    """
    return f"held-out {noun(source_finder)}s"
