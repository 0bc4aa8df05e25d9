import io
import json
import re
import shlex
from dataclasses import replace
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import PLAN, plainly, sent_report, stored_run, texts
from tests.pages.test_matched_subsets import ROLES, made, settled, store
from tests.pages.test_model_comparison import predictions
from touchstone.core.__main__ import main
from touchstone.core.data.predictions.upload import PredictionUpload
from touchstone.core.evaluate.average_case.plan import AverageCasePlan
from touchstone.core.models import MODELS
from touchstone.core.models.model_file import ModelFile
from touchstone.core.parameters import About, usual_plan
from touchstone.core.trials import FoldPlan, SourcesPlan, TrialPlan
from touchstone.core.workspace import LOCAL_OWNER
from touchstone.core.workspace.engine.runner import engine
from touchstone.ui.forms.plan_form import plan_parameters
from touchstone.ui.shell.questions import NO_PAGE


def test_a_first_visit_asks_for_one_click(open_page):
    app = open_page("overview")
    assert app.title[0].value == "What can be trusted here?"
    assert app.selectbox(key="data_control").value == "digits"
    assert [button.label for button in app.button] == ["Start", "Ask all questions"]
    assert "Nothing has been computed for this data set yet" in texts(app)


def test_verdicts_so_far_are_shown_for_the_chosen_data_set_only(open_page, workspace, wine):
    stored_run(workspace, wine)
    assert "SVM" in texts(open_page("overview", data=wine.fingerprint))
    assert "Nothing has been computed" in texts(open_page("overview", data="digits"))


@pytest.mark.parametrize("chosen", ["Balanced accuracy", "Matthews correlation (MCC)"])
def test_the_metric_of_the_axis_is_what_answers_are_about_where_they_can_be(open_page, workspace, wine, chosen):
    stored_run(workspace, wine)
    stored_run(workspace, wine, plan=FoldPlan(models=("logistic",), seeds=(0, 1, 2)))
    app = open_page("overview", data=wine.fingerprint, metric=chosen)
    title = chosen.partition(" (")[0]
    assert f"On new clusters, expect {title.replace('B', 'b')} " in plainly(app)
    assert f"of {title.replace('B', 'b')} on held-out clusters" in plainly(app)
    assert f"{title.replace('B', 'b')} on SDS k-means folds" in plainly(app)
    assert app.session_state["share_offer"].view.settings["metric"] == [chosen]


def test_the_sheet_begins_with_one_number_and_each_part_of_the_story_leads_to_its_page(open_page, workspace):
    two = {
        side: store(workspace, f"{side}.tsv", made(600, fall, 1)) for side, fall in (("reference", 0), ("target", 0.3))
    }
    settled(open_page("matched_subsets", **two))
    settled(open_page("model_comparison", **two))
    app = open_page("overview", sheet="prediction files")
    assert "**On the new test set, expect accuracy" in plainly(app)
    assert "on the reference set.** " in plainly(app)
    led = {link.proto.label: link.proto for link in app.get("page_link")}
    asked = led["Does accuracy really drop on the new test set?"]
    assert asked.page.endswith("matched_subsets")
    assert f"target={two['target']}" in asked.query_string
    assert "On the new test set, expect accuracy" in sent_report(app)


def test_a_question_that_was_not_asked_has_a_card_with_a_button_that_asks_it_alone(
    open_page, workspace, wine, monkeypatch
):
    stored_run(workspace, wine)
    begun = []
    monkeypatch.setattr(engine(), "ask", lambda owner, data, steps, seconds: begun.append((steps, seconds)))
    app = open_page("overview", data=wine.fingerprint)
    stems = [button.key.removeprefix("ask-") for button in app.button if button.label == "Ask"]
    assert stems == ["cluster_folds", "data_set_adequacy", "average_case", "test_quality", "guided_tests"]
    assert "Not asked yet, so nothing is known about it." in texts(app)
    app.button(key="ask-average_case").click().run()
    [(steps, seconds)] = begun
    assert [step.stem for step in steps] == ["training", "average_case"]
    assert seconds == 300


