from collections.abc import Callable
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.data.uploads import predictions_file
from tests.pages.conftest import charts, plainly, sent_address, stored_run, texts
from touchstone.core.data import Dataset, load_example
from touchstone.core.data.predictions.upload import (
    GivenFile,
    PredictionUpload,
    datasplits_file,
    folded_upload,
)
from touchstone.core.represent import REPRESENTATIONS
from touchstone.core.trials import FoldPlan
from touchstone.core.workspace import LOCAL_OWNER
from touchstone.ui.cluster_folds import controls
from touchstone.ui.forms.controls import NamedNumbers

PLAN = FoldPlan(seeds=(0, 1, 2))


def test_with_nothing_computed_the_page_says_what_it_will_do(open_page, wine):
    app = open_page("cluster_folds", data=wine.fingerprint)
    assert app.title[0].value == "How do scores change when folds are made to differ?"
    assert "Not computed yet for these settings" in texts(app)
    assert "36 trials" in texts(app)
    assert not app.button(key="run").disabled
    assert charts(app) == []


def test_a_finished_run_shows_everything(open_page, workspace, wine):
    stored_run(workspace, wine, plan=PLAN)
    app = open_page("cluster_folds", data=wine.fingerprint)
    assert app.button(key="run").disabled
    assert [metric.label for metric in app.metric] == ["SDS k\\-means", "Random", "Difference", "Spread of folds"]
    said = plainly(app)
    assert "macro F1" in said
    assert "n = 178, 5 folds, 3 seeds" in said
    assert "last row: the mean of 2 random draws" in said
    shown = charts(app)
    assert all(shown)
    assert len([alt for alt in shown if alt.startswith("Map of 178 samples")]) == 2
    assert any(alt.startswith("Sizes of folds") for alt in shown)
    assert any("alcohol" in alt.lower() for alt in shown)


@pytest.mark.parametrize("stored", [None, "raw"])
def test_a_run_is_found_by_the_bare_address_and_by_the_name_of_its_usual_features(open_page, workspace, wine, stored):
    run = stored_run(workspace, wine, plan=replace(PLAN, models=(), representation=stored))
    for features in ({}, {"features": REPRESENTATIONS["raw"].title}):
        app = open_page("cluster_folds", data=wine.fingerprint, models=[""], **features)
        assert "Not computed yet" not in texts(app)
        assert app.button(key="run").disabled
    assert workspace.runs(LOCAL_OWNER) == [run]


def test_texts_show_the_words_of_every_fold(open_page, workspace):
    few = [f"{'wine and grapes' if row % 4 < 2 else 'ships at sea'} {row % 7}" for row in range(80)]
    y = [row % 2 for row in range(80)]
    data = Dataset("texts", "text", few, y, ("good", "bad"), [str(row) for row in range(80)])
    workspace.add_dataset(LOCAL_OWNER, data)
    stored_run(workspace, data, plan=FoldPlan(n_folds=2, seeds=(0, 1, 2)))
    app = open_page("cluster_folds", data=data.fingerprint, folds="2")
    assert any("significantly more frequent in the fold" in alt for alt in charts(app))
    assert any(alt.startswith("Length (words), mean by fold") for alt in charts(app))
    assert {"grapes", "ships"} <= set(plainly(app).replace(",", " ").split())


@pytest.mark.parametrize("address", ["metric", "score"])
def test_the_score_can_be_another_and_stands_in_the_address(open_page, workspace, wine, address):
    """Addresses of earlier versions called it the score."""
    stored_run(workspace, wine, plan=PLAN)
    app = open_page("cluster_folds", data=wine.fingerprint, **{address: "Accuracy"})
    assert " accuracy on SDS k-means folds" in plainly(app)
    assert app.session_state["share_offer"].parameters["metric"] == ["Accuracy"]
    app = open_page("cluster_folds", data=wine.fingerprint, **{address: "F1 of nobody"})
    assert "setting that does not exist here" in texts(app)
    assert not app.metric


