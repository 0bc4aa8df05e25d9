"""What did comparing prediction files come to? Answers for the sheet of files; nothing is read or computed for it.

Predictions belong to no data set, so these answers have a sheet of their own.
"""

from collections.abc import Mapping

import streamlit as st

from core.evaluate.wording import listed, plural
from core.questions import QUESTIONS
from core.report.overview import Answer
from ui import page_file
from ui.forms.plan_form import plan_parameters
from ui.matched_subsets import results
from ui.predictions import choice as prediction_choice
from ui.shell import page

QUESTION = QUESTIONS["matched_subsets"]
MOST = 3


def answers() -> list[tuple[Answer, Mapping[str, str | list[str]]]]:
    """What was compared since the server was started, of files that are still here, each with its address."""
    titles = prediction_choice.stored_titles()
    known = [one for one in results.compared() if {one.sets.reference, one.sets.target} <= titles.keys()]
    return [
        (
            Answer(QUESTION, prediction_choice.names(one.sets.parameters, titles), one.verdict, one.quantities),
            one.sets.parameters | (plan_parameters(one.plan) or {}),
        )
        for one in known
    ]


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
