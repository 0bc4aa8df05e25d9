"""What noise, which samples, which estimator? The controls of an AverageCasePlan, and of what is looked at."""

from dataclasses import dataclass

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from touchstone.core.data import Dataset
from touchstone.core.evaluate.average_case.directions import spread_of
from touchstone.core.evaluate.average_case.noise import square_root
from touchstone.core.evaluate.average_case.plan import AverageCasePlan
from touchstone.core.evaluate.average_case.robustness import Robustness, evaluate_robustness
from touchstone.core.evaluate.units import design_of
from touchstone.core.evaluate.wording import exact
from touchstone.core.models.inputs import network_inputs
from touchstone.core.parameters import About
from touchstone.core.workspace import Run, StoredModel
from touchstone.ui import cache
from touchstone.ui.data.samples import dataset_of
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.forms.plan_form import plan_form
from touchstone.ui.shell.session import owner, workspace


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


# What do runs of average-case robustness tell?


@cache.result(max_entries=8)
def robustness(run: Run) -> Robustness:
    """All that the finished trials of a run of average-case robustness tell."""
    data = dataset_of(run.fingerprint)
    rows = workspace().rows(owner(), run.id)
    return evaluate_robustness(rows, class_names=data.class_names, design=design_of(data))


@cache.result(max_entries=4)
def noise_root(dataset: Dataset, shape: str) -> np.ndarray:
    """What turns independent noise in the pixels of images, channels first, into noise that varies together."""
    return square_root(spread_of(shape, dataset, network_inputs(dataset.x))["covariance"])
