"""A test set of one's own: exactly the rows that the file marks, and a sentence where it cannot be used."""

import io
from dataclasses import replace

import numpy as np
import pytest

from tests.data.uploads import picture, upload, zipped
from tests.split.marked import marked
from touchstone.core.data import DataError, Dataset, load_example, read_dataset
from touchstone.core.split.units import has_test_set, rows_to_judge, split_by_part
from touchstone.core.trials import TrainingPlan
from touchstone.core.workspace import load_plan

WINE = load_example("wine")


def test_exactly_the_rows_of_the_file_are_tested_and_validation_is_in_neither_part():
    data = marked()
    for train, test in (split_by_part(data), TrainingPlan("linear", test_set="file").split(data)):
        assert train.tolist() == [row for row, part in enumerate(data.part) if part == "train"]
        assert test.tolist() == [row for row, part in enumerate(data.part) if part == "test"]
    assert rows_to_judge(data).tolist() == test.tolist()
    assert "validation" in data.part


def a_table() -> Dataset:
    lines = [f"{row},{row % 2},{'dev' if row == 3 else 'Train' if row < 7 else 'TEST'}" for row in range(10)]
    return read_dataset(upload("\n".join(["size,label,split", *lines]) + "\n", "t.csv"))


def folders() -> Dataset:
    places = [("train", 6), ("val", 1), ("test", 3)]
    return read_dataset(
        zipped(
            {f"{part}/{n % 2}/{n}.png": picture(20 * n + 7 * len(part)) for part, count in places for n in range(count)}
        )
    )


def arrays() -> Dataset:
    stream = io.BytesIO()
    parts = {"train": np.arange(6), "val": np.array([6]), "test": np.arange(7, 10)}
    given = {f"x_{part}": rows[:, None] / 7 for part, rows in parts.items()}
    np.savez(stream, **given, **{f"y_{part}": rows % 2 for part, rows in parts.items()})
    return read_dataset(upload(stream.getvalue(), "a.npz"))


@pytest.mark.parametrize("read", [a_table, folders, arrays])
def test_a_split_that_a_file_carries_is_the_split_however_it_carries_it(read):
    data = read()
    train, test = TrainingPlan("linear", test_set="file").split(data)
    assert (len(train), len(test), data.n_samples) == (6, 3, 10)
    assert {*data.part[train]} == {"train"}
    assert {*data.part[test]} == {"test"}


@pytest.mark.parametrize("shares", [None, {"train": 0.8, "validation": 0.2}, {"validation": 0.5, "test": 0.5}])
def test_without_both_parts_there_is_no_test_set_of_ones_own(shares):
    data = WINE if shares is None else marked(shares=shares)
    assert not has_test_set(data)
    assert rows_to_judge(data).tolist() == list(range(data.n_samples))
    with pytest.raises(DataError, match=r"does not mark which samples.*Let the test set be drawn at random, or upload"):
        TrainingPlan("linear", test_set="file").n_trials(data)


def test_a_training_part_without_a_class_is_refused_with_the_remedy():
    data = marked()
    part = np.where((data.y == 1) & (data.part == "train"), "validation", data.part)
    with pytest.raises(DataError, match=r"'class_1' is marked as train.*Mark some .* or let the test set be drawn"):
        TrainingPlan("linear", test_set="file").n_trials(replace(data, part=part))


def test_a_test_part_without_a_class_is_a_test_set_all_the_same():
    data = marked()
    without = replace(data, part=np.where((data.y == 1) & (data.part == "test"), "train", data.part))
    _, test = split_by_part(without)
    assert set(without.y[test]) == {0, 2}


def test_the_drawn_split_is_what_it_was_whatever_the_file_marks():
    for name in ("linear", "mlp_2048"):
        of_wine, of_marked = TrainingPlan(name).split(WINE), TrainingPlan(name).split(marked())
        assert of_wine.test.tolist() == of_marked.test.tolist()
    assert load_plan('{"kind":"training","model":"linear"}') == TrainingPlan("linear", test_set="drawn")
