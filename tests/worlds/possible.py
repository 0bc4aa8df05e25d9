"""Results of every question from data drawn at random, and whether any of their numbers is impossible.

Data are small and lopsided on purpose: a handful of samples, accuracies of 0 and 1, few repeats, few sources.
"""

import re
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd

from tests.evaluate.average_case_rows import counted, rows_of
from tests.evaluate.fold_populations import simulated
from tests.worlds.source_robustness_populations import MODELS, RealPopulation
from touchstone.core.data.predictions.record import Predictions
from touchstone.core.evaluate.average_case.robustness import evaluate_robustness
from touchstone.core.evaluate.average_case.verdict import average_case_verdict
from touchstone.core.evaluate.cluster_folds.performance import fold_performance
from touchstone.core.evaluate.cluster_folds.results import ScoredBy
from touchstone.core.evaluate.cluster_folds.verdict import fold_verdict
from touchstone.core.evaluate.data_set_adequacy.adequacy import adequacy_of
from touchstone.core.evaluate.data_set_adequacy.verdict import adequacy_verdict
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.matched_subsets import compare_sets, matched_verdict
from touchstone.core.evaluate.overview import Slices, classes_verdict, slices_verdict, weak_classes, weak_slices
from touchstone.core.evaluate.source_robustness import compare_models, expected_accuracy_intervals, source_verdict
from touchstone.core.evaluate.wording import MINUS, Verdict

Bounded = tuple[str, float, Interval, float, float]
"""What a number is, its value and interval, and between what it must lie."""
SENTENCE = re.compile(rf"({MINUS}?[\d.]+) (%|points)(?: \[({MINUS}?[\d.]+), ({MINUS}?[\d.]+)\])?")
ROUNDING = 1e-9


def of_sources(rng: np.random.Generator) -> tuple[list[Bounded], Verdict]:
    """Two models on held-out sources, all classes and each."""
    trials = _population(rng).data(rng).trials()
    intervals, comparisons = expected_accuracy_intervals(trials), compare_models(trials)
    numbers: list[Bounded] = []
    for row in intervals.rows:
        most = 1 / row.inclusive.value if row.inclusive.value > 0 else np.inf
        for name in ("exclusive", "inclusive", "random"):
            of = getattr(row, name)
            numbers += [(name, of.value, each, 0.0, 1.0) for each in (of.over_sources, of.over_draws)]
        numbers += [("rho", row.rho.value, each, 0.0, most) for each in (row.rho.over_sources, row.rho.over_draws)]
        numbers += [("fall", row.fall.value, each, -1.0, 1.0) for each in (row.fall.over_sources, row.fall.over_draws)]
    numbers += [("above", each.above.value, each.above.over_sources, -1.0, 1.0) for each in intervals.baselines]
    return numbers, source_verdict(intervals, comparisons, names={model: model for model in MODELS})


def of_sizes(rng: np.random.Generator) -> tuple[list[Bounded], Verdict]:
    """The same at three sizes of the training set, of which the accuracies are as they come."""
    parts, population = [], _population(rng)
    for size in (20, 40, 80):
        trials = population.data(rng).trials()
        parts.append(trials.assign(size=size, n_train=size))
    rows = pd.concat(parts, ignore_index=True)
    n_per_class = dict.fromkeys(rows["label"].dropna().unique(), 40)
    found, numbers = adequacy_of(rows, n_per_class=n_per_class), []
    for curve in found.curves:
        if curve.outlook is None:
            continue
        outlook, last = curve.outlook, curve.outlook.after.expected
        for name, now in (("gain", last.exclusive), ("familiar_gain", last.inclusive)):
            told = getattr(outlook, name)
            numbers.append((name, told.value, Interval(told.value, told.value), -now.value, 1 - now.value))
            numbers.append((name, told.value, told.interval, -1.0, 1.0))
        numbers.append(("next gain", outlook.next_gain.value, outlook.next_gain.interval, -1.0, 1.0))
        numbers.append(("gap", outlook.gap.value, outlook.gap.interval, -1.0, 1.0))
        for learning in curve.learning.values():
            numbers += [("curve", point.value, point.interval, 0.0, 1.0) for point in learning.points]
    return numbers, adequacy_verdict(found)


