"""Have every question asked at once, within a time: what is asked, how far it is, and what was left out and why."""

import streamlit as st

from core.evaluate.wording import listed, plural
from core.questions import QUESTIONS
from core.workspace.engine.agenda import Agenda, usual_steps
from core.workspace.errors import WorkspaceError
from ui.data import choice as data_choice
from ui.data.choice import Choice
from ui.shell import jobs, page
from ui.shell.session import engine, owner, read_only, workspace

BUDGETS = {5: "within 5 minutes", 30: "30 minutes", 480: "overnight"}
"""Minutes, as they are offered."""
_BUDGET = "ask-minutes"
HELP = (
    "Each question is asked with its usual settings, one after the other. Without a model, a network is trained "
    "first. Finished answers are kept; asking again continues from there."
)


def ask_all(choice: Choice) -> None:
    """The button with its time, or how far the questions are that are being asked."""
    if read_only():
        return
    agenda = None if choice.stored is None else engine().agenda(owner(), choice.stored.fingerprint)
    if agenda is not None and agenda.going:
        _follow(agenda)
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="ask-all"):
        asked = st.button("Ask all questions", key="ask", help=HELP)
        st.segmented_control(
            "Time at most",
            list(BUDGETS),
            default=next(iter(BUDGETS)),
            format_func=BUDGETS.__getitem__,
            key=_BUDGET,
            required=True,
            label_visibility="collapsed",
        )
        if asked:
            _ask()
    if agenda is not None and agenda.left_out:
        page.fold(
            f"Not answered: {plural(len(agenda.left_out), 'question')}", lambda: _left_out(agenda), key="left-out"
        )


def _ask() -> None:
    fingerprint = data_choice.dataset().fingerprint  # an example is read and stored at its first use
    steps = usual_steps(workspace(), owner(), fingerprint)
    engine().ask(owner(), fingerprint, steps, 60.0 * st.session_state[_BUDGET])
    st.rerun()


def _follow(agenda: Agenda) -> None:
    """How far it is; the whole page is drawn anew when another question has its answer."""
    at_first = (agenda.now, len(agenda.done), agenda.going)

    @st.fragment(run_every=jobs.SECONDS_BETWEEN_LOOKS)
    def watch() -> None:
        if not _may_look() or (agenda.now, len(agenda.done), agenda.going) != at_first:
            st.rerun()
        n_over = len(agenda.done) + len(agenda.left_out)
        under_way = f": {QUESTIONS[agenda.now].name or QUESTIONS[agenda.now].title}" if agenda.now else ""
        left = f"at most {jobs.duration(agenda.seconds_left)} left"
        with st.container(horizontal=True, vertical_alignment="center", key="asking"):
            share = min(n_over / len(agenda.steps), 1.0)
            st.progress(share, text=f"{n_over} of {plural(len(agenda.steps), 'step')} done{under_way}, {left}")
            st.button("Stop", key="stop-asking", on_click=agenda.stop)

    watch()


def _may_look() -> bool:
    """Whether this browser's sign-in still stands; where it does not, the whole page says so."""
    try:
        owner()
    except WorkspaceError:
        return False
    return True


def _left_out(agenda: Agenda) -> None:
    by_reason: dict[str, list[str]] = {}
    for stem, reason in agenda.left_out.items():
        by_reason.setdefault(reason, []).append(QUESTIONS[stem].name or QUESTIONS[stem].title)
    for reason, names in by_reason.items():
        st.markdown(f"- {page.plain(listed(names, most=len(names)))}: {page.plain(reason)}")
