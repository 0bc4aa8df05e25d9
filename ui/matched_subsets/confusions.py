"""How does a page show what classes are predicted as? Both matrices; a click on a cell, or two lists, list its samples.

What is chosen stands in the address, so that a link shows the same samples, and every table of samples follows.
"""

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from touchstone.core.data.predictions.record import Predictions
from touchstone.core.evaluate.metric_estimates import MetricsOnSets
from touchstone.core.evaluate.wording import count, plural, quoted
from touchstone.core.report import matched_subsets as report
from touchstone.core.report.parts import Beside, Figure, Table
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.shell import answer, charts, page

TRUTH, PREDICTED = "true_class", "predicted_as"
"""The parameters of the address that name a cell."""
_CHOSEN = "cell_chosen"
FEW, NARROW, WIDE = 4, 280, 420
"""Matrices of more classes than a few stand one below the other where there is less room (in pixels)."""


def show(metrics: MetricsOnSets, reference: Predictions, target: Predictions) -> tuple[str, str] | None:
    """Every metric, both matrices (of many classes the largest confusions), and the samples of one cell.

    Returns the class and what it was predicted as where somebody chose them, by a click or in the lists.
    """
    for part in report.by_metric(metrics):
        if isinstance(part, Table) and part.title == report.CONFUSIONS:
            clickable = replace(part, caption=f"{part.caption} Click a line to list its samples.")
            answer.table(clickable, key="confusions", on_line=lambda line: _choose_line(metrics, line))
        elif isinstance(part, Beside):
            with st.grid(len(part.parts), min_column_width=NARROW if len(metrics.class_names) <= FEW else WIDE):
                for figure in part.parts:
                    with st.container():
                        _matrix(figure)
        else:
            answer.part(part)
    names = {name: name for name in metrics.class_names}
    usual = metrics.mistakes[0] if metrics.mistakes else metrics.confusions[0]
    controls = [
        One(TRUTH, "Samples of class", names, usual.truth),
        One(PREDICTED, "predicted as", names, usual.predicted),
    ]
    check_address(controls)
    if {TRUTH, PREDICTED} & {*st.query_params}:
        st.session_state[_CHOSEN] = True
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        truth, predicted = (control.draw() for control in controls)
    answer.part(report.samples_of_cell(reference, target, truth, predicted))
    is_usual = (truth, predicted) == (usual.truth, usual.predicted)
    return None if is_usual and _CHOSEN not in st.session_state else (truth, predicted)


def show_samples(table: pd.DataFrame, cell: tuple[str, str] | None) -> None:
    """Every sample with its subset, or those of a cell that somebody chose."""
    if cell is not None:
        n, (truth, predicted) = len(table), cell
        table = table.loc[(table["truth"] == truth) & (table["predicted"] == predicted)]
        with st.container(horizontal=True, vertical_alignment="center"):
            words = f"{plural(len(table), 'sample')} of {count(n)}: {quoted(truth)} predicted as {quoted(predicted)}"
            st.markdown(page.plain(words), width="stretch")
            st.button("Show all", key="forget-cell", type="tertiary", icon=":material/close:", on_click=_forget)
    answer.part(report.samples(table))


def _matrix(figure: Figure) -> None:
    """A matrix whose cells can be clicked."""
    drawn = charts.drawn(figure.draw, dark=page.dark())
    st.plotly_chart(
        drawn,
        theme=None,
        key=figure.key,
        alt=drawn.alt,
        config=page.saving(figure.key),
        on_select=lambda: _choose_clicked(st.session_state[figure.key]),
        selection_mode="points",
    )
    st.caption(page.plain(f"{figure.caption} Click a cell to list its samples."))


def _choose_clicked(event: Any) -> None:
    """Remember the cell that was just clicked; nothing selected is no news."""
    for point in event["selection"]["points"]:
        if "customdata" in point:
            _choose(*point["customdata"][:2])


def _choose_line(metrics: MetricsOnSets, line: int) -> None:
    _choose(metrics.mistakes[line].truth, metrics.mistakes[line].predicted)


def _choose(truth: str, predicted: str) -> None:
    st.session_state[TRUTH], st.session_state[PREDICTED], st.session_state[_CHOSEN] = truth, predicted, True


def _forget() -> None:
    st.session_state.pop(_CHOSEN, None)
    for key in (TRUTH, PREDICTED):
        st.session_state.pop(key, None)
        st.query_params.pop(key, None)
