"""Which held-out source is harder than the others, once found again, shrunk and corrected for having been picked?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from touchstone.core.evaluate.claims import LEVEL, Claim, claim
from touchstone.core.evaluate.intervals import (
    UNKNOWN,
    Interval,
    clopper_pearson,
    holm,
    moderated_variances,
    t_interval,
    t_p_value,
    within,
)
from touchstone.core.evaluate.source_robustness.counts import Layout, Schemes
from touchstone.core.evaluate.source_robustness.estimate import (
    Error,
    error_over_draws,
    error_over_sources,
    measure,
    rho_terms,
)
from touchstone.core.evaluate.source_robustness.held_out import Cluster, HeldOutSource
from touchstone.core.evaluate.source_robustness.results import Difference
from touchstone.core.trials.trial_plan import EXCLUSIVE, INCLUSIVE


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


def hardest(sources: Sequence[HeldOutSource], *, same: Mapping[Cluster, int] | None = None) -> tuple[Hardness, ...]:
    """Every distinct source of one model against the others of its class, the surest first, then the hardest.

    A source that another clustering found again counts once. `same` numbers the sources that are the same, where their
    samples are known; else those of a class with the same size and the same number of right samples are the same, and
    the correction is for all of them, because such a likeness may be chance.

    The test of one source is Fisher's, on whole numbers of samples: were all of one accuracy, how likely would so few
    right ones be? It is exact but for what trainings move, for which fewer samples count.
    A source held out once may have met a bad training, and nobody can know where none was held out twice: undecided.

    Examples
    --------
    >>> easy = HeldOutSource("svm", "known", 90, 0, None, "a", 4, 50, 0.96, 0.87, 0.99, 0.97, 0.1)
    >>> hard = replace(easy, source="c", exclusive=0.5)
    >>> first, *_ = hardest([easy, replace(easy, source="b"), hard])
    >>> first.source.source, round(first.shrunk, 2), first.claim.decision
    ('c', 0.53, 'above')
    """
    distinct = _distinct(sources, same)
    labels = [source.label for source in distinct]
    distinct = [source for source in distinct if labels.count(source.label) > 1]  # the only one has no others
    if not distinct:
        return ()
    family = len(distinct) if same is not None else len(sources)
    accuracy = np.array([source.exclusive for source in distinct])
    own, of_others, others, mean = _beside(distinct, accuracy)
    size = own * of_others / (own + of_others)
    shrunk = mean + _kept(accuracy, mean, size) * (accuracy - mean)
    once = all(np.isnan(source.moved) for source in distinct)
    numbers = zip(distinct, *(each.tolist() for each in (others, shrunk, own, of_others)), strict=True)
    rows = [_hardness(*each, family, once=once) for each in numbers]
    return tuple(sorted(rows, key=lambda row: (row.claim.decision != "above", row.shrunk)))


def _beside(
    sources: Sequence[HeldOutSource], accuracy: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of every source: how many samples it and the others of its class are worth, and the accuracy on these and on all.

    They are worth fewer than there are where accuracy moves from training to training.
    """
    labels = np.unique([str(source.label) for source in sources], return_inverse=True)[1]
    n, times = (
        np.array([getattr(source, name) for source in sources], dtype=np.float64) for name in ("n", "n_repeats")
    )
    of_class, right = np.bincount(labels, weights=n)[labels], np.bincount(labels, weights=n * accuracy)[labels]
    worth = n / (1 + _moved_by_training(sources) / times)
    of_others = np.bincount(labels, weights=worth)[labels] - worth
    return worth, of_others, (right - n * accuracy) / (of_class - n), right / of_class


def _hardness(
    source: HeldOutSource, others: float, shrunk: float, own: float, of_others: float, family: int, *, once: bool
) -> Hardness:
    """Where every source was held out once, the interval is of its samples alone, and nothing is claimed."""
    size = own * of_others / (own + of_others)
    interval = Interval(*clopper_pearson(source.exclusive * size, size, LEVEL / family))
    p = min(family * _fisher(source.exclusive, own, others, of_others), 1.0)
    harder = UNKNOWN if once else interval.scaled(-1.0, others)
    harder_than_others = claim("source_robustness.worst_source", others - shrunk, harder, p)
    return Hardness(source, others, shrunk, interval, harder_than_others)


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
                alike = (
                    known == label and (mine & theirs).sum() >= overlap * (mine | theirs).sum()
                    for known, theirs in first
                )
                number = next((place for place, is_same in enumerate(alike) if is_same), len(first))
                if number == len(first):
                    first.append((label, mine))
                numbers[clustering, str(label), str(name)] = number
    return numbers


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


def _moved_by_training(sources: Sequence[HeldOutSource]) -> float:
    """One number for all sources: each was held out too few times to tell its own. 0 where none was held out twice."""
    known = [source for source in sources if not np.isnan(source.moved)]
    if not known:
        return 0.0
    coins = [max(source.n * source.exclusive * (1 - source.exclusive), 0.25) for source in known]
    return float(np.average([source.moved for source in known], weights=coins))


