"""How robust is a model that was trained elsewhere? Its predictions on the drawn splits, counted like any trial."""

import re
from collections.abc import Iterable
from dataclasses import replace
from math import nan

import numpy as np
import pandas as pd
from jaxtyping import Integer

from touchstone.core.data import DataError, Dataset, Predictions, PredictionTable, Roles, guess_roles
from touchstone.core.data.predictions.guess import complete_roles
from touchstone.core.data.predictions.shapes import read_prediction_table
from touchstone.core.data.predictions.upload import GivenFile, PredictionUpload
from touchstone.core.data.tables.names import common_names
from touchstone.core.data.tables.table import Table
from touchstone.core.data.values import listed
from touchstone.core.models import MODELS
from touchstone.core.split.scheme import Split
from touchstone.core.trials.run import COLUMNS, as_frame, table_of
from touchstone.core.trials.trial_plan import TrialPlan

# Do predictions by trial fit a data set and its splits? Joined by id, class and trial, or refused with a remedy.


_OTHER_SETTINGS = (
    "If that is how it was exported, it was exported with other settings: download the splits again, or set the "
    "controls as they were."
)


def check_roles(table: PredictionTable) -> None:
    """DataError unless the table has ids and trials, and is of one set and one task."""
    if table.roles.trial is None:
        raise DataError(
            f"{table.name}: no column says which trial a row belongs to. Keep the column 'trial' of the downloaded "
            "splits, or say which column it is."
        )
    if table.roles.id is None:
        raise DataError(
            f"{table.name}: no column holds ids. Keep the column 'id' of the downloaded splits, or say which column it "
            "is: predictions by trial are joined with the data set by it."
        )
    for role, names in (("set", table.sets), ("task", table.tasks)):
        if len(names) > 1:
            raise DataError(
                f"{table.name}: there are {len(names)} {role}s ({listed(names)}), and predictions by trial are of one "
                f"data set. Leave the others out; if the column means something else, take the role {role!r} away."
            )


def rows_of_ids(dataset: Dataset, given: Predictions) -> Integer[np.ndarray, " n_rows"]:
    """The row of the data set that each prediction is about."""
    row_of = {str(name): row for row, name in enumerate(dataset.ids)}
    unknown = list(dict.fromkeys(name for name in given.ids if name not in row_of))
    if unknown:
        raise DataError(
            f"{given.name}: {len(unknown):,} of {len(set(given.ids)):,} ids are not in {dataset.name} "
            f"({_such(unknown)}); there they are like {dataset.ids[0]!r}. Give the ids as the downloaded splits have "
            "them, or choose the data set that they are of."
        )
    return np.array([row_of[name] for name in given.ids], dtype=np.int64)


def check_truth(
    dataset: Dataset,
    given: Predictions,
    rows: Integer[np.ndarray, " n_rows"],
    code_of: Integer[np.ndarray, " n_classes"],
) -> None:
    """DataError where the truth of the predictions is not that of the data set."""
    differing = np.flatnonzero(code_of[given.y_true] != dataset.y[rows])
    if len(differing):
        first = differing[0]
        raise DataError(
            f"{given.name}: {len(differing):,} of {len(rows):,} rows have another truth than {dataset.name}, such as "
            f"id {given.ids[first]!r}: {given.class_names[given.y_true[first]]!r} here, "
            f"{dataset.class_names[dataset.y[rows[first]]]!r} there. Are these the same samples? Leave the truth out "
            "to take the data set's."
        )


def class_codes(dataset: Dataset, given: Predictions) -> Integer[np.ndarray, " n_classes"]:
    """The data set's code of each class of the predictions, matched by name."""
    common = common_names(set(dataset.class_names), set(given.class_names))
    names = common[0] if common else {name: name for name in (*dataset.class_names, *given.class_names)}
    code_of = {names[name]: code for code, name in enumerate(dataset.class_names)}
    unknown = [name for name in given.class_names if names[name] not in code_of]
    if unknown:
        raise DataError(
            f"{given.name}: {listed(unknown)} {'is no class' if len(unknown) == 1 else 'are no classes'} of "
            f"{dataset.name}. Its classes are {listed(dataset.class_names)}: name them like that."
        )
    return np.array([code_of[names[name]] for name in given.class_names], dtype=np.int64)


