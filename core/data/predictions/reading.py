"""What is a file of predictions taken for so far, and what do names add?

One value, made anew by each step: a step takes a `Reading` and gives one with more roles, each with its reason
(`Roles.why`), or the same. Where truth or predictions were not found, `asking` asks or refuses.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Literal

from core.data.errors import DataError
from core.data.predictions.roles import Roles
from core.data.predictions.scores import cell_scores
from core.data.tables import Table
from core.data.tables.class_names import renaming
from core.data.tables.column_names import (
    NAMES,
    PREDICTED_LIKELY,
    ROW_NAMES,
    SCORE_LIKELY,
    TRUTH_LIKELY,
    UNSURE,
    called,
    compact,
    families,
)

Half = Literal["truth", "predictions"]
BY_NAME = "by its name"
BY_VALUES = "by its values"
LIKELY = "likely, by its name and what else is there"
NAMING = ("words", "whole")
"""The kinds of columns that name something: a label, a fold, a model."""
_LONGEST_NAME, _MOST_WORDS = 200, 2  # letters, and words: three or more are a text
_ROWS = ("model", "task", "trial", "set", "fold", "source")
_RESAMPLE = re.compile(r"(fold|resample|bootstrap|repeat)[ _.]?\d+([ _.](fold|rep)\d+)?", re.IGNORECASE)
_MANY = 10  # rows, from which on one value for all is no id that stands several times
ALSO_OTHERS = ("response", "completion", "obs", "estimate")
"""Names of labels that hold something else as often: there the values have to be labels."""


@dataclass(frozen=True, eq=False)
class Reading:
    """The columns of a table, and the roles that they were given so far; `half` says what one of two files holds.

    `names_prediction` is a column that could be the truth, but says what the prediction says.

    >>> from core.data.tables import make_table
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


def name_rows(reading: Reading) -> Reading:
    """Which columns name rows, or divide them into models, sets, folds and such? All of it by name."""
    for role in _ROWS:
        if columns := reading.naming(NAMES[role]):
            reading = reading.take(BY_NAME, **{role: columns[0]})
    for column in filter(partial(_is_resample, reading.table), reading.free):
        if reading.roles.fold is None:
            reading = reading.take(BY_VALUES, fold=column)
    for column in called(reading.free, NAMES["split"]):
        role = "fold" if reading.table.kind(column) == "whole" else "set"
        if getattr(reading.roles, role) is None:
            reading = reading.take("by its name and values", **{role: column})
    return _name_id(reading)


def _is_resample(table: Table, column: str) -> bool:
    """Whether a column of ids, or one called so, names resamples: "Fold1" in R."""
    if compact(column) not in ("id", "resample") or table.kind(column) != "words":
        return False
    return all(_RESAMPLE.fullmatch(value) for value in set(table.spelled(column)) if value is not None)


def _may_name_rows(table: Table, column: str) -> bool:
    """Whether a column could tell rows apart: it holds single values, and not one for all of many rows."""
    single = table.kind(column) not in ("scores", "several")
    return single and (table.n_rows < _MANY or len(set(table.spelled(column))) > 1)


def _name_id(reading: Reading) -> Reading:
    table, free = reading.table, reading.free
    named = [column for column in called(free, NAMES["id"]) if _may_name_rows(table, column)]
    if named:
        return reading.take(BY_NAME, id=next(filter(table.is_unique, named), named[0]))
    endings = [column for column in free if column.lower().endswith(("id", "filename", "file name", "path"))]
    indices = [column for column in free if column.lower() in ROW_NAMES]  # last: files in other orders have the same
    column = next(filter(table.is_unique, (*endings, *indices)), None)
    return reading if column is None else reading.take("by its name and values", id=column)


def keep_names(reading: Reading) -> Reading:
    """Which column names every row, though by nothing but its values? It is the id if nothing else is: samples are
    found again by it. The shortest words are taken, such as the file's name beside its text.
    """
    roles, table = reading.roles, reading.table
    if roles.id is not None or reading.half is not None or not roles.says_something:
        return reading
    apart = [column for role in ("model", "set", "task", "trial") if (column := getattr(roles, role)) is not None]
    lengths = {column: _length_of_names(table, column, apart) for column in reading.free}
    known = {column: length for column, length in lengths.items() if length}
    return reading.take("it names every row", id=min(known, key=known.__getitem__)) if known else reading


