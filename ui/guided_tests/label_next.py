"""Which real samples should be labelled next? To find errors those of least confidence; few of all for an accuracy."""

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.tables.files import read_table
from touchstone.core.evaluate.guided_tests import few_labels, generate
from touchstone.core.evaluate.guided_tests.few_labels import ENDINGS, open_pool, read_labels, read_pool, to_label
from touchstone.core.evaluate.guided_tests.results import GeneratedTests
from touchstone.core.evaluate.test_quality.quality import Looked
from touchstone.core.evaluate.test_quality.regions import Regions
from touchstone.core.evaluate.wording import count, percent, plural
from touchstone.core.models.layers import LayerSamples
from touchstone.core.workspace import StoredModel, WorkspaceError, load_plan
from touchstone.ui.data import samples
from touchstone.ui.forms.controls import Number, One, check_address
from touchstone.ui.guided_tests import results
from touchstone.ui.shell import background, downloads, jobs, page, uploads
from touchstone.ui.shell.session import owner, read_only, workspace

# How accurate is the model on new samples? A list of few to label, and what it tells when it comes back.


_SEED = 0  # the same pool has the same list


def from_few_labels(pool: LayerSamples, test: LayerSamples, n: int) -> bool:
    """What `n` labels of a pool would bring, and the list to label; whether there is such a list."""
    try:
        wrong = test.predicted != test.labels
        design = few_labels.design_labels(
            pool.confidence,
            few_labels.expected_errors(pool.confidence, test.confidence, wrong),
            n_labels=min(n, len(pool)),
            doubt=few_labels.unlike(pool.confidence, test.confidence),
        )
    except DataError as problem:
        page.error(problem)
        return False
    if pool is test:
        st.caption(
            "Labels of the test samples are known. Upload samples without labels to get a list of samples to "
            f"label. If they were like the test samples: {few_labels.promise(design)}"
        )
        return False
    st.markdown(page.plain(few_labels.promise(design)))
    st.caption(page.plain(few_labels.guess(design)))
    _list(pool, design)
    return True


def _list(pool: LayerSamples, design: few_labels.LabelDesign) -> None:
    table = to_label(pool, design, rng=np.random.default_rng(_SEED))
    config = {
        "id": "Sample",
        "predicted": "Predicted",
        "confidence": st.column_config.NumberColumn("Confidence (%)", format="%.1f"),
        "stratum": st.column_config.NumberColumn("Stratum", help="From the most confident samples to the least"),
        "stratum_size": None,
        "pool_size": None,
        "label": "Label",
    }
    shown = table.assign(confidence=100 * table["confidence"])
    lazy = len(table) > samples.LAZY_ROWS
    st.dataframe(shown, column_config=config, hide_index=True, lazy=lazy, height=280, alt="Samples to label")
    st.caption(
        "Download this list, fill in the column “label” from the top, and upload it below. You may stop early, but "
        "do not skip hard samples."
    )
    downloads.offer({"List to label": lambda: table}, stem="guided-tests")


def labels_back(dataset: Dataset, model: StoredModel, pool: LayerSamples, name: str) -> few_labels.FewLabelsPlan | None:
    """What the labels tell when the list comes back; it is kept, and stands on the overview from then on."""
    if read_only():
        return None
    file = st.file_uploader("The list with its labels", type=["tsv", "csv", "xlsx", "parquet"], key="labels-back")
    if file is None:
        return None
    try:
        uploads.check(read_table, file)
        back = read_labels(file.getvalue(), file.name, class_names=pool.class_names)
        plan = few_labels.FewLabelsPlan(
            model.fingerprint, name, back.n_wrong, back.n_labelled, back.n_in, back.n_skipped
        )
        jobs.start(plan, dataset)
    except (DataError, WorkspaceError) as problem:
        page.error(problem)
        return None
    st.markdown(f"**{page.plain(few_labels.accuracy_in_words(back.accuracy, n_skipped=back.n_skipped))}**")
    st.caption("It is kept, and stands on the overview beside the other accuracies.")
    return plan


