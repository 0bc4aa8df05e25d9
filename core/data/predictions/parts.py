"""Which columns are those of models or tasks side by side? Told by their names, or by the classes that they hold."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from touchstone.core.data.predictions.roles import BY_NAMES, Part, Reading
from touchstone.core.data.tables.names import ROW_NAMES, agreement_by_chance, common_names, model_families, stems

_PART_KINDS = {"truth": ("words", "whole"), "predicted": ("words", "whole"), "confidence": ("fraction", "whole")}


def parts_by_name(reading: Reading) -> Reading:
    """Which columns belong to one of several models or tasks, told by what their names begin or end with?"""
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
    known, answers = ([common[0][label] for label in column] for column in (truth, labels))
    n_same = sum(a == b for a, b in zip(known, answers, strict=True))
    mean, spread = agreement_by_chance(known, answers)
    return n_same > mean + 2 * spread


def _take_parts(reading: Reading, parts: Iterable[Part], why: str) -> Reading:
    """Columns of models or tasks side by side, if any; a column that named them all is none then."""
    parts = tuple(parts)
    if not parts:
        return reading
    roles = replace(reading.roles, **{parts[0].kind: None})
    return replace(reading, roles=replace(roles, parts=parts).because(parts=why))
