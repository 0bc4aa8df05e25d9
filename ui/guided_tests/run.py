"""What does a list of runs say of this question? Plans in words, their addresses, verdicts in a sentence."""

from core.evaluate.guided_tests.verdict import guided_verdict
from core.workspace.run import Run
from ui.guided_tests import results
from ui.guided_tests.controls import describe, parameters

__all__ = ["describe", "headline", "parameters"]


def headline(run: Run) -> str:
    """What a run has found so far."""
    return guided_verdict(results.guided(run)).headline
