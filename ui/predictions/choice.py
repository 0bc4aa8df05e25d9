"""Which test sets are looked at? Those that the address names by fingerprint, and never others.

Each stands in a card of its own: empty (with the place for a file), as a draft (its columns to confirm), or in use.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from touchstone.core.data import DataError, PredictionTable
from touchstone.core.data.predictions.record import ALL, OTHERS, Part, PredictionPairs, Predictions, choices_of
from touchstone.core.data.predictions.shapes import PREDICTION_ENDINGS, read_prediction_table
from touchstone.core.data.predictions.upload import PredictionUpload
from touchstone.core.data.tables.table import Table
from touchstone.core.evaluate.matched_subsets import smaller_reference
from touchstone.core.evaluate.matched_subsets.plan import TwoSets
from touchstone.core.evaluate.weak_slices import OneFile
from touchstone.core.evaluate.wording import percent, plural
from touchstone.core.models.example_predictions import PREDICTION_EXAMPLES, example_predictions
from touchstone.core.workspace import WorkspaceError
from touchstone.core.workspace.records import StoredPredictions
from touchstone.ui import cache
from touchstone.ui.forms.controls import One, check_address, choice_line
from touchstone.ui.predictions import models as stored_models
from touchstone.ui.predictions import upload as prediction_upload
from touchstone.ui.shell import background, page
from touchstone.ui.shell.session import hold, owner, read_only, workspace

GONE = (
    "The predictions in this address were deleted, or belong to somebody else. No result is shown. Upload the file "
    "again, or choose others."
)
SWAP = "Make the larger set the reference: new samples stay unmatched once all reference samples are used."
PART_HELP = {
    "set": None,
    "fold": "All folds together, or one of them. If both sides use the same file: one fold against all others.",
    "source": "All sources together, or one of them. If both sides use the same file: one source against all others.",
    "trial": "Only one trial: with several, a sample would count more than once and intervals would be too narrow.",
}
OF_TRIALS = "All trainings together are a recipe, in which each sample counts once; or one training."
PARTS = tuple(f"{side}_{what}" for side in ("reference", "target") for what in PART_HELP)
FURTHER = "further"
"""The parameter of the address that names further files of models on the same samples, by fingerprint."""
DEPENDENT = (*PARTS, "task", "model", "slice")
"""Parameters of the address that mean nothing any more when a file is exchanged."""


@dataclass(frozen=True)
class Side:
    """One of the two sets; `key` is its parameter of the address."""

    key: str
    title: str
    hint: str
    preposition: str = "on"
    """What predictions are to it: on a set, of a model."""
    same_samples: bool = False
    """Whether both are of the same samples: usual are all of them, in every trial."""
    is_only: bool = False
    """Whether there is no other."""


REFERENCE = Side("reference", "Reference set", "the test set whose accuracy you know")
TARGET = Side("target", "New set", "the target: the test set on which accuracy may have fallen")
SIDES = (REFERENCE, TARGET)
MODELS = (
    Side("reference", "Reference model", "the model that you have", "of", same_samples=True),
    Side("target", "New model", "on the same samples", "of", same_samples=True),
)
"""The same two places for files of models on the same samples."""
TEST_SET = Side(
    "target",
    "Test set",
    "predictions of a model, and columns that describe the samples",
    same_samples=True,
    is_only=True,
)
"""The one place for a file that is looked at by itself."""
_OF_MODELS = (
    "It predicts its own test set: the samples that were held out of its training, or that the data's file marks as "
    "test. A model from elsewhere without a marked test set predicts all samples, perhaps some that it was trained on."
)
_TWO_SETS = (
    "Upload the predictions of one or more models on two test sets: a file each, or one file with a column **set**. Or "
    "open the example: a small model on its own digits, and on digits moved by half a pixel."
)


@dataclass(frozen=True)
class _Named:
    """Predictions that the address names by their fingerprint, with what they are called."""

    address: str
    title: str
    table: PredictionTable


@dataclass(frozen=True)
class Chosen(_Named):
    """Predictions in use: `place` is where the card says more about what is chosen."""

    place: DeltaGenerator


def titles() -> dict[str, str]:
    """All predictions that can be chosen, by address: the examples by name until they were used once."""
    stored = workspace().prediction_files(owner())
    newest = {file.example: file.fingerprint for file in reversed(stored) if file.example}
    examples = {newest.get(name, name): example.title for name, example in PREDICTION_EXAMPLES.items()}
    return examples | {file.fingerprint: _title(file, stored) for file in stored if file.fingerprint not in examples}


def stored_titles() -> dict[str, str]:
    """The predictions that are stored, by fingerprint, the newest first."""
    known = titles()
    return {file.fingerprint: known[file.fingerprint] for file in workspace().prediction_files(owner())}


def _title(file: StoredPredictions, stored: Sequence[StoredPredictions]) -> str:
    if file.example is None and sum(other.name == file.name for other in stored) == 1:
        return file.name
    name = PREDICTION_EXAMPLES[file.example].title if file.example in PREDICTION_EXAMPLES else file.name
    return f"{name} ({datetime.fromtimestamp(file.created, UTC):%d %b %Y, %H:%M})"


def names(parameters: Mapping[str, str], titles: Mapping[str, str] | None = None) -> str:
    """One or two sets in a line, of the parameters that lead to them: their titles, and what is chosen of them.

    What somebody has just deleted goes by its fingerprint.
    """
    titles, sides = stored_titles() if titles is None else titles, []
    for side in (side for side in (TARGET, REFERENCE) if side.key in parameters):
        parts = [parameters[part] for part in PARTS if part.startswith(side.key) and parameters.get(part, ALL) != ALL]
        sides.append(" · ".join([titles.get(parameters[side.key], parameters[side.key][:12]), *parts]))
    further = list(filter(None, parameters.get(FURTHER, "").split(",")))
    more = f", and {plural(len(further), 'other')}" if further else ""
    return " against ".join(sides) + more


def use_examples(reference: str = "digits_own", target: str = "digits_shifted") -> None:
    """Compare two examples, by default a model's own test set with a changed one (a callback for buttons)."""
    _choose(REFERENCE, reference)
    use_example(target)


