import pytest

from tests.pages.conftest import charts, plainly, stored_run, texts
from touchstone.core.data import Dataset
from touchstone.core.evaluate.data_set_adequacy.plan import ALL, AdequacyPlan
from touchstone.core.evaluate.source_robustness.parametric_null import ParametricNullPlan
from touchstone.core.workspace import LOCAL_OWNER, frames
from touchstone.ui.data_set_adequacy import controls
from touchstone.ui.forms.plan_form import plan_parameters
from touchstone.ui.shell import questions

PLAN = AdequacyPlan(models=("logistic", "nearest_neighbours"), n_repeats=4, n_clusterings=2, sizes=(15, 40, 80, ALL))
ADDRESS = {
    "models": ["Logistic regression", "Nearest neighbours"],
    "repeats": "4",
    "clusterings": "2",
    "sizes": "15, 40, 80, all",
}


def test_with_nothing_computed_the_page_says_what_it_will_do(open_page, wine):
    app = open_page("data_set_adequacy", data=wine.fingerprint)
    assert app.title[0].value == "Would more data help, or new sources?"
    assert "Not computed yet for these settings" in plainly(app)
    assert "2 models** on" not in plainly(app)
    assert "160 trials" in plainly(app)
    assert "left out: 300, 1\u202f000, 3\u202f000, 10\u202f000 and 30\u202f000" in plainly(app)
    assert not app.button(key="run").disabled
    assert charts(app) == []


def test_a_finished_run_shows_verdict_figures_classes_and_tables(open_page, workspace, wine):
    stored_run(workspace, wine, plan=PLAN)
    app = open_page("data_set_adequacy", data=wine.fingerprint, **ADDRESS)
    assert app.button(key="run").disabled
    assert "64 of 64 trials used" in plainly(app)
    ends = ["Next doubling, clusters seen in training", "Accuracy, clusters seen in training"]
    assert [metric.label for metric in app.metric][::3] == ends
    assert "Majority-class baseline 39.9 %, chance 33.3 %" in plainly(app)
    assert len(charts(app)) == 4
    assert all(charts(app))
    classes, metrics, sizes = (frame.value for frame in app.dataframe)
    assert set(classes["Class"]) == set(wine.class_names)
    assert classes["Would help"].str.len().gt(5).all()
    assert sizes["Model"].tolist() == ["Logistic regression"] * 4 + ["Nearest neighbours"] * 4
    assert sizes["Samples"].tolist()[:3] == [15, 40, 80]
    assert metrics["Metric"].tolist()[:8] == ["Balanced accuracy"] * 4 + ["Macro F1"] * 4
    assert metrics["Samples"].tolist()[:3] == ["15", "40", "80"]
    assert sizes["Step, AccX"].tolist()[0] == ""
    assert "points" not in sizes["Step, AccX"][1]
    assert {button.label for button in app.get("download_button")} >= {"Table (TSV)", "Steps (TSV)", "Verdicts (TSV)"}


def test_the_verdict_is_about_the_model_of_the_address(open_page, workspace, wine):
    stored_run(workspace, wine, plan=PLAN)
    for name in ("Logistic regression", "Nearest neighbours"):
        app = open_page("data_set_adequacy", data=wine.fingerprint, of=name, **ADDRESS)
        assert f"**{name}: " in plainly(app)
        assert f"{name}: which classes would gain?" in plainly(app)


def test_the_verdict_and_its_figure_are_about_the_chosen_metric(open_page, workspace, wine):
    stored_run(workspace, wine, plan=PLAN)
    app = _open(open_page, wine, metric="Balanced accuracy")
    assert "of balanced accuracy.**" in plainly(app)
    assert "By accuracy: " in plainly(app)
    assert app.metric[3].label == "Balanced accuracy, clusters seen in training"
    assert any(alt.startswith("Expected balanced accuracy interval over the size") for alt in charts(app))
    assert app.session_state["share_offer"].parameters["metric"] == ["Balanced accuracy"]
    assert app.selectbox(key="metric").options[:2] == ["Accuracy", "Balanced accuracy"]
    app.selectbox(key="metric").set_value("accuracy-None").run()
    assert "of balanced accuracy.**" not in plainly(app)
    assert app.metric[3].label == "Accuracy, clusters seen in training"
    assert any(alt.startswith("Expected accuracy interval over the size") for alt in charts(app))