@pytest.mark.parametrize(
    ("chosen", "name"), [("Matthews correlation (MCC)", "matthews_corrcoef"), ("Cohen's kappa", "cohen_kappa")]
)
def test_a_correlation_can_be_the_score_in_its_own_unit(open_page, workspace, wine, chosen, name):
    stored_run(workspace, wine, plan=PLAN)
    app = open_page("cluster_folds", data=wine.fingerprint, metric=chosen)
    assert app.selectbox(key="metric").value == f"{name}-None"
    title = chosen.partition(" (")[0]
    assert f" of {title} on SDS k-means folds: ." in plainly(app) or f" in {title} on SDS k-means folds (" in plainly(
        app
    )
    assert all("%" not in each.value and "points" not in each.value for each in app.metric)
    assert any(alt.startswith(f"{title} of every fold. Random: .") for alt in charts(app))
    [table] = [each.value for each in app.dataframe if "By fold" in each.value]
    assert {"Mean", "Majority", "Accuracy (%)"} <= set(table)
    assert app.session_state["share_offer"].parameters["metric"] == [chosen]


def test_folds_can_be_made_without_a_model(open_page, workspace, wine):
    plan = FoldPlan(models=(), seeds=(0, 1, 2))
    stored_run(workspace, wine, plan=plan)
    app = open_page("cluster_folds", data=wine.fingerprint, models="")
    assert app.button(key="run").disabled, "the address of no model leads to another plan"
    assert not app.metric
    assert any(alt.startswith("Map of 178 samples") for alt in charts(app))


@pytest.mark.parametrize(("example", "sampled"), [("wine", False), ("digits", True)])
def test_distances_of_some_samples_only_are_called_that(open_page, workspace, example, sampled):
    dataset = load_example(example)
    workspace.add_dataset(LOCAL_OWNER, dataset, example=example)
    plan = FoldPlan(schemes=("random_folds",), models=(), seeds=(0,))
    stored_run(workspace, dataset, plan=plan)
    app = open_page("cluster_folds", data=dataset.fingerprint, **controls.parameters(plan))
    assert "last row: the mean of" in texts(app)
    assert ("Distances are measured on at most 750 random samples of each part." in texts(app)) == sampled


def test_labels_that_are_specified_are_in_form_table_and_address(open_page, workspace, wine):
    app = open_page("cluster_folds", data=wine.fingerprint, folds="3", models=[""], seeds="1")
    app.text_input(key="labels_by_fold").set_value("class_0: 30 20 9; class_2: 1 1 0").run()
    assert not app.exception
    plan = app.session_state["share_offer"].plan
    assert plan.labels_by_fold == (("class_0", 30.0, 20.0, 9.0), ("class_2", 1.0, 1.0, 0.0))
    planned = next(table.value for table in app.dataframe if "class_1" in table.value.index)
    assert planned.loc["class_0"].tolist() == [30, 20, 9]
    assert planned.loc["class_1"].tolist() == [23.7] * 3
    assert "Samples by fold: 77.7, 67.7, 32.7." in texts(app)
    assert "so scores also differ because labels do" in texts(app)
    run = stored_run(workspace, wine, plan=plan)
    app = open_page("cluster_folds", data=wine.fingerprint, **controls.parameters(plan))
    assert app.button(key="run").disabled
    [found] = [
        table.value for table in app.dataframe if "30" in table.value.astype(str).values and "Fold 1" in table.value
    ]
    found = found.set_index("Label")
    assert found.loc["class_0"].tolist() == ["30", "20", "9"]
    assert found.loc["class_2"].tolist() == ["24", "24", "0"]
    assert workspace.runs(LOCAL_OWNER) == [run]


