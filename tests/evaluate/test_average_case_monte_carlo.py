"""Monte-Carlo: counts, exact intervals against exactly known p, the plan to a half-width, the control variate."""

import numpy as np
import pytest
import torch
from scipy.stats import binomtest
from torch import nn

from tests.evaluate.small_networks import Logits, generator, linear, samples
from touchstone.core.evaluate.average_case import MonteCarlo, estimate
from touchstone.core.evaluate.average_case.monte_carlo import LOOKS, N_PILOT, draws_for
from touchstone.core.evaluate.intervals import clopper_pearson
from touchstone.core.models.errors import ModelError


def known_shares(p, *, n_features=8):
    """A linear model of two classes and inputs at which noise of sigma 1 leaves the prediction with probability p."""
    from scipy.special import ndtri

    model = Logits(lambda x: torch.stack([x[:, 0], torch.zeros(len(x), dtype=x.dtype)], dim=1))
    x = torch.zeros((len(p), n_features), dtype=torch.float64)
    x[:, 0] = torch.as_tensor(ndtri(p))
    return model, x


@pytest.mark.parametrize(("k", "n"), [(0, 20), (20, 20), (1, 20), (7, 300), (9999, 10000)])
def test_the_interval_is_clopper_and_pearsons(k, n):
    expected = binomtest(k, n).proportion_ci(0.95, method="exact")
    assert clopper_pearson(float(k), float(n), 0.05) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_counts_are_of_draws_that_keep_the_class():
    model, x = known_shares(np.array([0.5001, 0.9, 0.999]))
    found = estimate(model, x, sigma=1.0, estimator=MonteCarlo(2000, level=1 - 1e-6), generator=generator())
    assert ((found.lower <= [0.5, 0.9, 0.999]) & (found.upper >= [0.5001, 0.9, 0.999])).all()
    for p, lower, upper in zip(found.p_robust, found.lower, found.upper, strict=True):
        k = round(p * 2000)
        assert k / 2000 == p
        assert (lower, upper) == pytest.approx(clopper_pearson(float(k), 2000.0, 1e-6))
    assert found.n_draws.tolist() == [2000] * 3
    assert np.isnan(found.error).all()


def test_no_graph_and_no_more_copies_than_a_batch():
    seen = []

    def logits(x):
        seen.append((len(x), torch.is_grad_enabled(), x.requires_grad))
        return x[:, :2]

    estimate(
        Logits(logits),
        samples(3, 4, seed=0),
        sigma=1.0,
        estimator=MonteCarlo(1000),
        generator=generator(),
        batch_size=64,
    )
    assert max(n for n, _, _ in seen) == 64
    assert not any(graph or needs for _, graph, needs in seen)
    assert sum(n for n, _, _ in seen) == 3 * 1000 + 3


def test_every_sample_has_noise_of_its_own():
    model, x = known_shares(np.full(30, 0.7))
    found = estimate(model, x, sigma=1.0, estimator=MonteCarlo(500), generator=generator())
    assert len(np.unique(found.p_robust)) > 10
    again = estimate(model, x, sigma=1.0, estimator=MonteCarlo(500), generator=generator())
    np.testing.assert_array_equal(found.p_robust, again.p_robust)


@pytest.mark.parametrize("half_width", [0.05, 0.02])
def test_draws_are_planned_to_a_half_width(half_width):
    p = np.array([0.5001, 0.7, 0.9, 0.97, 0.999, 0.99999])
    model, x = known_shares(np.repeat(p, 5))
    asked = MonteCarlo(half_width=half_width, level=0.95)
    found = estimate(model, x, sigma=1.0, estimator=asked, generator=generator(), batch_size=2000)
    assert ((found.upper - found.lower) / 2 <= half_width).all()
    assert found.converged.all()
    counted = (found.n_draws - N_PILOT).reshape(6, 5).mean(axis=1)
    assert counted[0] > 5 * counted[4]
    # A known share of one half takes this many at the first look, and at the second: never more.
    half = np.array([100])
    first, second = (draws_for(half_width, half, 200, 0.05 * look, sure=0.5, most=10**6) for look in LOOKS)
    assert (found.n_draws - N_PILOT).max() <= second
    assert np.median(found.n_draws[:5] - N_PILOT) <= first


