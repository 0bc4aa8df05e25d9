"""What does a list of runs say of this question? Plans in words, their addresses, verdicts in a sentence."""

from core.evaluate.average_case.verdict import average_case_verdict
from core.workspace.run import Run
from ui.average_case import results
from ui.average_case.controls import describe, parameters

__all__ = ["describe", "headline", "parameters"]


def headline(run: Run) -> str:
    """What a run has found so far."""
    return average_case_verdict(results.robustness(run)).headline
