import io
import json
import shlex
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pandas as pd
import pytest

from tests.conftest import ROOT
from tests.pages.conftest import charts, plainly, texts
from touchstone.core import compare
from touchstone.core.__main__ import main
from touchstone.core.data import Roles
from touchstone.core.data.predictions.upload import GivenFile, PredictionUpload
from touchstone.core.figures.theme import alt_text
from touchstone.core.models.example_predictions import example_predictions
from touchstone.core.questions import QUESTIONS
from touchstone.core.report.html import to_html
from touchstone.core.report.markdown import escaped
from touchstone.core.report.parts import Report
from touchstone.core.workspace import LOCAL_OWNER, Workspace
from touchstone.ui.shell import page, session, share

DRAWN = {"gap", "curve", "labels", "reliability", "densities", "one", "coverage"}
DRAWN |= {"confusion-reference", "confusion-target"}
ROLES = Roles(id="id", truth="gold", predicted="predicted", confidence="confidence")


def made(n: int, fall: float, seed: int, *, models: tuple[str, ...] = (), confidence: bool = True) -> bytes:
    """A file of predictions of three classes whose confidence is fair, less `fall`."""
    parts = []
    for position, model in enumerate(models or ("",)):
        rng = np.random.default_rng(seed + position)
        gold, sure = rng.integers(3, size=n), np.round(0.4 + 0.6 * rng.random(n) ** 0.5, 3)
        right = rng.random(n) < sure - fall
        names = np.array(["cat", "dog", "fox"])
        columns = {"id": np.arange(n), "gold": names[gold], "predicted": names[np.where(right, gold, (gold + 1) % 3)]}
        parts.append(pd.DataFrame(columns | {"confidence": sure} | ({"model": model} if models else {})))
    table = pd.concat(parts)
    return table.drop(columns=[] if confidence else "confidence").to_csv(sep="\t", index=False).encode()


def store(workspace: Workspace, name: str, content: bytes, roles: Roles | None = ROLES) -> str:
    return workspace.add_predictions(LOCAL_OWNER, PredictionUpload(GivenFile(name, content, roles)))


@pytest.fixture
def two(workspace) -> dict[str, str]:
    """Two stored files, as parameters of the address."""
    old, new = made(900, 0.0, 1), made(500, 0.15, 2)
    return {"reference": store(workspace, "old.tsv", old), "target": store(workspace, "new.tsv", new)}


def settled(app):
    """The page when nothing is being computed any more."""
    for _ in range(20):
        if not app.get("status"):
            break
        app.run()
    assert not app.exception, app.exception[0].value
    return app


def test_with_nothing_chosen_there_are_two_places_for_files_and_an_example(open_page):
    app = open_page("matched_subsets")
    assert app.title[0].value == "Does accuracy really drop on the new test set?"
    assert [place.label for place in app.file_uploader] == [
        "Predictions on the reference set",
        "Predictions on the new set",
    ]
    assert "or open the example" in texts(app).lower()
    assert {button.label for button in app.get("download_button")} >= {"Template", "Sample"}
    assert not app.metric


def test_the_example_is_one_click_away(open_page, workspace):
    app = open_page("matched_subsets")
    app.button(key="empty-button").click().run()
    settled(app)
    assert {one.example for one in workspace.prediction_files(LOCAL_OWNER)} == {"digits_own", "digits_shifted"}
    assert len(app.query_params["reference"]) == len(app.query_params["target"]) == 64
    assert "Accuracy falls by" in texts(app)
    assert [metric.label for metric in app.metric][:2] == ["Accuracy falls by", "At equal confidence"]


