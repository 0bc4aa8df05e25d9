"""What do data come to, and a model of them, within a budget? Plans or usual questions, worked off one by one."""

import time
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial

import pandas as pd

from touchstone.core.command.check import Sheet
from touchstone.core.command.checked import (
    GOES_ON,
    Checked,
    Unfinished,
    named,
    outcomes_of,
)
from touchstone.core.data import DataError, Dataset
from touchstone.core.data.dataset import set_aside
from touchstone.core.data.errors import SmallClasses
from touchstone.core.evaluate.metric_estimates import OF_ACCURACY, InWords
from touchstone.core.evaluate.metrics import metric_named
from touchstone.core.evaluate.wording import Verdict
from touchstone.core.questions import of_kind
from touchstone.core.report.parts import Answer, Quantity
from touchstone.core.report.run_report import answer_of
from touchstone.core.report.stated import StatedClaim, muted_kinds
from touchstone.core.trials import Plan
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace, WorkspaceError
from touchstone.core.workspace.engine.runner import NO_TIME, Step, usual_steps


def ask(
    sheet: Sheet,
    workspace: Workspace,
    *,
    fingerprint: str,
    of_files: Checked | None = None,
    work_off: Callable[[Plan, str, float | None], Run],
    budget: float | None,
    model: str | None = None,
) -> Checked:
    """Work everything off, within `budget` seconds, and decide what is required.

    `fingerprint` is of stored data, and `of_files` what two files came to. Where the sheet has no plans, data are asked
    usual questions, those of one model of the stored `model`. `work_off(plan, fingerprint, until)` runs a plan and
    returns it finished, or as far as it came by `until` (`time.monotonic`). Numbers and claims of a run that is not
    finished are shown, and decide nothing. Sentences that rest on a muted claim are left out, and it counts for no
    requirement.
    """
    until, mute = None if budget is None else time.monotonic() + budget, muted_kinds(sheet.mute)
    found: list[Quantity] = []
    claims: list[StatedClaim] = []
    decided: list[Quantity | StatedClaim] = []
    said, unfinished, notes = [], [], ()

    def stated(stem: str, verdict: Verdict, *of: str) -> list[StatedClaim]:
        return [StatedClaim(stem, of, made, mute.get(made.kind, "")) for made in verdict.claims]

    if of_files is not None:
        found, claims, said = list(of_files.found), list(of_files.claims), list(of_files.said)
        notes = of_files.notes
        decided += [*found, *claims]
    for step in _steps(sheet, workspace, fingerprint, model):
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


def _steps(sheet: Sheet, workspace: Workspace, fingerprint: str, model: str | None) -> tuple[Step, ...]:
    """What is worked off: the sheet's plans, or else usual questions about the data: those of what is required."""
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
