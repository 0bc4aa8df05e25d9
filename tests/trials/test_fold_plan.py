"""A plan of folds: which trials there are, what their rows say, and that every process makes the same folds."""

import json
import subprocess
import sys
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.data.errors import SmallClasses
from touchstone.core.models import MODELS, Cancelled
from touchstone.core.split import units
from touchstone.core.split.folds import FOLD_SCHEMES
from touchstone.core.trials import Context, FoldPlan, Plan, from_json, to_json
from touchstone.core.trials.fold_plan import COLUMNS, unseen_classes
from touchstone.core.workspace import frames

BY_FEATURES = [name for name, scheme in FOLD_SCHEMES.items() if scheme.needs == "features"]
BY_GROUPS = [name for name, scheme in FOLD_SCHEMES.items() if scheme.needs == "groups"]


def rows_of(plan: FoldPlan, dataset: Dataset) -> pd.DataFrame:
    """All rows, having gone where a run's rows go."""
    n_trials = plan.n_trials(dataset)
    return frames.from_bytes([frames.to_bytes(plan.run_trial(dataset, i, context=Context())) for i in range(n_trials)])


@pytest.fixture(scope="module")
def wine() -> Dataset:
    return load_example("wine")


@pytest.fixture(scope="module")
def sourced() -> Dataset:
    """Two classes whose samples come from six writers, the same six in both."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    return Dataset(
        "written",
        "tabular",
        x=rng.normal(size=(120, 3)) + y[:, None],
        y=y,
        class_names=("a", "b"),
        ids=[f"row {i}" for i in range(120)],
        sources=[f"writer {i % 6}" for i in range(120)],
    )


def test_json_is_canonical_and_comes_back():
    plan = FoldPlan(schemes=("sds_folds",), seeds=(3, 1), models=(), n_components=None)
    assert isinstance(plan, Plan)
    assert from_json(to_json(plan), {"folds": FoldPlan}) == plan
    assert to_json(plan) == to_json(replace(plan))
    joined_later = {"options", "labels_by_fold"}
    assert set(json.loads(to_json(plan))) == {field.name for field in fields(plan)} - joined_later | {"kind"}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"schemes": ()}, "Folds: nothing is chosen"),
        ({"schemes": ("random",)}, "'random' cannot be chosen.*random_folds"),
        ({"schemes": ("random_folds", "random_folds")}, "stands twice"),
        ({"models": ("oracle",)}, "'oracle'"),
        ({"representation": "vibes"}, "raw"),
        ({"n_folds": 1}, "Number of folds: whole numbers of at least 2"),
        ({"n_components": 0}, "Principal components: whole"),
        ({"seeds": (0, -1)}, "Seeds: whole"),
        ({"seeds": ()}, "Seeds: at least one"),
        ({"seeds": (1, 1)}, "Seeds: .*stand once"),
        ({"schemes": ("quantile_folds",)}, "Quantiles of: Quantiles of a number cuts by a number"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(fields, words):
    with pytest.raises(DataError, match=words):
        FoldPlan(**fields)


def test_folds_come_first_then_fold_by_fold_over_all_schemes_and_models(wine):
    plan = FoldPlan(models=("logistic", "svm"), seeds=(0, 4))
    trials = plan.trials(wine)
    assert plan.n_trials(wine) == len(trials) == 2 * 2 + 2 * 2 * 2 * 5
    assert all(trial.model is None and trial.fold is None for trial in trials[:4])
    assert [(trial.scheme, trial.model, trial.fold) for trial in trials[4:8]] == [
        ("random_folds", "logistic", 0), ("random_folds", "svm", 0), ("sds_folds", "logistic", 0),
        ("sds_folds", "svm", 0)]  # fmt: skip


def test_no_models_only_make_folds(wine):
    rows = rows_of(FoldPlan(models=(), seeds=(0, 1, 2)), wine)
    assert len(rows) == 2 * 3 * wine.n_samples
    assert rows["model"].isna().all()
    assert rows["y_pred"].isna().all()


@pytest.mark.parametrize("scheme", FOLD_SCHEMES)
def test_every_scheme_tests_each_sample_of_a_test_part_once(sourced, scheme):
    plan = FoldPlan(schemes=(scheme,), n_folds=3, n_components=2, number="x1")
    folds = plan.folds(sourced, scheme, 0)
    rows = rows_of(plan, sourced)
    assert list(rows.columns) == list(COLUMNS)
    made, tested = rows[rows["model"].isna()], rows[rows["model"].notna()]
    assert np.array_equal(made["fold"].to_numpy(dtype=int), folds)
    assert sorted(tested["row"]) == np.flatnonzero(folds >= 0).tolist()
    assert np.array_equal(tested["fold"].to_numpy(dtype=int), folds[tested["row"].to_numpy(dtype=int)])
    assert set(tested["fold"]) == set(range(folds.max() + 1))
    sizes = np.bincount(folds[folds >= 0])
    assert (tested["n_train"] == 120 - sizes[tested["fold"].to_numpy(dtype=int)]).all()
    if scheme in BY_GROUPS:
        assert all(len(set(folds[sourced.sources == writer])) == 1 for writer in set(sourced.sources))


def test_rows_say_what_an_obvious_fit_says(wine):
    plan = FoldPlan(schemes=("sds_folds",))
    folds = plan.folds(wine, "sds_folds", 0)
    train, test = np.flatnonzero(folds != 2), np.flatnonzero(folds == 2)
    model = MODELS["logistic"]().fit(wine.x[train], wine.y[train], seed=0, n_classes=3)
    rows = plan.run_trial(wine, 1 + 2, context=Context())
    assert rows["row"].tolist() == test.tolist()
    assert rows["y_pred"].tolist() == model.predict(wine.x[test]).tolist()
    assert rows["confidence"].to_numpy() == pytest.approx(model.predict_proba(wine.x[test]).max(axis=1), abs=1e-6)


def test_a_model_without_probabilities_has_no_confidence(wine):
    rows = FoldPlan(schemes=("random_folds",), models=("svm",)).run_trial(wine, 1, context=Context())
    assert rows["confidence"].isna().all()
    assert rows["y_pred"].notna().all()


def test_schemes_by_a_number_cut_by_it(wine):
    plan = FoldPlan(schemes=("quantile_folds",), number="alcohol", n_folds=2)
    folds, alcohol = plan.folds(wine, "quantile_folds", 0), wine.x[:, wine.feature_names.index("alcohol")]
    for label in range(3):
        of_label = wine.y == label
        below, above = (alcohol[of_label & (folds == fold)] for fold in (0, 1))
        assert below.max() <= above.min() or above.max() <= below.min()


def test_another_process_makes_the_same_folds(wine):
    plan = FoldPlan(schemes=tuple(BY_FEATURES), seeds=(0,), models=())
    code = (
        "import sys; from touchstone.core.data import load_example;"
        "from touchstone.core.workspace.plans import load_plan;"
        "plan, wine = load_plan(sys.argv[1]), load_example('wine');"
        "print([plan.folds(wine, scheme, 0).tolist() for scheme in plan.schemes])"
    )
    said = subprocess.run([sys.executable, "-c", code, to_json(plan)], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == str([plan.folds(wine, scheme, 0).tolist() for scheme in plan.schemes])


def test_another_seed_makes_other_folds_and_more_seeds_keep_the_first(wine):
    one, two = FoldPlan(seeds=(0,)), FoldPlan(seeds=(0, 1))
    for scheme in one.schemes:
        assert np.array_equal(one.folds(wine, scheme, 0), two.folds(wine, scheme, 0))
        assert not np.array_equal(two.folds(wine, scheme, 0), two.folds(wine, scheme, 1))


def test_cancel_is_heard_before_folds_are_made_and_between_epochs(wine):
    plan = FoldPlan(models=("mlp_small",))
    for trial in (0, 2):
        with pytest.raises(Cancelled):
            plan.run_trial(wine, trial, context=Context(should_stop=lambda: True))


def test_a_failed_trial_is_one_row_of_the_same_types_that_says_which(wine):
    plan = FoldPlan(models=("logistic", "svm"))
    for trial, model, fold in ((1, None, None), (5, "svm", 0)):
        row, fine = plan.failed_trial(wine, trial), plan.run_trial(wine, 0, context=Context())
        assert row.dtypes.to_dict() == fine.dtypes.to_dict()
        assert len(row) == 1
        assert row["status"].item() == "failed"
        assert row["scheme"].item() == "sds_folds"
        assert (None if row["model"].isna().item() else row["model"].item()) == model
        assert (None if row["fold"].isna().item() else row["fold"].item()) == fold
        assert row["row"].isna().item()


def test_known_sources_are_asked_for_by_name(wine):
    with pytest.raises(DataError, match="does not name the source"):
        FoldPlan(schemes=("leave_one_group_out",)).n_trials(wine)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"n_folds": 179}, "179 folds cannot be made of the 178 samples of wine.*fewer"),
        ({"representation": "tfidf_svd"}, "tfidf_svd"),
        ({"schemes": ("quantile_folds",), "number": "brightness"}, "'brightness'.*alcohol"),
    ],
)
def test_what_does_not_fit_the_data_is_refused_before_anything_runs(wine, fields, words):
    with pytest.raises(DataError, match=words):
        FoldPlan(**fields).n_trials(wine)


def test_a_class_rarer_than_folds_is_fine_and_constant_features_fail_with_a_reason():
    y = np.repeat([0, 1], [27, 3])
    options = {"kind": "tabular", "y": y, "class_names": ("many", "few"), "ids": [str(row) for row in range(30)]}
    plan = FoldPlan(schemes=("sds_folds",))
    varied = Dataset("rare", x=np.random.default_rng(0).normal(size=(30, 2)), **options)
    folds = plan.folds(varied, "sds_folds", 0)
    assert np.bincount(folds).tolist() == [6] * 5
    assert sorted(np.bincount(folds[y == 1], minlength=5)) == [0, 0, 1, 1, 1]
    with pytest.raises(DataError, match="same features"):
        plan.run_trial(Dataset("flat", x=np.ones((30, 2)), **options), 0, context=Context())


def test_rows_are_lean(wine):
    """A run of 20,000 rows, 2 schemes, 3 seeds and 2 models has 360,000 rows: not more than some 40 bytes for each."""
    rows = rows_of(FoldPlan(models=("logistic", "svm")), wine)
    assert rows.memory_usage(index=False).sum() / len(rows) <= 40


def test_sources_that_are_known_are_spread_over_folds_as_they_are(sourced):
    plan = FoldPlan(schemes=("source_inclusive_folds", "sds_folds"), n_folds=5)
    folds = plan.folds(sourced, "source_inclusive_folds", 0)
    for label, writer in {(int(y), str(source)) for y, source in zip(sourced.y, sourced.sources, strict=True)}:
        of = (sourced.y == label) & (sourced.sources == writer)
        assert np.bincount(folds[of], minlength=5).tolist() == [2] * 5
    nameless = Dataset("unsigned", "tabular", sourced.x, sourced.y, sourced.class_names, sourced.ids)
    assert np.array_equal(plan.folds(nameless, "sds_folds", 0), plan.folds(sourced, "sds_folds", 0))
    assert plan.folds(nameless, "source_inclusive_folds", 0).max() == 4


def test_more_folds_than_sources_are_refused_before_anything_runs():
    rng = np.random.default_rng(0)
    options = {"y": np.arange(40) // 2 % 2, "class_names": ("a", "b"), "ids": [str(row) for row in range(40)]}
    few = Dataset("few", "tabular", rng.normal(size=(40, 1)), sources=[f"w{row % 4}" for row in range(40)], **options)
    with pytest.raises(DataError, match=r"5 folds cannot be made of 4 sources.*Ask for 4 folds"):
        FoldPlan(schemes=("group_folds",), n_folds=5, models=()).n_trials(few)
    assert FoldPlan(schemes=("group_folds",), n_folds=4, models=()).n_trials(few) == 1


def test_more_sources_than_folds_can_be_numbered_are_refused_with_a_remedy():
    n = 2**15
    rng = np.random.default_rng(0)
    options = {"y": np.arange(n) % 2, "class_names": ("a", "b"), "ids": [str(row) for row in range(n)]}
    alone = Dataset("alone", "tabular", rng.normal(size=(n, 1)), sources=options["ids"], **options)
    with pytest.raises(DataError, match=r"32,768 folds of alone; at most 32,767.*for Known sources, several to a"):
        FoldPlan(schemes=("leave_one_group_out",), models=()).n_trials(alone)
    with pytest.raises(DataError, match=r"random_folds would make 32,768 folds"):
        FoldPlan(schemes=("random_folds",), models=(), n_folds=n).n_trials(alone)
    assert FoldPlan(schemes=("group_folds",), models=()).n_trials(alone) == 1


def written_by(sources: list[str], y: list[int], **more) -> Dataset:
    """A data set of a few samples by these sources."""
    x = np.random.default_rng(0).normal(size=(len(y), 2))
    names = ("ham", "spam", "news")[: max(y) + 1]
    return Dataset("mail", "tabular", x, y, names, None, sources=sources, **more)


ONE_SOURCE = written_by([*("ann", "bob", "cem", "dan") * 4, "eve", "eve"], [0, 0, 0, 0, 1, 1, 1, 1] * 2 + [2, 2])
"""All of the third class is from one source."""


@pytest.mark.parametrize("scheme", BY_GROUPS)
def test_a_fold_that_holds_all_of_a_class_is_refused_before_anything_runs(scheme):
    plan = FoldPlan(schemes=(scheme,), n_folds=3)
    with pytest.raises(
        SmallClasses, match=r"All samples of “news” come from 1 source.*leave it out, or take"
    ) as raised:
        plan.n_trials(ONE_SOURCE)
    assert plan.n_trials(ONE_SOURCE.without(*raised.value.classes)) > 0


def test_several_sources_of_a_class_that_share_a_fold_are_refused_with_their_number():
    sources = [*("ann", "bob", "cem", "dan") * 4, "eve", "eve", "fay", "fay"]
    mail = written_by(sources, [0, 0, 0, 0, 1, 1, 1, 1] * 2 + [2] * 4, units=[*map(str, range(16)), *"wwww"])
    with pytest.raises(SmallClasses, match=r"Fold \d of \d would hold all 2 sources of “news”: leave it out"):
        FoldPlan(schemes=("leave_one_group_out",)).n_trials(mail)


def test_folds_without_models_may_hold_all_of_a_class_and_it_is_said():
    plan = FoldPlan(schemes=("leave_one_group_out",), models=())
    assert plan.n_trials(ONE_SOURCE) == 1
    assert [note for note in plan.notes(ONE_SOURCE) if "holds all of “news”: models tested there saw none" in note]


def test_random_folds_that_hold_all_of_a_class_are_said_before_they_are_made():
    units = ["one" if label == 2 else str(row) for row, label in enumerate(ONE_SOURCE.y)]
    mail = replace(ONE_SOURCE, units=units, unit_name="author")
    for scheme in ("random_folds", "stratified_folds"):
        plan = FoldPlan(schemes=(scheme,), n_folds=3)
        fold = plan.folds(mail, scheme, 0)[-1] + 1
        assert plan.n_trials(mail) == 4
        assert [note for note in plan.notes(mail) if f"Fold {fold} of “Random" in note and "all of “news”" in note]
    assert not [note for note in FoldPlan().notes(load_example("wine")) if "holds all" in note]


def test_many_folds_that_hold_classes_are_counted():
    y, folds = np.arange(7), np.arange(7)
    sentences = unseen_classes({("random_folds", 0): folds}, y, [f"c{label}" for label in y])
    assert len(sentences) == 4
    assert sentences[-1] == "4 more folds hold all of a class."


def test_folds_by_source_are_made_once(monkeypatch, sourced):
    """Listing the trials made them, and the number of folds joined the sources a second time."""
    calls = []
    joined = units.joined_sources
    monkeypatch.setattr(units, "joined_sources", lambda *about: calls.append(about) or joined(*about))
    by_pair = sourced.with_units([f"{row // 2}" for row in range(120)], "pair")
    by_pair = replace(by_pair, sources=[f"writer {row // 2 % 6}" for row in range(120)])
    plan = FoldPlan(schemes=("leave_one_group_out",))
    assert plan.n_trials(by_pair) == 1 + 6
    plan.folds(by_pair, "leave_one_group_out", 0)
    assert len(calls) == 1
