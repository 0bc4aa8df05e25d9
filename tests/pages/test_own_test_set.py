"""A test set of one's own on the pages: proposed, trained against, judged on; and said where it cannot be used."""

from dataclasses import replace
from urllib.parse import parse_qsl

import numpy as np
import pytest

from tests.pages.conftest import charts, plainly, run_of_rows
from tests.pages.test_model_choice import QUICK, trained, weights
from tests.pages.test_shared_run import open_link
from tests.pages.test_test_quality import stored_shift
from tests.split.marked import marked
from touchstone.core.data import Dataset
from touchstone.core.evaluate.test_quality.verdict import DRAWN_HERE
from touchstone.core.evaluate.wording import percent
from touchstone.core.models.networks import LinearNetwork
from touchstone.core.parameters import About
from touchstone.core.trials import from_json, to_json
from touchstone.core.trials.layer_parts import NOT_TRAINED_HERE, NOT_TRAINED_HERE_BUT_MARKED, layer_parts, split_of
from touchstone.core.workspace import LOCAL_OWNER, Run, Workspace, load_plan
from touchstone.ui.data.choice import NOT_USED
from touchstone.ui.forms.plan_form import plan_parameters, stored_parameters

__all__ = ["open_link"]  # a fixture
MODEL_PAGES = ("average_case", "test_quality", "guided_tests")
OWN = replace(QUICK, test_set="file")


@pytest.fixture
def data(workspace: Workspace) -> Dataset:
    """The wine data, as if its file had marked train, validation and test."""
    dataset = marked()
    workspace.add_dataset(LOCAL_OWNER, dataset)
    return dataset


def from_elsewhere(workspace: Workspace, data: Dataset) -> str:
    """A network without our description, on the training part; uploaded as a page does, but for the accuracy."""
    from safetensors.torch import save

    train = np.arange(data.n_samples) if data.part is None else np.flatnonzero(data.part == "train")
    network = LinearNetwork(n_epochs=5).fit(data.x[train], data.y[train], seed=0).trained(data)
    return workspace.add_model(
        LOCAL_OWNER,
        save(dict(network.state)),
        dataset_fingerprint=data.fingerprint,
        name="mine",
        file_name="mine.safetensors",
        architecture="linear",
    )


def a_run(workspace: Workspace, data: Dataset, plan) -> Run:
    """A run of the plan of which nothing is computed yet."""
    return run_of_rows(workspace, data, plan, [], done=False)


def n_of(data: Dataset, part: str) -> int:
    return int((data.part == part).sum())


@pytest.mark.parametrize("page", MODEL_PAGES)
def test_the_form_proposes_the_test_set_that_the_file_marks(open_page, data, page):
    app = open_page(page, data=data.fingerprint)
    assert app.segmented_control(key="test_set").value == "file"
    said = plainly(app)
    assert f"Trained on the {n_of(data, 'train')} samples that the file marks as train" in said
    assert f"tested on the {n_of(data, 'test')} that it marks as test." in said
    assert f"Its {n_of(data, 'validation')} validation samples take no part." in said
    assert "kept_out" not in {number.key for number in app.number_input}, "there is no share of a marked test set"


def test_a_drawn_test_set_can_be_chosen_instead_and_stands_in_the_address(open_page, data):
    app = open_page("test_quality", data=data.fingerprint)
    app.segmented_control(key="test_set").set_value("drawn").run()
    assert "with the same share of every class" in plainly(app)
    assert plan_parameters(QUICK, About(data))["test_set"] == ["drawn at random"]
    app = open_page("test_quality", data=data.fingerprint, test_set="drawn at random")
    assert app.segmented_control(key="test_set").value == "drawn"
    assert app.number_input(key="kept_out").value == 0.2


def test_without_marks_nothing_is_asked_or_said(open_page, wine):
    for page in ("test_quality", "source_robustness"):
        app = open_page(page, data=wine.fingerprint)
        assert "test_set" not in {control.key for control in app.segmented_control}
        assert "file marks" not in plainly(app)


