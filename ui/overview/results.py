"""Which runs stand on the sheet, and how do more come? Its model, where somebody begins, and all questions at once."""

from collections.abc import Mapping, Sequence

import streamlit as st

from touchstone.core.evaluate.guided_tests.few_labels import FewLabelsPlan
from touchstone.core.evaluate.wording import listed, plural
from touchstone.core.questions import QUESTIONS, Question, with_page
from touchstone.core.report.overview import Answered
from touchstone.core.workspace import Run, StoredModel, WorkspaceError, load_plan
from touchstone.core.workspace.engine.runner import AskAll, Step, foreseen, steps_of, usual_steps
from touchstone.ui import page_file
from touchstone.ui.data import choice as data_choice
from touchstone.ui.forms.controls import One
from touchstone.ui.shell import jobs, page, questions, session


def runs_on_sheet(runs: Sequence[Run]) -> dict[str, Run]:
    """The run that stands for each question, by stem in the order of the navigation; `runs` are the newest first.

    The newest with results that today's method computed to the end; else the newest with results, else the newest.
    """
    return {
        stem: max(mine, key=_worth)
        for stem, question in with_page().items()
        if question.kind and (mine := [run for run in runs if run.kind == question.kind])
    }


def _worth(run: Run) -> tuple[bool, bool]:
    has_results = run.n_done > run.n_failed
    return has_results and run.state == "done" and not run.older_method, has_results


def answer(question: Question, run: Run, metric: tuple[str, str | None] | None = None) -> Answered | None:
    """A run as an answer, about a metric where it gives that; None where it has no verdict yet.

    Raises WorkspaceError where its rows are damaged.
    """
    verdict, known = questions.verdict(run, metric), questions.answer(run, metric)
    if verdict is None or known is None:
        return None
    finished = run.finished if run.state == "done" else None
    seal = run.provenance.get("seal", "") if run.state == "done" else ""
    return Answered(question, questions.describe(run), verdict, known.numbers, finished, seal)


def few_labels_runs(runs: Sequence[Run]) -> tuple[Run, ...]:
    """The newest accuracy from few labels of each model and pool; `runs` are the newest first.

    Where the same list came back with more labels, the newest of them stands for all.
    """
    newest: dict[tuple[str, str], Run] = {}
    for run in runs:
        if run.kind == FewLabelsPlan.kind and run.state == "done" and run.n_failed == 0:
            plan = load_plan(run.plan)
            newest.setdefault((plan.model, plan.pool), run)
    return tuple(newest.values())


# Of which model is the sheet, where a data set has several? Of any, by the newest answers, or of one of them.


KEY = "sheet_model"
ANY = ""


def model_control(models: Sequence[StoredModel]) -> One:
    """The control; models of one name have their fingerprints beside it."""
    names = [model.name for model in models]
    titles = {
        model.fingerprint: name if names.count(name) == 1 else f"{name}, {model.fingerprint[:8]}"
        for model, name in zip(models, names, strict=True)
    }
    return One(KEY, "Answers about", {ANY: "any model", **titles}, ANY)


def runs_about(runs: Sequence[Run], model: str) -> list[Run]:
    """The runs that speak of this model, or of none, such as those of a recipe; all of them where none is chosen."""
    if model == ANY:
        return list(runs)
    asked = [(run, page.plan_of(run)) for run in runs]
    return [run for run, plan in asked if plan is None or model in plan.stored_models() or not plan.stored_models()]


# Where does somebody begin who has computed nothing yet? Three doors, by what they have in hand.


PURPOSE = (
    "A test accuracy says little about new sources, a new test set, noise, or inputs that no test covers.  \n"
    "Five published methods measure these, from the files that you have.  \n"
    "Every answer is a sentence with its interval, its n, and what to do next."
)
"""What all this is for, in three lines."""


def start_cards(choice: data_choice.Choice) -> None:
    """The three ways in, the last of which starts a first question on the chosen data set."""
    with st.grid(3, min_column_width=240):
        with _door("I have predictions", "Labels, predictions and confidences on two test sets. No model is needed."):
            _lead("Compare two test sets", "matched_subsets")
        with _door("I have data", "A table, texts or pictures with labels. A model can be trained here, or uploaded."):
            _lead("Upload data", "data_sets", choice)
        first = "How far does accuracy fall on sources that training has not seen? It takes a minute or two."
        with _door(
            "Show me" if choice.example else f"Ask about {page.plain(choice.title)}",
            f"Nothing has been computed for this data set yet. {first}",
        ):
            if st.button("Start", type="primary", key="start"):
                jobs.ask_to_start(choice.name)
                st.switch_page(page_file("source_robustness"), query_params={data_choice.ADDRESS: choice.address})


def _door(title: str, says: str) -> st.delta_generator.DeltaGenerator:
    """A card that all of a row make equally high; what leads on stands at its foot."""
    card = st.container(border=True, height="stretch", key=f"door-{title.split()[-1].lower()}")
    with card:
        st.markdown(f"**{title}**  \n:gray[{says}]")
        st.space("stretch")
    return card


def _lead(label: str, stem: str, choice: data_choice.Choice | None = None) -> None:
    query = {data_choice.ADDRESS: choice.address} if choice else {}
    st.page_link(page_file(stem), label=label, icon=":material/arrow_forward:", help="", query_params=query)


# Have every question asked at once, within a time: what is asked, how far it is, and what was left out and why.


BUDGETS = {5: "within 5 minutes", 30: "30 minutes", 480: "overnight"}
"""Minutes, as they are offered."""
LEAST = next(iter(BUDGETS))
FILES_ONLY = "Asked of prediction files, on a sheet of their own."
_BUDGET = "ask-minutes"
HELP = (
    "Each question is asked with its usual settings, one after the other. Without a model, a network is trained "
    "first. Finished answers are kept; asking again continues from there."
)


def ask_all(choice: data_choice.Choice, model: str) -> None:
    """The button with its time, or how far the questions are that are being asked; of `model`, else of the newest."""
    if session.read_only():
        return
    agenda = None if choice.stored is None else session.engine().agenda(session.owner(), choice.stored.fingerprint)
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
    return usual_steps(session.workspace(), session.owner(), fingerprint, model=model or None)


def _begin(fingerprint: str, steps: Sequence[Step]) -> None:
    session.engine().ask(session.owner(), fingerprint, steps, 60.0 * st.session_state.get(_BUDGET, LEAST))


def unasked_card(question: Question, choice: data_choice.Choice, model: str) -> None:
    """A question of the sheet that was not asked yet, with the button that asks it, and the way to its page."""
    assert choice.stored is not None
    fingerprint = choice.stored.fingerprint
    agenda = session.engine().agenda(session.owner(), fingerprint)
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
    ahead = foreseen(_steps(fingerprint, model), session.workspace(), session.owner(), fingerprint)
    others = {question.stem: FILES_ONLY for question in QUESTIONS.values() if not question.about_data_set}
    reasons = {stem: reason for stem, reason in ahead.items() if not QUESTIONS[stem].serves} | others
    asked = [_name(stem) for stem, reason in reasons.items() if not reason]
    trained = " A network is trained first, to ask about." if ahead.get("training") == "" else ""
    st.markdown(f"**Asked, in this order:** {page.plain(', '.join(asked)) or 'nothing'}.{trained}")
    _reasons({stem: reason for stem, reason in reasons.items() if reason})


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
        session.owner()
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
