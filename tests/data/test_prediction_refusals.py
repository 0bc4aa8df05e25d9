"""What cannot be used as predictions is refused with its place and a remedy, and nothing in it is ever run."""

import gzip
import io
import pickle

import numpy as np
import pytest

from tests.data.uploads import npz, read, rows
from touchstone.core.data import DataError
from touchstone.core.data.limits import Limits
from touchstone.core.data.values import numbers_in

PROBA = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.6, 0.4]])
CSV = "id,gold,prob_cat,prob_dog\na1,cat,0.9,0.1\na2,dog,0.2,0.8\n"


def test_nothing_is_unpickled():
    evil = np.array([print], dtype=object)
    with pytest.raises(DataError, match="pickle can run code"):
        read(npz(labels=evil), "t.npz")
    stream = io.BytesIO()
    np.save(stream, evil, allow_pickle=True)
    with pytest.raises(DataError, match="pickle can run code"):
        read(stream.getvalue(), "t.npy")
    with pytest.raises(DataError, match="this is no table"):
        read(pickle.dumps([1]), "t.pkl")


REFUSED = {
    "empty": ("", "t.csv: the file is empty"),
    "white space only": ("\n \n\n", "t.csv: there (is nothing but white space in the file|are no rows)"),
    "header only": (rows("id,gold,pred"), "there are no rows"),
    "no truth": (rows("id,pred", "1,a", "2,b"), "no column holds the truth.*Add a column such as 'gold'"),
    "no predictions": (rows("id,gold", "1,a", "2,b"), "no column holds what a model predicted"),
    "duplicate ids": (
        rows("id,gold,pred", "7,a,a", "8,b,b", "7,a,b"),
        "t.csv, line 4: id '7' stands in line 2 too. Each must stand once",
    ),
    "duplicate ids of one model": (
        rows("id,gold,pred,model", "7,a,a,x", "7,a,b,y", "7,b,b,x"),
        "line 4: id '7' stands in line 2 too for the same model",
    ),
    "several labels": (
        rows("id,gold,pred", "1,a,a", "2,b,b", "3,a|b,a"),
        r"line 4: column 'gold' holds 'a\|b', several labels in one row",
    ),
    "a missing truth": (rows("id,gold,pred", "1,a,a", "2,,b"), "line 3: column 'gold' holds nothing"),
    "a missing prediction": (
        rows("id,gold,pred", "1,a,a", "2,b,", "3,b,b"),
        "1 of 3 rows holds no answer .column 'pred'.",
    ),
    "a missing confidence": (rows("gold,pred,conf", "a,a,0.9", "b,b,nan"), "line 3: column 'conf' holds 'nan'"),
    "a confidence above one": (
        rows("gold,pred,conf", "a,a,0.9", "b,b,1.2"),
        r"line 3: column 'conf' holds 1.2. A confidence must lie in \[0, 1\]: divide percent by 100",
    ),
    "a missing probability": (
        rows("gold,prob_a,prob_b", "a,0.9,0.1", "b,0.2,"),
        "line 3: column 'prob_b' holds nothing",
    ),
    "a probability above one": (
        rows("gold,prob_a,prob_b", "a,0.9,0.1", "b,0.2,0.8", "b,1.3,0.1"),
        r"line 4: a probability is 1.3. Each must lie in \[0, 1\]",
    ),
    "percent": (
        rows("gold,prob_a,prob_b", "a,90,10", "b,20.5,79.5"),
        "line 2: scores sum to 100, as percent do. Divide them by 100",
    ),
    "decimals with a comma between tabs": (
        rows("gold\tpred\tconfidence", "a\ta\t0,9", "b\tb\t0,8"),
        r"line 2: column 'confidence' holds '0,9'. .* \(decimals with a point\)",
    ),
    "thousands with a comma": (
        rows("gold;pred;confidence", "a;a;1,000", "b;b;1,500"),
        r"line 2: column 'confidence' holds '1,000'",
    ),
    "a percent sign": (rows("gold,pred,prob", "a,a,90 %", "b,b,80 %"), "line 2: column 'prob' holds '90 %'"),
    "a score that is no probability": (
        rows("gold,score", *(f"{'ab'[row % 2]},{row - 4.5}" for row in range(10))),
        r"line 2: column 'score' holds -4.5. A confidence must lie in \[0, 1\]",
    ),
    "a vector that was cut short": (
        rows("gold,probs", "a,[0.1 0.2 ... 0.3]", "b,[0.1 0.2 ... 0.3]"),
        r"line 2: column 'probs' holds '\[0.1 0.2 ... 0.3\]', a vector that was cut short in printing. Write all of it",
    ),
    "a wrong sum": (
        rows("gold,prob_a,prob_b", "a,0.9,0.1", "b,0.6,0.77"),
        "line 3: probabilities sum to 1.37. Each row must sum to 1; are these logits?",
    ),
    "a short vector": (
        rows("gold,p", 'a,"[0.9, 0.1]"', 'b,"[0.9]"'),
        r"line 3: column 'p' holds '\[0.9\]'. It must be a whole vector of scores, one of 2 numbers",
    ),
    "one class": (rows("gold,pred", "a,a", "a,a"), "is the only class"),
    "ids as labels": (
        rows("gold,pred", *(f"a{row},a{row}" for row in range(60))),
        "60 classes for 60 samples",
    ),
    "one score for three classes": (
        rows("gold,prob", "a,0.9", "b,0.4", "c,0.5"),
        "tells nothing about which of 3 classes was predicted. Add a column with the predicted label",
    ),
    "ragged": (rows("id,gold,pred", "1,a"), "line 2: 2 cells, but the header has 3"),
    "two columns of one name": (rows("gold,gold,pred", "a,b,a"), "columns 1 and 2 are both called 'gold'"),
    "several tasks and no role that tells them": (
        rows("id,gold,pred,what", "1,a,a,x", "1,b,a,y"),
        "id '1' stands in line 2 too. .* say which column tells models, sets, tasks or trials apart",
    ),
}


