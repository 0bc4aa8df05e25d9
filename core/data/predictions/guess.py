"""How is it seen what each column of a file of predictions is? Names that decide come first, then values that hint.

A step takes a `Reading` and gives one with more roles, each with its reason (`Roles.why`), or the same. `STEPS` is
their order, and says of each where its question is open. Where truth or predictions were not found, it asks or refuses.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from touchstone.core.data.errors import DataError, RolesNeeded
from touchstone.core.data.predictions.roles import (
    APART,
    BY_NAME,
    BY_VALUES,
    LIKELY,
    SHARED,
    Half,
    Reading,
    Roles,
    find_scores,
)
from touchstone.core.data.predictions.shapes import ONE_LABEL, parts_by_name, parts_by_value, several_labels
from touchstone.core.data.tables import names as naming
from touchstone.core.data.tables.sources import may_be_unit
from touchstone.core.data.tables.table import Table
from touchstone.core.data.values import listed, numbers_in, percent, quoted

# What has to be asked about a file of predictions, or refused, where what it says can be read in several ways?
#
# Its truth or its predictions were not found, or the names of classes in both have nothing in common.

_SAYING = {name for role in ("truth", "predicted", "confidence") for name in naming.NAMES[role]}.union(
    naming.TRUTH_LIKELY, naming.PREDICTED_LIKELY, naming.SCORE_LIKELY, ("out", "probs", "probabilities", "logits")
)
"""Names of columns that say what is or was predicted: with several values in a cell they have to be refused."""
_MOST_GUESSED = 50  # classes up to which a mapping between names is guessed
_OF_LABELS = re.compile(r"label|gold|truth", re.IGNORECASE)


def no_truth(reading: Reading) -> DataError:
    """The question which column holds the truth, or the refusal where none can."""
    table = reading.table
    names = {*naming.NAMES["truth"], *naming.TRUTH_LIKELY}.difference(naming.ALSO_OTHERS)
    if refusal := next(_several(reading, names), None) or several_labels(table):
        return refusal
    if reading.names_prediction:
        return _ask(
            reading,
            f"column {reading.names_prediction!r} looks like the prediction, not the truth: it says what the scores "
            "say, or nothing else does. Which column holds the truth? If none does, give the truth in a second file.",
            "truth",
        )
    likely = _with_labels(reading)
    if len(likely) == 1 and not reading.roles.says_something:
        return _ask(
            reading,
            f"column {likely[0]!r} holds labels. Is it the truth, or is it the prediction? Say so below, and give the "
            "other in a second file.",
            "truth",
        )
    if likely and not reading.roles.parts:
        return _ask(reading, f"which column holds the truth? The columns are {listed(table.columns)}.", "truth")
    return DataError(
        f"{table.name}: no column holds the truth. The columns are {listed(table.columns)}.{_not_read(table)} Add a "
        "column such as 'gold' with the true labels, or give them in a second file."
    )


def _with_labels(reading: Reading) -> list[str]:
    """The free columns of two labels or more, further ranks of a top-k file aside."""
    unranked = [column for column in reading.free if (naming.ranked(column) or (1,))[0] == 1]
    labels = filter(reading.table.is_label, unranked)
    return [column for column in labels if len(set(reading.table.spelled(column))) > 1]


def _not_read(table: Table) -> str:
    """A sentence on columns that cannot be labels, since each cell holds several values; none where there are none."""
    several = [column for column in table.columns if table.kind(column) == "several"]
    return f" Cells with several values are not read: those of {listed(several)}." if several else ""


def no_prediction(reading: Reading) -> DataError:
    """The question which column holds what the model predicted, or the refusal where none can."""
    table = reading.table
    if refusal := next(_several(reading, _SAYING), None):
        return refusal
    if any(table.is_label(column) or table.kind(column) == "fraction" for column in reading.free):
        asked = f"which column holds what the model predicted? The columns are {listed(table.columns)}."
        return _ask(reading, asked, "predicted")
    truth = reading.roles.truth
    known = f"There is a truth (column {truth!r})" if truth else "There are labels"
    asked, missing = "", "predictions"
    if dict(reading.roles.why).get("truth") == LIKELY:
        asked, missing = " Or is it the prediction?", "predictions, or the truth,"
    return DataError(
        f"{table.name}: no column holds what a model predicted. {known}, but neither a predicted label nor scores "
        f"beside it; the columns are {listed(table.columns)}.{_not_read(table)}{asked} Add a column such as "
        f"'predicted', or give the {missing} in a second file."
    )


def _ask(reading: Reading, question: str, role: str) -> RolesNeeded:
    table = reading.table
    return RolesNeeded(f"{table.name}: {question}", reading.roles, tuple(table.columns), role)


def _several(reading: Reading, names: Collection[str]) -> Iterator[DataError]:
    """The refusals of columns of such names whose cells hold lists that are no scores, or vectors that are not whole.

    Columns of lists and objects that are called otherwise are nobody's concern, and named where something is missing.
    """
    for column in reading.free:
        is_called_so = naming.compact(column) in names or _OF_LABELS.search(column)
        if reading.table.kind(column) != "several" or not is_called_so:
            continue
        cells = reading.table.columns[column]
        row = next((row for row, cell in enumerate(cells.tolist()) if _is_several(cell)), 0)
        place = f"{reading.table.place(row)}: column {column!r} holds {quoted(cells[row])}"
        if isinstance(cells[row], str) and "..." in cells[row]:
            remedy = "Write all of it, with .tolist() or np.set_printoptions(threshold=sys.maxsize)."
            yield DataError(f"{place}, a vector that was cut short in printing. {remedy}")
        elif isinstance(cells[row], dict):
            yield DataError(f"{place}, neither a label nor scores. Give a mapping from label to score, or columns.")
        else:
            yield DataError(f"{place}, several labels in one row. {ONE_LABEL}")


def _is_several(cell: Any) -> bool:
    """Whether a cell is no list of numbers with a single 1."""
    numbers = numbers_in(cell)
    return not isinstance(numbers, list) or sum(number == 1 for number in numbers) != 1


def stands_twice(table: Table, places: tuple[int, int], ids: Sequence[str], within: str) -> DataError:
    """The refusal of an id that two rows have (`first_repeat`), `within` what else is the same in both."""
    return DataError(
        f"{table.twice(places, f'id {ids[places[1]]!r}')}{within}. Each must stand once: delete one of the two rows, "
        "choose another id column, or say which column tells models, sets, tasks or trials apart."
    )


def other_names(known: set[str], predicted: Sequence[str], guess: Roles, truth_place: str) -> RolesNeeded:
    """Which class each predicted name stands for, since none of them is a true one; `guess` is the likeliest answer."""
    names = naming.class_order(known)
    return RolesNeeded(
        f"{truth_place} says {listed(names)}, the predictions say {listed(predicted)}. "
        "Which predicted name stands for which class?",
        guess,
        names,
        "classes",
    )


def codes_apart(
    truth: Sequence[str], labels: Sequence[str], predicted: Sequence[str], roles: Roles, truth_place: str
) -> RolesNeeded:
    """Whether codes stand for the same codes, or for those that are one higher or lower; the latter is likelier."""
    known = set(truth)
    step = min(map(int, known)) - min(map(int, predicted))
    return RolesNeeded(
        f"{truth_place} says {listed(naming.class_order(known))}, the predictions say {listed(predicted)}, as if one "
        f"of them counted from 1. {_as_counted(truth, labels, step)}Which predicted name stands for which class?",
        replace(roles, classes=tuple((name, str(int(name) + step)) for name in predicted)),
        naming.class_order({*known, *predicted, *(str(int(name) + step) for name in predicted)}),
        "classes",
    )


def _as_counted(truth: Sequence[str], labels: Sequence[str], step: int) -> str:
    """In how many rows codes agree if they are moved, and as they stand."""
    if not labels:
        return ""
    pairs = list(zip(truth, labels, strict=True))
    as_they_stand, moved = (np.mean([int(a) == int(b) + by for a, b in pairs]) for by in (0, step))
    return f"Moved by one, {percent(moved)} of {len(pairs):,} rows agree; as they stand, {percent(as_they_stand)}. "


def likeliest_names(
    truth: Sequence[str], predicted: Sequence[str] | None, proba_names: Sequence[str], proba: np.ndarray | None
) -> tuple[tuple[str, str], ...]:
    """The one-to-one mapping under which most rows would be correct: a guess to confirm."""
    from scipy.optimize import linear_sum_assignment

    labels = predicted
    if labels is None and proba is not None:
        labels = [proba_names[code] for code in proba.argmax(axis=1)]
    true_names = naming.class_order(truth)
    answers = naming.class_order({*(labels or ()), *proba_names})
    if labels is None or max(len(answers), len(true_names)) > _MOST_GUESSED:
        return ()
    counts = np.zeros((len(answers), len(true_names)))
    np.add.at(counts, (naming.codes_of(labels, answers), naming.codes_of(truth, true_names)), 1)
    return tuple((answers[a], true_names[b]) for a, b in zip(*linear_sum_assignment(-counts), strict=True))


# What is each column? Step by step: names that decide come first, then values that hint.


_LONGEST_NAME, _MOST_WORDS = 200, 2  # letters, and words: three or more are a text
_ROWS = ("model", "task", "trial", "set", "fold", "source")
_RESAMPLE = re.compile(r"(fold|resample|bootstrap|repeat)[ _.]?\d+([ _.](fold|rep)\d+)?", re.IGNORECASE)
_MANY = 10  # rows, from which on one value for all is no id that stands several times
_OF_TARGET = (  # how tools call a prediction, the confidence in it, and the truth after the column they learned from
    (r"prediction ?\((?P<target>.+)\)", r"prediction ?\({}\) ?\(confidence\)", "{}"),
    (r"\$[A-Z]-(?P<target>.+)", r"\$[A-Z]C-{}", "{}"),
    (r"I_(?P<target>.+)", "", "F_{}"),
    (r"_INTO_(?P<target>)", "", "_FROM_"),
    (r"(?P<target>.+)_pred(?:ict(?:ion|ed))?", "", "{}_orig"),
    (r"(?P<target>.+)_pred(?:ict(?:ion|ed))?", "", "{}"),
    (r"pred(?:icted)?_(?P<target>.+)", "", "{}"),
)


def guess_roles(table: Table, *, half: Half | None = None) -> Roles:
    """Say what each column is; `why` of the roles (and their `lines()`) tell how sure that is.

    `half` says that the table holds only the truth, or only the predictions, of two files. What cannot be decided stays
    None; reading the predictions then asks for it (RolesNeeded).

    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("t.tsv", ["id", "label", "prediction"], [["a", "b"], ["x", "y"], ["x", "x"]], lines=[2, 3])
    >>> guess_roles(table).lines()
    ["Truth: column 'label' (likely, by its name and what else is there)",
     "Predicted label: column 'prediction' (likely, by its name and what else is there)",
     "Id: column 'id' (by its name)"]
    """
    return _read(table, half).roles


def said_of_predictions(table: Table, words: Mapping[str, str]) -> Roles:
    """What somebody said of a file of predictions, by role, and what names or divides its rows guessed beside that.

    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("t.tsv", ["id", "what", "said"], [["a", "b"], ["x", "y"], ["x", "x"]], lines=[2, 3])
    >>> roles = said_of_predictions(table, {"truth": "what", "predicted": "said"})
    >>> roles.id, roles.truth
    ('id', 'what')
    """
    guess = guess_roles(table).by_role(SHARED)
    kept = {role: column for role, column in guess.items() if column not in words.values()}
    return Roles(**{**kept, **words})


def complete_roles(table: Table, roles: Roles | None = None, *, half: Half | None = None) -> Roles:
    """The roles to read a table with: guessed, or given and, where they lack truth or predictions, completed.

    `half` says that the table holds only the truth, or only the predictions, of two files. RolesNeeded asks what could
    not be decided; DataError where it can never be, because nothing could be the truth, or what a model said.
    """
    if roles is not None:
        roles.check(table)
        if _is_enough(roles, half):
            return roles
    reading = _read(table, half, roles)
    # A file that should hold the truth may only tell how its rows are divided, which is worth joining too.
    divides = half == "truth" and any((reading.roles.set, reading.roles.fold, reading.roles.source))
    if half != "predictions" and not reading.roles.has_truth and not divides:
        raise no_truth(reading)
    if half != "truth" and not reading.roles.says_something:
        raise no_prediction(reading)
    return reading.roles


def _is_enough(roles: Roles, half: Half | None) -> bool:
    """Whether nothing needs to be guessed beside roles that were given."""
    if roles.has_truth and roles.says_something:
        return True
    return half is not None and bool(roles.columns) and (roles.has_truth or roles.says_something or half == "truth")


def _read(table: Table, half: Half | None, given: Roles | None = None) -> Reading:
    """The roles, one kind of reason after the other, as long as columns are left that have none."""
    reading = Reading(table, half, given or Roles())
    for step in STEPS if given is None else STEPS[1:]:
        if reading.free and step.is_open(reading):
            reading = step.answer(reading)
    return reading


def name_rows(reading: Reading) -> Reading:
    """Which columns name rows, or divide them into models, sets, folds and such? All of it by name."""
    for role in _ROWS:
        if columns := reading.naming(naming.NAMES[role]):
            reading = reading.take(BY_NAME, **{role: columns[0]})
    units = naming.called(reading.free, naming.NAMES["unit"])
    if (column := next(filter(partial(may_be_unit, reading.table), units), None)) is not None:
        reading = reading.take(BY_NAME, unit=column)
    for column in filter(partial(_is_resample, reading.table), reading.free):
        if reading.roles.fold is None:
            reading = reading.take(BY_VALUES, fold=column)
    for column in naming.called(reading.free, naming.NAMES["split"]):
        role = "fold" if reading.table.kind(column) == "whole" else "set"
        if getattr(reading.roles, role) is None:
            reading = reading.take("by its name and values", **{role: column})
    return _name_id(reading)


def _is_resample(table: Table, column: str) -> bool:
    """Whether a column of ids, or one called so, names resamples: "Fold1" in R."""
    if naming.compact(column) not in ("id", "resample") or table.kind(column) != "words":
        return False
    return all(_RESAMPLE.fullmatch(value) for value in set(table.spelled(column)) if value is not None)


def _may_name_rows(table: Table, column: str) -> bool:
    """Whether a column could tell rows apart: it holds single values, and not one for all of many rows."""
    single = table.kind(column) not in ("scores", "several")
    return single and (table.n_rows < _MANY or len(set(table.spelled(column))) > 1)


def _name_id(reading: Reading) -> Reading:
    table, free = reading.table, reading.free
    named = [column for column in naming.called(free, naming.NAMES["id"]) if _may_name_rows(table, column)]
    if named:
        return reading.take(BY_NAME, id=next(filter(table.is_unique, named), named[0]))
    endings = [column for column in free if column.lower().endswith(("id", "filename", "file name", "path"))]
    # Last, since files in other orders have the same.
    indices = [column for column in free if column.lower() in naming.ROW_NAMES]
    column = next(filter(table.is_unique, (*endings, *indices)), None)
    return reading if column is None else reading.take("by its name and values", id=column)


def name_labels(reading: Reading) -> Reading:
    """Which columns are truth, predicted label and confidence, by names that are never used for anything else?"""
    of_parts = bool(reading.roles.parts)
    for role, other in (("truth", "predictions"), ("predicted", "truth")):
        columns = reading.naming(naming.NAMES[role])
        if columns and getattr(reading.roles, role) is None and not of_parts and reading.half != other:
            reading = reading.take(BY_NAME, **{role: columns[0]})
    only_scores = reading.roles.says_something and reading.roles.predicted is None
    return reading if reading.half == "truth" or only_scores else _name_confidence(reading)


def _name_confidence(reading: Reading) -> Reading:
    by_name = naming.families(reading.table.columns)
    # `prediction_score` beside `prediction_id` are no scores of classes.
    families = (family for name, family in by_name.items() if len(family) > 1 and name not in naming.UNSURE)
    by_class = [set(family.values()) for family in families]
    in_family = set().union(*by_class)  # prob_a is no "proba" where a prob_b stands beside it
    numbers = filter(reading.table.has_numbers, naming.called(reading.free, naming.NAMES["confidence"]))
    column = next((column for column in numbers if column not in in_family), None)
    return reading if column is None else reading.take(BY_NAME, confidence=reading.roles.confidence or column)


def name_targets(reading: Reading) -> Reading:
    """Take a prediction that is called after another column, and that column as the truth, if classes are the same.

    Nothing is taken where the truth is known already, or where several columns are called so: tasks, or models.

    >>> from touchstone.core.data.tables.table import make_table
    >>> columns = [["cat", "dog", "cat", "dog"], ["cat", "dog", "dog", "dog"]]
    >>> table = make_table("t.csv", ["pet", "Prediction (pet)"], columns, lines=[2, 3, 4, 5])
    >>> name_targets(Reading(table)).roles.lines()[0]
    "Truth: column 'pet' (named by the prediction, 'Prediction (pet)')"
    """
    pairs = {predicted: (truth, sure) for predicted, truth, sure in _pairs(reading)}
    if len(pairs) != 1:
        return reading
    predicted, (truth, sure) = next(iter(pairs.items()))
    reading = reading.take(f"named by the prediction, {quoted(predicted)}", truth=truth)
    if reading.roles.predicted is None:
        reading = reading.take("it names the truth", predicted=predicted)
    return reading if sure is None or reading.roles.confidence else reading.take("it names the truth", confidence=sure)


def _pairs(reading: Reading) -> Iterator[tuple[str, str, str | None]]:
    """A prediction, the truth that its name names, and the confidence that is called after it, if there is one."""
    known_predicted = reading.roles.predicted
    columns = [*reading.free, *([known_predicted] if known_predicted else [])]
    labels = {column.casefold(): column for column in columns if reading.table.is_label(column)}
    for predicted in [known_predicted] if known_predicted else labels.values():
        for prediction, confidence, truth in _OF_TARGET:
            if not (match := re.fullmatch(prediction, predicted, re.IGNORECASE)):
                continue
            known = labels.get(truth.format(match["target"]).casefold())
            if known is not None and _is_truth_of(reading, known, predicted):
                yield predicted, known, _numbers_called(reading, confidence.replace("{}", re.escape(match["target"])))
                break


def _numbers_called(reading: Reading, pattern: str) -> str | None:
    """The first free column of numbers whose name is of a pattern; None without a pattern."""
    fitting = (column for column in reading.free if pattern and re.fullmatch(pattern, column, re.IGNORECASE))
    return next(filter(reading.table.has_numbers, fitting), None)


def _is_truth_of(reading: Reading, truth: str, predicted: str) -> bool:
    """Whether a column is the truth that a prediction is called after: of the same classes, and the only such one."""
    return truth != predicted and _same_classes(reading, truth, predicted) and not _rivals(reading, truth, predicted)


def _rivals(reading: Reading, truth: str, predicted: str) -> bool:
    """Whether another column of the same classes bears the truth's name, too, such as "true_pet" beside "pet"."""
    others = (c for c in reading.free if c not in (truth, predicted) and truth.casefold() in c.casefold())
    return any(reading.table.is_label(other) and _same_classes(reading, other, predicted) for other in others)


