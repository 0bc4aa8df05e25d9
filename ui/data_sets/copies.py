"""Which samples are there twice? Exact and near duplicates side by side, first those whose labels differ."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import streamlit as st
from jaxtyping import Integer

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.dataset import CONTENT, with_copies_together
from touchstone.core.evaluate.data_sets import ExactCopies, NearCopies
from touchstone.core.evaluate.wording import count, plural
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data import samples
from touchstone.ui.data_sets import results
from touchstone.ui.forms.controls import Number, check_address
from touchstone.ui.shell import background, downloads, page
from touchstone.ui.shell.session import owner, read_only, workspace

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


def show(dataset: Dataset, exact: ExactCopies, *, representation: str) -> tuple[str, list[str]]:
    """Exact duplicates in a line, near ones at the chosen similarity, and what they look like.

    Returns the parameter of the address that says of it, and what it says.
    """
    check_address([SIMILARITY])
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        similarity = SIMILARITY.draw()
        which = st.container()
    near, why_not = None, "Searching for near-duplicates."
    try:
        task = results.near_copies(dataset, representation, similarity)
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
