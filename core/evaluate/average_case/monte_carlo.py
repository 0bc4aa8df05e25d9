"""How often does the prediction stay, in draws of noise? Counted, with an exact interval (Han et al. 2024, sec. 3.1).

To a wanted width, a pilot plans how many draws it takes, and one fresh set of draws gives the interval. Where that is
still too wide, draws are added up to a number that the pilot alone decides: either number is then independent of the
draws that are counted, so that both intervals are exact, and together they err as seldom as the level says.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Integer

from touchstone.core.data.values import Floats, Ints
from touchstone.core.evaluate.average_case.estimators import Estimate, Facts, Mark, estimate_of
from touchstone.core.evaluate.average_case.gaussian_cdf import linearised, mvn_cdf
from touchstone.core.evaluate.average_case.noise import NoisyInputs, mean_and_jacobian
from touchstone.core.evaluate.intervals import clopper_pearson
from touchstone.core.models.errors import ModelError
from touchstone.core.models.late import torch

N_PILOT = 200
LOOKS = (0.8, 0.2)
"""How the interval's chance to err is shared between the first look and the one after a top-up."""
LIKELY, CAREFUL = 0.8, 0.999
"""How sure the pilot's interval is from which the first number of draws is planned, and the one after a top-up."""
TOL_OF_CONTROL = 1e-4

Count = Callable[[int], Integer[np.ndarray, " kinds"]]


@dataclass(frozen=True)
class MonteCarlo:
    """Counts over `n_samples` noisy copies, or over as many as a `half_width` of the interval takes.

    With `control_variate` only those copies are counted on which the model and its tangent at the sample disagree; the
    tangent's own answer is known. It takes gradients and normal noise, and pays where the model is nearly linear. The
    interval has `level`, exactly or above; `max_samples` bounds the draws for one sample.
    """

    facts: ClassVar[Facts] = Facts(
        "Monte-Carlo",
        Mark("ink", "line-ns-open"),
        offered=True,
        audited=False,
        from_plan={"n_samples": "audit_draws", "half_width": "audit_half_width", "max_samples": "audit_draws"},
    )
    n_samples: int = 10_000
    half_width: float | None = None
    max_samples: int = 200_000
    control_variate: bool = False
    level: float = 0.95

    def __post_init__(self):
        if not (self.n_samples >= 1 and self.max_samples >= 1 and 0 < self.level < 1):
            raise ModelError("Monte-Carlo takes one draw or more, and a level between 0 and 1.")
        if self.half_width is not None and not 0 < self.half_width < 1:
            raise ModelError(f"A half-width of {self.half_width:g}; it must be between 0 and 1.")

    def __call__(self, inputs: NoisyInputs) -> Estimate:
        """Estimate the robustness of every sample, each from noise of its own."""
        if self.control_variate and inputs.noise.kind != "gaussian":
            raise ModelError(f"A control variate takes gaussian noise; for {inputs.noise.kind} its mean is not known.")
        clean = inputs.clean
        predicted, known = clean.argmax(axis=1), np.asarray(np.isfinite(clean).all(axis=1))
        n = len(clean)
        base, off = np.zeros(n), np.zeros(n)
        if self.control_variate:
            base, off = _tangents(inputs)
        rows = np.full((n, 4), np.nan)
        n_draws = np.zeros(n, dtype=np.int64)
        seeds, usable = inputs.seeds(n), np.flatnonzero(known & np.isfinite(base))
        for i, count in zip(usable, self._counters(inputs, usable, predicted, seeds, clean), strict=True):
            rows[i], n_draws[i] = self._interval(count, float(base[i]), float(off[i]))
        p, lower, upper, asked = rows.T
        made = estimate_of("monte_carlo", inputs, p, predicted, 0, converged=asked == 1.0, degenerate=~known, caveat="")
        return replace(made, lower=lower, upper=upper, n_draws=n_draws)

    def _counters(
        self,
        inputs: NoisyInputs,
        rows: Integer[np.ndarray, " k"],
        predicted: Ints,
        seeds: list[int],
        clean: Float[np.ndarray, "n c"],
    ) -> Iterator[Count]:
        """What counts each of these samples' copies; of a few copies, those of several samples at once."""
        if self.half_width is None and not self.control_variate and self.n_samples <= inputs.batch_size:
            for counts in _counted(inputs, rows, predicted, seeds, self.n_samples):
                yield partial(_known, counts)
            return
        for i in rows.tolist():
            tangent = _tangent(inputs, i, clean[i]) if self.control_variate else None
            yield _counter(inputs, i, int(predicted[i]), seeds[i], tangent)

    def _interval(self, count: Count, base: float, off: float) -> tuple[tuple[float, float, float, bool], int]:
        """One sample's share, its interval, whether that is as narrow as asked for, and how many draws it took."""
        alpha = 1.0 - self.level
        if self.half_width is None:
            ends = _joined(count(self.n_samples), self.n_samples, alpha, base, off)
            return (*ends, True), self.n_samples
        pilot, wanted = count(N_PILOT), self.half_width - off
        first, most = (
            draws_for(wanted, pilot, N_PILOT, alpha * share, sure=sure, most=self.max_samples)
            for share, sure in zip(LOOKS, (LIKELY, CAREFUL), strict=True)
        )
        counted, n = count(first), first
        ends = _joined(counted, n, alpha * LOOKS[0], base, off)
        if _half(ends) > self.half_width and most > first:
            counted, n = counted + count(most - first), most
            ends = _joined(counted, n, alpha * LOOKS[1], base, off)
        return (*ends, _half(ends) <= self.half_width), N_PILOT + n


