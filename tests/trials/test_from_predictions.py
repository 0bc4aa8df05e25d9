"""A model that was trained elsewhere counts like one of the run: fed back, the run's own predictions are its rows."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from touchstone.core.data import DataError, Dataset, RolesNeeded, load_example, read_predictions
from touchstone.core.data.predictions.record import PredictionTable
from touchstone.core.data.predictions.upload import GivenFile, PredictionUpload
from touchstone.core.evaluate.source_robustness import compare_models, expected_accuracy_intervals
from touchstone.core.models import MODELS
from touchstone.core.trials import (
    Context,
    TrialPlan,
    rows_to_predict,
    sample_predictions,
    splits_table,
    trials_given,
    trials_of_predictions,
    with_labels,
)
from touchstone.core.trials.epochs import predict_at
from touchstone.core.trials.from_predictions import foreign_names
from touchstone.core.trials.trial_plan import schemes_of

PLAN = TrialPlan(models=("logistic",), n_repeats=4, n_clusterings=2)


@pytest.fixture(scope="module")
def wine() -> Dataset:
    return load_example("wine")


@pytest.fixture(scope="module")
def at_home(wine) -> pd.DataFrame:
    """Predictions that the run's own model makes on the exported splits, as somebody at home would make them."""
    splits, parts = splits_table(PLAN, wine), []
    row_of = {name: row for row, name in enumerate(wine.ids)}
    names = np.array(wine.class_names, dtype=object)
    for trial, rows in splits.groupby("trial"):
        train, test = ([row_of[name] for name in rows.loc[rows["part"] == part, "id"]] for part in ("train", "test"))
        model = MODELS["logistic"]()
        model.fit(
            wine.x[np.array(train)],
            wine.y[np.array(train)],
            seed=0,
            n_classes=3,
            should_stop=lambda: False,
        )
        test = np.random.default_rng(trial).permutation(test)
        predicted = names[model.predict(wine.x[test])]
        truth = names[wine.y[test]]
        parts.append(pd.DataFrame({"trial": trial, "id": wine.ids[test], "gold": truth, "predicted": predicted}))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def own(wine) -> pd.DataFrame:
    """The rows of the run itself."""
    trials = range(PLAN.n_trials(wine))
    return pd.concat([PLAN.run_trial(wine, i, context=Context()) for i in trials], ignore_index=True)


def upload(table: pd.DataFrame, name: str = "mine.tsv") -> PredictionUpload:
    return PredictionUpload(GivenFile(name, table.to_csv(sep="\t", index=False).encode()))


def read(table: pd.DataFrame, name: str = "mine.tsv") -> PredictionTable:
    return upload(table, name).read()


def as_read(table: pd.DataFrame, wine: Dataset) -> PredictionTable:
    return with_labels(upload(table), wine).read()


def trials_of(table: pd.DataFrame, wine: Dataset) -> pd.DataFrame:
    return trials_of_predictions(PLAN, wine, read(table))


def test_predictions_fed_back_are_the_rows_of_the_run(wine, at_home, own):
    found = trials_of_predictions(PLAN, wine, read(at_home))
    assert set(found["model"]) == {"mine"}
    assert set(found["scheme"]) == set(schemes_of(PLAN))
    assert found["seconds"].isna().all()
    same = found.columns.difference(["model", "seconds"])
    pd.testing.assert_frame_equal(found[same], own[same])


def test_their_figures_are_those_of_the_run(wine, at_home, own):
    found = trials_of_predictions(PLAN, wine, read(at_home))
    theirs, ours = (expected_accuracy_intervals(trials) for trials in (found, own))
    for table in ("table", "held_out_table"):
        left, right = (getattr(each, table)().drop(columns="model") for each in (theirs, ours))
        pd.testing.assert_frame_equal(left, right)
    both = pd.concat([own, found], ignore_index=True)
    together = expected_accuracy_intervals(both).table()
    alone = ours.table()
    pd.testing.assert_frame_equal(together[together["model"] == "logistic"].reset_index(drop=True), alone)
    [comparison] = compare_models(both)
    assert (comparison.model, comparison.other) == ("logistic", "mine")
    assert comparison.difference.value == 0
    assert comparison.n_draws == 4
    assert comparison.claim.decision not in ("above", "below")


def test_without_a_truth_the_labels_of_the_data_set_serve(wine, at_home, own):
    for columns in (["trial", "id", "predicted"], ["trial", "predicted", "id"]):
        found = trials_of_predictions(PLAN, wine, as_read(at_home[columns], wine))
        assert found["n_correct"].tolist() == own["n_correct"].tolist()
    labelled = at_home[["trial", "id", "predicted"]].rename(columns={"predicted": "label"})
    found = trials_of_predictions(PLAN, wine, as_read(labelled, wine))
    assert found["n_correct"].tolist() == own["n_correct"].tolist(), "the only labels were taken for the truth"