def _same_classes(reading: Reading, truth: str, predicted: str) -> bool:
    """Whether most of what was predicted is a class of the truth."""
    known, answers = set(reading.strings(truth)), set(reading.strings(predicted))
    common = naming.common_names(known, answers)
    if common is None:
        return False
    return len({common[0][name] for name in known} & {common[0][name] for name in answers}) > len(answers) / 2


def tell_apart(reading: Reading) -> Reading:
    """Is `label` the truth or the prediction? Such names mean opposite things: what else is there and values decide."""
    reading = _likely_score(reading)
    is_no_answer = partial(_is_no_answer, reading.table)
    truths = list(filter(is_no_answer, reading.naming(naming.TRUTH_LIKELY)))
    predictions = list(filter(is_no_answer, reading.naming(naming.PREDICTED_LIKELY)))
    if reading.half == "truth":
        likely = [*truths, *predictions]
        return reading.take(LIKELY, truth=likely[0]) if likely and reading.roles.truth is None else reading
    if reading.roles.predicted is None and predictions:
        reading = reading.take(LIKELY, predicted=predictions[0])
    if reading.half is None:
        return _labels_beside(reading, truths)
    if not truths or reading.has_scores or reading.roles.predicted:
        return reading
    return reading.take("the only labels in the file of predictions", predicted=truths[0])


