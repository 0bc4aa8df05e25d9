"""What is stored comes back as it was, only to its owner, and damage is told."""

from dataclasses import replace

import pandas as pd
import pytest

from tests.workspace.plans import SleepPlan
from touchstone.core.data import DataError, Roles
from touchstone.core.data.predictions.upload import GivenFile, PredictionUpload
from touchstone.core.trials import TrialPlan
from touchstone.core.workspace import LOCAL_OWNER, Workspace, WorkspaceError, frames

UPLOAD = PredictionUpload(
    GivenFile("said.tsv", b"id\tanswer\n1\tcat\n2\tcat\n", Roles(id="id", predicted="answer")),
    GivenFile("truth.tsv", b"id\tgold\n2\tdog\n1\tcat\n"),
)


def test_a_data_set_comes_back_equal(workspace, wine):
    fingerprint = workspace.add_dataset(LOCAL_OWNER, wine, example="wine")
    again = workspace.dataset(LOCAL_OWNER, fingerprint)
    assert again.fingerprint == fingerprint == wine.fingerprint
    assert (again.x == wine.x).all()
    [stored] = workspace.datasets(LOCAL_OWNER)
    assert (stored.name, stored.n_samples, stored.example) == (wine.name, wine.n_samples, "wine")


def test_a_run_is_called_what_its_owner_calls_it(workspace, wine):
    run = workspace.create_run(LOCAL_OWNER, TrialPlan(), workspace.add_dataset(LOCAL_OWNER, wine))
    assert run.name == ""
    for given, name in (("  before the\n new labels ", "before the new labels"), ("after", "after"), (" ", "")):
        workspace.name_run(LOCAL_OWNER, run.id, given)
        assert [each.name for each in workspace.runs(LOCAL_OWNER)] == [name]
    with pytest.raises(WorkspaceError, match=r"at most 80 letters, not 81\. Shorten it\."):
        workspace.name_run(LOCAL_OWNER, run.id, "x" * 81)
    workspace.name_run(LOCAL_OWNER, run.id, "gone with it")
    workspace.delete_run(LOCAL_OWNER, run.id)
    again = workspace.create_run(LOCAL_OWNER, TrialPlan(), wine.fingerprint)
    assert again.name == ""


def test_adding_twice_keeps_one(workspace, wine):
    workspace.add_dataset(LOCAL_OWNER, wine)
    workspace.add_dataset(LOCAL_OWNER, wine)
    assert len(workspace.datasets(LOCAL_OWNER)) == 1


def test_an_upload_that_is_an_example_becomes_known_as_it(workspace, wine):
    for example in (None, "wine", None):
        workspace.add_dataset(LOCAL_OWNER, wine, example=example)
    [stored] = workspace.datasets(LOCAL_OWNER)
    assert stored.example == "wine"


def test_a_run_is_found_by_plan_and_data(workspace, wine):
    fingerprint = workspace.add_dataset(LOCAL_OWNER, wine)
    plan = TrialPlan(models=("svm",), n_repeats=4)
    assert workspace.find_run(LOCAL_OWNER, plan, fingerprint) is None
    run = workspace.create_run(LOCAL_OWNER, plan, fingerprint)
    assert workspace.create_run(LOCAL_OWNER, plan, fingerprint).id == run.id
    assert workspace.find_run(LOCAL_OWNER, TrialPlan(models=("svm",), n_repeats=4), fingerprint).id == run.id
    assert workspace.find_run(LOCAL_OWNER, TrialPlan(models=("svm",), n_repeats=5), fingerprint) is None
    assert (run.state, run.n_trials, run.n_done) == ("queued", 16, 0)
    assert workspace.rows(LOCAL_OWNER, run.id).empty


def test_a_plan_that_does_not_fit_the_data_makes_no_run(workspace, wine):
    fingerprint = workspace.add_dataset(LOCAL_OWNER, wine)
    with pytest.raises(DataError, match="does not name the source"):
        workspace.create_run(LOCAL_OWNER, TrialPlan(source_finders=("known",)), fingerprint)
    assert workspace.runs(LOCAL_OWNER) == []


