"""Fold schemes are scikit-learn cross-validators, make what they promise, and say what is wrong."""

from dataclasses import fields
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from touchstone.core.data.errors import DataError
from touchstone.core.split.folds import (
    FOLD_SCHEMES,
    GroupFolds,
    KMeansFolds,
    LeaveOneGroupOut,
    MaxShift,
    QuantileFolds,
    SourceInclusiveFolds,
    StratifiedFolds,
)
from touchstone.core.split.scheme import DRAW_SCHEMES, NO_FOLD, FoldScheme, SplitScheme
from touchstone.core.testing import LAWS
from touchstone.core.trials import TrialPlan

RNG = np.random.default_rng(0)
Y = RNG.permutation(np.repeat([0, 1, 2], [20, 17, 23]))
SOURCES = RNG.integers(0, 5, size=60)
X = np.column_stack([Y + RNG.normal(size=60), SOURCES + RNG.normal(size=60)])

BY_NEED = {need: [n for n, s in FOLD_SCHEMES.items() if s.needs == need] for need in ("features", "values", "groups")}
NEEDS_LABELS = [name for name, s in FOLD_SCHEMES.items() if s.label_exact or name == "group_folds"]


def inputs(name: str) -> np.ndarray:
    """What the scheme reads as X: one number per row where it needs one."""
    return X[:, :1] if FOLD_SCHEMES[name].needs == "values" else X


def test_every_scheme_either_draws_or_folds():
    assert not set(DRAW_SCHEMES) & set(FOLD_SCHEMES)
    assert all(isinstance(scheme(), SplitScheme) for scheme in DRAW_SCHEMES.values())
    assert all(isinstance(scheme(), FoldScheme) for scheme in FOLD_SCHEMES.values())


def test_the_notebooks_columns_keep_their_names_and_all_differ():
    columns = {name: scheme.column for name, scheme in FOLD_SCHEMES.items()}
    theirs = {
        "sds_folds": "distribution_sensitive_kmeans",
        "same_size_folds": "same_size_kmeans",
        "kmeans_folds": "kmeans",
        "random_folds": "randomized",
    }
    assert columns == {name: theirs.get(name, name) for name in FOLD_SCHEMES}


def test_a_plan_of_draws_takes_no_folds():
    with pytest.raises(DataError, match=r"'sds_folds' cannot be chosen\. Choose from source_exclusive, .*random\.$"):
        TrialPlan(schemes=("sds_folds",))


@pytest.mark.parametrize("name", FOLD_SCHEMES)
@pytest.mark.parametrize("law", LAWS[FOLD_SCHEMES.group], ids=lambda law: law.__name__)
def test_a_fold_scheme_keeps_every_law(law, name):
    law(name, FOLD_SCHEMES[name])


@pytest.mark.parametrize("name", FOLD_SCHEMES)
def test_there_is_a_split_for_each_fold_or_source(name):
    n_splits = FOLD_SCHEMES[name](n_folds=4).get_n_splits(inputs(name), Y, SOURCES)
    assert n_splits == {"max_shift": 1, "leave_one_group_out": 5}.get(name, 4)


@pytest.mark.parametrize("name", FOLD_SCHEMES)
def test_fields_are_refused_by_name(name):
    with pytest.raises(DataError, match="2 or more, not 1"):
        FOLD_SCHEMES[name](n_folds=1)
    with pytest.raises(DataError, match="seed"):
        FOLD_SCHEMES[name](seed=-1)
    if "n_init" in {field.name for field in fields(FOLD_SCHEMES[name])}:
        with pytest.raises(DataError, match="number of starts"):
            FOLD_SCHEMES[name](n_init=0)


@pytest.mark.parametrize("name", [name for name in FOLD_SCHEMES if name not in ("max_shift", "leave_one_group_out")])
def test_more_folds_than_samples_are_refused(name):
    with pytest.raises(DataError, match=r"7 folds cannot be made of 6 samples.*Ask for 6 folds"):
        FOLD_SCHEMES[name](n_folds=7).assign(inputs(name)[:6], Y[:6], np.arange(6))


