"""Do intervals of class means, of the gap and of sigma-50 hold the truth on trained networks, and what is found?

Prints tables; asserts nothing. Two networks are trained on MNIST at 14 x 14 (on digits where ``../shared/data`` is
absent). What noise does to each test image is counted over 800 draws and then taken for true: these images are the
population. Samples of each class are drawn from it with replacement, 32 draws of noise are counted for each, and means,
gap and p-value are those that the page has. Sigma-50 is held against a bisection by 9,000 draws.

`widths` is the interval of a class's mean alone, on many more data sets: how often it held the truth with the standard
error of that, and how wide it was beside the interval of before (a studentised bootstrap, or Wilson's of as many coins
as samples), which is kept here alone. ``python -m benchmarks.bench_class_means widths covered differ half`` is all.
"""

import platform
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

from touchstone.core.evaluate.average_case.class_means import class_means
from touchstone.core.evaluate.average_case.monte_carlo import half_sigma
from touchstone.core.evaluate.average_case.noise import Noise, NoisyInputs
from touchstone.core.evaluate.intervals import Interval, wilson
from touchstone.core.models.networks import one_torch_thread

MNIST = Path(__file__).resolve().parents[2] / "shared" / "data" / "mnist.npz"
SIGMAS, SIZES = (0.1, 0.2, 0.3), (36, 100, 500)
N_JUDGED, N_TRUTH, N_DRAWS, N_DATA_SETS, N_DEALS = 2500, 800, 32, 600, 199
N_HALF, LOW, HIGH = 60, 0.0125, 1.2
N_ALONE, N_BEFORE, N_RESAMPLES = 10_000, 200, 1000
NEAR_ONE = 0.95


def images() -> tuple[torch.Tensor, np.ndarray, torch.Tensor, np.ndarray]:
    """Training images and labels, and those that are judged."""
    if not MNIST.exists():
        x, y = load_digits(return_X_y=True)
        x = torch.tensor(x.reshape(-1, 1, 8, 8) / 16.0, dtype=torch.float32)
        return x[:1200], y[:1200], x[1200:], y[1200:]
    with np.load(MNIST) as given:
        parts = {name: given[name] for name in given.files}

    def halved(name: str, n: int) -> torch.Tensor:
        small = parts[name][:n].reshape(n, 14, 2, 14, 2).mean(axis=(2, 4)) / 255.0
        return torch.tensor(small[:, None], dtype=torch.float32)

    labels = parts["y_train"][:8000].astype(np.int64), parts["y_test"][:N_JUDGED].astype(np.int64)
    return halved("x_train", 8000), labels[0], halved("x_test", N_JUDGED), labels[1]


def networks(side: int) -> dict[str, nn.Module]:
    """An MLP and a CNN."""
    torch.manual_seed(0)
    pooled = 16 * (side // 2 // 2) ** 2
    cnn = (nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, padding=1), nn.ReLU())
    return {
        "MLP": nn.Sequential(nn.Flatten(), nn.Linear(side * side, 64), nn.ReLU(), nn.Linear(64, 10)),
        "CNN": nn.Sequential(*cnn, nn.MaxPool2d(2), nn.Flatten(), nn.Linear(pooled, 10)),
    }


def trained(network: nn.Module, x: torch.Tensor, y: np.ndarray) -> nn.Module:
    """Twelve epochs of Adam."""
    optimizer, labels = torch.optim.Adam(network.parameters(), 2e-3), torch.tensor(y)
    for _ in range(12):
        for rows in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(network(x[rows]), labels[rows]).backward()
            optimizer.step()
    return network.eval()


def kept(network: nn.Module, x: torch.Tensor, sigma: float, n_draws: int) -> np.ndarray:
    """How often each prediction stays."""
    with torch.inference_mode():
        predicted, n_kept = network(x).argmax(dim=1), torch.zeros(len(x))
        for _ in range(n_draws):
            n_kept += network(x + sigma * torch.randn_like(x)).argmax(dim=1) == predicted
    return (n_kept / n_draws).numpy()


