"""A number per row: a text's length, an image's brightness, a table's columns."""

import numpy as np
import pytest

from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.represent import number_of, number_title, numbers_of, tokenize
from touchstone.core.split.folds import QuantileFolds


@pytest.mark.parametrize("name", ["digits", "wine", "breast_cancer"])
def test_every_number_is_one_finite_value_per_row(name):
    data = load_example(name)
    assert len(set(numbers_of(data))) == len(numbers_of(data)) > 0
    for number in numbers_of(data):
        values = number_of(data, number)
        assert values.shape == (data.n_samples,)
        assert np.isfinite(values).all()
        assert number_title(data, number)


def test_a_text_is_as_long_as_its_words():
    data = Dataset("t", "text", ["It's so-so.", "", "no"], [0, 1, 1], ("a", "b"), ["1", "2", "3"])
    assert number_of(data, "length").tolist() == [3, 0, 1] == [len(tokenize(text)) for text in data.x]


def test_brightness_is_the_mean_pixel_of_all_channels():
    x = np.zeros((2, 2, 2, 3), dtype=np.float32)
    x[1, 0, 0] = 1.0
    data = Dataset("t", "image", x, [0, 1], ("a", "b"), ["1", "2"])
    np.testing.assert_allclose(number_of(data, "brightness"), [0, 0.25])


def test_a_column_is_itself_even_if_it_is_called_like_another_kind_s_number():
    data = Dataset(
        "t", "tabular", [[1.0, 2.0], [3.0, 4.0]], [0, 1], ("a", "b"), ["1", "2"], feature_names=("f", "length")
    )
    assert number_of(data, "length").tolist() == [2, 4]
    assert number_title(data, "length") == "length"


def test_an_unknown_name_is_refused_with_those_there_are():
    with pytest.raises(DataError, match=r"digits: no row has a number called 'length'\. Take one of brightness"):
        number_of(load_example("digits"), "length")
    with pytest.raises(DataError, match="and 20 more"):
        number_of(load_example("breast_cancer"), "length")


@pytest.mark.parametrize("kind", ["text", "image", "tabular"])
def test_what_else_is_known_of_a_row_can_be_cut_by(kind):
    x = {"text": ["a b"] * 4, "image": np.zeros((4, 2, 2, 1)), "tabular": np.zeros((4, 1))}[kind]
    own = {"text": "length", "image": "brightness", "tabular": "x1"}[kind]
    known = {"numbers": [[9.0, 3.0], [8.0, 1.0], [7.0, 2.0], [6.0, 4.0]], "number_names": [own, "day"]}
    data = Dataset("t", kind, x, [0, 1, 0, 1], ("a", "b"), ["1", "2", "3", "4"], **known)
    assert numbers_of(data) == (own, f"{own} (column)", "day")
    assert len(set(number_of(data, own))) == 1
    assert number_of(data, f"{own} (column)").tolist() == [9, 8, 7, 6]
    assert number_of(data, "day").tolist() == [3, 1, 2, 4]
    assert number_title(data, "day") == "day"
    assert QuantileFolds(n_folds=2).assign(number_of(data, "day"), data.y).tolist() == [1, 0, 0, 1]
    with_vectors = data.with_vectors(np.eye(4), "mine")
    assert number_of(with_vectors, "day").tolist() == [3, 1, 2, 4]
