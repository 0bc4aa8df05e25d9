"""What does it cost that files which may take much are read in a child process first? Seconds by kind of file.

Prints a table; asserts nothing (`tests/data/test_sandboxed_files.py` does, on bombs). Medians of five readings.
"""

import gzip
import io
import os
import platform
import statistics
import time
from collections.abc import Callable
from datetime import date
from functools import partial

import numpy as np
import pandas as pd

from touchstone.core.data import read_dataset
from touchstone.core.data.sandbox import try_file

N_TIMES = 5


def frame(n_rows: int) -> pd.DataFrame:
    """Ten columns of numbers and a label; 10,000 rows are a megabyte of CSV."""
    rng = np.random.default_rng(0)
    numbers = pd.DataFrame(rng.normal(size=(n_rows, 10)).round(6), columns=[f"x{n}" for n in range(10)])
    return numbers.assign(label=np.array(["cat", "dog"])[rng.integers(0, 2, n_rows)])


def files() -> dict[str, bytes]:
    """The files by what they are called."""
    some, many = frame(10_000), frame(200_000)
    csv, workbook, arrays = some.to_csv(index=False).encode(), io.BytesIO(), io.BytesIO()
    some.to_excel(workbook, index=False)
    np.savez(arrays, x=some.drop(columns="label").to_numpy(), y=some["label"].to_numpy(str))
    return {
        "small.csv": csv,
        "small.csv.gz": gzip.compress(csv),
        "small.parquet": some.to_parquet(index=False),
        "small.npz": arrays.getvalue(),
        "small.xlsx": workbook.getvalue(),
        "large.csv": many.to_csv(index=False).encode(),
        "large.parquet": many.to_parquet(index=False),
    }


def seconds(call: Callable[[], object]) -> float:
    """How long a call takes, which is made five times."""
    found = []
    for _ in range(N_TIMES):
        began = time.perf_counter()
        call()
        found.append(time.perf_counter() - began)
    return statistics.median(found)


def read(name: str, content: bytes) -> None:
    """Read it here."""
    file = io.BytesIO(content)
    file.name = name
    read_dataset(file)


def main() -> None:
    print(f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print("| file | MiB | read here, s | tried first, s |")
    print("|---|---:|---:|---:|")
    for name, content in files().items():
        here = seconds(partial(read, name, content))
        tried = seconds(partial(try_file, read_dataset, name, content))
        print(f"| {name} | {len(content) / 2**20:.1f} | {here:.3f} | {tried:.3f} |")


if __name__ == "__main__":
    main()
