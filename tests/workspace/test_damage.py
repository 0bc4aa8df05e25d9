"""Bits of stored trials change: each change is named or harmless, none is silent; what was lost is computed again."""

import json
import random
import time
from collections import Counter
from collections.abc import Iterator

import pandas as pd
import pytest
from sqlalchemy import Connection, text

from tests.workspace.conftest import behind
from touchstone.core.trials import Context, TrialPlan
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace, WorkspaceError, frames
from touchstone.core.workspace.errors import DamagedRun, DamagedTrials
from touchstone.core.workspace.schema import TrialRow

PLAN = TrialPlan(models=("nearest_neighbours",), n_repeats=2)
N_FLIPS = 600


@pytest.fixture
def done(workspace: Workspace, wine) -> Run:
    """A run that is done, and one of whose trials failed."""
    run = workspace.create_run(LOCAL_OWNER, PLAN, workspace.add_dataset(LOCAL_OWNER, wine))
    assert workspace.acquire(LOCAL_OWNER, run.id, "a process")
    for trial in range(run.n_trials):
        rows = PLAN.run_trial(wine, trial, context=Context())
        error = "it was too hot" if trial == 1 else None
        workspace.store_trials(LOCAL_OWNER, run.id, {trial: frames.to_bytes(rows)}, error=error)
    workspace.release(LOCAL_OWNER, run.id, "a process", "done")
    return workspace.run(LOCAL_OWNER, run.id)


@pytest.fixture
def database(workspace: Workspace) -> Iterator[Connection]:
    with behind(workspace) as connection:
        yield connection


def flipped(value: object, rng: random.Random, *, any_text: bool) -> object:
    """A stored value with one bit of it changed; of a trial's number none that would make it another trial's.

    A text stays one where the database keeps nothing else (`any_text`).
    """
    if isinstance(value, int):
        return value ^ 1 << rng.randrange(4, 31)
    while True:
        content = bytearray(value.encode() if isinstance(value, str) else value)
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        if isinstance(value, bytes) or any_text:
            return bytes(content)
        if content.isascii() and 0 not in content:
            return content.decode()


def change(database: Connection, run: object, trial: object, column: str, value: object, *, is_text: bool) -> None:
    """Store a value in a column of a trial, whose run may have become bytes that are no text."""

    def stored(name: str, given: object, text_wanted: bool) -> str:
        return f"CAST(:{name} AS TEXT)" if text_wanted and isinstance(given, bytes) else f":{name}"

    query = f"UPDATE trials SET {column} = {stored('value', value, is_text)} "
    where = f"WHERE run_id = {stored('run', run, True)} AND trial = :trial"
    assert database.execute(text(query + where), {"value": value, "run": run, "trial": trial}).rowcount == 1


def outcome(workspace: Workspace, run: Run, trial: int, true: pd.DataFrame) -> str:
    """What comes of asking for the rows of a run with this damaged trial."""
    try:
        return "harmless" if workspace.rows(LOCAL_OWNER, run.id).equals(true) else "silent"
    except DamagedTrials as told:
        return "named" if trial in told.trials and str(trial + 1) in str(told) else "something else was named"


@pytest.mark.evidence
def test_of_600_flipped_bits_in_stored_trials_none_is_silent(workspace, done, database):
    rng, outcomes = random.Random(20_260_101), Counter()
    any_text = database.dialect.name == "sqlite"
    columns = [column.name for column in TrialRow.__table__.columns if column.name != "finished"]
    true = workspace.rows(LOCAL_OWNER, done.id)
    # Most bits of a trial are of its rows, which would leave the other columns untried.
    for flip in range(N_FLIPS):
        column = columns[flip % len(columns)]
        query = f"SELECT run_id, trial, {column} FROM trials WHERE {column} IS NOT NULL ORDER BY random() LIMIT 1"
        run, trial, value = database.execute(text(query)).one()
        damaged, is_text = flipped(value, rng, any_text=any_text), isinstance(value, str)
        change(database, run, trial, column, damaged, is_text=is_text)
        assert [run.id for run in workspace.runs(LOCAL_OWNER)] == [done.id]
        outcomes[outcome(workspace, done, trial, true)] += 1
        now = {"run_id": run, "trial": trial} | {column: damaged}
        change(database, now["run_id"], now["trial"], column, value, is_text=is_text)
    assert outcomes == {"named": N_FLIPS}
    assert workspace.rows(LOCAL_OWNER, done.id).equals(true)


def damage(database: Connection, run: Run, *trials: int) -> None:
    for trial in trials:
        change(database, run.id, trial, "status", "okay", is_text=True)


