"""How does a model that Touchstone never saw get its interval? Its predictions on the drawn splits come back as a file.

They are stored before they are used, and the address names them by fingerprint. They belong to one data set: choosing
another one puts them aside.
"""

import time
from contextlib import suppress
from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from touchstone import core
from touchstone.core.data import DataError, Dataset
from touchstone.core.data.predictions.shapes import PREDICTION_ENDINGS
from touchstone.core.data.predictions.upload import PredictionUpload
from touchstone.core.evaluate.wording import count, listed, plural
from touchstone.core.trials import TrialPlan, needed_by, rows_to_predict, sample_predictions, to_json, trials_given
from touchstone.core.workspace import Run, View, WorkspaceError
from touchstone.core.workspace.engine.executor import LIBRARIES
from touchstone.core.workspace.runs import run_key
from touchstone.ui.data import choice as data_choice
from touchstone.ui.forms.controls import choice_line
from touchstone.ui.forms.plan_form import plan_parameters
from touchstone.ui.predictions import choice as prediction_results
from touchstone.ui.predictions import upload as prediction_upload
from touchstone.ui.shell import background, downloads, page, session
from touchstone.ui.source_robustness import results
from touchstone.ui.source_robustness.results import OwnModels, OwnPredictions

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


def section(plan: TrialPlan, dataset: Dataset) -> OwnModels | None:
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


def parameters(own: OwnModels | None) -> dict[str, list[str]]:
    """The parameter of the address that leads to these models."""
    return {} if own is None else {ADDRESS: [own.fingerprint]}


def view(plan: TrialPlan, dataset: Dataset, own: OwnModels | None, run: Run | None) -> View | None:
    """What a link shows where models were uploaded: these, beside the run and the sources that were found for it.

    None where there are none, so that a link shows the run, and where no address leads to the plan. The sources of a
    run are found through the run.
    """
    led = plan_parameters(plan)
    if own is None or led is None:
        return None
    needed = needed_by(plan, dataset) if run is None else ()
    rests_on = [run, *(session.workspace().find_run(session.owner(), other, dataset.fingerprint) for other in needed)]
    return View(
        "source_robustness",
        {data_choice.ADDRESS: [dataset.fingerprint]} | led | parameters(own),
        data_choice.required().title,
        datasets=(dataset.fingerprint,),
        predictions=(own.fingerprint,),
        runs=tuple(stored.id for stored in rests_on if stored is not None),
    )


def unstarted(plan: TrialPlan, dataset: Dataset) -> Run:
    """A plan as a run none of whose trials has begun: what predictions by trial are shown with before there is one."""
    name = run_key(plan, dataset.fingerprint)
    return Run(
        id=name,
        key=name,
        kind=plan.kind,
        plan=to_json(plan),
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
        provenance={"versions": core.versions(*LIBRARIES)},
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


def _how(plan: TrialPlan, dataset: Dataset) -> None:
    """The two steps, and files to fill in and to try."""
    n_draws = plural(len(plan.draws(dataset)), "trial")
    st.markdown("Test a model that you train elsewhere on the splits of this page: upload its predictions.")
    if not results.stored(plan, dataset.fingerprint):
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
    files = {"Rows to predict": rows_to_predict, "Sample predictions": sample_predictions}
    downloads.here(
        {title: lambda make=make: results.drawn(plan, dataset, make) for title, make in files.items()},
        stem="touchstone",
    )


def _draft(upload: PredictionUpload, plan: TrialPlan, dataset: Dataset) -> None:
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


def _in_use(address: str, plan: TrialPlan, dataset: Dataset) -> OwnModels | None:
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
            table = prediction_results.table_of(address)
            prediction_upload.role_lines(table)
            prediction_upload.roles_download(table, key="own")
        _buttons(address)
    return own


def _buttons(address: str | None) -> None:
    with st.container(horizontal=True):
        if address is not None:
            quiet = {"icon": ":material/edit:", "type": "tertiary"}
            st.button("Correct the columns", key="own-correct", on_click=_reopen, args=(address,), **quiet)
        st.button("Remove", key="own-remove", on_click=_remove, icon=":material/close:", type="tertiary")


def _count(
    address: str,
    plan: TrialPlan,
    dataset: Dataset,
    *,
    upload: PredictionUpload | None = None,
    place: DeltaGenerator | None = None,
) -> OwnModels | None:
    """The trials of predictions, with a line in `place` that says how many there are; None while they are counted."""
    with st.spinner("Reading"):
        table = prediction_results.table_of(address) if upload is None else prediction_results.uploaded(upload)
    counting = results.own_trials(OwnPredictions(address, table), replace(plan, models=TrialPlan.models), dataset)
    trials = background.answer(counting, "Finding each trial's predictions", key="own-model")
    if trials is None:
        return None
    n_draws = plural(len(plan.draws(dataset)), "trial")
    given = [f"{model}: {count(n)} of {n_draws}" for model, n in trials_given(trials).items()]
    (place or st).caption(page.plain(f"{listed(given, most=8)} · predictions {address[:12]}"))
    return OwnModels(address, trials)


@page.or_toast
def _use(upload: PredictionUpload, dataset: Dataset) -> None:
    address = session.workspace().add_predictions(session.owner(), upload)
    _keep(None)
    _remember(dataset, address)


def _remove() -> None:
    _remember(None, None)


@page.or_toast
def _reopen(address: str) -> None:
    _keep(session.workspace().predictions(session.owner(), address))


def _keep(upload: PredictionUpload | None) -> None:
    """Make this the file in question; the data set's labels are joined anew when it is read."""
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1  # a new, empty control
    st.session_state[_DRAFT] = None if upload is None else replace(upload, truth=None)
