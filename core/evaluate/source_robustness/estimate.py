"""How sure is an accuracy, a ratio of accuracies or a difference of ratios: over draws, and over sources and samples?

Every number of this question is a function of mean accuracies, so its error is, to first order, a weighted sum of
theirs. *Over draws* the repeat is the unit. *Over sources and samples* it is the source (within its class): what would
have come out with other sources of the same kind? A draw replaces one source of a class by another; how much the
accuracy of a whole test part moves with it is that source's influence, and the variance of a class's influences over
its sources, divided by their number, is that class's share of the variance. Clusterings of the same data add no
sources: their variances are averaged, and only what the clusterings disagree by shrinks with their number. More repeats
and more clusterings thus make the influences better known, and never the sources more.

Influences know a source where it is tested. It also trains the models that are tested on the others, which they do not
see: so their variance counts twice, unless the trials hold every source left out in turn, where both show (or a class
is held against the rest of the same answers: see `classes_against_rest`). What another seed would move adds to it
(`mc_error`). How often the intervals hold the truth with real models stands in docs/measured/intervals.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Integer

from touchstone.core.evaluate.intervals import (
    Interval,
    share_difference,
    share_difference_p,
    share_interval,
    sum_of_errors,
    wilson,
)
from touchstone.core.evaluate.metric_functions import Counts as CountsByClass
from touchstone.core.evaluate.source_robustness.counts import Counts, Layout
from touchstone.core.evaluate.units import Error
from touchstone.core.trials.trial_plan import EXCLUSIVE

OfUnits = Float[np.ndarray, " n_units"]
"""A number for each unit."""
Strata = Integer[np.ndarray, " n_units"]
"""The stratum of each unit."""


@dataclass(frozen=True)
class Measured:
    """The mean accuracy of one model under one scheme, on the samples of some labels; what its errors are made from."""

    value: float
    scheme: str
    accuracy: Float[np.ndarray, " n_draws"]
    """Of every draw; NaN where it is unfinished or has no sample of these labels."""
    clustering: Integer[np.ndarray, " n_draws"]
    influence: OfUnits
    """Of every unit, scaled so that the sum of squares is the variance; 0 where the unit does not count, NaN where
    its stratum has a single unit, which cannot tell a variance."""
    in_turn: OfUnits
    """How much of a unit's squared influence is in the variance over draws, but no chance, since units are held out in
    turn: nothing where every draw tests every unit, or no turn is complete."""
    of_samples: float
    """The same of which samples of a unit are tested, as a variance of the mean over draws."""
    n_seen: Integer[np.ndarray, "n_clusterings n_strata"]
    """How many units of each stratum were tested."""
    n_samples: float
    """How many different samples were tested, about."""
    left_out: Float[np.ndarray, " n_turns"]
    """The value without the sources of each turn; NaN where the turn is unfinished, empty where none was asked for."""
    lowest: float = 0.0
    """The least that the value can be: 0 of an accuracy, -1 of a correlation. The most is 1."""

    @property
    def span(self) -> float:
        """How far the least and the most are from each other."""
        return 1 - self.lowest

    @property
    def share(self) -> float:
        """Where the value lies between the least and the most."""
        return (self.value - self.lowest) / self.span

    def interval(self, error: Error) -> Interval:
        """Wilson's, of as many samples as would have this error."""
        return share_interval(self.share, error.se / self.span, error.df).scaled(self.span, self.lowest)

    @property
    def sd(self) -> float:
        """Standard deviation of the accuracy over draws."""
        known = self.accuracy[~np.isnan(self.accuracy)]
        return float(np.std(known, ddof=1)) if len(known) > 1 else float("nan")


UNKNOWN_ERROR = Error(float("nan"), 0.0)


