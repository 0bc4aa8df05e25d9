"""What can be chosen? Keyed widgets that the address bar holds, made from the registries, giving frozen plans.

Streamlit replaces a value that it does not know in the address by the default, silently: a link would show another
result than the one that was sent. So the address is checked first, and an unknown value ends the page with a sentence.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from touchstone.core.data import DataError
from touchstone.core.evaluate.wording import exact
from touchstone.ui.shell.page import plain
from touchstone.ui.shell.session import is_fixed, read_only

MOST_SIDE_BY_SIDE = 3
LONGEST_SIDE_BY_SIDE = 90  # characters, all names together
USUAL = "usual"
_GOT = "asked_and_got"
_MARKUP = re.compile(r"[*`$~\\\[\]<]|:\w|_.*_")  # what Streamlit would take for more than a name


@dataclass(frozen=True)
class Pick:
    """One or several of the names in `titles`; the address holds the titles that the screen shows."""

    key: str
    label: str
    titles: Mapping[str, str]
    default: tuple[str, ...]
    help: str

    def unknown(self, written: Sequence[str]) -> list[str]:
        """Which values of an address cannot be chosen here."""
        return [value for value in written if value and value not in self.titles.values()]

    def draw(self) -> tuple[str, ...]:
        """The widget; returns the chosen names in the registry's order."""
        _forget_unless(self.key, lambda held: set(held) <= self.titles.keys())
        chosen = st.pills(
            self.label,
            list(self.titles),
            selection_mode="multi",
            default=list(self.default),
            format_func=self.titles.__getitem__,
            key=self.key,
            disabled=is_fixed(self.key),
            help=self.help,
            bind="query-params",
        )
        return self.ordered(chosen)

    def meant(self, drawn: tuple[str, ...]) -> tuple[str, ...]:
        """What was drawn, as it is."""
        return drawn

    def read(self, written: Sequence[str]) -> tuple[str, ...]:
        """The value that an address holds."""
        return self.ordered([name for name, title in self.titles.items() if title in written])

    def ordered(self, names: Sequence[str]) -> tuple[str, ...]:
        """Names in the registry's order, whatever the order of choosing: the same choice is the same plan."""
        return tuple(name for name in self.titles if name in names)

    def written(self, value: Any) -> list[str]:
        """A value as the address holds it; nothing chosen is written, too, since no parameter means what is usual."""
        unknown = [str(name) for name in value if name not in self.titles]
        return [*(self.titles[name] for name in self.ordered(value)), *unknown] or [""]


@dataclass(frozen=True)
class One:
    """Just one of the names in `titles`; few stand side by side, many in a list, which takes any name as it is."""

    key: str
    label: str
    titles: Mapping[Any, str]
    default: Any
    help: str | None = None
    side_by_side: bool = False

    def unknown(self, written: Sequence[str]) -> list[str]:
        """Which values of an address cannot be chosen here."""
        return [value for value in written if value and value not in self.titles.values()] + list(written[1:])

    def draw(self, *, side_by_side: bool = False, label: Literal["visible", "collapsed"] = "visible") -> Any:
        """The widget; returns the chosen name. Side by side, its label may be there for screen readers alone."""
        names = list(self.titles)
        _forget_unless(self.key, names.__contains__)
        if side_by_side or self.side_by_side or self._fits_side_by_side():
            return st.segmented_control(
                self.label,
                names,
                default=self.default,
                format_func=self.titles.__getitem__,
                key=self.key,
                disabled=is_fixed(self.key),
                help=self.help,
                required=True,
                label_visibility=label,
                bind="query-params",
            )
        return st.selectbox(
            self.label,
            names,
            index=names.index(self.default),
            format_func=self.titles.__getitem__,
            key=self.key,
            disabled=is_fixed(self.key),
            help=self.help,
            bind="query-params",
        )

    def _fits_side_by_side(self) -> bool:
        few = len(self.titles) <= MOST_SIDE_BY_SIDE and sum(map(len, self.titles.values())) <= LONGEST_SIDE_BY_SIDE
        return few and not any(map(_MARKUP.search, self.titles.values()))

    def meant(self, drawn: Any) -> Any:
        """What was drawn, as it is."""
        return drawn

    def read(self, written: Sequence[str]) -> Any:
        """The value that an address holds."""
        return next(name for name, title in self.titles.items() if title == written[0])

    def written(self, value: Any) -> list[str]:
        """A value as the address holds it."""
        return [self.titles.get(value, str(value))]


@dataclass(frozen=True)
class OneOrUsual:
    """One of the names (or numbers) in `titles`, or what is usual: None in a plan, "usual" in the address."""

    key: str
    label: str
    titles: Mapping[Any, str]
    help: str
    width: int = 270

    def unknown(self, written: Sequence[str]) -> list[str]:
        """Which values of an address cannot be chosen here."""
        known = {USUAL, *self.titles.values()}
        return [value for value in written if value and value not in known] + list(written[1:])

    def draw(self) -> Any:
        """The widget; returns the chosen name, None for what is usual."""
        _forget_unless(self.key, ["", *self.titles].__contains__)
        chosen = st.selectbox(
            self.label,
            ["", *self.titles],
            format_func=lambda name: self.titles.get(name, USUAL),
            key=self.key,
            disabled=is_fixed(self.key),
            help=self.help,
            bind="query-params",
            width=self.width,
        )
        return chosen or None

    def written(self, value: Any) -> list[str]:
        """A value as the address holds it."""
        return [self.titles.get(value, str(value)) if value else USUAL]

    def meant(self, drawn: Any) -> Any:
        """What was drawn, as it is."""
        return drawn

    def read(self, written: Sequence[str]) -> Any:
        """The value that an address holds."""
        return next((name for name, title in self.titles.items() if title == written[0]), None)


