"""What do runs tell of more samples and new sources?"""

import pandas as pd
import streamlit as st

from core.evaluate.data_set_adequacy.adequacy import adequacy_of
from core.evaluate.data_set_adequacy.results import Adequacy
from core.workspace.run import Run
from ui.cache.common import owned_dataset
from ui.shell.session import owner, workspace


def adequacy(run: Run) -> Adequacy:
    """All that the finished trials of a run tell of the size of the training set; by class once it has ended."""
    return _adequacy(owner(), run.id, run.n_done, run.fingerprint, run.state != "running")


@st.cache_resource(max_entries=16, show_spinner=False)
def _adequacy(owner_name: str, run_id: str, n_done: int, fingerprint: str, by_class: bool) -> Adequacy:
    data = owned_dataset(owner_name, fingerprint)
    n_per_class = dict(zip(data.class_names, data.n_per_class.tolist(), strict=True))
    return adequacy_of(workspace().rows(owner_name, run_id), n_per_class=n_per_class, by_class=by_class)


def adequacy_trials(run: Run) -> pd.DataFrame:
    """The rows of a run's trials."""
    return workspace().rows(owner(), run.id)
