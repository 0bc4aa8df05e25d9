"""What do the estimators of average-case robustness cost, and how far off are they? Table 1 and figure 2b of the paper.

Prints tables; asserts nothing. Monte-Carlo on ResNet-18 runs on three samples with 500 draws and is extrapolated to 50
samples with 10 000, which the table says. The memory at 10 and at 1,000 samples is the peak of a process of its own:
``python -m benchmarks.bench_average_case --memory mmse 10`` is one such process.
"""

import os
import platform
import resource
import subprocess
import sys
import time
from datetime import date

import numpy as np
import torch

from core.data import load_example
from core.evaluate.average_case import MMSE, GaussianLogits, MonteCarlo, Taylor, estimate
from core.models.architectures import build
from core.models.training import sgd, train

N_POINTS = 50
N_DRAWS = 10_000
OURS = {"taylor": Taylor(), "mmse, antithetic, N = 6": MMSE(6), "mmse, plain, N = 5": MMSE(5, antithetic=False)}


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def trained_cnn(gradient_penalty, *, n_epochs=8):
    digits = load_example("digits")
    order = np.random.default_rng(0).permutation(len(digits.y))
    x = torch.tensor(np.asarray(digits.x, dtype=np.float32).reshape(-1, 1, 8, 8))
    x, y = x / x.max(), torch.tensor(np.asarray(digits.y)).long()
    fitted, test = order[:1200], order[1200:]
    model = build("cnn_1", (1, 8, 8), 10, seed=0)
    optimizer = sgd(model, learning_rate=0.01, momentum=0.95, weight_decay=0.0)
    options = {"optimizer": optimizer, "n_epochs": n_epochs, "batch_size": 128, "generator": seeded()}
    train(model, x[fitted], y[fitted], gradient_penalty=gradient_penalty, **options)
    with torch.no_grad():
        return model, x[test], float((model(x[test]).argmax(1) == y[test]).float().mean())


def seconds(model, x, estimator, *, sigma=0.1):
    start = time.perf_counter()
    estimate(model, x, sigma=sigma, estimator=estimator, generator=seeded())
    return time.perf_counter() - start


def table_1(name, model, x, *, n_samples, n_draws):
    """Runtimes for 50 points at sigma .1; Monte-Carlo on `n_samples` with `n_draws`, extrapolated where less."""
    estimate(model, x[:2], sigma=0.1, estimator="mmse", generator=seeded())
    counted = seconds(model, x[:n_samples], MonteCarlo(n_draws)) * N_POINTS / n_samples * N_DRAWS / n_draws
    how = (
        "measured"
        if (n_samples, n_draws) == (N_POINTS, N_DRAWS)
        else f"EXTRAPOLATED from {n_samples} x {n_draws} draws"
    )
    print(f"{name:14} {'monte_carlo, 10 000 draws':26} {counted:9.2f} s           {how}")
    for ours, estimator in OURS.items():
        took = seconds(model, x[:N_POINTS], estimator)
        print(f"{name:14} {ours:26} {took:9.2f} s {counted / took:8,.0f} x", flush=True)


def peak(estimator, n_samples):
    """Peak memory in MiB of a fresh process that estimates for so many samples."""
    command = [sys.executable, "-m", "benchmarks.bench_average_case", "--memory", estimator, str(n_samples)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure_memory(estimator, n_samples):
    made = {"monte_carlo": MonteCarlo(200), "taylor": Taylor(), "mmse": MMSE(), "gaussian_logits": GaussianLogits()}
    model = build("cnn_1", (1, 28, 28), 10, seed=0).eval()
    x = torch.rand((n_samples, 1, 28, 28), generator=seeded())
    estimate(model, x, sigma=0.1, estimator=made[estimator], generator=seeded(), batch_size=60)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def figure_2b():
    """MMSE's error and mean p_robust over sigma, for three strengths of gradient-norm regularisation."""
    print("\nFigure 2b: MMSE (antithetic, N = 6) against 2 000 draws on 40 samples, CNN on digits")
    print("lambda  accuracy  sigma  mean p_robust  mean |error|  mean error")
    for penalty in (0.0, 0.01, 0.1):
        model, x, accuracy = trained_cnn(penalty)
        for sigma in (0.05, 0.1, 0.2, 0.3, 0.5):
            exact = estimate(model, x[:40], sigma=sigma, estimator=MonteCarlo(2000), generator=seeded(1)).p_robust
            off = estimate(model, x[:40], sigma=sigma, estimator="mmse", generator=seeded()).p_robust - exact
            print(
                f"{penalty:6} {accuracy:9.3f} {sigma:6} {exact.mean():14.3f}"
                f" {np.abs(off).mean():13.4f} {off.mean():+11.4f}",
                flush=True,
            )


def main() -> None:
    if "--memory" in sys.argv:
        measure_memory(*(kind(value) for kind, value in zip((str, int), sys.argv[2:4], strict=True)))
        return
    print(f"# Average-case robustness, {date.today()}, {platform.machine()}, {os.cpu_count()} cores")
    print(
        f"Load {os.getloadavg()[0]:.1f}\n\nTable 1: 50 points, sigma .1; the paper's CPU ratios: taylor 759, mmse 148"
    )
    model, x, accuracy = trained_cnn(0.0)
    print(f"digits CNN: accuracy {accuracy:.3f}; ResNet-18 is untrained: its cost does not depend on its weights")
    table_1("digits CNN", model, x, n_samples=5, n_draws=N_DRAWS)
    resnet = build("resnet18", (3, 32, 32), 10, seed=0).eval()
    images = torch.rand((N_POINTS, 3, 32, 32), generator=seeded())
    table_1("ResNet-18", resnet, images, n_samples=3, n_draws=500)
    print("\nPeak memory of a process (MiB), CNN on 28 x 28 images, batches of 60")
    for name in ("monte_carlo", "taylor", "mmse", "gaussian_logits"):
        few, many = (peak(name, n) for n in (10, 1000))
        print(f"{name:16} {few:8.0f} at 10 samples {many:8.0f} at 1,000 samples {many / few - 1:+8.1%}", flush=True)
    figure_2b()


if __name__ == "__main__":
    main()
