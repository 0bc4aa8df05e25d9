"""How sure are the numbers of several matchings? One distribution gives interval, p-value and Monte-Carlo error."""

from math import inf, nan, sqrt

import numpy as np

from touchstone.core.evaluate.intervals import (
    UNKNOWN,
    growing_interval,
    half_width,
    logit_interval,
    share_difference,
    share_difference_p,
    t_p_value,
    wilson,
)
from touchstone.core.evaluate.matched_subsets.outcomes import Outcomes
from touchstone.core.evaluate.matched_subsets.repeats import Repeats
from touchstone.core.evaluate.matched_subsets.resample import Spread
from touchstone.core.evaluate.matched_subsets.results import LabelGap, SetEstimate
from touchstone.core.evaluate.matched_subsets.tally import COUNTED, STATISTICS, statistics

FEWEST_DISCORDANT = 10
"""Fewer pairs than so many of which just one is right: a resampling cannot know how many more there might be."""


def whole_gap(reference: Outcomes, target: Outcomes) -> SetEstimate:
    """The gap of whole sets, by Newcombe; nothing about it is drawn."""
    counts = [float(n) for outcomes in (reference, target) for n in (outcomes.correct.sum(), len(outcomes))]
    p = share_difference_p(*counts)
    return SetEstimate(reference.accuracy - target.accuracy, share_difference(*counts), "Newcombe", p, 0.0)


def estimates(repeats: Repeats, spread: Spread | None) -> dict[str, SetEstimate]:
    """Of each of `STATISTICS` but the gap. `spread` is None where nothing was resampled.

    Of the bootstrap all are Student's t around the mean of the matchings, whose variance is that over data and that of
    luck by their number. An end of the interval would lie elsewhere with another seed for two reasons: the mean itself,
    and the standard error, which is known from so many resamples. Where too few pairs are discordant to resample, and
    of a maximum matching, the matched gap is judged from the pairs, as if matched sets were strangers.
    """
    counts, values = repeats.counts, statistics(repeats.counts)
    n_reference, n_target, correct, n, right, other, target_correct, _ = counts[: len(COUNTED)].tolist()
    n_wrong = n_reference + n_target - correct - target_correct
    least_wrong = min(n_reference - correct, n_target - target_correct)
    row: dict[str, SetEstimate] = {}
    for i, name in enumerate(STATISTICS[1:], start=1):
        value = float(values[i])
        if name.startswith("unmatched_"):
            row[name] = _share(value, n_reference if name == "unmatched_reference" else n_target, i, repeats, spread)
        elif name == "matched_gap" and (spread is None or repeats.discordant.sum() < FEWEST_DISCORDANT):
            row[name] = _of_pairs(value, n, right, other, i, repeats, spread)
        elif spread is None or n_wrong < FEWEST_DISCORDANT:
            row[name] = SetEstimate(value)
        elif name == "matched_gap":
            row[name] = _of_bootstrap(value, i, repeats, spread)
        else:
            row[name] = _of_bootstrap(value, i, repeats, spread, n_wrong=least_wrong)
    return row


def label_gaps(reference: Outcomes, target: Outcomes, repeats: Repeats, spread: Spread | None) -> tuple[LabelGap, ...]:
    """By the target's predicted label, of labels that the model predicted at all; not judged yet."""
    n_labels = len(reference.class_names)
    n_of, correct_of = (
        [np.bincount(o.label, weights=weights(o), minlength=n_labels) for o in (reference, target)]
        for weights in (lambda _: None, lambda o: o.correct)
    )
    pairs, discordant = repeats.by_label, repeats.discordant
    rows = []
    for i, name in enumerate(reference.class_names):
        (n_reference, n_target), (right_reference, right_target) = (
            (float(side[i]) for side in sides) for sides in (n_of, correct_of)
        )
        if not (n_reference or n_target):
            continue
        n, right, other = pairs[:, i].tolist()
        at = len(STATISTICS) + i
        if not n:
            gap = SetEstimate(nan)
        elif spread is None or discordant[i] < FEWEST_DISCORDANT:
            gap = _of_pairs((right - other) / n, n, right, other, at, repeats, spread)
        else:
            gap = _of_bootstrap((right - other) / n, at, repeats, spread)
        rows.append(
            LabelGap(
                label=name,
                n_reference=int(n_reference),
                n_target=int(n_target),
                n_pairs=n,
                reference_accuracy=right_reference / n_reference if n_reference else nan,
                target_accuracy=right_target / n_target if n_target else nan,
                matched_reference_accuracy=right / n if n else nan,
                matched_target_accuracy=other / n if n else nan,
                matched_gap=gap,
            )
        )
    return tuple(rows)


def _of_bootstrap(value: float, i: int, repeats: Repeats, spread: Spread, n_wrong: float = inf) -> SetEstimate:
    """Student's t around a mean of matchings. `n_wrong`: how many wrong samples the figure rests on, where that tells.

    A bootstrap of few wrong samples has as small a variance as there happen to be few: four more are counted in, as
    Agresti and Coull (1998) do for shares. Without these 89 % of intervals held the truth where 11 of 500 were wrong.

    A gap is held against none by the variance of none, and the interval grows with the gap.
    """
    df, luck = float(spread.df[i]), float(spread.luck[i]) / len(repeats)
    if not df > 0:
        return SetEstimate(value, UNKNOWN, "bootstrap")
    few = 1 + 4 / max(n_wrong, 1.0)
    data, no_gap = (few * float(part[i]) for part in (spread.data, spread.if_no_gap))
    se, se_none = sqrt(data + luck), sqrt(max(no_gap, data / 3) + luck)
    half, half_none = half_width(se, df), half_width(se_none, df)
    interval, p = growing_interval(value, half_none, half), t_p_value(value, se_none, df)
    return SetEstimate(value, interval, "bootstrap", p, sqrt(luck + max(half, half_none) ** 2 / (2 * df)))


def _of_pairs(
    value: float, n: float, right: float, other: float, i: int, repeats: Repeats, spread: Spread | None
) -> SetEstimate:
    if not n:
        return SetEstimate(nan)
    luck = repeats.luck if spread is None else spread.luck
    interval, p = share_difference(right, n, other, n), share_difference_p(right, n, other, n)
    return SetEstimate(value, interval, "pairs", p, sqrt(luck[i] / len(repeats)))


def _share(share: float, n: float, i: int, repeats: Repeats, spread: Spread | None) -> SetEstimate:
    """Of a share on the logit scale; Wilson's where no resample could tell, because none or all are unmatched."""
    if spread is None or min(share, 1 - share) * n < FEWEST_DISCORDANT or not spread.df[i] > 0:
        return SetEstimate(share, wilson(share * n, n), "Wilson")
    se = sqrt(spread.data[i] + spread.luck[i] / len(repeats))
    return SetEstimate(share, logit_interval(share, se, float(spread.df[i])) if share < 1 else UNKNOWN, "bootstrap")
