"""What comes out: the accuracy interval of section 4, with everything that says how sure it is."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import pandas as pd

from touchstone.core.data.frames import TEXTS
from touchstone.core.evaluate.claims import Claim, claim
from touchstone.core.evaluate.fits import Fits
from touchstone.core.evaluate.intervals import UNKNOWN, Interval, p_of_interval
from touchstone.core.evaluate.metric_estimates import OF_ACCURACY, InWords
from touchstone.core.evaluate.metrics import METRICS
from touchstone.core.evaluate.source_robustness.held_out import HeldOutSource
from touchstone.core.evaluate.units import EACH_SAMPLE, Design


@dataclass(frozen=True)
class AccuracyInterval:
    """The accuracy on unfamiliar sources and on familiar ones (equations 1 and 2), as fractions or as percent.

    Examples
    --------
    The support vector machine of Table 1, with the sources that ACOL found:

    >>> round(AccuracyInterval(exclusive=84.44, inclusive=97.42).rho, 3)
    0.867
    """

    exclusive: float
    inclusive: float

    @property
    def rho(self) -> float:
        """Robustness (equation 3): the share of the accuracy that is kept on unfamiliar sources; NaN without any."""
        return self.exclusive / self.inclusive if self.inclusive else float("nan")

    @property
    def width(self) -> float:
        """How much accuracy is at stake; negative where the unfamiliar sources turn out easier."""
        return self.inclusive - self.exclusive


@dataclass(frozen=True)
class ExpectedValue:
    """A number with its two 95 % intervals. NaN and unknown intervals: not (yet) told by the data.

    `over_draws` says what another set of repeats on the same data would give, `over_sources` what another data set
    with other sources and samples would. `sd` is the standard deviation over the `n_draws` draws (NaN for rho).
    """

    value: float
    over_draws: Interval = UNKNOWN
    over_sources: Interval = UNKNOWN
    sd: float = float("nan")
    n_draws: int = 0


@dataclass(frozen=True)
class Difference:
    """A difference with both intervals and its two-sided p-values, as they are and corrected for their number.

    Interval and p-value of a kind come from one distribution. `se` and `df` are those of `over_sources`: two sources
    leave one degree of freedom, none are left (0) where the data cannot tell.
    """

    value: float
    over_draws: Interval
    over_sources: Interval
    p_draws: float
    p_sources: float
    p_draws_corrected: float = float("nan")
    p_sources_corrected: float = float("nan")
    se: float = float("nan")
    df: float = 0.0


NO_DIFFERENCE = Difference(float("nan"), UNKNOWN, UNKNOWN, float("nan"), float("nan"))
"""What is told of two accuracies while one of them is missing."""


def falls(fall: Difference) -> Claim:
    """The claim of how far accuracy, or another metric, falls on held-out sources."""
    return claim("source_robustness.falls", fall.value, fall.over_sources, fall.p_sources)


@dataclass(frozen=True)
class ExpectedInterval:
    """What to expect of one model, on all classes (`label` None) or on one."""

    model: str
    source_finder: str
    n_train: int
    label: str | None
    exclusive: ExpectedValue
    inclusive: ExpectedValue
    random: ExpectedValue
    full: ExpectedValue
    """On random splits of which all is trained on that is not tested: `n_train_full` samples."""
    n_train_full: int
    rho: ExpectedValue
    fall: Difference
    """The accuracy on sources seen in training less that on held-out ones, as a fraction: positive where it falls."""
    against_rest: Difference | None
    """Rho of this class less that of all others together; Holm-corrected over the classes. None for all classes."""
    inclusive_less_random: Difference
    """Is testing on familiar sources any different from a random test part? Over draws."""
    macro_f1: dict[str, float]
    """By scheme, mean over draws; empty for one class."""
    balanced_accuracy: dict[str, float]
    n_test: int
    """Mean number of samples in an exclusive test part."""
    n_samples: int
    """Different samples that were tested, about."""
    n_sources: int
    """Sources in a clustering."""
    n_clusterings: int
    n_cells: int
    """Sources over all clusterings, each counted with its class (unless classes share them)."""
    n_cells_held_out: int
    """How many of them were held out so far; the interval over sources rests on these."""

    @property
    def words(self) -> InWords:
        """How sentences speak of what fell."""
        return OF_ACCURACY

    @property
    def falls(self) -> Claim:
        """Does accuracy fall on held-out sources?"""
        return falls(self.fall)

    @property
    def further(self) -> Claim | None:
        """Does rho lie further below 1 in this class than in all others together? None for all classes."""
        rest = self.against_rest
        if rest is None:
            return None
        interval, p = rest.over_sources.scaled(-1.0), rest.p_sources_corrected
        return claim("source_robustness.class_falls_further", -rest.value, interval, p)

    @property
    def falls_further(self) -> bool:
        """Whether accuracy falls further on this class than on all others together, whatever the sources."""
        return self.further is not None and self.further.decision == "above"

    @property
    def usual(self) -> ExpectedValue:
        """What is usually reported: the accuracy on a random split at full size."""
        return self.full if self.n_train_full else self.random

    @property
    def smaller(self) -> bool:
        """Whether held-out sources leave all schemes less to train on than a split has that ignores them."""
        return self.n_train < 0.95 * self.n_train_full

    @property
    def interval(self) -> AccuracyInterval:
        """The expected accuracy interval without its uncertainty."""
        return AccuracyInterval(self.exclusive.value, self.inclusive.value)


def below_majority(above: Difference) -> Claim:
    """The claim of how far a model lies below the majority class, given how far it lies above."""
    return claim("source_robustness.below_baseline", -above.value, above.over_sources.scaled(-1.0), above.p_sources)


@dataclass(frozen=True)
class Baseline:
    """What always answering the majority class gets on the very test parts of one model, and how the model compares.

    `exclusive`, `inclusive` and `random` are means over the draws of each scheme (NaN without any): where test parts
    are small their shares of classes are not those of the data. `chance` is that of classes drawn alike.
    """

    model: str
    source_finder: str
    n_train: int
    majority: str
    chance: float
    exclusive: float
    inclusive: float
    random: float
    above: Difference
    """The model's accuracy on held-out sources less that of the majority class."""
    answers_only: str | None
    """The one class that the model ever answers; None where it answers several."""

    @property
    def claim(self) -> Claim:
        """Is the model below ("above" 0), better ("below"), or no better than the majority class ("small")?"""
        return below_majority(self.above)


