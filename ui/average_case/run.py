"""What does a list of runs say of this question? The addresses of plans, and verdicts in a sentence."""

from touchstone.core.evaluate.average_case.verdict import average_case_verdict
from touchstone.core.evaluate.wording import Verdict
from touchstone.core.workspace.run import Run
from touchstone.ui.average_case import results
from touchstone.ui.forms.plan_form import stored_parameters as parameters

__all__ = ["parameters", "verdict"]


def verdict(run: Run) -> Verdict:
    """What a run has found so far."""
    return average_case_verdict(results.robustness(run))
