"""Which label has each image of a zip, where a table in it says so? A metadata.csv with names of files, for example."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np

from touchstone.core.data.errors import DataError
from touchstone.core.data.limits import Archive, Limits, opened
from touchstone.core.data.tables.files import read_table
from touchstone.core.data.tables.image_columns import FILE_COLUMN
from touchstone.core.data.tables.image_folders import TABLE_ENDINGS, files_of, has_class_folders, is_picture
from touchstone.core.data.tables.names import NAMES, TRUTH_LIKELY, called, compact
from touchstone.core.data.tables.parts import part_name
from touchstone.core.data.tables.roles import NAMES as ROLE_NAMES
from touchstone.core.data.tables.table import Table, make_table
from touchstone.core.data.values import first_repeat, listed, objects, quoted

_FILE_NAMES = ("filename", "file", "image", "path", "filepath", "imagename", "imagepath", "imagefile", "img", "id")
_TABLES_OF_LABELS = ("metadata", "label", "annotation", "groundtruth")  # what names of such tables begin with


def labels_in(archive: Archive, limits: Limits) -> Table | None:
    """The table of labels of an archive, whose rows know their images; None where there is no such.

    Tables lie beside the images or above them, and a column of theirs names files, from their own folder on. Several
    tables of the same columns, one for train and one for test, are read as one. Where images lie in folders of classes,
    only a table counts that is called like one of labels, or has a column that is. DataError names the row without
    image.
    """
    pictures = list(filter(is_picture, files_of(archive)))
    tables = [path for path in files_of(archive) if pictures and path.suffix.lower() in TABLE_ENDINGS]
    in_folders = bool(tables) and has_class_folders(archive)
    labelled = list(filter(None, (_matched(archive, path, pictures, limits, in_folders) for path in tables)))
    if not labelled:
        return None
    table, paths = _joined(archive, labelled)
    if left := len(pictures) - len(paths):
        note = f"Images that no row names were left out: {left:,}."
        table = replace(table, notes=(*table.notes, note))
    return replace(
        label_of_ones(table), archive=archive.name, image_of=lambda row: (archive.read(paths[row]), paths[row])
    )


def label_of_ones(table: Table) -> Table:
    """The table with a label, where columns of 0 and 1 have a single 1 in each row, one column for each class.

    Columns that are called like parts are no classes, and nothing is sure where another column could be the label.

    >>> table = make_table("_classes.csv", ["cat", "dog"], [["1", "0", "0"], ["0", "1", "1"]], lines=[2, 3, 4])
    >>> label_of_ones(table).columns, label_of_ones(table).notes
    ({'label': array(['cat', 'dog', 'dog'], dtype=object)}, ('Label: which of cat, dog holds 1.',))
    """
    columns = _classes_of_ones(table)
    rest = {column: values for column, values in table.columns.items() if column not in columns}
    others = (table.is_label(column) and table.n_different(column) > 1 for column in rest)
    if not columns or any(others):
        return table
    label = objects([columns[place] for place in table.matrix(columns).argmax(axis=1)])
    note = f"Label: which of {listed(columns)} holds 1."
    return replace(table, columns={**rest, "label": label}, notes=(*table.notes, note))


def _classes_of_ones(table: Table) -> list[str]:
    """The columns of 0 and 1 of which each row has a single 1; none where a column is called like a label or a part."""
    if any(column.lower() in ROLE_NAMES["label"] for column in table.columns):
        return []
    columns = [column for column in table.columns if _is_of_ones(table, column)]
    if len(columns) < 2 or any(part_name(compact(column).removeprefix("is")) for column in columns):
        return []
    return columns if (table.matrix(columns).sum(axis=1) == 1).all() else []


def _is_of_ones(table: Table, column: str) -> bool:
    """Whether a column holds nothing but 0 and 1."""
    return table.kind(column) == "whole" and set(np.unique(table.floats(column))) <= {0.0, 1.0}


class _Labelled(NamedTuple):
    """A table of an archive, and the image of each of its rows."""

    path: PurePosixPath
    table: Table
    images: list[str]


def _matched(
    archive: Archive, path: PurePosixPath, pictures: list[PurePosixPath], limits: Limits, in_folders: bool
) -> _Labelled | None:
    """A table with the images that its rows name; None where no column does, or folders say the classes and not it."""
    table = _table_of_labels(archive, path, limits, in_folders)
    if table is None:
        return None
    path_of = _by_names(path.parent, pictures)
    for column in sorted(table.columns, key=lambda column: compact(column) not in _FILE_NAMES):
        names = _names_of_images(table.spelled(column), path_of)
        if names is None:
            continue
        _check_all_there(archive, table, names, path_of)
        others = {name: values for name, values in table.columns.items() if name != column}
        return _Labelled(path, replace(table, columns=others), [path_of[name] for name in names if name])
    return None


def _check_all_there(archive: Archive, table: Table, names: Sequence[str | None], known: Collection[str]) -> None:
    """DataError at the first row whose image is not in the archive."""
    missing = next((row for row, name in enumerate(names) if name not in known), None)
    if missing is not None:
        raise DataError(
            f"{archive.name}: {table.place(missing)}: there is no image {quoted(names[missing])} in the archive. "
            "Pack it, or leave the row out."
        )


def _table_of_labels(archive: Archive, path: PurePosixPath, limits: Limits, in_folders: bool) -> Table | None:
    """A table of an archive; None where folders say the classes, and neither its name nor its columns speak of any."""
    is_called_so = compact(path.stem).startswith(_TABLES_OF_LABELS)
    file = opened(archive.read(str(path)), path.name)
    try:
        table = read_table(file, limits=limits)
    except DataError as error:
        if in_folders and not is_called_so:
            return None
        raise DataError(f"{archive.name}: {error}") from error
    if in_folders and not is_called_so and not called(table.columns, (*NAMES["truth"], *TRUTH_LIKELY)):
        return None
    return table


def _names_of_images(cells: Sequence[str | None], known: Collection[str]) -> Sequence[str | None] | None:
    """Cells that name images, most of those at the top; without a folder that is elsewhere, where only so they do."""
    without_folders = (name and PurePosixPath(name).name for name in cells)
    for names in (cells, list(without_folders)):
        if sum(name in known for name in names[:100]) > len(names[:100]) / 2:
            return names
    return None


def _by_names(folder: PurePosixPath, pictures: list[PurePosixPath]) -> dict[str, str]:
    """Paths of images by what a table in a folder may call them: from there on, in full, or a name that is unique."""
    exact, by_name = {}, {}
    for picture in pictures:
        exact[str(picture)] = str(picture)
        if picture.is_relative_to(folder):
            exact[str(picture.relative_to(folder))] = str(picture)
        for name in {picture.name, picture.stem}:
            by_name.setdefault(name, []).append(str(picture))
    return {name: paths[0] for name, paths in by_name.items() if len(paths) == 1} | exact


def _check_alike(archive: Archive, first: _Labelled, others: Sequence[_Labelled]) -> None:
    """DataError where tables have other columns, or other names for their classes."""
    for other in others:
        if other.table.columns.keys() != first.table.columns.keys():
            raise DataError(
                f"{archive.name}: {first.path} and {other.path} both name images, and have other columns. "
                "Keep one of them."
            )
        if other.table.class_names != first.table.class_names:
            raise DataError(
                f"{archive.name}: {first.path} and {other.path} name their classes differently, so that a number means "
                "two things. Write the names of the classes into the rows."
            )


def _joined(archive: Archive, labelled: Sequence[_Labelled]) -> tuple[Table, list[str]]:
    """One table of several, and a row for each image; DataError where an image is named twice, or columns differ."""
    _check_alike(archive, labelled[0], labelled[1:])
    tables, first = [each.table for each in labelled], labelled[0].table
    paths = list(chain.from_iterable(each.images for each in labelled))
    if repeat := first_repeat(paths):
        raise DataError(f"{archive.name}: {paths[repeat[1]]} is named twice in the tables. Each image has one row.")
    columns = {
        name: np.concatenate([objects(table.columns[name].tolist()) for table in tables]) for name in first.columns
    }
    if parts := _parts(labelled):
        columns.setdefault("part", objects(parts))
    lines = np.concatenate([table.lines for table in tables])
    name = f"{archive.name}: {', '.join(str(each.path) for each in labelled)}"
    joined = make_table(
        name, [FILE_COLUMN, *columns], [objects(paths), *columns.values()], lines=lines, unit=first.unit
    )
    notes = dict.fromkeys(chain.from_iterable(table.notes for table in tables))
    return replace(joined, notes=(*joined.notes, *notes), class_names=first.class_names), paths


def _parts(labelled: Sequence[_Labelled]) -> list[str]:
    """The part of each image, where all belong to one, and to several in all; else none."""
    parts = [_part_of(image, each.path) for each in labelled for image in each.images]
    return [part for part in parts if part is not None] if None not in parts and len(set(parts)) > 1 else []


def _part_of(image: str, table: PurePosixPath) -> str | None:
    """Which part an image belongs to: the one that a folder of its is called after, else its table."""
    return next(filter(part_name, (*PurePosixPath(image).parts[:-1], table.stem)), None)
