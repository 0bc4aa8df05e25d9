"""What do folds that are made to differ come to, in sentences? Each is phrased from the decision of a claim."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, isnan, nan, sqrt

import numpy as np
from scipy import special

from touchstone.core.evaluate import metric_functions as functions
from touchstone.core.evaluate.claims import Claim, claim, claim_of_t, corrected, why_undecided
from touchstone.core.evaluate.cluster_folds.performance import FEWEST_SEEDS, JACKKNIFE, seed_error
from touchstone.core.evaluate.cluster_folds.results import (
    FoldPerformance,
    FoldScore,
    PredictedHeldOut,
    Relation,
    RunScore,
    SchemeDifference,
    SchemeScore,
    ScoredBy,
    ScoreEstimate,
)
from touchstone.core.evaluate.cluster_folds.tested import LabelShift
from touchstone.core.evaluate.intervals import UNKNOWN, Interval, half_width, p_of_interval
from touchstone.core.evaluate.metric_estimates import InWords
from touchstone.core.evaluate.units import Design
from touchstone.core.evaluate.wording import (
    Verdict,
    bare,
    count,
    in_a_row,
    listed,
    p_value,
    percent,
    plural,
    points,
    quoted,
    resting,
)
from touchstone.core.split.folds import FOLD_SCHEMES

# What may be said of folds? Every sentence of the page rests on one of these claims (`core.evaluate.claims`).


def harder(difference: SchemeDifference) -> Claim:
    """By how much a scheme scores lower than the other. Undecided with fewer than three seeds.

    The interval is over samples and seeds, so that a bound need not clear the error of the mean over seeds once more.
    """
    value, ends = -difference.difference.value, difference.difference.interval
    seeds = [gap for _, gap in difference.per_seed]
    enough = len(seeds) >= FEWEST_SEEDS
    made = claim(
        "cluster_folds.harder", value, Interval(-ends.upper, -ends.lower), difference.p_holm,
        mc_error=0.0 if enough else nan,
    )  # fmt: skip
    # Few seeds: what their mean is off by has Student's tails, and is kept as the normal error that reaches as far.
    of_seeds = half_width(seed_error(seeds), len(seeds) - 1.0) / half_width(1.0, np.inf)
    return replace(made, mc_error=of_seeds if enough else nan)


def shifts_labels(shift: LabelShift) -> Claim:
    """How much more often neighbours share their label within a fold than across folds."""
    return claim_of_t(
        "cluster_folds.labels_shift", shift.value, shift.se, shift.df,
        mc_error=shift.seed_error,
    )  # fmt: skip


def differs_between_folds(runs: Sequence[RunScore]) -> Claim:
    """The standard deviation of what the folds would score on endless samples, in which chance has no part.

    The weighted squares of fold scores around their mean are non-central chi-squared; over seeds, whose folds may be
    much the same, they are averaged and taken for those of one, which errs on the safe side. How much of them is
    chance is not known where a fold has too few wrong samples to learn it from: that folds differ by less than chance
    would then says nothing.
    """
    kind = "cluster_folds.differs_between_folds"
    usable = [[fold for fold in run.folds_defined if fold.score.interval.width > 0] for run in runs]
    if not usable or min(map(len, usable)) < 2:
        return claim(kind, nan, UNKNOWN, nan)
    squares, variances = zip(*map(_squares, usable), strict=True)
    n, q = min(map(len, usable)), float(np.mean(squares))
    scale = float(np.mean(variances)) / n
    lower, upper = _noncentrality(q, n - 1, 0.975), _noncentrality(q, n - 1, 0.025)
    below = float(special.chdtr(n - 1, q))
    spreads = [sqrt(max(square - (n - 1), 0.0) * scale) for square in squares]
    differs = claim(
        kind,
        sqrt(max(q - (n - 1), 0.0) * scale),
        Interval(sqrt(lower * scale), sqrt(upper * scale)),
        min(2 * min(below, 1 - below), 1.0),
        mc_error=seed_error(spreads) if len(spreads) > 1 else 0.0,
    )
    learned = all(fold.score.by == JACKKNIFE for folds in usable for fold in folds)
    if differs.decision == "small" and not learned:
        return replace(differs, decision="undecided")
    return differs


def beats_baselines(row: SchemeScore) -> Claim:
    """By how much the score lies above the better, or below the worse, of two models that learned nothing.

    These are the majority class and guessing by label shares, which has the higher macro F1. Between them nothing is
    said: folds of few samples, and folds with shares in proportion, hold one of them down or the other up.
    """
    value, interval = row.beyond_guesses.value, row.beyond_guesses.interval
    p = p_of_interval(value, interval) if interval.known else nan
    return claim("cluster_folds.beats_baselines", value, interval, p, mc_error=row.seed_error)


def predicts_held_out(each: PredictedHeldOut) -> Claim:
    """By how much the score on folds lies above that on the held-out set."""
    value, interval = each.difference.value, each.difference.interval
    kind = "cluster_folds.predicts_held_out"
    return claim(kind, value, interval, each.p, mc_error=each.seed_error)


def all_held_out(predicted_held_out: Sequence[PredictedHeldOut]) -> tuple[Claim, ...]:
    """The claims about all held-out sets, corrected together."""
    return corrected([predicts_held_out(each) for each in predicted_held_out])


def goes_with(relation: Relation) -> Claim:
    """The correlation of scores with a characteristic; its interval is the one that its exact p-value implies."""
    z = float(special.ndtri(1 - relation.p_holm / 2)) if 0 < relation.p_holm < 1 else 0.0
    half = 1.96 * abs(relation.r) / z if z > 0 else np.inf
    interval = Interval(max(relation.r - half, -1.0), min(relation.r + half, 1.0))
    return claim("cluster_folds.goes_with", relation.r, interval, relation.p_holm)


def _squares(folds: Sequence[FoldScore]) -> tuple[float, float]:
    """The sum of weighted squares around the weighted mean, and the variance of one score (harmonic mean).

    What one sample adds to a variance is pooled over folds: few samples tell it badly, and then with the score itself.
    """
    n = np.array([fold.n for fold in folds], dtype=np.float64)
    variances = np.array([fold.score.interval.width / (2 * 1.96) for fold in folds]) ** 2
    weights = n / float((n * variances).mean())
    values = np.array([fold.score.value for fold in folds])
    mean = float((weights * values).sum() / weights.sum())
    return float((weights * np.square(values - mean)).sum()), float(len(values) / weights.sum())


def _noncentrality(q: float, df: int, level: float) -> float:
    """The non-centrality at which `q` is the quantile of `level`; 0 where even that is too much."""
    if special.chdtr(df, q) <= level:
        return 0.0
    root = float(special.chndtrinc(q, df, level)) if q < 1000 else nan
    if np.isnan(root):  # the root of such a variable is all but normal, with variance 1
        return max((sqrt(q) - float(special.ndtri(level))) ** 2 - df, 0.0)
    return root


# What do folds that are made to differ come to, in sentences? Each is phrased from the decision of a claim.


MOST_SAMPLES = 10_000_000
_HARDER = "cluster_folds.harder"


def scheme_title(scheme: str) -> str:
    """What a scheme is called: one of ours by its name or its name in files, else as its file is named.

    >>> scheme_title("sds_folds"), scheme_title("distribution_sensitive_kmeans"), scheme_title("by hand")
    ('SDS k-means', 'SDS k-means', 'by hand')
    """
    by_column = (each.title for each in FOLD_SCHEMES.values() if each.column == scheme)
    return FOLD_SCHEMES[scheme].title if scheme in FOLD_SCHEMES else next(by_column, scheme)


def fold_verdict(
    performance: FoldPerformance,
    *,
    model: str | None = None,
    scheme: str | None = None,
    names: Mapping[str, str] | None = None,
    relations: Sequence[Relation] = (),
    predicted_held_out: Sequence[PredictedHeldOut] = (),
    shifts: Sequence[LabelShift] = (),
) -> Verdict:
    """Say what the folds tell of one model on one scheme, held against the baseline.

    `model` is the first by default, `scheme` the first that is not the baseline; `names` are the models' names as
    people know them.

    Examples
    --------
    >>> from touchstone.core.evaluate.cluster_folds.results import ScoredBy
    >>> fold_verdict(FoldPerformance(ScoredBy(), ("a", "b"), (), (), (), n_samples=10, n_failed=0)).headline
    'No fold has been tested yet.'
    """
    model = model or next(iter(performance.models), "")
    name = (names or {}).get(model, model)
    rows = [row for row in performance.schemes if row.model == model]
    if not rows:
        return _unfinished(performance, model, name)
    row = next((row for row in rows if row.scheme == scheme), None) or (rows[1] if len(rows) > 1 else rows[0])
    against = [each for each in performance.differences if (each.model, each.scheme) == (model, row.scheme)]
    difference = against[0] if against else None
    runs = performance.runs_of(row.scheme, model)
    gap = harder(difference) if difference else None
    shift = next((shifts_labels(each) for each in shifts if each.scheme == row.scheme), None)
    spread, learned = differs_between_folds(runs), beats_baselines(row)
    mine = [each for each in relations if (each.model, each.scheme) == (model, row.scheme)]
    held_out, words = [each for each in predicted_held_out if each.model == model], performance.metric.words
    predicted = all_held_out(held_out)
    beats = learned.decision == "above"
    findings = [
        _below_majority(runs) if beats else "",
        resting(_labels(shift, row), "cluster_folds.labels_shift"),
        resting(_baselines(performance, row, learned), learned.kind),
        resting(_spread(performance, row, difference, spread), spread.kind),
        _lowest_fold(words, row, runs),
        _seeds(words, row, difference),
        _lowest_class(performance, runs),
        _others(performance, row, difference),
        resting(_relations(mine), "cluster_folds.goes_with"),
        *(resting(_held_out(words, each, claim), claim.kind) for each, claim in zip(held_out, predicted, strict=True)),
        *performance.notes,
    ]
    claims = (gap, shift, learned, spread, *map(goes_with, mine), *predicted)
    return Verdict(
        headline=in_a_row(
            "" if beats else _below_majority(runs),
            resting(_headline(performance, row, difference, gap, name), *([] if gap is None else [_HARDER])),
        ),
        used=_used(performance, row, runs, difference),
        advice=resting(_advice(words, row, difference, gap, shift), _HARDER, "cluster_folds.labels_shift"),
        findings=tuple(finding for finding in findings if finding),
        claims=tuple(claim for claim in claims if claim is not None),
    )


def _unfinished(performance: FoldPerformance, model: str, name: str) -> Verdict:
    failed = f"{plural(performance.n_failed, 'trial')} failed." if performance.n_failed else ""
    runs = [run for run in performance.runs if run.model == model]
    if not runs:
        return Verdict("No fold has been tested yet.", failed, "", performance.notes)
    done, wanted = sum(len(run.folds) for run in runs), sum(run.n_folds_wanted for run in runs)
    tested = f"{count(done)} of {plural(wanted, 'fold')} done"
    if not all(run.folds_known for run in runs):
        tested = f"{plural(done, 'fold')} tested, of how many is not known"
    advice = "Next: run the failed trials again." if failed else ""
    return Verdict(f"{name}: {tested}; no fold scheme is complete yet.", failed, advice, performance.notes)


def _below_majority(runs: Sequence[RunScore]) -> str:
    n, below = sum(len(run.folds) for run in runs), sum(run.n_below_majority for run in runs)
    if not below:
        return ""
    verb = "has" if below == 1 else "have"
    return f"{count(below)} of {plural(n, 'fold')} {verb} an accuracy below the majority-class baseline."


def _headline(
    performance: FoldPerformance, row: SchemeScore, difference: SchemeDifference | None, gap: Claim | None, name: str
) -> str:
    metric, words, folds = performance.metric.title, performance.metric.words, _folds(row.scheme)
    if isnan(row.mean.value):
        the = "" if words.of_class is None else "the "
        return f"{name}: {the}{metric} is not defined on {folds}, where {_nothing(performance.metric)}."
    if difference is None or gap is None or isnan(gap.estimate):
        return f"{name}: {metric} {_estimate(words, row.mean)} on {folds}."
    base = _folds(difference.other)
    ends = f"{words.value(difference.other_score)} on {base}, {words.value(difference.score)} here"
    amount, beside = words.difference(gap.estimate, gap.interval), words.difference(abs(gap.estimate))
    signed = words.difference(-gap.estimate, difference.difference.interval)
    if gap.decision == "above":
        return f"{name} loses {amount} of {metric} on {folds}: {ends}."
    if gap.decision == "below":
        return f"{name} gains {signed} of {metric} on {folds}: {ends}."
    if gap.decision == "small":
        return f"{name} is as good on {folds}, within {words.difference(gap.smallest)}: {ends}."
    if not gap.interval.known:
        return f"{name} on {folds}: {metric} {ends}. The data give no interval."
    if len(difference.per_seed) < FEWEST_SEEDS:
        way = "lower" if gap.estimate > 0 else "higher"
        there = _brackets(words, gap if gap.estimate > 0 else None, difference)
        return (
            f"{name}: {metric} is {beside}{there} {way} on these {folds}: {ends}. "
            f"Whether such folds are harder is undecided with {plural(len(difference.per_seed), 'seed')}."
        )
    undecided = f"{name}: whether {folds} are harder is undecided ({signed} of {metric})"
    if not gap.interval.holds(0.0):
        return f"{undecided}{why_undecided(gap)}. It has {ends}."
    other = next(each for each in performance.schemes if (each.model, each.scheme) == (row.model, difference.other))
    if not row.mean.interval.meets(other.mean.interval):
        return f"{undecided}, for {plural(len(difference.per_seed), 'seed')} differ. It has {ends}."
    return f"{name}: no significant difference in {metric} on {folds} ({signed}): {ends}."


def _brackets(words: InWords, gap: Claim | None, difference: SchemeDifference) -> str:
    """The interval of a difference that is named without its sign."""
    interval = gap.interval if gap else difference.difference.interval
    return words.difference(0.0, interval).removeprefix(words.difference(0.0))


def _used(
    performance: FoldPerformance, row: SchemeScore, runs: Sequence[RunScore], difference: SchemeDifference | None
) -> str:
    left = performance.n_samples - row.n
    design = performance.design
    samples = f"n = {count(row.n)}" if design.by_sample else f"n = {design.samples(row.n)}"
    if left:
        samples = f"n = {count(row.n)} of {design.samples(performance.n_samples)} tested"
    failed = f" {plural(performance.n_failed, 'trial')} failed." if performance.n_failed else ""
    covers_seeds = difference is not None and len(difference.per_seed) >= FEWEST_SEEDS
    return (
        f"{samples}, {plural(len(runs[0].folds), 'fold')}, {plural(len(row.seeds), 'seed')}.{failed} "
        f"{_undefined(performance, runs)}"
        f"Means are over folds with equal weight. {_over(design)}. "
        f"{'That of the difference covers other seeds, too. ' if covers_seeds else ''}"
        "Schemes are compared on the same samples."
    )


def _over(design: Design) -> str:
    """What intervals are over; that there are none where too few units stand for others."""
    if design.enough:
        fixed = "; models and folds are fixed" if design.by_sample else ", as test and as training data"
        return f"Intervals are 95 %, over {design.others}{fixed}"
    return "No CIs: so few say nothing about others"


_NOTHING = {
    None: "one class occurs, and nothing else is predicted",
    functions.of_truth: "the class does not occur",
    functions.rest_of_truth: "no other class occurs",
    functions.of_predicted: "the class is never predicted",
    functions.rest_of_predicted: "no other class is predicted",
    functions.of_either: "the class neither occurs nor is predicted",
}
"""Where a metric is a share of nothing, by what it is a share of."""


def _nothing(metric: ScoredBy) -> str:
    return _NOTHING[None if metric.positive is None else metric.metric.of_classes]


def _undefined(performance: FoldPerformance, runs: Sequence[RunScore]) -> str:
    """On how many folds the score is defined, where that is not on all."""
    n, defined = sum(len(run.folds) for run in runs), sum(len(run.folds_defined) for run in runs)
    if defined in (0, n):
        return ""
    of_all = performance.metric.positive is None
    score = performance.metric.words.title if of_all else f"The {performance.metric.title}"
    some = f"{count(defined)} of {plural(n, 'fold')}"
    return f"{score} is defined on {some}, and the mean is over these. In the others {_nothing(performance.metric)}. "


def _advice(
    words: InWords, row: SchemeScore, difference: SchemeDifference | None, gap: Claim | None, shift: Claim | None
) -> str:
    if isnan(row.mean.value):
        other = "another score" if words.of_class is None else "a positive class that occurs in the folds"
        return f"Next: choose {other}."
    if difference is None or gap is None:
        return "Next: run random folds beside these."
    if len(difference.per_seed) < FEWEST_SEEDS:
        return "Next: run three seeds."
    if gap.decision == "above" and shift is None:
        return "Next: check whether these folds differ in labels as well as inputs."
    if gap.decision == "above" and shift is not None and shift.decision == "above":
        return "Next: run k-means folds too. These folds differ in labels as well as inputs."
    if gap.decision == "above":
        return f"Next: if inputs may differ as these folds do, plan for {_estimate(words, row.mean)}."
    if gap.decision in ("below", "small"):
        return "Next: try another fold scheme; these folds are not harder."
    seeds_count_most = difference.over_seeds.width > gap.interval.width / sqrt(2)
    if not gap.interval.holds(0.0) or (seeds_count_most and abs(gap.estimate) >= gap.smallest):
        return f"Next: run {plural(2 * len(difference.per_seed), 'seed')}."
    return f"Next: report no difference.{'' if seeds_count_most else _samples_needed(difference)}"


def _labels(shift: Claim | None, row: SchemeScore) -> str:
    if shift is None:
        return ""
    amount = points(shift.estimate, shift.interval)
    if shift.decision == "above":
        return (
            f"Labels change with these folds, not the inputs alone. Neighbours (nearest inputs) share their label "
            f"{amount} more often within a fold than across folds."
        )
    if shift.decision == "small":
        return (
            f"Given the inputs, labels are the same within and across folds: {amount} more shared by neighbours "
            "(nearest inputs) within a fold."
        )
    if shift.decision == "below":
        return (
            f"Neighbours (nearest inputs) share their label {points(-shift.estimate)} less often within a fold than "
            "across folds."
        )
    return (
        "Whether labels change with these folds, given the inputs, is undecided. Neighbours (nearest inputs) share "
        f"their label {amount} more often within a fold."
    )


def _spread(performance: FoldPerformance, row: SchemeScore, difference: SchemeDifference | None, spread: Claim) -> str:
    if isnan(spread.estimate):
        return ""
    base, words = performance.of(difference.other, row.model) if difference else None, performance.metric.words
    beside = f", {words.bare(base.std)} on {_folds(base.scheme)}" if base and not isnan(base.std) else ""
    described = f"The standard deviation over folds is {words.difference(row.std)}{beside}."
    beyond = words.difference(spread.estimate, spread.interval)
    if spread.decision == "above":
        return f"Scores differ between folds by {beyond} beyond chance (standard deviation). {described}"
    if spread.decision == "small":
        return f"Scores hardly differ between folds: {beyond} beyond chance (standard deviation). {described}"
    return f"No significant difference in score between folds. {described}"


def _lowest_fold(words: InWords, row: SchemeScore, runs: Sequence[RunScore]) -> str:
    folds = [fold for run in runs for fold in run.folds_defined]
    if len(folds) < 2:
        return ""
    low, high = (end(folds, key=lambda fold: fold.score.value) for end in (min, max))

    def which(fold: FoldScore) -> str:
        return f"fold {fold.fold + 1}" + (f" of seed {fold.seed}" if len(row.seeds) > 1 else "")

    return (
        f"Lowest: {which(low)} with {_estimate(words, low.score)} (n = {count(low.n)}). Highest: {which(high)} with "
        f"{_estimate(words, high.score)} (n = {count(high.n)})."
    )


def _seeds(words: InWords, row: SchemeScore, difference: SchemeDifference | None) -> str:
    if len(row.seeds) < 2:
        return "One seed: how much other folds of this scheme would differ is unknown."
    amount, over = words.difference, plural(len(row.seeds), "seed")
    sentence = f"Over {over} the mean has a standard deviation of {amount(row.sd_over_seeds)}."
    values = [value for _, value in difference.per_seed] if difference else []
    if difference is None or len(values) < 2 or any(map(isnan, values)):
        return sentence
    return f"{sentence} The difference runs from {amount(min(values))} to {amount(max(values))} by seed."


def _baselines(performance: FoldPerformance, row: SchemeScore, learned: Claim) -> str:
    if isnan(row.majority) or isnan(row.mean.value):
        return ""
    words = performance.metric.words
    baseline = f"The majority-class baseline has {performance.metric.title} {words.value(row.majority)}"
    guessed = f"; guessing by label shares, about {words.value(row.chance)}" if not isnan(row.chance) else ""
    if learned.decision == "above":
        return f"{baseline}{guessed}."
    if learned.decision == "below":
        return (
            f"The score is {words.difference(-learned.estimate)} below that of a model that ignores its input. "
            f"{baseline}{guessed}."
        )
    return f"No significant difference from a model that ignores its input. {baseline}{guessed}."


def _lowest_class(performance: FoldPerformance, runs: Sequence[RunScore]) -> str:
    if len(performance.class_names) < 2 or not runs:
        return ""
    by_class = [
        (f1, name) for f1, name in zip(runs[0].classes, performance.class_names, strict=True) if not isnan(f1.value)
    ]
    if len(by_class) < 2:
        return ""
    f1, name = min(by_class, key=lambda each: each[0].value)
    seed = f", seed {runs[0].seed}" if len(runs) > 1 else ""
    value = percent(f1.value, f1.interval)
    return f"The lowest class is {quoted(name)}: F1 {value} over all folds (n = {count(f1.n)}{seed})."


def _others(performance: FoldPerformance, row: SchemeScore, difference: SchemeDifference | None) -> str:
    if difference is None:
        return ""
    rest = [
        each
        for each in performance.differences
        if each.model == row.model and each.other == difference.other and each.scheme != row.scheme
    ]
    if not rest:
        return ""
    amount = performance.metric.words.difference
    differences = [
        f"{scheme_title(each.scheme)} {amount(each.difference.value, each.difference.interval)}" for each in rest
    ]
    corrected = f"p-values are corrected for {plural(len(performance.differences), 'comparison')}"
    return f"Other schemes less {_folds(difference.other)}: {listed(differences, most=6)}; {corrected}."


def _relations(relations: Sequence[Relation]) -> str:
    if not relations:
        return ""
    n, claims = plural(relations[0].n, "fold"), list(map(goes_with, relations))
    related = [
        f"{each.characteristic} (r {bare(each.r, 2)}, {p_value(each.p_holm)})"
        for each, claim in zip(relations, claims, strict=True)
        if claim.decided
    ]
    corrected = f"Holm over {plural(len(relations), 'characteristic')}"
    if related:
        return f"Scores correlate with {listed(related)} ({n}, {corrected}). That does not prove a cause."
    most = max(relations, key=lambda each: abs(each.r))
    least = min(relations[0].p_least * len(relations), 1.0)
    few = f" Even r 1 would have {p_value(least)} with so few folds." if least >= 0.01 else ""
    return (
        f"No characteristic of the folds correlates significantly with the score ({n}). The closest is "
        f"{most.characteristic} (r {bare(most.r, 2)}, {p_value(most.p_holm)}, {corrected}).{few}"
    )


def _held_out(words: InWords, each: PredictedHeldOut, claim: Claim) -> str:
    held_out = _folds(each.held_out) if each.held_out in FOLD_SCHEMES else each.held_out
    amount = words.difference(claim.estimate, claim.interval)
    ends = f"{words.value(each.score)} against {words.value(each.held_out_score)}"
    subject = _folds(each.scheme)
    subject = subject[0].upper() + subject[1:]
    where = held_out if each.paired else f"this trained model on {held_out}"
    if claim.decision == "above":
        return f"{subject} predict {amount} too much for {where}: {ends}."
    if claim.decision == "below":
        return f"{subject} predict {words.difference(-claim.estimate)} too little for {where}: {ends}."
    if claim.decision == "small":
        return f"{subject} predict {held_out} to within {words.difference(claim.smallest)}: {ends}."
    if why := why_undecided(claim):
        return f"{subject} and {held_out}: whether they differ is undecided ({amount}){why}: {ends}."
    return f"{subject} and {held_out}: no significant difference ({amount}): {ends}."


def _samples_needed(difference: SchemeDifference) -> str:
    estimate = difference.difference
    if not estimate.interval.known or estimate.value == 0 or not estimate.interval.holds(0.0):
        return ""
    n = ceil(estimate.n * (estimate.interval.width / 2 / estimate.value) ** 2)
    needed = f"more than {count(MOST_SAMPLES)}" if n > MOST_SAMPLES else f"about {count(max(n, estimate.n + 1))}"
    return f" Deciding so small a difference takes {needed} samples (now {count(estimate.n)})."


def _folds(scheme: str) -> str:
    """Folds of a scheme within a sentence: its title before the noun where that reads well, else in quotes after it."""
    title = scheme_title(scheme)
    if any(mark in title for mark in ",(_"):
        return f"folds by {quoted(title)}"
    return f"{title[0].lower() + title[1:] if title[1:2].islower() else title} folds"


def _estimate(words: InWords, estimate: ScoreEstimate) -> str:
    return words.value(estimate.value, estimate.interval)
