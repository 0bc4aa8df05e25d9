# pyright: strict, reportMissingTypeStubs=false, reportUnknownMemberType=false
"""What can be asked about? Data sets and predictions, of arrays or of files, and what a layer made of samples."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from touchstone.core.data import EXAMPLES, DataError, Dataset, Predictions, load_example, read_dataset
from touchstone.core.data.categories import with_indicators
from touchstone.core.data.dataset import Kind, with_usual_units
from touchstone.core.data.errors import RolesNeeded
from touchstone.core.data.frames import Frame, file_of, frame_of, is_path
from touchstone.core.data.predictions.blocks import NamesOfClasses, Written, matched_names
from touchstone.core.data.predictions.roles import Roles
from touchstone.core.data.tables.datasets import name_of, open_table, table_dataset
from touchstone.core.data.tables.names import class_order, codes_of, numbered_names
from touchstone.core.data.tables.npz import pixels_of
from touchstone.core.data.tables.roles import SINGLE, said_roles
from touchstone.core.data.values import array_of, objects
from touchstone.core.evaluate.wording import plural
from touchstone.core.models.layer_files import record_of
from touchstone.core.models.layers import LayerSamples
from touchstone.core.report.card import ROLES, Card, Given, read_card

Layer = tuple[ArrayLike, ArrayLike, ArrayLike]
"""What a layer made of samples: features (n, d), labels (n,) and the model's probabilities (n, classes)."""


def dataset(
    x: ArrayLike | Iterable[str] | Frame,
    y: ArrayLike,
    *,
    sources: Iterable[object] | None = None,
    unit: Iterable[object] | None = None,
    part: Iterable[str] | None = None,
    ids: Iterable[object] | None = None,
    class_names: Iterable[object] | None = None,
    scale: float | int | None = None,
    name: str = "data",
) -> Dataset:
    """A data set of arrays: a table (n, columns), texts, or images (n, height, width[, channels]).

    `y` are class names, or numbers, by whose size classes are then ordered; `class_names` say their order, or what
    codes 0, 1, ... stand for. Pixels are divided by `scale`, by default as those of files: not where they lie in
    [0, 1], by 16 where they are whole numbers up to 16, by 255 where they are up to 255.
    `sources` are who or what made each sample (a writer, a site), where that is known. `unit` names what was sampled
    independently, per sample, such as the author of each text; no split then has one on both sides. Where it is not
    given, ten sources or more are units, and exact copies of pictures and texts share one.
    `part` says "train", "validation" or "test" of each, where a model was trained on some of them. A frame's columns
    keep their names; one of names, such as sex, becomes a column of 0 and 1 for each of these ("sex=male"), and a model
    that was fitted on the frame is asked with the names. Raises DataError for what cannot be used.

    Examples
    --------
    >>> dataset([[1.0], [9.0], [8.5]], ["plum", "melon", "melon"]).class_names
    ('melon', 'plum')
    >>> dataset([[1.0], [9.0], [8.5]], [1, 0, 0], class_names=["plum", "melon"]).class_names
    ('plum', 'melon')
    """
    labels = _words(y, "y", name)
    values, columns = _columns(x, name)
    names = list(class_order(labels)) if class_names is None else _words(class_names, "class_names", name)
    kind, divided_by = "tabular", 1.0
    if values.dtype.kind in "OUT":
        kind, values = "text", values.astype(object).reshape(len(values)) if values.size == len(values) else values
    elif values.ndim in (3, 4):
        kind = "image"
        values, divided_by = _pixels(values, scale, name)
    made = Dataset(
        name,
        kind,
        values,
        codes_of(labels if class_names is None else _named(labels, names, name), names),
        names,
        None if ids is None else _words(ids, "ids", name),
        None if sources is None else _words(sources, "sources", name),
        scale=divided_by,
        feature_names=columns if kind == "tabular" else (),
        part=part,
        units=None if unit is None else _words(unit, "unit", name),
    )
    return with_usual_units(made)


def _pixels(values: np.ndarray, scale: float | int | None, name: str) -> tuple[np.ndarray, float]:
    """Images in [0, 1], and what they were divided by: what somebody says, else as pixels of a file."""
    try:
        pixels, by_rule, _ = pixels_of(values if scale is None else values / scale, f"{name}: x")
    except DataError as problem:
        remedy = "Or say what they are divided by, such as scale=255." if scale is None else f"Divided by {scale:g}."
        raise DataError(f"{problem} {remedy}") from None
    return pixels, by_rule if scale is None else float(scale)


