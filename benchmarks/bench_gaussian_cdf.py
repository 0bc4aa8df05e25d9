"""How fast is the normal distribution function in many dimensions, against a loop over scipy's at the same tolerance?

Prints a table; asserts nothing. The vectors are those that the Taylor estimator makes of networks trained here: a CNN
on digits (C = 10), and two real digits side by side as a task of 100 classes (C = 100). Where scipy's loop takes long
it runs on the first vectors and is extrapolated, which the table says. The logits of two digits are sums, so that their
covariance has rank 18: `full-rank` (or nothing, for all) is a network trained on such pairs, whose 100 logits are free.
There both sides take the same eight vectors in every round, and the ratio has an interval over rounds; those that
closed forms and bounds answer are left out of a second line. Both sides run in this same process with one
thread; times are of the processor, so that other work on the machine does not count. scipy 1.17 draws 1,400 points per
dimension or more, however few would do (1.15 did not): its loop is therefore also run with a bound of 10,000.
"""

import os
import platform
import sys
import time
from datetime import date

import numpy as np
import scipy
import torch
from scipy.stats import multivariate_normal

from benchmarks.paired import ratio
from touchstone.core.data import load_example
from touchstone.core.evaluate.average_case import Noise, mvn_cdf
from touchstone.core.evaluate.average_case.gaussian_cdf import linearised
from touchstone.core.evaluate.average_case.noise import NoisyInputs
from touchstone.core.models.architectures import build
from touchstone.core.models.networks import one_torch_thread, sgd, train
from touchstone.core.models.threads import single_threaded

TOL = 1e-3
SECONDS_FOR_SCIPY = 10.0
N_ROUNDS, A_ROUND = 10, 8


class SideBySide:
    """Two images next to each other; the logit of a pair of classes is the sum of either image's."""

    def __init__(self, model):
        self.model = model

    def logits(self, x):
        """Logits (n, 100) of images (n, 1, 8, 16)."""
        left, right = self.model(x[..., :8]), self.model(x[..., 8:])
        return (left[:, :, None] + right[:, None, :]).flatten(1)


def digits_in_two_parts():
    """Images (n, 1, 8, 8) and labels of 1,200 digits to train on, and of the others."""
    digits = load_example("digits")
    order = np.random.default_rng(0).permutation(len(digits.y))
    x = torch.tensor(np.asarray(digits.x, dtype=np.float32).reshape(-1, 1, 8, 8))
    x, y = x[order] / x.max(), torch.tensor(np.asarray(digits.y)[order]).long()
    return x[:1200], y[:1200], x[1200:], y[1200:]


def trained(model, x, y, *, n_epochs):
    generator = torch.Generator().manual_seed(0)
    optimizer = sgd(model, learning_rate=0.01, momentum=0.95, weight_decay=0.0)
    train(model, x, y, optimizer=optimizer, n_epochs=n_epochs, batch_size=128, generator=generator)
    return model


def trained_cnn():
    x, y, x_test, y_test = digits_in_two_parts()
    model = trained(build("cnn_1", (1, 8, 8), 10, seed=0), x, y, n_epochs=10)
    with torch.no_grad():
        accuracy = (model(x_test).argmax(1) == y_test).float().mean()
    return model, x_test, float(accuracy)


def trained_on_pairs():
    """A network with a logit of its own for each of 100 pairs of digits, pairs that it was not trained on, accuracy."""
    rng = np.random.default_rng(0)

    def pairs(x, y, n):
        left, right = rng.integers(len(x), size=(2, n))
        return torch.cat([x[left], x[right]], dim=-1), 10 * y[left] + y[right]

    x, y, x_test, y_test = digits_in_two_parts()
    (x, y), (x_test, y_test) = pairs(x, y, 20_000), pairs(x_test, y_test, 2000)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layers = torch.nn.Flatten(), torch.nn.Linear(128, 256), torch.nn.ReLU(), torch.nn.Linear(256, 100)
    model = trained(torch.nn.Sequential(*layers), x, y, n_epochs=10)
    with torch.no_grad():
        accuracy = (model(x_test).argmax(1) == y_test).float().mean()
    return model, x_test, float(accuracy)


def limits_and_covariances(logits, x, sigma):
    inputs = NoisyInputs(logits, x, Noise(sigma), torch.Generator(), batch_size=64)
    parts = [found for _, found in linearised(inputs, 1, None)]
    return np.concatenate([part.limits for part in parts]), np.concatenate([part.cov for part in parts])


