"""Which predictions on one test set belong to which on another? Parts, tasks, models and classes of two files."""

from contextlib import suppress
from dataclasses import dataclass, fields, replace

import numpy as np
from jaxtyping import Bool

from touchstone.core.data.errors import DataError
from touchstone.core.data.predictions.record import GROUPS, Predictions, PredictionTable
from touchstone.core.data.tables.names import common_names
from touchstone.core.data.values import listed

ONLY_MODEL = "the model"
ALL = "(all)"
OTHERS = "(all others)"
MOST_PARTS = 1000
"""Of so many folds, sources or trials one can be chosen; a column of more is something else."""


@dataclass(frozen=True)
class Part:
    """Which rows of a file: a set (None: its only one), and in it a fold, source and trial (None or ALL: all).

    OTHERS are the rows that are not of the fold or source that the other side names.
    """

    set: str | None = None
    fold: str | None = None
    source: str | None = None
    trial: str | None = None


WHOLE = Part()
"""All rows of a file of one set."""


@dataclass(frozen=True, eq=False)
class PredictionPairs:
    """Predictions of every model, by the model's name, on a reference and a target set.

    A model of both has one name, that of the reference; a model of one set only stands there alone.
    """

    references: dict[str, Predictions]
    targets: dict[str, Predictions]

    @property
    def models(self) -> tuple[str, ...]:
        """The models that both sets know."""
        return tuple(name for name in self.references if name in self.targets)

    @property
    def can_match(self) -> bool:
        """Whether of any model both sets tell how sure it was."""
        both = [(self.references[name], self.targets[name]) for name in self.models]
        return any(reference.confidence is not None and target.confidence is not None for reference, target in both)


def pair_predictions(
    reference: PredictionTable,
    target: PredictionTable,
    *,
    reference_part: Part = WHOLE,
    target_part: Part = WHOLE,
    task: str | None = None,
) -> PredictionPairs:
    """Select the parts and the task, and bring together the models (`pair_models`) and the names of their classes.

    DataError where a set or task has to be named, no model has predictions on both sets, or the files have no class in
    common. Two parts that share rows of one file are refused: a set compared with itself tells nothing.

    >>> from touchstone.core.data.predictions.upload import prediction_table
    >>> from touchstone.core.data.tables import make_table
    >>> rows = [["1", "2", "3"], ["a", "b", "a"], ["a", "b", "b"], ["x", "x", "y"]]
    >>> table = prediction_table(make_table("t.tsv", ["id", "gold", "predicted", "fold"], rows, lines=[2, 3, 4]))
    >>> pairs = pair_predictions(table, table, reference_part=Part(fold=OTHERS), target_part=Part(fold="y"))
    >>> [(pairs.references[name].accuracy, pairs.targets[name].accuracy) for name in pairs.models]
    [(1.0, 0.0)]
    """
    named, left = _named_pairs(reference, target)
    if reference is target:
        _check_apart(reference, named[0][0], reference_part, target_part, task)
    references, targets = {}, {}
    for model, target_model in named:
        name = model or target_model or ONLY_MODEL
        references[name], targets[name] = _with_common_classes(
            _select(reference, model, reference_part, target_part, task),
            _select(target, target_model, target_part, reference_part, task),
        )
        if model and target_model and not same_model(model, target_model):
            names = f"{model!r} in {reference.name} and {target_model!r} in {target.name}"
            targets[name] = _warned(targets[name], f"The model is called {names}: is it the same?")
    for name in left:
        if name in reference.models:
            references[name] = _select(reference, name, reference_part, target_part, task)
        else:
            targets[name] = _select(target, name, target_part, reference_part, task)
    return PredictionPairs(_as_ensemble(references), _as_ensemble(targets))


def _as_ensemble(models: dict[str, Predictions]) -> dict[str, Predictions]:
    """The same, each with all of them beside it, where there are several."""
    if len(models) < 2:
        return models
    return {name: replace(predictions, ensemble=tuple(models.values())) for name, predictions in models.items()}


