"""Which columns belong to one of several models or tasks? Told by what their names share, or by what they hold."""

from dataclasses import replace

import numpy as np

from core.data.predictions.columns import Draft, Kind
from core.data.predictions.roles import Part
from core.data.predictions.suspicion import agreement_by_chance
from core.data.tables.classes import common_names
from core.data.tables.column_names import model_families, stems
from core.data.tables.roles import ROW_NAMES

_STEM_KINDS: dict[str, tuple[Kind, ...]] = {
    "truth": ("words", "whole"),
    "predicted": ("words", "whole"),
    "confidence": ("fraction", "whole"),
}


def parts_by_name(draft: Draft) -> None:
    """Several models or tasks side by side, told by what their columns begin or end with."""
    found = {
        name: {role: column for role, column in roles.items() if draft.kind(column) in _STEM_KINDS.get(role, ())}
        for name, roles in stems(draft.free).items()
    }
    found = {name: roles for name, roles in found.items() if "predicted" in roles or "confidence" in roles}
    if by_class := _scores_by_model(draft):
        labels = {name: found.get(name, {}).get("predicted") for name in by_class}
        parts = tuple(Part("model", name, None, labels[name], probabilities=pairs) for name, pairs in by_class.items())
        _take_parts(draft, parts, "by their names")
        return
    if not found:
        return
    tasks = draft.roles.truth is None
    if tasks and draft.half is None:
        if not all("truth" in roles for roles in found.values()):
            found = {name: roles for name, roles in found.items() if "truth" in roles} or found
        if not all("truth" in roles for roles in found.values()):
            tasks = len(found) > 1
    if len(found) == 1:
        draft.take("by its name", **next(iter(found.values())))
        return
    parts = tuple(Part("task" if tasks else "model", name, **roles) for name, roles in found.items())
    _take_parts(draft, parts, "by their names")


def _scores_by_model(draft: Draft) -> dict[str, tuple[tuple[str, str], ...]]:
    """The scores of every class, of two models or more that have the same classes: "resnet_prob_cat"."""
    found = model_families(column for column in draft.free if draft.has_numbers(column))
    classes = {frozenset(columns) for columns in found.values()}
    if len(found) < 2 or len(classes) != 1 or len(next(iter(classes))) < 2:
        return {}
    return {model: tuple(columns.items()) for model, columns in found.items()}


def parts_by_value(draft: Draft) -> None:
    """Columns that hold the classes of the truth, and agree with it more often than by chance, are predictions."""
    truth = [str(value) for value in draft.spelled(draft.roles.truth or "")]
    classes = set(truth)
    likely = {}
    for column in draft.free:
        if column.lower() in ROW_NAMES or not draft.is_label(column):
            continue
        values = [str(value) for value in draft.spelled(column)]
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
        draft.take("it holds the classes of the truth", predicted=next(iter(likely)))
        return
    parts = tuple(Part("model", column, predicted=column) for column in likely)
    _take_parts(draft, parts, "they hold the classes of the truth")


def _take_parts(draft: Draft, parts: tuple[Part, ...], why: str) -> None:
    """Give columns to models or tasks side by side; a column that named them all is none then."""
    draft.roles = replace(draft.roles, parts=parts, **{parts[0].kind: None}).because(parts=why)
