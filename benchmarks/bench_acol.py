"""Which sources does ACOL find, with which settings, after how many updates? Beside k-means (Kilinc & Uysal 2017).

`python -m benchmarks.bench_acol [digits] [mnist] [--updates 2000] [--settings NAME ...]` prints a row per setting and
look: units that hold a twentieth of their class, sources left once smaller ones are merged, the fewest in a class, the
silhouette of the sources in the pixels, their agreement (adjusted Rand index, mean over classes) with those of k-means
and, on MNIST, with the writers and the NIST series (employees, students) of the images, beside k-means
itself. Of MNIST `--images` at random. Asserts nothing.
"""

import argparse
import math
import os
import platform
import time
from datetime import date

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.reproduce_source_robustness import DATA as MNIST
from benchmarks.reproduce_source_robustness import mnist
from touchstone.core.cluster.finders import (
    LEAST_SHARE,
    AcolOptions,
    Activities,
    find_sources,
    merged,
    n_sources_of,
    train_acol,
)
from touchstone.core.cluster.sources import silhouettes
from touchstone.core.data import Dataset, load_example

SOURCES = MNIST.with_name("mnist_sources.npz")
N_SOURCES = 5
N_LOOKS = 4
SETTINGS = {
    "torch head, sgd": {"glorot": False},
    "Glorot head, sgd": {},
    "Glorot head, sgd, c1 = .1, batches of 400": {"c1": 0.1, "batch_size": 400},
    "Glorot head, Adam": {"optimizer": "adam", "learning_rate": 0.001},
    "Glorot head, Adam, c1 = .1, batches of 400": {
        "optimizer": "adam",
        "learning_rate": 0.001,
        "c1": 0.1,
        "batch_size": 400,
    },
}
DATA = {"digits": lambda _n_images: load_example("digits"), "mnist": mnist}
Named = dict[str, np.ndarray]  # groupings of all samples, by what they are called


def print_rows(name: str, n_images: int, n_updates: int, seed: int, settings: list[str]) -> None:
    """Train with every setting, and print a row at every look."""
    dataset = DATA[name](n_images)
    pixels = dataset.x.reshape(dataset.n_samples, -1).astype(np.float64)
    by_kmeans = find_sources(pixels, dataset.y, n_sources=N_SOURCES, rng=np.random.default_rng(seed))
    others = {"k-means": by_kmeans} | (true_sources(dataset) if name == "mnist" else {})
    print(f"\n## {name}, {dataset.n_samples} images, seed {seed}")
    looked_at = ["updates", "units alive, of 50", "sources", "fewest in a class", "silhouette", *others, "seconds"]
    print(f"| setting | {' | '.join(looked_at)} |\n|{'---|' * (len(looked_at) + 1)}", flush=True)
    own = [f"{silhouette(dataset, by_kmeans):.3f}", *agreements(dataset, by_kmeans, others)]
    print(f"| k-means | | | {len(np.unique(by_kmeans))} | {N_SOURCES} | {' | '.join(own)} | |", flush=True)
    for setting in settings:
        train_and_look(dataset, others, setting, AcolOptions(n_updates=n_updates, **SETTINGS[setting]), seed)


def true_sources(dataset: Dataset) -> Named:
    """Who wrote each image, and for which of the two series of NIST."""
    with np.load(SOURCES, allow_pickle=False) as file:
        rows = np.array(dataset.ids, dtype=np.int64)
        both = {"writers": "writer", "series": "hsf"}
        return {name: np.concatenate([file[f"{of}_train"], file[f"{of}_test"]])[rows] for name, of in both.items()}


def agreements(dataset: Dataset, sources: np.ndarray, others: Named) -> list[str]:
    """With every other grouping: the adjusted Rand index, mean over classes."""
    of_class = [dataset.y == label for label in range(dataset.n_classes)]
    return [f"{np.mean([adjusted_rand_score(by[of], sources[of]) for of in of_class]):.3f}" for by in others.values()]


def silhouette(dataset: Dataset, sources: np.ndarray) -> float:
    """Pooled, as the paper's, on the pixels."""
    pixels = dataset.x.reshape(dataset.n_samples, -1).astype(np.float64)
    return silhouettes(pixels, dataset.y, sources, rng=np.random.default_rng(0), max_samples=3000).pooled


def train_and_look(dataset: Dataset, others: Named, setting: str, options: AcolOptions, seed: int) -> None:
    """Train once, and print a row a few times on the way."""
    n_epochs, start = options.n_epochs(dataset.n_samples), time.process_time()
    looks = {round(n_epochs * (number + 1) / N_LOOKS) for number in range(N_LOOKS)}

    def look(n_done: int, activities: Activities) -> None:
        if n_done not in looks:
            return
        seconds, fired = time.process_time() - start, activities()
        units = merged(fired, dataset.y)
        sources, n_found = dataset.y * N_SOURCES + units, n_sources_of(units, dataset.y)
        units_fired = dataset.y * N_SOURCES + fired.argmax(axis=1)
        fire = np.bincount(units_fired, minlength=dataset.n_classes * N_SOURCES).reshape(-1, N_SOURCES)
        alive = fire >= LEAST_SHARE * dataset.n_per_class[:, None]
        updates = n_done * math.ceil(dataset.n_samples / options.batch_size)
        cells = [setting, updates, alive.sum(), n_found.sum(), n_found.min(), f"{silhouette(dataset, sources):.3f}"]
        alike = agreements(dataset, sources, others)
        print(f"| {' | '.join(map(str, [*cells, *alike, f'{seconds:.0f}']))} |", flush=True)

    train_acol(dataset.x, dataset.y, n_sources=N_SOURCES, seed=seed, options=options, on_epoch=look)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", nargs="*", help=", ".join(DATA))
    options.add_argument("--images", type=int, default=3000)
    options.add_argument("--updates", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--settings", nargs="*", default=list(SETTINGS), choices=list(SETTINGS))
    given = options.parse_args()
    print(f"# ACOL, {date.today()}, {platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for name in given.data or ["digits"]:
        print_rows(name, given.images, given.updates, given.seed, given.settings)


if __name__ == "__main__":
    main()
