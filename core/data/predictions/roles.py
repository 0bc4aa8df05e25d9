"""What is each column of a file of predictions? Roles to show, to correct, and to keep for the next file.

`Roles` hold a name and a reason for each; `join` among them says how rows of two files belong together, and can be put
in words. While a file is read, they are part of a `Reading`: the table and what its columns were given so far.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property, partial
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np
from jaxtyping import Float

from touchstone.core.data.errors import DataError, refusing
from touchstone.core.data.tables import names as naming
from touchstone.core.data.tables.names import PREDICTED_LIKELY, TRUTH_LIKELY, called, compact
from touchstone.core.data.tables.sources import LEFT_OUT, OF_THEIR_OWN, SOURCELESS
from touchstone.core.data.tables.table import Table
from touchstone.core.data.values import first_repeat, listed, numbers_in

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
    "unanswered": "Rows without an answer are",
    "sourceless": "Rows without a source are",
    "ties": "Of classes that tie for the highest score",
    "join": "Rows of the two files belong together",
}
LINE = "(line)"
"""What `join` says where rows of two files belong together as they stand."""
_SHIFTED = re.compile(r"\(line ([+-]\d+)\)")
WRONG = "wrong"
UNANSWERED = (WRONG, LEFT_OUT, OF_THEIR_OWN)
"""What rows without an answer can count as."""
SHARE, FIRST = "share", "first"
TIES = (SHARE, FIRST, WRONG)
"""Which of several classes of the highest score is the answer: each as often, by lot; the first; or none of them."""
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
    rows of two files belong together ("subject + visit" two, "file = image" one of two names), or is LINE. `unanswered`
    says what rows without an answer are: WRONG, LEFT_OUT, or a class OF_THEIR_OWN, as an empty truth then is;
    `sourceless` says the same of rows without a source (SOURCELESS). `ties` is one of TIES, SHARE if nothing is said;
    it counts where scores alone tell the answer. `why` says, by role, how sure the guess is.

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
    unanswered: str | None = None
    sourceless: str | None = None
    ties: str | None = None
    join: str | None = None
    why: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that have a role."""
        return (
            *self.by_role((*_SINGLE, *SHARED)).values(),
            *(column for _, column in self.probabilities),
            *(column for part in self.parts for column in part.columns),
        )

    def by_role(self, roles: Iterable[str]) -> dict[str, str]:
        """The column of each of these roles that is known; all of them are one column each."""
        return {role: column for role in roles if (column := getattr(self, role)) is not None}

    def free_in(self, table: Table) -> list[str]:
        """The columns of a table that have no role."""
        taken = set(self.columns)
        return [column for column in table.columns if column not in taken]

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
    def truths(self) -> dict[str, str]:
        """The columns of truths of their own, by task."""
        return {part.name: part.truth for part in self.parts if part.truth is not None}

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
        other = "This is no file of roles. Give the JSON file that Touchstone offers for download below the roles."
        with refusing(other, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            values = json.loads(text)
            if values.pop("touchstone") != "prediction roles":
                raise ValueError
            pairs = {role: tuple((a, b) for a, b in values.pop(role, ())) for role in ("probabilities", "classes")}
            parts = tuple(_part(**part) for part in values.pop("parts", ()))
            roles = cls(**values, **pairs, parts=parts)
            _check_types(roles)
        return roles

    def check(self, table: Table) -> None:
        """DataError where the table lacks one of the columns, or a column has two roles."""
        table.check_roles(self.columns)
        for kind in {part.kind for part in self.parts}:
            if (column := getattr(self, kind)) is not None:
                raise DataError(f"{table.name}: {kind}s stand side by side and in column {column!r} too. Choose one.")
        if self.unanswered not in (None, *UNANSWERED):
            known = listed(UNANSWERED)
            raise DataError(f"{table.name}: rows without an answer can be {known}, not {self.unanswered!r}.")
        if self.ties not in (None, *TIES):
            raise DataError(f"{table.name}: ties can be {listed(TIES)}, not {self.ties!r}.")
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
    "unanswered": str,
    "sourceless": str,
    "ties": str,
    "join": in_words,
}


