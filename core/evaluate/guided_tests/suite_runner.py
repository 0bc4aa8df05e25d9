"""Run a suite of generated pictures on a model of your own: `pytest test_guided_suite.py -s` (with numpy).

Beside this file lie `guided_suite.npz`, with the pictures, and a file of yours, `my_model.py`, with a function

    def predict(images):  # uint8, (n, height, width, channels), 0 black to 255 white
        return ...        # for each the name of its class, or its place in `class_names`, counted from 0

Settings are environment variables: GUIDED_PREDICT, where your function is (my_model:predict); GUIDED_LEAST, an
accuracy, below which the first test fails (none: it only reports); GUIDED_BEFORE, the answers of the version to compare
with (the model that the suite was made with); GUIDED_KEEP, a file (.npy) that this version's answers are kept in, for
the next one.
"""

import importlib
import os
import sys
from math import comb, sqrt
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
SUITE = HERE / "guided_suite.npz"


def load(file=SUITE):
    """Read the suite: its arrays by name, of the tests that count, or would by another oracle."""
    with np.load(file, allow_pickle=False) as arrays:
        suite = {name: arrays[name] for name in arrays.files}
    n, asked = len(suite["counts"]), suite["counts"] | suite["counts_again"].any(axis=1)
    return {name: array[asked] if len(array.shape) and len(array) == n else array for name, array in suite.items()}


def answers(suite):
    """Ask the model: its predict function's class of every picture, as names."""
    sys.path.insert(0, str(HERE))
    module, name = os.environ.get("GUIDED_PREDICT", "my_model:predict").split(":")
    predicted = np.asarray(getattr(importlib.import_module(module), name)(suite["images"]))
    if predicted.shape != suite["labels"].shape:
        raise ValueError(f"predict gave shape {predicted.shape}. Give one class for each of {len(suite['labels'])}.")
    if np.issubdtype(predicted.dtype, np.integer) and not np.issubdtype(suite["labels"].dtype, np.integer):
        predicted = suite["class_names"][predicted]
    return predicted.astype(str)


def before(suite):
    """Give the answers to compare with: those of GUIDED_BEFORE, else of the model that the suite was made with."""
    kept = os.environ.get("GUIDED_BEFORE")
    return suite["image_predicted"] if kept is None else np.load(kept, allow_pickle=False).astype(str)


def share(correct, suite):
    """Give the accuracy and its 95 % interval (Wilson's).

    It is over the real samples that the pictures were made from, and over oracles that might have let others count.
    """
    counts, parents = suite["counts"], suite["parent_ids"][suite["counts"]]
    value, n_parents = float(correct[counts].mean()), len(np.unique(parents))
    spread = sqrt(_spread(correct[counts] - value, parents) ** 2 + _oracle_error(correct, suite) ** 2)
    n = min(value * (1 - value) / spread**2, len(parents)) if spread > 0 else n_parents
    middle, half = value + 1.92 / n, 1.96 * sqrt(value * (1 - value) / n + 0.96 / n**2)
    return value, (middle - half) / (1 + 3.84 / n), (middle + half) / (1 + 3.84 / n)


def change(old, new, suite):
    """Compare two versions, paired.

    Give the tests that the new one gained and lost, the difference of its accuracy with its 95 % interval, and the p of
    McNemar's exact test over real samples: of those on which it changed, how many changed for the better?
    """
    every, counts = new.astype(int) - old.astype(int), suite["counts"]
    moved, parents = every[counts], suite["parent_ids"][counts]
    value, n_parents = float(moved.mean()), len(np.unique(parents))
    spread = max(_spread(moved - value, parents), 1 / (n_parents + 2))
    half = 1.96 * sqrt(spread**2 + _oracle_error(every, suite) ** 2)
    _, codes = np.unique(parents, return_inverse=True)
    sums = np.bincount(codes, weights=moved)
    better, worse = int((sums > 0).sum()), int((sums < 0).sum())
    n = better + worse
    tail = sum(comb(n, i) for i in range(min(better, worse) + 1)) / 2**n
    return int((moved > 0).sum()), int((moved < 0).sum()), value, value - half, value + half, min(1.0, 2 * tail)


def _spread(apart, parents):
    """The standard error of a mean whose parts hang together by their parents."""
    _, codes = np.unique(parents, return_inverse=True)
    sums = np.bincount(codes, weights=apart)
    return sqrt(len(sums) / max(len(sums) - 1, 1) * float(np.square(sums).sum())) / len(apart)


def _oracle_error(values, suite):
    """The standard error that a mean owes to the oracle: its deviation over oracles fitted on samples drawn anew."""
    again = suite["counts_again"]
    again = again[:, again.any(axis=0)]
    return float(np.std(values.astype(float) @ again / again.sum(axis=0), ddof=1)) if again.shape[1] > 1 else 0.0


def test_accuracy():
    """The accuracy of your model; fails where it is significantly below GUIDED_LEAST."""
    suite = load()
    predicted = answers(suite)
    if "GUIDED_KEEP" in os.environ:
        np.save(os.environ["GUIDED_KEEP"], predicted)
    value, lower, upper = share(predicted == suite["labels"], suite)
    n = int(suite["counts"].sum())
    summary = f"accuracy {100 * value:.1f} % [{100 * lower:.1f}, {100 * upper:.1f}] on {n} generated pictures"
    print(f"\n{summary}")
    least = os.environ.get("GUIDED_LEAST")
    assert least is None or upper >= float(least), f"{summary}: significantly below {least}"


def test_no_worse_than_before():
    """Tests gained and lost; fails where your model is significantly worse than the version before."""
    suite = load()
    old, new = before(suite) == suite["labels"], answers(suite) == suite["labels"]
    gained, lost, value, lower, upper, p = change(old, new, suite)
    summary = f"gained {gained} tests, lost {lost}: {100 * value:+.1f} points [{100 * lower:+.1f}, {100 * upper:+.1f}]"
    summary += f" of accuracy, paired; McNemar p = {p:.3f}"
    print(f"\n{summary}")
    for place in np.flatnonzero(old & ~new & suite["counts"])[:10]:
        print(f"  lost: test {suite['test_ids'][place]}, a {suite['labels'][place]}")
    assert upper >= 0 or p >= 0.05, f"{summary}: significantly worse"
