"""Does accuracy really drop on the new test set? In sentences, each phrased from the decision of a claim."""

from math import ceil, isnan, log10

from touchstone.core.data.tables.names import plural_of
from touchstone.core.evaluate.claims import LEVEL, Claim, entry_of, why_undecided
from touchstone.core.evaluate.intervals import p_of_interval
from touchstone.core.evaluate.matched_subsets.findings import findings
from touchstone.core.evaluate.matched_subsets.outcomes import SCALED
from touchstone.core.evaluate.matched_subsets.results import KINDS, SET_NAMES, Baseline, ModelComparisons, SetComparison
from touchstone.core.evaluate.metric_estimates import MetricEstimate
from touchstone.core.evaluate.metrics import ACCURACY, IMBALANCED, METRICS
from touchstone.core.evaluate.units import FEWEST_UNITS
from touchstone.core.evaluate.wording import (
    Verdict,
    count,
    gap,
    in_a_row,
    percent,
    plural,
    points,
    quoted,
    resting,
    samples_of,
)

MOST_SAMPLES = 10_000_000
SMALLEST = entry_of(KINDS["falls"]).smallest


def matched_verdict(comparison: SetComparison) -> Verdict:
    """Say what two test sets tell of one model.

    A model that does not beat the majority class is called that first; then the fall, then its parts, the largest
    first: those that are decided, and always what is left at equal confidence.

    Examples
    --------
    >>> import numpy as np
    >>> from touchstone.core.evaluate.matched_subsets import Outcomes, compare_sets
    >>> hard = Outcomes(np.zeros(4, dtype=int), np.full(4, np.nan), np.array([True, True, True, False]), ("any",))
    >>> print(matched_verdict(compare_sets(hard, hard, rng=np.random.default_rng(0))).headline)
    No significant fall on the new set: 0.0 points [−55.5, 55.5], 75.0 % to 75.0 %. Matching needs confidences.
    """
    useless = [
        resting(sentence, KINDS["baseline"])
        for baseline in comparison.baselines
        if (sentence := _useless(baseline, comparison))
    ]
    gains = tuple(baseline.gain for baseline in comparison.baselines)
    sure = tuple(each.claim for each in comparison.calibrations)
    labels = (label.claim for label in comparison.labels if label.claim is not None)
    confused = None if comparison.metrics is None else comparison.metrics.most_changed
    first = (*gains, *comparison.claims, *sure) if useless else (*comparison.claims, *sure, *gains)
    return Verdict(
        headline=in_a_row(
            *_few_units(comparison),
            *_one_class(comparison),
            *useless,
            *_rankings(comparison),
            resting(_fall(comparison), KINDS["falls"]),
            *_parts(comparison),
            *(resting(sentence, KINDS["calibration"]) for sentence in _sure(comparison)),
        ),
        used=_used(comparison),
        advice=resting(
            _advice(comparison), *(KINDS[name] for name in ("baseline", "falls", "residual", "mix", "unmatched"))
        ),
        findings=findings(comparison),
        claims=(*first, *labels, *([] if confused is None else [confused])),
    )


