"""What comes out of comparing two test sets: every number with its interval and its n."""

from dataclasses import asdict, dataclass

import pandas as pd

from core.evaluate.intervals import UNKNOWN, Interval
from core.evaluate.matched_subsets.matching import By, MatchedSubsets, Method

FEWEST_PAIRS = 30
"""Below so many pairs nothing is claimed, of a label or of the sets."""


@dataclass(frozen=True)
class SetEstimate:
    """A number with its 95 % interval over data, and the name of the way it was found. NaN: not told by the data."""

    value: float
    interval: Interval = UNKNOWN
    by: str = ""


@dataclass(frozen=True)
class Subset:
    """One of the paper's subsets: how many samples, how many of them right, how sure the model was of them.

    Of matched and unmatched subsets these are means over the repeats; the interval of the accuracy is Wilson's.
    """

    name: str
    n: float
    accuracy: SetEstimate
    mean_confidence: float


@dataclass(frozen=True)
class LabelGap:
    """The targets of one predicted label, and the references they were paired with."""

    label: str
    n_reference: int
    n_target: int
    n_pairs: float
    """Mean over the repeats."""
    reference_accuracy: float
    target_accuracy: float
    matched_reference_accuracy: float
    matched_target_accuracy: float
    matched_gap: SetEstimate
    p_value: float
    p_holm: float
    """Over the labels that have enough pairs; NaN for the others."""

    @property
    def enough(self) -> bool:
        """Whether there are pairs enough to claim anything."""
        return self.n_pairs >= FEWEST_PAIRS

    @property
    def told_apart(self) -> bool:
        """Whether accuracy differs at the same confidence, corrected for the number of labels."""
        return self.p_holm < 0.05


@dataclass(frozen=True, eq=False)
class SetComparison:
    """One model on two test sets. `gap`: accuracy on the reference less that on the target, so positive is a fall."""

    model: str
    epsilon: float
    by: By
    method: Method
    n_repeats: int
    n_reference: int
    n_target: int
    n_pairs: float
    """Mean over the repeats, as everything that rests on matching; 0 where no confidence was given."""
    subsets: tuple[Subset, ...]
    gap: SetEstimate
    matched_gap: SetEstimate
    explained: SetEstimate
    """The gap less the matched gap: what a different mix of confidences accounts for."""
    unmatched_target: SetEstimate
    unmatched_reference: SetEstimate
    least_unmatched_target: float
    """Share of the target set that no matching at all could have paired (method "maximum")."""
    confidence_difference: float
    """Mean confidence of matched references less that of matched targets, the check of balance."""
    spread: float
    """Standard deviation of the matched gap over the repeats: the luck of matching, and no uncertainty about data."""
    p_value: float
    """Sign-flip test over the pairs: is one of a pair more often right than the other?"""
    labels: tuple[LabelGap, ...]
    matched: MatchedSubsets | None
    """The first repeat: the one in the table of samples and in reliability diagrams."""
    p_holm: float = float("nan")
    """Corrected for the number of models, where there are several."""

    def subset(self, name: str) -> Subset:
        """One of the subsets by name, e.g. "matched target"."""
        return next(subset for subset in self.subsets if subset.name == name)

    @property
    def can_match(self) -> bool:
        """Whether both sets told how sure the model was."""
        return self.matched is not None

    @property
    def enough(self) -> bool:
        """Whether there are pairs enough to claim anything about matched samples."""
        return self.n_pairs >= FEWEST_PAIRS

    def labels_table(self) -> pd.DataFrame:
        """Tidy rows, one per predicted label: the fields of `LabelGap`, its estimate flat, and `enough`."""
        return pd.DataFrame([_flat(row) | {"enough": row.enough} for row in self.labels])


@dataclass(frozen=True, eq=False)
class ModelComparisons:
    """Many models on the same two sets, by increasing accuracy on the reference."""

    rows: tuple[SetComparison, ...]
    in_one_set_only: tuple[str, ...]
    """Models that were left out because only one of the sets has their predictions."""

    def table(self) -> pd.DataFrame:
        """See `comparison_table`."""
        return comparison_table(self.rows)


_NUMBERS = ("epsilon", "by", "method", "n_repeats", "n_reference", "n_target", "n_pairs")
_ESTIMATES = ("gap", "matched_gap", "explained", "unmatched_target", "unmatched_reference")
_REST = ("least_unmatched_target", "confidence_difference", "spread", "p_value", "p_holm")


def comparison_table(rows: tuple[SetComparison, ...]) -> pd.DataFrame:
    """Tidy rows, one per model or epsilon.

    For `gap, matched_gap, explained, unmatched_target, unmatched_reference` the value, `_lower`, `_upper` and `_by`;
    for each subset `n_`, `accuracy_` and `mean_confidence_`; all shares are fractions.
    """
    cells = []
    for row in rows:
        cell: dict[str, object] = {"model": row.model}
        cell |= {name: getattr(row, name) for name in _NUMBERS}
        for name in _ESTIMATES:
            cell |= _estimate_cells(name, getattr(row, name))
        cell |= {name: getattr(row, name) for name in _REST}
        for subset in row.subsets:
            name = subset.name.replace(" ", "_")
            cell |= {f"n_{name}": subset.n, f"accuracy_{name}": subset.accuracy.value}
            cell |= {f"mean_confidence_{name}": subset.mean_confidence}
        cells.append(cell)
    return pd.DataFrame(cells)


def _flat(row: LabelGap) -> dict[str, object]:
    cells = asdict(row)
    del cells["matched_gap"]
    return cells | _estimate_cells("matched_gap", row.matched_gap)


def _estimate_cells(name: str, estimate: SetEstimate) -> dict[str, object]:
    ends = {f"{name}_lower": estimate.interval.lower, f"{name}_upper": estimate.interval.upper}
    return {name: estimate.value, **ends, f"{name}_by": estimate.by}
