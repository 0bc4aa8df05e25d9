from dataclasses import replace

import numpy as np
import pytest

from tests.pages.conftest import PLAN, in_numbers, plainly, sent_address, stored_run, texts
from touchstone.core.data import Dataset
from touchstone.core.report.descriptions import describe
from touchstone.core.trials import TrialPlan
from touchstone.core.workspace import LOCAL_OWNER, frames, load_plan
from touchstone.ui.forms.plan_form import plan_parameters
from touchstone.ui.shell import questions
from touchstone.ui.shell.jobs import duration


def charts(app) -> list[str]:
    return [chart.proto.alt for chart in app.get("plotly_chart")]


def test_with_nothing_computed_the_page_says_what_it_will_do(open_page, wine):
    app = open_page("source_robustness", data=wine.fingerprint)
    assert app.title[0].value == "How far does accuracy fall on new sources?"
    assert "Not computed yet for these settings" in texts(app)
    assert "160 trials" in texts(app)
    assert not app.button(key="run").disabled
    assert charts(app) == []


def test_a_finished_run_shows_verdict_figures_and_table(open_page, workspace, wine):
    stored_run(workspace, wine)
    app = open_page("source_robustness", data=wine.fingerprint, repeats="4")
    assert app.button(key="run").disabled
    assert "32 of 32 trials used" in texts(app)
    assert app.metric[0].label == "Robustness rho"
    assert len(charts(app)) == 5
    assert all(charts(app))
    table = in_numbers(app)
    assert table["Model"].tolist() == ["SVM", "Logistic regression"]
    assert table["Interval (%)"].str.fullmatch(r"\[\d+\.\d\d, \d+\.\d\d\]").all()
    assert (table["sd held out"] > 0).all()
    assert (table["sd seen"] >= 0).all()
    assert "silhouette" in texts(app), "how well the sources stand apart is not said"


def test_the_verdict_is_about_the_chosen_model(open_page, workspace, wine):
    stored_run(workspace, wine)
    app = open_page("source_robustness", data=wine.fingerprint, repeats="4")
    assert app.button_group(key="about").value == "leading model"
    for name in ("SVM", "Logistic regression"):
        app.button_group(key="about").set_value(name).run()
        assert f"{name}: which classes and sources are hard?" in texts(app)
        assert f"about={name.replace(' ', '+')}" in sent_address(app)


def test_an_address_says_what_the_verdict_is_about(open_page, workspace, wine):
    stored_run(workspace, wine)
    for name in ("SVM", "Logistic regression"):
        app = open_page("source_robustness", data=wine.fingerprint, repeats="4", about=name)
        assert f"{name}: which classes and sources are hard?" in texts(app)
        assert app.metric
    app = open_page("source_robustness", data=wine.fingerprint, repeats="4", about="SVM, known")
    assert "setting that does not exist here" in texts(app)
    assert not app.metric


def test_the_verdict_is_about_the_chosen_metric_which_other_pages_keep(open_page, workspace, wine):
    stored_run(workspace, wine)
    app = open_page("source_robustness", data=wine.fingerprint, repeats="4", metric="Balanced accuracy")
    assert "of balanced accuracy on held-out" in plainly(app)
    assert "baseline 33.3 %" in plainly(app)
    assert app.session_state["share_offer"].parameters["metric"] == ["Balanced accuracy"]
    assert app.selectbox(key="metric").options[:2] == ["Accuracy", "Balanced accuracy"]
    app.selectbox(key="metric").set_value("accuracy-None").run()
    assert "balanced accuracy on held-out" not in plainly(app)


@pytest.mark.parametrize("chosen", ["Matthews correlation (MCC)", "Cohen's kappa"])
def test_the_verdict_can_be_about_a_correlation(open_page, workspace, wine, chosen):
    stored_run(workspace, wine)
    app = open_page("source_robustness", data=wine.fingerprint, repeats="4", metric=chosen)
    title = chosen.partition(" (")[0]
    assert f"of {title} on held-out" in plainly(app)
    assert any(alt.startswith(f"Expected {title} intervals.") for alt in charts(app))
    assert app.session_state["share_offer"].parameters["metric"] == [chosen]


def test_what_an_address_is_about_may_have_no_results_yet(open_page, workspace, wine):
    stored_run(workspace, wine, n_trials=1)  # of the SVM
    app = open_page("source_robustness", data=wine.fingerprint, repeats="4", about="Logistic regression")
    assert "No trial has finished yet" in texts(app)
    assert not app.metric


def test_an_interrupted_run_shows_what_there_is_and_offers_to_go_on(open_page, workspace, wine):
    run = stored_run(workspace, wine, n_trials=14)
    app = open_page("source_robustness", data=wine.fingerprint, repeats="4")
    assert app.button(key=f"resume-{run.id}").label == "Resume"
    assert "14 of 14 trials used" in texts(app)
    assert "interrupted" in app.progress[0].text


