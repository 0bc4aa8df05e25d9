"""Whatever file somebody gives: it becomes the data set that was meant, or a sentence that says why not."""

import gzip
import io
import json
import time
import zipfile
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.uploads import noise, picture, zipped
from tests.data.uploads import upload as named
from touchstone.core.data import DataError, RolesNeeded, load_example, read_dataset
from touchstone.core.data.limits import Limits
from touchstone.core.data.tables.files import read_table
from touchstone.core.data.tables.roles import DatasetRoles


def npz(**arrays) -> io.BytesIO:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return named(stream.getvalue(), "a.npz")


NOISE = noise()


# Any file


def test_a_file_can_be_given_by_path_or_open_and_read_twice(tmp_path):
    path = tmp_path / "films.CSV"
    path.write_text("text,label\nA fine film.,yes\nA dull one.,no\n")
    dataset = read_dataset(path)
    assert (dataset.name, dataset.kind) == ("films", "text")
    assert read_dataset(str(path), name="Films").name == "Films"
    with open(path, "rb") as file:
        assert read_dataset(file).fingerprint == read_dataset(file).fingerprint == dataset.fingerprint


ANY_FILE = {
    "empty": (named(b"", "a.tsv"), "a.tsv: the file is empty"),
    "empty archive": (named(b"", "a.zip"), "a.zip: the file is empty"),
    "missing": ("nowhere/a.tsv", r"a.tsv: the file cannot be read \(No such file"),
    "spreadsheet": (
        named(b"x", "a.ods"),
        "a.ods: a file that ends in .ods cannot be read. Give one that ends in .tsv",
    ),
    "no ending": (named(b"x", "data"), "data: a file that ends in nothing at all cannot be read"),
    "no name": (io.BytesIO(b"x"), "The file has no name"),
    "no archive": (named(b"hello", "a.zip"), "a.zip: this is no zip archive, or a damaged one"),
    "no arrays": (named(b"hello", "a.npz"), "a.npz: this is no zip archive, or a damaged one"),
    "no keys": (named(b"{}\n", "a.jsonl"), "a.jsonl: there are no columns"),
}


@pytest.mark.parametrize(("file", "message"), ANY_FILE.values(), ids=ANY_FILE)
def test_files_that_are_none(file, message):
    with pytest.raises(DataError, match=message):
        read_dataset(file)


def test_a_file_over_the_limit_is_refused():
    file = named(b"text\tlabel\n" + b"so it goes\tyes\n" * 10, "a.tsv")
    with pytest.raises(DataError, match=r"a\.tsv: the file is larger than 9\.53674e-05 MiB"):
        read_dataset(file, limits=Limits(file_bytes=100))


@given(st.binary(max_size=200), st.sampled_from([".tsv", ".csv", ".jsonl", ".parquet", ".npz", ".zip"]))
def test_no_bytes_whatsoever_raise_anything_but_a_data_error(content, ending):
    for start in (b"", b"a\tlabel\n", b"PK\x03\x04", b"PAR1"):
        with suppress(DataError):
            read_dataset(named(start + content, f"a{ending}"))


@pytest.mark.parametrize("seed", range(30))
def test_flipped_bytes_raise_nothing_but_a_data_error(seed):
    rng = np.random.default_rng(seed)
    files = [npz(x=np.eye(4), y=[0, 1, 0, 1]), zipped({f"{c}/{i}.png": picture(9 * i) for c in "ab" for i in range(3)})]
    files.append(named(pd.DataFrame({"a": [1.5, 2.5], "label": ["x", "y"]}).to_parquet(), "a.parquet"))
    for file in files:
        content = np.frombuffer(file.getvalue(), np.uint8).copy()
        content[rng.integers(len(content), size=3)] = rng.integers(256, size=3)
        with suppress(DataError):
            read_dataset(named(content.tobytes(), file.name))


# Tables


def tsv(text: str, **more):
    return read_dataset(named(text.encode(), "t.tsv"), **more)