def test_before_asking_the_page_says_what_is_asked_and_what_not_and_why(open_page, workspace, wine):
    stored_run(workspace, wine, plan=usual_plan(TrialPlan, About(wine)))
    app = open_page("overview", data=wine.fingerprint)
    assert "Asked, in this order" not in texts(app)
    app.session_state["what-is-asked"] = True
    app.run()
    said = texts(app)
    assert "Asked, in this order:** Cluster folds, Average case, Test quality, Guided tests, Data" in said
    assert "A network is trained first" in said
    assert "Source robustness: Already answered" in said.replace("\\", "")
    assert "Matched subsets, Model comparison and Weak slices: Asked of prediction files" in said.replace("\\", "")


def test_of_several_models_one_can_be_chosen(open_page, workspace, wine):
    def kept(name: str) -> str:
        return workspace.keep_model(
            LOCAL_OWNER, ModelFile(name.encode(), f"{name}.onnx", wine.fingerprint).to_bytes(), name=name
        )

    first = kept("first")
    stored_run(workspace, wine)
    assert "Answers about" not in [
        one.label for one in open_page("overview", data=wine.fingerprint).get("button_group")
    ]
    second = kept("second")
    for model, seed in ((first, 0), (second, 1)):
        asked = AverageCasePlan(
            model, sigmas=(0.5,), shape="per_feature", rows="all", n_samples=40, n_audit=0, seed=seed
        )
        workspace.create_run(LOCAL_OWNER, asked, wine.fingerprint)
    cards = {}
    for name in ("first", "second"):
        app = open_page("overview", data=wine.fingerprint, sheet_model=name)
        assert app.exception == []
        cards[name] = texts(app)
        assert "How far does accuracy fall on new sources?" in cards[name]
        [command] = [code.value for code in app.code if code.value.startswith("python -m core check")]
        assert f"--model {first if name == 'first' else second}" in command
    assert "model “first”" in cards["first"]
    assert "model “first”" not in cards["second"]
    assert "setting that does not exist here" in texts(
        open_page("overview", data=wine.fingerprint, sheet_model="third")
    )


def test_runs_that_others_rest_on_are_no_verdicts(open_page, workspace, wine):
    plan = SourcesPlan("deep_kmeans", n_sources=2, n_clusterings=1)
    stored_run(workspace, wine, plan=plan)
    assert "Nothing has been computed for this data set yet" in texts(open_page("overview", data=wine.fingerprint))


def test_a_question_has_one_card_of_its_newest_run_with_results(open_page, workspace, wine):
    kept = stored_run(workspace, wine)
    stored_run(workspace, wine, plan=replace(PLAN, seed=1), n_trials=2)
    stored_run(workspace, wine, plan=replace(PLAN, seed=2), n_trials=0)
    app = open_page("overview", data=wine.fingerprint)
    opened = [link.proto.query_string for link in app.get("page_link") if link.proto.label == "Open"]
    [query] = [each for each in opened if "seed=" in each]
    assert f"seed={PLAN.seed}" in query
    assert kept.state == "done"
    assert "All 3 runs of this data set" in {link.proto.label for link in app.get("page_link")}


def test_a_card_says_what_its_page_says(open_page, workspace, wine):
    stored_run(workspace, wine)
    settings = {name: values[0] for name, values in (plan_parameters(PLAN) or {}).items() if len(values) == 1}
    page = open_page("source_robustness", data=wine.fingerprint, **settings)
    verdict = next(one.value for one in page.markdown if "held out so far" in one.value)
    assert verdict in [one.value for one in open_page("overview", data=wine.fingerprint).markdown]


def test_a_question_under_way_says_how_far_it_is_and_gives_no_advice(open_page, workspace, wine):
    stored_run(workspace, wine, n_trials=2)
    app = open_page("overview", data=wine.fingerprint)
    assert "Resume" in [button.label for button in app.button]
    assert "Next:" not in texts(app)


