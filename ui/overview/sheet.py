"""How does the sheet look? Every accuracy on one axis, then a card for each question: its answer, or its run."""

from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs, urlencode

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from touchstone.core.data import DataError
from touchstone.core.evaluate.wording import plural
from touchstone.core.figures.overview import Mark
from touchstone.core.questions import FIRST, QUESTIONS, module_of
from touchstone.core.report import overview as report
from touchstone.core.report.html import to_html
from touchstone.core.report.overview import Answered, marks
from touchstone.core.workspace import Run, StoredModel, View, WorkspaceError
from touchstone.ui import page_file
from touchstone.ui.data import choice as data_choice
from touchstone.ui.overview import model_pairs, results
from touchstone.ui.predictions import choice as prediction_choice
from touchstone.ui.shell import downloads, jobs, page, questions, session, share


def answers(on_sheet: Mapping[str, Run]) -> tuple[dict[str, Answered], dict[str, Exception]]:
    """What is known so far, by stem; and what is wrong with runs whose rows cannot be read."""
    known: dict[str, Answered] = {}
    broken: dict[str, Exception] = {}
    for stem, run in on_sheet.items():
        try:
            answer = results.answer(QUESTIONS[stem], run)
        except (DataError, WorkspaceError) as problem:
            broken[stem] = problem
        else:
            if answer is not None:
                known[stem] = answer
    return known, broken


def axis(
    known: Sequence[Answered],
    shown: Sequence[Mark],
    baseline: float | None,
    *,
    n_unasked: int = 0,
    finished: bool = True,
) -> None:
    """How far accuracy ranges, with what has other units; then all that speaks of accuracy, where anything does."""
    if known or shown:
        summary = report.summary(known, shown, n_unasked=n_unasked, finished=finished)
        page.verdict(summary, report.key_numbers(known), beside=True)
    if shown:
        page.draw(report.axis_figure(shown, baseline))


def card(stem: str, run: Run, known: Answered | None, broken: Exception | None) -> None:
    """One question of the data set: its answer, or where its run stands, and the way to its page."""
    with st.container(border=True, height="stretch", key=f"card-{run.id}", gap="xsmall"):
        st.markdown(questions.card_title(run))
        if broken is not None:
            page.error(broken)
        elif known is not None:
            page.says(known.verdict, help=known.trusted)
        jobs.follow(run, jobs.progress)
        st.space("stretch")
        with foot(known):
            has_page = session.read_only() or questions.link(run, icon=":material/arrow_forward:")
        if not has_page:
            st.caption(questions.NO_PAGE)


def foot(known: Answered | None) -> DeltaGenerator:
    """The last line of a card: what an answer speaks of and when it was computed; the place for the way to its page."""
    line = st.container(horizontal=True, vertical_alignment="center", gap="small")
    with line:
        parts = () if known is None else (f"About {known.speaks_of}", known.computed)
        st.caption(page.plain(" · ".join(part for part in parts if part)), width="stretch")
    return line


def take(
    subject: str,
    known: Sequence[Answered],
    shown: Sequence[Mark],
    baseline: float | None,
    provenance: Sequence[tuple[str, str]],
    *,
    asked: Sequence[str],
    view: View,
) -> None:
    """Have the menus offer the sheet: as tables, as a page that prints, and by a link to `view`."""
    unasked = [
        question.title
        for question in QUESTIONS.values()
        if question.kind and question.name and question.speaks_of and question.stem not in asked
    ]

    def write() -> bytes:
        return to_html(
            report.sheet(subject, known, shown=shown, baseline=baseline, unasked=unasked, provenance=provenance)
        )

    downloads.offer(
        {"Answers": lambda: report.table(known), "Accuracies": lambda: report.accuracies(shown)},
        stem="sheet",
        more=lambda: page.download("The sheet, to print (HTML)", write, name="sheet.html", mime="text/html"),
    )
    share.offer(None, view.settings, view=view)
    share.offer_report(write, name="sheet.html")