def _is_no_answer(table: Table, column: str) -> bool:
    """Whether a column is more than free text or a count, which is what `response` and `obs` hold as often."""
    return naming.compact(column) not in naming.ALSO_OTHERS or table.is_label(column)


def _labels_beside(reading: Reading, truths: list[str]) -> Reading:
    """What `label` and the like are, in a file that holds both truth and predictions."""
    if reading.roles.truth is not None:
        return _leftover(reading, truths)
    is_clear = len(truths) == 1 or (truths and naming.compact(truths[0]) in ("label", "labels"))
    return _truth_or_prediction(reading, truths[0]) if is_clear else reading


def _likely_score(reading: Reading) -> Reading:
    """The confidence by a name that may mean a label too: `prediction` that holds fractions."""
    if reading.half == "truth" or reading.roles.confidence or reading.has_scores:
        return reading
    scores = reading.naming((*naming.NAMES["predicted"], *naming.SCORE_LIKELY), ["fraction"])
    other = ("whole",) if reading.roles.predicted else ("whole", "number")  # numbers shall be refused with their line
    scores += reading.naming(("score", "scores"), other)
    if scores and _are_answers(reading, scores[0]):
        return reading.take("it holds the classes of the truth", predicted=scores[0])
    return reading.take(LIKELY, confidence=scores[0]) if scores else reading


