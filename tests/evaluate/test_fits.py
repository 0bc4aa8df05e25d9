"""Does what rests on networks that did not learn what they could say so, and conclude nothing from it?"""

import numpy as np
import pandas as pd
import pytest

from touchstone.core.data import load_example
from touchstone.core.evaluate.data_set_adequacy.adequacy import adequacy_of
from touchstone.core.evaluate.data_set_adequacy.plan import AdequacyPlan
from touchstone.core.evaluate.data_set_adequacy.verdict import adequacy_verdict, kind, sentence
from touchstone.core.evaluate.fits import Fits, fits_of
from touchstone.core.evaluate.source_robustness import expected_accuracy_intervals
from touchstone.core.evaluate.source_robustness.verdict import source_verdict
from touchstone.core.trials import Context, TrialPlan
from touchstone.core.trials.fold_plan import FoldPlan

NAMES = {"mlp_small": "Small neural network"}


def rows_of(plan, dataset) -> pd.DataFrame:
    trials = [plan.run_trial(dataset, trial, context=Context()) for trial in range(plan.n_trials(dataset))]
    return pd.concat(trials, ignore_index=True)


def adequacy(n_epochs: int | None):
    digits = load_example("digits")
    plan = AdequacyPlan(models=("mlp_small",), n_repeats=4, n_clusterings=2, sizes=(100, 300, 0), n_epochs=n_epochs)
    n_per_class = dict(zip(digits.class_names, digits.n_per_class.tolist(), strict=True))
    return adequacy_of(rows_of(plan, digits), n_per_class=n_per_class)


def test_a_curve_of_networks_that_did_not_learn_shows_no_gain():
    """Twelve updates at 100 samples are not a want of samples."""
    found = adequacy(6)
    curve = found.overall[0]
    assert curve.untrained is curve.points[0]
    assert all(kind(each) in ("unknown", "gap") for each in (*found.curves, *found.by_metric))
    assert np.isnan(curve.outlook.next_gain.value)
    of_class = found.classes_of(curve)[0]
    assert "trainings with 100 samples" in sentence(of_class), "of all classes, of which this one has ten"
    verdict = adequacy_verdict(found, names=NAMES)
    assert "All 8 trainings with 100 samples ended while the loss still fell." in verdict.headline
    assert verdict.advice == "Next: train longer; leave the epochs of networks as usual."


def test_a_curve_of_networks_that_learned_shows_what_it_shows():
    found = adequacy(None)
    assert all(curve.shows_gain for curve in found.overall)
    assert "training" not in adequacy_verdict(found, names=NAMES).headline
    assert not np.isnan(found.overall[0].outlook.next_gain.value)


@pytest.mark.parametrize("n_epochs", [2, None])
def test_robustness_names_networks_that_did_not_learn(n_epochs):
    plan = TrialPlan(models=("mlp_small", "logistic"), n_repeats=4, n_clusterings=2, n_epochs=n_epochs)
    rows = rows_of(plan, load_example("wine"))
    intervals = expected_accuracy_intervals(rows)
    network, other = intervals.overall
    verdict = source_verdict(intervals, row=network, names=NAMES)
    is_short = n_epochs is not None
    assert verdict.headline.startswith("All 16 trainings of Small neural network ended") == is_short
    assert verdict.advice.startswith("Next: train longer") == is_short
    assert "training" not in source_verdict(intervals, row=other).headline


def test_few_that_did_not_learn_are_named_and_no_more():
    some = Fits(40, n_not_learned=1, n_at_ceiling=2)
    assert some.are_finished
    assert some.advice == ""
    assert some.sentence("of X") == (
        "Of 40 trainings of X, 2 still improved at the most updates allowed and 1 learned nothing."
    )
    assert Fits(40).sentence("of X") == Fits(0).sentence("of X") == ""
    assert Fits(1, n_not_learned=1).sentence("of X") == "The training of X learned nothing."


def test_a_run_that_did_not_note_it_is_not_judged():
    assert fits_of(pd.DataFrame({"label": [None], "source": [None], "model": ["cnn_1"]}), ["model"]) == {}


def test_every_row_of_a_trial_says_how_its_network_was_trained():
    wine = load_example("wine")
    for plan in (
        TrialPlan(models=("mlp_small", "svm"), n_repeats=1, n_clusterings=1),
        FoldPlan(models=("mlp_small", "svm"), n_folds=2, schemes=("random_folds",)),
    ):
        rows = rows_of(plan, wine)
        mine = rows.loc[(rows["model"] == "mlp_small").to_numpy(dtype=bool)]
        assert (mine["n_updates"] >= 600).all()
        assert mine["stopped"].isin(["learned", "plateau", "ceiling"]).all()
        assert mine["train_accuracy"].between(0.5, 1).all()
        others = rows.loc[(rows["model"] != "mlp_small").fillna(True).to_numpy(dtype=bool)]
        assert others[["n_updates", "stopped", "train_accuracy"]].isna().all(axis=None)
