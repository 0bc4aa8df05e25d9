"""What do lists of runs say of a run? Its question, its plan in words, its verdict, its address: all by its kind."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlencode

import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.evaluate.wording import Verdict, count, plural
from touchstone.core.questions import Question, named, of_kind, with_page
from touchstone.core.report.parts import NONE, Answer
from touchstone.core.report.run_report import answer_of
from touchstone.core.trials import Plan
from touchstone.core.workspace import Run, load_plan
from touchstone.ui import cache, page_file
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data.samples import dataset_of
from touchstone.ui.forms.plan_form import stored_parameters
from touchstone.ui.shell import addresses, jobs, session
from touchstone.ui.shell.page import describe, plain, plan_of
from touchstone.ui.shell.page import not_computed as not_computed_yet
from touchstone.ui.source_robustness import results as source_robustness_results

NO_PAGE = "These settings were made on the command line; the pages cannot show all of them."


def title(run: Run) -> str:
    """The question that a run answers, or the name of its kind."""
    question = of_kind(run.kind)
    return run.kind if question is None else question.title


def verdict(run: Run, metric: tuple[str, str | None] | None = None) -> Verdict | None:
    """What a run has found so far, without advice until it is done; None where it is too early, or it only serves."""
    known = None if only_serves(run) else answer(run, metric)
    shown = None if known is None else known.verdict
    return shown if shown is None or run.state == "done" else replace(shown, advice="")


def answer(run: Run, metric: tuple[str, str | None] | None = None) -> Answer | None:
    """What a run says, without figures and tables; None where it is too early.

    It is about a `metric` (and the class that this is of) where its trials give that, else about its usual one. Raises
    WorkspaceError where its rows are damaged.
    """
    plan = plan_of(run)
    if plan is None or run.n_done == run.n_failed:
        return None
    return _answer(run, source_robustness_results.cloud_runs(plan, run.fingerprint), metric)


@cache.result(max_entries=64)
def _answer(run: Run, beside: tuple[tuple[str, Run], ...], metric: tuple[str, str | None] | None) -> Answer:
    rows, dataset = session.workspace().rows(session.owner(), run.id), dataset_of(run.fingerprint)
    plan, nulls = load_plan(run.plan), source_robustness_results.cloud_claims(beside)
    try:
        known = answer_of(rows, dataset, plan, nulls=nulls, metric=metric)
    except DataError:
        if metric is None:
            raise
        known = answer_of(rows, dataset, plan, nulls=nulls)
    return replace(known, sections=(), files=NONE)


def is_result(run: Run) -> bool:
    """Whether a run answers a question by itself; others only serve one, as a trained network or a map does."""
    return of_kind(run.kind) is not None and not only_serves(run)


def only_serves(run: Run) -> bool:
    """Whether other runs rest on this one, which has no verdict of its own."""
    question = of_kind(run.kind)
    return question is not None and bool(question.serves)


def address_of(run: Run) -> tuple[str, dict[str, list[str]]] | None:
    """The page of a run and the parameters that lead to its very plan there; None where no address does."""
    question, plan = of_kind(run.kind), plan_of(run)
    if question is None or plan is None:
        return None
    written = parameters(question, plan)
    return None if written is None else (question.page, written)


def parameters(question: Question, plan: Plan) -> dict[str, list[str]] | None:
    """The parameters of the address that lead to a question's plan; None where no address does."""
    return named(question.address)(plan) if question.address else stored_parameters(plan)


def link(run: Run, *, icon: str = "") -> bool:
    """A link to the view of a run; says whether there is one: there is none where no address leads to its very plan."""
    led = way(run)
    if led is None:
        return False
    st.page_link(page_file(led[0]), label="Open", icon=icon, help="", query_params=led[1])
    return True