def _are_answers(reading: Reading, column: str) -> bool:
    """Whether a column called score holds nothing but the two classes of the truth: then it is the answer itself."""
    roles, table = reading.roles, reading.table
    if roles.predicted or roles.truth is None or table.kind(column) != "whole":
        return False
    return len(set(table.spelled(column))) == 2 and set(table.spelled(column)) == set(table.spelled(roles.truth))


def _leftover(reading: Reading, truths: list[str]) -> Reading:
    """A `label` beside a truth is the prediction, unless it is the truth by another name, or scores are there."""
    if reading.roles.predicted is None and not reading.has_scores:
        truth = reading.strings(reading.roles.truth)
        for column in truths:
            if naming.renaming(reading.strings(column), truth) is None:
                return reading.take(LIKELY, predicted=column)
    return reading


def _truth_or_prediction(reading: Reading, column: str) -> Reading:
    """Is `label` the truth? Not if it says what the prediction says, nor where only a confidence is beside it."""
    answers, labels = _answers(reading), reading.strings(column)
    if answers is not None:
        if naming.renaming(answers, labels) is None:
            return reading.take(LIKELY, truth=column)
        reading = replace(reading, names_prediction=column)
        known = reading.roles.predicted is not None
        return reading if known else reading.take("it agrees with the highest score", predicted=column)
    if reading.roles.confidence is None or _is_of_one_class(reading, labels):
        return reading.take(LIKELY, truth=column)
    reading = replace(reading, names_prediction=column)
    return reading.take("likely, beside a confidence and no other label", predicted=column)


