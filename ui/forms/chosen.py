"""How does a choice that was made once keep out of the way? It folds into one line that says it; "change" opens it."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from touchstone.ui.shell.session import read_only


def choice_line(line: str, *, key: str, chosen: str, change: str = "change", expanded: bool = False) -> DeltaGenerator:
    """The line (Markdown) of a choice, and the place for its controls, which the line opens.

    `chosen` names what is chosen: once that is another thing the choice is made, and the place closes again. Through a
    link nothing can be changed, and the place says more of what was.

    Controls must be drawn in it whether it is open or not: what the address binds a widget to would else be lost.
    """
    word = "details" if read_only() else change
    return st.expander(f"{line} · :blue[{word}]", expanded=expanded, key=f"chosen-{key}-{chosen[:24]}")
