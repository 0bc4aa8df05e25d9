"""How does a page show clouds without groups? Progress while they come, then their gaps; and the claim for words."""

import pandas as pd
import streamlit as st

from touchstone.core.data import Dataset
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.data_set_adequacy.plan import AdequacyPlan
from touchstone.core.evaluate.source_robustness.clouds_plan import CloudGaps, CloudsPlan, cloud_gaps, clouds_plan
from touchstone.core.report.clouds import gap_table
from touchstone.core.trials import TrialPlan
from touchstone.core.workspace.run import Run
from touchstone.ui import cache
from touchstone.ui.shell import jobs, page
from touchstone.ui.shell.session import owner, read_only, workspace


def plan_beside(plan: TrialPlan | AdequacyPlan, source_finder: str) -> CloudsPlan | None:
    """The clouds beside a plan; None where sources are known or a network found them."""
    return clouds_plan(plan.trial_plan if isinstance(plan, AdequacyPlan) else plan, source_finder)


def plans_beside(plan: TrialPlan | AdequacyPlan) -> list[CloudsPlan]:
    """The clouds beside each of its source finders that clusters."""
    beside = [plan_beside(plan, finder) for finder in plan.source_finders]
    return [clouds for clouds in beside if clouds is not None]


def claim_of(plan: CloudsPlan | None, fingerprint: str) -> Claim | None:
    """What the clouds tell so far; None where none have been drawn."""
    run = None if plan is None else workspace().find_run(owner(), plan, fingerprint)
    return gaps(run).claim if run is not None and run.n_done else None


@cache.result(max_entries=16)
def gaps(run: Run) -> CloudGaps:
    """The gaps of the data and of all clouds that are finished."""
    return cloud_gaps(rows(run))


def rows(run: Run) -> pd.DataFrame:
    """The rows of a run's trials."""
    return workspace().rows(owner(), run.id)


def show(plan: CloudsPlan | None, dataset: Dataset) -> None:
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
    table = gap_table(gaps(run), dataset.n_samples)
    with st.expander("Would data without groups look the same?"):
        st.dataframe(table.lines, hide_index=True, alt=table.title)
        st.caption(page.plain(table.caption))


def _offer(plan: CloudsPlan, dataset: Dataset) -> None:
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