def test_a_run_of_an_unknown_plan_is_listed_without_a_link(open_page, workspace, wine, monkeypatch):
    stored_run(workspace, wine, plan=replace(PLAN, models=("svm",)), n_trials=1)
    without = {name: model for name, model in MODELS.items() if name != "svm"}
    monkeypatch.setattr(
        "touchstone.core.trials.trial_plan.MODELS", without
    )  # putting it back into MODELS would change its order
    assert "does not know" in texts(open_page("overview", data=wine.fingerprint))
    assert "does not know" in texts(open_page("runs"))


def test_start_leads_to_the_question_and_starts_it_there(open_page, workspace, monkeypatch):
    started = []
    monkeypatch.setattr(engine(), "start", lambda owner, run_id: started.append(run_id))
    app = open_page("overview", data="wine")
    app.button[0].click().run()
    assert app.title[0].value == "How far does accuracy fall on new sources?"
    assert started == [run.id for run in workspace.runs(LOCAL_OWNER)]
    assert app.button(key="run").disabled


def test_an_unknown_fingerprint_gets_a_sentence_and_no_result(open_page, workspace, wine):
    stored_run(workspace, wine)
    app = open_page("overview", data="0" * 64)
    assert "was deleted, or belongs" in texts(app)
    assert "rho" not in texts(app)
    assert not app.button
    assert app.selectbox(key="data_control").value is None


def test_the_address_keeps_the_data_set_when_the_page_changes(open_page, wine):
    app: AppTest = open_page("overview", data=wine.fingerprint)
    app.query_params.clear()  # as the navigation does
    app.switch_page("../../pages/runs.py").run()
    assert app.query_params["data"] == wine.fingerprint
    assert app.selectbox(key="data_control").value == wine.fingerprint


def test_choosing_another_data_set_changes_the_address(open_page, wine):
    app = open_page("overview")
    app.selectbox(key="data_control").select(wine.fingerprint).run()
    assert app.query_params["data"] == wine.fingerprint


def test_prediction_files_have_a_sheet_that_computes_nothing(open_page, workspace, monkeypatch):
    assert "Sheet of" not in [control.label for control in open_page("overview").get("button_group")]
    assert "No predictions yet" in texts(open_page("overview", sheet="prediction files"))
    for position, name in enumerate(("old.tsv", "new.tsv")):
        store(workspace, name, made(300, 0.0, position))
    monkeypatch.setattr(PredictionUpload, "read", lambda upload: pytest.fail("the overview read a file"))
    said = texts(open_page("overview", sheet="prediction files")).replace("\\", "")
    assert "2 files of predictions: new.tsv and old.tsv" in said
    assert "Accuracy falls" not in said


def shown_accuracies(app: AppTest, metric: str = "accuracy") -> tuple[list[str], list[float]]:
    """What stands on the axis of the sheet."""
    offered = [each.tables for each in app.session_state["take_away"].values() if "Accuracies" in each.tables]
    table = offered[0]["Accuracies"]()
    return table[metric].tolist(), table["value"].tolist()


def test_a_comparison_leaves_its_verdict_on_the_overview(open_page, workspace, capsys):
    files = {"reference": made(900, 0.0, 1), "target": made(500, 0.15, 2)}
    two = {side: store(workspace, f"{side}.tsv", content) for side, content in files.items()}
    headline = next(
        one.value for one in settled(open_page("matched_subsets", **two)).markdown if "Accuracy falls" in one.value
    )
    assert "Accuracy falls" not in texts(open_page("overview"))
    app = open_page("overview", sheet="prediction files")
    assert next(one.value for one in app.markdown if "Accuracy falls by" in one.value) == headline
    assert "target.tsv against reference.tsv" in texts(app).replace("\\", "")
    assert re.search(r"About prediction files · \d\d \w{3} \d{4}, \d\d:\d\d UTC", texts(app).replace("\\", ""))
    assert len(app.get("plotly_chart")) == 1
    query = next(link.proto.query_string for link in app.get("page_link") if link.proto.label == "Open")
    assert f"reference={two['reference']}&target={two['target']}" in query
    page = sent_report(app)
    assert "Accuracy falls by" in page
    assert all(f"fingerprint {file}" in page for file in two.values())
    [command] = [code.value for code in app.code if "core check" in code.value]
    assert f"--predictions {two['reference']} {two['target']} " in command
    assert main(shlex.split(command)[3:]) == 0
    numbers = pd.read_csv(io.StringIO(capsys.readouterr().out), sep="\t").set_index("number")
    on_axis = dict(zip(*shown_accuracies(app), strict=True))
    assert numbers.loc["matched_subsets.target[the model]", "value"] == on_axis["the model: new test set"]
    workspace.delete_predictions(LOCAL_OWNER, two["target"])
    assert "Accuracy falls" not in texts(open_page("overview", sheet="prediction files"))


