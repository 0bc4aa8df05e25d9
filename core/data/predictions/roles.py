"""What is each column of a file of predictions? Roles to show, to correct, and to keep for the next file.

`Roles` hold a name and a reason for each; `join` among them says how rows of two files belong together, and can be put
in words. While a file is read, they are part of a `Reading`: the table and what its columns were given so far.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal

from touchstone.core.data.errors import DataError
from touchstone.core.data.tables import Table
from touchstone.core.data.tables.names import PREDICTED_LIKELY, TRUTH_LIKELY, called, compact
from touchstone.core.data.values import first_repeat, listed

Scores = Literal["probabilities", "logits"]
ROUNDED = 0.01  # by how much a row of probabilities may miss 1: files round them
SHARED = ("id", "model", "set", "fold", "task", "source", "trial", "unit")  # one column each, for all models and tasks
APART = ("model", "set", "task", "trial")
"""What tells rows of one id apart."""
_TUPLES = ("probabilities", "classes", "parts")
_SINGLE = ("truth", "predicted", "confidence", "vector")
_TITLES = {
    "truth": "Truth",
    "predicted": "Predicted label",
    "confidence": "Confidence",
    "vector": "Scores of all classes, in one cell",
    "probabilities": "Scores, a column per class",
    "positive": "The probability is that of",
    "scores": "Scores are",
    "parts": "Columns by model or task",
    "classes": "Predicted names stand for",
    "join": "Rows of the two files belong together",
}
LINE = "(line)"
"""What `join` says where rows of two files belong together as they stand."""
_SHIFTED = re.compile(r"\(line ([+-]\d+)\)")
Half = Literal["truth", "predictions"]
BY_NAME = "by its name"
BY_NAMES = "by their names"
BY_VALUES = "by its values"
LIKELY = "likely, by its name and what else is there"
NAMING = ("words", "whole")
"""The kinds of columns that name something: a label, a fold, a model."""


@dataclass(frozen=True)
class Part:
    """The columns of one of several models, or of one of several tasks, that stand side by side.

    >>> Part("model", "resnet", predicted="resnet_pred").columns
    ('resnet_pred',)
    """

    kind: Literal["model", "task"]
    name: str
    truth: str | None = None
    predicted: str | None = None
    confidence: str | None = None
    probabilities: tuple[tuple[str, str], ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of this part."""
        single = tuple(column for column in (self.truth, self.predicted, self.confidence) if column is not None)
        return (*single, *(column for _, column in self.probabilities))

    @property
    def says_something(self) -> bool:
        """Whether any column holds what a model said."""
        return bool(self.predicted or self.confidence or self.probabilities)


