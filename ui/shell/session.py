"""Whose things does this browser see? The local owner's; those of whoever signed in; or the one result of a link.

Pages ask here for the owner and the workspace and check nothing themselves: what is not this owner's is absent from
this workspace, and through a link it is a workspace of one result that nobody can write to. Whether the link still
works is asked again with every question, also of parts of a page and files that were made ready while it did.
"""

import time
from collections.abc import Callable, Collection
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec, TypeVar

import streamlit as st

from core.workspace.engine.runner import Engine
from core.workspace.engine.runner import engine as process_engine
from core.workspace.errors import WorkspaceError
from core.workspace.links import DeadLink
from core.workspace.sharing import READ_ONLY, SharedWorkspace
from core.workspace.workspace import LOCAL_OWNER, Workspace
from ui.shell import sign_in

NOT_SIGNED_IN = "You are not signed in, or your session has expired. Sign in again."
SECONDS_BELIEVED = 2.0
"""So long a link is taken to work that was found to work."""
_SHARED = "shared_view"
Given = ParamSpec("Given")
Answer = TypeVar("Answer")


@dataclass(eq=False)
class _Looker:
    """Who looks, and through which link; `fixed` are the parameters of the address that a link has settled."""

    owner: str
    shared: SharedWorkspace | None = None
    fixed: frozenset[str] = frozenset()
    asked: float = float("-inf")

    def check(self) -> None:
        """Raises DeadLink where the link does not work any more, as it was asked a moment ago or is asked now."""
        if self.shared is not None and time.monotonic() - self.asked > SECONDS_BELIEVED:
            self.shared.shown(self.shared.owner)
            self.asked = time.monotonic()


_bound: ContextVar[_Looker | None] = ContextVar("view", default=None)


def _view() -> _Looker:
    """Who looks: whom work beside the page was begun for, else whoever this session belongs to.

    Raises DeadLink for whoever looks through a link that does not work any more.
    """
    view = _bound.get() or st.session_state.get(_SHARED)
    if view is not None:
        view.check()
        return view
    who = sign_in.owner() if sign_in.is_set_up() else LOCAL_OWNER
    if who is None:
        raise WorkspaceError(NOT_SIGNED_IN)
    return _Looker(who)


def bound(call: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """The same call, for whoever looks now: in a thread of its own there is no session to ask.

    It raises DeadLink, and gives nothing, once the link that was looked through does not work any more.
    """
    view = _view()

    def for_that_view(*args: Given.args, **kwargs: Given.kwargs) -> Answer:
        view.check()
        before = _bound.set(view)
        try:
            return call(*args, **kwargs)
        finally:
            _bound.reset(before)

    return for_that_view


def look_through(link: SharedWorkspace | None, *, fixed: Collection[str] = ()) -> None:
    """Have this session see what a link shows, or what is its own again; the router says so before any page is run."""
    if link is None:
        st.session_state.pop(_SHARED, None)
    else:
        st.session_state[_SHARED] = _Looker(link.owner, link, frozenset(fixed))


def fragment(draw: Callable[Given, None]) -> Callable[Given, None]:
    """A part of a page that is drawn anew by itself, of what it was given: only while it may still be seen.

    Streamlit keeps what the part was given; once the link does not work any more the whole page is drawn in its place.
    """

    @wraps(draw)
    def while_seen(*args: Given.args, **kwargs: Given.kwargs) -> None:
        try:
            _view()
        except DeadLink:
            st.rerun()
        else:
            draw(*args, **kwargs)

    return st.fragment(while_seen)


def owner() -> str:
    """The owner whose data sets and runs are shown. Raises WorkspaceError where nobody is signed in."""
    return _view().owner


def workspace() -> Workspace | SharedWorkspace:
    """What is stored: data sets, runs and their rows; through a link, as much of it as the link shows."""
    return _view().shared or process_engine().workspace


def engine() -> Engine:
    """What works runs off; shared by all sessions of this process, its workers started when the first run is.

    Raises WorkspaceError for whoever looks through a link.
    """
    if read_only():
        raise WorkspaceError(READ_ONLY)
    return process_engine()


def shared(token: str) -> SharedWorkspace:
    """What a link with this token shows. Raises DeadLink where it does not work, or no longer."""
    return SharedWorkspace(process_engine().workspace, token)


def hold(parameter: str, value: str | None) -> None:
    """Have the address say this, or nothing of it: the navigation drops what no widget holds."""
    if value is None:
        st.query_params.pop(parameter, None)
    elif st.query_params.get(parameter) != value:
        st.query_params[parameter] = value


def read_only() -> bool:
    """Whether this session looks through a link, so that nothing can be started, kept or changed."""
    return _view().shared is not None


def is_fixed(parameter: str) -> bool:
    """Whether a parameter of the address is settled by the link that this session looks through."""
    return parameter in _view().fixed
