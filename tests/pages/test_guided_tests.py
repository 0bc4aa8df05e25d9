"""The page of guided tests: the explorer, what a run made, what is missing, and the very view by its address."""

import io
import zipfile
from dataclasses import replace
from functools import lru_cache
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.models.test_tried import endless
from tests.pages.conftest import charts, plainly, run_of_rows, texts
from touchstone.core.data import Dataset, load_example
from touchstone.core.evaluate.guided_tests.plan import GuidedTestsPlan, guided_of_rows
from touchstone.core.evaluate.guided_tests.results import round_trip
from touchstone.core.evaluate.guided_tests.suite import judge_suite, suite_difference
from touchstone.core.evaluate.guided_tests.verdict import difference_finding
from touchstone.core.evaluate.intervals import Interval
from touchstone.core.evaluate.test_quality.quality import Looked, RegionChoice
from touchstone.core.evaluate.test_quality.regions import fit_regions
from touchstone.core.evaluate.wording import points
from touchstone.core.models import MODELS, ModelError, uploaded_model
from touchstone.core.models.load import read_stored
from touchstone.core.models.model_file import ModelFile, model_fingerprint
from touchstone.core.report.run_report import answer_of
from touchstone.core.trials import Context, TrainingPlan, to_json
from touchstone.core.trials.layer_parts import layer_parts
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace, frames
from touchstone.ui.forms.plan_form import stored_parameters
from touchstone.ui.guided_tests import explorer, results

TRAINING = {"digits": TrainingPlan("cnn_1", n_epochs=2), "wine": TrainingPlan("mlp_2048", n_epochs=2)}
TRAINING["docstrings"] = TRAINING["wine"]


@lru_cache(maxsize=2)
def trained(name: str) -> tuple[Dataset, bytes]:
    """A network of an example, trained as the page would, as it is stored."""
    data, plan = load_example(name), TRAINING[name]
    train = plan.split(data).train
    model = MODELS[plan.model](n_epochs=2).fit(data.x[train], data.y[train], seed=0, n_classes=data.n_classes)
    return data, ModelFile(model.trained(data).to_bytes(), "net.safetensors", data.fingerprint).to_bytes()


def kept(workspace: Workspace, name: str) -> tuple[Dataset, str]:
    data, model = trained(name)
    workspace.add_dataset(LOCAL_OWNER, data, example=name)
    return data, workspace.keep_model(LOCAL_OWNER, model, name="net", training_plan=to_json(TRAINING[name]))


def planned(name: str, **fields) -> GuidedTestsPlan:
    """What the page asks for by default, but for the table and a short decoder."""
    data, model = trained(name)
    epochs = {"decoder_epochs": 1} if data.kind == "image" else {}
    usual = {"layer": "last hidden", "frequency": 0.25, "table": False}
    return GuidedTestsPlan(model_fingerprint(model), **{**usual, **epochs, **fields})


@lru_cache(maxsize=8)
def rows_of(name: str, plan: GuidedTestsPlan) -> tuple[bytes, ...]:
    data, model = trained(name)
    context = Context(model={plan.model: model}.__getitem__)
    return tuple(frames.to_bytes(plan.run_trial(data, trial, context=context)) for trial in range(plan.n_trials(data)))


def stored_run(workspace: Workspace, name: str, plan: GuidedTestsPlan, *, n_trials: int | None = None) -> Run:
    rows = rows_of(name, plan)[:n_trials]
    return run_of_rows(workspace, trained(name)[0], plan, rows, done=n_trials is None)


def opened(open_page, data: Dataset, plan: GuidedTestsPlan, **parameters) -> AppTest:
    return open_page("guided_tests", data=data.fingerprint, **stored_parameters(plan), **parameters)


def unfolded(app: AppTest, *folds: str) -> AppTest:
    """The same page with these parts opened."""
    for fold in folds:
        app.session_state[f"fold-{fold}"] = True
    app.run()
    assert not app.exception
    return app


def metrics(app) -> dict[str, str]:
    return {metric.label.replace("\\", ""): metric.value.replace("\\", "") for metric in app.metric}


def test_without_a_model_the_page_asks_for_one(open_page, wine):
    app = open_page("guided_tests", data=wine.fingerprint)
    assert app.title[0].value == "Which tests are missing?"
    assert "Train one here, or upload one" in plainly(app)
    assert "run" not in [button.key for button in app.button]


def test_with_nothing_generated_the_way_can_be_walked_all_the_same(open_page, workspace):
    data, model = kept(workspace, "digits")
    app = open_page("guided_tests", data=data.fingerprint, model=model)
    assert not any("Label these next" in one.value for one in app.subheader)
    said = plainly(unfolded(app, "next"))
    assert "Not computed yet for these settings" in said
    assert "makes 359 tests in the mix 50-50, fills table 2, trains a decoder: 22 trials" in said
    assert not app.button(key="run").disabled
    assert "nearest real test image" in said
    assert any(alt.startswith("From a sample of") for alt in charts(app))
    assert "Least confident first" in said


