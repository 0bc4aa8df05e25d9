"""What could a test set have missed, what does it cover too much or too little, and what now? In words."""

from dataclasses import dataclass
from math import inf, nan
from typing import Literal

import numpy as np
import pandas as pd
from scipy import special

from touchstone.core.evaluate.claims import Claim, Group, claim, decided_anew, family
from touchstone.core.evaluate.covariate_shift import ClassShift, CovariateShift
from touchstone.core.evaluate.intervals import UNKNOWN, Interval
from touchstone.core.evaluate.test_quality import missed
from touchstone.core.evaluate.test_quality.missed import PairShares
from touchstone.core.evaluate.test_quality.quality import TestQuality
from touchstone.core.evaluate.test_quality.regions import Dimension, Shares, Spread
from touchstone.core.evaluate.two_samples import PartsTold, SeenShift
from touchstone.core.evaluate.wording import (
    Verdict,
    bare,
    count,
    fixed,
    gap,
    listed,
    p_value,
    percent,
    plural,
    points,
    quoted,
    resting,
)

# What may be said of a test set and of its shift? Every sentence rests on one of these (`core.evaluate.claims`).


SHARE_KINDS = {"centroid positioning": "centroid_share", "boundary conditioning": "boundary_share"}


GRAPH: dict[str, tuple[float, dict[str, float]]] = {
    "boundary": (0.35, {"centroid": 0.5, "class_shares": 0.25, "pairs": 0.25}),
    "class_shares": (0.25, {"boundary": 0.5, "pairs": 0.25, "differs": 0.25}),
    "centroid": (0.2, {"boundary": 1.0}),
    "pairs": (0.12, {"boundary": 0.5, "differs": 0.5}),
    "differs": (0.08, {"boundary": 0.5, "class_shares": 0.5}),
}
"""What each kind has of the 5 % at first, most of it the advice's, and to whom it passes on what it needs no more."""


@dataclass(frozen=True, eq=False)
class QualityClaims:
    """All that is claimed of a test set, as one family: by class, by pair of classes, and by dimension."""

    class_shares: tuple[Claim, ...]
    centroid: tuple[Claim, ...]
    boundary: tuple[Claim, ...]
    pairs: dict[tuple[int, int], Claim]
    differs: dict[str, Claim]

    @property
    def listed(self) -> tuple[Claim, ...]:
        """Those of a verdict; of pairs the ones that are made."""
        made = (claim for claim in self.pairs.values() if claim.decided)
        return (*self.boundary, *self.class_shares, *self.centroid, *self.differs.values(), *made)


def claims_of(quality: TestQuality) -> QualityClaims:
    """The claims of every kind; any of them is wrong in 5 % at most where nothing is to be found.

    Each kind has its part of that (`GRAPH`), and Holm's rule within it.
    """
    pairs = quality.pairs
    ever = [(int(i), int(j)) for i, j in np.argwhere(~np.isnan(pairs.p_value))]
    kinds = {
        "class_shares": class_shares(quality.equivalence),
        "centroid": shares_beside(quality.centroid),
        "boundary": shares_beside(quality.boundary),
        "pairs": tuple(pair_share(pairs, *pair) for pair in ever),
        "differs": tuple(map(_spread, quality.spreads.values())),
    }
    p_values = family(
        {name: Group(tuple(each.p_value for each in claims), *GRAPH[name]) for name, claims in kinds.items()}
    )
    made = {name: decided_anew(claims, p_values[name]) for name, claims in kinds.items()}
    return QualityClaims(
        made["class_shares"],
        made["centroid"],
        made["boundary"],
        dict(zip(ever, made["pairs"], strict=True)),
        dict(zip(quality.spreads, made["differs"], strict=True)),
    )


def class_shares(shares: Shares) -> tuple[Claim, ...]:
    """How far each class lies above its fair share of 1, each by itself (exact test of a share).

    The p-value counts the samples of the class among all; the interval is that of the share. Of many classes with a few
    samples each the normal test would find one that has more than its share in a third of test sets.
    """
    from scipy.stats import binom

    fair = 1 / len(shares.class_names)
    p = 2 * np.minimum(binom.cdf(shares.n_in, shares.n, fair), binom.sf(shares.n_in - 1, shares.n, fair))
    if shares.worth is not None:  # the score test of as many samples as tell the same
        z = (shares.n_in / np.maximum(shares.n, 1) - fair) / np.sqrt(fair * (1 - fair) / shares.worth)
        p = 2 * special.ndtr(-np.abs(z))
    return tuple(
        claim(
            "test_quality.class_share", float(value - 1), Interval(float(lower - 1), float(upper - 1)),
            min(float(each), 1.0),
        )
        for value, lower, upper, each in zip(shares.value, shares.lower, shares.upper, p, strict=True)
    )  # fmt: skip


