"""What did comparing prediction files come to? Verdicts that this server knows, and what was asked before it began.

A comparison follows from its files and its settings: the workspace remembers these and one sentence, and what they come
to is computed again where somebody looks.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlencode

import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.data.dataset import key
from touchstone.core.evaluate.matched_subsets.plan import TwoSets
from touchstone.core.evaluate.weak_slices import OneFile
from touchstone.core.evaluate.wording import Verdict, plural
from touchstone.core.questions import QUESTIONS
from touchstone.core.report.overview import Answered
from touchstone.core.report.parts import Answer, Quantity
from touchstone.core.workspace import StoredComparison, WorkspaceError
from touchstone.ui import cache, page_file
from touchstone.ui.forms.plan_form import AnyPlan, plan_at, plan_parameters
from touchstone.ui.predictions import choice as prediction_choice
from touchstone.ui.shell import addresses, page, session

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


def keep(kept: dict[str, Compared], stem: str, sets: Sets, plan: Any, answer: Answer) -> None:
    """Remember among those `kept` what files came to, as the newest; and in the workspace that it was asked.

    Where the workspace cannot be written to, the answer is as good.
    """
    assert answer.verdict is not None
    address, when = _address(sets, plan), time.time()
    if address is not None and not session.read_only():
        with suppress(WorkspaceError):
            when = session.workspace().remember_comparison(session.owner(), stem, address, answer.verdict.headline)
    kept.pop(key(sets, plan), None)
    kept[key(sets, plan)] = Compared(sets, plan, answer.verdict, answer.numbers, when)


def _address(sets: Sets, plan: Any) -> str | None:
    """The parameters that lead to what was asked; None where no address does."""
    settings = plan_parameters(plan)
    return None if settings is None else urlencode({**sets.parameters, **settings}, doseq=True)


def forget(asked: StoredComparison) -> None:
    """Forget what was asked; the files stay."""
    session.workspace().forget_comparison(session.owner(), asked.question, asked.address)
    kept = known(asked.question)
    for name in [name for name, each in kept.items() if _address(each.sets, each.plan) == asked.address]:
        del kept[name]


def remembered(stem: str = "") -> list[StoredComparison]:
    """All that was ever asked of files that are still here (to answer one question), the newest first."""
    if session.read_only():
        return []
    known_here = session.workspace().comparisons(session.owner())
    return [each for each in known_here if each.question == (stem or each.question)]


def words_of(comparison: StoredComparison, titles: Mapping[str, str] | None = None) -> str:
    """Which files it is of."""
    return prediction_choice.names({name: values[0] for name, values in parse_qs(comparison.address).items()}, titles)


def listed(per_page: int, *, expanded: bool) -> bool:
    """All that was asked, folded or `expanded`, each with the way to it and out of the list; says whether any was."""
    asked, titles = [each for each in remembered() if each.question in QUESTIONS], prediction_choice.stored_titles()
    if asked:
        label = f"{plural(len(asked), 'comparison')} of prediction files"
        with st.expander(label, expanded=expanded, icon=":material/compare_arrows:", key="comparisons"):
            for each in asked[page.part_shown(len(asked), per_page, key="comparisons-page")]:
                _line(each, titles)
    return bool(asked)


def _line(asked: StoredComparison, titles: Mapping[str, str]) -> None:
    question = QUESTIONS[asked.question]
    with st.container(horizontal=True, vertical_alignment="center", key=f"comparison-{asked.created}"):
        words = f"**{page.plain(question.title)}** :gray[{page.plain(words_of(asked, titles))}]"
        st.markdown(f"{words}  \n{page.plain(asked.says)} :gray[{page.day(asked.created)}]", width="stretch")
        st.page_link(page_file(question.page), label="Open", help="", query_params=parse_qs(asked.address))
        st.button(
            "Delete",
            key=f"forget-{asked.created}",
            icon=":material/delete:",
            type="tertiary",
            on_click=page.or_toast(forget),
            args=(asked,),
        )


def lead_to_newest(stem: str) -> None:
    """On a page where no files are chosen: the way to what was asked last; nothing where nothing was."""
    for newest in remembered(stem)[:1]:
        # In a tab of its own: the controls of this page hold what somebody has just chosen.
        where = f"{addresses.first_page()}{QUESTIONS[stem].page}?{newest.address}"
        label = f"The newest result: {page.plain(words_of(newest))}"
        st.link_button(label, where, icon=":material/history:", type="tertiary")


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
