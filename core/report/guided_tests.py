"""Which tests are missing? The accuracies, the figures with captions, table 2 and what was asked and placed."""

from collections.abc import Iterator
from functools import partial

import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.evaluate.guided_tests import (
    REGIONS,
    AccuracyGrid,
    Guided,
    JudgedSuite,
    SharedAccuracy,
    guided_of_rows,
)
from touchstone.core.evaluate.guided_tests.plan import GuidedTestsPlan
from touchstone.core.evaluate.guided_tests.results import Origin
from touchstone.core.evaluate.guided_tests.verdict import (
    CHANCE,
    SIDE,
    features_findings,
    guided_verdict,
    mix_title,
    oracle_reads,
)
from touchstone.core.evaluate.wording import count, percent
from touchstone.core.figures import guided_tests as figures
from touchstone.core.report.parts import Answer, Figure, Metric, Quantity, Section, Table, brackets


def answer_of_rows(rows: pd.DataFrame, dataset: Dataset, plan: GuidedTestsPlan) -> Answer:
    """Everything about a run, from the rows of its trials."""
    return answer(guided_of_rows(rows, class_names=dataset.class_names, origin=Origin.of(dataset)))


def answer(found: Guided) -> Answer:
    """Everything about a run."""
    if found.tests is None:
        return Answer(None, (), (Section("", ("No test has been generated yet.",)),))
    sections = []
    if found.suite is not None and oracle_reads(found.suite):
        sections.append(Section("Generated pictures, class by class", (suite_figure(found.suite),)))
    features = features_findings(found)
    sections.append(Section("How the layer's head classifies generated features", features))
    if found.grid is not None:
        parts = (CHANCE, grid_figure(found.grid), grid_table(found.grid))
        sections.append(Section("Accuracy of the head over mixes and sizes", parts))
    sections.append(Section("The head, class by class", (class_figure(found), counts_table(found))))
    return Answer(guided_verdict(found), tuple(metrics(found)), tuple(sections), tuple(numbers(found)))


def numbers(found: Guided) -> Iterator[Quantity]:
    """What can be bounded: the accuracy on pictures that the oracle confirms, on all and on those at boundaries."""
    if found.suite is not None and oracle_reads(found.suite):
        for name, of in (("pictures", found.suite.accuracy()), ("boundary", found.suite.accuracy(REGIONS[1]))):
            if of.n:
                yield Quantity(f"guided_tests.{name}", (), of.accuracy, of.interval, of.n)


def metrics(found: Guided) -> list[Metric]:
    """The whole model's accuracies on pictures, all and by region, and on the original test set."""
    value, interval = found.test_accuracy
    about = f"n = {count(found.n_test)}; the interval is over samples."
    original = Metric("Original test set", percent(value), brackets(percent, value, interval), about)
    if found.suite is None or not oracle_reads(found.suite):
        return [original, _placed(found)]
    judged = found.suite
    share, ends = judged.suite.oracle_accuracy
    meaning = f"Held-out real pictures that the oracle classifies correctly, n = {count(judged.suite.oracle_n)}."
    return [
        _metric("Generated pictures", judged.accuracy(), "Pictures in their region whose class the oracle confirms."),
        *(
            _metric(label, judged.accuracy(region), meaning_of)
            for region, label, meaning_of in (
                (REGIONS[1], "At the boundary", "Made where a linear reference is at most 70 % confident."),
                (REGIONS[0], "Near the centroids", "Made in the centroid region of their class."),
            )
            if judged.accuracy(region).n
        ),
        original,
        Metric("Oracle", percent(share), brackets(percent, share, ends), meaning),
    ]


def head_metrics(found: Guided) -> list[Metric]:
    """What the layer's head makes of features, all and by region."""
    told = [_metric("Features", found.accuracy(), "Share of these that is predicted as its own class.")]
    for region, label, meaning in (
        (REGIONS[0], "Features near the centroids", "Of those in the centroid region of their class."),
        (REGIONS[1], "Features at the boundary", SIDE),
    ):
        if found.accuracy(region).n:
            told.append(_metric(label, found.accuracy(region), meaning))
    return [*told, _placed(found)]


def suite_figure(judged: JudgedSuite) -> Figure:
    """The accuracy of every class on pictures."""
    return Figure(
        "guided-suite",
        partial(figures.suite_chart, judged),
        "Accuracy of the whole model on generated pictures that count, with 95 % intervals over real samples.",
    )


def _placed(found: Guided) -> Metric:
    asked, placed = int(found.generated.asked.sum()), len(found.generated)
    meaning = "A test counts as placed if it lies in its region after at most eight attempts, each with half the noise."
    return Metric("Features placed", count(placed), f"of {count(asked)} asked", meaning)


def grid_figure(grid: AccuracyGrid) -> Figure:
    """The paper's table 2 as a figure."""
    return Figure(
        "grid-chart",
        partial(figures.grid_chart, grid),
        "The paper's table 2 with 95 % intervals over the samples that tests were made from, so that more tests from "
        "the same ones narrow none. At 0-100 accuracy is the share on the right side of the boundary.",
    )


def grid_table(grid: AccuracyGrid) -> Table:
    """The paper's table 2: a line for each size, a column for each mix."""
    lines = []
    for size in dict.fromkeys(cell.n_per_class for cell in grid.cells):
        line: dict[str, str] = {"Per class": count(size)}
        for cell in (one for one in grid.cells if one.n_per_class == size):
            of = cell.overall
            told = percent(of.accuracy, of.interval).replace(" %", "") if of.n else "none placed"
            line[mix_title(cell.centroid_share)] = told
        lines.append(line)
    caption = (
        "Accuracy in percent by mix (centroid-boundary) and number of tests per class. Original test set: "
        f"{percent(grid.accuracy, grid.interval)}, n = {count(grid.n_test)}."
    )
    return Table("Accuracy over mixes and sizes", pd.DataFrame(lines), caption=caption)


def class_figure(found: Guided) -> Figure:
    """The accuracy of every class on the tests that were asked for."""
    return Figure(
        "guided-classes",
        partial(figures.class_chart, found),
        "The requested tests, 95 % intervals. At the boundary about half are correct by construction, "
        "fewer where a third class is as probable.",
    )


def counts_table(found: Guided) -> Table:
    """What was asked, placed and not placed."""
    of = found.generated.counts_table()
    titles = {"label": "Class", "region": "Region", "asked": "Asked", "placed": "Placed", "unplaced": "Unplaced"}
    lines = of[of["asked"] > 0].rename(columns=titles)
    return Table("Asked, placed and unplaced tests", lines)


def _metric(label: str, of: SharedAccuracy, meaning: str) -> Metric:
    about = f"{meaning} n = {count(of.n)} from {of.parents}; the interval is over these."
    return Metric(label, percent(of.accuracy), brackets(percent, of.accuracy, of.interval), about)