def test_two_files_get_a_verdict_figures_tables_and_downloads(open_page, two):
    app = settled(open_page("matched_subsets", **two))
    assert "Accuracy falls by" in texts(app)
    assert "n = 900 in the reference set and 500 in the new set" in plainly(app)
    assert "Majority-class baseline:" in plainly(app)
    assert [metric.label for metric in app.metric][1:] == [
        "At equal confidence",
        "Mix of confidences",
        "Unmatched samples",
    ]
    [subsets] = [table.value for table in app.dataframe if "Majority (%)" in table.value]
    assert (subsets["Accuracy (%)"] > subsets["Majority (%)"])[:2].all()
    assert len(charts(app)) == 9
    assert all(charts(app))
    labels = [button.label for button in app.get("download_button")]
    assert {
        "Samples (TSV)",
        "Samples (Parquet)",
        "Roles (JSON)",
        "Report (HTML)",
        "Report (Markdown)",
    } <= set(labels)


def test_a_file_is_understood_confirmed_and_used(open_page, workspace, two):
    app = open_page("matched_subsets", target=two["target"])
    app.file_uploader[0].upload("mine.tsv", made(800, 0.0, 5))
    app.run()
    assert "Truth: column 'gold' (by its name)" in texts(app).replace("\\", "")
    assert not app.metric
    app.button(key="use-reference").click().run()
    settled(app)
    assert "mine" in texts(app)
    assert "Accuracy falls by" in texts(app)
    assert app.query_params["reference"] in {one.fingerprint for one in workspace.prediction_files(LOCAL_OWNER)}


def test_roles_can_be_corrected_before_and_after(open_page, workspace, two):
    content = made(800, 0.0, 5).replace(b"gold", b"colour").replace(b"predicted", b"shade")
    app = open_page("matched_subsets", target=two["target"])
    app.file_uploader[0].upload("odd.tsv", content)
    app.run()
    assert app.warning
    box = {one.label: one for one in app.selectbox}
    box["Truth"].select("colour")
    box["Predicted label"].select("shade")
    next(button for button in app.button if button.label == "Read it this way").click().run()
    assert "Truth: column 'colour' (as given)" in texts(app).replace("\\", "")
    app.button(key="use-reference").click().run()
    settled(app)
    app.button(key="correct-reference").click().run()
    assert app.button(key="use-reference")
    assert not app.metric


def test_a_broken_file_gets_its_error_as_written_and_stays(open_page, workspace):
    app = open_page("matched_subsets")
    app.file_uploader[0].upload("broken.tsv", b"id\tgold\tpredicted\n1\tcat\n")
    app.run()
    assert "broken.tsv, line 2" in app.error[0].value.replace("\\", "")
    assert "broken" in texts(app)
    app.button(key="discard-reference").click().run()
    assert not app.error
    assert workspace.prediction_files(LOCAL_OWNER) == []


def test_the_truth_may_be_in_a_file_of_its_own(open_page, workspace, two):
    whole = pd.read_csv(pd.io.common.BytesIO(made(800, 0.0, 5)), sep="\t")
    app = open_page("matched_subsets", target=two["target"])
    said = whole[["id", "predicted", "confidence"]].to_csv(sep="\t", index=False).encode()
    app.file_uploader[0].upload("said.tsv", said)
    app.run()
    truth = next(place for place in app.file_uploader if place.label.startswith("The truth"))
    truth.upload("truth.tsv", whole[["id", "gold"]].to_csv(sep="\t", index=False).encode())
    app.run()
    assert "Joined with truth.tsv by id" in texts(app).replace("\\", "")
    app.button(key="use-reference").click().run()
    settled(app)
    assert "Accuracy falls by" in texts(app)


def test_one_file_with_a_column_of_sets_is_both(open_page, workspace):
    from touchstone.core.data.predictions.upload import sample

    app = open_page("matched_subsets")
    app.file_uploader[0].upload("sample.tsv", sample())
    app.run()
    app.button(key="use-reference").click().run()
    settled(app)
    assert app.query_params["reference"] == app.query_params["target"]
    assert "n = 600 in the reference set and 200 in the new set" in plainly(app)
    app.button(key="swap").click().run()
    settled(app)
    assert "n = 200 in the reference set and 600 in the new set" in plainly(app)