def test_strings_stay_strings():
    dataset = tsv("id\ttext\tlabel\n01\tA fine film here\tNA\n1\tA dull film here\tnan\n1.0\tAnother film here\t01\n")
    assert dataset.ids.tolist() == ["01", "1", "1.0"]
    assert dataset.class_names == ("01", "NA", "nan")
    assert [dataset.class_names[code] for code in dataset.y] == ["NA", "nan", "01"]


def test_classes_that_are_numbers_are_in_numeric_order():
    rows = "".join(f"{position}\t{label}\n" for position, label in enumerate(["10", "9", "010", "9.5", "-1"]))
    assert tsv(f"a\tlabel\n{rows}").class_names == ("-1", "9", "9.5", "010", "10")


def test_notes_say_what_was_taken_for_what():
    dataset = tsv("text\tspeaker\tpart\tmood\tlabel\nsome words here\ta\t1\tglad\tx\n\tb\t2\t\ty\n")
    assert dataset.notes == (
        "Label: column 'label'.",
        "Text: column 'text'.",
        "1 of 2 texts are empty.",
        "Ids: positions of the rows, counted from 0.",
        "Sources: column 'speaker', 2 values in 2 rows.",
        "Numbers of the samples, which are no inputs: part.",
        "Not used: mood.",
    )


FILMS = pd.DataFrame(
    {
        "id": ["7", "8"],
        "text": ["A fine film here", "A dull one there"],
        "label": ["x", "y"],
        "day": ["1970-01-03", "1970-01-01T12:00Z"],
        "stars": [4.5, 1.0],
        "since": ["1970-01-03", "last year"],
        "votes": [3, None],
        "uid": [11, 12],
    }
)


@pytest.mark.parametrize("ending", ["tsv", "json", "parquet"])
def test_dates_and_further_numbers_are_kept_where_every_row_has_one(ending):
    write = {
        "tsv": lambda: FILMS.to_csv(sep="\t", index=False).encode(),
        "json": lambda: FILMS.to_json(orient="records").encode(),
        "parquet": lambda: FILMS.assign(day=pd.to_datetime(FILMS["day"], format="ISO8601", utc=True)).to_parquet(),
    }[ending]
    dataset = read_dataset(named(write(), f"films.{ending}"), roles=DatasetRoles("label", "text", id="id"))
    assert dataset.number_names == ("day (days since 1970)", "stars")
    assert dataset.numbers.tolist() == [[2.0, 4.5], [0.5, 1.0]]
    assert dataset.notes[-1] == "Not used: since, votes, uid."
    without = read_dataset(
        named(FILMS.drop(columns=["day", "stars"]).to_csv(sep="\t", index=False).encode(), "films.tsv"),
        roles=DatasetRoles("label", "text", id="id"),
    )
    assert (without.numbers, without.number_names) == (None, ())
    assert without.fingerprint != dataset.fingerprint


def test_a_table_keeps_the_date_beside_its_features():
    dataset = tsv("size\tday\tlabel\n1\t2020-01-01\tx\n2\t2020-01-03\ty\n")
    assert (dataset.feature_names, dataset.number_names) == (("size",), ("day (days since 1970)",))
    assert np.diff(dataset.numbers[:, 0]).tolist() == [2]


TABLES = {
    "one class": ("a\tlabel\n1\tx\n2\tx\n", "t.tsv: column 'label': 'x' is the only class"),
    "empty label": ("a\tlabel\n1\tx\n2\t\n3\ty\n", "t.tsv, line 3: column 'label' holds nothing"),
    "same id": (
        "id\ta\tlabel\n7\t1\tx\n8\t2\ty\n7\t3\tx\n",
        "t.tsv, line 4: id '7' stands in line 2 too. Each id must be unique",
    ),
    "empty id": ("id\ta\tlabel\n7\t1\tx\n \t2\ty\n", "t.tsv, line 3: column 'id' holds ' '"),
    "empty source": (
        "source\ta\tlabel\ns\t1\tx\n\t2\ty\n",
        "t.tsv: 1 of 2 rows holds no source .column 'source'.. Is the column not used",
    ),
    "NaN": ("a\tlabel\n1\tx\nnan\ty\n3\ty\n", "t.tsv, line 3: column 'a' holds 'nan'. It must be a finite number"),
    "infinity": ("a\tlabel\n1\tx\n2\ty\n-inf\ty\n", "t.tsv, line 4: column 'a' holds '-inf'"),
    "hole": ("a\tlabel\n1\tx\n2\ty\n\ty\n", "t.tsv, line 4: column 'a' holds nothing"),
    "ragged": ("a\tlabel\n1\tx\n2\n", "t.tsv, line 3: 1 cells, but the header has 2"),
    "measurements": (
        "a\tlabel\n" + "".join(f"{position}\t{position / 7}\n" for position in range(60)),
        "column 'label': 60 classes for 60 samples.*are these measurements or ids",
    ),
}


