"""Which label has each image of a zip, where a table in it says so? A metadata.csv with names of files, for example."""

import io
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np

from core.data.errors import DataError
from core.data.limits import Archive
from core.data.tables.files import read_table
from core.data.tables.image_columns import ImageOf
from core.data.tables.image_folders import IMAGE_ENDINGS, TABLE_ENDINGS, files_of
from core.data.tables.parts import part_name
from core.data.tables.table import Table, compact, make_table
from core.data.values import first_repeat, objects, quoted

_FILE_NAMES = ("filename", "file", "image", "path", "filepath", "imagename", "imagepath", "imagefile", "img", "id")
FILE_COLUMN = "file in the archive"


def labels_in(archive: Archive) -> tuple[Table, list[str]] | None:
    """The table of labels of an archive and, for each of its rows, the path of the image; None where there is no such.

    Tables lie beside the images or above them, and a column of theirs names files, from their own folder on. Several
    tables of the same columns, one for train and one for test, are read as one. DataError names the row without image.
    """
    pictures = [path for path in files_of(archive) if path.suffix.lower() in IMAGE_ENDINGS]
    tables = [path for path in files_of(archive) if path.suffix.lower() in TABLE_ENDINGS]
    found = [each for path in tables if (each := _matched(archive, path, pictures)) is not None]
    if not found:
        return None
    table, paths = _joined(archive, found)
    if left := len(pictures) - len(paths):
        note = f"Images that no row names were left out: {left:,}."
        table = replace(table, notes=(*table.notes, note))
    return table, paths


def images_of(archive: Archive, paths: list[str]) -> ImageOf:
    """The images of a table of labels by row."""
    return lambda row: (archive.read(paths[row]), paths[row])


def _matched(
    archive: Archive, path: PurePosixPath, pictures: list[PurePosixPath]
) -> tuple[PurePosixPath, Table, list[str]] | None:
    """A table with the images that its rows name; None where no column of it names any."""
    stream = io.BytesIO(archive.read(str(path)))
    stream.name = path.name
    try:
        table = read_table(stream)
    except DataError as error:
        raise DataError(f"{archive.name}: {error}") from error
    path_of = _by_names(path.parent, pictures)
    likely = sorted(table.columns, key=lambda column: compact(column) not in _FILE_NAMES)
    for column in likely:
        spelled = table.spelled(column)
        if sum(name in path_of for name in spelled[:100]) <= len(spelled[:100]) / 2:
            continue
        missing = next((row for row, name in enumerate(spelled) if name not in path_of), None)
        if missing is not None:
            raise DataError(
                f"{archive.name}: {table.place(missing)}: there is no image {quoted(spelled[missing])} in the archive. "
                "Pack it, or leave the row out."
            )
        others = {name: values for name, values in table.columns.items() if name != column}
        return path, Table(table.name, others, table.lines, table.unit, table.notes), [path_of[n] for n in spelled if n]
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
    paths = [path for _, _, images in found for path in images]
    if repeat := first_repeat(paths):
        raise DataError(f"{archive.name}: {paths[repeat[1]]} is named twice in the tables. Each image has one row.")
    columns = {
        name: np.concatenate([objects(table.columns[name].tolist()) for _, table, _ in found]) for name in first.columns
    }
    parts = [next(filter(part_name, PurePosixPath(path).parts[:-1]), None) for path in paths]
    if None not in parts and len(set(parts)) > 1:
        columns.setdefault("part", objects(parts))
    lines = np.concatenate([table.lines for _, table, _ in found])
    name = f"{archive.name}: {', '.join(str(path) for path, _, _ in found)}"
    return make_table(
        name, [FILE_COLUMN, *columns], [objects(paths), *columns.values()], lines=lines, unit=first.unit
    ), paths
