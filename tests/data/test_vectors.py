"""Vectors by id: every format says the same, and what does not fit is refused with its place and the counts."""

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.data.store import from_bytes, to_bytes
from touchstone.core.data.tables.vectors import GivenVectors, attach_vectors, read_vectors, write_vectors

IDS = ["r3", "r1", "r2"]
VECTORS = np.array([[3.0, 0.5], [1.0, -0.25], [2.0, 1e-3]])


def named(content: bytes | str, name: str) -> io.BytesIO:
    file = io.BytesIO(content.encode() if isinstance(content, str) else content)
    file.name = name
    return file


def parquet(columns: dict) -> bytes:
    stream = io.BytesIO()
    pd.DataFrame(columns).to_parquet(stream)
    return stream.getvalue()


def npz(**arrays: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def npy(vectors: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, vectors)
    return stream.getvalue()


def table(a: np.ndarray = VECTORS[:, 0], **more: object) -> dict:
    return {"id": IDS, **more, "d0": a, "d1": VECTORS[:, 1]}


FILES = {
    "wide.parquet": parquet(table()),
    "list.parquet": parquet({"id": IDS, "embedding": list(VECTORS)}),
    "arrays.npz": npz(ids=np.array(IDS), vectors=VECTORS),
    "wide.tsv": pd.DataFrame(table()).to_csv(sep="\t", index=False).encode(),
    "wide.csv": pd.DataFrame(table()).to_csv(index=False).encode(),
    "indexed.csv": pd.DataFrame(table()).to_csv().encode(),
    "printed.csv": pd.DataFrame({"id": IDS, "vector": list(VECTORS)}).to_csv(index=False).encode(),
    "lists.jsonl": pd.DataFrame({"ids": IDS, "vector": VECTORS.tolist()})
    .to_json(orient="records", lines=True)
    .encode(),
    "written.parquet": write_vectors(IDS, VECTORS),
}


def fruit(ids: list[str] | None = None) -> Dataset:
    return Dataset("fruit", "tabular", [[1.0], [2.0], [3.0]], [0, 1, 1], ("plum", "melon"), ids or ["r1", "r2", "r3"])


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_vectors_in_the_order_of_the_data(name):
    given = read_vectors(named(FILES[name], name))
    data = attach_vectors(fruit(), given)
    np.testing.assert_allclose(data.vectors, VECTORS[[1, 2, 0]], rtol=1e-6)
    assert data.vectors_name == name
    assert "2 numbers for each sample" in data.notes[0]


def test_a_packed_file_and_a_path_will_do(tmp_path):
    import gzip

    (tmp_path / "v.tsv.gz").write_bytes(gzip.compress(FILES["wide.tsv"]))
    np.testing.assert_allclose(read_vectors(tmp_path / "v.tsv.gz").vectors, VECTORS)


def test_labels_and_folds_are_never_taken_for_dimensions():
    content = parquet(table(label=[0, 1, 0], fold=[1, 2, 3], gold_label=[1, 1, 0], text=["a", "b", "c"]))
    given = read_vectors(named(content, "v.parquet"))
    np.testing.assert_array_equal(given.vectors, VECTORS)
    assert given.notes == ("Not used: label, fold, gold_label, text.",)


def test_places_on_a_map_are_dimensions():
    content = pd.DataFrame({"id": IDS, "x": VECTORS[:, 0], "y": VECTORS[:, 1]}).to_csv(index=False)
    np.testing.assert_array_equal(read_vectors(named(content, "map.csv")).vectors, VECTORS)


def test_numbers_do_as_ids_and_are_spelled_as_in_tables():
    given = read_vectors(named(npz(ids=np.array([2, 0, 1]), vectors=VECTORS), "v.npz"))
    data = attach_vectors(fruit(["0", "1", "2"]), given)
    np.testing.assert_array_equal(data.vectors, VECTORS[[1, 2, 0]])


@pytest.mark.parametrize(
    ("dtype", "kept"), [(np.float16, np.float32), (np.float32, np.float32), (np.float64, np.float64)]
)
def test_what_32_bits_hold_stays_in_them(dtype, kept):
    vectors = np.full((3, 2), 0.1, dtype=dtype)
    assert read_vectors(named(npz(ids=np.array(IDS), vectors=vectors), "v.npz")).vectors.dtype == kept


def test_missing_vectors_are_counted_both_ways_with_examples():
    data = load_example("wine")
    given = GivenVectors("v.npz", (*data.ids[:170], "x1", "x2"), np.ones((172, 4)))
    with pytest.raises(DataError) as refused:
        attach_vectors(data, given)
    assert str(refused.value) == (
        "v.npz: vectors missing for some ids. 8 of 178 samples of wine have none (such as '170', '171', '172'), and 2 "
        "of 172 rows of the file belong to no sample (such as 'x1', 'x2'). "
        "Give each sample a vector, under its id in the data set."
    )


def test_extra_vectors_are_left_out_and_counted():
    given = GivenVectors("v.npz", ("r1", "more", "r2", "r3"), np.arange(4.0)[:, None])
    data = attach_vectors(fruit(), given)
    assert data.vectors.ravel().tolist() == [0, 2, 3]
    assert data.notes[-1] == "Vectors: 1 of 4 rows belong to no sample and were left out."


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        ("id,a\nr1,1\nr2,nan\n", "v.csv", r"v\.csv, line 3: column 'a' holds 'nan'"),
        ("id,a\nr1,1\nr2,\nr3,4\n", "v.csv", r"v\.csv, line 3: column 'a' holds nothing"),
        ("id,a\nr1,1\nr2,inf\n", "v.csv", "line 3"),
        ("id,a\nr1,1\nr1,2\n", "v.csv", r"line 3: id 'r1' stands in line 2 too"),
        ("id,label\nr1,1\nr2,2\n", "v.csv", "no column of numbers"),
        ("id\tvector\nr1\t[1, 2]\nr2\t[1]\n", "v.tsv", r"v\.tsv, line 3: column 'vector' holds 1 numbers.*list of 2"),
        ("id\tvector\nr1\t[1, 2]\nr2\t[1, NaN]\n", "v.tsv", "line 3"),
        ("id\tu\tv\nr1\t[1, 2]\t[1]\nr2\t[1, 3]\t[2]\n", "v.tsv", "'u', 'v' all hold lists"),
        (npz(ids=np.array(IDS), vectors=np.where(VECTORS > 2, np.nan, VECTORS)), "v.npz", "row 1: column 'vectors_0'"),
        (npz(ids=np.array(IDS), vectors=VECTORS[:2]), "v.npz", "differ in length"),
        (b"not an archive", "v.npz", "no zip archive"),
        (b"PAR1 not quite", "v.parquet", "no Parquet or Arrow file"),
        ("id,a\nr1,1\n", "v.ods", "no table"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(content, name, words):
    with pytest.raises(DataError, match=words):
        read_vectors(named(content, name))


BY_ORDER = {
    "v.npy": npy(VECTORS),
    "v.npz": npz(embeddings=VECTORS),
    "v.csv": pd.DataFrame(VECTORS, columns=["a", "b"]).to_csv(index=False).encode(),
    "indexed.csv": pd.DataFrame(VECTORS, columns=["a", "b"]).to_csv().encode(),
    "bare.csv": pd.DataFrame(VECTORS).to_csv(index=False, header=False).encode(),
    "counted.csv": pd.DataFrame(VECTORS).to_csv(index=False).encode(),
    "v.parquet": parquet({"embedding": list(VECTORS)}),
}


@pytest.mark.parametrize("name", BY_ORDER)
def test_without_ids_rows_are_matched_by_their_order_and_that_is_said(name):
    given = read_vectors(named(BY_ORDER[name], name))
    data = attach_vectors(fruit(), given)
    np.testing.assert_allclose(data.vectors, VECTORS, rtol=1e-6)
    assert "Vectors: Matched by row order, since the file has no ids: 3 rows for 3 samples." in data.notes


def test_a_count_or_labels_that_speak_against_the_order_refuse_it():
    given = read_vectors(named(npy(VECTORS[:2]), "v.npy"))
    with pytest.raises(DataError, match=r"v\.npy: 2 rows without ids, but fruit has 3 samples. Give one row for each"):
        attach_vectors(fruit(), given)
    labelled = {"labels": np.array(["plum", "melon", "melon"]), "embeddings": VECTORS}
    data = attach_vectors(fruit(), read_vectors(named(npz(**labelled), "v.npz")))
    assert data.notes[1].endswith("3 rows for 3 samples, and their labels agree.")
    shuffled = labelled | {"labels": labelled["labels"][::-1]}
    with pytest.raises(DataError, match=r"in row order 2 of 3 labels differ from those of fruit"):
        attach_vectors(fruit(), read_vectors(named(npz(**shuffled), "v.npz")))


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["0", "1", "1"], "Its labels have other names, and go one to one with those of the data set."),
        (["1", "1", "0"], "since some are no class of the data set (such as '1')."),
        (["plum", "pear", "plum"], "since some are no class of the data set (such as 'pear')."),
    ],
)
def test_labels_that_are_called_otherwise_are_spoken_of(labels, said):
    data = attach_vectors(fruit(), read_vectors(named(npz(labels=np.array(labels), embeddings=VECTORS), "v.npz")))
    assert said in data.notes[1]


