"""Which source is the worst to meet unprepared?"""

from dataclasses import dataclass

import numpy as np

from core.evaluate.intervals import wilson
from core.evaluate.source_robustness.counts import EXCLUSIVE, INCLUSIVE, Counts, Layout


@dataclass(frozen=True)
class HeldOutSource:
    """Accuracy on one source when it was held out, and when it was familiar.

    `lower` and `upper` are Wilson's 95 % interval of `exclusive` with the source's samples as the unit: it speaks about
    this very source. `label` is None where the source is shared over classes; `inclusive` is NaN where no inclusive
    trial tested it. Ids of found sources mean something within their `clustering` only.
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


def held_out_sources(model: str, n_train: int, layout: Layout, schemes: dict[str, Counts]) -> list[HeldOutSource]:
    """Every source that was held out at least once, in the order of clusterings, classes and ids."""
    if EXCLUSIVE not in schemes:
        return []
    correct, n, times = _by_unit(schemes[EXCLUSIVE], layout)
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
                lower=interval.lower,
                upper=interval.upper,
                inclusive=float(known_correct[unit] / known_n[unit]) if known_n[unit] else float("nan"),
            )
        )
    return sources


def worst(sources: tuple[HeldOutSource, ...]) -> HeldOutSource | None:
    """The source with the lowest upper end: surely bad, and not merely so small that it may have come out badly."""
    return min(sources, key=lambda source: source.upper, default=None)


def _by_unit(counts: Counts, layout: Layout) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n_units = len(layout.unit_name)
    times = np.zeros(n_units)
    np.maximum.at(times, layout.cell_unit, counts.cell_times)
    return (
        np.bincount(layout.cell_unit, weights=counts.cell_correct, minlength=n_units),
        np.bincount(layout.cell_unit, weights=counts.cell_n, minlength=n_units),
        times,
    )
