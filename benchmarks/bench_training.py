"""What makes training a network cheap on a processor, and what does it cost in accuracy? On MNIST of ../shared/data.

`python -m benchmarks.bench_training [speed] [accuracy] [epochs] [--networks cnn_1,lenet] [--rounds 5]`. *speed*:
processor seconds of an epoch in single precision, and what share of it every other way takes in the same round;
*accuracy*: the difference that rounding and larger batches make, with the same images and seeds; *epochs*: how accurate
a network has become after each epoch. Each round draws other images. Asserts nothing.
"""

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import partial
from unittest.mock import patch

import numpy as np
import torch
from scipy import stats

from benchmarks.paired import ratio
from benchmarks.reproduce_test_quality import mnist
from touchstone.core.models import MODELS
from touchstone.core.models.networks import PaperNetwork


@dataclass(frozen=True)
class Way:
    """A way to train: rounded or not, in batches of so many, with memory in large pages or small ones."""

    name: str
    rounded: bool = False
    batch_size: int = 128
    large_pages: bool = True
    compiled: bool = False


SINGLE = Way("single precision, small pages", large_pages=False)
WAYS = (
    Way("single precision"),
    Way("bfloat16, small pages", rounded=True, large_pages=False),
    Way("bfloat16", rounded=True),
    Way("bfloat16, batches of 512", rounded=True, batch_size=512),
)
COMPILED = Way("single precision, compiled", compiled=True)


@contextmanager
def taken(way: Way) -> Iterator[Callable[[str, int], PaperNetwork]]:
    """Within it, `made(name, n_epochs)` gives a network that is trained this way; steps grow with the batches."""

    def made(name: str, n_epochs: int) -> PaperNetwork:
        network = MODELS[name](n_epochs=n_epochs, batch_size=way.batch_size)
        network.learning_rate *= way.batch_size / 128
        return network

    with patch("touchstone.core.models.networks.multiplies_bfloat16", lambda _device: way.rounded):
        if not way.compiled:
            yield made
            return
        from touchstone.core.models.architectures import build

        def compiled(*args: object, **options: object) -> torch.nn.Module:
            network = build(*args, **options)
            network.forward = torch.compile(network.forward)
            return network

        with patch("touchstone.core.models.networks.build", compiled):
            yield made


