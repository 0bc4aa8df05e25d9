"""How are files of predictions read, and what is kept of them? One file, or the truth in a file of its own.

A second file may hold the truth for all, per task or per class, or how rows are divided. Kept are the files as they
were given, and what their columns are.
"""

import csv
import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePath
from typing import Any

import numpy as np
from jaxtyping import Float, Integer

from touchstone.core.data.dataset import key
from touchstone.core.data.errors import DataError, Oddity
from touchstone.core.data.limits import File, Limits, opened
from touchstone.core.data.predictions.blocks import Block, read_block
from touchstone.core.data.predictions.guess import complete_roles, guess_roles, stands_twice
from touchstone.core.data.predictions.inputs import inputs_of, texts_of, whole
from touchstone.core.data.predictions.join import join_tables
from touchstone.core.data.predictions.record import IN_TRIAL, KEPT, Predictions, PredictionTable
from touchstone.core.data.predictions.roles import APART, LIKELY, Half, Part, Roles
from touchstone.core.data.predictions.shapes import read_prediction_table
from touchstone.core.data.tables.files import read_table
from touchstone.core.data.tables.names import NAMES, called, class_order, codes_of
from touchstone.core.data.tables.sources import with_settled_sources
from touchstone.core.data.tables.table import Table
from touchstone.core.data.values import Codes, Ids, first_repeat, listed, quoted

_KINDS = ("predictions", "truth")


def read_predictions(
    file: File, *, roles: Roles | None = None, name: str | None = None, limits: Limits | None = None
) -> PredictionTable:
    """Read a user's file of predictions, given by its path or open for reading bytes; its ending says what is in it.

    `roles` say what its columns are, and are guessed where they are not given. DataError says what is wrong with the
    file; RolesNeeded asks what cannot be decided, and carries the guess. docs/file-formats.md describes the formats.

    >>> file = io.BytesIO(b"id,gold,predicted,prob\\n1,cat,cat,0.9\\n2,dog,cat,0.6\\n")
    >>> file.name = "pets.csv"
    >>> predictions = read_predictions(file).select()
    >>> predictions.accuracy, predictions.class_names
    (0.5, ('cat', 'dog'))
    """
    return prediction_table(read_prediction_table(file, limits=limits), roles=roles, name=name)


@dataclass(frozen=True)
class GivenFile:
    """A file as somebody gave it; `roles` say what its columns are, None leaves it to be guessed."""

    name: str
    content: bytes = field(repr=False)
    roles: Roles | None = None

    def open(self) -> io.BytesIO:
        """The file, open for reading, with its name."""
        return opened(self.content, PurePath(self.name).name)


