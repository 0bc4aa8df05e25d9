"""How do folds get out and in? The files of the paper's notebooks: one row per sample, folds counted from 1.

`datasplits_<name>.tsv` holds ids and clustering_labels; `analysis_<name>.tsv` gold_labels and two principal
components beside them; predictions hold id, gold and predicted. (Wecker et al. 2020, section 4)
"""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np
from jaxtyping import Float, Integer, Shaped

from touchstone.core.data.errors import DataError
from touchstone.core.data.limits import File, Limits
from touchstone.core.data.predictions.upload import GivenFile, PredictionUpload
from touchstone.core.data.tables.files import read_table
from touchstone.core.data.tables.names import NAMES, called, class_order
from touchstone.core.data.tables.table import Table
from touchstone.core.data.values import quoted

UNTESTED = "-1"
"""What stands in a file for a row that is in no test part, as in scikit-learn's PredefinedSplit."""

Ids = Shaped[np.ndarray, " n_samples"]
Codes = Integer[np.ndarray, " n_samples"]
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
    return _fold_tsv({"ids": ids.tolist(), "clustering_labels": _named(folds, names)})


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
    return _fold_tsv({"ids": ids.tolist(), **labels, **places})


def predictions_file(ids: Ids, gold: Ids, predicted: Ids) -> bytes:
    """The file that the notebooks expect back: id (not ids), gold and predicted, both class names.

    >>> print(predictions_file(np.array(["a"]), np.array(["cat"]), np.array(["dog"])).decode())
    id	gold	predicted
    a	cat	dog
    <BLANKLINE>
    """
    return _fold_tsv({"id": ids.tolist(), "gold": gold.tolist(), "predicted": predicted.tolist()})


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


def _fold_tsv(columns: dict[str, Iterable[str]]) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter="\t", lineterminator="\n")
    writer.writerows([tuple(columns), *zip(*columns.values(), strict=True)])
    return stream.getvalue().encode()
