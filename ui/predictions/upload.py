"""How do somebody's own predictions get in? Roles are shown, one line each, corrected, confirmed; then it is stored."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePath

import streamlit as st

from touchstone.core.data import DataError, PredictionTable, Roles, RolesNeeded, guess_roles
from touchstone.core.data.predictions.guess import complete_roles
from touchstone.core.data.predictions.join import in_joined
from touchstone.core.data.predictions.roles import LINE, TIES, UNANSWERED, Part, in_words
from touchstone.core.data.predictions.shapes import PREDICTION_ENDINGS, read_prediction_table
from touchstone.core.data.predictions.upload import GivenFile, PredictionUpload, lacking, sample, template
from touchstone.core.data.tables.sources import SOURCELESS
from touchstone.core.data.tables.table import Table
from touchstone.core.evaluate.wording import plural
from touchstone.core.report.card import card_of_predictions
from touchstone.ui.predictions import choice
from touchstone.ui.shell import page, uploads

# How are the columns of a file of predictions corrected? A control per role, and for all that was decided in reading.


SINGLE = {
    "truth": ("Truth", "The true label."),
    "predicted": ("Predicted label", "The predicted label. Without it, the class with the highest score."),
    "confidence": ("Confidence", "One probability per row."),
    "vector": ("Scores in one cell", "A list of the scores of all classes."),
    "id": ("Id", "The name of each row; without it, rows are numbered."),
    "model": ("Model", "The model of a row, if there are several."),
    "set": ("Set", "The test set of a row, if there are several."),
    "fold": ("Fold", "The fold of a cross-validation."),
    "task": ("Task", "The task of a row, if there are several."),
    "source": ("Source", "The writer, site or device of a row."),
    "unit": ("Unit", "What was sampled on its own: author, patient, session. Without it, each sample."),
    "trial": ("Trial", "The training run of a row, if there are several."),
}
GAPS = {
    "unanswered": ("Rows without an answer are", UNANSWERED),
    "sourceless": ("Rows without a source are", SOURCELESS),
    "ties": ("Of classes that tie for the highest score", TIES),
}
SCORES = {"": "guessed from their values", "probabilities": "probabilities", "logits": "logits"}
MOST_CLASSES = 50
"""Names of more classes are matched in a file of roles: so many controls are no form."""
PARTS = "Models or tasks with columns of their own. Those left out are not read."


def form(
    columns: Sequence[str],
    roles: Roles,
    *,
    table: PredictionTable | None,
    question: RolesNeeded | None,
    truths: Sequence[str] = (),
    key: str,
) -> Roles | None:
    """The roles as corrected, when that is sent; None before.

    `table` is what the file was read as, None where it could not be; `question` is what that asked. `truths` are the
    columns of a second file that may hold the truth.
    """
    with st.form(f"roles-{key}", border=False):
        values: dict[str, object] = _joined_by(roles, columns, question)
        values |= _positive(roles, table, question) | _classes(roles, table, question) | _gaps(roles, table, question)
        with st.grid("auto", min_column_width=150, gap="small"):
            for role, (title, hint) in SINGLE.items():
                values[role] = _column(title, hint, getattr(roles, role), columns, truths if role == "truth" else ())
        names = {column: name for name, column in roles.probabilities}
        chosen = st.multiselect("Scores, a column per class", columns, [c for c in names if c in columns])
        values["probabilities"] = tuple((names.get(column, column), column) for column in chosen)
        scores = st.segmented_control(
            "Scores are", list(SCORES), default=roles.scores or "", format_func=SCORES.__getitem__, required=True
        )
        values["scores"] = scores or None
        values["parts"] = _parts(roles, columns)
        if st.form_submit_button("Read it this way", type="primary" if question else "secondary"):
            return replace(roles, **_one_way(roles, values), why=())
    return None


def _one_way(roles: Roles, values: dict[str, object]) -> dict[str, object]:
    """Either columns of one model or those of several: what was changed stands."""
    ways = ("predicted", "confidence", "vector", "probabilities")
    if values["parts"] and values["parts"] != roles.parts:
        return values | {"predicted": None, "confidence": None, "vector": None, "probabilities": ()}
    return values | {"parts": ()} if any(values[role] for role in ways) else values


def _column(title: str, hint: str, chosen: str | None, columns: Sequence[str], more: Sequence[str]) -> str | None:
    """One column, or none: a control that has something chosen cannot be emptied otherwise."""
    choices = (None, *columns, *more)
    at = choices.index(chosen) if chosen in choices else 0
    return st.selectbox(title, choices, index=at, format_func=lambda name: name or "none", help=hint)


def _joined_by(roles: Roles, columns: Sequence[str], question: RolesNeeded | None) -> dict[str, object]:
    """By what the rows of two files belong together: asked for, or answered and to be corrected."""
    title = "Rows of the two files belong together"
    if question is not None and question.role == "join":
        choices, meanings = question.choices, dict(zip(question.choices, question.meanings, strict=True))
        at = choices.index(roles.join) if roles.join in choices else None
        return {"join": st.radio(title, choices, index=at, format_func=lambda name: page.plain(meanings[name]))}
    if roles.join is None:
        return {}
    choices = tuple(dict.fromkeys((*columns, LINE, roles.join)))
    at = choices.index(roles.join)
    return {"join": st.selectbox(title, choices, index=at, format_func=_way_in_words(columns))}


def _way_in_words(columns: Sequence[str]) -> Callable[[str], str]:
    """How a way to join is shown: a column by its name alone, as in every other control."""
    return lambda name: name if name in columns else in_words(name)


def _positive(roles: Roles, table: PredictionTable | None, question: RolesNeeded | None) -> dict[str, object]:
    """Of two classes, the one whose probability the only score is: asked for, or decided and to be corrected."""
    if question is not None and question.role == "positive":
        choices: tuple[str | None, ...] = question.choices
    else:
        single = roles.confidence or any(part.confidence for part in roles.parts)
        if table is None or not single or len(table.class_names) != 2:
            return {}
        has_labels = roles.predicted or any(part.predicted for part in roles.parts)
        named = (*table.class_names, *["predicted"] * bool(has_labels), roles.positive)
        choices = tuple(dict.fromkeys((None, *named)))
    at = choices.index(roles.positive) if roles.positive in choices else None
    said_of = {None: "guessed from its values", "predicted": "the predicted class"}
    if table is not None and "predicted" in table.class_names:
        del said_of["predicted"]
    title = "The probability is that of"
    return {"positive": st.selectbox(title, choices, index=at, format_func=lambda name: said_of.get(name, name))}


def _classes(roles: Roles, table: PredictionTable | None, question: RolesNeeded | None) -> dict[str, object]:
    """A control per predicted name that was taken for a class of another name: which class does it stand for?"""
    if question is not None and question.role == "classes":
        shown, choices = roles.classes, question.choices
    elif table is not None and len(table.class_names) in range(1, MOST_CLASSES + 1):
        shown = roles.classes or table.matched
        codes = (label for label, _ in shown if label.isdecimal())  # these may stand for themselves
        choices = tuple(dict.fromkeys((*table.class_names, *codes)))
    else:
        return {}
    if len(shown) > MOST_CLASSES:
        return {"classes": shown}
    pairs = []
    with st.grid("auto", min_column_width=150, gap="small"):
        for label, name in shown:
            at = choices.index(name) if name in choices else None
            pairs.append((label, st.selectbox(f"{page.plain(label)} stands for", choices, index=at)))
    chosen = tuple((label, name) for label, name in pairs if name is not None)
    return {"classes": roles.classes if question is None and chosen == shown else chosen}


def _gaps(roles: Roles, table: PredictionTable | None, question: RolesNeeded | None) -> dict[str, object]:
    """What rows without an answer or a source are, or ties: asked for, or answered and to be corrected."""
    values: dict[str, object] = {}
    are_tied = table is not None and any(odd.code == "tied_scores" for odd in table.warnings)
    for role, (title, choices) in GAPS.items():
        chosen = getattr(roles, role) or (choices[0] if role == "ties" and are_tied else None)
        if question is not None and question.role == role:
            meanings = [page.plain(meaning) for meaning in question.meanings or question.choices]
            shown = dict(zip(question.choices, meanings, strict=True))
            values[role] = st.radio(title, question.choices, format_func=shown.get)
        elif chosen is not None:
            values[role] = st.selectbox(title, choices, index=choices.index(chosen))
    return values


def _parts(roles: Roles, columns: Sequence[str]) -> tuple[Part, ...]:
    """The models or tasks that stand side by side; a column that belongs to none can be a further model's labels."""
    known = {part.name: part for part in roles.parts}
    taken = {column for part in roles.parts for column in part.columns}
    offered = dict(known)
    if not any(part.kind == "task" for part in roles.parts):
        free = [column for column in columns if column not in taken and column not in known]
        offered |= {column: Part("model", column, predicted=column) for column in free}
    chosen = st.multiselect("Models or tasks, columns of their own", list(offered), list(known), help=PARTS)
    return tuple(part for name, part in offered.items() if name in chosen)