def test_failed_trials_are_counted_and_explained(open_page, workspace, wine):
    run = stored_run(workspace, wine, n_trials=31)
    workspace.acquire(LOCAL_OWNER, run.id, "test")
    failed = frames.to_bytes(PLAN.failed_trial(wine, 31))
    workspace.store_trials(LOCAL_OWNER, run.id, {31: failed}, error="The worker process died, twice.")
    workspace.release(LOCAL_OWNER, run.id, "test", "done")
    app = open_page("source_robustness", data=wine.fingerprint, repeats="4")
    assert "1 trial failed: see why" in [expander.label for expander in app.expander]
    assert "The worker process died, twice." in texts(app)
    assert "31 of 32 trials used (1 failed)" in texts(app).replace("\\", "")


def test_results_of_other_library_versions_say_so(open_page, workspace, wine):
    stored_run(workspace, wine)  # made with "numpy 2.0.0"
    assert "computed with other versions" in texts(open_page("source_robustness", data=wine.fingerprint, repeats="4"))


def test_other_parameters_are_another_result(open_page, workspace, wine):
    stored_run(workspace, wine)
    app = open_page("source_robustness", data=wine.fingerprint, repeats="4", seed="1")
    assert "Not computed yet for these settings" in texts(app)


def test_the_address_gives_the_plan(open_page, workspace, wine):
    stored_run(workspace, wine, plan=type(PLAN)(models=("logistic",), n_repeats=2, n_sources=3), n_trials=0)
    app = open_page(
        "source_robustness", data=wine.fingerprint, models=["Logistic regression"], repeats="2", clusters="3"
    )
    assert "0 of 8 trials" in app.progress[0].text


def test_an_unknown_value_in_the_address_gets_a_sentence_and_no_result(open_page, workspace, wine):
    stored_run(workspace, wine)
    for parameters in ({"models": "Oracle"}, {"repeats": "0"}, {"repeats": "4.5"}, {"sources": "known sources"}):
        app = open_page("source_robustness", data=wine.fingerprint, **{"repeats": "4", **parameters})
        assert "setting that does not exist here" in texts(app)
        assert next(iter(parameters.values())).split()[0] in texts(app).replace("\\", "")
        assert not app.metric
        assert charts(app) == []


def test_the_usual_settings_are_one_click_away_from_an_unknown_value(open_page, wine):
    app = open_page("source_robustness", data=wine.fingerprint, models="Oracle")
    app.button[0].click().run()
    assert "Not computed yet for these settings" in texts(app)


def test_a_class_that_is_too_small_for_its_sources_is_named(open_page, workspace):
    small = Dataset("small", "tabular", [[0.0], [1.0], [2.0]], [0, 1, 1], ("plum", "melon"), ["a", "b", "c"])
    workspace.add_dataset(LOCAL_OWNER, small)
    app = open_page("source_robustness", data=small.fingerprint)
    assert "plum" in app.error[0].value
    assert "run" not in [button.key for button in app.button]


def test_no_models_chosen_is_an_error_as_written(open_page, wine):
    app = open_page("source_robustness", data=wine.fingerprint)
    app.button_group(key="models").set_value([]).run()
    assert "Models: nothing is chosen" in app.error[0].value


def test_an_example_is_read_and_stored_at_first_use(open_page, workspace):
    app = open_page("source_robustness", data="breast_cancer")
    stored = workspace.datasets(LOCAL_OWNER)
    assert [one.example for one in stored] == ["breast_cancer"]
    assert app.query_params["data"] == stored[0].fingerprint


def test_known_sources_are_the_default_where_the_data_name_them(open_page, workspace, wine):
    named = Dataset(
        "named", "tabular", wine.x, wine.y, wine.class_names, wine.ids, [f"site {row % 7}" for row in range(178)]
    )
    workspace.add_dataset(LOCAL_OWNER, named)
    app = open_page("source_robustness", data=named.fingerprint)
    assert app.button_group(key="sources").value == ["known"]


@pytest.mark.parametrize("stem", ["source_robustness", "data_set_adequacy"])
def test_known_sources_that_no_split_can_hold_out_are_said_before_run(open_page, workspace, stem):
    y, sources = np.repeat([0, 1, 2, 2], 60), ["ann"] * 60 + ["bob"] * 60 + ["ann", "bob"] * 60
    rows = np.random.default_rng(0).normal(size=(240, 2))
    mail = Dataset("mail", "tabular", rows, y, ("ham", "spam", "news"), None, sources=sources)
    workspace.add_dataset(LOCAL_OWNER, mail)
    app = open_page(stem, data=mail.fingerprint)
    assert "No source can be held out over all classes" in app.error[0].value
    assert "run" not in [button.key for button in app.button]


def test_clusters_are_offered_clouds_to_compare_with_and_known_sources_are_not(open_page, workspace, wine):
    stored_run(workspace, wine)
    app = open_page("source_robustness", data=wine.fingerprint, repeats="4")
    assert app.button(key="clouds").label == "Compare with data without groups"
    sites = [f"site {row % 7}" for row in range(178)]
    named = Dataset("named", "tabular", wine.x, wine.y, wine.class_names, wine.ids, sites)
    workspace.add_dataset(LOCAL_OWNER, named)
    stored_run(workspace, named, plan=replace(PLAN, source_finders=("known",)))
    app = open_page("source_robustness", data=named.fingerprint, repeats="4")
    assert "would not show if none is among these 7" in texts(app)
    assert "clouds" not in [button.key for button in app.button]


