"""Does a Trainer of Hugging Face log each accuracy with its interval, and keep predictions that can be compared?"""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from tests.conftest import ROOT
from touchstone import compare, hugging_face_callback
from touchstone.core.data import DataError, read_predictions
from touchstone.core.evaluate.intervals import wilson

WHY = "transformers and accelerate are not installed: make integrations"


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ImportError, match=r"needs transformers, .*: pip install transformers\."):
        hugging_face_callback()


# Without the package: what is done of what a Trainer gives. A stand-in has the base class alone.


@pytest.fixture
def stand_in(monkeypatch):
    base = type("TrainerCallback", (), {})
    monkeypatch.setitem(sys.modules, "transformers", SimpleNamespace(TrainerCallback=base))


def evaluation(y_pred, y_true, n_classes=3):
    return SimpleNamespace(predictions=3.0 * np.eye(n_classes, dtype=np.float32)[y_pred], label_ids=y_true)


def happened(folder, prefix="eval", step=7, **settings):
    args = SimpleNamespace(output_dir=str(folder), **settings)
    state = SimpleNamespace(global_step=step, is_world_process_zero=True)
    return {"args": args, "state": state, "control": None, "metrics": {f"{prefix}_accuracy": 0.5, f"{prefix}_n": 4}}


def test_the_numbers_are_accuracy_with_the_products_interval(stand_in):
    y = np.arange(90) % 3
    made = hugging_face_callback()(evaluation(np.where(np.arange(90) < 20, 0, y), y))
    n_right = float((np.where(np.arange(90) < 20, 0, y) == y).sum())
    interval = wilson(n_right, 90.0)
    assert made == {
        "accuracy": n_right / 90,
        "accuracy_low": interval.lower,
        "accuracy_high": interval.upper,
        "n": 90,
    }


def test_units_make_the_interval_wider_and_stand_in_the_file(stand_in, tmp_path):
    y, unit = np.arange(90) % 3, np.repeat([f"author {each}" for each in range(9)], 10)
    wrong = evaluation(np.where(unit < "author 2", (y + 1) % 3, y), y)
    plain, by_unit = (hugging_face_callback(unit=each)(wrong) for each in (None, unit))
    assert by_unit["accuracy_low"] < plain["accuracy_low"]
    judge = hugging_face_callback(unit=unit)
    judge(wrong)
    judge.on_evaluate(**happened(tmp_path))
    assert read_predictions(tmp_path / "predictions_eval_7.tsv").select().units.tolist() == unit.tolist()


def test_names_are_the_models_own_and_other_sets_have_their_prefix(stand_in, tmp_path):
    y = np.array([0, 1, 2, 1])
    names = {0: "cat", 1: "dog", 2: "fox"}
    judge = hugging_face_callback(ids=["d", "c", "b", "a"])
    for prefix in ("eval_old", "eval_new"):
        judge(evaluation([0, 1, 2, 2], y))
        judge.on_evaluate(**happened(tmp_path, prefix), model=SimpleNamespace(config=SimpleNamespace(id2label=names)))
    assert {file.name for file in tmp_path.iterdir()} == {"predictions_eval_old_7.tsv", "predictions_eval_new_7.tsv"}
    table = read_predictions(tmp_path / "predictions_eval_new_7.tsv").select()
    assert table.class_names == ("cat", "dog", "fox")
    assert table.ids.tolist() == ["d", "c", "b", "a"]
    assert (table.y_true.tolist(), table.y_pred.tolist()) == (y.tolist(), [0, 1, 2, 2])
    assert table.proba[0, 0] == pytest.approx(np.exp(3) / (np.exp(3) + 2))


def test_only_the_first_process_writes(stand_in, tmp_path):
    judge, event = hugging_face_callback(folder=tmp_path / "made"), happened(tmp_path)
    event["state"].is_world_process_zero = False
    judge(evaluation([0, 1], np.array([0, 1])))
    judge.on_evaluate(**event)
    assert not (tmp_path / "made").exists()


def test_what_else_a_model_gives_comes_after_its_logits_and_codes_are_taken(stand_in):
    y = np.array([0, 1, 1])
    made = SimpleNamespace(predictions=(np.eye(2)[y], np.zeros((3, 5, 8))), label_ids=y)
    assert hugging_face_callback()(made)["accuracy"] == 1
    assert hugging_face_callback()(SimpleNamespace(predictions=y, label_ids=y))["accuracy"] == 1


@pytest.mark.parametrize(
    ("predictions", "labels", "words"),
    [
        (np.zeros((4, 1)), np.zeros(4), "labels of shape"),
        (np.zeros((4, 6, 3)), np.zeros((4, 6), int), "labels of shape"),
        (np.zeros((4, 3)), np.zeros((4, 3)), "labels of shape"),
        (np.zeros((4, 1)), np.zeros(4, int), "no scores of two classes"),
        (np.zeros((4, 3)), np.array([0, 1, -100, 2]), "sample 2 has the label -100"),
        (np.array([[0.0, 1.0], [np.nan, 0.0]]), np.array([0, 1]), "sample 1: a score is missing"),
    ],
)
def test_what_is_no_single_class_per_sample_is_refused(stand_in, predictions, labels, words):
    with pytest.raises(DataError, match=words):
        hugging_face_callback()(SimpleNamespace(predictions=predictions, label_ids=labels))


