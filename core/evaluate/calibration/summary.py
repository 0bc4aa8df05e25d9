"""All there is to say about the calibration of one subset."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

from touchstone.core.evaluate.calibration.errors import (
    N_BINS,
    N_NULL,
    Bin,
    Binning,
    Brier,
    bin_of,
    binned_error,
    bins_of,
    brier_score,
    correct_if_perfect,
    debiased_squared_error,
    not_by_units,
    smooth_error,
    sums,
)
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.units import EACH_SAMPLE, Design
from touchstone.core.evaluate.wording import count, percent


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
            ends = {f"accuracy_{end}": getattr(bin_.interval, end) for end in ("lower", "upper")}
            band = {f"perfect_{end}": getattr(bin_.perfect, end) for end in ("lower", "upper")}
            numbers = {name: getattr(bin_, name) for name in ("lower", "upper", "n", "confidence", "accuracy")}
            rows.append(numbers | ends | band)
        return pd.DataFrame(rows)


def calibration(
    confidence: Float[np.ndarray, " n"],
    correct: Bool[np.ndarray, " n"],
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
    n_bins_made = len(edges) - 1
    drawn = correct_if_perfect(confidence, index, n_bins_made, n_draws=n_draws, rng=rng)
    perfect = not_by_units(drawn, confidence, correct, index, design)
    nan = float("nan")
    ece = binned_error(confidence, correct, index, n_bins_made)
    null = np.abs(perfect - sums(index, confidence, n_bins_made)).sum(axis=1) / n if n else np.full(1, nan)
    return Calibration(
        n=n,
        accuracy=float(correct.mean()) if n else nan,
        interval=design.wilson(correct),
        mean_confidence=float(confidence.mean()) if n else nan,
        binning=binning,
        bins=bins_of(confidence, correct, index, edges, perfect, design),
        ece=ece,
        ece_if_perfect=float(np.median(null)),
        ece_if_perfect_95=float(np.percentile(null, 95)),
        p_value=float((1 + (null >= ece - 1e-12).sum()) / (1 + len(null))) if n else nan,
        squared_error=debiased_squared_error(confidence, correct, index, n_bins_made),
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
        ends = {
            "accuracy_lower": part.interval.lower,
            "accuracy_upper": part.interval.upper,
        }
        rows.append({"subset": subset} | numbers | ends | {f"brier_{k}": v for k, v in asdict(part.brier).items()})
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
