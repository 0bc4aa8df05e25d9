"""What was predicted on which fold? Rows of a run, and predictions that somebody uploaded, in one form."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer

from touchstone.core.data import DataError, Dataset, Predictions, PredictionTable
from touchstone.core.data.dataset import hash_of
from touchstone.core.data.tables.names import class_order
from touchstone.core.evaluate.intervals import moderated_variances
from touchstone.core.evaluate.units import EACH_SAMPLE, Design, Effect
from touchstone.core.trials.fold_plan import COLUMNS, unseen_classes

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
    units: np.ndarray | None = None
    """What was sampled independently, by name; None: each sample."""
    unit_word: str = "sample"

    @cached_property
    def design(self) -> Design:
        """How the samples came about."""
        if self.units is None:
            return EACH_SAMPLE
        return Design(np.unique(self.units.astype(str), return_inverse=True)[1], self.unit_word)

    def made_of(self, dataset: Dataset) -> "FoldPredictions":
        """With the units of the data set that the rows are positions in."""
        shared = None if dataset.unit_codes is None else dataset.units
        return replace(self, units=shared, unit_word=dataset.unit_word)

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
                    folds_known=not self.planned or (scheme, seed) in self.made,
                    seconds=tuple(float(seconds.get(fold, np.nan)) for fold in range(n_folds)),
                )
            )
        return tuple(folded_runs)

    @cached_property
    def made(self) -> frozenset[tuple[str, int]]:
        """The schemes and seeds of which a plan's trial has made the folds: where every sample is, is known."""
        rows = self.rows
        makers = rows.loc[(rows["model"].isna() & rows["row"].notna()).to_numpy(dtype=bool), ["scheme", "seed"]]
        return frozenset(makers.drop_duplicates().itertuples(index=False, name=None))

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
    folded = FoldPredictions(rows, dataset.y, dataset.class_names, dataset.ids, {}, planned=True).made_of(dataset)
    cuts = [(scheme, seed) for scheme in folded.schemes for seed in folded.seeds(scheme)]
    made = {cut: folded.folds(*cut) for cut in cuts if cut in folded.made}
    return replace(folded, notes=unseen_classes(made, dataset.y, dataset.class_names))


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
    """Predictions by scheme, whose `groups` tell the fold of each row (`core.data.predictions.upload`).

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
    units = None if any(part.units is None for part in parts) else np.array(ids, dtype=object)
    for part in parts:
        at = np.array([position[value] for value in part.ids.tolist()], dtype=np.int64)
        codes = np.array([code[name] for name in part.class_names], dtype=np.int64)
        _check_truth(part, y[at], codes[part.y], names)
        y[at] = codes[part.y]
        if units is not None:
            units[at] = part.units
        tested = part.rows["row"].to_numpy(dtype=np.int64)
        rows.append(part.rows.assign(row=at[tested], y_pred=codes[part.rows["y_pred"].to_numpy(dtype=np.int64)]))
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    fold_names = {scheme: names_of_folds for part in parts for scheme, names_of_folds in part.fold_names.items()}
    together = FoldPredictions(pd.concat(rows, ignore_index=True), y, names, ids, fold_names, notes)
    return replace(together, units=units, unit_word=parts[0].unit_word)


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
    folded = FoldPredictions(
        rows, y, predictions.class_names, ids[order].astype(object), {} if numbered else {scheme: names}, notes
    )
    if predictions.units is None:
        return folded
    return replace(folded, units=predictions.units[first[order]], unit_word=predictions.unit_word)


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


# Do folds change the labels, given the inputs? Neighbours within a fold, held against neighbours across folds.
#
# Folds that differ in their inputs alone have, wherever two of them meet, the same labels on either side. So a sample's
# nearest neighbours in its own fold must share its label as often as those in other folds. Where labels run smoothly
# from one fold into the next, the nearer ones share it a little more often; what local class shares explain of that is
# taken off. Labels dealt to folds without regard to inputs give 0 on average: that is the null.


N_NEIGHBOURS = 10
"""Held against each sample."""
N_AROUND = 20
"""So many neighbours, of whatever fold, say what class shares are at a sample."""
FEWEST_SAMPLES = 100
"""Among fewer, neighbours are not near."""
MOST_SAMPLES = 20_000
"""Of more, so many at random are looked at."""
MOST_BLOCKS, SMALLEST_BLOCK = 32, 15
MOST_HELD = 2_000_000
"""Neighbours at once."""


@dataclass(frozen=True)
class LabelShift:
    """How much more often neighbours share their label within a fold than across folds, for one scheme.

    `value` is a mean over `n` samples, as a fraction; a sample whose neighbours all lie in one fold counts 0. `se` and
    `df` are over blocks of samples that lie together, `per_seed` has the value of every seed.
    """

    scheme: str
    value: float
    se: float
    df: float
    n: int
    per_seed: tuple[float, ...]

    @property
    def seed_error(self) -> float:
        """Standard error of the mean over seeds; 0 for one, whose value is then of its folds alone."""
        return float(np.std(self.per_seed, ddof=1)) / sqrt(len(self.per_seed)) if len(self.per_seed) > 1 else 0.0


def labels_shift(
    scheme: str,
    features: Float[np.ndarray, "n_samples n_features"],
    y: Integer[np.ndarray, " n_samples"],
    folds: Sequence[Integer[np.ndarray, " n_samples"]],
    *,
    rng: np.random.Generator,
    design: Design = EACH_SAMPLE,
) -> LabelShift | None:
    """Measure it over the folds of every seed; None of fewer than 100 samples. Fold -1 is a fold of its own.

    Neighbours are of other units: those of one are always in the same fold, and alike for that. The error is over
    blocks, or over units where that is larger.

    Examples
    --------
    Both classes have two groups at the same places, and a fold holds one group of each class:

    >>> rng = np.random.default_rng(0)
    >>> group, y = np.arange(400) // 2 % 2, np.arange(400) % 2
    >>> x = 9.0 * group[:, None] + rng.normal(size=(400, 2))
    >>> round(labels_shift("mine", x, y, [(group != y).astype(int)], rng=rng).value, 2)
    1.0
    >>> abs(labels_shift("mine", x, y, [rng.integers(2, size=400)], rng=rng).value) < 0.05
    True
    """
    if len(y) > MOST_SAMPLES:
        rows = np.sort(rng.choice(len(y), MOST_SAMPLES, replace=False))
        features, y, folds = features[rows], y[rows], [of_seed[rows] for of_seed in folds]
        design = design.of(rows)
    if len(y) < FEWEST_SAMPLES or features.shape[1] == 0:
        return None
    near = _neighbours(features, design)
    if near is None:
        return None
    surplus = _surplus(y, near)
    by_seed = np.array([_within_less_across(surplus, of_seed, near) for of_seed in folds])
    block = _blocks(features, min(max(len(y) // SMALLEST_BLOCK, 4), MOST_BLOCKS))
    value = by_seed.mean(axis=0)
    sums = np.bincount(block, weights=value - value.mean())
    n_blocks = len(sums)
    se = sqrt(n_blocks / (n_blocks - 1) * float(np.square(sums).sum())) / len(y)
    df = n_blocks - 1.0
    if not design.by_sample:
        error = design.error((value - value.mean()) / len(y))
        se, df = (error.se, error.df) if not se >= error.se else (se, df)
    return LabelShift(scheme, float(value.mean()), se, df, len(y), tuple(by_seed.mean(axis=1).tolist()))


def _neighbours(features: np.ndarray, design: Design) -> Integer[np.ndarray, "n_samples n_around"] | None:
    """The nearest samples of other units; None where there are too few of them."""
    from sklearn.neighbors import NearestNeighbors

    if design.codes is None:
        return NearestNeighbors(n_neighbors=N_AROUND).fit(features).kneighbors(return_distance=False)
    n, own = len(features), design.codes
    n_asked = N_AROUND + int(np.bincount(own).max()) - 1
    if n_asked >= n:
        return None
    finder, near = NearestNeighbors(n_neighbors=n_asked).fit(features), np.empty((n, N_AROUND), dtype=np.int64)
    for rows in np.array_split(np.arange(n), max(n * n_asked // MOST_HELD, 1)):
        others = finder.kneighbors(features[rows], n_neighbors=n_asked + 1, return_distance=False)
        same = own[others] == own[rows][:, None]
        first = np.argsort(same, axis=1, kind="stable")[:, :N_AROUND]
        near[rows] = np.take_along_axis(others, first, axis=1)
    return near


def _surplus(y: np.ndarray, near: np.ndarray) -> Float[np.ndarray, "n_samples n_neighbours"]:
    """Whether a neighbour shares the label, less how probable that is by the class shares around either."""
    shares = np.stack([(y[near] == label).mean(axis=1) for label in range(int(y.max()) + 1)], axis=1)
    nearest = near[:, :N_NEIGHBOURS]
    expected = [np.einsum("ic,ic->i", shares, shares[nearest[:, place]]) for place in range(N_NEIGHBOURS)]
    return (y[nearest] == y[:, None]) - np.stack(expected, axis=1)


def _within_less_across(surplus: np.ndarray, fold: np.ndarray, near: np.ndarray) -> Float[np.ndarray, " n_samples"]:
    same = fold[near[:, :N_NEIGHBOURS]] == fold[:, None]
    n_same = same.sum(axis=1)
    mixed = (n_same > 0) & (n_same < N_NEIGHBOURS)
    within = (surplus * same).sum(axis=1) / np.maximum(n_same, 1)
    across = (surplus * ~same).sum(axis=1) / np.maximum(N_NEIGHBOURS - n_same, 1)
    return np.where(mixed, within - across, 0.0)


def _blocks(features: np.ndarray, n_blocks: int) -> Integer[np.ndarray, " n_samples"]:
    """Cut the largest block in half, across the column in which it is widest, until there are enough."""
    parts = [np.arange(len(features))]
    while len(parts) < n_blocks:
        rows = parts.pop(int(np.argmax([len(part) for part in parts])))
        widest = int(features[rows].std(axis=0).argmax())
        rows = rows[np.argsort(features[rows, widest], kind="stable")]
        parts += [rows[: len(rows) // 2], rows[len(rows) // 2 :]]
    block = np.empty(len(features), dtype=np.int64)
    for place, rows in enumerate(parts):
        block[rows] = place
    return block


# How much does a result on folds owe to which models were trained?
#
# A fold is tested by one trained model, so that what was luck in its training is shared by all samples of the fold. How
# much this adds is seen in folds that differ by more than their samples explain (variance components, one way).


@dataclass(frozen=True)
class TrainingError:
    """The variance of a mean as folds have it: `whole` with its `df`, and what chance among samples alone would bring.

    `df` is 0 where a single fold was tested, which says nothing of other trainings.
    """

    whole: float
    chance: float
    df: float

    def of_units(self, effect: Effect) -> "TrainingError":
        """With the chance among units, which are in one fold each, in the place of that among samples."""
        return replace(self, chance=self.chance * effect.times)

    def added_to(self, se: float, df_of_se: float) -> tuple[float, float]:
        """Give a standard error over samples (or units) with that over trainings added, and its degrees of freedom.

        Examples
        --------
        >>> TrainingError(whole=0.001, chance=0.0001, df=4.0).added_to(0.04, 99.0)
        (0.05, 22.6...)
        """
        if self.df == 0:
            return se, 0.0
        variance = se**2 + max(self.whole - self.chance, 0.0)
        if variance == 0:
            return 0.0, df_of_se
        # What is added is the difference of two variances; its error is that of the larger one (Satterthwaite).
        df = variance**2 / (self.whole**2 / self.df + se**4 / df_of_se)
        return float(np.sqrt(variance)), min(float(df), df_of_se)


UNTRIED = TrainingError(0.0, 0.0, 0.0)
"""Of what a single model was tested on."""


def moderated(errors: Sequence[TrainingError]) -> list[TrainingError]:
    """Errors of several means on the same folds, drawn together as far as they agree: by how many times chance's.

    Examples
    --------
    >>> errors = [TrainingError(times * chance, chance, 4.0) for times, chance in ((1.0, 0.2), (0.8, 0.1), (1.2, 0.4))]
    >>> [(round(each.whole / each.chance, 2), each.df) for each in moderated(errors)]
    [(1.29, 12.0), (1.29, 12.0), (1.29, 12.0)]
    """
    chance = np.array([each.chance or np.nan for each in errors])
    times, dfs = moderated_variances(
        np.array([each.whole for each in errors]) / chance, np.array([each.df for each in errors])
    )
    return [
        each if np.isnan(many) else replace(each, whole=float(many) * each.chance, df=float(df))
        for each, many, df in zip(errors, times, dfs, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class TrainedFolds:
    """Which predictions share a trained model: `fold` counts the folds of all seeds, `seed` is that of each fold.

    `seeds` are those that say something of trainings: a seed with a single tested fold only where there is no other.
    `n_seeds` is how many they are worth: as many as there are where folds have nothing in common, and one where all
    are alike, which train the same models. They tell by how much trainings differ. That they make it no less is
    because all train on samples of the same data: what those share no other seed would show.
    """

    fold: Integer[np.ndarray, " n_tested"]
    seed: Integer[np.ndarray, " n_folds"]
    seeds: Integer[np.ndarray, " n_usable"]
    n_seeds: float

    @classmethod
    def of(cls, tested: pd.DataFrame) -> "TrainedFolds":
        """The folds of `tested`, which has seed, fold and row, a line for each prediction.

        Examples
        --------
        >>> def seeds(*folds):
        ...     tables = (pd.DataFrame({"seed": seed, "fold": of, "row": range(8)}) for seed, of in enumerate(folds))
        ...     return TrainedFolds.of(pd.concat(tables)).n_seeds
        >>> seeds(np.arange(8) % 2, np.arange(8) % 2), seeds(np.arange(8) % 2, np.arange(8) // 4)
        (1.0, 2.0)
        """
        cells, fold = np.unique(tested[["seed", "fold"]].to_numpy(dtype=np.int64), axis=0, return_inverse=True)
        seeds, n_folds = np.unique(cells[:, 0], return_counts=True)
        usable = seeds[n_folds > 1] if (n_folds > 1).any() else seeds
        return cls(fold.ravel(), cells[:, 0], usable, _distinct_seeds(tested[tested["seed"].isin(usable)]))

    def error_of(self, values: Float[np.ndarray, " n_tested"]) -> TrainingError:
        """What the mean of `values`, one of each prediction, owes to the trainings of a seed."""
        n, total, squares = (np.bincount(self.fold, weights) for weights in (None, values, values**2))
        within = np.maximum(squares - total**2 / n, 0.0)
        of_seeds = [
            _of_seed(n[self.seed == seed], (total / n)[self.seed == seed], float(within[self.seed == seed].sum()))
            for seed in self.seeds
        ]
        whole, chance, df = np.mean(of_seeds, axis=0)
        return TrainingError(float(whole), float(chance), float(df * self.n_seeds))

    def is_spread(self, part: Bool[np.ndarray, " n_tested"]) -> bool:
        """Whether the samples of a part lie in more than half as many folds as all do, for every seed.

        Folds count by the squared shares of samples in them (Kish), so that one which has nearly all counts as one.

        Examples
        --------
        >>> folds = TrainedFolds.of(pd.DataFrame({"seed": 0, "fold": np.arange(20) % 4, "row": range(20)}))
        >>> folds.is_spread(np.arange(20) < 8), folds.is_spread(np.arange(20) % 4 == 1)
        (True, False)
        """
        n, own = (np.bincount(self.fold[rows], minlength=len(self.seed)) for rows in (slice(None), part))
        return all(
            _n_folds(own[self.seed == seed]) > _n_folds(n[self.seed == seed]) / 2
            for seed in self.seeds
            if own[self.seed == seed].any()
        )


def _n_folds(n: Integer[np.ndarray, " n_folds"]) -> float:
    return float(n.sum() ** 2 / (n.astype(np.float64) ** 2).sum())


def _of_seed(
    n: Integer[np.ndarray, " n_folds"], mean: Float[np.ndarray, " n_folds"], within: float
) -> tuple[float, float, float]:
    """Of one seed, with folds of `n` samples. Where each fold has one, each sample has its training: nothing to add."""
    total, n_folds = n.sum(), len(n)
    if n_folds == 1 or total == n_folds:
        return 0.0, 0.0, n_folds - 1.0
    between = float((n * (mean - (n * mean).sum() / total) ** 2).sum()) / (n_folds - 1)
    usual = (total - (n**2).sum() / total) / (n_folds - 1)
    share = float((n**2).sum()) / total**2 / usual
    return between * share, within / (total - n_folds) * share, n_folds - 1.0


def _distinct_seeds(tested: pd.DataFrame) -> float:
    from sklearn.metrics import adjusted_rand_score

    folds = tested.pivot(index="row", columns="seed", values="fold").dropna().to_numpy(dtype=np.int64)
    n_seeds = folds.shape[1]
    if n_seeds == 1:
        return 1.0
    alike = [max(float(adjusted_rand_score(a, b)), 0.0) for at, a in enumerate(folds.T) for b in folds.T[:at]]
    return n_seeds**2 / (n_seeds + 2 * sum(alike))