def earlier(dataset: Dataset, model: StoredModel, now: few_labels.FewLabelsPlan | None) -> None:
    """What labels told before, a line for each list but that of `now`; nothing where none came back."""
    kept = [run for run in workspace().runs(owner(), dataset.fingerprint) if run.kind == few_labels.FewLabelsPlan.kind]
    plans = [plan for plan in (load_plan(run.plan) for run in kept) if plan.model == model.fingerprint and plan != now]
    for plan in plans:
        sentence = few_labels.accuracy_in_words(plan.accuracy, n_skipped=plan.n_skipped)
        st.markdown(f"- {page.plain(plan.pool)}: {page.plain(sentence)}")


def parameters(plan: few_labels.FewLabelsPlan) -> dict[str, list[str]]:
    """The parameters of the address where labels of this model's samples are counted."""
    return {"model": [plan.model], "for": ["know the accuracy"]}


# Which real samples should be labelled next? To find errors those of least confidence; few of all for an accuracy.


KEYS = ("for", "pool", "next")
"""The keys of its address."""
MOST_PICTURES = 12
FORMATS = (
    "**NPZ** with `features` and `proba` of the same layer, or with inputs as `x` or `images`, and optionally "
    "`ids`. **TSV, CSV, JSONL, Parquet** with a column of texts or the data set's columns, and optionally `id`. No "
    "labels needed."
)
_PURPOSES = {"errors": "find errors", "accuracy": "know the accuracy"}
_POOLS = {"held out": "held-out samples", "uploaded": "an uploaded file"}
_NOTHING = (
    "Nothing is missing: no boundary has significantly fewer test samples than random splits with as many at the "
    "boundary of its class."
)
_OUT_OF_REACH = (
    "The test set lacks samples at boundaries, but no test could be placed there. Widen the boundary above, or "
    "train the model for longer, to find samples near these gaps."
)
_READ = "pool-read"
_POOL_FILE = "pool-file"


def show(looked: Looked, within: Regions, model: StoredModel) -> dict[str, list[str]]:
    """The list, what it rests on, and the file; returns what the address says of it."""
    purpose = One(
        "for",
        "To",
        _PURPOSES,
        "errors",
        "Most errors are among the least confident samples. An accuracy needs all samples.",
    )
    pool_of = One(
        "pool",
        "From",
        _POOLS,
        "held out",
        "Gaps are shown on the labelled test samples. Upload samples without labels to get a list of those to label.",
    )
    how_many = Number("next", "How many", 1, 100_000, 50, 10, "The least confident first.")
    check_address([purpose, pool_of, how_many])
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        meant = purpose.draw()
        # Through a link nobody can bring a file.
        chosen, n = pool_of.default if read_only() else pool_of.draw(), int(how_many.draw())
    address = {
        purpose.key: purpose.written(meant),
        pool_of.key: pool_of.written(chosen),
        how_many.key: how_many.written(n),
    }
    if meant == "accuracy":
        _accuracy(looked, model, chosen, n)
        return address
    st.caption("Least confident first: the samples whose highest predicted probability is lowest.")
    wanted = background.answer(results.missing_tests(looked), "Searching for gaps in the test set", key="missing")
    if not results.missing_tests(looked).future.done():
        st.skeleton(height=200)
        return address
    _missing(wanted)
    pool = looked.parts.test if chosen == "held out" else _uploaded(looked)
    if pool is not None:
        _listed(looked, within, wanted, pool, n)
    return address


def _accuracy(looked: Looked, model: StoredModel, pool_of: str, n: int) -> None:
    """How accurate the model is on samples of which few are labelled; what came of earlier lists stays in sight."""
    pool, now = looked.parts.test if pool_of == "held out" else _uploaded(looked), None
    if pool is not None and from_few_labels(pool, looked.parts.test, n):
        now = labels_back(looked.dataset, model, pool, st.session_state[_POOL_FILE].name)
    earlier(looked.dataset, model, now)