def _is_of_one_class(reading: Reading, labels: list[str]) -> bool:
    """Whether the only scores are of one of two classes, whichever, and do not decide the labels."""
    scores = reading.table.floats(reading.roles.confidence or "")
    halves = [str(score) for score in scores >= 0.5]
    return len(set(labels)) <= 2 and bool((scores < 0.5).any()) and naming.renaming(halves, labels) is None


def _answers(reading: Reading) -> list[str] | None:
    """What the model said, as names of columns or positions: its label, or the class of the highest score."""
    roles, table = reading.roles, reading.table
    if roles.predicted is not None:
        return reading.strings(roles.predicted)
    with suppress(DataError):
        if roles.vector is not None:
            return [str(position) for position in table.scores(roles.vector)[1].argmax(axis=1)]
        if roles.probabilities:
            matrix = table.matrix(column for _, column in roles.probabilities)
            return [str(position) for position in matrix.argmax(axis=1)]
    return None


def only_one(reading: Reading) -> Reading:
    """In one of two files, which is the only column of labels? It is what that file is about, whatever it is called."""
    roles = reading.roles
    role, is_known = ("truth", roles.has_truth) if reading.half == "truth" else ("predicted", roles.says_something)
    if is_known:
        return _whole(reading)
    named = reading.naming((*naming.NAMES["truth"], *naming.NAMES["predicted"]))
    labels = named or list(filter(reading.table.is_label, reading.free))
    if len(labels) == 1:
        return reading.take("the only labels in this file", **{role: labels[0]})
    if labels or role == "truth" or len(reading.free) != 1 or reading.table.kind(reading.free[0]) != "fraction":
        return reading
    return reading.take("the only numbers in this file", confidence=reading.free[0])