@dataclass(frozen=True)
class PredictionUpload:
    """A file of predictions and, where the truth is in a file of its own, that file.

    >>> upload = PredictionUpload(GivenFile("pets.csv", b"id,gold,predicted\\n1,cat,cat\\n2,dog,cat\\n"))
    >>> upload.read().select().accuracy
    0.5
    >>> PredictionUpload.from_bytes(upload.to_bytes()) == upload
    True
    """

    predictions: GivenFile
    truth: GivenFile | None = None

    @property
    def name(self) -> str:
        """What it is called on the screen: the name of the file of predictions."""
        return self.predictions.name

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hex, of names, bytes and roles: of all that reading it can depend on."""
        import hashlib

        given = [file for file in (self.predictions, self.truth) if file is not None]
        contents = [hashlib.sha256(file.content).hexdigest() for file in given]
        roles = [None if file.roles is None else file.roles.to_json() for file in given]
        return key("touchstone prediction files 1", *zip([file.name for file in given], contents, roles, strict=True))

    def read(self, *, limits: Limits | None = None) -> PredictionTable:
        """What the files say; DataError or RolesNeeded as `read_predictions` and `join_predictions` raise them."""
        predictions, truth = self.predictions, self.truth
        if truth is None:
            return read_predictions(predictions.open(), roles=predictions.roles, limits=limits)
        roles, truth_roles = predictions.roles, truth.roles
        # Once somebody has used the files, roles are given for all that is needed.
        confirmed = roles is not None and roles.says_something and (roles.has_truth or truth_roles is not None)
        given = {"roles": roles, "truth_roles": truth_roles, "limits": limits, "confirmed": confirmed}
        return join_predictions(truth.open(), predictions.open(), **given)

    def to_bytes(self) -> bytes:
        """All of it as one zip archive; `from_bytes` reads it back."""
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for kind, file in zip(_KINDS, (self.predictions, self.truth), strict=True):
                if file is None:
                    continue
                archive.writestr(_entry(f"{kind}/name"), file.name.encode())
                archive.writestr(_entry(f"{kind}/content"), file.content)
                if file.roles is not None:
                    archive.writestr(_entry(f"{kind}/roles.json"), file.roles.to_json())
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> "PredictionUpload":
        """Read what `to_bytes` wrote."""
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            there = set(archive.namelist())
            files = []
            for kind in (kind for kind in _KINDS if f"{kind}/content" in there):
                name, own, roles = (f"{kind}/{what}" for what in ("name", "content", "roles.json"))
                given = Roles.from_json(archive.read(roles)) if roles in there else None
                files.append(GivenFile(archive.read(name).decode(), archive.read(own), given))
        if not files:
            raise DataError("These are no stored predictions. Upload the file again.")
        return cls(*files)


def _entry(name: str) -> zipfile.ZipInfo:
    """An entry without a date, so that the same files are the same bytes."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def join_predictions(
    truth: File | Table,
    predictions: File | Table,
    *,
    roles: Roles | None = None,
    truth_roles: Roles | None = None,
    name: str | None = None,
    limits: Limits | None = None,
    confirmed: bool = False,
) -> PredictionTable:
    """Read the truth, or how rows are divided into sets, folds or sources, from one file and predictions from another.

    Rows join by id where both files have ids, or by another column that names every row in both, and by line where
    nothing speaks against it and there are as many; `notes` say which. RolesNeeded asks where columns contradict that.
    `truth_roles` and `roles` say what the columns of each are, or are guessed; the roles of what was joined before, or
    of a question about it, do for both. Files that somebody has seen joined with these roles are `confirmed`: their
    lines stay joined, with a warning where something speaks against it. DataError where ids do not join, with the
    counts both ways, or where both files hold a truth and these differ.

    >>> from touchstone.core.data.tables.table import make_table
    >>> truth = make_table("truth.tsv", ["id", "label"], [["a", "b"], ["cat", "dog"]], lines=[2, 3])
    >>> predictions = make_table("said.tsv", ["id", "label"], [["b", "a"], ["dog", "dog"]], lines=[2, 3])
    >>> join_predictions(truth, predictions).select().correct
    array([ True, False])
    """
    files = (truth, predictions)
    tables = [file if isinstance(file, Table) else read_prediction_table(file, limits=limits) for file in files]
    joined, roles = join_tables(*tables, roles=roles, truth_roles=truth_roles, confirmed=confirmed)
    return prediction_table(joined, roles=roles, name=name)


def prediction_table(table: Table, *, roles: Roles | None = None, name: str | None = None) -> PredictionTable:
    """Make sense of a table of predictions: `roles` say what its columns are, or are guessed (`guess_roles`).

    All of it is checked here, so that every refusal comes before anything is computed. RolesNeeded asks what could not
    be decided, and carries the guess: answer with corrected roles.
    """
    roles = complete_roles(table, roles)
    roles.check(table)
    table, roles, gaps = with_settled_sources(table, roles)
    dividing = roles.by_role(("model", "set", "task", *KEPT))
    groups = {role: np.array(table.strings(column), dtype=object) for role, column in dividing.items()}
    inputs = inputs_of(table, roles)
    ids, of_ids = _ids(table, roles, groups, inputs)
    _check_ids(table, ids, groups)
    parts = roles.parts or (Part("model", "", roles.truth, roles.predicted, roles.confidence),)
    rows_of = _rows_of(groups["task"]) if "task" in groups else {None: None}
    blocks = [read_block(table, roles, part, rows, task=task) for part in parts for task, rows in rows_of.items()]
    return PredictionTable(
        name=name or table.name.split(".")[0] or table.name,
        roles=roles,
        _of_file=(*table.notes, *_notes(table, roles, inputs), *of_ids),
        _odd=(*table.warnings, *gaps, *repeated_rows(table, roles)),
        _ids=np.array(ids, dtype=object),
        _groups=groups,
        _inputs=inputs,
        _blocks=with_same_classes(blocks),
    )


