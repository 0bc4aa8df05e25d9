"""One entry of each kind: a metric, a model, a representation, a source finder, a splitter and a layout."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from touchstone.plugins import (
    Cancelled,
    Counts,
    DataError,
    Dataset,
    KFolds,
    Log,
    Metric,
    Representation,
    SourceFinder,
    by_estimator,
)


def informedness(counts: Counts, positive: int):
    """Sensitivity plus specificity less 1: by how much the model knows better than a coin.

    NaN where the class, or the rest, has no sample.
    """
    n, right = counts.true.sum(axis=-1), counts.right[..., positive]
    true, predicted = counts.true[..., positive], counts.predicted[..., positive]
    rest = n - true
    known = (np.real(true) > 0) & (np.real(rest) > 0)
    hits, alarms = right / np.where(known, true, 1.0), (predicted - right) / np.where(known, rest, 1.0)
    return np.where(known, hits - alarms, np.nan)


INFORMEDNESS = Metric(
    "informedness", "informedness (Youden's J)", of_class=True, lowest=-1.0, of_counts=informedness, in_percent=False
)


@dataclass
class NearestMean:
    """The class whose mean is nearest, of columns that are brought to mean 0 and variance 1.

    ``sharpness`` says how fast probabilities fall with squared distance.
    """

    label: ClassVar[str] = "Nearest mean"
    needs: ClassVar[str] = "it takes images and tables, not texts"

    sharpness: float = 1.0

    @classmethod
    def fits(cls, dataset: Dataset) -> bool:
        """Whether it can be trained on this kind of data."""
        return dataset.kind != "text"

    def fit(self, x, y, *, seed, n_classes=None, should_stop=None):
        """Keep the mean of each class; nothing is drawn, so that `seed` plays no part."""
        if should_stop is not None and should_stop():
            raise Cancelled("training stopped as asked")
        flat = x.reshape(len(x), -1).astype(np.float64)
        self._centre, spread = flat.mean(axis=0), flat.std(axis=0)
        self._spread = np.where(spread > 0, spread, 1.0)
        self._n_classes = int(y.max()) + 1 if n_classes is None else n_classes
        self._seen = np.unique(y)
        self._means = np.stack([self._scaled(x)[y == label].mean(axis=0) for label in self._seen])
        return self

    def predict_proba(self, x) -> np.ndarray:
        """Probabilities of all classes; 0 for one without a training sample."""
        far = ((self._scaled(x)[:, None] - self._means) ** 2).mean(axis=2)
        likely = np.exp(-self.sharpness * (far - far.min(axis=1, keepdims=True)))
        proba = np.zeros((len(x), self._n_classes))
        proba[:, self._seen] = likely / likely.sum(axis=1, keepdims=True)
        return proba

    def predict(self, x) -> np.ndarray:
        """The likeliest class of each sample."""
        return self.predict_proba(x).argmax(axis=1)

    def _scaled(self, x) -> np.ndarray:
        return (x.reshape(len(x), -1) - self._centre) / self._spread


def ranks(dataset: Dataset) -> np.ndarray:
    """The place of each value among the different ones of its column: no outlier is far away."""
    columns = dataset.x.reshape(dataset.n_samples, -1).T
    return np.column_stack([np.unique(column, return_inverse=True)[1] for column in columns]).astype(np.float64)


RANKS = Representation("Ranks of columns", ("image", "tabular"), ranks)


WARD = SourceFinder(
    "Ward clusters",
    cluster=by_estimator("sklearn.cluster:AgglomerativeClustering"),
    short="Ward",
    in_sentences="Ward's method",
)


@dataclass(frozen=True)
class Blocks(KFolds):
    """Rows that follow one another share a fold, as where a file is in the order of time."""

    title: ClassVar[str] = "Blocks of rows in order"
    needs: ClassVar[str] = "nothing"
    column: ClassVar[str] = "blocks"

    def assign(self, X, y=None, groups=None) -> np.ndarray:
        """The fold of every row, from its place alone."""
        n_rows = len(y if X is None else X)
        if n_rows < self.n_folds:
            raise DataError(f"{self.n_folds} blocks cannot be made of {n_rows} samples. Ask for fewer folds.")
        return np.arange(n_rows) * self.n_folds // n_rows


def is_of_quiz(sample: dict) -> bool:
    """Whether a sample is one of the made-up harness “quiz”; it may be anything."""
    return {"question", "expected", "answered", "passed"} <= sample.keys()


def of_quiz(samples: list[dict]) -> list[dict]:
    """A row for each sample: its id, the truth, the answer, and whether the harness took it as right."""
    return [
        {"id": row["question"], "gold": row["expected"], "predicted": row["answered"], "_right": row["passed"]}
        for row in samples
    ]


QUIZ = Log("quiz", is_of_quiz, of_quiz, [{"question": 1, "expected": "cat", "answered": "dog", "passed": False}])
