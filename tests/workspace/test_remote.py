"""A cluster by address: scheduler and workers are processes of their own, which know nothing of the app's folder."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pandas as pd
import pytest

from core.trials import Context, TrialPlan
from core.workspace.executor import Executor
from core.workspace.runner import Engine
from core.workspace.workspace import LOCAL_OWNER
from tests.workspace.conftest import wait_until, wait_while_running

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def scheduler(tmp_path: Path) -> Iterator[str]:
    address = tmp_path / "scheduler.json"
    worker = ["worker", "--scheduler-file", str(address), "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1"]
    commands = [
        ["scheduler", "--scheduler-file", str(address), "--port", "0", "--host", "127.0.0.1", "--no-dashboard"],
        worker,
        worker,
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with ExitStack() as stack, tempfile.TemporaryDirectory() as elsewhere:
        log = stack.enter_context(open(tmp_path / "cluster.log", "w"))
        for command in commands:
            program = [sys.executable, "-m", "dask", *command, *(["--dashboard-address", "127.0.0.1:0"])]
            process = subprocess.Popen(program, cwd=elsewhere, env=environment, stdout=log, stderr=log)
            stack.callback(process.wait, timeout=20)
            stack.callback(process.terminate)
            wait_until(address.exists, bool)
        yield json.loads(address.read_text())["address"]


def test_a_cluster_by_address_computes_the_same_rows(scheduler, workspace, wine):
    plan = TrialPlan(models=("logistic", "nearest_neighbours"), n_repeats=3)
    run = workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, wine))
    executor = Executor(scheduler)
    assert Engine(workspace, executor).start(LOCAL_OWNER, run.id)
    run = wait_while_running(workspace, run.id)
    executor.close()
    assert (run.state, run.n_failed) == ("done", 0)
    assert run.provenance["executor"] == scheduler
    here = pd.concat([plan.run_trial(wine, i, context=Context()) for i in range(plan.n_trials(wine))])
    there = workspace.rows(LOCAL_OWNER, run.id)
    pd.testing.assert_frame_equal(there.drop(columns="seconds"), here.reset_index(drop=True).drop(columns="seconds"))
