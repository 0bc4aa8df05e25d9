"""What is the noise worth in each feature? Nothing more than sigma, or as much as features vary in the data."""

from typing import TYPE_CHECKING

import numpy as np

from touchstone.core.data import DataError, Dataset
from touchstone.core.evaluate.average_case.directions import covariance_of_changes
from touchstone.core.parameters import About, Titles

if TYPE_CHECKING:
    import torch

SHAPES = {
    "isotropic": "the same in every feature",
    "per_feature": "in each feature's own spread",
    "covariance": "as the data vary",
    "repeated": "as repeats of a source vary",
    "changes": "as light, blur and shifts do",
}
"""Sigma alone; times each feature's standard deviation over the data set; or of a covariance: that of all data, of
samples around the mean of their source and class, or of small changes of images."""
MOST_COVARIED = 1024
MOST_CHANGED = 2000
"""Of so many images at most the changes are looked at."""
COVARIED = ("covariance", "repeated", "changes")


def shapes_offered(about: About) -> Titles:
    """Those that the data set has: repeats where samples have sources, changes of images.

    >>> list(shapes_offered(About(None)))
    ['isotropic', 'per_feature', 'covariance', 'repeated', 'changes']
    """
    dataset = about.dataset
    if dataset is None:
        return SHAPES
    left = ({"repeated"} if dataset.sources is None else set()) | ({"changes"} if dataset.kind != "image" else set())
    return {name: title for name, title in SHAPES.items() if name not in left}


def check_shape(shape: str, dataset: Dataset) -> None:
    """Raise DataError, with the remedy, where noise of this shape cannot be made of a data set."""
    if shape == "changes" and dataset.kind != "image":
        raise DataError(f"Only images can be blurred or shifted; {dataset.name} holds others. Choose another shape.")
    if shape == "repeated" and dataset.sources is None:
        raise DataError(f"{dataset.name} does not say which samples are of one source. Choose another shape.")
    if shape in COVARIED and dataset.kind == "image" and dataset.x[0].size > MOST_COVARIED:
        raise DataError(
            f"Noise that varies as the data do is for inputs of at most {MOST_COVARIED} features; those of "
            f"{dataset.name} have {dataset.x[0].size}. Choose another shape of the noise."
        )


def spread_of(shape: str, dataset: Dataset, inputs: "torch.Tensor") -> dict[str, np.ndarray]:
    """What the noise is worth in each feature of all `inputs` of a data set, as `estimate` takes it.

    Raises DataError for more features than a covariance may have, and where no source has two samples of a class.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models.inputs import network_inputs
    >>> wine = load_example("wine")
    >>> {name: of.shape for name, of in spread_of("covariance", wine, network_inputs(wine.x)).items()}
    {'covariance': (13, 13)}
    """
    if shape == "isotropic":
        return {}
    flat = inputs.flatten(1).double().cpu().numpy()
    if shape == "per_feature":
        return {"scales": flat.std(axis=0)}
    if flat.shape[1] > MOST_COVARIED:
        raise DataError(f"The covariance of {flat.shape[1]} features is too large; the most is {MOST_COVARIED}.")
    if shape == "changes":
        step = -(-len(inputs) // MOST_CHANGED)
        return {"covariance": covariance_of_changes(inputs[::step].double())}
    if shape == "repeated":
        return {"covariance": _within_sources(flat, dataset)}
    return {"covariance": np.atleast_2d(np.cov(flat, rowvar=False))}


def _within_sources(flat: np.ndarray, dataset: Dataset) -> np.ndarray:
    """The covariance of samples around the mean of those with their source and class."""
    if dataset.sources is None:
        raise DataError(f"{dataset.name} does not say which samples are of one source.")
    _, codes = np.unique(np.asarray(dataset.sources).astype(str), return_inverse=True)
    _, group = np.unique(np.stack([codes, dataset.y]), axis=1, return_inverse=True)
    group = group.ravel()
    n_of = np.bincount(group)
    sums = np.zeros((len(n_of), flat.shape[1]))
    np.add.at(sums, group, flat)
    off = flat - (sums / n_of[:, None])[group]
    freedom = len(flat) - len(n_of)
    if freedom < 1:
        raise DataError(f"No source of {dataset.name} has two samples of a class, so nothing is repeated.")
    return off.T @ off / freedom
