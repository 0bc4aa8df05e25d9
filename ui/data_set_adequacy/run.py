"""What does a list of runs say of this question? Plans in words, their addresses, verdicts in a sentence."""

from core.evaluate.data_set_adequacy.verdict import adequacy_verdict
from core.report.names import MODEL_TITLES
from core.workspace.run import Run
from ui.data_set_adequacy import results
from ui.data_set_adequacy.controls import describe, parameters

__all__ = ["describe", "headline", "parameters"]


def headline(run: Run) -> str:
    """What a run has found so far."""
    return adequacy_verdict(results.adequacy(run), names=MODEL_TITLES).headline
