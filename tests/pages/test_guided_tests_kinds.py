"""The page of guided tests on texts, on features without a model, with many classes, odd names and an absent class."""

import io
import math

import numpy as np
import pandas as pd
import pytest

from tests.evaluate.feature_populations import cloud, head
from tests.pages.conftest import charts, plainly
from tests.workspace.conftest import wait_while_running
from touchstone.core.data import Dataset, load_example
from touchstone.core.evaluate.guided_tests.plan import GuidedTestsPlan
from touchstone.core.models import MODELS
from touchstone.core.models.layer_files import record_of
from touchstone.core.models.layers import LayerSamples
from touchstone.core.models.load import TRUST
from touchstone.core.models.model_file import ModelFile
from touchstone.core.trials import Context, TrainingPlan, to_json
from touchstone.core.trials.layer_parts import UPLOADED
from touchstone.core.workspace import LOCAL_OWNER, Workspace, frames
from touchstone.ui.forms.plan_form import stored_parameters

MARKUP = "<b>5 $</b> *a*"
SMALL = {"layer": UPLOADED, "frequency": 0.25, "table": False}


def named(samples: LayerSamples) -> LayerSamples:
    names = (MARKUP, *samples.class_names[1:])
    return LayerSamples(samples.features, samples.y, samples.proba, names, name=samples.name)


def recorded(workspace: Workspace, n_classes: int, *, n_test=12) -> tuple[Dataset, str]:
    of = head(n_classes, 6, apart=3.0)
    data, record = record_of(named(cloud(of, 20)), named(cloud(of, n_test, seed=2)), name="clouds")
    workspace.add_dataset(LOCAL_OWNER, data)
    return data, workspace.keep_model(LOCAL_OWNER, record.to_bytes(), name="clouds", has_gradients=False)


def done(workspace: Workspace, data: Dataset, plan: GuidedTestsPlan) -> None:
    run = workspace.create_run(LOCAL_OWNER, plan, data.fingerprint)
    assert workspace.acquire(LOCAL_OWNER, run.id, "test")
    context = Context(model={plan.model: workspace.model_bytes(LOCAL_OWNER, plan.model)}.__getitem__)
    for trial in range(plan.n_trials(data)):
        workspace.store_trials(
            LOCAL_OWNER, run.id, {trial: frames.to_bytes(plan.run_trial(data, trial, context=context))}
        )
    workspace.release(LOCAL_OWNER, run.id, "test", "done")


def opened(open_page, data: Dataset, plan: GuidedTestsPlan, **parameters):
    return open_page("guided_tests", data=data.fingerprint, **stored_parameters(plan), **parameters)


def texts_of(n: int = 60) -> Dataset:
    rng = np.random.default_rng(0)
    words = {0: ["goal", "match", "player", "team"], 1: ["vote", "law", "party", "court"]}
    x = [" ".join(rng.choice([*words[i % 2], "the", "a", "new"], size=8)) for i in range(n)]
    return Dataset("news", "text", x, np.arange(n) % 2, (MARKUP, "politics"), [f"t{i}" for i in range(n)])


def test_of_texts_the_nearest_real_text_stands_in(open_page, workspace):
    data, training = texts_of(), TrainingPlan("mlp_2048", n_epochs=2)
    train = training.split(data).train
    network = MODELS["mlp_2048"](n_epochs=2).fit(data.x[train], data.y[train], seed=0, n_classes=2)
    workspace.add_dataset(LOCAL_OWNER, data)
    stored = ModelFile(network.trained(data).to_bytes(), "net.safetensors", data.fingerprint).to_bytes()
    model = workspace.keep_model(LOCAL_OWNER, stored, name="net", training_plan=to_json(training))
    plan = GuidedTestsPlan(model, layer="last hidden", frequency=1.0, table=False)
    done(workspace, data, plan)
    app = opened(open_page, data, plan)
    app.session_state["fold-way"] = app.session_state["fold-next"] = True
    said = plainly(app.run())
    assert "A feature cannot be shown as a text: the nearest real test sample is shown" in said.replace("*", "")
    tables = [table.value for table in app.table]
    assert any("nearest real" in table for table in tables)
    assert any(set(table["text"]) & set(data.x) for table in tables if "text" in table)
    assert not app.get("image")
    assert next(control for control in app.selectbox if control.key == "class").options == [MARKUP, "politics"]
    assert "Nothing is missing: no boundary has significantly fewer test samples" in said


