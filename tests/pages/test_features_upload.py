"""Features without a model, brought to a page: stored, in use at once, and hidden where a model is needed."""

from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.evaluate.feature_populations import cloud, head
from tests.models.test_recorded import npz
from tests.pages.conftest import texts
from touchstone.core.models.layer_files import record_of
from touchstone.core.models.networks import Mlp2048
from touchstone.core.workspace import LOCAL_OWNER, Workspace

OF = head(3, 4)
TRAIN, TEST = cloud(OF, 9, seed=1), cloud(OF, 5, seed=2)


def page_with_features() -> None:
    import streamlit as st

    from touchstone.ui.data import choice as data_choice
    from touchstone.ui.data.samples import dataset_of
    from touchstone.ui.models import choice as model_choice

    dataset = dataset_of(st.query_params["data"])
    model = model_choice.choose(dataset, records=st.query_params.get("records") != "no")
    st.text(f"in use: {model.fingerprint if model else None} of {data_choice.required().title}")


@pytest.fixture
def show(wine) -> Callable[..., AppTest]:
    def show_it(**parameters: str) -> AppTest:
        app = AppTest.from_function(page_with_features, default_timeout=90)
        for name, value in {"data": wine.fingerprint, **parameters}.items():
            app.query_params[name] = value
        app.run()
        assert not app.exception, app.exception[0].value
        return app

    return show_it


@pytest.fixture
def recorded(workspace: Workspace) -> tuple[str, str]:
    """The fingerprints of a data set of features and of its record."""
    dataset, record = record_of(TRAIN, TEST, name="mine")
    workspace.add_dataset(LOCAL_OWNER, dataset)
    return dataset.fingerprint, workspace.keep_model(LOCAL_OWNER, record.to_bytes(), name="mine", has_gradients=False)


def upload(app: AppTest, train: bytes | None, test: bytes | None) -> AppTest:
    for part, content in (("train", train), ("test", test)):
        if content is not None:
            app.file_uploader(key=f"features-{part}-0").upload(f"{part} $1$.npz", content, "application/octet-stream")
    app.button(key="use-features").click().run()
    assert not app.exception, app.exception[0].value
    return app


def in_use(app: AppTest) -> str:
    return next(text.value for text in app.text if text.value.startswith("in use: ")).removeprefix("in use: ")


def test_two_files_become_the_data_set_and_the_model_of_the_page(show, workspace):
    app = show()
    app.text_input(key="features-name-0").set_value("my $features$")
    app = upload(app, npz(TRAIN), npz(TEST))
    [stored] = [one for one in workspace.models(LOCAL_OWNER) if one.architecture == "recorded"]
    assert in_use(app) == f"{stored.fingerprint} of my $features$"
    assert app.query_params["data"] == stored.dataset_fingerprint
    assert app.query_params["model"] == stored.fingerprint
    assert (stored.name, stored.has_gradients, stored.training_plan) == ("my $features$", False, None)
    said = texts(app)
    assert "Features and probabilities without their model" in said
    assert not app.error
    dataset = workspace.dataset(LOCAL_OWNER, stored.dataset_fingerprint)
    assert np.array_equal(dataset.x, np.concatenate([TRAIN.features, TEST.features]))
    assert not app.get("download_button")


def test_without_a_name_they_are_called_like_the_first_file(show, workspace):
    app = upload(show(), npz(TRAIN), npz(TEST))
    assert in_use(app).endswith(" of train $1$")


def test_one_file_is_not_enough(show, workspace):
    app = upload(show(), npz(TRAIN), None)
    assert "Choose both files first" in app.warning[0].value
    assert workspace.models(LOCAL_OWNER) == []


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (b"nothing", "Test part, test $1$.npz: this is no zip archive"),
        (npz(TEST, features=np.zeros((15, 5))), "Features of another length"),
        (npz(TEST, labels=None), "(test part): the samples have no labels"),
    ],
)
def test_files_that_do_not_fit_are_refused_as_written(show, workspace, wine, test, words):
    app = upload(show(), npz(TRAIN), test)
    [problem] = app.error
    assert words in problem.value.replace("\\", "")
    assert "$1$" not in problem.value
    assert workspace.models(LOCAL_OWNER) == []
    assert [one.fingerprint for one in workspace.datasets(LOCAL_OWNER)] == [wine.fingerprint]


def test_a_record_is_hidden_where_a_model_is_needed(show, recorded):
    data, record = recorded
    app = show(data=data)
    assert in_use(app) == f"{record} of mine"
    app = show(data=data, records="no")
    assert in_use(app) == "None of mine"
    assert "No model for these data is stored yet" in texts(app)
    assert "use-features" not in [button.key for button in app.button]
    assert not app.error


def test_an_address_that_names_a_record_where_a_model_is_needed_says_so(show, recorded):
    data, record = recorded
    app = show(data=data, model=record, records="no")
    assert in_use(app) == "None of mine"
    assert app.error[0].proto.title == "This address names no model"


def test_from_a_page_that_takes_records_to_one_that_does_not_there_is_no_error(show, recorded):
    data, record = recorded
    app = show(data=data)
    assert app.query_params["model"] == record
    del app.query_params["model"]  # as the navigation does
    app.query_params["records"] = "no"
    app.run()
    assert not app.error
    assert in_use(app) == "None of mine"


def test_the_robustness_page_asks_for_a_model(open_page, recorded):
    data, _ = recorded
    app = open_page("average_case", data=data)
    assert "No model for these data is stored yet" in texts(app)
    assert not app.error


def test_a_record_can_be_deleted(show, workspace, recorded):
    data, _ = recorded
    app = show(data=data)
    app.button(key="model-delete").click().run()
    app.button(key="model-delete").click()  # which is what keeps the dialog open here
    app.button(key="really-delete").click().run()
    assert workspace.models(LOCAL_OWNER) == []
    assert in_use(show(data=data)) == "None of mine"


def test_what_was_chosen_for_another_model_does_not_stand_in_the_way(open_page, workspace, wine):
    trained = Mlp2048(n_epochs=1).fit(wine.x, wine.y, seed=0).trained(wine)
    kept = {"dataset_fingerprint": wine.fingerprint, "name": "mlp", "file_name": "mlp.safetensors"}
    model = workspace.add_model(LOCAL_OWNER, trained.to_bytes(), architecture="mlp_2048", **kept)
    app = open_page("test_quality", data=wine.fingerprint, model=model, layer="last hidden")
    assert not app.error
    app = upload(app, npz(TRAIN), npz(TEST))
    assert not app.error, app.error[0].value
    assert "layer" not in app.query_params, "who loads this address again is told that there is no such layer"
    assert "linear head was fitted" in texts(app)
    assert "test samples" in texts(app)