def _kept(accuracy: np.ndarray, mean: np.ndarray, size: np.ndarray) -> np.ndarray:
    """The share of a source's distance to the mean that is its own, and not chance."""
    chance = mean * (1 - mean) / size
    own = max(float(np.mean((accuracy - mean) ** 2 - chance)), 0.0)
    total = own + chance
    return np.divide(own, total, out=np.zeros_like(total), where=total > 0)


def _fisher(accuracy: float, size: float, others: float, of_others: float) -> float:
    """Two-sided p-value of Fisher's exact test of two accuracies, on whole numbers of samples.

    What both say of the wrong answers is the null: others that are all right do not make one wrong answer a proof.

    >>> round(_fisher(29 / 30, 30.0, 1.0, 60.0), 2), round(_fisher(20 / 30, 30.0, 58 / 60, 60.0), 4)
    (0.67, 0.0004)
    """
    from scipy.stats import hypergeom

    n, m = round(size), round(of_others)
    wrong, of_both = round(size * (1 - accuracy)), round(size * (1 - accuracy)) + round(of_others * (1 - others))
    drawn = hypergeom(n + m, of_both, n)
    return min(2 * float(min(drawn.sf(wrong - 1), drawn.cdf(wrong))), 1.0)


# Which classes lose more of their accuracy on unfamiliar sources than the others do? (section 5.2.1)


@dataclass(frozen=True)
class _Told:
    value: float
    draws: Error
    sources: Error
    own_df: float
    """The class's own sources less one. (Satterthwaite's degrees of freedom are many just where its own variance came
    out small by luck, and would then keep it from being moderated.)"""


def classes_against_rest(layout: Layout, schemes: Schemes) -> list[Difference | None]:
    """For each class, its rho less that of all other classes together; None where either cannot be told.

    A class has few sources, so over sources the errors of all classes are moderated by each other. With each class's
    own, one of ten classes came out as unlike the rest in a fifth of simulated data sets where all were alike, in spite
    of Holm's correction.

    The variance over sources is not doubled: a class and the rest are answers of the same models. In eight simulated
    worlds where classes are alike (150 data sets each, 2 to 10 classes, 5 to 20 sources, even and uneven) such
    intervals held 0 in 95 to 100 %, doubled ones in 98 to 100 %, and then found a class that differs half as often.
    """
    contrasts = [_told(layout, schemes, code) for code in range(len(layout.labels))]
    known = [contrast for contrast in contrasts if contrast is not None]
    if not known:
        return [None] * len(contrasts)
    variances, dfs = moderated_variances(
        np.array([contrast.sources.se**2 for contrast in known]), np.array([contrast.own_df for contrast in known])
    )
    errors = [Error(float(np.sqrt(variance)), float(df)) for variance, df in zip(variances, dfs, strict=True)]
    p_draws = holm([t_p_value(contrast.value, contrast.draws.se, contrast.draws.df) for contrast in known])
    p_sources = holm(
        [t_p_value(contrast.value, error.se, error.df) for contrast, error in zip(known, errors, strict=True)]
    )
    differences = iter(
        difference(contrast.value, contrast.draws, error, p_draws_corrected=a, p_sources_corrected=b)
        for contrast, error, a, b in zip(known, errors, p_draws, p_sources, strict=True)
    )
    return [None if contrast is None else next(differences) for contrast in contrasts]


def difference(value: float, draws: Error, sources: Error, **holm_corrected: float) -> Difference:
    """A difference with the intervals and p-values that its two errors give."""
    return Difference(
        value=value,
        over_draws=t_interval(value, draws.se, draws.df),
        over_sources=t_interval(value, sources.se, sources.df),
        p_draws=t_p_value(value, draws.se, draws.df),
        p_sources=t_p_value(value, sources.se, sources.df),
        se=sources.se,
        df=sources.df,
        **holm_corrected,
    )


def accuracy_difference(value: float, draws: Error, sources: Error, *, most: float = 1.0) -> Difference:
    """As `difference`, of two accuracies: few degrees of freedom reach no further than 100 points either way."""
    free = difference(value, draws, sources)
    return replace(
        free, over_draws=within(free.over_draws, -most, most), over_sources=within(free.over_sources, -most, most)
    )


def _told(layout: Layout, schemes: Schemes, code: int) -> _Told | None:
    mine = np.arange(len(layout.labels)) == code
    if mine.all() or EXCLUSIVE not in schemes or INCLUSIVE not in schemes:
        return None
    x, i, rest_x, rest_i = (
        measure(schemes[scheme], layout, scheme, labels)
        for labels in (mine, ~mine)
        for scheme in (EXCLUSIVE, INCLUSIVE)
    )
    if np.isnan([x.value, rest_x.value]).any() or not (i.value > 0 and rest_i.value > 0):
        return None
    terms = rho_terms(x, i) + rho_terms(rest_x, rest_i, -1.0)
    value = x.value / i.value - rest_x.value / rest_i.value
    sources = error_over_sources(terms, layout, doubled=False)
    return _Told(value, error_over_draws(terms), sources, float(x.n_seen.max() - 1))