@pytest.mark.parametrize(("text", "message"), TABLES.values(), ids=TABLES)
def test_tables_that_cannot_be_used(text, message):
    with pytest.raises(DataError, match=message):
        tsv(text)


def test_features_that_are_given_must_be_numbers():
    with pytest.raises(DataError, match=r"t\.tsv, line 2: column 'b' holds 'one'\. It must be a finite number"):
        tsv("a\tb\tlabel\n1\tone\tx\n2\ttwo\ty\n", roles=DatasetRoles("label", features=("a", "b")))


@pytest.mark.parametrize("ending", ["tsv", "csv", "parquet", "jsonl"])
def test_a_table_is_the_same_data_set_in_every_format(ending):
    wine = load_example("wine")
    frame = pd.DataFrame(wine.x, columns=list(wine.feature_names))
    frame["id"] = wine.ids
    frame["class"] = [wine.class_names[code] for code in wine.y]
    content = {
        "tsv": lambda: frame.to_csv(sep="\t", index=False).encode(),
        "csv": lambda: frame.to_csv(index=False).encode(),
        "parquet": frame.to_parquet,
        "jsonl": lambda: frame.to_json(orient="records", lines=True, double_precision=15).encode(),
    }[ending]()
    assert read_dataset(named(content, f"wine.{ending}")).fingerprint == wine.fingerprint


def test_vectors_in_cells_are_features_unless_there_is_a_text():
    rows = [{"vector": [n / 3, n / 7, 1.0], "label": "ab"[n % 2], "text": "Good" if n else "So so"} for n in range(20)]
    alone = "".join(json.dumps({key: row[key] for key in ("vector", "label")}) + "\n" for row in rows)
    dataset = read_dataset(named(alone, "e.jsonl"))
    assert (dataset.kind, dataset.feature_names) == ("tabular", ("vector 1", "vector 2", "vector 3"))
    assert dataset.x[3].tolist() == [1, 3 / 7, 1]
    with_text = "".join(json.dumps(row) + "\n" for row in rows)
    assert read_dataset(named(with_text, "e.jsonl")).kind == "text"
    uneven = alone.replace("[0.0, 0.0, 1.0]", "[0.0, 0.0]")
    with pytest.raises(DataError, match="which column holds the text"):
        read_dataset(named(uneven, "e.jsonl"))


# NPZ


def test_npz_of_a_table():
    dataset = read_dataset(npz(x=np.eye(3), y=[10, 9, 10], ids=["01", "1", "NA"], sources=[3, 3, 4], extra=[1]))
    assert (dataset.kind, dataset.class_names, dataset.y.tolist()) == ("tabular", ("9", "10"), [1, 0, 1])
    assert (dataset.ids.tolist(), dataset.sources.tolist()) == (["01", "1", "NA"], ["3", "3", "4"])
    assert dataset.notes == ("Not used: extra.",)


@pytest.mark.parametrize(("x", "y"), [("x", "y"), ("images", "label"), ("X", "labels")])
def test_npz_keys_that_mean_the_same(x, y):
    assert read_dataset(npz(**{x: np.eye(2), y: np.array([[1], [2]])})).ids.tolist() == ["0", "1"]


