"""A whole Touchstone process for the kill tests: works off one run of a workspace, then ends.

`python tests/workspace/one_process.py HOME RUN_ID` prints the process ids of its workers once they are there.
"""

import sys
import time
from pathlib import Path


def main(home: str, run_id: str) -> None:
    import os

    import dask

    from touchstone.core.workspace import LOCAL_OWNER, Workspace, runs
    from touchstone.core.workspace.engine.executor import Executor
    from touchstone.core.workspace.engine.runner import Engine

    dask.config.set({"distributed.worker.preload": ["tests.workspace.plans"]})
    __import__("tests.workspace.plans")
    runs.LEASE_SECONDS = 3.0  # so that the next process need not wait long for the run of a killed one
    workspace = Workspace(Path(home), os.environ.get("TOUCHSTONE_DATABASE"))
    engine = Engine(workspace, Executor(n_workers=2))
    while not engine.start(LOCAL_OWNER, run_id):
        time.sleep(0.2)
    print(*engine.executor.client().run(os.getpid).values(), flush=True)
    while workspace.run(LOCAL_OWNER, run_id).state == "running":
        time.sleep(0.1)
    engine.close()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    main(*sys.argv[1:])
