"""A test set of one's own: exactly the rows that the file marks, and a sentence where it cannot be used."""

from dataclasses import replace

import numpy as np
import pytest

from core.data import DataError, load_example
from core.split import has_test_set, rows_to_judge, split_by_part
from core.trials import TrainingPlan
from core.workspace.plans import load_plan
from tests.split.marked import marked

WINE = load_example("wine")


def test_exactly_the_rows_of_the_file_are_tested_and_validation_is_in_neither_part():
    data = marked()
    for train, test in (split_by_part(data), TrainingPlan("linear", test_set="file").split(data)):
        assert train.tolist() == [row for row, part in enumerate(data.part) if part == "train"]
        assert test.tolist() == [row for row, part in enumerate(data.part) if part == "test"]
    assert rows_to_judge(data).tolist() == test.tolist()
    assert "validation" in data.part


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