def test_a_cell_that_is_changed_is_in_the_line_and_the_rest_of_its_label_is_shared_out(monkeypatch):
    wine = load_example("wine")
    plan = FoldPlan(schemes=("sds_folds",), n_folds=3, labels_by_fold=(("class_2", 1, 1, 0),))
    state = {"editor": {"edited_rows": {"0": {"Fold 1": 30}, 2: {"Fold 2": None}}}}
    monkeypatch.setattr(controls.st, "session_state", state)
    controls._take("editor", plan, wine)
    assert state["labels_by_fold"] == "class_2: 48 0 0; class_0: 30 14.5 14.5"
    taken = NamedNumbers("labels_by_fold", "Labels by fold", 0.0, "").meant(state["labels_by_fold"])
    counts = controls.counts_by_fold(replace(plan, labels_by_fold=taken), wine)
    np.testing.assert_allclose(counts, [[30, 14.5, 14.5], [71 / 3] * 3, [48, 0, 0]])
    state["editor"]["edited_rows"] = {"0": {"Fold 2": 19.7}}  # what it shows: opened, and left
    controls._take("editor", plan, wine)
    assert state["labels_by_fold"] == "class_2: 1 1 0"


@given(st.lists(st.floats(0, 50), min_size=2, max_size=6), st.dictionaries(st.integers(0, 5), st.floats(0, 60)))
@example([1.5, 5e-324], {0: 0.0})
def test_no_sample_is_lost_where_the_cells_leave_room_for_it(counts, cells):
    cells = {fold: number for fold, number in cells.items() if fold < len(counts)}
    after = controls.changed(np.array(counts), cells)
    assert all(after[fold] == number for fold, number in cells.items())
    if len(cells) < len(counts) and sum(cells.values()) <= sum(counts):
        np.testing.assert_allclose(after.sum(), sum(counts), atol=1e-9)


def test_without_folds_that_read_labels_there_is_no_table_of_them(open_page, wine):
    app = open_page("cluster_folds", data=wine.fingerprint, schemes=["random_folds"])
    assert not any("class_1" in table.value.index for table in app.dataframe)


def test_labels_that_cannot_be_read_are_said_and_kept(open_page, wine):
    app = open_page("cluster_folds", data=wine.fingerprint)
    for written, said in (("class_0 1 2", "rows separated by semicolons"), ("spam: 1 1 1 1 1", "has no class “spam”")):
        app.text_input(key="labels_by_fold").set_value(written).run()
        assert said in texts(app) + "".join(error.value for error in app.error)
        assert app.text_input(key="labels_by_fold").value == written


def test_several_seeds_stand_side_by_side(open_page, workspace, wine):
    stored_run(workspace, wine, plan=FoldPlan(seeds=(0, 1)))
    app = open_page("cluster_folds", data=wine.fingerprint, seeds="2")
    assert any(alt.startswith("Seeds side by side") for alt in charts(app))


def test_an_interrupted_run_shows_what_there_is_and_offers_to_go_on(open_page, workspace, wine):
    run = stored_run(workspace, wine, plan=PLAN, n_trials=9)
    app = open_page("cluster_folds", data=wine.fingerprint)
    assert app.button(key=f"resume-{run.id}").label == "Resume"
    assert "no fold scheme is complete yet" in plainly(app)


def test_more_folds_than_a_label_has_samples_is_explained_and_allowed(open_page, workspace, wine):
    kept = np.concatenate([np.flatnonzero(wine.y < 2), np.flatnonzero(wine.y == 2)[:3]])
    rare = Dataset("rare", "tabular", wine.x[kept], wine.y[kept], wine.class_names, wine.ids[kept])
    workspace.add_dataset(LOCAL_OWNER, rare)
    stored_run(workspace, rare, plan=PLAN)
    app = open_page("cluster_folds", data=rare.fingerprint)
    assert f"Fewer samples than the 5 folds: {wine.class_names[2]} (3)" in plainly(app)
    assert app.metric