def models_verdict(comparisons: ModelComparisons) -> str:
    """Many models in a few sentences: in how many does accuracy fall, and in how many at equal confidence too?

    >>> models_verdict(ModelComparisons((), ("a",)))
    'No model has predictions on both sets. 1 model was left out: only one set has its predictions.'
    """
    rows, left_out = comparisons.rows, ""
    if n := len(comparisons.in_one_set_only):
        was, its = ("was", "its") if n == 1 else ("were", "their")
        left_out = f"{plural(n, 'model')} {was} left out: only one set has {its} predictions."
    if not rows:
        return in_a_row("No model has predictions on both sets.", left_out)
    sentences: list[str] = []
    words = comparisons.words
    over = "majority-class baseline" if words.metric.name == ACCURACY else f"baseline of {words.name}"
    worse = [row for row in rows if _is_worthless(row)]
    unsure = [row for row in rows if row not in worse and any(map(_is_unsure, row.baselines))]
    if worse:
        verb = "is" if len(worse) == 1 else "are"
        useless = f"{plural(len(worse), 'model')} {verb} constant, or worse than the {over}."
        sentences.append(resting(useless, KINDS["baseline"]))
    if unsure:
        unclear = f"{plural(len(unsure), 'model')}: no significant gain over the {over}."
        sentences.append(resting(unclear, KINDS["baseline"]))
    corrected = " (corrected for all claims)" if len(rows) > 1 else ""
    falls = f"{words.title} {words.falls} in {count(_n(rows, 'falls'))} of {plural(len(rows), 'model')}{corrected}."
    sentences.append(resting(falls, KINDS["falls"]))
    if judged := [row for row in rows if row.enough]:
        alike_in = judged[0].alike_in
        residual = f"At equal {alike_in} it {words.falls} in {count(_n(judged, 'residual'))} of {count(len(judged))}."
        sentences.append(resting(residual, KINDS["residual"]))
        falling = [row for row in judged if _is(row.claim("falls"), "above")]
        mixed = sum(next(iter(row.parts)) == "mix" and _is(row.claim("mix"), "above") for row in falling)
        if mixed:
            share = f"{count(mixed)} of {count(len(falling))}"
            largest = f"The mix of {plural_of(alike_in)} is the largest part of the {words.fall} in {share}."
            sentences.append(resting(largest, KINDS["mix"], KINDS["falls"]))
    if words.metric.is_no_mean:
        sentences.append(f"{words.title} is no mean over samples, so its {words.fall} has no parts.")
    elif hard := sum(not row.can_match for row in rows):
        come = "comes" if hard == 1 else "come"
        sentences.append(f"{plural(hard, 'model')} {come} without confidences, which matching needs.")
    if few := sum(row.can_match and not row.enough for row in rows):
        sentences.append(f"In {plural(few, 'model')} too few pairs matched for a claim.")
    return in_a_row(*sentences, left_out)


def smaller_reference(n_reference: int, n_target: int) -> str:
    """What it does to "unmatched" that the reference is the smaller set (section 2.2); empty where it is not.

    >>> print(smaller_reference(200, 600))
    The larger set should be the reference. With 200 samples for 600 new ones at least 66.7 % of the new set stays
    unmatched.
    """
    if n_reference >= n_target:
        return ""
    return (
        f"The larger set should be the reference. With {plural(n_reference, 'sample')} for {count(n_target)} new ones "
        f"at least {percent(1 - n_reference / n_target)} of the new set stays unmatched."
    )


def _useless(baseline: Baseline, comparison: SetComparison) -> str:
    where, learned = SET_NAMES[baseline.set], " and ".join(_learned(comparison, baseline.set))
    more = f". There {learned}." if learned else "."
    if baseline.only is not None:
        return f"The model always predicts {quoted(baseline.only)} on {where}{more}"
    gain, reached = baseline.gain, comparison.subset(baseline.set).reached.value
    if baseline.one_class or gain.decision == "above" or not gain.interval.known:
        return ""
    words = comparison.words
    ends = f"{words.value(reached)} against {words.value(baseline.reached)}"
    over = "the majority-class baseline" if baseline.label else f"the baseline of {words.name}"
    if gain.decision != "below":
        return f"No significant gain over {over} on {where}: {ends}{more}"
    loss = words.difference(-gain.estimate, gain.interval.scaled(-1.0))
    if not learned:
        return f"The model is worse than {over} on {where} by {loss}: {ends}."
    return f"On {where}, always answering {quoted(baseline.label)} is more accurate by {loss}: {ends}{more}"


GOOD_AUC = 0.8
"""A ranking whose interval lies above is called good."""
LOOKS = 4
"""Two metrics are looked at on two sets."""


def _learned(comparison: SetComparison, side: str) -> list[str]:
    """What the model has learned all the same, by metrics that do not reward always answering one class."""
    if comparison.metric != ACCURACY:
        return []
    phrases = []
    balanced, area = (_metric(comparison, side, name) for name in ("balanced_accuracy", "roc_auc"))
    if balanced is not None and _is_beaten(balanced):
        reached = percent(balanced.value, balanced.interval)
        phrases.append(f"balanced accuracy is {reached} against {percent(balanced.baseline)}")
    if area is not None and _is_beaten(area):
        phrases.append(f"AUC is {gap(area.value, area.interval)}")
    return phrases


def _rankings(comparison: SetComparison) -> list[str]:
    """Where always answering one class is as good, but the ranking is good: that the threshold is at fault."""
    sides = [baseline.set for baseline in comparison.baselines if _is_beyond(baseline)]
    areas = [_metric(comparison, side, "roc_auc") for side in sides]
    if not areas or not all(area is not None and area.interval.lower >= GOOD_AUC for area in areas):
        return []
    return [resting("The ranking is good, the threshold is not.", KINDS["baseline"])]


