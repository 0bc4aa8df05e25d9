"""Which epoch's network is a trial about? The one at the end, the best in hindsight, or the best on a held-out part.

Kilinc & Uysal 2017, section 5.1, take the highest test accuracy of all epochs, which is optimistic: the test part
chose. Choosing on held-out sources is what they leave for later (section 6). Models without epochs have one result.
"""

import time
from collections.abc import Callable, Collection
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Integer

from touchstone.core.data import Dataset
from touchstone.core.models import MODELS, Classifier
from touchstone.core.models.stopping import Training
from touchstone.core.split.scheme import Split
from touchstone.core.trials.tuning import chosen_of, tuned

EPOCHS = {
    "last": "the last epoch",
    "best": "the best epoch on the test part (optimistic)",
    "validation": "the best epoch on a part held out for it",
}
"""Which epoch a network is tested after, and what the screen calls it."""


def learns_in_epochs(model: object) -> bool:
    """Whether a model (or its class) is trained epoch by epoch.

    It then has `n_epochs`, tells of each in `fit`, and says in `training` how long that was.

    Examples
    --------
    >>> from touchstone.core.models import MODELS
    >>> [name for name in ("svm", "mlp_small", "cnn_1") if learns_in_epochs(MODELS[name])]
    ['mlp_small', 'cnn_1']
    """
    return is_dataclass(model) and any(one.name == "n_epochs" for one in fields(model))


def trains_networks(models: Collection[str]) -> bool:
    """Whether there is one among these names in MODELS that is trained epoch by epoch.

    >>> trains_networks(("svm", "cnn_1")), trains_networks(("svm",))
    (True, False)
    """
    return any(learns_in_epochs(MODELS[name]) for name in models)


def n_raised_by_training(models: Collection[str]) -> int:
    """How often the way in which networks are trained was raised, for plans with these models.

    Version 2 trains them until they have learned what they can; before, it was for 20 epochs, or 30.
    """
    return int(trains_networks(models))


def untrained(model: type, n_epochs: int | None) -> Classifier:
    """A model to be trained for so many epochs; None leaves it at its own rule.

    Examples
    --------
    >>> from touchstone.core.models import MODELS
    >>> untrained(MODELS["mlp_small"], 3).n_epochs, untrained(MODELS["mlp_small"], None).n_epochs
    (3, None)
    """
    made = model()
    return replace(made, n_epochs=n_epochs) if n_epochs is not None and learns_in_epochs(made) else made


class Fitted(NamedTuple):
    """What a trained model predicted of a test part, at each choice of the epoch, and how it was trained."""

    predicted: dict[str, Integer[np.ndarray, " n_test"]]
    seconds: float
    training: Training | None
    """None of a model that is no network."""
    hyperparameters: str = ""
    """Those that were chosen by inner folds, in words."""

    @property
    def about(self) -> dict[str, Any]:
        """What the rows of a trial say of its fit, beside what it predicted."""
        return {"seconds": self.seconds, "training": self.training, "hyperparameters": self.hyperparameters}


def predict_at(
    epochs: tuple[str, ...],
    classifier: Classifier,
    dataset: Dataset,
    split: Split,
    *,
    seed: int,
    should_stop: Callable[[], bool],
    validation: Integer[np.ndarray, " n_validation"] | None = None,
    inner: Integer[np.ndarray, " n_train"] | None = None,
) -> Fitted:
    """Fit on `split.train`, predict `split.test`: the labels at each of several choices of the epoch.

    "best" and "validation" are the first epoch that had the highest accuracy, on the test part or on the rows
    `validation`; a model without epochs is asked once. Where `inner` gives the source of each training sample,
    hyperparameters are chosen by folds of these (`core.trials.tuning`). Raises Cancelled when `should_stop` turns true
    between fits or epochs.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models import MODELS
    >>> wine, split = load_example("wine"), Split(np.arange(0, 178, 2), np.arange(1, 178, 2))
    >>> network = untrained(MODELS["mlp_small"], 5)
    >>> fitted = predict_at(("last", "best"), network, wine, split, seed=0, should_stop=lambda: False)
    >>> n_right = {epoch: int((labels == wine.y[split.test]).sum()) for epoch, labels in fitted.predicted.items()}
    >>> n_right["best"] >= n_right["last"]
    True
    """
    start = time.perf_counter()
    chosen = Chosen(epochs, dataset, split.test, validation)
    if inner is not None:
        about = {"seed": seed, "n_classes": dataset.n_classes, "should_stop": should_stop}
        classifier = tuned(classifier, dataset.x[split.train], dataset.y[split.train], inner, **about)
    watched = chosen.judges and learns_in_epochs(classifier)
    given = {"seed": seed, "n_classes": dataset.n_classes, "should_stop": should_stop}
    if watched:
        given["on_epoch"] = lambda _n_done, _n_epochs, _loss: chosen.look(classifier)
    classifier.fit(dataset.x[split.train], dataset.y[split.train], **given)
    predicted = chosen.at_the_end(classifier)
    hyperparameters = "" if inner is None else chosen_of(classifier)
    return Fitted(predicted, time.perf_counter() - start, getattr(classifier, "training", None), hyperparameters)


class Chosen:
    """What a model in training predicts of the test part, at each of several choices of the epoch.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models import MODELS
    >>> wine = load_example("wine")
    >>> chosen, model = Chosen(("last",), wine, np.arange(9), None), MODELS["svm"]().fit(wine.x, wine.y, seed=0)
    >>> chosen.judges, chosen.at_the_end(model)["last"].tolist()
    (False, [0, 0, 0, 0, 0, 0, 0, 0, 0])
    """

    def __init__(
        self,
        epochs: tuple[str, ...],
        dataset: Dataset,
        test: Integer[np.ndarray, " n_test"],
        validation: Integer[np.ndarray, " n_validation"] | None,
    ):
        self._epochs, self._dataset = epochs, dataset
        self._rows = {"best": test, "validation": validation, "last": test}
        self._most = {epoch: -1 for epoch in epochs if epoch != "last"}
        self._predicted: dict[str, np.ndarray] = {}

    @property
    def judges(self) -> bool:
        """Whether it has to look at the model after every epoch."""
        return bool(self._most)

    def look(self, classifier: Classifier) -> None:
        """See how good the model is after an epoch, and keep what it predicts where it was never better."""
        for epoch, before in self._most.items():
            judged = self._labels(classifier, epoch)
            n_correct = int((judged == self._dataset.y[self._rows[epoch]]).sum())
            if n_correct > before:
                self._most[epoch] = n_correct
                self._predicted[epoch] = judged if epoch == "best" else self._labels(classifier, "last")

    def at_the_end(self, classifier: Classifier) -> dict[str, Integer[np.ndarray, " n_test"]]:
        """Take the trained model for every choice that no epoch was looked at for; gives what was predicted at each."""
        left = [epoch for epoch in self._epochs if epoch not in self._predicted]
        if left:
            self._predicted |= dict.fromkeys(left, self._labels(classifier, "last"))
        return self._predicted

    def _labels(self, classifier: Classifier, epoch: str) -> Integer[np.ndarray, " n_rows"]:
        return np.asarray(classifier.predict(self._dataset.x[self._rows[epoch]]))
