"""What is asked of average-case robustness, what do its runs tell, and what do noise and samples look like?"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from touchstone.core.data import DataError, Dataset
from touchstone.core.evaluate.average_case.noise import COVARIED, MOST_COVARIED, spread_of, square_root
from touchstone.core.evaluate.average_case.plan import AverageCasePlan
from touchstone.core.evaluate.average_case.robustness import Robustness, evaluate_robustness
from touchstone.core.evaluate.units import design_of
from touchstone.core.evaluate.wording import count, exact, fixed, percent, quoted
from touchstone.core.figures import average_case as figures
from touchstone.core.models.inputs import network_inputs
from touchstone.core.parameters import About
from touchstone.core.represent import default_representation
from touchstone.core.represent.representations import pca_map
from touchstone.core.workspace import Run, StoredModel
from touchstone.ui import cache
from touchstone.ui.data import samples
from touchstone.ui.data_sets import maps
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.forms.plan_form import plan_form
from touchstone.ui.shell import background, page, session


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


def look_parameters(plan: AverageCasePlan, dataset: Dataset, look: RobustnessLook) -> dict[str, list[str]]:
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
    data = samples.dataset_of(run.fingerprint)
    rows = session.workspace().rows(session.owner(), run.id)
    return evaluate_robustness(rows, class_names=data.class_names, design=design_of(data))


@cache.result(max_entries=4)
def noise_root(dataset: Dataset, shape: str) -> np.ndarray:
    """What turns independent noise in the pixels of images, channels first, into noise that varies together."""
    return square_root(spread_of(shape, dataset, network_inputs(dataset.x))["covariance"])


# Which samples are fragile, and what does the noise look like on them? As pictures, texts or rows, beside the map.


N_NOISY, N_EXTREME = 6, 5
MOST_COLUMNS = 12


def show_noise(dataset: Dataset, plan: AverageCasePlan) -> None:
    """What the plan's noise does to real samples, and how far it moves them."""
    rows = plan.order(dataset)[:N_NOISY]
    rng = np.random.default_rng(plan.seed)
    if dataset.kind == "image":
        _noisy_pictures(dataset, plan, rows, rng)
    elif dataset.kind == "tabular":
        _noisy_rows(dataset, plan, int(rows[0]), rng)
    else:
        st.markdown(
            "Noise is added to the vectors of texts, not to their words, so a noisy text cannot be shown. In "
            "standard deviations of each number, sigma 1 is about the distance between texts."
        )


def _noisy_pictures(dataset: Dataset, plan: AverageCasePlan, rows: np.ndarray, rng: np.random.Generator) -> None:
    images = dataset.x[rows]
    unit = _unit(plan, images.shape, rng)
    root = noise_root(dataset, plan.shape) if plan.shape in COVARIED and images[0].size <= MOST_COVARIED else None
    if root is not None:
        channels_first = unit.transpose(0, 3, 1, 2).reshape(len(unit), -1) @ root
        unit = channels_first.reshape(len(unit), images.shape[3], *images.shape[1:3]).transpose(0, 2, 3, 1)
    spread = dataset.x.std(axis=0) if plan.shape != "isotropic" and root is None else 1.0
    for sigma in (0.0, *plan.sigmas):
        about = "As they are" if sigma == 0 else _radius(plan, sigma, dataset)
        st.caption(page.plain(about))
        noisy = np.clip(images + sigma * spread * unit, 0.0, 1.0)
        captions = [dataset.class_names[dataset.y[row]] for row in rows]
        samples.pictures(list(noisy), captions)
    if not plan.cut_off:
        st.caption("Pictures are clipped at black and white; the model's inputs are not.")
    if plan.shape in COVARIED and root is None:
        st.caption("Shown with each pixel's own spread; in the run, pixels vary together.")


def _noisy_rows(dataset: Dataset, plan: AverageCasePlan, row: int, rng: np.random.Generator) -> None:
    values = dataset.x[row].astype(np.float64)
    spread = dataset.x.std(axis=0) if plan.shape != "isotropic" else np.ones_like(values)
    unit = _unit(plan, values.shape, rng)
    lines = [("as it is", values)]
    lines += [(f"noise of sigma {sigma:g}", values + sigma * spread * unit) for sigma in plan.sigmas]
    shown = list(dataset.feature_names[:MOST_COLUMNS])
    table = pd.DataFrame([line[: len(shown)] for _, line in lines], columns=shown)
    table.insert(0, f"sample {dataset.ids[row]}", [about for about, _ in lines])
    st.dataframe(table, hide_index=True, alt="One sample with noise of every sigma")
    st.caption(page.plain(f"Noise of {_radius(plan, plan.sigmas[-1], dataset)}."))