def test_a_list_of_runs_leads_back_to_the_form_of_such_a_training(open_page, workspace, data):
    trained(workspace, data, OWN)
    trained(workspace, data, replace(QUICK, seed=9))
    app = open_page("runs")
    assert "Linear model (SGD), 2 epochs, the file's test set" in plainly(app)
    links = [link.proto.query_string for link in app.get("page_link") if link.proto.label == "Open"]
    for query in links:
        again = open_page("average_case", **dict(parse_qsl(query)))
        assert again.button(key="train").disabled, "the address leads to another training"
    assert len(links) == 2


def test_a_training_part_without_a_class_gets_a_sentence_with_the_remedy(open_page, workspace, data):
    odd = replace(data, part=np.where((data.y == 1) & (data.part == "train"), "validation", data.part))
    workspace.add_dataset(LOCAL_OWNER, odd)
    app = open_page("test_quality", data=odd.fingerprint)
    assert "no sample of class 'class_1' is marked as train" in app.error[0].value.replace("\\", "")
    app.segmented_control(key="test_set").set_value("drawn").run()
    assert not app.error


def test_test_quality_is_that_of_the_test_set_of_the_file(open_page, workspace, data):
    model = trained(workspace, data, OWN)
    app = open_page("test_quality", data=data.fingerprint, model=model)
    said = plainly(app)
    assert f"{n_of(data, 'test')} test samples, {n_of(data, 'train')} training samples" in said
    assert f"n = {n_of(data, 'test')} samples of the file's test set" in said
    assert DRAWN_HERE not in said
    y = data.y[data.part == "test"]
    [line] = [one.label for one in app.expander if one.label.startswith("Model")]
    majority = f"majority class {100 * np.bincount(y).max() / len(y):.1f} %"
    assert majority in line.replace("\\", ""), "that of other samples"


def test_of_a_test_set_drawn_here_the_verdict_says_what_it_cannot_say(open_page, workspace, data):
    model = trained(workspace, data)
    app = open_page("test_quality", data=data.fingerprint, model=model)
    assert DRAWN_HERE in plainly(app)
    assert "36 test samples, 142 training samples" in plainly(app), (
        "the network has seen samples of the file's test set"
    )


def test_a_class_without_test_samples_is_what_the_page_says_first(open_page, workspace, data):
    without = replace(data, part=np.where((data.y == 1) & (data.part == "test"), "train", data.part))
    workspace.add_dataset(LOCAL_OWNER, without)
    model = trained(workspace, without, OWN)
    for page in ("test_quality", "guided_tests"):
        app = open_page(page, data=without.fingerprint, model=model)
        assert not app.error
        if page == "test_quality":
            assert "Next: add test samples of “class_1”." in plainly(app).replace("**", "")


def test_an_uploaded_model_is_judged_on_the_test_set_of_the_file(open_page, workspace, data):
    app = open_page("test_quality", data=data.fingerprint)
    app.file_uploader(key="model-file-0").upload("mine.safetensors", weights(data), "application/octet-stream")
    app.button(key="upload-model").click().run()
    assert not app.exception
    [stored] = workspace.models(LOCAL_OWNER, data.fingerprint)
    assert stored.n_test == n_of(data, "test")
    said = plainly(app)
    assert f"n = {n_of(data, 'test')} samples of the file's test set" in said
    assert f"{n_of(data, 'test')} test samples, {n_of(data, 'train')} training samples" in said
    assert DRAWN_HERE not in said
    assert NOT_TRAINED_HERE_BUT_MARKED in said, "its file says that it was trained on these data, and not on which rows"


@pytest.mark.parametrize("page", ["test_quality", "guided_tests"])
def test_of_a_model_from_elsewhere_the_page_says_whose_split_it_is(open_page, workspace, data, wine, page):
    said = plainly(open_page(page, data=data.fingerprint, model=from_elsewhere(workspace, data)))
    assert NOT_TRAINED_HERE_BUT_MARKED in said
    assert NOT_TRAINED_HERE not in said
    said = plainly(open_page(page, data=wine.fingerprint, model=from_elsewhere(workspace, wine)))
    assert NOT_TRAINED_HERE in said
    assert NOT_TRAINED_HERE_BUT_MARKED not in said


