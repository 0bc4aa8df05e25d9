"""Does the model behave as a well-trained one does? The three properties of section 4.1 as metamorphic tests."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd

from touchstone.core.evaluate.intervals import Interval, wilson
from touchstone.core.evaluate.test_quality import Regions
from touchstone.core.models.layers import Head, LayerSamples

TOLERANCE = 0.01
"""By how much a probability may go the wrong way on a line before it counts."""
_N_STEPS = 21
_WALKED_CHUNK = 256
Name = Literal["between centroids", "back to the true centroid", "true class first"]


@dataclass(frozen=True, eq=False)
class Property:
    """One property: `n` lines or samples were tested, `violations` lists those that break it, the worst first.

    Columns of the violations: id (of the sample, "" of a line between centroids), label, other (the class at the other
    end, or the wrongly predicted one), worst (by how much a probability went the wrong way, or how much more probable
    the wrong class is), at (where on the line, from 0 to 1; 0 of a sample).
    """

    name: Name
    says: str
    n: int
    violations: pd.DataFrame = field(repr=False)

    @property
    def n_violated(self) -> int:
        """How many break it."""
        return len(self.violations)

    @property
    def share(self) -> float:
        """The share that breaks it; NaN where nothing could be tested."""
        return self.n_violated / self.n if self.n else float("nan")

    @property
    def interval(self) -> Interval:
        """Wilson's interval of the share."""
        return wilson(float(self.n_violated), float(self.n))


@dataclass(frozen=True)
class Properties:
    """All three."""

    each: tuple[Property, Property, Property]

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each property: property, says, n, n_violated, share, lower, upper."""
        return pd.DataFrame(
            [
                {
                    "property": each.name,
                    "says": each.says,
                    "n": each.n,
                    "n_violated": each.n_violated,
                    "share": each.share,
                    "lower": each.interval.lower,
                    "upper": each.interval.upper,
                }
                for each in self.each
            ]
        )

    def violations(self) -> pd.DataFrame:
        """Tidy rows, one for each violation: property, and the columns of `Property.violations`."""
        return pd.concat([each.violations.assign(property=each.name) for each in self.each], ignore_index=True)


def check_properties(
    regions: Regions, head: Head, test: LayerSamples, *, tolerance: float = TOLERANCE, n_steps: int = _N_STEPS
) -> Properties:
    """Test all three: two on lines through feature space, which need the head, and one on the test samples alone.

    Weak misclassifications are those at the boundary: wrong, with a confidence in the regions' band.
    """
    regions.check(test)
    return Properties(
        (
            _between_centroids(regions, head, tolerance, n_steps),
            _back_to_truth(regions, head, test, tolerance, n_steps),
            _true_class_first(test),
        )
    )


def wrong_ways(falling: np.ndarray, rising: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Say how far lines go wrong: the largest rise of what should fall, or fall of what should rise; and at which step.

    Examples
    --------
    >>> wrong_ways(np.array([[0.9, 0.5, 0.6]]), np.array([[0.1, 0.4, 0.4]]))
    (array([0.1]), array([2]))
    """
    rise = falling - np.minimum.accumulate(falling, axis=1)
    fall = np.maximum.accumulate(rising, axis=1) - rising
    worst = np.maximum(rise, fall)
    return worst.max(axis=1), worst.argmax(axis=1)


def _along(head: Head, start: np.ndarray, end: np.ndarray, n_steps: int) -> np.ndarray:
    """The head's probabilities (n, n_steps, n_classes) on the lines from each start to its end."""
    steps = np.linspace(0.0, 1.0, n_steps)[None, :, None]
    parts = []
    for first in range(0, len(start), _WALKED_CHUNK):
        rows = slice(first, first + _WALKED_CHUNK)
        points = start[rows, None] + steps * (end[rows, None] - start[rows, None])
        parts.append(head(points.reshape(-1, points.shape[-1])).reshape(*points.shape[:2], -1))
    return np.concatenate(parts)


def _between_centroids(regions: Regions, head: Head, tolerance: float, n_steps: int) -> Property:
    first, second = np.triu_indices(regions.n_classes, k=1)
    proba = _along(head, regions.centroids[first], regions.centroids[second], n_steps)
    rows = np.arange(len(first))
    worst, at = wrong_ways(proba[rows, :, first], proba[rows, :, second])
    names = np.array(regions.class_names, dtype=object)
    made = pd.DataFrame(
        {"id": "", "label": names[first], "other": names[second], "worst": worst, "at": at / (n_steps - 1)}
    )
    says = "from one centroid to another, the first class becomes less probable and the second more"
    return Property("between centroids", says, len(first), _violations(made, tolerance))


def _back_to_truth(regions: Regions, head: Head, test: LayerSamples, tolerance: float, n_steps: int) -> Property:
    y, predicted = test.labels, test.predicted
    weak = np.flatnonzero((predicted != y) & regions.in_boundary(test.proba))
    says = "from a weak misclassification to the true centroid, the wrong class becomes less probable and the true more"
    names = np.array(test.class_names, dtype=object)
    made = pd.DataFrame({"id": test.ids[weak], "label": names[y[weak]], "other": names[predicted[weak]]})
    if len(weak) == 0:
        return Property("back to the true centroid", says, 0, made.assign(worst=0.0, at=0.0))
    proba = _along(head, test.features[weak].astype(np.float64), regions.centroids[y[weak]], n_steps)
    rows = np.arange(len(weak))
    worst, at = wrong_ways(proba[rows, :, predicted[weak]], proba[rows, :, y[weak]])
    made = made.assign(worst=worst, at=at / (n_steps - 1))
    return Property("back to the true centroid", says, len(weak), _violations(made, tolerance))


def _true_class_first(test: LayerSamples) -> Property:
    y, predicted = test.labels, test.predicted
    wrong = np.flatnonzero(predicted != y)
    names = np.array(test.class_names, dtype=object)
    made = pd.DataFrame(
        {
            "id": test.ids[wrong],
            "label": names[y[wrong]],
            "other": names[predicted[wrong]],
            "worst": test.proba[wrong, predicted[wrong]] - test.proba[wrong, y[wrong]],
            "at": 0.0,
        }
    )
    return Property("true class first", "the true class is the most probable", len(test), _sorted(made))


def _violations(made: pd.DataFrame, tolerance: float) -> pd.DataFrame:
    return _sorted(made[made["worst"] > tolerance])


def _sorted(made: pd.DataFrame) -> pd.DataFrame:
    return made.sort_values("worst", ascending=False, kind="stable", ignore_index=True)
