"""Which prediction files are here, and what did comparing them come to? A card that reads no file, computes nothing.

Predictions belong to no data set, so the card is the same whichever is chosen.
"""

from collections.abc import Mapping

import streamlit as st

from core.evaluate.wording import count, listed, plural
from core.questions import QUESTIONS
from ui import page_file
from ui.forms.plan_form import plan_parameters
from ui.matched_subsets import results
from ui.predictions import choice as prediction_choice
from ui.shell import page

QUESTION = QUESTIONS["matched_subsets"]
MOST = 3


def card() -> None:
    """The verdicts that are known, else which files there are, and the way to the page."""
    titles = prediction_choice.stored_titles()
    known = [one for one in results.compared() if {one.sets.reference, one.sets.target} <= titles.keys()]
    with st.container(border=True, key="card-matched-subsets"):
        st.markdown(f"**{QUESTION.title}** :gray[prediction files, of any data set]")
        for one in known[:MOST]:
            names = prediction_choice.names(one.sets.parameters, titles)
            st.markdown(f":gray[{page.plain(names)}]  \n{page.plain(one.headline)}")
            _link("Open", one.sets.parameters | (plan_parameters(one.plan) or {}))
        if len(known) > MOST:
            st.caption(f"{count(len(known) - MOST)} more compared since the server was started.")
        if known:
            return
        if titles:
            files = (
                f"{plural(len(titles), 'file')} of predictions: {page.plain(listed(list(titles.values()), most=MOST))}."
            )
            st.markdown(f"{files} Open them to compute the verdict.")
        else:
            st.markdown("No predictions yet. Upload those of a model on two test sets; no code needed.")
        _link("Compare two test sets", {})


def _link(label: str, query: Mapping[str, str | list[str]]) -> None:
    st.page_link(
        page_file(QUESTION.page), label=label, icon=":material/arrow_forward:", help="", query_params=dict(query)
    )
