"""What has been computed? Every run: its state, progress, and what can be done about it."""

import streamlit as st

from touchstone.core.evaluate.wording import plural
from touchstone.core.questions import QUESTIONS, with_page
from touchstone.core.workspace import Run
from touchstone.core.workspace.runs import LONGEST_NAME
from touchstone.ui import page_file
from touchstone.ui.data import choice as data_choice
from touchstone.ui.predictions import compared
from touchstone.ui.shell import downloads, jobs, page, questions, session, share

PER_PAGE = 12


@st.dialog("Delete this run?")
def delete(run: Run) -> None:
    done = plural(run.n_done, "finished trial")
    st.markdown(f"{summary(run)}\n\nIt is deleted for good, with {done}. The data set stays.")
    page.delete_or_keep(lambda: session.workspace().delete_run(session.owner(), run.id))


def summary(run: Run) -> str:
    words = f"{questions.title(run)} {questions.describe(run)}"
    named = f"**{page.plain(run.name)}** · " if run.name else ""
    return f"{named}**{page.plain(data_choice.title_of(run))}**  \n:gray[{page.plain(words)}]"


def name(run: Run) -> None:
    """The menu that gives a run a name, or takes it away."""
    key = f"name-{run.id}"

    @page.or_toast
    def keep() -> None:
        session.workspace().name_run(session.owner(), run.id, st.session_state[key])

    with st.popover("Name", icon=":material/edit:", type="tertiary", key=f"menu-{key}"):
        st.text_input(
            "Name of this run",
            run.name,
            max_chars=LONGEST_NAME,
            placeholder="such as: before the new labels",
            key=key,
            on_change=keep,
        )


def show(run: Run) -> None:
    """One run as a card: what it is, where it stands, what can be done."""
    what, state, actions = st.columns([4.6, 2.8, 4.6], vertical_alignment="center")
    word, colour = jobs.STATES[run.state]
    what.markdown(summary(run))
    if run.state == "running":
        state.progress(run.share, text=jobs.describe(run))
    else:
        state.markdown(f":{colour}-badge[{word}] {jobs.counted(run)}  \n:gray[{page.day(run.finished or run.created)}]")
    with (
        actions,
        st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="right", gap="xsmall"),
    ):
        if not questions.link(run):
            st.markdown(":gray[no page]", help=questions.NO_PAGE)
        jobs.action(run)
        if share.links_open() and share.parameters_of(run) is not None:
            with st.popover("Links", icon=":material/link:", type="tertiary", key=f"links-{run.id}"):
                share.links(run)
        name(run)
        running = run.state == "running"
        if st.button("Delete", key=f"delete-{run.id}", icon=":material/delete:", type="tertiary", disabled=running):
            delete(run)
    jobs.older_method(run)
    jobs.failures(run)


def links_that_work() -> None:
    """Every link that shows something to whoever has it, with the way to take it back."""
    known, working = {run.id: run for run in runs}, []
    for link in session.workspace().links(session.owner()):
        shown = known.get(link.shows) if isinstance(link.shows, str) else link.shows
        led = share.parameters_of(shown) if link.works and shown is not None else None
        if led is not None and led[0] in with_page():
            working.append((link, share.title_of(shown), *led))
    if not working:
        return
    with st.expander(f"{plural(len(working), 'link works', 'links work')}", icon=":material/link:", key="links"):
        for link, title, path, parameters in working:
            with st.container(border=True, gap="small", key=f"link-{link.id}"):
                with st.container(horizontal=True, vertical_alignment="center"):
                    st.markdown(page.plain(title), width="stretch")
                    st.page_link(page_file(path), label=QUESTIONS[path].title, help="", query_params=parameters)
                share.link_line(link, where="all-")


page.lead(
    "Runs are kept until you delete them. They continue when you close this page, and can be resumed after a crash."
)
runs = session.workspace().runs(session.owner())
if runs:
    page.verdict(questions.in_short(runs), ())
downloads.run_again()
links_that_work()
has_comparisons = compared.listed(PER_PAGE, expanded=not runs)
if not runs:
    if not has_comparisons:
        page.empty("No runs yet. Start one on a page under “Questions”; it is listed here.")
    st.stop()
listed = questions.chosen(runs)
if not listed:
    page.empty("No run has all of these words. Delete one of them to see more.")
for run in listed[page.part_shown(len(listed), PER_PAGE, key="runs-page")]:
    with st.container(border=True, key=f"run-{run.id}"):
        jobs.follow(run, show)
