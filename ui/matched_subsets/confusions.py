"""How does a page show what classes are predicted as? Both matrices; a click on a cell, or two lists, list its samples.

What is chosen stands in the address, so that a link shows the same samples.
"""

from typing import Any

import streamlit as st

from touchstone.core.data.predictions.record import Predictions
from touchstone.core.evaluate.metric_estimates import MetricsOnSets
from touchstone.core.report import matched_subsets as report
from touchstone.core.report.parts import Beside, Figure
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.shell import answer, charts, page

TRUTH, PREDICTED = "true_class", "predicted_as"
"""The parameters of the address that name a cell."""
FEW, NARROW, WIDE = 4, 280, 420
"""Matrices of more classes than a few stand one below the other where there is less room (in pixels)."""


def show(found: MetricsOnSets, reference: Predictions, target: Predictions) -> None:
    """Every metric, both matrices (of many classes the largest confusions), and the samples of one cell."""
    for part in report.by_metric(found):
        if isinstance(part, Beside):
            with st.grid(len(part.parts), min_column_width=NARROW if len(found.class_names) <= FEW else WIDE):
                for figure in part.parts:
                    with st.container():
                        _matrix(figure)
        else:
            answer.part(part)
    names = {name: name for name in found.class_names}
    usual = found.mistakes[0] if found.mistakes else found.confusions[0]
    controls = [
        One(TRUTH, "Samples of class", names, usual.truth),
        One(PREDICTED, "predicted as", names, usual.predicted),
    ]
    check_address(controls)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        truth, predicted = (control.draw() for control in controls)
    answer.part(report.samples_of_cell(reference, target, truth, predicted))


def _matrix(figure: Figure) -> None:
    """A matrix whose cells can be clicked."""
    drawn = charts.drawn(figure.draw, dark=page.dark())
    st.plotly_chart(
        drawn,
        theme=None,
        key=figure.key,
        alt=drawn.alt,
        config=page.saving(figure.key),
        on_select=lambda: _choose(st.session_state[figure.key]),
        selection_mode="points",
    )
    st.caption(page.plain(f"{figure.caption} Click a cell to list its samples."))


def _choose(event: Any) -> None:
    """Remember the cell that was just clicked; nothing selected is no news."""
    for point in event["selection"]["points"]:
        if "customdata" in point:
            st.session_state[TRUTH], st.session_state[PREDICTED] = point["customdata"][:2]
