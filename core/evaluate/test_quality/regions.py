"""Where is the middle of a class, and where its boundary? Regions that training features and thresholds draw (4.2)."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float, Integer

from touchstone.core.data import DataError
from touchstone.core.models.layers import LayerSamples
from touchstone.core.parameters import asks

THETA_2 = 0.7
Unit = Literal["99th percentile", "largest"]
UNITS: tuple[Unit, ...] = ("99th percentile", "largest")
_CHUNK = 4096


@dataclass(frozen=True, eq=False)
class Regions:
    """The two regions of every class.

    A sample lies in its class's *centroid region* where its distance to the class's `centroids` row, in the class's
    `units`, is at most `radii`. It lies in the *boundary region*, whatever its class, where its confidence lies in
    [`theta1`, `theta2`]. No confidence is below 1/C, so that a `theta1` of 1/C or less lets all of them in, rounded
    ones too. `n_train` is how many training samples each class had.

    Examples
    --------
    >>> features = np.array([[0.0, 0.0], [2.0, 0.0], [8.0, 0.0], [9.0, 0.0], [13.0, 0.0]])
    >>> proba = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.1, 0.9], [0.1, 0.9]])
    >>> regions = fit_regions(LayerSamples(features, [0, 0, 1, 1, 1], proba, ("a", "b")), unit="largest")
    >>> regions.centroids[:, 0], regions.units, regions.radii.round(2)
    (array([ 1., 10.]), array([1., 3.]), array([1.  , 0.67]))
    >>> regions.in_centroid(features, np.array([0, 0, 1, 1, 1])), regions.in_boundary(proba)
    (array([ True,  True,  True,  True, False]), array([False,  True, False, False, False]))
    """

    class_names: tuple[str, ...]
    centroids: Float[np.ndarray, "n_classes n_features"] = field(repr=False)
    units: Float[np.ndarray, " n_classes"]
    radii: Float[np.ndarray, " n_classes"]
    n_train: Integer[np.ndarray, " n_classes"]
    theta1: float
    theta2: float

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.class_names)

    def check(self, samples: LayerSamples) -> None:
        """Raise DataError unless the samples have as many features as those that drew the regions, and its classes."""
        if samples.class_names != self.class_names:
            raise DataError(
                f"{samples.name} has {samples.n_classes} classes, the training samples {self.n_classes}, or they are "
                "called or ordered differently. They must be the same."
            )
        if samples.features.shape[1] != self.centroids.shape[1]:
            raise DataError(
                f"Features of another length: {samples.name} has {samples.features.shape[1]} a sample, the training "
                f"samples have {self.centroids.shape[1]}. Both must come from the same layer of the same model."
            )

    def distances(
        self, features: Float[np.ndarray, "n n_features"], y: Integer[np.ndarray, " n"]
    ) -> Float[np.ndarray, " n"]:
        """Give each sample's distance to the centroid of its class `y`, in units of that class."""
        return _lengths(features, self.centroids, y) / self.units[y]

    def in_centroid(
        self, features: Float[np.ndarray, "n n_features"], y: Integer[np.ndarray, " n"]
    ) -> Bool[np.ndarray, " n"]:
        """Say which samples lie in the centroid region of their class."""
        return self.distances(features, y) <= self.radii[y]

    def in_boundary(self, proba: Float[np.ndarray, "n n_classes"]) -> Bool[np.ndarray, " n"]:
        """Say which samples lie in the boundary region."""
        return in_band(proba.max(axis=1), theta1=self.theta1, theta2=self.theta2, n_classes=self.n_classes)


def fit_regions(
    train: LayerSamples,
    *,
    r: float | None = None,
    theta1: float | None = None,
    theta2: float = THETA_2,
    unit: Unit = "99th percentile",
) -> Regions:
    """Draw the regions from training samples.

    The unit of a class is the 99th percentile of its distances to the centroid, since the largest is one outlier. `r`
    is in that unit; without one each class has its own training median, of which half of the training samples lie
    inside. `theta1` is 1/C by default. Raises DataError for a class with fewer than two training samples, or none
    that differ, and for thresholds that leave nothing.
    """
    y, n_classes = train.labels, train.n_classes
    theta1 = 1 / n_classes if theta1 is None else theta1
    check_band(theta1, theta2, n_classes)
    if unit not in UNITS:
        raise DataError(f"The unit of distances is {' or '.join(UNITS)}, not {unit!r}.")
    if r is not None and not (0 < r < np.inf):
        raise DataError(f"The radius of the centroid region must be positive; {r:g} is not.")
    counts = train.counts()
    if counts.min() < 2:
        label = int(counts.argmin())
        n = f"{counts[label]} training sample" + ("" if counts[label] == 1 else "s")
        raise DataError(
            f"{train.name}: class {train.class_names[label]!r} has {n}. A centroid and a spread need two or more."
        )
    centroids = np.stack([train.features[y == label].mean(axis=0, dtype=np.float64) for label in range(n_classes)])
    lengths = _lengths(train.features, centroids, y)
    units, radii = np.empty(n_classes), np.empty(n_classes)
    for label in range(n_classes):
        own = lengths[y == label]
        units[label] = np.quantile(own, 0.99) if unit == "99th percentile" else own.max()
        if not units[label] > 0:
            raise DataError(
                f"{train.name}: the training samples of class {train.class_names[label]!r} do not differ in their "
                "features, so there is no unit for distances. Take another layer."
            )
        # In the very arithmetic of `distances`, so that the median itself lies inside.
        radii[label] = np.median(own / units[label]) if r is None else r
    return Regions(train.class_names, centroids, units, radii, counts, float(theta1), float(theta2))