def test_ids_of_another_set_are_refused_and_can_be_set_anew(stand_in):
    judge = hugging_face_callback(ids=["a", "b"])
    with pytest.raises(DataError, match="id is given for 2 samples, and 3 were evaluated"):
        judge(evaluation([0, 1, 2], np.arange(3)))
    judge.ids = ["a", "b", "c"]
    assert judge(evaluation([0, 1, 2], np.arange(3)))["n"] == 3


@pytest.mark.parametrize("settings", [{"train_sampling_strategy": "group_by_length"}, {"group_by_length": True}])
def test_an_order_that_nobody_is_told_is_refused_before_training(stand_in, settings, tmp_path):
    event = happened(tmp_path, **settings)
    with pytest.raises(DataError, match="by their length"):
        hugging_face_callback().on_train_begin(event["args"], event["state"], None)


def test_a_callback_alone_says_what_is_missing(stand_in, tmp_path):
    with pytest.raises(DataError, match="same object as compute_metrics="):
        hugging_face_callback().on_evaluate(**happened(tmp_path))


# With the package: a small network that is trained.


SCRIPT = """
import json
import numpy as np
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments, set_seed
from touchstone import hugging_face_callback

if __name__ == "__main__":
    set_seed(0)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 121)
    texts = (rng.integers(3, 9, (121, 6)) + 7 * y[:, None]).tolist()
    rows = [{"input_ids": text, "labels": int(label)} for text, label in zip(texts, y, strict=True)]
    names = dict(enumerate(("cat", "dog", "fox")))
    config = BertConfig(
        vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16, num_labels=3,
        id2label=names, label2id={name: code for code, name in names.items()},
    )
    args = TrainingArguments(
        output_dir="out", eval_strategy="epoch", save_strategy="epoch", load_best_model_at_end=True,
        metric_for_best_model="accuracy_low", num_train_epochs=2, learning_rate=0.01, per_device_train_batch_size=16,
        use_cpu=True, report_to=[], disable_tqdm=True,
    )
    judge = hugging_face_callback(ids=[f"text {row}" for row in range(61)])
    trainer = Trainer(
        BertForSequenceClassification(config), args, train_dataset=rows[:60], eval_dataset=rows[60:],
        compute_metrics=judge, callbacks=[judge],
    )
    trainer.train()
    judge.ids = None
    predicted = trainer.predict(rows[60:100])
    if trainer.is_world_process_zero():
        told = {"log": trainer.state.log_history, "best": trainer.state.best_metric, "test": predicted.metrics}
        with open("seen.json", "w") as file:
            json.dump({**told, "y": y[60:].tolist()}, file)
"""


@pytest.mark.parametrize("n_processes", [1, 2])
def test_a_trainer_logs_the_interval_chooses_by_it_and_keeps_predictions(n_processes, tmp_path):
    pytest.importorskip("transformers", reason=WHY)
    pytest.importorskip("accelerate", reason=WHY)
    (tmp_path / "train.py").write_text(SCRIPT)
    known = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    several = ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={n_processes}"]
    done = subprocess.run(
        [sys.executable, *(several if n_processes > 1 else ()), "train.py"],
        cwd=tmp_path,
        env=known,
        text=True,
        capture_output=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads((tmp_path / "seen.json").read_text())
    logged = [line for line in seen["log"] if "eval_accuracy" in line]
    assert len(logged) == 2
    kept = []
    for line in logged:
        interval = wilson(float(round(61 * line["eval_accuracy"])), 61.0)
        ends = (line["eval_accuracy_low"], line["eval_accuracy_high"], line["eval_n"])
        assert ends == (interval.lower, interval.upper, 61)
        kept.append(tmp_path / "out" / f"predictions_eval_{line['step']}.tsv")
        predictions = read_predictions(kept[-1]).select()
        assert predictions.accuracy == line["eval_accuracy"]
        assert predictions.class_names == ("cat", "dog", "fox")
        assert predictions.ids.tolist() == [f"text {row}" for row in range(61)]
        assert predictions.y_true.tolist() == seen["y"]
    assert seen["best"] == max(line["eval_accuracy_low"] for line in logged)
    assert compare(*kept).quantities[0].n == 61
    assert seen["test"]["test_n"] == 40
    assert seen["test"]["test_accuracy_low"] < seen["test"]["test_accuracy"]
    [test_file] = (tmp_path / "out").glob("predictions_test_*.tsv")
    assert read_predictions(test_file).select().n_samples == 40
