"""Pages about many rows, for benchmarks/bench_scale.py: each is drawn by AppTest until nothing is computed any more."""

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from touchstone.core.workspace import Workspace

Work = Callable[[], object]


def page(n: int, *, peer: bool, again: bool = False) -> Work:
    """The page of matched subsets with n predictions beside a tenth of as many."""
    import pandas as pd

    from touchstone.core.data import Roles
    from touchstone.core.data.predictions.upload import GivenFile, PredictionUpload
    from touchstone.core.workspace import LOCAL_OWNER

    roles = Roles(id="id", truth="gold", predicted="predicted", confidence="confidence")
    workspace, parameters = fresh_home(), {}
    for name, size in (("reference", n), ("target", n // 10)):
        rng = np.random.default_rng(size)
        gold, sure = rng.integers(3, size=size), np.round(0.4 + 0.6 * rng.random(size) ** 0.5, 3)
        names, right = np.array(["cat", "dog", "fox"]), rng.random(size) < sure
        columns = {"id": np.arange(size), "gold": names[gold], "confidence": sure}
        table = pd.DataFrame(columns | {"predicted": names[np.where(right, gold, (gold + 1) % 3)]})
        given = GivenFile(f"{name}.tsv", table.to_csv(sep="\t", index=False).encode(), roles)
        parameters[name] = workspace.add_predictions(LOCAL_OWNER, PredictionUpload(given))
    return page_of("matched_subsets", parameters, again=again)


def page_of_data(n: int, *, peer: bool, made: Callable[[int], Path], stem: str, again: bool = False) -> Work:
    """A page about a data set of n rows, which is stored."""
    from touchstone.core.data.tables.datasets import read_dataset
    from touchstone.core.workspace import LOCAL_OWNER

    dataset = read_dataset(made(n))
    fresh_home().add_dataset(LOCAL_OWNER, dataset)
    return page_of(stem, {"data": dataset.fingerprint}, again=again)


def page_of_folds(n: int, *, peer: bool, made: Callable[[int], Path], again: bool = False) -> Work:
    """The page of cluster folds with a finished run over n rows of a table: k-means folds beside random ones."""
    from touchstone.core.data.tables.datasets import read_dataset
    from touchstone.core.trials import FoldPlan
    from touchstone.core.workspace import LOCAL_OWNER
    from touchstone.core.workspace.engine.runner import engine
    from touchstone.ui.shell.share import parameters_of

    dataset, workspace = read_dataset(made(n)), fresh_home()
    plan = FoldPlan(schemes=("random_folds", "sds_folds"), models=("logistic",), n_folds=5, seeds=(0, 1, 2))
    run = workspace.create_run(LOCAL_OWNER, plan, workspace.add_dataset(LOCAL_OWNER, dataset))
    engine().start(LOCAL_OWNER, run.id)
    while workspace.run(LOCAL_OWNER, run.id).state == "running":
        time.sleep(0.5)
    run = workspace.run(LOCAL_OWNER, run.id)
    assert run.state == "done", run.errors
    led = parameters_of(run)
    assert led is not None
    return page_of(*led, again=again)


def fresh_home() -> "Workspace":
    from touchstone.core.workspace.engine.runner import engine
    from touchstone.ui.shell import serving

    os.environ |= {"TOUCHSTONE_HOME": tempfile.mkdtemp(), serving.LAUNCHED: "yes"}
    return engine().workspace


def page_of(stem: str, parameters: Mapping[str, str | list[str]], *, again: bool) -> Work:
    """A page by AppTest, until nothing is computed any more."""
    from streamlit.testing.v1 import AppTest
    from streamlit.util import calc_hash

    app = AppTest.from_file(Path(__file__).resolve().parents[1] / "ui" / "shell" / "router.py", default_timeout=3600)
    app._page_hash = calc_hash(stem)  # a session that begins there draws no other page first
    for name, value in parameters.items():
        app.query_params[name] = value

    def drawn() -> None:
        app.run()
        while app.get("status"):
            time.sleep(0.5)
            app.run()
        assert not app.exception, app.exception[0].value

    if again:
        drawn()
    return drawn