def test_a_plan_that_misses_is_topped_up_and_one_that_may_not_says_so():
    asked = MonteCarlo(half_width=0.02)
    shares = iter([200, 0.9, 0.9])  # the pilot sees only hits, the draws that are counted do not

    def count(n):
        share = next(shares)
        return np.array([share if share > 1 else round(share * n)])

    (_, lower, upper, converged), n_draws = asked._interval(count, 0.0, 0.0)
    first, most = (
        draws_for(0.02, np.array([200]), N_PILOT, 0.05 * share, sure=sure, most=10**6)
        for share, sure in zip(LOOKS, (0.8, 0.999), strict=True)
    )
    assert n_draws == N_PILOT + most > N_PILOT + first
    assert (lower, upper) == pytest.approx(
        clopper_pearson(float(round(0.9 * first) + round(0.9 * (most - first))), float(most), 0.05 * LOOKS[1])
    )
    assert converged == ((upper - lower) / 2 <= 0.02)

    model, x = known_shares(np.array([0.6]))
    bounded = MonteCarlo(half_width=0.001, max_samples=500)
    found = estimate(model, x, sigma=1.0, estimator=bounded, generator=generator())
    assert found.n_draws.tolist() == [N_PILOT + 500]
    assert not found.converged[0]


def test_the_control_variate_is_sharper_where_the_model_is_nearly_linear_and_right_where_it_is_not():
    weight = linear(10, 4, seed=1)
    nearly = nn.Sequential(weight, nn.Tanh())
    x = samples(12, 10, seed=2)
    with torch.no_grad():
        weight.weight.mul_(0.05)
        weight.bias.mul_(0.05)
    exact = estimate(
        nearly, x, sigma=0.5, estimator=MonteCarlo(100_000, level=0.9999), generator=generator(1), batch_size=5000
    )
    plain, sharp = (
        estimate(nearly, x, sigma=0.5, estimator=MonteCarlo(4000, control_variate=c), generator=generator(2))
        for c in (False, True)
    )
    assert ((sharp.lower <= exact.upper) & (exact.lower <= sharp.upper)).all()
    fragile = exact.p_robust < 0.95
    assert fragile.any()
    assert (sharp.upper - sharp.lower)[fragile].max() < 0.6 * (plain.upper - plain.lower)[fragile].min()
    curved = Logits(lambda x: torch.stack([x[:, 0] ** 2, torch.full((len(x),), 0.2, dtype=x.dtype)], dim=1))
    x = torch.tensor([[0.0, 0.0], [0.7, 0.0]], dtype=torch.float64)
    options = {"sigma": 0.5, "generator": generator()}
    truth = estimate(curved, x, estimator=MonteCarlo(50_000, level=0.9999), batch_size=5000, **options)
    found = estimate(curved, x, estimator=MonteCarlo(3000, control_variate=True), **options)
    assert ((found.lower <= truth.upper) & (truth.lower <= found.upper)).all()


def test_a_control_variate_takes_gradients_and_normal_noise():
    model, x = linear(3, 3, seed=0), samples(2, 3, seed=0)
    asked = MonteCarlo(10, control_variate=True)
    with pytest.raises(ModelError, match="gaussian noise"):
        estimate(model, x, sigma=0.1, estimator=asked, noise="uniform", generator=generator())
    with pytest.raises(ModelError, match="without gradients"):
        estimate(Logits(model, detached=True), x, sigma=0.1, estimator=asked, generator=generator())


@pytest.mark.parametrize("options", [{"n_samples": 0}, {"half_width": 0.0}, {"half_width": 1.5}, {"level": 1.0}])
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(ModelError):
        MonteCarlo(**options)


@pytest.mark.evidence
@pytest.mark.parametrize(
    "asked",
    [MonteCarlo(400), MonteCarlo(half_width=0.03), MonteCarlo(400, control_variate=True)],
    ids=["fixed number", "to a half-width", "control variate"],
)
def test_a_thousand_intervals_cover_what_is_known_exactly(asked, capsys):
    """A linear model of two classes, shares from .5 to .9999; at least 93 % and, as they are exact, up to 100 %."""
    p = np.random.default_rng(0).uniform(0.5, 1.0, 1000) ** 0.5
    p = 0.5 + (p - p.min()) / (p.max() - p.min()) * 0.4999
    model, x = known_shares(p)
    if asked.control_variate:  # the tangent must be wrong somewhere: bend the model where its answer stays the same
        straight = model.function
        model = Logits(lambda x: straight(x) + straight(x) ** 3)
    found = estimate(model, x, sigma=1.0, estimator=asked, generator=generator(5), batch_size=4000)
    covered = ((found.lower <= p) & (p <= found.upper)).mean()
    with capsys.disabled():
        print(f"\n{asked}: {covered:.1%} of {len(p)} intervals cover, with {found.n_draws.mean():.0f} draws on average")
    assert 0.93 <= covered <= 1.0
    if asked.half_width:
        assert found.converged.mean() > 0.99
