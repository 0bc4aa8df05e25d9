"""What does a list of runs say of this question? The addresses of plans, and verdicts in a sentence."""

from core.evaluate.data_set_adequacy.verdict import adequacy_verdict
from core.report.names import MODEL_TITLES
from core.workspace.run import Run
from ui.data_set_adequacy import results
from ui.forms.plan_form import stored_parameters as parameters

__all__ = ["headline", "parameters"]


def headline(run: Run) -> str:
    """What a run has found so far."""
    return adequacy_verdict(results.adequacy(run), names=MODEL_TITLES).headline
