"""How sure is a metric? An interval of every entry of the registry, over units, or none where too little tells.

Shares (accuracy, sensitivity, precision, F1 of a class, which rises with a share) have Wilson's interval, of as many
samples as tell as much as units do. Means of shares of classes combine these (Zou and Donner 2008). All others have
the jackknife's standard error over units, in Wilson's form within the metric's range. Where a class that a metric
reads has few samples, only the first two are given. A mean of losses that few samples make up is taken for a share of
the most that could be lost.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isnan, nan, sqrt

import numpy as np
from jaxtyping import Float, Integer

from touchstone.core.data.errors import DataError
from touchstone.core.data.predictions.record import Predictions
from touchstone.core.data.values import listed
from touchstone.core.evaluate.calibration import probabilities_of
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.confusion_matrix import Cell, ConfusionMatrix, confusion_matrix
from touchstone.core.evaluate.intervals import (
    UNKNOWN,
    Interval,
    apart,
    growing_interval,
    half_width,
    joined,
    share_interval,
    wilson,
    within,
)
from touchstone.core.evaluate.metric_functions import Parts, Scored, knowing_shares
from touchstone.core.evaluate.metrics import ACCURACY, METRICS, Metric
from touchstone.core.evaluate.units import (
    EACH_SAMPLE,
    FEWEST_UNITS,
    Design,
    Error,
    Units,
    alike,
    design_of_units,
)
from touchstone.core.evaluate.wording import bare, fixed, gap, percent, points, quoted

FEWEST_OF_CLASS = 20
"""Of fewer samples of a class that a metric reads, its standard error is not taken from influences."""
ROUNDED = 1e-12
"""What influences come to that are 0 but for rounding."""
FEWEST_MOVING = 8
"""Of a mean of losses, fewer units that make up its variance do not tell what others would lose."""


@dataclass(frozen=True)
class MetricEstimate:
    """A metric with its 95 % interval, and why there is none; `baseline` is what a model reaches that learned nothing.

    The interval says what as many other units from the same place would give, of the same model.
    """

    metric: str
    value: float
    interval: Interval
    n: int
    baseline: float = nan
    why_not: str = ""


@dataclass(frozen=True)
class InWords:
    """How sentences speak of a metric: its name, numbers in its own unit, and what getting worse is called.

    >>> words = InWords(METRICS["log_loss"])
    >>> words.title, words.falls, words.difference(0.0213)
    ('Log loss', 'rises', '.021')
    >>> InWords(METRICS["recall"], "fraud").name
    'sensitivity for “fraud”'
    """

    metric: Metric
    of_class: str | None = None

    @property
    def name(self) -> str:
        """Within a sentence, in one term, with the class that it is about."""
        about = f" for {quoted(self.of_class)}" if self.metric.of_class and self.of_class is not None else ""
        return f"{self.metric.title.partition(' (')[0]}{about}"

    @property
    def a_name(self) -> str:
        """The name with its article."""
        return f"{'an' if self.name[0] in 'aeiou' else 'a'} {self.name}"

    @property
    def title(self) -> str:
        """At the beginning of a sentence."""
        return self.name[:1].upper() + self.name[1:]

    @property
    def falls(self) -> str:
        """What it does when the model gets worse."""
        return "falls" if self.metric.larger_is_better else "rises"

    @property
    def rises(self) -> str:
        """What it does when the model gets better."""
        return "rises" if self.metric.larger_is_better else "falls"

    @property
    def fall(self) -> str:
        """Getting worse, as a noun."""
        return self.falls.removesuffix("s")

    @property
    def rise(self) -> str:
        """Getting better, as a noun."""
        return self.rises.removesuffix("s")

    @property
    def factor(self) -> int:
        """What its values are multiplied by where they are drawn or tabled."""
        return 100 if self.metric.in_percent else 1

    @property
    def decimals(self) -> int:
        """As many does a table show."""
        return 1 if self.metric.in_percent else 3

    @property
    def unit(self) -> str:
        """What follows the title of an axis or a column of its values."""
        return " (%)" if self.metric.in_percent else ""

    @property
    def axis(self) -> str:
        """The title of an axis of its values."""
        return f"{self.title}{self.unit}"

    @property
    def ticks(self) -> str:
        """The format of ticks at its values: as many decimals as they differ in, so that none stands there twice."""
        return ".2~f" if self.metric.in_percent else ".4~f"

    @property
    def expected(self) -> str:
        """The title of an axis of its expected values."""
        return f"Expected {self.name}{self.unit}"

    def axis_of(self, difference: str) -> str:
        """The title of an axis of differences."""
        return f"{difference} (points)" if self.metric.in_percent else difference

    def value(self, value: float, interval: Interval | None = None) -> str:
        """A value of it."""
        return (percent if self.metric.in_percent else gap)(value, interval)

    def difference(self, value: float, interval: Interval | None = None) -> str:
        """A difference of two values of it."""
        return (points if self.metric.in_percent else gap)(value, interval)

    def bare(self, value: float) -> str:
        """A value, or a difference of two, where its unit stands elsewhere."""
        return (fixed if self.metric.in_percent else bare)(self.factor * value, self.decimals)


OF_ACCURACY = InWords(METRICS[ACCURACY])
"""How sentences speak of what is meant where no metric is named."""


def estimate(metric: Metric, scored: Scored, design: Design = EACH_SAMPLE) -> MetricEstimate:
    """The value, its interval over units, and its baseline.

    Examples
    --------
    >>> scored = Scored(np.repeat([0, 1], 50), np.repeat([0, 1, 0, 1], [45, 5, 10, 40]), 2)
    >>> made = estimate(METRICS["balanced_accuracy"], scored)
    >>> round(made.value, 3), round(made.interval.lower, 3), round(made.interval.upper, 3), made.baseline
    (0.85, 0.764, 0.907, 0.5)
    """
    if not metric.applies(scored) or isnan(value := metric.value(scored)):
        return MetricEstimate(metric.name, nan, UNKNOWN, scored.n, why_not="the set lacks a class that it needs")
    interval, why_not = _interval(metric, scored, design, value)
    return MetricEstimate(metric.name, value, interval, scored.n, metric.baseline(scored), why_not)


def _interval(metric: Metric, scored: Scored, design: Design, value: float) -> tuple[Interval, str]:
    if not metric.has_interval:
        return UNKNOWN, f"of the {metric.title} chance alone makes a part that is not known"
    if not design.enough:
        return UNKNOWN, f"there are fewer than {FEWEST_UNITS} {design.others}"
    if metric.share is not None:
        rows, counted = metric.share(scored)
        share = design.of(rows).wilson(counted[rows])
        why = "" if share.known else f"it rests on fewer than {FEWEST_UNITS} {design.others}"
        turned = metric.from_share or float
        return Interval(turned(share.lower), turned(share.upper)), why
    by_class, classes = UNKNOWN, np.unique(scored.y_true)
    if metric.reads_classes and len(classes) == 1:
        return UNKNOWN, "all samples are of one class"
    short = "" if not metric.reads_classes else _short(scored, classes, design)
    if metric.mean_of_shares is not None and (not short or (len(classes) <= 2 and design.by_sample)):
        by_class = _of_shares(metric.mean_of_shares(scored), design, value)
        by_class = within(by_class, metric.lowest, metric.highest[scored.n_classes > 2]) if by_class.known else by_class
        if by_class.known and design.by_sample:
            return by_class, ""
    if short:
        return UNKNOWN, short
    if _few_lose(metric, scored, design):
        return _of_what_could_be_lost(metric, scored, design), ""
    error = error_of(metric.influences(scored), scored.y_true, design)
    if not error.df > 0:
        return UNKNOWN, f"too few {design.others} tell"
    interval = _scaled(metric, value, error, scored, design)
    if not interval.known:
        return UNKNOWN, "a few samples make nearly all of it"
    return joined(by_class, interval) if by_class.known else interval, ""


def _of_shares(shares: list[Parts], design: Design, value: float) -> Interval:
    """The mean of shares of samples that are not the same, of Wilson's interval of each (Zou and Donner 2008)."""
    each = [design.of(rows).wilson(counted[rows]) for rows, counted in shares]
    if not all(interval.known for interval in each):
        return UNKNOWN
    values = np.array([counted[rows].mean() for rows, counted in shares])
    down, up = ([getattr(interval, end) for interval in each] for end in ("lower", "upper"))
    less, more = np.hypot.reduce(values - down) / len(each), np.hypot.reduce(up - values) / len(each)
    sizes = np.array([rows.sum() for rows, _ in shares])
    smooth = (values * sizes + 1) / (sizes + 2)
    se = float(np.sqrt((smooth * (1 - smooth) / (sizes + 2)).sum())) / len(each)
    return joined(Interval(float(value - less), float(value + more)), share_interval(value, se, inf))