OF_RECALLS = ("balanced_accuracy", "recall_macro")
"""Metrics that rest on who is right of each class alone."""


@dataclass(frozen=True)
class MetricOnSources:
    """One metric of one model: on a random split, on sources seen in training and on held-out ones; fall and rho.

    `positive` is the class that it is about, None of a metric of all classes; `baseline` what frequencies alone reach.
    """

    metric: str
    positive: str | None
    model: str
    source_finder: str
    n_train: int
    random: ExpectedValue
    inclusive: ExpectedValue
    exclusive: ExpectedValue
    fall: Difference
    rho: ExpectedValue
    baseline: float
    n: int
    """Samples that were tested, about."""

    @property
    def words(self) -> InWords:
        """How sentences speak of it."""
        return InWords(METRICS[self.metric], self.positive)

    @property
    def falls(self) -> Claim:
        """Does it fall on held-out sources?"""
        return falls(self.fall)

    @property
    def usual(self) -> ExpectedValue:
        """What is usually reported: the metric on a random split."""
        return self.random

    def below_baseline(self, end: str) -> Claim | None:
        """How far the metric lies below what frequencies of classes reach, on "exclusive" or "inclusive" test parts.

        None of a metric whose baseline is another one where test parts mix classes otherwise.
        """
        reached: ExpectedValue = getattr(self, end)
        if self.metric not in OF_RECALLS or not reached.over_sources.known:
            return None
        below, interval = self.baseline - reached.value, reached.over_sources.scaled(-1.0, self.baseline)
        return claim("source_robustness.below_baseline", below, interval, p_of_interval(below, interval))