def draws_for(
    half_width: float, pilot: Integer[np.ndarray, " kinds"], n_pilot: int, alpha: float, *, sure: float, most: int
) -> int:
    """Plan the least number of draws, at most `most`, whose exact interval is expected to be narrow enough.

    Expected at the share nearest to one half that the pilot's interval of level `sure` holds.

    Examples
    --------
    >>> draws_for(0.01, np.array([100]), 200, 0.05, sure=0.8, most=10**6)
    9701
    """
    shares = []
    for k in pilot.tolist():
        lower, upper = clopper_pearson(float(k), float(n_pilot), 1.0 - sure)
        shares.append(min(max(0.5, lower), upper))

    def reached(n: int) -> bool:
        ends = [clopper_pearson(share * n, float(n), alpha / len(shares)) for share in shares]
        return sum(upper - lower for lower, upper in ends) / 2 <= half_width

    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def _joined(
    counted: Integer[np.ndarray, " kinds"], n: int, alpha: float, base: float, off: float
) -> tuple[float, float, float]:
    """Share and interval from the counts: of copies that stay, or of those where only the model, only the tangent does.

    The two shares of the latter each have half the chance to err; `off` is the error of the tangent's own answer.
    """
    ends = [clopper_pearson(float(k), float(n), alpha / len(counted)) for k in counted.tolist()]
    if len(ends) == 1:
        return float(counted[0] / n), *ends[0]
    (more, most), (less, least) = ends
    # P(model stays) = P(tangent stays) + P(model stays, tangent does not) - P(tangent stays, model does not).
    p = base + float(counted[0] - counted[1]) / n
    return min(max(p, 0.0), 1.0), max(base + more - least - off, 0.0), min(base + most - less + off, 1.0)


def _half(ends: tuple[float, float, float]) -> float:
    return (ends[2] - ends[1]) / 2


def _counter(
    inputs: NoisyInputs, i: int, predicted: int, seed: int, tangent: Callable[["torch.Tensor"], "torch.Tensor"] | None
) -> Count:
    """A function that draws so many more copies of a sample and counts; no graph is kept, nor any copy."""
    x, generator = inputs.x[i], inputs.stream(seed)

    def count(n: int) -> Integer[np.ndarray, " kinds"]:
        counts = np.zeros(1 if tangent is None else 2, dtype=np.int64)
        with torch.inference_mode():
            for start in range(0, n, inputs.batch_size):
                noise = inputs.noise.draw(min(inputs.batch_size, n - start), x, generator)
                stays = inputs.logits(x + noise.unflatten(1, x.shape)).argmax(dim=1) == predicted
                if tangent is None:
                    counts += int(stays.sum())
                else:
                    on_tangent = tangent(noise).argmax(dim=1) == predicted
                    counts += [int((stays & ~on_tangent).sum()), int((on_tangent & ~stays).sum())]
        return counts

    return count


def _counted(
    inputs: NoisyInputs, rows: Integer[np.ndarray, " k"], predicted: Ints, seeds: list[int], n_samples: int
) -> Iterator[Integer[np.ndarray, "1"]]:
    """Yield how many of a few copies stay, the same that `_counter` draws: those of several samples fill a batch."""
    together, x = inputs.batch_size // n_samples, inputs.x
    for part in np.split(rows, range(together, len(rows), together)):
        with torch.inference_mode():
            noise = torch.cat([inputs.drawn(n_samples, seeds[i]) for i in part])
            copies = x[torch.as_tensor(part, device=x.device)].repeat_interleave(n_samples, dim=0)
            classes = inputs.logits(copies + noise.unflatten(1, x.shape[1:])).argmax(dim=1).cpu().numpy()
        yield from (classes.reshape(len(part), n_samples) == predicted[part, None]).sum(axis=1, keepdims=True)


