import base64
import json
from functools import lru_cache

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.models.test_onnx import linear, onnx_file
from tests.pages.conftest import charts, plainly, run_of_rows, texts
from touchstone.core.data import Dataset, load_example
from touchstone.core.evaluate.average_case.plan import AverageCasePlan
from touchstone.core.evaluate.average_case.robustness import evaluate_robustness
from touchstone.core.models import MODELS
from touchstone.core.models.model_file import ModelFile, model_fingerprint
from touchstone.core.report import average_case as report
from touchstone.core.trials import Context, TrainingPlan, to_json
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace, frames, load_plan
from touchstone.ui.forms.plan_form import stored_parameters

SIGMAS = (0.1, 0.25, 0.5, 1.0)
TRAINING = TrainingPlan("linear", n_epochs=30)


@lru_cache(maxsize=4)
def trained(name: str) -> tuple[Dataset, bytes, int]:
    """A linear model of an example, trained as the page would: the bytes that are stored, and how many it got right."""
    data = load_example(name)
    train, test = TRAINING.split(data)
    model = MODELS["linear"](n_epochs=30).fit(data.x[train], data.y[train], seed=0, n_classes=data.n_classes)
    file = ModelFile(model.trained(data).to_bytes(), "linear.safetensors", data.fingerprint)
    return data, file.to_bytes(), int((model.predict(data.x[test]) == data.y[test]).sum())


def kept(workspace: Workspace, name: str, *, uploaded: bool = False) -> tuple[Dataset, str]:
    """The example and its model in the workspace."""
    data, model, n_correct = trained(name)
    workspace.add_dataset(LOCAL_OWNER, data, example=name)
    about = {"training_plan": to_json(TRAINING), "n_test": len(TRAINING.split(data).test), "n_correct": n_correct}
    return data, workspace.keep_model(LOCAL_OWNER, model, name="linear", **({} if uploaded else about))


def planned(model: str, **fields) -> AverageCasePlan:
    """What the page asks for by default of a table."""
    return AverageCasePlan(
        model, **{"sigmas": SIGMAS, "shape": "per_feature", "n_samples": 500, "n_audit": 50} | fields
    )


@lru_cache(maxsize=8)
def rows_of(name: str, plan: AverageCasePlan) -> tuple[bytes, ...]:
    data, model, _ = trained(name)
    context = Context(model={plan.model: model}.__getitem__)
    return tuple(frames.to_bytes(plan.run_trial(data, trial, context=context)) for trial in range(plan.n_trials(data)))


def stored_run(workspace: Workspace, name: str, plan: AverageCasePlan, *, n_trials: int | None = None) -> Run:
    """A run of which the first trials (all of them, by default) are done."""
    rows = rows_of(name, plan)[:n_trials]
    return run_of_rows(workspace, trained(name)[0], plan, rows, done=n_trials is None)


def opened(app: AppTest) -> AppTest:
    """The same page with everything open that is folded."""
    for name in ("more-findings", "sigmas", "linked", "audit"):
        app.session_state[f"fold-{name}"] = True
    return app.run()


def test_without_a_model_the_page_asks_for_one(open_page, wine):
    app = open_page("average_case", data=wine.fingerprint)
    assert app.title[0].value == "Which samples and classes are fragile under noise?"
    assert "Train one here, or upload one" in plainly(app)
    assert not app.metric
    assert "run" not in [button.key for button in app.button]


def test_with_nothing_computed_it_shows_the_noise_and_what_will_be_done(open_page, workspace):
    data, model = kept(workspace, "digits")
    app = open_page("average_case", data=data.fingerprint, model=model)
    said = plainly(app)
    assert "Not computed yet for these settings" in said
    n_test = len(TRAINING.split(data).test)
    assert f"judges {n_test} samples at 4 sigmas and checks 50 of them" in said
    assert "sigma 0.1: about 0.8 away (sigma times the root of 64)" in said
    assert len(app.get("image")) == 6 * 5
    assert not app.button(key="run").disabled


