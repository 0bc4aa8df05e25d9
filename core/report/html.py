"""How does a result go to somebody without the app? As one HTML file that needs no network, and prints.

Whatever a user wrote is text to the template; the figures' data are JSON in which no character can end their element.
Nothing but our two scripts may run, by a policy that names them by their hashes, and nothing can be fetched.
"""

import gzip
from base64 import b64encode
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pandas as pd
from jinja2.utils import htmlsafe_json_dumps
from pandas.api.types import is_numeric_dtype
from plotly.offline import get_plotlyjs

from touchstone.core.evaluate.claim_error_rates import about
from touchstone.core.evaluate.wording import count, fixed
from touchstone.core.figures.theme import LIGHT, alt_text
from touchstone.core.report.files import tsv
from touchstone.core.report.markup import markup, render
from touchstone.core.report.parts import Answer, Figure, Report, Section, Table

MOST_LINES = 200
"""A longer table is cut in a report; the files of tables are whole."""
LONGEST_WORD = 20
"""So many characters of a cell stay in one line."""
MOST_NUMBERS = 4
"""So many numbers a notebook shows below the verdict."""


def to_html(report: Report) -> bytes:
    """The report as a file that opens in any browser, without a network."""
    main, sections = _main_figure(report.answer)
    page = render(
        "core/report/report.html",
        report=report,
        main=main,
        sections=sections,
        how_to_read=markup(report.how_to_read),
        library=_library(),
        look=LIGHT,
        draw=_draw,
        cells=_cells,
        count=count,
        tsv=tsv,
        about=about,
    )
    return page.encode()


def to_cell(answer: Answer) -> str:
    """The verdict, four numbers and the main figure, as a notebook shows them, on light or dark ground.

    The figure lies in a frame with the script that draws it, for a notebook may run no other, and takes 2 MB so.
    """
    main = _main_figure(answer)[0] or next(iter(answer.figures), None)
    shown = {"figure": None, "frame": "", "caption": ""}
    if main is not None:
        light, dark = (_draw(main, dark=dark) for dark in (False, True))
        frame = render(
            "core/report/cell_figure.html", light=light["json"], dark=dark["json"], library=_packed_library()
        )
        shown = {"figure": light, "frame": frame, "caption": main.caption}
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


def _draw(figure: Figure, *, dark: bool = False) -> dict[str, object]:
    """A figure as its element in a page has it; nothing in its JSON ends that element or opens a comment."""
    drawn = figure.draw(dark=dark)
    return {
        "alt": alt_text(drawn),
        "height": int(drawn.layout.height or 320),
        "json": htmlsafe_json_dumps(drawn, dumps=lambda drawn: str(drawn.to_json())),
    }


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


@lru_cache(maxsize=1)
def _library() -> str:
    """Plotly's own script, as it is installed; it holds nothing that would end its element."""
    library = get_plotlyjs()
    if "</script" in library.lower() or "<!--" in library:
        raise AssertionError("this version of plotly.js cannot stand in an HTML element")
    return library


@lru_cache(maxsize=1)
def _packed_library() -> str:
    """The same script, packed for a notebook: gzip, as letters."""
    return b64encode(gzip.compress(_library().encode(), mtime=0)).decode()
