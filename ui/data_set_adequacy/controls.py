"""Which models, sources and sizes? The controls of an AdequacyPlan and of what is looked at, all in the address."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.data import DataError, Dataset
from core.evaluate.data_set_adequacy.plan import ALL, SIZES, AdequacyPlan
from core.evaluate.data_set_adequacy.results import Adequacy, Curve
from core.evaluate.data_set_adequacy.verdict import WORTH, usual_curve
from core.evaluate.wording import plural
from core.report.names import FINDER_TITLES, MODEL_TITLES
from core.represent import REPRESENTATIONS, available
from ui.forms.controls import Number, One, check_address
from ui.shell.session import is_fixed
from ui.source_robustness.controls import finder_titles, model_titles, trial_controls

EVERYTHING = "all"


@dataclass(frozen=True)
class Sizes:
    """Sizes in a line of text, written as one would (`sizes_of` reads it)."""

    key: str = "sizes"
    label: str = "Training samples"

    def unknown(self, written: Sequence[str]) -> list[str]:
        """Nothing but a second value: what cannot be read is said beside the field, where it can be put right."""
        return list(written[1:])

    def draw(self) -> str:
        """The field; returns what is in it, to be read when all other controls are drawn, too."""
        usual = self.written(SIZES)[0]
        text = st.text_input(
            self.label,
            usual,
            key=self.key,
            disabled=is_fixed(self.key),
            help="Sizes of the training part, set apart by commas; “all” is the whole of it. Sizes that do not fit are "
            "left out. Samples are drawn class by class, and smaller parts lie within larger ones.",
            bind="query-params",
            width=330,
        )
        return text or usual

    def written(self, value: Sequence[int]) -> list[str]:
        """Sizes as the address holds them."""
        return [", ".join(EVERYTHING if size == ALL else str(size) for size in value)]

    def ordered(self, value: Sequence[int]) -> tuple[int, ...]:
        """Rising, each once, all of it last."""
        return tuple(sorted(set(value), key=lambda size: (size == ALL, size)))


def sizes_of(text: str) -> tuple[int, ...]:
    """The sizes in a text, rising, each once; DataError where there is something else in it.

    >>> sizes_of("all, 300 100")
    (100, 300, 0)
    """
    words = text.replace(",", " ").replace(";", " ").split()
    wrong = [word for word in words if word != EVERYTHING and not (word.isascii() and word.isdigit() and int(word))]
    if wrong or not words:
        raise DataError(f"Sizes are whole numbers set apart by commas, and “all”, such as 100, 300, all; not {text!r}.")
    return Sizes().ordered([ALL if word == EVERYTHING else int(word) for word in words])


def adequacy_plan(dataset: Dataset) -> tuple[AdequacyPlan, DeltaGenerator]:
    """The controls of an AdequacyPlan: the plan that they say, and the place for the button that starts it.

    Raises DataError for a choice that makes no plan.
    """
    main, more = trial_controls(
        has_sources=dataset.sources is not None,
        representations=available(dataset),
        models=model_titles(dataset),
        finders=finder_titles(dataset),
    )
    sizes = Sizes()
    check_address([*main.values(), *more.values(), sizes])
    with st.container(border=True, gap="small"):
        values: dict[str, Any] = {"models": main.pop("models").draw()}
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            values |= {field: control.draw() for field, control in main.items()}
            values["sizes"] = sizes.draw()
            st.space("stretch")
            button = st.container(width="content")
        with st.expander("More options", type="compact"), st.container(horizontal=True, vertical_alignment="bottom"):
            values |= {field: control.draw() for field, control in more.items()}
    return AdequacyPlan(**values | {"sizes": sizes_of(values["sizes"])}), button


def parameters(plan: AdequacyPlan) -> dict[str, list[str]] | None:
    """The parameters of the address that lead to this plan, defaults written out; None where no address does."""
    main, more = trial_controls(has_sources=True, representations=REPRESENTATIONS)
    controls: dict[str, Any] = {**main, **more, "sizes": Sizes()}
    written = {control.key: control.written(getattr(plan, field)) for field, control in controls.items()}
    if any(control.unknown(written[control.key]) for control in controls.values()):
        return None
    said = AdequacyPlan(**{field: control.ordered(getattr(plan, field)) for field, control in controls.items()})
    return written if said == plan else None


def describe(plan: AdequacyPlan) -> str:
    """A plan in a few words, for lists of runs.

    >>> describe(AdequacyPlan(models=("svm",), sizes=(100, 300, 0)))
    'SVM · k-means clusters · 100, 300, all samples · 20 repeats'
    """
    models = ", ".join(MODEL_TITLES[name] for name in plan.models)
    finders = " and ".join(FINDER_TITLES.get(name, name) for name in plan.source_finders)
    return f"{models} · {finders} · {Sizes().written(plan.sizes)[0]} samples · {plural(plan.n_repeats, 'repeat')}"


@dataclass(frozen=True)
class AdequacyLook:
    """What the page is about: a model (and source finder), what is worth collecting for, and what the panels show."""

    of: str
    worth: float
    panels: str


def looked_at(plan: AdequacyPlan) -> AdequacyLook:
    """The controls of what is looked at; none of them needs another run."""
    of, worth, panels = _look_controls(plan)
    check_address([of, worth, panels])
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        chosen = of.draw() if len(of.titles) > 2 else ""
        return AdequacyLook(chosen, worth.draw() / 100, panels.draw())


def shown(plan: AdequacyPlan, look: AdequacyLook) -> dict[str, list[str]]:
    """The parameters of the address that say what the page is about."""
    of, worth, panels = _look_controls(plan)
    written = {worth.key: worth.written(round(100 * look.worth, 6)), panels.key: panels.written(look.panels)}
    return written if len(of.titles) <= 2 else {of.key: of.written(look.of), **written}


def chosen_curve(found: Adequacy, look: AdequacyLook) -> Curve | None:
    """The curve that the verdict and the details are about; None while that model has none."""
    if not look.of:
        return usual_curve(found)
    return next((curve for curve in found.overall if _name(curve.model, curve.source_finder) == look.of), None)


def _look_controls(plan: AdequacyPlan) -> tuple[One, Number, One]:
    several = len(plan.source_finders) > 1
    names = {"": "the most robust model"} | {
        _name(model, finder): MODEL_TITLES[model] + (f", {FINDER_TITLES.get(finder, finder)}" if several else "")
        for finder in plan.source_finders
        for model in plan.models
    }
    return (
        One("of", "The verdict is about", names, "", "Whose curve, classes and spread are shown below."),
        Number(
            "worth",
            "Worthwhile (points)",
            0.1,
            20.0,
            100 * WORTH,
            0.5,
            "The least gain by twice as many samples, and the least gap between familiar and unfamiliar sources, that "
            "you would collect data for, in percentage points. What is surely smaller counts as none.",
            "%.1f",
        ),
        One(
            "panels",
            "Classes by",
            {"accuracy": "accuracy", "rho": "rho"},
            "accuracy",
            "What the small panels below show: the expected accuracy interval or the robustness of each class.",
        ),
    )


def _name(model: str, finder: str) -> str:
    return f"{model} {finder}"
