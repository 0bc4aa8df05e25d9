"""What does it cost to read a file, against pandas, and how much memory does it take?

Prints a table; asserts nothing. Each reading is a process of its own: processor time of reading (from the path to the
data set), and the most memory that the process held beyond what it held with all libraries loaded. pandas reads the
same file with `read_csv` and makes an array of its numbers. Wide tables have few rows: columns are their question.
"""

import json
import platform
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from datetime import date
from io import BytesIO
from pathlib import Path

import numpy as np

SIZES = [(1_000_000, 10), (5_000, 1_000), (50_000, 200), (50, 1_000), (50, 10_000), (50, 100_000)]
N_IMAGES, N_TEXTS = 60_000, 100_000
KEYS = 100_000
MIB = 2**20


def write_table(path: Path, n_rows: int, n_columns: int) -> None:
    rng = np.random.default_rng(0)
    names = ",".join(f"f{column}" for column in range(n_columns))
    lines = [
        ",".join(map(str, row)) + f",{label}"
        for row, label in zip(
            rng.normal(size=(n_rows, n_columns)).round(4).tolist(), rng.choice(list("abc"), n_rows), strict=True
        )
    ]
    path.write_text(f"{names},label\n" + "\n".join(lines) + "\n")


def write_texts(path: Path) -> None:
    rng = np.random.default_rng(0)
    words = np.array([f"word{number}" for number in range(5_000)])
    lines = [f"{' '.join(rng.choice(words, 20))}\t{row % 4}" for row in range(N_TEXTS)]
    path.write_text("text\tlabel\n" + "\n".join(lines) + "\n")


def write_images(path: Path) -> None:
    from PIL import Image

    rng = np.random.default_rng(0)
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(N_IMAGES):
            stream = BytesIO()
            Image.fromarray(rng.integers(0, 64, (28, 28), dtype=np.uint8)).save(stream, "PNG")
            archive.writestr(f"{'test' if number % 6 == 0 else 'train'}/{number % 10}/{number}.png", stream.getvalue())


def write_keras(path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (70_000, 28, 28), dtype=np.uint8)
    y = rng.integers(0, 10, 70_000)
    np.savez_compressed(path, x_train=x[:60_000], y_train=y[:60_000], x_test=x[60_000:], y_test=y[60_000:])


def write_scores(path: Path) -> None:
    rng = np.random.default_rng(0)
    scores = rng.random((50_000, 1_000), dtype=np.float32)
    np.savez(path, y_true=rng.integers(0, 1_000, 50_000), probabilities=scores / scores.sum(axis=1, keepdims=True))


def write_keys(path: Path) -> None:
    rows = [{**{f"g{key}": 0.5 * row for key in range(KEYS)}, "label": "ab"[row % 2]} for row in range(6)]
    path.write_text(json.dumps(rows))


FILES: dict[str, tuple[str, Callable[[Path], None]]] = {
    **{
        f"CSV {rows:,} x {columns:,}": (
            "t.csv",
            lambda path, rows=rows, columns=columns: write_table(path, rows, columns),
        )
        for rows, columns in SIZES
    },
    f"TSV {N_TEXTS:,} texts": ("t.tsv", write_texts),
    f"JSON 6 x {KEYS:,}": ("t.json", write_keys),
    "NPZ 70,000 images in parts": ("t.npz", write_keras),
    f"zip of {N_IMAGES:,} images in parts": ("t.zip", write_images),
    "NPZ of predictions, 50,000 x 1,000": ("scores.npz", write_scores),
}


def read_ours(path: str) -> int:
    from touchstone.core.data import read_dataset, read_predictions

    if Path(path).stem != "scores":
        return read_dataset(path).x.nbytes
    return read_predictions(path).select().proba.nbytes


def read_pandas(path: str) -> int:
    import pandas as pd

    frame = pd.read_csv(path, sep="\t" if path.endswith(".tsv") else ",")
    return frame.select_dtypes("number").to_numpy().nbytes


READERS = {"ours": read_ours, "pandas": read_pandas}


def most_memory() -> float:
    """The most memory that this process has held, in MiB; getrusage would count the process that started it, too."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def measure(reader: str, path: str) -> None:
    """What one reading costs, printed by a process of its own, which reads a small file first to load all libraries."""
    small = Path(path).with_name("small.csv")
    small.write_text("a,label\n1,x\n2,y\n")
    for read in READERS.values():
        read(str(small))
    held, started = most_memory(), time.process_time()
    n_bytes = READERS[reader](path)
    seconds = time.process_time() - started
    print(json.dumps({"seconds": seconds, "mib": most_memory() - held, "array": n_bytes / MIB}))


def cost(reader: str, path: Path) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.bench_reading", reader, str(path)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main() -> None:
    print(f"{date.today()}, {platform.processor() or platform.machine()}, Python {platform.python_version()}\n")
    print("| file | MiB | processor, s | pandas, s | ratio | peak, MiB | pandas, MiB | array, MiB |")
    print("|---|---|---|---|---|---|---|---|")
    wanted = sys.argv[1:]
    for title, (name, write) in FILES.items():
        if wanted and not any(word in title for word in wanted):
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            write(path)
            ours = cost("ours", path)
            theirs = cost("pandas", path) if name.endswith(("csv", "tsv")) else None
            compared = (
                f"{theirs['seconds']:.2f} | {ours['seconds'] / theirs['seconds']:.1f} | {ours['mib']:.0f} | "
                f"{theirs['mib']:.0f}"
                if theirs
                else f"| | {ours['mib']:.0f} | "
            )
            size = path.stat().st_size / MIB
        print(f"| {title} | {size:.0f} | {ours['seconds']:.2f} | {compared} | {ours['array']:.0f} |", flush=True)


if __name__ == "__main__":
    measure(*sys.argv[1:]) if len(sys.argv) == 3 and sys.argv[1] in READERS else main()