def drawn(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """So many training images and 4,000 test images, with their labels."""
    x, x_test, y, y_test = mnist()
    rng = np.random.default_rng(seed)
    few, tested = rng.choice(len(y), n, replace=False), rng.choice(len(y_test), 4000, replace=False)
    return x[few], y[few], x_test[tested], y_test[tested]


def seconds_of_an_epoch(name: str, way: Way, n: int, seed: int) -> float:
    """The second epoch of processor seconds, in a process of its own, since pages are asked for once."""
    code = f"from benchmarks.bench_training import *; print(time_epoch({name!r}, {way!r}, {n}, {seed}))"
    pages = {"THP_MEM_ALLOC_ENABLE": str(int(way.large_pages))}
    told = subprocess.run([sys.executable, "-c", code], env={**os.environ, **pages}, capture_output=True, text=True)
    if told.returncode:
        raise RuntimeError(told.stderr)
    return float(told.stdout.split()[-1])


def time_epoch(name: str, way: Way, n: int, seed: int) -> float:
    """What `seconds_of_an_epoch` asks of the process that it starts."""
    x, y, *_ = drawn(n, seed)
    ends: list[float] = []
    with taken(way) as made:
        made(name, 2).fit(x, y, seed=seed, n_classes=10, on_epoch=lambda *_: ends.append(time.process_time()))
    return ends[1] - ends[0]


def speed(networks: list[str], ways: tuple[Way, ...], n: int, rounds: int) -> None:
    print(f"| network | {SINGLE.name}, s per 10,000 | {' | '.join(way.name for way in ways)} |")
    print(f"|---|---|{'---|' * len(ways)}")
    for name in networks:
        taken_by = {way: [] for way in (SINGLE, *ways)}
        for seed in range(rounds):
            for way, seconds in taken_by.items():
                seconds.append(seconds_of_an_epoch(name, way, n, seed))
        usual = f"{np.median(taken_by[SINGLE]) / n * 10_000:.1f}"
        told = [ratio(taken_by[way], taken_by[SINGLE]).partition("]")[0] + "]" for way in ways]
        print(f"| {name} | {usual} | {' | '.join(told)} |", flush=True)


def accuracy_of(name: str, way: Way, n: int, n_epochs: int, seed: int) -> float:
    x, y, x_test, y_test = drawn(n, seed)
    with taken(way) as made:
        network = made(name, n_epochs).fit(x, y, seed=seed, n_classes=10)
    return float((network.predict(x_test) == y_test).mean())


def accuracy(networks: list[str], n: int, n_epochs: int, rounds: int) -> None:
    """Paired differences in points, 95 % (t over rounds)."""
    others = [way for way in WAYS if way.large_pages and way.rounded]
    print(f"| network | single precision, % | {' | '.join(f'{way.name}, points' for way in others)} |")
    print(f"|---|---|{'---|' * len(others)}")
    for name in networks:
        usual = np.array([accuracy_of(name, WAYS[0], n, n_epochs, seed) for seed in range(rounds)])
        cells = []
        for way in others:
            less = 100 * (np.array([accuracy_of(name, way, n, n_epochs, seed) for seed in range(rounds)]) - usual)
            half = stats.t.ppf(0.975, rounds - 1) * less.std(ddof=1) / rounds**0.5
            cells.append(f"{less.mean():+.2f} [{less.mean() - half:+.2f}, {less.mean() + half:+.2f}]")
        print(f"| {name} | {100 * usual.mean():.1f} | {' | '.join(cells)} |", flush=True)


def epochs(networks: list[str], n: int, n_epochs: int, rounds: int) -> None:
    """Accuracy after every epoch, mean over rounds, as networks are trained by the app."""
    print(f"| network | {' | '.join(map(str, range(1, n_epochs + 1)))} | seconds an epoch |")
    print(f"|---|{'---|' * (n_epochs + 1)}")
    for name in networks:
        right, start = np.zeros((rounds, n_epochs)), time.process_time()
        for seed in range(rounds):
            x, y, x_test, y_test = drawn(n, seed)
            network = MODELS[name](n_epochs=n_epochs)
            look = partial(_look, network, x_test, y_test, right[seed])
            network.fit(x, y, seed=seed, n_classes=10, on_epoch=look)
        each = (time.process_time() - start) / rounds / n_epochs
        print(f"| {name} | {' | '.join(f'{100 * mean:.1f}' for mean in right.mean(axis=0))} | {each:.1f} |", flush=True)


def _look(
    network: PaperNetwork, x: np.ndarray, y: np.ndarray, right: np.ndarray, done: int, _n_epochs: int, _loss: float
) -> None:
    right[done - 1] = (network.predict(x) == y).mean()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", nargs="*", default=["speed", "accuracy", "epochs"])
    options.add_argument("--networks", default="mlp_2048,cnn_1,cnn_2,cnn_3,lenet,resnet20")
    options.add_argument("--images", type=int, default=1000)
    options.add_argument("--epochs", type=int, default=5)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--compiled", action="store_true", help="torch.compile too: needs a C++ compiler and minutes")
    given = options.parse_args()
    names = given.networks.split(",")
    for what in given.what:
        print(
            f"\n## {what}, {given.images} images of MNIST, {given.rounds} rounds, {date.today()}, "
            f"{platform.machine()}, torch {torch.__version__}, load {os.getloadavg()[0]:.1f}\n"
        )
        if what == "speed":
            speed(names, (*WAYS, COMPILED) if given.compiled else WAYS, given.images, given.rounds)
        elif what == "accuracy":
            accuracy(names, given.images, given.epochs, given.rounds)
        else:
            epochs(names, given.images, given.epochs, given.rounds)


if __name__ == "__main__":
    main()
