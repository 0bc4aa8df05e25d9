"""Is the model right as often as it is sure? Functions of arrays: how sure of each sample, and whether it was right.

`calibration(...)` gathers all there is to say of one subset; the parts can be had alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import hypot, isnan, sqrt
from typing import Literal

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer, Num
from scipy import special

from touchstone.core.data.predictions.record import Predictions
from touchstone.core.data.values import Bools, Floats, Ints
from touchstone.core.evaluate.intervals import UNKNOWN, Interval, clopper_pearson, holm, p_of_interval, wilson, within
from touchstone.core.evaluate.units import EACH_SAMPLE, Design, Units, Z
from touchstone.core.evaluate.wording import count, listed, percent, plural, quoted

# What is the Brier score made of? Miscalibration, discrimination, uncertainty (Dimitriadis et al. 2021).


@dataclass(frozen=True)
class Brier:
    """`score` = `miscalibration` - `discrimination` + `uncertainty`, exactly; all NaN without a sample."""

    score: float
    miscalibration: float
    """What isotonic recalibration of the very same predictions would save."""
    discrimination: float
    """What the recalibrated predictions save against saying the mean for every sample."""
    uncertainty: float
    """What saying the mean for every sample costs."""


def brier_score(confidence: Floats, correct: Bools) -> Brier:
    """Of one event (being right, or being of one class): the CORP decomposition by isotonic regression.

    Examples
    --------
    >>> found = brier_score(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, True, False, True]))
    >>> round(found.score, 3), round(found.miscalibration - found.discrimination + found.uncertainty, 3)
    (0.175, 0.175)
    """
    if not len(confidence):
        return Brier(*[float("nan")] * 4)
    event = correct.astype(np.float64)
    score = float(((confidence - event) ** 2).mean())
    recalibrated = float(((isotonic(confidence, correct) - event) ** 2).mean())
    uncertainty = float(((event.mean() - event) ** 2).mean())
    return Brier(score, score - recalibrated, uncertainty - recalibrated, uncertainty)


def isotonic(confidence: Floats, correct: Bools) -> Floats:
    """Confidences recalibrated on the very same samples: the best fit that never falls as confidence grows."""
    from sklearn.isotonic import IsotonicRegression

    # Equal confidences must get one value, also where they differ by less than sklearn's tolerance: ranks do.
    rank = np.unique(confidence, return_inverse=True)[1]
    return IsotonicRegression().fit_transform(rank.astype(np.float64), correct.astype(np.float64))


# How often is the model right when it is this sure? Bins of a reliability diagram, and what pure luck would do.


Binning = Literal["mass", "width"]
N_BINS = 15
FEWEST_PER_BIN = 10
"""Of bins of equal mass: fewer bins rather than emptier ones."""
N_NULL = 2000
CHUNKS = 64


@dataclass(frozen=True)
class Bin:
    """Samples of about the same confidence. `lower` and `upper` are the ends of the bin, `n` may be 0 (NaN then)."""

    lower: float
    upper: float
    n: int
    confidence: float
    """Mean confidence."""
    accuracy: float
    interval: Interval
    """Wilson's, of the accuracy."""
    perfect: Interval
    """Where the accuracy of a perfectly calibrated model would lie 95 times in 100, at this n."""