@pytest.mark.parametrize("name", NEEDS_LABELS)
def test_labels_must_be_there_and_fit(name):
    scheme = FOLD_SCHEMES[name]()
    with pytest.raises(DataError, match="needs the label of every sample"):
        scheme.assign(inputs(name), None, SOURCES)
    with pytest.raises(DataError, match=r"There are 60 rows of X, 59 labels"):
        scheme.assign(inputs(name), Y[1:], SOURCES)
    lost = Y.astype(object)
    lost[17] = None
    with pytest.raises(DataError, match="label of sample 17"):
        scheme.assign(inputs(name), lost, SOURCES)


@pytest.mark.parametrize("name", BY_NEED["features"])
def test_features_must_be_numbers_that_are_there_and_vary(name):
    scheme = FOLD_SCHEMES[name]()
    with pytest.raises(DataError, match="needs the features"):
        scheme.assign(None, Y)
    with pytest.raises(DataError, match="features that are numbers"):
        scheme.assign(np.array([["a", "b"]] * 60), Y)
    with pytest.raises(DataError, match=r"2 of 60 samples have features that are missing.*sample 7 "):
        scheme.assign(np.where(np.isin(np.arange(60), [7, 30])[:, None], np.nan, X), Y)
    with pytest.raises(DataError, match="All 60 samples have the same features"):
        scheme.assign(np.ones((60, 2)), Y)


@pytest.mark.parametrize("name", BY_NEED["features"])
def test_images_are_flattened(name):
    scheme = FOLD_SCHEMES[name](n_folds=3)
    images = RNG.normal(size=(60, 4, 5))
    np.testing.assert_array_equal(scheme.assign(images, Y), scheme.assign(images.reshape(60, 20), Y))


def test_a_number_must_be_one_per_row_and_there_and_vary():
    scheme = QuantileFolds()
    with pytest.raises(DataError, match=r"one number for every sample .*, not 2"):
        scheme.assign(X, Y)
    with pytest.raises(DataError, match="not none"):
        scheme.assign(None, Y)
    with pytest.raises(DataError, match="not text"):
        scheme.assign(["long", "short"] * 30, Y)
    with pytest.raises(DataError, match=r"missing or infinite in 1 of 60 samples.*sample 3 "):
        scheme.assign(np.where(np.arange(60) == 3, np.nan, 1.0), Y)
    with pytest.raises(DataError, match="The number is 8 in all 60 samples"):
        scheme.assign(np.full(60, 8), Y)
    dates = np.datetime64("2020-01-01") + np.arange(60).astype("timedelta64[D]")
    np.testing.assert_array_equal(scheme.assign(dates, Y), scheme.assign(np.arange(60), Y))
    dates[5] = np.datetime64("NaT")
    with pytest.raises(DataError, match="sample 5 "):
        scheme.assign(dates, Y)


def dates(unit: str) -> list[datetime]:
    return [datetime(2020, 1, 1, tzinfo=UTC) + timedelta(**{unit: int(at)}) for at in np.arange(60)[::-1]]


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(dates("hours")),
        pd.Series(dates("hours")).dt.tz_convert("Asia/Tokyo"),
        [day.date() for day in dates("days")],
        [day.date().isoformat() for day in dates("days")],
        [day.isoformat() for day in dates("minutes")],
        pd.Series(dates("hours")).dt.tz_localize(None) - pd.Timestamp("2019-01-01"),
        np.arange(60)[::-1].astype(str),
    ],
    ids=["UTC", "time zone", "dates", "texts", "texts with time", "durations", "numbers as texts"],
)
def test_dates_are_put_in_order_however_they_are_given(values):
    scheme = QuantileFolds()
    np.testing.assert_array_equal(scheme.assign(values, Y), scheme.assign(np.arange(60)[::-1], Y))


def test_a_date_that_is_none_is_named():
    written = [day.date().isoformat() for day in dates("days")]
    with pytest.raises(DataError, match=r"missing or infinite in 1 of 60 samples.*sample 7 "):
        QuantileFolds().assign([*written[:7], "soon", *written[8:]], Y)
    with pytest.raises(DataError, match=r"missing or infinite in 1 of 60 samples.*sample 2 "):
        QuantileFolds().assign(np.array([1, 2, "NaT", *range(57)], dtype="m8[s]"), Y)


@pytest.mark.parametrize("name", BY_NEED["groups"])
def test_sources_must_be_there(name):
    with pytest.raises(DataError, match=r"needs the source of every sample.*Take a data set that knows its sources"):
        FOLD_SCHEMES[name]().assign(X, Y)
    with pytest.raises(DataError, match="source of sample 3"):
        FOLD_SCHEMES[name]().assign(X, Y, np.where(np.arange(60) == 3, np.nan, SOURCES))


