"""Does a Trainer of Lightning log each accuracy with its interval, and keep predictions that can be compared?"""

import ast
import os
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import torch

from tests.conftest import ROOT
from touchstone import compare, lightning_callback
from touchstone.core.data import DataError, read_predictions
from touchstone.core.evaluate.intervals import wilson
from touchstone.core.integrations.lightning_ai import _Samples

WHY = "lightning is not installed: make integrations"


def test_without_the_package_it_says_what_to_install(monkeypatch):
    for name in ("lightning", "lightning.pytorch"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr("touchstone.core.integrations.lightning_ai.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"needs lightning, .*: pip install lightning\."):
        lightning_callback()


# Without the package: what is done of what steps give. A stand-in has the base class alone.


@pytest.fixture
def stand_in(monkeypatch):
    package, inner = ModuleType("lightning"), SimpleNamespace(Callback=type("Callback", (), {}))
    monkeypatch.setitem(sys.modules, "lightning", package)
    monkeypatch.setitem(sys.modules, "lightning.pytorch", inner)
    monkeypatch.setattr("touchstone.core.integrations.lightning_ai.find_spec", lambda name: name)


def a_trainer(folder):
    return SimpleNamespace(
        sanity_checking=False,
        world_size=1,
        is_global_zero=True,
        global_step=5,
        log_dir=str(folder),
        default_root_dir="",
    )


def module(logged):
    return SimpleNamespace(log_dict=lambda values, sync_dist: logged.update(values))


def batches(y, y_pred, **more):
    scores = torch.nn.functional.one_hot(torch.tensor(y_pred), 3).to(torch.bfloat16) * 4
    for start in range(0, len(y), 8):
        rows = slice(start, start + 8)
        yield {"scores": scores[rows], "y_true": torch.tensor(y[rows]), **{name: v[rows] for name, v in more.items()}}


def test_batches_become_an_accuracy_with_the_products_interval_and_a_file(stand_in, tmp_path):
    y = np.arange(60) % 3
    y_pred = np.where(np.arange(60) < 15, 0, y)
    judge, trainer, logged = lightning_callback(class_names=["cat", "dog", "fox"]), a_trainer(tmp_path), {}
    for place, given in enumerate((y_pred, y)):
        steps = batches(y, given, ids=[f"s{row}" for row in range(60)], unit=torch.arange(60) // 6)
        for number, outputs in enumerate(steps):
            judge.on_test_batch_end(trainer, None, outputs, None, number, place)
    judge.on_test_epoch_end(trainer, module(logged))
    assert logged["test_accuracy"] == (y_pred == y).mean()
    assert logged["test_accuracy_low"] < wilson(50.0, 60.0).lower  # units count, not samples
    assert (logged["test_n"], logged["test_1_accuracy"]) == (60, 1)
    kept = read_predictions(tmp_path / "predictions_test_5.tsv").select()
    assert kept.class_names == ("cat", "dog", "fox")
    assert (kept.y_true.tolist(), kept.y_pred.tolist()) == (y.tolist(), y_pred.tolist())
    assert kept.ids[-1] == "s59"
    assert kept.units[-1] == "9"
    assert (tmp_path / "predictions_test_1_5.tsv").exists()


def test_batches_before_training_count_for_nothing_and_epochs_begin_anew(stand_in, tmp_path):
    y, logged = np.arange(24) % 3, {}
    judge, trainer = lightning_callback(folder=tmp_path), a_trainer("nowhere")
    trainer.sanity_checking = True
    judge.on_validation_batch_end(trainer, None, next(batches(y, y)), None, 0)
    judge.on_validation_epoch_end(trainer, module(logged))
    assert not logged
    trainer.sanity_checking = False
    for _ in range(2):  # the first of which is broken off
        judge.on_validation_epoch_start(trainer, None)
        judge.on_validation_batch_end(trainer, None, next(batches(y, y)), None, 0)
    judge.on_validation_epoch_end(trainer, module(logged))
    assert logged["val_n"] == 8
    assert [file.name for file in tmp_path.iterdir()] == ["predictions_val_5.tsv"]


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        (torch.tensor(0.5), "validation_step gives a Tensor"),
        (None, "validation_step gives a NoneType"),
        ({"loss": torch.tensor(0.5), "scores": torch.zeros(1, 2)}, "validation_step gives 'loss', 'scores'"),
    ],
)
def test_a_step_that_gives_no_scores_is_told_what_to_return(stand_in, tmp_path, outputs, words):
    with pytest.raises(DataError, match=f"{words}. Let it return a dict with 'scores' and 'y_true'"):
        lightning_callback().on_validation_batch_end(a_trainer(tmp_path), None, outputs, None, 0)


def test_samples_of_several_processes_count_once():
    first, second = _Samples(), _Samples()
    first.add("step", {"scores": np.eye(2), "y_true": [0, 1], "ids": ["a", "b"]})
    second.add("step", {"scores": np.eye(2)[::-1], "y_true": [1, 0], "ids": ["c", "a"]})
    joined = _Samples.joined([first, second])
    assert joined.ids == ["a", "b", "c"]
    assert joined.y_true[0].tolist() == [0, 1, 1]
    assert joined.scores[0].tolist() == [[1, 0], [0, 1], [0, 1]]
    second.ids[0] = "b"
    with pytest.raises(DataError, match="4 samples have 2 different ids"):
        _Samples.joined([first, second])
    second.ids.clear()
    with pytest.raises(DataError, match="only ids tell which"):
        _Samples.joined([first, second])


# With the package: a small network that is trained, in one process and in two.

SCRIPT = """
import sys, torch
import {pl} as pl
from touchstone import lightning_callback

class Network(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 3)
    def forward(self, x):
        return self.layer(x)
    def training_step(self, batch, number):
        x, y, _ = batch
        return torch.nn.functional.cross_entropy(self(x), y)
    def validation_step(self, batch, number, dataloader_idx=0):
        x, y, ids = batch
        return {{"scores": self(x), "y_true": y, "ids": ids}}
    test_step = validation_step
    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.05)

if __name__ == "__main__":
    pl.seed_everything(0)
    y = torch.arange(61) % 3
    x = torch.nn.functional.one_hot(y, 4) + 0.7 * torch.randn(61, 4)
    data = [(each, int(label), f"s{{row}}") for row, (each, label) in enumerate(zip(x, y))]
    best = pl.callbacks.ModelCheckpoint("out/best", monitor="val_accuracy_low", mode="max")
    judge = lightning_callback(class_names=["cat", "dog", "fox"], folder="out")
    trainer = pl.Trainer(
        max_epochs=3, accelerator="cpu", devices={devices}, strategy="{strategy}", callbacks=[best, judge],
        logger=False, enable_progress_bar=False, enable_model_summary=False,
    )
    network = Network()
    loader = lambda **how: torch.utils.data.DataLoader(data, batch_size=16, **how)
    trainer.fit(network, loader(shuffle=True), loader())
    seen = dict(trainer.callback_metrics)
    trainer.test(network, [loader(), loader()], verbose=False)
    if trainer.is_global_zero:
        numbers = {{name: float(value) for name, value in {{**seen, **trainer.callback_metrics}}.items()}}
        print(numbers, float(best.best_model_score))
"""


def trained(folder, **how) -> tuple[dict[str, float], float]:
    (folder / "train.py").write_text(SCRIPT.format(**how))
    known = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "MASTER_ADDR": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "train.py"], cwd=folder, env=known, text=True, capture_output=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return ast.literal_eval("(" + done.stdout.strip().splitlines()[-1].replace("} ", "}, ") + ")")


