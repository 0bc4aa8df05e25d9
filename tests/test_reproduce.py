"""The command that runs the papers' tables again: each has its row in the docs, and a verdict says what it should."""

import json
import sys

import pytest

from benchmarks import reproduce
from core.evaluate.intervals import Interval
from tests.conftest import ROOT


@pytest.mark.parametrize(("paper", "table"), list(reproduce.PIECES))
def test_every_table_has_its_command_in_the_docs(paper, table):
    assert f"`reproduce {paper} {table}" in (ROOT / "docs" / "reproduction.md").read_text("utf-8")


@pytest.mark.parametrize(("printed", "verdict"), [(0.9, "agrees"), (0.7, "ours is above"), (0.99, "ours is below")])
def test_a_printed_number_agrees_where_it_lies_in_our_interval(printed, verdict):
    assert reproduce.holds(Interval(0.8, 0.95), printed) == verdict


def test_a_result_is_appended_to_what_there_is_and_shown(tmp_path, monkeypatch, capsys):
    piece = reproduce.Piece("a toy", lambda bench: [reproduce.Row("mean", ".5 [.4, .6]", ".55", "agrees")])
    monkeypatch.setitem(reproduce.PIECES, ("000", "toy"), piece)
    monkeypatch.setattr(sys, "argv", ["reproduce", "000", "toy", "--home", str(tmp_path)])
    reproduce.main()
    reproduce.main()
    results = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    assert [result["rows"][0]["ours"] for result in results] == [".5 [.4, .6]"] * 2
    assert "| mean | .5 [.4, .6] | .55 | agrees |" in capsys.readouterr().out


def test_without_a_table_all_are_listed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["reproduce", "001"])
    reproduce.main()
    assert len(capsys.readouterr().out.splitlines()) == len(reproduce.PIECES)
