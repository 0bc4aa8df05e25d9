"""Schemes are scikit-learn cross-validators, and say what is wrong."""

from dataclasses import FrozenInstanceError, fields, is_dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, check_cv, cross_val_score

from touchstone.core.data.errors import DataError
from touchstone.core.split.scheme import DRAW_SCHEMES, Random, SourceExclusive, SourceInclusive, Split

Y = np.repeat([0, 1, 2], 20)
SOURCES = np.repeat(np.arange(12), 5)
X = np.column_stack([Y, SOURCES]).astype(float)


@pytest.mark.parametrize("name", DRAW_SCHEMES)
def test_a_scheme_is_a_frozen_dataclass_with_the_common_fields(name):
    scheme = DRAW_SCHEMES[name]()
    assert is_dataclass(scheme)
    assert {"n_repeats", "test_share", "seed"} <= {field.name for field in fields(scheme)}
    with pytest.raises(FrozenInstanceError):
        scheme.seed = 1
    assert scheme == DRAW_SCHEMES[name]()
    assert hash(scheme) == hash(DRAW_SCHEMES[name]())


@pytest.mark.parametrize("name", DRAW_SCHEMES)
def test_a_scheme_serves_in_cross_val_score(name):
    scheme = DRAW_SCHEMES[name](n_repeats=7, seed=2)
    scores = cross_val_score(LogisticRegression(), X, Y, groups=SOURCES, cv=scheme)
    by_hand = [LogisticRegression().fit(X[a], Y[a]).score(X[b], Y[b]) for a, b in scheme.split(X, Y, SOURCES)]
    assert scores.tolist() == by_hand
    assert len(scores) == 7


@pytest.mark.parametrize("name", DRAW_SCHEMES)
def test_a_scheme_serves_in_a_search_over_frames_series_and_names(name):
    names = pd.Series(np.array(["ant", "bee", "cat"])[Y])
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=check_cv(DRAW_SCHEMES[name](n_repeats=3)))
    search.fit(pd.DataFrame(X, columns=["a", "b"]), names, groups=pd.Series(SOURCES).astype(str))
    assert search.n_splits_ == 3


def test_lists_do_as_well():
    split = next(SourceExclusive(n_repeats=1).split([[0], [1], [2], [3]], ["a", "a", "b", "b"], [1, 2, 3, 4]))
    assert isinstance(split, Split)
    assert len(split.test) == 2
    assert len(next(Random(test_share=0.5).split([[0], [1], [2], [3]])).test) == 2


@pytest.mark.parametrize("name", DRAW_SCHEMES)
@pytest.mark.parametrize("repeat", [-1, 7])
def test_there_is_no_split_beyond_the_repeats(name, repeat):
    with pytest.raises(IndexError, match="not among the 7 splits"):
        DRAW_SCHEMES[name](n_repeats=7).draw(repeat, Y, SOURCES)


@pytest.mark.parametrize("name", DRAW_SCHEMES)
@pytest.mark.parametrize(
    ("field", "message"),
    [
        ({"n_repeats": 0}, "number of repeats"),
        ({"test_share": 0.0}, "between 0 and 1"),
        ({"test_share": 1.0}, "between 0 and 1"),
        ({"test_share": float("nan")}, "between 0 and 1"),
        ({"seed": -1}, "seed"),
    ],
)
def test_fields_are_checked(name, field, message):
    with pytest.raises(DataError, match=message):
        DRAW_SCHEMES[name](**field)


def test_across_is_checked():
    with pytest.raises(DataError, match="'class' or 'all', not 'both'"):
        SourceExclusive(across="both")


@pytest.mark.parametrize("scheme", [SourceExclusive(), SourceInclusive()])
def test_sources_and_labels_must_be_there_and_fit(scheme):
    with pytest.raises(DataError, match="needs the source of every sample"):
        next(scheme.split(X, Y))
    with pytest.raises(DataError, match="needs the label of every sample"):
        next(scheme.split(X, None, SOURCES))
    with pytest.raises(DataError, match="60 labels and 59 sources"):
        next(scheme.split(X, Y, SOURCES[1:]))
    with pytest.raises(DataError, match="not a single label"):
        next(scheme.split(X[:0], Y[:0], SOURCES[:0]))
    lost = SOURCES.astype(str).astype(object)
    lost[17] = None
    with pytest.raises(DataError, match="source of sample 17"):
        next(scheme.split(X, Y, lost))
    with pytest.raises(DataError, match="source of sample 3"):
        next(scheme.split(X, Y, np.where(np.arange(60) == 3, np.nan, SOURCES)))


def test_a_class_with_one_source_is_named():
    y = np.array(["ant", "ant", "bee", "bee", "cat"])
    with pytest.raises(DataError, match=r"class bee, cat: held out"):
        SourceExclusive(across="class").draw(0, y, np.array([1, 2, 3, 3, 4]))


def test_only_the_data_can_tell_how_many_combinations_there_are():
    with pytest.raises(DataError, match="needs the label"):
        SourceExclusive().get_n_splits()
    assert SourceExclusive(across="all").get_n_splits() == 100
    assert SourceExclusive(n_repeats=100).get_n_splits(X, Y, SOURCES) == 64
    assert SourceExclusive(n_repeats=20).get_n_splits(X, Y, SOURCES) == 20


def test_a_share_too_small_for_any_source_is_refused():
    with pytest.raises(DataError, match="leaves no sample for the test part: the largest has 2"):
        SourceInclusive().draw(0, np.zeros(6, dtype=int), np.array([0, 0, 1, 1, 2, 2]))
    with pytest.raises(DataError, match="leaves no sample for the training part"):
        SourceInclusive(test_share=0.8).draw(0, np.zeros(4, dtype=int), np.array([0, 0, 1, 1]))
    with pytest.raises(DataError, match="larger classes"):
        Random(stratified=True).draw(0, np.array([0, 0, 1, 1]))
    with pytest.raises(DataError, match="2 samples or more"):
        Random().draw(0, np.array([0]))
    with pytest.raises(DataError, match="stratified split needs the label"):
        next(Random(stratified=True).split(X))


def test_halves_go_to_the_even_number():
    y = np.repeat([0, 1], [5, 15])
    split = SourceInclusive(test_share=0.1).draw(0, y, y)
    assert np.bincount(y[split.test]).tolist() == [0, 2]
    y = np.repeat([0, 1], [10, 30])
    split = SourceInclusive(test_share=0.35).draw(0, y, y)  # 3.5 and 10.5
    assert np.bincount(y[split.test]).tolist() == [4, 10]
