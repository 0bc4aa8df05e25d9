"""Can an accuracy be trusted as far as somebody requires? Questions, worked off without a browser.

A sheet is JSON, in a file or as the word itself: `plans` as the pages' “copy as command” gives them, `compare` with
options of that command, `require`, sentences such as "source_robustness.rho >= .9" or "not S01", and `mute`, reasons by
code of claim. Where no plans are given, data are asked the questions of what is required, or else every one, with the
usual settings of “Ask all questions” on the page. The numbers are those of the pages, of the same runs.
"""

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

import pandas as pd

from touchstone.core import COMMAND
from touchstone.core.command.checked import (
    GOES_ON,
    Checked,
    Unfinished,
    add_decision_options,
    check_compared,
    named,
    outcomes_of,
    seconds,
)
from touchstone.core.command.compare import stored_predictions
from touchstone.core.command.given_files import add_compare_options, add_roles, compare_files, json_or_file
from touchstone.core.command.requirements import Required, required
from touchstone.core.data import DataError, Dataset
from touchstone.core.data.dataset import set_aside
from touchstone.core.data.errors import SmallClasses
from touchstone.core.data.predictions.roles import ONE_EACH
from touchstone.core.data.tables.roles import SINGLE
from touchstone.core.evaluate.metric_estimates import OF_ACCURACY, InWords
from touchstone.core.evaluate.metrics import METRICS, metric_named
from touchstone.core.evaluate.wording import Verdict
from touchstone.core.questions import of_kind
from touchstone.core.report.parts import Answer, Quantity
from touchstone.core.report.run_report import answer_of
from touchstone.core.report.stated import StatedClaim, muted_kinds
from touchstone.core.trials import Plan
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace, WorkspaceError, load_plan
from touchstone.core.workspace.engine.runner import NO_TIME, Step, usual_steps

OF_PREDICTIONS = tuple(role for role in ONE_EACH if role not in (*SINGLE, "model"))
"""Roles that files of predictions alone have; there --model is a file."""


def add_check_options(parser: argparse.ArgumentParser) -> None:
    """The options of the command besides those of the data set."""
    parser.add_argument(
        "sheet",
        nargs="?",
        metavar="SHEET.json",
        help="questions, settings and requirements: a file, or the JSON itself",
    )
    parser.add_argument("--predictions", nargs=2, metavar=("REFERENCE", "TARGET"), help="two files of predictions")
    parser.add_argument(
        "--metric",
        choices=tuple(METRICS),
        help="what verdicts are about, of two files, of folds, on held-out sources and of more samples",
    )
    parser.add_argument("--positive-class", metavar="NAME", help="the class that sensitivity and the like are about")
    parser.add_argument(
        "--budget", type=seconds, metavar="TIME", help="such as 90s, 10m or 2h; the same command goes on"
    )
    parser.add_argument("--all", action="store_true", help="ask every question, those too that nothing is required of")
    parser.add_argument(
        "--seed", type=int, help="what all randomness follows from, where no plans are given; 0 if not said"
    )
    parser.add_argument("--explain", action="store_true", help="list what can be required")
    columns = parser.add_argument_group("columns of the files of --predictions")
    add_roles(columns, OF_PREDICTIONS)
    add_decision_options(parser)


_KEYS = ("plans", "compare", "require", "mute")


@dataclass(frozen=True)
class Sheet:
    """What is asked: plans, options of a comparison, requirements, and why which claims (by code) are muted."""

    plans: tuple[Plan, ...] = ()
    compare: dict[str, Any] = field(default_factory=dict)
    require: tuple[Required, ...] = ()
    mute: dict[str, str] = field(default_factory=dict)
    ask_all: bool = False
    """Whether questions are asked that nothing is required of, where something is."""
    seed: int | None = None
    """What all randomness of usual questions follows from; None leaves it to them."""
    metric: tuple[str, str | None] | None = None
    """What verdicts of runs are about, where one may choose, and the class that it is about."""

    @classmethod
    def read(cls, text: str, name: str) -> "Sheet":
        """Read a sheet. Raises DataError, naming the place, for anything else.

        >>> Sheet.read('{"require": ["matched_subsets.gap <= .02"]}', "sheet.json").require[0].bound
        0.02
        """
        try:
            content = json.loads(text)
        except json.JSONDecodeError as error:
            raise DataError(f"{name}, line {error.lineno}: this is no JSON ({error.msg}).") from None
        if not isinstance(content, dict) or content.keys() - set(_KEYS):
            raise DataError(f"{name}: a sheet is an object with {', '.join(map(repr, _KEYS))}, and nothing else.")
        plans, compare, require, mute = (content.get(*each) for each in zip(_KEYS, ([], {}, [], {}), strict=True))
        if not (isinstance(plans, list) and isinstance(compare, dict) and isinstance(require, list)):
            raise DataError(f"{name}: 'plans' and 'require' are lists, and 'compare' is an object of options.")
        if not (isinstance(mute, dict) and all(isinstance(reason, str) for reason in mute.values())):
            raise DataError(f'{name}: \'mute\' is an object of reasons by code, such as {{"M01": "agreed until May"}}.')
        return cls(
            tuple(load_plan(json.dumps(plan)) for plan in plans),
            compare,
            tuple(required(str(one)) for one in require),
            mute,
        )


