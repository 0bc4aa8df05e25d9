"""How sure are the numbers of several matchings? Influences of samples, over units, give interval, p-value and df.

How much a sample moves a number follows from how often it was paired: a matched reference by how much more often it was
right than references of its confidence are, a matched target by how much less than these and the gap say, and what
stands for unmatched targets alike. Nothing is resampled. The luck of matching is averaged out; what is left of it is
the Monte-Carlo error.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, nan, sqrt

import numpy as np
from jaxtyping import Float

from touchstone.core.evaluate.calibration import (
    N_BINS,
    Binning,
    Calibration,
    CoveragePoint,
    accuracy_by_coverage,
    calibration,
    density,
    logit_density,
    mostly_sure,
)
from touchstone.core.evaluate.intervals import (
    UNKNOWN,
    growing_interval,
    half_width,
    share_difference,
    share_difference_p,
    share_interval,
    skewed_interval,
    t_p_value,
    wilson,
    within,
)
from touchstone.core.evaluate.matched_subsets.expected import expected_among
from touchstone.core.evaluate.matched_subsets.matching import Candidates, MatchedSubsets, match, totals_near
from touchstone.core.evaluate.matched_subsets.outcomes import Levels, Outcomes
from touchstone.core.evaluate.matched_subsets.results import (
    COUNTED,
    STATISTICS,
    LabelGap,
    SetEstimate,
    Tally,
    by_label,
    statistics,
)
from touchstone.core.evaluate.units import Error, Units, samples_as_units, units_of

# What do several matchings of the same two sets come to, on average?


MOST_PAIRS_KEPT = 4_000_000
"""So many pairs are kept to know by which labels references were paired, where any label may be."""


@dataclass(frozen=True)
class Share:
    """A subset in numbers: samples, right ones (or what all are worth), their total confidence, and, if known, samples
    of each true class."""

    n: float
    n_correct: float
    confidence: float
    truth: Float[np.ndarray, " n_labels"] | None


class Repeats:
    """Matchings are added one by one; the first is kept, of the others nothing but what they count."""

    def __init__(self, pairable: Candidates):
        self.pairable, self.tally = pairable, Tally(pairable)
        self._counts: list[np.ndarray] = []
        self._pairs: list[np.ndarray] = []
        self.first: MatchedSubsets | None = None

    def add(self, matched: MatchedSubsets) -> None:
        """Count one more matching."""
        self.first = self.first or matched
        partner = np.full(len(matched.target), -1)
        partner[matched.target_index] = matched.reference_index
        self._counts.append(self.tally.count(partner))
        if self.pairable.by == "probability" and (len(self._pairs) + 1) * matched.n_pairs <= MOST_PAIRS_KEPT:
            n_labels = len(matched.reference.class_names)
            self._pairs.append(matched.reference_index * n_labels + matched.target.label[matched.target_index])

    def __len__(self) -> int:
        return len(self._counts)

    @property
    def counts(self) -> Float[np.ndarray, " width"]:
        """The mean counts, as in `tally`."""
        return np.mean(self._counts, axis=0)

    @property
    def n_pairs(self) -> float:
        """The mean number of pairs."""
        return float(self.counts[COUNTED.index("n_pairs")])

    @property
    def values(self) -> Float[np.ndarray, " n_statistics"]:
        """The `statistics` of the mean counts."""
        return statistics(self.counts, self.tally.whole)

    @property
    def luck(self) -> Float[np.ndarray, " n_statistics"]:
        """Variance of each of `statistics` over the matchings: what the luck of one of them comes to."""
        values = statistics(np.stack(self._counts), self.tally.whole)
        return values.var(axis=0, ddof=1) if len(values) > 1 else np.full(values.shape[1], np.nan)

    @property
    def by_label(self) -> Float[np.ndarray, "3 n_labels"]:
        """Of each predicted label the pairs, and how many references and how many targets of these were right."""
        return np.stack(by_label(self.counts)[:3])

    @property
    def discordant(self) -> Float[np.ndarray, " n_labels"]:
        """Of each predicted label the pairs of which just one was right."""
        return by_label(self.counts)[3]

    def references_of(self, label: int) -> tuple[np.ndarray, np.ndarray]:
        """Which references were paired with targets of a predicted label, and in which share of the matchings."""
        times, _ = self.tally.paired
        if self.pairable.by == "label":
            rows = np.flatnonzero((self.pairable.reference.label == label) & (times > 0))
            return rows, times[rows]
        n_labels = len(self.pairable.reference.class_names)
        keys, counts = np.unique(np.concatenate(self._pairs), return_counts=True)
        mine = keys % n_labels == label
        return keys[mine] // n_labels, counts[mine] / len(self._pairs)

    @property
    def shortage(self) -> tuple[Float[np.ndarray, " n_reference"], Float[np.ndarray, " n_target"]]:
        """Of each sample, how likely one more target like it would stay unmatched, and one more reference would help.

        By the targets and the references within epsilon of it that were left, of its label where labels count.
        """
        pairable, levels = self.pairable, self.pairable.levels
        sides = (
            (pairable.reference, levels.reference, levels.rounded),
            (pairable.target, levels.target, levels.target_rounded),
        )
        left = [1 - paired for paired in self.tally.paired]
        shares = []
        for at in sides:
            free, without = (
                totals_near(side, at, values, epsilon=pairable.epsilon, by=pairable.by)
                for side, values in zip(sides, left, strict=True)
            )
            shares.append(np.where(free + without > 0, without / np.maximum(free + without, 1e-12), 0.5))
        return shares[0], shares[1]

    @property
    def confidence_difference(self) -> float:
        """Mean level of matched references less that of matched targets; NaN without a pair."""
        levels, n = self.pairable.levels, self.n_pairs
        own, other = self.tally.paired
        return float((own @ levels.reference - other @ levels.target) / n) if n else float("nan")

    @property
    def shares(self) -> dict[str, Share]:
        """The paper's five subsets, the references that were left and, where there are, targets rounded to 1."""
        reference, target = (whole(side) for side in (self.pairable.reference, self.pairable.target))
        paired, target_paired = self.tally.paired
        apart = self.pairable.levels.target_rounded
        matched, matched_target = _part(self.pairable.reference, paired), _part(self.pairable.target, target_paired)
        left = _part(self.pairable.target, np.where(apart, 0.0, 1 - target_paired))
        shares = {
            "reference": reference,
            "target": target,
            "matched reference": matched,
            "matched target": matched_target,
            "unmatched target": left,
            "unmatched reference": _part(
                self.pairable.reference, np.where(self.pairable.levels.rounded, 0.0, 1 - paired)
            ),
        }
        return shares | ({"rounded target": _part(self.pairable.target, apart.astype(float))} if apart.any() else {})