def in_band(
    confidence: Float[np.ndarray, " n"], *, theta1: float, theta2: float, n_classes: int
) -> Bool[np.ndarray, " n"]:
    """Say which confidences lie in [theta1, theta2].

    Examples
    --------
    >>> in_band(np.array([0.4999, 0.7, 0.71]), theta1=0.5, theta2=0.7, n_classes=2)
    array([ True,  True, False])
    """
    below = confidence <= theta2
    return below if theta1 <= 1 / n_classes else below & (confidence >= theta1)


def check_band(theta1: float, theta2: float, n_classes: int) -> None:
    """Raise DataError for a band of confidences that holds none.

    Examples
    --------
    >>> check_band(0.5, 0.4, 2)
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: The boundary's confidences run from 0.5 to 0.4. With 2 classes ...
    """
    if not (0 <= theta1 <= theta2 <= 1 and theta2 >= 1 / n_classes):
        raise DataError(
            f"The boundary's confidences run from {theta1:g} to {theta2:g}. With {n_classes} classes they must rise, "
            f"end at {1 / n_classes:g} or above, and lie in [0, 1]."
        )


def rivals(
    proba: Float[np.ndarray, "n n_classes"],
    y: Integer[np.ndarray, " n"],
    rows: Integer[np.ndarray, " n_rows"] | None = None,
) -> Integer[np.ndarray, " n_rows"]:
    """Give the rival of each sample, or of each of some rows: the most probable class other than its own.

    Examples
    --------
    >>> rivals(np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]]), np.array([0, 2]))
    array([1, 0])
    """
    rows = np.arange(len(y)) if rows is None else rows
    codes = np.empty(len(rows), dtype=np.intp)
    for start in range(0, len(rows), _CHUNK):
        part = rows[start : start + _CHUNK]
        others = proba[part]
        others[np.arange(len(part)), y[part]] = -1.0
        codes[start : start + _CHUNK] = others.argmax(axis=1)
    return codes


def _lengths(features: np.ndarray, centroids: np.ndarray, y: np.ndarray) -> Float[np.ndarray, " n"]:
    lengths = np.empty(len(features))
    for start in range(0, len(features), _CHUNK):
        part = slice(start, start + _CHUNK)
        apart = features[part] - centroids[y[part]]
        lengths[part] = np.sqrt(np.einsum("nd,nd->n", apart, apart))
    return lengths


# What do plans and pages ask about regions? The fields of their thresholds, the same wherever regions are drawn.


FORM = "regions"
"""The form that asks these: pages of several questions share it, parameters of the address included."""


def asks_theta2() -> Any:
    """Up to which confidence samples lie at the boundary."""
    return asks(
        THETA_2,
        label="Boundary up to",
        help="A sample lies at the boundary if the model's confidence is at most this (theta 2). The paper gives "
        "no value; the curve below shows its effect.",
        address="theta2",
        place="row",
        form=FORM,
        lowest=0.0,
        highest=1.0,
        step=0.05,
        format="%.3f",
    )


def asks_r() -> Any:
    """How far centroid regions reach; None for the median."""
    return asks(
        None,
        label="Radius",
        help="Radius of a centroid region, in the unit of distance. The default is each class's median training "
        "distance: half of the training samples lie inside.",
        address="r",
        place="row",
        form=FORM,
        lowest=0.001,
        highest=10.0,
        word="median",
    )


def asks_theta1() -> Any:
    """From which confidence on samples lie at the boundary; None for the least that there is."""
    return asks(
        None,
        label="Boundary from",
        help="The lowest confidence at the boundary (theta 1). Usually one over the number of classes, the lowest "
        "possible.",
        address="theta1",
        form=FORM,
        lowest=0.001,
        highest=1.0,
        word="usual",
        means=lambda plan, facts: 1 / facts.n_classes,
    )


def asks_unit() -> Any:
    """What distances to a centroid are measured in."""
    return asks(
        UNITS[0],
        label="Unit of distance",
        help="Percentile of a class's training distances to their centroid. The largest depends on a single sample.",
        address="unit",
        form=FORM,
        choices=lambda about: {"99th percentile": "99th percentile", "largest": "the largest"},
    )
