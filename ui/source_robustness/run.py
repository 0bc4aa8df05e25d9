"""What does a list of runs say of this question? The addresses of plans, and verdicts in a sentence."""

from touchstone.core.evaluate.source_robustness import leading_row, source_verdict
from touchstone.core.evaluate.wording import Verdict
from touchstone.core.report.run_report import MODEL_TITLES
from touchstone.core.report.source_robustness import names_beside
from touchstone.core.workspace.plans import load_plan
from touchstone.core.workspace.run import Run
from touchstone.ui.clouds import part as clouds
from touchstone.ui.forms.plan_form import stored_parameters as parameters
from touchstone.ui.source_robustness import results

__all__ = ["parameters", "verdict"]


def verdict(run: Run) -> Verdict:
    """What a run has found so far."""
    intervals, comparisons = results.intervals(run), results.comparisons(run)
    row = leading_row(intervals.overall, comparisons)
    plan = load_plan(run.plan)
    beside = None if row is None else clouds.plan_beside(plan, row.source_finder)
    names = MODEL_TITLES if row is None else names_beside(row, intervals.overall)
    null = clouds.claim_of(beside, run.fingerprint)
    return source_verdict(intervals, comparisons, row=row, names=names, epoch=plan.epoch, null=null)