def view(title: str, runs: Sequence[Run], models: Sequence[StoredModel], settings: Mapping[str, Sequence[str]]) -> View:
    """What a link to the sheet of a data set shows: the runs on it, and those that its sentences rest on."""
    data = (runs[0].fingerprint,)
    return View(
        FIRST,
        {data_choice.ADDRESS: data, **settings},
        title,
        datasets=data,
        models=tuple(model.fingerprint for model in models),
        runs=tuple(run.id for run in runs),
    )


def elsewhere(n_runs: int, n_shown: int) -> None:
    """The way to the runs that stand on no sheet."""
    if n_runs > n_shown:
        label = f"All {plural(n_runs, 'run')} of this data set"
        st.page_link(page_file("runs"), label=label, icon=":material/history:", help="")


# The sheet of prediction files: what questions that are about no data set came to, without model or data.


MOST = 6
SUBJECT = "Prediction files"
SHEET = {"sheet": ["prediction files"]}
"""The parameter of the address that leads to this sheet."""
COMPARED = "compared"
"""The parameter of the address that names a comparison, by the parameters of its own page."""
Known = tuple[Answered, Mapping[str, str | list[str]], str]
"""An answer, the parameters of its address, and the command that checks it."""


def sheet_of_files() -> None:
    """Every answer that is known, the newest first, on one axis; where there is none, where to begin."""
    modules = [module_of(question, "card") for question in QUESTIONS.values() if not question.about_data_set]
    named = st.query_params.get_all(COMPARED)
    try:
        for module in modules:
            for written in named[:MOST]:
                module.compare_again(parse_qs(written))
    except (DataError, WorkspaceError) as problem:
        page.error(problem)
        return
    known = [answer for module in modules for answer in module.answers() if not named or _written(answer) in named]
    if named:
        known.sort(key=lambda each: named.index(_written(each)))
    shown = [answer for answer, _, _ in known[:MOST]]
    accuracies = marks(shown)
    axis(shown, accuracies, None)
    for place, (answer, query, _) in enumerate(known[:MOST]):
        with st.container(border=True, key=f"card-files-{place}", gap="small"):
            _card(answer, dict(query))
    if len(known) > MOST:
        st.caption(f"{len(known) - MOST} more were compared since the server was started.")
    if known:
        with st.container(gap="xsmall"):
            model_pairs.offer_of_files(modules, shown)
        every = [question.stem for question in QUESTIONS.values()]
        take(SUBJECT, shown, accuracies, None, _rests_on(known[:MOST]), asked=every, view=_view(known[:MOST]))
        share.add_commands([(f"Command: checks {answer.about}", command) for answer, _, command in known[:MOST]])
    for module in modules:
        module.begin()


def _written(known: Known) -> str:
    """A comparison as an address names it."""
    return urlencode(known[1], doseq=True)


def _view(known: Sequence[Known]) -> View:
    """What a link to this sheet shows: the comparisons on it, which are made anew where it is opened."""
    settings = {**SHEET, COMPARED: [_written(each) for each in known]}
    return View(FIRST, settings, SUBJECT, predictions=tuple(_files(known)))


def _files(known: Sequence[Known]) -> dict[str, str]:
    """Every file that the answers are about, by fingerprint, with its name."""
    named = {value for _, query, _ in known for value in query.values() if isinstance(value, str)}
    return {file: title for file, title in prediction_choice.stored_titles().items() if file in named}


def _rests_on(known: Sequence[Known]) -> list[tuple[str, str]]:
    return [(title, f"fingerprint {file}") for file, title in _files(known).items()]


def _card(answer: Answered, query: dict[str, str | list[str]]) -> None:
    st.markdown(f"**{answer.question.title}**  \n:gray[{page.plain(answer.about)}]")
    page.says(answer.verdict, help=answer.trusted)
    where = page_file(answer.question.page)
    with foot(answer):
        st.page_link(where, label="Open", icon=":material/arrow_forward:", help="", query_params=query)
