"""Does a model from elsewhere know the classes of this data set? Its accuracy, and whether its outputs change places.

A model whose outputs stand in another order than the classes is accepted by every other check, and everything that is
said of it is then wrong. Which of the samples it was trained on nobody knows, so that its accuracy here may flatter it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Integer

from touchstone.core.data import DataError, Dataset, Predictions, Roles, load_example, write_predictions
from touchstone.core.data.predictions.upload import GivenFile, PredictionUpload
from touchstone.core.models.errors import ModelError
from touchstone.core.models.load import Model, model_inputs

MOST_JUDGED, BATCH = 5000, 256
_MUCH_BETTER = 0.2
"""How much accuracy must rise with outputs in another order for that order to be told."""


@dataclass(frozen=True, eq=False)
class Judged:
    """How often each class (rows) was taken for each class (columns) among the samples that were looked at.

    Examples
    --------
    >>> swapped = Judged(("cat", "dog"), np.array([[1, 9], [8, 2]]))
    >>> swapped.accuracy, swapped.majority, swapped.order
    (0.15, 0.5, (1, 0))
    """

    class_names: tuple[str, ...]
    taken_for: Integer[np.ndarray, "c c"]

    @property
    def n(self) -> int:
        """How many samples were looked at."""
        return int(self.taken_for.sum())

    @property
    def n_correct(self) -> int:
        """How many of them were taken for their class."""
        return int(np.trace(self.taken_for))

    @property
    def accuracy(self) -> float:
        """The share of them."""
        return self.n_correct / self.n

    @property
    def majority(self) -> float:
        """What always answering the most frequent class comes to."""
        return float(self.taken_for.sum(axis=1).max() / self.n)

    @property
    def chance(self) -> float:
        """What answering at random comes to."""
        return 1.0 / len(self.class_names)

    @property
    def order(self) -> tuple[int, ...]:
        """For each output the class that it goes with best."""
        from scipy.optimize import linear_sum_assignment

        return tuple(linear_sum_assignment(self.taken_for.T, maximize=True)[1].tolist())

    @property
    def in_order(self) -> float:
        """The accuracy with the outputs in the order of the classes that they go with best."""
        return float(self.taken_for[list(self.order), range(len(self.class_names))].sum() / self.n)

    @property
    def hint(self) -> str:
        """Which output seems to stand for which class, where that would raise accuracy by 20 points; else nothing."""
        if self.in_order < self.accuracy + _MUCH_BETTER:
            return ""
        moved = [f"{place} for “{self.class_names[code]}”" for place, code in enumerate(self.order) if place != code]
        few = ", ".join(moved[:6]) + (f" and {len(moved) - 6} more" if len(moved) > 6 else "")
        return (
            f"With outputs in another order it would be {100 * self.in_order:.1f} %: they seem to stand, counted "
            f"from 0, {few}. Export the model with its outputs in the order of the classes."
        )


def judge(model: Model, dataset: Dataset, rows: Integer[np.ndarray, " n"] | None = None) -> Judged:
    """Ask a model about samples of a data set, all or those in `rows`: at most 5,000, at random.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models.paper_networks import LinearNetwork
    >>> wine = load_example("wine")
    >>> model = LinearNetwork(n_epochs=20).fit(wine.x, wine.y, seed=0).trained(wine)
    >>> judge(model, wine).accuracy > 0.9
    True
    """
    import torch

    rows = np.arange(dataset.n_samples) if rows is None else rows
    if len(rows) > MOST_JUDGED:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_JUDGED, replace=False))
    taken_for = np.zeros((dataset.n_classes, dataset.n_classes), dtype=np.int64)
    with torch.inference_mode():
        for part in np.array_split(rows, max(1, len(rows) // BATCH)):
            said = model.logits(model_inputs(model, dataset, part)).argmax(dim=1).cpu().numpy()
            np.add.at(taken_for, (dataset.y[part], said), 1)
    return Judged(dataset.class_names, taken_for)


def check_above_chance(judged: Judged, name: str) -> None:
    """Raise ModelError where a model's accuracy is significantly below chance: nothing said of it would be worth it.

    Examples
    --------
    >>> check_above_chance(Judged(("cat", "dog"), np.array([[1, 49], [48, 2]])), "mine.onnx")
    Traceback (most recent call last):
    touchstone.core.models.errors.ModelError: mine.onnx: its accuracy on 100 samples is 3.0 %, below chance (50.0 %)...
    """
    from scipy.special import betaincinv

    most = 1.0 if judged.n_correct == judged.n else betaincinv(judged.n_correct + 1, judged.n - judged.n_correct, 0.975)
    if most >= judged.chance:
        return
    remedy = judged.hint or "Are the inputs scaled as in training, and the outputs in the order of the classes?"
    raise ModelError(
        f"{name}: its accuracy on {judged.n:,} samples is {100 * judged.accuracy:.1f} %, below chance "
        f"({100 * judged.chance:.1f} %). {remedy}"
    )


# What can be tried without predictions of one's own? One small model on its own test set and on changed ones.
#
# A logistic regression learns a third of the digits. Its own test set is another part of them, as they are; the new
# sets are a third part, drawn differently on purpose. These are real predictions on digits that were changed by us.


N_TRAIN, N_OWN = 500, 750
SHIFT = 0.5
NOISE = 0.25
Images = Float[np.ndarray, "n height width 1"]


@dataclass(frozen=True)
class PredictionExample:
    """A built-in test set with predictions: its name on the screen, what it is, what was done to its digits."""

    title: str
    sentence: str
    own: bool
    change: Callable[[Images], Images]


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
    "digits_own": PredictionExample("Digits: own test set", "digits as they are", own=True, change=_as_they_are),
    "digits_shifted": PredictionExample(
        "Digits: shifted", "other digits, moved to the right by half a pixel", own=False, change=_shifted
    ),
    "digits_noisy": PredictionExample(
        "Digits: noisy", "other digits, with noise on every pixel", own=False, change=_noisy
    ),
    "digits_thin": PredictionExample(
        "Digits: thin", "other digits, written with a thinner pen", own=False, change=_thin
    ),
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
    train, rest = order[:N_TRAIN], order[N_TRAIN:]
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
