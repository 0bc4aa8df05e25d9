"""Between which two accuracies should one expect to end up: on familiar and on unfamiliar sources? (section 4)"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import special

from touchstone.core.evaluate.fits import fits_of, usual_choices
from touchstone.core.evaluate.intervals import (
    UNKNOWN,
    Interval,
    apart,
    fall_interval,
    half_width,
    joined,
    p_of_interval,
    share_interval,
    t_p_value,
    within,
)
from touchstone.core.evaluate.source_robustness.counts import Counts, Group, Layout, Schemes, groups
from touchstone.core.evaluate.source_robustness.estimate import (
    Error,
    Measured,
    error_over_draws,
    error_over_sources,
    few_errors,
    less_by_samples,
    measure,
    of_samples,
    rho_terms,
)
from touchstone.core.evaluate.source_robustness.hardness import accuracy_difference, classes_against_rest
from touchstone.core.evaluate.source_robustness.held_out import held_out_sources
from touchstone.core.evaluate.source_robustness.results import (
    NO_DIFFERENCE,
    AccuracyInterval,
    AccuracyIntervals,
    Baseline,
    Difference,
    ExpectedInterval,
    ExpectedValue,
)
from touchstone.core.trials.trial_plan import EXCLUSIVE, FULL, INCLUSIVE, RANDOM

MODEL = ["model", "source_finder"]

# Is a model any better than always answering the majority class, on the very samples that it was tested on?


def baseline(model: str, n_train: int, layout: Layout, schemes: Schemes) -> Baseline:
    """The majority class of the data in the place of one model: the same draws, the same test parts."""
    majority = int(np.argmax(layout.n_samples))

    def share(scheme: str) -> float:
        return _share(majority, schemes[scheme]) if scheme in schemes else float("nan")

    return Baseline(
        model=model,
        source_finder=layout.source_finder,
        n_train=n_train,
        majority=layout.labels[majority],
        chance=1 / len(layout.labels),
        exclusive=share(EXCLUSIVE),
        inclusive=share(INCLUSIVE),
        random=share(RANDOM),
        above=above_majority(layout, schemes, EXCLUSIVE),
        answers_only=_only_answer(layout, schemes),
    )


def _share(label: int, counts: Counts) -> float:
    """The mean over draws of a class's share of the test part."""
    shares = counts.n[counts.done, label] / counts.n[counts.done].sum(axis=1)
    return float(shares.mean()) if len(shares) else float("nan")


def above_majority(layout: Layout, schemes: Schemes, scheme: str) -> Difference:
    """A model's accuracy less that of the majority class of the data, on the test parts of one scheme.

    Its error is that of the accuracies on the majority class and on all others, for the mix of classes at hand: how
    many samples of a class other sources would bring is no doubt about the model, which is told from a constant
    by what it gets right of both.
    """
    if scheme not in schemes:
        return NO_DIFFERENCE
    counts, majority = schemes[scheme], int(np.argmax(layout.n_samples))
    every = np.ones(len(layout.labels), dtype=bool)
    is_majority = np.arange(len(layout.labels)) == majority
    share = _share(majority, counts)
    value = measure(counts, layout, scheme, every).value - share
    if is_majority.all():
        return Difference(value, UNKNOWN, UNKNOWN, float("nan"), float("nan"))
    own, others = (measure(counts, layout, scheme, mask) for mask in (is_majority, ~is_majority))
    terms = [(share, own), (1 - share, others)]
    above = accuracy_difference(value, error_over_draws(terms), error_over_sources(terms, layout))
    if not (few_errors(own) or few_errors(others)):
        return above
    right, wrong = of_samples(others), of_samples(own)
    won, lost = right.scaled(1 - share), wrong.scaled(-share, share)
    by_samples = apart((1 - share) * others.value, won, share * (1 - own.value), lost)
    over_sources = joined(above.over_sources, by_samples)
    return replace(above, over_sources=over_sources, p_sources=p_of_interval(value, over_sources))


