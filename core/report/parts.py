"""What is a result made of, on the page and in its report? The same verdict, numbers, figures and tables for both."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isnan

import pandas as pd
import plotly.graph_objects as go

from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.wording import Verdict


@dataclass(frozen=True)
class Metric:
    """One number of a verdict: its name, its value, its interval (or n) in grey beneath, and what it means.

    `baseline` says what the number has to beat, where that is not plain to see.
    """

    label: str
    value: str
    interval: str = ""
    help: str | None = None
    baseline: str = ""


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure and the one line beneath that says how to read it; `draw(dark=...)` draws it, `key` names it."""

    key: str
    draw: Callable[..., go.Figure]
    caption: str


@dataclass(frozen=True, eq=False)
class Table:
    """An aggregate table: a title, its lines, how many decimals a column of numbers has, and a line beneath."""

    title: str
    lines: pd.DataFrame
    decimals: Mapping[str, int] = field(default_factory=dict)
    caption: str = ""


@dataclass(frozen=True)
class Note:
    """A line in grey."""

    text: str


Part = Figure | Table | Verdict | Note | str
"""What a section is made of; a string is a paragraph."""


@dataclass(frozen=True, eq=False)
class Section:
    """What stands together under a heading (or under none); on the screen alone unless `on_paper`."""

    heading: str
    parts: tuple[Part, ...]
    on_paper: bool = True


@dataclass(frozen=True, eq=False)
class Body:
    """What a run comes to: the verdict where it has one, its numbers, and sections of figures and tables.

    >>> Body(None, (), (Section("", ("Nothing yet.",)),)).figures
    ()
    """

    said: Verdict | None
    metrics: tuple[Metric, ...]
    sections: tuple[Section, ...]

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Every figure, from top to bottom."""
        return tuple(part for section in self.sections for part in section.parts if isinstance(part, Figure))


@dataclass(frozen=True, eq=False)
class Report:
    """A run for somebody without the app.

    `how_to_read` is Markdown of ours, `provenance` what the result rests on, a name and a value each, `parameters` the
    JSON that recreates the run (empty where no single run does), and `rows` those of every trial where somebody asked
    for them. A report that `is_sheet` prints small, its sections side by side, so as to fit one page of A4.
    """

    question: str
    subject: str
    body: Body
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