def test_many_models_are_compared_at_once(open_page, workspace):
    roles = Roles(**{**ROLES.__dict__, "model": "model"})
    old = store(workspace, "old.tsv", made(600, 0.0, 1, models=("small", "large", "old only")), roles)
    new = store(workspace, "new.tsv", made(400, 0.1, 8, models=("small", "large")), roles)
    app = settled(open_page("matched_subsets", reference=old, target=new, model="large"))
    assert "Accuracy falls in 2 of 2 models" in texts(app)
    assert "1 model was left out" in texts(app)
    assert len(charts(app)) == 12


def test_without_confidence_the_sets_are_compared_as_wholes(open_page, workspace):
    roles = Roles(id="id", truth="gold", predicted="predicted")
    old, new = (store(workspace, f"{n}.tsv", made(n, 0.1, n, confidence=False), roles) for n in (600, 400))
    app = settled(open_page("matched_subsets", reference=old, target=new))
    assert "Matching needs confidences" in texts(app)
    assert len(app.metric) == 3
    stays = ("Samples of both sets", "Confusion matrix")  # how to read, and what needs no confidence
    assert [alt for alt in charts(app) if not alt.startswith(stays)] == []
    assert not {one.label for one in (*app.number_input, *app.get("button_group"))} & {"Epsilon", "Match by", "Seed"}
    assert "epsilon" not in next(block.value for block in app.code if "matched_subsets" in block.value)


def test_of_many_models_without_confidence_nothing_speaks_of_matching(open_page, workspace):
    roles = Roles(id="id", truth="gold", predicted="predicted", model="model")
    names = ("small", "large")
    old, new = (
        store(workspace, f"{n}.tsv", made(n, 0.1, n, models=names, confidence=False), roles) for n in (600, 400)
    )
    app = settled(open_page("matched_subsets", reference=old, target=new))
    drawn = [alt for alt in charts(app) if not alt.startswith(("Samples of both sets", "Confusion matrix"))]
    assert len(drawn) == 2
    assert not [alt for alt in drawn if "match" in alt]
    assert not [
        caption.value for caption in app.caption if "dotted" in caption.value or "unmatched share" in caption.value
    ]
    assert not [
        column for table in app.dataframe for column in table.value if "atched" in column or "Confidence" in column
    ]


def test_classes_that_two_files_spell_differently_are_matched_and_others_refused(open_page, workspace, two):
    upper = store(workspace, "upper.tsv", made(400, 0.1, 3).replace(b"cat", b"Cat").replace(b"dog", b"DOG"))
    app = settled(open_page("matched_subsets", reference=two["reference"], target=upper))
    assert "Only 0 pairs" not in texts(app)
    assert app.metric[3].value != "100.0 %"
    numbers = made(400, 0.1, 3).replace(b"cat", b"0").replace(b"dog", b"1").replace(b"fox", b"2")
    app = open_page("matched_subsets", reference=two["reference"], target=store(workspace, "numbers.tsv", numbers))
    assert "cat, dog, fox in old; 0, 1, 2 in numbers. Spell the classes alike" in app.error[0].value.replace("\\", "")
    assert not app.metric


def test_a_new_set_that_is_larger_is_told_of_and_turned_in_one_click(open_page, two):
    turned = {"reference": two["target"], "target": two["reference"]}
    app = open_page("matched_subsets", **turned)
    assert "at least 44.4 % of the new set stays unmatched" in texts(app).replace("\\", "")
    app.button(key="larger-first").click().run()
    settled(app)
    assert app.query_params["reference"] == two["reference"]
    assert "stays unmatched" not in texts(app)
    assert "larger-first" not in [button.key for button in app.button]


def test_an_unknown_address_gets_a_sentence_and_no_result(open_page, workspace, two):
    for parameters in ({"target": "f00d"}, {"epsilon": "7"}, {"by": "colour"}, {"subset": "any"}):
        app = settled(open_page("matched_subsets", **{**two, **parameters}))
        assert "are not here" in texts(app) or "setting that does not exist here" in texts(app)
        if "subset" not in parameters:
            assert not app.metric


