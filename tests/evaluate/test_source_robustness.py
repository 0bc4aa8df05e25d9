"""Expected accuracy intervals from a trials frame: values, counts, and frames that are not (yet) whole."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, f1_score

from tests.evaluate.populations import SCHEMES, Population, failed_row, frame, trial_rows
from touchstone.core.evaluate.source_robustness import AccuracyInterval, expected_accuracy_intervals, hardest
from touchstone.core.evaluate.source_robustness.results import TABLE_COLUMNS

POPULATION = Population(n_classes=3, n_clusterings=2, agreement=0.8)


def simulated(population=POPULATION, *, models=("one", "other"), seed=0, **options) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    data = population.data(rng)
    return pd.concat([data.trials(rng, model=model, **options) for model in models], ignore_index=True)


WHOLE = simulated(schemes=SCHEMES)


def test_rho_is_the_share_that_is_kept():
    interval = AccuracyInterval(exclusive=0.8, inclusive=0.95)
    assert interval.rho == pytest.approx(1 - (0.95 - 0.8) / 0.95)
    assert interval.width == pytest.approx(0.15)
    assert np.isnan(AccuracyInterval(0.0, 0.0).rho)


def test_values_are_means_over_draws():
    whole = WHOLE[WHOLE["label"].isna() & (WHOLE["model"] == "one")]
    accuracy = (whole["n_correct"] / whole["n_test"]).groupby(whole["scheme"])
    mean, sd = accuracy.mean(), accuracy.std()
    row = expected_accuracy_intervals(WHOLE).overall[0]
    assert row.exclusive.value == pytest.approx(mean["source_exclusive"])
    assert row.inclusive.value == pytest.approx(mean["source_inclusive"])
    assert row.random.value == pytest.approx(mean["random"])
    assert row.rho.value == pytest.approx(mean["source_exclusive"] / mean["source_inclusive"])
    assert row.inclusive.sd == pytest.approx(sd["source_inclusive"])
    assert (row.exclusive.n_draws, row.n_sources, row.n_clusterings, row.n_cells) == (20, 15, 2, 30)
    assert row.n_cells_held_out == 30


def test_the_fall_is_the_difference_of_both_accuracies_and_its_interval_agrees_with_its_p_value():
    intervals = expected_accuracy_intervals(WHOLE)
    for row in intervals.rows:
        fall = row.fall
        assert fall.value == pytest.approx(row.inclusive.value - row.exclusive.value)
        assert fall.over_sources.holds(fall.value)
        assert (fall.p_sources < 0.05) == (not fall.over_sources.holds(0.0))
        assert fall.df >= 4, "each class has 5 sources"
    only = expected_accuracy_intervals(WHOLE[WHOLE["scheme"] != "source_inclusive"]).overall[0]
    assert np.isnan(only.fall.value)
    assert only.fall.df == 0


def test_a_class_has_its_recall():
    mine = WHOLE[(WHOLE["model"] == "other") & (WHOLE["scheme"] == "source_exclusive") & WHOLE["source"].isna()]
    of_class = mine[(mine["label"] == "class 2").fillna(False)]
    intervals = expected_accuracy_intervals(WHOLE)
    row = intervals.classes_of(intervals.overall[1])[2]
    assert (row.model, row.label) == ("other", "class 2")
    assert row.exclusive.value == pytest.approx((of_class["n_correct"] / of_class["n_label"]).mean())
    assert row.n_sources == 5


def test_macro_f1_and_balanced_accuracy_are_scikit_learns():
    y_true, y_pred = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 2, 2])
    rows = []
    for scheme in SCHEMES:
        cells = {(f"c{c}", str(c)): (int(np.sum(y_pred[y_true == c] == c)), int(np.sum(y_true == c))) for c in range(3)}
        of_trial = trial_rows(cells, scheme=scheme)
        for row in of_trial:
            if row["label"] is not None and row["source"] is None:
                row["n_predicted"] = int(np.sum(y_pred == int(row["label"][1])))
        rows += of_trial
    (row,) = expected_accuracy_intervals(frame(rows)).overall
    assert row.macro_f1["source_exclusive"] == pytest.approx(f1_score(y_true, y_pred, average="macro"))
    assert row.balanced_accuracy["random"] == pytest.approx(balanced_accuracy_score(y_true, y_pred))


def test_the_table_says_the_same_as_the_rows():
    intervals = expected_accuracy_intervals(WHOLE)
    table = intervals.table()
    assert list(table.columns) == list(TABLE_COLUMNS)
    assert len(table) == 2 * (1 + 3)
    assert table["label"].isna().sum() == 2
    row, first = intervals.rows[0], table.iloc[0]
    assert first["rho_sources_lower"] == row.rho.over_sources.lower
    assert first["exclusive_draws_upper"] == row.exclusive.over_draws.upper
    assert first["n_train"] == row.n_train > 0


def test_held_out_sources_by_hand():
    trials = frame(
        [
            *trial_rows({("a", "0"): (6, 10), ("b", "5"): (3, 4)}, repeat=0),
            *trial_rows({("a", "0"): (8, 10), ("b", "6"): (0, 9)}, repeat=1),
            *trial_rows({("a", "0"): (2, 2), ("b", "5"): (1, 1), ("b", "6"): (1, 2)}, scheme="source_inclusive"),
        ]
    )
    intervals = expected_accuracy_intervals(trials)
    found = {(source.label, source.source): source for source in intervals.held_out}
    assert set(found) == {("a", "0"), ("b", "5"), ("b", "6")}
    a = found["a", "0"]
    assert (a.exclusive, a.n, a.n_repeats, a.inclusive) == (pytest.approx(0.7), 10, 2, 1.0)
    assert a.lower < 0.7 < a.upper
    assert intervals.held_out_table()["source"].tolist() == ["0", "5", "6"]


@settings(max_examples=12)
@given(st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_any_part_of_a_run_can_be_looked_at(seed, share):
    whole = WHOLE[WHOLE["label"].isna()]
    draws = whole[["model", "scheme", "repeat"]]
    kept = draws[np.random.default_rng(seed).random(len(draws)) < share]
    part = WHOLE.merge(kept, on=["model", "scheme", "repeat"])
    intervals = expected_accuracy_intervals(part)
    assert intervals.n_used == intervals.n_trials == len(kept)
    assert len(intervals.accuracies) == len(kept)
    assert len(intervals.table()) == 4 * kept["model"].nunique()
    for row in intervals.rows:
        assert row.n_cells_held_out <= row.n_cells
        for estimate in (row.exclusive, row.inclusive, row.random, row.rho):
            if estimate.over_sources.known:
                assert estimate.over_sources.lower <= estimate.value <= estimate.over_sources.upper
        for estimate in (row.exclusive, row.inclusive, row.random):
            ends = np.array([estimate.over_sources.lower, estimate.over_sources.upper])
            assert np.array_equal(ends, np.clip(ends, 0, 1), equal_nan=True)


def test_nothing_yet_is_an_answer_too():
    intervals = expected_accuracy_intervals(frame([]))
    assert intervals.overall == ()
    assert len(intervals.table()) == len(intervals.held_out_table()) == len(intervals.accuracies) == 0


def rhos(intervals) -> list[str]:
    """Every figure of rho as text, for NaN is not equal to itself."""
    return [repr(row.rho) for row in intervals.overall]


def test_failed_trials_are_counted_and_left_out():
    failed = frame([failed_row(model="one", scheme="random", repeat=7), failed_row(model="new", scheme="random")])
    intervals = expected_accuracy_intervals(pd.concat([WHOLE, failed], ignore_index=True))
    assert intervals.n_trials - intervals.n_used == 2
    assert rhos(intervals) == rhos(expected_accuracy_intervals(WHOLE))


@pytest.mark.parametrize("missing", SCHEMES)
def test_a_scheme_that_was_not_run_leaves_gaps(missing):
    row = expected_accuracy_intervals(WHOLE[WHOLE["scheme"] != missing]).overall[0]
    gaps = {"source_exclusive": "exclusive", "source_inclusive": "inclusive", "random": "random"}
    for scheme, name in gaps.items():
        assert np.isnan(getattr(row, name).value) == (scheme == missing)
    assert np.isnan(row.rho.value) == (missing != "random")
    assert np.isnan(row.inclusive_less_random.value) == (missing != "source_exclusive")


def test_a_frame_without_its_columns_is_refused():
    with pytest.raises(ValueError, match="no column n_predicted"):
        expected_accuracy_intervals(WHOLE.drop(columns="n_predicted"))


def test_classes_may_be_called_na_and_stay_in_order():
    names = {"class 0": "NA", "class 1": "nan", "class 2": "None"}
    renamed = WHOLE.assign(label=WHOLE["label"].map(lambda name: names.get(name, name)))
    intervals = expected_accuracy_intervals(renamed)
    assert [row.label for row in intervals.classes_of(intervals.overall[0])] == ["NA", "nan", "None"]
    assert rhos(intervals) == rhos(expected_accuracy_intervals(WHOLE))


def test_sources_shared_over_classes_are_the_unit_whole():
    """The same writers in every class: three sources and not six, and a bad writer is bad in both."""
    rights = {"w1": (9, 9), "w2": (5, 4), "w3": (8, 10)}
    trials = frame(
        [
            row
            for repeat, (writer, (a, b)) in enumerate(rights.items())
            for row in trial_rows({("a", writer): (a, 10), ("b", writer): (b, 10)}, repeat=repeat)
        ]
    )
    intervals = expected_accuracy_intervals(trials)
    (row,) = intervals.overall
    shares = np.array([0.9, 0.45, 0.9])
    assert (row.n_sources, row.n_cells) == (3, 3)
    assert [source.label for source in intervals.held_out] == [None, None, None]
    assert hardest(intervals.held_out)[0].source.source == "w2"
    # Each end is as far from the mean as Student's t allows by the variance of a share that is the end.
    variance, mean = 2 * shares.var(ddof=1) / 3, shares.mean()
    for end in (row.exclusive.over_sources.lower, row.exclusive.over_sources.upper):
        assert abs(end - mean) == pytest.approx(
            4.3027 * np.sqrt(variance * end * (1 - end) / (mean * (1 - mean))), rel=1e-4
        )


def test_training_set_sizes_stand_apart_where_they_were_planned():
    small = WHOLE[WHOLE["repeat"] < 12].assign(n_train=100)
    both = pd.concat([WHOLE, small], ignore_index=True)
    intervals = expected_accuracy_intervals(both, sizes=(100,))
    full, cut = (
        [row for row in intervals.overall if (row.n_train == 100) == is_cut and row.model == "one"]
        for is_cut in (False, True)
    )
    assert [row.exclusive.n_draws for row in full + cut] == [20, 12]
    assert repr(full[0].rho) == rhos(expected_accuracy_intervals(WHOLE))[0]
    assert len(intervals.classes_of(cut[0])) == 3


def test_more_repeats_do_not_shrink_the_interval_over_sources():
    population = Population(n_classes=4)
    rng = np.random.default_rng(8)
    data = population.data(rng)
    few, many = (expected_accuracy_intervals(data.trials(rng, n_repeats=n)).overall[0] for n in (20, 200))
    for name in ("exclusive", "rho"):
        before, after = getattr(few, name), getattr(many, name)
        assert after.over_sources.width > 0.85 * before.over_sources.width
        assert after.over_draws.width < 0.45 * before.over_draws.width


def test_all_right_is_not_certain():
    """Nothing varies, yet forty samples cannot show more than that about nine in ten will be right."""
    cells = [{(f"c{c}", f"{c}-{s}"): (4, 4) for c in range(2)} for s in range(5)]
    rows = [row for repeat, cell in enumerate(cells) for row in trial_rows(cell, repeat=repeat, n_samples=40)]
    everywhere = {(f"c{c}", f"{c}-{s}"): (1, 1) for c in range(2) for s in range(5)}
    rows += [row for r in range(5) for row in trial_rows(everywhere, scheme="source_inclusive", repeat=r, n_samples=40)]
    row = expected_accuracy_intervals(frame(rows)).overall[0]
    assert row.exclusive.value == row.rho.value == 1
    assert row.exclusive.over_draws.lower == 1
    assert 0.85 < row.exclusive.over_sources.lower < 0.95
    assert row.rho.over_sources.lower < 0.95
    assert row.rho.over_sources.upper == 1, "it ends at 1 / AccI, and all were right on sources seen in training"


def test_enumerated_splits_work_as_drawn_ones():
    rng = np.random.default_rng(9)
    right = rng.integers(20, 40, size=(2, 5))
    pairs = [(s, t) for s in range(5) for t in range(5)]
    rows = []
    for repeat, (s, t) in enumerate(pairs):
        cells = {("a", f"a{s}"): (int(right[0, s]), 40), ("b", f"b{t}"): (int(right[1, t]), 40)}
        rows += trial_rows(cells, repeat=repeat)
    row = expected_accuracy_intervals(frame(rows)).overall[0]
    assert row.exclusive.value == pytest.approx((right / 40).mean())
    assert row.n_cells_held_out == row.n_cells == 10


def test_a_class_that_falls_further_is_found_and_the_others_are_not():
    rng = np.random.default_rng(10)
    rows = []
    for repeat in range(40):
        for scheme, accuracy in (("source_exclusive", 0.9), ("source_inclusive", 0.95)):
            kept = range(5) if scheme == "source_inclusive" else [repeat % 5]
            size = 20 if scheme == "source_inclusive" else 100
            cells = {
                (f"c{c}", f"{c}-{s}"): (
                    int(rng.binomial(size, 0.5 if (c, scheme) == (3, "source_exclusive") else accuracy)),
                    size,
                )
                for c in range(6)
                for s in kept
            }
            rows += trial_rows(cells, scheme=scheme, repeat=repeat)
    intervals = expected_accuracy_intervals(frame(rows))
    of = intervals.overall[0]
    assert [row.label for row in intervals.classes_of(of) if row.falls_further] == ["c3"]
    for row in intervals.classes_of(of):
        assert row.against_rest.p_sources_corrected >= row.against_rest.p_sources


def test_inclusive_less_random_is_reported_with_its_interval():
    row = expected_accuracy_intervals(WHOLE).overall[0]
    less = row.inclusive_less_random
    assert less.value == pytest.approx(row.inclusive.value - row.random.value)
    assert less.over_draws.holds(less.value)
