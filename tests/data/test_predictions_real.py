"""Every real file of predictions loads with the right roles, or is refused for the right reason."""

import numpy as np
import pandas as pd
import pytest

from touchstone.core.data import DataError, RolesNeeded, join_predictions, pair_models, read_predictions

MODELS = 14
LOADED = {  # file: roles that it gets, accuracy (by task where there are several), number of classes
    "predictions/netcal_lenet5_cifar10_softmax.npz": ({"truth": "ground_truth", "id": None}, 0.5308, 10),
    "predictions/spam__preds.tsv": (
        {"truth": "target", "predicted": "predicted", "confidence": "prob", "id": "textid", "model": "model"},
        0.9982,
        2,
    ),
    "predictions/spam__hindi_preds.tsv": (
        {"truth": "target", "predicted": "predicted", "confidence": "prob"},
        0.5372,
        2,
    ),
    "predictions/cagedbird__validation_predictions14.csv": (
        {
            "truth": "True Label",
            "predicted": "Predicted Label",
            "confidence": "Confidence Score",
            "id": "Image Filename",
            "set": None,
        },
        0.7442,
        57,
    ),
    "predictions/mrnet__validation_predictions.csv": (
        {"id": "exam_id", "truth": None},
        {"abnormal": 0.825, "acl": 0.5083, "meniscus": 0.5833},
        2,
    ),
    **{
        f"clusterdatasplit/{what}__predictions_{split}.tsv": (
            {"truth": "gold", "predicted": "predicted", "id": "id", "confidence": None},
            accuracy,
            n_classes,
        )
        for what, split, accuracy, n_classes in (
            ("patent_classification", "distribution_sensitive_kmeans", 0.7845, 8),
            ("patent_classification", "randomized", 0.8941, 8),
            ("toy_data", "distribution_sensitive_kmeans", 0.7667, 2),
            ("toy_data", "randomized", 1.0, 2),
        )
    },
}


@pytest.mark.parametrize("file", LOADED)
def test_loaded(shared_data, file):
    expected, accuracy, n_classes = LOADED[file]
    table = read_predictions(shared_data / file)
    assert {role: getattr(table.roles, role) for role in expected} == expected
    by_task = accuracy if isinstance(accuracy, dict) else {None: accuracy}
    assert table.tasks == (tuple(by_task) if isinstance(accuracy, dict) else ())
    for task, expected_accuracy in by_task.items():
        predictions = table.select(task=task)
        assert round(predictions.accuracy, 4) == expected_accuracy
        assert predictions.n_classes == n_classes
    again = read_predictions(shared_data / file, roles=type(table.roles).from_json(table.roles.to_json()))
    assert again.roles == table.roles


@pytest.mark.parametrize("part", ["cifar10_test", "cifar10_1_v4", "cifar10_1_v6"])
def test_a_column_per_model(shared_data, part):
    table = read_predictions(shared_data / "cifar101" / f"{part}_predictions.tsv")
    column = {"cifar10_test": "original", "cifar10_1_v4": "v4", "cifar10_1_v6": "v6"}[part]
    known = pd.read_csv(shared_data / "cifar101/accuracy.tsv", sep="\t").set_index("model")[column]
    assert (table.roles.truth, table.roles.id) == ("label", "id")
    assert len(table.models) == MODELS
    assert {model: table.select(model=model).accuracy for model in table.models} == pytest.approx(known.to_dict())
    with pytest.raises(DataError, match="there are 14 models: cudaconvnet, darc"):
        table.select()


REFUSED = {  # file: what is said, which names the reason
    "cifar101/accuracy.tsv": "no column holds the truth",
    **{
        f"clusterdatasplit/{what}__{file}_{split}.tsv": reason
        for what in ("patent_classification", "toy_data")
        for split in ("distribution_sensitive_kmeans", "randomized")
        for file, reason in (
            ("analysis", r"no column holds what a model predicted. There is a truth \(column 'gold_labels'\)"),
            ("datasplits", "no column holds the truth. The columns are ids, clustering_labels"),
        )
    },
    "clusterdatasplit/toy_data__input_data.tsv": r"no column holds what a model predicted. .*'labels'",
    "predictions/hans__hans_predictions_300.csv": "no column holds the truth",
    "predictions/hans__esim_heur_preds.txt": "no column holds what a model predicted",
    "predictions/bertstyle__hoc_test_results.tsv": "no column holds the truth. The columns are column 1, column 2",
    "predictions/bertstyle__hoc_submit_results.tsv": "no column holds the truth",
    "predictions/cagedbird__test_pred.csv": "no column holds the truth",
    "predictions/cagedbird__test_pred_top_2_with_confidence_upsampled.csv": "no column holds the truth",
    "predictions/mrnet__ood_predictions.csv": "no column holds the truth",
    "predictions/subtopics__Viral_Shedding-Persistence_LogReg.tsv": "no column holds the truth",
    "predictions/chestxray__test_probs_multilabel.csv": r"line 3: column 'LabelMulti' holds '\[1, 0, 0, 1\]', several",
}


