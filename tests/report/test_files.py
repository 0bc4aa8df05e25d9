"""Tables as files: machine files come back exactly, and no spreadsheet runs a cell of its own file."""

import csv
import io

import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.conftest import ONE_TYPE_OF_TEXTS
from touchstone.core.data.frames import TEXTS
from touchstone.core.data.tables.files import read_table
from touchstone.core.report.files import RUN_BY_SPREADSHEETS, parquet, spreadsheet, tsv

WILD = st.text(
    st.one_of(st.sampled_from("\t\n\r\"'=+-@,;ab 0\u2028\u0085\ufeff"), st.characters(codec="utf-8")), max_size=12
)
CELLS = st.lists(
    st.tuples(WILD, st.none() | WILD, st.integers(-(2**53), 2**53), st.floats(allow_nan=False)), min_size=1, max_size=6
)


def table(cells) -> pd.DataFrame:
    return pd.DataFrame(cells, columns=["id", "text", "n", "value"]).astype({"id": TEXTS, "text": TEXTS})


@settings(max_examples=150, deadline=None)
@given(CELLS)
def test_tsv_comes_back_exactly_through_pandas_but_empty_texts_as_missing(cells):
    assume(
        ONE_TYPE_OF_TEXTS or not any("\0" in (name + (text or "")) for name, text, *_ in cells)
    )  # pandas 2 ends there
    frame = table(cells)
    texts = {"id": str, "text": str}
    exact = {} if ONE_TYPE_OF_TEXTS else {"float_precision": "round_trip"}  # as pandas 3 does by itself
    back = pd.read_csv(io.BytesIO(tsv(frame)), sep="\t", dtype=texts, keep_default_na=False, na_values=[""], **exact)
    wanted = frame.assign(**{name: frame[name].where(frame[name] != "") for name in texts})
    pd.testing.assert_frame_equal(back, wanted, check_exact=True, check_dtype=ONE_TYPE_OF_TEXTS)


@settings(max_examples=150, deadline=None)
@given(CELLS)
def test_tsv_comes_back_exactly_through_our_own_reader(cells):
    frame = table(cells)
    stream = io.BytesIO(tsv(frame))
    stream.name = "table.tsv"
    lines = tsv(frame).decode().split("\n")[:-1]
    # A cell that looks like whole rows may be taken for them: quotation marks between tabs are often plain characters.
    assume(len(lines) == 1 + len(frame) or any(line.count("\t") != 3 for line in lines))
    back = read_table(stream)
    assert list(back.columns) == list(frame.columns)
    assert [list(map(str, back.columns[name])) for name in ("id", "text")] == [
        frame["id"].tolist(),
        frame["text"].fillna("").tolist(),
    ]
    assert [int(n) for n in back.columns["n"]] == frame["n"].tolist()
    assert [float(value) for value in back.columns["value"]] == frame["value"].tolist()


def test_a_lone_carriage_return_does_not_end_the_line():
    assert tsv(pd.DataFrame({"text": ["a\rb", ""]})) == b'text\n"a\rb"\n""\n'


@settings(max_examples=100, deadline=None)
@given(CELLS)
def test_parquet_comes_back_exactly(cells):
    frame = table(cells)
    back = pd.read_parquet(io.BytesIO(parquet(frame)))
    pd.testing.assert_frame_equal(back, frame, check_exact=True, check_dtype=ONE_TYPE_OF_TEXTS)


@pytest.mark.parametrize(
    "cells", [[1, "a", None], [1.5, "", "b"], [True, 1, None], [2**70, 1, None], pd.Categorical([1, "a", None])]
)
def test_a_column_of_several_types_is_text_in_parquet(cells):
    back = pd.read_parquet(io.BytesIO(parquet(pd.DataFrame({"cell": cells, "n": [1, 2, 3]}))))
    assert [None if pd.isna(cell) else cell for cell in back["cell"]] == [
        None if cell is None or pd.isna(cell) else str(cell) for cell in cells
    ]
    assert back["n"].tolist() == [1, 2, 3]


@settings(max_examples=150, deadline=None)
@given(CELLS, WILD)
def test_no_text_in_a_file_for_spreadsheets_begins_like_a_formula(cells, name):
    frame = table(cells).fillna({"text": ""}).rename(columns={"text": name})
    if not frame.columns.is_unique:
        return
    lines = list(csv.reader(io.StringIO(spreadsheet(frame).decode("utf-8-sig"), newline="")))
    assert len(lines) == 1 + len(frame)
    for line, (wanted_id, wanted, n, _) in zip(lines[1:], frame.itertuples(index=False, name=None), strict=True):
        for shown, was in zip(line[:2], (wanted_id, wanted), strict=True):
            assert not shown.startswith(RUN_BY_SPREADSHEETS)
            assert shown in (was, f"'{was}")
            assert (shown == was) == (not was.startswith(RUN_BY_SPREADSHEETS))
        assert line[2] == str(n), "a number is no text"
    assert not any(cell.startswith(RUN_BY_SPREADSHEETS) for cell in lines[0])


@pytest.mark.parametrize("first", RUN_BY_SPREADSHEETS)
def test_categories_and_missing_values_are_safe_too(first):
    frame = pd.DataFrame(
        {"label": pd.Categorical([f"{first}1", None]), "other": pd.Series([None, f"{first}2"], dtype=TEXTS)}
    )
    lines = list(csv.reader(io.StringIO(spreadsheet(frame).decode("utf-8-sig"), newline="")))
    assert lines[1:] == [[f"'{first}1", ""], ["", f"'{first}2"]]
