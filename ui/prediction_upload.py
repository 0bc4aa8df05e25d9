"""How do somebody's own predictions get in? Roles are shown, one line each, corrected, confirmed; then it is stored."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath

import streamlit as st

from core.data import DataError, PredictionTable, Roles, RolesNeeded, guess_roles
from core.data.prediction_files import PREDICTION_ENDINGS, sample, template
from core.data.prediction_guess import complete_roles
from core.data.prediction_upload import GivenFile, PredictionUpload
from core.data.tables import Table
from ui import cache, page

FORMATS = (
    "TSV, CSV, JSON, JSONL, Parquet, NPZ or NPY; these may be packed with gzip. A row per sample with the true label "
    "and what the model said: its label, its confidence, or a probability or logit per class. Columns `id`, `model`, "
    "`set`, `fold` and `task` are optional."
)
SINGLE = {
    "truth": ("Truth", "The true label."),
    "predicted": ("Predicted label", "What the model said. Without it, the class of the highest score."),
    "confidence": ("Confidence", "One probability per row."),
    "vector": ("Scores in one cell", "A list of the scores of all classes."),
    "id": ("Id", "Names each row; without it, rows are counted."),
    "model": ("Model", "Tells several models apart."),
    "set": ("Set", "Tells several test sets apart."),
    "fold": ("Fold", "The fold of a cross-validation."),
    "task": ("Task", "Tells several tasks apart."),
    "source": ("Source", "The writer, site or device of a row."),
    "trial": ("Trial", "Tells several trainings apart."),
}
SCORES = {"": "as their values say", "probabilities": "probabilities", "logits": "logits"}


def given(file: object, roles: Roles | None = None) -> GivenFile:
    """What a file control holds, as a file to keep."""
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

    `keep` takes the upload as corrected; `truth_offered` is false where the truth is known from elsewhere;
    `beside` says what a second file holds. The answer
    has all roles filled in, so that reading it asks nothing.
    """
    st.markdown(f"**{page.plain(upload.name)}**{_and_second(upload, beside)}")
    question: RolesNeeded | None = None
    table: PredictionTable | None = None
    try:
        columns = cache.columns_of(upload.predictions)
    except DataError as problem:  # nothing to correct: these are no columns
        page.error(problem)
        return None
    try:
        with st.spinner("Reading"):
            table = cache.uploaded(upload)
        role_lines(table)
    except RolesNeeded as needed:
        question = needed
        st.warning(page.plain(needed), icon=":material/help:")
    except DataError as problem:
        page.error(problem)
    asking = truth_offered and table is None
    if asking and (upload.truth or (question.role == "truth" if question else not _has_truth(columns, upload))):
        _truth(upload, key=key, keep=keep)
    roles = upload.predictions.roles or (table.roles if table and not upload.truth else None)
    roles = question.guess if question else roles or guess_roles(columns)
    with st.expander("Answer" if question else "Correct the columns", expanded=bool(question)):
        corrected = _form(tuple(columns.columns), roles, question, key=f"{key}-{upload.fingerprint[:8]}")
        if corrected is not None:
            keep(replace(upload, predictions=replace(upload.predictions, roles=corrected)))
            st.rerun()
        _roles_file(upload, key=key, keep=keep)
    return None if table is None else _complete(upload, table)


def _has_truth(columns: Table, upload: PredictionUpload) -> bool:
    return (upload.predictions.roles or guess_roles(columns)).has_truth


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
        "Roles (JSON)", table.roles.to_json().encode(), name=name, mime="application/json", key=f"roles-json-{key}"
    )


def _and_second(upload: PredictionUpload, beside: str) -> str:
    return f" with {beside} of **{page.plain(upload.truth.name)}**" if upload.truth else ""


def _truth(upload: PredictionUpload, *, key: str, keep: Callable[[PredictionUpload], None]) -> None:
    """The control for a truth in a file of its own; there whenever the predictions could do with one."""
    kinds = [ending[1:] for ending in PREDICTION_ENDINGS]
    help = "Joined by id, or by line where neither file has ids."
    place = f"truth-{key}-{upload.fingerprint[:8]}"
    file = st.file_uploader("The truth, in a file of its own", type=kinds, key=place, help=help)
    if file is not None:
        keep(replace(upload, truth=given(file)))
        st.rerun()


def _roles_file(upload: PredictionUpload, *, key: str, keep: Callable[[PredictionUpload], None]) -> None:
    """The control that takes a file of roles back."""
    file = st.file_uploader("Roles from a file", type=["json"], key=f"roles-file-{key}-{upload.fingerprint[:8]}")
    if file is None:
        return
    try:
        roles = Roles.from_json(file.getvalue())
        roles.check(cache.columns_of(upload.predictions))
    except DataError as problem:
        page.error(problem)
    else:
        keep(replace(upload, predictions=replace(upload.predictions, roles=roles)))
        st.rerun()


def _form(columns: tuple[str, ...], roles: Roles, question: RolesNeeded | None, *, key: str) -> Roles | None:
    """The roles as corrected, when that is sent; None before."""
    choices = (None, *columns)  # a control that has something chosen cannot be emptied otherwise
    with st.form(f"roles-{key}", border=False):
        values: dict[str, object] = {}
        if question is not None and question.role == "positive":
            at = question.choices.index(roles.positive) if roles.positive in question.choices else None
            values["positive"] = st.selectbox("The probability is that of", question.choices, index=at)
        if question is not None and question.role == "classes":
            values["classes"] = _classes(roles, question)
        with st.grid("auto", min_column_width=150, gap="small"):
            for role, (title, hint) in SINGLE.items():
                at = choices.index(getattr(roles, role)) if getattr(roles, role) in columns else 0
                values[role] = st.selectbox(title, choices, index=at, format_func=_or_none, help=hint)
        names = {column: name for name, column in roles.probabilities}
        chosen = st.multiselect("Scores, a column per class", columns, [c for c in names if c in columns])
        values["probabilities"] = tuple((names.get(column, column), column) for column in chosen)
        values["scores"] = st.segmented_control(
            "Scores are", list(SCORES), default=roles.scores or "", format_func=SCORES.__getitem__, required=True
        )
        if st.form_submit_button("Read it this way", type="primary" if question else "secondary"):
            values["scores"] = values["scores"] or None
            if any(values[role] for role in ("predicted", "confidence", "vector", "probabilities")):
                values["parts"] = ()  # one model and task after all
            return replace(roles, **values, why=())
    return None


def _or_none(column: str | None) -> str:
    return "none" if column is None else column


def _classes(roles: Roles, question: RolesNeeded) -> tuple[tuple[str, str], ...]:
    """A control per predicted name: which class does it stand for?"""
    pairs = []
    with st.grid("auto", min_column_width=150, gap="small"):
        for said, name in roles.classes:
            at = question.choices.index(name) if name in question.choices else None
            pairs.append((said, st.selectbox(f"{page.plain(said)} stands for", question.choices, index=at)))
    return tuple((said, name) for said, name in pairs if name is not None)


def _complete(upload: PredictionUpload, table: PredictionTable) -> PredictionUpload:
    """The upload with every role written down."""
    if upload.truth is None:
        return replace(upload, predictions=replace(upload.predictions, roles=table.roles))
    halves = {}
    for half in ("predictions", "truth"):
        file = getattr(upload, half)
        halves[half] = replace(file, roles=complete_roles(cache.columns_of(file), file.roles, half=half))
    return PredictionUpload(**halves)
