"""What may arrays of features, scores and labels look like, as tools save them? Brought to one form, and said how."""

from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax

from touchstone.core.data import DataError
from touchstone.core.data.values import spell

_SLACK = 0.01  # by how much the probabilities of a row may miss 1: files round them


class Taken(NamedTuple):
    """An array in the form that is wanted, and what was done to it; nothing to say where it had that form."""

    array: np.ndarray
    note: str = ""


def as_features(features: np.ndarray, name: str) -> Taken:
    """A vector for each sample: maps are averaged over their places, sequences over their steps.

    Raises DataError where nobody can tell which axes these are.

    Examples
    --------
    >>> as_features(np.ones((2, 5, 4, 4)), "f").array.shape, as_features(np.ones((2, 3)), "f").note
    ((2, 5), '')
    """
    if features.ndim == 3:
        return Taken(features.mean(axis=1), f"Features were averaged over their {features.shape[1]} steps.")
    if features.ndim != 4:
        return Taken(features)
    n_places = features.shape[1:]
    axes = {(2, 3): n_places[1] == n_places[2], (1, 2): n_places[0] == n_places[1]}
    fitting = [places for places, square in axes.items() if square]
    if len(fitting) != 1:
        raise DataError(
            f"{name}: features are maps of {' x '.join(map(str, n_places))}, and which of these are channels is not "
            "clear. Average them over height and width before saving."
        )
    height, width = (features.shape[axis] for axis in fitting[0])
    return Taken(features.mean(axis=fitting[0]), f"Maps of features were averaged over {height} x {width} places.")


def as_probabilities(scores: np.ndarray, name: str, *, are_logits: bool) -> Taken:
    """Probabilities of each sample: of logits their softmax, of logarithms what they are the logarithm of.

    Raises DataError where scores are called probabilities and are none.

    Examples
    --------
    >>> as_probabilities(np.log([[0.25, 0.75]]), "p", are_logits=False)
    Taken(array=array([[0.25, 0.75]]), note='Logarithms of probabilities were brought back to probabilities.')
    """
    if scores.dtype.kind not in "fiu" or scores.ndim != 2 or not scores.size or not np.isfinite(scores).all():
        return Taken(scores)
    if are_logits:
        return Taken(np.exp(log_softmax(scores.astype(np.float64), axis=1)), "Probabilities are the logits' softmax.")
    if scores.max() <= 0 and np.allclose(np.exp(scores.astype(np.float64)).sum(axis=1), 1, atol=_SLACK):
        return Taken(
            np.exp(scores.astype(np.float64)), "Logarithms of probabilities were brought back to probabilities."
        )
    if scores.min() < 0 or scores.max() > 1 + _SLACK:
        raise DataError(
            f"{name}: probabilities run from {scores.min():.3g} to {scores.max():.3g}. If these are logits, save them "
            "as 'logits'."
        )
    return Taken(scores)


def as_codes(labels: np.ndarray, class_names: tuple[str, ...], name: str) -> Taken:
    """The code of each sample's class: of names, of codes counted from 0 or from 1, or of one-hot rows.

    Raises DataError for a label that is none of the classes.

    Examples
    --------
    >>> as_codes(np.array([[0, 1], [1, 0]]), ("a", "b"), "y")
    Taken(array=array([1, 0]), note='Labels are one-hot.')
    >>> as_codes(np.array([1, 2, 3]), ("0", "1", "2"), "y")
    Taken(array=array([0, 1, 2]), note='Labels are counted from 1.')
    """
    n_classes = len(class_names)
    if labels.ndim == 2 and labels.shape[1] == n_classes > 1 and _is_one_hot(labels):
        return Taken(labels.argmax(axis=1), "Labels are one-hot.")
    codes = {spelled: code for code, spelled in enumerate(class_names)}
    spelled = [spell(label) for label in labels.ravel()]
    unknown = next((label for label in spelled if label not in codes), None)
    if unknown is None and all(label in codes for label in spelled):
        return Taken(np.array([codes[str(label)] for label in spelled], dtype=np.int64))
    whole = _whole(labels)
    if whole is None:
        raise DataError(f"{name}: the label {unknown!r} is none of the {n_classes} class names.")
    if len(whole) and whole.min() == 1 and whole.max() == n_classes:
        return Taken(whole - 1, "Labels are counted from 1.")
    return Taken(whole)  # codes into class names that are no numbers


def _is_one_hot(labels: np.ndarray) -> bool:
    if labels.dtype.kind not in "bfiu":
        return False
    return bool(np.isin(labels, (0, 1)).all() and (labels.sum(axis=1) == 1).all())


def _whole(labels: np.ndarray) -> np.ndarray | None:
    """Labels as whole numbers; None where they are none."""
    if labels.dtype.kind in "iu":
        return labels.astype(np.int64)
    if labels.dtype.kind == "f" and np.isfinite(labels).all() and (labels == np.floor(labels)).all():
        return labels.astype(np.int64)
    return None
