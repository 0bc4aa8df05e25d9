"""The page of models on the same samples: two files, a verdict, gained and lost samples, and the way elsewhere."""

import numpy as np
import pandas as pd
import pytest

from tests.pages.conftest import charts, plainly
from tests.pages.test_matched_subsets import ROLES, settled, store
from touchstone.core.data import load_example
from touchstone.core.models.networks import LinearNetwork, Mlp2048
from touchstone.core.workspace import LOCAL_OWNER


def predictions(right: float, seed: int, ids: str = "item") -> bytes:
    """Three classes, the same samples for each seed of the answers."""
    y, rng = np.random.default_rng(0).integers(0, 3, 400), np.random.default_rng(seed)
    names = np.array(["cat", "dog", "fox"])
    said = np.where(rng.random(400) < right, y, (y + 1) % 3)
    columns = {"id": [f"{ids} {row}" for row in range(400)], "gold": names[y], "predicted": names[said]}
    return pd.DataFrame(columns | {"confidence": 0.9}).to_csv(sep="\t", index=False).encode()


@pytest.fixture
def models(workspace) -> dict[str, str]:
    return {
        "reference": store(workspace, "old.tsv", predictions(0.7, 1), ROLES),
        "target": store(workspace, "new.tsv", predictions(0.9, 2), ROLES),
    }


def test_two_files_of_the_same_samples_are_compared_in_pairs(open_page, models):
    app = settled(open_page("model_comparison", **models))
    text = plainly(app)
    assert "new.tsv is better than old.tsv: accuracy " in text
    assert "n = 400 samples, the same for all models, paired by id." in text
    assert "gains " in text
    assert "Class by class" in text
    assert charts(app)


def test_another_metric_and_a_margin_are_in_the_address(open_page, models):
    app = settled(open_page("model_comparison", **models, metric="balanced accuracy", margin="0.02"))
    text = plainly(app)
    assert "new.tsv is better than old.tsv: balanced accuracy " in text
    assert "new.tsv is no worse than old.tsv by a margin of 2.0 points." in text


def test_files_of_other_samples_lead_to_matched_subsets(open_page, workspace, models):
    other = store(workspace, "other.tsv", predictions(0.9, 3, ids="another"), ROLES)
    app = settled(open_page("model_comparison", reference=models["reference"], target=other))
    text = plainly(app)
    assert "These files are of different samples" in text
    assert "is better than" not in text


def test_columns_of_one_file_are_models(open_page, workspace):
    table = pd.read_csv(pd.io.common.BytesIO(predictions(0.7, 1)), sep="\t").drop(columns="confidence")
    table["vit_pred"] = pd.read_csv(pd.io.common.BytesIO(predictions(0.9, 2)), sep="\t")["predicted"]
    table = table.rename(columns={"predicted": "resnet_pred"})
    content = table.to_csv(sep="\t", index=False).encode()
    file = store(workspace, "both.tsv", content, None)
    app = settled(open_page("model_comparison", reference=file, target=file))
    assert "vit is better than resnet: accuracy " in plainly(app)


def test_empty_it_says_what_to_upload(open_page):
    text = plainly(open_page("model_comparison"))
    assert "Upload the predictions of two models on the same samples" in text
    assert "Reference model" in text


def test_without_files_samples_are_planned_by_guesses(open_page):
    app = open_page("model_comparison", difference="0.02", discordant="0.05")
    app.session_state["fold-sizes"] = True
    app.run()
    text = plainly(app)
    assert "About 979 samples show a difference of 2.0 points in 4 of 5 test sets." in text
    assert "5.0 % of samples on which exactly one model is right, accuracy 90.0 %: guessed." in text


def test_files_are_the_pilot_of_a_plan(open_page, models):
    app = open_page("model_comparison", **models)
    app.session_state["fold-sizes"] = True
    text = plainly(settled(app.run()))
    assert "by the pilot of 400 samples." in text
    assert "samples show a difference of 1.0 points" in text
    assert "Discordant share" not in [each.label for each in app.number_input]


