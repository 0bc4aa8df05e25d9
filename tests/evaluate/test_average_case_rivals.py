"""Only the classes that noise can turn a prediction into are differentiated: the answer is that of all classes."""

import numpy as np
import pytest
import torch

from tests.evaluate.small_networks import SideBySide, digits_cnn, generator, linear, samples
from touchstone.core.evaluate.average_case import MMSE, PlainMMSE, Taylor, estimate
from touchstone.core.evaluate.average_case.gaussian_cdf import find_rivals
from touchstone.core.evaluate.average_case.noise import Noise, NoisyInputs


def pairs_of_digits(n):
    """Two digits side by side, C = 100."""
    model, x, _ = digits_cnn()
    return SideBySide(model), torch.cat([x[:n], x[n : 2 * n]], dim=-1)


@pytest.fixture
def passes(monkeypatch):
    """The number of backward passes so far."""
    made, grad = [], torch.autograd.grad

    def counted(*args, **kwargs):
        made.append(1)
        return grad(*args, **kwargs)

    monkeypatch.setattr(torch.autograd, "grad", counted)
    return made


@pytest.mark.parametrize("kind", [Taylor, MMSE, PlainMMSE])
@pytest.mark.parametrize("sigma", [0.05, 0.2, 0.4])
def test_a_hundred_classes_by_their_rivals_are_those_by_all(kind, sigma):
    model, x = pairs_of_digits(24)
    few, all_ = (
        estimate(model, x, sigma=sigma, estimator=kind(every_class=every), generator=generator())
        for every in (False, True)
    )
    assert (np.abs(few.p_robust - all_.p_robust) <= 1.5 * (few.error + all_.error) + 1e-6).all()
    assert few.converged.all()
    assert few.predicted.tolist() == all_.predicted.tolist()


def test_what_is_left_out_takes_no_pass(passes):
    model, x = pairs_of_digits(32)
    estimate(model, x, sigma=0.1, estimator=MMSE(), generator=generator())
    few = len(passes)
    estimate(model, x, sigma=0.1, estimator=MMSE(every_class=True), generator=generator())
    assert few * 4 < len(passes) - few


def test_ten_classes_are_all_differentiated(passes):
    model, x, _ = digits_cnn()
    estimate(model, x[:4], sigma=0.1, estimator=Taylor(), generator=generator())
    assert len(passes) == 10


def test_what_the_rest_may_add_holds_on_linear_models():
    """The chance that a class left out overtakes is known there: the bound is at least that in nearly all cases."""
    within = []
    for seed in range(40):
        model, x = linear(30, 60, seed=seed), samples(5, 30, seed=seed + 1000)
        inputs = NoisyInputs(model, x, Noise(0.15), generator(), batch_size=64)
        clean = model(x).detach().numpy()
        found = find_rivals(inputs, x, clean.argmax(axis=1), clean, most_left=1e-3, tangent=False)
        weight, draws = model.weight.detach(), torch.randn((20_000, 30), generator=generator(seed)).double()
        for i in range(5):
            k = int(found.n_needed[i])
            kept = [int(clean[i].argmax()), *found.order[i, :k].tolist()]
            out = torch.as_tensor(clean[i]) + 0.15 * draws @ weight.T
            lost = float((out.argmax(dim=1)[:, None] != torch.tensor(kept)).all(dim=1).double().mean())
            within.append(lost <= found.left[i] + 3 * (max(lost, 1e-4) / 20_000) ** 0.5)
    assert np.mean(within) > 0.97


def test_a_sample_s_answer_does_not_depend_on_its_neighbours():
    model, x = pairs_of_digits(12)
    whole = estimate(model, x, sigma=0.2, estimator=MMSE(), generator=generator(3)).p_robust
    alone = [estimate(model, one[None], sigma=0.2, estimator=MMSE(), generator=generator(3)).p_robust[0] for one in x]
    np.testing.assert_allclose(whole, alone, atol=2e-4)  # single precision, in products of other sizes


def test_a_sample_that_is_no_number_spoils_no_other():
    model, x = linear(8, 30, seed=0), samples(3, 8, seed=1)
    x[1] = torch.nan
    found = estimate(model, x, sigma=0.2, estimator=MMSE(), generator=generator())
    assert np.isnan(found.p_robust).tolist() == [False, True, False]


def test_duplicate_logits_are_rivals():
    model, x = linear(8, 30, seed=0), samples(4, 8, seed=1)
    with torch.no_grad():
        model.weight[20:] = model.weight[:10]
        model.bias[20:] = model.bias[:10]
    few, all_ = (
        estimate(model, x, sigma=0.2, estimator=Taylor(every_class=every), generator=generator())
        for every in (False, True)
    )
    np.testing.assert_allclose(few.p_robust, all_.p_robust, atol=2e-3)
    assert few.degenerate.tolist() == all_.degenerate.tolist()
