"""In which space are folds made? In features standardised and condensed by PCA (ClusterDataSplit, section 3.1)."""

import numpy as np
from jaxtyping import Float

from touchstone.core.data import Dataset
from touchstone.core.data.errors import DataError
from touchstone.core.models.threads import single_threaded
from touchstone.core.represent.representations import REPRESENTATIONS, encode

_EXACT = 1000
"""Up to so many samples or columns, whichever are fewer, PCA is exact; beyond, it is randomised with a fixed seed."""


def features_for_splits(
    dataset: Dataset, representation: str, *, n_components: int | None = 5, standardise: bool = True
) -> Float[np.ndarray, "n_samples n_components"]:
    """Give the features that folds are made in: encoded, standardised, and condensed to their principal components.

    Standardising brings every column to mean 0 and variance 1; columns that share a unit (see
    ``Representation.own_units``) get one common factor instead, as the leading components of an SVD would otherwise
    count no more than its last. Constant columns are left out. ``n_components=None`` keeps all columns as they are.

    No more components come out than differ from zero (at most the columns, and the samples less one), so that a table
    of two columns gives two where five were asked for; the shape says how many. The same data set always gives the
    same features. Raises DataError where all samples have the same features, or fewer than one component is asked for.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> features_for_splits(load_example("digits"), "raw").shape
    (1797, 5)
    >>> features_for_splits(load_example("digits"), "raw", n_components=None).shape
    (1797, 61)
    """
    if n_components is not None and n_components < 1:
        raise DataError(f"n_components must be at least 1, or nothing for all, not {n_components}.")
    features = np.asarray(encode(dataset, representation), dtype=np.float64)
    varying = np.ptp(features, axis=0) > 1e-12 * np.abs(features).max(axis=0)
    if not varying.any():
        raise DataError(
            f"{dataset.name}: all {dataset.n_samples} samples have the same features "
            f"({REPRESENTATIONS[representation].title}), so they cannot be separated. Choose another "
            f"representation, or leave out the columns that never change."
        )
    centred = features[:, varying] - features[:, varying].mean(axis=0)
    if standardise:
        spread = centred.std(axis=0)
        own_units = REPRESENTATIONS[representation].own_units
        centred /= spread if own_units else np.sqrt((spread**2).mean())
    return centred if n_components is None else principal_components(centred, n_components)


def principal_components(
    features: Float[np.ndarray, "n_samples n_features"], n_components: int
) -> Float[np.ndarray, "n_samples n_components"]:
    """Project onto the directions of largest variance, largest first, those without any left out.

    The sign of a component is such that the largest of its loadings is positive.

    Examples
    --------
    >>> principal_components(np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 0.0], [3.0, 1.0]]), 1).round(2).T
    array([[-1.52,  1.43, -1.52,  1.61]])
    """
    from sklearn.decomposition import PCA

    n_samples, n_features = features.shape
    if not np.ptp(features, axis=0).any():
        return np.zeros((n_samples, 0))
    n_components = min(n_components, n_samples, n_features)
    if min(n_samples, n_features) > _EXACT:
        solver = "randomized"
    else:
        solver = "covariance_eigh" if n_features <= n_samples else "full"
    with single_threaded():
        pca = PCA(n_components, svd_solver=solver, random_state=0, iterated_power=7).fit(features)
        kept = pca.explained_variance_ > 1e-12 * pca.explained_variance_[0]
        return pca.transform(features)[:, kept]
