"""What was predicted on which fold? Rows of a run, and predictions that somebody uploaded, in one form."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from jaxtyping import Bool, Integer

from touchstone.core.data import DataError, Dataset, Predictions, PredictionTable
from touchstone.core.data.identity import hash_of
from touchstone.core.data.tables.names import class_order
from touchstone.core.trials.fold_rows import COLUMNS

PLACEHOLDERS = (
    "ClusterDataSplit supplies these predictions as placeholders; they do not reproduce the paper's Table 3. It "
    "has macro F1 53.3 ± 6.1 on SDS k-means folds, 55.8 ± 2.0 on random ones."
)
_OF_PLACEHOLDERS = (  # ids, truth and predictions of the two files
    "c87d64581f8be9cff7d0600c89939d72db44f2587077135e732f765cdf1712e6",
    "c045a790a12b5a25a1028534a25536a25847452fae99a971ffecd52592b550e6",
)

UPLOADED = "Uploaded model"
"""What the model of uploaded predictions is called where the file does not name it."""


@dataclass(frozen=True, eq=False)
class FoldedRun:
    """One model on the folds of one scheme and seed: `fold` and `y_pred` are -1 where a sample was not tested (yet)."""

    scheme: str
    seed: int
    model: str
    fold: Integer[np.ndarray, " n_samples"]
    y_pred: Integer[np.ndarray, " n_samples"]
    right: Bool[np.ndarray, " n_samples"]
    n_folds: int
    """How many folds there are, tested or not; if it is not known, how many there are at least."""
    folds_known: bool = True
    """Whether it is known; not while the rows of the trial that makes a plan's folds are missing."""
    seconds: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class FoldPredictions:
    """Rows in the form of a FoldPlan's, with the truth: everything that scores follow from.

    `rows` has the columns of `core.trials.fold_plan.COLUMNS`; its `row` is a position in `y`, codes into `class_names`.

    Examples
    --------
    >>> predictions = Predictions(["a", "b"], [0, 1], [0, 0], ["cat", "dog"], groups={"fold": ["2", "1"]})
    >>> folded = predictions_on_folds({"mine": predictions})
    >>> folded.rows[["scheme", "fold", "row", "y_pred"]].values.tolist()
    [['mine', 1, 0, 0], ['mine', 0, 1, 0]]
    """

    rows: pd.DataFrame
    y: Integer[np.ndarray, " n_samples"]
    class_names: tuple[str, ...]
    ids: np.ndarray
    fold_names: Mapping[str, tuple[str, ...]]
    """The names of a scheme's folds, where they are not 1, 2, 3, ..."""
    notes: tuple[str, ...] = ()
    planned: bool = False
    """Whether a plan's trials made the folds: then only their rows (without a model) tell how many there are."""

    @property
    def n_failed(self) -> int:
        """How many trials failed."""
        return int((self.rows["status"] == "failed").to_numpy(dtype=bool).sum()) if len(self.rows) else 0

    @cached_property
    def schemes(self) -> tuple[str, ...]:
        """The schemes, in the order of the rows."""
        return tuple(str(name) for name in self.rows["scheme"].unique())

    @cached_property
    def any_tested(self) -> bool:
        """Whether any fold of any run has been tested."""
        return bool(self._tested.any())

    def seeds(self, scheme: str) -> tuple[int, ...]:
        """The seeds of a scheme whose folds are known."""
        return tuple(sorted(seed for name, seed in self._folds if name == scheme))

    def folds(self, scheme: str, seed: int) -> Integer[np.ndarray, " n_samples"]:
        """The fold of every sample, from 0; -1 where it is in no test part or not known (yet). Read-only."""
        known = self._folds.get((scheme, seed))
        return np.full(len(self.y), -1) if known is None else known

    def runs(self) -> tuple[FoldedRun, ...]:
        """Every run that has at least one tested fold, in the order of the rows."""
        rows, keys = self.rows, ["scheme", "seed", "model"]
        makers = rows.loc[(rows["model"].isna() & rows["row"].notna()).to_numpy(dtype=bool), keys[:2]]
        made_of = set(makers.drop_duplicates().itertuples(index=False, name=None))
        tested = rows.loc[self._tested, [*keys, "row", "fold", "y_pred", "seconds"]]
        columns = {name: tested[name].to_numpy(dtype=np.int64) for name in ("row", "fold", "y_pred")}
        folded_runs = []
        for (scheme, seed, model), at in _positions(tested, keys):
            fold, y_pred = np.full(len(self.y), -1), np.full(len(self.y), -1)
            row = columns["row"][at]
            fold[row], y_pred[row] = columns["fold"][at], columns["y_pred"][at]
            seconds = tested[["fold", "seconds"]].iloc[at].groupby("fold")["seconds"].first()
            n_folds = int(self.folds(str(scheme), int(seed)).max()) + 1
            folded_runs.append(
                FoldedRun(
                    scheme=str(scheme),
                    seed=int(seed),
                    model=str(model),
                    fold=fold,
                    y_pred=y_pred,
                    right=(fold >= 0) & (y_pred == self.y),
                    n_folds=n_folds,
                    folds_known=not self.planned or (scheme, seed) in made_of,
                    seconds=tuple(float(seconds.get(fold, np.nan)) for fold in range(n_folds)),
                )
            )
        return tuple(folded_runs)

    @cached_property
    def _tested(self) -> Bool[np.ndarray, " n_rows"]:
        return (self.rows["model"].notna() & self.rows["y_pred"].notna()).to_numpy(dtype=bool)

    @cached_property
    def _folds(self) -> dict[tuple[str, int], Integer[np.ndarray, " n_samples"]]:
        """The fold of every sample, by scheme and seed: one look at all rows, which may be many millions."""
        known = self.rows.loc[self.rows["row"].notna().to_numpy(dtype=bool), ["scheme", "seed", "row", "fold"]]
        row, fold = (known[name].to_numpy(dtype=np.int64) for name in ("row", "fold"))
        by_cut = {}
        for (scheme, seed), at in _positions(known, ["scheme", "seed"]):
            folds = np.full(len(self.y), -1)
            folds[row[at]] = fold[at]
            folds.flags.writeable = False
            by_cut[str(scheme), int(seed)] = folds
        return by_cut


