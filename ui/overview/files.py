"""The sheet of prediction files: what questions that are about no data set came to, without model or data."""

from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs, urlencode

import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.questions import FIRST, QUESTIONS, module_of
from touchstone.core.report.overview import Answered, marks
from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.links import View
from touchstone.ui import page_file
from touchstone.ui.overview import model_pairs, sheet
from touchstone.ui.predictions import choice as prediction_choice
from touchstone.ui.shell import page, share

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
    sheet.axis(shown, accuracies, None)
    for place, (answer, query, _) in enumerate(known[:MOST]):
        with st.container(border=True, key=f"card-files-{place}", gap="small"):
            _card(answer, dict(query))
    if len(known) > MOST:
        st.caption(f"{len(known) - MOST} more were compared since the server was started.")
    if known:
        with st.container(gap="xsmall"):
            model_pairs.offer_of_files(modules, shown)
        every = [question.stem for question in QUESTIONS.values()]
        sheet.take(SUBJECT, shown, accuracies, None, _rests_on(known[:MOST]), asked=every, view=_view(known[:MOST]))
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
    with sheet.foot(answer):
        st.page_link(where, label="Open", icon=":material/arrow_forward:", help="", query_params=query)
