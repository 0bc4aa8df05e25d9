"""How do the truth in one file and the predictions in another become one table? Which row is which, is seen first."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from jaxtyping import Integer

from touchstone.core.data.errors import DataError, Oddity, RolesNeeded
from touchstone.core.data.predictions import ways as joining
from touchstone.core.data.predictions.guess import complete_roles, guess_roles, keep_names, name_rows, stands_twice
from touchstone.core.data.predictions.roles import LINE, ROUNDED, Part, Reading, Roles, step_named
from touchstone.core.data.predictions.shapes import ONE_LABEL, first_not_one, fold_columns, is_binary
from touchstone.core.data.predictions.ways import Agreement, Key, Pair, Way, labels_of
from touchstone.core.data.tables.names import NAMES, PREDICTED_LIKELY, ROW_NAMES, TRUTH_LIKELY, compact, stems
from touchstone.core.data.tables.table import Table
from touchstone.core.data.values import first_repeat, listed, percent

# Which row of one file is which row of another? By what names every row in both, or else by line, if labels agree.

_APART = ("set", "task", "trial")  # what tells rows of one id apart, where both files know it


@dataclass(frozen=True, eq=False)
class Match:
    """For each row of predictions the row of the truth, -1 where it has none; how that was found, and what is odd.

    `line` is what `join` calls the way, where rows joined by line.
    """

    rows: Integer[np.ndarray, " n_predictions"]
    roles: Roles
    notes: tuple[str, ...]
    warnings: tuple[Oddity, ...] = ()
    line: str | None = None


def matching_rows(
    known: Table, truth_roles: Roles, predictions: Table, roles: Roles, *, confirmed: bool = False
) -> Match:
    """Bring the rows of two files together: by the way that `roles.join` names, else by one that nothing contradicts.

    RolesNeeded asks where columns contradict one another, where rows would be left out, and where labels agree line by
    line no more often than if rows were shuffled or moved. Once somebody has `confirmed` the roles, files without ids
    join by line, and a note and a warning tell what speaks against that; ids in one file alone, or ids that would leave
    rows out, are still asked about. DataError where ids stand twice or have nothing in common, and where files without
    ids have different numbers of rows.

    >>> from touchstone.core.data.tables.table import make_table
    >>> known = make_table("truth.tsv", ["image", "label"], [["a", "b"], ["cat", "dog"]], lines=[2, 3])
    >>> predictions = make_table("said.tsv", ["image", "said"], [["b", "a"], ["dog", "dog"]], lines=[2, 3])
    >>> match = matching_rows(known, Roles("label"), predictions, Roles(predicted="said"))
    >>> match.rows, match.roles.id
    (array([1, 0]), 'image')
    """
    pair = Pair(known, truth_roles, predictions, roles, labels_of(known, truth_roles, predictions, roles))
    if roles.join is not None:
        way = _given(pair, roles.join)
    elif confirmed:
        ids = _ids(*pair.files)
        way = _confirmed_lines(pair) if ids is None else _whole(pair, ids)
    else:
        way = _decided(pair)
    return _by_key(pair, way) if way.keys else _by_line(pair, way, confirmed=confirmed)


def _given(pair: Pair, name: str) -> Way:
    """The way that somebody chose."""
    known, predictions = pair.known, pair.predictions
    if name == LINE:
        return _lines(pair)
    keys = joining.keys_named(name, known, predictions)
    if keys is None and (step := step_named(name)) is None:
        raise DataError(
            f"To join {known.name} and {predictions.name}, both need a column {name!r}. Choose another one."
        )
    if keys is None:
        return joining.by_line(known.n_rows, predictions.n_rows, step)
    way = _of_ids(pair, keys[0]) if len(keys) == 1 else joining.by_keys(known, predictions, keys, pair.roles)
    if way is None:
        raise _twice(pair, keys[0])
    if not way.n_matched:
        raise _refusal(pair, way)
    return replace(way, name=name)


def _whole(pair: Pair, ids: Key) -> Way:
    """The way by ids that leaves no row out."""
    way = _of_ids(pair, ids)
    if way is None:
        raise _twice(pair, ids)
    if not way.is_complete:
        raise _partly(pair, [way]) if way.n_matched else _refusal(pair, way)
    return way


def _decided(pair: Pair) -> Way:
    """The way that nothing speaks against; RolesNeeded where there is none, or several."""
    ids = _ids(*pair.files)
    of_ids = None if ids is None else _of_ids(pair, ids)
    ways = [way for way in joining.ways_by_column(*pair.files) if way.keys[0] != ids]
    naming = _naming(pair, ids, of_ids, ways)
    if not naming:
        ways += joining.ways_by_pair(*pair.files)
        naming = _complete(ways)
    if naming:
        _check_one_order(pair, naming)
        if not (joining.counts_rows(naming[0], pair.known) and _in_order(naming[0])):
            return _unless_others_agree(pair, naming[0])
    else:
        _check_nothing_partly(pair, ids, of_ids, ways)
    _check_lines(pair, naming)
    return naming[0] if naming else _lines(pair)


def _naming(pair: Pair, ids: Key | None, of_ids: Way | None, ways: list[Way]) -> list[Way]:
    """The ways by one column that name every row in both files; those that only count rows if there are no others."""
    naming = [way for way in ways if way.is_complete and not joining.counts_rows(way, pair.known)]
    if of_ids and of_ids.is_complete and not (naming and ids and ids[1].lower() in ROW_NAMES):
        naming = [of_ids, *naming]
    return naming or _complete(ways)


def _check_one_order(pair: Pair, naming: Sequence[Way]) -> None:
    """The question where columns that name every row join them in different ways."""
    if all(np.array_equal(way.rows, naming[0].rows) for way in naming):
        return
    columns = ", ".join(dict.fromkeys(repr(column) for way in naming for _, column in way.keys))
    reason = f"Columns {columns} of {pair.known.name} and {pair.predictions.name} join them in different ways."
    raise pair.question(reason, [*naming, *filter(None, [pair.line])])


def _check_nothing_partly(pair: Pair, ids: Key | None, of_ids: Way | None, ways: Sequence[Way]) -> None:
    """The question where columns name some of the rows, the refusal where ids stand twice or have nothing in common."""
    if ids and of_ids is None:
        raise _twice(pair, ids)
    partly = [way for way in [of_ids, *ways] if way and not way.is_complete and way.n_matched]
    if partly:
        raise _partly(pair, partly)
    if of_ids and not of_ids.n_matched:
        raise _refusal(pair, of_ids)


def _complete(ways: Sequence[Way]) -> list[Way]:
    return [way for way in ways if way.is_complete]


def _unless_others_agree(pair: Pair, way: Way) -> Way:
    """A way by key, unless labels agree no more often so than if shuffled, and clearly do in the order of the lines."""
    agreement = pair.agreement(way)
    if agreement is None or not agreement.can_differ or agreement.is_clear:
        return way
    line = pair.line and pair.agreement(pair.line)
    others = [pair.line] if pair.line and line and line.is_clear else []
    others += pair.shifts
    if not others:
        return way
    reason = f"Joined {way.title}, labels agree no more often than if rows were shuffled."
    raise pair.question(reason, [way, *others])


def _partly(pair: Pair, ways: Sequence[Way]) -> RolesNeeded:
    """Whether rows shall be left out: not all have one in the other file."""
    ways = sorted(ways, key=lambda way: -way.n_matched)
    reason = f"{_lost(pair, ways[0])} Give files about the same rows, or leave those out."
    return pair.question(reason, [*ways[: joining.MOST_WAYS - 1], *filter(None, [pair.line])])


def _lost(pair: Pair, way: Way) -> str:
    """How many keys of either file the other lacks, with an example of each."""
    lost = ~np.isin(np.arange(way.n_truth), way.rows)
    own, others = (
        list(zip(*(t.spelled(k[side]) for k in way.keys), strict=True))
        for side, t in enumerate((pair.known, pair.predictions))
    )
    left = [own[row] for row in np.flatnonzero(lost)]
    asked_for = set(others)
    absent = list(dict.fromkeys(others[row] for row in np.flatnonzero(way.rows < 0)))
    halves = (
        (absent, len(asked_for), pair.predictions.name, pair.known.name),
        (left, len(own), pair.known.name, pair.predictions.name),
    )
    parts = (
        f"{len(keys):,} of {n_ids:,} ids of {here} are not in {there}{_such(keys)}"
        for keys, n_ids, here, there in halves
        if keys
    )
    return f"{'; '.join(parts)}."


def _refusal(pair: Pair, way: Way) -> DataError:
    return DataError(f"{_lost(pair, way)} Give files about the same rows, with ids spelled alike.")


def _such(keys: Sequence[tuple[str | None, ...]]) -> str:
    return f" (such as {', '.join(map(repr, keys[0]))})" if keys else ""


def _check_lines(pair: Pair, counted: Sequence[Way]) -> None:
    """The question, or the refusal, where rows should not be joined by line; `counted` are ids that only count them."""
    line, twice = pair.line, joining.repeated(*pair.files)
    if line is None:
        if twice:
            raise DataError(f"{twice} Each row needs a name of its own to be joined: leave one of the two out.")
        if pair.shifts:
            raise pair.question(f"{_lengths(pair)}.", pair.shifts)
        raise _other_lengths(pair)
    if reason := twice or _against_order(pair, line, counted):
        raise pair.question(reason, [line])


def _against_order(pair: Pair, line: Way, counted: Sequence[Way]) -> str:
    """What speaks against rows that stand in the same order, in a sentence; nothing where all is well."""
    order = joining.other_order(*pair.files)
    if order is not None:
        return f"Column {order[0]!r} of {pair.known.name} and {pair.predictions.name} {order[1]}."
    if not counted and pair.has_ids_in_one:
        return _ids_in_one(pair)
    agreement = pair.agreement(line)
    likely = bool(counted) and agreement is not None and agreement.is_likely  # then a doubt is a warning
    moved = "Labels agree more often when rows are moved." if pair.shifts else ""
    return moved if likely else pair.doubt(line) or moved


def _lengths(pair: Pair) -> str:
    known, predictions = pair.known, pair.predictions
    return f"{known.name} has {known.n_rows:,} rows, {predictions.name} has {predictions.n_rows:,}, and neither has ids"


def _ids_in_one(pair: Pair) -> str:
    own, other = pair.truth_roles.id, pair.roles.id
    with_ids, without = (pair.predictions, pair.known) if own is None else (pair.known, pair.predictions)
    return f"{with_ids.name} has ids (column {other or own!r}), {without.name} has none."


def _confirmed_lines(pair: Pair) -> Way:
    """Line by line, as somebody has seen them; RolesNeeded where that cannot be, since one file has ids."""
    if pair.line is not None and pair.has_ids_in_one:
        raise pair.question(_ids_in_one(pair), [pair.line])
    return _lines(pair)


def _lines(pair: Pair) -> Way:
    """Line by line; DataError where there are not as many lines."""
    if pair.line is None:
        raise _other_lengths(pair)
    return pair.line


def _other_lengths(pair: Pair) -> DataError:
    if not pair.has_ids_in_one or pair.roles.join is not None:
        return DataError(f"{_lengths(pair)}. Give both a column 'id', or as many rows in the same order.")
    return DataError(
        f"{_ids_in_one(pair)} There are {pair.known.n_rows:,} rows in {pair.known.name} and "
        f"{pair.predictions.n_rows:,} in {pair.predictions.name}. Add a column 'id' there, so that rows can be joined."
    )


def _ids(known: Table, truth_roles: Roles, predictions: Table, roles: Roles) -> Key | None:
    """The columns of ids where both files have them; of one name, if ids under two names have nothing in common."""
    own, other = roles.id, truth_roles.id
    if own in known.columns and own != other and not _same_values(known, other, predictions, own):
        return own, own
    return (other, own) if own is not None and other is not None else None


def _same_values(known: Table, other: str | None, predictions: Table, own: str) -> bool:
    return other is not None and set(known.strings(other)) == set(predictions.strings(own))


def _of_ids(pair: Pair, ids: Key) -> Way | None:
    """The way by ids and, where both files tell sets, tasks or trials apart, by these; None where one stands twice."""
    way = joining.by_keys(pair.known, pair.predictions, _with_apart(pair, ids), pair.roles)
    return None if way is None else replace(way, name=ids[1])


def _apart(pair: Pair) -> list[str]:
    return [role for role in _APART if getattr(pair.truth_roles, role) and getattr(pair.roles, role)]


def _with_apart(pair: Pair, ids: Key) -> tuple[Key, ...]:
    return ids, *((getattr(pair.truth_roles, role), getattr(pair.roles, role)) for role in _apart(pair))


def _twice(pair: Pair, ids: Key) -> DataError:
    """What to say of ids that are missing, or stand twice in either file."""
    keys, apart = _with_apart(pair, ids), _apart(pair)
    own = list(zip(*(pair.known.strings(key) for key, _ in keys), strict=True))
    others = list(zip(*(pair.predictions.strings(key) for _, key in keys), strict=True))
    within = f" for the same {' and '.join(apart)}" if apart else ""
    if repeat := first_repeat(own):
        again = pair.known.twice(repeat, f"id {own[repeat[1]][0]!r}")
        return DataError(f"{again}{within}. In the file that others are joined with each id must stand once.")
    return stands_twice(pair.predictions, first_repeat(others) or (0, 0), [each[0] for each in others], within)


def _in_order(way: Way) -> bool:
    return bool((way.rows == np.arange(len(way.rows))).all())


def _by_key(pair: Pair, way: Way) -> Match:
    """What joined by columns, with what it is worth to know about that."""
    known, predictions, roles = pair.known, pair.predictions, pair.roles
    own, other = way.keys[0]
    of_several = way.name not in (other, roles.join) if roles.join is None else " + " in way.name
    if of_several and len(way.keys) > 1:
        roles = replace(roles, join=way.name).because(join="only together they name every row in both files")
        how = f"{way.title} of both"
    else:
        if roles.id != other:
            roles = replace(roles, id=other).because(id="it names every row in both files")
        if roles.join is None and _ids(known, pair.truth_roles, predictions, roles) != (own, other):
            roles = replace(roles, join=way.name).because(join="they hold the same")
        how = f"by id (columns {own!r} and {other!r})"
    notes = [f"Joined with {known.name} {how}. {way.n_matched:,} rows matched."]
    notes += [f"{way.spelled}."] * bool(way.spelled)
    warnings = _left_out(pair, way)
    if joining.counts_rows(way, known) and _in_order(way) and (doubt := pair.doubt(way)):
        warnings = (Oddity(f"Ids only count the rows, as their lines do. {doubt}", "order"), *warnings)
    return Match(way.rows, roles, (*notes, *_otherwise(pair, way)), warnings)


def _otherwise(pair: Pair, way: Way) -> list[str]:
    """What the order of the lines would come to, where it is another one."""
    if pair.line is None or pair.labels is None or not pair.labels.named or _in_order(way):
        return []
    share, other = (percent(each.accuracy) for each in map(pair.agreement, (way, pair.line)) if each)
    return [f"Joined so, {share} of labels agree; line by line {other} would."]


def _left_out(pair: Pair, way: Way) -> tuple[Oddity, ...]:
    n_of_truth, n_of_predictions = way.left_out
    if not n_of_truth and not n_of_predictions:
        return ()
    halves = (n_of_truth, way.n_truth, pair.known.name), (n_of_predictions, len(way.rows), pair.predictions.name)
    counts = " and ".join(f"{n_lost:,} of {n_rows:,} rows of {name}" for n_lost, n_rows, name in halves if n_lost)
    text = f"Left out, since they have no row in the other file: {counts}."
    return (Oddity(text, "unmatched", n_of_truth + n_of_predictions, way.n_truth + len(way.rows)),)


def _by_line(pair: Pair, way: Way, *, confirmed: bool) -> Match:
    """What joined by line, with what labels tell of that, or cannot tell."""
    how = "by line" if way.name == LINE else way.title
    notes = [f"Joined with {pair.known.name} {how}, {_why_by_line(pair, confirmed)}."]
    agreement, doubt = pair.agreement(way), pair.doubt(way)
    if agreement and agreement.can_differ and not doubt:
        chance = percent(agreement.by_chance)
        notes.append(
            f"Labels agree clearly more often than the {chance} of shuffled rows; a few misplaced rows do not show."
        )
    doubt = doubt or _hidden(pair, agreement)
    warnings = (*([Oddity(doubt, "order")] if doubt else []), *_left_out(pair, way))
    return Match(way.rows, pair.roles, tuple(notes), warnings, way.name)


def _why_by_line(pair: Pair, confirmed: bool) -> str:
    if pair.roles.join is not None:
        return "as was said"
    if confirmed and (order := joining.other_order(*pair.files)):
        return f"although both have a column {order[0]!r} that says otherwise"
    return "since neither file has ids"


def _hidden(pair: Pair, agreement: Agreement | None) -> str:
    """Why rows in another order might not show, in a sentence; nothing where they would."""
    if agreement and agreement.can_differ:
        is_sorted = pair.labels is not None and pair.labels.is_sorted
        hidden = "Joined by line, and the truth is sorted by its labels: rows in another order would hardly show."
        return hidden if is_sorted else ""
    if pair.roles.truth is not None:
        return ""
    return "Joined by line, and too little is known to check whether rows stand in the same order in both files."


# How do the truth in one file and the predictions in another become one table? Their rows, their columns, their roles.
#
# What a column of the truth is, may take both files to see.

_FROM_TRUTH = ("truth", "set", "fold", "source", "task", "trial", "unit")


def join_tables(
    truth: Table, predictions: Table, *, roles: Roles | None, truth_roles: Roles | None, confirmed: bool
) -> tuple[Table, Roles]:
    """The predictions with the columns that the truth has a role for, row by row, and what all of them are.

    Roles of what was joined before are taken for both files. RolesNeeded, and DataError, as `join_predictions` says.

    >>> from touchstone.core.data.tables.table import make_table
    >>> truth = make_table("truth.tsv", ["id", "label"], [["a", "b"], ["cat", "dog"]], lines=[2, 3])
    >>> predictions = make_table("said.tsv", ["id", "label"], [["b", "a"], ["dog", "dog"]], lines=[2, 3])
    >>> joined, roles = join_tables(truth, predictions, roles=None, truth_roles=None, confirmed=False)
    >>> roles.truth, joined.strings(roles.truth)
    ('label (truth.tsv)', ['dog', 'cat'])
    """
    known, predictions = fold_truth(truth, predictions)
    # Also a confirmed way gets names for its rows where ids were said to be in the other file.
    named = not confirmed or (roles is not None and roles.id not in (None, *predictions.columns))
    if roles is not None and truth_roles is None:
        roles, truth_roles = _roles_apart(roles, known, predictions)
    roles, question = _own_roles(predictions, roles)
    truth_roles, roles = find_truth(known, truth_roles, predictions, roles)
    match = matching_rows(known, truth_roles, predictions, roles, confirmed=confirmed)
    met = np.flatnonzero(match.rows >= 0)
    predictions = predictions if len(met) == predictions.n_rows else predictions.take(met)
    known = known.take(match.rows[met])
    joined, roles = _with_columns(known, truth_roles, predictions, match.roles)
    if match.line is not None and roles.id is None and named:
        joined, roles = _with_names(known, truth_roles, joined, roles, match.line)
    if not roles.has_truth:
        raise DataError(
            f"{known.name} and {predictions.name}: neither holds the truth. Give a column such as 'gold' in one of "
            "them."
        )
    roles = _answered(question, joined, roles)
    _check_no_input(known, truth_roles, joined, roles)
    notes, warnings = (*predictions.notes, *known.notes, *match.notes), (*joined.warnings, *match.warnings)
    return replace(joined, notes=notes, warnings=warnings), roles


def _check_no_input(known: Table, truth_roles: Roles, joined: Table, roles: Roles) -> None:
    """RolesNeeded where the guessed prediction is a column that both files hold alike: it may be an input.

    Whoever says by roles that it is the prediction is believed.
    """
    column, truth = roles.predicted, truth_roles.truth
    if column is None or column != truth or "predicted" not in dict(roles.why):
        return
    if compact(column) in {*NAMES["truth"], *NAMES["predicted"], *TRUTH_LIKELY, *PREDICTED_LIKELY}:
        return
    if joined.spelled(column) != known.spelled(truth):
        return
    others = [other for other in joined.columns if other not in known.columns and other != roles.truth]
    raise RolesNeeded(
        f"Column {column!r} is in both files and says the same in every row, so that it may be an input. Which column "
        "holds what the model predicted?",
        replace(roles, predicted=others[0] if others else None),
        (*others, column),
        "predicted",
    )


def _answered(question: RolesNeeded | None, joined: Table, roles: Roles) -> Roles:
    """The roles of joined files, where the truth answers what the predictions left open, if any; else the question."""
    if question is None or roles.says_something:
        return roles
    try:
        return complete_roles(joined, roles)
    except DataError:
        raise question from None


def _own_roles(predictions: Table, roles: Roles | None) -> tuple[Roles, RolesNeeded | None]:
    """What the columns of the predictions are, and the question that is left, which the truth may answer."""
    try:
        return complete_roles(predictions, roles, half="predictions"), None
    except RolesNeeded as needed:
        return needed.guess, needed


def in_joined(column: str, predictions: Table, known: Table) -> str:
    """What a column of the truth is called beside the predictions: by its own name, unless these have one like it."""
    return column if column not in predictions.columns else f"{column} ({known.name})"


def _with_columns(known: Table, truth_roles: Roles, predictions: Table, roles: Roles) -> tuple[Table, Roles]:
    """The predictions with the columns that the truth, its rows in their order, has a role for; and all the roles."""
    columns, truths = truth_roles.by_role(_FROM_TRUTH), truth_roles.truths
    _check_same_in_both(columns, roles, known, predictions)
    why = dict(truth_roles.why)
    new = {role: column for role, column in columns.items() if getattr(roles, role) is None}
    called = {column: in_joined(column, predictions, known) for column in (*new.values(), *truths.values())}
    roles = replace(roles, **{role: called[column] for role, column in new.items()})
    roles = _with_truths(roles.because(**{role: why.get(role, "as given") for role in new}), truths, called)
    added = {name: known.columns[column] for column, name in called.items()}
    return replace(predictions, columns={**predictions.columns, **added}), roles


def _with_names(known: Table, truth_roles: Roles, joined: Table, roles: Roles, join: str) -> tuple[Table, Roles]:
    """Rows that joined by line with the names that one of the files has for them, and the way that they joined."""
    named = keep_names(Reading(joined, None, roles)).roles
    if named.id is not None:
        return joined, replace(named, join=join)
    own = truth_roles.id if truth_roles.id is not None and known.is_unique(truth_roles.id) else None
    if truth_roles.id is None:
        own = keep_names(Reading(known, None, replace(truth_roles, predicted=truth_roles.truth))).roles.id
    if own is None:
        return joined, roles
    column = in_joined(own, joined, known)
    roles = replace(roles, id=column, join=join).because(id="it names every row of the truth")
    return replace(joined, columns={**joined.columns, column: known.columns[own]}), roles


def _with_truths(roles: Roles, truths: dict[str, str], called: dict[str, str]) -> Roles:
    """A truth for each task that has one; where one truth is there for all that stand side by side, they are models."""
    if truths:
        parts = (replace(p, truth=called[truths[p.name]]) if p.name in truths else p for p in roles.parts)
        return replace(roles, parts=tuple(parts))
    if roles.truth is not None and roles.task is None and any(part.kind == "task" for part in roles.parts):
        return replace(roles, parts=tuple(replace(part, kind="model") for part in roles.parts), model=None)
    return roles


def _roles_apart(roles: Roles, known: Table, predictions: Table) -> tuple[Roles, Roles | None]:
    """Roles of joined files as those of the predictions, and those of the truth, whose ids have to be guessed."""
    columns, here = roles.by_role(("id", *_FROM_TRUTH)), predictions.columns
    moved = {role: column for role, column in columns.items() if column not in here}
    truths = {name: column for name, column in roles.truths.items() if column not in here}
    if not moved | truths:
        return roles, None
    suffix = f" ({known.name})"
    own = {role: column.removesuffix(suffix) for role, column in moved.items()}
    parts = tuple(Part("task", name, truth=column.removesuffix(suffix)) for name, column in truths.items())
    left = tuple(replace(part, truth=None) if part.name in truths else part for part in roles.parts)
    return replace(roles, **dict.fromkeys(moved), parts=left), Roles(**{"id": guess_roles(known).id} | own, parts=parts)


def _check_same_in_both(columns: dict[str, str], roles: Roles, known: Table, predictions: Table) -> None:
    for role, column in columns.items():
        if (own := getattr(roles, role)) is None:
            continue
        there, here = known.strings(column), predictions.strings(own)
        differing = [row for row, (a, b) in enumerate(zip(here, there, strict=True)) if a != b]
        if differing:
            first = differing[0]
            raise DataError(
                f"{predictions.place(first)}: {role} is {here[first]!r} here (column {own!r}) but {there[first]!r} in "
                f"{known.name} (column {column!r}), and in {len(differing):,} of {predictions.n_rows:,} rows in all. "
                "Are these the same rows? Leave one of the two columns out."
            )


def find_truth(
    known: Table, roles: Roles | None, predictions: Table, roles_of_predictions: Roles
) -> tuple[Roles, Roles]:
    """The roles of the truth, and those of the predictions, about which the truth may tell more.

    Predictions of several tasks side by side take a column each, known by its name; columns of labels that are called
    alike in both files are tasks too. DataError where only some of the tasks have a truth.

    >>> from touchstone.core.data.tables.table import make_table
    >>> known = make_table("truth.csv", ["id", "size", "hue"], [["a", "b"], ["S", "L"], ["r", "g"]], lines=[2, 3])
    >>> columns = [["a", "b"], ["S", "S"], ["r", "r"]]
    >>> predictions = make_table("t.csv", ["id", "size_pred", "hue_pred"], columns, lines=[2, 3])
    >>> parts = (Part("task", "size", predicted="size_pred"), Part("task", "hue", predicted="hue_pred"))
    >>> [part.truth for part in find_truth(known, None, predictions, Roles(id="id", parts=parts))[0].parts]
    ['size', 'hue']
    """
    if roles is None:
        if not roles_of_predictions.says_something:
            roles_of_predictions = _shared_names(known, predictions, roles_of_predictions)
        if parts := _by_task(known, roles_of_predictions):
            named = replace(_rows_of(known), parts=parts).because(parts="by the names of the tasks")
            return named, roles_of_predictions
    return complete_roles(known, roles, half="truth"), roles_of_predictions


def fold_truth(known: Table, predictions: Table) -> tuple[Table, Table]:
    """A truth of its own that is a column of 0 and 1 per class, as one column; so also predictions called alike.

    Whatever the columns are called: there must be no other truth, no tasks in the predictions, and a single 1 per row.
    DataError names the line where that fails for the classes that the predictions are about.

    >>> from touchstone.core.data.tables.table import make_table
    >>> known = make_table("truth.csv", ["id", "cat", "dog"], [["a", "b"], [1, 0], [0, 1]], lines=[2, 3])
    >>> predictions = make_table("said.csv", ["id", "predicted"], [["a", "b"], ["cat", "cat"]], lines=[2, 3])
    >>> fold_truth(known, predictions)[0].strings("truth")
    ['cat', 'dog']
    """
    free = _could_be_classes(known)
    if len(free) < 2 or not _are_alone(known, predictions, free):
        return known, predictions
    guess = guess_roles(predictions, half="predictions")
    classes = set(dict(guess.probabilities))
    members = _by_class(free, classes)
    row = first_not_one(known, free)
    alike = set(free) <= set(Reading(predictions, "predictions", guess).free)
    binary = alike and all(map(partial(is_binary, predictions), free))
    if row is None:
        if binary and first_not_one(predictions, free) is None:
            predictions = fold_columns(predictions, members, "predicted")
        return fold_columns(known, members, "truth"), predictions
    is_meant = not _are_scores_of_tasks(known, predictions, free) if alike else classes == set(members)
    if binary or not is_meant:
        return known, predictions  # labels or scores of several tasks, or anything
    raise DataError(
        f"{known.place(row)}: columns {listed(free)} do not hold a single 1, so that the row has several labels, or "
        f"none. {ONE_LABEL}"
    )


def _could_be_classes(known: Table) -> list[str]:
    """The columns without a role, but for words that tell every row apart: these are names, and hold no class."""
    free = _free(Reading(known, "truth", _rows_of(known)))
    return [column for column in free if known.kind(column) != "words" or not known.is_unique(column)]


def _are_alone(known: Table, predictions: Table, columns: Sequence[str]) -> bool:
    """Whether columns of 0 and 1 are the only truth there is, and of one task."""
    if not all(is_binary(known, column) for column in columns) or guess_roles(known, half="truth").has_truth:
        return False
    guess = guess_roles(predictions, half="predictions")
    return not guess.has_truth and not any(part.kind == "task" for part in guess.parts)


def _rows_of(table: Table) -> Roles:
    """Id and what divides the rows, by name."""
    return name_rows(Reading(table, "truth")).roles


def _free(reading: Reading) -> list[str]:
    """The columns without a role that name no rows."""
    return [column for column in reading.free if column.lower() not in ROW_NAMES]


def _by_task(known: Table, roles: Roles) -> tuple[Part, ...]:
    """A column of truth for each task; none where there is a column for none of them."""
    tasks = [part.name for part in roles.parts if part.kind == "task" and part.truth is None]
    column_of = _called_like_tasks(known.columns)
    truths = {task: column_of.get(compact(task)) for task in tasks}
    absent = [task for task, column in truths.items() if column is None]
    if len(absent) == len(truths):
        return ()
    if absent:
        raise DataError(
            f"{known.name}: no column holds the truth of {listed(absent)}. The columns are {listed(known.columns)}. "
            f"Add a column such as '{absent[0]}_true', or leave that task out of the predictions."
        )
    return tuple(Part("task", task, truth=column) for task, column in truths.items())


def _called_like_tasks(columns: Iterable[str]) -> dict[str, str]:
    """The columns by the tasks whose truth they may hold: each by its name, with no word for a truth around it."""
    of_stems = {compact(name): roles["truth"] for name, roles in stems(columns).items() if "truth" in roles}
    return {compact(column): column for column in columns} | of_stems


def _shared_names(known: Table, predictions: Table, roles: Roles) -> Roles:
    """Columns of labels that are called alike in both files are tasks; so are scores that are called like 0 and 1."""
    truths = Reading(known, "truth", _rows_of(known)).free
    shared = [column for column in _free(Reading(predictions, "predictions", roles)) if column in truths]
    if len(shared) < 2 or not all(map(known.is_label, shared)):
        return roles
    if all(map(predictions.is_label, shared)):
        parts = tuple(Part("task", column, predicted=column) for column in shared)
        return replace(roles, parts=parts).because(parts="called alike in both files")
    if not _are_scores_of_tasks(known, predictions, shared):
        return roles
    parts = tuple(Part("task", column, confidence=column) for column in shared)
    reasons = {
        "parts": "called alike in both files",
        "positive": "a score called like a column of 0 and 1 is that of 1",
    }
    return replace(roles, parts=parts, positive="1").because(**reasons)


def _are_scores_of_tasks(known: Table, predictions: Table, columns: Sequence[str]) -> bool:
    """Whether columns hold 0 and 1 in the truth, each a task, and the probability of 1 in the predictions.

    Where these sum to 1 in each row they are classes of one task.
    """
    if not all(is_binary(known, column) for column in columns) or first_not_one(known, columns) is None:
        return False
    scores = predictions.matrix(columns)
    inside, apart = (scores >= 0) & (scores <= 1), np.abs(scores.sum(axis=1) - 1) > ROUNDED
    fractions = any(predictions.kind(column) == "fraction" for column in columns)
    return fractions and bool(inside.all() and apart.any())


def _by_class(columns: list[str], classes: set[str]) -> dict[str, str]:
    """The columns by class: what they are called, without what all begin with, unless predictions know whole names.

    That is cut behind a mark such as "_": "onehot_" of "onehot_0" and "onehot_1".
    """
    ends = [] if classes == set(columns) else [mark.end() for mark in re.finditer(r"[_\-. :]", columns[0])]
    starts = ["", *(columns[0][:end] for end in ends)]
    stem = next(each for each in reversed(starts) if all(c.startswith(each) and c != each for c in columns))
    return {column.removeprefix(stem): column for column in columns}
