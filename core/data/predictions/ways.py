"""Do truth and predictions belong together row by row? By how often labels agree, against shuffled and shifted rows."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np
from jaxtyping import Float, Integer

from touchstone.core.data.errors import DataError, RolesNeeded
from touchstone.core.data.predictions.roles import APART, LINE, NAMING, SHARED, Part, Roles, in_words, name_of_step
from touchstone.core.data.tables.names import (
    ROW_NAMES,
    agreement_by_chance,
    codes_of,
    common_names,
    compact,
    counted_apart,
)
from touchstone.core.data.tables.table import Table
from touchstone.core.data.values import first_repeat, percent, quoted

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

    >>> from touchstone.core.data.tables.table import make_table
    >>> known = make_table("truth.csv", ["gold"], [["cat", "dog"]], lines=[2, 3])
    >>> predictions = make_table("said.csv", ["pred"], [["Dog", "Dog"]], lines=[2, 3])
    >>> labels_of(known, Roles("gold"), predictions, Roles(predicted="pred")).predicted
    array([1, 1])
    """
    part = next((part for part in roles.parts if part.says_something), Part("model", ""))
    truth_column = truth_roles.truth or truth_roles.truths.get(part.name)
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
    if not column:
        return None
    scores = predictions.floats(column)
    middle = 0.5 if (scores < 0.5).any() else float(np.median(scores))
    return [f"(score {'high' if score >= middle else 'low'})" for score in scores]


def _of_all_classes(predictions: Table, roles: Roles, part: Part) -> tuple[Sequence[str], np.ndarray]:
    """The names and the scores of all classes, of one without a number least; no names where nobody gave scores."""
    if roles.vector:
        return predictions.scores(roles.vector)
    pairs = part.probabilities or roles.probabilities
    scores = predictions.matrix(column for _, column in pairs)
    return [name for name, _ in pairs], np.nan_to_num(scores, nan=-np.inf)


def _as_codes(truth: Sequence[Any], predicted: Sequence[Any], given: dict[str, str]) -> Labels | None:
    predicted = [given.get(label, label) for label in predicted]
    known, answers = set(truth), set(predicted)
    if None in known | answers:
        return None
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


# In what ways may the rows of two files belong together? By columns that name every row in both, or by their lines.

Key = tuple[str, str]
"""The column of the truth and that of the predictions by which rows join."""
_MOST_COLUMNS = 30  # of so many columns that may name rows all are compared with those of other names
_MOST_PAIRED = 6
_LEAST_SHARED = 0.5  # the share of the rows of the shorter file that has to be found by a key nobody named
_ALMOST = 0.8  # the share of different values from which on a column names rows, but some of them twice
MOST_WAYS = 3
_CHOOSE = "Choose one, or"
_CONFIRM = "Confirm this only if you know that it is right; else"


@dataclass(frozen=True, eq=False)
class Way:
    """One way: for each row of predictions the row of the truth, -1 where there is none; and what `join` calls it.

    `keys` are the columns, none where rows join by line; `spelled` tells where their cells are not spelled alike.

    >>> by_line(3, 3, 1).name, by_line(3, 3, 1).counts
    ('(line +1)', '2 of 3 rows')
    """

    name: str
    title: str
    rows: Integer[np.ndarray, " n_predictions"]
    n_truth: int
    keys: tuple[Key, ...] = ()
    spelled: str = ""

    @cached_property
    def n_matched(self) -> int:
        """How many rows of predictions have one of the truth."""
        return int((self.rows >= 0).sum())

    @cached_property
    def left_out(self) -> tuple[int, int]:
        """How many rows of the truth, and how many of the predictions, belong to none of the other file."""
        met = np.zeros(self.n_truth, dtype=bool)
        met[self.rows[self.rows >= 0]] = True
        return int((~met).sum()), len(self.rows) - self.n_matched

    @property
    def is_complete(self) -> bool:
        """Whether no row of either file is left out."""
        return self.left_out == (0, 0)

    @property
    def counts(self) -> str:
        """How many rows it brings together."""
        return f"{self.n_matched:,} of {max(len(self.rows), self.n_truth):,} rows"


def by_line(n_truth: int, n_predictions: int, step: int = 0) -> Way:
    """Rows as they stand, or each with the one that is `step` rows further down in the truth."""
    rows = shifted(n_truth, n_predictions, step)
    name = LINE if step == 0 and n_truth == n_predictions else name_of_step(step)
    return Way(name, in_words(name), rows, n_truth)


