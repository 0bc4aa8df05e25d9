"""What was computed, in a few words? A run's plan as the screen says it: models by the names that people gave them."""

from contextlib import suppress

from touchstone.core.data import DataError
from touchstone.core.report.descriptions import describe as describe_plan
from touchstone.core.trials import Plan
from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.plans import load_plan
from touchstone.core.workspace.runs import Run
from touchstone.ui.shell.session import owner, workspace

UNKNOWN = "settings that this version of Touchstone does not know"


def plan_of(run: Run) -> Plan | None:
    """The plan of a run; None where it names what this version does not have."""
    try:
        return load_plan(run.plan)
    except DataError:
        return None


def describe(run: Run) -> str:
    """A run's plan in a few words."""
    plan = plan_of(run)
    if plan is None:
        return UNKNOWN
    words = describe_plan(plan)
    for model in plan.stored_models():
        with suppress(WorkspaceError):  # one that was deleted keeps its identifier
            words = words.replace(f"model {model[:12]}", f"model “{workspace().stored_model(owner(), model).name}”")
    return words
