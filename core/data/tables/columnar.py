"""What do a million lines say, without a Python object for each cell? Columns of text as the file has it, read at once.

Most files need nothing more than their lines cut at the delimiters. What does (quotation marks inside cells, lines of
other lengths, other encodings) is not read here but line by line (`files`), where the words for it are.
"""

import csv
import io
import mmap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Integer

from touchstone.core.data.values import as_numbers, objects, sample

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
    nothing = pyarrow.scalar(None, pyarrow.string())
    parsed = compute.cast(compute.if_else(plain, cells, nothing), pyarrow.float64())
    numbers = np.array(parsed.to_numpy(zero_copy_only=False))
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
    lines = np.flatnonzero(~_are_blank(content, starts, stops)) + 1
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


def _are_blank(
    content: bytes, starts: Integer[np.ndarray, " n_lines"], stops: Integer[np.ndarray, " n_lines"]
) -> Bool[np.ndarray, " n_lines"]:
    """Which lines hold nothing at all."""
    array = np.frombuffer(content, dtype=np.uint8)
    lengths = stops - starts
    only_return = (lengths == 1) & (array[np.minimum(starts, len(array) - 1)] == ord("\r"))
    return (lengths == 0) | only_return


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
