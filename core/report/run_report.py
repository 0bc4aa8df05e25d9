"""What does the report of a run say? Its question, what its rows come to, and what it rests on."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from inspect import signature
from typing import Any, NamedTuple, Protocol, runtime_checkable

import pandas as pd

from touchstone.core import version
from touchstone.core.cluster.finders import SOURCE_FINDERS
from touchstone.core.data import EXAMPLES, DataError, Dataset
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.cluster_folds.verdict import scheme_title
from touchstone.core.evaluate.source_robustness.held_out import noun
from touchstone.core.evaluate.wording import count
from touchstone.core.models import MODELS
from touchstone.core.parameters import Asked, answers_of
from touchstone.core.questions import Question, module_of, of_kind
from touchstone.core.report.descriptions import words_of
from touchstone.core.report.parts import NONE, Answer, Quantity, Report, Section, nothing_yet
from touchstone.core.trials import KNOWN_SOURCES, Plan, version_of
from touchstone.core.workspace import Run, load_plan
from touchstone.core.workspace.records import StoredDataset, method_version

# What does a result rest on? Data, parameters, seeds, versions, times, device and executor, a line each.


OLDER_METHOD = "Computed by an older method."


def provenance(run: Run) -> tuple[tuple[str, str], ...]:
    """Name and value of everything that a stored result rests on; what was not recorded is left out."""
    known = run.provenance
    versions = [f"Touchstone {known['touchstone']}"] if "touchstone" in known else []
    versions += [f"{name} {number}" for name, number in known.get("versions", {}).items()]
    n_failed = f", {count(run.n_failed)} failed" if run.n_failed else ""
    workers = f", {count(known['n_workers'])} at once" if "n_workers" in known else ""
    machine = ", ".join(f"{known[name]}" for name in ("device", "machine") if name in known)
    told = {
        "Data": f"{run.dataset_name}, fingerprint {run.fingerprint}",
        "Parameters": parameters(run),
        "Trials": f"{count(run.n_done)} of {count(run.n_trials)}{n_failed}",
        "Method": OLDER_METHOD if run.older_method else "",
        "Versions": ", ".join(versions),
        "Python": known.get("python", ""),
        "Device": machine,
        "Executor": f"{known['executor']}{workers}" if "executor" in known else "",
        "Started": _when(run.started),
        "Finished": _when(run.finished) if run.state != "running" else "",
        "Run": f"{run.id}, key {run.key}",
        "Seal": known.get("seal", "") if run.state == "done" else "",
    }
    return tuple((name, value) for name, value in told.items() if value)


def parameters(run: Run) -> str:
    """What a run's plan asks, its seeds among it, as the page words it; as it is stored where no page asks for it."""
    try:
        answers = answers_of(load_plan(run.plan)).values()
    except DataError:
        answers = ()
    told = [f"{each.ask.label}: {_answer(each, answer)}" for each, answer in answers if answer is not None]
    stored = (f"{name} {value}" for name, value in json.loads(run.plan).items() if name != "kind")
    return "; ".join(told or stored)


def _answer(question: Asked, answer: Any) -> str:
    """A number as it is, anything else in the page's words."""
    if isinstance(answer, int | float) and not isinstance(answer, bool) and question.ask.choices is None:
        return f"{answer}"
    return words_of(question, answer).strip(" ·") or f"{answer}"


def _when(seconds: float | None) -> str:
    return "" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%d %b %Y, %H:%M} UTC"


@runtime_checkable
class Results(Protocol):
    """What a report asks of a workspace, or of as much of one as a link shows."""

    def rows(self, owner: str, run_id: str) -> pd.DataFrame:
        """The rows of a run's finished trials."""
        ...

    def stored_dataset(self, owner: str, fingerprint: str) -> StoredDataset:
        """What is known of a data set."""
        ...

    def dataset(self, owner: str, fingerprint: str) -> Dataset:
        """The data set itself."""
        ...


def report_of(
    workspace: Results,
    owner: str,
    run: Run,
    *,
    how_to_read: Callable[[str], str],
    answer: Answer | None = None,
    also: Mapping[str, str] = NONE,
    with_rows: bool = False,
) -> Report:
    """The report of a run as it stands, or of what a page says of it (`answer`); `also` names what else that rests on.

    `how_to_read` gives the Markdown of a page by its file stem. Raises WorkspaceError for what the owner does not have,
    and DataError for a plan that this version does not know.
    """
    question, stored = _question(load_plan(run.plan)), workspace.stored_dataset(owner, run.fingerprint)
    rows = workspace.rows(owner, run.id) if answer is None or with_rows else None
    if answer is None:
        answer = answer_of(rows, workspace.dataset(owner, run.fingerprint), load_plan(run.plan))
    if notes := tuple(run.provenance.get("source_notes", ())):
        answer = replace(answer, sections=(Section("", notes), *answer.sections))
    return Report(
        question.title,
        stored.name if stored.example is None else EXAMPLES[stored.example].title,
        answer,
        how_to_read(question.page),
        (*provenance(run), *also.items()),
        recipe(run, stored.example),
        rows if with_rows else None,
    )


