"""Are planted slices found, is nothing found where nothing is, and do rules stay what a slow search says they are?"""

import re
from html import escape
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import touchstone
from tests.worlds.weak_slices import drawn
from touchstone.core.__main__ import main
from touchstone.core.data import DataError, Predictions
from touchstone.core.evaluate.intervals import clopper_pearson
from touchstone.core.evaluate.metrics import METRICS
from touchstone.core.evaluate.units import half_of_units
from touchstone.core.evaluate.weak_slices import (
    FEWEST,
    LEAST_Z,
    columns_of,
    conditions_of,
    find_weak_slices,
    tells,
)


def rng(seed):
    return np.random.default_rng(seed)


def slices(seed=0, **how):
    answers, columns, members = drawn(seed, **how)
    return find_weak_slices(answers, columns), members, columns


def is_hit(made, members, columns) -> bool:
    """Whether a weak slice and the planted one share more samples than either has beside."""
    masks = [np.logical_and.reduce([each.holds(columns) for each in one.rule]) for one in made.weak]
    return any((mask & members).sum() > 0.5 * (mask | members).sum() for mask in masks)


def test_a_planted_slice_is_found():
    assert is_hit(*slices(1, n=2000, planted=True))


def test_the_first_rule_is_the_best_of_all_pairs():
    """A slow second opinion: every single and every pair by its own loop, the score test of a share."""
    answers, columns, _ = drawn(3, n=600, planted=True, beside=1)
    finds = half_of_units(np.unique(answers.ids.astype(str), return_inverse=True)[1], np.ones(600, bool), rng(0))
    wrong = ~answers.correct[finds]
    masks = {each: each.holds(columns) for each in conditions_of(columns_of(answers, columns), finds)}

    def z(mask):
        sizes = [part.sum() for half in (finds, ~finds) for part in (mask[half], ~mask[half])]
        if min(sizes) < FEWEST:
            return -np.inf
        inside, p = mask[finds], wrong.mean()
        rest = len(wrong) - inside.sum()
        return (wrong[inside].mean() - p) * np.sqrt(inside.sum() * len(wrong) / rest / (p * (1 - p)))

    def adds(one, other):
        return all(gap(masks[each], masks[one] & masks[other]) >= 2 for each in (one, other))

    def gap(mask, pair):
        inside, beside = pair[finds], (mask & ~pair)[finds]
        if not beside.any() or not inside.any():
            return -np.inf
        spread = wrong.std() * np.sqrt(1 / inside.sum() + 1 / beside.sum())
        return (wrong[inside].mean() - wrong[beside].mean()) / spread

    scores = {(each,): z(mask) for each, mask in masks.items()}
    scores |= {pair: z(masks[pair[0]] & masks[pair[1]]) for pair in combinations(masks, 2) if adds(*pair)}
    best = max(scores.values())
    rules = [each.rule for each in find_weak_slices(answers, columns).slices]
    assert best > LEAST_Z
    assert any(scores.get(rule, scores.get(rule[::-1])) == pytest.approx(best, abs=1e-6) for rule in rules)


def test_the_order_of_rows_changes_nothing():
    answers, columns, _ = drawn(1, n=1200, planted=True)
    order = rng(5).permutation(1200)
    again = find_weak_slices(answers.take(order), {name: values[order] for name, values in columns.items()})
    first = find_weak_slices(answers, columns)
    assert [each.name for each in first.slices] == [each.name for each in again.slices]
    assert first.table()["worse"].to_numpy() == pytest.approx(again.table()["worse"].to_numpy())


def test_units_are_never_on_both_sides():
    units = rng(0).integers(40, size=500)
    finds = half_of_units(units, np.ones(500, dtype=bool), rng(1))
    assert not {*units[finds]} & {*units[~finds]}


def test_a_constant_column_gives_nothing_and_gaps_are_a_condition():
    gaps = np.array([np.nan, 1.0] * 50)
    made = [*map(str, conditions_of({"constant": np.ones(100), "gaps": gaps}, np.ones(100, dtype=bool)))]
    assert made == ["gaps is missing"]


def test_ties_and_kinds_make_each_condition_once():
    columns = {"step": np.repeat([1.0, 2.0], 50), "kind": np.array(["a", "b"] * 50, dtype=object)}
    made = [*map(str, conditions_of(columns, np.ones(100, dtype=bool)))]
    assert made == ["step >= 2", "step < 2", "kind = a", "kind = b"]


def test_a_slice_where_a_number_is_missing_is_found():
    answers, columns, _ = drawn(4, n=2000)
    gaps = rng(2).random(2000) < 0.3
    y_pred = np.where(gaps & (rng(3).random(2000) < 0.5), 1 - answers.y_true, answers.y_pred)
    planted = Predictions(answers.ids, answers.y_true, y_pred, answers.class_names)
    made = find_weak_slices(planted, {**columns, "size": np.where(gaps, np.nan, 1.0)})
    assert made.weak[0].name == "size is missing"


