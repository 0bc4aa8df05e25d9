"""How do folds lie, what differs in them, how do models fare on them, and how do they get out? Each in its turn."""

import io
import zipfile
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.predictions.upload import analysis_file, datasplits_file, predefined_split_file
from touchstone.core.evaluate.cluster_folds.performance import mean_by_fold
from touchstone.core.evaluate.cluster_folds.results import FoldPerformance, PredictedHeldOut, ScoredBy
from touchstone.core.evaluate.cluster_folds.verdict import scheme_title
from touchstone.core.evaluate.wording import count, plural
from touchstone.core.figures import cluster_folds as figures
from touchstone.core.figures.data_sets import characteristic_words
from touchstone.core.report import cluster_folds as report
from touchstone.core.report.parts import Answer
from touchstone.core.report.run_report import MODEL_TITLES
from touchstone.core.represent import number_of, number_title, numbers_of
from touchstone.core.represent.representations import pca_map
from touchstone.core.split.describe_folds import MOST_ROWS, FoldDescription
from touchstone.core.split.folds import FOLD_SCHEMES
from touchstone.core.trials import FoldPlan, MapPlan
from touchstone.core.workspace import Run
from touchstone.ui.cluster_folds import results
from touchstone.ui.cluster_folds.results import Cut, Folded, Related
from touchstone.ui.data import samples
from touchstone.ui.data_sets import maps
from touchstone.ui.forms.pick_one import choose
from touchstone.ui.shell import answer, background, downloads, page, session, share

ADDRESSES = ("left", "right", "foldmap")
"""The parameters of the address that are controls of this part of the page."""
MAPS = {"pca": "PCA", "umap": "UMAP"}


def show_folds(folded: Folded) -> None:
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
        return maps.map_of(umap), False
    return pca_map(features), False


def _umap(folded: Folded) -> Run | None:
    """The newest UMAP map of the data set that was made (on the page of data sets), if there is one."""
    data = folded.dataset
    runs = [] if data is None else session.workspace().runs(session.owner(), data.fingerprint)
    made = ((run, page.plan_of(run)) for run in runs if run.kind == MapPlan.kind and run.state == "done")
    return next((run for run, plan in made if isinstance(plan, MapPlan) and plan.method == "umap"), None)


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


# What differs in the folds? Mean images, words or columns of all, and samples of one.


INSIDE = ("inside", "infold")
"""The parameters of the address that are controls of this part of the page."""
N_SAMPLES = 10
N_WORDS = 12


def show_inside(folded: Folded) -> None:
    """What the folds of one scheme hold: mean images, words or columns, and samples of one fold."""
    data, cuts = folded.dataset, list(folded.cuts)
    if data is None or not cuts:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        cut = choose("inside", "Folds of", folded.cuts, folded.unlike(cuts[0]))
        names, folds = folded.names(cut), folded.rows.folds(*cut)
        at = choose("infold", "Fold", dict(enumerate(names)))
    if data.kind == "text":
        _words(folded, cut, at)
    else:
        _portraits(folded, cut)
    st.markdown(f"**Samples of fold {page.plain(names[at])}**")
    rows = samples.one_of_each(data, rng=np.random.default_rng(0))
    samples.show(data, rows[folds[rows] == at][:N_SAMPLES])


def _words(folded: Folded, cut: Cut, at: int) -> None:
    counts = background.answer(results.words(folded, cut), "Counting words", key="fold-words")
    if counts is None:
        return
    with st.grid("auto", min_column_width=150, border=True):
        for name in counts.class_names:
            words = [word.word for word in counts.characteristic(name, most=6) if word.stands]
            sentence = page.plain(", ".join(words)) or "no word differs by more than chance"
            st.markdown(f"**{page.plain(name)}**  \n{sentence}")
    words = counts.characteristic(counts.class_names[at], most=N_WORDS)
    figure = partial(characteristic_words, words, noun="fold", nouns="folds")
    page.figure(
        figure,
        "What distinguishes this fold, most significant first; hatched: not significant.",
        key="fold-words-figure",
    )


def _portraits(folded: Folded, cut: Cut) -> None:
    data, folds = folded.dataset, folded.rows.folds(*cut)
    if data is None:
        return
    with st.grid("auto", min_column_width=110, gap="small"):
        for fold, name in enumerate(folded.names(cut)):
            drawn = samples.portrait(data, folds == fold, folds != fold)
            with st.container(gap="xsmall"):
                if drawn.picture is not None:
                    st.image(samples.enlarged(drawn.picture), alt=f"Mean image of fold {name}", output_format="PNG")
                st.markdown(f"**Fold {page.plain(name)}**")
                st.caption(f"{page.plain(drawn.words)}  \nn = {count(int((folds == fold).sum()))}".strip())
    what = (
        "The mean image of each fold."
        if data.kind == "image"
        else ("The columns in which each fold differs most from the rest, in standard deviations.")
    )
    st.caption(what)


# How do models fare on the folds? The verdict, every fold with its interval, seeds, classes, and what goes with it.


_AGAINST = "against"


def show_scores(
    folded: Folded,
    metric: ScoredBy,
    predicted_held_out: tuple[PredictedHeldOut, ...] = (),
    *,
    finished: bool,
) -> Answer:
    """Everything about scores, for one model; details wait until all trials are done. Gives what it shows."""
    scores = results.performance(folded, metric)
    model, scheme = _about(scores)
    card = st.container()
    related = _related(folded, scores) if finished else None
    shown = report.answer(
        scores,
        folded.rows,
        model=model,
        scheme=scheme,
        relations=related.relations if related else (),
        predicted_held_out=predicted_held_out,
        shifts=related.shifts if related else (),
        finished=finished,
    )
    with card:  # what to do next is said when all is known
        answer.show(shown, finished=finished)
    if finished:
        details = partial(_details, scores, model, scheme, related)
        page.fold("Seeds, classes and characteristics", details, key="fold-details", asked_by=(_AGAINST,))
    return shown


