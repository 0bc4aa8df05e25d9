"""Predictions are checked once, cannot be changed, and are named by what is in them."""

import pickle

import numpy as np
import pytest

from touchstone.core.data import DataError, Predictions
from touchstone.core.data.errors import Oddity
from touchstone.core.data.predictions.record import suspicions
from touchstone.core.data.tables.names import agreement_by_chance


def predictions(**changes) -> Predictions:
    given = {
        "ids": ["a", "b", "c"],
        "y_true": [0, 1, 1],
        "y_pred": [0, 1, 0],
        "class_names": ["plum", "melon", "fig"],
        "proba": [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.5, 0.3, 0.2]],
        "groups": {"fold": ["1", "1", "2"]},
    }
    return Predictions(**{**given, **changes})


def test_what_follows_from_them():
    made = predictions()
    assert made.n_samples == 3
    assert made.n_classes == 3
    assert made.correct.tolist() == [True, True, False]
    assert made.accuracy == 2 / 3
    assert made.confidence is not None
    assert made.confidence.tolist() == [0.8, 0.7, 0.5]
    assert predictions(proba=None).confidence is None
    assert predictions(proba=None, confidence=[1, 0.5, 0]).confidence.tolist() == [1, 0.5, 0]


def test_nothing_can_be_changed():
    made = predictions()
    arrays = [made.ids, made.y_true, made.y_pred, made.proba, made.confidence, made.correct, made.groups["fold"]]
    copied = pickle.loads(pickle.dumps(made))
    arrays += [copied.ids, copied.y_true, copied.proba, copied.groups["fold"]]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]
    assert copied.fingerprint == made.fingerprint
    with pytest.raises(AttributeError):
        made.name = "other"  # pyright: ignore


def test_a_later_change_of_what_was_given_does_nothing():
    y_true = np.array([0, 1, 1])
    made = predictions(y_true=y_true)
    y_true[0] = 2
    assert made.y_true[0] == 0


def test_take_keeps_class_names_and_groups():
    made = predictions()
    by_mask, by_position = made.take(made.groups["fold"] == "1"), made.take(np.array([0, 1]))
    assert by_mask.fingerprint == by_position.fingerprint != made.fingerprint
    assert by_mask.class_names == made.class_names
    assert by_mask.groups["fold"].tolist() == ["1", "1"]


CHANGES = {
    "ids": ["a", "b", "d"],
    "y_true": [0, 1, 2],
    "y_pred": [0, 1, 1],
    "class_names": ["plum", "melon", "kiwi"],
    "proba": None,
    "confidence": [0.8, 0.7, 0.6],
    "groups": {"fold": ["1", "2", "2"]},
}


@pytest.mark.parametrize("what", CHANGES)
def test_the_fingerprint_covers_all_that_a_result_can_depend_on(what):
    assert predictions(**{what: CHANGES[what]}).fingerprint != predictions().fingerprint


def test_the_fingerprint_does_not_cover_what_is_only_said():
    assert predictions(name="x", warnings=[Oddity("w", "odd")], notes=["n"]).fingerprint == predictions().fingerprint
    assert predictions(groups={"source": ["1", "1", "2"]}).fingerprint != predictions().fingerprint


REFUSED = {
    "no rows": ({"ids": [], "y_true": [], "y_pred": [], "proba": None, "groups": {}}, "not a single sample"),
    "ids twice": ({"ids": ["a", "b", "a"]}, "id 'a' occurs 2 times"),
    "an empty id": ({"ids": ["a", "", "c"]}, "id 2 of 3 is ''"),
    "too few labels": ({"y_true": [0, 1]}, r"3 ids, but y_true has shape \(2,\)"),
    "too few groups": ({"groups": {"fold": ["1"]}}, "fold has shape"),
    "one class": ({"class_names": ["plum"], "proba": None}, "'plum' is the only class"),
    "classes twice": ({"class_names": ["plum", "plum", "fig"]}, "class name 'plum' occurs 2 times"),
    "code too high": ({"y_pred": [0, 1, 3]}, "y_pred runs from 0 to 3. With 3 class names it must lie in 0 to 2"),
    "code negative": ({"y_true": [0, -1, 1]}, "y_true runs from -1"),
    "no codes": ({"y_true": [0.0, 1.0, 1.0]}, "y_true is float64"),
    "a column too few": ({"proba": [[0.5, 0.5]] * 3}, r"proba has shape \(3, 2\). It must be \(3, 3\)"),
    "above one": ({"proba": [[1.2, -0.1, -0.1]] * 3}, "proba of sample 'a' holds"),
    "sums": ({"proba": [[0.4, 0.4, 0.1]] * 3}, "probabilities of sample 'a' sum to 0.9"),
    "missing": ({"confidence": [0.5, float("nan"), 1]}, "confidence of sample 'b' holds nan"),
    "words": ({"proba": [["high"] * 3] * 3}, "proba does not hold numbers"),
}


@pytest.mark.parametrize(("changes", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(changes, message):
    with pytest.raises(DataError, match=message):
        predictions(**changes)


def test_an_id_may_stand_once_in_each_trial():
    made = predictions(ids=["a", "a", "b"], groups={"trial": ["1", "2", "2"]})
    assert made.n_samples == 3
    with pytest.raises(DataError, match="pair of id and trial"):
        predictions(ids=["a", "a", "b"], groups={"trial": ["1", "1", "2"]})


def test_agreement_by_chance_is_exact():
    rng = np.random.default_rng(3)
    truth, said = rng.integers(3, size=30), rng.choice(4, p=[0.1, 0.2, 0.3, 0.4], size=30)
    counts = [(rng.permutation(truth) == said).sum() for _ in range(20_000)]
    mean, spread = agreement_by_chance(truth.tolist(), said.tolist())
    assert mean == pytest.approx(np.mean(counts), abs=0.06)
    assert spread == pytest.approx(np.std(counts), rel=0.03)


def suspected(y_true, y_pred, **more) -> str:
    return " ".join(suspicions(y_true, y_pred, n_classes=3, **more))


def test_what_is_suspicious_is_said():
    rng = np.random.default_rng(0)
    y_true = rng.integers(3, size=300)
    good = np.where(rng.random(300) < 0.8, y_true, (y_true + 1) % 3)
    assert suspected(y_true, good) == ""
    assert "below the 33" in suspected(y_true, (y_true + 1) % 3)
    assert "shuffled against each other" in suspected(y_true, rng.permutation(good))
    assert "agree in more than 99.9 %" in suspected(y_true, y_true)
    assert suspected(y_true[:5], y_true[:5]) == "", "five rows show nothing"
    assert suspected(y_true, np.zeros(300, int)) == "", "one class only is poor, but not shuffled"
    proba = np.full((300, 3), 0.25)
    proba[:, 0] = 0.5
    assert "In 200 of 300 rows" not in suspected(np.zeros(300, int), np.zeros(300, int), proba=proba)
    assert "the predicted label is not the most probable" in suspected(y_true, good, proba=proba)
