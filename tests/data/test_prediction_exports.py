"""What exporters write is understood by rules; near misses of these are asked about, never read as something else."""

import gzip
import json

import numpy as np
import pytest

from tests.data.layouts.made import (
    CODES,
    NAMES,
    PROBA,
    SAID,
    SAID_NAMES,
    TRUE_NAMES,
    csv,
    jsonl,
    packed,
    records,
    scores,
)
from tests.data.uploads import read, rows, upload
from touchstone.core.data import DataError, RolesNeeded, read_predictions
from touchstone.core.data.limits import Limits
from touchstone.core.data.predictions.roles import probabilities
from touchstone.core.data.predictions.shapes import read_prediction_table
from touchstone.core.data.tables.files import read_table
from touchstone.core.data.values import numbers_in


def roles_of(content, name="t.csv"):
    return read_predictions(upload(content, name)).roles


def test_columns_of_numbers_take_the_classes_that_they_go_with():
    predictions = read(csv(gold=TRUE_NAMES, predicted=SAID_NAMES, **scores("{}", "201", PROBA[:, [2, 0, 1]])))
    assert predictions.class_names == tuple(NAMES)
    np.testing.assert_allclose(predictions.proba, PROBA)


def test_parts_of_a_mixture_are_no_probabilities():
    mixture = np.random.default_rng(0).dirichlet([5, 5, 5], len(CODES)).round(6)
    mixture[:, 2] = (1 - mixture[:, 0] - mixture[:, 1]).round(6)
    table = read_predictions(
        upload(csv(gold=TRUE_NAMES, predicted=SAID_NAMES, **scores("{}", ["sand", "silt", "clay"], mixture)), "t.csv")
    )
    assert table.roles.probabilities == ()
    assert (
        "No confidence was found. If one of sand, silt, clay holds it, choose that column as the confidence."
        in table.notes
    )
    assert "Samples are found in other files by their inputs: sand, silt, clay." in table.notes


def test_votes_of_people_are_no_scores():
    votes = scores("annotators for {}", proba=np.eye(3)[CODES] * 0.8 + 0.2 / 3)
    table = read_predictions(upload(csv(gold=TRUE_NAMES, predicted=SAID_NAMES, **votes), "t.csv"))
    assert table.roles.probabilities == ()
    assert any("No confidence was found. If one of annotators for" in note for note in table.notes)


def test_two_models_side_by_side_are_not_taken_for_one():
    both = {**scores("a ({})"), **scores("b ({})", proba=PROBA[:, [1, 2, 0]])}
    with pytest.raises(RolesNeeded) as needed:
        read(csv(gold=TRUE_NAMES, **both))
    assert (needed.value.role, needed.value.guess.probabilities) == ("predicted", ())


def test_a_class_within_another_s_name():
    names = ["dog", "hotdog", "male", "female"]
    proba = np.random.default_rng(1).dirichlet([0.3] * 4, 40)
    said = [names[code] for code in proba.argmax(axis=1)]
    predictions = read(csv(gold=said, predicted=said, **scores("out {} p", names, proba)))
    np.testing.assert_allclose(predictions.proba, proba[:, [0, 3, 1, 2]])


def test_numbered_columns_are_spelled_as_the_labels_are():
    labels = [f"LABEL_{code}" for code in SAID]
    predictions = read(csv(gold=[f"LABEL_{code}" for code in CODES], predicted=labels, **scores("prob_{}", "012")))
    assert predictions.class_names == ("LABEL_0", "LABEL_1", "LABEL_2")
    np.testing.assert_allclose(predictions.proba, PROBA)


def test_of_several_vectors_the_probabilities_are_taken():
    cells = {"features": PROBA.round(1) * 9, "rawPrediction": np.log(PROBA), "probability": PROBA}
    plain = {name: values.tolist() for name, values in cells.items()}
    content = jsonl(records(label=CODES, **plain, prediction=SAID))
    assert roles_of(content, "t.jsonl").vector == "probability"
    del plain["probability"]
    assert roles_of(jsonl(records(label=CODES, **plain, prediction=SAID)), "t.jsonl").vector == "rawPrediction"
    del plain["rawPrediction"]
    assert roles_of(jsonl(records(label=CODES, **plain, prediction=SAID)), "t.jsonl").vector is None


