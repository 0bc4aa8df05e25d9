"""Which sources are the right ones? Known sources put found ones to the test, and finders are laid side by side."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from touchstone.core.evaluate.source_robustness.agreement import SourceAgreement
from touchstone.core.evaluate.source_robustness.true_sources import TrueSources, true_source_table
from touchstone.core.evaluate.wording import count
from touchstone.core.figures import source_robustness as figures
from touchstone.core.report.run_report import IN_SENTENCES
from touchstone.core.report.source_robustness import true_sources_figure, true_sources_table
from touchstone.core.trials import KNOWN_SOURCES, TrialPlan
from touchstone.core.workspace.plans import load_plan
from touchstone.core.workspace.run import Run
from touchstone.ui.shell import background, page
from touchstone.ui.shell.background import Task
from touchstone.ui.source_robustness import results, trained_sources
from touchstone.ui.source_robustness.results import OwnModels

OF_PAPER = "The paper's, of all 70,000 images of MNIST, are .0456 (k-means) and .0280 (ACOL), pooled."


def true_sources(known: Sequence[TrueSources]) -> None:
    """Whether the intervals of found sources hold the accuracy on truly unseen ones, which stand beside them."""
    page.draw(true_sources_figure(known))
    st.markdown("\n".join(f"- {page.plain(sources.sentence(IN_SENTENCES))}" for sources in known))
    st.dataframe(
        true_sources_table(known).lines,
        column_config=_COLUMNS,
        hide_index=True,
        alt="Accuracy on truly unseen sources, and the intervals from clusters",
    )


def several(run: Run) -> bool:
    """Whether a run that has ended has the sources of several finders."""
    ended = run.state != "running"
    return ended and len(_finders(run)) > 1 and trained_sources.stored(load_plan(run.plan), run.fingerprint)


def side_by_side(run: Run) -> None:
    """How far the sources of several finders stand apart, and how far the finders agree."""
    agreement = background.answer(_agreement(run), "Comparing the clusterings", key="agreement")
    if agreement is None:
        return
    chart, words = st.columns(2, gap="medium")
    with chart:
        page.figure(
            partial(figures.agreement_map, agreement, names=IN_SENTENCES),
            "The adjusted Rand index of every two clusterings, within classes: 1 is identical, 0 is chance."
            + (f" n = {count(agreement.n_used)} of {count(agreement.n_samples)}." if _in_part(agreement) else ""),
            key="agreement",
        )
    with words:
        st.markdown("\n".join(f"- {page.plain(_sentence(pair.sentence(IN_SENTENCES)))}" for pair in agreement.finders))
        _silhouettes(run, _finders(run))
    _by_class(agreement)


def tables(run: Run, own: OwnModels | None) -> dict[str, Callable[[], pd.DataFrame]]:
    """What can be taken away of it."""
    files: dict[str, Callable[[], pd.DataFrame]] = {}
    if known_sources(run, own):
        files["True sources"] = lambda: true_source_table(known_sources(run, own))
    if several(run):
        work = _agreement(run)
        if work.future.done() and work.future.exception() is None:
            files["Agreement"] = work.future.result().pair_table
    return files


def known_sources(run: Run, own: OwnModels | None) -> tuple[TrueSources, ...]:
    """What known sources tell of the intervals from found ones; nothing where a run does not have both."""
    beside_found = len(_finders(run)) > 1 and KNOWN_SOURCES in _finders(run)
    return results.true_sources(run, own) if beside_found else ()


def _finders(run: Run) -> tuple[str, ...]:
    plan = load_plan(run.plan)
    return plan.source_finders if isinstance(plan, TrialPlan) else ()


def _agreement(run: Run) -> Task[SourceAgreement]:
    """The agreement of a run's clusterings, the same for all that sources can be used for."""
    plan = replace(results.plan_of(run), models=TrialPlan.models, schemes=TrialPlan.schemes)
    return results.agreement(plan, run.fingerprint)


def _in_part(agreement: SourceAgreement) -> bool:
    return agreement.n_used < agreement.n_samples


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] if text.startswith("clusterings") else text


def _by_class(agreement: SourceAgreement) -> None:
    """The index of every two finders, overall and class by class."""
    table = agreement.class_table()
    names = [IN_SENTENCES.get(name, name) for name in table.pop("source_finder")]
    others = [IN_SENTENCES.get(name, name) for name in table.pop("other_finder")]
    pairs = zip(names, others, strict=True)
    labels = [f"{first} and {second}" if first != second else f"{first}, among themselves" for first, second in pairs]
    table.insert(0, "Sources", labels)
    table = table.rename(columns={"index": "all classes"})
    numbers = st.column_config.NumberColumn(format="%.3f")
    st.dataframe(
        table,
        column_config=dict.fromkeys(table.columns[1:], numbers),
        hide_index=True,
        alt="Adjusted Rand index of every two ways of finding sources, by class",
    )
    st.caption("The adjusted Rand index by class, the mean over pairs of clusterings.")


def _silhouettes(run: Run, finders: tuple[str, ...]) -> None:
    plan = results.plan_of(run)
    with st.spinner("Measuring how well the sources are separated"):
        by_finder = {finder: results.silhouettes(plan, run.fingerprint, finder) for finder in finders}
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Sources": IN_SENTENCES.get(finder, finder),
                    "within classes": silhouette.mean_within,
                    "pooled": silhouette.pooled,
                    "n": silhouette.n_used,
                }
                for finder, silhouette in by_finder.items()
            ]
        ),
        column_config={
            name: st.column_config.NumberColumn(format="%.4f", help=meaning)
            for name, meaning in (
                ("within classes", "Silhouette: a sample against the sources of its own class, mean over classes"),
                ("pooled", "Silhouette: a sample against the sources of all classes"),
            )
        },
        hide_index=True,
        alt="Separation of the sources of each finder: silhouettes",
    )
    st.caption(f"Silhouettes: 1 is well separated, 0 touching, below 0 overlapping. {OF_PAPER}")


_COLUMNS = {
    "The accuracy is": st.column_config.TextColumn(
        help="Inside the interval, or outside by at most a point: contained"
    ),
    "Truly unseen": st.column_config.TextColumn(help="Accuracy on held-out known sources, 95 % CI for new data"),
    "Interval (%)": st.column_config.TextColumn(help="Accuracy on held-out clusters, and on those seen in training"),
    "p": st.column_config.NumberColumn(format="%.3f", help="Corrected for the number of rows (Holm)"),
    "Trained on": st.column_config.NumberColumn(help="Samples in training parts that hold sources out, mean"),
    "Draws": st.column_config.NumberColumn(help="Of the same repeat and training-set size"),
}
