"""Tables called train and test, in one zip, are the parts of one data set."""

import numpy as np
import pytest

from tests.data.uploads import zipped
from touchstone.core.data import DataError, read_dataset
from touchstone.core.data.tables.roles import FileReading
from touchstone.core.split.units import split_by_part

TRAIN, TEST = b"size,label,who\n1,plum,ann\n9,melon,bob\n2,plum,cem\n", b"who,size,label\ndan,8,melon\neve,3,plum\n"


@pytest.mark.parametrize("names", [("train.csv", "test.csv"), ("fruit/fruit_training.csv", "fruit/fruit-TEST.csv")])
def test_a_zip_of_train_and_test_is_one_data_set_with_its_parts(names):
    dataset = read_dataset(zipped({names[1]: TEST, names[0]: TRAIN, "README.txt": b"about,this\n"}))
    assert dataset.name == "pets"
    assert dataset.part.tolist() == ["train"] * 3 + ["test"] * 2
    assert dataset.x.ravel().tolist() == [1, 9, 2, 8, 3]
    assert np.array(dataset.class_names)[dataset.y].tolist() == ["plum", "melon", "plum", "melon", "plum"]
    assert split_by_part(dataset).test.tolist() == [3, 4]
    assert any(note.startswith("Tables of one data set: ") and "(3 rows), " in note for note in dataset.notes)


def test_ids_that_begin_anew_in_each_table_have_the_part_before_them():
    train, test = (
        b"id," + table.replace(b"\n", b"\n%d,") % tuple(range(table.count(b"\n"))) for table in (TRAIN, TEST)
    )
    files = {"train.csv": train.rsplit(b"\n", 1)[0], "test.csv": test.rsplit(b"\n", 1)[0]}
    dataset = read_dataset(zipped(files))
    assert dataset.ids.tolist() == ["train/0", "train/1", "train/2", "test/0", "test/1"]
    assert "Column 'id' begins anew in each table, so the part stands before it." in dataset.notes


def test_a_file_of_parts_that_reads_the_same_by_its_command():
    dataset = read_dataset(zipped({"train.csv": TRAIN, "test.csv": TEST}))
    reading = FileReading.from_json(dataset.read_as)
    again = read_dataset(zipped({"train.csv": TRAIN, "test.csv": TEST}), roles=reading.roles)
    assert (reading.file, again.fingerprint) == ("pets.zip", dataset.fingerprint)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (
            {"train.csv": TRAIN, "test.csv": b"size,who\n1,ann\n"},
            r"Give one of them, or the same columns\. Only train.csv has column 'label'",
        ),
        (
            {"train.csv": TRAIN, "test.csv": b"size,label\n"},
            r"2 tables in it, train.csv, test.csv\. Give one of them.*test.csv.*no rows",
        ),
        ({"train.csv": TRAIN, "more.csv": TEST}, "2 tables in it"),
        ({"a/train.csv": TRAIN, "b/train.csv": TEST}, "2 tables in it"),
    ],
)
def test_tables_that_are_no_parts_of_one_are_refused_with_a_remedy(files, words):
    with pytest.raises(DataError, match=words):
        read_dataset(zipped(files))