def _positions(rows: pd.DataFrame, keys: list[str]) -> Iterator[tuple[tuple, Integer[np.ndarray, " n_rows"]]]:
    """Every combination of values that occurs, in the order of the rows, and the positions of its rows."""
    if rows.empty:
        return
    number = rows.groupby(keys, sort=False, observed=True).ngroup().to_numpy()
    order = np.argsort(number, kind="stable")
    for at in np.split(order, np.cumsum(np.bincount(number))[:-1]):
        yield tuple(rows[key].iloc[at[0]] for key in keys), at


def rows_of_run(rows: pd.DataFrame, dataset: Dataset) -> FoldPredictions:
    """The rows that a FoldPlan's trials gave so far (possibly none), with the truth of their data set."""
    if rows.empty:
        rows = pd.DataFrame(columns=list(COLUMNS))
    return FoldPredictions(rows, dataset.y, dataset.class_names, dataset.ids, {}, planned=True)


def rows_of_tables(tables: Mapping[str, PredictionTable], *, ids: np.ndarray | None = None) -> FoldPredictions:
    """Uploaded predictions, by scheme, with folds: as `predictions_on_folds` for every model of each file.

    A file holds one test set and one task; where it has several, select one and use `predictions_on_folds`.
    """
    parts = [
        _one_scheme(scheme, table.select(model=model), model or UPLOADED)
        for scheme, table in tables.items()
        for model in (table.models or (None,))
    ]
    return joined(parts, ids=ids)


def predictions_on_folds(
    predictions: Mapping[str, Predictions], *, model: str = UPLOADED, ids: np.ndarray | None = None
) -> FoldPredictions:
    """Predictions by scheme, whose `groups` tell the fold of each row (`core.data.predictions.fold_files`).

    Rows of several schemes belong together by id; where `groups` tell trials apart, each is a seed. `ids` are those of
    a data set that the rows should be positions in. DataError where the folds are not told, where ids are not in the
    data set, or where two schemes differ about the truth of a row, with how many do.
    """
    parts = [_one_scheme(scheme, scheme_predictions, model) for scheme, scheme_predictions in predictions.items()]
    return joined(parts, ids=ids)


