"""Does the rule for how long a network is trained stop too early, and what does it cost beside 20 epochs?

`python -m benchmarks.bench_training_length [--networks cnn_1,cnn_3] [--sizes 100,300,1000] [--fits 5] [--data digits]`.
Each fit draws other training samples; the same samples and seed are trained by the rule, for 20 epochs, and for four
times the updates of the rule. A line a fit, and one a cell: mean test accuracy of each, the rule less four times as
long, paired over fits with its standard error, how many fits are no more than a point below, what the rule says of
them, and seconds. `--data mnist` reads the file under `--folder`. Asserts nothing.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch

from touchstone.core.data import load_example
from touchstone.core.models import MODELS
from touchstone.core.models.networks import PaperNetwork

N_TEST = {"digits": 700, "mnist": 10_000}


def samples(data: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """The images, between 0 and 1, and their classes."""
    if data == "digits":
        digits = load_example("digits")
        return digits.x, digits.y
    with np.load(folder / "mnist.npz") as stored:
        images = np.concatenate([stored["x_train"], stored["x_test"]])
        classes = np.concatenate([stored["y_train"], stored["y_test"]])
    return (images[..., None] / 255).astype(np.float32), classes.astype(np.int64)


def cell(name: str, x: np.ndarray, y: np.ndarray, size: int, n_fits: int, n_test: int) -> None:
    """Print what becomes of the fits of one network at one size."""
    rows = []
    for number in range(n_fits):
        order = np.random.default_rng([number, size]).permutation(len(y))
        test, part = order[:n_test], order[n_test : n_test + size]

        def fitted(
            n_epochs: int | None, number: int = number, part: np.ndarray = part, test: np.ndarray = test
        ) -> tuple[PaperNetwork, float, float]:
            start = time.process_time()
            model = MODELS[name](n_epochs=n_epochs).fit(x[part], y[part], seed=number, n_classes=10)
            seconds = time.process_time() - start
            return model, float((model.predict(x[test]) == y[test]).mean()), seconds

        by_rule, accuracy, seconds = fitted(None)
        n_epochs = round(by_rule.training.n_updates / -(-size // MODELS[name]().batch_size))
        _, after_twenty, seconds_of_twenty = fitted(20)
        _, longer, _ = fitted(4 * n_epochs)
        rows.append((accuracy, after_twenty, longer, seconds, seconds_of_twenty))
        about = by_rule.training
        print(
            f"  {name} n={size} fit {number}: {accuracy:.4f} after {about.n_updates} updates ({about.stopped}, "
            f"training accuracy {about.accuracy:.3f}, {seconds:.1f} s), "
            f"20 epochs {after_twenty:.4f} ({seconds_of_twenty:.1f} s), four times as long {longer:.4f}",
            flush=True,
        )
    accuracy, after_twenty, longer, seconds, seconds_of_twenty = np.array(rows).T
    less = 100 * (accuracy - longer)
    error = less.std(ddof=1) / np.sqrt(len(less)) if len(less) > 1 else np.nan
    print(
        f"| {name} | {size} | {accuracy.mean():.3f} | {longer.mean():.3f} | {less.mean():+.2f} ({error:.2f}) | "
        f"{(less >= -1).sum()} of {len(less)} | {after_twenty.mean():.3f} | {seconds.mean():.1f} | "
        f"{seconds_of_twenty.mean():.1f} |",
        flush=True,
    )


def main() -> None:
    """Every network at every size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", default="cnn_1,cnn_2,cnn_3,mlp_2048,mlp_small,linear")
    parser.add_argument("--sizes", default="100,300,1000")
    parser.add_argument("--fits", type=int, default=5)
    parser.add_argument("--data", default="digits", choices=list(N_TEST))
    parser.add_argument("--folder", type=Path, default=Path("../shared/data"))
    given = parser.parse_args()
    torch.set_num_threads(1)
    x, y = samples(given.data, given.folder)
    print(f"{given.data}, {torch.__version__}, one thread; test samples: {N_TEST[given.data]}")
    print(
        "| network | n | rule | four times as long | difference, points (standard error) | at most a point below | "
        "20 epochs | s | s of 20 epochs |"
    )
    for name in given.networks.split(","):
        for size in given.sizes.split(","):
            cell(name, x, y, int(size), given.fits, N_TEST[given.data])


if __name__ == "__main__":
    main()