def _only_answer(layout: Layout, schemes: Schemes) -> str | None:
    """The class of every prediction in every draw; None where there are two, or where predictions were not counted."""
    predicted = np.nansum([np.nansum(counts.predicted, axis=0) for counts in schemes.values()], axis=0)
    answers = np.flatnonzero(predicted > 0)
    return layout.labels[answers[0]] if len(answers) == 1 and len(layout.labels) > 1 else None


# Between which two accuracies should one expect to end up: on familiar and on unfamiliar sources? (section 4)


def expected_accuracy_intervals(trials: pd.DataFrame, *, sizes: Sequence[int] = ()) -> AccuracyIntervals:
    """Accuracy intervals and rho for each model, source finder and training-set size, overall, by class and by source.

    `trials` is a trials frame, finished or not: failed trials and schemes that are not there (yet) leave NaN and
    unknown intervals. `sizes` are the training-set sizes that the plan cut trials to; all other trials, whose sizes
    differ from draw to draw, count as one size, and `n_train` is then their mean.

    Values are means over draws, as in the paper. The interval over sources and samples is Wilson's by Student's t (of
    rho: on the probit scale of what is left of AccI), with sources within their class as the unit; see `estimate`.

    Examples
    --------
    >>> same = {"model": "svm", "source_finder": "kmeans", "clustering": 0, "n_train": 80, "n_test": 20,
    ...         "source": None, "n_label": 20, "n_predicted": 20, "status": "ok"}
    >>> trials = pd.DataFrame(
    ...     [{**same, "scheme": scheme, "repeat": repeat, "label": label, "n_correct": n_correct}
    ...      for scheme, right in {"source_exclusive": (16, 18), "source_inclusive": (19, 20)}.items()
    ...      for repeat, n_correct in enumerate(right) for label in (None, "only")])
    >>> intervals = expected_accuracy_intervals(trials)
    >>> interval = intervals.overall[0].interval
    >>> round(interval.exclusive, 3), round(interval.inclusive, 3), round(interval.rho, 3)
    (0.85, 0.975, 0.872)
    """
    rows, sources, accuracies, baselines = [], [], [], []
    for group in groups(trials, sizes):
        n_train = usual_n_train(group)
        for model, schemes in group.models.items():
            rows += _rows(model, n_train, group, schemes)
            sources += held_out_sources(model, n_train, group.layout, schemes)
            baselines.append(baseline(model, n_train, group.layout, schemes))
            accuracies.append(_accuracies(model, n_train, group.layout, schemes))
    whole, ok = trials["label"].isna().to_numpy(), (trials["status"] == "ok").to_numpy(dtype=bool)
    return AccuracyIntervals(
        rows=tuple(rows),
        held_out=tuple(sources),
        accuracies=pd.concat(accuracies, ignore_index=True) if accuracies else _no_accuracies(),
        n_trials=int(whole.sum()),
        n_used=int((whole & ok).sum()),
        baselines=tuple(baselines),
        fits=fits_of(trials.loc[ok], MODEL),
        chosen=usual_choices(trials.loc[ok], MODEL),
    )


def rho_of(exclusive: Measured | None, inclusive: Measured | None, layout: Layout) -> ExpectedValue:
    """Rho with its intervals, which stay between 0 and 1 / AccI; all NaN while either accuracy is missing."""
    if exclusive is None or inclusive is None or not inclusive.value > 0:
        return ExpectedValue(float("nan"))
    terms = rho_terms(exclusive, inclusive)
    draws, sources = error_over_draws(terms), error_over_sources(terms, layout)
    none = error_over_sources(terms, layout, doubled=False)
    rho, most = AccuracyInterval(exclusive.value, inclusive.value).rho, 1 / inclusive.value
    over_sources = _rho_interval(exclusive, inclusive, none, sources)
    if few_errors(exclusive) or few_errors(inclusive):
        x, i = of_samples(exclusive), of_samples(inclusive)
        highest = min(x.upper / i.lower, most) if i.lower > 0 else most
        over_sources = joined(over_sources, Interval(x.lower / i.upper, highest))
    of_draws = share_interval(max(exclusive.value, 0.0), draws.se / most, draws.df)
    return ExpectedValue(
        value=rho,
        over_draws=of_draws.scaled(most),
        over_sources=over_sources,
        n_draws=min(_n_draws(exclusive), _n_draws(inclusive)),
    )


