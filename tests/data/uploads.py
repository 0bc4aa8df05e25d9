"""Files as somebody might upload them, for tests of reading them: bytes with a name."""

import io
import zipfile

import numpy as np
from PIL import Image

from touchstone.core.data import Predictions, read_predictions


def upload(content: bytes | str, name: str) -> io.BytesIO:
    """A file, open for reading."""
    file = io.BytesIO(content.encode() if isinstance(content, str) else content)
    file.name = name
    return file


def read(content: bytes | str, name: str = "t.csv", **more) -> Predictions:
    """The only predictions of a file."""
    return read_predictions(upload(content, name), **more).select()


def rows(header: str, *lines: str) -> str:
    """A table as text."""
    return "\n".join((header, *lines)) + "\n"


def predictions_file(ids: np.ndarray, gold: np.ndarray, predicted: np.ndarray) -> bytes:
    """The file that the notebooks of cluster folds expect back: id (not ids), gold and predicted, both class names."""
    lines = zip(ids.tolist(), gold.tolist(), predicted.tolist(), strict=True)
    return rows("id\tgold\tpredicted", *map("\t".join, lines)).encode()


def npz(**arrays) -> bytes:
    """Arrays as the bytes of an NPZ."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def zipped(files: dict[str, bytes]) -> io.BytesIO:
    """Files by name, packed."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return upload(stream.getvalue(), "pets.zip")


def picture(colour=0, mode="L", size=(4, 3), form="PNG") -> bytes:
    """A picture of one colour."""
    stream = io.BytesIO()
    Image.new(mode, size, colour).save(stream, form)
    return stream.getvalue()


def noise(size=(20, 20)) -> bytes:
    """A grey picture that hardly packs."""
    stream = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(256, size=size, dtype=np.uint8)).save(stream, "PNG")
    return stream.getvalue()
