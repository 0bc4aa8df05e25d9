"""What does a list of runs say of this question? The addresses of plans, and verdicts in a sentence."""

from touchstone.core.evaluate.cluster_folds import Metric, fold_verdict
from touchstone.core.evaluate.wording import Verdict
from touchstone.core.report.run_report import MODEL_TITLES
from touchstone.core.workspace.run import Run
from touchstone.ui.cluster_folds import results
from touchstone.ui.cluster_folds.controls import parameters

__all__ = ["parameters", "verdict"]


def verdict(run: Run) -> Verdict:
    """What a run has found so far, by macro F1."""
    return fold_verdict(results.performance(results.of_run(run), Metric()), names=MODEL_TITLES)
