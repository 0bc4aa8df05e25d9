"""What did the last samples bring, what would as many again, and how far apart are seen and held-out sources?

Gains are per doubling of the training set, over the last step that is long enough to tell; the next doubling goes by
all sizes (`next_doubling`). The intervals are over
sources and samples, paired by source, and hold for all that stand side by side at once (Bonferroni): for all classes
of a model, or for all models with all source finders. The errors of classes are moderated by each other, since a class
has few sources.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from touchstone.core.evaluate.data_set_adequacy.next_doubling import (
    EXPONENTS,
    judged,
    misfit,
    reaches_back,
    together,
    weights,
)
from touchstone.core.evaluate.data_set_adequacy.results import Outlook, Told
from touchstone.core.evaluate.intervals import (
    UNKNOWN,
    Interval,
    joined,
    moderated_variances,
    share_difference,
    t_interval,
    t_p_value,
)
from touchstone.core.evaluate.source_robustness.counts import Layout
from touchstone.core.evaluate.source_robustness.estimate import Error, Measured, error_over_draws, error_over_sources
from touchstone.core.evaluate.source_robustness.expected import few_errors
from touchstone.core.trials.plan_sources import KNOWN_SOURCES

if TYPE_CHECKING:
    from touchstone.core.evaluate.data_set_adequacy.adequacy import Sized

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
            ),
            **{name: claimed[name][place] for name in CLAIMS},
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
            upper = error_over_sources(terms, layout, doubled=False, whole_draws=False)
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
    share = (measured.value * measured.n_samples + 1) / (measured.n_samples + 2)
    return share * (1 - share)


def _of_samples(terms: list[tuple[float, Measured]]) -> Interval:
    """Of a difference of two accuracies, as if of different samples: safe, and never certain of what never varied."""
    if len(terms) > 2 or not all(few_errors(measured) for _, measured in terms):
        return UNKNOWN
    (weight, first), (_, second) = terms
    difference = share_difference(
        first.value * first.n_samples, first.n_samples, second.value * second.n_samples, second.n_samples
    )
    return Interval(weight * difference.lower, weight * difference.upper)


def _told(contrasts: Sequence[Contrast], *, moderated: bool, beside: int) -> list[Told]:
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
        claimed.append(Told(contrast.value, interval, over_draws, of_draws, p_value))
    return claimed


def _moderated(errors: Sequence[Error], contrasts: Sequence[Contrast]) -> list[Error]:
    # A weight of nothing, as of what two sizes leave over, has no scale of its own.
    scale = np.array([contrast.scale or 1.0 for contrast in contrasts])
    variances, dfs = moderated_variances(
        np.array([error.se**2 for error in errors]) / scale, np.array([contrast.own_df for contrast in contrasts])
    )
    return [Error(float(np.sqrt(variance)), float(df)) for variance, df in zip(variances * scale, dfs, strict=True)]
