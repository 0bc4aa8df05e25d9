"""What does a list of runs say of this question?"""

from touchstone.core.evaluate.largest_class.verdict import largest_class_verdict

from touchstone.core.evaluate.wording import Verdict
from touchstone.core.workspace.run import Run
from touchstone.ui.forms.plan_form import stored_parameters as parameters
from touchstone.ui.shell.session import owner, workspace

__all__ = ["parameters", "verdict"]


def verdict(run: Run) -> Verdict:
    return largest_class_verdict(workspace().rows(owner(), run.id))
