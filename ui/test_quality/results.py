"""What is known of the quality of test sets, and of what moved between training and test?

Few entries each, since each holds the features that it was asked about.
"""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import streamlit as st

from touchstone.core.data import Dataset
from touchstone.core.evaluate.claim_error_rates import about
from touchstone.core.evaluate.claims import LEVEL
from touchstone.core.evaluate.covariate_shift import CovariateShift
from touchstone.core.evaluate.test_quality import Curve, PairMap, TestQuality
from touchstone.core.evaluate.test_quality import looked as work
from touchstone.core.evaluate.test_quality.looked import Looked, RegionChoice
from touchstone.core.evaluate.test_quality.regions import FORM
from touchstone.core.evaluate.test_quality.shift_plan import FEWEST_RESPLITS, CovariateShiftPlan, shift_of_rows
from touchstone.core.evaluate.test_quality.verdict import MEMORY, disagreement, seen, separation
from touchstone.core.evaluate.two_samples import PartsTold, SeenShift
from touchstone.core.evaluate.wording import plural
from touchstone.core.figures.test_quality import Subject
from touchstone.core.parameters import About
from touchstone.core.report import test_quality as report
from touchstone.core.trials.layer_parts import layer_parts, layers_offered, split_of
from touchstone.core.workspace import Run, StoredModel, load_plan
from touchstone.ui import cache, page_file
from touchstone.ui.data.samples import dataset_of
from touchstone.ui.forms.plan_form import plan_form, plan_parameters
from touchstone.ui.models.choice import parts_name
from touchstone.ui.shell import answer, background, downloads, jobs, page, session


@cache.task(max_entries=4)
def quality(looked: Looked) -> background.Work[TestQuality]:
    """The four dimensions of a test set."""
    return background.Work(lambda step: work.measured(looked))


@cache.task(max_entries=16)
def beside(dataset: Dataset, title: str, model: StoredModel, choice: RegionChoice) -> background.Work[Subject]:
    """Another model's test set, by the same thresholds: in the layer of that name, or else in its usual one."""
    owner_name, shelf = session.owner(), session.workspace()

    def measure(step: Callable[[], None]) -> Subject:
        stored = shelf.model_bytes(owner_name, model.fingerprint)
        layer = choice.layer if choice.layer in layers_offered(stored, dataset) else None
        parts = layer_parts(stored, dataset, layer=layer, **split_of(model.training_plan, dataset))
        looked = Looked(dataset, parts, choice, parts_name(dataset, model, parts.layer))
        return report.subject(model.name, title, looked, work.measured(looked))

    return background.Work(measure)


@cache.task(max_entries=4)
def curves(looked: Looked) -> background.Work[tuple[Curve, Curve]]:
    """The shares over both thresholds."""
    return background.Work(lambda step: work.curves(looked))


@cache.task(max_entries=8)
def class_pair(looked: Looked, first: int, second: int) -> background.Work[PairMap]:
    """Two classes in a plane."""
    return background.Work(lambda step: work.pair(looked, first, second))


@cache.task(max_entries=4)
def parts_told(looked: Looked) -> background.Work[PartsTold]:
    """How well a classifier tells training from test samples."""
    return background.Work(lambda step: work.parts_told(looked, step), looked.dataset.n_classes)


@cache.task(max_entries=4)
def smallest_seen(looked: Looked) -> background.Work[SeenShift | None]:
    """How small a shift that classifier would have seen."""
    parts = parts_told(looked)
    return background.Work(lambda step: work.seen(looked, parts.future.result()))


@cache.result(max_entries=4)
def samples(looked: Looked) -> pd.DataFrame:
    """Where every test sample lies."""
    return work.samples(looked)


@cache.result(max_entries=8)
def covariate_shift(run: Run) -> CovariateShift:
    """What the finished trials of a run of covariate shift tell."""
    plan, data = load_plan(run.plan), dataset_of(run.fingerprint)
    if not isinstance(plan, CovariateShiftPlan):
        raise TypeError(f"a plan of kind {plan.kind!r} says nothing about a shift")
    return shift_of_rows(session.workspace().rows(session.owner(), run.id), plan, data.class_names, unit=data.unit_word)


# Did classes shift between training and test? What a classifier says at once, and a CovariateShiftPlan as a run.


def at_once(looked: Looked) -> PartsTold | None:
    """What a classifier that tells training from test samples says; None while it is worked out."""
    parts = background.answer(parts_told(looked), "Separating training and test samples", key="parts-told")
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
    shift = background.answer(smallest_seen(looked), "Planting shifts", key="seen")
    if shift is not None:
        st.markdown(page.plain(seen(shift)))
        st.caption("Artificial shifts of this class, along the direction of its largest variance.")


def plan_of(dataset: Dataset, model: StoredModel, layer: str) -> CovariateShiftPlan:
    """The controls in a row with the button that starts the run; returns the plan that they say."""
    settled = {"model": model.fingerprint, "layer": layer}
    plan, button = plan_form(CovariateShiftPlan, About(dataset, model=model), settled=settled, key="shift-controls")
    with button:
        jobs.run_button(session.workspace().find_run(session.owner(), plan, dataset.fingerprint), plan, dataset)
    return plan


def show(dataset: Dataset, plan: CovariateShiftPlan, classifier: PartsTold | None) -> Run | None:
    """The run of a plan as far as it has come, or what running it would do."""
    run = session.workspace().find_run(session.owner(), plan, dataset.fingerprint)
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
        st.markdown(page.plain(disagreement(classifier, covariate_shift(run))))
    return run


def _results(run: Run) -> None:
    if run.n_done == run.n_failed:
        page.nothing_yet(running=run.state == "running")
        return
    shown = report.shift_answer(covariate_shift(run), finished=run.state != "running")
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


# Where do a class's centroid region and its boundary end? The controls of the regions, all of them in the address.
#
# Test quality and guided tests share them, keys included: a link from one page to the other keeps the regions.


LAYER = "layer"


def region_choice(layers: Sequence[str]) -> RegionChoice:
    """The controls in a row of their own, and what they say.

    Where there is one layer there is nothing to choose, and the address need not say it.
    """
    about, settled = About(layers=tuple(layers)), {"layer": layers[0]}
    with st.container(border=True, gap="small", key="regions"):
        if len(layers) == 1:
            st.caption(f"Measured in {page.plain(layers[0])}, the only layer of this model that is known.")
        choice, _ = plan_form(RegionChoice, about, form=FORM, settled=settled, border=False)
    if len(layers) == 1 and LAYER not in st.session_state:  # a widget of the run before is Streamlit's to clear
        st.query_params.pop(LAYER, None)  # it says nothing, and of the next model it would say something wrong
    return choice


def region_parameters(choice: RegionChoice) -> dict[str, list[str]]:
    """The parameters of the address that lead to these regions, defaults written out.

    >>> region_parameters(RegionChoice("inputs", r=0.5))
    {'layer': ['inputs'], 'theta2': ['0.7'], 'r': ['0.5'], 'theta1': ['usual'], 'unit': ['99th percentile']}
    """
    return plan_parameters(choice) or {}


def link_to_guided_tests(address: Mapping[str, str | list[str]]) -> None:
    """The way to the same regions where tests are generated, a page that links do not open."""
    if not session.read_only():
        label, icon = "Generate tests, or find samples to label", ":material/arrow_forward:"
        st.page_link(page_file("guided_tests"), label=label, icon=icon, help="", query_params=dict(address))