def _named_pairs(
    reference: PredictionTable, target: PredictionTable
) -> tuple[list[tuple[str | None, str | None]], list[str]]:
    """The models of both files, as each calls them (None: it names none), and those of one file only."""
    if not reference.models and not target.models:
        return [(None, None)], []
    if reference.models and target.models:
        pairs, left = pair_models(reference, target)
        if not pairs:
            raise DataError(
                f"No model has predictions on both sets: {listed(reference.models)} in {reference.name}; "
                f"{listed(target.models)} in {target.name}. Spell the models alike in both."
            )
        return list(pairs), left
    # One file names its only model, the other does not: there is nothing else that could be meant.
    known = reference.models or target.models
    if len(known) > 1:
        raise DataError(
            f"One file tells {len(known)} models apart ({listed(known)}), the other names none. "
            "Give both a column 'model', or files of one model each."
        )
    return [(next(iter(reference.models), None), next(iter(target.models), None))], []


def choices_of(table: PredictionTable) -> dict[str, tuple[str, ...]]:
    """What `Part` can name in a file, where there is more than one: sets (the largest first), folds, sources, trials.

    The largest set makes the best reference. What stands under "set" of a file of one set is nothing.

    >>> from touchstone.core.data.predictions.upload import prediction_table
    >>> from touchstone.core.data.tables import make_table
    >>> rows = [["1", "2", "3"], ["a", "b", "a"], ["a", "b", "b"], ["new", "old", "old"], ["1", "2", "1"]]
    >>> table = make_table("t.tsv", ["id", "gold", "predicted", "set", "fold"], rows, lines=[2, 3, 4])
    >>> choices_of(prediction_table(table))
    {'set': ('old', 'new'), 'fold': ('1', '2')}
    """
    model, task = next(iter(table.models), None), next(iter(table.tasks), None)
    sizes: dict[str, int] = {}
    groups: dict[str, dict[str, None]] = {group: {} for group in GROUPS}
    for name in table.sets or (None,):
        sizes[name or ""] = 0
        with suppress(DataError):  # this model says nothing about this set
            chosen = table.select(model=model, set=name, task=task)
            sizes[name or ""] = chosen.n_samples
            for group in chosen.groups.keys() & groups.keys():
                groups[group] |= dict.fromkeys(chosen.groups[group].tolist())
    sets = tuple(sorted(sizes, key=lambda name: -sizes[name]))
    chosen = {group: tuple(names) for group, names in groups.items() if 1 < len(names) <= MOST_PARTS}
    return ({"set": sets} if len(sets) > 1 else {}) | chosen


def pair_models(reference: PredictionTable, target: PredictionTable) -> tuple[list[tuple[str, str]], list[str]]:
    """Which model of one file is which of another, and the models that stand in one of them only.

    Models of the same name are the same; so are those whose paths end alike, where only one does in either file; and
    the only model of one file is paired with the only one of the other, whatever their names (`same_model` tells). A
    file that names no model has none to pair.

    >>> from touchstone.core.data.predictions.upload import prediction_table
    >>> from touchstone.core.data.tables import make_table
    >>> def file(*models):
    ...     columns = [[str(row) for row in range(2)], ["a", "b"], ["a", "a"], list(models)]
    ...     return prediction_table(make_table("t.tsv", ["id", "gold", "predicted", "model"], columns, lines=[2, 3]))
    >>> pair_models(file("here/resnet", "vit"), file("/home/me/resnet", "mlp"))
    ([('here/resnet', '/home/me/resnet')], ['vit', 'mlp'])
    """
    left, right = list(reference.models), list(target.models)
    if len(left) == len(right) == 1:
        return [(left[0], right[0])], []
    pairs = {model: model for model in left if model in right}
    pairs |= _same_ends([m for m in left if m not in pairs], [m for m in right if m not in pairs])
    rest = [model for model in left if model not in pairs] + [model for model in right if model not in pairs.values()]
    return [(model, pairs[model]) for model in left if model in pairs], rest


