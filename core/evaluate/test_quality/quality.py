"""Does the test set cover the feature space? All four dimensions of one test set, beside training and random splits."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from touchstone.core.evaluate.test_quality.dimensions import (
    boundary_conditioning,
    centroid_positioning,
    equivalence_partitioning,
    pairwise_boundary_conditioning,
)
from touchstone.core.evaluate.test_quality.missed import Missed, measure_missed
from touchstone.core.evaluate.test_quality.pairs import PairShares
from touchstone.core.evaluate.test_quality.regions import THETA_2, Regions, Unit, fit_regions, rivals
from touchstone.core.evaluate.test_quality.shares import Shares, Spread
from touchstone.core.models.layers import LayerSamples


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
        measure_missed(test, regions),
    )


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
    band = {"theta1": regions.theta1, "theta2": regions.theta2, "class_names": samples.class_names}
    y = samples.labels
    return (
        equivalence_partitioning(y, n_classes=samples.n_classes, class_names=samples.class_names),
        centroid_positioning(samples.features, y, regions=regions),
        boundary_conditioning(samples.proba, y, **band),
        pairwise_boundary_conditioning(samples.proba, y, **band),
    )
