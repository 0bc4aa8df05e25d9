"""Where is a stored data set? One object for each owner, so that what core keeps by object is computed once, too."""

from touchstone.core.data import Dataset
from touchstone.ui import cache
from touchstone.ui.shell.session import owner, workspace


@cache.result(max_entries=4)
def dataset_of(fingerprint: str) -> Dataset:
    """The owner's stored data set of this fingerprint. Raises WorkspaceError where there is none."""
    return workspace().dataset(owner(), fingerprint)
