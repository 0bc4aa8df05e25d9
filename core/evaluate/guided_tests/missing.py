"""What does the test set lack, and which real samples should be labelled next? Those of least confidence.

Ranked by how near they lie to what is missing, samples held a fifth of the errors that least confidence finds: what is
missing says where a sample lies, and does not order the list.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer

from touchstone.core.evaluate.guided_tests.generate import Start, generate_class
from touchstone.core.evaluate.guided_tests.results import REGIONS, GeneratedTests, all_of
from touchstone.core.evaluate.test_quality import Regions, TestQuality, findings
from touchstone.core.models.layers import LayerSamples

_LABELLED_CHUNK = 1024
_N_FOR_EACH = 10  # tests that stand for a boundary of which the test set has too little


@dataclass(frozen=True)
class Missing:
    """A boundary, of a class or with one rival, that the test set has too little of and for which `n` tests stand.

    `label` and `rival` are codes; a rival of None is whichever is nearest.
    """

    label: int
    rival: int | None
    n: int


def missing_regions(quality: TestQuality) -> tuple[Missing, ...]:
    """Say what is missing: the boundaries of absent classes, and of classes and pairs found to be under-covered.

    Nothing is ever missing near a centroid, where every test set has most.
    """
    codes = {name: code for code, name in enumerate(quality.class_names)}
    under = [
        Missing(codes[finding.label], codes[finding.rival] if finding.rival else None, _N_FOR_EACH)
        for finding in findings(quality)
        if finding.direction == "under" and "boundary" in finding.dimension
    ]
    return (*(Missing(codes[name], None, _N_FOR_EACH) for name in quality.absent), *under)


def generate_missing(start: Start, missing: Sequence[Missing], *, seed: int) -> GeneratedTests | None:
    """Generate what is missing; None where nothing is."""
    made = [
        generate_class(start, request.label, n_centroid=0, n_boundary=request.n, seed=seed, rival=request.rival)
        for request in missing
    ]
    return all_of(made) if made else None


def label_next(wanted: GeneratedTests | None, pool: LayerSamples, regions: Regions, *, n: int) -> pd.DataFrame:
    """List the `n` samples of a pool, labelled or not, that the model is least sure of, the least confident first.

    Columns: id, predicted, confidence; and where there are `wanted` tests near_label, near_rival and region (of the one
    it lies nearest to) and distance (in the unit of that class). Ready to be written as a file for annotators.
    """
    regions.check(pool)
    chosen = np.argsort(pool.confidence, kind="stable")[:n]
    names = np.array(pool.class_names, dtype=object)
    columns = {
        "id": pool.ids[chosen],
        "predicted": names[pool.predicted[chosen]],
        "confidence": pool.confidence[chosen],
    }
    if wanted is None or not len(wanted):
        return pd.DataFrame(columns)
    near, distance = nearest(pool.features[chosen], wanted.features)
    columns |= {
        "near_label": names[wanted.y[near]],
        "near_rival": names[wanted.rival[near]],
        "region": np.where(wanted.for_centroid[near], *REGIONS),
        "distance": distance / regions.units[wanted.y[near]],
    }
    return pd.DataFrame(columns)


def nearest(
    features: Float[np.ndarray, "n d"], among: Float[np.ndarray, "m d"]
) -> tuple[Integer[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """Give for each row the nearest row of `among`, and how far away it is.

    Where no image can be decoded, as of texts and tables, the nearest real sample stands in for a generated one.

    Examples
    --------
    >>> nearest(np.array([[0.0], [9.0]]), np.array([[1.0], [7.0], [8.0]]))
    (array([0, 2]), array([1., 1.]))
    """
    others = among.astype(np.float64)
    squares = np.square(others).sum(axis=1)
    at, far = np.zeros(len(features), dtype=np.int64), np.zeros(len(features))
    for first in range(0, len(features), _LABELLED_CHUNK):
        rows = slice(first, first + _LABELLED_CHUNK)
        part = features[rows].astype(np.float64)
        at[rows] = (squares - 2 * part @ others.T).argmin(axis=1)
        far[rows] = np.linalg.norm(part - others[at[rows]], axis=1)
    return at, far
