"""Are metrics on held-out sources what scikit-learn says of each draw, and their errors those of an accuracy?"""

from dataclasses import fields, replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    jaccard_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
)

from tests.evaluate.populations import frame, trial_rows
from tests.worlds.source_robustness import Sources, splits_of
from touchstone.core.data import DataError, Dataset
from touchstone.core.evaluate.metric_functions import Counts as CountsByClass
from touchstone.core.evaluate.metrics import METRICS
from touchstone.core.evaluate.source_robustness import expected_accuracy_intervals, source_verdict
from touchstone.core.evaluate.source_robustness.by_metric import metrics_on_sources
from touchstone.core.evaluate.source_robustness.counts import groups
from touchstone.core.evaluate.source_robustness.estimate import (
    influences_of,
    measure,
    measure_metric,
    taken_for,
    with_one_source,
)
from touchstone.core.evaluate.wording import Verdict
from touchstone.core.report.source_robustness import answer
from touchstone.core.trials.trial_plan import EXCLUSIVE, INCLUSIVE

TWO = Sources(2, 8, shared=False, size=12, source_sd=0.8, apart=2.0)
MANY = Sources(4, 8, shared=False, size=20, apart=2.5, source_sd=0.6)


def scores_of(right: np.ndarray, true: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Samples of two classes of which so many are right, as labels."""
    y = np.repeat([0, 1], true)
    said = np.concatenate(
        [np.where(np.arange(n) < k, label, 1 - label) for label, (k, n) in enumerate(zip(right, true, strict=True))]
    )
    return y, said


@pytest.mark.parametrize("trials", [TWO.trials(3, 3), MANY.trials(4, 4)])
def test_by_accuracy_they_are_the_very_same_errors(trials):
    """Accuracy by its function of counts: every part of the estimate is that of the accuracy itself."""
    for group in groups(trials):
        for schemes in group.models.values():
            for scheme, counts in schemes.items():
                every = np.ones(len(group.layout.labels), dtype=bool)
                own = measure(counts, group.layout, scheme, every)
                by_metric = measure_metric(
                    counts, group.layout, scheme, lambda of: METRICS["accuracy"].of_counts(of, 0)
                )
                for name in ("value", "accuracy", "influence", "in_turn", "n_seen"):
                    np.testing.assert_allclose(getattr(by_metric, name), getattr(own, name), atol=1e-12)


def test_values_are_scikit_learns_mean_over_draws():
    trials = TWO.trials(5, 5)
    known = {each.metric: each for each in metrics_on_sources(trials)}
    (group,) = groups(trials)
    (schemes,) = group.models.values()
    counts = schemes[EXCLUSIVE]
    positive = group.layout.labels.index(known["recall"].positive)
    functions = {
        "balanced_accuracy": balanced_accuracy_score,
        "f1_macro": lambda y, said: f1_score(y, said, average="macro"),
        "f1": lambda y, said: f1_score(y, said, pos_label=positive),
        "recall": lambda y, said: recall_score(y, said, pos_label=positive),
        "precision": lambda y, said: precision_score(y, said, pos_label=positive, zero_division=np.nan),
    }
    for name, function in functions.items():
        draws = [
            function(*scores_of(right.astype(int), true.astype(int)))
            for right, true in zip(counts.correct, counts.n, strict=True)
            if true.min() > 0
        ]
        assert known[name].exclusive.value == pytest.approx(np.nanmean(draws)), name


def answers_of(world: Sources, seed: int, scheme: str) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The source, the class and the answer of every tested sample of each draw, as `Sources.trials` fits them."""
    x, y, sources = world.data(seed)
    z, target = np.column_stack([np.ones(len(y)), x[:, 0]]), np.eye(world.n_classes)[y]
    ridge = world.penalty * np.diag([1e-6] + [1.0] * (z.shape[1] - 1))
    draws = []
    for train, test in splits_of(world.n_repeats, seed, y, sources)[scheme]:
        weights = np.linalg.solve(z[train].T @ z[train] + ridge, z[train].T @ target[train])
        draws.append((sources[test], y[test], (z[test] @ weights).argmax(axis=1)))
    return draws


OF_ALL_CLASSES = {
    "balanced_accuracy": balanced_accuracy_score,
    "f1_macro": partial(f1_score, average="macro"),
    "f1_weighted": partial(f1_score, average="weighted"),
    "precision_macro": partial(precision_score, average="macro", zero_division=np.nan),
    "jaccard_macro": partial(jaccard_score, average="macro"),
    "matthews_corrcoef": matthews_corrcoef,
    "cohen_kappa": cohen_kappa_score,
}


def test_of_more_classes_those_of_all_classes_are_scikit_learns_mean_over_draws():
    known = {each.metric: each for each in metrics_on_sources(MANY.trials(1, 1))}
    assert {*OF_ALL_CLASSES, "recall_macro", "precision_weighted", "jaccard_weighted", "jaccard_micro"} == {*known}
    assert all(each.positive is None for each in known.values())
    row = expected_accuracy_intervals(MANY.trials(1, 1)).overall[0]
    assert known["balanced_accuracy"].exclusive.value == pytest.approx(row.balanced_accuracy[EXCLUSIVE])
    for scheme, end in ((EXCLUSIVE, "exclusive"), (INCLUSIVE, "inclusive")):
        draws = answers_of(MANY, 1, scheme)
        for name, function in OF_ALL_CLASSES.items():
            expected = np.mean([function(y, said) for _, y, said in draws])
            assert getattr(known[name], end).value == pytest.approx(expected, abs=1e-9), name


@pytest.mark.parametrize("world", [MANY, replace(MANY, shared=True), replace(MANY, source_sd=1.5)])
def test_their_errors_are_those_of_knowing_what_each_source_was_taken_for(world):
    """Trials know that of classes. What is known of each source changes an error by a twentieth; of precision, more."""
    (group,) = groups(world.trials(2, 2))
    ((counts),) = [schemes[EXCLUSIVE] for schemes in group.models.values()]
    units, k = [int(name) for name in group.layout.unit_name], world.n_classes
    table, times = np.zeros((max(units) + 1, k, k)), np.zeros(max(units) + 1)
    draws = answers_of(world, 2, EXCLUSIVE)
    for source, y, said in draws:
        np.add.at(table, (source, y, said), 1)
        times[np.unique(source)] += 1
    right, true, predicted = (each[units] for each in (table.diagonal(0, 1, 2), table.sum(axis=2), table.sum(axis=1)))
    how = {"times": times[units], "stratum": group.layout.unit_stratum, "n_draws": len(draws)}
    part = np.hsplit(with_one_source(np.hstack([right, true, predicted]), **how), 3)
    for name in OF_ALL_CLASSES:
        of_counts = METRICS[name].of_counts
        exact = influences_of(np.real(of_counts(CountsByClass(*part), 0)), **how)
        own = measure_metric(counts, group.layout, EXCLUSIVE, lambda of, by=of_counts: np.real(by(of, 0))).influence
        off = 0.15 if name.startswith("precision") else 0.05
        assert np.linalg.norm(own) == pytest.approx(np.linalg.norm(exact), rel=off), name
        assert np.corrcoef(own, exact)[0, 1] > 0.95, name


@given(st.integers(2, 8), st.integers(0, 10_000))
def test_a_table_of_margins_has_them_and_nothing_on_its_diagonal(n_classes, seed):
    rng = np.random.default_rng(seed)
    counted = rng.integers(1, 30, (n_classes, n_classes)) * (1 - np.eye(n_classes))
    into = taken_for(counted.sum(axis=1), counted.sum(axis=0))
    assert np.diag(into) == pytest.approx(0)
    assert into.sum(axis=1) == pytest.approx(1)
    assert counted.sum(axis=1) @ into == pytest.approx(counted.sum(axis=0), rel=1e-3)


def test_correlations_may_be_negative_and_have_intervals_within_their_range():
    """A model that learned nothing: its correlation is about 0, and says so with both signs."""
    nothing = replace(MANY, apart=0.0, source_sd=0.0)
    known = {each.metric: each for each in metrics_on_sources(nothing.trials(1, 1))}
    for name in ("matthews_corrcoef", "cohen_kappa"):
        for end in ("exclusive", "inclusive"):
            value = getattr(known[name], end)
            assert abs(value.value) < 0.1
            assert -1 <= value.over_sources.lower < 0 < value.over_sources.upper <= 1
        assert known[name].baseline == pytest.approx(0)
        assert known[name].fall.over_sources.holds(0.0)


def test_no_number_is_impossible_and_the_report_has_a_row_for_each():
    trials = TWO.trials(2, 2)
    metrics = metrics_on_sources(trials)
    for each in metrics:
        for field in ("inclusive", "exclusive"):
            interval = getattr(each, field).over_sources
            assert METRICS[each.metric].lowest <= interval.lower <= getattr(each, field).value <= interval.upper <= 1
        assert -1 <= each.fall.over_sources.lower <= each.fall.over_sources.upper <= 1
        assert 0 <= each.rho.over_sources.lower <= each.rho.over_sources.upper <= 1 / each.inclusive.value + 1e-9
    intervals = expected_accuracy_intervals(trials)
    data = Dataset("two", "tabular", np.zeros((4, 1)), np.array([0, 1, 0, 1]), ("a", "b"), list("wxyz"))
    named = {each.name: getattr(intervals, each.name) for each in fields(intervals)} | {"metrics": metrics}
    shown = answer(type(intervals)(**named), (), data)
    table = shown.section("metrics").parts[0].lines
    assert len(table) == len(metrics)
    numbers = [each for each in shown.numbers if each.name == "source_robustness.metric"]
    assert [each.of[-1] for each in numbers] == [each.metric for each in metrics]


def trials_of_a_screening(seed: int, *, right: dict[str, float]) -> pd.DataFrame:
    """Ten sites of 60 "legit" and 10 "fraud", each held out in turn and then among those of training."""
    rng, sites = np.random.default_rng(seed), [str(site) for site in range(10)]

    def cells(n: dict[str, int], of: list[str]) -> dict[tuple[str, str], tuple[int, int]]:
        return {(label, site): (int(rng.binomial(k, right[label])), k) for label, k in n.items() for site in of}

    rows = []
    for repeat in range(20):
        held_out = cells({"legit": 60, "fraud": 10}, [sites[repeat % 10]])
        rows += trial_rows(held_out, repeat=repeat, source_finder="known", n_samples=700)
        seen = cells({"legit": 6, "fraud": 1}, sites)
        rows += trial_rows(seen, repeat=repeat, scheme="source_inclusive", source_finder="known", n_samples=700)
    return frame(rows)


def verdict_of(trials: pd.DataFrame, metric: str | None = None) -> Verdict:
    intervals = replace(expected_accuracy_intervals(trials), metrics=metrics_on_sources(trials))
    [row] = intervals.overall
    about = None if metric is None else intervals.metric_of(row, metric)
    return source_verdict(intervals, row=row, names={"model": "SVM"}, metric=about)


def test_a_model_that_finds_what_is_rare_is_not_called_worthless():
    """Seven in ten of the frequent class and nearly all of the rare one: less accurate than "legit" throughout."""
    made = verdict_of(trials_of_a_screening(1, right={"legit": 0.7, "fraud": 0.95}))
    sentence = "On held-out sources, always answering “legit” is more accurate by"
    assert sentence in made.headline
    assert "There balanced accuracy is 8" in made.headline
    assert made.headline.index("shows no significant loss") < made.headline.index(sentence)
    assert "worse than" not in made.text
    assert "find a model" not in made.advice
    guessing = verdict_of(trials_of_a_screening(1, right={"legit": 0.7, "fraud": 0.3}))
    assert guessing.headline.startswith("SVM is worse than the majority-class baseline")
    assert guessing.advice == "Next: find a model that beats the majority-class baseline."


def test_where_one_class_has_most_samples_balanced_accuracy_stands_beside_unasked():
    uneven = verdict_of(trials_of_a_screening(2, right={"legit": 0.97, "fraud": 0.8}))
    assert uneven.findings[0].startswith("SVM shows no significant loss of balanced accuracy on held-out sources")
    even = verdict_of(TWO.trials(2, 2))
    assert "balanced accuracy" not in even.text


def test_the_headline_is_about_the_metric_that_is_asked_for():
    trials = Sources(2, 8, shared=False, size=40, source_sd=1.2, apart=2.5).trials(1, 1)
    about = {name: verdict_of(trials, name) for name in (None, "balanced_accuracy", "recall")}
    assert about[None].headline.startswith("model 0 loses")
    assert "] of balanced accuracy on held-out sources" in about["balanced_accuracy"].headline
    assert "% of its balanced accuracy (rho" in about["balanced_accuracy"].headline
    assert "] of accuracy on held-out sources" in about["balanced_accuracy"].findings[0]
    [sensitivity] = [each for each in metrics_on_sources(trials) if each.metric == "recall"]
    assert f"of sensitivity for “{sensitivity.positive}” on held-out sources" in about["recall"].headline
    assert about["recall"].claims[0].estimate == sensitivity.fall.value
    assert "sensitivity" not in about["recall"].advice, "it shows no significant loss"
    assert about["balanced_accuracy"].advice.endswith(" of balanced accuracy.")
    nothing = verdict_of(trials_of_a_screening(3, right={"legit": 0.6, "fraud": 0.4}), "balanced_accuracy")
    assert "It is not significantly better than the baseline of balanced accuracy" in nothing.headline


def test_another_positive_class_turns_sensitivity_and_specificity_around():
    trials = TWO.trials(4, 4)
    usual = {each.metric: each for each in metrics_on_sources(trials)}
    [other] = set(map(str, trials["label"].dropna())) - {usual["recall"].positive}
    turned = {each.metric: each for each in metrics_on_sources(trials, positive=other)}
    assert turned["recall"].exclusive == usual["specificity"].exclusive
    assert turned["recall"].fall.value == usual["specificity"].fall.value
    assert turned["recall"].falls.interval.lower == pytest.approx(usual["specificity"].falls.interval.lower)
    with pytest.raises(DataError, match="There is no class 'nobody'"):
        metrics_on_sources(trials, positive="nobody")
