"""What else do two test sets tell? A few lines, that which explains most first."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan

import numpy as np
from scipy.optimize import linear_sum_assignment

from touchstone.core.evaluate.calibration import overconfidence
from touchstone.core.evaluate.claims import Claim, Group, claim, claim_of_t, corrected, decided_anew, family
from touchstone.core.evaluate.intervals import UNKNOWN, apart, fisher_p, p_of_interval, wilson, within
from touchstone.core.evaluate.matched_subsets.estimates import whole
from touchstone.core.evaluate.matched_subsets.outcomes import SCALED, Outcomes
from touchstone.core.evaluate.matched_subsets.results import (
    FEWEST_PAIRS,
    FIELDS,
    KINDS,
    SET_NAMES,
    Baseline,
    SetCalibration,
    SetComparison,
    SetEstimate,
)
from touchstone.core.evaluate.metric_estimates import Confusion, MetricEstimate, MetricsOnSets
from touchstone.core.evaluate.metrics import ACCURACY, Metric
from touchstone.core.evaluate.units import Units
from touchstone.core.evaluate.wording import bare, fixed, listed, percent, plural, points, quoted, resting


def findings(comparison: SetComparison) -> tuple[str, ...]:
    """Calibration, unmatched samples, what contradicts the paper or its rule, predicted labels, luck of matching."""
    lines = (
        resting(_calibration(comparison), KINDS["calibration"]),
        _unmatched(comparison),
        _rounded(comparison),
        _coarse(comparison),
        resting(_unlike_the_paper(comparison), KINDS["falls"], KINDS["mix"]),
        resting(_as_published(comparison), KINDS["residual"]),
        resting(_labels(comparison), KINDS["labels"]),
        _luck(comparison),
    )
    return tuple(line for line in lines if line)


def _calibration(comparison: SetComparison) -> str:
    """Where the model is over- or underconfident; that it is overconfident on the new set is in the headline."""
    sentences = []
    for each in comparison.calibrations:
        where, claim = SET_NAMES[each.set], each.claim
        ends = f"{percent(each.confidence)} mean confidence, {percent(each.accuracy)} accuracy"
        if claim.decision == "above" and each.set == "target":
            sentences.append(f"On {where}: {ends}.")
        elif claim.decision == "above":
            sentences.append(f"Overconfident on {where} by {points(claim.estimate, claim.interval)}: {ends}.")
        if claim.decision == "below":
            less = points(-claim.estimate, claim.interval.scaled(-1.0))
            sentences.append(f"Underconfident on {where} by {less}: {ends}.")
    return " ".join(sentences)


def _rounded(comparison: SetComparison) -> str:
    """The share of the new set whose confidence was rounded to 1, or of which all models say the same."""
    if not comparison.n_rounded:
        return ""
    share = percent(comparison.n_rounded / comparison.n_target)
    words = comparison.words
    added = words.difference(comparison.rounded.value, comparison.rounded.interval)
    why, remedy = "their confidence was rounded to 1", "Probabilities of all classes, or logits, tell them apart."
    if comparison.scale == "variance":
        why, remedy = "all models say the same of them", "Probabilities with more decimals tell them apart."
    return f"{share} of the new set cannot be compared: {why}. They add {added} to the {words.fall}. {remedy}"


def _coarse(comparison: SetComparison) -> str:
    """Where epsilon is no smaller than half of all that the reference is wrong: then nearly all count as alike."""
    wrong = 1 - comparison.subset("reference").reached.value
    if (
        comparison.metric != ACCURACY
        or comparison.scale != "accuracy"
        or not comparison.can_match
        or comparison.epsilon <= wrong / 2
    ):
        return ""
    return (
        f"The model errs in only {percent(wrong)} of the reference set. Within an epsilon of {comparison.epsilon:g} in "
        "accuracy nearly all samples are then alike: a smaller one tells them apart."
    )


def _as_published(comparison: SetComparison) -> str:
    """Where the published rule, on raw confidences, would say something else."""
    published, claim = comparison.as_published, comparison.claim("residual")
    if published is None or claim is None or not published.interval.known:
        return ""
    differs = published.interval.lower > 0 or published.interval.upper < 0
    made = claim.interval.lower > 0 or claim.interval.upper < 0
    if differs == made and published.interval.holds(claim.estimate) and claim.interval.holds(published.value):
        return ""
    return f"On raw confidences, as published, the difference would be {points(published.value, published.interval)}."


def _unmatched(comparison: SetComparison) -> str:
    if not comparison.can_match:
        return ""
    left, paired = comparison.subset("unmatched target"), comparison.subset("matched target")
    share, words = percent(comparison.unmatched_target.value, comparison.unmatched_target.interval), comparison.words
    if left.n < 1 or isnan(left.reached.value) or isnan(paired.reached.value):
        return f"Unmatched: {share} of the new set."
    without, within = (words.value(each.reached.value, each.reached.interval) for each in (left, paired))
    sentences = [
        f"Unmatched: {share} of the new set, with {words.a_name} of {without}.",
        f"Matched samples reach {within}.",
    ]
    if comparison.method == "random":
        least = percent(comparison.least_unmatched_target)
        sentences.append(f"As many pairs as possible would leave {least} unmatched.")
    return " ".join(sentences)


def _unlike_the_paper(comparison: SetComparison) -> str:
    """The matched gap is the wider one where the mix of confidences alone would raise accuracy."""
    falls, mix, words = comparison.claim("falls"), comparison.claim("mix"), comparison.words
    wider = comparison.matched_gap.value > comparison.gap.value
    if not wider or falls is None or mix is None or (falls.decision, mix.decision) != ("above", "below"):
        return ""
    return (
        "The paper found the matched gap narrower than the gap in all its models. "
        f"Here it is wider: {words.difference(comparison.matched_gap.value)} against "
        f"{words.difference(comparison.gap.value)}."
    )


def _labels(comparison: SetComparison) -> str:
    enough = [row for row in comparison.labels if row.enough]
    if len(comparison.labels) < 2 or not enough or not comparison.enough_units:
        return ""
    few = len(comparison.labels) - len(enough)
    left_out = f" {plural(few, 'label')} with fewer than {FEWEST_PAIRS} pairs left out." if few else ""
    falls, rises = (_differing(comparison, decision) for decision in ("above", "below"))
    equal = f"equal {comparison.alike_in}"
    if not falls and not rises:
        labels = plural(len(enough), "predicted label")
        return f"No significant difference at {equal} in {labels} (corrected for all claims).{left_out}"
    name = comparison.words.name
    sentences = [f"At {equal} {name} falls for {listed(falls)}."] * bool(falls)
    sentences += [f"At {equal} {name} rises for {listed(rises)}."] * bool(rises)
    return f"{' '.join(sentences)} Corrected for all claims, of {plural(len(enough), 'predicted label')} too.{left_out}"


def _differing(comparison: SetComparison, decision: str) -> list[str]:
    """Labels of which it is claimed, the largest difference first."""
    rows = [row for row in comparison.labels if row.claim is not None and row.claim.decision == decision]
    gaps = {row.label: row.matched_gap for row in sorted(rows, key=lambda row: -abs(row.matched_gap.value))}
    sign = 1.0 if decision == "above" else -1.0
    return [f"{quoted(label)} by {points(sign * gap.value, gap.interval.scaled(sign))}" for label, gap in gaps.items()]


def _luck(comparison: SetComparison) -> str:
    if not comparison.enough:
        return ""
    difference = _hundredths(abs(comparison.confidence_difference))
    balance = f"Matched pairs differ by {difference} in mean {SCALED[comparison.scale]}."
    if isnan(comparison.spread) or not comparison.spread:
        return balance
    moved = _hundredths(comparison.spread) if comparison.words.metric.in_percent else bare(comparison.spread, 4)
    luck = f"Another random matching moves the matched gap by about {moved} (1 SD, no CI)."
    return f"{luck} {balance}"


def _hundredths(value: float) -> str:
    return f"{fixed(100 * value, 2)} points"


# Which of the numbers may be said? All claims of a comparison, by the one rule of `core.evaluate.claims`.


MOST_CONFUSED = 2
"""So many pairs of classes are named that are confused more often."""
SHARES = {"falls": 0.78, "residual": 0.08, "labels": 0.02, "calibration": 0.04, "baseline": 0.02}
"""What each claim has of a model's part of the 5 % at first; the claims of labels together, those of a set each. The
headline has most, for what is said beside no fall matters less; what nearly every model passes has little."""
PARTS = {"residual": 0.45, "mix": 0.3, "unmatched": 0.25}
"""To which parts a fall that is found passes its share on."""
ONWARDS: Mapping[str, Mapping[str, float]] = {
    "residual": {"labels": 0.2, "mix": 0.2, "unmatched": 0.3, "falls": 0.3},
    "mix": {"residual": 0.5, "unmatched": 0.3, "falls": 0.2},
    "unmatched": {"residual": 0.4, "mix": 0.3, "falls": 0.3},
    "labels": {"residual": 0.5, "falls": 0.5},
    "calibration": {"falls": 0.8, "residual": 0.2},
    "baseline": {"falls": 0.8, "residual": 0.2},
}
"""To which claims each other kind passes on what it has; "falls" are those of all models alike."""


def decided(rows: Sequence[SetComparison]) -> tuple[SetComparison, ...]:
    """Comparisons that are shown together with their claims: one family of all that is said of all models.

    A fall that is found frees its share for its own parts and for the falls of other models, what is left at equal
    confidence for the labels, and so on (`core.evaluate.claims.family`). Nothing rests on how rows were decided before.
    """
    made = [_claims(row) for row in rows]
    corrected = family(
        {
            (i, name): Group(
                tuple(each.p_value for each in claims[name]),
                SHARES.get(name.partition(" ")[0], 0.0) / len(rows),
                _passes(i, name, made),
            )
            for i, claims in enumerate(made)
            for name in claims
        }
    )
    return tuple(
        _with_claims(row, {name: decided_anew(claims[name], corrected[i, name]) for name in claims})
        for i, (row, claims) in enumerate(zip(rows, made, strict=True))
    )


def _claims(row: SetComparison) -> dict[str, list[Claim]]:
    """All claims of a model by name, not corrected; those of a set by its name, too."""
    parts = ("residual", "mix", "unmatched") if row.enough else ()
    claims = {name: [_claim(name, getattr(row, FIELDS[name]))] for name in ("falls", *parts)}
    if labels := [_claim("labels", label.matched_gap) for label in row.labels if label.enough]:
        claims["labels"] = labels
    claims |= {f"calibration {each.set}": [replace(each.claim, p_value=each.p_value)] for each in row.calibrations}
    return claims | {f"baseline {each.set}": [replace(each.gain, p_value=each.p_value)] for each in row.baselines}


def _passes(i: int, name: str, made: Sequence[Mapping[str, object]]) -> dict[tuple[int, str], float]:
    """To whom a claim of model `i` passes its share on."""
    kind, others = name.partition(" ")[0], [j for j in range(len(made)) if j != i]
    if kind == "falls":
        wanted = {(i, part): share * (0.5 if others else 1.0) for part, share in PARTS.items()}
        wanted |= {(j, "falls"): 0.5 / len(others) for j in others}
    else:
        wanted = {(i, to): share for to, share in ONWARDS[kind].items() if to != "falls"}
        wanted |= {(j, "falls"): ONWARDS[kind]["falls"] / len(made) for j in range(len(made))}
    there = {(j, to): share for (j, to), share in wanted.items() if to in made[j]}
    total = sum(there.values())
    return {to: share / total for to, share in there.items()} if total else {}


def _with_claims(row: SetComparison, claims: Mapping[str, Sequence[Claim]]) -> SetComparison:
    of_labels = iter(claims.get("labels", ()))
    return replace(
        row,
        claims=tuple(claims[name][0] for name in FIELDS if name in claims),
        labels=tuple(replace(label, claim=next(of_labels) if label.enough else None) for label in row.labels),
        calibrations=tuple(replace(each, claim=claims[f"calibration {each.set}"][0]) for each in row.calibrations),
        baselines=tuple(replace(each, gain=claims[f"baseline {each.set}"][0]) for each in row.baselines),
    )


def calibrations_of(reference: Outcomes, target: Outcomes, units: Units) -> tuple[SetCalibration, ...]:
    """Whether the model is as often right as it says, on either set; not corrected yet."""
    result = []
    for place, (name, outcomes) in enumerate((("reference", reference), ("target", target))):
        measured = overconfidence(outcomes.confidence, outcomes.correct, units, place=place)
        known = units.enough or units.by_sample
        interval, p = (measured.interval, measured.p_value) if known else (UNKNOWN, float("nan"))
        made = claim(KINDS["calibration"], measured.value, interval, p)
        result.append(SetCalibration(name, measured.confidence, measured.accuracy, made, made.p_value))
    return tuple(result)


def baselines_of(reference: Outcomes, target: Outcomes, units: Units) -> tuple[Baseline, ...]:
    """What always answering a set's majority class, and guessing by its class shares, would reach; where known.

    Examples
    --------
    >>> import numpy as np
    >>> from touchstone.core.evaluate.units import samples_as_units
    >>> cats = Outcomes(np.zeros(4, int), np.ones(4), np.array([True, True, True, False]), ("cat", "dog"),
    ...                 np.array([0, 0, 0, 1]))
    >>> baseline, _ = baselines_of(cats, cats, samples_as_units(4, 4))
    >>> baseline.label, baseline.reached, baseline.chance, baseline.only
    ('cat', 0.75, 0.625, 'cat')
    """
    sets = (("reference", reference), ("target", target))
    known = [(place, name, each) for place, (name, each) in enumerate(sets) if each.truth is not None]
    return tuple(_baseline(name, outcomes, units, place) for place, name, outcomes in known)


def _baseline(name: str, outcomes: Outcomes, units: Units, place: int) -> Baseline:
    truth, names = outcomes.truth, outcomes.class_names
    counts = whole(outcomes).truth
    assert truth is not None
    assert counts is not None
    most, n = int(counts.argmax()), len(outcomes)
    gains = outcomes.correct.astype(float) - (truth == most)
    gain, variance = float(gains.mean()), float(gains.var())
    se, df = (variance / (n - 1)) ** 0.5 if n > 1 else float("nan"), n - 1.0
    if not units.by_sample:
        error = units.error(*((gains - gain) / n if i == place else np.zeros(m) for i, m in enumerate(units.n_samples)))
        se, df = (error.se, error.df) if units.enough else (float("nan"), 0.0)
    made = claim_of_t(KINDS["baseline"], gain, se, df)
    if gain < 0:  # the class was chosen as the most frequent of these very samples
        made = claim(made.kind, gain, made.interval, min(made.p_value * _n_as_frequent(counts), 1.0))
    constant = len(names) > 1 and (outcomes.label == outcomes.label[0]).all()
    return Baseline(
        name,
        float(counts[most] / n),
        made,
        made.p_value,
        label=names[most],
        chance=float(((counts / n) ** 2).sum()),
        only=names[int(outcomes.label[0])] if constant else None,
        one_class=int((counts > 0).sum()) == 1,
        renamed=gain < 0 and not constant and _renamed(outcomes, float(counts[most] / n)),
    )


def baselines_of_metric(metric: Metric, sides: Mapping[str, MetricEstimate]) -> tuple[Baseline, ...]:
    """What a model that learned nothing reaches of a metric on either set; none of a metric of one class.

    There the baseline is as uncertain as the metric: a model that always says "yes" is as precise as "yes" is frequent.
    """
    baselines = []
    for name, made in {} if metric.of_class else sides.items():
        if made.interval.known and not isnan(made.baseline):
            sign = 1.0 if metric.larger_is_better else -1.0
            gain = sign * (made.value - made.baseline)
            interval = made.interval.scaled(sign, -sign * made.baseline)
            claimed = claim(KINDS["baseline"], gain, interval, p_of_interval(gain, interval))
            baselines.append(Baseline(name, made.baseline, claimed, claimed.p_value))
    return tuple(baselines)


def with_confusions(metrics: MetricsOnSets) -> MetricsOnSets:
    """The same with claims about which classes are confused more often on the new set: a family of their own.

    Fisher's test knows few samples, the interval knows units: what both allow is claimed.
    """

    def made(each: Confusion) -> Claim:
        old, new = each.reference, each.target
        more, span = new.share - old.share, apart(new.share, new.interval, old.share, old.interval)
        p = max(fisher_p(new.n_predicted, new.n, old.n_predicted, old.n), p_of_interval(more, span))
        return claim(KINDS["confusion"], more, within(span, -1.0, 1.0), p)

    known = [each for each in metrics.mistakes if each.reference.interval.known and each.target.interval.known]
    claims = corrected([made(each) for each in known])
    decided = {(each.truth, each.predicted): claimed for each, claimed in zip(known, claims, strict=True)}
    confusions = (replace(each, claim=decided.get((each.truth, each.predicted))) for each in metrics.confusions)
    return replace(metrics, confusions=tuple(confusions))


def confused(metrics: MetricsOnSets) -> str:
    """Which classes are confused more often, the most first."""
    tested = [(each, each.claim) for each in metrics.mistakes if each.claim is not None]
    more = [(each, made) for each, made in tested if made.decision == "above"]
    corrected_for = f"({plural(len(tested), 'confusion')}, Holm, apart from all other claims)"
    if not more:
        return f"No class is confused significantly more often on the new set {corrected_for}." if tested else ""
    more.sort(key=lambda pair: -pair[1].estimate)
    sentences = [
        f"{quoted(each.truth)} is predicted as {quoted(each.predicted)} more often on the new set, by "
        f"{points(made.estimate, made.interval)}: {percent(each.target.share)} against {percent(each.reference.share)}."
        for each, made in more[:MOST_CONFUSED]
    ]
    left = len(more) - MOST_CONFUSED
    others = f", and {plural(left, 'other pair')} of classes" if left > 0 else ""
    return f"{' '.join(sentences).removesuffix('.')}{others} {corrected_for}."


def _renamed(outcomes: Outcomes, majority: float) -> bool:
    """Whether a permutation of the predicted classes, the best one, brings accuracy surely above the majority class."""
    assert outcomes.truth is not None
    n_labels = len(outcomes.class_names)
    cells = np.bincount(outcomes.truth * n_labels + outcomes.label, minlength=n_labels**2)
    right = cells.reshape(n_labels, n_labels)
    rows, columns = linear_sum_assignment(-right)
    return wilson(float(right[rows, columns].sum()), float(len(outcomes)), level=0.999).lower > majority


def _n_as_frequent(counts: np.ndarray) -> int:
    """How many classes may as well be the most frequent one: those that are not significantly rarer.

    >>> _n_as_frequent(np.array([60, 40, 2])), _n_as_frequent(np.array([52, 48, 2]))
    (1, 2)
    """
    most = int(counts.max())
    return int(np.sum(most - counts < 1.96 * np.sqrt(most + counts)))


def _claim(name: str, estimate: SetEstimate) -> Claim:
    return claim(
        KINDS[name],
        estimate.value,
        estimate.interval,
        estimate.p_value,
        mc_error=estimate.mc_error,
    )
