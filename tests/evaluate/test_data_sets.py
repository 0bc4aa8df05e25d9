"""What is said of a data set is what counting by hand gives, for two classes and for a hundred."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.core.evaluate.data_sets import (
    ExactCopies,
    column_summaries,
    data_verdict,
    histogram,
    label_counts,
    mean_images,
    near_copies,
    number_by_class,
    summarise,
)
from touchstone.core.evaluate.wording import THIN_SPACE

NUMBERS = st.one_of(
    st.lists(st.integers(0, 3000).map(float), min_size=1, max_size=80),
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=80),
)


@pytest.mark.parametrize("n_classes", [2, 100])
def test_classes_are_counted_with_their_interval(n_classes):
    n = np.arange(n_classes) + 1
    counts = label_counts(np.repeat(np.arange(n_classes), n), [f"c{i}" for i in range(n_classes)])
    table = counts.table()
    assert table["n"].tolist() == n.tolist()
    assert table["share"].sum() == pytest.approx(1)
    assert ((table["lower"] < table["share"]) & (table["share"] < table["upper"])).all()
    assert (counts.largest.n, counts.smallest.n, counts.even) == (n_classes, 1, False)


@given(NUMBERS)
def test_summaries_are_those_of_pandas(values):
    ours, theirs = summarise(np.array(values)), pd.Series(values).describe()
    assert ours.n == theirs["count"]
    for mine, name in (("mean", "mean"), ("minimum", "min"), ("median", "50%"), ("maximum", "max")):
        assert getattr(ours, mine) == pytest.approx(theirs[name], rel=1e-9, abs=1e-6)
    assert ours.lower_quartile == pytest.approx(theirs["25%"], rel=1e-9, abs=1e-6)
    assert ours.upper_quartile == pytest.approx(theirs["75%"], rel=1e-9, abs=1e-6)
    if len(values) > 1:
        assert ours.std == pytest.approx(theirs["std"], rel=1e-6, abs=1e-4)
    assert ours.minimum <= ours.whisker_low <= ours.whisker_high <= ours.maximum


@given(NUMBERS)
def test_every_value_is_in_one_bar_and_bars_are_equally_wide(values):
    bars = histogram(np.array(values))
    assert bars.n.sum() == len(values)
    assert 1 <= len(bars.n) <= 41
    widths = np.diff(bars.edges)
    assert np.allclose(widths, widths[0])
    if bars.whole:
        assert widths[0] == int(widths[0])


@pytest.mark.parametrize("number", [0.5, -3.25, 7.0, 1.7e18, -(2.0**60), float(np.finfo(float).max)])
def test_one_number_fills_one_bar_that_can_be_seen(number):
    bars = histogram(np.full(4, number))
    assert bars.n.tolist() == [4]
    assert bars.edges[0] <= number <= bars.edges[1]
    assert np.diff(bars.edges)[0] >= 1
    assert np.isfinite(bars.edges).all()


def test_numbers_too_large_for_halves_keep_a_bar_each():
    bars = histogram(1e17 + np.array([0.0, 16.0, 16.0, 32.0, 48.0]))
    assert bars.n.tolist() == [1, 2, 2]
    assert np.diff(bars.edges).tolist() == [16, 16, 16]


def test_the_widest_range_has_its_bars():
    bars = histogram(np.array([-1e308, 0.5, 1e308]))
    assert bars.n.sum() == 3
    assert (bars.edges[0], bars.edges[-1], len(bars.n)) == (-1e308, 1e308, 40)


@given(NUMBERS, st.integers(2, 5), st.integers(0, 99))
def test_shares_by_number_lose_nobody_and_keep_equal_numbers_together(values, n_classes, seed):
    numbers = np.array(values + values[:1] * n_classes)
    y = np.concatenate([np.random.default_rng(seed).integers(0, n_classes, len(values)), np.arange(n_classes)])
    found = number_by_class(numbers, y, [str(i) for i in range(n_classes)], title="x")
    shares = found.shares
    assert shares.n.sum(axis=0).tolist() == np.bincount(y).tolist()
    assert 1 <= len(shares.n) <= 8
    assert (shares.n.sum(axis=1) > 0).all()
    assert (shares.upper[:-1] < shares.lower[1:]).all()
    assert np.allclose(shares.shares.sum(axis=1), 1)
    assert 0 <= found.explained <= 1
    assert len(shares.table()) == shares.n.size


def test_bins_of_distinct_numbers_hold_equally_many():
    y = np.arange(800) % 2
    found = number_by_class(np.random.default_rng(0).permutation(800).astype(float), y, ("a", "b"), title="x")
    assert found.shares.n.sum(axis=1).tolist() == [100] * 8


def test_explained_variance_is_that_of_an_analysis_of_variance():
    from scipy.stats import f_oneway

    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], [30, 50, 20])
    values = rng.normal(size=100) + 0.8 * y
    f = f_oneway(*(values[y == code] for code in range(3))).statistic
    expected = (f - 1) * 2 / (f * 2 + 97)  # epsilon squared, from F and its degrees of freedom
    assert number_by_class(values, y, "abc", title="x").explained == pytest.approx(expected)
    nothing = [number_by_class(rng.normal(size=100), y, "abc", title="x").explained for _ in range(300)]
    assert np.mean(nothing) < 0.015  # eta squared alone would show 2 / 99 on average


def test_columns_say_what_is_missing_and_what_is_most_frequent():
    x = np.array([[1.0, 7.0, np.nan], [3.0, 7.0, np.nan], [3.0, 7.0, np.nan], [2.0, np.nan, np.nan]])
    found = column_summaries(x, ["a", "b", "c"])
    a, b, c = found.rows
    assert (a.n, a.n_missing, a.n_distinct, a.most_frequent, a.n_most_frequent) == (4, 0, 3, 3.0, 2)
    assert (b.n, b.n_missing, b.mean, b.std) == (3, 1, 7.0, 0.0)
    assert (c.n, c.n_missing, c.n_most_frequent) == (0, 4, 0)
    assert np.isnan([c.mean, c.std, c.median, c.most_frequent]).all()
    assert found.constant == ("b", "c")
    assert found.table()["name"].tolist() == ["a", "b", "c"]


def test_mean_images_are_means_within_the_class():
    rng = np.random.default_rng(2)
    x, y = rng.random((30, 4, 5, 3), dtype=np.float32), np.arange(30) % 3
    assert np.allclose(mean_images(x, y, 3)[1], x[1::3].mean(axis=0), atol=1e-6)


def test_copies_are_told_by_whether_labels_agree():
    first = np.array([0, 1, 0, 3, 1, 0, 6])
    copies = ExactCopies(first, np.array([0, 1, 0, 1, 0, 0, 1]))
    assert copies.copies.tolist() == [2, 4, 5]
    assert copies.conflicting.tolist() == [1, 4]
    assert copies.n_conflicting_contents == 1
    assert copies.groups(conflicting=True) == ((1, 4),)
    assert copies.groups(conflicting=False) == ((0, 2, 5),)
    table = copies.table(list("abcdefg"), ("no", "yes"))
    assert table["id"].tolist() == ["a", "c", "f", "b", "e"]
    assert table["first_id"].tolist() == ["a", "a", "a", "b", "b"]
    assert table["other_label"].tolist() == [False, False, False, True, True]


def test_where_nothing_is_repeated_there_are_no_groups():
    copies = ExactCopies(np.arange(5), np.array([0, 1, 0, 1, 0]))
    assert (copies.n_copies, copies.n_conflicting_contents) == (0, 0)
    assert copies.groups(conflicting=True) == copies.groups(conflicting=False) == ()
    assert copies.table(list("abcde"), ("no", "yes")).empty


def test_near_copies_leave_out_equal_contents():
    exact = ExactCopies(np.array([0, 1, 0, 3]), np.array([0, 1, 0, 0]))
    pairs = np.array([[0, 2], [0, 1], [2, 3]])
    found = near_copies(pairs, np.array([1.0, 0.99, 0.96]), exact, most=3)
    assert found.pairs.tolist() == [[0, 1], [2, 3]]
    assert found.chosen(same_label=True) == ((2, 3),)
    assert found.full
    assert found.table(list("abcd"), exact.y, ("no", "yes"))["other_label"].tolist() == ["yes", "no"]
    assert not near_copies(pairs[:0], np.empty(0), exact, most=3).full


def said(y, first, **options):
    names = [f"c{code}" for code in range(int(y.max()) + 1)]
    return data_verdict("image", label_counts(y, names), ExactCopies(first, y), **options)


def test_the_verdict_says_how_classes_are_spread():
    y = np.repeat(np.arange(10), 180)
    of = said(y, np.arange(1800))
    assert of.headline == (
        f"1{THIN_SPACE}800 images in 10 classes, evenly spread (180 samples each); no exact duplicates."
    )
    assert of.advice == "Next: find out how far accuracy falls on new sources."
    y = np.repeat([0, 1, 2], [90, 60, 5])
    of = said(y, np.arange(155))
    assert "unevenly spread: from 5 samples (“c2”) to 90 (“c0”)" in of.headline
    assert "1 class has fewer than 30 samples (“c2”)" in of.advice
    assert "always predicting “c0” reaches 58.1 %" in of.findings[0]


def test_the_verdict_calls_out_copies_with_other_labels():
    y = np.array([0, 1] * 50)
    first = np.arange(100)
    first[[10, 20]] = 0
    assert "2 exact duplicates, all with the label of their first copy" in said(y, first).headline
    first[31] = 0
    of = said(y, first)
    assert "3 exact duplicates, and 1 content with more than one label" in of.headline
    assert "look at the 4 samples" in of.advice


def test_the_verdict_says_whether_classes_differ_in_a_number():
    y, rng = np.array([0, 1] * 200), np.random.default_rng(0)
    noise = rng.normal(20, 3, 400)
    for shift, expected in (
        (0.0, "hardly differ in length"),
        (9.0, "differ in length, which a model may use: class explains"),
    ):
        number = number_by_class(noise + shift * y, y, ("c0", "c1"), title="Length (words)")
        assert expected in said(y, np.arange(400), number=number).findings[1]
