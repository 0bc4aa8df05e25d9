"""Trials whose networks are trained together have the rows of trials run one after another."""

import numpy as np
import pandas as pd
import pytest

from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.models import MODELS, Cancelled
from touchstone.core.split.scheme import Split
from touchstone.core.trials import Context, TrialPlan
from touchstone.core.trials.epochs import EPOCHS, predict_at, untrained
from touchstone.core.trials.trial_plan import predict_together, trained_together


@pytest.fixture(scope="module")
def wine() -> Dataset:
    return load_example("wine")


def splits_of(dataset: Dataset, n: int) -> list[Split]:
    rng = np.random.default_rng(0)
    orders = [rng.permutation(dataset.n_samples) for _ in range(n)]
    return [Split(order[40 + 10 * i :], order[:30]) for i, order in enumerate(orders)]


def test_networks_without_dropout_predict_what_they_do_alone_at_every_choice_of_epoch(wine):
    model, splits, seeds = untrained(MODELS["linear"], 4), splits_of(wine, 5), [3, 1, 4, 1, 5]
    validations = [split.train[:20] for split in splits]
    together = predict_together(
        *(tuple(EPOCHS), model, wine, splits),
        seeds=seeds,
        validations=validations,
        should_stop=lambda: False,
        at_once=2,
    )
    assert len(together) == 5
    for one, split, seed, validation in zip(together, splits, seeds, validations, strict=True):
        alone = predict_at(
            *(tuple(EPOCHS), untrained(MODELS["linear"], 4), wine, split),
            seed=seed,
            validation=validation,
            should_stop=lambda: False,
        )
        assert one.predicted.keys() == alone.predicted.keys()
        for epoch in EPOCHS:
            assert (one.predicted[epoch] == alone.predicted[epoch]).all(), epoch
        assert one.seconds > 0
        assert one.training == alone.training


@pytest.mark.parametrize("epoch", EPOCHS)
def test_rows_are_those_of_trials_run_one_after_another(wine, epoch):
    plan = TrialPlan(models=("logistic", "linear"), n_repeats=2, n_clusterings=1, epoch=epoch, n_epochs=3)
    indices = [5, 0, 3, 2, 9]
    together = plan.run_trials(wine, indices, context=Context(), together=True)
    for rows, index in zip(together, indices, strict=True):
        alone = plan.run_trial(wine, index, context=Context())
        pd.testing.assert_frame_equal(rows.drop(columns="seconds"), alone.drop(columns="seconds"))
        assert (rows["seconds"] > 0).all()


def test_without_a_gpu_trials_go_one_after_another_unless_forced(wine, monkeypatch):
    asked = []

    def noted(*given, **options):
        asked.append(len(options["seeds"]))
        return predict_together(*given, **options, device="cpu")

    monkeypatch.setattr("touchstone.core.trials.trial_plan.predict_together", noted)
    plan = TrialPlan(models=("linear", "logistic"), n_repeats=2, schemes=("random",), n_epochs=1)
    for gpu, groups in ((False, []), (True, [2])):
        monkeypatch.setattr("torch.cuda.is_available", lambda gpu=gpu: gpu)
        rows = plan.run_trials(wine, range(4), context=Context())
        assert [one["model"].unique().tolist() for one in rows] == 2 * [["linear"], ["logistic"]]
        assert asked == groups
    texts = Dataset("t", "text", np.array(["a", "b"], dtype=object), np.array([0, 1]), ("x", "y"), ["1", "2"])
    assert trained_together(MODELS["linear"](), wine)
    assert not trained_together(MODELS["linear"](), texts)
    assert not trained_together(MODELS["mlp_small"](), wine)


def test_a_stop_is_heard_and_a_draw_that_cannot_be_made_is_said(wine):
    plan = TrialPlan(models=("linear",), n_repeats=1, schemes=("source_exclusive",))
    with pytest.raises(Cancelled):
        plan.run_trials(wine, [0], context=Context(should_stop=lambda: True), together=True)
    few = TrialPlan(models=("linear",), n_repeats=1, n_sources=2, schemes=("source_exclusive",), epoch="validation")
    with pytest.raises(DataError, match="choose an epoch"):
        few.run_trials(wine, [0], context=Context(), together=True)
