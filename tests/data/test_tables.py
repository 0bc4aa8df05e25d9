"""Tables are read as they were meant, and what is wrong with one is told by its line."""

import csv
import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from touchstone.core.data import DataError
from touchstone.core.data.limits import Limits
from touchstone.core.data.tables import files
from touchstone.core.data.tables.files import parse_delimited
from touchstone.core.data.tables.records import parse_json, parse_jsonl, parse_parquet
from touchstone.core.data.tables.table import TextColumns, side_by_side

SMALL = Limits(samples=3)


def columns(table) -> dict[str, list]:
    return {name: values.tolist() for name, values in table.columns.items()}


def delimited(text: str | bytes, name: str = "t.tsv", limits: Limits | None = None):
    return parse_delimited(text.encode() if isinstance(text, str) else text, name, limits or Limits())


cells = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
filled = st.integers(2, 4).map(lambda width: st.tuples(*[cells] * width).filter(lambda row: any(map(str.strip, row))))
rows = filled.flatmap(lambda row: st.lists(row, min_size=1, max_size=5))  # a row of nothing is none


def written(rows, delimiter, line_end, quoting) -> str:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=line_end, quoting=quoting)
    writer.writerow([f"c{position}" for position in range(len(rows[0]))])
    writer.writerows(rows)
    return stream.getvalue()


