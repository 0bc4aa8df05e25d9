"""How do predictions that were made on folds elsewhere get in? Two files for each scheme, stored before they are used.

The files are the notebooks' own: predictions (id, gold, predicted) and, beside them, the folds (ids,
clustering_labels); the address names what is in use by fingerprint.
"""

from dataclasses import dataclass, replace
from functools import partial

import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.data.predictions.shapes import PREDICTION_ENDINGS
from touchstone.core.data.predictions.upload import PredictionUpload, folded_upload, scheme_of
from touchstone.core.evaluate.cluster_folds.performance import predicted_on
from touchstone.core.evaluate.cluster_folds.results import FoldPerformance, PredictedHeldOut
from touchstone.core.evaluate.cluster_folds.tested import predictions_on_folds
from touchstone.core.evaluate.cluster_folds.verdict import scheme_title
from touchstone.core.evaluate.wording import plural
from touchstone.core.workspace import View, WorkspaceError
from touchstone.ui.cluster_folds import results
from touchstone.ui.cluster_folds.controls import OWN, VIEW
from touchstone.ui.data import choice as data_choice
from touchstone.ui.forms.controls import choice_line
from touchstone.ui.predictions import choice as prediction_choice
from touchstone.ui.predictions import upload as prediction_upload
from touchstone.ui.shell import page, session

ASKED = (
    "Upload a model's predictions on folds, and the file that gives each sample's fold. The files of the "
    "ClusterDataSplit notebooks work unchanged."
)
GONE = (
    "The predictions in this address were deleted, or belong to somebody else. No result is shown. Upload the "
    "files again."
)


@dataclass(frozen=True)
class Slot:
    """A place for predictions; `key` is its parameter of the address."""

    key: str
    title: str
    hint: str
    has_folds: bool = True


FIRST = Slot("first", "Predictions on folds", "on folds that were made to differ")
SECOND = Slot("second", "Benchmark", "optional: the same samples on random folds")
HELD_OUT = Slot("heldout", "Held-out set", "optional: the same model on new samples", has_folds=False)
SLOTS = (FIRST, SECOND, HELD_OUT)


def cards() -> dict[str, str]:
    """The three places side by side; returns the fingerprints in use, by parameter of the address.

    A page whose address names something that is gone says so, and ends.
    """
    known = prediction_choice.stored_titles()
    chosen = {slot: _address(slot) for slot in SLOTS}
    if any(address not in known for address in chosen.values() if address):
        st.error(GONE, title="These predictions are not here", icon=":material/link_off:")
        st.button("Start with empty places", on_click=_forget_all)
        st.stop()
    shown = {slot: address for slot, address in chosen.items() if address or not session.read_only()}
    in_use = {slot: address for slot, address in chosen.items() if address}
    place = st.container()
    if in_use.keys() & {FIRST, SECOND}:
        names = (f"{slot.title} **{page.plain(known[address])}**" for slot, address in in_use.items())
        place = choice_line(" · ".join(names), key="folds", chosen="-".join(address[:7] for address in in_use.values()))
    with place, st.grid(max(1, len(shown)), min_column_width=250):
        for slot, address in shown.items():
            with st.container(border=True, height="stretch", gap="small", key=f"slot-{slot.key}"):
                st.markdown(f"**{slot.title}**  \n:gray[{slot.hint}]")
                _in_use(slot, address, known[address]) if address else _empty(slot, known)
    return {slot.key: address for slot, address in in_use.items()}


def parameters(chosen: dict[str, str]) -> dict[str, list[str]]:
    """The parameters of the address that lead to these predictions."""
    return {VIEW.key: VIEW.written(OWN)} | {key: [address] for key, address in chosen.items()}


def view(chosen: dict[str, str], folded: results.Folded) -> View:
    """What a link shows: the files, and the data set where they are of its samples."""
    known, settled, datasets = prediction_choice.stored_titles(), parameters(chosen), ()
    if folded.dataset is not None:
        datasets = (folded.dataset.fingerprint,)
        settled |= {data_choice.ADDRESS: [folded.dataset.fingerprint]}
    title = " · ".join(known.get(address, address[:12]) for address in chosen.values())
    return View("cluster_folds", settled, title, datasets=datasets, predictions=tuple(chosen.values()))


def folded(chosen: dict[str, str]) -> results.Folded:
    """The predictions in use with their folds. DataError where the files do not belong together.

    Where they are of the samples of the chosen data set, these tell what is in the folds.
    """
    with_folds = {slot.key: chosen[slot.key] for slot in (FIRST, SECOND) if slot.key in chosen}
    choice = data_choice.current()
    fingerprint = choice.stored.fingerprint if choice and choice.stored else None
    with st.spinner("Reading"):
        return results.of_files(tuple(with_folds.values()), fingerprint)