def test_the_same_set_twice_is_refused(open_page, two):
    app = open_page("matched_subsets", reference=two["target"], target=two["target"])
    assert "Both test sets are the same" in app.error[0].value


def test_other_files_and_settings_are_other_results(open_page, workspace, two):
    app = settled(open_page("matched_subsets", **two))
    first = [metric.value for metric in app.metric]
    app.number_input(key="epsilon").set_value(0.02).run()
    settled(app)
    closer = [metric.value for metric in app.metric]
    assert closer[0] == first[0]
    assert closer[3] != first[3]
    third = store(workspace, "third.tsv", made(300, 0.3, 9))
    app.button(key="another-target").click().run()
    app.selectbox(key="stored-target").select(third).run()
    settled(app)
    assert "and 300 in the new set" in texts(app)
    assert app.metric[0].value != first[0]
    assert app.query_params["target"] == third


def test_a_column_that_was_taken_for_ids_can_be_given_up(open_page, two):
    app = open_page("matched_subsets", target=two["target"])
    content = made(800, 0.0, 5).replace(b"id\t", b"filename\t", 1).replace(b"\n1\t", b"\n0\t", 1)
    app.file_uploader[0].upload("twice.tsv", content)
    app.run()
    assert "stands in line" in app.error[0].value
    next(one for one in app.selectbox if one.label == "Id").select_index(0)
    next(button for button in app.button if button.label == "Read it this way").click().run()
    assert not app.error
    assert app.button(key="use-reference")


def test_roles_come_back_from_their_file(open_page, two):
    content = made(800, 0.0, 5).replace(b"gold", b"colour").replace(b"predicted", b"shade")
    app = open_page("matched_subsets", target=two["target"])
    app.file_uploader[0].upload("odd.tsv", content)
    app.run()
    roles = Roles(truth="colour", predicted="shade", confidence="confidence", id="id").to_json()
    place = next(one for one in app.file_uploader if one.label == "Roles from a file")
    place.upload("odd-roles.json", roles.encode())
    app.run()
    assert "Truth: column 'colour' (as given)" in texts(app).replace("\\", "")
    assert app.button(key="use-reference")


def test_the_sets_can_be_swapped(open_page, two):
    app = settled(open_page("matched_subsets", **two))
    app.button(key="swap").click().run()
    settled(app)
    assert app.query_params["reference"] == two["target"]
    assert "Accuracy rises by" in texts(app)
    assert "The larger set should be the reference" in texts(app)


def test_the_address_that_is_offered_leads_here(open_page, two):
    app = settled(open_page("matched_subsets", **two))
    first = [metric.value for metric in app.metric]
    address = next(block.value for block in app.code if "matched_subsets" in block.value)
    parameters = dict(parse_qsl(urlsplit(address).query))
    assert parameters["method"] == "random"
    again = settled(open_page("matched_subsets", **parameters))
    assert [metric.value for metric in again.metric] == first


def test_a_file_of_several_tasks_asks_for_one(open_page, shared_data):
    content = (shared_data / "predictions" / "mrnet__validation_predictions.csv").read_bytes()
    app = open_page("matched_subsets")
    for side in ("reference", "target"):
        place = next(one for one in app.file_uploader if side[:3] in one.label or "new" in one.label)
        place.upload(f"{side}.csv", content)
        app.run()
        app.button(key=f"use-{side}").click().run()
    settled(app)
    assert app.get("button_group") or app.selectbox
    assert "No significant fall on the new set" in texts(app)
    assert "task=abnormal" in next(block.value for block in app.code if "matched_subsets" in block.value)


def with_folds(n: int) -> bytes:
    """One file of four folds, the last of which is harder."""
    easy, hard = (pd.read_csv(pd.io.common.BytesIO(made(n, fall, n)), sep="\t") for fall in (0.0, 0.3))
    table = easy.assign(fold=np.arange(n) % 4 + 1)
    table = table.where(table["fold"] != 4, hard.assign(fold=4))
    return table.to_csv(sep="\t", index=False).encode()


