"""What comes out of comparing two test sets: every number with its interval and its n, and what may be said of it."""

from dataclasses import asdict, dataclass
from math import nan

import numpy as np
import pandas as pd
from jaxtyping import Float, Integer

from touchstone.core.data.predictions.record import Predictions
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.intervals import UNKNOWN, Interval
from touchstone.core.evaluate.matched_subsets.expected import Neighbours
from touchstone.core.evaluate.matched_subsets.loops import loops_for
from touchstone.core.evaluate.matched_subsets.matching import By, Candidates, MatchedSubsets, Method
from touchstone.core.evaluate.matched_subsets.outcomes import ALIKE_IN, Scale
from touchstone.core.evaluate.metric_estimates import InWords, MetricsOnSets
from touchstone.core.evaluate.metrics import ACCURACY, METRICS
from touchstone.core.evaluate.thresholds import Decisions
from touchstone.core.evaluate.units import Units

FEWEST_PAIRS = 30
"""Below so many pairs nothing is claimed, of a label or of the sets."""
Z_OF_SHOWN = 2.8
"""So many standard errors an effect has to have to be found, at 5 %, in four of five cases."""
FIELDS = {"falls": "gap", "residual": "matched_gap", "mix": "mix", "unmatched": "unmatched"}
"""Claims by the estimate that they are of; the last three add up to the first, with what cannot be compared."""
SET_NAMES = {"reference": "the reference set", "target": "the new set"}
"""What either set is called within a sentence."""
KINDS = {
    "falls": "matched_subsets.falls",
    "residual": "matched_subsets.residual",
    "mix": "matched_subsets.mix",
    "unmatched": "matched_subsets.unmatched",
    "labels": "matched_subsets.labels",
    "baseline": "matched_subsets.baseline",
    "calibration": "matched_subsets.calibration",
    "confusion": "matched_subsets.confusion",
}
"""Their kinds, with those of the residual of one predicted label, of the gain over the majority class, of mean
confidence less accuracy, and of a class that is predicted as another."""


@dataclass(frozen=True)
class SetEstimate:
    """A number with its 95 % interval over data, and the name of the way it was found. NaN: not told by the data.

    `p_value` (of 0) comes from the distribution that gave the interval; `mc_error` is by how much another seed would
    move its ends (a standard error). `se` is the standard error that it would have if it were 0, where it is known.
    """

    value: float
    interval: Interval = UNKNOWN
    by: str = ""
    p_value: float = nan
    mc_error: float = nan
    se: float = nan


NOT_KNOWN = SetEstimate(nan)


@dataclass(frozen=True)
class Baseline:
    """What would be reached on a set without learning: the best that frequencies of classes alone give.

    `gain` claims that the model is above that. Of accuracy it is always answering `label`, the most frequent class, and
    `chance` is what guessing by shares reaches; `only` is the one class that a model answers throughout, else None.
    """

    set: str
    reached: float
    gain: Claim
    p_value: float
    """Of the gain alone; that of the claim is corrected for all claims that stand beside it."""
    label: str = ""
    chance: float = nan
    only: str | None = None
    one_class: bool = False
    """Whether all samples of the set are of one class: its accuracy is then the recall of that class."""
    renamed: bool = False
    """Whether other names for the predicted classes would bring the accuracy above that of the majority class."""


@dataclass(frozen=True)
class SetCalibration:
    """Mean confidence and accuracy on a set; the claim is of the first less the second: positive is overconfident."""

    set: str
    confidence: float
    accuracy: float
    claim: Claim
    p_value: float
    """Of calibration alone; that of the claim is corrected for all claims that stand beside it."""


@dataclass(frozen=True)
class Subset:
    """One of the paper's subsets: how many samples, what the metric comes to, how sure the model was of them.

    Of matched and unmatched subsets these are means over the repeats; the interval of a share is Wilson's.
    `majority` and `chance` are what its most frequent class, and guessing by its class shares, would reach (NaN where
    the true classes are not known).
    """

    name: str
    n: float
    reached: SetEstimate
    mean_confidence: float
    majority: float = nan
    chance: float = nan


@dataclass(frozen=True)
class LabelGap:
    """The targets of one predicted label, and the references they were paired with."""

    label: str
    n_reference: int
    n_target: int
    n_pairs: float
    """Mean over the repeats."""
    matched_reference_accuracy: float
    matched_target_accuracy: float
    matched_gap: SetEstimate
    claim: Claim | None = None
    """Of one family with all others of its verdict; None for labels with too few pairs."""

    @property
    def enough(self) -> bool:
        """Whether there are pairs enough to claim anything."""
        return self.n_pairs >= FEWEST_PAIRS

    @property
    def differs(self) -> bool:
        """Whether accuracy differs at the same confidence, corrected for the number of labels."""
        return self.claim is not None and self.claim.decision in ("above", "below")


