"""What keeps a home in order? `doctor` says what is not whole and mends it, `backup` and `restore` copy all of it, and
`address` says where it is open."""

import argparse
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from touchstone.core import COMMAND
from touchstone.core.command import Command
from touchstone.core.data import DataError
from touchstone.core.data.home import home
from touchstone.core.report.run_report import provenance
from touchstone.core.workspace import Run, Workspace
from touchstone.core.workspace import upkeep as keeping
from touchstone.core.workspace.access import address, open_at, secret
from touchstone.core.workspace.engine.runner import Engine, engine
from touchstone.core.workspace.store import Store

START = "`touchstone`" if COMMAND == "touchstone" else "`make run`"
SECONDS_BETWEEN_LOOKS = 0.5


def _add_nothing(parser: argparse.ArgumentParser) -> None:
    """What takes no options."""


def _add_mend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--mend",
        action="store_true",
        help="compute damaged trials again, free what a dead process holds, delete what belongs to nothing",
    )


def _add_backup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="where to write it")


def _add_restore(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="a file that backup wrote")


def copy_home(chosen: argparse.Namespace, home: Path) -> int:
    """Back the home up, or restore it; says what was copied."""
    if os.environ.get("TOUCHSTONE_DATABASE"):
        raise DataError(
            "TOUCHSTONE_DATABASE names a database of its own: copy it with its own tools (pg_dump), and then the "
            "folder blobs of TOUCHSTONE_HOME."
        )
    if chosen.command == "backup":
        n_files = keeping.back_up(home, chosen.file)
        print(f"{chosen.file}: the database and {n_files} stored files of {home}.")
    else:
        n_files = keeping.restore(chosen.file, home)
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
    n_left = 0
    with closing(_store(home)) as store:
        findings = keeping.examine(store)
        for finding in findings:
            print(finding.says)
            if not chosen.mend:
                continue
            if finding.kind == "trials":
                print(f"  {_computed_again(engine(), finding)}")
            elif keeping.mend(store, finding):
                print("  Mended.")
        if chosen.mend and findings:
            n_left = len(keeping.examine(store))
            print(f"{len(findings)} found, {n_left} left.")
        elif findings:
            n_left = len(findings)
            print(f"{len(findings)} found. --mend mends what can be mended; make a backup first.")
        else:
            print("All that is stored is whole.")
    return 1 if n_left else 0


def all_runs(home: Path) -> list[tuple[str, str]]:
    """The owner and id of every run of a home, whoever's it is."""
    with closing(_store(home)) as store:
        return keeping.runs_of_all(store)


def _store(home: Path) -> Store:
    return Store(home, os.environ.get("TOUCHSTONE_DATABASE"))


def _computed_again(engine: Engine, finding: keeping.Finding) -> str:
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


# Can a stored run be believed? Its seal is made again from what is stored, and some trials are computed again.


def add_verify_options(parser: argparse.ArgumentParser) -> None:
    """What `verify` takes.

    >>> parser = argparse.ArgumentParser()
    >>> add_verify_options(parser)
    >>> parser.parse_args(["0a1b", "--recompute", "5"]).recompute
    5
    """
    parser.add_argument("run", metavar="RUN", help="the id of a run or its beginning, as reports and Runs tell it")
    parser.add_argument("--recompute", type=int, default=0, metavar="N", help="compute so many trials again, at random")


def verify(chosen: argparse.Namespace, runs: Sequence[tuple[str, str]], workspace: Workspace) -> int:
    """Say on standard output whether a run is what was stored and comes out again; 0 where it does, else 1.

    `runs` are all that may be meant, each with its owner. Raises WorkspaceError where it is damaged, and DataError
    where there is no such run.
    """
    owner, run_id = _named(runs, chosen.run)
    run, seal = workspace.run(owner, run_id), workspace.seal(owner, run_id)
    print(f"Run {run.id}: {run.n_done} of {run.n_trials} trials, each as it was stored.")
    print(f"Seal {seal}")
    if run.exchanged(seal):
        print(f"This run is not what was stored: {keeping.EXCHANGED} The other seal: {run.provenance['seal']}")
        return 1
    if run.state == "done" and "seal" not in run.provenance:
        print("No seal was noted when it was done (older versions noted none), so exchanged trials cannot be noticed.")
    return 0 if _comes_out_again(workspace, owner, run, chosen.recompute) else 1


def _named(runs: Sequence[tuple[str, str]], beginning: str) -> tuple[str, str]:
    """The run of this id, or whose id alone begins so, with its owner."""
    meant = [run for run in runs if run[1].startswith(beginning)]
    if len(meant) != 1:
        which = "there is no such run" if not meant else f"{len(meant)} runs begin so"
        raise DataError(f"{beginning}: {which}. A report names its run under Provenance.")
    return meant[0]


def _comes_out_again(workspace: Workspace, owner: str, run: Run, n_trials: int) -> bool:
    if n_trials <= 0:
        return True
    if run.older_method:
        raise DataError("An older method computed this run. Today's method gives other results and cannot verify it.")
    done = workspace.rows_by_trial(owner, run.id)
    chosen = sorted(random.sample(sorted(done), min(n_trials, len(done))))
    n_differing = 0
    for again in keeping.recompute(workspace, owner, run, chosen):
        said = f"differs in {', '.join(again.differs_in)}" if again.differs_in else "agrees"
        n_differing += bool(again.differs_in)
        print(f"Trial {again.trial + 1} computed again: {said}.")
    print(
        f"{len(chosen) - n_differing} of {len(chosen)} agree (numbers within {keeping.TOLERANCE:g} of them, times left "
        "out)."
    )
    if n_differing:
        rests_on = dict(provenance(run))
        told = "; ".join(rests_on[name] for name in ("Versions", "Device") if name in rests_on)
        print(f"Other versions or processors may differ in that. It was computed with: {told}.", file=sys.stderr)
    return not n_differing


COMMANDS = {
    "backup": Command(_add_backup, lambda chosen: copy_home(chosen, home())),
    "restore": Command(_add_restore, lambda chosen: copy_home(chosen, home())),
    "address": Command(_add_nothing, lambda _: say_address(home())),
    "doctor": Command(_add_mend, lambda chosen: see_doctor(chosen, home(), engine)),
    "verify": Command(add_verify_options, lambda chosen: verify(chosen, all_runs(home()), engine().workspace)),
}
