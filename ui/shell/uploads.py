"""May the app read a file that somebody uploaded? What may take much is tried in a child process first, once."""

import io
from collections.abc import Callable
from pathlib import PurePath
from typing import Any

import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.data.sandbox import try_file
from touchstone.ui.shell import page

_TRIED = "uploads_tried"


def check(read: Callable[[io.BytesIO], object], file: Any) -> None:
    """Raise DataError where `read` cannot read an uploaded file within limits, however often the page is drawn."""
    known: dict[tuple[str, str], str | None] = st.session_state.setdefault(_TRIED, {})
    name = (file.file_id, read.__qualname__)
    if name not in known:
        with st.spinner(f"Reading {page.plain(file.name)}"):
            known[name] = _problem(read, file)
    if problem := known[name]:
        raise DataError(problem)


def _problem(read: Callable[[io.BytesIO], object], file: Any) -> str | None:
    try:
        try_file(read, PurePath(file.name).name, file.getvalue())
    except DataError as problem:
        return str(problem)
    return None