def test_models_that_were_compared_stand_on_the_sheet_and_its_link_compares_them_again(open_page, workspace, capsys):
    files = {"reference": predictions(0.7, 1), "target": predictions(0.9, 2)}
    two = {side: store(workspace, f"{side}.tsv", content, ROLES) for side, content in files.items()}
    settled(open_page("model_comparison", **two, metric="balanced accuracy", margin="0.02"))
    app = open_page("overview", sheet="prediction files")
    assert "target.tsv is better than reference.tsv: balanced accuracy " in plainly(app)
    assert "target.tsv against reference.tsv" in plainly(app)
    assert "On samples like these, expect balanced accuracy " in plainly(app)
    labels, values = shown_accuracies(app, "balanced_accuracy")
    assert {label.partition(" (")[0] for label in labels} == {"reference.tsv", "target.tsv"}
    assert min(values) < 0.8 < max(values)
    [open_it] = [link.proto for link in app.get("page_link") if link.proto.label == "Open"]
    assert "metric=balanced+accuracy" in open_it.query_string
    assert "margin=0.02" in open_it.query_string
    [command] = [code.value for code in app.code if "core compare" in code.value]
    assert main(shlex.split(command)[3:]) == 0
    assert "balanced_accuracy\ttarget\treference\t" in capsys.readouterr().out
    offered = app.session_state["share_offer"]
    st.cache_resource.clear()
    again = settled(open_page("overview", **offered.parameters))
    assert "target.tsv is better than reference.tsv: balanced accuracy " in plainly(again)
    other = open_page("overview", sheet="prediction files", compared=urlencode({**two, "question": "charm"}))
    assert "This address names a question that there is not: charm." in plainly(other)


def test_comparisons_outlive_the_server_are_listed_lead_to_their_page_and_are_deleted(open_page, workspace):
    contents = {"reference": predictions(0.7, 1), "target": predictions(0.9, 2)}
    two = {side: store(workspace, f"{side}.tsv", content, ROLES) for side, content in contents.items()}
    settled(open_page("model_comparison", **two, metric="balanced accuracy", margin="0.02"))
    settled(open_page("matched_subsets", **two))
    [newest, first] = workspace.comparisons(LOCAL_OWNER)
    assert (newest.question, first.question) == ("matched_subsets", "model_comparison")
    headline = first.says
    assert headline.startswith("target.tsv is better than reference.tsv: balanced accuracy ")
    st.cache_resource.clear()  # a server that has just begun
    app = settled(open_page("overview", sheet="prediction files"))
    assert headline in plainly(app)
    assert len([link for link in app.get("page_link") if link.proto.label == "Open"]) == 2
    assert [each.created for each in workspace.comparisons(LOCAL_OWNER)] == [newest.created, first.created]
    st.cache_resource.clear()
    for stem, each in (("matched_subsets", newest), ("model_comparison", first), ("weak_slices", None)):
        led = [link.proto for link in open_page(stem).get("link_button") if link.proto.label.startswith("The newest")]
        assert [link.url.partition(f"/{stem}?")[2] for link in led] == ([each.address] if each else [])
    settled(open_page("overview", sheet="prediction files"))
    runs = open_page("runs")
    assert "2 comparisons of prediction files" in {fold.label for fold in runs.expander}
    assert headline in plainly(runs)
    assert any("margin=0.02" in link.proto.query_string for link in runs.get("page_link"))
    runs.button(key=f"forget-{first.created}").click().run()
    assert headline not in plainly(runs)
    assert headline not in plainly(settled(open_page("overview", sheet="prediction files")))