def shares_beside(shares: Shares) -> tuple[Claim, ...]:
    """How far the share of each class lies above that of a random split of training and test samples (exact).

    The interval is what is left once 95 % of random splits have been taken off.
    """
    kind = f"test_quality.{SHARE_KINDS[shares.dimension]}"
    cells = zip(shares.value, shares.split, shares.split_lower, shares.split_upper, shares.p_value, strict=True)
    return tuple(
        claim(kind, float(value - split), Interval(float(value - upper), float(value - lower)), float(p))
        for value, split, lower, upper, p in cells
    )


def pair_share(pairs: PairShares, label: int, rival: int) -> Claim:
    """How far the share of a pair lies above that of a random split; the interval is the one its p-value implies."""
    estimate, p = float(pairs.value[label, rival] - pairs.split[label, rival]), float(pairs.p_value[label, rival])
    return claim("test_quality.pair_share", estimate, _implied(estimate, p), p)


def moved(shift: ClassShift) -> Claim:
    """How far the divergence of a class lies above that of its re-splits, which are the null."""
    excess, null = shift.excess, shift.null
    if np.isnan(excess) or not len(null):
        return claim("test_quality.shift", nan, UNKNOWN, nan)
    beyond, error = _beyond(shift.observed.value, null), shift.observed.error
    return claim("test_quality.shift", excess, beyond, shift.p_corrected, mc_error=error)


@dataclass(frozen=True, eq=False)
class Together:
    """All classes at once: the mean of their divergences, that of their re-splits, and how rare the first is."""

    value: float
    by_chance: float
    p_value: float
    n_classes: int
    null: np.ndarray
    """The mean of each re-split."""

    @property
    def n_resplits(self) -> int:
        """How many re-splits every class has."""
        return len(self.null)


def together(shift: CovariateShift) -> Together:
    """Hold the mean divergence of all classes against that of their re-splits, which are made within classes.

    One more that is looked at beside the classes (`max_t`), so that 99 re-splits are enough however many there are.

    Examples
    --------
    >>> from touchstone.core.evaluate.covariate_shift import Divergence, class_shift, corrected
    >>> pieces = [Divergence(value, 0.01, 2, 1.0, 1, 1) for value in (0.30, 0.10, 0.12, 0.11)]
    >>> together(corrected([class_shift("a", 100, 50, pieces)])).p_value
    0.25
    """
    known = [class_shift for class_shift in shift.classes if not np.isnan(class_shift.observed.value)]
    n = min((len(class_shift.null) for class_shift in known), default=0)
    value = float(np.mean([class_shift.observed.value for class_shift in known])) if known else nan
    if n == 0:
        return Together(value, nan, nan, len(known), np.zeros(0))
    null = np.mean([class_shift.null[:n] for class_shift in known], axis=0)
    return Together(value, float(null.mean()), shift.p_together, len(known), null)


def moved_together(shift: CovariateShift) -> Claim:
    """The same of the mean over all measured classes, looked at beside them: few re-splits are enough."""
    all_of = together(shift)
    if not all_of.n_resplits:
        return claim("test_quality.shift_together", nan, UNKNOWN, nan)
    errors = [of_class.observed.error for of_class in shift.classes if not np.isnan(of_class.observed.value)]
    return claim(
        "test_quality.shift_together",
        all_of.value - all_of.by_chance,
        _beyond(all_of.value, all_of.null),
        all_of.p_value,
        mc_error=float(np.sqrt(np.sum(np.square(errors)))) / len(errors),
    )


def _spread(spread: Spread) -> Claim:
    """By how much classes differ in a dimension, beyond what they would were all alike."""
    return claim("test_quality.differs_between_classes", spread.value, spread.interval, spread.p_value)


def _beyond(value: float, null: np.ndarray) -> Interval:
    low, high = np.quantile(null, [0.025, 0.975])
    return Interval(value - float(high), value - float(low))


def _implied(estimate: float, p: float) -> Interval:
    """The normal interval around an estimate that has this two-sided p-value."""
    if np.isnan(p) or np.isnan(estimate):
        return UNKNOWN
    z = float(special.ndtri(1 - max(p, 1e-15) / 2))
    half = 1.96 * abs(estimate) / z if z > 0 else inf
    return Interval(estimate - half, estimate + half)


# What could a test set have missed, what does it cover too much or too little, and what now? In words.