def test_a_column_that_was_made_from_the_mistakes_is_left_out():
    answers, columns, _ = drawn(4)
    made = find_weak_slices(answers, {**columns, "loss": 1.0 * ~answers.correct})
    assert made.left_out == ("loss",)
    assert not tells(columns["number 0"], ~answers.correct)


def test_answers_that_are_all_right_or_of_few_samples_have_no_slice():
    answers, columns, _ = drawn(4)
    right = Predictions(answers.ids, answers.y_true, answers.y_true, answers.class_names)
    assert find_weak_slices(right, columns).slices == ()
    few = {name: values[:30] for name, values in columns.items()}
    assert find_weak_slices(answers.take(np.arange(30)), few).slices == ()
    assert find_weak_slices(answers).table().empty


@pytest.mark.parametrize("metric", [name for name, each in METRICS.items() if each.has_interval])
def test_every_metric_judges_slices(metric):
    answers, columns, _ = drawn(1, n=800, planted=True)
    made = find_weak_slices(answers, columns, metric=metric)
    assert all(each.interval.known or each.why_not for each in made.slices)


def test_what_cannot_be_judged_is_refused():
    answers, columns, _ = drawn(4)
    with pytest.raises(DataError, match="no interval"):
        find_weak_slices(answers, metric="expected_calibration_error")
    with pytest.raises(DataError, match="no class"):
        find_weak_slices(answers, metric="recall", positive="z")
    with pytest.raises(DataError, match="30 rows"):
        find_weak_slices(answers, {"number": columns["number 0"][:30]})


# Do Python, the command and the report say it?


@pytest.fixture
def answers(tmp_path):
    """A file of which those of 65 and older are wrong half the time, at either of two sites."""
    draws, truth = np.random.default_rng(0), np.tile(["cat", "dog"], 500)
    age, site = draws.uniform(20, 80, 1000), draws.choice(["north", "south"], 1000)
    wrong = draws.random(1000) < np.where(age >= 65, 0.5, 0.1)
    predicted = np.where(wrong, truth[::-1], truth)
    frame = pd.DataFrame({"id": range(1000), "truth": truth, "predicted": predicted, "age": age, "site": site})
    frame.to_csv(tmp_path / "answers.csv", index=False)
    return tmp_path / "answers.csv"


def test_python_takes_a_file_a_frame_or_columns_beside_predictions(answers):
    frame = pd.read_csv(answers)
    from_file, from_frame = touchstone.slices(answers), touchstone.slices(frame)
    assert from_file.verdict == from_frame.verdict
    assert re.match(r"age >= 6\d\.\d+: accuracy \d\d\.\d % against", from_file.verdict.headline)
    beside = touchstone.predictions(frame["truth"], frame["predicted"], ids=frame["id"])
    for columns in (frame[["age", "site"]], {"age": frame["age"].to_numpy(), "site": frame["site"].tolist()}):
        assert touchstone.slices(beside, columns).verdict.headline == from_file.verdict.headline
    assert "by 2 columns" in from_file.verdict.used, "what divides the rows is a column, too"
    assert from_file.basis.title == "Where is the model weak?"
    assert "Nothing is known of these samples" in touchstone.slices(beside).verdict.headline


def test_columns_that_are_none_or_of_other_samples_are_refused(answers):
    given = touchstone.predictions(["a", "b"] * 30, ["a", "b"] * 30)
    with pytest.raises(DataError, match="`columns` are a frame, or arrays by name"):
        touchstone.slices(given, [1, 2])
    with pytest.raises(DataError, match="age has 2 rows, and there are 60 predictions"):
        touchstone.slices(given, {"age": [1, 2]})
    with pytest.raises(DataError, match="Name one of them as the model"):
        touchstone.slices(answers, model="svm")


def test_a_muted_claim_is_not_said(answers):
    verdict = touchstone.slices(answers, mute={"W01": "known"}).verdict
    assert verdict.headline == "The answer rests on a muted claim."


def test_the_command_prints_slices_and_writes_a_report(answers, capsys, tmp_path):
    assert main(["slices", str(answers), "--report", str(tmp_path / "slices.html")]) == 0
    printed, told = capsys.readouterr()
    assert printed.splitlines()[0].split("\t")[:3] == ["slice", "metric", "value"]
    headline = touchstone.slices(answers).verdict.headline
    assert told.splitlines()[0] == headline
    page = (tmp_path / "slices.html").read_text("utf-8")
    assert "Where is the model weak?" in page
    assert escape(headline, quote=False) in page
    assert main(["slices", str(answers), "--metric", "roc_auc"]) == 2
    assert main(["slices", str(answers), "--report", str(tmp_path / "no" / "slices.html")]) == 2


@pytest.mark.evidence
def test_false_sentences_are_rare_and_planted_slices_are_found():
    for authors in (0, 300):
        n_false = sum(bool(slices(seed, authors=authors)[0].weak) for seed in range(60))
        assert clopper_pearson(n_false, 60, 0.05)[0] <= 0.05
    assert sum(is_hit(*slices(seed, n=2000, planted=True)) for seed in range(20)) >= 16
