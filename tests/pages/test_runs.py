import json
import zipfile
from dataclasses import replace

import pytest
from sqlalchemy import text

from tests.conftest import ROOT
from tests.pages.conftest import PLAN, plainly, stored_run, texts
from tests.plain_words import problems_of
from tests.workspace.conftest import behind
from tests.workspace.plans import SleepPlan
from tests.workspace.test_migrations import flip_a_byte
from touchstone.core.data.home import home
from touchstone.core.questions import QUESTIONS
from touchstone.core.report.run_report import recipe
from touchstone.core.workspace import LOCAL_OWNER, Workspace
from touchstone.core.workspace.engine.runner import Engine
from touchstone.ui.data import choice as data_choice
from touchstone.ui.shell import jobs, questions


@pytest.fixture
def old_home(touchstone_home) -> str:
    """A home with a run of every kind; gives the fingerprint of its model."""
    golden = ROOT / "tests" / "golden"
    with zipfile.ZipFile(golden / "home.zip") as archive:
        archive.extractall(touchstone_home)
    return json.loads((golden / "plans.json").read_text("utf-8"))["about"]["model"]


def test_without_runs_the_page_says_so(open_page):
    assert "No runs yet" in texts(open_page("runs"))


def test_each_run_is_listed_with_its_state(open_page, workspace, wine):
    stored_run(workspace, wine)
    said = texts(open_page("runs"))
    assert "**Wine**" in said
    assert "SVM, Logistic regression" in said
    assert "done" in said
    assert "32 of 32 trials" in said


def test_the_page_says_first_how_many_runs_there_are_and_what_to_do(open_page, workspace, wine):
    run = stored_run(workspace, wine)
    assert "**1 run on 1 data set: 1 done\\.** **Next:** open one" in texts(open_page("runs")).replace("\n", " ")
    short = [
        questions.in_short([replace(run, state=state), run])
        for state in ("interrupted", "cancelled", "running", "done")
    ]
    assert [each.headline.partition(": ")[2] for each in short] == [
        "1 interrupted, 1 done.",
        "1 cancelled, 1 done.",
        "1 running, 1 done.",
        "2 done.",
    ]
    assert ["resume" in each.advice for each in short] == [True, True, False, False]
    assert not [problem for each in short for problem in problems_of(each)]


def listed(app) -> list[str]:
    """What the list shows, from top to bottom: the first lines of its cards."""
    return [line.value for line in app.markdown if line.value.startswith("**") and ":gray[" in line.value]


def test_runs_can_be_searched_and_sorted(open_page, old_home):
    app = open_page("runs")
    everything = listed(app)
    assert len(everything) > 4
    app.text_input(key="search-runs").set_value("NEW sources done").run()
    some = listed(app)
    assert 0 < len(some) < len(everything)
    assert all("new sources" in line for line in some)
    app.text_input(key="search-runs").set_value("horoscope").run()
    assert not listed(app)
    assert "No run has all of these words" in texts(app)
    app.text_input(key="search-runs").set_value("").run()
    app.selectbox(key="order-runs").set_value("question").run()
    questions_shown = [line.partition(":gray[")[2] for line in listed(app)]
    assert questions_shown == sorted(questions_shown, key=str.casefold)
    assert sorted(listed(app)) == sorted(everything)


def test_a_run_gets_a_name_by_which_it_is_found(open_page, workspace, wine):
    for seed in range(4):  # of fewer none has to be looked for
        named = stored_run(workspace, wine, plan=replace(PLAN, seed=seed), n_trials=1)
    app = open_page("runs")
    app.text_input(key=f"name-{named.id}").set_value("before: *the* labels").run()
    assert workspace.run(LOCAL_OWNER, named.id).name == "before: *the* labels"
    assert r"**before: \*the\* labels** · **" in texts(app)
    app.text_input(key="search-runs").set_value("BEFORE").run()
    assert {box.key for box in app.text_input} == {"search-runs", f"name-{named.id}"}
    app.text_input(key=f"name-{named.id}").set_value("").run()
    assert workspace.run(LOCAL_OWNER, named.id).name == ""


