"""What keeps a home in order? `doctor` says what is not whole and mends it, `backup` and `restore` copy all of it, and
`address` says where it is open."""

import argparse
import os
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from touchstone.core import COMMAND
from touchstone.core.data import DataError
from touchstone.core.workspace.access import address, open_at, secret
from touchstone.core.workspace.backup import back_up, restore
from touchstone.core.workspace.doctor import Finding, examine, mend, runs_of_all
from touchstone.core.workspace.engine.runner import Engine
from touchstone.core.workspace.store import Store

START = "`touchstone`" if COMMAND == "touchstone" else "`make run`"
SECONDS_BETWEEN_LOOKS = 0.5


def add_upkeep(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The commands `doctor`, `address`, `backup` and `restore`."""
    doctor = commands.add_parser("doctor", help="say whether all that is stored is whole, of every owner")
    doctor.add_argument(
        "--mend",
        action="store_true",
        help="compute damaged trials again, free what a dead process holds, delete what belongs to nothing",
    )
    commands.add_parser("address", help="print the address of the Touchstone that is open on TOUCHSTONE_HOME")
    backup = commands.add_parser("backup", help="copy everything that is kept to one file, also while the app runs")
    backup.add_argument("file", metavar="FILE", type=Path, help="where to write it")
    again = commands.add_parser("restore", help="put a backup into TOUCHSTONE_HOME, a folder that is new or empty")
    again.add_argument("file", metavar="FILE", type=Path, help="a file that backup wrote")


def copy_home(chosen: argparse.Namespace, home: Path) -> int:
    """Back the home up, or restore it; says what was copied."""
    if os.environ.get("TOUCHSTONE_DATABASE"):
        raise DataError(
            "TOUCHSTONE_DATABASE names a database of its own: copy it with its own tools (pg_dump), and then the "
            "folder blobs of TOUCHSTONE_HOME."
        )
    if chosen.command == "backup":
        n_files = back_up(home, chosen.file)
        print(f"{chosen.file}: the database and {n_files} stored files of {home}.")
    else:
        n_files = restore(chosen.file, home)
        print(f"{home}: the database and {n_files} stored files of {chosen.file}.")
    return 0


def say_address(home: Path) -> int:
    """Print the address that lets a browser in; 1 where no Touchstone is open."""
    url = open_at(home)
    if url is None:
        print(f"No Touchstone is open on {home}. {START} starts one.", file=sys.stderr)
        return 1
    print(address(url, secret(home)))
    return 0


def see_doctor(chosen: argparse.Namespace, home: Path, engine: Callable[[], Engine]) -> int:
    """Say what is not whole, and mend what can be; 0 where nothing is left."""
    with closing(_store(home)) as store:
        return _see(chosen, store, engine)


def all_runs(home: Path) -> list[tuple[str, str]]:
    """The owner and id of every run of a home, whoever's it is."""
    with closing(_store(home)) as store:
        return runs_of_all(store)


def _store(home: Path) -> Store:
    return Store(home, os.environ.get("TOUCHSTONE_DATABASE"))


def _see(chosen: argparse.Namespace, store: Store, engine: Callable[[], Engine]) -> int:
    findings, n_left = examine(store), 0
    for finding in findings:
        print(finding.says)
        if not chosen.mend:
            continue
        if finding.kind == "trials":
            print(f"  {_computed_again(engine(), finding)}")
        elif mend(store, finding):
            print("  Mended.")
    if chosen.mend and findings:
        n_left = len(examine(store))
        print(f"{len(findings)} found, {n_left} left.")
    elif findings:
        n_left = len(findings)
        print(f"{len(findings)} found. --mend mends what can be mended; make a backup first.")
    else:
        print("All that is stored is whole.")
    return 1 if n_left else 0


def _computed_again(engine: Engine, finding: Finding) -> str:
    """Compute the damaged trials of a run again, and say whether the others stayed what they were."""
    workspace, owner, run_id = engine.workspace, finding.owner, finding.name
    forgotten = workspace.forget_damaged(owner, run_id)
    before = workspace.trial_seals(owner, run_id)
    engine.start(owner, run_id)
    while (run := workspace.run(owner, run_id)).state == "running":
        time.sleep(SECONDS_BETWEEN_LOOKS)
    if run.state != "done" and run.errors:
        return f"Not computed again: {run.errors[0]}"
    after = workspace.trial_seals(owner, run_id)
    unchanged = all(after.get(trial) == seal for trial, seal in before.items())
    return (
        f"{len(forgotten)} computed again, the other {len(before)} {'are' if unchanged else 'are not'} what they were."
    )
