"""How does a page show an answer? Its card, what stands open beneath, and sections that are closed at first."""

from collections.abc import Callable, Mapping
from functools import partial

import pandas as pd
import streamlit as st

from touchstone.core.figures.marks import MOST_IN_SIGHT
from touchstone.core.report.parts import NONE, Answer, Beside, Figure, Note, Part, Section, Table
from touchstone.ui.data.samples import LAZY_ROWS
from touchstone.ui.shell import page

BOX = 430
"""The height, in pixels, of a box that scrolls."""


def show(answer: Answer, *, finished: bool = True, most: int = 4, before: Callable[[], object] | None = None) -> None:
    """The card of the verdict and what stands open beneath it; once a run has `finished`, at most so many findings.

    `before` draws what stands between card and figure.
    """
    if answer.verdict is not None:
        page.verdict(answer.verdict, answer.key_numbers)
    if before is not None:
        before()
    if answer.sections and not answer.sections[0].heading:
        parts(answer.sections[0].parts)
    if finished and answer.verdict is not None:
        page.findings(answer.verdict, most=most)


def folds(answer: Answer, instead: Mapping[str, Callable[[], object]] = NONE) -> None:
    """Every section that is closed at first; what a page draws `instead` of some, by their keys."""
    with st.container(gap="xsmall"):
        for section in answer.sections:
            if section.key:
                draw = instead.get(section.key, partial(parts, section.parts))
                page.fold(page.plain(section.heading), draw, key=section.key)


def fold(section: Section | None, more: Callable[[], object] | None = None) -> None:
    """A section, closed at first, and what the page adds beneath it; nothing where the answer has no such section."""
    if section is None:
        return

    def draw() -> None:
        parts(section.parts)
        if more is not None:
            more()

    page.fold(page.plain(section.heading), draw, key=section.key)


def parts(shown: tuple[Part, ...]) -> None:
    """The parts of a section, one beneath the other; sentences that follow each other are a list."""
    sentences: list[str] = []
    for each in (*shown, None):
        if isinstance(each, str):
            sentences.append(each)
            continue
        if sentences:
            lines = [f"- {page.plain(sentence)}" for sentence in sentences]
            st.markdown("\n".join(lines) if len(lines) > 1 else page.plain(sentences[0]))
            sentences.clear()
        if each is not None:
            part(each)


def part(shown: Part) -> None:
    """A figure, a table, numbers, a verdict or a line in grey."""
    match shown:
        case Figure():
            in_a_box(shown.n_rows, lambda: page.draw(shown), key=f"{shown.key}-box")
        case Table():
            table(shown)
        case Beside():
            widths = [3 if isinstance(inner, Figure) else 2 for inner in shown.parts]
            for inner, column in zip(shown.parts, st.columns(widths, gap="medium"), strict=True):
                with column:
                    part(inner)
        case Note():
            st.caption(page.plain(shown.text))
        case tuple():
            page.numbers(shown)
        case str():
            st.markdown(page.plain(shown))
        case _:
            page.says(shown)


def table(shown: Table, *, key: str | None = None, on_line: Callable[[int], None] | None = None) -> None:
    """A table with its columns as they are declared, and the line beneath.

    With a `key` of its own `on_line` hears of the line that was clicked.
    """
    config = {
        column.title: st.column_config.Column(help=page.plain(column.help) or None, width=column.width)
        if (form := _number(shown.lines[column.title], column.decimals)) is None
        else st.column_config.NumberColumn(help=page.plain(column.help) or None, format=form, width=column.width)
        for column in shown.columns
    }
    lazy = len(shown.lines) > LAZY_ROWS
    more = {}
    if on_line is not None:
        more = {"key": key, "selection_mode": "single-cell", "on_select": partial(_tell, key, on_line)}
    st.dataframe(shown.lines, column_config=config, hide_index=True, alt=shown.title, lazy=lazy, **more)
    if shown.caption:
        st.caption(page.plain(shown.caption))


def _tell(key: str, on_line: Callable[[int], None]) -> None:
    for line, _ in st.session_state[key]["selection"]["cells"][:1]:
        on_line(line)


def _number(cells: pd.Series, decimals: int | None) -> str | None:
    """How the numbers of a column are written, as on paper; None where they are no numbers."""
    if not pd.api.types.is_numeric_dtype(cells) or pd.api.types.is_bool_dtype(cells):
        return None
    if decimals is not None:
        return f"%.{decimals}f"
    return "%.4g" if pd.api.types.is_float_dtype(cells) else "localized"


def in_a_box(n_rows: int, draw: Callable[[], object], *, key: str) -> None:
    """Draw something with a row per class at its full height, or in a box that scrolls where there are many."""
    if n_rows <= MOST_IN_SIGHT:
        draw()
    else:
        with st.container(height=BOX, border=False, key=key):
            draw()
