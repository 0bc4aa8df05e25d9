"""Which samples changed? All, or those of a class or group: a click on its line, or a choice in the list.

Where a stored data set holds these samples, they are shown as pictures, and where they lie on its map.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st
from jaxtyping import Bool, Integer

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.predictions.same_samples import rows_in
from touchstone.core.evaluate.matched_subsets.plan import TwoSets
from touchstone.core.evaluate.model_comparison import ModelComparison, groups, of_class
from touchstone.core.evaluate.weak_slices import OneFile
from touchstone.core.evaluate.wording import count, plural, quoted
from touchstone.core.figures.marks import map_chart
from touchstone.core.report import model_comparison as report
from touchstone.core.report.parts import Answer, Section, Table
from touchstone.core.represent import default_representation
from touchstone.ui.data import samples
from touchstone.ui.data_sets import maps
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.predictions import beside
from touchstone.ui.shell import answer, background, page

PART = "samples_of"
"""The parameter of the address that names a class or group."""
MAP = "Where do they lie?"
_ALL = "all samples"
_CLICK = "Click a line to list its samples."
_PICTURES = 12
MAP_CAPTION = (
    "Samples of the data set that one of both models gets right. Grey: both right, both wrong, or not among the {n} "
    "samples compared. Lasso dots to list them below."
)


def show(compared: ModelComparison, shown: Answer, sets: TwoSets) -> None:
    """The sections of classes and of groups, whose lines can be clicked, and the samples that changed."""
    named = {"classes": [_class(label) for label in compared.classes]}
    named["groups"] = [_group(*at) for at in groups(compared.models)]
    for key, names in named.items():
        section = shown.section(key)
        if section is not None:
            page.fold(page.plain(section.heading), partial(_lines, section, names), key=key)
    page.fold("Samples that changed", partial(_samples, compared, sets), key="samples", asked_by=(PART,))
    if beside.candidates(sets.reference, compared.models.n):
        page.fold(MAP, partial(_map, compared, sets), key="changed-map")


def _lines(section: Section, names: list[str]) -> None:
    """A section; a click on a line of its table lists the samples of what that line is about."""
    for part in section.parts:
        if isinstance(part, Table):
            clickable = replace(part, caption=f"{part.caption} {_CLICK}")
            answer.table(clickable, key=f"lines-{section.key}", on_line=lambda line: _choose(names[line]))
        else:
            answer.parts((part,))


def _choose(name: str) -> None:
    st.session_state[PART], st.session_state["fold-samples"] = name, True


def _samples(compared: ModelComparison, sets: TwoSets) -> None:
    models = compared.models
    parts = {_class(label): of_class(models, label) for label in compared.classes}
    parts |= {_group(*at): rows for at, rows in groups(models).items()}
    control = One(PART, "Samples of", {name: name for name in (_ALL, *parts)}, _ALL)
    check_address([control])
    name = control.draw()
    which = "" if name == _ALL else f" of {name}"
    _pictures(compared, sets, parts.get(name))
    answer.part(report.samples_table(compared, report.changed_samples(compared, parts.get(name)), which))


def _class(label: str) -> str:
    return f"class {quoted(label)}"


def _group(what: str, value: str) -> str:
    return f"{what} {value if what == 'confidence' else quoted(value)}"


# What do these samples look like, and where do they lie? As a stored data set that holds them says it.


def _data_set(compared: ModelComparison, sets: TwoSets) -> tuple[Dataset, Integer[np.ndarray, " n_samples"]] | None:
    """The data set that holds the samples, and the row of each; None where none does, or recipes answer them often."""
    if compared.models.trainings is not None:
        return None
    dataset = beside.data_set_of(OneFile(sets.reference, sets.reference_part, sets.task), compared.models.n)
    if dataset is None:
        return None
    rows = rows_in(dataset, compared.models.predictions[compared.models.names[0]])
    return None if rows is None else (dataset, rows)


def _pictures(compared: ModelComparison, sets: TwoSets, rows: Bool[np.ndarray, " n_samples"] | None) -> None:
    """The first samples that were gained and lost, where a stored data set has their pictures."""
    there = _data_set(compared, sets)
    if there is None or there[0].kind != "image":
        return
    dataset, at = there
    reference, model, *_ = compared.models.names
    own, its = (compared.models.predictions[name] for name in (model, reference))
    wanted = np.ones(len(at), dtype=bool) if rows is None else rows
    for change, better, worse in (("Gained", own, its), ("Lost", its, own)):
        which = np.flatnonzero(better.correct & ~worse.correct & wanted)
        if not len(which):
            continue
        st.markdown(f"**{change}**: {plural(len(which), 'sample')}")
        shown = which[:_PICTURES]
        wrong = np.array(worse.class_names, dtype=object)[worse.y_pred]
        words = [f"{dataset.class_names[dataset.y[at[row]]]}, not {wrong[row]}" for row in shown]
        samples.pictures([dataset.x[at[row]] for row in shown], words)


def _map(compared: ModelComparison, sets: TwoSets) -> None:
    """Where in their data set the samples lie on which one of both is right; a lasso lists them."""
    there = _data_set(compared, sets)
    if there is None:
        page.empty(
            "No stored data set holds these samples. Store it on the page *Data sets*, with the same ids or texts."
        )
        return
    dataset, at = there
    shown = default_representation(dataset.kind)
    try:
        task = maps.features(dataset, shown)
        if background.answer(task, "Making features for the map", key="changed-features") is None:
            return
    except DataError as problem:
        page.error(problem)
        return
    reference, model, *_ = compared.models.names
    right = [compared.models.correct[name] for name in (model, reference)]
    codes = np.full(dataset.n_samples, -1)
    codes[at] = np.select([right[0] & ~right[1], right[1] & ~right[0]], [0, 1], default=-1)
    names = (f"Only {model} right", f"Only {reference} right")
    chosen = maps.selected(dataset.fingerprint)
    points = maps.pca_points(dataset, shown)
    figure = map_chart(points, codes, names, selected=chosen, axes=maps.COMPONENTS, dark=page.dark())
    maps.linked_chart(figure, MAP_CAPTION.format(n=count(compared.models.n)), dataset.fingerprint, key="changed-map")
    maps.show_selection(dataset, chosen)
