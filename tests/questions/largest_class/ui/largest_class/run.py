"""What does a list of runs say of this question?"""

from core.evaluate.largest_class.verdict import largest_class_verdict

from core.evaluate.wording import Verdict
from core.workspace.run import Run
from ui.forms.plan_form import stored_parameters as parameters
from ui.shell.session import owner, workspace

__all__ = ["parameters", "verdict"]


def verdict(run: Run) -> Verdict:
    return largest_class_verdict(workspace().rows(owner(), run.id))
