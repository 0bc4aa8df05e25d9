"""A damaged file of any format is read, or refused in a sentence of ours; and neither takes long or much memory.

`python -m benchmarks.bench_mutated --files 20000` counts on.
"""

import io
import zipfile

import pytest

from tests.data.mutated import GOOD, Outcome, bases, faults, file_number, outcomes
from touchstone.core.data import DataError
from touchstone.core.data.limits import Archive, Limits


@pytest.mark.evidence
def test_damaged_files_are_read_or_refused():
    found = outcomes(0, 40 * len(bases()))
    assert faults(found) == []
    assert len(found) == 40 * len(bases())
    read = {one.format for one in found if one.outcome == GOOD}
    assert len(read) > len(bases()) / 2, "they are damaged so much that readers do not get far"


@pytest.mark.evidence
def test_thousands_of_damaged_files_are_read_or_refused():
    assert faults(outcomes(100_000, 104_000)) == []


def test_a_file_is_always_the_same_and_differs_from_the_good_one():
    assert file_number(17)[1] == file_number(17)[1] != file_number(17 + len(bases()))[1]


def test_an_entry_without_a_name_is_refused():
    """Number 14832 of the damaged files, as they were first counted, was one."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a/1.txt", "Minka")
        archive.writestr(zipfile.ZipInfo(""), "nobody")
    with pytest.raises(DataError, match="has no name"):
        Archive(stream.getvalue(), "pets.zip", Limits())


@pytest.mark.parametrize("fault", [("KeyError: 'x'", 0.1, 1.0), ("read", 10.1, 1.0), ("refused", 0.1, 1025.0)])
def test_what_is_not_ours_or_takes_too_much_counts_as_a_fault(fault: tuple[str, float, float]):
    assert faults([Outcome(1, "csv", *fault), Outcome(2, "csv", GOOD, 1.0, 1.0)]) == [Outcome(1, "csv", *fault)]
