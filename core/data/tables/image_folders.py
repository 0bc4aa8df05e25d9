"""What is in a zip of image folders? One folder per class, images of one size in it."""

import io
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from core.data.dataset import Dataset
from core.data.errors import DataError
from core.data.limits import Archive, Limits
from core.data.tables.class_names import encode

_IMAGES = {".png", ".jpg", ".jpeg"}
_CLUTTER = {"__MACOSX", "Thumbs.db", "desktop.ini"}
_GRAY_MODES = {"1", "L", "LA"}
_DEEP_MODES = ("I", "F")  # more than 8 bits


class _Image(NamedTuple):
    path: str  # in the archive
    id: str  # class/name
    label: str


def parse_image_folders(content: bytes, name: str, limits: Limits, *, dataset_name: str) -> Dataset:
    """Read PNG and JPEG images from folders that are called like their class; ids are "class/file".

    Folders around all of them, dot files and what macOS and Windows add are passed over. If every image is grey there
    is one channel, else three.

    >>> import zipfile
    >>> from PIL import Image
    >>> stream = io.BytesIO()
    >>> with zipfile.ZipFile(stream, "w") as archive:
    ...     for path, shade in (("cats/1.png", 0), ("dogs/1.png", 255)):
    ...         with archive.open(path, "w") as file:
    ...             Image.new("L", (8, 8), shade).save(file, "PNG")
    >>> parse_image_folders(stream.getvalue(), "pets.zip", Limits(), dataset_name="pets").ids
    array(['cats/1.png', 'dogs/1.png'], dtype=object)
    """
    archive = Archive(content, name, limits)
    images = _images(archive)
    if len(images) > limits.samples:
        raise DataError(f"{name}: more than {limits.samples:,} images. Give a smaller sample.")
    x = _stacked(archive, images, limits)
    codes, class_names = encode([image.label for image in images], place=f"{name}: the folders")
    return Dataset(
        name=dataset_name,
        kind="image",
        x=x,
        y=codes,
        class_names=class_names,
        ids=[image.id for image in images],
        scale=255.0,
        notes=("Classes are the folders' names.", "Pixels have 8 bits and were divided by 255."),
    )


def _images(archive: Archive) -> list[_Image]:
    paths = [PurePosixPath(path) for path in archive.paths]
    paths = [path for path in paths if not any(part in _CLUTTER or part.startswith(".") for part in path.parts)]
    pictures = [path for path in paths if path.suffix.lower() in _IMAGES]
    if not pictures:
        raise DataError(
            f"{archive.name}: there is no PNG or JPEG image in it. "
            "Pack one folder per class, called like the class, with its images inside."
        )
    depth = _depth_of_classes(pictures)
    others = [path for path in paths if path.suffix.lower() not in _IMAGES and len(path.parts) > depth + 1]
    if others:
        raise DataError(f"{archive.name}: {others[0]} is no PNG or JPEG image. Convert it, or leave it out.")
    images = []
    for path in pictures:
        inner = path.parts[depth:]
        if len(inner) != 2:
            raise DataError(
                f"{archive.name}: {path} does not lie in a folder of its class, as CLASS/{path.name}. "
                "All images must lie equally deep: one folder per class and no folders in them."
            )
        images.append(_Image(str(path), "/".join(inner), inner[0]))
    return images


def _depth_of_classes(pictures: list[PurePosixPath]) -> int:
    """How many folders lie around the classes' folders: those that all images share, but never a class itself."""
    depth = 0
    while min(len(path.parts) for path in pictures) - depth > 2 and len({path.parts[depth] for path in pictures}) == 1:
        depth += 1
    return depth


def _stacked(archive: Archive, images: list[_Image], limits: Limits) -> Float[np.ndarray, "n h w c"]:
    """All images as float32 in [0, 1], read-only."""
    decoded = []
    for image in images:
        first = (decoded[0].shape[:2], images[0].path) if decoded else None
        decoded.append(_decoded(archive, image.path, first, len(images), limits))
    if len({pixels.shape[2] for pixels in decoded}) > 1:
        decoded = [np.broadcast_to(pixels, (*pixels.shape[:2], 3)) for pixels in decoded]
    x = np.stack(decoded).astype(np.float32)
    x /= np.float32(255)
    x.flags.writeable = False
    return x


def _decoded(archive: Archive, path: str, first: tuple | None, n_images: int, limits: Limits) -> np.ndarray:
    """One image as 8-bit pixels (height, width, channels); `first` is the size of the first image, and its path."""
    from PIL import Image

    content = archive.read(path)
    place = f"{archive.name}: {path}"
    try:
        with Image.open(io.BytesIO(content), formats=("PNG", "JPEG")) as image:
            shape = (image.height, image.width)
            if first is not None and shape != first[0]:
                raise DataError(
                    f"{place} has {shape[1]} × {shape[0]} pixels, but {first[1]} has {first[0][1]} × {first[0][0]}. "
                    "All images must have one size: scale or crop them."
                )
            n_channels = 1 if image.mode in _GRAY_MODES else 3
            if 4 * n_images * shape[0] * shape[1] * n_channels > limits.unpacked_bytes:
                raise DataError(
                    f"{place}: {n_images:,} images of {shape[1]} × {shape[0]} pixels unpack beyond the limit of "
                    f"{limits.unpacked_bytes / 2**20:g} MiB. Give smaller images, or fewer."
                )
            if image.mode.startswith(_DEEP_MODES):
                raise DataError(f"{place} has more than 8 bits per pixel. Save it with 8 bits.")
            if image.has_transparency_data and image.convert("RGBA").getchannel("A").getextrema() != (255, 255):
                raise DataError(f"{place} is transparent in places. Put it on a background and save it without.")
            if image.mode in _GRAY_MODES:
                return np.asarray(image.convert("L"))[..., None]
            return np.asarray(image.convert("RGBA").convert("RGB"))  # a palette with transparency needs both steps
    except DataError:
        raise
    except Exception as error:  # decoders raise nearly anything at a damaged file
        raise DataError(f"{place} cannot be read as an image. Save it again, or leave it out.") from error
