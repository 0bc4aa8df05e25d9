"""What is known of each sample, over all questions, and do the methods agree on which samples are hard?

Each question looks at samples in its own way: whether a model trained without a sample's fold gets it right, whether
noise changes the prediction, how confident a model is. Here they stand side by side, a row for each sample.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy import special

from touchstone.core.data import Dataset
from touchstone.core.data.dataset import duplicate_groups
from touchstone.core.evaluate.average_case.robustness import Robustness
from touchstone.core.evaluate.calibration import bin_of
from touchstone.core.evaluate.cluster_folds import scheme_title
from touchstone.core.evaluate.cluster_folds.tested import FoldPredictions
from touchstone.core.evaluate.data_sets import NearCopies
from touchstone.core.evaluate.intervals import UNKNOWN, Interval, holm
from touchstone.core.evaluate.wording import count, ratio

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
_Z = special.ndtri(0.975)


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
        overall = _correlation(*values)
        by_class = both.groupby("label")
        ranks = [by_class[name].rank(pct=True).to_numpy() for name in (measure, other)]
        # Not ranked again: ties would lie a little higher in one class than in the next, and look like an order.
        within = _pearson(*(each - _mean_by_class(each, both["label"]) for each in ranks))
        degrees = len(both) - both["label"].nunique() + 1
        pairs.append((measure, other, len(both), overall, within, degrees))
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
    rows: list[dict[str, object]] = []
    for label, own in table.groupby("label", sort=False):
        for measure, other in combinations(measures(table), 2):
            both = own[[measure, other]].dropna()
            n = len(both)
            rho = _correlation(*(both[name].to_numpy(dtype=float) for name in both)) if n >= FEWEST_COMPARED else np.nan
            if not np.isnan(rho):
                ends, p = interval_of(rho, n), _p_value(rho, n)
                known = {"rho": rho, "lower": ends.lower, "upper": ends.upper, "p_holm": p}
                rows.append({"label": label, "measure": measure, "other": other, "n": n, **known})
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
    ends = np.tanh(np.arctanh(rho) + np.array([-1, 1]) * _Z * _se(rho, n))
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
                "lower": each.overall_interval.lower,
                "upper": each.overall_interval.upper,
                "rho_within": each.within,
                "within_lower": each.within_interval.lower,
                "within_upper": each.within_interval.upper,
                "p_holm": each.p,
            }
            for each in pairs
        ]
    )


def _spoken(measure: str) -> str:
    return {"sigma_50": "sigma-50", "p_robust": "robustness to noise (p_robust)"}.get(measure, measure)


def _tested(pairs: tuple[Agreement, ...]) -> str:
    return f"Spearman, {len(pairs)} pairs, Holm" if len(pairs) > 1 else "Spearman"


def _correlation(x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"]) -> float:
    return _pearson(*(pd.Series(values).rank().to_numpy() for values in (x, y)))


def _pearson(x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"]) -> float:
    """NaN where either is constant, but for rounding."""
    if min(float(np.ptp(x)), float(np.ptp(y))) < 1e-12:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


def _mean_by_class(values: Float[np.ndarray, " n"], label: pd.Series) -> Float[np.ndarray, " n"]:
    return pd.Series(values).groupby(label.to_numpy()).transform("mean").to_numpy()


def _se(rho: float, n: int) -> float:
    return float(np.sqrt((1 + rho**2 / 2) / (n - 3)))


def _p_value(rho: float, n: int) -> float:
    if np.isnan(rho) or n <= 3:
        return 1.0
    return 0.0 if abs(rho) >= 1 else float(2 * special.ndtr(-abs(np.arctanh(rho)) / _se(rho, n)))
