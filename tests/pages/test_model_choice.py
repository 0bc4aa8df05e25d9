"""The control that a page chooses a model with: stored ones, training, upload, deletion, and addresses of any kind."""

import dataclasses
from collections.abc import Callable, Sequence
from urllib.parse import parse_qsl

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import texts
from tests.workspace.conftest import wait_until
from touchstone.core.data import Dataset, load_example
from touchstone.core.models.load import read_stored
from touchstone.core.models.model_file import ModelFile
from touchstone.core.models.networks import LinearNetwork
from touchstone.core.parameters import asked
from touchstone.core.trials import Context, MapPlan, TrainingPlan
from touchstone.core.trials.map_plan import COMPILES
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace, frames
from touchstone.core.workspace.engine.runner import engine
from touchstone.core.workspace.records import Steps
from touchstone.ui.forms.plan_form import plan_parameters
from touchstone.ui.shell import background, jobs

QUICK = TrainingPlan("linear", n_epochs=2)


def page_with_a_model() -> None:
    import streamlit as st

    from touchstone.ui.data.samples import dataset_of
    from touchstone.ui.models import choice

    data = st.query_params.get("data") or st.session_state["data"]
    model = choice.choose(dataset_of(data))
    st.text(f"in use: {model.fingerprint if model else None}")


@pytest.fixture
def workers() -> None:
    """They are there before AppTest puts its script in the place of the main module, which they would import."""
    engine().executor.client()


@pytest.fixture
def show(wine) -> Callable[..., AppTest]:
    def show_it(**parameters: str) -> AppTest:
        app = AppTest.from_function(page_with_a_model, default_timeout=90)
        for name, value in {"data": wine.fingerprint, **parameters}.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception, app.exception[0].value
        return app

    return show_it


def in_use(app: AppTest) -> str:
    return next(text.value for text in app.text if text.value.startswith("in use")).removeprefix("in use: ")


def trained(workspace: Workspace, dataset: Dataset, plan: TrainingPlan = QUICK) -> str:
    """The model of a training that was done here and now, with its run."""
    run = workspace.create_run(LOCAL_OWNER, plan, dataset.fingerprint)
    assert workspace.acquire(LOCAL_OWNER, run.id, "test")
    context = Context(keep_model=lambda model, **about: workspace.keep_model(LOCAL_OWNER, model, **about))
    rows = plan.run_trial(dataset, 0, context=context)
    workspace.store_trials(LOCAL_OWNER, run.id, {0: frames.to_bytes(rows)})
    workspace.release(LOCAL_OWNER, run.id, "test", "done")
    return str(rows["model"].iloc[-1])


def weights(dataset: Dataset, order: Sequence[int] | None = None) -> bytes:
    """Those of a network that has learned the classes; its outputs in another order."""
    model = LinearNetwork(n_epochs=20).fit(dataset.x, dataset.y, seed=0).trained(dataset)
    head = {
        name: value[list(order or range(len(value)))] for name, value in model.state.items() if name.startswith("head.")
    }
    return dataclasses.replace(model, state=model.state | head).to_bytes()


def test_without_a_model_there_is_a_sentence_and_the_form(show):
    app = show()
    assert in_use(app) == "None"
    assert "No model for these data is stored yet" in texts(app)
    assert not app.error
    assert not app.button(key="train").disabled
    assert "Trained on 142 samples, tested on 36 others" in texts(app)


def test_only_networks_that_fit_are_offered(show, workspace):
    assert show().segmented_control(key="network").options == ["Linear model (SGD)", "MLP 3 × 2048"]
    digits = load_example("digits")
    workspace.add_dataset(LOCAL_OWNER, digits)
    app = show(data=digits.fingerprint)
    assert app.selectbox(key="network").value == "cnn_1"
    assert "VGG-19" not in app.selectbox(key="network").options
    assert "ResNet-20" in app.selectbox(key="network").options


def test_every_field_of_the_plan_can_be_edited_and_stands_in_the_address():
    fields = {field.name for field in dataclasses.fields(TrainingPlan)}
    assert {question.field for question in asked(TrainingPlan)} == fields
    plan = TrainingPlan("cnn_1", n_epochs=7, batch_size=32, learning_rate=0.05, gradient_penalty=0.1, seed=3)
    written = plan_parameters(plan)
    assert len(written) == len(fields)
    assert (written["network"], written["epochs"], written["penalty"]) == (["CNN-1"], ["7"], ["0.1"])
    assert plan_parameters(TrainingPlan("linear", learning_rate=1e-7)) is None