# How do somebody's own predictions get in? Roles are shown, one line each, corrected, confirmed; then it is stored.


FORMATS = (
    "TSV, CSV, JSON, JSONL, Parquet, NPZ or NPY; these may be packed with gzip. One row per sample: the true "
    "label, and the predicted label, its confidence, or a probability or logit per class. Columns `id`, `model`, "
    "`set`, `fold` and `task` are optional."
)
TRUTH = "The truth, in a file of its own"
SAID = "The predictions that belong to it"
MOST_WARNINGS = 3


def given(file: object, roles: Roles | None = None) -> GivenFile:
    """What a file control holds, as a file to keep; DataError where it cannot be read within limits."""
    uploads.check(read_prediction_table, file)
    return GivenFile(PurePath(file.name).name, file.getvalue(), roles)


def blank_files() -> None:
    """A template to fill in, and a sample to try."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("A file to fill in, and one to try:", width="content")
        mime = "text/tab-separated-values"
        page.download("Template", template(), name="touchstone-predictions-template.tsv", mime=mime)
        page.download("Sample", sample(), name="touchstone-predictions-sample.tsv", mime=mime)


def draft(
    upload: PredictionUpload,
    *,
    key: str,
    keep: Callable[[PredictionUpload], None],
    truth_offered: bool = True,
    beside: str = "the truth",
) -> PredictionUpload | None:
    """An upload that is not in use yet: what its columns are, with corrections; None while something is open.

    `keep` takes the upload as corrected; `truth_offered` is false where the truth is known from elsewhere, and no
    second file is asked for; `beside` says what a second file holds. The answer has all roles filled in, so that
    reading it asks nothing.
    """
    st.markdown(f"**{page.plain(upload.name)}**{_and_second(upload, beside)}")
    question: RolesNeeded | None = None
    table: PredictionTable | None = None
    try:
        columns = _columns(upload.predictions)
    except DataError as problem:  # nothing to correct: these are no columns
        page.error(problem)
        return None
    try:
        with st.spinner("Reading"):
            table = choice.uploaded(upload)
        card = card_of_predictions(table, file=upload.name, n_given=columns.n_rows)
        st.markdown(page.plain(" ".join(card.in_short)))
        role_lines(table)
        warnings_of(table)
    except RolesNeeded as needed:
        question = needed
        st.warning(page.plain(needed), icon=":material/help:")
    except DataError as problem:
        page.error(problem)
    if truth_offered and table is None:
        _second_file(upload, columns, question, key=key, keep=keep)
    with st.expander("Answer" if question else "Correct the columns", expanded=bool(question)):
        corrected = form(
            tuple(columns.columns),
            _roles_to_correct(upload, columns, table, question, joined=truth_offered),
            table=table,
            question=question,
            truths=_truth_columns(upload, columns) if truth_offered else (),
            key=f"{key}-{upload.fingerprint[:8]}",
        )
        if corrected is not None:
            keep(_with_roles(upload, corrected, joined=truth_offered))
            st.rerun()
        _roles_file(upload, key=key, keep=keep, joined=truth_offered)
    return None if table is None else _complete(upload, table)


def _roles_to_correct(
    upload: PredictionUpload,
    columns: Table,
    table: PredictionTable | None,
    question: RolesNeeded | None,
    *,
    joined: bool,
) -> Roles:
    """What is known so far; of files that were `joined` here the roles of both, which do for both."""
    if question is not None and not (upload.truth and question.role == "truth"):
        return question.guess
    if table is not None and (joined or upload.truth is None):
        return table.roles
    return upload.predictions.roles or guess_roles(columns, half="predictions" if upload.truth else None)


def _columns(file: GivenFile) -> Table:
    """The columns of a file, read once whatever they are said to be."""
    return choice.columns_of(PredictionUpload(replace(file, roles=None)))


def _truth_columns(upload: PredictionUpload, columns: Table) -> tuple[str, ...]:
    """The columns of a truth in a file of its own, as they are called when the files are joined."""
    if upload.truth is None:
        return ()
    try:
        known = _columns(upload.truth)
    except DataError:  # the error stands there already
        return ()
    return tuple(in_joined(column, columns, known) for column in known.columns)


def _with_roles(upload: PredictionUpload, roles: Roles, *, joined: bool) -> PredictionUpload:
    """The upload with other roles; of files that were `joined` here they say what the columns of both are."""
    truth = replace(upload.truth, roles=None) if joined and upload.truth else upload.truth
    return PredictionUpload(replace(upload.predictions, roles=roles), truth)


def warnings_of(table: PredictionTable) -> None:
    """What is suspicious about a file, as soon as it is read: the first few, and how many more there are."""
    for warning in table.warnings[:MOST_WARNINGS]:
        st.warning(page.plain(warning), icon=":material/warning:")
    more = len(table.warnings) - MOST_WARNINGS
    if more > 0:
        st.caption(f"And {plural(more, 'more warning')} of this kind, shown where a model or set is chosen.")


def role_lines(table: PredictionTable) -> None:
    """What each column was taken for, one line per role, and what was decided in reading."""
    st.markdown("\n".join(f"- {page.plain(line)}" for line in table.roles.lines()))
    known = {f"{line}." for line in table.roles.lines()}
    rest = [note for note in table.notes if note not in known]
    if rest:
        st.caption(page.plain(" ".join(rest)))


def roles_download(table: PredictionTable, *, key: str) -> None:
    """The roles as a file that can be given back with the next upload."""
    name = f"{table.name}-roles.json"
    page.download(
        "Roles (JSON)",
        lambda: table.roles.to_json().encode(),
        name=name,
        mime="application/json",
        key=f"roles-json-{key}",
    )


def _and_second(upload: PredictionUpload, beside: str) -> str:
    return f" with {beside} of **{page.plain(upload.truth.name)}**" if upload.truth else ""


def _second_file(
    upload: PredictionUpload,
    columns: Table,
    question: RolesNeeded | None,
    *,
    key: str,
    keep: Callable[[PredictionUpload], None],
) -> None:
    """Controls for what the file may lack: the truth, or the predictions where it is itself the truth."""
    if upload.truth is not None:
        halves: tuple[str, ...] = ("truth",)  # another one
    else:
        halves = lacking(columns, question.guess if question else upload.predictions.roles)
    kinds = [ending[1:] for ending in PREDICTION_ENDINGS]
    for half in halves:
        place = f"{half}-{key}-{upload.fingerprint[:8]}"
        file = st.file_uploader(
            TRUTH if half == "truth" else SAID,
            type=kinds,
            key=place,
            help="Rows are joined by a column of ids in both files, or by line number if labels agree in that order.",
        )
        if file is not None:
            try:
                second = given(file)
            except DataError as problem:
                page.error(problem)
                return
            predictions, truth = (upload.predictions, second) if half == "truth" else (second, upload.predictions)
            keep(PredictionUpload(predictions, truth))
            st.rerun()


def _roles_file(upload: PredictionUpload, *, key: str, keep: Callable[[PredictionUpload], None], joined: bool) -> None:
    """The control that takes a file of roles back."""
    file = st.file_uploader("Roles from a file", type=["json"], key=f"roles-file-{key}-{upload.fingerprint[:8]}")
    if file is None:
        return
    try:
        roles = Roles.from_json(file.getvalue())
        if upload.truth is None:
            roles.check(_columns(upload.predictions))
    except DataError as problem:
        page.error(problem)
    else:
        keep(_with_roles(upload, roles, joined=joined))
        st.rerun()


def _complete(upload: PredictionUpload, table: PredictionTable) -> PredictionUpload:
    """The upload with every role written down: those of joined files do for both, unless the truth has its own."""
    if upload.truth is None or upload.truth.roles is None:
        return replace(upload, predictions=replace(upload.predictions, roles=table.roles))
    roles = complete_roles(_columns(upload.predictions), upload.predictions.roles, half="predictions")
    return replace(upload, predictions=replace(upload.predictions, roles=roles))