def whole(outcomes: Outcomes) -> Share:
    """A set as one share."""
    return _part(outcomes, np.ones(len(outcomes)))


def _part(outcomes: Outcomes, weight: Float[np.ndarray, " n"]) -> Share:
    truth = outcomes.truth
    n_labels = len(outcomes.class_names)
    classes = None if truth is None else np.bincount(truth, weights=weight, minlength=n_labels)
    confidence = float(weight @ outcomes.confidence)
    return Share(float(weight.sum()), float(weight @ outcomes.compared), confidence, classes)


# What is there to say of each subset alone? Its calibration, its confidences, its accuracy by coverage.


SUBSETS = ("reference", "target", "matched reference", "matched target", "unmatched target")
"""The five of figures 5 and 8."""


def calibrations(
    matched: MatchedSubsets, *, binning: Binning = "mass", n_bins: int = N_BINS, rng: np.random.Generator
) -> dict[str, Calibration]:
    """Calibration of each of the five subsets that has a sample; `rng` draws the perfectly calibrated models."""
    subsets = {name: matched.subsets[name] for name in SUBSETS if len(matched.subsets[name])}
    return {
        name: calibration(
            outcomes.confidence, outcomes.correct, binning=binning, n_bins=n_bins, rng=rng, design=outcomes.design
        )
        for name, outcomes in subsets.items()
    }


def densities(matched: MatchedSubsets) -> dict[str, tuple[Float[np.ndarray, " points"], Float[np.ndarray, " points"]]]:
    """Places and densities of the confidences of each of the five subsets that has a sample (figures 5b and 8b)."""
    along = logit_density if on_logit_scale(matched) else density
    return {name: along(matched.subsets[name].confidence) for name in SUBSETS if len(matched.subsets[name])}


def on_logit_scale(matched: MatchedSubsets) -> bool:
    """Whether confidences are shown on a logit scale: so high are most of both sets together."""
    return mostly_sure(np.concatenate([matched.reference.confidence, matched.target.confidence]))


