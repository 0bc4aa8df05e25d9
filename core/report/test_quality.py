"""Does the test set cover the feature space, and did classes shift? What both say: verdict, figures and tables."""

from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from touchstone.core.data import Dataset
from touchstone.core.evaluate.covariate_shift import CovariateShift
from touchstone.core.evaluate.test_quality.missed import Missed
from touchstone.core.evaluate.test_quality.quality import Looked, TestQuality
from touchstone.core.evaluate.test_quality.shift_plan import CovariateShiftPlan, shift_of_rows, shift_verdict
from touchstone.core.evaluate.test_quality.verdict import findings, findings_table, quality_verdict
from touchstone.core.evaluate.wording import bare_p, count, percent, plural, resting
from touchstone.core.figures import test_quality as figures
from touchstone.core.report.confusion_matrix import matrix_part
from touchstone.core.report.parts import Answer, Beside, Column, Figure, KeyNumber, Part, Section, Table, brackets
from touchstone.core.workspace import StoredModel

CONFUSIONS = "What is each class predicted as?"
MOST_FINDINGS = 12
MOST_PAIRS = 12


def answer(quality: TestQuality, *, is_drawn: bool) -> Answer:
    """Everything about a test set; `is_drawn` where it was drawn here at random."""
    return Answer(
        quality_verdict(quality, is_drawn=is_drawn),
        key_numbers(quality),
        (
            Section("", (missed_figure(quality),)),
            Section(
                "By class and pair: errors that cannot be ruled out", partial(missed_tables, quality.missed), "detail"
            ),
            Section(CONFUSIONS, (matrix_part(quality.confusions, "the test set"),), "confusions"),
            Section("Where do test samples lie? Three dimensions by class", partial(by_class, quality), "classes"),
            Section("Which boundaries are tested?", partial(pairs, quality), "pairs"),
            Section("In numbers", in_numbers(quality), "table"),
        ),
        files={
            "Classes": quality.table,
            "Error rates": quality.missed.table,
            "Error rates of pairs": quality.missed.pairs_table,
            "Spreads": quality.spreads_table,
            "Pairs": quality.pairs.table,
            "Findings": partial(findings_table, quality),
        },
    )


def in_numbers(quality: TestQuality) -> tuple[Table, Table]:
    """Every class in every dimension, and how far classes lie apart in each."""

    def ends(row: Any) -> str:
        return f"[{row.lower:.3f}, {row.upper:.3f}]"

    dimension, interval = Column("Dimension", "dimension"), Column("95 % CI", ends)
    shares = (
        dimension,
        Column("Class", "label"),
        Column("Inside", "n_in", "Test samples that count"),
        Column("n", "n", "Test samples that could"),
        Column("Share", "value", "Of the class; in equivalence partitioning against a fair share of 1", 3),
        interval,
        Column("Training", "train", "The same of the training samples", 3),
        Column("Random split", "split", "The mean over random splits of training and test samples", 3),
    )
    spreads = (
        dimension,
        Column("Spread", "spread", "Standard deviation over classes", 3),
        interval,
        Column("By chance", "by_chance", "What classes that are alike would show", 3),
        Column("Classes", "n_classes"),
    )
    return (
        Table.of("By class", quality.table().itertuples(), shares),
        Table.of("Spread over classes", quality.spreads_table().itertuples(), spreads),
    )


def key_numbers(quality: TestQuality) -> tuple[KeyNumber, ...]:
    """The accuracy, the shares at a boundary and near a centroid, and how many pairs are met."""
    bounds = quality.missed.classes
    n_right, n_test = int((bounds.n - bounds.n_wrong).sum()), int(bounds.n.sum())
    (accuracy, interval), majority = quality.accuracy, percent(bounds.n.max() / n_test)
    over = quality.design.others
    key_numbers = [
        KeyNumber(
            "Test accuracy",
            percent(accuracy),
            brackets(percent, accuracy, interval),
            f"{count(n_right)} of {count(n_test)}; the interval, 95 %, is over {over}. Majority-class baseline: "
            f"{majority}.",
        )
    ]
    for label, shares, meaning in (
        ("At a boundary", quality.boundary, "Samples with low confidence. High is good: failures show there."),
        ("Near a centroid", quality.centroid, "Samples typical of their class. Low is good: these are easy."),
    ):
        k, n, value, interval = shares.overall
        meaning = f"{meaning} {count(k)} of {count(n)}; the interval is over {over}."
        key_numbers.append(KeyNumber(label, percent(value), brackets(percent, value, interval), meaning))
    n_pairs = quality.n_classes * (quality.n_classes - 1)
    met = KeyNumber(
        "Boundaries met",
        f"{count(quality.pairs.n_met)} of {count(n_pairs)}",
        f"random split {quality.pairs.split_met:.0f}",
        "Ordered pairs of classes with a test sample at their boundary. Below: the same for a random split "
        "with as many boundary samples.",
    )
    return (*key_numbers, met)


