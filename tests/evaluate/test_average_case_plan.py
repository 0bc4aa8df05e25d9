"""A plan of average-case robustness: which trials there are, what their rows say, and what is refused."""

import json
from dataclasses import fields, replace
from functools import lru_cache

import numpy as np
import pandas as pd
import pytest
import torch

from tests.split.marked import marked
from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.evaluate.average_case import MonteCarlo, estimate
from touchstone.core.evaluate.average_case import plan as plan_module
from touchstone.core.evaluate.average_case.noise import CutOff
from touchstone.core.evaluate.average_case.plan import COLUMNS, AverageCasePlan
from touchstone.core.evaluate.average_case.robustness import evaluate_robustness
from touchstone.core.models import MODELS, Cancelled
from touchstone.core.models.model_file import ModelFile, model_fingerprint
from touchstone.core.trials import Context, Plan, from_json, to_json
from touchstone.core.trials.training_plan import TrainingPlan
from touchstone.core.workspace import frames


@lru_cache(maxsize=4)
def stored(name: str) -> tuple[Dataset, bytes]:
    """A linear model of an example, trained on the training part of the usual split, as the workspace keeps it."""
    data = load_example(name)
    train = TrainingPlan("linear").split(data).train
    model = MODELS["linear"](n_epochs=30).fit(data.x[train], data.y[train], seed=0, n_classes=data.n_classes)
    return data, ModelFile(model.trained(data).to_bytes(), "linear.safetensors", data.fingerprint).to_bytes()


def planned(name: str = "digits", **fields) -> tuple[AverageCasePlan, Dataset, Context]:
    data, model = stored(name)
    options = {"sigmas": (0.1, 0.3), "n_samples": 60, "n_audit": 20, "audit_draws": 400, "audit_half_width": None}
    plan = AverageCasePlan(model_fingerprint(model), **options | fields)
    return plan, data, Context(model={plan.model: model}.__getitem__)


def rows_of(plan: AverageCasePlan, data: Dataset, context: Context) -> pd.DataFrame:
    """All rows, having gone where a run's rows go."""
    found = [plan.run_trial(data, i, context=context) for i in range(plan.n_trials(data))]
    return frames.from_bytes([frames.to_bytes(rows) for rows in found])


