"""Do two ways of finding sources find the same ones? The adjusted Rand index within classes, against chance.

Two clusterings agree on a pair of samples where both put it into one source. The index is 1 where they agree on every
pair, and 0 on average where they have nothing to do with each other (Hubert & Arabie 1985). Only pairs of one class
count: that samples of two classes lie in two sources is no finding.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, combinations_with_replacement
from math import nan

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer

from touchstone.core.data import Dataset
from touchstone.core.evaluate.intervals import holm
from touchstone.core.evaluate.wording import bare, p_value
from touchstone.core.trials import TrialPlan

LEVEL = 0.05


@dataclass(frozen=True)
class PairAgreement:
    """The adjusted Rand index of two clusterings, and the highest that sources of these sizes allow.

    That is below 1 where one has many small sources and the other few large ones, however well these fit together.
    `by_class` is the index over the pairs of one class, class by class.
    """

    source_finder: str
    clustering: int
    other_finder: str
    other_clustering: int
    index: float
    possible: float
    by_class: tuple[float, ...] = ()


@dataclass(frozen=True)
class FinderAgreement:
    """The mean index over all pairs of clusterings of two finders (or of one with itself), against chance."""

    source_finder: str
    other_finder: str
    n_pairs: int
    index: float
    lowest: float
    highest: float
    possible: float
    chance: float
    """What the mean stays below in 95 % of the cases where samples are dealt out anew within their class."""
    p: float
    p_holm: float

    @property
    def better_than_chance(self) -> bool:
        """Whether the two have anything to do with each other, corrected for the number of pairs of finders."""
        return self.p_holm < LEVEL

    def sentence(self, names: Mapping[str, str] | None = None) -> str:
        """How far the two agree, in words.

        Examples
        --------
        >>> FinderAgreement("kmeans", "known", 4, 0.002, -0.001, 0.004, 0.11, 0.005, 0.31, 0.31).sentence()
        'kmeans and known agree no better than chance: .002, where chance gives up to .005 (p = .310).'
        """
        first, second = ((names or {}).get(name, name) for name in (self.source_finder, self.other_finder))
        who = f"{first} and {second} agree" if first != second else f"clusterings of {first} agree with each other"
        if np.isnan(self.index):
            return f"Undecided whether {who}: there is only one source."
        numbers = f"{bare(self.index, 3)}, where chance gives up to {bare(self.chance, 3)} ({p_value(self.p_holm)})"
        if not self.better_than_chance:
            return f"{who} no better than chance: {numbers}."
        return f"{who} better than chance: {numbers}; sources of these sizes allow {bare(self.possible, 3)}."


@dataclass(frozen=True)
class SourceAgreement:
    """How far the clusterings of some finders agree: pair by pair, and finder by finder."""

    clusterings: tuple[tuple[str, int], ...]
    """Finder and number of each."""
    pairs: tuple[PairAgreement, ...]
    finders: tuple[FinderAgreement, ...]
    n_used: int
    n_samples: int
    class_names: tuple[str, ...] = ()
    """Of the classes that have samples, in the order of `PairAgreement.by_class`."""

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each pair of finders; the fields of `FinderAgreement`."""
        names = list(FinderAgreement.__dataclass_fields__)
        return pd.DataFrame([asdict(finder) for finder in self.finders], columns=names)

    def pair_table(self) -> pd.DataFrame:
        """Tidy rows: of each pair of clusterings one of all classes, where `label` is NA, then one for each class.

        The other columns are the fields of `PairAgreement`; what sizes allow is known of all classes together.
        """
        rows = []
        for pair in self.pairs:
            whole = asdict(pair)
            by_class = dict(zip(self.class_names, whole.pop("by_class"), strict=True))
            rows.append({**whole, "label": pd.NA})
            rows += [{**whole, "index": index, "possible": nan, "label": name} for name, index in by_class.items()]
        names = [name for name in PairAgreement.__dataclass_fields__ if name not in ("index", "possible", "by_class")]
        return pd.DataFrame(rows, columns=[*names, "label", "index", "possible"])

    def class_table(self) -> pd.DataFrame:
        """A row for each pair of finders: the mean index over their pairs of clusterings, overall and class by class.

        Columns: `source_finder`, `other_finder`, `index` and one named after each class.
        """
        rows = []
        for finders in self.finders:
            mine = [pair.by_class for pair in self.pairs if _of(pair) == {finders.source_finder, finders.other_finder}]
            indices_by_class = [
                [index for index in of_class if not np.isnan(index)] for of_class in zip(*mine, strict=True)
            ]
            means = [float(np.mean(indices)) if indices else nan for indices in indices_by_class]
            rows.append([finders.source_finder, finders.other_finder, finders.index, *means])
        return pd.DataFrame(rows, columns=["source_finder", "other_finder", "index", *self.class_names])

    def matrix(self) -> Float[np.ndarray, "n_clusterings n_clusterings"]:
        """The index of every pair of clusterings, in their order; 1 of each with itself."""
        place = {clustering: at for at, clustering in enumerate(self.clusterings)}
        indices = np.eye(len(place))
        for pair in self.pairs:
            first = place[pair.source_finder, pair.clustering]
            second = place[pair.other_finder, pair.other_clustering]
            indices[first, second] = indices[second, first] = pair.index
        return indices