@pytest.mark.parametrize("file", REFUSED)
def test_refused(shared_data, file):
    with pytest.raises(DataError, match=REFUSED[file]) as refusal:
        read_predictions(shared_data / file)
    assert not isinstance(refusal.value, RolesNeeded), "there is nothing in the file to choose"


def test_no_real_file_is_forgotten(shared_data):
    folders = ("predictions", "clusterdatasplit", "cifar101")
    files = {f"{folder}/{path.name}" for folder in folders for path in (shared_data / folder).iterdir()}
    wide = {file for file in files if file.startswith("cifar101/cifar10")}
    assert files - {"clusterdatasplit/LICENSE"} == {*LOADED, *REFUSED, *wide}


def test_one_probability_of_the_predicted_class_gives_both(shared_data):
    predictions = read_predictions(shared_data / "predictions/spam__preds.tsv").select()
    frame = pd.read_csv(shared_data / "predictions/spam__preds.tsv", sep="\t")
    assert predictions.class_names == ("0", "1")
    assert predictions.proba is not None
    np.testing.assert_allclose(predictions.confidence, frame["prob"])
    np.testing.assert_allclose(predictions.proba[np.arange(len(frame)), predictions.y_pred], frame["prob"])


def test_a_threshold_other_than_one_half_shows_which_class_the_probability_is_of(shared_data):
    predictions = read_predictions(shared_data / "predictions/mrnet__validation_predictions.csv").select(task="acl")
    frame = pd.read_csv(shared_data / "predictions/mrnet__validation_predictions.csv")
    assert predictions.proba is not None
    np.testing.assert_allclose(predictions.proba[:, 1], frame["acl_prob"])
    assert any("the predicted label is not the most probable" in warning for warning in predictions.warnings)


def test_the_same_model_under_two_paths(shared_data):
    tables = [read_predictions(shared_data / f"predictions/spam__{name}preds.tsv") for name in ("", "hindi_")]
    pairs, alone = pair_models(*tables)
    assert pairs == [("AdaptiveSpamFilter-NLP/spam_model", "/home/mburack/AdaptiveSpamFilter-NLP/spam_model")]
    assert alone == []


@pytest.mark.parametrize("split", ["distribution_sensitive_kmeans", "randomized"])
@pytest.mark.parametrize("what", ["patent_classification", "toy_data"])
@pytest.mark.parametrize("file", ["analysis", "datasplits"])
def test_folds_join_predictions_by_id(shared_data, what, split, file):
    folder = shared_data / "clusterdatasplit"
    table = join_predictions(folder / f"{what}__{file}_{split}.tsv", folder / f"{what}__predictions_{split}.tsv")
    assert sorted(table.folds) == ["1", "2", "3", "4", "5"]
    assert any("by id (columns 'ids' and 'id')" in note for note in table.notes)
    whole = table.select()
    by_fold = {fold: table.select(fold=fold) for fold in table.folds}
    assert sum(part.n_samples for part in by_fold.values()) == whole.n_samples
    for fold, part in by_fold.items():
        assert part.accuracy == pytest.approx(whole.take(whole.groups["fold"] == fold).accuracy)


def test_probabilities_without_ids_join_by_line(shared_data, tmp_path):
    rng = np.random.default_rng(0)
    truth = tmp_path / "truth.tsv"
    truth.write_text("gold\n" + "".join(f"{label}\n" for label in rng.integers(2, size=820)))
    table = join_predictions(truth, shared_data / "predictions/bertstyle__hoc_test_results.tsv")
    predictions = table.select()
    assert predictions.n_samples == 820
    assert (predictions.y_pred == 1).all()
    assert any("by line, since neither file has ids" in note for note in predictions.notes)


def test_logits_under_the_name_of_the_truth_are_predictions_once_the_truth_is_there(shared_data, tmp_path):
    esim = pd.read_csv(shared_data / "predictions/hans__esim_heur_preds.txt")
    truth = tmp_path / "truth.csv"
    heuristics = esim.assign(gold_label=np.where(esim["gold_label"] == "entailment", "entailment", "non-entailment"))
    heuristics.to_csv(truth, index=False)
    hard = join_predictions(truth, shared_data / "predictions/hans__esim_heur_preds.txt")
    assert hard.roles.predicted == "gold_label"
    with pytest.raises(RolesNeeded, match="Which predicted name stands for which class") as needed:
        join_predictions(truth, shared_data / "predictions/hans__hans_predictions_300.csv")
    assert needed.value.role == "classes"
    assert needed.value.choices == ("entailment", "non-entailment")


def test_what_was_decided_in_reading_is_told_of_the_table(shared_data):
    """A page shows a table before any model of it is chosen: whose probability is it, which name is which?"""
    table = read_predictions(shared_data / "predictions" / "spam__preds.tsv")
    assert any("predicted class" in note for note in table.notes)
    assert any("matched" in note for note in table.notes)
    assert len(set(table.select().notes)) == len(table.select().notes)
