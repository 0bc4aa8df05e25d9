"""What is a data set like? Its numbers, words, columns and mean images, each drawn as soon as it is worked out."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from touchstone.core.data import Dataset
from touchstone.core.evaluate.data_sets import (
    ColumnSummaries,
    LabelCounts,
    NumberByClass,
    NumberSummary,
    WordCounts,
    english_stop_words,
)
from touchstone.core.evaluate.data_sets.verdict import NOUNS
from touchstone.core.evaluate.units import design_of
from touchstone.core.evaluate.wording import MINUS, count, percent, plural, quoted
from touchstone.core.figures import data_sets as figures
from touchstone.core.figures.data_sets import characteristic_words, frequent_words
from touchstone.core.figures.marks import MOST_IN_SIGHT
from touchstone.core.represent import number_title, numbers_of
from touchstone.ui.data.samples import LAZY_ROWS, enlarged
from touchstone.ui.data_sets import results
from touchstone.ui.data_sets.work import DataLook
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.shell import background, page, take_away
from touchstone.ui.shell.page import Metric

BOX = 430
N_WORDS = 15


def metrics(dataset: Dataset, look: DataLook) -> list[Metric]:
    """How much there is, in what units, and how much of it twice."""
    if dataset.kind == "image":
        form = Metric("Image size", " × ".join(map(str, dataset.x.shape[1:3])), help="Height and width in pixels.")
    elif dataset.kind == "text":
        form = Metric("Texts without words", count(look.n_wordless), help="Empty, or marks only.")
    else:
        form = Metric("Columns", count(len(dataset.feature_names)), help="Columns of numbers.")
    n_sources = "none named" if dataset.sources is None else count(len(set(dataset.sources)))
    guess = look.labels.largest
    sources = Metric(
        "Sources", n_sources, help="The person, site or device that a sample comes from, if the data name it."
    )
    units = Metric(
        "Units",
        f"{count(dataset.n_units)} {plural(2, dataset.unit_word).partition(' ')[2]}",
        help="What was sampled independently. No split has a unit on both sides.",
    )
    return [
        Metric("Samples", count(dataset.n_samples)),
        Metric("Classes", count(dataset.n_classes)),
        form,
        *([] if dataset.sources_are_units else [sources]),
        *([] if dataset.unit_codes is None else [units]),
        Metric(
            "Majority-class baseline",
            percent(guess.share),
            percent(guess.share, guess.interval).removeprefix(percent(guess.share)).strip(),
            f"The accuracy of always predicting the largest class; 95 % CI over {design_of(dataset).others}.",
        ),
    ]


def in_a_box(n_rows: int, draw: Callable[[], None], *, key: str) -> None:
    """Draw something with a row per class at its full height, or in a box that scrolls where there are many."""
    if n_rows <= MOST_IN_SIGHT:
        draw()
    else:
        with st.container(height=BOX, border=False, key=key):
            draw()


def labels(dataset: Dataset, counts: LabelCounts) -> None:
    """Bars with the samples of each class."""
    figure = partial(_label_distribution, dataset)
    caption = f"Samples per class and their share, n = {count(counts.n_samples)}."
    in_a_box(dataset.n_classes, lambda: page.figure(figure, caption, key="labels"), key="labels-box")


def _label_distribution(dataset: Dataset, *, dark: bool) -> go.Figure:
    return figures.label_distribution(dataset.class_names, dataset.n_per_class, dark=dark)


def choose_number(dataset: Dataset) -> tuple[str, dict[str, list[str]]]:
    """Which number of every sample the figures are about, and how the address says so.

    There is a control only where there are several.
    """
    titles = {name: number_title(dataset, name) for name in numbers_of(dataset)}
    if len(titles) == 1:
        return next(iter(titles)), {}
    control = One("number", "Column in question", titles, next(iter(titles)))
    check_address([control])
    chosen = control.draw()
    return chosen, {control.key: control.written(chosen)}


def number(dataset: Dataset, by_class: NumberByClass) -> None:
    """How the number is spread over all samples, with its summary in a line."""
    noun = NOUNS[dataset.kind]
    page.figure(
        partial(figures.number_histogram, by_class, noun=noun), page.plain(summary(by_class.overall)), key="histogram"
    )


def summary(numbers: NumberSummary) -> str:
    """A number over all samples in a line: mean, standard deviation, least, quartiles, greatest, n."""
    quartiles = ", ".join(f"{value:.4g}" for value in (numbers.lower_quartile, numbers.median, numbers.upper_quartile))
    return (
        f"Mean {numbers.mean:.4g}, standard deviation {numbers.std:.4g}; from {numbers.minimum:.4g} to "
        f"{numbers.maximum:.4g}, quartiles {quartiles}; n = {count(numbers.n)}."
    ).replace("-", MINUS)


def by_class(dataset: Dataset, numbers: NumberByClass) -> None:
    """The number within each class, and the classes along the number."""
    boxes, shares = st.columns(2, gap="large")
    with boxes:
        figure = partial(figures.class_boxes, numbers)
        caption = (
            "By class: box from quartile to quartile with median and mean (dashed), whiskers to 1.5 box lengths; the "
            "dotted line is the median of all."
        )
        in_a_box(dataset.n_classes, lambda: page.figure(figure, caption, key="boxes"), key="boxes-box")
    with shares:
        drawn = partial(figures.shares_by_number, numbers.shares, title=numbers.title)
        caption = "Shares of the classes, in bins of equally many samples: level bars do not separate classes."
        many = dataset.n_classes > figures.MOST_STACKED
        if many:
            caption = "Each class's share in a bin compared with its share in all; bins have about as many samples."
        in_a_box(dataset.n_classes, lambda: page.figure(drawn, caption, key="shares"), key="shares-box")
    _number_table(numbers)


def words(dataset: Dataset) -> None:
    """The most frequent words, and those that set a class apart."""
    counts = background.answer(results.words(dataset), "Counting words", key="words")
    if counts is None:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        label = st.selectbox("Class", dataset.class_names, key="words-class", width=250)
        plain_only = st.toggle(
            "Leave out common English words", key="stop-words", help="scikit-learn's list: the, of, and, is, ..."
        )
    everywhere, here, apart = st.columns(3, gap="medium")
    with everywhere:
        figure = partial(_frequent_words, counts, None, plain_only)
        page.figure(figure, f"Most frequent in all texts; {count(counts.n_words)} words in all.", key="frequent")
    with here:
        figure = partial(_frequent_words, counts, label, plain_only)
        page.figure(figure, f"Most frequent in {page.plain(quoted(label))}.", key="frequent-class")
    with apart:
        figure = partial(_characteristic_words, counts, label, plain_only)
        caption = f"Most characteristic of {page.plain(quoted(label))}, largest z first (log-odds over their SE)."
        page.figure(figure, caption, key="characteristic")
    take_away.offer({"Words": counts.table}, stem="data-set")


def _frequent_words(counts: WordCounts, label: str | None, plain_only: bool, *, dark: bool) -> go.Figure:
    return frequent_words(_shown(counts, plain_only).frequent(label, most=N_WORDS), dark=dark)


def _characteristic_words(counts: WordCounts, label: str, plain_only: bool, *, dark: bool) -> go.Figure:
    return characteristic_words(_shown(counts, plain_only).characteristic(label, most=N_WORDS), dark=dark)


def _shown(counts: WordCounts, plain_only: bool) -> WordCounts:
    return counts.without(english_stop_words()) if plain_only else counts


def columns(summaries: ColumnSummaries) -> None:
    """Every column of a table, summarised."""
    st.dataframe(
        summaries.table(), column_config=_COLUMNS, hide_index=True, lazy=len(summaries.rows) > LAZY_ROWS, alt="Columns"
    )
    st.caption("In the columns' own units. Models standardise columns, using the training part only.")


_COLUMNS = {
    "name": "Column",
    "n": st.column_config.NumberColumn("n", help="Values present"),
    "n_missing": st.column_config.NumberColumn("Missing", help="Files with missing numbers are refused when read"),
    "n_distinct": st.column_config.NumberColumn("Distinct"),
    **{
        name: st.column_config.NumberColumn(title, format="%.4g")
        for name, title in {
            "mean": "Mean",
            "std": "Std",
            "minimum": "Least",
            "lower_quartile": "Quartile 1",
            "median": "Median",
            "upper_quartile": "Quartile 3",
            "maximum": "Greatest",
            "most_frequent": "Most frequent",
            "whisker_low": "Whisker, low",
            "whisker_high": "Whisker, high",
        }.items()
    },
    "n_most_frequent": st.column_config.NumberColumn("Times"),
}


def mean_images(dataset: Dataset, pictures: np.ndarray) -> None:
    """The mean image of each class, its n beneath."""
    with st.grid("auto", min_column_width=72, gap="xsmall"):
        for name, n, picture in zip(dataset.class_names, dataset.n_per_class, pictures, strict=True):
            caption = f"{page.plain(name)}  \nn = {count(int(n))}"
            st.image(enlarged(picture), caption=caption, alt=f"Mean image of {name}", output_format="PNG")
    st.caption("The mean of all images of a class: sharp parts are common to all images, blurred parts vary.")


def tables(look: DataLook, numbers: NumberByClass | None) -> dict[str, Callable[[], pd.DataFrame]]:
    """What can be taken away, by title."""
    frames: dict[str, Callable[[], pd.DataFrame]] = {"Classes": look.labels.table}
    if numbers is not None:
        frames |= {"Number by class": numbers.table, "Classes along the number": numbers.shares.table}
    if look.columns is not None:
        frames |= {"Columns": look.columns.table}
    return frames


def _number_table(numbers: NumberByClass) -> None:
    """The number over all samples and within each class, as a table."""
    table = numbers.table().replace({"name": {"": "all"}})
    st.dataframe(table, column_config=_COLUMNS | {"name": "Class"}, hide_index=True, alt=f"{numbers.title} by class")
    st.caption(page.plain(f"{numbers.title}, of all samples and by class; whiskers are those of the boxes above."))
