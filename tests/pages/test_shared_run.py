"""A link opens the page of its run, read-only and with nothing beside it; one that does not work opens one sentence."""

from collections.abc import Callable
from functools import partial

import pytest
import streamlit as st
from streamlit.runtime.scriptrunner import RerunData
from streamlit.testing.v1 import AppTest, local_script_runner

from tests.pages import test_average_case, test_guided_tests, test_test_quality
from tests.pages.conftest import FOLDS, ROOT, charts, page_hash, plainly, stored_run, texts
from touchstone.core.evaluate.data_set_adequacy.plan import AdequacyPlan
from touchstone.core.questions import of_kind
from touchstone.core.trials import FoldPlan
from touchstone.core.workspace import LOCAL_OWNER, load_plan
from touchstone.core.workspace.access import DEAD
from touchstone.core.workspace.errors import DatabaseBusy
from touchstone.ui.shell import only_links, questions, session


@pytest.fixture
def open_link() -> Callable[..., AppTest]:
    """Open the address of a link with a token."""

    def open_it(token: str | None, **parameters: str | list[str]) -> AppTest:
        app = AppTest.from_file(ROOT / "ui" / "shell" / "router.py", default_timeout=90)
        asked = parameters if token is None else {"t": token, **parameters}
        for name, value in asked.items():
            app.query_params[name] = value
        app._page_hash = page_hash("shared_run")
        for name in FOLDS:
            app.session_state[f"fold-{name}"] = True
        app.run()
        assert not app.exception, app.exception[0].value
        return app

    return open_it


@pytest.fixture
def run(workspace, wine):
    return stored_run(workspace, wine)


def address_of(run) -> dict[str, list[str]]:
    return {"data": [run.fingerprint], **questions.address_of(run)[1]}


def test_a_link_shows_what_its_owner_sees(open_page, open_link, workspace, run):
    owner = open_page("source_robustness", **address_of(run))
    seen = open_link(workspace.create_link(LOCAL_OWNER, run.id), **address_of(run))
    assert [one.value for one in seen.metric] == [one.value for one in owner.metric] != []
    assert charts(seen) == charts(owner) != []
    assert seen.title[0].value == owner.title[0].value
    assert "**Wine**" in texts(seen)


def test_the_seal_stands_on_the_page_and_on_its_link(open_page, open_link, workspace, run):
    seal = workspace.seal(LOCAL_OWNER, run.id)
    for app in (
        open_page("source_robustness", **address_of(run)),
        open_link(workspace.create_link(LOCAL_OWNER, run.id)),
    ):
        assert f"- Seal: {seal}" in plainly(app)


def of_adequacy(workspace, wine):
    return stored_run(workspace, wine, plan=AdequacyPlan(models=("logistic",), n_repeats=3, sizes=(30, 60, 0)))


def of_folds(workspace, wine):
    return stored_run(workspace, wine, plan=FoldPlan(models=("logistic",), n_folds=3))


def of_average_case(workspace, wine):
    _, model = test_average_case.kept(workspace, "wine")
    return test_average_case.stored_run(workspace, "wine", test_average_case.planned(model))


def of_shift(workspace, wine):
    return test_test_quality.stored_shift(workspace, *test_test_quality.clouds(workspace), n_resplits=19)


def of_guided_tests(workspace, wine):
    test_guided_tests.kept(workspace, "wine")
    return test_guided_tests.stored_run(workspace, "wine", test_guided_tests.planned("wine"))


@pytest.mark.parametrize("made", [of_adequacy, of_folds, of_average_case, of_shift, of_guided_tests])
def test_results_of_every_kind_can_be_shown_through_a_link(made, open_page, open_link, workspace, wine):
    run = made(workspace, wine)
    owner = open_page(of_kind(run.kind).page, **address_of(run))
    token = workspace.create_link(LOCAL_OWNER, run.id)
    st.cache_resource.clear()  # the visitor's answers are not the owner's, kept
    seen = open_link(token, **address_of(run))
    for app in (owner, seen):
        test_guided_tests.unfolded(app, "features")  # where all charts of guided tests of a table are
    assert charts(seen) == charts(owner) != []
    assert [one.value for one in seen.metric] == [one.value for one in owner.metric] != []
    assert [one.value for one in seen.error] == []
    assert not seen.get("file_uploader")
    assert not seen.get("page_link"), "other pages are behind the gate"
    assert bool(owner.get("page_link")) == (of_kind(run.kind).page in ("test_quality", "guided_tests"))
    assert not {"run", "model-delete", "train"} & {one.key for one in seen.button}