def test_a_fold_is_compared_with_all_others_of_its_file(open_page, workspace):
    app = open_page("matched_subsets")
    app.file_uploader[0].upload("folds.tsv", with_folds(1200))
    app.run()
    app.button(key="use-reference").click().run()
    settled(app)
    assert app.query_params["reference"] == app.query_params["target"]
    assert "n = 900 in the reference set and 300 in the new set" in plainly(app)
    app.selectbox(key="target_fold").select("4").run()
    settled(app)
    assert "Accuracy falls by" in texts(app)
    verdict = [metric.value for metric in app.metric]
    address = next(block.value for block in app.code if "matched_subsets" in block.value)
    parameters = dict(parse_qsl(urlsplit(address).query))
    assert (parameters["reference_fold"], parameters["target_fold"]) == ("(all others)", "4")
    again = settled(open_page("matched_subsets", **parameters))
    assert [metric.value for metric in again.metric] == verdict
    app.button(key="swap").click().run()
    settled(app)
    assert "n = 300 in the reference set and 900 in the new set" in plainly(app)


def test_folds_that_share_rows_get_a_sentence_and_no_verdict(open_page, workspace):
    roles = Roles(**{**ROLES.__dict__, "fold": "fold"})
    folds = store(workspace, "folds.tsv", with_folds(400), roles)
    app = open_page("matched_subsets", reference=folds, target=folds, reference_fold="(all)", target_fold="2")
    assert "100 rows of folds are in both test sets" in texts(app).replace("\\", "")
    assert not app.metric


def test_folds_of_two_files_are_chosen_side_by_side(open_page, workspace, two):
    roles = Roles(**{**ROLES.__dict__, "fold": "fold"})
    folds = store(workspace, "folds.tsv", with_folds(1200), roles)
    app = settled(open_page("matched_subsets", reference=folds, target=two["target"]))
    assert "n = 1\u202f200 in the reference set and 500 in the new set" in plainly(app)
    app.selectbox(key="reference_fold").select("1").run()
    settled(app)
    assert "n = 300 in the reference set and 500 in the new set" in plainly(app)
    assert "target_fold" not in app.query_params


