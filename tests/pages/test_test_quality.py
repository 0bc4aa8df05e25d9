"""The page of test-set quality: models, records of features, addresses, what is absent, covariate shift, downloads."""

from urllib.parse import parse_qsl

import numpy as np
import pytest

from tests.evaluate.feature_populations import cloud, head
from tests.models.test_tried import endless
from tests.pages.conftest import charts, plainly, run_of_rows
from tests.pages.test_average_case import kept
from touchstone.core.data import Dataset, load_example
from touchstone.core.evaluate.test_quality.quality import RegionChoice, measure_quality
from touchstone.core.evaluate.test_quality.shift_plan import CovariateShiftPlan
from touchstone.core.models import MODELS, uploaded_model
from touchstone.core.models.layer_files import record_of
from touchstone.core.models.model_file import ModelFile
from touchstone.core.questions import QUESTIONS
from touchstone.core.trials import Context, TrainingPlan, to_json
from touchstone.core.trials.layer_parts import UPLOADED, layer_parts, split_of
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace, frames, load_plan
from touchstone.ui.forms.plan_form import stored_parameters
from touchstone.ui.shell.page import plain
from touchstone.ui.test_quality.results import SHIFT, region_parameters

FEW = {"layer": UPLOADED, "n_dimensions": 3, "n_components": 1}


def recorded(workspace: Workspace, train, test, *, name: str = "clouds") -> tuple[Dataset, str]:
    """Features and probabilities without a model, in the workspace."""
    data, record = record_of(train, test, name=name)
    workspace.add_dataset(LOCAL_OWNER, data)
    return data, workspace.keep_model(LOCAL_OWNER, record.to_bytes(), name=name, has_gradients=False)


def clouds(workspace: Workspace, n_classes: int = 3, n_train=60, n_test=40, **made) -> tuple[Dataset, str]:
    of = head(n_classes, 6, apart=3.0)
    return recorded(workspace, cloud(of, n_train), cloud(of, n_test, seed=2, **made))


def stored_shift(workspace: Workspace, data: Dataset, model: str, *, n_trials: int | None = None, **fields) -> Run:
    """A run of covariate shift of which the first trials (all of them, by default) are done."""
    about = workspace.stored_model(LOCAL_OWNER, model)
    plan = CovariateShiftPlan(model, **FEW | fields, **split_of(about.training_plan, data))
    context = Context(model={model: workspace.model_bytes(LOCAL_OWNER, model)}.__getitem__)
    trials = range(plan.n_trials(data) if n_trials is None else n_trials)
    rows = [frames.to_bytes(plan.run_trial(data, trial, context=context)) for trial in trials]
    return run_of_rows(workspace, data, plan, rows, done=n_trials is None)


def unfolded(app):
    """The same page with everything open that is folded."""
    for name in (
        "more-findings",
        "detail",
        "confusions",
        "classes",
        "pairs",
        "beside",
        "two-classes",
        "numbers",
        "shift-classes",
    ):
        app.session_state[f"fold-{name}"] = True
    return app.run()


def metric(app, label: str) -> str:
    return next(one.value.replace("\\", "") for one in app.metric if one.label == label)


def test_without_a_model_the_page_asks_for_one(open_page, wine):
    app = open_page("test_quality", data=wine.fingerprint)
    assert app.title[0].value == "Does the test set cover the feature space?"
    assert "Train one here, or upload one" in plainly(app)
    assert not app.metric
    assert charts(app) == []