def test_a_truth_in_the_file_stays_its_own(wine, at_home):
    assert with_labels(upload(at_home), wine) == upload(at_home)


def test_the_labels_travel_with_the_file(wine, at_home):
    stored = PredictionUpload.from_bytes(with_labels(upload(at_home.drop(columns="gold")), wine).to_bytes())
    assert trials_given(trials_of_predictions(PLAN, wine, stored.read())) == {"mine": 16}


def test_rows_of_the_exported_table_may_be_kept_whole(wine, at_home, own):
    splits = splits_table(PLAN, wine)
    whole = splits[splits["part"] == "test"].merge(at_home.drop(columns="gold"))
    found = trials_of_predictions(PLAN, wine, as_read(whole, wine))
    assert found["n_correct"].tolist() == own["n_correct"].tolist()


@pytest.mark.parametrize("truth", [True, False])
def test_several_models_in_a_column_or_side_by_side(wine, at_home, own, truth):
    known = at_home if truth else at_home.drop(columns="gold")
    always = known.assign(predicted="class_0")
    stacked = pd.concat([known.assign(model="svm"), always.assign(model="always")])
    beside = known.rename(columns={"predicted": "pred_svm"}).assign(pred_always="class_0")
    bare = known.rename(columns={"predicted": "svm"}).assign(always="class_0")
    frames = [trials_of_predictions(PLAN, wine, as_read(table, wine)) for table in (stacked, beside, bare)]
    for found in frames:
        assert trials_given(found) == {"svm (uploaded)": 16, "always": 16}
        mine = found[found["model"] == "svm (uploaded)"]
        assert mine["n_correct"].tolist() == own["n_correct"].tolist()


def test_names_of_models_are_those_of_no_other(at_home):
    names = foreign_names(read(at_home, "Logistic regression.tsv"))
    assert names == {"": "Logistic regression (uploaded)"}
    twice = pd.concat([at_home.assign(model=name) for name in ("svm", "svm (uploaded)", "SVM")])
    names = foreign_names(read(twice)).values()
    assert len({name.casefold() for name in names}) == 3
    assert not {*names} & {*MODELS, *(model.label for model in MODELS.values())}


def test_trials_written_as_decimals_are_the_same_trials(wine, at_home):
    table = at_home.assign(trial=at_home["trial"].astype(float).astype(str))
    assert trials_of(table, wine).equals(trials_of(at_home, wine))


def test_missing_trials_are_counted(wine, at_home):
    some = at_home[at_home["trial"].isin([0, 1, 2, 7])]
    found = trials_of(some, wine)
    assert trials_given(found) == {"mine": 4}
    assert found.loc[found["label"].isna(), "repeat"].tolist() == [PLAN.draws(wine)[i].repeat for i in (0, 1, 2, 7)]


def test_scores_are_predictions_too(wine, at_home, own):
    scores = {f"prob_{name}": (at_home["predicted"] == name) * 0.7 + 0.1 for name in wine.class_names}
    table = at_home[["trial", "id"]].assign(**scores)
    found = trials_of_predictions(PLAN, wine, as_read(table, wine))
    assert found["n_correct"].tolist() == own["n_correct"].tolist()


def test_classes_are_matched_by_name_whatever_their_order(wine, at_home, own):
    shouted = at_home.assign(gold=at_home["gold"].str.upper(), predicted=at_home["predicted"].str.upper())
    assert trials_of(shouted, wine)["n_correct"].tolist() == own["n_correct"].tolist()
    only_two = at_home[at_home["trial"] == 0]
    only_two = only_two.assign(predicted=only_two["predicted"].replace("class_1", "class_2"))
    assert trials_of(only_two, wine)["n_predicted"].dropna().tolist()[2] == 0


def leaked(table, wine):
    train = splits_table(PLAN, wine).query("trial == 3 and part == 'train'")["id"].iloc[:2]
    labels = [wine.class_names[wine.y[int(name)]] for name in train]
    more = pd.DataFrame({"trial": 3, "id": train, "gold": labels, "predicted": "class_0"})
    return pd.concat([table, more], ignore_index=True)


def other_truth(table, wine):
    table = table.copy()
    table.loc[table.index[table["gold"] == "class_0"][:3], "gold"] = "class_1"
    return table


