"""What do folds that are made to differ come to, in sentences? Phrased on the bounds of intervals over samples."""

from collections.abc import Mapping, Sequence
from math import ceil, isnan

from core.evaluate.cluster_folds.results import (
    FoldPerformance,
    FoldScore,
    Foretold,
    Relation,
    RunScore,
    SchemeDifference,
    SchemeScore,
    ScoreEstimate,
)
from core.evaluate.intervals import UNKNOWN
from core.evaluate.wording import Verdict, bare, count, fixed, listed, p_value, percent, plural, points
from core.split import FOLD_SCHEMES

MOST_SAMPLES = 10_000_000

_BY_COLUMN = {scheme.column: scheme.title for scheme in FOLD_SCHEMES.values()}


def scheme_title(scheme: str) -> str:
    """What a scheme is called: one of ours by its name or its name in files, else as its file is named.

    >>> scheme_title("sds_folds"), scheme_title("distribution_sensitive_kmeans"), scheme_title("by hand")
    ('SDS k-means', 'SDS k-means', 'by hand')
    """
    return FOLD_SCHEMES[scheme].title if scheme in FOLD_SCHEMES else _BY_COLUMN.get(scheme, scheme)


def fold_verdict(
    performance: FoldPerformance,
    *,
    model: str | None = None,
    scheme: str | None = None,
    names: Mapping[str, str] | None = None,
    relations: Sequence[Relation] = (),
    foretold: Sequence[Foretold] = (),
) -> Verdict:
    """Say what the folds tell of one model on one scheme, held against the baseline.

    `model` is the first by default, `scheme` the first that is not the baseline; `names` are the models' names as
    people know them.

    Examples
    --------
    >>> from core.evaluate.cluster_folds.results import Metric
    >>> fold_verdict(FoldPerformance(Metric(), ("a", "b"), (), (), (), n_samples=10, n_failed=0)).headline
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
    findings = [
        _spread(performance, row, difference),
        _lowest_fold(row, runs),
        _seeds(row, difference),
        _nulls(performance, row),
        _lowest_class(performance, runs),
        _others(performance, row, difference),
        _relations([each for each in relations if (each.model, each.scheme) == (model, row.scheme)]),
        *(_foretold(each) for each in foretold if each.model == model),
        *performance.notes,
    ]
    return Verdict(
        headline=_headline(performance, row, difference, name),
        used=_used(performance, row, runs),
        advice=_advice(row, difference),
        findings=tuple(finding for finding in findings if finding),
    )


def _unfinished(performance: FoldPerformance, model: str, name: str) -> Verdict:
    failed = f"{plural(performance.n_failed, 'trial')} failed." if performance.n_failed else ""
    runs = [run for run in performance.runs if run.model == model]
    if not runs:
        return Verdict("No fold has been tested yet.", failed, "", performance.notes)
    done, wanted = sum(len(run.folds) for run in runs), sum(run.n_folds_wanted for run in runs)
    tested = f"{count(done)} of {plural(wanted, 'fold')} tested"
    if not all(run.folds_known for run in runs):
        tested = f"{plural(done, 'fold')} tested, of how many is not known"
    advice = "Next: run the failed trials again; schemes are compared once every fold is tested." if failed else ""
    return Verdict(
        f"{name} so far: {tested}, no scheme as a whole.",
        failed,
        advice or "Wait for more folds.",
        performance.notes,
    )


def _headline(performance: FoldPerformance, row: SchemeScore, difference: SchemeDifference | None, name: str) -> str:
    metric = performance.metric.title
    if isnan(row.mean.value):
        why = "no fold has the class, and it was never said"
        return f"{name}: the {metric} is not defined on {_folds(row.scheme)}: {why}."
    mine = f"{name}: {metric} {_estimate(row.mean)} on {_folds(row.scheme)}"
    if difference is None or isnan(difference.difference.value):
        return f"{mine}."
    other = performance.of(difference.other, row.model)
    base = f"{percent(difference.other_score, other.mean.interval if other else UNKNOWN)} on {_folds(difference.other)}"
    gap, interval = difference.difference, difference.difference.interval
    numbers = f"{mine}, {base}, a difference of {points(gap.value, interval)}"
    if not interval.known:
        return f"{numbers}. An interval cannot be given."
    if _falls(difference):
        return f"These folds are harder, by {points(-interval.upper)} at least. {numbers}."
    if _rises(difference):
        return f"These folds are easier, by {points(interval.lower)} at least. {numbers}."
    lower = f"it may still be {points(-interval.lower)} lower" if interval.lower < 0 else "it is hardly lower"
    return f"No difference between the schemes can be shown. {numbers}; {lower}."


def _used(performance: FoldPerformance, row: SchemeScore, runs: Sequence[RunScore]) -> str:
    left = performance.n_samples - row.n
    samples = (
        f"n = {count(row.n)} of {plural(performance.n_samples, 'sample')} tested" if left else f"n = {count(row.n)}"
    )
    failed = f" {plural(performance.n_failed, 'trial')} failed." if performance.n_failed else ""
    return (
        f"{samples}, {plural(len(runs[0].folds), 'fold')}, {plural(len(row.seeds), 'seed')}.{failed} "
        f"{_undefined(performance, runs)}"
        "Means are over folds, each counting alike. Intervals are 95 % over samples, the trained models and the folds "
        "being as they are; schemes are compared on the same samples."
    )


def _undefined(performance: FoldPerformance, runs: Sequence[RunScore]) -> str:
    """On how many folds the score is defined, where that is not on all."""
    n, defined = sum(len(run.folds) for run in runs), sum(len(run.folds_defined) for run in runs)
    if defined in (0, n):
        return ""
    return (
        f"The {performance.metric.title} is defined on {count(defined)} of {plural(n, 'fold')}, and the mean is over "
        "these: the others neither have the class nor was it said there. "
    )


def _advice(row: SchemeScore, difference: SchemeDifference | None) -> str:
    if isnan(row.mean.value):
        return "Next: score by a class that the folds have."
    more = " Run three seeds or more before you rank models on it: one seed is luck." if len(row.seeds) < 3 else ""
    lower = percent(row.mean.interval.lower) if row.mean.interval.known else percent(row.mean.value)
    if difference is None:
        return f"Next: run random folds beside it; a score on its own does not say whether these folds are hard.{more}"
    if _falls(difference):
        return (
            f"Next: plan with {lower}, the lower bound, where inputs may differ from the training data as these folds "
            f"differ from each other; the random score is for inputs that are alike.{more}"
        )
    if _rises(difference):
        return f"Next: make folds another way. These are no challenge: what sets them apart is not what is hard.{more}"
    needed = _samples_needed(difference)
    return f"Next: do not claim that these folds are harder or easier. {needed}{more}"


def _spread(performance: FoldPerformance, row: SchemeScore, difference: SchemeDifference | None) -> str:
    if any(len(run.folds_defined) < 2 for run in performance.runs_of(row.scheme, row.model)):
        return ""
    own = f"{fixed(100 * row.std, 1)} points between folds ({scheme_title(row.scheme)})"
    sentence = f"The standard deviation (of the population, as in the paper) is {own}"
    base = performance.of(difference.other, row.model) if difference else None
    if base is None or isnan(base.std):
        return f"{sentence}. It describes these folds; single folds cannot be compared between schemes."
    comparison = "more, as the paper found" if row.std > base.std else "no more, where the paper found that they do"
    return (
        f"{sentence} and {fixed(100 * base.std, 1)} ({scheme_title(base.scheme)}): the former vary {comparison}. "
        "It describes these folds; single folds cannot be compared between schemes."
    )


def _lowest_fold(row: SchemeScore, runs: Sequence[RunScore]) -> str:
    folds = [fold for run in runs for fold in run.folds_defined]
    if len(folds) < 2:
        return ""
    low, high = (end(folds, key=lambda fold: fold.score.value) for end in (min, max))

    def which(fold: FoldScore) -> str:
        return f"fold {fold.fold + 1}" + (f" of seed {fold.seed}" if len(row.seeds) > 1 else "")

    return (
        f"The lowest is {which(low)} with {_estimate(low.score)} (n = {count(low.n)}), the highest {which(high)} with "
        f"{_estimate(high.score)} (n = {count(high.n)})."
    )


def _seeds(row: SchemeScore, difference: SchemeDifference | None) -> str:
    if len(row.seeds) < 2:
        return "One seed only: other folds of the same scheme would give another score; how far off is not known."
    sentence = (
        f"Over {plural(len(row.seeds), 'seed')} the mean has a standard deviation of "
        f"{fixed(100 * row.sd_over_seeds, 1)} points; the interval over samples does not hold that."
    )
    values = [value for _, value in difference.per_seed] if difference else []
    if difference is None or len(values) < 2 or any(map(isnan, values)):
        return sentence
    agree = "every seed says the same" if difference.seeds_agree else "seeds disagree about which is higher"
    return f"{sentence} The difference runs from {points(min(values))} to {points(max(values))} by seed: {agree}."


def _nulls(performance: FoldPerformance, row: SchemeScore) -> str:
    if isnan(row.majority) or isnan(row.chance) or isnan(row.mean.value):
        return ""
    best = max(row.majority, row.chance)
    sentence = (
        f"Always saying the most frequent class of the training part would reach {percent(row.majority)}, guessing by "
        f"its label shares about {percent(row.chance)} ({performance.metric.title})."
    )
    besides = "" if performance.metric.kind == "accuracy" else f" Its accuracy is {percent(row.accuracy)}."
    if row.mean.interval.known and row.mean.interval.lower <= best:
        return (
            f"By {performance.metric.title} the model cannot be told from one that learned nothing. {sentence}{besides}"
        )
    return sentence


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
    return f"The lowest class is {name}: F1 {_estimate(f1)} over all folds (n = {count(f1.n)}{seed})."


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
    differences = [
        f"{scheme_title(each.scheme)} {points(each.difference.value, each.difference.interval)}" for each in rest
    ]
    corrected = f"p-values are corrected for {plural(len(performance.differences), 'comparison')}"
    return f"Against {_folds(difference.other)} too: {listed(differences, most=6)}; {corrected}."


def _relations(relations: Sequence[Relation]) -> str:
    if not relations:
        return ""
    n = plural(relations[0].n, "fold")
    related = [
        f"{each.characteristic} (r {bare(each.r, 2)}, {p_value(each.p_holm)})" for each in relations if each.told
    ]
    corrected = f"corrected for {plural(len(relations), 'characteristic')}"
    if related:
        return f"Scores go with {listed(related)}: {n}, {corrected}. That is no proof of a cause."
    most = max(relations, key=lambda each: abs(each.r))
    least = min(relations[0].p_least * len(relations), 1.0)
    few = f"; of so few folds even a perfect one has {p_value(least)} after correction" if least >= 0.01 else ""
    return (
        f"No characteristic of the folds goes with their scores that {n} could tell; the closest is "
        f"{most.characteristic} (r {bare(most.r, 2)}, {p_value(most.p_holm)}, {corrected}){few}."
    )


def _foretold(each: Foretold) -> str:
    difference, interval = each.difference, each.difference.interval
    held_out = _folds(each.held_out) if each.held_out in FOLD_SCHEMES else each.held_out
    numbers = f"{percent(each.score)} against {percent(each.held_out_score)}, {points(difference.value, interval)}"
    subject = _folds(each.scheme)
    subject = subject[0].upper() + subject[1:]
    if not interval.known:
        return f"{subject} and {held_out}: {numbers}."
    if each.foretells:
        return f"{subject} foretell {held_out} as far as the data can tell: {numbers}."
    too = "too much" if difference.value > 0 else "too little"
    return f"{subject} promise {too} for {held_out}: {numbers}."


def _falls(difference: SchemeDifference) -> bool:
    return difference.told_apart and difference.difference.interval.upper < 0


def _rises(difference: SchemeDifference) -> bool:
    return difference.told_apart and difference.difference.interval.lower > 0


def _samples_needed(difference: SchemeDifference) -> str:
    estimate = difference.difference
    if not estimate.interval.known or estimate.value == 0 or not estimate.interval.holds(0.0):
        return ""
    n = ceil(estimate.n * (estimate.interval.width / 2 / estimate.value) ** 2)
    needed = f"more than {count(MOST_SAMPLES)}" if n > MOST_SAMPLES else f"about {count(max(n, estimate.n + 1))}"
    return f"It would take {needed} samples to tell so small a difference (now {count(estimate.n)})."


def _folds(scheme: str) -> str:
    """Folds of a scheme within a sentence: its title before the noun where that reads well, else in quotes after it."""
    title = scheme_title(scheme)
    if any(mark in title for mark in ",(_"):
        return f'folds by "{title}"'
    return f"{title[0].lower() + title[1:] if title[1:2].islower() else title} folds"


def _estimate(estimate: ScoreEstimate) -> str:
    return percent(estimate.value, estimate.interval)