def covered(p: np.ndarray, y: np.ndarray, n: int) -> str:
    """A line: how often intervals held the truth, how wide they were, and how often the gap was found."""
    truth = np.array([p[y == code].mean() for code in range(10)])
    held, width, gap_held, gap_width, found = np.zeros(10), [], 0, [], 0
    for seed in range(N_DATA_SETS):
        rng = np.random.default_rng([seed, n])
        rows = np.concatenate([rng.choice(np.flatnonzero(y == code), n) for code in range(10)])
        of = class_means(rng.binomial(N_DRAWS, p[rows]) / N_DRAWS, y[rows], 10, rng=rng, n_deals=N_DEALS)
        held += [mean.interval.holds(value) for mean, value in zip(of.means, truth, strict=True)]
        width.append([mean.interval.width for mean in of.means])
        gap_held += of.gap.interval.holds(float(np.ptp(truth)))
        gap_width.append(of.gap.interval.width)
        found += of.gap.interval.lower > 0
    share = held / N_DATA_SETS
    return (
        f"{truth.min():.3f}–{truth.max():.3f} | {share.mean():.3f} | {share.min():.3f} | {np.mean(width):.3f} | "
        f"{np.ptp(truth):.3f} | {gap_held / N_DATA_SETS:.3f} | {np.mean(gap_width):.3f} | {found / N_DATA_SETS:.2f}"
    )


def alone(p: np.ndarray, y: np.ndarray, n: int) -> str:
    """A line: how often class means were held on many data sets, and the ratio of widths to those of before."""
    of_class = [p[y == code] for code in range(10)]
    truth = np.array([shares.mean() for shares in of_class])
    held, labels, ratios = np.zeros(10), np.repeat(np.arange(10), n), []
    for seed in range(N_ALONE):
        rng = np.random.default_rng([seed, n, 2])
        drawn = np.concatenate([rng.choice(shares, n) for shares in of_class])
        shares = rng.binomial(N_DRAWS, drawn) / N_DRAWS
        means = class_means(shares, labels, 10, rng=rng, n_deals=19).means
        held += [mean.interval.holds(value) for mean, value in zip(means, truth, strict=True)]
        if seed < N_BEFORE:
            before = intervals_before(drawn.reshape(10, n), rng)
            ratios.append([mean.interval.width / old.width for mean, old in zip(means, before, strict=True)])
    share, ratio, near = held / N_ALONE, np.mean(ratios, axis=0), truth > NEAR_ONE
    worst = int(share.argmin())
    error = (share[worst] * (1 - share[worst]) / N_ALONE) ** 0.5
    of_worst = f"{share[worst]:.4f} ± {error:.4f} (class {worst}, mean {truth[worst]:.3f})"
    return (
        f"{truth.min():.3f}–{truth.max():.3f} | {share.mean():.4f} | {of_worst} | "
        f"{ratio.mean():.2f} | {f'{ratio[near].mean():.2f} ({near.sum()} classes)' if near.any() else '–'}"
    )


def intervals_before(p: np.ndarray, rng: np.random.Generator) -> list[Interval]:
    """The intervals of class means before 23 November 2026, of shares (classes, n) that have no luck of draws in them.

    By a studentised bootstrap within each class, never wider than Wilson's of n coins; that one where fewer than five
    flips are to be expected.
    """
    k, n = p.shape

    def errors(squares: np.ndarray) -> np.ndarray:
        return np.sqrt(squares + squares.sum(axis=-1, keepdims=True) / (k * (n - 1))) / n

    resampled = np.stack([row[rng.integers(n, size=(N_RESAMPLES, n))] for row in p], axis=1)
    mean, se = p.mean(axis=1), errors(((p - p.mean(axis=1, keepdims=True)) ** 2).sum(axis=1))
    means = resampled.mean(axis=2)
    ses = errors(((resampled - means[:, :, None]) ** 2).sum(axis=2))
    low, high = np.quantile((means - mean) / np.maximum(np.maximum(ses, 0.2 * se), 1e-12), [0.025, 0.975], axis=0)
    intervals = []
    for place, value in enumerate(mean):
        safe = wilson(n * value, n)
        ends = value - high[place] * se[place], value - low[place] * se[place]
        few = n * min(value, 1 - value) < 5
        intervals.append(safe if few else Interval(max(float(ends[0]), safe.lower), min(float(ends[1]), safe.upper)))
    return intervals


def told_apart(p: np.ndarray, n: int) -> str:
    """A line: how often classes "differ" where they are alike and where one lies .05 below; a test of ranges beside."""
    level, found, by_range = 0, 0, 0
    y = np.repeat(np.arange(10), n)
    for seed in range(N_DATA_SETS):
        rng = np.random.default_rng([seed, n, 1])
        alike = rng.choice(p, 10 * n)
        lower = np.where(y == 0, alike * (1 - 0.05 / p.mean()), alike)
        counts = [rng.binomial(N_DRAWS, share) / N_DRAWS for share in (alike, lower)]
        gaps = [class_means(share, y, 10, rng=rng, n_deals=N_DEALS).gap for share in counts]
        level += gaps[0].p_value <= 0.05
        found += gaps[1].p_value <= 0.05
        ranges = [np.ptp(rng.permutation(counts[1]).reshape(10, n).mean(axis=1)) for _ in range(N_DEALS)]
        by_range += (1 + np.sum(np.array(ranges) >= gaps[1].raw)) / (1 + N_DEALS) <= 0.05
    return " | ".join(f"{count / N_DATA_SETS:.3f}" for count in (level, found, by_range))


