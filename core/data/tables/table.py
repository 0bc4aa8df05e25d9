"""What stands in a table that somebody else wrote?

Columns know their lines, whatever the format was, and what kind of thing their cells hold.
"""

import csv
import io
import mmap
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import islice
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Integer, Shaped

from touchstone.core.data.errors import DataError, Oddity
from touchstone.core.data.values import (
    as_numbers,
    first_repeat,
    listed,
    locked,
    numbers_in,
    objects,
    quoted,
    sample,
    spell,
)

# What do a million lines say, without a Python object for each cell? Columns of text as the file has it, read at once.
#
# Most files need nothing more than their lines cut at the delimiters. What does (quotation marks inside cells, lines of
# other lengths, other encodings) is not read here but line by line (`files`), where the words for it are.

# The file's size is limited already; csv's own limit of 131,072 is too small for documents.
csv.field_size_limit(2**31 - 1)

_BOM = b"\xef\xbb\xbf"
_CHUNK = 2**20
_BLOCK, _LINES = 2**20, 400  # bytes, and usual lines, that are parsed at once at least; no line is cut
_AT_ONCE, _ROWS = 16, 2**16  # columns and rows of a matrix that are written together
_SAMPLE = 1000
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
# What Python reads besides, such as " 1_000 " (between spaces of any kind) and "Infinity".
_PERHAPS_NUMBER = r"^[\s\p{Z}\x{85}\x{1c}-\x{1f}\p{Nd}eE+\-._nNaAiIfFtTyY]+$"
_LONGEST_NUMBER = 400  # not within the expression, which would then take 10 ms to compile, for every column


