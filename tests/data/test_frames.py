"""A frame of any library is read as its file is, and says what it says."""

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest

import touchstone
from tests.data.layouts.listed import LAYOUTS
from touchstone.core.data import DataError
from touchstone.core.data.frames import file_of

LIBRARIES = {
    "pandas": lambda frame: frame,
    "pandas, NumPy's types": lambda frame: frame.astype(object),
    "pandas, Arrow's types": lambda frame: frame.convert_dtypes(dtype_backend="pyarrow"),
    "Polars": polars.from_pandas,
    "Polars, not read yet": lambda frame: polars.from_pandas(frame).lazy(),
    "PyArrow": pyarrow.Table.from_pandas,
}


def answers(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    truth = rng.choice(["cat", "dog", "eel"], n)
    answer = np.where(rng.random(n) < 0.8, truth, rng.choice(["cat", "dog", "eel"], n))
    cells = {"id": [f"s{i}" for i in range(n)], "truth": truth, "predicted": answer}
    return pd.DataFrame({**cells, "confidence": rng.uniform(0.4, 1, n), "author": rng.integers(12, size=n)})


@pytest.mark.parametrize("library", LIBRARIES)
def test_frames_are_compared_as_their_files(library, tmp_path):
    frames = [answers(150, 1), answers(150, 2)]
    files = [tmp_path / "the reference.csv", tmp_path / "the new model.csv"]
    for frame, file in zip(frames, files, strict=True):
        frame.to_csv(file, index=False)
    ours = touchstone.compare(*map(LIBRARIES[library], frames), design="independent")
    of_files = touchstone.compare(*files, design="independent")
    assert ours.verdict == of_files.verdict
    assert ours.table().equals(of_files.table())
    card = touchstone.card(LIBRARIES[library](frames[0]))
    assert (card.n, card.accuracy) == (150, (frames[0]["truth"] == frames[0]["predicted"]).mean())


@pytest.mark.parametrize("library", LIBRARIES)
def test_features_come_from_any_frame(library):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"size": rng.random(30), "sex": rng.choice(["f", "m"], 30), "kind": rng.choice(["x", "y"], 30)}
    )
    of_arrays = touchstone.dataset(LIBRARIES[library](frame[["size", "sex"]]), frame["kind"])
    assert of_arrays.feature_names == ("size", "sex=f", "sex=m")
    np.testing.assert_array_equal(of_arrays.x[:, 0], frame["size"])
    of_file = touchstone.read(LIBRARIES[library](frame), label="kind")
    assert of_file.class_names == of_arrays.class_names
    np.testing.assert_array_equal(of_file.y, of_arrays.y)


def test_an_index_of_names_is_the_id():
    frame = answers(60, 3).drop(columns="id")
    named = frame.set_index(pd.Index([f"n{i}" for i in range(60)]))
    shuffled = named.sample(frac=1, random_state=1)
    assert "paired" in touchstone.compare(named, shuffled).basis.design
    called = frame.assign(sample=range(60)).set_index("sample")
    assert {"sample"} <= {*pd.read_parquet(file_of(called, "called")).columns}


def test_numbers_that_only_count_rows_are_no_ids():
    """What is left of two other test sets has numbers in common, and no sample."""
    frame = answers(60, 3).rename(columns={"id": "file"})
    left = frame[frame["confidence"] > 0.6]
    assert [*pd.read_parquet(file_of(left, "left")).columns] == [*frame.columns]
    assert touchstone.card(pd.concat([frame, frame.assign(file=frame["file"] + "b")])).n == 120


PARQUET = [layout for layout in LAYOUTS if layout.name.endswith(".parquet")]


@pytest.mark.parametrize("layout", PARQUET, ids=lambda layout: f"{layout.tool}: {layout.what}")
def test_a_frame_says_what_its_parquet_file_says(layout, tmp_path):
    file = tmp_path / "frame.parquet"
    file.write_bytes(layout.content)
    assert touchstone.card(pd.read_parquet(file), accept=True) == touchstone.card(file, accept=True)


@pytest.mark.parametrize("given", [3, None, {"a": 1}, object()])
def test_what_is_neither_file_nor_frame_is_named(given):
    with pytest.raises(DataError, match=f"{type(given).__name__} is neither a file nor a frame"):
        touchstone.compare(given, given)


def test_columns_of_several_types_are_named():
    frame = answers(10, 1).assign(note=[1, "a", None, [2], {}, 3, 4, 5, 6, 7])
    with pytest.raises(DataError, match="note"):
        touchstone.card(frame)
