"""How does a page show what another threshold would cost? Both curves, a slider, and numbers of samples."""

from math import isnan

import streamlit as st

from touchstone.core.evaluate.thresholds import Decisions
from touchstone.core.report import matched_subsets as report
from touchstone.ui.forms.controls import Slider, check_address
from touchstone.ui.shell import answer, page

THRESHOLD = "threshold"
"""The parameter of the address that is a threshold."""


def show(decisions: Decisions) -> None:
    """The curves, and the cost of the threshold that is chosen; at first that by which the new set was predicted."""
    own = decisions.target.threshold
    control = Slider(
        THRESHOLD,
        "Threshold",
        0.0,
        1.0,
        0.5 if isnan(own) else round(own, 2),
        0.01,
        f"A sample is called “{page.plain(decisions.positive)}” where its probability is at least this.",
    )
    check_address([control])
    chosen = control.draw()
    st.markdown(page.plain(report.cost_of(decisions, chosen)))
    answer.parts(report.by_threshold(decisions, chosen))