def _short(scored: Scored, classes: np.ndarray, design: Design) -> str:
    """Why a class is too small to learn from what its samples differ by; empty where none is."""
    for label in classes:
        rows = scored.y_true == label
        if rows.sum() < FEWEST_OF_CLASS:
            return f"a class has fewer than {FEWEST_OF_CLASS} samples"
        if not design.of(rows).enough:
            return f"a class is of fewer than {FEWEST_UNITS} {design.others}"
    return ""


def error_of(influences: Float[np.ndarray, " n"], y_true: Integer[np.ndarray, " n"], design: Design) -> Error:
    """The error over units; of samples, degrees of freedom are those of the classes that move it (Satterthwaite)."""
    if not design.by_sample:
        error = design.error(influences)
        return replace(error, se=0.0, n_moving=0.0) if error.se <= ROUNDED else error
    n = np.bincount(y_true).astype(float)
    variances = np.bincount(y_true, weights=influences**2) * n / np.maximum(n - 1, 1)
    spread = float((variances[n > 1] ** 2 / (n[n > 1] - 1)).sum())
    total = float(variances.sum())
    if total <= ROUNDED**2:
        return Error(0.0, inf, n_moving=0.0)
    return Error(sqrt(total), total**2 / spread if spread > 0 else inf, n_moving=alike(influences**2))


