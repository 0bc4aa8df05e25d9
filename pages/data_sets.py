"""What is in the data? Choose or upload a data set, and look at it from all sides (notebook 1 of paper 004)."""

from dataclasses import replace
from functools import partial

import streamlit as st

from touchstone.core.evaluate.data_sets import DataLook
from touchstone.core.report import data_sets as report
from touchstone.core.report.parts import Answer
from touchstone.ui.data import choice as data_choice
from touchstone.ui.data import samples, upload
from touchstone.ui.data_sets import maps
from touchstone.ui.forms.plan_form import plan_parameters
from touchstone.ui.shell import answer, background, downloads, page, session, share


@st.dialog("Delete this data set?")
def delete(choice: data_choice.Choice) -> None:
    st.markdown(f"**{page.plain(choice.title)}** and all its runs are deleted for good.")
    page.delete_or_keep(lambda: data_choice.forget(choice.address))


def about(look: DataLook) -> None:
    """The verdict, classes, a number of every sample and the map; all else opens below."""
    card, (labels, beside) = st.container(), st.columns(2, gap="large")
    with beside:
        name, asked = maps.choose_number(dataset)
        number = background.answer(maps.number(dataset, name), "Looking at lengths and numbers", key="number")
    shown = report.answer(dataset, look, number)
    in_sight, *rest = (section for section in shown.sections if not section.heading)
    with card:
        answer.show(replace(shown, sections=()))
        data_choice.offer_without(dataset, look.leaks)
        for section in rest:
            answer.parts(section.parts)
    for place, figure in zip((labels, beside), in_sight.parts, strict=False):
        with place:
            answer.part(figure)
    features = where_samples_lie(asked)
    downloads.of_answer(
        "data_sets", choice.title, shown, (("Data", dataset.fingerprint), ("Versions", page.versions()))
    )
    with st.container(gap="xsmall"):
        more(look, shown, features)


def more(look: DataLook, shown: Answer, features: str) -> None:
    """What a reader may want besides, folded; `features` are those of the map."""
    page.fold("Samples", lambda: samples.browse(dataset), key="samples")
    page.fold(
        "Duplicates",
        lambda: share.add(*maps.show_copies(dataset, look.copies, representation=features)),
        key="duplicates",
        asked_by=(maps.SIMILARITY.key,),
    )
    if dataset.kind == "text":
        page.fold("Words", lambda: maps.show_words(dataset), key="words")
    if look.pictures is not None:
        page.fold("Mean image per class", partial(maps.show_mean_images, dataset, look.pictures), key="means")
    answer.folds(shown)


def where_samples_lie(asked: dict[str, list[str]]) -> str:
    """The map with its lasso; returns the features that it is of. `asked` leads to what stands above."""
    st.header("Map", anchor=False)
    plan = maps.map_plan(dataset)
    upload.attach(choice)
    colours = maps.colours(dataset)
    maps.show_map(dataset, plan, colours)
    leads = (plan_parameters(plan) or {}) | asked | colours.parameters
    share.offer(plan if plan.method == "umap" else None, leads, view=maps.view(dataset, plan, choice.title))
    if colours.run is not None:
        share.rest_on(colours.run)
    return str(plan.representation)


page.lead("Class balance, value ranges, duplicates and a map. It does not check whether labels are correct.")
if session.read_only() or not maps.choose_data():
    dataset = data_choice.dataset()
    choice = data_choice.required()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header(page.plain(choice.title), anchor=False)
        if (
            choice.example is None
            and not session.read_only()
            and st.button("Delete", icon=":material/delete:", type="tertiary", key="delete-data")
        ):
            delete(choice)
    maps.say_removed(dataset.fingerprint, "undo-removal")
    look = background.answer(maps.look(dataset), "Counting classes and duplicates", key="look")
    if look is None:
        page.nothing_yet(running=True)
    else:
        about(look)
    page.how_to_read(__file__)
