"""What is in the data? Choose or upload a data set, and look at it from all sides (notebook 1 of paper 004)."""

from pathlib import Path

import streamlit as st

from core.data import EXAMPLES
from core.evaluate.data_sets import data_verdict
from ui.data import choice as data_choice
from ui.data import samples, upload, vectors
from ui.data.choice import Choice
from ui.data_sets import copies, maps, results, views
from ui.data_sets.work import DataLook
from ui.forms.chosen import choice_line
from ui.forms.plan_form import plan_parameters
from ui.shell import background, page, share, take_away
from ui.shell.session import read_only

HOW_TO_READ = Path(__file__).with_suffix(".md")
ANOTHER = "choose another"


@st.dialog("Delete this data set?")
def delete(choice: Choice) -> None:
    st.markdown(f"**{page.plain(choice.title)}** and all its runs will be gone for good.")
    page.delete_or_keep(lambda: data_choice.forget(choice.address))


def choose() -> bool:
    """The examples as cards, and the place for a file; whether a file takes the page over."""
    top, below = st.container(horizontal=True, key="choose-data"), st.container()
    line = top.container()
    with top.container(width=420):
        file = upload.control()
    with below:
        if upload.takes_over(file):
            return True
    chosen = data_choice.current()
    name, taken = (chosen.name, page.plain(chosen.title)) if chosen else ("", "none")
    with (
        line,
        choice_line(f"Data set **{taken}**", key="data", of=name, change=ANOTHER, expanded=chosen is None),
    ):
        cards(chosen)
    return False


def cards(chosen: Choice | None) -> None:
    """The examples, each with what it is."""
    with st.grid(len(EXAMPLES), min_column_width=190):
        for address, choice in data_choice.choices().items():
            if choice.example is None:
                continue
            example = EXAMPLES[choice.example]
            with st.container(border=True, height="stretch", key=f"example-{choice.example}"):
                st.markdown(f"**{example.title}**  \n:gray[{example.sentence}]")
                st.space("stretch")
                st.button(
                    "Chosen" if choice == chosen else "Choose",
                    key=f"choose-{choice.example}",
                    on_click=data_choice.choose,
                    args=(address,),
                    disabled=choice == chosen,
                    width="stretch",
                )


def about(look: DataLook) -> None:
    """The verdict, classes and a number of every sample, and what the kind of data has besides."""
    card = st.container()
    labels, beside = st.columns(2, gap="large")
    with labels:
        views.labels(dataset, look.labels)
    with beside:
        name, asked = views.choose_number(dataset)
        number = background.answer(results.number(dataset, name), "Looking at lengths and numbers", key="number")
        if number is not None:
            views.number(dataset, number)
    constant = look.columns.constant if look.columns else ()
    said = data_verdict(dataset.kind, look.labels, look.copies, number, constant=constant)
    with card:
        page.verdict(said, views.metrics(dataset, look))
        page.findings(said)
        if dataset.notes:
            st.caption(page.plain(" ".join(dataset.notes)))
    if number is not None:
        views.by_class(dataset, number)
    if dataset.kind == "text":
        views.words(dataset)
    if look.pictures is not None:
        views.mean_images(dataset, look.pictures)
    if look.columns is not None:
        views.columns(look.columns)
    near_and_far(look, asked)
    st.header("Samples", anchor=False)
    samples.browse(dataset)
    st.header("In numbers", anchor=False)
    if number is not None:
        views.number_table(number)
    take_away.offer(views.tables(look, number), stem="data-set")


def near_and_far(look: DataLook, asked: dict[str, list[str]]) -> None:
    """The map with its lasso, and what lies so near that it may be the same; `asked` leads to what stands above."""
    st.header("Map", anchor=False)
    plan = maps.controls(dataset)
    vectors.attach(choice)
    colours = maps.colours(dataset)
    maps.show(dataset, plan, colours)
    features = str(plan.representation)
    near = copies.show(dataset, look.copies, representation=features)
    leads = (plan_parameters(plan) or {}) | asked | colours.parameters | near
    share.offer(plan if plan.method == "umap" else None, leads, view=maps.view(dataset, plan, choice.title))
    if colours.run is not None:
        share.rest_on(colours.run)


page.lead("Sizes, labels, numbers, near and far, as they are. Whether the labels are right, this page cannot tell.")
if read_only() or not choose():
    dataset = data_choice.dataset()
    choice = data_choice.required()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header(page.plain(choice.title), anchor=False)
        if (
            choice.example is None
            and not read_only()
            and st.button("Delete", icon=":material/delete:", type="tertiary", key="delete-data")
        ):
            delete(choice)
    look = background.answer(results.look(dataset), "Counting classes and copies", key="look")
    if look is None:
        page.nothing_yet(running=True)
    else:
        about(look)
    page.how_to_read(HOW_TO_READ)
