"""How is an answer kept in a file? As a zip archive of JSON and Arrow tables; reading it back runs nothing in it.

`answer.json` has the sentences, numbers, claims, tables and figures of an answer, each part by the name of its type.
Its tables are beside it, as `core.workspace.frames` writes them, and named by their number.
"""

import dataclasses
import io
import json
import math
import zipfile
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from touchstone.core.data.errors import DataError, refusing
from touchstone.core.data.limits import Archive, Limits
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.wording import Sentences, Verdict
from touchstone.core.report.parts import (
    Answer,
    Beside,
    Column,
    Figure,
    KeyNumber,
    Note,
    Quantity,
    Section,
    Table,
    drawn_once,
)
from touchstone.core.workspace.frames import from_bytes, to_bytes

_KINDS: dict[str, Any] = {
    each.__name__: each
    for each in (Answer, Beside, Claim, Column, Interval, KeyNumber, Note, Quantity, Section, Table, Verdict)
}
_BEYOND = ("nan", "inf", "-inf")  # numbers that JSON has not


def write_answer(answer: Answer, summary: Mapping[str, Any], rows: pd.DataFrame) -> bytes:
    """An answer, its `rows` and a `summary` for other programs (`result.json`) as the bytes of a file."""
    writer = _Writer()
    content = {"answer": writer.plain(answer.made()), "rows": writer.plain(rows)}
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        texts = {"result.json": summary, "answer.json": content}
        for name, text in texts.items():
            _add(archive, name, json.dumps(text, ensure_ascii=False, allow_nan=False, indent=1).encode())
        for place, table in enumerate(writer.tables):
            _add(archive, _table_name(place), table)
    return written.getvalue()


def read_answer(content: bytes, name: str) -> tuple[Answer, dict[str, Any], pd.DataFrame]:
    """What `write_answer` wrote: the answer, the summary, and the rows. Raises DataError for any other file.

    >>> from touchstone.core.report.parts import nothing_yet
    >>> kept = write_answer(nothing_yet("So far."), {"question": "data_sets"}, pd.DataFrame({"n": [1]}))
    >>> answer, summary, rows = read_answer(kept, "kept.touchstone")
    >>> answer.sections[0].parts, summary["question"], rows["n"].tolist()
    (('So far.',), 'data_sets', [1])
    """
    archive = Archive(content, name, Limits())
    if missing := {"result.json", "answer.json"} - set(archive.paths):
        raise DataError(f"{name}: this is no kept result: {', '.join(sorted(missing))} is not in it.")
    with refusing(f"{name}: this kept result is damaged, or of another version of Touchstone. Compute it again."):
        summary, kept = (json.loads(archive.read(each)) for each in ("result.json", "answer.json"))
        answer, rows = (_read(kept[each], archive) for each in ("answer", "rows"))
        if not (isinstance(answer, Answer) and isinstance(rows, pd.DataFrame) and isinstance(summary, dict)):
            raise TypeError("these are other parts")
    return answer, summary, rows


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)  # of 1980: a date would make bytes differ


def _table_name(place: int) -> str:
    return f"tables/{place}.arrow"


class _Writer:
    """Parts as JSON can hold them, and the tables that it cannot."""

    def __init__(self) -> None:
        self.tables: list[bytes] = []

    def plain(self, value: Any) -> Any:
        """A part, or a value in one."""
        match value:
            case Sentences():
                return {"sentences": [[text, list(kinds)] for text, kinds in value.parts]}
            case None | bool() | int() | str():
                return value
            case float():
                return value if math.isfinite(value) else {"number": str(float(value))}
            case np.generic():
                return self.plain(value.item())
            case tuple() | list():
                return [self.plain(each) for each in value]
            case Mapping():
                return {"mapping": {key: self.plain(each()) for key, each in value.items()}}
            case pd.DataFrame():
                self.tables.append(to_bytes(value))
                return {"table": len(self.tables) - 1}
            case Figure():
                drawn = [_drawn_again(value.draw(dark=dark).to_json()) for dark in (False, True)]
                return {"figure": [value.key, value.caption, value.n_rows, *drawn]}
        return {type(value).__name__: {each.name: self.plain(getattr(value, each.name)) for each in _fields(value)}}


def _drawn_again(figure: str) -> str:
    """A figure as it is written once it was read: reading leaves out what is empty."""
    return drawn_once(figure, figure).to_json()


def _fields(kind: Any) -> Iterable[dataclasses.Field[Any]]:
    return (each for each in dataclasses.fields(kind) if each.init)


def _read(kept: Any, archive: Archive) -> Any:
    """The part that `_Writer.plain` made this of."""
    if isinstance(kept, list):
        return tuple(_read(each, archive) for each in kept)
    if not isinstance(kept, dict):
        return kept
    ((kind, value),) = kept.items()
    match kind:
        case "sentences":
            sentences = Sentences(" ".join(text for text, _ in value))
            sentences.parts = tuple((str(text), tuple(map(str, kinds))) for text, kinds in value)
            return sentences
        case "number":
            if value not in _BEYOND:
                raise ValueError(f"{value!r} is no such number")
            return float(value)
        case "mapping":
            return {str(key): partial(pd.DataFrame, _read(each, archive)) for key, each in value.items()}
        case "table":
            return from_bytes([archive.read(_table_name(int(value)))])
        case "figure":
            key, caption, n_rows, light, dark = value
            return Figure(str(key), partial(drawn_once, str(light), str(dark)), str(caption), int(n_rows))
    made = _KINDS[kind]
    return made(**{each.name: _read(value[each.name], archive) for each in _fields(made)})
