"""Do folds change the labels, given the inputs? Neighbours within a fold, held against neighbours across folds.

Folds that differ in their inputs alone have, wherever two of them meet, the same labels on either side. So a sample's
nearest neighbours in its own fold must share its label as often as those in other folds. Where labels run smoothly from
one fold into the next, the nearer ones share it a little more often; what local class shares explain of that is taken
off. Labels dealt to folds without regard to inputs give 0 on average: that is the null.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from jaxtyping import Float, Integer

N_NEIGHBOURS = 10
"""Held against each sample."""
N_AROUND = 20
"""So many neighbours, of whatever fold, say what class shares are at a sample."""
FEWEST_SAMPLES = 100
"""Among fewer, neighbours are not near."""
MOST_SAMPLES = 20_000
"""Of more, so many at random are looked at."""
MOST_BLOCKS, SMALLEST_BLOCK = 32, 15


@dataclass(frozen=True)
class LabelShift:
    """How much more often neighbours share their label within a fold than across folds, for one scheme.

    `value` is a mean over `n` samples, as a fraction; a sample whose neighbours all lie in one fold counts 0. `se` and
    `df` are over blocks of samples that lie together, `per_seed` has the value of every seed.
    """

    scheme: str
    value: float
    se: float
    df: float
    n: int
    per_seed: tuple[float, ...]

    @property
    def seed_error(self) -> float:
        """Standard error of the mean over seeds; 0 for one, whose value is then of its folds alone."""
        return float(np.std(self.per_seed, ddof=1)) / sqrt(len(self.per_seed)) if len(self.per_seed) > 1 else 0.0


def labels_shift(
    scheme: str,
    features: Float[np.ndarray, "n_samples n_features"],
    y: Integer[np.ndarray, " n_samples"],
    folds: Sequence[Integer[np.ndarray, " n_samples"]],
    *,
    rng: np.random.Generator,
) -> LabelShift | None:
    """Measure it over the folds of every seed; None of fewer than 100 samples. Fold -1 is a fold of its own.

    Examples
    --------
    Both classes have two groups at the same places, and a fold holds one group of each class:

    >>> rng = np.random.default_rng(0)
    >>> group, y = np.arange(400) // 2 % 2, np.arange(400) % 2
    >>> x = 9.0 * group[:, None] + rng.normal(size=(400, 2))
    >>> round(labels_shift("mine", x, y, [(group != y).astype(int)], rng=rng).value, 2)
    1.0
    >>> abs(labels_shift("mine", x, y, [rng.integers(2, size=400)], rng=rng).value) < 0.05
    True
    """
    if len(y) > MOST_SAMPLES:
        rows = np.sort(rng.choice(len(y), MOST_SAMPLES, replace=False))
        features, y, folds = features[rows], y[rows], [of_seed[rows] for of_seed in folds]
    if len(y) < FEWEST_SAMPLES or features.shape[1] == 0:
        return None
    near = _neighbours(features)
    surplus = _surplus(y, near)
    by_seed = np.array([_within_less_across(surplus, of_seed, near) for of_seed in folds])
    block = _blocks(features, min(max(len(y) // SMALLEST_BLOCK, 4), MOST_BLOCKS))
    value = by_seed.mean(axis=0)
    sums = np.bincount(block, weights=value - value.mean())
    n_blocks = len(sums)
    se = sqrt(n_blocks / (n_blocks - 1) * float(np.square(sums).sum())) / len(y)
    return LabelShift(scheme, float(value.mean()), se, n_blocks - 1.0, len(y), tuple(by_seed.mean(axis=1).tolist()))


def _neighbours(features: np.ndarray) -> Integer[np.ndarray, "n_samples n_around"]:
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=N_AROUND).fit(features).kneighbors(return_distance=False)


def _surplus(y: np.ndarray, near: np.ndarray) -> Float[np.ndarray, "n_samples n_neighbours"]:
    """Whether a neighbour shares the label, less how probable that is by the class shares around either."""
    shares = np.stack([(y[near] == label).mean(axis=1) for label in range(int(y.max()) + 1)], axis=1)
    nearest = near[:, :N_NEIGHBOURS]
    expected = [np.einsum("ic,ic->i", shares, shares[nearest[:, place]]) for place in range(N_NEIGHBOURS)]
    return (y[nearest] == y[:, None]) - np.stack(expected, axis=1)


def _within_less_across(surplus: np.ndarray, fold: np.ndarray, near: np.ndarray) -> Float[np.ndarray, " n_samples"]:
    same = fold[near[:, :N_NEIGHBOURS]] == fold[:, None]
    n_same = same.sum(axis=1)
    mixed = (n_same > 0) & (n_same < N_NEIGHBOURS)
    within = (surplus * same).sum(axis=1) / np.maximum(n_same, 1)
    across = (surplus * ~same).sum(axis=1) / np.maximum(N_NEIGHBOURS - n_same, 1)
    return np.where(mixed, within - across, 0.0)


def _blocks(features: np.ndarray, n_blocks: int) -> Integer[np.ndarray, " n_samples"]:
    """Cut the largest block in half, across the column in which it is widest, until there are enough."""
    parts = [np.arange(len(features))]
    while len(parts) < n_blocks:
        rows = parts.pop(int(np.argmax([len(part) for part in parts])))
        widest = int(features[rows].std(axis=0).argmax())
        rows = rows[np.argsort(features[rows, widest], kind="stable")]
        parts += [rows[: len(rows) // 2], rows[len(rows) // 2 :]]
    block = np.empty(len(features), dtype=np.int64)
    for place, rows in enumerate(parts):
        block[rows] = place
    return block
