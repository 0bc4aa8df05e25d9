"""Have every question asked at once, within a time: what is asked, how far it is, and what was left out and why."""

from collections.abc import Mapping, Sequence

import streamlit as st

from touchstone.core.evaluate.wording import listed, plural
from touchstone.core.questions import QUESTIONS, Question
from touchstone.core.workspace import WorkspaceError
from touchstone.core.workspace.engine.runner import AskAll, Step, foreseen, steps_of, usual_steps
from touchstone.ui import page_file
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data.choice import Choice
from touchstone.ui.shell import jobs, page
from touchstone.ui.shell.session import engine, owner, read_only, workspace

BUDGETS = {5: "within 5 minutes", 30: "30 minutes", 480: "overnight"}
"""Minutes, as they are offered."""
LEAST = next(iter(BUDGETS))
FILES_ONLY = "It takes two prediction files, and has a sheet of its own."
_BUDGET = "ask-minutes"
HELP = (
    "Each question is asked with its usual settings, one after the other. Without a model, a network is trained "
    "first. Finished answers are kept; asking again continues from there."
)


def ask_all(choice: Choice, model: str) -> None:
    """The button with its time, or how far the questions are that are being asked; of `model`, else of the newest."""
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
            default=LEAST,
            format_func=BUDGETS.__getitem__,
            key=_BUDGET,
            required=True,
            label_visibility="collapsed",
        )
        what = st.popover("What is asked?", type="tertiary", on_change="rerun", key="what-is-asked")
        if what.open:
            with what:
                _ahead(model)
        if asked:
            _ask(model)
    if agenda is not None and agenda.left_out:
        label = f"Not answered: {plural(len(agenda.left_out), 'question')}"
        page.fold(label, lambda: _reasons(agenda.left_out), key="left-out")


def _ask(model: str) -> None:
    fingerprint = data_choice.dataset().fingerprint  # an example is read and stored at its first use
    _begin(fingerprint, _steps(fingerprint, model))
    st.rerun()


def _steps(fingerprint: str, model: str) -> Sequence[Step]:
    return usual_steps(workspace(), owner(), fingerprint, model=model or None)


def _begin(fingerprint: str, steps: Sequence[Step]) -> None:
    engine().ask(owner(), fingerprint, steps, 60.0 * st.session_state.get(_BUDGET, LEAST))


def card(question: Question, choice: Choice, model: str) -> None:
    """A question of the sheet that was not asked yet, with the button that asks it, and the way to its page."""
    assert choice.stored is not None
    fingerprint = choice.stored.fingerprint
    agenda = engine().agenda(owner(), fingerprint)
    with st.container(border=True, height="stretch", key=f"unasked-{question.stem}", gap="xsmall"):
        st.markdown(f"**{page.plain(question.title)}**  \n:gray[Not asked yet, so nothing is known about it.]")
        st.space("stretch")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button(
                "Ask",
                key=f"ask-{question.stem}",
                disabled=agenda is not None and agenda.going,
                on_click=page.or_toast(_ask_only),
                args=(question.stem, fingerprint, model),
            )
            st.space("stretch")
            query = {data_choice.ADDRESS: choice.address}
            where = page_file(question.page)
            st.page_link(where, label="Open", icon=":material/arrow_forward:", help="", query_params=query)


def _ask_only(stem: str, fingerprint: str, model: str) -> None:
    _begin(fingerprint, steps_of(_steps(fingerprint, model), stem))


def _ahead(model: str) -> None:
    """What asking would do, question by question: what is asked, and what is not and why."""
    fingerprint = data_choice.dataset().fingerprint
    ahead = foreseen(_steps(fingerprint, model), workspace(), owner(), fingerprint)
    others = {question.stem: FILES_ONLY for question in QUESTIONS.values() if not question.about_data_set}
    questions = {stem: reason for stem, reason in ahead.items() if not QUESTIONS[stem].serves} | others
    asked = [_name(stem) for stem, reason in questions.items() if not reason]
    trained = " A network is trained first, to ask about." if ahead.get("training") == "" else ""
    st.markdown(f"**Asked, in this order:** {page.plain(', '.join(asked)) or 'nothing'}.{trained}")
    _reasons({stem: reason for stem, reason in questions.items() if reason})


def _follow(agenda: AskAll) -> None:
    """How far it is; the whole page is drawn anew when another question has its answer."""
    at_first = (agenda.now, len(agenda.done), agenda.going)

    @st.fragment(run_every=jobs.SECONDS_BETWEEN_LOOKS)
    def watch() -> None:
        if not _may_look() or (agenda.now, len(agenda.done), agenda.going) != at_first:
            st.rerun()
        n_over = len(agenda.done) + len(agenda.left_out)
        under_way = f": {_name(agenda.now)}" if agenda.now else ""
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


def _name(stem: str) -> str:
    return QUESTIONS[stem].name or QUESTIONS[stem].title


def _reasons(left_out: Mapping[str, str]) -> None:
    """Why questions are not answered, those of one reason together."""
    by_reason: dict[str, list[str]] = {}
    for stem, reason in left_out.items():
        by_reason.setdefault(reason, []).append(_name(stem))
    for reason, names in by_reason.items():
        st.markdown(f"- {page.plain(listed(names, most=len(names)))}: {page.plain(reason)}")
