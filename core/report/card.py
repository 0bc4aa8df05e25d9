"""What was understood of somebody's file? A card, before anything counts: rows, classes, accuracy, roles, what is odd.

Every door shows the same one; the command `read` prints it, for people and as JSON with keys that stay.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from touchstone.core.data.dataset import Dataset, duplicate_groups
from touchstone.core.data.errors import DataError, Oddity, RolesNeeded
from touchstone.core.data.limits import File, file_name
from touchstone.core.data.predictions.guess import said_of_predictions
from touchstone.core.data.predictions.record import Predictions, PredictionTable
from touchstone.core.data.predictions.roles import ONE_EACH, Roles
from touchstone.core.data.predictions.shapes import read_prediction_table
from touchstone.core.data.predictions.upload import join_predictions, prediction_table
from touchstone.core.data.tables.datasets import name_of, open_table, read_dataset, table_dataset
from touchstone.core.data.tables.names import TRUTH_LIKELY, called
from touchstone.core.data.tables.roles import (
    SINGLE,
    DatasetRoles,
    FileReading,
    guess_dataset_roles,
    propose_roles,
    role_reasons,
    said_roles,
)
from touchstone.core.data.tables.table import Table
from touchstone.core.evaluate.data_sets import label_counts
from touchstone.core.evaluate.leaks import leaks
from touchstone.core.evaluate.metric_estimates import estimate, scored_as
from touchstone.core.evaluate.metrics import ACCURACY, METRICS
from touchstone.core.evaluate.units import design_of, design_of_units
from touchstone.core.evaluate.wording import count, listed, percent, plural

Kind = Literal["predictions", "data set"]
KINDS: dict[str, str] = {"tabular": "table", "text": "text", "image": "images"}
"""What kinds of data are called on a card."""
ROLES = tuple(dict.fromkeys((*ONE_EACH, *SINGLE)))
"""The roles that are one column or word each, of either kind of file."""
EACH_ROW = "row"
MOST_OFFERED, MOST_ASKED = 3, 8
_READ = TypeVar("_READ")


@dataclass(frozen=True)
class Asked:
    """A question that is open: `choices` are its likeliest answers, the first likeliest, of `n_choices` in all.

    `answer` is how the command says the first of them.
    """

    role: str
    text: str
    choices: tuple[str, ...]
    n_choices: int
    answer: str


@dataclass(frozen=True)
class Card:
    """What was understood of a file; what cannot be known before a question is answered is empty.

    `n` of `n_given` rows are used. `accuracy` is one number, or one by model, set or task where the file tells several;
    `interval` (95 %) and `baseline` (the majority class) are of one number alone. `unit` is what was sampled
    independently. `roles` are columns by role, with `reasons`. `features` are the columns that a data set learns from,
    or, beside predictions, could. `refused` says why nothing could be read.
    """

    file: str
    read_as: Kind | None = None
    n: int | None = None
    n_given: int | None = None
    classes: tuple[str, ...] = ()
    accuracy: float | Mapping[str, float] | None = None
    interval: tuple[float, float] | None = None
    baseline: float | None = None
    metric: str | None = None
    unit: str | None = None
    roles: Mapping[str, Any] | None = None
    reasons: Mapping[str, str] | None = None
    features: tuple[str, ...] = ()
    label: str | None = None
    kind_of_data: str | None = None
    tasks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    warnings: tuple[Oddity, ...] = ()
    questions: tuple[Asked, ...] = ()
    refused: str | None = None

    @property
    def status(self) -> int:
        """The exit status of a command that read it: 0, 3 where a question is open, 2 where it was refused."""
        return 2 if self.refused else 3 if self.questions else 0

    def to_json(self) -> dict[str, Any]:
        """All of it, by keys that stay; each warning with its `code`, `count`, `share`, `options` and `text`."""
        content = {key: value for key, value in self.__dict__.items() if key not in ("warnings", "questions")}
        warnings = [
            {"code": odd.code, "count": odd.count, "share": odd.share, "options": list(odd.options), "text": str(odd)}
            for odd in self.warnings
        ]
        return {**content, "warnings": warnings, "questions": [asdict(asked) for asked in self.questions]}

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """It in five lines for people, and a line for each thing that is odd or open.

        >>> card = Card("t.csv", "predictions", 75, 100, ("a", "b"), 0.76, (0.65, 0.84), 0.6, "accuracy", EACH_ROW)
        >>> card.lines()[:2]
        ['t.csv: 75 of 100 rows used, as predictions. 2 classes: a and b.', 'Accuracy 76.0 % [65.0, 84.0]; always ...']
        """
        if self.refused:
            return [f"{self.file}: not read. {self.refused}"]
        lines = [f"{self.file}: {self.in_short[0]}", *self.in_short[1:]]
        if self.roles:
            why = {role: f" ({reason})" for role, reason in (self.reasons or {}).items()}
            of_roles = [f"{role} {_shown(value)}{why.get(role, '')}" for role, value in self.roles.items()]
            lines.append(f"Columns: {'; '.join(of_roles)}.")
        if self.unit:
            lines.append(f"Unit: each {self.unit}, taken to be sampled independently.")
        if self.read_as == "data set" and self.features:
            lines.append(f"Features: {listed(self.features)}.")
        odd = [f"Odd: {text}" for text in self.warnings]
        return [*lines, *odd, *(f"Open: {asked.text} Likeliest: {asked.answer}" for asked in self.questions)]

    @property
    def in_short(self) -> list[str]:
        """Rows and classes, and the accuracy with its baseline."""
        return [f"{self._rows()}. {self._classes()}".strip(), *self._accuracy()]

    def _rows(self) -> str:
        used = (
            "nothing used yet" if self.n is None else f"{count(self.n)} of {plural(self.n_given or self.n, 'row')} used"
        )
        return f"{used}, as {self.read_as}" if self.read_as else used

    def _classes(self) -> str:
        return f"{plural(len(self.classes), 'class', 'classes')}: {listed(self.classes)}." if self.classes else ""

    def _accuracy(self) -> list[str]:
        if isinstance(self.accuracy, Mapping):
            return [f"Accuracy: {listed([f'{name} {percent(value)}' for name, value in self.accuracy.items()])}."]
        always = "" if self.baseline is None else f"always guessing the largest class: {percent(self.baseline)}."
        if self.accuracy is None:
            return [f"No predictions; {always}"] if always else []
        ends = "" if self.interval is None else f" [{100 * self.interval[0]:.1f}, {100 * self.interval[1]:.1f}]"
        return [f"Accuracy {percent(self.accuracy)}{ends}; {always}"]


def _shown(value: Any) -> str:
    """A role's column or word, or what each of several is of."""
    if not isinstance(value, (list, tuple)):
        return repr(value)
    names = [each["name"] if isinstance(each, dict) else each if isinstance(each, str) else each[0] for each in value]
    return listed(names)


