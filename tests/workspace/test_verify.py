"""A stored run is held against its seal, and trials of it are computed again: what was changed or exchanged is said."""

import json
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.workspace.conftest import behind
from touchstone.core.__main__ import main
from touchstone.core.data import Dataset, load_example
from touchstone.core.report.run_report import provenance
from touchstone.core.trials import Context, TrialPlan
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace, frames
from touchstone.core.workspace.engine.runner import close_engine, engine
from touchstone.core.workspace.frames import trial_seal

PLAN = TrialPlan(models=("nearest_neighbours",), n_repeats=2)


@pytest.fixture
def stored(tmp_path: Path, monkeypatch) -> Run:
    """A run that is done, in the home that commands use."""
    monkeypatch.setenv("TOUCHSTONE_HOME", str(tmp_path / "home"))
    close_engine()
    yield done(engine().workspace, PLAN, load_example("wine"))
    close_engine()


def done(workspace: Workspace, plan: TrialPlan, dataset: Dataset, owner: str = LOCAL_OWNER) -> Run:
    run = workspace.create_run(owner, plan, workspace.add_dataset(owner, dataset))
    assert workspace.acquire(owner, run.id, "a process")
    workspace.record_provenance(owner, run.id, {"versions": {"numpy": "1.0.0"}})
    for trial in range(run.n_trials):
        rows = plan.run_trial(dataset, trial, context=Context())
        workspace.store_trials(owner, run.id, {trial: frames.to_bytes(rows)})
    workspace.release(owner, run.id, "a process", "done")
    return workspace.run(owner, run.id)


def exchange(run: Run, trial: int, **columns: int) -> None:
    """Put other rows in the place of a trial's, with the hash that belongs to them."""
    rows = PLAN.run_trial(load_example("wine"), trial, context=Context()).assign(**columns)
    content = frames.to_bytes(rows)
    now = {"content": content, "sha256": trial_seal(trial, "ok", None, content), "run": run.id, "trial": trial}
    with behind(engine().workspace) as database:
        change = "UPDATE trials SET content = :content, sha256 = :sha256 WHERE run_id = :run AND trial = :trial"
        database.execute(text(change), now)


def test_a_run_that_is_done_has_a_seal_which_its_report_tells(stored):
    seal = engine().workspace.seal(LOCAL_OWNER, stored.id)
    assert stored.provenance["seal"] == seal
    assert stored.provenance["versions"] == {"numpy": "1.0.0"}
    assert dict(provenance(stored))["Seal"] == seal


def test_a_run_is_verified_and_comes_out_again(stored, capsys):
    assert main(["verify", stored.id[:8], "--recompute", "3"]) == 0
    said = capsys.readouterr().out
    assert f"Seal {stored.provenance['seal']}" in said
    assert said.count("computed again: agrees.") == 3
    assert "3 of 3 agree" in said


def test_an_exchanged_trial_is_told_by_the_seal(stored, capsys):
    exchange(stored, 2, n_correct=1)
    assert main(["verify", stored.id]) == 1
    assert "trials were exchanged since" in capsys.readouterr().out


def test_the_doctor_tells_an_exchanged_trial_and_a_changed_plan_too(stored, capsys):
    exchange(stored, 2, n_correct=1)
    assert main(["doctor", "--mend"]) == 1
    assert f"Run {stored.id}: its seal is another than when it was done" in capsys.readouterr().out
    with behind(engine().workspace) as database:
        other = stored.plan.replace('"n_repeats":2', '"n_repeats":3')
        database.execute(text("UPDATE runs SET plan = :other"), {"other": other})
    assert main(["doctor", "--mend"]) == 1
    assert f"Run {stored.id}: What is noted of this run" in capsys.readouterr().out
    assert main(["verify", stored.id]) == 2
    assert "What is noted of this run" in capsys.readouterr().err


def test_of_a_run_without_a_seal_that_is_said(stored, capsys):
    with behind(engine().workspace) as database:
        database.execute(text("UPDATE runs SET provenance = '{}'"))
    assert main(["verify", stored.id]) == 0
    assert "No seal was noted when it was done" in capsys.readouterr().out


def test_on_a_server_the_runs_of_everybody_are_verified(stored, capsys):
    run = done(engine().workspace, PLAN, load_example("wine"), owner="oidc:somebody")
    assert main(["verify", run.id, "--recompute", "1"]) == 0
    assert f"Seal {run.provenance['seal']}" in capsys.readouterr().out


def test_a_trial_that_does_not_come_out_again_is_named_with_its_columns(stored, capsys):
    exchange(stored, 2, n_correct=1)
    with behind(engine().workspace) as database:
        # as somebody does who makes the seal anew, too
        seal = {"versions": {"numpy": "1.0.0"}, "seal": engine().workspace.seal(LOCAL_OWNER, stored.id)}
        database.execute(text("UPDATE runs SET provenance = :seal"), {"seal": json.dumps(seal)})
    assert main(["verify", stored.id, "--recompute", "8"]) == 1
    said = capsys.readouterr()
    assert "Trial 3 computed again: differs in n_correct." in said.out
    assert "7 of 8 agree" in said.out
    assert "It was computed with: numpy 1.0.0" in said.err


def test_a_damaged_run_and_one_that_is_not_there_are_said_in_a_line(stored, capsys):
    assert main(["verify", "no-such-run"]) == 2
    assert "no-such-run: there is no such run." in capsys.readouterr().err
    with behind(engine().workspace) as database:
        database.execute(text("UPDATE trials SET status = 'okay' WHERE trial = 4"))
    assert main(["verify", stored.id]) == 2
    assert "Trial 5 of 8 of this run is damaged on disk" in capsys.readouterr().err


def test_what_an_older_method_computed_is_not_computed_again(stored, capsys, monkeypatch):
    monkeypatch.setattr(TrialPlan, "METHOD_VERSION", TrialPlan.METHOD_VERSION + 1)
    assert main(["verify", stored.id]) == 0
    assert main(["verify", stored.id, "--recompute", "1"]) == 2
    assert "An older method computed this run" in capsys.readouterr().err


@pytest.mark.evidence
def test_a_run_that_rests_on_found_sources_comes_out_again(run_plan, workspace, capsys, monkeypatch, executor, wine):
    from touchstone.core.workspace.upkeep import recompute

    plan = TrialPlan(models=("nearest_neighbours",), source_finders=("deep_kmeans",), n_repeats=1, n_clusterings=1)
    run = run_plan(plan)
    assert run.state == "done"
    again = list(recompute(workspace, LOCAL_OWNER, run, [0, 1]))
    assert [one.differs_in for one in again] == [(), ()]
    [needed] = [one for one in workspace.runs(LOCAL_OWNER) if one.kind == "sources"]
    assert [one.differs_in for one in recompute(workspace, LOCAL_OWNER, needed, [0])] == [()]