def test_more_folds_than_samples_is_a_sentence_and_inputs_are_kept(open_page, workspace):
    small = Dataset("small", "tabular", [[0.0], [1.0], [2.0]], [0, 1, 1], ("plum", "melon"), ["a", "b", "c"])
    workspace.add_dataset(LOCAL_OWNER, small)
    app = open_page("cluster_folds", data=small.fingerprint, folds="4")
    assert "4 folds cannot be made of the 3 samples" in app.error[0].value.replace("\\", "")
    assert app.number_input(key="folds").value == 4


def one_source_only() -> Dataset:
    """All of the third class is from one source."""
    y, sources = [0, 0, 0, 0, 1, 1, 1, 1] * 4 + [2] * 4, [*("ann", "bob", "cem", "dan") * 8, *["eve"] * 4]
    x = np.random.default_rng(0).normal(size=(36, 2))
    return Dataset("mail", "tabular", x, y, ("ham", "spam", "news"), None, sources=sources)


def test_more_folds_than_sources_and_a_class_of_one_source_are_said_before_run(open_page, workspace):
    mail = one_source_only()
    workspace.add_dataset(LOCAL_OWNER, mail)
    at = {"data": mail.fingerprint, "schemes": "Known sources, several to a fold"}
    app = open_page("cluster_folds", **at, folds="6")
    assert "6 folds cannot be made of 5 sources" in app.error[0].value.replace("\\", "")
    app = open_page("cluster_folds", **at, folds="3")
    assert "All samples of “news” come from 1 source" in app.error[0].value.replace("\\", "")
    assert "run" not in [button.key for button in app.button]
    app.button(key="leave-out").click().run()
    assert not app.error
    assert not app.button(key="run").disabled


def test_a_run_of_before_such_folds_were_refused_is_shown_and_names_the_class(open_page, workspace, monkeypatch):
    mail = one_source_only()
    workspace.add_dataset(LOCAL_OWNER, mail)
    plan = FoldPlan(schemes=("random_folds", "leave_one_group_out"), models=("logistic",), n_folds=3)
    with monkeypatch.context() as accepted:
        accepted.setattr("touchstone.core.trials.fold_plan._unlearned", lambda *about: None)
        stored_run(workspace, mail, plan=plan)
    app = open_page("cluster_folds", data=mail.fingerprint, **controls.parameters(plan))
    assert not app.error
    assert app.metric
    assert "Fold 5 of “Known sources, one at a time” holds all of “news”: models tested there saw none." in plainly(app)


def test_constant_features_are_a_sentence(open_page, workspace):
    rows = np.ones((40, 2))
    constant = Dataset("constant", "tabular", rows, [0, 1] * 20, ("plum", "melon"), [str(row) for row in range(40)])
    workspace.add_dataset(LOCAL_OWNER, constant)
    plan = FoldPlan(schemes=("random_folds",), seeds=(0, 1, 2))
    stored_run(workspace, constant, plan=plan)
    app = open_page("cluster_folds", data=constant.fingerprint, schemes="Random")
    assert app.error, "nothing is said of features that are all the same"


def test_an_unknown_value_in_the_address_gets_a_sentence_and_no_result(open_page, workspace, wine):
    stored_run(workspace, wine, plan=PLAN)
    for parameters in ({"schemes": "Magic"}, {"folds": "1"}, {"seeds": "0"}, {"view": "mine"}):
        app = open_page("cluster_folds", data=wine.fingerprint, **parameters)
        assert "setting that does not exist here" in texts(app)
        assert not app.metric
        assert charts(app) == []


THREE = FoldPlan(schemes=("random_folds", "kmeans_folds", "sds_folds"), models=("logistic", "nearest_neighbours"))
LOOKED_AT = {
    "foldmodel": ["Nearest neighbours"],
    "about": ["SDS k-means"],
    "left": ["SDS k-means"],
    "right": ["K-means"],
    "inside": ["Random"],
    "infold": ["4"],
    "against": ["samples"],
}


