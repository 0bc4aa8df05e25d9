"""Whatever is asked of the workspace with another owner's ids is as good as absent: every public call is walked."""

import inspect
from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.workspace.plans import SleepPlan
from touchstone.core.data import Dataset
from touchstone.core.data.predictions.upload import GivenFile, PredictionUpload
from touchstone.core.models.model_file import ModelFile
from touchstone.core.workspace import View, Workspace, WorkspaceError, frames
from touchstone.core.workspace.access import link_id
from touchstone.core.workspace.records import Steps
from touchstone.core.workspace.schema import Base

OWNER, OTHER = "oidc:somebody", "oidc:somebody else"
NOT_ABOUT_OBJECTS = {"close"}
"""Public, and about no object of anybody."""
KEEPS = {
    "add_dataset",
    "add_predictions",
    "add_model",
    "keep_model",
    "follow_sign_in",
    "sign_out",
    "remember_comparison",
}
"""What these are given is content, not an id: whoever brings it keeps it for themselves."""
ABSENT = "refused, as what is not there"
NOTHING = (None, False, [], "lost", ABSENT)
"""What a call may say of what is not there."""
UPLOAD = PredictionUpload(GivenFile("said.tsv", b"id\tanswer\tgold\n1\tcat\tcat\n2\tcat\tdog\n"))
NEW = PredictionUpload(GivenFile("new.tsv", b"id\tanswer\tgold\n1\tdog\tcat\n2\tdog\tdog\n"))
FILES = (UPLOAD.fingerprint, NEW.fingerprint)
COMPARISON = View("matched_subsets", {"epsilon": ["0.005"]}, "said.tsv against new.tsv", predictions=FILES)
PLAN = SleepPlan(n=3)


@pytest.fixture(params=["a run", "a comparison", "a view of all kinds of things"])
def link_to(request, given, workspace: Workspace) -> dict[str, object]:
    """The same, where a link shows the one or the other."""
    if request.param == "a run":
        return given
    workspace.add_predictions(OWNER, NEW)
    view = COMPARISON
    if request.param != "a comparison":
        model = workspace.models(OWNER)[0].fingerprint
        data = given["dataset_fingerprint"]
        view = replace(view, page="test_quality", datasets=(data,), models=(model,), runs=(given["run_id"],))
    return given | {"shown": view, "link": link_id(workspace.create_link(OWNER, view))}


@pytest.fixture
def given(workspace: Workspace, wine: Dataset) -> dict[str, object]:
    """What the first owner has, by the name that calls have for it."""
    model = ModelFile(b"bytes", "m.onnx", wine.fingerprint).to_bytes()
    workspace.add_dataset(OWNER, wine)
    workspace.add_predictions(OWNER, UPLOAD)
    workspace.keep_model(OWNER, model, name="a model")
    run = workspace.create_run(OWNER, PLAN, wine.fingerprint)
    assert workspace.acquire(OWNER, run.id, "a process")
    workspace.store_trials(OWNER, run.id, {0: frames.to_bytes(pd.DataFrame({"trial": [0]}))})
    workspace.record_steps(OWNER, run.id, "a process", {1: Steps(1, 2, "epoch")})
    workspace.remember_comparison(OWNER, "matched_subsets", "reference=f1&target=f2", "It falls.")
    workspace.sign_out(OWNER, "a hash")
    workspace.follow_sign_in(OWNER, "another hash", browser="Firefox on Linux")
    return {
        "link": link_id(workspace.create_link(OWNER, run.id)),
        "dataset": wine,
        "upload": UPLOAD,
        "stored": model,
        "content": frames.to_bytes(pd.DataFrame({"trial": [7]})),
        "contents": {1: frames.to_bytes(pd.DataFrame({"trial": [7]}))},
        "name": "a model",
        "file_name": "m.onnx",
        "dataset_fingerprint": wine.fingerprint,
        "plan": PLAN,
        "run_id": run.id,
        "shown": run.id,
        "lease_owner": "a process",
        "sign_in": "a hash",
        "browser": "Firefox on Linux",
        "state": "done",
        "trial": 2,
        "steps": {2: Steps(1, 2, "epoch")},
        "since": 1.8e9,
        "n_done": 1.0,
        "question": "matched_subsets",
        "address": "reference=f1&target=f2",
        "says": "It rises.",
        "provenance": {"versions": {}},
    }


