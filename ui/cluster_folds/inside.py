"""What differs in the folds? Mean images, words or columns of all, and samples of one."""

from functools import partial

import numpy as np
import streamlit as st

from touchstone.core.evaluate.wording import count
from touchstone.core.figures.data_sets import characteristic_words
from touchstone.ui.cluster_folds import results
from touchstone.ui.cluster_folds.work import Cut, Folded
from touchstone.ui.data import samples
from touchstone.ui.data.samples import portrait
from touchstone.ui.forms.pick_one import choose
from touchstone.ui.shell import background, page

ADDRESSES = ("inside", "infold")
"""The parameters of the address that are controls of this part of the page."""
N_SAMPLES = 10
N_WORDS = 12


def show(folded: Folded) -> None:
    """What the folds of one scheme hold: mean images, words or columns, and samples of one fold."""
    data, cuts = folded.dataset, list(folded.cuts)
    if data is None or not cuts:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        cut = choose("inside", "Folds of", folded.cuts, folded.unlike(cuts[0]))
        names, folds = folded.names(cut), folded.rows.folds(*cut)
        at = choose("infold", "Fold", dict(enumerate(names)))
    if data.kind == "text":
        _words(folded, cut, at)
    else:
        _portraits(folded, cut)
    st.markdown(f"**Samples of fold {page.plain(names[at])}**")
    rows = samples.one_of_each(data, rng=np.random.default_rng(0))
    samples.show(data, rows[folds[rows] == at][:N_SAMPLES])


def _words(folded: Folded, cut: Cut, at: int) -> None:
    counts = background.answer(results.words(folded, cut), "Counting words", key="fold-words")
    if counts is None:
        return
    with st.grid("auto", min_column_width=150, border=True):
        for name in counts.class_names:
            words = [word.word for word in counts.characteristic(name, most=6) if word.stands]
            sentence = page.plain(", ".join(words)) or "no word differs by more than chance"
            st.markdown(f"**{page.plain(name)}**  \n{sentence}")
    words = counts.characteristic(counts.class_names[at], most=N_WORDS)
    figure = partial(characteristic_words, words, noun="fold", nouns="folds")
    page.figure(
        figure,
        "What distinguishes this fold, most significant first; hatched: not significant.",
        key="fold-words-figure",
    )


def _portraits(folded: Folded, cut: Cut) -> None:
    data, folds = folded.dataset, folded.rows.folds(*cut)
    if data is None:
        return
    with st.grid("auto", min_column_width=110, gap="small"):
        for fold, name in enumerate(folded.names(cut)):
            drawn = portrait(data, folds == fold, folds != fold)
            with st.container(gap="xsmall"):
                if drawn.picture is not None:
                    st.image(samples.enlarged(drawn.picture), alt=f"Mean image of fold {name}", output_format="PNG")
                st.markdown(f"**Fold {page.plain(name)}**")
                st.caption(f"{page.plain(drawn.words)}  \nn = {count(int((folds == fold).sum()))}".strip())
    what = (
        "The mean image of each fold."
        if data.kind == "image"
        else ("The columns in which each fold differs most from the rest, in standard deviations.")
    )
    st.caption(what)
