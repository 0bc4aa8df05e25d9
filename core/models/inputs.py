"""How do the inputs of a data set become what a network takes? Images with channels first, tables as they are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Shaped

from touchstone.core.models.errors import ModelError

if TYPE_CHECKING:
    import torch


def network_inputs(x: Shaped[np.ndarray, "n_samples ..."]) -> "torch.Tensor":
    """Give images (n, height, width, channels) as float32 (n, channels, height, width), vectors (n, d) as float64.

    It is a copy, since torch could write to arrays that are read-only, as a Dataset's are. Raises ModelError for pixels
    outside [0, 1], for numbers that are not finite and for texts, which have to become vectors first.

    Examples
    --------
    >>> network_inputs(np.zeros((5, 28, 20, 3), dtype=np.float32)).shape
    torch.Size([5, 3, 28, 20])
    """
    import torch

    if x.ndim not in (2, 4) or x.dtype == object:
        raise ModelError(
            f"A network takes images (n, height, width, channels) or vectors (n, d); these have shape {x.shape}. "
            "Texts must become vectors first."
        )
    if not np.isfinite(x).all():
        raise ModelError("The inputs hold something that is no finite number. Fill it in, or leave the samples out.")
    if x.ndim == 2:
        return torch.tensor(x, dtype=torch.float64)
    if x.size and (x.min() < 0 or x.max() > 1):
        raise ModelError(
            f"Pixels run from {x.min():g} to {x.max():g}. "
            "They must lie in [0, 1]: divide by the largest possible value."
        )
    return torch.tensor(x, dtype=torch.float32).permute(0, 3, 1, 2).contiguous()


def input_shape(x: Shaped[np.ndarray, "n_samples ..."]) -> tuple[int, ...]:
    """Give the shape of one sample as a network sees it: (channels, height, width) or (d,).

    Examples
    --------
    >>> input_shape(np.zeros((5, 28, 20, 3))), input_shape(np.zeros((5, 30)))
    ((3, 28, 20), (30,))
    """
    return (x.shape[3], *x.shape[1:3]) if x.ndim == 4 else tuple(x.shape[1:])


# How were pixels scaled when a model was trained? As what black and white were, for all channels or for each.


Ends = tuple[float, float]
InputRange = Ends | tuple[Ends, ...]
"""What black and white are for a model: two rising numbers, or a pair of these for each channel."""


def normalised(mean: Sequence[float], std: Sequence[float], *, divided: bool = True) -> InputRange:
    """What black and white are where a mean was taken off and the rest divided by a deviation, channel by channel.

    `divided`: pixels were brought from 0 to 255 to [0, 1] before. Raises ModelError unless there are as many deviations
    as means, all of them above 0.

    Examples
    --------
    >>> normalised([0.5], [0.5]), normalised([127.5, 0.0], [127.5, 255.0], divided=False)
    ((-1.0, 1.0), ((-1.0, 1.0), (0.0, 1.0)))
    """
    if len(mean) != len(std) or not mean:
        raise ModelError(
            f"There are {len(mean)} means and {len(std)} standard deviations. Give one of each, for all channels or "
            "for each."
        )
    numbers = np.array([mean, std], dtype=np.float64)
    if not (np.isfinite(numbers).all() and (numbers[1] > 0).all()):
        raise ModelError("Means must be numbers, and standard deviations numbers above 0.")
    white = 1.0 if divided else 255.0
    ends = tuple((float((0 - of) / by), float((white - of) / by)) for of, by in numbers.T)
    return ends[0] if len(ends) == 1 else ends


def checked_range(input_range: InputRange, n_channels: int) -> InputRange:
    """The range, where it fits so many channels. Raises ModelError for any other.

    >>> checked_range(((0.0, 1.0), (-1.0, 1.0), (0.0, 255.0)), 1)
    Traceback (most recent call last):
    touchstone.core.models.errors.ModelError: There are 3 input ranges, and images of 1 channel. Give one, or one ...
    """
    low, high = black_and_white(input_range)
    if len(low) not in (1, n_channels):
        channels = "1 channel" if n_channels == 1 else f"{n_channels} channels"
        raise ModelError(
            f"There are {len(low)} input ranges, and images of {channels}. Give one, or one for each channel."
        )
    if not (np.isfinite([low, high]).all() and (low < high).all()):
        raise ModelError(f"An input range is two rising numbers, for all channels or for each, not {input_range}.")
    return input_range


def black_and_white(input_range: InputRange) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """What black and what white is, of each channel or of all.

    >>> black_and_white((-1.0, 1.0))
    (array([-1.]), array([1.]))
    """
    ends = np.array(input_range, dtype=np.float64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1]
