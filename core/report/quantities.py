"""Which numbers stand for a result? Each with its interval, by question and name, to be drawn or held against a bound.

They are those that the pages show, of the same code; `QUANTITIES` lists them all.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.evaluate.cluster_folds import scheme_title
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.matched_subsets.verdict import words_of_units
from touchstone.core.evaluate.source_robustness.words import noun
from touchstone.core.evaluate.units import design_of
from touchstone.core.report.run_report import TITLES
from touchstone.core.trials.plan_sources import KNOWN_SOURCES

QUANTITIES = {
    "source_robustness.rho": "share of the accuracy that is kept on held-out sources; of a model and a source finder",
    "source_robustness.exclusive": "accuracy on held-out sources",
    "source_robustness.inclusive": "accuracy on sources seen in training",
    "source_robustness.random": "accuracy on a random split",
    "source_robustness.fall": "accuracy lost on held-out sources, as a fraction",
    "cluster_folds.score": "macro F1, mean over folds and seeds; of a scheme and a model",
    "cluster_folds.accuracy": "accuracy, mean over folds and seeds; of a scheme and a model",
    "average_case.p_robust": "mean share of noisy copies that keep the prediction; of a sigma",
    "average_case.overconfidence": "mean confidence less accuracy, on the run's samples as they are",
    "data_set_adequacy.gain": "accuracy that twice as many samples would add, as a fraction; of a model and a finder",
    "data_set_adequacy.gap": "accuracy on sources seen in training less that on held-out ones, at the largest size",
    "guided_tests.pictures": "accuracy of the whole model on generated pictures that the oracle confirms",
    "guided_tests.boundary": "the same, on pictures made at class boundaries",
    "few_labels.accuracy": "accuracy on new samples, from labels of few; of a pool",
    "matched_subsets.gap": "accuracy on the reference set less that on the target set; of a model",
    "matched_subsets.matched_gap": "the part of it that is left at equal confidence",
    "matched_subsets.mix": "the part of it that other confidences explain",
    "matched_subsets.unmatched": "the part of it that unmatched targets add",
    "matched_subsets.reference": "accuracy on the reference set",
    "matched_subsets.target": "accuracy on the target set",
    "matched_subsets.reference_overconfidence": "mean confidence less accuracy on the reference set",
    "matched_subsets.target_overconfidence": "mean confidence less accuracy on the target set",
    "matched_subsets.matched": "accuracy on the targets that have a reference sample of equal confidence",
}
"""What can be bounded, and what it is. All are fractions: .9, not 90."""


class OnAxis(NamedTuple):
    """An accuracy that stands on the sheet's axis: its role there, and its words, of what it is of."""

    role: str
    words: Callable[[Sequence[str]], str]


def _of_sources(what: str) -> Callable[[Sequence[str]], str]:
    return lambda of: f"{TITLES.get(of[0], of[0])}: {what.format(noun(of[1]))}"


ON_AXIS = {
    "source_robustness.random": OnAxis("random", _of_sources("random split")),
    "source_robustness.inclusive": OnAxis("inclusive", _of_sources("{}s seen in training")),
    "source_robustness.exclusive": OnAxis("exclusive", _of_sources("held-out {}s")),
    "cluster_folds.accuracy": OnAxis("folds", lambda of: f"{TITLES.get(of[1], of[1])}: {scheme_title(of[0])} folds"),
    "few_labels.accuracy": OnAxis("labels", lambda of: f"New samples of {of[0]}, by few labels"),
    "matched_subsets.reference": OnAxis("reference", lambda of: f"{of[0]}: reference set"),
    "matched_subsets.target": OnAxis("target", lambda of: f"{of[0]}: new test set"),
    "matched_subsets.matched": OnAxis("target", lambda of: f"{of[0]}: new test set, matched"),
}
"""The accuracies that one can plan for, by name, in the order of the axis."""


@dataclass(frozen=True)
class Quantity:
    """A number with its 95 % interval: what it is called, and `of` what (a model, a scheme, a sigma) it is.

    `over` says what the interval is over, more than one of them: samples, clusters, authors.
    """

    name: str
    of: tuple[str, ...]
    value: float
    interval: Interval
    n: int
    over: str = "samples"

    @property
    def title(self) -> str:
        """What a table calls it.

        >>> Quantity("source_robustness.rho", ("svm", "kmeans"), 0.9, Interval(0.8, 0.95), 100).title
        'source_robustness.rho[svm, kmeans]'
        """
        return f"{self.name}[{', '.join(self.of)}]" if self.of else self.name

    @property
    def label(self) -> str:
        """What the sheet's axis calls it.

        >>> Quantity("source_robustness.exclusive", ("svm", "kmeans"), 0.9, Interval(0.8, 0.95), 100).label
        'SVM: held-out clusters'
        """
        return ON_AXIS[self.name].words(self.of)


def of_run(rows: pd.DataFrame, dataset: Dataset, plan: Any) -> tuple[Quantity, ...]:
    """What a run's rows say that can be bounded; nothing of kinds of run that have nothing of that sort."""
    return tuple(_OF_RUN[plan.kind](rows, dataset, plan)) if plan.kind in _OF_RUN and len(rows) else ()


