"""What comes out: accuracies over the size of the training set, and what they tell of more samples and new sources."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from touchstone.core.data.frames import TEXTS
from touchstone.core.evaluate.data_set_adequacy.power_law import PowerLaw
from touchstone.core.evaluate.fits import Fits
from touchstone.core.evaluate.intervals import UNKNOWN, Interval, within
from touchstone.core.evaluate.metric_estimates import InWords
from touchstone.core.evaluate.source_robustness import AccuracyIntervals, Difference, ExpectedInterval
from touchstone.core.evaluate.source_robustness.results import NO_DIFFERENCE, MetricOnSources
from touchstone.core.evaluate.units import EACH_SAMPLE, Design


@dataclass(frozen=True)
class AtSize:
    """What to expect of a model that was trained on so many samples; `size` as asked for, 0 for all.

    `n` is the mean number of samples that it was trained on; of a curve of one class, the mean number of that class's.
    """

    size: int
    n: float
    expected: ExpectedInterval
    metric: MetricOnSources | None = None
    """What the curve is of, where that is not accuracy."""
    fits: Fits | None = None
    """How the trainings of a network ended; None of other models."""

    @property
    def about(self) -> ExpectedInterval | MetricOnSources:
        """The metric, or accuracy."""
        return self.metric or self.expected


@dataclass(frozen=True)
class Step:
    """From one size to the next: paired differences, on the same draws and sources."""

    before: AtSize
    after: AtSize
    exclusive: Difference
    inclusive: Difference
    rho: Difference


@dataclass(frozen=True)
class Estimate:
    """A number that a verdict rests on. NaN: not (yet) told.

    `interval` is over sources and samples, and holds for all classes (or models) that it stands among at once; so does
    `p_value`, of "it is 0", from the same t. `over_draws` is an ordinary 95 % one. `of_draws` is the variance over
    draws as a share of that over sources and samples: about so much of the uncertainty would go with more repeats.
    """

    value: float = float("nan")
    interval: Interval = UNKNOWN
    over_draws: Interval = UNKNOWN
    of_draws: float = float("nan")
    p_value: float = float("nan")

    def of_gain(self, now: AtSize, end: str) -> "Estimate":
        """No more than is left of what is `now`, nor less than is there, as far as that is known."""
        value, lowest = getattr(now.about, end), now.about.words.metric.lowest
        known = value.over_sources if value.over_sources.known else Interval(lowest, 1.0)
        least, most = lowest - value.value, 1 - value.value
        return replace(
            self,
            value=float(np.clip(self.value, least, most)),
            interval=within(self.interval, lowest - known.upper, 1 - known.lower),
            over_draws=within(self.over_draws, least, most),
        )

    def of_gap(self, now: AtSize) -> "Estimate":
        """No more than the metric can differ by."""
        most = 1 - now.about.words.metric.lowest
        return replace(self, interval=within(self.interval, -most, most))


@dataclass(frozen=True)
class Outlook:
    """What the next doubling of the training set would bring, what the last step brought, and the gap at its end.

    `next_gain` is of the accuracy that `next_doubling.judged` names. `gain` and `familiar_gain` are those of
    the last step that is long enough, per doubling, on held-out sources and on those seen in training; `closing` is how
    much less the gap between the two became. All are fractions.
    """

    before: AtSize
    after: AtSize
    next_gain: Estimate
    gain: Estimate
    familiar_gain: Estimate
    gap: Estimate
    closing: Estimate
    n_claims: int


@dataclass(frozen=True)
class CurvePoint:
    """A point of a fitted learning curve, its interval over sources and samples."""

    n: float
    value: float
    interval: Interval


@dataclass(frozen=True, eq=False)
class Learning:
    """A fitted learning curve, or the reason why there is none (then `law` is None).

    `next_gain` is what twice as many samples would add by the curve, with ordinary 95 % intervals.
    """

    law: PowerLaw | None
    reason: str
    points: tuple[CurvePoint, ...] = ()
    ceiling: Estimate = Estimate()
    next_gain: Estimate = Estimate()


@dataclass(frozen=True, eq=False)
class Curve:
    """Everything about one model and source finder, on all classes (`label` None) or on one."""

    model: str
    source_finder: str
    label: str | None
    points: tuple[AtSize, ...]
    """By rising size."""
    steps: tuple[Step, ...]
    outlook: Outlook | None
    """None while there are no two sizes, far enough apart, with trials of both schemes."""
    learning: dict[str, Learning]
    """Of "exclusive" and "inclusive"."""
    above_majority: Difference = NO_DIFFERENCE
    """At the largest size, on sources seen in training: accuracy less that of the majority class; not of one class."""
    is_comparable: bool = True
    """Whether its sizes show a gain: a metric moves with the mix of classes, too, where parts differ in that."""

    @property
    def untrained(self) -> AtSize | None:
        """The smallest size at which many networks did not learn what they could: then training shows, not data."""
        return next((point for point in self.points if point.fits is not None and not point.fits.are_finished), None)

    @property
    def shows_gain(self) -> bool:
        """Whether what its sizes differ by is due to the number of samples."""
        return self.is_comparable and self.untrained is None

    @property
    def may_be_no_better(self) -> bool:
        """Whether accuracy may be no more than that of the majority class."""
        return self.above_majority.over_sources.known and self.above_majority.over_sources.lower <= 0

    @property
    def words(self) -> InWords:
        """How sentences speak of what it is of."""
        return self.points[-1].about.words


@dataclass(frozen=True, eq=False)
class Adequacy:
    """All that the trials tell so far of more samples and new sources."""

    curves: tuple[Curve, ...]
    intervals: AccuracyIntervals
    """The same numbers as those of source robustness, in its form; `accuracies` has a column `size`, too."""
    n_trials: int
    n_used: int
    """Trials of draws that are finished at every size."""
    n_failed: int
    majority: float = float("nan")
    """Share of the most frequent class: the accuracy of the majority-class baseline."""
    chance: float = float("nan")
    """One over the number of classes."""
    by_metric: tuple[Curve, ...] = ()
    """The overall curves of every other metric that trials give."""
    design: Design = EACH_SAMPLE
    """Of what the samples are, beside their sources."""

    @property
    def overall(self) -> tuple[Curve, ...]:
        """One curve for each model and source finder, all classes together."""
        return tuple(curve for curve in self.curves if curve.label is None)

    def classes_of(self, curve: Curve) -> tuple[Curve, ...]:
        """The same model and source finder, class by class."""
        same = (curve.model, curve.source_finder)
        return tuple(c for c in self.curves if c.label is not None and (c.model, c.source_finder) == same)

    def by(self, metric: str, curve: Curve) -> Curve | None:
        """The overall curve of the same model and source finder by a metric; None where these trials do not give it."""
        same = (metric, curve.model, curve.source_finder)
        curves = (*self.overall, *self.by_metric)
        return next((c for c in curves if (c.words.metric.name, c.model, c.source_finder) == same), None)

    def beside(self, curve: Curve) -> tuple[Curve, ...]:
        """The overall curves of every model by the same metric, on the same sources."""
        same = (curve.words.metric.name, curve.source_finder)
        return tuple(c for c in (*self.overall, *self.by_metric) if (c.words.metric.name, c.source_finder) == same)

    def table(self) -> pd.DataFrame:
        """Tidy rows, one for each size: those of source robustness with `size` and `n` (see `AtSize`) before them."""
        points = [(point.size, point.n) for curve in self.curves for point in curve.points]
        table = self.intervals.table()
        table.insert(2, "size", pd.Series([size for size, _ in points], dtype="int64"))
        table.insert(3, "n", pd.Series([n for _, n in points], dtype="float64"))
        return table

    def steps_table(self) -> pd.DataFrame:
        """Tidy rows, one for each step from a size to the next, of each of exclusive, inclusive and rho."""
        rows = [
            {"model": curve.model, "source_finder": curve.source_finder, "label": curve.label}
            | {"size_before": step.before.size, "size": step.after.size, "n_before": step.before.n, "n": step.after.n}
            | {"of": name}
            | _numbers(getattr(step, name))
            for curve in self.curves
            for step in curve.steps
            for name in ("exclusive", "inclusive", "rho")
        ]
        return pd.DataFrame(rows, columns=list(STEP_COLUMNS)).astype(STEP_COLUMNS)


def _numbers(difference: Difference) -> dict[str, float]:
    draws = difference.over_draws.columns("draws_") | {"p_draws": difference.p_draws}
    sources = difference.over_sources.columns("sources_") | {"p_sources": difference.p_sources}
    return {"difference": difference.value} | draws | sources


_DIFFERENCE = (
    *("difference", "draws_lower", "draws_upper", "p_draws"),
    *("sources_lower", "sources_upper", "p_sources"),
)
STEP_COLUMNS = (
    {"model": TEXTS, "source_finder": TEXTS, "label": TEXTS, "size_before": "int64", "size": "int64"}
    | {"n_before": "float64", "n": "float64", "of": TEXTS}
    | dict.fromkeys(_DIFFERENCE, "float64")
)
