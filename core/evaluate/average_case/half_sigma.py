"""How much noise does it take until a prediction is as often another one? (ours: sigma-50, by counting alone)

Nobody knows beforehand which sigma matters. Sigma-50 of a sample is the smallest sigma at which at most half of its
noisy copies keep the prediction. A coarse sweep finds where that is, and three more rounds draw around what is known by
then; every copy has noise of its own. Near the crossing the share that stays is taken for a logistic function of the
logarithm of sigma: what is told is the median of sigma-50 given the counts there, and where most of its weight lies.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Integer

from touchstone.core.evaluate.average_case.gradients import NoisyInputs
from touchstone.core.models.errors import ModelError

N_COARSE = 12
OFFSETS = (
    (-0.25, -0.08, 0.08, 0.25),
    (-0.20, -0.07, 0.07, 0.20),
    (-0.12, -0.04, 0.04, 0.12),
)
"""Where the three rounds draw: so far from what is known of the logarithm of sigma-50."""
DRAWS_STEP = N_COARSE * 4
"""Draws come in multiples of this: a quarter for the sweep, and a quarter for each round."""
NEAR = 0.35
"""Counts at most so far away, in the logarithm of sigma, say where the crossing is."""
SLOPES, TYPICAL_SLOPE, SPREAD_OF_SLOPES = np.geomspace(0.7, 12.0, 16), 3.0, 0.6
"""The logistic function's slopes, and which of them are likely before anything is counted (log-normal)."""
WEIGHT = 0.97
"""How much weight the interval holds. The function is not quite logistic: so much held the truth in 95 of 100."""
BEYOND = 1.5
"""Sigma-50 may lie so many times beyond the range that was drawn from; it is then said to lie beyond it."""


LOOKED_BEYOND = 4.0


def looked_through(sigmas: Sequence[float]) -> tuple[float, float]:
    """Between which sigmas sigma-50 is looked for: a quarter of the least of those of a plan, four times the largest.

    >>> looked_through((0.1, 0.2))
    (0.025, 0.8)
    """
    return sigmas[0] / LOOKED_BEYOND, LOOKED_BEYOND * sigmas[-1]


@dataclass(frozen=True, eq=False)
class HalfSigma:
    """Sigma-50 of each sample with its 95 % interval over draws; infinite beyond the largest sigma that was drawn from.

    `n_draws` is how many copies of each sample were looked at.
    """

    value: Float[np.ndarray, " n"]
    lower: Float[np.ndarray, " n"]
    upper: Float[np.ndarray, " n"]
    n_draws: int


