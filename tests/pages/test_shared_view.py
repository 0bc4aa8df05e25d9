"""A link to what is no run opens its page as its owner sees it, with what it rests on and nothing to change."""

import time
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.pages import test_average_case, test_guided_tests, test_test_quality
from tests.pages.conftest import PLAN, charts, plainly, run_of_rows, stored_run, texts
from tests.pages.test_cluster_folds import PLAN as FOLDS
from tests.pages.test_cluster_folds import uploaded
from tests.pages.test_matched_subsets import made, store
from tests.pages.test_own_model import upload
from tests.pages.test_shared_run import open_link
from tests.pages.test_source_finders import TRAINED, TRAINED_ADDRESS, acol, digits
from touchstone.core.data import Dataset, load_example
from touchstone.core.models.model_file import ModelFile
from touchstone.core.trials import (
    Context,
    FoldPlan,
    MapPlan,
    found_in,
    needed_by,
    sample_predictions,
    sources_at_hand,
    with_labels,
)
from touchstone.core.trials.map_plan import METHODS
from touchstone.core.workspace import LOCAL_OWNER, Workspace, frames
from touchstone.core.workspace.access import DEAD

__all__ = ["acol", "digits", "open_link", "uploaded"]  # fixtures
pytestmark = pytest.mark.usefixtures("links_open")
LOOKING = {"draw-others", "clear-selection"}
"""Buttons that change nothing but what is looked at."""
Address = tuple[str, dict[str, str]]


@pytest.fixture
def own_folds(workspace, wine, uploaded) -> Address:
    first = uploaded(wine, FOLDS.folds(wine, "sds_folds", 0), "distribution_sensitive_kmeans")
    second = uploaded(wine, FOLDS.folds(wine, "random_folds", 0), "randomized")
    uploaded(wine, FOLDS.folds(wine, "random_folds", 1), "secret")
    map_of(workspace, wine)
    asked = {"data": wine.fingerprint, "first": first, "second": second, "foldmap": "UMAP"}
    return "cluster_folds", asked | {"view": "predictions of your own", "score": "Accuracy"}


@pytest.fixture
def own_folds_of_other_samples(workspace, wine, uploaded) -> Address:
    cancer = load_example("breast_cancer")
    first = uploaded(cancer, FOLDS.folds(cancer, "sds_folds", 0), "mine")
    return "cluster_folds", {"data": wine.fingerprint, "view": "predictions of your own", "first": first}


@pytest.fixture
def quality(workspace) -> Address:
    data, model = test_test_quality.clouds(workspace)
    _, other = test_average_case.kept(workspace, "wine")
    test_average_case.kept(workspace, "breast_cancer")
    beside = f"linear · Wine · {other[:8]}"
    return "test_quality", {"data": data.fingerprint, "model": model, "theta2": "0.6", "beside": beside}


@pytest.fixture
def quality_with_shift(workspace) -> Address:
    data, model = test_test_quality.moved(workspace)
    test_test_quality.stored_shift(workspace, data, model, n_resplits=9)
    return "test_quality", {
        "data": data.fingerprint,
        "model": model,
        "resplits": "9",
        "dimensions": "3",
        "mixture": "1",
    }


@pytest.fixture
def nothing_generated(workspace) -> Address:
    data, model = test_guided_tests.kept(workspace, "wine")
    return "guided_tests", {"data": data.fingerprint, "model": model}


@pytest.fixture
def mine(workspace, wine) -> Address:
    """A model that was brought along, without a run."""
    table = with_labels(upload(sample_predictions(PLAN, wine)), wine)
    own = workspace.add_predictions(LOCAL_OWNER, table)
    return "source_robustness", {"data": wine.fingerprint, "repeats": "4", "own": own}


@pytest.fixture
def mine_beside_a_run(workspace, wine, mine) -> Address:
    stored_run(workspace, wine)
    return mine


@pytest.fixture
def mine_on_trained_sources(workspace, digits, acol) -> Address:
    """A model that was brought along for splits of sources that a network found, without a run of its own."""
    [finder] = needed_by(TRAINED, digits)
    found = stored_run(workspace, digits, plan=finder)
    with sources_at_hand(digits.fingerprint, found_in(finder, workspace.rows(LOCAL_OWNER, found.id))):
        table = with_labels(upload(sample_predictions(TRAINED, digits)), digits)
    own = workspace.add_predictions(LOCAL_OWNER, table)
    return "source_robustness", {"data": digits.fingerprint, "own": own, **TRAINED_ADDRESS}