def _same_ends(left: list[str], right: list[str]) -> dict[str, str]:
    """The models whose paths end as that of one other does, and of no third."""
    ends = [_last(model) for model in (*left, *right)]
    alike = [(model, other) for model in left for other in right if same_model(model, other)]
    return {model: other for model, other in alike if ends.count(_last(model)) == 2}


def same_model(model: str, other: str) -> bool:
    """Whether two names, or the ends of two paths, are the same.

    >>> same_model("here/resnet", "/home/me/resnet"), same_model("resnet", "vit")
    (True, False)
    """
    return _last(model) == _last(other)


def _last(model: str) -> str:
    return model.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def _select(table: PredictionTable, model: str | None, part: Part, other: Part, task: str | None) -> Predictions:
    fold = part.fold if part.fold not in (None, ALL, OTHERS) else None
    whole = table.select(model=model, set=part.set, fold=fold, task=_task(table, task))
    rows = _rows(whole, part, other)
    if not rows.any():
        chosen = [f"{each.name} {value}" for each in fields(part) if (value := getattr(part, each.name)) is not None]
        raise DataError(f"{table.name}: there is not a single row of {', '.join(chosen)}. Choose others.")
    return _told_of_trials(whole if rows.all() else whole.take(rows))


def _rows(whole: Predictions, part: Part, other: Part) -> Bool[np.ndarray, " n_samples"]:
    """Which rows of a whole set are of a part of it."""
    rows = np.ones(whole.n_samples, dtype=bool)
    for group in GROUPS:
        name, against = getattr(part, group), getattr(other, group)
        if name in (None, ALL):
            continue
        if group not in whole.groups:
            raise DataError(f"{whole.name}: the file does not tell {group}s apart. Give it a column '{group}'.")
        if name != OTHERS:
            rows &= whole.groups[group] == name
        elif against in (None, ALL, OTHERS):
            raise DataError(f"Which {group} are all others compared with? Choose one {group} on the other side.")
        else:
            rows &= whole.groups[group] != against
    return rows


def _with_common_classes(reference: Predictions, target: Predictions) -> tuple[Predictions, Predictions]:
    """Both with one spelling of each class, as within a file; DataError where they have no class in common."""
    if reference.class_names == target.class_names:
        return reference, target
    common = common_names(reference.class_names, target.class_names)
    if common is None:
        raise DataError(
            f"No class of one file is a class of the other: {listed(reference.class_names)} in {reference.name}; "
            f"{listed(target.class_names)} in {target.name}. Spell the classes alike in both files."
        )
    names, how = common
    note = (f"Class names of {reference.name} and {target.name} were matched {how}.",) if how else ()
    return (
        replace(reference, class_names=tuple(names[name] for name in reference.class_names)),
        replace(target, class_names=tuple(names[name] for name in target.class_names), notes=(*target.notes, *note)),
    )


def _warned(predictions: Predictions, warning: str) -> Predictions:
    return replace(predictions, warnings=(*predictions.warnings, warning))


def _check_apart(table: PredictionTable, model: str | None, part: Part, other: Part, task: str | None) -> None:
    """DataError where two parts of a file share rows."""
    if part.set != other.set:
        return
    whole = table.select(model=model, set=part.set, task=_task(table, task))
    shared = int((_rows(whole, part, other) & _rows(whole, other, part)).sum())
    if part == other:
        raise DataError(
            "Both test sets are the same. Choose another file, or another part of this file, as the new set."
        )
    if shared:
        raise DataError(
            f"{shared:,} rows of {table.name} are in both test sets, so they would be compared with themselves. "
            f"Choose parts that share none, such as {OTHERS!r} as the reference."
        )


def _told_of_trials(predictions: Predictions) -> Predictions:
    """With a warning where samples stand in it once per trial."""
    trials = predictions.groups.get("trial")
    if trials is None or len(set(predictions.ids.tolist())) == predictions.n_samples:
        return predictions
    warning = "Samples occur several times, once per trial, so intervals are too narrow. Choose one trial."
    return _warned(predictions, warning)


def _task(table: PredictionTable, task: str | None) -> str | None:
    """A file that tells no tasks apart is about the one that is asked for."""
    return task if table.tasks else None