# What is on the card of each kind of file?


def card_of_predictions(table: PredictionTable, *, file: str, n_given: int, columns: Table | None = None) -> Card:
    """The card of a file of predictions that was read; `columns` are those of the file itself.

    >>> from touchstone.core.data.tables.table import make_table
    >>> rows = make_table("t.csv", ["gold", "predicted"], [["a", "b", "a"], ["a", "b", "b"]], lines=[2, 3, 4])
    >>> card = card_of_predictions(prediction_table(rows), file="t.csv", n_given=3)
    >>> card.n, card.classes, round(card.accuracy, 3), card.roles
    (3, ('a', 'b'), 0.667, {'truth': 'gold', 'predicted': 'predicted'})
    """
    several = _all_parts(table)
    first = next(iter(several.values()))
    accuracies = {name: each.accuracy for name, each in several.items()}
    return Card(
        file,
        "predictions",
        n=table.n_used,
        n_given=n_given,
        classes=table.class_names or first.class_names,
        **(_judged(first) if len(several) == 1 else {"accuracy": accuracies}),
        metric=ACCURACY,
        unit=EACH_ROW if first.units is None else first.unit_word,
        roles=_said(table.roles),
        reasons=dict(table.roles.why),
        features=() if columns is None else _features(columns, table.roles),
        label=table.roles.truth,
        tasks=table.tasks,
        notes=table.notes,
        warnings=table.warnings,
    )


def _all_parts(table: PredictionTable) -> dict[str, Predictions]:
    """What every model said of every set and task that it has rows of, by the names that tell these apart."""
    kinds = {"model": table.models, "set": table.sets, "task": table.tasks}
    there = {}
    for names in product(*(each or (None,) for each in kinds.values())):
        named = [name for name, each in zip(names, kinds.values(), strict=True) if name is not None and len(each) > 1]
        with suppress(DataError):  # not every model has rows of every set
            there[" · ".join(named)] = table.select(**dict(zip(kinds, names, strict=True)))
    return there


