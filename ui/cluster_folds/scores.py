"""How do models fare on the folds? The verdict, every fold with its interval, seeds, classes, and what goes with it."""

import io
import zipfile
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from touchstone.core.data import Dataset
from touchstone.core.data.predictions.upload import analysis_file, datasplits_file, predefined_split_file
from touchstone.core.evaluate.cluster_folds.results import FoldPerformance, PredictedHeldOut, ScoredBy
from touchstone.core.evaluate.cluster_folds.verdict import scheme_title
from touchstone.core.report import cluster_folds as report
from touchstone.core.report.parts import Answer
from touchstone.core.report.run_report import MODEL_TITLES
from touchstone.core.represent.representations import pca_map
from touchstone.core.split.folds import FOLD_SCHEMES
from touchstone.core.trials import FoldPlan
from touchstone.ui.cluster_folds import results
from touchstone.ui.cluster_folds.work import Cut, Folded, Related
from touchstone.ui.forms.pick_one import choose
from touchstone.ui.shell import answer, background, downloads, page

_AGAINST = "against"


def show(
    folded: Folded, metric: ScoredBy, predicted_held_out: tuple[PredictedHeldOut, ...] = (), *, finished: bool
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


def offer(folded: Folded) -> None:
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
        page.download("All of these (zip)", lambda: everything(folded), name="folds.zip", mime="application/zip")
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


def everything(folded: Folded) -> bytes:
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
