"""What do runs of trials tell? Their intervals with uploaded models, their sources, and clouds without groups."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from touchstone.core import trials as plans
from touchstone.core.cluster.finders import SOURCE_FINDERS
from touchstone.core.cluster.sources import Silhouettes
from touchstone.core.data import DataError, Dataset, PredictionTable
from touchstone.core.data.predictions.upload import PredictionUpload
from touchstone.core.evaluate import source_robustness
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.data_set_adequacy.plan import AdequacyPlan
from touchstone.core.evaluate.data_sets import mean_images
from touchstone.core.evaluate.source_robustness import parametric_null
from touchstone.core.evaluate.source_robustness.agreement import SourceAgreement
from touchstone.core.evaluate.source_robustness.agreement import agreement as agreement_of
from touchstone.core.evaluate.source_robustness.by_metric import metrics_on_sources
from touchstone.core.evaluate.source_robustness.held_out import Cluster
from touchstone.core.evaluate.source_robustness.true_sources import TrueSources
from touchstone.core.evaluate.source_robustness.true_sources import true_sources as true_sources_of
from touchstone.core.evaluate.units import design_beside_sources
from touchstone.core.evaluate.wording import listed
from touchstone.core.figures import source_robustness as figures
from touchstone.core.report import source_robustness as report
from touchstone.core.report.parametric_null import gap_table
from touchstone.core.report.run_report import IN_SENTENCES
from touchstone.core.trials.sources_plan import Found
from touchstone.core.workspace import Run, load_plan
from touchstone.core.workspace.engine.needed import found_otherwise, found_rows
from touchstone.ui import cache
from touchstone.ui.data.samples import dataset_of
from touchstone.ui.forms.plan_form import plan_parameters
from touchstone.ui.shell import answer, background, jobs, page
from touchstone.ui.shell.session import owner, read_only, workspace


@dataclass(frozen=True, eq=False)
class OwnPredictions:
    """Predictions by trial of models that were trained elsewhere, and the fingerprint of their files."""

    fingerprint: str
    table: PredictionTable

    @property
    def identity(self) -> str:
        """The files say all that they hold."""
        return self.fingerprint


@dataclass(frozen=True, eq=False)
class OwnModels:
    """Models that were trained elsewhere: the fingerprint of their predictions, and the trials that these make."""

    fingerprint: str
    trials: pd.DataFrame

    @property
    def identity(self) -> str:
        """Which trials predictions make follows from the plan, and so from the run beside which they are shown."""
        return self.fingerprint


@cache.result(max_entries=16)
def intervals(
    run: Run, own: OwnModels | None = None, positive: str | None = None
) -> source_robustness.AccuracyIntervals:
    """The intervals of a run as far as it has come, uploaded models beside its own; metrics of a positive class."""
    return replace(_evaluated(run, own)[0], metrics=metrics_on_sources(trials(run, own), positive=positive))


def comparisons(run: Run, own: OwnModels | None = None) -> tuple[source_robustness.ModelComparison, ...]:
    """The models of a run, and uploaded ones, two by two."""
    return _evaluated(run, own)[1]


@cache.result(max_entries=16)
def _evaluated(
    run: Run, own: OwnModels | None
) -> tuple[source_robustness.AccuracyIntervals, tuple[source_robustness.ModelComparison, ...]]:
    """Both of one reading: every page that asks for either asks for the other."""
    rows = trials(run, own)
    design = design_beside_sources(dataset_of(run.fingerprint))
    intervals = replace(source_robustness.expected_accuracy_intervals(rows), design=design)
    return intervals, source_robustness.compare_models(rows)


def trials(run: Run, own: OwnModels | None = None) -> pd.DataFrame:
    """The rows of a run's trials and, below them, those of uploaded models."""
    if own is None:
        return workspace().rows(owner(), run.id)
    return pd.concat([workspace().rows(owner(), run.id), own.trials], ignore_index=True) if run.n_done else own.trials


@cache.result(max_entries=8)
def with_labels(upload: PredictionUpload, dataset: Dataset) -> PredictionUpload:
    """Predictions by trial with the labels of a data set beside them, where they hold none."""
    return plans.with_labels(upload, dataset)