def predicted_held_out(chosen: dict[str, str], scores: FoldPerformance) -> tuple[PredictedHeldOut, ...]:
    """How the score on folds compares with that on the held-out set, where one was given."""
    if HELD_OUT.key not in chosen:
        return ()
    table = prediction_choice.table_of(chosen[HELD_OUT.key])
    held_out = {model or "": table.select(model=model) for model in (table.models or (None,))}
    return predicted_on(scores, held_out, name="the held-out set")


def _empty(slot: Slot, known: dict[str, str]) -> None:
    """The controls for the files, what their columns are, and the button that stores and uses them; or earlier ones."""
    kinds = [ending[1:] for ending in PREDICTION_ENDINGS]
    turn = st.session_state.get(f"turn-{slot.key}", 0)
    file = st.file_uploader(
        "Predictions", type=kinds, key=f"said-{slot.key}-{turn}", help="A row per sample: id, gold, predicted."
    )
    folds = None
    if slot.has_folds:
        folds = st.file_uploader(
            "Folds (datasplits or analysis file)",
            type=kinds,
            key=f"cut-{slot.key}-{turn}",
            help="ids and clustering_labels. Not needed where the predictions have a column of folds.",
        )
    if file is None:
        if known:
            prediction_choice.earlier(slot.key, known, partial(_remember, slot), "Choose an earlier file")
        return
    try:
        upload = _upload(slot, file, folds)
    except DataError as problem:
        page.error(problem)
        return
    complete = prediction_upload.draft(
        upload, key=slot.key, keep=lambda kept: _keep(slot, kept), truth_offered=False, beside="the folds"
    )
    if complete is None:
        return
    try:
        _check(slot, complete)
    except DataError as problem:
        page.error(problem)
    else:
        st.button("Use", type="primary", key=f"use-{slot.key}", on_click=_use, args=(slot, complete))


def _upload(slot: Slot, file: object, folds: object | None) -> PredictionUpload:
    """The files as one upload, read with the roles that somebody corrected."""
    given = prediction_upload.given(file)
    upload = folded_upload(given, prediction_upload.given(folds)) if folds else PredictionUpload(given)
    roles = st.session_state.get(f"roles-{slot.key}")
    if roles is None or roles[0] != upload.fingerprint:
        st.session_state.pop(f"roles-{slot.key}", None)
        st.session_state[f"given-{slot.key}"] = upload.fingerprint
        return upload
    return replace(upload, predictions=replace(given, roles=roles[1]))


def _keep(slot: Slot, kept: PredictionUpload) -> None:
    st.session_state[f"roles-{slot.key}"] = (st.session_state[f"given-{slot.key}"], kept.predictions.roles)


def _check(slot: Slot, upload: PredictionUpload) -> None:
    """DataError where the files tell no folds; a line on what they hold."""
    table = prediction_choice.uploaded(upload)
    model = table.models[0] if table.models else None
    predictions = table.select(model=model)
    if not slot.has_folds:
        st.caption(f"{plural(predictions.n_samples, 'sample')}, {plural(predictions.n_classes, 'class', 'classes')}.")
        return
    scores = predictions_on_folds({"": predictions})
    scheme = page.plain(scheme_title(scheme_of((upload.truth or upload.predictions).name)))
    n_folds = plural(len(set(scores.rows["fold"])), "fold")
    n_classes = plural(predictions.n_classes, "class", "classes")
    st.caption(f"{scheme}: {plural(predictions.n_samples, 'sample')}, {n_folds}, {n_classes}.")


def _in_use(slot: Slot, address: str, name: str) -> None:
    st.markdown(page.plain(name))
    try:
        upload = session.workspace().predictions(session.owner(), address)
    except WorkspaceError as problem:
        page.error(problem)
        return
    if upload.truth is not None:
        st.caption(f"Folds: {page.plain(upload.truth.name)}")
    if session.read_only():
        return
    st.space("stretch")
    with st.container(horizontal=True):
        another = {"icon": ":material/folder_open:", "type": "tertiary"}
        st.button("Choose another", key=f"another-{slot.key}", on_click=_remember, args=(slot, None), **another)
        prediction_choice.delete_button(slot.key, address, name)


@page.or_toast
def _use(slot: Slot, upload: PredictionUpload) -> None:
    _remember(slot, session.workspace().add_predictions(session.owner(), upload))
    st.session_state[f"turn-{slot.key}"] = st.session_state.get(f"turn-{slot.key}", 0) + 1


def _address(slot: Slot) -> str | None:
    if session.read_only() and not session.is_fixed(slot.key):
        return None
    address = st.query_params.get(slot.key) or st.session_state.get(f"chosen-{slot.key}")
    _remember(slot, address)
    return address


def _remember(slot: Slot, address: str | None) -> None:
    st.session_state[f"chosen-{slot.key}"] = address
    session.hold(slot.key, address)


def _forget_all() -> None:
    for slot in SLOTS:
        _remember(slot, None)