_SURE, _FEWEST_REPEATED, _BINS = 0.99, 3, 20
"""Scores above it are often the same; so few repeats are luck; in how many bins it is seen how densely scores lie."""
_ENOUGH = 20
"""Of so many columns of scores it is seen whether rows are the same."""
_DIFFERENT, _MOST_ALIKE, _SOME = 0.6, 4, 0.05
"""A model knows few scores where so few differ, or where more than some rows have one that stands more often."""


def repeated_rows(table: Table, roles: Roles) -> tuple[Oddity, ...]:
    """Whether rows without an id stand several times, scores and all, more often than rounded scores meet by chance.

    Scores that are nearly 1, and those of models that know few different ones, say nothing.

    >>> from touchstone.core.data.tables.table import make_table
    >>> cells = [["a", "b"] * 20, ["a", "b"] * 20, [0.5 + row % 30 / 71 for row in range(40)]]
    >>> table = make_table("t.csv", ["gold", "predicted", "prob"], cells, lines=range(40))
    >>> print(repeated_rows(table, guess_roles(table))[0])
    10 of 40 rows are the same as an earlier one, scores and all: do samples count twice?
    """
    labels, scores = _labels_and_scores(roles)
    if roles.id is not None or not scores:
        return ()
    numbers = table.matrix(scores[:_ENOUGH])
    unsure = (np.abs(numbers - 0.5) < _SURE - 0.5).any(axis=1)
    n_unsure = int(unsure.sum())
    if n_unsure < _FEWEST_REPEATED or not np.isfinite(numbers).all():
        return ()
    of_scores = _hashed(list(numbers.T))
    whole = _hashed([of_scores, *(np.array(table.spelled(column), dtype=object) for column in labels)])
    met = np.unique(of_scores[unsure], return_counts=True)[1]
    n_repeated = n_unsure - len(np.unique(whole[unsure]))
    by_chance = min(map(_met_by_chance, numbers[unsure].T))
    too_many = n_repeated >= max(_FEWEST_REPEATED, by_chance + 3 * by_chance**0.5)
    knows_few = len(met) < _DIFFERENT * n_unsure or met[met > _MOST_ALIKE].sum() > _SOME * n_unsure
    if not too_many or knows_few:
        return ()
    n = table.n_rows - len(np.unique(whole))
    text = f"{n:,} of {table.n_rows:,} rows are the same as an earlier one, scores and all: do samples count twice?"
    return (Oddity(text, "repeated_rows", n, table.n_rows),)


def _labels_and_scores(roles: Roles) -> tuple[list[str], list[str]]:
    """The columns of labels, true and predicted, each once; and those of scores."""
    parts = roles.parts or (Part("model", "", roles.truth, roles.predicted, roles.confidence, roles.probabilities),)
    labels = dict.fromkeys(column for part in parts for column in (part.truth or roles.truth, part.predicted) if column)
    scores = [column for part in parts for column in (part.confidence, *(c for _, c in part.probabilities)) if column]
    return list(labels), scores


def _hashed(columns: list[np.ndarray]) -> Integer[np.ndarray, " n_rows"]:
    """A number for each row, the same for rows that are the same."""
    import pandas as pd

    return pd.util.hash_pandas_object(pd.DataFrame(dict(enumerate(columns))), index=False).to_numpy()


def _met_by_chance(scores: Float[np.ndarray, " n_rows"]) -> float:
    """How many pairs of rounded scores are equal if they lie as densely as these do, and are otherwise unlike."""
    rounding = next((10.0**-n for n in range(1, 9) if np.abs(scores - scores.round(n)).max() < 1e-9), 1e-9)
    counts, edges = np.histogram(scores, bins=_BINS)
    n_written = max(1.0, (edges[1] - edges[0]) / rounding)
    return float((counts.astype(float) ** 2).sum() / (2 * n_written))


def lacking(table: Table, roles: Roles | None = None) -> tuple[Half, ...]:
    """Which half a second file may hold, by what a table holds; both where its only labels may be either.

    >>> from touchstone.core.data.tables.table import make_table
    >>> [lacking(make_table("t.tsv", ["id", name], [["a", "b", "c"], ["x", "y", "x"]], lines=[2, 3, 4]))
    ...  for name in ("gold", "predicted", "label")]
    [('predictions',), ('truth',), ('truth', 'predictions')]
    """
    roles = roles or guess_roles(table)
    either = dict(roles.why).get("truth") == LIKELY and not roles.says_something
    known: dict[Half, bool] = {"truth": roles.has_truth and not either, "predictions": roles.says_something}
    return tuple(half for half, there in known.items() if not there)