def test_the_form_makes_the_plan_of_the_address(show, workspace, wine):
    plan = TrainingPlan("linear", n_epochs=3, batch_size=16, momentum=0.5, weight_decay=0.001, seed=4)
    trained(workspace, wine, plan)
    written = {name: values[0] for name, values in plan_parameters(plan).items()}
    app = show(**written)
    assert app.button(key="train").disabled, "the form says another plan than the one that was trained"
    app.number_input(key="momentum").set_value(0.6).run()
    assert not app.button(key="train").disabled


def test_an_address_that_asks_for_no_such_network_gets_a_sentence(show):
    app = show(network="VGG-19")
    assert app.error[0].proto.title == "This address has a setting that does not exist here"
    assert not app.text


def test_the_newest_model_is_in_use_and_another_can_be_chosen(show, workspace, wine):
    first = trained(workspace, wine)
    second = trained(workspace, wine, dataclasses.replace(QUICK, seed=1))
    app = show()
    assert in_use(app) == second == app.query_params["model"]
    said = texts(app).replace("\\", "")
    assert "n = 36 held-out samples" in said
    assert "[" in said
    app.selectbox(key="model-control").set_value(first).run()
    assert in_use(app) == first == app.query_params["model"]
    assert in_use(show(model=first)) == first


def test_two_models_of_one_name_are_told_apart(show, workspace, wine):
    for content in (b"one", b"two"):
        workspace.add_model(
            LOCAL_OWNER, content, dataset_fingerprint=wine.fingerprint, name="mine", file_name="mine.onnx"
        )
    options = show().selectbox(key="model-control").options
    assert all(option.startswith("mine (") for option in options)


@pytest.mark.parametrize("whose", ["nobody's", "somebody else's", "another data set's"])
def test_a_model_that_is_not_here_gets_a_sentence_and_is_not_replaced(show, workspace, wine, whose):
    mine = trained(workspace, wine)
    given = {"name": "x", "file_name": "x.onnx"}
    address = {
        "nobody's": lambda: "0123456789abcdef",
        "somebody else's": lambda: workspace.add_model("other", b"x", dataset_fingerprint=wine.fingerprint, **given),
        "another data set's": lambda: workspace.add_model(LOCAL_OWNER, b"x", dataset_fingerprint="another", **given),
    }[whose]()
    app = show(model=address)
    assert app.error[0].proto.title == "This model is not here"
    assert in_use(app) == "None"
    app.run()
    assert in_use(app) == "None", "another model has taken the place of the one that was asked for"
    app.selectbox(key="model-control").set_value(mine).run()
    assert not app.error
    assert in_use(app) == mine


def test_another_data_set_puts_the_model_aside(show, workspace, wine):
    mine = trained(workspace, wine)
    app = show()
    assert in_use(app) == mine
    digits = load_example("digits")
    app.query_params["data"] = workspace.add_dataset(LOCAL_OWNER, digits)
    app.run()
    assert in_use(app) == "None"
    assert not app.error
    assert "model" not in app.query_params
    app.query_params["data"] = wine.fingerprint
    app.run()
    assert in_use(app) == mine


def test_a_model_can_be_deleted_and_what_it_took_part_in_stays(show, workspace, wine):
    mine = trained(workspace, wine)
    app = show()
    app.button(key="model-delete").click().run()
    app.button(key="model-delete").click()  # which is what keeps the dialog open here
    app.button(key="really-delete").click().run()
    assert workspace.models(LOCAL_OWNER) == []
    assert len(workspace.runs(LOCAL_OWNER)) == 1
    app = show()
    assert in_use(app) == "None"
    assert in_use(show(model=mine)) == "None"
    assert app.button(key="train").label == "Train"


def test_a_deleted_model_can_be_trained_again(workers, show, workspace, wine):
    mine = trained(workspace, wine)
    workspace.delete_model(LOCAL_OWNER, mine)
    written = {name: values[0] for name, values in plan_parameters(QUICK).items()}
    app = show(**written)
    assert app.button(key="train").label == "Train again"
    app.button(key="train").click().run()
    assert not app.exception
    wait_until(lambda: workspace.models(LOCAL_OWNER), bool)
    [run] = workspace.runs(LOCAL_OWNER)
    wait_until(lambda: workspace.run(LOCAL_OWNER, run.id).state, lambda state: state == "done")
    app.run()
    assert in_use(app) == mine


def test_a_training_runs_elsewhere_and_its_model_is_in_use_as_soon_as_it_is_there(workers, show, workspace, wine):
    other = trained(workspace, wine)
    app = show(network="Linear model (SGD)", epochs="4")
    assert in_use(app) == other
    app.button(key="train").click().run()
    assert not app.exception
    run = workspace.find_run(LOCAL_OWNER, TrainingPlan("linear", n_epochs=4), wine.fingerprint)
    wait_until(lambda: workspace.run(LOCAL_OWNER, run.id).state, lambda state: state == "done")
    app.run()
    [model] = [one for one in workspace.models(LOCAL_OWNER) if one.training_plan == run.plan]
    assert in_use(app) == model.fingerprint
    assert "Linear model (SGD), 4 epochs" in app.selectbox(key="model-control").options
    assert app.button(key="train").disabled


