"""Models are kept for their owner, reach the workers, come back from them, and tell how far they are on the way."""

import os
import signal

import pytest

from tests.workspace.conftest import wait_until, wait_while_running, worker_pids
from tests.workspace.plans import SleepPlan
from touchstone.core.data import DataError
from touchstone.core.models import ModelError
from touchstone.core.models.model_file import ModelFile, model_fingerprint
from touchstone.core.trials import Context
from touchstone.core.workspace import LOCAL_OWNER, Workspace, WorkspaceError
from touchstone.core.workspace.engine.runner import Engine
from touchstone.core.workspace.records import Steps


def keep(workspace: Workspace, dataset: str, *, owner: str = LOCAL_OWNER, content: bytes = b"weights") -> str:
    return workspace.add_model(
        owner,
        content,
        dataset_fingerprint=dataset,
        name="LeNet-5 of mine",
        file_name="mine.safetensors",
        architecture="lenet",
        input_range=(0.0, 255.0),
    )


@pytest.fixture
def data(workspace, wine) -> str:
    return workspace.add_dataset(LOCAL_OWNER, wine)


def test_a_model_comes_back_with_all_that_reading_it_takes(workspace, data):
    fingerprint = keep(workspace, data)
    assert keep(workspace, data) == fingerprint
    content = workspace.model_bytes(LOCAL_OWNER, fingerprint)
    assert model_fingerprint(content) == fingerprint
    assert ModelFile.from_bytes(content) == ModelFile(b"weights", "mine.safetensors", data, "lenet", (0.0, 255.0))
    [stored] = workspace.models(LOCAL_OWNER, data)
    assert stored == workspace.stored_model(LOCAL_OWNER, fingerprint)
    assert (stored.fingerprint, stored.dataset_fingerprint) == (fingerprint, data)
    assert (stored.name, stored.architecture, stored.file_name) == ("LeNet-5 of mine", "lenet", "mine.safetensors")
    assert (stored.training_plan, stored.n_test, stored.n_correct) == (None, None, None)


def test_the_same_file_is_another_model_for_another_data_set_or_range(workspace, data):
    given = {"name": "a", "file_name": "a.onnx"}
    fingerprints = {
        workspace.add_model(LOCAL_OWNER, b"one", dataset_fingerprint=data, **given),
        workspace.add_model(LOCAL_OWNER, b"one", dataset_fingerprint="another", **given),
        workspace.add_model(LOCAL_OWNER, b"one", dataset_fingerprint=data, input_range=(-1.0, 1.0), **given),
    }
    assert len(fingerprints) == 3
    assert len(workspace.models(LOCAL_OWNER)) == 3
    assert {one.dataset_fingerprint for one in workspace.models(LOCAL_OWNER, data)} == {data}
    assert len(workspace.models(LOCAL_OWNER, data)) == 2


def test_bytes_that_are_no_stored_model_are_refused():
    whole = ModelFile(b"content\nwith lines", "a.onnx", "f1").to_bytes()
    assert ModelFile.from_bytes(whole).content == b"content\nwith lines"
    for content in (b"", b"touchstone model 1 ", b"touchstone model 1 {}\n", b"another " + whole, whole[:30]):
        with pytest.raises(ModelError, match="no stored model"):
            ModelFile.from_bytes(content)


def test_a_model_of_somebody_else_is_as_good_as_absent(workspace, data):
    fingerprint = keep(workspace, data)
    assert workspace.models("somebody else") == []
    for call in (workspace.stored_model, workspace.model_bytes, workspace.delete_model):
        with pytest.raises(WorkspaceError, match="not in your workspace"):
            call("somebody else", fingerprint)
    keep(workspace, data, owner="somebody else")
    workspace.delete_model(LOCAL_OWNER, fingerprint)
    assert workspace.model_bytes("somebody else", fingerprint).endswith(b"weights")


def test_a_run_needs_the_models_that_its_plan_names(workspace, data):
    fingerprint = keep(workspace, data, owner="somebody else")
    with pytest.raises(WorkspaceError, match=f"The model {fingerprint[:12]} is not in your workspace"):
        workspace.create_run(LOCAL_OWNER, SleepPlan(model=fingerprint), data)
    assert workspace.runs(LOCAL_OWNER) == []
    keep(workspace, data)
    assert workspace.create_run(LOCAL_OWNER, SleepPlan(model=fingerprint), data).state == "queued"


def test_deleting_a_data_set_deletes_its_models(workspace, data):
    keep(workspace, data)
    other = workspace.add_model(LOCAL_OWNER, b"x", dataset_fingerprint="another", name="x", file_name="x.onnx")
    workspace.delete_dataset(LOCAL_OWNER, data)
    assert [one.fingerprint for one in workspace.models(LOCAL_OWNER)] == [other]