def read_sheet(chosen: argparse.Namespace) -> Sheet:
    """The sheet that was named, with what the options add. Raises DataError where nothing is asked."""
    sheet, name = Sheet(), chosen.sheet
    if name is not None:
        content = json_or_file(name, remedy="Name a sheet.")
        name = "The sheet" if content == name else name
        sheet = Sheet.read(content, name)
    more = tuple(map(required, chosen.require))
    if chosen.data is chosen.predictions is chosen.model is None and not sheet.plans:
        raise DataError("Nothing is asked: name data with --data, or two files with --predictions.")
    if chosen.data is None and (sheet.plans or chosen.model is not None):
        given = f"{name} holds plans" if sheet.plans else f"{chosen.model} is a model"
        raise DataError(f"{given}: say of which data with --data.")
    compare = sheet.compare | _of_predictions(chosen)
    metric = (chosen.metric, chosen.positive_class) if chosen.metric else None
    mute = {**sheet.mute, **dict(chosen.mute)}
    return Sheet(sheet.plans, compare, (*sheet.require, *more), mute, chosen.all, chosen.seed, metric)


def _of_predictions(chosen: argparse.Namespace) -> dict[str, str]:
    """What options say of the two files. Raises DataError for columns of data, or of predictions, that are not given.

    Ids and sources are those of the data where there are some.
    """
    of_files = {role: value for role in OF_PREDICTIONS if (value := getattr(chosen, role)) is not None}
    if chosen.predictions is None:
        if of_files:
            raise DataError(f"--{next(iter(of_files))} is of two files of predictions: name them with --predictions.")
        return {}
    shared = ("unit", "metric", "positive_class", "seed")
    if chosen.data is None:
        if only := next((role for role in SINGLE if role not in ONE_EACH and getattr(chosen, role) is not None), None):
            remedy = "say --truth of predictions" if only == "label" else "leave it out"
            raise DataError(f"--{only} is a column of --data, and none is given: {remedy}.")
        shared += ("id", "source", "sourceless")
    return of_files | {name: value for name in shared if (value := getattr(chosen, name)) not in (None, "")}


def check(
    sheet: Sheet,
    workspace: Workspace,
    *,
    fingerprint: str | None,
    predictions: Sequence[str] | None,
    work_off: Callable[[Plan, str, float | None], Run],
    budget: float | None,
    model: str | None = None,
) -> Checked:
    """Work everything off, within `budget` seconds, and decide what is required.

    `fingerprint` is of stored data; where the sheet has no plans for them, they are asked every usual question, those
    of one model of the stored `model`. `work_off(plan, fingerprint, until)` runs a plan and returns it finished, or as
    far as it came by `until` (`time.monotonic`). Numbers and claims of a run that is not finished are shown, and decide
    nothing. Sentences that rest on a muted claim are left out, and it counts for no requirement.
    """
    until, mute = None if budget is None else time.monotonic() + budget, muted_kinds(sheet.mute)
    found: list[Quantity] = []
    claims: list[StatedClaim] = []
    decided: list[Quantity | StatedClaim] = []
    said, unfinished, notes = [], [], ()

    def stated(stem: str, verdict: Verdict, *of: str) -> list[StatedClaim]:
        return [StatedClaim(stem, of, made, mute.get(made.kind, "")) for made in verdict.claims]

    if predictions is not None:
        compared = compare_files(_compare_options(sheet, predictions), stored_predictions)
        of_files = check_compared(compared, (), sheet.mute)
        found, claims, said = list(of_files.found), list(of_files.claims), list(of_files.said)
        notes = of_files.notes
        decided += [*found, *claims]
    for step in _steps(sheet, workspace, fingerprint, model):
        assert fingerprint is not None
        try:
            plan, used, aside = step.make(), fingerprint, ""
            try:
                run = None if plan is None else _run(plan, workspace, fingerprint, work_off, until)
            except SmallClasses as problem:
                left = set_aside(workspace.dataset(LOCAL_OWNER, fingerprint), problem)
                used, aside = workspace.add_dataset(LOCAL_OWNER, left), left.notes[-1]
                run = None if plan is None else _run(plan, workspace, used, work_off, until)
        except (DataError, WorkspaceError) as problem:
            if sheet.plans:
                raise
            late = _is_over(until)  # what it rests on, such as a trained model, may be missing for lack of time alone
            why = f"{NO_TIME} {GOES_ON}" if late else str(problem)
            unfinished.append(Unfinished(step.stem, why, goes_on=late))
            continue
        if plan is None:
            continue
        if run is None:
            unfinished.append(Unfinished(step.stem, f"{NO_TIME} {GOES_ON}", goes_on=True))
            continue
        if run.state != "done":
            far = f"{run.state}, {run.n_done} of {run.n_trials} trials"
            unfinished.append(Unfinished(step.stem, f"{far}. {GOES_ON}", goes_on=True))
        elif run.n_failed:
            unfinished.append(Unfinished(step.stem, f"{run.n_failed} of {run.n_trials} trials failed. {run.errors[0]}"))
        if run.n_done > run.n_failed:
            rows, dataset = workspace.rows(LOCAL_OWNER, run.id), workspace.dataset(LOCAL_OWNER, used)
            answer, usual = _answer(rows, dataset, plan, sheet.metric)
            answer = answer.beginning(aside) if aside else answer
            made = [] if answer.verdict is None else stated(step.stem, answer.verdict)
            found += answer.numbers
            claims += made
            decided += [*answer.numbers, *made] if run.state == "done" else []
            said += [] if answer.verdict is None else [named(step.stem, answer.verdict.muting(mute).text) + usual]
    outcomes = outcomes_of(sheet.require, sheet.mute, (*found, *claims), decided, unfinished)
    words = InWords(metric_named(sheet.metric[0]), sheet.metric[1]) if sheet.metric else OF_ACCURACY
    late = tuple(one.says for one in unfinished)
    return Checked(tuple(found), tuple(claims), tuple(outcomes), tuple(said), late, words, notes)