def test_sources_too_few_or_too_unequal_are_refused():
    with pytest.raises(DataError, match=r"5 folds cannot be made of 3 sources.*Ask for 3 folds"):
        GroupFolds().assign(X, Y, SOURCES % 3)
    with pytest.raises(DataError, match=r"most frequent label has 4 samples.*leave one source out"):
        GroupFolds(n_folds=5).assign(None, np.arange(20) // 4, np.arange(20))
    with pytest.raises(DataError, match=r"has 1 samples.*spread over them\. Leave one source out at a time\.$"):
        GroupFolds(n_folds=2).assign(None, np.arange(20), np.arange(20))
    with pytest.raises(DataError, match=r"of 1 sources, each of them whole\. Take folds that need no sources\.$"):
        GroupFolds(n_folds=2).assign(X, Y, np.zeros(len(Y)))
    with pytest.raises(DataError, match=r"one source \(ann\)"):
        LeaveOneGroupOut().assign(None, None, ["ann"] * 4)
    with pytest.raises(DataError, match="needs the source"):
        LeaveOneGroupOut().get_n_splits(X, Y)


def test_k_means_says_where_too_few_rows_differ():
    with pytest.raises(DataError, match=r"finds 2 clusters in samples of which many are the same, not 5\. Ask for 2"):
        KMeansFolds().assign(np.tile([[0.0], [1.0]], (10, 1)))


@pytest.mark.parametrize("name", [n for n in NEEDS_LABELS if not FOLD_SCHEMES[n].single])
def test_more_folds_than_samples_of_the_rarest_class_leave_folds_without_it(name):
    y = np.repeat([0, 1, 2], [2, 30, 28])
    folds = FOLD_SCHEMES[name](n_folds=6).assign(inputs(name), y, np.arange(60))
    assert sorted(np.bincount(folds[y == 0], minlength=6).tolist()) == [0, 0, 0, 0, 1, 1]


def test_stratified_folds_are_as_even_as_those_of_scikit_learn():
    ours = StratifiedFolds(n_folds=7).assign(None, Y)
    theirs = np.empty(60, dtype=int)
    for fold, (_, test) in enumerate(StratifiedKFold(7, shuffle=True, random_state=0).split(X, Y)):
        theirs[test] = fold
    for label in range(3):
        counts = [sorted(np.bincount(folds[label == Y], minlength=7).tolist()) for folds in (ours, theirs)]
        assert counts[0] == counts[1]
    assert sorted(np.bincount(ours)) == sorted(np.bincount(theirs))


@pytest.mark.parametrize("test_share", [None, 0.1, 0.5])
def test_the_largest_shift_has_the_share_that_is_asked_for(test_share):
    folds = MaxShift(n_folds=4, test_share=test_share).assign(X, Y)
    assert (folds == 0).sum() == round(60 * (test_share or 1 / 4))
    assert set(folds.tolist()) == {0, NO_FOLD}
    with pytest.raises(DataError, match="between 0 and 1"):
        MaxShift(test_share=1.0)


def test_known_sources_are_spread_and_no_features_are_asked_for():
    folds = SourceInclusiveFolds(n_folds=3).assign(None, Y, SOURCES)
    counts = pd.crosstab([Y, SOURCES], folds)
    assert (counts.max(axis=1) - counts.min(axis=1)).max() <= 1


def test_text_needs_no_features_for_folds_that_read_none():
    texts = [f"text {i}" for i in range(60)]
    model = make_pipeline(FunctionTransformer(lambda x: np.array([[len(t)] for t in x])), LogisticRegression())
    assert len(cross_val_score(model, texts, Y, cv=StratifiedFolds())) == 5


def test_sources_that_leave_a_fold_empty_are_refused():
    y = np.array([0, 3, 1, 3, 3, 0, 3, 3, 3, 3, 3, 2])
    sources = np.array([5, 9, 4, 10, 6, 8, 5, 10, 5, 9, 4, 7])
    with pytest.raises(DataError, match=r"too unequal for 7 folds: one stays empty\. Ask for fewer, or take another"):
        GroupFolds(n_folds=7).assign(None, y, sources)
