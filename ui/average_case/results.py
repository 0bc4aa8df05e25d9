"""What do runs of average-case robustness tell?"""

from core.evaluate.average_case.robustness import Robustness, evaluate_robustness
from core.workspace.run import Run
from ui import cache
from ui.data.results import dataset_of
from ui.shell.session import owner, workspace


@cache.result(max_entries=8)
def robustness(run: Run) -> Robustness:
    """All that the finished trials of a run of average-case robustness tell."""
    names = dataset_of(run.fingerprint).class_names
    return evaluate_robustness(workspace().rows(owner(), run.id), class_names=names)
