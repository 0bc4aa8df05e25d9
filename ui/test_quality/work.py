"""What does the page of test quality have worked out beside it? Everything is a function of a layer and its regions."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.data.identity import key
from touchstone.core.evaluate.test_quality import (
    Curve,
    PairMap,
    TestQuality,
    boundary_curve,
    centroid_curve,
    map_pair,
    measure_quality,
    samples_table,
)
from touchstone.core.evaluate.two_samples import PartsTold, SeenShift, smallest_seen, tell_parts
from touchstone.core.evaluate.wording import percent
from touchstone.core.figures.test_quality import Subject
from touchstone.core.trials.layer_parts import LayerParts
from touchstone.ui.test_quality.controls import RegionChoice

_SEED = 0  # of the bootstrap of spreads, and of parts that are drawn again


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


def subject(name: str, dataset_title: str, parts: LayerParts, choice: RegionChoice, quality: TestQuality) -> Subject:
    """A row of the box plots: the model, its data set and its accuracy there."""
    test = parts.test
    layer = "" if parts.layer == choice.layer else f"{parts.layer}, "
    accuracy = percent(float((test.predicted == test.labels).mean()))
    return Subject(name, (dataset_title, f"{layer}accuracy {accuracy}"), quality)


def curves(looked: Looked) -> tuple[Curve, Curve]:
    """The shares over the radius and over theta 2."""
    train, test = looked.parts.train, looked.parts.test
    regions = looked.choice.regions(train)
    return centroid_curve(regions, test, train), boundary_curve(test, train, theta1=looked.choice.theta1)


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
    return tell_parts(*samples, class_names=names, seed=_SEED, units=_units(parts), on_step=step)


def seen(looked: Looked, parts_told: PartsTold) -> SeenShift | None:
    """How small a shift that classifier would have seen."""
    parts = looked.parts
    samples = (parts.train.features, parts.train.labels, parts.test.features, parts.test.labels)
    return smallest_seen(parts_told, *samples, seed=_SEED, units=_units(parts))


def _units(parts: LayerParts) -> tuple[np.ndarray, np.ndarray] | None:
    train, test = parts.train.units, parts.test.units
    return None if train is None or test is None else (train, test)
