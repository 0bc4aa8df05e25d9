"""What do runs of average-case robustness tell?"""

import streamlit as st

from core.evaluate.average_case.robustness import Robustness, evaluate_robustness
from core.workspace.run import Run
from ui.cache.common import owned_dataset
from ui.shell.session import owner, workspace


def robustness(run: Run) -> Robustness:
    """All that the finished trials of a run of average-case robustness tell."""
    return _robustness(owner(), run.id, run.n_done, run.fingerprint)


@st.cache_resource(max_entries=8, show_spinner=False)
def _robustness(owner_name: str, run_id: str, n_done: int, fingerprint: str) -> Robustness:
    names = owned_dataset(owner_name, fingerprint).class_names
    return evaluate_robustness(workspace().rows(owner_name, run_id), class_names=names)
