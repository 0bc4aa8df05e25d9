"""Is every kind of claim measured, and does the table say what the pages read?"""

import ast
import re
from math import nan
from pathlib import Path

import numpy as np
import pytest

from benchmarks.bench_verdicts import DOC, table
from tests.plain_words import problems
from tests.worlds.every import every_world
from tests.worlds.measure import measure
from tests.worlds.world import World
from touchstone.core.__main__ import main
from touchstone.core.evaluate import claim_error_rates
from touchstone.core.evaluate.claim_error_rates import FILE, Rate, about, rates, reference, reliability, written
from touchstone.core.evaluate.claims import KINDS, Claim, claim
from touchstone.core.evaluate.intervals import UNKNOWN, Interval
from touchstone.core.evaluate.test_quality.verdict import SHARE_KINDS
from touchstone.core.questions import QUESTIONS
from touchstone.core.report import model_pairs

TOY = "cluster_folds.goes_with"
ROOMS = (Path(claim_error_rates.__file__).parent, Path(model_pairs.__file__).parent)
MAKES_CLAIMS = re.compile(r"^from touchstone\.core\.evaluate\.claims import .*\bclaim\b", re.MULTILINE)
KIND = re.compile(rf"(?:{'|'.join([*QUESTIONS, 'weak_slices'])})\.[a-z_]+")


def kinds_in_code() -> set[str]:
    """Every text that is the name of a kind of claim, docstrings and the registry apart, where claims are made."""
    texts = (
        node.value
        for room in ROOMS
        for path in room.rglob("*.py")
        if room is ROOMS[0] or MAKES_CLAIMS.search(path.read_text(encoding="utf-8"))
        if path.name != "claims.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return {text for text in texts if KIND.fullmatch(text)}


OF_SEVERAL = {"matched_subsets.models"}
"""The worst claim of several models, of a kind that is measured for one model, too."""
SHARE_OF_CLASS = {f"test_quality.{name}" for name in SHARE_KINDS.values()}
"""Kinds whose names are put together."""
ALWAYS_ABOVE = {"data_set_adequacy.gap"}
"""Kinds whose worlds all have an effect, so that only "small" and "below" can be wrong in them."""


def test_every_kind_of_claim_has_worlds_where_it_may_be_wrong_and_a_measured_rate():
    """Without an effect, or with one of the other sign, "above" is wrong."""
    effects = [(kind, effect) for world in every_world() for kind, effect in world.effects.items()]
    kinds = {kind for kind, _ in effects}
    assert kinds_in_code() <= kinds
    assert kinds - ALWAYS_ABOVE == {kind for kind, effect in effects if effect <= 0}
    assert kinds == {rate.kind for rate in rates()}
    assert kinds - OF_SEVERAL == set(KINDS), "every kind has an entry, and every entry rates"
    assert {kind for kind in kinds_in_code() if kind in kinds} | SHARE_OF_CLASS == set(KINDS), "every entry is used"


def test_codes_are_unique_and_stand_in_the_docs_with_all_that_is_known(capsys):
    assert len({entry.code for entry in KINDS.values()}) == len({entry.title for entry in KINDS.values()}) == len(KINDS)
    letters = {(kind.partition(".")[0], entry.code[0]) for kind, entry in KINDS.items()}
    assert len(letters) == len(dict(letters)) == len({letter for _, letter in letters}), "a letter is a question"
    page = DOC.parent.parent / "claims.md"
    assert page.read_text("utf-8") == reference(), "write it anew: python -m core claims > docs/claims.md"
    for kind, entry in KINDS.items():
        assert re.fullmatch(r"[A-Z]\d\d", entry.code)
        assert all(getattr(entry, decision) for decision in entry.made)
        assert bool(entry.small) == (entry.smallest > 0), f"{kind} is decided to be small exactly where something is"
        assert not list(
            problems(f"{entry.name}. {entry.above} {entry.below} {entry.small} {entry.when} {entry.advice}")
        )
        assert main(["claims", entry.code]) == 0
        assert f"## {entry.name}\n" in (section := capsys.readouterr().out)
        assert "simulated cases" in section


def test_a_claim_of_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="no kind of claim 'toy'"):
        Claim("toy", 0.0, Interval(-1.0, 1.0), 1.0, 0.0, 0.0, "undecided")


