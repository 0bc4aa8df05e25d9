"""What do single samples look like? Pictures at integer zoom, texts in full, rows with their columns."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from core.data import Dataset
from ui.page import part_shown, plain

PICTURE = 64
"""The least size of a shown picture in pixels; small images are enlarged by whole factors: pixels stay square."""
LAZY_ROWS = 5000
PER_PAGE = {"image": 30, "text": 8}


def browse(dataset: Dataset) -> None:
    """Pictures and texts page by page, one of each class first; the rows of a table all at once."""
    if dataset.kind == "tabular":
        st.dataframe(table(dataset), hide_index=True, lazy=dataset.n_samples > LAZY_ROWS, alt="All rows")
        return
    names = dataset.class_names
    name = st.selectbox("Class", names, index=None, placeholder="All classes", key="shown-class", width=250)
    rows = one_of_each(dataset)
    if name is not None:
        rows = rows[dataset.y[rows] == names.index(name)]
    below = st.container()
    shown = rows[part_shown(len(rows), PER_PAGE[dataset.kind], key="samples-page")]
    with below:
        show(dataset, shown)


def show(dataset: Dataset, rows: Sequence[int]) -> None:
    """Samples of a data set, each with its label beneath or beside it."""
    captions = [dataset.class_names[dataset.y[row]] for row in rows]
    if dataset.kind == "image":
        pictures([dataset.x[row] for row in rows], captions)
    else:
        columns = {"label": captions, "id": dataset.ids[list(rows)], **_content(dataset, rows)}
        st.table(pd.DataFrame(columns).map(plain).set_index("label"), alt="Samples in full")


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


def table(dataset: Dataset) -> pd.DataFrame:
    """Every sample as a row: id, label, source where known, and its text or columns (of images only the size)."""
    rows = range(dataset.n_samples)
    names = np.array(dataset.class_names, dtype=object)[dataset.y]
    source = {} if dataset.sources is None else {"source": dataset.sources}
    return pd.DataFrame({"id": dataset.ids, "label": names, **source, **_content(dataset, rows)})


def _content(dataset: Dataset, rows: Sequence[int]) -> dict[str, np.ndarray]:
    if dataset.kind == "image":
        return {}
    if dataset.kind == "text":
        return {"text": dataset.x[list(rows)]}
    return dict(zip(dataset.feature_names, dataset.x[list(rows)].T, strict=True))


def one_of_each(dataset: Dataset) -> np.ndarray:
    """All rows, so ordered that every class comes once before any comes twice."""
    by_class = np.argsort(dataset.y, kind="stable")
    starts = np.concatenate([[0], np.cumsum(dataset.n_per_class)[:-1]])
    rank = np.arange(dataset.n_samples) - np.repeat(starts, dataset.n_per_class)
    return by_class[np.lexsort((dataset.y[by_class], rank))]


def median_words(dataset: Dataset) -> str:
    """How long the middle one of the texts is."""
    return f"{np.median(n_words(dataset)):g} words"


def n_words(dataset: Dataset) -> np.ndarray:
    """How many words each text has."""
    return np.array([len(text.split()) for text in dataset.x])


def features(dataset: Dataset) -> pd.DataFrame:
    """Of every feature of a table: mean, standard deviation, least and greatest value."""
    x = dataset.x
    columns = {"mean": x.mean(axis=0), "sd": x.std(axis=0), "least": x.min(axis=0), "greatest": x.max(axis=0)}
    return pd.DataFrame({"feature": dataset.feature_names, **columns})