def with_probabilities(n: int, power: float, seed: int) -> bytes:
    """Three classes, one of them rare; the truth follows the probabilities, what is written is their `power`."""
    rng = np.random.default_rng(seed)
    proba = rng.dirichlet([4.0, 4.0, 0.1], size=n)
    gold = (proba.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    said = proba**power / (proba**power).sum(axis=1, keepdims=True)
    names = np.array(["cat", "dog", "fox"])
    table = pd.DataFrame(said, columns=[f"prob_{name}" for name in names])
    table.insert(0, "gold", names[gold])
    table.insert(0, "id", np.arange(n))
    return table.to_csv(sep="\t", index=False).encode()


def test_every_class_has_its_calibration_error_beside_that_of_a_perfect_model(open_page, workspace):
    files = {"reference": with_probabilities(3000, 1, 0), "target": with_probabilities(1500, 3, 1)}
    two = {side: store(workspace, f"{side}.tsv", content, None) for side, content in files.items()}
    app = settled(open_page("matched_subsets", **two, subset="target"))
    said = texts(app).replace("\\", "")
    assert "Class by class, target" in said
    assert "Class-wise calibration error" in said
    assert "Significantly miscalibrated: “dog”" in said or "Significantly miscalibrated: “cat”" in said
    assert "1 class with fewer than 50 samples not judged" in said
    rows = next(one.value for one in app.dataframe if "Class" in one.value)
    assert sorted(rows["Class"]) == ["cat", "dog"]
    assert (rows["ECE"] > rows["95 %"]).all()
    assert "Classes of the target (TSV)" in [button.label for button in app.get("download_button")]
    fair = settled(open_page("matched_subsets", **two, subset="reference"))
    assert "No class is significantly miscalibrated" in texts(fair)


def test_one_number_per_row_says_nothing_of_classes(open_page, two):
    app = settled(open_page("matched_subsets", **two))
    assert "not one for every class" in texts(app)
    assert not any("Classes of" in button.label for button in app.get("download_button"))


def test_predictions_that_somebody_else_deletes_first_are_said_to_be_gone(open_page, two, monkeypatch):
    def twice(shelf: Workspace, *whose: str) -> None:
        delete_predictions(shelf, *whose)
        delete_predictions(shelf, *whose)

    delete_predictions = Workspace.delete_predictions
    app = settled(open_page("matched_subsets", **two))
    app.button(key="delete-target").click().run()
    monkeypatch.setattr(Workspace, "delete_predictions", twice)
    app.button(key="delete-target").click()
    app.button(key="really-delete").click().run()
    assert not app.exception
    assert "not in your workspace" in app.error[0].value


def test_deleting_asks_first_and_the_address_says_that_it_is_gone(open_page, workspace, two):
    app = settled(open_page("matched_subsets", **two))
    app.button(key="delete-target").click().run()
    assert "is deleted for good" in texts(app)
    assert len(workspace.prediction_files(LOCAL_OWNER)) == 2
    app.button(key="delete-target").click()  # which is what keeps the dialog open here
    app.button(key="really-delete").click().run()
    assert [one.fingerprint for one in workspace.prediction_files(LOCAL_OWNER)] == [two["reference"]]
    again = open_page("matched_subsets", **two)
    for each in (app, again):
        assert "These predictions are not here" in texts(each)
        assert not each.metric


@pytest.mark.parametrize(
    "asked", [{"model": "nobody"}, {"reference_set": "xx"}, {"target_fold": "9"}, {"task": "other"}]
)
def test_a_parameter_that_means_nothing_here_gets_a_sentence_and_no_result(open_page, two, asked):
    app = open_page("matched_subsets", **two, **asked)
    assert "setting that does not exist here" in texts(app)
    assert not app.metric


def test_a_model_that_only_one_set_has_is_told_also_where_one_model_remains(open_page, workspace):
    roles = Roles(id="id", truth="gold", predicted="predicted", confidence="confidence", model="model")
    files = {
        side: store(workspace, f"{side}.tsv", made(400, fall, 3, models=("resnet", other)), roles)
        for side, fall, other in (("reference", 0.0, "mlp"), ("target", 0.1, "vit"))
    }
    assert "2 models were left out: only one set has their predictions" in texts(
        settled(open_page("matched_subsets", **files))
    )


def test_the_commands_that_are_offered_say_the_same_of_stored_files_and_of_the_files(
    open_page, two, tmp_path, monkeypatch, capsys
):
    app = settled(open_page("matched_subsets", **two, epsilon="0.01"))
    of_stored, of_files = [code.value for code in app.code if "core compare" in code.value]
    assert f"--reference={two['reference']} --target={two['target']} " in of_stored
    assert "--epsilon=0.01" in of_stored
    assert "--reference=old.tsv '--reference-roles={" in of_files
    (tmp_path / "old.tsv").write_bytes(made(900, 0.0, 1))
    (tmp_path / "new.tsv").write_bytes(made(500, 0.15, 2))
    monkeypatch.chdir(tmp_path)
    rows = []
    for command in (of_stored, of_files):
        assert main(shlex.split(command)[3:]) == 0
        said = capsys.readouterr()
        assert "points" in said.err
        rows.append(said.out)
    assert rows[0] == rows[1]
    [check] = [code.value for code in app.code if "core check" in code.value]
    assert main(shlex.split(check)[3:]) == 0
    numbers = pd.read_csv(io.StringIO(capsys.readouterr().out), sep="\t").set_index("number")
    compared = pd.read_csv(io.StringIO(rows[0]), sep="\t").iloc[0]
    [found] = [row for name, row in numbers.iterrows() if name.startswith("matched_subsets.gap[")]
    assert found[["value", "lower", "upper"]].tolist() == compared[["gap", "gap_lower", "gap_upper"]].tolist()


def test_the_example_has_no_files_to_name(open_page, workspace):
    app = settled(open_page("matched_subsets", reference="digits_own", target="digits_shifted"))
    assert sum("core compare" in code.value for code in app.code) == 1


def test_a_margin_that_the_files_do_not_have_is_refused_in_a_sentence_and_the_setting_stays(open_page, two):
    app = settled(open_page("matched_subsets", **two, scale="recalibrated margin"))
    assert [error.value for error in app.error] != []
    assert "Matching on the margin needs the probabilities of all classes" in texts(app) + app.error[0].value
    assert next(box for box in [*app.selectbox, *app.segmented_control] if box.label == "Epsilon is of").value


def test_page_report_command_and_python_agree_number_by_number(open_page, tmp_path, monkeypatch, capsys):
    offered, files = {}, []
    for module in (page, share):  # share has it by name
        monkeypatch.setattr(
            module,
            "download",
            lambda label, data, **_: offered.update({label: session.bound(data) if callable(data) else data}),
        )
    for name in ("digits_own", "digits_shifted"):
        given = example_predictions(name).predictions
        files.append(str(tmp_path / given.name))
        Path(files[-1]).write_bytes(given.content)
    app = settled(open_page("matched_subsets", reference="digits_own", target="digits_shifted"))
    result = compare(*files)

    said = {(one.label, one.value, one.delta) for one in app.metric}
    assert said == {tuple(map(page.plain, (one.label, one.value, one.interval))) for one in result.answer.key_numbers}
    assert page.plain(result.verdict.headline) in texts(app)
    shown = [table.value for table in app.dataframe]
    assert result.tables
    for title, table in result.tables.items():
        assert any(table.equals(each) for each in shown), title
    assert {figure.key for figure in result.figures} == DRAWN
    assert {alt_text(figure.draw()) for figure in result.figures} <= set(charts(app))

    with ThreadPoolExecutor(1) as elsewhere:  # where nobody's session is known
        html = elsewhere.submit(offered["Report (HTML)"]).result().decode()
        text = elsewhere.submit(offered["Report (Markdown)"]).result().decode()
    assert text.startswith(f"# {QUESTIONS['matched_subsets'].title}\n")
    assert escaped(result.verdict.headline) in text
    how_to_read, rests_on = (ROOT / "pages/matched_subsets.md").read_text("utf-8"), html.split("<footer>")[1]
    report = Report(QUESTIONS["matched_subsets"].title, "", result.answer, how_to_read, (), "")
    same = to_html(report).decode()
    assert (
        html.split('<section class="verdict">')[1].split("<footer>")[0]
        == same.split('<section class="verdict">')[1].split('<p class="caption screen">')[0]
    )
    assert app.query_params["reference"] in rests_on
    assert "numpy" in rests_on
    assert "Digits: shifted" in html
    assert "Class by class, matched target" in html
    settled(app.segmented_control(key="subset").set_value("reference").run())
    assert "Class by class, reference" in offered["Report (HTML)"]().decode()

    both = ["--reference", files[0], "--target", files[1]]
    assert main(["compare", *both]) == 0
    printed = capsys.readouterr()
    assert pd.read_csv(io.StringIO(printed.out), sep="\t")["gap"].tolist() == [result.quantities[0].value]
    assert result.verdict.text in printed.err
    out = tmp_path / "out.json"
    assert main(["check", "--predictions", *files, "--json", str(out)]) == 0
    checked = pd.DataFrame(json.loads(out.read_text())["numbers"])[result.table().columns]
    pd.testing.assert_frame_equal(checked, result.table(), check_exact=True)


def frauds(n: int, found: float, seed: int) -> bytes:
    """A file of a rare class with probabilities, of which the model finds so many."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(int)
    called = rng.random(n) < np.where(y == 1, found, 0.04)
    sure = np.where(called, 0.5 + rng.random(n) / 2, rng.random(n) / 2).round(4)
    names = np.array(["legit", "fraud"])
    columns = {"id": np.arange(n), "truth": names[y], "predicted": names[called.astype(int)]}
    return pd.DataFrame(columns | {"legit": 1 - sure, "fraud": sure}).to_csv(sep="\t", index=False).encode()


@pytest.fixture
def decided(workspace) -> dict[str, str]:
    """Two stored files of a decision between two classes, as parameters of the address."""
    files = {"reference": frauds(900, 0.9, 1), "target": frauds(500, 0.5, 2)}
    return {side: store(workspace, f"{side}.tsv", content, None) for side, content in files.items()}


def test_a_metric_is_chosen_once_and_stands_in_page_address_and_command(open_page, decided):
    app = settled(open_page("matched_subsets", **decided))
    assert app.selectbox(key="metric").value == "accuracy"
    app.selectbox(key="metric").select("recall").run()
    app = settled(app)
    assert "Sensitivity for “fraud” falls by" in plainly(app)
    assert app.metric[0].label == "Sensitivity for “fraud” falls by"
    assert any("--metric=recall" in block.value for block in app.code)
    again = settled(open_page("matched_subsets", **decided, metric="balanced accuracy"))
    assert "Balanced accuracy is no mean over samples, so its fall has no parts." in plainly(again)
    assert not [each for each in again.number_input if each.key == "epsilon"]


def test_a_cell_of_the_matrix_lists_its_samples_and_stands_in_the_address(open_page, decided):
    app = settled(open_page("matched_subsets", **decided, true_class="fraud", predicted_as="legit"))
    read = plainly(app)
    assert "Samples of “fraud” predicted as “legit”:" in read
    listed = next(frame.value for frame in app.dataframe if "Sample" in frame.value.columns)
    assert set(listed["Set"]) == {"reference", "new"}
    subsets = next(frame.value for frame in app.dataframe if "subset" in frame.value.columns)
    assert sorted(subsets["id"]) == sorted(listed["Sample"])
    app.segmented_control(key="true_class").set_value("legit").run()
    assert "Samples of “legit” predicted as “legit”:" in plainly(settled(app))
    app.button(key="forget-cell").click().run()
    subsets = next(frame.value for frame in settled(app).dataframe if "subset" in frame.value.columns)
    assert len(subsets) == 900 + 500


def test_a_threshold_says_what_it_costs_in_samples(open_page, decided):
    app = settled(open_page("matched_subsets", **decided, threshold="0.25"))
    read = plainly(app)
    assert "At a threshold of 0.25 the model finds" in read
    assert "of “fraud” and raises" in read
    said = " ".join(charts(app))
    assert "ROC curve of “fraud” on both sets." in said
    assert "Precision-recall curve of “fraud” on both sets." in said
    marked = {"reference, as predicted", "target, as predicted", "reference, at 0.25", "target, at 0.25"}
    assert marked <= names_of_roc(app)
    app.slider(key="threshold").set_value(0.5).run()
    assert "At a threshold of 0.50 nothing changes on the new set" in plainly(settled(app))
    assert "target, at 0.50" not in names_of_roc(app)
    assert "is taken as the positive class" not in plainly(app), "its name says so"


def names_of_roc(app) -> set[str]:
    [roc] = [chart.proto for chart in app.get("plotly_chart") if chart.proto.alt.startswith("ROC curve")]
    return {trace.get("name") for trace in json.loads(roc.spec)["data"]}


def test_where_names_do_not_say_which_class_is_positive_it_is_guessed_by_rarity_and_asked(open_page, workspace):
    files = {"reference": frauds(900, 0.9, 1), "target": frauds(500, 0.5, 2)}
    renamed = {side: file.replace(b"fraud", b"dog").replace(b"legit", b"cat") for side, file in files.items()}
    two = {side: store(workspace, f"{side}.tsv", content, None) for side, content in renamed.items()}
    app = settled(open_page("matched_subsets", **two, threshold="0.25"))
    asked = app.selectbox(key="positive_class")
    assert asked.label == "Which class is positive?"
    guess = "“dog” is taken as the positive class, because it is the rarer one."
    assert guess in plainly(app)
    asked.select("cat").run()
    assert guess not in plainly(settled(app))
    assert any(alt.startswith("ROC curve of “cat”") for alt in charts(app))