def use_example(target: str) -> None:
    """Choose one example (a callback for buttons)."""
    _choose(TARGET, target)


def begin(sentence: str = _TWO_SETS, on_click: Callable[..., object] = use_examples) -> None:
    """What stands below cards that are not both filled: a way to see a result at once, and files to try.

    Nothing where nothing can be brought.
    """
    if read_only():
        return
    if not any(st.session_state.get(f"{kind}-{side.key}") for side in SIDES for kind in ("draft", "chosen")):
        page.empty(sentence, button="Show the example", on_click=on_click)
    prediction_upload.blank_files()


def cards(sides: tuple[Side, ...] = SIDES) -> dict[str, Chosen | None]:
    """Cards side by side, and what is chosen in them."""
    named, chosen = {side: _asked(side) or _named(side) for side in sides}, {}
    there = {side: card for side, card in named.items() if isinstance(card, _Named)}
    place = st.container()
    if len(there) == len(sides):
        last, *others = [f"{side.title} **{page.plain(card.title)}**" for side, card in reversed(there.items())]
        line = " against ".join([last, *(f"{title[0].lower()}{title[1:]}" for title in others)])
        place = choice_line(line, key="sets", chosen="-".join(card.address[:12] for card in there.values()))
    with place:
        for side, column in zip(sides, st.columns(len(sides), gap="small"), strict=True):
            with column, st.container(border=True, height="stretch", key=f"card-{side.key}", gap="small"):
                chosen[side.key] = _card(side, named[side])
    return chosen


def two_sets(chosen: dict[str, Chosen], sides: tuple[Side, Side] = SIDES) -> TwoSets:
    """What the cards say and, of files of several sets, folds, sources, trials or tasks, the controls below them."""
    reference, target = chosen["reference"], chosen["target"]
    parts = {side.key: _part_controls(side, reference, target) for side in sides}
    tasks = _task_control(reference, target)
    controls = [*parts["reference"].values(), *parts["target"].values(), *tasks]
    check_address([*controls, *_not_there({control.key for control in controls})])
    drawn: dict[str, Part] = {}
    further = _further_control(reference, target) if sides[0].same_samples else ()
    if any(parts.values()) or tasks:
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            for side, controls in parts.items():
                drawn[side] = Part(**{what: control.draw() for what, control in controls.items()})
            task = [control.draw() for control in tasks]
        known = TwoSets(reference.address, target.address, drawn["reference"], drawn["target"], *task)
        return replace(known, further=further)
    return TwoSets(reference.address, target.address, further=further)


def one_file(chosen: Chosen, side: Side = TEST_SET) -> OneFile:
    """What the card says and, of a file of several sets, folds, tasks or models, say, the controls below it."""
    parts, tasks = _part_controls(side, chosen, chosen), _task_control(chosen, chosen)
    models = chosen.table.models
    several = [One("model", "Model", {name: name for name in models}, models[0])] if len(models) > 1 else []
    controls = [*parts.values(), *tasks, *several]
    check_address([*controls, *_not_there({control.key for control in controls})])
    if not controls:
        return OneFile(chosen.address)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        part = Part(**{what: control.draw() for what, control in parts.items()})
        further = {control.key: control.draw() for control in (*tasks, *several)}
    return OneFile(chosen.address, part, **further)