def test_npz_of_texts():
    dataset = read_dataset(npz(x=np.array(["a zwölf", ""]), y=np.array(["NA", "01"])))
    assert (dataset.kind, dataset.x.tolist(), dataset.class_names) == ("text", ["a zwölf", ""], ("01", "NA"))


@pytest.mark.parametrize(
    ("pixels", "scale"),
    [
        (np.array([0, 255], np.uint8), 255.0),
        (np.array([0, 17], np.int64), 255.0),
        (np.array([0.0, 255.0]), 255.0),
        (np.array([0, 16], np.uint8), 16.0),
        (np.array([0.0, 16.0]), 16.0),
        (np.array([0, 1], np.uint8), 1.0),
        (np.array([False, True]), 1.0),
        (np.array([0.25, 1.0]), 1.0),
    ],
)
def test_images_are_scaled_by_what_their_numbers_can_only_mean(pixels, scale):
    dataset = read_dataset(npz(images=np.broadcast_to(pixels[:, None, None], (2, 4, 3)), labels=[0, 1]))
    assert (dataset.x.shape, dataset.x.dtype, dataset.scale) == ((2, 4, 3, 1), np.float32, scale)
    assert np.array_equal(dataset.x[:, 0, 0, 0], pixels.astype(np.float32) / np.float32(scale))
    assert "Pixels" in dataset.notes[0]


def test_digits_from_their_own_npz_are_the_example():
    from sklearn.datasets import load_digits

    digits = load_digits()
    dataset = read_dataset(npz(images=digits.images, labels=digits.target))
    assert dataset.fingerprint == load_example("digits").fingerprint


OBJECTS = np.array([[1.0], [1.0, 2.0]], dtype=object)
NPZ = {
    "no labels": ({"x": np.eye(2)}, "a.npz: no key 'y', 'label' or 'labels', but 'x'. Save inputs as 'x'"),
    "no inputs": (
        {"y": [0, 1], "x_train": [1]},
        r"no key 'x' or 'images', but 'x_train' and 'y'.*x=arrays\['x_train'\]",
    ),
    "both": ({"x": np.eye(2), "images": np.eye(2), "y": [0, 1]}, "keys 'images' and 'x' mean the same"),
    "counts": ({"x": np.eye(3), "y": [0, 1]}, "a.npz: 'y' holds 2 values, but there are 3 samples"),
    "counts of ids": ({"x": np.eye(2), "y": [0, 1], "ids": [1]}, "a.npz: 'ids' holds 1 values, but there are 2"),
    "nothing": ({"x": np.zeros((0, 2)), "y": []}, r"'x' has shape \(0, 2\), so there is nothing in it"),
    "scalar": ({"x": 1.0, "y": [0]}, r"'x' has shape \(\), so there is nothing"),
    "objects": (
        {"x": OBJECTS, "y": [0, 1]},
        "'x' is an array of Python objects.*pickle can run code. Save plain arrays",
    ),
    "object labels": ({"x": np.eye(2), "y": np.array(["a", None])}, "'y' is an array of Python objects"),
    "bytes": ({"x": np.array([b"a", b"b"]), "y": [0, 1]}, r"'x' is of type \|S1.*save bytes with .astype\(str\)"),
    "complex": ({"x": np.eye(2) * 1j, "y": [0, 1]}, "'x' is of type complex128. It must hold numbers"),
    "flat numbers": ({"x": np.arange(2), "y": [0, 1]}, r"'x' has shape \(2,\) and type int64. Images need"),
    "five dimensions": ({"x": np.zeros((2, 1, 1, 1, 1)), "y": [0, 1]}, "Images need"),
    "channels first": ({"x": np.zeros((2, 3, 8, 8)), "y": [0, 1]}, r"channels last: give x.transpose\(0, 2, 3, 1\)"),
    "NaN": ({"x": np.array([[1, 2], [3, np.nan]]), "y": [0, 1]}, "'x' holds nan in row 1, column 1"),
    "infinite pixel": ({"x": np.full((2, 2, 2), np.inf), "y": [0, 1]}, "'x' holds NaN or infinite pixels"),
    "negative pixel": ({"x": np.full((2, 2, 2), -1), "y": [0, 1]}, "'x' holds pixels from -1 to -1. They must lie in"),
    "16-bit pixel": ({"x": np.full((2, 2, 2), 256), "y": [0, 1]}, "'x' holds pixels from 256 to 256"),
    "fractions": ({"x": np.full((2, 2, 2), 1.5), "y": [0, 1]}, "'x' holds pixels from 1.5 to 1.5"),
    "one class": ({"x": np.eye(2), "y": [3, 3]}, "a.npz: 'y': '3' is the only class"),
    "one-hot": ({"x": np.eye(2), "y": np.eye(2)}, r"'y' has shape \(2, 2\).*save one-hot labels as y.argmax\(1\)"),
    "NaN label": ({"x": np.eye(2), "y": [0, np.nan]}, "'y' holds nan at position 1"),
    "empty label": ({"x": np.eye(2), "y": ["a", ""]}, "'y' holds nothing at position 1"),
    "bytes as labels": ({"x": np.eye(2), "y": [b"a", b"b"]}, r"'y' is of type \|S1"),
    "same id": ({"x": np.eye(3), "y": [0, 1, 1], "ids": ["a", "b", "a"]}, "'ids' holds 'a' at positions 0 and 2"),
}


