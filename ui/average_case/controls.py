"""What noise, which samples, which estimator? The controls of an AverageCasePlan, and of what is looked at."""

from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from touchstone.core.asked import About
from touchstone.core.data import Dataset
from touchstone.core.evaluate.average_case.plan import AverageCasePlan
from touchstone.core.evaluate.wording import exact
from touchstone.core.workspace.models import StoredModel
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.forms.plan_form import plan_form


def average_case_plan(dataset: Dataset, model: StoredModel) -> tuple[AverageCasePlan, DeltaGenerator]:
    """The controls of an AverageCasePlan: the plan that they say, and the place for the button that starts it.

    Raises DataError for a choice that makes no plan.
    """
    return plan_form(AverageCasePlan, About(dataset, model=model), settled={"model": model.fingerprint})


@dataclass(frozen=True)
class RobustnessLook:
    """What the page is about: one of the plan's sigmas, and the class whose samples it shows.

    `label` is a class name, None for the least robust class.
    """

    sigma: float
    label: str | None


def looked_at(plan: AverageCasePlan, dataset: Dataset, *, with_samples: bool) -> RobustnessLook:
    """The controls of what is looked at; that of the class is there where samples are shown."""
    controls = [_sigma_control(plan), _class_control(dataset)]
    check_address(controls)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        sigma = float(controls[0].draw(side_by_side=len(plan.sigmas) <= 8))
        return RobustnessLook(sigma, controls[1].draw() or None if with_samples else None)


def shown(plan: AverageCasePlan, dataset: Dataset, look: RobustnessLook) -> dict[str, list[str]]:
    """The parameters of the address that say what the page is about."""
    sigma, label = _sigma_control(plan), _class_control(dataset)
    return {sigma.key: sigma.written(exact(look.sigma)), label.key: label.written(look.label or "")}


def _sigma_control(plan: AverageCasePlan) -> One:
    names = {exact(sigma): exact(sigma) for sigma in plan.sigmas}
    return One(
        "at",
        "At sigma",
        names,
        exact(plan.convergence_sigma),
        "The noise level of the verdict, the figures and the samples below.",
    )


def _class_control(dataset: Dataset) -> One:
    names = {"": "the least robust class"} | {name: name for name in dataset.class_names}
    return One("class", "Samples of", names, "", "The class of the least and most robust samples shown below.")