def _known(counts: Integer[np.ndarray, "1"], n: int) -> Integer[np.ndarray, "1"]:
    """A `Count` of what has been counted."""
    return counts


def _tangents(inputs: NoisyInputs) -> tuple[Floats, Floats]:
    """How robust the tangents are, and the error of that."""
    parts = [mvn_cdf(tangents.limits, tangents.cov, tol=TOL_OF_CONTROL) for _, tangents in linearised(inputs, 1, None)]
    return np.concatenate([part.p for part in parts]), np.concatenate([part.error for part in parts])


def _tangent(inputs: NoisyInputs, i: int, clean: Float[np.ndarray, " c"]) -> Callable[["torch.Tensor"], "torch.Tensor"]:
    """The model's tangent at a sample: from noise (n, d) to logits (n, C)."""
    x = inputs.x[i : i + 1]
    still = torch.zeros_like(x.flatten(1))[None]
    _, jacobian = mean_and_jacobian(inputs.logits, x, still, len(clean), batch_size=1, constant=inputs.constant)
    centre = torch.as_tensor(clean, device=x.device)
    return lambda noise: centre + noise.double() @ jacobian[0].double().T


# How much noise does it take until a prediction is as often another one? (ours: sigma-50, by counting alone)


N_COARSE = 12
OFFSETS = ((-0.25, -0.08, 0.08, 0.25), (-0.20, -0.07, 0.07, 0.20), (-0.12, -0.04, 0.04, 0.12))
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

    value: Floats
    lower: Floats
    upper: Floats
    n_draws: int


def half_sigma(inputs: NoisyInputs, predicted: Ints, *, low: float, high: float, n_draws: int = 384) -> HalfSigma:
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

    def __init__(self, inputs: NoisyInputs, predicted: Ints):
        self._inputs, self._predicted = inputs, predicted
        self._generator = inputs.stream(inputs.seeds(1)[0])
        self.at = self.n = self.kept = np.zeros((len(predicted), 0))

    def draw(self, at: Float[np.ndarray, "n m"], n_draws: int) -> None:
        """Look at so many more copies at each of these places."""
        self.at, self.kept = np.hstack([self.at, at]), np.hstack([self.kept, self._count(np.exp(at), n_draws)])
        self.n = np.hstack([self.n, np.full(at.shape, float(n_draws))])

    def _count(self, sigmas: Float[np.ndarray, "n m"], n_draws: int) -> Float[np.ndarray, "n m"]:
        """One sweep: the copies of all samples at all of their sigmas fill batches together."""
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


def _first_below(seen: _Seen, coarse: Float[np.ndarray, " m"]) -> Floats:
    """Just before the first place of the sweep where, with its neighbours, at most half are left; else its end."""
    share = seen.kept / seen.n
    ahead, behind = np.hstack([share[:, 1:], share[:, -1:]]), np.hstack([np.ones((len(share), 1)), share[:, :-1]])
    below = (behind + 2 * share + ahead) / 4 <= 0.5
    first = coarse[below.argmax(axis=1)] - (coarse[1] - coarse[0]) / 4
    return np.where(below.any(axis=1), first, coarse[-1])


def _weights(seen: _Seen, middle: Floats, places: Float[np.ndarray, " m"]) -> Float[np.ndarray, "n m"]:
    """How likely each place of the crossing is, given the counts near `middle`; over the slopes that may be."""
    likely = np.tile(-0.5 * (np.log(SLOPES / TYPICAL_SLOPE) / SPREAD_OF_SLOPES) ** 2, (len(middle), len(places), 1))
    near = np.abs(seen.at - middle[:, None]) <= NEAR
    for place, n, kept in zip(seen.at.T, (seen.n * near).T, (seen.kept * near).T, strict=True):
        logit = SLOPES * (places[None, :, None] - place[:, None, None])
        stays = -np.logaddexp(0.0, -logit)
        likely += kept[:, None, None] * stays + (n - kept)[:, None, None] * (stays - logit)
    weights = np.exp(likely - likely.max(axis=(1, 2), keepdims=True)).sum(axis=2)
    return weights / weights.sum(axis=1, keepdims=True)


def _quantile(weights: Float[np.ndarray, "n m"], places: Float[np.ndarray, " m"], share: float) -> Floats:
    reached = np.minimum((weights.cumsum(axis=1) < share).sum(axis=1), len(places) - 1)
    return places[reached]