@cache.task(max_entries=16)
def own_trials(own: OwnPredictions, plan: plans.TrialPlan, dataset: Dataset) -> background.Work[pd.DataFrame]:
    """The trials of predictions on the drawn splits of a data set; they are the same whatever models the plan names."""

    def find(_step: Callable[[], None]) -> pd.DataFrame:
        with sources_given(plan, dataset.fingerprint):
            return plans.trials_of_predictions(plan, dataset, own.table)

    return background.Work(find)


@cache.result(max_entries=16)
def true_sources(run: Run, own: OwnModels | None = None) -> tuple[TrueSources, ...]:
    """Whether the intervals of found sources hold the accuracy on known ones, as far as a run has come."""
    return true_sources_of(trials(run, own))


@cache.result(max_entries=16)
def trained_sources(plan: plans.Plan, fingerprint: str) -> Mapping[plans.SourcesPlan, pd.DataFrame]:
    """The rows of the runs that trained for the sources that a plan draws from; none where no network finds them.

    Raises DataError where there are no such runs, or they are not done.
    """
    return found_rows(workspace(), owner(), plan, dataset_of(fingerprint))


@contextmanager
def sources_given(plan: plans.Plan, fingerprint: str) -> Iterator[None]:
    """Draw from sources that are stored, for as long as it lasts: no page ever trains for them. DataError as above."""
    with plans.sources_at_hand(fingerprint, _found(plan, fingerprint)):
        yield


@cache.result(max_entries=16)
def _found(plan: plans.Plan, fingerprint: str) -> Found:
    return {
        clustering: clusters
        for search, rows in trained_sources(plan, fingerprint).items()
        for clustering, clusters in plans.found_in(search, rows).items()
    }


def drawn(
    plan: plans.TrialPlan,
    dataset: Dataset,
    make: Callable[[plans.TrialPlan, Dataset], pd.DataFrame] = plans.splits_table,
) -> pd.DataFrame:
    """Every drawn split of a plan, row by row, or what else is made of its draws."""
    with sources_given(plan, dataset.fingerprint):
        return make(plan, dataset)


@cache.task(max_entries=8)
def agreement(plan: plans.TrialPlan, fingerprint: str) -> background.Work[SourceAgreement]:
    """How far the clusterings of a plan agree with each other; what the sources are used for makes no difference."""
    data = dataset_of(fingerprint)

    def compare(step: Callable[[], None]) -> SourceAgreement:
        with sources_given(plan, fingerprint):
            return agreement_of(plan, data, step=step)

    return background.Work(compare)


@cache.result(max_entries=32)
def source_of_each(plan: plans.TrialPlan, fingerprint: str, source_finder: str, clustering: int) -> np.ndarray:
    """The name of the source of every sample of a data set, as one clustering of a plan has it."""
    data = dataset_of(fingerprint)
    with sources_given(plan, fingerprint):
        return plan.source_names(data, source_finder)[plan.sources(data, source_finder, clustering)]


@cache.result(max_entries=16)
def same_sources(plan: plans.TrialPlan, fingerprint: str, source_finder: str) -> Mapping[Cluster, int]:
    """Which sources several clusterings of a plan found again: the same number for the same samples."""
    data = dataset_of(fingerprint)
    n_clusterings = 1 if source_finder == plans.KNOWN_SOURCES else plan.n_clusterings
    names = [source_of_each(plan, fingerprint, source_finder, clustering) for clustering in range(n_clusterings)]
    return source_robustness.same_clusters(names, np.array(data.class_names, dtype=object)[data.y].astype(str))


@cache.result(max_entries=16)
def source_images(plan: plans.TrialPlan, fingerprint: str, source_finder: str) -> np.ndarray:
    """The mean image of each source of a plan's first clustering: (n_classes, n_sources, height, width, channels)."""
    data = dataset_of(fingerprint)
    with sources_given(plan, fingerprint):
        sources = plan.sources(data, source_finder, 0)
    means = mean_images(data.x, sources, data.n_classes * plan.n_sources)
    return means.reshape(data.n_classes, plan.n_sources, *data.x.shape[1:])


@cache.result(max_entries=32)
def silhouettes(plan: plans.TrialPlan, fingerprint: str, source_finder: str) -> Silhouettes:
    """How well the sources of a plan's first clustering stand apart."""
    with sources_given(plan, fingerprint):
        return plan.silhouettes(dataset_of(fingerprint), source_finder, 0)


