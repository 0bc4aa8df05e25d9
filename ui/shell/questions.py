"""Which question does a run answer, and where? An entry per kind of plan; lists of runs know nothing else of a kind."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.data import DataError
from core.evaluate.average_case.plan import AverageCasePlan
from core.evaluate.average_case.verdict import average_case_verdict
from core.evaluate.cluster_folds import Metric, fold_verdict
from core.evaluate.data_set_adequacy.plan import AdequacyPlan
from core.evaluate.data_set_adequacy.verdict import adequacy_verdict
from core.evaluate.guided_tests.plan import GuidedTestsPlan
from core.evaluate.guided_tests.verdict import guided_verdict
from core.evaluate.source_robustness import source_verdict
from core.evaluate.test_quality.shift_plan import CovariateShiftPlan
from core.report import questions as report
from core.report.names import MODEL_TITLES
from core.trials import FoldPlan, Plan, SourcesPlan, TrainingPlan, TrialPlan
from core.trials.map_plan import MapPlan
from core.workspace.plans import load_plan
from core.workspace.run import Run
from ui import PAGES
from ui.average_case import controls as average_case_controls
from ui.average_case import results as average_case_results
from ui.cluster_folds import controls as cluster_folds_controls
from ui.cluster_folds import results as cluster_folds_results
from ui.data import choice as data_choice
from ui.data_set_adequacy import controls
from ui.data_set_adequacy import results as adequacy_results
from ui.data_sets import maps
from ui.guided_tests import controls as guided_tests_controls
from ui.guided_tests import results as guided_tests_results
from ui.models import training as model_training
from ui.shell.page import plain
from ui.source_robustness import controls as source_robustness_controls
from ui.source_robustness import results as source_robustness_results
from ui.test_quality import shift

UNKNOWN = "a plan that this version of Touchstone does not know"
NO_PAGE = "This plan was made on the command line; the pages cannot show all of it."


@dataclass(frozen=True)
class Question:
    """What lists of runs say of one kind of plan.

    `page` is a file stem in pages/. `describe` says a plan in a few words; `parameters` are those of the address that
    lead to the very same plan, None where no address does. `headline` is a sentence on what has been found so far, of
    a run with results: from a cache, or made in a moment.
    """

    title: str
    page: str
    describe: Callable[[Any], str]
    parameters: Callable[[Any], dict[str, list[str]] | None]
    headline: Callable[[Run], str] | None = None


def _source_robustness(run: Run) -> str:
    intervals, comparisons = source_robustness_results.intervals(run), source_robustness_results.comparisons(run)
    return source_verdict(intervals, comparisons, names=MODEL_TITLES).headline


def _data_set_adequacy(run: Run) -> str:
    return adequacy_verdict(adequacy_results.adequacy(run), names=MODEL_TITLES).headline


def _cluster_folds(run: Run) -> str:
    scores = cluster_folds_results.performance(cluster_folds_results.of_run(run), Metric())
    return fold_verdict(scores, names=MODEL_TITLES).headline


def _average_case(run: Run) -> str:
    return average_case_verdict(average_case_results.robustness(run)).headline


def _guided_tests(run: Run) -> str:
    return guided_verdict(guided_tests_results.guided(run)).headline


def _asked(plan: type) -> tuple[str, str]:
    """The question of a kind of plan and its page, as reports have them."""
    asked = report.QUESTIONS[plan.kind]
    return asked.title, asked.page


QUESTIONS: dict[str, Question] = {
    TrialPlan.kind: Question(
        *_asked(TrialPlan),
        source_robustness_controls.describe_trials,
        source_robustness_controls.trial_parameters,
        _source_robustness,
    ),
    AdequacyPlan.kind: Question(
        *_asked(AdequacyPlan),
        controls.describe,
        controls.parameters,
        _data_set_adequacy,
    ),
    FoldPlan.kind: Question(
        *_asked(FoldPlan),
        cluster_folds_controls.describe,
        cluster_folds_controls.parameters,
        _cluster_folds,
    ),
    AverageCasePlan.kind: Question(
        *_asked(AverageCasePlan),
        average_case_controls.describe,
        average_case_controls.parameters,
        _average_case,
    ),
    CovariateShiftPlan.kind: Question(
        *_asked(CovariateShiftPlan),
        shift.describe,
        shift.parameters,
        shift.headline,
    ),
    GuidedTestsPlan.kind: Question(
        *_asked(GuidedTestsPlan),
        guided_tests_controls.describe,
        guided_tests_controls.parameters,
        _guided_tests,
    ),
    TrainingPlan.kind: Question(*_asked(TrainingPlan), lambda plan: plan.title, model_training.parameters),
    SourcesPlan.kind: Question(
        *_asked(SourcesPlan), lambda plan: plan.title, source_robustness_controls.sources_parameters
    ),
    MapPlan.kind: Question(*_asked(MapPlan), maps.describe, maps.parameters),
}
"""By the plan's kind. A kind without an entry is listed, too: with its name, and without a link."""


def title(run: Run) -> str:
    """The question that a run answers, or the name of its kind."""
    return QUESTIONS[run.kind].title if run.kind in QUESTIONS else run.kind


def describe(run: Run) -> str:
    """A run's plan in a few words."""
    plan, question = _plan(run), QUESTIONS.get(run.kind)
    return UNKNOWN if plan is None or question is None else question.describe(plan)


def headline(run: Run) -> str:
    """What a run has found so far, in a sentence; empty where it is too early, or a page of its own has to say it."""
    question = QUESTIONS.get(run.kind)
    if question is None or question.headline is None or run.n_done == run.n_failed:
        return ""
    return question.headline(run)


def is_result(run: Run) -> bool:
    """Whether a run answers a question by itself; others only serve one, as a trained network or a map does."""
    return run.kind in QUESTIONS and not only_serves(run)


def only_serves(run: Run) -> bool:
    """Whether other runs rest on this one, which has no verdict of its own."""
    return run.kind in QUESTIONS and QUESTIONS[run.kind].headline is None


def address_of(run: Run) -> tuple[str, dict[str, list[str]]] | None:
    """The page of a run and the parameters that lead to its very plan there; None where no address does."""
    plan, question = _plan(run), QUESTIONS.get(run.kind)
    parameters = None if plan is None or question is None else question.parameters(plan)
    return None if question is None or parameters is None else (question.page, parameters)


def link(run: Run, *, icon: str = "") -> bool:
    """A link to the view of a run; says whether there is one: there is none where no address leads to its very plan."""
    led = address_of(run)
    if led is None:
        return False
    query = {data_choice.ADDRESS: run.fingerprint, **led[1]}
    st.page_link(PAGES / f"{led[0]}.py", label="Open", icon=icon, help="", query_params=query)
    return True


def unasked(kinds: Collection[str], address: str) -> None:
    """Links to the questions that no run of a data set asks yet; `kinds` are those of its runs."""
    rest = [question for kind, question in QUESTIONS.items() if question.headline is not None and kind not in kinds]
    if rest:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption("Not asked yet:", width="content")
            for question in rest:
                query = {data_choice.ADDRESS: address}
                st.page_link(PAGES / f"{question.page}.py", label=question.title, help="", query_params=query)


def card_title(run: Run) -> str:
    """Question and plan as Markdown, for a card."""
    return f"**{plain(title(run))}** :gray[{plain(describe(run))}]"


def _plan(run: Run) -> Plan | None:
    """The plan of a run; None where it names what this version does not have."""
    try:
        return load_plan(run.plan)
    except DataError:
        return None