def _population(rng: np.random.Generator) -> RealPopulation:
    return RealPopulation(
        n_sources=int(rng.integers(2, 6)),
        shared=bool(rng.integers(2)),
        size=float(rng.choice([6, 12])),
        size_sd=float(rng.choice([0.0, 0.7])),
        apart=float(rng.choice([0.0, 1.5, 4.0])),
        source_sd=float(rng.choice([0.0, 1.0, 3.0])),
        n_repeats=int(rng.integers(2, 5)),
        n_features=3,
    )


def of_folds(rng: np.random.Generator) -> tuple[list[Bounded], Verdict]:
    """A model that is nearly always right on some folds and nearly always wrong on others."""
    error = {
        "random_folds": float(rng.choice([0.0, 0.02, 0.5, 1.0])),
        "kmeans": float(rng.choice([0.0, 0.3, 0.98, 1.0])),
    }
    folded = simulated(
        error, n=int(rng.choice([30, 120])), n_classes=int(rng.integers(2, 5)), n_folds=3,
        seeds=range(int(rng.integers(1, 4))), rng=rng,
    )  # fmt: skip
    shares = ["f1_macro", "accuracy", "balanced_accuracy", "f1_weighted", "precision_macro"]
    metric = ScoredBy(str(rng.choice([*shares, "matthews_corrcoef", "cohen_kappa"])))
    found, lowest, most = fold_performance(folded, metric=metric), metric.lowest, 1 - metric.lowest
    numbers: list[Bounded] = [
        ("difference", each.difference.value, each.difference.interval, -most, most) for each in found.differences
    ]
    for row in found.schemes:
        numbers.append(("score", row.mean.value, row.mean.interval, lowest, 1.0))
        numbers.append(("beyond", row.beyond_guesses.value, row.beyond_guesses.interval, -most, most))
    for run in found.runs:
        numbers += [("fold", each.score.value, each.score.interval, lowest, 1.0) for each in run.folds]
        numbers += [("class", each.value, each.interval, 0.0, 1.0) for each in run.classes]
    return numbers, fold_verdict(found)


def of_two_sets(rng: np.random.Generator) -> tuple[list[Bounded], Verdict]:
    """Two sets of very different accuracy, in units or not."""

    def made(n: int, wrong: float, name: str) -> Predictions:
        proba = rng.dirichlet(np.full(3, float(rng.choice([0.1, 1.0]))), n)
        y = proba.argmax(axis=1)
        y = np.where(rng.random(n) < wrong, (y + 1) % 3, y)
        groups = {"unit": rng.integers(8, size=n).astype(str)} if in_units else {}
        return Predictions(
            [f"{name} {i}" for i in range(n)], y, proba.argmax(axis=1), ["a", "b", "c"], proba=proba, groups=groups
        )

    in_units = bool(rng.integers(2))
    sets = [made(int(rng.choice([20, 60, 300])), float(rng.choice([0.0, 0.05, 0.95, 1.0])), name) for name in "rt"]
    row = compare_sets(*sets, rng=rng)
    names = ("gap", "matched_gap", "mix", "rounded")
    numbers: list[Bounded] = [
        (name, getattr(row, name).value, getattr(row, name).interval, -1.0, 1.0) for name in names
    ]
    # What unmatched samples lose beyond what is expected of them and the matched gap may be twice their share.
    most = 2 * row.unmatched_target.value
    numbers.append(("unmatched", row.unmatched.value, Interval(row.unmatched.value, row.unmatched.value), -most, most))
    numbers.append(("unmatched", 0.0, row.unmatched.interval, -1.0, 1.0))
    numbers += [("subset", each.reached.value, each.reached.interval, 0.0, 1.0) for each in row.subsets]
    numbers += [("label", each.matched_gap.value, each.matched_gap.interval, -1.0, 1.0) for each in row.labels]
    numbers += [("calibration", each.claim.estimate, each.claim.interval, -1.0, 1.0) for each in row.calibrations]
    return numbers, matched_verdict(row)