def test_labels_that_lack_a_class_are_held_against_the_order_too():
    arrays = npz(labels=np.array(["plum", "plum", "plum"]), embeddings=VECTORS)
    with pytest.raises(DataError, match="in row order 2 of 3 labels differ"):
        attach_vectors(fruit(), read_vectors(named(arrays, "v.npz")))


def test_a_column_of_names_that_no_two_rows_share_is_matched_like_ids():
    content = pd.DataFrame({"recording": IDS, "a": VECTORS[:, 0], "b": VECTORS[:, 1]}).to_csv(index=False)
    data = attach_vectors(fruit(), read_vectors(named(content, "v.csv")))
    np.testing.assert_allclose(data.vectors, VECTORS[[1, 2, 0]])
    with pytest.raises(DataError, match="vectors missing for some ids"):
        attach_vectors(fruit(["x", "y", "z"]), read_vectors(named(content, "v.csv")))


def test_nothing_is_ever_unpickled(monkeypatch):
    def forbidden(*_args: object, **_options: object) -> None:
        raise AssertionError("unpickled")

    content = npz(ids=np.array(IDS, dtype=object), vectors=VECTORS)
    monkeypatch.setattr("pickle.load", forbidden)
    monkeypatch.setattr("pickle.loads", forbidden)
    with pytest.raises(DataError, match="pickle can run code"):
        read_vectors(named(content, "v.npz"))


@given(npst.arrays(np.float32, st.tuples(st.just(3), st.integers(1, 5)), elements=st.floats(-1e6, 1e6, width=32)))
def test_written_vectors_come_back_and_are_stored(vectors):
    data = attach_vectors(fruit(), read_vectors(named(write_vectors(["r1", "r2", "r3"], vectors), "v.parquet")))
    assert data.vectors.tobytes() == vectors.tobytes()
    assert from_bytes(to_bytes(data)).fingerprint == data.fingerprint
