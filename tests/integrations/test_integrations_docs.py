"""Does what docs/integrations.md shows run? Code as it stands, steps of CI systems in a shell, cells in a kernel."""

import os
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import pytest
import yaml

from tests.conftest import ROOT
from tests.test_command_check import worse_model

PAGE = (ROOT / "docs" / "integrations.md").read_text("utf-8")
SECTIONS = {section.partition("\n")[0]: section for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]}
WHY = "not installed: make integrations"


def blocks(section: str, language: str) -> list[str]:
    """The code of a section in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", SECTIONS[section], re.MULTILINE | re.DOTALL)


def run(words, folder, **more: str) -> subprocess.CompletedProcess[str]:
    known = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **more}
    return subprocess.run(words, cwd=folder, env=known, text=True, capture_output=True, timeout=300)


def python(code: str, folder, **more: str) -> str:
    (folder / "page.py").write_text(code)
    done = run([sys.executable, "page.py"], folder, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


# Training and MLflow, with what the page takes for granted before its code.

BERT = """
from transformers import BertConfig, BertForSequenceClassification, TrainingArguments
model = BertForSequenceClassification(BertConfig(
    vocab_size=9, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8, num_labels=3))
args = TrainingArguments(
    "out", max_steps=200, eval_strategy="steps", eval_steps=100, use_cpu=True, report_to=[], disable_tqdm=True,
    per_device_train_batch_size=2, save_strategy="no", metric_for_best_model="accuracy_low")
train_rows = test_rows = [{"input_ids": [row % 9, row % 3], "labels": row % 3} for row in range(12)]
ids = [f"text {row}" for row in range(12)]
"""
BATCHES = """
import torch
rows = [(torch.randn(4), row % 3, f"s{row}") for row in range(24)]
train_batches = test_batches = torch.utils.data.DataLoader(rows, batch_size=8)
"""


def test_the_trainer_of_hugging_face_and_the_comparison_of_its_files(tmp_path):
    pytest.importorskip("transformers", reason=WHY)
    pytest.importorskip("accelerate", reason=WHY)
    [code] = blocks("Hugging Face Trainer", "python")
    python(BERT + code + "\nassert 'eval_accuracy_low' in trainer.state.log_history[-2], trainer.state", tmp_path)
    [command] = blocks("Is the new checkpoint better?", "sh")
    done = run(tool(tmp_path, command), tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 1


def test_the_trainer_of_lightning(tmp_path):
    pytest.importorskip("lightning.pytorch", reason=WHY)
    [code] = blocks("Lightning", "python")
    seen = python(BATCHES + code + "\nprint(sorted(trainer.callback_metrics))", tmp_path)
    assert seen.strip().splitlines()[-1] == "['val_accuracy', 'val_accuracy_high', 'val_accuracy_low', 'val_n']"
    assert len([*tmp_path.rglob("predictions_val_*.tsv")]) == 2


def test_mlflow(tmp_path):
    pytest.importorskip("mlflow", reason=WHY)
    [code] = blocks("MLflow", "python")
    ask = "\nrun = mlflow.last_active_run()\nprint(sorted(run.data.metrics), sorted(run.data.tags))"
    seen = python(code + ask, tmp_path, MLFLOW_TRACKING_URI="sqlite:///mlflow.db")
    for name in re.findall(r"`(source_robustness\.\S+|touchstone\.\S+)`", SECTIONS["MLflow"]):
        assert f"'{name}'" in seen


# Continuous integration: the files are what these systems take, and their commands run in a shell.


def tool(folder, script: str) -> list[str]:
    """A shell that runs the commands of a CI system, where `touchstone` and `pip` are on the path."""
    programs = folder / "programs"
    programs.mkdir()
    call = "from touchstone.ui.shell.tool import main; main()"
    for name, does in {"touchstone": f'"{sys.executable}" -c "{call}" "$@"', "pip": 'echo "$@" > pip.txt'}.items():
        (programs / name).write_text(f"#!/bin/sh\n{does}\n")
        (programs / name).chmod(0o755)
    return [shutil.which("bash") or "sh", "-ec", f'export PATH="{programs}:$PATH"\n{script}']


def test_the_workflow_of_github(tmp_path):
    [text] = blocks("GitHub Actions", "yaml")
    [job] = yaml.load(text, Loader=yaml.BaseLoader)["jobs"].values()
    steps = job["steps"]
    assert all(("uses" in step) != ("run" in step) for step in steps)
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]) for step in steps if "uses" in step)
    worse_model(tmp_path)
    script = "\n".join(step["run"] for step in steps if "run" in step)
    done = run(tool(tmp_path, script), tmp_path, GITHUB_STEP_SUMMARY=str(tmp_path / "page of the run"))
    assert done.returncode == 1, done.stderr
    assert (tmp_path / "pip.txt").read_text() == "install ./touchstone\n"
    assert "| fails |" in (tmp_path / "page of the run").read_text()
    kept = next(step["with"]["path"] for step in steps if "upload" in step.get("uses", ""))
    assert ElementTree.parse(tmp_path / kept).getroot().get("failures") == "1"


def test_the_job_of_gitlab(tmp_path):
    [text] = blocks("GitLab", "yaml")
    [job] = yaml.safe_load(text).values()
    worse_model(tmp_path)
    done = run(tool(tmp_path, "\n".join(job["script"])), tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.returncode not in job["allow_failure"]["exit_codes"] == [3]
    assert ElementTree.parse(tmp_path / job["artifacts"]["reports"]["junit"]).getroot().get("failures") == "1"
    assert all((tmp_path / path).exists() for path in job["artifacts"]["paths"])


# Notebooks.


def test_cells_of_jupyter(tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat", reason=WHY)
    nbclient = pytest.importorskip("nbclient", reason=WHY)
    pytest.importorskip("ipykernel", reason=WHY)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    cells = [nbformat.v4.new_code_cell(code) for code in blocks("Jupyter", "python")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    shown, table, figure = ([output.data for output in cell.outputs if "data" in output][-1] for cell in cells)
    assert shown["text/plain"].startswith("<Result: Logistic regression")
    assert "Logistic regression" in shown["text/html"]
    assert shown["text/html"].count("<dt>") == 4
    assert "<iframe" in shown["text/html"]
    assert "<table" in table["text/html"]
    assert "application/vnd.plotly.v1+json" in figure


def test_the_notebook_of_marimo(tmp_path):
    pytest.importorskip("marimo", reason=WHY)
    [code] = blocks("marimo", "python")
    (tmp_path / "notebook.py").write_text(code)
    ask = "from notebook import app\noutputs, names = app.run()\nprint([type(each).__name__ for each in outputs])"
    assert python(ask, tmp_path).strip() == "['DataFrame', 'Figure']"
    checked = run([sys.executable, "-m", "marimo", "check", "notebook.py"], tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr
