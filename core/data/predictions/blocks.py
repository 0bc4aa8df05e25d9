"""What did one model say in one task? Labels as codes, scores as probabilities, all in the order of the class names.

Which predicted name stands for which class is told by name, never by position. The only score in a row is the
probability of one of two classes, or of the predicted one. Either is asked where nothing is sure.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Integer

from touchstone.core.data.errors import DataError, Oddity, RolesNeeded
from touchstone.core.data.predictions.guess import codes_apart, likeliest_names, other_names
from touchstone.core.data.predictions.roles import (
    FIRST,
    SHARE,
    TIES,
    UNANSWERED,
    WRONG,
    Part,
    Roles,
    Scores,
    probabilities,
)
from touchstone.core.data.tables import names as naming
from touchstone.core.data.tables.sources import LEFT_OUT, OF_THEIR_OWN
from touchstone.core.data.tables.table import Table
from touchstone.core.data.values import listed, locked, percent, quoted

_FEWEST_STRANGE, _STRANGE = 2, 0.05  # predictions of names that are never true, from which on that is odd
_NO_CHANCE = 0.1  # the share of equal labels that no measurements have
_OF_TIES = {
    SHARE: "each of them is the answer equally often, by lot",
    FIRST: "the first of them is the answer",
    WRONG: "these rows count as wrong",
}
_TIED = 0.01  # the share of rows with a tie for the highest score from which on that is odd
_SLACK = 1e-6  # by how much the only score of a row may lie outside of [0, 1], or below one half


@dataclass(frozen=True, eq=False)
class Block:
    """What one model, or one column per model, said in one task: `rows` of the table, all else in their order."""

    model: str | None
    task: str | None
    rows: Integer[np.ndarray, " n_rows"]
    class_names: tuple[str, ...]
    y_true: Integer[np.ndarray, " n_rows"]
    y_pred: Integer[np.ndarray, " n_rows"]
    proba: Float[np.ndarray, "n_rows n_classes"] | None
    confidence: Float[np.ndarray, " n_rows"] | None
    matched: tuple[tuple[str, str], ...]
    """Predicted names and the classes that they were taken for, where these are spelled otherwise."""
    notes: tuple[str, ...]
    warnings: tuple[Oddity, ...]

    def take(self, chosen: Bool[np.ndarray, " n_rows"]) -> "Block":
        """Some of the rows, or all as they are; probabilities are read-only, so that nobody has to copy them again."""
        proba = None if self.proba is None else locked(self.proba if chosen.all() else self.proba[chosen])
        confidence = None if self.confidence is None else self.confidence[chosen]
        rows, y_true, y_pred = (each[chosen] for each in (self.rows, self.y_true, self.y_pred))
        return replace(self, rows=rows, y_true=y_true, y_pred=y_pred, proba=proba, confidence=confidence)


def read_block(
    table: Table,
    roles: Roles,
    part: Part,
    rows: Integer[np.ndarray, " n_rows"] | None = None,
    *,
    task: str | None = None,
) -> Block:
    """Read the rows of one task, or all, as what the part's columns say; DataError names the first line that is wrong.

    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("t.tsv", ["gold", "said"], [["cat", "dog"], ["cat", "cat"]], lines=[2, 3])
    >>> block = read_block(table, Roles("gold", "said"), Part("model", "", predicted="said"))
    >>> block.class_names, block.y_true, block.y_pred
    (('cat', 'dog'), array([0, 1]), array([0, 0]))
    """
    table, rows = (table, np.arange(table.n_rows)) if rows is None else (table.take(rows), rows)
    answered, of_columns = _answered(table, roles, part)
    if answered.all():
        return _read_block(table, roles, part, rows, task=task)
    if not answered.any():
        raise DataError(f"{table.name}: there is no answer at all ({of_columns}). Is this what the model said?")
    n, n_rows = int((~answered).sum()), len(rows)
    gaps = f"{n:,} of {n_rows:,} rows hold{'s' * (n == 1)} no answer ({of_columns})"
    if roles.unanswered is None:
        raise _unanswered(table, roles, part, gaps)
    block = _read_block(table.take(answered.nonzero()[0]), roles, part, rows[answered], task=task)
    if roles.unanswered != LEFT_OUT:
        block = _with_unanswered(block, table, part.truth or roles.truth or "", rows, answered, roles.unanswered)
    text = f"{gaps}, and {_COUNTED[roles.unanswered]}."
    options = tuple(f"--unanswered={other}" for other in UNANSWERED if other != roles.unanswered)
    return replace(block, warnings=(Oddity(text, "unanswered", n, n_rows, options), *block.warnings))


def _read_block(
    table: Table, roles: Roles, part: Part, rows: Integer[np.ndarray, " n_rows"], *, task: str | None
) -> Block:
    column = part.truth or roles.truth or ""
    written = _by_the_truths_codes(_written(table, roles, part, column), table, part.predicted, column)
    names_of = matched_names(written, roles=roles, truth_place=f"{table.name}: the truth (column {column!r})")
    answers = names_of.answers
    written = written.renamed(names_of.known, answers)
    names = naming.class_order(written.names)
    _check_classes(names, written, place=f"{table.name}: column {column!r}")
    output, warnings = _output(table, part, written, names, roles)
    described = naming.numbered_names(table.class_names.get(column, ()), names)
    return Block(
        **_named(part, roles, task),
        rows=rows,
        class_names=described if len(set(described)) == len(names) else names,
        y_true=naming.codes_of(written.truth, names),
        y_pred=naming.codes_of(output.predicted, names),
        proba=output.proba,
        confidence=output.confidence,
        matched=tuple(pair for pair in sorted(answers.items()) if len(set(pair)) > 1),
        notes=(*written.notes, *names_of.notes, *output.notes),
        warnings=(*names_of.warnings, *warnings),
    )


def _by_the_truths_codes(written: "Written", table: Table, predicted: str | None, truth: str) -> "Written":
    """Predicted codes as the file counts classes in the truth, where it counts them otherwise in the predictions.

    Raises DataError where the file names a predicted class that the truth cannot have.
    """
    theirs, ours = table.class_names.get(predicted or "", ()), table.class_names.get(truth, ())
    if not theirs or not ours or theirs == ours or written.predicted is None:
        return written
    codes = {str(code): str(ours.index(name)) for code, name in enumerate(theirs) if name in ours}
    try:
        return replace(written, predicted=[codes[label] for label in written.predicted])
    except KeyError as other:
        raise DataError(
            f"{table.name}: class {other.args[0]} of column {predicted!r} is none of column {truth!r}, as the file "
            "names them. Save both with the same names."
        ) from None


# What do rows without an answer count as? Somebody says so: an accuracy rests on it.


NO_ANSWER = "(no answer)"
_COUNTED = {
    WRONG: "they count as wrong",
    LEFT_OUT: "they are left out",
    OF_THEIR_OWN: f"they count as the class “{NO_ANSWER}”, as does an empty truth",
}


def _answered(table: Table, roles: Roles, part: Part) -> tuple[Bool[np.ndarray, " n_rows"], str]:
    """Which rows hold anything where the model's label, or else its scores, should stand; and in which columns."""
    columns = _columns_of_answers(roles, part)
    named = f"column {columns[0]!r}" if len(columns) == 1 else f"columns {listed(columns)}"
    empty = np.full(table.n_rows, bool(columns))
    for column in columns:
        spelled = table.spelled(column) if part.predicted or np.isnan(table.floats(column)).any() else []
        if None not in spelled:
            return np.ones(table.n_rows, dtype=bool), named
        several = (isinstance(cell, (list, dict, np.ndarray)) for cell in table.columns[column])
        empty &= [name is None and not is_several for name, is_several in zip(spelled, several, strict=True)]
    return ~empty, named


