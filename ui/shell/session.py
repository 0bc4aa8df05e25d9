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

from touchstone.core.workspace import LOCAL_OWNER, SharedWorkspace, Workspace, WorkspaceError
from touchstone.core.workspace.access import DeadLink, SignIn
from touchstone.core.workspace.engine.runner import Engine
from touchstone.core.workspace.engine.runner import engine as process_engine
from touchstone.core.workspace.workspace import READ_ONLY
from touchstone.ui.shell import only_links, sign_in

NOT_SIGNED_IN = "You are not signed in, or your session has expired. Sign in again."
SECONDS_BELIEVED = 2.0
"""So long a link is taken to work that was found to work."""
_SHARED, _OWN = "shared_view", "own_view"
Given = ParamSpec("Given")
Answer = TypeVar("Answer")


class NotSignedIn(WorkspaceError):
    """Nobody is signed in, or the sign-in was ended, maybe in another browser."""

    def __init__(self) -> None:
        super().__init__(NOT_SIGNED_IN)


@dataclass(eq=False)
class _Looker:
    """Who looks, and by which link or sign-in and in which browser.

    `fixed` are the parameters of the address that a link has settled; `which` is what the sign-in goes by.
    """

    owner: str
    shared: SharedWorkspace | None = None
    fixed: frozenset[str] = frozenset()
    which: str | None = None
    browser: str = ""
    asked: float = float("-inf")

    def check(self) -> None:
        """Raises DeadLink or NotSignedIn where link or sign-in has ended, as was asked a moment ago or is now."""
        if time.monotonic() - self.asked <= SECONDS_BELIEVED:
            return
        if self.shared is not None:
            self.shared.shown(self.shared.owner)
        elif self.which is not None and not sign_in_goes_on(self.owner, self.which, browser=self.browser):
            raise NotSignedIn
        self.asked = time.monotonic()


_bound: ContextVar[_Looker | None] = ContextVar("view", default=None)


def _view() -> _Looker:
    """Who looks: whom work beside the page was begun for, else whoever this session belongs to.

    Raises DeadLink for whoever looks through a link that does not work any more, and NotSignedIn for who must sign in.
    """
    view = _bound.get() or st.session_state.get(_SHARED) or _own()
    view.check()
    return view


def _own() -> _Looker:
    """Whoever signed in here; where nobody does, the local owner; where only links are answered, nobody."""
    if only_links.only():
        raise DeadLink
    if not sign_in.is_set_up():
        return _Looker(LOCAL_OWNER)
    who = sign_in.owner()
    if who is None:
        raise NotSignedIn
    known, asked_by = st.session_state.get(_OWN), (who, sign_in.this_one())
    if known is None or (known.owner, known.which) != asked_by:
        known = st.session_state[_OWN] = _Looker(who, which=asked_by[1], browser=sign_in.browser())
    return known


def sign_in_goes_on(owner: str, which: str, *, browser: str) -> bool:
    """Whether a sign-in has not ended; that it was used, and in which browser, is noted."""
    return process_engine().workspace.follow_sign_in(owner, which, browser=browser)


def must_sign_in() -> bool:
    """Whether somebody has to sign in before there is anything of their own to see."""
    try:
        _own().check()
    except (NotSignedIn, DeadLink):
        return True
    return False


def sign_out(which: str | None = None) -> None:
    """End a sign-in of whoever is signed in here, this one if not said, also for whoever has a copy of its cookie."""
    process_engine().workspace.sign_out(_own().owner, which or sign_in.this_one())


def other_sign_ins() -> list[SignIn]:
    """The sign-ins of whoever is signed in here that go on elsewhere, the last used first."""
    this = sign_in.this_one()
    return [each for each in process_engine().workspace.sign_ins(_own().owner) if each.id != this]


def bound(call: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """The same call, for whoever looks now: in a thread of its own there is no session to ask.

    It raises DeadLink or NotSignedIn, and gives nothing, once the link or the sign-in has ended.
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
        except (DeadLink, NotSignedIn):
            st.rerun()
        else:
            draw(*args, **kwargs)

    return st.fragment(while_seen)


def owner() -> str:
    """The owner whose data sets and runs are shown. Raises NotSignedIn where nobody is signed in."""
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