def _is_beyond(baseline: Baseline) -> bool:
    """Whether always answering one class is surely better, or is what the model does."""
    return not baseline.one_class and (baseline.only is not None or baseline.gain.decision == "below")


def _is_beaten(made: MetricEstimate) -> bool:
    """Whether a metric is above its baseline, corrected for what is looked at."""
    more = made.value - made.baseline
    return more > 0 and LOOKS * p_of_interval(more, made.interval.scaled(1.0, -made.baseline)) < LEVEL


def _metric(comparison: SetComparison, side: str, name: str) -> MetricEstimate | None:
    """A metric on one of the sets, where it has an interval."""
    row = None if comparison.metrics is None else comparison.metrics.of(name)
    made = None if row is None else getattr(row, side)
    return made if made is not None and made.interval.known else None


def _one_class(comparison: SetComparison) -> list[str]:
    """That the accuracy of a set of one class is no accuracy of several."""
    return [
        f"All samples of {SET_NAMES[each.set]} are {quoted(each.label)}: its accuracy is the recall of that class."
        for each in comparison.baselines
        if each.one_class
    ]


def _few_units(comparison: SetComparison) -> list[str]:
    """What is said first where too few units stand for others."""
    if comparison.units is None or comparison.enough_units:
        return []
    few = [
        f"{plural(n, word)} in {name}"
        for n, word, name in zip(comparison.units.n, comparison.unit_words, SET_NAMES.values(), strict=True)
        if n < FEWEST_UNITS
    ]
    return [f"Only {' and '.join(few)}: too few to say anything about others, which takes {FEWEST_UNITS}."]


def _sure(comparison: SetComparison) -> list[str]:
    """That the model is overconfident on the new set; on the other, and underconfident, is a finding."""
    for each in comparison.calibrations:
        if each.set == "target" and each.claim.decision == "above":
            return [f"The model is overconfident on the new set by {points(each.claim.estimate, each.claim.interval)}."]
    return []


def _fall(comparison: SetComparison) -> str:
    falls, gap, words = comparison.claim("falls"), comparison.gap, comparison.words
    if isnan(gap.value):
        return f"{words.title} is not defined on both sets: one lacks a class that it needs."
    before, after = (words.value(comparison.subset(name).reached.value) for name in ("reference", "target"))
    ends, difference = f"{before} to {after}", words.difference(gap.value, gap.interval)
    fall = words.fall if comparison.metric == ACCURACY else f"{words.fall} of {words.name}"
    if _is(falls, "above"):
        return f"{words.title} {words.falls} by {difference} on the new set: {ends}."
    if _is(falls, "below"):
        more = words.difference(-gap.value, gap.interval.scaled(-1.0))
        return f"{words.title} {words.rises} by {more} on the new set: {ends}."
    if _is(falls, "small"):
        same = f"{words.title} on the new set is the same within {words.difference(SMALLEST)}"
        return f"{same}: it {words.falls} by {difference}, {ends}."
    if not gap.interval.known:
        return f"A {fall} on the new set is undecided: {difference} without a CI, {ends}."
    if gap.interval.holds(0.0):
        return f"No significant {fall} on the new set: {difference}, {ends}."
    return f"A {fall} on the new set is undecided: {difference}, {ends}{why_undecided(falls)}."


def _parts(comparison: SetComparison) -> list[str]:
    if METRICS[comparison.metric].is_no_mean:
        return [f"{comparison.words.title} is no mean over samples, so its {comparison.words.fall} has no parts."]
    if not comparison.can_match:
        return ["Matching needs confidences."]
    if not comparison.enough:
        return [f"Only {plural(round(comparison.n_pairs), 'pair')} matched, too few for a claim."]
    sentence_of = {"residual": _residual, "mix": _mix, "unmatched": _unmatched}
    claims = {name: claim for name in comparison.parts if (claim := comparison.claim(name)) is not None}
    sentences = [resting(sentence_of[name](claim, comparison), claim.kind) for name, claim in claims.items()]
    return [sentence for sentence in sentences if sentence]


def _residual(claim: Claim, comparison: SetComparison) -> str:
    words = comparison.words
    difference, at_equal = words.difference(claim.estimate, claim.interval), f"At equal {comparison.alike_in}"
    lower, higher = ("lower", "higher") if words.metric.larger_is_better else ("higher", "lower")
    if claim.decision == "above":
        return f"{at_equal} {words.name} is {lower} by {difference}."
    if claim.decision == "below":
        return (
            f"{at_equal} {words.name} is {higher} by {words.difference(-claim.estimate, claim.interval.scaled(-1.0))}."
        )
    if claim.decision == "small":
        return f"{at_equal} {words.name} is the same within {words.difference(SMALLEST)}: {difference}."
    if not claim.interval.known:
        return f"{at_equal} the difference is undecided: {difference} without a CI."
    if not claim.interval.holds(0.0):
        return f"{at_equal} the difference is undecided: {difference}{why_undecided(claim)}."
    return f"{at_equal} there is no significant difference: {difference}."