@dataclass(frozen=True)
class Finding:
    """One thing that is covered too much ("over") or too little ("under"): of a class, or of it beside its `rival`."""

    dimension: Dimension | Literal["pairwise boundary conditioning"]
    direction: Literal["over", "under"]
    label: str
    rival: str
    text: str
    advice: str

    @property
    def kind(self) -> str:
        """The kind of claim that it rests on."""
        others = {"equivalence partitioning": "class_share", "pairwise boundary conditioning": "pair_share"}
        return f"test_quality.{(SHARE_KINDS | others)[self.dimension]}"


def findings(quality: TestQuality, claims: QualityClaims | None = None) -> tuple[Finding, ...]:
    """Everything that the evidence shows about single classes and pairs, the gravest first."""
    all_findings: list[Finding] = []
    claims = claims or claims_of(quality)
    for label, of_class in enumerate(zip(claims.class_shares, claims.centroid, claims.boundary, strict=True)):
        all_findings += _of_class(quality, label, *of_class)
    all_findings += _of_pairs(quality, claims)
    rank = {"equivalence partitioning": 0, "boundary conditioning": 1, "centroid positioning": 2}
    return tuple(
        sorted(all_findings, key=lambda finding: (rank.get(finding.dimension, 3), finding.direction == "over"))
    )


def findings_table(quality: TestQuality) -> pd.DataFrame:
    """Tidy rows, one for each finding: dimension, direction, label, rival, text, advice."""
    columns = ["dimension", "direction", "label", "rival", "text", "advice"]
    return pd.DataFrame([vars(finding) for finding in findings(quality)], columns=columns)


DRAWN_HERE = (
    "This test set was drawn here at random. Error rates, balance and boundary describe data and model, not a test "
    "set that you made."
)
"""What has to be known first where nobody brought a test set of their own."""

_ADVISED = ("test_quality.class_share", "test_quality.boundary_share", "test_quality.pair_share")


def quality_verdict(quality: TestQuality, *, is_drawn: bool = False) -> Verdict:
    """The card of a test set; `is_drawn` says that it was drawn here at random, and is nobody's own.

    Examples
    --------
    >>> from touchstone.core.evaluate.test_quality.quality import measure_quality
    >>> from touchstone.core.models.layers import LayerSamples
    >>> rng = np.random.default_rng(0)
    >>> def made(n):
    ...     y = np.arange(n) % 2
    ...     x = rng.normal(size=(n, 3)) + 2.0 * y[:, None]
    ...     p = 1 / (1 + np.exp(-2 * (x.sum(axis=1) - 3)))
    ...     return LayerSamples(x, y, np.column_stack([1 - p, p]), ("low", "high"))
    >>> print(quality_verdict(measure_quality(made(400), made(100), rng=rng)).headline)
    For “low”, an error rate up to 16.5 % cannot be ruled out: 3 of its 50 test samples are wrong.
    """
    used = (
        f"One-sided 95 %, for all {count(quality.n_classes)} classes at once; "
        f"{quality.design.samples(quality.n_test, 'test sample')}, "
        f"{count(quality.n_train)} training samples."
    )
    if is_drawn:
        used = f"{used} {DRAWN_HERE}"
    claims = claims_of(quality)
    all_found = findings(quality, claims)
    lines = (
        *_summary(quality, all_found),
        missed.at_boundaries(quality.missed),
        *filter(None, [missed.least_known_pair(quality.missed)]),
        *_at_boundary(quality),
        *_spreads(quality, claims),
    )
    advice = resting(_advice(quality, all_found), *_ADVISED)
    return Verdict(missed.headline(quality.missed), used, advice, lines, claims.listed)


def _of_class(quality: TestQuality, label: int, share: Claim, near: Claim, at_edge: Claim) -> list[Finding]:
    plain, class_findings = quality.class_names[label], []
    name = quoted(plain)
    ep, cp, bc = quality.dimensions
    value, lower, upper = (fixed(values[label], 2) for values in (ep.value, ep.lower, ep.upper))
    if ep.n_in[label] == 0:
        text = f"There is no test sample of {name}."
        return [Finding(ep.dimension, "under", plain, "", text, f"Add test samples of {name}, or generate some.")]
    if share.decision in ("above", "below"):
        under = share.decision == "below"
        text = (
            f"{name} has {value} times [{lower}, {upper}] its fair share ({count(int(ep.n_in[label]))} test samples)."
        )
        advice = f"Add test samples of {name}." if under else f"Report accuracy by class; {name} outweighs others."
        class_findings.append(Finding(ep.dimension, "under" if under else "over", plain, "", text, advice))
    at = f"{count(int(bc.n_in[label]))} of {count(int(bc.n[label]))} test samples of {name}"
    if at_edge.decision == "below":
        why = f"a random split would have {percent(float(bc.split[label]))}"
        text = f"Only {at} lie at its boundary ({_with_ends(bc, label)}); {why}."
        advice = f"Generate tests at the boundary of {name}, or label samples of low confidence."
        class_findings.append(Finding(bc.dimension, "under", plain, "", text, advice))
    if near.decision == "above":
        text = (
            f"{_with_ends(cp, label)} of the test samples of {name} lie near its centroid; a random split would have "
            f"{percent(float(cp.split[label]))}."
        )
        advice = f"Add samples of {name} away from its centroid; its accuracy is flattered."
        class_findings.append(Finding(cp.dimension, "over", plain, "", text, advice))
    return class_findings


