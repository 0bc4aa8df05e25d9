"""What did the last samples bring, what would as many again, and how far apart are seen and held-out sources?

Gains are per doubling of the training set, over the last step that is long enough to tell; the next doubling goes by
all sizes. The intervals are over sources and samples, paired by source, and hold for all that stand side by side at
once (Bonferroni): for all classes of a model, or for all models with all source finders. The errors of classes are
moderated by each other, since a class has few sources.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float

from touchstone.core.data.values import Floats
from touchstone.core.evaluate.data_set_adequacy.power_law import PowerLaw, fit_power_law
from touchstone.core.evaluate.data_set_adequacy.results import CurvePoint, Estimate, Learning, Outlook
from touchstone.core.evaluate.intervals import (
    UNKNOWN,
    Interval,
    joined,
    moderated_variances,
    t_interval,
    t_p_value,
    within,
)
from touchstone.core.evaluate.metrics import ACCURACY
from touchstone.core.evaluate.source_robustness.counts import Layout
from touchstone.core.evaluate.source_robustness.estimate import (
    FEW_ERRORS,
    Error,
    Measured,
    error_over_draws,
    error_over_sources,
    few_errors,
    less_by_samples,
)
from touchstone.core.trials.sources_plan import KNOWN_SOURCES

if TYPE_CHECKING:
    from touchstone.core.evaluate.data_set_adequacy.adequacy import Sized


# What would the next doubling of the data bring? The curve through all sizes, continued as learning curves go on.
#
# With its exponent given, accuracy(n) = ceiling - scale * n ** -exponent is a straight line in n ** -exponent, and what
# twice the data would add is a weighted sum of the accuracies measured: its error over sources and samples is known as
# that of any such sum. The exponent is hardly ever known. So the sum is taken at each of EXPONENTS, but for those that
# promise, from the first step, another rise than came. The interval is the shortest that holds the intervals at all
# that are left: the claim holds whichever of them is true.
#
# Known sources are held out, since inputs may come from others. Found clusters stand for nothing that further samples
# would lack, so that the doubling is judged on clusters seen in training.


EXPONENTS = (0.5, 1.0, 2.0)
"""The slow and the fast rate of statistical learning, and a curve that has levelled off already."""
FURTHEST = 8.5
"""Sizes that are smaller than the largest by more than this say little of what comes after it."""


def judged(source_finder: str) -> str:
    """Which end of the accuracy interval the next doubling is judged on.

    >>> judged("known"), judged("kmeans")
    ('exclusive', 'inclusive')
    """
    return "exclusive" if source_finder == KNOWN_SOURCES else "inclusive"


def reaches_back(n: float, largest: float) -> bool:
    """Whether a size is near enough to the largest."""
    return n * FURTHEST >= largest


def weights(n: Float[np.ndarray, " n_sizes"], exponent: float) -> Float[np.ndarray, " n_sizes"]:
    """By what each accuracy counts in the gain of the next doubling, the curve fitted by least squares.

    Examples
    --------
    >>> n = np.array([100.0, 200.0, 400.0])
    >>> float((weights(n, 0.5) @ (0.9 - n**-0.5)).round(4)) == round(400**-0.5 - 800**-0.5, 4)
    True
    """
    x = (n / n[-1]) ** -exponent
    away = x - x.mean()
    return -away / (away @ away) * (1 - 2.0**-exponent)


def misfit(n: Float[np.ndarray, " n_sizes"], exponent: float) -> Float[np.ndarray, " n_sizes"]:
    """By what each accuracy counts in the rise after the first step, less what that step promises at this exponent.

    Examples
    --------
    >>> n = np.array([100.0, 200.0, 400.0])
    >>> bool(np.isclose(misfit(n, 0.5) @ (0.9 - n**-0.5), 0))
    True
    """
    x = (n / n[-1]) ** -exponent
    promised = (x[1] - x[-1]) / (x[0] - x[1])
    counts = np.zeros(len(n))
    counts[-1] += 1
    counts[[0, 1]] += promised, -1 - promised
    return counts


def together(at: Sequence[Estimate], misfits: Sequence[Estimate], n: Floats, accuracy: Floats) -> Estimate:
    """One claim of those at each of EXPONENTS: the value of the best fit, the interval that holds those that fit.

    All are kept where none fits, and where there are two sizes, which any exponent goes through.
    """
    contradicted = [len(n) > 2 and misfit.interval.known and not misfit.interval.holds(0.0) for misfit in misfits]
    kept = [place for place in range(len(at)) if not contradicted[place]] or list(range(len(at)))
    # Two sizes leave nothing over at any exponent but rounding, which must not choose: the middle one is taken.
    best = at[min(kept, key=lambda place: (round(_left_over(n, accuracy, EXPONENTS[place]), 12), abs(place - 1)))]
    interval = best.interval
    for place in kept:
        interval = joined(interval, at[place].interval) if at[place].interval.known else at[place].interval
    return replace(best, interval=interval, p_value=float(np.max([at[place].p_value for place in kept])))


def along(outlook: Outlook, learning: Learning) -> Outlook:
    """The outlook with the next doubling as the fitted curve has it, where there is one: page and figure say the same.

    The interval holds that of the curve, too: where a slower one than EXPONENTS fits, it is among what may be true.
    """
    gain = outlook.next_gain
    if learning.law is None or not gain.interval.known:
        return outlook
    value = learning.next_gain.value
    return replace(
        outlook, next_gain=replace(gain, value=value, interval=joined(gain.interval, Interval(value, value)))
    )


def _left_over(n: np.ndarray, accuracy: np.ndarray, exponent: float) -> float:
    x = (n / n[-1]) ** -exponent
    away, rise = x - x.mean(), accuracy - accuracy.mean()
    slope = (away @ rise) / (away @ away)
    return float(((rise - slope * away) ** 2).sum())


LONG_ENOUGH, SHORTEST = 1.8, 1.25
"""How many times as many samples the end of the last step has as its beginning: the first where there is such a size,
and never less than the second. What is said per doubling is noise where a step is much shorter than one."""
CLAIMS = ("gain", "familiar_gain", "gap", "closing")
_AT = {exponent: f"next at {exponent}" for exponent in EXPONENTS}
_MISFIT = {exponent: f"misfit at {exponent}" for exponent in EXPONENTS}


class Contrast(NamedTuple):
    """A weighted sum of mean accuracies with its errors, before it is known how many others stand beside it."""

    value: float
    draws: Error
    sources: Error
    upper: Error
    """That of the upper end over sources, where it is another one."""
    own_df: float
    """The unit's own sources less one, for moderation: Satterthwaite's degrees of freedom are many just where a
    variance came out small by luck."""
    scale: float
    """What the variance would be in proportion to, were sources alike but for how hard their class is: a share's own
    variance, p (1 - p). On this scale the variances of classes are much more alike."""
    of_samples: Interval
    """Where nearly all samples are right or wrong: what they alone allow."""


class Ends(NamedTuple):
    """Both ends of the last step, measured."""

    before: "Sized"
    after: "Sized"
    doublings: float
    points: "tuple[Sized, ...]"
    """Those that the next doubling goes by."""


def outlooks(
    curves: Sequence[Sequence["Sized"]], layout: Layout, *, moderated: bool, beside: int = 1
) -> list[Outlook | None]:
    """The outlook of each curve of one source finder; None where there is no step (yet).

    As many curves of each of `beside` finders in all stand side by side.
    """
    ends = [last_step(curve) for curve in curves]
    known = [end for end in ends if end is not None]
    claims = [_contrasts(end, layout) for end in known]
    claimed = {
        name: _told([contrasts[name] for contrasts in claims], moderated=moderated and not layout.shared, beside=beside)
        for name in (*CLAIMS, *_AT.values(), *_MISFIT.values())
    }
    outlooks_known = iter(
        Outlook(
            before=end.before.point,
            after=end.after.point,
            n_claims=len(known) * beside,
            next_gain=together(
                *([claimed[name][place] for name in names.values()] for names in (_AT, _MISFIT)),
                *_accuracies(end, layout),
            ).of_gain(end.after.point, judged(layout.source_finder)),
            gain=claimed["gain"][place].of_gain(end.after.point, "exclusive"),
            familiar_gain=claimed["familiar_gain"][place].of_gain(end.after.point, "inclusive"),
            gap=claimed["gap"][place].of_gap(end.after.point),
            closing=claimed["closing"][place],
        )
        for place, end in enumerate(known)
    )
    return [None if end is None else next(outlooks_known) for end in ends]


def last_step(curve: Sequence["Sized"]) -> Ends | None:
    """From the largest size back to the next one that is smaller by enough, else to the smallest; None without one."""
    usable = [point for point in curve if point.exclusive is not None and point.inclusive is not None]
    if not usable:
        return None
    after = usable[-1]
    longer = {point.point.size: after.point.n / point.point.n for point in usable if point.point.n > 0}
    long_enough = [point for point in usable if longer.get(point.point.size, 0) >= LONG_ENOUGH]
    before = long_enough[-1] if long_enough else usable[0]
    if longer.get(before.point.size, 0) < SHORTEST:
        return None
    doublings = float(np.log2(longer[before.point.size]))
    near = [point for point in usable if point is before or reaches_back(point.point.n, after.point.n)]
    return Ends(before, after, doublings, tuple(near))


def _contrasts(ends: Ends, layout: Layout) -> dict[str, Contrast]:
    x0, i0, x, i = ends.before.exclusive, ends.before.inclusive, ends.after.exclusive, ends.after.inclusive
    assert x0 is not None
    assert i0 is not None
    assert x is not None
    assert i is not None
    per = 1 / ends.doublings
    last = {
        "exclusive": _contrast([(per, x), (-per, x0)], layout),
        "inclusive": _contrast([(per, i), (-per, i0)], layout),
    }
    n, measured = _judged(ends, layout)
    ahead = {}
    for exponent, name in _AT.items():
        terms = list(zip(weights(n, exponent).tolist(), measured, strict=True))
        ahead[name] = _contrast(terms, layout)._replace(of_samples=last[judged(layout.source_finder)].of_samples)
        if layout.source_finder == KNOWN_SOURCES:
            # All sizes train on the same sources: that cancels. The lower end allows for curves that bend sooner.
            upper, draws = error_over_sources(terms, layout, doubled=False, whole_draws=False), error_over_draws(terms)
            if draws.se > upper.se:
                upper = Error(draws.se, min(draws.df, upper.df))
            ahead[name] = ahead[name]._replace(upper=upper)
    misfits = {
        name: _contrast(list(zip(misfit(n, exponent).tolist(), measured, strict=True)), layout)
        for exponent, name in _MISFIT.items()
    }
    return (
        ahead
        | misfits
        | {
            "gain": last["exclusive"],
            "familiar_gain": last["inclusive"],
            "gap": _contrast([(1.0, i), (-1.0, x)], layout),
            "closing": _contrast([(per, i0), (-per, x0), (-per, i), (per, x)], layout),
        }
    )


def _judged(ends: Ends, layout: Layout) -> tuple[np.ndarray, list[Measured]]:
    """Numbers of training samples, and the accuracies that the next doubling is judged on."""
    measured = [getattr(point, judged(layout.source_finder)) for point in ends.points]
    return np.array([point.point.n for point in ends.points]), measured


def _accuracies(ends: Ends, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
    n, measured = _judged(ends, layout)
    return n, np.array([measure.value for measure in measured])


def _contrast(terms: list[tuple[float, Measured]], layout: Layout) -> Contrast:
    sources = error_over_sources(terms, layout)
    return Contrast(
        value=float(sum(weight * measured.value for weight, measured in terms)),
        draws=error_over_draws(terms),
        sources=sources,
        upper=sources,
        own_df=float(max(terms[0][1].n_seen.max() - 1, 0)),
        scale=sum(weight**2 * _own_variance(measured) for weight, measured in terms),
        of_samples=_of_samples(terms),
    )


def _own_variance(measured: Measured) -> float:
    """p (1 - p), of a share that is never quite 0 or 1."""
    share = (measured.share * measured.n_samples + 1) / (measured.n_samples + 2)
    return measured.span**2 * share * (1 - share)


def _of_samples(terms: list[tuple[float, Measured]]) -> Interval:
    """Of a difference of two accuracies, as if of different samples: safe, and never certain of what never varied."""
    if len(terms) > 2 or not all(few_errors(measured) for _, measured in terms):
        return UNKNOWN
    (weight, first), (_, second) = terms
    difference, _ = less_by_samples(first, second)
    return difference.scaled(weight)


def _told(contrasts: Sequence[Contrast], *, moderated: bool, beside: int) -> list[Estimate]:
    errors, uppers = ([getattr(contrast, end) for contrast in contrasts] for end in ("sources", "upper"))
    if moderated and errors:
        errors, uppers = _moderated(errors, contrasts), _moderated(uppers, contrasts)
    n_claims = max(len(contrasts) * beside, 1)
    level = 1 - 0.05 / n_claims
    claimed = []
    for contrast, error, upper in zip(contrasts, errors, uppers, strict=True):
        interval = Interval(
            t_interval(contrast.value, error.se, error.df, level=level).lower,
            t_interval(contrast.value, upper.se, upper.df, level=level).upper,
        )
        if contrast.of_samples.known:
            interval = joined(interval, contrast.of_samples)
        over_draws = t_interval(contrast.value, contrast.draws.se, contrast.draws.df)
        of_draws = (contrast.draws.se / error.se) ** 2 if error.se > 0 else float("nan")
        p_value = float(np.minimum(n_claims * t_p_value(contrast.value, error.se, error.df), 1.0))
        claimed.append(Estimate(contrast.value, interval, over_draws, of_draws, p_value))
    return claimed


def _moderated(errors: Sequence[Error], contrasts: Sequence[Contrast]) -> list[Error]:
    # A weight of nothing, as of what two sizes leave over, has no scale of its own.
    scale = np.array([contrast.scale or 1.0 for contrast in contrasts])
    variances, dfs = moderated_variances(
        np.array([error.se**2 for error in errors]) / scale, np.array([contrast.own_df for contrast in contrasts])
    )
    return [Error(float(np.sqrt(variance)), float(df)) for variance, df in zip(variances * scale, dfs, strict=True)]


# Which learning curve goes through the accuracies, how sure is it, and what would twice as many samples add?


N_POINTS = 16
AHEAD = 2.0
"""How far beyond the data the curve is drawn, and asked: twice as many samples."""


def learning_of(
    points: Sequence[tuple[float, Measured | None]], layout: Layout, *, drawn: bool, name: str = ACCURACY
) -> Learning:
    """The curve through one accuracy over the size of the training set, or the reason why there is none.

    `drawn` says whether its own points are wanted, too, for a figure; `name` is what reasons call another metric.

    The curve's own error is by the delta method: to first order it is a weighted sum of the accuracies at all sizes,
    whose errors over sources and samples are known together.
    """
    known = [(n, measured) for n, measured in points if measured is not None and n > 0]
    if len(known) < 2:
        return Learning(None, "there are too few sizes yet")
    n, measured = np.array([n for n, _ in known]), [measure for _, measure in known]
    if not (np.diff(n) > 0).all():
        return Learning(None, "the class has no additional samples at the larger sizes")
    last = measured[-1]
    if (1 - last.share) * last.n_samples < FEW_ERRORS:
        nearly = (
            "nearly every sample is classified correctly"
            if name == ACCURACY
            else f"{name} is nearly as high as it can be"
        )
        return Learning(None, nearly)
    accuracy = np.stack([measure.accuracy for measure in measured], axis=1)
    whole = ~np.isnan(accuracy).any(axis=1)
    law = fit_power_law(n, accuracy[whole], last.clustering[whole], name)
    if isinstance(law, str):
        return Learning(None, law)
    return _known(law, n, measured, layout, n_points=N_POINTS if drawn else 0)


def _known(law: PowerLaw, n: np.ndarray, measured: Sequence[Measured], layout: Layout, *, n_points: int) -> Learning:
    def errors(weights: np.ndarray) -> tuple[Error, Error]:
        terms = [(float(weight), measure) for weight, measure in zip(weights, measured, strict=True)]
        return error_over_sources(terms, layout), error_over_draws(terms)

    def accuracy(value: float, weights: np.ndarray) -> Estimate:
        last = measured[-1]
        possible = replace(last, value=float(np.clip(value, last.lowest, 1.0)))
        return Estimate(value, *map(possible.interval, errors(weights)))

    points = []
    for at in np.geomspace(n[0], AHEAD * n[-1], n_points):
        difference = accuracy(law.at(float(at)), law.weights(float(at)))
        points.append(CurvePoint(float(at), difference.value, difference.interval))
    ahead, here = AHEAD * float(n[-1]), float(n[-1])
    gain = min(law.at(ahead), 1.0) - law.at(here)
    sources, draws = errors(law.weights(ahead) - law.weights(here))
    return Learning(
        law=law,
        reason="",
        points=tuple(points),
        ceiling=accuracy(law.ceiling, law.sensitivity[0]) if law.ceiling < 1 else Estimate(1.0),
        next_gain=Estimate(
            gain, *(within(t_interval(gain, error.se, error.df), -1.0, 1.0) for error in (sources, draws))
        ),
    )