def _columns_of_answers(roles: Roles, part: Part) -> list[str]:
    """The column of the model's label, or else those of its scores; none where these are vectors."""
    by_class = [column for _, column in part.probabilities or roles.probabilities]
    return [part.predicted] if part.predicted else by_class or [part.confidence] * (part.confidence is not None)


def _unanswered(table: Table, roles: Roles, part: Part, gaps: str) -> DataError:
    """The question what rows without an answer count as, with the accuracy that each choice comes to.

    The refusal where no choice can be read.
    """
    comes_to, refusal = {}, None
    for choice in UNANSWERED:
        try:
            block = read_block(table, replace(roles, unanswered=choice), part)
        except RolesNeeded as needed:  # which is asked first
            guess = replace(needed.guess, unanswered=None)
            return RolesNeeded(needed.question, guess, needed.choices, needed.role, needed.meanings)
        except DataError as problem:
            refusal = problem
        else:
            accuracy = percent(float((block.y_true == block.y_pred).mean()))
            named = "a class of their own" if choice == OF_THEIR_OWN else choice
            comes_to[choice] = f"{named} (accuracy {accuracy}, n = {len(block.rows):,})"
    if not comes_to:
        assert refusal is not None
        return refusal
    return RolesNeeded(
        f"{table.name}: {gaps}. What do they count as: {', '.join(comes_to.values())}?",
        replace(roles, unanswered=next(iter(comes_to))),
        tuple(comes_to),
        "unanswered",
        tuple(comes_to.values()),
    )


