"""A run that was made under one spelling of a default is found under the other, and nothing else is taken for it."""

from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

from touchstone.core.data import Dataset
from touchstone.core.evaluate.data_set_adequacy.plan import AdequacyPlan
from touchstone.core.evaluate.guided_tests.plan import GuidedTestsPlan
from touchstone.core.evaluate.source_robustness.parametric_null import ParametricNullPlan
from touchstone.core.evaluate.test_quality.shift_plan import CovariateShiftPlan
from touchstone.core.models.model_file import ModelFile
from touchstone.core.models.networks import LinearNetwork, Mlp2048
from touchstone.core.parameters import options_of
from touchstone.core.represent import default_representation
from touchstone.core.split.folds import FOLD_SCHEMES
from touchstone.core.trials import Context, FoldPlan, MapPlan, TrialPlan, to_json
from touchstone.core.trials.defaults import Facts, same_work
from touchstone.core.workspace import LOCAL_OWNER, PLANS, SharedWorkspace, frames

TEXTS = ["good fine nice", "bad poor sad", "nice day", "sad day", "fine good", "poor bad"] * 5
SPELLINGS = {
    "folds": (FoldPlan(), {"representation": "raw"}),
    "trials": (TrialPlan(n_repeats=4), {"representation": "raw"}),
    "held out": (TrialPlan(n_repeats=4, seed=1), {"across": "class"}),
    "two defaults": (TrialPlan(n_repeats=4, seed=2), {"across": "class", "representation": "raw"}),
    "adequacy": (AdequacyPlan(sizes=(30, 0), n_repeats=4), {"representation": "raw", "across": "class"}),
    "map": (MapPlan(), {"representation": "raw"}),
    "clouds": (ParametricNullPlan(), {"representation": "raw"}),
    "largest shift": (
        FoldPlan(schemes=("max_shift",), n_folds=4),
        {"options": (("max_shift", "test_share", 0.25),)},
    ),
}


