"""Does the test set cover the feature space? All four dimensions of one test set, beside training and random splits."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.dataset import key
from touchstone.core.data.values import Codes, Floats
from touchstone.core.evaluate.confusion_matrix import ConfusionMatrix, confusion_matrix
from touchstone.core.evaluate.intervals import UNKNOWN, Interval
from touchstone.core.evaluate.test_quality.missed import Missed, PairMap, PairShares, map_pair, measure_missed
from touchstone.core.evaluate.test_quality.regions import (
    THETA_2,
    CountsByUnit,
    Dimension,
    Regions,
    Shares,
    Spread,
    Unit,
    asks_r,
    asks_theta1,
    asks_theta2,
    asks_unit,
    check_band,
    fit_regions,
    in_band,
    rivals,
    share_intervals,
)
from touchstone.core.evaluate.two_samples import PartsTold, SeenShift, classifier_two_sample_test, smallest_seen
from touchstone.core.evaluate.units import EACH_SAMPLE, Design
from touchstone.core.models.layers import LayerSamples
from touchstone.core.trials.layer_parts import LayerParts, asks_layer

# The four dimensions of a test set's quality, each a function of arrays (section 4.2), and their curves.


RADII = tuple(float(r) for r in np.linspace(0.05, 1.5, 30))
"""The radii of the curve over r, in units of the 99th percentile of the training distances."""
_N_THETAS = 41


@dataclass(frozen=True, eq=False)
class Curve:
    """One dimension over its threshold, class by class: test with intervals as in `Shares`, and training."""

    dimension: Dimension
    class_names: tuple[str, ...]
    threshold: Float[np.ndarray, " n_steps"]
    n: Integer[np.ndarray, " n_classes"]
    n_in: Integer[np.ndarray, "n_classes n_steps"] = field(repr=False)
    value: Float[np.ndarray, "n_classes n_steps"] = field(repr=False)
    lower: Float[np.ndarray, "n_classes n_steps"] = field(repr=False)
    upper: Float[np.ndarray, "n_classes n_steps"] = field(repr=False)
    train: Float[np.ndarray, "n_classes n_steps"] = field(repr=False)

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each class and threshold."""
        n_steps = len(self.threshold)
        return pd.DataFrame(
            {
                "dimension": self.dimension,
                "label": np.repeat(np.array(self.class_names, dtype=object), n_steps),
                "threshold": np.tile(self.threshold, len(self.class_names)),
                "n": np.repeat(self.n, n_steps),
                **{name: getattr(self, name).ravel() for name in ("n_in", "value", "lower", "upper", "train")},
            }
        )


def equivalence_partitioning(
    y: Codes, *, n_classes: int, class_names: tuple[str, ...] | None = None, design: Design = EACH_SAMPLE
) -> Shares:
    """EP of every class: n_i * n_classes / n (equation 3); 1 is the fair share.

    Examples
    --------
    >>> equivalence_partitioning(np.array([0, 0, 0, 1]), n_classes=2).value
    array([1.5, 0.5])
    """
    _check_labels(y, n_classes)
    counts = np.bincount(y, minlength=n_classes)
    n = np.full(n_classes, len(y), dtype=np.int64)
    everywhere = np.ones(len(y), dtype=bool)
    whole = {"part": np.zeros(len(y), dtype=np.int64), "whole": np.zeros(n_classes, dtype=np.int64)}
    by_unit = CountsByUnit.of(design, y, everywhere, n_classes, **whole)
    names, scale = _names(class_names, n_classes), float(n_classes)
    return Shares.of("equivalence partitioning", names, counts, n, scale=scale, by_unit=by_unit)


def centroid_positioning(
    features: Float[np.ndarray, "n_samples n_features"], y: Codes, *, regions: Regions, design: Design = EACH_SAMPLE
) -> Shares:
    """CP of every class: the share of its samples at most `r` from its training centroid (equation 4).

    At the default radius .5 is neutral: as close as training samples are. Higher is easier.
    """
    _check_labels(y, regions.n_classes)
    if features.shape[1] != regions.centroids.shape[1]:
        raise DataError(
            f"Features of another length: {features.shape[1]} a sample, the training samples have "
            f"{regions.centroids.shape[1]}. Both must come from the same layer of the same model."
        )
    return _shares("centroid positioning", regions.in_centroid(features, y), y, regions.class_names, design)