def measure(counts: Counts, layout: Layout, scheme: str, labels: Bool[np.ndarray, " n_labels"]) -> Measured:
    """The mean over draws of the accuracy on samples of `labels` (a mask)."""
    n = counts.n[:, labels].sum(axis=1)
    accuracy = np.divide(counts.correct[:, labels].sum(axis=1), n, out=np.full(len(n), np.nan), where=n > 0)
    drawn = ~np.isnan(accuracy)
    of_labels = labels[layout.cell_label] & (counts.cell_times > 0)
    correct, n_of = (_by_unit(layout, of_labels, each) for each in (counts.cell_correct, counts.cell_n))

    def moved(here: np.ndarray, times: np.ndarray, stratum: np.ndarray, n_draws: int) -> np.ndarray:
        return source_influences(correct[here], n_of[here], times, stratum, n_draws=n_draws)

    which = 0.0 if scheme == EXCLUSIVE else _of_which_samples(counts, layout, labels, layout.draws[scheme][drawn, 0])
    n_samples = min(float(n[drawn].sum()), float(layout.n_samples[labels].sum()))
    rest = {"of_samples": which, "n_samples": n_samples, "left_out": _left_out(counts, labels)}
    return _mean_of_draws(counts, layout, scheme, of_labels, accuracy, moved, **rest)


Value = Callable[[CountsByClass], np.ndarray]
"""A metric of counts by class, of many tables at once."""


def measure_metric(counts: Counts, layout: Layout, scheme: str, value: Value, *, lowest: float = 0.0) -> Measured:
    """The mean over draws of a metric of the whole test part, its errors made of the same pieces as an accuracy's.

    Trials count what each class was taken for, not each source: its wrong samples go where those of their class go.
    """
    n = counts.n.sum(axis=1)
    drawn = n > 0
    of_draws = np.full(len(n), np.nan)
    right, true = counts.correct[drawn], counts.n[drawn]
    predicted = _predicted(counts)[drawn]
    of_draws[drawn] = value(CountsByClass(right, true, predicted))
    into = taken_for((true - right).sum(axis=0), (predicted - right).sum(axis=0))
    of_cells = counts.cell_times > 0
    cells = [of_cells & (layout.cell_label == label) for label in range(len(layout.labels))]
    by_unit = [
        np.column_stack([_by_unit(layout, own, each) for own in cells]) for each in (counts.cell_correct, counts.cell_n)
    ]
    right_and_true = np.hstack(by_unit)

    def moved(here: np.ndarray, times: np.ndarray, stratum: np.ndarray, n_draws: int) -> np.ndarray:
        part = with_one_source(right_and_true[here], times, stratum, n_draws=n_draws)
        right, true = np.hsplit(part, 2)
        stood_in = value(CountsByClass(right, true, right + (true - right) @ into))
        return influences_of(stood_in, times, stratum, n_draws=n_draws)

    rest = {"n_samples": float(layout.n_samples[layout.n_samples > 0].min(initial=np.inf)), "lowest": lowest}
    return _mean_of_draws(
        counts, layout, scheme, of_cells, of_draws, moved, of_samples=0.0, left_out=np.empty(0), **rest
    )


def _predicted(counts: Counts) -> Float[np.ndarray, "n_draws n_labels"]:
    """How many samples were taken for each class: counted, or of two classes what follows from who is right."""
    if counts.n.shape[1] != 2:
        return counts.predicted
    return np.where(np.isnan(counts.predicted), counts.correct + (counts.n - counts.correct)[:, ::-1], counts.predicted)


def taken_for(
    wrong: Float[np.ndarray, " n_labels"], false: Float[np.ndarray, " n_labels"]
) -> Float[np.ndarray, "n_labels n_labels"]:
    """The share of the wrong samples of each class (row) that was taken for each other one.

    `wrong` samples of each class and `false` answers of each are known. Of all tables with these margins and nothing on
    the diagonal it is the one where classes are else alike (iterative proportional fitting; Deming and Stephan 1940).

    Examples
    --------
    >>> taken_for(np.array([4.0, 2.0, 2.0]), np.array([3.0, 3.0, 2.0])).round(2).tolist()
    [[0.0, 0.61, 0.39], [0.79, 0.0, 0.21], [0.71, 0.29, 0.0]]
    """
    n = len(wrong)
    table = (1 - np.eye(n)) * np.maximum(false, 1e-9)
    for _ in range(200):
        table *= (np.maximum(wrong, 1e-9) / np.maximum(table.sum(axis=1), 1e-300))[:, None]
        table *= np.maximum(false, 1e-9) / np.maximum(table.sum(axis=0), 1e-300)
    return table / np.maximum(table.sum(axis=1, keepdims=True), 1e-300)


FEW_ERRORS = 5
"""Below so many wrong (or right) samples the interval of a share is joined with the samples' own (Wilson)."""


