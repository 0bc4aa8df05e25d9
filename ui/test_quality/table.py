"""What can be taken away of a test set's quality? Every sample with its regions, every table; and what it rests on."""

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from core.evaluate.test_quality import Curve, PairMap, TestQuality, findings_table
from core.workspace.models import StoredModel
from ui.data.samples import LAZY_ROWS
from ui.shell import page, take_away
from ui.shell.background import Task
from ui.test_quality import results
from ui.test_quality.work import Looked

STEM = "test-quality"
_COLUMNS = {
    "row": None,
    "id": "Sample",
    "label": "Class",
    "predicted": "Predicted",
    "confidence": st.column_config.NumberColumn("Sure (%)", format="%.1f"),
    "rival": st.column_config.TextColumn("Rival", help="The most probable class other than its own"),
    "distance": st.column_config.NumberColumn("Distance", format="%.3f", help="To its centroid, in the class's unit"),
    "in_centroid": st.column_config.CheckboxColumn("Near centroid"),
    "in_boundary": st.column_config.CheckboxColumn("At boundary"),
}


def in_numbers(
    looked: Looked,
    found: TestQuality,
    curves: Sequence[Curve] | None,
    pair: Task[PairMap],
) -> None:
    """Every test sample with the regions that it lies in, and all tables as files."""
    st.subheader("In numbers", anchor=False)
    table = results.samples(looked)
    shown = table.assign(confidence=100 * table["confidence"])
    lazy = len(table) > LAZY_ROWS
    st.dataframe(shown, column_config=_COLUMNS, hide_index=True, lazy=lazy, height=320, alt="Test samples and regions")
    take_away.offer(_tables(found, table, curves, pair), stem=STEM)


def _tables(
    found: TestQuality, table: pd.DataFrame, curves: Sequence[Curve] | None, pair: Task[PairMap]
) -> dict[str, Callable[[], pd.DataFrame]]:
    tables: dict[str, Callable[[], pd.DataFrame]] = {
        "Samples": lambda: table,
        "Classes": found.table,
        "Spreads": found.spreads_table,
        "Pairs": found.pairs.table,
        "Findings": lambda: findings_table(found),
    }
    if curves is not None:
        tables["Curves"] = lambda: pd.concat([curve.table() for curve in curves], ignore_index=True)
    if pair.future.done() and pair.future.exception() is None:
        tables["Two classes"] = pair.future.result().table
    return tables


def foot(looked: Looked, found: TestQuality, model: StoredModel) -> None:
    """What the result rests on, in grey: data, model, layer, thresholds, split and versions."""
    regions = found.regions
    radius = "training median of each class" if looked.choice.r is None else f"{looked.choice.r:g}"
    said = (
        f"Data {looked.dataset.fingerprint[:12]} · model {model.fingerprint[:12]} · layer {looked.parts.layer} · "
        f"theta1 {regions.theta1:.4g}, theta2 {regions.theta2:g}, r {radius}, unit {looked.choice.unit} · "
        f"{found.n_train} training and {found.n_test} test samples"
    )
    st.caption(
        f"{page.plain(said)} · {page.plain(page.versions())}",
        help="What this result rests on: the fingerprints of data set and model, the layer, the thresholds, the split "
        "and the library versions.",
    )