def test_features_without_a_model_are_enough(open_page, workspace):
    data, model = recorded(workspace, 3)
    plan = GuidedTestsPlan(model, **SMALL)
    done(workspace, data, plan)
    app = opened(open_page, data, plan)
    said = plainly(app)
    assert "There is no model, so a linear head was fitted" in said
    assert "no accuracy is claimed for them" in said
    app.session_state["fold-way"] = app.session_state["fold-features"] = True
    said = plainly(app.run())
    assert not app.exception
    assert MARKUP in said
    assert any(MARKUP in alt for alt in charts(app))


def exported(data: Dataset) -> bytes:
    """A linear network as torch.export writes it: nothing inside it can be seen."""
    import torch

    shape = np.moveaxis(data.x[:2], -1, 1).shape[1:] if data.kind == "image" else data.x.shape[1:]
    module = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(int(np.prod(shape)), data.n_classes)).eval()
    sizes, file = ({0: torch.export.Dim("n")},), io.BytesIO()
    torch.export.save(torch.export.export(module, (torch.zeros(2, *shape),), dynamic_shapes=sizes), file)
    return ModelFile(file.getvalue(), "mine.pt2", data.fingerprint).to_bytes()


@pytest.mark.evidence
@pytest.mark.parametrize("name", ["wine", "digits"])
def test_of_a_model_whose_inside_is_unknown_only_pictures_are_asked(open_page, workspace, monkeypatch, name):
    monkeypatch.setenv(TRUST, "1")
    data = load_example(name)
    workspace.add_dataset(LOCAL_OWNER, data, example=name)
    model = workspace.keep_model(LOCAL_OWNER, exported(data), name="mine.pt2")
    app = open_page("guided_tests", data=data.fingerprint, model=model)
    assert not app.error
    refused = any("This model exposes no inner layer" in one.value for one in app.info)
    assert refused == (name == "wine")
    assert ("run" in [button.key for button in app.button]) == (name == "digits")


@pytest.mark.evidence
def test_a_hundred_classes_have_room(open_page, workspace):
    data, model = recorded(workspace, 100, n_test=4)
    plan = GuidedTestsPlan(model, **SMALL)
    done(workspace, data, plan)
    app = opened(open_page, data, plan)
    assert "tests generated as features" in plainly(app)
    app.session_state["fold-way"] = True
    app.run()
    assert next(control for control in app.selectbox if control.key == "class").options[-1] == "class 99"


def test_a_class_without_test_samples_starts_from_training_samples(open_page, workspace):
    data, model = recorded(workspace, 3, n_test=[12, 0, 12])
    plan = GuidedTestsPlan(model, **SMALL)
    done(workspace, data, plan)
    app = opened(open_page, data, plan, **{"class": "class 1"})
    assert "From the training sample" in [control.label for control in app.selectbox] + [
        control.label for control in app.segmented_control
    ]
    app.session_state["fold-features"] = True
    made = next(frame.value for frame in app.run().dataframe if "Unplaced" in frame.value)
    assert made.loc[made["Class"] == "class 1", "Asked"].sum() == 2


def npz(**arrays) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def test_uploaded_samples_are_listed_by_what_is_missing(open_page, workspace):
    data, model = recorded(workspace, 3, n_test=[12, 12, 0])
    app = open_page("guided_tests", data=data.fingerprint, model=model, pool="an uploaded file", next="5")
    of = head(3, 6, apart=3.0)
    pool = cloud(of, 30, seed=5)
    content = npz(features=pool.features, proba=pool.proba, ids=[f"new {i}" for i in range(90)])
    app.file_uploader(key="pool-file").upload("pool.npz", content).run()
    listed = next(frame.value for frame in app.dataframe if "near_label" in frame.value)
    assert len(listed) == 5
    assert all(one.startswith("new ") for one in listed["id"])
    app.file_uploader(key="pool-file").upload("bad.npz", npz(features=pool.features)).run()
    assert any("no array proba" in error.value.replace("\\", "") for error in app.error)