def few_errors(measured: Measured) -> bool:
    """Whether so few samples were wrong (or right) that an error over draws or sources may come out as nothing."""
    return min(measured.share, 1 - measured.share) * measured.n_samples < FEW_ERRORS


def of_samples(measured: Measured) -> Interval:
    """What the samples alone leave unsure of an accuracy (Wilson)."""
    return wilson(measured.share * measured.n_samples, measured.n_samples).scaled(measured.span, measured.lowest)


def less_by_samples(first: Measured, second: Measured) -> tuple[Interval, float]:
    """How much more the first is, and the p-value of 0, as if of different samples and of nothing else (Newcombe)."""
    shares = [(each.share * each.n_samples, each.n_samples) for each in (first, second)]
    interval, p = share_difference(*shares[0], *shares[1]), share_difference_p(*shares[0], *shares[1])
    return interval.scaled(first.span), p


def _left_out(counts: Counts, labels: Bool[np.ndarray, " n_labels"]) -> Float[np.ndarray, " n_turns"]:
    """The mean over the draws of each turn that still test something; all draws must have come to their end."""
    n = counts.left_out_n[..., labels].sum(axis=-1)
    correct = counts.left_out_correct[..., labels].sum(axis=-1)
    accuracy = np.divide(correct, n, out=np.zeros_like(n), where=n > 0)
    finished = ~np.isnan(n[:, counts.done]).any(axis=1)
    tested = n > 0
    means = np.where(tested, accuracy, 0.0).sum(axis=1) / np.maximum(tested.sum(axis=1), 1)
    return np.where(finished & tested.any(axis=1), means, np.nan)


