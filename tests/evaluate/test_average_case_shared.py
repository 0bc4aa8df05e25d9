"""What estimates of the same samples share changes no answer, saves passes, and no estimate looks cheaper for it."""

import time

import numpy as np
import pytest
import torch
from torch import nn

from tests.evaluate.small_networks import generator, samples
from touchstone.core.evaluate.average_case import (
    ESTIMATORS,
    MMSE,
    MMSEMVS,
    MonteCarlo,
    PlainMMSE,
    ScaledMMSEMVS,
    Taylor,
    TaylorMVS,
    estimate,
    estimates,
)
from touchstone.core.evaluate.average_case.noise import Shared

SIGMAS = (0.05, 0.2, 0.6)


class Counting(nn.Module):
    """A small network that is not linear; it counts the inputs that it is asked about, and their gradients."""

    def __init__(self, n_classes: int):
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(1)
            self.layers = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, n_classes)).double()
        self.n_inputs = self.n_gradients = 0

    def forward(self, x):
        self.n_inputs += len(x)
        if x.requires_grad:
            x.register_hook(lambda gradient: setattr(self, "n_gradients", self.n_gradients + len(gradient)))
        return self.layers(x)

    def counted(self):
        """Inputs and gradients since the last look."""
        found, self.n_inputs, self.n_gradients = (self.n_inputs, self.n_gradients), 0, 0
        return found


def alone_and_together(model, x, kinds):
    """Of every sigma and estimator, what it gives by itself and what it gives with the others; and the passes."""
    asked = [(sigma, kind) for sigma in SIGMAS for kind in kinds]
    alone = [estimate(model, x, sigma=sigma, estimator=kind, generator=generator(3)) for sigma, kind in asked]
    before = model.counted()
    together = [found for found, _ in estimates(model, x, [(*one, generator(3)) for one in asked])]
    return alone, together, before, model.counted()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_gives_at_each_sigma_what_it_gives_alone(name):
    options = {"n_samples": 32} if name == "monte_carlo" else {}
    alone, together, _, _ = alone_and_together(Counting(6), samples(7, 12, seed=0), [ESTIMATORS[name](**options)])
    for one, other in zip(alone, together, strict=True):
        assert other.sigma == one.sigma
        np.testing.assert_allclose(other.p_robust, one.p_robust, rtol=0, atol=1e-9)
        np.testing.assert_allclose(other.error, one.error, rtol=0, atol=1e-9)
        assert other.predicted.tolist() == one.predicted.tolist()
        assert other.degenerate.tolist() == one.degenerate.tolist()
    assert len({found.p_robust.round(6).tobytes() for found in together}) == (1 if name == "softmax" else len(SIGMAS))


@pytest.mark.parametrize(
    ("kinds", "inputs", "gradients"),
    [
        ([Taylor(), TaylorMVS()], 1 + 1, 6),
        ([MMSE(4), MMSEMVS(4), ScaledMMSEMVS(4)], 1 + 4 * 3, 4 * 6 * 3),
        ([PlainMMSE(4), MMSE(4)], 1 + 8 * 3, 8 * 6 * 3),
    ],
)
def test_a_sample_takes_so_many_passes_at_all_sigmas_together(kinds, inputs, gradients):
    """One forward pass without noise; tangents once for all sigmas; mean tangents once for those that share copies."""
    model, x = Counting(6), samples(5, 12, seed=0)
    _, _, before, after = alone_and_together(model, x, kinds)
    assert after == (5 * inputs, 5 * gradients)
    assert before > after


def test_of_many_classes_the_tangents_of_the_widest_noise_serve_all_sigmas():
    model, x = Counting(60), samples(9, 12, seed=0)
    alone, together, _, (_, gradients) = alone_and_together(model, x, [Taylor()])
    model.counted()
    estimate(model, x, sigma=max(SIGMAS), estimator=Taylor(), generator=generator(3))
    assert gradients == model.counted()[1] < 9 * 60
    for one, other in zip(alone, together, strict=True):
        assert (np.abs(other.p_robust - one.p_robust) <= one.error + other.error + 1e-9).all()
        assert other.error.max() <= Taylor().tol
    assert together[-1].p_robust.tolist() == alone[-1].p_robust.tolist()


@pytest.mark.parametrize("batch_size", [32, 100, 1000])
def test_few_copies_of_several_samples_fill_a_batch_and_are_the_same(batch_size):
    model, x = Counting(6), samples(11, 12, seed=0)
    x[4] = torch.nan
    asked = {"sigma": 0.6, "estimator": MonteCarlo(32), "batch_size": batch_size}
    found = estimate(model, x, generator=generator(), **asked)
    seeds = torch.randint(2**63 - 1, (11,), generator=generator()).tolist()
    for i in range(11):
        noise = torch.randn((32, 12), generator=generator(seeds[i]), dtype=x.dtype)
        stays = model(x[i] + 0.6 * noise).argmax(dim=1) == model(x[i : i + 1]).argmax(dim=1)
        share = np.nan if i == 4 else float(stays.double().mean())
        assert found.p_robust[i] == pytest.approx(share, nan_ok=True)
    assert found.n_draws.tolist() == [0 if i == 4 else 32 for i in range(11)]


def test_the_clock_goes_as_if_nothing_had_been_spared():
    shared = Shared(1.0)
    for _ in range(3):
        start = shared.clock()
        shared.once("nap", 0, lambda: time.sleep(0.05))
        assert shared.clock() - start >= 0.05
    begun = time.perf_counter()
    shared.once("nap", 0, lambda: time.sleep(10))
    assert time.perf_counter() - begun < 5
