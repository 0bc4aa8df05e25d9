"""Does accuracy on a suite of generated pictures see a damaged model? Label noise of 0 to 40 % in training, five seeds.

Prints a table; asserts nothing; needs ``../shared/data`` for MNIST. Labels are wrong in what the model is trained on,
not in the data set that the suite is made from; with ``--own`` they are wrong in the training part of the data set,
too, so that reference and oracle learn from them. `--ends` leaves out the noises between none and the most, and
`--only TEXT` the settings whose name does not end with the text.
"""

import os
import platform
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from touchstone.core.evaluate.guided_tests.suite import JudgedSuite, Suite, make_suite, suite_difference
from touchstone.core.models import MODELS

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
NOISE, N_SEEDS = (0.0, 0.1, 0.2, 0.4), 5
NAMES = tuple("0123456789")


@dataclass(frozen=True)
class Setting:
    """Pictures, how many of them are the training part, and the network that is damaged."""

    name: str
    x: np.ndarray
    y: np.ndarray
    n_train: int
    network: str
    n_epochs: int

    def suite(self, y: np.ndarray) -> Suite:
        """The suite of these pictures with these labels."""
        rows = np.arange(len(y))
        parts = {"train_rows": rows[: self.n_train], "test_rows": rows[self.n_train :]}
        return make_suite(self.x, y, rows.astype(str).astype(object), **parts, class_names=NAMES, seed=0)


def settings(seed: int) -> Iterator[Setting]:
    rng = np.random.default_rng(seed)
    images, labels = load_digits(return_X_y=True)
    rows = rng.permutation(len(images))
    digits = (images[rows] / 16).reshape(-1, 8, 8, 1).astype(np.float32), labels[rows].astype(np.int64)
    yield Setting("digits, 20 epochs", *digits, 1438, "cnn_1", 20)
    yield Setting("digits, 80 epochs", *digits, 1438, "cnn_1", 80)
    with np.load(DATA / "mnist.npz") as file:
        train, test = rng.permutation(60_000)[:6000], rng.permutation(10_000)[:1500]
        x = np.concatenate([file["x_train"][train], file["x_test"][test]])[..., None] / np.float32(255)
        y = np.concatenate([file["y_train"][train], file["y_test"][test]]).astype(np.int64)
    yield Setting("MNIST, 8 epochs", x.astype(np.float32), y, 6000, "lenet", 8)
    yield Setting("MNIST, 40 epochs", x.astype(np.float32), y, 6000, "lenet", 40)


def damaged(setting: Setting, noise: float, rng: np.random.Generator) -> np.ndarray:
    """The labels, of the training part so many wrong."""
    y = setting.y.copy()
    wrong = np.flatnonzero(rng.random(setting.n_train) < noise)
    y[wrong] = (y[wrong] + rng.integers(1, 10, len(wrong))) % 10
    return y


def rows_of(setting: Setting, seed: int, *, own: bool) -> Iterator[str]:
    rng = np.random.default_rng([seed, 1])
    clean = None if own else setting.suite(setting.y)
    sound = None
    for noise in NOISE:
        y = damaged(setting, noise, rng)
        if "--ends" in sys.argv and noise not in (NOISE[0], NOISE[-1]):
            continue
        suite = clean or setting.suite(y)
        train = slice(0, setting.n_train)
        model = MODELS[setting.network](n_epochs=setting.n_epochs).fit(
            setting.x[train], y[train], seed=seed, n_classes=10
        )
        proba = model.predict_proba(suite.pixels)
        judged = JudgedSuite(suite, proba.argmax(axis=1), proba.max(axis=1))
        sound = sound or judged
        test = (model.predict_proba(setting.x[setting.n_train :]).argmax(axis=1) == setting.y[setting.n_train :]).mean()
        whole, edge = judged.accuracy(), judged.accuracy("boundary")
        cells = [setting.name, str(seed), f"{noise:.0%}", f"{100 * test:.1f}"]
        for part in (whole, edge):
            cells.append(
                f"{100 * part.accuracy:.1f} [{100 * part.interval.lower:.1f}, {100 * part.interval.upper:.1f}]"
            )
        cells += [f"{whole.n} of {len(suite)}", str(whole.n_parents), f"{100 * suite.oracle_accuracy[0]:.1f}"]
        if not own:
            change = suite_difference(sound, judged)
            ends = f"[{100 * change.interval.lower:.1f}, {100 * change.interval.upper:.1f}]"
            cells.append(f"{100 * change.difference:.1f} {ends}")
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    own = "--own" in sys.argv
    print(f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    head = ["Data", "Seed", "Noise", "Test set", "Suite", "At the boundary", "Kept", "Parents", "Oracle"]
    head += [] if own else ["Against no noise"]
    print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}")
    for seed in range(N_SEEDS):
        for setting in settings(seed):
            if "--only" in sys.argv and not setting.name.endswith(sys.argv[sys.argv.index("--only") + 1]):
                continue
            for row in rows_of(setting, seed, own=own):
                print(row, flush=True)


if __name__ == "__main__":
    main()
