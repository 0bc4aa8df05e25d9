"""All there is to say about the calibration of one subset."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float, Integer

from touchstone.core.data.predictions.record import Predictions
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
from touchstone.core.evaluate.intervals import Interval, holm
from touchstone.core.evaluate.units import EACH_SAMPLE, Design
from touchstone.core.evaluate.wording import count, listed, percent, plural, quoted


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
    y: Integer[np.ndarray, " n"],
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
            rows.append((str(label), n, *_error(proba[:, k], event, binning, n_bins, n_draws, rng, design)))
        on_class()
    corrected = holm([row[-1] for row in rows])
    return tuple(ClassCalibration(*row, p_holm=p) for row, p in zip(rows, corrected, strict=True))


def _error(
    probability: np.ndarray,
    event: np.ndarray,
    binning: Binning,
    n_bins: int,
    n_draws: int,
    rng: np.random.Generator,
    design: Design,
) -> tuple[float, float, float, float]:
    """The error, the median and 95th percentile of a perfect model's, and the share of these that are as large."""
    index, edges = bin_of(probability, binning=binning, n_bins=n_bins)
    n_bins_made = len(edges) - 1
    drawn = correct_if_perfect(probability, index, n_bins_made, n_draws=n_draws, rng=rng)
    perfect = not_by_units(drawn, probability, event, index, design)
    null = np.abs(perfect - sums(index, probability, n_bins_made)).sum(axis=1) / len(event)
    ece = binned_error(probability, event, index, n_bins_made)
    p = float((1 + (null >= ece - 1e-12).sum()) / (1 + n_draws))
    return ece, float(np.median(null)), float(np.percentile(null, 95)), p


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
