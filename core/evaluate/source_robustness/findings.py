"""What else is found of one model: by class, by held-out source, against other clouds and other splits."""

from collections.abc import Sequence
from math import isnan

from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.source_robustness.clouds_plan import cloud_sentence
from touchstone.core.evaluate.source_robustness.hardness import Hardness
from touchstone.core.evaluate.source_robustness.results import Baseline, ExpectedInterval
from touchstone.core.evaluate.source_robustness.words import noun
from touchstone.core.evaluate.wording import count, listed, percent, plural, points, quoted, ratio, rho
from touchstone.core.trials.plan_sources import KNOWN_SOURCES


def beyond_cloud(row: ExpectedInterval, null: Claim | None) -> str:
    """Whether found clusters are harder than those of a cloud without sources; nothing of known sources."""
    if row.source_finder == KNOWN_SOURCES or row.falls.decision != "above":
        return ""
    return cloud_sentence(null)


def falling_further(classes: Sequence[ExpectedInterval]) -> list[ExpectedInterval]:
    """The classes whose accuracy falls further than that of the rest, corrected for their number; worst first."""
    return sorted((row for row in classes if row.falls_further), key=lambda row: row.rho.value)


def by_class(classes: Sequence[ExpectedInterval]) -> str:
    """Which classes drop more than the others."""
    if len(classes) < 2 or not any(row.further is not None for row in classes):
        return ""
    worse, corrected = falling_further(classes), f"{plural(len(classes), 'class', 'classes')}, Holm"
    if not worse:
        return f"No class drops significantly more than the others ({corrected})."
    falls = [f"{quoted(row.label)} ({rho(row.rho.value)})" for row in worse]
    drop = "drops" if len(worse) == 1 else "drop"
    which = "Class" if len(worse) == 1 else "Classes"
    return f"{which} {listed(falls)} {drop} significantly more than the others, {corrected}."


def hardest_source(row: ExpectedInterval, hard: Sequence[Hardness], n_sources: int) -> str:
    """Which held-out source is harder than the others, where that is known."""
    if not hard:
        return ""
    first, kind = hard[0], noun(row.source_finder)
    among = f"{plural(n_sources, kind)}, corrected"
    if first.claim.decision == "above":
        source = first.source
        others = "the others" if source.label is None else "its class's others"
        return (
            f"Held-out {kind} {called(row, first)} is harder than {others}: {percent(first.shrunk, first.interval)} "
            f"against {percent(first.others)} (n = {count(source.n)}, {plural(source.n_repeats, 'repeat')}, {among})."
        )
    if not first.claim.interval.known:
        return f"Undecided which held-out {kind} is hardest: each was held out in 1 repeat."
    return f"No held-out {kind} is significantly harder than the others ({among})."


def called(row: ExpectedInterval, hard: Hardness) -> str:
    """A source by its own name, a cluster by its number and class."""
    source = hard.source
    name = quoted(source.source) if row.source_finder == KNOWN_SOURCES else source.source
    of_class = f" of {quoted(source.label)}" if source.label is not None else ""
    where = f", clustering {source.clustering}" if row.n_clusterings > 1 else ""
    return f"{name}{of_class}{where}"


def unseen(row: ExpectedInterval) -> str:
    """What no number of repeats shows: sources of a kind that is not among those at hand."""
    if row.source_finder != KNOWN_SOURCES:
        return ""
    return f"A source that fails completely would not show if none is among these {count(row.n_sources)}."


def above_one(row: ExpectedInterval) -> str:
    """What it means that held-out sources came out easier."""
    if isnan(row.rho.value) or row.rho.value <= 1:
        return ""
    kind = noun(row.source_finder)
    doubt = "" if row.rho.over_sources.lower > 1 else ", not significantly"
    return (
        f"Held-out {kind}s were easier than those seen in training (rho {ratio(row.rho.value)}){doubt}. "
        f"The paper expects the opposite: that training on a {kind} helps on it."
    )


def other_mix(baseline: Baseline | None) -> str:
    """That the test parts differ in their share of the majority class, which alone moves accuracy."""
    if baseline is None or not abs(baseline.inclusive - baseline.exclusive) >= baseline.claim.smallest:
        return ""
    return (
        f"Test parts differ in their mix of classes: the majority class is {percent(baseline.inclusive)} of those seen "
        f"in training, {percent(baseline.exclusive)} of those held out."
    )


def at_full_size(row: ExpectedInterval) -> str:
    """What a random split reaches where nothing is cut from it, if held-out sources leave less than it has."""
    if not row.smaller or isnan(row.full.value):
        return ""
    kind, n, full = noun(row.source_finder), count(row.n_train), count(row.n_train_full)
    return (
        f"Held-out {kind}s leave {n} samples to train on, so all splits train on as many. "
        f"At full size ({full}), a random split reaches {percent(row.full.value, row.full.over_sources)}."
    )


def on_random_split(row: ExpectedInterval) -> str:
    """How the accuracy with sources seen in training differs from the one that is usually reported."""
    less, sources = row.inclusive_less_random, f"{noun(row.source_finder)}s seen in training"
    if isnan(less.value):
        return ""
    if not less.over_sources.known or less.over_sources.lower <= 0 <= less.over_sources.upper:
        of_both = f"No significant difference between {sources} and a random split"
        return f"{of_both}: {points(less.value, less.over_sources)}."
    lower, turned = less.value < 0, Interval(-less.over_sources.upper, -less.over_sources.lower)
    by = points(abs(less.value), turned if lower else less.over_sources)
    accuracies = f"{percent(row.inclusive.value)} against {percent(row.random.value)}"
    return f"Accuracy with {sources} is {by} {'lower' if lower else 'higher'} than on a random split: {accuracies}."