def read(
    file: str | PathLike[str] | Frame,
    *,
    kind: Kind | None = None,
    image_size: tuple[int, int] | None = None,
    **columns: str | None,
) -> Dataset:
    """A data set of a file, as the app reads it, or the built-in example of this name (docs/file-formats.md).

    A frame (pandas, Polars, PyArrow, ...) is read as its Parquet file would be. `columns` say which column is the
    `label`, `text`, `id`, `source`, `unit`, `part` or `image`; what is not said is guessed.
    Raises DataError for what cannot be read, and `RolesNeeded`, which is one, where a column has to be named.

    Examples
    --------
    >>> read("wine").n_samples
    178
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("size,kind,seen by\\n" + "1.0,plum,ann\\n9.0,melon,bob\\n8.5,melon,ann\\n")
    ...     file.flush()
    ...     read(file.name, label="kind", source="seen by").sources
    array(['ann', 'bob', 'ann'], dtype=object)
    """
    if unknown := columns.keys() - set(SINGLE):
        raise DataError(f"There is no role {sorted(unknown)[0]!r}. Columns can be said for {', '.join(SINGLE)}.")
    if is_path(file) and str(file) in EXAMPLES and not columns:
        return load_example(str(file))
    given = Path(file) if is_path(file) else file_of(file, "frame")
    if not columns:
        return read_dataset(given, kind=kind, image_size=image_size)
    table = open_table(given)
    if table is None:
        raise DataError(f"{given.name}: something was said of columns, but only tables have columns.")
    roles = said_roles(table, columns)
    return table_dataset(table, name=name_of(given.name), kind=kind, roles=roles, image_size=image_size, for_good=True)


def predictions(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    confidence: ArrayLike | None = None,
    proba: ArrayLike | None = None,
    class_names: Iterable[object] | None = None,
    ids: Iterable[object] | None = None,
    unit: Iterable[object] | None = None,
    name: str = "predictions",
) -> Predictions:
    """One model's predictions on one test set: true and predicted classes, by name or number, and its confidence.

    Instead of `confidence`, the probability of the predicted class, `proba` may be given, a column for each of
    `class_names` (by default the classes that occur, in order). Names of both sides are matched as those of a file:
    LABEL_0 is 0. Where one side holds codes 0, 1, ..., `class_names` say what they stand for. `unit` names what was
    sampled independently, per sample: the author of each text, the patient of each picture; by default each sample is
    a unit. Raises DataError for what does not fit together, or is missing.

    Examples
    --------
    >>> made = predictions(["cat", "dog", "dog"], ["cat", "cat", "dog"], confidence=[0.9, 0.6, 0.8])
    >>> made.class_names, made.y_pred
    (('cat', 'dog'), array([0, 0, 1]))
    """
    true, predicted = _words(y_true, "y_true", name), _words(y_pred, "y_pred", name)
    matched = NamesOfClasses({}, {})
    if class_names is None:
        matched = _matched(true, predicted, name)
        true, predicted = [matched.known[each] for each in true], [matched.answers[each] for each in predicted]
        names = list(class_order([*true, *predicted]))
    else:
        names = _words(class_names, "class_names", name)
        true, predicted = (_named(labels, names, name) for labels in (true, predicted))
    return Predictions(
        [str(row) for row in range(len(true))] if ids is None else _words(ids, "ids", name),
        codes_of(true, names),
        codes_of(predicted, names),
        names,
        proba=None if proba is None else array_of(proba),
        confidence=None if confidence is None else array_of(confidence),
        groups={} if unit is None else {"unit": _words(unit, "unit", name)},
        warnings=matched.warnings,
        notes=matched.notes,
        name=name,
    )


def _matched(true: list[str], predicted: list[str], name: str) -> NamesOfClasses:
    """One name for each class, as those of a file are matched. Raises DataError where both have nothing in common."""
    try:
        return matched_names(Written(true, predicted), roles=Roles("y_true"), truth_place=f"{name}: y_true")
    except RolesNeeded as question:
        raise DataError(
            f"{question} Give both sides the same names; or class_names=, in the order of the codes where one side "
            "holds 0, 1, ..."
        ) from None