def _of_pairs(quality: TestQuality, claims: QualityClaims) -> list[Finding]:
    pairs, pair_findings = quality.pairs, []
    expected = np.nan_to_num(pairs.split) * pairs.n[:, None]
    for direction, decision in (("under", "below"), ("over", "above")):
        for i, j in (pair for pair, made in claims.pairs.items() if made.decision == decision):
            own, other = (quality.class_names[label] for label in (i, j))
            name, rival = quoted(own), quoted(other)
            text = (
                f"{count(int(pairs.n_in[i, j]))} test samples of {name} lie at its boundary with {rival}; a random "
                f"split with as many at the boundary would have {expected[i, j]:.1f}."
            )
            advice = f"Report {name} against {rival} separately."
            if direction == "under":
                advice = f"Generate tests of {name} towards {rival}."
            pair_findings.append(Finding("pairwise boundary conditioning", direction, own, other, text, advice))
    return pair_findings


def _summary(quality: TestQuality, all_findings: tuple[Finding, ...]) -> list[str]:
    """The findings in one sentence for each kind, however many classes there are."""
    lines = []

    def named(dimension: str, direction: str) -> list[str]:
        return [
            f"{quoted(finding.label)} with {quoted(finding.rival)}" if finding.rival else quoted(finding.label)
            for finding in all_findings
            if (finding.dimension, finding.direction) == (dimension, direction)
        ]

    absent = list(map(quoted, quality.absent))
    if absent:
        lines.append(f"Without a single test sample: {listed(absent)}.")
    short = [name for name in named("equivalence partitioning", "under") if name not in absent]
    pairs = "pairwise boundary conditioning"
    for names, what, kind in (
        (short, "Below the fair share", "class_share"),
        (named("equivalence partitioning", "over"), "Above the fair share", "class_share"),
        (named("boundary conditioning", "under"), "Too few at the boundary", "boundary_share"),
        (named("centroid positioning", "over"), "Crowded around the centroid", "centroid_share"),
        (named(pairs, "under"), "Boundaries with significantly few tests", "pair_share"),
        (named(pairs, "over"), "Boundaries with significantly many tests", "pair_share"),
    ):
        if names:
            lines.append(resting(f"{what}: {listed(names)}.", f"test_quality.{kind}"))
    return lines


def _at_boundary(quality: TestQuality) -> tuple[str, str]:
    """How much of the test set lies at a boundary, beside the training set, and how many pairs that meets."""
    _, _, share, interval = quality.boundary.overall
    k_train = np.nansum(quality.boundary.train * quality.regions.n_train)
    n_pairs = quality.n_classes * (quality.n_classes - 1)
    return (
        f"{percent(share, interval)} of the test samples lie at a boundary, and "
        f"{percent(float(k_train) / quality.n_train)} of the training samples.",
        f"{count(quality.pairs.n_met)} of {count(n_pairs)} ordered pairs of classes have a test sample at their "
        f"boundary. A random split with as many boundary samples would have {quality.pairs.split_met:.0f}.",
    )


def _spreads(quality: TestQuality, claims: QualityClaims) -> list[str]:
    lines = []
    for shares in quality.dimensions:
        spread, decision = quality.spreads[shares.dimension], claims.differs[shares.dimension].decision
        if np.isnan(spread.value):
            continue
        deviation, chance = (points(spread.value, spread.interval), points(spread.by_chance))
        if shares.scale != 1:  # a fair share of 1 is no percentage
            deviation, chance = (gap(spread.value, spread.interval), gap(spread.by_chance))
        spread_of = f"{shares.dimension}: standard deviation {deviation}; by chance up to {chance}"
        line = f"No significant difference between classes in {spread_of}."
        if decision == "above":
            line = f"Classes differ in {spread_of}."
        lines.append(resting(line, "test_quality.differs_between_classes"))
    return lines


