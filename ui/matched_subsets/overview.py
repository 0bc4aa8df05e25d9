"""What did comparing prediction files come to? Answers for the sheet of files; nothing is read or computed for it.

Predictions belong to no data set, so these answers have a sheet of their own.
"""

from collections.abc import Mapping
from dataclasses import asdict

import streamlit as st

from touchstone.core.data.dataset import key
from touchstone.core.evaluate.matched_subsets.plan import MatchingPlan, TwoSets
from touchstone.core.evaluate.wording import listed, plural
from touchstone.core.questions import QUESTIONS
from touchstone.core.report.model_pairs import OnTwoSets
from touchstone.core.report.overview import Answered
from touchstone.ui import page_file
from touchstone.ui.matched_subsets import results
from touchstone.ui.matched_subsets.controls import check_of_stored
from touchstone.ui.predictions import choice as prediction_choice
from touchstone.ui.predictions import compared
from touchstone.ui.shell import background, page

QUESTION = QUESTIONS["matched_subsets"]
MOST = 3


def answers() -> list[tuple[Answered, Mapping[str, str | list[str]], str]]:
    """What was compared since the server was started, of files that are still here; each with address and command."""
    return compared.answers(QUESTION.stem, check_of_stored)


def compare_again(parameters: Mapping[str, list[str]]) -> None:
    """Compare what such parameters of an address lead to, unless that is known; returns while it is worked out, too.

    Raises DataError or WorkspaceError for files, parts of them or settings that there are not.
    """
    sets, plan = compared.at(TwoSets, MatchingPlan, parameters)
    background.answer(results.comparisons(sets, plan), "Matching", key=key(sets, plan))


def models() -> list[OnTwoSets]:
    """Every model of what was compared, with its predictions, which are read for it."""
    titles = prediction_choice.stored_titles()
    there = dict.fromkeys(each.sets for each in compared.still_here(QUESTION.stem, titles))
    known = [(sets, results.pairs_of(sets)) for sets in there]
    return [
        OnTwoSets(name, pairs.references[name], pairs.targets[name], _titles(sets, titles))
        for sets, pairs in known
        for name in pairs.models
    ]


def _titles(sets: TwoSets, titles: Mapping[str, str]) -> tuple[str, str]:
    """What the two sets are called, with the part of the file where one was chosen."""
    sides = ((sets.reference, sets.reference_part), (sets.target, sets.target_part))
    first, second = (
        ", ".join([titles[file], *(part for part in asdict(chosen).values() if part is not None)])
        for file, chosen in sides
    )
    return first, second


def begin() -> None:
    """Which files there are, and the way to compare them."""
    titles = list(prediction_choice.stored_titles().values())
    with st.container(border=True, key="card-matched-subsets"):
        st.markdown(f"**{QUESTION.title}**")
        if titles:
            files = page.plain(listed(titles, most=MOST))
            st.markdown(f"{plural(len(titles), 'file')} of predictions: {files}. Compare two of them.")
        else:
            st.markdown("No predictions yet. Upload those of a model on two test sets; no code needed.")
        st.page_link(page_file(QUESTION.page), label="Compare two test sets", icon=":material/arrow_forward:", help="")
