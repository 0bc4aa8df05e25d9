"""An address that asks for what is not there is refused; one that got what it asked for is not refused later."""

from streamlit.testing.v1 import AppTest

from touchstone.ui.forms.controls import One, check_address


def page(control, check):
    import streamlit as st

    names = st.segmented_control("Schemes", ["a", "a and b"], default="a and b", key="schemes").split(" and ")
    about = control("about", "About", {name: name.upper() for name in names}, names[0])
    check([about])
    st.markdown(f"about {about.draw()}")


def opened(**parameters: str) -> AppTest:
    app = AppTest.from_function(page, args=(One, check_address), default_timeout=90)
    for name, value in parameters.items():
        app.query_params[name] = value
    return app.run()


def test_an_address_that_asks_for_what_is_not_there_is_refused():
    app = opened(about="C")
    assert "It asks for about: C" in app.error[0].value
    assert not app.markdown


def test_what_another_choice_on_the_page_took_away_is_no_fault_of_the_address():
    app = opened(about="B")
    assert app.markdown[0].value == "about b"
    app.segmented_control(key="schemes").set_value("a").run()
    assert not app.error
    assert app.markdown[0].value == "about a"