def _with_unanswered(
    block: Block,
    table: Table,
    truth: str,
    rows: Integer[np.ndarray, " n_rows"],
    answered: Bool[np.ndarray, " n_rows"],
    choice: str,
) -> Block:
    """The block with the rows without an answer, which are predicted as a class of their own; no scores go with it."""
    without = table.take((~answered).nonzero()[0])
    spelled = without.spelled(truth)
    truths = [name or NO_ANSWER for name in spelled] if choice == OF_THEIR_OWN else without.strings(truth)
    known = naming.common_names(set(block.class_names), {*truths} - {NO_ANSWER})
    truths = [name if known is None or name == NO_ANSWER else known[0][name] for name in truths]
    names = (*naming.class_order({*block.class_names, *truths} - {NO_ANSWER}), NO_ANSWER)
    places = naming.codes_of(block.class_names, names)
    y_true, y_pred = np.empty(len(rows), dtype=np.int64), np.full(len(rows), names.index(NO_ANSWER))
    y_true[answered], y_pred[answered] = places[block.y_true], places[block.y_pred]
    y_true[~answered] = naming.codes_of(truths, names)
    aside = ("No scores are used: rows without an answer have none.",) if block.confidence is not None else ()
    return replace(
        block,
        rows=rows,
        class_names=names,
        y_true=y_true,
        y_pred=y_pred,
        proba=None,
        confidence=None,
        notes=(*block.notes, *aside),
    )


@dataclass(frozen=True, eq=False)
class Written:
    """What columns say of each row: its label, the one that was predicted, and the probability of each score's class.

    >>> Written(["0", "1"], ["no", "yes"]).renamed({"0": "0", "1": "1"}, {"no": "0", "yes": "1"}).predicted
    ['0', '1']
    """

    truth: list[str]
    predicted: list[str] | None
    scored: list[str] = field(default_factory=list)
    """What the columns of scores are called."""
    proba: Float[np.ndarray, "n_rows n_scores"] | None = None
    notes: tuple[str, ...] = ()

    @property
    def answers(self) -> set[str]:
        """All that could be predicted, as it is written."""
        return {*(self.predicted or ()), *self.scored}

    @property
    def names(self) -> set[str]:
        """All names of classes, of either side."""
        return {*self.truth, *self.answers}

    def renamed(self, known: Mapping[str, str], answers: Mapping[str, str]) -> "Written":
        """The same with the names of classes, where labels are `known` so and `answers` mean these."""
        predicted = None if self.predicted is None else [answers[label] for label in self.predicted]
        truth, scored = [known[label] for label in self.truth], [answers[name] for name in self.scored]
        return replace(self, truth=truth, predicted=predicted, scored=scored)


@dataclass(frozen=True, eq=False)
class Output:
    """What a model said: a label for each row and, where scores tell these, its confidence and all probabilities."""

    predicted: list[str]
    proba: Float[np.ndarray, "n_rows n_classes"] | None
    confidence: Float[np.ndarray, " n_rows"] | None
    notes: tuple[str, ...] = ()


def _written(table: Table, roles: Roles, part: Part, truth: str) -> Written:
    """The labels and scores in a part's columns; DataError at the first row whose cells are none."""
    labels = _labels(table, truth)
    predicted = _labels(table, part.predicted) if part.predicted else None
    names, proba, notes = _scores(table, roles.vector, part.probabilities or roles.probabilities, roles.scores)
    return Written(labels, predicted, names, proba, notes)


