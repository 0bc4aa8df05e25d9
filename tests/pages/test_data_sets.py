import base64
import errno
import io
import json
import os
import time
from dataclasses import replace

import numpy as np
import pytest

from tests.pages.conftest import plainly, texts
from touchstone.core.data import EXAMPLES, Dataset
from touchstone.core.trials import Context
from touchstone.core.trials.fold_plan import FoldPlan
from touchstone.core.trials.map_plan import METHODS, MapPlan
from touchstone.core.workspace import LOCAL_OWNER, frames
from touchstone.ui.forms.plan_form import plan_parameters

GOOD = b"text\tlabel\n" + b"".join(
    b"a fine film number %d\tgood\na dull film number %d\tbad\n" % (n, n) for n in range(20)
)


def test_examples_can_be_chosen(open_page, workspace):
    app = open_page("data_sets")
    assert [app.button(key=f"choose-{name}").label for name in EXAMPLES] == ["Chosen", "Choose", "Choose", "Choose"]
    app.button(key="choose-wine").click().run()
    assert app.header[0].value == "Wine"
    assert (
        app.query_params["data"]
        == next(one for one in workspace.datasets(LOCAL_OWNER) if one.example == "wine").fingerprint
    )


def test_images_show_pictures_with_labels_and_the_scale(open_page):
    app = opened(open_page, data="digits")
    assert {metric.label: metric.value for metric in app.metric}["Image size"] == "8 × 8"
    assert len(app.get("image")) >= 30
    assert "Pixels were divided by 16" in texts(app)


def test_tables_show_rows_with_their_columns(open_page, wine):
    app = opened(open_page, data=wine.fingerprint)
    columns = next(frame.value for frame in app.dataframe if "Missing" in frame.value)
    rows = next(frame.value for frame in app.dataframe if "id" in frame.value)
    assert columns["Column"].tolist() == list(wine.feature_names)
    assert columns["Missing"].tolist() == [0] * 13
    assert len(rows) == 178
    assert {"id", "label", "alcohol"} <= set(rows.columns)


def test_a_good_file_is_shown_stored_and_chosen(open_page, workspace):
    app = open_page("data_sets", data="wine")
    app.file_uploader[0].upload("films.tsv", GOOD)
    app.run()
    assert "**films**: 40 texts, 2 classes" in texts(app)
    assert "films" not in [one.name for one in workspace.datasets(LOCAL_OWNER)]
    app.session_state["fold-samples"] = True
    app.button(key="use-upload").click().run()
    stored = next(one for one in workspace.datasets(LOCAL_OWNER) if one.name == "films")
    assert app.query_params["data"] == stored.fingerprint
    assert app.header[0].value == "films"
    assert any(text.startswith("a fine film number") for text in app.table[-1].value["text"])


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("films.tsv", b"text\tlabel\na fine film\tgood\n", "good"),
        ("films.tsv", b"", "empty"),
        ("films.tsv", b"text\tlabel\nfine\tgood\textra\n", "line 2"),
        ("pictures.npz", b"not an archive", "pictures.npz"),
    ],
)
def test_a_broken_file_gets_its_error_as_written_and_stays_chosen(open_page, workspace, name, content, said):
    app = open_page("data_sets", data="wine")
    app.file_uploader[0].upload(name, content)
    app.run()
    assert not app.exception
    assert said in app.error[0].value.replace("\\", "")
    assert app.file_uploader[0].value
    assert {one.example for one in workspace.datasets(LOCAL_OWNER)} == {"wine"}


def test_an_upload_can_be_deleted_and_an_example_cannot(open_page, workspace, wine):
    mine = Dataset("mine", "tabular", wine.x, wine.y, wine.class_names, wine.ids)
    workspace.add_dataset(LOCAL_OWNER, mine)
    assert "delete-data" not in [button.key for button in open_page("data_sets", data=wine.fingerprint).button]
    app = open_page("data_sets", data=mine.fingerprint)
    app.button(key="delete-data").click().run()
    assert "deleted for good" in texts(app)
    assert mine.fingerprint in {one.fingerprint for one in workspace.datasets(LOCAL_OWNER)}


