"""What does a question say? One value, which page, report, command line, Python and the sheet of answers all render.

Whatever is said of a question is composed here once: its verdict with its claims, its numbers with their intervals,
figures and tables in sections, and the files to take away. Nothing that renders it adds a word of its own.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import isnan
from types import MappingProxyType
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.io import from_json

from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.wording import Sentences, Verdict

NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class KeyNumber:
    """One number of a verdict: its name, its value, its interval (or n) in grey beneath, and what it means.

    `baseline` says what the number has to beat, where that is not plain to see.
    """

    label: str
    value: str
    interval: str = ""
    help: str | None = None
    baseline: str = ""


@dataclass(frozen=True)
class Quantity:
    """A number that can be bounded: what it is called, and `of` what (a model, a scheme, a sigma) it is.

    Its interval is one of 95 %, and `over` says over what, more than one of them: samples, clusters, authors.
    `baseline` is what is reached without learning, where it is known of this number by itself.
    """

    name: str
    of: tuple[str, ...]
    value: float
    interval: Interval
    n: int
    over: str = "samples"
    baseline: float | None = None

    @property
    def title(self) -> str:
        """What a table calls it.

        >>> Quantity("source_robustness.rho", ("svm", "kmeans"), 0.9, Interval(0.8, 0.95), 100).title
        'source_robustness.rho[svm, kmeans]'
        """
        return f"{self.name}[{', '.join(self.of)}]" if self.of else self.name


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure and the one line beneath that says how to read it; `draw(dark=...)` draws it, `key` names it.

    One with many rows, a class each, is shown in a box that scrolls: `n_rows` says how many it has.
    """

    key: str
    draw: Callable[..., go.Figure]
    caption: str
    n_rows: int = 0


@dataclass(frozen=True)
class Column:
    """A column of a table, declared once for screen and paper.

    Parameters
    ----------
    title
        What stands over it.
    value
        The name of a column of tidy rows (or of a field of an object), or what makes a cell of a row.
    help
        What it means, where the title does not say it.
    decimals
        Of a number; None leaves its form to page and paper.
    factor
        What a number is multiplied by: 100 for percent.
    width
        In pixels, where the column would else be too wide.
    """

    title: str
    value: str | Callable[[Any], object]
    help: str = ""
    decimals: int | None = None
    factor: int = 1
    width: int | None = None

    def cell(self, row: Any) -> object:
        """What stands in it for one row.

        >>> Column("Lower (%)", "lower", decimals=1, factor=100).cell(Interval(0.5, 0.75))
        50.0
        """
        made: Any = getattr(row, self.value) if isinstance(self.value, str) else self.value(row)
        return made if self.factor == 1 else self.factor * made


@dataclass(frozen=True, eq=False)
class Table:
    """An aggregate table: a title, its lines, what its columns are, and a line beneath."""

    title: str
    lines: pd.DataFrame
    columns: tuple[Column, ...] = ()
    caption: str = ""

    @classmethod
    def of(cls, title: str, rows: Iterable[Any], columns: Iterable[Column], caption: str = "") -> "Table":
        """A line for each row: an object, or what `DataFrame.itertuples` gives.

        >>> ends = [Interval(0.25, 0.5), Interval(0.5, 1.0)]
        >>> columns = [Column("From (%)", "lower", factor=100), Column("Width", lambda end: end.width)]
        >>> Table.of("Ends", ends, columns).lines
           From (%)  Width
        0      25.0   0.25
        1      50.0   0.50
        """
        shown, rows = tuple(columns), list(rows)
        lines = pd.DataFrame({column.title: [column.cell(row) for row in rows] for column in shown})
        return cls(title, lines, shown, caption)

    @property
    def decimals(self) -> Mapping[str, int]:
        """How many decimals a column of numbers has, by its title."""
        return {column.title: column.decimals for column in self.columns if column.decimals is not None}


@dataclass(frozen=True)
class Note:
    """A line in grey."""

    text: str


@dataclass(frozen=True, eq=False)
class Beside:
    """Parts that stand beside each other where there is room."""

    parts: tuple["Part", ...]


Part = Figure | Table | Verdict | Note | Beside | tuple[KeyNumber, ...] | str
"""What a section is made of; a string is a paragraph, key numbers are a grid of numbers."""


@dataclass(frozen=True, eq=False)
class Section:
    """What stands together under a heading (or under none); a sheet has it open at first where it is `on_paper`.

    On a page it is closed at first and known by its `key`; one that has a heading and no key is in the report only.
    Parts that cost time are given by a function.
    """

    heading: str
    made: tuple[Part, ...] | Callable[[], tuple[Part, ...]]
    key: str = ""
    on_paper: bool = True

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """What it is made of, once it was asked for."""
        return self.made() if callable(self.made) else self.made

    @property
    def flat(self) -> tuple[Part, ...]:
        """The same, with what stands beside each other one after the other."""
        return tuple(inner for part in self.parts for inner in (part.parts if isinstance(part, Beside) else (part,)))


