"""How many samples does each class have, and what is guessing worth?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Integer

from touchstone.core.evaluate.intervals import Interval, wilson

EVEN = 1.5
"""Classes are called evenly spread as long as the largest is at most so many times the smallest."""


@dataclass(frozen=True)
class LabelCount:
    """A class: how many samples it has, and its share of all with Wilson's 95 % interval over samples."""

    label: str
    n: int
    share: float
    interval: Interval


@dataclass(frozen=True)
class LabelCounts:
    """All classes in their order."""

    rows: tuple[LabelCount, ...]

    @property
    def n_samples(self) -> int:
        """How many samples there are in all."""
        return sum(row.n for row in self.rows)

    @property
    def largest(self) -> LabelCount:
        """The class with the most samples; its share is the accuracy of always guessing it."""
        return max(self.rows, key=lambda row: row.n)

    @property
    def smallest(self) -> LabelCount:
        """The class with the fewest samples."""
        return min(self.rows, key=lambda row: row.n)

    @property
    def even(self) -> bool:
        """Whether the largest class is at most `EVEN` times the smallest."""
        return self.largest.n <= EVEN * self.smallest.n

    def table(self) -> pd.DataFrame:
        """One row per class: label, n, share, lower, upper (95 %, over samples)."""
        rows = [(row.label, row.n, row.share, row.interval.lower, row.interval.upper) for row in self.rows]
        return pd.DataFrame(rows, columns=["label", "n", "share", "lower", "upper"])


def label_counts(y: Integer[np.ndarray, " n_samples"], class_names: Sequence[str]) -> LabelCounts:
    """Count the samples of every class.

    Examples
    --------
    >>> counts = label_counts(np.array([0, 1, 1, 1]), ("plum", "melon"))
    >>> counts.largest.label, counts.largest.share, counts.even
    ('melon', 0.75, False)
    """
    n = np.bincount(y, minlength=len(class_names))
    return LabelCounts(
        tuple(
            LabelCount(name, int(of_class), float(of_class / len(y)), wilson(float(of_class), float(len(y))))
            for name, of_class in zip(class_names, n, strict=True)
        )
    )
