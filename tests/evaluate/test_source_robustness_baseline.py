"""Is a model that is worth nothing called that, before anything is said of what it keeps?"""

import numpy as np
import pandas as pd
import pytest

from tests.evaluate.populations import frame, trial_rows
from tests.worlds.source_robustness import Sources
from touchstone.core.data import Dataset
from touchstone.core.evaluate.source_robustness import expected_accuracy_intervals, source_verdict
from touchstone.core.report.source_robustness import key_numbers
from touchstone.core.trials import Context, TrialPlan

PATIENTS = Sources(2, 8, shared=False, size=6, first_class=3.0, source_sd=1.5, apart=0.5)
"""Eight subjects of either class, three quarters of the recordings of one class, hardly anything to learn."""


def test_a_few_subjects_with_three_quarters_of_one_class_show_no_skill():
    intervals = expected_accuracy_intervals(PATIENTS.trials(1, 1))
    said = source_verdict(intervals, names={"model 0": "SVM"})
    assert said.headline.startswith("SVM is not significantly better than the majority-class baseline on held-out")
    assert "against 75.0 %" in said.headline
    assert "keeps" not in said.headline
    assert said.claims[0].kind == "source_robustness.below_baseline"
    assert said.advice == "Next: find a model that beats the majority-class baseline."


def test_a_machine_that_answers_one_class_throughout_is_called_that_first():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [90, 30])
    subjects = [f"subject {number}" for number in np.repeat(np.arange(20), 6)]
    x, ids = rng.standard_normal((120, 20)), [str(row) for row in range(120)]
    voices = Dataset("voices", "tabular", x, y, ("ill", "well"), ids, subjects)
    plan = TrialPlan(models=("svm",), source_finders=("known",), n_repeats=5)
    rows = [plan.run_trial(voices, number, context=Context()) for number in range(plan.n_trials(voices))]
    said = source_verdict(expected_accuracy_intervals(pd.concat(rows, ignore_index=True)), names={"svm": "SVM"})
    assert said.headline.startswith("SVM always predicts “ill”; it ignores its input.")
    assert "rho" not in said.text


def test_a_model_that_learned_something_is_not_held_up():
    learnable = Sources(2, 12, shared=False, size=8, first_class=3.0, apart=1.8)
    intervals = expected_accuracy_intervals(learnable.trials(1, 1))
    said = source_verdict(intervals)
    assert "majority" not in said.headline
    assert intervals.baselines[0].claim.decision == "below"


def test_the_baseline_is_of_the_very_test_parts_by_hand():
    trials = frame(
        [
            *trial_rows({("a", "0"): (6, 10), ("b", "5"): (3, 4)}, repeat=0),
            *trial_rows({("a", "1"): (8, 10), ("b", "6"): (0, 6)}, repeat=1),
            *trial_rows({("a", "0"): (2, 2), ("b", "5"): (1, 2)}, scheme="source_inclusive"),
        ]
    )
    intervals = expected_accuracy_intervals(trials)
    (baseline,) = intervals.baselines
    assert (baseline.majority, baseline.chance, baseline.inclusive) == ("a", 0.5, 0.5)
    assert baseline.exclusive == pytest.approx((10 / 14 + 10 / 16) / 2)
    assert baseline.above.value == pytest.approx(intervals.overall[0].exclusive.value - baseline.exclusive)
    assert [metric.baseline for metric in key_numbers(intervals.overall[0], intervals)] == [
        "",
        "majority-class baseline 67.0 %, chance 50.0 %",
        "majority-class baseline 50.0 %, chance 50.0 %",
        "",
    ]