def _output(
    table: Table, part: Part, written: Written, names: tuple[str, ...], roles: Roles
) -> tuple[Output, list[Oddity]]:
    """What the model said of each row, in the order of the class names; and warnings."""
    predicted = written.predicted
    if written.proba is not None:
        proba, warnings = in_class_order(written.proba, written.scored, names, place=table.name)
        if predicted is None:
            answers, odd = _by_scores(proba, naming.codes_of(written.truth, names), roles.ties or SHARE)
            predicted, warnings = [names[code] for code in answers], [*warnings, *odd]
        return Output(predicted, proba, proba.max(axis=1)), warnings
    if part.confidence is not None:
        return read_single(table, part.confidence, names, written.truth, predicted, roles=roles), []
    return Output(predicted or [], None, None), []


def _by_scores(
    proba: Float[np.ndarray, "n_rows n_classes"], y_true: Integer[np.ndarray, " n_rows"], ties: str
) -> tuple[Integer[np.ndarray, " n_rows"], list[Oddity]]:
    """The class of the highest score in each row, of several the one that `ties` says; and how many rows tie."""
    highest, rows = proba == proba.max(axis=1, keepdims=True), np.arange(len(proba))
    n_highest, answers = highest.sum(axis=1), proba.argmax(axis=1)
    tied = n_highest > 1
    if not tied.any():
        return answers, []
    if ties != FIRST:
        turn = np.random.default_rng(0).permutation(int(tied.sum())) % n_highest[tied]  # each as often as the others
        candidates = highest[tied]
        if ties == WRONG:
            candidates = candidates & (np.arange(proba.shape[1]) != y_true[tied, None])
            turn %= candidates.sum(axis=1)
        answers[tied] = (candidates.cumsum(axis=1) > turn[:, None]).argmax(axis=1)
    if tied.mean() < _TIED:
        return answers, []
    may_be = highest[rows, y_true]
    ends = " and ".join(percent(float(share)) for share in ((may_be & ~tied).mean(), may_be.mean()))
    n_tied, n_rows = int(tied.sum()), len(tied)
    text = (
        f"Classes tie for the highest score in {n_tied:,} of {n_rows:,} rows, and {_OF_TIES[ties]}. By another choice "
        f"accuracy lies between {ends}."
    )
    options = tuple(f"--ties={other}" for other in TIES if other != ties)
    return answers, [Oddity(text, "tied_scores", n_tied, n_rows, options)]


def _named(part: Part, roles: Roles, task: str | None) -> dict[str, str | None]:
    """The model or the task that a part is about."""
    model = part.name if roles.parts and part.kind == "model" else None
    return {"model": model, "task": part.name if roles.parts and part.kind == "task" else task}


def _labels(table: Table, column: str) -> list[str]:
    """The labels of a column; DataError where a row has several."""
    cells = table.columns[column]
    lists = (row for row, cell in enumerate(cells) if isinstance(cell, (list, dict, np.ndarray)))
    row = next(lists, None) if cells.dtype == object else None
    labels = table.strings(column) if row is None else []
    row = naming.several_in_one(labels) if row is None else row
    if row is not None:
        raise DataError(
            f"{table.place(row)}: column {column!r} holds {quoted(cells[row])}, several labels in one row. "
            "Touchstone tests classifiers that give one label: give one column of labels per task."
        )
    return labels


def _scores(
    table: Table, vector: str | None, by_class: tuple[tuple[str, str], ...], kind: Scores | None
) -> tuple[list[str], np.ndarray | None, tuple[str, ...]]:
    """The names and probabilities of all classes, none where the file does not hold them; and what the scores were."""
    if vector is not None:
        names, scores = table.scores(vector)
    elif by_class:
        names = tuple(name for name, _ in by_class)
        scores = np.column_stack([table.numbers(column) for _, column in by_class])
    else:
        return [], None, ()
    if len(names) < 2:
        raise DataError(f"{table.name}: scores of one class only, {listed(names)}. Give those of all classes.")
    columns = [vector] if vector is not None else dict(by_class).values()
    called_logits = all("logit" in column.lower() for column in columns)
    proba, note = probabilities(scores, place=table.place, kind=kind or ("logits" if called_logits else None))
    return list(names), proba, (note,)