def by_keys(known: Table, predictions: Table, keys: tuple[Key, ...], roles: Roles) -> Way | None:
    """Rows whose cells in the keys are the same, or spelled otherwise only in padding, spaces or letters' case.

    None where a row of the truth, or of a model's predictions, is not named by one key of its own, or has none.

    >>> from touchstone.core.data.tables.table import make_table
    >>> known = make_table("truth.csv", ["no", "gold"], [["007", "008"], ["a", "b"]], lines=[2, 3])
    >>> predictions = make_table("said.csv", ["no", "pred"], [["8", "7"], ["a", "b"]], lines=[2, 3])
    >>> way = by_keys(known, predictions, (("no", "no"),), Roles(predicted="pred"))
    >>> way.rows, way.spelled
    (array([1, 0]), "2 of 2 keys are spelled otherwise, such as '8' for '008'")
    """
    of_known, of_predictions = zip(*keys, strict=True)
    own = list(zip(*map(known.spelled, of_known), strict=True))
    other = list(zip(*map(predictions.spelled, of_predictions), strict=True))
    apart = {*roles.by_role(APART).values()}.difference(of_predictions)
    models = list(zip(*map(predictions.spelled, apart), strict=True)) or [()] * len(other)
    if any(None in name for name in (*own, *other)):
        return None
    best = _best_rows(own, other, models)
    if best is None:
        return None
    name = " + ".join(b if compact(a) == compact(b) else f"{b} = {a}" for a, b in keys)
    columns = list(dict.fromkeys(keys[0] if len(keys) == 1 else (column for _, column in keys)))
    title = f"by column{'s' * (len(columns) > 1)} {' and '.join(map(repr, columns))}"
    return Way(name, title, best, len(own), keys, _spelled_otherwise(own, other, best))


def _best_rows(own: Sequence[tuple], other: Sequence[tuple], models: Sequence[object]) -> np.ndarray | None:
    """The rows of the truth by keys as they stand or, while some are not met, spelled so that more come together."""
    best = _rows(own, other, models)
    if best is None:
        return None
    for spelling in _SPELLINGS:
        if (best >= 0).all() and len(set(best.tolist())) == len(own):
            break
        rows = _rows(*([tuple(map(spelling, name)) for name in names] for names in (own, other)), models)
        if rows is not None and (rows >= 0).sum() > (best >= 0).sum():
            best = rows
    return best


def _rows(own: Sequence[object], other: Sequence[object], models: Sequence[object]) -> np.ndarray | None:
    """For each row of predictions that of the truth, -1 where there is none; None where keys repeat."""
    row_of = {name: row for row, name in enumerate(own)}
    if len(row_of) < len(own) or len(set(zip(other, models, strict=True))) < len(other):
        return None
    return np.array([row_of.get(name, -1) for name in other], dtype=np.int64)


def _spelled_otherwise(own: Sequence[tuple], other: Sequence[tuple], rows: np.ndarray) -> str:
    pairs = [(a, own[row]) for a, row in zip(other, rows.tolist(), strict=True) if row >= 0 and a != own[row]]
    if not pairs:
        return ""
    written, known = next((a, b) for a, b in zip(*pairs[0], strict=True) if a != b)
    return f"{len(pairs):,} of {len(rows):,} keys are spelled otherwise, such as {quoted(written)} for {quoted(known)}"


def _plain(text: str) -> str:
    """A key without what spaces, letters' case and ways to encode accents add to it."""
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def _unpadded(text: str) -> str:
    """A plain key with its numbers as they are counted: without zeros in front, and without ".0" behind."""
    return re.sub(r"(?<![\d.])0+(?=\d)", "", re.sub(r"^([+-]?\d+)\.0+$", r"\1", _plain(text)))


_SPELLINGS: tuple[Callable[[str], str], ...] = (_plain, _unpadded)


def keys_named(name: str, known: Table, predictions: Table) -> tuple[Key, ...] | None:
    """The columns by which rows join in the way that `join` calls so; None where there are none.

    >>> from touchstone.core.data.tables.table import make_table
    >>> known = make_table("truth.csv", ["Visit", "no"], [["1", "2"], ["3", "4"]], lines=[2, 3])
    >>> predictions = make_table("said.csv", ["visit", "row"], [["1", "2"], ["3", "4"]], lines=[2, 3])
    >>> keys_named("visit", known, predictions), keys_named("row = no", known, predictions)
    ((('Visit', 'visit'),), (('no', 'row'),))
    """
    key = _key_alike(name, known, predictions)
    if key is not None:
        return (key,)
    for other, own in _halves(name, " = "):
        if own in known.columns and other in predictions.columns and compact(own) != compact(other):
            return ((own, other),)
    for first, second in _halves(name, " + "):
        keys = _key_alike(first, known, predictions), _key_alike(second, known, predictions)
        if keys[0] is not None and keys[1] is not None:
            return keys[0], keys[1]
    return None


def _key_alike(name: str, known: Table, predictions: Table) -> Key | None:
    """The column of predictions of this name, and that of the truth that is called so too, spelled alike if it can."""
    if name not in predictions.columns:
        return None
    alike = (own for own in known.columns if compact(own) == compact(name))
    own = name if name in known.columns else next(alike, None)
    return None if own is None else (own, name)


