"""What people have is read right or asked about: files as over a hundred exporters write them, and what each is.

What is expected stands in the lists (`tests/data/layouts`), as somebody who has such a file would expect it. MISSED are
those that are refused or asked about although they could be read. None may be read as something else.
"""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.data.layouts.listed import LAYOUTS, MISSED, page
from tests.data.layouts.made import CODES, CODES_2, PROBA, PROBA_2, SAID, SAID_2, Asked, Expected, Layout, Read, Refused
from tests.data.uploads import upload
from touchstone.core.data import DataError, RolesNeeded, join_predictions, read_predictions

ACCURACY = {3: float((CODES == SAID).mean()), 2: float((CODES_2 == SAID_2).mean())}
TOP = {3: PROBA.max(axis=1), 2: PROBA_2.max(axis=1)}
EXACT = 1e-6
ROUNDED = {  # by how much a confidence may miss that of the model, where a file has few decimals
    "Weka 3.8: -p 0 -classifications CSV": 0.0005,
    "Excel 365: German CSV: semicolons and decimal commas": 0.005,
    "a paper's supplement: one decimal": 0.075,  # all classes are rounded, and then made to sum to 1
}


def outcome(layout: Layout) -> tuple[Expected, str]:
    """What a file came to, in the words of the lists, and what was said; it fails where another result came out."""
    file = upload(layout.content, layout.name)
    try:
        if layout.truth is None:
            predictions = read_predictions(file).select()
        else:
            predictions = join_predictions(upload(layout.truth[1], layout.truth[0]), file).select()
    except RolesNeeded as needed:
        return Asked(needed.role or ""), str(needed)
    except DataError as error:
        return Refused(""), str(error)
    n_classes, confidence = predictions.n_classes, predictions.confidence
    assert predictions.accuracy == pytest.approx(ACCURACY[n_classes]), "read with another accuracy"
    if confidence is not None:
        missed = np.abs(confidence - of_rows(confidence, n_classes)).max()
        assert missed <= ROUNDED.get(layout.label, EXACT), "read with another confidence"
    return Read(n_classes, confidence is not None, predictions.n_samples), ""


def of_rows(confidence: np.ndarray, n_classes: int) -> np.ndarray:
    """The confidences of the rows, in the order of the file or in the reverse order."""
    known = TOP[n_classes]
    return min(known, known[::-1], key=lambda top: np.abs(top - confidence).max())


def is_as_expected(layout: Layout) -> bool:
    """Whether a file is read, asked about or refused as the lists say."""
    result, message = outcome(layout)
    if isinstance(layout.expected, Refused):
        return not isinstance(result, Read) and re.search(layout.expected.match, message) is not None
    if isinstance(layout.expected, Asked) and isinstance(result, Asked):
        return result.role in (layout.expected.role, layout.expected.before)
    return result == layout.expected


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.label)
def test_layout(layout):
    if layout.label in MISSED:
        assert MISSED[layout.label] in outcome(layout)[1]
        return
    assert is_as_expected(layout), outcome(layout)


def test_at_least_95_of_100_are_right():
    labels = {layout.label for layout in LAYOUTS}
    assert len(labels) == len(LAYOUTS) >= 100
    assert MISSED.keys() | ROUNDED.keys() <= labels
    assert len(MISSED) <= 0.05 * len(LAYOUTS)


def test_the_page_of_docs_is_of_today():
    written = Path(__file__).parents[2] / "docs/measured/exporters.md"
    assert written.read_text() == page(), "python -m tests.data.layouts.listed > docs/measured/exporters.md"


def test_a_workbook_names_the_library_that_reads_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    workbook = next(layout for layout in LAYOUTS if layout.name.endswith(".xlsx"))
    with pytest.raises(DataError, match=r"openpyxl, which is not installed. Save the sheet as CSV \(UTF-8\)"):
        read_predictions(upload(workbook.content, workbook.name))
