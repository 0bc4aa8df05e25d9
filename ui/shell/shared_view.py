"""What does a link open? The page of its result, with what the link settles.

That is the data set and the whole plan of a run, or what a view rests on and all that settles it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from touchstone.core.workspace import events
from touchstone.core.workspace.errors import WorkspaceError
from touchstone.core.workspace.links import DEAD, DeadLink, View, link_id
from touchstone.core.workspace.run import Run
from touchstone.core.workspace.sharing import SharedWorkspace
from touchstone.ui.data import choice as data_choice
from touchstone.ui.shell import addresses, questions, session, visitors
from touchstone.ui.shell.page import error, plain

PATH = addresses.SHARED
"""The address of every link."""
TOKEN = addresses.TOKEN
"""The parameter of that address that holds the token."""
SECONDS_BETWEEN_QUESTIONS = 2.0
"""How often an open tab asks whether its link still works."""
READ_ONLY = "Shared by a link: you can explore this result and download its tables, but not change it."
_SETTLED, _LOOKED_AT, _NOTED = "settled_address", "looked_at_beside_it", "noted_link"
SECONDS_BEFORE_SETTLING = 0.2


@dataclass(frozen=True)
class Opened:
    """A link that works: what it shows, on which page, with which parameters of the address."""

    through: SharedWorkspace
    page: str
    title: str
    parameters: Mapping[str, list[str]]


def asked_for() -> bool:
    """Whether the address holds a token, or nobody gets an answer here without one."""
    return TOKEN in st.query_params or visitors.only()


def parameters_of(shown: Run | View) -> tuple[str, dict[str, list[str]]] | None:
    """The page of a result and the parameters that lead there; None for a run that no link can show."""
    if isinstance(shown, View):
        return shown.page, {name: list(values) for name, values in shown.settings.items()}
    led = questions.address_of(shown)
    if led is None or not questions.is_result(shown):
        return None
    return led[0], {data_choice.ADDRESS: [shown.fingerprint], **led[1]}


def title_of(shown: Run | View) -> str:
    """What is said to be shown: the data set of a run, or what a view was called when its link was made."""
    return shown.title if isinstance(shown, View) else data_choice.title_of(shown)


def opened() -> Opened | None:
    """The link whose token the address holds, through which this session then looks.

    None where it does not work, whatever the reason. Raises WorkspaceError where nobody can say: a database that is
    busy or damaged makes no link a dead one.
    """
    token = st.query_params.get(TOKEN, "")
    try:
        through = session.shared(token)
        session.look_through(through)
        shown = through.shown(through.owner)
        led = parameters_of(shown)
        if led is not None:
            _note(token, works=True)
            session.look_through(through, fixed=led[1])
            return Opened(through, led[0], title_of(shown), led[1])
    except DeadLink:
        pass
    _note(token, works=False)
    session.look_through(None)
    return None


def _note(token: str, *, works: bool) -> None:
    """Have it written down what came of a link in this session, once, and again when it has ended meanwhile."""
    came = (link_id(token), works)
    if st.session_state.get(_NOTED) != came:
        st.session_state[_NOTED] = came
        events.note("link_asked", link=events.short(came[0]), works=works)


def settle(link: Opened, page: Any) -> bool:
    """Have the address ask for the result of the link, whatever else it asks for; gives whether the page can be drawn.

    Controls that were drawn hold on to their part of the address: where the browser went back to another one, nothing
    is drawn once, which makes them let go.
    """
    link_owner, settled = st.session_state.get(_SETTLED, ("", {}))
    drawn = link_owner == link.through.owner
    ours = settled if drawn else {}
    if all(asked in (link.parameters[key], ours.get(key)) for key, asked in _asked(link).items()):
        return True
    rest = {key: st.query_params.get_all(key) for key in st.query_params if key not in link.parameters}
    if not drawn:
        st.switch_page(page, query_params={**st.session_state.pop(_LOOKED_AT, rest), **link.parameters})
    _soon_again()
    del st.session_state[_SETTLED]
    st.session_state[_LOOKED_AT] = rest
    return False


@st.fragment(run_every=SECONDS_BEFORE_SETTLING)
def _soon_again() -> None:
    if _SETTLED not in st.session_state:
        st.rerun()


def settled(link: Opened) -> None:
    """Remember how the address says the same once the page was drawn: controls leave out of it what is usual."""
    st.session_state[_SETTLED] = (link.through.owner, _asked(link))


def _asked(link: Opened) -> dict[str, list[str]]:
    return {key: st.query_params.get_all(key) for key in link.parameters}


def head(link: Opened) -> None:
    """What is said above a shared result, in the place of the controls of the owner."""
    st.markdown(f"**{plain(link.title)}**", width="content")
    st.badge("Read-only", icon=":material/visibility:", color="gray", help=READ_ONLY)


@st.fragment(run_every=SECONDS_BETWEEN_QUESTIONS)
def watch(link: Opened) -> None:
    """Clear the page soon after its link was taken back; what else is wrong stands where it is looked for."""
    try:
        link.through.shown(link.through.owner)
    except DeadLink:
        st.rerun()
    except WorkspaceError as problem:
        error(problem)


def dead() -> None:
    """What every link that does not work shows."""
    st.error(DEAD, title="This link does not work", icon=":material/link_off:")
