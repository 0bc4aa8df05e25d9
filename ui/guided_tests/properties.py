"""Does the model behave like a well-trained classifier? The three properties, and what breaks one, with its samples."""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from touchstone.core.evaluate.guided_tests import Guided, Properties
from touchstone.core.evaluate.guided_tests.verdict import NOTHING_INSIDE
from touchstone.core.evaluate.test_quality import Regions
from touchstone.core.evaluate.test_quality.looked import Looked
from touchstone.core.report import guided_tests as report
from touchstone.core.workspace.models import StoredModel
from touchstone.core.workspace.runs import Run
from touchstone.ui.data import samples
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.guided_tests import explorer, gallery, label_next, results
from touchstone.ui.shell import answer, background, page, share

MOST_PICTURES = 12


def properties(tested: Properties, looked: Looked) -> dict[str, list[str]]:
    """The three properties of section 4.1, and the violations of one of them with their samples."""
    table = report.property_table(tested)
    st.table(table.lines.set_index("Property"), alt=table.title)
    st.caption(table.caption)
    rules = {rule.name: rule for rule in tested.each}
    worst = max(rules.values(), key=lambda rule: (rule.n_violated > 0, rule.name == "true class first")).name
    control = One("violations", "Violations of", {name: name for name in rules}, worst)
    check_address([control])
    chosen = control.draw()
    rule = rules[chosen]
    if not rule.n_violated:
        st.caption("None.")
    else:
        answer.part(report.violations_table(rule))
        if rule.name != "between centroids":
            _pictures(rule.violations.head(MOST_PICTURES), looked)
    return {control.key: control.written(chosen)}


def _pictures(worst: pd.DataFrame, looked: Looked) -> None:
    """The worst violations as they are."""
    where = {sample_id: row for row, sample_id in enumerate(looked.parts.test.ids)}
    rows = looked.parts.test_rows[np.array([where[sample_id] for sample_id in worst["id"]])]
    data = looked.dataset
    if data.kind == "image":
        captions = [f"{label}, not {other}" for label, other in zip(worst["label"], worst["other"], strict=True)]
        samples.pictures([data.x[row] for row in rows], captions)
    elif data.kind == "text":
        samples.show(data, list(rows[:3]))
    else:
        st.dataframe(samples.table(data, rows), hide_index=True, alt="The worst violations with their columns")


# What may a reader want beside the verdict? Parts that are closed at first; each adds itself to the address.


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
            add(properties(properties, looked))
        return properties

    return page.fold(report.PROPERTIES, draw, key="properties", asked_by=("violations",))


def add(address: dict[str, list[str]] | None) -> None:
    """More of the address that leads here."""
    for key, written in (address or {}).items():
        share.add(key, written)
