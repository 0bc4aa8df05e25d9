"""What was counted? The trials frame as arrays, aligned so that models are compared by the same draws and sources."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer

from touchstone.core.evaluate.intervals import holm
from touchstone.core.trials.run import LEFT_OUT

NEEDED = (
    *("model", "source_finder", "scheme", "repeat", "clustering", "n_train", "n_test", "label", "source"),
    *("n_correct", "n_label", "n_predicted", "status"),
)
CELL = ["clustering", "label_code", "source"]


@dataclass(frozen=True)
class Layout:
    """The draws and units that every model of one source finder (and training-set size) shares.

    A unit is what the data were sampled by: a source within its class or, where sources are shared over classes (the
    same writer writes every digit), a source over all its classes. A stratum is what units are exchangeable within: a
    class, or for shared sources everything. A cell is a unit's samples of one label.
    """

    source_finder: str
    n_train: int | None
    labels: tuple[str, ...]
    shared: bool
    draws: dict[str, Integer[np.ndarray, " n_draws 2"]]
    """Of each scheme: clustering and repeat of every draw."""
    unit_clustering: Integer[np.ndarray, " n_units"]
    unit_stratum: Integer[np.ndarray, " n_units"]
    unit_name: np.ndarray
    cell_unit: Integer[np.ndarray, " n_cells"]
    cell_label: Integer[np.ndarray, " n_cells"]
    n_strata: int
    n_samples: Float[np.ndarray, " n_labels"]
    """About how many samples of each label the data set has (as far as the trials used it)."""

    @cached_property
    def clusterings(self) -> Integer[np.ndarray, " n_clusterings"]:
        """The clusterings that any draw used."""
        return np.unique(np.concatenate([draws[:, 0] for draws in self.draws.values()]))


@dataclass(frozen=True)
class Counts:
    """What one model got right under one scheme; NaN in draws that it has not (yet) finished."""

    n_test: Float[np.ndarray, " n_draws"]
    n_train: Float[np.ndarray, " n_draws"]
    correct: Float[np.ndarray, "n_draws n_labels"]
    n: Float[np.ndarray, "n_draws n_labels"]
    predicted: Float[np.ndarray, "n_draws n_labels"]
    cell_times: Float[np.ndarray, " n_cells"]
    """How many draws tested this cell; `cell_correct` and `cell_n` are totals over these."""
    cell_correct: Float[np.ndarray, " n_cells"]
    cell_n: Float[np.ndarray, " n_cells"]
    left_out_correct: Float[np.ndarray, "n_turns n_draws n_labels"]
    """The same draws with the sources of each turn left out of training and test part; no turns where none was asked
    for. NaN where it is unfinished, 0 of 0 where nothing is left to train on or to test."""
    left_out_n: Float[np.ndarray, "n_turns n_draws n_labels"]
    unit_squared: Float[np.ndarray, " n_units"]
    """The sum over draws of the square of what was right in each unit: how far it varies from draw to draw."""

    @property
    def done(self) -> Bool[np.ndarray, " n_draws"]:
        """The draws that this model has finished."""
        return ~np.isnan(self.n_test)


Schemes = dict[str, Counts]
"""What one model came to, by scheme."""


@dataclass(frozen=True)
class Group:
    """All models of one source finder and training-set size: counts by model, then scheme."""

    layout: Layout
    models: dict[str, Schemes]


def finished(trials: pd.DataFrame) -> pd.DataFrame:
    """The rows of trials that came to an end. Raises ValueError where a column is missing.

    `left_out`, the turn that a trial leaves out, is added where no trial was to leave anything out.
    """
    missing = [name for name in NEEDED if name not in trials.columns]
    if missing:
        raise ValueError(f"not a trials frame: it has no column {', '.join(missing)}")
    rows = trials.loc[(trials["status"] == "ok").to_numpy(dtype=bool)]
    if LEFT_OUT in rows.columns:
        return rows
    none = pd.arrays.IntegerArray(np.zeros(len(rows), dtype=np.int64), np.ones(len(rows), dtype=bool))
    return rows.assign(**{LEFT_OUT: none})


def groups(trials: pd.DataFrame, sizes: Sequence[int] = ()) -> Iterator[Group]:
    """One group for each source finder and each training-set size in `sizes`; None stands for every other size."""
    rows = finished(trials)
    n_train = _numbers(rows, "n_train")
    size = np.where(np.isin(n_train, list(sizes)), n_train, 0).astype(np.int64)
    for finder in rows["source_finder"].unique():
        for wanted in np.unique(size):
            part = rows.loc[(rows["source_finder"] == finder).to_numpy(dtype=bool) & (size == wanted)]
            if len(part):
                yield _group(part, str(finder), int(wanted) or None)


def _group(rows: pd.DataFrame, finder: str, n_train: int | None) -> Group:
    counted = ("n_correct", "n_label", "n_test", "n_train", "n_predicted")
    rows = rows.assign(
        **{name: _numbers(rows, name) for name in counted},
        **{name: _numbers(rows, name).astype(np.int64) for name in ("clustering", "repeat")},
    )
    is_whole = rows[LEFT_OUT].isna().to_numpy()
    left_out, rows = rows.loc[~is_whole], rows.loc[is_whole]
    has_label, has_source = rows["label"].notna().to_numpy(), rows["source"].notna().to_numpy()
    whole, by_label, by_cell = rows.loc[~has_label], rows.loc[has_label & ~has_source], rows.loc[has_source]
    labels = tuple(str(name) for name in by_label["label"].unique())
    by_label = by_label.assign(label_code=_codes(by_label["label"], labels))
    by_cell = by_cell.assign(label_code=_codes(by_cell["label"], labels))
    cells = by_cell.loc[:, CELL].drop_duplicates().sort_values(CELL, kind="stable", ignore_index=True)
    layout = _layout(whole, by_label, cells, labels, finder, n_train)
    left_out = left_out.loc[(left_out["label"].notna() & left_out["source"].isna()).to_numpy(dtype=bool)]
    left_out = left_out.assign(label_code=_codes(left_out["label"], labels))
    models = {}
    for name in rows["model"].unique():
        mine = [part.loc[(part["model"] == name).to_numpy(dtype=bool)] for part in (whole, by_label, by_cell, left_out)]
        models[str(name)] = {
            str(scheme): _counts(
                [part.loc[(part["scheme"] == scheme).to_numpy(dtype=bool)] for part in mine], layout, cells
            )
            for scheme in mine[0]["scheme"].unique()
        }
    return Group(layout, models)


def _layout(
    whole: pd.DataFrame,
    by_label: pd.DataFrame,
    cells: pd.DataFrame,
    labels: tuple[str, ...],
    finder: str,
    n_train: int | None,
) -> Layout:
    source = ["clustering", "source"]
    shared = bool(cells.duplicated(source).any())
    cell_unit = cells.groupby(source if shared else CELL, sort=False).ngroup().to_numpy().astype(np.int64)
    first = np.unique(cell_unit, return_index=True)[1]
    cell_label = cells["label_code"].to_numpy().astype(np.int64)
    return Layout(
        source_finder=finder,
        n_train=n_train,
        labels=labels,
        shared=shared,
        draws={
            str(scheme): np.unique(part[["clustering", "repeat"]].to_numpy(), axis=0)
            for scheme, part in whole.groupby("scheme", sort=False)
        },
        unit_clustering=cells["clustering"].to_numpy()[first],
        unit_stratum=np.zeros(len(first), dtype=np.int64) if shared else cell_label[first],
        unit_name=cells["source"].to_numpy(dtype=object)[first],
        cell_unit=cell_unit,
        cell_label=cell_label,
        n_strata=1 if shared else len(labels),
        n_samples=_n_samples(whole, by_label, len(labels)),
    )


def _counts(parts: Sequence[pd.DataFrame], layout: Layout, cells: pd.DataFrame) -> Counts:
    """What a model got right by the draws of a scheme.

    `parts` are its rows of whole draws, of labels, of cells, and of labels where sources were left out.
    """
    whole, by_label, by_cell, left_out = parts
    draws = pd.MultiIndex.from_arrays(layout.draws[str(whole["scheme"].iloc[0])].T)
    shape = (len(draws), len(layout.labels))
    at = draws.get_indexer(pd.MultiIndex.from_frame(whole.loc[:, ["clustering", "repeat"]]))
    at_label = draws.get_indexer(pd.MultiIndex.from_frame(by_label.loc[:, ["clustering", "repeat"]]))
    at_cell = pd.MultiIndex.from_frame(cells).get_indexer(pd.MultiIndex.from_frame(by_cell.loc[:, CELL]))

    def by_draw(column: str) -> np.ndarray:
        values = np.full(len(draws), np.nan)
        values[at] = whole[column].to_numpy()
        return values

    def by_draw_and_label(column: str) -> np.ndarray:
        values = np.full(shape, np.nan)
        values[at] = 0.0
        values[at_label, by_label["label_code"].to_numpy()] = by_label[column].to_numpy()
        return values

    def by_turn(column: str) -> np.ndarray:
        turn = left_out[LEFT_OUT].to_numpy(dtype=np.int64)
        of_draw = draws.get_indexer(pd.MultiIndex.from_frame(left_out.loc[:, ["clustering", "repeat"]]))
        values = np.full((turn.max(initial=-1) + 1, *shape), np.nan)
        own = of_draw >= 0
        values[turn[own], of_draw[own], left_out["label_code"].to_numpy()[own]] = left_out[column].to_numpy()[own]
        return values

    def squared() -> np.ndarray:
        n_units = len(layout.unit_name)
        draw = draws.get_indexer(pd.MultiIndex.from_frame(by_cell.loc[:, ["clustering", "repeat"]]))
        place, of_draw = np.unique(layout.cell_unit[at_cell] * len(draws) + draw, return_inverse=True)
        right = np.bincount(of_draw, weights=by_cell["n_correct"].to_numpy(), minlength=len(place))
        return np.bincount(place // len(draws), weights=right**2, minlength=n_units).astype(np.float64)

    def total(values: np.ndarray | None) -> np.ndarray:
        return np.bincount(at_cell, weights=values, minlength=len(cells)).astype(np.float64)

    return Counts(
        n_test=by_draw("n_test"),
        n_train=by_draw("n_train"),
        correct=by_draw_and_label("n_correct"),
        n=by_draw_and_label("n_label"),
        predicted=by_draw_and_label("n_predicted"),
        cell_times=total(None),
        cell_correct=total(by_cell["n_correct"].to_numpy()),
        cell_n=total(by_cell["n_label"].to_numpy()),
        left_out_correct=by_turn("n_correct"),
        left_out_n=by_turn("n_label"),
        unit_squared=squared(),
    )


def _n_samples(whole: pd.DataFrame, by_label: pd.DataFrame, n_labels: int) -> Float[np.ndarray, " n_labels"]:
    seen = np.bincount(by_label["label_code"], weights=by_label["n_label"], minlength=n_labels)
    in_use = (whole["n_train"] + whole["n_test"]).max()
    return seen / seen.sum() * min(in_use, seen.sum())


def _codes(names: pd.Series, labels: tuple[str, ...]) -> np.ndarray:
    return pd.Index(labels, dtype=object).get_indexer(names.to_numpy(dtype=object))


def _numbers(rows: pd.DataFrame, name: str) -> np.ndarray:
    return rows[name].to_numpy(dtype=np.float64, na_value=np.nan)


# Which pairs of several models differ? Closed testing over all ways in which models may be alike.


MOST_MODELS = 7
"""Of more models there are too many groupings to go through."""


def corrected_pairs(pairs: Sequence[tuple[str, str]], p_values: Sequence[float]) -> list[float]:
    """P-values of pairs of models that may each be read at 5 % although many were looked at. NaN is passed over.

    Of more than seven models, and where a pair stands there more than once (for several source finders or sizes), they
    are Holm's.

    Examples
    --------
    >>> pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    >>> [round(p, 3) for p in corrected_pairs(pairs, [0.03, 0.02, 0.6])], holm([0.03, 0.02, 0.6])
    ([0.045, 0.045, 0.6], [0.06, 0.06, 0.6])
    """
    models = sorted({model for pair in pairs for model in pair})
    if len(models) > MOST_MODELS or len(set(pairs)) < len(pairs):
        return holm(p_values)
    p = np.array(p_values, dtype=np.float64)
    corrected = p.copy()
    for grouping in _groupings(len(models)):
        group = dict(zip(models, grouping, strict=True))
        alike = np.array([group[first] == group[second] for first, second in pairs], dtype=bool) & ~np.isnan(p)
        if alike.any():
            corrected[alike] = np.maximum(corrected[alike], _simes(p[alike]))
    return corrected.tolist()


def _groupings(n: int) -> Iterator[tuple[int, ...]]:
    """Every way to put `n` models into groups, as the number of each model's group."""
    if n == 0:
        yield ()
        return
    for others in _groupings(n - 1):
        for group in range(max(others, default=-1) + 2):
            yield (*others, group)


def _simes(p: Float[np.ndarray, " n"]) -> float:
    """The p-value of "nothing differs" that Simes's test gives."""
    return float((np.sort(p) * len(p) / np.arange(1, len(p) + 1)).min())