def half_sigma(
    inputs: NoisyInputs, predicted: Integer[np.ndarray, " n"], *, low: float, high: float, n_draws: int = 384
) -> HalfSigma:
    """Find sigma-50 of every sample between `low` and `high`, in multiples of the noise of `inputs`.

    `predicted` are the predictions without noise. `n_draws` copies of each sample are looked at, a multiple of 48; the
    model gets forward passes only.

    Examples
    --------
    >>> import torch
    >>> from touchstone.core.evaluate.average_case.noise import Noise
    >>> def logits(x):  # class 1 beyond a distance of 1: half of the copies of 0 are there at sigma = 1.4826
    ...     return torch.stack([torch.ones(len(x)), x.abs()[:, 0]], dim=1)
    >>> inputs = NoisyInputs(logits, torch.zeros(1, 1), Noise(1.0), torch.Generator().manual_seed(0), batch_size=256)
    >>> found = half_sigma(inputs, np.array([0]), low=0.1, high=10.0)
    >>> bool(found.lower[0] < 1.4826 < found.upper[0])
    True
    """
    if not 0 < low < high:
        raise ModelError(f"Sigma-50 is looked for between two numbers above 0 that rise, not {low:g} and {high:g}.")
    if n_draws < DRAWS_STEP or n_draws % DRAWS_STEP:
        raise ModelError(f"Sigma-50 takes a multiple of {DRAWS_STEP} draws, not {n_draws}.")
    seen = _Seen(inputs, predicted)
    coarse = np.log(np.geomspace(low, high, N_COARSE))
    seen.draw(np.tile(coarse, (len(predicted), 1)), n_draws // 4 // N_COARSE)
    places = np.linspace(np.log(low / BEYOND), np.log(high * BEYOND), 400)
    middle, weights = _first_below(seen, coarse), np.zeros((len(predicted), len(places)))
    for offsets in OFFSETS:
        around = np.clip(middle[:, None] + np.array(offsets), coarse[0], coarse[-1])
        seen.draw(around, n_draws // 4 // len(offsets))
        # Beyond the range nothing was counted: what is near to its end says how far beyond.
        weights = _weights(seen, np.clip(middle, coarse[0], coarse[-1]), places)
        middle = _quantile(weights, places, 0.5)
    ends = [_quantile(weights, places, share) for share in ((1 - WEIGHT) / 2, (1 + WEIGHT) / 2)]
    value, lower, upper = (np.where(at > coarse[-1], np.inf, np.exp(at)) for at in (middle, *ends))
    return HalfSigma(value, np.where(lower < low, 0.0, lower), upper, n_draws)


class _Seen:
    """Where each sample's copies were drawn (the logarithm of sigma), how many, and how many kept the prediction."""

    def __init__(self, inputs: NoisyInputs, predicted: Integer[np.ndarray, " n"]):
        self._inputs, self._predicted = inputs, predicted
        self._generator = inputs.stream(inputs.seeds(1)[0])
        self.at = self.n = self.kept = np.zeros((len(predicted), 0))

    def draw(self, at: Float[np.ndarray, "n m"], n_draws: int) -> None:
        """Look at so many more copies at each of these places."""
        self.at, self.kept = np.hstack([self.at, at]), np.hstack([self.kept, self._count(np.exp(at), n_draws)])
        self.n = np.hstack([self.n, np.full(at.shape, float(n_draws))])

    def _count(self, sigmas: Float[np.ndarray, "n m"], n_draws: int) -> Float[np.ndarray, "n m"]:
        """One sweep: the copies of all samples at all of their sigmas fill batches together."""
        import torch

        x, noise = self._inputs.x, self._inputs.noise
        kept = np.zeros(sigmas.size)
        scale = torch.as_tensor(sigmas.ravel(), dtype=x.dtype, device=x.device)
        same = torch.as_tensor(self._predicted, device=x.device)
        places = torch.arange(sigmas.size, device=x.device).repeat_interleave(n_draws)
        with torch.inference_mode():
            for part in places.split(self._inputs.batch_size):
                drawn, rows = noise.draw(len(part), x[0], self._generator) * scale[part, None], part // sigmas.shape[1]
                stays = self._inputs.logits(x[rows] + drawn.unflatten(1, x.shape[1:])).argmax(dim=1) == same[rows]
                np.add.at(kept, part.cpu().numpy(), stays.cpu().numpy())
        return kept.reshape(sigmas.shape)


def _first_below(seen: _Seen, coarse: Float[np.ndarray, " m"]) -> Float[np.ndarray, " n"]:
    """Just before the first place of the sweep where, with its neighbours, at most half are left; else its end."""
    share = seen.kept / seen.n
    ahead, behind = np.hstack([share[:, 1:], share[:, -1:]]), np.hstack([np.ones((len(share), 1)), share[:, :-1]])
    below = (behind + 2 * share + ahead) / 4 <= 0.5
    first = coarse[below.argmax(axis=1)] - (coarse[1] - coarse[0]) / 4
    return np.where(below.any(axis=1), first, coarse[-1])


def _weights(seen: _Seen, middle: Float[np.ndarray, " n"], places: Float[np.ndarray, " m"]) -> Float[np.ndarray, "n m"]:
    """How likely each place of the crossing is, given the counts near `middle`; over the slopes that may be."""
    likely = np.tile(-0.5 * (np.log(SLOPES / TYPICAL_SLOPE) / SPREAD_OF_SLOPES) ** 2, (len(middle), len(places), 1))
    near = np.abs(seen.at - middle[:, None]) <= NEAR
    for place, n, kept in zip(seen.at.T, (seen.n * near).T, (seen.kept * near).T, strict=True):
        logit = SLOPES * (places[None, :, None] - place[:, None, None])
        stays = -np.logaddexp(0.0, -logit)
        likely += kept[:, None, None] * stays + (n - kept)[:, None, None] * (stays - logit)
    weights = np.exp(likely - likely.max(axis=(1, 2), keepdims=True)).sum(axis=2)
    return weights / weights.sum(axis=1, keepdims=True)


def _quantile(
    weights: Float[np.ndarray, "n m"], places: Float[np.ndarray, " m"], share: float
) -> Float[np.ndarray, " n"]:
    reached = np.minimum((weights.cumsum(axis=1) < share).sum(axis=1), len(places) - 1)
    return places[reached]