def _advice(quality: TestQuality, all_findings: tuple[Finding, ...]) -> str:
    under = [finding for finding in all_findings if finding.direction == "under"]
    boundary = {finding.label for finding in under if finding.dimension == "boundary conditioning"}
    if quality.absent:
        return f"Next: add test samples of {listed(list(map(quoted, quality.absent)))}."
    if boundary:
        n = plural(len(boundary), "class", "classes")
        named = listed(list(map(quoted, sorted(boundary))))
        return f"Next: generate tests at the boundary of {n} ({named}), or label samples there."
    if under:
        return f"Next: {under[0].advice[0].lower()}{under[0].advice[1:]}"
    return missed.collect(quality.missed)


def _with_ends(shares: Shares, label: int) -> str:
    value, lower, upper = (100 * float(values[label]) for values in (shares.value, shares.lower, shares.upper))
    return f"{value:.1f} % [{lower:.1f}, {upper:.1f}]"


# What does a classifier that tells training from test samples say, and what does it mean? In sentences.


MEMORY = (
    "A network fits its training samples, so their features can differ from those of any test sample, even in a "
    "random split. Such a difference is caused by training, not by the inputs."
)


def separation(parts: PartsTold) -> str:
    """Whether a classifier tells the parts apart, of which classes, and how well.

    Examples
    --------
    >>> import numpy as np
    >>> auc = np.column_stack([[0.5, 0.8], np.random.default_rng(0).uniform(0.4, 0.6, (2, 199))])
    >>> print(separation(PartsTold(("cat", "dog"), auc)))
    A classifier separates training and test samples of “dog” (AUC .80, by chance .50; 1 of 2 classes, p = .010).
    """
    if not len(parts.measured):
        return "No class has enough samples to separate training and test samples with a classifier."
    n, named = plural(len(parts.measured), "class", "classes"), parts.named
    if named:
        code = parts.class_names.index(named[0])
        chance, p = bare(float(parts.auc[code, 1:].mean()), 2), p_value(float(parts.p_value[code]))
        return (
            f"A classifier separates training and test samples of {listed(list(map(quoted, named)))} (AUC "
            f"{bare(float(parts.auc[code, 0]), 2)}, by chance {chance}; {count(len(named))} of {n}, {p})."
        )
    chance = bare(float(parts.auc[parts.measured, 1:].mean()), 2)
    means = f"mean AUC {bare(parts.together, 2)}, by chance {chance}, {p_value(parts.p_together)}"
    if parts.p_together < 0.05:
        return (
            f"A classifier separates training and test samples over all {n} together ({means}), "
            "but not within any single class."
        )
    return f"A classifier finds no significant difference between training and test samples ({means}; {n})."


def seen(shift: SeenShift) -> str:
    """How small a shift would have been seen.

    >>> print(seen(SeenShift("cat", 180, 36, 0.35)))
    A shift of “cat” by 0.35 standard deviations would have been seen in 80 % of cases (180 training, 36 test samples).
    """
    parts = f"{count(shift.n_first)} training, {count(shift.n_second)} test samples"
    if shift.size != shift.size:
        return f"Even a shift of {quoted(shift.label)} by 3.2 standard deviations would have been missed ({parts})."
    return (
        f"A shift of {quoted(shift.label)} by {shift.size:.2g} standard deviations would have been seen in 80 "
        f"% of cases ({parts})."
    )


def disagreement(parts: PartsTold, shift: CovariateShift) -> str:
    """Which classes only one of both tests names; empty where they agree.

    >>> import numpy as np
    >>> from touchstone.core.evaluate.covariate_shift import Divergence, class_shift, corrected
    >>> pieces = [Divergence(value, 0.01, 2, 0.9, 1, 1) for value in (0.30, *[0.1] * 39)]
    >>> nothing = PartsTold(("a",), np.full((1, 40), 0.5))
    >>> print(disagreement(nothing, corrected([class_shift("a", 100, 50, pieces)])))
    The two tests differ. Only the divergence detects “a”: it is sensitive to changes of shape.
    """
    divergence = [shifted.label for shifted in shift.classes if shifted.shifted]
    classifier_only = [quoted(name) for name in parts.named if name not in divergence]
    divergence_only = [quoted(name) for name in divergence if name not in parts.named]
    sentences = []
    if classifier_only:
        sentences.append(
            f"Only the classifier detects {listed(classifier_only)}: it is sensitive to small changes in many "
            f"directions."
        )
    if divergence_only:
        sentences.append(f"Only the divergence detects {listed(divergence_only)}: it is sensitive to changes of shape.")
    return " ".join(["The two tests differ.", *sentences]) if sentences else ""