def test_what_is_looked_at_is_in_the_address_and_a_copied_link_opens_it(open_page, workspace, wine):
    stored_run(workspace, wine, plan=THREE)
    written = controls.parameters(THREE)
    app = open_page("cluster_folds", data=wine.fingerprint, **written)
    assert "on these K-means folds" in plainly(app)
    for key, (value,) in LOOKED_AT.items():
        next(each for each in [*app.segmented_control, *app.selectbox] if each.key == key).set_value(value)
    app.run()
    address = parse_qs(urlsplit(sent_address(app)).query)
    assert {key: address.get(key) for key in LOOKED_AT} == LOOKED_AT

    copied = open_page("cluster_folds", **address)
    assert "Nearest neighbours: macro F1" in plainly(copied)
    assert "on these SDS k-means folds" in plainly(copied)
    assert "Samples of fold 4" in plainly(copied)
    assert plainly(copied) == plainly(app)
    assert charts(copied) == charts(app)


def test_an_address_that_asks_to_look_at_what_is_not_there_gets_a_sentence(open_page, workspace, wine):
    stored_run(workspace, wine, plan=PLAN)
    for wrong in ({"foldmodel": "Nobody"}, {"about": "K-means"}, {"infold": "6"}, {"foldmap": "UMAP"}):
        app = open_page("cluster_folds", data=wine.fingerprint, **wrong)
        assert f": {next(iter(wrong.values()))}. No result is shown" in plainly(app)


@pytest.fixture
def uploaded(workspace) -> Callable[..., str]:
    """Predictions on folds of the wine data as somebody would upload them, one in five of them wrong."""

    def upload(data: Dataset, folds: np.ndarray, name: str) -> str:
        gold = np.array(data.class_names, dtype=object)[data.y]
        said = np.where(np.arange(data.n_samples) % 5 == 0, data.class_names[0], gold)
        files = folded_upload(
            GivenFile(f"predictions_{name}.tsv", predictions_file(data.ids, gold, said)),
            GivenFile(f"datasplits_{name}.tsv", datasplits_file(data.ids, folds)),
        )
        return workspace.add_predictions(LOCAL_OWNER, files)

    return upload


def test_uploaded_predictions_show_what_a_run_does(open_page, wine, uploaded):
    first = uploaded(wine, PLAN.folds(wine, "sds_folds", 0), "distribution_sensitive_kmeans")
    second = uploaded(wine, PLAN.folds(wine, "random_folds", 0), "randomized")
    app = open_page("cluster_folds", data=wine.fingerprint, view="predictions of your own", first=first, second=second)
    assert [metric.label for metric in app.metric][:3] == ["SDS k\\-means", "Random", "Difference"]
    assert len([alt for alt in charts(app) if alt.startswith("Map of 178 samples")]) == 2


def test_predictions_of_other_samples_need_no_data_set(open_page, workspace, wine, uploaded):
    cancer = load_example("breast_cancer")
    first = uploaded(cancer, PLAN.folds(cancer, "sds_folds", 0), "mine")
    app = open_page("cluster_folds", data=wine.fingerprint, view="predictions of your own", first=first)
    assert "n = 569, 5 folds" in plainly(app)
    assert "No map: the chosen data set" in texts(app)


def test_a_positive_class_can_be_named(open_page, wine, uploaded):
    first = uploaded(wine, PLAN.folds(wine, "sds_folds", 0), "mine")
    app = open_page(
        "cluster_folds",
        data=wine.fingerprint,
        view="predictions of your own",
        first=first,
        score=f"F1 of {wine.class_names[1]}",
    )
    assert f"F1 of {wine.class_names[1]}" in plainly(app)
    assert app.metric


def test_predictions_that_are_gone_get_a_sentence_and_no_result(open_page, wine):
    app = open_page("cluster_folds", data=wine.fingerprint, view="predictions of your own", first="0" * 64)
    assert "No result is shown" in texts(app)
    assert not app.metric
    app.button[0].click().run()
    assert "Upload a model's predictions on folds" in texts(app)