def characteristics(folded: Folded, metric: ScoredBy) -> dict[str, Callable[[], pd.DataFrame]]:
    """What can be taken away of characteristics, once they are measured."""
    measured = results.relations(folded, metric).future
    if not measured.done():
        return {}
    known = measured.result().characteristics
    return {"Characteristics": lambda: known.assign(fold=known["fold"] + 1)}


def _about(scores: FoldPerformance) -> tuple[str, str | None]:
    """The model and scheme that the verdict is about; controls only where there are several."""
    schemes = dict.fromkeys(each.scheme for each in scores.differences)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        model = choose("foldmodel", "Model", {name: MODEL_TITLES.get(name, name) for name in scores.models})
        titles = {name: scheme_title(name) for name in schemes}
        return model, choose("about", "The verdict is about", titles) if titles else None


def _related(folded: Folded, scores: FoldPerformance) -> Related | None:
    task = results.relations(folded, scores.metric)
    return background.answer(task, "Measuring how far folds lie from the rest", key="relations")


def _details(scores: FoldPerformance, model: str, scheme: str | None, related: Related | None) -> None:
    """Seeds, classes and characteristics, two by two."""
    for drawn in report.seed_figures(scores, model):
        answer.part(drawn)
    shown = report.whole_runs(scores, model)
    if not shown:
        return
    classes, beside = st.columns(2, gap="medium")
    with classes:
        answer.part(report.class_figure(scores, shown))
    with beside:
        if related is None or not len(related.characteristics):
            return
        names = _worth_showing(related.characteristics)
        relations = [relation for relation in related.relations if relation.model == model]
        strongest = sorted(relations, key=lambda relation: (relation.scheme != scheme, -abs(relation.r)))
        first = next((relation.characteristic for relation in strongest if relation.characteristic in names), names[0])
        name = choose(_AGAINST, "Score against", {name: name for name in names}, first)
        runs = [run for run in scores.runs if run.model == model and run.whole]
        page.draw(report.relation_figure(scores, runs, related.characteristics, name, strongest))


def _worth_showing(characteristics: pd.DataFrame) -> list[str]:
    names = [name for name in characteristics.columns if name not in ("scheme", "seed", "fold")]
    return [name for name in names if bool(characteristics[name].notna().to_numpy().all())]


# How do folds get out? The notebooks' files for every scheme and seed, and indices for scikit-learn.


TSV = "text/tab-separated-values"


def offer_files(folded: Folded) -> None:
    """Have the menu of the page offer the files of its folds."""
    if folded.dataset is not None and folded.cuts:
        downloads.offer({}, stem="folds", more=partial(_files, folded, folded.dataset))


def _files(folded: Folded, data: Dataset) -> None:
    """A choice of the folds in question, and their files."""
    cuts = list(folded.cuts)
    st.markdown("**Folds**")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        first_seed = next(cut for cut in cuts if cut.scheme == cuts[-1].scheme)
        cut = choose("export", "Folds of", folded.cuts, first_seed)
        folds, names = folded.rows.folds(*cut), folded.names(cut)
        name = file_name(folded, cut)
        page.download(
            "Datasplits (TSV)",
            lambda: datasplits_file(data.ids, folds, names=names),
            name=f"datasplits_{name}.tsv",
            mime=TSV,
        )
        page.download(
            "Analysis (TSV)", lambda: analysis(data, folded.plan, folds), name=f"analysis_{name}.tsv", mime=TSV
        )
        page.download(
            "PredefinedSplit (NPZ)",
            lambda: predefined_split_file(data.ids, folds),
            name=f"predefined_split_{name}.npz",
            mime="application/octet-stream",
        )
        page.download("All of these (zip)", lambda: all_files(folded), name="folds.zip", mime="application/zip")
    st.caption(
        "In the columns of the ClusterDataSplit notebooks. For scikit-learn: "
        "`PredefinedSplit(np.load(file)['test_fold'])`. Predict each fold with a model trained on all others and write "
        "`id`, `gold`, `predicted`: *predictions of your own* takes such a file."
    )


def file_name(folded: Folded, cut: Cut) -> str:
    """What the notebooks call a scheme; with its seed where there are several."""
    name = FOLD_SCHEMES[cut.scheme].column if cut.scheme in FOLD_SCHEMES else cut.scheme
    return f"{name}_seed{cut.seed}" if len(folded.rows.seeds(cut.scheme)) > 1 else name


def analysis(dataset: Dataset, plan: FoldPlan, folds: np.ndarray) -> bytes:
    """Folds, labels and the two first principal components of the features that folds are made in."""
    gold = np.array(dataset.class_names, dtype=object)[dataset.y]
    return analysis_file(dataset.ids, folds, gold, pca_map(plan.features(dataset)))


def all_files(folded: Folded) -> bytes:
    """The files of all schemes and seeds in one archive."""
    data, stream = folded.dataset, io.BytesIO()
    if data is None:
        raise TypeError("folds can only be written for samples that are stored here")
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for cut in folded.cuts:
            folds, name = folded.rows.folds(*cut), file_name(folded, cut)
            archive.writestr(f"datasplits_{name}.tsv", datasplits_file(data.ids, folds, names=folded.names(cut)))
            archive.writestr(f"analysis_{name}.tsv", analysis(data, folded.plan, folds))
            archive.writestr(f"predefined_split_{name}.npz", predefined_split_file(data.ids, folds))
    return stream.getvalue()
