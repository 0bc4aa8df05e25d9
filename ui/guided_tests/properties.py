"""Does the model behave like a well-trained classifier? The three properties, and what breaks one, with its samples."""

import numpy as np
import pandas as pd
import streamlit as st

from touchstone.core.evaluate.guided_tests.generate import Properties
from touchstone.core.evaluate.test_quality.quality import Looked
from touchstone.core.report import guided_tests as report
from touchstone.ui.data import samples
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.shell import answer

MOST_PICTURES = 12


def properties(tested: Properties, looked: Looked) -> dict[str, list[str]]:
    """The three properties of section 4.1, and the violations of one of them with their samples."""
    table = report.property_table(tested)
    st.table(table.lines.set_index("Property"), alt=table.title)
    st.caption(table.caption)
    rules = {rule.name: rule for rule in tested.each}
    worst = max(rules.values(), key=lambda rule: (rule.n_violated > 0, rule.name == "true class first")).name
    control = One("violations", "Violations of", {name: name for name in rules}, worst)
    check_address([control])
    chosen = control.draw()
    rule = rules[chosen]
    if not rule.n_violated:
        st.caption("None.")
    else:
        answer.part(report.violations_table(rule))
        if rule.name != "between centroids":
            _pictures(rule.violations.head(MOST_PICTURES), looked)
    return {control.key: control.written(chosen)}


def _pictures(worst: pd.DataFrame, looked: Looked) -> None:
    """The worst violations as they are."""
    where = {sample_id: row for row, sample_id in enumerate(looked.parts.test.ids)}
    rows = looked.parts.test_rows[np.array([where[sample_id] for sample_id in worst["id"]])]
    data = looked.dataset
    if data.kind == "image":
        captions = [f"{label}, not {other}" for label, other in zip(worst["label"], worst["other"], strict=True)]
        samples.pictures([data.x[row] for row in rows], captions)
    elif data.kind == "text":
        samples.show(data, list(rows[:3]))
    else:
        st.dataframe(samples.table(data, rows), hide_index=True, alt="The worst violations with their columns")
