"""Which models, sources and sizes, which curve is looked at, and what do the runs tell? Controls, then results."""

from dataclasses import dataclass, replace

import pandas as pd
from streamlit.delta_generator import DeltaGenerator

from touchstone.core.data import Dataset
from touchstone.core.evaluate.data_set_adequacy.adequacy import adequacy_of
from touchstone.core.evaluate.data_set_adequacy.plan import AdequacyPlan
from touchstone.core.evaluate.data_set_adequacy.results import Adequacy, Curve
from touchstone.core.evaluate.data_set_adequacy.verdict import WORTH, first_curve
from touchstone.core.evaluate.units import design_beside_sources
from touchstone.core.evaluate.wording import plural
from touchstone.core.parameters import About
from touchstone.core.report.run_report import FINDER_TITLES, MODEL_TITLES
from touchstone.core.workspace import Run
from touchstone.ui import cache
from touchstone.ui.data.samples import dataset_of
from touchstone.ui.forms.controls import Number, One, check_address
from touchstone.ui.forms.plan_form import plan_form
from touchstone.ui.shell import questions, session


def adequacy_plan(dataset: Dataset) -> tuple[AdequacyPlan, DeltaGenerator]:
    """The controls of an AdequacyPlan: the plan that they say, and the place for the button that starts it.

    Raises DataError for a choice that makes no plan.
    """
    return plan_form(AdequacyPlan, About(dataset))


@dataclass(frozen=True)
class AdequacyLook:
    """What the page is about: a model (and source finder), what is worth collecting for, and what the panels show."""

    curve: str
    worth: float
    panels: str


def looked_at(plan: AdequacyPlan) -> AdequacyLook:
    """The controls of what is looked at; none of them needs another run."""
    curve, worth, panels = _look_controls(plan)
    check_address([curve, worth, panels])
    chosen = curve.draw() if len(curve.titles) > 2 else ""
    return AdequacyLook(chosen, worth.draw() / 100, panels.draw())


def look_parameters(plan: AdequacyPlan, look: AdequacyLook) -> dict[str, list[str]]:
    """The parameters of the address that say what the page is about."""
    curve, worth, panels = _look_controls(plan)
    written = {worth.key: worth.written(round(100 * look.worth, 6)), panels.key: panels.written(look.panels)}
    return written if len(curve.titles) <= 2 else {curve.key: curve.written(look.curve), **written}


def chosen_curve(adequacy: Adequacy, look: AdequacyLook) -> Curve | None:
    """The curve that the verdict and the details are about; None while that model has none."""
    if not look.curve:
        return first_curve(adequacy)
    return next((curve for curve in adequacy.overall if _name(curve.model, curve.source_finder) == look.curve), None)


def nothing_computed(plan: AdequacyPlan, sizes: tuple[int, ...], ahead: str) -> None:
    """What stands where nothing has been computed of this choice."""
    questions.not_computed(
        plan.kind,
        f"**Run** trains {plural(len(plan.models), 'model')} on {plural(len(sizes), 'size')} of each training part "
        f"and tests them on the same test parts: {ahead}",
    )


def _look_controls(plan: AdequacyPlan) -> tuple[One, Number, One]:
    several = len(plan.source_finders) > 1
    names = {"": "first model"} | {
        _name(model, finder): MODEL_TITLES[model] + (f", {FINDER_TITLES.get(finder, finder)}" if several else "")
        for finder in plan.source_finders
        for model in plan.models
    }
    return (
        One(
            "of",
            "The verdict is about",
            names,
            "",
            "The model and sources of the curve, classes and spread below. Known sources come first.",
        ),
        Number(
            "worth",
            "Worthwhile (points)",
            0.1,
            20.0,
            100 * WORTH,
            0.5,
            "The smallest gain, in percentage points, that is worth collecting data for. Anything significantly "
            "smaller counts as none.",
            "%.1f",
        ),
        One(
            "panels",
            "Classes by",
            {"accuracy": "accuracy", "rho": "rho"},
            "accuracy",
            "Shown in the small panels: the expected accuracy interval, or the robustness (rho) of each class.",
        ),
    )


def _name(model: str, finder: str) -> str:
    return f"{model} {finder}"


# What do runs tell of more samples and new sources?


@cache.result(max_entries=16)
def adequacy(run: Run, positive: str | None = None) -> Adequacy:
    """All that the finished trials of a run tell of the size of the training set; by class once it has ended.

    Metrics of one class are about the `positive` one.
    """
    data = dataset_of(run.fingerprint)
    n_per_class = dict(zip(data.class_names, data.n_per_class.tolist(), strict=True))
    by_class = run.state != "running"
    evaluated = adequacy_of(trials(run), n_per_class=n_per_class, by_class=by_class, positive=positive)
    return replace(evaluated, design=design_beside_sources(data))


def trials(run: Run) -> pd.DataFrame:
    """The rows of a run's trials."""
    return session.workspace().rows(session.owner(), run.id)
