"""Which held-out source is harder than the others, once found again, shrunk and corrected for having been picked?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from core.evaluate.claims import LEVEL, Claim, claim
from core.evaluate.intervals import UNKNOWN, Interval, wilson
from core.evaluate.source_robustness.counts import EXCLUSIVE, INCLUSIVE, Counts, Layout

SMALLEST = 0.01
Cluster = tuple[int, str | None, str]
"""What a source is known by: its clustering, its class (None where classes share it), its name."""


@dataclass(frozen=True)
class HeldOutSource:
    """Accuracy on one source when it was held out, and when it was seen in training.

    `lower` and `upper` are Wilson's 95 % interval of `exclusive` with the source's samples as the unit: it speaks about
    this very source. `label` is None where the source is shared over classes; `inclusive` is NaN where no inclusive
    trial tested it. Ids of found sources mean something within their `clustering` only. `moved` is how much the number
    of right samples varies from training to training, as a share of the variance that as many coins would have; NaN
    where the source was held out once.
    """

    model: str
    source_finder: str
    n_train: int
    clustering: int
    label: str | None
    source: str
    n_repeats: int
    n: int
    exclusive: float
    lower: float
    upper: float
    inclusive: float
    moved: float = float("nan")

    @property
    def cluster(self) -> Cluster:
        """What it is known by."""
        return self.clustering, self.label, self.source


@dataclass(frozen=True)
class Hardness:
    """How much harder one held-out source is than the others.

    `shrunk` is its accuracy drawn towards the mean of its class (empirical Bayes): the lowest of many is partly bad
    luck. `interval` of that accuracy is exact and holds for all sources at once, so that it may be that of the lowest.
    """

    source: HeldOutSource
    others: float
    """Mean accuracy on the other held-out sources, of the same class where classes have their own."""
    shrunk: float
    interval: Interval
    claim: Claim


def held_out_sources(model: str, n_train: int, layout: Layout, schemes: dict[str, Counts]) -> list[HeldOutSource]:
    """Every source that was held out at least once, in the order of clusterings, classes and ids."""
    if EXCLUSIVE not in schemes:
        return []
    exclusive = schemes[EXCLUSIVE]
    correct, n, times = _by_unit(exclusive, layout)
    known_correct, known_n, _ = _by_unit(schemes[INCLUSIVE], layout) if INCLUSIVE in schemes else (correct, 0 * n, 0)
    sources = []
    for unit in np.flatnonzero(times > 0):
        size = n[unit] / times[unit]
        accuracy = float(correct[unit] / n[unit])
        interval = wilson(accuracy * size, size)
        sources.append(
            HeldOutSource(
                model=model,
                source_finder=layout.source_finder,
                n_train=n_train,
                clustering=int(layout.unit_clustering[unit]),
                label=None if layout.shared else layout.labels[layout.unit_stratum[unit]],
                source=str(layout.unit_name[unit]),
                n_repeats=int(times[unit]),
                n=round(float(size)),
                exclusive=accuracy,
                lower=interval.lower,
                upper=interval.upper,
                inclusive=float(known_correct[unit] / known_n[unit]) if known_n[unit] else float("nan"),
                moved=_moved(float(correct[unit]), float(exclusive.unit_squared[unit]), float(times[unit]), accuracy),
            )
        )
    return sources


def hardest(sources: Sequence[HeldOutSource], *, same: Mapping[Cluster, int] | None = None) -> tuple[Hardness, ...]:
    """Every distinct source of one model against the others of its class, the surest first, then the hardest.

    A source that another clustering found again counts once. `same` numbers the sources that are the same, where their
    samples are known; else those of a class with the same size and the same number of right samples are the same, and
    the correction is for all of them, because such a likeness may be chance.

    The test of one source is exact: had it the accuracy of the others, how likely would so few right samples be? A
    source held out once may have met a bad training, and nobody can know where none was held out twice: undecided.

    Examples
    --------
    >>> easy = HeldOutSource("svm", "known", 90, 0, None, "a", 4, 50, 0.96, 0.87, 0.99, 0.97, 0.1)
    >>> hard = replace(easy, source="c", exclusive=0.5)
    >>> first, *_ = hardest([easy, replace(easy, source="b"), hard])
    >>> first.source.source, round(first.shrunk, 2), first.claim.decision
    ('c', 0.53, 'above')
    """
    distinct = _distinct(sources, same)
    labels = np.unique([str(source.label) for source in distinct], return_inverse=True)[1]
    together = np.bincount(labels)[labels] > 1  # nothing can be said of the only source of a class
    distinct, labels = [source for source, told in zip(distinct, together, strict=True) if told], labels[together]
    if not distinct:
        return ()
    family = len(distinct) if same is not None else len(sources)
    accuracy, n, times = (
        np.array([getattr(source, name) for source in distinct], dtype=np.float64)
        for name in ("exclusive", "n", "n_repeats")
    )
    of_class, right = np.bincount(labels, weights=n)[labels], np.bincount(labels, weights=n * accuracy)[labels]
    others = (right - n * accuracy) / (of_class - n)
    moved = _moved_by_training(distinct)
    size = n / (1 + (0 if np.isnan(moved) else moved) / times)
    size = size * (of_class - n) / (size + of_class - n)  # as if the others were known: theirs is an estimate, too
    mean = right / of_class
    shrunk = mean + _kept(accuracy, mean, size) * (accuracy - mean)
    unknown = np.full(len(n), np.nan)
    in_test = unknown if np.isnan(moved) else size
    rows = [
        _hardness(source, *numbers, family)
        for source, *numbers in zip(distinct, others.tolist(), shrunk.tolist(), in_test.tolist(), strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: (row.claim.decision != "above", row.shrunk)))


def _hardness(source: HeldOutSource, others: float, shrunk: float, size: float, family: int) -> Hardness:
    interval, p = _exact(source.exclusive, others, size, family)
    harder = Interval(others - interval.upper, others - interval.lower)
    told = claim("source_robustness.worst_source", others - shrunk, harder, p, smallest=SMALLEST)
    return Hardness(source, others, shrunk, interval, told)


def same_clusters(names: Sequence[np.ndarray], labels: np.ndarray, *, overlap: float = 0.8) -> dict[Cluster, int]:
    """Number the clusters of several clusterings of the same samples, the same number for the same cluster.

    `names` are those of every sample's cluster, by clustering; `labels` the names of their classes. Two clusters of a
    class are the same where they share `overlap` of the samples that either holds; each is compared with the first of
    its number.

    Examples
    --------
    >>> one, two = np.array(["0", "0", "1", "1"]), np.array(["5", "5", "4", "4"])
    >>> same = same_clusters([one, two], np.array(["a"] * 4))
    >>> same[0, "a", "0"] == same[1, "a", "5"], same[0, "a", "0"] == same[1, "a", "4"]
    (True, False)
    """
    first: list[tuple[object, np.ndarray]] = []
    numbers: dict[Cluster, int] = {}
    for clustering, of_samples in enumerate(names):
        for label in np.unique(labels):
            for name in np.unique(of_samples[labels == label]):
                mine = (labels == label) & (of_samples == name)
                alike = (of == label and _overlap(mine, theirs) >= overlap for of, theirs in first)
                number = next((place for place, is_same in enumerate(alike) if is_same), len(first))
                if number == len(first):
                    first.append((label, mine))
                numbers[clustering, str(label), str(name)] = number
    return numbers


def _overlap(mine: np.ndarray, theirs: np.ndarray) -> float:
    return float((mine & theirs).sum() / (mine | theirs).sum())


def _distinct(sources: Sequence[HeldOutSource], same: Mapping[Cluster, int] | None) -> list[HeldOutSource]:
    groups: dict[object, list[list[HeldOutSource]]] = {}
    for source in sources:
        counted = (source.label, source.n, round(source.exclusive * source.n, 6))
        alike = groups.setdefault(same.get(source.cluster, source.cluster) if same is not None else counted, [])
        # Two sources of one clustering are never the same, however alike their counts.
        free = (group for group in alike if all(other.clustering != source.clustering for other in group))
        group = next(free, None)
        if group is None:
            alike.append([source])
        else:
            group.append(source)
    return [_joined(group) for alike in groups.values() for group in alike]


def _joined(group: Sequence[HeldOutSource]) -> HeldOutSource:
    times = np.array([source.n_repeats for source in group], dtype=np.float64)
    moved = [source.moved for source in group if not np.isnan(source.moved)]
    return replace(
        group[0],
        n_repeats=int(times.sum()),
        exclusive=float(np.average([source.exclusive for source in group], weights=times)),
        moved=float(np.mean(moved)) if moved else float("nan"),
    )


def _moved(correct: float, squared: float, times: float, accuracy: float) -> float:
    if times < 2:
        return float("nan")
    coins = correct / times * (1 - accuracy)
    variance = max(squared - correct**2 / times, 0.0) / (times - 1)
    return variance / coins if coins > 0 else 0.0


def _moved_by_training(sources: Sequence[HeldOutSource]) -> float:
    """One number for all sources: each was held out too few times to tell its own."""
    known = [source for source in sources if not np.isnan(source.moved)]
    if not known:
        return float("nan")
    coins = [max(source.n * source.exclusive * (1 - source.exclusive), 0.25) for source in known]
    return float(np.average([source.moved for source in known], weights=coins))


def _kept(accuracy: np.ndarray, mean: np.ndarray, size: np.ndarray) -> np.ndarray:
    """The share of a source's distance to the mean that is its own, and not chance."""
    chance = mean * (1 - mean) / size
    own = max(float(np.mean((accuracy - mean) ** 2 - chance)), 0.0)
    total = own + chance
    return np.divide(own, total, out=np.zeros_like(total), where=total > 0)


def _exact(accuracy: float, others: float, size: float, family: int) -> tuple[Interval, float]:
    """Clopper and Pearson's interval of the accuracy and its test against `others`, for `family` sources at once."""
    if np.isnan(size):
        return UNKNOWN, float("nan")
    right, tail = accuracy * size, LEVEL / family / 2
    wrong = size - right
    lower = float(special.betaincinv(right, wrong + 1, tail)) if right > 0 else 0.0
    upper = float(special.betaincinv(right + 1, wrong, 1 - tail)) if wrong > 0 else 1.0
    fewer = float(special.betainc(max(wrong, 0.0), right + 1, 1 - others)) if wrong > 0 else 1.0
    more = float(special.betainc(right, wrong + 1, others)) if right > 0 else 1.0
    return Interval(lower, upper), min(2 * family * min(fewer, more), 1.0)


def _by_unit(counts: Counts, layout: Layout) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n_units = len(layout.unit_name)
    times = np.zeros(n_units)
    np.maximum.at(times, layout.cell_unit, counts.cell_times)
    return (
        np.bincount(layout.cell_unit, weights=counts.cell_correct, minlength=n_units),
        np.bincount(layout.cell_unit, weights=counts.cell_n, minlength=n_units),
        times,
    )
