"""How often is a shift found that is not there, how often one that is, and what does it take? On real features.

Prints tables; asserts nothing. Features of a network's hidden layer for MNIST of ``../shared/data`` (of digits where it
is absent), from samples that it never saw; ten classes, and a hundred (each digit's ten clusters). Worlds differ in one
class alone: what re-splits make of the others is computed once for all of them. Shares of repeats are in per cent, with
Wilson's 95 % interval.
"""

import os
import platform
import time
import warnings
from datetime import date
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from touchstone.core.evaluate.covariate_shift import (
    CovariateShift,
    ShiftOptions,
    class_parts,
    class_seed,
    class_shift,
    corrected,
    covariate_shift,
    shift_of,
)
from touchstone.core.evaluate.intervals import wilson
from touchstone.core.evaluate.test_quality.shift_plan import together
from touchstone.core.evaluate.two_samples import classifier_two_sample_test, smallest_seen

MNIST = Path(__file__).resolve().parents[2] / "shared" / "data" / "mnist.npz"
N_TEN, N_HUNDRED, N_NETWORKS = 200, 40, 8  # repeats
N_RESPLITS, OPTIONS = 20, ShiftOptions(n_draws=1000)
EACH, EACH_OF_HUNDRED = 800, 6000  # samples in either part
MOVED = 3
UNMOVED = ("nothing", OVERFIT := "training against test")
TEN, HUNDRED = (tuple(map(str, range(n))) for n in (10, 100))


def samples() -> tuple[np.ndarray, np.ndarray]:
    if MNIST.exists():
        with np.load(MNIST) as file:
            return file["x_train"].reshape(-1, 784) / np.float32(255), file["y_train"].astype(np.int64)
    x, y = load_digits(return_X_y=True)
    return x.astype(np.float32) / 16, y


def hidden(network, x: np.ndarray) -> np.ndarray:
    return np.maximum(x @ network.coefs_[0] + network.intercepts_[0], 0)


def of_ten(features, noisy, y, rng):
    """Two parts by name of what was done to the second, in class `MOVED`."""
    first, second = np.split(rng.permutation(len(y))[: 2 * EACH], 2)
    own, spread = y[second] == MOVED, features[y == MOVED].std(axis=0)
    others = features[np.flatnonzero(y == (MOVED + 2) % 10)]
    changed = {"nothing": features[second]}
    for size in (0.25, 0.5, 1.0):
        changed[f"moved by {size} sd"] = features[second] + size * own[:, None] * spread
    for share in (0.2, 0.5):
        mixed = features[second].copy()
        rows = np.flatnonzero(own)[: int(share * own.sum())]
        mixed[rows] = others[rng.choice(len(others), size=len(rows))]
        changed[f"{share:.0%} are others"] = mixed
    changed["noise .2"] = np.where(own[:, None], noisy[second], features[second])
    for name, there in changed.items():
        yield name, features[first], y[first], there, y[second]


def of_hundred(features, y, rng):
    first, second = np.split(rng.permutation(len(y))[: 2 * EACH_OF_HUNDRED], 2)
    own, spread = y[second] == MOVED, features[y == MOVED].std(axis=0)
    for name, size in (("nothing", 0.0), ("moved by .5 sd", 0.5), ("moved by 1 sd", 1.0)):
        yield name, features[first], y[first], features[second] + size * own[:, None] * spread, y[second]


def divergences(train, y_train, test, y_test, *, names, seed, alike: CovariateShift | None) -> CovariateShift:
    """All classes; where there is a world from which this one differs in class `MOVED` alone, the others are its."""
    if alike is None:
        parts = {"class_names": names, "seed": seed, "n_resplits": N_RESPLITS, "options": OPTIONS}
        return covariate_shift(train, y_train, test, y_test, **parts)
    own, other = train[y_train == MOVED], test[y_test == MOVED]
    both, pieces_seed = class_parts(own, other), class_seed(seed, MOVED)
    pieces = [shift_of(both, resplit=resplit, seed=pieces_seed, options=OPTIONS) for resplit in range(1 + N_RESPLITS)]
    classes = list(alike.classes)
    classes[MOVED] = class_shift(names[MOVED], len(own), len(other), pieces, options=OPTIONS)
    return corrected(classes)