def _check_classes(names: tuple[str, ...], written: Written, *, place: str) -> None:
    """DataError for one class alone, and for hardly two labels that are alike, unless predictions are often right."""
    if len(names) < 2:
        raise DataError(
            f"{place}: {listed(names)!r} is the only class. A classifier needs two or more; is this the truth?"
        )
    agrees = _agreement(written.truth, written.predicted or ())
    is_each_alone = len(set(written.truth)) == len(written.truth)
    if agrees < _NO_CHANCE or is_each_alone:  # measurements are hardly met to the letter, and an id stands once
        naming.check_few(names, len(written.truth), place)


def _agreement(truth: Sequence[str], predicted: Sequence[str]) -> float:
    """The share of predictions that are the truth, letter by letter; 0 where nothing was predicted."""
    return float(np.mean([a == b for a, b in zip(truth, predicted, strict=False)] or [0.0]))


class NamesOfClasses(NamedTuple):
    """A class name for each name in the truth (`known`) and for each that a model said; how that was seen."""

    known: dict[str, str]
    answers: dict[str, str]
    notes: tuple[str, ...] = ()
    warnings: tuple[Oddity, ...] = ()


def matched_names(written: Written, *, roles: Roles, truth_place: str) -> NamesOfClasses:
    """A class name for each true and for each predicted name, the same where nothing else can be meant.

    RolesNeeded asks where the names have nothing in common; it carries the likeliest mapping. `truth_place` tells the
    file and the column of the truth. What changes an accuracy is a warning: predicted names that were taken for true
    ones that are spelled otherwise, and names that never occur in the truth.

    >>> matched_names(Written(["0", "1"], ["LABEL_1", "LABEL_1"]), roles=Roles("gold"), truth_place="t.tsv: gold")[:3]
    ({'0': '0', '1': '1'}, {'LABEL_1': '1'}, ('Class names of truth and predictions were matched by their numbers.',))
    >>> written = Written(["no", "yes", "no"], [" No", "yes", "no"])
    >>> names = matched_names(written, roles=Roles("gold"), truth_place="t.tsv: gold")
    >>> names.answers == {" No": "no", "yes": "yes", "no": "no"}, len(names.warnings)
    (True, 1)
    """
    given, known = dict(roles.classes), set(written.truth)
    if not written.answers:
        return NamesOfClasses(naming.drop_points({name: name for name in known}), {})
    by_label = _columns_as_labels(written, given)
    notes = ["Columns of scores were matched with the predicted labels by their highest score."] if by_label else []
    mapped = {name: given.get(name, name) for name in written.answers} | by_label
    if not given and naming.counted_apart(known, set(mapped.values())):
        labels = [mapped[label] for label in written.predicted or ()]
        raise codes_apart(written.truth, labels, naming.class_order(mapped.values()), roles, truth_place)
    common = naming.common_names(known, set(mapped.values()))
    respelled = {} if given else naming.stand_for(known, _apart(known, mapped, None if common is None else common[0]))
    if respelled:
        mapped = {name: respelled.get(to, to) for name, to in mapped.items()}
        common = naming.common_names(known, set(mapped.values()))
    if common is None or not (given or _fits(known, common[0], [mapped[name] for name in written.scored])):
        guess = likeliest_names(written.truth, written.predicted, written.scored, written.proba)
        raise other_names(known, naming.class_order(mapped.values()), replace(roles, classes=guess), truth_place)
    names, how = common
    if how:
        notes.append(f"Class names of truth and predictions were matched {how}.")
    of_truth, answers = {name: names[name] for name in sorted(known)}, {name: names[mapped[name]] for name in mapped}
    return NamesOfClasses(of_truth, answers, tuple(notes), tuple(_odd_names(written, of_truth, answers, respelled)))


def _apart(known: set[str], mapped: Mapping[str, str], common: Mapping[str, str] | None) -> set[str]:
    """The predicted names that are none of the truth's, by the names that they have in common."""
    if common is None:
        return set(mapped.values())
    of_truth = {common[name] for name in known}
    return {to for to in mapped.values() if common[to] not in of_truth}


