"""Which samples are there twice, and do copies agree about the label?"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer


@dataclass(frozen=True, eq=False)
class ExactCopies:
    """Samples whose content is that of an earlier one.

    `first` holds for every sample the position of the first one with its content, `y` the labels.
    """

    first: Integer[np.ndarray, " n_samples"]
    y: Integer[np.ndarray, " n_samples"]

    @property
    def n_samples(self) -> int:
        """How many samples there are in all."""
        return len(self.first)

    @property
    def copies(self) -> Integer[np.ndarray, " n_copies"]:
        """The positions of the samples that repeat an earlier one."""
        return np.flatnonzero(self.first != np.arange(len(self.first)))

    @property
    def n_copies(self) -> int:
        """How many samples could be left out without losing any content."""
        return len(self.copies)

    @property
    def conflicting(self) -> Integer[np.ndarray, " n_conflicting"]:
        """The positions of all samples, first ones included, whose content has more than one label."""
        contested = np.zeros(self.n_samples, dtype=bool)
        contested[self.first[self.y != self.y[self.first]]] = True
        return np.flatnonzero(contested[self.first])

    @property
    def n_conflicting_contents(self) -> int:
        """How many different contents have more than one label."""
        return len(np.unique(self.first[self.conflicting]))

    def are_in_one_unit(self, units: Integer[np.ndarray, " n_samples"] | None) -> bool:
        """Whether every copy shares its unit with the first of its content: then no split has them on both sides.

        >>> ExactCopies(np.array([0, 0, 2]), np.array([0, 0, 1])).are_in_one_unit(np.array([7, 7, 8]))
        True
        """
        return units is not None and bool((units == units[self.first]).all())

    def groups(self, *, conflicting: bool) -> tuple[tuple[int, ...], ...]:
        """The positions of each content that is there more than once; those with more than one label, or all others."""
        contested = np.unique(self.first[self.conflicting])
        chosen = np.unique(self.first[self.copies])
        chosen = chosen[np.isin(chosen, contested) == conflicting]
        rows = np.flatnonzero(np.isin(self.first, chosen))
        rows = rows[np.argsort(self.first[rows], kind="stable")]
        ends = np.cumsum(np.unique(self.first[rows], return_counts=True)[1])[:-1]
        return tuple(tuple(part.tolist()) for part in np.split(rows, ends)) if len(rows) else ()

    def table(self, ids: Sequence[str], class_names: Sequence[str]) -> pd.DataFrame:
        """One row per sample whose content is there more than once: id, label, first_id, other_label.

        `other_label` says whether another sample with this content has another label.
        """
        rows = np.flatnonzero(np.isin(self.first, self.first[self.copies]))
        rows = rows[np.argsort(self.first[rows], kind="stable")]
        names, id_of = np.array(class_names, dtype=object), np.array(ids, dtype=object)
        columns = {"id": id_of[rows], "label": names[self.y[rows]], "first_id": id_of[self.first[rows]]}
        return pd.DataFrame({**columns, "other_label": np.isin(rows, self.conflicting)})


@dataclass(frozen=True, eq=False)
class NearCopies:
    """Pairs of samples whose features point almost the same way, but whose contents differ; the most similar first.

    `same_label` says of each pair whether the labels agree. `full` says that there are more pairs than were kept.
    """

    pairs: Integer[np.ndarray, "n_pairs 2"]
    similarity: Float[np.ndarray, " n_pairs"]
    same_label: Bool[np.ndarray, " n_pairs"]
    full: bool

    @property
    def n_samples(self) -> int:
        """How many samples are in some pair."""
        return len(np.unique(self.pairs))

    def chosen(self, *, same_label: bool) -> tuple[tuple[int, ...], ...]:
        """The pairs whose labels agree, or those whose labels do not."""
        return tuple((int(first), int(other)) for first, other in self.pairs[self.same_label == same_label])

    def table(self, ids: Sequence[str], y: Integer[np.ndarray, " n"], class_names: Sequence[str]) -> pd.DataFrame:
        """One row per pair: id, label, other_id, other_label, similarity."""
        names, id_of = np.array(class_names, dtype=object), np.array(ids, dtype=object)
        first, other = self.pairs.T
        columns = {
            "id": id_of[first],
            "label": names[y[first]],
            "other_id": id_of[other],
            "other_label": names[y[other]],
        }
        return pd.DataFrame({**columns, "similarity": self.similarity})


def near_copies(
    pairs: Integer[np.ndarray, "n_pairs 2"],
    similarity: Float[np.ndarray, " n_pairs"],
    exact: ExactCopies,
    *,
    most: int,
) -> NearCopies:
    """What ``near_duplicate_pairs`` found, less the pairs of equal content; `most` is what it was asked for.

    Examples
    --------
    >>> exact = ExactCopies(np.array([0, 0, 2]), np.array([0, 0, 1]))
    >>> found = near_copies(np.array([[0, 1], [0, 2]]), np.array([1.0, 0.97]), exact, most=100)
    >>> found.chosen(same_label=False), found.n_samples
    (((0, 2),), 2)
    """
    first, other = pairs.T
    differ = exact.first[first] != exact.first[other]
    agree = exact.y[first] == exact.y[other]
    return NearCopies(pairs[differ], similarity[differ], agree[differ], len(pairs) >= most)
