"""A data set that can be made can be trusted; one that cannot be trusted is refused with a reason."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.dataset import duplicate_groups, without_copies

USUAL = {
    "name": "fruit",
    "kind": "tabular",
    "x": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]],
    "y": [0, 1, 1],
    "class_names": ("plum", "melon"),
    "ids": ["a", "b", "c"],
}


def make(**changes) -> Dataset:
    return Dataset(**{**USUAL, **changes})


def image(**changes) -> Dataset:
    return make(**{"kind": "image", "x": np.zeros((3, 4, 5, 1)), **changes})


def text(**changes) -> Dataset:
    return make(**{"kind": "text", "x": ["one", "", "zwölf 😀"], **changes})


def test_arrays_have_the_promised_types():
    assert image().x.dtype == np.float32
    assert make().x.dtype == np.float64
    for dataset in (make(sources=np.array(["s", "t", "s"])), text(ids=np.array(["1", "2", "3"]))):
        assert dataset.y.dtype == np.int64
        assert dataset.ids.dtype == object
        assert {type(name) for name in dataset.ids} == {str}
    assert text().x.dtype == object
    assert make().feature_names == ("x1", "x2")
    assert text().feature_names == ()


def test_counts():
    assert (make().n_samples, make().n_classes, make().n_per_class.tolist()) == (3, 2, [1, 2])


def test_samples_without_ids_are_counted_from_0():
    assert make(ids=None).fingerprint == make(ids=["0", "1", "2"]).fingerprint
    assert text(ids=None).ids.tolist() == ["0", "1", "2"]


def test_nothing_can_be_changed():
    x = np.zeros((3, 2))
    dataset = make(x=x, sources=["s", "t", "s"])
    before = dataset.fingerprint
    x[0, 0] = 7  # the caller's own array is not the data set's
    assert dataset.x[0, 0] == 0
    for array in (dataset.x, dataset.y, dataset.ids, dataset.sources):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]
    view = x[:]
    view.flags.writeable = False
    assert not np.shares_memory(make(x=view).x, x)
    with pytest.raises(dataclasses.FrozenInstanceError):
        dataset.scale = 2.0
    assert dataset.fingerprint == before == make(x=np.zeros((3, 2)), sources=["s", "t", "s"]).fingerprint


@pytest.mark.parametrize("dataset", [make(sources=["s", "t", "s"]), image(), text()])
def test_pickling_keeps_everything(dataset, monkeypatch):
    fingerprint = dataset.fingerprint
    content = pickle.dumps(dataset)
    monkeypatch.setattr("touchstone.core.data.dataset.fingerprint", None)  # a worker need not compute it again
    copy = pickle.loads(content)
    assert copy.fingerprint == fingerprint
    for field in dataclasses.fields(dataset):
        before, after = getattr(dataset, field.name), getattr(copy, field.name)
        assert np.array_equal(before, after) if isinstance(before, np.ndarray) else before == after
        assert not (isinstance(after, np.ndarray) and after.flags.writeable)


def test_name_and_notes_are_no_part_of_the_fingerprint():
    assert make(name="other", notes=("read",)).fingerprint == make().fingerprint


CHANGES = [
    {"x": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.5]]},
    {"y": [0, 0, 1]},
    {"class_names": ("plum", "lemon")},
    {"ids": ["a", "b", "d"]},
    {"sources": ["s", "t", "s"]},
    {"scale": 2.0},
    {"feature_names": ("width", "height")},
]


@pytest.mark.parametrize("changes", CHANGES)
def test_all_else_is_part_of_the_fingerprint(changes):
    assert make(**changes).fingerprint != make().fingerprint


REFUSED = {
    "kind": ({"kind": "sound"}, "kind 'sound'. It must be one of image, text, tabular"),
    "no samples": ({"x": np.zeros((0, 2)), "y": [], "ids": []}, r"shape \(0, 2\), so there is nothing in it"),
    "flat table": ({"x": [1.0, 2.0, 3.0]}, r"shape \(3,\). For tabular data it must be \(n_samples, n_features\)"),
    "ragged table": ({"x": [[1.0, 2.0], [3.0], [5.0, 6.0]]}, "not in one shape"),
    "words in a table": ({"x": [["1", "two"], ["3", "4"], ["5", "6"]]}, "does not hold numbers only"),
    "labels missing": ({"y": [0, 1]}, "3 samples but 2 labels"),
    "ids missing": ({"ids": ["a", "b"]}, "3 samples but 2 ids"),
    "sources missing": ({"sources": ["s"]}, "3 samples but 1 sources"),
    "fractions as labels": ({"y": [0.0, 1.0, 1.0]}, "y is float64"),
    "label too high": ({"y": [0, 1, 2]}, "labels run from 0 to 2. With 2 class names they must lie in 0 to 1"),
    "label too low": ({"y": [0, 1, -1]}, "labels run from -1 to 1"),
    "one class": ({"y": [0, 0, 0], "class_names": ["plum"]}, "every sample is of class 'plum'"),
    "empty class": ({"class_names": ["plum", "melon", "kiwi"]}, "class 'kiwi' has no sample"),
    "same class twice": ({"class_names": ["plum", "plum"]}, "class name 'plum' occurs 2 times"),
    "same id twice": ({"ids": ["a", "b", "a"]}, "id 'a' occurs 2 times"),
    "empty id": ({"ids": ["a", "", "c"]}, "id 2 of 3 is ''"),
    "number as id": ({"ids": np.array(["a", 2, "c"], dtype=object)}, "id 2 of 3 is 2"),
    "missing source": ({"sources": np.array(["s", None, "s"], dtype=object)}, "source 2 of 3 is None"),
    "NaN": ({"x": [[1.0, 2.0], [3.0, float("nan")], [5.0, 6.0]]}, "sample 'b' has nan in feature 'x2'"),
    "infinity": ({"x": [[-np.inf, 2.0], [3.0, 4.0], [5.0, 6.0]]}, "sample 'a' has -inf in feature 'x1'"),
    "feature names": ({"feature_names": ["width"]}, "1 feature names for 2 features"),
    "same feature twice": ({"feature_names": ["width", "width"]}, "feature name 'width' occurs 2 times"),
    "scale": ({"scale": 0.0}, "scale 0.0. It must be a positive number"),
    "grey image without channel": ({"kind": "image", "x": np.zeros((3, 4, 5))}, r"it must be \(n_samples, height"),
    "8-bit image": ({"kind": "image", "x": np.full((3, 4, 5, 1), 255)}, "pixels run from 255 to 255"),
    "NaN pixel": ({"kind": "image", "x": np.full((3, 4, 5, 1), np.nan)}, "sample 'a' has nan in a pixel"),
    "missing text": ({"kind": "text", "x": np.array(["a", None, "b"], dtype=object)}, "text 2 of 3 is None"),
    "half a character": ({"kind": "text", "x": ["a", "b\ud800", "c"]}, "text 2 of 3 holds half a surrogate pair"),
}


@pytest.mark.parametrize(("changes", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(changes, message):
    with pytest.raises(DataError, match=f"^fruit: .*{message}"):
        make(**changes)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=2, max_size=6))
def test_any_unicode_text_is_kept_as_it_is(texts):
    dataset = Dataset("t", "text", texts, [0, 1] + [1] * (len(texts) - 2), ("a", "b"), map(str, range(len(texts))))
    assert dataset.x.tolist() == texts


def fruit() -> Dataset:
    return Dataset(
        "fruit", "tabular", [[1.0], [9.0], [8.5]], [0, 1, 1], ["plum", "melon"], ["a", "b", "c"], notes=["n"]
    )


def test_vectors_come_along_and_nothing_else_changes():
    vectors = np.arange(6.0).reshape(3, 2)
    data = fruit().with_vectors(vectors, "tongue", notes=["2 numbers for each."])
    np.testing.assert_array_equal(data.vectors, vectors)
    assert not data.vectors.flags.writeable
    assert (data.name, data.vectors_name) == ("fruit + tongue", "tongue")
    assert data.notes == ("n", "Vectors: 2 numbers for each.")
    for field in ("x", "y", "ids"):
        np.testing.assert_array_equal(getattr(data, field), getattr(fruit(), field))
    vectors[0, 0] = 99
    assert data.vectors[0, 0] == 0


def test_other_vectors_take_the_place_of_the_first():
    data = fruit().with_vectors(np.ones((3, 2)), "tongue", notes=["first"]).with_vectors(np.eye(3), "nose", notes=["x"])
    assert (data.name, data.vectors_name, data.notes) == ("fruit + nose", "nose", ("n", "Vectors: x"))
    assert data.fingerprint == fruit().with_vectors(np.eye(3), "nose").fingerprint


def test_a_pickled_data_set_keeps_its_vectors_and_they_stay_fixed():
    copy = pickle.loads(pickle.dumps(fruit().with_vectors(np.eye(3, dtype=np.float32), "nose")))
    assert copy.vectors.dtype == np.float32
    assert not copy.vectors.flags.writeable


@pytest.mark.parametrize(
    ("vectors", "words"),
    [
        (np.ones((2, 4)), r"shape \(2, 4\)\. For 3 samples"),
        (np.ones(3), r"shape \(3,\)"),
        (np.ones((3, 0)), r"shape \(3, 0\)"),
        ([[1.0], [2.0], [float("nan")]], "vector of sample 'c'"),
        ([[1.0], [float("inf")], [2.0]], "vector of sample 'b'"),
        ([[1.0], [1.0, 2.0], [2.0]], "not all as long"),
        ([["one"], ["two"], ["three"]], "not numbers only"),
    ],
)
def test_vectors_that_do_not_fit_are_refused(vectors, words):
    with pytest.raises(DataError, match=words):
        fruit().with_vectors(vectors, "odd")


@pytest.mark.parametrize(
    ("numbers", "names", "words"),
    [
        (np.ones((2, 1)), ["day"], r"numbers have shape \(2, 1\)\. For 3 samples and 1 names .* must be \(3, 1\)"),
        (np.ones((3, 1)), ["day", "age"], r"shape \(3, 1\).*must be \(3, 2\)"),
        (None, ["day"], r"shape \(3, 0\).*must be \(3, 1\)"),
        (np.ones((3, 0)), [], "no numbers at all are None"),
        (np.ones((3, 2)), ["day", "day"], "name of a number 'day' occurs 2 times"),
        ([[1.0], [float("nan")], [2.0]], ["day"], "sample 'b' has no finite number 'day'"),
        ([["one"], ["two"], ["three"]], ["day"], "numbers are not numbers only"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(numbers, names, words):
    with pytest.raises(DataError, match=words):
        Dataset("odd", "text", ["a", "b", "c"], [0, 1, 1], "xy", "abc", numbers=numbers, number_names=names)


# Without duplicates: what is kept is kept whole.


BY_ROW = ("x", "ids", "sources", "vectors", "numbers", "part", "units")


COPIES = st.tuples(st.sampled_from(["text", "tabular", "image"]), st.sampled_from(["author", "content"])).flatmap(
    lambda about: st.integers(4, 12).flatmap(
        lambda n: st.tuples(
            st.just(about),
            st.lists(st.integers(0, 5), min_size=n, max_size=n),
            st.lists(st.integers(0, 2), min_size=n - 3, max_size=n - 3),
            st.lists(st.sampled_from(["train", "validation", "test"]), min_size=n, max_size=n),
            st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda at: at[0] != at[1])),
        )
    )
)
"""What a data set of a few contents is made of, and pairs of its samples."""


def with_copies(made) -> tuple[Dataset, np.ndarray]:
    """A data set with all that a sample can have, and pairs of its samples."""
    (kind, unit_name), contents, labels, part, pairs = made
    n, content = len(contents), np.array(contents)
    x = {
        "text": [f"text {each}" for each in contents],
        "tabular": content[:, None] * [1.0, 0.5],
        "image": np.broadcast_to(content[:, None, None, None] / 5, (n, 2, 2, 1)),
    }[kind]
    known = {
        "sources": [f"s{row % 3}" for row in range(n)],
        "units": [f"u{row // 2}" for row in range(n)],
        "unit_name": unit_name,
        "part": part,
        "vectors": np.arange(2.0 * n).reshape(n, 2),
        "numbers": np.arange(1.0 * n)[:, None],
        "number_names": ["date"],
        "notes": ["Read from a file."],
    }
    dataset = Dataset("d", kind, x, [0, 1, 2, *labels], ("a", "b", "c"), [f"id {row}" for row in range(n)], **known)
    return dataset, np.array(pairs, dtype=np.int64).reshape(-1, 2)


@given(COPIES)
def test_without_copies_no_content_is_there_twice_and_what_is_kept_is_kept_whole(made):
    dataset, _ = with_copies(made)
    contents, names = duplicate_groups(dataset), np.array(dataset.class_names)[dataset.y]
    agrees = np.array([len({*dataset.y[contents == content].tolist()}) == 1 for content in contents])
    if len({*dataset.y[agrees].tolist()}) < 2:
        with pytest.raises(DataError, match="fewer than two classes"):
            without_copies(dataset)
        return
    left = without_copies(dataset)
    rows = np.flatnonzero(np.isin(dataset.ids, left.ids))
    assert rows.tolist() == np.flatnonzero(agrees & (contents == np.arange(len(contents)))).tolist()
    assert (duplicate_groups(left) == np.arange(left.n_samples)).all()
    for name in BY_ROW:
        assert (getattr(left, name) == getattr(dataset, name)[rows]).all(), name
    assert (np.array(left.class_names)[left.y] == names[rows]).all()
    for name in ("kind", "scale", "feature_names", "number_names", "vectors_name", "unit_name"):
        assert getattr(left, name) == getattr(dataset, name)
    assert left.notes[0] == "Read from a file."


@given(COPIES)
def test_near_copies_of_the_same_label_leave_one_that_is_kept(made):
    dataset, pairs = with_copies(made)
    try:
        left, exact = without_copies(dataset, pairs), without_copies(dataset)
    except DataError:
        return
    kept = np.isin(dataset.ids, left.ids)
    near = {*map(tuple, pairs.tolist()), *map(tuple, pairs[:, ::-1].tolist())}
    for row in np.flatnonzero(np.isin(dataset.ids, exact.ids)):
        earlier = [other for other in range(row) if (row, other) in near and dataset.y[other] == dataset.y[row]]
        assert kept[row] != any(kept[other] for other in earlier)


def test_a_class_of_contested_copies_is_left_out_and_the_note_says_how_many():
    data = make(x=[[1.0], [1.0], [2.0], [3.0], [3.0]], y=[0, 1, 1, 2, 2], class_names=("p", "m", "q"), ids=None)
    left = without_copies(data)
    assert (left.class_names, left.y.tolist(), left.ids.tolist()) == (("m", "q"), [0, 1], ["2", "3"])
    assert left.notes == ("Left out: 3 samples as duplicates, 2 of them with other labels than a copy.",)
    assert without_copies(left).name == left.name == "fruit, without duplicates"
