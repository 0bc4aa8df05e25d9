"""What did a split do to the data? Sizes, the share that was wanted and got, and how the labels are spread."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Integer

from touchstone.core.split.scheme import Split


@dataclass(frozen=True, eq=False)
class SplitDescription:
    """Label counts of a split, in the order of ``class_names``, from which sizes, shares and distances follow.

    ``n_whole`` counts all samples: a training part that was cut to fewer samples leaves some in neither part.
    """

    class_names: tuple[str, ...]
    test_share_wanted: float
    n_label_train: Integer[np.ndarray, " n_classes"]
    n_label_test: Integer[np.ndarray, " n_classes"]
    n_label_whole: Integer[np.ndarray, " n_classes"]

    @property
    def n_train(self) -> int:
        """How many samples train the model."""
        return int(self.n_label_train.sum())

    @property
    def n_test(self) -> int:
        """How many samples test it."""
        return int(self.n_label_test.sum())

    @property
    def test_share(self) -> float:
        """The share of all samples that is in the test part; set it against ``test_share_wanted``."""
        return self.n_test / int(self.n_label_whole.sum())

    @property
    def train_to_test(self) -> float:
        """Total variation between the labels of the training and of the test part: 0 is alike, 1 is disjoint."""
        return total_variation(self.n_label_train, self.n_label_test)

    @property
    def train_to_whole(self) -> float:
        """Total variation between the labels of the training part and of all samples."""
        return total_variation(self.n_label_train, self.n_label_whole)

    @property
    def test_to_whole(self) -> float:
        """Total variation between the labels of the test part and of all samples."""
        return total_variation(self.n_label_test, self.n_label_whole)

    def table(self) -> pd.DataFrame:
        """Give one row per class: ``label``, ``n_train``, ``n_test``, ``n_whole`` and the ``test_share`` of the class.

        Examples
        --------
        >>> split = Split(np.array([0, 1, 2]), np.array([3]))
        >>> describe_split(split, np.array([0, 0, 1, 1]), class_names=["cat", "dog"], test_share=0.2).table()
          label  n_train  n_test  n_whole  test_share
        0   cat        2       0        2         0.0
        1   dog        1       1        2         0.5
        """
        return pd.DataFrame(
            {
                "label": list(self.class_names),
                "n_train": self.n_label_train,
                "n_test": self.n_label_test,
                "n_whole": self.n_label_whole,
                "test_share": self.n_label_test / self.n_label_whole,
            }
        )


def describe_split(
    split: Split, y: Integer[np.ndarray, " n_samples"], *, class_names: Sequence[str], test_share: float
) -> SplitDescription:
    """Count the labels ``y`` (codes into ``class_names``) of both parts of a split.

    Examples
    --------
    >>> split = Split(np.array([0, 1, 2]), np.array([3]))
    >>> description = describe_split(split, np.array([0, 0, 1, 1]), class_names=["cat", "dog"], test_share=0.2)
    >>> description.n_train, description.n_test, description.test_share, round(description.train_to_test, 2)
    (3, 1, 0.25, 0.67)
    """
    n_train, n_test, n_whole = (np.bincount(y[part], minlength=len(class_names)) for part in (*split, slice(None)))
    return SplitDescription(tuple(class_names), test_share, n_train, n_test, n_whole)


def total_variation(counts: Integer[np.ndarray, " n_classes"], others: Integer[np.ndarray, " n_classes"]) -> float:
    """Half the sum of differences between two label distributions, each given by its counts; none may be empty.

    Examples
    --------
    >>> total_variation(np.array([1, 1]), np.array([3, 1]))
    0.25
    """
    return float(np.abs(counts / counts.sum() - others / others.sum()).sum() / 2)