def test_a_model_gets_its_verdict_figures_tables_and_files(open_page, workspace):
    data, model = kept(workspace, "wine")
    app = unfolded(open_page("test_quality", data=data.fingerprint, model=model))
    labels = [one.label for one in app.metric]
    assert labels == ["Test accuracy", "At a boundary", "Near a centroid", "Boundaries met"]
    said = plainly(app)
    assert "for all 3 classes at once; 36 test samples, 142 training samples" in said
    assert "cannot be ruled out: " in said
    starts = (
        "Error rates of 3 classes that the test set cannot rule out",
        "The three dimensions",
        "Box plots over classes of 1 model",
        "2 of 6 ordered pairs",
        "class_0 and class_1",
        "Confusion matrix of the test set.",
    )
    starts += ("Near the centroid (%) over", "At the boundary (%) over")
    shown = charts(app)
    for start in starts:
        assert any(alt.startswith(start) for alt in shown), start
    files = {button.label for button in app.get("download_button")}
    for name in ("Samples", "Classes", "Spreads", "Pairs", "Findings", "Error rates", "Curves", "Two classes"):
        assert {f"{name} (TSV)", f"{name} (Parquet)"} <= files
    assert "Covariate shift (TSV)" not in files
    [foot] = [caption.value for caption in app.caption if caption.value.startswith("142 training and 36 test samples")]
    assert "layer inputs" in foot.replace("\\", "")
    assert model[:12] not in foot, "identifiers stand where somebody asks for them"
    details = plainly(app)
    for part in (f"Data: {data.fingerprint}", f"Model: {model}", "Versions: numpy"):
        assert part in details, part


def test_the_numbers_are_those_of_the_layer(open_page, workspace):
    data, model = clouds(workspace)
    app = unfolded(open_page("test_quality", data=data.fingerprint, model=model, theta2="0.8", r="0.7"))
    parts = layer_parts(workspace.model_bytes(LOCAL_OWNER, model), data)
    found = measure_quality(parts.train, parts.test, theta2=0.8, r=0.7, rng=np.random.default_rng(0))
    assert metric(app, "At a boundary") == f"{100 * found.boundary.overall[2]:.1f} %"
    assert metric(app, "Near a centroid") == f"{100 * found.centroid.overall[2]:.1f} %"
    table = next(frame.value for frame in app.dataframe if "At boundary" in frame.value and "Rival" in frame.value)
    assert table["At boundary"].sum() == found.boundary.n_in.sum()
    assert table["Near centroid"].sum() == found.centroid.n_in.sum()
    assert table["Sample"].tolist() == data.ids[parts.test_rows].tolist()


def test_other_thresholds_give_another_verdict(open_page, workspace):
    data, model = clouds(workspace)
    low, high = (
        metric(open_page("test_quality", data=data.fingerprint, model=model, theta2=theta2), "At a boundary")
        for theta2 in ("0.5", "0.95")
    )
    assert float(low.split()[0]) < float(high.split()[0])


@pytest.mark.parametrize(
    "parameters", [{"layer": "third"}, {"theta2": "1.5"}, {"unit": "ell"}, {"beside": "mine"}, {"class": "nobody"}]
)
def test_an_unknown_value_in_the_address_gets_a_sentence(open_page, workspace, parameters):
    data, model = clouds(workspace)
    app = open_page("test_quality", data=data.fingerprint, model=model, **parameters)
    assert "setting that does not exist here" in plainly(app)
    assert not any("in a plane" in alt for alt in charts(app))


def test_an_address_with_an_unknown_layer_shows_no_result(open_page, workspace):
    data, model = clouds(workspace)
    app = open_page("test_quality", data=data.fingerprint, model=model, layer="third")
    assert not app.metric
    assert charts(app) == []


def test_another_model_without_that_layer_is_shown_in_its_own(open_page, workspace):
    data, linear = kept(workspace, "digits")
    plan = TrainingPlan("cnn_1", n_epochs=1)
    network = MODELS["cnn_1"](n_epochs=1).fit(data.x[:300], data.y[:300], seed=0, n_classes=10).trained(data)
    file = ModelFile(network.to_bytes(), "cnn.safetensors", data.fingerprint, "cnn_1")
    deep = workspace.keep_model(LOCAL_OWNER, file.to_bytes(), name="deep", training_plan=to_json(plan))
    app = open_page("test_quality", data=data.fingerprint, model=deep, layer="last convolution")
    assert "layer last convolution" in plainly(app)
    app.selectbox(key="model-control").set_value(linear).run()
    assert not app.exception, app.exception[0].value
    assert not app.error
    assert "layer inputs" in plainly(app)


def test_a_model_that_is_gone_gets_a_sentence_and_no_result(open_page, workspace):
    data, _ = kept(workspace, "wine")
    app = open_page("test_quality", data=data.fingerprint, model="0" * 64)
    assert "No result is shown" in plainly(app)
    assert not app.metric
    assert charts(app) == []


