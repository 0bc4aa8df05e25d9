"""What do ready-made word vectors say of these texts? Files in word2vec's formats, averaged over each text's words.

So the tool of ClusterDataSplit works (section 3.1). gensim reads the file; nothing in it is ever unpickled.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from touchstone.core.data import Dataset
from touchstone.core.data.errors import DataError
from touchstone.core.data.limits import File, Limits, file_name, read_bytes, unpack_gzip
from touchstone.core.data.tables.vectors import attach_vectors, read_vectors
from touchstone.core.represent.word_vectors import WordVectors

WORD_ENDINGS = (".vec", ".bin", ".w2v", ".txt")
"""What a file of word vectors may end in, perhaps with .gz after it; all others hold vectors by id."""

_GIB = 2**30
ON_DISK = Limits(file_bytes=16 * _GIB, unpacked_bytes=16 * _GIB)
"""For files that somebody names on the command line: published word vectors take gigabytes."""

_MOST_WORDS = 500_000  # files are sorted by frequency: what comes later is rare
_LONGEST = 10_000  # numbers per word
_START = 2**20  # bytes that tell the format


def add_vectors(dataset: Dataset, file: File, *, limits: Limits | None = None) -> Dataset:
    """Attach what is in a file to a data set: word vectors, by the file's ending (`WORD_ENDINGS`), else vectors by id.

    Raises DataError as `with_word_vectors`, `read_vectors` and `attach_vectors` do.

    >>> import io
    >>> file = io.BytesIO(b"id,a\\n1,0.5\\n0,2\\n")
    >>> file.name = "mine.csv"
    >>> said = Dataset("said", "text", ["a red fox", "blue sky"], [0, 1], ["x", "y"], ["0", "1"])
    >>> add_vectors(said, file).vectors.tolist()
    [[2.0], [0.5]]
    """
    if _holds_words(file):
        return with_word_vectors(dataset, file, limits=limits)
    return attach_vectors(dataset, read_vectors(file, limits=limits))


def open_vectors(file: File) -> object:
    """Read what is in a file that `add_vectors` takes, whatever data set it is for.

    >>> import io
    >>> file = io.BytesIO(b"id,a\\n1,0.5\\n0,2\\n")
    >>> file.name = "mine.csv"
    >>> open_vectors(file).ids
    ('1', '0')
    """
    return read_word_vectors(file) if _holds_words(file) else read_vectors(file)


def _holds_words(file: File) -> bool:
    return file_name(file).lower().removesuffix(".gz").endswith(WORD_ENDINGS)


def with_word_vectors(dataset: Dataset, file: File, *, limits: Limits | None = None) -> Dataset:
    """Give a text data set the mean of each text's word vectors; its notes say how many words the file did not know.

    A word is looked up as it is written, then in lower case; texts without any known word get zeros. Raises DataError
    for data that are no texts, where gensim is not installed, and for a file that cannot be read or knows no word.
    """
    if dataset.kind != "text":
        raise DataError(f"{dataset.name}: word vectors are for texts, and this is {dataset.kind} data.")
    name = file_name(file)
    known = read_word_vectors(file, limits=limits)
    means = known.means(dataset.x)
    if means.n_unknown_texts == dataset.n_samples:
        raise DataError(
            f"{name}: none of the {means.n_words:,} words of {dataset.name} is among the {len(known.positions):,} in "
            "this file. Is it for another language?"
        )
    notes = [
        f"mean of the word vectors in {name}, {means.features.shape[1]:,} numbers for each text.",
        f"{means.n_unknown_words:,} of {means.n_words:,} words ({means.n_unknown_words / means.n_words:.1%}) are not "
        "among them.",
    ]
    if means.n_unknown_texts:
        notes.append(f"{means.n_unknown_texts:,} of {dataset.n_samples:,} texts hold no known word and got zeros.")
    if len(known.positions) == _MOST_WORDS:
        notes.append(f"Only the first {_MOST_WORDS:,} words of the file were read.")
    return dataset.with_vectors(means.features.astype(np.float32), name, notes=notes)


def read_word_vectors(file: File, *, limits: Limits | None = None) -> WordVectors:
    """Read word vectors: word2vec's text or binary format, or GloVe's without a header; .gz is unpacked first.

    Raises DataError where gensim is not installed, or the file is damaged, of another format or too large.
    """
    try:
        from gensim.models import KeyedVectors  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise DataError(
            "Word vectors are read by gensim, which is not installed here. Run `pip install gensim`, or give vectors "
            "by id (Parquet or NPZ)."
        ) from error
    name = file_name(file)
    with _plain_file(file, limits or Limits()) as path, _with_header(path, name) as (with_header, binary):
        try:
            # Never KeyedVectors.load: that unpickles.
            keyed = KeyedVectors.load_word2vec_format(
                str(with_header), binary=binary, limit=_MOST_WORDS, unicode_errors="replace"
            )
        except (ValueError, EOFError, KeyError, IndexError, OSError) as error:
            raise DataError(f"{name}: the word vectors end or break off ({error}). Get the file again.") from error
    bad = np.flatnonzero(~np.isfinite(keyed.vectors).all(axis=1))
    if len(bad):
        raise DataError(
            f"{name}: the vector of word {int(bad[0]) + 1}, {keyed.index_to_key[bad[0]]!r}, holds something that is no "
            "finite number. Leave the word out."
        )
    return WordVectors(keyed.key_to_index, keyed.vectors)


@contextmanager
def _plain_file(file: File, limits: Limits) -> Iterator[Path]:
    """The file on disk and unpacked, where gensim can read it; files given by their path are not copied."""
    name = file_name(file)
    packed = name.lower().endswith(".gz")
    if isinstance(file, str | Path) and not packed:
        path = Path(file).resolve()
        if not path.is_file() or path.stat().st_size > limits.file_bytes:
            raise DataError(f"{name}: there is no such file, or it is larger than {limits.file_bytes / 2**20:g} MiB.")
        yield path
        return
    content = read_bytes(file, limits)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "words.bin"
        path.write_bytes(unpack_gzip(content, name, limits) if packed else content)
        yield path


@contextmanager
def _with_header(path: Path, name: str) -> Iterator[tuple[Path, bool]]:
    """The file, or a copy with the header that GloVe leaves out, and whether its numbers are binary.

    What a header says is checked against the size of the file first: gensim makes room for all of it at once.
    """
    with path.open("rb") as stream:
        first, _, rest = stream.read(_START).partition(b"\n")
    header = first.split()
    if len(header) == 2 and header[0].isdigit() and header[1].isdigit():
        n_words, width = int(header[0]), int(header[1])
        if not 0 < width <= _LONGEST or n_words < 1 or 2 * n_words * width > path.stat().st_size:
            raise DataError(
                f"{name}: its first line promises {n_words:,} words of {width:,} numbers, which this file cannot hold. "
                "Get the file again."
            )
        yield path, not _is_text(rest.partition(b"\n")[0], width)
    elif 2 < len(header) <= _LONGEST + 1 and _is_text(first, len(header) - 1):
        with tempfile.NamedTemporaryFile() as copy, path.open("rb") as stream:
            n_words = sum(1 for _ in stream)
            copy.write(b"%d %d\n" % (n_words, len(header) - 1))
            stream.seek(0)
            shutil.copyfileobj(stream, copy)
            copy.flush()
            yield Path(copy.name), False
    else:
        raise DataError(
            f"{name}: these are no word vectors. Give a file in word2vec's format (text or binary) or GloVe's: a word "
            "and its numbers on each line."
        )


def _is_text(line: bytes, width: int) -> bool:
    cells = line.split()
    try:
        return width == len(list(map(float, cells[-width:]))) < len(cells)
    except ValueError:
        return False