def agreement(
    plan: TrialPlan,
    dataset: Dataset,
    *,
    max_samples: int = 20_000,
    n_permutations: int = 399,
    step: Callable[[], None] = lambda: None,
) -> SourceAgreement:
    """Compare every clustering that a plan draws from, known sources among them, with every other.

    On `max_samples` random samples where there are more. `step` is called when a clustering has been found, and for
    each permutation.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> plan = TrialPlan(source_finders=("kmeans", "same_size_kmeans"), n_clusterings=2)
    >>> agreement(plan, load_example("wine")).table()["n_pairs"].tolist()
    [1, 4, 1]
    """
    clusterings = {}
    for draw in plan.draws(dataset):
        name = (draw.source_finder, draw.clustering)
        if name not in clusterings:
            clusterings[name] = plan.sources(dataset, *name)
            step()
    rng = np.random.default_rng(plan.seed)
    y, n_samples = dataset.y, len(dataset.y)
    if n_samples > max_samples:
        used = np.sort(rng.choice(n_samples, max_samples, replace=False))
        y, clusterings = y[used], {name: sources[used] for name, sources in clusterings.items()}
    ordered = {
        name: clusterings[name] for name in sorted(clusterings, key=lambda name: plan.source_finders.index(name[0]))
    }
    return compare_clusterings(
        ordered,
        y,
        class_names=dataset.class_names,
        n_samples=n_samples,
        n_permutations=n_permutations,
        rng=rng,
        step=step,
    )


def compare_clusterings(
    clusterings: Mapping[tuple[str, int], Integer[np.ndarray, " n_used"]],
    y: Integer[np.ndarray, " n_used"],
    *,
    class_names: Sequence[str] | None = None,
    n_samples: int | None = None,
    n_permutations: int = 399,
    rng: np.random.Generator,
    step: Callable[[], None] = lambda: None,
) -> SourceAgreement:
    """Compare the clusterings of some finders, each named by finder and number, pair by pair.

    Chance deals the samples of each class out anew. Between two finders it deals out all clusterings of one alike: they
    resemble each other, so that their mean varies nearly as much as each of them. Holm-corrected over pairs of finders.
    Classes are called by `class_names`, or else by their code.
    """
    order = np.argsort(y, kind="stable")
    counted = {name: _Pairs.of(sources[order], y[order]) for name, sources in clusterings.items()}
    pairs = {
        (first, second): PairAgreement(
            *first, *second, *_indices(counted[first], counted[second]), _by_class(counted[first], counted[second])
        )
        for first, second in combinations(counted, 2)
    }
    chance: dict[tuple, list[float]] = {names: [] for names in pairs}
    for _ in range(n_permutations):
        together, alone = _dealt(y[order], rng), {name: _dealt(y[order], rng) for name in counted}
        for first, second in pairs:
            dealt = together if first[0] != second[0] else alone[second]
            chance[first, second].append(_indices(counted[first], counted[second].dealt(dealt))[0])
        step()
    names = list(dict.fromkeys(finder for finder, _ in counted))
    compared = [_finders(first, second, pairs, chance) for first, second in combinations_with_replacement(names, 2)]
    known = [finders for finders in compared if finders is not None]
    corrected = holm([finders.p for finders in known])
    finders = tuple(replace(finders, p_holm=p) for finders, p in zip(known, corrected, strict=True))
    codes = [int(code) for code in np.unique(y)]
    labels = tuple(str(code) if class_names is None else class_names[code] for code in codes)
    return SourceAgreement(tuple(counted), tuple(pairs.values()), finders, len(y), n_samples or len(y), labels)


