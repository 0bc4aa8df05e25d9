"""How accurate is the model on new samples? A list of few to label, and what it tells when it comes back."""

import numpy as np
import streamlit as st

from core.data import DataError
from core.evaluate.guided_tests.few_labels import LabelDesign, design_labels, expected_errors
from core.evaluate.guided_tests.few_labels_words import guess, promise, told
from core.evaluate.guided_tests.label_file import read_labels, to_label
from core.models.layers import LayerSamples
from ui.data import samples
from ui.shell import page, take_away
from ui.shell.session import read_only

_SEED = 0  # the same pool has the same list


def from_few_labels(pool: LayerSamples, test: LayerSamples, n: int) -> None:
    """What `n` labels of a pool would bring, the list to label, and what its labels tell when it comes back."""
    try:
        wrong = test.predicted != test.labels
        design = design_labels(
            pool.confidence, expected_errors(pool.confidence, test.confidence, wrong), n_labels=min(n, len(pool))
        )
    except DataError as problem:
        page.error(problem)
        return
    if pool is test:
        st.caption(
            "Labels of the test samples are known. Upload samples without labels to get a list of samples to "
            f"label. If they were like the test samples: {promise(design)}"
        )
        return
    st.markdown(page.plain(promise(design)))
    st.caption(page.plain(guess(design)))
    _list(pool, design)
    _labels_back(pool.class_names)


def _list(pool: LayerSamples, design: LabelDesign) -> None:
    table = to_label(pool, design, rng=np.random.default_rng(_SEED))
    config = {
        "id": "Sample",
        "predicted": "Predicted",
        "confidence": st.column_config.NumberColumn("Confidence (%)", format="%.1f"),
        "stratum": st.column_config.NumberColumn("Stratum", help="From the most confident samples to the least"),
        "stratum_size": None,
        "pool_size": None,
        "label": "Label",
    }
    shown = table.assign(confidence=100 * table["confidence"])
    lazy = len(table) > samples.LAZY_ROWS
    st.dataframe(shown, column_config=config, hide_index=True, lazy=lazy, height=280, alt="Samples to label")
    st.caption(
        "Download this list, fill in the column “label” from the top, and upload it below. You may stop early, but "
        "do not skip hard samples."
    )
    take_away.offer({"List to label": lambda: table}, stem="guided-tests")


def _labels_back(class_names: tuple[str, ...]) -> None:
    if read_only():
        return
    file = st.file_uploader("The list with its labels", type=["tsv", "csv", "xlsx", "parquet"], key="labels-back")
    if file is None:
        return
    try:
        back = read_labels(file.getvalue(), file.name, class_names=class_names)
    except DataError as problem:
        page.error(problem)
        return
    st.markdown(f"**{page.plain(told(back))}**")
