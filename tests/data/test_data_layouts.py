"""What people have of data sets is read right or asked about: files as over a hundred tools and corpora write them.

What is expected stands in the lists (`tests/data/sets`). MISSED are those that are refused or asked about although they
could be read. None may be read as something else.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.data.sets.listed import LAYOUTS, MISSED, page
from tests.data.sets.made import Data, DataLayout, Proposed
from tests.data.uploads import upload
from touchstone.core.data import DataError, Dataset, RolesNeeded, read_dataset


def outcome(layout: DataLayout) -> Dataset | DataError:
    try:
        return read_dataset(upload(layout.content, layout.name))
    except DataError as error:
        return error


def is_as_expected(layout: DataLayout, result: Dataset | DataError) -> bool:
    """Whether a file is read, asked about or refused as the lists say."""
    expected = layout.expected
    if isinstance(expected, Data):
        return isinstance(result, Dataset) and is_read(expected, result)
    if isinstance(result, Dataset):
        return False
    if isinstance(expected, Proposed):
        return isinstance(result, RolesNeeded) and result.guess.label == expected.label
    return not isinstance(result, RolesNeeded) and re.search(expected.match, str(result)) is not None


def is_read(expected: Data, dataset: Dataset) -> bool:
    labels = [dataset.class_names[code] for code in dataset.y]
    parts = None if dataset.part is None else dataset.part.tolist()
    by_row = list(expected.labels), None if expected.parts is None else list(expected.parts)
    if not expected.in_order:
        labels, parts, *by_row = (each and Counter(each) for each in (labels, parts, *by_row))
    width = 1 if dataset.kind == "text" else dataset.x.shape[-1]
    n_sources = None if dataset.sources is None else len(set(dataset.sources))
    return (dataset.kind, labels, width, n_sources, parts) == (
        expected.kind,
        by_row[0],
        expected.width,
        expected.n_sources,
        by_row[1],
    )


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.label)
def test_layout(layout):
    result = outcome(layout)
    if layout.label in MISSED:
        assert isinstance(result, DataError)
        assert MISSED[layout.label] in str(result)
        return
    assert is_as_expected(layout, result), (result, getattr(result, "notes", getattr(result, "guess", "")))


def test_at_least_95_of_100_are_right():
    labels = {layout.label for layout in LAYOUTS}
    assert len(labels) == len(LAYOUTS) >= 100
    assert MISSED.keys() <= labels
    assert len(MISSED) <= 0.05 * len(LAYOUTS)


def test_the_page_of_docs_is_of_today():
    written = Path(__file__).parents[2] / "docs/measured/data-files.md"
    assert written.read_text() == page(), "python -m tests.data.sets.listed > docs/measured/data-files.md"
