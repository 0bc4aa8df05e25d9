"""What does the page ask for? A plan of trials, which row is looked at with its sources, and models of one's own."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from touchstone.core import trials as plans
from touchstone.core.cluster.finders import trains
from touchstone.core.data import DataError, Dataset
from touchstone.core.data.predictions.shapes import PREDICTION_ENDINGS
from touchstone.core.data.predictions.upload import PredictionUpload
from touchstone.core.evaluate import source_robustness
from touchstone.core.evaluate.source_robustness.held_out import noun
from touchstone.core.evaluate.wording import count, listed, percent, plural, quoted, ratio
from touchstone.core.parameters import About
from touchstone.core.report.source_robustness import Row, title
from touchstone.core.represent import REPRESENTATIONS
from touchstone.core.workspace import Run, View, WorkspaceError, load_plan
from touchstone.core.workspace.engine.executor import versions_used
from touchstone.core.workspace.records import run_key
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data.samples import dataset_of, enlarged, portrait
from touchstone.ui.forms.controls import choice_line
from touchstone.ui.forms.pick_one import choose
from touchstone.ui.forms.plan_form import plan_form, plan_parameters
from touchstone.ui.predictions import choice as prediction_choice
from touchstone.ui.predictions import upload as prediction_upload
from touchstone.ui.shell import background, downloads, page, questions, session
from touchstone.ui.source_robustness import results
from touchstone.ui.source_robustness.results import OwnModels, OwnPredictions


def trial_plan(dataset: Dataset) -> tuple[plans.TrialPlan, DeltaGenerator]:
    """The controls of a TrialPlan: the plan that they say, and the place for the button that starts it.

    Raises DataError for a choice that makes no plan.
    """
    return plan_form(plans.TrialPlan, About(dataset))


def sources_parameters(plan: plans.SourcesPlan) -> dict[str, list[str]] | None:
    """The parameters of the address that lead to usual trials with the sources of this plan."""
    n_repeats = max(plans.TrialPlan.n_repeats, plan.n_clusterings)
    return plan_parameters(
        plans.TrialPlan(
            source_finders=(plan.finder,),
            n_sources=plan.n_sources,
            n_clusterings=plan.n_clusterings,
            n_repeats=n_repeats,
            seed=plan.seed,
        )
    )


def nothing_computed(plan: plans.TrialPlan, ahead: str) -> None:
    """What stands where neither the run nor anybody else has tested a model."""
    questions.not_computed(
        plan.kind,
        f"**Run** trains {plural(len(plan.models), 'model')} on splits "
        f"that hold whole sources out and on splits that do not: {ahead}",
    )


# What do the sources of a run look like on the page? The row in question, and portraits of the hardest.


N_PORTRAITS = 6
LEADING = "leading model"
_LEADING_HELP = (
    "The model and sources of the verdict. First: a model that no other significantly beats in accuracy kept "
    "(corrected), with known sources if the data name them."
)
ROOM = 560  # pixels


def looked_at(run: Run | None, own: OwnModels | None) -> Row | None:
    """The control of what the verdict and the details are about, where there are two; None for the leading one.

    It offers all that was planned, finished or not, so that an address means the same before and after.
    """
    rows = planned(run, own)
    several = len({finder for _, finder in rows}) > 1
    titles: dict[Row | None, str] = {row: title(row, with_finder=several) for row in rows}
    if len(rows) > 1:
        titles = {None: LEADING, **titles}
    with st.container(width=ROOM):
        return choose("about", "The verdict is about", titles, help=_LEADING_HELP) if titles else None


def planned(run: Run | None, own: OwnModels | None) -> list[Row]:
    """Every model and source finder that a run has, or will have, and uploaded ones."""
    plan = None if run is None else load_plan(run.plan)
    rows = [(model, finder) for finder in plan.source_finders for model in plan.models] if plan is not None else []
    if own is not None:
        rows += list(dict.fromkeys(zip(own.trials["model"], own.trials["source_finder"], strict=True)))
    return rows


def row_of(
    rows: Sequence[source_robustness.ExpectedInterval],
    comparisons: Sequence[source_robustness.ModelComparison],
    asked: Row | None,
    own: OwnModels | None,
) -> source_robustness.ExpectedInterval | None:
    """The row that was asked for, None while it has no results.

    Somebody who brought a model along means the leading one of those.
    """
    if asked is not None:
        return next((row for row in rows if (row.model, row.source_finder) == asked), None)
    brought = [] if own is None else [row for row in rows if row.model in set(own.trials["model"])]
    return source_robustness.leading_row(brought or rows, comparisons)


def show_features(run: Run) -> None:
    """What sources were found in, where somebody chose it; and a warning where that saw the labels."""
    plan = results.plan_of(run)
    clustered = [finder for finder in plan.source_finders if finder != plans.KNOWN_SOURCES and not trains(finder)]
    if plan.representation is None or not clustered:
        return
    chosen = REPRESENTATIONS[plan.representation]
    informed = " These features were trained on the labels, so the sources do not depend on inputs alone."
    st.caption(page.plain(f"Sources were found in: {chosen.title}.{informed * chosen.label_informed}"))


def show_sources(
    run: Run, interval: source_robustness.ExpectedInterval, held_out: Sequence[source_robustness.HeldOutSource]
) -> None:
    """The sources themselves: how the worst look, how far they stand apart, and what they were found in."""
    plan = results.plan_of(run)
    if results.has_sources(plan, run.fingerprint):
        show_portraits(run, held_out)
        if len(plan.source_finders) == 1:  # else all stand side by side above
            show_separation(run, interval.source_finder)
    show_features(run)


def show_separation(run: Run, source_finder: str) -> None:
    """How well the sources stand apart, in a line."""
    with st.spinner("Measuring how well the sources are separated"):
        silhouette = results.silhouettes(results.plan_of(run), run.fingerprint, source_finder)
    used = f"n = {count(silhouette.n_used)}" + (
        f" of {count(silhouette.n_samples)}" * (silhouette.n_used < silhouette.n_samples)
    )
    st.caption(
        f"Separation of these sources: silhouette {ratio(silhouette.mean_within)} within classes (mean), "
        f"{ratio(silhouette.pooled)} pooled over all classes, {used}. 1 is well separated, 0 touching, "
        "below 0 overlapping; the paper's pooled one was .046."
    )


def show_portraits(run: Run, held_out: Sequence[source_robustness.HeldOutSource]) -> None:
    """The hardest held-out sources, each once and with its picture, words or columns."""
    if not held_out:
        return
    finder, dataset = held_out[0].source_finder, dataset_of(run.fingerprint)
    with st.spinner("Looking at the hardest"):
        hard = source_robustness.hardest(
            held_out, same=results.same_sources(results.plan_of(run), run.fingerprint, finder)
        )[:N_PORTRAITS]
        if not hard:
            return
        harder = sum(hardness.claim.decision == "above" for hardness in hard)
        known = f"{count(harder)} of them significantly" if harder else "undecided"
        st.markdown(f"**Hardest held-out {noun(finder)}s** ({known})")
        with st.grid(len(hard), min_column_width=125, border=True):
            for hardness in hard:
                with st.container(gap="xsmall"):
                    _portrait(run, dataset, hardness)
    st.caption(_CAPTIONS[dataset.kind] + _SHRUNK)


_SHRUNK = " Accuracies are shrunk towards their class mean; the 95 % intervals hold for all at once."
_CAPTIONS = {
    "image": "The mean image of each source, with the accuracy on it when it was held out.",
    "text": "The most characteristic words of each source within its class, with the accuracy when it was held out.",
    "tabular": "The columns in which each source differs most from the rest of its class, in standard deviations.",
}


def _sources_of(run: Run, source: source_robustness.HeldOutSource) -> np.ndarray:
    """The name of the source of every sample, in the clustering that a source is of."""
    return results.source_of_each(results.plan_of(run), run.fingerprint, source.source_finder, source.clustering)


def _portrait(run: Run, dataset: Dataset, hard: source_robustness.Hardness) -> None:
    source = hard.source
    mine = _sources_of(run, source) == source.source
    rest = ~mine
    if source.label is not None:
        of_class = dataset.y == dataset.class_names.index(source.label)
        mine, rest = mine & of_class, rest & of_class
    drawn = portrait(dataset, mine, rest)
    known = source.label is None or source.source_finder == plans.KNOWN_SOURCES
    name = source.source if known else f"{quoted(source.label)}, cluster {source.source}"
    if drawn.picture is not None:
        st.image(enlarged(drawn.picture), alt=f"Mean image of {name}", output_format="PNG")
    st.markdown(f"**{page.plain(name)}**")
    if drawn.words:
        st.markdown(page.plain(drawn.words))
    accuracy = percent(hard.shrunk, hard.interval)
    st.caption(f"{page.plain(accuracy)}  \nn = {count(source.n)}, {plural(source.n_repeats, 'repeat')}")


# How does a model that Touchstone never saw get its interval? Its predictions on the drawn splits come back as a
# file.
#
# They are stored before they are used, and the address names them by fingerprint. They belong to one data set:
# choosing another one puts them aside.


ADDRESS = "own"
"""The parameter of the address that names the predictions."""
GONE = (
    "The predictions in this address were deleted, or belong to somebody else. Their model is not shown. Upload "
    "the file again."
)
FORMATS = (
    "TSV, CSV, JSON, JSONL or Parquet; these may be packed with gzip. One row per trial and sample of its test "
    "part. Without a column of truth, the data set's labels are used."
)
_OF, _DRAFT, _ROUND = "own-model-of", "own-model-draft", "own-model-round"


def own_models(plan: plans.TrialPlan, dataset: Dataset) -> OwnModels | None:
    """How to bring a model along, the one that was brought, or why it cannot be shown; returns what is in use.

    Through a link there is what its owner had uploaded then, or nothing.
    """
    address = _address(dataset)
    if session.read_only():
        return _in_use(address, plan, dataset) if address is not None and session.is_fixed(ADDRESS) else None
    upload = st.session_state.get(_DRAFT)
    if upload is None and address is not None:
        return _in_use(address, plan, dataset)
    with st.expander("A model of your own", expanded=upload is not None):
        _how(plan, dataset) if upload is None else _draft(upload, plan, dataset)
    return None


def own_parameters(own: OwnModels | None) -> dict[str, list[str]]:
    """The parameter of the address that leads to these models."""
    return {} if own is None else {ADDRESS: [own.fingerprint]}


def view(plan: plans.TrialPlan, dataset: Dataset, own: OwnModels | None, run: Run | None) -> View | None:
    """What a link shows where models were uploaded: these, beside the run and the sources that were found for it.

    None where there are none, so that a link shows the run, and where no address leads to the plan. The sources of a
    run are found through the run.
    """
    led = plan_parameters(plan)
    if own is None or led is None:
        return None
    needed = plans.needed_by(plan, dataset) if run is None else ()
    rests_on = [run, *(session.workspace().find_run(session.owner(), other, dataset.fingerprint) for other in needed)]
    return View(
        "source_robustness",
        {data_choice.ADDRESS: [dataset.fingerprint]} | led | own_parameters(own),
        data_choice.required().title,
        datasets=(dataset.fingerprint,),
        predictions=(own.fingerprint,),
        runs=tuple(stored.id for stored in rests_on if stored is not None),
    )


def unstarted(plan: plans.TrialPlan, dataset: Dataset) -> Run:
    """A plan as a run none of whose trials has begun: what predictions by trial are shown with before there is one."""
    name = run_key(plan, dataset.fingerprint)
    return Run(
        id=name,
        key=name,
        kind=plan.kind,
        plan=plans.to_json(plan),
        fingerprint=dataset.fingerprint,
        dataset_name=dataset.name,
        state="queued",
        n_trials=plan.n_trials(dataset),
        n_done=0,
        n_failed=0,
        created=time.time(),
        started=None,
        finished=None,
        seconds_left=None,
        cancelling=False,
        provenance={"versions": versions_used()},
        errors=(),
    )


def _address(dataset: Dataset) -> str | None:
    """The predictions that the address (or else this session) names for this data set."""
    data, remembered = st.session_state.get(_OF, (None, None))
    if data not in (None, dataset.fingerprint):
        _remember(None, None)
        st.session_state.pop(_DRAFT, None)
        return None
    address = st.query_params.get(ADDRESS) or remembered
    _remember(dataset, address)
    return address


def _remember(dataset: Dataset | None, address: str | None) -> None:
    if dataset is None or address is None:
        st.session_state.pop(_OF, None)
    else:
        st.session_state[_OF] = (dataset.fingerprint, address)
    session.hold(ADDRESS, None if dataset is None else address)


def _how(plan: plans.TrialPlan, dataset: Dataset) -> None:
    """The two steps, and files to fill in and to try."""
    n_draws = plural(len(plan.draws(dataset)), "trial")
    st.markdown("Test a model that you train elsewhere on the splits of this page: upload its predictions.")
    if not results.has_sources(plan, dataset.fingerprint):
        st.markdown("The sources are not computed yet. Press **Run**; then the splits can be downloaded here.")
        return
    st.markdown(
        f"**1. Download the splits** of all {n_draws}. For each `trial`, train the model on the rows whose `part` is "
        "*train*, and predict those whose `part` is *test*; `id` names the sample."
    )
    stem = f"touchstone-splits-{dataset.name}"
    downloads.here({"Splits": lambda: results.drawn(plan, dataset)}, stem=stem)
    st.markdown(
        "**2. Upload its predictions**, a row per trial and sample: `trial`, `id` and `predicted`, or a probability "
        "per class. Several models stand in a column `model`, or in a column each. Trials may be missing."
    )
    kinds = [ending[1:] for ending in PREDICTION_ENDINGS]
    key = f"own-model-file-{st.session_state.get(_ROUND, 0)}"
    file = st.file_uploader("Predictions by trial", type=kinds, key=key, help=FORMATS)
    if file is not None:  # not a callback: one that comes while the page is being drawn can be lost
        try:
            _keep(PredictionUpload(prediction_upload.given(file)))
            st.rerun()
        except DataError as problem:
            page.error(problem)
    st.caption("A file to fill in, and one of a made-up model to try:")
    files = {"Rows to predict": plans.rows_to_predict, "Sample predictions": plans.sample_predictions}
    downloads.here(
        {name: lambda make=make: results.drawn(plan, dataset, make) for name, make in files.items()},
        stem="touchstone",
    )


def _draft(upload: PredictionUpload, plan: plans.TrialPlan, dataset: Dataset) -> None:
    """A file that is not in use yet: its columns to confirm, and whether it fits the splits."""
    with suppress(DataError):  # the draft says what is wrong with the file
        upload = results.with_labels(upload, dataset)
    complete = prediction_upload.draft(upload, key="own", keep=_keep, truth_offered=False)
    own = None
    if complete is not None:
        try:
            own = _count(complete.fingerprint, plan, dataset, upload=complete)
        except DataError as problem:
            page.error(problem)
    with st.container(horizontal=True):
        if complete is not None and own is not None:
            st.button("Use these predictions", type="primary", key="own-use", on_click=_use, args=(complete, dataset))
        st.button("Discard", key="own-discard", on_click=_keep, args=(None,))


def _in_use(address: str, plan: plans.TrialPlan, dataset: Dataset) -> OwnModels | None:
    """Predictions that the address names: what they hold, or why they are not shown."""
    stored = {file.fingerprint: file for file in session.workspace().prediction_files(session.owner())}
    if address not in stored:
        st.error(GONE, title="These predictions are not here", icon=":material/link_off:")
        _buttons(None)
        return None
    place = choice_line(f"A model of your own **{page.plain(stored[address].name)}**", key="own-model", chosen=address)
    try:
        own = _count(address, plan, dataset, place=place)
    except (DataError, WorkspaceError) as problem:
        page.error(problem)
        own = None
    if session.read_only():
        return own
    with place:
        with suppress(DataError, WorkspaceError):
            table = prediction_choice.table_of(address)
            prediction_upload.role_lines(table)
            prediction_upload.roles_download(table, key="own")
        _buttons(address)
    return own


def _buttons(address: str | None) -> None:
    with st.container(horizontal=True):
        if address is not None:
            quiet = {"icon": ":material/edit:", "type": "tertiary"}
            st.button("Correct the columns", key="own-correct", on_click=_reopen, args=(address,), **quiet)
        st.button(
            "Remove", key="own-remove", on_click=_remember, args=(None, None), icon=":material/close:", type="tertiary"
        )


def _count(
    address: str,
    plan: plans.TrialPlan,
    dataset: Dataset,
    *,
    upload: PredictionUpload | None = None,
    place: DeltaGenerator | None = None,
) -> OwnModels | None:
    """The trials of predictions, with a line in `place` that says how many there are; None while they are counted."""
    with st.spinner("Reading"):
        table = prediction_choice.table_of(address) if upload is None else prediction_choice.uploaded(upload)
    counting = results.own_trials(OwnPredictions(address, table), replace(plan, models=plans.TrialPlan.models), dataset)
    trials = background.answer(counting, "Finding each trial's predictions", key="own-model")
    if trials is None:
        return None
    n_draws = plural(len(plan.draws(dataset)), "trial")
    given = [f"{model}: {count(n)} of {n_draws}" for model, n in plans.trials_given(trials).items()]
    (place or st).caption(page.plain(f"{listed(given, most=8)} · predictions {address[:12]}"))
    return OwnModels(address, trials)


@page.or_toast
def _use(upload: PredictionUpload, dataset: Dataset) -> None:
    address = session.workspace().add_predictions(session.owner(), upload)
    _keep(None)
    _remember(dataset, address)


@page.or_toast
def _reopen(address: str) -> None:
    _keep(session.workspace().predictions(session.owner(), address))


def _keep(upload: PredictionUpload | None) -> None:
    """Make this the file in question; the data set's labels are joined anew when it is read."""
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1  # a new, empty control
    st.session_state[_DRAFT] = None if upload is None else replace(upload, truth=None)
