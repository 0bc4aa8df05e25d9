"""What does a matching of two test sets ask people for?"""

from touchstone.core.asked import ANYTHING
from touchstone.core.workspace.links import View
from touchstone.ui.forms.plan_form import plan_form, plan_parameters
from touchstone.ui.matched_subsets.plan import MatchingPlan, TwoSets
from touchstone.ui.predictions import choice as prediction_choice


def matching_plan() -> MatchingPlan:
    """The controls of a MatchingPlan, and the plan that they say."""
    return plan_form(MatchingPlan, ANYTHING)[0]


def view(sets: TwoSets, plan: MatchingPlan | None) -> View:
    """What a link to a comparison shows, and all that settles it; without a plan where nothing can be matched."""
    settled = {name: [value] for name, value in sets.parameters.items()}
    settled |= {} if plan is None else plan_parameters(plan) or {}
    files = (sets.reference, sets.target)
    return View("matched_subsets", settled, prediction_choice.names(sets.parameters), predictions=files)