@dataclass(frozen=True, eq=False)
class AccuracyIntervals:
    """Everything that the trials tell so far about familiar and unfamiliar sources."""

    rows: tuple[ExpectedInterval, ...]
    held_out: tuple[HeldOutSource, ...]
    accuracies: pd.DataFrame
    """Accuracy of every draw: `model, source_finder, n_train, scheme, repeat, clustering, accuracy`."""
    n_trials: int
    n_used: int
    baselines: tuple[Baseline, ...] = ()
    design: Design = EACH_SAMPLE
    """Of what the samples are, beside their sources."""
    metrics: tuple[MetricOnSources, ...] = ()
    """Metrics other than accuracy, of every model, source finder and size."""
    fits: Mapping[tuple[str, str], Fits] = field(default_factory=dict)
    """How the trainings of a network ended, by model and source finder; nothing of other models."""
    chosen: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """What inner folds chose of a model's hyperparameters, in a sentence, by model and source finder."""

    @property
    def overall(self) -> tuple[ExpectedInterval, ...]:
        """One row for each model, source finder and training-set size, all classes together."""
        return tuple(row for row in self.rows if row.label is None)

    def classes_of(self, overall: ExpectedInterval) -> tuple[ExpectedInterval, ...]:
        """The same model, source finder and training-set size, class by class."""
        return tuple(row for row in self.rows if row.label is not None and _same(row, overall))

    def sources_of(self, overall: ExpectedInterval) -> tuple[HeldOutSource, ...]:
        """The held-out sources of the same model, source finder and training-set size."""
        return tuple(source for source in self.held_out if _same(source, overall))

    def metrics_of(self, overall: ExpectedInterval) -> tuple[MetricOnSources, ...]:
        """Metrics other than accuracy of the same model, source finder and training-set size."""
        return tuple(each for each in self.metrics if _same(each, overall))

    def metric_of(self, overall: ExpectedInterval, name: str) -> MetricOnSources | None:
        """One of them, by its name; None where these trials do not give it."""
        return next((each for each in self.metrics_of(overall) if each.metric == name), None)

    def baseline_of(self, overall: ExpectedInterval) -> Baseline | None:
        """The majority class on the test parts of the same model, source finder and training-set size."""
        return next((baseline for baseline in self.baselines if _same(baseline, overall)), None)

    def table(self) -> pd.DataFrame:
        """Tidy rows: `model, source_finder, n_train, label` (NA: all classes), then the numbers.

        For each of `exclusive, inclusive, rho, random, full` the value, `_sd` and `_n` (draws), and the ends of both
        intervals: `_draws_lower, _draws_upper, _sources_lower, _sources_upper`. Accuracies are fractions.
        """
        return pd.DataFrame([_table_row(row) for row in self.rows], columns=list(TABLE_COLUMNS)).astype(TABLE_COLUMNS)

    def held_out_table(self) -> pd.DataFrame:
        """Tidy rows, one for each held-out source of each clustering; the fields of `HeldOutSource`."""
        names = list(HeldOutSource.__dataclass_fields__)
        table = pd.DataFrame([asdict(source) for source in self.held_out], columns=names)
        return table.astype({"label": TEXTS, "model": TEXTS, "source_finder": TEXTS, "source": TEXTS})


def _same(row: ExpectedInterval | HeldOutSource | Baseline | MetricOnSources, other: ExpectedInterval) -> bool:
    return (row.model, row.source_finder, row.n_train) == (other.model, other.source_finder, other.n_train)


_ESTIMATES = ("exclusive", "inclusive", "rho", "random", "full")
_COUNTS = ("n_test", "n_samples", "n_sources", "n_clusterings", "n_cells", "n_cells_held_out", "n_train_full")
_PARTS = ("", "_sd", "_n", "_draws_lower", "_draws_upper", "_sources_lower", "_sources_upper")
TABLE_COLUMNS = (
    {"model": TEXTS, "source_finder": TEXTS, "n_train": "int64", "label": TEXTS}
    | {f"{name}{part}": "int64" if part == "_n" else "float64" for name in _ESTIMATES for part in _PARTS}
    | dict.fromkeys(_COUNTS, "int64")
)


def _table_row(row: ExpectedInterval) -> dict[str, object]:
    cells: dict[str, object] = {name: getattr(row, name) for name in ("model", "source_finder", "n_train", "label")}
    for name in _ESTIMATES:
        estimate: ExpectedValue = getattr(row, name)
        cells |= {name: estimate.value, f"{name}_sd": estimate.sd, f"{name}_n": estimate.n_draws}
        cells |= estimate.over_draws.columns(f"{name}_draws_") | estimate.over_sources.columns(f"{name}_sources_")
    return cells | {name: getattr(row, name) for name in _COUNTS}
