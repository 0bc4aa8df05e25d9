"""What does a test set cover too much, what too little, and what is to be done now? In words, on the evidence."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from core.evaluate.test_quality.quality import TestQuality
from core.evaluate.test_quality.shares import Dimension, Shares
from core.evaluate.wording import Verdict, count, fixed, gap, listed, percent, plural, points

FAIR = 0.1
"""A class is over- or under-represented where its whole interval lies further than this from the fair share of 1."""
FEWEST_AT_BOUNDARY = 30
"""With fewer samples at its boundary nothing can be said about how a class fares there."""
_EXPECTED = 5.0  # samples that a random split has of a pair before its absence is worth a word


@dataclass(frozen=True)
class Finding:
    """One thing that is covered too much ("over") or too little ("under"): of a class, or of it beside its `rival`."""

    dimension: Dimension | Literal["pairwise boundary conditioning"]
    direction: Literal["over", "under"]
    label: str
    rival: str
    text: str
    advice: str


def findings(quality: TestQuality) -> tuple[Finding, ...]:
    """Everything that the evidence shows about single classes and pairs, the gravest first."""
    all_findings: list[Finding] = []
    for label in range(quality.n_classes):
        all_findings += _of_class(quality, label)
    all_findings += _of_pairs(quality)
    rank = {"equivalence partitioning": 0, "boundary conditioning": 1, "centroid positioning": 2}
    return tuple(
        sorted(all_findings, key=lambda finding: (rank.get(finding.dimension, 3), finding.direction == "over"))
    )


def findings_table(quality: TestQuality) -> pd.DataFrame:
    """Tidy rows, one for each finding: dimension, direction, label, rival, text, advice."""
    columns = ["dimension", "direction", "label", "rival", "text", "advice"]
    return pd.DataFrame([vars(finding) for finding in findings(quality)], columns=columns)


def quality_verdict(quality: TestQuality) -> Verdict:
    """The card of a test set.

    Examples
    --------
    >>> from core.evaluate.test_quality.quality import measure_quality
    >>> from core.models.layers import LayerSamples
    >>> rng = np.random.default_rng(0)
    >>> def made(n):
    ...     y = np.arange(n) % 2
    ...     x = rng.normal(size=(n, 3)) + 2.0 * y[:, None]
    ...     p = 1 / (1 + np.exp(-2 * (x.sum(axis=1) - 3)))
    ...     return LayerSamples(x, y, np.column_stack([1 - p, p]), ("low", "high"))
    >>> print(quality_verdict(measure_quality(made(400), made(100), rng=rng)).headline)
    5.0 % [2.2, 11.2] of the test samples lie at a boundary, 2.5 % of the training samples do.
    """
    n_in, n, share, interval = quality.boundary.overall
    k_train = np.nansum(quality.boundary.train * quality.regions.n_train)
    headline = (
        f"{percent(share, interval)} of the test samples lie at a boundary, "
        f"{percent(float(k_train) / quality.n_train)} of the training samples do."
    )
    k, n_tests, centre, around = quality.centroid.overall
    used = (
        f"{count(n)} test samples, {count(quality.n_train)} training samples, {count(quality.n_classes)} classes; "
        f"{count(n_in)} at a boundary (confidence {quality.regions.theta1:.2g} to {quality.regions.theta2:.2g}), "
        f"{count(k)} of {count(n_tests)} in a centroid region ({percent(centre, around)})."
    )
    all_found = findings(quality)
    return Verdict(headline, used, _advice(quality, all_found), (*_spreads(quality), *_summary(quality, all_found)))


def _of_class(quality: TestQuality, label: int) -> list[Finding]:
    name, class_findings = quality.class_names[label], []
    ep, cp, bc = quality.dimensions
    value, lower, upper = (fixed(values[label], 2) for values in (ep.value, ep.lower, ep.upper))
    if ep.n_in[label] == 0:
        text = f"There is no test sample of {name}: nothing can be said about it."
        return [Finding(ep.dimension, "under", name, "", text, f"Add test samples of {name}, or generate some.")]
    if ep.upper[label] < 1 - FAIR or ep.lower[label] > 1 + FAIR:
        under = bool(ep.upper[label] < 1 - FAIR)
        text = (
            f"{name} has {value} times [{lower}, {upper}] its fair share ({count(int(ep.n_in[label]))} test samples)."
        )
        advice = f"Add test samples of {name}." if under else f"Report accuracy by class: {name} outweighs others."
        class_findings.append(Finding(ep.dimension, "under" if under else "over", name, "", text, advice))
    at = f"{count(int(bc.n_in[label]))} of {count(int(bc.n[label]))} test samples of {name}"
    fewer = bc.p_holm[label] < 0.05 and bc.value[label] < bc.split[label]
    if fewer or bc.n_in[label] < FEWEST_AT_BOUNDARY:
        why = f"; a random split would have {percent(float(bc.split[label]))}" if fewer else ""
        text = f"Only {at} lie at its boundary ({_with_ends(bc, label)}){why}."
        advice = f"Generate tests at the boundary of {name}, or label samples that the model is unsure of."
        class_findings.append(Finding(bc.dimension, "under", name, "", text, advice))
    if cp.p_holm[label] < 0.05 and cp.value[label] > cp.split[label]:
        text = (
            f"{_with_ends(cp, label)} of the test samples of {name} lie near its centroid; a random split would have "
            f"{percent(float(cp.split[label]))}."
        )
        advice = f"Accuracy on {name} is flattered: add samples away from its centroid."
        class_findings.append(Finding(cp.dimension, "over", name, "", text, advice))
    return class_findings


def _of_pairs(quality: TestQuality) -> list[Finding]:
    pairs, pair_findings = quality.pairs, []
    expected = np.nan_to_num(pairs.split) * pairs.n[:, None]
    missing = (pairs.n_in == 0) & (expected >= _EXPECTED)
    differs = np.nan_to_num(pairs.p_holm, nan=1.0) < 0.05
    fewer = (missing | (differs & (pairs.value < pairs.split))) & (pairs.n[:, None] > 0)
    more = differs & (pairs.value > pairs.split)
    for direction, where in (("under", fewer), ("over", more)):
        for i, j in np.argwhere(where):
            name, rival = quality.class_names[i], quality.class_names[j]
            text = (
                f"{count(int(pairs.n_in[i, j]))} test samples of {name} lie at its boundary with {rival}; a random "
                f"split would have {expected[i, j]:.1f}."
            )
            under = direction == "under"
            advice = f"Generate tests of {name} towards {rival}." if under else f"Report {name} against {rival} apart."
            pair_findings.append(
                Finding("pairwise boundary conditioning", "under" if under else "over", name, rival, text, advice)
            )
    return pair_findings


def _summary(quality: TestQuality, all_findings: tuple[Finding, ...]) -> list[str]:
    """The findings in one sentence for each kind, however many classes there are."""
    lines = []

    def named(dimension: str, direction: str) -> list[str]:
        return [
            f"{finding.label} with {finding.rival}" if finding.rival else finding.label
            for finding in all_findings
            if (finding.dimension, finding.direction) == (dimension, direction)
        ]

    if quality.absent:
        lines.append(f"Without a single test sample: {listed(quality.absent)}.")
    short = [name for name in named("equivalence partitioning", "under") if name not in quality.absent]
    for names, what in (
        (short, "Below the fair share"),
        (named("equivalence partitioning", "over"), "Above the fair share"),
        (named("boundary conditioning", "under"), "Too few at the boundary"),
        (named("centroid positioning", "over"), "Crowded around the centroid"),
        (named("pairwise boundary conditioning", "under"), "Boundaries hardly tested"),
        (named("pairwise boundary conditioning", "over"), "Boundaries tested more than by chance"),
    ):
        if names:
            lines.append(f"{what}: {listed(names)}.")
    n_pairs = quality.n_classes * (quality.n_classes - 1)
    lines.append(
        f"{count(quality.pairs.n_met)} of {count(n_pairs)} ordered pairs of classes have a test sample at their "
        f"boundary; with as many there, a random split would have {quality.pairs.split_met:.0f}."
    )
    return lines


def _spreads(quality: TestQuality) -> list[str]:
    lines = []
    for shares in quality.dimensions:
        spread = quality.spreads[shares.dimension]
        if np.isnan(spread.value):
            continue
        deviation, chance = (points(spread.value, spread.interval), points(spread.by_chance))
        if shares.scale != 1:  # a fair share of 1 is no percentage
            deviation, chance = (gap(spread.value, spread.interval), gap(spread.by_chance))
        even = "no more than" if spread.value <= spread.by_chance else "more than"
        lines.append(
            f"Classes differ in {shares.dimension} by {deviation} (standard deviation), {even} by chance ({chance})."
        )
    return lines


def _advice(quality: TestQuality, all_findings: tuple[Finding, ...]) -> str:
    under = [finding for finding in all_findings if finding.direction == "under"]
    boundary = {finding.label for finding in under if finding.dimension == "boundary conditioning"}
    if quality.absent:
        return f"Add test samples of {listed(quality.absent)} before anything else."
    if boundary:
        n = plural(len(boundary), "class", "classes")
        return f"Generate tests at the boundary of {n} ({listed(sorted(boundary))}), or label samples there next."
    if under:
        return under[0].advice
    return "The test set lacks nothing that these dimensions see; tests at the boundary still show where it breaks."


def _with_ends(shares: Shares, label: int) -> str:
    value, lower, upper = (100 * float(values[label]) for values in (shares.value, shares.lower, shares.upper))
    return f"{value:.1f} % [{lower:.1f}, {upper:.1f}]"
