"""Where does the test set that a file marks not count? A sentence for questions that split all samples many times."""

import streamlit as st

from touchstone.core.data import Dataset
from touchstone.core.split import has_test_set

NOT_USED = (
    "The file's own test set is not used here. This page splits all samples many times, whichever part the file "
    "puts them in."
)


def not_used(dataset: Dataset) -> None:
    """Say so where the data set has one."""
    if has_test_set(dataset):
        st.caption(NOT_USED)
