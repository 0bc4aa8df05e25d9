"""Which questions can be asked? One record each: the only list of them that there is.

Navigation, list of runs, overview, reports, links, command line and docs read these records. Everything else about a
question is found by its stem (see MODULES) when it is asked for: nothing is imported here. A question is added by its
record and by the files that are named after its stem, one or more for each layer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

FIRST = "overview"
"""The stem of the page at "/"."""

MODULES = {
    "evaluation": "touchstone.core.evaluate.{stem}",
    "figures": "touchstone.core.figures.{stem}",
    "report": "touchstone.core.report.{stem}",
    "card": "touchstone.ui.{stem}.overview",
}
"""The module that each layer has for a question.

`evaluation` holds the plan, the results and the verdict, `figures` draws them. `report` has `answer_of_rows(rows,
dataset, plan)`, what a run says, lists of runs included. A plan in words and its address follow from its fields
(`core.report.descriptions`, `ui.forms.plan_form`). `card` has `answers()`, `models()`, `begin()` and
`compare_again(parameters)`, what the sheet of files shows of a question that no run answers. The page is
pages/{stem}.py, and how to read it pages/{stem}.md.
"""


@dataclass(frozen=True)
class Question:
    """A question and its page, or a kind of run that only serves questions.

    Parameters
    ----------
    stem
        What its files are called in every layer; the address of its page.
    title
        The question itself, as it stands over the page and the report.
    name, icon, group
        Its short name, icon and group in the navigation; no `name` where it has no page.
    speaks_of
        What its answers are about: a "recipe" that is trained anew for each split, one trained "model", or
        "predictions" in files; empty where it answers nothing of an accuracy.
    about_data_set
        Whether its page is about the data set of the control at the top; others choose their own files.
    kind, plan
        The kind of its plans and their class, as "module:Class"; None where no run answers it.
    address
        What gives the parameters of the address of a plan (None where no address leads to it), as "module:function",
        where these are not just those of the plan's fields.
    serves
        The stems of the questions that rest on such runs, which have no verdict and no page of their own: they are
        shown on the page of the first.
    """

    stem: str
    title: str
    name: str = ""
    icon: str = ""
    group: str = ""
    speaks_of: str = ""
    about_data_set: bool = True
    kind: str | None = None
    plan: str | None = None
    address: str = ""
    serves: tuple[str, ...] = ()

    @property
    def page(self) -> str:
        """The stem of the page that shows its runs."""
        return self.serves[0] if self.serves else self.stem


QUESTIONS: dict[str, Question] = {
    question.stem: question
    for question in (
        Question(FIRST, "What can be trusted here?", "Overview", ":material/list_alt:"),
        Question("data_sets", "What is in the data?", "Data sets", ":material/table_rows:", "Data"),
        Question(
            "cluster_folds",
            "How do scores change when folds are made to differ?",
            "Cluster folds",
            ":material/scatter_plot:",
            "Data",
            "recipe",
            kind="folds",
            plan="touchstone.core.trials.fold_plan:FoldPlan",
            address="touchstone.ui.cluster_folds.controls:parameters",
        ),
        Question(
            "source_robustness",
            "How far does accuracy fall on new sources?",
            "Source robustness",
            ":material/straighten:",
            "Questions",
            "recipe",
            kind="trials",
            plan="touchstone.core.trials.trial_plan:TrialPlan",
        ),
        Question(
            "data_set_adequacy",
            "Would more data help, or new sources?",
            "Data-set adequacy",
            ":material/stacked_line_chart:",
            "Questions",
            "recipe",
            kind="adequacy",
            plan="touchstone.core.evaluate.data_set_adequacy.plan:AdequacyPlan",
        ),
        Question(
            "matched_subsets",
            "Does accuracy really drop on the new test set?",
            "Matched subsets",
            ":material/compare_arrows:",
            "Questions",
            "predictions",
            about_data_set=False,
        ),
        Question(
            "model_comparison",
            "Is the new model better?",
            "Model comparison",
            ":material/balance:",
            "Questions",
            "predictions",
            about_data_set=False,
        ),
        Question(
            "weak_slices",
            "Where is the model weak?",
            "Weak slices",
            ":material/troubleshoot:",
            "Questions",
            "predictions",
            about_data_set=False,
        ),
        Question(
            "average_case",
            "Which samples and classes are fragile under noise?",
            "Average case",
            ":material/grain:",
            "Questions",
            "model",
            kind="average_case",
            plan="touchstone.core.evaluate.average_case.plan:AverageCasePlan",
        ),
        Question(
            "test_quality",
            "Does the test set cover the feature space?",
            "Test quality",
            ":material/target:",
            "Questions",
            "model",
            kind="covariate_shift",
            plan="touchstone.core.evaluate.test_quality.shift_plan:CovariateShiftPlan",
        ),
        Question(
            "guided_tests",
            "Which tests are missing?",
            "Guided tests",
            ":material/experiment:",
            "Questions",
            "model",
            kind="guided_tests",
            plan="touchstone.core.evaluate.guided_tests.plan:GuidedTestsPlan",
        ),
        Question("runs", "What has been computed?", "Runs", ":material/history:", "Work"),
        Question(
            "training",
            "A trained and stored network",
            kind="training",
            plan="touchstone.core.trials.training_plan:TrainingPlan",
            serves=("average_case", "test_quality", "guided_tests"),
        ),
        Question(
            "sources",
            "Which sources does a network find?",
            kind="sources",
            plan="touchstone.core.trials.sources_plan:SourcesPlan",
            address="touchstone.ui.source_robustness.controls:sources_parameters",
            serves=("source_robustness", "data_set_adequacy"),
        ),
        Question(
            "parametric_null",
            "How hard are held-out clusters of data without groups?",
            kind="clouds",
            plan="touchstone.core.evaluate.source_robustness.parametric_null:ParametricNullPlan",
            address="touchstone.ui.source_robustness.results:cloud_parameters",
            serves=("source_robustness", "data_set_adequacy"),
        ),
        Question(
            "few_labels",
            "How accurate is the model on new samples?",
            kind="few_labels",
            plan="touchstone.core.evaluate.guided_tests.few_labels:FewLabelsPlan",
            address="touchstone.ui.guided_tests.label_next:parameters",
            serves=("guided_tests",),
        ),
        Question(
            "map",
            "Where do the samples lie? (map)",
            kind="map",
            plan="touchstone.core.trials.map_plan:MapPlan",
            serves=("data_sets", "cluster_folds"),
        ),
    )
}
"""By stem, in the order of the navigation; groups stand in the order in which they first come."""


def of_kind(kind: str) -> Question | None:
    """The question that runs of this kind answer or serve; None for a kind that this version does not know.

    >>> of_kind("trials").stem, of_kind("sources").serves, of_kind("horoscope")
    ('source_robustness', ('source_robustness', 'data_set_adequacy'), None)
    """
    return next((question for question in QUESTIONS.values() if question.kind == kind), None)


def with_page() -> Mapping[str, Question]:
    """Those that have a page in the navigation, by stem."""
    return {stem: question for stem, question in QUESTIONS.items() if question.name}


def how_to_read(stem: str) -> str:
    """How the answer to a question is read, as its page says it, in Markdown; empty where that says nothing.

    >>> how_to_read("weak_slices").startswith("A **slice**"), how_to_read("runs")
    (True, '')
    """
    file = Path(__file__).resolve().parents[1] / "pages" / f"{stem}.md"
    return file.read_text("utf-8") if file.is_file() else ""


def plan_class(question: Question) -> type:
    """The class of a question's plans, imported now.

    >>> plan_class(QUESTIONS["average_case"]).kind
    'average_case'
    """
    if question.plan is None:
        raise LookupError(f"The question {question.stem!r} has no plan: no run answers it.")
    return named(question.plan)


def named(where: str) -> Any:
    """What a record names as "module:name", imported now.

    >>> named("math:tau")
    6.283185307179586
    """
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)


def module_of(question: Question, layer: str) -> ModuleType:
    """The module that a layer (a name in MODULES) has for a question, imported now.

    Raises ImportError that names the file where it is missing.

    >>> module_of(QUESTIONS["average_case"], "report").__name__
    'touchstone.core.report.average_case'
    """
    name = MODULES[layer].format(stem=question.stem)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # the module is there, and something that it imports is not
        file = f"{name.removeprefix('touchstone.').replace('.', '/')}.py"
        raise ImportError(f"The question {question.stem!r} has no {layer}: {file} is missing.") from error
