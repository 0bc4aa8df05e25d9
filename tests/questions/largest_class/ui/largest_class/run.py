"""What does a list of runs say of this question?"""

from core.evaluate.largest_class.verdict import largest_class_verdict

from core.workspace.run import Run
from ui.forms.plan_form import stored_parameters as parameters
from ui.shell.session import owner, workspace

__all__ = ["headline", "parameters"]


def headline(run: Run) -> str:
    return largest_class_verdict(workspace().rows(owner(), run.id)).headline
