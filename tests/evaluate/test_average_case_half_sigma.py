"""Sigma-50 is where it is known to be, its interval holds it, and what holds beyond the range is said to."""

import numpy as np
import pytest
import torch
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import binom

from touchstone.core.evaluate.average_case.monte_carlo import half_sigma
from touchstone.core.evaluate.average_case.noise import Noise, NoisyInputs
from touchstone.core.evaluate.average_case.robustness import median_of
from touchstone.core.models.errors import ModelError


def between(left: float, right: float):
    """A model of one number with three classes: 1 from `left` to `right`, 0 and 2 around it."""

    def logits(x: torch.Tensor) -> torch.Tensor:
        at = x[:, 0]
        return torch.stack([left - at, torch.zeros(len(x)), at - right], dim=1)

    return logits


def share_kept(x: float, left: float, right: float, sigma: float) -> float:
    return float(ndtr((right - x) / sigma) - ndtr((left - x) / sigma))


def looked_for(logits, x, *, seed=0, low=0.05, high=20.0, n_draws=384):
    inputs = NoisyInputs(logits, x, Noise(1.0), torch.Generator().manual_seed(seed), batch_size=256)
    predicted = logits(x).argmax(dim=1).numpy()
    return half_sigma(inputs, predicted, low=low, high=high, n_draws=n_draws)


@pytest.mark.parametrize(("n_draws", "off"), [(384, 0.08), (1152, 0.05)])
def test_it_is_found_where_the_normal_distribution_has_it(n_draws, off):
    x = np.linspace(0.2, 2.8, 60)
    truth = np.array([brentq(lambda sigma, at=at: share_kept(at, 0, 3, sigma) - 0.5, 0.05, 20) for at in x])
    found = looked_for(between(0.0, 3.0), torch.as_tensor(x, dtype=torch.float32)[:, None], n_draws=n_draws)
    assert np.median(np.abs(found.value / truth - 1)) <= off
    held = (found.lower <= truth) & (truth <= found.upper)
    assert held.sum() >= binom.ppf(0.001, 60, 0.93)


@pytest.mark.parametrize("seed", range(8))
def test_of_two_classes_noise_never_takes_more_than_half(seed):
    """Of the copies 69 and 98 in 100 stay at the largest sigma: sigma-50 lies beyond, however the draws fall."""
    found = looked_for(lambda x: torch.cat([x, -x], dim=1), torch.tensor([[0.5], [2.0]]), high=1.0, seed=seed)
    assert np.isinf(found.value).all()
    assert np.isinf(found.upper).all()
    assert found.lower[1] > 0.8


def test_what_comes_back_with_more_noise_is_found_where_it_first_goes():
    """Class 1 in a band of distances alone: of the centre's copies more than half are there, and then ever fewer."""

    def logits(x):
        away = x.norm(dim=1) / x.shape[1] ** 0.5
        return torch.stack([torch.full((len(x),), 0.5), ((away > 1) & (away < 3)).float()], dim=1)

    found = looked_for(logits, torch.zeros(4, 50), low=0.1, high=10.0)
    assert found.value == pytest.approx(np.full(4, 1.0), rel=0.05)


def test_the_same_generator_gives_the_same_answer_and_batches_do_not_matter():
    logits, x = between(0.0, 3.0), torch.tensor([[1.0], [2.0], [2.5]])
    one, again = (looked_for(logits, x, seed=3) for _ in range(2))
    assert one.value.tolist() == again.value.tolist()
    other = NoisyInputs(logits, x, Noise(1.0), torch.Generator().manual_seed(3), batch_size=7)
    batched = half_sigma(other, np.ones(3, dtype=np.int64), low=0.05, high=20.0)
    assert batched.value == pytest.approx(one.value, rel=0.2)


@pytest.mark.parametrize(
    ("given", "words"), [({"n_draws": 100}, "multiple of 48"), ({"low": 2.0, "high": 1.0}, "rise")]
)
def test_what_cannot_be_looked_for_is_refused(given, words):
    with pytest.raises(ModelError, match=words):
        looked_for(between(0.0, 3.0), torch.ones(1, 1), **given)


def test_a_median_is_infinite_where_more_than_half_hold_and_its_interval_covers():
    assert np.isinf(median_of(np.r_[np.ones(4), np.full(6, np.inf)]).value)
    assert not median_of(np.ones(5)).interval.known
    rng = np.random.default_rng(0)
    held = [median_of(rng.exponential(size=30)).interval.holds(np.log(2)) for _ in range(2000)]
    assert 0.95 <= np.mean(held) <= 0.99
