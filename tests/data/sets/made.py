"""What the lists of files of data sets share: one small set of flowers, and what a file of it should come to.

The files are written as their tools write them, by hand: no tool is run. What each should come to was written down
first, from what somebody who has such a file would expect.
"""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from PIL import Image

from tests.data.layouts.made import CODES, FILES, LENGTHS, NAMES, TEXTS, TRUE_NAMES, WIDTHS, N, Refused

SITES = [f"site {row % 6}" for row in range(N)]
PARTS = ["train"] * 40 + ["validation"] * 8 + ["test"] * 12
CODE_NAMES = [str(code) for code in CODES]
FROM_1 = [str(code + 1) for code in CODES]
PIXELS = np.random.default_rng(5).integers(0, 256, (N, 6, 6), dtype=np.uint8)
IDS = [f"f{row:03}" for row in range(N)]


@dataclass(frozen=True)
class Data:
    """A file that is read: of what kind, each sample's label in order, and how much there is to tell it from.

    `width` is how many features or channels there are (1 for texts); `n_sources` of None says that there are none.
    `in_order` is false where a file's order is not that of the samples, as in folders: labels are counted then.
    """

    kind: str = "tabular"
    labels: Sequence[str] = tuple(TRUE_NAMES)
    width: int = 2
    n_sources: int | None = None
    parts: tuple[str, ...] | None = None
    in_order: bool = True


@dataclass(frozen=True)
class Proposed:
    """A file about which something has to be asked, and the column that is offered as the label."""

    label: str | None


Expected = Data | Proposed | Refused


@dataclass(frozen=True)
class DataLayout:
    """A file as a tool writes it, and what it should come to."""

    tool: str
    what: str
    name: str
    content: bytes
    expected: Expected

    @property
    def label(self) -> str:
        """What the test is called."""
        return f"{self.tool}: {self.what}"


def layout(tool: str, what: str, name: str, content: str | bytes, expected: Expected) -> DataLayout:
    """A layout, its file as text or bytes."""
    return DataLayout(tool, what, name, content.encode() if isinstance(content, str) else content, expected)


def flowers(label: str, labels: Sequence = TRUE_NAMES, **more: Sequence) -> pd.DataFrame:
    """Two measured numbers and the label, and perhaps more columns in front."""
    return pd.DataFrame({**more, "length": LENGTHS, "width": WIDTHS, label: labels})


def csv(frame: pd.DataFrame, **more) -> str:
    """A table as CSV."""
    return frame.to_csv(**{"index": False, **more})


def lines(*columns: Sequence, sep: str = ",") -> str:
    """Columns without names, a line for each row."""
    return "".join(sep.join(map(str, row)) + "\n" for row in zip(*columns, strict=True))


def jsonl(frame: pd.DataFrame) -> str:
    """A table as JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in frame.astype(object).to_dict("records"))


def npz(**arrays) -> bytes:
    """Arrays as an NPZ."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def packed(files: Mapping[str, str | bytes]) -> bytes:
    """Files in a zip."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def picture(row: int, form: str = "JPEG", size: tuple[int, int] = (6, 6)) -> bytes:
    """The image of a sample."""
    stream = io.BytesIO()
    Image.fromarray(PIXELS[row]).resize(size).convert("RGB").save(stream, form)
    return stream.getvalue()


def pictures(pattern: str, form: str = "JPEG") -> dict[str, bytes]:
    """The images of all samples, each where the pattern says: `label`, `row`, `part`, `site`, `id` are known."""
    known = zip(TRUE_NAMES, PARTS, SITES, IDS, CODES, strict=True)
    return {
        pattern.format(label=label, row=row, part=part, site=site, id=name, code=code): picture(row, form)
        for row, (label, part, site, name, code) in enumerate(known)
    }


__all__ = ["CODES", "FILES", "LENGTHS", "NAMES", "TEXTS", "TRUE_NAMES", "WIDTHS", "N", "Refused"]
