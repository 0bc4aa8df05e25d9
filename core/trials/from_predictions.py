"""How robust is a model that was trained elsewhere? Its predictions on the drawn splits, counted like any trial."""

from math import nan

import numpy as np
import pandas as pd

from touchstone.core.data import Dataset, Predictions, PredictionTable
from touchstone.core.models import MODELS
from touchstone.core.trials.fitting_predictions import (
    check_part,
    check_roles,
    check_truth,
    class_codes,
    rows_of_ids,
    trial_numbers,
)
from touchstone.core.trials.run import COLUMNS, as_frame, table_of
from touchstone.core.trials.trial_plan import TrialPlan


def trials_of_predictions(plan: TrialPlan, dataset: Dataset, table: PredictionTable) -> pd.DataFrame:
    """The trials frame of models that were trained and tested elsewhere, on the splits that `splits_table` exports.

    The `trial` of a row of `table` is the number of one of `plan.draws(dataset)`, its id is the data set's. Each model
    of the table becomes a model of the frame (`foreign_names` says how it is called), so that the frame can stand
    below that of the plan's own trials. Trials may be missing: those that are there are counted as they are.

    DataError, with trial, counts and examples, where rows of a trial's test part are missing, where a row is not in
    it (a prediction of what the model was trained on says nothing), and where ids, classes or labels are not those of
    the data set.

    Examples
    --------
    >>> from touchstone.core.data import Roles, load_example
    >>> from touchstone.core.data.predictions.upload import prediction_table
    >>> from touchstone.core.data.tables import make_table
    >>> wine, plan = load_example("wine"), TrialPlan(models=("svm",), schemes=("random",), n_repeats=2)
    >>> test = plan.split(wine, plan.draws(wine)[1]).test
    >>> labels = [wine.class_names[code] for code in wine.y[test]]
    >>> columns = [["1"] * len(test), wine.ids[test].tolist(), labels, ["class_0"] * len(test)]
    >>> names, lines = ["trial", "id", "gold", "predicted"], range(2, 2 + len(test))
    >>> table = prediction_table(make_table("mine.tsv", names, columns, lines=list(lines)))
    >>> trials_of_predictions(plan, wine, table).astype(str).loc[0, ["model", "n_correct", "n_test"]].tolist()
    ['mine', '20', '36']
    """
    check_roles(table)
    parts = [
        rows
        for model, name in foreign_names(table).items()
        for rows in _model_rows(plan, dataset, table.select(model=model or None), name)
    ]
    return as_frame({name: pd.concat([part[name] for part in parts], ignore_index=True) for name in COLUMNS})


def foreign_names(table: PredictionTable) -> dict[str, str]:
    """What the models of a table are called beside Touchstone's own: as in the file, unless one of those is called so.

    A file that names no model holds one, called like the file; its key is "".

    Examples
    --------
    >>> from touchstone.core.data.predictions.upload import prediction_table
    >>> from touchstone.core.data.tables import make_table
    >>> columns = [["a", "b"] * 2, ["x", "y"] * 2, ["x", "x"] * 2, ["svm"] * 2 + ["resnet"] * 2]
    >>> names = ["id", "gold", "predicted", "model"]
    >>> foreign_names(prediction_table(make_table("t.tsv", names, columns, lines=[2, 3, 4, 5])))
    {'svm': 'svm (uploaded)', 'resnet': 'resnet'}
    """
    taken = {name.casefold() for name in (*MODELS, *(model.label for model in MODELS.values()))}
    names: dict[str, str] = {}
    for model in table.models or ("",):
        name = model or table.name
        while name.casefold() in taken:
            name += " (uploaded)"
        taken.add(name.casefold())
        names[model] = name
    return names


def trials_given(trials: pd.DataFrame) -> dict[str, int]:
    """How many trials of a frame each model finished.

    Examples
    --------
    >>> trials_given(pd.DataFrame({"model": ["a", "a", "b"], "label": [None, "x", None], "status": ["ok"] * 3}))
    {'a': 1, 'b': 1}
    """
    whole = trials[(trials["label"].isna() & (trials["status"] == "ok")).to_numpy(dtype=bool)]
    return {str(model): int(n) for model, n in whole.groupby("model", sort=False).size().items()}


