"""Which samples and classes are fragile under noise? In sentences, each phrased from the decision of a claim."""

from math import ceil, isinf, isnan

from core.evaluate.average_case import facts_of
from core.evaluate.average_case.audit import Audit, AuditedEstimator, PaperClaim
from core.evaluate.average_case.class_means import Measured
from core.evaluate.average_case.estimators import SIGMOID_SCALE
from core.evaluate.average_case.robustness import AtSigma, Fifths, Robustness
from core.evaluate.average_case.robustness_claims import biased, classes_differ, farther_off, wrong_more_often
from core.evaluate.claims import Claim
from core.evaluate.wording import Verdict, bare, count, listed, p_value, percent, plural, points, quoted

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
    differ, wrong_more = classes_differ(at.gap), wrong_more_often(at.by_robustness)
    checked, paper = found.audit.of(found.estimator, sigma), found.audit.paper
    bias = biased(checked.bias) if checked else None
    less = farther_off(paper.plain_less_taylor) if paper else None
    findings = [
        _halves(found),
        _direction(found, sigma),
        _fifths(at.by_robustness, at.by_confidence, wrong_more),
        _chosen(at),
        _below_one(at),
        _tests(found, sigma),
        _agreement(at),
        _audited(found, sigma),
        _against_the_paper(paper, less),
        _sigmoid(found.audit, sigma),
        _flags(found, sigma),
    ]
    return Verdict(
        headline=_headline(found, at, differ),
        used=_used(found, at),
        advice=_advice(found, at, differ, bias),
        findings=tuple(finding for finding in findings if finding),
        claims=tuple(made for made in (differ, wrong_more, bias, less) if made is not None),
    )


def trust_line(found: Robustness, sigma: float) -> str:
    """How far single samples' numbers are off at one sigma, and which estimator was closest, in a line."""
    checked = found.audit.of(found.estimator, sigma)
    if checked is None:
        return "No sample has been audited."
    off = f"{estimator_title(found.estimator)} is off by {_number(checked.error)} on single samples"
    best = _best(found, sigma)
    if best in ("", found.estimator):
        return f"{off}, the closest of all that were tried."
    closest = found.audit.of(best, sigma)
    return f"{off}; {estimator_title(best)}: {_number(closest.error)}." if closest else f"{off}."


def _headline(found: Robustness, at: AtSigma, differ: Claim) -> str:
    whole = f"At noise level sigma {at.sigma:g}, {_share(at.mean)} of predictions stay unchanged"
    gap, names = at.gap, found.class_names
    if gap is None:
        return f"{whole}."
    numbers = points(gap.value, gap.interval)
    least, most = (f"{quoted(names[code])} {percent(at.classes[code].value)}" for code in (gap.least, gap.most))
    ends = f"lowest {least}, highest {most}"
    if differ.decision == "above":
        return (
            f"Classes differ in robustness ({p_value(differ.p_value)}). The largest gap is {numbers}, corrected for "
            f"picking the largest: {ends}. {whole}."
        )
    if differ.decision == "small":
        return f"Classes are alike in robustness to within {points(differ.smallest)}. {whole}."
    if at.p_holm < LEVEL:  # ranks may differ where means do not
        return (
            f"Robustness differs in ranks between classes (Kruskal-Wallis {p_value(at.p_holm)}). Whether class means "
            f"differ is undecided: largest gap {numbers}, {ends}. {whole}."
        )
    return f"No significant difference in robustness between classes: largest gap {numbers}, {ends}. {whole}."


def _used(found: Robustness, at: AtSigma) -> str:
    left = f" of {count(at.n + at.n_unknown)}; the model gave no finite output for the rest" if at.n_unknown else ""
    failed = f" {plural(found.n_failed, 'trial')} failed." if found.n_failed else ""
    title = estimator_title(found.estimator)
    if len(found.tried) > 1 and found.audit.estimators:
        title = f"{title}, closest to Monte-Carlo of {count(len(found.tried))} tried"
    if at.n_draws is None:
        return f"n = {count(at.n)}{left}, by {title}.{failed} Intervals are 95 %, over samples; the model is fixed."
    rests = f"means from {count(at.n_draws)} fresh noisy copies of each, single samples by {title}"
    return f"n = {count(at.n)}{left}; {rests}.{failed} Intervals are 95 %, over samples and copies; the model is fixed."


def _advice(found: Robustness, at: AtSigma, differ: Claim, bias: Claim | None) -> str:
    if bias is not None and bias.decision in ("above", "below"):
        way = "high" if bias.decision == "above" else "low"
        better = _best(found, at.sigma)
        other = f"; {estimator_title(better)} was closer here" if better not in ("", found.estimator) else ""
        amount = points(bias.estimate, bias.interval)
        return (
            f"Next: take a smaller sigma, more noisy copies, or Monte-Carlo. {estimator_title(found.estimator)} is too "
            f"{way} on this model: bias {amount}{other}."
        )
    if differ.decision == "above":
        return f"Next: check the labels of the least robust samples of {_names(found, at)}."
    return f"Next: look at the least robust samples, below.{_samples_needed(at)}" if at.gap else ""


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


