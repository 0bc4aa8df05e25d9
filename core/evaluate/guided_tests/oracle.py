"""Who says what a generated picture shows, and how far does a result hang on that? Machines fitted on real samples.

An oracle decides which pictures count. Another one, fitted on other real samples, would let a few others count, most of
them at the boundary, where models differ. What it decides is alike for all tests, so that no spread between tests shows
it: where nothing separated two models, 28 % of "more accurate" were wrong by the spread over samples alone
(tests/worlds/guided_tests_two_models.py). So oracles are fitted on bootstrap samples, too, and each result's standard
deviation over these is a part of its error (Efron 1979).
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Integer

from touchstone.core.models.classical import ShouldStop, stop_if

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

MOST_FOR_ORACLE = 10_000
"""An oracle is fitted on so many real samples at most, taken at random."""
N_OTHERS = 20
"""Oracles that are fitted on real samples drawn anew."""
_N_FOLDS, _N_COMPONENTS = 5, 50


class OracleError(NamedTuple):
    """The standard error that a mean owes to the oracle, and its degrees of freedom (0: nothing is known of it)."""

    se: float
    df: float


NO_ERROR = OracleError(0.0, 0.0)


def read_by_oracle(
    pictures: Float[np.ndarray, "n height width channels"],
    parents: Integer[np.ndarray, " n"],
    *,
    images: Float[np.ndarray, "n_samples height width channels"],
    y: Integer[np.ndarray, " n_samples"],
    rows: Integer[np.ndarray, " n_rows"],
    seed: int,
    should_stop: ShouldStop | None = None,
) -> tuple[Integer[np.ndarray, " n"], Bool[np.ndarray, " n_read"]]:
    """Read pictures by machines that have seen none of their `parents` (rows of `images`).

    Give the class of each picture, and of the real samples `rows` (or of many of them) whether they are read right.
    """
    rng = np.random.default_rng([seed, 1])
    fold = np.full(len(images), -1)
    fold[rows] = rng.permutation(np.arange(len(rows)) % _N_FOLDS)
    few = rng.permutation(rows)[:MOST_FOR_ORACLE]
    read_as, right = np.full(len(pictures), -1), []
    for held_out in range(_N_FOLDS):
        stop_if(should_stop)
        fitted, others = few[fold[few] != held_out], few[fold[few] == held_out]
        oracle = _fitted(images[fitted], y[fitted])
        own = fold[parents] == held_out
        if own.any():
            read_as[own] = oracle.predict(_flat(pictures[own]))
        if len(others):
            right.append(oracle.predict(_flat(images[others])) == y[others])
    return read_as, np.concatenate(right)


def kept_by_others(
    pictures: Float[np.ndarray, "n height width channels"],
    wanted: Integer[np.ndarray, " n"],
    *,
    images: Float[np.ndarray, "n_samples height width channels"],
    y: Integer[np.ndarray, " n_samples"],
    rows: Integer[np.ndarray, " n_rows"],
    seed: int,
    should_stop: ShouldStop | None = None,
) -> Bool[np.ndarray, "n n_others"]:
    """Say which pictures each of `N_OTHERS` oracles reads as what they were made for (`wanted`).

    Each is fitted on as many of the real samples `rows`, drawn with replacement.
    """
    rng = np.random.default_rng([seed, 2])
    few = rng.permutation(rows)[:MOST_FOR_ORACLE]
    kept = np.zeros((len(pictures), N_OTHERS), dtype=bool)
    for place in range(N_OTHERS if len(pictures) else 0):
        stop_if(should_stop)
        drawn = few[rng.integers(len(few), size=len(few))]
        kept[:, place] = _fitted(images[drawn], y[drawn]).predict(_flat(pictures)) == wanted
    return kept


def oracle_error(values: Float[np.ndarray, " n"], kept_again: Bool[np.ndarray, "n n_oracles"]) -> OracleError:
    """Give the error that the mean of `values` over the tests that count owes to the oracle.

    It is the standard deviation of that mean over oracles, each with the tests that it keeps.

    Examples
    --------
    >>> oracle_error(np.array([0.0, 1.0]), np.array([[True, True], [True, False]]))
    OracleError(se=0.35..., df=1.0)
    """
    n = kept_again.sum(axis=0)
    means = (values @ kept_again)[n > 0] / n[n > 0]
    if len(means) < 2:
        return NO_ERROR
    return OracleError(float(means.std(ddof=1)), float(len(means) - 1))


def _fitted(images: np.ndarray, y: np.ndarray) -> "Pipeline":
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC

    n_components = min(_N_COMPONENTS, images[0].size, len(images) - 1)
    return make_pipeline(PCA(n_components, svd_solver="full"), SVC(C=10.0, random_state=0)).fit(_flat(images), y)


def _flat(images: np.ndarray) -> np.ndarray:
    return images.reshape(len(images), -1)
