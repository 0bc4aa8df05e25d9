"""What gives labels away, how often is a column called so that does not, and is every leak seen?"""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.dataset import duplicate_groups
from touchstone.core.evaluate.data_sets import look
from touchstone.core.evaluate.leaks import leaks, telling_columns
from touchstone.core.report.card import Given, read_card
from touchstone.core.report.data_sets import answer

REAL = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer, "digits": load_digits}


def of_package(name: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    bunch = REAL[name]()
    return bunch.data, bunch.target, [str(name) for name in getattr(bunch, "feature_names", range(bunch.data.shape[1]))]


def test_of_real_columns_at_most_one_in_twenty_is_called_a_leak():
    """All columns of four data sets that hold no leak: measurements of flowers, wines, cells and digits."""
    n = false = 0
    for name in REAL:
        x, y, names = of_package(name)
        false += len(telling_columns(x, y, names))
        n += len(names)
    assert n == 111
    assert binomtest(false, n).proportion_ci(0.95, "exact").high <= 0.05, f"{false} of {n}"


def test_of_strong_columns_that_are_drawn_hardly_any_is_called_a_leak():
    """Columns whose best threshold is right in 60 to 97 % of all rows that there are: strong, and no leaks."""
    rng = np.random.default_rng(0)
    n_columns = false = 0
    for _ in range(40):
        n, n_classes = int(rng.integers(60, 400)), int(rng.integers(2, 4))
        y = rng.integers(0, n_classes, n)
        right = rng.uniform(0.6, 0.97, 10)
        x = np.column_stack([np.where(rng.random(n) < p, y, rng.integers(0, n_classes, n)) for p in right])
        false += len(telling_columns(x + rng.normal(0, 0.05, x.shape), y, [str(i) for i in range(10)]))
        n_columns += 10
    assert binomtest(false, n_columns).proportion_ci(0.95, "exact").high <= 0.05, f"{false} of {n_columns}"


LEAKS = {
    "codes in another order": lambda y, rng: rng.permutation(y.max() + 1)[y].astype(float),
    "codes with noise": lambda y, rng: 10.0 * y + rng.normal(0, 1, len(y)),
    "a score of the outcome": lambda y, rng: y + rng.uniform(0, 0.9, len(y)),
    "many values of each class": lambda y, rng: 100.0 * rng.permutation(y.max() + 1)[y] + rng.integers(0, 50, len(y)),
    "a code wrong in 1 of 300 rows": lambda y, rng: np.where(rng.random(len(y)) < 1 / 300, 0, y).astype(float),
}


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("leak", LEAKS)
def test_a_column_that_tells_the_label_is_named(name, leak):
    x, y, names = of_package(name)
    given_away = LEAKS[leak](y, np.random.default_rng(1))
    assert [column.name for column in telling_columns(np.column_stack([x, given_away]), y, [*names, "leak"])] == [
        "leak"
    ]


def test_a_column_that_is_left_out_is_no_leak_any_more():
    x, y, names = of_package("wine")
    x, names = np.column_stack([x, y, -y, y + 5, 2 * y, y - 9]), [*names, *"abcde"]
    data = Dataset("made", "tabular", x, y, ("r", "s", "t"), None, feature_names=names, part=["train"] * len(y))
    assert [odd.features for odd in leaks(data)] == [("a",), ("b",), ("c",), ("d", "e")]
    left = data.without_features("a", "d", "e", "b", "c")
    assert leaks(left) == ()
    assert (left.feature_names, left.x.shape, left.ids.tolist()) == (tuple(names[:-5]), (178, 13), data.ids.tolist())
    assert left.fingerprint not in (data.fingerprint, data.without_features("a").fingerprint)
    with pytest.raises(DataError, match="no feature 'a'"):
        left.without_features("a")
    with pytest.raises(DataError, match="no feature is left"):
        data.without_features(*names)


def test_few_rows_of_a_class_say_nothing():
    y = np.repeat([0, 1], [100, 12])
    assert telling_columns(y[:, None].astype(float), y, ["copy"]) == ()


def test_units_are_on_one_side_so_that_a_person_is_no_leak():
    """A column that names the person tells the label of rows of the same person, and of no other."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(40), 10)
    y = rng.integers(0, 2, 40)[person]
    x = person[:, None] + rng.normal(0, 0.1, (400, 1))
    tree_of_rows = telling_columns(np.column_stack([np.where(y, 5.0, 1.0)]), y, ["copy"], person)
    [copy] = tree_of_rows
    assert (copy.name, copy.n_correct, copy.n) == ("copy", 400, 400)
    of_persons = binomtest(40, 40).proportion_ci(0.95, "wilson")
    assert (copy.interval.lower, copy.interval.upper) == pytest.approx((of_persons.low, of_persons.high))
    assert telling_columns(x, y, ["person"], person) == ()


def test_the_share_that_is_said_is_of_rows_and_not_the_balanced_accuracy():
    """Nineteen of twenty rows are of one class, and the mistakes are all there."""
    rng = np.random.default_rng(0)
    y = (np.arange(2_000) % 20 == 0).astype(int)
    x = np.where((y == 0) & (rng.random(2_000) < 0.008), 1, y).astype(float)
    [column] = telling_columns(x[:, None], y, ["code"])
    assert column.n_correct == int((x == y).sum()) < 2_000
    assert column.interval.lower < column.n_correct / column.n < column.interval.upper


def parted(**more) -> Dataset:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(100, 2)), rng.integers(0, 2, 100)
    x[80:85] = x[:5]
    part = ["train"] * 80 + ["test"] * 20
    ids = [str(row) for row in range(100)]
    return Dataset("parted", "tabular", x, y, ("a", "b"), ids, feature_names=("u", "v"), part=part, **more)


def test_rows_and_units_and_dates_on_both_sides_are_counted():
    days = np.r_[np.arange(80), np.arange(70, 90)][:, None].astype(float)
    units = [f"p{i % 80}" for i in range(90)] + [f"q{i}" for i in range(10)]
    dataset = parted(numbers=days, number_names=("seen (days since 1970)",), units=units, unit_name="patient")
    found = {leak.code: (leak.count, leak.n) for leak in leaks(dataset, duplicate_groups(dataset))}
    assert found == {
        "test_rows_in_training": (5, 20),
        "units_on_both_sides": (10, 20),
        "test_dates_before_training": (9, 20),
    }


def test_the_card_of_a_file_names_the_column(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    frame = pd.DataFrame({"age": rng.normal(size=200), "score": y + rng.uniform(0, 0.5, 200), "label": y})
    frame.to_csv(tmp_path / "t.csv", index=False)
    [warning] = read_card(tmp_path / "t.csv", Given(read_as="data set")).warnings
    assert (warning.code, warning.count, warning.n) == ("column_tells_label", 200, 200)
    assert "“score” alone" in warning


def test_the_verdict_on_a_data_set_says_first_that_a_leak_is_to_be_settled():
    dataset = parted()
    seen = look(dataset)
    assert [leak.code for leak in seen.leaks] == ["test_rows_in_training"]
    verdict = answer(dataset, seen).verdict
    assert verdict.advice.startswith("First settle what may give labels away")
    assert verdict.findings[0] == "5 of 20 test rows have the content of a training row."