def test_what_belongs_to_somebody_else_is_as_good_as_absent(workspace, wine):
    fingerprint = workspace.add_dataset(LOCAL_OWNER, wine)
    plan = SleepPlan()
    run = workspace.create_run(LOCAL_OWNER, plan, fingerprint)
    other = "somebody else"
    assert workspace.datasets(other) == []
    assert workspace.runs(other) == []
    assert workspace.find_run(other, plan, fingerprint) is None
    for call in (
        lambda: workspace.dataset(other, fingerprint),
        lambda: workspace.dataset_bytes(other, fingerprint),
        lambda: workspace.stored_dataset(other, fingerprint),
        lambda: workspace.delete_dataset(other, fingerprint),
        lambda: workspace.create_run(other, plan, fingerprint),
        lambda: workspace.run(other, run.id),
        lambda: workspace.rows(other, run.id),
        lambda: workspace.cancel(other, run.id),
        lambda: workspace.delete_run(other, run.id),
        lambda: workspace.acquire(other, run.id, "me"),
    ):
        with pytest.raises(WorkspaceError, match="not in your workspace"):
            call()
    assert workspace.run(LOCAL_OWNER, run.id).state == "queued"


def test_two_owners_of_the_same_bytes_do_not_lose_them_together(workspace, wine):
    fingerprint = workspace.add_dataset("first", wine)
    workspace.add_dataset("second", wine)
    workspace.delete_dataset("first", fingerprint)
    assert workspace.dataset("second", fingerprint).fingerprint == fingerprint
    workspace.delete_dataset("second", fingerprint)
    assert workspace.datasets("second") == []


def test_deleting_a_data_set_deletes_its_runs(workspace, wine):
    fingerprint = workspace.add_dataset(LOCAL_OWNER, wine)
    workspace.create_run(LOCAL_OWNER, SleepPlan(), fingerprint)
    workspace.delete_dataset(LOCAL_OWNER, fingerprint)
    assert workspace.runs(LOCAL_OWNER) == []
    with pytest.raises(WorkspaceError, match="Choose another"):
        workspace.dataset(LOCAL_OWNER, fingerprint)