def _scaled(metric: Metric, value: float, error: Error, scored: Scored, design: Design) -> Interval:
    """Wilson's form within the metric's range, or the logarithm's where it has no end.

    Few samples may make nearly all of the variance: then it is known as badly as of so few. Where nothing varies, the
    interval is that of the smallest class, of which all are right.
    """
    df = min(error.df, max(error.n_moving, 2.0)) if error.se > 0 else error.df
    highest = metric.highest[scored.n_classes > 2]
    if inf in (highest, -metric.lowest):  # by the logarithm of how far it is from its only end
        far = value - metric.lowest if highest == inf else highest - value
        if not far > 0:
            return UNKNOWN
        near, most = far * np.exp(np.array([-1, 1]) * half_width(error.se / far, df))
        return Interval(float(near), float(most)) if highest == inf else Interval(highest - most, highest - near)
    span = highest - metric.lowest
    share = min(max((value - metric.lowest) / span, 0.0), 1.0)
    interval = share_interval(share, error.se / span, df)
    if not error.se > 0:
        least = float(np.bincount(scored.y_true)[np.unique(scored.y_true)].min())
        least = least if design.by_sample else min(least, float(design.units(scored.n).n[0]))
        interval = joined(interval, wilson(share * least, least))
    return interval.scaled(span, metric.lowest)


