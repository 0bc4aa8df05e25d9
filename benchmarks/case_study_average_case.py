"""Are some classes more fragile than others, and can a network see which images are? Section 4.3 of Han et al. (2024).

Prints tables; asserts nothing. On MNIST where ``../shared/data/mnist.npz`` is; else, or asked for ``digits``, on those.
Each of 10 seeds draws images to train a network on and others to judge, starts that network, and splits the judged
images for the second question: of those with the highest and the lowest quarter of p_robust, or of softmax confidence,
a simple CNN learns from 80 % which is which, and is tested on 20 %. Quarters are of all images and, so that the class
alone does not give it away, of those that the network takes for the same class. The intervals are Student's over the
seeds: they speak of training and of drawing from this one data set, in which the seeds' images overlap.
"""

import os
import platform
import sys
import time
from datetime import date
from pathlib import Path

import numpy as np
import torch
from scipy.stats import kruskal, spearmanr

from touchstone.core.data import load_example
from touchstone.core.evaluate.average_case import MonteCarlo, estimate
from touchstone.core.evaluate.intervals import t_interval
from touchstone.core.models.architectures import build
from touchstone.core.models.networks import one_torch_thread, predict_logits, sgd, train
from touchstone.core.models.threads import single_threaded

MNIST = Path(__file__).resolve().parents[2] / "shared" / "data" / "mnist.npz"
N_SEEDS = 10
QUARTER = 0.25
MEASURES = ("p_robust", "softmax")
AMONG = ("all images", "each class")


def images(name):
    """Images (n, 1, height, width) in [0, 1], their labels, and what is done with them."""
    if name == "mnist":
        with np.load(MNIST, allow_pickle=False) as arrays:
            x = np.concatenate([arrays["x_train"], arrays["x_test"]])[:, None] / np.float32(255)
            y = np.concatenate([arrays["y_train"], arrays["y_test"]])
        return x, y.astype(np.int64), {"network": "lenet", "n_fitted": 10_000, "n_judged": 2_000, "n_epochs": 5}
    digits = load_example("digits")
    x = np.asarray(digits.x, dtype=np.float32).reshape(-1, 1, 8, 8)
    return x, np.asarray(digits.y), {"network": "cnn_1", "n_fitted": 900, "n_judged": 897, "n_epochs": 20}


def trained(name, x, y, n_classes, *, seed, n_epochs):
    network = build(name, tuple(x.shape[1:]), n_classes, seed=seed)
    train(
        network,
        torch.as_tensor(x),
        torch.as_tensor(y),
        optimizer=sgd(network, learning_rate=0.01, momentum=0.95, weight_decay=0.0),
        n_epochs=n_epochs,
        batch_size=128,
        generator=torch.Generator().manual_seed(seed),
    )
    return network


def accuracy(network, x, y):
    return float((predict_logits(network, torch.as_tensor(x)).argmax(dim=1).numpy() == y).mean())


def judged_by(network, x, *, sigma, seed):
    """Both measures and the predicted classes. Samples are judged with noise shared between them (MMSE, N = 6)."""
    options = {"sigma": sigma, "generator": torch.Generator().manual_seed(seed)}
    robust, softmax = (estimate(network, torch.as_tensor(x), estimator=e, **options) for e in ("mmse", "softmax"))
    return {"p_robust": robust.p_robust, "softmax": softmax.p_robust}, robust.predicted


def high_and_low(measure, groups, rng):
    """Rows of the highest and the lowest quarter of each group; ties fall at random."""
    high, low = [], []
    for group in np.unique(groups):
        rows = rng.permutation(np.flatnonzero(groups == group))
        rows = rows[np.argsort(measure[rows], kind="stable")]
        n = int(len(rows) * QUARTER)
        low.append(rows[:n])
        high.append(rows[len(rows) - n :])
    return np.concatenate(high), np.concatenate(low)


