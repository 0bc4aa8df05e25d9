"""What is each column of a file of predictions? Steps from names that decide to values that hint; else it is asked."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from core.data.predictions.asking import no_prediction, no_truth
from core.data.predictions.class_scores import BY_NAMES, find_scores
from core.data.predictions.reading import (
    LIKELY,
    Half,
    Reading,
    keep_names,
    name_labels,
    name_rows,
    only_one,
    tell_apart,
)
from core.data.predictions.roles import Part, Roles
from core.data.predictions.targets import name_targets
from core.data.tables import Table
from core.data.tables.class_names import agreement_by_chance, common_names
from core.data.tables.column_names import ROW_NAMES, model_families, stems

_PART_KINDS = {"truth": ("words", "whole"), "predicted": ("words", "whole"), "confidence": ("fraction", "whole")}


def guess_roles(table: Table, *, half: Half | None = None) -> Roles:
    """Say what each column is; `why` of the roles (and their `lines()`) tell how sure that is.

    `half` says that the table holds only the truth, or only the predictions, of two files. What cannot be decided stays
    None; reading the predictions then asks for it (RolesNeeded).

    >>> from core.data.tables import make_table
    >>> table = make_table("t.tsv", ["id", "label", "prediction"], [["a", "b"], ["x", "y"], ["x", "x"]], lines=[2, 3])
    >>> guess_roles(table).lines()
    ["Truth: column 'label' (likely, by its name and what else is there)",
     "Predicted label: column 'prediction' (likely, by its name and what else is there)",
     "Id: column 'id' (by its name)"]
    """
    return _read(table, half).roles


def complete_roles(table: Table, roles: Roles | None = None, *, half: Half | None = None) -> Roles:
    """The roles to read a table with: guessed, or given and, where they lack truth or predictions, completed.

    `half` says that the table holds only the truth, or only the predictions, of two files. RolesNeeded asks what could
    not be decided; DataError where it can never be, because nothing could be the truth, or what a model said.
    """
    if roles is not None:
        roles.check(table)
        if _is_enough(roles, half):
            return roles
    reading = _read(table, half, roles)
    if half != "predictions" and not reading.roles.has_truth and not _is_divided(reading):
        raise no_truth(reading)
    if half != "truth" and not reading.roles.says_something:
        raise no_prediction(reading)
    return reading.roles


def _is_divided(reading: Reading) -> bool:
    """Whether a file that should hold the truth tells how its rows are divided, which is worth joining too."""
    roles = reading.roles
    return reading.half == "truth" and bool(roles.set or roles.fold or roles.source)


def _is_enough(roles: Roles, half: Half | None) -> bool:
    """Whether nothing needs to be guessed beside roles that were given."""
    if roles.has_truth and roles.says_something:
        return True
    return half is not None and bool(roles.columns) and (roles.has_truth or roles.says_something or half == "truth")


def lacking(table: Table, roles: Roles | None = None) -> tuple[Half, ...]:
    """Which half a second file may hold, by what a table holds; both where its only labels may be either.

    >>> from core.data.tables import make_table
    >>> [lacking(make_table("t.tsv", ["id", name], [["a", "b", "c"], ["x", "y", "x"]], lines=[2, 3, 4]))
    ...  for name in ("gold", "predicted", "label")]
    [('predictions',), ('truth',), ('truth', 'predictions')]
    """
    roles = roles or guess_roles(table)
    either = dict(roles.why).get("truth") == LIKELY and not roles.says_something
    known: dict[Half, bool] = {"truth": roles.has_truth and not either, "predictions": roles.says_something}
    return tuple(half for half, there in known.items() if not there)


def _read(table: Table, half: Half | None, given: Roles | None = None) -> Reading:
    """The roles, one kind of reason after the other."""
    reading = Reading(table, half, given or Roles())
    for step in STEPS if given is None else STEPS[1:]:
        reading = step(reading)
    return reading


def parts_by_name(reading: Reading) -> Reading:
    """Which columns belong to one of several models or tasks, told by what their names begin or end with?"""
    if reading.roles.says_something or reading.half == "truth":
        return reading
    sides = _sides(reading)
    if by_class := _scores_by_model(reading):
        labels = {name: sides.get(name, {}).get("predicted") for name in by_class}
        parts = (Part("model", name, None, labels[name], probabilities=pairs) for name, pairs in by_class.items())
        return _take_parts(reading, parts, BY_NAMES)
    if reading.roles.truth is None and reading.half is None:
        sides = {name: roles for name, roles in sides.items() if "truth" in roles} or sides
    if len(sides) == 1:
        return reading.take("by its name", **next(iter(sides.values())))
    kind = "task" if reading.roles.truth is None else "model"
    return _take_parts(reading, (Part(kind, name, **roles) for name, roles in sides.items()), BY_NAMES)


def _sides(reading: Reading) -> dict[str, dict[str, str]]:
    """The columns of each model or task that said something, by its name and by role."""
    sides = {}
    for name, roles in stems(reading.free).items():
        fitting = {role: c for role, c in roles.items() if reading.table.kind(c) in _PART_KINDS.get(role, ())}
        if "predicted" in fitting or "confidence" in fitting:
            sides[name] = fitting
    return sides


def _scores_by_model(reading: Reading) -> dict[str, tuple[tuple[str, str], ...]]:
    """The scores of every class, of two models or more that have the same classes: "resnet_prob_cat"."""
    by_model = model_families(filter(reading.table.has_numbers, reading.free))
    classes = {frozenset(columns) for columns in by_model.values()}
    if len(by_model) < 2 or len(classes) != 1 or len(next(iter(classes))) < 2:
        return {}
    return {model: tuple(columns.items()) for model, columns in by_model.items()}


def parts_by_value(reading: Reading) -> Reading:
    """Which columns are predictions? Those that hold the classes of the truth and agree with it more than by chance."""
    if reading.roles.says_something or not reading.roles.has_truth or reading.half is not None:
        return reading
    likely = _labels_like_truth(reading)
    if not any(likely.values()):
        return reading
    why, columns = "the classes of the truth", list(likely)
    if len(columns) == 1:
        return reading.take(f"it holds {why}", predicted=columns[0])
    return _take_parts(reading, (Part("model", column, predicted=column) for column in columns), f"they hold {why}")


def _labels_like_truth(reading: Reading) -> dict[str, bool]:
    """The columns of the truth's classes, and whether they agree with it more often than by chance."""
    truth = reading.strings(reading.roles.truth)
    columns = [c for c in reading.free if c.lower() not in ROW_NAMES and reading.table.is_label(c)]
    agree = {column: _agrees(truth, reading.strings(column)) for column in columns}
    return {column: more for column, more in agree.items() if more is not None}


def _agrees(truth: Sequence[str], labels: Sequence[str]) -> bool | None:
    """Whether labels agree with the truth more often than by chance; None where they are of other classes."""
    classes = set(truth)
    common = common_names(classes, set(labels))
    if common is None or np.mean([common[0][label] in classes for label in labels]) < 0.9:
        return None
    known, said = ([common[0][label] for label in column] for column in (truth, labels))
    n_same = sum(a == b for a, b in zip(known, said, strict=True))
    mean, spread = agreement_by_chance(known, said)
    return n_same > mean + 2 * spread


def _take_parts(reading: Reading, parts: Iterable[Part], why: str) -> Reading:
    """Columns of models or tasks side by side, if any; a column that named them all is none then."""
    parts = tuple(parts)
    if not parts:
        return reading
    roles = replace(reading.roles, **{parts[0].kind: None})
    return replace(reading, roles=replace(roles, parts=parts).because(parts=why))


STEPS: tuple[Callable[[Reading], Reading], ...] = (
    name_rows,
    name_labels,
    name_targets,
    find_scores,
    tell_apart,
    parts_by_name,
    parts_by_value,
    only_one,
    keep_names,
)
"""The order in which columns are understood; roles that were given replace the first."""