def bin_of(
    confidence: Floats, *, binning: Binning = "mass", n_bins: int = N_BINS
) -> tuple[Ints, Float[np.ndarray, " n_edges"]]:
    """The bin of every sample, and the edges of the bins.

    "width": equal steps from 0 to 1, each with its upper edge, the first also with its lower one. "mass": about equally
    many samples in each, but equal confidences are never parted, so that there may be fewer bins than asked for.

    Examples
    --------
    >>> index, edges = bin_of(np.array([0.0, 0.5, 0.51, 1.0]), binning="width", n_bins=2)
    >>> index.tolist(), edges.tolist()
    ([0, 0, 1, 1], [0.0, 0.5, 1.0])
    >>> bin_of(np.array([0.2] * 10 + [0.9] * 30))[0].tolist() == [0] * 10 + [1] * 30
    True
    """
    if binning == "width":
        edges = np.linspace(0.0, 1.0, n_bins + 1)
        return np.maximum(np.searchsorted(edges, confidence, side="left") - 1, 0), edges
    if len(confidence) == 0:
        return np.zeros(0, dtype=np.int64), np.array([0.0, 1.0])
    n_bins = max(1, min(n_bins, len(confidence) // FEWEST_PER_BIN))
    values, inverse, counts = np.unique(confidence, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    # Of a bin's middle rank: monotone in the value, so that bins are ranges; empty ones are closed up.
    bins = np.unique((n_bins * middle / len(confidence)).astype(np.int64), return_inverse=True)[1]
    starts = np.flatnonzero(np.diff(bins)) + 1
    between = (values[starts - 1] + values[starts]) / 2
    return bins[inverse], np.concatenate([values[:1], between, values[-1:]])


def sums(index: np.ndarray, weights: np.ndarray, n_bins: int) -> Float[np.ndarray, " n_bins"]:
    """Sum of `weights` in each bin."""
    return np.bincount(index, weights=weights, minlength=n_bins).astype(np.float64)  # of nothing it makes integers


def correct_if_perfect(
    confidence: Floats, index: Ints, n_bins: int, *, n_draws: int = N_NULL, rng: np.random.Generator
) -> Integer[np.ndarray, "n_draws n_bins"]:
    """How many of each bin a perfectly calibrated model gets right, `n_draws` times over.

    Each sample is right with its own confidence. A bin's samples are drawn in up to 64 chunks of about the same
    confidence, each binomial with its mean: exact in bins of up to 64 samples, and as good as exact above, at a cost
    that does not grow with n.
    """
    right = np.zeros((n_draws, n_bins), dtype=np.int64)
    order = np.lexsort((confidence, index))
    starts = np.searchsorted(index[order], np.arange(n_bins + 1))
    for i in range(n_bins):
        sure = confidence[order[starts[i] : starts[i + 1]]]
        if len(sure) == 0:
            continue
        # A sum of Bernoullis of about one probability is binomial; samples are sorted, so that a chunk's are alike.
        cuts = np.linspace(0, len(sure), min(CHUNKS, len(sure)) + 1).astype(np.int64)
        size = np.diff(cuts)
        mean = np.minimum(np.add.reduceat(sure, cuts[:-1]) / size, 1.0)
        right[:, i] = rng.binomial(size, mean, size=(n_draws, len(size))).sum(axis=1)
    return right


def not_by_units(
    perfect: Integer[np.ndarray, "n_draws n_bins"], confidence: Floats, event: Bools, index: Ints, design: Design
) -> Num[np.ndarray, "n_draws n_bins"]:
    """What perfectly calibrated models get right in each bin, farther off where samples of a unit are off together."""
    times = design.effect((event - confidence) / max(len(confidence), 1)).times
    if times == 1.0:
        return perfect
    expected = sums(index, confidence, perfect.shape[1])
    return expected + np.sqrt(times) * (perfect - expected)


def bins_of(
    confidence: Floats,
    correct: Bools,
    index: Ints,
    edges: Float[np.ndarray, " n_edges"],
    perfect: Num[np.ndarray, "n_draws n_bins"],
    design: Design = EACH_SAMPLE,
) -> tuple[Bin, ...]:
    """The bins as they are shown, empty ones included; their intervals are over the units of the design."""
    n_bins = len(edges) - 1
    n = np.bincount(index, minlength=n_bins)
    sure, right = sums(index, confidence, n_bins), sums(index, correct.astype(np.float64), n_bins)
    low, high = np.percentile(perfect, [2.5, 97.5], axis=0)
    with np.errstate(invalid="ignore"):  # NaN in an empty bin
        low, high, mean, share = (np.where(n > 0, each / n, np.nan).tolist() for each in (low, high, sure, right))
    bins = []
    for i in range(n_bins):
        mine = index == i
        interval, band = design.of(mine).wilson(correct[mine]), Interval(low[i], high[i])
        bins.append(Bin(float(edges[i]), float(edges[i + 1]), int(n[i]), mean[i], share[i], interval, band))
    return tuple(bins)


GRID = 4096


def binned_error(confidence: Floats, correct: Bools, index: Ints, n_bins: int) -> float:
    """Expected calibration error (Guo et al. 2017, equation 3): mean distance of accuracy and confidence over bins."""
    return (
        float(np.abs(sums(index, correct - confidence, n_bins)).sum() / len(confidence)) if len(confidence) else np.nan
    )


def expected_calibration_error(
    confidence: Floats, correct: Bools, *, binning: Binning = "mass", n_bins: int = N_BINS
) -> float:
    """The same in bins of its own. It is never 0 at a finite n, not even for a perfect model: see `calibration`.

    Examples
    --------
    >>> sure, right = np.array([0.9, 0.9, 0.6, 0.6]), np.array([True, True, True, False])
    >>> round(expected_calibration_error(sure, right, binning="width"), 3)
    0.1
    """
    index, edges = bin_of(confidence, binning=binning, n_bins=n_bins)
    return binned_error(confidence, correct, index, len(edges) - 1)


def debiased_squared_error(confidence: Floats, correct: Bools, index: Ints, n_bins: int) -> float:
    """Mean squared distance of accuracy and confidence over bins, less what chance adds (Kumar et al. 2019, 5).

    Of a perfect model it is 0 on average, hence negative half of the time. Bins of one sample are left out: nothing
    tells their share of chance.
    """
    n = np.bincount(index, minlength=n_bins)
    use = n > 1
    if not use.any():
        return float("nan")
    right, sure = sums(index, correct.astype(np.float64), n_bins)[use] / n[use], sums(index, confidence, n_bins)[use]
    squared = (right - sure / n[use]) ** 2 - right * (1 - right) / (n[use] - 1)
    return float((n[use] * squared).sum() / n[use].sum())


def smooth_error(confidence: Floats, correct: Bools) -> float:
    """Smooth calibration error (Blasiok & Nakkiran 2024): no bins, and its bandwidth follows from the data.

    Residuals are smoothed by a Gaussian that is reflected at 0 and 1; the error is their mean size at the bandwidth
    that equals it. On a grid the reflected Gaussian is a damping of cosines.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sure = rng.random(50_000)
    >>> round(smooth_error(sure, rng.random(50_000) < sure), 2), round(smooth_error(sure, rng.random(50_000) < 0.5), 2)
    (0.01, 0.21)
    """
    if not len(confidence):
        return float("nan")
    from scipy import fft

    residual = spread_on_grid(confidence, (correct - confidence) / len(confidence))
    cosines = fft.dct(residual, norm="ortho")
    low, high = 1e-4, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        smooth = fft.idct(cosines * damping(middle), norm="ortho")
        low, high = (middle, high) if np.abs(smooth).sum() > middle else (low, middle)
    return high


def spread_on_grid(confidence: Floats, weights: Floats) -> Float[np.ndarray, " grid"]:
    """Weights at the middles of 4,096 cells of [0, 1], each shared by the two nearest."""
    at = np.clip(confidence * GRID - 0.5, 0.0, GRID - 1.0)
    left = np.minimum(at.astype(np.int64), GRID - 2)
    part = at - left
    grid = np.bincount(left, weights=weights * (1 - part), minlength=GRID)
    return grid + np.bincount(left + 1, weights=weights * part, minlength=GRID)


def damping(bandwidth: float) -> Float[np.ndarray, " grid"]:
    """What a reflected Gaussian does to each cosine on [0, 1]."""
    return np.exp(-0.5 * (np.pi * np.arange(GRID) * bandwidth) ** 2)


# Two curves without bins: where confidences lie, and how accuracy grows when the least sure are set aside.


N_POINTS = 256
NARROWEST = 0.01


SURE = 0.99
LOGIT_END = 6.0
"""Logits to the base of 10 are drawn up to here: 99.9999 %, about what 32 bits hold."""


def mostly_sure(confidence: Floats) -> bool:
    """Whether more than half lie above .99: a linear scale would show them as one line, a logit scale does not.

    Examples
    --------
    >>> mostly_sure(np.array([0.5, 0.9999, 1.0])), mostly_sure(np.array([0.5, 0.9, 1.0])), mostly_sure(np.zeros(0))
    (True, False, False)
    """
    return bool(2 * (confidence > SURE).sum() > len(confidence))


def logit(confidence: Floats) -> Floats:
    """Log-odds to the base of 10, within -6 and 6: a step is another nine.

    Examples
    --------
    >>> logit(np.array([0.5, 10 / 11, 1.0])).round(6).tolist()
    [0.0, 1.0, 6.0]
    """
    with np.errstate(divide="ignore"):
        return np.clip(np.log10(confidence) - np.log10(1 - confidence), -LOGIT_END, LOGIT_END)


def density(confidence: Floats) -> tuple[Float[np.ndarray, " points"], Float[np.ndarray, " points"]]:
    """Density of the confidences on [0, 1] (figure 5b): a Gaussian reflected at both ends, so that none leaks out.

    Its bandwidth is Silverman's, at least .01. Places and densities; the density is 0 without a sample.

    Examples
    --------
    >>> at, height = density(np.array([0.9, 0.95, 1.0]))
    >>> round(float(height.mean()), 2), bool(height[0] < height[-1])
    (1.0, True)
    """
    from scipy import fft

    at = (np.arange(N_POINTS) + 0.5) / N_POINTS
    n = len(confidence)
    if not n:
        return at, np.zeros(N_POINTS)
    quarters = np.percentile(confidence, [25, 75])
    width = min(float(np.std(confidence)), float(np.diff(quarters)[0]) / 1.349 or np.inf)
    grid = spread_on_grid(confidence, np.full(n, 1 / n))
    # A Gaussian reflected at both ends is a damping of cosines: each wave by exp(-(bandwidth x frequency)^2 / 2).
    damped = fft.dct(grid, norm="ortho") * damping(max(0.9 * width * n**-0.2, NARROWEST))
    smooth = np.asarray(fft.idct(damped, norm="ortho"))
    return at, np.maximum(smooth.reshape(N_POINTS, GRID // N_POINTS).mean(axis=1) * GRID, 0.0)


def logit_density(confidence: Floats) -> tuple[Float[np.ndarray, " points"], Float[np.ndarray, " points"]]:
    """The same on the logit scale: places as confidences, densities for each step of `logit`.

    Examples
    --------
    >>> at, height = logit_density(np.array([0.999, 0.9999, 0.99999]))
    >>> bool(0.999 < at[np.argmax(height)] < 0.99999)
    True
    """
    share, height = density((logit(confidence) + LOGIT_END) / (2 * LOGIT_END))
    return 1 / (1 + 10 ** (LOGIT_END - 2 * LOGIT_END * share)), height / (2 * LOGIT_END)


@dataclass(frozen=True)
class CoveragePoint:
    """Accuracy of the `n` samples that the model is surest of: all whose confidence is at least `confidence`."""

    coverage: float
    n: int
    confidence: float
    accuracy: float
    interval: Interval


def accuracy_by_coverage(
    confidence: Floats, correct: Bools, *, n_points: int = 100, design: Design = EACH_SAMPLE
) -> tuple[CoveragePoint, ...]:
    """How accuracy grows as the least confident are set aside; equal confidences stay or go together.

    Intervals are over the units of the design, by what these are worth in the whole set.

    Examples
    --------
    >>> [(p.coverage, p.accuracy) for p in accuracy_by_coverage(np.array([0.9, 0.5]), np.array([True, False]))]
    [(0.5, 1.0), (1.0, 0.5)]
    """
    n = len(confidence)
    if not n:
        return ()
    order = np.argsort(-confidence, kind="stable")
    sure, right = confidence[order], np.cumsum(correct[order])
    last = np.flatnonzero(np.diff(sure, append=-1.0))
    wanted = np.searchsorted(last, np.linspace(0, n - 1, min(n_points, n)).astype(np.int64))
    effect = design.effect((correct - correct.mean()) / n)
    return tuple(
        CoveragePoint(
            coverage=float((k + 1) / n),
            n=int(k + 1),
            confidence=float(sure[k]),
            accuracy=float(right[k] / (k + 1)),
            interval=wilson(float(right[k]) / effect.times, float(k + 1) / effect.times, df=effect.df),
        )
        for k in np.unique(last[wanted])
    )


# Is a model as often right as it says? Mean confidence less accuracy, with an interval that holds near 0 and 1, too.


PSEUDO = 4.0
"""So many wrong samples, as sure as confidences say, are counted in where the variance of the difference is taken."""


@dataclass(frozen=True)
class Overconfidence:
    """Mean confidence less accuracy: positive is overconfident. `p_value` is of "calibrated on average"."""

    value: float
    interval: Interval
    p_value: float
    confidence: float
    accuracy: float
    n: int


def overconfidence(confidence: Floats, correct: Bools, units: Units, *, place: int = 0) -> Overconfidence:
    """Of samples whose units are those of set `place` of `units`; unknown with fewer than five of these.

    Examples
    --------
    >>> from touchstone.core.evaluate.units import samples_as_units
    >>> sure = overconfidence(np.full(200, 0.99), np.arange(200) >= 15, samples_as_units(200))
    >>> round(sure.value, 3), round(sure.interval.lower, 3), round(sure.interval.upper, 3)
    (0.065, 0.032, 0.111)
    """
    n, mean, accuracy = len(correct), float(confidence.mean()), float(correct.mean())
    if n < 2 or units.n[place] < min(5, n):
        return Overconfidence(mean - accuracy, UNKNOWN, float("nan"), mean, accuracy, n)
    off = confidence - correct - (mean - accuracy)
    as_confident = (
        float((confidence * (1 - confidence)).mean()) / max(mean * (1 - mean), 1e-12) if 0 < mean < 1 else 1.0
    )
    varies = (float((off**2).sum()) + PSEUDO * min(as_confident, 1.0)) / (n * accuracy * (1 - accuracy) + PSEUDO)
    alike, wider = _alike(off / n, units, place)
    size = n / max(min(varies, 1.0), 1e-9) / (alike * wider**2)
    lower, upper = clopper_pearson(accuracy * size, size, 0.05)
    if varies > 1:  # what confidences add to the variance of right answers is no share's, and a sum's by hypotenuse
        extra = (varies - 1) * (accuracy * (1 - accuracy) + PSEUDO / n)
        kurtosis = float((off**4).mean()) / max(float((off**2).mean()) ** 2, 1e-300)
        known = 2 * n / max(kurtosis - 1, 2.0)  # a variance of rare large values is known as from fewer samples
        more = max(float(special.stdtrit(known, 0.975)), Z * wider) * sqrt(extra * alike / n)
        interval = Interval(
            mean - accuracy - hypot(more, upper - accuracy), mean - accuracy + hypot(more, accuracy - lower)
        )
        p = p_of_interval(mean - accuracy, interval)
        return Overconfidence(mean - accuracy, within(interval, -1.0, 1.0), p, mean, accuracy, n)
    right, wrong = accuracy * size, (1 - accuracy) * size
    below = float(special.betainc(wrong, right + 1, 1 - mean)) if wrong > 0 else 1.0  # so few right, or fewer
    above = float(special.betainc(right, wrong + 1, mean)) if right > 0 else 1.0
    p = min(2 * min(above, below), 1.0)
    return Overconfidence(mean - accuracy, Interval(mean - upper, mean - lower), p, mean, accuracy, n)


def _alike(influence: Floats, units: Units, place: int) -> tuple[float, float]:
    """How much more a mean varies because samples of a unit are alike, and Student's quantile to the normal one's."""
    n = len(influence)
    if units.n[place] == n:
        return 1.0, float(special.stdtrit(n - 1.0, 0.975)) / Z
    empty = [np.zeros(each) for each in units.n_samples]
    empty[place] = influence
    error, independent = units.error(*empty), float((influence**2).sum())
    alike = error.se**2 / independent if independent > 0 and error.df > 0 else n / units.n[place]
    df = max(units.n[place] - 1.0, 1.0)
    return max(alike, 1.0), float(special.stdtrit(df, 0.975)) / Z


# All there is to say about the calibration of one subset.


@dataclass(frozen=True)
class Calibration:
    """One subset. Errors are fractions, and NaN where there is no sample."""

    n: int
    accuracy: float
    interval: Interval
    """Wilson's, of the accuracy."""
    mean_confidence: float
    binning: Binning
    bins: tuple[Bin, ...]
    ece: float
    """Expected calibration error in these bins; means little without the next two."""
    ece_if_perfect: float
    """Median that a perfectly calibrated model would show, at these confidences and this n."""
    ece_if_perfect_95: float
    """95 % of such models would show less."""
    p_value: float
    """Share of such models that would show as much or more."""
    squared_error: float
    """Debiased: 0 on average for a perfect model, so it may be negative."""
    smooth_ece: float
    brier: Brier

    @property
    def sentence(self) -> str:
        """The error beside what luck alone would do."""
        if not self.n:
            return "No samples, so calibration is unknown."
        means = percent(self.ece_if_perfect)
        beside = f"a perfectly calibrated model would show {means} (95 %: up to {percent(self.ece_if_perfect_95)})"
        if self.ece <= self.ece_if_perfect_95:
            size = f"Calibration error {percent(self.ece)}: at n = {count(self.n)}, {beside}"
            return f"{size}, so no significant miscalibration."
        if self.interval.holds(self.mean_confidence):
            side = "overconfident for some samples and underconfident for others"
        else:
            side = "overconfident" if self.accuracy < self.mean_confidence else "underconfident"
        return f"Calibration error {percent(self.ece)}; {beside}. The model is {side}."

    def table(self) -> pd.DataFrame:
        """Tidy rows, one per bin: `lower, upper, n, confidence, accuracy`, ends of the interval and of the band."""
        rows = []
        for bin_ in self.bins:
            numbers = {name: getattr(bin_, name) for name in ("lower", "upper", "n", "confidence", "accuracy")}
            rows.append(numbers | bin_.interval.columns("accuracy_") | bin_.perfect.columns("perfect_"))
        return pd.DataFrame(rows)


def calibration(
    confidence: Floats,
    correct: Bools,
    *,
    binning: Binning = "mass",
    n_bins: int = N_BINS,
    n_draws: int = N_NULL,
    rng: np.random.Generator,
    design: Design = EACH_SAMPLE,
) -> Calibration:
    """Everything about one subset; `rng` draws the perfectly calibrated models that it is held against.

    Intervals are over the units of the `design`, and models are off in as many samples at a time as these are alike.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> sure = rng.random(2000)
    >>> fair, proud = (calibration(sure, rng.random(2000) < sure**power, rng=rng) for power in (1, 2))
    >>> fair.ece < fair.ece_if_perfect_95, proud.ece > proud.ece_if_perfect_95
    (True, True)
    """
    n = len(confidence)
    index, edges = bin_of(confidence, binning=binning, n_bins=n_bins)
    perfect, (ece, median, most, p) = _beside_perfect(confidence, correct, index, len(edges) - 1, n_draws, rng, design)
    nan = float("nan")
    return Calibration(
        n=n,
        accuracy=float(correct.mean()) if n else nan,
        interval=design.wilson(correct),
        mean_confidence=float(confidence.mean()) if n else nan,
        binning=binning,
        bins=bins_of(confidence, correct, index, edges, perfect, design),
        ece=ece,
        ece_if_perfect=median,
        ece_if_perfect_95=most,
        p_value=p,
        squared_error=debiased_squared_error(confidence, correct, index, len(edges) - 1),
        smooth_ece=smooth_error(confidence, correct),
        brier=brier_score(confidence, correct),
    )


def calibration_table(calibrations: Mapping[str, Calibration]) -> pd.DataFrame:
    """Tidy rows, one per subset: its numbers, with the parts of the Brier score as `brier_...`.

    Examples
    --------
    >>> calibration_table({"any": calibration(np.ones(3), np.ones(3, dtype=bool), rng=np.random.default_rng(0))})["n"]
    0    3
    Name: n, dtype: int64
    """
    rows = []
    for subset, part in calibrations.items():
        numbers = {name: value for name, value in asdict(part).items() if name not in ("bins", "brier", "interval")}
        brier = {f"brier_{name}": value for name, value in asdict(part.brier).items()}
        rows.append({"subset": subset} | numbers | part.interval.columns("accuracy_") | brier)
    return pd.DataFrame(rows)


def bins_table(calibrations: Mapping[str, Calibration]) -> pd.DataFrame:
    """The bins of every subset, one below the other: `subset`, then the columns of `Calibration.table`.

    Examples
    --------
    >>> of = calibration(np.ones(3), np.ones(3, dtype=bool), rng=np.random.default_rng(0))
    >>> bins_table({"any": of})[["subset", "n", "accuracy"]].values.tolist()
    [['any', 3, 1.0]]
    """
    tables = [part.table().assign(subset=subset) for subset, part in calibrations.items()]
    rows = pd.concat(tables, ignore_index=True)
    return rows.loc[:, ["subset", *rows.columns.drop("subset")]]


# Is the probability of every single class as good as its word? (Class-wise calibration error, Kull et al. 2019)


FEWEST_OF_CLASS = 50
ALPHA = 0.05


@dataclass(frozen=True)
class ClassCalibration:
    """How well the probability of one class is calibrated: NaN where too few samples are of the class."""

    label: str
    n: int
    """Samples that are of the class."""
    ece: float
    """Over all samples: how often they are of the class, against how probable the model found it."""
    ece_if_perfect: float
    """Median that a perfectly calibrated model would show, at these probabilities and this n."""
    ece_if_perfect_95: float
    """95 % of such models would show less."""
    p_value: float
    p_holm: float
    """Corrected for the number of classes with enough samples."""

    @property
    def enough(self) -> bool:
        """Whether there are samples enough to claim anything."""
        return not isnan(self.ece)

    @property
    def at_fault(self) -> bool:
        """Whether the error is more than luck, corrected for the number of classes."""
        return self.p_holm < ALPHA


def calibration_by_class(
    proba: Float[np.ndarray, "n n_classes"],
    y: Ints,
    class_names: Sequence[str],
    *,
    fewest: int = FEWEST_OF_CLASS,
    binning: Binning = "mass",
    n_bins: int = N_BINS,
    n_draws: int = N_NULL,
    rng: np.random.Generator,
    on_class: Callable[[], None] = lambda: None,
    design: Design = EACH_SAMPLE,
) -> tuple[ClassCalibration, ...]:
    """The calibration error of each class's probability, of classes with at least `fewest` samples (Holm over these).

    A perfect model is off by units of the `design`, where samples of a unit are alike. `on_class` is called after each
    class, for whoever watches.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(500)
    >>> y = (rng.random(500) < p).astype(np.int64)
    >>> [row.label for row in calibration_by_class(np.stack([1 - p, p], axis=1), y, ["no", "yes"], rng=rng)]
    ['no', 'yes']
    """
    rows = []
    for k, label in enumerate(class_names):
        event = y == k
        n = int(event.sum())
        if n < fewest:
            rows.append((str(label), n, *[float("nan")] * 4))
        else:
            index, edges = bin_of(proba[:, k], binning=binning, n_bins=n_bins)
            errors = _beside_perfect(proba[:, k], event, index, len(edges) - 1, n_draws, rng, design)[1]
            rows.append((str(label), n, *errors))
        on_class()
    corrected = holm([row[-1] for row in rows])
    return tuple(ClassCalibration(*row, p_holm=p) for row, p in zip(rows, corrected, strict=True))


def _beside_perfect(
    confidence: Floats, correct: Bools, index: Ints, n_bins: int, n_draws: int, rng: np.random.Generator, design: Design
) -> tuple[np.ndarray, tuple[float, float, float, float]]:
    """What perfect models get right in each bin; the error, their median and 95th percentile, how many have more."""
    drawn = correct_if_perfect(confidence, index, n_bins, n_draws=n_draws, rng=rng)
    perfect = not_by_units(drawn, confidence, correct, index, design)
    error = binned_error(confidence, correct, index, n_bins)
    if not len(confidence):
        return perfect, (error, *[float("nan")] * 3)
    null = np.abs(perfect - sums(index, confidence, n_bins)).sum(axis=1) / len(confidence)
    p = float((1 + (null >= error - 1e-12).sum()) / (1 + len(null)))
    return perfect, (error, float(np.median(null)), float(np.percentile(null, 95)), p)


def probabilities_of(predictions: Predictions) -> Float[np.ndarray, "n n_classes"] | None:
    """The probability of every class; of two classes also from the confidence alone. None where nothing says it.

    Examples
    --------
    >>> said = Predictions(["a", "b"], [0, 1], [0, 1], ["no", "yes"], confidence=[0.75, 0.5])
    >>> probabilities_of(said).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    if predictions.proba is not None or predictions.confidence is None or predictions.n_classes > 2:
        return predictions.proba
    sure = predictions.confidence
    return np.where(predictions.y_pred[:, None] == np.arange(2), sure[:, None], 1 - sure[:, None])


def class_error(rows: Sequence[ClassCalibration]) -> float:
    """The class-wise calibration error: the mean over classes with enough samples; NaN without one."""
    known = [row.ece for row in rows if row.enough]
    return float(np.mean(known)) if known else float("nan")


def class_sentence(rows: Sequence[ClassCalibration], *, fewest: int = FEWEST_OF_CLASS) -> str:
    """What the classes come to: their mean error beside that of a perfect model, and which are at fault.

    Examples
    --------
    >>> few = ClassCalibration("b", 9, *[float("nan")] * 5)
    >>> print(class_sentence([ClassCalibration("a", 90, 0.12, 0.02, 0.04, 0.001, 0.001), few]))
    Class-wise calibration error 12.0 %, mean of 1 class (a perfectly calibrated model: 2.0 %).
    Significantly miscalibrated: “a” (12.0 %), corrected for 1 class. 1 class with fewer than 50 samples not judged.
    """
    judged = [row for row in rows if row.enough]
    few = len(rows) - len(judged)
    left_out = f" {plural(few, 'class', 'classes')} with fewer than {fewest} samples not judged." if few else ""
    if not judged:
        return f"No class has {fewest} samples, so none is judged."
    perfect = float(np.mean([row.ece_if_perfect for row in judged]))
    mean = (
        f"Class-wise calibration error {percent(class_error(rows))}, mean of {plural(len(judged), 'class', 'classes')} "
        f"(a perfectly calibrated model: {percent(perfect)})."
    )
    worst = sorted((row for row in judged if row.at_fault), key=lambda row: -row.ece)
    corrected = f"corrected for {plural(len(judged), 'class', 'classes')}"
    if not worst:
        return f"{mean} No class is significantly miscalibrated ({corrected}).{left_out}"
    miscalibrated = listed([f"{quoted(row.label)} ({percent(row.ece)})" for row in worst])
    return f"{mean} Significantly miscalibrated: {miscalibrated}, {corrected}.{left_out}"


def class_table(rows: Sequence[ClassCalibration]) -> pd.DataFrame:
    """Tidy rows, one per class: `label, n, ece, ece_if_perfect, ece_if_perfect_95, p_value, p_holm`, NaN: too few."""
    return pd.DataFrame([asdict(row) for row in rows])
