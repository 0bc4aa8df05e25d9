"""Which numbers are written in a line of text? A list of them, or one number or a word for what is usual.

What cannot be read is said beside the field, where it can be put right, and not taken for a broken address.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.evaluate.wording import exact
from touchstone.ui.shell.session import is_fixed


@dataclass(frozen=True)
class Numbers:
    """Numbers of the type of `lowest` in a line of text, written as one would; `word` stands for None, and comes last.

    >>> Numbers("sizes", "Sizes", 1, None, (100, None), "", "all").read(["all, 300 100"])
    (100, 300, None)
    """

    key: str
    label: str
    lowest: float
    highest: float | None
    default: tuple[float | None, ...]
    help: str
    word: str | None = None
    width: int | None = None

    def unknown(self, written: Sequence[str]) -> list[str]:
        """Nothing but a second value."""
        return list(written[1:])

    def draw(self) -> str:
        """The field; returns what is in it, to be read when all other controls are drawn, too."""
        usual = self.written(self.default)[0]
        return _line(self.key, self.label, usual, self.help, self.width or 220)

    def meant(self, drawn: str) -> tuple[float | None, ...]:
        """The numbers in the text, rising, each once; DataError where there is something else in it."""
        words = drawn.replace(",", " ").replace(";", " ").split()
        numbers = {None if word == self.word else _number(word, self.lowest, self.highest) for word in words}
        if not numbers or any(number is NO_NUMBER for number in numbers):
            whole = "whole numbers" if isinstance(self.lowest, int) else "numbers"
            also = f", and “{self.word}”" if self.word else ""
            such = self.written(self.default)[0]
            raise DataError(f"{self.label} are {whole} separated by commas{also}, such as {such}; not {drawn!r}.")
        return tuple(sorted(numbers, key=lambda number: (number is None, number)))

    def read(self, written: Sequence[str]) -> tuple[float | None, ...]:
        """The value that an address holds."""
        return self.meant(written[0])

    def written(self, value: Sequence[float | None]) -> list[str]:
        """Numbers as the address holds them."""
        return [", ".join(str(self.word) if number is None else exact(number) for number in value)]


@dataclass(frozen=True)
class NumberOrWord:
    """A number from `lowest` to `highest`, of the type of `lowest`, or a word for none, such as "usual".

    Addresses of earlier versions said 0 for that word.

    >>> r = NumberOrWord("r", "Radius", 0.05, 10.0, None, "", "median")
    >>> [r.read([text]) for text in ("0.5", "median", "0.0")], r.written(None)
    ([0.5, None, None], ['median'])
    """

    key: str
    label: str
    lowest: float
    highest: float
    default: float | None
    help: str
    word: str

    def unknown(self, written: Sequence[str]) -> list[str]:
        """Nothing but a second value."""
        return list(written[1:])

    def draw(self) -> str:
        """The field; returns what is in it, to be read when all other controls are drawn, too."""
        if self.key not in st.session_state and st.query_params.get(self.key) in _OLD_WORDS:
            st.query_params[self.key] = self.word
        return _line(self.key, self.label, self.written(self.default)[0], self.help, 150)

    def meant(self, drawn: str) -> float | None:
        """The number in the text, None for the word; DataError where there is something else in it."""
        text = drawn.strip()
        if text.lower() == self.word or text in _OLD_WORDS:
            return None
        number = _number(text, self.lowest, self.highest)
        if number is NO_NUMBER:
            whole = "a whole number" if isinstance(self.lowest, int) else "a number"
            raise DataError(
                f"{self.label}: {whole} from {exact(self.lowest)} to {exact(self.highest)}, or “{self.word}”; "
                f"not {drawn!r}."
            )
        return number

    def read(self, written: Sequence[str]) -> float | None:
        """The value that an address holds."""
        return self.meant(written[0])

    def written(self, value: float | None) -> list[str]:
        """A value as the address holds it."""
        return [self.word if value is None else str(value)]


@dataclass(frozen=True)
class NamedNumbers:
    """Rows of a name and numbers in a line of text: a name, a colon and its numbers, rows separated by semicolons.

    A name that holds a colon, a semicolon or quotation marks itself, or begins or ends with a space, is in quotation
    marks, as JSON has them.

    >>> rows = NamedNumbers("labels", "Labels by fold", 0.0, "")
    >>> rows.read(["spam: 3 2 1; ham: 1, 1, 0.5"]), rows.written((("a: 1; b", 1.0, 2.0),))
    ((('spam', 3.0, 2.0, 1.0), ('ham', 1.0, 1.0, 0.5)), ['"a: 1; b": 1 2'])
    """

    key: str
    label: str
    lowest: float
    help: str
    width: int | None = None

    def unknown(self, written: Sequence[str]) -> list[str]:
        """Nothing but a second value."""
        return list(written[1:])

    def draw(self) -> str:
        """The field; returns what is in it, to be read when all other controls are drawn, too."""
        return _line(self.key, self.label, "", self.help, self.width or 220)

    def meant(self, drawn: str) -> tuple[tuple[str | float, ...], ...]:
        """The rows in the text; DataError where there is something else in it."""
        rows: list[tuple[str | float, ...]] = []
        at = 0
        while drawn[at:].strip(" ;\n"):
            row = _ROW.match(drawn, at)
            numbers = (
                [] if row is None else [_number(n, self.lowest, None) for n in re.split(r"[,\s]+", row["numbers"])]
            )
            if row is None or any(number is NO_NUMBER for number in numbers):
                raise DataError(
                    f"{self.label}: a name, a colon and a number for each fold, rows separated by semicolons, such as "
                    f"“spam: 3 2 1; ham: 1 1 1”; not {drawn[at:].strip()!r}."
                )
            rows.append((_unquoted(row), *numbers))
            at = row.end()
        return tuple(rows)

    def read(self, written: Sequence[str]) -> tuple[tuple[str | float, ...], ...]:
        """The value that an address holds."""
        return self.meant(written[0])

    def written(self, value: Sequence[Sequence[str | float]]) -> list[str]:
        """Rows as the address holds them."""
        rows = (f"{_quoted(str(name))}: {' '.join(exact(float(n)) for n in numbers)}" for name, *numbers in value)
        return ["; ".join(rows)]


NO_NUMBER = float("nan")
# A name without quotation marks may hold colons itself: it ends where a colon and nothing but numbers follow.
_ROW = re.compile(
    r'\s*(?:(?P<quoted>"(?:[^"\\]|\\.)*")|(?P<name>.+?))\s*:\s*(?P<numbers>[\d.][\d.eE+\-,\s]*?)\s*(?:;|\n|$)'
)
_OLD_WORDS = ("0", "0.0")


def _quoted(name: str) -> str:
    """A name as it stands in a row: in quotation marks where it would else end, or be read, otherwise."""
    odd = not name or name != name.strip() or not name.isprintable() or any(sign in name for sign in ':;"')
    return json.dumps(name, ensure_ascii=not name.isprintable()) if odd else name


def _unquoted(row: re.Match[str]) -> str:
    if row["quoted"] is None:
        return row["name"]
    try:
        return json.loads(row["quoted"])
    except ValueError:
        return row["quoted"]


def _line(key: str, label: str, usual: str, help: str, width: int) -> str:
    text = st.text_input(label, usual, key=key, disabled=is_fixed(key), help=help, bind="query-params", width=width)
    return text or usual


def _number(text: str, lowest: float, highest: float | None) -> float:
    """The number in a text, of the type of `lowest`; NO_NUMBER where it is none, or not in the range."""
    try:
        number = type(lowest)(text)
    except ValueError:
        return NO_NUMBER
    return number if lowest <= number and (highest is None or number <= highest) else NO_NUMBER
