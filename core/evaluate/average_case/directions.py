"""Which kind of change breaks a class most? Noise along one named direction at a time (ours; the paper has none).

Images: what making them brighter, adding contrast, blurring or shifting them would change, pixel by pixel. Tables: one
column. Along such a line only the strength is random, so that a few equally probable strengths count the share of
noisy copies that keep the prediction, and no luck of draws is in it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Integer

from touchstone.core.data import DataError, Dataset
from touchstone.core.evaluate.average_case.gradients import NoisyInputs
from touchstone.core.models.errors import ModelError
from touchstone.core.parameters import About, Titles

if TYPE_CHECKING:
    import torch

    Change = Callable[["torch.Tensor"], "torch.Tensor"]

N_STRENGTHS = 32
"""Equally probable strengths of a change, of either sign."""
MOST_COLUMNS = 64


def directions_of(x: "torch.Tensor", names: tuple[str, ...] = ()) -> "dict[str, torch.Tensor]":
    """By name, what each change does to every sample: (n, d), of the length that noise of sigma 1 has.

    `x` are images (n, channels, height, width), or rows (n, d) whose columns have these `names`: of those each
    direction is one column, as long as that column's own part of the noise. An image that a change leaves as it is
    stands still.

    Examples
    --------
    >>> import torch
    >>> found = directions_of(torch.rand((3, 1, 8, 8), generator=torch.Generator().manual_seed(0)))
    >>> list(found), found["blur"].norm(dim=1).round(decimals=3).tolist()
    (['brightness', 'contrast', 'blur', 'shift sideways', 'shift up or down'], [8.0, 8.0, 8.0])
    >>> directions_of(torch.zeros(1, 2), ("age", "height"))["height"]
    tensor([[0., 1.]])
    """
    import torch

    if x.ndim == 4:
        return {name: _as_long_as_noise(change(x).flatten(1)) for name, change in IMAGE_CHANGES.items()}
    if len(names) != x.shape[1] or len(names) > MOST_COLUMNS:
        raise ModelError(f"{len(names)} names of {x.shape[1]} columns; there must be as many, {MOST_COLUMNS} at most.")
    unit = torch.eye(len(names), dtype=x.dtype, device=x.device)
    return {name: unit[place].expand(len(x), -1) for place, name in enumerate(names)}


def kept_along(
    inputs: NoisyInputs, predicted: Integer[np.ndarray, " n"], directions: "dict[str, torch.Tensor]"
) -> Float[np.ndarray, "n k"]:
    """The share of noisy copies along each direction that keep the prediction, over `N_STRENGTHS` strengths.

    Examples
    --------
    >>> import torch
    >>> from touchstone.core.evaluate.average_case.noise import Noise
    >>> first_is_positive = lambda x: torch.stack([x[:, 0], torch.zeros(len(x))], dim=1)
    >>> inputs = NoisyInputs(first_is_positive, torch.tensor([[0.5, 0.0]]), Noise(0.5), torch.Generator(), batch_size=8)
    >>> kept_along(inputs, np.array([0]), directions_of(inputs.x, ("a", "b"))).tolist()  # Phi(1) is .841
    [[0.84375, 1.0]]
    """
    import torch

    strengths = torch.as_tensor(quantiles(inputs.noise.kind, N_STRENGTHS), dtype=inputs.x.dtype, device=inputs.x.device)
    own = torch.as_tensor(predicted, device=inputs.x.device)
    step = max(1, inputs.batch_size // N_STRENGTHS)
    kept = np.zeros((len(inputs.x), len(directions)))
    with torch.inference_mode():
        for place, direction in enumerate(directions.values()):
            along = inputs.noise.sigma * direction
            if inputs.x.ndim == 2:
                along = along * _spread_of_columns(inputs)
            for rows in torch.arange(len(inputs.x)).split(step):
                moved = inputs.x[rows].flatten(1)[:, None] + strengths[:, None] * along[rows][:, None]
                answers = inputs.logits(moved.flatten(0, 1).unflatten(1, inputs.x.shape[1:])).argmax(dim=1)
                stays = answers.unflatten(0, (len(rows), -1)) == own[rows][:, None]
                kept[rows.numpy(), place] = stays.double().mean(dim=1).cpu().numpy()
    return kept


def _spread_of_columns(inputs: NoisyInputs) -> "torch.Tensor":
    """What the noise is worth in each column alone."""
    import torch

    scales, covariance = inputs.noise.scales, inputs.noise.covariance
    of_columns = np.sqrt(np.diag(covariance)) if covariance is not None else scales
    return torch.as_tensor(1.0 if of_columns is None else of_columns, dtype=inputs.x.dtype, device=inputs.x.device)


def quantiles(kind: str, n: int) -> Float[np.ndarray, " n"]:
    """The middles of `n` equally probable parts of noise of this kind and variance one.

    Examples
    --------
    >>> quantiles("gaussian", 2).round(3).tolist(), quantiles("uniform", 2).round(3).tolist()
    ([-0.674, 0.674], [-0.866, 0.866])
    """
    from scipy.stats import laplace, norm, uniform

    made = {"gaussian": norm(), "uniform": uniform(-(3**0.5), 2 * 3**0.5), "laplace": laplace(scale=0.5**0.5)}
    return made[kind].ppf((np.arange(n) + 0.5) / n)


def covariance_of_changes(x: "torch.Tensor") -> Float[np.ndarray, "d d"]:
    """How pixels vary together under all these changes of these images, each as frequent as the others.

    The variance of a pixel is 1 on average, so that sigma means as much as it does for noise alike in all pixels.

    Examples
    --------
    >>> import torch
    >>> covariance = covariance_of_changes(torch.rand((9, 1, 8, 8), generator=torch.Generator().manual_seed(0)))
    >>> covariance.shape, round(float(np.trace(covariance)), 6)
    ((64, 64), 64.0)
    """
    total = np.zeros((x[0].numel(), x[0].numel()))
    for direction in directions_of(x).values():
        rows = direction.double().cpu().numpy()
        total += rows.T @ rows
    return total * (len(total) / np.trace(total))


def _as_long_as_noise(change: "torch.Tensor") -> "torch.Tensor":
    """Of the length that unit noise has: the root of the number of features; what is nothing stays so."""
    length = change.norm(dim=1, keepdim=True)
    return change * (change.shape[1] ** 0.5 / length.clamp_min(1e-12)) * (length > 1e-6)


def _brightness(x: "torch.Tensor") -> "torch.Tensor":
    return x.new_ones(x.shape)


def _contrast(x: "torch.Tensor") -> "torch.Tensor":
    return x - x.mean(dim=(1, 2, 3), keepdim=True)


def _blur(x: "torch.Tensor") -> "torch.Tensor":
    from torch.nn import functional

    return functional.avg_pool2d(functional.pad(x, (1, 1, 1, 1), mode="replicate"), 3, stride=1) - x


def _shift(x: "torch.Tensor", dim: int) -> "torch.Tensor":
    """Half the difference between the image moved by a pixel one way and the other; its edges are repeated."""
    from torch.nn import functional

    wide = functional.pad(x, (1, 1, 0, 0) if dim == 3 else (0, 0, 1, 1), mode="replicate")
    size = x.shape[dim]
    return (wide.narrow(dim, 0, size) - wide.narrow(dim, 2, size)) / 2


IMAGE_CHANGES: "dict[str, Change]" = {
    "brightness": _brightness,
    "contrast": _contrast,
    "blur": _blur,
    "shift sideways": lambda x: _shift(x, 3),
    "shift up or down": lambda x: _shift(x, 2),
}


# What is the noise worth in each feature? Nothing more than sigma, or as much as features vary in the data.


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