def test_through_a_link_nothing_can_be_started_changed_or_brought(open_link, workspace, run):
    seen = open_link(workspace.create_link(LOCAL_OWNER, run.id), **address_of(run))
    assert not {"run", "sign-out"} & {one.key for one in seen.button}
    assert not seen.get("file_uploader")
    assert seen.number_input(key="repeats").disabled
    assert not [one for one in seen.selectbox if one.key == "data_control"]


def test_the_run_keeps_its_settings_whatever_the_address_says_later(open_link, workspace, run, monkeypatch):
    switch, put_back = st.switch_page, []
    monkeypatch.setattr(st, "switch_page", lambda *args, **more: (put_back.append(args), switch(*args, **more)))
    seen = open_link(workspace.create_link(LOCAL_OWNER, run.id))
    shown = [one.value for one in seen.metric]
    assert shown
    seen.run()
    assert len(put_back) == 1, "what is settled is left alone"
    for change in ({"repeats": "8"}, {"repeats": ""}, {"data": "0" * 64}, {"models": "Nearest neighbours"}):
        seen.query_params.update(change)
        seen.run().run()
        assert seen.number_input(key="repeats").value == 4
        assert [one.value for one in seen.metric] == shown, change
    seen.query_params = {"t": seen.query_params["t"]}
    seen.run().run()
    assert [one.value for one in seen.metric] == shown


def test_a_part_of_a_page_that_is_drawn_anew_by_itself_dies_with_its_link(open_link, workspace, wine, monkeypatch):
    run = of_average_case(workspace, wine)
    seen = open_link(workspace.create_link(LOCAL_OWNER, run.id), **address_of(run))
    seen.session_state["fold-linked"] = True
    seen.run()
    parts = [part for part, within in seen._fragment_storage._parent_by_id.items() if within is not None]
    assert charts(seen)
    monkeypatch.setattr(session, "SECONDS_BELIEVED", 0.0)
    monkeypatch.setattr(local_script_runner, "RerunData", partial(RerunData, fragment_id_queue=parts))
    assert len(charts(seen.run())) == 2, "one part is drawn by itself, which asks for no run"
    workspace.revoke_link(LOCAL_OWNER, workspace.links(LOCAL_OWNER, run.id)[0].id)
    assert DEAD in texts(seen.run())
    assert not [*charts(seen), *seen.dataframe, *seen.metric]


def test_an_unfinished_run_offers_no_resume(open_link, workspace, wine):
    run = stored_run(workspace, wine, n_trials=5)
    seen = open_link(workspace.create_link(LOCAL_OWNER, run.id), **address_of(run))
    assert "5 of 32 trials" in seen.get("progress")[0].proto.text
    assert not [one for one in seen.button if (one.key or "").startswith(("resume", "cancel"))]


def test_all_links_that_do_not_work_say_the_same(open_link, workspace, run):
    token = workspace.create_link(LOCAL_OWNER, run.id)
    workspace.revoke_link(LOCAL_OWNER, workspace.links(LOCAL_OWNER, run.id)[0].id)
    said = {texts(open_link(asked, **address_of(run))) for asked in (token, "", "nonsense", None)}
    assert len(said) == 1
    assert DEAD in said.pop()


@pytest.mark.parametrize(
    "where", ["touchstone.core.workspace.workspace.Workspace._follow_link", "touchstone.ui.data.choice.title_of"]
)
def test_a_link_that_nobody_can_ask_for_is_not_called_dead(where, open_link, workspace, run, monkeypatch):
    token = workspace.create_link(LOCAL_OWNER, run.id)

    def busy(*_: object) -> None:
        raise DatabaseBusy("Another process keeps the database busy.")

    monkeypatch.setattr(where, busy)
    seen = open_link(token, **address_of(run))
    assert plainly(seen).strip() == "Another process keeps the database busy."
    assert not [*seen.metric, *charts(seen)]