@dataclass(frozen=True, eq=False)
class SetComparison:
    """One model on two test sets. `gap`: by how much a metric is worse on the target than on the reference.

    The metric is accuracy unless `metric` names another one; it may be about one class, and then rest on some samples
    alone, which are the ones that are counted here.
    """

    model: str
    epsilon: float
    by: By
    method: Method
    n_reference: int
    n_target: int
    subsets: tuple[Subset, ...]
    gap: SetEstimate
    n_repeats: int = 0
    n_pairs: float = 0.0
    """Mean over the repeats, as everything that rests on matching; 0 where no confidence was given."""
    matched_gap: SetEstimate = NOT_KNOWN
    """The part of the gap that is left at equal confidence; with the next two it adds up to the gap."""
    mix: SetEstimate = NOT_KNOWN
    """What the reference would lose with the confidences of the target."""
    unmatched: SetEstimate = NOT_KNOWN
    """What unmatched targets lose beyond what their confidence and the matched gap say."""
    rounded: SetEstimate = NOT_KNOWN
    """What targets add whose confidence was rounded to 1, so that nothing can be compared; 0 where there are none."""
    unmatched_target: SetEstimate = NOT_KNOWN
    unmatched_reference: SetEstimate = NOT_KNOWN
    least_unmatched_target: float = nan
    """Share of the target set that no matching at all could have paired (method "maximum")."""
    confidence_difference: float = nan
    """Mean confidence of matched references less that of matched targets, the check of balance."""
    spread: float = nan
    """Standard deviation of the matched gap over the repeats: the luck of matching, and no uncertainty about data."""
    labels: tuple[LabelGap, ...] = ()
    matched: MatchedSubsets | None = None
    """The first repeat: the one in the table of samples and in reliability diagrams."""
    baselines: tuple[Baseline, ...] = ()
    """Of the sets of which the true classes are known."""
    claims: tuple[Claim, ...] = ()
    """Of the fall and, where enough pairs matched, of its three parts; one family with all others of its verdict."""
    calibrations: tuple[SetCalibration, ...] = ()
    """Of both sets, where confidences were given."""
    scale: Scale = "confidence"
    units: Units | None = None
    """What was sampled independently, in both sets; None: not said."""
    unit_words: tuple[str, str] = ("unit", "unit")
    n_strata: tuple[int, int] = (0, 0)
    """Of how many sources either set is, where these are too few to stand for others."""
    as_published: SetEstimate | None = None
    """The matched gap on raw confidences, where `scale` is another."""
    metrics: MetricsOnSets | None = None
    """Every metric on both sets, where predictions of classes were given."""
    metric: str = ACCURACY
    decisions: Decisions | None = None
    """Every threshold, of two classes with probabilities."""

    @property
    def words(self) -> InWords:
        """How sentences speak of the metric."""
        return InWords(METRICS[self.metric], None if self.metrics is None else self.metrics.positive)

    @property
    def by_metric(self) -> tuple[str, ...]:
        """What its numbers are of: the model and, where it is not accuracy, the metric."""
        return (self.model,) if self.metric == ACCURACY else (self.model, self.metric)

    def subset(self, name: str) -> Subset:
        """One of the subsets by name, e.g. "matched target"."""
        return next(subset for subset in self.subsets if subset.name == name)

    def claim(self, name: str) -> Claim | None:
        """That of "falls", "residual", "mix" or "unmatched"; None where too few pairs matched to make it."""
        return next((claim for claim in self.claims if claim.kind == KINDS[name]), None)

    @property
    def alike_in(self) -> str:
        """In what the samples of a pair are alike, in one word: "at equal confidence"."""
        return ALIKE_IN[self.scale]

    @property
    def parts(self) -> dict[str, SetEstimate]:
        """The three parts of the gap, the largest first; they add up to it."""
        parts = {name: getattr(self, FIELDS[name]) for name in ("mix", "residual", "unmatched")}
        return dict(sorted(parts.items(), key=lambda part: -abs(part[1].value)))

    @property
    def can_match(self) -> bool:
        """Whether both sets told how sure the model was."""
        return self.matched is not None

    @property
    def can_calibrate(self) -> bool:
        """Whether confidence and accuracy can be compared: not among samples that were picked by their true class."""
        return self.can_match and METRICS[self.metric].share_of != "truth"

    @property
    def enough(self) -> bool:
        """Whether there are pairs enough to claim anything about matched samples."""
        return self.n_pairs >= FEWEST_PAIRS

    @property
    def n_rounded(self) -> int:
        """How many targets cannot be compared, because their confidence was rounded to 1."""
        return round(sum(subset.n for subset in self.subsets if subset.name == "rounded target"))

    @property
    def by_units(self) -> bool:
        """Whether samples came in units."""
        return self.units is not None and not self.units.by_sample

    @property
    def enough_units(self) -> bool:
        """Whether both sets have units enough to say something of others."""
        return self.units is None or self.units.enough or self.units.by_sample

    @property
    def shows(self) -> float:
        """The smallest fall that sets like these show in four of five cases; NaN where nothing can be said."""
        gap = self.gap
        return (Z_OF_SHOWN / 1.96) * gap.interval.width / 2 if gap.interval.known else nan

    def labels_table(self) -> pd.DataFrame:
        """Tidy rows, one per predicted label: the fields of `LabelGap`, its estimate and claim flat, and `enough`."""
        return pd.DataFrame([_flat(row) | {"enough": row.enough} for row in self.labels])