def test_the_axis_of_files_is_of_the_chosen_metric_and_so_are_report_and_link(open_page, workspace):
    two = {
        side: store(workspace, f"{side}.tsv", made(600, fall, 1)) for side, fall in (("reference", 0), ("target", 0.2))
    }
    settled(open_page("matched_subsets", **two, metric="macro F1"))
    app = open_page("overview", sheet="prediction files")
    assert app.selectbox(key="metric").value == "f1_macro-None", "what the files were compared by"
    assert "On the new test set, expect macro F1 " in plainly(app)
    app.selectbox(key="metric").select("balanced_accuracy-None").run()
    assert "On the new test set, expect balanced accuracy " in plainly(app)
    assert "Macro F1 falls by" in plainly(app), "the answer stays about what it was made for"
    [drawn] = [chart.proto.alt for chart in app.get("plotly_chart")]
    assert drawn.startswith("Balanced accuracy on one axis.")
    assert "Baseline: 33.3 %." in plainly(app)
    offered = app.session_state["share_offer"]
    assert offered.parameters["metric"] == offered.view.settings["metric"] == ["Balanced accuracy"]
    assert "Balanced accuracy you can plan for." in sent_report(app)
    again = settled(open_page("overview", **offered.parameters))
    assert "On the new test set, expect balanced accuracy " in plainly(again)
    assert "does not exist here" in texts(open_page("overview", sheet="prediction files", metric="Charm"))


def test_samples_are_cross_examined_from_the_runs_of_the_sheet(open_page, workspace, wine):
    stored_run(workspace, wine, plan=FoldPlan(models=("logistic",), n_folds=3, seeds=(0, 1, 2)))
    app = open_page("overview", data=wine.fingerprint)
    assert {"Which groups of samples are weak?", "Which class is weakest?"} <= {fold.label for fold in app.expander}
    assert "against the others" not in texts(app)
    for part in ("weak-groups", "weak-classes", "hard-samples"):
        app.session_state[f"fold-{part}"] = True
    app.run()
    assert not app.exception
    said = texts(app)
    assert "class is significantly weaker" in said or "against the others" in said
    assert "when held out" in said or "roup" in said
    table = next(frame.value for frame in app.dataframe if "Held-out accuracy" in frame.value)
    assert set(table["Samples"]) <= {f"Class “{name}”" for name in wine.class_names}
    drawn = [chart.proto.alt for chart in app.get("plotly_chart")]
    assert len(drawn) == 3, "the axis, the confusion matrix and the map"
    assert any(alt.startswith("Confusion matrix of samples held out (Logistic regression, ") for alt in drawn)
    app.session_state["map_selected"] = (wine.fingerprint, (3, 100))
    app.run()
    assert "2 samples selected**, here and on every map" in plainly(app)
    listed = next(frame.value for frame in app.dataframe if "predicted" in frame.value)
    assert listed["id"].tolist() == [wine.ids[3], wine.ids[100]]
    [mapped] = [chart.proto for chart in app.get("plotly_chart") if chart.proto.alt.startswith("Map of")]
    assert any(trace.get("selectedpoints") for trace in json.loads(mapped.spec)["data"]), "the map follows"


def test_a_run_under_way_gives_no_advice_about_classes(open_page, workspace, wine):
    stored_run(workspace, wine, plan=FoldPlan(models=("svm", "logistic"), n_folds=3, seeds=(0, 1, 2)), n_trials=3)
    app = open_page("overview", data=wine.fingerprint)
    app.session_state["fold-weak-classes"] = True
    app.run()
    assert not app.exception
    assert "Next:" not in texts(app)


def test_models_that_were_tried_alike_stand_side_by_side(open_page, workspace, wine):
    stored_run(workspace, wine, plan=FoldPlan(models=("logistic",), n_folds=3, seeds=(0, 1, 2)))
    title = "Which model is better?"
    assert title not in {fold.label for fold in open_page("overview", data=wine.fingerprint).expander}
    stored_run(workspace, wine, plan=FoldPlan(models=("logistic", "svm"), n_folds=3, seeds=(0, 1, 2)))
    app = open_page("overview", data=wine.fingerprint)
    app.session_state["fold-model-pairs"] = True
    app.run()
    assert not app.exception
    table = next(frame.value for frame in app.dataframe if "Against" in frame.value)
    assert set(table["Of"]) == {"accuracy, Random folds", "accuracy, SDS k-means folds"}