@pytest.fixture
def data_set(workspace, wine) -> Address:
    plan = FoldPlan(schemes=("random_folds",), models=())
    rows = [frames.to_bytes(plan.run_trial(wine, trial, context=Context())) for trial in range(plan.n_trials(wine))]
    run_of_rows(workspace, wine, plan, rows, done=True)
    return "data_sets", {"data": wine.fingerprint, "colour": "fold (Random, seed 0)", "number": "alcohol"}


@pytest.fixture
def umap(workspace, wine) -> Address:
    map_of(workspace, wine)
    return "data_sets", {"data": wine.fingerprint, "map": METHODS["umap"]}


def map_of(workspace: Workspace, data: Dataset) -> None:
    plan = MapPlan(representation="raw", method="umap")
    rows = replace(plan, method="pca").run_trial(data, 0, context=Context())  # the pages cannot tell
    run_of_rows(workspace, data, plan, [frames.to_bytes(rows)], done=True)


@pytest.fixture
def folds_on_a_map(workspace, wine) -> Address:
    """A run, which has a link of its own, drawn on a map that another run has made."""
    stored_run(workspace, wine, plan=FOLDS)
    map_of(workspace, wine)
    return "cluster_folds", {"data": wine.fingerprint, "foldmap": "UMAP"}


@pytest.fixture
def the_sheet(workspace, wine) -> Address:
    """The overview: answers of several runs, with a model's accuracy on the axis."""
    stored_run(workspace, wine)
    stored_run(workspace, wine, plan=FOLDS)
    test_average_case.kept(workspace, "wine")
    test_average_case.kept(workspace, "breast_cancer")
    return "overview", {"data": wine.fingerprint}


@pytest.fixture
def the_sheet_of_a_model(workspace, wine, the_sheet) -> Address:
    """The same of one of two models."""
    other = ModelFile(b"weights", "mine.onnx", wine.fingerprint).to_bytes()
    workspace.keep_model(LOCAL_OWNER, other, name="other", training_plan="{}", n_test=50, n_correct=20)
    return the_sheet[0], {**the_sheet[1], "sheet_model": "linear"}


@pytest.fixture
def the_sheet_of_files(workspace, open_page) -> Address:
    """The overview of two comparisons of prediction files, which nothing stores."""
    files = [store(workspace, f"{n}.tsv", made(400, fall, n)) for n, fall in enumerate((0.0, 0.1, 0.2))]
    for target in files[1:]:
        settled(open_page("matched_subsets", reference=files[0], target=target, epsilon="0.01"))
    return "overview", {"sheet": "prediction files"}


VIEWS = (own_folds, own_folds_of_other_samples, quality, quality_with_shift, nothing_generated)
VIEWS += (
    mine,
    mine_beside_a_run,
    mine_on_trained_sources,
    data_set,
    umap,
    folds_on_a_map,
    the_sheet,
    the_sheet_of_a_model,
    the_sheet_of_files,
)


@pytest.fixture(params=[view.__name__ for view in VIEWS])
def asked(request) -> Address:
    return request.getfixturevalue(request.param)


def settled(app: AppTest) -> AppTest:
    """The page once everything that is computed beside it is there."""
    until = time.monotonic() + 60
    while app.get("status") or app.get("skeleton") or "Searching for near" in texts(app):
        assert time.monotonic() < until, texts(app)
        time.sleep(0.2)
        app.run()
    assert not app.exception, app.exception[0].value
    return app


def link_of(owner: AppTest, page: str) -> tuple[str, dict[str, list[str]]]:
    """The token of a link that is made now by the menu of the owner's page, and the rest of its address."""
    owner.button(key=f"link-{page}").click().run()
    address = next(one.value for one in owner.code if "shared_run?t=" in one.value)
    rest = parse_qs(urlsplit(address).query, keep_blank_values=True)
    [token] = rest.pop("t")
    st.cache_resource.clear()  # the visitor's answers are not the owner's, kept
    return token, rest


