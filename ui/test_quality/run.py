"""What does a list of runs say of this question? Plans in words, their addresses, verdicts in a sentence."""

from core.evaluate.test_quality.shift_verdict import shift_verdict
from core.workspace.run import Run
from ui.test_quality import results
from ui.test_quality.shift import describe, parameters

__all__ = ["describe", "headline", "parameters"]


def headline(run: Run) -> str:
    """What a run of covariate shift has found so far."""
    return shift_verdict(results.covariate_shift(run)).headline
