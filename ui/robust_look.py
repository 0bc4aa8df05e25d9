"""How robust are samples and classes, and how good are the numbers? The verdict card, the figures and the table."""

import pandas as pd
import streamlit as st

from core.evaluate.average_case.audit import AuditedEstimator
from core.evaluate.average_case.class_means import Measured
from core.evaluate.average_case.plan import AverageCasePlan
from core.evaluate.average_case.robustness import Robustness
from core.evaluate.average_case.verdict import average_case_verdict, estimator_title
from core.evaluate.intervals import Interval
from core.evaluate.wording import Verdict, bare, count, percent, plural, points
from core.figures import average_case as figures
from core.figures import average_case_audit as audits
from ui import data_views, page
from ui.page import Metric

DRAWS_OF_PAPER = 10_000


def verdict(found: Robustness, sigma: float) -> Verdict:
    """The card: the sentence, and four numbers."""
    said = average_case_verdict(found, sigma)
    page.verdict(said, metrics(found, sigma))
    return said


def metrics(found: Robustness, sigma: float) -> list[Metric]:
    """Mean robustness, the gap of classes, the share below one, and how far off the numbers are."""
    at, checked = found.at(sigma), found.audit.of(found.estimator, sigma)
    told = [_share("Mean p_robust", at.mean, "How often noise leaves a prediction as it is, mean over samples.")]
    if at.gap is not None:
        told.append(
            Metric(
                "Largest gap of classes",
                points(at.gap.value),
                _brackets(points, at.gap.value, at.gap.interval),
                "Between the means of the most and the least robust class, less the bias of having chosen them. The "
                "interval holds for all pairs of classes at once.",
            )
        )
    told.append(
        _share(
            "p_robust below 1",
            at.below_one,
            "Share of samples whose prediction noise changes more than once in a thousand copies.",
        )
    )
    if checked is None:
        return [*told, Metric("Off Monte-Carlo by", "not audited", f"n = {count(at.n)}")]
    meaning = (
        f"Mean absolute difference from Monte-Carlo on {plural(checked.error.n, 'audited sample')}; "
        f"{bare(checked.by_luck, 3)} of it would be luck of the draws."
    )
    return [*told, Metric("Off Monte-Carlo by", bare(checked.error.value, 3), _ends(checked.error), meaning)]


def classes(found: Robustness, sigma: float) -> None:
    """Figure 4 of the paper: the distribution of every class."""
    n = sum(of.n > 0 for of in found.at(sigma).classes)
    caption = (
        f"Each box holds the samples of a class ({estimator_title(found.estimator)}), the diamond is its mean with the "
        "95 % interval over samples. Ticks are Monte-Carlo's answer for the audited samples. A robust class lies right."
    )
    drawn = figures.class_chart(found, sigma, dark=page.dark())
    data_views.in_a_box(n, lambda: page.figure(drawn, caption, key="class-chart"), key="class-box")


def sigmas(found: Robustness) -> None:
    """Over sigma: the mean and the gap."""
    mean, gap = st.columns(2, gap="medium")
    with mean:
        page.figure(
            figures.sigma_chart(found, dark=page.dark()),
            "The mean over samples with its interval; the thin lines are the most and the least robust class.",
            key="sigma-chart",
        )
    with gap:
        page.figure(
            figures.gap_chart(found, dark=page.dark()),
            "The largest gap with its interval for all pairs at once. Grey: what labels shuffled at random would show.",
            key="gap-chart",
        )