@dataclass(frozen=True)
class Roles:
    """What the columns of a file of predictions are; all but `truth` and what the model said may be absent.

    The model said one or more of: `predicted` (its label), `confidence` (one number in [0, 1]), `probabilities` (pairs
    of a class and its column) or `vector` (a column of vectors or mappings). In a task of two classes `positive` names
    the class whose probability `confidence` is, or says "predicted"; None leaves it to the values. `scores` forces
    probabilities or logits where numbers leave that open. `parts` stand in for these columns where there are several
    per row. `classes` are pairs of a predicted name and the true name it stands for. `join` names the column by which
    rows of two files belong together ("subject + visit" two, "file = image" one of two names), or is LINE. `why` says,
    by role, how sure the guess is.

    >>> roles = Roles(truth="gold", predicted="answer", why=(("truth", "by its name"),))
    >>> roles.lines()
    ["Truth: column 'gold' (by its name)", "Predicted label: column 'answer' (as given)"]
    >>> Roles.from_json(roles.to_json()) == roles
    True
    """

    truth: str | None = None
    predicted: str | None = None
    confidence: str | None = None
    probabilities: tuple[tuple[str, str], ...] = ()
    vector: str | None = None
    positive: str | None = None
    scores: Scores | None = None
    id: str | None = None
    model: str | None = None
    set: str | None = None
    fold: str | None = None
    task: str | None = None
    source: str | None = None
    trial: str | None = None
    unit: str | None = None
    parts: tuple[Part, ...] = ()
    classes: tuple[tuple[str, str], ...] = ()
    join: str | None = None
    why: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that have a role."""
        single = (getattr(self, role) for role in (*_SINGLE, *SHARED))
        return (
            *(column for column in single if column is not None),
            *(column for _, column in self.probabilities),
            *(column for part in self.parts for column in part.columns),
        )

    @property
    def says_something(self) -> bool:
        """Whether any column holds what a model said."""
        of_parts = any(part.says_something for part in self.parts)
        return bool(self.predicted or self.confidence or self.probabilities or self.vector or of_parts)

    @property
    def has_truth(self) -> bool:
        """Whether the truth of everything is known."""
        return self.truth is not None or (bool(self.parts) and all(part.truth for part in self.parts))

    @property
    def has_only_truth(self) -> bool:
        """Whether the truth of everything is known, and nothing that a model said."""
        return self.has_truth and not self.says_something

    def lines(self) -> list[str]:
        """One line per role, for people: which column, and why."""
        why = dict(self.why)
        return [f"{title}: {text} ({why.get(role, 'as given')})" for role, title, text in self._told()]

    def _told(self) -> Iterator[tuple[str, str, str]]:
        for role in (*_TITLES, *SHARED):
            value = getattr(self, role)
            if value not in (None, ()):
                shown = _SHOWN.get(role, _column)
                yield role, _TITLES.get(role, role.capitalize()), shown(value)

    def to_json(self, *, indent: int | None = 2) -> str:
        """The roles as a small JSON file, to be given back with the next upload; in one line without an `indent`."""
        known = {name: value for name, value in asdict(self).items() if name != "why" and value not in (None, ())}
        for part in known.get("parts", ()):
            if not part["probabilities"]:
                del part["probabilities"]  # as it was written before there were any: the name of an upload rests on it
        return json.dumps({"touchstone": "prediction roles", **known}, indent=indent, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> "Roles":
        """Read what `to_json` wrote; DataError where it is something else."""
        try:
            values = json.loads(text)
            if values.pop("touchstone") != "prediction roles":
                raise ValueError
            pairs = {role: tuple((a, b) for a, b in values.pop(role, ())) for role in ("probabilities", "classes")}
            parts = tuple(_part(**part) for part in values.pop("parts", ()))
            roles = cls(**values, **pairs, parts=parts)
            _check_types(roles)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise DataError(
                "This is no file of roles. Give the JSON file that Touchstone offers for download below the roles."
            ) from error
        return roles

    def check(self, table: Table) -> None:
        """DataError where the table lacks one of the columns, or a column has two roles."""
        table.check_roles(self.columns)
        for kind in {part.kind for part in self.parts}:
            if (column := getattr(self, kind)) is not None:
                raise DataError(f"{table.name}: {kind}s stand side by side and in column {column!r} too. Choose one.")
        self._check_names(table)

    def _check_names(self, table: Table) -> None:
        for what, names in (
            ("class", [name for name, _ in self.probabilities]),
            ("model or task", [part.name for part in self.parts]),
            ("predicted name", [label for label, _ in self.classes]),
        ):
            if repeat := first_repeat(names):
                raise DataError(f"{table.name}: {what} {names[repeat[1]]!r} has two columns or meanings. Leave one.")

    def because(self, **why: str) -> "Roles":
        """The same roles with reasons added.

        >>> Roles(truth="gold").because(truth="by its name").why
        (('truth', 'by its name'),)
        """
        return replace(self, why=tuple({**dict(self.why), **why}.items()))


def name_of_step(step: int) -> str:
    """What `join` calls rows of predictions that belong to the row of the truth `step` rows further down.

    >>> name_of_step(1), name_of_step(-2)
    ('(line +1)', '(line -2)')
    """
    return f"(line {step:+d})"


def step_named(name: str) -> int | None:
    """By how many rows one file is moved in the way by line that `join` calls so; None where it is none.

    >>> step_named("(line -2)"), step_named("image")
    (-2, None)
    """
    match = _SHIFTED.fullmatch(name)
    return int(match[1]) if match else None


def in_words(name: str) -> str:
    """A name of `join` as people read it.

    >>> in_words("(line)"), in_words("(line +0)")
    ('line by line', 'line by line, from the first row on')
    >>> in_words("(line -1)")
    'line by line, each with the truth 1 row above'
    >>> in_words("image"), in_words("subject + visit")
    ("by column 'image'", 'by columns subject + visit')
    """
    if name == LINE:
        return "line by line"
    step = step_named(name)
    if step is None:
        return f"by columns {name}" if " + " in name or " = " in name else f"by column {name!r}"
    if step == 0:
        return "line by line, from the first row on"
    n_rows, where = abs(step), "below" if step > 0 else "above"
    return f"line by line, each with the truth {n_rows} {'row' if n_rows == 1 else 'rows'} {where}"


def _and(columns: tuple[str, ...]) -> str:
    return " and ".join(columns) if len(columns) <= 4 else f"{columns[0]} to {columns[-1]}"


def _column(column: str) -> str:
    return f"column {column!r}"


_SHOWN: dict[str, Callable[[Any], str]] = {
    "probabilities": lambda pairs: listed(f"{column!r} for {name}" for name, column in pairs),
    "parts": lambda parts: listed(f"{part.kind} {part.name}: {_and(part.columns)}" for part in parts),
    "classes": lambda pairs: listed(f"{label} for {name}" for label, name in pairs),
    "positive": str,
    "scores": str,
    "join": in_words,
}


def _part(probabilities: Iterable[Iterable[str]] = (), **values: Any) -> Part:
    return Part(**values, probabilities=tuple((name, column) for name, column in probabilities))


def _check_types(roles: Roles) -> None:
    of_models = [pair for part in roles.parts for pair in part.probabilities]
    names = [name for pair in (*roles.probabilities, *roles.classes, *of_models) for name in pair]
    names += [column for each in (roles, *roles.parts) for column in _singles(each) if column is not None]
    kinds = {part.kind for part in roles.parts} <= {"model", "task"}
    if not kinds or roles.scores not in (None, "probabilities", "logits") or not all(isinstance(n, str) for n in names):
        raise TypeError("not the types that roles have")


def _singles(roles: Roles | Part) -> list[Any]:
    """The values of all fields that hold one column or word."""
    return [getattr(roles, each.name) for each in fields(roles) if each.name not in (*_TUPLES, "why")]


@dataclass(frozen=True, eq=False)
class Reading:
    """The columns of a table, and the roles that they were given so far; `half` says what one of two files holds.

    `names_prediction` is a column that could be the truth, but says what the prediction says.

    >>> from touchstone.core.data.tables import make_table
    >>> reading = Reading(make_table("t.tsv", ["id", "gold"], [["a", "b", "c"], ["x", "y", "x"]], lines=[2, 3, 4]))
    >>> further = reading.take(BY_NAME, truth="gold")
    >>> reading.free, further.free, further.roles.truth
    (['id', 'gold'], ['id'], 'gold')
    """

    table: Table
    half: Half | None = None
    roles: Roles = field(default_factory=Roles)
    names_prediction: str = ""

    @property
    def free(self) -> list[str]:
        """The columns that have no role yet."""
        taken = set(self.roles.columns)
        return [column for column in self.table.columns if column not in taken]

    def take(self, why: str, **roles: object) -> "Reading":
        """The same with further roles, for one reason."""
        return replace(self, roles=replace(self.roles, **roles).because(**dict.fromkeys(roles, why)))

    def naming(self, names: Sequence[str]) -> list[str]:
        """The free columns that have one of the names and hold words or whole numbers, in the order of the names."""
        return [column for column in called(self.free, names) if self.table.kind(column) in NAMING]

    @property
    def has_scores(self) -> bool:
        """Whether the scores of all classes are known."""
        return bool(self.roles.vector or self.roles.probabilities)

    @cached_property
    def labels(self) -> set[str]:
        """The labels in the columns that could hold some."""
        known = [column for column in (self.roles.truth, self.roles.predicted) if column is not None]
        likely = called(self.free, (*TRUTH_LIKELY, *PREDICTED_LIKELY))
        columns = [*known, *(column for column in likely if self.table.is_label(column))]
        return {value for column in columns for value in self.table.spelled(column) if value is not None}

    @cached_property
    def folded_labels(self) -> set[str]:
        """The labels, compact."""
        return {compact(label) for label in self.labels}

    def strings(self, column: str | None) -> list[str]:
        """The labels of a column, "None" where there is none."""
        return [str(value) for value in self.table.spelled(column or "")]