def _odd_names(
    written: Written, known: Mapping[str, str], answers: Mapping[str, str], respelled: Mapping[str, str]
) -> Iterator[Oddity]:
    """What is to be known of names before an accuracy counts: what was taken for what, and what is never true."""
    if alike := naming.spelled_alike(known):
        which = listed(map(repr, alike[0]))
        names = set().union(*alike)
        n_alike = sum(map(names.__contains__, written.truth))
        text = f"The truth has names that are spelled alike, such as {which}. They count as different classes."
        yield Oddity(text, "truth_spelled_alike", n_alike, len(written.truth))
    if written.predicted is None:
        return
    renamed = written.renamed(known, answers)
    truth, predicted = renamed.truth, renamed.predicted or []
    if taken := [label for label in written.predicted if label in respelled]:
        as_written, now = _agreement(written.truth, written.predicted), _agreement(truth, predicted)
        form = " (another Unicode form)" * (naming.composed(taken[0]) == naming.composed(respelled[taken[0]]))
        yield Oddity(
            f"{len(taken):,} of {len(predicted):,} predictions are spelled otherwise than the truth, such as "
            f"{taken[0]!r} for {respelled[taken[0]]!r}{form}, and count as that class. Letter by letter, accuracy "
            f"would be {percent(as_written)}, not {percent(now)}.",
            "spelled_otherwise",
            len(taken),
            len(predicted),
        )
    there = set(known.values())
    strange = [label for label in predicted if label not in there]
    if len(strange) >= max(_FEWEST_STRANGE, _STRANGE * len(predicted)):
        yield Oddity(
            f"{len(strange):,} of {len(predicted):,} predictions are names that never occur in the truth, such as "
            f"{strange[0]!r}. They count as wrong.",
            "never_true",
            len(strange),
            len(predicted),
        )


def _columns_as_labels(written: Written, given: Mapping[str, str]) -> dict[str, str]:
    """Columns that carry other names than the predicted labels, by which label each column's maximum goes with."""
    if written.proba is None or written.predicted is None:
        return {}
    labels, columns = _meant(written.predicted, given), _meant(written.scored, given)
    common = naming.common_names(set(labels), set(columns))
    if common is not None:  # "1" for "Class1": as the labels are spelled
        spelled = {common[0][label]: label for label in labels}
        of_columns = zip(written.scored, map(common[0].__getitem__, columns), strict=True)
        return {name: spelled[label] for name, label in of_columns if label in spelled}
    highest = np.array(columns, dtype=object)[written.proba.argmax(axis=1)]
    mapping = naming.renaming(highest.tolist(), labels)
    if mapping is None or len(mapping) < len(columns):
        return {}
    return {name: mapping[column] for name, column in zip(written.scored, columns, strict=True)}


def _meant(names: Sequence[str], given: Mapping[str, str]) -> list[str]:
    """The names, or what they stand for where that was given."""
    return [given.get(name, name) for name in names]


def _fits(truth: set[str], common: dict[str, str], proba_names: Sequence[str]) -> bool:
    """Whether columns that are numbered from 0, perhaps by position only, can be meant by the true labels."""
    if not proba_names or list(proba_names) != [str(position) for position in range(len(proba_names))]:
        return True
    known = {common[name] for name in truth}
    return "0" in known or known <= {common[name] for name in proba_names}


def in_class_order(
    proba: Float[np.ndarray, "n_rows n_scores"], proba_names: Sequence[str], names: Sequence[str], *, place: str
) -> tuple[Float[np.ndarray, "n_rows n_classes"], list[Oddity]]:
    """Probabilities in the order of the class names, 0 where a class has no column; and a warning of that.

    >>> in_class_order(np.array([[0.75, 0.25]]), ["dog", "cat"], ["cat", "dog"], place="t.tsv")
    (array([[0.25, 0.75]]), [])
    """
    if len(set(proba_names)) < len(proba_names):
        raise DataError(f"{place}: two columns of scores stand for one class. Leave one of them out.")
    absent = [name for name in names if name not in set(proba_names)]
    full = np.zeros((len(proba), len(names)))
    full[:, naming.codes_of(proba_names, names)] = proba
    odd = Oddity(f"No scores of {listed(absent)}: the probability is taken as 0.", "no_scores")
    return full, [odd] if absent else []


