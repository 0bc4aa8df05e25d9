"""Which folds are made, how many of each label, and what are they scored by? All of it stands in the address."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import streamlit as st
from jaxtyping import Float
from streamlit.delta_generator import DeltaGenerator

from touchstone.core.data import Dataset
from touchstone.core.evaluate.cluster_folds.results import ScoredBy
from touchstone.core.evaluate.metrics import METRICS, metrics_of_counts
from touchstone.core.evaluate.wording import fixed
from touchstone.core.parameters import About
from touchstone.core.trials import FoldPlan
from touchstone.ui.data import metric as metric_choice
from touchstone.ui.forms.controls import NamedNumbers, One, check_address
from touchstone.ui.forms.plan_form import plan_form, plan_parameters
from touchstone.ui.shell.session import is_fixed

MAKE, OWN = "make", "own"
VIEW = One("view", "Look at", {MAKE: "folds of this data set", OWN: "predictions of your own"}, MAKE)


def choose_view() -> str:
    """Whether folds are made here, or predictions come with theirs."""
    check_address([VIEW])
    return VIEW.draw(side_by_side=True)


def fold_plan(dataset: Dataset) -> tuple[FoldPlan, DeltaGenerator]:
    """The controls of a FoldPlan: the plan that they say, and the place for the button that starts it.

    Raises DataError for a choice that makes no plan.
    """
    return plan_form(FoldPlan, About(dataset))


def parameters(plan: FoldPlan) -> dict[str, list[str]] | None:
    """The parameters of the address that lead to this plan, defaults written out; None where no address does."""
    written = plan_parameters(plan)
    return None if written is None else written | {VIEW.key: VIEW.written(MAKE)}


def choose_metric(class_names: tuple[str, ...]) -> ScoredBy:
    """What folds are scored by."""
    several = len(class_names) > 2
    names = [name for name in metrics_of_counts() if not (several and METRICS[name].of_class and name != "f1")]
    meaning = "The paper uses macro F1 for several classes and, for two, the F1 of the positive one."
    return metric_choice.choose(metric_choice.of_counts(ScoredBy(), names, class_names), label="Score", help=meaning)


# How many samples of each label belong in each fold? A table whose cells can be changed; the line of text follows.


ADDRESS = "labels_by_fold"
_LINE = NamedNumbers(ADDRESS, "Labels by fold", 0.0, "")


def edit_labels(plan: FoldPlan, dataset: Dataset) -> None:
    """The table of label by fold, where folds of the plan get the labels that are specified; open where some are."""
    if not plan.takes_labels:
        return
    counts = counts_by_fold(plan, dataset)
    folds = [f"Fold {fold}" for fold in range(1, plan.n_folds + 1)]
    table = pd.DataFrame(counts.round(1), index=pd.Index(dataset.class_names, name="Label"), columns=folds)
    key = f"labels-editor-{plan.n_folds}-{_LINE.written(plan.labels_by_fold)[0]}"
    with st.expander("Labels by fold as a table", expanded=bool(plan.labels_by_fold), type="compact"):
        st.data_editor(
            table,
            key=key,
            disabled=True if is_fixed(ADDRESS) else ["Label"],
            column_config={fold: st.column_config.NumberColumn(min_value=0.0) for fold in folds},
            on_change=_take,
            args=(key, plan, dataset),
        )
        sizes = ", ".join(fixed(size, 0 if size == round(size) else 1) for size in counts.sum(axis=0))
        st.caption(
            "Samples of each label that each fold of SDS k-means is to get, before rounding. Change a cell, and the "
            f"label's other samples are shared out over the other folds. Samples by fold: {sizes}."
        )


def counts_by_fold(plan: FoldPlan, dataset: Dataset) -> Float[np.ndarray, "n_labels n_folds"]:
    """How many samples of each label each fold is to get, before rounding: as specified, else evenly."""
    specified = (counts for scheme in plan.schemes if (counts := plan.wanted(dataset, scheme)) is not None)
    counts = next(specified, None)
    if counts is None:
        return np.tile(dataset.n_per_class[:, None] / plan.n_folds, plan.n_folds)
    return counts.T


def changed(counts: Float[np.ndarray, " n_folds"], cells: Mapping[int, float]) -> Float[np.ndarray, " n_folds"]:
    """A label's samples in each fold after some of them were set: the rest keep their proportions, and none is lost.

    Where more is set than there is, or nothing is left to hold the rest, these are shares.

    >>> changed(np.array([20.0, 20.0, 20.0]), {0: 30.0})
    array([30., 15., 15.])
    >>> changed(np.array([20.0, 20.0, 20.0]), {0: 90.0})
    array([90., 20., 20.])
    """
    after = counts.astype(float)
    after[list(cells)] = list(cells.values())
    others = [fold for fold in range(len(counts)) if fold not in cells]
    rest = counts.sum() - sum(cells.values())
    if rest >= 0 and others:
        held = counts[others].sum()
        after[others] = rest * (counts[others] / held) if held > 0 else rest / len(others)
    return after


def _take(key: str, plan: FoldPlan, dataset: Dataset) -> None:
    """Write the changed cells into the line of text, which is what the plan and the address are read from."""
    counts = counts_by_fold(plan, dataset)
    rows = {str(row[0]): row for row in plan.labels_by_fold}
    for label, cells in st.session_state[key]["edited_rows"].items():
        as_is, numbers = counts[int(label)], {}
        for fold, number in ((int(name.removeprefix("Fold ")) - 1, number or 0.0) for name, number in cells.items()):
            if number != as_is[fold].round(1):  # else the cell was opened, and left as it shows
                numbers[fold] = number
        if numbers:
            name = dataset.class_names[int(label)]
            rows[name] = (name, *changed(as_is, numbers).round(2).tolist())
    st.session_state[ADDRESS] = _LINE.written(list(rows.values()))[0]
