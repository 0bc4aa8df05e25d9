"""Are samples found by id, class, source and word, and is what is not there named?"""

import dataclasses

import numpy as np
import pytest

from touchstone.core.data import Dataset, load_example
from touchstone.ui.data.choice import find_samples


@pytest.fixture(scope="module")
def wine() -> Dataset:
    return load_example("wine")


@pytest.fixture(scope="module")
def films() -> Dataset:
    texts = np.array(["A fine film", "a dull film", "Fine, not dull"], dtype=object)
    return Dataset("films", "text", texts, [1, 0, 1], ("bad", "good"), ["0", "1", "2"])


def test_a_class_is_found_whole_and_an_id_alone(wine):
    assert np.array_equal(find_samples(wine, "class_1").rows, np.flatnonzero(wine.y == 1))
    assert find_samples(wine, "17").rows.tolist() == [17]


def test_several_are_joined_and_what_is_nowhere_is_named(wine):
    found = find_samples(wine, " 3, 5 ,3, nowhere ")
    assert found.rows.tolist() == [3, 5]
    assert found.missing == ("nowhere",)


def test_a_source_is_found_as_a_whole_word(wine):
    sources = np.array([f"site {row % 12}" for row in range(wine.n_samples)], dtype=object)
    found = find_samples(dataclasses.replace(wine, sources=sources), "SITE 1")
    assert np.array_equal(found.rows, np.flatnonzero(np.arange(wine.n_samples) % 12 == 1))


def test_a_text_is_found_by_a_word_of_it_whatever_its_capitals(films):
    assert find_samples(films, "fine").rows.tolist() == [0, 2]
    assert find_samples(films, "GOOD").rows.tolist() == [0, 2]


def test_nothing_wanted_is_nothing_found(wine):
    assert find_samples(wine, " , ").rows.tolist() == []
    assert find_samples(wine, "").missing == ()
