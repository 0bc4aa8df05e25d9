"""What happens on the way from one class to another? One sample, moved step by step, with all that is said of it."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from touchstone.core.data import DataError
from touchstone.core.evaluate.test_quality import Regions
from touchstone.core.models.layers import Head


@dataclass(frozen=True, eq=False)
class Walk:
    """A line through feature space at steps `t`: the head's probabilities and, of class `label`, the regions.

    `features` can be decoded, so that the way is seen.
    """

    label: int
    t: Float[np.ndarray, " n_steps"]
    features: Float[np.ndarray, "n_steps n_features"] = field(repr=False)
    proba: Float[np.ndarray, "n_steps n_classes"] = field(repr=False)
    distance: Float[np.ndarray, " n_steps"]
    in_centroid: Bool[np.ndarray, " n_steps"]
    in_boundary: Bool[np.ndarray, " n_steps"]
    class_names: tuple[str, ...]

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each step and class: t, label, probability, distance, in_centroid, in_boundary."""
        n_steps, n_classes = self.proba.shape
        per_step = ("t", "distance", "in_centroid", "in_boundary")
        cells = {name: np.repeat(getattr(self, name), n_classes) for name in per_step}
        names = np.tile(np.array(self.class_names, dtype=object), n_steps)
        made = pd.DataFrame({**cells, "label": names, "probability": self.proba.ravel()})
        return made[["t", "label", "probability", "distance", "in_centroid", "in_boundary"]]


def walk_between(
    regions: Regions,
    head: Head,
    features: Float[np.ndarray, " n_features"],
    *,
    label: int,
    towards: int,
    n_steps: int = 41,
) -> Walk:
    """Walk from a sample of class `label` to the centroid of the class `towards`, which may be its own.

    Raises DataError for classes that there are not, and for features of another length.

    Examples
    --------
    >>> from touchstone.core.evaluate.test_quality import fit_regions
    >>> from touchstone.core.models.layers import LayerSamples
    >>> head = lambda features: np.column_stack([1 / (1 + np.exp(features[:, 0])), 1 / (1 + np.exp(-features[:, 0]))])
    >>> x = np.array([[-5.0], [-3.0], [3.0], [5.0]])
    >>> train = LayerSamples(x, [0, 0, 1, 1], head(x), ("left", "right"))
    >>> walk_between(fit_regions(train), head, x[0], label=0, towards=1, n_steps=3).in_centroid
    array([ True, False, False])
    """
    if not all(0 <= code < regions.n_classes for code in (label, towards)) or n_steps < 2:
        raise DataError(f"A walk has two steps or more, between classes 0 to {regions.n_classes - 1}.")
    if features.shape[0] != regions.centroids.shape[1]:
        raise DataError(f"Features of another length: {features.shape[0]}, not {regions.centroids.shape[1]}.")
    t = np.linspace(0.0, 1.0, n_steps)
    start = features.astype(np.float64)
    points = start + t[:, None] * (regions.centroids[towards] - start)
    proba, y = head(points), np.full(n_steps, label, dtype=np.int64)
    distance = regions.distances(points, y)
    return Walk(
        label,
        t,
        points,
        proba,
        distance,
        distance <= regions.radii[label],
        regions.in_boundary(proba),
        regions.class_names,
    )
