import numpy as np
import pytest

from touchstone.core.data import DataError, load_example
from touchstone.core.represent import encode
from touchstone.core.represent.duplicates import NearDuplicates
from touchstone.core.split.describe_folds import MEASURES, describe_folds, total_variation
from touchstone.core.split.folds import FOLD_SCHEMES, MaxShift, RandomFolds, StratifiedFolds
from touchstone.core.split.scheme import Random

NAMES = ["ant", "bee", "cat"]


def test_counts_labels_and_variance_by_hand():
    y = np.array([0, 0, 0, 1, 1, 1, 1, 2])
    folds = np.array([0, 0, 1, 0, 1, 1, 1, 1])
    features = np.array([[0.0], [2.0], [5.0], [4.0], [5.0], [5.0], [5.0], [10.0]])
    copies = NearDuplicates(np.array([0, 1, 2, 3, 4, 5, 5, 7]), np.array([[0, 1], [0, 2], [3, 5]]), full=False)
    found = describe_folds(folds, y, features, class_names=NAMES, duplicates=copies, rng=np.random.default_rng(0))
    assert found.measures == tuple(MEASURES)
    table = found.table()
    assert table["fold"].tolist() == [0, 1]
    assert table["n_test"].tolist() == [3, 5]
    assert table["n_train"].tolist() == [5, 3]
    assert table["n_wanted"].tolist() == [4.0, 4.0]
    tv = (abs(2 / 3 - 1 / 5) + abs(1 / 3 - 3 / 5) + 1 / 5) / 2
    assert table["label_tv"].tolist() == pytest.approx([tv, tv])
    assert table["variance"].tolist() == pytest.approx([(4 + 0 + 4) / 3, (4 * 1 + 16) / 5])
    assert table["near_duplicates"].tolist() == [3, 3]  # 0 and 2, 3 and 5, 3 and the copy of 5
    labels = found.labels_table()
    assert labels["n"].tolist() == [2, 1, 0, 1, 3, 1]
    assert labels["n_wanted"].tolist() == [1.5, 2, 0.5] * 2
    assert labels.groupby("fold")["share"].sum().tolist() == pytest.approx([1, 1])
    assert found.remarks == ("cat has fewer samples (1) than there are folds (2): it is missing from 1 of them.",)


@pytest.mark.evidence
def test_random_folds_look_like_random_folds_and_clusters_do_not():
    digits = load_example("digits")
    features, names = encode(digits, "raw"), digits.class_names
    describe = {
        name: describe_folds(
            FOLD_SCHEMES[name]().assign(features, digits.y),
            digits.y,
            features,
            class_names=names,
            rng=np.random.default_rng(0),
        )
        for name in ("random_folds", "sds_folds")
    }
    table = {name: found.measures_table().set_index(["measure", "fold"]) for name, found in describe.items()}
    for measure in ("mmd", "energy", "auc", "nearest"):
        random, sds = (table[name].loc[measure] for name in ("random_folds", "sds_folds"))
        assert (sds["value"] > sds["random_highest"]).all(), measure
        assert (random["value"] < sds["value"].min()).all(), measure
    assert (table["sds_folds"].loc["variance", "value"] < table["sds_folds"].loc["variance", "random_lowest"]).all()
    auc = table["sds_folds"].loc["auc"]
    assert ((auc["lower"] <= auc["value"]) & (auc["value"] <= auc["upper"])).all()
    assert (auc["lower"] > 0.5).all()
    assert table["sds_folds"].loc["mmd", "lower"].isna().all()
    random = table["random_folds"].loc["auc"]
    assert ((random["lower"] < 0.5) & (random["upper"] > 0.5)).sum() >= 4
    assert (describe["sds_folds"].table()["label_tv"] < 0.01).all()


def test_without_features_only_labels_are_compared():
    y = np.repeat([0, 1, 2], [8, 9, 2])
    found = describe_folds(
        StratifiedFolds(n_folds=4).assign(None, y), y, None, class_names=NAMES, rng=np.random.default_rng(0)
    )
    assert found.measures == ("label_tv",)
    assert (found.table()["label_tv"] <= found.table()["label_tv_random"]).all()
    assert found.remarks == ("cat has fewer samples (2) than there are folds (4): it is missing from 2 of them.",)


