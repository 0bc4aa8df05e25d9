"""When may something be said? One rule for the sentences of every question.

A claim is made only where its interval and its test agree after correction: both come from one distribution, or the
test is an exact one of the counts that the interval is of. The bound that it rests on has to clear its Monte-Carlo
error, and the effect has to be worth a sentence. All else is undecided. How often claims of each kind were wrong in
simulated worlds stands in `claim_error_rates`.

All claims of one verdict are one family: 5 % is the chance that any of them is wrong. Printed intervals are not
widened for it; where an interval alone would make a claim that the family does not, the sentence says so.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any, Literal, TypeVar

import numpy as np
from scipy import special

from touchstone.core.evaluate.claim_kinds import ClaimKind, entry_of
from touchstone.core.evaluate.intervals import Interval, holm, t_interval, t_p_value

Decision = Literal["above", "below", "small", "undecided"]
"""The effect is above 0, below 0, surely smaller than what is worth a sentence, or none of these is known."""

Name = TypeVar("Name", bound=Hashable)
LEVEL = 0.05
CLEARANCE = 2.0
"""By how many of its Monte-Carlo standard errors a bound must clear the value that it is held against."""


@dataclass(frozen=True)
class Claim:
    """What a sentence asserts of one effect, and how sure that is.

    Parameters
    ----------
    kind
        Which sentence it is, as "question.name" ("source_robustness.falls"): a key of `claim_kinds.KINDS`.
    estimate, interval
        The effect and its 95 % interval, in its own unit; positive is what the sentence's "above" says.
    p_value
        Of "the effect is 0", two-sided, from the distribution that gave the interval; corrected in a family of claims.
    smallest
        The smallest effect worth a sentence, in the same unit; 0 where every effect is.
    mc_error
        Standard error that the ends of the interval owe to random draws of the method: another seed moves them by this.
    decision
        See `Decision`.
    """

    kind: str
    estimate: float
    interval: Interval
    p_value: float
    smallest: float
    mc_error: float
    decision: Decision

    def __post_init__(self) -> None:
        entry_of(self.kind)

    @property
    def of_kind(self) -> ClaimKind:
        """What is known of its kind: its code, its title, and what to do."""
        return entry_of(self.kind)

    @property
    def code(self) -> str:
        """The code of its kind.

        >>> claim("matched_subsets.falls", 0.1, Interval(0.05, 0.15), 0.001).code
        'M01'
        """
        return self.of_kind.code

    @property
    def decided(self) -> bool:
        """Whether anything is said at all."""
        return self.decision != "undecided"

    @property
    def stability(self) -> float:
        """Probability that another seed of the same method, on the same data, would not lose this decision.

        1 where nothing was drawn. Of an undecided claim it is the probability that nothing would be said again.
        """
        lower, upper, smallest = self.interval.lower, self.interval.upper, self.smallest
        if self.decision == "above":
            return self._stays(lower)
        if self.decision == "below":
            return self._stays(-upper)
        if self.decision == "small":
            return min(self._stays(smallest - upper), self._stays(smallest + lower))
        return min(self._stays(-lower), self._stays(upper)) if self.interval.known else 1.0

    def _stays(self, distance: float) -> float:
        if self.mc_error == 0:
            return 1.0
        return float(special.ndtr(distance / (np.sqrt(2) * self.mc_error)))


def claim(
    kind: str,
    estimate: float,
    interval: Interval,
    p_value: float,
    *,
    smallest: float | None = None,
    mc_error: float = 0.0,
) -> Claim:
    """Decide by the rule. An unknown interval, p-value or Monte-Carlo error leaves everything undecided.

    `smallest` is the kind's own, unless somebody says else. Raises ValueError for a kind that there is not.

    Examples
    --------
    >>> claim("cluster_folds.harder", 0.04, Interval(0.01, 0.07), 0.008).decision
    'above'
    >>> claim("cluster_folds.harder", 0.04, Interval(0.01, 0.07), 0.008, mc_error=0.01).decision
    'undecided'
    >>> claim("cluster_folds.harder", 0.001, Interval(-0.004, 0.006), 0.7).decision
    'small'
    """
    smallest = entry_of(kind).smallest if smallest is None else smallest
    decision = _decision(estimate, interval, p_value, smallest, mc_error)
    return Claim(kind, estimate, interval, p_value, smallest, mc_error, decision)


def claim_of_t(
    kind: str, estimate: float, se: float, df: float, *, smallest: float | None = None, mc_error: float = 0.0
) -> Claim:
    """A claim whose interval and p-value are Student's t; unknown where `se` is, or where no degree of freedom is left.

    Examples
    --------
    >>> claim_of_t("cluster_folds.harder", 0.04, 0.01, 8.0).decision
    'above'
    """
    interval, p = t_interval(estimate, se, df), t_p_value(estimate, se, df)
    return claim(kind, estimate, interval, p, smallest=smallest, mc_error=mc_error)


def corrected(family: Sequence[Claim]) -> tuple[Claim, ...]:
    """Claims that were looked at together: their p-values by Holm, and decided anew.

    Examples
    --------
    >>> kind = "cluster_folds.goes_with"
    >>> one, two = corrected([claim(kind, 2.0, Interval(0.1, 3.9), 0.04), claim(kind, 1.0, Interval(-1.0, 3.0), 0.3)])
    >>> one.p_value, one.decision
    (0.08, 'undecided')
    """
    return decided_anew(family, holm([member.p_value for member in family]))


def decided_anew(family: Sequence[Claim], p_values: Sequence[float]) -> tuple[Claim, ...]:
    """The same claims with p-values that were corrected."""
    return tuple(
        replace(
            member,
            p_value=p,
            decision=_decision(member.estimate, member.interval, p, member.smallest, member.mc_error),
        )
        for member, p in zip(family, p_values, strict=True)
    )


def withheld(made: Claim) -> bool:
    """Whether the correction alone keeps a claim from being made: its interval would."""
    return (
        made.decision == "undecided"
        and _decision(made.estimate, made.interval, 0.0, made.smallest, made.mc_error) != "undecided"
    )


@dataclass(frozen=True)
class Group:
    """Claims of one kind in a verdict's family, which share what they are given by Holm's rule.

    `share` is what they have of the 5 % at first, `passes` to whom (by name) they pass on which share of what they have
    once all of them are made.
    """

    p_values: tuple[float, ...]
    share: float
    passes: Mapping[Any, float]


def family(groups: Mapping[Name, Group]) -> dict[Name, list[float]]:
    """P-values that may each be read at 5 %, so that any wrong claim of a whole verdict is made in 5 % at most.

    A sequentially rejective graph (Bretz, Maurer, Brannath and Posch 2009, Algorithm 1), in which a group is a node:
    its claims are Holm's among themselves, and what it had passes on when all of them are made. What is printed of
    the effect, its interval, stays one of 95 %.

    Examples
    --------
    >>> graph = {"fall": Group((0.03,), 0.8, {"parts": 1.0}), "parts": Group((0.02, 0.5), 0.2, {"fall": 1.0})}
    >>> {name: [round(p, 4) for p in values] for name, values in family(graph).items()}
    {'fall': [0.0375], 'parts': [0.04, 0.5]}
    """
    names = list(groups)
    share = np.array([groups[name].share for name in names])
    passes = np.array([[groups[name].passes.get(other, 0.0) for other in names] for name in names])
    orders = [
        [i for i in np.argsort(group.p_values, kind="stable") if not isnan(group.p_values[i])]
        for group in groups.values()
    ]
    corrected = {name: [float("nan")] * len(groups[name].p_values) for name in names}
    left, done, so_far = set(range(len(names))), [0] * len(names), 0.0

    def pass_on(node: int) -> None:
        nonlocal share, passes
        left.discard(node)
        given, way = share + share[node] * passes[node], passes.copy()
        for j in left:
            back = 1 - passes[j, node] * passes[node, j]
            for k in left:
                if k != j and back > 0:
                    way[j, k] = (passes[j, k] + passes[j, node] * passes[node, k]) / back
        given[node], share, passes = 0.0, given, way

    for node in range(len(names)):
        if not orders[node]:
            pass_on(node)
    while left:
        wanted = {}
        for node in left:
            order, p = orders[node], groups[names[node]].p_values
            remaining = len(order) - done[node]
            wanted[node] = p[order[done[node]]] * remaining / share[node] if share[node] > 0 else float("inf")
        node = min(wanted, key=lambda each: (wanted[each], each))
        so_far = min(max(so_far, wanted[node]), 1.0)
        corrected[names[node]][orders[node][done[node]]] = float(so_far)
        done[node] += 1
        if done[node] == len(orders[node]):
            pass_on(node)
    return corrected


def _decision(estimate: float, interval: Interval, p_value: float, smallest: float, mc_error: float) -> Decision:
    if not interval.known or isnan(p_value) or isnan(mc_error):
        return "undecided"
    margin = CLEARANCE * mc_error
    if interval.lower - margin > -smallest and interval.upper + margin < smallest:
        return "small"
    if p_value >= LEVEL or abs(estimate) < smallest:
        return "undecided"
    if interval.lower - margin > 0:
        return "above"
    return "below" if interval.upper + margin < 0 else "undecided"