def _not_there(controls: Collection[str]) -> list[One]:
    """What the address must not name: parts and tasks for which there are no controls."""
    return [One(name, name.replace("_", " "), {}, "") for name in (*PARTS, "task") if name not in controls]


def about(
    models_of_sides: Sequence[Mapping[str, Predictions]],
    chosen: Mapping[str, Chosen | None],
    sides: tuple[Side, ...] = SIDES,
) -> None:
    """What sets hold, in their cards; what is suspicious about them stands where it is seen, cards closed."""
    for side, models in zip(sides, models_of_sides, strict=True):
        first = next(iter(models.values()))
        sure = "no confidence" if first.confidence is None else "confidence known"
        held = [plural(first.n_samples, "sample"), plural(first.n_classes, "class", "classes"), sure]
        held += [plural(len(models), "model") if len(models) > 1 else f"accuracy {percent(first.accuracy)}"]
        card = chosen[side.key]
        assert card is not None
        card.place.caption(page.plain(" · ".join(held)))
        for warning in dict.fromkeys(text for each in models.values() for text in each.warnings):
            st.warning(f"{side.title}: {page.plain(warning)}", icon=":material/warning:")


def larger_first(pairs: PredictionPairs) -> None:
    """Where the new set is the larger one and something is matched: what that does to it, and the way to turn it."""
    if not pairs.can_match:
        return
    model = pairs.models[0]
    advice = smaller_reference(pairs.references[model].n_samples, pairs.targets[model].n_samples)
    if advice:
        with st.container(border=True, horizontal=True, vertical_alignment="center", key="larger-new-set"):
            st.markdown(f":material/info: {page.plain(advice)}", width="stretch")
            if not read_only():
                st.button("Make the larger set the reference", key="larger-first", on_click=_swap)


def _part_controls(side: Side, reference: Chosen, target: Chosen) -> dict[str, One]:
    """A control per thing that one file tells apart; of one file on both sides, usual are parts that share no row."""
    one_file = reference.address == target.address and not side.same_samples
    parts = choices((reference if side.key == REFERENCE.key else target).address)
    usual: dict[str, str] = {}
    if "set" in parts:
        sets = parts["set"]
        taken = st.query_params.get("reference_set") or sets[0]
        usual["set"] = next(name for name in sets if name != taken) if one_file and side.key == TARGET.key else sets[0]
    divided = next((group for group in ("fold", "source") if group in parts), None)
    if one_file and "set" not in parts and divided is not None:
        usual[divided] = OTHERS if side.key == REFERENCE.key else parts[divided][0]
    controls = {}
    for what, names in parts.items():
        others = [OTHERS] * (one_file and what != "trial")
        offered = names if what == "set" else [ALL, *others, *names]
        one_trial = what == "trial" and not side.same_samples
        default = usual.get(what, names[0] if one_trial else ALL)
        title = side.title if what == "set" else f"{side.title}: {what}"
        parameter = f"{side.key}_{what}"
        controls[what] = One(
            parameter,
            title,
            {name: name for name in offered},
            default,
            PART_HELP[what] if one_trial or what != "trial" else OF_TRIALS,
        )
    return controls


def _task_control(reference: Chosen, target: Chosen) -> list[One]:
    tasks = [task for task in reference.table.tasks if task in target.table.tasks or not target.table.tasks]
    tasks = tasks or list(target.table.tasks)
    return [One("task", "Task", {task: task for task in tasks}, tasks[0])] if len(tasks) > 1 else []


def _further_control(reference: Chosen, target: Chosen) -> tuple[str, ...]:
    """Further stored files, where there are any beside both; at first those that the address names."""
    offered = {
        name: title for name, title in stored_titles().items() if name not in (reference.address, target.address)
    }
    asked = [name for name in st.query_params.get(FURTHER, "").split(",") if name]
    if any(name not in offered and name not in (reference.address, target.address) for name in asked):
        raise DataError(GONE)
    if not offered:
        return ()
    if FURTHER not in st.session_state:
        st.session_state[FURTHER] = [name for name in asked if name in offered]
    st.session_state[FURTHER] = [name for name in st.session_state[FURTHER] if name in offered]
    further = st.multiselect(
        "Further models",
        list(offered),
        format_func=offered.__getitem__,
        key=FURTHER,
        placeholder="Other files on the same samples",
        disabled=read_only(),
    )
    hold(FURTHER, ",".join(further) or None)
    return tuple(further)


