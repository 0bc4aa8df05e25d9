"""Names of data and parameters: equal things are named alike, different ones never."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.core.data import Dataset
from touchstone.core.data.dataset import fingerprint, key

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def typed(value):
    """The value so that == tells 1, 1.0, True, 0.0 and -0.0 apart as well."""
    if isinstance(value, list):
        return [typed(item) for item in value]
    if isinstance(value, dict):
        return {name: typed(item) for name, item in value.items()}
    return type(value).__name__, repr(value)


@given(plain, plain)
def test_two_keys_are_equal_exactly_where_the_values_are(left, right):
    assert (key(left) == key(right)) == (typed(left) == typed(right))


@given(plain)
def test_a_key_does_not_change_with_the_order_of_a_dict_or_tuples_for_lists(value):
    assert key({"a": value, "b": 1}) == key({"b": 1, "a": value})
    assert key([value, 1]) == key((value, 1))
    assert key(value, 1) != key(1, [value])


@dataclasses.dataclass(frozen=True)
class Svm:
    c: float = 1.0


@dataclasses.dataclass(frozen=True)
class Logistic:
    c: float = 1.0


@dataclasses.dataclass(frozen=True)
class Plan:
    model: object
    seed: int = 0


def test_a_nested_dataclass_counts_with_its_class_and_every_field():
    plans = [
        Plan(Svm()),
        Plan(Logistic()),
        Plan(Svm(2.0)),
        Plan(Svm(), 1),
        Plan({"class": "Svm", "fields": {"c": 1.0}}),
    ]
    assert len({key(plan) for plan in plans}) == len(plans)
    assert key(Plan(Svm())) == key(Plan(Svm(1.0), np.int64(0)))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), np.float64("nan")])
def test_what_is_not_equal_to_itself_or_has_no_json_is_refused(value):
    with pytest.raises(ValueError, match="JSON"):
        key(value)


@dataclasses.dataclass
class Changeable:
    c: float = 1.0


@pytest.mark.parametrize("value", [Changeable(), {1, 2}, {1: "a"}, np.arange(2), b"bytes", object(), Svm])
def test_what_could_change_or_hide_something_is_refused(value):
    with pytest.raises(TypeError):
        key([value])


def parts(**changes):
    usual = {
        "kind": "tabular",
        "x": np.array([[1.0, 2.0], [3.0, 4.0]]),
        "y": np.array([0, 1]),
        "class_names": ("ab", "c"),
        "ids": np.array(["1", "2"], dtype=object),
        "sources": np.array(["s", "t"], dtype=object),
        "scale": 1.0,
        "feature_names": ("f", "g"),
    }
    return {**usual, **changes}


DIFFERENT = [
    {"kind": "image"},
    {"x": np.array([[1.0, 2.0], [3.0, 5.0]])},
    {"x": np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32)},
    {"x": np.array([[1.0, 2.0, 3.0, 4.0]])},
    {"x": np.array([["1.0", "2.0"]], dtype=object).ravel()},
    {"y": np.array([1, 0])},
    {"y": np.array([0, 1], dtype=np.int32)},
    {"class_names": ("a", "bc")},
    {"class_names": ("ab", "c", "")},
    {"class_names": ("c", "ab")},
    {"ids": np.array(["2", "1"], dtype=object)},
    {"ids": np.array(["12", ""], dtype=object)},
    {"sources": None},
    {"sources": np.array(["s", "s"], dtype=object)},
    {"sources": np.array(["st", ""], dtype=object)},
    {"scale": 255.0},
    {"feature_names": ("g", "f")},
    {"vectors": np.array([[1.0], [2.0]])},
    {"numbers": np.array([[1.0], [2.0]]), "number_names": ("day",)},
    {"numbers": np.array([[1.0], [3.0]]), "number_names": ("day",)},
    {"numbers": np.array([[1.0], [2.0]]), "number_names": ("age",)},
    {"vectors": np.array([[1.0], [2.0]]), "numbers": np.array([[1.0], [2.0]]), "number_names": ("day",)},
]


def test_a_fingerprint_differs_wherever_anything_differs():
    prints = [fingerprint(**parts(**changes)) for changes in [{}, *DIFFERENT]]
    assert len(set(prints)) == len(prints)


def test_a_fingerprint_rests_on_values_and_not_on_memory_layout():
    first = fingerprint(**parts())
    x = parts()["x"]
    for same in (np.asfortranarray(x), x.astype(">f8"), np.repeat(x, 2, axis=0)[::2]):
        assert fingerprint(**parts(x=same)) == first


def test_a_fingerprint_sees_the_last_byte_of_a_large_array():
    x = np.zeros((600_000, 2))
    first = fingerprint(**parts(x=x))
    x[-1, -1] = np.finfo(float).tiny
    assert fingerprint(**parts(x=x)) != first


@given(st.lists(st.text(max_size=4), max_size=4), st.lists(st.text(max_size=4), max_size=4))
def test_texts_run_into_each_other_in_no_fingerprint(left, right):
    first, second = (np.array([*texts, None], dtype=object)[:-1] for texts in (left, right))
    same = fingerprint(**parts(kind="text", x=first)) == fingerprint(**parts(kind="text", x=second))
    assert same == (left == right)


def test_fingerprints_stay_what_they_were():
    """Stored data sets and links are named by them: a change here orphans all of them."""
    assert fingerprint(**parts()) == "c91ec53754c318995a21ec9a615aa53efc48f50c29227cd5b50c6d87d9b0eea5"
    assert (
        key("digits", 1, None, 0.5, [True, {"a": Plan(Svm())}])
        == "14ea22abd86f5a4f60c3cca8ceaee38a307845933b3eed339ca45c88b1d73b4d"
    )


def test_vectors_count_and_data_sets_without_any_keep_their_names():
    """Both literals were computed before data sets could have vectors."""
    fruit = Dataset("fruit", "tabular", [[1.0], [9.0], [8.5]], [0, 1, 1], ["plum", "melon"], ["a", "b", "c"])
    said = Dataset("t", "text", ["a red fox", "blue sky"], [0, 1], ["x", "y"], ["1", "2"], sources=["s", "t"])
    assert fruit.fingerprint == "05734fbd939d49a4ebc39a972a66b4ed370ca851c41b36b5f22beb72447a90b6"
    assert said.fingerprint == "458d20f287cea111ce923584ed1c561dc563e0c18294b89cf80281438312abf4"
    vectors = np.arange(6.0).reshape(3, 2)
    prints = [
        fruit.fingerprint,
        fruit.with_vectors(vectors, "v").fingerprint,
        fruit.with_vectors(vectors.astype(np.float32), "v").fingerprint,
        fruit.with_vectors(vectors[::-1], "v").fingerprint,
        fruit.with_vectors(vectors[:, :1], "v").fingerprint,
    ]
    assert len(set(prints)) == len(prints)
    assert fruit.with_vectors(vectors, "another name").fingerprint == prints[1]