def _length_of_names(table: Table, column: str, apart: Sequence[str]) -> int:
    """How many letters the words have that name each row; 0 where they do not, or are whole texts."""
    if table.n_rows < 2 or table.kind(column) != "words":
        return 0
    names = table.spelled(column)
    rows = zip(names, *(table.spelled(other) for other in apart), strict=True)
    if None in names or len(set(rows)) < table.n_rows:
        return 0
    lengths = [len(name or "") for name in names]
    if sum(len(str(name).split()) for name in names) > _MOST_WORDS * len(names):
        return 0
    return sum(lengths) if max(lengths) <= _LONGEST_NAME else 0


def name_labels(reading: Reading) -> Reading:
    """Which columns are truth, predicted label and confidence, by names that are never used for anything else?"""
    of_parts = bool(reading.roles.parts)
    for role, other in (("truth", "predictions"), ("predicted", "truth")):
        columns = reading.naming(NAMES[role])
        if columns and getattr(reading.roles, role) is None and not of_parts and reading.half != other:
            reading = reading.take(BY_NAME, **{role: columns[0]})
    only_scores = reading.roles.says_something and reading.roles.predicted is None
    return reading if reading.half == "truth" or only_scores else _name_confidence(reading)


def _name_confidence(reading: Reading) -> Reading:
    by_name = families(reading.table.columns)  # `prediction_score` beside `prediction_id` are no scores of classes
    by_class = [set(family.values()) for name, family in by_name.items() if len(family) > 1 and name not in UNSURE]
    in_family = set().union(*by_class)  # prob_a is no "proba" where a prob_b stands beside it
    numbers = filter(reading.table.has_numbers, called(reading.free, NAMES["confidence"]))
    column = next((column for column in numbers if column not in in_family), None)
    return reading if column is None else reading.take(BY_NAME, confidence=reading.roles.confidence or column)


def tell_apart(reading: Reading) -> Reading:
    """Is `label` the truth or the prediction? Such names mean opposite things: what else is there and values decide."""
    if reading.roles.parts:
        return reading
    reading = _likely_score(reading)
    truths = [column for column in reading.naming(TRUTH_LIKELY) if _is_no_answer(reading.table, column)]
    said = [column for column in reading.naming(PREDICTED_LIKELY) if _is_no_answer(reading.table, column)]
    if reading.half == "truth":
        known = reading.roles.truth is not None or not (truths or said)
        return reading if known else reading.take(LIKELY, truth=(truths or said)[0])
    if reading.roles.predicted is None and said:
        reading = reading.take(LIKELY, predicted=said[0])
    if reading.half == "predictions":
        known = reading.has_scores or reading.roles.predicted or reading.roles.parts or not truths
        return reading if known else reading.take("the only labels in the file of predictions", predicted=truths[0])
    return _labels_beside(reading, truths)


def _is_no_answer(table: Table, column: str) -> bool:
    """Whether a column is more than free text or a count, which is what `response` and `obs` hold as often."""
    return compact(column) not in ALSO_OTHERS or table.is_label(column)


def _labels_beside(reading: Reading, truths: list[str]) -> Reading:
    """What `label` and the like are, in a file that holds both truth and predictions."""
    if reading.roles.truth is not None:
        return _leftover(reading, truths)
    one = len(truths) == 1 or (truths and compact(truths[0]) in ("label", "labels"))
    return _truth_or_prediction(reading, truths[0]) if one else reading


def _likely_score(reading: Reading) -> Reading:
    """The confidence by a name that may mean a label too: `prediction` that holds fractions."""
    if reading.half == "truth" or reading.roles.confidence or reading.has_scores:
        return reading
    kind = reading.table.kind
    scores = [c for c in called(reading.free, (*NAMES["predicted"], *SCORE_LIKELY)) if kind(c) == "fraction"]
    other = ("whole",) if reading.roles.predicted else ("whole", "number")  # numbers shall be refused with their line
    scores += [column for column in called(reading.free, ("score", "scores")) if kind(column) in other]
    if scores and _are_answers(reading, scores[0]):
        return reading.take("it holds the classes of the truth", predicted=scores[0])
    return reading.take(LIKELY, confidence=scores[0]) if scores else reading