def joined(parts: Sequence[FoldPredictions], *, ids: np.ndarray | None = None) -> FoldPredictions:
    """Rows from several files as one: samples that have the same id are the same sample.

    Samples are in the order of `ids`, those of a data set, or of the files. DataError where an id is not among `ids`,
    or the same sample has another truth in another file.
    """
    given_ids = list(dict.fromkeys(value for part in parts for value in part.ids.tolist()))
    ids = np.array(given_ids, dtype=object) if ids is None else ids
    position = {value: row for row, value in enumerate(ids.tolist())}
    _check_ids(given_ids, position)
    names = class_order({name for part in parts for name in part.class_names})
    code = {name: place for place, name in enumerate(names)}
    y, rows = np.full(len(ids), -1), []
    for part in parts:
        at = np.array([position[value] for value in part.ids.tolist()], dtype=np.int64)
        codes = np.array([code[name] for name in part.class_names], dtype=np.int64)
        _check_truth(part, y[at], codes[part.y], names)
        y[at] = codes[part.y]
        tested = part.rows["row"].to_numpy(dtype=np.int64)
        rows.append(part.rows.assign(row=at[tested], y_pred=codes[part.rows["y_pred"].to_numpy(dtype=np.int64)]))
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    fold_names = {scheme: names_of_folds for part in parts for scheme, names_of_folds in part.fold_names.items()}
    return FoldPredictions(pd.concat(rows, ignore_index=True), y, names, ids, fold_names, notes)


def _one_scheme(scheme: str, predictions: Predictions, model: str) -> FoldPredictions:
    if "fold" not in predictions.groups:
        raise DataError(
            f"{predictions.name}: no column gives the fold of a row. Give the file of folds "
            "(datasplits_…: ids and clustering_labels) beside the predictions, or a column 'fold' in them."
        )
    names = class_order(predictions.groups["fold"].tolist())
    code = {name: place for place, name in enumerate(names)}
    folds = np.array([code[name] for name in predictions.groups["fold"].tolist()], dtype=np.int64)
    seeds = np.zeros(len(folds), dtype=np.int64)
    if "trial" in predictions.groups:
        trials = {name: place for place, name in enumerate(class_order(predictions.groups["trial"].tolist()))}
        seeds = np.array([trials[name] for name in predictions.groups["trial"].tolist()], dtype=np.int64)
    ids, row = np.unique(predictions.ids.astype(str), return_inverse=True)
    first = np.full(len(ids), len(row))
    np.minimum.at(first, row, np.arange(len(row)))
    order = np.argsort(first)  # samples in the order of the file, not of their ids
    place = np.empty(len(ids), dtype=np.int64)
    place[order] = np.arange(len(ids))
    confidence = predictions.confidence
    rows = pd.DataFrame(
        {
            "scheme": scheme,
            "seed": seeds,
            "model": model,
            "fold": folds,
            "row": place[row],
            "y_pred": predictions.y_pred,
            "confidence": np.full(len(row), np.nan) if confidence is None else confidence,
            "n_train": pd.array([pd.NA] * len(row), dtype="Int32"),
            "seconds": np.full(len(row), np.nan),
            "status": "ok",
        },
        columns=list(COLUMNS),
    )
    y = predictions.y_true[first[order]]
    content = hash_of("", predictions.ids, predictions.y_true, predictions.y_pred, predictions.class_names)
    notes = (PLACEHOLDERS,) if content in _OF_PLACEHOLDERS else ()
    numbered = names == tuple(str(fold + 1) for fold in range(len(names)))
    return FoldPredictions(
        rows, y, predictions.class_names, ids[order].astype(object), {} if numbered else {scheme: names}, notes
    )


def _check_ids(given_ids: Sequence[str], position: Mapping[str, int]) -> None:
    lost = [value for value in given_ids if value not in position]
    if not lost:
        return
    left = [value for value in position if value not in set(given_ids)]
    unsaid = f"; {len(left):,} of the data set's {len(position):,} ids have no prediction (such as {left[0]!r})"
    raise DataError(
        f"{len(lost):,} of {len(given_ids):,} ids of the predictions are not in the data set (such as {lost[0]!r})"
        f"{unsaid if left else ''}. Choose the data set that the folds were made of, or none."
    )


def _check_truth(part: FoldPredictions, before: np.ndarray, now: np.ndarray, names: tuple[str, ...]) -> None:
    differ = np.flatnonzero((before >= 0) & (before != now))
    if len(differ):
        row = int(differ[0])
        raise DataError(
            f"The truth of sample {part.ids[row]!r} is {names[before[row]]!r} in one file and {names[now[row]]!r} in "
            f"another, and {len(differ):,} of {len(part.ids):,} samples differ in all. Are these the same samples?"
        )
