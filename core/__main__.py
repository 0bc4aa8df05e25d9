"""Touchstone without a browser: `python -m core run --data digits '{"kind":"trials","models":["svm"]}'`.

The run is the same one that the pages show (same workspace, same key), so a page's "copy as command" and a page find
each other's results. Rows go to standard output as TSV, progress to standard error.
"""

import argparse
import sys
import time
from collections.abc import Sequence

from core.data import EXAMPLES, DataError, Dataset, load_example, read_dataset
from core.workspace.errors import WorkspaceError
from core.workspace.runner import close_engine, engine, load_plan
from core.workspace.workspace import LOCAL_OWNER, Run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says; returns the exit status."""
    chosen = _parser().parse_args(arguments)
    try:
        return _run(chosen.data, chosen.plan)
    except (DataError, WorkspaceError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.", file=sys.stderr)
        return 130
    finally:
        close_engine()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m core", description="Touchstone without a browser.")
    commands = parser.add_subparsers(required=True, dest="command")
    run = commands.add_parser("run", help="work off a plan and print its rows as TSV")
    run.add_argument("--data", required=True, help=f"an example ({', '.join(EXAMPLES)}), a fingerprint or a file")
    run.add_argument("plan", help="the plan as JSON, as a page's “copy as command” gives it")
    return parser


def _run(data: str, plan_json: str) -> int:
    plan = load_plan(plan_json)
    workspace = engine().workspace
    dataset = _dataset(data)
    workspace.add_dataset(LOCAL_OWNER, dataset, example=data if data in EXAMPLES else None)
    run = workspace.create_run(LOCAL_OWNER, plan, dataset.fingerprint)
    engine().start(LOCAL_OWNER, run.id)
    while (run := workspace.run(LOCAL_OWNER, run.id)).state == "running":
        _say(run, end="\r")
        time.sleep(0.5)
    _say(run, end="\n")
    for error in run.errors:
        print(error, file=sys.stderr)
    workspace.rows(LOCAL_OWNER, run.id).to_csv(sys.stdout, sep="\t", index=False)
    return 0 if run.state == "done" and not run.n_failed else 1


def _dataset(data: str) -> Dataset:
    if data in EXAMPLES:
        return load_example(data)
    workspace = engine().workspace
    if data in {stored.fingerprint for stored in workspace.datasets(LOCAL_OWNER)}:
        return workspace.dataset(LOCAL_OWNER, data)
    return read_dataset(data)


def _say(run: Run, *, end: str) -> None:
    print(f"{run.state}: {run.n_done} of {run.n_trials} trials, {run.n_failed} failed", end=end, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
