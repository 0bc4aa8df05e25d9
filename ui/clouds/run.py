"""What does a list of runs say of clouds without groups? The address of the usual trials that they stand beside."""

from touchstone.core.evaluate.source_robustness.clouds_plan import CloudsPlan
from touchstone.core.trials import TrialPlan
from touchstone.ui.forms.plan_form import plan_parameters


def parameters(plan: CloudsPlan) -> dict[str, list[str]] | None:
    """The parameters of the address that lead to usual trials with clusters found like these."""
    return plan_parameters(
        TrialPlan(
            source_finders=(plan.source_finder,),
            n_sources=plan.n_sources,
            representation=plan.representation,
            test_share=plan.test_share,
            seed=plan.seed,
        )
    )
