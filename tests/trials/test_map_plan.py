"""A map is a plan: one trial, a row per sample, the same in every process."""

import io
import json
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.models import Cancelled
from touchstone.core.represent import REPRESENTATIONS, features_for_splits, representations
from touchstone.core.trials import Context, MapPlan, Plan, from_json, map_plan, to_json
from touchstone.core.trials.map_plan import COLUMNS, METHODS
from touchstone.core.workspace import LOCAL_OWNER, PLANS, Workspace, load_plan
from touchstone.core.workspace.engine.executor import Executor
from touchstone.core.workspace.engine.runner import Engine


@pytest.fixture(scope="module")
def wine() -> Dataset:
    return load_example("wine")


def test_it_is_a_plan_that_can_be_stored_and_linked():
    plan = MapPlan(representation="raw", method="pca", n_components=3)
    assert isinstance(plan, Plan)
    assert load_plan(to_json(plan)) == plan == from_json(to_json(plan), PLANS)
    assert set(json.loads(to_json(plan))) == {field.name for field in fields(plan)} | {"kind"}


# UMAP compiles for long, in every process anew.
QUICK = [pytest.param(method, marks=pytest.mark.evidence) if method == "umap" else method for method in METHODS]


@pytest.mark.parametrize("method", QUICK)
def test_a_map_is_a_finite_place_for_every_sample(wine, method):
    plan = MapPlan(method=method)
    assert plan.n_trials(wine) == 1
    rows = plan.run_trial(wine, 0, context=Context())
    assert rows.dtypes.astype(str).to_dict() == COLUMNS
    assert rows["row"].tolist() == list(range(wine.n_samples))
    assert np.isfinite(rows[["x", "y"]].to_numpy(float)).all()
    assert (rows["status"] == "ok").all()
    pd.testing.assert_frame_equal(rows, plan.run_trial(wine, 0, context=Context()))


def test_a_map_says_that_umap_compiles_where_it_does(wine, monkeypatch):
    heard: list[tuple] = []
    context = Context(report=lambda *steps: heard.append(steps))
    monkeypatch.setattr(map_plan, "umap_map", lambda features, **options: features[:, :2])
    for is_there in (True, False):
        monkeypatch.setattr(representations, "sys", SimpleNamespace(modules={"umap": None} if is_there else {}))
        for method in METHODS:
            MapPlan(method=method).run_trial(wine, 0, context=context)
    assert heard == [(0, 0, map_plan.COMPILES)]


def test_the_pca_map_is_what_folds_are_made_in(wine):
    rows = MapPlan(method="pca", n_components=5).run_trial(wine, 0, context=Context())
    expected = features_for_splits(wine, "raw", n_components=5)[:, :2]
    np.testing.assert_allclose(rows[["x", "y"]].to_numpy(float), expected)


def test_a_failed_map_is_one_row_without_a_place(wine):
    row = MapPlan().failed_trial(wine, 0)
    assert row.dtypes.astype(str).to_dict() == COLUMNS
    assert row["status"].item() == "failed"
    assert row[["row", "x", "y"]].isna().all(axis=None)


def test_cancel_is_heard_before_and_between_the_steps(wine):
    with pytest.raises(Cancelled):
        MapPlan().run_trial(wine, 0, context=Context(should_stop=lambda: True))
    answers = iter([False, True])
    with pytest.raises(Cancelled):
        MapPlan().run_trial(wine, 0, context=Context(should_stop=lambda: next(answers)))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"representation": "vibes"}, "raw"),
        ({"method": "globe"}, "Choose from umap, pca"),
        ({"n_components": 0}, "at least 1"),
        ({"n_neighbors": 1}, "at least 2"),
        ({"min_dist": 2.0}, "between 0 and 1"),
        ({"min_dist": -0.1}, "between 0 and 1"),
        ({"seed": -1}, "at least 0"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(fields, words):
    with pytest.raises(DataError, match=words):
        MapPlan(**fields)


def test_a_representation_that_does_not_fit_is_refused_before_anything_runs(wine):
    with pytest.raises(DataError, match="not for tabular data"):
        MapPlan(representation="tfidf_svd").n_trials(wine)
    with pytest.raises(DataError, match="no vectors of its own"):
        MapPlan(representation="own_vectors").n_trials(wine)


def test_it_says_what_saw_labels_and_what_was_cut(wine):
    assert [name for name in REPRESENTATIONS if MapPlan(representation=name).label_informed] == ["network"]
    assert MapPlan().notes(wine) == ()
    assert "each sample has only 177 others" in MapPlan(n_neighbors=500).notes(wine)[0]
    assert MapPlan(n_neighbors=500, method="pca").notes(wine) == ()


@pytest.mark.parametrize("method", QUICK)
def test_a_map_made_by_a_worker_is_the_one_made_here(wine, tmp_path, method):
    executor, workspace = Executor(n_workers=1), Workspace(tmp_path)
    try:
        plan = MapPlan(method=method)
        made = workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, wine))
        assert Engine(workspace, executor).start(LOCAL_OWNER, made.id)
        until = time.monotonic() + 600
        while (run := workspace.run(LOCAL_OWNER, made.id)).state == "running":
            assert time.monotonic() < until
            time.sleep(0.1)
        assert (run.state, run.n_done, run.n_failed) == ("done", 1, 0)
        there = workspace.rows(LOCAL_OWNER, made.id)
    finally:
        workspace.close()
        executor.close()
    pd.testing.assert_frame_equal(there, plan.run_trial(wine, 0, context=Context()))


@pytest.mark.evidence
def test_the_command_line_prints_the_same_map(wine, tmp_path):
    plan = MapPlan(method="pca")
    done = subprocess.run(
        [sys.executable, "-m", "core", "run", "--data", "wine", to_json(plan)],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert "done: 1 of 1 trials, 0 failed" in done.stderr
    there = pd.read_csv(io.StringIO(done.stdout), sep="\t")
    here = plan.run_trial(wine, 0, context=Context())
    np.testing.assert_allclose(there[["x", "y"]], here[["x", "y"]].to_numpy(float))
