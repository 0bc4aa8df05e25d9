"""What is in files of predictions, uploaded or stored?"""

import streamlit as st

from core.data import PredictionTable
from core.data.identity import key
from core.data.predictions.files import read_prediction_table
from core.data.predictions.pairs import PredictionPairs, choices_of, pair_predictions
from core.data.predictions.upload import GivenFile, PredictionUpload
from core.data.tables import Table
from ui.matched_subsets.plan import TwoSets
from ui.shell.session import owner, workspace


def columns_of(file: GivenFile) -> Table:
    """The columns of a file of predictions, whatever they mean."""
    return _columns_of(PredictionUpload(GivenFile(file.name, file.content)).fingerprint, file)


@st.cache_resource(max_entries=4, show_spinner=False)
def _columns_of(fingerprint: str, _file: GivenFile) -> Table:
    return read_prediction_table(_file.open())


def uploaded(upload: PredictionUpload) -> PredictionTable:
    """What an upload says that is not stored yet; DataError or RolesNeeded as reading raises them."""
    return _uploaded(upload.fingerprint, upload)


@st.cache_resource(max_entries=8, show_spinner=False)
def _uploaded(fingerprint: str, _upload: PredictionUpload) -> PredictionTable:
    return _upload.read()


def prediction_table(fingerprint: str) -> PredictionTable:
    """Stored predictions; one object per process and fingerprint."""
    return owned_prediction_table(owner(), fingerprint)


@st.cache_resource(max_entries=8, show_spinner=False)
def owned_prediction_table(owner_name: str, fingerprint: str) -> PredictionTable:
    """Stored predictions of this owner."""
    return workspace().predictions(owner_name, fingerprint).read()


def prediction_choices(fingerprint: str) -> dict[str, tuple[str, ...]]:
    """The sets, folds, sources and trials of stored predictions, where there are several."""
    return _prediction_choices(owner(), fingerprint)


@st.cache_resource(max_entries=16, show_spinner=False)
def _prediction_choices(owner_name: str, fingerprint: str) -> dict[str, tuple[str, ...]]:
    return choices_of(owned_prediction_table(owner_name, fingerprint))


def prediction_pairs(sets: TwoSets) -> PredictionPairs:
    """The predictions of every model on the two sets."""
    return _prediction_pairs(owner(), key(sets), sets)


@st.cache_resource(max_entries=8, show_spinner=False)
def _prediction_pairs(owner_name: str, name: str, _sets: TwoSets) -> PredictionPairs:
    reference, target = (owned_prediction_table(owner_name, each) for each in (_sets.reference, _sets.target))
    parts = {"reference_part": _sets.reference_part, "target_part": _sets.target_part}
    return pair_predictions(reference, target, **parts, task=_sets.task)