def _judged(predictions: Predictions) -> dict[str, Any]:
    """Accuracy, its interval over units, and the baseline."""
    design = design_of_units(predictions.units, predictions.unit_word)
    made = estimate(METRICS[ACCURACY], scored_as(predictions, predictions.class_names), design)
    ends = (made.interval.lower, made.interval.upper)
    interval = None if any(map(np.isnan, ends)) else ends
    baseline = None if made.baseline is None else float(made.baseline)
    return {"accuracy": predictions.accuracy, "interval": interval, "baseline": baseline}


def _said(roles: Roles) -> dict[str, Any]:
    """The roles as they are given again."""
    return {name: value for name, value in json.loads(roles.to_json()).items() if name != "touchstone"}


def _features(columns: Table, roles: Roles) -> tuple[str, ...]:
    """The columns of numbers that are left beside predictions: what a data set of this file would learn from."""
    if roles.truth not in columns.columns:
        return ()
    taken = {role: getattr(roles, role) for role in ("id", "source") if getattr(roles, role) in columns.columns}
    try:
        guess = guess_dataset_roles(columns, kind="tabular", roles=DatasetRoles(label=roles.truth, **taken))
    except DataError:
        return ()
    return tuple(column for column in guess.features if column not in roles.columns)


def card_of_dataset(dataset: Dataset, *, file: str, n_given: int, table: Table | None = None) -> Card:
    """The card of a data set that was read from a file; `table` is what it was read of.

    >>> from touchstone.core.data import load_example
    >>> card = card_of_dataset(load_example("wine"), file="wine", n_given=178)
    >>> card.n, card.kind_of_data, card.unit, round(card.baseline, 3)
    (178, 'table', 'row', 0.399)
    """
    largest = label_counts(dataset.y, dataset.class_names, design_of(dataset)).largest
    roles = None if dataset.read_as is None else FileReading.from_json(dataset.read_as).roles
    said = {} if roles is None else {role: value for role, value in asdict(roles).items() if value}
    return Card(
        file,
        "data set",
        n=dataset.n_samples,
        n_given=n_given,
        classes=dataset.class_names,
        baseline=largest.share,
        metric=ACCURACY,
        unit=EACH_ROW if dataset.unit_codes is None else dataset.unit_word,
        roles=said,
        reasons={} if roles is None or table is None else role_reasons(table, roles),
        features=tuple(dataset.feature_names),
        label=None if roles is None else roles.label,
        kind_of_data=KINDS[dataset.kind],
        notes=tuple(note for note in dataset.notes if not isinstance(note, Oddity)),
        warnings=(
            *(note for note in dataset.notes if isinstance(note, Oddity)),
            *leaks(dataset, duplicate_groups(dataset)),
        ),
    )


# How is a file read to its card? As predictions where it holds what a model said, else as a data set.


@dataclass(frozen=True)
class Given:
    """What somebody says of a file: the truth in a file of its own, what it is, values by role; and what they accept.

    `accept` takes the likeliest answer to every question.
    """

    truth: File | None = None
    read_as: Kind | None = None
    said: Mapping[str, str] = field(default_factory=dict)
    accept: bool = False

    @property
    def meant(self) -> Kind | None:
        """What a file is that has such roles; None where they tell nothing."""
        if self.said.keys() & ({*SINGLE} - {*ONE_EACH}):
            return "data set"
        return "predictions" if self.said.keys() & ({*ONE_EACH} - {*SINGLE}) else None


def read_card(file: File, given: Given = Given()) -> Card:
    """The card of a file, given by its path or open for reading bytes. It never raises for what a file holds.

    >>> import io
    >>> file = io.BytesIO(b"id,gold,predicted\\n1,cat,cat\\n2,dog,\\n3,dog,dog\\n")
    >>> file.name = "pets.csv"
    >>> card = read_card(file)
    >>> card.status, card.questions[0].role, card.questions[0].choices
    (3, 'unanswered', ('wrong', 'left out', 'of their own'))
    """
    name = file_name(file)
    try:
        read_as = given.read_as or given.meant
        if given.truth is not None or read_as == "predictions":
            return _predictions_card(file, given)
        if read_as is None and (card := _if_predictions(file, given)) is not None:
            return card
        return _dataset_card(file, given)
    except DataError as problem:
        return Card(name, given.read_as, refused=str(problem))


def _if_predictions(file: File, given: Given) -> Card | None:
    """The card of a file that holds what a model said, whatever is open about it; None of any other."""
    try:
        says = _predictions_card(file, replace(given, accept=False)).roles or {}
        _rewind(file)
        if not {"predicted", "confidence", "probabilities", "vector", "parts"} & says.keys():
            return None
        return _predictions_card(file, given)
    except DataError:
        return None
    finally:
        _rewind(file)


def _rewind(file: File) -> None:
    if not isinstance(file, (str, Path)):
        file.seek(0)


