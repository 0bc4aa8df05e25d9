"""A label that is written as a 0 or 1 per class is one label where each row has a single 1, and refused where not."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from touchstone.core.data import DataError, Predictions, PredictionTable, join_predictions, read_predictions
from touchstone.core.data.predictions.shapes import read_prediction_table

N = 30
RNG = np.random.default_rng(0)
NAMES = np.array(["cat", "dog", "fox"])
Y = RNG.integers(3, size=N)
SCORES = RNG.normal(size=(N, 3)) + 2 * np.eye(3)[Y]
PROBA = np.exp(SCORES) / np.exp(SCORES).sum(axis=1, keepdims=True)
ONE_HOT = np.eye(3, dtype=int)[Y]
SAID = PROBA.argmax(axis=1)
SEVERAL = np.where(np.arange(N)[:, None] == 4, 1, ONE_HOT)  # the fifth row has three labels
NONE = np.where(np.arange(N)[:, None] == 4, 0, ONE_HOT)


def upload(content: bytes | str, name: str) -> io.BytesIO:
    file = io.BytesIO(content.encode() if isinstance(content, str) else content)
    file.name = name
    return file


def npz(**arrays) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def columns(pattern: str, values: np.ndarray) -> dict[str, np.ndarray]:
    return {pattern.format(name): values[:, code] for code, name in enumerate(NAMES)}


def csv(*parts: dict) -> str:
    return pd.DataFrame({name: values for part in parts for name, values in part.items()}).to_csv(index=False)


def check(predictions: Predictions, names: tuple[str, ...], *, hard: bool = False) -> None:
    assert predictions.class_names == names
    assert predictions.y_true.tolist() == Y.tolist()
    assert predictions.y_pred.tolist() == SAID.tolist()
    assert any("single 1" in note for note in predictions.notes)
    if hard:
        assert predictions.proba is None
    else:
        np.testing.assert_allclose(predictions.proba, PROBA)


ARRAYS = {
    "labels": {"labels": ONE_HOT, "probs": PROBA},
    "floats": {"y_true": ONE_HOT.astype(float), "y_pred": PROBA},
    "truth values": {"ground_truth": ONE_HOT.astype(bool), "predictions": PROBA},
}


@pytest.mark.parametrize("arrays", ARRAYS.values(), ids=ARRAYS)
def test_arrays(arrays):
    check(read_predictions(upload(npz(**arrays), "t.npz")).select(), ("0", "1", "2"))
    named = npz(**arrays, class_names=NAMES)
    check(read_predictions(upload(named, "t.npz")).select(), tuple(NAMES))


def test_predictions_of_0_and_1_are_labels_and_no_certainty():
    arrays = npz(y_true=ONE_HOT, y_pred=np.eye(3)[SAID])
    check(read_predictions(upload(arrays, "t.npz")).select(), ("0", "1", "2"), hard=True)


@pytest.mark.parametrize("name", ["labels.npy", "one_hot.npy"])
def test_an_array_of_its_own(name):
    truth, said = io.BytesIO(), io.BytesIO()
    np.save(truth, ONE_HOT)
    np.save(said, PROBA)
    truth.name, said.name = name, "probs.npy"
    check(join_predictions(truth, said).select(), ("0", "1", "2"))


TABLES = {
    "true_cat": (columns("true_{}", ONE_HOT), columns("prob_{}", PROBA)),
    "cat_true": (columns("{}_true", ONE_HOT), columns("{}_prob", PROBA)),
    "label cat": (columns("label {}", ONE_HOT), columns("prob {}", PROBA)),
    "bare names": (columns("{}", ONE_HOT), columns("prob_{}", PROBA)),
    "true and false": (columns("true_{}", ONE_HOT.astype(bool)), columns("p_{}", PROBA)),
}


@pytest.mark.parametrize("parts", TABLES.values(), ids=TABLES)
def test_columns(parts):
    check(read_predictions(upload(csv(*parts), "t.csv")).select(), tuple(NAMES))


def test_bare_columns_are_known_by_what_was_predicted():
    file = upload(csv(columns("{}", ONE_HOT), {"pred": NAMES[SAID]}), "t.csv")
    check(read_predictions(file).select(), tuple(NAMES), hard=True)


def test_lists_in_cells():
    rows = [{"label": one.tolist(), "probs": proba.tolist()} for one, proba in zip(ONE_HOT, PROBA, strict=True)]
    check(read_predictions(upload(json.dumps(rows), "t.json")).select(), ("0", "1", "2"))
    alone = [{"gold": [NAMES[code]], "pred": [NAMES[said]]} for code, said in zip(Y, SAID, strict=True)]
    assert read_predictions(upload(json.dumps(alone), "t.json")).select().y_true.tolist() == Y.tolist()


@pytest.mark.parametrize("pattern", ["{}", "true_{}", "is {}"])
def test_a_truth_of_its_own(pattern):
    ids = {"id": np.arange(N)}
    truth, said = csv(ids, columns(pattern, ONE_HOT)), csv(ids, columns("{}", PROBA))
    table = join_predictions(upload(truth, "truth.csv"), upload(said, "said.csv"))
    check(table.select(), tuple(NAMES))
    again = join_predictions(upload(truth, "truth.csv"), upload(said, "said.csv"), roles=table.roles)
    assert again.select().fingerprint == table.select().fingerprint


def test_both_files_of_0_and_1():
    ids = {"id": np.arange(N)}
    truth, said = csv(ids, columns("{}", ONE_HOT)), csv(ids, columns("{}", np.eye(3, dtype=int)[SAID]))
    check(join_predictions(upload(truth, "truth.csv"), upload(said, "said.csv")).select(), tuple(NAMES), hard=True)


REFUSED = {
    "several": (csv(columns("true_{}", SEVERAL), columns("prob_{}", PROBA)), "t.csv", "line 6: .* hold 3 times 1, sev"),
    "none": (
        csv(columns("true_{}", NONE), columns("prob_{}", PROBA)),
        "t.csv",
        "line 6: .* 0 times 1, no label at all",
    ),
    "arrays": (npz(labels=SEVERAL, probs=PROBA), "t.npz", "row 5: columns labels_0, labels_1, labels_2 hold 3 times 1"),
    "lists": (
        json.dumps([{"label": row.tolist(), "p": p.tolist()} for row, p in zip(SEVERAL, PROBA, strict=True)]),
        "t.json",
        r"row 5: column 'label' holds \[1, 1, 1\], several labels in one row",
    ),
    "names": (
        csv({"gold": ["cat|dog" if row == 4 else NAMES[Y[row]] for row in range(N)], "pred": NAMES[SAID]}),
        "t.csv",
        r"line 6: column 'gold' holds 'cat\|dog', several labels",
    ),
    "predictions": (
        csv({"gold": NAMES[Y], "pred": [f"['{NAMES[code]}', 'dog']" for code in Y]}),
        "t.csv",
        "line 2: column 'pred' holds .* several labels in one row",
    ),
}


@pytest.mark.parametrize(("content", "name", "message"), REFUSED.values(), ids=REFUSED)
def test_several_labels_are_refused_with_their_line(content, name, message):
    with pytest.raises(DataError, match=message) as refusal:
        read_predictions(upload(content, name))
    assert "one column of labels per task" in str(refusal.value)


@pytest.mark.parametrize(("values", "said"), [(SEVERAL, PROBA), (NONE, PROBA)])
def test_several_labels_in_a_truth_of_its_own_are_refused_with_their_line(values, said):
    ids = {"id": np.arange(N)}
    truth, predictions = csv(ids, columns("{}", values)), csv(ids, columns("{}", said))
    with pytest.raises(DataError, match=r"truth.csv, line 6: columns cat, dog, fox do not hold a single 1"):
        join_predictions(upload(truth, "truth.csv"), upload(predictions, "said.csv"))


SAID_2, Y_2 = (SAID > 0).astype(int), (Y > 0).astype(int)
LEFT = {  # columns of 0 and 1 that are something else
    "flags beside a truth": {"gold": NAMES[Y], "pred": NAMES[SAID], "label_noise": Y_2, "label_ok": 1 - Y_2},
    "truth and prediction": {"label_true": Y_2, "label_pred": 1 - Y_2},
    "models": {"gold": Y_2, "pred_a": SAID_2, "pred_b": 1 - SAID_2},
    "tasks": {"a_true": Y_2, "a_pred": SAID_2, "b_true": 1 - Y_2, "b_pred": 1 - SAID_2},
    "traits": {"gold": Y_2, "pred": SAID_2, "male": Y_2, "female": 1 - Y_2},
}


@pytest.mark.parametrize("given", LEFT.values(), ids=LEFT)
def test_other_columns_stay(given):
    file = upload(csv(given), "t.csv")
    assert list(read_prediction_table(file).columns) == list(given)
    table = read_predictions(file)
    assert isinstance(table, PredictionTable)
    assert len(table.models) in (0, 2)
