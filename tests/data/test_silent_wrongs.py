"""Is a file ever read at a wrong accuracy without a word? Names that are spelled otherwise, ties, ids that are none.

Each kind is a file that somebody had; others of the kind are drawn.
"""

import json
import unicodedata
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from touchstone import read
from touchstone.core.data import DataError, RolesNeeded, read_predictions

SPELLED, TIED, NEVER = "are spelled otherwise than the truth", "Classes tie for the highest score", "never occur"
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


@pytest.fixture(scope="module")
def doors(shared_data):
    """The folder of small files, and what each should come to."""
    folder = shared_data / "doors"
    return folder, json.loads((folder / "expected.json").read_text("utf-8"))


@pytest.mark.parametrize(
    ("name", "warned"),
    [
        ("spelled_otherwise.csv", SPELLED),
        ("composed_letters.csv", "(another Unicode form)"),
        ("dates_of_a_spreadsheet.csv", "such as '1-Dec' for 'DEC1'"),
        ("codes_and_names.csv", None),
        ("score_of_a_class.csv", None),
        ("many_classes.csv", None),
    ],
)
def test_files_are_read_at_their_accuracy_and_say_what_was_decided(doors, name, warned):
    folder, expected = doors
    made = read_predictions(folder / name).select()
    assert made.accuracy == pytest.approx(expected[name]["accuracy"], abs=1e-9)
    assert made.n_classes == expected[name].get("n_classes", made.n_classes)
    assert (
        any(warned in warning for warning in made.warnings) if warned else not any(SPELLED in w for w in made.warnings)
    )


def test_scores_of_a_class_that_is_never_true_are_seen_and_the_truth_is_asked(doors):
    """Labels beside scores may be what was predicted by another threshold, so nothing but the question is left."""
    folder, expected = doors
    with pytest.raises(RolesNeeded, match="which column holds the truth") as asked:
        read_predictions(folder / "class_without_truth.csv")
    assert "OUTCOME" in asked.value.choices
    roles = replace(asked.value.guess, truth="OUTCOME")
    made = read_predictions(folder / "class_without_truth.csv", roles=roles).select()
    wanted = expected["class_without_truth.csv"]
    assert (made.accuracy, made.n_classes) == (pytest.approx(wanted["accuracy"]), wanted["n_classes"])


def test_ties_are_counted(doors):
    folder, expected = doors
    tied, made = expected["tied_scores.csv"]["tied"], read_predictions(folder / "tied_scores.csv").select()
    warning = next(text for text in made.warnings if TIED in text)
    assert f"in {round(tied * made.n_samples)} of {made.n_samples} rows" in warning
    rows = pd.read_csv(folder / "tied_scores.csv")
    scores, y = rows.filter(like="p_").to_numpy(), rows["label"].to_numpy()
    may_be = scores[np.arange(len(y)), y] == scores.max(axis=1)
    surely = may_be & ((scores == scores.max(axis=1, keepdims=True)).sum(axis=1) == 1)
    assert f"between {surely.mean():.1%} and {may_be.mean():.1%}".replace("%", " %") in warning


def test_an_id_has_one_value_a_row(doors):
    folder, expected = doors
    assert read_predictions(folder / "who_saw_what.csv").roles.id not in expected["who_saw_what.csv"]["not_ids"]


def of_dates(names: list[str]) -> list[str]:
    """What a spreadsheet shows for names such as SEP2."""
    return [f"{name[3:]}-{name[:3].capitalize()}" for name in names]


