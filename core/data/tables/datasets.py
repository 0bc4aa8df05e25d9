"""What data set is in a file? NPZ arrays, a zip of image folders, or a table of texts or numbers."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import numpy as np

from touchstone.core.data.dataset import ABOUT_UNITS, Dataset, Kind, with_usual_units
from touchstone.core.data.errors import DataError
from touchstone.core.data.limits import Archive, File, Limits, file_name, opened, read_bytes
from touchstone.core.data.tables import Table
from touchstone.core.data.tables.files import TABLES, only_table, read_table
from touchstone.core.data.tables.image_folders import files_of, is_picture, labels_in, parse_image_folders
from touchstone.core.data.tables.images import Size, images_in, paths_in, stacked
from touchstone.core.data.tables.names import NUMBER, ROW_NAMES, compact, encode, is_called_source
from touchstone.core.data.tables.npz import parse_npz
from touchstone.core.data.tables.proposal import FileReading
from touchstone.core.data.tables.roles import NAMES, NO_UNIT, DatasetRoles, guess_dataset_roles
from touchstone.core.data.tables.sources import about, about_parts, named_parts
from touchstone.core.data.tables.table import days
from touchstone.core.data.tables.vectors import spread_vectors
from touchstone.core.data.values import listed

_LABEL_STEMS = ("label", "class", "target", "category")
_NAME_ENDINGS = ("name", "names", "text", "str", "string", "title", "word", "description")
_DAYS = " (days since 1970)"
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
    inner, content = only_table(archive, TABLES)
    return replace(read_table(opened(content, inner), limits=limits), archive=name)


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

    >>> from touchstone.core.data.tables import make_table
    >>> table = make_table("t.tsv", ["size", "class"], [["1", "2"], ["x", "y"]], lines=[2, 3])
    >>> table_dataset(table, name="sizes").x
    array([[1.],
           [2.]])
    """
    named = () if roles is None else roles.features
    roles = guess_dataset_roles(table, kind=kind, roles=roles)
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
        stack = stacked(table, images_in(table, roles.image), limits, size)
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
    numbers, taken = {}, {*roles.columns}
    for column in table.columns:
        if column in taken or column.lower() in {*ROW_NAMES, *NAMES["id"]} or is_called_source(column):
            continue
        if np.isfinite(table.floats(column)).all():
            numbers[column] = table.floats(column)
        elif np.isfinite(days(table.sample(column))).all() and np.isfinite(dates := days(table.columns[column])).all():
            numbers[column + _DAYS] = dates
    return numbers


def _class_names(
    table: Table, roles: DatasetRoles, codes: np.ndarray, class_names: tuple[str, ...]
) -> tuple[tuple[str, ...], str | None]:
    """The names of classes that are numbers in the label's column, from the column of their names, and this column.

    It is called after the label, or like the name of one, and each of its values goes with one label and no other.
    """
    if not all(NUMBER.fullmatch(name) for name in class_names):
        return class_names, None
    if described := _described(table.class_names.get(roles.label or "", ()), class_names):
        return described, None
    for column in _columns_of_names(table, roles):
        if names := _one_to_one(codes, table.spelled(column), len(class_names)):
            return names, column
    return class_names, None


def _described(names: Sequence[str], numbers: Sequence[str]) -> tuple[str, ...]:
    """The names that a file gives to its classes by their numbers, where it names all of them; none otherwise."""
    if not all(number.isdecimal() and int(number) < len(names) for number in numbers):
        return ()
    return tuple(names[int(number)] for number in numbers)


def _columns_of_names(table: Table, roles: DatasetRoles) -> Iterator[str]:
    """The columns of words without a role that are called like the names of a label."""
    stems = (compact(roles.label or ""), *_LABEL_STEMS)
    wanted = {f"{stem}{ending}" for stem in stems for ending in _NAME_ENDINGS}
    for column in table.columns:
        if compact(column) in wanted and column not in roles.columns and table.kind(column) == "words":
            yield column


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
    kept = {*roles.columns, names_column, *(name.removesuffix(_DAYS) for name in numbers)}
    unused = [column for column in table.columns if column not in kept]
    if unused:
        notes.append(f"Not used: {listed(unused)}.")
    return notes


def _about_inputs(table: Table, roles: DatasetRoles) -> list[str]:
    if roles.image is not None:
        return [f"Images: column {roles.image!r}."]
    return [f"Features: {listed(roles.features)}."] if roles.text is None else _about_texts(table, roles.text)


def _about_ids(roles: DatasetRoles) -> str:
    if roles.id is not None:
        return f"Ids: column {roles.id!r}."
    if roles.image is not None:
        return "Ids: the images' paths where each has its own, else positions of the rows, counted from 0."
    return "Ids: positions of the rows, counted from 0."


def _about_texts(table: Table, column: str) -> list[str]:
    n_empty = sum(not text.strip() for text in table.columns[column])
    empty = [f"{n_empty} of {table.n_rows} texts are empty."] if n_empty else []
    return [f"Text: column {column!r}.", *empty]
