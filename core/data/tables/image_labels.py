"""Which label has each image of a zip, where a table in it says so? A metadata.csv with names of files, for example."""

import io
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np

from core.data.errors import DataError
from core.data.limits import Archive, Limits
from core.data.tables.column_names import NAMES, TRUTH_LIKELY, called, compact
from core.data.tables.files import read_table
from core.data.tables.image_columns import FILE_COLUMN
from core.data.tables.image_folders import IMAGE_ENDINGS, TABLE_ENDINGS, files_of, has_class_folders
from core.data.tables.parts import part_name
from core.data.tables.roles import NAMES as ROLE_NAMES
from core.data.tables.table import Table, make_table
from core.data.values import first_repeat, listed, objects, quoted

_FILE_NAMES = ("filename", "file", "image", "path", "filepath", "imagename", "imagepath", "imagefile", "img", "id")
_TABLES_OF_LABELS = ("metadata", "label", "annotation", "groundtruth")  # what names of such tables begin with


def labels_in(archive: Archive, limits: Limits) -> Table | None:
    """The table of labels of an archive, whose rows know their images; None where there is no such.

    Tables lie beside the images or above them, and a column of theirs names files, from their own folder on. Several
    tables of the same columns, one for train and one for test, are read as one. Where images lie in folders of classes,
    only a table counts that is called like one of labels, or has a column that is. DataError names the row without
    image.
    """
    pictures = [path for path in files_of(archive) if path.suffix.lower() in IMAGE_ENDINGS]
    tables = [path for path in files_of(archive) if pictures and path.suffix.lower() in TABLE_ENDINGS]
    in_folders = bool(tables) and has_class_folders(archive)
    found = [each for path in tables if (each := _matched(archive, path, pictures, limits, in_folders)) is not None]
    if not found:
        return None
    table, paths = _joined(archive, found)
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
    if any(column.lower() in ROLE_NAMES["label"] for column in table.columns):
        return table
    whole = [column for column in table.columns if table.kind(column) == "whole"]
    columns = [column for column in whole if set(np.unique(table.floats(column))) <= {0.0, 1.0}]
    ones = table.matrix(columns) if len(columns) > 1 else np.zeros((table.n_rows, 1))
    rest = {column: values for column, values in table.columns.items() if column not in columns}
    are_parts = any(part_name(compact(column).removeprefix("is")) for column in columns)
    others = any(table.is_label(column) and table.n_different(column) > 1 for column in rest)
    if are_parts or others or not (ones.sum(axis=1) == 1).all():
        return table
    label = objects([columns[place] for place in ones.argmax(axis=1)])
    note = f"Label: which of {listed(columns)} holds 1."
    return replace(table, columns={**rest, "label": label}, notes=(*table.notes, note))


def _matched(
    archive: Archive, path: PurePosixPath, pictures: list[PurePosixPath], limits: Limits, in_folders: bool
) -> tuple[PurePosixPath, Table, list[str]] | None:
    """A table with the images that its rows name; None where no column does, or folders say the classes and not it."""
    is_called_so = compact(path.stem).startswith(_TABLES_OF_LABELS)
    stream = io.BytesIO(archive.read(str(path)))
    stream.name = path.name
    try:
        table = read_table(stream, limits=limits)
    except DataError as error:
        if in_folders and not is_called_so:
            return None
        raise DataError(f"{archive.name}: {error}") from error
    if in_folders and not is_called_so and not called(table.columns, (*NAMES["truth"], *TRUTH_LIKELY)):
        return None
    path_of = _by_names(path.parent, pictures)
    likely = sorted(table.columns, key=lambda column: compact(column) not in _FILE_NAMES)
    for column in likely:
        spelled = table.spelled(column)
        if sum(name in path_of for name in spelled[:100]) <= len(spelled[:100]) / 2:
            spelled = [name and PurePosixPath(name).name for name in spelled]  # of a folder that is elsewhere
        if sum(name in path_of for name in spelled[:100]) <= len(spelled[:100]) / 2:
            continue
        missing = next((row for row, name in enumerate(spelled) if name not in path_of), None)
        if missing is not None:
            raise DataError(
                f"{archive.name}: {table.place(missing)}: there is no image {quoted(spelled[missing])} in the archive. "
                "Pack it, or leave the row out."
            )
        others = {name: values for name, values in table.columns.items() if name != column}
        return path, replace(table, columns=others), [path_of[name] for name in spelled if name]
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


def _joined(archive: Archive, found: list[tuple[PurePosixPath, Table, list[str]]]) -> tuple[Table, list[str]]:
    """One table of several, and a row for each image; DataError where an image is named twice, or columns differ."""
    first = found[0][1]
    for path, table, _ in found[1:]:
        if table.columns.keys() != first.columns.keys():
            raise DataError(
                f"{archive.name}: {found[0][0]} and {path} both name images, and have other columns. Keep one of them."
            )
        if table.class_names != first.class_names:
            raise DataError(
                f"{archive.name}: {found[0][0]} and {path} name their classes differently, so that a number means two "
                "things. Write the names of the classes into the rows."
            )
    paths = [path for _, _, images in found for path in images]
    if repeat := first_repeat(paths):
        raise DataError(f"{archive.name}: {paths[repeat[1]]} is named twice in the tables. Each image has one row.")
    columns = {
        name: np.concatenate([objects(table.columns[name].tolist()) for _, table, _ in found]) for name in first.columns
    }
    parts = [_part_of(image, path) for path, _, images in found for image in images]
    if None not in parts and len(set(parts)) > 1:
        columns.setdefault("part", objects(parts))
    lines = np.concatenate([table.lines for _, table, _ in found])
    name = f"{archive.name}: {', '.join(str(path) for path, _, _ in found)}"
    joined = make_table(
        name, [FILE_COLUMN, *columns], [objects(paths), *columns.values()], lines=lines, unit=first.unit
    )
    notes = dict.fromkeys(note for _, table, _ in found for note in table.notes)
    return replace(joined, notes=(*joined.notes, *notes), class_names=first.class_names), paths


def _part_of(image: str, table: PurePosixPath) -> str | None:
    """Which part an image belongs to: the one that a folder of its is called after, else its table."""
    return next(filter(part_name, (*PurePosixPath(image).parts[:-1], table.stem)), None)