def test_a_finished_run_shows_everything(open_page, workspace):
    data, model = kept(workspace, "wine")
    stored_run(workspace, "wine", planned(model))
    app = open_page("average_case", data=data.fingerprint, model=model)
    assert len([alt for alt in charts(app) if alt]) == 1, "all but the main figure is folded"
    assert "Can these numbers be trusted? MMSE is off by" in "".join(each.label for each in app.expander)
    app = opened(app)
    assert app.button(key="run").disabled
    labels = [metric.label.replace("\\", "") for metric in app.metric]
    assert labels == [
        "Mean p_robust",
        "Largest gap of classes",
        "Adversarial example within reach",
        "Error vs. Monte-Carlo",
    ]
    said = plainly(app)
    assert "n = 36; means from 32 fresh noisy copies of each, single samples estimated by MMSE" in said
    assert "In median samples, half of the noisy copies change class" in said
    assert "Kruskal-Wallis test over classes" in said
    assert "The paper says that MMSE converges around N = 5" in said
    shown = charts(app)
    assert all(shown)
    starts = (
        "p_robust by class",
        "Median sigma-50 by class",
        "Mean p_robust over",
        "Largest gap",
        "p_robust against softmax",
        "Map of 36",
    )
    starts += (
        "Each estimator's mean absolute error",
        "Each estimator's bias",
        "Mean absolute error by noisy copies",
        "Multivariate sigmoid",
    )
    for start in starts:
        assert any(alt.startswith(start) for alt in shown), start
    assert "Least and most robust samples" in said
    files = {button.label for button in app.get("download_button")}
    for table in ("Samples", "Classes", "Audit", "Audited", "Convergence"):
        assert {f"{table} ({form})" for form in ("TSV", "Parquet", "for spreadsheets")} <= files
    assert {
        "Report (HTML)",
        "Report (Markdown)",
        "Report with the rows of every trial (HTML)",
        "Parameters (JSON)",
    } <= files


def test_the_numbers_on_the_page_are_those_of_the_rows(open_page, workspace):
    data, model = kept(workspace, "wine")
    stored_run(workspace, "wine", planned(model))
    app = opened(open_page("average_case", data=data.fingerprint, model=model, at="1"))
    table = next(frame.value for frame in app.dataframe if "Times faster" in frame.value)
    errors = {row["Estimator"]: row["Error"] for _, row in table.iterrows()}
    assert float(errors["MMSE"].split()[0]) < 0.02, "a linear model: the analytic answer is right"
    assert "noise level sigma 1" in plainly(app)


@pytest.mark.parametrize("asked", [None, "class_1"])
def test_least_robust_samples_are_the_least_robust(open_page, workspace, asked):
    data, model = kept(workspace, "wine")
    run = stored_run(workspace, "wine", planned(model))
    app = open_page("average_case", data=data.fingerprint, model=model, **({"class": asked} if asked else {}))
    rows = workspace.rows(LOCAL_OWNER, run.id)
    counted = rows[(rows["part"] == "counted") & (rows["sigma"] == 0.5)]
    rows = rows[(rows["part"] == "samples") & (rows["sigma"] == 0.5) & (rows["estimator"] == "mmse")]
    code = data.class_names.index(asked) if asked else int(counted.groupby("label")["p_robust"].mean().idxmin())
    of_class = rows[rows["label"] == code].sort_values("p_robust")
    assert f"Least and most robust samples of “{data.class_names[code]}”" in plainly(app)
    assert any(f"class={asked or 'the+least+robust+class'}" in link.value for link in app.code)
    tables = [frame.value for frame in app.dataframe if "p_robust (%)" in frame.value]
    assert len(tables) == 2  # by softmax confidence they stand in a part that is closed
    assert tables[0]["id"].iloc[0] == data.ids[int(of_class["row"].iloc[0])]
    assert float(tables[0]["p_robust (%)"].iloc[0]) == pytest.approx(100 * of_class["p_robust"].iloc[0], abs=0.06)


def test_an_unfinished_run_shows_what_there_is_and_offers_to_go_on(open_page, workspace):
    data, model = kept(workspace, "wine")
    run = stored_run(workspace, "wine", planned(model), n_trials=2)
    app = opened(open_page("average_case", data=data.fingerprint, model=model))
    assert app.button(key=f"resume-{run.id}").label == "Resume"
    assert "No sample has been audited" in plainly(app)
    assert any(alt.startswith("p_robust by class") for alt in charts(app))


def test_an_unknown_model_gets_a_sentence_and_no_result(open_page, workspace):
    data, model = kept(workspace, "wine")
    stored_run(workspace, "wine", planned(model))
    app = open_page("average_case", data=data.fingerprint, model="0" * 64)
    assert "No result is shown" in plainly(app)
    assert not app.metric
    assert charts(app) == []