@pytest.mark.parametrize(("content", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(content, message):
    with pytest.raises(DataError, match=message):
        read(content)


ARRAYS_REFUSED = {
    "different lengths": ({"labels": [0, 1], "probs": PROBA}, r"differ in length: labels \(2,\), probs \(4, 2\)"),
    "three dimensions": ({"labels": [0, 1], "probs": np.zeros((2, 2, 2))}, r"'probs' has shape \(2, 2, 2\)"),
    "dates": ({"labels": np.array(["2020"], "datetime64[Y]")}, "is of type datetime64"),
}


@pytest.mark.parametrize(("arrays", "message"), ARRAYS_REFUSED.values(), ids=ARRAYS_REFUSED)
def test_arrays_refused(arrays, message):
    with pytest.raises(DataError, match=message):
        read(npz(**arrays), "t.npz")


JSON_REFUSED = {
    "no json": ("[1,\n2", "t.json, line 2: this is no JSON"),
    "a number": ("7", "7 instead of rows"),
    "an empty list": ("[]", "instead of rows"),
    "a number in the list": ('[{"gold": 1}, 7]', "row 2: 7 instead of an object"),
    "other keys": ('[{"gold": 1}, {"pred": 7}]', "row 2: column 'gold' holds nothing"),
    "lists of two lengths": ('{"gold": [1, 2], "pred": [1]}', r"differ in length \(gold 2, pred 1\)"),
    "no lists": ("{}", "there is none"),
    "scores deep inside": (
        '[{"gold": "a", "out": {"scores": [0.9, 0.1], "names": ["a", "b"]}}]',
        "row 1: column 'out' holds .*, neither a label nor scores",
    ),
    "deep": ("[" * 100_000, "this is no JSON"),
}


@pytest.mark.parametrize(("content", "message"), JSON_REFUSED.values(), ids=JSON_REFUSED)
def test_json_refused(content, message):
    with pytest.raises(DataError, match=message):
        read(content, "t.json")


def test_gzip_is_limited_and_checked():
    packed = gzip.compress(b"0" * 10_000)
    with pytest.raises(DataError, match="unpacks beyond the limit"):
        read(packed, "t.csv.gz", limits=Limits(unpacked_bytes=1000))
    with pytest.raises(DataError, match="no gzip file, or a damaged one"):
        read(packed[:20], "t.csv.gz")
    with pytest.raises(DataError, match="no gzip file"):
        read(CSV, "t.csv.gz")
    with pytest.raises(DataError, match="nothing in this gzip"):
        read(gzip.compress(b""), "t.csv.gz")


@pytest.mark.parametrize(
    "nasty", ["-" * 50_000 + "1", "(" * 50_000 + ")" * 50_000, "not " * 20_000, "9" * 9_000, "1+" * 9_000]
)
def test_cells_that_nest_deeply_are_only_cells(nasty):
    assert numbers_in("{" + nasty + "}") is None
    assert numbers_in("[" + nasty + "]") in (None, [float("inf")])
