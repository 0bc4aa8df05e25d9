"""How robust is each sample and each class at each sigma? Read off the rows that a run has come to so far.

All that is said is over samples: other samples of the same data might have come, the model is as it is. Means over
samples rest on a few fresh draws of each, counted, whose luck is in their intervals and whose bias is none; the numbers
of single samples are the estimator's, and what these may be off the audit below says.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from math import pi, sqrt

import numpy as np
import pandas as pd

from touchstone.core.data.values import Floats, Ints
from touchstone.core.evaluate.average_case import ESTIMATORS, facts_of
from touchstone.core.evaluate.average_case.class_means import (
    ClassGap,
    Measured,
    bounded_mean,
    class_means,
    mean_of,
    share_of,
)
from touchstone.core.evaluate.average_case.estimators import PAIRED_COPIES, PAPER_COPIES
from touchstone.core.evaluate.average_case.monte_carlo import looked_through
from touchstone.core.evaluate.intervals import UNKNOWN, Interval, holm, share_difference, wilson
from touchstone.core.evaluate.units import EACH_SAMPLE, Design, mean_by

# How far off are the analytic estimators on this model? Held against Monte-Carlo on a random part of the samples.
#
# Monte-Carlo counts, so it has no bias, but luck: an estimator that were exact would still differ from it by what its
# number of draws leaves, which stands beside every error (figure 2a and table 1 of Han et al. 2024).

MONTE_CARLO, PLAIN = "monte_carlo", "mmse_plain"
_NUMBERS: dict[str, type] = dict.fromkeys(("row", "label"), np.int64)
_NUMBERS |= dict.fromkeys(("sigma", "p_robust", "lower", "upper"), np.float64)
_NUMBERS |= {"n_draws": np.int64, "seconds": np.float64}


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
        at, pairs = self.beside[self.beside["sigma"] == sigma], []
        rows_of = {name: rows[["row", "p_robust"]] for name, rows in at.groupby("estimator")}
        for sigmoid in self.names:
            cdf = facts_of(sigmoid).sigmoid_of
            if cdf in rows_of and sigmoid in rows_of:
                both = rows_of[cdf].merge(rows_of[sigmoid], on="row", suffixes=("_cdf", "_sigmoid"))
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
    means = _Means(np.random.default_rng(seed), design)
    audited = _typed(audited, _NUMBERS | {"estimator": str})
    truth = audited[(audited["estimator"] == MONTE_CARLO) & audited["p_robust"].notna()]
    counted = truth[list(_NUMBERS)].sort_values(["sigma", "row"], ignore_index=True)
    beside = _beside(audited[audited["estimator"] != MONTE_CARLO], counted)
    estimators = [_audited(part, means) for _, part in beside.groupby(["estimator", "sigma"], sort=False)]
    copies = _beside(_typed(converging, _NUMBERS | {"estimator": str}), counted)
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
    return replace(size, interval=Interval(max(size.interval.lower, 0.0), size.interval.upper))


def _bias(part: pd.DataFrame, means: "_Means") -> Measured:
    return means.of(_off(part), part["row"])


def _flat(audited: AuditedEstimator | Converging) -> dict[str, object]:
    cells: dict[str, object] = {}
    for each in fields(audited):
        value = getattr(audited, each.name)
        if isinstance(value, Measured):
            cells |= {each.name: value.value, **value.interval.columns(f"{each.name}_"), "n": value.n}
        else:
            cells[each.name] = value
    return cells


# How robust is each sample and each class at each sigma?


DECIMALS = 3
RESOLUTION = 10.0**-DECIMALS
"""What the normal probabilities resolve: a p_robust nearer to 1 counts as 1, and one nearer to another as equal."""
FEWEST_FOR_TEST = 5
"""Samples that a class needs to take part in the Kruskal-Wallis test."""
FEWEST_FOR_FIFTHS = 100
"""Of fifths of 12 samples Newcombe's interval leaves out 0 in 6.4 % where accuracies are alike, of 20 in 5.3."""
CONFIDENCE = "softmax"


