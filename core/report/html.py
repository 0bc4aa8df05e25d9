"""How does a result go to somebody without the app? As one HTML file that needs no network, and prints.

Whatever a user wrote is text to the template; the figures' data are JSON in which no character can end their element.
Nothing but our two scripts may run, by a policy that names them by their hashes, and nothing can be fetched.
"""

import gzip
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2.utils import htmlsafe_json_dumps
from pandas.api.types import is_numeric_dtype
from plotly.offline import get_plotlyjs

from touchstone.core.evaluate.claim_error_rates import about
from touchstone.core.evaluate.wording import count, fixed
from touchstone.core.figures.theme import DARK, LIGHT, alt_text
from touchstone.core.report.files import tsv
from touchstone.core.report.markup import markup, render
from touchstone.core.report.parts import Answer, Figure, Report, Section, Table

MOST_LINES = 200
"""A longer table is cut in a report; the files of tables are whole."""
LONGEST_WORD = 20
"""So many characters of a cell stay in one line."""
MOST_NUMBERS = 4
"""So many numbers a notebook shows below the verdict."""
MOST_SHAPES = 5000
"""So many points of a figure are drawn as shapes, of which each costs a browser time."""
ON_TWO_AXES = frozenset({"bar", "box", "heatmap", "histogram", "image", "scatter", "violin"})
"""What the small script draws."""


def to_html(report: Report) -> bytes:
    """The report as a file that opens in any browser, without a network."""
    main, sections = _main_figure(report.answer)
    drawn = {figure.key: _draw(figure) for figure in report.answer.figures}
    page = render(
        "core/report/report.html",
        report=report,
        main=main,
        sections=sections,
        how_to_read=markup(report.how_to_read),
        library=_library(drawn.values()),
        looks=(LIGHT, DARK),
        drawn=drawn,
        cells=_cells,
        count=count,
        tsv=tsv,
        about=about,
    )
    return page.encode()


def to_cell(answer: Answer) -> str:
    """The verdict, four numbers and the main figure, as a notebook shows them, on light or dark ground.

    The figure lies in a frame with the script that draws it, for a notebook may run no other: most of its .7 MB.
    """
    main = _main_figure(answer)[0] or next(iter(answer.figures), None)
    shown: dict[str, Any] = {"figure": None, "frame": "", "caption": ""}
    if main is not None:
        figure = _draw(main)
        frame = render("core/report/cell_figure.html", figure=figure, library=_library([figure]))
        shown = {"figure": figure, "frame": frame, "caption": main.caption}
    numbers = answer.key_numbers[:MOST_NUMBERS]
    return render("core/report/cell.html", verdict=answer.verdict, numbers=numbers, **shown)


def _main_figure(answer: Answer) -> tuple[Figure | None, tuple[Section, ...]]:
    """The figure that stands right below the verdict, and the sections without it: the first page shows both."""
    if answer.verdict is None or not answer.sections or not answer.sections[0].flat:
        return None, answer.sections
    first, *rest = answer.sections
    main, *others = first.flat
    if first.heading or not isinstance(main, Figure):
        return None, answer.sections
    return main, (replace(first, made=tuple(others)), *rest) if others else tuple(rest)


@dataclass(frozen=True)
class _Drawn:
    """A figure as a page has it: what it is in words, how high it stands, and its data."""

    alt: str
    height: int
    content: dict[str, Any]

    @property
    def json(self) -> str:
        """Its data, and what changes where the page is dark; nothing in it ends its element or opens a comment."""
        return htmlsafe_json_dumps(self.content, separators=(",", ":"))

    @property
    def types(self) -> set[str]:
        """The types of marks that draw it."""
        return {mark["type"] for mark in self.content["data"]}


def _draw(figure: Figure) -> _Drawn:
    drawn = figure.draw(dark=False)
    light, dark = (_few_as_shapes(json.loads(str(each.to_json()))) for each in (drawn, figure.draw(dark=True)))
    content = {"data": light["data"], "layout": light["layout"], "dark": list(_changes(light, dark))}
    return _Drawn(alt_text(drawn), int(drawn.layout.height or 320), content)


