"""Which rows of one or two files are compared, and which selections are refused."""

import numpy as np
import pytest

from touchstone.core.data import DataError
from touchstone.core.data.predictions.record import (
    ALL,
    MOST_PARTS,
    OTHERS,
    WHOLE,
    Part,
    PredictionTable,
    choices_of,
    pair_predictions,
)
from touchstone.core.data.predictions.upload import prediction_table
from touchstone.core.data.tables.table import make_table

N = 12


def table(**groups: list[str]):
    """Twelve rows, every third wrong, with columns that divide them."""
    gold = ["a", "b"] * (N // 2)
    said = [("b" if label == "a" else "a") if row % 3 == 0 else label for row, label in enumerate(gold)]
    ids = groups.pop("id", [str(row) for row in range(N)])
    columns = {"id": ids, "gold": gold, "predicted": said} | groups
    return prediction_table(make_table("t.tsv", list(columns), list(columns.values()), lines=list(range(2, N + 2))))


FOLDS = ["1", "2", "3"] * 4
SOURCES = ["x"] * 6 + ["y"] * 6
one_model = "the model"


def pair(of, reference=WHOLE, target=WHOLE):
    pairs = pair_predictions(of, of, reference_part=reference, target_part=target)
    return pairs.references[one_model], pairs.targets[one_model]


def test_a_fold_against_all_others_shares_no_row_and_leaves_none_out():
    reference, target = pair(table(fold=FOLDS), Part(fold=OTHERS), Part(fold="2"))
    assert target.ids.tolist() == ["1", "4", "7", "10"]
    assert sorted([*reference.ids, *target.ids], key=int) == [str(row) for row in range(N)]
    assert target.accuracy == 1.0
    assert reference.accuracy == 0.5


def test_folds_and_sources_are_chosen_together():
    reference, target = pair(
        table(fold=FOLDS, source=SOURCES), Part(fold="1", source="x"), Part(fold="1", source=OTHERS)
    )
    assert (reference.ids.tolist(), target.ids.tolist()) == (["0", "3"], ["6", "9"])


def test_of_two_files_each_side_has_its_own_part():
    one, other = table(fold=FOLDS), table(source=SOURCES)
    pairs = pair_predictions(one, other, reference_part=Part(fold="3"), target_part=Part(source=ALL))
    assert (pairs.references[one_model].n_samples, pairs.targets[one_model].n_samples) == (4, N)


@pytest.mark.parametrize(
    ("reference", "target", "sentence"),
    [
        (WHOLE, WHOLE, "Both test sets are the same"),
        (Part(fold="1"), Part(fold="1"), "Both test sets are the same"),
        (WHOLE, Part(fold="1"), "4 rows of t are in both"),
        (Part(source="x"), Part(fold="1"), "2 rows of t are in both"),
        (Part(fold=OTHERS), WHOLE, "Which fold are all others compared with"),
        (Part(fold=OTHERS), Part(fold=OTHERS), "Which fold are all others compared with"),
        (Part(fold="4"), Part(fold="1"), "no fold '4'"),
        (Part(trial="1"), Part(fold="1"), "does not tell trials apart"),
        (Part(fold="1", source="z"), Part(fold="2"), "not a single row of fold 1, source z"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_a_remedy(reference, target, sentence):
    with pytest.raises(DataError, match=sentence.replace("(", r"\(")):
        pair(table(fold=FOLDS, source=SOURCES), reference, target)


def test_samples_that_stand_there_once_per_trial_are_warned_about():
    of = table(id=[str(row % 6) for row in range(N)], trial=["1"] * 6 + ["2"] * 6)
    other = table()
    pairs = pair_predictions(of, other)
    assert any("once per trial" in warning for warning in pairs.references[one_model].warnings)
    assert not any("once per trial" in warning for warning in pairs.targets[one_model].warnings)
    pairs = pair_predictions(of, other, reference_part=Part(trial="2"))
    assert pairs.references[one_model].n_samples == 6
    assert not any("once per trial" in warning for warning in pairs.references[one_model].warnings)


def test_choices_are_those_of_which_there_are_several():
    assert choices_of(table()) == {}
    assert choices_of(table(fold=["1"] * N)) == {}
    found = choices_of(table(set=["new"] * 2 + ["old"] * 10, fold=FOLDS, source=SOURCES))
    assert found == {"set": ("old", "new"), "fold": ("1", "2", "3"), "source": ("x", "y")}


def test_a_column_of_too_many_sources_offers_none():
    n = MOST_PARTS + 1
    rows = [np.arange(n).astype(str).tolist(), ["a", "b"] * (n // 2) + ["a"], ["a"] * n, np.arange(n).astype(str)]
    many = prediction_table(make_table("t.tsv", ["id", "gold", "predicted", "source"], rows, lines=list(range(n))))
    assert choices_of(many) == {}


def labelled(names: str, name: str, model: str = "") -> PredictionTable:
    """A file with a row of each class and one more of the last, which is wrong."""
    gold = names.split()
    columns = {"gold": [*gold, gold[-1]], "predicted": [*gold, gold[0]]} | ({"model": [model] * 4} if model else {})
    return prediction_table(make_table(name, list(columns), list(columns.values()), lines=[2, 3, 4, 5]))


@pytest.mark.parametrize(
    ("one", "other", "names"),
    [
        ("cat dog fox", "Cat Dog Fox", ("cat", "dog", "fox")),
        ("0 1 2", "LABEL_0 LABEL_1 LABEL_2", ("0", "1", "2")),
        ("0 1 2", "0.0 1.0 2.0", ("0", "1", "2")),
        ("black_cat dog fox", "Black-Cat dog fox", ("black_cat", "dog", "fox")),
    ],
)
def test_classes_of_two_files_that_are_spelled_differently_are_the_same(one, other, names):
    pairs = pair_predictions(labelled(one, "a.tsv"), labelled(other, "b.tsv"))
    reference, target = pairs.references[one_model], pairs.targets[one_model]
    assert (sorted(reference.class_names), sorted(target.class_names)) == (sorted(names), sorted(names))
    for side in (reference, target):
        assert [side.class_names[code] for code in side.y_pred] == [*names, names[0]]
    same_names = [any("were matched" in note for note in side.notes) for side in (reference, target)]
    assert same_names == [False, "0.0" not in other]


@pytest.mark.parametrize("other", ["0 1 2", "eel owl yak"])
def test_files_without_a_common_class_are_refused(other):
    message = rf"cat, dog, fox in a; {other.replace(' ', ', ')} in b. Spell the classes alike in both files"
    with pytest.raises(DataError, match=message):
        pair_predictions(labelled("cat dog fox", "a.tsv"), labelled(other, "b.tsv"))


def test_labels_counted_from_0_in_one_file_and_from_1_in_the_other_are_refused():
    with pytest.raises(DataError, match="No class of one file is a class of the other"):
        pair_predictions(labelled("0 1 2", "a.tsv"), labelled("LABEL_1 LABEL_2 LABEL_3", "b.tsv"))


def test_two_models_of_different_names_are_paired_and_warned_about():
    pairs = pair_predictions(labelled("a b c", "old.tsv", "resnet"), labelled("a b c", "new.tsv", "vit"))
    assert pairs.models == ("resnet",)
    assert pairs.targets["resnet"].warnings == (
        "The model is called 'resnet' in old and 'vit' in new: is it the same?",
    )
    same = pair_predictions(labelled("a b c", "old.tsv", "x/resnet"), labelled("a b c", "new.tsv", "y/resnet"))
    assert same.targets["x/resnet"].warnings == ()
