"""A link to a comparison opens its page, read-only, with its two files of predictions and no others."""

import pytest
import streamlit as st

from tests.pages.conftest import charts, plainly, texts
from tests.pages.test_matched_subsets import made, settled, store, two
from tests.pages.test_shared_run import open_link
from touchstone.core.data.predictions.upload import sample
from touchstone.core.workspace import LOCAL_OWNER, View
from touchstone.core.workspace.access import DEAD
from touchstone.ui.shell import background

__all__ = ["open_link", "two"]  # fixtures
pytestmark = pytest.mark.usefixtures("links_open")
EPSILON = "0.02"


@pytest.fixture
def shared(open_page, workspace, two) -> tuple[object, str, View]:
    """The owner's page of a comparison, a link to it that was made there, and what the link shows."""
    store(workspace, "hidden.tsv", made(400, 0.3, 7))
    owner = settled(open_page("matched_subsets", **two, epsilon=EPSILON))
    token = token_of(owner)
    st.cache_resource.clear()  # the visitor's answers are not the owner's, kept
    return owner, token, workspace.links(LOCAL_OWNER)[0].shows


def token_of(owner, stem: str = "matched_subsets") -> str:
    """The token of a link that is made now, by the menu of its owner's page."""
    owner.button(key=f"link-{stem}").click().run()
    return next(one.value for one in owner.code if "shared_run?t=" in one.value).split("t=")[1].split("&")[0]


def said(app) -> list[str]:
    return [one.value for one in app.metric]


def test_a_link_shows_the_comparison_as_its_owner_sees_it(open_link, shared, two):
    owner, token, shown = shared
    assert set(shown.predictions) == set(two.values())
    assert {side: shown.settings[side] for side in two} == {side: [name] for side, name in two.items()}
    assert shown.settings["epsilon"] == [EPSILON]
    assert shown.settings.keys() - two.keys() == {
        "metric",
        "positive_class",
        "epsilon",
        "by",
        "method",
        "repeats",
        "order",
        "scale",
        "bins",
        "nbins",
        "seed",
    }
    seen = settled(open_link(token, **shown.settings))
    assert said(seen) == said(owner) != []
    assert charts(seen) == charts(owner) != []
    assert not seen.error
    assert "new.tsv against old.tsv" in plainly(seen)
    labels = {button.label for button in seen.get("download_button")}
    assert {"Samples (TSV)", "Comparison (Parquet)", "Roles (JSON)"} <= labels


def test_through_a_link_no_file_is_brought_chosen_swapped_or_deleted(open_link, shared):
    owner, token, shown = shared
    changing = {"correct-reference", "another-reference", "delete-reference", "swap"}
    assert changing <= {one.key for one in owner.button}
    seen = settled(open_link(token, **shown.settings))
    assert not seen.get("file_uploader")
    assert [one.key for one in seen.button] == []
    assert not [one for one in seen.selectbox if (one.key or "").startswith("stored-")]
    assert "hidden" not in plainly(seen)


def test_where_the_new_set_is_the_larger_one_a_link_offers_nothing_to_turn(open_page, open_link, workspace, two):
    turned = {"reference": two["target"], "target": two["reference"]}
    owner = settled(open_page("matched_subsets", **turned))
    assert "larger-first" in {one.key for one in owner.button}
    token = token_of(owner)
    seen = settled(open_link(token))
    assert said(seen) == said(owner) != []
    assert [one.key for one in seen.button] == []


def test_the_comparison_keeps_its_files_and_settings_whatever_the_address_says(open_link, workspace, shared):
    _, token, shown = shared
    hidden = next(one for one in workspace.prediction_files(LOCAL_OWNER) if one.name == "hidden.tsv")
    seen = settled(open_link(token))
    before = said(seen)
    assert before
    for change in (
        {"epsilon": "0.1"},
        {"target": hidden.fingerprint},
        {"reference": "digits_own"},
        {"seed": ""},
        {"reference": shown.settings["target"][0], "target": shown.settings["reference"][0]},
    ):
        seen.query_params.update(change)
        settled(seen.run().run())
        assert seen.number_input(key="epsilon").value == float(EPSILON)
        assert said(seen) == before, change
    for name in ("epsilon", "repeats", "seed", "nbins"):
        assert seen.number_input(key=name).disabled
    assert {one.example for one in workspace.prediction_files(LOCAL_OWNER)} == {None}, "no example was made"