def test_few_labels_of_uploaded_samples_tell_their_accuracy(open_page, workspace):
    data, model = recorded(workspace, 3, n_test=40)
    purpose = {"for": "know the accuracy", "pool": "an uploaded file", "next": "60"}
    app = open_page("guided_tests", data=data.fingerprint, model=model, **purpose)
    pool = cloud(head(3, 6, apart=3.0), 100, seed=5)
    app.file_uploader(key="pool-file").upload("pool.npz", npz(features=pool.features, proba=pool.proba)).run()
    assert "60 labels bring the accuracy of all 300 samples to about ±" in plainly(app)
    assert "This assumes that confidence is as reliable here as on the test samples" in plainly(app)
    assert "unlike the test samples" not in plainly(app)
    listed = next(frame.value for frame in app.dataframe if "stratum" in frame.value)
    assert listed["id"].is_unique
    table = listed.assign(label=np.array(data.class_names)[pool.labels[listed["id"].astype(int)]])
    app.file_uploader(key="labels-back").upload("back.csv", table.to_csv(index=False).encode()).run()
    [said] = [text for text in plainly(app).splitlines() if "by 60 labels." in text]
    assert said.replace("*", "").startswith("Accuracy is ")
    [run] = [run for run in workspace.runs(LOCAL_OWNER) if run.kind == "few_labels"]
    done = wait_while_running(workspace, run.id)
    [row] = workspace.rows(LOCAL_OWNER, run.id).to_dict("records")
    assert (done.state, row["n_labels"], row["n_pool"]) == ("done", 60, 300)
    again = open_page("guided_tests", data=data.fingerprint, model=model, **purpose)
    assert f"pool.npz: {said.replace('*', '')}" in plainly(again)
    sheet = open_page("overview", data=data.fingerprint)
    assert any(f"New samples of pool.npz, by few labels: {100 * row['accuracy']:.1f} %" in alt for alt in charts(sheet))
    app.file_uploader(key="labels-back").upload("back.csv", table.drop(columns="stratum").to_csv().encode()).run()
    assert any("no column 'stratum'" in error.value.replace("\\", "") for error in app.error)
    unsure = pool.proba**0.1 / (pool.proba**0.1).sum(axis=1, keepdims=True)
    app.file_uploader(key="pool-file").upload("others.npz", npz(features=pool.features, proba=unsure)).run()
    assert "% of the samples are unlike the test samples: their confidence is lower." in plainly(app)


def test_unlabelled_features_may_come_as_a_table(open_page, workspace):
    data, model = recorded(workspace, 3, n_test=[12, 12, 0])
    app = open_page("guided_tests", data=data.fingerprint, model=model, pool="an uploaded file", next="5")
    pool = cloud(head(3, 6, apart=3.0), 30, seed=5)
    scores = pd.DataFrame(pool.proba, columns=[f"prob_{name}" for name in data.class_names])
    table = pd.concat([pd.DataFrame(pool.features), scores], axis=1)
    app.file_uploader(key="pool-file").upload("pool.csv", table.to_csv(index=False).encode()).run()
    listed = next(frame.value for frame in app.dataframe if "near_label" in frame.value)
    assert listed["confidence"].tolist() == pytest.approx((100 * np.sort(pool.confidence)[:5]).tolist())


def test_what_labels_of_samples_like_the_test_samples_would_bring_is_said(open_page, workspace):
    data, model = recorded(workspace, 3, n_test=40)
    app = open_page("guided_tests", data=data.fingerprint, model=model, **{"for": "know the accuracy"})
    assert "If they were like the test samples: 50 labels bring the accuracy of all 120 samples to about" in plainly(
        app
    )
    assert app.session_state["share_offer"].parameters["for"] == ["know the accuracy"]


@pytest.mark.parametrize("column", ["id", "label", "distance"])
def test_columns_of_the_data_do_not_hide_those_of_a_list(column):
    from pandas import DataFrame

    from touchstone.ui.guided_tests.label_next import content_of

    data = Dataset(
        "odd", "tabular", [[1.0, 2.0], [3.0, 4.0]], [0, 1], ("a", "b"), ["p", "q"], feature_names=[column, "z"]
    )
    table = content_of(data, np.array([1, 0]), DataFrame({"id": ["q", "p"], "label": 0, "distance": math.pi}))
    assert table.columns.is_unique
    assert table[f"{column} (input)"].tolist() == [3.0, 1.0]