@pytest.mark.parametrize(("arrays", "message"), NPZ.values(), ids=NPZ)
def test_npz_that_cannot_be_used(arrays, message):
    with pytest.raises(DataError, match=f"a.npz: .*{message.removeprefix('a.npz: ')}"):
        read_dataset(npz(**arrays))


def test_npz_that_unpacks_beyond_the_limit_is_stopped():
    bomb = npz(x=np.zeros((2, 10_000_000), np.uint8), y=[0, 1])
    assert len(bomb.getvalue()) < 50_000
    with pytest.raises(DataError, match=r"x\.npy unpacks beyond the limit of 1 MiB"):
        read_dataset(bomb, limits=Limits(unpacked_bytes=2**20))


def test_a_header_that_promises_more_than_there_is_is_refused():
    small = io.BytesIO()
    np.lib.format.write_array_header_1_0(small, {"descr": "<f8", "fortran_order": False, "shape": (10**13, 2)})
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("x.npy", small.getvalue() + b"\0" * 32)
        archive.writestr("y.npy", small.getvalue())
    with pytest.raises(DataError, match="'x' is no NumPy array, or a damaged one"):
        read_dataset(named(stream.getvalue(), "a.npz"))


def test_kinds_and_roles_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match=r"a zip archive holds images, but text data was asked for"):
        read_dataset(zipped({"a/1.png": picture()}), kind="text")
    with pytest.raises(
        DataError, match=r"'x' has shape \(2, 2\), which makes it tabular data, but image was asked for"
    ):
        read_dataset(npz(x=np.eye(2), y=[0, 1]), kind="image")
    with pytest.raises(DataError, match="only tables have columns"):
        read_dataset(npz(x=np.eye(2), y=[0, 1]), roles=DatasetRoles("y"))


def test_parts_that_a_table_marks_are_kept_counted_and_named_alike():
    text = "text,split,label\nfine film this,Train,x\na dull one,train,y\nand a third,dev,x\none more here,TEST,y\n"
    dataset = read_dataset(named(text, "t.csv"))
    assert dataset.part.tolist() == ["train", "train", "validation", "test"]
    assert dataset.notes[-1] == "Parts that the file itself marks: 2 of train, 1 of validation, 1 of test."
    other = read_dataset(named(text.replace("split", "note").replace("Train", "red"), "t.csv"))
    assert other.part is None
    assert other.fingerprint != dataset.fingerprint
    with pytest.raises(DataError, match=r"column 'text' holds 'fine film this'. Parts are called train, validation"):
        read_dataset(named(text, "t.csv"), roles=DatasetRoles("label", features=(), text="split", part="text"))


