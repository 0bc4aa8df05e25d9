"""How are the columns of a file of predictions corrected? A control per role, and for all that was decided in reading.

Nothing changes until the form is sent; what it is sent with is read anew.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import streamlit as st

from touchstone.core.data import PredictionTable, Roles, RolesNeeded
from touchstone.core.data.predictions.roles import LINE, Part, in_words
from touchstone.ui.shell import page

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
        values |= _positive(roles, table, question) | _classes(roles, table, question)
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
        return {"join": st.radio(title, choices, index=at, format_func=lambda name: meanings.get(name, name))}
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
