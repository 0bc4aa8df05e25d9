"""What may a reader want beside the verdict? Parts that are closed at first; each adds itself to the address."""

from functools import partial

import streamlit as st

from touchstone.core.evaluate.guided_tests import Guided, Properties
from touchstone.core.evaluate.guided_tests.verdict import NOTHING_INSIDE
from touchstone.core.evaluate.test_quality import Regions
from touchstone.core.evaluate.test_quality.looked import Looked
from touchstone.core.report import guided_tests as report
from touchstone.core.workspace.data import StoredModel
from touchstone.core.workspace.runs import Run
from touchstone.ui.guided_tests import explorer, gallery, label_next, results
from touchstone.ui.guided_tests.properties import properties as draw_properties
from touchstone.ui.shell import answer, background, page, share


def features(run: Run, guided: Guided, looked: Looked, *, inside: bool) -> None:
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


def with_another(run: Run, guided: Guided, model: StoredModel) -> None:
    """Another model on the same pictures; nothing where there is no other."""
    if guided.suite is not None and gallery.others(model):
        title = "How does another model do on these pictures?"
        draw = partial(gallery.beside, run, guided, model)
        add(page.fold(title, draw, key="versus", asked_by=(gallery.KEY,)))


def on_the_way(looked: Looked, within: Regions, guided: Guided | None, *, opened: bool) -> None:
    """The explorer; open from the start where that is asked for, or where the address names a place."""
    opened |= any(key.startswith(explorer.KEYS) for key in st.query_params)
    draw = partial(explorer.explorer, looked, within, None if guided is None else guided.decoder)
    add(page.fold("What lies between two classes?", draw, key="way", opened=opened))


def to_label(looked: Looked, within: Regions, model: StoredModel) -> None:
    """The list of what to label next, which needs no run."""
    draw = partial(label_next.label_next, looked, within, model)
    add(page.fold("Label these next", draw, key="next", asked_by=label_next.KEYS))


def tested(looked: Looked) -> Properties | None:
    """The three properties, which need no run either; None while they are not worked out."""

    def draw() -> Properties | None:
        properties = background.answer(results.properties(looked), "Testing properties", key="properties")
        if properties is not None:
            add(draw_properties(properties, looked))
        return properties

    return page.fold(report.PROPERTIES, draw, key="properties", asked_by=("violations",))


def add(address: dict[str, list[str]] | None) -> None:
    """More of the address that leads here."""
    for key, written in (address or {}).items():
        share.add(key, written)
