"""How much one owner may keep is limited; what it says, and that others and what is kept already go on."""

import numpy as np
import pandas as pd
import pytest

from tests.workspace.plans import SleepPlan
from tests.workspace.test_owners import OTHER, OWNER, UPLOAD
from touchstone.core.data import Dataset
from touchstone.core.workspace import Workspace, WorkspaceError, frames

RNG = np.random.default_rng(5)


def large(name: str) -> Dataset:
    """A data set of some 440 KiB that no compression makes smaller."""
    x = np.random.default_rng(len(name)).random((100, 420))
    return Dataset(name=name, kind="tabular", x=x, y=np.arange(100) % 2, class_names=("a", "b"), ids=None)


@pytest.fixture(autouse=True)
def one_mebibyte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_MOST_STORED", "1")


def test_what_is_too_much_is_refused_and_what_was_kept_stays(workspace: Workspace):
    first, second = (workspace.add_dataset(OWNER, large(name)) for name in ("first", "second one"))
    with pytest.raises(WorkspaceError, match=r"Your storage is full: you keep \d+\.\d KiB of at most 1\.0 MiB"):
        workspace.add_dataset(OWNER, large("the third one"))
    assert {stored.fingerprint for stored in workspace.datasets(OWNER)} == {first, second}
    assert len(list(workspace._store.blobs.stored())) == 2
    assert workspace.add_dataset(OWNER, large("first")) == first, "what is there already takes no more room"
    workspace.add_predictions(OWNER, UPLOAD)
    workspace.add_dataset(OTHER, large("the third one"))
    workspace.delete_dataset(OWNER, first)
    workspace.add_dataset(OWNER, large("the third one"))


def test_the_rows_of_runs_count_and_models_too(workspace: Workspace, monkeypatch: pytest.MonkeyPatch):
    fingerprint = workspace.add_dataset(OWNER, large("first"))
    run = workspace.create_run(OWNER, SleepPlan(n=2), fingerprint)
    assert workspace.acquire(OWNER, run.id, "a process")
    rows = frames.to_bytes(pd.DataFrame({"trial": 0, "number": RNG.random(60_000)}))
    workspace.store_trials(OWNER, run.id, {0: rows})
    with workspace._store.session() as session:
        kept = workspace._store.n_bytes(session, OWNER)
        assert workspace._store.n_bytes(session, OTHER) == 0
    assert kept > len(rows) + 400 * 1024
    with pytest.raises(WorkspaceError, match="Your storage is full"):
        workspace.add_model(OWNER, b"x" * 400_000, dataset_fingerprint=fingerprint, name="m", file_name="m.onnx")
    workspace.store_trials(OWNER, run.id, {1: rows})  # a run that was begun may end
    with pytest.raises(WorkspaceError, match="Your storage is full"):
        workspace.create_run(OWNER, SleepPlan(n=3), fingerprint)
    monkeypatch.setenv("TOUCHSTONE_MOST_STORED", "100")
    workspace.create_run(OWNER, SleepPlan(n=3), fingerprint)
