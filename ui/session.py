"""Whose things does this browser see? The local owner's; those of whoever signed in; or the one run of a link.

Pages ask here for the owner and the workspace and check nothing themselves: what is not this owner's is absent from
this workspace, and through a link it is a workspace of one run that nobody can write to.
"""

from collections.abc import Callable, Collection
from contextvars import ContextVar
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

import streamlit as st

from core.workspace.errors import WorkspaceError
from core.workspace.runner import Engine
from core.workspace.runner import engine as process_engine
from core.workspace.sharing import READ_ONLY, SharedWorkspace
from core.workspace.workspace import LOCAL_OWNER, Workspace
from ui import sign_in

NOT_SIGNED_IN = "You are not signed in, or not any more. Sign in again."
_SHARED = "shared_view"
Given = ParamSpec("Given")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class _View:
    """Who looks, and through which link; `fixed` are the parameters of the address that a link has settled."""

    owner: str
    shared: SharedWorkspace | None = None
    fixed: frozenset[str] = frozenset()


_bound: ContextVar[_View | None] = ContextVar("view", default=None)


def _view() -> _View:
    """Who looks: whom work beside the page was begun for, else whoever this session belongs to."""
    view = _bound.get() or st.session_state.get(_SHARED)
    if view is not None:
        return view
    who = sign_in.owner() if sign_in.is_set_up() else LOCAL_OWNER
    if who is None:
        raise WorkspaceError(NOT_SIGNED_IN)
    return _View(who)


def bound(call: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """The same call, for whoever looks now: in a thread of its own there is no session to ask."""
    view = _view()

    def for_that_view(*args: Given.args, **kwargs: Given.kwargs) -> Answer:
        before = _bound.set(view)
        try:
            return call(*args, **kwargs)
        finally:
            _bound.reset(before)

    return for_that_view


def look_through(link: SharedWorkspace | None, *, fixed: Collection[str] = ()) -> None:
    """Have this session see the run of a link, or what is its own again; the router says so before any page is run."""
    if link is None:
        st.session_state.pop(_SHARED, None)
    else:
        st.session_state[_SHARED] = _View(link.owner, link, frozenset(fixed))


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
    """What a link with this token shows. Raises WorkspaceError where it does not work, or no longer."""
    return SharedWorkspace(process_engine().workspace, token)


def read_only() -> bool:
    """Whether this session looks through a link, so that nothing can be started, kept or changed."""
    return _view().shared is not None


def is_fixed(parameter: str) -> bool:
    """Whether a parameter of the address is settled by the link that this session looks through."""
    return parameter in _view().fixed