def test_an_unknown_value_in_the_address_gets_a_sentence_and_no_result(open_page, workspace):
    data, model = kept(workspace, "wine")
    stored_run(workspace, "wine", planned(model))
    for parameters in ({"noise": "salt"}, {"estimator": "Magic"}, {"judged": "1"}, {"at": "7"}):
        app = open_page("average_case", data=data.fingerprint, model=model, **parameters)
        assert "setting that does not exist here" in texts(app), parameters
        assert not app.metric
        assert charts(app) == []


def test_sigmas_that_are_no_numbers_get_a_sentence_and_are_kept(open_page, workspace):
    data, model = kept(workspace, "wine")
    app = open_page("average_case", data=data.fingerprint, model=model, sigmas_columns="0.1; much", audited="7")
    assert "Sigmas are numbers separated by commas" in app.error[0].value.replace("\\", "")
    assert app.text_input(key="sigmas_columns").value == "0.1; much"
    assert app.number_input(key="audited").value == 7
    assert app.number_input(key="seed").value == 0
    assert not app.metric


def test_an_odd_number_of_antithetic_copies_gets_a_sentence(open_page, workspace):
    data, model = kept(workspace, "wine")
    app = open_page("average_case", data=data.fingerprint, model=model, copies="5")
    assert "even number for antithetic pairs" in app.error[0].value.replace("\\", "")
    assert app.number_input(key="copies").value == 5


def test_the_address_of_a_plan_leads_to_the_very_same_run(open_page, workspace):

    data, model = kept(workspace, "wine")
    plan = planned(model, sigmas=(0.2, 0.4), estimators=("taylor", "softmax"), noise="laplace", n_audit=10, seed=3)
    stored_run(workspace, "wine", plan)
    parameters = stored_parameters(plan)
    assert parameters is not None
    app = open_page("average_case", data=data.fingerprint, **parameters)
    assert app.button(key="run").disabled, "the address leads to another plan"
    assert "by Taylor" in plainly(app)
    assert stored_parameters(planned(model, n_samples=None)) is None, "no control says 'all of them'"
    assert stored_parameters(planned("f" * 64)) is None, "its model is gone"


def test_nothing_is_advised_while_a_run_is_under_way():
    data, model, _ = trained("wine")
    rows = frames.from_bytes(list(rows_of("wine", planned(model_fingerprint(model)))))
    found = evaluate_robustness(rows, class_names=data.class_names)
    done, running = (report.answer(found, sigma=1.0, finished=finished).verdict for finished in (True, False))
    assert done.advice.startswith("Next:")
    assert (running.headline, running.advice) == (done.headline, "")


def test_a_run_with_named_directions_says_which_breaks_a_class_most(open_page, workspace):
    data, model = kept(workspace, "wine")
    stored_run(workspace, "wine", planned(model, directions=True, n_audit=0))
    app = open_page("average_case", data=data.fingerprint, model=model, directions="looked at", audited="0")
    assert "of 13 named directions" in plainly(app)
    app.session_state["fold-directions"] = True
    assert any(alt.startswith("Share that keeps the prediction by class and direction") for alt in charts(app.run()))
    assert "Directions (TSV)" in {button.label for button in app.get("download_button")}


def test_noise_of_small_changes_is_shown_as_it_is_computed(open_page, workspace):
    data, model = kept(workspace, "digits")
    app = open_page("average_case", data=data.fingerprint, model=model, shape="as light, blur and shifts do")
    assert not app.exception
    assert len(app.get("image")) == 6 * 5
    assert "Shown with each pixel's own spread" not in plainly(app)


def test_of_an_uploaded_model_all_samples_are_judged(open_page, workspace):
    data, model = kept(workspace, "wine", uploaded=True)
    app = open_page("average_case", data=data.fingerprint, model=model)
    assert "judges 178 samples" in plainly(app)
    assert "including possible training samples" in plainly(app)


def test_noise_that_is_not_normal_says_what_the_numbers_rest_on(open_page, workspace):
    data, model = kept(workspace, "wine")
    app = open_page("average_case", data=data.fingerprint, model=model, noise="uniform")
    assert "rest on the central limit theorem" in plainly(app)
    app = open_page("average_case", data=data.fingerprint, model=model, noise="uniform", estimator="Monte-Carlo")
    assert "central limit theorem" not in plainly(app)


def test_the_overview_says_the_verdict_and_leads_to_the_page(open_page, workspace):
    data, model = kept(workspace, "wine")
    stored_run(workspace, "wine", planned(model))
    app = open_page("overview", data=data.fingerprint)
    said = plainly(app)
    assert "Which samples and classes are fragile under noise?" in said
    assert "p_robust" in said or "robust" in said
    link = next(
        one for one in app.get("page_link") if "average_case" in one.proto.page and "model=" in one.proto.query_string
    )
    assert model in link.proto.query_string


