"""Which tests are made, and what opens beside their verdict? The controls of a GuidedTestsPlan, and folded parts."""

from collections.abc import Mapping
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from touchstone.core.data import Dataset
from touchstone.core.evaluate.guided_tests.generate import Properties
from touchstone.core.evaluate.guided_tests.plan import Guided, GuidedTestsPlan
from touchstone.core.evaluate.guided_tests.verdict import NOTHING_INSIDE
from touchstone.core.evaluate.test_quality.quality import Looked, RegionChoice
from touchstone.core.evaluate.test_quality.regions import Regions
from touchstone.core.parameters import About
from touchstone.core.report import guided_tests as report
from touchstone.core.workspace import Run, StoredModel, View
from touchstone.ui import page_file
from touchstone.ui.data import choice as data_choice
from touchstone.ui.forms.plan_form import plan_form
from touchstone.ui.guided_tests import explorer, label_next, results
from touchstone.ui.models import choice as model_choice
from touchstone.ui.shell import answer, background, page, session, share
from touchstone.ui.test_quality import results as test_quality_results


def guided_tests_plan(
    dataset: Dataset, model: StoredModel, choice: RegionChoice
) -> tuple[GuidedTestsPlan, DeltaGenerator]:
    """The controls of a GuidedTestsPlan: the plan that they say, and the place for the button that starts it.

    Raises DataError for a choice that makes no plan.
    """
    settled = {"model": model.fingerprint, **vars(choice)}
    return plan_form(GuidedTestsPlan, About(dataset, model=model), settled=settled, key="guided-controls")


def view(dataset: Dataset, model: StoredModel, settled: Mapping[str, list[str]]) -> View:
    """What a link shows before any test was generated: walks between classes, properties, and what to label next."""
    return View(
        "guided_tests",
        {data_choice.ADDRESS: [dataset.fingerprint], **settled},
        f"{data_choice.required().title} · {model.name}",
        datasets=(dataset.fingerprint,),
        models=(model.fingerprint,),
    )


def link_to_quality(dataset: Dataset, model: StoredModel, choice: RegionChoice) -> None:
    """The way to the page that measures what the test set has in these very regions; none through a link."""
    if session.read_only():
        return
    st.page_link(
        page_file("test_quality"),
        label="How well the test set covers these regions",
        icon=":material/target:",
        help="",
        query_params={
            data_choice.ADDRESS: dataset.fingerprint,
            **model_choice.parameters(model),
            **test_quality_results.region_parameters(choice),
        },
    )


# What may a reader want beside the verdict? Parts that are closed at first; each adds itself to the address.


def show_features(run: Run, guided: Guided, looked: Looked, *, inside: bool) -> None:
    """What the layer's head makes of features, and their decoder; `inside` says whether the model has such layers."""

    def draw() -> None:
        if not inside:
            st.caption(NOTHING_INSIDE)
        trip = background.answer(results.sent_again(run, looked), "Sending images through the model", key="trip")
        for section in report.features(guided, trip):
            if section.heading and section.heading != report.FEATURES:
                st.subheader(section.heading, anchor=False)
            answer.parts(section.parts)

    page.fold(report.FEATURES, draw, key="features")


def show_other_model(run: Run, guided: Guided, model: StoredModel) -> None:
    """Another model on the same pictures; nothing where there is no other."""
    if guided.suite is not None and explorer.other_models(model):
        title = "How does another model do on these pictures?"
        draw = partial(explorer.show_other_model, run, guided, model)
        add_to_address(page.fold(title, draw, key="versus", asked_by=(explorer.VERSUS,)))


def show_explorer(looked: Looked, within: Regions, guided: Guided | None, *, opened: bool) -> None:
    """The explorer; open from the start where that is asked for, or where the address names a place."""
    opened |= any(key.startswith(explorer.KEYS) for key in st.query_params)
    draw = partial(explorer.show, looked, within, None if guided is None else guided.decoder)
    add_to_address(page.fold("What lies between two classes?", draw, key="way", opened=opened))


def show_label_next(looked: Looked, within: Regions, model: StoredModel) -> None:
    """The list of what to label next, which needs no run."""
    draw = partial(label_next.show, looked, within, model)
    add_to_address(page.fold("Label these next", draw, key="next", asked_by=label_next.KEYS))


def show_properties(looked: Looked) -> Properties | None:
    """The three properties, which need no run either; None while they are not worked out."""

    def draw() -> Properties | None:
        properties = background.answer(results.properties(looked), "Testing properties", key="properties")
        if properties is not None:
            add_to_address(explorer.show_properties(properties, looked))
        return properties

    return page.fold(report.PROPERTIES, draw, key="properties", asked_by=("violations",))


def add_to_address(address: dict[str, list[str]] | None) -> None:
    """More of the address that leads here."""
    for key, written in (address or {}).items():
        share.add(key, written)