def test_a_finished_run_shows_everything(open_page, workspace):
    plan = planned("digits")
    data, _ = kept(workspace, "digits")
    run = stored_run(workspace, "digits", plan)
    app = opened(open_page, data, plan)
    assert app.button(key="run").disabled
    found = guided_of_rows(workspace.rows(LOCAL_OWNER, run.id), class_names=data.class_names)
    shown, judged = metrics(app), found.suite
    counts = judged.suite.kept
    assert shown["Generated pictures"] == f"{100 * judged.correct[counts].mean():.1f} %"
    assert shown["Original test set"] == f"{100 * found.test_accuracy[0]:.1f} %"
    near = judged.correct[counts & judged.suite.for_centroid]
    assert shown["Near the centroids"] == f"{100 * near.mean():.1f} %"
    assert shown["Oracle"] == f"{100 * judged.suite.oracle_right / judged.suite.oracle_n:.1f} %"
    assert f"on {counts.sum():,} generated pictures".replace(",", "\u202f") in plainly(app)
    assert "An independent oracle (another classifier) confirms" in plainly(app)
    assert len(app.get("image")) == explorer.PER_PAGE["image"]
    assert "Features" not in shown  # what the head makes of them is folded away
    assert not any(alt.startswith("From a sample of") for alt in charts(app))
    shown = metrics(unfolded(app, "features", "way", "properties", "next"))
    assert shown["Features"] == f"{100 * found.generated.correct.mean():.1f} %"
    assert shown["Error of the decoder"] == f"{found.reconstruction.error:.3f}".lstrip("0")
    assert {"Error of the mean image", "Model and head disagree", "Images still in the region"} <= set(shown)
    said = plainly(app)
    assert "Here, decoded" in said
    assert "about 50 % by construction" in said
    counted = next(frame.value for frame in app.dataframe if "Unplaced" in frame.value)
    assert counted["Asked"].sum() == found.generated.asked.sum()
    assert any(alt.startswith("Accuracy on generated tests by class") for alt in charts(app))
    assert len(app.get("download_button")) >= 1 + 4 * 2 + 2


def test_another_model_meets_the_same_pictures(open_page, workspace):
    plan = planned("digits")
    data, _ = kept(workspace, "digits")
    run = stored_run(workspace, "digits", plan)
    assert "fold-versus" not in opened(open_page, data, plan).session_state  # there is no other model
    train = TRAINING["digits"].split(data).train
    rng = np.random.default_rng(0)
    worse = MODELS["mlp_2048"](n_epochs=1).fit(data.x[train], rng.permutation(data.y[train]), seed=1, n_classes=10)
    stored = ModelFile(worse.trained(data).to_bytes(), "worse.safetensors", data.fingerprint).to_bytes()
    workspace.keep_model(LOCAL_OWNER, stored, name="worse", training_plan=to_json(TRAINING["digits"]))
    app = unfolded(opened(open_page, data, plan), "versus")
    found = guided_of_rows(workspace.rows(LOCAL_OWNER, run.id), class_names=data.class_names)
    difference = suite_difference(found.suite, judge_suite(found.suite.suite, read_stored(stored, data)))
    assert difference.interval.upper < 0
    assert difference_finding(difference, "worse", "net") in plainly(app)
    assert metrics(app)["Lost"] == f"{difference.n_lost:,}".replace(",", "\u202f")
    sheet = unfolded(open_page("overview", data=data.fingerprint), "model-pairs")
    by = points(-difference.difference, Interval(-difference.interval.upper, -difference.interval.lower))
    assert f"net beats worse by {by} (accuracy, generated pictures, {difference.n:,} pictures)" in plainly(
        sheet
    ).replace("\u202f", ",")


