"""What can be taken away of a run? Its tables, a report for somebody without the app, and what recreates it."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
import streamlit as st

from core.report.html import to_html
from core.report.parts import Body
from core.report.questions import report_of
from core.report.recreate import recipe
from core.workspace.workspace import Run
from ui import page
from ui.session import owner, workspace

PAGES = Path(__file__).resolve().parent.parent / "pages"


def downloads(
    run: Run,
    tables: Mapping[str, Callable[[], pd.DataFrame]],
    *,
    stem: str,
    body: Callable[[], Body] | None = None,
    also: Mapping[str, str] | None = None,
) -> None:
    """The tables of a page about a run, its report and its parameters, behind one button (see `of_run`)."""
    page.downloads(tables, stem=f"{stem}-{run.id[:8]}", more=lambda: of_run(run, body, also=also))


def of_run(run: Run, body: Callable[[], Body] | None = None, *, also: Mapping[str, str] | None = None) -> None:
    """The report and the parameters of a run, as buttons.

    The report is about what a page shows (`body`), or about the run as a whole. `also` names what else the result
    rests on.
    """
    shelf, mine = workspace(), owner()

    def report(*, with_rows: bool) -> bytes:
        shown = None if body is None else body()
        told = report_of(shelf, mine, run, how_to_read=_how_to_read, body=shown, also=also or {}, with_rows=with_rows)
        return to_html(told)

    def parameters() -> bytes:
        return recipe(run, shelf.stored_dataset(mine, run.fingerprint).example).encode()

    name = f"{run.kind.replace('_', '-')}-{run.id[:8]}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        page.download("Report (HTML)", lambda: report(with_rows=False), name=f"{name}.html", mime="text/html")
        if run.n_done:
            page.download(
                "Report with the rows of every trial (HTML)",
                lambda: report(with_rows=True),
                name=f"{name}-with-rows.html",
                mime="text/html",
            )
        page.download("Parameters (JSON)", parameters, name=f"{name}.json", mime="application/json")


def _how_to_read(stem: str) -> str:
    return (PAGES / f"{stem}.md").read_text("utf-8")
