"""A truth of its own finds its predictions: one for all, one per task; long files join row by row of set and task."""

import io

import numpy as np
import pandas as pd
import pytest

from touchstone.core.data import DataError, RolesNeeded, join_predictions, read_predictions

FILE = "predictions/mrnet__validation_predictions.csv"
ACCURACY = {"abnormal": 0.825, "acl": 0.5083, "meniscus": 0.5833}
N = 24
RNG = np.random.default_rng(0)
TRUE = RNG.choice(["cat", "dog"], size=N)
SAID = np.where(RNG.random(N) < 0.8, TRUE, "dog")
IDS = [f"r{row}" for row in range(N)]


def upload(frame: pd.DataFrame, name: str, **more) -> io.BytesIO:
    file = io.BytesIO(frame.to_csv(index=more.get("index", False)).encode())
    file.name = name
    return file


def truth(frame: pd.DataFrame, **more) -> io.BytesIO:
    return upload(frame, "truth.csv", **more)


def said(frame: pd.DataFrame, **more) -> io.BytesIO:
    return upload(frame, "said.csv", **more)


@pytest.fixture(name="exams")
def _exams(shared_data) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The real file of three tasks as one of truths and one of predictions, these in another order."""
    frame = pd.read_csv(shared_data / FILE)
    truths = [column for column in frame if column == "exam_id" or column.endswith("_true")]
    rest = [column for column in frame if not column.endswith("_true")]
    return frame[truths], frame[rest].sample(frac=1, random_state=1)


@pytest.mark.parametrize("suffix", ["_true", "", "_label"])
def test_a_truth_per_task_joins_predictions_side_by_side(exams, suffix, shared_data):
    known, given = exams
    known = known.rename(columns=lambda column: column.replace("_true", suffix))
    table = join_predictions(truth(known), said(given))
    assert {task: round(table.select(task=task).accuracy, 4) for task in table.tasks} == ACCURACY
    whole = read_predictions(shared_data / FILE)
    for task in ACCURACY:
        one, other = table.select(task=task), whole.select(task=task)
        order = np.argsort(one.ids)
        assert one.proba is not None
        assert other.proba is not None
        np.testing.assert_allclose(one.proba[order], other.proba[np.argsort(other.ids)])
    again = join_predictions(truth(known), said(given), roles=table.roles)
    assert again.roles == table.roles
    assert again.select(task="acl").fingerprint == table.select(task="acl").fingerprint


def test_columns_of_labels_called_alike_in_both_files_are_tasks(exams):
    known, given = exams
    known = known.rename(columns=lambda column: column.replace("_true", ""))
    hard = given[["exam_id", *(f"{task}_pred" for task in ACCURACY)]].rename(columns=lambda c: c.replace("_pred", ""))
    for index in (False, True):  # what pandas writes for its index differs in order, and must not join the rows
        table = join_predictions(truth(known, index=index), said(hard.reset_index(drop=True), index=index))
        assert {task: round(table.select(task=task).accuracy, 4) for task in table.tasks} == ACCURACY
        again = join_predictions(
            truth(known, index=index), said(hard.reset_index(drop=True), index=index), roles=table.roles
        )
        assert again.roles == table.roles


def test_truths_that_no_task_needs_do_no_harm_and_those_that_lack_are_named(exams):
    known, given = exams
    fewer = given.drop(columns=["acl_pred", "acl_prob"])
    assert join_predictions(truth(known), said(fewer)).tasks == ("abnormal", "meniscus")
    with pytest.raises(DataError, match=r"truth.csv: no column holds the truth of acl\. .* Add a column such as 'acl_"):
        join_predictions(truth(known.drop(columns=["acl_true"])), said(given))


def test_a_task_whose_truth_is_there_already_keeps_it(exams):
    known, given = exams
    whole = given.merge(known.drop(columns=["acl_true"]), on="exam_id")
    table = join_predictions(truth(known[["exam_id", "acl_true"]]), said(whole))
    assert {task: round(table.select(task=task).accuracy, 4) for task in table.tasks} == ACCURACY


def test_the_real_file_without_truth_joins_one(shared_data):
    given = pd.read_csv(shared_data / "predictions/mrnet__ood_predictions.csv")
    known = given[["filename"]].assign(abnormal=1, acl=[row % 2 for row in range(len(given))], meniscus=0)
    table = join_predictions(truth(known), shared_data / "predictions/mrnet__ood_predictions.csv")
    assert table.tasks == ("abnormal", "acl", "meniscus")
    assert table.select(task="acl").accuracy == (given["acl_pred"] == known["acl"]).mean()


@pytest.mark.parametrize("suffix", ["_pred", ""])
def test_one_truth_makes_models_of_what_stands_side_by_side(suffix):
    given = pd.DataFrame({"id": IDS, f"resnet{suffix}": SAID, f"vit{suffix}": TRUE})
    table = join_predictions(truth(pd.DataFrame({"id": IDS, "gold": TRUE})), said(given))
    assert (table.models, table.tasks) == (("resnet", "vit"), ())
    assert table.select(model="vit").accuracy == 1
    assert table.select(model="resnet").accuracy == (TRUE == SAID).mean()


def test_a_column_per_model_joins_its_truth(shared_data):
    whole = pd.read_csv(shared_data / "cifar101/cifar10_1_v6_predictions.tsv", sep="\t")
    table = join_predictions(truth(whole[["id", "label"]]), said(whole.drop(columns=["label"])))
    alone = read_predictions(shared_data / "cifar101/cifar10_1_v6_predictions.tsv")
    assert table.models == alone.models
    assert [table.select(model=model).accuracy for model in table.models] == [
        alone.select(model=model).accuracy for model in alone.models
    ]


@pytest.mark.parametrize("role", ["set", "task", "trial"])
def test_ids_that_stand_once_per_set_task_or_trial_join_by_both(role):
    names = ["one"] * N + ["two"] * N
    known = pd.DataFrame({"id": IDS * 2, role: names, "gold": [*TRUE, *SAID]})
    given = pd.DataFrame({"id": IDS * 2, role: names, "pred": [*SAID, *SAID]}).iloc[::-1]
    table = join_predictions(truth(known), said(given))
    by_name = {"set": table.sets, "task": table.tasks}.get(role, ())
    if by_name:
        assert [table.select(**{role: name}).accuracy for name in ("one", "two")] == [(TRUE == SAID).mean(), 1]
    else:
        whole = table.select()
        assert whole.take(whole.groups["trial"] == "two").accuracy == 1
    with pytest.raises(DataError, match=rf"line {N + 2}: id 'r0' stands in line 2 too for the same {role}"):
        join_predictions(truth(known.assign(**{role: "one"})), said(given))


def test_what_the_truth_does_not_answer_is_asked_as_before():
    given = pd.DataFrame({"id": IDS, "colour": ["red", "blue"] * (N // 2), "size": ["S", "L"] * (N // 2)})
    with pytest.raises(RolesNeeded, match=r"said.csv: which column holds what the model predicted") as needed:
        join_predictions(truth(pd.DataFrame({"id": IDS, "gold": TRUE})), said(given))
    assert needed.value.role == "predicted"
