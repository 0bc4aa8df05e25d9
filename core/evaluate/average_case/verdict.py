"""Which samples and classes are fragile under noise? In sentences, phrased on the bounds of the intervals."""

from math import ceil, isnan

from core.evaluate.average_case import facts_of
from core.evaluate.average_case.audit import Audit, AuditedEstimator, PaperClaim
from core.evaluate.average_case.class_means import Measured
from core.evaluate.average_case.robustness import AtSigma, Fifths, Robustness
from core.evaluate.wording import Verdict, bare, count, listed, p_value, percent, plural, points

MUCH_BIAS = 0.02
"""A bias beyond two points is told before anything is done with the numbers."""
LEVEL = 0.05
MOST_SAMPLES = 10_000_000


def estimator_title(name: str) -> str:
    """What an estimator is called on the screen.

    >>> estimator_title("mmse"), estimator_title("mmse_plain")
    ('MMSE', 'MMSE, plain noise')
    """
    return facts_of(name).title


def average_case_verdict(found: Robustness, sigma: float | None = None) -> Verdict:
    """Say what the rows tell at one sigma (the middle one by default).

    Examples
    --------
    >>> import pandas as pd
    >>> from core.evaluate.average_case.robustness import evaluate_robustness
    >>> average_case_verdict(evaluate_robustness(pd.DataFrame(), class_names=("a", "b"))).headline
    'No sample has been judged yet.'
    """
    if not found.by_sigma:
        failed = f"{plural(found.n_failed, 'trial')} failed." if found.n_failed else ""
        return Verdict("No sample has been judged yet.", failed, "", ())
    sigma = found.sigmas[len(found.sigmas) // 2] if sigma is None else sigma
    at = found.at(sigma)
    findings = [
        _chosen(at),
        _below_one(at),
        _tests(found, sigma),
        _fifths(at.by_robustness, at.by_confidence),
        _agreement(at),
        _audited(found, sigma),
        _against_the_paper(found.audit.paper),
        _sigmoid(found.audit, sigma),
        _flags(found, sigma),
    ]
    return Verdict(
        headline=_headline(found, at),
        used=_used(found, at),
        advice=_advice(found, at),
        findings=tuple(finding for finding in findings if finding),
    )


def _headline(found: Robustness, at: AtSigma) -> str:
    whole = f"Noise of sigma {at.sigma:g} leaves the prediction as it is {_share(at.mean)} of the time, on average"
    gap, names = at.gap, found.class_names
    if gap is None:
        return f"{whole}."
    numbers = points(gap.value, gap.interval)
    least, most = (f"{names[code]} ({percent(at.classes[code].value)})" for code in (gap.least, gap.most))
    if gap.interval.lower > 0:
        return (
            f"The model is not equally robust for all classes: at least {points(gap.interval.lower)} lie between the "
            f"most and the least robust one at sigma {at.sigma:g} ({numbers}), from {least} to {most}. {whole}."
        )
    ends = f"up to {points(gap.interval.upper)} ({numbers}; lowest {least}, highest {most}). {whole}."
    if at.p_holm < LEVEL:  # ranks may differ where means cannot be told apart
        return (
            f"Classes differ in robustness at sigma {at.sigma:g} (Kruskal-Wallis {p_value(at.p_holm)}), but not by an "
            f"amount that can be shown: their means may lie as close as chance has them, or apart by {ends}"
        )
    return f"No difference in robustness between classes can be shown at sigma {at.sigma:g}; there may be {ends}"


def _used(found: Robustness, at: AtSigma) -> str:
    left = f" of {count(at.n + at.n_unknown)}; the model gave no number for the rest" if at.n_unknown else ""
    failed = f" {plural(found.n_failed, 'trial')} failed." if found.n_failed else ""
    title = estimator_title(found.estimator)
    return f"n = {count(at.n)}{left}, by {title}.{failed} Intervals are 95 % over samples, the model as it is."


def _advice(found: Robustness, at: AtSigma) -> str:
    checked = found.audit.of(found.estimator, at.sigma)
    if checked is not None and _surely_biased(checked.bias):
        way = "high" if checked.bias.value > 0 else "low"
        better = _best(found, at.sigma)
        other = f"; {estimator_title(better)} was closer here" if better not in ("", found.estimator) else ""
        return (
            f"Next: read the numbers with care. {estimator_title(found.estimator)} is too {way} on this model by "
            f"{_points_of(checked.bias)} at this sigma{other}. Take a smaller sigma, more noisy copies, or Monte-Carlo."
        )
    gap = at.gap
    if gap is None:
        return ""
    if gap.interval.lower > 0:
        low = _names(found, at)
        return (
            f"Next: look at the least robust samples of {low} below, whether their labels are right and what they "
            "lack; then train with noise or a gradient penalty, or collect more of these classes, and come back."
        )
    n = _samples_needed(at)
    return (
        f"Next: nothing about single classes can be acted on. {n}The least robust samples below are worth a look all "
        "the same: a small change makes the model say something else."
    )


def _chosen(at: AtSigma) -> str:
    gap = at.gap
    if gap is None:
        return ""
    return (
        f"The two classes as they are lie {points(gap.raw)} apart. Theirs is the largest of many differences, so it is "
        "given less the bias of having chosen it, and its interval holds for all pairs of classes at once; with labels "
        f"shuffled, the largest would be {points(gap.by_chance)} on average."
    )


def _below_one(at: AtSigma) -> str:
    share = at.below_one
    if not share.n:
        return ""
    if share.interval.lower > 0.99:
        return (
            f"At least {percent(share.interval.lower)} of the samples have p_robust below 1 ({_share(share)}): hardly "
            "one is out of reach of an adversarial example at this distance."
        )
    return (
        f"{_share(share)} of the samples have p_robust below 1: noise changes their prediction more than once in a "
        "thousand copies, so that an adversarial example is within reach."
    )


def _tests(found: Robustness, sigma: float) -> str:
    at = found.at(sigma)
    if isnan(at.p_holm):
        return "Too few samples by class for a test of differences between classes."
    told = [f"{of.sigma:g}" for of in found.by_sigma if of.p_holm < LEVEL]
    n = plural(len(found.by_sigma), "sigma", "sigmas")
    where = "classes can be told apart at no sigma"
    if told:
        where = f"classes can be told apart at sigma {listed(told, most=6)}"
    return f"Kruskal-Wallis test over classes: {p_value(at.p_holm)} at this sigma, corrected for {n}; {where}."


def _fifths(of: Fifths | None, sure: Fifths | None) -> str:
    if of is None:
        return ""
    difference = of.difference
    both = (
        f"The fragile fifth (p_robust up to {bare(of.low, 3)}) is right in {_share(of.fragile)}, the sturdy fifth in "
        f"{_share(of.sturdy)}, n = {count(of.fragile.n)} each"
    )
    if difference.interval.lower > 0:
        said = f"{both}: fragile samples are wrong more often, by {points(difference.interval.lower)} at least."
    else:
        said = f"{both}; no difference can be shown ({points(difference.value, difference.interval)})."
    if sure is None:
        return said
    return f"{said} Of the least confident fifth {_share(sure.fragile)} are right."


def _agreement(at: AtSigma) -> str:
    of = at.agreement
    if isnan(of.value):
        return ""
    ends = f"[{bare(of.interval.lower, 2)}, {bare(of.interval.upper, 2)}]"
    return (
        f"Rank correlation of p_robust and softmax confidence: {bare(of.value, 2)} {ends}. The paper finds confidence "
        "a poor stand-in for robustness; 1 would be the same order."
    )


def _audited(found: Robustness, sigma: float) -> str:
    audit = found.audit
    checked = audit.of(found.estimator, sigma)
    if checked is None:
        return ""
    n, n_draws = plural(checked.error.n, "sample"), count(round(checked.n_draws))
    of = [one for one in audit.estimators if one.sigma == sigma and facts_of(one.estimator).sigmoid_of is None]
    parts = [f"{estimator_title(one.estimator)} {_number(one.error)}" for one in sorted(of, key=_size)]
    return (
        f"Against Monte-Carlo on {n}, about {n_draws} draws each, "
        f"the mean absolute error at this sigma is: {'; '.join(parts)}. An exact estimator would show "
        f"{bare(checked.by_luck, 3)}, by the luck of the draws. Bias of {estimator_title(found.estimator)}: "
        f"{_number(checked.bias)}."
    )


def _against_the_paper(of: PaperClaim | None) -> str:
    """The paper: MMSE converges around N = 5 and is closer than Taylor. What was measured here stands beside it."""
    if of is None:
        return ""
    less = of.plain_less_taylor
    if less.interval.upper < 0:
        said = "Here, too, plain MMSE with N = 5 is closer"
    elif less.interval.lower > 0:
        said = "Not here: plain MMSE with N = 5 is farther off"
    else:
        said = "Here no difference can be shown between plain MMSE with N = 5 and Taylor"
    return (
        f"The paper says that MMSE converges around N = 5 and is closer than Taylor. {said}: mean absolute error "
        f"{_number(of.plain)} against {_number(of.taylor)} at sigma {of.sigma:g}, a difference of {_number(less)} over "
        f"the same samples; six antithetic copies have {_number(of.paired)}, a difference of "
        f"{_number(of.paired_less_taylor)}."
    )


def _sigmoid(audit: Audit, sigma: float) -> str:
    pairs = audit.sigmoids(sigma)
    of = pairs[pairs["of"] == "mmse"] if len(pairs) else pairs
    if not len(of):
        return ""
    off = float((of["sigmoid"] - of["cdf"]).abs().mean())
    return (
        f"The multivariate sigmoid differs from the normal distribution function by {bare(off, 3)} on average here; "
        "the paper finds the two close."
    )


def _size(one: AuditedEstimator) -> float:
    return one.error.value


def _flags(found: Robustness, sigma: float) -> str:
    of = found.samples_at(sigma)
    strange, wide = int(of["degenerate"].sum()), int((~of["converged"] & ~of["degenerate"]).sum())
    parts = []
    if strange:
        parts.append(
            f"{plural(strange, 'sample')} with a margin that does not change with the input or hangs on another"
        )
    if wide:
        parts.append(f"{plural(wide, 'sample')} whose number is less sure than was asked for")
    return f"Marked in the table: {'; '.join(parts)}." if parts else ""


def _best(found: Robustness, sigma: float) -> str:
    of = [one for one in found.audit.estimators if one.sigma == sigma and facts_of(one.estimator).recommended]
    return min(of, key=_size).estimator if of else ""


def _surely_biased(bias: Measured) -> bool:
    return bias.interval.known and (bias.interval.lower > MUCH_BIAS or bias.interval.upper < -MUCH_BIAS)


def _names(found: Robustness, at: AtSigma) -> str:
    """The least robust classes: those whose interval ends below the mean of all, else the lowest one."""
    order = sorted((of.value, code) for code, of in enumerate(at.classes) if not isnan(of.value))
    low = [code for _, code in order if at.classes[code].interval.upper < at.mean.value] or [order[0][1]]
    return listed([found.class_names[code] for code in low])


def _samples_needed(at: AtSigma) -> str:
    gap = at.gap
    if gap is None or gap.value <= 0 or gap.raw <= gap.by_chance:
        return ""
    n = ceil(at.n * (gap.interval.width / 2 / gap.value) ** 2)
    if n <= at.n or n > MOST_SAMPLES:
        return ""
    return f"If the gap is what it seems, about {count(n)} samples would show it (now {count(at.n)}). "


def _share(of: Measured) -> str:
    return percent(of.value, of.interval)


def _points_of(bias: Measured) -> str:
    return points(bias.value, bias.interval)


def _number(of: Measured) -> str:
    return f"{bare(of.value, 3)}{_ends(of)}"


def _ends(of: Measured) -> str:
    return f" [{bare(of.interval.lower, 3)}, {bare(of.interval.upper, 3)}]" if of.interval.known else ""