def _missing(wanted: GeneratedTests | None) -> None:
    """What is missing, in a line."""
    if wanted is None or not len(wanted):
        st.caption(_NOTHING if wanted is None else _OUT_OF_REACH)
        return
    pairs = pd.Series(wanted.y).map(lambda code: wanted.class_names[code]).value_counts()
    rarest = ", ".join(f"{name} ({count(int(n))})" for name, n in pairs.head(6).items())
    more = f" and {plural(len(pairs) - 6, 'other class', 'other classes')}" if len(pairs) > 6 else ""
    st.caption(
        page.plain(
            f"Missing at the boundary of {rarest}{more}: {plural(len(wanted), 'place')} represent the gaps of the "
            f"test set. The nearest is named beside each sample."
        )
    )


def _uploaded(looked: Looked) -> LayerSamples | None:
    """The uploaded samples as the layer sees them; None without a file, or where it cannot be read."""
    file = st.file_uploader(
        "Samples without labels", type=[ending[1:] for ending in ENDINGS], key=_POOL_FILE, help=FORMATS
    )
    if file is None:
        return None
    try:
        return _read(file, looked)
    except DataError as problem:
        page.error(problem)
        return None


def _read(file: Any, looked: Looked) -> LayerSamples:
    """An upload is read once for each layer."""
    name = (file.file_id, looked.name)
    if st.session_state.get(_READ, (None, None))[0] != name:
        uploads.check(open_pool, file)
        with st.spinner(f"Reading {page.plain(file.name)}"):
            pool = read_pool(file.getvalue(), file.name, parts=looked.parts, dataset=looked.dataset)
        st.session_state[_READ] = (name, pool)
    return st.session_state[_READ][1]


def _listed(looked: Looked, within: Regions, wanted: GeneratedTests | None, pool: LayerSamples, n: int) -> None:
    try:
        table = generate.label_next(wanted, pool, within, n=n)
    except DataError as problem:
        page.error(problem)
        return
    held_out = pool is looked.parts.test
    rows = _rows(looked, table) if held_out else None
    full = table if rows is None else content_of(looked.dataset, rows, table)
    config = {
        "id": "Sample",
        "predicted": "Predicted",
        "confidence": st.column_config.NumberColumn("Confidence (%)", format="%.1f"),
        "near_label": "Nearest gap of class",
        "near_rival": "with",
        "region": None,
        "distance": st.column_config.NumberColumn("Distance", format="%.2f", help="In the unit of that class"),
    }
    lazy = len(full) > samples.LAZY_ROWS
    shown = full.assign(confidence=100 * full["confidence"])
    st.dataframe(shown, column_config=config, hide_index=True, lazy=lazy, height=280, alt="Samples to label next")
    if held_out:
        st.caption(
            "These are labelled test samples: check them, and collect more like them."
            + ("" if read_only() else " Upload samples without labels to get a list of those worth labelling.")
        )
        if looked.dataset.kind == "image" and rows is not None:
            few = table.head(MOST_PICTURES)
            captions = [
                f"{name}, {percent(confidence)}"
                for name, confidence in zip(few["predicted"], few["confidence"], strict=True)
            ]
            samples.pictures([looked.dataset.x[row] for row in rows[:MOST_PICTURES]], captions)
    downloads.offer({"Label next": lambda: full}, stem="guided-tests")


def _rows(looked: Looked, table: pd.DataFrame) -> np.ndarray:
    where = {sample_id: row for row, sample_id in enumerate(looked.parts.test.ids)}
    return looked.parts.test_rows[np.array([where[sample_id] for sample_id in table["id"]], dtype=np.int64)]


def content_of(dataset: Dataset, rows: np.ndarray, table: pd.DataFrame) -> pd.DataFrame:
    """A table of samples with what they are: their text, or their columns; of images nothing more."""
    if dataset.kind == "image":
        return table
    names = ("text",) if dataset.kind == "text" else dataset.feature_names
    values = dataset.x[rows][None] if dataset.kind == "text" else dataset.x[rows].T
    taken = set(table.columns)
    columns = {
        f"{name} (input)" if name in taken else name: values_of_column
        for name, values_of_column in zip(names, values, strict=True)
    }
    return pd.concat([table.reset_index(drop=True), pd.DataFrame(columns)], axis=1)
