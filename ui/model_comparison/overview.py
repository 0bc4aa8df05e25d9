"""Where does the sheet of prediction files lead to this question? Its answers stand on its own page."""

from collections.abc import Mapping, Sequence

import streamlit as st

from touchstone.core.questions import QUESTIONS
from touchstone.core.report.model_pairs import OnTwoSets
from touchstone.core.report.overview import Answered
from touchstone.ui import page_file
from touchstone.ui.predictions import choice as prediction_choice

QUESTION = QUESTIONS["model_comparison"]


def answers() -> list[tuple[Answered, Mapping[str, str | list[str]], str]]:
    """None: the sheet puts accuracies on one axis, and this question is about differences."""
    return []


def compare_again(parameters: Mapping[str, Sequence[str]]) -> None:
    """Nothing of the sheet is this question's."""


def models() -> list[OnTwoSets]:
    """None beside those of other questions about files."""
    return []


def begin() -> None:
    """The way to compare models, where there are files."""
    if len(prediction_choice.stored_titles()) < 2:
        return
    with st.container(border=True, key="card-model-comparison"):
        st.markdown(f"**{QUESTION.title}**")
        st.markdown("Two models on the same samples are compared sample by sample.")
        st.page_link(page_file(QUESTION.page), label="Compare two models", icon=":material/arrow_forward:", help="")
