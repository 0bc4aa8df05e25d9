"""Which pairs of several models differ? Closed testing over all ways in which models may be alike.

If the first model is as good as the second, and the second as the third, then the first is as good as the third. Not
every set of pairs can thus be alike at once: models are alike in groups (Shaffer 1986). A pair differs where none of
the groupings that put its two models together fits the data (Marcus, Peritz & Gabriel 1976), and a grouping does not
fit where Simes's test of all pairs within its groups says so (Simes 1986). Holm's method, which knows nothing of
groups, asks for more.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Float

from touchstone.core.evaluate.intervals import holm

MOST_MODELS = 7
"""Of more models there are too many groupings to go through."""


def corrected_pairs(pairs: Sequence[tuple[str, str]], p_values: Sequence[float]) -> list[float]:
    """P-values of pairs of models that may each be read at 5 % although many were looked at. NaN is passed over.

    Of more than seven models, and where a pair stands there more than once (for several source finders or sizes), they
    are Holm's.

    Examples
    --------
    >>> pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    >>> [round(p, 3) for p in corrected_pairs(pairs, [0.03, 0.02, 0.6])], holm([0.03, 0.02, 0.6])
    ([0.045, 0.045, 0.6], [0.06, 0.06, 0.6])
    """
    models = sorted({model for pair in pairs for model in pair})
    if len(models) > MOST_MODELS or len(set(pairs)) < len(pairs):
        return holm(p_values)
    p = np.array(p_values, dtype=np.float64)
    corrected = p.copy()
    for grouping in _groupings(len(models)):
        group = dict(zip(models, grouping, strict=True))
        alike = np.array([group[first] == group[second] for first, second in pairs], dtype=bool) & ~np.isnan(p)
        if alike.any():
            corrected[alike] = np.maximum(corrected[alike], _simes(p[alike]))
    return corrected.tolist()


def _groupings(n: int) -> Iterator[tuple[int, ...]]:
    """Every way to put `n` models into groups, as the number of each model's group."""
    if n == 0:
        yield ()
        return
    for others in _groupings(n - 1):
        for group in range(max(others, default=-1) + 2):
            yield (*others, group)


def _simes(p: Float[np.ndarray, " n"]) -> float:
    """The p-value of "nothing differs" that Simes's test gives."""
    return float((np.sort(p) * len(p) / np.arange(1, len(p) + 1)).min())
