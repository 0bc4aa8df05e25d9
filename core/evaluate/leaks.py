"""Does a data set give its labels away? A column that alone tells them, and a test part that training has seen.

What is found is said before anything is trained; whether it is a leak, only somebody who knows the columns can say.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float, Shaped

from touchstone.core.data.dataset import DATES, Dataset
from touchstone.core.data.errors import Oddity
from touchstone.core.data.values import Codes
from touchstone.core.evaluate.intervals import Interval, wilson
from touchstone.core.evaluate.wording import count, listed, percent, plural, quoted

TELLS = 0.99
"""The balanced accuracy on held-out rows from which on a column alone is said to tell the label."""
FEWEST, MOST_ROWS = 10, 2_000
"""Of so many rows a class in both halves no luck gets there; more rows than that are drawn from."""
MOST_NAMED = 3


@dataclass(frozen=True)
class TellingColumn:
    """A column that alone predicts the label of `n_correct` of `n` held-out rows; `interval` is of their share.

    Over units where these are known, as if all rows of one were right or wrong together.
    """

    name: str
    n_correct: int
    n: int
    interval: Interval = field(compare=False)


def telling_columns(
    x: Float[np.ndarray, "n_samples n_features"], y: Codes, names: Sequence[str], units: Codes | None = None
) -> tuple[TellingColumn, ...]:
    """The columns each of which alone predicts the label of held-out rows, in a balanced accuracy of `TELLS` or more.

    Each half of the rows is predicted by what a tree of few leaves learns from the other one, with no unit in both.
    Where a class has fewer than `FEWEST` rows in either half nothing is said.

    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 200)
    >>> x = np.column_stack([rng.normal(size=200), y * 3 + rng.uniform(0, 1, 200), y + rng.normal(size=200)])
    >>> [(each.name, each.n_correct, each.n) for each in telling_columns(x, y, ["noise", "outcome code", "marker"])]
    [('outcome code', 200, 200)]
    """
    from sklearn.metrics import balanced_accuracy_score
    from sklearn.tree import DecisionTreeClassifier

    first = _first_half(y, units)
    least = min((int(np.bincount(y[half], minlength=y.max() + 1).min()) for half in (first, ~first)), default=0)
    if least < FEWEST:
        return ()
    rows = _drawn(len(y))
    first, y, x = first[rows], y[rows], x[rows]
    n_units = float(len(y) if units is None else len(np.unique(units[rows])))
    telling = []
    for column, name in enumerate(names):
        values, predicted = x[:, [column]], np.empty_like(y)
        for half in (first, ~first):
            tree = DecisionTreeClassifier(max_leaf_nodes=4 * (int(y.max()) + 1), random_state=0)
            predicted[~half] = tree.fit(values[half], y[half]).predict(values[~half])
        if balanced_accuracy_score(y, predicted) >= TELLS:
            share = float((predicted == y).mean())
            telling.append(TellingColumn(name, round(share * len(y)), len(y), wilson(share * n_units, n_units)))
    return tuple(telling)


def _first_half(y: Codes, units: Codes | None) -> Bool[np.ndarray, " n_samples"]:
    """Half of the rows of each class, or half of the units, drawn by a seed that never changes."""
    rng = np.random.default_rng(0)
    if units is not None:
        return np.isin(units, rng.permutation(np.unique(units))[::2])
    order = rng.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    first = np.zeros(len(y), dtype=bool)
    first[order[::2]] = True
    return first


def _drawn(n: int) -> np.ndarray:
    return np.arange(n) if n <= MOST_ROWS else np.sort(np.random.default_rng(1).choice(n, MOST_ROWS, replace=False))


def leaks(dataset: Dataset, contents: Codes | None = None) -> tuple[Oddity, ...]:
    """What may give labels away, each with how many rows it concerns; nothing where nothing was found.

    `contents` are the same number for rows of the same content, where that is known.

    >>> from touchstone.core.data import load_example
    >>> leaks(load_example("wine"))
    ()
    """
    odd = [*_of_columns(dataset)]
    if dataset.part is not None:
        train, test = (np.asarray(dataset.part) == name for name in ("train", "test"))
        if train.any() and test.any():
            odd += [*_of_parts(dataset, train, test, contents), *_of_dates(dataset, train, test)]
    return tuple(odd)


def _of_columns(dataset: Dataset) -> Iterator[Oddity]:
    if dataset.kind != "tabular" or not dataset.feature_names:
        return
    telling = telling_columns(dataset.x, dataset.y, dataset.feature_names, dataset.unit_codes)
    for column in telling[:MOST_NAMED]:
        yield Oddity(
            f"Column {quoted(column.name)} alone predicts the label of "
            f"{percent(column.n_correct / column.n, column.interval)} of held-out rows (n = {count(column.n)}). Leave "
            "it out if it was known only after the label.",
            "column_tells_label",
            column.n_correct,
            column.n,
            features=(column.name,),
        )
    if more := tuple(column.name for column in telling[MOST_NAMED:]):
        which = listed([quoted(name) for name in more])
        text = f"{plural(len(more), 'more column')} alone, {which}, predict the label as well."
        yield Oddity(text, "column_tells_label", len(more), len(dataset.feature_names), features=more)


def _of_parts(
    dataset: Dataset, train: Bool[np.ndarray, " n"], test: Bool[np.ndarray, " n"], contents: Codes | None
) -> Iterator[Oddity]:
    """Rows and units that stand in both parts of the file's own split."""
    if contents is not None and (n := _in_both(contents, train, test)):
        yield Oddity(
            f"{count(n)} of {plural(int(test.sum()), 'test row')} have the content of a training row.",
            "test_rows_in_training",
            n,
            int(test.sum()),
        )
    units = dataset.unit_codes
    if units is not None and (n := _in_both(units, train, test)):
        yield Oddity(
            f"{count(n)} of {plural(int(test.sum()), 'test row')} are of {dataset.unit_word}s that training has seen.",
            "units_on_both_sides",
            n,
            int(test.sum()),
        )


def _in_both(codes: Shaped[np.ndarray, " n"], train: Bool[np.ndarray, " n"], test: Bool[np.ndarray, " n"]) -> int:
    return int(np.isin(codes[test], codes[train]).sum())


def _of_dates(dataset: Dataset, train: Bool[np.ndarray, " n"], test: Bool[np.ndarray, " n"]) -> Iterator[Oddity]:
    """Columns of dates in which the test part begins before training ends."""
    if dataset.numbers is None:
        return
    for days, name in zip(dataset.numbers.T, dataset.number_names, strict=True):
        if not name.endswith(DATES):
            continue
        n = int((days[test] < days[train].max()).sum())
        if n:
            yield Oddity(
                f"{count(n)} of {plural(int(test.sum()), 'test row')} are from before the last training row, by "
                f"{quoted(name.removesuffix(DATES))}.",
                "test_dates_before_training",
                n,
                int(test.sum()),
            )