@dataclass(frozen=True, eq=False)
class ModelComparisons:
    """Many models on the same two sets, by increasing accuracy on the reference."""

    rows: tuple[SetComparison, ...]
    in_one_set_only: tuple[str, ...]
    """Models that were left out because only one of the sets has their predictions."""

    @property
    def words(self) -> InWords:
        """How sentences speak of the metric, which is that of all."""
        return self.rows[0].words

    def table(self) -> pd.DataFrame:
        """See `comparison_table`."""
        return comparison_table(self.rows)


_NUMBERS = ("epsilon", "by", "method", "n_repeats", "n_reference", "n_target", "n_pairs")
_UNCLAIMED = ("unmatched_target", "unmatched_reference", "rounded")
_REST = ("least_unmatched_target", "confidence_difference", "spread")


def comparison_table(rows: tuple[SetComparison, ...]) -> pd.DataFrame:
    """Tidy rows, one per model or epsilon.

    For `gap, matched_gap, mix, unmatched, unmatched_target, unmatched_reference, rounded` the value, `_lower`, `_upper`
    and `_by`, for the first four also `_p` (corrected for all claims) and `_decision`; for each subset `n_`,
    the metric (`accuracy_`), `mean_confidence_`, `majority_` and `chance_`; all shares are fractions.
    """
    cells = []
    for row in rows:
        cell: dict[str, object] = {"model": row.model}
        cell |= {name: getattr(row, name) for name in _NUMBERS}
        for kind, name in FIELDS.items():
            cell |= _estimate_cells(name, getattr(row, name)) | _claim_cells(f"{name}_", row.claim(kind))
        for name in _UNCLAIMED:
            cell |= _estimate_cells(name, getattr(row, name))
        cell |= {name: getattr(row, name) for name in _REST}
        for subset in row.subsets:
            name = subset.name.replace(" ", "_")
            cell |= {f"n_{name}": subset.n, f"{row.metric}_{name}": subset.reached.value}
            cell |= {f"mean_confidence_{name}": subset.mean_confidence}
            cell |= {f"majority_{name}": subset.majority, f"chance_{name}": subset.chance}
        cells.append(cell)
    return pd.DataFrame(cells)


def _flat(row: LabelGap) -> dict[str, object]:
    cells = asdict(row)
    del cells["matched_gap"], cells["claim"]
    return cells | _estimate_cells("matched_gap", row.matched_gap) | _claim_cells("", row.claim)


def _estimate_cells(name: str, estimate: SetEstimate) -> dict[str, object]:
    return {name: estimate.value, **estimate.interval.columns(f"{name}_"), f"{name}_by": estimate.by}


def _claim_cells(name: str, claim: Claim | None) -> dict[str, object]:
    """An undecided one and one that was not made read alike."""
    decision = "undecided" if claim is None else claim.decision
    return {f"{name}p": nan if claim is None else claim.p_value, f"{name}decision": decision}


# Which samples are in which subset? One row each, with the ids and labels that the files call them by.


def samples_table(matched: MatchedSubsets, reference: Predictions, target: Predictions) -> pd.DataFrame:
    """One row per sample: `set, id, truth, predicted, confidence, correct, subset, pair` (NA where unmatched).

    Samples of one pair share its number. `subset` is "matched reference", "unmatched target" and so on.

    Examples
    --------
    >>> from touchstone.core.evaluate.matched_subsets.matching import match
    >>> one = Predictions(["a", "b"], [0, 1], [0, 0], ["cat", "dog"], confidence=[0.9, 0.6])
    >>> other = Predictions(["c"], [1], [0], ["cat", "dog"], confidence=[0.602])
    >>> found = samples_table(match(one, other, rng=np.random.default_rng(0)), one, other)
    >>> found[["id", "truth", "subset", "pair"]].values.tolist()
    [['a', 'cat', 'unmatched reference', <NA>], ['b', 'dog', 'matched reference', 0], ['c', 'dog', 'matched target', 0]]
    """
    rows = matched.table()
    truth = [np.array(predictions.class_names, dtype=object)[predictions.y_true] for predictions in (reference, target)]
    rows.insert(1, "id", np.concatenate([reference.ids, target.ids]))
    rows.insert(2, "truth", np.concatenate(truth))
    return rows.drop(columns="row")