def plan_of(run: Run) -> plans.TrialPlan:
    """The plan of a run of trials."""
    plan = load_plan(run.plan)
    if not isinstance(plan, plans.TrialPlan):
        raise TypeError(f"a plan of kind {plan.kind!r} has no sources")
    return plan


# What has to be known of sources that networks found? That some are not what was asked for, or that they are gone.


def has_sources(plan: plans.Plan, fingerprint: str) -> bool:
    """Whether the sources that a plan draws from are at hand; always so where no network finds them."""
    try:
        trained_sources(plan, fingerprint)
    except DataError:
        return False
    return True


def source_notes(run: Run) -> None:
    """Say where a finder fell back on another one or needed several tries; offer to find again what is gone."""
    plan = load_plan(run.plan)
    for note in run.provenance.get("source_notes", []):
        st.warning(page.plain(note), icon=":material/science:")
    if not has_sources(plan, run.fingerprint):
        if run.state != "running":
            _gone(plan, run.fingerprint)
    elif found_otherwise(run, trained_sources(plan, run.fingerprint)):
        st.warning(
            "The sources were computed again and differ from those of these trials. Where sources are shown, "
            "they are the new ones. To repair this, delete the run and start it again.",
            icon=":material/sync_problem:",
        )


def _gone(plan: plans.Plan, fingerprint: str) -> None:
    """The results stand, what draws on the sources themselves does not."""
    dataset = dataset_of(fingerprint)
    needed = plans.needed_by(plan, dataset)
    titles = listed([SOURCE_FINDERS[search.finder].title for search in needed])
    st.info(
        f"The sources of {page.plain(titles)} were deleted, so they cannot be shown or compared. Results that used "
        f"them remain valid.",
        icon=":material/delete_sweep:",
    )
    for search in needed:
        run = workspace().find_run(owner(), search, fingerprint)
        if run is not None and run.state != "done":
            jobs.follow(run, jobs.progress)
        elif run is None and not read_only():
            label = f"Compute those of {SOURCE_FINDERS[search.finder].title} again"
            st.button(label, key=f"find-{search.finder}", on_click=page.or_toast(jobs.start), args=(search, dataset))


# How does a page show clouds without groups? Progress while they come, then their gaps; and the claims for words.


def cloud_plan(plan: plans.TrialPlan | AdequacyPlan, source_finder: str) -> parametric_null.ParametricNullPlan | None:
    """The clouds beside a plan; None where sources are known or a network found them."""
    return parametric_null.clouds_plan(plan.trial_plan if isinstance(plan, AdequacyPlan) else plan, source_finder)


def cloud_plans(plan: plans.TrialPlan | AdequacyPlan) -> list[parametric_null.ParametricNullPlan]:
    """The clouds beside each of its source finders that clusters."""
    beside = [cloud_plan(plan, finder) for finder in plan.source_finders]
    return [clouds for clouds in beside if clouds is not None]


def cloud_runs(plan: object, fingerprint: str) -> tuple[tuple[str, Run], ...]:
    """The runs of the clouds beside a plan that have come to something, each with its source finder."""
    beside = cloud_plans(plan) if isinstance(plan, plans.TrialPlan | AdequacyPlan) else ()
    runs = ((clouds.source_finder, workspace().find_run(owner(), clouds, fingerprint)) for clouds in beside)
    return tuple((finder, run) for finder, run in runs if run is not None and run.n_done)


def cloud_claims(runs: Iterable[tuple[str, Run]]) -> dict[str, Claim]:
    """What such runs tell so far, by source finder."""
    return {finder: cloud_gaps(run).claim for finder, run in runs}


@cache.result(max_entries=16)
def cloud_gaps(run: Run) -> parametric_null.CloudGaps:
    """The gaps of the data and of all clouds that are finished."""
    return parametric_null.cloud_gaps(workspace().rows(owner(), run.id))


def cloud_parameters(plan: parametric_null.ParametricNullPlan) -> dict[str, list[str]] | None:
    """The parameters of the address that lead to usual trials with clusters found like these."""
    return plan_parameters(
        plans.TrialPlan(
            source_finders=(plan.source_finder,),
            n_sources=plan.n_sources,
            representation=plan.representation,
            test_share=plan.test_share,
            seed=plan.seed,
        )
    )