def _rows_of(values: np.ndarray) -> dict[str, np.ndarray]:
    """The rows of each value, in the order in which the values come."""
    rows: dict[str, list[int]] = {}
    for row, value in enumerate(values.tolist()):
        rows.setdefault(value, []).append(row)
    return {value: np.array(each, dtype=np.int64) for value, each in rows.items()}


def _ids(
    table: Table, roles: Roles, groups: Mapping[str, np.ndarray], inputs: Mapping[str, np.ndarray]
) -> tuple[list[str], tuple[str, ...]]:
    """What the samples are called, and a note where no column says it.

    Where a file without ids has trials, and each has the same samples, by a text or by the order of true classes, a
    sample is called alike in all of them: else it would count as often as it was predicted.
    """
    if roles.id is not None:
        return table.strings(roles.id), ()
    counted = [str(row) for row in range(table.n_rows)], ("Ids: positions of the rows, counted from 0.",)
    if "trial" not in groups or roles.truth is None or {"model", "set", "task"} & groups.keys():
        return counted
    rows_of = list(_rows_of(groups["trial"]).values())
    if len(rows_of) < 2 or len({len(rows) for rows in rows_of}) > 1:
        return counted
    return _ids_in_trials(np.array(table.spelled(roles.truth), dtype=object), rows_of, texts_of(inputs)) or counted


def _ids_in_trials(
    truth: np.ndarray, rows_of: list[np.ndarray], inputs: Mapping[str, np.ndarray]
) -> tuple[list[str], tuple[str, ...]] | None:
    """What samples are called that are the same in all trials, and by what they are; None where nothing tells it."""
    for column, texts in inputs.items():
        in_first = {*texts[rows_of[0]].tolist()}
        if len(in_first) == len(rows_of[0]) and all({*texts[rows].tolist()} == in_first for rows in rows_of):
            return texts.tolist(), (f"Ids: column {column!r}, whose texts are the same in all trials.",)
    if not all((truth[rows] == truth[rows_of[0]]).all() for rows in rows_of[1:]):
        return None
    names = np.empty(len(truth), dtype=object)
    for rows in rows_of:
        names[rows] = [IN_TRIAL.format(place) for place in range(len(rows))]
    return names.tolist(), ("Ids: positions of the rows within each trial, whose true classes are the same.",)


def _check_ids(table: Table, ids: list[str], groups: dict[str, np.ndarray]) -> None:
    """Each id once per model, set, task and trial."""
    apart = [groups[role] for role in APART if role in groups]
    if len(set(ids)) < len(ids) and (repeat := first_repeat(zip(ids, *apart, strict=True))):
        raise stands_twice(table, repeat, ids, " for the same model, set, task or trial" if apart else "")


def _notes(table: Table, roles: Roles, inputs: Mapping[str, np.ndarray]) -> list[str]:
    notes = list(map("{}.".format, roles.lines()))
    if met_again := whole(inputs):
        notes.append(f"Samples are found in other files by their inputs: {listed(met_again)}.")
    if gaps := [name for name in inputs if name not in met_again]:
        notes.append(f"Known of some samples only: {listed(gaps)}.")
    free = roles.free_in(table)
    unused = [column for column in free if column not in inputs]
    fractions = [column for column in free if table.kind(column) == "fraction"]
    if fractions and not _tells_confidence(roles):
        which = f"column {fractions[0]!r}" if len(fractions) == 1 else f"one of {listed(fractions)}"
        notes.append(f"No confidence was found. If {which} holds it, choose that column as the confidence.")
    return [*notes, f"Not used: {listed(unused)}."] if unused else notes


def _tells_confidence(roles: Roles) -> bool:
    """Whether any column tells how sure a model was."""
    of_parts = any(part.confidence or part.probabilities for part in roles.parts)
    return bool(roles.confidence or roles.probabilities or roles.vector or of_parts)