def _rho_interval(exclusive: Measured, inclusive: Measured, none: Error, sources: Error) -> Interval:
    """On the scale where rho is the accuracy that is left of AccI: the probit of rho times AccI, which ends at 1.

    What sources differ by grows with what is lost on them: a few sources lose much. So the variance is that of `none`
    where nothing falls, that of `sources` at the estimate, and beyond it goes on along the line from no fall to there.
    """
    most, n = 1 / inclusive.value, min(exclusive.n_samples, inclusive.n_samples)
    least = 0.5 / (n + 1)  # of accuracies of 0 and 1 half a sample is not known
    left, whole = (float(np.clip(each.value, least, 1 - least)) for each in (exclusive, inclusive))
    place, of_whole = float(special.ndtri(left)), float(special.ndtri(whole))
    kept, scale = place - of_whole, most * float(np.exp(-(place**2) / 2) / np.sqrt(2 * np.pi))
    half_at_none, half = (half_width(error.se / scale, error.df) for error in (none, sources))
    if np.isnan(half_at_none + half):
        return UNKNOWN
    lost = fall_interval(-kept, half_at_none, half)
    ends = special.ndtr(of_whole + np.array([-lost.upper, -lost.lower])) * most
    rho = exclusive.value / inclusive.value
    return Interval(min(float(ends[0]), rho), min(max(float(ends[1]), rho), most))


def expected_value(measured: Measured | None, layout: Layout) -> ExpectedValue:
    """A mean accuracy, or another share, with its intervals over draws and over sources; NaN where it is missing."""
    if measured is None or np.isnan(measured.value):
        return ExpectedValue(float("nan"))
    terms = [(1.0, measured)]
    over_draws, over_sources = map(measured.interval, (error_over_draws(terms), error_over_sources(terms, layout)))
    if few_errors(measured):
        over_sources = joined(over_sources, of_samples(measured))
    return ExpectedValue(measured.value, over_draws, over_sources, measured.sd, _n_draws(measured))


def _n_draws(measured: Measured) -> int:
    return int((~np.isnan(measured.accuracy)).sum())


def _rows(model: str, n_train: int, group: Group, schemes: Schemes) -> list[ExpectedInterval]:
    against_rest = classes_against_rest(group.layout, schemes)
    return [
        expected_interval(model, n_train, group.layout, schemes),
        *(
            expected_interval(model, n_train, group.layout, schemes, code=code, against_rest=contrast)
            for code, contrast in enumerate(against_rest)
        ),
    ]


def expected_interval(
    model: str,
    n_train: int,
    layout: Layout,
    schemes: Schemes,
    *,
    code: int | None = None,
    against_rest: Difference | None = None,
) -> ExpectedInterval:
    """What to expect of one model: on all classes or, with its `code`, on one."""
    label = None if code is None else layout.labels[code]
    mask = np.ones(len(layout.labels), dtype=bool) if code is None else np.arange(len(layout.labels)) == code

    def measured(scheme: str) -> Measured | None:
        expected = measure(schemes[scheme], layout, scheme, mask) if scheme in schemes else None
        return None if expected is None or np.isnan(expected.value) else expected

    exclusive, inclusive, random, full = map(measured, (EXCLUSIVE, INCLUSIVE, RANDOM, FULL))
    units = np.unique(layout.cell_unit[mask[layout.cell_label]])
    clusterings, of_all = layout.unit_clustering[units], schemes if label is None else {}
    n_test = schemes[EXCLUSIVE].n[:, mask].sum(axis=1) if EXCLUSIVE in schemes else np.array([np.nan])
    return ExpectedInterval(
        model=model,
        source_finder=layout.source_finder,
        n_train=n_train,
        label=label,
        exclusive=expected_value(exclusive, layout),
        inclusive=expected_value(inclusive, layout),
        random=expected_value(random, layout),
        full=expected_value(full, layout),
        n_train_full=_rounded_mean(schemes[FULL].n_train) if FULL in schemes else 0,
        rho=rho_of(exclusive, inclusive, layout),
        fall=fall_of(inclusive, exclusive, layout),
        against_rest=against_rest,
        inclusive_less_random=_less(inclusive, random, layout),
        macro_f1={name: _mean_ratio(2 * each.correct, each.n + each.predicted) for name, each in of_all.items()},
        balanced_accuracy={name: _mean_ratio(each.correct, each.n) for name, each in of_all.items()},
        n_test=_rounded_mean(n_test),
        n_samples=round(float(layout.n_samples[mask].sum())),
        n_sources=int(np.bincount(clusterings).max()) if len(units) else 0,
        n_clusterings=len(np.unique(clusterings)),
        n_cells=len(units),
        n_cells_held_out=int(exclusive.n_seen.sum()) if exclusive is not None else 0,
    )


