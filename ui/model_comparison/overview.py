"""What did comparing models on the same samples come to? Answers for the sheet of prediction files."""

from collections.abc import Mapping

import streamlit as st

from touchstone.core.data.dataset import key
from touchstone.core.evaluate.matched_subsets.plan import TwoSets
from touchstone.core.evaluate.model_comparison import ComparisonPlan
from touchstone.core.questions import QUESTIONS
from touchstone.core.report.model_pairs import OnTwoSets
from touchstone.core.report.overview import Answered
from touchstone.ui import page_file
from touchstone.ui.model_comparison import results
from touchstone.ui.predictions import choice as prediction_choice
from touchstone.ui.predictions import compared
from touchstone.ui.shell import background

QUESTION = QUESTIONS["model_comparison"]


def answers() -> list[tuple[Answered, Mapping[str, str | list[str]], str]]:
    """What was compared since the server was started, of files that are still here; each with address and command."""
    return compared.answers(QUESTION.stem, results.command_of)


def compare_again(parameters: Mapping[str, list[str]]) -> None:
    """Compare what such parameters of an address lead to, unless that is known; returns while it is worked out, too.

    Raises DataError or WorkspaceError for files, parts of them or settings that there are not, or for other samples.
    """
    sets, plan = compared.at(TwoSets, ComparisonPlan, parameters)
    titles = prediction_choice.stored_titles()
    called = tuple(titles[file] for file in sets.files)
    background.answer(results.comparison(sets, called, plan), "Comparing", key=key(sets, plan))


def models() -> list[OnTwoSets]:
    """None: each pair of them has its answer on the sheet."""
    return []


def begin() -> None:
    """The way to compare models, where there are files."""
    if len(prediction_choice.stored_titles()) < 2:
        return
    with st.container(border=True, key="card-model-comparison"):
        st.markdown(f"**{QUESTION.title}**")
        st.markdown("Two models on the same samples are compared sample by sample.")
        st.page_link(page_file(QUESTION.page), label="Compare two models", icon=":material/arrow_forward:", help="")