class TextColumns(Mapping[str, np.ndarray]):
    """Columns of text by name, each made into an array of str only when it is asked for, and kept then.

    >>> import pyarrow
    >>> columns = TextColumns({"a": pyarrow.chunked_array([["1.5", "x"]])})
    >>> columns["a"], columns.numbers("a")
    (array(['1.5', 'x'], dtype=object), array([1.5, nan]))
    """

    def __init__(self, columns: Mapping[str, Any]):
        self._columns = dict(columns)
        self._made: dict[str, np.ndarray] = {}

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._made:
            cells = self._columns[name]
            if 2 * len({*self.sample(name).tolist()}) < min(len(cells), _SAMPLE):  # one object for each value, then
                coded = cells.combine_chunks().dictionary_encode()
                self._made[name] = coded.dictionary.to_numpy(zero_copy_only=False)[coded.indices.to_numpy()]
            else:
                self._made[name] = cells.to_numpy() if len(cells) else objects([])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def sample(self, name: str) -> np.ndarray:
        """As `core.data.values.sample` of a column, without making all of it."""
        if name in self._made:
            return sample(self._made[name])
        cells = self._columns[name]
        step = max(1, len(cells) // _SAMPLE)
        return objects(cells.take(np.arange(0, len(cells), step)).to_pylist())

    def n_different(self, name: str) -> int:
        """How many different values a column has; cells of nothing but white space are all the same."""
        import pyarrow.compute as compute

        cells = self._columns[name]
        blank = cells.filter(compute.equal(compute.utf8_trim_whitespace(cells), ""))
        n_kinds_of_blank = compute.count_distinct(blank).as_py()
        return compute.count_distinct(cells).as_py() - max(0, n_kinds_of_blank - 1)

    def plain_numbers(self, name: str) -> Float[np.ndarray, " n_rows"] | None:
        """A column in which every cell is plainly a number; None where any is not, which is seen at the first."""
        return _plain_numbers(self._columns[name])

    def numbers(self, name: str) -> Float[np.ndarray, " n_rows"]:
        """A column as numbers, NaN where there is none; the same as `core.data.values.as_numbers` of it."""
        return _numbers(self._columns[name])

    def blocks(
        self, names: Sequence[str], *, for_good: bool = False
    ) -> Iterator[tuple[list[Any], Float[np.ndarray, "n_columns n_rows"]]]:
        """Some rows after the others of these columns: their text, and the numbers, NaN where there is none.

        `for_good` says that nobody will ask anything of these columns any more: each block of text is then forgotten
        once the next one is asked for.
        """
        import pyarrow

        columns = [self._columns[name].chunks for name in names]
        lengths = {tuple(map(len, chunks)) for chunks in columns}
        if len(lengths) > 1:
            columns = [[pyarrow.concat_arrays(chunks)] for chunks in columns]
        if for_good:
            self._let_go(names)
        for chunks in _emptied(columns):
            numbers = _plain_numbers(pyarrow.concat_arrays(chunks))  # one call for all columns, which may be many
            yield chunks, np.array(list(map(_numbers, chunks))) if numbers is None else numbers.reshape(len(names), -1)
            release()

    def _let_go(self, names: Sequence[str]) -> None:
        """Forget columns; what is left of small ones gets memory of its own, since theirs is shared with the others."""
        import pyarrow

        gone = sum(self._columns.pop(name).nbytes for name in names)
        for name in names:
            self._made.pop(name, None)
        if sum(cells.nbytes for cells in self._columns.values()) < gone:
            for name, cells in self._columns.items():
                if cells.num_chunks > 1:
                    self._columns[name] = pyarrow.chunked_array([cells.combine_chunks()])


def _emptied(columns: list[list[Any]]) -> Iterator[list[Any]]:
    """The first chunks of all columns, then the next ones, and so on; the lists are left without them."""
    for chunks in columns:
        chunks.reverse()
    while columns and columns[0]:
        yield [chunks.pop() for chunks in columns]


def _plain_numbers(cells: Any) -> Float[np.ndarray, " n_rows"] | None:
    import pyarrow
    import pyarrow.compute as compute

    try:
        return compute.cast(cells, pyarrow.float64()).to_numpy()
    except pyarrow.ArrowInvalid:
        return None


def _numbers(cells: Any) -> Float[np.ndarray, " n_rows"]:
    """Cells of text, in one chunk or several, as numbers, NaN where there is none."""
    import pyarrow
    import pyarrow.compute as compute

    numbers = _plain_numbers(cells)
    if numbers is not None:
        return numbers
    plain = compute.match_substring_regex(cells, _NUMBER)
    numbers = np.full(len(cells), np.nan)
    numbers[plain.to_numpy(zero_copy_only=False)] = compute.cast(cells.filter(plain), pyarrow.float64()).to_numpy()
    short = compute.less_equal(compute.utf8_length(cells), _LONGEST_NUMBER)
    perhaps = compute.and_(short, compute.match_substring_regex(cells, _PERHAPS_NUMBER))
    odd = compute.and_(compute.invert(plain), perhaps).to_numpy(zero_copy_only=False)
    if odd.any():
        numbers[odd] = as_numbers(objects(cells.filter(odd).to_pylist()))
    return numbers


def release() -> None:
    """Give memory of columns that were forgotten back to the system, which pyarrow would keep for others."""
    import pyarrow

    pyarrow.default_memory_pool().release_unused()


def _packed(batches: Iterable[Any]) -> Iterator[Any]:
    """The batches, each in memory of its own, which goes back to the system as soon as nobody needs the batch.

    pyarrow's own memory does so only once all batches are gone.
    """
    import pyarrow
    import pyarrow.ipc

    for batch in batches:
        message = batch.serialize()
        memory = mmap.mmap(-1, message.size)
        memory[:] = memoryview(message)
        schema = batch.schema
        del batch, message
        release()
        yield pyarrow.ipc.read_record_batch(pyarrow.py_buffer(memory), schema)


def side_by_side(columns: Iterator[np.ndarray], n_rows: int, n_columns: int) -> Float[np.ndarray, "n_rows n_columns"]:
    """Columns as a matrix, a row for each sample. A few are written at a time, which spares memory many visits.

    >>> side_by_side(iter([np.array([1.0, 2.0]), np.array([3.0, 4.0])]), 2, 2)
    array([[1., 3.],
           [2., 4.]])
    """
    matrix = np.empty((n_rows, n_columns))
    for start in range(0, n_columns, _AT_ONCE):
        group = list(islice(columns, _AT_ONCE))
        if n_rows >= _ROWS:
            release()  # what the columns were made from
        for row in range(0, n_rows, _ROWS):
            rows = slice(row, row + _ROWS)
            matrix[rows, start : start + _AT_ONCE] = np.array([column[rows] for column in group]).T
    return matrix


def read_columns(content: bytes, delimiter: str) -> tuple[list[Any], Integer[np.ndarray, " n_lines"]] | None:
    """The columns of a file, its first line included, and the numbers of the lines; None where they need more care.

    >>> columns, lines = read_columns(b"a,b\\n1,2\\n\\n3,4\\n", ",")
    >>> [column.to_pylist() for column in columns], lines
    ([['a', '1', '3'], ['b', '2', '4']], array([1, 2, 4]))
    >>> read_columns(b"a,b\\n1\\n", ",") is None
    True
    """
    import pyarrow
    import pyarrow.csv

    content = content.removeprefix(_BOM)
    if b"\0" in content or (b"\r" in content and content.count(b"\r") != content.count(b"\r\n")):
        return None
    lines, first, longest = _lines(content, delimiter)
    if len(lines) == 0:
        return None
    width = len(next(csv.reader(io.StringIO(first), delimiter=delimiter)))
    names = [str(position) for position in range(width)]
    block = max(_BLOCK, _LINES * len(content) // len(lines), 2 * longest + 2)
    try:
        batches = pyarrow.csv.open_csv(
            pyarrow.BufferReader(content),
            read_options=pyarrow.csv.ReadOptions(
                column_names=names,
                block_size=min(block, 2**31 - 1),
                use_threads=False,  # several would cost twice the processor, and there are other people
            ),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=delimiter, quote_char='"' if b'"' in content else False, ignore_empty_lines=True
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pyarrow.string()), strings_can_be_null=False
            ),
        )
        table = pyarrow.Table.from_batches(list(_packed(batches)), batches.schema)
    except (pyarrow.ArrowException, ValueError):
        return None
    return (table.columns, lines) if table.num_rows == len(lines) else None