@dataclass(frozen=True)
class Fifths:
    """Accuracy among the fifth of samples with the lowest p_robust (or confidence) and the fifth with the highest.

    `low` and `high` are the largest value of the one and the least of the other; `difference` is sturdy less fragile.
    """

    fragile: Measured
    sturdy: Measured
    difference: Measured
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class AtSigma:
    """What is known at one sigma. `p_value` is of Kruskal and Wallis's test that classes are alike, Holm over sigma."""

    sigma: float
    n: int
    n_unknown: int
    """Samples for which the estimator gave no number."""
    n_draws: int | None
    """How many fresh draws of each sample `mean` and `classes` rest on; None: on the estimator's numbers."""
    mean: Measured
    below_one: Measured
    """Share of samples whose prediction noise changes at least once in a thousand copies."""
    classes: tuple[Measured, ...]
    gap: ClassGap | None
    p_value: float
    p_holm: float
    by_robustness: Fifths | None
    by_confidence: Fifths | None
    agreement: Measured
    """Spearman's rank correlation of p_robust and softmax confidence."""


@dataclass(frozen=True, eq=False)
class Robustness:
    """All that the rows of a run tell: per sample (`samples`), per sigma, and how good the numbers are (`audit`).

    `samples` has a row for every sample and sigma: `row` (position in the data set), `label` and `predicted` (codes),
    `sigma, p_robust, error, confidence, n_draws, converged, degenerate`.
    """

    class_names: tuple[str, ...]
    estimator: str
    samples: pd.DataFrame
    by_sigma: tuple[AtSigma, ...]
    audit: Audit
    n_failed: int
    half: pd.DataFrame = field(default_factory=lambda: _half(None))
    """A row for each sample: `row, label, predicted, sigma_50, lower, upper, n_draws`; infinite beyond the range."""
    tried: tuple[str, ...] = ()
    """The estimators that all samples have, of which `estimator` is one: the closest in the audit."""
    along: pd.DataFrame = field(default_factory=lambda: _along(None))
    """A row for each sample, sigma and named direction: `row, label, sigma, direction, p_robust`."""
    counted: pd.DataFrame = field(default_factory=lambda: _counted(None))
    """What means rest on, `row, sigma, p_robust`: shares of fresh draws of each sample, where they were counted."""
    design: Design = EACH_SAMPLE
    """How the samples of the whole data set came about."""

    @cached_property
    def half_by_class(self) -> tuple[Measured, ...]:
        """The median sigma-50 of every class, by code; infinite where more than half hold beyond the range."""
        labels, values = self.half["label"].to_numpy(), self.half["sigma_50"].to_numpy()
        design = self.design.of(self.half["row"].to_numpy())
        classes = (labels == code for code in range(len(self.class_names)))
        return tuple(median_of(values[members], design.of(members)) for members in classes)

    @property
    def half_draws(self) -> int:
        """How many noisy copies of a sample sigma-50 rests on; 0 where it was not looked for."""
        return int(self.half["n_draws"].max()) if len(self.half) else 0

    @property
    def furthest(self) -> float:
        """The largest sigma that sigma-50 was looked for at."""
        return looked_through(self.sigmas)[1]

    def directions_at(self, sigma: float) -> dict[str, tuple[Measured, ...]]:
        """Of each named direction, in the order of the rows, the mean share that keeps its prediction by class."""
        at, means = self.along[self.along["sigma"] == sigma], {}
        for name, rows in at.groupby("direction", sort=False):
            p, y = rows["p_robust"].to_numpy(), rows["label"].to_numpy()
            design, classes = self.design.of(rows["row"].to_numpy()), range(len(self.class_names))
            means[str(name)] = tuple(bounded_mean(p[y == code], design.of(y == code)) for code in classes)
        return means

    def direction_table(self) -> pd.DataFrame:
        """Tidy rows: sigma, direction, label, n, p_robust along it with its interval."""
        return pd.DataFrame(
            [
                {"sigma": sigma, "direction": name, "label": label, "n": mean.n, "p_robust": mean.value}
                | mean.interval.columns()
                for sigma in self.sigmas
                for name, means in self.directions_at(sigma).items()
                for label, mean in zip(self.class_names, means, strict=True)
            ]
        )

    @cached_property
    def sigmas(self) -> tuple[float, ...]:
        """The sigmas that there are samples for, rising."""
        return tuple(at.sigma for at in self.by_sigma)

    def at(self, sigma: float) -> AtSigma:
        """What is known at this sigma."""
        return next(each for each in self.by_sigma if each.sigma == sigma)

    def samples_at(self, sigma: float) -> pd.DataFrame:
        """The rows of `samples` at one sigma, in the order of the data set."""
        return self.samples[self.samples["sigma"] == sigma].sort_values("row", kind="stable", ignore_index=True)

    def shares_at(self, sigma: float) -> pd.Series:
        """By row, what the mean at one sigma is of: counted shares of fresh draws, or else the estimator's p_robust."""
        rows = self.counted if len(self.counted) else self.samples
        return rows[rows["sigma"] == sigma].set_index("row")["p_robust"].astype(float).dropna()

    def table(self, ids: np.ndarray | None = None) -> pd.DataFrame:
        """Tidy rows of everything per sample and sigma, classes by name, with Monte-Carlo's answer where it audited.

        `ids` are those of the whole data set, by position.
        """
        names = np.array(self.class_names, dtype=object)
        samples = self.samples.copy()
        if ids is not None:
            samples.insert(0, "id", np.asarray(ids, dtype=object)[samples["row"].to_numpy()])
        samples["correct"] = samples["label"] == samples["predicted"]
        for column in ("label", "predicted"):
            samples[column] = names[samples[column].to_numpy()]
        samples.insert(samples.columns.get_loc("p_robust"), "estimator", self.estimator)
        counted = self.audit.counted[["row", "sigma", "p_robust", "lower", "upper"]]
        counted = counted.rename(columns={name: f"monte_carlo_{name}" for name in ("p_robust", "lower", "upper")})
        samples = samples.merge(counted, on=["row", "sigma"], how="left")
        half = self.half[["row", "sigma_50", "lower", "upper"]]
        half = half.rename(columns={"lower": "sigma_50_lower", "upper": "sigma_50_upper"})
        return samples.merge(half, on="row", how="left").sort_values(["sigma", "row"], ignore_index=True)

    def class_table(self) -> pd.DataFrame:
        """Tidy rows: sigma, label, n, mean p_robust with its interval, p-value (Holm) of the sigma, median sigma-50."""
        return pd.DataFrame(
            [
                {
                    "sigma": at.sigma,
                    "label": name,
                    "n": mean.n,
                    "p_robust": mean.value,
                    **mean.interval.columns(),
                    "p_kruskal_wallis_holm": at.p_holm,
                    "sigma_50": half.value,
                    **half.interval.columns("sigma_50_"),
                }
                for at in self.by_sigma
                for name, mean, half in zip(self.class_names, at.classes, self.half_by_class, strict=True)
            ]
        )

    def extremes(self, sigma: float, label: int, *, by: str, n: int = 4) -> tuple[np.ndarray, np.ndarray]:
        """The rows (positions) of a class with the lowest and with the highest `by`: "p_robust" or "confidence".

        Where p_robust is alike to a thousandth, its mean over all sigmas decides, so that the most robust are those
        that stay so.
        """
        every = self.samples[self.samples["label"] == label]
        overall = every.groupby("row")["p_robust"].mean()
        candidates = every[(every["sigma"] == sigma) & every[by].notna()]
        rows = candidates["row"].to_numpy()
        digits = 3 if by == "p_robust" else 9
        order = rows[np.lexsort((rows, overall.loc[rows].to_numpy(), candidates[by].round(digits).to_numpy()))]
        n = min(n, len(order) // 2) if len(order) > 1 else len(order)
        return order[:n], order[::-1][:n]


def evaluate_robustness(
    rows: pd.DataFrame,
    *,
    class_names: Sequence[str],
    estimator: str | None = None,
    seed: int = 0,
    design: Design = EACH_SAMPLE,
) -> Robustness:
    """Evaluate the rows of an `AverageCasePlan` as far as they have come.

    `estimator` names the one that p_robust is taken from; by default the closest in the audit of those in the rows that
    are not softmax, or the first of them. Failed trials are counted and left out. The same rows give the same
    answer: `seed` is that of the bootstrap. `design` is that of the whole data set; all intervals are over its units.

    Examples
    --------
    >>> rows = pd.DataFrame({"part": "samples", "row": [0, 1], "label": [0, 1], "sigma": 0.1, "estimator": "mmse",
    ...     "predicted": [0, 0], "p_robust": [1.0, 0.6], "error": 0.0, "lower": np.nan, "upper": np.nan, "n_draws": 6,
    ...     "converged": True, "degenerate": False, "seconds": 0.01, "status": "ok"})
    >>> found = evaluate_robustness(rows, class_names=("plum", "melon"))
    >>> found.estimator, found.at(0.1).mean.value, found.at(0.1).below_one.value
    ('mmse', 0.8, 0.5)
    """
    done = rows[rows["status"] == "ok"] if len(rows) else rows
    parts = dict(iter(done.groupby("part"))) if len(done) else {}
    main = parts.get("samples", pd.DataFrame())
    names = [name for name in dict.fromkeys(main["estimator"]) if name != CONFIDENCE] if len(main) else []
    audit = audit_of(parts.get("audit"), parts.get("convergence"), seed=seed, design=design)
    estimator = estimator or audit.closest(names)
    samples = _samples(main, estimator)
    counts = dict(iter(parts["counted"].groupby("sigma"))) if "counted" in parts else {}
    at = [
        _at(part, counts.get(sigma), float(sigma), len(class_names), np.random.default_rng([seed, place]), design)
        for place, (sigma, part) in enumerate(samples.groupby("sigma"))
    ]
    corrected = holm([each.p_value for each in at])
    by_sigma = tuple(replace(each, p_holm=p) for each, p in zip(at, corrected, strict=True))
    n_failed = int((rows["status"] == "failed").sum()) if len(rows) else 0
    half, along, counted = _half(parts.get("half")), _along(parts.get("directions")), _counted(parts.get("counted"))
    return Robustness(
        tuple(class_names), estimator, samples, by_sigma, audit, n_failed, half, tuple(names), along, counted, design
    )


def _samples(main: pd.DataFrame, estimator: str) -> pd.DataFrame:
    """One row for each sample and sigma: what the estimator says, and the confidence."""
    columns = ("row", "label", "predicted", "sigma", "p_robust", "error", "confidence")
    columns = (*columns, "n_draws", "converged", "degenerate")
    plain: dict[str, type] = dict.fromkeys(("row", "label", "predicted", "n_draws"), np.int64)
    plain |= dict.fromkeys(("sigma", "p_robust", "error"), np.float64)
    plain |= dict.fromkeys(("converged", "degenerate"), bool)
    if not len(main):
        return pd.DataFrame({name: pd.Series(dtype=plain.get(name, np.float64)) for name in columns})
    samples = main[main["estimator"] == estimator].astype(plain)
    sure = main.loc[main["estimator"] == CONFIDENCE, ["row", "sigma", "p_robust"]].astype(np.float64)
    samples = samples.merge(sure.rename(columns={"p_robust": "confidence"}), on=["row", "sigma"], how="left")
    return samples[list(columns)].sort_values(["sigma", "row"], ignore_index=True)


def _half(rows: pd.DataFrame | None) -> pd.DataFrame:
    columns = dict.fromkeys(("row", "label", "predicted", "n_draws"), np.int64)
    columns |= dict.fromkeys(("sigma_50", "lower", "upper"), np.float64)
    return _typed(rows, columns, sigma="sigma_50").sort_values("row", ignore_index=True)


def _along(rows: pd.DataFrame | None) -> pd.DataFrame:
    columns = {"row": np.int64, "label": np.int64, "sigma": np.float64, "direction": str, "p_robust": np.float64}
    return _typed(rows, columns, estimator="direction").reset_index(drop=True)


def _counted(rows: pd.DataFrame | None) -> pd.DataFrame:
    columns = {"row": np.int64, "sigma": np.float64, "p_robust": np.float64}
    return _typed(rows, columns).sort_values(["sigma", "row"], ignore_index=True)


def _typed(rows: pd.DataFrame | None, columns: dict[str, type], **called: str) -> pd.DataFrame:
    """These columns of rows, some of which are called otherwise there; empty where there are no rows yet."""
    if rows is None:
        return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in columns.items()})
    return rows.rename(columns=called)[list(columns)].astype(columns)