def test_wide_tables_take_time_in_proportion_to_their_columns_up_to_a_limit():
    def seconds(n: int) -> float:
        text = ",".join(f"g{column}" for column in range(n)) + ",label\n"
        text += "".join(",".join(["1.5"] * n) + f",{'ab'[row % 2]}\n" for row in range(4))
        start = time.process_time()
        assert read_dataset(named(text, "w.csv")).x.shape == (4, n)
        return time.process_time() - start

    seconds(100)
    assert seconds(8000) < 16 * max(seconds(1000), seconds(1000), 0.02)  # by their square it would be 64
    with pytest.raises(DataError, match=r"t\.csv: 3 columns, and at most 2 are read"):
        read_dataset(named("a,b,label\n1,2,x\n3,4,y\n", "t.csv"), limits=Limits(columns=2))
    for name, content in {
        "t.jsonl": '{"a": 1, "b": 2, "label": "x"}\n',
        "t.json": '[{"a": 1, "b": 2, "label": "x"}]',
        "u.json": '{"a": [1], "b": [2], "label": ["x"]}',
    }.items():
        with pytest.raises(DataError, match="3 columns, and at most 2 are read"):
            read_dataset(named(content, name), limits=Limits(columns=2))


def test_packed_tables_are_read_and_called_without_either_ending():
    text = "text,label\nA fine film here,yes\nA dull one there,no\n"
    dataset = read_dataset(named(gzip.compress(text.encode()), "films.CSV.gz"))
    assert dataset.name == "films"
    assert dataset.fingerprint == read_dataset(named(text, "films.csv")).fingerprint
    with pytest.raises(DataError, match=r"pets\.zip\.gz: gzip packs single tables here"):
        read_dataset(named(gzip.compress(b"x"), "pets.zip.gz"))
    with pytest.raises(DataError, match=r"films\.tsv\.gz: this is no gzip file"):
        read_dataset(named(b"text,label", "films.tsv.gz"))


def test_old_western_letters_are_read_and_that_is_said():
    text = "text;label\nUn \u00e9t\u00e9 \u00e0 la mer;bien\nL\u2019hiver en ville, d\u00e9j\u00e0;mal\n"
    dataset = read_dataset(named(text.encode("cp1252"), "t.csv"))
    assert dataset.x.tolist() == ["Un \u00e9t\u00e9 \u00e0 la mer", "L\u2019hiver en ville, d\u00e9j\u00e0"]
    assert dataset.notes[0].startswith("The file is not UTF-8. It was read as Windows-1252 (Latin-1)")


SENTENCES = ("A gripping movie from start to end", "One of the dullest of the year", "It is what it is, and no more")
HEADERLESS = {
    "sentences and numbers": ("".join(f"{SENTENCES[row % 3]}\t{row % 2}\n" for row in range(8)), True),
    "sentences and words": ("".join(f"{SENTENCES[row % 3]}\t{'ab'[row % 2]}\n" for row in range(8)), True),
    "true and false": ("".join(f"{SENTENCES[row % 3]}\t{['true', 'false'][row % 2]}\n" for row in range(8)), True),
    "iris": (
        "".join(f"{row / 7:.2f}\t{row / 3:.2f}\t{['setosa', 'virginica'][row % 2]}\n" for row in range(8)),
        True,
    ),
    "names": ("said\tmood\n" + "".join(f"{SENTENCES[row % 3]}\t{row % 2}\n" for row in range(8)), False),
    "a question": (
        "What do you think of it all?\tmood\n" + "".join(f"{SENTENCES[row % 3]}\t{row % 2}\n" for row in range(8)),
        False,
    ),
    "wavelengths": ("400\t401\tclass\n" + "".join(f"{row % 3}\t400\t{'ab'[row % 2]}\n" for row in range(8)), False),
    "counted": ("0\t1\t2\n" + "".join(f"{row % 3}\t{row % 2}\t{'ab'[row % 2]}\n" for row in range(8)), False),
    "years": ("1990\t1991\tkind\n" + "".join(f"{row * 7}.5\t{row}\t{'ab'[row % 2]}\n" for row in range(8)), False),
}