def coverages(matched: MatchedSubsets) -> dict[str, tuple[CoveragePoint, ...]]:
    """Accuracy by coverage of both sets as wholes."""
    wholes = {name: matched.subsets[name] for name in ("reference", "target")}
    return {
        name: accuracy_by_coverage(whole.confidence, whole.correct, design=whole.design)
        for name, whole in wholes.items()
    }


def worked_example() -> MatchedSubsets:
    """Eleven references and seven targets of two labels, for a picture of how matching works (figure 2).

    Examples
    --------
    >>> worked_example().n_pairs
    5
    """
    names = ("cat", "dog")
    reference = Outcomes(
        np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]),
        np.array([0.97, 0.955, 0.93, 0.92, 0.84, 0.71, 0.99, 0.94, 0.93, 0.80, 0.65]),
        np.array([True, True, True, True, False, True, True, True, False, True, False]),
        names,
    )
    target = Outcomes(
        np.array([0, 0, 0, 0, 1, 1, 1]),
        np.array([0.96, 0.925, 0.85, 0.60, 0.935, 0.805, 0.72]),
        np.array([True, False, True, False, True, False, False]),
        names,
    )
    return match(reference, target, epsilon=0.02, order="given", rng=np.random.default_rng(2))


# How sure are the numbers of several matchings? Influences of samples, over units, give interval, p-value and df.


FEWEST_WRONG = 10
"""Fewer wrong samples, or pairs of which just one is right: no variance is taken from so few."""

Rows = np.ndarray | slice
Influence = tuple[Float[np.ndarray, " n_reference"], Float[np.ndarray, " n_target"]]


def units_of_sets(reference: Outcomes, target: Outcomes) -> Units:
    """The units of two sets; of a set without named ones each sample is one."""
    if reference.unit is None and target.unit is None:
        return samples_as_units(len(reference), len(target))
    named = [
        [f"{i} {row}" for row in range(len(side))] if side.unit is None else [f"unit {name}" for name in side.unit]
        for i, side in enumerate((reference, target))
    ]
    return units_of(*named)


def whole_gap(reference: Outcomes, target: Outcomes, units: Units) -> SetEstimate:
    """The gap of whole sets: Newcombe's interval where each sample is a unit, or few are wrong, else Student's."""
    gap = reference.accuracy - target.accuracy
    if not units.enough and not units.by_sample:
        return SetEstimate(gap)
    sides = (reference, target)
    influences = [(side.correct - side.accuracy) / len(side) for side in sides]
    least = min(min(int(side.correct.sum()), int((~side.correct).sum())) for side in sides)
    if units.by_sample or least < FEWEST_WRONG:
        n = [units.effective(i, side.accuracy, influences[i]) for i, side in enumerate(sides)]
        df = inf if units.by_sample else float(min(units.n) - 1)
        counts = [float(x) for side, size in zip(sides, n, strict=True) for x in (side.accuracy * size, size)]
        p = share_difference_p(*counts, df=df)
        return SetEstimate(gap, share_difference(*counts, df=df), "Newcombe", p, 0.0)
    error = units.error(influences[0], -influences[1])
    half = half_width(error.se, error.df)
    interval = within(growing_interval(gap, half, half), -1.0, 1.0)
    return SetEstimate(gap, interval, "jackknife of units", t_p_value(gap, error.se, error.df), 0.0, error.se)


