"""Ready-made word vectors, read by a real gensim where it is installed."""

import gzip
import io
import struct
import sys

import numpy as np
import pytest

from touchstone.core.data import DataError, Dataset, load_example
from touchstone.core.represent import encode
from touchstone.core.represent.word_vectors import read_word_vectors, with_word_vectors

WORDS = {"red": [1.0, 0.0, 0.5], "fox": [0.0, 1.0, 0.25], "Paris": [2.0, 2.0, -1.0], "naïve": [0.0, 0.0, 4.0]}


def text_format(header: bool = True) -> bytes:
    lines = [f"{word} {' '.join(map(str, vector))}" for word, vector in WORDS.items()]
    return "\n".join([f"{len(WORDS)} 3"] * header + lines + [""]).encode()


def binary_format() -> bytes:
    body = b"".join(word.encode() + b" " + struct.pack("<3f", *vector) + b"\n" for word, vector in WORDS.items())
    return f"{len(WORDS)} 3\n".encode() + body


def named(content: bytes, name: str) -> io.BytesIO:
    file = io.BytesIO(content)
    file.name = name
    return file


def texts(*x: str) -> Dataset:
    return Dataset("said", "text", list(x), np.arange(len(x)) % 2, ("a", "b"), [str(row) for row in range(len(x))])


FILES = {
    "w.vec": text_format(),
    "trailing.vec": text_format().replace(b"\n", b" \n").replace(b"4 3 \n", b"4 3\n"),
    "w.vec.gz": gzip.compress(text_format()),
    "w.bin": binary_format(),
    "w.bin.gz": gzip.compress(binary_format()),
    "glove.txt": text_format(header=False),
}


@pytest.fixture
def gensim():
    return pytest.importorskip("gensim", reason="gensim is optional: it reads ready-made word vectors")


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_vectors(name, gensim, tmp_path):
    (tmp_path / name).write_bytes(FILES[name])
    for file in (named(FILES[name], name), tmp_path / name):
        found = read_word_vectors(file)
        assert set(found.positions) == set(WORDS)
        for word, vector in WORDS.items():
            np.testing.assert_array_equal(found.vectors[found.positions[word]], vector)


def test_texts_get_the_mean_of_their_words_and_the_notes_say_what_is_missing(gensim):
    data = with_word_vectors(texts("A red FOX", "paris Paris", "unheard of", ""), named(text_format(), "w.vec"))
    np.testing.assert_array_equal(encode(data, "own_vectors"), [[0.5, 0.5, 0.375], [2, 2, -1], [0, 0, 0], [0, 0, 0]])
    assert data.vectors_name == "w.vec"
    assert data.notes == (
        "Vectors: mean of the word vectors in w.vec, 3 numbers for each text.",
        "Vectors: 4 of 7 words (57.1%) are not among them.",
        "Vectors: 2 of 4 texts hold no known word and got zeros.",
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"999999999 3\nred 1 2 3\n", "999,999,999 words of 3 numbers, which this file cannot hold"),
        (b"1 99999999\nred 1 2 3\n", "cannot hold"),
        (b"0 3\n", "cannot hold"),
        (text_format()[:-30], "break off"),
        (binary_format()[:-6], "break off"),
        (b"id,a,b\n1,2,3\n", "no word vectors"),
        (b"\x80\x04\x95 a pickle", "no word vectors"),
        (text_format().replace(b"0.25", b"nan"), r"word 2, 'fox', holds something that is no finite number"),
    ],
)
def test_damaged_and_lying_files_are_refused(content, words, gensim):
    with pytest.raises(DataError, match=words):
        read_word_vectors(named(content, "w.vec"))


def test_a_file_that_knows_none_of_the_words_is_refused(gensim):
    with pytest.raises(DataError, match="none of the 3 words of said is among the 4"):
        with_word_vectors(texts("der Fuchs", "rot"), named(text_format(), "w.vec"))


def test_a_missing_file_is_named(gensim, tmp_path):
    with pytest.raises(DataError, match=r"gone\.vec"):
        read_word_vectors(tmp_path / "gone.vec")


def test_only_texts_have_words():
    with pytest.raises(DataError, match="word vectors are for texts, and this is tabular data"):
        with_word_vectors(load_example("wine"), named(text_format(), "w.vec"))


def test_without_gensim_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim", None)
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    with pytest.raises(DataError, match="Run `pip install gensim`"):
        read_word_vectors(named(text_format(), "w.vec"))
