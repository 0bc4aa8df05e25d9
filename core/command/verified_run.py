"""Can a stored run be believed? Its seal is made again from what is stored, and some trials are computed again."""

import argparse
import random
import sys

from core.data import DataError
from core.report.provenance import provenance
from core.workspace.engine.recompute import TOLERANCE, recompute
from core.workspace.run import Run
from core.workspace.workspace import Workspace


def add_verify_options(parser: argparse.ArgumentParser) -> None:
    """What `verify` takes.

    >>> parser = argparse.ArgumentParser()
    >>> add_verify_options(parser)
    >>> parser.parse_args(["0a1b", "--recompute", "5"]).recompute
    5
    """
    parser.add_argument("run", metavar="RUN", help="the id of a run or its beginning, as reports and Runs tell it")
    parser.add_argument("--recompute", type=int, default=0, metavar="N", help="compute so many trials again, at random")


def verify(chosen: argparse.Namespace, workspace: Workspace, owner: str) -> int:
    """Say on standard output whether a run is what was stored and comes out again; 0 where it does, else 1.

    Raises WorkspaceError where it is damaged, and DataError where there is no such run.
    """
    run = _named(workspace, owner, chosen.run)
    seal, recorded = workspace.seal(owner, run.id), run.provenance.get("seal")
    print(f"Run {run.id}: {run.n_done} of {run.n_trials} trials, each as it was stored.")
    print(f"Seal {seal}")
    if run.state == "done" and recorded not in (None, seal):
        print(f"It differs from the seal of when the run was done, {recorded}: trials were exchanged since.")
        return 1
    return 0 if _comes_out_again(workspace, owner, run, chosen.recompute) else 1


def _named(workspace: Workspace, owner: str, beginning: str) -> Run:
    runs = [run for run in workspace.runs(owner) if run.id.startswith(beginning)]
    if len(runs) != 1:
        which = "there is no such run" if not runs else f"{len(runs)} runs begin so"
        raise DataError(f"{beginning}: {which}. A report names its run under Provenance.")
    return runs[0]


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