def _few_as_shapes(figure: dict[str, Any]) -> dict[str, Any]:
    """Few points need no graphics card, and a page that draws none a much smaller script."""
    by_card = [mark for mark in figure["data"] if mark["type"] == "scattergl"]
    if sum(map(_n_points, by_card)) <= MOST_SHAPES:
        for mark in by_card:
            mark["type"] = "scatter"
    return figure


def _n_points(mark: dict[str, Any]) -> int:
    """How many points a mark has; arrays are packed, as letters of which four say three bytes."""
    x = mark.get("x", ())
    return len(x["bdata"]) * 3 // 4 // np.dtype(x["dtype"]).itemsize if isinstance(x, dict) else len(x)


def _changes(light: Any, dark: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Where one drawing differs from another, and what stands there in the other.

    >>> list(_changes({"a": [{"b": 1}, {"b": 2}]}, {"a": [{"b": 1}, {"b": 3}]}))
    [(('a', 1, 'b'), 3)]
    """
    if light == dark:
        return
    if isinstance(light, dict) and isinstance(dark, dict):
        for key in sorted(light.keys() | dark.keys()):
            yield from _changes(light.get(key), dark.get(key), (*path, key))
    elif _are_parts(light) and _are_parts(dark) and len(light) == len(dark):
        for at, (one, other) in enumerate(zip(light, dark, strict=True)):
            yield from _changes(one, other, (*path, at))
    else:
        yield path, dark


def _are_parts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _cells(table: Table) -> tuple[list[tuple[str, str]], list[list[tuple[str, str]]]]:
    """The heads of a table, and the lines of it that a report has: how each cell stands, and its text."""
    shown = table.lines.head(MOST_LINES)
    columns = [(is_numeric_dtype(kind), table.decimals.get(str(name))) for name, kind in shown.dtypes.items()]
    heads = [(_stands(name, is_number), str(name)) for name, (is_number, _) in zip(shown, columns, strict=True)]
    lines = (zip(line, columns, strict=True) for line in shown.itertuples(index=False, name=None))
    return heads, [[(_stands(value, is_number), cell(value, n)) for value, (is_number, n) in line] for line in lines]


def _stands(value: object, numeric: bool) -> str:
    """How a cell stands: numbers to the right; words that no column can be as wide as are broken, others are not.

    >>> _stands(1, True), _stands("fox", False), _stands("f" * 30, False)
    ('number', '', 'long')
    """
    longest = max(map(len, str(value).split()), default=0)
    return "number" if numeric else "long" if longest > LONGEST_WORD else ""


def cell(value: object, decimals: int | None) -> str:
    """A number as the page writes it, anything else as text, nothing for what is missing.

    >>> cell(0.84512, 3), cell(1797, None), cell(float("nan"), 2), cell("fox", None)
    ('0.845', '1\u202f797', '', 'fox')
    """
    if value is None or value is pd.NA or (isinstance(value, float | np.floating) and np.isnan(value)):
        return ""
    if isinstance(value, bool | np.bool_):
        return str(bool(value)).lower()
    if isinstance(value, int | np.integer):
        return count(int(value))
    if isinstance(value, float | np.floating):
        return f"{value:.4g}" if decimals is None else fixed(float(value), decimals)
    return str(value)


# What draws figures? A script of Plotly, packed: whoever opens the file unpacks it.


@dataclass(frozen=True)
class _Library:
    """A script of Plotly: one that can stand in an element of its own, and is known there by its hash."""

    packed: bytes

    @cached_property
    def script(self) -> str:
        """The script itself."""
        return gzip.decompress(self.packed).decode()


@lru_cache(maxsize=1)
def _small() -> _Library:
    """Plotly's own smaller build, of nothing but marks on two axes (docs/decisions/0074)."""
    return _Library(Path(__file__).with_name("plotly-cartesian.min.js.gz").read_bytes())


@lru_cache(maxsize=1)
def _whole() -> _Library:
    """Plotly's script as it is installed; it is thrice as large."""
    return _Library(gzip.compress(get_plotlyjs().encode(), mtime=0))


def _library(figures: Iterable[_Drawn]) -> _Library:
    """The smallest script that draws all of these."""
    return _small() if set().union(*(figure.types for figure in figures)) <= ON_TWO_AXES else _whole()
