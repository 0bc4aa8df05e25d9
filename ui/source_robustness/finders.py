"""Which sources are the right ones? Known sources put found ones to the test, and finders are laid side by side."""

from collections.abc import Callable
from dataclasses import replace

import pandas as pd
import streamlit as st

from touchstone.core.evaluate.source_robustness.agreement import SourceAgreement
from touchstone.core.evaluate.source_robustness.true_sources import TrueSources
from touchstone.core.report import source_robustness as report
from touchstone.core.report.run_report import IN_SENTENCES
from touchstone.core.trials import KNOWN_SOURCES, TrialPlan
from touchstone.core.workspace import Run
from touchstone.ui.shell import answer, background, page
from touchstone.ui.shell.background import Task
from touchstone.ui.source_robustness import results
from touchstone.ui.source_robustness.results import OwnModels


def several(run: Run) -> bool:
    """Whether a run that has ended has the sources of several finders."""
    plan, ended = results.plan_of(run), run.state != "running"
    return ended and len(plan.source_finders) > 1 and results.stored(plan, run.fingerprint)


def side_by_side(run: Run) -> None:
    """How far the sources of several finders stand apart, and how far the finders agree."""
    agreement = background.answer(_agreement(run), "Comparing the clusterings", key="agreement")
    if agreement is None:
        return
    chart, words = st.columns(2, gap="medium")
    with chart:
        page.draw(report.agreement_figure(agreement))
    with words:
        st.markdown("\n".join(f"- {page.plain(_sentence(pair.sentence(IN_SENTENCES)))}" for pair in agreement.finders))
        plan = results.plan_of(run)
        with st.spinner("Measuring how well the sources are separated"):
            by_finder = {finder: results.silhouettes(plan, run.fingerprint, finder) for finder in plan.source_finders}
        answer.table(report.silhouette_table(by_finder))
    answer.table(report.agreement_table(agreement))


def tables(run: Run) -> dict[str, Callable[[], pd.DataFrame]]:
    """What can be taken away of it."""
    if not several(run):
        return {}
    work = _agreement(run)
    known = work.future.done() and work.future.exception() is None
    return {"Agreement": work.future.result().pair_table} if known else {}


def known_sources(run: Run, own: OwnModels | None) -> tuple[TrueSources, ...]:
    """What known sources tell of the intervals from found ones; nothing where a run does not have both."""
    finders = results.plan_of(run).source_finders
    return results.true_sources(run, own) if len(finders) > 1 and KNOWN_SOURCES in finders else ()


def _agreement(run: Run) -> Task[SourceAgreement]:
    """The agreement of a run's clusterings, the same for all that sources can be used for."""
    plan = replace(results.plan_of(run), models=TrialPlan.models, schemes=TrialPlan.schemes)
    return results.agreement(plan, run.fingerprint)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] if text.startswith("clusterings") else text
