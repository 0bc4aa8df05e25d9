"""Which tests are missing? The accuracies, the figures with captions, table 2 and what was asked and placed."""

from functools import partial

import pandas as pd

from core.data import Dataset
from core.evaluate.guided_tests import REGIONS, AccuracyGrid, Guided, SharedAccuracy, guided_of_rows
from core.evaluate.guided_tests.plan import GuidedTestsPlan
from core.evaluate.guided_tests.verdict import SIDE, guided_verdict, mix_title
from core.evaluate.wording import count, percent, plural
from core.figures import guided_tests as figures
from core.report.parts import Body, Figure, Metric, Section, Table, brackets


def body_of_rows(rows: pd.DataFrame, dataset: Dataset, plan: GuidedTestsPlan) -> Body:
    """Everything about a run, from the rows of its trials."""
    return body(guided_of_rows(rows, class_names=dataset.class_names))


def body(found: Guided) -> Body:
    """Everything about a run."""
    if found.tests is None:
        return Body(None, (), (Section("", ("Nothing has been generated yet.",)),))
    sections = []
    if found.grid is not None:
        parts = (grid_figure(found.grid), grid_table(found.grid))
        sections.append(Section("Accuracy over mixes and sizes", parts))
    sections.append(Section("Class by class", (class_figure(found), counts_table(found))))
    return Body(guided_verdict(found), tuple(metrics(found)), tuple(sections))


def metrics(found: Guided) -> list[Metric]:
    """The accuracies of the tests, all and by region, and of the original test set."""
    value, interval = found.test_accuracy
    told = [_metric("Generated tests", found.accuracy(), "Of all of them the share that is taken for its own class.")]
    for region, label, meaning in (
        (REGIONS[0], "Near the centroids", "Of the tests in the centroid region of their class."),
        (REGIONS[1], "At the boundary", SIDE),
    ):
        of = found.accuracy(region)
        if of.n:
            told.append(_metric(label, of, meaning))
    original = Metric(
        "Original test set",
        percent(value),
        brackets(percent, value, interval),
        f"n = {count(found.n_test)}; the interval is over samples.",
    )
    asked, placed = int(found.generated.asked.sum()), len(found.generated)
    meaning = "A test that lies in its region after eight tries, the noise halved each time, is placed."
    return [*told, original, Metric("Placed", count(placed), f"of {count(asked)} asked", meaning)]


def grid_figure(grid: AccuracyGrid) -> Figure:
    """The paper's table 2 as a figure."""
    return Figure(
        "grid-chart",
        partial(figures.grid_chart, grid),
        "The paper's table 2 with 95 % intervals over the samples that tests were made from, so that more tests from "
        "the same ones narrow none. Every mix takes the first tests of either region. At 0-100 accuracy is the share "
        "on the right side of the boundary.",
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
        "Per cent right by mix (centroid-boundary), with so many tests for each class. Original test set: "
        f"{percent(grid.accuracy, grid.interval)}, n = {count(grid.n_test)}."
    )
    return Table("Accuracy over mixes and sizes", pd.DataFrame(lines), caption=caption)


def class_figure(found: Guided) -> Figure:
    """The accuracy of every class on the tests that were asked for."""
    return Figure(
        "guided-classes",
        partial(figures.class_chart, found),
        "The tests that were asked for, 95 % intervals. At the boundary about half are right by construction, "
        "fewer where a third class is as probable.",
    )


def counts_table(found: Guided) -> Table:
    """What was asked, placed and not placed."""
    of = found.generated.counts_table()
    titles = {"label": "Class", "region": "Region", "asked": "Asked", "placed": "Placed", "unplaced": "Unplaced"}
    lines = of[of["asked"] > 0].rename(columns=titles)
    return Table("Asked, placed and unplaced tests", lines)


def _metric(label: str, of: SharedAccuracy, meaning: str) -> Metric:
    about = f"{meaning} n = {count(of.n)} from {plural(of.n_parents, 'sample')}; the interval is over these."
    return Metric(label, percent(of.accuracy), brackets(percent, of.accuracy, of.interval), about)
