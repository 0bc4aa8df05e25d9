"""Which samples and classes are fragile under noise? In sentences, each phrased from the decision of a claim."""

from math import ceil, isinf, isnan, nan

from touchstone.core.evaluate.average_case import facts_of
from touchstone.core.evaluate.average_case.class_means import ClassGap, Measured
from touchstone.core.evaluate.average_case.estimators import SIGMOID_SCALE
from touchstone.core.evaluate.average_case.robustness import (
    AtSigma,
    Audit,
    Fifths,
    PaperClaim,
    Robustness,
)
from touchstone.core.evaluate.claims import Claim, claim, why_undecided
from touchstone.core.evaluate.intervals import UNKNOWN, p_of_interval
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
from touchstone.core.evaluate.wording import (
    gap as difference,
)

# What may be said of robustness under noise? Every sentence rests on one of these (`core.evaluate.claims`).


def classes_differ(gap: ClassGap | None) -> Claim:
    """How far the most robust class lies above the least robust one; its p-value is from labels that were shuffled."""
    if gap is None:
        return claim("average_case.classes_differ", nan, UNKNOWN, nan)
    return claim("average_case.classes_differ", gap.value, gap.interval, gap.p_value)


def wrong_more_often(fifths: Fifths | None) -> Claim:
    """How much more accurate the most robust 20 % of samples are than the least robust 20 %."""
    return _of_interval("average_case.least_robust_wrong_more", None if fifths is None else fifths.difference)


def biased(bias: Measured) -> Claim:
    """By how much an estimator lies above Monte-Carlo."""
    return _of_interval("average_case.biased", bias)


def farther_off(less: Measured, p_flipped: float) -> Claim:
    """By how much the mean absolute error of plain MMSE with N = 5 lies above that of Taylor, on the same samples.

    Where next to no sample is fragile, a handful of differences makes the interval: signs that are drawn
    (`p_flipped`) have to find it, too.
    """
    made = _of_interval("average_case.mmse_farther_off", less)
    return claim(made.kind, made.estimate, made.interval, max(made.p_value, p_flipped))


def _of_interval(kind: str, measured: Measured | None) -> Claim:
    if measured is None or not measured.interval.known:
        return claim(kind, nan, UNKNOWN, nan)
    value, interval = measured.value, measured.interval
    return claim(kind, value, interval, p_of_interval(value, interval))


# Which samples and classes are fragile under noise? In sentences, each phrased from the decision of a claim.


LEVEL = 0.05
MOST_SAMPLES = 10_000_000


def estimator_title(name: str) -> str:
    """What an estimator is called on the screen.

    >>> estimator_title("mmse"), estimator_title("mmse_plain")
    ('MMSE', 'MMSE, plain noise')
    """
    return facts_of(name).title


