"""What is each column of a file of predictions? Roles to show, to correct, and to keep for the next file."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal

from core.data.errors import DataError
from core.data.predictions.joins import in_words
from core.data.tables import Table
from core.data.values import first_repeat, listed

Scores = Literal["probabilities", "logits"]
SHARED = ("id", "model", "set", "fold", "task", "source", "trial")  # one column each, for all models and tasks
"""What `join` says where rows of two files belong together as they stand."""
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
        missing = next((column for column in self.columns if column not in table.columns), None)
        if missing is not None:
            raise DataError(f"{table.name}: there is no column {missing!r}. The columns are {listed(table.columns)}.")
        if repeat := first_repeat(self.columns):
            column = self.columns[repeat[1]]
            raise DataError(f"{table.name}: column {column!r} has two roles. Each column can have one.")
        for kind in {part.kind for part in self.parts}:
            if (column := getattr(self, kind)) is not None:
                raise DataError(f"{table.name}: {kind}s stand side by side and in column {column!r} too. Choose one.")
        self._check_names(table)

    def _check_names(self, table: Table) -> None:
        for what, names in (
            ("class", [name for name, _ in self.probabilities]),
            ("model or task", [part.name for part in self.parts]),
            ("predicted name", [said for said, _ in self.classes]),
        ):
            if repeat := first_repeat(names):
                raise DataError(f"{table.name}: {what} {names[repeat[1]]!r} has two columns or meanings. Leave one.")

    def because(self, **why: str) -> "Roles":
        """The same roles with reasons added.

        >>> Roles(truth="gold").because(truth="by its name").why
        (('truth', 'by its name'),)
        """
        return replace(self, why=tuple({**dict(self.why), **why}.items()))


def _and(columns: tuple[str, ...]) -> str:
    return " and ".join(columns) if len(columns) <= 4 else f"{columns[0]} to {columns[-1]}"


def _column(column: str) -> str:
    return f"column {column!r}"


_SHOWN: dict[str, Callable[[Any], str]] = {
    "probabilities": lambda pairs: listed(f"{column!r} for {name}" for name, column in pairs),
    "parts": lambda parts: listed(f"{part.kind} {part.name}: {_and(part.columns)}" for part in parts),
    "classes": lambda pairs: listed(f"{said} for {name}" for said, name in pairs),
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
