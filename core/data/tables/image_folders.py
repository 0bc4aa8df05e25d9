"""What is in a zip of images? One folder per class, perhaps in folders called train and test, or a table of labels."""

from collections import Counter
from pathlib import PurePosixPath
from typing import NamedTuple

from touchstone.core.data.dataset import Dataset
from touchstone.core.data.errors import DataError
from touchstone.core.data.limits import Archive, Limits
from touchstone.core.data.tables.images import ImageStack, Size
from touchstone.core.data.tables.names import encode
from touchstone.core.data.tables.parts import about_parts, part_name
from touchstone.core.data.units import with_usual_units
from touchstone.core.data.values import listed

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
    return images, _notes(n_sources, len(pictures) - len(labelled), tables)


def _notes(n_sources: int, n_left_out: int, tables: list[str]) -> list[str]:
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
