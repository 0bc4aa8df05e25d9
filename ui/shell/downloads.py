"""What can be taken away of a page? One menu at its top has every table and report; the page says which as it goes."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.questions import QUESTIONS, of_kind
from touchstone.core.report.files import FORMATS
from touchstone.core.report.html import to_html
from touchstone.core.report.markdown import to_markdown
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
    with st.popover("Take away", icon=":material/download:", help="Tables · reports · parameters", key="take-away"):
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


# What can be taken away of a run? Its tables, a report for somebody without the app, and what recreates it.


def of_page(
    run: Run,
    answer: Answer | None,
    *,
    files: Mapping[str, Callable[[], pd.DataFrame]] = NONE,
    also: Mapping[str, str] = NONE,
) -> None:
    """Have the menu of the page offer what can be taken away of an answer, its report and the run's parameters.

    `files` are those that only the page has, and `also` names what else the result rests on. The report, of the run as
    a whole where there is no answer, is what *Share* offers first where links work on this machine only.
    """
    tables = {**(NONE if answer is None else answer.files), **files}
    offer(tables, stem=_name(run), more=lambda: of_run(run, answer, also=also))
    share.offer_report(lambda: report_file(run, answer, also=also), name=f"{_name(run)}.html")


def of_answer(
    stem: str,
    subject: str,
    answer: Answer,
    rests_on: tuple[tuple[str, str], ...],
    *,
    files: Mapping[str, Callable[[], pd.DataFrame]] = NONE,
) -> None:
    """The same of an answer that no run holds: of a question by its `stem`, and what it rests on, by name."""
    name = stem.replace("_", "-")

    def report(write: Callable[[Report], bytes] = to_html) -> bytes:
        return write(Report(QUESTIONS[stem].title, subject, answer, _how_to_read(stem), rests_on, ""))

    def more() -> None:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            _reports(report, name)

    offer({**answer.files, **files}, stem=name, more=more)
    share.offer_report(report, name=f"{name}.html")


def report_file(
    run: Run,
    answer: Answer | None = None,
    *,
    also: Mapping[str, str] = NONE,
    with_rows: bool = False,
    write: Callable[[Report], bytes] = to_html,
) -> bytes:
    """The report of what a page says of a run, or of the run as a whole, as one file."""
    report = report_of(
        workspace(), owner(), run, how_to_read=_how_to_read, answer=answer, also=also, with_rows=with_rows
    )
    return write(report)


def _name(run: Run) -> str:
    """The beginning of the names of its files: its question, or what it served, and which run it is."""
    question = of_kind(run.kind)
    return f"{(run.kind if question is None else question.stem).replace('_', '-')}-{run.id[:8]}"


def of_run(run: Run, answer: Answer | None = None, *, also: Mapping[str, str] = NONE) -> None:
    """The report and the parameters of a run, as buttons; arguments as in `of_page`."""
    report = partial(report_file, run, answer, also=also)

    def parameters() -> bytes:
        return recipe(run, workspace().stored_dataset(owner(), run.fingerprint).example).encode()

    name = _name(run)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _reports(report, name)
        if run.n_done:
            page.download(
                "Report with the rows of every trial (HTML)",
                partial(report, with_rows=True),
                name=f"{name}-with-rows.html",
                mime="text/html",
            )
        page.download("Parameters (JSON)", parameters, name=f"{name}.json", mime="application/json")


def _reports(report: Callable[..., bytes], name: str) -> None:
    """The report as a page, and as text for chats and issues."""
    page.download("Report (HTML)", report, name=f"{name}.html", mime="text/html")
    text = partial(report, write=to_markdown)
    page.download("Report (Markdown)", text, name=f"{name}.md", mime="text/markdown")


def run_again() -> None:
    """A place for a file of parameters, from which the same run comes to be again; folded."""
    with st.expander("Compute a run again from its parameters"):
        st.caption(
            "The file “Parameters (JSON)” from the download menu of a result. Touchstone checks it, and says why "
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
