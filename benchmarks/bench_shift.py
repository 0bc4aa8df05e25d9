"""How often is a shift found that is not there, how often one that is, and what does it take? On real features.

Prints tables; asserts nothing. Features of a network's hidden layer for MNIST of ``../shared/data`` (of digits where it
is absent), from samples that it never saw; ten classes, and a hundred (each digit's ten clusters). The divergence of
mixtures, which takes long, is measured in few repeats.
"""

import os
import platform
import time
import warnings
from datetime import date
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from core.evaluate.covariate_shift import covariate_shift
from core.evaluate.test_quality.shift_verdict import together
from core.evaluate.two_samples import smallest_seen, tell_parts

MNIST = Path(__file__).resolve().parents[2] / "shared" / "data" / "mnist.npz"
N_REPEATS, N_SLOW = 200, 8
MOVED = 3


def samples() -> tuple[np.ndarray, np.ndarray]:
    if MNIST.exists():
        with np.load(MNIST) as file:
            return file["x_train"].reshape(-1, 784) / np.float32(255), file["y_train"].astype(np.int64)
    x, y = load_digits(return_X_y=True)
    return x.astype(np.float32) / 16, y


def hidden(network, x: np.ndarray) -> np.ndarray:
    return np.maximum(x @ network.coefs_[0] + network.intercepts_[0], 0)


def worlds(features, y, noisy, rng, *, n: int):
    """Two parts by name of what was done to the second, in class `MOVED`."""
    first, second = np.split(rng.permutation(len(y))[: 2 * n], 2)
    own = y[second] == MOVED
    moved = features[second] + 0.25 * own[:, None] * features[y == MOVED].std(axis=0)
    mixed = features[second].copy()
    rows = np.flatnonzero(own)[: int(own.sum()) // 5]
    mixed[rows] = features[rng.choice(np.flatnonzero(y == (MOVED + 2) % 10), size=len(rows))]
    blurred = np.where(own[:, None], noisy[second], features[second])
    changed = {"nothing": features[second], "moved by .25 sd": moved, "a fifth are others": mixed, "noise .2": blurred}
    for name, there in changed.items():
        yield name, features[first], y[first], there, y[second]


def count(found: dict, key: tuple[str, str], named: tuple[str, ...], p: float, moved: str) -> None:
    found.setdefault(key, []).append((bool(set(named) - {moved}), moved in named, p < 0.05))


def ten_classes(features, y, noisy) -> None:
    found: dict[tuple[str, str], list] = {}
    names = tuple(map(str, range(10)))
    for seed in range(N_REPEATS):
        rng = np.random.default_rng(seed)
        for world, *parts in worlds(features, y, noisy, rng, n=2000):
            told = tell_parts(*parts, class_names=names, seed=seed, n_shuffles=99)
            count(found, ("classifier", world), told.named, told.p_together, str(MOVED))
            if seed < N_SLOW:
                shift = covariate_shift(*parts, class_names=names, seed=seed, n_resplits=20)
                named = tuple(one.label for one in shift.classes if one.shifted)
                count(found, ("divergence", world), named, together(shift).p_value, str(MOVED))
    show(found)


def hundred_classes(features, y) -> None:
    found: dict[tuple[str, str], list] = {}
    fine = np.empty_like(y)
    for label in range(10):
        rows = y == label
        fine[rows] = 10 * label + KMeans(10, n_init=1, random_state=0).fit_predict(features[rows])
    names = tuple(map(str, range(100)))
    for seed in range(N_REPEATS // 2):
        rng = np.random.default_rng(seed)
        first, second = np.split(rng.permutation(len(y))[:20_000], 2)
        for world, size in (("nothing", 0.0), ("class 3 moved by .5 sd", 0.5)):
            there = features[second] + size * (fine[second] == MOVED)[:, None] * features[fine == MOVED].std(axis=0)
            begin = time.perf_counter()
            told = tell_parts(
                features[first], fine[first], there, fine[second], class_names=names, seed=seed, n_shuffles=99
            )
            took = time.perf_counter() - begin
            count(found, ("classifier, 100 classes", world), told.named, told.p_together, str(MOVED))
    show(found)
    print(f"100 classes, 10,000 + 10,000 samples, 99 shuffles: {took:.1f} s (the last)")


def overfit(x, y) -> None:
    """The network's own training samples against others: inputs are alike, the network remembers."""
    found: dict[tuple[str, str], list] = {}
    names = tuple(map(str, range(10)))
    for seed in range(N_SLOW):
        train, test = np.split(np.random.default_rng(seed).permutation(len(y))[:4000], 2)
        own = fitted(x[train], y[train], seed=seed)
        parts = (hidden(own, x[train]), y[train], hidden(own, x[test]), y[test])
        told = tell_parts(*parts, class_names=names, seed=seed, n_shuffles=99)
        count(found, ("classifier", "training against test"), told.named, told.p_together, "")
        if seed < 5:
            shift = covariate_shift(*parts, class_names=names, seed=seed, n_resplits=20)
            named = tuple(one.label for one in shift.classes if one.shifted)
            count(found, ("divergence", "training against test"), named, together(shift).p_value, "")
    show(found)


def fitted(x, y, *, seed: int):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return MLPClassifier((200,), max_iter=60, alpha=0, random_state=seed).fit(x, y)


def show(found: dict[tuple[str, str], list]) -> None:
    for (test, world), each in found.items():
        other, moved, all_of = np.mean(each, axis=0)
        print(
            f"{test:24} {world:24} n = {len(each):3}: another class {other:.3f}, class {MOVED} {moved:.3f}, "
            f"together {all_of:.3f}",
            flush=True,
        )


def main() -> None:
    print(f"# Shift, {date.today()}, {platform.machine()}, {os.cpu_count()} processors\n")
    begin = time.perf_counter()
    x, y = samples()
    network = fitted(x[:5000], y[:5000], seed=0)
    few = slice(5000, 30_000)
    noisy = x[few] + np.random.default_rng(0).normal(0, 0.2, x[few].shape).astype(np.float32)
    features, blurred = hidden(network, x[few]), hidden(network, noisy)
    ten_classes(features, y[few], blurred)
    hundred_classes(features, y[few])
    overfit(x, y)
    parts = (features[:2000], y[few][:2000], features[2000:4000], y[few][2000:4000])
    told = tell_parts(*parts, class_names=tuple(map(str, range(10))), seed=0)
    print(smallest_seen(told, *parts, seed=0))
    print(f"\n{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
