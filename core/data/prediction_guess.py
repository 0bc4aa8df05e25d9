"""What is each column of a file of predictions? Known by names, decided by values, and else asked."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Literal

import numpy as np

from core.data.classes import common_names, renaming
from core.data.column_names import (
    NAMES,
    PREDICTED_LIKELY,
    SCORE_LIKELY,
    TRUTH_LIKELY,
    called,
    compact,
    families,
    ranked,
    stems,
)
from core.data.errors import DataError, RolesNeeded
from core.data.prediction_roles import Part, Roles
from core.data.roles import ROW_NAMES, listed, sample
from core.data.scores import cell_scores, numbers_in, probabilities
from core.data.spelling import spell
from core.data.suspicion import agreement_by_chance
from core.data.tables import Table, as_numbers, quoted

Kind = Literal["scores", "several", "fraction", "number", "whole", "words"]
Half = Literal["truth", "predictions"]
_BY_NAME = "by its name"
_BY_VALUES = "by its values"
_LIKELY = "likely, by its name and what else is there"
_MOST_CLASSES = 1000
_SAME = 0.999


def guess_roles(table: Table) -> Roles:
    """Say what each column is; `why` of the roles (and their `lines()`) tell how sure that is.

    What cannot be decided stays None; reading the predictions then asks for it (RolesNeeded).

    >>> from core.data.tables import make_table
    >>> table = make_table("t.tsv", ["id", "label", "prediction"], [["a", "b"], ["x", "y"], ["x", "x"]], lines=[2, 3])
    >>> guess_roles(table).lines()
    ["Truth: column 'label' (likely, by its name and what else is there)",
     "Predicted label: column 'prediction' (likely, by its name and what else is there)",
     "Id: column 'id' (by its name)"]
    """
    return _Guess(table, None).roles


def complete_roles(table: Table, roles: Roles | None = None, *, half: Half | None = None) -> Roles:
    """The roles to read a table with: guessed, or given and, where they lack truth or predictions, completed.

    `half` says that the table holds only the truth, or only the predictions, of two files. RolesNeeded asks what could
    not be decided; DataError where it can never be, because nothing could be the truth, or what a model said.
    """
    if roles is not None:
        roles.check(table)
        if roles.has_truth and roles.says_something:
            return roles
        if half is not None and roles.columns and (roles.has_truth or roles.says_something or half == "truth"):
            return roles
    guess = _Guess(table, half, roles)
    if problem := guess.problem():
        raise problem
    return guess.roles


class _Guess:
    """The columns of a table, and the roles that they were given so far."""

    def __init__(self, table: Table, half: Half | None, given: Roles | None = None):
        self.table, self.half = table, half
        self.roles = given or Roles()
        self.kinds: dict[str, Kind] = {}
        self.values: dict[str, list[str | None]] = {}
        self.names_prediction = ""  # the column that could be the truth, but says what the prediction says
        if given is None:
            self._rows()
        self._named()
        self._scores()
        self._ambiguous()
        if not self.roles.says_something and half != "truth":
            self._stems()
        if not self.roles.says_something and self.roles.has_truth and half is None:
            self._by_values()
        if half is not None:
            self._only_one()

    # What the columns hold

    def kind(self, column: str) -> Kind:
        """What is in the cells of a column."""
        if column not in self.kinds:
            self.kinds[column] = self._kind(self.table.columns[column])
        return self.kinds[column]

    def _kind(self, values: np.ndarray) -> Kind:
        seen = sample(values)
        if values.dtype == object:
            cells = [cell for cell in seen.tolist() if cell is not None and cell != ""]
            parsed = [numbers_in(cell) for cell in cells]
            if cells and sum(cell is not None for cell in parsed) > len(cells) / 2:
                flat = [number for cell in parsed if isinstance(cell, list) for number in cell]
                return "several" if flat and all(number in (0, 1) for number in flat) else "scores"
            if any(isinstance(cell, (list, dict, np.ndarray)) for cell in cells) or _bracketed(cells):
                return "several"
        numbers = as_numbers(seen)
        finite = numbers[np.isfinite(numbers)]
        if len(finite) <= len(numbers) / 2:
            return "words"
        if (finite == np.round(finite)).all():
            return "whole"
        return "fraction" if ((finite >= 0) & (finite <= 1)).mean() > 0.5 else "number"

    def has_numbers(self, column: str) -> bool:
        """Whether there is any number: then whatever is none shall be an error, not a column that goes unnoticed."""
        return bool(np.isfinite(as_numbers(sample(self.table.columns[column]))).any())

    def spelled(self, column: str) -> list[str | None]:
        """The cells as strings, None where there is none."""
        if column not in self.values:
            self.values[column] = [spell(value) for value in self.table.columns[column].tolist()]
        return self.values[column]

    def is_label(self, column: str) -> bool:
        """Whether a column could hold labels: words or whole numbers, of which there are few different ones."""
        if self.kind(column) not in ("words", "whole"):
            return False
        n_different = len(set(self.spelled(column)))
        return n_different <= max(2, min(_MOST_CLASSES, self.table.n_rows / 2))

    @property
    def free(self) -> list[str]:
        """The columns that have no role yet."""
        taken = set(self.roles.columns)
        return [column for column in self.table.columns if column not in taken]

    def take(self, why: str, **roles: str | None) -> None:
        """Give roles, for one reason."""
        self.roles = replace(self.roles, **roles).because(**dict.fromkeys(roles, why))

    # The steps

    def _rows(self) -> None:
        """Id and what divides the rows, all of it by name."""
        for role in ("model", "task", "trial", "set", "fold", "source"):
            columns = [column for column in called(self.free, NAMES[role]) if self.kind(column) in ("words", "whole")]
            if columns:
                self.take(_BY_NAME, **{role: columns[0]})
        for column in called(self.free, NAMES["split"]):
            role = "fold" if self.kind(column) == "whole" else "set"
            if getattr(self.roles, role) is None:
                self.take("by its name and values", **{role: column})
        self._id()

    def _id(self) -> None:
        named = [column for column in called(self.free, NAMES["id"]) if self.kind(column) not in ("scores", "several")]
        unique = [column for column in named if self.is_unique(column)]
        if named:
            self.take(_BY_NAME, id=(unique or named)[0])
            return
        for column in self.free:
            ends = column.lower().endswith(("id", "filename", "file name", "path"))
            if (ends or column.lower() in ROW_NAMES) and self.is_unique(column):
                self.take("by its name and values", id=column)
                return

    def is_unique(self, column: str) -> bool:
        """Whether no value occurs twice."""
        return len(set(self.spelled(column))) == self.table.n_rows

    def _named(self) -> None:
        """Truth, predicted label and confidence by names that are never used for anything else."""
        for role in ("truth", "predicted"):
            of_parts = bool(self.roles.parts)
            columns = [c for c in called(self.free, NAMES[role]) if self.kind(c) in ("words", "whole")]
            if columns and getattr(self.roles, role) is None and not of_parts and self.half != _OTHER[role]:
                self.take(_BY_NAME, **{role: columns[0]})
        if self.half == "truth" or (self.roles.says_something and self.roles.predicted is None):
            return
        by_class = [set(family.values()) for family in families(self.table.columns).values() if len(family) > 1]
        for column in called(self.free, NAMES["confidence"]):  # prob_a is no "proba" where a prob_b stands beside it
            if self.has_numbers(column) and not any(column in family for family in by_class):
                self.take(_BY_NAME, confidence=self.roles.confidence or column)
                return

    def _scores(self) -> None:
        """Scores of all classes: in one cell, in a column per class, or the highest of them only."""
        if self.half == "truth" or self.roles.vector or self.roles.probabilities or self.roles.parts:
            return
        vectors = [column for column in self.free if self.kind(column) == "scores"]
        if vectors:
            self.take(_BY_VALUES, vector=vectors[0])
            return
        self._top()
        numeric = [column for column in self.free if self.has_numbers(column)]
        for family, columns in sorted(families(numeric).items(), key=lambda each: -len(each[1])):
            if self._is_ranking(columns):
                self.take("the highest of several ranks", confidence=next(iter(columns.values())))
                return
            if len(columns) > 1 and self._are_scores(columns, sure=family not in ("prediction", "predictions", "p")):
                self._take_family(columns, "by their names")
                return
            if len(columns) == 1 and self.roles.confidence is None:
                name, column = next(iter(columns.items()))
                if self._names_class(name) and self.kind(column) in ("fraction", "whole"):
                    self.take("by its name, which is a class's", confidence=column, positive=name)
                    return
        bare = {name: name for name in numeric if name in self.labels or compact(name) in self.folded_labels}
        if len(bare) > 1 and self._are_scores(bare, sure=False):
            self._take_family(bare, "by their names, which are classes'")
            return
        ends = {name: columns["confidence"] for name, columns in stems(numeric).items() if "confidence" in columns}
        if len(ends) > 1 and self._sum_to_one(list(ends.values())):
            self._take_family(ends, "by their names and values")
            return
        rest = [c for c in numeric if self.kind(c) == "fraction" and c.startswith(("column ", "unnamed column "))]
        if len(rest) > 1 and self._sum_to_one(rest):
            self._take_family({str(position): column for position, column in enumerate(rest)}, _BY_VALUES)

    def _take_family(self, columns: dict[str, str], why: str) -> None:
        self.roles = replace(self.roles, probabilities=tuple(columns.items())).because(probabilities=why)

    def _top(self) -> None:
        """The first of the ranks of a top-k file."""
        for column in self.free:
            rank = ranked(column)
            if rank is None or rank[0] != 1:
                continue
            if self.roles.predicted is None and self.is_label(column):
                self.take("the first of several ranks", predicted=column)
            elif self.roles.confidence is None and self.kind(column) == "fraction":
                self.take("the highest of several ranks", confidence=column)

    @cached_property
    def labels(self) -> set[str]:
        """The labels in the columns that could hold some."""
        known = [column for column in (self.roles.truth, self.roles.predicted) if column is not None]
        likely = [column for column in called(self.free, (*TRUTH_LIKELY, *PREDICTED_LIKELY)) if self.is_label(column)]
        return {value for column in (*known, *likely) for value in self.spelled(column) if value is not None}

    @property
    def folded_labels(self) -> set[str]:
        """The labels, compact."""
        return {compact(label) for label in self.labels}

    def _names_class(self, name: str) -> bool:
        common = common_names(self.labels, {name})
        return len(self.labels) <= 2 and common is not None and len(set(common[0].values())) == len(self.labels)

    def _matrix(self, columns: Iterable[str]) -> np.ndarray:
        return np.column_stack([as_numbers(self.table.columns[column]) for column in columns])

    def _is_ranking(self, columns: dict[str, str]) -> bool:
        """Whether numbered columns hold the highest score, the second highest, ... whichever classes these are of."""
        numbers = [int(name) if name.isdecimal() else -1 for name in columns]
        if len(columns) < 2 or numbers not in (list(range(len(numbers))), list(range(1, len(numbers) + 1))):
            return False
        matrix = self._matrix(columns.values())
        if self.table.n_rows < 2 or not (np.diff(matrix, axis=1) <= 0).all():
            return False
        said = self.roles.predicted or next(iter(called(self.free, PREDICTED_LIKELY)), None) or self.roles.truth
        said = said or next(iter(called(self.free, TRUTH_LIKELY)), None)
        return said is not None and len(set(self.spelled(said))) > 1

    def _sum_to_one(self, columns: Sequence[str]) -> bool:
        matrix = self._matrix(columns)
        with suppress(DataError):
            probabilities(matrix, place=str, kind="probabilities")
            return True
        return False

    def _are_scores(self, columns: dict[str, str], *, sure: bool) -> bool:
        """Whether columns hold scores of classes: by their names, if that is sure, or else also by their values."""
        if self._belong_to_parts(columns.values()):
            return False
        return sure or self._sum_to_one(list(columns.values())) or all(self._is_class(name) for name in columns)

    def _is_class(self, name: str) -> bool:
        return name.isdecimal() or name in self.labels or compact(name) in self.folded_labels

    def _belong_to_parts(self, columns: Collection[str]) -> bool:
        """Whether the columns' models or tasks have labels of their own beside them."""
        of_stems = stems(self.table.columns).values()
        return any(
            ("predicted" in roles or "truth" in roles) and roles.get("confidence") in columns for roles in of_stems
        )

    def _ambiguous(self) -> None:
        """Columns whose names mean opposite things in different tools."""
        if self.roles.parts:
            return
        if self.half != "truth" and not (self.roles.confidence or self.roles.vector or self.roles.probabilities):
            scores = [c for c in called(self.free, (*NAMES["predicted"], *SCORE_LIKELY)) if self.kind(c) == "fraction"]
            scores += [column for column in called(self.free, ("score", "scores")) if self.kind(column) == "whole"]
            if scores:
                self.take(_LIKELY, confidence=scores[0])
        truths = [column for column in called(self.free, TRUTH_LIKELY) if self.kind(column) in ("words", "whole")]
        said = [column for column in called(self.free, PREDICTED_LIKELY) if self.kind(column) in ("words", "whole")]
        if self.half == "truth":
            if self.roles.truth is None and (truths or said):
                self.take(_LIKELY, truth=(truths or said)[0])
            return
        if self.roles.predicted is None and said:
            self.take(_LIKELY, predicted=said.pop(0))
        if self.half == "predictions":
            if not self.roles.says_something and truths:
                self.take("the only labels in the file of predictions", predicted=truths[0])
            return
        if self.roles.truth is not None:
            self._leftover(truths)
        elif len(truths) == 1 or (truths and compact(truths[0]) in ("label", "labels")):
            self._truth_or_prediction(truths[0])

    def _leftover(self, truths: list[str]) -> None:
        """A `label` beside a truth is the prediction, unless it is the truth by another name, or scores are there."""
        if self.roles.predicted is None and not (self.roles.vector or self.roles.probabilities):
            truth = [str(value) for value in self.spelled(self.roles.truth or "")]
            for column in truths:
                if renaming([str(value) for value in self.spelled(column)], truth) is None:
                    self.take(_LIKELY, predicted=column)
                    return

    def _truth_or_prediction(self, column: str) -> None:
        """Is `label` the truth? Not if it says what the prediction says, nor where only a confidence is beside it."""
        said = self._said()
        if said is not None:
            if renaming(said, [str(value) for value in self.spelled(column)], least=_SAME) is None:
                self.take(_LIKELY, truth=column)
            else:
                self.names_prediction = column
                if self.roles.predicted is None:
                    self.take("it agrees with the highest score", predicted=column)
            return
        if self.roles.confidence is None:
            self.take(_LIKELY, truth=column)
            return
        scores = as_numbers(self.table.columns[self.roles.confidence])
        labels = [str(value) for value in self.spelled(column)]
        halves = [str(score) for score in scores >= 0.5]
        if len(set(labels)) <= 2 and (scores < 0.5).any() and renaming(halves, labels, least=_SAME) is None:
            self.take(_LIKELY, truth=column)  # and the scores are of one class, whichever
        else:
            self.names_prediction = column
            self.take("likely, beside a confidence and no other label", predicted=column)

    def _said(self) -> list[str] | None:
        """What the model said, as names of columns or positions: its label, or the class of the highest score."""
        if self.roles.predicted is not None:
            return [str(value) for value in self.spelled(self.roles.predicted)]
        with suppress(DataError):
            if self.roles.vector is not None:
                return [str(position) for position in cell_scores(self.table, self.roles.vector)[1].argmax(axis=1)]
            if self.roles.probabilities:
                matrix = self._matrix(column for _, column in self.roles.probabilities)
                return [str(position) for position in matrix.argmax(axis=1)]
        return None

    def _stems(self) -> None:
        """Several models or tasks side by side, told by what their columns begin or end with."""
        found = {
            name: {role: column for role, column in roles.items() if self.kind(column) in _STEM_KINDS[role]}
            for name, roles in stems(self.free).items()
        }
        found = {name: roles for name, roles in found.items() if "predicted" in roles or "confidence" in roles}
        if not found:
            return
        tasks = self.roles.truth is None
        if tasks and self.half is None:
            if not all("truth" in roles for roles in found.values()):
                found = {name: roles for name, roles in found.items() if "truth" in roles} or found
            if not all("truth" in roles for roles in found.values()):
                tasks = len(found) > 1
        if len(found) == 1:
            self.take("by its name", **next(iter(found.values())))
            return
        parts = tuple(Part("task" if tasks else "model", name, **roles) for name, roles in found.items())
        self._take_parts(parts, "by their names")

    def _by_values(self) -> None:
        """Columns that hold the classes of the truth, and agree with it more often than by chance, are predictions."""
        truth = [str(value) for value in self.spelled(self.roles.truth or "")]
        classes = set(truth)
        likely = {}
        for column in self.free:
            if column.lower() in ROW_NAMES or not self.is_label(column):
                continue
            values = [str(value) for value in self.spelled(column)]
            common = common_names(classes, set(values))
            names = common[0] if common else {}
            if not common or np.mean([names[value] in classes for value in values]) < 0.9:
                continue
            known, said = [names[value] for value in truth], [names[value] for value in values]
            n_same = sum(a == b for a, b in zip(known, said, strict=True))
            mean, spread = agreement_by_chance(known, said)
            likely[column] = n_same > mean + 2 * spread
        if not any(likely.values()):
            return
        if len(likely) == 1:
            self.take("it holds the classes of the truth", predicted=next(iter(likely)))
            return
        parts = tuple(Part("model", column, predicted=column) for column in likely)
        self._take_parts(parts, "they hold the classes of the truth")

    def _take_parts(self, parts: tuple[Part, ...], why: str) -> None:
        """Give columns to models or tasks side by side; a column that named them all is none then."""
        self.roles = replace(self.roles, parts=parts, **{parts[0].kind: None}).because(parts=why)

    def _only_one(self) -> None:
        """In one of two files the only column of labels is what that file is about, whatever it is called."""
        if self.half == "truth" and self.roles.has_truth:
            return
        if self.half == "predictions" and self.roles.says_something:
            truths = [column for column in called(self.free, NAMES["truth"]) if self.is_label(column)]
            if truths and not self.roles.has_truth and not self.roles.parts:
                self.take(_BY_NAME, truth=truths[0])  # the file is whole; the other one may add folds
            return
        role = "truth" if self.half == "truth" else "predicted"
        strong = [*called(self.free, NAMES["truth"]), *called(self.free, NAMES["predicted"])]
        labels = [c for c in strong if self.kind(c) in ("words", "whole")] or [c for c in self.free if self.is_label(c)]
        if len(labels) == 1:
            self.take("the only labels in this file", **{role: labels[0]})

    # What is still open

    def problem(self) -> DataError | None:
        """The question, or the refusal, where truth or predictions were not found."""
        table = self.table
        if self.half != "predictions" and not self.roles.has_truth:
            if self.half == "truth" and any(getattr(self.roles, role) for role in ("set", "fold", "source")):
                return None  # it tells how the rows are divided, which is worth joining too
            return self._no_truth()
        if self.half == "truth" or self.roles.says_something:
            return None
        likely = [c for c in self.free if self.is_label(c) or self.kind(c) == "fraction"]
        if likely:
            return RolesNeeded(
                f"{table.name}: which column holds what the model predicted? The columns are {listed(table.columns)}.",
                self.roles,
                tuple(table.columns),
                "predicted",
            )
        known = f"There is a truth (column {self.roles.truth!r})" if self.roles.truth else "There are labels"
        return DataError(
            f"{table.name}: no column holds what a model predicted. {known}, but neither a predicted label nor scores "
            f"beside it; the columns are {listed(table.columns)}. Add a column such as 'predicted', or give the "
            "predictions in a second file."
        )

    def _no_truth(self) -> DataError:
        table = self.table
        for column in self.free:
            if self.kind(column) == "several":
                return DataError(
                    f"{table.place(0)}: column {column!r} holds {quoted(table.columns[column][0])}, several labels in "
                    "one row. Touchstone tests classifiers that give one label: give one column of labels per task."
                )
        if self.names_prediction:
            return RolesNeeded(
                f"{table.name}: column {self.names_prediction!r} looks like the prediction, not the truth: it says "
                "what the scores say, or nothing else does. Which column holds the truth? If none does, give the truth "
                "in a second file.",
                self.roles,
                tuple(table.columns),
                "truth",
            )
        unranked = [column for column in self.free if (ranked(column) or (1,))[0] == 1]
        likely = [c for c in unranked if self.is_label(c) and len(set(self.spelled(c))) > 1]
        if likely and not self.roles.parts:
            return RolesNeeded(
                f"{table.name}: which column holds the truth? The columns are {listed(table.columns)}.",
                self.roles,
                tuple(table.columns),
                "truth",
            )
        return DataError(
            f"{table.name}: no column holds the truth. The columns are {listed(table.columns)}. Add a column such as "
            "'gold' with the true labels, or give them in a second file."
        )


def _bracketed(cells: list) -> bool:
    """Whether most cells are printed lists."""
    return len(cells) > 0 and sum(isinstance(c, str) and c[:1] == "[" and c[-1:] == "]" for c in cells) > len(cells) / 2


_OTHER = {"truth": "predictions", "predicted": "truth"}  # the half that lacks a role
_NUMERIC: tuple[Kind, ...] = ("fraction", "number", "whole")
_STEM_KINDS: dict[str, tuple[Kind, ...]] = {
    "truth": ("words", "whole"),
    "predicted": ("words", "whole"),
    "confidence": ("fraction", "whole"),
}