KINDS = {
    "case": (["cat", "dog", "fox"], lambda name, rng: rng.choice([name.upper(), name.title(), name])),
    "blanks": (["very good", "bad"], lambda name, rng: rng.choice([f" {name}", f"{name} ", name])),
    "stops": (["yes", "no"], lambda name, rng: rng.choice([f"{name}.", name])),
    "quotes": (["yes", "no"], lambda name, rng: rng.choice([f"'{name}'", f'"{name}"', name])),
    "Unicode": (["Köln", "Zürich", "Málaga"], lambda name, rng: unicodedata.normalize("NFD", name)),
    "dates": (["SEP2", "MAR1", "DEC1", "TP53"], lambda name, rng: name if name == "TP53" else of_dates([name])[0]),
    "days": (["5-1", "12-2", "3-30"], lambda name, rng: f"{name.split('-')[1]}-{MONTHS[int(name.split('-')[0]) - 1]}"),
}


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kind", KINDS)
def test_others_of_each_kind_are_read_right_and_said(tmp_path, kind, seed):
    names, spell = KINDS[kind]
    rng = np.random.default_rng([seed, len(names)])
    n = int(rng.integers(40, 200))
    y = rng.integers(0, len(names), n)
    said = np.where(rng.random(n) < rng.uniform(0.6, 0.95), y, rng.integers(0, len(names), n))
    rows = pd.DataFrame({"id": range(n), "gold": np.array(names)[y]})
    rows["predicted"] = [spell(names[each], rng) for each in said]
    rows.to_csv(tmp_path / "file.csv", index=False)
    made = read_predictions(tmp_path / "file.csv").select()
    assert made.accuracy == (y == said).mean()
    assert set(made.class_names) == {*np.array(names)[y]} | {*np.array(names)[said]}
    n_taken = sum(a != b for a, b in zip(rows["predicted"], np.array(names)[said], strict=True))
    [warning] = [text for text in made.warnings if SPELLED in text]
    assert warning.startswith(f"{n_taken} of {n} predictions")
    before = (rows["gold"] == rows["predicted"]).mean()
    assert f"accuracy would be {100 * before:.1f} %, not {100 * made.accuracy:.1f} %." in warning


@pytest.mark.parametrize("names", [["a", "A", "b"], ["C", "C++", "C#"], ["+", "-", "."], ["5-1", "MAY1", "1-May"]])
def test_classes_that_differ_in_nothing_but_spelling_stay_apart(tmp_path, names):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    said = np.where(rng.random(200) < 0.7, y, rng.integers(0, 3, 200))
    rows = pd.DataFrame({"id": range(200), "gold": np.array(names)[y], "predicted": np.array(names)[said]})
    rows.to_csv(tmp_path / "file.csv", index=False)
    made = read_predictions(tmp_path / "file.csv").select()
    assert (made.accuracy, set(made.class_names)) == ((y == said).mean(), set(names))
    assert not any(SPELLED in text for text in made.warnings)


def test_names_that_are_never_true_are_counted(tmp_path):
    y = np.tile(["cat", "dog"], 50)
    rows = pd.DataFrame({"id": range(100), "gold": y, "predicted": np.where(np.arange(100) < 30, "unknown", y)})
    rows.to_csv(tmp_path / "file.csv", index=False)
    made = read_predictions(tmp_path / "file.csv").select()
    assert made.accuracy == 0.7
    assert "30 of 100 predictions are names that never occur in the truth, such as 'unknown'. They count as wrong." in (
        made.warnings
    )


def test_two_spellings_in_the_truth_are_said(tmp_path):
    y = np.tile(["cat", "dog"], 50)
    rows = pd.DataFrame({"id": range(100), "gold": np.where(np.arange(100) < 6, "Cat", y), "predicted": y})
    rows.to_csv(tmp_path / "file.csv", index=False)
    made = read_predictions(tmp_path / "file.csv").select()
    assert any("The truth has names that are spelled alike, such as 'Cat', 'cat'." in text for text in made.warnings)
    table = pd.DataFrame({"label": rows["gold"], "width": np.arange(100) % 7})
    table.to_csv(tmp_path / "table.csv", index=False)
    assert "Classes spelled alike count as different: Cat, cat." in read(tmp_path / "table.csv").notes


def test_measurements_are_still_no_classes(tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"id": range(300), "gold": rng.integers(0, 9999, 300)})
    rows["predicted"] = rows["gold"] + rng.integers(1, 100, 300)
    rows.to_csv(tmp_path / "file.csv", index=False)
    with pytest.raises(DataError, match="classes for 300 samples"):
        read_predictions(tmp_path / "file.csv")


@pytest.mark.parametrize(("choice", "key"), [("wrong", "accuracy_all"), ("left out", "accuracy_of_answered")])
def test_what_has_no_answer_is_counted_and_what_it_counts_as_is_asked(doors, choice, key):
    folder, expected = doors
    with pytest.raises(
        RolesNeeded, match=rf"{expected['unanswered.csv']['missing']} of 100 rows hold no answer"
    ) as asked:
        read_predictions(folder / "unanswered.csv")
    assert (asked.value.role, asked.value.choices) == ("unanswered", ("wrong", "left out", "of their own"))
    table = read_predictions(folder / "unanswered.csv", roles=replace(asked.value.guess, unanswered=choice))
    assert table.select().accuracy == pytest.approx(expected["unanswered.csv"][key])


