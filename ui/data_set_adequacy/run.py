"""What does a list of runs say of this question? The addresses of plans, and verdicts in a sentence."""

from touchstone.core.evaluate.data_set_adequacy.verdict import adequacy_verdict, first_curve
from touchstone.core.evaluate.wording import Verdict
from touchstone.core.report.run_report import MODEL_TITLES
from touchstone.core.workspace.run import Run
from touchstone.ui.data_set_adequacy import results
from touchstone.ui.forms.plan_form import stored_parameters as parameters

__all__ = ["parameters", "verdict"]


def verdict(run: Run) -> Verdict:
    """What a run has found so far."""
    adequacy = results.adequacy(run)
    curve = first_curve(adequacy)
    null = None if curve is None else results.null(run, curve)
    return adequacy_verdict(adequacy, names=MODEL_TITLES, null=null)