def _unit(plan: AverageCasePlan, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Noise of variance one, as the plan asks for."""
    if plan.noise == "uniform":
        return rng.uniform(-(3**0.5), 3**0.5, size=shape)
    if plan.noise == "laplace":
        return rng.laplace(0.0, 0.5**0.5, size=shape)
    return rng.normal(size=shape)


def _radius(plan: AverageCasePlan, sigma: float, dataset: Dataset) -> str:
    n_features = int(np.prod(dataset.x.shape[1:]))
    unit = "" if plan.shape == "isotropic" else " standard deviations"
    return (
        f"sigma {sigma:g}: about {sigma * n_features**0.5:.3g}{unit} away (sigma times the root of {count(n_features)})"
    )


def show_extremes(robustness: Robustness, look: RobustnessLook, dataset: Dataset) -> None:
    """The least and the most robust samples of a class, side by side (figure 3)."""
    code = _class_shown(robustness, look)
    st.subheader(f"Least and most robust samples of {page.plain(quoted(robustness.class_names[code]))}", anchor=False)
    if not robustness.at(look.sigma).classes[code].n:
        st.caption("No judged sample has this class.")
        return
    _ends_of(robustness, look.sigma, code, dataset, by="p_robust", titles=("Least robust", "Most robust"))


def show_confidence(robustness: Robustness, look: RobustnessLook, dataset: Dataset) -> None:
    """The same class by softmax confidence, and p_robust against it for all samples, beside the map."""
    code = _class_shown(robustness, look)
    confidence = robustness.samples_at(look.sigma)["confidence"].to_numpy(dtype=float)
    if not np.isfinite(confidence).any():
        st.caption("This run has no confidences.")
        return
    if robustness.at(look.sigma).classes[code].n:
        st.markdown(f"**Samples of {page.plain(quoted(robustness.class_names[code]))} by softmax confidence**")
        _ends_of(robustness, look.sigma, code, dataset, by="confidence", titles=("Least confident", "Most confident"))
    show_linked(robustness, look.sigma, dataset)


def _class_shown(robustness: Robustness, look: RobustnessLook) -> int:
    """The class that was chosen, else the one with the lowest mean."""
    if look.label is not None:
        return robustness.class_names.index(look.label)
    classes = robustness.at(look.sigma).classes
    return min((code for code, share in enumerate(classes) if share.n), key=lambda code: classes[code].value)


def _ends_of(
    robustness: Robustness, sigma: float, code: int, dataset: Dataset, *, by: str, titles: tuple[str, str]
) -> None:
    at, ends = robustness.samples_at(sigma).set_index("row"), robustness.extremes(sigma, code, by=by, n=N_EXTREME)
    for title, rows, column in zip(titles, ends, st.columns(2, gap="large"), strict=True):
        with column:
            st.markdown(title)
            with st.container(key=f"{title.split()[0].lower()}-robust-{by.replace('_', '-')}"):
                _show(dataset, at, rows, robustness.class_names)
    if dataset.kind == "image":
        st.caption("Under each picture: predicted class, p_robust, softmax confidence.")


def _show(dataset: Dataset, at: pd.DataFrame, rows: np.ndarray, names: tuple[str, ...]) -> None:
    """Samples with their predicted class, their p_robust and confidence."""
    if not len(rows):
        st.caption("Too few samples.")
        return
    shown = at.loc[rows]
    predicted = [names[code] for code in shown["predicted"]]
    if dataset.kind == "image":
        captions = [
            f"{quoted(name)}{' (wrong)' * (code != label)}, {_whole(p)}, {_whole(sure)}"
            for name, code, label, p, sure in zip(
                predicted, shown["predicted"], shown["label"], shown["p_robust"], shown["confidence"], strict=True
            )
        ]
        samples.pictures([dataset.x[row] for row in rows], captions)
        return
    table = samples.table(dataset, rows)
    table.insert(2, "predicted", predicted)
    table.insert(3, "p_robust (%)", [fixed(100 * p, 1) for p in shown["p_robust"]])
    table.insert(4, "confidence (%)", [fixed(100 * p, 1) for p in shown["confidence"]])
    if dataset.kind == "text":
        st.table(table.map(page.plain).set_index("id"), alt="Samples in full")
    else:
        st.dataframe(table, hide_index=True, alt="Samples with their columns")


def _whole(share: float) -> str:
    """A share that no line breaks."""
    return percent(share).replace(" ", "\N{NO-BREAK SPACE}")


@session.fragment
def show_linked(robustness: Robustness, sigma: float, dataset: Dataset) -> None:
    """p_robust against confidence beside the map: what is selected on one stands out on the other, and below."""
    chosen = maps.selected(dataset.fingerprint)
    scatter, beside = st.columns(2, gap="medium")
    with scatter:
        drawn = figures.confidence_chart(robustness, sigma, selected=chosen, dark=page.dark())
        caption = (
            "Each mark is a sample; crosses are wrong predictions. Lower right: confident, but fragile. Lasso "
            "marks to see them on the map and below."
        )
        maps.linked_chart(drawn, caption, dataset.fingerprint, key="confidence-chart")
    with beside:
        points = _points(dataset)
        if points is not None:
            fragile = "bright" if page.dark() else "dark"
            drawn = figures.robustness_map(points, robustness, sigma, selected=chosen, dark=page.dark())
            maps.linked_chart(
                drawn,
                f"The judged samples on their first two principal components, {fragile} ones fragile. The map on "
                f"the page “Data sets” shows the same selection.",
                dataset.fingerprint,
                key="robustness-map",
            )
    maps.show_selection(dataset, chosen)


def _points(dataset: Dataset) -> np.ndarray | None:
    task = maps.features(dataset, default_representation(dataset.kind))
    try:
        features = background.answer(task, "Making features for the map", key="features")
    except DataError as problem:
        page.error(problem)
        return None
    if features is None:
        st.skeleton(height=380)
        return None
    return pca_map(features)