def of_noise(rng: np.random.Generator) -> tuple[list[Bounded], Verdict]:
    """Samples that noise never turns, or always."""
    n = int(rng.choice([12, 60, 150]))
    y = rng.integers(3, size=n)
    p = np.where(y == 0, float(rng.choice([0.0, 1.0])), rng.beta(0.3, 0.3, n))
    predicted = np.where(rng.random(n) < rng.choice([0.0, 0.5, 1.0]), y, (y + 1) % 3)
    few = slice(0, n // 2)
    rows = [
        rows_of(p, y, predicted=predicted),
        counted(p[few], y[few], rng=rng),
        rows_of(1 - p[few], y[few], part="audit"),
    ]
    found = evaluate_robustness(pd.concat(rows, ignore_index=True), class_names=("a", "b", "c"))
    numbers: list[Bounded] = []
    for at in found.by_sigma:
        numbers += [("mean", each.value, each.interval, 0.0, 1.0) for each in (at.mean, at.below_one, *at.classes)]
        if at.gap is not None:
            numbers.append(("class gap", at.gap.value, at.gap.interval, 0.0, 1.0))
        if at.by_robustness is not None:
            numbers.append(
                ("fifths", at.by_robustness.difference.value, at.by_robustness.difference.interval, -1.0, 1.0)
            )
    for each in found.audit.estimators:
        numbers += [
            ("error", each.error.value, each.error.interval, 0.0, 1.0),
            ("bias", each.bias.value, each.bias.interval, -1.0, 1.0),
        ]
    return numbers, average_case_verdict(found)


def of_groups(rng: np.random.Generator) -> tuple[list[Bounded], Verdict]:
    """Classes and groups of very different accuracy."""
    n = int(rng.choice([40, 160]))
    y = rng.integers(3, size=n)
    right = (rng.random(n) < np.where(y == 0, rng.choice([0.0, 1.0]), rng.choice([0.0, 0.5, 1.0]))).astype(float)
    table = pd.DataFrame({"id": np.arange(n), "label": y.astype(str), "correct on Random folds": right})
    rows = pd.DataFrame({"seed": 0, "fold": rng.integers(4, size=n), "row": range(n), "right": right})
    tested = {"correct on Random folds": rows}
    classes = weak_classes(table, tested)
    groups = weak_slices(table, tested, Slices(rng.integers(2, size=n), ("one", "two")), rng=rng)
    numbers: list[Bounded] = []
    for each in (*classes, *groups):
        numbers += [
            ("loss", each.claim.estimate, each.claim.interval, -1.0, 1.0),
            ("group", each.accuracy, each.interval, 0.0, 1.0),
        ]
    return numbers, classes_verdict(classes) if rng.integers(2) else slices_verdict(groups)


QUESTIONS: dict[str, Callable[[np.random.Generator], tuple[list[Bounded], Verdict]]] = {
    "source_robustness": of_sources,
    "data_set_adequacy": of_sizes,
    "cluster_folds": of_folds,
    "matched_subsets": of_two_sets,
    "average_case": of_noise,
    "overview": of_groups,
}


def impossible(question: str, seed: int) -> list[str]:
    """What is impossible of a result drawn at random, in words."""
    numbers, verdict = QUESTIONS[question](np.random.default_rng([len(question), seed]))
    wrong = [
        f"{name}: {value} [{interval.lower}, {interval.upper}] is not between {lowest} and {highest}"
        for name, value, interval, lowest, highest in numbers
        if not all(
            np.isnan(end) or lowest - ROUNDING <= end <= highest + ROUNDING
            for end in (value, interval.lower, interval.upper)
        )
    ]
    return [*wrong, *(f"in words: {said}" for said in _said_impossibly(verdict.text))]


def _said_impossibly(text: str) -> Iterator[str]:
    for found in SENTENCE.finditer(text):
        number, unit, *ends = found.groups()
        values = [float(each.replace(MINUS, "-")) for each in (number, *ends) if each]
        lowest = 0.0 if unit == "%" else -100.0
        if not all(lowest <= value <= 100.0 for value in values):
            yield found.group()