# What does a matching come to? Its counts, and the numbers that follow from counts: the gap and its parts.


STATISTICS = ("gap", "matched_gap", "mix", "unmatched", "unmatched_target", "unmatched_reference", "rounded")
COUNTED = ("n_pairs", "right", "other", "expected")
"""Pairs, right references and right targets of these, and right answers expected of the unmatched targets. By label
follow pairs, right references, right targets, and the pairs of which just one is right."""
BY_LABEL = 4
"""So many counts of each label."""

Counts = Float[np.ndarray, "*repeats width"]


@dataclass(frozen=True)
class Whole:
    """What no matching changes: samples and right ones of both sets (or what all are worth); of targets that cannot be
    compared how many there are, how many right, and how many expected to be."""

    n_reference: int
    n_target: int
    correct: float
    target_correct: float
    n_rounded: int = 0
    rounded_correct: float = 0.0
    rounded_expected: float = 0.0


class Tally:
    """Counts matchings of two sets, and how often each sample was paired."""

    def __init__(self, pairable: Candidates):
        self.pairable, self.neighbours = pairable, Neighbours(pairable)
        reference, target, apart = pairable.reference, pairable.target, pairable.levels.target_rounded
        expected = self.neighbours.expected
        self.whole = Whole(
            len(reference),
            len(target),
            float(reference.compared.sum()),
            float(target.compared.sum()),
            int(apart.sum()),
            float(target.compared[apart].sum()),
            float(expected[apart].sum()),
        )
        self._of_reference = reference.compared
        self._of_target = (target.compared, expected, apart, target.label)
        self._times, self._target_times = np.zeros(len(reference)), np.zeros(len(target))
        self.n_counted = 0

    def count(self, partner: Integer[np.ndarray, " n_target"]) -> Float[np.ndarray, " width"]:
        """The counts of one matching: each target's reference, -1 where it has none."""
        n_labels = len(self.pairable.reference.class_names)
        self.n_counted += 1
        times = self._times, self._target_times
        return loops_for(20 + len(partner) // 50).count_matching(
            partner, self._of_reference, *self._of_target, n_labels, *times
        )

    @property
    def paired(self) -> tuple[Float[np.ndarray, " n_reference"], Float[np.ndarray, " n_target"]]:
        """In which share of the matchings each sample was paired."""
        n = max(self.n_counted, 1)
        return self._times / n, self._target_times / n


def statistics(counts: Counts, whole: Whole) -> Float[np.ndarray, "*repeats n_statistics"]:
    """`STATISTICS`, then the matched gap of every predicted label; NaN where nothing matched. Of counts or their means.

    Examples
    --------
    >>> counts = np.array([4.0, 4.0, 3.0, 0.5, 4.0, 4.0, 3.0, 1.0])
    >>> gap, residual, mix, unmatched, *_ = statistics(counts, Whole(10, 5, 9.0, 3.0)).tolist()
    >>> round(gap, 3), round(residual, 3), round(mix, 3), round(unmatched, 3)
    (0.3, 0.25, 0.0, 0.05)
    """
    n, right, other, expected = (counts[..., i] for i in range(len(COUNTED)))
    n_label, right_label, other_label, _ = by_label(counts)
    with np.errstate(invalid="ignore", divide="ignore"):
        residual, of_labels = (right - other) / n, (right_label - other_label) / n_label
    n_target, apart = whole.n_target, whole.n_rounded
    accuracy, left = whole.correct / whole.n_reference, n_target - n - apart
    gap = np.broadcast_to(accuracy - whole.target_correct / n_target, n.shape)
    mix = accuracy - (right + expected + whole.rounded_expected) / n_target
    left_correct = whole.target_correct - whole.rounded_correct - other
    unmatched = (expected - left_correct - left * residual) / n_target
    rounded = (whole.rounded_expected - whole.rounded_correct - (apart * residual if apart else 0.0)) / n_target
    shares = (left / n_target, 1 - n / whole.n_reference)
    parts = [gap, residual, mix, unmatched, *shares, np.broadcast_to(rounded, n.shape)]
    return np.concatenate([np.stack(parts, axis=-1), of_labels], axis=-1)


def by_label(counts: Counts) -> list[Float[np.ndarray, "*repeats n_labels"]]:
    """The counts that are there of each label, as in `COUNTED`."""
    return np.split(counts[..., len(COUNTED) :], BY_LABEL, axis=-1)
