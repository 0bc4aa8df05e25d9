"""From Python the same numbers as from the app: arrays in, a verdict with its figures out, refusals in words."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import core
from core import check, compare, dataset, public
from core.data import DataError, Predictions, load_example
from core.evaluate.matched_subsets import compare_pairs, matched_verdict
from core.evaluate.source_robustness import expected_accuracy_intervals
from core.figures.theme import alt_text
from core.public import RECIPES
from core.trials import Context, TrialPlan

QUICK = {
    "source_robustness": {"models": ("logistic",), "n_repeats": 3},
    "cluster_folds": {"schemes": ("random_folds",), "seeds": (0,), "n_folds": 3},
    "data_set_adequacy": {"models": ("logistic",), "n_repeats": 3, "sizes": (60, 0)},
}


@pytest.fixture(scope="module")
def wine():
    return load_example("wine")


@pytest.mark.parametrize("question", RECIPES)
def test_every_recipe_can_be_asked_and_drawn(question, wine):
    result = check(question, wine, **QUICK[question])
    assert result.verdict.headline
    assert len(result.rows)
    for figure in result.figures:
        assert alt_text(figure.draw(dark=False))


def test_the_numbers_are_those_of_the_trials_that_the_app_stores(wine):
    result = check("source_robustness", wine, **QUICK["source_robustness"])
    plan = TrialPlan(**QUICK["source_robustness"])
    trials = [plan.run_trial(wine, trial, context=Context()) for trial in range(plan.n_trials(wine))]
    [row] = expected_accuracy_intervals(pd.concat(trials, ignore_index=True)).overall
    table = result.table().set_index("number")
    assert table.loc["source_robustness.exclusive[logistic, kmeans]", "value"] == row.exclusive.value
    ends = table.loc["source_robustness.inclusive[logistic, kmeans]", ["lower", "upper"]]
    np.testing.assert_array_equal(ends.astype(float), [*dataclasses.astuple(row.inclusive.over_sources)])
    assert np.isfinite(ends.astype(float)).all()


@pytest.mark.parametrize(
    ("x", "kind"),
    [
        (np.zeros((4, 3)), "tabular"),
        (np.full((4, 5, 5), 255), "image"),
        (np.zeros((4, 5, 5, 1)), "image"),
        (list("abcd"), "text"),
    ],
)
def test_arrays_become_data_of_their_kind(x, kind):
    made = dataset(x, ["yes", "no", "yes", "no"], sources=[1, 1, 2, 2])
    assert made.kind == kind
    assert made.class_names == ("no", "yes")
    assert made.y.tolist() == [1, 0, 1, 0]
    assert made.sources.tolist() == ["1", "1", "2", "2"]
    assert kind != "image" or made.x.max() <= 1


def test_a_comparison_is_the_pages():
    rng = np.random.default_rng(0)
    truth, ids = rng.integers(0, 2, 400), [str(row) for row in range(400)]
    sure = rng.uniform(0.5, 1, 400)
    old, new = (
        Predictions(ids, truth, np.where(rng.random(400) < miss, 1 - truth, truth), ["a", "b"], confidence=sure)
        for miss in (0.05, 0.25)
    )
    result = compare(old, new, n_resamples=100)
    page = compare_pairs({"model": old}, {"model": new}, rng=np.random.default_rng(0), n_resamples=100)
    assert result.verdict == matched_verdict(page.rows[0])
    assert alt_text(result.figures[0].draw(dark=True))


def test_what_cannot_be_asked_is_refused_in_words(wine):
    with pytest.raises(DataError, match="asks no question 'average_case'"):
        check("average_case", wine)
    with pytest.raises(DataError, match="core plans trials lists the settings"):
        check("source_robustness", wine, repeats=3)
    with pytest.raises(DataError):
        check("source_robustness", wine, n_repeats=0)


def test_results_do_not_change(wine):
    result = check("cluster_folds", wine, **QUICK["cluster_folds"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.rows = None


def test_importing_core_alone_stays_light():
    assert set(core.PUBLIC) <= set(dir(public))
    with pytest.raises(AttributeError):
        core.nothing  # noqa: B018
