"""Which column is what? The first rows with a role over each, a control for each role, and what a choice comes to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd
import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.data.tables import Table
from touchstone.core.data.tables.names import sources_are_units
from touchstone.core.data.tables.proposal import INPUTS, SINGLE, Proposal, Values, features_of, propose_roles, values_of
from touchstone.core.data.tables.roles import DatasetRoles
from touchstone.core.data.values import spell
from touchstone.core.evaluate.wording import count, listed, percent, plural, quoted
from touchstone.ui.shell import page

N_ROWS, MOST_COLUMNS, LONGEST_CELL = 5, 40, 120
FIRST = ("id", "source", "label", "text")
ORDER = ("label", "text", "id", "source", "unit", "part", "image")
RARE = ("part", "image")
"""Roles that are asked about only where a column may have one: its cells alone can say so."""
USUAL = 4  # roles are asked about side by side
NOTHING = ""
"""What is chosen where no column has a role, or where all columns of numbers are inputs: no column is called so."""
ROLES = {
    "label": ("Label", "The class that a model predicts."),
    "text": ("Inputs", "What the model sees: all columns of numbers, or one of text."),
    "id": ("Id", "The name of each row; without it, rows are numbered."),
    "source": ("Source", "The person, site or device that a row comes from. Accuracy can then be tested on new ones."),
    "unit": (
        "Unit",
        "What was sampled independently, such as an author. No split has one on both sides.",
    ),
    "part": ("Part", "Whether the file itself marks a row for training, validation or test."),
    "image": ("Images", "PNG or JPEG files, one per cell."),
}
"""What the screen calls a role, and what it says besides."""
_TOO_MANY_CELLS = 2_000_000  # above it, what a column holds is looked up only once it is chosen
_COLUMNS = "upload_columns"


@dataclass
class Columns:
    """A table, its likeliest roles, and what was looked up of its columns so far."""

    table: Table
    proposal: Proposal
    values: dict[str, Values] = field(default_factory=dict)
    numbers: dict[DatasetRoles, tuple[str, ...]] = field(default_factory=dict)

    def values_of(self, column: str) -> Values:
        """What stands in a column, looked up once."""
        if column not in self.values:
            self.values[column] = values_of(self.table, column)
        return self.values[column]

    def numbers_beside(self, chosen: Mapping[str, str | None]) -> tuple[str, ...]:
        """The columns of numbers that these roles leave, looked up once; none where there is no label yet."""
        roles = DatasetRoles(**{**chosen, "text": None})
        if roles not in self.numbers:
            try:
                self.numbers[roles] = features_of(self.table, roles) if roles.label else ()
            except DataError:
                self.numbers[roles] = ()
        return self.numbers[roles]


def columns_of(table: Table, file_id: str) -> Columns:
    """What is known of an uploaded table, worked out once; DataError where it can make no data set."""
    if st.session_state.get(_COLUMNS, (None, None))[0] != file_id:
        st.session_state[_COLUMNS] = (file_id, Columns(table, propose_roles(table)))
    return st.session_state[_COLUMNS][1]


def forget() -> None:
    """Let go of a table that is in use by now."""
    st.session_state.pop(_COLUMNS, None)


def ask(columns: Columns, file_id: str) -> tuple[DatasetRoles | None, DataError | None]:
    """The controls, with the first rows above them, and the roles that they say; None, or why not, before they do."""
    rows = st.container()
    asked = [role for role in ORDER if role not in RARE or getattr(columns.proposal.roles, role) is not None]
    for role in asked:
        st.session_state.setdefault(_key(role, file_id), getattr(columns.proposal.roles, role) or _nothing(role))
    chosen = {role: st.session_state[_key(role, file_id)] or None for role in asked}
    numbers = columns.numbers_beside(chosen)
    without = {
        "text": "images" if chosen.get("image") else f"{plural(len(numbers), 'column')} of numbers",
        "unit": "the sources" if _are_units(chosen.get("source"), columns) else "each row",
    }
    with st.grid(len(asked), min_column_width=150 if len(asked) > USUAL else 200):
        for role in asked:
            _choose(role, chosen[role], columns, without.get(role, "none"), file_id)
    own = any(chosen.get(role) for role in INPUTS)
    inputs = () if own or not chosen["label"] else _inputs(numbers, file_id)
    with rows:
        _first_rows(columns.table, chosen, inputs)
    if chosen["label"] is None:
        return None, None
    if not own and not inputs:
        return None, DataError(f"{columns.table.name}: no column of numbers is left for inputs. Choose one of text.")
    named = inputs if inputs != numbers or columns.proposal.roles.image else ()  # where none are, images are taken
    return DatasetRoles(**chosen, features=named), None


def _are_units(source: str | None, columns: Columns) -> bool:
    """Whether sources are units where nobody names these."""
    return source is not None and sources_are_units(columns.values_of(source).n_different, source)


def _key(role: str, file_id: str) -> str:
    return f"role-{role}-{file_id}"


def _nothing(role: str) -> str | None:
    """What stands in a control where no column has the role; there has to be a label."""
    return None if role == "label" else NOTHING


def _choose(role: str, chosen: str | None, columns: Columns, without: str, file_id: str) -> None:
    """The control of a role, and beneath it what the choice comes to."""
    title, hint = ROLES[role]
    with st.container(gap="xsmall"):
        st.selectbox(
            title,
            (*([] if role == "label" else [NOTHING]), *columns.table.columns),
            key=_key(role, file_id),
            format_func=lambda column: _named(role, column, columns) if column else without,
            placeholder="Choose a column",
            help=hint,
            on_change=_take_from_others,
            args=(role, file_id),
        )
        st.caption(page.plain(_comes_to(role, chosen, columns, without)))


def _take_from_others(role: str, file_id: str) -> None:
    """A column has one role: the one that it was given last."""
    chosen = st.session_state[_key(role, file_id)]
    for other in SINGLE:
        if other != role and chosen and st.session_state.get(_key(other, file_id)) == chosen:
            st.session_state[_key(other, file_id)] = _nothing(other)


def _named(role: str, column: str, columns: Columns) -> str:
    """A column in the list of a role: for a label with its number of classes, where that is soon known."""
    table = columns.table
    if role != "label" or table.n_rows * len(table.columns) > _TOO_MANY_CELLS or not table.is_label(column):
        return column
    n_classes = columns.values_of(column).n_different
    return f"{column} · {plural(n_classes, 'class', 'classes')}" if n_classes > 1 else column


def _comes_to(role: str, column: str | None, columns: Columns, without: str) -> str:
    """What a choice comes to beside what is said below of the whole, and why it was made where nothing decided it."""
    if column is None:
        inputs = "" if without == ROLES["image"][0].lower() else "All without another role."
        return {"label": "", "text": inputs, "id": "Rows are numbered.", "unit": ""}.get(role, "None known.")
    held = {"label": "", "text": "A text in each row.", "image": ""}
    content = held[role] if role in held else _content(role, columns.values_of(column))
    why = columns.proposal.why.get(role, "").partition(";")[0].partition(":")[0]
    if not why or role == "id" or getattr(columns.proposal.roles, role) != column:
        return content
    return f"{content} {why[:1].upper()}{why[1:]}.".strip()


def _content(role: str, values: Values) -> str:
    """What stands in a column of ids, sources or parts, as what its role makes of it."""
    sizes = [n for _, n in values.counts]
    if not sizes:
        return "Empty in every row."
    if role == "id":
        unique = max(sizes) == 1
        return (
            "Different in every row." if unique else f"{count(len(sizes))} different ones in {count(sum(sizes))} rows."
        )
    low, high = count(min(sizes)), plural(max(sizes), "row")
    return f"{high if min(sizes) == max(sizes) else f'{low} to {high}'} each."


def _inputs(numbers: tuple[str, ...], file_id: str) -> tuple[str, ...]:
    """The columns of numbers that are inputs: those that are none are named, for there may be thousands that are."""
    left_out = st.multiselect(
        "Columns of numbers to leave out",
        numbers,
        key=f"left-out-{file_id}",
        placeholder="None",
        help="Columns that give the label away, such as a second diagnosis, and columns that measure nothing.",
    )
    return tuple(column for column in numbers if column not in set(left_out))


def _first_rows(table: Table, chosen: Mapping[str, str | None], inputs: Sequence[str]) -> None:
    """The first rows, those columns first that have a role, with the role over each."""
    over = dict.fromkeys(inputs, ROLES["text"][0])
    over |= {column: ROLES[role][0] for role, column in chosen.items() if column is not None}
    leading = [chosen[role] for role in dict.fromkeys((*FIRST, *chosen)) if chosen.get(role) is not None]
    rest = sorted((column for column in table.columns if column not in leading), key=lambda column: column not in over)
    shown = [*leading, *rest][:MOST_COLUMNS]
    frame = pd.DataFrame({column: [_cell(value) for value in table.columns[column][:N_ROWS]] for column in shown})
    frame.columns = pd.MultiIndex.from_tuples([(over.get(column, "Not an input"), column) for column in shown])
    st.dataframe(frame, hide_index=True, alt="The first rows of the file, with the role of each column")
    if len(table.columns) > MOST_COLUMNS:
        n_more = len(table.columns) - MOST_COLUMNS
        st.caption(f"And {plural(n_more, 'more column')}. Type a name into a control to find one.")


def _cell(value: object) -> str:
    shown = value if isinstance(value, str) else spell(value)
    shown = "" if value is None else str(value) if shown is None else shown
    return shown if len(shown) <= LONGEST_CELL else f"{shown[: LONGEST_CELL - 1]}…"


def balance(names: Sequence[str], n_per_class: Sequence[int], *, most: int = 6) -> str:
    """The classes with their shares, the largest first.

    >>> balance(["no", "yes"], [1, 3])
    '“yes” 75.0 %, “no” 25.0 %'
    """
    shares = sorted(zip(n_per_class, names, strict=True), key=lambda pair: -pair[0])
    n_samples = sum(n_per_class)
    shown = [f"{quoted(name)} {percent(n / n_samples)}" for n, name in shares]
    return listed(shown, most=most) if len(shown) > most else ", ".join(shown)
