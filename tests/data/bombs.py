"""Files of a kilobyte to some megabytes that unpack to gigabytes, or take ages to read."""

import gzip
import io
import zipfile

import numpy as np
import pandas as pd
import pyarrow
import pyarrow.parquet

MIB = 2**20
SST = b"<sst xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'>"
SHARED_STRINGS = b"application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
HEADER = b"text,label\n"


def gzip_bomb() -> bytes:
    """A CSV file of 10 GiB, packed."""
    return gzip.compress(HEADER) + 160 * gzip.compress(64 * MIB * b"a", 9)


def parquet_bomb() -> bytes:
    """A table of a kilobyte whose 5,000 rows all hold the same text of 16 MiB: 78 GiB once they are rows."""
    cells = pyarrow.DictionaryArray.from_arrays(np.zeros(5000, np.int32), [16 * MIB * "a"])
    table = pyarrow.table({"text": cells, "label": ["cat", "dog"] * 2500})
    written = io.BytesIO()
    pyarrow.parquet.write_table(table, written, compression="zstd", dictionary_pagesize_limit=64 * MIB)
    return written.getvalue()


def workbook_bomb() -> bytes:
    """A workbook of 170 kB with 4 million texts that no cell shows: reading them takes half a minute."""
    pieces = io.BytesIO()
    pd.DataFrame({"text": ["Good.", "Bad."], "label": ["cat", "dog"]}).to_excel(pieces, index=False)
    with zipfile.ZipFile(pieces) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    named = b'<Override PartName="/xl/sharedStrings.xml" ContentType="%s"/></Types>' % SHARED_STRINGS
    types = parts["[Content_Types].xml"].replace(b"</Types>", named)
    texts = SST + 4_000_000 * b"<si><t>a</t></si>" + b"</sst>"
    return zipped(parts | {"[Content_Types].xml": types, "xl/sharedStrings.xml": texts})


def array_bomb() -> bytes:
    """An NPZ file of a quarter of a megabyte with an array of 256 MiB."""
    written = io.BytesIO()
    np.savez_compressed(written, x=np.zeros((2**15, 2**10)), y=np.zeros(2**15, np.int8))
    return written.getvalue()


def deep_json() -> bytes:
    """Sixteen million lists, each in the last."""
    return 16 * MIB * b"["


def many_lists() -> bytes:
    """A JSON file of 24 MB that holds 8 million lists, which take 600 MB."""
    return b"[" + 8_000_000 * b"[]," + b"[]]"


def zipped(entries: dict[str, bytes]) -> bytes:
    """A zip archive."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return written.getvalue()
