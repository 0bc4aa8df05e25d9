"""What is in the data? The verdict, the few numbers, classes, a number of every sample, and the columns of a table."""

from collections.abc import Callable
from functools import partial

import pandas as pd
import plotly.graph_objects as go

from touchstone.core.data import Dataset
from touchstone.core.evaluate.data_sets import (
    NOUNS,
    ColumnSummaries,
    DataLook,
    NumberByClass,
    NumberSummary,
    data_verdict,
)
from touchstone.core.evaluate.units import design_of
from touchstone.core.evaluate.wording import MINUS, count, percent, plural
from touchstone.core.figures import data_sets as figures
from touchstone.core.report.parts import Answer, Beside, Column, Figure, KeyNumber, Note, Section, Table, brackets


def answer(dataset: Dataset, look: DataLook, number: NumberByClass | None = None) -> Answer:
    """Everything about a data set, with one number of every sample where it is known."""
    verdict = data_verdict(
        dataset.kind,
        look.labels,
        look.copies,
        number,
        constant=look.columns.constant if look.columns else (),
        leaks=look.leaks,
        units=dataset.unit_codes,
        unit_word=dataset.unit_word,
    )
    in_sight = [label_figure(dataset), *([] if number is None else [number_figure(dataset, number)])]
    sections = [Section("", tuple(in_sight))]
    files: dict[str, Callable[[], pd.DataFrame]] = {"Classes": look.labels.table}
    if dataset.notes:
        sections.append(Section("", (Note(" ".join(dataset.notes)),)))
    if look.columns is not None:
        sections.append(Section("Columns", (column_table(look.columns),), "columns"))
        files["Columns"] = look.columns.table
    if number is not None:
        sections.append(Section("By class", by_class(dataset, number), "by-class"))
        files |= {"Number by class": number.table, "Classes along the number": number.shares.table}
    classes = (
        Column("Class", "label"),
        Column("n", "n", "Samples"),
        Column("Share (%)", "share", decimals=1, factor=100),
        Column("95 % CI", lambda row: f"[{100 * row.lower:.1f}, {100 * row.upper:.1f}]"),
    )
    table = Table.of("Classes", look.labels.table().itertuples(), classes)
    sections.append(Section("In numbers", (table,), "table"))
    return Answer(verdict, key_numbers(dataset, look), tuple(sections), files=files)


def key_numbers(dataset: Dataset, look: DataLook) -> tuple[KeyNumber, ...]:
    """How much there is, in what units, and how much of it twice."""
    if dataset.kind == "image":
        form = KeyNumber("Image size", " × ".join(map(str, dataset.x.shape[1:3])), help="Height and width in pixels.")
    elif dataset.kind == "text":
        form = KeyNumber("Texts without words", count(look.n_wordless), help="Empty, or marks only.")
    else:
        form = KeyNumber("Columns", count(len(dataset.feature_names)), help="Columns of numbers.")
    n_sources = "none named" if dataset.sources is None else count(len(set(dataset.sources)))
    guess = look.labels.largest
    sources = KeyNumber(
        "Sources", n_sources, help="The person, site or device that a sample comes from, if the data name it."
    )
    units = KeyNumber(
        "Units",
        f"{count(dataset.n_units)} {plural(2, dataset.unit_word).partition(' ')[2]}",
        help="What was sampled independently. No split has a unit on both sides.",
    )
    return (
        KeyNumber("Samples", count(dataset.n_samples)),
        KeyNumber("Classes", count(dataset.n_classes)),
        form,
        *(() if dataset.sources_are_units else (sources,)),
        *(() if dataset.unit_codes is None else (units,)),
        KeyNumber(
            "Majority-class baseline",
            percent(guess.share),
            brackets(percent, guess.share, guess.interval),
            f"The accuracy of always predicting the largest class; 95 % CI over {design_of(dataset).others}.",
        ),
    )


def label_figure(dataset: Dataset) -> Figure:
    """Bars with the samples of each class."""
    caption = f"Samples per class and their share, n = {count(dataset.n_samples)}."
    return Figure("labels", partial(_label_distribution, dataset), caption, dataset.n_classes)


def _label_distribution(dataset: Dataset, *, dark: bool) -> go.Figure:
    return figures.label_distribution(dataset.class_names, dataset.n_per_class, dark=dark)


def number_figure(dataset: Dataset, number: NumberByClass) -> Figure:
    """How a number is spread over all samples, with its summary in a line."""
    drawn = partial(figures.number_histogram, number, noun=NOUNS[dataset.kind])
    return Figure("histogram", drawn, summary(number.overall))


def summary(numbers: NumberSummary) -> str:
    """A number over all samples in a line: mean, standard deviation, least, quartiles, greatest, n."""
    quartiles = ", ".join(f"{value:.4g}" for value in (numbers.lower_quartile, numbers.median, numbers.upper_quartile))
    return (
        f"Mean {numbers.mean:.4g}, standard deviation {numbers.std:.4g}; from {numbers.minimum:.4g} to "
        f"{numbers.maximum:.4g}, quartiles {quartiles}; n = {count(numbers.n)}."
    ).replace("-", MINUS)


def by_class(dataset: Dataset, number: NumberByClass) -> tuple[Beside, Table]:
    """The number within each class, and the classes along the number."""
    many = dataset.n_classes > figures.MOST_STACKED
    boxes = Figure(
        "boxes",
        partial(figures.class_boxes, number),
        "By class: box from quartile to quartile with median and mean (dashed), whiskers to 1.5 box lengths; the "
        "dotted line is the median of all.",
        dataset.n_classes,
    )
    shares = Figure(
        "shares",
        partial(figures.shares_by_number, number.shares, title=number.title),
        "Each class's share in a bin compared with its share in all; bins have about as many samples."
        if many
        else "Shares of the classes, in bins of equally many samples: level bars do not separate classes.",
        dataset.n_classes,
    )
    whiskers = (Column("Whisker, low", "whisker_low"), Column("Whisker, high", "whisker_high"))
    table = Table.of(
        f"{number.title} by class",
        (number.overall, *number.classes),
        (Column("Class", lambda row: row.name or "all"), Column("n", "n"), *_SPREAD, *whiskers),
        f"{number.title}, of all samples and by class; whiskers are those of the boxes above.",
    )
    return Beside((boxes, shares)), table


_SPREAD = tuple(
    Column(title, name)
    for title, name in {
        "Mean": "mean",
        "Std": "std",
        "Least": "minimum",
        "Quartile 1": "lower_quartile",
        "Median": "median",
        "Quartile 3": "upper_quartile",
        "Greatest": "maximum",
    }.items()
)


def column_table(summaries: ColumnSummaries) -> Table:
    """Every column of a table, summarised."""
    return Table.of(
        "Columns",
        summaries.rows,
        (
            Column("Column", "name"),
            Column("n", "n", "Values present"),
            Column("Missing", "n_missing", "Files with missing numbers are refused when read"),
            Column("Distinct", "n_distinct"),
            *_SPREAD,
            Column("Most frequent", "most_frequent"),
            Column("Times", "n_most_frequent"),
        ),
        "In the columns' own units. Models standardise columns, using the training part only.",
    )