def read_single(
    table: Table, column: str, names: Sequence[str], truth: Sequence[str], predicted: list[str] | None, *, roles: Roles
) -> Output:
    """Read a column of one score per row; RolesNeeded asks of which of two classes it is, where the values do not tell.

    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("t.tsv", ["prob"], [["0.75", "0.25"]], lines=[2, 3])
    >>> single = read_single(table, "prob", ("ham", "spam"), ["ham", "spam"], None,
    ...                      roles=Roles("gold", confidence="prob", positive="spam"))
    >>> single.predicted, single.proba
    (['spam', 'ham'], array([[0.25, 0.75], [0.75, 0.25]]))
    """
    scores = _fractions(table, column)
    if len(names) != 2:
        if predicted is None:
            raise DataError(
                f"{table.name}: one score per row (column {column!r}) tells nothing about which of {len(names)} "
                "classes was predicted. Add a column with the predicted label."
            )
        return Output(predicted, None, scores)
    positive, notes = _positive(table, column, names, truth, predicted, scores, roles=roles)
    if positive is None:
        predicted = predicted or []
        if (scores < 0.5 - _SLACK).any():  # a score, but no probability: nothing follows for the other class
            return Output(predicted, None, scores, notes)
        return Output(predicted, _two(scores, naming.codes_of(predicted, names)), scores, notes)
    code = names.index(positive)
    proba = _two(scores, np.full(len(scores), code))
    if predicted is None:
        predicted = [names[code] if score >= 0.5 else names[1 - code] for score in scores]
    return Output(predicted, proba, proba.max(axis=1), notes)


def _fractions(table: Table, column: str) -> np.ndarray:
    scores = table.numbers(column)
    outside = (scores < -_SLACK) | (scores > 1 + _SLACK)
    if outside.any():
        row = int(np.flatnonzero(outside)[0])
        raise DataError(
            f"{table.place(row)}: column {column!r} holds {scores[row]:.6g}. A confidence must lie in "
            "[0, 1]: divide percent by 100, or leave scores out that are no probabilities."
        )
    return np.clip(scores, 0.0, 1.0)


def _positive(
    table: Table,
    column: str,
    names: Sequence[str],
    truth: Sequence[str],
    predicted: list[str] | None,
    scores: np.ndarray,
    *,
    roles: Roles,
) -> tuple[str | None, tuple[str, ...]]:
    """The class whose probability a single score is, None meaning that of the predicted one; and how that was seen."""
    if roles.positive is not None:
        return _given_positive(table, names, predicted, roles.positive), ()
    if predicted is not None and (scores >= 0.5 - _SLACK).all():
        return None, (f"Column {column!r} is the probability of the predicted class.",)
    if predicted is not None and (name := _decided_by(scores, predicted, names)) is not None:
        return name, (f"Column {column!r} is the probability of {name}.",)
    of_predicted = ("predicted",) * (predicted is not None)
    means = [scores[[label == name for label in truth]].mean() if name in truth else 0.0 for name in names]
    raise RolesNeeded(
        f"{table.name}: column {column!r} holds one probability per row, and there are two classes. "
        f"Is it that of {names[0]} or of {names[1]}{', or of the predicted one' if of_predicted else ''}?",
        replace(roles, positive=names[int(np.argmax(means))]),
        (*names, *of_predicted),
        "positive",
    )


def _decided_by(scores: np.ndarray, predicted: Sequence[str], names: Sequence[str]) -> str | None:
    """The class whose label was given wherever the score lies above some threshold, if there is one."""
    second = np.array([label == names[1] for label in predicted])
    for name, chosen in zip(names, (~second, second), strict=True):
        inside, outside = scores[chosen], scores[~chosen]
        if len(inside) and len(outside) and inside.min() >= outside.max():
            return name
    return None


def _given_positive(table: Table, names: Sequence[str], predicted: list[str] | None, given: str) -> str | None:
    if given == "predicted" and "predicted" not in names:
        if predicted is not None:
            return None
    else:
        common = naming.common_names(set(names), {given})
        if common is not None and common[0][given] in names:
            return common[0][given]
    raise DataError(f"{table.name}: the score is said to be that of {given!r}. The classes are {listed(names)}.")


def _two(scores: np.ndarray, codes: np.ndarray) -> Float[np.ndarray, "n_rows 2"]:
    """Probabilities of both classes, from that of one class per row."""
    proba = np.empty((len(scores), 2))
    rows = np.arange(len(scores))
    proba[rows, codes] = scores
    proba[rows, 1 - codes] = 1 - scores
    return proba
