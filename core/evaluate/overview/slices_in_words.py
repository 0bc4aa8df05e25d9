"""What is said of weak groups and classes: a verdict, and their table in numbers and in words."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from touchstone.core.evaluate.intervals import holm
from touchstone.core.evaluate.overview.samples import CORRECT, LEVEL
from touchstone.core.evaluate.overview.slices import Weak
from touchstone.core.evaluate.wording import Verdict, bare, count, listed, p_value, percent, plural, points

BOUNDARY = "Boundary tests"
_COVERED = "Intervals are over {} and trainings; of copies the first is used."
_IN_FEW_FOLDS = "What lies in few folds was tested by few models, and stays undecided."


def slices_verdict(weak: Sequence[Weak]) -> Verdict:
    """Which slices are weak, the weakest first, and what to do next.

    >>> slices_verdict(()).headline
    'No group of samples is below average by every method.'
    """
    if not weak:
        return Verdict("No group of samples is below average by every method.", "", "", ())
    checked = f"{plural(len(weak), 'group')} checked on samples that did not choose {_it(len(weak))} (Holm)."
    used = f"{checked} {_covered(weak)}"
    sure = [each for each in weak if each.is_weak]
    claims = tuple(each.claim for each in [*sure, *(each for each in weak if not each.is_weak)])
    if not sure:
        return Verdict("No group of samples is significantly weaker than the rest.", used, "", (), claims)
    advice = f"Next: look at the samples of {sure[0].name}, and collect more like them."
    return Verdict(
        _loses(sure[0], "the rest"), used, advice, tuple(_loses(each, "the rest") for each in sure[1:]), claims
    )


def classes_verdict(classes: Sequence[Weak]) -> Verdict:
    """Which class to collect for, or that none stands out.

    >>> classes_verdict(()).headline
    'Undecided: no cluster folds have been computed, so nothing is known about held-out samples.'
    """
    claims = tuple(each.claim for each in classes)
    if not classes:
        nothing = "Undecided: no cluster folds have been computed, so nothing is known about held-out samples."
        return Verdict(nothing, "", "", ())
    used = f"{plural(len(classes), 'class', 'classes')}, Holm. {_covered(classes)}"
    first = classes[0]
    if not first.is_weak:
        return Verdict("No class is significantly weaker than the others.", used, "", (), claims)
    p_values = holm([p for *_, p in first.beside])
    lower = [
        _spoken(name)
        for (name, inside, rest, _), p in zip(first.beside, p_values, strict=True)
        if p < LEVEL and inside < rest
    ]
    findings = (f"{_capital(first.name)} is also lower in {listed(lower, most=len(lower))}.",) if lower else ()
    return Verdict(_loses(first, "the others"), used, f"Next: collect samples of {first.name} first.", findings, claims)


def _loses(each: Weak, others: str) -> str:
    return (
        f"{_capital(each.name)} loses {points(each.claim.estimate, each.claim.interval)} against {others}: "
        f"{percent(each.accuracy)} when held out, n = {count(each.n)}{each.design.by}."
    )


def _covered(weak: Sequence[Weak]) -> str:
    covered = _COVERED.format(weak[0].design.others)
    return f"{covered} {_IN_FEW_FOLDS}" if any(each.in_few_folds for each in weak) else covered


def _it(n: int) -> str:
    return "it" if n == 1 else "them"


def weak_table(weak: Sequence[Weak]) -> pd.DataFrame:
    """Tidy rows: name, n, accuracy with lower and upper, rest, loss with lower and upper, p_holm, and every measure.

    Where regions are known also n_at_boundary, of n_test test samples.
    """
    return pd.DataFrame(
        [
            {
                "name": each.name,
                "n": each.n,
                "accuracy": each.accuracy,
                "lower": each.interval.lower,
                "upper": each.interval.upper,
                "rest": each.rest,
                "loss": each.claim.estimate,
                "loss_lower": each.claim.interval.lower,
                "loss_upper": each.claim.interval.upper,
                "p_holm": each.claim.p_value,
                **{name: inside for name, inside, *_ in each.beside},
                **(dict(zip(("n_at_boundary", "n_test"), each.at_boundary, strict=True)) if each.at_boundary else {}),
            }
            for each in weak
        ]
    )


def weak_lines(weak: Sequence[Weak]) -> pd.DataFrame:
    """The same in words, for the screen: a line for each, with every measure beside that of the rest."""
    columns = list(dict.fromkeys(name for each in weak for name, *_ in each.beside))
    lines = []
    for each in weak:
        beside = {name: f"{_measured(name, inside)} ({_measured(name, rest)})" for name, inside, rest, _ in each.beside}
        lines.append(
            {
                "Samples": _capital(each.name),
                "n": count(each.n),
                "Held-out accuracy": percent(each.accuracy, each.interval),
                "Loss (points)": points(each.claim.estimate, each.claim.interval).replace(" points", ""),
                "p (Holm)": ""
                if np.isnan(each.claim.p_value)
                else p_value(each.claim.p_value).removeprefix("p ").removeprefix("= "),
                **{_heading(name): beside.get(name, "") for name in columns},
                **({BOUNDARY: " of ".join(map(count, each.at_boundary))} if each.at_boundary else {}),
            }
        )
    return pd.DataFrame(lines)


def _measured(name: str, value: float) -> str:
    if name.startswith(CORRECT):
        return percent(value)
    return "> range" if np.isinf(value) else bare(value, 3)


def _spoken(name: str) -> str:
    return {"sigma_50": "sigma-50", "p_robust": "p_robust"}.get(name, name.replace("correct on", "accuracy on"))


def _heading(name: str) -> str:
    return "p_robust" if name == "p_robust" else _capital(_spoken(name).removeprefix("accuracy on "))


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]
