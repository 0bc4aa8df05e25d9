"""What does a page of a data set draw itself? The number in question, words by class, and mean images."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from jaxtyping import Integer

from touchstone.core.data import EXAMPLES, DataError, Dataset
from touchstone.core.data.dataset import CONTENT, with_copies_together
from touchstone.core.evaluate.data_sets import ExactCopies, NearCopies, WordCounts, english_stop_words
from touchstone.core.evaluate.wording import count, plural, quoted
from touchstone.core.figures.data_sets import characteristic_words, frequent_words
from touchstone.core.represent import number_title, numbers_of
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data import samples, upload
from touchstone.ui.data.choice import Choice
from touchstone.ui.data.samples import enlarged
from touchstone.ui.data_sets import maps
from touchstone.ui.forms.controls import Number, One, check_address, choice_line
from touchstone.ui.shell import background, downloads, page
from touchstone.ui.shell.session import owner, read_only, workspace

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
    counts = background.answer(maps.words(dataset), "Counting words", key="words")
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


# Where does a data set come from? The examples as cards, and the place for a file that may take the page over.


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
    with line, choice_line(f"Data set **{taken}**", key="data", chosen=name, change=ANOTHER, expanded=chosen is None):
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


# Which samples are there twice? Exact and near duplicates side by side, first those whose labels differ.


PER_PAGE = 4
MOST_OF_GROUP = 6
"""Of so many copies of one content the page shows some; the table has all."""
SIMILARITY = Number(
    "similarity",
    "Similarity",
    0.8,
    0.999,
    0.95,
    0.01,
    "The lowest cosine similarity of near-duplicates; 1 is the same direction. Texts are compared by word weights, "
    "other data by the features chosen above.",
    "%.3f",
)


def show_copies(dataset: Dataset, exact: ExactCopies, *, representation: str) -> tuple[str, list[str]]:
    """Exact duplicates in a line, near ones at the chosen similarity, and what they look like.

    Returns the parameter of the address that says of it, and what it says.
    """
    check_address([SIMILARITY])
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        similarity = SIMILARITY.draw()
        which = st.container()
    near, why_not = None, "Searching for near-duplicates."
    try:
        task = maps.near_copies(dataset, representation, similarity)
        near = background.answer(task, "Comparing every sample with every other", key="near")
    except DataError:  # said where the map would be, which has the same features
        why_not = "No search for near-duplicates in these features."
    choices = _choices(exact, near)
    with which:
        st.markdown(page.plain(_sentence(exact, near, why_not)))
    if any(choices.values()):
        _look(dataset, {title: groups for title, groups in choices.items() if groups})
    _offer_together(dataset, exact, near)
    tables = {"Exact duplicates": lambda: exact.table(dataset.ids, dataset.class_names)}
    if near is not None:
        tables["Near-duplicates"] = lambda: near.table(dataset.ids, dataset.y, dataset.class_names)
    downloads.offer(tables, stem="data-set")
    return SIMILARITY.key, SIMILARITY.written(similarity)


def _offer_together(dataset: Dataset, exact: ExactCopies, near: NearCopies | None) -> None:
    """A button that makes copies one unit, where they are none: rows of a table may be alike by chance."""
    pairs = np.empty((0, 2), dtype=np.int64) if near is None else near.pairs
    if read_only() or dataset.unit_name not in (None, CONTENT):
        return
    if not len(pairs) and (dataset.unit_name == CONTENT or not exact.n_copies):
        return
    st.button(
        "Keep duplicates on one side of every split",
        key="together",
        help="They become one unit, in a data set of its own: duplicates across a split inflate accuracy.",
        on_click=_use_together,
        args=(dataset, pairs),
    )


@page.or_toast
def _use_together(dataset: Dataset, pairs: Integer[np.ndarray, "n_pairs 2"]) -> None:
    together = with_copies_together(dataset, pairs)
    data_choice.choose(workspace().add_dataset(owner(), replace(together, name=f"{dataset.name}, duplicates together")))


def _sentence(exact: ExactCopies, near: NearCopies | None, why_not: str) -> str:
    sentence = f"{plural(exact.n_copies, 'sample repeats', 'samples repeat')} an earlier one exactly."
    if exact.n_copies == 0:
        sentence = "No exact duplicates."
    if near is None:
        return f"{sentence} {why_not}"
    if len(near.pairs) == 0:
        return f"{sentence} No near-duplicates at this similarity."
    more = " or more" if near.full else ""
    differ = int((~near.same_label).sum())
    labels = f"{count(differ)} of them with different labels" if differ else "all with equal labels"
    pairs = f"{count(len(near.pairs))}{more} near-duplicate pairs ({plural(near.n_samples, 'sample')})"
    return f"{sentence} {pairs}, {labels}."


def _choices(exact: ExactCopies, near: NearCopies | None) -> dict[str, Sequence[tuple[int, ...]]]:
    groups: dict[str, Sequence[tuple[int, ...]]] = {
        "Exact duplicates, different labels": exact.groups(conflicting=True)
    }
    if near is not None:
        groups["Near-duplicates, different labels"] = near.chosen(same_label=False)
    groups["Exact duplicates, same label"] = exact.groups(conflicting=False)
    if near is not None:
        groups["Near-duplicates, same label"] = near.chosen(same_label=True)
    return groups


def _look(dataset: Dataset, choices: dict[str, Sequence[tuple[int, ...]]]) -> None:
    title = st.segmented_control(
        "Shown",
        list(choices),
        default=next(iter(choices)),
        format_func=lambda name: f"{name} ({count(len(choices[name]))})",
        key=f"copies-{len(choices)}",
        label_visibility="collapsed",
        required=True,
    )
    groups = choices[title or next(iter(choices))]
    below = st.container()
    shown = groups[page.part_shown(len(groups), PER_PAGE, key="copies-page")]
    with below, st.grid(2, min_column_width=300, border=True):
        for group in shown:
            with st.container(gap="xsmall"):
                samples.show(dataset, group[:MOST_OF_GROUP])
                if len(group) > MOST_OF_GROUP:
                    st.caption(f"and {plural(len(group) - MOST_OF_GROUP, 'more copy', 'more copies')}")