def rows_alike(columns: list[Any], cells: list[str]) -> Integer[np.ndarray, " n_found"]:
    """Which rows hold just these cells, spaces not counted where all of them are empty.

    >>> import pyarrow
    >>> columns = [pyarrow.chunked_array([["1", "a", ""]]), pyarrow.chunked_array([["2", "b", " "]])]
    >>> rows_alike(columns, ["a", "b"]), rows_alike(columns, ["", ""])
    (array([1]), array([2]))
    """
    import pyarrow.compute as compute

    if not len(columns[0]):
        return np.empty(0, dtype=np.int64)
    first = columns[0] if any(cells) else compute.utf8_trim_whitespace(columns[0])
    likely = np.flatnonzero(compute.equal(first, cells[0]).to_numpy())
    if not len(likely):
        return likely
    rows = zip(*(column.take(likely).to_pylist() for column in columns), strict=True)
    alike = [list(row) == cells if any(cells) else not any(map(str.strip, row)) for row in rows]
    return likely[np.array(alike, dtype=bool)]


def without(columns: list[Any], rows: Integer[np.ndarray, " n_rows"]) -> list[Any]:
    """The columns without some of their rows."""
    if not len(rows):
        return columns
    kept = np.ones(len(columns[0]), dtype=bool)
    kept[rows] = False
    return [column.filter(kept) for column in columns]