def test_thresholds_that_leave_nothing_get_a_sentence_and_are_kept(open_page, workspace):
    data, model = clouds(workspace)
    app = open_page("test_quality", data=data.fingerprint, model=model, theta2="0.2")
    assert "confidences run from" in plainly(app)
    assert app.number_input(key="theta2").value == 0.2
    assert not app.metric


def test_a_class_without_a_test_sample_is_reported(open_page, workspace):
    data, model = clouds(workspace, n_test=[40, 40, 0])
    app = unfolded(open_page("test_quality", data=data.fingerprint, model=model, **{"class": "class 2"}))
    said = plainly(app)
    assert "“class 2” has no test sample, so its error rate is unknown." in said
    assert "There is no test sample of “class 2”" in said
    assert "add test samples of “class 2”." in said
    assert len(app.metric) == 4
    assert any(alt.startswith("class 2 and class") and "in a plane" in alt for alt in charts(app))


def test_a_class_with_one_training_sample_gets_a_sentence(open_page, workspace):
    data, model = clouds(workspace, n_train=[60, 60, 1])
    app = open_page("test_quality", data=data.fingerprint, model=model)
    assert "class 'class 2' has 1 training sample" in plainly(app)
    assert not app.metric
    assert len(app.get("expander")) > 0


def test_too_many_near_the_centroid_is_a_finding(open_page, workspace):
    data, model = clouds(workspace, n_train=200, n_test=100, shrunk=0.3)
    app = unfolded(open_page("test_quality", data=data.fingerprint, model=model))
    over = plainly(app)
    assert "lie near its centroid; a random split would have" in over
    assert "Add samples of “class 0” away from its centroid" in over


def test_names_of_classes_are_shown_as_they_are(open_page, workspace):
    of = head(2, 6, apart=3.0)
    parts = [cloud(of, n, seed=n) for n in (60, 20)]
    odd = [type(part)(part.features, part.labels, part.proba, ("<b>*a*</b>", "$b$")) for part in parts]
    data, model = recorded(workspace, *odd)
    app = unfolded(open_page("test_quality", data=data.fingerprint, model=model))
    assert any(r"\<b\>\*a\*" in one.value for one in app.markdown)
    assert "<b>*a*</b> and $b$ in a plane" in " ".join(charts(app))


def test_a_hundred_classes_have_a_table_beside_their_heat_map(open_page, workspace):
    data, model = clouds(workspace, n_classes=100, n_train=20, n_test=5)
    app = unfolded(open_page("test_quality", data=data.fingerprint, model=model))
    assert any("of 9\N{NARROW NO-BREAK SPACE}900 ordered pairs" in alt for alt in charts(app))
    top = next(frame.value for frame in app.dataframe if "Rival" in frame.value)
    assert 0 < len(top) <= 12
    assert len(next(frame.value for frame in app.dataframe if "Predicted as" in frame.value)) == 9900


def test_other_models_stand_beside_it_and_in_the_address(open_page, workspace):
    data, model = clouds(workspace)
    _, other = kept(workspace, "wine")
    written = f"linear · Wine · {other[:8]}"
    app = open_page("test_quality", data=data.fingerprint, model=model, beside=written)
    boxes = next(alt for alt in charts(app) if alt.startswith("Box plots"))
    assert "of 2 models" in boxes
    assert "clouds (clouds" in boxes
    assert "linear (Wine, inputs, " in boxes
    assert "beside=linear" in " ".join(code.value for code in app.code)


def test_the_rival_is_never_the_class_itself(open_page, workspace):
    data, model = clouds(workspace)
    app = open_page("test_quality", data=data.fingerprint, model=model, **{"class": "class 0", "rival_0": "class 1"})
    assert any(alt.startswith("class 0 and class 1 in a plane") for alt in charts(app))
    app.segmented_control(key="class").set_value("1").run()
    assert not app.exception
    assert not app.exception, app.exception[0].value
    assert not app.error
    chart = next(alt for alt in charts(app) if "in a plane" in alt)
    assert chart.startswith("class 1 and class")
    assert not chart.startswith("class 1 and class 1")


