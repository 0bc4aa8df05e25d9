"""What can be tried without predictions of one's own? One small model on its own test set and on changed ones.

A logistic regression learns a third of the digits. Its own test set is another part of them, as they are; the new sets
are a third part, drawn differently on purpose. These are real predictions on digits that were changed by us.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from touchstone.core.data import DataError, Predictions, Roles, load_example, write_predictions
from touchstone.core.data.predictions.upload import GivenFile, PredictionUpload

N_TRAIN, N_OWN = 500, 750
SHIFT = 0.5
NOISE = 0.25
Images = Float[np.ndarray, "n height width 1"]


@dataclass(frozen=True)
class PredictionExample:
    """A built-in test set with predictions: its name on the screen, what it is, what was done to its digits."""

    title: str
    sentence: str
    change: Callable[[Images], Images]
    own: bool = False
    n_train: int = N_TRAIN


def _as_they_are(x: Images) -> Images:
    return x


def _shifted(x: Images) -> Images:
    """To the right by a part of a pixel, as a camera would: each pixel takes a share of its left neighbour's ink."""
    return (1 - SHIFT) * x + SHIFT * np.roll(x, 1, axis=2)


def _noisy(x: Images) -> Images:
    return np.clip(x + np.random.default_rng(0).normal(scale=NOISE, size=x.shape), 0.0, 1.0)


def _thin(x: Images) -> Images:
    """Only the darkest ink stays."""
    return np.clip(1.6 * x - 0.6, 0.0, 1.0)


PREDICTION_EXAMPLES = {
    "digits_own": PredictionExample("Digits: own test set", "digits as they are", _as_they_are, own=True),
    "digits_fewer": PredictionExample(
        "Digits: model of 100", "the same digits, by a model that learned 100", _as_they_are, own=True, n_train=100
    ),
    "digits_shifted": PredictionExample(
        "Digits: shifted", "other digits, moved to the right by half a pixel", _shifted
    ),
    "digits_noisy": PredictionExample("Digits: noisy", "other digits, with noise on every pixel", _noisy),
    "digits_thin": PredictionExample("Digits: thin", "other digits, written with a thinner pen", _thin),
}


def example_predictions(name: str) -> PredictionUpload:
    """Train the small model, predict, and give the predictions as a file that states its roles; takes a second.

    >>> example_predictions("digits_own").read().select().accuracy > 0.9
    True
    """
    if name not in PREDICTION_EXAMPLES:
        raise DataError(f"There are no predictions {name!r}. The examples are {', '.join(PREDICTION_EXAMPLES)}.")
    from touchstone.core.models.classical import Logistic

    example, digits = PREDICTION_EXAMPLES[name], load_example("digits")
    order = np.random.default_rng(0).permutation(digits.n_samples)
    train, rest = order[: example.n_train], order[N_TRAIN:]
    rows = rest[:N_OWN] if example.own else rest[N_OWN:]
    model = Logistic().fit(digits.x[train], digits.y[train], seed=0, n_classes=digits.n_classes)
    proba = model.predict_proba(example.change(digits.x[rows].astype(np.float64)))
    proba = proba / proba.sum(axis=1, keepdims=True)
    predictions = Predictions(digits.ids[rows], digits.y[rows], proba.argmax(axis=1), digits.class_names, proba=proba)
    roles = Roles(
        id="id",
        truth="y_true",
        predicted="y_pred",
        probabilities=tuple((label, f"prob_{label}") for label in digits.class_names),
    )
    return PredictionUpload(GivenFile(f"{name}.tsv", write_predictions(predictions), roles))
