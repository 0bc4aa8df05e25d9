"""Which predictions on one test set belong to which on another? Sets, tasks and models of two files, in pairs."""

from dataclasses import dataclass

from core.data.errors import DataError
from core.data.joins import pair_models
from core.data.prediction_table import PredictionTable
from core.data.predictions import Predictions
from core.data.roles import listed

ONLY_MODEL = "the model"


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


def pair_predictions(
    reference: PredictionTable,
    target: PredictionTable,
    *,
    reference_set: str | None = None,
    target_set: str | None = None,
    task: str | None = None,
) -> PredictionPairs:
    """Select the sets and the task, and bring the models together (`pair_models`).

    DataError where a set or task has to be named, or no model has predictions on both sets. Two selections of the same
    rows are refused: a set compared with itself tells nothing.

    >>> from core.data.prediction_table import prediction_table
    >>> from core.data.tables import make_table
    >>> rows = [["1", "2", "3"], ["a", "b", "a"], ["a", "b", "b"], ["old", "old", "new"]]
    >>> table = prediction_table(make_table("t.tsv", ["id", "gold", "predicted", "set"], rows, lines=[2, 3, 4]))
    >>> pairs = pair_predictions(table, table, reference_set="old", target_set="new")
    >>> [(pairs.references[name].accuracy, pairs.targets[name].accuracy) for name in pairs.models]
    [(1.0, 0.0)]
    """
    if reference is target and reference_set == target_set:
        raise DataError(
            "Both test sets are the same. Choose another file, or another set of this file, as the new set."
        )
    if not reference.models and not target.models:
        named: list[tuple[str | None, str | None]] = [(None, None)]
        left: list[str] = []
    elif not reference.models or not target.models:
        # One file names its only model, the other does not: there is nothing else that could be meant.
        known = reference.models or target.models
        if len(known) > 1:
            raise DataError(
                f"One file tells {len(known)} models apart ({listed(known)}), the other names none. "
                "Give both a column 'model', or files of one model each."
            )
        named, left = [(next(iter(reference.models), None), next(iter(target.models), None))], []
    else:
        pairs, left = pair_models(reference, target)
        named = list(pairs)
    if not named:
        raise DataError(
            f"No model has predictions on both sets: {listed(reference.models)} in {reference.name}; "
            f"{listed(target.models)} in {target.name}. Spell the models alike in both."
        )
    references, targets = {}, {}
    for one, other in named:
        name = one or other or ONLY_MODEL
        references[name] = reference.select(model=one, set=reference_set, task=_task(reference, task))
        targets[name] = target.select(model=other, set=target_set, task=_task(target, task))
    for name in left:
        if name in reference.models:
            references[name] = reference.select(model=name, set=reference_set, task=_task(reference, task))
        else:
            targets[name] = target.select(model=name, set=target_set, task=_task(target, task))
    return PredictionPairs(references, targets)


def _task(table: PredictionTable, task: str | None) -> str | None:
    """A file that tells no tasks apart is about the one that is asked for."""
    return task if table.tasks else None


def sets_by_size(table: PredictionTable) -> tuple[str, ...]:
    """The test sets of a file, the largest first: that one makes the best reference.

    >>> from core.data.prediction_table import prediction_table
    >>> from core.data.tables import make_table
    >>> rows = [["1", "2", "3"], ["a", "b", "a"], ["a", "b", "b"], ["new", "old", "old"]]
    >>> sets_by_size(prediction_table(make_table("t.tsv", ["id", "gold", "predicted", "set"], rows, lines=[2, 3, 4])))
    ('old', 'new')
    """
    model, task = next(iter(table.models), None), next(iter(table.tasks), None)
    sizes = {}
    for name in table.sets:
        try:
            sizes[name] = table.select(model=model, set=name, task=task).n_samples
        except DataError:  # this model says nothing about this set
            sizes[name] = 0
    return tuple(sorted(sizes, key=lambda name: -sizes[name]))