def test_a_link_is_no_key_to_other_pages(open_page, workspace, run):
    token = workspace.create_link(LOCAL_OWNER, run.id)
    app = open_page("runs", t=token)
    assert DEAD in texts(app)
    assert not app.button


@pytest.mark.usefixtures("links_open")
def test_the_menu_makes_lists_and_revokes_links(open_page, workspace, run):
    app = open_page("source_robustness", **address_of(run))
    app.selectbox(key=f"link-days-{run.id}").select(7).run()
    app.button(key=f"link-{run.id}").click().run()
    [link] = workspace.links(LOCAL_OWNER, run.id)
    assert link.expires - link.created == pytest.approx(7 * 24 * 3600, abs=5)
    made = next(one.value for one in app.code if "shared_run?t=" in one.value)
    assert made.startswith("http://192.168.1.20:8502/shared_run?t=")
    assert "repeats=" not in made, "the token finds what the link settles"
    assert "data=" not in made
    assert "cannot be shown again" in texts(app)
    assert "never opened" in texts(app)
    app.button(key=f"revoke-{link.id}").click().run()
    assert not workspace.links(LOCAL_OWNER, run.id)[0].works
    assert "revoked" in texts(app)
    assert not [one for one in app.code if "shared_run" in one.value]


@pytest.mark.usefixtures("links_open")
def test_links_of_a_run_are_on_the_page_of_runs_too(open_page, workspace, run):
    app = open_page("runs")
    app.button(key=f"link-{run.id}").click().run()
    assert [one.works for one in workspace.links(LOCAL_OWNER, run.id)] == [True]
    assert "shared_run?t=" in "".join(one.value for one in app.code)


def test_where_a_link_would_open_for_nobody_else_none_is_offered_but_what_makes_it_open(
    open_page, workspace, run, monkeypatch
):
    workspace.create_link(LOCAL_OWNER, run.id)  # of a start that had them open
    [link] = workspace.links(LOCAL_OWNER, run.id)
    app = open_page("source_robustness", **address_of(run))
    assert "would open for you alone" in plainly(app)
    assert "TOUCHSTONE_LINKS=1 make run" in [block.value for block in app.code]
    assert not makers(app)
    app.button(key=f"revoke-{link.id}").click().run()
    assert not workspace.links(LOCAL_OWNER, run.id)[0].works
    assert not makers(open_page("runs"))
    monkeypatch.setattr(only_links, "is_wanted", lambda: True)  # the process that answers them has ended
    app = open_page("source_robustness", **address_of(run))
    assert "should open for others, and does not" in plainly(app)
    assert not makers(app)


def makers(app: AppTest) -> list[str]:
    """The buttons that make a link."""
    return [button.key for button in app.button if (button.key or "").startswith("link-")]


def test_the_report_is_sent_by_owner_and_visitor_and_stands_nowhere_else(open_page, open_link, workspace, run):
    owner = open_page("source_robustness", **address_of(run))
    seen = open_link(workspace.create_link(LOCAL_OWNER, run.id), **address_of(run))
    for app in (owner, seen):
        send, take = app.get("popover")[:2]
        assert [menu.proto.popover.label for menu in (send, take)] == ["Send", "Take away"]
        assert [file.label for file in send.get("download_button")] == ["Report (HTML)", "Report (Markdown)"]
        assert not {"Report (HTML)", "Report (Markdown)"} & {file.label for file in take.get("download_button")}
    assert not [*seen.code], "the address and the command are the owner's"


def test_what_is_not_computed_has_no_link(open_page, wine):
    app = open_page("source_robustness", data=wine.fingerprint)
    assert "Run this first" in texts(app)
    assert not makers(app)


def test_a_link_shows_its_own_run_also_when_todays_method_has_another(open_link, workspace, wine, run, monkeypatch):
    token = workspace.create_link(LOCAL_OWNER, run.id)
    shown = [metric.value for metric in open_link(token, **address_of(run)).metric]
    plan = load_plan(run.plan)
    monkeypatch.setattr(type(plan), "METHOD_VERSION", plan.METHOD_VERSION + 1)
    assert workspace.create_run(LOCAL_OWNER, plan, wine.fingerprint).id != run.id
    seen = open_link(token, **address_of(run))
    assert [metric.value for metric in seen.metric] == shown != []
    assert "Computed by an older method." in texts(seen)
    assert "Run again" not in texts(seen)