@dataclass(frozen=True, eq=False)
class Influences:
    """By how much each sample moves the numbers of repeated matchings, and how sure these are for it."""

    repeats: Repeats
    units: Units

    @property
    def _pairable(self) -> Candidates:
        return self.repeats.pairable

    @cached_property
    def _correct(self) -> Influence:
        return self._pairable.reference.compared, self._pairable.target.compared

    @cached_property
    def _usual(self) -> Influence:
        """How often the reference is right on samples like each of either set."""
        pairable = self._pairable
        own = expected_among(pairable.reference, pairable.levels, epsilon=pairable.epsilon, by=pairable.by)
        return own, self.repeats.tally.neighbours.expected

    @cached_property
    def _variance(self) -> Influence:
        """How much samples like each, of whichever set, differ in what they are worth."""
        pairable, levels = self._pairable, self._pairable.levels
        reference, target = pairable.reference, pairable.target
        label, confidence, correct, worth = (
            np.concatenate([getattr(side, name) for side in (reference, target)])
            for name in ("label", "confidence", "correct", "compared")
        )
        level = np.concatenate([levels.reference, levels.target])
        rounded = np.concatenate([levels.rounded, levels.target_rounded])
        both = Outcomes(label, confidence, correct, reference.class_names)
        together = Levels(level, level[:0], rounded, rounded[:0])
        near = {"epsilon": pairable.epsilon, "by": pairable.by}
        if reference.worth is None:
            mean = squares = expected_among(both, together, **near)
        else:
            mean, squares = (expected_among(replace(both, worth=each), together, **near) for each in (worth, worth**2))
        own, other = np.split((squares - mean**2).clip(0.0), [len(reference)])
        return own, other

    @cached_property
    def gap(self) -> Influence:
        """Of the gap of whole sets."""
        own, other = (each - each.mean() for each in self._correct)
        return own / len(own), -other / len(other)

    @cached_property
    def matched_gap(self) -> Influence:
        """Of the matched gap."""
        own, other = self.repeats.tally.paired
        return self._of_pairs(own, other)[0]

    @cached_property
    def mix(self) -> Influence:
        """Of the mix: what references are right on, and what they say of targets."""
        (correct, _), (usual, target_usual) = self._correct, self._usual
        own, other = self.repeats.tally.paired
        stands_for = own + self.repeats.tally.neighbours.shares(1 - other)
        n_target = len(target_usual)
        off = correct - usual
        reference = (correct - correct.mean()) / len(correct) - stands_for * (off - _mean(off, stands_for)) / n_target
        reference = reference - self._of_map(1 - other) / n_target
        return reference, -(target_usual - target_usual.mean()) / n_target

    def _of_map(self, of_targets: Float[np.ndarray, " n_target"]) -> Float[np.ndarray, " n_reference"]:
        """By how much each reference moves what is expected of targets, through the map that was fitted to it."""
        levels = self._pairable.levels
        if levels.fit is None or self._pairable.reference.worth is not None:
            return np.zeros(len(levels.reference))
        x, target_x = (
            np.column_stack([each, np.ones(len(each))]) for each in (levels.fit.logit, levels.fit.target_logit)
        )
        steep, target_steep = (level * (1 - level) for level in (levels.reference, levels.target))
        of_targets = np.where(levels.target_rounded, 0.0, of_targets)
        stands_for = self.repeats.tally.neighbours.shares(of_targets)
        moves = (of_targets * target_steep) @ target_x - (stands_for * steep) @ x
        return levels.moved_by(self._correct[0]) @ moves

    @cached_property
    def unmatched(self) -> Influence:
        """Of what unmatched targets lose: what the other parts leave."""
        parts = (self.gap, self.mix, self.matched_gap, self.rounded)
        return tuple(whole - mix - matched - rounded for whole, mix, matched, rounded in zip(*parts, strict=True))

    @cached_property
    def rounded(self) -> Influence:
        """Of what targets lose that cannot be compared."""
        (correct, target_correct), (own, other) = self._correct, self.matched_gap
        apart, neighbours = self._pairable.levels.target_rounded, self.repeats.tally.neighbours
        if not apart.any():
            return np.zeros(len(correct)), np.zeros(len(apart))
        n_target, share = len(apart), float(apart.mean())
        off = correct - float(correct[neighbours.of_rounded].mean())
        lost = np.where(apart, self._usual[1] - target_correct - float(self.repeats.values[1]), 0.0)
        stands_for = neighbours.shares(apart.astype(np.float64))
        return stands_for * off / n_target - share * own, (lost - lost.mean()) / n_target - share * other

    def error(self, name: str) -> tuple[Error, Error]:
        """The error of one of the numbers over units, and that which it would have if there were no gap."""
        error = self.units.error(*getattr(self, name), weights=self._weights(name))
        if name != "matched_gap":
            return error, error
        return error, self._if_none(error, *self._of_pairs(*self.repeats.tally.paired))

    def error_of_label(self, label: int) -> tuple[Error, Error]:
        """The same of the matched gap of one predicted label."""
        target = self._pairable.target
        rows, own = self.repeats.references_of(label)
        target_rows = np.flatnonzero((target.label == label) & (self.repeats.tally.paired[1] > 0))
        other = self.repeats.tally.paired[1][target_rows]
        influence, none = self._of_pairs(own, other, rows, target_rows)
        if self.units.by_sample:
            units = samples_as_units(len(rows), len(target_rows))
        else:
            units = units_of(self.units.codes[0][rows], self.units.codes[1][target_rows])
            if not units.enough:
                return Error(nan, 0.0), Error(nan, 0.0)
        error = units.error(*influence, weights=(own, other))
        return error, self._if_none(error, influence, none)

    def _weights(self, name: str) -> Influence | None:
        return self.repeats.tally.paired if name == "matched_gap" else None

    def _of_pairs(
        self, own: np.ndarray, other: np.ndarray, rows: Rows = slice(None), target_rows: Rows = slice(None)
    ) -> tuple[Influence, Influence]:
        """Influences on a matched gap, and standard deviations that they would have without one."""
        n = max(float(other.sum()), 1e-9)
        off, target_off = (c[r] - u[r] for c, u, r in zip(self._correct, self._usual, (rows, target_rows), strict=True))
        varies, target_varies = (v[r] for v, r in zip(self._variance, (rows, target_rows), strict=True))
        influence = own * (off - _mean(off, own)) / n, -other * (target_off - _mean(target_off, other)) / n
        none = own * np.sqrt(varies) / n, other * np.sqrt(target_varies) / n
        return influence, none

    def _if_none(self, error: Error, influence: Influence, none: Influence) -> Error:
        """The error if both sets were as right as each other: units make of it as much more or less."""
        own, without = (sum(float((part**2).sum()) for part in parts) for parts in (influence, none))
        return Error(error.se * sqrt(without / own), error.df) if own > 0 else error


