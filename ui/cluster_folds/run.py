"""What does a list of runs say of this question? The addresses of plans, and verdicts in a sentence."""

from core.evaluate.cluster_folds import Metric, fold_verdict
from core.evaluate.wording import Verdict
from core.report.names import MODEL_TITLES
from core.workspace.run import Run
from ui.cluster_folds import results
from ui.cluster_folds.controls import parameters

__all__ = ["parameters", "verdict"]


def verdict(run: Run) -> Verdict:
    """What a run has found so far, by macro F1."""
    return fold_verdict(results.performance(results.of_run(run), Metric()), names=MODEL_TITLES)
