"""No scheme puts a unit on both sides, whatever the data, and neither does any plan; only one contrast may, by name."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.dataset import with_usual_units
from touchstone.core.evaluate.source_robustness.parametric_null import ParametricNullPlan
from touchstone.core.split.folds import FOLD_SCHEMES, GroupFolds
from touchstone.core.split.scheme import DRAW_SCHEMES, Random, SourceExclusive
from touchstone.core.split.units import draw_of_units, folds_of_units, joined_sources, n_splits_of_units, split_by_part
from touchstone.core.trials import Context, FoldPlan, TrainingPlan, TrialPlan
from touchstone.core.trials.trial_plan import FULL

N_UNITS = 24


@st.composite
def samples(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Units of uneven size, labels that units share or not, sources around units, or crossed by some, and features."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    n_units, pure, crossed = draw(st.integers(12, 40)), draw(st.booleans()), draw(st.booleans())
    units = np.repeat(np.arange(n_units), rng.zipf(draw(st.sampled_from([1.5, 2.5, 4.0])), n_units).clip(1, 60))
    units = rng.permutation(units)
    y = (units % 3 + (0 if pure else rng.integers(0, 2, len(units)))) % 3
    sources = units // 2 % 6
    if crossed:
        sources = np.where(rng.random(len(units)) < 0.05, rng.integers(0, 6, len(units)), sources)
    x = np.column_stack([y + rng.normal(size=len(units)), units + rng.normal(size=len(units))])
    return units, y, sources, x


def whole(units: np.ndarray, folds: np.ndarray) -> bool:
    """Whether each unit is in one fold: asked unit by unit."""
    return all(len({*folds[units == unit]}) == 1 for unit in {*units})


@pytest.mark.parametrize("name", FOLD_SCHEMES)
def test_no_fold_scheme_cuts_a_unit(name):
    n_made = 0

    @settings(max_examples=25, deadline=None)
    @given(samples())
    def no_unit_is_cut(drawn):
        nonlocal n_made
        units, y, sources, x = drawn
        x = x[:, 0] if FOLD_SCHEMES[name].needs == "values" else x
        try:
            folds = folds_of_units(FOLD_SCHEMES[name](n_folds=3), units, x, y, sources)
        except DataError:
            assume(False)
        assert whole(units, folds)
        n_made += 1

    no_unit_is_cut()
    assert n_made >= 10


@pytest.mark.parametrize("name", DRAW_SCHEMES)
def test_no_scheme_of_draws_cuts_a_unit_and_held_out_sources_stay_so(name):
    n_made = 0

    @settings(max_examples=25, deadline=None)
    @given(samples(), st.integers(0, 3))
    def no_unit_is_cut(drawn, repeat):
        nonlocal n_made
        units, y, sources, _ = drawn
        try:
            train, test = draw_of_units(DRAW_SCHEMES[name](n_repeats=4, test_share=0.35), repeat, units, y, sources)
        except DataError:
            assume(False)
        assert len(test)
        assert len(train)
        assert not {*units[train]} & {*units[test]}
        assert name != "source_exclusive" or not {*sources[train]} & {*sources[test]}
        n_made += 1

    no_unit_is_cut()
    assert n_made >= 10


@pytest.mark.parametrize("name", [*FOLD_SCHEMES, *DRAW_SCHEMES])
def test_where_each_sample_is_a_unit_nothing_changes(name):
    rng = np.random.default_rng(0)
    y, sources = rng.integers(0, 3, 60), rng.integers(0, 6, 60)
    x = np.column_stack([y + rng.normal(size=60), rng.normal(size=60)])
    if name in FOLD_SCHEMES:
        scheme, x = FOLD_SCHEMES[name](n_folds=3), x[:, 0] if FOLD_SCHEMES[name].needs == "values" else x
        as_it_is, by_unit = (folds_of_units(scheme, units, x, y, sources) for units in (None, np.arange(60)))
        assert by_unit.tolist() == as_it_is.tolist()
    elif name != "random":  # whose nearest share is found in another order of the same kind
        scheme = DRAW_SCHEMES[name](n_repeats=4)
        as_it_is, by_unit = (draw_of_units(scheme, 1, units, y, sources) for units in (None, np.arange(60)))
        assert by_unit.test.tolist() == as_it_is.test.tolist()


def test_a_random_part_of_units_has_the_share_that_was_wanted_and_each_unit_is_as_likely():
    rng = np.random.default_rng(0)
    units = np.repeat(np.arange(50), rng.integers(1, 9, 50))
    y = units % 2
    n_times, shares = np.zeros(50), []
    scheme = Random(n_repeats=800, stratified=True)
    for repeat in range(800):
        test = draw_of_units(scheme, repeat, units, y).test
        n_times[np.unique(units[test])] += 1
        shares.append([(y[test] == label).sum() / (y == label).sum() for label in (0, 1)])
    assert (np.abs(np.array(shares) - 0.2).max(axis=0) < 4 / np.bincount(y)).all()  # half of the largest unit
    assert np.abs(n_times / 800 - 0.2).max() < 0.07


def test_no_class_loses_its_training_samples_and_something_is_tested():
    units = np.array([0] * 9 + [1] * 9 + [2] * 2)
    y = np.array([0] * 9 + [1] * 9 + [2] * 2)
    with pytest.raises(DataError, match="each of the 3 has all samples of some class"):
        draw_of_units(Random(n_repeats=1), 0, units, y)
    units, y = np.append(units, [3, 3]), np.append(y, [0, 0])
    train, test = draw_of_units(Random(n_repeats=1, stratified=True), 0, units, y)
    assert {*y[train]} == {0, 1, 2}
    assert len(test)


def test_sources_that_share_a_unit_are_one_fold():
    units = np.array([0, 0, 1, 2, 3, 4, 5, 6])
    sites = np.array([1, 2, 2, 3, 4, 3, 4, 1])
    assert joined_sources(units, sites).tolist() == [1, 1, 3, 4, 3, 4, 1]
    folds = folds_of_units(FOLD_SCHEMES["leave_one_group_out"](), units, None, np.arange(8) % 2, sites)
    assert len({*folds[np.isin(sites, (1, 2))]}) == 1
    assert len({*folds}) == 3
    with pytest.raises(DataError, match="all are one"):
        folds_of_units(GroupFolds(n_folds=2), np.array([0, 0, 1, 1]), None, [0, 1, 0, 1], ["a", "b", "b", "a"])


def test_fewer_units_than_folds_are_refused_by_their_number():
    with pytest.raises(DataError, match="5 folds cannot be made of 3 units, each of them whole"):
        folds_of_units(FOLD_SCHEMES["random_folds"](), np.array([0, 0, 1, 1, 2, 2]), np.zeros((6, 1)))


def written(*, sources: bool = False, n_per_unit: int = 6) -> Dataset:
    """Pages of writers, half of whom are of one class; sites that know several writers, where wanted."""
    rng = np.random.default_rng(1)
    units = np.repeat(np.arange(N_UNITS), n_per_unit)
    y, style = units % 2, rng.normal(size=(N_UNITS, 4))
    x = style[units] + y[:, None] + rng.normal(size=(len(units), 4)) / 3
    names = [f"writer {unit}" for unit in units]
    sites = [f"site {unit // 6}" for unit in units] if sources else None
    return Dataset("pages", "tabular", x, y, ("a", "b"), None, sources=sites, units=names, unit_name="writer")


@pytest.mark.parametrize("sources", [False, True])
def test_no_plan_of_folds_cuts_a_unit(sources):
    data = written(sources=sources)
    names = [name for name, scheme in FOLD_SCHEMES.items() if sources or scheme.needs != "groups"]
    plan = FoldPlan(schemes=tuple(names), models=("logistic",), n_folds=3, number="x1", n_components=None)
    for name in names:
        assert whole(data.unit_codes, plan.folds(data, name, 0)), name
    trials = plan.trials(data)
    place = next(i for i, trial in enumerate(trials) if trial.model is not None)
    rows = plan.run_trial(data, place, context=Context())
    assert rows["n_train"].iloc[0] + len(rows) == data.n_samples


@pytest.mark.parametrize("epoch", ["last", "validation"])
@pytest.mark.parametrize("finder", ["kmeans", "same_size_kmeans", "known"])
def test_no_trial_cuts_a_unit(finder, epoch):
    data = written(sources=True)
    plan = TrialPlan(
        models=("logistic",), source_finders=(finder,), n_sources=3, n_repeats=4, test_share=0.3, epoch=epoch
    )
    draws = plan.draws(data)
    assert {draw.scheme for draw in draws} == {*DRAW_SCHEMES, FULL}
    for draw in draws:
        (train, test), held_back = plan.fitted_and_held_back(data, draw)
        parts = [train, test, *([] if held_back is None else [held_back])]
        in_parts = [{*data.unit_codes[part]} for part in parts]
        assert all(in_parts)
        assert sum(map(len, in_parts)) == len(set.union(*in_parts))
    assert plan.run_trial(data, 0, context=Context())["status"].eq("ok").all()


def test_a_data_sets_own_sources_are_units_that_one_contrast_alone_cuts():
    data = written()
    data = replace(data, sources=data.units)
    plan = TrialPlan(models=("logistic",), source_finders=("known",), n_repeats=5)
    for draw in plan.draws(data):
        train, test = plan.split(data, draw)
        cut = bool({*data.unit_codes[train]} & {*data.unit_codes[test]})
        assert cut == (draw.scheme != "source_exclusive")
    folds = FoldPlan(schemes=("source_inclusive_folds", "random_folds"), n_folds=3)
    assert [whole(data.unit_codes, folds.folds(data, name, 0)) for name in folds.schemes] == [False, True]
    said = "Each of the 24 writers is in one fold"
    assert folds.notes(data)[0] == f"{said}, except in “Every source in every fold”."
    assert FoldPlan(n_folds=3).notes(data)[0] == f"{said}."
    assert FoldPlan(n_folds=3).notes(replace(data, units=None)) == ()


def test_a_test_set_that_is_drawn_or_marked_has_whole_units():
    data = written()
    train, test = TrainingPlan("linear").split(data)
    assert len(train) + len(test) == data.n_samples
    assert not {*data.unit_codes[train]} & {*data.unit_codes[test]}
    rng = np.random.default_rng(0)
    part = np.where(data.unit_codes < 6, "test", np.where(rng.random(data.n_samples) < 0.9, "train", "test"))
    part[data.unit_codes == 20] = "train"
    part[data.unit_codes == 21] = "train"
    train, test = split_by_part(replace(data, part=part))
    assert (part[test] == "test").all()
    assert {20, 21} <= {*data.unit_codes[train]}
    assert not {*data.unit_codes[train]} & {*data.unit_codes[test]}
    one_of_each = np.where(np.arange(data.n_samples) % 6, "train", "test").astype(object)
    with pytest.raises(DataError, match="marked as train and of writers that are not tested on, so no model"):
        split_by_part(replace(data, part=one_of_each))


def test_clouds_are_made_of_one_point_for_each_unit():
    rows = ParametricNullPlan(n_sources=3, n_repeats=2, n_clusterings=1).run_trial(written(), 0, context=Context())
    assert (rows["n_samples"] == N_UNITS).all()


def test_sources_are_held_out_over_writers_that_visit_several():
    data = written(sources=True)
    sites = data.sources.copy()
    sites[0] = "site 3"  # a writer of site 0 was there once
    data = replace(data, sources=sites)
    for repeat in range(4):
        scheme = SourceExclusive(n_repeats=4, test_share=0.25)
        train, test = draw_of_units(scheme, repeat, data.unit_codes, data.y, sites.astype(str))
        assert not {*sites[train]} & {*sites[test]}
        assert not {*data.unit_codes[train]} & {*data.unit_codes[test]}
    assert n_splits_of_units(SourceExclusive(n_repeats=4), data.unit_codes, data.y, sites.astype(str)) == 4


def test_copies_share_a_unit_and_fall_on_one_side():
    words = [f"text {i % 40}" for i in range(60)]
    data = with_usual_units(Dataset("texts", "text", words, np.arange(60) % 2, ("a", "b"), None))
    assert (data.n_units, data.unit_word) == (40, "content")
    train, test = TrainingPlan("linear").split(data)
    assert not {*data.x[train]} & {*data.x[test]}
