"""The command that runs the papers' tables again: each has its row in the docs, and a verdict says what it should."""

import json
import sys

import pytest

from benchmarks import reproduce
from tests.conftest import ROOT
from touchstone.core.data import load_example
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.trials import TrialPlan


@pytest.mark.parametrize(("paper", "table"), list(reproduce.PIECES))
def test_every_table_has_its_command_in_the_docs(paper, table):
    assert f"`reproduce {paper} {table}" in (ROOT / "docs" / "reproduction.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        (Interval(0.89, 0.915), "agrees"),
        (Interval(0.6, 0.99), "undecided"),
        (Interval(0.91, 0.95), "undecided"),
        (Interval(0.93, 0.95), "differs, ours is above"),
        (Interval(0.7, 0.87), "differs, ours is below"),
    ],
)
def test_a_printed_number_agrees_where_our_whole_interval_is_near_it(interval, verdict):
    """A wide interval holds much, and shows nothing."""
    assert reproduce.agreement(interval, 0.9) == verdict


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


@pytest.mark.evidence
def test_a_table_of_what_is_stored_says_of_how_many_trials_it_is_and_runs_none(tmp_path, monkeypatch):
    plan, wine = TrialPlan(models=("nearest_neighbours",), n_repeats=2), load_example("wine")

    def counted(bench: reproduce.Bench) -> list[reproduce.Row]:
        return [reproduce.Row("rows", str(len(bench.rows(plan, wine))))]

    monkeypatch.setitem(reproduce.PIECES, ("000", "toy"), reproduce.Piece("a toy", counted))
    for stored in (["--stored"], [], ["--stored"]):
        monkeypatch.setattr(sys, "argv", ["reproduce", "000", "toy", "--home", str(tmp_path), *stored])
        reproduce.main()
    none, worked_off, again = map(json.loads, (tmp_path / "results.jsonl").read_text().splitlines())
    n_trials = plan.n_trials(wine)
    assert [one["trials"] for one in (none, again)] == [[f"{n} of {n_trials} trials"] for n in (0, n_trials)]
    assert none["rows"][0]["ours"] == "0"
    assert int(worked_off["rows"][0]["ours"]) >= n_trials
    assert again["rows"] == worked_off["rows"]
