"""Which epoch's network is a trial about? The last one, the best in hindsight, or the best on a part held out for it.

Kilinc & Uysal 2017, section 5.1, take the highest test accuracy of all epochs, which is optimistic: the test part
chose. Choosing on held-out sources is what they leave for later (section 6). Models without epochs have one result.
"""

import time
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace

import numpy as np
from jaxtyping import Integer

from touchstone.core.data import Dataset
from touchstone.core.models import Classifier
from touchstone.core.split.scheme import Split

EPOCHS = {
    "last": "the last epoch",
    "best": "the best epoch on the test part (optimistic)",
    "validation": "the best epoch on a part held out for it",
}
"""Which epoch a network is tested after, and what the screen calls it."""


def learns_in_epochs(model: object) -> bool:
    """Whether a model (or its class) is trained epoch by epoch: it then has `n_epochs`, and tells of each in `fit`.

    Examples
    --------
    >>> from touchstone.core.models import MODELS
    >>> [name for name in ("svm", "mlp_small", "cnn_1") if learns_in_epochs(MODELS[name])]
    ['mlp_small', 'cnn_1']
    """
    return is_dataclass(model) and any(one.name == "n_epochs" for one in fields(model))


def untrained(model: type, n_epochs: int | None) -> Classifier:
    """A model to be trained for so many epochs; None leaves it at its own number.

    Examples
    --------
    >>> from touchstone.core.models import MODELS
    >>> untrained(MODELS["mlp_small"], 3).n_epochs, untrained(MODELS["mlp_small"], None).n_epochs
    (3, 30)
    """
    made = model()
    return replace(made, n_epochs=n_epochs) if n_epochs is not None and learns_in_epochs(made) else made


def predict_at(
    epochs: tuple[str, ...],
    classifier: Classifier,
    dataset: Dataset,
    split: Split,
    *,
    seed: int,
    should_stop: Callable[[], bool],
    validation: Integer[np.ndarray, " n_validation"] | None = None,
) -> tuple[dict[str, Integer[np.ndarray, " n_test"]], float]:
    """Fit on `split.train`, predict `split.test`: the labels at each of several choices of the epoch, and the seconds.

    "best" and "validation" are the first epoch that had the highest accuracy, on the test part or on the rows
    `validation`; a model without epochs is asked once. Raises Cancelled when `should_stop` turns true between fits or
    epochs.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models import MODELS
    >>> wine, split = load_example("wine"), Split(np.arange(0, 178, 2), np.arange(1, 178, 2))
    >>> network = untrained(MODELS["mlp_small"], 5)
    >>> predicted, seconds = predict_at(("last", "best"), network, wine, split, seed=0, should_stop=lambda: False)
    >>> n_right = {epoch: int((labels == wine.y[split.test]).sum()) for epoch, labels in predicted.items()}
    >>> n_right["best"] >= n_right["last"]
    True
    """
    start = time.perf_counter()
    chosen = Chosen(epochs, dataset, split.test, validation)
    watched = chosen.judges and learns_in_epochs(classifier)
    given = {"seed": seed, "n_classes": dataset.n_classes, "should_stop": should_stop}
    if watched:
        given["on_epoch"] = lambda _n_done, _n_epochs, _loss: chosen.look(classifier)
    classifier.fit(dataset.x[split.train], dataset.y[split.train], **given)
    return chosen.at_the_end(classifier), time.perf_counter() - start


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
