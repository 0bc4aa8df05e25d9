"""Which words are used alike? Word vectors trained on the texts themselves, and the mean of a text's words.

Positive pointwise mutual information of words within a window, condensed by a truncated SVD, gives vectors as good as
word2vec's on small corpora (Levy, Goldberg & Dagan 2015); ClusterDataSplit averages those over a text (section 3.1).
"""

import json
import re
import shutil
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Integer, Shaped

from touchstone.core.data import Dataset
from touchstone.core.data.errors import DataError
from touchstone.core.data.limits import File, Limits, file_name, read_bytes, unpack_gzip
from touchstone.core.data.tables.vectors import attach_vectors, read_vectors
from touchstone.core.installed import command
from touchstone.core.models.networks import one_torch_thread
from touchstone.core.models.threads import single_threaded

# What are the words of a text? One rule for lengths, counts and word vectors, so that all of them mean the same.


_WORD = re.compile(r"\w+(?:'\w+)*")


def tokenize(text: str, *, lower: bool = True) -> list[str]:
    """The words of a text in their order, lower-cased unless asked otherwise.

    A word is an unbroken run of letters, digits and underscores in any script; apostrophes inside it belong to it and
    are written straight, and accents count as part of their letter (NFC). All else separates words and is left out. A
    script without spaces between words, such as Chinese, gives one word for each run between punctuation marks.

    Examples
    --------
    >>> tokenize("It’s a wash-up: 3.5 of 10!")
    ["it's", 'a', 'wash', 'up', '3', '5', 'of', '10']
    >>> tokenize("...")
    []
    """
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).replace("’", "'")
    return _WORD.findall(text.lower() if lower else text)


def n_tokens(texts: Iterable[str]) -> Integer[np.ndarray, " n_samples"]:
    """How many words each text has.

    Examples
    --------
    >>> n_tokens(["a red fox", ""])
    array([3, 0])
    """
    return np.array([len(tokenize(text)) for text in texts], dtype=np.int64)


# Which words are used alike? Vectors trained on the texts themselves.


_SMOOTHING = 0.75  # of the context's frequencies, so that rare contexts do not get the largest weights (Levy et al.)


@dataclass(frozen=True, eq=False)
class TextMeans:
    """Features of texts, and what they leave out: words without a vector, and texts without any word that has one."""

    features: Float[np.ndarray, "n_samples n_components"]
    n_words: int
    n_unknown_words: int
    n_unknown_texts: int


@dataclass(frozen=True, eq=False)
class WordVectors:
    """A vector per word; ``means`` applies them to texts.

    Examples
    --------
    >>> vectors = WordVectors({"red": 0, "fox": 1}, np.array([[1.0, 0.0], [0.0, 1.0]]))
    >>> means = vectors.means(["a red fox", "a hen"])
    >>> means.features
    array([[0.5, 0.5],
           [0. , 0. ]])
    >>> means.n_unknown_words, means.n_words, means.n_unknown_texts
    (3, 5, 1)
    """

    positions: Mapping[str, int]
    vectors: Float[np.ndarray, "n_words n_components"]

    def means(self, texts: Shaped[np.ndarray, " n_samples"] | Sequence[str]) -> TextMeans:
        """Average the vectors of each text's words; zeros for a text in which none is known.

        A word is looked up as it is written, then in lower case.
        """
        known, lengths = [], []
        n_words = 0
        for text in texts:
            written = tokenize(text, lower=False)
            places = (self.positions.get(word, self.positions.get(word.lower())) for word in written)
            positions = [position for position in places if position is not None]
            n_words += len(written)
            known += positions
            lengths.append(len(positions))
        n_known = np.array(lengths, dtype=np.int64)
        with single_threaded():
            sums = _counts(np.array(known, dtype=np.int64), n_known, len(self.vectors)) @ self.vectors
        features = np.asarray(sums, dtype=np.float64) / np.maximum(n_known, 1)[:, None]
        return TextMeans(features, n_words, n_words - len(known), int((n_known == 0).sum()))


