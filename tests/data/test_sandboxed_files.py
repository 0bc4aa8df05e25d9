"""Files that may take much are read in a child first: bombs end there, and here in a sentence."""

import gzip
import io
import os
import time
from collections.abc import Callable

import pandas as pd
import pytest
from PIL import Image

from tests.data import bombs
from tests.data.mutated import memory
from touchstone.core.data import DataError, read_dataset, sandbox
from touchstone.core.data.predictions.shapes import read_prediction_table
from touchstone.core.data.sandbox import MOST_HERE, MOST_IN_LINE, try_file
from touchstone.core.data.tables.vectors import read_vectors

SECONDS_TO_START = 30  # of a busy machine
BOMBS = {
    "a.csv.gz": (bombs.gzip_bomb, r"unpacks beyond the limit of 128 MiB"),
    "a.parquet": (
        bombs.parquet_bomb,
        r"it takes more memory than the 0\.5 GB that it may take\. Give a smaller sample",
    ),
    "a.xlsx": (bombs.workbook_bomb, r"it was stopped, since reading it took longer than 3 seconds\. Give a smaller"),
    "a.npz": (bombs.array_bomb, r"x\.npy unpacks beyond the limit of 128 MiB in all\. Give a smaller sample"),
    "deep.json": (bombs.deep_json, r"this is no JSON\. Write a list of objects"),
    "a.json": (bombs.many_lists, r"it takes more memory than the 0\.5 GB that it may take\. Give a smaller sample"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_in_a_sentence_in_time_and_takes_nothing_here(name: str, monkeypatch: pytest.MonkeyPatch):
    make, words = BOMBS[name]
    content = make()
    monkeypatch.setenv("TOUCHSTONE_MOST_UNPACKED", "128")
    monkeypatch.setattr(sandbox, "SECONDS_TO_READ", 3 if name == "a.xlsx" else 60)
    before, began = memory("VmRSS", reset=True), time.monotonic()
    with pytest.raises(DataError, match=rf"^{name}[:, ].*{words}"):
        try_file(read_dataset, name, content)
    assert memory("VmHWM") - before < 16 << 10, "KiB: it was unpacked here"
    assert time.monotonic() - began < sandbox.SECONDS_TO_READ + SECONDS_TO_START


def abort(file: io.BytesIO) -> None:
    """As a library does that finds its memory overwritten."""
    os.abort()


def test_a_file_that_crashes_the_library_that_reads_it_is_a_sentence():
    with pytest.raises(DataError, match=r"^a\.parquet: the process that tried it was ended \(-6\)"):
        try_file(abort, "a.parquet", b"PAR1")


def never(*_: object, **__: object) -> None:
    raise AssertionError("there is a child")


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.json", "a.jsonl"])
def test_a_file_that_cannot_take_much_needs_no_child(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sandbox, "Child", never)
    lines = MOST_HERE // MOST_IN_LINE * (b"1" * (MOST_IN_LINE - 1) + b"\n")
    assert len(lines) == MOST_HERE
    try_file(read_dataset, name, lines)
    for larger in (lines + b"1", b"1" * (MOST_IN_LINE + 1)):
        with pytest.raises(AssertionError, match="there is a child"):
            try_file(read_dataset, name, larger)


def test_a_file_that_is_refused_unread_needs_none(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sandbox, "Child", never)
    monkeypatch.setenv("TOUCHSTONE_MOST_UPLOAD", "1")
    try_file(read_dataset, "a.parquet", bytes(2**20 + 1))


def parquet(**columns: list) -> bytes:
    return pd.DataFrame(columns).to_parquet(index=False)


def two_sizes() -> bytes:
    def png(size: tuple[int, int]) -> bytes:
        written = io.BytesIO()
        Image.new("L", size).save(written, "png")
        return written.getvalue()

    return bombs.zipped({"cat/1.png": png((2, 2)), "dog/1.png": png((3, 2))})


@pytest.mark.parametrize(
    ("read", "name", "content"),
    [
        (read_dataset, "good.parquet", parquet(size=[1.0, 2.0], label=["cat", "dog"])),
        (read_dataset, "asked.parquet", parquet(shape=["a", "b", "a"], hue=["b", "a", "a"])),
        (read_dataset, "sizes.zip", two_sizes()),
        (read_prediction_table, "out.csv.gz", gzip.compress(b"gold,predicted\ncat,dog\ndog,dog\n")),
        (read_vectors, "mine.parquet", parquet(id=["a", "b"], x=[1.0, 2.0])),
    ],
)
def test_what_can_be_read_passes_and_so_does_what_somebody_has_to_be_asked_about(
    read: Callable, name: str, content: bytes
):
    try_file(read, name, content)


def test_what_is_refused_is_refused_in_the_same_words():
    file = io.BytesIO(b"PAR1 and no more")
    file.name = 'odd\n"name".parquet'
    with pytest.raises(DataError) as here:
        read_dataset(file)
    with pytest.raises(DataError) as there:
        try_file(read_dataset, file.name, file.getvalue())
    assert str(there.value) == str(here.value)
