"""Which runs does the list show, and in which order? Those that hold every word that is looked for."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from touchstone.core.evaluate.wording import Verdict, count, plural
from touchstone.core.workspace.run import Run
from touchstone.ui.data import choice as data_choice
from touchstone.ui.shell import jobs, questions

FEWEST = 4
"""Fewer runs are seen at once: nothing has to be looked for."""
ORDERS: Mapping[str, tuple[Callable[[Run], object], bool]] = {
    "newest first": (lambda run: run.created, True),
    "oldest first": (lambda run: run.created, False),
    "data set": (lambda run: data_choice.title_of(run).casefold(), False),
    "question": (lambda run: questions.title(run).casefold(), False),
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
    parts = (run.name, data_choice.title_of(run), questions.title(run), questions.describe(run), run.state)
    return " ".join(parts).casefold()