def test_what_is_selected_on_the_plane_stands_beside_it(open_page, workspace):
    data, model = clouds(workspace)
    app = unfolded(open_page("test_quality", data=data.fingerprint, model=model))
    assert "of the two at a boundary" in plainly(app)
    app.session_state["map_selected"] = (data.fingerprint, (181, 190))
    app.run()
    assert "2 samples selected" in plainly(app)
    assert "of the two at a boundary" not in plainly(app)


def test_what_is_selected_is_all_that_the_table_of_samples_has(open_page, workspace):
    data, model = clouds(workspace)
    app = unfolded(open_page("test_quality", data=data.fingerprint, model=model))

    def table():
        return next(frame.value for frame in app.dataframe if "Near centroid" in frame.value)

    every = table()
    chosen = [data.ids.tolist().index(id) for id in every["Sample"][:2]]
    app.session_state["map_selected"] = (data.fingerprint, tuple(chosen))
    app.run()
    assert table()["Sample"].tolist() == every["Sample"][:2].tolist()
    assert f"The 2 selected samples of {len(every)}." in plainly(app)
    app.button(key="clear-confusions").click().run()
    assert len(table()) == len(every)


def test_findings_lead_to_guided_tests_of_the_same_regions(open_page, workspace):
    data, model = clouds(workspace)
    app = open_page("test_quality", data=data.fingerprint, model=model, theta2="0.8", r="0.7")
    link = next(one for one in app.get("page_link") if one.proto.page == "guided_tests")
    query = dict(parse_qsl(link.proto.query_string))
    assert query["data"] == data.fingerprint
    assert query["model"] == model
    assert (query["theta2"], query["r"], query["layer"]) == ("0.8", "0.7", UPLOADED)


def test_the_menu_says_the_whole_address(open_page, workspace):
    data, model = clouds(workspace)
    chosen = {"theta2": "0.8", "r": "0.7", "theta1": "0.4", "class": "class 1"}
    app = open_page("test_quality", data=data.fingerprint, model=model, **chosen)
    address = next(code.value for code in app.code if "test_quality?" in code.value)
    for part in (
        "theta2=0.8",
        "r=0.7",
        "theta1=0.4",
        "layer=uploaded+features",
        "class=class+1",
        "rival_1=",
        "resplits=99",
    ):
        assert part in address
    assert region_parameters(RegionChoice("inputs", 0.8, 0.7, 0.4))["r"] == ["0.7"]


def test_shift_that_nobody_asked_for_says_what_running_it_does(open_page, workspace):
    data, model = clouds(workspace)
    app = open_page("test_quality", data=data.fingerprint, model=model, resplits="19")
    said = plainly(app)
    assert "compares each of 3 classes with 19 random re-splits: 3 trials" in said
    assert "Singling out a class needs at least 20 re-splits." in said
    assert not app.button(key="run").disabled


def moved(workspace: Workspace) -> tuple[Dataset, str]:
    """Clouds whose last class lies elsewhere in the test part."""
    of = head(2, 6, apart=3.0)
    train, test = cloud(of, 60), cloud(of, 40, seed=2)
    features = test.features + 3.0 * (test.labels == 1)[:, None]
    return recorded(workspace, train, type(test)(features, test.labels, of(features), test.class_names))


