"""How far off are the analytic estimators on this model? Held against Monte-Carlo on a random part of the samples.

Monte-Carlo counts, so it has no bias, but luck: an estimator that were exact would still differ from it by what its
number of draws leaves, which stands beside every error (figure 2a and table 1 of Han et al. 2024).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from math import pi, sqrt

import numpy as np
import pandas as pd

from touchstone.core.evaluate.average_case import ESTIMATORS, facts_of
from touchstone.core.evaluate.average_case.class_means import Measured, mean_of, share_of
from touchstone.core.evaluate.average_case.estimators import PAIRED_COPIES, PAPER_COPIES
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.units import EACH_SAMPLE, Design

MONTE_CARLO, PLAIN = "monte_carlo", "mmse_plain"


@dataclass(frozen=True)
class AuditedEstimator:
    """One estimator against Monte-Carlo at one sigma: differences over the audited samples, time per sample.

    `bias` is estimator less Monte-Carlo, `relative` the absolute error over Monte-Carlo's p_robust where that is above
    0, `inside` the share of samples where the estimate lies within Monte-Carlo's exact interval.
    """

    sigma: float
    estimator: str
    error: Measured
    bias: Measured
    relative: Measured
    inside: Measured
    largest: float
    by_luck: float
    """The mean absolute error that an exact estimator would show, by the luck of Monte-Carlo's draws alone."""
    seconds: float
    monte_carlo_seconds: float
    n_draws: float
    """Monte-Carlo's, mean over the samples."""


@dataclass(frozen=True)
class Converging:
    """An estimator with `n_copies` noisy copies against Monte-Carlo."""

    sigma: float
    estimator: str
    n_copies: int
    error: Measured
    bias: Measured


@dataclass(frozen=True)
class PaperClaim:
    """That MMSE with plain noise converges around N = 5 and is closer than Taylor, tried on the audited samples.

    `plain_less_taylor` and `paired_less_taylor` are differences of absolute errors sample by sample: below 0 where MMSE
    is closer; of plain noise with N = 5, and of 6 antithetic copies. `many` and `many_less_taylor` are those of plain
    noise with `n_many` copies, as the paper has 500, where the audit was asked for more than it follows by itself.
    """

    sigma: float
    taylor: Measured
    plain: Measured
    paired: Measured
    plain_less_taylor: Measured
    paired_less_taylor: Measured
    p_plain: float
    """Of the first of these differences, with drawn signs (`flipped_p`)."""
    n_many: int = 0
    many: Measured | None = None
    many_less_taylor: Measured | None = None


@dataclass(frozen=True, eq=False)
class Audit:
    """What Monte-Carlo counted (`counted`), every estimator beside it, and some by their number of copies.

    `counted` has a row for each audited sample and sigma: `row, label, sigma, p_robust, lower, upper, n_draws` and
    `seconds`; `beside` has one for each estimator, too: `row, sigma, estimator, p_robust, counted`.
    """

    counted: pd.DataFrame
    beside: pd.DataFrame
    estimators: tuple[AuditedEstimator, ...]
    convergence: tuple[Converging, ...]
    paper: PaperClaim | None

    def of(self, estimator: str, sigma: float) -> AuditedEstimator | None:
        """One estimator at one sigma, if it was audited."""
        return next((each for each in self.estimators if (each.estimator, each.sigma) == (estimator, sigma)), None)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The audited estimators, in the order of the registry."""
        return in_order(audited.estimator for audited in self.estimators)

    def closest(self, names: Sequence[str]) -> str:
        """The one of these estimators with the least mean error over the sigmas; the first where not all were audited.

        >>> audit_of(None, None).closest(["mmse", "taylor"]), audit_of(None, None).closest([])
        ('mmse', '')
        """
        sigmas = {audited.sigma for audited in self.estimators}
        errors = {
            name: [audited.error.value for audited in self.estimators if audited.estimator == name] for name in names
        }
        if not sigmas or any(len(at_sigmas) < len(sigmas) for at_sigmas in errors.values()):
            return names[0] if names else ""
        return min(names, key=lambda name: sum(errors[name]), default="")

    def table(self) -> pd.DataFrame:
        """Tidy rows, one per estimator and sigma; of each measured number the ends of its interval, too."""
        return pd.DataFrame([_flat(audited) for audited in self.estimators])

    def convergence_table(self) -> pd.DataFrame:
        """Tidy rows, one per estimator and number of copies."""
        return pd.DataFrame([_flat(converging) for converging in self.convergence])

    def sigmoids(self, sigma: float) -> pd.DataFrame:
        """Pairs `row, by, cdf, sigmoid`: the same margins in the normal distribution function and its stand-in `by`."""
        at = self.beside[self.beside["sigma"] == sigma] if len(self.beside) else self.beside
        pairs = []
        for sigmoid in self.names:
            cdf = facts_of(sigmoid).sigmoid_of
            if cdf is None:
                continue
            cdf_rows = at.loc[at["estimator"] == cdf, ["row", "p_robust"]] if len(at) else pd.DataFrame()
            sigmoid_rows = at.loc[at["estimator"] == sigmoid, ["row", "p_robust"]] if len(at) else pd.DataFrame()
            if len(cdf_rows) and len(sigmoid_rows):
                both = cdf_rows.merge(sigmoid_rows, on="row", suffixes=("_cdf", "_sigmoid"))
                pairs.append(both.assign(by=sigmoid).rename(columns=lambda name: name.removeprefix("p_robust_")))
        empty = pd.DataFrame({"row": [], "by": [], "cdf": [], "sigmoid": []})
        return pd.concat(pairs, ignore_index=True) if pairs else empty


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Each name once, in the order of the registry; those that it does not know come last.

    >>> in_order(["softmax", "long gone", "mmse", "softmax"])
    ('mmse', 'softmax', 'long gone')
    """
    once = dict.fromkeys(names)
    return (*(name for name in ESTIMATORS if name in once), *(name for name in once if name not in ESTIMATORS))


