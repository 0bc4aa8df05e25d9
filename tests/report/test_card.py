"""Is a card right about a file? The small files of every kind that people had, and what was drawn like them."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from touchstone.core.__main__ import main
from touchstone.core.report.card import Given, read_card

KEYS = {"n", "n_given", "classes", "accuracy", "baseline", "metric", "unit", "roles", "features", "label"}
MORE_KEYS = {"kind_of_data", "tasks", "warnings", "questions", "refused"}


@pytest.fixture(scope="module")
def doors(shared_data) -> tuple[Path, dict[str, dict]]:
    """The folder of small files, and what each should come to."""
    folder = shared_data / "doors"
    return folder, json.loads((folder / "expected.json").read_text("utf-8"))


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict]:
    """The exit status of `read --json`, and the card that it printed."""
    status = main(["read", "--json", *words])
    return status, json.loads(capsys.readouterr().out)


ASKED = {
    "table_with_predictions.csv": ("truth", "outcome"),
    "table_with_copied_label.csv": ("label", "outcome"),
    "mostly_empty_text.csv": ("label", "survived"),
    "class_without_truth.csv": ("truth", "OUTCOME"),
    "gaps_in_sources.csv": ("sourceless", "of their own"),
    "unanswered.csv": ("unanswered", "wrong"),
    "inputs_only_b.csv": ("join", "(line)"),
    "inputs_only_a.csv": ("label", "Sex"),
    "two_tasks_truth.csv": ("label", "keratosis"),
}
"""Of each file that is asked about: which role, and what is offered first."""


def test_every_file_of_the_doors_is_right_or_asked(doors, capsys):
    """Accuracy, classes, tasks and features are what they should be, once what is asked is answered."""
    folder, expected = doors
    for name, known in expected.items():
        truth = ["--truth", str(folder / known["with_truth"])] if "with_truth" in known else []
        status, card = printed(capsys, str(folder / name), *truth)
        assert card.keys() >= KEYS | MORE_KEYS
        if name in ASKED:
            [question] = card["questions"]
            assert (status, question["role"], question["choices"][0], len(question["choices"]) <= 3) == (
                *(3, *ASKED[name]),
                True,
            ), name
            status, card = printed(capsys, str(folder / name), *truth, "--accept", "all")
        assert (status, card["questions"], card["refused"]) == (0, [], None), name
        if "accuracy" in known:
            assert card["accuracy"] == pytest.approx(known["accuracy"]), name
        for key in {"label", "kind_of_data", "tasks"} & known.keys():
            assert card[key] == known[key], name
        if "n_classes" in known:
            assert len(card["classes"]) == known["n_classes"], name
        if "n_features" in known:
            assert len(card["features"]) == known["n_features"], name
        if "not_ids" in known:
            assert card["roles"].get("id") not in known["not_ids"], name
        if "positive" in known:
            assert card["roles"]["positive"] == known["positive"], name


def test_warnings_count_rows_and_say_what_would_read_them_otherwise(doors, capsys):
    folder, expected = doors
    _, card = printed(capsys, str(folder / "unanswered.csv"), "--unanswered", "left out")
    [warning] = card["warnings"]
    assert (warning["code"], warning["count"], warning["share"]) == ("unanswered", 25, 0.25)
    assert warning["options"] == ["--unanswered=wrong", "--unanswered=of their own"]
    assert (card["n"], card["n_given"]) == (75, 100)
    assert card["accuracy"] == pytest.approx(expected["unanswered.csv"]["accuracy_of_answered"])
    _, card = printed(capsys, str(folder / "tied_scores.csv"))
    [tied] = [warning for warning in card["warnings"] if warning["code"] == "tied_scores"]
    assert tied["share"] == pytest.approx(expected["tied_scores.csv"]["tied"])


def test_the_exit_status_is_of_the_worst_file(doors, capsys, tmp_path):
    folder, _ = doors
    right, asked = str(folder / "codes_and_names.csv"), str(folder / "unanswered.csv")
    none = str(tmp_path / "none.csv")
    assert [main(["read", *files]) for files in ([right], [right, asked], [asked, none])] == [0, 3, 2]
    assert "not read" in capsys.readouterr().out
    main(["read", "--json", right, asked])
    assert [card["n_given"] for card in json.loads(capsys.readouterr().out)] == [120, 100]


@pytest.mark.parametrize("seed", range(12))
def test_rows_without_an_answer_count_as_what_was_chosen(tmp_path, seed):
    """Drawn files: of each choice the accuracy is that of a slow count, whatever blanks are written as."""
    rng = np.random.default_rng(seed)
    n, names = int(rng.integers(30, 200)), np.array(["yes", "no", "maybe"][: int(rng.integers(2, 4))])
    truth = rng.choice(names, n).astype(object)
    answer = np.where(rng.random(n) < 0.7, truth, rng.choice(names, n)).astype(object)
    missing = rng.random(n) < rng.uniform(0.05, 0.4)
    missing[0] = True
    answer[missing] = rng.choice(["", "  "])
    file = tmp_path / "answers.csv"
    pd.DataFrame({"truth": truth, "answer": answer}).to_csv(file, index=False)
    right = int((truth == answer).sum())
    for choice, n_used in (("wrong", n), ("left out", n - missing.sum()), ("of their own", n)):
        card = read_card(file, Given(said={"unanswered": choice}))
        assert (card.n, card.n_given, card.accuracy) == (n_used, n, pytest.approx(right / n_used))
        assert (card.warnings[0].code, card.warnings[0].count) == ("unanswered", missing.sum())


def test_an_empty_truth_and_an_empty_answer_agree_where_they_are_a_class(tmp_path):
    file = tmp_path / "both.csv"
    file.write_text("id,truth,answer\n1,a,a\n2,b,b\n3,,\n4,,a\n5,a,\n6,b,a\n")
    card = read_card(file, Given(said={"unanswered": "of their own"}))
    assert card.refused is not None  # line 5 has an answer and no truth
    file.write_text("id,truth,answer\n1,a,a\n2,b,b\n3,,\n4,a,\n5,b,a\n")
    card = read_card(file, Given(said={"unanswered": "of their own"}))
    assert (card.accuracy, card.classes) == (pytest.approx(3 / 5), ("a", "b", "(no answer)"))


@pytest.mark.parametrize("seed", range(8))
def test_sources_with_gaps_are_what_was_chosen(tmp_path, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 120))
    site = rng.choice(["rome", "lima", "oslo"], n).astype(object)
    site[missing := rng.random(n) < 0.3] = ""
    file = tmp_path / "data.csv"
    frame = pd.DataFrame({"size": rng.normal(size=n).round(3), "site": site, "label": rng.choice(["a", "b"], n)})
    frame.to_csv(file, index=False)
    [question] = read_card(file).questions
    assert (question.role, set(question.choices)) == ("sourceless", {"not used", "left out", "of their own"})
    cards = {choice: read_card(file, Given(said={"sourceless": choice})) for choice in question.choices}
    assert {choice: card.n for choice, card in cards.items()} == {
        "not used": n,
        "left out": n - missing.sum(),
        "of their own": n,
    }
    assert {card.warnings[0].count for card in cards.values()} == {missing.sum()}
    assert "source" not in cards["not used"].roles


@pytest.mark.parametrize("seed", range(8))
def test_binary_tasks_in_two_files_are_joined(tmp_path, seed):
    """Drawn: accuracies of each task are those of a slow count at one half; scores that sum to 1 are classes."""
    rng = np.random.default_rng(seed)
    n, tasks = int(rng.integers(40, 120)), ["melanoma", "keratosis", "naevus"][: int(rng.integers(2, 4))]
    ids = np.array([f"im{i:04}" for i in range(n)])
    truth = pd.DataFrame(rng.integers(0, 2, (n, len(tasks))), columns=tasks)
    truth.iloc[0] = 1  # several labels in a row
    scores = pd.DataFrame(np.clip(truth + rng.normal(0, 0.5, truth.shape), 0, 1).round(4), columns=tasks)
    order = rng.permutation(n)
    truth.assign(id=ids).to_csv(tmp_path / "truth.csv", index=False)
    scores.assign(id=ids).iloc[order].to_csv(tmp_path / "scores.csv", index=False)
    card = read_card(tmp_path / "scores.csv", Given(truth=tmp_path / "truth.csv"))
    counted = {task: float(((scores[task] >= 0.5) == (truth[task] == 1)).mean()) for task in tasks}
    assert (card.tasks, card.accuracy) == (tuple(tasks), pytest.approx(counted))


@pytest.mark.parametrize("columns", [["prob_a", "prob_b"], ["confidence"]])
def test_rows_without_any_score_have_no_answer(tmp_path, columns):
    """A row that lacks all scores is asked about; one that lacks some of them stays an error that names its line."""
    rng = np.random.default_rng(0)
    proba, file = rng.dirichlet([1, 1], 40).round(3), tmp_path / "scores.csv"
    frame = pd.DataFrame({"gold": rng.choice(["a", "b"], 40), "prob_a": proba[:, 0], "prob_b": 1 - proba[:, 0]})
    frame = frame.assign(confidence=proba[:, 0])[["gold", *columns]]
    frame.loc[[3, 7, 8], columns] = np.nan
    frame.to_csv(file, index=False)
    positive = {"positive": "a"} if columns == ["confidence"] else {}
    [question] = read_card(file, Given(said=positive)).questions
    assert (question.role, question.choices) == ("unanswered", ("wrong", "left out", "of their own"))
    right = int((np.where(proba[:, 0] >= 0.5, "a", "b") == frame["gold"])[frame[columns[0]].notna()].sum())
    for choice, n in (("wrong", 40), ("left out", 37)):
        card = read_card(file, Given(said={**positive, "unanswered": choice}))
        assert (card.n, card.accuracy) == (n, pytest.approx(right / n))
    if len(columns) > 1:
        frame.loc[5, "prob_b"] = np.nan
        frame.to_csv(file, index=False)
        assert "line 7" in read_card(file, Given(said={"unanswered": "left out"})).refused


def test_the_question_for_a_text_is_not_the_one_for_a_label(doors):
    """A column called label does not make it one: the role is the question's own."""
    folder, _ = doors
    [question] = read_card(folder / "dates_of_a_spreadsheet.csv", Given(read_as="data set")).questions
    assert question.role == "text"