def train_word_vectors(
    texts: Iterable[str], *, n_components: int = 100, window: int = 5, min_count: int = 2, max_words: int = 20_000
) -> WordVectors:
    """Train a vector for every lower-cased word that occurs ``min_count`` times, at most the ``max_words`` commonest.

    Words stand in each other's context where at most ``window`` words of the same text lie apart; words without a
    vector keep their place. The same texts always give the same vectors. Raises DataError where no word is left.

    Examples
    --------
    >>> vectors = train_word_vectors(["the red fox ran", "the red hen ran", "a blue sky", "a blue sea"] * 3)
    >>> fox, hen, sea = (vectors.vectors[vectors.positions[word]] for word in ("fox", "hen", "sea"))
    >>> bool(fox @ hen > 10 * abs(fox @ sea))
    True
    """
    documents = [tokenize(text) for text in texts]
    counts = Counter(word for document in documents for word in document)
    common = sorted((-count, word) for word, count in counts.items() if count >= min_count)
    words = [word for _, word in common[:max_words]]
    if not words:
        raise DataError(
            f"None of the words in the {len(documents)} texts occurs {min_count} times, so no word vectors can be "
            f"learned. Take another representation, such as tfidf_svd."
        )
    positions = {word: position for position, word in enumerate(words)}
    with single_threaded():
        weights = _ppmi(_co_occurrences(documents, positions, window))
        return WordVectors(positions, _condensed(weights, n_components))


def _co_occurrences(documents: list[list[str]], positions: Mapping[str, int], window: int) -> Any:
    """Count, as a sparse symmetric matrix, how often two words stand at most ``window`` words apart."""
    from scipy.sparse import coo_array, csr_array

    lengths = [len(document) for document in documents]
    words = np.array([positions.get(word, -1) for document in documents for word in document], dtype=np.int64)
    document_of = np.repeat(np.arange(len(documents)), lengths)
    shape = (len(positions), len(positions))
    total = csr_array(shape, dtype=np.float64)
    for distance in range(1, min(window, len(words) - 1) + 1):
        # All documents in one row: a pair counts where both words lie in one document, and none of them is rare (-1).
        left, right = words[:-distance], words[distance:]
        together = (document_of[:-distance] == document_of[distance:]) & (left >= 0) & (right >= 0)
        ones = np.ones(int(together.sum()))
        total = total + coo_array((ones, (left[together], right[together])), shape=shape).tocsr()
    return (total + total.T).tocsr()


def _ppmi(counts: Any) -> Any:
    """Positive pointwise mutual information: how much more often than by chance two words stand together, in bits."""
    counts = counts.tocoo()
    if counts.nnz == 0:
        return counts.tocsr()
    word = np.asarray(counts.sum(axis=1)).ravel()
    context = word**_SMOOTHING
    row, column = counts.coords
    information = np.log2(counts.data * context.sum() / (word[row] * context[column]))
    counts.data = np.maximum(information, 0.0)
    weights = counts.tocsr()
    weights.eliminate_zeros()
    return weights


def _condensed(weights: Any, n_components: int) -> Float[np.ndarray, "n_words n_components"]:
    """Condense the weights: left singular vectors times the square root of the singular values (Levy et al.)."""
    from sklearn.utils.extmath import randomized_svd

    n_components = min(n_components, weights.shape[0])
    if weights.nnz == 0:
        return np.zeros((weights.shape[0], n_components))
    left, singular, _ = randomized_svd(weights, n_components, n_iter=5, random_state=0)
    return left * np.sqrt(singular)


def _counts(
    known: Integer[np.ndarray, " n_known_words"], n_known: Integer[np.ndarray, " n_samples"], n_words: int
) -> Any:
    """How often each word stands in each text, sparse."""
    from scipy.sparse import csr_array

    starts = np.concatenate([[0], np.cumsum(n_known)])
    return csr_array((np.ones(len(known)), known, starts), shape=(len(n_known), n_words))