def _lines(content: bytes, delimiter: str) -> tuple[Integer[np.ndarray, " n_lines"], str, int]:
    """The numbers of the lines that hold anything, the first of them, and how long the longest of all is.

    No lines where quotation marks do more than enclose whole cells.
    """
    n_ends, longest, shortest = _lengths(content)
    if b'"' not in content and shortest > (2 if b"\r" in content else 1):
        end = content.find(b"\n")
        first = content if end < 0 else content[:end]
        lines = np.arange(1, n_ends + (not content.endswith(b"\n")) + 1)
        return lines, first.decode("utf-8", errors="replace"), longest
    ends = _positions(content, b"\n")
    if not _plain_quotes(content, ends, delimiter):
        return ends[:0], "", 0
    starts = np.concatenate([np.zeros(1, dtype=ends.dtype), ends + 1])
    stops = np.append(ends, ends.dtype.type(len(content)))
    array, lengths = np.frombuffer(content, dtype=np.uint8), stops - starts
    only_return = (lengths == 1) & (array[np.minimum(starts, len(array) - 1)] == ord("\r"))
    lines = np.flatnonzero((lengths != 0) & ~only_return) + 1
    if len(lines) == 0:
        return lines, "", 0
    first = content[starts[lines[0] - 1] : stops[lines[0] - 1]].decode("utf-8", errors="replace")
    return lines, first, longest


def _lengths(content: bytes) -> tuple[int, int, int]:
    """How many ends of lines there are, and how many bytes the longest and the shortest line take with their ends.

    >>> _lengths(b"a,b\\n\\nc")
    (2, 4, 1)
    """
    array = np.frombuffer(content, dtype=np.uint8)
    n_ends, longest, shortest, last = 0, 0, len(array) + 1, -1
    for start in range(0, len(array), _CHUNK):
        ends = start + np.flatnonzero(array[start : start + _CHUNK] == ord("\n"))
        if len(ends):
            lengths = np.diff(ends, prepend=last)
            n_ends, longest = n_ends + len(ends), max(longest, int(lengths.max()))
            shortest, last = min(shortest, int(lengths.min())), int(ends[-1])
    return n_ends, max(longest, len(array) - last), shortest


def _positions(content: bytes, wanted: bytes) -> Integer[np.ndarray, " n_found"]:
    """Where a byte occurs."""
    array = np.frombuffer(content, dtype=np.uint8)
    short = np.int32 if len(array) < 2**31 - 1 else np.int64
    places = [
        (start + np.flatnonzero(array[start : start + _CHUNK] == wanted[0])).astype(short)
        for start in range(0, len(array), _CHUNK)
    ]
    return np.concatenate([np.empty(0, dtype=short), *places])


def _plain_quotes(content: bytes, ends: Integer[np.ndarray, " n_ends"], delimiter: str) -> bool:
    """Whether quotation marks only enclose whole cells, each within its line; or there are none."""
    marks = _positions(content, b'"')
    if len(marks) % 2:
        return False
    opening, closing = marks[::2], marks[1::2]
    array = np.frombuffer(content, dtype=np.uint8)
    before = np.where(opening > 0, array[opening - 1], ord("\n"))
    after = np.where(closing < len(array) - 1, array[np.minimum(closing + 1, len(array) - 1)], ord("\n"))
    encloses = np.isin(before, [ord(delimiter), ord("\n")]) & np.isin(after, [ord(delimiter), ord("\n"), ord("\r")])
    return bool(encloses.all() and (np.searchsorted(ends, opening) == np.searchsorted(ends, closing)).all())


# What kind of thing do the cells of a column hold?