def trial_numbers(trials: list[str], n_draws: int, name: str) -> dict[int, int]:
    """Which of `trials` has which number; DataError where one is no number of a draw."""
    if all(re.fullmatch(r"\d{1,9}\.0+", text) for text in trials):  # as pandas writes whole numbers beside gaps
        trials = [text.partition(".")[0] for text in trials]
    numbers = {int(text): place for place, text in enumerate(trials) if re.fullmatch(r"\d{1,9}", text)}
    wrong = [text for text in trials if not (re.fullmatch(r"\d{1,9}", text) and int(text) < n_draws)]
    if wrong or len(numbers) < len(trials):
        raise DataError(
            f"{name}: {len(wrong) or len(trials) - len(numbers):,} of {len(trials):,} trials are not numbered like the "
            f"splits ({_such(wrong or trials)}). There are {n_draws:,} trials, from 0 to {n_draws - 1:,}. "
            f"{_OTHER_SETTINGS}"
        )
    return numbers


def check_part(split: Split, rows: Integer[np.ndarray, " n_rows"], ids: np.ndarray, place: str) -> None:
    """DataError unless the rows are just those of the test part."""
    leaked = np.intersect1d(rows, split.train)
    if len(leaked):
        raise DataError(
            f"{place}: {len(leaked):,} of {len(rows):,} rows are in its training part ({_such(ids[leaked])}), and "
            f"predictions on training rows are not a test. Give only the rows whose part is 'test'. "
            f"{_OTHER_SETTINGS}"
        )
    outside = np.setdiff1d(rows, split.test)
    if len(outside):
        raise DataError(
            f"{place}: {len(outside):,} of {len(rows):,} rows are not in its test part ({_such(ids[outside])}). Give "
            f"only the rows whose part is 'test'. {_OTHER_SETTINGS}"
        )
    missing = np.setdiff1d(split.test, rows)
    if len(missing):
        raise DataError(
            f"{place}: {len(missing):,} of the {len(split.test):,} rows of its test part have no prediction "
            f"({_such(ids[missing])}). Predict all of them, or leave the whole trial out. {_OTHER_SETTINGS}"
        )


def _such(values: Iterable[object]) -> str:
    return "such as " + ", ".join(repr(str(value)) for value in list(values)[:3])


# How robust is a model that was trained elsewhere? Its predictions on the drawn splits, counted like any trial.


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
    >>> from touchstone.core.data.tables.table import make_table
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
    >>> from touchstone.core.data.tables.table import make_table
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


# What if a file of predictions by trial holds no truth? The data set knows it: its labels join by id.


_GOLD = "gold"
_TRUTH = Roles(truth="label", id="id")


def with_labels(upload: PredictionUpload, dataset: Dataset) -> PredictionUpload:
    """The upload, with the data set's labels beside it as a second file where its own file holds no truth.

    What it then holds is all that reading it needs, so that it can be stored. Labels are given of the ids in the file
    only; where none of its ids is the data set's, all are given, and reading says how few join. Roles of the file are
    filled in as far as they can be guessed. DataError where the file cannot be read at all.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> file = GivenFile("mine.tsv", b"trial\\tid\\tlabel\\n0\\t3\\tclass_0\\n0\\t170\\tclass_0\\n")
    >>> upload = with_labels(PredictionUpload(file), load_example("wine"))
    >>> upload.truth.name, upload.read().select().accuracy
    ('wine-labels.tsv', 0.5)
    """
    said = upload.predictions
    table = read_prediction_table(said.open())
    roles = said.roles or guess_roles(table)
    if roles.has_truth and (roles.says_something or said.roles is not None):
        return upload
    labels, known = _labels(dataset, table, roles.id)
    if said.roles is None:
        said = replace(said, roles=_roles(table, known))
    return PredictionUpload(said, GivenFile(f"{dataset.name}-labels.tsv", labels, _TRUTH))


def _labels(dataset: Dataset, table: Table, id_column: str | None) -> tuple[bytes, list[str] | None]:
    """The labels as TSV and, where every row of the table has one, that of each row."""
    names = [dataset.class_names[code] for code in dataset.y]
    label_of = dict(zip(dataset.ids.astype(str).tolist(), names, strict=True))
    wanted = [] if id_column is None else table.strings(id_column)
    ids = [name for name in dict.fromkeys(wanted) if name in label_of] or list(label_of)
    content = pd.DataFrame({"id": ids, "label": [label_of[name] for name in ids]}).to_csv(sep="\t", index=False)
    complete = bool(wanted) and all(name in label_of for name in wanted)
    return content.encode(), [label_of[name] for name in wanted] if complete else None


def _roles(table: Table, labels: list[str] | None) -> Roles | None:
    """What the columns are, knowing that none is the truth; None where that has to be asked or refused.

    With the labels beside them columns are told by what they hold, too, and several are of several models.
    """
    if labels is not None:
        beside = {**table.columns, _GOLD: np.array(labels, dtype=object)}
        roles = guess_roles(Table(table.name, beside, table.lines, table.unit))
        if roles.truth == _GOLD and roles.says_something:
            return replace(roles, truth=None)
    try:
        return complete_roles(table, half="predictions")
    except DataError:  # reading the file says it, or asks
        return None
