"""What is in a zip of images? One folder per class, perhaps in folders called train and test, or a table of labels."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np

from touchstone.core.data.dataset import Dataset, with_usual_units
from touchstone.core.data.errors import DataError
from touchstone.core.data.limits import Archive, Limits, opened
from touchstone.core.data.tables.files import read_table
from touchstone.core.data.tables.images import FILE_COLUMN, ImageStack, Size
from touchstone.core.data.tables.names import NAMES, TRUTH_LIKELY, called, compact, encode
from touchstone.core.data.tables.roles import NAMES as ROLE_NAMES
from touchstone.core.data.tables.sources import about_parts, part_name
from touchstone.core.data.tables.table import Table, make_table
from touchstone.core.data.values import first_repeat, listed, objects, quoted

IMAGE_ENDINGS = {".png", ".jpg", ".jpeg"}
TABLE_ENDINGS = {".csv", ".tsv", ".jsonl", ".parquet"}
_CLUTTER = {"__MACOSX", "Thumbs.db", "desktop.ini"}


class _Image(NamedTuple):
    path: str  # in the archive
    id: str  # class/name, behind its part and with its folder in the class where there are such
    label: str
    source: str | None
    part: str | None


def parse_image_folders(archive: Archive, limits: Limits, *, name: str, size: Size | None = None) -> Dataset:
    """Read PNG and JPEG images from folders that are called like their class; ids are "class/file".

    The folders of classes may lie in folders called train, validation and test, which are kept as the part. Folders in
    those of classes are sources. Folders around all of them, dot files and what macOS and Windows add are passed over.
    If every image is grey there is one channel, else three. With a `size` (height, width), all images are resized.

    >>> import io
    >>> import zipfile
    >>> from PIL import Image
    >>> stream = io.BytesIO()
    >>> with zipfile.ZipFile(stream, "w") as archive:
    ...     for path, shade in (("cats/1.png", 0), ("dogs/1.png", 255)):
    ...         with archive.open(path, "w") as file:
    ...             Image.new("L", (8, 8), shade).save(file, "PNG")
    >>> parse_image_folders(Archive(stream.getvalue(), "pets.zip", Limits()), Limits(), name="pets").ids
    array(['cats/1.png', 'dogs/1.png'], dtype=object)
    """
    images, notes = _images(archive)
    stack = ImageStack(len(images), archive.name, limits, size)
    for image in images:
        stack.add(archive.read(image.path), image.path)
    codes, class_names = encode([image.label for image in images], place=f"{archive.name}: the folders")
    sources = [image.source for image in images if image.source is not None]
    parts = [image.part for image in images if image.part is not None]
    dataset = Dataset(
        name=name,
        kind="image",
        x=stack.pixels(),
        y=codes,
        class_names=class_names,
        ids=[image.id for image in images],
        sources=sources or None,
        scale=255.0,
        notes=("Classes are the folders' names.", *stack.notes, *notes, *([about_parts(parts)] if parts else [])),
        part=parts or None,
    )
    return with_usual_units(dataset)


def files_of(archive: Archive) -> list[PurePosixPath]:
    """The files of an archive that somebody put there: no dot files, nothing that macOS and Windows add.

    >>> import io
    >>> import zipfile
    >>> stream = io.BytesIO()
    >>> with zipfile.ZipFile(stream, "w") as archive:
    ...     archive.writestr("cats/.DS_Store", "")
    ...     archive.writestr("cats/1.png", "")
    >>> files_of(Archive(stream.getvalue(), "pets.zip", Limits()))
    [PurePosixPath('cats/1.png')]
    """
    paths = map(PurePosixPath, archive.paths)
    return [path for path in paths if not any(part in _CLUTTER or part.startswith(".") for part in path.parts)]


def has_class_folders(archive: Archive) -> bool:
    """Whether the images of an archive lie in folders of two classes or more.

    >>> import io
    >>> import zipfile
    >>> stream = io.BytesIO()
    >>> with zipfile.ZipFile(stream, "w") as archive:
    ...     archive.writestr("cats/1.png", "")
    ...     archive.writestr("dogs/1.png", "")
    >>> has_class_folders(Archive(stream.getvalue(), "pets.zip", Limits()))
    True
    """
    try:
        images, _ = _images(archive)
    except DataError:
        return False
    return len({image.label for image in images}) > 1


def _images(archive: Archive) -> tuple[list[_Image], list[str]]:
    """The images of an archive, and what is to be said of them."""
    paths = files_of(archive)
    pictures = list(filter(is_picture, paths))
    if not pictures:
        raise DataError(
            f"{archive.name}: there is no PNG or JPEG image in it. "
            "Pack one folder per class, called like the class, with its images inside."
        )
    depth = _depth_of_classes(pictures)
    n_around = depth + _has_parts(archive, pictures, depth)
    _check_classes_hold_pictures(archive, n_around)
    labelled = [path for path in pictures if n_around == depth or len(path.parts) > n_around + 1]
    n_inner = _n_inner(labelled, n_around)
    images = [_placed(archive, path, depth, n_around, n_inner) for path in labelled]
    n_sources = _check_sources(archive, images)
    if not n_sources:
        images = [image._replace(source=None) for image in images]
    tables = [str(path) for path in paths if path.suffix.lower() in TABLE_ENDINGS]
    return images, _folder_notes(n_sources, len(pictures) - len(labelled), tables)


def _folder_notes(n_sources: int, n_left_out: int, tables: list[str]) -> list[str]:
    notes = {
        f"Sources are the {n_sources:,} folders in the classes' folders.": n_sources,
        f"Images in no folder of a class were left out: {n_left_out:,}.": n_left_out,
        f"Not used, since the folders say the classes: {listed(tables)}.": tables,
    }
    return [note for note, holds in notes.items() if holds]


def is_picture(path: PurePosixPath) -> bool:
    """Whether a file is an image by its ending.

    >>> is_picture(PurePosixPath("cats/1.PNG")), is_picture(PurePosixPath("cats/1.txt"))
    (True, False)
    """
    return path.suffix.lower() in IMAGE_ENDINGS


def _check_classes_hold_pictures(archive: Archive, n_around: int) -> None:
    for path in files_of(archive):
        if not is_picture(path) and len(path.parts) > n_around + 1:
            raise DataError(f"{archive.name}: {path} is no PNG or JPEG image. Convert it, or leave it out.")


def _depth_of_classes(pictures: list[PurePosixPath]) -> int:
    """How many folders lie around the classes' folders: those that all images share, but never a class itself."""
    depth = 0
    while min(len(path.parts) for path in pictures) - depth > 2 and len({path.parts[depth] for path in pictures}) == 1:
        depth += 1
    return depth


