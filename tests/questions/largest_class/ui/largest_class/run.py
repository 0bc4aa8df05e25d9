"""What does a list of runs say of this question?"""

from core.evaluate.largest_class.plan import LargestClassPlan
from core.evaluate.largest_class.verdict import largest_class_verdict

from core.evaluate.wording import plural
from core.workspace.run import Run
from ui.shell.session import owner, workspace


def describe(plan: LargestClassPlan) -> str:
    return plural(plan.n_repeats, "draw")


def parameters(plan: LargestClassPlan) -> dict[str, list[str]]:
    return {"draws": [str(plan.n_repeats)]}


def headline(run: Run) -> str:
    return largest_class_verdict(workspace().rows(owner(), run.id)).headline
