"""What can be taken away of a page? One menu at its top has every table; the page says which as it goes."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.questions import QUESTIONS, of_kind
from touchstone.core.report.files import FORMATS
from touchstone.core.report.html import to_html
from touchstone.core.report.parts import NONE, Answer, Report
from touchstone.core.report.recreate import Recreated, example_to_read, recreate
from touchstone.core.report.run_report import recipe, report_of
from touchstone.core.workspace import Run, WorkspaceError
from touchstone.ui import page_file
from touchstone.ui.data import choice as data_choice
from touchstone.ui.shell import jobs, page, share
from touchstone.ui.shell.session import owner, workspace

_OFFERED = "take_away"


@dataclass(frozen=True, eq=False)
class _Offer:
    """Some tables by title, and what draws further files beneath them."""

    tables: Mapping[str, Callable[[], pd.DataFrame]]
    stem: str
    more: Callable[[], None] | None


def offer(
    tables: Mapping[str, Callable[[], pd.DataFrame]], *, stem: str, more: Callable[[], None] | None = None
) -> None:
    """Have the menu of this page offer every table in every format, and `more` beneath.

    Each file is written only when it is asked for. A part of a page that is drawn anew by itself offers the same again.
    """
    offered: dict[str, _Offer] = st.session_state.setdefault(_OFFERED, {})
    offered[f"{stem}-{next(iter(tables), 'run')}"] = _Offer(tables, stem, more)


def clear() -> None:
    """Forget what the page drawn before this one offered."""
    st.session_state.pop(_OFFERED, None)


def menu() -> None:
    """The menu, for the page just drawn; nothing where it offers nothing."""
    offered: dict[str, _Offer] = st.session_state.get(_OFFERED, {})
    if not offered:
        return
    with st.popover(
        "Take away", icon=":material/download:", help="Tables · parameters · format of figures", key="take-away"
    ):
        for offer in offered.values():
            _files(offer.tables, offer.stem)
            if offer.more is not None:
                offer.more()
        _figure_format()


def _figure_format() -> None:
    """Which files the cameras over figures give; remembered also while a page without this menu is drawn."""
    control = f"{page.FIGURE_FORMAT}-control"
    st.session_state[control] = st.session_state.get(page.FIGURE_FORMAT, page.FIGURE_FORMATS[0])
    st.segmented_control(
        "Figures: the camera over each saves it as",
        page.FIGURE_FORMATS,
        key=control,
        required=True,
        on_change=lambda: st.session_state.update({page.FIGURE_FORMAT: st.session_state[control]}),
    )


def here(tables: Mapping[str, Callable[[], pd.DataFrame]], *, stem: str) -> None:
    """Tables that belong to a step or a selection, behind a button where that stands."""
    key = f"downloads-{stem}-{next(iter(tables))}"
    with st.popover("Download", icon=":material/download:", type="tertiary", key=key):
        _files(tables, stem)


def _files(tables: Mapping[str, Callable[[], pd.DataFrame]], stem: str) -> None:
    for title, table in tables.items():
        name = f"{stem}-{re.sub(r'[^a-z0-9]+', '-', title.lower()).strip('-')}"
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            for form, (write, ending, mime) in FORMATS.items():
                page.download(
                    f"{title} ({form})",
                    lambda table=table, write=write: write(table()),
                    name=f"{name}.{ending}",
                    mime=mime,
                )


# What can be taken away of an answer? Its tables and what recreates its run; the report of it is sent.


def of_page(
    run: Run,
    answer: Answer | None,
    *,
    files: Mapping[str, Callable[[], pd.DataFrame]] = NONE,
    also: Mapping[str, str] = NONE,
    title: str = "",
) -> None:
    """Have the menus of the page offer what can be taken away of an answer and the run's parameters, and its report.

    `files` are those that only the page has, and `also` names what else the result rests on. The report is of the run
    as a whole where there is no answer; `title` tells it from others of the page, if not the question of the run.
    """
    question = of_kind(run.kind)
    stem, asked = (run.kind, run.kind) if question is None else (question.stem, question.title)
    name = f"{stem.replace('_', '-')}-{run.id[:8]}"

    def report(*, with_rows: bool = False) -> Report:
        return report_of(
            workspace(), owner(), run, how_to_read=_how_to_read, answer=answer, also=also, with_rows=with_rows
        )

    def parameters() -> bytes:
        return recipe(run, workspace().stored_dataset(owner(), run.fingerprint).example).encode()

    def more() -> None:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if run.n_done:
                page.download(
                    "Report with the rows of every trial (HTML)",
                    lambda: to_html(report(with_rows=True)),
                    name=f"{name}-with-rows.html",
                    mime="text/html",
                )
            page.download("Parameters (JSON)", parameters, name=f"{name}.json", mime="application/json")

    offer({**(NONE if answer is None else answer.files), **files}, stem=name, more=more)
    share.offer_report(title or asked, report, name=name)


def of_answer(
    stem: str,
    subject: str,
    answer: Answer,
    rests_on: tuple[tuple[str, str], ...],
    *,
    files: Mapping[str, Callable[[], pd.DataFrame]] = NONE,
) -> None:
    """The same of an answer that no run holds: of a question by its `stem`, and what it rests on, by name."""
    name, title = stem.replace("_", "-"), QUESTIONS[stem].title
    offer({**answer.files, **files}, stem=name)
    share.offer_report(title, lambda: Report(title, subject, answer, _how_to_read(stem), rests_on, ""), name=name)


def run_again() -> None:
    """A place for a file of parameters, from which the same run comes to be again; folded."""
    with st.expander("Compute a run again from its parameters"):
        st.caption(
            "The file “Parameters (JSON)” from *Take away* on the page of a result. Touchstone checks it, and says why "
            "where the run cannot be repeated."
        )
        file = st.file_uploader("Parameters (JSON)", type="json", key="parameters", label_visibility="collapsed")
        if file is None:
            return
        try:
            text = _text(file.getvalue())
            if not data_choice.ready(example_to_read(workspace(), owner(), text)):
                return
            recreated = recreate(workspace(), owner(), text)
            run = workspace().find_run(owner(), recreated.plan, recreated.fingerprint)
        except (DataError, WorkspaceError) as problem:
            page.error(problem)
            return
        for note in recreated.notes:
            st.info(page.plain(note), icon=":material/info:")
        st.caption(f"Key {recreated.key}")
        if jobs.can_start(run):
            st.button("Run", type="primary", key="again", on_click=_start, args=(recreated,))
        else:
            st.markdown("This run is already here: see the list below.")


@page.or_toast
def _start(recreated: Recreated) -> None:
    recreated.store(workspace(), owner())
    jobs.start(recreated.plan, workspace().dataset(owner(), recreated.fingerprint))


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise DataError("This is not a file of parameters: it contains no text.") from None


def _how_to_read(stem: str) -> str:
    return page_file(stem).with_suffix(".md").read_text("utf-8")
