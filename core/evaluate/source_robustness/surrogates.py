"""What would the classes look like if they had no groups? Clouds of the same shape, drawn class by class.

A Gaussian class is, given its mean and covariance, as likely as any rotation of its samples among themselves (a random
orthogonal matrix from the left). So a rotated class has exactly the mean and covariance of the real one, whatever the
number of dimensions, and a test against such clouds is exact for Gaussian classes. The copula's clouds rotate normal
scores and then put back the real values by rank: marginals and rank correlations stay, groups go.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Integer
from scipy import special


def copula_cloud(
    features: Float[np.ndarray, "n_samples n_features"],
    y: Integer[np.ndarray, " n_samples"],
    *,
    rng: np.random.Generator,
) -> Float[np.ndarray, "n_samples n_features"]:
    """Draw each class anew from a Gaussian copula: its marginals exactly, the correlations of its normal scores.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> features, y = rng.exponential(size=(50, 3)), np.zeros(50, dtype=int)
    >>> cloud = copula_cloud(features, y, rng=rng)
    >>> bool((np.sort(cloud, axis=0) == np.sort(features, axis=0)).all()), bool((cloud == features).all())
    (True, False)
    """
    from scipy.stats import rankdata

    def drawn(members: np.ndarray) -> np.ndarray:
        scores = special.ndtri((rankdata(members, axis=0) - 0.5) / len(members))
        places = np.argsort(np.argsort(_rotated(scores, rng), axis=0), axis=0)
        return np.take_along_axis(np.sort(members, axis=0), places, axis=0)

    return _class_by_class(features, y, drawn)


def gaussian_cloud(
    features: Float[np.ndarray, "n_samples n_features"],
    y: Integer[np.ndarray, " n_samples"],
    *,
    rng: np.random.Generator,
) -> Float[np.ndarray, "n_samples n_features"]:
    """Draw each class anew from a Gaussian, with exactly the class's mean and covariance.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> features, y = rng.exponential(size=(50, 3)), np.zeros(50, dtype=int)
    >>> cloud = gaussian_cloud(features, y, rng=rng)
    >>> bool(np.allclose(np.cov(cloud.T), np.cov(features.T)))
    True
    """
    return _class_by_class(features, y, lambda members: _rotated(members, rng))


CLOUDS = {"copula": copula_cloud, "gaussian": gaussian_cloud}
"""Ways to draw a cloud, by name; the claim rests on the first."""


def _class_by_class(features: np.ndarray, y: np.ndarray, drawn: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    cloud = np.empty_like(features)
    for label in np.unique(y):
        cloud[y == label] = drawn(features[y == label])
    return cloud


def _rotated(
    members: Float[np.ndarray, "n_members n_features"], rng: np.random.Generator
) -> Float[np.ndarray, "n_members n_features"]:
    """Rows mixed by a random rotation that keeps their mean: same mean, same covariance, and else like a Gaussian."""
    mean = members.mean(axis=0)
    _, spread, directions = np.linalg.svd(members - mean, full_matrices=False)
    kept = spread > 1e-9 * max(spread[0], 1e-300)
    if not kept.any():
        return np.tile(mean, (len(members), 1))
    places = rng.standard_normal((len(members), int(kept.sum())))
    orthogonal, _ = np.linalg.qr(places - places.mean(axis=0))
    return mean + (orthogonal * spread[kept]) @ directions[kept]