def by_scipy(z, cov, max_points):
    """Seconds for one vector and its answers, on as many vectors as fit into the time."""
    start, p = time.process_time(), []
    for limit, one in zip(z, cov, strict=True):
        options = {"allow_singular": True, "abseps": TOL, "releps": 0, "maxpts": max_points}
        p.append(multivariate_normal.cdf(limit, cov=one, **options))
        if time.process_time() - start > SECONDS_FOR_SCIPY:
            break
    return (time.process_time() - start) / len(p), np.array(p)


def print_task() -> None:
    model, x, accuracy = trained_cnn()
    print(f"CNN on digits with accuracy {accuracy:.3f}; times per vector; load {os.getloadavg()[0]:.1f}")
    print("task          C  sigma  vectors      ours  converged   scipy's most points     scipy (on n)     ratio  gap")
    pairs = torch.cat([x[:200], x[200:400]], dim=-1)
    mvn_cdf(np.zeros((1, 3)), np.eye(3)[None])
    for task, logits, inputs in (("digits", model, x[:400]), ("two digits", SideBySide(model).logits, pairs)):
        for sigma in (0.05, 0.1, 0.3):
            z, cov = limits_and_covariances(logits, inputs, sigma)
            n, k = z.shape
            times = []
            for _ in range(3):
                start = time.process_time()
                found = mvn_cdf(z, cov, tol=TOL)
                times.append((time.process_time() - start) / n)
            ours = float(np.median(times))
            about = f"{task:10} {k + 1:4} {sigma:6} {n:8} {1e3 * ours:6.3f} ms {found.converged.mean():10.0%}"
            for limit, name in ((1_000_000 * k, "1,000,000 x k (usual)"), (10_000, "10,000")):
                theirs, p = by_scipy(z, cov, limit)
                off = np.abs(found.p[: len(p)] - p).max()
                print(
                    f"{about}  {name:>21} {1e3 * theirs:7.1f} ms ({len(p):3}) {theirs / ours:9,.1f} {off:.5f}",
                    flush=True,
                )


def print_full_rank() -> None:
    model, x, accuracy = trained_on_pairs()
    print(f"\nA network of 100 logits on pairs of digits, accuracy {accuracy:.3f}; load {os.getloadavg()[0]:.1f}")
    print(f"scipy (at most 10,000 points) by ours, {N_ROUNDS} rounds of the same {A_ROUND} vectors: 95 % over rounds")
    mvn_cdf(np.ones((1, 99)), 0.5 + 0.5 * np.eye(99)[None])
    for sigma in (0.1, 0.2, 0.3):
        z, cov = limits_and_covariances(model, x[:400], sigma)
        p = mvn_cdf(z, cov, tol=TOL).p
        ranks = [np.linalg.matrix_rank(one) for one in cov[:50]]
        for what, rows in (("all", np.arange(len(z))), ("p in .05 to .95", np.flatnonzero(abs(p - 0.5) < 0.45))):
            ours, theirs, off = [], [], 0.0
            for taken in np.resize(rows, (N_ROUNDS, A_ROUND)):
                start = time.process_time()
                found = mvn_cdf(z[taken], cov[taken], tol=TOL)
                ours.append((time.process_time() - start) / A_ROUND)
                seconds, of_scipy = by_scipy(z[taken], cov[taken], 10_000)
                theirs.append(seconds)
                off = max(off, float(abs(found.p[: len(of_scipy)] - of_scipy).max()))
            print(
                f"sigma {sigma}, median rank {np.median(ranks):.0f}, {what} ({len(rows)}): ours "
                f"{1e3 * np.median(ours):.2f} ms, scipy {1e3 * np.median(theirs):.0f} ms; {ratio(theirs, ours)}; "
                f"gap {off:.5f}",
                flush=True,
            )


def main() -> None:
    print(f"# Normal distribution function, {date.today()}, {platform.machine()}, {os.cpu_count()} cores")
    print(f"scipy {scipy.__version__}, tolerance {TOL}")
    if sys.argv[1:] != ["full-rank"]:
        print_task()
    print_full_rank()


if __name__ == "__main__":
    with single_threaded(), one_torch_thread():
        main()
