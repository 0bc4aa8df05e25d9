"""How does somebody else see the very same? By the address of this view, or by the command that computes it."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from core.trials import Plan, to_json
from ui import data_choice

_OFFER = "share_offer"


@dataclass(frozen=True)
class Offer:
    """What a page shows: its plan, and every parameter of the address that leads to it, defaults included.

    `plan` is None where no command computes what is shown.
    """

    plan: Plan | None
    parameters: Mapping[str, Sequence[str]]


def offer(plan: Plan | None, parameters: Mapping[str, Sequence[str]]) -> None:
    """Say what this page shows, so that the header can offer it as an address and as a command."""
    st.session_state[_OFFER] = Offer(plan, parameters)


def add(key: str, written: Sequence[str]) -> None:
    """Say what else of the address leads to what this page shows, after its offer."""
    offered: Offer | None = st.session_state.get(_OFFER)
    if offered is not None:
        st.session_state[_OFFER] = replace(offered, parameters={**offered.parameters, key: written})


def clear() -> None:
    """Forget what the page drawn before this one offered."""
    st.session_state.pop(_OFFER, None)


def menu(path: str, *, of_data_set: bool = True) -> None:
    """The menu that stands at the top right of every page, for the page just drawn."""
    choice = data_choice.current() if of_data_set else None
    offered: Offer | None = st.session_state.get(_OFFER)
    with st.popover("Share", icon=":material/link:", help="Copy address · copy as command"):
        if choice is None and offered is None:
            st.markdown("There is nothing to share on this page.")
            return
        about = {data_choice.ADDRESS: choice.address} if choice else {}
        st.caption(f"Address: opens {'this very result' if offered else 'this page for this data set'}")
        st.code(address(path, {**about, **(offered.parameters if offered else {})}), language=None, wrap_lines=True)
        if offered and offered.plan and choice:
            st.caption("Command: computes it in a terminal, in Touchstone's folder")
            st.code(command(offered.plan, choice.address), language="bash", wrap_lines=True)


def address(path: str, parameters: Mapping[str, str | Sequence[str]]) -> str:
    """The whole address of a view; defaults are written out, so that it means the same when a default changes."""
    here = urlsplit(st.context.url or "")
    root = here.path.rsplit("/", 1)[0]
    return urlunsplit((here.scheme, here.netloc, f"{root}/{path}", urlencode(parameters, doseq=True), ""))


def command(plan: Plan, data: str) -> str:
    """The command that computes a plan on a stored data set."""
    return shlex.join(["python", "-m", "core", "run", "--data", data, to_json(plan)])