def with_same_classes(blocks: list[Block]) -> tuple[Block, ...]:
    """Blocks of models in one task share class names, so that they can be compared; those of tasks keep their own.

    >>> from touchstone.core.data.tables.table import make_table
    >>> table = make_table("t.tsv", ["gold", "a", "b"], [["x", "y"], ["x", "x"], ["z", "y"]], lines=[2, 3])
    >>> parts = [Part("model", name, predicted=name) for name in "ab"]
    >>> blocks = [read_block(table, Roles("gold"), part) for part in parts]
    >>> [block.class_names for block in with_same_classes(blocks)]
    [('x', 'y', 'z'), ('x', 'y', 'z')]
    """
    if all(block.task is not None for block in blocks) or len({block.class_names for block in blocks}) == 1:
        return tuple(blocks)
    names = class_order({name for block in blocks for name in block.class_names})
    return tuple(_recoded(block, names) for block in blocks)


def _recoded(block: Block, names: tuple[str, ...]) -> Block:
    places = codes_of(block.class_names, names)
    proba = block.proba
    if proba is not None:
        proba = np.zeros((len(block.rows), len(names)))
        proba[:, places] = block.proba
    return replace(block, class_names=names, y_true=places[block.y_true], y_pred=places[block.y_pred], proba=proba)


# How are predictions written? As a TSV that reads back the same; beside it a file to fill in, and one to try.


def write_predictions(predictions: Predictions) -> bytes:
    """The predictions as TSV, which `read_predictions` understands without a question.

    Columns are id, y_true, y_pred, then `prob_` and the class for each class or else confidence, then the groups and
    what is known of inputs.
    Without probabilities a class that no row speaks of is forgotten.

    >>> predictions = Predictions(["a", "b"], [0, 1], [0, 0], ["cat", "dog"], confidence=[0.9, 0.6])
    >>> print(write_predictions(predictions).decode())
    id	y_true	y_pred	confidence
    a	cat	cat	0.9
    b	dog	cat	0.6
    <BLANKLINE>
    """
    names = np.array(predictions.class_names, dtype=object)
    columns = {"id": predictions.ids, "y_true": names[predictions.y_true], "y_pred": names[predictions.y_pred]}
    if predictions.proba is not None:
        columns |= {f"prob_{name}": predictions.proba[:, code] for code, name in enumerate(names)}
    elif predictions.confidence is not None:
        columns["confidence"] = predictions.confidence
    columns |= predictions.groups
    known = {name: _with_gaps(each) for name, each in predictions.inputs.items() if name not in columns}
    return _tsv(columns | known)


def _with_gaps(values: np.ndarray) -> np.ndarray:
    """Numbers with nothing where there is none."""
    if values.dtype == object or not np.isnan(values).any():
        return values
    return np.where(np.isnan(values), None, values.astype(object))


def _tsv(columns: dict[str, np.ndarray]) -> bytes:
    values = {name: each.tolist() for name, each in columns.items()}
    cells = (cell for each in (values, *values.values()) for cell in each if isinstance(cell, str))
    plain = not any(mark in cell for cell in cells for mark in '"\t\r\n') and not next(iter(values)).startswith("#")
    return _written(values, csv.QUOTE_MINIMAL if plain else csv.QUOTE_ALL)


def _written(columns: dict[str, Iterable[Any]], quoting: Any = csv.QUOTE_MINIMAL) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter="\t", lineterminator="\n", quoting=quoting)
    writer.writerows([tuple(columns), *zip(*columns.values(), strict=True)])
    return stream.getvalue().encode()


def template() -> bytes:
    """A file of predictions to fill in, as TSV: the columns that Touchstone likes best, with two rows of example.

    >>> print(template().decode().splitlines()[0])
    id	gold	predicted	confidence	set	model
    """
    rows = ("r1\tcat\tcat\t0.93\toriginal\tmodel A", "r2\tdog\tcat\t0.58\tnew\tmodel A")
    return "\n".join(("id\tgold\tpredicted\tconfidence\tset\tmodel", *rows, "")).encode()