def boundary_conditioning(
    proba: Float[np.ndarray, "n_samples n_classes"],
    y: Codes,
    *,
    theta1: float | None = None,
    theta2: float = THETA_2,
    class_names: tuple[str, ...] | None = None,
    design: Design = EACH_SAMPLE,
) -> Shares:
    """BC of every class: the share of its samples whose confidence lies in [theta1, theta2] (equation 5).

    `theta1` is 1/C by default, which every confidence reaches.

    Examples
    --------
    >>> proba = np.array([[0.6, 0.4], [0.9, 0.1], [0.3, 0.7]])
    >>> boundary_conditioning(proba, np.array([0, 0, 1])).value
    array([0.5, 1. ])
    """
    n_classes = proba.shape[1]
    _check_labels(y, n_classes)
    inside = _band(proba, theta1, theta2)
    return _shares("boundary conditioning", inside, y, _names(class_names, n_classes), design)


def pairwise_boundary_conditioning(
    proba: Float[np.ndarray, "n_samples n_classes"],
    y: Codes,
    *,
    theta1: float | None = None,
    theta2: float = THETA_2,
    class_names: tuple[str, ...] | None = None,
    design: Design = EACH_SAMPLE,
) -> PairShares:
    """PBC of every pair: the share of class i's samples at the boundary whose most probable other class is j.

    Examples
    --------
    >>> proba = np.array([[0.5, 0.3, 0.2], [0.3, 0.2, 0.5], [0.9, 0.1, 0.0]])
    >>> pairwise_boundary_conditioning(proba, np.array([0, 0, 0])).value[0].round(2)
    array([0.  , 0.33, 0.33])
    """
    n_classes = proba.shape[1]
    _check_labels(y, n_classes)
    inside = np.flatnonzero(_band(proba, theta1, theta2))
    cell = y[inside] * n_classes + rivals(proba, y, inside)
    n_in = np.bincount(cell, minlength=n_classes**2).reshape(n_classes, n_classes)
    n = np.bincount(y, minlength=n_classes)
    at_edge = np.zeros(len(y), dtype=bool)
    at_edge[inside] = True
    of_classes = CountsByUnit.of(design, y, at_edge, n_classes)
    worth = None if of_classes is None else of_classes.worth
    whole = {"part": y[inside], "whole": np.repeat(np.arange(n_classes), n_classes)}
    by_unit = CountsByUnit.of(design.of(inside), cell, np.ones(len(cell), dtype=bool), n_classes**2, **whole)
    return PairShares.of(_names(class_names, n_classes), n_in, n, worth=worth, by_unit=by_unit)


def centroid_curve(
    regions: Regions, test: LayerSamples, train: LayerSamples, *, radii: tuple[float, ...] = RADII
) -> Curve:
    """CP over the radius: how much rests on the choice of r, for which the paper gives no value."""
    regions.check(test)
    distances = [regions.distances(samples.features, samples.labels) for samples in (test, train)]
    return _curve("centroid positioning", np.array(radii), distances, test, train)


def boundary_curve(test: LayerSamples, train: LayerSamples, *, theta1: float | None = None) -> Curve:
    """BC over theta2, from the lowest confidence there can be to 1."""
    n_classes = test.n_classes
    low = 1 / n_classes if theta1 is None else max(theta1, 1 / n_classes)
    check_band(low, 1.0, n_classes)
    thresholds = np.linspace(low, 1.0, _N_THETAS)
    # What lies below theta1 never counts, whatever theta2 is.
    confidences = [
        np.where(in_band(samples.confidence, theta1=low, theta2=2.0, n_classes=n_classes), samples.confidence, np.inf)
        for samples in (test, train)
    ]
    return _curve("boundary conditioning", thresholds, confidences, test, train)


