"""What is known of every question? Its newest run with results, as an answer of the sheet."""

from collections.abc import Sequence

import streamlit as st

from touchstone.core.evaluate.guided_tests.few_labels import FewLabelsPlan
from touchstone.core.questions import Question, with_page
from touchstone.core.report.overview import Answered
from touchstone.core.workspace import Run, StoredModel, load_plan
from touchstone.ui import page_file
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data.choice import Choice
from touchstone.ui.forms.controls import One
from touchstone.ui.shell import jobs, questions
from touchstone.ui.shell.page import plain, plan_of


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


def answer(question: Question, run: Run) -> Answered | None:
    """A run as an answer; None where it has no verdict yet. Raises WorkspaceError where its rows are damaged."""
    verdict, known = questions.verdict(run), questions.answer(run)
    if verdict is None or known is None:
        return None
    finished = run.finished if run.state == "done" else None
    seal = run.provenance.get("seal", "") if run.state == "done" else ""
    return Answered(question, questions.describe(run), verdict, known.numbers, finished, seal)


def few_labels(runs: Sequence[Run]) -> tuple[Run, ...]:
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


def control(models: Sequence[StoredModel]) -> One:
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
    asked = [(run, plan_of(run)) for run in runs]
    return [run for run, plan in asked if plan is None or model in plan.stored_models() or not plan.stored_models()]


# Where does somebody begin who has computed nothing yet? Three doors, by what they have in hand.


PURPOSE = (
    "A test accuracy says little about new sources, a new test set, noise, or inputs that no test covers.  \n"
    "Five published methods measure these, from the files that you have.  \n"
    "Every answer is a sentence with its interval, its n, and what to do next."
)
"""What all this is for, in three lines."""


def start_cards(choice: Choice) -> None:
    """The three ways in, the last of which starts a first question on the chosen data set."""
    with st.grid(3, min_column_width=240):
        with _door("I have predictions", "Labels, predictions and confidences on two test sets. No model is needed."):
            _lead("Compare two test sets", "matched_subsets")
        with _door("I have data", "A table, texts or pictures with labels. A model can be trained here, or uploaded."):
            _lead("Upload data", "data_sets", choice)
        first = "How far does accuracy fall on sources that training has not seen? It takes a minute or two."
        with _door(
            "Show me" if choice.example else f"Ask about {plain(choice.title)}",
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


def _lead(label: str, page: str, choice: Choice | None = None) -> None:
    query = {data_choice.ADDRESS: choice.address} if choice else {}
    st.page_link(page_file(page), label=label, icon=":material/arrow_forward:", help="", query_params=query)
