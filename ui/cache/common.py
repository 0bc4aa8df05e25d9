"""What do all questions share? Data sets by fingerprint, and work that runs beside the page."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from core.data import Dataset
from ui.shell import background
from ui.shell.background import Task
from ui.shell.session import owner, workspace


def dataset(fingerprint: str) -> Dataset:
    """A stored data set; one object per process, so that what core keeps by object is computed once, too."""
    return owned_dataset(owner(), fingerprint)


@st.cache_resource(max_entries=4, show_spinner=False)
def owned_dataset(owner_name: str, fingerprint: str) -> Dataset:
    """A stored data set of this owner."""
    return workspace().dataset(owner_name, fingerprint)


@st.cache_resource(max_entries=48, show_spinner=False)
def task(owner_name: str, name: str, _work: Callable[[Callable[[], None]], object], n_steps: int = 0) -> Task[Any]:
    """Some work under this name: the one under way or done, else begun now (see `ui.shell.background`)."""
    return background.submit(_work, n_steps=n_steps)