def asked(worlds, names, seed: int) -> dict[tuple[str, str], tuple[bool, bool, bool]]:
    """By test and world: is a class named that was not moved, is class `MOVED` named, are all together told apart?"""
    told, alike = {}, None
    for world, *parts in worlds:
        moved = set() if world in UNMOVED else {str(MOVED)}
        classifier = classifier_two_sample_test(*parts, class_names=names, seed=seed, n_shuffles=99)
        told["classifier", world] = answers(set(classifier.named), moved, classifier.p_together)
        shift = divergences(*parts, names=names, seed=seed, alike=alike)
        told["divergence", world] = answers(named(shift), moved, together(shift).p_value)
        alike = alike or shift
    return told


def named(shift: CovariateShift) -> set[str]:
    return {one_class.label for one_class in shift.classes if one_class.shifted}


def answers(classes: set[str], moved: set[str], p: float) -> tuple[bool, bool, bool]:
    return bool(classes - moved), str(MOVED) in classes, p < 0.05


def ten_classes(seed: int, features, noisy, y) -> dict:
    return asked(of_ten(features, noisy, y, np.random.default_rng(seed)), TEN, seed)


def hundred_classes(seed: int, features, y) -> dict:
    return asked(of_hundred(features, y, np.random.default_rng(seed)), HUNDRED, seed)


def clustered(features, y) -> np.ndarray:
    """Each digit's ten clusters, for a hundred classes."""
    fine = np.empty_like(y)
    for label in range(10):
        rows = y == label
        fine[rows] = 10 * label + KMeans(10, n_init=1, random_state=0).fit_predict(features[rows])
    return fine


def overfit(seed: int, x, y) -> dict:
    """The network's own training samples against others: inputs are alike, the network remembers."""
    train, test = np.split(np.random.default_rng(seed).permutation(len(y))[:4000], 2)
    own = fitted(x[train], y[train], seed=seed)
    parts = (hidden(own, x[train]), y[train], hidden(own, x[test]), y[test])
    return asked([(OVERFIT, *parts)], TEN, seed)


def fitted(x, y, *, seed: int):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return MLPClassifier((200,), max_iter=60, alpha=0, random_state=seed).fit(x, y)


def show(title: str, repeats: list[dict], begin: float) -> None:
    print(f"{title}, n = {len(repeats)}, {time.perf_counter() - begin:.0f} s so far")
    print(f"{'':38} {'wrongly named':22} {f'class {MOVED}':22} together")
    for test, world in sorted(repeats[0]):
        shares = []
        for each in zip(*(repeat[test, world] for repeat in repeats), strict=True):
            ends = wilson(float(sum(each)), float(len(each)))
            shares.append(f"{100 * np.mean(each):5.1f} [{100 * ends.lower:.1f}, {100 * ends.upper:.1f}]")
        print(f"{test:12} {world:24} {shares[0]:22} {shares[1]:22} {shares[2]}", flush=True)


def main() -> None:
    n_processors = os.cpu_count() or 1
    print(f"# Shift, {date.today()}, {platform.machine()}, {n_processors} processors\n")
    begin = time.perf_counter()
    x, y = samples()
    network = fitted(x[:5000], y[:5000], seed=0)
    few = slice(5000, 30_000)
    noisy = x[few] + np.random.default_rng(0).normal(0, 0.2, x[few].shape).astype(np.float32)
    features, blurred = hidden(network, x[few]), hidden(network, noisy)
    fine = clustered(features, y[few])
    _, *parts = next(of_ten(features, blurred, y[few], np.random.default_rng(0)))
    print(smallest_seen(classifier_two_sample_test(*parts, class_names=TEN, seed=0), *parts, seed=0))
    with Parallel(n_processors) as at_once:
        ten = at_once(delayed(ten_classes)(seed, features, blurred, y[few]) for seed in range(N_TEN))
        show(f"10 classes, {EACH} and {EACH} samples", list(ten), begin)
        hundred = at_once(delayed(hundred_classes)(seed, features, fine) for seed in range(N_HUNDRED))
        show(f"100 classes, {EACH_OF_HUNDRED} and {EACH_OF_HUNDRED} samples", list(hundred), begin)
        networks = at_once(delayed(overfit)(seed, x[:8000], y[:8000]) for seed in range(N_NETWORKS))
        show("Networks and their own training samples", list(networks), begin)


if __name__ == "__main__":
    main()