def estimates(repeats: Repeats, units: Units) -> dict[str, SetEstimate]:
    """Of each of `STATISTICS` but the gap.

    Student's t around the mean of the matchings. Where too few pairs are discordant, the matched gap is judged from
    the pairs, as if matched sets were strangers.
    """
    values, luck = repeats.values, repeats.luck
    if not units.enough and not units.by_sample:
        return {name: SetEstimate(float(value)) for name, value in zip(STATISTICS[1:], values[1:], strict=False)}
    span = repeats.pairable.reference.span
    influences = Influences(repeats, units)
    n, right, other, _ = repeats.counts[: len(COUNTED)].tolist()
    whole = repeats.tally.whole
    wrongs = (whole.n_reference - whole.correct, whole.n_target - whole.target_correct)
    by_right = repeats.pairable.reference.worth is None
    wrongs = wrongs if by_right else (whole.n_reference, whole.n_target)
    row: dict[str, SetEstimate] = {}
    for i, name in enumerate(STATISTICS[1:], start=1):
        value, of_luck = float(values[i]), _known(luck[i]) / len(repeats)
        if name.startswith("unmatched_") or (name == "rounded" and not whole.n_rounded):
            row[name] = SetEstimate(value)
        elif name == "matched_gap":
            error = influences.error(name) if n else (Error(nan, 0.0),) * 2
            if by_right and repeats.discordant.sum() < FEWEST_WRONG:
                row[name] = _of_pairs(value, n, right, other, of_luck, error[0], units)
            else:
                row[name] = _of_units(value, *error, of_luck, span=span)
        elif sum(wrongs) < FEWEST_WRONG or not n:
            row[name] = SetEstimate(value)
        else:
            row[name] = _of_units(value, *influences.error(name), of_luck, n_wrong=float(min(wrongs)), span=span)
    for name, n_of, side in (("unmatched_target", whole.n_target, 1), ("unmatched_reference", whole.n_reference, 0)):
        row[name] = _share(row[name].value, n_of, side, repeats, units)
    return row


def label_gaps(repeats: Repeats, units: Units, *, fewest: int) -> tuple[LabelGap, ...]:
    """By the target's predicted label, of labels that the model predicted at all; not judged yet. None of losses.

    Of labels with fewer pairs than `fewest` no error is worked out.
    """
    reference, target = repeats.pairable.reference, repeats.pairable.target
    if reference.worth is not None:
        return ()
    n_labels = len(reference.class_names)
    n_of = [np.bincount(each.label, minlength=n_labels).tolist() for each in (reference, target)]
    pairs, discordant, luck = repeats.by_label, repeats.discordant, repeats.luck
    enough = units.enough or units.by_sample
    influences = Influences(repeats, units)
    rows = []
    for i, (name, n_reference, n_target) in enumerate(zip(reference.class_names, *n_of, strict=True)):
        if not (n_reference or n_target):
            continue
        n, right, other = pairs[:, i].tolist()
        of_luck = _known(luck[len(STATISTICS) + i]) / len(repeats)
        if not n:
            gap = SetEstimate(nan)
        elif n < fewest or not enough:
            gap = SetEstimate((right - other) / n)
        else:
            errors = influences.error_of_label(i)
            if discordant[i] < FEWEST_WRONG:
                gap = _of_pairs((right - other) / n, n, right, other, of_luck, errors[0], units)
            else:
                gap = _of_units((right - other) / n, *errors, of_luck)
        rows.append(
            LabelGap(
                label=name,
                n_reference=n_reference,
                n_target=n_target,
                n_pairs=n,
                matched_reference_accuracy=right / n if n else nan,
                matched_target_accuracy=other / n if n else nan,
                matched_gap=gap,
            )
        )
    return tuple(rows)