def _at(
    part: pd.DataFrame,
    counts: pd.DataFrame | None,
    sigma: float,
    n_classes: int,
    rng: np.random.Generator,
    design: Design,
) -> AtSigma:
    known = part[part["p_robust"].notna()]
    p, y = known["p_robust"].to_numpy(), known["label"].to_numpy()
    sure, correct = known["confidence"].to_numpy(), y == known["predicted"].to_numpy()
    of_means = known if counts is None else counts[counts["p_robust"].notna()]
    shares = of_means["p_robust"].to_numpy(dtype=np.float64)
    labels, design_of_means = of_means["label"].to_numpy(dtype=np.int64), design.of(of_means["row"].to_numpy())
    by_class = class_means(shares, labels, n_classes, rng=rng, design=design_of_means)
    design = design.of(known["row"].to_numpy())
    share = share_of(p < 1.0 - RESOLUTION, design)
    return AtSigma(
        sigma=sigma,
        n=len(p),
        n_unknown=len(part) - len(p),
        n_draws=None if counts is None else int(counts["n_draws"].max()),
        mean=bounded_mean(shares, design_of_means),
        below_one=share,
        classes=by_class.means,
        gap=by_class.gap,
        p_value=kruskal_wallis(p, y, design),
        p_holm=float("nan"),
        by_robustness=accuracy_of_fifths(p, correct, design),
        by_confidence=None if np.isnan(sure).any() else accuracy_of_fifths(sure, correct, design),
        agreement=rank_correlation(p, sure, design),
    )


