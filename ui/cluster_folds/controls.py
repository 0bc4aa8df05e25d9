"""Which folds are made, and who is tested on them? The controls of a FoldPlan, all of them in the address."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from touchstone.core.data import Dataset
from touchstone.core.evaluate.cluster_folds import Metric
from touchstone.core.parameters import About
from touchstone.core.trials import FoldPlan
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.forms.plan_form import plan_form, plan_parameters

MAKE, OWN = "make", "own"
VIEW = One("view", "Look at", {MAKE: "folds of this data set", OWN: "predictions of your own"}, MAKE)


def view() -> str:
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


def metric(class_names: tuple[str, ...]) -> tuple[Metric, dict[str, list[str]]]:
    """What folds are scored by, and its parameter of the address."""
    metrics = {"macro_f1": Metric(), "accuracy": Metric("accuracy")}
    metrics |= {f"f1-{name}": Metric("f1", name) for name in class_names}
    titles = {name: entry.title[0].upper() + entry.title[1:] for name, entry in metrics.items()}
    meaning = "The paper uses macro F1 for several classes and, for two, the F1 of the positive one."
    control = One("score", "Score", titles, "macro_f1", meaning)
    check_address([control])
    with st.container(width=250):
        chosen = control.draw()
    return metrics[chosen], {control.key: control.written(chosen)}
