"""What does a list of runs say of this question? The addresses of plans, and verdicts in a sentence."""

from core.evaluate.source_robustness import source_verdict
from core.report.names import MODEL_TITLES
from core.workspace.run import Run
from ui.forms.plan_form import stored_parameters as parameters
from ui.source_robustness import results

__all__ = ["headline", "parameters"]


def headline(run: Run) -> str:
    """What a run has found so far."""
    verdict = source_verdict(
        results.intervals(run), results.comparisons(run), names=MODEL_TITLES, finished=run.state != "running"
    )
    return verdict.headline