def kruskal_wallis(p: Floats, y: Ints, design: Design = EACH_SAMPLE) -> float:
    """The p-value of Kruskal and Wallis's test that all classes have the same distribution.

    Values that are equal to a thousandth are ties: what lies below is the integral's error and not the model's. Classes
    of fewer than 5 samples are left out. NaN where fewer than two classes are left, 1 where nothing differs. Where
    samples came in units, the mean rank of each unit in each class counts once.

    Examples
    --------
    >>> y = np.repeat([0, 1], 10)
    >>> kruskal_wallis(np.where(y == 0, 0.2, 0.9), y) < 0.001, kruskal_wallis(np.ones(20) - 1e-5 * y, y)
    (True, 1.0)
    """
    from scipy.stats import kruskal, rankdata

    rounded = np.round(p, DECIMALS)
    if design.codes is not None and len(np.unique(rounded)) > 1:
        cell = y * (int(design.codes.max()) + 1) + design.codes
        rounded, y = mean_by(cell, rankdata(rounded)), np.unique(cell) // (int(design.codes.max()) + 1)
    groups = [rounded[y == code] for code in np.unique(y)]
    groups = [group for group in groups if len(group) >= FEWEST_FOR_TEST]
    if len(groups) < 2:
        return float("nan")
    if len(np.unique(np.concatenate(groups))) == 1:
        return 1.0
    return float(kruskal(*groups).pvalue)