def _predictions_card(file: File, given: Given) -> Card:
    table, name = read_prediction_table(file), file_name(file)
    known = None if given.truth is None else read_prediction_table(given.truth)
    asked: list[RolesNeeded] = []
    roles = said_of_predictions(table, given.said) if given.said else None

    def read(roles: Roles | None) -> PredictionTable:
        if known is None:
            return prediction_table(table, roles=roles)
        return join_predictions(known, table, roles=roles)

    made = _answered(read, roles, given, asked, partial(_with_answer, table=known or table))
    if made is not None:
        return card_of_predictions(made, file=name, n_given=table.n_rows, columns=table)
    needed = asked[-1]
    guess = needed.guess or Roles()
    return Card(
        name,
        "predictions",
        n_given=table.n_rows,
        roles=_said(guess),
        reasons=dict(guess.why),
        label=guess.truth,
        questions=(_question(needed, table if known is None else known),),
    )


def _dataset_card(file: File, given: Given) -> Card:
    table, name = open_table(file), file_name(file)
    _rewind(file)
    if table is None:
        dataset = read_dataset(file)
        return card_of_dataset(dataset, file=name, n_given=dataset.n_samples)
    asked: list[RolesNeeded] = []
    roles = said_roles(table, given.said) if given.said else None

    def read(roles: DatasetRoles | None) -> Dataset:
        return table_dataset(table, name=name_of(name), roles=roles)

    made = _answered(read, roles, given, asked, partial(_with_answer, table=table))
    if made is not None:
        return card_of_dataset(made, file=name, n_given=table.n_rows, table=table)
    needed, guess = asked[-1], asked[-1].guess or DatasetRoles()
    return Card(
        name,
        "data set",
        n_given=table.n_rows,
        roles={role: value for role, value in asdict(guess).items() if value},
        features=guess.features,
        label=guess.label,
        kind_of_data=KINDS[guess.kind] if guess.has_inputs else None,
        questions=(_question(needed, table),),
    )


def _answered(
    read: Callable[[Any], _READ],
    roles: Any,
    given: Given,
    asked: list[RolesNeeded],
    answer: Callable[[RolesNeeded], Any],
) -> _READ | None:
    """What reading gives, every question answered the likeliest way where that is accepted; None where one is open."""
    while len(asked) < MOST_ASKED:
        try:
            return read(roles)
        except RolesNeeded as needed:
            asked.append(needed)
            if not given.accept:
                return None
            roles = answer(needed)
    return None


def _with_answer(needed: RolesNeeded, *, table: Table) -> Any:
    """The roles with the likeliest answer to a question."""
    guess, role = needed.guess, str(needed.role)
    if role == "classes" or (role != "join" and getattr(guess, role, None)):
        return guess
    return replace(guess, **{role: _likeliest(needed, table)[0]})


def _question(needed: RolesNeeded, table: Table) -> Asked:
    role, choices = str(needed.role), _likeliest(needed, table)
    answer = f"--{role}={choices[0]}" if choices else f"--{role}"
    if role == "classes":
        pairs = needed.guess.classes
        choices = [", ".join(f"{label} for {name}" for label, name in pairs)] if pairs else []
        answer = "--accept=all"
    return Asked(role, needed.question, tuple(choices[:MOST_OFFERED]), len(needed.choices), answer)


def _likeliest(needed: RolesNeeded, table: Table) -> list[str]:
    """The choices of a question, the likeliest first; of columns those that may hold what is asked for."""
    role, choices = str(needed.role), list(needed.choices)
    first = getattr(needed.guess, role, None) if role not in ("classes", "parts") else None
    if role in ("truth", "label", "predicted", "text"):
        choices = _likely_columns(needed, table, choices, role)
    return list(dict.fromkeys([*([first] if isinstance(first, str) else []), *choices]))


def _likely_columns(needed: RolesNeeded, table: Table, columns: Sequence[str], role: str) -> list[str]:
    """Columns that may be a label, those called so and those of the fewest values first; of texts those that are."""
    there = [column for column in columns if column in table.columns]
    if role == "text":
        return sorted(there, key=lambda column: not table.is_text(column))
    taken = {*needed.guess.columns} if needed.guess is not None else set()
    labels = [
        column for column in there if column not in taken and table.is_label(column) and table.n_different(column) > 1
    ]
    try:
        proposed = propose_roles(table).roles.label
    except DataError:
        proposed = None
    likely = called(labels, TRUTH_LIKELY)
    return sorted(
        labels or there, key=lambda column: (column not in likely, column != proposed, table.n_different(column))
    )
