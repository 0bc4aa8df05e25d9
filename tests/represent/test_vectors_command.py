"""Vectors made and attached on the command line."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from touchstone.core.__main__ import main
from touchstone.core.data import load_example
from touchstone.core.data.tables.vectors import read_vectors, write_vectors

TEXTS = "id\ttext\tlabel\nr1\ta red fox\tanimal\nr2\tblue sky\tweather\nr3\tred sky\tweather\nr4\tthe fox\tanimal\n"
WORDS = "4 2\nred 1 0\nfox 0 1\nblue 2 2\nsky 0 4\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "texts.tsv").write_text(TEXTS)
    (tmp_path / "words.vec").write_text(WORDS)
    return tmp_path


def test_word_vectors_become_a_file_by_id(folder, capsys):
    pytest.importorskip("gensim", reason="gensim is optional: it reads ready-made word vectors")
    out = folder / "v.parquet"
    arguments = ["--data", str(folder / "texts.tsv"), "--word-vectors", str(folder / "words.vec"), "--out", str(out)]
    assert main(["vectors", *arguments]) == 0
    assert "2 of 9 words (22.2%) are not among them" in capsys.readouterr().err
    given = read_vectors(out)
    assert given.ids == ("r1", "r2", "r3", "r4")
    np.testing.assert_array_equal(given.vectors, [[0.5, 0.5], [1, 3], [0.5, 2], [0, 1]])


def test_a_run_takes_vectors_by_id(folder, capsys):
    wine = load_example("wine")
    vectors = np.random.default_rng(0).normal(size=(178, 3))
    (folder / "v.parquet").write_bytes(write_vectors(list(wine.ids[::-1]), vectors[::-1]))
    plan = '{"kind":"map","method":"pca","representation":"own_vectors","n_components":null}'
    assert main(["run", "--data", "wine", "--vectors", str(folder / "v.parquet"), plan]) == 0
    rows = pd.read_csv(io.StringIO(capsys.readouterr().out), sep="\t")
    assert len(rows) == 178
    assert (rows["status"] == "ok").all()
    assert main(["run", "--data", "wine", plan]) == 2
    assert "no vectors of its own" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("data", "more", "words"),
    [
        ("wine", ["--sentence-transformers", "x", "--out", "v.parquet"], "made of texts here, and this is tabular"),
        ("texts.tsv", ["--sentence-transformers", "nowhere", "--out", "v.parquet"], "there is no such folder"),
        ("texts.tsv", ["--sentence-transformers", ".", "--out", "v.tsv"], "ends in .parquet"),
        ("texts.tsv", ["--sentence-transformers", ".", "--out", "gone/v.parquet"], "a folder that exists"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(folder, monkeypatch, capsys, data, more, words):
    monkeypatch.chdir(folder)
    assert main(["vectors", "--data", data, *more]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said
    assert not (folder / "v.parquet").exists()