@dataclass(frozen=True)
class _Pairs:
    """A clustering whose sources are numbered within each class, with its pairs of samples by class."""

    y: np.ndarray
    source: np.ndarray
    width: int
    together: np.ndarray
    every: np.ndarray

    @classmethod
    def of(cls, sources: np.ndarray, y: np.ndarray) -> "_Pairs":
        label = np.unique(y, return_inverse=True)[1]
        cells, cell = np.unique(label.astype(np.int64) * (int(sources.max()) + 1) + sources, return_inverse=True)
        label_of_cell = cells // (int(sources.max()) + 1)
        first = np.searchsorted(label_of_cell, label_of_cell)
        number = np.arange(len(cells)) - first
        together = np.bincount(label_of_cell, weights=_choose_2(np.bincount(cell)))
        return cls(label, number[cell], int(number.max()) + 1, together, _choose_2(np.bincount(label)))

    def dealt(self, rows: np.ndarray) -> "_Pairs":
        return _Pairs(self.y, self.source[rows], self.width, self.together, self.every)


def _shared(first: _Pairs, second: _Pairs) -> np.ndarray:
    """Pairs of samples that lie in one source of both, by class."""
    n_cells = first.width * second.width
    cell = (first.y * first.width + first.source) * second.width + second.source
    pairs = _choose_2(np.bincount(cell, minlength=n_cells * len(first.every)))
    return pairs.reshape(len(first.every), n_cells).sum(axis=1)


def _by_class(first: _Pairs, second: _Pairs) -> tuple[float, ...]:
    """The adjusted Rand index of each class by itself; NaN where a class has nothing to tell."""
    expected = first.together * second.together / np.maximum(first.every, 1)
    most = (first.together + second.together) / 2
    possible = ~np.isclose(most, expected)
    index = (_shared(first, second) - expected) / np.where(possible, most - expected, 1.0)
    return tuple(np.where(possible, index, np.nan).tolist())


def _indices(first: _Pairs, second: _Pairs) -> tuple[float, float]:
    """The adjusted Rand index, and the highest that the sizes of the sources allow."""
    both = float(_shared(first, second).sum())
    every = np.maximum(first.every, 1)
    expected = float(np.sum(first.together * second.together / every))
    most = float(np.sum(first.together + second.together)) / 2
    if np.isclose(most, expected):
        return float("nan"), float("nan")
    possible = float(np.sum(np.minimum(first.together, second.together)))
    return (both - expected) / (most - expected), (possible - expected) / (most - expected)


def _of(pair: PairAgreement) -> set[str]:
    return {pair.source_finder, pair.other_finder}


def _choose_2(n: np.ndarray) -> np.ndarray:
    return n * (n - 1.0) / 2


def _dealt(y_in_order: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rows in an order that is random within each class; `y_in_order` rises."""
    rows = rng.permutation(len(y_in_order))
    return rows[np.argsort(y_in_order[rows], kind="stable")]


def _finders(first: str, second: str, pairs: Mapping, chance: Mapping) -> FinderAgreement | None:
    mine = [names for names in pairs if {names[0][0], names[1][0]} == {first, second}]
    if not mine:
        return None
    indices = np.array([pairs[names].index for names in mine])
    null = np.mean([chance[names] for names in mine], axis=0)
    mean = float(indices.mean())
    p = float("nan") if np.isnan(mean) else float((1 + np.sum(null >= mean - 1e-12)) / (1 + len(null)))
    return FinderAgreement(
        source_finder=first,
        other_finder=second,
        n_pairs=len(mine),
        index=mean,
        lowest=float(indices.min()),
        highest=float(indices.max()),
        possible=float(np.mean([pairs[names].possible for names in mine])),
        chance=float(np.quantile(null, 0.95)) if len(null) else float("nan"),
        p=p,
        p_holm=float("nan"),
    )
