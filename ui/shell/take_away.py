"""What can be taken away of a page? One menu at its top has every table and report; the page says which as it goes."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from touchstone.core.report.files import FORMATS
from touchstone.ui.shell import page
from touchstone.ui.shell.page import FIGURE_FORMAT, FIGURE_FORMATS

_OFFERED = "take_away"


@dataclass(frozen=True, eq=False)
class _Offer:
    """Some tables by title, and what draws further files beneath them."""

    tables: Mapping[str, Callable[[], pd.DataFrame]]
    stem: str
    more: Callable[[], None] | None


def offer(
    tables: Mapping[str, Callable[[], pd.DataFrame]], *, stem: str, more: Callable[[], None] | None = None
) -> None:
    """Have the menu of this page offer every table in every format, and `more` beneath.

    Each file is written only when it is asked for. A part of a page that is drawn anew by itself offers the same again.
    """
    offered: dict[str, _Offer] = st.session_state.setdefault(_OFFERED, {})
    offered[f"{stem}-{next(iter(tables), 'run')}"] = _Offer(tables, stem, more)


def clear() -> None:
    """Forget what the page drawn before this one offered."""
    st.session_state.pop(_OFFERED, None)


def menu() -> None:
    """The menu, for the page just drawn; nothing where it offers nothing."""
    offered: dict[str, _Offer] = st.session_state.get(_OFFERED, {})
    if not offered:
        return
    with st.popover("Take away", icon=":material/download:", help="Tables · reports · parameters", key="take-away"):
        for offer in offered.values():
            _files(offer.tables, offer.stem)
            if offer.more is not None:
                offer.more()
        _figure_format()


def _figure_format() -> None:
    """Which files the cameras over figures give; remembered also while a page without this menu is drawn."""
    control = f"{FIGURE_FORMAT}-control"
    st.session_state[control] = st.session_state.get(FIGURE_FORMAT, FIGURE_FORMATS[0])
    st.segmented_control(
        "Figures: the camera over each saves it as",
        FIGURE_FORMATS,
        key=control,
        required=True,
        on_change=lambda: st.session_state.update({FIGURE_FORMAT: st.session_state[control]}),
    )


def here(tables: Mapping[str, Callable[[], pd.DataFrame]], *, stem: str) -> None:
    """Tables that belong to a step or a selection, behind a button where that stands."""
    key = f"downloads-{stem}-{next(iter(tables))}"
    with st.popover("Download", icon=":material/download:", type="tertiary", key=key):
        _files(tables, stem)


def _files(tables: Mapping[str, Callable[[], pd.DataFrame]], stem: str) -> None:
    for title, table in tables.items():
        name = f"{stem}-{re.sub(r'[^a-z0-9]+', '-', title.lower()).strip('-')}"
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            for form, (write, ending, mime) in FORMATS.items():
                page.download(
                    f"{title} ({form})",
                    lambda table=table, write=write: write(table()),
                    name=f"{name}.{ending}",
                    mime=mime,
                )