# What is no feature? What tells the label, or the row.


@pytest.mark.parametrize("name", ["table_with_predictions.csv", "table_with_copied_label.csv"])
def test_what_tells_the_label_is_no_feature_and_said(doors, name):
    folder, expected = doors
    data = read(folder / name, label=expected[name]["label"])
    assert data.feature_names == ("age", "dose", "marker")
    [note] = [note for note in data.notes if note.startswith("Left out of the features")]
    said = {
        "table_with_predictions.csv": "y_pred (what a model said), y_prob (what a model said), fold (folds), case_id"
    }
    assert said.get(name, "outcome_encoded (a copy of the label)") in note


def test_a_column_that_is_mostly_empty_makes_no_texts(doors):
    folder, expected = doors
    data = read(folder / "mostly_empty_text.csv", label="survived")
    assert (data.kind, expected["mostly_empty_text.csv"]["kind_of_data"]) == ("tabular", "table")
    assert data.feature_names == ("age", "fare")


@pytest.mark.parametrize("seed", range(10))
def test_features_that_go_with_the_label_stay(tmp_path, seed):
    """Numbers that almost tell the label, few values, whole numbers that differ: none of it is left out."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 200)
    rows = pd.DataFrame({"label": np.array(["no", "yes"])[y], "paid": rng.integers(0, 5000, 200)})
    rows["binary"] = np.where(np.arange(200) == 7, 1 - y, y)
    rows["level"], rows["fold_change"] = rng.integers(0, 2, 200), rng.normal(size=200)
    rows["score_of_risk"], rows["width"] = y + rng.normal(size=200, scale=0.01), rng.permutation(200)
    rows.to_csv(tmp_path / "file.csv", index=False)
    assert read(tmp_path / "file.csv", label="label").feature_names == tuple(rows.columns[1:])
    copied = rows.assign(copy=y * 5 + 2, caseId=rng.permutation(200), pred=y)
    copied.to_csv(tmp_path / "file.csv", index=False)
    assert read(tmp_path / "file.csv", label="label").feature_names == tuple(rows.columns[1:])


def test_of_tied_classes_each_is_the_answer_equally_often_unless_somebody_says_otherwise(tmp_path):
    rng, names = np.random.default_rng(0), ["cat", "dog", "fox"]
    y, scores = rng.integers(0, 3, 600), rng.multinomial(10, np.ones(3) / 3, 600) / 10
    file = tmp_path / "votes.csv"
    columns = {f"prob_{name}": scores[:, code] for code, name in enumerate(names)}
    pd.DataFrame({"gold": np.array(names)[y]} | columns).to_csv(file, index=False)
    highest = scores == scores.max(axis=1, keepdims=True)
    n_highest = highest.sum(axis=1)
    tied, may_be = n_highest > 1, highest[np.arange(len(y)), y]
    assert tied.mean() > 0.1
    share = float((may_be / n_highest).mean())
    roles = read_predictions(file).roles
    by_choice = {
        ties: read_predictions(file, roles=replace(roles, ties=ties)).select()
        for ties in (None, "share", "first", "wrong")
    }
    accuracy = {ties: each.accuracy for ties, each in by_choice.items()}
    assert accuracy[None] == accuracy["share"] == pytest.approx(share, abs=2 * (0.25 * tied.sum()) ** 0.5 / len(y))
    assert accuracy["first"] == (scores.argmax(axis=1) == y).mean()
    assert accuracy["wrong"] == (may_be & ~tied).mean()
    for ties, each in by_choice.items():
        assert highest[np.arange(len(y)), each.y_pred].all()
        [odd] = [odd for odd in each.warnings if odd.code == "tied_scores"]
        others = [other for other in ("share", "first", "wrong") if other != (ties or "share")]
        assert odd.options == tuple(f"--ties={other}" for other in others)
    of_two = by_choice["share"].y_pred[(highest == [True, True, False]).all(axis=1)]
    assert (of_two == 0).mean() == pytest.approx(0.5, abs=2 * (0.25 / len(of_two)) ** 0.5)
    with pytest.raises(DataError, match="ties can be share, first, wrong, not 'last'"):
        read_predictions(file, roles=replace(roles, ties="last"))