def _card(side: Side, named: _Named | Callable[[], object] | None) -> Chosen | None:
    st.markdown(f"**{side.title}**  :gray[{side.hint}]")
    if isinstance(named, _Named):
        return _in_use(side, named)
    upload = _upload(side)
    if upload is not None:
        _draft(side, upload)
        return None
    if named is not None:
        named()
    if not read_only() and st.session_state.get(f"asked-{side.key}") is None:
        _empty(side)
    return None


def _asked(side: Side) -> Callable[[], object] | None:
    """A stored model that somebody chose for a side: it predicts, and its predictions are used; None where none was."""
    asked = st.session_state.get(f"asked-{side.key}")
    if asked is None or read_only():
        return None
    model = stored_models.stored().get(asked)
    if model is None:  # deleted meanwhile
        _ask(side, None)
        return None

    def wait() -> None:
        try:
            upload = background.answer(stored_models.predictions(model), "Asking the model", key=f"asked-{side.key}")
        except (DataError, WorkspaceError) as problem:
            _ask(side, None)
            page.error(problem)
            return
        if upload is not None:
            _ask(side, None)
            _use(side, upload)
            st.rerun()

    return wait


def _ask(side: Side, model: str | None) -> None:
    st.session_state[f"asked-{side.key}"] = model


def _upload(side: Side) -> PredictionUpload | None:
    """The file whose columns are still to be confirmed."""
    return None if read_only() else st.session_state.get(f"draft-{side.key}")


def _named(side: Side) -> _Named | Callable[[], object] | None:
    """What the address (or else this session) names for a side, or what draws why that is nothing; None without one."""
    address = st.query_params.get(side.key) or st.session_state.get(f"chosen-{side.key}")
    if not address or _upload(side) is not None:
        return None
    known = titles()
    stored = {
        file.example: file.fingerprint for file in reversed(workspace().prediction_files(owner())) if file.example
    }
    try:
        if address in PREDICTION_EXAMPLES:
            if address not in stored:
                with st.spinner("Training the example's model"):
                    upload = example_predictions(address)
                    workspace().add_predictions(owner(), upload, example=address)
                    address, known = upload.fingerprint, titles()
            else:
                address = stored[address]
        if address not in known:
            return partial(st.error, GONE, title="These predictions are not here", icon=":material/link_off:")
        with st.spinner("Reading"):
            table = table_of(address)
    except (DataError, WorkspaceError) as problem:
        return partial(page.error, problem)
    _remember(side, address)
    return _Named(address, known[address], table)


def _empty(side: Side) -> None:
    kinds = [ending[1:] for ending in PREDICTION_ENDINGS]
    label = f"Predictions {side.preposition} the {side.title.lower()}"
    key = f"predictions-{side.key}-{st.session_state.setdefault(f'round-{side.key}', 0)}"
    file = st.file_uploader(label, type=kinds, key=key, help=prediction_upload.FORMATS)
    if file is not None:  # not a callback: one that comes while the page is being drawn can be lost
        try:
            _keep(side, PredictionUpload(prediction_upload.given(file)))
            st.rerun()
        except DataError as problem:
            page.error(problem)
    earlier(side.key, titles(), partial(_choose, side), "Choose an example or an earlier file")
    known = stored_models.titles()
    if known:
        label = "or a stored model"
        earlier(f"model-{side.key}", known, partial(_ask, side), "Choose a model", label=label, help=_OF_MODELS)


def earlier(
    key: str,
    known: Mapping[str, str],
    choose: Callable[[str], object],
    placeholder: str,
    *,
    label: str = "or predictions that are already stored",
    help: str | None = None,
) -> None:
    """The control that takes what is here already, by address, predictions if nothing else; `choose` is told which."""
    chosen = f"stored-{key}"
    st.selectbox(
        label,
        list(known),
        index=None,
        format_func=known.__getitem__,
        key=chosen,
        placeholder=placeholder,
        help=help,
        on_change=lambda: choose(st.session_state[chosen]),
    )


def _draft(side: Side, upload: PredictionUpload) -> None:
    complete = prediction_upload.draft(upload, key=side.key, keep=partial(_keep, side))
    with st.container(horizontal=True):
        if complete is not None:
            label = f"Use as {side.title.lower()}"
            st.button(label, type="primary", key=f"use-{side.key}", on_click=_use, args=(side, complete))
        st.button("Discard", key=f"discard-{side.key}", on_click=_keep, args=(side, None))