def calls() -> list[str]:
    """The names of all public calls of a workspace."""
    public = inspect.getmembers(Workspace, inspect.isfunction)
    return [name for name, _ in public if not name.startswith("_") and name not in NOT_ABOUT_OBJECTS]


def fingerprint_of(name: str, workspace: Workspace, wine: Dataset) -> str:
    """What a call means by a fingerprint: that of predictions, of a model, or else of a data set."""
    if "predictions" in name:
        return UPLOAD.fingerprint
    return workspace.models(OWNER)[0].fingerprint if "model" in name else wine.fingerprint


@pytest.mark.parametrize("name", calls())
def test_every_call_takes_the_owner_first(name: str):
    first = list(inspect.signature(getattr(Workspace, name)).parameters)[1]
    assert first == "owner", f"{name} does not say whose object it is about"


@pytest.mark.parametrize("name", calls())
def test_another_owners_ids_are_as_good_as_absent(name: str, workspace: Workspace, wine: Dataset, given):
    walk_as_another(name, workspace, wine, given)


ABOUT_LINKS = [name for name in calls() if "link" in name]


@pytest.mark.parametrize("name", ABOUT_LINKS)
def test_what_links_show_is_its_owners_to_show(name: str, workspace: Workspace, wine: Dataset, link_to):
    assert set(ABOUT_LINKS) == {"create_link", "links", "revoke_link"}
    walk_as_another(name, workspace, wine, link_to)
    before = everything(workspace)
    assert asked(getattr(workspace, name), OWNER, link_to) not in NOTHING or everything(workspace) != before


def walk_as_another(name: str, workspace: Workspace, wine: Dataset, given: dict[str, object]) -> None:
    given["fingerprint"] = fingerprint_of(name, workspace, wine)
    before = everything(workspace)
    answer = asked(getattr(workspace, name), OTHER, given)
    kept = {table: rows for table, rows in everything(workspace).items() if rows != before[table]}
    if name in KEEPS:
        [rows] = kept.values()
        assert {row["owner"] for row in rows} == {OWNER, OTHER}
        assert [row for row in rows if row["owner"] == OWNER] == next(before[table] for table in kept)
    else:
        assert kept == {}, f"{name} changed what belongs to somebody else"
        assert answer in NOTHING, f"{name} tells of what belongs to somebody else"


@pytest.mark.parametrize("name", sorted(set(calls()) - KEEPS))
def test_the_owner_is_answered(name: str, workspace: Workspace, wine: Dataset, given):
    """The same calls by the owner find something or change something: else the walk above would prove nothing."""
    given["fingerprint"] = fingerprint_of(name, workspace, wine)
    before = everything(workspace)
    answer = asked(getattr(workspace, name), OWNER, given)
    told = isinstance(answer, (pd.DataFrame, Dataset, PredictionUpload)) or answer not in NOTHING
    assert told or everything(workspace) != before


def asked(call: Callable, owner: str, given: dict[str, object]) -> object:
    """The answer to a call with what it needs, everything else left as it is; ABSENT where it says that it is."""
    needs = inspect.signature(call).parameters.values()
    missing = [one.name for one in needs if one.default is one.empty and one.name not in {"owner", *given}]
    assert not missing, f"say above what {missing} may be, so that {call.__name__} is walked, too"
    named = {one.name: given[one.name] for one in needs if one.default is one.empty and one.name != "owner"}
    try:
        return call(owner, **named)
    except WorkspaceError as refused:
        return ABSENT if "not in your workspace" in str(refused) else str(refused)


def everything(workspace: Workspace) -> dict[str, list[dict[str, object]]]:
    """Every row of every table."""
    with Session(workspace._store.database) as session:
        return {
            table.name: [dict(row) for row in session.execute(select(table)).mappings()]
            for table in Base.metadata.sorted_tables
        }
