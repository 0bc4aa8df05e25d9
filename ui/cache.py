"""What need not be read or computed twice? Every cache of the app is here, and each entry is named by strings alone.

Streamlit hashes large arrays by a sample and forgets the class of a nested dataclass, so no array and no dataclass is
ever an argument: fingerprints, run ids and counts name the big object, which the function fetches for itself.
"""

import streamlit as st

from core.data import Dataset
from core.data.home import home
from ui.session import owner, workspace


def dataset(fingerprint: str) -> Dataset:
    """A stored data set; one object per process, so that what depends on it is computed once, too."""
    return _dataset(str(home()), owner(), fingerprint)


@st.cache_resource(max_entries=4, show_spinner=False)
def _dataset(home_folder: str, owner_name: str, fingerprint: str) -> Dataset:
    return workspace().dataset(owner_name, fingerprint)
