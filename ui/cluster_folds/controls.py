"""Which folds are made, and who is tested on them? The controls of a FoldPlan, all of them in the address."""

from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.data import Dataset
from core.evaluate.cluster_folds import Metric, scheme_title
from core.evaluate.wording import listed, plural
from core.report.names import MODEL_TITLES
from core.represent import REPRESENTATIONS, Representation, available, number_title, numbers_of
from core.split import FOLD_SCHEMES
from core.trials import FoldPlan
from ui.forms.controls import Number, One, OneOrUsual, Pick, check_address
from ui.source_robustness.controls import model_titles

MAKE, OWN = "make", "own"
VIEW = One("view", "Look at", {MAKE: "folds of this data set", OWN: "predictions of your own"}, MAKE)
_QUANTILES = "quantile_folds"
_USUAL = FoldPlan()


def view() -> str:
    """Whether folds are made here, or predictions come with theirs."""
    check_address([VIEW])
    return VIEW.draw(side_by_side=True)


def fold_plan(dataset: Dataset) -> tuple[FoldPlan, DeltaGenerator]:
    """The controls of a FoldPlan: the plan that they say, and the place for the button that starts it.

    Raises DataError for a choice that makes no plan.
    """
    main, more = _controls(
        has_sources=dataset.sources is not None, representations=available(dataset), models=model_titles(dataset)
    )
    number = _number({name: number_title(dataset, name) for name in numbers_of(dataset)})
    check_address([*main.values(), *more.values(), number])
    with st.container(border=True, gap="small"):
        values = {field: main[field].draw() for field in ("schemes", "models")}
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            values["n_folds"] = main["n_folds"].draw()
            if _QUANTILES in values["schemes"]:
                values["number"] = number.draw() if len(number.titles) > 1 else number.default
            st.space("stretch")
            button = st.container(width="content")
        with st.expander("More options", type="compact"), st.container(horizontal=True, vertical_alignment="bottom"):
            values |= {field: control.draw() for field, control in more.items()}
    return _plan(values), button


def parameters(plan: FoldPlan) -> dict[str, list[str]] | None:
    """The parameters of the address that lead to this plan, defaults written out; None where no address does."""
    main, more = _controls(has_sources=True, representations=REPRESENTATIONS)
    controls, values = main | more, _values(plan)
    written = {control.key: control.written(values[field]) for field, control in controls.items()}
    if any(control.unknown(written[control.key]) for control in controls.values()):
        return None
    if plan != _plan({field: control.ordered(values[field]) for field, control in controls.items()} | _number_of(plan)):
        return None
    # Nothing chosen is written, too: a parameter that is not there means the usual models.
    written["models"] = written["models"] or [""]
    written |= {VIEW.key: VIEW.written(MAKE)}
    return written if plan.number is None else written | {"number": [plan.number]}


def describe(plan: FoldPlan) -> str:
    """A plan in a few words, for lists of runs.

    >>> describe(FoldPlan(seeds=(0, 1)))
    'Random, SDS k-means · 5 folds · 2 seeds · Logistic regression'
    """
    schemes = listed([scheme_title(name) for name in plan.schemes], most=4).replace(" and ", ", ")
    models = ", ".join(MODEL_TITLES[name] for name in plan.models) or "no model"
    features = f" · {REPRESENTATIONS[plan.representation].title}" if plan.representation else ""
    return f"{schemes} · {plural(plan.n_folds, 'fold')} · {plural(len(plan.seeds), 'seed')} · {models}{features}"


def metric(class_names: tuple[str, ...]) -> tuple[Metric, dict[str, list[str]]]:
    """What folds are scored by, and its parameter of the address."""
    metrics = {"macro_f1": Metric(), "accuracy": Metric("accuracy")}
    metrics |= {f"f1-{name}": Metric("f1", name) for name in class_names}
    titles = {name: of.title[0].upper() + of.title[1:] for name, of in metrics.items()}
    meaning = "The paper takes macro F1 of several classes and, of two, the F1 of the positive one."
    control = One("score", "Score", titles, "macro_f1", meaning)
    check_address([control])
    with st.container(width=250):
        chosen = control.draw()
    return metrics[chosen], {control.key: control.written(chosen)}


def _number(titles: Mapping[str, str]) -> One:
    """Which number quantile folds go by. The address holds its name: titles may change, and columns are named so."""
    return One("number", "Quantiles of", {name: name for name in titles}, next(iter(titles)))


def _number_of(plan: FoldPlan) -> dict[str, str | None]:
    return {"number": plan.number}


def _plan(values: Mapping[str, Any]) -> FoldPlan:
    seeds = tuple(range(values["seed"], values["seed"] + values["n_seeds"]))
    rest = {field: value for field, value in values.items() if field not in ("seed", "n_seeds", "n_components")}
    return FoldPlan(**rest, seeds=seeds, n_components=values["n_components"] or None)


def _values(plan: FoldPlan) -> dict[str, Any]:
    """A plan as its controls say it."""
    fields = ("schemes", "n_folds", "models", "representation")
    seeds = {"n_seeds": len(plan.seeds), "seed": plan.seeds[0]}
    return {field: getattr(plan, field) for field in fields} | seeds | {"n_components": plan.n_components or 0}


def _controls(
    *, has_sources: bool, representations: Mapping[str, Representation], models: Mapping[str, str] = MODEL_TITLES
) -> tuple[dict[str, Pick | Number], dict[str, OneOrUsual | Number]]:
    schemes = {name: of.title for name, of in FOLD_SCHEMES.items() if has_sources or of.needs != "groups"}
    main: dict[str, Pick | Number] = {
        "schemes": Pick(
            "schemes",
            "Folds",
            schemes,
            _USUAL.schemes,
            "How samples are put into folds. Random ones are the benchmark; SDS k-means makes folds that differ in "
            "their inputs and have the same labels.",
        ),
        "models": Pick(
            "models",
            "Models",
            models,
            _USUAL.models,
            "Each is trained on all folds but one and tested on that one. Choose none to make folds only.",
        ),
        "n_folds": Number("folds", "Number of folds", 2, 50, _USUAL.n_folds, 1, "Where that is for us to say."),
    }
    first = next(iter(representations.values())).title
    more: dict[str, OneOrUsual | Number] = {
        "representation": OneOrUsual(
            "features",
            "Features that folds are made in",
            {name: entry.title for name, entry in representations.items()},
            f"The usual ones are: {first}. Models are trained on the data themselves, whatever is chosen here.",
        ),
        "n_components": Number(
            "components", "Principal components", 0, 500, _USUAL.n_components or 0, 1, "The paper's 5; 0 takes all."
        ),
        "n_seeds": Number("seeds", "Seeds", 1, 50, 1, 1, "Folds are made anew for each; one seed is luck."),
        "seed": Number("seed", "First seed", 0, 2**31, 0, 1, "All randomness follows from this number."),
    }
    return main, more
