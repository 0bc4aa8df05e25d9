"""How robust are samples and classes, and how good are the numbers? The verdict card, the figures and the table."""

from dataclasses import replace

import streamlit as st

from touchstone.core.evaluate.average_case.plan import AverageCasePlan
from touchstone.core.evaluate.average_case.robustness import Robustness
from touchstone.core.evaluate.average_case.verdict import average_case_verdict
from touchstone.core.evaluate.wording import Verdict, count, plural
from touchstone.core.report import average_case as report
from touchstone.ui.data_sets import views
from touchstone.ui.shell import page


def verdict(robustness: Robustness, sigma: float, *, finished: bool) -> Verdict:
    """The card: the sentence, four numbers and, once all is known, what to do next."""
    verdict = average_case_verdict(robustness, sigma)
    page.verdict(verdict if finished else replace(verdict, advice=""), report.metrics(robustness, sigma))
    return verdict


def classes(robustness: Robustness, sigma: float) -> None:
    """Figure 4 of the paper: the distribution of every class."""
    n = sum(share.n > 0 for share in robustness.at(sigma).classes)
    drawn = report.class_figure(robustness, sigma)
    views.in_a_box(n, lambda: page.draw(drawn), key="class-box")


def directions(robustness: Robustness, sigma: float) -> None:
    """Which change breaks which class, where the plan asked for it."""
    if not robustness.directions_at(sigma):
        return

    def drawn() -> None:
        views.in_a_box(
            len(robustness.class_names), lambda: page.draw(report.direction_figure(robustness, sigma)), key="ways-box"
        )

    page.fold("Which change breaks a class?", drawn, key="directions")


def sigmas(robustness: Robustness) -> None:
    """How much noise it takes: sigma-50 of every class, and over sigma the mean and the gap."""
    if len(robustness.half):
        n = sum(share.n > 0 for share in robustness.half_by_class)
        views.in_a_box(n, lambda: page.draw(report.half_figure(robustness)), key="half-box")
    mean, gap = st.columns(2, gap="medium")
    with mean:
        page.draw(report.sigma_figure(robustness))
    with gap:
        page.draw(report.gap_figure(robustness))


def audit(robustness: Robustness, sigma: float) -> None:
    """Every estimator beside Monte-Carlo: figure 2a, the time of each, convergence and the sigmoid."""
    audit = robustness.audit
    if not audit.estimators:
        page.empty("Unknown, because no sample was audited. Set the number of audited samples above, and run again.")
        return
    error, bias = st.columns(2, gap="medium")
    with error:
        page.draw(report.error_figure(audit))
    with bias:
        page.draw(report.bias_figure(audit))
    table(robustness, sigma)
    converging, sigmoid = st.columns(2, gap="medium")
    with converging:
        if audit.convergence:
            page.draw(report.convergence_figure(audit))
    with sigmoid:
        if len(audit.sigmoids(sigma)):
            page.draw(report.sigmoid_figure(audit, sigma))


def table(robustness: Robustness, sigma: float) -> None:
    """A line for each estimator: error and bias at this sigma, and what a sample takes (the paper's table 1)."""
    table = report.estimator_table(robustness.audit, sigma)
    if table is None:
        return
    faster = f"Compared with Monte-Carlo of {count(report.DRAWS_OF_PAPER)} draws, extrapolated from the audit's draws"
    config = {
        "Relative error": st.column_config.TextColumn(help="Mean of the absolute error over Monte-Carlo's p_robust"),
        "Inside": st.column_config.TextColumn(help="Share of estimates inside Monte-Carlo's exact interval"),
        "Times faster": st.column_config.TextColumn(help=faster),
    }
    st.dataframe(table.lines, column_config=config, hide_index=True, alt=table.title)
    st.caption(page.plain(table.caption))


def nothing_computed(plan: AverageCasePlan, n_samples: int, ahead: str) -> None:
    """What stands where nothing has been computed of this choice."""
    page.not_computed(
        f"**Run** judges {plural(n_samples, 'sample')} at "
        f"{plural(len(plan.sigmas), 'sigma')} and checks {count(min(plan.n_audit, n_samples))} of them by Monte-Carlo: "
        f"{ahead}"
    )