@pytest.mark.parametrize(
    "cells",
    [
        [{"a": 0.25, "b": 0.75}] * len(CODES),
        [[0.25, 0.5, 0.25]] * len(CODES),
        [[row, 2, 3, 4] for row in range(len(CODES))],
    ],
    ids=["a mapping of others", "parts that sum to 1", "corners of a box"],
)
def test_vectors_that_say_nothing_of_the_classes_are_not_scores(cells):
    table = read_predictions(upload(jsonl(records(label=CODES, pred=SAID, parts=cells)), "t.jsonl"))
    assert (table.roles.vector, table.class_names) == (None, ("0", "1", "2"))
    assert "Not used: parts." in table.notes


@pytest.mark.parametrize(
    ("cell", "numbers"),
    [
        ({"type": 1, "values": [0.25, 0.75]}, [0.25, 0.75]),
        ({"type": 0, "size": 3, "indices": [2], "values": [1.0]}, [0, 0, 1]),
        ("(3,[0,2],[0.25,0.75])", [0.25, 0, 0.75]),
        ([{"label": "a", "prob": 0.9}, {"label": "b", "prob": 0.1}], {"a": 0.9, "b": 0.1}),
        ([{"Name": "a", "Score": 0.9}], {"a": 0.9}),
        ({"classes": ["a", "b"], "scores": [0.9, 0.1]}, {"a": 0.9, "b": 0.1}),
        ({"class": "a", "probability": {"a": 0.9, "b": 0.1}}, {"a": 0.9, "b": 0.1}),
        ([["-1.5", "False"], ["-0.5", "True"]], [-1.5, -0.5]),
        ({"type": 0, "size": 10**12, "indices": [0], "values": [1.0]}, None),
        ({"type": 0, "size": 2, "indices": [5], "values": [1.0]}, None),
        ({"type": 0, "size": 2, "indices": [-1], "values": [1.0]}, None),
        ({"type": 0, "size": 2, "indices": [0, 0], "values": [0.4, 0.6]}, None),
        ({"classes": ["cat", "cat"], "scores": [0.4, 0.6]}, None),
        ([{"label": "cat", "score": 0.4}, {"label": "cat", "score": 0.6}], None),
        ({"classes": ["a"], "scores": [0.9, 0.1]}, None),
    ],
)
def test_scores_in_cells(cell, numbers):
    assert numbers_in(cell) == numbers


def test_the_prediction_names_the_truth():
    known = roles_of(csv(**{"Pet": TRUE_NAMES, "Prediction (Pet)": SAID_NAMES}))
    assert (known.truth, known.predicted) == ("Pet", "Prediction (Pet)")


def test_a_name_alone_does_not_make_a_truth():
    with pytest.raises(RolesNeeded) as needed:
        read(csv(pet=["x", "y", "z"] * 20, pet_prediction=SAID_NAMES))
    assert needed.value.role == "truth"
    both = {"pet": TRUE_NAMES[::-1], "true_pet": TRUE_NAMES, "pet_prediction": SAID_NAMES}
    assert roles_of(csv(**both)).truth == "true_pet"


def test_a_known_truth_stays():
    columns = {"gold": TRUE_NAMES, "pet": TRUE_NAMES[::-1], "pet_prediction": SAID_NAMES}
    assert roles_of(csv(**columns)).truth == "gold"


def test_obs_may_count_rows():
    assert roles_of(csv(obs=range(1, 61), label=TRUE_NAMES, predicted=SAID_NAMES)).truth == "label"


def test_resamples_are_folds_and_one_value_is_no_id():
    table = read_predictions(upload(csv(id=["Fold1", "Fold2"] * 30, truth=TRUE_NAMES, pred=SAID_NAMES), "t.csv"))
    assert (table.roles.id, table.roles.fold, table.folds) == (None, "id", ("Fold1", "Fold2"))
    with pytest.raises(DataError, match="id 'a' stands in line 2 too"):
        read(csv(id=["a", "a", *map(str, range(58))], truth=TRUE_NAMES, pred=SAID_NAMES))