def _model_rows(plan: TrialPlan, dataset: Dataset, given: Predictions, name: str) -> list[pd.DataFrame]:
    """A frame for each trial that a model was tested in."""
    draws = plan.draws(dataset)
    rows, code_of = rows_of_ids(dataset, given), class_codes(dataset, given)
    check_truth(dataset, given, rows, code_of)
    predicted = code_of[given.y_pred]
    trials, codes = np.unique(given.groups["trial"].astype(str), return_inverse=True)
    numbers = trial_numbers(trials.tolist(), len(draws), given.name)
    frames = []
    for number in sorted(numbers):
        mine = np.flatnonzero(codes == numbers[number])
        split = plan.split(dataset, draws[number])
        place = f"{given.name}, trial {number}"
        check_part(split, rows[mine], dataset.ids, place)
        by_row = dict(zip(rows[mine].tolist(), predicted[mine].tolist(), strict=True))
        ordered = np.array([by_row[row] for row in split.test.tolist()], dtype=np.int64)
        frames.append(table_of([plan.counted(dataset, draws[number], ordered, model=name, seconds=nan)]))
    return frames


# How does somebody test a model that Touchstone cannot train? With the very same splits, as a table to train by.


def splits_table(plan: TrialPlan, dataset: Dataset) -> pd.DataFrame:
    """Every drawn split of a plan, row by row: `trial, source_finder, scheme, repeat, id, part`.

    `trial` numbers the draws (models share them), `id` is the data set's, `part` is "train" or "test"; rows that the
    plan cut from a training part are left out. Trained on "train" and predicted on "test" of each trial at home, a
    model's predictions come back by trial.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> plan = TrialPlan(models=("svm",), schemes=("source_exclusive",), n_repeats=4)
    >>> table = splits_table(plan, load_example("wine"))
    >>> table.columns.tolist(), table["trial"].nunique(), len(table)
    (['trial', 'source_finder', 'scheme', 'repeat', 'id', 'part'], 4, 712)
    """
    parts = []
    for trial, draw in enumerate(plan.draws(dataset)):
        train, test = plan.split(dataset, draw)
        rows = np.concatenate([train, test])
        parts.append(
            pd.DataFrame(
                {
                    "trial": trial,
                    "source_finder": draw.source_finder,
                    "scheme": draw.scheme,
                    "repeat": draw.repeat,
                    "id": dataset.ids[rows].astype(str),
                    "part": np.repeat(["train", "test"], [len(train), len(test)]),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


# What does a file of predictions by trial look like? One to fill in, and one of a made-up model to try.


_SHARE_RIGHT = 0.9


def rows_to_predict(plan: TrialPlan, dataset: Dataset) -> pd.DataFrame:
    """The test part of every trial, to fill in: `trial, id, predicted`, where `predicted` is empty.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> table = rows_to_predict(TrialPlan(schemes=("random",), n_repeats=2), load_example("wine"))
    >>> table.columns.tolist(), len(table)
    (['trial', 'id', 'predicted'], 72)
    """
    splits = splits_table(plan, dataset)
    rows = splits.loc[splits["part"] == "test", ["trial", "id"]]
    return rows.assign(predicted=None).reset_index(drop=True)


def sample_predictions(plan: TrialPlan, dataset: Dataset) -> pd.DataFrame:
    """Predictions by trial of a made-up model that guesses about one label in ten, to try: `trial, id, predicted`.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> table = sample_predictions(TrialPlan(schemes=("random",), n_repeats=2), load_example("wine"))
    >>> set(table["predicted"]) <= set(load_example("wine").class_names)
    True
    """
    table = rows_to_predict(plan, dataset)
    rng = np.random.default_rng(plan.seed)
    label_of = pd.Series(dataset.y, index=dataset.ids.astype(str))
    known = label_of[table["id"]].to_numpy()
    guessed = np.where(rng.random(len(table)) < _SHARE_RIGHT, known, rng.integers(dataset.n_classes, size=len(table)))
    return table.assign(predicted=np.array(dataset.class_names, dtype=object)[guessed])
