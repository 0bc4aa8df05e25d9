"""What did looking for weak slices come to? Answers for the sheet of prediction files."""

from collections.abc import Mapping

import streamlit as st

from touchstone.core.data.dataset import key
from touchstone.core.evaluate.weak_slices import OneFile, SlicePlan
from touchstone.core.questions import QUESTIONS
from touchstone.core.report.model_pairs import OnTwoSets
from touchstone.core.report.overview import Answered
from touchstone.ui import page_file
from touchstone.ui.predictions import choice as prediction_choice
from touchstone.ui.predictions import compared
from touchstone.ui.shell import background
from touchstone.ui.weak_slices import results

QUESTION = QUESTIONS["weak_slices"]


def answers() -> list[tuple[Answered, Mapping[str, str | list[str]], str]]:
    """What was looked for since the server was started, in files that are still here; with address and command."""
    return compared.answers(QUESTION.stem, results.command_of)


def compare_again(parameters: Mapping[str, list[str]]) -> None:
    """Look for what such parameters of an address lead to, unless that is known; returns while it is worked out, too.

    Raises DataError or WorkspaceError for files, parts of them or settings that there are not.
    """
    chosen, plan = compared.at(OneFile, SlicePlan, parameters)
    background.answer(
        results.slices(chosen, results.data_set_of(chosen), plan), "Looking for slices", key=key(chosen, plan)
    )


def models() -> list[OnTwoSets]:
    """None: slices are of one model."""
    return []


def begin() -> None:
    """The way to weak slices, where there are files."""
    if not prediction_choice.stored_titles():
        return
    with st.container(border=True, key="card-weak-slices"):
        st.markdown(f"**{QUESTION.title}**")
        st.markdown("Rules on the columns beside predictions, such as age and site, find where a model is weak.")
        st.page_link(page_file(QUESTION.page), label="Look for weak slices", icon=":material/arrow_forward:", help="")
