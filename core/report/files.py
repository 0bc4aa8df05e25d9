"""How do tables leave as files? TSV and Parquet for machines, exactly; CSV in which a spreadsheet runs nothing."""

import re

import pandas as pd
import pyarrow as pa
from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype

RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r")
"""A text that begins like this may be a formula to a spreadsheet (or hide one)."""


def tsv(table: pd.DataFrame) -> bytes:
    r"""A table as tab-separated UTF-8; cells that need quotation marks have them, missing ones are empty as "" is.

    >>> tsv(pd.DataFrame({"label": ["a", None], "n": [1, 2]}))
    b'label\tn\na\t1\n\t2\n'
    """
    return _delimited(table, "\t", "\n").encode()


def parquet(table: pd.DataFrame) -> bytes:
    """A table as Parquet, its column types kept; a column of several types (numbers beside texts, say) is text.

    >>> from io import BytesIO
    >>> pd.read_parquet(BytesIO(parquet(pd.DataFrame({"row": [1, "a"]}))))["row"].tolist()
    ['1', 'a']
    """
    uniform = table.copy(deep=False)
    for place in range(uniform.shape[1]):
        column = uniform.iloc[:, place]
        try:
            pa.array(column, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            uniform.isetitem(place, column.astype(object).map(str, na_action="ignore"))
    return uniform.to_parquet(index=False)


def spreadsheet(table: pd.DataFrame) -> bytes:
    r"""A table as CSV for spreadsheets: what one of them might run begins with an apostrophe, and is text.

    >>> spreadsheet(pd.DataFrame({"label": ["=1+1", "a"], "n": [-1, 2]})).decode("utf-8-sig")
    "label,n\r\n'=1+1,-1\r\na,2\r\n"
    """
    safe = table.rename(columns=_as_text)
    for place in range(safe.shape[1]):
        column = safe.iloc[:, place]
        if not is_numeric_dtype(column) and not is_datetime64_any_dtype(column):
            safe.isetitem(place, column.map(_as_text, na_action="ignore").astype(object))
    return _delimited(safe, ",", "\r\n").encode("utf-8-sig")


def _as_text(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(RUN_BY_SPREADSHEETS) else value


def _delimited(table: pd.DataFrame, delimiter: str, line_end: str) -> str:
    """Lines of cells. Python's csv (3.11) leaves a lone carriage return bare, at which readers end the line."""
    special = re.compile(f'[{delimiter}"\r\n]')
    header = [_quoted(str(name), special) for name in table.columns]
    columns = [_cells(table.iloc[:, place], special) for place in range(table.shape[1])]
    lines = [header, *zip(*columns, strict=True)]
    return "".join((delimiter.join(line) or '""') + line_end for line in lines)


def _cells(column: pd.Series, special: re.Pattern[str]) -> list[str]:
    if is_numeric_dtype(column) or is_datetime64_any_dtype(column):
        written = column.to_csv(index=False, header=False, lineterminator="\n")
        return [cell.strip('"') for cell in written.splitlines()]
    return [
        "" if missing else _quoted(str(value), special) for value, missing in zip(column, column.isna(), strict=True)
    ]


def _quoted(cell: str, special: re.Pattern[str]) -> str:
    return '"' + cell.replace('"', '""') + '"' if special.search(cell) else cell


FORMATS = {
    "TSV": (tsv, "tsv", "text/tab-separated-values"),
    "Parquet": (parquet, "parquet", "application/vnd.apache.parquet"),
    "for spreadsheets": (spreadsheet, "csv", "text/csv"),
}
"""By what a button calls it: who writes it, the file's ending, its type."""