def bisected(network: nn.Module, x: torch.Tensor) -> np.ndarray:
    """Sigma-50 of each image: a coarse look for the first crossing, then halving by 9,000 draws each."""
    grid = np.geomspace(LOW, HIGH, 24)
    shares = np.stack([kept(network, x, sigma, 600) for sigma in grid], axis=1)
    truth = np.full(len(x), np.inf)
    for row, below in enumerate(shares <= 0.5):
        if not below.any():
            continue
        first = int(below.argmax())
        low, high = np.log(grid[max(first - 1, 0)]), np.log(grid[first])
        for _ in range(9):
            middle = (low + high) / 2
            more = kept(network, x[row : row + 1].expand(9000, -1, -1, -1), float(np.exp(middle)), 1).mean() > 0.5
            low, high = (middle, high) if more else (low, middle)
        truth[row] = np.exp((low + high) / 2)
    return truth


def halves(network: nn.Module, x: torch.Tensor, truth: np.ndarray, n_draws: int) -> str:
    """A line: how far off sigma-50 is, and how often its interval held it, over four seeds."""
    with torch.inference_mode():
        predicted = network(x).argmax(dim=1).numpy()
    known, off, held = np.isfinite(truth), [], []
    for seed in range(4):
        inputs = NoisyInputs(network, x, Noise(1.0), torch.Generator().manual_seed(seed), 256)
        found = half_sigma(inputs, predicted, low=LOW, high=HIGH, n_draws=n_draws)
        off.append(np.abs(found.value[known] / truth[known] - 1))
        held.append((found.lower <= truth) & (truth <= found.upper))
    return f"{np.median(off):.3f} | {np.quantile(off, 0.9):.3f} | {np.mean(held):.3f}"


def printed(title: str, columns: str, lines: Callable[[], Iterator[str]]) -> None:
    """A table with its time."""
    start = time.process_time()
    print(f"\n{title}\n\n| {columns} |\n|{'---|' * (columns.count('|') + 1)}", flush=True)
    for line in lines():
        print(f"| {line} |", flush=True)
    print(f"\n{time.process_time() - start:.0f} s of processor", flush=True)


def main(*asked: str) -> None:
    """Train, count what is true, and print how often that was held."""
    x, y, judged, labels = images()
    print(f"{date.today()}, {platform.machine()}, torch {torch.__version__}; {len(judged)} images judged", flush=True)
    of = {name: trained(network, x, y) for name, network in networks(x.shape[-1]).items()}
    truth = {(name, sigma): kept(network, judged, sigma, N_TRUTH) for name, network in of.items() for sigma in SIGMAS}
    few = judged[:N_HALF]

    def each(line: Callable[[np.ndarray, int], str], sizes: tuple[int, ...]) -> Iterator[str]:
        return (f"{name}, {sigma}, {n} | {line(p, n)}" for (name, sigma), p in truth.items() for n in sizes)

    def halves_of_all() -> Iterator[str]:
        exact = {name: bisected(network, few) for name, network in of.items()}
        for name, network in of.items():
            for n_draws in (96, 384, 1104):
                yield f"{name}, {n_draws} | {halves(network, few, exact[name], n_draws)}"

    tables = {
        "widths": (
            f"Class means alone, {N_ALONE:,} data sets a line; widths beside those of before on {N_BEFORE}",
            "network, sigma, n a class | true means | held, mean of classes | worst class | width, of that before | "
            f"the same where p is above {NEAR_ONE}",
            lambda: each(lambda p, n: alone(p, labels, n), SIZES),
        ),
        "covered": (
            f"Class means and the gap, {N_DATA_SETS} data sets a line, {N_DRAWS} draws a sample",
            "network, sigma, n a class | true means | held, mean of classes | worst class | width | true gap | "
            "gap held | its width | gap found",
            lambda: each(lambda p, n: covered(p, labels, n), SIZES),
        ),
        "differ": (
            "“Classes differ”: alike, one class .05 lower, and the same by a permutation test of the largest gap",
            "network, sigma, n a class | alike | .05 lower | test of the largest gap",
            lambda: each(told_apart, SIZES[:2]),
        ),
        "half": (
            f"Sigma-50 of {N_HALF} images against bisection by 9,000 draws, four seeds",
            "network, draws | median error | 90th percentile | interval held",
            halves_of_all,
        ),
    }
    for name in asked or tables:
        printed(*tables[name])


if __name__ == "__main__":
    with one_torch_thread():
        main(*sys.argv[1:])