def test_text_samples_stand_in_full(open_page, workspace):
    rng = np.random.default_rng(0)
    words = [rng.choice(300, 8) + 200 * (row % 2) for row in range(120)]
    x = [" ".join(f"w{word}" for word in row) for row in words]
    data = Dataset(
        "words", "text", x, [row % 2 for row in range(120)], ("low", "high"), [f"t{row}" for row in range(120)]
    )
    workspace.add_dataset(LOCAL_OWNER, data)
    train = TRAINING.split(data).train
    model = MODELS["linear"](n_epochs=40).fit(data.x[train], data.y[train], seed=0, n_classes=2)
    stored = ModelFile(model.trained(data).to_bytes(), "linear.safetensors", data.fingerprint).to_bytes()
    name = workspace.keep_model(
        LOCAL_OWNER, stored, name="words", training_plan=json.dumps(json.loads(to_json(TRAINING)))
    )
    assert name == model_fingerprint(stored)
    plan = planned(name, n_audit=10, sigmas=(0.5,))
    run = workspace.create_run(LOCAL_OWNER, plan, data.fingerprint)
    assert workspace.acquire(LOCAL_OWNER, run.id, "test")
    for trial in range(plan.n_trials(data)):
        rows = plan.run_trial(data, trial, context=Context(model={name: stored}.__getitem__))
        workspace.store_trials(LOCAL_OWNER, run.id, {trial: frames.to_bytes(rows)})
    workspace.release(LOCAL_OWNER, run.id, "test", "done")
    app = open_page("average_case", data=data.fingerprint, model=name, sigmas_columns="0.5", audited="10")
    assert any("w" in str(table.value) for table in app.table)
    assert "a noisy text cannot be shown" in plainly(app)


def test_what_was_selected_on_the_map_stands_out_and_below(open_page, workspace):
    data, model = kept(workspace, "wine")
    stored_run(workspace, "wine", planned(model))
    app = opened(open_page("average_case", data=data.fingerprint, model=model))
    assert "selected" not in plainly(app)
    rows = planned(model).order(data)[:3].tolist()
    app.session_state["map_selected"] = (data.fingerprint, tuple(rows))
    app.run()
    assert "3 samples selected" in plainly(app)
    table = next(frame.value for frame in app.dataframe if list(frame.value.get("id", [])) == data.ids[rows].tolist())
    assert len(table) == 3
    chart = next(chart for chart in app.get("plotly_chart") if "against softmax" in chart.proto.alt)
    packed = [trace["selectedpoints"] for trace in json.loads(chart.proto.spec)["data"]]  # nothing is written as []
    assert sum(len(np.frombuffer(base64.b64decode(part["bdata"]), part["dtype"])) for part in packed if part) == 3


def test_an_onnx_model_goes_from_its_file_to_a_verdict_without_gradients(open_page, workspace):
    """Whatever its file is called."""
    pytest.importorskip("onnxruntime")
    data = load_example("digits")
    workspace.add_dataset(LOCAL_OWNER, data, example="digits")
    app = open_page("average_case", data=data.fingerprint, sigmas="0.3", judged="40", audited="10", at="0.3")
    app.file_uploader(key="model-file-0").upload("mine", onnx_file(linear()), "application/octet-stream")
    app.button(key="upload-model").click().run()
    assert not app.exception
    (model,) = workspace.models(LOCAL_OWNER, data.fingerprint)
    assert not model.has_gradients
    (offered,) = (control for control in app.segmented_control if control.label == "Estimator")
    assert offered.options == ["Normal logits (ours)", "Monte-Carlo"]

    app.button(key="run").click().run()
    (run,) = workspace.runs(LOCAL_OWNER, data.fingerprint)
    plan = load_plan(run.plan)
    context = Context(model={model.fingerprint: workspace.model_bytes(LOCAL_OWNER, model.fingerprint)}.__getitem__)
    for trial in range(run.n_trials):
        rows = plan.run_trial(data, trial, context=context)
        workspace.store_trials(LOCAL_OWNER, run.id, {trial: frames.to_bytes(rows)})
    assert set(rows["estimator"]) <= {"monte_carlo", "gaussian_logits", "softmax"}
    app.run()
    assert (
        "n = 40; means from 32 fresh noisy copies of each, single samples estimated by Normal logits (ours)"
        in plainly(app)
    )
