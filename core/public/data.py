"""What can be asked about? Data sets and predictions, of arrays or of files, and what a layer made of samples."""

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from touchstone.core.data import EXAMPLES, DataError, Dataset, Predictions, load_example, read_dataset
from touchstone.core.data.dataset import with_usual_units
from touchstone.core.data.tables.datasets import name_of, open_table, table_dataset
from touchstone.core.data.tables.roles import SINGLE, said_roles
from touchstone.core.models.layer_files import record_of
from touchstone.core.models.layers import LayerSamples

Layer = tuple[ArrayLike, ArrayLike, ArrayLike]
"""What a layer made of samples: features (n, d), labels (n,) and the model's probabilities (n, classes)."""


def dataset(
    x: ArrayLike | Iterable[str],
    y: ArrayLike,
    *,
    sources: Iterable[object] | None = None,
    unit: Iterable[object] | None = None,
    part: Iterable[str] | None = None,
    ids: Iterable[object] | None = None,
    name: str = "data",
) -> Dataset:
    """A data set of arrays: a table (n, columns), texts, or images (n, height, width[, channels]) up to 1 or 255.

    `y` are class names, or numbers, by whose size classes are then ordered. `sources` are who or what made each sample
    (a writer, a site), where that is known. `unit` names what was sampled independently, per sample, such as the author
    of each text; no split then has one on both sides. Where it is not given, ten sources or more are units, and exact
    copies of pictures and texts share one.
    `part` says "train", "validation" or "test" of each, where a model was trained on some of them. A frame's columns
    keep their names. Raises DataError for what cannot be used.

    Examples
    --------
    >>> dataset([[1.0], [9.0], [8.5]], ["plum", "melon", "melon"]).class_names
    ('melon', 'plum')
    """
    names = _in_order(y)
    values = np.asarray(x)
    kind, scale = "tabular", 1.0
    if values.dtype.kind in "OUT":
        kind, values = "text", values.astype(object)
    elif values.ndim in (3, 4):
        kind, values = "image", values[..., None] if values.ndim == 3 else values
        scale = 255.0 if values.size and values.max() > 1 else 1.0
        values = (values / scale).astype(np.float32)
    made = Dataset(
        name,
        kind,
        values,
        _codes(y, names),
        names,
        None if ids is None else [str(each) for each in ids],
        None if sources is None else [str(each) for each in sources],
        scale=scale,
        feature_names=[str(each) for each in getattr(x, "columns", ())] if kind == "tabular" else (),
        part=part,
        units=None if unit is None else [str(each) for each in unit],
    )
    return with_usual_units(made)


def read(
    file: str | PathLike[str],
    *,
    kind: str | None = None,
    image_size: tuple[int, int] | None = None,
    **columns: str | None,
) -> Dataset:
    """A data set of a file, as the app reads it, or the built-in example of this name (docs/file-formats.md).

    `columns` say which column is the `label`, `text`, `id`, `source`, `unit`, `part` or `image`; what is not said is
    guessed.
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
    if str(file) in EXAMPLES and not columns:
        return load_example(str(file))
    path = Path(file)
    if not columns:
        return read_dataset(path, kind=kind, image_size=image_size)
    table = open_table(path)
    if table is None:
        raise DataError(f"{path.name}: something was said of columns, but only tables have columns.")
    roles = said_roles(table, columns)
    return table_dataset(table, name=name_of(path.name), kind=kind, roles=roles, image_size=image_size, for_good=True)


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
    `class_names` (by default the classes that occur, in order). `unit` names what was sampled independently, per
    sample: the author of each text, the patient of each picture; by default each sample is a unit. Raises DataError
    for what does not fit together.

    Examples
    --------
    >>> made = predictions(["cat", "dog", "dog"], ["cat", "cat", "dog"], confidence=[0.9, 0.6, 0.8])
    >>> made.class_names, made.y_pred
    (('cat', 'dog'), array([0, 0, 1]))
    """
    occurring = _in_order(np.concatenate([np.asarray(y_true), np.asarray(y_pred)]))
    names = occurring if class_names is None else [str(each) for each in class_names]
    if unknown := set(occurring) - set(names):
        raise DataError(f"{name}: {sorted(unknown)[0]!r} is none of the classes, {', '.join(names)}.")
    true = _codes(y_true, names)
    return Predictions(
        [str(each) for each in (range(len(true)) if ids is None else ids)],
        true,
        _codes(y_pred, names),
        names,
        proba=proba,
        confidence=confidence,
        groups={} if unit is None else {"unit": [str(each) for each in unit]},
        name=name,
    )


def _in_order(y: ArrayLike) -> list[str]:
    """The names of the classes that occur, numbers by size and words by their letters."""
    values = np.asarray(y)
    return [str(each) for each in np.unique(values.astype(str) if values.dtype == object else values)]


def _codes(y: ArrayLike, names: list[str]) -> list[int]:
    code = {each: place for place, each in enumerate(names)}
    return [code[str(each)] for each in np.asarray(y)]


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
    seen: list[Any] = [
        LayerSamples(*(np.asarray(each) for each in given), names, name=called)
        for called, given in (("training part", train), ("test part", test))
    ]
    data, file = record_of(*seen, name=name)
    return data, file.to_bytes()