@pytest.mark.parametrize(("test_share", "n_wanted"), [(0.25, 15.0), (None, 12.0)])
def test_a_single_split_is_set_against_the_share_that_was_wanted(test_share, n_wanted):
    y, x = np.repeat([0, 1, 2], 20), np.random.default_rng(0).normal(size=(60, 2))
    folds = MaxShift(n_folds=5).assign(x, y)
    found = describe_folds(folds, y, x, class_names=NAMES, test_share=test_share, rng=np.random.default_rng(0))
    assert found.table()[["fold", "n_train", "n_test", "n_wanted"]].to_numpy().tolist() == [[0, 48, 12, n_wanted]]
    assert found.remarks == ()


def test_a_fold_of_one_row_has_no_distances_and_no_complaint():
    y, x = np.repeat([0, 1, 2], 2), np.random.default_rng(0).normal(size=(6, 2))
    found = describe_folds(np.arange(6), y, x, class_names=NAMES, rng=np.random.default_rng(0))
    assert found.table()["mmd"].isna().all()
    assert found.table()["variance"].tolist() == [0] * 6


def test_equal_generators_give_equal_descriptions():
    y, x = np.repeat([0, 1], 40), np.random.default_rng(0).normal(size=(80, 2))
    folds = RandomFolds().assign(x)
    first, second = (
        describe_folds(folds, y, x, class_names=NAMES, rng=np.random.default_rng(3)).table() for _ in range(2)
    )
    assert first.equals(second)


def test_random_folds_need_not_be_drawn():
    y, x = np.repeat([0, 1], 20), np.random.default_rng(0).normal(size=(40, 2))
    found = describe_folds(RandomFolds().assign(x), y, x, class_names=NAMES, n_random=0, rng=np.random.default_rng(0))
    assert not [column for column in found.table() if column.endswith("_random")]
    assert found.measures_table()[["random", "random_lowest", "random_highest"]].isna().all(axis=None)
    assert found.table()["mmd"].notna().all()


def test_copies_are_all_counted_and_a_list_that_is_full_is_said_to_be():
    n = 3000  # of one content: 4.5 million pairs
    first, y, folds = np.zeros(n, dtype=int), np.arange(n) % 2, np.arange(n) % 3
    first[-1] = n - 1
    near = NearDuplicates(first, np.array([[0, n - 1]]), full=True)
    found = describe_folds(folds, y, None, class_names=NAMES[:2], duplicates=near, rng=np.random.default_rng(0))
    assert found.table()["near_duplicates"].tolist() == [1000 * 1999 + 1000, 1000 * 1999 + 1000, 999 * 2000 + 2000]
    assert "the 1 most similar near-duplicate pairs were counted" in found.remarks[0]
    full = NearDuplicates(first, near.pairs, full=False)
    assert (
        describe_folds(folds, y, None, class_names=NAMES[:2], duplicates=full, rng=np.random.default_rng(0)).remarks
        == ()
    )


@pytest.mark.parametrize("folds", [[0, 0, 0], [-1, -1, -1], [0, 2, 2]])
def test_folds_that_cannot_be_tested_are_refused(folds):
    with pytest.raises(DataError, match="each must hold one or more, and leave one to train on"):
        describe_folds(np.array(folds), np.zeros(3, dtype=int), None, class_names=NAMES, rng=np.random.default_rng(0))


def test_a_stratified_split_keeps_the_label_distribution():
    y = np.repeat([0, 1], [100, 300])
    train, test = (np.bincount(y[part]) for part in Random(stratified=True).draw(0, y))
    assert test.sum() == 80
    assert total_variation(train, test) == total_variation(test, np.bincount(y)) == pytest.approx(0)


def test_total_variation_runs_from_alike_to_disjoint():
    assert total_variation(np.array([2, 6]), np.array([10, 30])) == 0
    assert total_variation(np.array([5, 0]), np.array([0, 1])) == 1