def told_apart(name, x, high, low, *, seed, rng):
    """Test accuracy of a CNN at telling high from low; chance is one half."""
    rows = np.concatenate([rng.permutation(high), rng.permutation(low)])
    y = np.repeat([1, 0], [len(high), len(low)])
    test = np.concatenate([np.arange(len(high)) < len(high) // 5, np.arange(len(low)) < len(low) // 5])
    probe = trained(name, x[rows[~test]], y[~test], 2, seed=seed, n_epochs=20)
    return accuracy(probe, x[rows[test]], y[test])


def shown(values, digits=3):
    found = t_interval(float(np.mean(values)), float(np.std(values, ddof=1) / len(values) ** 0.5), len(values) - 1.0)
    return f"{np.mean(values):.{digits}f} [{found.lower:.{digits}f}, {found.upper:.{digits}f}]"


def counted_beside(network, x, y, p, *, sigma, n_images=200, n_draws=1000):
    """Figure 4's check: class means of MMSE and of Monte-Carlo on the same images."""
    counted = estimate(
        network,
        torch.as_tensor(x[:n_images]),
        sigma=sigma,
        estimator=MonteCarlo(n_draws),
        generator=torch.Generator().manual_seed(1),
    ).p_robust
    off = p[:n_images] - counted
    print(f"\nThe first network, {n_images} images, {n_draws} draws: class, MMSE, Monte-Carlo")
    for c in np.unique(y[:n_images]):
        of = y[:n_images] == c
        print(f"{c:3} {p[:n_images][of].mean():8.3f} {counted[of].mean():8.3f}")
    print(f"mean |error| {np.abs(off).mean():.4f}, mean error {off.mean():+.4f}")
    return np.abs(off).mean()


def main(name, sigma=0.3, n_seeds=N_SEEDS) -> dict[str, np.ndarray]:
    """Print the study; gives the class means, their gap and the p-value of every seed, and the mean error of MMSE."""
    x, y, about = images(name)
    n_fitted, n_judged, network_name = about["n_fitted"], about["n_judged"], about["network"]
    n_classes = int(y.max()) + 1
    print(f"# Case study of section 4.3, {date.today()}, {platform.machine()}, {os.cpu_count()} cores")
    print(f"{name}, {network_name}, sigma {sigma}: {n_fitted} trained on, {n_judged} judged, {n_seeds} seeds")
    print("\nseed  accuracy  mean p_robust  > .999  rank correlation, softmax  Kruskal-Wallis over classes  told apart")
    means, p_values = np.empty((n_seeds, n_classes)), np.empty(n_seeds)
    apart = {(measure, among): [] for measure in MEASURES for among in AMONG}
    first = None
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(y))
        fitted, judged = order[:n_fitted], order[n_fitted : n_fitted + n_judged]
        start = time.process_time()
        network = trained(network_name, x[fitted], y[fitted], n_classes, seed=seed, n_epochs=about["n_epochs"])
        found, predicted = judged_by(network, x[judged], sigma=sigma, seed=seed)
        p, labels = found["p_robust"], y[judged]
        means[seed] = [p[labels == c].mean() for c in range(n_classes)]
        test = kruskal(*(p[labels == c] for c in range(n_classes)))
        p_values[seed] = test.pvalue
        rank = spearmanr(p, found["softmax"]).statistic
        print(
            f"{seed:4} {(predicted == labels).mean():9.3f} {p.mean():14.3f} {(p > 0.999).mean():7.1%} {rank:26.3f}"
            f"  H = {test.statistic:.0f}, p = {test.pvalue:.1e}",
            end="",
            flush=True,
        )
        for measure, among in apart:
            groups = predicted if among == "each class" else np.zeros(n_judged, dtype=np.int64)
            high, low = high_and_low(found[measure], groups, rng)
            apart[measure, among].append(told_apart(network_name, x[judged], high, low, seed=seed, rng=rng))
        told = " ".join(f"{values[-1]:.3f}" for values in apart.values())
        print(f"  {told}  ({time.process_time() - start:.0f} s)", flush=True)
        first = first or (network, x[judged], labels, p)
    print("\nClass means of p_robust, over seeds; the gap is between the highest and the lowest class")
    for c in np.argsort(means.mean(axis=0)):
        print(f"{c:3} {shown(means[:, c])}")
    print(f"gap {shown(means.max(axis=1) - means.min(axis=1))}")
    print("\nHow well a CNN tells the highest quarter of images from the lowest (the paper, CIFAR10: .92 and .58)")
    for (measure, among), values in apart.items():
        print(f"{measure:9} of {among:11} {shown(values)}")
    for among in AMONG:
        difference = np.subtract(apart["p_robust", among], apart["softmax", among])
        print(f"p_robust - softmax, of {among:11} {shown(difference)}")
    error = counted_beside(*first, sigma=sigma)
    return {"means": means, "gap": means.max(axis=1) - means.min(axis=1), "p": p_values, "error": error}


if __name__ == "__main__":
    with single_threaded(), one_torch_thread():
        main(sys.argv[1] if len(sys.argv) > 1 else "mnist" if MNIST.exists() else "digits")