def missed_figure(quality: TestQuality) -> Figure:
    """Each class with the error rate that the test set cannot rule out, the least known on top."""
    return Figure(
        "quality-missed",
        partial(figures.missed_chart, quality.missed),
        "Dots: the share of test samples that is wrong. Bars end at the largest error rate that the test set "
        "cannot rule out (one-sided 95 %, all classes at once). The class with the longest bar on top.",
        quality.n_classes,
    )


def missed_tables(missed: Missed) -> tuple[Table, Table]:
    """Classes and pairs with what they may be wrong in, overall and at the boundary."""
    more = Column(
        "More samples", "n_more", "Labels needed to bring the bound within 5 points of the observed error rate"
    )
    return (
        Table.of(
            "Error rate of each class that cannot be ruled out", missed.table().itertuples(), (_CLASS, *_BOUNDS, more)
        ),
        Table.of(
            "Confusions of each class that cannot be ruled out",
            missed.pairs_table().itertuples(),
            (_CLASS, Column("Predicted as", "taken_for"), *_BOUNDS),
        ),
    )


_CLASS = Column("Class", "label")
_BOUNDS = (
    Column("Samples", "n"),
    Column("Wrong", "n_wrong"),
    Column("Up to (%)", "bound", "One-sided 95 % bound of this error rate alone", 1, 100),
    Column("Up to, all at once (%)", "bound_together", "One-sided 95 % for all rows of this table at once", 1, 100),
    Column("At boundary", "boundary_n"),
    Column("Wrong there", "boundary_n_wrong"),
    Column(
        "Up to there (%)", "boundary_bound", "One-sided 95 % bound of the error rate at the boundary, alone", 1, 100
    ),
)


def by_class(quality: TestQuality) -> tuple[Part, ...]:
    """Every class in the three dimensions, the test set beside training set and random splits, and what differs."""
    figure = Figure(
        "quality-classes",
        partial(figures.class_chart, quality),
        "Good: every class at its fair share of 1, few near the centroid, many at the boundary. Dots: test set "
        "with 95 % intervals; grey: random splits of training and test samples.",
        quality.n_classes,
    )
    every = findings(quality)
    lines = [resting(f"{each.text} {each.advice}", each.kind) for each in every[:MOST_FINDINGS]]
    more = len(every) - MOST_FINDINGS
    return (figure, *lines, *[f"{plural(more, 'more finding')}: the file has all of them."] * (more > 0))


def pairs(quality: TestQuality) -> tuple[Part, ...]:
    """All pairs, and the most frequent ones as a table beside them; below, where the heat map takes the whole width."""
    figure = Figure(
        "pairs",
        partial(_pair_chart, quality),
        "Share of each class's test samples (row) at the boundary with the class of the column. Even rows are "
        "good. + and −: significantly different from a random split. Confused classes are side by side.",
    )
    most = quality.pairs.table(most=MOST_PAIRS)
    table = Table.of(
        "The most frequent pairs of classes",
        most[most["n_in"] > 0].itertuples(),
        (
            Column("Class", "label", width=90),
            Column("Rival", "rival", width=90),
            Column("n", "n_in", width=45),
            Column("Test (%)", "value", decimals=1, factor=100, width=80),
            Column("Training (%)", "train", decimals=1, factor=100, width=80),
        ),
        f"The most frequent of {plural(quality.n_classes * (quality.n_classes - 1), 'ordered pair')}; all of them are "
        "in the file.",
    )
    return (figure, table) if quality.n_classes > figures.MOST_NUMBERS else (Beside((figure, table)),)