@pytest.mark.parametrize(("text", "headerless"), HEADERLESS.values(), ids=HEADERLESS)
def test_a_first_line_that_can_only_be_data_names_no_columns(text, headerless):
    table = read_table(named(text, "t.tsv"))
    assert (table.n_rows, next(iter(table.columns)) == "column 1") == (8, headerless)
    assert ("There is no line of column names." in table.notes) == headerless


def test_a_label_by_number_and_by_name_gives_the_classes_their_names():
    text = "text,label,label_text\nfine film this,1,good\na dull one,0,bad\nand a third,1,good\n"
    dataset = read_dataset(named(text, "t.csv"))
    assert (dataset.class_names, dataset.y.tolist()) == (("bad", "good"), [1, 0, 1])
    assert dataset.notes[1] == "Names of the classes: column 'label_text', which goes one to one with the label."
    assert not any("Not used" in note for note in dataset.notes)
    mixed = read_dataset(named(text.replace("third,1,good", "third,1,bad"), "t.csv"))
    assert mixed.class_names == ("0", "1")
    assert "Not used: label_text." in mixed.notes
    order = "text,label,class_name\nfine film this,0,zebra\na dull one,1,ant\n"
    assert read_dataset(named(order, "t.csv")).class_names == ("zebra", "ant")


# Real files


def test_sst2(shared_data):
    dataset = read_dataset(shared_data / "sst2_dev.tsv")
    assert (dataset.kind, dataset.class_names, dataset.n_per_class.tolist()) == ("text", ("0", "1"), [428, 444])
    frame = pd.read_csv(shared_data / "sst2_dev.tsv", sep="\t", keep_default_na=False)
    assert dataset.x.tolist() == frame["sentence"].tolist()
    train = read_dataset(shared_data / "sst2_train.tsv")
    assert train.n_per_class.tolist() == [29_780, 37_569]


def test_vowels_with_their_speakers(shared_data):
    with pytest.raises(RolesNeeded, match="which column holds the label"):
        read_dataset(shared_data / "vowel_speakers.tsv")
    dataset = read_dataset(shared_data / "vowel_speakers.tsv", roles=DatasetRoles("vowel", source="speaker"))
    assert (dataset.kind, dataset.n_samples, dataset.n_classes) == ("tabular", 990, 11)
    assert dataset.class_names == tuple(map(str, range(11)))
    assert set(dataset.sources) == set(map(str, range(15)))
    assert dataset.feature_names == ("sex", *(f"x{number}" for number in range(1, 11)))


def test_newsgroups_within_their_topics(shared_data):
    file = shared_data / "newsgroups20_train.parquet"
    with pytest.raises(RolesNeeded) as asked:
        read_dataset(file)
    assert asked.value.guess.id == "doc_id"
    roles = DatasetRoles("top", "body", source="newsgroup")
    dataset = read_dataset(file, roles=roles)
    assert (dataset.n_samples, dataset.n_classes, len(set(dataset.sources))) == (11_314, 7, 20)
    assert "18 of 11314 texts are empty." in dataset.notes
    with pytest.raises(DataError, match=r"row 4598: id '103117' stands in row 4484 too"):
        read_dataset(file, roles=DatasetRoles("top", "body", id="doc_id"))


def test_semeion_and_mnist(shared_data):
    dataset = read_dataset(shared_data / "semeion.npz")
    assert (dataset.x.shape, dataset.scale) == ((1593, 16, 16, 1), 1.0)
    whole = read_dataset(shared_data / "mnist.npz")
    assert (whole.x.shape, whole.ids[-1]) == ((70_000, 28, 28, 1), "test 9999")
    assert whole.notes[-1] == "Parts that the file itself marks: 60,000 of train, 10,000 of test."
    with np.load(shared_data / "mnist.npz") as arrays:
        dataset = read_dataset(npz(x=arrays["x_test"], y=arrays["y_test"]))
    assert (dataset.x.shape, dataset.scale) == ((10_000, 28, 28, 1), 255.0)
    assert dataset.class_names == tuple("0123456789")
