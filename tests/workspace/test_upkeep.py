"""A home is kept in order: nobody else reads it, a backup opens elsewhere, the doctor finds what is not whole."""

import errno
import os
import random
import threading
import time
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from sqlalchemy import text

from tests.workspace.conftest import behind
from tests.workspace.plans import SleepPlan
from tests.workspace.test_leases import dead_holder
from tests.workspace.test_verify import PLAN, done, stored
from touchstone.core.__main__ import main
from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.data.home import home
from touchstone.core.report.run_report import answer_of
from touchstone.core.trials import TrialPlan
from touchstone.core.workspace import LOCAL_OWNER, Workspace, WorkspaceError, frames, load_plan
from touchstone.core.workspace.engine.runner import close_engine, engine
from touchstone.core.workspace.upkeep import back_up, restore

__all__ = ["stored"]


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_home_that_others_could_read_is_closed_to_them(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir(mode=0o755)
    Workspace(folder).close()
    (folder / "touchstone.sqlite").chmod(0o644)
    folder.chmod(0o755)
    workspace = Workspace(folder)
    workspace.add_dataset(LOCAL_OWNER, load_example("wine"))
    assert mode(folder) == 0o700
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert len(files) >= 3
    assert {mode(file) for file in files} == {0o600}
    workspace.close()


def sheet(workspace: Workspace, dataset: Dataset) -> list[str]:
    """What the sheet says of each run of a data set: verdict, numbers and seal, as text (NaN is not itself)."""
    runs = [run for run in workspace.runs(LOCAL_OWNER, dataset.fingerprint) if run.state == "done"]
    rows = [workspace.rows(LOCAL_OWNER, run.id) for run in runs]
    return [
        repr((answer.verdict, answer.numbers, run.provenance["seal"]))
        for own, run in zip(rows, runs, strict=True)
        for answer in [answer_of(own, dataset, load_plan(run.plan))]
    ]


def test_a_new_database_is_never_readable_by_others(tmp_path):
    Workspace(tmp_path / "new").close()
    assert (mode(tmp_path / "new"), mode(tmp_path / "new" / "touchstone.sqlite")) == (0o700, 0o600)


@pytest.mark.sqlite
def test_a_backup_under_load_opens_elsewhere_with_equal_rows(tmp_path):
    here = tmp_path / "here"
    workspace = Workspace(here)
    run, wine = done(workspace, PLAN, load_example("wine")), load_example("wine")
    growing = workspace.create_run(LOCAL_OWNER, SleepPlan(n=2000), wine.fingerprint)
    stop, n_stored = threading.Event(), [0]

    def write() -> None:
        writer = Workspace(here)
        while not stop.is_set():
            writer.store_trials(
                LOCAL_OWNER, growing.id, {n_stored[0]: frames.to_bytes(pd.DataFrame({"trial": n_stored}))}
            )
            n_stored[0] += 1
        writer.close()

    load = threading.Thread(target=write)
    load.start()
    while n_stored[0] < 5:
        time.sleep(0.01)
    before = n_stored[0]
    assert back_up(here, tmp_path / "all.zip") == 1
    after = n_stored[0]
    stop.set()
    load.join()
    assert mode(tmp_path / "all.zip") == 0o600
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []

    assert restore(tmp_path / "all.zip", tmp_path / "there") == 1
    there = Workspace(tmp_path / "there")
    assert there.run(LOCAL_OWNER, run.id) == workspace.run(LOCAL_OWNER, run.id)
    assert there.seal(LOCAL_OWNER, run.id) == run.provenance["seal"]
    assert there.rows(LOCAL_OWNER, run.id).equals(workspace.rows(LOCAL_OWNER, run.id))
    assert sheet(there, wine) == sheet(workspace, wine) != []
    assert there.dataset(LOCAL_OWNER, wine.fingerprint).fingerprint == wine.fingerprint
    assert before <= len(there.rows(LOCAL_OWNER, growing.id)) <= after + 1
    there.close()
    workspace.close()


@pytest.mark.sqlite
def test_a_backup_puts_nothing_in_the_place_of_anything(tmp_path, stored):
    (tmp_path / "all.zip").write_bytes(b"something of mine")
    assert main(["backup", str(tmp_path / "all.zip")]) == 2
    assert (tmp_path / "all.zip").read_bytes() == b"something of mine"
    assert main(["backup", str(tmp_path / "another.zip")]) == 0
    assert main(["restore", str(tmp_path / "another.zip")]) == 2, "there are data already"
    assert engine().workspace.run(LOCAL_OWNER, stored.id) == stored


@pytest.mark.sqlite
def test_commands_copy_a_home_to_another(tmp_path, stored, monkeypatch, capsys):
    assert main(["backup", str(tmp_path / "all.zip")]) == 0
    monkeypatch.setenv("TOUCHSTONE_HOME", str(tmp_path / "there"))
    assert main(["restore", str(tmp_path / "all.zip")]) == 0
    assert main(["verify", stored.id]) == 0
    assert f"Seal {stored.provenance['seal']}" in capsys.readouterr().out


@pytest.mark.sqlite
@pytest.mark.parametrize("damage", ["bits", "no zip", "a blob is gone", "nothing"])
def test_a_damaged_backup_is_said_and_leaves_no_half_of_a_home(damage, tmp_path, stored):
    file, there = tmp_path / "all.zip", tmp_path / "there"
    back_up(home(), file)
    content = bytearray(file.read_bytes())
    if damage == "bits":
        content[-len(content) // 3] ^= 1
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    if damage == "a blob is gone":
        with zipfile.ZipFile(file, "w") as archive:
            for name, part in parts.items():
                if not name.startswith("blobs/"):
                    archive.writestr(name, part)
    elif damage != "nothing":
        file.write_bytes(content if damage == "bits" else b"no zip at all")
    if damage == "nothing":
        restore(file, there)
        assert sorted(path.name for path in there.iterdir()) == ["blobs", "touchstone.sqlite"]
        return
    with pytest.raises(ValueError, match=r"all\.zip: "):
        restore(file, there)
    assert list(there.iterdir()) == []


def is_refused(file: Path, there: Path) -> bool:
    try:
        restore(file, there)
    except DataError as problem:
        return str(problem).startswith(f"{file}: ")
    return False


def content_of(folder: Path) -> list[bytes]:
    return sorted(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def packed(file: Path) -> list[bytes]:
    with zipfile.ZipFile(file) as archive:
        return sorted(archive.read(name) for name in archive.namelist() if name != "about.json")


@pytest.mark.sqlite
def test_of_flipped_bits_in_a_backup_none_is_silent_or_a_fault_of_ours(tmp_path, stored):
    file, bad, rng = tmp_path / "all.zip", tmp_path / "bad.zip", random.Random(3)
    back_up(home(), file)
    good, n_refused = file.read_bytes(), 0
    for flip in range(250):
        content = bytearray(good)
        # Every other one is in the directory at the end, which is small, and says how the rest is packed.
        content[-rng.randrange(1, 350) if flip % 2 else rng.randrange(len(good))] ^= 1 << rng.randrange(8)
        bad.write_bytes(content)
        refused = is_refused(bad, tmp_path / f"there {flip}")
        n_refused += refused
        assert content_of(tmp_path / f"there {flip}") == ([] if refused else packed(file))
    assert n_refused > 150


@pytest.mark.sqlite
def test_a_full_disk_is_not_taken_for_a_damaged_backup(tmp_path, stored, monkeypatch):
    back_up(home(), tmp_path / "all.zip")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", full)
    with pytest.raises(WorkspaceError, match="The disk is full, and this could not be restored"):
        restore(tmp_path / "all.zip", tmp_path / "there")
    assert list((tmp_path / "there").iterdir()) == []


@pytest.mark.sqlite
def test_a_backup_begins_anew_where_something_is_deleted_meanwhile(tmp_path, stored, monkeypatch):
    from touchstone.core.workspace import upkeep

    workspace, copied = engine().workspace, upkeep._copy_database

    def deleted_after(*given: Path) -> list[str]:
        monkeypatch.setattr(upkeep, "_copy_database", copied)
        names = copied(*given)
        workspace.delete_dataset(LOCAL_OWNER, stored.fingerprint)
        return names

    monkeypatch.setattr(upkeep, "_copy_database", deleted_after)
    assert back_up(home(), tmp_path / "all.zip") == 0


def test_a_database_of_its_own_is_for_its_own_tools(tmp_path, stored, monkeypatch, capsys):
    monkeypatch.setenv("TOUCHSTONE_DATABASE", "postgresql://somewhere/touchstone")
    assert main(["backup", str(tmp_path / "all.zip")]) == 2
    assert "copy it with its own tools (pg_dump)" in capsys.readouterr().err


def test_of_a_whole_home_the_doctor_has_nothing_to_say(stored, capsys):
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out == "All that is stored is whole.\n"


def test_the_doctor_finds_all_that_is_not_whole_and_mends_what_follows_from_seeds(stored, capsys):
    workspace, before = engine().workspace, engine().workspace.rows(LOCAL_OWNER, stored.id)
    dead = workspace.create_run(LOCAL_OWNER, TrialPlan(n_repeats=3), stored.fingerprint)
    assert workspace.acquire(LOCAL_OWNER, dead.id, dead_holder())
    stray = workspace._store.blobs.put(b"of nobody")
    old = home() / "blobs" / stray[:2] / stray
    os.utime(old, (1e9, 1e9))
    young = workspace._store.blobs.put(b"of somebody who is about to note it")
    with behind(workspace) as database:
        database.execute(text("UPDATE trials SET content = :none WHERE trial = 1"), {"none": b"\0"})
        database.execute(text("INSERT INTO steps VALUES ('no such run', 1, 1, 2, 'epoch')"))
    assert main(["doctor"]) == 1
    said = capsys.readouterr().out
    for words in (
        "Trial 2 of 8 of this run is damaged",
        f"Run {dead.id}: the process that worked on it has ended.",
        "Of no run, in steps: 1 row.",
        f"The stored file {stray[:12]} belongs to nothing.",
        "4 found. --mend mends what can be mended",
    ):
        assert words in said
    assert workspace.missing_trials(LOCAL_OWNER, stored.id) == []

    assert main(["doctor", "--mend"]) == 0
    said = capsys.readouterr().out
    assert "1 computed again, the other 7 are what they were." in said
    assert "4 found, 0 left." in said
    close_engine()
    workspace = engine().workspace
    after = workspace.rows(LOCAL_OWNER, stored.id)
    pd.testing.assert_frame_equal(after.drop(columns="seconds"), before.drop(columns="seconds"))
    assert not old.exists()
    assert workspace._store.blobs.get(young)
    assert workspace.run(LOCAL_OWNER, dead.id).state == "interrupted"


def test_what_does_not_follow_from_seeds_stays_and_is_said(stored, capsys):
    [blob] = [file for file in (home() / "blobs").rglob("*") if file.is_file()]
    blob.write_bytes(b"no data set")
    assert main(["doctor", "--mend"]) == 1
    said = capsys.readouterr().out
    assert "is damaged. Delete what it belongs to, and upload or train it again." in said
    assert "1 found, 1 left." in said