# What do ready-made word vectors say of these texts? Files in word2vec's formats, averaged over each text's words.
#
# So the tool of ClusterDataSplit works (section 3.1). gensim reads the file; nothing in it is ever unpickled.


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
            f"Word vectors are read by gensim, which is not installed here. Run `{command('gensim')}`, or give vectors "
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


# What does a sentence encoder make of a text? sentence-transformers, from a folder on this machine only.


_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")
_KNOWN = ("torch.nn.", "sentence_transformers.")
_PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")


def sentence_vectors(texts: Sequence[str], folder: str | Path) -> Float[np.ndarray, "n_samples n_dimensions"]:
    """Encode texts with the sentence-transformers model in a folder, on the processor and in one thread.

    Nothing is fetched, no code in the folder is run and no weights are unpickled: a folder that holds code, weights in
    anything but safetensors, or a configuration that names Python objects other than those of torch.nn and
    sentence-transformers, is refused (DataError), before the library is imported. The same texts and model give the
    same vectors.

    >>> sentence_vectors(["a red fox"], "no/such/folder")
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: no/such/folder: there is no such folder. Save a model there first, with ...
    """
    _check_folder(Path(folder))
    try:
        from sentence_transformers import SentenceTransformer  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise DataError(
            "Sentence vectors need sentence-transformers, which is not installed here. Run "
            f"`{command('sentence-transformers')}`, or give vectors by id (Parquet or NPZ)."
        ) from error
    try:
        with single_threaded(), one_torch_thread():
            model = SentenceTransformer(
                str(Path(folder).resolve()),
                device="cpu",
                trust_remote_code=False,
                local_files_only=True,
                model_kwargs={"use_safetensors": True},
            )
            vectors = model.encode(list(texts), show_progress_bar=False, convert_to_numpy=True)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise DataError(
            f"{folder}: this model cannot be used ({error}). Save it again, with model.save(...)."
        ) from error
    return np.asarray(vectors, dtype=np.float32)


def _check_folder(folder: Path) -> None:
    """Refuse what is no model, and what could run code when it is loaded."""
    if not folder.is_dir():
        raise DataError(f"{folder}: there is no such folder. Save a model there first, with model.save(...).")
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in files:
        if path.suffix.lower() == ".py":
            raise DataError(f"{path}: this model brings code along, which is never run. Take a model without it.")
        if path.suffix.lower() in _PICKLED:
            raise DataError(
                f"{path}: these weights may be pickled, and pickle can run code. Save the model as safetensors "
                "(model.save(folder, safe_serialization=True)), and delete this file."
            )
    if not any(path.suffix == ".safetensors" for path in files):
        raise DataError(f"{folder}: there are no weights (*.safetensors). Give the folder that model.save(...) wrote.")
    for module in _modules(folder / "modules.json"):
        if not module.startswith("sentence_transformers."):
            raise DataError(f"{folder}: modules.json names {module!r}, which is no part of sentence-transformers.")
    for path in files:
        if path.suffix.lower() == ".json" and "config" in path.name.lower():
            _check_names(path)


def _modules(file: Path) -> list[str]:
    if not file.is_file():
        return []
    try:
        return [str(module["type"]) for module in json.loads(file.read_text(encoding="utf-8"))]
    except (ValueError, TypeError, KeyError) as error:
        raise DataError(f"{file}: this is no list of modules. Save the model again.") from error


def _check_names(file: Path) -> None:
    """Refuse the configuration of a module (its activation, say) that names what the library would import."""
    try:
        waiting = [json.loads(file.read_text(encoding="utf-8"))]
    except ValueError as error:
        raise DataError(f"{file}: this is no JSON. Save the model again, with model.save(...).") from error
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            waiting.extend(value.values() if isinstance(value, dict) else value)
        elif isinstance(value, str) and _DOTTED.fullmatch(value) and not value.startswith(_KNOWN):
            raise DataError(
                f"{file}: {value!r} is named, which may be imported and run. Take a model that names nothing but parts "
                "of torch.nn and sentence-transformers."
            )
