"""What could a test set have missed, what does it cover too much or too little, and what now? In words."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.test_quality import missed_words
from touchstone.core.evaluate.test_quality.quality import TestQuality
from touchstone.core.evaluate.test_quality.quality_claims import (
    QualityClaims,
    claims_of,
)
from touchstone.core.evaluate.test_quality.shares import Dimension, Shares
from touchstone.core.evaluate.wording import (
    Verdict,
    count,
    fixed,
    gap,
    listed,
    percent,
    plural,
    points,
    quoted,
    resting,
)


@dataclass(frozen=True)
class Finding:
    """One thing that is covered too much ("over") or too little ("under"): of a class, or of it beside its `rival`."""

    dimension: Dimension | Literal["pairwise boundary conditioning"]
    direction: Literal["over", "under"]
    label: str
    rival: str
    text: str
    advice: str


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
        missed_words.at_boundaries(quality.missed),
        *filter(None, [missed_words.least_known_pair(quality.missed)]),
        *_at_boundary(quality),
        *_spreads(quality, claims),
    )
    advice = resting(_advice(quality, all_found), *_ADVISED)
    return Verdict(missed_words.headline(quality.missed), used, advice, lines, claims.listed)


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
            under = direction == "under"
            apart = f"Report {name} against {rival} separately."
            advice = f"Generate tests of {name} towards {rival}." if under else apart
            pair_findings.append(
                Finding("pairwise boundary conditioning", "under" if under else "over", own, other, text, advice)
            )
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
        line = f"No significant difference between classes in {shares.dimension}: standard deviation {deviation}."
        if decision == "above":
            line = f"Classes differ in {shares.dimension}: standard deviation {deviation}; by chance up to {chance}."
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
    return missed_words.collect(quality.missed)


def _with_ends(shares: Shares, label: int) -> str:
    value, lower, upper = (100 * float(values[label]) for values in (shares.value, shares.lower, shares.upper))
    return f"{value:.1f} % [{lower:.1f}, {upper:.1f}]"
