"""Where do the samples lie, seen in two dimensions? A map is long work, and so a plan like any other."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from jaxtyping import Float

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.frames import TEXTS
from touchstone.core.models.classical import stop_if
from touchstone.core.parameters import About, Values, asks, asks_seed, label_of, title_of
from touchstone.core.represent import REPRESENTATIONS, check_representation, default_representation, features_for_splits
from touchstone.core.represent.representations import (
    check_umap,
    pca_map,
    umap_compiles,
    umap_map,
    usable_neighbours,
)
from touchstone.core.trials.choices import features_offered
from touchstone.core.trials.defaults import meant_features
from touchstone.core.trials.plan import Context, check_fields, check_names, check_whole

COLUMNS = {"row": "Int64", "x": "Float64", "y": "Float64", "status": TEXTS}
"""The columns of a map and their types: position in the data set, place on the map; one row without figures if failed.
"""

COMPILES = "UMAP compiles first, for ten to thirty seconds"
"""What a trial says before the first map by UMAP in its process: longest after an installation."""

METHODS = {"umap": "UMAP (keeps neighbourhoods)", "pca": "PCA (keeps large distances)"}
"""Ways to draw a map, by name."""


def _by_umap(values: Values, about: About) -> bool:
    return values["method"] == "umap"


@dataclass(frozen=True)
class MapPlan:
    """Lay all samples of a data set out in two dimensions.

    Parameters
    ----------
    representation
        The name in REPRESENTATIONS of the features to start from; None takes the usual one of the kind.
    n_components
        Principal components of the standardised features that the map is made of; None takes all features.
    method
        A name in METHODS.
    n_neighbors, min_dist
        UMAP's: how many neighbours make a neighbourhood, and how close the map may put two samples.
    seed
        UMAP's; PCA needs none.

    Raises DataError for an unknown name and for a number out of range.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> wine = load_example("wine")
    >>> MapPlan(method="pca").run_trial(wine, 0, context=Context()).head(2).round(2)
       row     x     y status
    0    0  3.32  1.44     ok
    1    1  2.21 -0.33     ok
    """

    method: str = asks(
        "umap",
        "Map",
        "PCA is immediate; UMAP takes a run.",
        address="map",
        place="row",
        choices=lambda about: {name: METHODS[name] for name in ("pca", "umap")},
        usual="pca",
        says=str.upper,
    )
    representation: str | None = asks(
        None,
        "Features",
        "The features that decide what is near, on the map and among near-duplicates.",
        address="features",
        place="row",
        choices=features_offered,
        differs=lambda about: {"usual": next(iter(features_offered(about)))},
        says=lambda name: title_of(REPRESENTATIONS[name]) if name else "usual features",
        means=meant_features,
    )
    n_components: int | None = asks(
        50,
        "Principal components",
        "Of the standardised features that the map is made of.",
        place="command",
        lowest=1,
        word="all",
    )
    n_neighbors: int = asks(
        15,
        "Neighbours",
        "Size of the neighbourhood that UMAP preserves.",
        address="neighbours",
        place="row",
        within=(2, 200),
        when=_by_umap,
        says=lambda n_neighbors: f" · {n_neighbors} neighbours",
    )
    min_dist: float = asks(
        0.1,
        "Least distance",
        "How close UMAP may put two samples.",
        address="closeness",
        place="row",
        within=(0.0, 1.0, 0.05),
        when=_by_umap,
    )
    seed: int = asks_seed(
        help="UMAP's randomness follows from this number.", address="mapseed", place="row", when=_by_umap
    )

    described: ClassVar[str] = "{method} · {representation}{n_neighbors}"

    kind: ClassVar[str] = "map"
    METHOD_VERSION: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_fields(self)
        check_names(self, "representation", REPRESENTATIONS, or_none=True)
        check_names(self, "method", METHODS)
        check_whole(self, {"n_components": 1, "n_neighbors": 2, "seed": 0}, or_none=("n_components",))
        if not isinstance(self.min_dist, int | float):
            raise DataError(f"{label_of(self, 'min_dist')} must lie between 0 and 1, not {self.min_dist!r}.")
        object.__setattr__(self, "min_dist", float(self.min_dist))  # JSON may say 0, which is the same plan as 0.0
        check_umap(self.n_neighbors, self.min_dist)

    @property
    def label_informed(self) -> bool:
        """Whether the features saw the labels, as a trained network's do."""
        return self.representation is not None and REPRESENTATIONS[self.representation].label_informed

    def n_trials(self, dataset: Dataset) -> int:
        """One. Raises DataError where the representation does not fit the data set."""
        check_representation(dataset, self._representation(dataset))
        return 1

    def notes(self, dataset: Dataset) -> tuple[str, ...]:
        """What the plan asks for and this data set cannot give, in sentences."""
        n_used = usable_neighbours(self.n_neighbors, dataset.n_samples)
        if self.method == "pca" or n_used == self.n_neighbors:
            return ()
        return (f"{self.n_neighbors} neighbours were requested; each sample has only {n_used} others, which are used.",)

    def stored_models(self) -> tuple[str, ...]:
        """None: a map needs no model."""
        return ()

    def run_trial(self, dataset: Dataset, index: int, *, context: Context) -> pd.DataFrame:
        """A row per sample (`COLUMNS`). Raises Cancelled where it is to stop between the steps."""
        stop_if(context.should_stop)
        features = features_for_splits(dataset, self._representation(dataset), n_components=self.n_components)
        stop_if(context.should_stop)
        if self.method == "umap" and umap_compiles():
            context.report(0, 0, COMPILES)
        return _frame(np.arange(dataset.n_samples), self._map(features), "ok")

    def failed_trial(self, dataset: Dataset, index: int) -> pd.DataFrame:
        """One row with status "failed" and no place."""
        return _frame(np.array([pd.NA], dtype=object), np.full((1, 2), np.nan), "failed")

    def _representation(self, dataset: Dataset) -> str:
        return self.representation or default_representation(dataset.kind)

    def _map(self, features: Float[np.ndarray, "n_samples n_features"]) -> Float[np.ndarray, "n_samples 2"]:
        if self.method == "pca":
            return pca_map(features)
        return umap_map(features, n_neighbors=self.n_neighbors, min_dist=self.min_dist, seed=self.seed)


def _frame(row: np.ndarray, place: Float[np.ndarray, "n_rows 2"], status: str) -> pd.DataFrame:
    return pd.DataFrame({"row": row, "x": place[:, 0], "y": place[:, 1], "status": status}).astype(COLUMNS)