def test_what_only_changes_the_look_stays_free(open_page, open_link, workspace):
    models = ("first", "second")
    two = {
        side: store(workspace, f"{side}.tsv", made(600, fall, seed, models=models), None)
        for side, fall, seed in (("reference", 0.0, 1), ("target", 0.2, 5))
    }
    owner = settled(open_page("matched_subsets", **two, model="second"))
    token = token_of(owner)
    assert "model=second" in next(one.value for one in owner.code if token in one.value)
    seen = settled(open_link(token, model="second"))
    assert said(seen) == said(owner)
    choice = seen.segmented_control(key="model")
    assert (choice.value, choice.disabled) == ("second", False)
    choice.set_value("first")
    settled(seen.run())
    assert said(seen) != said(owner)
    assert not seen.segmented_control(key="subset").disabled


def test_one_file_on_both_sides_is_shown_with_its_parts(open_page, open_link, workspace):
    both = store(workspace, "both.tsv", sample(), None)
    owner = settled(open_page("matched_subsets", reference=both, target=both))
    owner.button(key="link-matched_subsets").click().run()
    [link] = workspace.links(LOCAL_OWNER)
    parts = {name: value for name, [value] in link.shows.settings.items() if name.endswith("_set")}
    assert parts.keys() == {"reference_set", "target_set"}
    token = token_of(owner)
    seen = settled(open_link(token))
    assert said(seen) == said(owner) != []
    assert f"both.tsv · {parts['target_set']} against both.tsv · {parts['reference_set']}" in plainly(seen)
    assert seen.segmented_control(key="target_set").disabled


@pytest.mark.parametrize("end", ["revoked", "deleted"])
def test_a_link_that_was_taken_back_or_whose_file_is_gone_is_dead(end, open_link, workspace, shared):
    _, token, shown = shared
    seen = settled(open_link(token))
    assert said(seen)
    if end == "revoked":
        workspace.revoke_link(LOCAL_OWNER, workspace.links(LOCAL_OWNER, shown)[0].id)
    else:
        workspace.delete_predictions(LOCAL_OWNER, shown.settings["target"][0])
    seen.run()
    assert DEAD in texts(seen)
    assert not [*seen.metric, *charts(seen), *seen.dataframe]
    assert texts(open_link(token)) == texts(open_link("nonsense"))


def test_the_menu_lists_the_links_to_both_files_and_revokes_them(open_page, workspace, two, shared):
    _, _, shown = shared
    [link] = workspace.links(LOCAL_OWNER, shown)
    app = settled(open_page("matched_subsets", **two))
    assert "with other settings, works until" in texts(app), "the epsilon of the link is another one"
    assert not [one for one in app.code if "shared_run" in one.value]
    app.button(key=f"revoke-{link.id}").click().run()
    assert not workspace.links(LOCAL_OWNER, shown)[0].works
    assert "with other settings, revoked" in texts(app)


def test_what_is_not_compared_has_no_link(open_page, workspace, two, monkeypatch):
    assert "nothing to send" in plainly(open_page("matched_subsets", reference=two["reference"]))
    foreign = store(workspace, "foreign.tsv", made(100, 0.0, 1).replace(b"cat", b"x").replace(b"dog", b"y"))
    refused = open_page("matched_subsets", reference=foreign, target=foreign)
    assert "nothing to send" in plainly(refused)
    monkeypatch.setattr(background, "answer", lambda *_, **__: None)
    under_way = open_page("matched_subsets", **two)
    assert "There is no result to send yet" in plainly(under_way)
    for app in (refused, under_way):
        assert not [one for one in app.button if one.key == "link-matched_subsets"]