def test_a_link_shows_what_its_owner_sees_and_nothing_to_bring_or_change(open_page, open_link, workspace, asked):
    page, parameters = asked
    owner = settled(open_page(page, **parameters))
    assert not owner.error
    before = stored(workspace)
    token, rest = link_of(owner, page)
    seen = settled(open_link(token, **rest))
    assert not seen.error, texts(seen)
    assert charts(seen) == charts(owner) != []
    assert [one.value for one in seen.metric] == [one.value for one in owner.metric]
    assert [one.value for one in seen.header] == [one.value for one in owner.header]
    assert not seen.get("file_uploader")
    assert {one.key for one in seen.button} <= LOOKING
    offered = [str(option) for kind in (seen.selectbox, seen.multiselect) for one in kind for option in one.options]
    assert "secret" not in plainly(seen) + " ".join(offered)
    assert "**Run**" not in plainly(seen)
    assert stored(workspace) == before, "looking has left something"


def stored(workspace: Workspace) -> list[object]:
    kept = (workspace.datasets, workspace.prediction_files, workspace.models, workspace.runs)
    return [one for of in kept for one in of(LOCAL_OWNER)]


@pytest.mark.parametrize(
    ("view", "change"),
    [
        ("own_folds", {"first": "0" * 64}),
        ("quality", {"theta2": "0.5"}),
        ("quality", {"model": "0" * 64}),
        ("mine", {"repeats": "7"}),
        ("data_set", {"features": "nothing"}),
    ],
)
def test_the_view_keeps_what_settles_it_whatever_the_address_says(view, change, request, open_page, open_link):
    page, parameters = request.getfixturevalue(view)
    owner = settled(open_page(page, **parameters))
    token, rest = link_of(owner, page)
    seen = settled(open_link(token, **rest))
    seen.query_params.update(change)
    settled(seen.run().run())
    assert not seen.error
    assert charts(seen) == charts(owner) != []
    [name] = change
    assert [*seen.query_params.get(name, [])] != [change[name]]


def test_what_the_address_said_of_another_data_set_is_no_part_of_a_link(open_page, open_link, workspace, wine):
    cancer = load_example("breast_cancer")
    workspace.add_dataset(LOCAL_OWNER, cancer, example="breast_cancer")
    owner = settled(open_page("data_sets", data=wine.fingerprint, number="proline"))
    owner.selectbox(key="data_control").select(cancer.fingerprint)
    settled(owner.run())
    assert not owner.error
    token, rest = link_of(owner, "data_sets")
    assert rest["number"] == ["mean radius"]
    seen = settled(open_link(token, **rest))
    assert not seen.error
    assert charts(seen) == charts(owner)


@pytest.mark.parametrize("view", ["own_folds", "quality", "mine_beside_a_run", "data_set"])
def test_a_link_whose_files_are_gone_is_dead(view, request, open_page, open_link, workspace):
    page, parameters = request.getfixturevalue(view)
    token, rest = link_of(settled(open_page(page, **parameters)), page)
    seen = settled(open_link(token, **rest))
    delete: dict[str, Callable[[], None]] = {
        "own_folds": lambda: workspace.delete_predictions(LOCAL_OWNER, parameters["second"]),
        "quality": lambda: workspace.delete_model(LOCAL_OWNER, parameters["model"]),
        "mine_beside_a_run": lambda: workspace.delete_run(LOCAL_OWNER, workspace.runs(LOCAL_OWNER)[0].id),
        "data_set": lambda: workspace.delete_dataset(LOCAL_OWNER, parameters["data"]),
    }
    delete[view]()
    seen.run()
    assert DEAD in texts(seen)
    assert not [*seen.metric, *charts(seen), *seen.dataframe]


def test_all_links_that_work_are_listed_with_the_runs_and_can_be_taken_back(open_page, workspace, wine, mine):
    page, parameters = mine
    owner = settled(open_page(page, **parameters))
    link_of(owner, page)
    run = stored_run(workspace, wine, n_trials=1)
    workspace.create_link(LOCAL_OWNER, run.id)
    app = open_page("runs")
    assert "2 links work" in [one.label for one in app.expander]
    links = {type(link.shows): link for link in workspace.links(LOCAL_OWNER)}
    for link in links.values():
        app.button(key=f"revoke-all-{link.id}").click().run()
    assert not [link for link in workspace.links(LOCAL_OWNER) if link.works]
    assert not [one for one in app.expander if "work" in one.label]