def _whole(reading: Reading) -> Reading:
    """Predictions with their truth beside them: the other file may add folds."""
    truths = [column for column in naming.called(reading.free, naming.NAMES["truth"]) if reading.table.is_label(column)]
    known = reading.roles.has_truth or reading.roles.parts or not truths
    return reading if known else reading.take(BY_NAME, truth=truths[0])


def keep_names(reading: Reading) -> Reading:
    """Which column names every row, though by nothing but its values? It is the id if nothing else is: samples are
    found again by it. The shortest words are taken, such as the file's name beside its text.
    """
    roles, table = reading.roles, reading.table
    if roles.id is not None or reading.half is not None or not roles.says_something:
        return reading
    apart = roles.by_role(APART).values()
    lengths = {column: _length_of_names(table, column, apart) for column in reading.free}
    known = {column: length for column, length in lengths.items() if length}
    return reading.take("it names every row", id=min(known, key=known.__getitem__)) if known else reading


def _length_of_names(table: Table, column: str, apart: Iterable[str]) -> int:
    """How many letters the words have that name each row; 0 where they do not, or are whole texts."""
    if table.n_rows < 2 or table.kind(column) != "words":
        return 0
    names = table.spelled(column)
    others = list(zip(*map(table.spelled, apart), strict=True)) or [()] * len(names)
    if None in names or len({*zip(names, others, strict=True)}) < table.n_rows or len({*names}) < len({*others}):
        return 0  # nor is it an id where there are fewer of it than of the trials in which it would stand
    lengths, n_words = list(map(len, map(str, names))), len(" ".join(map(str, names)).split())
    return 0 if n_words > _MOST_WORDS * len(names) or max(lengths) > _LONGEST_NAME else sum(lengths)


class Step(NamedTuple):
    """A question about columns: whether it `is_open`, and how its `answer` takes a reading further, or leaves it."""

    answer: Callable[[Reading], Reading]
    is_open: Callable[[Reading], bool] = lambda _: True


STEPS = (
    Step(name_rows),
    Step(name_labels),
    Step(name_targets, lambda reading: reading.half is None and not reading.roles.has_truth),
    Step(find_scores, lambda reading: reading.half != "truth" and not (reading.has_scores or reading.roles.parts)),
    Step(tell_apart, lambda reading: not reading.roles.parts),
    Step(parts_by_name, lambda reading: reading.half != "truth" and not reading.roles.says_something),
    Step(parts_by_value, lambda reading: reading.half is None and reading.roles.has_only_truth),
    Step(only_one, lambda reading: reading.half is not None),
    Step(keep_names, lambda reading: reading.half is None and reading.roles.says_something),
)
"""The order in which columns are understood; roles that were given replace the first."""
