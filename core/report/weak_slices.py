"""Where is the model weak? Verdict, slices and files, for report, command and Python."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from touchstone.core.data.dataset import Dataset
from touchstone.core.data.errors import DataError
from touchstone.core.data.predictions.record import Predictions
from touchstone.core.data.values import listed, shortened
from touchstone.core.evaluate.metrics import ACCURACY, metric_named
from touchstone.core.evaluate.weak_slices import (
    NO_COLUMNS,
    WEAK,
    WeakSlice,
    WeakSlices,
    beside,
    columns_of,
    find_weak_slices,
)
from touchstone.core.evaluate.wording import Verdict, bare_p, count, plural, resting
from touchstone.core.figures import weak_slices as figures
from touchstone.core.report.parts import Answer, Column, Figure, Quantity, Section, Table

MOST_SAMPLES, MOST_LETTERS = 200, 300
"""So many samples of a slice are on the screen, and so much of each value."""


def found_in(
    models: Mapping[str, Predictions],
    columns: Mapping[str, Any] | Dataset = NO_COLUMNS,
    *,
    model: str | None = None,
    metric: str = ACCURACY,
    positive: str | None = None,
    seed: int = 0,
) -> WeakSlices:
    """The slices of one of a file's models. Raises DataError where there are several and none is named."""
    if (model is None and len(models) > 1) or model not in (None, *models):
        raise DataError(f"The file has predictions of {listed(models)}. Name one of them as the model.")
    predictions = models[next(iter(models)) if model is None else model]
    return find_weak_slices(predictions, columns, metric=metric_named(metric).name, positive=positive, seed=seed)


def answer(found: WeakSlices) -> Answer:
    """Everything about the slices of a model's predictions."""
    figure = Figure(
        "weak-slices",
        partial(figures.slices, found),
        "How much weaker the model is within each slice than in the rest, with 95 % CIs for new data. Filled marks are "
        "significantly weaker, corrected for all slices judged.",
        len(found.slices),
    )
    sections = (Section("", (figure,)), Section("Slices in numbers", (_table(found),), "table")) if found.slices else ()
    numbers = tuple(
        Quantity("weak_slices.worse", (each.name,), each.worse, each.interval, each.n, each.design.others)
        for each in found.slices
    )
    return Answer(_verdict(found), (), sections, numbers, {"Weak slices": found.table})


def samples_table(one: WeakSlice, predictions: Predictions, dataset: Dataset | None = None) -> Table:
    """The samples of a slice in both halves, mistakes first, with what its rule is about."""
    samples = samples_of(one, predictions, dataset)
    shown = samples.head(MOST_SAMPLES).map(
        lambda cell: shortened(cell, MOST_LETTERS) if isinstance(cell, str) else cell
    )
    rest = f" The first {count(MOST_SAMPLES)} are shown." if len(samples) > MOST_SAMPLES else ""
    n_wrong = int((samples["true class"] != samples["predicted class"]).sum())
    caption = f"{one.name}: {plural(len(samples), 'sample')} of both halves, {plural(n_wrong, 'mistake')} first.{rest}"
    return Table("Samples of a slice", shown, (), caption)


def samples_of(one: WeakSlice, predictions: Predictions, dataset: Dataset | None = None) -> pd.DataFrame:
    """Tidy rows, a sample of the slice each: id, true and predicted class, confidence, and the columns of its rule."""
    columns = columns_of(predictions, NO_COLUMNS if dataset is None else beside(predictions, dataset)[1])
    inside = np.logical_and.reduce([each.holds(columns) for each in one.rule])
    at = np.flatnonzero(inside)
    at = at[np.argsort(predictions.correct[at], kind="stable")]
    names = np.array(predictions.class_names, dtype=object)
    table = {
        "id": predictions.ids[at],
        "true class": names[predictions.y_true[at]],
        "predicted class": names[predictions.y_pred[at]],
    }
    if predictions.confidence is not None:
        table["confidence"] = predictions.confidence[at]
    return pd.DataFrame(table | {each.column: columns[each.column][at] for each in one.rule})


def _verdict(found: WeakSlices) -> Verdict:
    weak = [resting(found.sentence(each), WEAK) for each in found.weak]
    used = (
        f"{found.design.samples(found.n)} judged {plural(len(found.slices), 'slice')} that the others found, by "
        f"{plural(len(found.columns), 'column')}."
    )
    if found.left_out:
        used += f" Left out, for they tell the mistakes: {listed(found.left_out)}."
    none = "No slice is shown to be weaker than the rest." if found.slices else "No slice stands out as weak."
    if not found.columns:
        none, used = "Nothing is known of these samples but their predictions.", ""
    return Verdict(
        headline=weak[0] if weak else none,
        used=used,
        advice=_advice(found),
        findings=tuple(weak[1:]),
        claims=tuple(each.claim for each in (*found.weak, *(s for s in found.slices if not s.is_weak))),
    )


def _advice(found: WeakSlices) -> str:
    if not found.columns:
        return "Next: add columns that describe the samples to the file, such as age, site or length."
    if found.weak:
        return "Next: look at the mistakes there, and collect more samples like these."
    return ""


def _table(found: WeakSlices) -> Table:
    words = found.words
    columns = (
        Column("Slice", "name"),
        Column("Within", lambda each: words.value(each.within.value, each.within.interval), words.title),
        Column("Rest", lambda each: words.value(each.rest.value, each.rest.interval), words.title),
        Column("Weaker by", lambda each: words.difference(each.worse, each.interval), "95 % CI for new data"),
        Column("Samples", lambda each: count(each.n), "Of the half that judges"),
        Column("p (Holm)", lambda each: bare_p(each.claim.p_value) if each.interval.known else ""),
        Column("Slice is", _decision),
    )
    return Table.of("Slices", found.slices, columns, "P-values are corrected for all slices of the table.")


def _decision(each: WeakSlice) -> str:
    return each.why_not or {"above": "weaker", "small": "as good"}.get(each.claim.decision, "undecided")
