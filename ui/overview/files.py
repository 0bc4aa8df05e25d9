"""The sheet of prediction files: what questions that are about no data set came to, without model or data."""

from collections.abc import Mapping, Sequence

import streamlit as st

from core.questions import QUESTIONS, module_of
from core.report.overview import Answer, marks
from ui import page_file
from ui.overview import model_pairs, sheet
from ui.predictions import choice as prediction_choice
from ui.shell import page, share

MOST = 6
SUBJECT = "Prediction files"
Known = tuple[Answer, Mapping[str, str | list[str]], str]
"""An answer, the parameters of its address, and the command that computes it."""


def sheet_of_files() -> None:
    """Every answer that is known, the newest first, on one axis; where there is none, where to begin."""
    modules = [module_of(question, "card") for question in QUESTIONS.values() if not question.about_data_set]
    known = [answer for module in modules for answer in module.answers()]
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
        sheet.take(SUBJECT, shown, accuracies, None, _rests_on(known[:MOST]), asked=every)
        share.add_commands([(f"Command: {answer.about}", command) for answer, _, command in known[:MOST]])
    for module in modules:
        module.begin()


def _rests_on(known: Sequence[Known]) -> list[tuple[str, str]]:
    """Every file that the answers are about, by its name, with its fingerprint."""
    named = {value for _, query, _ in known for value in query.values() if isinstance(value, str)}
    titles = prediction_choice.stored_titles()
    return [(title, f"fingerprint {file}") for file, title in titles.items() if file in named]


def _card(answer: Answer, query: dict[str, str | list[str]]) -> None:
    st.markdown(f"**{answer.question.title}**  \n:gray[{page.plain(answer.about)}]")
    page.says(answer.verdict, help=answer.trusted)
    where = page_file(answer.question.page)
    with sheet.foot(answer):
        st.page_link(where, label="Open", icon=":material/arrow_forward:", help="", query_params=query)