def test_a_difference_that_cannot_be_is_refused_in_its_fold(open_page):
    app = open_page("model_comparison", difference="0.2")
    app.session_state["fold-sizes"] = True
    app.run()
    assert "cannot differ by 20.0 points" in plainly(app)


def test_two_test_sets_of_the_same_samples_lead_to_this_page(open_page, workspace, models):
    def leads(**files: str) -> list[str]:
        links = settled(open_page("matched_subsets", **files)).get("page_link")
        return [link.proto.label for link in links if "the same samples" in link.proto.label]

    assert len(leads(**models)) == 1
    other = store(workspace, "other.tsv", predictions(0.9, 3, ids="another"), ROLES)
    assert leads(reference=models["reference"], target=other) == []


def test_files_that_could_be_either_are_asked_about_once(open_page, workspace):
    """No ids, and true classes in one sorted order: of the same samples, or of two sets."""
    files = {}
    for side, seed in (("reference", 1), ("target", 2)):
        table = pd.read_csv(pd.io.common.BytesIO(predictions(0.8, seed)), sep="\t").sort_values("gold", kind="stable")
        content = table.drop(columns="id").to_csv(sep="\t", index=False).encode()
        files[side] = store(workspace, f"{side}.tsv", content, None)
    app = settled(open_page("model_comparison", **files))
    assert "are they of the same samples?" in plainly(app)
    app.button(key="empty-button").click().run()
    text = plainly(settled(app))
    assert "n = 400 samples, the same for all models, paired by the order of rows." in text
    app = settled(open_page("model_comparison", **files, design="the same, row by row"))
    assert "paired by the order of rows." in plainly(app)


def test_recipes_are_compared_by_all_their_trainings(open_page, workspace):
    files = {}
    for side, right in (("reference", 0.7), ("target", 0.9)):
        parts = [
            pd.read_csv(pd.io.common.BytesIO(predictions(right, seed)), sep="\t").assign(seed=seed)
            for seed in (1, 2, 3)
        ]
        files[side] = store(workspace, f"{side}.tsv", pd.concat(parts).to_csv(sep="\t", index=False).encode(), None)
    text = plainly(settled(open_page("model_comparison", **files)))
    assert "n = 400 samples, 3 trainings of each, the same for all models" in text
    assert "Samples occur several times" not in text


def test_one_file_with_columns_of_models_and_of_sources_is_compared_whole(open_page, workspace):
    table = pd.read_csv(pd.io.common.BytesIO(predictions(0.7, 1)), sep="\t").drop(columns="confidence")
    table["vit_pred"] = pd.read_csv(pd.io.common.BytesIO(predictions(0.9, 2)), sep="\t")["predicted"]
    table = table.rename(columns={"predicted": "resnet_pred"}).assign(site=np.arange(400) % 4)
    file = store(workspace, "both.tsv", table.to_csv(sep="\t", index=False).encode(), None)
    text = plainly(settled(open_page("model_comparison", reference=file, target=file)))
    assert "vit is better than resnet: accuracy " in text
    assert "n = 400 samples" in text


def listed_samples(app) -> pd.DataFrame:
    return next(frame.value for frame in app.dataframe if "change" in frame.value)


def test_a_class_or_group_in_the_address_lists_its_samples_that_changed(open_page, models):
    app = settled(open_page("model_comparison", **models, samples_of="class “cat”"))
    table = listed_samples(app)
    assert set(table["true class"]) == {"cat"}
    assert f"n = {len(table)} samples of class “cat” that one of both models gets right." in plainly(app)
    app.selectbox(key="samples_of").set_value("all samples").run()
    assert len(listed_samples(app)) > len(table)


