"""What has been computed? Every run: its state, progress, and what can be done about it."""

from datetime import UTC, datetime
from pathlib import Path

import streamlit as st

from core.trials import TrialPlan
from core.workspace.workspace import Run
from ui import controls, data_choice, jobs, page
from ui.session import owner, workspace

PER_PAGE = 12
PAGE_OF = {TrialPlan.kind: Path(__file__).parent / "source_robustness.py"}


@st.dialog("Delete this run?")
def delete(run: Run) -> None:
    st.markdown(f"{summary(run)}\n\nIts {run.n_done} finished trials are gone for good; the data set stays.")
    with st.container(horizontal=True):
        if st.button("Delete", type="primary", key="really-delete"):
            workspace().delete_run(owner(), run.id)
            st.rerun()
        if st.button("Keep", key="keep"):
            st.rerun()


def summary(run: Run) -> str:
    words = controls.describe_trials(controls.trial_plan_of(run))
    return f"**{page.plain(data_choice.title_of(run))}**  \n:gray[{page.plain(words)}]"


def open_link(run: Run) -> None:
    """A link to the view of a run, where an address leads to its very plan."""
    parameters = controls.trial_parameters(controls.trial_plan_of(run))
    if parameters is None:
        st.markdown(":gray[no page]", help="This plan was made on the command line; the pages cannot show all of it.")
        return
    query = {data_choice.ADDRESS: run.fingerprint, **parameters}
    st.page_link(PAGE_OF[run.kind], label="Open", icon="", help="", query_params=query)


def show(run: Run) -> None:
    """One run as a card: what it is, where it stands, what can be done."""
    what, state, actions = st.columns([5, 4, 3], vertical_alignment="center")
    word, colour = jobs.STATES[run.state]
    what.markdown(summary(run))
    if run.state == "running":
        state.progress(run.n_done / run.n_trials, text=jobs.describe(run))
    else:
        when = datetime.fromtimestamp(run.finished or run.created, UTC)
        state.markdown(f":{colour}-badge[{word}] {jobs.counted(run)}  \n:gray[{when:%d %b %Y, %H:%M} UTC]")
    with actions, st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="right"):
        open_link(run)
        jobs.action(run)
        if st.button(
            "", key=f"delete-{run.id}", icon=":material/delete:", help="Delete", disabled=run.state == "running"
        ):
            delete(run)
    jobs.failures(run)


page.lead(
    "Every run is kept until you delete it. It goes on when you close this page, and can be resumed after a crash."
)
runs = workspace().runs(owner())
if not runs:
    page.empty("Nothing has been computed yet. Runs start on the pages under Trust and are listed here.")
    st.stop()
for run in runs[page.part_shown(len(runs), PER_PAGE, key="runs-page")]:
    with st.container(border=True, key=f"run-{run.id}"):
        jobs.follow(run, show)