def _has_parts(archive: Archive, pictures: list[PurePosixPath], depth: int) -> bool:
    """Whether the outer folders are those of parts, such as train and test, with folders of classes in them."""
    outer = {path.parts[depth] for path in pictures if len(path.parts) > depth + 1}
    if len({part_name(folder) for folder in outer}) < 2 or not all(map(part_name, outer)):
        return False
    if not any(len(path.parts) > depth + 2 for path in pictures):
        raise DataError(
            f"{archive.name}: the folders are called {' and '.join(sorted(outer))}, and no folders of classes are in "
            "them. Pack one folder per class in each, or a metadata.csv with columns file_name and label."
        )
    return True


def _n_inner(pictures: list[PurePosixPath], n_around: int) -> int:
    """How many names a path has from its class on: 3 where all images lie in folders in those of classes, else 2."""
    return 3 if all(len(path.parts) == n_around + 3 for path in pictures) else 2


def _placed(archive: Archive, path: PurePosixPath, depth: int, n_around: int, n_inner: int) -> _Image:
    inner = path.parts[n_around:]
    if len(inner) != n_inner:
        raise DataError(
            f"{archive.name}: {path} does not lie in a folder of its class, as CLASS/{path.name}. "
            "All images must lie equally deep: one folder per class, and folders in all of them or in none."
        )
    part = part_name(path.parts[depth]) if n_around > depth else None
    source = inner[1] if n_inner == 3 else None
    return _Image(str(path), "/".join(path.parts[depth:]), inner[0], source, part)


def _check_sources(archive: Archive, images: list[_Image]) -> int:
    """How many sources the folders in those of classes are, 0 where they are none; DataError where they may be classes.

    A folder that lies in every class alone says nothing. Names that recur in several classes may be classes themselves.
    """
    labels_of: dict[str | None, set[str]] = {}
    for image in images:
        labels_of.setdefault(image.source, set()).add(image.label)
    n_classes = len(set().union(*labels_of.values()))
    if len(labels_of) <= 1 or len({(image.label, image.source) for image in images}) <= n_classes:
        return 0
    shared = Counter({folder: len(labels) for folder, labels in labels_of.items()}).most_common(1)[0]
    if shared[1] > 1:
        raise DataError(
            f"{archive.name}: is {images[0].label!r} or {images[0].source!r} the class? Folders such as {shared[0]!r} "
            f"lie in {shared[1]} others. Pack one folder per class, in folders called train and test where "
            "there are such, or a metadata.csv with columns file_name and label."
        )
    return len(labels_of)


# Which label has each image of a zip, where a table in it says so? A metadata.csv with names of files, for example.


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
