"""What does an install bring, with each extra? And what do the first commands of a fresh one cost?

Builds the wheel of this checkout, installs it into a new environment for each extra, and prints a table: megabytes and
files (compiled ones of Python included), packages, CPU seconds of `import touchstone` and `touchstone --help`, and of a
first and a second comparison of two files of 400 rows, with nothing compiled by numba before. Needs a package index.
"""

import argparse
import os
import platform
import resource
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("", "onnx", "postgres", "cluster", "torch", "app", "all")


def cpu_seconds(*command: str | Path, folder: Path) -> float:
    """User and system time of a command and of what it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env={**os.environ, "PYTHONPATH": ""})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def write_predictions(file: Path, accuracy: float, seed: int) -> None:
    """400 samples of three classes, right so often, with a probability for each class."""
    rng, names = np.random.default_rng(seed), np.array(["x", "y", "z"])
    truth, proba = rng.integers(3, size=400), rng.dirichlet(np.full(3, 0.3), 400)
    best = np.where(rng.random(400) < accuracy, truth, proba.argmax(axis=1))
    rows, largest = np.arange(400), proba.argmax(axis=1)
    proba[rows, largest], proba[rows, best] = proba[rows, best], proba[rows, largest]
    columns = {f"p_{name}": proba[:, code] for code, name in enumerate(names)}
    ids = [f"{file.stem}{row}" for row in range(400)]
    pd.DataFrame({"id": ids, "label": names[truth], **columns}).to_csv(file, index=False)


def measured(wheel: Path, extra: str, folder: Path) -> str:
    """A row of the table, of an environment that is gone afterwards."""
    with tempfile.TemporaryDirectory() as home:
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        python, wanted = Path(home, "bin", "python"), f"touchstone-dashboard[{extra}] @ {wheel.as_uri()}"
        subprocess.run([python, "-m", "pip", "install", "-q", wanted], check=True)
        subprocess.run([python, "-m", "pip", "uninstall", "-q", "-y", "setuptools", "pip"], check=True)
        files = [file for file in Path(home, "lib").rglob("*") if file.is_file()]
        size = sum(file.stat().st_size for file in files) / 1e6
        packages = {file.parent for file in files if file.parent.suffix == ".dist-info"}
        tool = Path(home, "bin", "touchstone")
        costs = [
            cpu_seconds(*command, folder=folder)
            for command in (
                (python, "-c", "pass"),
                (python, "-c", "import touchstone"),
                (tool, "--help"),
                *[(tool, "compare", "old.csv", "new.csv")] * 2,
            )
        ]
    bare, imported, *rest = costs
    numbers = " ".join(f"{seconds:6.2f}" for seconds in (imported - bare, *rest))
    return f"{f'[{extra}]':11} {size:6,.0f} {len(files):7,} {len(packages):9} {numbers}"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--extras", nargs="*", default=EXTRAS, help="which extras; '' is the install without any")
    extras = asked.parse_args().extras
    print(
        f"# Installs, {date.today()}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    )
    print("extra           MB   files  packages import   help  first second  (CPU seconds)")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        subprocess.run([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT], check=True)
        (wheel,) = folder.glob("*.whl")
        for seed, (name, accuracy) in enumerate([("old", 0.9), ("new", 0.8)]):
            write_predictions(folder / f"{name}.csv", accuracy, seed)
        for extra in extras:
            print(measured(wheel, extra, folder), flush=True)


if __name__ == "__main__":
    main()
