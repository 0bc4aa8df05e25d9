"""Is the probability of every single class as good as its word? (Class-wise calibration error, Kull et al. 2019)"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import isnan

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer

from touchstone.core.data.predictions.record import Predictions
from touchstone.core.evaluate.calibration.errors import (
    N_BINS,
    N_NULL,
    Binning,
    bin_of,
    binned_error,
    correct_if_perfect,
    not_by_units,
    sums,
)
from touchstone.core.evaluate.intervals import holm
from touchstone.core.evaluate.units import EACH_SAMPLE, Design
from touchstone.core.evaluate.wording import listed, percent, plural, quoted

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
