"""What do the estimators of average-case robustness cost, and how far off are they? Table 1 and figure 2 of the paper.

Prints tables; asserts nothing. ResNet-18 runs on a few of the 50 samples, Monte-Carlo with 500 draws in place of
10,000, and is extrapolated, which the table says; all else is measured. Seconds are of the processor, with one thread,
so that other work on the machine does not count; where there is a GPU, table 1 is printed for it too, in seconds of the
clock. The memory at 10 and at 1,000 samples is the most that a process of its own ever held. Brackets are 95 %
intervals over samples. `passes` counts what a chunk of samples asks of the model at all sigmas of a plan, where every
estimate is made by itself and where they share what they can; `classes` times ResNet-18 with 10, 100 and 1,000 classes.
``python -m benchmarks.bench_average_case runtimes resnet memory figure passes classes`` is all of it.
"""

import os
import platform
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import numpy as np
import torch

from touchstone.core.data import load_example
from touchstone.core.evaluate.average_case import (
    ESTIMATORS,
    MMSE,
    GaussianLogits,
    MonteCarlo,
    Taylor,
    estimate,
    estimates,
    mvn_cdf,
)
from touchstone.core.evaluate.average_case.monte_carlo import half_sigma
from touchstone.core.evaluate.average_case.noise import Noise, NoisyInputs
from touchstone.core.evaluate.intervals import t_interval
from touchstone.core.models.architectures import build
from touchstone.core.models.networks import one_torch_thread, sgd, train
from touchstone.core.models.threads import single_threaded

N_POINTS, N_DRAWS = 50, 10_000
N_DRAWS_OF_FIGURE = 4_000
SIGMAS = (0.05, 0.1, 0.2, 0.3, 0.5)
PENALTIES = (0.0, 0.01, 0.1)
TIMED = {
    "taylor": (Taylor(), 1),
    "mmse, antithetic, N = 2": (MMSE(2), 2),
    "mmse, antithetic, N = 6": (MMSE(6), 6),
    "mmse, plain, N = 5": (MMSE(5, antithetic=False), 5),
}
"""Estimators and how many copies of a sample they differentiate: a forward pass each, and a backward pass per class."""
COMPARED = ("taylor", "mmse", "taylor_mvs", "mmse_mvs", "mmse_scaled", "softmax", "gaussian_logits")


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
    on_gpu = next(model.parameters()).is_cuda
    clock = time.perf_counter if on_gpu else time.process_time
    start = clock()
    estimate(model, x, sigma=sigma, estimator=estimator, generator=seeded())
    return clock() - start


def table_1(name, model, x, *, n_samples, n_draws, n_points=N_POINTS):
    """Runtimes for 50 points at sigma .1; Monte-Carlo on `n_samples` with `n_draws`, all else on `n_points`."""
    estimate(model, x[:2], sigma=0.1, estimator="mmse", generator=seeded())
    share = n_samples * n_draws / (N_POINTS * N_DRAWS)
    counted = seconds(model, x[:n_samples], MonteCarlo(n_draws)) / share
    how = "measured" if share == 1 else f"EXTRAPOLATED from {n_samples} samples x {n_draws} draws"
    print(f"{name:16} {'monte_carlo, 10,000 draws':26} {counted:9.2f} s            {how}", flush=True)
    for estimator, (options, n_copies) in TIMED.items():
        took = seconds(model, x[:n_points], options) * N_POINTS / n_points
        how = f"on {n_points} samples: {n_copies} forward and {10 * n_copies} backward passes each"
        print(f"{name:16} {estimator:26} {took:9.2f} s {counted / took:9,.0f} x  {how}", flush=True)


def runtimes():
    print("\nTable 1: 50 points, sigma .1; the paper's CPU ratios for ResNet-18: taylor 759, mmse 148")
    model, x, accuracy = trained_cnn(0.0)
    print(f"digits CNN: accuracy {accuracy:.3f}")
    for device in devices():
        table_1(f"digits CNN, {device}", model.to(device), x, n_samples=N_POINTS, n_draws=N_DRAWS)


def resnet():
    print("\nTable 1, ResNet-18 (untrained: its cost does not depend on its weights); the paper's CPU: 759 x, 148 x")
    images = torch.rand((N_POINTS, 3, 32, 32), generator=seeded())
    model = build("resnet18", (3, 32, 32), 10, seed=0).eval()
    for device in devices():
        table_1(f"ResNet-18, {device}", model.to(device), images, n_samples=2, n_draws=500, n_points=8)