def _tests(found: Robustness, sigma: float) -> str:
    at = found.at(sigma)
    if isnan(at.p_holm):
        return "Too few samples by class for a test of differences between classes."
    told = [f"{of.sigma:g}" for of in found.by_sigma if of.p_holm < LEVEL]
    n = plural(len(found.by_sigma), "sigma", "sigmas")
    where = f"classes differ in ranks at sigma {listed(told, most=6)}" if told else "no significant difference at any"
    return f"Kruskal-Wallis test over classes: {p_value(at.p_holm)} at this sigma (Holm over {n}); {where}."


def _halves(found: Robustness) -> str:
    """How much noise classes stand: the medians of the least and the most robust one."""
    known = sorted((of.value, code) for code, of in enumerate(found.half_by_class) if of.n)
    if not known:
        return ""
    (low, first), (_, last) = known[0], known[-1]
    said = {code: sigma_50(found.half_by_class[code], found.furthest) for code in (first, last)}
    if isinf(low):
        kept = f"more than half of the noisy copies keep the prediction up to sigma {found.furthest:.2g}"
        return f"In the median sample of every class {kept}."
    earliest = f"Half of the noisy copies change class at sigma {said[first]} in the median sample of"
    names = [quoted(found.class_names[code]) for code in (first, last)]
    if first == last:
        return f"{earliest} {names[0]}."
    return f"{earliest} {names[0]}, and only {_at(said[last])} in that of {names[1]}."


def _direction(found: Robustness, sigma: float) -> str:
    """The named direction that breaks a class most, and how the next one does."""
    known = [
        (of.value, name, code)
        for name, means in found.directions_at(sigma).items()
        for code, of in enumerate(means)
        if of.n
    ]
    if not known:
        return ""
    value, worst, code = min(known)
    of = found.directions_at(sigma)
    if value == 1.0:
        return f"None of the {len(of)} named directions changes a prediction at sigma {sigma:g}."
    others = sorted((means[code].value, name) for name, means in of.items() if name != worst)
    next_ = f" The next for this class is {others[0][1]}, {percent(others[0][0])}." if others else ""
    name, kept = quoted(found.class_names[code]), _share(of[worst][code])
    return f"Of {len(of)} named directions {worst} breaks {name} most: {kept} of its copies keep the prediction.{next_}"


def _at(sigma: str) -> str:
    return sigma if sigma.startswith("beyond") else f"at {sigma}"


def sigma_50(of: Measured, furthest: float) -> str:
    """The median sigma-50 of a class with its interval.

    >>> from core.evaluate.intervals import Interval
    >>> sigma_50(Measured(0.214, Interval(0.181, float("inf")), 20), 1.2)
    '0.21 [0.18, > 1.2]'
    >>> sigma_50(Measured(float("inf"), Interval(float("inf"), float("inf")), 20), 1.2)
    'beyond 1.2'
    """

    def at(value: float) -> str:
        return f"> {furthest:.2g}" if isinf(value) else f"{value:.2g}"

    if isinf(of.value) and not of.interval.lower < furthest:
        return f"beyond {furthest:.2g}"
    ends = f" [{at(of.interval.lower)}, {at(of.interval.upper)}]" if not isnan(of.interval.lower) else ""
    return f"{at(of.value)}{ends}"


def _fifths(of: Fifths | None, sure: Fifths | None, wrong_more: Claim) -> str:
    if of is None:
        return ""
    apart = points(wrong_more.estimate, wrong_more.interval)
    both = f"accuracy {_share(of.fragile)} against {_share(of.sturdy)}, n = {count(of.fragile.n)} each"
    if wrong_more.decision == "above":
        sentence = f"The least robust 20 % of samples lose {apart} of accuracy to the most robust 20 %: {both}."
    elif wrong_more.decision == "below":
        apart = points(-wrong_more.estimate)
        sentence = f"The least robust 20 % of samples gain {apart} of accuracy on the most robust 20 %: {both}."
    else:
        sentence = f"Least and most robust 20 % of samples: no significant difference in accuracy ({apart}): {both}."
    if sure is None:
        return sentence
    return f"{sentence} For comparison, the least confident 20 % have accuracy {_share(sure.fragile)}."


def _agreement(at: AtSigma) -> str:
    of = at.agreement
    if isnan(of.value):
        return ""
    ends = f"[{bare(of.interval.lower, 2)}, {bare(of.interval.upper, 2)}]"
    return (
        f"Rank correlation of robustness and softmax confidence: {bare(of.value, 2)} {ends}. The paper finds "
        f"confidence "
        "a poor stand-in for robustness; 1 would be the same order."
    )


