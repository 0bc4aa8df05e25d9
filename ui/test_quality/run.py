"""What does a list of runs say of this question? The addresses of plans, and verdicts in a sentence."""

from touchstone.core.evaluate.test_quality.shift_plan import shift_verdict
from touchstone.core.evaluate.wording import Verdict
from touchstone.core.workspace.run import Run
from touchstone.ui.forms.plan_form import stored_parameters as parameters
from touchstone.ui.test_quality import results

__all__ = ["parameters", "verdict"]


def verdict(run: Run) -> Verdict:
    """What a run of covariate shift has found so far."""
    return shift_verdict(results.covariate_shift(run))
