"""What does a page of a data set draw itself? The number in question, words by class, and mean images."""

from functools import partial

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from touchstone.core.data import Dataset
from touchstone.core.evaluate.data_sets import WordCounts, english_stop_words
from touchstone.core.evaluate.wording import count, quoted
from touchstone.core.figures.data_sets import characteristic_words, frequent_words
from touchstone.core.represent import number_title, numbers_of
from touchstone.ui.data.samples import enlarged
from touchstone.ui.data_sets import results
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.shell import background, downloads, page

N_WORDS = 15


def choose_number(dataset: Dataset) -> tuple[str, dict[str, list[str]]]:
    """Which number of every sample the figures are about, and how the address says so.

    There is a control only where there are several.
    """
    titles = {name: number_title(dataset, name) for name in numbers_of(dataset)}
    if len(titles) == 1:
        return next(iter(titles)), {}
    control = One("number", "Column in question", titles, next(iter(titles)))
    check_address([control])
    chosen = control.draw()
    return chosen, {control.key: control.written(chosen)}


def words(dataset: Dataset) -> None:
    """The most frequent words, and those that set a class apart."""
    counts = background.answer(results.words(dataset), "Counting words", key="words")
    if counts is None:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        label = st.selectbox("Class", dataset.class_names, key="words-class", width=250)
        plain_only = st.toggle(
            "Leave out common English words", key="stop-words", help="scikit-learn's list: the, of, and, is, ..."
        )
    everywhere, here, apart = st.columns(3, gap="medium")
    with everywhere:
        figure = partial(_frequent_words, counts, None, plain_only)
        page.figure(figure, f"Most frequent in all texts; {count(counts.n_words)} words in all.", key="frequent")
    with here:
        figure = partial(_frequent_words, counts, label, plain_only)
        page.figure(figure, f"Most frequent in {page.plain(quoted(label))}.", key="frequent-class")
    with apart:
        figure = partial(_characteristic_words, counts, label, plain_only)
        caption = f"Most characteristic of {page.plain(quoted(label))}, largest z first (log-odds over their SE)."
        page.figure(figure, caption, key="characteristic")
    downloads.offer({"Words": counts.table}, stem="data-set")


def _frequent_words(counts: WordCounts, label: str | None, plain_only: bool, *, dark: bool) -> go.Figure:
    return frequent_words(_shown(counts, plain_only).frequent(label, most=N_WORDS), dark=dark)


def _characteristic_words(counts: WordCounts, label: str, plain_only: bool, *, dark: bool) -> go.Figure:
    return characteristic_words(_shown(counts, plain_only).characteristic(label, most=N_WORDS), dark=dark)


def _shown(counts: WordCounts, plain_only: bool) -> WordCounts:
    return counts.without(english_stop_words()) if plain_only else counts


def mean_images(dataset: Dataset, pictures: np.ndarray) -> None:
    """The mean image of each class, its n beneath."""
    with st.grid("auto", min_column_width=72, gap="xsmall"):
        for name, n, picture in zip(dataset.class_names, dataset.n_per_class, pictures, strict=True):
            caption = f"{page.plain(name)}  \nn = {count(int(n))}"
            st.image(enlarged(picture), caption=caption, alt=f"Mean image of {name}", output_format="PNG")
    st.caption("The mean of all images of a class: sharp parts are common to all images, blurred parts vary.")
