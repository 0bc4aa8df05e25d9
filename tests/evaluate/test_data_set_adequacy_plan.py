"""Which trials: nested and stratified training parts, test parts that stay, models and sizes on the same draws."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.evaluate.data_set_adequacy.plan import ALL, COLUMNS, AdequacyPlan, nested_part
from touchstone.core.trials import Context, to_json
from touchstone.core.workspace import load_plan


@pytest.fixture(scope="module")
def wine() -> Dataset:
    return load_example("wine")


PLAN = AdequacyPlan(models=("logistic", "nearest_neighbours"), sizes=(15, 40, ALL), n_repeats=4, n_clusterings=2)


@given(data=st.data(), n_classes=st.integers(1, 6), seed=st.integers(0, 99))
def test_parts_are_nested_and_mix_classes_as_the_whole(data, n_classes, seed):
    y = np.array(data.draw(st.lists(st.integers(0, n_classes - 1), min_size=1, max_size=60)))
    train = np.flatnonzero(np.random.default_rng(seed).random(len(y)) < 0.8)
    small, large = sorted(data.draw(st.tuples(st.integers(1, 80), st.integers(1, 80))))
    parts = [nested_part(train, y, size, rng=np.random.default_rng(seed)) for size in (small, large)]
    assert set(parts[0]) <= set(parts[1]) <= set(train)
    held = np.bincount(y[train], minlength=n_classes)
    n_held = (held > 0).sum()
    for size, part in zip((small, large), parts, strict=True):
        assert (np.diff(part) > 0).all()
        assert len(part) == min(size, len(train))
        n, share = np.bincount(y[part], minlength=n_classes), held * len(part) / max(len(train), 1)
        assert (n <= held).all()
        if size >= n_held:
            assert (n[held > 0] >= 1).all()
            # Rare classes have one, more than their share: what that costs the others is less than one for each.
            assert (n <= np.maximum(share + 1, 1)).all()
            assert (n >= share - n_held).all()
        if len(part) and (share[held > 0] >= 1).all():
            assert (np.abs(n - share) < 1 + 1e-9).all()


def test_rows_of_a_class_are_chosen_uniformly():
    y = np.repeat([0, 1], [4, 8])
    chosen = np.zeros(12)
    for seed in range(2000):
        chosen[nested_part(np.arange(12), y, 6, rng=np.random.default_rng(seed))] += 1
    assert chosen / 2000 == pytest.approx(0.5, abs=0.05)


def test_json_comes_back_and_the_runner_knows_the_kind():
    assert load_plan(to_json(PLAN)) == PLAN


@pytest.mark.parametrize("sizes", [(), (0, 100), (300, 100), (100, 100), (-1, 0), (True, 0)])
def test_sizes_that_make_no_sense_are_refused(sizes):
    with pytest.raises(DataError, match=r"^Sizes (are whole numbers or all, not|must rise, .* and not be) "):
        AdequacyPlan(sizes=sizes)


def test_what_trial_plans_refuse_is_refused():
    with pytest.raises(DataError, match="'oracle' cannot be chosen"):
        AdequacyPlan(models=("oracle",))


def test_sizes_that_do_not_fit_are_left_out_and_named(wine):
    plan = AdequacyPlan(models=("logistic",))
    assert plan.fitting(wine) == (100, ALL)
    [unfit, *rest] = plan.notes(wine)
    assert "about 142 samples" in unfit
    assert "10\u202f000" in unfit
    assert rest == []
    assert plan.fitting(load_example("digits")) == (100, 300, 1000, ALL)
    with pytest.raises(DataError, match="Fewer than two sizes fit wine"):
        replace(plan, sizes=(1000, ALL)).n_trials(wine)
    assert replace(plan, sizes=(2, 3, ALL)).fitting(wine) == (3, ALL), "a part needs a sample of every class"


def test_a_rare_class_has_its_share_and_one_at_least(wine):
    rows = np.flatnonzero((wine.y != 0) | (np.cumsum(wine.y == 0) <= 10))
    rare = Dataset("rare", "tabular", wine.x[rows], wine.y[rows], wine.class_names, [wine.ids[i] for i in rows])
    plan = replace(PLAN, models=("nearest_neighbours",), sizes=(10, 60, ALL), n_sources=2)
    assert f"A part of 10 samples has one of {wine.class_names[0]}" in plan.notes(rare)[0]
    assert replace(plan, sizes=(60, ALL)).notes(rare) == ()
    draw = plan.trial_plan.draws(rare)[0]
    whole, part, tiny = (np.bincount(rare.y[plan.split(rare, draw, size).train]) for size in (ALL, 60, 10))
    assert part == pytest.approx(60 * whole / whole.sum(), abs=1)
    assert (tiny.sum(), tiny[0]) == (10, 1)
    rows = plan.run_trial(rare, 1, context=Context())
    assert rows["size"].unique() == [60]
    assert rows["n_train"].unique() == [60]
    of_label = rows.loc[rows["source"].isna() & rows["label"].notna()].set_index("label")["n_label_train"]
    assert of_label.loc[list(rare.class_names)].tolist() == part.tolist()
    assert rows.loc[rows["label"].isna(), "n_label_train"].isna().all()


def test_trials_are_paired_over_sizes_schemes_and_models(wine):
    n_trials = PLAN.n_trials(wine)
    assert n_trials == 4 * 2 * 3 * 2
    frames = [PLAN.run_trial(wine, trial, context=Context()) for trial in range(n_trials)]
    rows = pd.concat(frames, ignore_index=True)
    assert list(rows.columns) == list(COLUMNS)
    assert {name: str(dtype) for name, dtype in rows.dtypes.items()} == COLUMNS
    draw = ["scheme", "clustering", "repeat"]
    whole = rows[rows["label"].isna()]
    assert (whole.groupby([*draw, "size"])["model"].nunique() == 2).all()
    assert (whole.groupby(draw)["size"].nunique() == 3).all()
    assert (whole.groupby(draw)["n_test"].nunique() == 1).all()
    assert (whole.groupby([*draw, "size"])["n_train"].nunique() == 1).all()
    same = ["scheme", "clustering", "repeat", "label", "source", "n_label", "held_out_source"]
    first, last = (rows[(rows["size"] == size).to_numpy()][same].reset_index(drop=True) for size in (15, ALL))
    pd.testing.assert_frame_equal(first, last)


def test_test_parts_do_not_change_and_training_parts_are_nested(wine):
    for draw in PLAN.trial_plan.draws(wine):
        parts = [PLAN.split(wine, draw, size) for size in (15, 40, ALL)]
        assert all(np.array_equal(part.test, parts[0].test) for part in parts)
        assert set(parts[0].train) < set(parts[1].train) < set(parts[2].train)
        assert np.array_equal(parts[2].train, PLAN.trial_plan.split(wine, draw).train)
        shares = np.bincount(wine.y[parts[2].train]) / len(parts[2].train)
        assert np.bincount(wine.y[parts[0].train]) == pytest.approx(15 * shares, abs=1)


def test_on_the_whole_training_part_a_trial_is_that_of_a_trial_plan(wine):
    whole = PLAN.run_trial(wine, 4, context=Context()).drop(columns="size")
    again = PLAN.trial_plan.run_trial(wine, 0, context=Context())
    same = [name for name in again.columns if name != "seconds"]
    pd.testing.assert_frame_equal(whole[same], again[same])


def test_draws_with_several_finders_have_training_parts_of_one_size(wine):
    plan = replace(PLAN, source_finders=("kmeans", "same_size_kmeans"), schemes=("source_exclusive",))
    draws = [draw for draw in plan.trial_plan.draws(wine) if draw.repeat == 1]
    assert len(draws) == 2
    for size in (40, ALL):
        assert len({len(plan.split(wine, draw, size).train) for draw in draws}) == 1


def test_a_failed_trial_says_which_it_was(wine):
    for trial in (0, 3, 11, 47):
        failed, done = PLAN.failed_trial(wine, trial), PLAN.run_trial(wine, trial, context=Context())
        assert failed["status"].tolist() == ["failed"]
        named = ["model", "source_finder", "scheme", "repeat", "clustering", "size"]
        assert failed[named].iloc[0].tolist() == done[named].iloc[0].tolist()
        assert failed.dtypes.to_dict() == done.dtypes.to_dict()