def test_a_model_from_elsewhere_that_stands_beside_another_is_measured_on_the_test_set_of_the_file(
    open_page, workspace, data
):
    model, other = trained(workspace, data, OWN), from_elsewhere(workspace, data)
    title = f"mine · {data.name} · {other[:8]}"
    app = open_page("test_quality", data=data.fingerprint, model=model, beside=title)
    boxes = next(alt for alt in charts(app) if alt.startswith("Box plots"))
    right = []
    for split in (split_of(None, data), split_of(None)):
        test = layer_parts(workspace.model_bytes(LOCAL_OWNER, other), data, **split).test
        right.append(f"mine ({data.name}, accuracy {percent(float((test.predicted == test.labels).mean()))})")
    assert right[0] in boxes
    assert right[1] not in boxes


def test_average_case_judges_a_model_from_elsewhere_on_the_test_set_of_the_file(open_page, workspace, data):
    model = from_elsewhere(workspace, data)
    app = open_page("average_case", data=data.fingerprint, model=model)
    assert app.segmented_control(key="judge_all").value == "test"
    assert f"{n_of(data, 'test')} of 178 samples are judged" in plainly(app)
    plan = app.session_state["share_offer"].plan
    assert (plan.rows, plan.test_set) == ("test", "file")
    assert set(plan.order(data)) == set(np.flatnonzero(data.part == "test"))
    app.segmented_control(key="judge_all").set_value("all").run()
    assert "including possible training samples" in plainly(app)


@pytest.mark.parametrize("uploaded", [True, False], ids=["uploaded", "trained here"])
@pytest.mark.parametrize("page", MODEL_PAGES)
def test_the_address_of_a_plan_leads_back_to_it(open_page, workspace, data, page, uploaded):
    model = from_elsewhere(workspace, data) if uploaded else trained(workspace, data, OWN)
    app = open_page(page, data=data.fingerprint, model=model)
    if page == "test_quality":
        from touchstone.core.evaluate.test_quality.shift_plan import CovariateShiftPlan

        plan = CovariateShiftPlan(model, "inputs", **split_of(None if uploaded else to_json(OWN), data))
    else:
        plan = app.session_state["share_offer"].plan
    assert plan.test_set == "file"
    a_run(workspace, data, plan)
    address = stored_parameters(plan)
    assert address is not None
    app = open_page(page, data=data.fingerprint, **address)
    assert app.button(key="run").disabled, "the address leads to another plan"
    assert from_json(to_json(plan), {plan.kind: type(plan)}) == plan


def test_a_link_to_a_run_of_a_model_from_elsewhere_shows_the_test_set_of_the_file(
    open_page, open_link, workspace, data
):
    run = stored_shift(workspace, data, from_elsewhere(workspace, data), layer="inputs", n_resplits=5)
    address = stored_parameters(load_plan(run.plan))
    owner = open_page("test_quality", data=data.fingerprint, **address)
    seen = open_link(workspace.create_link(LOCAL_OWNER, run.id), data=data.fingerprint, **address)
    for app in (owner, seen):
        table = next(frame.value for frame in app.dataframe if "Divergence" in frame.value)
        assert table["Test"].tolist() == np.bincount(data.y[data.part == "test"]).tolist()
    assert not seen.error


@pytest.mark.parametrize("page", ["source_robustness", "data_set_adequacy", "cluster_folds"])
def test_questions_of_many_splits_say_that_they_do_not_use_it(open_page, data, page):
    assert NOT_USED in plainly(open_page(page, data=data.fingerprint))


def test_what_is_read_of_a_layer_is_told_apart_by_the_test_set(open_page, workspace, data):
    """Two trainings of one network differ in nothing but their test sets: each page shows its own."""
    models = [trained(workspace, data, plan) for plan in (OWN, QUICK)]
    for plan, model in zip((OWN, QUICK, OWN), (*models, models[0]), strict=True):
        app = open_page("test_quality", data=data.fingerprint, model=model)
        assert f"{len(plan.split(data).test)} test samples" in plainly(app)
    assert len(OWN.split(data).test) != len(QUICK.split(data).test)