def _few_lose(metric: Metric, scored: Scored, design: Design) -> bool:
    """Whether it is of losses, and so few units lose nearly all that others may lose anything."""
    if metric.losses is None or metric.most_of_samples is None:
        return False
    lost = metric.losses(scored)
    return error_of((lost - lost.mean()) / scored.n, scored.y_true, design).n_moving < FEWEST_MOVING


def _of_what_could_be_lost(metric: Metric, scored: Scored, design: Design) -> Interval:
    """Wilson's interval of the share that is lost of the most that samples could lose, each unit taken for one sample.

    No mean within these bounds varies more than a share of units that lose all or nothing.
    """
    assert metric.losses is not None
    assert metric.most_of_samples is not None
    most, n = float(metric.most_of_samples(scored).max()), alike(1.0 * design.units(scored.n).sizes[0])
    share = wilson(float(metric.losses(scored).mean()) / most * n, n)
    if metric.saved_of is None:
        return share.scaled(most)
    return share.scaled(-most / float(metric.losses(knowing_shares(scored)).mean()), 1.0)


# Metrics of one model on two test sets, and the classes that it takes for each other.


MOST_AREAS = 200
"""Of more classes, areas under the curve of each against the rest take minutes, and are left out."""
_POSITIVE = re.compile(
    r"1|true|yes|y|pos(itive)?|present|case|event|anomaly|abnormal|malignant|diseased?|sick|cancer|spam|fraud(ulent)?|"
    r"attack|malicious|malware|toxic|hate|abuse|churn(ed)?|default(ed)?|defect(ive)?|fail(ed)?"
)
_NEGATIVE = re.compile(
    r"0|-1|false|no|n|neg(ative)?|absent|control|none|normal|benign|healthy|ham|legit(imate)?|genuine|clean|ok|"
    r"non-?toxic|retained|pass(ed)?"
)
"""What the two classes of a decision are usually called."""


@dataclass(frozen=True)
class MetricOnSets:
    """A metric on both sets, and by how much the new set is worse (with a loss, by how much it is higher)."""

    reference: MetricEstimate
    target: MetricEstimate
    worse: float
    interval: Interval

    @property
    def metric(self) -> Metric:
        """Its entry in the registry."""
        return METRICS[self.reference.metric]


@dataclass(frozen=True)
class Confusion:
    """A cell of the confusion matrices of both sets: samples of a class, and what they were predicted as."""

    truth: str
    predicted: str
    reference: Cell
    target: Cell
    claim: Claim | None = None
    """Is the share larger on the new set? Corrected over all cells beside the diagonal; None where it is not known."""


@dataclass(frozen=True)
class MetricsOnSets:
    """Every metric that two sets give; `positive` is the class that those of one class are about, None of several.

    `sure` says whether its name says so, and not that it is the rarer one alone. `confusions` are the cells of the
    confusion matrices that hold a sample, those with most samples of the new set first.
    """

    rows: tuple[MetricOnSets, ...]
    positive: str | None
    sure: bool
    class_names: tuple[str, ...]
    confusions: tuple[Confusion, ...]

    def words(self, name: str) -> InWords:
        """How sentences speak of one of the metrics."""
        return InWords(METRICS[name], self.positive)

    @property
    def mistakes(self) -> tuple[Confusion, ...]:
        """The cells beside the diagonal: classes that were predicted as others."""
        return tuple(cell for cell in self.confusions if cell.truth != cell.predicted)

    @property
    def most_changed(self) -> Claim | None:
        """The claim of the confusion whose share differs most surely; None where none is known."""
        claims = [each.claim for each in self.mistakes if each.claim is not None]
        return min(claims, key=lambda claim: claim.p_value, default=None)

    @cached_property
    def matrices(self) -> dict[str, ConfusionMatrix]:
        """The confusion matrices of the "reference" and the "target" set."""
        at = {name: i for i, name in enumerate(self.class_names)}
        places = [((at[each.truth], at[each.predicted]), each) for each in self.confusions]
        cells = {side: {place: getattr(each, side) for place, each in places} for side in ("reference", "target")}
        return {side: ConfusionMatrix(self.class_names, of_side) for side, of_side in cells.items()}

    def of(self, name: str) -> MetricOnSets | None:
        """One metric by name; None where it is not there."""
        return next((row for row in self.rows if row.reference.metric == name), None)