def test_a_training_under_way_is_told_by_epoch_and_can_be_stopped(show, workspace, wine):
    run = workspace.create_run(LOCAL_OWNER, QUICK, wine.fingerprint)
    assert workspace.acquire(LOCAL_OWNER, run.id, "elsewhere")
    workspace.record_steps(LOCAL_OWNER, run.id, "elsewhere", {0: Steps(1, 2, "epoch")})
    app = show(network="Linear model (SGD)", epochs="2")
    assert app.button(key="train").disabled
    [progress] = app.get("progress")
    assert progress.proto.value == 50
    assert "epoch 1 of 2" in progress.proto.text
    app.button(key=f"cancel-{run.id}").click().run()
    assert workspace.renew(LOCAL_OWNER, run.id, "elsewhere") == "cancel"


def test_a_training_that_failed_says_why_and_can_be_tried_again(show, workspace, wine):
    run = workspace.create_run(LOCAL_OWNER, QUICK, wine.fingerprint)
    assert workspace.acquire(LOCAL_OWNER, run.id, "test")
    rows = frames.to_bytes(QUICK.failed_trial(wine, 0))
    workspace.store_trials(LOCAL_OWNER, run.id, {0: rows}, error="ModelError: Training diverged")
    workspace.release(LOCAL_OWNER, run.id, "test", "done")
    app = show(network="Linear model (SGD)", epochs="2")
    assert "Training diverged" in texts(app)
    assert app.button(key="train").label == "Train again"
    assert not app.button(key="train").disabled


def test_weights_are_read_stored_and_used(show, workspace, wine):
    app = show()
    app.file_uploader(key="model-file-0").upload("mine.safetensors", weights(wine), "application/octet-stream")
    app.text_input(key="model-name-0").set_value("my $model$")
    app.button(key="upload-model").click().run()
    assert not app.exception
    [stored] = workspace.models(LOCAL_OWNER, wine.fingerprint)
    assert in_use(app) == stored.fingerprint == app.query_params["model"]
    assert (stored.name, stored.architecture, stored.training_plan) == ("my $model$", "linear", None)
    assert "Uploaded as mine.safetensors (Linear model (SGD))" in texts(app).replace("\\", "")
    assert "n = 178 samples, possibly including its training samples" in texts(app).replace("\\", "")
    assert any("majority class 39.9 %, chance 33.3 %" in each.label.replace("\\", "") for each in app.expander)
    model = read_stored(workspace.model_bytes(LOCAL_OWNER, stored.fingerprint), wine)
    assert model.class_names == wine.class_names


def test_a_model_below_chance_is_refused_with_the_order_of_its_outputs(show, workspace, wine):
    app = show()
    app.file_uploader(key="model-file-0").upload(
        "mine.safetensors", weights(wine, (1, 2, 0)), "application/octet-stream"
    )
    app.button(key="upload-model").click().run()
    said = app.error[0].value.replace("\\", "")
    assert "below chance (33.3 %). With outputs in another order it would be" in said
    assert workspace.models(LOCAL_OWNER) == []


def test_of_two_outputs_that_change_places_the_page_warns(show, workspace, wine):
    app = show()
    app.file_uploader(key="model-file-0").upload(
        "mine.safetensors", weights(wine, (1, 0, 2)), "application/octet-stream"
    )
    app.button(key="upload-model").click().run()
    assert len(workspace.models(LOCAL_OWNER)) == 1
    assert "they seem to stand, counted from 0, 0 for “class_1”" in app.toast[0].value.replace("\\", "")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("mine.pt", b"\x80\x02}q\x00.", "mine.pt is a pickle"),
        ("mine.safetensors", b"nothing", "no safetensors file"),
        ("mine.txt", b"hello", "not known here"),
    ],
)
def test_what_cannot_be_read_is_refused_as_written(show, workspace, name, content, words):
    app = show()
    app.file_uploader(key="model-file-0").upload(name, content, "application/octet-stream")
    app.button(key="upload-model").click().run()
    assert words in app.error[0].value.replace("\\", "")
    assert workspace.models(LOCAL_OWNER) == []
    assert in_use(app) == "None"


def test_a_model_of_other_data_is_refused_as_written(show, workspace):
    digits = load_example("digits")
    app = show()
    app.file_uploader(key="model-file-0").upload("digits.safetensors", weights(digits), "application/octet-stream")
    app.button(key="upload-model").click().run()
    assert "takes inputs of shape (1, 8, 8)" in app.error[0].value.replace("\\", "")
    assert workspace.models(LOCAL_OWNER) == []