def test_few_runs_need_no_search(open_page, workspace, wine):
    stored_run(workspace, wine)
    assert "search-runs" not in {box.key for box in open_page("runs").text_input}


def test_an_interrupted_run_can_be_resumed_and_a_done_one_cannot(open_page, workspace, wine):
    run = stored_run(workspace, wine, n_trials=5)
    app = open_page("runs")
    assert "interrupted" in texts(app)
    assert "5 of 32 trials" in texts(app)
    assert app.button(key=f"resume-{run.id}").label == "Resume"


def test_a_run_that_is_worked_on_can_be_cancelled(open_page, workspace, wine):
    run = workspace.create_run(LOCAL_OWNER, PLAN, wine.fingerprint)
    workspace.acquire(LOCAL_OWNER, run.id, "somebody")
    app = open_page("runs")
    app.button(key=f"cancel-{run.id}").click().run()
    assert workspace.run(LOCAL_OWNER, run.id).cancelling
    assert app.button(key=f"delete-{run.id}").disabled


def test_deleting_asks_first(open_page, workspace, wine):
    run = stored_run(workspace, wine, n_trials=1)
    app = open_page("runs")
    app.button(key=f"delete-{run.id}").click().run()
    assert "deleted for good" in texts(app)
    assert workspace.runs(LOCAL_OWNER)


def test_a_run_that_somebody_else_deletes_first_is_said_to_be_gone(open_page, workspace, wine, monkeypatch):
    run = stored_run(workspace, wine, n_trials=1)

    def twice(shelf: Workspace, *whose: str) -> None:
        delete_run(shelf, *whose)
        delete_run(shelf, *whose)

    delete_run = Workspace.delete_run
    app = open_page("runs")
    app.button(key=f"delete-{run.id}").click().run()
    monkeypatch.setattr(Workspace, "delete_run", twice)
    app.button(key=f"delete-{run.id}").click()
    app.button(key="really-delete").click().run()
    assert not app.exception
    assert "deleted, or somebody else's" in app.error[0].value.replace("\\", "")


def test_a_plan_that_no_address_can_hold_has_no_link(open_page, workspace, wine):
    stored_run(workspace, wine, plan=type(PLAN)(models=("svm",), n_repeats=1, n_train=60), n_trials=1)
    app = open_page("runs")
    assert "no page" in texts(app)
    assert not app.get("page_link")


def test_a_run_of_an_unknown_kind_is_listed_and_breaks_nothing(open_page, workspace, wine, monkeypatch):
    run = workspace.create_run(LOCAL_OWNER, SleepPlan(n=1), wine.fingerprint)
    monkeypatch.delitem(QUESTIONS, "sleep")
    overview = [link.proto.label for link in open_page("overview", data=wine.fingerprint).get("page_link")]
    assert "All 1 run of this data set" in overview
    app = open_page("runs")
    assert "does not know" in texts(app)
    assert "Open" not in [*overview, *(link.proto.label for link in app.get("page_link"))]
    app.button(key=f"delete-{run.id}").click().run()
    assert "deleted for good" in texts(app)


def upload(app, content: bytes):
    """The page with a file of parameters in its place."""
    return app.file_uploader(key="parameters").set_value(("parameters.json", content, "application/json")).run()


def test_a_run_is_computed_again_from_its_parameters(open_page, workspace, wine):
    run = stored_run(workspace, wine)
    content = recipe(run, None).encode()
    assert "see the list below" in texts(upload(open_page("runs"), content))
    workspace.delete_run(LOCAL_OWNER, run.id)
    app = upload(open_page("runs"), content)
    assert run.key in texts(app)
    app.button(key="again").click().run()
    assert [one.key for one in workspace.runs(LOCAL_OWNER)] == [run.key]


