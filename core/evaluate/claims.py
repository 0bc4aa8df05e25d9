"""When may something be said? One rule for the sentences of every question.

A claim is made only where its interval and its test agree after correction: both come from one distribution, or the
test is an exact one of the counts that the interval is of. The bound that it rests on has to clear its Monte-Carlo
error, and the effect has to be worth a sentence. All else is undecided. How often claims of each kind were wrong in
simulated worlds stands in `claim_error_rates.json`.

All claims of one verdict are one family: 5 % is the chance that any of them is wrong. Printed intervals are not
widened for it; where an interval alone would make a claim that the family does not, the sentence says so.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, Literal, TypeVar

import numpy as np
from scipy import special

from touchstone.core.evaluate.intervals import Interval, holm, t_interval, t_p_value

# Which kinds of claim are there? Each with its code, what it says and when, and what to do about it.
#
# A code is a letter for the question and two digits. It never changes and is never used again: requirements, muted
# claims and links name it. docs/claims.md has a section for each (`python -m core claims`).


@dataclass(frozen=True)
class ClaimKind:
    """One kind of claim, in plain words.

    Parameters
    ----------
    code, title
        What it is called; the title states what is asserted where the decision is one of `made`.
    above, below, small
        What is asserted by each decision; empty where none can come to it.
    when
        By which test, over what.
    advice
        What to do where it is made.
    smallest
        The smallest effect worth a sentence, in the claim's unit; 0 where every effect is.
    unit
        The claim's unit: "points" (of a fraction), or in words.
    made
        The decisions that make the title true.
    limits
        Whether that limits where an accuracy can be trusted; what is welcome, or about another model, does not.
    """

    code: str
    title: str
    above: str
    below: str
    small: str
    when: str
    advice: str
    smallest: float = 0.0
    unit: str = "points"
    made: tuple[str, ...] = ("above",)
    limits: bool = True

    @property
    def name(self) -> str:
        """Code and title, as headings and outputs have it."""
        return f"{self.code} {self.title}"

    @property
    def page(self) -> str:
        """Where the docs say more, from Touchstone's folder.

        >>> KINDS["matched_subsets.falls"].page
        'docs/claims.md#m01-accuracy-falls'
        """
        return f"docs/claims.md#{self.name.lower().replace(' ', '-')}"


_OF_SETS = "Over samples or units of both sets; all claims of a comparison are corrected together."
_OF_SOURCES = "Interval and test are over held-out sources and their samples."
_OF_SHARES = "An exact test against a random split of training and test samples, corrected for all claims of the page."
_BOTH = ("above", "below")

KINDS = {
    "matched_subsets.falls": ClaimKind(
        "M01", "Accuracy falls", "Accuracy is lower on the new set than on the reference set.",
        "Accuracy is higher on the new set.", "Accuracy is the same on both sets.", _OF_SETS,
        "See which part explains most of the fall (M02, M03, M04); each has its own remedy.", 0.005,
    ),
    "matched_subsets.residual": ClaimKind(
        "M02", "Accuracy falls at equal confidence", "At equal confidence, accuracy is lower on the new set.",
        "At equal confidence, accuracy is higher on the new set.", "At equal confidence, accuracy is the same.",
        f"{_OF_SETS} It takes at least 30 matched pairs.",
        "Recalibrate the model on labelled samples of the new set.", 0.005,
    ),
    "matched_subsets.mix": ClaimKind(
        "M03", "The mix of confidences lowers accuracy", "The new set has more samples of low confidence.",
        "The new set has more samples of high confidence.", "The mix of confidences changes nothing.",
        f"{_OF_SETS} It takes at least 30 matched pairs.",
        "Monitor confidences; this part of a fall shows on unlabelled data.", 0.005,
    ),
    "matched_subsets.unmatched": ClaimKind(
        "M04", "Unmatched samples lower accuracy",
        "Samples without a match lose more than matched ones, beyond what their confidence says.",
        "Samples without a match lose less than matched ones.", "Samples without a match change nothing.",
        f"{_OF_SETS} It takes at least 30 matched pairs.", "Inspect the unmatched samples of the new set.", 0.005,
    ),
    "matched_subsets.labels": ClaimKind(
        "M05", "A predicted label loses accuracy", "At equal confidence, accuracy is lower for this predicted label.",
        "At equal confidence, accuracy is higher for this predicted label.",
        "At equal confidence, accuracy is the same for this predicted label.",
        f"{_OF_SETS} It takes at least 30 matched pairs of the label.",
        "Inspect samples that are predicted as this class, and recalibrate by predicted label.", 0.005,
    ),
    "matched_subsets.baseline": ClaimKind(
        "M06", "Accuracy beats the majority class", "Accuracy is above that of always answering the majority class.",
        "Always answering the majority class is more accurate.", "",
        "Student's t over samples or units, corrected together with all claims of a comparison.",
        "Where it does not, look at balanced accuracy and AUC; where these are no better, at the class names.",
        limits=False,
    ),
    "matched_subsets.calibration": ClaimKind(
        "M07", "Confidence differs from accuracy", "The model is overconfident: confidence is above accuracy.",
        "The model is underconfident: confidence is below accuracy.", "Mean confidence is the accuracy.",
        "Over samples or units of the set; all claims of a comparison are corrected together.",
        "Recalibrate the model on labelled samples.", 0.005, made=_BOTH,
    ),
    "matched_subsets.confusion": ClaimKind(
        "M08", "A class is confused more often", "More samples of the class are predicted as the other on the new set.",
        "Fewer samples of the class are predicted as the other on the new set.", "",
        "Fisher's exact test over samples, and an interval over units, corrected for all confusions of a comparison "
        "(Holm), apart from its other claims.",
        "Inspect the samples of this cell, and collect more of both classes.",
    ),
    "source_robustness.falls": ClaimKind(
        "S01", "Accuracy falls on held-out sources", "Accuracy is lower on held-out sources than on those seen.",
        "Accuracy is higher on held-out sources.", "Accuracy is the same on held-out sources and on those seen.",
        _OF_SOURCES, "If inputs may come from new sources, plan for the lower bound.", 0.01,
    ),
    "source_robustness.below_baseline": ClaimKind(
        "S02", "Accuracy is below the majority class", "On held-out sources, the majority-class baseline is better.",
        "On held-out sources, the model beats the majority-class baseline.",
        "On held-out sources, the model is no better than the majority-class baseline.", _OF_SOURCES,
        "Find a model that beats the majority-class baseline.", 0.01,
    ),
    "source_robustness.beyond_cloud": ClaimKind(
        "S03", "Held-out clusters are harder than in data without groups",
        "The gap of found clusters is larger than in simulated data without groups.", "",
        "The gap of found clusters is as in simulated data without groups.",
        "A t prediction from at least 19 simulated data sets; a smaller gap than theirs is never claimed.",
        "Add a column of sources; only known ones show the cost of new ones.", 0.02,
    ),
    "source_robustness.class_falls_further": ClaimKind(
        "S04", "A class drops more than the others", "Rho of the class is below that of all other classes together.",
        "Rho of the class is above that of all others.", "Rho of the class is that of all others.",
        f"{_OF_SOURCES} Corrected for the number of classes (Holm).",
        "Collect samples of this class from more sources.", 0.01, "of rho",
    ),
    "source_robustness.worst_source": ClaimKind(
        "S05", "A held-out source is harder than the others", "Accuracy on this source is below that on the others.",
        "Accuracy on this source is above that on the others.", "Accuracy on this source is that on the others.",
        "Fisher's exact test, corrected for the number of sources. It takes two repeats or more.",
        "Look at the samples of this source, and at how they were collected.", 0.01,
    ),
    "source_robustness.model_keeps_more": ClaimKind(
        "S06", "Two models differ in rho", "The first model keeps more of its accuracy on held-out sources.",
        "The second model keeps more of its accuracy on held-out sources.", "Both keep as much of their accuracy.",
        "Interval and test are over sources, paired over the same draws; corrected for the number of pairs.",
        "Where inputs come from new sources, prefer the model that keeps more, if it is accurate enough.",
        0.01, "of rho", _BOTH, limits=False,
    ),
    "data_set_adequacy.gain": ClaimKind(
        "A01", "Twice as many samples would help", "The next doubling brings a gain that is worth collecting for.",
        "The next doubling would lower accuracy.", "The next doubling brings less than is worth collecting for.",
        "Interval and test are over sources and draws. The smallest gain worth collecting for can be chosen.",
        "Collect more samples like these.", 0.01,
    ),
    "data_set_adequacy.gap": ClaimKind(
        "A02", "New sources would help", "Accuracy on held-out sources is below that on sources seen in training.",
        "Accuracy on held-out sources is above that on sources seen in training.",
        "Accuracy on held-out sources is that on sources seen in training.",
        "Interval and test are over sources and draws, at the largest size. It is made of known sources only. The "
        "smallest gap worth collecting for can be chosen.",
        "Collect samples from new sources.", 0.01,
    ),
    "average_case.classes_differ": ClaimKind(
        "R01", "Classes differ in robustness", "The most robust class keeps more predictions than the least robust.",
        "", "All classes keep as many predictions.",
        "A test of shuffled labels, or over units Student's t corrected for all pairs. The gap is corrected for "
        "picking the largest.",
        "Check the labels of the least robust samples of the least robust class.", 0.01,
    ),
    "average_case.least_robust_wrong_more": ClaimKind(
        "R02", "Least robust samples are wrong more often",
        "The least robust 20 % of samples have a lower accuracy than the most robust 20 %.",
        "The least robust 20 % of samples have a higher accuracy than the most robust 20 %.", "",
        "A test of two shares, over samples or units. It takes at least 100 samples.",
        "Look at the least robust samples first.",
    ),
    "average_case.biased": ClaimKind(
        "R03", "The estimate of robustness is biased", "The estimator is too high on this model.",
        "The estimator is too low on this model.", "The estimator agrees with Monte-Carlo on average.",
        "Against Monte-Carlo, over the audited samples.", "Take a smaller sigma, more noisy copies, or Monte-Carlo.",
        0.02, made=_BOTH, limits=False,
    ),
    "average_case.mmse_farther_off": ClaimKind(
        "R04", "Plain MMSE is farther off than Taylor", "With five copies, plain MMSE has the larger mean error.",
        "With five copies, plain MMSE has the smaller mean error.", "",
        "Paired over the audited samples, confirmed by signs that are drawn.", "Use Taylor, or more noisy copies.",
        limits=False,
    ),
    "cluster_folds.harder": ClaimKind(
        "F01", "Scores fall on these folds", "The score is lower on these folds than on the baseline folds.",
        "The score is higher on these folds.", "The score is the same on both kinds of folds.",
        "Interval and test are over samples and seeds, corrected for the number of schemes. It takes three seeds.",
        "If inputs may differ as these folds do, plan for the lower score.", 0.01,
    ),
    "cluster_folds.labels_shift": ClaimKind(
        "F02", "Labels change with the folds", "Nearest neighbours share their label more often within a fold.",
        "Nearest neighbours share their label less often within a fold than across folds.",
        "Given the inputs, labels are the same within and across folds.", "Student's t over blocks of samples.",
        "Run k-means folds too: these folds differ in labels as well as inputs.", 0.05,
    ),
    "cluster_folds.differs_between_folds": ClaimKind(
        "F03", "Scores differ between folds", "Scores of folds spread more than chance explains.",
        "", "Scores of folds spread hardly more than chance explains.",
        "A test of the weighted squares of fold scores around their mean (non-central chi-squared).",
        "Look at the lowest fold before the mean is reported.", 0.02,
    ),
    "cluster_folds.beats_baselines": ClaimKind(
        "F04", "The score beats both baselines", "The score is above the majority class and above guessing.",
        "The score is below the majority class and below guessing.", "", "Interval and test are over samples.",
        "Where it does not, find a model that learns something.", limits=False,
    ),
    "cluster_folds.predicts_held_out": ClaimKind(
        "F05", "Folds predict too much for a held-out set", "The score on folds is above that on the held-out set.",
        "The score on folds is below that on the held-out set.", "Folds predict the score on the held-out set.",
        "Interval and test are over samples, corrected for the number of held-out sets (Holm).",
        "Do not rely on the score of these folds for such a set.", 0.01,
    ),
    "cluster_folds.goes_with": ClaimKind(
        "F06", "Scores correlate with a characteristic of folds", "Scores are higher where the characteristic is.",
        "Scores are lower where the characteristic is higher.", "",
        "An exact test of a correlation over folds, corrected for the number of characteristics (Holm).",
        "Treat it as a hint: a correlation does not prove a cause.", made=_BOTH, limits=False,
    ),
    "test_quality.class_share": ClaimKind(
        "Q01", "A class is not at its fair share", "The class has more test samples than its fair share.",
        "The class has fewer test samples than its fair share.", "The class has its fair share of test samples.",
        "An exact test of a share, or over units a score test, corrected for all claims of the page.",
        "Add test samples of classes below their fair share; report accuracy by class.", 0.1, "of a fair share", _BOTH,
    ),
    "test_quality.boundary_share": ClaimKind(
        "Q02", "Too few tests at a boundary", "More tests of the class lie at its boundary than in a random split.",
        "Fewer tests of the class lie at its boundary than in a random split.", "", _OF_SHARES,
        "Generate tests at the boundary of the class, or label samples of low confidence.", made=("below",),
    ),
    "test_quality.centroid_share": ClaimKind(
        "Q03", "Tests crowd around a centroid", "More tests of the class lie near its centroid than in a random split.",
        "Fewer tests of the class lie near its centroid than in a random split.", "", _OF_SHARES,
        "Add samples of the class away from its centroid; its accuracy is flattered.",
    ),
    "test_quality.pair_share": ClaimKind(
        "Q04", "A pair of classes has too few boundary tests",
        "More tests lie at this boundary than in a random split.",
        "Fewer tests lie at this boundary than in a random split.", "", _OF_SHARES,
        "Generate tests of the one class towards the other.", made=("below",),
    ),
    "test_quality.differs_between_classes": ClaimKind(
        "Q05", "Classes differ in test quality", "Classes differ more in this dimension than chance explains.",
        "", "",
        "A test of the spread over classes, corrected for all claims of the page.", "Look at the table by class.",
    ),
    "test_quality.shift": ClaimKind(
        "Q06", "A class has shifted", "The class differs between training and test more than its re-splits do.",
        "", "",
        "A permutation test of re-splits, corrected for all classes and their mean.",
        "Find out how the test samples of this class were collected.",
    ),
    "test_quality.shift_together": ClaimKind(
        "Q07", "All classes together have shifted", "Over all classes, training and test differ more than re-splits.",
        "", "",
        "A permutation test of re-splits, of the mean over classes; corrected for all classes.",
        "Find out how training and test samples were collected.",
    ),
    "guided_tests.worse_near_centroids": ClaimKind(
        "G01", "Accuracy is lower near centroids",
        "The head is less accurate on tests generated near centroids than on the original test samples.",
        "The head is more accurate on tests generated near centroids than on the original test samples.", "",
        "Interval and test are over the original test samples and the real ones that tests were made from.",
        "Look at the generated tests near the centroids.",
    ),
    "guided_tests.decoder_helps": ClaimKind(
        "G02", "Decoded images beat the mean image", "Decoded images are nearer to the real ones than the mean image.",
        "Decoded images are farther off than the mean image.", "", "Interval and test are over test images.",
        "Where they do not, ignore the decoded pictures.", unit="grey level", limits=False,
    ),
    "guided_tests.second_model": ClaimKind(
        "G03", "Two models differ on generated pictures", "The second model is more accurate on the same pictures.",
        "The second model is less accurate on the same pictures.", "",
        "Paired, over the real samples that pictures were made from.",
        "Look at the pictures that only one model predicts correctly.", made=_BOTH, limits=False,
    ),
    "model_comparison.better": ClaimKind(
        "C01", "The new model is better", "The new model is better on samples like these.",
        "The new model is worse on samples like these.", "Both models are as good.",
        "McNemar's mid-p on the samples that one of both gets right; over units the jackknife of the difference. All "
        "pairs are corrected together (Holm).",
        "Look at the samples that were lost before the model is replaced.", 0.005, limits=False,
    ),
    "model_comparison.class_changes": ClaimKind(
        "C02", "A class is found less often", "The new model finds more samples of the class.",
        "The new model finds fewer samples of the class.", "",
        "McNemar's mid-p on the samples of the class, over units Student's t; corrected for all classes (Holm).",
        "Look at the samples of this class that were lost.", made=("below",),
    ),
    "overview.better_model": ClaimKind(
        "O01", "Two models differ", "The first model is better, on what both were tried on.",
        "The second model is better, on what both were tried on.", "Both models are alike.",
        "Student's t of paired differences, corrected for the pairs of a question (Holm).",
        "Prefer the better model for this question; look at the other questions, too.", 0.01, made=_BOTH, limits=False,
    ),
    "overview.weak_class": ClaimKind(
        "O02", "A class is weaker than the others", "Held-out accuracy of the class is below that of all others.",
        "Held-out accuracy of the class is above that of all others.", "Held-out accuracy is that of all others.",
        "Interval and test are over samples or units and trainings, corrected for the number of classes (Holm).",
        "Collect samples of this class first.", 0.02,
    ),
    "overview.weak_group": ClaimKind(
        "O03", "A group of samples is weaker than the rest", "Held-out accuracy of the group is below the rest.",
        "Held-out accuracy of the group is above that of the rest.", "Held-out accuracy is that of the rest.",
        "Over samples that did not choose the group, and trainings; corrected for the number of groups (Holm).",
        "Look at the samples of this group, and collect more like them.", 0.02,
    ),
    "weak_slices.weak": ClaimKind(
        "W01", "A slice is weaker than the rest", "In the slice, the metric is worse than in all other samples.",
        "", "In the slice, the metric is as in all other samples.",
        "Over samples or units of the half that did not find the slice; corrected for all slices judged (Holm). That a "
        "slice is better is never claimed.",
        "Look at the samples of this slice, and collect more like them.", 0.02,
    ),
}  # fmt: skip
"""Every kind, by its "question.name"."""


def entry_of(kind: str) -> ClaimKind:
    """What is known of a kind. Raises ValueError for one that there is not.

    >>> entry_of("matched_subsets.rises")
    Traceback (most recent call last):
    ValueError: There is no kind of claim 'matched_subsets.rises': give it an entry in KINDS.
    """
    if kind not in KINDS:
        raise ValueError(f"There is no kind of claim {kind!r}: give it an entry in KINDS.")
    return KINDS[kind]


def kind_of_code(code: str) -> str | None:
    """The kind that has a code; None where none has.

    >>> kind_of_code("M01"), kind_of_code("X99")
    ('matched_subsets.falls', None)
    """
    return next((kind for kind, entry in KINDS.items() if entry.code == code), None)


# When may something be said? One rule, for claims of every kind.


Decision = Literal["above", "below", "small", "undecided"]
"""The effect is above 0, below 0, surely smaller than what is worth a sentence, or none of these is known."""

Name = TypeVar("Name", bound=Hashable)
LEVEL = 0.05
CLEARANCE = 2.0
"""By how many of its Monte-Carlo standard errors a bound must clear the value that it is held against."""


@dataclass(frozen=True)
class Claim:
    """What a sentence asserts of one effect, and how sure that is.

    Parameters
    ----------
    kind
        Which sentence it is, as "question.name" ("source_robustness.falls"): a key of `KINDS`.
    estimate, interval
        The effect and its 95 % interval, in its own unit; positive is what the sentence's "above" says.
    p_value
        Of "the effect is 0", two-sided, from the distribution that gave the interval; corrected in a family of claims.
    smallest
        The smallest effect worth a sentence, in the same unit; 0 where every effect is.
    mc_error
        Standard error that the ends of the interval owe to random draws of the method: another seed moves them by this.
    decision
        See `Decision`.
    """

    kind: str
    estimate: float
    interval: Interval
    p_value: float
    smallest: float
    mc_error: float
    decision: Decision

    def __post_init__(self) -> None:
        entry_of(self.kind)

    @property
    def of_kind(self) -> ClaimKind:
        """What is known of its kind: its code, its title, and what to do."""
        return entry_of(self.kind)

    @property
    def code(self) -> str:
        """The code of its kind.

        >>> claim("matched_subsets.falls", 0.1, Interval(0.05, 0.15), 0.001).code
        'M01'
        """
        return self.of_kind.code

    @property
    def decided(self) -> bool:
        """Whether anything is said at all."""
        return self.decision != "undecided"

    @property
    def stability(self) -> float:
        """Probability that another seed of the same method, on the same data, would not lose this decision.

        1 where nothing was drawn. Of an undecided claim it is the probability that nothing would be said again.
        """
        lower, upper, smallest = self.interval.lower, self.interval.upper, self.smallest
        if self.decision == "above":
            return self._stays(lower)
        if self.decision == "below":
            return self._stays(-upper)
        if self.decision == "small":
            return min(self._stays(smallest - upper), self._stays(smallest + lower))
        return min(self._stays(-lower), self._stays(upper)) if self.interval.known else 1.0

    def _stays(self, distance: float) -> float:
        if self.mc_error == 0:
            return 1.0
        return float(special.ndtr(distance / (np.sqrt(2) * self.mc_error)))


def claim(
    kind: str,
    estimate: float,
    interval: Interval,
    p_value: float,
    *,
    smallest: float | None = None,
    mc_error: float = 0.0,
) -> Claim:
    """Decide by the rule. An unknown interval, p-value or Monte-Carlo error leaves everything undecided.

    `smallest` is the kind's own, unless somebody says else. Raises ValueError for a kind that there is not.

    Examples
    --------
    >>> claim("cluster_folds.harder", 0.04, Interval(0.01, 0.07), 0.008).decision
    'above'
    >>> claim("cluster_folds.harder", 0.04, Interval(0.01, 0.07), 0.008, mc_error=0.01).decision
    'undecided'
    >>> claim("cluster_folds.harder", 0.001, Interval(-0.004, 0.006), 0.7).decision
    'small'
    """
    smallest = entry_of(kind).smallest if smallest is None else smallest
    decision = _decision(estimate, interval, p_value, smallest, mc_error)
    return Claim(kind, estimate, interval, p_value, smallest, mc_error, decision)


def claim_of_t(
    kind: str, estimate: float, se: float, df: float, *, smallest: float | None = None, mc_error: float = 0.0
) -> Claim:
    """A claim whose interval and p-value are Student's t; unknown where `se` is, or where no degree of freedom is left.

    Examples
    --------
    >>> claim_of_t("cluster_folds.harder", 0.04, 0.01, 8.0).decision
    'above'
    """
    interval, p = t_interval(estimate, se, df), t_p_value(estimate, se, df)
    return claim(kind, estimate, interval, p, smallest=smallest, mc_error=mc_error)


def corrected(family: Sequence[Claim], *, chosen_from: int = 1) -> tuple[Claim, ...]:
    """Claims that were looked at together: their p-values by Holm, and decided anew.

    Where the family was chosen from several such ones by what they say, each has its part of the 5 %.

    Examples
    --------
    >>> kind = "cluster_folds.goes_with"
    >>> one, two = corrected([claim(kind, 2.0, Interval(0.1, 3.9), 0.04), claim(kind, 1.0, Interval(-1.0, 3.0), 0.3)])
    >>> one.p_value, one.decision
    (0.08, 'undecided')
    """
    p_values = np.minimum(1.0, chosen_from * np.array([member.p_value for member in family]))  # one unknown stays so
    return decided_anew(family, holm(p_values.tolist()))


def decided_anew(family: Sequence[Claim], p_values: Sequence[float]) -> tuple[Claim, ...]:
    """The same claims with p-values that were corrected."""
    return tuple(
        claim(member.kind, member.estimate, member.interval, p, smallest=member.smallest, mc_error=member.mc_error)
        for member, p in zip(family, p_values, strict=True)
    )


def withheld(made: Claim) -> bool:
    """Whether the correction alone keeps a claim from being made: its interval would."""
    return not made.decided and decided_anew([made], [0.0])[0].decided


def why_undecided(made: Claim | None) -> str:
    """Why a claim is not made that its interval would make, after a comma; empty where its interval would not.

    >>> why_undecided(claim("cluster_folds.harder", 0.17, Interval(0.07, 0.27), 0.06))
    ', not significant among all claims here'
    >>> why_undecided(claim("cluster_folds.harder", 0.004, Interval(0.001, 0.03), 0.01))
    ', for so small an effect is worth no claim'
    """
    if made is None or made.decided or not made.interval.known or made.interval.holds(0.0):
        return ""
    if made.p_value >= LEVEL:
        return ", not significant among all claims here"
    if abs(made.estimate) < made.smallest:
        return ", for so small an effect is worth no claim"
    return ", for another seed could say otherwise"


@dataclass(frozen=True)
class Group:
    """Claims of one kind in a verdict's family, which share what they are given by Holm's rule.

    `share` is what they have of the 5 % at first, `passes` to whom (by name) they pass on which share of what they have
    once all of them are made.
    """

    p_values: tuple[float, ...]
    share: float
    passes: Mapping[Any, float]


def family(groups: Mapping[Name, Group]) -> dict[Name, list[float]]:
    """P-values that may each be read at 5 %, so that any wrong claim of a whole verdict is made in 5 % at most.

    A sequentially rejective graph (Bretz, Maurer, Brannath and Posch 2009, Algorithm 1), in which a group is a node:
    its claims are Holm's among themselves, and what it had passes on when all of them are made. What is printed of
    the effect, its interval, stays one of 95 %.

    Examples
    --------
    >>> graph = {"fall": Group((0.03,), 0.8, {"parts": 1.0}), "parts": Group((0.02, 0.5), 0.2, {"fall": 1.0})}
    >>> {name: [round(p, 4) for p in values] for name, values in family(graph).items()}
    {'fall': [0.0375], 'parts': [0.04, 0.5]}
    """
    names = list(groups)
    share = np.array([groups[name].share for name in names])
    passes = np.array([[groups[name].passes.get(other, 0.0) for other in names] for name in names])
    orders = [
        [i for i in np.argsort(group.p_values, kind="stable") if not isnan(group.p_values[i])]
        for group in groups.values()
    ]
    corrected = {name: [float("nan")] * len(groups[name].p_values) for name in names}
    left, done, so_far = set(range(len(names))), [0] * len(names), 0.0

    def pass_on(node: int) -> None:
        nonlocal share, passes
        left.discard(node)
        given, way = share + share[node] * passes[node], passes.copy()
        for j in left:
            back = 1 - passes[j, node] * passes[node, j]
            for k in left:
                if k != j and back > 0:
                    way[j, k] = (passes[j, k] + passes[j, node] * passes[node, k]) / back
        given[node], share, passes = 0.0, given, way

    for node in range(len(names)):
        if not orders[node]:
            pass_on(node)
    while left:
        wanted = {}
        for node in left:
            order, p = orders[node], groups[names[node]].p_values
            remaining = len(order) - done[node]
            wanted[node] = p[order[done[node]]] * remaining / share[node] if share[node] > 0 else float("inf")
        node = min(wanted, key=lambda each: (wanted[each], each))
        so_far = min(max(so_far, wanted[node]), 1.0)
        corrected[names[node]][orders[node][done[node]]] = float(so_far)
        done[node] += 1
        if done[node] == len(orders[node]):
            pass_on(node)
    return corrected


def _decision(estimate: float, interval: Interval, p_value: float, smallest: float, mc_error: float) -> Decision:
    if not interval.known or isnan(p_value) or isnan(mc_error):
        return "undecided"
    margin = CLEARANCE * mc_error
    if interval.lower - margin > -smallest and interval.upper + margin < smallest:
        return "small"
    if p_value >= LEVEL or abs(estimate) < smallest:
        return "undecided"
    if interval.lower - margin > 0:
        return "above"
    return "below" if interval.upper + margin < 0 else "undecided"
