"""What do the classical models make of the data? scikit-learn's models behind the preprocessing each input needs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

import numpy as np
from jaxtyping import Float, Shaped

from touchstone.core.data.values import Codes
from touchstone.core.models.inputs import fit_vectors
from touchstone.core.models.threads import single_threaded

# What must a model be able to do, to be trained and tested here?


Inputs = Shaped[np.ndarray, "n_samples ..."]
Scores = Float[np.ndarray, "n_samples n_classes"]
ShouldStop = Callable[[], bool]


class Cancelled(Exception):
    """Training was asked to stop, and did.

    Examples
    --------
    >>> raise Cancelled("training stopped as asked")
    Traceback (most recent call last):
    touchstone.core.models.classical.Cancelled: training stopped as asked
    """


def stop_if(should_stop: ShouldStop | None) -> None:
    """Raise ``Cancelled`` where somebody asked to stop; called before every fit, chunk of a fit and epoch.

    Examples
    --------
    >>> stop_if(None)
    >>> stop_if(lambda: True)
    Traceback (most recent call last):
    touchstone.core.models.classical.Cancelled: training stopped as asked
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
    and says in ``needs`` what it takes. One whose hyperparameters can be chosen by inner folds says in ``worth_trying``
    which values of which are tried (`core.trials.tuning`).
    """

    label: ClassVar[str]

    def fit(
        self, x: Inputs, y: Codes, *, seed: int, n_classes: int | None = None, should_stop: ShouldStop | None = None
    ) -> "Classifier":
        """Train on ``x`` and codes ``y`` below ``n_classes`` (by default the highest code there is, plus one).

        The same ``seed`` (0 to 2**32 - 1) gives the same model. Raises ``Cancelled`` soon after ``should_stop()``
        turns true.
        """

    def predict(self, x: Inputs) -> Codes:
        """Give the code of the class that each sample is taken for."""


# What do the classical models make of the data? scikit-learn's models behind the preprocessing each input needs.


_ROUNDS_AT_ONCE = 10  # of gradient boosting, between two looks at should_stop
_Model = TypeVar("_Model", bound="_Preprocessed")


class _Preprocessed:
    """A classifier of scikit-learn behind its preprocessing, which knows all classes and not only those it saw."""

    def _fitted(self, vectors: np.ndarray, y: np.ndarray, *, seed: int, should_stop: ShouldStop | None) -> Any:
        """The fitted estimator."""
        raise NotImplementedError

    def fit(
        self: _Model,
        x: Inputs,
        y: Codes,
        *,
        seed: int,
        n_classes: int | None = None,
        should_stop: ShouldStop | None = None,
    ) -> _Model:
        """Train (see ``Classifier.fit``)."""
        from sklearn.dummy import DummyClassifier

        stop_if(should_stop)
        with single_threaded():
            made = fit_vectors(x, seed=seed)
            stop_if(should_stop)
            vectors = made.transform(x)
            if y.min() == y.max():  # most models refuse to learn from one class
                estimator = DummyClassifier(strategy="most_frequent").fit(vectors, y)
            else:
                estimator = self._fitted(vectors, y, seed=seed, should_stop=should_stop)
        self._vectors, self._estimator = made, estimator
        self._n_classes = int(y.max()) + 1 if n_classes is None else n_classes
        return self

    def predict(self, x: Inputs) -> Codes:
        """Give the code of the class that each sample is taken for."""
        with single_threaded():
            return self._estimator.predict(self._vectors.transform(x))

    def _all_classes(self, values: Float[np.ndarray, "n_samples n_seen"], *, absent: float) -> Scores:
        columns = np.full((len(values), self._n_classes), absent)
        columns[:, self._estimator.classes_] = values
        return columns


class _Probabilistic(_Preprocessed):
    def predict_proba(self, x: Inputs) -> Scores:
        """Give the probability of every class; 0 for a class without training samples."""
        with single_threaded():
            return self._all_classes(self._estimator.predict_proba(self._vectors.transform(x)), absent=0.0)


@dataclass
class Svm(_Preprocessed):
    """A support vector machine with a radial kernel; ``C`` and ``gamma`` as in Kilinc & Uysal 2017, section 5.1.

    It has no probabilities: scikit-learn's for an SVC disagree with its predictions.

    Examples
    --------
    >>> x, y = np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([0, 0, 1, 1])
    >>> Svm().fit(x, y, seed=0).predict(x)
    array([0, 0, 1, 1])
    """

    label: ClassVar[str] = "SVM"
    worth_trying: ClassVar[Mapping[str, tuple[float, ...]]] = {
        "C": (0.1, 1.0, 10.0, 100.0),
        "gamma": (0.001, 0.01, 0.1),
    }

    C: float = 1.0
    gamma: float = 0.01

    def _fitted(self, vectors: np.ndarray, y: np.ndarray, *, seed: int, should_stop: ShouldStop | None) -> Any:
        from sklearn.svm import SVC

        return SVC(C=self.C, kernel="rbf", gamma=self.gamma, random_state=seed).fit(vectors, y)

    def decision_function(self, x: Inputs) -> Scores:
        """Give the decision value of every class, one against the rest; minus infinity without training samples."""
        if len(self._estimator.classes_) == 1:
            return self._all_classes(np.zeros((len(x), 1)), absent=-np.inf)
        with single_threaded():
            decision = self._estimator.decision_function(self._vectors.transform(x))
        if decision.ndim == 1:  # of two classes scikit-learn gives the second's value only
            decision = np.stack([-decision, decision], axis=1)
        return self._all_classes(decision, absent=-np.inf)


@dataclass
class Logistic(_Probabilistic):
    """Logistic regression; ``C`` is the inverse strength of its penalty.

    Examples
    --------
    >>> x, y = np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([0, 0, 1, 1])
    >>> Logistic().fit(x, y, seed=0, n_classes=3).predict_proba(x).argmax(axis=1)
    array([0, 0, 1, 1])
    """

    label: ClassVar[str] = "Logistic regression"
    worth_trying: ClassVar[Mapping[str, tuple[float, ...]]] = {"C": (0.01, 0.1, 1.0, 10.0, 100.0)}

    C: float = 1.0

    def _fitted(self, vectors: np.ndarray, y: np.ndarray, *, seed: int, should_stop: ShouldStop | None) -> Any:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=self.C, max_iter=2000).fit(vectors, y)


@dataclass
class NearestNeighbours(_Probabilistic):
    """The majority among the nearest training samples (of all of them, where there are fewer than asked for).

    Examples
    --------
    >>> x, y = np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([0, 0, 1, 1])
    >>> NearestNeighbours(n_neighbours=1).fit(x, y, seed=0).predict(x)
    array([0, 0, 1, 1])
    """

    label: ClassVar[str] = "Nearest neighbours"

    n_neighbours: int = 5

    def _fitted(self, vectors: np.ndarray, y: np.ndarray, *, seed: int, should_stop: ShouldStop | None) -> Any:
        from sklearn.neighbors import KNeighborsClassifier

        return KNeighborsClassifier(min(self.n_neighbours, len(y))).fit(vectors, y)


@dataclass
class GradientBoosting(_Probabilistic):
    """Small decision trees, each correcting the ones before; it stops between rounds when asked to.

    Examples
    --------
    >>> x, y = np.arange(60.0)[:, None], np.repeat([0, 1], 30)
    >>> GradientBoosting(n_rounds=10).fit(x, y, seed=0).predict(x[[0, -1]])
    array([0, 1])
    """

    label: ClassVar[str] = "Gradient boosting"

    n_rounds: int = 60
    n_leaves: int = 8
    learning_rate: float = 0.2

    def _fitted(self, vectors: np.ndarray, y: np.ndarray, *, seed: int, should_stop: ShouldStop | None) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier

        # 64 bins and no held-out part: several times faster than the defaults, and as accurate on the examples.
        estimator = HistGradientBoostingClassifier(
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.n_leaves,
            max_bins=64,
            early_stopping=False,
            warm_start=True,
            random_state=seed,
        )
        for done in range(0, self.n_rounds, _ROUNDS_AT_ONCE):
            stop_if(should_stop)
            estimator.set_params(max_iter=min(done + _ROUNDS_AT_ONCE, self.n_rounds)).fit(vectors, y)
        return estimator