@pytest.mark.parametrize("chosen", ["Matthews correlation (MCC)", "Cohen's kappa"])
def test_the_verdict_can_be_about_a_correlation(open_page, workspace, wine, chosen):
    stored_run(workspace, wine, plan=PLAN)
    app = _open(open_page, wine, metric=chosen)
    title = chosen.partition(" (")[0]
    assert f"of {title}.**" in plainly(app)
    assert app.metric[3].label == f"{title}, clusters seen in training"
    assert "%" not in app.metric[3].value
    assert any(alt.startswith(f"Expected {title} interval over the size") for alt in charts(app))


def test_what_is_worth_it_changes_the_verdict_without_a_run(open_page, workspace, wine):
    stored_run(workspace, wine, plan=PLAN)
    app = open_page("data_set_adequacy", data=wine.fingerprint, worth="20.0", **ADDRESS)
    assert app.button(key="run").disabled
    assert "would hardly help" in plainly(app) or "would add much" in plainly(app)


def test_panels_show_accuracy_or_rho(open_page, workspace, wine):
    stored_run(workspace, wine, plan=PLAN)
    assert any(alt.startswith("Expected accuracy interval by class") for alt in charts(_open(open_page, wine)))
    assert any(alt.startswith("Rho by class") for alt in charts(_open(open_page, wine, panels="rho")))


def test_an_interrupted_run_shows_what_there_is_and_offers_to_go_on(open_page, workspace, wine):
    run = stored_run(workspace, wine, plan=PLAN, n_trials=21)
    app = _open(open_page, wine)
    assert app.button(key=f"resume-{run.id}").label == "Resume"
    assert "16 of 21 trials used (of splits finished at every size)" in plainly(app)
    assert charts(app)


def test_one_scheme_so_far_is_no_verdict_yet(open_page, workspace, wine):
    stored_run(workspace, wine, plan=PLAN, n_trials=8)
    app = _open(open_page, wine)
    assert "this needs both schemes at two sizes" in plainly(app)
    assert charts(app)


def test_before_the_first_trial_there_is_nothing_to_show(open_page, workspace, wine):
    stored_run(workspace, wine, plan=PLAN, n_trials=0)
    app = _open(open_page, wine)
    assert "0 of 64 trials" in app.progress[0].text
    assert "No trial has finished yet" in plainly(app)
    assert charts(app) == []


def test_failed_trials_are_counted_and_explained(open_page, workspace, wine):
    run = stored_run(workspace, wine, plan=PLAN, n_trials=63)
    workspace.acquire(LOCAL_OWNER, run.id, "test")
    failed = frames.to_bytes(PLAN.failed_trial(wine, 63))
    workspace.store_trials(LOCAL_OWNER, run.id, {63: failed}, error="The worker process died, twice.")
    workspace.release(LOCAL_OWNER, run.id, "test", "done")
    app = _open(open_page, wine)
    assert "1 trial failed: see why" in [expander.label for expander in app.expander]
    assert "60 of 64 trials used (of splits finished at every size, 1 failed)" in plainly(app)


@pytest.mark.parametrize(
    "parameters",
    [{"models": "Oracle"}, {"repeats": "0"}, {"sources": "known sources"}, {"of": "Oracle"}, {"worth": "x"}],
)
def test_an_unknown_value_in_the_address_gets_a_sentence_and_no_result(open_page, workspace, wine, parameters):
    stored_run(workspace, wine, plan=PLAN)
    app = open_page("data_set_adequacy", data=wine.fingerprint, **(ADDRESS | parameters))
    assert "setting that does not exist here" in plainly(app)
    assert not app.metric
    assert charts(app) == []


