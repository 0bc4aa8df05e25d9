"""Do the paper's tables agree with its text? Denominators, chance at the boundary, mixes that lie on a line."""

from math import ceil, floor

import pytest

from tests.papers.test_set_quality import MIXES, TABLE_1, TABLE_2
from touchstone.core.evaluate.guided_tests.results import TABLE_MIXES, table_sizes

CELLS = [(row[0], row[1], row[3], cell) for row in TABLE_2 for cell in row[4:]]


def is_fraction_of(cell: str, denominator: int) -> bool:
    """Whether a printed percentage is k / denominator, rounded or cut off after its last digit."""
    value, unit = float(cell), 10.0 ** -len(cell.split(".")[1])
    exact = value * denominator / 100
    return any(abs(100 * k / denominator - value) < 0.999 * unit for k in (floor(exact), ceil(exact)))


def test_298_of_300_cells_are_fractions_of_ten_times_the_printed_samples():
    assert len(CELLS) == 300
    misfits = [cell for cell in CELLS if not is_fraction_of(cell[3], 10 * cell[2])]
    assert misfits == [("CIFAR100", "LeNet", 30, "1.14"), ("CIFAR100", "LeNet", 70, "1.40")]


def test_the_printed_number_of_samples_is_not_that_of_the_whole_test():
    fitting = [cell for cell in CELLS if is_fraction_of(cell[3], cell[2])]
    assert len(fitting) < 150


@pytest.mark.parametrize("data_set", ["MNIST", "FMNIST", "CIFAR10", "SVHN"])
def test_sizes_are_1_3_7_and_10_percent_of_the_test_set_for_each_class(data_set):
    printed = sorted({row[3] for row in TABLE_2 if row[0] == data_set})
    assert tuple(printed) == table_sizes(TABLE_1[data_set][2])


def test_sizes_of_cifar100_are_a_tenth_of_that():
    printed = sorted({row[3] for row in TABLE_2 if row[0] == "CIFAR100"})
    assert [10 * n for n in printed] == list(table_sizes(TABLE_1["CIFAR100"][2]))


def test_our_mixes_are_the_tables():
    assert tuple(f"{round(100 * share)}-{round(100 - 100 * share)}" for share in TABLE_MIXES) == MIXES


def test_all_boundary_is_chance_and_not_at_most_ten_percent_as_the_text_says():
    """Section 5.4: "at max 10% and as low as 0%"; printed are up to 10.9 %, 1 / C in every row of ten classes."""
    of_ten = [float(row[4]) for row in TABLE_2 if row[0] != "CIFAR100"]
    assert max(of_ten) == 10.9
    assert all(8.5 < value < 11.5 for value in of_ten)
    assert all(float(row[4]) < 2 for row in TABLE_2 if row[0] == "CIFAR100")


@pytest.mark.parametrize("data_set", ["MNIST", "FMNIST", "SVHN"])
def test_mixes_lie_on_the_line_between_the_two_regions(data_set):
    """So the five columns hold two numbers: accuracy near centroids, and accuracy at boundaries."""
    for row in TABLE_2:
        if row[0] == data_set and row[3] >= 700:
            boundary, *between, centroid = (float(cell) for cell in row[4:])
            for share, value in zip((0.3, 0.5, 0.7), between, strict=True):
                assert value == pytest.approx(boundary + share * (centroid - boundary), abs=2.5)


def test_the_two_tables_print_different_accuracies_of_the_same_models():
    columns = {"LeNet": 3, "VGG": 4, "ResNet": 5}
    differ = {
        (data_set, model): (TABLE_1[data_set][columns[model]], accuracy)
        for data_set, model, accuracy, *_ in TABLE_2
        if abs(float(TABLE_1[data_set][columns[model]]) - float(accuracy)) > 0.02
    }
    assert differ == {
        ("CIFAR10", "ResNet"): ("92.43", "92.40"),
        ("SVHN", "LeNet"): ("89.50", "89.55"),
        ("SVHN", "ResNet"): ("96.40", "96.48"),
        ("SVHN", "VGG"): ("96.80", "96.87"),
    }
