"""Which page is it? Every session runs this file: the navigation, the question, the data-set control, the page.

Worker processes import the main script, and under Streamlit that is this file: so it does nothing, and imports nothing
of Streamlit, unless it is the main script itself.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from touchstone.core.questions import FIRST, QUESTIONS, Question, with_page

if TYPE_CHECKING:
    from streamlit.navigation.page import Page

    from touchstone.ui.shell.share import Opened

ROOT = Path(__file__).resolve().parents[2]
ABOUT = (
    "**Touchstone** says whether a test accuracy can be trusted. It runs on this machine and sends nothing anywhere."
)


def main() -> None:
    """Draw what every page has, and then the page; for whoever is not signed in nothing but the gate."""
    import streamlit as st

    from touchstone import core
    from touchstone.core.registry import about_plugins
    from touchstone.core.workspace import WorkspaceError
    from touchstone.ui import page_file
    from touchstone.ui.shell import gate, serving, session, share, sign_in
    from touchstone.ui.shell.page import error, plain

    def declare(question: Question) -> "Page":
        about = {"title": question.name, "icon": question.icon, "help": question.title}
        return st.Page(page_file(question.stem), url_path=question.stem, default=question.stem == FIRST, **about)

    st.set_page_config(
        page_icon=str(ROOT / "ui" / "shell" / "favicon.png"),
        layout="wide",
        initial_sidebar_state=240,
        menu_items={"About": f"{ABOUT} Version {core.version()}. {plain(about_plugins())}".strip()},
    )
    if not serving.is_launched():
        st.error(serving.NOT_LAUNCHED)
        return
    session.look_through(None)
    link, trouble, closed = None, None, sign_in.is_set_up()
    try:
        closed = session.must_sign_in()
        link = share.opened() if share.asked_for() else None
    except WorkspaceError as problem:
        trouble = problem
        session.look_through(None)
    shared_file = page_file(link.page if link else share.PATH)
    groups = {"": [st.Page(shared_file, title="Shared result", url_path=share.PATH, visibility="hidden")]}
    for question in with_page().values():
        groups.setdefault(question.group, []).append(declare(question))
    alone = closed or share.asked_for()
    page = st.navigation(groups, position="hidden" if alone else "sidebar")
    st.set_page_config(page_title=f"{page.title} · Touchstone")
    try:
        if trouble is not None:
            error(trouble)
        elif page.url_path == share.PATH:
            through_link(page, link) if link else page.run()
        elif share.asked_for():
            share.dead()
        elif closed:
            gate.closed()
        else:
            own(page)
    except WorkspaceError as problem:
        error(problem)


def own(page: "Page") -> None:
    """A page with its question, the data-set control and the menus, for the owner of what is shown."""
    import streamlit as st

    from touchstone.ui.data import choice as data_choice
    from touchstone.ui.shell import downloads, gate, share, sign_in, upload_bounds

    st.logo(str(ROOT / "ui" / "shell" / "logo.svg"), size="large")
    if sign_in.is_set_up():
        gate.way_out()
    share.clear()
    downloads.clear()
    question = QUESTIONS[page.url_path or FIRST]
    with st.container(horizontal=True, vertical_alignment="center", key="header"):
        title(question)
        with st.container(horizontal=True, width="content"):
            if question.about_data_set:
                data_choice.control()
            menus = st.container(horizontal=True, width="content")
    if (refusal := upload_bounds.refused()) is not None:
        st.toast(refusal, icon=":material/error:", duration="infinite")
    page.run()
    with menus:
        share.menu(page.url_path, of_data_set=question.about_data_set)
        downloads.menu()


def title(question: Question) -> None:
    """The question: a long one takes two lines, so that what stands beside it stays beside it."""
    import streamlit as st

    with st.container(horizontal=True, vertical_alignment="center", width="stretch"):
        st.title(question.title, anchor=False)


def through_link(page: "Page", link: "Opened") -> None:
    """The page of a shared result, for whoever has the link to it."""
    import streamlit as st

    from touchstone.ui.shell import downloads, share

    if not share.settle(link, page):
        return
    share.clear()
    downloads.clear()
    with st.container(horizontal=True, vertical_alignment="center", key="header"):
        title(QUESTIONS[link.page])
        share.head(link)
        menus = st.container(horizontal=True, width="content")
    share.watch(link)
    try:
        page.run()
        with menus:
            share.menu_of_link()
            downloads.menu()
    finally:
        share.settled(link)


if __name__ == "__main__":
    try:
        main()
    finally:  # pages are also ended by st.stop and st.rerun
        from touchstone.ui.shell import memory

        memory.settle()