def sites(*, shared: bool) -> Dataset:
    """Rows from eight sites; each holds samples of one class, or of both."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    site = np.tile(np.arange(8), 10) if shared else np.arange(80) // 10
    return Dataset(
        "sites", "tabular", rng.normal(size=(80, 3)), y, ("a", "b"), list(map(str, range(80))), site.astype(str)
    )


def text() -> Dataset:
    return Dataset("texts", "text", TEXTS, [0, 1] * 15, ("no", "yes"), list(map(str, range(30))))


def finished(workspace, plan, fingerprint, *, state: str = "done"):
    run = workspace.create_run(LOCAL_OWNER, plan, fingerprint)
    assert workspace.acquire(LOCAL_OWNER, run.id, "test")
    workspace.store_trials(LOCAL_OWNER, run.id, {0: frames.to_bytes(pd.DataFrame({"trial": [0]}))})
    workspace.release(LOCAL_OWNER, run.id, "test", state)
    return workspace.run(LOCAL_OWNER, run.id)


@pytest.mark.parametrize("what", SPELLINGS)
@pytest.mark.parametrize("said_first", [True, False])
def test_a_run_under_either_spelling_is_found_under_the_other(workspace, wine, what, said_first):
    unsaid, values = SPELLINGS[what]
    said = replace(unsaid, **values)
    first, other = (said, unsaid) if said_first else (unsaid, said)
    workspace.add_dataset(LOCAL_OWNER, wine)
    run = finished(workspace, first, wine.fingerprint)
    assert (run.plan, run.older_method) == (to_json(first), False)  # text and key stay those that it was stored under
    assert workspace.find_run(LOCAL_OWNER, other, wine.fingerprint) == run
    assert workspace.create_run(LOCAL_OWNER, other, wine.fingerprint) == run
    assert workspace.find_run(LOCAL_OWNER, replace(other, **_another_seed(other)), wine.fingerprint) is None


def _another_seed(plan) -> dict:
    return {"seeds": (77,)} if isinstance(plan, FoldPlan) else {"seed": 77}


def test_texts_have_the_same_run_by_the_name_of_their_usual_features(workspace):
    fingerprint = workspace.add_dataset(LOCAL_OWNER, text())
    run = finished(workspace, FoldPlan(representation="tfidf_svd"), fingerprint)
    assert workspace.find_run(LOCAL_OWNER, FoldPlan(), fingerprint) == run
    assert workspace.find_run(LOCAL_OWNER, FoldPlan(representation="word_vectors"), fingerprint) is None


def test_the_usual_layer_is_the_one_that_the_model_begins_with(workspace, wine):
    workspace.add_dataset(LOCAL_OWNER, wine)
    made = [network(n_epochs=1).fit(wine.x, wine.y, seed=0).trained(wine) for network in (Mlp2048, LinearNetwork)]
    files = [ModelFile(one.to_bytes(), "m.safetensors", wine.fingerprint).to_bytes() for one in made]
    deep, flat = [workspace.keep_model(LOCAL_OWNER, file, name="m") for file in files]
    shift = finished(workspace, CovariateShiftPlan(deep), wine.fingerprint)
    assert workspace.find_run(LOCAL_OWNER, CovariateShiftPlan(deep, layer="last hidden"), wine.fingerprint) == shift
    assert workspace.find_run(LOCAL_OWNER, CovariateShiftPlan(flat, layer="inputs"), wine.fingerprint) is None
    said = GuidedTestsPlan(flat, layer="inputs", theta1=1 / 3, theta2=0.7, wcl=0.7 - 0.1)
    tests = finished(workspace, said, wine.fingerprint)
    assert workspace.find_run(LOCAL_OWNER, GuidedTestsPlan(flat, theta2=0.7), wine.fingerprint) == tests
    assert workspace.find_run(LOCAL_OWNER, GuidedTestsPlan(flat, theta2=0.8), wine.fingerprint) is None
    workspace.delete_model(LOCAL_OWNER, flat)
    assert workspace.find_run(LOCAL_OWNER, said, wine.fingerprint) == tests  # a result outlives its model
    assert workspace.find_run(LOCAL_OWNER, GuidedTestsPlan("gone", theta2=0.7), wine.fingerprint) is None


def test_of_two_runs_of_the_same_work_the_one_that_is_done_is_shown(workspace, wine, monkeypatch):
    workspace.add_dataset(LOCAL_OWNER, wine)
    said, unsaid = FoldPlan(representation="raw"), FoldPlan()
    done = finished(workspace, said, wine.fingerprint)
    with monkeypatch.context() as before:  # as an earlier version stored them: each under its own key
        before.setattr("touchstone.core.workspace.runs.is_of", lambda stored, plan, facts: stored == to_json(plan))
        begun = finished(workspace, unsaid, wine.fingerprint, state="cancelled")
    assert begun.id != done.id
    assert workspace.find_run(LOCAL_OWNER, unsaid, wine.fingerprint) == done
    workspace.delete_run(LOCAL_OWNER, done.id)
    assert workspace.find_run(LOCAL_OWNER, said, wine.fingerprint) == begun


def test_a_link_shows_its_run_under_either_spelling(workspace, wine):
    workspace.add_dataset(LOCAL_OWNER, wine)
    run = finished(workspace, FoldPlan(representation="raw"), wine.fingerprint)
    shared = SharedWorkspace(workspace, workspace.create_link(LOCAL_OWNER, run.id))
    assert shared.find_run(shared.owner, FoldPlan(), wine.fingerprint) == run
    assert shared.find_run(shared.owner, FoldPlan(n_folds=4), wine.fingerprint) is None


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("way", ["class", "all"])
def test_known_sources_are_held_out_as_they_lie_in_classes(shared, way):
    facts = Facts.of(sites(shared=shared))
    known = TrialPlan(source_finders=("known",), n_repeats=4)
    assert same_work(known, replace(known, across=way), facts) == ((way == "all") == shared)
    chosen = replace(known, epoch="validation")
    assert same_work(chosen, replace(chosen, across=way), facts) == (way == "class" and not shared)
    both = replace(known, source_finders=("kmeans", "known"))
    assert same_work(both, replace(both, across=way), facts) == (way == "class" and not shared)


def test_what_differs_is_not_taken_for_the_same(wine):
    facts = Facts.of(wine)
    assert not same_work(FoldPlan(), TrialPlan(), facts)
    assert not same_work(FoldPlan(), FoldPlan(n_components=None), facts)
    networks = TrialPlan(models=("mlp_small", "linear"))  # until they have learned, which no number of epochs says
    assert not any(same_work(networks, replace(networks, n_epochs=n), facts) for n in (20, 30))
    share = {"options": (("max_shift", "test_share", 0.2),)}
    folds = FoldPlan(schemes=("max_shift",), n_folds=4)
    assert not same_work(folds, replace(folds, **share), facts)
    nowhere = TrialPlan(source_finders=("known",))
    assert not same_work(nowhere, replace(nowhere, across="class"), facts)  # there are no sources to hold out


@pytest.mark.parametrize("what", ["folds", "held out", "largest shift", "clouds"])
def test_both_spellings_give_the_same_rows(wine, what):
    unsaid, values = SPELLINGS[what]
    rows = [plan.run_trial(wine, 1, context=Context()) for plan in (unsaid, replace(unsaid, **values))]
    pd.testing.assert_frame_equal(*(each.drop(columns="seconds") for each in rows))


NO_ONE_VALUE = {
    "n_epochs": "until the loss falls no more",
    "number": "no scheme reads one",
    "n_train": "all samples; a limit",
    "n_samples": "all samples; a limit",
    "r": "a median that is measured",
}
"""What None is where it stands for nothing else that could be written in its place."""


def test_every_none_says_what_it_means_or_stands_for_nothing_else():
    of_schemes = [field for scheme in FOLD_SCHEMES.values() for field in options_of(scheme).values()]
    asked = [*of_schemes, *(field for plan in PLANS.values() for field in fields(plan) if "asks" in field.metadata)]
    silent = {field.name for field in asked if field.default is None and field.metadata["means"] is None}
    assert silent == set(NO_ONE_VALUE)


def test_what_is_usual_stays_what_stored_runs_meant():
    """Runs are stored without a word of it: a kind's usual features may only change with the version of the methods."""
    assert [default_representation(kind) for kind in ("image", "tabular", "text")] == ["raw", "raw", "tfidf_svd"]