def _halves(name: str, between: str) -> Iterator[tuple[str, str]]:
    """What stands before and after a word, for each place where it stands: names of columns may hold it, too."""
    words = name.split(between)
    return ((between.join(words[:at]), between.join(words[at:])) for at in range(1, len(words)))


def ways_by_column(known: Table, truth_roles: Roles, predictions: Table, roles: Roles) -> list[Way]:
    """The ways by a column that names rows in both files: of one name first, then of other names and equal content.

    A column of one name may have lost some rows in one of the files; so may one of other names that holds words.
    """
    own, other = _names_rows(known, truth_roles), _names_rows(predictions, roles)
    ways = list(_shared(known, predictions, _called_alike(own, other), roles))
    used = {column for way in ways if way.is_complete for column in way.keys[0]}
    pairs = product(own[:_MOST_COLUMNS], other[:_MOST_COLUMNS])
    further = [(a, b) for a, b in pairs if compact(a) != compact(b) and not used & {a, b}]
    alike = [(a, b) for a, b in further if _same_content(known, a, predictions, b)]
    return ways + list(_shared(known, predictions, alike, roles))


def ways_by_pair(known: Table, truth_roles: Roles, predictions: Table, roles: Roles) -> list[Way]:
    """The ways by two columns of one name in both files that name rows only together, such as a subject and a visit."""
    own, other = (_free(table, each, SHARED) for table, each in ((known, truth_roles), (predictions, roles)))
    alike = [key for key in _called_alike(own, other) if key[1] != roles.model]
    return list(_shared(known, predictions, combinations(alike[:_MOST_PAIRED], 2), roles))


def _called_alike(own: Sequence[str], other: Sequence[str]) -> list[Key]:
    """The columns of one name, case and punctuation folded, in both files."""
    by_name = {compact(column): column for column in own}
    return [(by_name[compact(column)], column) for column in other if compact(column) in by_name]


def _shared(known: Table, predictions: Table, keys: Sequence | Iterator, roles: Roles) -> Iterator[Way]:
    """The ways by such keys, single or in pairs, that bring enough rows together."""
    for key in keys:
        way = by_keys(known, predictions, (key,) if isinstance(key[0], str) else key, roles)
        if way is not None and way.n_matched >= _LEAST_SHARED * min(known.n_rows, predictions.n_rows):
            yield way


def _free(table: Table, roles: Roles, kept: Sequence[str]) -> list[str]:
    """The columns that may name rows: those without a role, or with one of those kept."""
    taken = {*roles.columns} - {getattr(roles, role) for role in kept} | ROW_NAMES
    free = (column for column in table.columns if column not in taken)
    return [column for column in free if table.kind(column) not in ("scores", "several")]


def _names_rows(table: Table, roles: Roles) -> list[str]:
    """The columns without another role whose every cell names something, each row (of each model) another thing."""
    columns = _free(table, roles, ("id",)) if table.n_rows > 1 else []
    n_models = len(set(table.spelled(roles.model))) if roles.model in table.columns else 1
    return [
        c for c in columns if len(set(table.spelled(c))) * n_models >= table.n_rows and None not in table.spelled(c)
    ]


def _same_content(known: Table, own: str, predictions: Table, other: str) -> bool:
    """Whether columns of two names may name the same: words, or the same numbers unless these only count rows."""
    kinds = {known.kind(own), predictions.kind(other)}
    if kinds == {"words"}:
        return True
    values = set(known.spelled(own))
    return kinds == {"whole"} and values == set(predictions.spelled(other)) and not is_counted(values)


def is_counted(values: set[str | None]) -> bool:
    """Whether values are those that count rows, from 0 or from 1.

    >>> is_counted({"1", "2", "3"}), is_counted({"1", "3"})
    (True, False)
    """
    return any(values == set(map(str, range(start, start + len(values)))) for start in (0, 1))


def counts_rows(way: Way, known: Table) -> bool:
    """Whether a way's only column does no more than count the rows of the truth."""
    return len(way.keys) == 1 and is_counted(set(known.spelled(way.keys[0][0])))


def other_order(known: Table, truth_roles: Roles, predictions: Table, roles: Roles) -> tuple[str, str] | None:
    """A column of both files that says that lines do not belong together, and how; None where none does.

    It may hold the same values in another order, most of them in the same one, or name rows of which the other file
    knows nothing.
    """
    for own, column in _called_alike(_free(known, truth_roles, ("id",)), _free(predictions, roles, ("id",))):
        values, others = known.spelled(own), predictions.spelled(column)
        if values != others and (how := _differ(values, others, (known.kind(own), predictions.kind(column)))):
            return column, how
    return None