def test_few_decimals_explain_sums():
    rounded, note = probabilities(PROBA.round(1), place=str)
    np.testing.assert_allclose(rounded.sum(axis=1), 1, atol=0.0101)
    assert "were rounded" in note
    many = np.random.default_rng(0).dirichlet(np.ones(100), 50)
    assert probabilities(many.round(3), place=str)[0].shape == (50, 100)
    with pytest.raises(DataError, match=r"0: probabilities sum to 1.3"):
        probabilities(np.array([[0.9, 0.4], [0.5, 0.5]]), place=str)
    with pytest.raises(DataError, match=r"0: probabilities sum to 1.05"):
        probabilities(np.array([[0.654321, 0.395679], [0.5, 0.5]]), place=str)
    with pytest.raises(DataError, match=r"0: probabilities sum to 2"):
        probabilities(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]), place=str)


def test_decimal_commas_are_told():
    table = read_predictions(upload(rows("gold;predicted;confidence", *["a;a;0,93", "b;a;0,6"] * 3), "t.csv"))
    assert table.select().confidence.tolist() == [0.93, 0.6] * 3
    assert "Decimal commas were read as points: confidence." in table.notes


def test_several_labels_with_a_comma_are_no_decimals():
    with pytest.raises(DataError, match="several labels in one row"):
        read(rows("gold;predicted", *["0;0", "1;1", "0,1;0"] * 3))


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.csv": "x", "b/c.tsv": "y"}, r"t.zip: there are 2 tables in it, a.csv, b/c.tsv. Give one of them"),
        ({"readme.md": "x", "__MACOSX/a.csv": "y"}, "t.zip: no table is in it"),
        ({"../a.csv": "x"}, "leads out of the archive"),
    ],
)
def test_a_zip_holds_one_table(files, message):
    with pytest.raises(DataError, match=message):
        read(packed(files), "t.zip")


def test_a_zip_is_limited():
    content = packed({"a.csv": "gold,predicted\n" + "a,a\nb,b\n" * 1000})
    with pytest.raises(DataError, match="unpacks beyond the limit"):
        read(content, "t.zip", limits=Limits(unpacked_bytes=1000))


def test_only_predictions_come_in_a_zip_of_one_table():
    with pytest.raises(DataError, match="this is no table"):
        read_table(upload(packed({"a.csv": "text,label\na,b\n"}), "t.zip"))


def test_a_confidence_inside_labels_takes_no_other_columns_place():
    cells = [{"_cls": "Classification", "label": label, "confidence": 0.9} for label in "ab"]
    rows = [{"gold": "a", "predictions confidence": "kept", "predictions": cell} for cell in cells]
    table = read_prediction_table(upload(jsonl(rows), "t.jsonl"))
    assert table.strings("predictions confidence") == ["kept", "kept"]
    assert table.floats("predictions confidence 2").tolist() == [0.9, 0.9]


def test_what_is_nested_is_named_where_something_is_missing():
    with pytest.raises(DataError, match="Cells with several values are not read: those of meta, tags") as error:
        read(jsonl({"text": f"{row} a", "meta": {"a": [1]}, "tags": ["x", "y"]} for row in range(9)), "t.jsonl")
    assert "several labels" not in str(error.value)


def test_lists_of_two_lengths_are_told_by_their_names():
    with pytest.raises(DataError, match=r"the lists differ in length \(predictions 3, label_ids 2\)"):
        read(json.dumps({"predictions": [0, 1, 1], "label_ids": [0, 1], "metrics": {"a": 1}}), "t.json")


def test_packed_lines_of_numpy():
    content = "".join(f"{a:.18e} {b:.18e}\n" for a, b in PROBA[:, :2])
    table = read_table(upload(gzip.compress(content.encode()), "t.txt.gz"), header_needed=False)
    assert list(table.columns) == ["column 1", "column 2"]