def test_the_table_is_the_one_that_pages_read():
    assert table(rates()) in DOC.read_text(encoding="utf-8")
    assert written(rates()) == FILE.read_text(encoding="utf-8")


def test_names_of_worlds_are_their_own():
    names = [(world.question, world.name) for world in every_world()]
    assert len(names) == len(set(names))


def lying(decision_of: dict[int, tuple[float, float]]):
    """A world's claims whose interval hangs on the method's seed alone: `claims(data_seed, method_seed)`."""

    def claims(data_seed: int, method_seed: int) -> dict[str, Claim]:
        lower, upper = decision_of[(data_seed + method_seed) % 2]
        p = 1.0 if lower <= 0 <= upper else 0.01
        return {TOY: claim(TOY, (lower + upper) / 2, Interval(lower, upper), p)}

    return claims


@pytest.mark.parametrize(
    ("effect", "seeds", "n_wrong", "n_contrary", "n_unsteady"),
    [
        pytest.param(0.0, {0: (0.1, 0.3), 1: (0.1, 0.3)}, 4, 0, 0, id="always wrong"),
        pytest.param(0.2, {0: (0.1, 0.3), 1: (-0.3, -0.1)}, 2, 4, 4, id="seeds against each other"),
        pytest.param(0.2, {0: (-0.1, 0.3), 1: (-0.1, 0.3)}, 0, 0, 0, id="never decided"),
        pytest.param(0.2, {0: (0.1, 0.3), 1: (-0.1, 0.3)}, 0, 0, 4, id="one seed undecided"),
    ],
)
def test_wrong_and_disagreeing_claims_are_counted(effect, seeds, n_wrong, n_contrary, n_unsteady):
    (row,) = measure(World("toy", "toy", {TOY: effect}, lying(seeds)), 4)
    assert (row.n, row.n_wrong, row.n_contrary, row.n_unsteady) == (4, n_wrong, n_contrary, n_unsteady)


def test_what_numpy_counted_of_the_best_test_can_be_written():
    world = World("toy", "toy", {TOY: 0.2}, lying({0: (0.1, 0.3), 1: (0.1, 0.3)}), lambda _: {TOY: np.True_})
    (row,) = measure(world, 3)
    assert row.n_best == 3
    assert '"n_best": 3' in written((Rate(row.kind, "toy", row.effect, row.n, 0, 3, row.n_best, 0, 0),))


def test_what_a_page_says_of_a_kind_comes_from_the_measured_rows(monkeypatch):
    mine = Rate(TOY, "easy", 0.1, 600, 1, 500, None, 0, 0)
    hard = Rate(TOY, "hard", 0.0, 400, 8, 0, None, 0, 0)
    barred = Rate(TOY, "hopeless", 0.0, 400, 200, 0, None, 0, 0, reported=True)
    monkeypatch.setattr(claim_error_rates, "rates", lambda: (mine, hard, barred))
    assert reliability(claim(TOY, 0.2, Interval(0.1, 0.3), 0.01)) == (
        "Sentences like this one were wrong in 8 of 400 simulated cases where there was nothing to find. "
        "In the hardest world it was 8 of 400."
    )
    assert reliability(claim(TOY, 0.0, Interval(-0.1, 0.1), 0.9, smallest=0.2)) == (
        "Sentences like this one were wrong in 1 of 600 simulated cases where there was something to find. "
        "In the hardest world it was 1 of 600."
    )
    assert reliability(claim(TOY, nan, Interval(nan, nan), nan)) == "", "nothing is said, so nothing is wrong"
    assert reliability(claim("cluster_folds.harder", 0.2, Interval(0.1, 0.3), 0.01)) == ""
    assert about(claim(TOY, 0.2, Interval(0.1, 0.3), 0.01)).startswith("F06 Scores correlate with")
    assert "below 20.0 points is not" in about(claim("cluster_folds.harder", nan, UNKNOWN, nan, smallest=0.2))
