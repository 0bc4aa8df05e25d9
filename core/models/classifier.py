"""What must a model be able to do, to be trained and tested here?"""

from collections.abc import Callable
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Integer, Shaped

ShouldStop = Callable[[], bool]


class Cancelled(Exception):
    """Training was asked to stop, and did.

    Examples
    --------
    >>> raise Cancelled("training stopped as asked")
    Traceback (most recent call last):
    touchstone.core.models.classifier.Cancelled: training stopped as asked
    """


def stop_if(should_stop: ShouldStop | None) -> None:
    """Raise ``Cancelled`` where somebody asked to stop; called before every fit, chunk of a fit and epoch.

    Examples
    --------
    >>> stop_if(None)
    >>> stop_if(lambda: True)
    Traceback (most recent call last):
    touchstone.core.models.classifier.Cancelled: training stopped as asked
    """
    if should_stop is not None and should_stop():
        raise Cancelled("training stopped as asked")


@runtime_checkable
class Classifier(Protocol):
    """What every entry of ``MODELS`` offers: a dataclass whose fields are its hyperparameters, each with a default.

    ``x`` is what a ``Dataset`` holds: images (n, height, width, channels), texts (n,) or a table (n, n_features).
    Preprocessing belongs to the model and is fitted on the training part alone. A training part may lack classes,
    or hold a single one, which is then predicted always. Work is done in one thread.

    A model also offers ``predict_proba(x)`` or ``decision_function(x)``, of shape (n_samples, n_classes), where the
    columns are the codes of ``y`` and a class without training samples has probability 0 (decision ``-inf``).
    Accuracy always comes from ``predict``. One that cannot learn every data set has a class method ``fits(dataset)``,
    and says in ``needs`` what it takes.
    """

    label: ClassVar[str]

    def fit(
        self,
        x: Shaped[np.ndarray, "n_samples ..."],
        y: Integer[np.ndarray, " n_samples"],
        *,
        seed: int,
        n_classes: int | None = None,
        should_stop: ShouldStop | None = None,
    ) -> "Classifier":
        """Train on ``x`` and codes ``y`` below ``n_classes`` (by default the highest code there is, plus one).

        The same ``seed`` (0 to 2**32 - 1) gives the same model. Raises ``Cancelled`` soon after ``should_stop()``
        turns true.
        """
        ...

    def predict(self, x: Shaped[np.ndarray, "n_samples ..."]) -> Integer[np.ndarray, " n_samples"]:
        """Give the code of the class that each sample is taken for."""
        ...
