"""A real disk of its own that is really full: `python tests/workspace/on_a_full_disk.py FOLDER`, in a mount namespace.

Prints as JSON what came of storing, giving a run back, cancelling, revoking and deleting.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MEGABYTES = 48


def main(folder: str) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "tmpfs", folder], check=True)

    from tests.workspace.plans import SleepPlan
    from touchstone.core.data import load_example
    from touchstone.core.workspace import LOCAL_OWNER, Workspace, WorkspaceError
    from touchstone.core.workspace.access import link_id

    def said(change: Callable[[], object]) -> str:
        try:
            change()
        except WorkspaceError as problem:
            return str(problem)
        return "done"

    workspace, home = Workspace(Path(folder)), Path(folder)
    data = workspace.add_dataset(LOCAL_OWNER, load_example("wine"))
    stopped, large, waiting = (workspace.create_run(LOCAL_OWNER, SleepPlan(n=n), data).id for n in (2, 30, 4))
    for trial in range(20):
        workspace.store_trials(LOCAL_OWNER, large, {trial: os.urandom(1_000_000)})
    workspace.acquire(LOCAL_OWNER, stopped, "us")
    token = workspace.create_link(LOCAL_OWNER, waiting)
    workspace.close()  # and so no file of the database has room in itself
    workspace = Workspace(home)
    with suppress(OSError), (home / "filler").open("wb", buffering=0) as filler:
        while filler.write(bytes(4096)):
            pass
    answers = {"free before": free(home)}
    answers["store"] = said(lambda: workspace.store_trials(LOCAL_OWNER, stopped, {0: os.urandom(5_000_000)}))
    answers["give back"] = said(lambda: workspace.release(LOCAL_OWNER, stopped, "us", "interrupted", error="disk full"))
    answers["reason"] = workspace.run(LOCAL_OWNER, stopped).errors
    answers["cancel"] = said(lambda: workspace.cancel(LOCAL_OWNER, waiting))
    answers["revoke"] = said(lambda: workspace.revoke_link(LOCAL_OWNER, link_id(token)))
    answers["delete run"] = said(lambda: workspace.delete_run(LOCAL_OWNER, large))
    answers["delete data"] = said(lambda: workspace.delete_dataset(LOCAL_OWNER, data))
    answers["left"] = [len(workspace.runs(LOCAL_OWNER)), len(workspace.datasets(LOCAL_OWNER))]
    (home / "filler").unlink()
    workspace.close()
    Workspace(home).close()
    answers["reserve"] = (home / "reserve").exists()
    print(json.dumps(answers))


def free(home: Path) -> int:
    room = os.statvfs(home)
    return room.f_bavail * room.f_frsize


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    main(sys.argv[1])
