"""How probable is it that no coordinate of a normal vector exceeds its limit? (Han et al. 2024, proposition 1)

The analytic estimators of average-case robustness end in this question, once per sample. Each vector gets the cheapest
answer that is good enough: closed forms, Fréchet's bounds, bounds from pairs of coordinates, and then Genz's integral
by randomised quasi-Monte Carlo, with as many points as the wanted tolerance needs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float, Integer

from touchstone.core.data.values import Floats, Ints
from touchstone.core.evaluate.average_case.noise import (
    MOST_NUMBERS,
    Margins,
    NoisyInputs,
    gram,
    joined,
    margins,
    mean_and_jacobian,
    rows_at_once,
)
from touchstone.core.models.late import torch

Batch = Float[np.ndarray, " batch"]
"""A number for each vector."""
Chunks = Iterator[tuple[Integer[np.ndarray, " rows"], Margins]]
"""Samples some at a time: their predicted classes and margins."""

# Which classes can noise turn a prediction into? Only their gradients are needed (ours; the paper takes all classes).
#
# A forward pass gives all logits at once, a backward pass the gradient of one. So a few noisy copies tell how much
# every class's margin varies, and the classes that hardly ever overtake the predicted one are left without gradients.
# What they may add to the chance that the prediction changes is bounded by the sum of their own chances (Bonferroni).
#
# For MMSE that is on the safe side: the variance of a margin under normal noise is never below that of its mean tangent
# (the first term of its Hermite series). That the copies are few is allowed for by Student's distribution.

MANY_CLASSES = 20
"""With fewer classes looking for rivals costs about as much as it saves."""
N_COPIES = 32
NEARBY = 0.01
"""A tangent is looked at with noise so many times smaller, where the model hardly bends."""
ROWS_TOGETHER = 8
"""So many samples share their passes, those with about as many rivals side by side."""


@dataclass(frozen=True, eq=False)
class Rivals:
    """For each sample the classes other than the predicted one: `order` (n, C - 1), the most probable first.

    `limits` and `deviation` of their margins are in the same order; `n_needed` of them have to be differentiated.
    """

    order: Integer[np.ndarray, "n k"]
    n_needed: Ints
    limits: Float[np.ndarray, "n k"]
    deviation: Float[np.ndarray, "n k"]

    @property
    def left(self) -> Floats:
        """What the others may add, at most, to the chance that the prediction changes."""
        return self.left_at(1.0)

    def left_at(self, share: float) -> Floats:
        """The same of tangents, where the noise has so much of its sigma."""
        others = np.arange(self.order.shape[1]) >= self.n_needed[:, None]
        return np.where(others, overtakes(self.limits, share * self.deviation), 0.0).sum(axis=1)

    def groups(self, most: int) -> Iterator[tuple[Integer[np.ndarray, " _"], int]]:
        """At most `most` samples with about as many rivals, and the largest number of rivals among them."""
        by_number = np.argsort(-self.n_needed, kind="stable")
        step = max(1, min(most, ROWS_TOGETHER))
        for start in range(0, len(by_number), step):
            rows = by_number[start : start + step]
            yield rows, int(self.n_needed[rows[0]])


def find_rivals(
    inputs: NoisyInputs,
    x: "torch.Tensor",
    predicted: Ints,
    mean: Float[np.ndarray, "n c"],
    *,
    most_left: float,
    tangent: bool,
) -> Rivals:
    """Find the classes whose margins have to be differentiated, so that the rest adds at most `most_left`.

    `x` are samples of `inputs`, `predicted` their classes and `mean` their logits, of which margins are differences;
    `tangent` asks about the tangent at the sample, not about noise of a given size. The same few directions serve
    all samples, so that the answer does not depend on the batch.

    Examples
    --------
    >>> import torch
    >>> from touchstone.core.evaluate.average_case.noise import Noise
    >>> far = torch.tensor([0.0, -0.1, -9.0])
    >>> inputs = NoisyInputs(lambda x: x + far, torch.zeros(1, 3), Noise(0.1), torch.Generator(), batch_size=8)
    >>> mean = far.double().numpy()[None]
    >>> found = find_rivals(inputs, inputs.x, np.array([0]), mean, most_left=1e-4, tangent=False)
    >>> found.order.tolist(), found.n_needed.tolist(), bool(found.left[0] < 1e-4)
    ([[1, 2]], [1], True)
    """
    deviation = _deviations(inputs, x, predicted, NEARBY if tangent else 1.0)
    others = np.arange(mean.shape[1] - 1) + (np.arange(mean.shape[1] - 1) >= predicted[:, None])
    limits = np.take_along_axis(mean, predicted[:, None], axis=1) - np.take_along_axis(mean, others, axis=1)
    deviation = np.take_along_axis(deviation, others, axis=1)
    chance = overtakes(limits, deviation)
    by_chance = np.argsort(-chance, axis=1, kind="stable")
    order, limits, deviation, chance = (
        np.take_along_axis(numbers, by_chance, axis=1) for numbers in (others, limits, deviation, chance)
    )
    left = chance[:, ::-1].cumsum(axis=1)[:, ::-1]
    # One class at least, so that a model without gradients is noticed.
    n_needed = np.maximum((left > most_left).sum(axis=1), 1)
    return Rivals(order, n_needed, limits, deviation)


def overtakes(limits: Float[np.ndarray, "n k"], deviation: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "n k"]:
    """How probable it is that each margin falls below 0, its deviation known from `N_COPIES` copies only.

    A margin that does not vary does so for sure, or not at all; one that is 0 counts as one that does. Of a margin that
    is no number nothing is said: 0.

    Examples
    --------
    >>> overtakes(np.array([[4.0, 1.0, 0.0]]), np.array([[1.0, 0.0, 0.0]])).round(4).tolist()
    [[0.0002, 0.0, 1.0]]
    """
    from scipy.special import stdtr

    varies = deviation > 0
    chance = stdtr(N_COPIES - 1, -limits / np.where(varies, deviation, 1.0))
    return np.nan_to_num(np.where(varies, chance, np.where(limits > 0, 0.0, 1.0)), nan=0.0)


def _deviations(inputs: NoisyInputs, x: "torch.Tensor", predicted: Ints, size: float) -> Float[np.ndarray, "n c"]:
    """The standard deviation of every class's margin over noisy copies; of the tangent where `size` is small."""
    directions = size * inputs.noise.draw(N_COPIES, x[0], torch.Generator(device=x.device).manual_seed(N_COPIES))
    own = torch.as_tensor(predicted, device=x.device)[:, None, None]
    parts = []
    with torch.inference_mode():
        for part in directions.split(max(1, inputs.batch_size // len(x))):
            noisy = (x.flatten(1)[:, None] + part).flatten(0, 1).unflatten(1, x.shape[1:])
            out = inputs.logits(noisy).double().unflatten(0, (len(x), -1))
            parts.append(out.gather(2, own.expand(-1, len(part), 1)) - out)
    return torch.cat(parts, dim=1).std(dim=1).cpu().numpy() / size


# How probable is it that no coordinate exceeds its limit? Bounds where these are close, else quasi-Monte-Carlo.


N_REPLICATES = 12
ERRORS = 4.0
"""The reported error in standard errors of the replicates' mean. Three would be exceeded in 1.2 % at a number of points
fixed beforehand, and in about 1.7 % as points are added until the error looks small; four are in under 1 %."""
N_FIRST, N_FEW = 32, 1024
"""Most vectors are done with few points: a sequence four times as long is only made where these did not do."""
PRUNED_SHARE = 0.1
"""The part of the tolerance that may be spent on leaving out coordinates that hardly ever exceed their limits."""
NO_VARIANCE = 1e-14
"""A variance below this share of the vector's largest is rounding."""
MOST_FOR_PAIRS = 0.5
"""Where limits are broken more often than this in sum, bounds from pairs are too wide to be worth their while."""
MOST_PAIRS = 2_000_000


@dataclass(frozen=True, eq=False)
class NormalProbability:
    """Probabilities `p`, bounds of their numerical `error`, and whether that `converged` to the wanted tolerance.

    `degenerate` marks vectors of which a coordinate does not vary, or is determined by others where that was met.
    """

    p: Batch
    error: Batch
    converged: Bool[np.ndarray, " batch"]
    degenerate: Bool[np.ndarray, " batch"]


def mvn_cdf(
    z: Float[np.ndarray, "batch k"],
    cov: Float[np.ndarray, "batch k k"],
    *,
    tol: float = 1e-3,
    max_points: int = 2**14,
    seed: int = 0,
) -> NormalProbability:
    """P(X_1 <= z_1, ..., X_k <= z_k) for X normal with mean zero and covariance `cov`, for each vector of a batch.

    A coordinate without variance keeps or breaks its limit for sure; covariances may be singular, limits infinite.
    `max_points` bounds the points of each of the 12 replicates; a vector that needs more has `converged` False.
    A vector that is not numbers has p NaN. The same `seed` gives the same answer, whatever else is in the batch.

    Examples
    --------
    >>> found = mvn_cdf(np.zeros((1, 3)), np.eye(3)[None])
    >>> bool(abs(found.p[0] - 1 / 8) < 1e-3), bool(found.converged[0])
    (True, True)
    """
    from scipy.special import ndtr

    z, cov = np.asarray(z, dtype=np.float64), np.asarray(cov, dtype=np.float64)
    n, k = z.shape
    broken, error = np.zeros(n), np.zeros(n)
    unknown = np.isnan(z).any(axis=1) | ~np.isfinite(cov).all(axis=(1, 2))
    variance = np.diagonal(cov, axis1=1, axis2=2)
    fixed = ~(variance > NO_VARIANCE * variance.max(axis=1, keepdims=True, initial=0.0))
    scale = np.sqrt(np.where(fixed, 1.0, variance))
    limits = np.where(fixed, np.inf, z / scale)
    impossible = (fixed & (z < 0)).any(axis=1) | (limits == -np.inf).any(axis=1)
    exceeds = np.where(np.isfinite(limits), ndtr(-limits), 0.0)
    broken[impossible] = 1.0
    degenerate = fixed.any(axis=1) | unknown

    # Bonferroni: what is left out breaks its limit with at most the sum of its probabilities.
    order = np.argsort(exceeds, axis=1)
    ascending = np.take_along_axis(exceeds, order, axis=1)
    n_out = (np.cumsum(ascending, axis=1) <= PRUNED_SHARE * tol).sum(axis=1)
    left_out = np.where(np.arange(k) < n_out[:, None], ascending, 0.0).sum(axis=1)
    open_ = ~(impossible | unknown)
    for rows, n_kept in _groups(open_, k - n_out):
        kept = order[rows, k - n_kept :]
        b = np.take_along_axis(limits[rows], kept, axis=1)
        of_kept = scale[rows[:, None], kept]
        r = cov[rows[:, None, None], kept[:, :, None], kept[:, None, :]] / (of_kept[:, :, None] * of_kept[:, None, :])
        union, wrong, singular = _union(b, np.clip(r, -1.0, 1.0), tol - left_out[rows] / 2, max_points, seed)
        broken[rows] = np.minimum(union + left_out[rows] / 2, 1.0)
        error[rows] = wrong + left_out[rows] / 2
        degenerate[rows] |= singular
    broken[unknown], error[unknown] = np.nan, np.inf
    return NormalProbability(1.0 - broken, error, error <= tol, degenerate)


def _groups(
    open_: Bool[np.ndarray, " batch"], n_kept: Integer[np.ndarray, " batch"]
) -> Iterator[tuple[Integer[np.ndarray, " rows"], int]]:
    """Vectors with the same number of coordinates, at most so many at once that their pairs fit into MOST_PAIRS."""
    for n in np.unique(n_kept[open_]).tolist():
        rows = np.flatnonzero(open_ & (n_kept == n))
        step = max(1, MOST_PAIRS // max(1, n * n))
        yield from ((rows[at : at + step], n) for at in range(0, len(rows), step))


def _union(
    b: Float[np.ndarray, "batch m"], r: Float[np.ndarray, "batch m m"], tolerance: Batch, max_points: int, seed: int
) -> tuple[Batch, Batch, Bool[np.ndarray, " batch"]]:
    """The probability that some coordinate exceeds its limit, its error, and whether a singularity was met."""
    from scipy.special import ndtr

    n, m = b.shape
    error, singular = np.zeros(n), np.zeros(n, dtype=bool)
    if m == 0:
        return np.zeros(n), error, singular
    alone = ndtr(-b)
    if m == 1:
        return alone[:, 0], error, singular
    if m == 2:
        return alone.sum(axis=1) - bivariate_tail(b[:, 0], b[:, 1], r[:, 0, 1]), error, singular
    low, high = alone.max(axis=1), np.minimum(alone.sum(axis=1), 1.0)
    few = np.flatnonzero((high - low > 2 * tolerance) & (alone.sum(axis=1) < MOST_FOR_PAIRS))
    low[few], high[few] = bounds_from_pairs(alone[few], b[few], r[few])
    middle, error = (low + high) / 2, (high - low) / 2
    rest = np.flatnonzero(error > tolerance)
    if len(rest):
        p, wrong, rank = _integrated(b[rest], r[rest], tolerance[rest], max_points, seed)
        # The bounds hold for sure, and an estimate may stray beyond them.
        middle[rest], error[rest], singular[rest] = np.clip(p, low[rest], high[rest]), wrong, rank < m
    return middle, error, singular


def _integrated(
    b: Float[np.ndarray, "batch m"], r: Float[np.ndarray, "batch m m"], tolerance: Batch, max_points: int, seed: int
) -> tuple[Batch, Batch, Integer[np.ndarray, " batch"]]:
    """The probability that some limit is broken, its error, and the rank of the correlations, by Genz's integral."""
    from touchstone.core.evaluate.average_case.normal_kernels import integrate

    n, m = b.shape
    p, wrong, rank = np.full(n, 0.5), np.full(n, np.inf), np.zeros(n, dtype=np.int64)
    sums, done = np.zeros((n, N_REPLICATES)), np.zeros(n, dtype=np.int64)
    most, left = min(N_FEW, max_points), np.arange(n)
    while True:
        points, shifts = _points(m, most, seed)
        parts = [whole[left] for whole in (sums, done, p, wrong, rank)]
        integrate(b[left], r[left], points, shifts, tolerance[left], ERRORS, N_FIRST, *parts)
        for whole, part in zip((sums, done, p, wrong, rank), parts, strict=True):
            whole[left] = part
        left = np.flatnonzero(wrong > tolerance)
        if most == max_points or not len(left):
            return p, wrong, rank
        most = min(4 * most, max_points)


@lru_cache(maxsize=8)
def _points(
    n_dimensions: int, n_points: int, seed: int
) -> tuple[Integer[np.ndarray, "d n"], Integer[np.ndarray, "r d"]]:
    """A scrambled Sobol sequence as 32-bit integers, a row per dimension, and a random shift for each replicate."""
    from scipy.stats import qmc

    rng = np.random.default_rng([seed, n_dimensions])
    sobol = qmc.Sobol(n_dimensions, scramble=True, bits=32, rng=rng)
    points = np.multiply(sobol.random(n_points).T, 2.0**32, order="C").astype(np.uint32)
    return points, rng.integers(2**32, size=(N_REPLICATES, n_dimensions), dtype=np.uint32)


# What do pairs of coordinates tell of the probability that any of them exceeds its limit?
#
# From the single and pairwise probabilities alone the union lies between the bound of Dawson and Sankoff (1967) and
# that of Hunter (1976) and Worsley (1982); where limits are seldom broken, the two are close.


def bivariate_tail(
    h: Float[np.ndarray, "*shape"], k: Float[np.ndarray, "*shape"], rho: Float[np.ndarray, "*shape"]
) -> Float[np.ndarray, "*shape"]:
    """P(X > h, Y > k) of two standard normals with correlation `rho`, from Owen's T function (Owen 1956).

    Examples
    --------
    >>> bivariate_tail(np.array([0.0]), np.array([0.0]), np.array([0.5])).round(6)
    array([0.333333])
    """
    from scipy.special import ndtr, owens_t

    # P(X > h, Y > k) = P(X <= -h, Y <= -k); the formula is for lower limits that are not 0.
    x, y = (np.where(np.abs(limit) < 1e-300, 1e-300, -limit) for limit in (h, k))
    across = np.sqrt(np.maximum((1.0 - rho) * (1.0 + rho), 1e-300))
    with np.errstate(over="ignore"):
        to_y, to_x = (y / x - rho) / across, (x / y - rho) / across
    opposite = np.where((x < 0) != (y < 0), 0.5, 0.0)
    tail = 0.5 * (ndtr(x) + ndtr(y)) - owens_t(x, to_y) - owens_t(y, to_x) - opposite
    return np.clip(tail, 0.0, np.minimum(ndtr(x), ndtr(y)))


def bounds_from_pairs(
    alone: Float[np.ndarray, "batch m"], b: Float[np.ndarray, "batch m"], r: Float[np.ndarray, "batch m m"]
) -> tuple[Batch, Batch]:
    """Lower and upper bounds of the probability that some coordinate exceeds its limit in `b`.

    `alone` are the probabilities P(X_i > b_i), `r` the correlations.

    Examples
    --------
    >>> low, high = bounds_from_pairs(np.full((1, 3), 0.0228), np.full((1, 3), 2.0), np.eye(3)[None])
    >>> bool(low[0] <= 1 - (1 - 0.0228) ** 3 <= high[0])
    True
    """
    n, m = alone.shape
    first, second = np.triu_indices(m, 1)
    both = np.zeros((n, m, m))
    both[:, first, second] = bivariate_tail(b[:, first], b[:, second], r[:, first, second])
    both += both.transpose(0, 2, 1)
    once, twice = alone.sum(axis=1), both.sum(axis=(1, 2)) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        j = 1.0 + np.floor(np.where(once > 0, 2.0 * twice / once, 0.0))
    low = np.maximum(2.0 / (j + 1.0) * once - 2.0 / (j * (j + 1.0)) * twice, alone.max(axis=1))
    high = np.minimum(once - _heaviest_tree(both), 1.0)
    return low, np.maximum(high, low)


def _heaviest_tree(weights: Float[np.ndarray, "batch m m"]) -> Batch:
    """The weight of the heaviest spanning tree of each graph (Prim's algorithm, all graphs at once)."""
    n, m, _ = weights.shape
    all_, reach = np.arange(n), weights[:, 0].copy()
    reach[:, 0] = -1.0
    total = np.zeros(n)
    for _ in range(m - 1):
        nearest = reach.argmax(axis=1)
        total += reach[all_, nearest]
        grown = np.maximum(reach, weights[all_, nearest])
        reach = np.where(reach < 0, reach, grown)
        reach[all_, nearest] = -1.0
    return total


# Which linear model stands for the model around a sample? Its tangent, a mean tangent, or one that has its moments.


@dataclass(frozen=True, eq=False)
class _Linear:
    """The mean tangents of a chunk of samples: predicted classes, margins, and who of many classes was looked at."""

    predicted: Integer[np.ndarray, " rows"]
    margins: Margins
    rivals: Rivals | None = None

    def at(self, share: float) -> Margins:
        """The margins of the same tangents under noise of so much of its sigma."""
        left = None if self.rivals is None else self.rivals.left_at(share)
        return replace(self.margins, cov=share**2 * self.margins.cov, left=left)


def linearised(inputs: NoisyInputs, n_copies: int, antithetic: bool | None, *, most_left: float = 0.0) -> Chunks:
    """Yield, for chunks of samples, their predicted classes and the margins of the model's mean tangent.

    `antithetic` None: the tangent at the sample itself; else see `MMSE`. With `most_left` above 0 and many classes only
    the rivals of a prediction are differentiated, so that the rest adds about so much at most (`Margins.left`).
    Tangents at the samples are those of the widest noise that shares them, and rivals its rivals: with less noise there
    are fewer.

    Examples
    --------
    >>> import torch
    >>> from touchstone.core.evaluate.average_case.noise import Noise
    >>> inputs = NoisyInputs(torch.nn.Linear(2, 3), torch.zeros(5, 2), Noise(0.1), torch.Generator(), batch_size=4)
    >>> [(len(predicted), found.cov.shape) for predicted, found in linearised(inputs, 1, None)]
    [(4, (4, 2, 2)), (1, (1, 2, 2))]
    """
    shared, sigma = inputs.shared, inputs.noise.sigma
    few = most_left > 0 and inputs.clean.shape[1] >= MANY_CLASSES
    most_left = most_left if few else 0.0
    if shared is None:
        linear, share = _linear(inputs, n_copies, antithetic, most_left), 1.0
    elif antithetic is None:
        share, widest = sigma / shared.widest, inputs.at(shared.widest)
        linear = shared.once(("tangents", few), most_left, lambda: [*_linear(widest, n_copies, None, most_left)])
    else:
        share, key = 1.0, (sigma, n_copies, most_left, inputs.generator.get_state().numpy().tobytes())
        kind = "mean tangents", antithetic, few
        linear = shared.once(kind, key, lambda: [*_linear(inputs, n_copies, antithetic, most_left)])
    for chunk in linear:
        yield chunk.predicted, chunk.at(share)


def _linear(inputs: NoisyInputs, n_copies: int, antithetic: bool | None, most_left: float) -> Iterator[_Linear]:
    """Of classes below `MANY_CLASSES`, or where nothing may be left out, all are differentiated."""
    for x, clean, copies in _chunks(inputs, n_copies, antithetic, few=most_left > 0):
        predicted, n_classes = clean.argmax(axis=1), clean.shape[1]
        if most_left > 0:
            at, tangent = (clean, True) if antithetic is None else (_mean_logits(inputs, x, copies), False)
            rivals = find_rivals(inputs, x, predicted, at, most_left=most_left, tangent=tangent)
            yield _Linear(predicted, _of_rivals(inputs, x, predicted, copies, rivals), rivals)
            continue
        mean, jacobian = mean_and_jacobian(
            inputs.logits, x, copies, n_classes, batch_size=inputs.batch_size, constant=inputs.constant
        )
        precision = _precision(x)
        yield _Linear(
            predicted, margins(mean.cpu().numpy(), gram(jacobian, inputs.noise), predicted, precision=precision)
        )


def _of_rivals(
    inputs: NoisyInputs, x: "torch.Tensor", predicted: Ints, copies: "torch.Tensor", rivals: Rivals
) -> Margins:
    """The margins over each sample's rivals."""
    parts, places = [], []
    for rows, k in rivals.groups(max(1, MOST_NUMBERS // ((1 + int(rivals.n_needed.max())) * x[0].numel()))):
        at = torch.as_tensor(rows, device=x.device)
        asked = np.hstack([predicted[rows, None], rivals.order[rows, :k]])
        mean, jacobian = mean_and_jacobian(
            inputs.logits,
            x[at],
            copies if len(copies) == 1 else copies[at],
            rivals.order.shape[1] + 1,
            batch_size=inputs.batch_size,
            constant=inputs.constant,
            wanted=asked,
        )
        logits = mean.cpu().numpy()
        of_asked, own = np.take_along_axis(logits, asked, axis=1), np.zeros(len(rows), dtype=np.int64)
        moments = margins(of_asked, gram(jacobian, inputs.noise), own, precision=_precision(x))
        # What neighbours need is not counted, so that a sample's answer is its own.
        beyond = np.arange(k) >= rivals.n_needed[rows, None]
        limits = np.where(beyond, np.inf, moments.limits)
        parts.append(replace(moments, limits=limits, fixed=moments.fixed & ~beyond))
        places.append(rows)
    return joined(parts, places)


def _mean_logits(inputs: NoisyInputs, x: "torch.Tensor", copies: "torch.Tensor") -> Float[np.ndarray, "n c"]:
    """Mean logits over the noisy copies, by forward passes alone."""
    parts = []
    with torch.inference_mode():
        for part in copies.split(max(1, inputs.batch_size // len(x)), dim=1):
            noisy = (x.flatten(1)[:, None] + part).flatten(0, 1).unflatten(1, x.shape[1:])
            parts.append(inputs.logits(noisy).double().unflatten(0, (len(x), -1)).sum(dim=1))
    return (torch.stack(parts).sum(dim=0) / copies.shape[1]).cpu().numpy()


def logit_moments(inputs: NoisyInputs, n_copies: int, antithetic: bool) -> Chunks:
    """Yield the same from the mean and covariance of the noisy logits, summed up part by part around the clean ones.

    Examples
    --------
    >>> import torch
    >>> from touchstone.core.evaluate.average_case.noise import Noise
    >>> inputs = NoisyInputs(torch.nn.Linear(2, 3), torch.zeros(5, 2), Noise(0.1), torch.Generator(), batch_size=40)
    >>> [(len(predicted), found.cov.shape) for predicted, found in logit_moments(inputs, 8, True)]
    [(5, (5, 2, 2))]
    """
    for x, clean, copies in _chunks(inputs, n_copies, antithetic):
        # Sums of squares around the clean logits, not around 0: large logits that hardly vary would cancel to nothing.
        centre = torch.as_tensor(clean, device=x.device)[:, None]
        first, second = torch.zeros_like(centre[:, 0]), torch.zeros_like(centre.transpose(1, 2) * centre)
        with torch.inference_mode():
            for part in copies.split(max(1, inputs.batch_size // len(x)), dim=1):
                noisy = (x.flatten(1)[:, None] + part).flatten(0, 1).unflatten(1, x.shape[1:])
                off = inputs.logits(noisy).double().unflatten(0, (len(x), -1)) - centre
                first += off.sum(dim=1)
                second += off.transpose(1, 2) @ off
        shift = (first / n_copies).cpu().numpy()
        # Noise in pairs has mean 0 as it is, and takes no degree of freedom.
        cov = second.cpu().numpy() - n_copies * shift[:, :, None] * shift[:, None, :]
        cov /= n_copies if antithetic else n_copies - 1
        predicted = clean.argmax(axis=1)
        yield (predicted, margins(clean + shift, cov, predicted, precision=_precision(x), noise_of_logits=True))


def _chunks(
    inputs: NoisyInputs, n_copies: int, antithetic: bool | None, *, few: bool = False
) -> Iterator[tuple["torch.Tensor", Float[np.ndarray, "rows c"], "torch.Tensor"]]:
    """Chunks of samples with their clean logits and the noise of their copies, (rows or 1, n_copies, d)."""
    x = inputs.x
    n_features, clean = x[0].numel(), inputs.clean
    n_classes = clean.shape[1]
    # Where few classes are differentiated, their gradients set no limit here.
    step = rows_at_once(x, min(n_classes, MANY_CLASSES) if few else n_classes, n_copies, inputs.batch_size)
    shared = None
    if antithetic is None:
        shared = torch.zeros((1, 1, n_features), dtype=x.dtype, device=x.device)
    elif antithetic:
        half = inputs.drawn(n_copies // 2, inputs.seeds(1)[0])
        # Side by side, so that a part of the copies holds whole pairs.
        shared = torch.stack([half, -half], dim=1).reshape(1, n_copies, n_features)
    for part, logits in zip(x.split(step), np.split(clean, range(step, len(x), step)), strict=True):
        copies = shared
        if copies is None:
            copies = torch.stack([inputs.drawn(n_copies, seed) for seed in inputs.seeds(len(part))])
        yield part, logits, copies


def _precision(x: "torch.Tensor") -> float:
    return float(torch.finfo(x.dtype).eps)