def _answer(
    rows: pd.DataFrame, dataset: Dataset, plan: Plan, metric: tuple[str, str | None] | None
) -> tuple[Answer, str]:
    """What a run comes to by a metric; by the usual one, with the reason, where its trials do not give that.

    Raises DataError where it is about a class that the data have not.
    """
    if metric is not None and metric[1] is not None and metric[1] not in dataset.class_names:
        raise DataError(f"There is no class {metric[1]!r}. Choose from {', '.join(dataset.class_names)}.")
    try:
        return answer_of(rows, dataset, plan, metric=metric), ""
    except DataError as problem:
        if metric is None:
            raise
        return answer_of(rows, dataset, plan), f" {problem}"


def _steps(sheet: Sheet, workspace: Workspace, fingerprint: str | None, model: str | None) -> tuple[Step, ...]:
    """What is worked off: the sheet's plans, or else usual questions about the data: those of what is required."""
    if fingerprint is None:
        return ()
    if not sheet.plans:
        asked = {stem for requirement in sheet.require for stem in requirement.stems}
        only = asked if asked and not sheet.ask_all else None
        steps = usual_steps(workspace, LOCAL_OWNER, fingerprint, model=model, only=only)
        return (
            steps
            if sheet.seed is None
            else tuple(replace(step, make=partial(_seeded, step, sheet.seed)) for step in steps)
        )
    return tuple(Step(_stem(plan), partial(_itself, plan)) for plan in sheet.plans)


def _is_over(until: float | None) -> bool:
    return until is not None and time.monotonic() >= until


def _stem(plan: Plan) -> str:
    question = of_kind(plan.kind)
    return plan.kind if question is None else question.stem


def _seeded(step: Step, seed: int) -> Plan | None:
    """The plan of a step, with all its randomness from a seed."""
    plan = step.make()
    if plan is None:
        return None
    there = {each.name for each in fields(plan)}
    return replace(plan, **{name: value for name, value in (("seed", seed), ("seeds", (seed,))) if name in there})


def _itself(plan: Plan) -> Plan:
    return plan


def _run(
    plan: Plan,
    workspace: Workspace,
    fingerprint: str,
    work_off: Callable[[Plan, str, float | None], Run],
    until: float | None,
) -> Run | None:
    """The run of a plan, as far as it comes; when the time is up what there is of it, or None."""
    if _is_over(until):
        run = workspace.find_run(LOCAL_OWNER, plan, fingerprint)
        return None if run is None or run.older_method else run
    return work_off(plan, fingerprint, until)


def _compare_options(sheet: Sheet, predictions: Sequence[str]) -> argparse.Namespace:
    """Options of `compare` as a sheet says them. Raises DataError for one that there is not."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_compare_options(parser)
    reference, target = predictions
    given = [f"--reference={reference}", f"--target={target}"]
    known = {action.dest for action in parser._actions}
    for name, value in sheet.compare.items():
        if name.replace("-", "_") not in known:
            raise DataError(f"The sheet's 'compare' has no option {name!r}: {COMMAND} compare --help lists them.")
        given.append(f"--{name.replace('_', '-')}={value}")
    try:
        return parser.parse_args(given)
    except argparse.ArgumentError as error:
        raise DataError(f"The sheet's 'compare': {error}.") from None