def _named(labels: list[str], names: list[str], name: str) -> list[str]:
    """Labels by these class names: as they are written, or as the codes 0, 1, ... of the names."""
    known = set(names)
    if known.issuperset(labels):
        return labels
    of_codes = numbered_names(names, labels)
    if not of_codes:
        known |= {str(code) for code in range(len(names))} if all(map(str.isdecimal, labels)) else set()
        unknown = next(label for label in labels if label not in known)
        raise DataError(f"{name}: {unknown!r} is none of the classes, {', '.join(names)}.")
    return list(of_codes)


def _words(values: Any, what: str, name: str) -> list[str]:
    """Each value as a name, whole numbers without a point. Raises DataError, naming the first, where one is missing.

    A list stays one of objects, for numpy spells the NaN among words as the word "nan".
    """
    array = array_of(values) if hasattr(values, "__array__") else objects(list(values))
    missing = np.flatnonzero(pd.isna(array))
    if len(missing):
        raise DataError(
            f"{name}: {what} is missing (None or NaN) in {plural(len(missing), 'row')} of {len(array)}, first in row "
            f"{missing[0]} (counted from 0). Leave these rows out, or give them a name of their own."
        )
    plain = [each.item() if hasattr(each, "item") else each for each in array.tolist()]
    return [str(int(each)) if isinstance(each, float) and each.is_integer() else str(each) for each in plain]


def _columns(x: Any, name: str) -> tuple[np.ndarray, list[str]]:
    """Values as an array, and what its columns are called: those of a frame, where names became columns of 0 and 1."""
    frame = frame_of(x)
    if frame is None:
        return array_of(x), []
    values, columns = array_of(frame), [str(each) for each in frame.columns]
    if len(columns) < 2 or values.dtype.kind not in "OUT":
        return values, columns
    made = with_indicators({column: frame.iloc[:, place] for place, column in enumerate(columns)}, name)
    return np.column_stack([*made.values()]), [*made]


def record(
    train: Layer, test: Layer, *, class_names: Iterable[object], name: str = "features"
) -> tuple[Dataset, bytes]:
    """What a layer of a model made of training and test samples, to ask about in the place of the model.

    `train` and `test` are features, labels (codes into `class_names`) and the model's probabilities. The data set and
    the record that come back are what `check` takes for test_quality, covariate_shift and guided_tests.

    Examples
    --------
    >>> part = ([[0.0, 1.0], [2.0, 1.0]], [0, 1], [[0.9, 0.1], [0.4, 0.6]])
    >>> data, model = record(part, part, class_names=["cat", "dog"])
    >>> data.n_samples
    4
    """
    names = tuple(str(each) for each in class_names)
    seen, tested = (
        LayerSamples(*map(np.asarray, given), class_names=names, name=called)
        for called, given in (("training part", train), ("test part", test))
    )
    data, file = record_of(seen, tested, name=name)
    return data, file.to_bytes()


def card(
    file: str | PathLike[str] | Frame, truth: str | PathLike[str] | None = None, *, accept: bool = False, **said: str
) -> Card:
    """What is understood of a file of predictions or of data, or of a frame, before anything counts.

    What is read is in docs/file-formats.md; a frame is read as its Parquet file would be. `truth` is the truth in a
    file of its own. `said` are columns and choices by role, such as `predicted="answer"` or `unanswered="left out"`;
    what is not said is guessed. `accept` takes the likeliest answer to every question. It raises DataError for a role
    that does not exist; what is wrong with the file stands on the card (`refused`).

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> with NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("id,gold,predicted\\n1,cat,cat\\n2,dog,\\n3,dog,dog\\n4,cat,dog\\n")
    ...     file.flush()
    ...     asked, read = card(file.name), card(file.name, unanswered="left out")
    >>> asked.questions[0].choices, read.n, read.n_given, round(read.accuracy, 2)
    (('wrong', 'left out', 'of their own'), 3, 4, 0.67)
    """
    if unknown := said.keys() - {*ROLES}:
        raise DataError(f"There is no role {min(unknown)!r}. Roles are {', '.join(ROLES)}.")
    given = Path(file) if is_path(file) else file_of(file, "frame")
    return read_card(given, Given(None if truth is None else Path(truth), said=said, accept=accept))
