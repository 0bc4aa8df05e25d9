"""What does a comparison of two test sets ask people for? How to match, and which model the verdict is about."""

from touchstone.core.asked import ANYTHING
from touchstone.core.evaluate.matched_subsets import ModelComparisons, SetComparison
from touchstone.core.evaluate.matched_subsets.plan import MatchingPlan, TwoSets
from touchstone.core.workspace.links import View
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.forms.plan_form import plan_form, plan_parameters
from touchstone.ui.predictions import choice as prediction_choice

MODEL = "model"
"""The parameter of the address that names the model in question."""


def matching_plan() -> MatchingPlan:
    """The controls of a MatchingPlan, and the plan that they say."""
    return plan_form(MatchingPlan, ANYTHING)[0]


def view(sets: TwoSets, plan: MatchingPlan | None) -> View:
    """What a link to a comparison shows, and all that settles it; without a plan where nothing can be matched."""
    settled = {name: [value] for name, value in sets.parameters.items()}
    settled |= {} if plan is None else plan_parameters(plan) or {}
    files = (sets.reference, sets.target)
    return View("matched_subsets", settled, prediction_choice.names(sets.parameters), predictions=files)


def choose_model(comparisons: ModelComparisons) -> SetComparison:
    """The model that the verdict and the details are about; a control only where there are several."""
    rows = {row.model: row for row in reversed(comparisons.rows)}
    control = One(MODEL, "The verdict is about", {name: name for name in rows}, next(iter(rows)))
    check_address([control])
    return rows[control.draw()] if len(rows) > 1 else comparisons.rows[0]
