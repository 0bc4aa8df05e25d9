"""What does a list of runs say of a map? Its address on the page of data sets."""

from touchstone.ui.forms.plan_form import stored_parameters as parameters

__all__ = ["parameters"]
