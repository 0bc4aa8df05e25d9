"""Where does a data set come from? The examples as cards, and the place for a file that may take the page over."""

import streamlit as st

from touchstone.core.data import EXAMPLES
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data import upload
from touchstone.ui.data.choice import Choice
from touchstone.ui.forms.controls import choice_line
from touchstone.ui.shell import page

ANOTHER = "choose another"


def choose() -> bool:
    """The examples as cards, and the place for a file; whether a file takes the page over."""
    top, below = st.container(horizontal=True, key="choose-data"), st.container()
    line = top.container()
    with top.container(width=420):
        file = upload.control()
    with below:
        if upload.takes_over(file):
            return True
    chosen = data_choice.current()
    name, taken = (chosen.name, page.plain(chosen.title)) if chosen else ("", "none")
    with (
        line,
        choice_line(f"Data set **{taken}**", key="data", chosen=name, change=ANOTHER, expanded=chosen is None),
    ):
        cards(chosen)
    return False


def cards(chosen: Choice | None) -> None:
    """The examples, each with what it is."""
    with st.grid(len(EXAMPLES), min_column_width=190):
        for address, choice in data_choice.choices().items():
            if choice.example is None:
                continue
            example = EXAMPLES[choice.example]
            with st.container(border=True, height="stretch", key=f"example-{choice.example}"):
                st.markdown(f"**{example.title}**  \n:gray[{example.sentence}]")
                st.space("stretch")
                st.button(
                    "Chosen" if choice == chosen else "Choose",
                    key=f"choose-{choice.example}",
                    on_click=data_choice.choose,
                    args=(address,),
                    disabled=choice == chosen,
                    width="stretch",
                )
