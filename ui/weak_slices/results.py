"""Which slices of a file's predictions are weak, and which samples are in them?"""

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial

import numpy as np
import streamlit as st

from touchstone.core.command.given_files import slices_command
from touchstone.core.data import Dataset
from touchstone.core.data.predictions.record import ALL, Predictions
from touchstone.core.evaluate.weak_slices import OneFile, SlicePlan, WeakSlices
from touchstone.core.parameters import label_of
from touchstone.core.report import weak_slices as report
from touchstone.core.report.parts import Answer, Table
from touchstone.core.workspace import View
from touchstone.ui import cache
from touchstone.ui.forms.controls import One, check_address
from touchstone.ui.forms.plan_form import plan_parameters
from touchstone.ui.predictions import beside, compared
from touchstone.ui.predictions import choice as prediction_choice
from touchstone.ui.shell import answer, page
from touchstone.ui.shell.background import Work
from touchstone.ui.shell.session import owner, workspace

SLICE = "slice"
"""The parameter of the address that names a slice, whose samples are listed."""


def data_set_of(chosen: OneFile) -> Dataset | None:
    """The stored data set that describes these samples; None where none holds them."""
    return beside.data_set_of(chosen, _n_samples(chosen))


def _n_samples(chosen: OneFile) -> int:
    return len(np.unique(beside.predictions_of(chosen).ids))


@cache.task(max_entries=8)
def slices(chosen: OneFile, dataset: Dataset | None, plan: SlicePlan) -> Work[WeakSlices]:
    """Slices found and judged, by the columns of the file, or of the data set."""
    predictions, known = beside.predictions_of(chosen), compared.known("weak_slices")

    def find(step: Callable[[], None]) -> WeakSlices:
        judged = plan.find(predictions) if dataset is None else plan.find(predictions, dataset)
        compared.keep(known, "weak_slices", chosen, plan, report.answer(judged))
        return judged

    return Work(find)


def view_of(chosen: OneFile, dataset: Dataset | None, plan: SlicePlan) -> View:
    """What a link to the page shows: the file, and the data set that describes its samples where that is stored."""
    settings = {name: [value] for name, value in chosen.parameters.items()} | (plan_parameters(plan) or {})
    kept = {each.fingerprint for each in workspace().datasets(owner())}
    datasets = (dataset.fingerprint,) if dataset is not None and dataset.fingerprint in kept else ()
    named = prediction_choice.names(chosen.parameters)
    return View("weak_slices", settings, named, datasets=datasets, predictions=chosen.files)


def rests_on(chosen: OneFile, dataset: Dataset | None, plan: SlicePlan) -> tuple[tuple[str, str], ...]:
    """Name and value of all that slices rest on: file, data set, settings, versions."""
    parts = {name.removeprefix("target_").capitalize(): value for name, value in chosen.parts.items() if value != ALL}
    described = {} if dataset is None else {"Described by": f"{dataset.name}, {dataset.fingerprint}"}
    settings = {label_of(plan, name): str(value) for name, value in asdict(plan).items() if value is not None}
    versions = {"Versions": page.versions()}
    return tuple(({"Predictions": chosen.file} | parts | described | settings | versions).items())


def chosen_of(chosen: OneFile) -> tuple[str, ...]:
    """What is chosen of a file that holds several sets, folds or models, in words."""
    named = chosen.parts.items()
    return tuple(f"{name.removeprefix('target_')} {value}" for name, value in named if value != ALL)


def command_of(chosen: OneFile, plan: SlicePlan) -> str:
    """The command that finds the slices of a stored file, by the columns of what describes its samples."""
    return slices_command(chosen, plan, beside.name_of(chosen, _n_samples(chosen)))


def show(judged: WeakSlices, shown: Answer, predictions: Predictions, dataset: Dataset | None) -> None:
    """The slices in numbers, of which a click on a line lists the samples, and these samples."""
    section = shown.section("table")
    if section is None:
        return
    names = [each.name for each in judged.slices]
    page.fold(page.plain(section.heading), partial(_lines, section.parts, names), key=section.key, opened=True)
    page.fold("Samples of a slice", partial(_samples, judged, predictions, dataset), key="samples", asked_by=(SLICE,))


def _lines(parts: tuple, names: list[str]) -> None:
    for part in parts:
        if isinstance(part, Table):
            clickable = replace(part, caption=f"{part.caption} Click a line to list its samples.")
            answer.table(clickable, key="lines-slices", on_line=lambda line: _choose(names[line]))


def _choose(name: str) -> None:
    st.session_state[SLICE], st.session_state["fold-samples"] = name, True


def _samples(judged: WeakSlices, predictions: Predictions, dataset: Dataset | None) -> None:
    names = [each.name for each in judged.slices]
    control = One(SLICE, "Slice", {name: name for name in names}, names[0])
    check_address([control])
    weak = judged.slices[names.index(control.draw())]
    answer.part(report.samples_table(weak, predictions, dataset))
