"""What does a page show whose sign-in has ended, and where is the way out? A sentence with a button; and a button."""

import streamlit as st

from touchstone.core.evaluate.wording import plural
from touchstone.ui.shell import page, session, sign_in

ABOUT_SIGN_INS = "Pages of a sign-in that you end close at their next step. A sign-in lasts 30 days at most."
ONLY_HERE = "You are signed in here, and nowhere else."


def closed() -> None:
    """All that is seen on a page that was open when its sign-in ended; `signed_in` lets nobody else open one."""
    st.space("large")
    with st.container(border=True, key="gate", horizontal_alignment="center", gap="medium"):
        st.space("small")
        st.image(str(sign_in.LOGO), width=245, alt="Touchstone")
        st.markdown(sign_in.ABOUT, text_alignment="center")
        st.caption(sign_in.SENTENCE, text_alignment="center")
        for name in sign_in.providers():
            label = "Sign in" if name is None else f"Sign in with {page.plain(name)}"
            st.button(label, type="primary", key=f"sign-in-{name}", on_click=st.login, args=(name,))
        st.space("small")


def way_out() -> None:
    """Who is signed in, where else, and the way out, at the foot of the sidebar."""
    called = st.user.get("name") or st.user.get("email") or st.user.get("sub")
    with st.sidebar:
        st.caption(f"Signed in as {page.plain(called)}")
        with st.popover("Sign-ins", icon=":material/devices:", type="tertiary"):
            _sign_ins()
        st.button("Sign out", icon=":material/logout:", type="tertiary", key="sign-out", on_click=_sign_out)


def _sign_ins() -> None:
    """Where else this person is signed in, with the way to end it."""
    others, end = session.other_sign_ins(), page.or_toast(session.sign_out)
    st.markdown(f"You are signed in here and in {plural(len(others), 'other browser')}." if others else ONLY_HERE)
    for other in others:
        browser = page.plain(other.browser) or "A browser"
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"{browser}, since {page.day(other.began)}, last used {page.day(other.used)}", width="stretch")
            st.button("End", key=f"end-{other.id}", type="tertiary", on_click=end, args=(other.id,))
    st.caption(ABOUT_SIGN_INS)


@page.or_toast
def _sign_out() -> None:
    """End this sign-in for whoever has its cookie, and then the browser's own."""
    session.sign_out()
    st.logout()