def sample() -> bytes:
    """A file of simulated predictions to try, as TSV: one model of three classes on an original and a harder new set.

    >>> from touchstone.core.data import read_predictions
    >>> file = io.BytesIO(sample())
    >>> file.name = "sample.tsv"
    >>> read_predictions(file).sets
    ('original', 'new')
    """
    rng = np.random.default_rng(0)
    names = np.array(["cat", "dog", "fox"], dtype=object)
    parts = []
    for label, n_samples, distance in (("original", 600, 2.5), ("new", 200, 1.2)):
        y_true = rng.integers(3, size=n_samples)
        logits = rng.normal(size=(n_samples, 3))
        logits[np.arange(n_samples), y_true] += distance
        proba = np.exp(1.3 * logits)
        proba = np.round(proba / proba.sum(axis=1, keepdims=True), 4)
        ids = [f"{label}-{row}" for row in range(n_samples)]
        parts.append((ids, names[y_true], names[proba.argmax(axis=1)], proba, [label] * n_samples))
    ids, gold, predicted, proba, sets = (np.concatenate(values) for values in zip(*parts, strict=True))
    columns = {f"prob_{name}": proba[:, code] for code, name in enumerate(names)}
    return _tsv({"id": ids, "gold": gold, "predicted": predicted, **columns, "set": sets})


# How do folds get out and in? The files of the paper's notebooks: one row per sample, folds counted from 1.
#
# `datasplits_<name>.tsv` holds ids and clustering_labels; `analysis_<name>.tsv` gold_labels and two principal
# components beside them; predictions hold id, gold and predicted. (Wecker et al. 2020, section 4)

UNTESTED = "-1"
"""What stands in a file for a row that is in no test part, as in scikit-learn's PredefinedSplit."""

_MANY_FOLDS = 50
_PREFIXES = ("datasplits_", "analysis_", "predictions_")


@dataclass(frozen=True, eq=False)
class FoldTable:
    """Which fold every sample is tested in: `folds` are codes into `names`, and -1 for a sample that never is.

    `gold` and `coordinates` (two principal components) are there where the file tells them.

    Examples
    --------
    >>> file = io.BytesIO(b"ids\\tclustering_labels\\n7\\t2\\n8\\t1\\n9\\t1\\n")
    >>> file.name = "datasplits_randomized.tsv"
    >>> table = read_folds(file)
    >>> table.scheme, table.folds, table.names
    ('randomized', array([1, 0, 0]), ('1', '2'))
    >>> datasplits_file(table.ids, table.folds, names=table.names) == file.getvalue()
    True
    """

    name: str
    ids: Ids
    folds: Codes
    names: tuple[str, ...]
    gold: Ids | None = None
    coordinates: Float[np.ndarray, "n_samples 2"] | None = None

    @property
    def scheme(self) -> str:
        """The scheme that the name of the file tells, as the notebooks name their files."""
        return scheme_of(self.name)

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return len(self.names)


def scheme_of(file_name: str) -> str:
    """The scheme in a file's name.

    >>> scheme_of("data/datasplits_same_size_kmeans.tsv"), scheme_of("mine.csv")
    ('same_size_kmeans', 'mine')
    """
    stem = PurePath(file_name.removesuffix(".gz")).stem
    for prefix in _PREFIXES:
        if prefix in stem:
            return stem.split(prefix, 1)[1] or stem
    return stem


def read_folds(file: File, *, limits: Limits | None = None) -> FoldTable:
    """Read a file that says which fold each sample is in, with a column of ids and one of folds.

    The columns are found by their names (`ids` and `clustering_labels` in the notebooks' files; `id`, `fold` and the
    like do too). Folds are in numeric order where all of them are numbers. DataError where a column is missing, an id
    stands twice, or there are hardly two rows to a fold (of many).
    """
    table = read_table(file, limits=limits)
    id_column, fold_column = _column(table, "id", "the id of each sample"), _column(table, "fold", "its fold")
    ids, fold_names = table.strings(id_column), table.strings(fold_column)
    table.check_once(ids, "Each sample is in one fold: leave one of the two rows out.")
    names = class_order({name for name in fold_names if name != UNTESTED})
    _check_names(table, names, fold_column)
    code_of = {UNTESTED: -1} | {name: code for code, name in enumerate(names)}
    gold = next(iter(called(table.columns, ("goldlabels", "goldlabel", "gold"))), None)
    return FoldTable(
        name=table.name,
        ids=np.array(ids, dtype=object),
        folds=np.array([code_of[name] for name in fold_names], dtype=np.int64),
        names=names,
        gold=None if gold is None else np.array(table.strings(gold), dtype=object),
        coordinates=_coordinates(table),
    )


def _coordinates(table: Table) -> np.ndarray | None:
    """The principal components of each sample, where a file has both."""
    axes = sorted(column for column in table.columns if column.upper() in ("PC1", "PC2"))
    return np.column_stack([table.numbers(axis) for axis in axes]) if len(axes) == 2 else None


