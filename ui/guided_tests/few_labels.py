"""How accurate is the model on new samples? A list of few to label, and what it tells when it comes back."""

import numpy as np
import streamlit as st

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.tables.files import read_table
from touchstone.core.evaluate.guided_tests.few_labels import LabelDesign, design_labels, expected_errors, unlike
from touchstone.core.evaluate.guided_tests.few_labels_plan import FewLabelsPlan
from touchstone.core.evaluate.guided_tests.few_labels_words import accuracy_in_words, guess, promise
from touchstone.core.evaluate.guided_tests.label_file import read_labels, to_label
from touchstone.core.models.layers import LayerSamples
from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.models import StoredModel
from touchstone.core.workspace.plans import load_plan
from touchstone.ui.data import samples
from touchstone.ui.shell import jobs, page, take_away, uploads
from touchstone.ui.shell.session import owner, read_only, workspace

_SEED = 0  # the same pool has the same list


def from_few_labels(pool: LayerSamples, test: LayerSamples, n: int) -> bool:
    """What `n` labels of a pool would bring, and the list to label; whether there is such a list."""
    try:
        wrong = test.predicted != test.labels
        design = design_labels(
            pool.confidence,
            expected_errors(pool.confidence, test.confidence, wrong),
            n_labels=min(n, len(pool)),
            doubt=unlike(pool.confidence, test.confidence),
        )
    except DataError as problem:
        page.error(problem)
        return False
    if pool is test:
        st.caption(
            "Labels of the test samples are known. Upload samples without labels to get a list of samples to "
            f"label. If they were like the test samples: {promise(design)}"
        )
        return False
    st.markdown(page.plain(promise(design)))
    st.caption(page.plain(guess(design)))
    _list(pool, design)
    return True


def _list(pool: LayerSamples, design: LabelDesign) -> None:
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
    take_away.offer({"List to label": lambda: table}, stem="guided-tests")


def labels_back(dataset: Dataset, model: StoredModel, pool: LayerSamples, name: str) -> FewLabelsPlan | None:
    """What the labels tell when the list comes back; it is kept, and stands on the overview from then on."""
    if read_only():
        return None
    file = st.file_uploader("The list with its labels", type=["tsv", "csv", "xlsx", "parquet"], key="labels-back")
    if file is None:
        return None
    try:
        uploads.check(read_table, file)
        back = read_labels(file.getvalue(), file.name, class_names=pool.class_names)
        plan = FewLabelsPlan(model.fingerprint, name, back.n_wrong, back.n_labelled, back.n_in, back.n_skipped)
        jobs.start(plan, dataset)
    except (DataError, WorkspaceError) as problem:
        page.error(problem)
        return None
    st.markdown(f"**{page.plain(accuracy_in_words(back.accuracy, n_skipped=back.n_skipped))}**")
    st.caption("It is kept, and stands on the overview beside the other accuracies.")
    return plan


def earlier(dataset: Dataset, model: StoredModel, now: FewLabelsPlan | None) -> None:
    """What labels told before, a line for each list but that of `now`; nothing where none came back."""
    kept = [run for run in workspace().runs(owner(), dataset.fingerprint) if run.kind == FewLabelsPlan.kind]
    plans = [plan for plan in (load_plan(run.plan) for run in kept) if plan.model == model.fingerprint and plan != now]
    for plan in plans:
        sentence = accuracy_in_words(plan.accuracy, n_skipped=plan.n_skipped)
        st.markdown(f"- {page.plain(plan.pool)}: {page.plain(sentence)}")


def parameters(plan: FewLabelsPlan) -> dict[str, list[str]]:
    """The parameters of the address where labels of this model's samples are counted."""
    return {"model": [plan.model], "for": ["know the accuracy"]}
