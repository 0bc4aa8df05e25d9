"""How does a page show clouds without groups? Progress while they come, then their gaps; and the claims for words."""

from collections.abc import Iterable

import streamlit as st

from touchstone.core.data import Dataset
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.data_set_adequacy.plan import AdequacyPlan
from touchstone.core.evaluate.source_robustness.parametric_null import (
    CloudGaps,
    ParametricNullPlan,
    cloud_gaps,
    clouds_plan,
)
from touchstone.core.report.parametric_null import gap_table
from touchstone.core.trials import TrialPlan
from touchstone.core.workspace.runs import Run
from touchstone.ui import cache
from touchstone.ui.forms.plan_form import plan_parameters
from touchstone.ui.shell import answer, jobs, page
from touchstone.ui.shell.session import owner, read_only, workspace


def plan_beside(plan: TrialPlan | AdequacyPlan, source_finder: str) -> ParametricNullPlan | None:
    """The clouds beside a plan; None where sources are known or a network found them."""
    return clouds_plan(plan.trial_plan if isinstance(plan, AdequacyPlan) else plan, source_finder)


def plans_beside(plan: TrialPlan | AdequacyPlan) -> list[ParametricNullPlan]:
    """The clouds beside each of its source finders that clusters."""
    beside = [plan_beside(plan, finder) for finder in plan.source_finders]
    return [clouds for clouds in beside if clouds is not None]


def begun(plan: object, fingerprint: str) -> tuple[tuple[str, Run], ...]:
    """The runs of the clouds beside a plan that have come to something, each with its source finder."""
    beside = plans_beside(plan) if isinstance(plan, TrialPlan | AdequacyPlan) else ()
    runs = ((clouds.source_finder, workspace().find_run(owner(), clouds, fingerprint)) for clouds in beside)
    return tuple((finder, run) for finder, run in runs if run is not None and run.n_done)


def claims(runs: Iterable[tuple[str, Run]]) -> dict[str, Claim]:
    """What such runs tell so far, by source finder."""
    return {finder: gaps(run).claim for finder, run in runs}


@cache.result(max_entries=16)
def gaps(run: Run) -> CloudGaps:
    """The gaps of the data and of all clouds that are finished."""
    return cloud_gaps(workspace().rows(owner(), run.id))


def parameters(plan: ParametricNullPlan) -> dict[str, list[str]] | None:
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


def show(plan: ParametricNullPlan | None, dataset: Dataset) -> None:
    """Where the clouds stand: a button that draws them, their progress, or their gaps; nothing where there are none."""
    if plan is None:
        return
    run = workspace().find_run(owner(), plan, dataset.fingerprint)
    if run is None:
        _offer(plan, dataset)
        return
    if run.state != "done":
        st.caption("Held-out clusters are compared with those of simulated data without groups.")
        jobs.follow(run, jobs.progress)
        return
    with st.expander("Would data without groups look the same?"):
        answer.table(gap_table(gaps(run), dataset.n_samples))


def _offer(plan: ParametricNullPlan, dataset: Dataset) -> None:
    if read_only():
        return
    st.button(
        "Compare with data without groups",
        key="clouds",
        on_click=page.or_toast(jobs.start),
        args=(plan, dataset),
        help="The same procedure on simulated data with each class's shape, but without groups. Without it, "
        "clusters are no evidence of sources.",
    )
