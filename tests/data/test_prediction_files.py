"""The same predictions come out of every format, their classes in the order of their names."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.uploads import npz, read, rows, upload
from touchstone.core.data import DataError, Predictions, RolesNeeded, read_predictions, write_predictions
from touchstone.core.data.limits import Limits
from touchstone.core.data.predictions.upload import sample, template

IDS = ["a1", "a2", "a3", "a4"]
TRUE = ["cat", "dog", "dog", "cat"]
PROBA = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.6, 0.4]])
FRAME = pd.DataFrame({"id": IDS, "gold": TRUE, "prob_cat": PROBA[:, 0], "prob_dog": PROBA[:, 1]})
CSV = FRAME.to_csv(index=False)
FORMATS = {
    "csv": (CSV, "t.csv"),
    "tsv": (FRAME.to_csv(index=False, sep="\t"), "t.tsv"),
    "semicolon": (FRAME.to_csv(index=False, sep=";"), "t.csv"),
    "txt": (CSV, "t.txt"),
    "gzip": (gzip.compress(CSV.encode()), "t.csv.gz"),
    "gzip of jsonl": (gzip.compress(FRAME.to_json(orient="records", lines=True).encode()), "t.jsonl.gz"),
    "jsonl": (FRAME.to_json(orient="records", lines=True), "t.jsonl"),
    "json list": (FRAME.to_json(orient="records"), "t.json"),
    "json of lists": (json.dumps(FRAME.to_dict(orient="list")), "t.json"),
    "json lines called json": (FRAME.to_json(orient="records", lines=True), "t.json"),
    "parquet": (FRAME.to_parquet(), "t.parquet"),
    "npz": (npz(ids=IDS, labels=TRUE, probs=PROBA, class_names=["cat", "dog"]), "t.npz"),
    "crlf": (CSV.replace("\n", "\r\n"), "t.csv"),
    "byte order mark": (b"\xef\xbb\xbf" + CSV.encode(), "t.csv"),
    "utf-16": (CSV.encode("utf-16"), "t.csv"),
    "header behind #": ("# " + CSV, "t.csv"),
    "comments above the header": ("# made by hand\n# " + CSV, "t.csv"),
    "comments above a plain header": ("# made by hand\n" + CSV, "t.csv"),
    "an unnamed index": (FRAME.to_csv(), "t.csv"),
    "a json list in a cell": (
        FRAME[["id", "gold"]].assign(p=[json.dumps({"cat": a, "dog": b}) for a, b in PROBA]).to_csv(index=False),
        "t.csv",
    ),
    "python's mapping in a cell": (
        FRAME[["id", "gold"]].assign(p=[str({"cat": float(a), "dog": float(b)}) for a, b in PROBA]).to_csv(index=False),
        "t.csv",
    ),
    "scores of a pipeline": (
        "\n".join(
            json.dumps({"id": i, "gold": g, "out": [{"label": "dog", "score": b}, {"label": "cat", "score": a}]})
            for i, g, (a, b) in zip(IDS, TRUE, PROBA.tolist(), strict=True)
        ),
        "t.jsonl",
    ),
    "a struct in parquet": (
        FRAME[["id", "gold"]].assign(p=[{"dog": b, "cat": a} for a, b in PROBA]).to_parquet(),
        "t.parquet",
    ),
}


@pytest.mark.parametrize(("content", "name"), FORMATS.values(), ids=FORMATS)
def test_formats(content, name):
    predictions = read(content, name)
    assert predictions.ids.tolist() == IDS
    assert predictions.class_names == ("cat", "dog")
    assert predictions.y_true.tolist() == [0, 1, 1, 0]
    assert predictions.proba is not None
    np.testing.assert_allclose(predictions.proba, PROBA)
    assert predictions.accuracy == 0.75


@pytest.mark.parametrize(
    "printed",
    [
        "[0.9 0.1]",
        "[0.9, 0.1]",
        "array([0.9, 0.1], dtype=float32)",
        "(0.9, 0.1)",
        "[9.0e-01\n 1.0e-01]",
        "[np.float32(0.9), np.float32(0.1)]",
    ],
)
def test_vectors_in_cells(printed):
    rows = pd.DataFrame({"gold": ["0", "1"], "probs": [printed, "[0.2 0.8]"]})
    predictions = read(rows.to_csv(index=False))
    assert predictions.proba is not None
    np.testing.assert_allclose(predictions.proba, [[0.9, 0.1], [0.2, 0.8]])


@pytest.mark.parametrize("keys", [("ground_truth", "predictions"), ("label", "probs"), ("labels", "probs")])
def test_keys_of_npz(keys):
    predictions = read(npz(**dict(zip(keys, ([0, 1, 1, 0], PROBA), strict=True))), "t.npz")
    assert predictions.accuracy == 0.75
    assert predictions.class_names == ("0", "1")
    assert predictions.ids.tolist() == ["0", "1", "2", "3"]


def test_npz_of_hard_labels():
    assert read(npz(labels=[0, 1, 1, 0], predictions=[0, 1, 0, 0]), "t.npz").accuracy == 0.75


def test_logits_are_softmaxed():
    logits = np.log(PROBA) + np.array([[3.0], [-1.0], [0.5], [2.0]])
    for name in ("logits", "probs"):
        predictions = read(npz(labels=[0, 1, 1, 0], **{name: logits}), "t.npz")
        np.testing.assert_allclose(predictions.proba, PROBA)
        assert any("softmax was applied" in note for note in predictions.notes)
    inside = read(npz(labels=[0, 1, 1, 0], logits=PROBA), "t.npz")
    np.testing.assert_allclose(inside.confidence[0], 1 / (1 + np.exp(-0.8)))


def test_no_header_at_all():
    lines = "".join(f"{true},{said},{a}\n" for true, said, a in zip(TRUE, TRUE[::-1], PROBA[:, 0], strict=True))
    with pytest.raises(RolesNeeded, match="The columns are column 1, column 2, column 3") as needed:
        read(lines * 3)
    assert needed.value.choices == ("column 1", "column 2", "column 3")


def test_too_many_rows():
    for content, name in (FORMATS["json list"], FORMATS["json of lists"], FORMATS["npz"], FORMATS["csv"]):
        with pytest.raises(DataError, match="more than 3 rows"):
            read(content, name, limits=Limits(samples=3))


def test_class_order_is_by_name():
    columns = "gold,prob_dog,prob_cat\n" + "".join(f"{g},{b},{a}\n" for g, (a, b) in zip(TRUE, PROBA, strict=True))
    predictions = read(columns)
    assert predictions.class_names == ("cat", "dog")
    np.testing.assert_allclose(predictions.proba, PROBA)


def test_classes_are_the_union_and_empty_ones_stay():
    predictions = read("gold,pred,prob_a,prob_b,prob_c\na,d,0.1,0.2,0.7\nb,b,0.1,0.8,0.1\n")
    assert predictions.class_names == ("a", "b", "c", "d")
    assert predictions.proba is not None
    assert predictions.proba[:, 3].tolist() == [0, 0]
    assert any("No scores of d" in warning for warning in predictions.warnings)
    assert any("1 of 2 rows the predicted label is not" in warning for warning in predictions.warnings)


RECONCILED = {
    "LABEL_0": (["0", "1"], ["LABEL_0", "LABEL_1"], ("0", "1")),
    "LABEL_1, counted from 1 on both sides": (["1", "2"], ["LABEL_1", "LABEL_2"], ("1", "2")),
    "whole numbers": (["0.0", "1.0"], ["0", "1"], ("0", "1")),
    "case": (["Cat", "Dog"], ["cat", "dog"], ("Cat", "Dog")),
    "spaces": (["black cat", "dog"], ["black_cat", "dog"], ("black cat", "dog")),
    "truth values": (["True", "False"], ["1", "0"], ("0", "1")),
    "in both": (["0.0", "1.0"], ["0.0", "1.0"], ("0", "1")),
}


@pytest.mark.parametrize(("true", "said", "names"), RECONCILED.values(), ids=RECONCILED)
def test_names_that_can_only_mean_one_class_are_matched(true, said, names):
    lines = [f"{true[code]},{said[code]}" for code in (0, 1, 0, 1)]
    predictions = read(rows("gold,pred", *lines))
    assert predictions.class_names == names
    assert predictions.accuracy == 1


def test_names_that_differ_are_kept_apart():
    assert read(rows("gold,pred", "01,1", "1,01", "2,2")).class_names == ("01", "1", "2")
    assert read(rows("gold,pred", "a,A", "A,a", "b,b")).accuracy == pytest.approx(1 / 3)


def test_columns_by_position_are_matched_through_the_predicted_label():
    lines = [f"{g},{g if a != 0.7 else 'cat'},{a},{b}" for g, (a, b) in zip(TRUE, PROBA, strict=True)]
    predictions = read(rows("gold,pred,prob_0,prob_1", *lines))
    assert predictions.class_names == ("cat", "dog")
    np.testing.assert_allclose(predictions.proba, PROBA)


LONG = rows(
    "id,gold,pred,model,set,fold",
    *(
        f"{i},{'ab'[i % 2]},{'ab'[i % 2 if m == 'x' else 0]},{m},{s},{i % 3}"
        for m in "xy"
        for s in "pq"
        for i in range(6)
    ),
)


def test_models_and_sets_in_one_file():
    table = read_predictions(upload(LONG, "long.csv"))
    assert (table.models, table.sets, table.folds, table.tasks) == (("x", "y"), ("p", "q"), ("0", "1", "2"), ())
    good, poor = table.select(model="x", set="p"), table.select(model="y", set="p", fold="1")
    assert (good.n_samples, good.accuracy) == (6, 1.0)
    assert (poor.n_samples, poor.accuracy) == (2, 0.5)
    assert poor.groups["fold"].tolist() == ["1", "1"]
    assert poor.name == "long · y · p · 1"
    for chosen, message in (
        ({}, "there are 2 models: x, y. Choose one"),
        ({"model": "x"}, "there are 2 sets: p, q"),
        ({"model": "z", "set": "p"}, "there is no model 'z'. The models are x, y"),
        ({"model": "x", "set": "p", "task": "t"}, "there is no task 't'. The file does not tell tasks apart"),
        ({"model": "x", "set": "p", "fold": "9"}, "there is no fold '9'"),
    ):
        with pytest.raises(DataError, match=message):
            table.select(**chosen)


def test_tasks_have_classes_of_their_own():
    lines = [f"{i},{g},{g},{t}" for t, names in (("size", "SL"), ("hue", "rg")) for i, g in enumerate(names * 3)]
    table = read_predictions(upload(rows("id,gold,pred,task", *lines), "t.csv"))
    assert table.tasks == ("size", "hue")
    assert table.select(task="hue").class_names == ("g", "r")
    with pytest.raises(DataError, match="there are 2 tasks: size, hue"):
        table.select()


def test_tasks_have_as_many_scores_as_classes():
    lines = [f'{i},{i % 2},"[0.9, 0.1]",two' for i in range(6)] + [
        f'{i},{i % 3},"[0.2, 0.7, 0.1]",three' for i in range(6)
    ]
    table = read_predictions(upload(rows("id,gold,probs,task", *lines), "t.csv"))
    assert [table.select(task=task).n_classes for task in table.tasks] == [2, 3]
    assert table.select(task="three").y_pred.tolist() == [1] * 6


def test_logarithms_of_probabilities_are_logits():
    lines = [f"{g},{np.log(a)},{np.log(b)}" for g, (a, b) in zip(TRUE, PROBA, strict=True)]
    np.testing.assert_allclose(read(rows("gold,logprob_cat,logprob_dog", *lines)).proba, PROBA)


TOP = {
    "the best": lambda a, b: [{"label": "cat", "score": a}] if a > b else [{"label": "dog", "score": b}],
    "the best, no list": lambda a, b: {"label": "cat", "score": a} if a > b else {"label": "dog", "score": b},
    "the best two of three": lambda a, b: (
        [
            {"label": "cat", "score": a},
            {"label": "dog" if a > b else "fox", "score": b / 2},
        ]
        if a > b
        else [{"label": "dog", "score": b}, {"label": "fox", "score": a / 2}]
    ),
    "a mapping": lambda a, b: {"cat": a} if a > b else {"dog": b},
}


@pytest.mark.parametrize("cell", TOP.values(), ids=TOP)
@pytest.mark.parametrize("printed", [False, True])
def test_cells_of_the_best_labels_give_confidence_only(cell, printed):
    cells = [cell(a, b) for a, b in PROBA.tolist()]
    lines = [
        json.dumps({"id": i, "gold": g, "out": str(c) if printed else c})
        for i, g, c in zip(IDS, TRUE, cells, strict=True)
    ]
    predictions = read("\n".join(lines), "t.jsonl")
    assert predictions.y_pred.tolist() == PROBA.argmax(axis=1).tolist()
    assert predictions.confidence is not None
    np.testing.assert_allclose(predictions.confidence, PROBA.max(axis=1))
    assert any("the best labels only" in note for note in predictions.notes)


def test_an_id_stands_once_per_trial():
    lines = [f"{i},{g},{g},{t}" for t in "12" for i, g in enumerate("abab")]
    predictions = read(rows("id,gold,pred,trial", *lines))
    assert predictions.n_samples == 8
    assert sorted(set(predictions.groups["trial"])) == ["1", "2"]


def test_the_template_and_the_sample_can_be_read():
    table = read_predictions(upload(template(), "template.tsv"))
    assert (table.models, table.sets) == (("model A",), ("original", "new"))
    table = read_predictions(upload(sample(), "sample.tsv"))
    original, new = (table.select(set=name) for name in table.sets)
    assert original.accuracy > new.accuracy + 0.1
    assert original.warnings == new.warnings == ()
    assert sample() == sample()


labels = st.text(st.characters(categories=["L", "N"], exclude_characters="0123456789"), min_size=1, max_size=4)
cells = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=4)


@settings(max_examples=60)
@given(st.data())
def test_round_trip(data):
    fold = str.casefold
    names = data.draw(st.lists(labels, min_size=3, max_size=5, unique_by=fold))
    n_samples = data.draw(st.integers(4, 9))
    codes = st.lists(st.integers(0, len(names) - 1), min_size=n_samples, max_size=n_samples)
    weights = st.lists(st.floats(0.01, 1), min_size=len(names), max_size=len(names))
    proba = np.array(data.draw(st.lists(weights, min_size=n_samples, max_size=n_samples)))
    ids = data.draw(st.lists(cells, min_size=n_samples, max_size=n_samples, unique=True))
    folds = data.draw(st.lists(cells, min_size=n_samples, max_size=n_samples))
    written = Predictions(
        ids,
        data.draw(codes),
        data.draw(codes),
        sorted(names),
        proba / proba.sum(axis=1, keepdims=True),
        groups={"fold": folds},
    )
    assert read(write_predictions(written), "t.tsv").fingerprint == written.fingerprint


def test_round_trip_of_hard_labels_and_of_confidence():
    hard = Predictions(["a", "b", "c"], [0, 1, 2], [0, 0, 2], ["x", "y", "z"])
    sure = Predictions(["a", "b", "c"], [0, 1, 2], [0, 0, 2], ["x", "y", "z"], confidence=[0.9, 0.1, 1 / 3])
    for written in (hard, sure):
        assert read(write_predictions(written), "t.tsv").fingerprint == written.fingerprint


def test_numbers_with_gaps_are_read_and_written_with_their_gaps():
    lines = [f"{row}\t{'ab'[row % 2]}\ta\t{'' if row % 4 == 0 else row / 8}" for row in range(12)]
    predictions = read(rows("id\tgold\tpredicted\tage", *lines), "gaps.tsv")
    assert np.isnan(predictions.inputs["age"]).tolist() == [row % 4 == 0 for row in range(12)]
    assert "Known of some samples only: age." in predictions.notes
    again = read(write_predictions(predictions), "again.tsv")
    assert np.array_equal(again.inputs["age"], predictions.inputs["age"], equal_nan=True)
