"""What does it bring to train repeats of one network together? Against one after another, on whatever device is there.

Prints samples trained per second, of all networks, and the ratio of both ways; then, with dropout and to the end, the
paired difference of their accuracies. Asserts nothing. Within a round both ways run in turn, so that a machine which
slows down slows both; each figure is the median of the rounds, a ratio that of the ratios within rounds.
"""

import argparse
import os
import platform
import statistics
import time
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from touchstone.core.data import Dataset, load_example
from touchstone.core.models import MODELS
from touchstone.core.models.networks import PaperNetwork, best_device
from touchstone.core.models.together import fit_together

N_ROUNDS = 3


@dataclass(frozen=True)
class Case:
    """A model on a data set, trained on about `n_train` samples by each of so many networks."""

    model: str
    dataset: Dataset
    n_train: int
    n_networks: tuple[int, ...]


def random_images(n: int, side: int) -> Dataset:
    rng = np.random.default_rng(0)
    x = rng.random((n, side, side, 1), dtype=np.float32)
    names = tuple(map(str, range(10)))
    return Dataset(f"random {side} x {side}", "image", x, rng.integers(10, size=n), names, list(map(str, range(n))))


def ragged(case: Case, n_networks: int) -> list[np.ndarray]:
    """A training part for each network, of sizes that differ by up to a tenth, as those of exclusive splits do."""
    rng = np.random.default_rng(n_networks)
    sizes = np.linspace(0.9, 1.0, n_networks) * case.n_train
    return [rng.permutation(case.dataset.n_samples)[: round(size)] for size in sizes]


def one_after_another(model: PaperNetwork, dataset: Dataset, parts: list[np.ndarray]) -> list[PaperNetwork]:
    return [
        replace(model).fit(dataset.x[part], dataset.y[part], seed=seed, n_classes=dataset.n_classes)
        for seed, part in enumerate(parts)
    ]


def throughput(case: Case, n_networks: int) -> tuple[float, float, list[float]]:
    """Samples per second together and one after another, and the ratio of each round."""
    model, parts = MODELS[case.model](n_epochs=1), ragged(case, n_networks)
    n_samples, rounds = sum(map(len, parts)), []
    for _ in range(N_ROUNDS + 1):
        start = time.perf_counter()
        fit_together(model, case.dataset, parts, range(n_networks))
        middle = time.perf_counter()
        one_after_another(model, case.dataset, parts)
        rounds.append((n_samples / (middle - start), n_samples / (time.perf_counter() - middle)))
    together, alone = zip(*rounds[1:], strict=True)  # the first round warms up
    ratios = [a / b for a, b in zip(together, alone, strict=True)]
    return statistics.median(together), statistics.median(alone), ratios


def accuracies(name: str, n_networks: int, n_epochs: int) -> np.ndarray:
    """Accuracy on digits after full training, (together, one after another), on the same parts with the same seeds."""
    digits, model = load_example("digits"), MODELS[name](n_epochs=n_epochs)
    orders = [np.random.default_rng(seed).permutation(digits.n_samples) for seed in range(n_networks)]
    parts = [order[:600] for order in orders]
    ways = [
        fit_together(model, digits, parts, range(n_networks)),
        one_after_another(model, digits, parts),
    ]
    return np.array(
        [
            [(one.predict(digits.x[order[600:]]) == digits.y[order[600:]]).mean() for one in models]
            for models, order in zip(zip(*ways, strict=True), orders, strict=True)
        ]
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repeats", type=int, default=10, help="networks whose accuracies are compared")
    options.add_argument("--epochs", type=int, default=10, help="that they are trained for")
    given = options.parse_args()
    on_gpu = best_device() == "cuda"
    digits, images = load_example("digits"), random_images(20_000 if on_gpu else 1000, 28)
    # A processor would take hours for what a GPU does in seconds, and shows the same ratio on a batch or two.
    cases = (
        Case("linear", digits, 1400, (1, 4, 16)),
        Case("cnn_1", digits, 1400 if on_gpu else 256, (1, 4, 16)),
        Case("cnn_1", images, 12_800 if on_gpu else 128, (1, 4, 16) if on_gpu else (1, 4)),
        Case("mlp_2048", images, 12_800 if on_gpu else 128, (1, 4, 16) if on_gpu else (1, 4)),
    )
    where = _gpu() if on_gpu else f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, one thread for training"
    print(f"# Repeats trained together, {date.today()}, {platform.machine()}, {where}")
    print(f"samples trained per second, one epoch, batches of 128, medians of {N_ROUNDS} rounds (lowest to highest)")
    print("| model | data | networks | together | one after another | ratio |")
    print("|---|---|---|---|---|---|")
    for case in cases:
        for n_networks in case.n_networks:
            together, alone, ratios = throughput(case, n_networks)
            ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            print(
                f"| {case.model} | {case.dataset.name} | {n_networks} | {together:,.0f} | {alone:,.0f} | {ratio} |",
                flush=True,
            )
    from scipy import stats

    for name in ("linear", "cnn_1"):
        both = 100 * accuracies(name, given.repeats, given.epochs)
        difference = both[:, 0] - both[:, 1]
        within = stats.t.ppf(0.975, len(both) - 1) * difference.std(ddof=1) / len(both) ** 0.5
        print(
            f"{name} on digits, 600 training samples, {given.epochs} epochs: {both[:, 0].mean():.2f} % together, "
            f"{both[:, 1].mean():.2f} % one after another; paired difference {difference.mean():+.2f} points "
            f"[{difference.mean() - within:+.2f}, {difference.mean() + within:+.2f}], n = {len(both)} networks",
            flush=True,
        )


def _gpu() -> str:
    import torch

    return torch.cuda.get_device_name()


if __name__ == "__main__":
    main()
