"""Do truth and predictions belong together? Signs that rows were shuffled, or that a label was turned around."""

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
from jaxtyping import Float, Integer

_FEWEST = 20  # samples below which chance explains nearly everything
_SAME = 0.999  # the share of rows from which on two columns say the same
_BELOW, _NEAR = 3.0, 2.0  # standard deviations: so far below chance, so near to it


def agreement_by_chance(truth: Sequence[Hashable], predicted: Sequence[Hashable]) -> tuple[float, float]:
    """How many rows agree if one side is shuffled: the mean over all orders, and the standard deviation. Both exact.

    >>> agreement_by_chance(["a", "a", "b", "b"], ["a", "a", "b", "b"])
    (2.0, 1.1547005383792515)
    """
    n_rows = len(truth)
    known, said = Counter(truth), Counter(predicted)
    both = [(known[label], said[label]) for label in known.keys() & said.keys()]
    counts = np.array(sorted(both), dtype=np.float64).reshape(-1, 2)
    products = counts.prod(axis=1)
    mean = products.sum() / n_rows
    if n_rows < 2:
        return float(mean), 0.0
    own = (products * (n_rows - counts[:, 0]) * (n_rows - counts[:, 1])).sum()
    shared = products.sum() ** 2 - (products**2).sum()
    return float(mean), float(np.sqrt(max(0.0, own + shared) / (n_rows**2 * (n_rows - 1))))


def suspicions(
    y_true: Integer[np.ndarray, " n_samples"],
    y_pred: Integer[np.ndarray, " n_samples"],
    *,
    n_classes: int,
    proba: Float[np.ndarray, "n_samples n_classes"] | None = None,
) -> tuple[str, ...]:
    """Sentences on what is suspicious about predictions; none where nothing is.

    >>> suspicions(np.array([0, 1] * 20), np.array([1, 0] * 20), n_classes=2)
    ('Accuracy is 0.0 %, below the 50.0 % that chance would give: are labels turned around or rows in another order?',)
    """
    n_samples = len(y_true)
    mean, spread = agreement_by_chance(y_true.tolist(), y_pred.tolist())
    n_correct = int((y_true == y_pred).sum())
    found = []
    if n_samples >= _FEWEST and spread > 0:
        chance = max(mean / n_samples, 1 / n_classes)
        told = f"Accuracy is {100 * n_correct / n_samples:.1f} %"
        error = _BELOW * np.sqrt(chance * (1 - chance) / n_samples)
        if n_correct < mean - _BELOW * spread or n_correct / n_samples < chance - error:
            found.append(
                f"{told}, below the {100 * chance:.1f} % that chance would give: are labels turned around or rows in "
                "another order?"
            )
        elif abs(n_correct - mean) <= _NEAR * spread:
            found.append(
                f"{told}, as if truth and predictions were shuffled against each other (then about "
                f"{100 * mean / n_samples:.1f} %): do the rows belong together?"
            )
    if n_samples >= _FEWEST and n_correct > _SAME * n_samples:
        found.append("Truth and prediction agree in more than 99.9 % of rows: is one column a copy of the other?")
    if proba is not None:
        other = int((proba[np.arange(n_samples), y_pred] < proba.max(axis=1)).sum())
        if other:
            found.append(
                f"In {other:,} of {n_samples:,} rows the predicted label is not the most probable one; the label was "
                "kept, and confidence is the highest probability."
            )
    return tuple(found)