@pytest.mark.parametrize(("sizes", "words"), [("few, many", "“all”"), ("1000, 3000", "Fewer than two sizes fit")])
def test_sizes_that_make_no_plan_are_an_error_as_written(open_page, wine, sizes, words):
    app = open_page("data_set_adequacy", data=wine.fingerprint, sizes=sizes)
    assert words in app.error[0].value.replace("\\", "")
    assert "run" not in [button.key for button in app.button]
    assert app.text_input(key="sizes").value == sizes, "what was written is gone"


def test_a_class_too_rare_for_the_smallest_part_is_named(open_page, workspace, wine):
    rows = [row for row in range(wine.n_samples) if wine.y[row] != 0 or row < 12]
    rare = Dataset("rare", "tabular", wine.x[rows], wine.y[rows], wine.class_names, [wine.ids[row] for row in rows])
    workspace.add_dataset(LOCAL_OWNER, rare)
    app = open_page("data_set_adequacy", data=rare.fingerprint, sizes="9, 60, all")
    assert f"A part of 9 samples has one of {wine.class_names[0]}, which is more than in the data." in plainly(app)


def test_the_overview_tells_the_verdict_and_leads_here(open_page, workspace, wine):
    run = stored_run(workspace, wine, plan=PLAN)
    app = open_page("overview", data=wine.fingerprint)
    assert "Would more data help, or new sources?" in plainly(app)
    assert "Twice as many samples would bring" in plainly(app)
    assert questions.describe(run).startswith("Logistic regression, Nearest neighbours · k-means clusters · 15, 40")


def test_words_of_the_user_are_not_markdown(open_page, workspace, wine):
    odd = Dataset("odd", "tabular", wine.x, wine.y, ("$a$", "**b**", ":red[c]"), wine.ids)
    workspace.add_dataset(LOCAL_OWNER, odd)
    stored_run(workspace, odd, plan=PLAN)
    words = texts(_open(open_page, odd))
    assert "$a$" not in words
    assert "**b**" not in words
    assert ":red[c]" not in words


def test_clusters_are_undecided_until_clouds_were_drawn_and_never_called_sources(open_page, workspace, wine):
    stored_run(workspace, wine, plan=PLAN)
    app = _open(open_page, wine)
    assert "Undecided whether held-out clusters are harder than those of simulated data" in plainly(app)
    assert app.button(key="clouds").label == "Compare with data without groups"
    stored_run(workspace, wine, plan=ParametricNullPlan())
    app = _open(open_page, wine)
    assert "No significant gap between held-out clusters" in plainly(app)
    assert "Undecided whether held-out clusters" not in plainly(app), "without a gap no cloud has to explain one"
    assert "clouds" not in [button.key for button in app.button]
    [gaps] = [frame.value for frame in app.dataframe if "Lowest to highest" in frame.value]
    assert gaps["Clouds"].tolist() == [1, 19, 19]


def test_clouds_that_are_not_finished_are_followed(open_page, workspace, wine):
    stored_run(workspace, wine, plan=PLAN)
    run = stored_run(workspace, wine, plan=ParametricNullPlan(), n_trials=3)
    app = _open(open_page, wine)
    assert app.button(key=f"resume-{run.id}").label == "Resume"
    assert "Undecided whether held-out clusters" in plainly(app)


def test_the_address_leads_to_the_plan_and_to_what_is_looked_at():
    parameters = plan_parameters(PLAN)
    assert parameters is not None
    assert parameters["sizes"] == ["15, 40, 80, all"]
    assert parameters["models"] == ["Logistic regression", "Nearest neighbours"]
    look = controls.AdequacyLook("logistic kmeans", 0.02, "rho")
    assert controls.look_parameters(PLAN, look) == {"of": ["Logistic regression"], "worth": ["2.0"], "panels": ["rho"]}
    assert plan_parameters(AdequacyPlan(schemes=("random",))) is None, "no address says so"


def _open(open_page, dataset, **parameters):
    return open_page("data_set_adequacy", data=dataset.fingerprint, **ADDRESS, **parameters)