def positive_class(class_names: Sequence[str], n_of: Float[np.ndarray, " n_classes"]) -> tuple[int, bool]:
    """The class that sensitivity is about, of two: the one that is called so, else the rarer one; is that sure?

    Examples
    --------
    >>> positive_class(["fraud", "legit"], np.ones(2)), positive_class(["cat", "dog"], np.array([3.0, 7.0]))
    ((0, True), (0, False))
    """
    names = [name.strip().lower() for name in class_names]
    positive, negative = ([bool(words.fullmatch(name)) for name in names] for words in (_POSITIVE, _NEGATIVE))
    for i in range(2):
        if (positive[i] and not positive[1 - i]) or (negative[1 - i] and not negative[i]):
            return i, True
    return (int(n_of[1] <= n_of[0]), False)


@dataclass(frozen=True, eq=False)
class ScoredSets:
    """What metrics are of on two sets, with the classes of both, and the class that metrics of one class are about.

    `positive` is None where there are several classes and none was named; `sure` says whether its name says so.
    """

    sides: tuple[Scored, Scored]
    class_names: tuple[str, ...]
    positive: str | None
    sure: bool

    def problem(self, metric: Metric) -> str:
        """Why these sets do not give a metric; empty where they do.

        >>> one = Predictions(["a", "b", "c"], [0, 1, 2], [0, 1, 2], ["x", "y", "z"])
        >>> scored_sets(one, one).problem(METRICS["recall"])
        'sensitivity (recall) is about one class: name it as the positive one'
        """
        if metric.of_class and self.positive is None:
            return f"{metric.title} is about one class: name it as the positive one"
        if not all(metric.applies(side) for side in self.sides):
            return f"{metric.title} needs the probabilities of all classes in both sets"
        if metric.influence is not None and len(self.class_names) > MOST_AREAS:
            return f"{metric.title} takes minutes with more than {MOST_AREAS} classes"
        return ""


def classes_of(reference: Predictions, target: Predictions) -> tuple[str, ...]:
    """The classes of two sets."""
    return tuple(dict.fromkeys((*reference.class_names, *target.class_names)))


def metrics_given(reference: Predictions, target: Predictions) -> tuple[str, ...]:
    """The names of the metrics that two sets give, those of one class among them.

    >>> one = Predictions(["a", "b"], [0, 1], [0, 1], ["x", "y"])
    >>> "roc_auc" in metrics_given(one, one), "recall" in metrics_given(one, one)
    (False, True)
    """
    known = all(probabilities_of(each) is not None for each in (reference, target))
    few = len(classes_of(reference, target)) <= MOST_AREAS
    return tuple(
        name
        for name, metric in METRICS.items()
        if (known or metric.needs == "labels") and (few or metric.influence is None)
    )


def scored_sets(reference: Predictions, target: Predictions, positive: str | None = None) -> ScoredSets:
    """Both sets with the classes of both. Raises DataError where there is no class called as the `positive` one."""
    names = classes_of(reference, target)
    if positive is not None and positive not in names:
        raise DataError(f"There is no class {positive!r}. Choose one of {listed(names)}.")
    own, other = (scored_as(each, names) for each in (reference, target))
    label, sure = (1, False) if positive is None else (names.index(positive), True)
    if positive is None and len(names) == 2:
        label, sure = positive_class(names, own.counts.true + other.counts.true)
    known = names[label] if positive is not None or len(names) == 2 else None
    return ScoredSets((replace(own, positive=label), replace(other, positive=label)), names, known, sure)


