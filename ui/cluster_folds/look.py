"""How do the folds lie? Two schemes side by side, each figure as soon as it is worked out."""

from functools import partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from touchstone.core.data import DataError
from touchstone.core.evaluate.cluster_folds import mean_by_fold
from touchstone.core.evaluate.wording import count, plural
from touchstone.core.figures import cluster_folds as figures
from touchstone.core.report import cluster_folds as report
from touchstone.core.represent import number_of, number_title, numbers_of
from touchstone.core.represent.representations import pca_map
from touchstone.core.split.describe_folds import MOST_ROWS, FoldDescription
from touchstone.core.trials import MapPlan
from touchstone.core.workspace import Run, load_plan
from touchstone.ui.cluster_folds import results
from touchstone.ui.cluster_folds.work import Cut, Folded
from touchstone.ui.data_sets import results as data_sets_results
from touchstone.ui.forms.pick_one import choose
from touchstone.ui.shell import answer, background, downloads, page, share
from touchstone.ui.shell.session import owner, workspace

ADDRESSES = ("left", "right", "foldmap")
"""The parameters of the address that are controls of this part of the page."""
MAPS = {"pca": "PCA", "umap": "UMAP"}


def show(folded: Folded) -> None:
    """Maps, sizes, labels and lengths of two schemes, and the table that holds them against random folds."""
    cuts = list(folded.cuts)
    if not cuts:
        page.empty("No folds have been computed yet.")
        return
    chosen = _two(folded, cuts)
    places, waiting = _places(folded)
    for cut, column in zip(chosen, st.columns(len(chosen), gap="medium"), strict=True):
        with column:
            st.markdown(f"**{page.plain(folded.cuts[cut])}**")
            if places is not None:
                figure = partial(_fold_map, folded, cut, places)
                caption = "Each dot is a sample, coloured by fold. Colours of different schemes are unrelated."
                page.figure(figure, caption, key=f"map-{cut.scheme}-{cut.seed}")
            elif waiting:
                st.skeleton(height=420)
    _sizes(folded, chosen)
    _labels(folded, chosen)
    _described(folded, chosen)


def _two(folded: Folded, cuts: list[Cut]) -> list[Cut]:
    """The two schemes side by side; controls where there are more than two."""
    if len(cuts) <= 2:
        return cuts
    with st.container(horizontal=True, gap="medium"):
        left = choose("left", "On the left", folded.cuts)
        rest = {cut: title for cut, title in folded.cuts.items() if cut != left}
        right = choose("right", "On the right", rest, folded.unlike(left))
    return [left, right]


def _places(folded: Folded) -> tuple[np.ndarray | None, bool]:
    """Where samples lie on the map, and whether that is still being worked out."""
    if folded.coordinates is not None:
        return folded.coordinates, False
    task = results.features(folded)
    if task is None:
        st.caption("No map: the chosen data set does not contain these samples.")
        return None, False
    try:
        features = background.answer(task, "Making the features that folds are made in", key="fold-features")
    except DataError as problem:
        page.error(problem)
        return None, False
    if features is None:
        return None, True
    if folded.plan.label_informed:
        st.caption("These features were trained on the labels, so the folds do not depend on inputs alone.")
    umap = _umap(folded)
    there = MAPS if umap is not None else {"pca": MAPS["pca"]}
    if choose("foldmap", "Map", there, help="The newest UMAP map of the page of data sets.") == "umap" and umap:
        share.rest_on(umap)
        return data_sets_results.map_of(umap), False
    return pca_map(features), False


def _umap(folded: Folded) -> Run | None:
    """The newest UMAP map of the data set that was made (on the page of data sets), if there is one."""
    data = folded.dataset
    runs = [] if data is None else workspace().runs(owner(), data.fingerprint)
    maps = ((run, load_plan(run.plan)) for run in runs if run.kind == MapPlan.kind and run.state == "done")
    return next((run for run, plan in maps if isinstance(plan, MapPlan) and plan.method == "umap"), None)


def _fold_map(folded: Folded, cut: Cut, places: np.ndarray, *, dark: bool) -> go.Figure:
    folds = folded.rows.folds(*cut)
    return figures.fold_map(places, folds, cut.scheme, names=folded.names(cut), dark=dark)


def _sizes(folded: Folded, chosen: list[Cut]) -> None:
    one_scheme = len({cut.scheme for cut in chosen}) < len(chosen)  # two seeds of it
    by_scheme = {folded.cuts[cut] if one_scheme else cut.scheme: folded.rows.folds(*cut) for cut in chosen}
    data = folded.dataset
    sizes, means = st.columns(2, gap="medium") if data is not None else (st.container(), None)
    with sizes:
        page.draw(report.size_figure(folded.rows, by_scheme))
    if data is None or means is None:
        return
    with means:
        name = folded.plan.number or numbers_of(data)[0]
        values, title = number_of(data, name), number_title(data, name)
        by_fold = {scheme: mean_by_fold(folds, values) for scheme, folds in by_scheme.items()}
        figure = partial(figures.fold_means, by_fold, title, whole=float(values.mean()))
        page.figure(figure, f"{page.plain(title)}: mean of each fold, 95 % interval; dotted: all.", key="means")


def _labels(folded: Folded, chosen: list[Cut]) -> None:
    rows = folded.rows
    folds = [rows.folds(*cut) for cut in chosen]
    for cut, own, column in zip(chosen, folds, st.columns(len(chosen), gap="medium"), strict=True):
        with column:
            key = f"{cut.scheme}-{cut.seed}"
            answer.part(report.label_figure(rows, folded.cuts[cut], own, folds, key))


def _described(folded: Folded, chosen: list[Cut]) -> None:
    st.markdown("**Requested and achieved, compared with random folds of the same sizes**")
    descriptions = {}
    for cut in chosen:
        try:
            task = results.description(folded, cut)
            description = background.answer(
                task, "Measuring how much training and test parts differ", key=f"described-{cut.scheme}"
            )
        except DataError as problem:
            page.error(problem)
            continue
        if description is not None:
            descriptions[cut] = description
            _description(folded, cut, description)
    if descriptions:
        tables = {
            "Distances": lambda: _joined(
                {cut: description.measures_table() for cut, description in descriptions.items()}
            ),
            "Labels": lambda: _joined({cut: description.labels_table() for cut, description in descriptions.items()}),
        }
        downloads.offer(tables, stem="cluster-folds")


def _joined(tables: dict[Cut, pd.DataFrame]) -> pd.DataFrame:
    """Tables of several cuts as one: scheme and seed in front, folds counted from 1 as everywhere on the screen."""
    parts = [table.assign(fold=table["fold"] + 1, scheme=cut.scheme, seed=cut.seed) for cut, table in tables.items()]
    whole = pd.concat(parts, ignore_index=True)
    return whole[["scheme", "seed", *(name for name in whole.columns if name not in ("scheme", "seed"))]]


def _description(folded: Folded, cut: Cut, description: FoldDescription) -> None:
    names, most = folded.names(cut), int(description.table()["n_train"].max())
    sampled = f" Distances are measured on at most {count(MOST_ROWS)} random samples of each part."
    st.caption(
        f"{page.plain(folded.cuts[cut])}; last row: the mean of {plural(len(description.random), 'random draw')}."
        + sampled * ("mmd" in description.measures and most > MOST_ROWS)
    )
    answer.table(report.distance_table(description, names))
    with st.expander("Labels by fold", type="compact"):
        answer.table(report.label_table(description, names))
    for remark in description.remarks[:5]:
        st.caption(page.plain(remark))