def test_earlier_files_can_be_chosen_again_and_deleted(open_page, workspace, wine, uploaded):
    uploaded(wine, PLAN.folds(wine, "sds_folds", 0), "mine")
    app = open_page("cluster_folds", data=wine.fingerprint, view="predictions of your own")
    app.selectbox(key="stored-first").select_index(0).run()
    assert "n = 178, 5 folds" in plainly(app)
    app.button(key="delete-first").click().run()
    app.button(key="delete-first").click()  # which is what keeps the dialog open here
    app.button(key="really-delete").click().run()
    assert workspace.prediction_files(LOCAL_OWNER) == []
    assert not app.metric


def test_a_held_out_score_is_held_against_the_folds(open_page, workspace, wine, uploaded):
    first = uploaded(wine, PLAN.folds(wine, "sds_folds", 0), "distribution_sensitive_kmeans")
    names = np.array(wine.class_names, dtype=object)
    gold = names[np.arange(60) % 3]
    said = GivenFile("new.tsv", predictions_file(np.array([f"new{row}" for row in range(60)]), gold, gold))
    held_out = workspace.add_predictions(LOCAL_OWNER, PredictionUpload(said))
    app = open_page(
        "cluster_folds", data=wine.fingerprint, view="predictions of your own", first=first, heldout=held_out
    )
    assert "too little for this trained model on the held-out set" in plainly(app)


def test_the_notebooks_own_files_give_their_figures(open_page, workspace, wine, shared_data):
    addresses = {}
    for slot, scheme in (("first", "distribution_sensitive_kmeans"), ("second", "randomized")):
        names = [f"patent_classification__{kind}_{scheme}.tsv" for kind in ("predictions", "datasplits")]
        given = [GivenFile(name, (shared_data / "clusterdatasplit" / name).read_bytes()) for name in names]
        addresses[slot] = workspace.add_predictions(LOCAL_OWNER, folded_upload(*given))
    app = open_page("cluster_folds", data=wine.fingerprint, view="predictions of your own", **addresses)
    table = next(frame.value for frame in app.dataframe if "By fold (%)" in frame.value)
    assert [line.split() for line in table["By fold (%)"]] == [
        ["60.1", "79.2", "54.9", "64.8", "73.4"],
        ["81.1", "73.6", "76.8", "80.9", "82.1"],
    ]
    assert "do not reproduce the paper's Table 3" in plainly(app)


def test_a_column_that_tells_the_label_is_said_until_it_is_left_out(open_page, workspace):
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 60)
    x = np.column_stack([rng.normal(size=(120, 2)), y + rng.uniform(0, 0.5, 120), 2 - y])
    names = ["height", "weight", "outcome code", "score"]
    data = Dataset("visits", "tabular", x, y, ("ill", "well"), None, feature_names=names)
    workspace.add_dataset(LOCAL_OWNER, data)
    for stem in ("data_sets", "cluster_folds"):
        app = open_page(stem, data=data.fingerprint)
        while app.get("skeleton"):  # what is computed beside the page
            app.run()
        assert "Column “outcome code” alone predicts the label" in plainly(app)
        assert leaving(app) == ["Leave out “outcome code”", "Leave out “score”"]
    app.button(key="leave-out-feature-0").click().run()
    assert app.query_params["data"] == data.without_features("outcome code").fingerprint
    assert leaving(app) == ["Leave out “score”"]
    app.button(key="leave-out-feature-0").click().run()
    assert not leaving(app)
    assert "alone predicts the label" not in plainly(app)
    left = workspace.dataset(LOCAL_OWNER, app.query_params["data"])
    assert left.feature_names == ("height", "weight")
    assert not app.exception


def leaving(app) -> list[str]:
    return [button.label for button in app.button if str(button.key).startswith("leave-out-feature")]
