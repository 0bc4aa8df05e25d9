"""What did comparing prediction files come to? Verdicts that this server knows, for the sheet of files."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from touchstone.core.data import DataError
from touchstone.core.data.dataset import key
from touchstone.core.evaluate.matched_subsets.plan import TwoSets
from touchstone.core.evaluate.weak_slices import OneFile
from touchstone.core.evaluate.wording import Verdict
from touchstone.core.questions import QUESTIONS
from touchstone.core.report.overview import Answered
from touchstone.core.report.parts import Answer, Quantity
from touchstone.ui import cache
from touchstone.ui.forms.plan_form import AnyPlan, plan_at, plan_parameters
from touchstone.ui.predictions import choice as prediction_choice

Sets = TwoSets | OneFile
"""What a question of prediction files is asked of."""
AnySets = TypeVar("AnySets", TwoSets, OneFile)


@dataclass(frozen=True)
class Compared:
    """Files that a question was asked of, how, what it came to, its numbers, and when (seconds since 1970)."""

    sets: Any
    plan: Any
    verdict: Verdict
    numbers: tuple[Quantity, ...]
    when: float


@cache.result(max_entries=32)
def known(stem: str) -> dict[str, Compared]:
    """What this server compared for the owner, to answer the question of that stem; `keep` adds to it."""
    return {}


def keep(kept: dict[str, Compared], sets: Sets, plan: Any, answer: Answer) -> None:
    """Remember among those `kept` what files came to, as the newest."""
    assert answer.verdict is not None
    kept.pop(key(sets, plan), None)
    kept[key(sets, plan)] = Compared(sets, plan, answer.verdict, answer.numbers, time.time())


def still_here(stem: str, titles: Mapping[str, str] | None = None) -> list[Compared]:
    """The known comparisons of files that were not deleted since, the newest first."""
    titles = prediction_choice.stored_titles() if titles is None else titles
    return [each for each in reversed(known(stem).values()) if {*each.sets.files} <= titles.keys()]


def answers(stem: str, command: Callable[[Any, Any], str]) -> list[tuple[Answered, Mapping[str, str | list[str]], str]]:
    """These as answers of the sheet, each with the parameters of its address, and the command that gives it again."""
    titles = prediction_choice.stored_titles()
    return [
        (
            Answered(
                QUESTIONS[stem],
                prediction_choice.names(each.sets.parameters, titles),
                each.verdict,
                each.numbers,
                each.when,
            ),
            each.sets.parameters | (plan_parameters(each.plan) or {}),
            command(each.sets, each.plan),
        )
        for each in still_here(stem, titles)
    ]


def at(named: type[AnySets], plan: type[AnyPlan], parameters: Mapping[str, list[str]]) -> tuple[AnySets, AnyPlan]:
    """The files and the settings that parameters of an address lead to.

    Raises DataError for files or settings that are not here.
    """
    first = {name: values[0] for name, values in parameters.items()}
    settled = plan_at(plan, parameters)
    try:
        sets = named.at(first)
    except KeyError:
        sets = None
    if settled is None or sets is None or not {*sets.files} <= prediction_choice.stored_titles().keys():
        raise DataError("This address names files or settings that are not here. Compare the files again.")
    return sets, settled