def test_a_run_of_shift_shows_verdict_figure_table_and_file(open_page, workspace):
    data, model = moved(workspace)
    run = stored_shift(workspace, data, model, n_resplits=59)
    app = unfolded(open_page("test_quality", data=data.fingerprint, **stored_parameters(load_plan(run.plan))))
    assert app.button(key="run").disabled, "the address leads to another plan"
    alt = next(alt for alt in charts(app) if alt.startswith("Jensen-Shannon"))
    assert alt.endswith("of 2 classes. Significantly different: class 1.")
    said = plainly(app)
    assert "1 of 2 classes has shifted significantly from training to test: “class 1”." in said
    assert "find out how the test samples of “class 1” were collected" in said
    assert "computed with other versions than are installed now" in said, "what the run rests on"
    assert "“class 0” and “class 1”: 1 component in place of 2" not in said, "one component was asked for"
    table = next(frame.value for frame in app.dataframe if "Divergence" in frame.value)
    rows = workspace.rows(LOCAL_OWNER, run.id)
    first = rows[rows["resplit"] == 0].sort_values("label")
    assert table["Divergence"].tolist() == pytest.approx(first["divergence"].tolist())
    assert table["Kept (%)"].tolist() == pytest.approx((100 * first["kept_variance"]).tolist())
    assert "Covariate shift (TSV)" in [button.label for button in app.get("download_button")]
    send = app.get("popover")[0]
    assert [file.label for file in send.get("download_button")] == ["Report (HTML)", "Report (Markdown)"] * 2
    assert [caption.value for caption in send.caption][:2] == [plain(QUESTIONS["test_quality"].title), plain(SHIFT)]
    assert any("core run" in code.value for code in app.code), "no command computes it"


def test_fewer_components_are_said(open_page, workspace):
    data, model = clouds(workspace, n_classes=2)
    run = stored_shift(workspace, data, model, n_components=4, n_resplits=19)
    app = unfolded(open_page("test_quality", data=data.fingerprint, **stored_parameters(load_plan(run.plan))))
    said = plainly(app)
    assert "“class 0” and “class 1”: 1 component in place of 4, because each needs 50 samples." in said
    assert "19 re-splits are too few to decide whether a class has shifted; at least 20 are needed." in said


def test_an_unfinished_run_of_shift_shows_what_there_is_and_can_go_on(open_page, workspace):
    data, model = clouds(workspace, n_classes=2)
    run = stored_shift(workspace, data, model, n_resplits=99, n_trials=1)
    app = unfolded(open_page("test_quality", data=data.fingerprint, **stored_parameters(load_plan(run.plan))))
    assert app.button(key=f"resume-{run.id}").label == "Resume"
    assert any("test part of 1 class." in alt for alt in charts(app))
    assert "“class 1”: not measured yet." in plainly(app)


def test_lists_of_runs_say_what_moved_and_lead_here(open_page, workspace):
    data, model = moved(workspace)
    stored_shift(workspace, data, model, n_resplits=59)
    app = open_page("overview", data=data.fingerprint)
    assert "1 of 2 classes has shifted significantly from training to test" in plainly(app)
    link = next(
        one for one in app.get("page_link") if "test_quality" in one.proto.page and "model=" in one.proto.query_string
    )
    assert model in link.proto.query_string
    assert "59 re-splits" in plainly(open_page("runs"))


def test_no_address_leads_to_a_plan_whose_model_is_gone_or_whose_layer_is_not_named():
    assert stored_parameters(CovariateShiftPlan("f" * 64, "inputs")) is None


def test_samples_say_what_they_are_taken_for(open_page, workspace):
    data, model = kept(workspace, "digits")
    app = unfolded(open_page("test_quality", data=data.fingerprint, model=model, theta2="0.9"))
    assert len(app.get("image")) > 0
    parts = layer_parts(workspace.model_bytes(LOCAL_OWNER, model), data)
    assert len(parts.test) == 359
    app = unfolded(open_page("test_quality", data=data.fingerprint, model=model, theta2="0.1"))
    assert "the test set has no information about the boundary of these two" in plainly(app)


def test_a_stored_model_that_never_ends_is_a_sentence_on_the_page(open_page, workspace, monkeypatch):
    pytest.importorskip("onnxruntime")
    monkeypatch.setattr(uploaded_model.sandbox, "SECONDS_TO_READ", 2)
    data = load_example("digits")
    workspace.add_dataset(LOCAL_OWNER, data, example="digits")
    content = ModelFile(endless(np.zeros((64, 10), dtype=np.float32)), "loop.onnx", data.fingerprint).to_bytes()
    model = workspace.keep_model(LOCAL_OWNER, content, name="loop", has_gradients=False)
    app = open_page("test_quality", data=data.fingerprint, model=model)
    assert ["took longer than 2 seconds" in one.value for one in app.error] == [True]
    assert not app.metric