def devices():
    if torch.cuda.is_available():
        return ("cpu", "cuda")
    print("No GPU here: nothing is measured on one")
    return ("cpu",)


def most_memory():
    """In MiB: VmHWM is of this process only (ru_maxrss would count the one that started it, too)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def peak(estimator, n_samples):
    """Most memory of a fresh process before it estimates for so many samples, and after, in MiB."""
    command = [sys.executable, "-m", "benchmarks.bench_average_case", "--memory", estimator, str(n_samples)]
    return map(float, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


def measure_memory(estimator, n_samples):
    made = {"monte_carlo": MonteCarlo(120), "taylor": Taylor(), "mmse": MMSE(), "gaussian_logits": GaussianLogits(120)}
    model = build("lenet", (1, 28, 28), 10, seed=0).eval()
    x = torch.rand((n_samples, 1, 28, 28), generator=seeded())
    # Libraries and compiled code are the same at any number of samples: they are loaded before the first look.
    mvn_cdf(np.zeros((1, 3)), np.eye(3)[None])
    estimate(model, x[:1], sigma=0.1, estimator=made[estimator], generator=seeded(), batch_size=1)
    before = most_memory()
    estimate(model, x, sigma=0.1, estimator=made[estimator], generator=seeded(), batch_size=60)
    print(before, most_memory())


def memory():
    print("\nMost memory of a process (MiB), LeNet on 28 x 28 images, batches of 60; in brackets before it estimates")
    for name in ("monte_carlo", "taylor", "mmse", "gaussian_logits"):
        (base_few, few), (base_many, many) = (peak(name, n) for n in (10, 1000))
        print(
            f"{name:16} {few:6.0f} ({base_few:.0f}) at 10 samples {many:6.0f} ({base_many:.0f}) at 1,000"
            f" {many / few - 1:+8.1%}",
            flush=True,
        )


def with_interval(values):
    n = len(values)
    found = t_interval(float(values.mean()), float(values.std(ddof=1) / n**0.5), n - 1.0)
    return f"{values.mean():+.4f} [{found.lower:+.4f}, {found.upper:+.4f}]"


def figure_2():
    """Errors of all estimators over sigma on one network (a), and MMSE's on networks of three strengths (b)."""
    draws = f"{N_DRAWS_OF_FIGURE:,} draws (standard error {0.5 / N_DRAWS_OF_FIGURE**0.5:.3f} or less)"
    print(f"\nFigure 2: against {draws} on {N_POINTS} samples, CNN on digits")
    print("lambda  accuracy  sigma  mean p_robust  estimator        mean |error|               mean error")
    for penalty in PENALTIES:
        model, x, accuracy = trained_cnn(penalty)
        x = x[:N_POINTS]
        for sigma in SIGMAS:
            counted = MonteCarlo(N_DRAWS_OF_FIGURE)
            exact = estimate(model, x, sigma=sigma, estimator=counted, generator=seeded(1)).p_robust
            for name in COMPARED if penalty == 0 else ("mmse",):
                off = estimate(model, x, sigma=sigma, estimator=name, generator=seeded()).p_robust - exact
                print(
                    f"{penalty:6} {accuracy:9.3f} {sigma:6} {exact.mean():14.3f}  {name:15}"
                    f" {with_interval(np.abs(off))}  {with_interval(off)}",
                    flush=True,
                )


class Counted:
    """A model that counts the inputs it is asked about, the gradients of its logits, and how often it is called."""

    has_gradients = True

    def __init__(self, model):
        self.model, self.forward, self.backward, self.calls = model, 0, 0, 0

    def logits(self, x):
        """The model's, counted."""
        self.forward, self.calls = self.forward + len(x), self.calls + 1
        if x.requires_grad:
            x.register_hook(self.followed)
        return self.model(x)

    def followed(self, gradient):
        """Count so many gradients."""
        self.backward += len(gradient)


def counted(model, work):
    """Forward and backward passes, calls and seconds of the processor of some work."""
    counting, start = Counted(model), time.process_time()
    work(counting)
    return counting.forward, counting.backward, counting.calls, time.process_time() - start


