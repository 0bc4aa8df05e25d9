"""Which data set is every page about? The one that the address names by fingerprint, and never another one.

An example has no fingerprint before it was read once: until then the address calls it by its name.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
import streamlit as st

from touchstone.core.data import EXAMPLES, DataError, Dataset, docstrings_ready, load_example
from touchstone.core.data.errors import Oddity, SmallClasses
from touchstone.core.evaluate.wording import listed, quoted
from touchstone.core.split.units import has_test_set
from touchstone.core.workspace import Run, WorkspaceError
from touchstone.core.workspace.records import StoredDataset
from touchstone.ui.data.samples import dataset_of, leaks_of
from touchstone.ui.shell import jobs, page, session

ADDRESS = "data"
"""The parameter of the address that names the data set."""
UNKNOWN = (
    "The data set in this address was deleted, or belongs to somebody else. No result is shown. Choose a data set "
    "at the top right, or upload the file again."
)
_MOST_LEFT_OUT = 3
_OF_LEAVING = "Stores the data without these classes, as a data set of its own, and asks about that."
_OF_LEAVING_FEATURES = "Stores the data without this, as a data set of its own. Do it if it was known after the label."


@dataclass(frozen=True)
class Choice:
    """An entry of the data-set control: `address` is its fingerprint, or its name while it is an unread example.

    `example` names the example that it is; None for uploads, and for an example as older library versions had it.
    """

    address: str
    title: str
    example: str | None = None
    stored: StoredDataset | None = None

    @property
    def name(self) -> str:
        """What it is called before and after it was read for the first time."""
        return self.example or self.address


def choices() -> dict[str, Choice]:
    """All that can be chosen by this owner, by address: the examples first, then what was uploaded, newest first."""
    stored = session.workspace().datasets(session.owner())
    newest = {dataset.example: dataset for dataset in reversed(stored) if dataset.example}
    examples = [_example(name, newest.get(name)) for name in EXAMPLES]
    shown = {choice.address for choice in examples}
    others = [_upload(dataset, stored) for dataset in stored if dataset.fingerprint not in shown]
    return {choice.address: choice for choice in [*examples, *others]}


def _example(name: str, stored: StoredDataset | None) -> Choice:
    return Choice(stored.fingerprint if stored else name, EXAMPLES[name].title, name, stored)


def _upload(dataset: StoredDataset, stored: list[StoredDataset]) -> Choice:
    title = name_of(dataset)
    if dataset.example or sum(other.name == dataset.name for other in stored) > 1:
        title += f" ({datetime.fromtimestamp(dataset.created, UTC):%d %b %Y, %H:%M})"
    return Choice(dataset.fingerprint, title, None, dataset)


def name_of(dataset: StoredDataset) -> str:
    """What a data set is called, alike for everybody who sees it; others may be called the same."""
    return EXAMPLES[dataset.example].title if dataset.example in EXAMPLES else dataset.name


def title_of(run: Run) -> str:
    """What the data set of a run is called on the screen; the name it had, where it is no longer stored."""
    choice = choices().get(run.fingerprint)
    return choice.title if choice else run.dataset_name


def current() -> Choice | None:
    """What the address names (without one: what this session saw last, else the first example); None if unknown."""
    known = choices()
    address = st.query_params.get(ADDRESS) or st.session_state.get(ADDRESS) or next(iter(known))
    by_name = {choice.example: choice for choice in reversed(known.values()) if choice.example}
    choice = known.get(address) or by_name.get(address)
    choose(choice.address if choice else address)
    return choice


def choose(address: str) -> None:
    """Make this the data set of this session and of its address."""
    st.session_state[ADDRESS] = address
    session.hold(ADDRESS, address)


def refused(problem: DataError, dataset: Dataset) -> None:
    """Why a question cannot be asked of the data set; for classes that are too small, the way without them."""
    page.error(problem)
    if not isinstance(problem, SmallClasses) or session.read_only() or dataset.n_classes - len(problem.classes) < 2:
        return
    label = f"Leave out {listed([quoted(page.plain(name)) for name in problem.classes], most=_MOST_LEFT_OUT)}"
    leave_out = page.or_toast(_leave_out)
    st.button(label, key="leave-out", on_click=leave_out, args=(dataset, problem.classes), help=_OF_LEAVING)


def _leave_out(dataset: Dataset, classes: tuple[str, ...]) -> None:
    choose(session.workspace().add_dataset(session.owner(), dataset.without(*classes)))


def say_leaks(dataset: Dataset) -> None:
    """What may give labels away, on a page whose answers rest on them, until it is left out."""
    for leak in leaks_of(dataset.fingerprint):
        st.warning(page.plain(leak), icon=":material/warning:")
    offer_without(dataset, leaks_of(dataset.fingerprint))


def offer_without(dataset: Dataset, odd: Iterable[Oddity]) -> None:
    """The way without the features that something odd rests on, each by a click; nothing where a link is looked at."""
    ways = [each.features for each in odd if 0 < len(each.features) < len(dataset.feature_names)]
    if not ways or session.read_only():
        return
    leave_out = page.or_toast(_leave_out_features)
    with st.container(horizontal=True):
        for place, features in enumerate(ways):
            label = f"Leave out {listed([quoted(page.plain(name)) for name in features], most=_MOST_LEFT_OUT)}"
            key = f"leave-out-feature-{place}"
            st.button(label, key=key, on_click=leave_out, args=(dataset, features), help=_OF_LEAVING_FEATURES)


def _leave_out_features(dataset: Dataset, features: tuple[str, ...]) -> None:
    choose(session.workspace().add_dataset(session.owner(), dataset.without_features(*features)))


def control() -> None:
    """The data-set control that stands on every page."""
    known, choice = choices(), current()
    st.session_state["data_control"] = choice.address if choice else None
    st.selectbox(
        "Data set",
        list(known),
        index=0 if choice else None,
        format_func=lambda address: known[address].title,
        key="data_control",
        on_change=lambda: choose(st.session_state["data_control"]),
        placeholder="Choose a data set",
        label_visibility="collapsed",
        width=220,
    )


def required() -> Choice:
    """The choice; where the address names nothing that is there, the page says so and ends."""
    choice = current()
    if choice is None:
        st.error(UNKNOWN, title="This data set is not here", icon=":material/link_off:")
        st.stop()
    return choice


def dataset() -> Dataset:
    """The chosen data set itself; an example is read and stored at its first use."""
    choice = required()
    if choice.stored is not None:
        return _read(choice.stored.fingerprint)
    name = str(choice.example)
    if not ready(name):
        st.stop()
    with st.spinner(f"Reading {page.plain(choice.title)}"):
        fingerprint = session.workspace().add_dataset(session.owner(), load_example(name), example=name)
    choose(fingerprint)
    return _read(fingerprint)


def ready(example: str | None) -> bool:
    """Whether an example can be read at once; where not, it is being read beside the page, which says so."""
    if example != "docstrings" or docstrings_ready():
        return True
    jobs.prepare(
        example, "Reading the docstrings of the installed libraries. This is done once and takes up to a minute."
    )
    return False


def _read(fingerprint: str) -> Dataset:
    try:
        return dataset_of(fingerprint)
    except (DataError, WorkspaceError) as problem:
        page.error(problem)
        st.stop()


def forget(fingerprint: str) -> None:
    """Delete a stored data set with its runs, and show the first example again."""
    session.workspace().delete_dataset(session.owner(), fingerprint)
    choose(next(iter(EXAMPLES)))


# Which samples does somebody mean? Those with one of the ids, classes, sources or words that are written down.


class Search(NamedTuple):
    """Positions of the samples that were found, rising, and what of the wanted was found nowhere."""

    rows: np.ndarray
    missing: tuple[str, ...]


def find_samples(dataset: Dataset, wanted: str) -> Search:
    """Samples by id, class or source, each as a whole, and texts that contain a word; wanted are separated by commas.

    Capitals do not matter.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> found = find_samples(load_example("wine"), "class_0, 100, 999")
    >>> len(found.rows), found.missing
    (60, ('999',))
    """
    names = [name for part in wanted.split(",") if (name := part.strip().casefold())]
    if not names:
        return Search(np.empty(0, dtype=np.int64), ())
    keys = [_folded(dataset.ids), _folded(np.array(dataset.class_names, dtype=object))[dataset.y]]
    keys += [] if dataset.sources is None else [_folded(dataset.sources)]
    texts = _folded(dataset.x) if dataset.kind == "text" else None
    matches, missing = np.zeros(dataset.n_samples, dtype=bool), []
    for name in names:
        hits = np.any([key == name for key in keys], axis=0)
        if texts is not None:
            hits |= np.fromiter((name in text for text in texts), dtype=bool, count=len(texts))
        matches |= hits
        missing += [] if hits.any() else [name]
    return Search(np.flatnonzero(matches), tuple(missing))


def _folded(values: np.ndarray) -> np.ndarray:
    return np.array([str(value).casefold() for value in values], dtype=object)


# Where does the test set that a file marks not count? A sentence for questions that split all samples many times.


NOT_USED = (
    "The file's own test set is not used here. This page splits all samples many times, whichever part the file "
    "puts them in."
)


def not_used(dataset: Dataset) -> None:
    """Say that the file's own test set is not used, where there is one."""
    if has_test_set(dataset):
        st.caption(NOT_USED)
