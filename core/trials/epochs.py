"""Which epoch's network is a trial about? The last one, the best in hindsight, or the best on sources held out for it.

Kilinc & Uysal 2017, section 5.1, take the highest test accuracy of all epochs, which is optimistic: the test part
chose. Choosing on held-out sources is what they leave for later (section 6). Models without epochs have one result.
"""

import time
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace

import numpy as np
from jaxtyping import Integer

from core.data import Dataset
from core.models import Classifier
from core.split import Split

EPOCHS = {
    "last": "at the last epoch",
    "best": "at the best epoch on the test part (optimistic)",
    "validation": "at the best epoch on sources held out for it",
}
"""Which epoch a trial's accuracy is taken at, and what the screen calls it."""


def learns_in_epochs(model: object) -> bool:
    """Whether a model (or its class) is trained epoch by epoch: it then has `n_epochs`, and tells of each in `fit`.

    Examples
    --------
    >>> from core.models import MODELS
    >>> [name for name in ("svm", "mlp_small", "cnn_1") if learns_in_epochs(MODELS[name])]
    ['mlp_small', 'cnn_1']
    """
    return is_dataclass(model) and any(one.name == "n_epochs" for one in fields(model))


def untrained(model: type, n_epochs: int | None) -> Classifier:
    """A model to be trained for so many epochs; None leaves it at its own number.

    Examples
    --------
    >>> from core.models import MODELS
    >>> untrained(MODELS["mlp_small"], 3).n_epochs, untrained(MODELS["mlp_small"], None).n_epochs
    (3, 30)
    """
    made = model()
    return replace(made, n_epochs=n_epochs) if n_epochs is not None and learns_in_epochs(made) else made


def fit_and_predict(
    classifier: Classifier,
    dataset: Dataset,
    split: Split,
    *,
    seed: int,
    should_stop: Callable[[], bool],
    epoch: str = "last",
    validation: Integer[np.ndarray, " n_validation"] | None = None,
) -> tuple[Integer[np.ndarray, " n_test"], float]:
    """Fit on `split.train` and predict `split.test`: the labels predicted at that epoch, and the seconds that all took.

    With an `epoch` of "best" or "validation" it is the first one that had the highest accuracy, on the test part or on
    the rows `validation`; a model without epochs is asked once. Raises Cancelled when `should_stop` turns true between
    fits or epochs.
    """
    predicted, seconds = predict_at(
        (epoch,), classifier, dataset, split, seed=seed, should_stop=should_stop, validation=validation
    )
    return predicted[epoch], seconds


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
    """Fit once, as `fit_and_predict` does, and give what was predicted at each of several choices of the epoch.

    Examples
    --------
    >>> from core.data import load_example
    >>> from core.models import MODELS
    >>> wine, split = load_example("wine"), Split(np.arange(0, 178, 2), np.arange(1, 178, 2))
    >>> network = untrained(MODELS["mlp_small"], 5)
    >>> predicted, seconds = predict_at(("last", "best"), network, wine, split, seed=0, should_stop=lambda: False)
    >>> n_right = {epoch: int((labels == wine.y[split.test]).sum()) for epoch, labels in predicted.items()}
    >>> n_right["best"] >= n_right["last"]
    True
    """
    start = time.perf_counter()
    train, test = split
    rows = {"best": test, "validation": validation}
    most = {epoch: -1 for epoch in epochs if epoch != "last"}
    predicted: dict[str, np.ndarray] = {}

    def labels(of: Integer[np.ndarray, " n_rows"]) -> Integer[np.ndarray, " n_rows"]:
        return np.asarray(classifier.predict(dataset.x[of]))

    def on_epoch(_n_done: int, _n_epochs: int, _loss: float) -> None:
        for epoch, before in most.items():
            judged = labels(rows[epoch])
            n_correct = int((judged == dataset.y[rows[epoch]]).sum())
            if n_correct > before:
                most[epoch] = n_correct
                predicted[epoch] = judged if epoch == "best" else labels(test)

    watched = {"on_epoch": on_epoch} if most and learns_in_epochs(classifier) else {}
    given = {"seed": seed, "n_classes": dataset.n_classes, "should_stop": should_stop, **watched}
    classifier.fit(dataset.x[train], dataset.y[train], **given)
    if not watched or "last" in epochs:
        last = labels(test)
        predicted |= dict.fromkeys(epochs if not watched else ("last",), last)
    return predicted, time.perf_counter() - start