def _by_unit(layout: Layout, of_cells: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.bincount(layout.cell_unit[of_cells], weights=values[of_cells], minlength=len(layout.unit_name))


Moved = Callable[[np.ndarray, np.ndarray, np.ndarray, int], np.ndarray]
"""How far units move a mean over draws: which units, how often each was drawn, their strata, and how many draws."""


def _mean_of_draws(
    counts: Counts,
    layout: Layout,
    scheme: str,
    of_cells: Bool[np.ndarray, " n_cells"],
    value: Float[np.ndarray, " n_draws"],
    moved: Moved,
    **rest: Any,
) -> Measured:
    """The mean of a value of every draw, NaN where a draw has none, and how far the units in these cells move it."""
    drawn, clustering_of = ~np.isnan(value), layout.draws[scheme][:, 0]
    n_units = len(layout.unit_name)
    times = np.zeros(n_units)
    np.maximum.at(times, layout.cell_unit[of_cells], counts.cell_times[of_cells])
    influence, in_turn = np.zeros(n_units), np.zeros(n_units)
    n_seen = np.zeros((len(layout.clusterings), layout.n_strata), dtype=np.int64)
    for row, clustering in enumerate(layout.clusterings):
        here = np.flatnonzero((layout.unit_clustering == clustering) & (times > 0))
        n_draws = int((clustering_of[drawn] == clustering).sum())
        if len(here) == 0 or n_draws == 0:
            continue
        stratum = layout.unit_stratum[here]
        influence[here] = moved(here, times[here], stratum, n_draws)
        n_seen[row] = np.bincount(stratum, minlength=layout.n_strata)
        share = (np.bincount(stratum, weights=times[here]) / np.maximum(np.bincount(stratum), 1) / n_draws)[stratum]
        in_turn[here] = (1 / np.minimum(share, 1) - 1) / max(n_draws - 1, 1) * _taken_out(share, n_draws)
    mean = float(value[drawn].mean()) if drawn.any() else float("nan")
    pieces = {"influence": influence, "in_turn": in_turn, "n_seen": n_seen}
    return Measured(value=mean, scheme=scheme, accuracy=value, clustering=clustering_of, **pieces, **rest)


def _taken_out(share: Float[np.ndarray, " n"], n_draws: int) -> Float[np.ndarray, " n"]:
    """What turns take out of a variance over draws that test so large a share: all but what the last turn lacks.

    Examples
    --------
    >>> _taken_out(np.array([0.2, 0.5, 1.0]), 7).round(2).tolist()
    [0.79, 0.86, 1.0]
    """
    begun = np.round(n_draws * share, 6) % 1
    drawn = n_draws * share * (1 - share)
    return 1 - np.divide(begun * (1 - begun), drawn, out=np.zeros(len(share)), where=drawn > 1e-9)


def _of_which_samples(
    counts: Counts, layout: Layout, labels: Bool[np.ndarray, " n_labels"], clustering_of_draws: np.ndarray
) -> float:
    """The variance of a mean over draws by which samples of each unit are tested, as far as turns take it out."""
    n_draws = len(clustering_of_draws)
    tested = labels[layout.cell_label] & (counts.cell_times > 0) & (counts.cell_n > 0)
    if n_draws == 0 or not tested.any():
        return 0.0
    n, right = counts.cell_n[tested], counts.cell_correct[tested] / counts.cell_n[tested]
    share = min(float(n.sum()) / n_draws / max(float(layout.n_samples[labels].sum()), 1.0), 1.0)
    by_chance = (1 - share) * float(np.sum(n * right * (1 - right))) / float(n.sum()) ** 2
    n_of_clustering = round(n_draws / len(np.unique(clustering_of_draws)))
    return by_chance * float(_taken_out(np.full(1, share), n_of_clustering)[0])


def source_influences(correct: OfUnits, n: OfUnits, times: OfUnits, stratum: Strata, *, n_draws: int) -> OfUnits:
    """How far each source moves the mean accuracy of one clustering's draws; the squares sum to its variance.

    `correct` and `n` are totals over the `times` draws that tested the source. A source's value is the accuracy of the
    average test part in which it stands in for an average source of its stratum, once for each place that the stratum
    has there. Its influence is the distance to the stratum's mean, weighted by how often it was drawn, and scaled by
    its leverage so that the variance is unbiased (with equal weights: the usual variance of a mean).

    Examples
    --------
    One class, two sources tested once each, 90 % and 70 % right: the mean, 80 %, is known to within 10 %.

    >>> u = source_influences(np.array([9.0, 7.0]), np.array([10.0, 10.0]), np.ones(2), np.zeros(2, int), n_draws=2)
    >>> round(float(np.sqrt(np.sum(u**2))), 3)
    0.1
    """

    part = with_one_source(np.column_stack([correct, n]), times, stratum, n_draws=n_draws)
    return influences_of(part[:, 0] / part[:, 1], times, stratum, n_draws=n_draws)


def with_one_source(
    counts: Float[np.ndarray, "n_units n_counts"], times: OfUnits, stratum: Strata, *, n_draws: int
) -> Float[np.ndarray, "n_units n_counts"]:
    """The counts of the average test part in which each source stands in for an average one of its stratum.

    The stratum's other sources are at their average: what differs from source to source is then this source alone.
    """
    n_strata = int(stratum.max()) + 1
    total = np.zeros((n_strata, counts.shape[1]))
    np.add.at(total, stratum, counts)
    of_stratum = np.bincount(stratum, weights=times, minlength=n_strata)[:, None]
    average = np.divide(total, of_stratum, out=np.zeros_like(total), where=of_stratum > 0)
    return counts / times[:, None] + counts.sum(axis=0) / n_draws - average[stratum]


def influences_of(value: OfUnits, times: OfUnits, stratum: Strata, *, n_draws: int) -> OfUnits:
    """How far each source moves a mean over draws, which is `value` where it stands in for an average source."""

    def per_stratum(values: np.ndarray) -> np.ndarray:
        return np.bincount(stratum, weights=values)[stratum]

    weight = times / per_stratum(times)
    value = per_stratum(times) / n_draws * value  # once for each place that the stratum has in the test part
    distance = value - per_stratum(weight * value)
    # The squared distance to a weighted mean is sigma^2 (1 - 2 w + sum of w^2) on average: divided, it has no bias.
    leverage = 1 - 2 * weight + per_stratum(weight**2)
    single = per_stratum(np.ones_like(weight)) == 1
    return np.where(single, np.nan, weight * distance / np.sqrt(np.where(single, 1.0, leverage)))


def rho_terms(exclusive: Measured, inclusive: Measured, sign: float = 1.0) -> list[tuple[float, Measured]]:
    """Rho to first order: how much it changes with either accuracy."""
    if not inclusive.value > 0:
        return [(float("nan"), exclusive), (float("nan"), inclusive)]
    rho = exclusive.value / inclusive.value
    return [(sign / inclusive.value, exclusive), (-sign * rho / inclusive.value, inclusive)]


def error_over_draws(terms: Sequence[tuple[float, Measured]]) -> Error:
    """Error of a weighted sum of mean accuracies if the same data were drawn from again.

    Accuracies of the same scheme are paired by draw; schemes are drawn independently of each other.
    """
    parts = [_over_draws(of_scheme) for of_scheme in _by_scheme(terms)]
    return pooled(np.array([variance for variance, _ in parts]), np.array([df for _, df in parts]))


def mc_error(terms: Sequence[tuple[float, Measured]]) -> float:
    """How far another seed moves a weighted sum of mean accuracies; NaN after a single draw.

    Draws hold each source out equally often, so what held-out sources differ by is no chance of theirs.
    """
    if np.isnan(error_over_draws(terms).se):
        return float("nan")
    return float(np.sqrt(sum(_noise_of_turns(of_scheme) for of_scheme in _by_scheme(terms))))


def _noise_of_turns(of_scheme: Sequence[tuple[float, Measured]]) -> float:
    """The variance over draws less what is not left to chance, since units and samples are tested in turn."""
    variance, _ = _over_draws(of_scheme)
    influence = sum(weight * measured.influence for weight, measured in of_scheme)
    in_turn = np.max([measured.in_turn for _, measured in of_scheme], axis=0)
    explained = float(np.nansum(influence**2 * in_turn))
    if len(of_scheme) == 1:
        weight, measured = of_scheme[0]
        explained += weight**2 * measured.of_samples
    return max(variance - explained, 0.0)


def _by_scheme(terms: Sequence[tuple[float, Measured]]) -> list[list[tuple[float, Measured]]]:
    schemes = dict.fromkeys(measured.scheme for _, measured in terms)
    return [[term for term in terms if term[1].scheme == scheme] for scheme in schemes]


def _over_draws(of_scheme: Sequence[tuple[float, Measured]]) -> tuple[float, float]:
    values = np.sum([weight * measured.accuracy for weight, measured in of_scheme], axis=0)
    known = ~np.isnan(values)
    return _variance_of_mean(values[known], of_scheme[0][1].clustering[known])


def _variance_of_mean(values: np.ndarray, clustering: np.ndarray) -> tuple[float, float]:
    """Clusterings are strata: each is there by plan, only the draws within it are by chance."""
    codes = np.unique(clustering, return_inverse=True)[1]
    size = np.bincount(codes)
    df = len(values) - len(size)
    if df < 1:  # one draw of each clustering so far: the clusterings have to serve as draws
        codes, size, df = np.zeros_like(codes), np.array([len(values)]), len(values) - 1
    if df < 1:
        return float("nan"), 0.0
    distance = values - (np.bincount(codes, weights=values) / size)[codes]
    return float(np.sum(distance**2) / df / len(values)), float(df)


def error_over_sources(
    terms: Sequence[tuple[float, Measured]], layout: Layout, *, doubled: bool = True, whole_draws: bool = True
) -> Error:
    """Error of a weighted sum of mean accuracies if the sources, and with them the samples, had been others.

    From leaving sources out, where the trials hold that (never less than what is left to the draws), else from the
    influences of test sources, their variance `doubled` (or once, for a contrast of classes in the answers of the same
    models). What is left to the draws adds to it, unless it cancels (without `whole_draws`), and what clusterings
    disagree by beyond that. NaN as long as no stratum has had two of its sources tested.

    This errs on the safe side where clusterings differ much (the first part then holds some of the last). Rubin's
    rule for imputations adds the variance between clusterings 1 + 1/m times instead of 1/m: it asks what one clustering
    drawn at random would give, whereas rho is a mean over clusterings.
    """
    of_draws, left_out = mc_error(terms) if whole_draws else 0.0, _by_leaving_out(terms, layout)
    if not np.isnan(left_out.se):
        return Error(max(left_out.se, of_draws), left_out.df)
    of_sources = _from_influences(terms, layout, doubled)
    between, n_clusterings = _between(terms, layout)
    beyond = max(between / n_clusterings - of_draws**2, 0.0)
    parts = np.array([of_sources.se**2 + of_draws**2, beyond]), np.array([of_sources.df, n_clusterings - 1.0])
    return pooled(*parts) if beyond > 0 else Error(float(np.sqrt(parts[0][0])), of_sources.df)


def _by_leaving_out(terms: Sequence[tuple[float, Measured]], layout: Layout) -> Error:
    """The jackknife over turns: each left its sources out of training and of the same test parts.

    Unknown until every draw of every turn has come to its end, and where a turn leaves nothing to test or to train on.
    """
    shapes = {len(measured.left_out) for _, measured in terms}
    if len(shapes) > 1 or 0 in shapes:
        return UNKNOWN_ERROR
    values = np.sum([weight * measured.left_out for weight, measured in terms], axis=0)
    known = values[~np.isnan(values)]
    if len(known) < 2 or len(known) < len(values):
        return UNKNOWN_ERROR
    n_units, n_strata = len(layout.unit_name), layout.n_strata
    # Strata whose units lie in turns of their own are known from these turns alone.
    of_stratum = min(len(values), n_units / n_strata)
    variance = (of_stratum - 1) / of_stratum * np.sum((known - known.mean()) ** 2)
    df = len(known) - (n_strata if len(values) == n_units else 1)
    return Error(float(np.sqrt(variance)), float(df)) if df > 0 else UNKNOWN_ERROR


def _from_influences(terms: Sequence[tuple[float, Measured]], layout: Layout, doubled: bool) -> Error:
    """Twice the variance over the sources of each stratum (mean over clusterings).

    Once for the sources that are tested and once, where it is `doubled`, for the models that they train. Degrees of
    freedom are those of sources: repeats add none.
    """
    influence = sum(weight * measured.influence for weight, measured in terms)
    row = np.searchsorted(layout.clusterings, layout.unit_clustering)
    place = row * layout.n_strata + layout.unit_stratum
    shape = (len(layout.clusterings), layout.n_strata)
    variance = np.bincount(place, weights=influence**2, minlength=shape[0] * shape[1]).reshape(shape)
    seen = np.array([measured.n_seen for _, measured in terms])
    counts_here = (seen > 0).any(axis=0)
    # A difference or ratio of schemes knows a stratum no better than the scheme that saw fewer of its sources.
    n_units = np.where(counts_here, np.where(seen > 0, seen, np.iinfo(np.int64).max).min(axis=0), 0)
    within, df = _within(np.where(n_units > 1, variance, np.nan), n_units)
    return Error(float(np.sqrt(2 * within if doubled else within)), df)


def _within(variance: np.ndarray, n_units: np.ndarray) -> tuple[float, float]:
    """The sum over strata of the mean over clusterings, and Satterthwaite's degrees of freedom of that sum."""
    known = ~np.isnan(variance)
    of_stratum = n_units.any(axis=0)
    usable = known.any(axis=0)
    if not usable.any():
        return float("nan"), 0.0
    n_told = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, variance, 0.0).sum(axis=0) / n_told
    df = np.where(known, n_units - 1, 0).sum(axis=0) / n_told
    # Nobody knows the variance of strata with one source tested: they are taken to vary as the others do on average.
    unseen = int((of_stratum & ~usable).sum())
    error = pooled(mean[usable], df[usable])
    return error.se**2 * (1 + unseen / usable.sum()), error.df