def test_parameters_of_something_else_get_a_reason_and_no_run(open_page, workspace, wine):
    run = stored_run(workspace, wine)
    other = recipe(run, None).replace(wine.fingerprint, "0" * 64).encode()
    for content, words in ((b"\xff\xfe", "no text"), (b"[]", "not a file of parameters"), (other, "is not here")):
        app = upload(open_page("runs"), content)
        assert words in app.error[0].value.replace("\\", "")
        assert "again" not in [button.key for button in app.button]


def test_a_run_whose_data_go_before_it_starts_is_refused_in_a_sentence(open_page, workspace, wine):
    run = stored_run(workspace, wine)
    app = upload(open_page("runs"), recipe(run, None).encode())
    workspace.delete_run(LOCAL_OWNER, run.id)
    app.run()
    workspace.delete_dataset(LOCAL_OWNER, wine.fingerprint)
    app.button(key="again").click().run()
    assert not app.exception
    assert "not in your workspace" in app.toast[0].value.replace("\\", "")
    assert workspace.runs(LOCAL_OWNER) == []


def test_parameters_that_make_no_sense_get_a_reason(open_page, workspace, wine):
    text = recipe(stored_run(workspace, wine), None)
    for change, words in (({"seed": {"a": 1}}, "makes no sense"), ({"n_repeats": 10**9}, "at most 10,000")):
        content = json.loads(text)
        content["plan"] |= change
        app = upload(open_page("runs"), json.dumps(content).encode())
        assert words in app.error[0].value.replace("\\", "")


def test_an_example_is_prepared_beside_the_page_and_not_stored_before_the_run(open_page, workspace, wine, monkeypatch):
    prepared = []
    monkeypatch.setattr(data_choice, "docstrings_ready", lambda: False)
    monkeypatch.setattr(jobs, "prepare", lambda example, sentence: prepared.append(example))
    run = stored_run(workspace, wine)
    docstrings = recipe(run, "docstrings").replace(wine.fingerprint, "0" * 64).encode()
    app = upload(open_page("runs"), docstrings)
    assert prepared == ["docstrings"]
    assert not app.error
    content = recipe(run, "wine").encode()
    workspace.delete_dataset(LOCAL_OWNER, wine.fingerprint)
    app = upload(open_page("runs"), content)
    assert run.key in texts(app)
    assert workspace.datasets(LOCAL_OWNER) == []
    app.button(key="again").click().run()
    assert [one.key for one in workspace.runs(LOCAL_OWNER)] == [run.key]


def test_a_run_by_an_older_method_opens_says_so_and_can_be_run_again(open_page, workspace, wine, monkeypatch):
    old = stored_run(workspace, wine)
    said = "Computed by an older method. Run again for results of today's method."
    assert said not in texts(open_page("runs"))
    monkeypatch.setattr(type(PLAN), "METHOD_VERSION", PLAN.METHOD_VERSION + 1)
    assert said in texts(open_page("runs"))
    app = open_page("source_robustness", data=wine.fingerprint, **address_of(old))
    assert said in texts(app)
    assert app.metric, "its results are not shown"
    assert "computed by an older method" in foot_of(app)
    button = app.button(key="run")
    assert (button.label, button.disabled) == ("Run again", False)
    monkeypatch.setattr(Engine, "start", lambda *_: True)
    button.click().run()
    assert [run.older_method for run in workspace.runs(LOCAL_OWNER) if run.kind == PLAN.kind] == [False, True]
    assert said not in texts(app)


def address_of(run) -> dict[str, list[str]]:
    """The parameters that lead to a run on its page."""
    led = questions.address_of(run)
    assert led is not None
    return led[1]


def foot_of(app) -> str:
    """The grey line under a result."""
    [line] = [line.value.replace("\\", "") for line in app.caption if line.value.endswith("UTC")]
    return line