@dataclass(frozen=True)
class Number:
    """A number from `lowest` to `highest`, of the type of its default."""

    key: str
    label: str
    lowest: float
    highest: float
    default: float
    step: float
    help: str
    format: str | None = None

    def unknown(self, written: Sequence[str]) -> list[str]:
        """Which values of an address cannot be chosen here."""
        return [value for value in written if value and not self._allows(value)] + list(written[1:])

    def _allows(self, value: str) -> bool:
        try:
            number = type(self.default)(value)
        except ValueError:
            return False
        return self.lowest <= number <= self.highest

    def draw(self) -> Any:
        """The widget; returns the chosen number, the default where the field is empty."""
        chosen = st.number_input(
            self.label,
            self.lowest,
            self.highest,
            self.default,
            self.step,
            self.format,
            key=self.key,
            disabled=is_fixed(self.key),
            help=self.help,
            bind="query-params",
            placeholder=str(self.default),
            width=150,
        )
        return self.default if chosen is None else chosen

    def written(self, value: Any) -> list[str]:
        """A value as the address holds it."""
        return [str(value)]

    def meant(self, drawn: Any) -> Any:
        """What was drawn, as it is."""
        return drawn

    def read(self, written: Sequence[str]) -> Any:
        """The value that an address holds."""
        return type(self.default)(written[0])


@dataclass(frozen=True)
class Slider(Number):
    """A share from 0 to 1, in hundredths."""

    def draw(self) -> float:
        """The widget; returns the place."""
        return st.slider(
            self.label,
            self.lowest,
            self.highest,
            self.default,
            self.step,
            key=self.key,
            disabled=is_fixed(self.key),
            help=self.help,
            bind="query-params",
        )


@dataclass(frozen=True)
class Name:
    """Any name, in an address: what can be chosen is not known where nothing is known of the data.

    It may be what is usual: None in a plan.
    """

    key: str
    label: str
    or_usual: bool = False

    def unknown(self, written: Sequence[str]) -> list[str]:
        """Whatever is no name."""
        return [value for value in written[:1] if not value] + list(written[1:])

    def read(self, written: Sequence[str]) -> str | None:
        """The value that an address holds."""
        return None if self.or_usual and written[0] == USUAL else written[0]

    def written(self, value: Any) -> list[str]:
        """A value as the address holds it."""
        return [value or (USUAL if self.or_usual else "")]


class Checked(Protocol):
    """What an address is checked against."""

    @property
    def key(self) -> str:
        """Its parameter of the address."""
        ...

    @property
    def label(self) -> str:
        """What the screen calls it."""
        ...

    def unknown(self, written: Sequence[str]) -> list[str]:
        """Which values of an address cannot be chosen here."""
        ...


class Control(Checked, Protocol):
    """What every widget of a form does: what is `drawn` stands on the screen, and `meant` may refuse it (DataError)."""

    def draw(self) -> Any:
        """The widget; returns what stands in it."""
        ...

    def meant(self, drawn: Any) -> Any:
        """The value of what stands in the widget."""
        ...

    def read(self, written: Sequence[str]) -> Any:
        """The value that an address holds."""
        ...

    def written(self, value: Any) -> list[str]:
        """A value as the address holds it."""
        ...


def check_address(controls: Sequence[Checked]) -> None:
    """End the page with a sentence where the address asks for a value that no control has.

    What it asked for, and got, may be gone after another choice on the page: then the control takes what is usual.
    """
    asked = {control.key: st.query_params.get_all(control.key) for control in controls}
    got: dict[str, list[str]] = st.session_state.setdefault(_GOT, {})
    wrong = {
        control.label: control.unknown(asked[control.key])
        for control in controls
        if got.get(control.key) != asked[control.key]
    }
    wrong = {label: values for label, values in wrong.items() if values}
    if not wrong:
        got.update(asked)
        return
    wrong_values = "; ".join(f"{label.lower()}: {', '.join(values)}" for label, values in wrong.items())
    st.error(
        f"It asks for {plain(wrong_values)}. No result is shown.",
        title="This address has a setting that does not exist here",
        icon=":material/link_off:",
    )
    st.button("Show the usual settings", on_click=_forget, args=([control.key for control in controls],))
    st.stop()


def _forget_unless(key: str, can_be: Callable[[Any], bool]) -> None:
    """Forget what a control holds that cannot be chosen any more, or the address would ask for it.

    That is so where the control was not drawn while another data set was chosen.
    """
    if key in st.session_state and not can_be(st.session_state[key]):
        del st.session_state[key]


def _forget(keys: Sequence[str]) -> None:
    for key in keys:
        st.query_params.pop(key, None)


# How does a choice that was made once keep out of the way? It folds into one line that says it; "change" opens it.


def choice_line(line: str, *, key: str, chosen: str, change: str = "change", expanded: bool = False) -> DeltaGenerator:
    """The line (Markdown) of a choice, and the place for its controls, which the line opens.

    `chosen` names what is chosen: once that is another thing the choice is made, and the place closes again. Through a
    link nothing can be changed, and the place says more of what was.

    Controls must be drawn in it whether it is open or not: what the address binds a widget to would else be lost.
    """
    word = "details" if read_only() else change
    return st.expander(f"{line} · :blue[{word}]", expanded=expanded, key=f"chosen-{key}-{chosen[:24]}")


# Which numbers are written in a line of text? A list of them, or one number or a word for what is usual.


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