@given(
    rows,
    st.sampled_from([",", ";"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_csv_comes_back_whatever_its_cells_hold(rows, delimiter, line_end, encoding):
    table = delimited(written(rows, delimiter, line_end, csv.QUOTE_ALL).encode(encoding), "t.csv")
    assert list(zip(*columns(table).values(), strict=True)) == rows
    assert table.notes == ()


@given(rows, st.sampled_from(["\n", "\r\n"]))
def test_tsv_comes_back_unless_cells_hold_tabs_and_line_breaks(rows, line_end):
    # Python's own writer forgets to quote a lone carriage return.
    rows = [tuple(cell.replace("\t", " ").replace("\r", "\n") for cell in row) for row in rows]
    table = delimited(written(rows, "\t", line_end, csv.QUOTE_MINIMAL))
    assert list(zip(*columns(table).values(), strict=True)) == rows


plain_cells = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6)


# A line of nothing but spaces is a blank one, which is no row.
@given(
    st.lists(st.tuples(plain_cells, plain_cells).filter(lambda row: any(map(str.strip, row))), min_size=1, max_size=6)
)
def test_a_tsv_without_any_quoting_never_joins_or_loses_rows(rows):
    table = delimited("id\ttext\n" + "".join(f"{left}\t{right}\n" for left, right in rows))
    assert table.n_rows == len(rows)
    if table.notes or not any('"' in cell for row in rows for cell in row):
        assert list(zip(*columns(table).values(), strict=True)) == rows


def test_quotes_between_tabs():
    enclosing = delimited('a\tb\n"x ""y"""\t1\n"two\nlines"\t2\n')
    assert columns(enclosing) == {"a": ['x "y"', "two\nlines"], "b": ["1", "2"]}
    assert enclosing.lines.tolist() == [2, 3]
    plain = delimited('a\tb\n" I go .\t1\nyou stay . "\t0\n')  # a dialogue, one sentence a line
    assert columns(plain) == {"a": ['" I go .', 'you stay . "'], "b": ["1", "0"]}
    assert "Quotation marks were kept" in plain.notes[0]


def test_lines_are_counted_as_an_editor_counts_them():
    table = delimited('a,b\r\n"x\r\ny",1\r\n\r\nz,2\r\n', "t.csv")
    assert table.lines.tolist() == [2, 5]
    assert table.place(1) == "t.csv, line 5"


@pytest.mark.parametrize(
    ("text", "name", "header"),
    [
        ("a\tb, c\n1\t2", "t.tsv", ["a", "b, c"]),
        ("a;b\n1;2", "t.csv", ["a", "b"]),
        ("a\tb\n1\t2", "t.csv", ["a", "b"]),
        ("a,b\n1,2", "t.tsv", ["a", "b"]),
        ("\ufeff a , b\n1,2", "t.txt", ["a", "b"]),
        ('"a,b";c\n1;2', "t.csv", ["a,b", "c"]),
        (",b\n0,2", "t.csv", ["unnamed column 1", "b"]),
        ("\n\na,b\n1,2", "t.csv", ["a", "b"]),
    ],
)
def test_headers_and_delimiters(text, name, header):
    assert list(delimited(text, name).columns) == header


@pytest.mark.parametrize("header_needed", [True, False])
def test_a_header_that_stands_below_once_more_is_a_header(header_needed):
    rows = "".join(f"{size},{label}\n" for size, label in ((1.5, "cat"), (2.5, "dog"), (3.5, "cat"), (4.5, "dog")))
    text = f"size,label\n{rows}size,label\n{rows}"
    table = parse_delimited(text.encode(), "t.csv", Limits(), header_needed=header_needed)
    assert list(table.columns) == ["size", "label"]
    assert table.n_rows == 8
    assert table.lines.tolist() == [2, 3, 4, 5, 7, 8, 9, 10]
    assert table.notes == ("Line 6: the header once more, left out.",)


def test_repeated_headers_and_rows_of_nothing_are_left_out_quoted_or_not():
    rows = '"a, b",1\n"c ""d""",2\n'
    for header in ("text,label", '"text","label"', "text , label"):
        table = delimited(f"{header}\n{rows},\n{header}\n{header}\n{rows} , \n\n", "t.csv")
        assert columns(table) == {"text": ["a, b", 'c "d"'] * 2, "label": ["1", "2"] * 2}
        assert table.notes == ("Lines 5, 6: the header once more, left out.",)
        assert table.lines.tolist() == [2, 3, 7, 8]


@pytest.mark.parametrize("space", ["\u00a0", "\u202f", "\u2003", "\x85"])
def test_numbers_between_odd_spaces_are_numbers_however_the_file_is_read(space):
    text = f"a,b\n{space}1.5{space},x\n2,y\nnone,z\n"
    at_once = parse_delimited(text.encode(), "t.csv", Limits())
    by_line = parse_delimited((text + '"two\nlines",z\n').encode(), "t.csv", Limits())
    assert isinstance(at_once.columns, TextColumns)
    assert not isinstance(by_line.columns, TextColumns)
    np.testing.assert_array_equal(at_once.floats("a"), [1.5, 2, np.nan])
    np.testing.assert_array_equal(by_line.floats("a")[:3], [1.5, 2, np.nan])


def test_different_cells_are_counted_as_they_are_spelled():
    table = parse_delimited("a,b\n,x\n ,y\n\u00a0,y\nred,x\n red,x\n".encode(), "t.csv", Limits())
    assert isinstance(table.columns, TextColumns)
    assert table.n_different("a") == len(set(table.spelled("a"))) == 3


@pytest.mark.parametrize("parse", [parse_jsonl, parse_json])
def test_rows_with_few_keys_in_common_never_outgrow_the_limit(parse):
    rows = [json.dumps({f"k{row}": 1}) for row in range(100)]
    content = ("\n".join(rows) if parse is parse_jsonl else f"[{','.join(rows)}]").encode()
    assert parse(content, "t.json", Limits(unpacked_bytes=80_000)).n_rows == 100
    with pytest.raises(DataError, match=r"t\.json: 100 rows and 100 different keys make a table beyond the limit"):
        parse(content, "t.json", Limits(unpacked_bytes=79_999))


BROKEN = {
    "short row": ("a\tb\n1\t2\n3\n", "t.tsv, line 3: 1 cells, but the header has 2.*with tabs or line breaks"),
    "long row": ("a,b\n1,2,3\n", "t.tsv, line 2: 3 cells, but the header has 2.*with commas or line breaks"),
    "open quote": (
        'a,b\n1,2\n3,"4\n',
        "t.tsv, line 3: the quotation marks do not close.*each one inside written twice",
    ),
    "text after quote": ('a,b\n"1"2,3\n', "t.tsv, line 2: the quotation marks do not close"),
    "short row with quotes": ('a\tb\n"1" 2\t3\n4\n', "t.tsv, line 3: 1 cells, but the header has 2"),
    "short row in quotes": ('a\tb\n"1\n2"\t3\n4\n', "t.tsv, line 4: 1 cells, but the header has 2"),
    "one column": ('"label"\nx\n', "t.tsv, line 1: one column only, '\"label\"'. The first line must name the columns"),
    "white space": ("\n\n", "t.tsv, line 1: one column only, nothing"),
    "no rows": ("a\tb\n", "t.tsv: there are no rows, only the names of columns"),
    "same name": ("a\tb\ta\n1\t2\t3\n", "t.tsv: columns 1 and 3 are both called 'a'"),
    "no header": ("1\t1\n2\t3\n", "both called '1'.*if there is no line of names, add one"),
    "Greek": ("a\tb\n1\tx\n2\t\u03ba\u03b1\u03bb\u03cc\n".encode("iso8859-7"), "t.tsv, line 3: byte 0xEA is not UTF-8"),
    "cut UTF-8": (
        "a\tb\n1\t\u00e9t\u00e9\n".encode()[:-2],
        "t.tsv, line 2: byte 0xC3 is not UTF-8. Save the file as UTF-8",
    ),
    "control characters": (b"a\tb\n1\tx\x01\n2\t\xe9\n", "t.tsv, line 3: byte 0xE9 is not UTF-8"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_text_is_told_by_its_line(text, message):
    with pytest.raises(DataError, match=message):
        delimited(text)


def test_a_cell_may_be_as_long_as_a_document():
    assert len(delimited("a,b\n" + "x" * 500_000 + ",1\n", "t.csv").columns["a"][0]) == 500_000


@pytest.mark.parametrize(
    ("parse", "content"),
    [
        (parse_delimited, b"a\tb\n" + b"1\t2\n" * 4),
        (parse_jsonl, b'{"a": 1}\n' * 4),
        (parse_parquet, pd.DataFrame({"a": range(4)}).to_parquet()),
    ],
)
def test_more_rows_than_the_limit_are_refused(parse, content):
    with pytest.raises(DataError, match="more than 3 rows"):
        parse(content, "t", SMALL)
    assert parse(content, "t", Limits(samples=4)).n_rows == 4


def test_cells_that_are_needed_are_told_by_line_and_column():
    table = delimited("id,size,label\na,1,x\nb,,y\nc,nan,\nd,-inf, \ne,one,z\n", "t.csv")
    with pytest.raises(DataError, match=r"t.csv, line 4: column 'label' holds nothing. Each row needs a name"):
        table.strings("label")
    with pytest.raises(DataError, match=r"t.csv, line 3: column 'size' holds nothing. It must be a finite number"):
        table.numbers("size")
    for line, value in ((4, "nan"), (5, "-inf"), (6, "one")):
        rows = delimited("id,size\n" + "a,1\n" * (line - 2) + f"b,{value}\n", "t.csv")
        with pytest.raises(DataError, match=f"t.csv, line {line}: column 'size' holds '{value}'"):
            rows.numbers("size")


def jsonl(*rows) -> bytes:
    return "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode()


json_values = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | cells | st.lists(st.integers())


@given(st.lists(st.fixed_dictionaries({"a": json_values, "b": json_values}), min_size=1))
def test_json_lines_come_back(rows):
    table = parse_jsonl(jsonl(*rows) + b"\n\n", "t.jsonl", Limits())
    assert columns(table) == {"a": [row["a"] for row in rows], "b": [row["b"] for row in rows]}


def test_a_key_that_a_line_lacks_is_a_missing_cell():
    table = parse_jsonl(jsonl({"a": "x"}, "", {"a": "y", "more": {"deep": 1}}, {"more": None}), "t.jsonl", Limits())
    assert table.columns["more"].tolist() == [None, {"deep": 1}, None]
    with pytest.raises(DataError, match=r"t\.jsonl, line 4: column 'a' holds nothing"):
        table.strings("a")


def test_a_label_that_is_a_list_of_several_is_said_to_be_one():
    table = parse_jsonl(b'{"label": ["a", "b"]}\n{"label": ["a"]}\n', "t.jsonl", Limits())
    with pytest.raises(
        DataError, match=r"line 1: column 'label' holds \['a', 'b'\].*: write one, and nothing around it"
    ):
        table.strings("label")


def test_what_json_holds_as_ids_and_labels():
    table = parse_jsonl(jsonl({"a": "01"}, {"a": 1}, {"a": 1.0}, {"a": 0.5}, {"a": False}, {"a": "NA"}), "t", Limits())
    assert table.strings("a") == ["01", "1", "1", "0.5", "false", "NA"]
    for value in (None, [1], {}, "", float("nan")):
        with pytest.raises(DataError, match=r"t, line 2: column 'a' holds"):
            parse_jsonl(jsonl({"a": 1}, {"a": value}), "t", Limits()).strings("a")
    with pytest.raises(DataError, match=r"t, line 2: column 'a' holds 3. It must be a text"):
        parse_jsonl(jsonl({"a": "x"}, {"a": 3}), "t", Limits()).texts("a")
    with pytest.raises(DataError, match=r"t, line 2: column 'a' holds 1000"):
        parse_jsonl(jsonl({"a": 1}, {"a": 10**400}), "t", Limits()).numbers("a")


BROKEN_JSON = {
    "no JSON": (jsonl({"a": 1}, "{'a': 2}"), "t.jsonl, line 2: this is no JSON"),
    "array": (jsonl([1, 2]), r"t.jsonl, line 1: \[1, 2\] instead of an object"),
    "keys without end": (
        jsonl(*({f"a{row}_{key}": 1 for key in range(4000)} for row in range(3))),
        "t.jsonl, line 3: 12,000 different keys so far.* must have the same keys, such as a0_0, a0_1",
    ),
    "white space": (b" \n \n", "t.jsonl: there is nothing but white space"),
    "latin 1": (b'{"a": "\xe9"}', "t.jsonl, line 1: this is no JSON"),
    "deep": (b"[" * 100_000, "t.jsonl, line 1: this is no JSON"),
    "long number": (b'{"a": ' + b"1" * 5000 + b"}", "t.jsonl, line 1: this is no JSON"),
}


@pytest.mark.parametrize(("content", "message"), BROKEN_JSON.values(), ids=BROKEN_JSON)
def test_broken_json_is_told_by_its_line(content, message):
    with pytest.raises(DataError, match=message):
        parse_jsonl(content, "t.jsonl", Limits())


def parquet(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("values", "strings"),
    [
        (pa.array(["01", "NA", "nan"]), ["01", "NA", "nan"]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), ["a", "b", "a"]),
        (pa.array([1, 2, 3], pa.uint8()), ["1", "2", "3"]),
        (pa.array([0.0, 1.0, 0.5]), ["0", "1", "0.5"]),
        (pa.array([True, False, True]), ["true", "false", "true"]),
        (pa.array([2**60, 2**60 + 1, 0]), [str(2**60), str(2**60 + 1), "0"]),
    ],
)
def test_what_parquet_holds_as_ids_and_labels(values, strings):
    assert parse_parquet(parquet(pa.table({"a": values})), "t", Limits()).strings("a") == strings


@pytest.mark.parametrize("values", [["a", None], [1, None], [1.0, float("nan")], [[1], [2]]])
def test_what_is_missing_in_parquet_is_told_by_its_row(values):
    table = parse_parquet(parquet(pa.table({"a": values})), "t.parquet", Limits())
    with pytest.raises(DataError, match=r"t.parquet, row [12]: column 'a' holds (nothing|nan|\[1\])"):
        table.strings("a")


def test_numbers_of_parquet_are_exact():
    values = np.array([0.1, -0.0, 5e-324, 2.0**-149])
    table = parse_parquet(parquet(pa.table({"a": values, "b": values.astype(np.float32)})), "t", Limits())
    assert table.numbers("a").tobytes() == values.tobytes()
    assert np.array_equal(table.numbers("b"), values.astype(np.float32))


@pytest.mark.parametrize("content", [b"PAR1", b"no parquet at all", parquet(pa.table({"a": range(99)}))[:-20]])
def test_damaged_parquet_is_refused(content):
    with pytest.raises(
        DataError, match=r"t.parquet: this is no Parquet or Arrow file, or a damaged one. Write it again"
    ):
        parse_parquet(content, "t.parquet", Limits())


def arrow(table: pa.Table, *, stream: bool = True, **options: object) -> bytes:
    """As Hugging Face's save_to_disk writes it, or with a footer."""
    written = io.BytesIO()
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(written, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=7)
    return written.getvalue()


@pytest.mark.parametrize("stream", [True, False])
def test_arrow_is_read_as_parquet_is(stream):
    table = pa.table({"text": [f"t{n}" for n in range(20)], "y": range(20), "of": [{"a": [n]} for n in range(20)]})
    described = {"info": {"features": {"y": {"names": ["n", "y"], "_type": "ClassLabel"}}}}
    table = table.replace_schema_metadata({"huggingface": json.dumps(described)})
    given, expected = (
        parse_parquet(arrow(table, stream=stream), "t", Limits()),
        parse_parquet(parquet(table), "t", Limits()),
    )
    assert {name: cells.tolist() for name, cells in given.columns.items()} == {
        name: cells.tolist() for name, cells in expected.columns.items()
    }
    assert given.class_names == expected.class_names == {"y": ("n", "y")}


@pytest.mark.parametrize(
    "content",
    [
        arrow(pa.table({"a": ["x" * 999] * 300}), compression="zstd"),
        arrow(pa.table({"a": pa.DictionaryArray.from_arrays(np.zeros(9, np.int32), ["x" * 999])})),
        arrow(pa.table({"a": pa.array(["x" * 99] * 9, pa.string_view())})),
        arrow(pa.table({"a": pa.array([{"b": "x" * 99}] * 9, pa.struct([("b", pa.string_view())]))})),
        arrow(pa.table({"a": pa.RunEndEncodedArray.from_arrays([9_000], ["x" * 99])})),
    ],
)
def test_arrow_whose_rows_may_be_longer_than_the_file_is_refused(content):
    with pytest.raises(DataError, match="compression, categories or views"):
        parse_parquet(content, "t.arrow", Limits())


def test_parquet_that_unpacks_beyond_the_limit_is_stopped():
    bomb = parquet(pa.table({"a": ["x" * 100_000] * 300}))
    assert len(bomb) < 50_000
    with pytest.raises(DataError, match="1 MiB unpacked"):
        parse_parquet(bomb, "t", Limits(unpacked_bytes=2**20))


# At once or line by line


def both_ways(content: bytes, name: str, header_needed: bool):
    """What a file says, read at once where that can be, and line by line."""
    read = []
    for at_once in (files.read_columns, lambda content, delimiter: None):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(files, "read_columns", at_once)
            try:
                table = parse_delimited(content, name, Limits(), header_needed=header_needed)
                cells = columns(table)
                floats = {column: table.floats(column).tobytes() for column in table.columns}
                kinds = {column: table.kind(column) for column in table.columns}
                different = {column: table.n_different(column) for column in table.columns if "" not in cells[column]}
                read.append((cells, table.lines.tolist(), table.notes, floats, kinds, different))
            except DataError as error:
                read.append(str(error))
    return read


odd_cells = st.sampled_from(
    [
        "",
        " ",
        "1",
        "-2.5",
        "+3",
        " 4 ",
        "1_000",
        "1e3",
        "nan",
        "Infinity",
        "x",
        "01",
        "a b",
        '"',
        '"q"',
        "NA",
        "\u0661",
        ".5",
    ]
)
odd_files = st.tuples(
    st.integers(1, 3).flatmap(lambda width: st.lists(st.lists(odd_cells, min_size=width, max_size=width), max_size=6)),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n", "\n\n", "\r"]),
    st.sampled_from(["", "\ufeff", "# a\n", "\n", '"a;b",']),
)


@given(odd_files, st.booleans(), st.sampled_from(["t.csv", "t.tsv"]))
@example(([["", "1", "1"]], "\t", "\n", ""), False, "t.csv")
@settings(max_examples=300)
def test_columns_read_at_once_are_those_read_line_by_line(file, header_needed, name):
    rows, delimiter, line_end, start = file
    content = start + line_end.join(delimiter.join(cells) for cells in rows)
    at_once, by_lines = both_ways(content.encode(), name, header_needed)
    assert at_once == by_lines


@pytest.mark.parametrize("n_rows", [1, 3, 2**16, 2**16 + 1])
@pytest.mark.parametrize("n_columns", [1, 16, 17, 40])
def test_columns_side_by_side_stand_where_they_belong(n_rows, n_columns):
    columns = np.random.default_rng(0).normal(size=(n_columns, n_rows))
    assert side_by_side(iter(columns), n_rows, n_columns).tobytes() == np.column_stack(columns).tobytes()


def test_features_taken_for_good_are_the_same_and_are_forgotten():
    content = "size,weight,label\n" + "".join(f"{n}.5,{n},{'ab'[n % 2]}\n" for n in range(5000))
    table, kept = delimited(content, "t.csv"), delimited(content, "t.csv")
    features = table.features(["size", "weight"], for_good=True)
    assert features.tobytes() == kept.features(["size", "weight"]).tobytes()
    assert list(table.columns) == ["label"]
    assert list(kept.columns) == ["size", "weight", "label"]


def test_what_needs_no_care_is_read_at_once(monkeypatch):
    monkeypatch.setattr(files, "_rows", None)
    table = delimited('id,"a",b\r\n1,"x, y",2.5\r\n\r\n2,"z",nan\r\n', "t.csv")
    assert columns(table) == {"id": ["1", "2"], "a": ["x, y", "z"], "b": ["2.5", "nan"]}
    assert table.lines.tolist() == [2, 4]
    long = "a,b\n" + f"{'x' * 9_000_000},1\n" + "y,2\n"
    assert delimited(long, "t.csv").numbers("b").tolist() == [1, 2]