def audit_of(
    audited: pd.DataFrame | None, converging: pd.DataFrame | None, *, seed: int = 0, design: Design = EACH_SAMPLE
) -> Audit:
    """Hold the audited rows of a plan against Monte-Carlo's; either part may be missing still.

    Examples
    --------
    >>> audit_of(None, None).estimators
    ()
    """
    columns = ("row", "label", "sigma", "p_robust", "lower", "upper", "n_draws", "seconds")
    means = _Means(np.random.default_rng(seed), design)
    audited = _plain(audited)
    truth = audited[(audited["estimator"] == MONTE_CARLO) & audited["p_robust"].notna()]
    counted = truth[list(columns)].sort_values(["sigma", "row"], ignore_index=True)
    beside = _beside(audited[audited["estimator"] != MONTE_CARLO], counted)
    estimators = [_audited(part, means) for _, part in beside.groupby(["estimator", "sigma"], sort=False)]
    copies = _beside(_plain(converging), counted)
    curve = [_converging(part, means) for _, part in copies.groupby(["estimator", "sigma", "n_draws"])]
    return Audit(counted, beside, tuple(estimators), tuple(curve), _paper(beside, copies, means))


@dataclass(frozen=True, eq=False)
class _Means:
    """Means over audited samples, with errors over their units."""

    rng: np.random.Generator
    design: Design

    def of(self, values: np.ndarray, rows: Iterable[int]) -> Measured:
        """The mean of values, one of each of these rows."""
        return mean_of(values, rng=self.rng, design=self.design.of(np.asarray(rows)))

    def by_unit(self, values: np.ndarray, rows: Iterable[int]) -> np.ndarray:
        """The sum of each unit's values."""
        codes = self.design.of(np.asarray(rows)).codes
        return values if codes is None else np.bincount(np.unique(codes, return_inverse=True)[1], weights=values)


def _plain(rows: pd.DataFrame | None) -> pd.DataFrame:
    numbers = ("row", "label", "sigma", "p_robust", "lower", "upper", "n_draws", "seconds")
    if rows is None or not len(rows):
        return pd.DataFrame({name: pd.Series(dtype=np.float64) for name in numbers} | {"estimator": []})
    kinds = {name: np.int64 if name in ("row", "label", "n_draws") else np.float64 for name in numbers}
    return rows[[*numbers, "estimator"]].astype(kinds)


def _beside(rows: pd.DataFrame, counted: pd.DataFrame) -> pd.DataFrame:
    """Estimates with Monte-Carlo's answer for the same sample and sigma beside them."""
    names = {"p_robust": "counted", "n_draws": "counted_draws", "seconds": "counted_seconds"}
    truth = counted.drop(columns=["label"]).rename(columns=names)
    rows = rows.drop(columns=["lower", "upper", "label"])
    return rows[rows["p_robust"].notna()].merge(truth, on=["row", "sigma"], how="inner")


def _converging(part: pd.DataFrame, means: "_Means") -> Converging:
    first = part.iloc[0]
    name, n_copies = str(first["estimator"]), int(first["n_draws"])
    return Converging(float(first["sigma"]), name, n_copies, _error(part, means), _bias(part, means))