def _part(probabilities: Iterable[Iterable[str]] = (), **values: Any) -> Part:
    return Part(**values, probabilities=tuple((name, column) for name, column in probabilities))


_CHOICES = {"unanswered": UNANSWERED, "sourceless": SOURCELESS, "scores": get_args(Scores), "ties": TIES}
"""The roles that are one of a few words."""


def _check_types(roles: Roles) -> None:
    pairs = chain(roles.classes, *(each.probabilities for each in (roles, *roles.parts)))
    names = chain(*pairs, *map(_singles, (roles, *roles.parts)))
    kinds = {part.kind for part in roles.parts} <= {"model", "task"}
    known = all(getattr(roles, role) in (None, *words) for role, words in _CHOICES.items())
    if not kinds or not known or not all(isinstance(name, str) for name in names):
        raise TypeError("not the types that roles have")


def _singles(roles: Roles | Part) -> list[Any]:
    """The values of all fields that hold one column or word, as far as these are known."""
    return [value for name, value in vars(roles).items() if name not in (*_TUPLES, "why") and value is not None]


ONE_EACH = tuple(each.name for each in fields(Roles) if each.name not in (*_TUPLES, "why"))
"""The roles that are one column or word each."""


@dataclass(frozen=True, eq=False)
class Reading:
    """The columns of a table, and the roles that they were given so far; `half` says what one of two files holds.

    `names_prediction` is a column that could be the truth, but says what the prediction says.

    >>> from touchstone.core.data.tables.table import make_table
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
        return self.roles.free_in(self.table)

    def take(self, why: str, **roles: object) -> "Reading":
        """The same with further roles, for one reason."""
        return replace(self, roles=replace(self.roles, **roles).because(**dict.fromkeys(roles, why)))

    def naming(self, names: Sequence[str], kinds: Sequence[str] = NAMING) -> list[str]:
        """The free columns that have one of the names and are of such `kinds`, in the order of the names."""
        return [column for column in called(self.free, names) if self.table.kind(column) in kinds]

    @property
    def has_scores(self) -> bool:
        """Whether the scores of all classes are known."""
        return bool(self.roles.vector or self.roles.probabilities)

    @cached_property
    def labels(self) -> set[str]:
        """The labels in the columns that could hold some."""
        likely = called(self.free, (*TRUTH_LIKELY, *PREDICTED_LIKELY))
        columns = [*self.roles.by_role(("truth", "predicted")).values(), *filter(self.table.is_label, likely)]
        if not columns:  # whatever it is called, where there is one
            columns = list(filter(self.table.is_label, self.free))
            columns = columns if len(columns) == 1 else []
        return {value for column in columns for value in self.table.spelled(column) if value is not None}

    @cached_property
    def folded_labels(self) -> set[str]:
        """The labels, compact."""
        return {compact(label) for label in self.labels}

    def strings(self, column: str | None) -> list[str]:
        """The labels of a column, "None" where there is none."""
        return [str(value) for value in self.table.spelled(column or "")]


# Which columns hold scores, and what are these? A vector in each cell, a column for each class, or the highest only.
#
# `find_scores` is a step of guessing roles (`guess`); their numbers are `probabilities`, or logits.

_SCORES = ("fraction", "whole")
_INPUTS = (
    *("features", "scaledfeatures", "embedding", "embeddings"),
    *("inputids", "tokenids", "tokentypeids", "attentionmask"),
)
_SCORE_WORDS = re.compile(r"prob|softmax|logit|score|raw|pred|output", re.IGNORECASE)
_MOSTLY = 0.9
_SHORT = ("p", "out", "conf", "confidence", "confidences")
_MOST_ROUNDED = 0.2  # beyond, so few decimals of so many classes say too little
_NOISE = 1e-6  # what 32-bit numbers add to a probability of 0 or 1
_SEEN = 1000  # rows that are looked at before all are
_LOGIT_WORDS = re.compile(r"logit|rawformulaval|rawscore|margin|decisionfunction")


def find_scores(reading: Reading) -> Reading:
    """Which columns hold scores? Of all classes in one cell, of each in its own column, or the highest of them only."""
    if vector := _vector(reading):
        return reading.take(BY_VALUES, vector=vector)
    reading = _top(reading)
    numeric = list(filter(reading.table.has_numbers, reading.free))
    for find in (_of_all_classes, _of_families, _of_classes, _of_numbers, _of_endings, _of_headless, _of_answers):
        further = find(reading, numeric)
        if further is not reading:
            return further
    return reading


def _vector(reading: Reading) -> str | None:
    """The column of vectors of scores; of several that which holds probabilities, else one that is called so."""
    table = reading.table
    vectors = [c for c in reading.free if table.kind(c) == "scores" and naming.compact(c) not in _INPUTS]
    vectors = [column for column in vectors if _has_several(table, column) and _may_be_scores(reading, column)]
    if len(vectors) < 2:
        return next(iter(vectors), None)
    are_called_so = filter(_SCORE_WORDS.search, vectors)
    return next(filter(partial(_are_probabilities, table), vectors), next(are_called_so, vectors[0]))


def _may_be_scores(reading: Reading, column: str) -> bool:
    """Whether vectors are scores by their name, or where nothing else says what was predicted, or go with what does."""
    predicted = reading.roles.predicted or next(iter(naming.called(reading.free, naming.PREDICTED_LIKELY)), column)
    if _SCORE_WORDS.search(column) or naming.compact(column) in _SHORT or predicted == column:
        return True
    with suppress(DataError):
        names, scores = reading.table.scores(column)
        if not all(name.isdecimal() for name in names):
            return naming.common_names(reading.labels, set(names)) is not None
        highest = [names[place] for place in scores.argmax(axis=1)]
        return naming.renaming(highest, reading.strings(predicted)) is not None
    return False


def _are_probabilities(table: Table, column: str) -> bool:
    with suppress(DataError):
        probabilities(table.scores(column)[1], place=str, kind="probabilities")
        return True
    return False


def _of_all_classes(reading: Reading, numeric: list[str]) -> Reading:
    """Columns that are called alike but for a class each, and for every class that labels name: "P (hue=red)"."""
    labels = {naming.compact(label): label for label in reading.labels}
    if not 1 < len(labels) == len(reading.labels) or "" in labels:  # a label of signs alone is in every name
        return reading
    around_classes = ((column, _around_class(naming.compact(column), labels)) for column in numeric)
    groups = naming.by_both((parts[1:], labels[parts[0]], column) for column, parts in around_classes if parts)
    fitting = [columns for around, columns in groups.items() if _are_of_all(reading, "".join(around), columns)]
    return _take_family(reading, fitting[0], BY_NAMES) if len(fitting) == 1 else reading


def _are_of_all(reading: Reading, around: str, columns: dict[str, str]) -> bool:
    """Whether a column for each class holds scores: by its name, if it says logits, else by the sums."""
    if len(columns) < len(reading.labels) or _belong_to_parts(reading.table, columns.values()):
        return False
    if _LOGIT_WORDS.search(around):
        return True
    if not _sum_to_one(reading.table, list(columns.values())):
        return False
    predicted = reading.roles.predicted
    return bool(_SCORE_WORDS.search(around)) or predicted is None or _go_with(reading, columns, predicted)


def _go_with(reading: Reading, columns: dict[str, str], predicted: str) -> bool:
    """Whether the highest of the columns mostly goes with the predicted label; votes of people do not."""
    highest = reading.table.matrix(columns.values()).argmax(axis=1)
    best = [list(columns)[place] for place in highest]
    same = sum(a == b for a, b in zip(best, reading.strings(predicted), strict=True))
    return same > _MOSTLY * len(best)


def _around_class(name: str, labels: Collection[str]) -> tuple[str, str, str] | None:
    """The longest label in a name, and what stands before and after it; numbers must stand at its end."""
    inside = [label for label in labels if (name.endswith(label) if label.isdecimal() else label in name)]
    if not inside:
        return None
    label = max(inside, key=len)
    before, _, after = name.rpartition(label)
    return label, before, after


def _of_families(reading: Reading, numeric: list[str]) -> Reading:
    """Columns that are called alike but for a class: "prob_cat"; or but for a rank: "prob_1"."""
    for family, columns in sorted(naming.families(numeric).items(), key=lambda each: -len(each[1])):
        if _is_ranking(reading, columns):
            return _take_ranking(reading, columns)
        if len(columns) > 1 and _are_scores(reading, columns, sure=family not in naming.UNSURE):
            return _take_family(reading, columns, BY_NAMES)
        if len(columns) == 1 and _is_positive(reading, *next(iter(columns.items()))):
            return _take_positive(reading, columns)
    return reading


def _of_classes(reading: Reading, numeric: list[str]) -> Reading:
    """Columns that are called like classes."""
    bare = {name: name for name in numeric if _is_label_of(reading, name)}
    fractions = {name: name for name in numeric if reading.table.kind(name) == "fraction"}
    if len(bare) > 1 and bare.keys() < fractions.keys() and _sum_to_one(reading.table, list(fractions)):
        return _take_family(reading, fractions, "by their names, classes' but for some, and their sums")
    if len(bare) > 1 and _are_scores(reading, bare, sure=False):
        return _take_family(reading, bare, "by their names, which are classes'")
    return reading


def _of_numbers(reading: Reading, numeric: list[str]) -> Reading:
    """Columns that are called 0, 1, 2, ... and sum to 1, beside labels that have names."""
    numbered = {name: name for name in numeric if name.isdecimal()}
    n_columns = len(numbered)
    from_zero, from_one = (sorted(map(str, range(start, start + n_columns))) for start in (0, 1))
    if n_columns < max(2, len(reading.labels)) or sorted(numbered) not in (from_zero, from_one):
        return reading
    if not _sum_to_one(reading.table, list(numbered)):
        return reading
    return _take_family(reading, numbered, "by their names, which are numbers, and values")


def _of_answers(reading: Reading, numeric: list[str]) -> Reading:
    """Columns side by side that sum to 1, and of which the highest goes with one predicted label each."""
    predicted = reading.roles.predicted or next(iter(naming.called(reading.free, naming.PREDICTED_LIKELY)), None)
    if predicted is None or not reading.table.is_label(predicted):
        return reading
    labels = reading.strings(predicted)
    n_classes = len({*labels, *(reading.strings(reading.roles.truth) if reading.roles.truth else labels)})
    fractions = [column for column in numeric if reading.table.kind(column) in _SCORES]
    for start in range(len(fractions) - n_classes + 1):
        columns = fractions[start : start + n_classes]
        if _are_of_labels(reading.table, columns, labels):
            return _take_family(reading, {column: column for column in columns}, "by their values and the predictions")
    return reading


def _are_of_labels(table: Table, columns: list[str], labels: list[str]) -> bool:
    """Whether columns sum to 1, and the highest of them goes with one label each."""
    if len(columns) < 2 or not _sum_to_one(table, columns):
        return False
    highest = table.matrix(columns).argmax(axis=1)
    return naming.renaming([columns[place] for place in highest], labels) is not None


def _of_endings(reading: Reading, numeric: list[str]) -> Reading:
    """Columns that end in a word for scores: "cat_logit", or "cat_prob" where they sum to 1."""
    sides = naming.stems(numeric)
    logits = {name: columns["logit"] for name, columns in sides.items() if "logit" in columns}
    if len(logits) > 1:
        return _take_family(reading, logits, BY_NAMES)
    ends = {name: columns["confidence"] for name, columns in sides.items() if "confidence" in columns}
    if len(ends) > 1 and _sum_to_one(reading.table, list(ends.values())):
        return _take_family(reading, ends, "by their names and values")
    if len(ends) == 1 and _is_positive(reading, *next(iter(ends.items()))):
        return _take_positive(reading, ends)
    return reading


def _of_headless(reading: Reading, numeric: list[str]) -> Reading:
    """Columns without names that sum to 1."""
    fractions = [column for column in numeric if reading.table.kind(column) == "fraction"]
    rest = [column for column in fractions if column.startswith(("column ", "unnamed column "))]
    if len(rest) > 1 and _sum_to_one(reading.table, rest):
        return _take_family(reading, {str(position): column for position, column in enumerate(rest)}, BY_VALUES)
    return reading


def _take_family(reading: Reading, columns: dict[str, str], why: str) -> Reading:
    return reading.take(why, probabilities=tuple(columns.items()))


def _take_positive(reading: Reading, columns: dict[str, str]) -> Reading:
    """The only score as that of a class, since it is called so: "spam_prob"."""
    name, column = next(iter(columns.items()))
    return reading.take("by its name, which is a class's", confidence=column, positive=name)


def _is_positive(reading: Reading, name: str, column: str) -> bool:
    """Whether the only score is called like one of two classes."""
    if reading.roles.confidence is not None or reading.table.kind(column) not in _SCORES:
        return False
    common = naming.common_names(reading.labels, {name})
    n_labels = len(reading.labels)
    return n_labels <= 2 and common is not None and len(set(common[0].values())) == n_labels


def _has_several(table: Table, column: str) -> bool:
    """Whether the first vector of a column has scores of two classes or more, or is broken."""
    first = numbers_in(table.columns[column][0])
    return first is None or len(first) > 1


def _top(reading: Reading) -> Reading:
    """The first of the ranks of a top-k file."""
    for column in reading.free:
        if (naming.ranked(column) or (0,))[0] != 1:
            continue
        if reading.roles.predicted is None and reading.table.is_label(column):
            reading = reading.take("the first of several ranks", predicted=column)
        elif reading.roles.confidence is None and reading.table.kind(column) == "fraction":
            reading = reading.take("the highest of several ranks", confidence=column)
    return reading


def _take_ranking(reading: Reading, columns: dict[str, str]) -> Reading:
    """The highest score as the confidence, and the label that is numbered like it: `pred_1` beside `prob_1`."""
    rank, column = next(iter(columns.items()))
    reading = reading.take("the highest of several ranks", confidence=column)
    names = {f"{stem}{rank}" for stem in ("pred", "prediction", "predicted", "label", "class", "rank")}
    label = next((c for c in reading.free if naming.compact(c) in names and reading.table.is_label(c)), None)
    known = reading.roles.predicted is not None or label is None
    return reading if known else reading.take("the first of several ranks", predicted=label)


def _is_ranking(reading: Reading, columns: dict[str, str]) -> bool:
    """Whether numbered columns hold the highest score, the second highest, ... whichever classes these are of."""
    numbers = [int(name) if name.isdecimal() else -1 for name in columns]
    if len(columns) < 2 or numbers not in (list(range(len(numbers))), list(range(1, len(numbers) + 1))):
        return False
    matrix = reading.table.matrix(columns.values())
    if reading.table.n_rows < 2 or not (np.diff(matrix, axis=1) <= 0).all():
        return False
    label = _likeliest_label(reading)
    return label is not None and len(set(reading.table.spelled(label))) > 1


def _likeliest_label(reading: Reading) -> str | None:
    """The column of what was predicted, or else of the truth, as far as that is seen."""
    roles, free = reading.roles, reading.free
    predicted, truths = (naming.called(free, likely) for likely in (naming.PREDICTED_LIKELY, naming.TRUTH_LIKELY))
    columns = [roles.predicted, *predicted, roles.truth, *truths]
    return next((column for column in columns if column), None)


def _are_scores(reading: Reading, columns: dict[str, str], *, sure: bool) -> bool:
    """Whether columns hold scores of classes: by their names, if that is sure, or else also by their values."""
    if _belong_to_parts(reading.table, columns.values()):
        return False
    if sure:
        return True
    are_classes = all(name.isdecimal() or _is_label_of(reading, name) for name in columns)
    if any(reading.table.kind(column) in ("fraction", "number") for column in columns.values()):
        return are_classes or _sum_to_one(reading.table, list(columns.values()))
    # 0 and 1 may also be what several models said
    return are_classes and _sum_to_one(reading.table, list(columns.values()))


def _sum_to_one(table: Table, columns: Sequence[str]) -> bool:
    """Whether the columns hold probabilities, which sum to 1 in every row."""
    with suppress(DataError):
        probabilities(table.matrix(columns), place=str, kind="probabilities")
        return True
    return False


def _is_label_of(reading: Reading, name: str) -> bool:
    return name in reading.labels or naming.compact(name) in reading.folded_labels


def _belong_to_parts(table: Table, columns: Collection[str]) -> bool:
    """Whether the columns' models or tasks have labels of their own beside them."""
    sides = (roles for roles in naming.stems(table.columns).values() if "predicted" in roles or "truth" in roles)
    return any(roles.get("confidence") in columns for roles in sides)