def _of_units(
    value: float, error: Error, error_of_none: Error, luck: float, n_wrong: float = inf, span: float = 1.0
) -> SetEstimate:
    """Student's t. `n_wrong`: how many wrong samples the figure rests on, where that tells.

    A variance from few wrong samples is as small as there happen to be few: four more are counted in, as Agresti and
    Coull (1998) do for shares, and the figure and its error go together (`skewed_interval`).

    A gap is held against none by the variance of none, and the interval grows with the gap.
    """
    if not error.df > 0:
        return SetEstimate(value, UNKNOWN, "jackknife")
    few = 1 + 4 / max(min(n_wrong, error.n_moving), 1.0) if np.isfinite(n_wrong) else 1.0
    data, no_gap = few * error.se**2, few * error_of_none.se**2
    se, se_none = sqrt(data + luck), sqrt(max(no_gap, data / 3) + luck)
    if np.isfinite(n_wrong):
        interval, p = skewed_interval(value, se, error.df, error.skew)
        return SetEstimate(value, within(interval, -span, span), "jackknife", p, sqrt(luck), se)
    half, half_none = half_width(se, error.df), half_width(se_none, error.df)
    p = t_p_value(value, se_none, error.df)
    interval = within(growing_interval(value, half_none, half), -span, span)
    return SetEstimate(value, interval, "jackknife", p, sqrt(luck), se_none)


def _of_pairs(
    value: float, n: float, right: float, other: float, luck: float, error: Error, units: Units
) -> SetEstimate:
    if not n:
        return SetEstimate(nan)
    if not units.by_sample:  # as many pairs as there would be without units that are alike
        independent = (right * (n - right) + other * (n - other)) / n**3
        share = independent / error.se**2 if error.df > 0 and error.se > 0 and independent > 0 else nan
        size = sum(units.n_samples) / sum(units.n)
        share = 1 / size if np.isnan(share) else min(share, 1.0)
        n, right, other = share * n, share * right, share * other
    df = inf if units.by_sample else float(min(units.n) - 1)
    interval, p = share_difference(right, n, other, n, df=df), share_difference_p(right, n, other, n, df=df)
    return SetEstimate(value, interval, "pairs", p, sqrt(luck))


def _share(share: float, n: int, side: int, repeats: Repeats, units: Units) -> SetEstimate:
    """Of the share that found no partner, by Student's t; Wilson's of samples where none or all are unmatched."""
    if min(share, 1 - share) * n < FEWEST_WRONG:
        return SetEstimate(share, wilson(max(share, 0.0) * n, float(n)), "Wilson")
    short, target_short = (each - each.mean() for each in repeats.shortage)
    own = -short / n + _of_map_on_pairs(repeats.pairable) / n
    error = units.error(own, target_short / n)
    return SetEstimate(share, share_interval(share, error.se, error.df), "jackknife")


def _of_map_on_pairs(pairable: Candidates) -> Float[np.ndarray, " n_reference"]:
    """By how many pairs fewer each reference makes there be through the map, which spreads confidences out."""
    levels = pairable.levels
    if levels.fit is None:
        return np.zeros(len(pairable.reference))
    moved = levels.moved_by(pairable.reference.correct.astype(np.float64))
    steps = np.sqrt((moved**2).sum(axis=0))

    def unpaired(slope: float, intercept: float) -> float:
        return float(pairable.at(levels.with_map(slope, intercept)).unmatched.sum())

    around = [
        (unpaired(levels.slope + a, levels.intercept + b) - unpaired(levels.slope - a, levels.intercept - b)) / 2
        for a, b in ((steps[0], 0.0), (0.0, steps[1]))
    ]
    return moved @ np.array([total / step if step > 0 else 0.0 for total, step in zip(around, steps, strict=True)])


def _mean(values: np.ndarray, weight: np.ndarray) -> float:
    total = float(weight.sum())
    return float(weight @ values) / total if total else 0.0


def _known(luck: float) -> float:
    return 0.0 if np.isnan(luck) else float(luck)
