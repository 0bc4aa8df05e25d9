"""What can be taken away of a test set's quality? Every sample with its regions, every table; and what it rests on."""

import pandas as pd
import streamlit as st

from touchstone.core.evaluate.test_quality import TestQuality, findings_table
from touchstone.core.evaluate.wording import count, plural
from touchstone.core.workspace.models import StoredModel
from touchstone.ui.data.samples import LAZY_ROWS
from touchstone.ui.shell import page, take_away
from touchstone.ui.test_quality import results, work
from touchstone.ui.test_quality.work import Looked

STEM = "test-quality"
_COLUMNS = {
    "row": None,
    "id": "Sample",
    "label": "Class",
    "predicted": "Predicted",
    "confidence": st.column_config.NumberColumn("Confidence (%)", format="%.1f"),
    "rival": st.column_config.TextColumn("Rival", help="The most probable class other than its own"),
    "distance": st.column_config.NumberColumn("Distance", format="%.3f", help="To its centroid, in the class's unit"),
    "in_centroid": st.column_config.CheckboxColumn("Near centroid"),
    "in_boundary": st.column_config.CheckboxColumn("At boundary"),
}


def in_numbers(looked: Looked) -> None:
    """Every test sample with the regions that it lies in."""
    table = results.samples(looked)
    shown = table.assign(confidence=100 * table["confidence"])
    lazy = len(table) > LAZY_ROWS
    st.dataframe(shown, column_config=_COLUMNS, hide_index=True, lazy=lazy, height=320, alt="Test samples and regions")


def offer(looked: Looked, quality: TestQuality) -> None:
    """All tables, as files; what rests on thresholds is worked out when it is asked for."""
    take_away.offer(
        {
            "Samples": lambda: results.samples(looked),
            "Classes": quality.table,
            "Error rates": quality.missed.table,
            "Error rates of pairs": quality.missed.pairs_table,
            "Spreads": quality.spreads_table,
            "Pairs": quality.pairs.table,
            "Findings": lambda: findings_table(quality),
            "Curves": lambda: pd.concat([curve.table() for curve in work.curves(looked)], ignore_index=True),
        },
        stem=STEM,
    )


def foot(looked: Looked, quality: TestQuality, model: StoredModel) -> None:
    """What the result rests on: samples and layer in grey; thresholds, fingerprints and versions where asked for."""
    regions = quality.regions
    radius = "training median of each class" if looked.choice.r is None else f"{looked.choice.r:g}"
    parts = f"{count(quality.n_train)} training and {plural(quality.n_test, 'test sample')}"
    details = (
        ("Data", looked.dataset.fingerprint),
        ("Model", model.fingerprint),
        ("Layer", looked.parts.layer),
        ("theta1", f"{regions.theta1:.4g}"),
        ("theta2", f"{regions.theta2:g}"),
        ("r", radius),
        ("Unit of distance", looked.choice.unit),
        ("Versions", page.versions()),
    )
    page.rests_on((parts, f"layer {looked.parts.layer}"), details, key="quality")