def probabilities(
    scores: Float[np.ndarray, "n_rows n_classes"], *, place: Callable[[int], str], kind: Scores | None = None
) -> tuple[Float[np.ndarray, "n_rows n_classes"], str]:
    """Probabilities, and a sentence on what the scores were: in [0, 1] with sum 1 (± 0.01), or logits, if outside.

    Sums may miss 1 by more where numbers of few decimals explain it: rows are then divided by their sums. `kind`
    decides it instead. DataError names the first row that is neither: `place(row)` tells where that is.

    >>> probabilities(np.array([[0.0, np.log(3)]]), place=lambda row: f"line {row + 2}", kind="logits")[0]
    array([[0.25, 0.75]])
    >>> probabilities(np.array([[0.6, 0.77]]), place=lambda row: f"line {row + 2}")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: line 2: probabilities sum to 1.37. Each row must sum to 1; are these logits?
    """
    if not np.isfinite(scores).all():
        row = int(np.argwhere(~np.isfinite(scores))[0][0])
        raise DataError(f"{place(row)}: a score is missing or infinite. Each must be a finite number: fill it in.")
    inside = ((scores >= -_NOISE) & (scores <= 1 + _NOISE)).all(axis=1)
    sums = scores.sum(axis=1)
    good = inside & (np.abs(sums - 1) <= _explained(scores) + 1e-9)
    if kind is None and (scores >= 0).all() and (np.abs(sums - 100) <= 100 * ROUNDED).all():
        raise DataError(f"{place(0)}: scores sum to {sums[0]:.4g}, as percent do. Divide them by 100.")
    if kind == "logits" or (kind is None and not inside.all() and good.mean() <= 0.5):
        exponents = np.exp(scores - scores.max(axis=1, keepdims=True))
        return exponents / exponents.sum(axis=1, keepdims=True), "The scores are logits: softmax was applied."
    if good.all():
        return _divided(np.clip(scores, 0.0, 1.0))
    raise _no_probability(scores, int(np.flatnonzero(~good)[0]), place)