Kind = Literal["scores", "several", "fraction", "number", "whole", "words"]
"""What the cells of a column hold: scores of all classes, several values, or one number or word each."""
_MOST_CLASSES = 1000
_WORDS_OF_TEXT = 3  # words per cell, on average, from which on a column is text rather than names
_SHORT = 2_000  # rows: up to here all numbers of a column are made as soon as a sample of them
_ODD_NUMBER = re.compile(r"\s*\d*(?:,\d+|[.,]?\d*\s*%)\s*", re.ASCII)


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a file, with the line (or row, says `unit`) of every row as a text editor counts them.

    `class_names` are what numbers in a column stand for, where the file itself says so. Of a table in an archive,
    `archive` is what that is called and `image_of` the image of a row with its name, where the rows name images in it.
    A column is an array of numbers, or of objects: str, or whatever else JSON and Parquet hold, None where missing.

    >>> table = make_table("people.csv", ["id", "size"], [("anna", "bert"), ("3", "four")], lines=[2, 3])
    >>> table.place(1), table.strings("id")
    ('people.csv, line 3', ['anna', 'bert'])
    >>> table.numbers("size")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: people.csv, line 3: column 'size' holds 'four'. It must be a finite ...
    """

    name: str
    columns: Mapping[str, np.ndarray]
    lines: Integer[np.ndarray, " n_rows"]
    unit: str = "line"
    notes: tuple[str, ...] = ()
    warnings: tuple[Oddity, ...] = ()
    class_names: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    archive: str | None = None
    image_of: Callable[[int], tuple[bytes, str]] | None = field(default=None, repr=False)
    _floats: dict[str, np.ndarray] = field(default_factory=dict, init=False, repr=False)
    _kinds: dict[str, Kind] = field(default_factory=dict, init=False, repr=False)
    _spelled: dict[str, list[str | None]] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_rows(self) -> int:
        """How many rows there are, the header not counted."""
        return len(self.lines)

    def place(self, row: int) -> str:
        """Where a row stands, for messages: file and line."""
        return f"{self.name}, {self.unit} {self.lines[row]}"

    def twice(self, places: tuple[int, int], what: str) -> str:
        """Where something stands again, and where it did first, for messages; `places` are rows (`first_repeat`)."""
        first, again = places
        return f"{self.place(again)}: {what} stands in {self.unit} {self.lines[first]} too"

    def check_once(self, ids: Sequence[str], remedy: str) -> None:
        """DataError, which ends in the remedy, at the first row whose id another row has.

        >>> make_table("t.csv", ["id"], [["a", "a"]], lines=[2, 3]).check_once(["a", "a"], "Leave one out.")
        Traceback (most recent call last):
        touchstone.core.data.errors.DataError: t.csv, line 3: id 'a' stands in line 2 too. Leave one out.
        """
        if repeat := first_repeat(ids):
            raise DataError(f"{self.twice(repeat, f'id {ids[repeat[1]]!r}')}. {remedy}")

    def check_roles(self, columns: Sequence[str]) -> None:
        """DataError where the table lacks one of the columns that have a role, or one of them has two.

        >>> make_table("t.csv", ["a"], [["x"]], lines=[2]).check_roles(["a", "b"])
        Traceback (most recent call last):
        touchstone.core.data.errors.DataError: t.csv: there is no column 'b'. The columns are a.
        """
        missing = next((column for column in columns if column not in self.columns), None)
        if missing is not None:
            raise DataError(f"{self.name}: there is no column {missing!r}. The columns are {listed(self.columns)}.")
        if repeat := first_repeat(columns):
            raise DataError(f"{self.name}: column {columns[repeat[1]]!r} has two roles. Each column can have one.")

    def take(self, rows: Integer[np.ndarray, " n_taken"]) -> "Table":
        """Some of the rows, which keep their lines.

        >>> make_table("t.csv", ["a"], [[5, 6, 7]], lines=[2, 3, 4]).take(np.array([2])).place(0)
        't.csv, line 4'
        """
        columns = {column: values[rows] for column, values in self.columns.items()}
        return replace(self, columns=columns, lines=self.lines[rows])

    def strings(self, column: str) -> list[str]:
        """A column of ids, labels or sources as strings; DataError at the first cell that is empty."""
        strings = self.spelled(column)
        if None in strings:
            row = strings.index(None)
            cell = self.columns[column][row]
            remedy = "write one, and nothing around it" if isinstance(cell, (list, dict, np.ndarray)) else "fill it in"
            n = strings.count(None)
            rows = "the row" if n == 1 else f"these {n:,} of {self.n_rows:,} rows"
            raise DataError(
                f"{self.place(row)}: column {column!r} holds {quoted(cell)}. "
                f"Each row needs a name or a number there: {remedy}, or leave {rows} out."
            )
        return list(strings)

    def texts(self, column: str) -> list[str]:
        """A column of texts, which may be empty; DataError at the first cell that holds something else."""
        texts = self.columns[column].tolist()
        for row, text in enumerate(texts):
            if not isinstance(text, str):
                raise DataError(
                    f"{self.place(row)}: column {column!r} holds {quoted(text)}. "
                    "It must be a text: write it as a string, or leave the row out."
                )
        return texts

    def floats(self, column: str) -> Float[np.ndarray, " n_rows"]:
        """A column as numbers, NaN where there is none; read-only, since what takes long is made once."""
        if column in self._floats:
            return self._floats[column]
        is_text = isinstance(self.columns, TextColumns)
        numbers = locked(self.columns.numbers(column) if is_text else as_numbers(self.columns[column]))
        if is_text or self.columns[column].dtype == object:  # numbers that are there as such would be there twice
            self._floats[column] = numbers
        return numbers

    def numbers(self, column: str) -> Float[np.ndarray, " n_rows"]:
        """A column of features; DataError at the first cell that is no finite number."""
        numbers = self.floats(column)
        if not np.isfinite(numbers).all():
            row = int(np.flatnonzero(~np.isfinite(numbers))[0])
            raise self._no_number(column, row, self.columns[column][row])
        return numbers

    def _no_number(self, column: str, row: int, cell: Any) -> DataError:
        return DataError(
            f"{self.place(row)}: column {column!r} holds {quoted(cell)}. "
            "It must be a finite number: fill it in (decimals with a point), or leave the row or column out."
        )

    def sample(self, column: str) -> Shaped[np.ndarray, " n_sampled"]:
        """A thousand of a column's cells or a few more, evenly spread: enough to see what it holds."""
        if isinstance(self.columns, TextColumns):
            return self.columns.sample(column)
        return sample(self.columns[column])

    def n_different(self, column: str) -> int:
        """How many different cells a column has, as they are written."""
        if isinstance(self.columns, TextColumns):
            return self.columns.n_different(column)
        return len(set(self.spelled(column)))

    def features(self, columns: Sequence[str], *, for_good: bool = False) -> Float[np.ndarray, "n_rows n_columns"]:
        """Columns of features side by side, read-only; DataError at the first cell that is no finite number.

        `for_good` says that the table is not asked about these columns again, so that what they hold can be forgotten.
        """
        if isinstance(self.columns, TextColumns):
            return locked(self._by_blocks(self.columns, columns, for_good))
        return locked(side_by_side(self._handed_over(columns), self.n_rows, len(columns)))

    def _handed_over(self, columns: Sequence[str]) -> Iterator[np.ndarray]:
        """The numbers of each column, which are not kept here: all would be there twice."""
        for column in columns:
            yield self.numbers(column)
            self._floats.pop(column, None)

    def _by_blocks(self, texts: TextColumns, columns: Sequence[str], for_good: bool) -> np.ndarray:
        """The numbers of text, some rows after the others, so that there is never much of both."""
        for column in columns:
            self._floats.pop(column, None)
        features, start = np.empty((self.n_rows, len(columns))), 0
        for cells, numbers in texts.blocks(columns, for_good=for_good):
            if not np.isfinite(numbers).all():
                place, row = map(int, np.argwhere(~np.isfinite(numbers))[0])
                raise self._no_number(columns[place], start + row, cells[place][row].as_py())
            features[start : start + numbers.shape[1]] = numbers.T
            start += numbers.shape[1]
        release()
        return features

    def kind(self, column: str) -> Kind:
        """What is in the cells of a column, by a sample of them."""
        if column not in self._kinds:
            is_short = isinstance(self.columns, TextColumns) and self.n_rows <= _SHORT
            numbers = self.columns.plain_numbers(column) if is_short else None
            if numbers is None:
                self._kinds[column] = _kind_of(self.sample(column))
            else:
                self._floats.setdefault(column, numbers).flags.writeable = False
                self._kinds[column] = _kind_of_numbers(sample(numbers))
        return self._kinds[column]

    def spelled(self, column: str) -> list[str | None]:
        """The cells as strings, None where there is none."""
        if column not in self._spelled:
            cells = self.columns[column].tolist()
            is_named = isinstance(self.columns, TextColumns) and all(map(str.strip, cells))
            self._spelled[column] = cells if is_named else list(map(spell, cells))
        return self._spelled[column]

    def has_numbers(self, column: str) -> bool:
        """Whether there is any number: then whatever is none shall be an error, not a column that goes unnoticed.

        So shall numbers that are written in a way that cannot be read, such as 0,93 or 93 %.
        """
        seen = self.sample(column)
        odd = any(isinstance(cell, str) and _ODD_NUMBER.fullmatch(cell) for cell in seen.tolist())
        return odd or bool(np.isfinite(as_numbers(seen)).any())

    def is_label(self, column: str) -> bool:
        """Whether a column could hold labels: words or whole numbers, of which there are few different ones."""
        if self.kind(column) not in ("words", "whole"):
            return False
        return len(set(self.spelled(column))) <= max(2, min(_MOST_CLASSES, self.n_rows / 2))

    def is_text(self, column: str) -> bool:
        """Whether a column holds texts rather than names: three words or more per cell, on average.

        >>> table = make_table("t.tsv", ["a", "b"], [["it is fine", "it was not"], ["Ann", "Bo B."]], lines=[2, 3])
        >>> table.is_text("a"), table.is_text("b")
        (True, False)
        """
        texts = [cell for cell in self.sample(column).tolist() if isinstance(cell, str)]
        return len(texts) > 0 and sum(len(text.split()) for text in texts) >= _WORDS_OF_TEXT * len(texts)

    def is_unique(self, column: str) -> bool:
        """Whether no value occurs twice."""
        return self.n_different(column) == self.n_rows

    def scores(self, column: str) -> tuple[tuple[str, ...], Float[np.ndarray, "n_rows n_classes"]]:
        """The names and numbers of a column of vectors (named by position, from 0) or mappings (0 where a name lacks).

        >>> make_table("t.tsv", ["p"], [["[1, 0]", "[0.5, 0.5]"]], lines=[2, 3]).scores("p")
        (('0', '1'), array([[1. , 0. ], [0.5, 0.5]]))
        """
        cells = [numbers_in(cell) for cell in self.columns[column].tolist()]
        first = cells[0] or ()
        row = next((row for row, cell in enumerate(cells) if not _is_alike(cell, first)), None)
        if row is not None:
            expected = f"one of {len(first)} numbers, as in the first row" if row else "such as [0.1, 0.9]"
            raise DataError(
                f"{self.place(row)}: column {column!r} holds {quoted(self.columns[column][row])}. "
                f"It must be a whole vector of scores, {expected}."
            )
        if isinstance(first, dict):
            mappings = [cell for cell in cells if isinstance(cell, dict)]
            names = tuple(dict.fromkeys(name for mapping in mappings for name in mapping))
            return names, np.array([[mapping.get(name, 0.0) for name in names] for mapping in mappings])
        return tuple(str(position) for position in range(len(first))), np.array(cells, dtype=np.float64)

    def matrix(self, columns: Iterable[str]) -> Float[np.ndarray, "n_rows n_columns"]:
        """Columns side by side as numbers, NaN where there is none."""
        columns = list(columns)
        return side_by_side(map(self.floats, columns), self.n_rows, len(columns))


