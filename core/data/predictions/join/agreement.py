"""Do truth and predictions belong together row by row? By how often labels agree, against shuffled and shifted rows."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Integer

from touchstone.core.data.errors import DataError
from touchstone.core.data.predictions.roles import Part, Roles
from touchstone.core.data.tables import Table
from touchstone.core.data.tables.names import agreement_by_chance, codes_of, common_names, counted_apart
from touchstone.core.data.values import percent

FARTHEST = 5
"""By how many rows one file may be shifted against the other."""
_CLEAR = 4.0  # standard deviations above chance: of shuffled files one in 30,000 gets there
_LIKELY = 2.0  # of shuffled files one in 44 gets there
_FEWEST = 20  # rows below which nothing is decided by how often they agree
_RARE = 1e-4  # how rarely a stretch that is in order may look as if it were not
_ODD_STRETCH = 1e-2  # how rarely labels in order have a stretch so unlike the rest
_NEARLY = 0.9  # the share of the accuracy that rows reach at least once they are moved to where they belong
_BY_LUCK = 3.0  # standard deviations above chance that a shuffled stretch may have
_MOST_FITTED = 50  # classes up to which names that have nothing in common are matched by how often they meet


@dataclass(frozen=True, eq=False)
class Agreement:
    """How many of the rows that were brought together agree, and how many would by chance (mean and spread)."""

    n_rows: int
    n_same: int
    mean: float
    spread: float

    @property
    def accuracy(self) -> float:
        """The fraction of rows that agree."""
        return self.n_same / max(1, self.n_rows)

    @property
    def by_chance(self) -> float:
        """The fraction of rows that would agree if they were shuffled."""
        return self.mean / max(1, self.n_rows)

    @property
    def can_differ(self) -> bool:
        """Whether rows in order could agree clearly more often than shuffled ones: not where they are few or alike."""
        return self.n_rows >= _FEWEST and self.n_rows - self.mean >= _CLEAR * self.spread > 0

    @property
    def is_clear(self) -> bool:
        """Whether rows agree clearly more often than shuffled ones would."""
        return self.can_differ and self.n_same - self.mean >= _CLEAR * self.spread

    @property
    def is_likely(self) -> bool:
        """Whether rows agree more often than most shuffled ones would."""
        return self.n_same - self.mean >= _LIKELY * self.spread > 0


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of both files as codes of the same classes.

    `named` tells whether their names have something in common; else they are matched by how often they meet, and then
    nobody knows the accuracy.

    >>> labels = Labels(np.array([0, 1] * 20), np.array([1, 0] * 20))
    >>> labels.agreement(np.arange(40)).accuracy, labels.agreement(np.arange(40)).is_clear
    (0.0, False)
    >>> labels.agreement(shifted(40, 40, 1)).is_clear
    True
    """

    truth: Integer[np.ndarray, " n_truth"]
    predicted: Integer[np.ndarray, " n_predictions"]
    named: bool = True

    def agreement(self, rows: Integer[np.ndarray, " n_predictions"]) -> Agreement:
        """How often labels agree if each row of predictions belongs to one row of the truth, or to none (-1)."""
        truth, predicted = self._together(rows)
        mean, spread = agreement_by_chance(truth.tolist(), predicted.tolist()) if len(truth) else (0.0, 0.0)
        return Agreement(len(truth), int((truth == predicted).sum()), mean, spread)

    def _together(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        kept = rows >= 0
        truth, predicted = self.truth[rows[kept]], self.predicted[kept]
        return (truth, predicted) if self.named else _fitted(truth, predicted)

    def doubt(self, rows: Integer[np.ndarray, " n_predictions"]) -> str:
        """What speaks against rows that stand in the order of both files, in a sentence; nothing where all is well."""
        whole = self.agreement(rows)
        if not whole.can_differ:
            return ""
        if not whole.is_clear:
            return (
                f"In that order {percent(whole.accuracy)} of labels agree, and {percent(whole.by_chance)} would if "
                "rows were shuffled."
            )
        truth, predicted = self.truth[rows[rows >= 0]], self.predicted[rows >= 0]
        predicted = predicted if self.named else _new_names(truth, predicted, _n_classes(truth, predicted))[predicted]
        if _is_sorted(truth) and _is_sorted(predicted):
            return "Both files are sorted by their labels, so that their rows may stand in different orders."
        stretch = _moved(truth, predicted, whole) or _mixed(truth, predicted, whole)
        return stretch and f"{stretch} All rows together agree in {percent(whole.accuracy)}."

    @property
    def is_sorted(self) -> bool:
        """Whether the truth is sorted by its labels, of which each row then agrees with its neighbours."""
        return len(self.truth) >= _FEWEST and _is_sorted(self.truth)

    @cached_property
    def shifts(self) -> dict[int, Agreement]:
        """The shifts, in rows, that make labels agree clearly and more often than rows that are not shifted."""
        n_truth, n_predictions = len(self.truth), len(self.predicted)
        apart = abs(n_truth - n_predictions)
        if apart > FARTHEST:
            return {}
        rows_of = {step: shifted(n_truth, n_predictions, step) for step in range(-FARTHEST, FARTHEST + 1)}
        agreements = {step: self.agreement(rows) for step, rows in rows_of.items()}
        least = 0.0 if apart else agreements[0].accuracy
        clear = {step: each for step, each in agreements.items() if each.is_clear and each.accuracy > least}
        return {step: each for step, each in clear.items() if not self.doubt(rows_of[step])}


def shifted(n_truth: int, n_predictions: int, step: int) -> Integer[np.ndarray, " n_predictions"]:
    """For each row of predictions the row of the truth that stands `step` rows further down; -1 where there is none.

    >>> shifted(3, 3, 1)
    array([ 1,  2, -1])
    """
    rows = np.arange(n_predictions) + step
    return np.where((rows >= 0) & (rows < n_truth), rows, -1)


def labels_of(known: Table, truth_roles: Roles, predictions: Table, roles: Roles) -> Labels | None:
    """The labels of both files, of the first model or task that has them; None where they are not known.

    None also where the predictions have a truth of their own, which tells more.

    >>> from touchstone.core.data.tables import make_table
    >>> known = make_table("truth.csv", ["gold"], [["cat", "dog"]], lines=[2, 3])
    >>> predictions = make_table("said.csv", ["pred"], [["Dog", "Dog"]], lines=[2, 3])
    >>> labels_of(known, Roles("gold"), predictions, Roles(predicted="pred")).predicted
    array([1, 1])
    """
    part = next((part for part in roles.parts if part.says_something), Part("model", ""))
    truth_column = truth_roles.truth or next((p.truth for p in truth_roles.parts if p.name == part.name), None)
    if truth_column is None or roles.truth is not None or part.truth is not None:
        return None  # two truths are compared themselves
    with suppress(DataError):  # reading the file says it
        predicted = _predicted(predictions, roles, part)
        return None if predicted is None else _as_codes(known.spelled(truth_column), predicted, dict(roles.classes))
    return None


def _predicted(predictions: Table, roles: Roles, part: Part) -> Sequence[str | None] | None:
    """What was predicted in each row: a label, the class of the highest score, or whether the only score is high."""
    if column := part.predicted or roles.predicted:
        return predictions.spelled(column)
    names, scores = _of_all_classes(predictions, roles, part)
    if names:
        return [names[code] for code in scores.argmax(axis=1)]
    column = part.confidence or roles.confidence
    return _high_or_low(predictions.floats(column)) if column else None


def _of_all_classes(predictions: Table, roles: Roles, part: Part) -> tuple[Sequence[str], np.ndarray]:
    """The names and the scores of all classes, of one without a number least; no names where nobody gave scores."""
    if roles.vector:
        return predictions.scores(roles.vector)
    pairs = part.probabilities or roles.probabilities
    scores = predictions.matrix(column for _, column in pairs)
    return [name for name, _ in pairs], np.nan_to_num(scores, nan=-np.inf)


def _high_or_low(scores: np.ndarray) -> list[str]:
    middle = 0.5 if (scores < 0.5).any() else float(np.median(scores))
    return [f"(score {'high' if score >= middle else 'low'})" for score in scores]


def _as_codes(truth: Sequence[Any], predicted: Sequence[Any], given: dict[str, str]) -> Labels | None:
    predicted = [given.get(label, label) for label in predicted]
    if None in truth or None in predicted:
        return None
    known, answers = set(truth), set(predicted)
    common = None if counted_apart(known, answers) else common_names(known, answers)
    if common is None and max(len(known), len(answers)) > _MOST_FITTED:
        return None
    names = common[0] if common else {name: name for name in known | answers}
    order = sorted(set(names.values()))
    own, other = (codes_of([names[label] for label in labels], order) for labels in (truth, predicted))
    return Labels(own, other, named=common is not None)


def _fitted(truth: np.ndarray, predicted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Every second row, with the predicted classes renamed by the rows between them: shuffled rows gain nothing so."""
    return truth[1::2], _new_names(truth[::2], predicted[::2], _n_classes(truth, predicted))[predicted[1::2]]


def _n_classes(truth: np.ndarray, predicted: np.ndarray) -> int:
    return 1 + int(max(truth.max(initial=0), predicted.max(initial=0)))


def _new_names(truth: np.ndarray, predicted: np.ndarray, n_classes: int) -> np.ndarray:
    """For each predicted class the true one that it meets most often, one to one."""
    from scipy.optimize import linear_sum_assignment

    counts = np.zeros((n_classes, n_classes))
    np.add.at(counts, (predicted, truth), 1)
    counts -= counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / max(1.0, counts.sum())
    return linear_sum_assignment(-counts)[1]


def _is_sorted(codes: np.ndarray) -> bool:
    """Whether the rows of each class stand together."""
    return 1 + int((np.diff(codes) != 0).sum()) == len(np.unique(codes)) > 1


def _moved(truth: np.ndarray, predicted: np.ndarray, whole: Agreement) -> str:
    """A stretch whose rows agree when they are moved, and not where they stand."""
    right, chance = whole.accuracy, whole.by_chance
    ratio = right * (1 - chance) / max((1 - right) * chance, 1e-12)
    if ratio <= 1:
        return ""
    least = max(3.0, np.log(2 * FARTHEST * len(truth) / _RARE) / np.log(ratio))
    stretches: list[tuple[float, str]] = []
    for step in (step for step in range(-FARTHEST, FARTHEST + 1) if step):
        at = shifted(len(truth), len(predicted), step)
        same, there = truth == predicted, np.where(at >= 0, truth[at] == predicted, truth == predicted)
        start, stop, height = _steepest(there.astype(np.float64) - same)
        moved = there[start:stop].mean() if height >= least else 0.0
        if moved >= _NEARLY * right:
            rows = f"{abs(step)} {'row' if abs(step) == 1 else 'rows'}"
            stretch = f"Rows {start + 1:,} to {stop:,} agree in {percent(same[start:stop].mean())}"
            stretches.append((height, f"{stretch}, and in {percent(moved)} when moved by {rows}."))
    return max(stretches, default=(0.0, ""))[1]


def _mixed(truth: np.ndarray, predicted: np.ndarray, whole: Agreement) -> str:
    """A stretch whose rows agree no more often than if they were shuffled, while the others clearly do."""
    same = truth == predicted
    start, stop = _unlike_the_rest(same, whole.by_chance)
    inside, outside = same[start:stop], np.delete(same, slice(start, stop))
    height = sum(_gain_of_own_share(part, whole.accuracy) for part in (inside, outside))
    if not len(outside) or height < np.log(len(same) ** 2 / _ODD_STRETCH):
        return ""
    stretch = Labels(truth[start:stop], predicted[start:stop]).agreement(np.arange(stop - start))
    if not stretch.can_differ or stretch.n_same - stretch.mean >= _BY_LUCK * stretch.spread:
        return ""
    return (
        f"Rows {start + 1:,} to {stop:,} agree in {percent(stretch.accuracy)}, as if shuffled, the others in "
        f"{percent(outside.mean())}."
    )


def _unlike_the_rest(same: np.ndarray, chance: float) -> tuple[int, int]:
    """The stretch that is likeliest to agree by chance only, while the others agree as often as they do."""
    start, stop = 0, 0
    for _ in range(3):  # the share of the others is better known without the stretch
        right = np.clip(np.delete(same, slice(start, stop)).mean(), 1e-3, 1 - 1e-3)
        low = np.clip(chance, 1e-3, 0.99 * right)
        start, stop, _ = _steepest(np.where(same, np.log(low / right), np.log((1 - low) / (1 - right))))
        if start == 0 and stop == len(same):
            return 0, 0
    return start, stop


def _gain_of_own_share(same: np.ndarray, share: float) -> float:
    """By how much a share of its own explains these rows better than that of all, as a log likelihood."""
    share, own = np.clip((share, same.mean() if len(same) else share), 1e-9, 1 - 1e-9)
    n_same = same.sum()
    return float(n_same * np.log(own / share) + (len(same) - n_same) * np.log((1 - own) / (1 - share)))


def _steepest(gain: Float[np.ndarray, " n_rows"]) -> tuple[int, int, float]:
    """The stretch of rows with the largest sum: where it starts, where it stops, and that sum."""
    sums = np.concatenate([[0.0], np.cumsum(gain)])
    stop = int(np.argmax(sums - np.minimum.accumulate(sums)))
    start = int(np.argmin(sums[: stop + 1]))
    return start, stop, float(sums[stop] - sums[start])