def _audited(found: Robustness, sigma: float) -> str:
    audit = found.audit
    checked = audit.of(found.estimator, sigma)
    if checked is None:
        return ""
    n, n_draws = plural(checked.error.n, "sample"), count(round(checked.n_draws))
    of = [one for one in audit.estimators if one.sigma == sigma and facts_of(one.estimator).sigmoid_of is None]
    others = [one for one in sorted(of, key=_size) if one.estimator != found.estimator]
    parts = [f"{estimator_title(one.estimator)} {_number(one.error)}" for one in others]
    title = estimator_title(found.estimator)
    return (
        f"Against Monte-Carlo on {n}, about {n_draws} draws each, the mean absolute error of {title} is "
        f"{_number(checked.error)}. An exact estimator would show {bare(checked.by_luck, 3)}, as draws are random. "
        f"Bias: {_number(checked.bias)}." + (f" Errors of others: {'; '.join(parts)}." if parts else "")
    )


def _against_the_paper(of: PaperClaim | None, less: Claim | None) -> str:
    """The paper: MMSE converges around N = 5. Whether that many copies are enough to be closer than Taylor here."""
    if of is None or less is None:
        return ""
    outcome = {
        "below": "With N = 5 plain MMSE is closer here",
        "above": "With N = 5 plain MMSE is farther off here",
    }.get(less.decision, "No significant difference between plain MMSE with N = 5 and Taylor here")
    return (
        f"The paper says that MMSE converges around N = 5; it measures it closer than Taylor at N = 500. {outcome}: "
        f"{_number(of.plain_less_taylor)} of mean absolute error, {_number(of.plain)} against {_number(of.taylor)} at "
        f"sigma {of.sigma:g}. Six antithetic copies have {_number(of.paired)}, {_number(of.paired_less_taylor)} "
        f"against Taylor.{_with_many(of)}"
    )


def _with_many(of: PaperClaim) -> str:
    if of.many is None or of.many_less_taylor is None:
        return ""
    return f" With N = {of.n_many} plain MMSE has {_number(of.many)}, {_number(of.many_less_taylor)} against Taylor."


def _sigmoid(audit: Audit, sigma: float) -> str:
    pairs = audit.sigmoids(sigma)
    apart = (pairs["sigmoid"] - pairs["cdf"]).abs().groupby(pairs["by"])
    off = {str(name): float(of.mean()) for name, of in apart}
    if "mmse_mvs" not in off:
        return ""
    scaled = f"; scaled by {SIGMOID_SCALE:g} (ours), by {bare(off['mmse_scaled'], 3)}" if "mmse_scaled" in off else ""
    return (
        f"The multivariate sigmoid differs from the normal distribution function by {bare(off['mmse_mvs'], 3)} on "
        f"average here{scaled}. The paper finds the two close, at about sigma .05; its printed formula lacks the "
        "factor of its source."
    )


def _size(one: AuditedEstimator) -> float:
    return one.error.value


def _flags(found: Robustness, sigma: float) -> str:
    of = found.samples_at(sigma)
    strange, wide = int(of["degenerate"].sum()), int((~of["converged"] & ~of["degenerate"]).sum())
    parts = []
    if strange:
        parts.append(
            f"{plural(strange, 'sample')} with a margin that does not depend on the input, or depends on another"
        )
    if wide:
        parts.append(f"{plural(wide, 'sample')} with a less precise estimate than requested")
    return f"Marked in the table: {'. Also '.join(parts)}." if parts else ""


def _best(found: Robustness, sigma: float) -> str:
    of = [one for one in found.audit.estimators if one.sigma == sigma and facts_of(one.estimator).recommended]
    return min(of, key=_size).estimator if of else ""


def _names(found: Robustness, at: AtSigma) -> str:
    """The least robust classes: those whose interval ends below the mean of all, else the lowest one."""
    order = sorted((of.value, code) for code, of in enumerate(at.classes) if not isnan(of.value))
    low = [code for _, code in order if at.classes[code].interval.upper < at.mean.value] or [order[0][1]]
    return listed([quoted(found.class_names[code]) for code in low])


def _samples_needed(at: AtSigma) -> str:
    gap = at.gap
    if gap is None or gap.value <= 0 or gap.raw <= gap.by_chance:
        return ""
    n = ceil(at.n * (gap.interval.width / 2 / gap.value) ** 2)
    if n <= at.n or n > MOST_SAMPLES:
        return ""
    return f" Deciding about classes takes about {count(n)} samples (now {count(at.n)})."


def _share(of: Measured) -> str:
    return percent(of.value, of.interval)


def _number(of: Measured) -> str:
    return f"{bare(of.value, 3)}{_ends(of)}"


def _ends(of: Measured) -> str:
    return f" [{bare(of.interval.lower, 3)}, {bare(of.interval.upper, 3)}]" if of.interval.known else ""