def test_the_generated_set_and_the_report_are_whole(workspace):
    plan = planned("digits")
    data, model = trained("digits")
    rows = frames.from_bytes(list(rows_of("digits", plan)))
    found = guided_of_rows(rows, class_names=data.class_names)
    bounded = {number.name: number.value for number in answer_of(rows, data, plan).numbers}
    assert bounded["guided_tests.pictures"] == found.suite.accuracy().accuracy
    assert bounded["guided_tests.boundary"] == found.suite.accuracy("boundary").accuracy
    parts = layer_parts(model, data)
    choice = RegionChoice("last hidden")
    looked, within = Looked(data, parts, choice, "parts"), fit_regions(parts.train)
    with np.load(io.BytesIO(results.test_set(plan, found, looked, within)), allow_pickle=False) as file:
        assert file["images"].shape == (len(found.generated), *data.x.shape[1:])
        trip = round_trip(
            found.generated,
            found.decoder.decode(found.generated.features),
            model=parts.model,
            layer=parts.of,
            regions=within,
        )
        assert (file["image_in_region"] == trip.in_region).all()
        assert (file["image_predicted"] == np.array(data.class_names)[trip.predicted]).all()
        assert (str(file["model_fingerprint"]), str(file["layer"])) == (plan.model, "last hidden")
        assert (float(file["theta1"]), float(file["theta2"])) == (0.1, 0.7)
        assert file["pixel_scale"].tolist() == [0, 1]
        assert (file["features"] == found.generated.features).all()
        assert set(file["parent_ids"]) <= set(parts.test.ids)
        assert set(file["region"]) == {"centroid", "boundary"}
        assert set(file["labels"]) == set(data.class_names)
    with zipfile.ZipFile(io.BytesIO(results.suite(plan, found, looked))) as archive:
        assert set(archive.namelist()) == {"guided_suite.npz", "test_guided_suite.py"}


def test_the_place_on_the_way_is_what_the_address_says(open_page, workspace):
    plan = planned("digits")
    data, model = trained("digits")
    kept(workspace, "digits")
    parts = layer_parts(model, data)
    row = int(np.flatnonzero(parts.test.labels == 3)[0])
    way = {"class": "3", "towards_3": "8", "start_3": str(parts.test.ids[row]), "place": "100"}
    app = opened(open_page, data, plan, **way)
    assert app.slider(key="place").value == 100
    alt = next(alt for alt in charts(app) if alt.startswith("From a sample of 3 to the centroid of 8, 100% of the way"))
    centroid = parts.train.features[parts.train.labels == 8].mean(axis=0, dtype=np.float64)
    proba = parts.head(centroid[None])[0]
    assert f"3 {100 * proba[3]:.1f} %" in alt
    assert metrics(app)["8"] == f"{100 * proba[8]:.1f} %"
    app.slider(key="place").set_value(0).run()
    assert metrics(app)["3"] == f"{100 * parts.test.proba[row, 3]:.1f} %"


def test_another_class_has_samples_and_goals_of_its_own(open_page, workspace):
    data, model = kept(workspace, "digits")
    parts = layer_parts(trained("digits")[1], data)
    start = str(parts.test.ids[np.flatnonzero(parts.test.labels == 3)[0]])
    way = {"class": "3", "towards_3": "8", "start_3": start, "place": "50"}
    app = open_page("guided_tests", data=data.fingerprint, model=model, **way)
    app.selectbox(key="class").set_value("8").run()
    assert not app.exception
    assert not app.error
    own = parts.test.ids[parts.test.labels == 8]
    assert app.selectbox(key="start_8").value in own
    assert set(app.selectbox(key="start_8").options) == set(own)
    (alt,) = (alt for alt in charts(app) if alt.startswith("From a sample of"))
    assert alt.startswith("From a sample of 8 to the centroid of ")
    assert ", 50% of the way" in alt
    app.selectbox(key="towards_8").set_value("own").run()
    assert any(alt.startswith("From a sample of 8 to its own centroid") for alt in charts(app))


@pytest.mark.parametrize(
    ("parameter", "value"), [("mix", "10-90"), ("place", "7"), ("towards_3", "eleven"), ("start_3", "nobody")]
)
def test_an_address_that_cannot_be_followed_shows_no_result(open_page, workspace, parameter, value):
    plan = planned("digits")
    data, _ = kept(workspace, "digits")
    parameters = {**stored_parameters(plan), "class": "3", parameter: value}
    app = open_page("guided_tests", data=data.fingerprint, **parameters)
    assert value in plainly(app)
    assert "This address has a setting that does not exist here" in texts(app)


def test_of_rows_the_nearest_real_ones_stand_in(open_page, workspace):
    plan = planned("wine", table=True, frequency=1.0)
    data, _ = kept(workspace, "wine")
    stored_run(workspace, "wine", plan)
    app = opened(open_page, data, plan)
    assert "no accuracy is claimed" in plainly(app)
    assert "Generated pictures" not in metrics(app)
    said = plainly(unfolded(app, "features"))
    assert "the nearest real test sample is shown" in said.replace("*", "")
    tables = [frame.value for frame in app.dataframe]
    assert any("nearest real" in table for table in tables)
    assert any(alt.startswith("Accuracy over mixes") for alt in charts(app))
    grid = next(table for table in tables if "Per class" in table)
    assert list(grid.columns) == ["Per class", "0-100", "30-70", "50-50", "70-30", "100-0"]
    assert not app.get("image")
    assert "Decoder's epochs" not in [number.label for number in app.number_input]


def test_an_interrupted_run_shows_what_there_is_and_can_go_on(open_page, workspace):
    plan = planned("wine")
    data, _ = kept(workspace, "wine")
    run = stored_run(workspace, "wine", plan, n_trials=1)
    app = opened(open_page, data, plan)
    assert "1 of 3 classes so far" in plainly(app)
    assert app.button(key=f"resume-{run.id}").label == "Resume"


