"""What does a list of runs say of a training? The address of the form that it came from."""

from touchstone.ui.forms.plan_form import stored_parameters as parameters

__all__ = ["parameters"]
