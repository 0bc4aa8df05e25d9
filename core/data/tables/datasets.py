"""What data set is in a file? NPZ arrays, a zip of image folders, or a table of texts or numbers."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import PurePath, PurePosixPath
from typing import Any, NamedTuple

import numpy as np

from touchstone.core.data.dataset import ABOUT_UNITS, DATES, PARTS, Dataset, Kind, with_usual_units
from touchstone.core.data.errors import DataError, Oddity
from touchstone.core.data.limits import Archive, File, Limits, file_name, opened, read_bytes
from touchstone.core.data.tables.files import TABLES, only_table, read_table
from touchstone.core.data.tables.images import FILE_COLUMN, ImageStack, Size, paths_in, stacked
from touchstone.core.data.tables.names import (
    NAMES,
    NUMBER,
    ROW_NAMES,
    TRUTH_LIKELY,
    called,
    compact,
    encode,
    is_called_source,
    numbered_names,
    spelled_alike,
)
from touchstone.core.data.tables.npz import parse_npz
from touchstone.core.data.tables.roles import NAMES as ROLE_NAMES
from touchstone.core.data.tables.roles import (
    NO_UNIT,
    DatasetRoles,
    FileReading,
    guess_dataset_roles,
    telling_columns,
)
from touchstone.core.data.tables.sources import about, about_parts, named_parts, part_name, with_settled_sources
from touchstone.core.data.tables.table import Table, days, make_table
from touchstone.core.data.tables.vectors import spread_vectors
from touchstone.core.data.values import first_repeat, listed, objects, quoted

# What is in a zip of images? One folder per class, perhaps in folders called train and test, or a table of labels.

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
    sources, parts = _known(image.source for image in images), _known(image.part for image in images)
    dataset = Dataset(
        name=name,
        kind="image",
        x=stack.pixels(),
        y=codes,
        class_names=class_names,
        ids=[image.id for image in images],
        sources=sources,
        scale=255.0,
        notes=("Classes are the folders' names.", *stack.notes, *notes, *([about_parts(parts)] if parts else [])),
        part=parts,
    )
    return with_usual_units(dataset)


def _known(values: Iterable[str | None]) -> list[str] | None:
    """What is known of images, None where that is nothing."""
    return [each for each in values if each is not None] or None


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
    odd = next((path for path in paths if not is_picture(path) and len(path.parts) > n_around + 1), None)
    if odd is not None:
        raise DataError(f"{archive.name}: {odd} is no PNG or JPEG image. Convert it, or leave it out.")
    labelled = [path for path in pictures if n_around == depth or len(path.parts) > n_around + 1]
    # Names of a path from its class on: 3 where all images lie in folders in those of classes.
    n_inner = 3 if all(len(path.parts) == n_around + 3 for path in labelled) else 2
    images = [_placed(archive, path, depth, n_around, n_inner) for path in labelled]
    n_sources = _check_sources(archive, images)
    if not n_sources:
        images = [image._replace(source=None) for image in images]
    tables = [str(path) for path in paths if path.suffix.lower() in TABLE_ENDINGS]
    n_left_out = len(pictures) - len(labelled)
    notes = {
        f"Sources are the {n_sources:,} folders in the classes' folders.": n_sources,
        f"Images in no folder of a class were left out: {n_left_out:,}.": n_left_out,
        f"Not used, since the folders say the classes: {listed(tables)}.": tables,
    }
    return images, [note for note, holds in notes.items() if holds]


def is_picture(path: PurePosixPath) -> bool:
    """Whether a file is an image by its ending.

    >>> is_picture(PurePosixPath("cats/1.PNG")), is_picture(PurePosixPath("cats/1.txt"))
    (True, False)
    """
    return path.suffix.lower() in IMAGE_ENDINGS


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
    columns = [c for c in table.columns if table.kind(c) == "whole" and {*np.unique(table.floats(c))} <= {0.0, 1.0}]
    if len(columns) < 2 or any(part_name(compact(column).removeprefix("is")) for column in columns):
        return []
    return columns if (table.matrix(columns).sum(axis=1) == 1).all() else []


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
        missing = next((row for row, name in enumerate(names) if name not in path_of), None)
        if missing is not None:
            raise DataError(
                f"{archive.name}: {table.place(missing)}: there is no image {quoted(names[missing])} in the archive. "
                "Pack it, or leave the row out."
            )
        others = {name: values for name, values in table.columns.items() if name != column}
        return _Labelled(path, replace(table, columns=others), [path_of[name] for name in names if name])
    return None


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
    """The part of each image, where all belong to one, and to several in all; else none.

    It is that which a folder of the image is called after, or else its table.
    """
    around = [(*PurePosixPath(image).parts[:-1], each.path.stem) for each in labelled for image in each.images]
    parts = [next(filter(part_name, names), None) for names in around]
    return [part for part in parts if part is not None] if None not in parts and len(set(parts)) > 1 else []


# What data set is in a file? Its ending says how it is read; a table takes the roles of its columns.


_LABEL_STEMS = ("label", "class", "target", "category")
_NAME_ENDINGS = ("name", "names", "text", "str", "string", "title", "word", "description")
ENDINGS = (*TABLES, ".npz", ".zip", ".gz")  # what an uploader may offer


def read_dataset(
    file: File,
    *,
    name: str | None = None,
    kind: Kind | None = None,
    roles: DatasetRoles | None = None,
    limits: Limits | None = None,
    image_size: Size | None = None,
) -> Dataset:
    """Read a user's file, given by its path or open for reading bytes; its ending says what is in it.

    `name` is the data set's name, else the file's name without its ending. `kind` and, for tables, `roles` decide what
    is guessed otherwise; `notes` of the data set say what was decided. Images of a zip or of a Parquet file are resized
    to `image_size` (height, width) where it is given, bilinearly and without keeping proportions. DataError says what
    is wrong with the file, RolesNeeded asks what its columns are, SizeNeeded to what size images shall be brought.
    docs/file-formats.md describes the formats.

    >>> import io
    >>> file = io.BytesIO("text\\tlabel\\nA fine film.\\t01\\nA dull one.\\tNA\\n".encode())
    >>> file.name = "films.tsv"
    >>> dataset = read_dataset(file)
    >>> dataset.class_names, dataset.ids
    (('01', 'NA'), array(['0', '1'], dtype=object))
    """
    limits = limits or Limits()
    full_name = file_name(file)
    dataset_name = name or name_of(full_name)
    if _ending(full_name) != ".npz":
        opened = _opened(file, limits)
        if isinstance(opened, Table):
            return table_dataset(
                opened, name=dataset_name, kind=kind, roles=roles, limits=limits, image_size=image_size, for_good=True
            )
        if kind not in (None, "image"):
            raise DataError(f"{full_name}: a zip archive holds images, but {kind} data was asked for.")
    if roles is not None:
        raise DataError(f"{full_name}: roles were given, but only tables have columns.")
    if _ending(full_name) != ".npz":
        return parse_image_folders(opened, limits, name=dataset_name, size=image_size)
    return parse_npz(read_bytes(file, limits), full_name, limits, dataset_name=dataset_name, kind=kind)


def open_table(file: File, *, limits: Limits | None = None) -> Table | None:
    r"""The table in a file, whose columns somebody may have to be asked about; None where there is none in it.

    It may be packed, in a zip of its own, or in one of images that its rows name. NPZ and folders of images are none.

    >>> list(open_table(opened(b"text\tlabel\nA fine film.\t01\nA dull one.\tNA\n", "films.tsv")).columns)
    ['text', 'label']
    """
    opened = None if _ending(file_name(file)) == ".npz" else _opened(file, limits or Limits())
    return opened if isinstance(opened, Table) else None


def _opened(file: File, limits: Limits) -> Table | Archive:
    """The table in a file that is no NPZ, or the archive of images in folders."""
    name = file_name(file)
    if _ending(name) != ".zip":
        return spread_vectors(read_table(file, limits=limits), limits)
    archive = Archive(read_bytes(file, limits), name, limits)
    if any(map(is_picture, files_of(archive))):
        return labels_in(archive, limits) or archive
    tables = [path for path in files_of(archive) if path.suffix.lower() in TABLES]
    if len({path.parent for path in tables if path.suffix.lower() == ".txt"}) > 1:
        raise DataError(
            f"{name}: folders of text files are not read. Put the texts into one table, such as a TSV file with a "
            "column 'text' and a column 'label' for the folder's name."
        )
    if not tables:
        return archive
    if parts := tables_of_parts(tables):
        return _of_parts(archive, parts, limits)
    inner, content = only_table(archive, TABLES)
    return replace(read_table(opened(content, inner), limits=limits), archive=name)


def tables_of_parts(tables: Sequence[PurePosixPath]) -> dict[str, PurePosixPath]:
    """The tables of an archive by the part that each is called after; none where some is called after no part.

    >>> paths = [PurePosixPath("films_test.csv"), PurePosixPath("films_train.csv"), PurePosixPath("README.txt")]
    >>> [str(path) for path in tables_of_parts(paths).values()], tables_of_parts(paths[:1])
    (['films_train.csv', 'films_test.csv'], {})
    """
    tables = [path for path in tables if path.suffix.lower() != ".txt"] or list(tables)  # a README lies beside many
    path_of: dict[str | None, PurePosixPath] = {}
    for path in tables:
        path_of[next(filter(None, map(part_name, re.split(r"[\W_]+", path.stem))), None)] = path
    parts = {part: path_of[part] for part in PARTS if part in path_of}
    return parts if len(parts) == len(tables) > 1 else {}


def _of_parts(archive: Archive, path_of: dict[str, PurePosixPath], limits: Limits) -> Table:
    """One table of those that hold the parts of a data set, with a column that says the part of each row."""
    tables = {}
    for part, path in path_of.items():
        try:
            tables[part] = read_table(opened(archive.read(str(path)), path.name), limits=limits)
        except DataError as error:
            raise DataError(f"{_not_of_one(archive, path_of)} ({error})") from error
    first, *others = tables.values()
    for other in others:
        if odd := sorted(first.columns.keys() ^ other.columns.keys()):
            owner = first if odd[0] in first.columns else other
            raise DataError(f"{_not_of_one(archive, path_of)} Only {owner.name} has column {odd[0]!r}.")
        if first.class_names != other.class_names:
            raise DataError(
                f"{archive.name}: {first.name} and {other.name} name their classes differently, so that a number means "
                "two things. Write the names of the classes into the rows."
            )
    columns = {name: _one_below_the_other(table.columns[name] for table in tables.values()) for name in first.columns}
    notes = [f"Tables of one data set: {', '.join(f'{each.name} ({each.n_rows:,} rows)' for each in tables.values())}."]
    for name in filter(lambda name: compact(name) in NAMES["id"], first.columns):
        ids = {part: table.spelled(name) for part, table in tables.items()}
        begin_anew = first_repeat([each for of_part in ids.values() for each in of_part]) is not None
        if begin_anew and not any(None in of_part or first_repeat(of_part) for of_part in ids.values()):
            columns[name] = objects([f"{part}/{each}" for part, of_part in ids.items() for each in of_part])
            notes.append(f"Column {name!r} begins anew in each table, so the part stands before it.")
    column = next(name for name in ("part", "split", "file", "part of the file") if name not in columns)
    columns[column] = objects([part for part, table in tables.items() for _ in range(table.n_rows)])
    joined = make_table(
        f"{archive.name}: {', '.join(table.name for table in tables.values())}",
        list(columns),
        columns.values(),
        lines=np.concatenate([table.lines for table in tables.values()]),
        unit=first.unit,
        notes=(*notes, *dict.fromkeys(chain(*(table.notes for table in tables.values())))),
    )
    warnings = tuple(chain(*(table.warnings for table in tables.values())))
    return replace(joined, archive=archive.name, class_names=first.class_names, warnings=warnings)


def _not_of_one(archive: Archive, path_of: dict[str, PurePosixPath]) -> str:
    """Which tables are there, where they cannot be read as the parts of one data set, and what to do."""
    names = listed(map(str, path_of.values()))
    return f"{archive.name}: there are {len(path_of)} tables in it, {names}. Give one of them, or the same columns."


def _one_below_the_other(columns: Iterable[np.ndarray]) -> np.ndarray:
    """The same column of several tables, as numbers where all hold nothing else."""
    arrays = list(columns)
    are_numbers = all(each.dtype != object for each in arrays)
    return np.concatenate(arrays if are_numbers else [objects(each.tolist()) for each in arrays])


def name_of(file_name: str) -> str:
    """What a data set is called after its file: without its ending, or the two of a packed one.

    >>> name_of("films.tsv"), name_of("films.csv.gz"), name_of(".tsv")
    ('films', 'films', '.tsv')
    """
    unpacked = file_name[:-3] if file_name.lower().endswith(".gz") else file_name
    return PurePath(unpacked).stem or file_name


def _ending(name: str) -> str:
    """The ending that says what is in a file; of a packed table the one before .gz."""
    ending = PurePath(name).suffix.lower()
    if ending == ".gz":
        ending = PurePath(name[:-3]).suffix.lower()
        if ending not in TABLES:
            raise DataError(
                f"{name}: gzip packs single tables here, such as films.tsv.gz. Unpack this file first, or give a table."
            )
    if ending not in ENDINGS:
        raise DataError(
            f"{name}: a file that ends in {ending or 'nothing at all'} cannot be read. "
            f"Give one that ends in {', '.join(ENDINGS)}."
        )
    return ending


def table_dataset(
    table: Table,
    *,
    name: str,
    kind: Kind | None = None,
    roles: DatasetRoles | None = None,
    limits: Limits | None = None,
    image_size: Size | None = None,
    for_good: bool = False,
) -> Dataset:
    """Make a data set of a table: what its columns are is given by `roles`, or guessed (`guess_dataset_roles`).

    Where nobody needs the table any more (`for_good`), the features are forgotten there, which spares memory.

    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("t.tsv", ["size", "class"], [["1", "2"], ["x", "y"]], lines=[2, 3])
    >>> table_dataset(table, name="sizes").x
    array([[1.],
           [2.]])
    """
    named = () if roles is None else roles.features
    roles = guess_dataset_roles(table, kind=kind, roles=roles)
    table, roles, gaps = with_settled_sources(table, roles)
    codes, class_names = encode(table.strings(roles.label), place=f"{table.name}: column {roles.label!r}")
    class_names, names_column = _class_names(table, roles, codes, class_names)
    numbers = _numbers(table, roles)
    parts = named_parts(table.strings(roles.part), f"{table.name}: column {roles.part!r}") if roles.part else None
    x, notes = _inputs(table, roles, limits or Limits(), image_size, for_good=for_good)
    dataset = Dataset(
        name=name,
        kind=roles.kind,
        x=x,
        y=codes,
        class_names=class_names,
        ids=_ids(table, roles),
        scale=255.0 if roles.image else 1.0,
        sources=table.strings(roles.source) if roles.source else None,
        feature_names=roles.features,
        notes=(
            *table.notes,
            *_notes(table, roles, numbers, names_column),
            *gaps,
            *(
                Oddity(f"Classes spelled alike count as different: {listed(group)}.", "truth_spelled_alike")
                for group in spelled_alike(class_names)
            ),
            *notes,
            *([about_parts(parts)] if parts else []),
        ),
        numbers=np.column_stack(list(numbers.values())) if numbers else None,
        number_names=numbers,
        part=parts,
        read_as=FileReading(table.archive or table.name, replace(roles, features=named), image_size).to_json(),
        units=table.strings(roles.unit) if roles.unit else None,
        unit_name=roles.unit or None,
    )
    return dataset if roles.unit == NO_UNIT else with_usual_units(dataset, roles.source)


def _inputs(
    table: Table, roles: DatasetRoles, limits: Limits, size: Size | None, *, for_good: bool
) -> tuple[Any, tuple[str, ...]]:
    """Texts, features or images, and what was done to them."""
    if roles.image is not None:
        stack = stacked(table, roles.image, limits, size)
        return stack.pixels(), stack.notes
    if roles.text is not None:
        return table.texts(roles.text), ()
    return table.features(roles.features, for_good=for_good), ()


def _ids(table: Table, roles: DatasetRoles) -> list[str] | None:
    """What names the rows; None where only their positions do."""
    if roles.id is None and roles.image is not None:
        paths = paths_in(table, roles.image)
        if paths is not None:
            return paths
    if roles.id is None:
        return None
    ids = table.strings(roles.id)
    table.check_once(ids, "Each id must be unique: leave a row out, or choose another id column.")
    return ids


def _numbers(table: Table, roles: DatasetRoles) -> dict[str, np.ndarray]:
    """Columns without a role that hold a number or a date in every row, by what they are called then."""
    numbers, taken = {}, {*roles.columns, *_left_out(table, roles)}
    for column in table.columns:
        if column in taken or column.lower() in {*ROW_NAMES, *ROLE_NAMES["id"]} or is_called_source(column):
            continue
        if np.isfinite(table.floats(column)).all():
            numbers[column] = table.floats(column)
        elif np.isfinite(days(table.sample(column))).all() and np.isfinite(dates := days(table.columns[column])).all():
            numbers[column + DATES] = dates
    return numbers


def _class_names(
    table: Table, roles: DatasetRoles, codes: np.ndarray, class_names: tuple[str, ...]
) -> tuple[tuple[str, ...], str | None]:
    """The names of classes that are numbers in the label's column, from the column of their names, and this column.

    It is called after the label, or like the name of one, and each of its values goes with one label and no other.
    """
    if not all(NUMBER.fullmatch(name) for name in class_names):
        return class_names, None
    if described := numbered_names(table.class_names.get(roles.label or "", ()), class_names):
        return described, None
    stems = (compact(roles.label or ""), *_LABEL_STEMS)
    wanted = {f"{stem}{ending}" for stem in stems for ending in _NAME_ENDINGS}
    free = [column for column in table.columns if compact(column) in wanted and column not in roles.columns]
    for column in (column for column in free if table.kind(column) == "words"):
        if names := _one_to_one(codes, table.spelled(column), len(class_names)):
            return names, column
    return class_names, None


def _one_to_one(codes: np.ndarray, words: Sequence[str | None], n_classes: int) -> tuple[str, ...]:
    """The word of each code, where every code goes with one word and no other; none otherwise."""
    pairs = {*zip(codes.tolist(), words, strict=True)}
    word_of = {code: word for code, word in pairs if word is not None}
    if not len(pairs) == len(word_of) == n_classes == len(set(word_of.values())):
        return ()
    return tuple(word_of[code] for code in range(n_classes))


def _notes(table: Table, roles: DatasetRoles, numbers: Collection[str], names_column: str | None) -> list[str]:
    """Which column was taken for what, in sentences."""
    notes = [f"Label: column {roles.label!r}."]
    if names_column is not None:
        notes.append(f"Names of the classes: column {names_column!r}, which goes one to one with the label.")
    notes += [*_about_inputs(table, roles), _about_ids(roles)]
    if roles.source is not None:
        notes.append(f"Sources: column {roles.source!r}, {about(table, roles.source)}.")
    if roles.unit:
        notes.append(f"{ABOUT_UNITS}column {roles.unit!r}, {about(table, roles.unit)}.")
    if numbers:
        notes.append(f"Numbers of the samples, which are no inputs: {listed(numbers)}.")
    kept = {*roles.columns, names_column, *(name.removesuffix(DATES) for name in numbers)}
    unused = [column for column in table.columns if column not in kept]
    telling = {column: why for column, why in _left_out(table, roles).items() if column not in kept}
    if telling:
        which = ", ".join(f"{column} ({why})" for column, why in telling.items())
        text = f"Left out of the features: {which}. Choose them as features if they are none of that."
        notes.append(Oddity(text, "tells_the_label"))
    if rest := [column for column in unused if column not in telling]:
        notes.append(f"Not used: {listed(rest)}.")
    return notes


def _left_out(table: Table, roles: DatasetRoles) -> dict[str, str]:
    """Why columns are neither features nor numbers of the samples, by column; nothing where inputs are no columns."""
    free = [column for column in table.columns if column not in roles.columns]
    return telling_columns(table, roles, free) if roles.features else {}


def _about_inputs(table: Table, roles: DatasetRoles) -> list[str]:
    if roles.image is not None:
        return [f"Images: column {roles.image!r}."]
    if roles.text is None:
        return [f"Features: {listed(roles.features)}."]
    n_empty = sum(not text.strip() for text in table.columns[roles.text])
    empty = [f"{n_empty} of {table.n_rows} texts are empty."] if n_empty else []
    return [f"Text: column {roles.text!r}.", *empty]


def _about_ids(roles: DatasetRoles) -> str:
    if roles.id is not None:
        return f"Ids: column {roles.id!r}."
    if roles.image is not None:
        return "Ids: the images' paths where each has its own, else positions of the rows, counted from 0."
    return "Ids: positions of the rows, counted from 0."
