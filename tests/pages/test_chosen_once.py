"""What was chosen once is one line on every page: it says what is in use, opens its controls, closes with a change."""

import re
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.test_average_case import kept
from tests.pages.test_cluster_folds import PLAN as FOLDS
from tests.pages.test_cluster_folds import uploaded
from tests.pages.test_matched_subsets import made, store, two
from tests.pages.test_own_model import PLAN, upload
from tests.pages.test_shared_comparison import token_of
from tests.pages.test_shared_run import open_link
from touchstone.core.trials import sample_predictions, with_labels
from touchstone.core.workspace import LOCAL_OWNER, Workspace

__all__ = ["open_link", "two", "uploaded"]  # fixtures


def line(app: AppTest) -> tuple[str, str]:
    """The only line of a choice: what it says, without Markdown, and the name that its browser remembers it by."""
    names = ("Model **", "New set **", "Predictions on folds **", "A model of your own **", "Data set **")
    lines = [one for one in app.expander if one.label.startswith(names)]
    assert len(lines) == 1, [one.label for one in app.expander]
    assert not lines[0].proto.expanded, "what was chosen stands open"
    return re.sub(r"[\\*]", "", lines[0].label), lines[0].proto.id


def names_of(app: AppTest) -> set[str]:
    return {str(one.key) for one in [*app.button, *app.selectbox]}


@pytest.mark.parametrize("stem", ["average_case", "test_quality", "guided_tests"])
def test_a_model_is_one_line(open_page, workspace, stem):
    data, model = kept(workspace, "wine")
    app = open_page(stem, data=data.fingerprint, model=model)
    says, _ = line(app)
    assert re.fullmatch(
        r"Model linear · accuracy [\d.]+ % \[.*\] · n = \d+ held-out samples .* · :blue\[change\]", says
    )
    assert {"model-control", "model-delete", "train"} <= names_of(app), "what the line opens has no controls"


def test_another_model_closes_the_line_again(open_page, workspace):
    data, first = kept(workspace, "wine")
    second = kept_too(workspace, data.fingerprint)
    app = open_page("average_case", data=data.fingerprint, model=first)
    before = app.expander[0].label
    app.selectbox(key="model-control").set_value(second).run()
    assert app.expander[0].label != before
    assert line(app)[0].startswith("Model another")


def kept_too(workspace: Workspace, data: str) -> str:
    about = {"dataset_fingerprint": data, "name": "another", "file_name": "another.onnx"}
    return workspace.add_model(LOCAL_OWNER, b"no model", **about)


def test_two_files_are_one_line_and_others_another(open_page, workspace, two):
    app = open_page("matched_subsets", **two)
    assert line(app)[0] == "New set new.tsv against reference set old.tsv · :blue[change]"
    assert {"another-target", "correct-reference", "swap"} <= names_of(app)
    app.button(key="another-target").click().run()
    assert not [one for one in app.expander if one.label.startswith("New set")], "a choice that is still open"
    third = store(workspace, "third.tsv", made(300, 0.3, 9))
    app.run()
    app.selectbox(key="stored-target").select(third).run()
    assert line(app)[0].startswith("New set third.tsv against")


def test_what_is_suspicious_about_files_stands_beside_the_closed_line(open_page, workspace, two):
    never_right = store(workspace, "odd.tsv", made(400, 1.0, 5))
    app = open_page("matched_subsets", reference=two["reference"], target=never_right)
    assert line(app)
    assert [one.value.split(":")[0] for one in app.warning] == ["New set"]
    assert not [one for fold in app.expander for one in fold.warning]


@pytest.mark.usefixtures("links_open")
def test_through_a_link_the_line_tells_details_and_nothing_can_be_changed(open_page, open_link, two):
    seen = open_link(token_of(open_page("matched_subsets", **two)))
    assert line(seen)[0].endswith(":blue[details]")
    assert not names_of(seen) & {"another-target", "correct-reference", "swap"}


def test_predictions_on_folds_are_one_line(open_page, wine, uploaded: Callable[..., str]):
    first = uploaded(wine, FOLDS.folds(wine, "sds_folds", 0), "mine")
    address = {"data": wine.fingerprint, "view": "predictions of your own"}
    app = open_page("cluster_folds", **address, first=first)
    assert line(app)[0] == "Predictions on folds predictions_mine.tsv · :blue[change]"
    assert "another-first" in names_of(app)
    assert not [one for one in open_page("cluster_folds", **address).expander if one.label.startswith("Predictions on")]


def test_a_model_of_ones_own_is_one_line(open_page, workspace, wine):
    mine = workspace.add_predictions(LOCAL_OWNER, with_labels(upload(sample_predictions(PLAN, wine)), wine))
    app = open_page("source_robustness", data=wine.fingerprint, repeats="4", own=mine)
    assert line(app)[0] == "A model of your own mine.tsv · :blue[change]"
    assert {"own-correct", "own-remove"} <= names_of(app)


def test_a_data_set_is_one_line_and_stands_open_where_there_is_none(open_page, wine):
    app = open_page("data_sets", data=wine.fingerprint)
    assert line(app)[0] == "Data set Wine · :blue[choose another]"
    app.button(key="choose-digits").click().run()
    assert line(app)[0].startswith("Data set Handwritten digits")
    gone = open_page("data_sets", data="0" * 64)
    assert next(one for one in gone.expander if one.label.startswith("Data set")).proto.expanded