def test_a_trial_that_is_gone_from_a_run_that_is_done_is_named(workspace, done, database):
    database.execute(text("DELETE FROM trials WHERE trial = 2"))
    with pytest.raises(DamagedTrials, match="Trial 3 of 8 of this run is damaged"):
        workspace.rows(LOCAL_OWNER, done.id)


@pytest.mark.evidence
def test_damaged_trials_are_computed_again_and_no_others(workspace, run_plan, database):
    run = run_plan(PLAN)
    before, seal = workspace.rows(LOCAL_OWNER, run.id), workspace.seal(LOCAL_OWNER, run.id)
    damage(database, run, 1, 4)
    with pytest.raises(DamagedTrials, match=r"Trials 2 and 5 of 8 of this run are damaged .* Compute them again"):
        workspace.seal(LOCAL_OWNER, run.id)
    assert workspace.forget_damaged(LOCAL_OWNER, run.id) == (1, 4)
    assert workspace.missing_trials(LOCAL_OWNER, run.id) == [1, 4]
    assert run_plan(PLAN).state == "done"
    after = workspace.rows(LOCAL_OWNER, run.id)
    pd.testing.assert_frame_equal(after.drop(columns="seconds"), before.drop(columns="seconds"))
    untouched = ~before["repeat"].isna() & (before["seconds"] == after["seconds"])
    assert untouched.any(), "all trials were computed again"
    assert workspace.seal(LOCAL_OWNER, run.id) != seal, "seconds are of another day"
    assert workspace.forget_damaged(LOCAL_OWNER, run.id) == ()


def test_what_is_being_worked_on_is_not_mended(workspace, done, database):
    damage(database, done, 0)
    database.execute(text("UPDATE runs SET state = 'running', lease_until = :until"), {"until": time.time() + 30})
    with pytest.raises(WorkspaceError, match="is being worked on"):
        workspace.forget_damaged(LOCAL_OWNER, done.id)
    assert workspace.run(LOCAL_OWNER, done.id).n_done == 8


def test_what_an_older_method_computed_is_not_mended_but_kept(workspace, done, database, monkeypatch):
    damage(database, done, 0)
    monkeypatch.setattr(TrialPlan, "METHOD_VERSION", TrialPlan.METHOD_VERSION + 1)
    with pytest.raises(DamagedTrials, match="Delete the run and start it again") as told:
        workspace.rows(LOCAL_OWNER, done.id)
    assert not told.value.mendable
    with pytest.raises(DamagedTrials):
        workspace.forget_damaged(LOCAL_OWNER, done.id)
    assert workspace.run(LOCAL_OWNER, done.id).n_done == 8


def is_json(value: str) -> bool:
    try:
        json.loads(value)
    except ValueError:
        return False
    return True


OF_ITS_RECORD = ("key", "kind", "plan", "fingerprint", "provenance")
"""Columns of a run that say what its rows are of, or stand for them."""


@pytest.mark.parametrize("column", OF_ITS_RECORD)
def test_a_flipped_bit_in_what_is_noted_of_a_run_is_named(workspace, done, database, column):
    rng, update = random.Random(7), text(f"UPDATE runs SET {column} = :value")
    true = workspace.rows(LOCAL_OWNER, done.id)
    value = database.execute(text(f"SELECT {column} FROM runs")).scalar_one()
    for _ in range(30):
        damaged = flipped(value, rng, any_text=False)
        database.execute(update, {"value": damaged})
        assert [run.id for run in workspace.runs(LOCAL_OWNER)] == [done.id], damaged
        if column != "provenance" or not is_json(damaged):
            with pytest.raises(DamagedRun, match="Delete the run and start it again"):
                workspace.rows(LOCAL_OWNER, done.id)
    database.execute(update, {"value": value})
    assert workspace.rows(LOCAL_OWNER, done.id).equals(true)


def test_more_trials_than_a_run_has_are_damage(workspace, done, database):
    database.execute(text("UPDATE runs SET n_trials = 4"))
    with pytest.raises(DamagedRun):
        workspace.rows(LOCAL_OWNER, done.id)


def test_a_damaged_plan_hides_no_other_run(workspace, done, database, wine):
    database.execute(text("UPDATE runs SET plan = 'no JSON'"))
    assert workspace.find_run(LOCAL_OWNER, TrialPlan(models=("svm",)), wine.fingerprint) is None


def test_a_run_whose_state_is_no_word_any_more_is_interrupted_and_comes_to_its_end(workspace, run_plan, database):
    run = run_plan(PLAN)
    rows = workspace.rows(LOCAL_OWNER, run.id)
    database.execute(text("UPDATE runs SET state = 'dond'"))
    assert workspace.run(LOCAL_OWNER, run.id).state == "interrupted"
    assert run_plan(PLAN).state == "done"
    assert workspace.rows(LOCAL_OWNER, run.id).equals(rows)
