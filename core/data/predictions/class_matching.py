"""Which predicted name stands for which true class? By name, never by position; asked where nothing is sure."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from core.data.errors import DataError, RolesNeeded
from core.data.predictions.roles import Roles
from core.data.tables.class_names import class_order, codes_of, common_names, counted_apart, drop_points, renaming
from core.data.values import listed

_MOST_GUESSED = 50  # classes up to which a mapping between names is guessed


def matched_names(
    truth: Sequence[str],
    predicted: Sequence[str] | None,
    proba_names: Sequence[str],
    proba: Float[np.ndarray, "n_rows n_scores"] | None,
    *,
    roles: Roles,
    truth_place: str,
) -> tuple[dict[str, str], dict[str, str], list[str]]:
    """A class name for each true and for each predicted name, the same where nothing else can be meant; and notes.

    RolesNeeded asks where the names have nothing in common; it carries the likeliest mapping. `truth_place` tells the
    file and the column of the truth.

    >>> matched_names(["0", "1"], ["LABEL_1", "LABEL_1"], [], None, roles=Roles("gold"), truth_place="t.tsv: gold")
    ({'0': '0', '1': '1'}, {'LABEL_1': '1'}, ['Class names of truth and predictions were matched by their numbers.'])
    """
    given = dict(roles.classes)
    known, said = set(truth), {*(predicted or ()), *proba_names}
    if not said:
        return drop_points({name: name for name in known}), {}, []
    notes = []
    mapped = {name: given.get(name, name) for name in said}
    if by_label := _columns_as_labels(proba_names, proba, predicted, given):
        mapped |= by_label
        notes.append("Columns of scores were matched with the predicted labels by their highest score.")
    if not given and counted_apart(known, set(mapped.values())):
        raise _counted_question(known, class_order(mapped.values()), roles, truth_place)
    common = common_names(known, set(mapped.values()))
    if common is None or not (given or _fits(known, common[0], [mapped[name] for name in proba_names])):
        guess = _likeliest(truth, predicted, proba_names, proba)
        raise _open_question(known, class_order(mapped.values()), replace(roles, classes=guess), truth_place)
    names, how = common
    if how:
        notes.append(f"Class names of truth and predictions were matched {how}.")
    return {name: names[name] for name in sorted(known)}, {name: names[mapped[name]] for name in said}, notes


def _open_question(known: set[str], predicted: Sequence[str], guess: Roles, truth_place: str) -> RolesNeeded:
    names = class_order(known)
    return RolesNeeded(
        f"{truth_place} says {listed(names)}, the predictions say {listed(predicted)}. "
        "Which predicted name stands for which class?",
        guess,
        names,
        "classes",
    )


def _counted_question(known: set[str], predicted: Sequence[str], roles: Roles, truth_place: str) -> RolesNeeded:
    """Whether codes stand for the same codes, or for those that are one higher or lower; the latter is likelier."""
    step = min(map(int, known)) - min(map(int, predicted))
    return RolesNeeded(
        f"{truth_place} says {listed(class_order(known))}, the predictions say {listed(predicted)}, as if one of them "
        "counted from 1. Which predicted name stands for which class?",
        replace(roles, classes=tuple((name, str(int(name) + step)) for name in predicted)),
        class_order({*known, *predicted, *(str(int(name) + step) for name in predicted)}),
        "classes",
    )


def _columns_as_labels(
    names: Sequence[str], proba: np.ndarray | None, predicted: Sequence[str] | None, given: dict[str, str]
) -> dict[str, str]:
    """Columns that carry other names than the predicted labels, by which label each column's maximum goes with."""
    if proba is None or predicted is None:
        return {}
    labels = [given.get(label, label) for label in predicted]
    columns = [given.get(name, name) for name in names]
    if common_names(set(labels), set(columns)) is not None:
        return {}
    mapping = renaming([columns[code] for code in proba.argmax(axis=1)], labels)
    if mapping is None or len(mapping) < len(columns):
        return {}
    return {name: mapping[column] for name, column in zip(names, columns, strict=True)}


def _fits(truth: set[str], common: dict[str, str], proba_names: Sequence[str]) -> bool:
    """Whether columns that are numbered from 0, perhaps by position only, can be meant by the true labels."""
    if not proba_names or list(proba_names) != [str(position) for position in range(len(proba_names))]:
        return True
    known = {common[name] for name in truth}
    return "0" in known or known <= {common[name] for name in proba_names}


def _likeliest(
    truth: Sequence[str],
    predicted: Sequence[str] | None,
    proba_names: Sequence[str],
    proba: np.ndarray | None,
) -> tuple[tuple[str, str], ...]:
    """The one-to-one mapping under which most rows would be correct: a guess to confirm."""
    from scipy.optimize import linear_sum_assignment

    labels = predicted
    if labels is None and proba is not None:
        labels = [proba_names[code] for code in proba.argmax(axis=1)]
    true_names = class_order(truth)
    said = class_order({*(labels or ()), *proba_names})
    if labels is None or max(len(said), len(true_names)) > _MOST_GUESSED:
        return ()
    counts = np.zeros((len(said), len(true_names)))
    np.add.at(counts, (codes_of(labels, said), codes_of(truth, true_names)), 1)
    return tuple((said[a], true_names[b]) for a, b in zip(*linear_sum_assignment(-counts), strict=True))


def in_class_order(
    proba: Float[np.ndarray, "n_rows n_scores"], proba_names: Sequence[str], names: Sequence[str], *, place: str
) -> tuple[Float[np.ndarray, "n_rows n_classes"], list[str]]:
    """Probabilities in the order of the class names, 0 where a class has no column; and a warning of that.

    >>> in_class_order(np.array([[0.75, 0.25]]), ["dog", "cat"], ["cat", "dog"], place="t.tsv")
    (array([[0.25, 0.75]]), [])
    """
    if len(set(proba_names)) < len(proba_names):
        raise DataError(f"{place}: two columns of scores stand for one class. Leave one of them out.")
    absent = [name for name in names if name not in set(proba_names)]
    full = np.zeros((len(proba), len(names)))
    full[:, codes_of(proba_names, names)] = proba
    return full, [f"No scores of {listed(absent)}: the probability is taken as 0."] if absent else []