REFUSED = {
    "a row of the training part": (leaked, r"trial 3: 2 of \d+ rows are in its training part \(such as '\d+', '\d+'"),
    "a row without a prediction": (
        lambda table, _: table.drop(index=table.index[table["trial"] == 5][:4]),
        r"trial 5: 4 of the \d+ rows of its test part have no prediction \(such as '\d+', '\d+', '\d+'\)",
    ),
    "another truth": (other_truth, r"3 of \d+ rows have another truth than wine, such as id '\d+': 'class_1' here"),
    "ids of something else": (
        lambda table, _: table.assign(id="wine-" + table["id"].astype(str)),
        r"(\d+) of \1 ids are not in wine \(such as 'wine-\d+'",
    ),
    "a class of something else": (
        lambda table, _: table.assign(predicted=table["predicted"].replace("class_1", "grape")),
        r"'?grape'? is no class of wine. Its classes are class_0, class_1",
    ),
    "a trial that does not exist": (
        lambda table, _: table.assign(trial=table["trial"] + 1),
        r"1 of 16 trials are not numbered like the splits \(such as '16'\). There are 16 trials, from 0 to 15",
    ),
    "trials that are words": (
        lambda table, _: table.assign(trial="run " + table["trial"].astype(str)),
        r"16 of 16 trials are not numbered",
    ),
    "several sets": (
        lambda table, _: table.assign(set=np.where(table["trial"] < 3, "old", "new")),
        r"there are 2 sets \(old, new\)",
    ),
    "no ids": (
        lambda table, _: table[table["trial"] == 0].drop(columns="id"),
        r"no column holds ids. Keep the column 'id' of the downloaded splits",
    ),
    "no trials": (
        lambda table, _: table[table["trial"] == 0].drop(columns="trial"),
        r"no column says which trial a row belongs to",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_says_nothing_is_refused(wine, at_home, what):
    change, words = REFUSED[what]
    with pytest.raises(DataError, match=words):
        trials_of(change(at_home, wine), wine)


def test_splits_of_other_settings_are_refused_with_a_remedy(wine, at_home):
    other = TrialPlan(models=("logistic",), n_repeats=4, n_clusterings=2, seed=1)
    with pytest.raises(DataError, match=r"trial 0: .* exported with other settings: download the splits again"):
        trials_of_predictions(other, wine, read(at_home))


def test_rows_that_the_plan_left_out_are_refused(wine):
    plan = TrialPlan(models=("logistic",), schemes=("random",), n_repeats=1, n_train=50)
    train, test = plan.split(wine, plan.draws(wine)[0])
    rows = [*test, np.setdiff1d(np.arange(178), [*train, *test])[0]]
    names = np.array(wine.class_names, dtype=object)[wine.y[rows]]
    table = pd.DataFrame({"trial": 0, "id": wine.ids[rows], "gold": names, "predicted": names})
    with pytest.raises(DataError, match=r"trial 0: 1 of 37 rows are not in its test part"):
        trials_of_predictions(plan, wine, read(table))


def test_ids_that_do_not_join_are_counted_where_the_truth_is_missing(wine, at_home):
    table = at_home.drop(columns="gold").assign(id="x" + at_home["id"].astype(str))
    with pytest.raises(DataError, match=r"(\d+) of \1 ids of mine.tsv are not in wine-labels.tsv"):
        as_read(table, wine)


def test_the_file_to_fill_in_and_the_sample_are_complete(wine):
    blank, sample = rows_to_predict(PLAN, wine), sample_predictions(PLAN, wine)
    assert blank[["trial", "id"]].equals(sample[["trial", "id"]])
    assert trials_given(trials_of_predictions(PLAN, wine, as_read(sample, wine))) == {"mine": 16}
    accuracy = (sample["predicted"] == [wine.class_names[wine.y[int(name)]] for name in sample["id"]]).mean()
    assert 0.85 < accuracy < 0.99


def test_parquet_with_numbered_trials_and_ids(wine, at_home, own):
    stream = io.BytesIO()
    at_home.assign(id=at_home["id"].astype(int)).to_parquet(stream, index=False)
    stream.seek(0)
    stream.name = "mine.parquet"
    found = trials_of_predictions(PLAN, wine, read_predictions(stream))
    assert found["n_correct"].tolist() == own["n_correct"].tolist()


def test_fitting_and_counting_are_two_things(wine, own):
    draw = PLAN.draws(wine)[0]
    split = PLAN.split(wine, draw)
    fitted = predict_at(("last",), MODELS["logistic"](), wine, split, seed=0, should_stop=lambda: False)
    assert fitted.seconds > 0
    about = {"model": "logistic", "seconds": fitted.seconds}
    n_correct = PLAN.counted(wine, draw, fitted.predicted["last"], **about)["n_correct"].tolist()
    assert n_correct == own["n_correct"].tolist()[: len(n_correct)]


def test_corrected_roles_and_classes_are_kept(wine, at_home, own):
    letters = dict(zip(wine.class_names, "xyz", strict=True))
    table = at_home[["trial", "id"]].assign(answer=at_home["predicted"].map(letters))
    with pytest.raises(RolesNeeded, match="Which predicted name stands for which class") as asked:
        as_read(table, wine)
    assert asked.value.guess.classes == (("x", "class_0"), ("y", "class_1"), ("z", "class_2"))
    corrected = replace(upload(table).predictions, roles=replace(asked.value.guess, truth=None))
    found = trials_of_predictions(PLAN, wine, with_labels(PredictionUpload(corrected), wine).read())
    assert found["n_correct"].tolist() == own["n_correct"].tolist()