def metrics_on_sets(
    reference: Predictions, target: Predictions, units: Units, *, positive: str | None = None
) -> MetricsOnSets:
    """Every metric of the registry on both sets; of two classes also those of the `positive` one.

    `units` are those of both sets, for their difference. Raises DataError where there is no class of this name.

    Examples
    --------
    >>> from touchstone.core.evaluate.units import samples_as_units
    >>> truth = [0, 1] * 30
    >>> old = Predictions(map(str, range(60)), truth, truth, ["ham", "spam"])
    >>> new = Predictions(map(str, range(60)), truth, [0] * 10 + truth[10:], ["ham", "spam"])
    >>> found = metrics_on_sets(old, new, samples_as_units(60, 60))
    >>> found.positive, round(found.of("recall").target.value, 3), found.mistakes[0].target.n_predicted
    ('spam', 0.833, 5)
    """
    sets = scored_sets(reference, target, positive)
    designs = [design_of_units(each.units, each.unit_word) for each in (reference, target)]
    made = (on_two_sets(metric, sets.sides, designs, units) for metric in METRICS.values() if not sets.problem(metric))
    rows = tuple(row for row in made if not isnan(row.reference.value) or not isnan(row.target.value))
    confusions = _confusions(sets.class_names, sets.sides, designs)
    return MetricsOnSets(rows, sets.positive, sets.sure, sets.class_names, confusions)


def scored_as(predictions: Predictions, names: tuple[str, ...]) -> Scored:
    """Predictions with the classes of several files, theirs among them."""
    at = {name: i for i, name in enumerate(names)}
    code = np.array([at[name] for name in predictions.class_names])
    known, proba = probabilities_of(predictions), None
    if known is not None:
        proba = np.zeros((predictions.n_samples, len(names)))
        proba[:, code] = known
    return Scored(code[predictions.y_true], code[predictions.y_pred], len(names), proba)


def on_two_sets(metric: Metric, sides: Sequence[Scored], designs: Sequence[Design], units: Units) -> MetricOnSets:
    """A metric on two sets whose `units` may be in both; by how much the second is worse, over units."""
    own, other = (estimate(metric, side, design) for side, design in zip(sides, designs, strict=True))
    sign = 1.0 if metric.larger_is_better else -1.0
    worse, span = sign * (own.value - other.value), metric.highest[sides[0].n_classes > 2] - metric.lowest
    if not (own.interval.known and other.interval.known):
        return MetricOnSets(own, other, worse, UNKNOWN)
    if units.n_common:
        error = units.error(*(turn * metric.influences(side) for turn, side in zip((sign, -sign), sides, strict=True)))
        few = any(_few_lose(metric, side, design) for side, design in zip(sides, designs, strict=True))
        if error.se > ROUNDED and not few:
            half = half_width(error.se, error.df)
            return MetricOnSets(own, other, worse, within(growing_interval(worse, half, half), -span, span))
    less = apart(own.value, own.interval, other.value, other.interval)
    return MetricOnSets(own, other, worse, within(less.scaled(sign), -span, span))


def _confusions(names: tuple[str, ...], sides: Sequence[Scored], designs: Sequence[Design]) -> tuple[Confusion, ...]:
    """The cells that hold a sample of either set; they are shares of a class, whose samples came in units."""
    both = [np.concatenate([getattr(side, name) for side in sides]) for name in ("y_true", "y_pred")]
    pairs = confusion_matrix(*both, names).cells.keys()
    reference, target = (
        confusion_matrix(side.y_true, side.y_pred, names, design, also=pairs).cells
        for side, design in zip(sides, designs, strict=True)
    )
    confusions = [Confusion(names[i], names[j], reference[i, j], target[i, j]) for i, j in pairs]
    return tuple(sorted(confusions, key=lambda each: (-each.target.n_predicted, -each.reference.n_predicted)))
