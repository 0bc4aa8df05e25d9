"""What does a list of runs say of this question? The addresses of plans, and verdicts in a sentence."""

from touchstone.core.evaluate.guided_tests.verdict import guided_verdict
from touchstone.core.evaluate.wording import Verdict
from touchstone.core.workspace.run import Run
from touchstone.ui.forms.plan_form import stored_parameters as parameters
from touchstone.ui.guided_tests import results

__all__ = ["parameters", "verdict"]


def verdict(run: Run) -> Verdict:
    """What a run has found so far."""
    return guided_verdict(results.guided(run))