def _curve(
    dimension: Dimension, thresholds: Floats, values_by_part: list[np.ndarray], test: LayerSamples, train: LayerSamples
) -> Curve:
    counts = [
        _counts_below(values, samples, thresholds)
        for values, samples in zip(values_by_part, (test, train), strict=True)
    ]
    n, n_train = test.counts(), train.counts()
    worth = _worth_of_order(values_by_part[0], test)
    of_shape = None if worth is None else np.broadcast_to(worth[:, None], counts[0].shape)
    value, lower, upper, _ = share_intervals(counts[0], np.broadcast_to(n[:, None], counts[0].shape), of_shape)
    trained = np.where(n_train[:, None] > 0, counts[1] / np.maximum(n_train, 1)[:, None], np.nan)
    return Curve(dimension, test.class_names, thresholds, n, counts[0], value, lower, upper, trained)


def _worth_of_order(values: np.ndarray, samples: LayerSamples) -> Float[np.ndarray, " n_classes"] | None:
    """How many samples of each class tell as much of what lies below a threshold, taken at its median."""
    y, n_classes = samples.labels, samples.n_classes
    median = np.array([np.median(values[y == label]) if (y == label).any() else 0.0 for label in range(n_classes)])
    by_unit = CountsByUnit.of(design_of_samples(samples), y, values <= median[y], n_classes)
    return None if by_unit is None else by_unit.worth


def design_of_samples(samples: LayerSamples) -> Design:
    """How the samples of a part came about."""
    return Design(samples.units, samples.unit_word)


def _counts_below(values: np.ndarray, samples: LayerSamples, thresholds: np.ndarray) -> np.ndarray:
    y = samples.labels
    return np.stack(
        [np.searchsorted(np.sort(values[y == label]), thresholds, side="right") for label in range(samples.n_classes)]
    )


def _shares(
    dimension: Dimension, inside: np.ndarray, y: np.ndarray, class_names: tuple[str, ...], design: Design
) -> Shares:
    n_classes = len(class_names)
    counts = (np.bincount(y[inside], minlength=n_classes), np.bincount(y, minlength=n_classes))
    return Shares.of(dimension, class_names, *counts, by_unit=CountsByUnit.of(design, y, inside, n_classes))


def _band(proba: np.ndarray, theta1: float | None, theta2: float) -> np.ndarray:
    n_classes = proba.shape[1]
    lowest = 1 / n_classes if theta1 is None else theta1
    check_band(lowest, theta2, n_classes)
    return in_band(proba.max(axis=1), theta1=lowest, theta2=theta2, n_classes=n_classes)


def _names(class_names: tuple[str, ...] | None, n_classes: int) -> tuple[str, ...]:
    return tuple(str(code) for code in range(n_classes)) if class_names is None else class_names


def _check_labels(y: np.ndarray, n_classes: int) -> None:
    if n_classes < 2:
        raise DataError(f"{n_classes} class. A classifier needs two classes or more.")
    if len(y) == 0:
        raise DataError("The test set is empty. Give at least one sample.")
    if y.min() < 0 or y.max() >= n_classes:
        raise DataError(f"Labels run from {y.min()} to {y.max()}. With {n_classes} classes, 0 to {n_classes - 1}.")