@dataclass(frozen=True, eq=False)
class Answer:
    """What a question says.

    Parameters
    ----------
    verdict
        Its sentences with their claims; None where there is none.
    key_numbers
        The few numbers that stand in the card of the verdict.
    sections
        Figures and tables. The first one without a heading stands open below the verdict, the others are closed.
    numbers
        Those that can be held against a bound.
    files
        What can be taken away: tidy rows by title, each made when it is asked for.

    Examples
    --------
    >>> Answer(None, sections=(Section("", ("Nothing yet.",)),)).figures
    ()
    """

    verdict: Verdict | None
    key_numbers: tuple[KeyNumber, ...] = ()
    sections: tuple[Section, ...] = ()
    numbers: tuple[Quantity, ...] = ()
    files: Mapping[str, Callable[[], pd.DataFrame]] = field(default_factory=lambda: NONE)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Every figure, from top to bottom."""
        return tuple(part for section in self.sections for part in section.flat if isinstance(part, Figure))

    @property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """Every table, by its title."""
        return MappingProxyType(
            {part.title: part.lines for section in self.sections for part in section.flat if isinstance(part, Table)}
        )

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What its sentences rest on, that of the headline first."""
        return () if self.verdict is None else self.verdict.claims

    def muting(self, reasons: Mapping[str, str]) -> "Answer":
        """The same without sentences that rest on muted kinds of claim (`Verdict.muting`), in its sections, too.

        >>> from touchstone.core.evaluate.wording import resting
        >>> answer = Answer(None, sections=(Section("", (resting("It falls.", "matched_subsets.falls"), "So.")),))
        >>> answer.muting({"matched_subsets.falls": "Known"}).sections[0].parts
        ('So.',)
        """
        if not reasons:
            return self
        sections = tuple(replace(each, made=partial(_muted, each, reasons)) for each in self.sections)
        verdict = None if self.verdict is None else self.verdict.muting(reasons)
        return replace(self, verdict=verdict, sections=sections)

    def made(self) -> "Answer":
        """The same with every figure drawn, every table made and nothing left to compute: it can be pickled.

        >>> import pickle
        >>> lazy = Answer(None, sections=(Section("", lambda: (Note("Drawn."),)),), files={"Rows": pd.DataFrame})
        >>> kept = pickle.loads(pickle.dumps(lazy.made()))
        >>> kept.sections[0].parts, kept.files["Rows"]().shape
        ((Note(text='Drawn.'),), (0, 0))
        """
        sections = tuple(replace(each, made=tuple(map(_made, each.parts))) for each in self.sections)
        files = {title: partial(pd.DataFrame, make()) for title, make in self.files.items()}
        return replace(self, sections=sections, files=files)

    def beginning(self, finding: str) -> "Answer":
        """The same with this finding before the others of its verdict."""
        verdict = self.verdict and replace(self.verdict, findings=(finding, *self.verdict.findings))
        return replace(self, verdict=verdict)

    def section(self, key: str) -> Section | None:
        """The section of this key, where the answer has it."""
        return next((section for section in self.sections if section.key == key), None)


def _muted(section: Section, reasons: Mapping[str, str]) -> tuple[Part, ...]:
    """The parts of a section without what rests on muted kinds of claim."""

    def without(part: Part) -> Part:
        if isinstance(part, Beside):
            return Beside(tuple(map(without, part.parts)))
        if isinstance(part, Verdict):
            return part.muting(reasons)
        return part.without(reasons) if isinstance(part, Sentences) else part

    return tuple(part for part in map(without, section.parts) if part != "")


NOTHING_YET = "No trial has finished yet, so there is no result to show."


def nothing_yet(sentence: str = NOTHING_YET) -> Answer:
    """The answer where there is nothing to say but why.

    >>> nothing_yet().verdict is None
    True
    """
    return Answer(None, sections=(Section("", (sentence,)),))


@dataclass(frozen=True, eq=False)
class Report:
    """A run for somebody without the app.

    `how_to_read` is Markdown of ours, `provenance` what the result rests on, a name and a value each, `parameters` the
    JSON that recreates the run (empty where no single run does), and `rows` those of every trial where somebody asked
    for them. A report that `is_sheet` prints small, its sections side by side, so as to fit one page of A4.
    """

    question: str
    subject: str
    answer: Answer
    how_to_read: str
    provenance: tuple[tuple[str, str], ...]
    parameters: str
    rows: pd.DataFrame | None = None
    is_sheet: bool = False


def brackets(write: Callable[..., str], value: float, interval: Interval) -> str:
    """The interval of a number as `write` writes it, without the number.

    >>> from touchstone.core.evaluate.wording import percent
    >>> brackets(percent, 0.5, Interval(0.4, 0.6))
    '[40.0, 60.0]'
    """
    return write(value, interval).removeprefix(write(value)).strip()


def over_repeats(write: Callable[..., str], value: float, interval: Interval) -> str:
    """The interval of what repeats estimate, or why there is none.

    >>> from touchstone.core.evaluate.wording import percent
    >>> over_repeats(percent, 0.5, Interval(float("nan"), float("nan")))
    'no interval: too few repeats'
    """
    ends = brackets(write, value, interval)
    return "no interval: too few repeats" if not ends and not isnan(value) else ends


def _made(part: Part) -> Part:
    match part:
        case Figure():
            return replace(part, draw=partial(drawn_once, *(part.draw(dark=dark).to_json() for dark in (False, True))))
        case Table():
            return replace(part, columns=tuple(replace(column, value=column.title) for column in part.columns))
        case Beside():
            return Beside(tuple(map(_made, part.parts)))
    return part


def drawn_once(light: str, of_dark: str, *, dark: bool = False) -> go.Figure:
    """A figure as it was drawn once."""
    return from_json(of_dark if dark else light)
