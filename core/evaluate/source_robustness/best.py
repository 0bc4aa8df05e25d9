"""Which of several models keeps most of its accuracy, and is that known? What pairs of models come to, in sentences."""

from collections.abc import Mapping, Sequence
from math import isnan

from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.source_robustness.compare import ModelComparison
from touchstone.core.evaluate.source_robustness.results import ExpectedInterval
from touchstone.core.evaluate.source_robustness.words import held_out
from touchstone.core.evaluate.wording import count, gap, listed, p_value, plural, ratio
from touchstone.core.trials.plan_sources import KNOWN_SOURCES

MOST_REPEATS = 10_000
MOST_SOURCES = 100


def leading_row(
    rows: Sequence[ExpectedInterval], comparisons: Sequence[ModelComparison] = ()
) -> ExpectedInterval | None:
    """The row to speak of: the first of the models than which no other keeps significantly more of its accuracy.

    The first as planned, not the one with the best result: the best of several is partly luck, and its interval would
    no longer hold 95 %. Known sources go before found ones.
    """
    known = [row for row in rows if row.source_finder == KNOWN_SOURCES] or list(rows)
    measured = [row for row in known if not isnan(row.rho.value)] or known
    leading = [row for row in measured if row.source_finder == measured[0].source_finder and _leads(row, comparisons)]
    return next(iter(leading or measured), None)


def standing(
    row: ExpectedInterval,
    rows: Sequence[ExpectedInterval],
    comparisons: Sequence[ModelComparison],
    names: Mapping[str, str],
) -> str:
    """Which model of the same sources as `row` keeps most, or between how many that is undecided."""
    models = [other for other in rows if (other.source_finder, other.n_train) == (row.source_finder, row.n_train)]
    if len(models) < 2 or not comparisons:
        return ""
    leading = [other for other in models if _leads(other, comparisons)]
    called = [names.get(other.model, other.model) for other in leading]
    if len(leading) == 1:
        return f"{called[0]} keeps the largest share of its accuracy among {count(len(models))} models (corrected)."
    undecided = f"Undecided between {count(len(leading))} models"
    return f"{undecided} which keeps the largest share of its accuracy: {listed(called)}."


def compared(comparison: ModelComparison, n_pairs: int, names: Mapping[str, str]) -> str:
    """What is said of a pair of models: which one keeps more, or what it would take to know."""
    more, less = comparison.model, comparison.other
    high, low, difference = comparison.rho, comparison.other_rho, comparison.difference
    sign = 1
    if difference.value < 0:
        more, less, high, low, sign = less, more, low, high, -1
    first, second = names.get(more, more), names.get(less, less)
    corrected = f" ({plural(n_pairs, 'pair')}, corrected)" if n_pairs > 1 else ""
    numbers = gap(sign * difference.value, _turned(difference.over_sources, sign))
    rhos = f"rho {ratio(high)} against {ratio(low)}"
    match comparison.claim.decision:
        case "above" | "below":
            where = held_out(comparison.source_finder)
            p = p_value(difference.p_sources_corrected)
            return (
                f"{first} keeps more of its accuracy on {where} than {second}: {rhos}. "
                f"The difference is {numbers}, {p}{corrected}."
            )
        case "small":
            same = f"{first} and {second} keep the same share of their accuracy, to within .010"
            return f"{same}: {rhos}, difference {numbers}."
        case _:
            undecided = f"No significant difference in rho between {first} and {second}: {rhos}, difference {numbers}"
            return f"{undecided}{corrected}. {_settles(comparison)}".strip()


def _leads(row: ExpectedInterval, comparisons: Sequence[ModelComparison]) -> bool:
    """Whether no other model keeps significantly more on the same sources."""
    for comparison in comparisons:
        if (comparison.source_finder, comparison.n_train) != (row.source_finder, row.n_train):
            continue
        decision = comparison.claim.decision
        if row.model == (
            comparison.model if decision == "below" else comparison.other if decision == "above" else None
        ):
            return False
    return True


def _settles(comparison: ModelComparison) -> str:
    if not (comparison.difference.over_sources.known and comparison.difference.over_draws.known):
        return ""
    repeats = "" if comparison.told_apart_on_these_data else _repeats_needed(comparison)
    known = comparison.source_finder == KNOWN_SOURCES
    return " ".join(part for part in (repeats, _sources_needed(comparison) if known else "") if part)


def _repeats_needed(comparison: ModelComparison) -> str:
    n = comparison.n_repeats_needed
    if n is None:
        return "More repeats will not settle it for these data."
    needed = (
        f"More than {count(MOST_REPEATS)}" if n > MOST_REPEATS else f"About {count(max(n, comparison.n_draws + 1))}"
    )
    return f"{needed} repeats would settle it for these data (now {count(comparison.n_draws)})."


def _sources_needed(comparison: ModelComparison) -> str:
    times = comparison.sources_needed
    if isnan(times) or times > MOST_SOURCES:
        return f"For new data it would take more than {MOST_SOURCES} times as many sources."
    return f"For new data it would take about {max(times, 1.1):.1f} times as many sources."


def _turned(interval: Interval, sign: int) -> Interval:
    return interval if sign > 0 else Interval(-interval.upper, -interval.lower)
