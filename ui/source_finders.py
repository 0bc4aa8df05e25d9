"""Which sources are the right ones? Known sources put found ones to the test, and finders are laid side by side."""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from core.evaluate.source_robustness.agreement import SourceAgreement
from core.evaluate.source_robustness.true_sources import TrueSources, true_source_table
from core.evaluate.wording import count, percent, points
from core.figures import source_finders as figures
from core.trials import KNOWN_SOURCES, TrialPlan
from core.workspace.runner import load_plan
from core.workspace.workspace import Run
from ui import background, cache, page
from ui.cache import OwnModels
from ui.cache.source_robustness import agreement
from ui.cache.source_robustness import true_sources as told_of
from ui.sources import TITLES

NAMES = {**TITLES, "same_size_kmeans": "same-size k-means", KNOWN_SOURCES: "known sources"}
OF_PAPER = "The paper's, of all 70,000 images of MNIST, are .0456 (k-means) and .0280 (ACOL), pooled."


def true_sources(run: Run, own: OwnModels | None) -> None:
    """Whether the intervals of found sources hold the accuracy on truly unseen ones, where known ones stand beside."""
    told = _told(run, own)
    if not told:
        return
    st.subheader("Does the interval hold the accuracy on truly unseen sources?", anchor=False)
    page.figure(
        figures.true_sources_chart(told, names=TITLES, dark=page.dark()),
        "Each band is the interval that found sources give; the square is the accuracy when known sources are held "
        "out, with its 95 % interval over sources and samples. Left of its band, the worst case was not bad enough.",
        key="true-sources",
    )
    if run.state == "running":
        return
    st.markdown("\n".join(f"- {page.plain(one.sentence(NAMES))}" for one in told))
    st.dataframe(
        pd.DataFrame([_line(one) for one in told]),
        column_config=_COLUMNS,
        hide_index=True,
        alt="Accuracy on truly unseen sources and the intervals from found ones",
    )


def side_by_side(run: Run) -> None:
    """How far the sources of several finders stand apart, and how far the finders agree; nothing for a single one."""
    finders = _finders(run)
    if len(finders) < 2 or run.state == "running":
        return
    st.subheader("Do the ways of finding sources agree?", anchor=False)
    found = background.answer(agreement(run), "Comparing the clusterings", key="agreement")
    if found is None:
        return
    chart, words = st.columns(2, gap="medium")
    with chart:
        page.figure(
            figures.agreement_map(found, names=NAMES, dark=page.dark()),
            "The adjusted Rand index of every two clusterings, within classes: 1 is the same sources, 0 what chance "
            "gives." + (f" n = {count(found.n_used)} of {count(found.n_samples)}." if _in_part(found) else ""),
            key="agreement",
        )
    with words:
        st.markdown("\n".join(f"- {page.plain(_sentence(one.sentence(NAMES)))}" for one in found.finders))
        _silhouettes(run, finders)


def tables(run: Run, own: OwnModels | None) -> dict[str, Callable[[], pd.DataFrame]]:
    """What can be taken away of it."""
    told: dict[str, Callable[[], pd.DataFrame]] = {}
    if _told(run, own):
        told["True sources"] = lambda: true_source_table(_told(run, own))
    if len(_finders(run)) > 1 and run.state != "running":
        work = agreement(run)
        if work.future.done() and work.future.exception() is None:
            told["Agreement"] = work.future.result().pair_table
    return told


def _told(run: Run, own: OwnModels | None) -> tuple[TrueSources, ...]:
    several = len(_finders(run)) > 1 and KNOWN_SOURCES in _finders(run)
    return told_of(run, own) if several else ()


def _finders(run: Run) -> tuple[str, ...]:
    plan = load_plan(run.plan)
    return plan.source_finders if isinstance(plan, TrialPlan) else ()


def _in_part(found: SourceAgreement) -> bool:
    return found.n_used < found.n_samples


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] if text.startswith("clusterings") else text


def _silhouettes(run: Run, finders: tuple[str, ...]) -> None:
    with st.spinner("Measuring how well the sources stand apart"):
        found = {finder: cache.silhouettes(run, finder) for finder in finders}
    st.dataframe(
        pd.DataFrame(
            [
                {
                    "Sources": NAMES.get(finder, finder),
                    "within classes": one.mean_within,
                    "pooled": one.pooled,
                    "n": one.n_used,
                }
                for finder, one in found.items()
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
        alt="How well the sources of each finder stand apart: silhouettes",
    )
    st.caption(f"Silhouettes: 1 is far apart, 0 touching, below 0 mixed up. {OF_PAPER}")


def _line(one: TrueSources) -> dict[str, object]:
    unseen = one.known.exclusive
    return {
        "Model": TITLES.get(one.model, one.model),
        "Sources": NAMES.get(one.source_finder, one.source_finder),
        "The accuracy is": one.answer,
        "Truly unseen": percent(unseen.value, unseen.over_sources),
        "Interval (%)": f"[{100 * one.found.exclusive.value:.1f}, {100 * one.found.inclusive.value:.1f}]",
        "Above its lower end": points(one.above_lower.value, one.above_lower.over_sources),
        "Below its upper end": points(one.below_upper.value, one.below_upper.over_sources),
        "p": one.p_holm,
        "Trained on": one.found.n_train,
        "Draws": one.n_draws,
        "Known sources": one.known.n_sources,
    }


_COLUMNS = {
    "The accuracy is": st.column_config.TextColumn(
        help="In the interval, or out of it by no more than a point: contained"
    ),
    "Truly unseen": st.column_config.TextColumn(help="Accuracy when known sources are held out, 95 % over sources"),
    "Interval (%)": st.column_config.TextColumn(help="Expected accuracy on unfamiliar and on familiar found sources"),
    "p": st.column_config.NumberColumn(format="%.3f", help="Corrected for the number of rows (Holm)"),
    "Trained on": st.column_config.NumberColumn(help="Samples in the training parts of unfamiliar draws, mean"),
    "Draws": st.column_config.NumberColumn(help="Of the same repeat and training-set size"),
}
