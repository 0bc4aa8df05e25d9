"""What do all methods say of the same samples? Weak groups and classes, and whether the methods agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy import special

from touchstone.core.cluster.sources import kmeans
from touchstone.core.data import Dataset
from touchstone.core.data.dataset import duplicate_groups
from touchstone.core.data.values import Bools, Codes, Floats, Ints
from touchstone.core.evaluate.average_case.robustness import Robustness
from touchstone.core.evaluate.calibration import bin_of
from touchstone.core.evaluate.claims import Claim, claim, corrected
from touchstone.core.evaluate.cluster_folds.tested import (
    UNTRIED,
    FoldPredictions,
    TrainedFolds,
    TrainingError,
    moderated,
)
from touchstone.core.evaluate.cluster_folds.verdict import scheme_title
from touchstone.core.evaluate.data_sets import NearCopies
from touchstone.core.evaluate.intervals import UNKNOWN, Interval, apart, half_width, holm, t_p_value, wilson
from touchstone.core.evaluate.units import EACH_SAMPLE, NO_EFFECT, Design, Effect, Z, half_of_units, mean_by, units_of
from touchstone.core.evaluate.wording import (
    Verdict,
    bare,
    bare_p,
    count,
    listed,
    percent,
    plural,
    points,
    quoted,
    ratio,
)

# What is known of each sample, over all questions, and do the methods agree on which samples are hard?
#
# Each question looks at samples in its own way: whether a model trained without a sample's fold gets it right, whether
# noise changes the prediction, how confident a model is. Here they stand side by side, a row for each sample.

LEVEL = 0.05
FEWEST_COMPARED = 20
"""With fewer samples in common no rank correlation is given."""
CORRECT, FOLDS = "correct on ", " folds"
"""How the column of a scheme of folds begins and ends."""
FOLD = "fold, "
FACTS = ("id", "label", "source", "slice", "copies", "is_copy", "near_copies", "region", "subset", "confidence_bin")
IS_COPY = "is_copy"
"""Whether an earlier sample has the very same content and label: nothing more is learnt from it."""
REGIONS = ("neither", "centroid", "boundary", "both")
AT_BOUNDARY = REGIONS[2:]


@dataclass(frozen=True)
class Agreement:
    """Spearman's rank correlation of two measures of samples, on the `n` that both know.

    `overall` is over all of them. `within` is of ranks within each class, so that classes which are hard as a whole
    count for nothing in it. Intervals are of Bonett and Wright (2000); `p` tests `within`, corrected by Holm.
    """

    measure: str
    other: str
    n: int
    overall: float
    overall_interval: Interval
    within: float
    within_interval: Interval
    p: float

    @property
    def agrees(self) -> bool:
        """Whether both call the same samples hard, significantly, also within classes."""
        return self.p < LEVEL and self.within > 0


def known_of_samples(
    dataset: Dataset,
    *,
    folds: FoldPredictions | None = None,
    robustness: Robustness | None = None,
    regions: pd.DataFrame | None = None,
    near: NearCopies | None = None,
    subsets: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """A row for each sample: its id and label, facts about it, then every measure, higher where a sample is easier.

    Measures (see `measures`): "correct on ... folds" is the share of models and seeds that predict it correctly when
    its fold is held out; the others are of one model: `confidence`, `p_robust` at the middle sigma, and `sigma_50`, how
    much noise it takes (infinite beyond the range).

    Facts: `source`, the `fold` of each scheme's first seed, `copies` (how many other samples have the very same
    content), `is_copy` (of an earlier one with its label), `near_copies` (in how many pairs of `near` it is),
    `confidence_bin` (of 15 of equal size, 1 the least confident), `region` (boundary, centroid, both or neither), of
    `regions` as `test_quality.samples_table` gives it with the sample's `row`, and `subset` ("matched reference", ...),
    of `subsets` as `matched_subsets.samples` gives them, where these are samples of the data set (see `subset_of`).
    What was not measured of a sample is missing.
    """
    names = np.array(dataset.class_names, dtype=object)
    table = pd.DataFrame({"id": dataset.ids, "label": names[dataset.y]})
    if dataset.sources is not None:
        table["source"] = dataset.sources
    first = duplicate_groups(dataset)
    table["copies"] = np.bincount(first, minlength=len(first))[first] - 1
    table[IS_COPY] = pd.DataFrame({"first": first, "label": dataset.y}).duplicated()
    if near is not None:
        table["near_copies"] = np.bincount(near.pairs.ravel(), minlength=len(table))
    if regions is not None:
        table["region"] = _region(regions).reindex(range(len(table))).to_numpy()
    if subsets is not None:
        table["subset"] = subset_of(dataset, subsets).reindex(dataset.ids).to_numpy()
    if folds is not None:
        for title, tested in held_out_by(folds).items():
            first = tested[tested["seed"] == tested["seed"].min()].set_index("row")["fold"].astype(float) + 1
            table[f"{FOLD}{title.removeprefix(CORRECT).removesuffix(FOLDS)}"] = first.reindex(table.index)
            table[title] = tested.groupby("row")["right"].mean().reindex(table.index)
    if robustness is not None and robustness.sigmas:
        middle = robustness.samples_at(robustness.sigmas[len(robustness.sigmas) // 2]).set_index("row")
        confidence = middle["confidence"].to_numpy(dtype=float)
        bins = pd.Series(1 + bin_of(confidence, binning="mass")[0], index=middle.index)
        table["confidence_bin"] = bins.reindex(range(len(table))).to_numpy(dtype=float)
        for name in ("confidence", "p_robust"):
            table[name] = middle[name].reindex(range(len(table))).to_numpy(dtype=float)
        if len(robustness.half):
            half = robustness.half.set_index("row")["sigma_50"]
            table["sigma_50"] = half.reindex(range(len(table))).to_numpy(dtype=float)
    return table


def subset_of(dataset: Dataset, subsets: pd.DataFrame) -> pd.Series:
    """By id, the subset of every sample of the data set that two compared sets hold; empty where they hold none.

    `subsets` has set, id, truth and subset. A set is of this data where it calls every sample by an id of the data and
    gives it the same class: two files that merely count their rows are not mistaken for each other.

    Examples
    --------
    >>> data = Dataset("fruit", "tabular", [[0.0], [1.0]], [0, 1], ("plum", "pear"), ["a", "b"])
    >>> subsets = pd.DataFrame({"set": ["reference", "target"], "id": ["a", "b"], "truth": ["plum", "plum"],
    ...                         "subset": ["matched reference", "unmatched target"]})
    >>> subset_of(data, subsets).to_dict()
    {'a': 'matched reference'}
    """
    label = pd.Series(np.array(dataset.class_names, dtype=object)[dataset.y], index=dataset.ids)
    same = subsets["truth"].to_numpy() == label.reindex(subsets["id"]).to_numpy()
    ours = subsets[pd.Series(same, index=subsets.index).groupby(subsets["set"]).transform("all")]
    return ours.groupby("id")["subset"].agg(lambda names: ", ".join(dict.fromkeys(names)))


def held_out_by(folds: FoldPredictions) -> dict[str, pd.DataFrame]:
    """Who was right when held out: seed, fold, row and right, by the column of `known_of_samples` of each scheme.

    `right` is the share of models that predict the sample correctly, each trained without its fold.
    """
    tested = folds.rows.dropna(subset=["row", "y_pred"])
    rows, y_pred = (tested[name].to_numpy(dtype=np.int64) for name in ("row", "y_pred"))
    known = tested[["scheme", "seed", "fold"]].assign(row=rows, right=(y_pred == folds.y[rows]).astype(float))
    return {
        f"{CORRECT}{scheme_title(str(scheme))}{FOLDS}": of_scheme.groupby(
            ["seed", "fold", "row"], as_index=False, observed=True
        )["right"].mean()
        for scheme, of_scheme in known.groupby("scheme", observed=True, sort=False)
    }


def predicted_held_out(folds: FoldPredictions) -> tuple[np.ndarray, np.ndarray, str, str] | None:
    """What a model predicts of each sample when its fold is held out: rows, predicted classes, scheme and model.

    The first model, on random folds, or else the first that there are, with the first seed. None while none is tested.
    """
    tested = folds.rows.dropna(subset=["row", "y_pred"])
    if tested.empty:
        return None
    schemes = list(tested["scheme"].unique())
    scheme = "random_folds" if "random_folds" in schemes else schemes[0]
    first = tested[(tested["scheme"] == scheme) & (tested["model"] == tested["model"].iloc[0])]
    first = first[first["seed"] == first["seed"].min()]
    rows, y_pred = (first[name].to_numpy(dtype=np.int64) for name in ("row", "y_pred"))
    return rows, y_pred, str(scheme), str(first["model"].iloc[0])


def _region(regions: pd.DataFrame) -> pd.Series:
    inside = regions["in_centroid"].to_numpy(dtype=int) + 2 * regions["in_boundary"].to_numpy(dtype=int)
    return pd.Series(np.array(REGIONS, dtype=object)[inside], index=regions["row"].to_numpy())


def measures(table: pd.DataFrame) -> list[str]:
    """Those columns of `known_of_samples` that say how easy a sample is.

    >>> measures(pd.DataFrame(columns=["id", "label", "copies", "correct on Random folds", "p_robust"]))
    ['correct on Random folds', 'p_robust']
    """
    return [name for name in table if name not in FACTS and not name.startswith(FOLD)]


def correct_on(table: pd.DataFrame) -> str | None:
    """The column that says who is correct when held out: on random folds, or else on the first that there are.

    >>> correct_on(pd.DataFrame(columns=["id", "correct on SDS folds", "correct on Random folds"]))
    'correct on Random folds'
    """
    columns = [name for name in table if name.startswith(CORRECT)]
    return min(columns, key=lambda name: name != f"{CORRECT}{scheme_title('random_folds')} folds", default=None)


def agreement(table: pd.DataFrame) -> tuple[Agreement, ...]:
    """Every pair of measures of `known_of_samples` that have enough samples in common and are not constant there.

    Examples
    --------
    >>> easy = np.arange(40.0)
    >>> [each] = agreement(pd.DataFrame({"id": easy, "label": "a", "confidence": easy, "p_robust": easy**2}))
    >>> round(each.overall, 3), each.n, each.agrees
    (1.0, 40, True)
    """
    pairs = []
    for measure, other in combinations(measures(table), 2):
        both = table.dropna(subset=[measure, other])
        values = [both[name].to_numpy(dtype=float) for name in (measure, other)]
        if len(both) < FEWEST_COMPARED or any(np.unique(each).size < 2 for each in values):
            continue
        ranks = both.groupby("label")[[measure, other]].rank(pct=True)
        # Not ranked again: ties would lie a little higher in one class than in the next, and look like an order.
        centred = ranks - ranks.groupby(both["label"]).transform("mean")
        within, degrees = _pearson(*centred.to_numpy().T), len(both) - both["label"].nunique() + 1
        pairs.append((measure, other, len(both), _correlation(*values), within, degrees))
    corrected = holm([_p_value(within, degrees) for *_, within, degrees in pairs])
    return tuple(
        Agreement(measure, other, n, overall, interval_of(overall, n), within, interval_of(within, degrees), p)
        for (measure, other, n, overall, within, degrees), p in zip(pairs, corrected, strict=True)
    )


def agreement_by_class(table: pd.DataFrame) -> pd.DataFrame:
    """The same pairs within each class by itself: tidy rows of label, measure, other, n, rho, lower, upper and p_holm.

    Left out are classes with too few samples that both know, or where one of the two is constant.

    Examples
    --------
    >>> easy = np.arange(50.0)
    >>> two = pd.DataFrame({"id": easy, "label": ["a"] * 25 + ["b"] * 25, "confidence": easy})
    >>> agreement_by_class(two.assign(p_robust=np.where(easy < 25, easy, -easy)))[["label", "n", "rho"]].values.tolist()
    [['a', 25, 1.0], ['b', 25, -1.0]]
    """
    rows = []
    for label, own in table.groupby("label", sort=False):
        for measure, other in combinations(measures(table), 2):
            both = own[[measure, other]].dropna()
            n = len(both)
            rho = _correlation(*(both[name].to_numpy(dtype=float) for name in both)) if n >= FEWEST_COMPARED else np.nan
            if not np.isnan(rho):
                ends = interval_of(rho, n)
                rows.append((label, measure, other, n, rho, ends.lower, ends.upper, _p_value(rho, n)))
    columns = ["label", "measure", "other", "n", "rho", "lower", "upper", "p_holm"]
    classes = pd.DataFrame(rows, columns=columns)
    return classes.assign(p_holm=holm(classes["p_holm"].tolist()))


def interval_of(rho: float, n: int) -> Interval:
    """The 95 % interval of a rank correlation of n samples (Bonett & Wright 2000, on Fisher's scale).

    >>> interval_of(0.5, 103)
    Interval(lower=0.328..., upper=0.639...)
    """
    if n <= 3 or np.isnan(rho) or abs(rho) >= 1:
        return UNKNOWN
    ends = np.tanh(np.arctanh(rho) + np.array([-1, 1]) * Z * _se(rho, n))
    return Interval(float(ends[0]), float(ends[1]))


def in_words(pairs: tuple[Agreement, ...]) -> str:
    """How many pairs of methods call the same samples hard, and which two do so most.

    >>> in_words(())
    'Fewer than two methods have measured the same samples yet.'
    """
    if not pairs:
        return "Fewer than two methods have measured the same samples yet."
    agree = [each for each in pairs if each.agrees]
    if not agree:
        return f"No two of the methods agree significantly on which samples are hard ({_tested(pairs)})."
    most = max(agree, key=lambda each: each.within)
    closest = (
        f"{_spoken(most.measure)} and {_spoken(most.other)}, rank correlation "
        f"{ratio(most.within, most.within_interval)} within classes, n = {count(most.n)}"
    )
    if len(pairs) == 1:
        return f"Both methods call the same samples hard: {closest}."
    return f"{len(agree)} of {len(pairs)} pairs of methods agree significantly (Holm). The closest are {closest}."


def agreement_table(pairs: tuple[Agreement, ...]) -> pd.DataFrame:
    """Tidy rows: measure, other, n, rho with lower and upper; rho_within with lower and upper, p_holm."""
    return pd.DataFrame(
        [
            {
                "measure": each.measure,
                "other": each.other,
                "n": each.n,
                "rho": each.overall,
                **each.overall_interval.columns(),
                "rho_within": each.within,
                **each.within_interval.columns("within_"),
                "p_holm": each.p,
            }
            for each in pairs
        ]
    )


def _spoken(measure: str) -> str:
    return {"sigma_50": "sigma-50", "p_robust": "robustness to noise (p_robust)"}.get(measure, measure)


def _tested(pairs: tuple[Agreement, ...]) -> str:
    return f"Spearman, {len(pairs)} pairs, Holm" if len(pairs) > 1 else "Spearman"


def _correlation(x: Floats, y: Floats) -> float:
    return _pearson(*(pd.Series(values).rank().to_numpy() for values in (x, y)))


def _pearson(x: Floats, y: Floats) -> float:
    """NaN where either is constant, but for rounding."""
    if min(float(np.ptp(x)), float(np.ptp(y))) < 1e-12:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


def _se(rho: float, n: int) -> float:
    return float(np.sqrt((1 + rho**2 / 2) / (n - 3)))


def _p_value(rho: float, n: int) -> float:
    if np.isnan(rho) or n <= 3:
        return 1.0
    return 0.0 if abs(rho) >= 1 else float(2 * special.ndtr(-abs(np.arctanh(rho)) / _se(rho, n)))


# Which samples do all methods call weak, and are they weak on samples that did not choose them?
#
# A slice is a cluster (or a known source) of a class. One half of the samples chooses the slices in which held-out
# accuracy is low and every other method agrees; the other half says how low it is there, corrected for all that were
# chosen. So a slice that was weak by chance has a fair second look. The samples of a fold share a trained model, and
# its luck: how much that adds is seen between folds.

FEWEST = 10
"""Fewer samples of a slice in either half, and the slice is not looked at."""
MOST_CHOSEN = 5
CLUSTERS = 5
"""So many clusters has a class that is large enough for them."""
PER_CLUSTER = 40


@dataclass(frozen=True, eq=False)
class Slices:
    """The slice of every sample, as a code into `names`.

    `are_units` says that each is of one unit, of which alone is spoken: what else might have come are its samples.
    """

    codes: Codes
    names: tuple[str, ...]
    are_units: bool = False

    @property
    def of_samples(self) -> np.ndarray:
        """The slice of every sample by its name."""
        return np.array(self.names, dtype=object)[self.codes]


@dataclass(frozen=True)
class Weak:
    """A slice or class against all other samples: accuracy when held out, of `n` samples, and of the rest.

    `claim` is of the difference, positive where the slice is weaker. `beside` has for each other measure its mean in
    the slice and in the rest, on all samples that it knows, copies once (the median of sigma-50, which may be
    infinite), and the one-sided p-value of its being lower. `in_few_folds` says that too few models were tested on it
    to decide anything. `at_boundary` says how many of the slice's test samples lie at its class's boundary, and how
    many there are; None where no regions were drawn. `design` is that of the `n`.
    """

    name: str
    n: int
    accuracy: float
    interval: Interval
    rest: float
    claim: Claim
    beside: tuple[tuple[str, float, float, float], ...]
    in_few_folds: bool = False
    at_boundary: tuple[int, int] | None = None
    design: Design = EACH_SAMPLE

    @property
    def is_weak(self) -> bool:
        """Whether it is significantly weaker than the rest, by enough to be worth a sentence."""
        return self.claim.decision == "above"


def find_slices(dataset: Dataset, features: Float[np.ndarray, "n_samples n_features"]) -> Slices:
    """Give the known sources of each class, of all classes together where those are too small, or else clusters.

    Clusters are k-means' within a class: up to five, of some 40 samples or more each.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> wine = load_example("wine")
    >>> find_slices(wine, wine.x).names
    ('class “class_0”', 'class “class_1”', 'class “class_2”')
    """
    if dataset.sources is not None:
        sources = [f"source {quoted(source)}" for source in dataset.sources]
        classes = [f"class {quoted(dataset.class_names[label])}" for label in dataset.y]
        for names in ([f"{label}, {source}" for label, source in zip(classes, sources, strict=True)], sources):
            slices = _of_names(names)
            if np.median(np.bincount(slices.codes)) >= 2 * FEWEST:
                return replace(slices, are_units=dataset.sources_are_units)
    rng = np.random.default_rng(0)
    cluster = np.zeros(dataset.n_samples, dtype=np.int64)
    for label in range(dataset.n_classes):
        rows = np.flatnonzero(dataset.y == label)
        if len(rows):
            cluster[rows] = _clusters(features[rows], rng)
    return _of_names(
        [
            f"class {quoted(dataset.class_names[label])}" + (f", cluster {place}" if place else "")
            for label, place in zip(dataset.y, cluster, strict=True)
        ]
    )


def _of_names(names: Sequence[str]) -> Slices:
    known, codes = np.unique(np.array(names, dtype=object), return_inverse=True)
    return Slices(codes, tuple(known.tolist()))


def _clusters(features: Float[np.ndarray, "n n_features"], rng: np.random.Generator) -> Ints:
    """The cluster of each sample of a class, counted from 1; 0 where the class is too small for two."""
    n_clusters = min(CLUSTERS, len(features) // PER_CLUSTER, len(np.unique(features, axis=0)))
    if n_clusters < 2:
        return np.zeros(len(features), dtype=np.int64)
    return 1 + kmeans(features, n_clusters, rng)


def weak_slices(
    table: pd.DataFrame,
    tested: Mapping[str, pd.DataFrame],
    slices: Slices,
    *,
    rng: np.random.Generator,
    held_out: str | None = None,
    design: Design = EACH_SAMPLE,
) -> tuple[Weak, ...]:
    """The slices that one half of the samples chose, as the other half sees them; those that lose most come first.

    `table` is of `samples.known_of_samples`, `tested` of `held_out_by`, and `held_out` the column of the
    scheme that says who is correct when held out (`correct_on` by default); empty where there is none. A slice is
    chosen where held-out accuracy and every other measure (with five samples or more) lie below the average of the
    choosing half; of these, the five of lowest accuracy. Their p-values are corrected by Holm. Units are in one half.

    Examples
    --------
    >>> n, right = np.arange(200), [1.0] * 150 + [0.0, 1.0] * 25
    >>> table = pd.DataFrame({"id": n, "label": "a", "correct on Random folds": right})
    >>> tested = pd.DataFrame({"seed": 0, "fold": n % 5, "row": n, "right": right})
    >>> slices, rng = Slices(n // 50, ("one", "two", "three", "four")), np.random.default_rng(0)
    >>> weak = weak_slices(table, {"correct on Random folds": tested}, slices, rng=rng)
    >>> [(each.name, each.n, each.is_weak) for each in weak]
    [('four', 25, True)]
    """
    held_out = held_out or correct_on(table)
    if held_out is None:
        return ()
    known = _known(table, held_out)
    design = EACH_SAMPLE if slices.are_units else design
    chooses = _half(slices, known, rng) if design.codes is None else half_of_units(design.codes, known, rng)
    tells = known & ~chooses
    chosen = _chosen(table, held_out, slices, chooses, tells)
    groups = {name: slices.codes == code for code, name in enumerate(slices.names)}
    named = [slices.names[code] for code in chosen]
    return _compared(table, tested[held_out], held_out, groups, named, tells, "overview.weak_group", design)


def _half(slices: Slices, known: Bools, rng: np.random.Generator) -> Bools:
    """Mark half of the known samples of every slice."""
    chooses = np.zeros(len(known), dtype=bool)
    for code in range(len(slices.names)):
        rows = rng.permutation(np.flatnonzero(known & (slices.codes == code)))
        chooses[rows[: len(rows) // 2]] = True
    return chooses


def _chosen(table: pd.DataFrame, held_out: str, slices: Slices, chooses: Bools, tells: Bools) -> list[int]:
    codes = slices.codes[chooses]
    n_chooses, n_tells = (np.bincount(slices.codes[part], minlength=len(slices.names)) for part in (chooses, tells))
    below = np.minimum(n_chooses, n_tells) >= FEWEST
    for name in measures(table):
        ranks = table.loc[chooses, name].rank(pct=True)  # of infinite ones, too
        by_slice = ranks.groupby(codes).agg(["mean", "count"]).reindex(range(len(slices.names)))
        known = by_slice["count"].fillna(0).to_numpy() >= FEWEST // 2
        below &= (by_slice["mean"].to_numpy() < ranks.mean()) | ~known
    accuracy = table.loc[chooses, held_out].groupby(codes).mean()
    return sorted(np.flatnonzero(below).tolist(), key=lambda code: accuracy[code])[:MOST_CHOSEN]


def weak_classes(
    table: pd.DataFrame, tested: Mapping[str, pd.DataFrame], *, design: Design = EACH_SAMPLE
) -> tuple[Weak, ...]:
    """Every class against all others, the weakest first; empty where nobody knows who is correct when held out.

    Arguments are as in `weak_slices`.

    Examples
    --------
    >>> n, labels, right = np.arange(100), ["a"] * 50 + ["b"] * 50, [1.0] * 50 + [0.0, 1.0] * 25
    >>> table = pd.DataFrame({"id": n, "label": labels, "correct on Random folds": right})
    >>> tested = pd.DataFrame({"seed": 0, "fold": n % 5, "row": n, "right": right})
    >>> weak = weak_classes(table, {"correct on Random folds": tested})
    >>> [(each.name, each.accuracy, each.is_weak) for each in weak]
    [('class “b”', 0.5, True), ('class “a”', 1.0, False)]
    """
    held_out = correct_on(table)
    if held_out is None:
        return ()
    labels = table["label"].to_numpy()
    groups = {f"class {quoted(label)}": labels == label for label in dict.fromkeys(labels)}
    return _compared(
        table, tested[held_out], held_out, groups, list(groups), _known(table, held_out), "overview.weak_class", design
    )


def _known(table: pd.DataFrame, held_out: str) -> Bools:
    """The samples with a held-out prediction, copies once: both halves would know them, and n would be too large."""
    return table[held_out].notna().to_numpy() & _once(table)


def _once(table: pd.DataFrame) -> Bools:
    return ~table[IS_COPY].to_numpy(dtype=bool) if IS_COPY in table else np.ones(len(table), dtype=bool)


def _compared(
    table: pd.DataFrame,
    tested: pd.DataFrame,
    held_out: str,
    groups: Mapping[str, Bools],
    named: Sequence[str],
    tells: Bools,
    kind: str,
    design: Design,
) -> tuple[Weak, ...]:
    """Those groups that are `named` against all others, on samples that `tells` marks; the claims are of this `kind`.

    How lucky trainings are is learnt from all `groups`.
    """
    right = table[held_out].to_numpy(dtype=float)
    parts = {name: (right[tells & members], right[tells & ~members]) for name, members in groups.items()}
    enough = [name for name, part in parts.items() if min(map(len, part)) >= FEWEST]
    if not enough:
        return ()
    tested, once = tested.loc[tells[tested["row"].to_numpy()]], _once(table)
    rows, folds = tested["row"].to_numpy(), TrainedFolds.of(tested)
    effects = {name: _effect(right, tells, groups[name], design) for name in enough}
    moves = (_moves(*parts[name], tested["right"].to_numpy(), groups[name][rows]) for name in enough)
    errors = [folds.error_of(each).of_units(effects[name]) for name, each in zip(enough, moves, strict=True)]
    trainings = dict(zip(enough, moderated(errors), strict=True))
    spread = {name: folds.is_spread(groups[name][rows]) for name in enough}
    weak = []
    for name in named:
        if name not in trainings:
            continue
        members, (inside, outside) = groups[name], parts[name]
        beside = tuple(
            (other, *map(_middle, known), _p_lower(*known, design))
            for other in measures(table)
            for known in [[table.loc[once & part, other].dropna() for part in (members, ~members)]]
            if other != held_out and len(known[0]) >= FEWEST // 2
        )
        weak.append(
            Weak(
                name,
                len(inside),
                float(inside.mean()),
                _interval(inside, effects[name]),
                float(outside.mean()),
                _loss(kind, inside, outside, trainings[name] if spread[name] else UNTRIED, effects[name]),
                beside,
                not spread[name],
                _at_boundary(table, members),
                design.of(tells & members),
            )
        )
    claims = corrected([each.claim for each in weak])
    judged = [replace(each, claim=of_loss) for each, of_loss in zip(weak, claims, strict=True)]
    return tuple(sorted(judged, key=lambda each: -each.claim.estimate))


def _effect(right: Floats, tells: Bools, members: Bools, design: Design) -> Effect:
    """By how much units make less of the samples, for the difference of those inside and outside."""
    if design.codes is None:
        return NO_EFFECT
    parts = [tells & members, tells & ~members]
    units = units_of(*(design.codes[part] for part in parts))
    largest = max(float(sizes.max()) for sizes in units.sizes)
    if not units.enough:
        return Effect(largest, 0.0)
    moves = [sign * (right[part] - right[part].mean()) / part.sum() for sign, part in zip((-1, 1), parts, strict=True)]
    error, alone = units.error(*moves), sum(float((each**2).sum()) for each in moves)
    if alone == 0:
        return Effect(sum(units.n_samples) / sum(units.n), sum(units.n) - 2.0)
    return Effect(float(np.clip(error.se**2 / alone, 1.0, largest)), error.df)


def _moves(inside: np.ndarray, outside: np.ndarray, right: np.ndarray, is_inside: np.ndarray) -> np.ndarray:
    """What each prediction adds to the loss of those inside: over a fold, how far its model is off."""
    n = len(inside) + len(outside)
    return np.where(is_inside, (inside.mean() - right) * n / len(inside), (right - outside.mean()) * n / len(outside))


def _loss(
    kind: str, inside: np.ndarray, outside: np.ndarray, trainings: TrainingError, effect: Effect = NO_EFFECT
) -> Claim:
    """By how much samples inside are less often right than those outside, over samples (or units) and trainings."""
    n, loss = len(inside) + len(outside), float(outside.mean() - inside.mean())
    if not effect.df > 0:
        return claim(kind, loss, UNKNOWN, float("nan"))
    alone = replace(effect, df=np.inf)
    of_samples = apart(float(outside.mean()), _interval(outside, alone), float(inside.mean()), _interval(inside, alone))
    df = min(effect.df, n - 1.0)
    errors = [trainings.added_to(way / Z, df) for way in (loss - of_samples.lower, of_samples.upper - loss)]
    down, up = (half_width(se, df) for se, df in errors)
    lower, upper = np.clip([loss - down, loss + up], -1.0, 1.0).tolist()
    p = t_p_value(loss, *errors[0 if loss > 0 else 1])
    return claim(kind, loss, Interval(lower, upper), p)


def _interval(right: Floats, effect: Effect = NO_EFFECT) -> Interval:
    return wilson(float(right.sum()) / effect.times, len(right) / effect.times, df=effect.df)


def _p_lower(inside: pd.Series, outside: pd.Series, design: Design = EACH_SAMPLE) -> float:
    """The one-sided p-value of those inside having lower ranks of a measure (Mann-Whitney), units by their mean rank.

    Both are columns of one table, whose index says which sample a value is of.
    """
    from scipy.stats import mannwhitneyu, rankdata

    values = [inside.to_numpy(dtype=float), outside.to_numpy(dtype=float)]
    if design.codes is not None:
        ranks = rankdata(np.concatenate([inside, outside]))
        parts = zip(np.split(ranks, [len(inside)]), (inside.index.to_numpy(), outside.index.to_numpy()), strict=True)
        values = [mean_by(design.codes[rows], each) for each, rows in parts]
    return float(mannwhitneyu(*values, alternative="less").pvalue) if min(map(len, values)) else 1.0


def _at_boundary(table: pd.DataFrame, members: Bools) -> tuple[int, int] | None:
    """How many test samples of a group lie at a boundary, and how many there are."""
    if "region" not in table:
        return None
    regions = table.loc[members, "region"].dropna()
    return int(regions.isin(AT_BOUNDARY).sum()), len(regions)


def _middle(values: pd.Series) -> float:
    return float(values.median() if np.isinf(values).any() else values.mean())


def samples_of_weak(table: pd.DataFrame, slices: Slices, weak: Sequence[Weak]) -> pd.DataFrame:
    """The samples of the weak slices, as a list of tests or of labels to check: the least confident first."""
    names = [each.name for each in weak if each.is_weak]
    listed_samples = table.assign(slice=slices.of_samples)
    listed_samples = listed_samples[listed_samples["slice"].isin(names)]
    by = ["confidence"] if "confidence" in table else [str(correct_on(table))]
    return listed_samples.sort_values(by, kind="stable", na_position="last").reset_index(drop=True)


def hardness(table: pd.DataFrame) -> Codes:
    """How many methods put each sample into their lowest fifth, and not at their best; −1: none knows it.

    Examples
    --------
    >>> hardness(pd.DataFrame({"confidence": [0.2, 0.9, 0.8, None], "p_robust": [0.1, 1.0, None, None]}))
    array([ 2,  0,  0, -1])
    """
    lowest, known = np.zeros(len(table), dtype=np.int64), np.zeros(len(table), dtype=bool)
    for name in measures(table):
        values = table[name]
        bound = values.quantile(0.2, interpolation="lower")
        lowest += ((values <= bound) & (values < values.max())).to_numpy()
        known |= values.notna().to_numpy()
    return np.where(known, lowest, -1)


# What is said of weak groups and classes: a verdict, and their table in numbers and in words.


BOUNDARY = "Boundary tests"
_COVERED = "Intervals are over {} and trainings; of copies the first is used."
_IN_FEW_FOLDS = "What lies in few folds was tested by few models, and stays undecided."


def slices_verdict(weak: Sequence[Weak]) -> Verdict:
    """Which slices are weak, the weakest first, and what to do next.

    >>> slices_verdict(()).headline
    'No group of samples is below average by every method.'
    """
    if not weak:
        return Verdict("No group of samples is below average by every method.", "", "", ())
    checked, them = plural(len(weak), "group"), "it" if len(weak) == 1 else "them"
    used = f"{checked} checked on samples that did not choose {them} (Holm). {_covered(weak)}"
    sure = [each for each in weak if each.is_weak]
    claims = tuple(each.claim for each in [*sure, *(each for each in weak if not each.is_weak)])
    if not sure:
        return Verdict("No group of samples is significantly weaker than the rest.", used, "", (), claims)
    advice = f"Next: look at the samples of {sure[0].name}, and collect more like them."
    return Verdict(
        _loses(sure[0], "the rest"), used, advice, tuple(_loses(each, "the rest") for each in sure[1:]), claims
    )


def classes_verdict(classes: Sequence[Weak]) -> Verdict:
    """Which class to collect for, or that none stands out.

    >>> classes_verdict(()).headline
    'Undecided: no cluster folds have been computed, so nothing is known about held-out samples.'
    """
    claims = tuple(each.claim for each in classes)
    if not classes:
        nothing = "Undecided: no cluster folds have been computed, so nothing is known about held-out samples."
        return Verdict(nothing, "", "", ())
    used = f"{plural(len(classes), 'class', 'classes')}, Holm. {_covered(classes)}"
    first = classes[0]
    if not first.is_weak:
        return Verdict("No class is significantly weaker than the others.", used, "", (), claims)
    p_values = holm([p for *_, p in first.beside])
    lower = [
        _spoken_alone(name)
        for (name, inside, rest, _), p in zip(first.beside, p_values, strict=True)
        if p < LEVEL and inside < rest
    ]
    findings = (f"{_capital(first.name)} is also lower in {listed(lower, most=len(lower))}.",) if lower else ()
    return Verdict(_loses(first, "the others"), used, f"Next: collect samples of {first.name} first.", findings, claims)


def _loses(each: Weak, others: str) -> str:
    return (
        f"{_capital(each.name)} loses {points(each.claim.estimate, each.claim.interval)} against {others}: "
        f"{percent(each.accuracy)} when held out, n = {count(each.n)}{each.design.by}."
    )


def _covered(weak: Sequence[Weak]) -> str:
    covered = _COVERED.format(weak[0].design.others)
    return f"{covered} {_IN_FEW_FOLDS}" if any(each.in_few_folds for each in weak) else covered


def weak_table(weak: Sequence[Weak]) -> pd.DataFrame:
    """Tidy rows: name, n, accuracy with lower and upper, rest, loss with lower and upper, p_holm, and every measure.

    Where regions are known also n_at_boundary, of n_test test samples.
    """
    return pd.DataFrame(
        [
            {
                "name": each.name,
                "n": each.n,
                "accuracy": each.accuracy,
                **each.interval.columns(),
                "rest": each.rest,
                "loss": each.claim.estimate,
                **each.claim.interval.columns("loss_"),
                "p_holm": each.claim.p_value,
                **{name: inside for name, inside, *_ in each.beside},
                **(dict(zip(("n_at_boundary", "n_test"), each.at_boundary, strict=True)) if each.at_boundary else {}),
            }
            for each in weak
        ]
    )


def weak_lines(weak: Sequence[Weak]) -> pd.DataFrame:
    """The same in words, for the screen: a line for each, with every measure beside that of the rest."""
    columns = list(dict.fromkeys(name for each in weak for name, *_ in each.beside))
    lines = []
    for each in weak:
        beside = {name: f"{_measured(name, inside)} ({_measured(name, rest)})" for name, inside, rest, _ in each.beside}
        lines.append(
            {
                "Samples": _capital(each.name),
                "n": count(each.n),
                "Held-out accuracy": percent(each.accuracy, each.interval),
                "Loss (points)": points(each.claim.estimate, each.claim.interval).replace(" points", ""),
                "p (Holm)": "" if np.isnan(each.claim.p_value) else bare_p(each.claim.p_value),
                **{_heading(name): beside.get(name, "") for name in columns},
                **({BOUNDARY: " of ".join(map(count, each.at_boundary))} if each.at_boundary else {}),
            }
        )
    return pd.DataFrame(lines)


def _measured(name: str, value: float) -> str:
    if name.startswith(CORRECT):
        return percent(value)
    return "> range" if np.isinf(value) else bare(value, 3)


def _spoken_alone(name: str) -> str:
    return {"sigma_50": "sigma-50", "p_robust": "p_robust"}.get(name, name.replace("correct on", "accuracy on"))


def _heading(name: str) -> str:
    return "p_robust" if name == "p_robust" else _capital(_spoken_alone(name).removeprefix("accuracy on "))


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]
