"""What does the mean of each source look like? (Kilinc & Uysal 2017, figures 1 and 2)"""

import numpy as np
from jaxtyping import Float, Integer, Real


def mean_images(
    x: Real[np.ndarray, "n_samples height width channels"],
    sources: Integer[np.ndarray, " n_samples"],
    *,
    n_classes: int,
    n_sources: int,
) -> Float[np.ndarray, "n_classes n_sources height width channels"]:
    """Give the mean image of every source, where these are numbered class by class; NaN for one without a sample.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 1.0, 0.5]).reshape(4, 1, 1, 1)
    >>> mean_images(x, np.array([0, 0, 1, 2]), n_classes=2, n_sources=2)[..., 0, 0, 0]
    array([[0.5, 1. ],
           [0.5, nan]])
    """
    pixels = np.zeros((n_classes * n_sources, x[0].size))
    n = np.bincount(sources, minlength=n_classes * n_sources)
    for source in np.flatnonzero(n):
        pixels[source] = x[sources == source].mean(axis=0, dtype=np.float64).ravel()
    pixels[n == 0] = np.nan
    return pixels.reshape(n_classes, n_sources, *x.shape[1:])