def _mix(claim: Claim, comparison: SetComparison) -> str:
    mix, words = f"The mix of {plural_of(comparison.alike_in)}", comparison.words
    if claim.decision == "above":
        return f"{mix} accounts for a {words.fall} of {words.difference(claim.estimate, claim.interval)}."
    if claim.decision == "below":
        return f"{mix} accounts for a {words.rise} of {words.difference(-claim.estimate, claim.interval.scaled(-1.0))}."
    return ""


def _unmatched(claim: Claim, comparison: SetComparison) -> str:
    difference = comparison.words.difference
    if claim.decision == "above":
        return f"Unmatched samples lose {difference(claim.estimate, claim.interval)} more than that."
    if claim.decision == "below":
        less = difference(-claim.estimate, claim.interval.scaled(-1.0))
        return f"Unmatched samples lose {less} less than matched ones."
    return ""


def _used(comparison: SetComparison) -> str:
    of_some = METRICS[comparison.metric].share_of in ("truth", "predicted")
    sizes = f"n = {_n_of(comparison, 0)} in the reference set and {_n_of(comparison, 1)} in the new set."
    sentences = [f"It is a share of {sizes}" if of_some else sizes]
    if comparison.units is not None and comparison.units.n_common:
        n = comparison.units.n_common
        sentences.append(f"{plural(n, comparison.unit_words[0])} {'is' if n == 1 else 'are'} in both.")
    if comparison.baselines:
        words, is_accuracy = comparison.words, comparison.metric == ACCURACY
        reached = " and ".join(f"{words.value(each.reached)} on {SET_NAMES[each.set]}" for each in comparison.baselines)
        sentences.append(f"{'Majority-class baseline' if is_accuracy else 'Baseline'}: {reached}.")
        sentences += _balanced(comparison)
    if comparison.can_match:
        label = "the same predicted label and " if comparison.by == "label" else ""
        pairs = f"{count(round(comparison.n_pairs))} pairs"
        sentences += [
            f"{pairs} have {label}a {SCALED[comparison.scale]} within {comparison.epsilon:g}.",
            _how(comparison),
        ]
    return " ".join([*sentences, *_without_interval(comparison), _for_whom(comparison)])


def _without_interval(comparison: SetComparison) -> list[str]:
    """Why the metric has no interval on one of the sets."""
    own = None if comparison.metrics is None else comparison.metrics.of(comparison.metric)
    if own is None or comparison.metric == ACCURACY:
        return []
    why = dict.fromkeys(made.why_not for made in (own.reference, own.target) if made.why_not)
    return [f"No CI of {comparison.words.name}: {' and '.join(why)}."] if why else []


def _balanced(comparison: SetComparison) -> list[str]:
    unequal = [each for each in comparison.baselines if each.reached > IMBALANCED and not each.one_class]
    said_above = any(each.gain.decision != "above" for each in unequal)  # in the headline
    if comparison.metric != ACCURACY or not unequal or said_above:
        return []
    known = {side: _metric(comparison, side, "balanced_accuracy") for side in SET_NAMES}
    reached = [f"{percent(each.value, each.interval)} on {SET_NAMES[side]}" for side, each in known.items() if each]
    return [f"Balanced accuracy: {' and '.join(reached)}."] if reached else []


def _n_of(comparison: SetComparison, side: int) -> str:
    """How many samples a set has, and by how many of what they are."""
    n = (comparison.n_reference, comparison.n_target)[side]
    n_units = n if comparison.units is None else comparison.units.n[side]
    return count(n) if n_units == n else samples_of(n, "sample", n_units, comparison.unit_words[side])


def _for_whom(comparison: SetComparison) -> str:
    """What intervals speak of."""
    if not comparison.enough_units:
        return "No CIs: so few say nothing about others."
    if comparison.by_units:
        return f"Intervals are 95 % CIs for other {words_of_units(comparison)}."
    most = max(comparison.n_strata)
    return f"Intervals are 95 % CIs for new data{f' of these {most} sources' if most else ''}."


