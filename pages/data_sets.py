"""What is in the data? Choose or upload a data set, and look at its sizes, labels and samples."""

import streamlit as st

from core.data import EXAMPLES, Dataset
from core.evaluate.wording import count
from core.figures.data_sets import label_distribution, text_lengths
from ui import data_choice, page, samples, upload
from ui.data_choice import Choice
from ui.page import Metric


@st.dialog("Delete this data set?")
def delete(choice: Choice) -> None:
    st.markdown(f"**{page.plain(choice.title)}** and all its runs will be gone for good.")
    with st.container(horizontal=True):
        if st.button("Delete", type="primary", key="really-delete"):
            data_choice.forget(choice.address)
            st.rerun()
        if st.button("Keep", key="keep"):
            st.rerun()


def choose() -> None:
    """The examples as cards, and the place for a file."""
    chosen = data_choice.current()
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
    upload.uploader()


def sizes(dataset: Dataset) -> None:
    """How much there is, in what units, and what reading did to it."""
    if dataset.kind == "image":
        shape = ("Image size", " × ".join(map(str, dataset.x.shape[1:3])), "Height and width in pixels.")
    elif dataset.kind == "text":
        shape = ("Median length", samples.median_words(dataset), "Half of the texts are longer.")
    else:
        shape = ("Features", count(len(dataset.feature_names)), "Columns of numbers.")
    n_sources = "none named" if dataset.sources is None else count(len(set(dataset.sources)))
    page.numbers(
        [
            Metric("Samples", count(dataset.n_samples)),
            Metric("Classes", count(dataset.n_classes)),
            Metric(*shape[:2], help=shape[2]),
            Metric("Sources", n_sources, help="Who or what the samples come from, where the data say so."),
            Metric(
                "Scale",
                "as given" if dataset.scale == 1 else f"1 / {dataset.scale:g}",
                help="What raw values were divided by.",
            ),
        ]
    )
    if dataset.notes:
        st.caption(page.plain(" ".join(dataset.notes)))


page.lead("Sizes, labels and samples, as they are. Whether the labels are right, this page cannot tell.")
choose()
dataset = data_choice.dataset()
choice = data_choice.required()
with st.container(horizontal=True, vertical_alignment="center"):
    st.header(page.plain(choice.title), anchor=False)
    if choice.example is None and st.button("Delete", icon=":material/delete:", type="tertiary", key="delete-data"):
        delete(choice)
sizes(dataset)
labels, beside = st.columns(2, gap="large")
with labels:
    page.figure(
        label_distribution(dataset.class_names, dataset.n_per_class, dark=page.dark()),
        f"Samples per class, n = {count(dataset.n_samples)}.",
        key="labels",
    )
with beside:
    if dataset.kind == "text":
        page.figure(
            text_lengths(samples.n_words(dataset), dark=page.dark()), "How many texts are how long.", key="lengths"
        )
    elif dataset.kind == "tabular":
        st.dataframe(samples.features(dataset), hide_index=True, alt="Mean, spread and range of every feature")
        st.caption("Every feature in its own units; models standardise on the training part only.")
    else:
        samples.browse(dataset)
if dataset.kind != "image":
    st.subheader("Samples", anchor=False)
    samples.browse(dataset)