def average_case_verdict(robustness: Robustness, sigma: float | None = None) -> Verdict:
    """Say what the rows tell at one sigma (the middle one by default).

    Examples
    --------
    >>> import pandas as pd
    >>> from touchstone.core.evaluate.average_case.robustness import evaluate_robustness
    >>> average_case_verdict(evaluate_robustness(pd.DataFrame(), class_names=("a", "b"))).headline
    'No sample has been judged yet.'
    """
    if not robustness.by_sigma:
        failed = f"{plural(robustness.n_failed, 'trial')} failed." if robustness.n_failed else ""
        return Verdict("No sample has been judged yet.", failed, "", ())
    sigma = robustness.sigmas[len(robustness.sigmas) // 2] if sigma is None else sigma
    at = robustness.at(sigma)
    differ, wrong_more = classes_differ(at.gap), wrong_more_often(at.by_robustness)
    checked, paper = robustness.audit.of(robustness.estimator, sigma), robustness.audit.paper
    bias = biased(checked.bias) if checked else None
    less = farther_off(paper.plain_less_taylor, paper.p_plain) if paper else None
    findings = [
        _halves(robustness),
        _direction(robustness, sigma),
        resting(_fifths(at.by_robustness, at.by_confidence, wrong_more), wrong_more.kind),
        resting(_chosen(at), differ.kind),
        _below_one(at),
        resting(_tests(robustness, sigma), differ.kind),
        _agreement(at),
        resting(_audited(robustness, sigma), "average_case.biased"),
        resting(_against_the_paper(paper, less), "average_case.mmse_farther_off"),
        _sigmoid(robustness.audit, sigma),
        _flags(robustness, sigma),
    ]
    return Verdict(
        headline=_headline(robustness, at, differ),
        used=_used(robustness, at),
        advice=resting(_advice(robustness, at, differ, bias), differ.kind, "average_case.biased"),
        findings=tuple(finding for finding in findings if finding),
        claims=tuple(made for made in (differ, wrong_more, bias, less) if made is not None),
    )


def trust_line(robustness: Robustness, sigma: float) -> str:
    """How far single samples' numbers are off at one sigma, and which estimator was closest, in a line."""
    checked = robustness.audit.of(robustness.estimator, sigma)
    if checked is None:
        return "No sample has been audited."
    off = f"{estimator_title(robustness.estimator)} is off by {_number(checked.error)} on single samples"
    best = _best(robustness, sigma)
    if best in ("", robustness.estimator):
        return f"{off}, the closest of all that were tried."
    closest = robustness.audit.of(best, sigma)
    return f"{off}; {estimator_title(best)}: {_number(closest.error)}." if closest else f"{off}."


def _headline(robustness: Robustness, at: AtSigma, differ: Claim) -> str:
    whole = f"At noise level sigma {at.sigma:g}, {_share(at.mean)} of predictions stay unchanged."
    gap, names = at.gap, robustness.class_names
    if gap is None:
        return whole
    numbers = points(gap.value, gap.interval)
    least, most = (f"{quoted(names[code])} {percent(at.classes[code].value)}" for code in (gap.least, gap.most))
    ends = f"lowest {least}, highest {most}"
    if differ.decision == "above":
        between = (
            f"Classes differ in robustness ({p_value(differ.p_value)}). The largest gap is {numbers}, corrected for "
            f"picking the largest: {ends}."
        )
    elif differ.decision == "small":
        between = f"Classes are alike in robustness to within {points(differ.smallest)}."
    elif at.p_holm < LEVEL:  # ranks may differ where means do not
        between = (
            f"Robustness differs in ranks between classes (Kruskal-Wallis {p_value(at.p_holm)}). Whether class means "
            f"differ is undecided: largest gap {numbers}, {ends}."
        )
    else:
        why = why_undecided(differ)
        between = f"No significant difference in robustness between classes: largest gap {numbers}{why}, {ends}."
    return in_a_row(resting(between, differ.kind), whole)


def _used(robustness: Robustness, at: AtSigma) -> str:
    left = f" of {count(at.n + at.n_unknown)}; the model gave no finite output for the rest" if at.n_unknown else ""
    failed = f" {plural(robustness.n_failed, 'trial')} failed." if robustness.n_failed else ""
    title, n, design = estimator_title(robustness.estimator), count(at.n), robustness.design
    if not design.by_sample:
        known = robustness.samples_at(at.sigma).dropna(subset=["p_robust"])
        n = design.of(known["row"].to_numpy()).samples(at.n)
    over = design.others
    if len(robustness.tried) > 1 and robustness.audit.estimators:
        title = f"{title}, closest to Monte-Carlo of {count(len(robustness.tried))} tried"
    if at.n_draws is None:
        return f"n = {n}{left}, by {title}.{failed} Intervals are 95 %, over {over}; the model is fixed."
    rests = f"means from {count(at.n_draws)} fresh noisy copies of each, single samples estimated by {title}"
    return f"n = {n}{left}; {rests}.{failed} Intervals are 95 %, over {over} and copies; the model is fixed."


def _advice(robustness: Robustness, at: AtSigma, differ: Claim, bias: Claim | None) -> str:
    if bias is not None and bias.decision in ("above", "below"):
        way = "high" if bias.decision == "above" else "low"
        better = _best(robustness, at.sigma)
        other = f"; {estimator_title(better)} was closer here" if better not in ("", robustness.estimator) else ""
        amount = points(bias.estimate, bias.interval)
        return (
            "Next: take a smaller sigma, more noisy copies, or Monte-Carlo. "
            f"{estimator_title(robustness.estimator)} is too {way} on this model: bias {amount}{other}."
        )
    if differ.decision == "above":
        return f"Next: check the labels of the least robust samples of {_names(robustness, at)}."
    return f"Next: look at the least robust samples.{_samples_needed(at)}" if at.gap else ""


def _chosen(at: AtSigma) -> str:
    gap = at.gap
    if gap is None:
        return ""
    return (
        f"Uncorrected, the two classes differ by {points(gap.raw)}. The gap above is corrected for picking the "
        f"largest. "
        f"With labels shuffled, the largest would be {points(gap.by_chance)} on average."
    )


def _below_one(at: AtSigma) -> str:
    share = at.below_one
    if not share.n:
        return ""
    return (
        f"{_share(share)} of the samples have p_robust below 1: noise changes their prediction more than once in a "
        "thousand copies. An adversarial example is within reach."
    )


def _tests(robustness: Robustness, sigma: float) -> str:
    at = robustness.at(sigma)
    if isnan(at.p_holm):
        return "Too few samples by class for a test of differences between classes."
    sigmas = [f"{at_sigma.sigma:g}" for at_sigma in robustness.by_sigma if at_sigma.p_holm < LEVEL]
    n = plural(len(robustness.by_sigma), "sigma", "sigmas")
    where = (
        f"classes differ in ranks at sigma {listed(sigmas, most=6)}" if sigmas else "no significant difference at any"
    )
    return f"Kruskal-Wallis test over classes: {p_value(at.p_holm)} at this sigma (Holm over {n}); {where}."


def _halves(robustness: Robustness) -> str:
    """How much noise classes stand: the medians of the least and the most robust one."""
    known = sorted((half.value, code) for code, half in enumerate(robustness.half_by_class) if half.n)
    if not known:
        return ""
    (low, first), (_, last) = known[0], known[-1]
    sigma_of = {code: sigma_50(robustness.half_by_class[code], robustness.furthest) for code in (first, last)}
    if isinf(low):
        kept = f"more than half of the noisy copies keep the prediction up to sigma {robustness.furthest:.2g}"
        return f"In the median sample of every class {kept}."
    names = [quoted(robustness.class_names[code]) for code in (first, last)]
    if first == last:
        return f"Half of the noisy copies change class at sigma {sigma_of[first]} in the median sample of {names[0]}."
    return (
        f"In median samples, half of the noisy copies change class at sigma {sigma_of[first]} ({names[0]}, lowest "
        f"observed) to {sigma_of[last]} ({names[1]}, highest)."
    )


def _direction(robustness: Robustness, sigma: float) -> str:
    """The named direction that breaks a class most, and how the next one does."""
    means_along = robustness.directions_at(sigma)
    known = [
        (mean.value, name, code) for name, means in means_along.items() for code, mean in enumerate(means) if mean.n
    ]
    if not known:
        return ""
    value, worst, code = min(known)
    if value == 1.0:
        return f"None of the {len(means_along)} named directions changes a prediction at sigma {sigma:g}."
    others = sorted((means[code].value, name) for name, means in means_along.items() if name != worst)
    next_ = f" The next for this class is {others[0][1]}, {percent(others[0][0])}." if others else ""
    name, kept = quoted(robustness.class_names[code]), _share(means_along[worst][code])
    return (
        f"Lowest observed of {len(means_along)} named directions: {worst} for {name}, {kept} of its copies keep the "
        f"prediction.{next_}"
    )


def sigma_50(half: Measured, furthest: float) -> str:
    """The median sigma-50 of a class with its interval.

    >>> from touchstone.core.evaluate.intervals import Interval
    >>> sigma_50(Measured(0.214, Interval(0.181, float("inf")), 20), 1.2)
    '0.21 [0.18, > 1.2]'
    >>> sigma_50(Measured(float("inf"), Interval(float("inf"), float("inf")), 20), 1.2)
    'beyond 1.2'
    """

    def at(value: float) -> str:
        return f"> {furthest:.2g}" if isinf(value) else f"{value:.2g}"

    if isinf(half.value) and not half.interval.lower < furthest:
        return f"beyond {furthest:.2g}"
    ends = f" [{at(half.interval.lower)}, {at(half.interval.upper)}]" if not isnan(half.interval.lower) else ""
    return f"{at(half.value)}{ends}"


def _fifths(fifths: Fifths | None, sure: Fifths | None, wrong_more: Claim) -> str:
    if fifths is None:
        return ""
    apart = points(wrong_more.estimate, wrong_more.interval)
    both = f"accuracy {_share(fifths.fragile)} against {_share(fifths.sturdy)}, n = {count(fifths.fragile.n)} each"
    if wrong_more.decision == "above":
        sentence = f"The least robust 20 % of samples lose {apart} of accuracy to the most robust 20 %: {both}."
    elif wrong_more.decision == "below":
        apart = points(-wrong_more.estimate)
        sentence = f"The least robust 20 % of samples gain {apart} of accuracy on the most robust 20 %: {both}."
    else:
        same = f"no significant difference in accuracy ({apart}){why_undecided(wrong_more)}"
        sentence = f"Least and most robust 20 % of samples: {same}: {both}."
    if sure is None:
        return sentence
    return f"{sentence} For comparison, the least confident 20 % have accuracy {_share(sure.fragile)}."


def _agreement(at: AtSigma) -> str:
    agreement = at.agreement
    if isnan(agreement.value):
        return ""
    ends = f"[{bare(agreement.interval.lower, 2)}, {bare(agreement.interval.upper, 2)}]"
    return (
        f"Rank correlation of robustness and softmax confidence: {bare(agreement.value, 2)} {ends}. The paper finds "
        f"confidence "
        "a poor stand-in for robustness; 1 would be the same order."
    )


def _audited(robustness: Robustness, sigma: float) -> str:
    audit = robustness.audit
    checked = audit.of(robustness.estimator, sigma)
    if checked is None:
        return ""
    n, n_draws = plural(checked.error.n, "sample"), count(round(checked.n_draws))
    others = [
        each
        for each in audit.estimators
        if each.sigma == sigma and each is not checked and facts_of(each.estimator).sigmoid_of is None
    ]
    others.sort(key=lambda each: each.error.value)
    parts = [f"{estimator_title(each.estimator)} {_number(each.error)}" for each in others]
    title = estimator_title(robustness.estimator)
    return (
        f"Against Monte-Carlo on {n}, about {n_draws} draws each, the mean absolute error of {title} is "
        f"{_number(checked.error)}. An exact estimator would show {bare(checked.by_luck, 3)}, as draws are random. "
        f"Bias: {_number(checked.bias)}." + (f" Errors of others: {'; '.join(parts)}." if parts else "")
    )


def _against_the_paper(paper: PaperClaim | None, less: Claim | None) -> str:
    """The paper: MMSE converges around N = 5. Whether that many copies are enough to be closer than Taylor here."""
    if paper is None or less is None:
        return ""
    outcome = {
        "below": "With N = 5 plain MMSE is closer here",
        "above": "With N = 5 plain MMSE is farther off here",
    }.get(less.decision, "No significant difference between plain MMSE with N = 5 and Taylor here")
    return (
        f"The paper says that MMSE converges around N = 5, and finds it closer than Taylor at N = 500. {outcome}: "
        f"{_number(paper.plain_less_taylor)} of mean absolute error, {_number(paper.plain)} against "
        f"{_number(paper.taylor)} at sigma {paper.sigma:g}. Six antithetic copies have {_number(paper.paired)}, "
        f"{_number(paper.paired_less_taylor)} against Taylor.{_with_many(paper)}"
    )


def _with_many(paper: PaperClaim) -> str:
    if paper.many is None or paper.many_less_taylor is None:
        return ""
    many, less = _number(paper.many), _number(paper.many_less_taylor)
    return f" With N = {paper.n_many} plain MMSE has {many}, {less} against Taylor."


def _sigmoid(audit: Audit, sigma: float) -> str:
    pairs = audit.sigmoids(sigma)
    apart = (pairs["sigmoid"] - pairs["cdf"]).abs().groupby(pairs["by"])
    off = {str(name): float(differences.mean()) for name, differences in apart}
    if "mmse_mvs" not in off:
        return ""
    scaled = f"; scaled by {SIGMOID_SCALE:g} (ours), by {bare(off['mmse_scaled'], 3)}" if "mmse_scaled" in off else ""
    return (
        f"The multivariate sigmoid differs from the normal distribution function by {bare(off['mmse_mvs'], 3)} on "
        f"average here{scaled}. The paper finds the two close, at about sigma .05; its printed formula lacks the "
        "factor of its source."
    )


def _flags(robustness: Robustness, sigma: float) -> str:
    samples = robustness.samples_at(sigma)
    strange, wide = int(samples["degenerate"].sum()), int((~samples["converged"] & ~samples["degenerate"]).sum())
    parts = []
    if strange:
        parts.append(
            f"{plural(strange, 'sample')} with a margin that does not depend on the input, or depends on another"
        )
    if wide:
        parts.append(f"{plural(wide, 'sample')} with a less precise estimate than requested")
    return f"Marked in the table: {'. Also '.join(parts)}." if parts else ""


def _best(robustness: Robustness, sigma: float) -> str:
    recommended = [
        audited
        for audited in robustness.audit.estimators
        if audited.sigma == sigma and facts_of(audited.estimator).recommended
    ]
    return min(recommended, key=lambda audited: audited.error.value).estimator if recommended else ""


def _names(robustness: Robustness, at: AtSigma) -> str:
    """The least robust classes: those whose interval ends below the mean of all, else the lowest one."""
    order = sorted((mean.value, code) for code, mean in enumerate(at.classes) if not isnan(mean.value))
    low = [code for _, code in order if at.classes[code].interval.upper < at.mean.value] or [order[0][1]]
    return listed([quoted(robustness.class_names[code]) for code in low])


def _samples_needed(at: AtSigma) -> str:
    gap = at.gap
    if gap is None or gap.value <= 0 or gap.raw <= gap.by_chance:
        return ""
    n = ceil(at.n * (gap.interval.width / 2 / gap.value) ** 2)
    if n <= at.n or n > MOST_SAMPLES:
        return ""
    return f" Deciding about classes needs about {count(n)} samples (now {count(at.n)})."


def _share(measured: Measured) -> str:
    return percent(measured.value, measured.interval)


def _number(measured: Measured) -> str:
    return difference(measured.value, measured.interval)