def median_of(values: Floats, design: Design = EACH_SAMPLE) -> Measured:
    """The median with its 95 % interval by order statistics, for any distribution; infinite values are high.

    Examples
    --------
    >>> median_of(np.r_[np.arange(1.0, 10.0), np.inf])
    Measured(value=5.5, interval=Interval(lower=2.0, upper=9.0), n=10)
    """
    from scipy.stats import binom

    n = len(values)
    if not n:
        return Measured(float("nan"))
    ranked = np.sort(values)
    middle = ranked[(n - 1) // 2 : n // 2 + 1]
    value = float(middle.mean()) if np.isfinite(middle).all() else float("inf")
    above = (values > value).astype(np.float64)
    worth = design.effect((above - above.mean()) / n).worth(n)
    if not worth >= 1:
        return Measured(value, UNKNOWN, n)
    below = int(binom.ppf(0.025, int(worth), 0.5)) - 1  # so many of n lie below the median in 2.5 % of cases at most
    below = below * n // int(worth)
    return Measured(value, Interval(float(ranked[below]), float(ranked[n - 1 - below])) if below >= 0 else UNKNOWN, n)


def accuracy_of_fifths(by: Floats, correct: np.ndarray, design: Design = EACH_SAMPLE) -> Fifths | None:
    """Accuracy among the fragile and the sturdy fifth of the samples; None for fewer than 100 samples.

    Samples that differ by less than a thousandth are ties: where a fifth ends among them, each counts as the mean of
    them, for which of them stands first in a file says nothing.

    Examples
    --------
    >>> by = np.linspace(0, 1, 100)
    >>> fifths = accuracy_of_fifths(by, by > 0.1)
    >>> fifths.fragile.value, fifths.sturdy.value
    (0.5, 1.0)
    """
    if len(by) < FEWEST_FOR_FIFTHS:
        return None
    n, order = len(by) // 5, np.argsort(by, kind="stable")
    low, high = order[:n], order[-n:]
    _, group = np.unique(np.round(by, DECIMALS), return_inverse=True)
    share = np.bincount(group, weights=correct) / np.bincount(group)
    k_low, k_high = float(share[group[low]].sum()), float(share[group[high]].sum())
    effects = [design.of(part).effect((share[group[part]] - k / n) / n) for part, k in ((low, k_low), (high, k_high))]
    n_low, n_high = (effect.worth(n) for effect in effects)
    fragile = Measured(k_low / n, wilson(k_low * (n_low / n), n_low), n)
    sturdy = Measured(k_high / n, wilson(k_high * (n_high / n), n_high), n)
    apart = share_difference(k_high * (n_high / n), n_high, k_low * (n_low / n), n_low)
    difference = Measured(sturdy.value - fragile.value, apart, 2 * n)
    return Fifths(fragile, sturdy, difference, float(by[low].max()), float(by[high].min()))


def rank_correlation(first: Floats, second: Floats, design: Design = EACH_SAMPLE) -> Measured:
    """Spearman's rank correlation with Bonett and Wright's interval; NaN where one of them does not vary.

    Examples
    --------
    >>> rank_correlation(np.arange(9.0), np.arange(9.0)[::-1]).value
    -1.0
    """
    from scipy.stats import rankdata

    both = ~(np.isnan(first) | np.isnan(second))
    # Rounded first: values that differ by less than a thousandth are ties, not an order.
    ranks = [rankdata(np.round(values[both], DECIMALS)) for values in (first, second)]
    n = int(both.sum())
    if n < 4 or min(float(np.ptp(rank)) for rank in ranks) == 0:
        return Measured(float("nan"), UNKNOWN, n)
    r = float(np.clip(np.corrcoef(*ranks)[0, 1], -1.0, 1.0))
    if abs(r) == 1.0:
        return Measured(r, Interval(r, r), n)
    # Bonett and Wright (2000): Fisher's z of ranks varies by more than 1 / (n - 3), the more the larger r is.
    worth = design.of(both).effect(_pull_of_ranks(ranks, r)).worth(n) if not design.by_sample else n
    half = 1.959964 * np.sqrt((1 + r**2 / 2) / (worth - 3)) if worth > 4 else np.nan
    return Measured(r, Interval(float(np.tanh(np.arctanh(r) - half)), float(np.tanh(np.arctanh(r) + half))), n)


def _pull_of_ranks(ranks: list[np.ndarray], r: float) -> np.ndarray:
    """How far each sample moves a correlation."""
    first, second = ((rank - rank.mean()) / rank.std() for rank in ranks)
    return (first * second - r * (first**2 + second**2) / 2) / len(first)
