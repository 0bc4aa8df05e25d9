"""What does it save to differentiate only the classes that noise can turn a prediction into? Of 100 and of 1,000.

Prints tables; asserts nothing. Digits stand side by side, two of them (100 classes) before a ResNet-18 and three of
them (1,000 classes) before a small CNN; both networks are trained here. Each line has MMSE and Taylor with all classes
differentiated and with the rivals only, in one process: seconds of the processor a sample with one thread, the mean
absolute error against Monte-Carlo, and how far the two lie apart at most. ``python -m benchmarks.bench_rivals``
"""

import sys
import time

import numpy as np
import torch

from touchstone.core.data import load_example
from touchstone.core.evaluate.average_case import MMSE, GaussianLogits, MonteCarlo, Taylor, estimate
from touchstone.core.models.architectures import build
from touchstone.core.models.networks import one_torch_thread, sgd, train
from touchstone.core.models.threads import single_threaded

SIGMAS = (0.05, 0.1, 0.2)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def side_by_side(n, n_digits, *, side, seed):
    """`n` images of so many digits in a row, padded below to a height of `side`, and their numbers."""
    digits = load_example("digits")
    x = torch.tensor(np.asarray(digits.x, dtype=np.float32).reshape(-1, 8, 8))
    chosen = torch.randint(len(x), (n, n_digits), generator=seeded(seed))
    row = torch.cat((x / x.max())[chosen].unbind(1), dim=2)
    images = torch.nn.functional.pad(row, (0, 0, 0, side - 8))[:, None]
    codes = torch.tensor(np.asarray(digits.y))[chosen].long()
    return images, (codes * 10 ** torch.arange(n_digits - 1, -1, -1)).sum(dim=1)


def trained(name, n_digits, *, side, n, n_epochs, learning_rate):
    x, y = side_by_side(n, n_digits, side=side, seed=0)
    model = build(name, tuple(x.shape[1:]), 10**n_digits, seed=0)
    optimizer = sgd(model, learning_rate=learning_rate, momentum=0.9, weight_decay=0.0)
    train(model, x, y, optimizer=optimizer, n_epochs=n_epochs, batch_size=64, generator=seeded())
    x, y = side_by_side(500, n_digits, side=side, seed=1)
    with torch.no_grad():
        return model.eval(), x, float((model(x).argmax(1) == y).float().mean())


def timed(model, x, sigma, estimator):
    start = time.process_time()
    found = estimate(model, x, sigma=sigma, estimator=estimator, generator=seeded())
    return found, (time.process_time() - start) / len(x)


def compared(name, model, x, *, n_draws):
    for sigma in SIGMAS:
        exact = estimate(model, x, sigma=sigma, estimator=MonteCarlo(n_draws), generator=seeded(1)).p_robust
        for kind in (MMSE, Taylor):
            all_, slow = timed(model, x, sigma, kind(every_class=True))
            few, fast = timed(model, x, sigma, kind())
            errors = (float(np.abs(of.p_robust - exact).mean()) for of in (all_, few))
            apart = np.abs(few.p_robust - all_.p_robust).max()
            print(
                f"{name:22} {sigma:5} {exact.mean():8.3f}  {kind.__name__:7}",
                f"{slow:8.3f} {fast:8.3f} {slow / fast:7.1f} x",
                *(f"  {error:.4f}" for error in (*errors, apart, few.error.max())),
                flush=True,
            )
        normal, seconds = timed(model, x, sigma, GaussianLogits())
        off = np.abs(normal.p_robust - exact).mean()
        print(f"{name:22} {sigma:5} {'':8}  normal logits     {seconds:8.3f}   {'':18}{off:.4f}", flush=True)


def hundred():
    model, x, accuracy = trained("resnet18", 2, side=16, n=4000, n_epochs=3, learning_rate=0.05)
    said("ResNet-18, C = 100", model, x[:16], accuracy, n_draws=1000)


def thousand():
    model, x, accuracy = trained("cnn_1", 3, side=8, n=10_000, n_epochs=12, learning_rate=0.02)
    said("CNN, C = 1,000", model, x[:8], accuracy, n_draws=2000)


def said(name, model, x, accuracy, *, n_draws):
    print(f"{name}: accuracy {accuracy:.3f}; {len(x)} samples. Sigma, p_robust, estimator, seconds a sample", end=" ")
    print(
        "with all classes, with rivals, ratio, error with all, with rivals, largest difference, largest reported error"
    )
    with single_threaded(), one_torch_thread():
        estimate(model, x[:2], sigma=0.1, estimator="mmse", generator=seeded())  # what is loaded at first
        compared(name, model, x, n_draws=n_draws)


def usual():
    """Untrained: the cost of all classes does not depend on the weights."""
    x = torch.rand((2, 3, 32, 32), generator=seeded())
    with single_threaded(), one_torch_thread():
        for n_classes in (10, 100):
            model = build("resnet18", (3, 32, 32), n_classes, seed=0).eval()
            for kind in (MMSE(every_class=True), Taylor(every_class=True), GaussianLogits()):
                took = timed(model, x, 0.1, kind)[1]
                print(
                    f"ResNet-18, 3 x 32 x 32, C = {n_classes}, all classes: {type(kind).__name__} {took:.2f} s a sample"
                )


def main(*asked) -> None:
    parts = {"hundred": hundred, "thousand": thousand, "usual": usual}
    for name in asked or parts:
        parts[name]()


if __name__ == "__main__":
    main(*sys.argv[1:])
