"""What was sampled independently is named by whoever reads data, kept with it, and part of its key only then."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest

from tests.conftest import ROOT
from touchstone import dataset
from touchstone import read as read_file
from touchstone.core.data import DataError, Dataset, load_example, read_dataset
from touchstone.core.data.dataset import with_copies_together
from touchstone.core.data.store import from_bytes, to_bytes
from touchstone.core.data.tables.roles import DatasetRoles, FileReading


def read(text: str, name: str = "t.csv", **roles: str) -> Dataset:
    file = io.BytesIO(text.encode())
    file.name = name
    return read_dataset(file, roles=DatasetRoles(**roles) if roles else None)


def npz(**arrays: np.ndarray) -> Dataset:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    stream.name = "t.npz"
    stream.seek(0)
    return read_dataset(stream)


def table(column: str, values: list[str]) -> str:
    rows = (f"{n / 7},{'ab'[n % 2]},{value}\n" for n, value in enumerate(values))
    return f"size,label,{column}\n" + "".join(rows)


def test_without_units_fingerprints_are_what_they_were():
    golden = json.loads((ROOT / "tests/golden/plans.json").read_text("utf-8"))["plans"]
    assert load_example("wine").fingerprint in {entry["fingerprint"] for entry in golden}
    wine = load_example("wine")
    named = wine.with_units(np.arange(wine.n_samples) // 2, "bottle")
    assert named.fingerprint != wine.fingerprint
    assert replace(named, unit_name="cask").fingerprint == named.fingerprint, "what it is called changes nothing"
    assert replace(named, units=None).fingerprint == wine.fingerprint


def test_units_and_parts_are_told_apart_in_the_key():
    wine = load_example("wine")
    parts = np.where(np.arange(wine.n_samples) % 2, "train", "test").astype(object)
    assert replace(wine, part=parts).fingerprint != replace(wine, units=parts).fingerprint


def test_they_are_stored_with_the_data():
    wine = load_example("wine").with_units(np.arange(178) // 3, "grower", note="made here.")
    copy = from_bytes(to_bytes(wine))
    assert (copy.fingerprint, copy.n_units, copy.unit_word) == (wine.fingerprint, 60, "grower")
    assert copy.units.tolist() == wine.units.tolist()
    assert copy.notes[-1] == "Units: made here."


@pytest.mark.parametrize("column", ["author", "Patient_ID", "document", "session", "Speaker"])
def test_a_column_of_persons_or_documents_is_the_unit_however_few_there_are(column):
    data = read(table(column, [f"p{n // 8}" for n in range(32)]))
    assert (data.n_units, data.unit_codes[:9].tolist()) == (4, [0] * 8 + [1])
    assert any(note.startswith("Units: ") for note in data.notes)


def test_sites_are_units_from_ten_on_and_a_named_column_wins():
    few, many = (read(table("site", [f"s{n % k}" for n in range(40)])) for k in (9, 10))
    assert (few.units, many.n_units, many.unit_word) == (None, 10, "site")
    both = read(
        "size,label,site,document\n" + "".join(f"{n / 7},{'ab'[n % 2]},s{n % 10},d{n // 10}\n" for n in range(40))
    )
    assert (len(set(both.sources)), both.n_units, both.unit_word) == (10, 4, "document")


@pytest.mark.parametrize(
    "values",
    [
        pytest.param([f"a{n}" for n in range(20)], id="each once"),
        pytest.param(["only"] * 20, id="one alone"),
        pytest.param([f"a{n // 4}" for n in range(19)] + [""], id="a gap"),
    ],
)
def test_what_says_nothing_of_samples_that_belong_together_is_no_unit(values):
    assert read(table("conversation", values)).unit_codes is None


def test_a_column_that_is_named_is_taken_and_a_gap_in_it_refused():
    data = read(table("ward", [f"w{n // 5}" for n in range(20)]), label="label", unit="ward", features=("size",))
    assert (data.n_units, data.unit_word) == (4, "ward")
    assert "Units: column 'ward', 4 values in 20 rows." in data.notes
    with pytest.raises(DataError, match="line 3"):
        read(table("ward", ["w", "", "w"]), label="label", unit="ward", features=("size",))


def test_copies_of_texts_pictures_and_vectors_share_a_unit_and_rows_of_a_table_do_not():
    texts = read("text\tlabel\n" + "good one here\ta\nbad one here\tb\n" * 3, name="t.tsv")
    assert (texts.n_units, texts.unit_word) == (2, "content")
    assert "Units: exact copies share one; 2 different contents in 6 samples." in texts.notes
    rows = read("x1,x2,label\n" + "1,2,a\n3,4,b\n" * 3)
    assert rows.units is None
    pictures = dataset(np.repeat(np.eye(4)[:2, None, :] * np.ones((1, 4, 1)), 2, axis=0), ["a", "a", "b", "b"])
    assert pictures.unit_codes.tolist() == [0, 0, 1, 1]
    embedded = np.random.default_rng(0).normal(size=(3, 20))[[0, 0, 1, 2, 1, 2]]
    vectors = npz(x=embedded, y=np.arange(6) % 2)
    assert vectors.unit_codes.tolist() == [0, 0, 1, 2, 1, 2]
    assert npz(x=embedded.round().astype(int), y=np.arange(6) % 2).units is None, "counts may be alike by chance"


def test_arrays_and_calls_name_them_too():
    assert npz(x=np.arange(24.0).reshape(12, 2), y=np.arange(12) % 2, units=np.arange(12) // 4).n_units == 3
    made = dataset(np.arange(24.0).reshape(12, 2), np.arange(12) % 2, unit=np.arange(12) // 4)
    assert made.unit_codes.tolist() == (np.arange(12) // 4).tolist()
    by_site = dataset(np.arange(48.0).reshape(24, 2), np.arange(24) % 2, sources=np.arange(24) % 12)
    assert by_site.n_units == 12


def test_near_copies_share_one_by_way_of_others():
    data = Dataset("t", "tabular", np.arange(6.0)[:, None] // 2, np.arange(6) % 2, ("a", "b"), None)
    together = with_copies_together(data, np.array([[1, 2]]))
    assert together.unit_codes.tolist() == [0, 0, 0, 0, 1, 1]
    assert with_copies_together(data, np.empty((0, 2), dtype=int)).n_units == 3


def test_no_command_reads_copies_together_from_the_file():
    rows = read("x1,x2,label\n" + "1,2,a\n3,4,b\n" * 3)
    assert rows.read_as is not None
    assert with_copies_together(rows, np.empty((0, 2), dtype=int)).read_as is None
    assert read("text\tlabel\n" + "good one here\ta\nbad one here\tb\n" * 3, name="t.tsv").read_as is not None


def test_there_must_be_as_many_as_samples():
    with pytest.raises(DataError, match="178 samples but 3 units"):
        load_example("wine").with_units(["a", "b", "c"], "grower")


def test_each_row_can_be_said_to_be_a_unit_and_a_command_says_what_was_read(tmp_path):
    file = tmp_path / "sites.csv"
    file.write_text(table("site", [f"s{n % 12}" for n in range(36)]))
    by_rule, alone = (read_file(file, label="label", **said) for said in ({}, {"unit": None}))
    assert (by_rule.n_units, alone.units) == (12, None)
    for data in (by_rule, alone):
        again = FileReading.from_json(data.read_as).arguments()
        assert ("--unit=" in again) == (data is alone)
    before = json.loads(by_rule.read_as)
    del before["version"]  # as it was written before data sets had units
    assert "--unit=" in FileReading.from_json(json.dumps(before)).arguments()
