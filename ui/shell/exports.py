"""What can be taken away of a run? Its tables, a report for somebody without the app, and what recreates it."""

from collections.abc import Callable, Mapping
from functools import partial

import pandas as pd
import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.questions import QUESTIONS, of_kind
from touchstone.core.report.html import to_html
from touchstone.core.report.parts import NONE, Answer, Report
from touchstone.core.report.recreate import Recreated, example_to_read, recipe, recreate
from touchstone.core.report.run_report import report_of
from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.run import Run
from touchstone.ui import page_file
from touchstone.ui.data import choice as data_choice
from touchstone.ui.shell import jobs, page, share, take_away
from touchstone.ui.shell.session import owner, workspace


def downloads(
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
    take_away.offer(tables, stem=_name(run), more=lambda: of_run(run, answer, also=also))
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

    def report() -> bytes:
        return to_html(Report(QUESTIONS[stem].title, subject, answer, _how_to_read(stem), rests_on, ""))

    def more() -> None:
        page.download("Report (HTML)", report, name=f"{name}.html", mime="text/html")

    take_away.offer({**answer.files, **files}, stem=name, more=more)
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
    """The report and the parameters of a run, as buttons; arguments as in `downloads`."""
    report = partial(report_file, run, answer, also=also)

    def parameters() -> bytes:
        return recipe(run, workspace().stored_dataset(owner(), run.fingerprint).example).encode()

    name = _name(run)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        page.download("Report (HTML)", report, name=f"{name}.html", mime="text/html")
        if run.n_done:
            page.download(
                "Report with the rows of every trial (HTML)",
                partial(report, with_rows=True),
                name=f"{name}-with-rows.html",
                mime="text/html",
            )
        page.download("Parameters (JSON)", parameters, name=f"{name}.json", mime="application/json")


def again() -> None:
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
