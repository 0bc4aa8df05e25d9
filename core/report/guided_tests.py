"""Which tests are missing? The accuracies, the figures with captions, table 2 and what was asked and placed."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import pandas as pd

from touchstone.core.data import Dataset
from touchstone.core.data.tables.names import plural_of
from touchstone.core.evaluate import guided_tests as evaluated
from touchstone.core.evaluate.guided_tests.generate import Properties, Property
from touchstone.core.evaluate.guided_tests.plan import Guided, GuidedTestsPlan, guided_of_rows
from touchstone.core.evaluate.guided_tests.results import (
    REGIONS,
    AccuracyGrid,
    Origin,
    Reconstruction,
    RoundTrip,
    SharedAccuracy,
)
from touchstone.core.evaluate.guided_tests.suite import JudgedSuite
from touchstone.core.evaluate.wording import bare, count, percent
from touchstone.core.figures import guided_tests as figures
from touchstone.core.report import parts

FEATURES = "How does the layer's head classify generated features? With table 2"
PROPERTIES = "Does the model behave like a well-trained classifier?"


def answer_of_rows(rows: pd.DataFrame, dataset: Dataset, plan: GuidedTestsPlan) -> parts.Answer:
    """Everything about a run, from the rows of its trials."""
    return answer(guided_of_rows(rows, class_names=dataset.class_names, origin=Origin.of(dataset)))


def answer(
    found: Guided,
    *,
    trip: RoundTrip | None = None,
    tested: Properties | None = None,
    finished: bool = True,
) -> parts.Answer:
    """Everything about a run, the advice once it has `finished`.

    `trip` is what became of decoded images and `tested` the three properties, where they are worked out.
    """
    if found.tests is None:
        return parts.nothing_yet("No test has been generated yet.")
    verdict, sections = evaluated.verdict.guided_verdict(found), features(found, trip)
    if found.suite is not None and evaluated.verdict.oracle_reads(found.suite):
        sections = (parts.Section("", (suite_figure(found.suite),)), *sections)
    files: dict[str, Callable[[], pd.DataFrame]] = {"Tests": found.generated.table, "Classes": found.class_table}
    if found.suite is not None:
        files["Pictures"] = found.suite.table
    if found.grid is not None:
        files["Table 2"] = found.grid.table
    if tested is not None:
        sections = (*sections, parts.Section(PROPERTIES, (property_table(tested),)))
        files |= {"Properties": tested.table, "Violations": tested.violations}
    verdict = verdict if finished else replace(verdict, advice="")
    return parts.Answer(verdict, tuple(key_numbers(found)), sections, tuple(numbers(found)), files)


def features(found: Guided, trip: RoundTrip | None = None) -> tuple[parts.Section, ...]:
    """How the layer's head classifies generated features: the numbers, class by class, table 2, and its decoder."""
    sections = [
        parts.Section(FEATURES, (tuple(head_metrics(found)), *evaluated.verdict.features_findings(found))),
        parts.Section("Class by class", (parts.Beside((class_figure(found), counts_table(found))),)),
    ]
    if found.grid is not None:
        in_grid = (parts.Note(evaluated.verdict.CHANCE), grid_figure(found.grid), grid_table(found.grid))
        sections.append(parts.Section("Accuracy over mixes and sizes", in_grid))
    if found.reconstruction is not None:
        sections.append(parts.Section("", (decoder_metrics(found, found.reconstruction, trip),)))
    return tuple(sections)


def numbers(found: Guided) -> Iterator[parts.Quantity]:
    """What can be bounded: the accuracy on pictures that the oracle confirms, on all and on those at boundaries."""
    if found.suite is not None and evaluated.verdict.oracle_reads(found.suite):
        for name, of in (
            ("pictures", found.suite.accuracy()),
            ("boundary", found.suite.accuracy(REGIONS[1])),
        ):
            if of.n:
                yield parts.Quantity(
                    f"guided_tests.{name}", (), of.accuracy, of.interval, of.n, plural_of(of.parent_word)
                )


def key_numbers(found: Guided) -> list[parts.KeyNumber]:
    """The whole model's accuracies on pictures, all and by region, and on the original test set."""
    value, interval = found.test_accuracy
    about = f"n = {count(found.n_test)}; the interval is over samples."
    original = parts.KeyNumber("Original test set", percent(value), parts.brackets(percent, value, interval), about)
    if found.suite is None or not evaluated.verdict.oracle_reads(found.suite):
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
        parts.KeyNumber("Oracle", percent(share), parts.brackets(percent, share, ends), meaning),
    ]


def head_metrics(found: Guided) -> list[parts.KeyNumber]:
    """What the layer's head makes of features, all and by region."""
    told = [_metric("Features", found.accuracy(), "Share of these that is predicted as its own class.")]
    for region, label, meaning in (
        (REGIONS[0], "Features near the centroids", "Of those in the centroid region of their class."),
        (REGIONS[1], "Features at the boundary", evaluated.verdict.SIDE),
    ):
        if found.accuracy(region).n:
            told.append(_metric(label, found.accuracy(region), meaning))
    return [*told, _placed(found)]


def suite_figure(judged: JudgedSuite) -> parts.Figure:
    """The accuracy of every class on pictures."""
    return parts.Figure(
        "guided-suite",
        partial(figures.suite_chart, judged),
        "Accuracy of the whole model on generated pictures that count, with 95 % intervals over real samples.",
        len(judged.suite.class_names),
    )


