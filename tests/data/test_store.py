"""What is stored comes back as it was, bit by bit."""

import io
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from core.data import DataError, Dataset, load_example
from core.data.store import from_bytes, to_bytes

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
names = words.filter(bool)


@st.composite
def arguments(draw):
    n = draw(st.integers(2, 5))
    kind = draw(st.sampled_from(["image", "text", "tabular"]))
    if kind == "image":
        shape = (n, *draw(st.tuples(st.integers(1, 3), st.integers(1, 3), st.sampled_from([1, 3]))))
        x = draw(npst.arrays(np.float32, shape, elements=st.floats(0, 1, width=32)))
    elif kind == "text":
        x = draw(st.lists(words, min_size=n, max_size=n))
    else:
        x = draw(npst.arrays(np.float64, (n, 2), elements=st.floats(allow_nan=False, allow_infinity=False)))
    unique = st.lists(names, min_size=n, max_size=n, unique=True)
    return {
        "name": draw(names),
        "kind": kind,
        "x": x,
        "y": [0, *([1] * (n - 1))],
        "class_names": draw(st.lists(names, min_size=2, max_size=2, unique=True)),
        "ids": draw(unique),
        "sources": draw(st.none() | st.lists(names, min_size=n, max_size=n)),
        "scale": draw(st.floats(0.001, 1000)),
        "feature_names": draw(st.lists(names, min_size=2, max_size=2, unique=True)) if kind == "tabular" else (),
        "notes": draw(st.lists(words, max_size=2)),
    }


@given(arguments())
def test_any_data_set_comes_back(arguments):
    dataset = Dataset(**arguments)
    copy = from_bytes(to_bytes(dataset))
    assert copy.fingerprint == dataset.fingerprint
    assert (copy.name, copy.notes, copy.kind) == (dataset.name, dataset.notes, dataset.kind)
    assert not copy.x.flags.writeable


@pytest.mark.parametrize("name", ["digits", "wine"])
def test_no_pickle_is_needed(name, monkeypatch):
    content = to_bytes(load_example(name))
    monkeypatch.setattr("pickle.loads", None)
    monkeypatch.setattr("pickle.load", None)
    assert from_bytes(content).n_samples in (1797, 178)


@pytest.mark.parametrize("name", ["digits", "wine"])
@pytest.mark.parametrize("length", [0, 1, 10, 0.5, -1])
def test_cut_bytes_are_refused(name, length):
    content = to_bytes(load_example(name))
    with pytest.raises(DataError, match="damaged"):
        from_bytes(content[: int(len(content) * length) if isinstance(length, float) else length])


def test_other_files_are_refused():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.txt", "a")
    for content in (stream.getvalue(), pd.DataFrame({"a": [1]}).to_parquet()):
        with pytest.raises(DataError, match="damaged"):
            from_bytes(content)