def test_the_foot_says_in_words_what_was_computed_and_keeps_identifiers_for_who_asks(open_page, workspace, wine):
    run = stored_run(workspace, wine)
    app = open_page("source_robustness", data=wine.fingerprint, **address_of(run))
    assert foot_of(app).startswith("SVM, Logistic regression · k-means clusters · 4 repeats · ")
    assert wine.fingerprint[:12] not in foot_of(app)
    asked = next(line.value for line in app.markdown if line.value.startswith("- Data: "))
    assert wine.fingerprint in asked
    assert "Repeats: 4" in asked.replace("\\", "")


def test_a_foot_leaves_out_what_is_not_known(open_page, workspace, wine, monkeypatch):
    run = stored_run(workspace, wine)
    find_run = Workspace.find_run

    def bare(*asked):
        found = find_run(*asked)
        return found and replace(found, provenance={})

    monkeypatch.setattr(Workspace, "find_run", bare)
    foot = foot_of(open_page("source_robustness", data=wine.fingerprint, **address_of(run)))
    assert "·  ·" not in foot
    assert "· ·" not in foot


def test_every_button_of_a_run_has_a_name_of_its_own(open_page, workspace, wine):
    stored_run(workspace, wine)
    app = open_page("runs")
    assert all(button.label for button in app.button)
    assert "Delete" in [button.label for button in app.button]
    assert all(popover.proto.popover.label for popover in app.get("popover"))


def test_a_run_names_its_model_as_its_owner_does(open_page, old_home):
    app = open_page("runs")
    said = texts(app).replace("\\", "")
    assert "model “net”" in said
    assert f"model {old_home[:12]}" not in said


def test_an_older_run_that_was_interrupted_has_no_way_on(open_page, workspace, wine, monkeypatch):
    run = stored_run(workspace, wine, n_trials=5)
    monkeypatch.setattr(type(PLAN), "METHOD_VERSION", PLAN.METHOD_VERSION + 1)
    app = open_page("runs")
    assert "interrupted" in texts(app)
    assert f"resume-{run.id}" not in [button.key for button in app.button]


def test_a_run_with_damaged_rows_says_so_and_shows_nothing(open_page, workspace, wine):
    run = stored_run(workspace, wine)
    flip_a_byte(home() / "touchstone.sqlite", run.id, 7, 0.5)
    app = open_page("source_robustness", data=wine.fingerprint, **address_of(run))
    assert "Trial 8 of 32 of this run is damaged on disk" in plainly(app)
    assert not app.metric


def test_a_run_whose_plan_was_changed_says_so_and_shows_nothing(open_page, workspace, wine):
    run = stored_run(workspace, wine)
    other = run.plan.replace('"n_repeats":', '"n_repeats":1')
    assert other != run.plan
    with behind(workspace) as database:
        database.execute(text("UPDATE runs SET plan = :other"), {"other": other})
    app = open_page("source_robustness", data=wine.fingerprint, **address_of(run))
    assert "What is noted of this run" in plainly(app)
    assert not app.metric
    assert not open_page("runs").exception


def test_a_damaged_trial_is_computed_again_from_the_page(open_page, workspace, wine, monkeypatch):
    run, started = stored_run(workspace, wine), []
    flip_a_byte(home() / "touchstone.sqlite", run.id, 7, 0.5)
    app = open_page("source_robustness", data=wine.fingerprint, **questions.address_of(run)[1])
    monkeypatch.setattr(Engine, "start", lambda _, owner, run_id: started.append((owner, run_id)))
    app.button(key=f"again-{run.id}").click().run()
    assert started == [(LOCAL_OWNER, run.id)]
    assert workspace.missing_trials(LOCAL_OWNER, run.id) == [7]
    assert "damaged" not in texts(app)


def test_through_a_link_nothing_is_computed_again(open_page, workspace, wine):
    run = stored_run(workspace, wine)
    token = workspace.create_link(LOCAL_OWNER, run.id)
    flip_a_byte(home() / "touchstone.sqlite", run.id, 7, 0.5)
    app = open_page("shared_run", t=token)
    assert "Trial 8 of 32 of this run is damaged on disk" in plainly(app)
    assert f"again-{run.id}" not in [button.key for button in app.button]
