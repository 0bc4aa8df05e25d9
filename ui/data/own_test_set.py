"""Where does the test set that a file marks not count? A sentence for questions that split all samples many times."""

import streamlit as st

from core.data import Dataset
from core.split import has_test_set

NOT_USED = (
    "The test set that the file marks is not used here. This question splits all samples many times, training and test "
    "samples of the file alike."
)


def not_used(dataset: Dataset) -> None:
    """Say so where the data set has one."""
    if has_test_set(dataset):
        st.caption(NOT_USED)