def _kind_of(seen: np.ndarray) -> Kind:
    numbers = as_numbers(seen)
    if seen.dtype == object and not np.isfinite(numbers).all():
        lists = _kind_of_lists([cell for cell in seen.tolist() if cell is not None and cell != ""])
        if lists is not None:
            return lists
    return _kind_of_numbers(numbers)


def _kind_of_numbers(numbers: np.ndarray) -> Kind:
    finite = numbers[np.isfinite(numbers)]
    if len(finite) <= len(numbers) / 2:
        return "words"
    if (finite == np.round(finite)).all():
        return "whole"
    return "fraction" if ((finite >= 0) & (finite <= 1)).mean() > 0.5 else "number"


def _kind_of_lists(cells: list[Any]) -> Kind | None:
    """What cells hold that are not empty, where most of them are vectors, or any is a list; else None."""
    vectors = [cell for cell in map(numbers_in, cells) if cell is not None]
    if len(vectors) > len(cells) / 2:
        numbers = set().union(*(vector for vector in vectors if isinstance(vector, list)))
        return "several" if numbers and numbers <= {0, 1} else "scores"
    is_list = any(isinstance(cell, (list, dict, np.ndarray)) for cell in cells)
    n_printed = sum(isinstance(cell, str) and cell[:1] == "[" and cell[-1:] == "]" for cell in cells)
    return "several" if is_list or n_printed > len(cells) / 2 else None


