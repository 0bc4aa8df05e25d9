"""What does a plan of trials ask people for? What stands beside its fields; here is how a page asks it."""

from streamlit.delta_generator import DeltaGenerator

from touchstone.core.asked import About
from touchstone.core.data import Dataset
from touchstone.core.trials import SourcesPlan, TrialPlan
from touchstone.ui.forms.plan_form import plan_form, plan_parameters


def trial_plan(dataset: Dataset) -> tuple[TrialPlan, DeltaGenerator]:
    """The controls of a TrialPlan: the plan that they say, and the place for the button that starts it.

    Raises DataError for a choice that makes no plan.
    """
    return plan_form(TrialPlan, About(dataset))


def sources_parameters(plan: SourcesPlan) -> dict[str, list[str]] | None:
    """The parameters of the address that lead to usual trials with the sources of this plan."""
    n_repeats = max(TrialPlan.n_repeats, plan.n_clusterings)
    return plan_parameters(
        TrialPlan(
            source_finders=(plan.finder,),
            n_sources=plan.n_sources,
            n_clusterings=plan.n_clusterings,
            n_repeats=n_repeats,
            seed=plan.seed,
        )
    )