def test_an_example_as_older_libraries_had_it_is_an_entry_of_its_own(open_page, workspace, wine):
    older = Dataset("wine", "tabular", wine.x + 1, wine.y, wine.class_names, wine.ids)
    workspace.add_dataset(LOCAL_OWNER, older, example="wine")
    app = open_page("data_sets", data=wine.fingerprint)
    titles = app.selectbox(key="data_control").options
    assert sum(title.startswith("Wine") for title in titles) == 2
    assert app.button(key="delete-data")


def test_a_full_disk_is_said_and_the_file_stays_on_the_page(open_page, workspace, monkeypatch):
    def full(_descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    app = open_page("data_sets", data="wine")
    app.file_uploader[0].upload("films.tsv", GOOD)
    app.run()
    monkeypatch.setattr(os, "fsync", full)
    app.button(key="use-upload").click().run()
    assert not app.exception
    assert "The disk is full" in app.toast[0].value
    monkeypatch.undo()
    app.button(key="use-upload").click().run()
    assert app.header[0].value == "films"


def test_an_npz_file_of_images_can_be_used(open_page, workspace):
    stream = io.BytesIO()
    np.savez(stream, images=np.zeros((6, 4, 4), dtype=np.uint8), labels=np.array([0, 1] * 3))
    app = open_page("data_sets", data="wine")
    app.file_uploader[0].upload("dots.npz", stream.getvalue())
    app.run()
    app.button(key="use-upload").click().run()
    assert app.header[0].value == "dots"
    for name in FOLDED:
        app.session_state[f"fold-{name}"] = True
    app.run()
    assert len(app.get("image")) == 2 + 6 + 6  # mean images, the copies, samples
    assert "they cannot be separated" in texts(app)
    assert "No search for near\\-duplicates in these features" in texts(app)


N_CLASSES = 100


@pytest.fixture
def hundred(workspace):
    """Texts of a hundred classes, with an exact copy that has another label."""
    lines = [
        f"class{code} word{code} said number {n} of the {'very ' * (code % 7)}day"
        for n in range(4)
        for code in range(N_CLASSES)
    ]
    lines[399] = lines[0]
    y = [code for _ in range(4) for code in range(N_CLASSES)]
    dataset = Dataset(
        "hundred", "text", lines, y, [f"label {code}" for code in range(N_CLASSES)], [str(i) for i in range(400)]
    )
    workspace.add_dataset(LOCAL_OWNER, dataset)
    return dataset


FOLDED = ("samples", "duplicates", "words", "means", "columns", "by-class")


def opened(open_page, **parameters):
    """The page with all that is folded open, once everything that is computed beside it is there."""
    app = open_page("data_sets", **parameters)
    for name in FOLDED:
        app.session_state[f"fold-{name}"] = True
    app.run()
    until = time.monotonic() + 60
    while "Searching for near" in texts(app) or app.get("skeleton"):
        assert time.monotonic() < until, texts(app)
        time.sleep(0.2)
        app.run()
        assert not app.exception, app.exception[0].value
    return app


def test_the_first_sentence_says_what_is_there(open_page, wine):
    app = opened(open_page, data=wine.fingerprint)
    said = texts(app).replace("\\", "")
    assert "178 rows in 3 classes, about evenly spread (48 to 71 samples each); no exact duplicates." in said
    assert "always predicting “class_1” reaches 39.9 % [33.0, 47.2]" in said
    assert {metric.label for metric in app.metric} == {
        "Samples",
        "Classes",
        "Columns",
        "Sources",
        "Majority\\-class baseline",
    }


def test_a_hundred_classes_of_texts_are_shown_whole(open_page, hundred):
    app = opened(open_page, data=hundred.fingerprint)
    said = texts(app).replace("\\", "")
    assert (
        "400 texts in 100 classes, evenly spread (4 samples each); 1 exact duplicate, and its copy has another" in said
    )
    assert "100 classes have fewer than 30 samples (“label 0”, “label 1”, “label 2” and 97 others)" in said
    charts = {chart.proto.id.split("-")[-1] for chart in app.get("plotly_chart")}
    assert len(charts) == len(app.get("plotly_chart")) >= 8
    assert app.selectbox(key="words-class").options == list(hundred.class_names)
    app.selectbox(key="words-class").select("label 7").run()
    assert "Most characteristic of “label 7”" in texts(app)
    app.toggle(key="stop-words").set_value(True).run()
    assert not app.exception
    assert "In colour, of 100" in [box.label for box in app.multiselect]


def test_copies_with_different_labels_are_shown_first(open_page, hundred):
    app = opened(open_page, data=hundred.fingerprint)
    shown = next(control for control in app.segmented_control if control.label == "Shown")
    assert shown.value == "Exact duplicates, different labels"
    pair = next(table.value for table in app.table if len(table.value) == 2 and table.value["text"].nunique() == 1)
    assert pair.index.tolist() == ["label 0", "label 99"]
    assert pair["id"].tolist() == ["0", "399"]


def test_near_duplicates_follow_the_chosen_similarity(open_page, wine):
    app = opened(open_page, data=wine.fingerprint)
    assert "2 near-duplicate pairs (4 samples), all with equal labels" in texts(app).replace("\\", "")
    app = opened(open_page, data=wine.fingerprint, similarity="0.99")
    assert "No near-duplicates at this similarity" in texts(app).replace("\\", "")


def test_near_duplicates_can_be_kept_on_one_side_of_every_split(open_page, wine, workspace):
    app = opened(open_page, data=wine.fingerprint)
    app.button(key="together").click().run()
    [stored] = [one for one in workspace.datasets(LOCAL_OWNER) if one.name == "wine, duplicates together"]
    together = workspace.dataset(LOCAL_OWNER, stored.fingerprint)
    assert together.n_units == wine.n_samples - 2
    app = opened(open_page, data=together.fingerprint)
    assert [metric.value for metric in app.metric if metric.label == "Units"] == ["176 contents"]
    said = texts(app).replace("\\", "")
    assert "Units: copies and near copies share one; 176 different contents in 178 samples." in said
    assert "keep one of each duplicate" not in said


def test_duplicates_are_removed_by_a_button_and_come_back_by_another(open_page, hundred, workspace):
    app = opened(open_page, data=hundred.fingerprint)
    said = texts(app).replace("\\", "")
    assert "Removing keeps the first of each. Exact duplicates with different labels (1) are all removed." in said
    app.button(key="remove-exact").click().run()
    [stored] = [one for one in workspace.datasets(LOCAL_OWNER) if one.name == f"{hundred.name}, without duplicates"]
    assert app.query_params["data"] == stored.fingerprint
    n_removed = hundred.n_samples - stored.n_samples
    assert f"{n_removed} samples removed." in texts(app).replace("\\", "")
    app.button(key="undo-removal").click().run()
    assert app.query_params["data"] == hundred.fingerprint
    assert stored.fingerprint not in [one.fingerprint for one in workspace.datasets(LOCAL_OWNER)]
    assert "samples removed." not in texts(app)


def test_near_duplicates_are_removed_where_somebody_says_so(open_page, wine, workspace):
    app = opened(open_page, data=wine.fingerprint)
    keys = [button.key for button in app.button]
    assert ("remove-exact" in keys, "remove-near" in keys) == (False, True)
    app.button(key="remove-near").click().run()
    [stored] = [one for one in workspace.datasets(LOCAL_OWNER) if one.name == "wine, without duplicates"]
    assert stored.n_samples == wine.n_samples - 2
    assert "2 samples removed." in texts(app).replace("\\", "")


def test_undo_keeps_a_data_set_that_was_there_before(open_page, wine, workspace):
    opened(open_page, data=wine.fingerprint).button(key="remove-near").click().run()
    app = opened(open_page, data=wine.fingerprint)
    app.button(key="remove-near").click().run()
    [stored] = [one for one in workspace.datasets(LOCAL_OWNER) if one.n_samples == 176]
    app.button(key="undo-removal").click().run()
    assert app.query_params["data"] == wine.fingerprint
    assert stored in workspace.datasets(LOCAL_OWNER)


def test_rows_of_a_named_unit_are_not_put_into_others(open_page, workspace, wine):
    named = wine.with_units([f"grower {row // 3}" for row in range(wine.n_samples)], "grower")
    workspace.add_dataset(LOCAL_OWNER, named)
    app = opened(open_page, data=named.fingerprint)
    assert "together" not in [button.key for button in app.button]
    assert [metric.value for metric in app.metric if metric.label == "Units"] == ["60 growers"]
    assert "178 rows from 60 growers in 3 classes" in texts(app).replace("\\", "")


def test_images_have_a_mean_image_of_each_class(open_page):
    app = opened(open_page, data="digits")
    captions = [image.proto.imgs[0].caption for image in app.get("image") if len(image.proto.imgs) == 1]
    assert sum("n = " in caption for caption in captions) == 10


def test_a_column_in_question_is_in_the_address(open_page, wine):
    app = opened(open_page, data=wine.fingerprint, number="proline")
    assert app.selectbox(key="number").value == "proline"
    assert "Classes differ in proline" in texts(app)
    assert any("number=proline" in code.value for code in app.code)  # the address to share
    unknown = open_page("data_sets", data=wine.fingerprint, number="no such column")
    assert "setting that does not exist here" in texts(unknown)


def test_other_samples_can_be_drawn(open_page, hundred):
    app = opened(open_page, data=hundred.fingerprint)
    before = app.table[0].value["text"].tolist()
    app.button(key="draw-others").click().run()
    after = app.table[0].value["text"].tolist()
    assert len(after) == len(before) == 8
    assert before != after


def select(app, rows):
    """What the browser's lasso does: points with the positions of samples in their customdata."""
    app.session_state["map_selected"] = (app.query_params["data"], tuple(rows))
    return app.run()


def test_selected_samples_stand_beside_the_map_and_survive_a_change_of_colours(open_page, workspace):
    rng = np.random.default_rng(0)
    dataset = Dataset(
        "sites",
        "tabular",
        rng.normal(size=(60, 3)),
        np.arange(60) % 2,
        ("no", "yes"),
        [f"r{i}" for i in range(60)],
        sources=[f"site {i % 3}" for i in range(60)],
    )
    workspace.add_dataset(LOCAL_OWNER, dataset)
    app = opened(open_page, data=dataset.fingerprint)
    app = select(app, (3, 8, 11))
    assert "3 samples selected" in texts(app)
    chosen = next(frame.value for frame in app.dataframe if len(frame.value) == 3 and "id" in frame.value)
    assert chosen["id"].tolist() == ["r3", "r8", "r11"]
    app.segmented_control(key="colour").set_value("source").run()
    assert "3 samples selected" in texts(app)
    drawn = [json.loads(chart.proto.spec) for chart in app.get("plotly_chart")]
    selected = [t["selectedpoints"] for spec in drawn for t in spec["data"] if t.get("selectedpoints") is not None]
    assert sum(len(base64_or_list(points)) for points in selected) == 3
    app.button(key="clear-selection").click().run()
    assert "Lasso points on the map" in texts(app)


def test_samples_are_selected_without_a_mouse(open_page, wine):
    app = opened(open_page, data=wine.fingerprint)
    find = f"find-samples-{wine.fingerprint[:12]}"
    app.text_input(key=find).input("class_1, 170, no such").run()
    assert "72 samples selected" in texts(app)
    assert "Not found: “no such”." in plainly(app)
    chosen = next(frame.value for frame in app.dataframe if len(frame.value) == 72 and "id" in frame.value)
    assert set(chosen["label"]) == {"class_1", "class_2"}
    app.button(key="clear-selection").click().run()
    assert "Lasso points on the map, or search" in texts(app)
    assert app.text_input(key=find).value == ""
    app.text_input(key=find).input("nowhere").run()
    assert "selected" not in texts(app), "what is not found leaves nothing selected"


def base64_or_list(points):
    if isinstance(points, dict):
        return np.frombuffer(base64.b64decode(points["bdata"]), dtype=points["dtype"])
    return points


@pytest.mark.parametrize("after", ["", " , ", "no such"])
def test_a_search_that_finds_nothing_leaves_nothing_selected(open_page, wine, after):
    app = opened(open_page, data=wine.fingerprint)
    find = f"find-samples-{wine.fingerprint[:12]}"
    app.text_input(key=find).input("class_1").run()
    assert len(app.session_state["map_selected"][1]) == 71
    app.text_input(key=find).input(after).run()
    assert "map_selected" not in app.session_state


def test_a_selection_belongs_to_its_data_set(open_page, wine, hundred):
    app = select(opened(open_page, data=hundred.fingerprint), (1, 2))
    assert "2 samples selected" in texts(app)
    app.selectbox(key="data_control").select(wine.fingerprint).run()
    assert app.header[0].value == "Wine"
    assert "selected" not in texts(app)


def test_umap_is_a_run_of_its_own(open_page, workspace, wine):
    app = opened(open_page, data=wine.fingerprint, map=METHODS["umap"])
    assert "Not computed yet for these settings" in texts(app)
    assert not workspace.runs(LOCAL_OWNER)
    plan = MapPlan(representation="raw", method="umap")
    run = workspace.create_run(LOCAL_OWNER, plan, wine.fingerprint, n_trials=1)
    assert workspace.acquire(LOCAL_OWNER, run.id, "test")
    workspace.record_provenance(LOCAL_OWNER, run.id, {"versions": {"numpy": "2.0.0"}})
    rows = replace(plan, method="pca").run_trial(wine, 0, context=Context())  # the page cannot tell
    workspace.store_trials(LOCAL_OWNER, run.id, {0: frames.to_bytes(rows)})
    workspace.release(LOCAL_OWNER, run.id, "test", "done")
    app.run()
    assert not app.exception
    assert "Distances across the map mean little" in texts(app)
    assert "computed with other versions than are installed now" in plainly(app)
    assert any("numpy 2.0.0" in line.value.replace("\\", "") for line in app.markdown)
    assert app.button(key="run").disabled


def test_maps_can_be_coloured_by_the_folds_of_a_run(open_page, workspace, wine):
    plan = FoldPlan(schemes=("random_folds",), models=())
    run = workspace.create_run(LOCAL_OWNER, plan, wine.fingerprint, n_trials=plan.n_trials(wine))
    assert workspace.acquire(LOCAL_OWNER, run.id, "test")
    for trial in range(run.n_trials):
        workspace.store_trials(
            LOCAL_OWNER, run.id, {trial: frames.to_bytes(plan.run_trial(wine, trial, context=Context()))}
        )
    workspace.release(LOCAL_OWNER, run.id, "test", "done")
    app = opened(open_page, data=wine.fingerprint)
    app.segmented_control(key="colour").set_value("fold (Random, seed 0)").run()
    assert not app.exception
    assert any('"fold 5"' in chart.proto.spec for chart in app.get("plotly_chart"))


def test_the_address_of_a_map_leads_to_the_very_plan():
    plan = MapPlan(representation="raw", n_neighbors=30, seed=4)
    assert plan_parameters(plan) == {
        "map": [METHODS["umap"]],
        "features": ["Raw values (columns standardised)"],
        "neighbours": ["30"],
        "closeness": ["0.1"],
        "mapseed": ["4"],
    }
    assert plan_parameters(MapPlan()) is None
    assert plan_parameters(MapPlan(representation="raw", n_components=7)) is None