def test_workers_read_the_stored_model(workspace, data, run_plan):
    run = run_plan(SleepPlan(n=5, model=keep(workspace, data)))
    assert (run.state, run.n_failed) == ("done", 0)
    rows = workspace.rows(LOCAL_OWNER, run.id)
    assert all(said.startswith("touchstone model 1 ") and said.endswith("weights") for said in rows["model"])


def test_the_model_goes_to_workers_again_when_all_have_died(workspace, executor, data):
    made = workspace.create_run(LOCAL_OWNER, SleepPlan(n=8, seconds=0.3, model=keep(workspace, data)), data)
    pids = worker_pids(executor)
    assert Engine(workspace, executor).start(LOCAL_OWNER, made.id)
    wait_until(lambda: workspace.run(LOCAL_OWNER, made.id).n_done, lambda n: n >= 2)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    run = wait_while_running(workspace, made.id)
    assert (run.state, run.n_done, run.n_failed) == ("done", 8, 0)


def test_a_deleted_model_stops_its_run_with_a_sentence_and_leaves_finished_ones(workspace, executor, data, run_plan):
    fingerprint = keep(workspace, data)
    done = run_plan(SleepPlan(n=2, model=fingerprint))
    made = workspace.create_run(LOCAL_OWNER, SleepPlan(n=3, model=fingerprint), data)
    workspace.delete_model(LOCAL_OWNER, fingerprint)
    assert Engine(workspace, executor).start(LOCAL_OWNER, made.id)
    run = wait_while_running(workspace, made.id)
    assert (run.state, run.n_done) == ("interrupted", 0)
    assert f"The model {fingerprint[:12]} is not in your workspace" in run.errors[0]
    assert len(workspace.rows(LOCAL_OWNER, done.id)) == 2
    assert workspace.create_run(LOCAL_OWNER, SleepPlan(n=2, model=fingerprint), data).id == done.id


def test_a_model_that_a_trial_made_is_kept_once_under_the_name_in_its_rows(workspace, data, run_plan):
    run = run_plan(SleepPlan(n=3, keeping="a small one"))
    [stored] = workspace.models(LOCAL_OWNER, data)
    assert set(workspace.rows(LOCAL_OWNER, run.id)["model"]) == {stored.fingerprint}
    assert (stored.name, stored.n_test, stored.n_correct) == ("a small one", 4, 3)
    assert ModelFile.from_bytes(workspace.model_bytes(LOCAL_OWNER, stored.fingerprint)).content == b"a small one"


def test_how_far_a_running_trial_is_can_be_read_elsewhere_and_is_forgotten_after(workspace, executor, data, tmp_path):
    made = workspace.create_run(LOCAL_OWNER, SleepPlan(n=1, seconds=4.0), data)
    assert Engine(workspace, executor).start(LOCAL_OWNER, made.id)
    elsewhere = Workspace(tmp_path)
    first = wait_until(lambda: elsewhere.run(LOCAL_OWNER, made.id), lambda run: run.steps)
    [steps] = first.steps
    assert (steps.n_steps, steps.what) == (400, "blink")
    assert 0 < steps.n_done < 400
    assert first.share == pytest.approx(steps.n_done / 400)
    later = wait_until(lambda: elsewhere.run(LOCAL_OWNER, made.id), lambda run: run.seconds_left)
    assert later.steps[0].n_done > steps.n_done
    assert 0 < later.seconds_left < 60
    run = wait_while_running(elsewhere, made.id)
    assert (run.state, run.steps, run.share) == ("done", (), 1.0)
    elsewhere.close()


def test_steps_are_written_only_by_who_holds_the_run(workspace, data):
    run = workspace.create_run(LOCAL_OWNER, SleepPlan(n=4), data)
    assert workspace.acquire(LOCAL_OWNER, run.id, "first")
    workspace.record_steps(LOCAL_OWNER, run.id, "first", {0: Steps(1, 2, "epoch"), 2: Steps(3, 4, "epoch")})
    workspace.record_steps(LOCAL_OWNER, run.id, "second", {})
    now = workspace.run(LOCAL_OWNER, run.id)
    assert now.steps == (Steps(1, 2, "epoch"), Steps(3, 4, "epoch"))
    assert now.share == pytest.approx(1.25 / 4)
    workspace.release(LOCAL_OWNER, run.id, "second", "done")
    assert workspace.run(LOCAL_OWNER, run.id).steps
    workspace.release(LOCAL_OWNER, run.id, "first", "interrupted")
    assert workspace.run(LOCAL_OWNER, run.id).steps == ()
    workspace.delete_run(LOCAL_OWNER, run.id)
    workspace.record_steps(LOCAL_OWNER, run.id, "first", {0: Steps(1, 2, "epoch")})


def test_a_plan_without_a_workspace_gets_a_sentence_for_a_model_and_a_name_for_its_own():
    with pytest.raises(DataError, match="The model f1 is not stored here"):
        Context().model("f1")
    stored = ModelFile(b"w", "a.onnx", "f1").to_bytes()
    assert Context().keep_model(stored, name="a") == model_fingerprint(stored)
