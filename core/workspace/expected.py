"""How long will a plan take? As long as a trial took in runs like it, times its trials; no run like it, no answer."""

from collections.abc import Sequence
from dataclasses import fields, replace
from statistics import median

from touchstone.core.data import DataError, Dataset
from touchstone.core.trials import Plan
from touchstone.core.trials.plan import MOST
from touchstone.core.workspace.plans import load_plan
from touchstone.core.workspace.runs import Run


def expected_seconds(plan: Plan, dataset: Dataset, runs: Sequence[Run], *, n_trials: int) -> float | None:
    """Seconds that a plan of so many trials will take: the median pace of the `runs` of this data set that are like it.

    None where no run is. What `alike` compares are plans; failed trials and other work of the machine count as they
    come, so this is a guide and no promise.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.trials import TrialPlan
    >>> expected_seconds(TrialPlan(), load_example("wine"), [], n_trials=120) is None
    True
    """
    of_kind = [run for run in runs if run.kind == plan.kind and run.fingerprint == dataset.fingerprint]
    paces = [run.pace for run in of_kind if run.pace is not None and alike(run, plan, dataset)]
    return n_trials * median(paces) if paces else None


def alike(run: Run, plan: Plan, dataset: Dataset) -> bool:
    """Whether a trial of a run is as much work as one of a plan: they differ in seeds and in how often it is done."""
    try:
        then = load_plan(run.plan)
        differing = [field.name for field in fields(plan) if getattr(plan, field.name) != getattr(then, field.name)]
        return all(name == "seed" or _counts_trials(then, plan, name, dataset) for name in differing)
    except DataError:  # a plan that this version does not know, or two that do not go together
        return False


def _counts_trials(then: Plan, plan: Plan, name: str, dataset: Dataset) -> bool:
    """Whether a field in which two plans differ says how many trials there are, and nothing else."""
    if name not in MOST:
        return False
    return replace(then, **{name: getattr(plan, name)}).n_trials(dataset) != then.n_trials(dataset)
