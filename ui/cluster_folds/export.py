"""How do folds get out? The notebooks' files for every scheme and seed, and indices for scikit-learn."""

import io
import zipfile
from functools import partial

import numpy as np
import streamlit as st

from touchstone.core.data import Dataset
from touchstone.core.data.predictions.fold_files import analysis_file, datasplits_file, predefined_split_file
from touchstone.core.represent.representations import pca_map
from touchstone.core.split import FOLD_SCHEMES
from touchstone.core.trials import FoldPlan
from touchstone.ui.cluster_folds.work import Cut, Folded
from touchstone.ui.forms.pick_one import choose
from touchstone.ui.shell import page, take_away

TSV = "text/tab-separated-values"


def offer(folded: Folded) -> None:
    """Have the menu of the page offer the files of its folds."""
    if folded.dataset is not None and folded.cuts:
        take_away.offer({}, stem="folds", more=partial(_files, folded, folded.dataset))


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
