"""Which hyperparameters does a model take for one training part? Those that do best on sources held out within it.

What is chosen on samples of the sources that it was trained on suits these; Kilinc & Uysal 2017 leave the choice on
held-out sources for later (section 6). The test part takes no part in it.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Integer, Shaped

from touchstone.core.models import Classifier
from touchstone.core.models.classical import stop_if

N_FOLDS = 3


def can_be_tuned(model: type) -> bool:
    """Whether a model says which values of its hyperparameters are worth trying.

    >>> from touchstone.core.models import MODELS
    >>> [name for name in MODELS if can_be_tuned(MODELS[name])]
    ['svm', 'logistic']
    """
    return bool(getattr(model, "worth_trying", {}))


def tuned(
    classifier: Any,
    x: Shaped[np.ndarray, "n_train ..."],
    y: Integer[np.ndarray, " n_train"],
    sources: Integer[np.ndarray, " n_train"],
    *,
    seed: int,
    n_classes: int,
    should_stop: Callable[[], bool] | None = None,
) -> Classifier:
    """The model with the values that get most samples right in folds of whole sources; untrained.

    The model's own values win ties. A model without `worth_trying`, and a training part with fewer than two sources,
    are left with these. Raises Cancelled when `should_stop` turns true between fits.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models import MODELS
    >>> wine = load_example("wine")
    >>> chosen = tuned(MODELS["logistic"](), wine.x, wine.y, np.arange(178) % 9, seed=0, n_classes=3)
    >>> chosen.C in MODELS["logistic"].worth_trying["C"]
    True
    """
    from sklearn.model_selection import StratifiedGroupKFold

    n_folds = min(N_FOLDS, len(np.unique(sources)))
    if not can_be_tuned(type(classifier)) or n_folds < 2:
        return classifier
    names, values = zip(*classifier.worth_trying.items(), strict=True)
    tried = [replace(classifier, **dict(zip(names, each, strict=True))) for each in product(*values)]
    candidates = [classifier, *(each for each in tried if each != classifier)]
    folds = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed % 2**32)
    n_correct = np.zeros(len(candidates), dtype=np.int64)
    for train, test in folds.split(np.zeros(len(y)), _with_enough(y, n_folds), sources):
        for place, candidate in enumerate(candidates):
            stop_if(should_stop)
            fitted = replace(candidate).fit(x[train], y[train], seed=seed, n_classes=n_classes)
            n_correct[place] += int((fitted.predict(x[test]) == y[test]).sum())
    return candidates[int(n_correct.argmax())]


def chosen_of(classifier: Any) -> str:
    """What was chosen, in words; empty for a model without `worth_trying`.

    >>> from touchstone.core.models import MODELS
    >>> chosen_of(MODELS["svm"](C=10.0))
    'C 10, gamma 0.01'
    """
    return ", ".join(f"{name} {getattr(classifier, name):g}" for name in getattr(classifier, "worth_trying", {}))


def _with_enough(y: np.ndarray, n_folds: int) -> np.ndarray:
    """The classes, those with fewer samples than folds as the largest: folds cannot be stratified by them."""
    n_of = np.bincount(y)
    return np.where(n_of[y] < n_folds, n_of.argmax(), y)
