"""Do the paper's claims about MMSE hold under the paper's own conditions, and which estimator is closest at equal cost?

Prints tables; asserts nothing. ``python -m benchmarks.bench_average_case_paper figure copies penalty cost`` is all.

- figure: every estimator's error over sigma (figure 2a); `figure .2 .5` is these sigmas alone, so that what was cut off
  can be gone on with: networks and draws are the same;
- copies: plain MMSE with N = 5 and with the paper's N = 500 beside Taylor (section 4.2);
- penalty: MMSE's error on networks whose gradient was penalised (figure 2b), that of f as printed and that of the
  cross-entropy, which `core.models.networks` penalises;
- cost: every estimator with several numbers of copies, seconds of the processor and error.

Small CNNs on digits, five of them with seeds of their own; brackets are 95 % intervals over these networks.
"""

import sys
import time
from datetime import date
from functools import partial

import numpy as np
import torch
from torch import nn

from benchmarks.bench_average_case import COMPARED, seeded, with_interval
from touchstone.core.data import load_example
from touchstone.core.evaluate.average_case import ESTIMATORS, MMSE, GaussianLogits, MonteCarlo, estimate
from touchstone.core.models.architectures import build
from touchstone.core.models.networks import one_torch_thread, penalised_loss, sgd, train
from touchstone.core.models.threads import single_threaded

N_SEEDS, N_SAMPLES, N_DRAWS = 5, 30, 4000
SIGMAS = (0.1, 0.3)
SIGMAS_OF_FIGURE = (0.05, 0.1, 0.2, 0.3, 0.5)
STRENGTHS = (0.01, 0.03, 0.1)


def loss_with(kind, strength):
    """Cross-entropy and `strength` times the squared gradient of "f" (all logits) or of the "cross-entropy"."""

    def of_f(network, x, y):
        x = x.detach().requires_grad_(True)
        logits = network(x)
        # With a random direction in the logits the expected square is that of the whole Jacobian.
        (gradient,) = torch.autograd.grad((logits * torch.randn_like(logits)).sum(), x, create_graph=True)
        return nn.functional.cross_entropy(logits, y) + strength * gradient.flatten(1).square().sum(1).mean()

    return of_f if kind == "f" else lambda network, x, y: penalised_loss(network, x, y, strength)


def trained(seed, kind="none", strength=0.0, *, n_epochs=8):
    """A network, images that it was not trained on, and its accuracy on all of those."""
    digits = load_example("digits")
    order = np.random.default_rng(seed).permutation(len(digits.y))
    x = torch.tensor(np.asarray(digits.x, dtype=np.float32).reshape(-1, 1, 8, 8))
    x, y = x / x.max(), torch.tensor(np.asarray(digits.y)).long()
    fitted, test = order[:1200], order[1200:]
    model = build("cnn_1", (1, 8, 8), 10, seed=seed)
    optimizer = sgd(model, learning_rate=0.01, momentum=0.95, weight_decay=0.0)
    torch.manual_seed(seed)
    options = {"optimizer": optimizer, "n_epochs": n_epochs, "batch_size": 128, "generator": seeded(seed)}
    train(model, x[fitted], y[fitted], loss=loss_with(kind, strength), **options)
    with torch.no_grad():
        accuracy = float((model.eval()(x[test]).argmax(1) == y[test]).float().mean())
    return model, x[test][:N_SAMPLES], accuracy


def counted(model, x, sigma):
    return estimate(model, x, sigma=sigma, estimator=MonteCarlo(N_DRAWS), generator=seeded(1)).p_robust


def off(model, x, sigma, estimator, exact, *, seed=0):
    """Mean absolute error, and seconds of the processor a sample."""
    start = time.process_time()
    found = estimate(model, x, sigma=sigma, estimator=estimator, generator=seeded(seed)).p_robust
    return float(np.abs(found - exact).mean()), (time.process_time() - start) / len(x)


