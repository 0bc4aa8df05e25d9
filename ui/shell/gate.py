"""What does somebody see before signing in, and where is the way out? One sentence with a button; and a button."""

from pathlib import Path

import streamlit as st

from ui.shell import session, sign_in
from ui.shell.page import or_toast, plain

LOGO = Path(__file__).with_name("logo.svg")
ABOUT = "Can this accuracy be trusted? Five published methods answer this, from the files that you have."
SENTENCE = "Sign in to see your data sets and results."


def closed() -> None:
    """All that somebody sees who is not signed in."""
    st.space("large")
    with st.container(border=True, key="gate", horizontal_alignment="center", gap="medium"):
        st.space("small")
        st.image(str(LOGO), width=245, alt="Touchstone")
        st.markdown(ABOUT, text_alignment="center")
        st.caption(SENTENCE, text_alignment="center")
        for name in sign_in.providers():
            label = "Sign in" if name is None else f"Sign in with {plain(name)}"
            st.button(label, type="primary", key=f"sign-in-{name}", on_click=st.login, args=(name,))
        st.space("small")


def way_out() -> None:
    """Who is signed in, and the way out, at the foot of the sidebar."""
    called = st.user.get("name") or st.user.get("email") or st.user.get("sub")
    with st.sidebar:
        st.caption(f"Signed in as {plain(called)}")
        st.button("Sign out", icon=":material/logout:", type="tertiary", key="sign-out", on_click=_sign_out)


@or_toast
def _sign_out() -> None:
    """End this sign-in for whoever has its cookie, and then the browser's own."""
    session.sign_out()
    st.logout()
