"""What noise, which samples, which estimator? The controls of an AverageCasePlan, all of them in the address."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.data import DataError, Dataset
from core.evaluate.average_case import offered
from core.evaluate.average_case.plan import SHAPES, AverageCasePlan
from core.evaluate.average_case.verdict import estimator_title
from core.workspace.errors import WorkspaceError
from core.workspace.models import StoredModel
from ui.forms.controls import Number, One, check_address
from ui.models import choice as model_choice
from ui.shell.session import is_fixed, owner, workspace

NOISES = {"gaussian": "normal", "uniform": "uniform", "laplace": "Laplace"}
_USUAL = AverageCasePlan("usual")
_USUAL_SIGMAS = {"image": _USUAL.sigmas, "tabular": (0.1, 0.25, 0.5, 1.0), "text": (0.1, 0.25, 0.5, 1.0)}
_N_SAMPLES = 500


@dataclass(frozen=True)
class Sigmas:
    """Numbers in a line of text, written as one would (`numbers_of` reads it)."""

    key: str
    default: tuple[float, ...]
    label: str = "Sigmas"

    def unknown(self, written: Sequence[str]) -> list[str]:
        """Nothing: what cannot be read is said beside the field, where it can be put right."""
        return list(written[1:])

    def draw(self) -> str:
        """The field; returns what is in it, to be read when all other controls are drawn, too."""
        text = st.text_input(
            self.label,
            self.written(self.default)[0],
            key=self.key,
            disabled=is_fixed(self.key),
            help="Standard deviations of the noise, set apart by commas: of images in pixels' units (black 0, white "
            "1), else in those of each column, or each number of a text's vector, unless another size is chosen.",
            bind="query-params",
            width=220,
        )
        return text or self.written(self.default)[0]

    def written(self, value: Sequence[float]) -> list[str]:
        """Numbers as the address holds them."""
        return [", ".join(map(_short, value))]

    def ordered(self, value: Sequence[float]) -> tuple[float, ...]:
        """Rising, each once."""
        return tuple(sorted(set(value)))


def numbers_of(text: str) -> tuple[float, ...]:
    """The numbers in a text, rising, each once; DataError where there is something else in it.

    >>> numbers_of(".2, 0.1 .1")
    (0.1, 0.2)
    """
    try:
        found = {float(part) for part in text.replace(",", " ").replace(";", " ").split()}
    except ValueError:
        raise DataError(f"Sigmas are numbers set apart by commas, such as 0.05, 0.1, 0.2, and not {text!r}.") from None
    return tuple(sorted(found))


def average_case_plan(dataset: Dataset, model: StoredModel) -> tuple[AverageCasePlan, DeltaGenerator]:
    """The controls of an AverageCasePlan: the plan that they say, and the place for the button that starts it.

    Raises DataError for a choice that makes no plan.
    """
    main, more = _controls(dataset.kind, model)
    check_address([*main.values(), *more.values()])
    with st.container(border=True, gap="small"):
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            values = {field: control.draw() for field, control in main.items()}
            st.space("stretch")
            button = st.container(width="content")
        with st.expander("More options", type="compact"), st.container(horizontal=True, vertical_alignment="bottom"):
            values |= {field: control.draw() for field, control in more.items()}
    return _plan(values | {"sigmas": numbers_of(values["sigmas"])}, model), button


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


def parameters(plan: AverageCasePlan) -> dict[str, list[str]] | None:
    """The parameters of the address that lead to this plan; None where no address does, or its model is gone."""
    try:
        model = workspace().stored_model(owner(), plan.model)
        kind = workspace().stored_dataset(owner(), model.dataset_fingerprint).kind
    except WorkspaceError:
        return None
    main, more = _controls(kind, model)
    controls, values = main | more, _values(plan)
    written = {control.key: control.written(values[field]) for field, control in controls.items()}
    if plan.n_samples is None or any(control.unknown(written[control.key]) for control in controls.values()):
        return None
    if _plan({field: control.ordered(values[field]) for field, control in controls.items()}, model) != plan:
        return None
    return written | model_choice.parameters(model)


def shown(plan: AverageCasePlan, dataset: Dataset, look: RobustnessLook) -> dict[str, list[str]]:
    """The parameters of the address that say what the page is about."""
    sigma, of = _sigma_control(plan), _class_control(dataset)
    return {sigma.key: sigma.written(_short(look.sigma)), of.key: of.written(look.label or "")}


def describe(plan: AverageCasePlan) -> str:
    """A plan in a few words, for lists of runs.

    >>> describe(AverageCasePlan("f1f2f3", noise="uniform"))
    'MMSE · uniform noise of sigma 0.05 to 0.3 · model f1f2f3'
    """
    ends = " to ".join(map(_short, dict.fromkeys((plan.sigmas[0], plan.sigmas[-1]))))
    return (
        f"{estimator_title(plan.estimators[0])} · {NOISES[plan.noise]} noise of sigma {ends} · model {plan.model[:12]}"
    )


def _sigma_control(plan: AverageCasePlan) -> One:
    names = {_short(sigma): _short(sigma) for sigma in plan.sigmas}
    return One(
        "at",
        "At sigma",
        names,
        _short(plan.convergence_sigma),
        "What the verdict, the figures and the samples below are about.",
    )


def _class_control(dataset: Dataset) -> One:
    names = {"": "the least robust class"} | {name: name for name in dataset.class_names}
    return One("class", "Samples of", names, "", "Whose least and most robust samples are shown below.")


def _short(sigma: float) -> str:
    """A number as one would write it, exactly."""
    return f"{sigma:g}" if float(f"{sigma:g}") == sigma else repr(sigma)


def _plan(values: dict[str, Any], model: StoredModel) -> AverageCasePlan:
    primary, trained = values["estimator"], _training(model)
    fields = {field: value for field, value in values.items() if field not in ("estimator", "pairs")}
    split = {"test_share": trained["test_share"], "split_seed": trained["seed"]} if fields["rows"] == "test" else {}
    return AverageCasePlan(
        model.fingerprint, estimators=(primary, "softmax"), antithetic=values["pairs"] == "pairs", **fields, **split
    )


def _values(plan: AverageCasePlan) -> dict[str, Any]:
    """A plan as its controls say it."""
    fields = ("sigmas", "n_samples", "n_audit", "rows", "noise", "shape", "n_copies", "n_passes", "temperature")
    values = {field: getattr(plan, field) for field in (*fields, "audit_half_width", "seed")}
    return values | {"estimator": plan.estimators[0], "pairs": "pairs" if plan.antithetic else "plain"}


def _training(model: StoredModel) -> dict[str, Any]:
    return json.loads(model.training_plan) if model.training_plan else {}


def _controls(kind: str, model: StoredModel) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keys differ between images and the rest, whose usual sigmas are of another kind."""
    images, blind = kind == "image", not model.has_gradients
    own = "" if images else "_columns"
    estimators = offered(has_gradients=model.has_gradients)
    rows = {"test": "not trained on", "all": "all"} if model.training_plan else {"all": "all"}
    main = {
        "sigmas": Sigmas(f"sigmas{own}", _USUAL_SIGMAS[kind]),
        "estimator": One(
            "estimator_blind" if blind else "estimator",
            "Estimator",
            estimators,
            next(iter(estimators)),
            "How p_robust is found. MMSE takes a few noisy copies and their gradients, normal logits more copies and "
            "no gradients; Monte-Carlo counts, and takes thousands.",
        ),
        "n_samples": Number(
            "judged", "Samples", 20, 1_000_000, _N_SAMPLES, 100, "So many at most, at random, classes in proportion."
        ),
        "n_audit": Number(
            "audited", "Audited", 0, 10_000, _USUAL.n_audit, 10, "So many of them are checked by Monte-Carlo, too."
        ),
    }
    more = {
        "rows": One(
            "judge" if model.training_plan else "judge_all",
            "Samples are",
            rows,
            next(iter(rows)),
            "Those that the model was not trained on, or all; which ones an uploaded model has seen is not known.",
        ),
        "noise": One("noise", "Noise", NOISES, _USUAL.noise, "All of the same variance."),
        "shape": One(
            f"shape{own}",
            "Size of the noise",
            SHAPES,
            "isotropic" if images else "per_feature",
            "Sigma alike in every feature, times each feature's standard deviation, or with the data's covariance.",
        ),
        "n_copies": Number("copies", "Noisy copies (MMSE)", 1, 1000, _USUAL.n_copies, 2, "The N of the paper."),
        "pairs": One(
            "copies_are",
            "Copies are",
            {"pairs": "antithetic pairs", "plain": "plain, as published"},
            "pairs",
            "Noise added and subtracted, the same at every sample; or noise of its own for every copy.",
        ),
        "n_passes": Number("passes", "Copies (normal logits)", 4, 10_000, _USUAL.n_passes, 2, "Forward passes only."),
        "temperature": Number("temperature", "Temperature", 0.01, 100.0, 1.0, 0.1, "Of the softmax confidence."),
        "audit_half_width": Number(
            "half_width",
            "Half-width of the audit",
            0.002,
            0.5,
            _USUAL.audit_half_width or 0.02,
            0.005,
            "Monte-Carlo draws until its exact interval is so narrow, 10,000 draws at most.",
            "%.3f",
        ),
        "seed": Number("seed", "Seed", 0, 2**31, _USUAL.seed, 1, "All randomness follows from this number."),
    }
    return main, more
