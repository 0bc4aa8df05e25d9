"""How does a whole model fare on a suite, and how do two models differ on the same one?"""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer, Shaped

from touchstone.core.data import DataError
from touchstone.core.evaluate.guided_tests.oracle import NO_ERROR, OracleError, oracle_error
from touchstone.core.evaluate.guided_tests.results import REGIONS, SharedAccuracy, shared_accuracy
from touchstone.core.evaluate.guided_tests.suite import Suite
from touchstone.core.evaluate.intervals import UNKNOWN, Interval, joined, sum_of_errors, t_interval
from touchstone.core.models.load import Model
from touchstone.core.models.training import one_torch_thread

_BATCH = 512
_FEWEST_CHANGED = 10  # parents whose tests changed, for a normal approximation to hold


@dataclass(frozen=True, eq=False)
class JudgedSuite:
    """A suite, and what a whole model takes each of its pictures for, with its confidence."""

    suite: Suite
    predicted: Integer[np.ndarray, " n"] = field(repr=False)
    confidence: Float[np.ndarray, " n"] = field(repr=False)

    def __len__(self) -> int:
        return len(self.predicted)

    @property
    def y(self) -> Integer[np.ndarray, " n"]:
        """The classes that the pictures were made for."""
        return self.suite.y

    @property
    def for_centroid(self) -> Bool[np.ndarray, " n"]:
        """Which pictures were made for the centroid region."""
        return self.suite.for_centroid

    def take(self, rows: Shaped[np.ndarray, " n_rows"]) -> "JudgedSuite":
        """Give some of the tests, by position or by one truth value each."""
        return JudgedSuite(self.suite.take(rows), self.predicted[rows], self.confidence[rows])

    def kept(self) -> "JudgedSuite":
        """Give the tests that count."""
        return self.take(self.suite.kept)

    @property
    def correct(self) -> Bool[np.ndarray, " n"]:
        """Which pictures the model takes for the class that they were made for."""
        return self.predicted == self.suite.y

    def accuracy(self, region: str | None = None) -> SharedAccuracy:
        """The accuracy on the tests that are kept, or on those of one of `REGIONS`; the interval is over parents."""
        rows = np.ones(len(self), dtype=bool)
        if region is not None:
            rows &= self.suite.for_centroid == (region == REGIONS[0])
        return self._accuracy(rows)

    def _accuracy(self, rows: Bool[np.ndarray, " n"]) -> SharedAccuracy:
        """The accuracy on the tests that are kept, of these rows."""
        kept, again = rows & self.suite.kept, rows[:, None] & self.suite.kept_again
        error = oracle_error(self.correct.astype(np.float64), again)
        return shared_accuracy(
            self.correct[kept], self.suite.clusters[kept], oracle=error, parent_word=self.suite.origin.word
        )

    def class_table(self) -> pd.DataFrame:
        """Tidy rows, one for each class and region, of the tests that are kept.

        label, region, placed (how many), n_parents, accuracy, lower, upper.
        """
        rows, suite = [], self.suite
        for label, name in enumerate(suite.class_names):
            for region in REGIONS:
                share = self._accuracy((suite.y == label) & (suite.for_centroid == (region == REGIONS[0])))
                ends = {"lower": share.interval.lower, "upper": share.interval.upper}
                counts = {"placed": share.n, "n_parents": share.n_parents, "accuracy": share.accuracy}
                rows.append({"label": name, "region": region, **counts, **ends})
        return pd.DataFrame(rows)

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each test: label, region, rival, parent, part, in_region, read_as, kept, predicted, ...

        Then confidence, and whether it is correct.
        """
        names, suite = np.array(self.suite.class_names, dtype=object), self.suite
        return pd.DataFrame(
            {
                "label": names[suite.y],
                "region": np.where(suite.for_centroid, *REGIONS),
                "rival": names[suite.rival],
                "parent": suite.parent_ids,
                "part": suite.parent_part,
                "in_region": suite.in_region,
                "read_as": names[suite.read_as],
                "kept": suite.kept,
                "predicted": names[self.predicted],
                "confidence": self.confidence,
                "correct": self.correct,
            }
        )


@dataclass(frozen=True)
class SuiteDifference:
    """By how much the second model is more accurate than the first on `n` tests that both met.

    It got `n_gained` right that the first got wrong, and `n_lost` the other way round. The interval of the
    `difference` is paired, over the `n_parents` real samples that the tests were made from, and over oracles that might
    have decided which tests count.
    """

    n: int
    n_parents: int
    n_gained: int
    n_lost: int
    difference: float
    interval: Interval


def judge_suite(suite: Suite, model: Model) -> JudgedSuite:
    """Ask a whole model about every picture of a suite."""
    import torch

    with one_torch_thread(), torch.inference_mode():
        parts = [model.logits(batch).float().cpu() for batch in model.inputs(suite.pixels).split(_BATCH)]
        proba = torch.cat(parts).double().softmax(dim=1).numpy()
    return JudgedSuite(suite, proba.argmax(axis=1), proba.max(axis=1))


def suite_difference(first: JudgedSuite, second: JudgedSuite) -> SuiteDifference:
    """Compare two models on the suite that both met. Raises DataError where they met different ones.

    Examples
    --------
    >>> n, part, every = 4, np.array(["test"] * 4, dtype=object), np.ones(4, bool)
    >>> suite = Suite(("a", "b"), np.zeros((n, 1, 1, 1), np.uint8), np.zeros(n, int), ~every, every, np.zeros(n, int),
    ...               np.ones((n, 0), bool), np.ones(n, int), np.array(list("wxyz"), object), part, 9, 9)
    >>> old, new = (JudgedSuite(suite, np.array(said), np.ones(n)) for said in ([0, 0, 1, 1], [0, 0, 0, 1]))
    >>> found = suite_difference(old, new)
    >>> found.n_gained, found.n_lost, found.difference
    (1, 0, 0.25)
    """
    if not _alike(first.suite, second.suite):
        raise DataError("The two models met different suites. Run both on one data set, split and seed.")
    rows = first.suite.kept
    changes = second.correct.astype(np.int64) - first.correct
    error = oracle_error(changes.astype(np.float64), first.suite.kept_again)
    return paired_difference(changes[rows], first.suite.clusters[rows], oracle=error)


def paired_difference(
    changes: Integer[np.ndarray, " n"],
    clusters: Integer[np.ndarray, " n"],
    *,
    oracle: OracleError = NO_ERROR,
) -> SuiteDifference:
    """Give the mean of changes of 1 (gained), -1 (lost) and 0, with its interval over clusters and over oracles."""
    n, gained, lost = len(changes), int((changes > 0).sum()), int((changes < 0).sum())
    if n == 0:
        return SuiteDifference(0, 0, 0, 0, float("nan"), UNKNOWN)
    _, cluster = np.unique(clusters, return_inverse=True)
    k, value = int(cluster.max()) + 1, float(changes.mean())
    sums = np.bincount(cluster, weights=changes)
    off = sums - value * np.bincount(cluster)
    se = float(np.sqrt(k / max(k - 1, 1) * np.square(off).sum())) / n
    around = t_interval(value, *sum_of_errors((se, float(max(k - 1, 1))), oracle))
    few = _few_changes(gained / n, lost / n, k)
    interval = around if int((sums != 0).sum()) >= _FEWEST_CHANGED else joined(around, few)
    return SuiteDifference(n, k, gained, lost, value, interval)


def _few_changes(gained: float, lost: float, n: int) -> Interval:
    """The interval of a paired difference where next to nothing changed (Agresti and Min 2005).

    >>> _few_changes(0.0, 0.0, 98)
    Interval(lower=-0.0196, upper=0.0196)
    """
    plus, minus, whole = gained * n + 0.5, lost * n + 0.5, n + 2
    value = (plus - minus) / whole
    half = 1.96 * float(np.sqrt(plus + minus - (plus - minus) ** 2 / whole)) / whole
    return Interval(value - half, value + half)


def _alike(first: Suite, second: Suite) -> bool:
    same = first.class_names == second.class_names and first.images.shape == second.images.shape
    return same and bool((first.images == second.images).all() and (first.y == second.y).all())
