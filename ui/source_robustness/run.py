"""What does a list of runs say of this question? Plans in words, their addresses, verdicts in a sentence."""

from core.evaluate.source_robustness import source_verdict
from core.report.names import MODEL_TITLES
from core.workspace.run import Run
from ui.source_robustness import results
from ui.source_robustness.controls import describe_trials as describe
from ui.source_robustness.controls import trial_parameters as parameters

__all__ = ["describe", "headline", "parameters"]


def headline(run: Run) -> str:
    """What a run has found so far."""
    return source_verdict(results.intervals(run), results.comparisons(run), names=MODEL_TITLES).headline
