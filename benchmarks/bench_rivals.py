"""What does it save to differentiate only the classes that noise can turn a prediction into? Of 100 and of 1,000.

Prints tables; asserts nothing. Digits stand side by side, two of them (100 classes) before a ResNet-18 and three of
them (1,000 classes) before a small CNN; both networks are trained here. Each line has MMSE and Taylor with all classes
differentiated and with the rivals only, in one process: seconds of the processor a sample with one thread, the mean
absolute error against Monte-Carlo, and how far the two lie apart at most. ``python -m benchmarks.bench_rivals``
"""

import time

import numpy as np
import torch

from core.data import load_example
from core.evaluate.average_case import MMSE, GaussianLogits, MonteCarlo, Taylor, estimate
from core.models.architectures import build
from core.models.threads import single_threaded
from core.models.training import one_torch_thread, sgd, train

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
                f"{name:22} {sigma:5} {exact.mean():8.3f} {kind.__name__:7} {slow:8.3f} {fast:8.3f} {slow / fast:5.0f} x",
                *(f"  {error:.4f}" for error in (*errors, apart, few.error.max())),
                flush=True,
            )
        normal, seconds = timed(model, x, sigma, GaussianLogits())
        off = np.abs(normal.p_robust - exact).mean()
        print(f"{name:22} {sigma:5} {'':8}  normal logits     {seconds:8.3f}   {'':18}{off:.4f}", flush=True)


def main() -> None:
    resnet, pairs, of_resnet = trained("resnet18", 2, side=16, n=4000, n_epochs=3, learning_rate=0.05)
    cnn, triples, of_cnn = trained("cnn_1", 3, side=8, n=30_000, n_epochs=12, learning_rate=0.02)
    with single_threaded(), one_torch_thread():
        print(f"accuracy: ResNet-18 on 1 x 16 x 16 pixels {of_resnet:.3f}, CNN on 1 x 8 x 24 {of_cnn:.3f}")
        print(
            "network, classes       sigma  p_robust  of      all, s   rivals, s   ratio  error, all, rivals  apart  bound"
        )
        for model, x in ((resnet, pairs), (cnn, triples)):  # load what the first estimate would load
            estimate(model, x[:2], sigma=0.1, estimator="mmse", generator=seeded())
        compared("ResNet-18, C = 100", resnet, pairs[:16], n_draws=1000)
        compared("CNN, C = 1,000", cnn, triples[:10], n_draws=2000)
        ten = build("resnet18", (3, 32, 32), 10, seed=0).eval()
        hundred = build("resnet18", (3, 32, 32), 100, seed=0).eval()
        x = torch.rand((2, 3, 32, 32), generator=seeded())
        for name, model in (("C = 10", ten), ("C = 100, all classes", hundred)):
            for kind in (MMSE(every_class=True), Taylor(every_class=True), GaussianLogits()):
                took = timed(model, x, 0.1, kind)[1]
                print(f"ResNet-18, 3 x 32 x 32, {name}: {type(kind).__name__} {took:.2f} s a sample", flush=True)


if __name__ == "__main__":
    main()