def _between(terms: Sequence[tuple[float, Measured]], layout: Layout) -> tuple[float, int]:
    """The variance of the clusterings' own results, and how many there are."""
    results = np.zeros(len(layout.clusterings))
    for weight, measured in terms:
        results += weight * _mean_by_clustering(measured, layout.clusterings)
    results = results[~np.isnan(results)]
    return (float(np.var(results, ddof=1)) if len(results) > 1 else 0.0), max(len(results), 1)


def _mean_by_clustering(measured: Measured, clusterings: np.ndarray) -> np.ndarray:
    known = ~np.isnan(measured.accuracy)
    row = np.searchsorted(clusterings, measured.clustering[known])
    n_draws = np.bincount(row, minlength=len(clusterings))
    total = np.bincount(row, weights=measured.accuracy[known], minlength=len(clusterings))
    return np.divide(total, n_draws, out=np.full(len(clusterings), np.nan), where=n_draws > 0)


def pooled(variances: np.ndarray, dfs: np.ndarray) -> Error:
    """The error of a sum of independent parts, its degrees of freedom by Satterthwaite."""
    total = variances.sum()
    if np.isnan(total) or (dfs < 1).any():
        return UNKNOWN_ERROR
    if total == 0:
        return Error(0.0, float(dfs.sum()))
    return Error(*sum_of_errors(*zip(np.sqrt(variances), dfs, strict=True)))