def test_json_is_canonical_and_comes_back():
    plan = AverageCasePlan("f1", sigmas=(1.0, 2.0), audit_half_width=None)
    assert isinstance(plan, Plan)
    assert from_json(to_json(plan), {"average_case": AverageCasePlan}) == plan
    assert to_json(plan) == to_json(replace(plan))
    later = {"options", "class_draws", "half_draws", "cut_off", "test_set", "paper_copies", "directions"}
    always = {field.name for field in fields(plan)} - later
    assert set(json.loads(to_json(plan))) == always | {"kind"}
    own = replace(plan, test_set="file")
    assert from_json(to_json(own), {"average_case": AverageCasePlan}) == own != plan
    assert plan.stored_models() == ("f1",)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"model": ""}, "fingerprint of a stored model"),
        ({"sigmas": ()}, "Sigmas must be numbers above 0"),
        ({"sigmas": (0.0,)}, "numbers above 0"),
        ({"sigmas": (0.2, 0.1)}, "must rise"),
        ({"sigmas": (0.1, 0.1)}, "must rise"),
        ({"estimators": ("magic",)}, "'magic' cannot be chosen.*monte_carlo"),
        ({"estimators": ("softmax",)}, "Estimator: choose at least one besides softmax"),
        ({"estimators": ("mmse", "mmse")}, "twice"),
        ({"noise": "salt"}, "Noise: .*gaussian, uniform, laplace"),
        ({"shape": "round"}, "Size of the noise: .*isotropic"),
        ({"rows": "train"}, "test, all"),
        ({"n_copies": 5}, "even number for antithetic"),
        ({"n_copies": 0}, r"Noisy copies \(MMSE\) must"),
        ({"n_samples": 0}, "Samples must"),
        ({"n_audit": -1}, "Audited must"),
        ({"audit_half_width": 2.0}, "half-width"),
        ({"temperature": 0.0}, "temperature"),
        ({"test_share": 1.0}, "test_share"),
        ({"test_set": "mine"}, "test_set: 'mine' cannot be chosen. Choose from drawn, file"),
        ({"seed": -1}, "Seed must"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(fields, words):
    with pytest.raises(DataError, match=words):
        AverageCasePlan(**{"model": "f1"} | fields)


def test_the_judged_samples_are_the_test_part_of_the_models_training():
    plan, data, _ = planned(n_samples=None)
    assert set(plan.order(data)) == set(TrainingPlan("cnn_1", n_epochs=1).split(data).test)
    assert len(set(replace(plan, rows="all").order(data))) == data.n_samples
    assert set(replace(plan, split_seed=1).order(data)) == set(TrainingPlan("linear", seed=1).split(data).test)


def test_a_test_set_that_the_file_marks_is_what_is_judged():
    plan, data, _ = planned(n_samples=None, test_set="file")
    data = marked(data)
    assert set(plan.order(data)) == set(np.flatnonzero(data.part == "test"))
    with pytest.raises(DataError, match="does not mark which samples"):
        plan.order(load_example("digits"))


def test_fewer_samples_are_the_first_of_more_with_classes_in_proportion():
    plan, data, _ = planned(rows="all", n_samples=None)
    every, few = plan.order(data), replace(plan, n_samples=100).order(data)
    assert (few == every[:100]).all()
    counts = np.bincount(data.y[few], minlength=10)
    assert np.abs(counts - 100 * data.n_per_class / data.n_samples).max() < 2
    assert not (replace(plan, seed=1).order(data)[:100] == few).all()


def test_trials_are_chunks_at_all_sigmas_and_then_the_audit():
    plan, data, _ = planned()
    trials = plan.trials(data)
    assert plan.n_trials(data) == len(trials) == 3 + 6 + 4 + 4
    assert [(trial.part, trial.sigmas) for trial in trials[:3]] == [("samples", (0.1, 0.3))] * 3
    assert {trial.stop for trial in trials if trial.part in ("audit", "convergence")} == {5, 10, 15, 20}
    assert {trial.sigmas for trial in trials if trial.part == "half"} == {(0.025, 1.2)}
    assert replace(plan, n_audit=0).n_trials(data) == 3 + 6


def test_rows_say_everything_and_come_back_from_storage():
    plan, data, context = planned()
    rows = rows_of(plan, data, context)
    assert list(rows) == list(COLUMNS)
    main = rows[rows["part"] == "samples"]
    assert sorted(main["row"].unique()) == sorted(plan.order(data))
    assert len(main) == 60 * 2 * 2
    assert (rows["label"].to_numpy() == data.y[rows["row"].to_numpy()]).all()
    found = evaluate_robustness(rows, class_names=data.class_names)
    assert found.estimator == "mmse"
    assert set(found.audit.names) == {
        *("taylor", "taylor_mvs", "mmse", "mmse_mvs", "mmse_scaled", "mmse_plain", "gaussian_logits", "softmax")
    }
    for sigma in plan.sigmas:  # the model is linear: the analytic answer is right, and Monte-Carlo says so
        mmse = found.audit.of("mmse", sigma)
        assert mmse.error.value < 3 * mmse.by_luck + 0.003
        assert found.audit.of("taylor", sigma).bias.value == pytest.approx(mmse.bias.value, abs=1e-3)
    assert found.at(0.3).mean.value < found.at(0.1).mean.value
    assert {one.n_copies for one in found.audit.convergence if one.estimator == "mmse_plain"} == {1, 5, 12, 24}
    predicted = found.samples_at(0.1)
    assert (predicted["predicted"] == predicted["label"]).mean() > 0.8


def test_the_papers_number_of_copies_is_audited_where_asked_for():
    plan, data, context = planned(paper_copies=40, n_samples=20, n_audit=10, sigmas=(0.3,))
    last = plan.n_trials(data) - 1
    assert plan.trials(data)[last].part == "convergence"
    rows = plan.run_trial(data, last, context=context)
    assert set(rows.loc[rows["estimator"] == "mmse_plain", "n_draws"]) == {1, 5, 12, 24, 40}
    assert 40 not in set(rows.loc[rows["estimator"] == "mmse", "n_draws"])


def test_the_same_plan_gives_the_same_rows_whatever_ran_before():
    plan, data, context = planned(noise="uniform")
    last = plan.n_trials(data) - 1
    one, other = (plan.run_trial(data, last, context=context).drop(columns="seconds") for _ in range(2))
    pd.testing.assert_frame_equal(one, other)
    first = plan.run_trial(data, 0, context=context)
    assert not first["p_robust"].isna().any()


@pytest.mark.parametrize("shape", ["per_feature", "covariance"])
def test_noise_of_tables_can_go_by_the_columns(shape):
    plan, data, context = planned("wine", shape=shape, sigmas=(0.5,), n_audit=10)
    found = evaluate_robustness(rows_of(plan, data, context), class_names=data.class_names)
    at = found.at(0.5)
    assert 0.5 < at.mean.value < 1.0
    assert found.audit.of("mmse", 0.5).error.value < 0.05
    same = replace(plan, shape="isotropic")
    flat = evaluate_robustness(same.run_trial(data, 0, context=context), class_names=data.class_names)
    assert abs(flat.at(0.5).mean.value - at.mean.value) > 0.01


def test_a_covariance_of_very_many_features_is_refused_before_it_starts():
    x = np.zeros((4, 40, 40, 1), dtype=np.float32)
    large = Dataset("large", "image", x, [0, 1, 0, 1], ("a", "b"), list("abcd"), scale=1.0)
    with pytest.raises(DataError, match="at most 1024 features"):
        AverageCasePlan("f1", rows="all", shape="covariance").n_trials(large)


def test_a_trial_that_is_to_stop_stops():
    plan, data, context = planned()
    with pytest.raises(Cancelled):
        plan.run_trial(data, 0, context=replace(context, should_stop=lambda: True))


def test_a_trial_reports_how_far_it_is():
    plan, data, context = planned()
    heard = []
    plan.run_trial(data, 0, context=replace(context, report=lambda *news: heard.append(news)))
    assert heard == [(i, 6, "estimate") for i in range(1, 7)]  # two estimators and counting, at two sigmas


def test_a_failed_trial_is_one_row_without_figures():
    plan, data, _ = planned()
    row = plan.failed_trial(data, 0)
    assert row["status"].tolist() == ["failed"]
    assert row["sigma"].tolist() == [0.3]
    assert row["p_robust"].isna().all()
    frames.from_bytes([frames.to_bytes(row), frames.to_bytes(row)])


def test_a_model_without_gradients_is_audited_by_what_needs_none(monkeypatch):
    class Blind:
        class_names, has_gradients, takes_texts = tuple("ab"), False, False

        def logits(self, x):
            return x @ x.new_tensor([[1.0, -1.0], [0.5, 0.5]]).T

        def inputs(self, x):
            return torch.tensor(x)

    monkeypatch.setattr(plan_module, "read_stored", lambda content, dataset: Blind())
    x = np.random.default_rng(0).normal(size=(40, 2))
    data = Dataset("plane", "tabular", x, np.arange(40) % 2, ("a", "b"), [str(i) for i in range(40)])
    plan = AverageCasePlan("blind", sigmas=(0.5,), estimators=("gaussian_logits", "softmax"), rows="all", n_audit=10)
    rows = rows_of(plan, data, Context(model={"blind": b""}.__getitem__))
    found = evaluate_robustness(rows, class_names=data.class_names)
    assert set(found.audit.names) == {"gaussian_logits", "softmax"}
    assert found.audit.convergence == ()
    # 64 independent pairs tell a standard deviation to 1 / sqrt(2 * 64); z phi(z) is .242 at most.
    assert found.audit.of("gaussian_logits", 0.5).error.value < 3 * 0.242 / np.sqrt(2 * 64)
    assert found.estimator == "gaussian_logits"


def test_of_very_many_classes_the_sigmoids_are_not_audited_and_a_note_says_so(monkeypatch):
    class Many:
        class_names, has_gradients, takes_texts = tuple(str(code) for code in range(201)), True, False

        def logits(self, x):
            return x @ x.new_tensor(np.random.default_rng(0).normal(size=(2, 201)))

        def inputs(self, x):
            return torch.tensor(x)

    monkeypatch.setattr(plan_module, "read_stored", lambda content, dataset: Many())
    x = np.random.default_rng(0).normal(size=(402, 2))
    data = Dataset("plane", "tabular", x, np.arange(402) % 201, Many.class_names, [str(i) for i in range(402)])
    plan = AverageCasePlan("many", sigmas=(0.5,), rows="all", n_samples=10, n_audit=10, audit_draws=50)
    audit = [trial.part for trial in plan.trials(data)].index("audit")
    rows = plan.run_trial(data, audit, context=Context(model={"many": b""}.__getitem__))
    assert set(rows["estimator"]) == {"monte_carlo", "taylor", "mmse", "mmse_plain", "gaussian_logits", "softmax"}
    assert any("sigmoids are not audited" in note for note in plan.notes(data))
    assert not any("sigmoids" in note for note in replace(plan, n_audit=0).notes(data))


def test_a_model_that_is_not_there_is_named():
    plan, data, _ = planned()
    with pytest.raises(DataError, match=plan.model[:12]):
        plan.run_trial(data, 0, context=Context())


def test_noise_that_is_cut_off_is_that_of_the_pictures():
    """A model that counts how far pixels lie beyond white: none does, where noise is cut off there."""

    class Beyond:
        has_gradients = True

        def logits(self, x):
            above = (x.flatten(1) - 1).clamp_min(0).sum(dim=1)
            return torch.stack([torch.full_like(above, 0.01), above], dim=1)

    x, options = torch.full((20, 1, 4, 4), 0.9), {"sigma": 0.3, "estimator": MonteCarlo(n_samples=64)}
    kept = estimate(Beyond(), x, generator=torch.Generator().manual_seed(0), **options).p_robust
    cut = estimate(CutOff(Beyond()), x, generator=torch.Generator().manual_seed(0), **options).p_robust
    assert kept.max() < 0.5
    assert cut.min() == 1.0


def test_only_images_can_have_their_noise_cut_off_and_a_run_does_so():
    plan, data, _ = planned("wine", cut_off=True)
    with pytest.raises(DataError, match="Only images can be clipped"):
        plan.n_trials(data)
    plan, data, context = planned("digits", cut_off=True, n_samples=20, n_audit=0)
    rows = rows_of(plan, data, context)
    assert set(rows["status"]) == {"ok"}
    kept = rows_of(replace(plan, cut_off=False), data, context)
    assert (
        rows.loc[rows["part"] == "counted", "p_robust"].mean() != kept.loc[kept["part"] == "counted", "p_robust"].mean()
    )
