"""Can a stored run be believed? Its seal is made again from what is stored, and some trials are computed again."""

import argparse
import random
import sys
from collections.abc import Sequence

from touchstone.core.data import DataError
from touchstone.core.report.run_report import provenance
from touchstone.core.workspace.doctor import EXCHANGED
from touchstone.core.workspace.engine.recompute import TOLERANCE, recompute
from touchstone.core.workspace.run import Run
from touchstone.core.workspace.workspace import Workspace


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
        print(f"This run is not what was stored: {EXCHANGED} The other seal: {run.provenance['seal']}")
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
    for again in recompute(workspace, owner, run, chosen):
        said = f"differs in {', '.join(again.differs_in)}" if again.differs_in else "agrees"
        n_differing += bool(again.differs_in)
        print(f"Trial {again.trial + 1} computed again: {said}.")
    print(f"{len(chosen) - n_differing} of {len(chosen)} agree (numbers within {TOLERANCE:g} of them, times left out).")
    if n_differing:
        rests_on = dict(provenance(run))
        told = "; ".join(rests_on[name] for name in ("Versions", "Device") if name in rests_on)
        print(f"Other versions or processors may differ in that. It was computed with: {told}.", file=sys.stderr)
    return not n_differing
