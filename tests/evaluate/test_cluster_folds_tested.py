"""Rows of runs and of files come to one form: joined by id, whatever their order, and told where they do not fit."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.data.uploads import predictions_file
from tests.evaluate.fold_populations import frame, simulated, without_makers
from touchstone.core.data import DataError, Predictions, load_example
from touchstone.core.data.predictions.upload import GivenFile, datasplits_file, folded_upload
from touchstone.core.evaluate.cluster_folds.performance import fold_performance
from touchstone.core.evaluate.cluster_folds.tested import joined, predictions_on_folds, rows_of_run, rows_of_tables
from touchstone.core.evaluate.cluster_folds.verdict import fold_verdict
from touchstone.core.trials import Context, FoldPlan


def uploaded(seed: int = 0, n: int = 60, names=("cat", "dog"), shuffle: bool = False, **options) -> Predictions:
    rng = np.random.default_rng(seed)
    order = rng.permutation(n) if shuffle else np.arange(n)
    y = (np.arange(n) % len(names))[order]
    said = np.where(rng.random(n) < 0.8, y, (y + 1) % len(names))
    folds = np.array([str(1 + row % 3) for row in rng.permutation(n)])
    return Predictions([f"id {row}" for row in order], y, said, names, groups={"fold": folds}, **options)


def test_uploaded_schemes_join_by_id_whatever_their_order():
    one, other = uploaded(0), uploaded(1, shuffle=True)
    folded = predictions_on_folds({"mine": one, "randomized": other})
    assert folded.ids.tolist() == one.ids.tolist()
    for scheme, of in (("mine", one), ("randomized", other)):
        run = next(run for run in folded.runs() if run.scheme == scheme)
        at = {value: row for row, value in enumerate(of.ids)}
        order = [at[value] for value in folded.ids]
        assert run.y_pred.tolist() == of.y_pred[order].tolist()
        assert (run.fold + 1).astype(str).tolist() == of.groups["fold"][order].tolist()
    assert fold_performance(folded).differences[0].difference.n == 60


def test_trials_of_an_upload_are_seeds():
    parts = [uploaded(seed) for seed in (0, 1)]
    both = Predictions(
        np.concatenate([part.ids for part in parts]),
        np.concatenate([part.y_true for part in parts]),
        np.concatenate([part.y_pred for part in parts]),
        ("cat", "dog"),
        groups={
            "fold": np.concatenate([part.groups["fold"] for part in parts]),
            "trial": np.repeat(["first", "second"], 60),
        },
    )
    folded = predictions_on_folds({"mine": both})
    assert folded.seeds("mine") == (0, 1)
    for seed, part in enumerate(parts):
        run = next(run for run in folded.runs() if run.seed == seed)
        assert run.y_pred.tolist() == part.y_pred.tolist()


def test_uploads_that_do_not_fit_each_other_or_the_data_set_say_how_many_rows():
    one, other = uploaded(0), uploaded(1, names=("dog", "cat"))
    with pytest.raises(
        DataError, match="'id 0' is 'cat' in one file and 'dog' in another, and 60 of 60 samples differ"
    ):
        predictions_on_folds({"mine": one, "randomized": other})
    known = np.array([f"id {row}" for row in range(10, 100)], dtype=object)
    with pytest.raises(
        DataError, match=r"10 of 60 ids .*such as 'id 0'.*; 40 of the data set's 90 ids .*'id 60'.*Choose"
    ):
        predictions_on_folds({"mine": one}, ids=known)
    with pytest.raises(DataError, match="no column gives the fold"):
        predictions_on_folds({"mine": Predictions(["a", "b"], [0, 1], [0, 1], ["x", "y"])})


def test_rows_take_the_places_of_a_data_set():
    known = np.array([f"id {row}" for row in range(99, -1, -1)], dtype=object)
    folded = predictions_on_folds({"mine": uploaded(0)}, ids=known)
    assert len(folded.y) == 100
    assert (folded.y < 0).sum() == 40
    values = [
        fold_performance(each).runs[0].mean.value for each in (folded, predictions_on_folds({"mine": uploaded(0)}))
    ]
    assert values[0] == pytest.approx(values[1])


@pytest.mark.parametrize("scheme", ["sds_folds", "max_shift"])
def test_folds_that_go_out_and_predictions_that_come_back_score_as_the_run_does(scheme):
    wine = load_example("wine")
    plan = FoldPlan(schemes=(scheme,))
    rows = pd.concat([plan.run_trial(wine, i, context=Context()) for i in range(plan.n_trials(wine))])
    (own,) = fold_performance(rows_of_run(rows, wine)).runs
    said = rows[rows["model"].notna().to_numpy()].sample(frac=1.0, random_state=0)
    names, at = np.array(wine.class_names, dtype=object), said["row"].to_numpy(dtype=int)
    back = predictions_file(wine.ids[at], names[wine.y[at]], names[said["y_pred"].to_numpy(dtype=int)])
    folds = datasplits_file(wine.ids, plan.folds(wine, scheme, 0))
    upload = folded_upload(GivenFile("predictions_x.tsv", back), GivenFile("datasplits_x.tsv", folds))
    for ids in (None, wine.ids):
        (run,) = fold_performance(rows_of_tables({"x": upload.read()}, ids=ids)).runs
        assert [fold.score.value for fold in run.folds] == [fold.score.value for fold in own.folds]
        assert (run.mean.value, run.std) == (own.mean.value, own.std)


def test_class_names_of_several_files_are_joined():
    one = Predictions(["a", "b"], [0, 1], [0, 1], ["cat", "dog"], groups={"fold": ["1", "2"]})
    other = Predictions(["a", "b"], [0, 1], [0, 2], ["cat", "dog", "eel"], groups={"fold": ["2", "1"]})
    folded = joined([predictions_on_folds({"x": one}), predictions_on_folds({"y": other})])
    assert folded.class_names == ("cat", "dog", "eel")
    assert [run.y_pred.tolist() for run in folded.runs()] == [[0, 1], [0, 2]]


@pytest.mark.parametrize("failed", [False, True])
def test_a_run_whose_folds_are_not_known_is_not_taken_for_whole(failed):
    folded = simulated({"random_folds": 0.1, "sds_folds": 0.3})
    partial = without_makers(folded, "sds_folds")
    partial = replace(partial, rows=partial.rows[~(partial.rows["fold"] > 1).to_numpy(dtype=bool)])
    if failed:
        lost = frame("sds_folds", 0, None, [pd.NA], [pd.NA], None, status="failed")
        partial = replace(partial, rows=pd.concat([partial.rows, lost], ignore_index=True))
    found = fold_performance(partial)
    (run,) = found.runs_of("sds_folds", "model")
    assert (len(run.folds), run.folds_known, run.whole) == (2, False, False)
    assert "sds_folds" not in [row.scheme for row in found.schemes]
    assert found.differences == ()
    alone = fold_performance(
        replace(partial, rows=partial.rows[(partial.rows["scheme"] == "sds_folds").to_numpy(dtype=bool)])
    )
    said = "model: 2 folds tested, of how many is not known; no fold scheme is complete yet."
    assert fold_verdict(alone).headline == said


def test_uploaded_folds_are_all_there_are():
    (run,) = fold_performance(predictions_on_folds({"mine": uploaded()})).runs
    assert (run.folds_known, run.whole, run.n_folds_wanted) == (True, True, 3)