def _are_answers(reading: Reading, column: str) -> bool:
    """Whether a column called score holds nothing but the two classes of the truth: then it is the answer itself."""
    roles, table = reading.roles, reading.table
    if roles.predicted or roles.truth is None or table.kind(column) != "whole":
        return False
    return len(set(table.spelled(column))) == 2 and set(table.spelled(column)) == set(table.spelled(roles.truth))


def _leftover(reading: Reading, truths: list[str]) -> Reading:
    """A `label` beside a truth is the prediction, unless it is the truth by another name, or scores are there."""
    if reading.roles.predicted is None and not reading.has_scores:
        truth = reading.strings(reading.roles.truth)
        for column in truths:
            if renaming(reading.strings(column), truth) is None:
                return reading.take(LIKELY, predicted=column)
    return reading


def _truth_or_prediction(reading: Reading, column: str) -> Reading:
    """Is `label` the truth? Not if it says what the prediction says, nor where only a confidence is beside it."""
    said, labels = _said(reading), reading.strings(column)
    if said is not None:
        if renaming(said, labels) is None:
            return reading.take(LIKELY, truth=column)
        reading = replace(reading, names_prediction=column)
        known = reading.roles.predicted is not None
        return reading if known else reading.take("it agrees with the highest score", predicted=column)
    if reading.roles.confidence is None or _is_of_one_class(reading, labels):
        return reading.take(LIKELY, truth=column)
    reading = replace(reading, names_prediction=column)
    return reading.take("likely, beside a confidence and no other label", predicted=column)


def _is_of_one_class(reading: Reading, labels: list[str]) -> bool:
    """Whether the only scores are of one of two classes, whichever, and do not decide the labels."""
    scores = reading.table.floats(reading.roles.confidence or "")
    halves = [str(score) for score in scores >= 0.5]
    return len(set(labels)) <= 2 and bool((scores < 0.5).any()) and renaming(halves, labels) is None


def _said(reading: Reading) -> list[str] | None:
    """What the model said, as names of columns or positions: its label, or the class of the highest score."""
    roles, table = reading.roles, reading.table
    if roles.predicted is not None:
        return reading.strings(roles.predicted)
    with suppress(DataError):
        if roles.vector is not None:
            return [str(position) for position in cell_scores(table, roles.vector)[1].argmax(axis=1)]
        if roles.probabilities:
            matrix = table.matrix(column for _, column in roles.probabilities)
            return [str(position) for position in matrix.argmax(axis=1)]
    return None


def only_one(reading: Reading) -> Reading:
    """In one of two files, which is the only column of labels? It is what that file is about, whatever it is called."""
    if reading.half is None or (reading.half == "truth" and reading.roles.has_truth):
        return reading
    if reading.half == "predictions" and reading.roles.says_something:
        return _whole(reading)
    role = "truth" if reading.half == "truth" else "predicted"
    labels = reading.naming((*NAMES["truth"], *NAMES["predicted"])) or list(
        filter(reading.table.is_label, reading.free)
    )
    if len(labels) == 1:
        return reading.take("the only labels in this file", **{role: labels[0]})
    fractions = [column for column in reading.free if reading.table.kind(column) == "fraction"]
    lone = role == "predicted" and not labels and len(reading.free) == len(fractions) == 1
    return reading.take("the only numbers in this file", confidence=fractions[0]) if lone else reading


def _whole(reading: Reading) -> Reading:
    """Predictions with their truth beside them: the other file may add folds."""
    truths = [column for column in called(reading.free, NAMES["truth"]) if reading.table.is_label(column)]
    known = reading.roles.has_truth or reading.roles.parts or not truths
    return reading if known else reading.take(BY_NAME, truth=truths[0])
