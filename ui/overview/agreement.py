"""Do the methods agree on which samples are hard? What each knows of a sample, side by side, from the sheet's runs."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from core.report.samples import Agreement, agreement, agreement_table, in_words, known_of_samples
from core.workspace.run import Run
from ui import cache
from ui.average_case import results as average_case_results
from ui.cluster_folds import results as cluster_folds_results
from ui.data.results import dataset_of
from ui.shell import page, take_away

TITLE = "Do the methods agree on which samples are hard?"
CAPTION = (
    "Spearman's rank correlation: high if both call the same samples easy. *Within* uses ranks within each class. "
    "Correctness is of models trained without the sample's fold; p_robust, sigma_50 and confidence are of one model."
)


def offer(on_sheet: Mapping[str, Run]) -> None:
    """The part of the sheet, closed at first; nothing where fewer than two methods know single samples."""
    folds, robustness = on_sheet.get("cluster_folds"), on_sheet.get("average_case")
    if folds is not None and robustness is not None:
        page.fold(TITLE, lambda: _show(folds, robustness), key="methods-agree")


def _show(folds: Run, robustness: Run) -> None:
    table, pairs = samples(folds, robustness), agreements(folds, robustness)
    st.markdown(f"**{page.plain(in_words(pairs))}**")
    lines = agreement_table(pairs)
    if len(lines):
        st.dataframe(lines.round(3), hide_index=True, alt=in_words(pairs))
        st.caption(CAPTION)
    take_away.offer({"Samples, all methods": lambda: table, "Agreement of methods": lambda: lines}, stem="samples")


@cache.result(max_entries=4)
def samples(folds: Run, robustness: Run) -> pd.DataFrame:
    """What both runs know of every sample."""
    return known_of_samples(
        dataset_of(folds.fingerprint),
        folds=cluster_folds_results.of_run(folds).rows,
        robustness=average_case_results.robustness(robustness),
    )


@cache.result(max_entries=4)
def agreements(folds: Run, robustness: Run) -> tuple[Agreement, ...]:
    """The rank correlations of what both runs know."""
    return agreement(samples(folds, robustness))
