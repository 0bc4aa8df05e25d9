"""Where does somebody begin who has computed nothing yet? Three doors, by what they have in hand."""

import streamlit as st

from touchstone.ui import page_file
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data.choice import Choice
from touchstone.ui.shell import jobs
from touchstone.ui.shell.page import plain

PURPOSE = (
    "A test accuracy says little about new sources, a new test set, noise, or inputs that no test covers.  \n"
    "Five published methods measure these, from the files that you have.  \n"
    "Every answer is a sentence with its interval, its n, and what to do next."
)
"""What all this is for, in three lines."""


def doors(choice: Choice) -> None:
    """The three ways in, the last of which starts a first question on the chosen data set."""
    with st.grid(3, min_column_width=240):
        with _door("I have predictions", "Labels, predictions and confidences on two test sets. No model is needed."):
            _lead("Compare two test sets", "matched_subsets")
        with _door("I have data", "A table, texts or pictures with labels. A model can be trained here, or uploaded."):
            _lead("Upload data", "data_sets", choice)
        first = "How far does accuracy fall on sources that training has not seen? It takes a minute or two."
        with _door(
            "Show me" if choice.example else f"Ask about {plain(choice.title)}",
            f"Nothing has been computed for this data set yet. {first}",
        ):
            if st.button("Start", type="primary", key="start"):
                jobs.ask_to_start(choice.name)
                st.switch_page(page_file("source_robustness"), query_params={data_choice.ADDRESS: choice.address})


def _door(title: str, says: str) -> st.delta_generator.DeltaGenerator:
    """A card that all of a row make equally high; what leads on stands at its foot."""
    card = st.container(border=True, height="stretch", key=f"door-{title.split()[-1].lower()}")
    with card:
        st.markdown(f"**{title}**  \n:gray[{says}]")
        st.space("stretch")
    return card


def _lead(label: str, page: str, choice: Choice | None = None) -> None:
    query = {data_choice.ADDRESS: choice.address} if choice else {}
    st.page_link(page_file(page), label=label, icon=":material/arrow_forward:", help="", query_params=query)