def _differ(values: Sequence[str | None], others: Sequence[str | None], kinds: tuple[str, str]) -> str:
    if Counter(values) == Counter(others):
        return "holds the same values in both files, in another order"
    if all(kind in NAMING for kind in kinds) and all(2 * len(set(v)) > len(v) for v in (values, others)):
        same = sum(a == b for a, b in zip(values, others, strict=True))
        return f"says the same in only {same:,} of {len(values):,} lines"
    return ""


def repeated(known: Table, truth_roles: Roles, predictions: Table, roles: Roles) -> str:
    """Where a column of both files names rows, but some of them twice: the place and the value; else nothing."""
    for first, column in _called_alike(_free(known, truth_roles, ("id",)), _free(predictions, roles, ("id",))):
        if {known.kind(first), predictions.kind(column)} - {*NAMING}:
            continue
        values, others = known.spelled(first), predictions.spelled(column)
        apart = [set(values), set(others)]
        if all(len(a) < _ALMOST * len(v) for a, v in zip(apart, (values, others), strict=True)):
            continue
        if len(apart[0] & apart[1]) < _LEAST_SHARED * min(map(len, apart)):
            continue
        for table, name, cells in ((predictions, column, others), (known, first, values)):
            if values != others and (repeat := first_repeat(cells)):
                n_more = len(cells) - len(set(cells)) - 1
                more = f" ({n_more:,} more such rows)" if n_more else ""
                return f"{table.twice(repeat, f'{quoted(cells[repeat[1]])} of column {name!r}')}{more}."
    return ""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two files whose rows are to be brought together, and what their columns are."""

    known: Table
    truth_roles: Roles
    predictions: Table
    roles: Roles
    labels: Labels | None
    _agreements: dict[Way, Agreement] = field(default_factory=dict, init=False)
    _doubts: dict[Way, str] = field(default_factory=dict, init=False)

    def agreement(self, way: Way) -> Agreement | None:
        """How often labels agree in a way, counted once; None where they are not known."""
        if self.labels is None:
            return None
        if way not in self._agreements:
            self._agreements[way] = self.labels.agreement(way.rows)
        return self._agreements[way]

    def doubt(self, way: Way) -> str:
        """What labels say against rows that stand in this order, looked for once; nothing where they are not known."""
        if self.labels is None:
            return ""
        if way not in self._doubts:
            self._doubts[way] = self.labels.doubt(way.rows)
        return self._doubts[way]

    @property
    def files(self) -> tuple[Table, Roles, Table, Roles]:
        """Both files with their roles, in the order in which functions take them."""
        return self.known, self.truth_roles, self.predictions, self.roles

    @cached_property
    def line(self) -> Way | None:
        """Line by line, where there are as many."""
        n_truth, n_predictions = self.known.n_rows, self.predictions.n_rows
        return by_line(n_truth, n_predictions) if n_truth == n_predictions else None

    @property
    def has_ids_in_one(self) -> bool:
        """Whether one file has ids and the other has none, which then says nothing of the order of its rows."""
        return (self.truth_roles.id is None) != (self.roles.id is None)

    @cached_property
    def shifts(self) -> list[Way]:
        """Line by line, moved by some rows, where labels agree clearly more often so."""
        steps = self.labels.shifts if self.labels else {}
        best = sorted(steps, key=lambda step: -steps[step].accuracy)
        return [by_line(self.known.n_rows, self.predictions.n_rows, step) for step in best]

    def _support(self, way: Way) -> float:
        """How well labels agree in a way, where that is clear."""
        agreement = self.agreement(way)
        return agreement.accuracy if agreement and agreement.is_clear else 0.0

    def meaning(self, way: Way) -> str:
        """What a way comes to, for people."""
        known = self.labels is not None and self.labels.named and way.n_matched > 0
        agreement = self.agreement(way) if known else None
        accuracy = f", accuracy {percent(agreement.accuracy)}" if agreement else ""
        return f"{way.title}: {way.counts}{accuracy}"

    def question(self, reason: str, ways: Sequence[Way]) -> RolesNeeded:
        """Which of some ways is meant? The likeliest is guessed: one that labels speak for, or else the first."""
        names = {way.name for way in ways}
        further = [way for way in self.shifts if way.name not in names] if LINE in names else []
        ways = [*ways, *further][:MOST_WAYS]
        meanings = tuple(map(self.meaning, ways))
        choices = " ".join(f"{meaning[0].upper()}{meaning[1:]}." for meaning in meanings)
        return RolesNeeded(
            f"Which rows belong together? {reason} {choices} "
            f"{_CHOOSE if len(ways) > 1 else _CONFIRM} add a column that names each row to both files.",
            replace(self.roles, join=max(ways, key=self._support).name),
            tuple(way.name for way in ways),
            "join",
            meanings,
        )