def test_a_flipped_byte_is_noticed(workspace, wine, tmp_path):
    fingerprint = workspace.add_dataset(LOCAL_OWNER, wine)
    [blob] = [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]
    content = bytearray(blob.read_bytes())
    content[len(content) // 2] ^= 1
    blob.write_bytes(content)
    with pytest.raises(WorkspaceError, match="damaged"):
        workspace.dataset(LOCAL_OWNER, fingerprint)
    blob.unlink()
    with pytest.raises(WorkspaceError, match="missing"):
        workspace.dataset(LOCAL_OWNER, fingerprint)


def test_a_trial_is_stored_exactly_once(workspace, wine):
    run = workspace.create_run(LOCAL_OWNER, SleepPlan(n=3), workspace.add_dataset(LOCAL_OWNER, wine))
    first, second = (frames.to_bytes(pd.DataFrame({"trial": [1], "n": [n]})) for n in (10, 20))
    workspace.store_trials(LOCAL_OWNER, run.id, {1: first})
    workspace.store_trials(LOCAL_OWNER, run.id, {1: second})
    assert workspace.rows(LOCAL_OWNER, run.id)["n"].tolist() == [10]
    assert workspace.missing_trials(LOCAL_OWNER, run.id) == [0, 2]


def test_a_lease_is_held_renewed_lost_and_taken_over(workspace, wine, monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr("touchstone.core.workspace.runs.now", lambda: clock[0])
    run = workspace.create_run(LOCAL_OWNER, SleepPlan(), workspace.add_dataset(LOCAL_OWNER, wine))
    assert workspace.acquire(LOCAL_OWNER, run.id, "first")
    assert not workspace.acquire(LOCAL_OWNER, run.id, "second")
    clock[0] += 10
    assert workspace.renew(LOCAL_OWNER, run.id, "first") == "go on"
    clock[0] += 10
    assert workspace.run(LOCAL_OWNER, run.id).state == "running"
    clock[0] += 10
    assert workspace.run(LOCAL_OWNER, run.id).state == "interrupted"
    assert workspace.acquire(LOCAL_OWNER, run.id, "second")
    assert workspace.renew(LOCAL_OWNER, run.id, "first") == "lost"
    workspace.release(LOCAL_OWNER, run.id, "first", "done")
    assert workspace.run(LOCAL_OWNER, run.id).state == "running"
    workspace.cancel(LOCAL_OWNER, run.id)
    assert workspace.renew(LOCAL_OWNER, run.id, "second") == "cancel"
    workspace.release(LOCAL_OWNER, run.id, "second", "cancelled")
    assert workspace.run(LOCAL_OWNER, run.id).state == "cancelled"


def test_everything_survives_the_process(tmp_path, wine):
    first = Workspace(tmp_path)
    fingerprint = first.add_dataset(LOCAL_OWNER, wine)
    run = first.create_run(LOCAL_OWNER, SleepPlan(), fingerprint)
    first.close()
    second = Workspace(tmp_path)
    assert second.run(LOCAL_OWNER, run.id) == run
    assert second.dataset(LOCAL_OWNER, fingerprint).fingerprint == fingerprint
    second.close()


def test_predictions_come_back_equal_and_once(workspace):
    for _ in range(2):
        fingerprint = workspace.add_predictions(LOCAL_OWNER, UPLOAD, example="pets")
    again = workspace.predictions(LOCAL_OWNER, fingerprint)
    assert again == UPLOAD
    assert again.fingerprint == fingerprint
    assert again.read().select().accuracy == 0.5
    [stored] = workspace.prediction_files(LOCAL_OWNER)
    assert (stored.fingerprint, stored.name, stored.example) == (fingerprint, "said.tsv", "pets")


def test_other_roles_are_other_predictions(workspace):
    other = PredictionUpload(GivenFile("said.tsv", UPLOAD.predictions.content, Roles(predicted="answer")), UPLOAD.truth)
    fingerprints = {workspace.add_predictions(LOCAL_OWNER, one) for one in (UPLOAD, other)}
    assert len(fingerprints) == len(workspace.prediction_files(LOCAL_OWNER)) == 2


def test_predictions_of_somebody_else_are_as_good_as_absent(workspace):
    fingerprint = workspace.add_predictions(LOCAL_OWNER, UPLOAD)
    assert workspace.prediction_files("somebody else") == []
    for call in (workspace.predictions, workspace.delete_predictions):
        with pytest.raises(WorkspaceError, match="not in your workspace"):
            call("somebody else", fingerprint)
    workspace.add_predictions("somebody else", UPLOAD)
    workspace.delete_predictions(LOCAL_OWNER, fingerprint)
    assert workspace.predictions("somebody else", fingerprint) == UPLOAD
    workspace.delete_predictions("somebody else", fingerprint)
    with pytest.raises(WorkspaceError, match="Upload the file again"):
        workspace.predictions("somebody else", fingerprint)


def test_what_was_asked_of_files_is_remembered_once_newest_first_and_goes_with_a_file_or_alone(workspace):
    files = [
        workspace.add_predictions(LOCAL_OWNER, replace(UPLOAD, predictions=replace(UPLOAD.predictions, name=name)))
        for name in ("one.tsv", "two.tsv", "three.tsv")
    ]
    asked = [("matched_subsets", f"reference={files[0]}&target={files[1]}"), ("weak_slices", f"target={files[2]}")]
    times = [workspace.remember_comparison(LOCAL_OWNER, *each, "It falls.") for each in asked]
    assert workspace.remember_comparison(LOCAL_OWNER, *asked[0], "It falls by 2 points.") == times[0], (
        "when it was first"
    )
    workspace.remember_comparison("somebody else", *asked[0], "Theirs.")
    kept = workspace.comparisons(LOCAL_OWNER)
    assert [(each.question, each.address) for each in kept] == asked[::-1]
    assert [each.says for each in kept] == ["It falls.", "It falls by 2 points."]
    workspace.delete_predictions(LOCAL_OWNER, files[1])
    assert [each.question for each in workspace.comparisons(LOCAL_OWNER)] == ["weak_slices"]
    workspace.forget_comparison("somebody else", *asked[1])
    assert len(workspace.comparisons(LOCAL_OWNER)) == 1
    workspace.forget_comparison(LOCAL_OWNER, *asked[1])
    workspace.forget_comparison(LOCAL_OWNER, *asked[1])
    assert workspace.comparisons(LOCAL_OWNER) == []
    assert len(workspace.prediction_files(LOCAL_OWNER)) == 2
    assert len(workspace.comparisons("somebody else")) == 1