def fall_of(inclusive: Measured | None, exclusive: Measured | None, layout: Layout) -> Difference:
    """A fall is that training on a source helps on it: where nothing falls, sources count as test sources alone.

    Where hardly an error varies over sources, the samples alone still leave both accuracies unsure.
    """
    fall = _less(inclusive, exclusive, layout)
    if inclusive is None or exclusive is None:
        return fall
    terms = [(1.0, inclusive), (-1.0, exclusive)]
    none = error_over_sources(terms, layout, doubled=False)
    grown = fall_interval(fall.value, half_width(none.se, none.df), half_width(fall.se, fall.df))
    p_none = t_p_value(fall.value, none.se, none.df)
    fall = replace(fall, over_sources=within(grown, -inclusive.span, inclusive.span), p_sources=p_none)
    if not (few_errors(inclusive) or few_errors(exclusive)):
        return fall
    newcombe, p = less_by_samples(inclusive, exclusive)
    over_sources = joined(fall.over_sources, newcombe)
    return replace(fall, over_sources=over_sources, p_sources=float(np.maximum(fall.p_sources, p)))


def _less(first: Measured | None, second: Measured | None, layout: Layout) -> Difference:
    if first is None or second is None:
        return NO_DIFFERENCE
    terms = [(1.0, first), (-1.0, second)]
    draws, sources = error_over_draws(terms), error_over_sources(terms, layout)
    return accuracy_difference(first.value - second.value, draws, sources, most=first.span)


def _mean_ratio(part: np.ndarray, whole: np.ndarray) -> float:
    """The mean over draws of the mean ratio over classes; those of which a draw has none do not count in it."""
    known = whole > 0
    drawn = known.any(axis=1)
    ratios = np.divide(part, whole, out=np.zeros(whole.shape), where=known)
    return float((ratios.sum(axis=1)[drawn] / known.sum(axis=1)[drawn]).mean()) if drawn.any() else float("nan")


def usual_n_train(group: Group) -> int:
    """The size of the training part: as planned, or else the mean over all draws but FULL that any model finished."""
    sizes = [counts.n_train for schemes in group.models.values() for name, counts in schemes.items() if name != FULL]
    return group.layout.n_train or _rounded_mean(np.concatenate(sizes))


def _rounded_mean(values: np.ndarray) -> int:
    known = values[~np.isnan(values)]
    return round(float(known.mean())) if len(known) else 0


def _accuracies(model: str, n_train: int, layout: Layout, schemes: Schemes) -> pd.DataFrame:
    parts = []
    for scheme, counts in schemes.items():
        clustering, repeat = layout.draws[scheme][counts.done].T
        correct, n = counts.correct[counts.done].sum(axis=1), counts.n[counts.done].sum(axis=1)
        parts.append(
            pd.DataFrame(
                {
                    "model": model,
                    "source_finder": layout.source_finder,
                    "n_train": n_train,
                    "scheme": scheme,
                    "repeat": repeat,
                    "clustering": clustering,
                    "accuracy": correct / n,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def _no_accuracies() -> pd.DataFrame:
    names = ("model", "source_finder", "n_train", "scheme", "repeat", "clustering", "accuracy")
    return pd.DataFrame({name: [] for name in names})