def of_comparisons(comparisons: Any) -> tuple[Quantity, ...]:
    """What two files of predictions say that can be bounded (`core.evaluate.matched_subsets.ModelComparisons`)."""
    found = []
    for row in comparisons.rows:
        over = "samples" if row.units.n == (row.n_reference, row.n_target) else words_of_units(row)
        for name in ("gap", "matched_gap", "mix", "unmatched"):
            estimate = getattr(row, name)
            found.append(
                Quantity(f"matched_subsets.{name}", (row.model,), estimate.value, estimate.interval, row.n_target)
            )
        for side in ("reference", "target"):
            of = row.subset(side).accuracy
            n = getattr(row, f"n_{side}")
            found.append(Quantity(f"matched_subsets.{side}", (row.model,), of.value, of.interval, n, over))
        for each in row.calibrations:
            n = getattr(row, f"n_{each.set}")
            name = f"matched_subsets.{each.set}_overconfidence"
            found.append(Quantity(name, (row.model,), each.claim.estimate, each.claim.interval, n))
        if row.enough:
            matched = row.subset("matched target")
            of = matched.accuracy
            n = round(matched.n)
            found.append(Quantity("matched_subsets.matched", (row.model,), of.value, of.interval, n, over))
    return tuple(found)


def _source_robustness(rows: pd.DataFrame, dataset: Dataset, plan: Any) -> Iterator[Quantity]:
    from touchstone.core.evaluate.source_robustness import expected_accuracy_intervals

    for row in expected_accuracy_intervals(rows).overall:
        of, over = (row.model, row.source_finder), _sources_in_words(dataset, row.source_finder)
        for name in ("rho", "exclusive", "inclusive", "usual"):
            estimate, called = getattr(row, name), "random" if name == "usual" else name
            yield Quantity(
                f"source_robustness.{called}", of, estimate.value, estimate.over_sources, row.n_samples, over
            )
        yield Quantity("source_robustness.fall", of, row.fall.value, row.fall.over_sources, row.n_samples)


def _sources_in_words(dataset: Dataset, source_finder: str) -> str:
    """What an interval over sources is over: clusters, or known sources, by the word of units where each is one."""
    if source_finder == KNOWN_SOURCES and dataset.sources is not None and dataset.units is not None:
        pairs = len(set(zip(dataset.sources, dataset.units, strict=True)))
        if pairs == len(set(dataset.sources)) == len(set(dataset.units)):
            return design_of(dataset).others
    return f"{noun(source_finder)}s"


def _cluster_folds(rows: pd.DataFrame, dataset: Dataset, plan: Any) -> Iterator[Quantity]:
    from touchstone.core.evaluate.cluster_folds import Metric, fold_performance, rows_of_run

    folds = rows_of_run(rows, dataset)
    for name, metric in (("score", Metric()), ("accuracy", Metric("accuracy"))):
        for row in fold_performance(folds, metric=metric).schemes:
            of, mean = (row.scheme, row.model), row.mean
            yield Quantity(f"cluster_folds.{name}", of, mean.value, mean.interval, row.n, folds.design.others)


def _average_case(rows: pd.DataFrame, dataset: Dataset, plan: Any) -> Iterator[Quantity]:
    from touchstone.core.evaluate.average_case.robustness import evaluate_robustness
    from touchstone.core.evaluate.calibration.overconfidence import overconfidence

    design = design_of(dataset)
    robustness = evaluate_robustness(rows, class_names=dataset.class_names, design=design)
    for at in robustness.by_sigma:
        yield Quantity("average_case.p_robust", (f"{at.sigma:g}",), at.mean.value, at.mean.interval, at.n)
    if robustness.sigmas:
        samples = robustness.samples_at(robustness.sigmas[0]).dropna(subset=["confidence"])
        n = len(samples)
        if n > 1:
            right = (samples["label"] == samples["predicted"]).to_numpy()
            units = design.of(samples["row"].to_numpy()).units(n)
            of = overconfidence(samples["confidence"].to_numpy(dtype=np.float64), right, units)
            yield Quantity("average_case.overconfidence", (), of.value, of.interval, n)


def _data_set_adequacy(rows: pd.DataFrame, dataset: Dataset, plan: Any) -> Iterator[Quantity]:
    from touchstone.core.evaluate.data_set_adequacy.adequacy import adequacy_of

    n_per_class = dict(zip(dataset.class_names, dataset.n_per_class.tolist(), strict=True))
    for curve in adequacy_of(rows, n_per_class=n_per_class).overall:
        if curve.outlook is not None:
            of, n = (curve.model, curve.source_finder), curve.points[-1].expected.n_samples
            gain, gap = curve.outlook.next_gain, curve.outlook.gap
            yield Quantity("data_set_adequacy.gain", of, gain.value, gain.interval, n)
            yield Quantity("data_set_adequacy.gap", of, gap.value, gap.interval, n)


def _guided_tests(rows: pd.DataFrame, dataset: Dataset, plan: Any) -> Iterator[Quantity]:
    from touchstone.core.evaluate.guided_tests import REGIONS, guided_of_rows
    from touchstone.core.evaluate.guided_tests.results import Origin
    from touchstone.core.evaluate.guided_tests.verdict import oracle_reads

    suite = guided_of_rows(rows, class_names=dataset.class_names, origin=Origin.of(dataset)).suite
    if suite is not None and oracle_reads(suite):
        for name, of in (("pictures", suite.accuracy()), ("boundary", suite.accuracy(REGIONS[1]))):
            if of.n:
                yield Quantity(f"guided_tests.{name}", (), of.accuracy, of.interval, of.n)


def _few_labels(rows: pd.DataFrame, dataset: Dataset, plan: Any) -> Iterator[Quantity]:
    from touchstone.core.evaluate.guided_tests.few_labels_plan import accuracy_of_rows

    labelled = accuracy_of_rows(rows)
    if labelled is not None:
        of = (plan.pool,)
        yield Quantity("few_labels.accuracy", of, labelled.accuracy, labelled.interval, labelled.n_labels)


_OF_RUN = {
    "trials": _source_robustness,
    "folds": _cluster_folds,
    "average_case": _average_case,
    "adequacy": _data_set_adequacy,
    "guided_tests": _guided_tests,
    "few_labels": _few_labels,
}
