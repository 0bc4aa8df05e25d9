"""A plan says exactly which trials there are; their rows add up; equal plans give equal work."""

import json
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.data.errors import SmallClasses
from touchstone.core.evaluate.source_robustness import compare_models, expected_accuracy_intervals
from touchstone.core.models import Cancelled
from touchstone.core.parameters import LATER
from touchstone.core.split.scheme import DRAW_SCHEMES
from touchstone.core.trials import COLUMNS, Context, SourcesPlan, TrialPlan, from_json, splits_table, to_json
from touchstone.core.trials.run import count
from touchstone.core.trials.trial_plan import FULL, schemes_of


@pytest.fixture(scope="module")
def wine() -> Dataset:
    return load_example("wine")


@pytest.fixture(scope="module")
def sourced() -> Dataset:
    """Two classes whose samples come from five writers each, the same five."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    return Dataset(
        "written",
        "tabular",
        x=rng.normal(size=(100, 3)) + y[:, None],
        y=y,
        class_names=("a", "b"),
        ids=[f"row {i}" for i in range(100)],
        sources=[f"writer {i % 5}" for i in range(100)],
    )


def test_json_is_canonical_and_comes_back(wine):
    plan = TrialPlan(models=("svm", "logistic"), n_repeats=7, n_train=50)
    assert from_json(to_json(plan), {"trials": TrialPlan}) == plan
    assert to_json(plan) == to_json(replace(plan))
    named = {field.name for field in fields(plan) if field.metadata.get("joined") != LATER}
    assert set(json.loads(to_json(plan))) == named | {"kind"}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"models": ("oracle",)}, "'oracle' cannot be chosen"),
        ({"models": ()}, "Models: nothing is chosen"),
        ({"models": ("svm", "svm")}, "stands twice"),
        ({"schemes": ("lucky",)}, "source_exclusive"),
        ({"source_finders": ("guess",)}, "known"),
        ({"representation": "vibes"}, "raw"),
        ({"across": "galaxies"}, "within each class"),
        ({"n_repeats": 0}, "at least 1"),
        ({"n_sources": 1}, "Clusters per class must .* at least 2"),
        ({"test_share": 1.0}, "between 0 and 1"),
        ({"n_train": 0}, "at least 1"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(fields, words):
    with pytest.raises(DataError, match=words):
        TrialPlan(**fields)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "This is no plan"),
        ("[]", "This is no plan"),
        ("{}", "This is no plan"),
        ("[" * 100_000, "This is no plan"),
        ('{"kind":"cooking"}', "Unknown kind of plan 'cooking'"),
        ('{"kind":["trials"]}', "Unknown kind of plan"),
        ('{"kind":"trials","sugar":1}', "has no field sugar"),
        ('{"kind":"trials","models":"svm"}', "models must be a list, not 'svm'"),
        ('{"kind":"trials","models":null}', "models must be a list, not None"),
        ('{"kind":"trials","seed":{"a":1}}', r"makes no sense\. seed: a plan holds .*, not {'a': 1}\."),
        ('{"kind":"trials","test_share":NaN}', r"makes no sense\. test_share: a plan holds .*, not nan\."),
        ('{"kind":"trials","n_repeats":1000000000}', "n_repeats is at most 10,000, not 1,000,000,000"),
        ('{"kind":"trials","n_clusterings":1001}', "n_clusterings is at most 1,000"),
        (f'{{"kind":"trials","models":{["svm"] * 201}}}'.replace("'", '"'), "models holds at most 200 values, not 201"),
        ('{"kind":"sources"}', "A plan of kind 'sources' needs the field finder"),
    ],
)
def test_text_that_is_no_plan_is_refused(text, words):
    with pytest.raises(DataError, match=words):
        from_json(text, {"trials": TrialPlan, "sources": SourcesPlan})


def test_as_much_work_as_the_bounds_allow_is_a_plan(wine):
    plan = from_json('{"kind":"trials","n_repeats":10000,"n_clusterings":100}', {"trials": TrialPlan})
    assert plan.n_trials(wine) == 80_000


def test_trials_run_repeat_by_repeat_over_all_schemes_and_clusterings(wine):
    plan = TrialPlan(models=("logistic", "svm"), n_repeats=8, n_clusterings=4)
    draws = plan.draws(wine)
    assert plan.n_trials(wine) == 2 * len(draws) == 2 * 4 * 8
    assert [draw.repeat for draw in draws] == sorted(draw.repeat for draw in draws)
    assert {draw.scheme for draw in draws[:4]} == {*DRAW_SCHEMES, FULL}
    assert all(draw.clustering == draw.repeat % 4 for draw in draws)


def test_every_combination_is_tried_once_where_there_are_few():
    two_classes = load_example("breast_cancer")
    plan = TrialPlan(models=("svm",), schemes=("source_exclusive",), n_repeats=100)
    splits = [plan.split(two_classes, draw).test.tobytes() for draw in plan.draws(two_classes)]
    assert len(splits) == 4 * 5**2 == len(set(splits))


def test_more_repeats_extend_fewer(wine):
    few, many = (TrialPlan(models=("svm",), n_repeats=n) for n in (8, 20))
    for draw in few.draws(wine):
        assert np.array_equal(few.split(wine, draw).test, many.split(wine, draw).test)


def test_models_share_their_draws(wine):
    plan = TrialPlan(models=("logistic", "nearest_neighbours"), n_repeats=1, schemes=("source_exclusive",))
    first, second = (plan.run_trial(wine, i, context=Context()) for i in (0, 1))
    same = [name for name in COLUMNS if name not in ("model", "n_correct", "n_predicted", "seconds")]
    pd.testing.assert_frame_equal(first[same], second[same])
    assert first["model"].iloc[0] != second["model"].iloc[0]


def test_rows_of_a_trial_add_up(wine):
    plan = TrialPlan(models=("nearest_neighbours",), n_repeats=2)
    for i in range(plan.n_trials(wine)):
        rows = plan.run_trial(wine, i, context=Context())
        assert list(rows.columns) == list(COLUMNS)
        whole = rows[rows["label"].isna()]
        labels = rows[rows["label"].notna() & rows["source"].isna()]
        cells = rows[rows["source"].notna()]
        assert len(whole) == 1
        assert tuple(labels["label"]) == wine.class_names
        for name in ("n_correct", "n_label"):
            assert labels[name].sum() == whole[name].item() == cells[name].sum()
        assert labels["n_predicted"].sum() == whole["n_test"].item() == whole["n_label"].item()
        assert cells["n_predicted"].isna().all()
        held_out = rows["scheme"].iloc[0] == "source_exclusive"
        assert cells["held_out_source"].notna().all() == held_out
        if held_out:
            assert cells.groupby("label")["source"].nunique().eq(1).all()


def test_rows_say_what_an_obvious_count_says(wine):
    plan = TrialPlan(models=("logistic",), n_repeats=1, schemes=("source_inclusive",))
    [draw] = plan.draws(wine)
    train, test = plan.split(wine, draw)
    from touchstone.core.models import MODELS
    from touchstone.core.trials.trial_plan import seed_of

    model = MODELS["logistic"]()
    model.fit(wine.x[train], wine.y[train], seed=seed_of(plan.seed, draw.scheme, draw.repeat), n_classes=3)
    predicted = model.predict(wine.x[test])
    rows = plan.run_trial(wine, 0, context=Context())
    assert rows["n_correct"].iloc[0] == sum(int(a == b) for a, b in zip(predicted, wine.y[test], strict=True))
    sources = plan.sources(wine, "kmeans", 0)
    for row in rows[rows["source"].notna()].itertuples():
        members = [i for i in test if wine.class_names[wine.y[i]] == row.label and str(sources[i]) == row.source]
        assert row.n_label == len(members)


@given(data=st.data(), n=st.integers(1, 40), n_classes=st.integers(1, 5))
def test_counts_add_up_whatever_is_predicted(data, n, n_classes):
    labels = arrays(np.int64, n, elements=st.integers(0, n_classes - 1))
    y, predicted = data.draw(labels), data.draw(labels)
    sources = data.draw(arrays(np.int64, n, elements=st.integers(0, 3)))
    counts = pd.DataFrame(count(y, predicted, sources, n_classes))
    whole, labels, cells = counts[:1], counts[1 : 1 + n_classes], counts[1 + n_classes :]
    assert (
        whole["n_correct"].item()
        == int((y == predicted).sum())
        == labels["n_correct"].sum()
        == cells["n_correct"].sum()
    )
    assert (
        n == whole["n_label"].item() == labels["n_label"].sum() == cells["n_label"].sum() == labels["n_predicted"].sum()
    )


def test_known_sources_are_held_out_over_all_classes(sourced):
    plan = TrialPlan(models=("svm",), source_finders=("known",), n_repeats=10)
    for draw in plan.draws(sourced):
        train, test = plan.split(sourced, draw)
        assert not set(train) & set(test)
        if draw.scheme == "source_exclusive":
            assert not set(sourced.sources[train]) & set(sourced.sources[test])


def test_found_and_known_sources_are_compared_at_equal_training_sizes(sourced):
    plan = TrialPlan(models=("svm",), source_finders=("kmeans", "known"), n_repeats=8)
    sizes = pd.DataFrame(
        [
            (draw.scheme, draw.repeat, draw.source_finder, len(plan.split(sourced, draw).train))
            for draw in plan.draws(sourced)
        ],
        columns=["scheme", "repeat", "source_finder", "n_train"],
    ).pivot(index=["scheme", "repeat"], columns="source_finder", values="n_train")
    assert (sizes["kmeans"] == sizes["known"]).all()
    alone = TrialPlan(models=("svm",), source_finders=("kmeans",), n_repeats=8)
    for draw in alone.draws(sourced):
        whole, cut = alone.split(sourced, draw), plan.split(sourced, draw)
        if draw.scheme in ("source_exclusive", FULL):
            assert set(cut.train) <= set(whole.train)
            assert np.array_equal(cut.test, whole.test)
        assert np.all(np.bincount(sourced.y[cut.train]) <= np.bincount(sourced.y[whole.train]))


@pytest.mark.parametrize("epoch", ["last", "validation"])
@pytest.mark.parametrize("units", [False, True])
@pytest.mark.parametrize("finder", ["known", "kmeans"])
def test_schemes_of_a_repeat_train_on_as_many_of_each_class(finder, units, epoch):
    """One site has most rows: where it is held out half as many are left as where it is not."""
    rng = np.random.default_rng(0)
    site = rng.choice(8, size=240, p=[0.65, *[0.05] * 7])
    y = rng.choice(3, size=240, p=[0.5, 0.3, 0.2])
    data = Dataset(
        *("sites", "tabular", rng.normal(size=(240, 3)), y, ("a", "b", "c"), [str(row) for row in range(240)]),
        [f"site {each}" for each in site],
        units=[f"{each} {row % 40}" for row, each in enumerate(site)] if units else None,
    )
    plan = TrialPlan(models=("logistic",), source_finders=(finder,), n_repeats=6, n_clusterings=2, epoch=epoch)
    unsized = {}
    for draw in plan.draws(data):
        (train, test), _ = plan.fitted_and_held_back(data, draw)
        assert len(test)
        assert not {*train} & {*test}
        assert len(np.unique(train)) == len(train)
        if draw.scheme != FULL:
            unsized.setdefault(draw.repeat, set()).add(tuple(np.bincount(y[train]).tolist()))
        elif epoch == "last":
            assert len(train) + len(test) == 240
    assert {len(sizes) for sizes in unsized.values()} == {1}
    assert len({size for sizes in unsized.values() for size in sizes}) > 1, "repeats differ: sources do"


def test_random_splits_have_a_full_size_where_held_out_sources_make_them_smaller():
    assert FULL in schemes_of(TrialPlan())
    for other in (TrialPlan(schemes=("random",)), TrialPlan(n_train=50), TrialPlan(schemes=("source_exclusive",))):
        assert schemes_of(other) == other.schemes


def test_smaller_training_parts_are_nested_in_larger_ones(wine):
    small, large = (TrialPlan(models=("svm",), n_repeats=3, n_train=n) for n in (30, 60))
    for draw in small.draws(wine):
        assert len(small.split(wine, draw).train) == 30
        assert set(small.split(wine, draw).train) < set(large.split(wine, draw).train)


def test_cancel_is_heard(wine):
    with pytest.raises(Cancelled):
        TrialPlan(models=("mlp_small",), n_repeats=1).run_trial(wine, 0, context=Context(should_stop=lambda: True))


def test_a_failed_trial_is_one_row_that_says_which(wine):
    plan = TrialPlan(models=("logistic", "svm"), n_repeats=2)
    row = plan.failed_trial(wine, 3)
    assert row.dtypes.astype(str).to_dict() == COLUMNS
    assert (row["model"].item(), row["status"].item()) == ("svm", "failed")
    assert row["n_correct"].isna().all()


def test_a_class_that_is_too_small_is_named(wine):
    with pytest.raises(DataError, match=r"class_0 \(59 rows\)"):
        TrialPlan(n_sources=60).n_trials(wine)


def test_the_splits_table_is_what_the_trials_use(wine):
    plan = TrialPlan(models=("logistic", "svm"), n_repeats=3)
    table = splits_table(plan, wine)
    assert {"trial", "scheme", "repeat", "id", "part"} <= set(table.columns)
    for trial, draw in enumerate(plan.draws(wine)):
        split = plan.split(wine, draw)
        mine = table[table["trial"] == trial]
        assert (mine["scheme"].iloc[0], mine["repeat"].iloc[0]) == (draw.scheme, draw.repeat)
        for part, rows in (("train", split.train), ("test", split.test)):
            assert set(mine.loc[mine["part"] == part, "id"]) == set(wine.ids[rows])


def test_features_that_the_data_do_not_have_are_refused_before_anything_runs():
    with pytest.raises(DataError, match=r"not for image data\. Take raw"):
        TrialPlan(representation="tfidf_svd").n_trials(load_example("digits"))


def test_a_class_with_one_source_is_refused_by_its_name_and_by_what_the_page_offers():
    """Not by its code, nor by an argument that only a script could give."""
    y = np.repeat([0, 1], 10)
    sources = [f"s{i % 2}" for i in range(10)] + ["s2"] * 10
    lonely = Dataset(
        "d", "tabular", np.arange(40.0).reshape(20, 2), y, ("ant", "bee"), list(map(str, range(20))), sources
    )
    with pytest.raises(DataError, match=r"Only one source in class bee: .* over all classes together") as refused:
        TrialPlan(source_finders=("known",)).n_trials(lonely)
    assert "across" not in str(refused.value)


def few(y: list[int], sources: str, units: str | None = None) -> Dataset:
    """A data set of one letter for each source and unit."""
    names = ("ant", "bee", "cat")[: max(y) + 1]
    x = np.arange(2.0 * len(y)).reshape(-1, 2)
    return Dataset("few", "tabular", x, y, names, None, sources=sources, units=units)


@pytest.mark.parametrize(
    ("dataset", "fields", "words"),
    [
        (few([0, 0, 1, 1, 2, 2, 2, 2], "aabbaabb"), {}, "No source can be held out over all classes"),
        (few([0, 1] * 8, "aabbccddeeffgghh"), {}, "A share of 0.2 of each of the sources leaves no sample"),
        (
            few([0, 1] * 20, "".join(letter * 10 for letter in "abcd")),
            {"epoch": "validation", "test_share": 0.5, "n_train": 4},
            "choose an epoch",
        ),
    ],
    ids=["each the only source of a class", "sources of two samples", "no sources for an epoch"],
)
def test_sources_that_no_scheme_can_draw_from_are_refused_before_anything_runs(dataset, fields, words):
    """They were accepted, and every trial of the scheme failed."""
    with pytest.raises(DataError, match=words):
        TrialPlan(source_finders=("known",), models=("logistic",), **fields).n_trials(dataset)


def test_a_class_that_held_out_units_take_along_is_refused_with_a_way_without_it():
    """Unit r lies in two of three sources, and goes with either."""
    plan = TrialPlan(source_finders=("known",), models=("logistic",), schemes=("source_exclusive",))
    with pytest.raises(SmallClasses, match=r"Split \d+ would hold out all samples of “ant”.*leave it out") as refused:
        plan.n_trials(few([0, 1, 0, 1, 1, 1], "babcab", "rqprrq"))
    assert refused.value.classes == ("ant",)


def test_leaving_sources_out_adds_trials_behind_the_others(sourced):
    plan = TrialPlan(models=("logistic",), source_finders=("known",), n_repeats=2)
    asked = replace(plan, left_out=True)
    n = plan.n_trials(sourced)
    assert asked.n_trials(sourced) == n * (1 + 5)
    assert "left_out" not in to_json(plan)
    whole, again = (one.run_trial(sourced, 1, context=Context()) for one in (plan, asked))
    pd.testing.assert_frame_equal(again[list(COLUMNS)].drop(columns="seconds"), whole.drop(columns="seconds"))
    assert again["left_out"].isna().all()


def test_a_left_out_source_is_neither_trained_on_nor_tested(sourced):
    plan = TrialPlan(models=("logistic",), source_finders=("known",), n_repeats=2, left_out=True)
    draws = plan.draws(sourced)
    for number, draw in enumerate(draws):
        split = plan.split(sourced, draw)
        for turn in range(5):
            rows = plan.run_trial(sourced, len(draws) + 5 * number + turn, context=Context())
            assert set(rows["left_out"]) == {turn}
            assert rows["source"].isna().all()
            of_turn = np.asarray(sourced.sources) == f"writer {turn}"
            whole = rows[rows["label"].isna()].iloc[0]
            held_out = plan.split(sourced, draws[4 * draw.repeat])
            if draw.scheme in ("source_exclusive", FULL):
                assert whole["n_test"] == (~of_turn[split.test]).sum()
                assert whole["n_train"] == (~of_turn[split.train]).sum()
            elif not of_turn[held_out.test].all():
                assert whole["n_train"] == (~of_turn[held_out.train]).sum()
            (train, test), _ = plan.fitted_and_held_back(sourced, draw, turn)
            assert not of_turn[[*train, *test]].any()
    failed = plan.failed_trial(sourced, plan.n_trials(sourced) - 1)
    assert failed["left_out"].tolist() == [4]


def test_only_known_sources_can_be_left_out():
    for chosen in ({"source_finders": ("kmeans",)}, {"source_finders": ("known",), "n_train": 50}):
        with pytest.raises(DataError, match="only known sources"):
            TrialPlan(left_out=True, **chosen)


def test_what_leaving_out_says_is_used_once_all_of_it_is_there(sourced):
    plan = TrialPlan(models=("logistic", "nearest_neighbours"), source_finders=("known",), n_repeats=5, left_out=True)
    rows = [plan.run_trial(sourced, index, context=Context()) for index in range(plan.n_trials(sourced))]
    everything = pd.concat(rows)
    last = {"model": "nearest_neighbours", "scheme": "source_exclusive", "repeat": 4, "left_out": 4}
    nearly = everything[~np.all([(everything[name] == value).fillna(False) for name, value in last.items()], axis=0)]
    without = everything[everything["left_out"].isna()].drop(columns="left_out")
    of_all, of_nearly, of_none = (expected_accuracy_intervals(each).overall for each in (everything, nearly, without))
    assert repr(of_all[0].exclusive) != repr(of_none[0].exclusive)
    assert repr(of_nearly[1].fall) == repr(of_none[1].fall)
    assert [row.fall.value for row in of_all] == [row.fall.value for row in of_none]
    assert len(compare_models(everything)) == len(compare_models(without)) == 1