def show_clouds(plan: parametric_null.ParametricNullPlan | None, dataset: Dataset) -> None:
    """Where the clouds stand: a button that draws them, their progress, or their gaps; nothing where there are none."""
    if plan is None:
        return
    run = workspace().find_run(owner(), plan, dataset.fingerprint)
    if run is None:
        _offer_clouds(plan, dataset)
        return
    if run.state != "done":
        st.caption("Held-out clusters are compared with those of simulated data without groups.")
        jobs.follow(run, jobs.progress)
        return
    with st.expander("Would data without groups look the same?"):
        answer.table(gap_table(cloud_gaps(run), dataset.n_samples))


def _offer_clouds(plan: parametric_null.ParametricNullPlan, dataset: Dataset) -> None:
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


# Which sources are the right ones? Finders are laid side by side, sources as pictures, and known ones test the found.


def has_several_finders(run: Run) -> bool:
    """Whether a run that has ended has the sources of several finders."""
    plan, ended = plan_of(run), run.state != "running"
    return ended and len(plan.source_finders) > 1 and has_sources(plan, run.fingerprint)


def show_agreement(run: Run) -> None:
    """How far the sources of several finders stand apart, and how far the finders agree."""
    agreement = background.answer(_agreement(run), "Comparing the clusterings", key="agreement")
    if agreement is None:
        return
    chart, words = st.columns(2, gap="medium")
    with chart:
        page.draw(report.agreement_figure(agreement))
    with words:
        st.markdown("\n".join(f"- {page.plain(_sentence(pair.sentence(IN_SENTENCES)))}" for pair in agreement.finders))
        plan = plan_of(run)
        with st.spinner("Measuring how well the sources are separated"):
            by_finder = {finder: silhouettes(plan, run.fingerprint, finder) for finder in plan.source_finders}
        answer.table(report.silhouette_table(by_finder))
    answer.table(report.agreement_table(agreement))


def agreement_tables(run: Run) -> dict[str, Callable[[], pd.DataFrame]]:
    """What can be taken away of it."""
    if not has_several_finders(run):
        return {}
    work = _agreement(run)
    known = work.future.done() and work.future.exception() is None
    return {"Agreement": work.future.result().pair_table} if known else {}


def pictured_finders(run: Run) -> tuple[str, ...]:
    """The finders whose sources have pictures; none but of images."""
    plan = load_plan(run.plan)
    if not isinstance(plan, plans.TrialPlan) or dataset_of(run.fingerprint).kind != "image":
        return ()
    finders = tuple(finder for finder in plan.source_finders if finder != plans.KNOWN_SOURCES)
    return finders if has_sources(plan, run.fingerprint) else ()


def show_pictures(run: Run) -> None:
    """The mean image of each source, a sheet for each finder (the paper's figures 1 and 2)."""
    plan, dataset = plan_of(run), dataset_of(run.fingerprint)
    finders = pictured_finders(run)
    with st.spinner("Looking at the sources"), st.container(horizontal=True, gap="medium"):
        for finder in finders:
            name = IN_SENTENCES.get(finder, finder)
            with st.container(width="content", gap="xsmall"):
                st.markdown(f"**{page.plain(name[:1].upper() + name[1:])}**")
                page.sheet(
                    partial(
                        figures.mean_image_sheet,
                        source_images(plan, run.fingerprint, finder),
                        class_names=dataset.class_names,
                        finder=name,
                    ),
                    key=f"mean-images-{finder}",
                )
    st.caption(
        "The mean image of each source, a row for each class (figures 1 and 2 of the paper). Different pictures in "
        "a row mean different sources; a row of equal pictures suggests that its sources are chance."
        + figures.left_out(dataset.n_classes, plan.n_sources)
        + (" Of the first clustering." if plan.n_clusterings > 1 else "")
    )


def known_sources(run: Run, own: OwnModels | None) -> tuple[TrueSources, ...]:
    """What known sources tell of the intervals from found ones; nothing where a run does not have both."""
    finders = plan_of(run).source_finders
    return true_sources(run, own) if len(finders) > 1 and plans.KNOWN_SOURCES in finders else ()


def _agreement(run: Run) -> background.Task[SourceAgreement]:
    """The agreement of a run's clusterings, the same for all that sources can be used for."""
    plan = replace(plan_of(run), models=plans.TrialPlan.models, schemes=plans.TrialPlan.schemes)
    return agreement(plan, run.fingerprint)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] if text.startswith("clusterings") else text
