"""The parts that pages are made of: the verdict card, a fold, and the menu of what can be taken away."""

import json

from streamlit.testing.v1 import AppTest

MENU = "take-away"


def card() -> None:
    from touchstone.core.evaluate.wording import Verdict
    from touchstone.core.report.parts import KeyNumber
    from touchstone.ui.shell import page

    said = Verdict("Accuracy falls.", "n = 10.", "Next: plan with 75.7 %.", ())
    metrics = [
        KeyNumber("Accuracy", "84.0 %", "[75.7, 89.9]", "Of all.", baseline="majority-class baseline 10.2 %"),
        KeyNumber("rho", ".878", "[.81, .95]"),
    ]
    page.verdict(said, metrics)


def named() -> None:
    from touchstone.core.report.parts import Column, KeyNumber, Table
    from touchstone.ui.shell import answer, page

    page.numbers([KeyNumber("F1", "84.0 %", help="F1 of “*cat*”")])
    answer.table(Table.of("Scores", ("a",), (Column("Score", lambda row: row, "F1 of “*cat*”"),)))


def folded() -> None:
    import streamlit as st

    from touchstone.ui.shell import page

    def draw() -> None:
        st.session_state["drawn"] = st.session_state.get("drawn", 0) + 1
        st.markdown("What is in the fold")

    page.fold("By class", draw, key="by-class")


def many_classes() -> None:
    import numpy as np

    from touchstone.core.data import Dataset
    from touchstone.core.evaluate.confusion_matrix import confusion_matrix
    from touchstone.ui.data_sets import maps

    y, names = np.arange(62) % 31, tuple(f"class {number}" for number in range(31))
    called = np.where(np.arange(62) < 5, (y + 1) % 31, y)
    data = Dataset("many", "tabular", np.arange(62.0)[:, None], y, names, list(map(str, range(62))))
    matrix = confusion_matrix(y, called, names)
    maps.confusions(matrix, "the test set", data, np.arange(62), called, key="matrix")
    maps._select(data, [3])


def files() -> None:
    import pandas as pd
    import streamlit as st

    from touchstone.ui.shell import downloads

    downloads.clear()
    place = st.container()
    frame = pd.DataFrame({"a": [1]})
    if not st.session_state.get("nothing"):
        downloads.offer({"Table": lambda: frame}, stem="first")
        downloads.offer({"Samples": lambda: frame}, stem="second", more=lambda: st.button("Report"))
        downloads.offer({"Samples": lambda: frame}, stem="second", more=lambda: st.button("Report"))
    with place:
        downloads.menu()


def test_a_verdict_card_says_what_to_do_next_and_what_a_number_has_to_beat():
    app = AppTest.from_function(card, default_timeout=60).run()
    assert not app.exception
    assert [text.value for text in app.markdown] == [
        "**Accuracy falls\\.** :small[n \\= 10\\.]",
        "**Next:** plan with 75\\.7 %\\.",
    ]
    assert [metric.value for metric in app.metric] == ["84\\.0 %", "\\.878"]
    assert [text.value for text in app.caption] == ["majority\\-class baseline 10\\.2 %"]


def test_names_are_no_markup_in_tooltips():
    app = AppTest.from_function(named, default_timeout=60).run()
    assert not app.exception
    assert app.metric[0].help == "F1 of “\\*cat\\*”"
    assert json.loads(app.dataframe[0].proto.columns)["Score"]["help"] == "F1 of “\\*cat\\*”"


def test_a_fold_is_computed_only_while_it_is_open():
    app = AppTest.from_function(folded, default_timeout=60).run()
    assert not app.exception
    assert not app.markdown
    assert "drawn" not in app.session_state
    app.session_state["fold-by-class"] = True
    app.run()
    assert [text.value for text in app.markdown] == ["What is in the fold"]
    app.session_state["fold-by-class"] = False
    app.run()
    assert not app.markdown
    assert app.session_state["drawn"] == 1


def test_of_many_classes_a_line_of_the_list_can_be_clicked_for_its_samples():
    app = AppTest.from_function(many_classes, default_timeout=60).run().run()
    assert not app.exception
    assert any("Click a line" in caption.value.replace("\\", "") for caption in app.caption)
    listed = app.dataframe[1].value
    assert listed[["id", "label", "predicted"]].values.tolist() == [["3", "class 3", "class 4"]]


def test_one_menu_has_all_that_a_page_offers_each_once():
    app = AppTest.from_function(files, default_timeout=60).run()
    assert not app.exception
    [menu] = app.get("popover")
    assert menu.proto.popover.label == "Take away"
    titles = [button.label.split(" (")[0] for button in app.get("download_button")]
    assert titles == ["Table"] * 3 + ["Samples"] * 3
    assert [button.label for button in app.button] == ["Report"]


def test_there_is_no_menu_where_nothing_can_be_taken_away():
    app = AppTest.from_function(files, default_timeout=60)
    app.session_state["nothing"] = True
    app.run()
    assert not app.exception
    assert not app.get("popover")


def test_the_format_of_figures_is_remembered():
    app = AppTest.from_function(files, default_timeout=60).run()
    assert app.get("button_group")[0].value == "SVG"
    app.get("button_group")[0].set_value("PNG").run()
    assert app.session_state["figure_format"] == "PNG"