def recipe(run: Run, example: str | None) -> str:
    """The parameters that recreate a run, as JSON; `example` names the built-in data set that it is about, if any."""
    plan = load_plan(run.plan)
    data = {"fingerprint": run.fingerprint, "name": run.dataset_name}
    content = {
        "touchstone": run.provenance.get("touchstone", version()),
        "kind": run.kind,
        "plan": json.loads(run.plan),
        "method": method_version(run) or version_of(plan),
        "data": data if example is None else data | {"example": example},
        "key": run.key,
        "versions": run.provenance.get("versions", {}),
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def answer_of(
    rows: pd.DataFrame,
    dataset: Dataset,
    plan: Plan,
    *,
    nulls: Mapping[str, Claim] = NONE,
    metric: tuple[str, str | None] | None = None,
) -> Answer:
    """What the rows of finished trials come to. Raises DataError for a plan of a kind that this version has not.

    `nulls` has what data without groups, drawn beside the run, allow to claim of clusters, by their finder. `metric`
    (and the class that it is about) is what the verdict is about, where a question lets one choose.
    """
    if rows.empty or bool((rows["status"] == "failed").to_numpy(dtype=bool).all()):
        return nothing_yet()
    beside: dict[str, Any] = {"nulls": nulls} if nulls else {}
    if metric is not None and takes_metric(_question(plan)):
        beside["metric"] = metric
    return module_of(_question(plan), "report").answer_of_rows(rows, dataset, plan, **beside)


def takes_metric(question: Question) -> bool:
    """Whether one may choose what the verdict of a question about runs is about.

    >>> takes_metric(of_kind("folds")), takes_metric(of_kind("average_case"))
    (True, False)
    """
    return question.plan is not None and "metric" in signature(module_of(question, "report").answer_of_rows).parameters


def _question(plan: Plan) -> Question:
    question = of_kind(plan.kind)
    if question is None:
        raise DataError(f"There is no report of a run of kind {plan.kind!r}.")
    return question


# What are models and ways of finding sources called, on every page and in every report?


class Names(Mapping[str, str]):
    """What the entries of a registry are called, read off them whenever somebody asks.

    >>> Names(lambda: {"svm": "SVM"})["svm"]
    'SVM'
    """

    def __init__(self, read: Callable[[], dict[str, str]]) -> None:
        self._read = read

    def __getitem__(self, name: str) -> str:
        return self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())


MODEL_TITLES = Names(lambda: {name: model.label for name, model in MODELS.items()})
FINDER_TITLES = Names(
    lambda: {**{name: finder.title for name, finder in SOURCE_FINDERS.items()}, KNOWN_SOURCES: "known sources"}
)
TITLES = Names(
    lambda: {**MODEL_TITLES, **{name: finder.short for name, finder in SOURCE_FINDERS.items()}, KNOWN_SOURCES: "known"}
)
"""What models are called, and finders beside a model's name, where there is little room."""

IN_SENTENCES = Names(
    lambda: {
        **MODEL_TITLES,
        **{name: finder.in_sentences for name, finder in SOURCE_FINDERS.items()},
        KNOWN_SOURCES: "known sources",
    }
)
"""What models and finders are called in a sentence."""


# What do numbers stand for on the sheet's axis?


class OnAxis(NamedTuple):
    """An accuracy that stands on the sheet's axis: its role there, and its words, of what it is of.

    Without a role it is that which its last name says. The first `n_names` say what it is of, the next its metric.
    """

    role: str
    words: Callable[[Sequence[str]], str]
    n_names: int = 2


def _of_sources(what: str) -> Callable[[Sequence[str]], str]:
    return lambda of: f"{TITLES.get(of[0], of[0])}: {what.format(noun(of[1]))}"


ON_AXIS = {
    "source_robustness.random": OnAxis("random", _of_sources("random split")),
    "source_robustness.inclusive": OnAxis("inclusive", _of_sources("{}s seen in training")),
    "source_robustness.exclusive": OnAxis("exclusive", _of_sources("held-out {}s")),
    "cluster_folds.accuracy": OnAxis("folds", lambda of: f"{TITLES.get(of[1], of[1])}: {scheme_title(of[0])} folds"),
    "few_labels.accuracy": OnAxis("labels", lambda of: f"New samples of {of[0]}, by few labels"),
    "matched_subsets.metric": OnAxis("", lambda of: f"{of[0]}: {_SETS[of[2]]}", 1),
    "matched_subsets.matched": OnAxis("target", lambda of: f"{of[0]}: new test set, matched", 1),
    "model_comparison.metric": OnAxis("", lambda of: of[0], 1),
}
"""The accuracies that one can plan for, by name, in the order of the axis."""
_SETS = {"reference": "reference set", "target": "new test set"}
METRIC_ON_AXIS = {
    "source_robustness.metric_random": ON_AXIS["source_robustness.random"],
    "source_robustness.metric_inclusive": ON_AXIS["source_robustness.inclusive"],
    "source_robustness.metric": ON_AXIS["source_robustness.exclusive"],
    "cluster_folds.metric": ON_AXIS["cluster_folds.accuracy"],
    **{name: each for name, each in ON_AXIS.items() if name.startswith(("matched_subsets.", "model_comparison."))},
}
"""The same of another metric; these say of which."""


def label(of: Quantity) -> str:
    """What the sheet's axis calls a number.

    >>> from touchstone.core.evaluate.intervals import Interval
    >>> label(Quantity("source_robustness.exclusive", ("svm", "kmeans"), 0.9, Interval(0.8, 0.95), 100))
    'SVM: held-out clusters'
    """
    return {**ON_AXIS, **METRIC_ON_AXIS}[of.name].words(of.of)