def _explained(scores: np.ndarray) -> float:
    """By how much a row's sum may miss 1: by half a unit of the last decimal per class, where decimals are few."""
    n_classes = scores.shape[1]
    for n_decimals in range(5):
        if _have_decimals(scores[:_SEEN], n_decimals) and _have_decimals(scores, n_decimals):
            explained = 0.5 * 10.0**-n_decimals * n_classes if n_decimals else 0.0
            return min(max(ROUNDED, explained), _MOST_ROUNDED)
    return ROUNDED


def _have_decimals(scores: np.ndarray, n_decimals: int) -> bool:
    with np.errstate(over="ignore"):  # of numbers that are no probabilities
        return bool(np.abs(scores - scores.round(n_decimals)).max(initial=0.0) <= _NOISE)


def _divided(proba: np.ndarray) -> tuple[np.ndarray, str]:
    """Probabilities whose rows sum to 1 as nearly as files write them, and what was done for that."""
    sums = proba.sum(axis=1, keepdims=True)
    off = np.abs(sums - 1) > ROUNDED + 1e-9
    if not off.any():
        return proba, "The scores are probabilities."
    note = f"The scores are probabilities that were rounded: {int(off.sum()):,} rows were divided by their sums."
    return np.where(off, proba / sums, proba), note


def _no_probability(scores: np.ndarray, row: int, place: Callable[[int], str]) -> DataError:
    outside = scores[row][(scores[row] < -_NOISE) | (scores[row] > 1 + _NOISE)]
    if len(outside):
        return DataError(
            f"{place(row)}: a probability is {outside[0]:.6g}. Each must lie in [0, 1]; are these logits, or percent?"
        )
    total = f"{scores[row].sum():.4g}"
    return DataError(f"{place(row)}: probabilities sum to {total}. Each row must sum to 1; are these logits?")
