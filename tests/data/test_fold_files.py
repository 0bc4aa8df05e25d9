"""Files of folds: the notebooks' own files come back byte for byte, and what does not fit says why."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.uploads import predictions_file
from touchstone.core.data import DataError
from touchstone.core.data.predictions.upload import (
    GivenFile,
    PredictionUpload,
    analysis_file,
    datasplits_file,
    folded_upload,
    predefined_split_file,
    read_folds,
)

SHIPPED = [(data, scheme) for data in ("patent_classification", "toy_data") for scheme in
           ("distribution_sensitive_kmeans", "randomized")]  # fmt: skip


def opened(content: bytes, name: str = "datasplits_mine.tsv") -> io.BytesIO:
    file = io.BytesIO(content)
    file.name = name
    return file


@pytest.mark.parametrize(("data", "scheme"), SHIPPED)
def test_the_notebooks_files_are_read_and_written_back_byte_for_byte(shared_data, data, scheme):
    folder = shared_data / "clusterdatasplit"
    datasplits, analysis, predictions = (
        (folder / f"{data}__{kind}_{scheme}.tsv") for kind in ("datasplits", "analysis", "predictions")
    )
    folds = read_folds(datasplits)
    assert (folds.scheme, folds.names) == (scheme, ("1", "2", "3", "4", "5"))
    assert folds.gold is None
    assert folds.coordinates is None
    assert datasplits_file(folds.ids, folds.folds) == datasplits.read_bytes()
    table = read_folds(analysis)
    assert table.gold is not None
    assert table.coordinates is not None
    assert analysis_file(table.ids, table.folds, table.gold, table.coordinates) == analysis.read_bytes()
    said = PredictionUpload(GivenFile("p.tsv", predictions.read_bytes())).read().select()
    names = np.array(said.class_names, dtype=object)
    assert predictions_file(said.ids, names[said.y_true], names[said.y_pred]) == predictions.read_bytes()


@pytest.mark.parametrize(("data", "scheme"), SHIPPED)
def test_predictions_join_their_folds_and_outlive_the_page_as_bytes(shared_data, data, scheme):
    folder = shared_data / "clusterdatasplit"
    given_files = [
        GivenFile(f"{kind}_{scheme}.tsv", (folder / f"{data}__{kind}_{scheme}.tsv").read_bytes())
        for kind in ("predictions", "datasplits")
    ]
    upload = folded_upload(*given_files)
    stored = PredictionUpload.from_bytes(upload.to_bytes())
    assert stored.fingerprint == upload.fingerprint
    predictions = stored.read().select()
    folds = read_folds(folder / f"{data}__datasplits_{scheme}.tsv")
    fold_of = dict(zip(folds.ids, folds.folds, strict=True))
    assert [int(name) - 1 for name in predictions.groups["fold"]] == [fold_of[row] for row in predictions.ids]


def test_ids_that_do_not_match_are_counted_both_ways():
    said = GivenFile("p.tsv", b"id\tgold\tpredicted\n1\ta\ta\n2\tb\ta\n3\tb\tb\n")
    folds = GivenFile("datasplits_x.tsv", b"ids\tclustering_labels\n1\t1\nrow 2\t2\n")
    with pytest.raises(DataError, match=r"2 of 3 ids of p.tsv are not in data.* 1 of 2 ids of datas.*Give"):
        folded_upload(said, folds).read()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"ids\tlabel\n1\t2\n2\t1\n", "no column holds its fold.*ids and clustering_labels; here are 'ids', 'label'"),
        (b"nr\tclustering_labels\n1\t2\n2\t1\n", "no column holds the id"),
        (b"ids\tclustering_labels\n1\t2\n1\t1\n", "line 3: id '1' stands in line 2 too"),
        (b"ids\tclustering_labels\n1\t2\n2\t\n", "line 3: column 'clustering_labels' holds nothing"),
        (b"ids\tclustering_labels\n1\t-1\n2\t-1\n", "nothing is ever tested"),
        (b"ids\tfold\n" + b"".join(b"%d\t0.%d\n" % (i, 10 + i) for i in range(60)), "60 folds for 60 samples"),
        (b"ids\tclustering_labels\n", "there are no rows"),
    ],
)
def test_what_is_no_file_of_folds_says_why(content, words):
    with pytest.raises(DataError, match=words):
        read_folds(opened(content))


def test_folds_of_other_names_and_endings_are_read_in_their_order():
    folds = read_folds(opened(b"id,fold\na,10\nb,9\nc,9\nd,10\n", "cv.csv"))
    assert folds.names == ("9", "10")
    assert folds.folds.tolist() == [1, 0, 0, 1]


@given(folds=st.lists(st.integers(-1, 3), min_size=8, max_size=40).filter(lambda all: set(all) >= {0, 1, 2, 3}))
def test_folds_written_are_read_again(folds):
    ids = np.array([f'row "{row}"\t' for row in range(len(folds))], dtype=object)
    back = read_folds(opened(datasplits_file(ids, np.array(folds))))
    assert back.folds.tolist() == folds
    assert back.ids.tolist() == ids.tolist()


def test_scikit_learn_takes_the_folds():
    from sklearn.model_selection import PredefinedSplit

    folds = np.array([0, 1, -1, 1, 0])
    stored = np.load(io.BytesIO(predefined_split_file(np.array(list("abcde")), folds)))
    assert [test.tolist() for _, test in PredefinedSplit(stored["test_fold"]).split()] == [[0, 4], [1, 3]]
    assert stored["ids"].tolist() == list("abcde")