def test_a_run_that_no_page_can_show_says_so_on_its_card(open_page, workspace, wine):
    stored_run(workspace, wine, plan=FoldPlan(models=("svm", "logistic"), n_folds=3, seeds=(0, 5, 6)))
    assert NO_PAGE in texts(open_page("overview", data=wine.fingerprint))
    stored_run(workspace, wine, plan=FoldPlan(models=("logistic",), n_folds=3, seeds=(0, 1, 2)))
    assert NO_PAGE not in texts(open_page("overview", data=wine.fingerprint))


def of_two_models(n: int) -> bytes:
    """A file with the predictions of two models on the same samples."""
    rng = np.random.default_rng(n)
    gold = np.array(["cat", "dog"])[rng.integers(2, size=n)]
    parts = [
        pd.DataFrame({"id": np.arange(n), "gold": gold, "predicted": np.where(rng.random(n) < 0.9, gold, "cat")})
        for _ in ("mlp", "vit")
    ]
    rows = pd.concat([of.assign(model=name) for name, of in zip(("mlp", "vit"), parts, strict=True)])
    return rows.assign(confidence=rng.uniform(0.5, 1, len(rows))).to_csv(sep="\t", index=False).encode()


def test_models_of_prediction_files_stand_side_by_side(open_page, workspace):
    roles, sides = replace(ROLES, model="model"), {"reference": 400, "target": 300}
    two = {side: store(workspace, f"{side}.tsv", of_two_models(n), roles) for side, n in sides.items()}
    settled(open_page("matched_subsets", **two))
    app = open_page("overview", sheet="prediction files")
    app.session_state["fold-model-pairs"] = True
    app.run()
    assert not app.exception
    assert re.search(r"Largest fall: \w+, .* points \[.*\], n = 400 reference and 300 new samples", plainly(app))
    table = next(frame.value for frame in app.dataframe if "Against" in frame.value)
    assert set(table["Of"]) == {
        "accuracy, reference.tsv",
        "accuracy, target.tsv",
        "accuracy on target.tsv less that on reference.tsv",
    }


def test_the_table_of_samples_says_which_were_matched(open_page, workspace, wine):
    names = np.array(wine.class_names)[wine.y]
    for side, seed in (("reference", 0), ("target", 1)):
        rows = pd.DataFrame({"id": wine.ids, "gold": names, "predicted": names})
        rows["confidence"] = np.random.default_rng(seed).uniform(0.5, 1, len(rows))
        part = rows.iloc[:100] if side == "reference" else rows.iloc[100:]
        two = {} if side == "reference" else two
        two[side] = store(workspace, f"{side}.tsv", part.to_csv(sep="\t", index=False).encode())
    settled(open_page("matched_subsets", **two))
    stored_run(workspace, wine, plan=FoldPlan(models=("logistic",), n_folds=3, seeds=(0, 1, 2)))
    app = open_page("overview", data=wine.fingerprint)
    app.session_state["fold-hard-samples"] = True
    app.run()
    assert not app.exception
    offered = app.session_state["take_away"].values()
    known = next(of.tables["Samples, all methods"]() for of in offered if "Samples, all methods" in of.tables)
    assert known["subset"].notna().all()
    assert set(known["subset"]) >= {"matched reference", "unmatched target"}


@pytest.mark.parametrize("change", [{"target": "0" * 64}, {"by": "colour"}, {"reference_set": "nowhere"}])
def test_an_address_of_comparisons_that_cannot_be_made_gets_a_sentence_and_no_result(open_page, workspace, change):
    two = {side: store(workspace, f"{side}.tsv", made(300, 0.1, n)) for n, side in enumerate(("reference", "target"))}
    settled(open_page("matched_subsets", **two))
    app = open_page("overview", sheet="prediction files", compared=urlencode({**two, **change}))
    assert len(app.error) == 1
    assert "Accuracy falls" not in texts(app)
    assert not app.get("plotly_chart")