def test_what_a_run_without_a_test_rests_on_is_said(open_page, workspace):
    plan = planned("wine")
    data, _ = kept(workspace, "wine")
    stored_run(workspace, "wine", plan, n_trials=0)
    said = plainly(opened(open_page, data, plan))
    assert "No trial has finished yet" in said
    assert "computed with other versions than are installed now" in said


def test_while_it_runs_what_is_known_is_shown_and_it_can_be_stopped(open_page, workspace):
    plan = planned("wine", table=True)
    data, _ = kept(workspace, "wine")
    run = workspace.create_run(LOCAL_OWNER, plan, data.fingerprint)
    assert workspace.acquire(LOCAL_OWNER, run.id, "test")
    app = opened(open_page, data, plan)
    assert app.button(key=f"cancel-{run.id}").label == "Cancel"
    assert "no accuracy is claimed" not in plainly(app)
    for trial in (0, 1, 3):
        workspace.store_trials(LOCAL_OWNER, run.id, {trial: rows_of("wine", plan)[trial]})
    app.run()
    said = plainly(app)
    assert "2 of 3 classes so far" in said
    assert "Generated tests" not in said
    workspace.release(LOCAL_OWNER, run.id, "test", "cancelled")


def test_all_that_was_chosen_is_in_the_shared_address(open_page, workspace):
    plan = planned("wine", table=True)
    data, _ = kept(workspace, "wine")
    stored_run(workspace, "wine", plan)
    chosen = {
        "class": "class_1",
        "towards_1": "its own centroid",
        "place": "40",
        "shown": "class_2",
        "region": "boundary",
    }
    chosen |= {"taken": "another", "violations": "between centroids", "pool": "an uploaded file", "next": "9"}
    app = opened(open_page, data, plan, **chosen)
    offered = app.session_state["share_offer"].parameters
    assert {name: offered[name] for name in chosen} == {name: [value] for name, value in chosen.items()}
    assert {"model", "layer", "theta2", "r", "theta1", "unit", "mix", "size", "start_1", "seed", "wcl"} <= set(offered)
    again = open_page("guided_tests", data=data.fingerprint, **offered)
    assert charts(again) == charts(app)
    assert metrics(again) == metrics(app)


def test_a_parameter_that_is_not_usual_comes_back_from_the_plan(open_page, workspace):
    kept(workspace, "wine")
    plan = planned("wine", wcl=0.6, noise=0.1, rivals="even", r=0.4, theta2=0.8, centroid_share=0.2, seed=3)
    data, _ = trained("wine")
    app = opened(open_page, data, plan)
    stored_run(workspace, "wine", plan)
    app.run()
    assert app.button(key="run").disabled
    assert stored_parameters(replace(plan, layer=None)) is None
    assert stored_parameters(replace(plan, centroid_share=0.33)) is None


def test_runs_are_listed_with_their_question(open_page, workspace):
    kept(workspace, "wine")
    run = stored_run(workspace, "wine", planned("wine"))
    app = open_page("runs", data=run.fingerprint)
    assert "Which tests are missing?" in plainly(app)
    assert "50-50, 25 % of the test set" in plainly(app)
    assert any("guided_tests" in link.proto.page for link in app.get("page_link"))


def test_violations_and_what_is_missing_are_listed(open_page, workspace):
    data, model = kept(workspace, "digits")
    parts = layer_parts(trained("digits")[1], data)
    app = open_page("guided_tests", data=data.fingerprint, model=model, violations="true class first", next="7")
    tables = [frame.value for frame in app.dataframe]
    listed = next(table for table in tables if {"Other class", "By", "Sample"} <= set(table))
    wrong = parts.test.ids[parts.test.predicted != parts.test.labels]
    assert sorted(listed["Sample"]) == sorted(wrong)
    to_label = next(table for table in tables if list(table.columns) == ["id", "predicted", "confidence"])
    assert len(to_label) == 7
    assert to_label["confidence"].is_monotonic_increasing
    assert "Least confident first" in plainly(app)


def test_a_stored_model_that_never_ends_judges_no_pictures_and_is_a_sentence(monkeypatch):
    pytest.importorskip("onnxruntime")
    monkeypatch.setattr(uploaded_model.sandbox, "SECONDS_TO_READ", 2)
    data = load_example("digits")
    content = ModelFile(endless(np.zeros((64, 10), dtype=np.float32)), "loop.onnx", data.fingerprint).to_bytes()
    with pytest.raises(ModelError, match=r"^loop\.onnx: it was stopped, since .* took longer than 2 seconds"):
        results.judged(SimpleNamespace(suite=SimpleNamespace(suite=None)), content, data)
