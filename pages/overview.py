"""What can be trusted here? Every verdict for the chosen data set, and where to start."""

import streamlit as st

from core.data import EXAMPLES
from core.evaluate.wording import count, plural
from core.workspace.run import Run
from ui import page_file
from ui.data import choice as data_choice
from ui.data.choice import Choice
from ui.shell import jobs, page, questions
from ui.shell.session import owner, workspace

MOST_CARDS = 10


def about(choice: Choice) -> None:
    """The chosen data set in a line, without reading it."""
    if choice.stored is None:
        sentence = EXAMPLES[str(choice.example)].sentence
    else:
        one = choice.stored
        classes = plural(one.n_classes, "class", "classes")
        sentence = f"{one.kind} data, {plural(one.n_samples, 'sample')} of {classes}."
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{page.plain(choice.title)}**: {page.plain(sentence)}", width="content")
        st.page_link(
            page_file("data_sets"),
            label="Look at it, or bring your own",
            query_params={data_choice.ADDRESS: choice.address},
        )


def card(run: Run) -> None:
    """One question's answer so far: its verdict, or where its run stands, and the way to the page."""
    with st.container(border=True, key=f"card-{run.id}"):
        st.markdown(questions.card_title(run))
        said = questions.headline(run)
        if said:
            st.markdown(page.plain(said))
        jobs.follow(run, jobs.progress)
        questions.link(run, icon=":material/arrow_forward:")


page.lead(
    "Every verdict so far, for the chosen data set and for prediction files. A question that is not listed was never "
    "asked; that says nothing of the model."
)
choice = data_choice.required()
about(choice)
every = workspace().runs(owner(), choice.stored.fingerprint) if choice.stored else []
runs = [run for run in every if run.state != "done" or not questions.only_serves(run)]
for run in runs[:MOST_CARDS]:
    card(run)
if len(runs) > MOST_CARDS:
    st.page_link(page_file("runs"), label=f"All {count(len(runs))} runs", help="")
if runs:
    questions.unasked({run.kind for run in runs}, choice.address)
elif page.empty(
    "Nothing has been computed for this data set yet. A first question: how far does accuracy fall on sources that "
    "training has not seen? With the usual settings the answer takes a minute or two.",
    button="Start",
):
    jobs.ask_to_start(choice.name)
    st.switch_page(page_file("source_robustness"), query_params={data_choice.ADDRESS: choice.address})
questions.cards()
