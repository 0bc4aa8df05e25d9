"""Which model keeps more of its accuracy on unfamiliar sources, and can the data tell? (section 5.1)"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import ceil, isnan, nan

import numpy as np
import pandas as pd

from touchstone.core.evaluate.claims import Claim, claim, why_undecided
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.source_robustness.counts import Group, corrected_pairs, finished, groups
from touchstone.core.evaluate.source_robustness.estimate import error_over_draws, error_over_sources, measure, rho_terms
from touchstone.core.evaluate.source_robustness.expected import usual_n_train
from touchstone.core.evaluate.source_robustness.hardness import difference
from touchstone.core.evaluate.source_robustness.held_out import held_out
from touchstone.core.evaluate.source_robustness.results import Difference, ExpectedInterval
from touchstone.core.evaluate.wording import count, gap, listed, p_value, plural, ratio
from touchstone.core.trials.run import LEFT_OUT
from touchstone.core.trials.sources_plan import KNOWN_SOURCES
from touchstone.core.trials.trial_plan import EXCLUSIVE, INCLUSIVE

LEVEL = 0.05


@dataclass(frozen=True)
class ModelComparison:
    """Rho of `model` less rho of `other`, on the draws that both finished; corrected over all pairs."""

    source_finder: str
    n_train: int
    model: str
    other: str
    rho: float
    other_rho: float
    difference: Difference
    n_draws: int
    """Exclusive draws that both models finished."""
    n_repeats_needed: int | None
    """Repeats after which the interval over draws would be expected to leave out zero; None for no difference."""
    sources_needed: float
    """How many times as many sources would be expected to make the interval over sources leave out zero."""

    @property
    def claim(self) -> Claim:
        """Does `model` keep more of its accuracy than `other`, whatever the sources?"""
        d = self.difference
        return claim("source_robustness.model_keeps_more", d.value, d.over_sources, d.p_sources_corrected)

    @property
    def told_apart_on_these_data(self) -> bool:
        """Whether other draws from the same data would be expected to rank the two models alike."""
        return self.difference.p_draws_corrected < LEVEL


def compare_models(trials: pd.DataFrame, *, sizes: Sequence[int] = ()) -> tuple[ModelComparison, ...]:
    """Every pair of models, paired over the same draws and the same sources.

    Pairs that have no finished draw of both schemes in common (yet) are left out. `sizes` as in
    `expected_accuracy_intervals`.

    Examples
    --------
    >>> same = {"source_finder": "kmeans", "clustering": 0, "n_train": 80, "n_test": 20, "source": None,
    ...         "n_label": 20, "n_predicted": 20, "status": "ok"}
    >>> right = {"svm": {"source_exclusive": (16, 18, 17), "source_inclusive": (19, 20, 19)},
    ...          "mlp": {"source_exclusive": (13, 15, 15), "source_inclusive": (19, 19, 19)}}
    >>> trials = pd.DataFrame(
    ...     [{**same, "model": model, "scheme": scheme, "repeat": repeat, "label": label, "n_correct": n_correct}
    ...      for model, schemes in right.items() for scheme, counts in schemes.items()
    ...      for repeat, n_correct in enumerate(counts) for label in (None, "only")])
    >>> comparison, = compare_models(trials)
    >>> comparison.model, comparison.other, round(comparison.difference.value, 3)
    ('svm', 'mlp', 0.125)
    """
    pairs = _pairs(finished(trials), sizes)
    comparisons = [comparison for comparison in map(comparison_of, pairs) if comparison is not None]
    names_of = [(c.model, c.other) for c in comparisons]
    p_draws = corrected_pairs(names_of, [c.difference.p_draws for c in comparisons])
    p_sources = corrected_pairs(names_of, [c.difference.p_sources for c in comparisons])
    return tuple(
        replace(c, difference=replace(c.difference, p_draws_corrected=a, p_sources_corrected=b))
        for c, a, b in zip(comparisons, p_draws, p_sources, strict=True)
    )


def _pairs(rows: pd.DataFrame, sizes: Sequence[int]) -> Iterator[Group]:
    """A group for every two models, on the draws that both have finished."""
    names = list(rows["model"].unique())
    if len(names) > 1 and (_n_models(rows) == len(names)).all():  # counted once, as no pair leaves anything out
        every = list(groups(rows, sizes))
        for pair in combinations(names, 2):
            yield from (Group(group.layout, {name: group.models[name] for name in pair}) for group in every)
        return
    for model, other in combinations(names, 2):
        yield from groups(_shared(rows, model, other), sizes)


def _shared(rows: pd.DataFrame, model: str, other: str) -> pd.DataFrame:
    """The rows of two models on the draws that both have finished."""
    pair = rows.loc[rows["model"].isin([model, other]).to_numpy(dtype=bool)]
    n_models = _n_models(pair)
    return pair.loc[pd.MultiIndex.from_frame(pair.loc[:, _DRAW]).isin(n_models.index[n_models.to_numpy() == 2])]


_DRAW = ["source_finder", "scheme", "clustering", "repeat", "n_train", LEFT_OUT]


def _n_models(rows: pd.DataFrame) -> pd.Series:
    """How many models have finished each draw."""
    whole = rows.loc[rows["label"].isna().to_numpy()]
    return whole.groupby(_DRAW, sort=False, dropna=False)["model"].nunique()


def comparison_of(group: Group) -> ModelComparison | None:
    """The comparison of the two models of a group whose draws both have finished; None while a scheme is missing."""
    layout, every = group.layout, np.ones(len(group.layout.labels), dtype=bool)
    if any(scheme not in counts for counts in group.models.values() for scheme in (EXCLUSIVE, INCLUSIVE)):
        return None
    (model, mine), (other, others) = group.models.items()
    x, i = (measure(mine[scheme], layout, scheme, every) for scheme in (EXCLUSIVE, INCLUSIVE))
    other_x, other_i = (measure(others[scheme], layout, scheme, every) for scheme in (EXCLUSIVE, INCLUSIVE))
    if not (i.value > 0 and other_i.value > 0):
        return None
    rho, other_rho = x.value / i.value, other_x.value / other_i.value
    terms = rho_terms(x, i) + rho_terms(other_x, other_i, -1.0)
    rho_difference = difference(rho - other_rho, error_over_draws(terms), error_over_sources(terms, layout))
    n_draws = int(mine[EXCLUSIVE].done.sum())
    factor = _factor(rho_difference.value, rho_difference.over_draws)
    return ModelComparison(
        source_finder=layout.source_finder,
        n_train=usual_n_train(group),
        model=model,
        other=other,
        rho=rho,
        other_rho=other_rho,
        difference=rho_difference,
        n_draws=n_draws,
        n_repeats_needed=None if isnan(factor) else ceil(n_draws * factor),
        sources_needed=_factor(rho_difference.value, rho_difference.over_sources),
    )


def _factor(value: float, interval: Interval) -> float:
    """How many times as many units would shrink the interval until it just leaves out zero."""
    return (interval.width / 2 / value) ** 2 if interval.known and value else nan


# Which of several models keeps most of its accuracy, and is that known? What pairs of models come to, in sentences.


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
    sign = 1.0
    if difference.value < 0:
        more, less, high, low, sign = less, more, low, high, -1.0
    first, second = names.get(more, more), names.get(less, less)
    corrected = f" ({plural(n_pairs, 'pair')}, corrected)" if n_pairs > 1 else ""
    numbers = gap(sign * difference.value, difference.over_sources.scaled(sign))
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
            why = corrected or why_undecided(comparison.claim)
            return f"{undecided}{why}. {_settles(comparison)}".strip()


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
