"""How do the inputs of a data set become what a network takes? Images with channels first, tables as they are."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Shaped

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