def test_black_and_white_of_images_go_with_the_model(show, workspace):
    digits = load_example("digits")
    workspace.add_dataset(LOCAL_OWNER, digits)
    state = LinearNetwork(n_epochs=1).fit(digits.x, digits.y, seed=0).trained(digits).state
    from safetensors.torch import save

    bare = save({name: value for name, value in state.items() if name not in ("centre", "spread")})
    app = show(data=digits.fingerprint)
    app.file_uploader(key="model-file-0").upload("bare.safetensors", bare, "application/octet-stream")
    app.number_input(key="model-white-0").set_value(16.0)
    app.button(key="upload-model").click().run()
    assert "Name the architecture" in app.error[0].value
    app.selectbox(key="model-architecture-0").set_value("linear")
    app.button(key="upload-model").click().run()
    [stored] = workspace.models(LOCAL_OWNER)
    assert ModelFile.from_bytes(workspace.model_bytes(LOCAL_OWNER, stored.fingerprint)).input_range == (0.0, 16.0)
    model = read_stored(workspace.model_bytes(LOCAL_OWNER, stored.fingerprint), digits)
    assert np.allclose(model.state["spread"].numpy(), 1 / 16)


def test_a_mean_and_a_deviation_for_each_channel_go_with_the_model(show, workspace):
    rng = np.random.default_rng(0)
    x = rng.random((40, 6, 6, 3))
    colours = Dataset("colours", "image", x, np.arange(40) % 2, ("a", "b"), [f"i{n}" for n in range(40)])
    workspace.add_dataset(LOCAL_OWNER, colours)
    app = show(data=colours.fingerprint)
    app.file_uploader(key="model-file-0").upload("w.safetensors", b"nothing", "application/octet-stream")
    app.text_input(key="model-mean-0").set_value("0.485 0.456 0.406")
    app.text_input(key="model-std-0").set_value("0.229, 0.224, x")
    app.button(key="upload-model").click().run()
    assert "Deviation: numbers separated by spaces" in app.error[0].value.replace("\\", "")
    app.text_input(key="model-std-0").set_value("0.229, 0.224")
    app.button(key="upload-model").click().run()
    assert "3 means and 2 standard deviations" in app.error[0].value.replace("\\", "")
    app.text_input(key="model-std-0").set_value("0.229, 0.224, 0.225")
    app.number_input(key="model-white-0").set_value(255.0)
    app.button(key="upload-model").click().run()
    assert "not both" in app.error[0].value.replace("\\", "")


def test_lists_of_runs_name_a_training_and_lead_to_its_form(open_page, workspace, wine):
    trained(workspace, wine)
    app = open_page("runs")
    said = texts(app).replace("\\", "")
    assert "A trained and stored network" in said
    assert "Linear model (SGD), 2 epochs" in said
    [query] = [link.proto.query_string for link in app.get("page_link") if link.proto.label == "Open"]
    app = open_page("average_case", **dict(parse_qsl(query)))
    assert app.number_input(key="epochs").value == 2
    assert app.button(key="train").disabled


def test_progress_says_that_code_is_compiled_first(workspace, wine, monkeypatch):
    run = workspace.create_run(LOCAL_OWNER, QUICK, wine.fingerprint)
    first = dataclasses.replace(run, state="running", n_done=0)
    monkeypatch.setattr(background, "is_going_on", lambda: True)
    assert jobs.describe(first) == background.ONCE
    assert jobs.describe(dataclasses.replace(first, n_trials=9, n_done=3)) == "3 of 9 trials"


def test_progress_says_that_umap_compiles_before_its_map(workspace, wine):
    run = workspace.create_run(LOCAL_OWNER, MapPlan(), wine.fingerprint)
    going = dataclasses.replace(run, state="running", steps=(Steps(0, 0, COMPILES),))
    assert jobs.describe(going) == "0 of 1 trial, UMAP compiles first, for ten to thirty seconds"


def test_progress_says_steps_beside_trials(workspace, wine):
    run = workspace.create_run(LOCAL_OWNER, QUICK, wine.fingerprint)
    going: Run = dataclasses.replace(run, state="running", n_trials=120, n_done=72, seconds_left=40.0)
    assert jobs.describe(going) == "72 of 120 trials, about 40 seconds left"
    steps = (Steps(7, 20, "epoch"), Steps(1, 20, "epoch"))
    assert jobs.describe(dataclasses.replace(going, steps=steps)) == (
        "72 of 120 trials, epoch 7 of 20, about 40 seconds left"
    )
    first = dataclasses.replace(going, n_trials=1, n_done=0, seconds_left=None)
    assert jobs.describe(first) == "Starting the workers"
    assert jobs.describe(dataclasses.replace(first, steps=steps[:1])) == "0 of 1 trial, epoch 7 of 20"