def _in_use(side: Side, named: _Named) -> Chosen:
    address, title, table = named.address, named.title, named.table
    st.markdown(f"**{page.plain(title)}**")
    place = st.empty()
    with place.container(gap="small"):
        prediction_upload.warnings_of(table)
    with st.expander("How the columns were read", type="compact"):
        prediction_upload.role_lines(table)
        with st.container(horizontal=True, vertical_alignment="center"):
            if not read_only():
                st.button(
                    "Correct",
                    key=f"correct-{side.key}",
                    on_click=_reopen,
                    args=(side, address),
                    icon=":material/edit:",
                    type="tertiary",
                )
            prediction_upload.roles_download(table, key=side.key)
    if not read_only():
        _exchange(side, address, title)
    return Chosen(address, title, table, place)


def _exchange(side: Side, address: str, title: str) -> None:
    """The ways to compare something else, and to have predictions gone."""
    with st.container(horizontal=True):
        another = {"on_click": _choose, "args": (side, None), "icon": ":material/folder_open:", "type": "tertiary"}
        st.button("Choose another", key=f"another-{side.key}", **another)
        delete_button(side.key, address, title)
        if side.key == TARGET.key and not side.is_only:
            st.button(
                "Swap the two", key="swap", on_click=_swap, icon=":material/swap_horiz:", type="tertiary", help=SWAP
            )


def delete_button(key: str, address: str, title: str) -> None:
    """The button that asks whether stored predictions shall go, and lets them."""
    if st.button("Delete", key=f"delete-{key}", icon=":material/delete:", type="tertiary"):
        _delete(address, title)


@st.dialog("Delete these predictions?")
def _delete(address: str, title: str) -> None:
    st.markdown(
        f"**{page.plain(title)}** is deleted for good, and every address that names it will say so. Your own file "
        f"is not touched."
    )
    page.delete_or_keep(lambda: workspace().delete_predictions(owner(), address))


@page.or_toast
def _use(side: Side, upload: PredictionUpload) -> None:
    address = workspace().add_predictions(owner(), upload)
    _keep(side, None)
    _choose(side, address)
    other = TARGET if side.key == REFERENCE.key else REFERENCE
    if not side.is_only and not _in_address(other) and {"set", "fold"} & choices_of(uploaded(upload)).keys():
        _choose(other, address)


@page.or_toast
def _reopen(side: Side, address: str) -> None:
    _keep(side, workspace().predictions(owner(), address))


def _swap() -> None:
    addresses = [st.session_state.get(f"chosen-{side.key}") for side in SIDES]
    parts = {name: st.query_params.get(name) or st.session_state.get(name) for name in PARTS}
    for side, address in zip(SIDES, reversed(addresses), strict=True):
        _choose(side, address)
    other = {"reference": "target", "target": "reference"}
    for name, value in parts.items():
        side, what = name.split("_")
        if value:
            st.session_state[f"{other[side]}_{what}"] = value


def _keep(side: Side, upload: PredictionUpload | None) -> None:
    st.session_state[f"round-{side.key}"] = st.session_state.get(f"round-{side.key}", 0) + 1  # a new, empty control
    st.session_state[f"draft-{side.key}"] = upload


def _in_address(side: Side) -> bool:
    return bool(st.query_params.get(side.key) or st.session_state.get(f"draft-{side.key}"))


def _choose(side: Side, address: str | None) -> None:
    for name in DEPENDENT:
        st.query_params.pop(name, None)
        st.session_state.pop(name, None)
    _remember(side, address)


def _remember(side: Side, address: str | None) -> None:
    st.session_state[f"chosen-{side.key}"] = address
    hold(side.key, address)


# What is in files of predictions, uploaded or stored?


@cache.result(max_entries=4)
def columns_of(file: PredictionUpload) -> Table:
    """The columns of a file of predictions, whatever they mean."""
    return read_prediction_table(file.predictions.open())


@cache.result(max_entries=8)
def uploaded(upload: PredictionUpload) -> PredictionTable:
    """What an upload says that is not stored yet; DataError or RolesNeeded as reading raises them."""
    return upload.read()


@cache.result(max_entries=8)
def table_of(fingerprint: str) -> PredictionTable:
    """Stored predictions; one object per process and fingerprint."""
    return workspace().predictions(owner(), fingerprint).read()


@cache.result(max_entries=16)
def choices(fingerprint: str) -> dict[str, tuple[str, ...]]:
    """The sets, folds, sources and trials of stored predictions, where there are several."""
    return choices_of(table_of(fingerprint))
