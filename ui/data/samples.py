"""What do single samples look like? Pictures at integer zoom, texts in full, rows with their columns."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from touchstone.core.data import Dataset
from touchstone.core.data.dataset import duplicate_groups
from touchstone.core.data.errors import Oddity
from touchstone.core.evaluate.leaks import leaks
from touchstone.ui import cache
from touchstone.ui.shell.page import part_shown, plain
from touchstone.ui.shell.session import owner, workspace

PICTURE = 64
"""The least size of a shown picture in pixels; small images are enlarged by whole factors: pixels stay square."""
LAZY_ROWS = 5000
PER_PAGE = {"image": 30, "text": 8}
_DRAWS = "samples_draws"


def browse(dataset: Dataset) -> None:
    """Pictures and texts page by page, drawn so that each class comes first once; rows of a table all at once."""
    if dataset.kind == "tabular":
        st.dataframe(table(dataset), hide_index=True, lazy=dataset.n_samples > LAZY_ROWS, alt="All rows")
        return
    names = dataset.class_names
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Class", names, index=None, placeholder="All classes", key="shown-class", width=250)
        st.button("Draw others", key="draw-others", on_click=_draw_others, icon=":material/shuffle:")
    rows = one_of_each(dataset, rng=np.random.default_rng(st.session_state.get(_DRAWS, 0)))
    if name is not None:
        rows = rows[dataset.y[rows] == names.index(name)]
    below = st.container()
    shown = rows[part_shown(len(rows), PER_PAGE[dataset.kind], key="samples-page")]
    with below:
        show(dataset, shown)


def _draw_others() -> None:
    st.session_state[_DRAWS] = st.session_state.get(_DRAWS, 0) + 1
    st.session_state.pop("samples-page", None)


def show(dataset: Dataset, rows: Sequence[int]) -> None:
    """Samples of a data set, each with its label beneath or beside it."""
    captions = [dataset.class_names[dataset.y[row]] for row in rows]
    if dataset.kind == "image":
        pictures([dataset.x[row] for row in rows], captions)
    else:
        columns = {"label": captions, "id": dataset.ids[list(rows)], **_content(dataset, rows)}
        st.table(pd.DataFrame(columns).map(plain).set_index("label").rename(columns=plain), alt="Samples in full")


def pictures(images: Sequence[np.ndarray], captions: Sequence[str]) -> None:
    """Images of values in [0, 1] side by side, enlarged without smoothing, what they are beneath."""
    with st.grid("auto", min_column_width=PICTURE, gap="xsmall"):
        for image, caption in zip(images, captions, strict=True):
            st.image(enlarged(image), caption=plain(caption), alt=caption, output_format="PNG")


def enlarged(image: np.ndarray) -> np.ndarray:
    """An image of (height, width, channels) in [0, 1] as bytes for the screen, each pixel a square of pixels."""
    zoom = max(1, -(-PICTURE // max(image.shape[:2])))
    pixels = np.repeat(np.repeat(np.rint(image * 255).astype(np.uint8), zoom, axis=0), zoom, axis=1)
    return pixels[..., 0] if pixels.shape[2] == 1 else pixels[..., :3]


def table(dataset: Dataset, rows: Sequence[int] | np.ndarray | None = None) -> pd.DataFrame:
    """Samples (by default all) as rows: id, label, source where known, and text or columns (of images nothing more)."""
    chosen = np.arange(dataset.n_samples) if rows is None else np.asarray(rows)
    names = np.array(dataset.class_names, dtype=object)[dataset.y[chosen]]
    source = {} if dataset.sources is None else {"source": dataset.sources[chosen]}
    return pd.DataFrame({"id": dataset.ids[chosen], "label": names, **source, **_content(dataset, chosen)})


def _content(dataset: Dataset, rows: Sequence[int]) -> dict[str, np.ndarray]:
    if dataset.kind == "image":
        return {}
    if dataset.kind == "text":
        return {"text": dataset.x[list(rows)]}
    return dict(zip(dataset.feature_names, dataset.x[list(rows)].T, strict=True))


def one_of_each(dataset: Dataset, *, rng: np.random.Generator | None = None) -> np.ndarray:
    """All rows, so ordered that every class comes once before any comes twice; shuffled within classes by `rng`."""
    rows = np.arange(dataset.n_samples) if rng is None else rng.permutation(dataset.n_samples)
    by_class = rows[np.argsort(dataset.y[rows], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(dataset.n_per_class)[:-1]])
    rank = np.arange(dataset.n_samples) - np.repeat(starts, dataset.n_per_class)
    return by_class[np.lexsort((dataset.y[by_class], rank))]


# What is a source like? Its mean image, the words that set it apart, or the columns in which it is unusual.


_WORD = re.compile(r"[^\W\d_]{3,}")
MOST_WORDS = 6
MOST_COLUMNS = 4


@dataclass(frozen=True)
class Portrait:
    """A source as a picture (images only) and in words (texts and tables)."""

    picture: np.ndarray | None
    words: str


def portrait(dataset: Dataset, source: np.ndarray, others: np.ndarray) -> Portrait:
    """The samples of a source (a mask) against those that it is to be told from, such as the rest of its class."""
    if dataset.kind == "image":
        return Portrait(dataset.x[source].mean(axis=0), "")
    if dataset.kind == "text":
        return Portrait(None, ", ".join(telling_words(dataset.x[source], dataset.x[others])))
    return Portrait(None, ", ".join(unusual_columns(dataset, source, others)))


def telling_words(texts: Iterable[str], others: Iterable[str]) -> list[str]:
    """The words whose share of these texts most exceeds their share of the others.

    >>> telling_words(["red wine", "red grape"], ["white wine"])
    ['red', 'grape']
    """
    mine, n_mine = _texts_with(texts)
    theirs, n_theirs = _texts_with(others)
    excess = {word: n / n_mine - theirs[word] / max(n_theirs, 1) for word, n in mine.items()}
    return [word for word in sorted(excess, key=lambda word: (-excess[word], word)) if excess[word] > 0][:MOST_WORDS]


def _texts_with(texts: Iterable[str]) -> tuple[Counter[str], int]:
    words = [set(_WORD.findall(text.lower())) for text in texts]
    return Counter(word for text in words for word in text), len(words)


def unusual_columns(dataset: Dataset, source: np.ndarray, others: np.ndarray) -> list[str]:
    """The columns whose mean is farthest from that of the others, in standard deviations of the whole data set."""
    sd = dataset.x.std(axis=0)
    distance = (dataset.x[source].mean(axis=0) - dataset.x[others].mean(axis=0)) / np.where(sd > 0, sd, 1.0)
    farthest = np.argsort(-np.abs(distance), kind="stable")[:MOST_COLUMNS]
    return [f"{dataset.feature_names[column]} {distance[column]:+.1f} sd".replace("-", "−") for column in farthest]


# What gives labels away? Said again wherever folds and sheets rest on the data.


@cache.result(max_entries=8)
def leaks_of(fingerprint: str) -> tuple[Oddity, ...]:
    """What may give the labels of a stored data set away."""
    dataset = dataset_of(fingerprint)
    return leaks(dataset, duplicate_groups(dataset))


# Where is a stored data set? One object for each owner, so that what core keeps by object is computed once, too.


@cache.result(max_entries=4)
def dataset_of(fingerprint: str) -> Dataset:
    """The owner's stored data set of this fingerprint. Raises WorkspaceError where there is none."""
    return workspace().dataset(owner(), fingerprint)
