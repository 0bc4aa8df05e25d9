"""Did classes shift between training and test? What a classifier says at once, and a CovariateShiftPlan as a run."""

import streamlit as st

from touchstone.core.data import Dataset
from touchstone.core.evaluate.claim_error_rates import about
from touchstone.core.evaluate.claims import LEVEL
from touchstone.core.evaluate.test_quality.looked import Looked
from touchstone.core.evaluate.test_quality.shift_plan import FEWEST_RESPLITS, CovariateShiftPlan
from touchstone.core.evaluate.test_quality.verdict import MEMORY, disagreement, seen, separation
from touchstone.core.evaluate.two_samples import PartsTold
from touchstone.core.evaluate.wording import plural
from touchstone.core.parameters import About
from touchstone.core.report import test_quality as report
from touchstone.core.workspace import Run, StoredModel
from touchstone.ui.forms.plan_form import plan_form
from touchstone.ui.shell import answer, background, downloads, jobs, page
from touchstone.ui.shell.session import owner, workspace
from touchstone.ui.test_quality import results


def at_once(looked: Looked) -> PartsTold | None:
    """What a classifier that tells training from test samples says; None while it is worked out."""
    parts = background.answer(results.parts_told(looked), "Separating training and test samples", key="parts-told")
    if parts is None:
        st.skeleton(height=60)
        return None
    st.markdown(f"**{page.plain(separation(parts))}**")
    if parts.named or parts.p_together < LEVEL:
        st.caption(MEMORY)
    page.fold("How small a shift would have been detected?", lambda: _seen(looked), key="seen")
    downloads.offer({"AUC of training against test": parts.table}, stem="test-quality")
    return parts


def _seen(looked: Looked) -> None:
    shift = background.answer(results.smallest_seen(looked), "Planting shifts", key="seen")
    if shift is not None:
        st.markdown(page.plain(seen(shift)))
        st.caption("Artificial shifts of this class, along the direction of its largest variance.")


def plan_of(dataset: Dataset, model: StoredModel, layer: str) -> CovariateShiftPlan:
    """The controls in a row with the button that starts the run; returns the plan that they say."""
    settled = {"model": model.fingerprint, "layer": layer}
    plan, button = plan_form(CovariateShiftPlan, About(dataset, model=model), settled=settled, key="shift-controls")
    with button:
        jobs.run_button(workspace().find_run(owner(), plan, dataset.fingerprint), plan, dataset)
    return plan


def show(dataset: Dataset, plan: CovariateShiftPlan, classifier: PartsTold | None) -> Run | None:
    """The run of a plan as far as it has come, or what running it would do."""
    run = workspace().find_run(owner(), plan, dataset.fingerprint)
    if run is None:
        few = f" Singling out a class needs at least {FEWEST_RESPLITS} re-splits." * (plan.n_resplits < FEWEST_RESPLITS)
        page.not_computed(
            f"**Run** compares each of {plural(dataset.n_classes, 'class', 'classes')} with "
            f"{plural(plan.n_resplits, 'random re-split')}: {jobs.ahead(plan, dataset, plan.n_trials(dataset))}{few}"
        )
        return None
    jobs.follow(run, jobs.progress)
    jobs.follow(run, _results, every=jobs.SECONDS_BETWEEN_DRAWINGS)
    if classifier is not None and run.state == "done":
        st.markdown(page.plain(disagreement(classifier, results.covariate_shift(run))))
    return run


def _results(run: Run) -> None:
    if run.n_done == run.n_failed:
        page.nothing_yet(running=run.state == "running")
        return
    shown = report.shift_answer(results.covariate_shift(run), finished=run.state != "running")
    verdict = shown.verdict
    assert verdict is not None
    with st.container(border=True, key="shift-verdict"):
        page.says(verdict, help=about(verdict.claims[0] if verdict.claims else None))
        if any(claim.decision == "above" for claim in verdict.claims):
            st.caption(MEMORY)

    def by_class() -> None:
        answer.parts(shown.sections[0].parts)
        page.findings(verdict)
        page.foot(run)

    page.fold("Divergence of every class", by_class, key="shift-classes")
    downloads.of_page(run, shown)
