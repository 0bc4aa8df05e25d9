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

from core.data import Dataset
from core.evaluate.average_case.robustness import Robustness
from core.evaluate.cluster_folds import scheme_title
from core.evaluate.cluster_folds.tested import FoldPredictions
from core.evaluate.intervals import UNKNOWN, Interval, holm
from core.evaluate.wording import count, listed, ratio

LEVEL = 0.05
FEWEST = 20
"""With fewer samples in common no rank correlation is given."""
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
    dataset: Dataset, *, folds: FoldPredictions | None = None, robustness: Robustness | None = None
) -> pd.DataFrame:
    """A row for each sample: its id and label, then every measure that is known, higher where a sample is easier.

    "Correct on ... folds" is the share of models and seeds that predict it correctly when its fold is held out; the
    others are of one model: `confidence`, `p_robust` at the middle sigma, and `sigma_50`, how much noise it takes
    (infinite beyond the range). What was not measured of a sample is missing.
    """
    names = np.array(dataset.class_names, dtype=object)
    table = pd.DataFrame({"id": dataset.ids, "label": names[dataset.y]})
    if folds is not None and not folds.rows.empty:
        tested = folds.rows.dropna(subset=["row", "y_pred"])
        rows = tested["row"].to_numpy(dtype=np.int64)
        correct = pd.Series(tested["y_pred"].to_numpy(dtype=np.int64) == dataset.y[rows], dtype=float)
        for scheme in tested["scheme"].unique():
            mine = (tested["scheme"] == scheme).to_numpy()
            share = correct[mine].groupby(rows[mine]).mean()
            table[f"correct on {scheme_title(scheme)} folds"] = share.reindex(range(len(table))).to_numpy()
    if robustness is not None and robustness.sigmas:
        middle = robustness.samples_at(robustness.sigmas[len(robustness.sigmas) // 2]).set_index("row")
        for name in ("confidence", "p_robust"):
            table[name] = middle[name].reindex(range(len(table))).to_numpy(dtype=float)
        if len(robustness.half):
            half = robustness.half.set_index("row")["sigma_50"]
            table["sigma_50"] = half.reindex(range(len(table))).to_numpy(dtype=float)
    return table


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
    for measure, other in combinations(table.columns.drop(["id", "label"]), 2):
        both = table.dropna(subset=[measure, other])
        values = [both[name].to_numpy(dtype=float) for name in (measure, other)]
        if len(both) < FEWEST or any(np.unique(each).size < 2 for each in values):
            continue
        overall = _correlation(*values)
        by_class = both.groupby("label")
        ranks = [by_class[name].rank(pct=True).to_numpy() for name in (measure, other)]
        within = _correlation(*(each - _mean_by_class(each, both["label"]) for each in ranks))
        degrees = len(both) - both["label"].nunique() + 1
        pairs.append((measure, other, len(both), overall, within, degrees))
    corrected = holm([_p_value(within, degrees) for *_, within, degrees in pairs])
    return tuple(
        Agreement(measure, other, n, overall, interval_of(overall, n), within, interval_of(within, degrees), p)
        for (measure, other, n, overall, within, degrees), p in zip(pairs, corrected, strict=True)
    )


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
    """Which methods call the same samples hard, the closest first."""
    if not pairs:
        return "Fewer than two methods have measured the same samples yet."
    agree = sorted((each for each in pairs if each.agrees), key=lambda each: -each.within)
    if not agree:
        return f"No two of the methods agree significantly on which samples are hard ({_tested(pairs)})."
    said = [
        f"{_spoken(each.measure)} and {_spoken(each.other)} {ratio(each.within, each.within_interval)}, "
        f"n = {count(each.n)}"
        for each in agree
    ]
    return f"Rank correlations within classes: {listed(said, most=len(said))} ({_tested(pairs)})."


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
    ranks = [pd.Series(values).rank().to_numpy() for values in (x, y)]
    if any(np.ptp(each) == 0 for each in ranks):
        return float("nan")
    return float(np.corrcoef(*ranks)[0, 1])


def _mean_by_class(values: Float[np.ndarray, " n"], label: pd.Series) -> Float[np.ndarray, " n"]:
    return pd.Series(values).groupby(label.to_numpy()).transform("mean").to_numpy()


def _se(rho: float, n: int) -> float:
    return float(np.sqrt((1 + rho**2 / 2) / (n - 3)))


def _p_value(rho: float, n: int) -> float:
    if np.isnan(rho) or n <= 3:
        return 1.0
    return 0.0 if abs(rho) >= 1 else float(2 * special.ndtr(-abs(np.arctanh(rho)) / _se(rho, n)))