def _how(comparison: SetComparison) -> str:
    if comparison.method == "random":
        return f"Means of {plural(comparison.n_repeats, 'random matching')}."
    least = comparison.matched is not None and comparison.matched.least_difference
    return (
        f"As many pairs as possible, {'at' if least else 'not at'} the least total difference of {comparison.alike_in}."
    )


def _advice(comparison: SetComparison) -> str:
    """One thing to do, of the largest part that is decided; nothing where nothing can be done."""
    falls = comparison.claim("falls")
    if any(baseline.renamed for baseline in comparison.baselines):
        return "Next: check the class names of both files; under other names the predictions fit far better."
    if _is_worthless(comparison):
        over = "majority class" if comparison.metric == ACCURACY else "baseline"
        return f"Next: look at which classes are confused; a model that learned something beats the {over}."
    asked = comparison.parts if _is(falls, "above") else ("residual",)
    decided = [name for name in asked if _is(comparison.claim(name), "above")]
    if decided and not _is(falls, "below"):
        return {
            "residual": _remedy(comparison),
            "mix": f"Next: monitor {plural_of(comparison.alike_in)}; this part of the fall shows on unlabelled data.",
            "unmatched": "Next: inspect the unmatched samples of the new set.",
        }[decided[0]]
    if _is(falls, "below"):
        words, worse = comparison.words, "lower" if comparison.words.metric.larger_is_better else "higher"
        reached = words.value(comparison.subset("reference").reached.value)
        return f"Next: plan for {reached}, the {worse} {words.name} of the reference set."
    if _is(falls, "small"):
        return ""
    if not _is(falls, "above"):
        return _to_settle(comparison)
    if METRICS[comparison.metric].is_no_mean:
        known = comparison.metrics is not None and comparison.metrics.of("log_loss") is not None
        return "Next: choose accuracy as the metric; matching then shows why it falls." if known else ""
    if not comparison.can_match:
        return "Next: export probabilities too; matching then shows why accuracy falls."
    if not comparison.enough:
        return "Next: choose a larger epsilon, or match by confidence only, to get more pairs."
    return ""


def _remedy(comparison: SetComparison) -> str:
    """What to do about a loss at equal confidence; of a share within a class no calibration changes who is right."""
    if METRICS[comparison.metric].share_of == "truth" and comparison.decisions is not None:
        return "Next: look at what other thresholds would cost on the new set."
    return "Next: recalibrate the model on labelled samples of the new set."


def words_of_units(comparison: SetComparison) -> str:
    """What units are called, more than one of them."""
    return " and ".join(dict.fromkeys(plural(2, word).partition(" ")[2] for word in comparison.unit_words))


def _to_settle(comparison: SetComparison) -> str:
    """What fall this many samples can show, and how many would show the smallest that is worth a sentence."""
    shows = comparison.shows
    if isnan(shows):
        return f"Next: label samples of more {words_of_units(comparison)}." if comparison.by_units else ""
    words = comparison.words
    able = f"Next: this many samples show {words.fall}s of {words.difference(shows)} or more."
    units, times = comparison.units, (shows / SMALLEST) ** 2
    side = 1 if comparison.n_target <= comparison.n_reference else 0
    if units is not None and comparison.by_units:
        now = units.n[side]
        needed = f"label those of about {_rounded(times * now)} {words_of_units(comparison)}"
    else:
        now = (comparison.n_reference, comparison.n_target)[side]
        needed = f"label about {_rounded(times * now)} of either set"
    if times * now > MOST_SAMPLES or times <= 1:
        return able
    return f"{able} For {words.difference(SMALLEST)}, {needed} (now {count(now)})."


def _rounded(n: float) -> str:
    """Two digits are all that such a number is good for."""
    size = 10 ** max(int(log10(n)) - 1, 0)
    return count(ceil(n / size) * size)


def _n(rows: "tuple[SetComparison, ...] | list[SetComparison]", name: str) -> int:
    return sum(_is(row.claim(name), "above") for row in rows)


def _is(claim: Claim | None, decision: str) -> bool:
    return claim is not None and claim.decision == decision


def _is_worthless(comparison: SetComparison) -> bool:
    """Whether no metric of a set beats its baseline, and accuracy is surely below or all answers are one class."""
    return any(_is_beyond(baseline) and not _learned(comparison, baseline.set) for baseline in comparison.baselines)


def _is_unsure(baseline: Baseline) -> bool:
    return not baseline.one_class and baseline.gain.decision not in ("above", "below")