def figure(networks, sigmas=SIGMAS_OF_FIGURE):
    print(f"\nMean |error| and mean error against {N_DRAWS:,} draws on {N_SAMPLES} samples (figure 2a)")
    for sigma in sigmas:
        exact = [counted(model, x, sigma) for model, x, _ in networks]
        said = f"sigma {sigma:<5} p_robust {with_interval(np.array([of.mean() for of in exact]))}"
        for name in COMPARED:
            found = [
                estimate(model, x, sigma=sigma, estimator=name, generator=seeded()).p_robust for model, x, _ in networks
            ]
            apart = [of - truth for of, truth in zip(found, exact, strict=True)]
            sizes, signed = (np.array([float(of(off).mean()) for off in apart]) for of in (np.abs, np.asarray))
            print(f"{said}  {name:16} {with_interval(sizes)}  {with_interval(signed)}", flush=True)


def copies(networks):
    print(f"\nMean |error| against {N_DRAWS:,} draws on {N_SAMPLES} samples, and the difference to Taylor's")
    asked = {"taylor": ESTIMATORS["taylor"](), "mmse, plain, N = 5": MMSE(5, antithetic=False)}
    asked |= {"mmse, plain, N = 500": MMSE(500, antithetic=False), "mmse, antithetic, N = 6": MMSE()}
    for sigma in SIGMAS:
        exact = [counted(model, x, sigma) for model, x, _ in networks]
        errors = {
            name: np.array([off(*network[:2], sigma, made, of)[0] for network, of in zip(networks, exact, strict=True)])
            for name, made in asked.items()
        }
        for name, of in errors.items():
            print(f"sigma {sigma}  {name:24} {with_interval(of)}  {with_interval(of - errors['taylor'])}", flush=True)


def penalty(networks):
    print(f"\nMMSE (antithetic, N = 6), mean |error| against {N_DRAWS:,} draws; difference to lambda 0, same seeds")
    base: dict[float, np.ndarray] = {}
    for kind, strength in (("none", 0.0), *((kind, at) for kind in ("f", "cross-entropy") for at in STRENGTHS)):
        made = networks if kind == "none" else [trained(seed, kind, strength) for seed in range(N_SEEDS)]
        accuracy = np.mean([of[2] for of in made])
        for sigma in SIGMAS:
            exact = [counted(model, x, sigma) for model, x, _ in made]
            errors = np.array(
                [off(*network[:2], sigma, "mmse", of)[0] for network, of in zip(made, exact, strict=True)]
            )
            base.setdefault(sigma, errors)
            print(
                f"gradient of {kind:14} lambda {strength:<5} accuracy {accuracy:.3f}  sigma {sigma}"
                f"  p_robust {np.mean(exact):.3f}  {with_interval(errors)}  {with_interval(errors - base[sigma])}",
                flush=True,
            )


def cost(networks):
    print("\nMilliseconds a sample and mean |error|, every estimator")
    asked = {name: ESTIMATORS[name]() for name in ("softmax", "taylor", "taylor_mvs", "mmse_mvs", "mmse_scaled")}
    asked |= {f"mmse, antithetic, N = {n}": MMSE(n) for n in (2, 6, 12, 24)}
    asked |= {f"mmse, plain, N = {n}": MMSE(n, antithetic=False) for n in (1, 5, 12, 24)}
    asked |= {f"normal logits, {n}": GaussianLogits(n) for n in (32, 128, 512)}
    asked |= {f"monte_carlo, {n}": MonteCarlo(n) for n in (32, 128, 512)}
    for sigma in SIGMAS:
        exact = [counted(model, x, sigma) for model, x, _ in networks]
        for name, made in asked.items():
            told = np.array([off(*network[:2], sigma, made, of) for network, of in zip(networks, exact, strict=True)])
            print(
                f"sigma {sigma}  {name:26} {1000 * told[:, 1].mean():8.2f} ms  {with_interval(told[:, 0])}", flush=True
            )


def main(*asked) -> None:
    print(f"# Average-case robustness under the paper's conditions, {date.today()}")
    networks = [trained(seed) for seed in range(N_SEEDS)]
    estimate(*networks[0][:2], sigma=0.1, estimator="mmse", generator=seeded())
    numbers = [text for text in asked if text.replace(".", "").isdigit()]
    sigmas = [float(text) for text in numbers]
    parts = {"figure": partial(figure, sigmas=sigmas or SIGMAS_OF_FIGURE)}
    parts |= {"copies": copies, "penalty": penalty, "cost": cost}
    for name in [text for text in asked if text not in numbers] or parts:
        parts[name](networks)


if __name__ == "__main__":
    with single_threaded(), one_torch_thread():
        main(*sys.argv[1:])