def audit(found: Robustness, sigma: float) -> None:
    """Every estimator beside Monte-Carlo: figure 2a, the time of each, convergence and the sigmoid."""
    st.subheader("How far are the numbers off on this model?", anchor=False)
    of = found.audit
    if not of.estimators:
        page.empty("No sample has been audited, so that nobody knows. Ask for audited samples above, and run again.")
        return
    error, bias = st.columns(2, gap="medium")
    with error:
        page.figure(
            audits.error_chart(of, dark=page.dark()),
            "Mean absolute error against Monte-Carlo, 95 % intervals over audited samples. Within the grey band an "
            "estimator could as well be exact.",
            key="error-chart",
        )
    with bias:
        page.figure(
            audits.error_chart(of, bias=True, dark=page.dark()),
            "The same with its sign, in the same colours: above 0 an estimator takes the model for more robust than "
            "it is.",
            key="bias-chart",
        )
    table(found, sigma)
    converging, sigmoid = st.columns(2, gap="medium")
    with converging:
        if of.convergence:
            page.figure(
                audits.convergence_chart(of, dark=page.dark()),
                "MMSE by its number of noisy copies, on the same audited samples. The paper says that around 5 plain "
                "ones are enough.",
                key="convergence-chart",
            )
    with sigmoid:
        if len(of.sigmoids(sigma)):
            page.figure(
                audits.sigmoid_chart(of, sigma, dark=page.dark()),
                "The multivariate sigmoid in place of the normal distribution function; on the dotted line they agree.",
                key="sigmoid-chart",
            )


def table(found: Robustness, sigma: float) -> None:
    """A line for each estimator: error and bias at this sigma, and what a sample takes (the paper's table 1)."""
    rows = [one for one in found.audit.estimators if one.sigma == sigma]
    if not rows:
        return
    counted = rows[0]
    seconds = counted.monte_carlo_seconds * DRAWS_OF_PAPER / counted.n_draws
    lines = [_line(one, seconds) for one in sorted(rows, key=lambda one: one.error.value)]
    lines.append(
        {
            "Estimator": f"Monte-Carlo, {count(DRAWS_OF_PAPER)} draws",
            "ms per sample": _figures(1000 * seconds),
            "Times faster": "1",
        }
    )
    config = {
        "Relative error": st.column_config.TextColumn(help="Mean of the absolute error over Monte-Carlo's p_robust"),
        "Inside": st.column_config.TextColumn(help="Share of estimates inside Monte-Carlo's exact interval"),
        "Times faster": st.column_config.TextColumn(
            help=f"Than Monte-Carlo with {count(DRAWS_OF_PAPER)} draws, extrapolated from those that the audit took"
        ),
    }
    st.dataframe(
        pd.DataFrame(lines).fillna(""), column_config=config, hide_index=True, alt="Estimators, errors and times"
    )
    st.caption(
        f"At sigma {sigma:g}, on {plural(counted.error.n, 'sample')}, each estimated in small batches on the machine "
        f"that ran it; Monte-Carlo took {count(round(counted.n_draws))} draws each on average."
    )


def _line(one: AuditedEstimator, monte_carlo_seconds: float) -> dict[str, str]:
    return {
        "Estimator": estimator_title(one.estimator),
        "Error": f"{bare(one.error.value, 4)} {_ends(one.error)}",
        "Bias": f"{bare(one.bias.value, 4)} {_ends(one.bias)}",
        "Relative error": percent(one.relative.value),
        "Inside": percent(one.inside.value),
        "ms per sample": _figures(1000 * one.seconds),
        "Times faster": _figures(monte_carlo_seconds / one.seconds),
    }


def _figures(value: float) -> str:
    """Two or three figures of a positive number, never as a power of ten.

    >>> _figures(1.296), _figures(40.7)
    ('1.3', '41')
    """
    return count(round(value)) if value >= 10 else f"{value:.2g}"


def _share(label: str, of: Measured, meaning: str) -> Metric:
    interval = _brackets(percent, of.value, of.interval)
    return Metric(label, percent(of.value), interval, f"{meaning} n = {count(of.n)}; the interval is over samples.")


def _brackets(write, value: float, interval: Interval) -> str:
    return write(value, interval).removeprefix(write(value)).strip()


def _ends(of: Measured) -> str:
    return f"[{bare(of.interval.lower, 3)}, {bare(of.interval.upper, 3)}]" if of.interval.known else ""


def nothing_computed(plan: AverageCasePlan, n_samples: int, n_trials: int) -> None:
    """What stands where nothing has been computed of this choice."""
    page.empty(
        f"Nothing has been computed for this choice yet. **Run** judges {plural(n_samples, 'sample')} at "
        f"{plural(len(plan.sigmas), 'sigma')} and checks {count(min(plan.n_audit, n_samples))} of them by Monte-Carlo: "
        f"{plural(n_trials, 'trial')}, in the background."
    )
