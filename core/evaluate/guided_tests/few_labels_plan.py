"""How accurate is a model on a pool of which few samples were labelled? The counts that came back, kept as a plan.

Labels are counted where they are read; the plan holds the counts, so that what they say of the pool is stored, sealed
and shared like any other result, without the samples or their labels.
"""

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from touchstone.core.asked import asks
from touchstone.core.data import DataError, Dataset
from touchstone.core.evaluate.guided_tests.few_labels import LabelledAccuracy, labelled_accuracy
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.trials.plan import Context, check_fields, check_whole

COLUMNS = {
    "accuracy": "float64",
    "lower": "float64",
    "upper": "float64",
    "n_labels": "Int64",
    "n_pool": "Int64",
    "seconds": "float64",
    "status": "str",
}
"""The columns of the one row and their types: the accuracy of the pool with its 95 % interval, both as fractions."""


@dataclass(frozen=True)
class FewLabelsPlan:
    """Give the accuracy of a stored model on a pool of samples, from the labels of few of them.

    Parameters
    ----------
    model
        The fingerprint of the stored model whose predictions were labelled.
    pool
        What the pool is called, such as the name of its file.
    n_wrong, n_labelled, n_in
        Of each stratum: how many of its labelled samples are wrong, how many were labelled, how many it has in all.
    n_skipped
        Rows above the last label that have none.

    Raises DataError where the counts contradict each other, or a stratum has no label.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> plan = FewLabelsPlan("f1", "new.csv", (1, 12), (100, 100), (4000, 1000))
    >>> plan.run_trial(load_example("wine"), 0, context=Context())[["accuracy", "n_labels", "n_pool"]].round(3)
       accuracy  n_labels  n_pool
    0     0.968       200    5000
    """

    model: str = asks(
        label="Model",
        help="The stored model whose predictions were labelled.",
        place="command",
        choices=lambda about: None,
    )
    pool: str = asks(label="Samples", help="What the pool is called.", place="command", choices=lambda about: None)
    n_wrong: tuple[int, ...] = asks(
        label="Wrong", help="Labelled samples of each stratum that are wrong.", place="command", lowest=0, many=True
    )
    n_labelled: tuple[int, ...] = asks(
        label="Labelled", help="Labelled samples of each stratum.", place="command", lowest=1, many=True
    )
    n_in: tuple[int, ...] = asks(
        label="Samples of each stratum", help="Labelled or not.", place="command", lowest=1, many=True
    )
    n_skipped: int = asks(
        0, label="Skipped", help="Rows above the last label that have none.", place="command", lowest=0
    )

    described: ClassVar[str] = "{pool}"

    kind: ClassVar[str] = "few_labels"
    METHOD_VERSION: ClassVar[int] = 2

    def __post_init__(self) -> None:
        check_fields(self)
        check_whole(self, {"n_skipped": 0})
        if not self.n_in or len({len(self.n_wrong), len(self.n_labelled), len(self.n_in)}) > 1:
            raise DataError("n_wrong, n_labelled and n_in hold one number for each stratum, at least one.")
        for stratum, (n_wrong, n_labelled, n_in) in enumerate(self.strata, start=1):
            if not 0 <= n_wrong <= n_labelled <= n_in or n_in < 1:
                raise DataError(
                    f"Stratum {stratum}: {n_wrong} wrong of {n_labelled} labels of {n_in} samples cannot be. Each is "
                    "at most the next."
                )
        if not all(self.n_labelled):
            empty = self.n_labelled.index(0) + 1
            raise DataError(f"Stratum {empty} has no label yet. Label at least one sample of each stratum.")

    @property
    def strata(self) -> list[tuple[int, int, int]]:
        """Of each stratum: samples that are wrong, that are labelled, and all.

        >>> FewLabelsPlan("f1", "new.csv", (1, 12), (100, 100), (4000, 1000)).strata
        [(1, 100, 4000), (12, 100, 1000)]
        """
        return list(zip(self.n_wrong, self.n_labelled, self.n_in, strict=True))

    @property
    def accuracy(self) -> LabelledAccuracy:
        """What the labels say of the whole pool."""
        return labelled_accuracy(*(np.array(counts) for counts in (self.n_wrong, self.n_labelled, self.n_in)))

    def n_trials(self, dataset: Dataset) -> int:
        """One."""
        return 1

    def stored_models(self) -> tuple[str, ...]:
        """None: the model has predicted already, and may be gone."""
        return ()

    def run_trial(self, dataset: Dataset, index: int, *, context: Context) -> pd.DataFrame:
        """The accuracy of the pool (`COLUMNS`)."""
        start, labelled = time.perf_counter(), self.accuracy
        ends = {"lower": labelled.interval.lower, "upper": labelled.interval.upper}
        sizes = {"n_labels": labelled.n_labels, "n_pool": labelled.n_pool}
        seconds = time.perf_counter() - start
        return _frame({"accuracy": labelled.accuracy, **ends, **sizes, "seconds": seconds, "status": "ok"})

    def failed_trial(self, dataset: Dataset, index: int) -> pd.DataFrame:
        """One row with status "failed" and no figures."""
        return _frame({"status": "failed"})


def accuracy_of_rows(rows: pd.DataFrame) -> LabelledAccuracy | None:
    """The accuracy that the rows of a run hold; None where its trial failed.

    >>> from touchstone.core.data import load_example
    >>> plan = FewLabelsPlan("f1", "new.csv", (1, 12), (100, 100), (4000, 1000))
    >>> accuracy_of_rows(plan.run_trial(load_example("wine"), 0, context=Context())) == plan.accuracy
    True
    """
    known = rows[rows["status"] == "ok"]
    if known.empty:
        return None
    row = known.iloc[0]
    interval = Interval(float(row["lower"]), float(row["upper"]))
    return LabelledAccuracy(float(row["accuracy"]), interval, int(row["n_labels"]), int(row["n_pool"]))


def _frame(row: dict[str, object]) -> pd.DataFrame:
    return pd.DataFrame([row], columns=list(COLUMNS)).astype(COLUMNS)