def folded_upload(predictions: GivenFile, folds: GivenFile, *, limits: Limits | None = None) -> PredictionUpload:
    """Predictions and the folds that they were made on, as one upload: stored, named and read like any other.

    Read, its `Predictions` have the folds in `groups["fold"]`. Samples that are in no test part have no predictions,
    so they are left out of the file of folds. DataError where it is no file of folds.

    Examples
    --------
    >>> predictions = GivenFile("predictions_mine.tsv", b"id\\tgold\\tpredicted\\n7\\tcat\\tcat\\n8\\tdog\\tcat\\n")
    >>> folds = GivenFile("datasplits_mine.tsv", b"ids\\tclustering_labels\\n8\\t1\\n9\\t-1\\n7\\t2\\n")
    >>> folded_upload(predictions, folds).read().select().groups["fold"]
    array(['2', '1'], dtype=object)
    """
    table = read_folds(folds.open(), limits=limits)
    if (table.folds < 0).any():
        tested = table.folds >= 0
        content = datasplits_file(table.ids[tested], table.folds[tested], names=table.names)
        folds = GivenFile(f"{PurePath(folds.name).stem}.tsv", content)
    return PredictionUpload(predictions, folds)


def datasplits_file(ids: Ids, folds: Codes, *, names: Sequence[str] | None = None) -> bytes:
    """`datasplits_<name>.tsv`: ids and clustering_labels, counted from 1 unless the folds have `names`.

    >>> print(datasplits_file(np.array(["a", "b", "c"]), np.array([1, 0, -1])).decode())
    ids	clustering_labels
    a	2
    b	1
    c	-1
    <BLANKLINE>
    """
    return _written({"ids": ids.tolist(), "clustering_labels": _named(folds, names)})


def analysis_file(
    ids: Ids,
    folds: Codes,
    gold: Ids,
    coordinates: Float[np.ndarray, "n_samples 2"],
    *,
    names: Sequence[str] | None = None,
) -> bytes:
    """`analysis_<name>.tsv`: ids, clustering_labels, gold_labels (class names) and the principal components PC1, PC2.

    >>> print(analysis_file(np.array(["a"]), np.array([0]), np.array(["cat"]), np.array([[0.5, -1.0]])).decode())
    ids	clustering_labels	gold_labels	PC1	PC2
    a	1	cat	0.5	-1.0
    <BLANKLINE>
    """
    labels = {"clustering_labels": _named(folds, names), "gold_labels": gold.tolist()}
    places = {f"PC{axis + 1}": map(repr, coordinates[:, axis].tolist()) for axis in range(2)}
    return _written({"ids": ids.tolist(), **labels, **places})


def predefined_split_file(ids: Ids, folds: Codes) -> bytes:
    """The folds as NPZ for scikit-learn: `PredefinedSplit(np.load(file)["test_fold"])` yields these very splits.

    `ids` say in which order the rows are; folds count from 0, and -1 is never tested.

    >>> np.load(io.BytesIO(predefined_split_file(np.array(["a", "b"]), np.array([1, 0]))))["test_fold"]
    array([1, 0])
    """
    stream = io.BytesIO()
    np.savez_compressed(stream, test_fold=folds, ids=np.array(ids.tolist(), dtype=np.str_))
    return stream.getvalue()


def _column(table: Table, role: str, what: str) -> str:
    columns = called(table.columns, NAMES[role])
    if not columns:
        raise DataError(
            f"{table.name}: no column holds {what}. A file of folds has the columns ids and clustering_labels; here "
            f"are {', '.join(map(repr, table.columns))}."
        )
    return columns[0]


def _check_names(table: Table, names: tuple[str, ...], column: str) -> None:
    if not names:
        raise DataError(f"{table.name}: column {column!r} holds {UNTESTED} only, so that nothing is ever tested.")
    if len(names) > max(_MANY_FOLDS, table.n_rows / 2):
        raise DataError(
            f"{table.name}: column {column!r} holds {len(names):,} folds for {table.n_rows:,} samples, such as "
            f"{quoted(names[0])}. A fold is a test set; is this the right column?"
        )


def _named(folds: np.ndarray, names: Sequence[str] | None) -> list[str]:
    names = names or [str(fold + 1) for fold in range(int(folds.max(initial=-1)) + 1)]
    return [UNTESTED if fold < 0 else names[fold] for fold in folds.tolist()]