@dataclass(frozen=True, eq=False)
class TestQuality:
    """The four dimensions of one test set in one layer of one model.

    `spreads` says, by dimension, how much classes differ, `missed` which error rates cannot be ruled out. `absent`
    names the classes without a test sample, of which nothing but that can be said.
    """

    __test__ = False  # no test of pytest's, in spite of its name

    class_names: tuple[str, ...]
    n_test: int
    n_train: int
    regions: Regions = field(repr=False)
    equivalence: Shares
    centroid: Shares
    boundary: Shares
    pairs: PairShares
    spreads: dict[str, Spread]
    missed: Missed = field(repr=False)
    confusions: ConfusionMatrix = field(repr=False)
    design: Design = EACH_SAMPLE
    """That of the test samples."""
    accuracy: tuple[float, Interval] = (float("nan"), UNKNOWN)
    """Of the model on the test samples."""

    @property
    def n_classes(self) -> int:
        """How many classes there are, those included that have no test sample."""
        return len(self.class_names)

    @property
    def absent(self) -> tuple[str, ...]:
        """The classes without a test sample."""
        return self.equivalence.absent

    @property
    def dimensions(self) -> tuple[Shares, Shares, Shares]:
        """The three dimensions that have one number for each class."""
        return self.equivalence, self.centroid, self.boundary

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each dimension and class: see `Shares`. Pairs have a table of their own."""
        return pd.concat([shares.table() for shares in self.dimensions], ignore_index=True)

    def spreads_table(self) -> pd.DataFrame:
        """Tidy rows, one for each dimension: dimension, spread, lower, upper, by_chance, n_classes."""
        return pd.DataFrame(
            [
                {
                    "dimension": name,
                    "spread": spread.value,
                    "lower": spread.interval.lower,
                    "upper": spread.interval.upper,
                    "by_chance": spread.by_chance,
                    "n_classes": spread.n_classes,
                }
                for name, spread in self.spreads.items()
            ]
        )


def measure_quality(
    train: LayerSamples,
    test: LayerSamples,
    *,
    r: float | None = None,
    theta1: float | None = None,
    theta2: float = THETA_2,
    unit: Unit = "99th percentile",
    regions: Regions | None = None,
    rng: np.random.Generator,
) -> TestQuality:
    """Measure a test set in the regions that the training samples draw (see `fit_regions`, or give `regions`).

    Training samples were seen by the model: it is surer of them than of any test set, so that a random split of both
    lies a little nearer to the centroids than an honest test set does. "Too few at the boundary" errs on its side.
    Raises DataError where the two do not come from one layer, or a class has too few training samples.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> def made(n):
    ...     y = np.arange(n) % 2
    ...     x = rng.normal(size=(n, 3)) + 2.0 * y[:, None]
    ...     p = 1 / (1 + np.exp(-2 * (x.sum(axis=1) - 3)))
    ...     return LayerSamples(x, y, np.column_stack([1 - p, p]), ("low", "high"))
    >>> found = measure_quality(made(400), made(100), rng=rng)
    >>> found.equivalence.value, found.absent
    (array([1., 1.]), ())
    """
    train.check_alike(test)
    if regions is None:
        regions = fit_regions(train, r=r, theta1=theta1, theta2=theta2, unit=unit)
    regions.check(test)
    measured, trained = (_dimensions(samples, regions) for samples in (test, train))
    *shares, pairs = (dimension.beside(other) for dimension, other in zip(measured, trained, strict=True))
    equivalence, centroid, boundary = shares
    return TestQuality(
        test.class_names,
        len(test),
        len(train),
        regions,
        equivalence,
        centroid,
        boundary,
        pairs,
        {
            dimension.dimension: dimension.spread(other.n, rng=rng)
            for dimension, other in zip((equivalence, centroid, boundary), trained[:3], strict=True)
        },
        measure_missed(test, regions, design_of_samples(test)),
        confusion_matrix(test.labels, test.predicted, test.class_names, design_of_samples(test)),
        design_of_samples(test),
        _accuracy(test),
    )


def _accuracy(test: LayerSamples) -> tuple[float, Interval]:
    right = test.predicted == test.labels
    return float(right.mean()), design_of_samples(test).wilson(right)


def samples_table(samples: LayerSamples, regions: Regions) -> pd.DataFrame:
    """Tidy rows, one for each sample: where it lies.

    Columns: id, label, predicted, confidence, rival, distance (to its class's centroid, in the class's unit),
    in_centroid, in_boundary.
    """
    regions.check(samples)
    y = samples.labels
    names = np.array(samples.class_names, dtype=object)
    distance = regions.distances(samples.features, y)
    return pd.DataFrame(
        {
            "id": samples.ids,
            "label": names[y],
            "predicted": names[samples.predicted],
            "confidence": samples.confidence,
            "rival": names[rivals(samples.proba, y)],
            "distance": distance,
            "in_centroid": distance <= regions.radii[y],
            "in_boundary": regions.in_boundary(samples.proba),
        }
    )


def _dimensions(samples: LayerSamples, regions: Regions) -> tuple[Shares, Shares, Shares, PairShares]:
    y, design = samples.labels, design_of_samples(samples)
    band = {"theta1": regions.theta1, "theta2": regions.theta2, "class_names": samples.class_names, "design": design}
    return (
        equivalence_partitioning(y, n_classes=samples.n_classes, class_names=samples.class_names, design=design),
        centroid_positioning(samples.features, y, regions=regions, design=design),
        boundary_conditioning(samples.proba, y, **band),
        pairwise_boundary_conditioning(samples.proba, y, **band),
    )


# How is one test set looked at, in a layer of a model and its regions? What rests on that choice, each a function.

_SEED = 0  # of the bootstrap of spreads, and of parts that are drawn again


@dataclass(frozen=True)
class RegionChoice:
    """A layer and the thresholds of its regions; `r` and `theta1` are None where the usual ones are meant.

    Examples
    --------
    >>> RegionChoice("last hidden").thresholds
    {'r': None, 'theta1': None, 'theta2': 0.7, 'unit': '99th percentile'}
    """

    layer: str = asks_layer()
    theta2: float = asks_theta2()
    r: float | None = asks_r()
    theta1: float | None = asks_theta1()
    unit: Unit = asks_unit()

    @property
    def thresholds(self) -> dict[str, Any]:
        """What `fit_regions` and `measure_quality` take."""
        return {"r": self.r, "theta1": self.theta1, "theta2": self.theta2, "unit": self.unit}

    def regions(self, train: LayerSamples) -> Regions:
        """The regions that training samples draw. Raises DataError where they cannot be drawn."""
        return fit_regions(train, **self.thresholds)


@dataclass(frozen=True, eq=False)
class Looked:
    """Both parts of a data set in a layer, with the regions that were chosen; `name` names the parts in keys."""

    dataset: Dataset
    parts: LayerParts = field(repr=False)
    choice: RegionChoice
    name: str

    @property
    def identity(self) -> str:
        """The parts and the regions."""
        return key(self.name, self.choice)


def measured(looked: Looked) -> TestQuality:
    """The four dimensions. Raises DataError where the regions cannot be drawn."""
    parts, rng = looked.parts, np.random.default_rng(_SEED)
    return measure_quality(parts.train, parts.test, **looked.choice.thresholds, rng=rng)


def curves(looked: Looked) -> tuple[Curve, Curve]:
    """The shares over the radius and over theta 2."""
    train, test = looked.parts.train, looked.parts.test
    regions = looked.choice.regions(train)
    return centroid_curve(regions, test, train), boundary_curve(test, train, theta1=looked.choice.theta1)


def curves_table(looked: Looked) -> pd.DataFrame:
    """The same as tidy rows."""
    return pd.concat([curve.table() for curve in curves(looked)], ignore_index=True)


def pair(looked: Looked, first: int, second: int) -> PairMap:
    """The test samples of two classes in a plane."""
    parts = looked.parts
    return map_pair(parts.test, looked.choice.regions(parts.train), first, second, head=parts.head)


def samples(looked: Looked) -> pd.DataFrame:
    """Where every test sample lies; `row` is its position in the data set."""
    table = samples_table(looked.parts.test, looked.choice.regions(looked.parts.train))
    table.insert(0, "row", looked.parts.test_rows)
    return table


def parts_told(looked: Looked, step: Callable[[], None]) -> PartsTold:
    """How well a classifier tells training from test samples, class by class."""
    parts = looked.parts
    samples = (parts.train.features, parts.train.labels, parts.test.features, parts.test.labels)
    names = parts.test.class_names
    return classifier_two_sample_test(*samples, class_names=names, seed=_SEED, units=_units(parts), on_step=step)


def seen(looked: Looked, parts_told: PartsTold) -> SeenShift | None:
    """How small a shift that classifier would have seen."""
    parts = looked.parts
    samples = (parts.train.features, parts.train.labels, parts.test.features, parts.test.labels)
    return smallest_seen(parts_told, *samples, seed=_SEED, units=_units(parts))


def _units(parts: LayerParts) -> tuple[np.ndarray, np.ndarray] | None:
    train, test = parts.train.units, parts.test.units
    return None if train is None or test is None else (train, test)
