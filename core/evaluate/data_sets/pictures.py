"""What does the middle of a class look like? Mean images."""

import numpy as np
from jaxtyping import Float, Integer


def mean_images(
    x: Float[np.ndarray, "n_samples height width n_channels"], y: Integer[np.ndarray, " n_samples"], n_classes: int
) -> Float[np.ndarray, "n_classes height width n_channels"]:
    """The mean image of every class; each class must have an image.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 0.5], dtype=np.float32).reshape(3, 1, 1, 1)
    >>> mean_images(x, np.array([0, 0, 1]), 2).ravel().tolist()
    [0.5, 0.5]
    """
    return np.stack([x[y == code].mean(axis=0, dtype=np.float64) for code in range(n_classes)])