def test_texts_pair_files_without_ids_and_stand_beside_their_samples(open_page, workspace):
    files = {}
    for side, seed in (("reference", 1), ("target", 2)):
        table = pd.read_csv(pd.io.common.BytesIO(predictions(0.8, seed)), sep="\t").drop(columns=["id", "confidence"])
        table["review"] = [f"this is review number {row}" for row in range(400)]
        table = table.sample(frac=1, random_state=seed)
        files[side] = store(workspace, f"{side}.tsv", table.to_csv(sep="\t", index=False).encode(), None)
    app = open_page("model_comparison", **files)
    app.session_state["fold-samples"] = True
    app = settled(app.run())
    assert "n = 400 samples, the same for all models, paired by the inputs “review”." in plainly(app)
    assert listed_samples(app)["review"].str.startswith("this is review number").all()


def test_models_of_the_workspace_are_compared_and_their_samples_lie_on_the_map(open_page, workspace):
    digits = load_example("digits")
    workspace.add_dataset(LOCAL_OWNER, digits, example="digits")
    for name, network in (("linear", LinearNetwork(n_epochs=1)), ("mlp", Mlp2048(n_epochs=2))):
        model = network.fit(digits.x, digits.y, seed=0).trained(digits)
        about = {"dataset_fingerprint": digits.fingerprint, "name": name, "file_name": f"{name}.safetensors"}
        workspace.add_model(LOCAL_OWNER, model.to_bytes(), **about)
    app = open_page("model_comparison")
    for side, title in (("reference", "linear on digits"), ("target", "mlp on digits")):
        box = app.selectbox(key=f"stored-model-{side}")
        box.select_index(box.options.index(title)).run()
        settled(app)
    text = plainly(app)
    assert "mlp on digits, all samples.tsv is better than linear on digits, all samples.tsv: accuracy " in text
    assert f"n = {digits.n_samples:,} samples, the same for all models, paired by id." in text.replace("\u202f", ",")
    n_charts = len(charts(app))
    for fold in ("samples", "changed-map"):
        app.session_state[f"fold-{fold}"] = True
    text = plainly(settled(app.run()))
    assert "**Gained**: " in text
    assert len(charts(app)) == n_charts + 1
    assert len(app.get("image")) > 12


def test_without_a_data_set_of_these_samples_the_map_says_what_to_do(open_page, workspace, models):
    workspace.add_dataset(LOCAL_OWNER, load_example("digits"), example="digits")
    app = open_page("model_comparison", **models)
    app.session_state["fold-changed-map"] = True
    assert "No stored data set holds these samples." in plainly(settled(app.run()))


@pytest.mark.usefixtures("links_open")
def test_further_files_are_compared_with_all_and_stand_in_address_and_link(open_page, workspace, models):
    third = store(workspace, "newest.tsv", predictions(0.95, 5), ROLES)
    app = settled(open_page("model_comparison", **models))
    box = app.multiselect(key="further")
    assert box.options == ["newest.tsv"]
    box.select("newest.tsv").run()
    text = plainly(settled(app))
    assert "of 3 models." in text
    assert "newest.tsv" in text
    assert app.query_params["further"] == third
    app = settled(open_page("model_comparison", **models, further=third))
    assert "of 3 models." in plainly(app)
    app.button(key="link-model_comparison").click().run()
    assert set(workspace.links(LOCAL_OWNER)[0].shows.predictions) == {*models.values(), third}
    assert "were deleted" in plainly(open_page("model_comparison", **models, further="f00d"))


def test_samples_of_one_file_alone_are_counted_and_the_whole_files_offered(open_page, workspace, models):
    def ways(**files: str) -> list[str]:
        app = settled(open_page("model_comparison", **files))
        return [link.proto.label for link in app.get("page_link") if "as test sets" in link.proto.label]

    assert ways(**models) == []
    table = pd.read_csv(pd.io.common.BytesIO(predictions(0.9, 2)), sep="\t").head(300)
    part = store(workspace, "part.tsv", table.to_csv(sep="\t", index=False).encode(), ROLES)
    assert ways(reference=models["reference"], target=part) == [
        "Samples of one file alone are left out. Compare the files as test sets"
    ]