def way(run: Run) -> tuple[str, dict[str, str | list[str]]] | None:
    """The page of a run and all parameters of its address, its data set among them; None where no address does."""
    led = address_of(run)
    return None if led is None else (led[0], {data_choice.ADDRESS: run.fingerprint, **led[1]})


def not_computed(kind: str, how: str) -> None:
    """What stands where these settings were not computed: how they would be, and the way to the newest result.

    That is a finished run of this `kind` on the chosen data set, with other settings.
    """
    not_computed_yet(how)
    data = data_choice.required().stored
    runs = [] if data is None else session.workspace().runs(session.owner(), data.fingerprint)
    newest = next((run for run in runs if run.kind == kind and run.state == "done"), None)
    led = None if newest is None or session.read_only() else address_of(newest)
    if newest is not None and led is not None:
        query = urlencode({data_choice.ADDRESS: newest.fingerprint, **led[1]}, doseq=True)
        label = f"The newest result has other settings: {plain(describe(newest))}"
        # In a tab of its own: the controls of this page hold what somebody has just chosen.
        st.link_button(label, f"{addresses.first_page()}{led[0]}?{query}", icon=":material/history:", type="tertiary")


def unasked(kinds: Collection[str]) -> list[Question]:
    """The questions that no run of a data set asks yet; `kinds` are those of its runs."""
    return [question for question in with_page().values() if question.kind and question.kind not in kinds]


def card_title(run: Run) -> str:
    """Question and plan as Markdown, for a card."""
    words = " · ".join(part for part in (run.name, describe(run)) if part)
    return f"**{plain(title(run))}** :gray[{plain(words)}]"


# Which runs does the list show, and in which order? Those that hold every word that is looked for.


FEWEST = 4
"""Fewer runs are seen at once: nothing has to be looked for."""
ORDERS: Mapping[str, tuple[Callable[[Run], object], bool]] = {
    "newest first": (lambda run: run.created, True),
    "oldest first": (lambda run: run.created, False),
    "data set": (lambda run: data_choice.title_of(run).casefold(), False),
    "question": (lambda run: title(run).casefold(), False),
    "most trials first": (lambda run: run.n_trials, True),
}
"""What each order goes by, and whether the largest comes first."""


def in_short(runs: Sequence[Run]) -> Verdict:
    """How many runs there are, of how many data sets, where they stand, and what to do next."""
    states = Counter(run.state for run in runs)
    stand = ", ".join(f"{count(states[state])} {word}" for state, (word, _) in jobs.STATES.items() if states[state])
    data_sets = plural(len({run.fingerprint for run in runs}), "data set")
    if states["interrupted"] or states["cancelled"]:
        advice = "Next: resume what has stopped, or delete it."
    elif states["running"]:
        advice = "Next: open a running one; its page shows results as they come."
    else:
        advice = "Next: open one to see its result."
    return Verdict(f"{plural(len(runs), 'run')} on {data_sets}: {stand}.", "", advice, ())


def chosen(runs: Sequence[Run]) -> list[Run]:
    """The runs that are looked for, in the order that is chosen, below the two controls for it."""
    if len(runs) < FEWEST:
        return list(runs)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = st.text_input("Search runs", key="search-runs", placeholder="name, data set, question, model")
        order = st.selectbox("Order", tuple(ORDERS), key="order-runs", width=200)
    return ordered(having(runs, words), order)


def having(runs: Sequence[Run], words: str) -> list[Run]:
    """The runs whose name, data set, question, settings and state hold every one of the words, in any case."""
    sought = words.casefold().split()
    return [run for run in runs if all(word in _told(run) for word in sought)]


def ordered(runs: Sequence[Run], order: str) -> list[Run]:
    """The runs in an order of ORDERS; equals stay as they were."""
    by, largest_first = ORDERS[order]
    return sorted(runs, key=by, reverse=largest_first)


def _told(run: Run) -> str:
    parts = (run.name, data_choice.title_of(run), title(run), describe(run), run.state)
    return " ".join(parts).casefold()
