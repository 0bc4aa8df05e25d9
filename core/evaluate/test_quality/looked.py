"""How is one test set looked at, in a layer of a model and its regions? What rests on that choice, each a function."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.data.identity import key
from touchstone.core.evaluate.test_quality.pairs import PairMap, map_pair
from touchstone.core.evaluate.test_quality.quality import (
    Curve,
    TestQuality,
    boundary_curve,
    centroid_curve,
    measure_quality,
    samples_table,
)
from touchstone.core.evaluate.test_quality.regions import (
    Regions,
    Unit,
    asks_r,
    asks_theta1,
    asks_theta2,
    asks_unit,
    fit_regions,
)
from touchstone.core.evaluate.two_samples import PartsTold, SeenShift, classifier_two_sample_test, smallest_seen
from touchstone.core.models.layers import LayerSamples
from touchstone.core.trials.layer_parts import LayerParts, asks_layer

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