PLANNED = {
    "Taylor, softmax, 32 draws": [Taylor(), ESTIMATORS["softmax"](), MonteCarlo(32)],
    "MMSE, softmax, 32 draws": [MMSE(), ESTIMATORS["softmax"](), MonteCarlo(32)],
    "normal logits, softmax, 32 draws": [GaussianLogits(), ESTIMATORS["softmax"](), MonteCarlo(32)],
    "the audit's, but Monte-Carlo": [kind() for name, kind in ESTIMATORS.items() if kind.facts.audited],
}


def passes():
    sigmas, n, name = (0.05, 0.1, 0.2, 0.3), 50, "CNN on digits, untrained, C = 10"
    print(f"\nPasses of {n} samples at the sigmas {sigmas}, {name}: each estimate by itself, and sharing")
    print("| | forward | backward | calls | seconds | forward, sharing | backward | calls | seconds |")
    print(f"|{'---|' * 9}")
    model, x = build("cnn_1", (1, 8, 8), 10, seed=0).eval(), torch.rand((n, 1, 8, 8), generator=seeded())
    for title, kinds in PLANNED.items():

        def alone(model, kinds=kinds):
            for sigma in sigmas:
                for kind in kinds:
                    batch_size = kind.n_samples if isinstance(kind, MonteCarlo) else 256  # a sample a call, as before
                    estimate(model, x, sigma=sigma, estimator=kind, generator=seeded(), batch_size=batch_size)

        def together(model, kinds=kinds):
            list(estimates(model, x, [(sigma, kind, seeded()) for sigma in sigmas for kind in kinds]))

        together(model)  # what is compiled at first is loaded
        before, after = counted(model, alone), counted(model, together)
        cells = (f"{forward:,} | {backward:,} | {calls:,} | {s:.2f}" for forward, backward, calls, s in (before, after))
        print(f"| {title} | {' | '.join(cells)} |", flush=True)


def classes():
    n, sigma = 2, 0.1
    print(f"\nResNet-18, 3 x 32 x 32, untrained: a sample at sigma {sigma}, mean of {n}; load {os.getloadavg()[0]:.1f}")
    print("| classes | | seconds of the processor | forward passes | backward passes | mean p_robust |")
    print(f"|{'---|' * 6}", flush=True)
    x = torch.rand((n, 3, 32, 32), generator=seeded())

    def sigma_50(model):
        inputs = NoisyInputs(model.logits, x, Noise(1.0), seeded(), 256)
        half_sigma(inputs, inputs.clean.argmax(axis=1), low=sigma / 4, high=4 * sigma)

    kinds = {
        "counting, 32 draws": MonteCarlo(32),
        "normal logits, 128": GaussianLogits(),
        "Taylor, rivals": Taylor(),
        "MMSE, N = 6, rivals": MMSE(),
        "Taylor, all classes": Taylor(every_class=True),
        "MMSE, N = 6, all classes": MMSE(every_class=True),
    }
    for n_classes in (10, 100, 1000):
        model, p = build("resnet18", (3, 32, 32), n_classes, seed=0).eval(), {}

        def shares(model, title, kind, p=p):
            p[title] = estimate(model, x, sigma=sigma, estimator=kind, generator=seeded()).p_robust.mean()

        estimate(model, x[:1], sigma=sigma, estimator=GaussianLogits(4), generator=seeded())
        work = {
            title: lambda model, title=title, kind=kind: shares(model, title, kind) for title, kind in kinds.items()
        }
        for title, do in (work | {"sigma-50, 384 draws": sigma_50}).items():
            if n_classes > 100 and "all classes" in title:
                copies = 6 if "MMSE" in title else 1
                print(f"| {n_classes:,} | {title} | not run | {1 + copies} | {copies * n_classes:,} | |", flush=True)
                continue
            forward, backward, _, took = counted(model, do)
            told = f"{p[title]:.3f}" if title in p else ""
            print(
                f"| {n_classes:,} | {title} | {took / n:.2f} | {forward / n:,.0f} | {backward / n:,.0f} | {told} |",
                flush=True,
            )


def main(*asked) -> None:
    print(f"# Average-case robustness, {date.today()}, {platform.machine()}, {os.cpu_count()} cores")
    parts = {"runtimes": runtimes, "resnet": resnet, "memory": memory, "figure": figure_2}
    parts |= {"passes": passes, "classes": classes}
    for name in asked or parts:
        parts[name]()


if __name__ == "__main__":
    with single_threaded(), one_torch_thread():
        if sys.argv[1:2] == ["--memory"]:
            measure_memory(sys.argv[2], int(sys.argv[3]))
        else:
            main(*sys.argv[1:])