def test_where_only_the_older_package_is_there_it_is_a_callback_of_that(monkeypatch):
    older = pytest.importorskip("pytorch_lightning", reason=WHY)
    where = "touchstone.core.integrations.lightning_ai.find_spec"
    monkeypatch.setattr(where, lambda name: None if name == "lightning" else name)
    assert isinstance(lightning_callback(), older.Callback)


@pytest.mark.parametrize(
    ("pl", "devices", "strategy"),
    [("lightning.pytorch", 1, "auto"), ("pytorch_lightning", 1, "auto"), ("lightning.pytorch", 2, "ddp")],
)
def test_a_trainer_logs_the_interval_chooses_by_it_and_keeps_predictions(pl, devices, strategy, tmp_path):
    pytest.importorskip(pl, reason=WHY)
    numbers, best = trained(tmp_path, pl=pl, devices=devices, strategy=strategy)
    assert numbers["val_n"] == numbers["test_n"] == numbers["test_1_n"] == 61
    interval = wilson(float(round(61 * numbers["val_accuracy"])), 61.0)
    assert numbers["val_accuracy_low"] == pytest.approx(interval.lower, abs=1e-6)
    assert numbers["val_accuracy_high"] == pytest.approx(interval.upper, abs=1e-6)
    assert best >= numbers["val_accuracy_low"] - 1e-6
    files = sorted(tmp_path.glob("out/predictions_val_*.tsv"), key=lambda file: int(file.stem.split("_")[-1]))
    assert len(files) == 3
    kept = [read_predictions(file).select() for file in files]
    assert kept[-1].accuracy == pytest.approx(numbers["val_accuracy"])
    assert {*kept[-1].ids} == {f"s{row}" for row in range(61)}
    assert kept[-1].y_true.tolist() == [int(name[1:]) % 3 for name in kept[-1].ids]
    assert compare(files[0], files[-1]).quantities[0].n == 61
    assert len([*tmp_path.glob("out/predictions_test_1_*.tsv")]) == 1