def _placed(found: Guided) -> parts.KeyNumber:
    asked, placed = int(found.generated.asked.sum()), len(found.generated)
    meaning = "A test counts as placed if it lies in its region after at most eight attempts, each with half the noise."
    return parts.KeyNumber("Features placed", count(placed), f"of {count(asked)} asked", meaning)


def decoder_metrics(found: Guided, restored: Reconstruction, trip: RoundTrip | None) -> tuple[parts.KeyNumber, ...]:
    """The decoder's error and, of decoded images, the disagreement of the whole model with its head."""
    error, ends = bare(restored.error, 3), restored.interval
    key_numbers = [
        parts.KeyNumber(
            "Error of the decoder",
            error,
            f"[{bare(ends.lower, 3)}, {bare(ends.upper, 3)}]" if ends.known else "",
            "Root mean squared error of a pixel (black 0, white 1) on test images that the decoder has not seen, "
            f"n = {count(restored.n)}.",
        ),
        parts.KeyNumber(
            "Error of the mean image",
            bare(restored.baseline, 3),
            "to beat",
            "For comparison: the error if every image were the mean image.",
        ),
    ]
    if trip is not None:
        finding = evaluated.verdict.round_trip_finding(trip, len(found.generated))
        for label, (_, n, share, interval) in (
            ("Model and head disagree", trip.disagreement),
            ("Images still in the region", trip.kept_region),
        ):
            meaning = f"n = {count(n)} images. {finding}"
            key_numbers.append(
                parts.KeyNumber(label, percent(share), parts.brackets(percent, share, interval), meaning)
            )
    return tuple(key_numbers)


def grid_figure(grid: AccuracyGrid) -> parts.Figure:
    """The paper's table 2 as a figure."""
    return parts.Figure(
        "grid-chart",
        partial(figures.grid_chart, grid),
        "The paper's table 2 with 95 % intervals over the samples that tests were made from, so that more tests from "
        "the same ones narrow none. At 0-100 accuracy is the share on the right side of the boundary.",
    )


def grid_table(grid: AccuracyGrid) -> parts.Table:
    """The paper's table 2: a line for each size, a column for each mix."""
    lines = []
    for size in dict.fromkeys(cell.n_per_class for cell in grid.cells):
        line: dict[str, str] = {"Per class": count(size)}
        for cell in (one for one in grid.cells if one.n_per_class == size):
            of = cell.overall
            told = percent(of.accuracy, of.interval).replace(" %", "") if of.n else "none placed"
            line[evaluated.verdict.mix_title(cell.centroid_share)] = told
        lines.append(line)
    caption = (
        "Accuracy in percent by mix (centroid-boundary) and number of tests per class. Original test set: "
        f"{percent(grid.accuracy, grid.interval)}, n = {count(grid.n_test)}."
    )
    return parts.Table("Accuracy over mixes and sizes", pd.DataFrame(lines), caption=caption)


def class_figure(found: Guided) -> parts.Figure:
    """The accuracy of every class on the tests that were asked for."""
    return parts.Figure(
        "guided-classes",
        partial(figures.class_chart, found),
        "The requested tests, 95 % intervals. At the boundary about half are correct by construction, "
        "fewer where a third class is as probable.",
        len(found.class_names),
    )


def counts_table(found: Guided) -> parts.Table:
    """What was asked, placed and not placed."""
    counts = found.generated.counts_table()
    return parts.Table.of(
        "Asked, placed and unplaced tests",
        counts[counts["asked"] > 0].itertuples(),
        (
            parts.Column("Class", "label"),
            parts.Column("Region", "region"),
            parts.Column("Asked", "asked"),
            parts.Column("Placed", "placed"),
            parts.Column("Unplaced", "unplaced", "No attempt reached the region"),
        ),
    )


def property_table(tested: Properties) -> parts.Table:
    """The three properties of section 4.1, and how often they are violated."""
    return parts.Table.of(
        "The three properties and how often they are violated",
        tested.each,
        (
            parts.Column("Property", "name"),
            parts.Column("It says", "says"),
            parts.Column("Tested", lambda rule: count(rule.n)),
            parts.Column("Violated", lambda rule: count(rule.n_violated)),
            parts.Column("Share", lambda rule: percent(rule.share, rule.interval) if rule.n else "nothing to test"),
        ),
        "Section 4.1 of the paper, as metamorphic tests. A probability counts as violating if it moves the wrong "
        "way by more than 1 point.",
    )


_EXPLAINED = {
    "between centroids": "Lines between centroids hold no sample; each row is such a line.",
    "back to the true centroid": "Each row is a test sample with a wrong, low-confidence prediction.",
    "true class first": "Each row is a misclassified test sample.",
}


def violations_table(rule: Property) -> parts.Table:
    """What breaks a property, the worst first; a line between centroids has no sample."""
    sample = () if rule.name == "between centroids" else (parts.Column("Sample", "id"),)
    worst = "Size of the violation (change of probability in the wrong direction)"
    return parts.Table.of(
        "Violations",
        rule.violations.itertuples(),
        (
            *sample,
            parts.Column("Class", "label"),
            parts.Column("Other class", "other"),
            parts.Column("By", "worst", worst, 3),
            parts.Column("At", "at", "Where on the line, from 0 to 1", 2),
        ),
        f"{_EXPLAINED[rule.name]} The worst first, n = {count(rule.n_violated)}.",
    )


def _metric(label: str, of: SharedAccuracy, meaning: str) -> parts.KeyNumber:
    about = f"{meaning} n = {count(of.n)} from {of.parents}; the interval is over these."
    return parts.KeyNumber(label, percent(of.accuracy), parts.brackets(percent, of.accuracy, of.interval), about)