def _paper(beside: pd.DataFrame, copies: pd.DataFrame, means: "_Means") -> PaperClaim | None:
    if not len(copies):
        return None
    sigma = float(copies["sigma"].iloc[0])
    taylor = beside[(beside["estimator"] == "taylor") & (beside["sigma"] == sigma)]
    off = {"taylor": taylor.assign(off=np.abs(_off(taylor))).set_index("row")["off"]}
    plain = copies[copies["estimator"] == PLAIN]
    n_many = int(plain["n_draws"].max()) if len(plain) else 0
    asked = [("plain", PLAIN, PAPER_COPIES), ("paired", "mmse", PAIRED_COPIES)]
    if n_many > max(facts_of(PLAIN).copies):
        asked.append(("many", PLAIN, n_many))
    for name, estimator, n in asked:
        part = copies[(copies["estimator"] == estimator) & (copies["n_draws"] == n)]
        off[name] = part.assign(off=np.abs(_off(part))).set_index("row")["off"]
    both = pd.DataFrame(off).dropna()
    if not len(both):
        return None
    errors = {name: _no_less_than_nothing(means.of(both[name].to_numpy(), both.index)) for name in off}
    apart = {name: (both[name] - both["taylor"]).to_numpy() for name, _, _ in asked}
    less = {f"{name}_less_taylor": means.of(values, both.index) for name, values in apart.items()}
    p_plain = flipped_p(means.by_unit(apart["plain"], both.index), rng=means.rng)
    return PaperClaim(sigma, **errors, **less, p_plain=p_plain, n_many=n_many if "many" in errors else 0)


def flipped_p(values: np.ndarray, *, rng: np.random.Generator, n_flips: int = 999) -> float:
    """Two-sided p-value of a mean of 0: how often is it as far off where the sign of each difference is drawn?

    Exact where differences lie alike around 0, however few of them are not 0.

    >>> flipped_p(np.array([0.0, 0.0, 0.1, 0.2, 0.1]), rng=np.random.default_rng(0)) > 0.1
    True
    """
    some = values[values != 0]
    if not len(some):
        return 1.0
    drawn = rng.choice([-1.0, 1.0], size=(n_flips, len(some))) @ some
    return (1 + int((np.abs(drawn) >= abs(float(some.sum())) * (1 - 1e-9)).sum())) / (1 + n_flips)


def _audited(part: pd.DataFrame, means: "_Means") -> AuditedEstimator:
    off, truth = _off(part), part["counted"].to_numpy()
    inside = part["p_robust"].between(part["lower"] - 1e-9, part["upper"] + 1e-9).to_numpy(dtype=bool)
    spread = np.sqrt(truth * (1 - truth) / part["counted_draws"].to_numpy())
    return AuditedEstimator(
        sigma=float(part["sigma"].iloc[0]),
        estimator=str(part["estimator"].iloc[0]),
        error=_error(part, means),
        bias=_bias(part, means),
        relative=_no_less_than_nothing(means.of(np.abs(off[truth > 0]) / truth[truth > 0], part["row"][truth > 0])),
        inside=share_of(inside, means.design.of(part["row"].to_numpy())),
        largest=float(np.abs(off).max()),
        by_luck=float(spread.mean() * sqrt(2 / pi)),
        seconds=float(part["seconds"].mean()),
        monte_carlo_seconds=float(part["counted_seconds"].mean()),
        n_draws=float(part["counted_draws"].mean()),
    )


def _off(part: pd.DataFrame) -> np.ndarray:
    return (part["p_robust"] - part["counted"]).to_numpy(dtype=np.float64)


def _error(part: pd.DataFrame, means: "_Means") -> Measured:
    return _no_less_than_nothing(means.of(np.abs(_off(part)), part["row"]))


def _no_less_than_nothing(size: Measured) -> Measured:
    """The mean of absolute values is no less than 0, whatever its interval's arithmetic says."""
    lower = np.fmax(size.interval.lower, 0.0) if size.interval.known else size.interval.lower
    return Measured(size.value, Interval(float(lower), size.interval.upper), size.n)


def _bias(part: pd.DataFrame, means: "_Means") -> Measured:
    return means.of(_off(part), part["row"])


def _flat(audited: AuditedEstimator | Converging) -> dict[str, object]:
    cells: dict[str, object] = {}
    for field in fields(audited):
        value = getattr(audited, field.name)
        if isinstance(value, Measured):
            cells |= {field.name: value.value, f"{field.name}_lower": value.interval.lower}
            cells |= {f"{field.name}_upper": value.interval.upper, "n": value.n}
        else:
            cells[field.name] = value
    return cells
