"""What do single samples look like? Pictures at integer zoom, texts in full, rows with their columns."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from touchstone.core.data import Dataset
from touchstone.ui.shell.page import part_shown, plain

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
