"""How do packed images become pixels? Decoded one by one into one array, of one size unless a size is asked for."""

import io

import numpy as np
from jaxtyping import Float, UInt8

from touchstone.core.data.errors import DataError, SizeNeeded, refusing
from touchstone.core.data.limits import Limits
from touchstone.core.data.tables.table import Table, TextColumns
from touchstone.core.data.values import locked, quoted, sample

_GRAY_MODES = {"1", "L", "LA"}
_DEEP_MODES = ("I", "F")  # more than 8 bits
NOTE = "Pixels have 8 bits and were divided by 255."

Size = tuple[int, int]  # height, width


class ImageStack:
    """Images that are decoded as they are added, each no longer needed then: 8-bit grey if all are grey, else colours.

    All have the size of the first. Where `size` (height, width) is given, each is resized to it, bilinearly and without
    keeping its proportions; `notes` say so. SizeNeeded where sizes differ and none is given, DataError with the place
    for all else.

    >>> from PIL import Image
    >>> stack = ImageStack(2, "pets", Limits(), size=(2, 2))
    >>> for width, shade in ((4, 0), (8, 255)):
    ...     stream = io.BytesIO()
    ...     Image.new("L", (width, 4), shade).save(stream, "PNG")
    ...     stack.add(stream.getvalue(), f"{width}.png")
    >>> stack.pixels().shape, stack.notes[1]
    ((2, 2, 2, 1), 'Images of 2 sizes were resized to 2 × 2 pixels, bilinearly; proportions were not kept.')
    """

    def __init__(self, n_images: int, name: str, limits: Limits, size: Size | None = None):
        if n_images > limits.samples:
            raise DataError(f"{name}: more than {limits.samples:,} images. Give a smaller sample.")
        if size is not None and min(size) < 1:
            raise DataError(f"{name}: images cannot be resized to {size[1]} × {size[0]} pixels. Give positive numbers.")
        self.name = name
        self._n_images, self._limits, self._size = n_images, limits, size
        self._n_added = 0
        self._first: tuple[Size, str] | None = None
        self._sizes: set[Size] = set()
        self._buffer: UInt8[np.ndarray, "n h w c"] = np.empty((0, 0, 0, 0), dtype=np.uint8)

    def add(self, content: bytes, path: str) -> None:
        """Decode the next image, which `path` names in messages."""
        pixels = self._decoded(content, path)
        n_before = self._buffer.shape[-1]
        n_channels = max(pixels.shape[2], n_before)
        if self._n_added == 0 or n_channels > n_before:
            grown = np.empty((self._n_images, *pixels.shape[:2], n_channels), dtype=np.uint8)
            if self._n_added:
                grown[: self._n_added] = self._buffer[: self._n_added]
            self._buffer = grown
        self._buffer[self._n_added] = pixels
        self._n_added += 1

    def pixels(self) -> Float[np.ndarray, "n h w c"]:
        """All images as float32 in [0, 1], read-only."""
        x = self._buffer.astype(np.float32)
        x /= np.float32(255)
        return locked(x)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the pixels, in sentences."""
        if self._size is None or self._sizes == {self._size}:
            return (NOTE,)
        height, width = self._size
        sizes = f"of {len(self._sizes):,} sizes" if len(self._sizes) > 1 else "of another size"
        resized = f"Images {sizes} were resized to {width} × {height} pixels, bilinearly; proportions were not kept."
        return (NOTE, resized)

    def _decoded(self, content: bytes, path: str) -> UInt8[np.ndarray, "h w c"]:
        """One image as 8-bit pixels (height, width, channels)."""
        from PIL import Image

        place = f"{self.name}: {path}"
        damaged = f"{place} cannot be read as an image. Save it again, or leave it out."
        # By whatever error: decoders raise nearly anything at a damaged file.
        with refusing(damaged), Image.open(io.BytesIO(content), formats=("PNG", "JPEG")) as image:
            self._check(image, place, path)
            # A palette with transparency needs both steps.
            plain = image.convert("L") if image.mode in _GRAY_MODES else image.convert("RGBA").convert("RGB")
            if self._size is not None and plain.size[::-1] != self._size:
                plain = plain.resize(self._size[::-1], Image.Resampling.BILINEAR)
            pixels = np.asarray(plain)
            return pixels[..., None] if pixels.ndim == 2 else pixels

    def _check(self, image, place: str, path: str) -> None:
        """DataError where the image is of another size than the first, too large, too deep or transparent."""
        shape = (image.height, image.width)
        self._sizes.add(shape)
        self._first = self._first or (shape, path)
        if self._size is None and shape != self._first[0]:
            raise SizeNeeded(
                f"{place} has {shape[1]} × {shape[0]} pixels, but {self._first[1]} has {self._first[0][1]} × "
                f"{self._first[0][0]}. All images must have one size: scale or crop them, or ask for a size that all "
                "are resized to.",
                self._first[0],
            )
        height, width = self._size or shape
        n_channels = 1 if image.mode in _GRAY_MODES else 3
        n_bytes = 4 * n_channels * max(self._n_images * height * width, shape[0] * shape[1])
        if n_bytes > self._limits.unpacked_bytes:
            raise DataError(
                f"{place}: {self._n_images:,} images of {shape[1]} × {shape[0]} pixels unpack beyond the limit of "
                f"{self._limits.unpacked_bytes / 2**20:g} MiB. Give smaller images, or fewer."
            )
        if image.mode.startswith(_DEEP_MODES):
            raise DataError(f"{place} has more than 8 bits per pixel. Save it with 8 bits.")
        if image.has_transparency_data and image.convert("RGBA").getchannel("A").getextrema() != (255, 255):
            raise DataError(f"{place} is transparent in places. Put it on a background and save it without.")


# What are raw pixels divided by, so that images lie in [0, 1]? Everything measured in input units rests on it.


def to_unit_range(pixels: np.ndarray, place: str) -> tuple[np.ndarray, float, str]:
    """Images as float32 in [0, 1], what they were divided by, and a sentence that says so.

    Whole numbers (whatever their type) up to 1 stay, up to 16 are divided by 16, up to 255 by 255. Fractions must lie
    in [0, 1] already. All else is refused, since a wrong guess here would change every result in input units.

    >>> pixels, scale, note = to_unit_range(np.array([0, 51, 255], dtype=np.uint8), "p.npz")
    >>> pixels, scale, note
    (array([0. , 0.2, 1. ], dtype=float32), 255.0, 'Pixels are whole numbers up to 255 and were divided by 255.')
    """
    if not np.isfinite(pixels).all():
        raise DataError(f"{place} holds NaN or infinite pixels. Every pixel must be a finite number.")
    lowest, highest = float(pixels.min()), float(pixels.max())
    whole = not np.issubdtype(pixels.dtype, np.floating) or bool((pixels == np.rint(pixels)).all())
    scale = next((limit for limit in (1.0, 16.0, 255.0) if highest <= limit), None) if whole else 1.0
    if lowest < 0 or scale is None or highest > scale:
        raise DataError(
            f"{place} holds pixels from {lowest:g} to {highest:g}. They must lie in [0, 1], or be whole numbers from "
            "0 to 255: subtract the lowest possible value and divide by the range of possible values."
        )
    unit = pixels.astype(np.float32)
    if scale == 1:
        return unit, scale, "Pixels lie in [0, 1] and were kept as they are."
    unit /= np.float32(scale)
    return unit, scale, f"Pixels are whole numbers up to {highest:g} and were divided by {scale:g}."


# Which column of a table holds images? Packed ones, as bytes or with their path, as Parquet files have them.


FILE_COLUMN = "file in the archive"
"""The column that names an image beside its table in an archive."""
_MAGIC = (b"\x89PNG", b"\xff\xd8\xff")


def image_column(table: Table) -> str | None:
    """The first column whose cells are packed images: bytes of PNG or JPEG, or {"bytes": ..., "path": ...}.

    Of a table whose rows name images beside it in an archive, it is the column of these names.

    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("p.parquet", ["image", "y"], [[{"bytes": b"\\x89PNG...", "path": None}], [1]], lines=[1])
    >>> image_column(table)
    'image'
    """
    if table.image_of is not None:
        return FILE_COLUMN
    if isinstance(table.columns, TextColumns):
        return None
    for column, values in table.columns.items():
        if values.dtype != object:
            continue
        cells = [cell for cell in sample(values).tolist() if cell is not None]
        if cells and all(_packed(cell) is not None for cell in cells):
            return column
    return None


def image_in(table: Table, column: str, row: int) -> tuple[bytes, str]:
    """The image in a row of a column, or the one that it names, and what messages call it; DataError where none is.

    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("p.parquet", ["image"], [[{"bytes": b"\\x89PNG...", "path": "a.png"}]], lines=[1])
    >>> image_in(table, "image", 0)
    (b'\\x89PNG...', 'a.png')
    """
    if table.image_of is not None and column == FILE_COLUMN:
        return table.image_of(row)
    cell = table.columns[column][row]
    packed = _packed(cell)
    if packed is None:
        raise DataError(
            f"{table.place(row)}: column {column!r} holds {quoted(cell)} instead of an image. "
            "It must hold the bytes of a PNG or JPEG file: fill it in, or leave the row out."
        )
    path = cell.get("path") if isinstance(cell, dict) else None
    return packed, path or f"{table.unit} {table.lines[row]}"


def paths_in(table: Table, column: str) -> list[str] | None:
    """The paths of images, where every one has its own; they name the rows.

    >>> from touchstone.core.data.tables.table import make_table
    >>> cells = [{"bytes": b"\\x89PNG", "path": "a.png"}, {"bytes": b"\\x89PNG", "path": None}]
    >>> paths_in(make_table("p.parquet", ["image"], [cells], lines=[1, 2]), "image") is None
    True
    """
    cells = table.columns[column].tolist()
    if table.image_of is not None and column == FILE_COLUMN:
        return cells
    paths = [cell.get("path") if isinstance(cell, dict) else None for cell in cells]
    named = [path for path in paths if isinstance(path, str) and path]
    return named if len(set(named)) == len(cells) else None


def stacked(table: Table, column: str, limits: Limits, size: Size | None) -> ImageStack:
    """All images in a column of a table, in the order of its rows.

    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("p.parquet", ["image"], [[b"\\x89PNG"]], lines=[1], unit="row")
    >>> stacked(table, "image", Limits(), None)
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: p.parquet: row 1 cannot be read as an image. Save it again, or leave it out.
    """
    stack = ImageStack(table.n_rows, table.name, limits, size)
    for row in range(table.n_rows):
        stack.add(*image_in(table, column, row))
    return stack


def _packed(cell: object) -> bytes | None:
    content = cell.get("bytes") if isinstance(cell, dict) else cell
    return content if isinstance(content, bytes) and content.startswith(_MAGIC) else None
