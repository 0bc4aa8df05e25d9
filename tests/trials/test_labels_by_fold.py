"""The labels of folds are as somebody specified them (Wecker et al. 2020, section 3.3), in plan, address and page."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from touchstone.core.__main__ import main
from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.report.descriptions import describe
from touchstone.core.split.folds import SDSFolds
from touchstone.core.trials import Context, FoldPlan, to_json
from touchstone.core.workspace import load_plan
from touchstone.ui.forms.controls import NamedNumbers
from touchstone.ui.forms.plan_form import plan_at, plan_parameters

ROWS = (("class_0", 30, 20, 9), ("class_2", 1, 1, 0))
PLAN = FoldPlan(schemes=("random_folds", "sds_folds"), models=(), n_folds=3, labels_by_fold=ROWS)


def n_label(folds: np.ndarray, y: np.ndarray) -> list[list[int]]:
    return [np.bincount(folds[y == label], minlength=3).tolist() for label in np.unique(y)]


def test_folds_hold_what_was_specified_and_other_labels_are_spread_evenly():
    wine = load_example("wine")
    rows = PLAN.run_trial(wine, 1, context=Context())
    assert rows["scheme"].iloc[0] == "sds_folds"
    by_label = n_label(rows["fold"].to_numpy(dtype=int), wine.y)
    assert by_label[0] == [30, 20, 9]  # counts that sum to the label's samples are met exactly
    assert sorted(by_label[1]) == [23, 24, 24]
    assert by_label[2] == [24, 24, 0]
    usual = FoldPlan(schemes=("random_folds", "sds_folds"), models=(), n_folds=3)
    random, same = (plan.run_trial(wine, 0, context=Context())["fold"].tolist() for plan in (PLAN, usual))
    assert random == same  # the other schemes are as they were


def test_what_is_wanted_is_said_before_rounding():
    wanted = PLAN.wanted(load_example("wine"), "sds_folds")
    np.testing.assert_allclose(wanted[:, 1], 71 / 3)
    np.testing.assert_allclose(wanted[:, 2], [24, 24, 0])
    assert PLAN.wanted(load_example("wine"), "random_folds") is None
    assert FoldPlan().wanted(load_example("wine"), "sds_folds") is None


@pytest.mark.parametrize("seed", range(20))
def test_shares_are_rounded_up_or_down_and_nobody_is_lost(seed):
    y = np.repeat(["ham", "spam"], [31, 17])
    x = np.random.default_rng(seed).normal(size=(48, 2))
    weights = np.array([0.5, 0.3, 0.2])
    folds = SDSFolds(n_folds=3, seed=seed, labels_by_fold=(("ham", *weights),)).assign(x, y)
    [ham, spam] = n_label(folds, y)
    assert (np.abs(np.array(ham) - 31 * weights) < 1).all()
    assert (sum(ham), sorted(spam)) == (31, [5, 6, 6])


def test_a_plan_without_them_keeps_its_text_and_one_with_them_has_its_own():
    assert "labels_by_fold" not in to_json(FoldPlan())
    assert load_plan(to_json(PLAN)) == PLAN
    assert describe(PLAN).endswith("labels by fold as specified")
    assert describe(FoldPlan()) == "Random, SDS k-means · 5 folds · 1 seed · Logistic regression"


@pytest.mark.parametrize("names", [("class_0", "class_2"), ("a: 1", "b; c: 2 x"), ("1", "2.5"), ("", "b")])
def test_an_address_leads_back_to_the_plan(names):
    rows = tuple((name, 0.5, 3.0, 1e6) for name in names)
    plan = FoldPlan(schemes=("sds_folds",), n_folds=3, labels_by_fold=rows)
    assert plan_at(FoldPlan, plan_parameters(plan)) == plan


@pytest.mark.parametrize("text", ["ham", "ham: 1 x", "1 2 3", "ham: 1 1; spam", "ham: 1.2.3 1", "ham: -1 2"])
def test_text_that_makes_no_rows_is_refused_with_an_example(text):
    with pytest.raises(DataError, match="rows separated by semicolons, such as “spam: 3 2 1; ham: 1 1 1”; not"):
        NamedNumbers("labels_by_fold", "Labels by fold", 0.0, "").meant(text)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"labels_by_fold": (("class_0", 1, 1),)}, "“class_0” needs a number for each of the 3 folds, not 2"),
        ({"labels_by_fold": (("class_0", 0, 0, 0),)}, "must be 0 or more, and one of them above 0"),
        ({"labels_by_fold": (("class_0", 1, 1, -1),)}, "must be 0 or more"),
        ({"labels_by_fold": (("class_0", 1, 1, True),)}, "must be 0 or more"),
        ({"labels_by_fold": (("class_0", 1, 1, 1), ("class_0", 1, 2, 1))}, "“class_0” stands twice"),
        ({"labels_by_fold": ((0, 1, 1, 1),)}, "each row is a label and a number for each fold"),
        ({"labels_by_fold": ROWS, "schemes": ("random_folds",)}, "none of the folds that are chosen reads them"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(fields, words):
    with pytest.raises(DataError, match=words):
        FoldPlan(**{"schemes": ("sds_folds",), "n_folds": 3} | fields)


def test_labels_that_the_data_do_not_have_and_empty_folds_are_refused_before_a_run():
    wine = load_example("wine")
    unknown = FoldPlan(schemes=("sds_folds",), n_folds=3, labels_by_fold=(("spam", 1, 1, 1),))
    with pytest.raises(DataError, match=r"wine has no class “spam”\. Its classes are “class_0”, “class_1”, “class_2”"):
        unknown.n_trials(wine)
    rows = tuple((name, 1, 1, 0) for name in wine.class_names)
    with pytest.raises(DataError, match="fold 3 would hold no sample"):
        FoldPlan(schemes=("sds_folds",), n_folds=3, labels_by_fold=rows).n_trials(wine)


def test_a_label_that_is_in_one_fold_alone_is_said():
    plan = FoldPlan(schemes=("sds_folds",), n_folds=2, labels_by_fold=(("class_0", 0, 5),))
    chosen, unseen = plan.notes(load_example("wine"))
    assert "so scores also differ because labels do" in chosen
    assert unseen.startswith("All samples of “class_0” are in fold 2")


def test_the_command_line_takes_them(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TOUCHSTONE_HOME", str(tmp_path))
    help_text = main(["plans", "folds"]) or capsys.readouterr().out
    assert "| `labels_by_fold` | `[]` | a list of `[name, number, …]`, numbers, 0 or more |" in help_text
    assert main(["run", "--data", "wine", to_json(replace(PLAN, schemes=("sds_folds",), seeds=(0,)))]) == 0
    rows = pd.read_csv(io.StringIO(capsys.readouterr().out), sep="\t")
    folds = rows["fold"].to_numpy(dtype=int)
    assert n_label(folds, load_example("wine").y)[0] == [30, 20, 9]


def test_labels_may_be_numbers_outside_of_plans():
    x, y = np.random.default_rng(0).normal(size=(12, 2)), np.repeat([7, 8], 6)
    folds = SDSFolds(n_folds=2, labels_by_fold=((8, 1, 5),)).assign(x, y)
    assert np.bincount(folds[y == 8]).tolist() == [1, 5]
    with pytest.raises(DataError, match="9 must occur"):
        SDSFolds(n_folds=2, labels_by_fold=((9, 1, 5),)).assign(x, y)


def test_rows_by_names_find_the_codes_of_their_classes():
    x = np.random.default_rng(0).normal(size=(20, 2))
    data = Dataset("mail", "tabular", x, [0, 1] * 10, ("spam", "ham"), list(map(str, range(20))))
    plan = FoldPlan(schemes=("sds_folds",), models=(), n_folds=2, labels_by_fold=(("ham", 9, 1),))
    folds = plan.folds(data, "sds_folds", 0)
    assert np.bincount(folds[data.y == 1]).tolist() == [9, 1]