def _pair_chart(quality: TestQuality, *, dark: bool) -> go.Figure:
    return figures.pair_chart(quality.pairs, findings(quality), dark=dark)


def sample_table(samples: pd.DataFrame) -> Table:
    """Every test sample with the regions that it lies in, from the rows of `samples_table`."""
    return Table.of(
        "Test samples and regions",
        samples.itertuples(),
        (
            Column("Sample", "id"),
            _CLASS,
            Column("Predicted", "predicted"),
            Column("Confidence (%)", "confidence", decimals=1, factor=100),
            Column("Rival", "rival", "The most probable class other than its own"),
            Column("Distance", "distance", "To its centroid, in the class's unit", 3),
            Column("Near centroid", "in_centroid"),
            Column("At boundary", "in_boundary"),
        ),
    )


def subject(name: str, dataset_title: str, looked: Looked, quality: TestQuality) -> figures.Subject:
    """A row of the box plots: the model, its data set and its accuracy there."""
    test, layer = looked.parts.test, looked.parts.layer
    accuracy = f"accuracy {percent(float((test.predicted == test.labels).mean()))}"
    about = accuracy if layer == looked.choice.layer else f"{layer}, {accuracy}"
    return figures.Subject(name, (dataset_title, about), quality)


def rests_on(looked: Looked, quality: TestQuality, model: StoredModel) -> tuple[tuple[str, str], ...]:
    """What a test set's quality rests on: fingerprints, layer and thresholds, by name."""
    return (
        ("Data", looked.dataset.fingerprint),
        ("Model", model.fingerprint),
        ("Layer", looked.parts.layer),
        ("theta1", f"{quality.regions.theta1:.4g}"),
        ("theta2", f"{quality.regions.theta2:g}"),
        ("r", "training median of each class" if looked.choice.r is None else f"{looked.choice.r:g}"),
        ("Unit of distance", looked.choice.unit),
    )


def answer_of_rows(rows: pd.DataFrame, dataset: Dataset, plan: CovariateShiftPlan) -> Answer:
    """Everything about a run of covariate shift, from the rows of its trials."""
    return shift_answer(shift_of_rows(rows, plan, dataset.class_names, unit=dataset.unit_word))


def shift_answer(shift: CovariateShift, *, finished: bool = True) -> Answer:
    """Everything about a run of covariate shift; what to do next once it has `finished`."""
    verdict, sections = shift_verdict(shift), (Section("", (shift_figure(shift), shift_table(shift))),)
    return Answer(
        verdict if finished else replace(verdict, advice=""), sections=sections, files={"Covariate shift": shift.table}
    )


def shift_figure(shift: CovariateShift) -> Figure:
    """Every class beside what re-splits of it give."""
    return Figure(
        "shift",
        partial(figures.shift_chart, shift),
        "Grey boxes: re-splits of the same samples, which also differ by chance. A dot beyond its box has shifted; "
        "its bar is the Monte-Carlo error.",
        len(shift.classes),
    )


def shift_table(shift: CovariateShift) -> Table:
    """A line for each class."""
    return Table.of(
        "Covariate shift of every class",
        shift.table().itertuples(),
        (
            _CLASS,
            Column("Training", "n_train"),
            Column("Test", "n_test"),
            Column("Divergence", "divergence", "Jensen-Shannon, in bits", 3),
            Column("Error", "error", "Standard error of Monte-Carlo", 4),
            Column("By chance", "null_mean", "Mean over re-splits", 3),
            Column("Beyond", "excess", "Divergence minus its mean by chance", 3),
            Column(
                "p", lambda row: bare_p(row.p_corrected), "Corrected for the number of classes (max-T over re-splits)"
            ),
            Column("Kept (%)", "kept_variance", "Variance in the directions used", 1, 100),
            Column(
                "Components",
                lambda row: f"{row.n_train_components} / {row.n_test_components}",
                "Of the mixtures of training and test part",
            ),
        ),
    )