def test_baselines_stand_beside_every_accuracy(open_page, workspace, wine):
    stored_run(workspace, wine)
    app = open_page("source_robustness", data=wine.fingerprint, repeats="4")
    assert texts(app).replace("\\", "").count(", chance 33.3 %") >= 3
    assert (in_numbers(app)["Majority (%)"].between(35, 45)).all()


def test_words_of_the_user_are_not_markdown(open_page, workspace, wine):
    names = ("$a$", "**b**", ":red[c]")
    odd = Dataset("<b> _odd_", "tabular", wine.x, wine.y, names, wine.ids)
    workspace.add_dataset(LOCAL_OWNER, odd)
    stored_run(workspace, odd)
    said = texts(open_page("source_robustness", data=odd.fingerprint, repeats="4"))
    assert "$a$" not in said
    assert "**b**" not in said
    assert ":red[c]" not in said


def test_the_features_are_part_of_the_address_and_of_the_name():
    plan = TrialPlan(models=("svm",), representation="network")
    parameters, usual = (plan_parameters(one) or {} for one in (plan, TrialPlan(models=("svm",))))
    assert parameters["features"] == ["Network's last layer (label-informed)"]
    assert usual["features"] == ["usual"]
    assert "Network's last layer" in describe(plan)
    assert "usual" not in describe(TrialPlan(models=("svm",)))


def test_how_networks_are_trained_and_tested_is_chosen_told_and_in_the_address(open_page, workspace, wine):
    plan = TrialPlan(models=("mlp_small",), n_repeats=4, n_clusterings=2, epoch="best", n_epochs=3)
    stored_run(workspace, wine, plan=plan)
    parameters = plan_parameters(plan)
    assert (parameters["epoch"], parameters["epochs"]) == (["the best epoch on the test part (optimistic)"], ["3"])
    app = open_page("source_robustness", data=wine.fingerprint, **parameters)
    assert app.selectbox(key="epochs").value == 3
    assert "this flatters them" in texts(app)
    assert plan_parameters(TrialPlan(n_epochs=4)) is None, "the screen has no choice of 4 epochs"
    foreign = open_page("source_robustness", data=wine.fingerprint, epoch="the luckiest")
    assert "cannot be chosen" in foreign.error[0].value or "the luckiest" in foreign.error[0].value
    assert charts(foreign) == []


def test_a_run_that_names_its_models_in_another_order_opens_on_its_page(open_page, workspace, wine):
    """So a command, a file of parameters or Python may name them."""
    plan = load_plan('{"kind":"trials","models":["logistic","svm"],"schemes":["random","source_exclusive",'
                     '"source_inclusive"],"n_repeats":4}')  # fmt: skip
    run = stored_run(workspace, wine, plan=plan)
    led = questions.address_of(run)
    assert led == ("source_robustness", plan_parameters(PLAN))
    assert open_page("source_robustness", data=wine.fingerprint, **led[1]).metric
    assert [each.id for each in workspace.runs(LOCAL_OWNER)] == [run.id]
    assert "Open" in [link.proto.label for link in open_page("runs").get("page_link")]


def test_what_is_folded_is_drawn_only_once_it_is_opened(open_page, workspace, wine):
    run = stored_run(workspace, wine)
    led = questions.address_of(run)
    assert led is not None
    app = open_page("source_robustness", folded=True, data=wine.fingerprint, **led[1])
    assert app.metric
    assert len(charts(app)) == 1
    assert not app.dataframe
    app.session_state["fold-table"] = True
    assert len(app.run().dataframe) == 1


def test_before_run_the_page_says_how_long_runs_like_it_took(open_page, workspace, wine):
    app = open_page("source_robustness", data=wine.fingerprint, repeats="40")
    assert "The first trial shows how long it takes" in texts(app)
    run = stored_run(workspace, wine)
    assert run.pace is not None
    app = open_page("source_robustness", data=wine.fingerprint, repeats="40")
    assert f"320 trials, in the background. Expect about {duration(320 * run.pace)}, as in similar runs." in texts(app)


def test_classes_that_are_too_small_can_be_left_out(open_page, workspace):
    rng, y = np.random.default_rng(0), np.array([0] * 150 + [1] * 150 + [2])
    names = ("often", "seldom", "rare")
    workspace.add_dataset(LOCAL_OWNER, data := Dataset("finds", "tabular", rng.normal(size=(301, 4)), y, names, None))
    for stem in ("source_robustness", "data_set_adequacy"):
        app = open_page(stem, data=data.fingerprint)
        assert "5 sources cannot be found in rare (1 row)" in plainly(app)
        assert app.button(key="leave-out").label == "Leave out “rare”"
        app.button(key="leave-out").click().run()
        assert not app.error
        assert app.query_params["data"] == data.without("rare").fingerprint
    assert workspace.dataset(LOCAL_OWNER, data.without("rare").fingerprint).notes[-1] == "Left out: 1 sample of rare."