def _is_alike(cell: Any, first: Any) -> bool:
    """Whether a cell holds a mapping, or a vector of as many numbers, as the first one does."""
    return cell is not None and type(cell) is type(first) and (isinstance(cell, dict) or len(cell) == len(first))


def make_table(
    name: str,
    header: Sequence[str],
    columns: Iterable[Any],
    *,
    lines: Any,
    unit: str = "line",
    notes: tuple[str, ...] = (),
) -> Table:
    """Put a table together; DataError where there are no columns or rows, or two columns of one name.

    Spaces around a column's name are dropped, and a column without a name is called by its position.

    >>> list(make_table("t.csv", [" a ", ""], [[1], [2]], lines=[2]).columns)
    ['a', 'unnamed column 2']
    """
    names = [column.strip() or f"unnamed column {position + 1}" for position, column in enumerate(header)]
    if repeat := first_repeat(names):
        raise DataError(
            f"{name}: columns {repeat[0] + 1} and {repeat[1] + 1} are both called {names[repeat[1]]!r}. "
            "Each column needs a name of its own; if there is no line of names, add one."
        )
    missing = "columns" if not names else "rows, only the names of columns" if len(lines) == 0 else ""
    if missing:
        raise DataError(f"{name}: there are no {missing}. Is this the whole file?")
    arrays = [values if isinstance(values, np.ndarray) else objects(values) for values in columns]
    return Table(name, dict(zip(names, arrays, strict=True)), np.asarray(lines, dtype=np.int64), unit, notes)


# When was it? Dates as numbers that can be put in order, averaged and cut.


def days(values: Shaped[np.ndarray, " n_rows"]) -> Float[np.ndarray, " n_rows"]:
    """Dates as days since the beginning of 1970 (UTC), with a fraction for the time of day; NaN where there is none.

    Dates are numpy's, Python's and pandas's, and texts as ISO 8601 writes them, such as 2020-03-01 or
    2020-03-01T12:00+02:00. Without a time zone a date counts as UTC.

    >>> days(np.array(["1970-01-03", "1970-01-01T12:00Z", "soon"]))
    array([2. , 0.5, nan])
    """
    import pandas as pd

    if values.dtype.kind == "M":
        micros = values.astype("datetime64[us]")
    else:
        cells = [value if isinstance(value, _DATES) else None for value in values.tolist()]
        read: Any = pd.to_datetime(pd.Series(cells, dtype=object), format="ISO8601", utc=True, errors="coerce")
        micros = read.dt.tz_localize(None).to_numpy(dtype="datetime64[us]")
    return np.where(np.isnat(micros), np.nan, micros.astype(np.float64) / _MICROSECONDS)


_DATES = (str, date, np.datetime64)
_MICROSECONDS = 86_400e6
