"""What noise is added to a sample? Normal, uniform or Laplace, alike in all features or not (Han et al. 2024, lemma 2).

Noise is a vector of independent numbers of variance one, times sigma, times what it is worth in each feature: nothing
more (isotropic), a scale per feature, or the square root of a covariance, which makes features vary together.
"""

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float, Integer

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.values import Floats, Ints
from touchstone.core.models.errors import ModelError
from touchstone.core.models.late import nn, torch
from touchstone.core.parameters import About, Titles

if TYPE_CHECKING:
    Change = Callable[["torch.Tensor"], "torch.Tensor"]


NOISES = ("gaussian", "uniform", "laplace")


@dataclass(frozen=True, eq=False)
class Noise:
    """Noise of standard deviation `sigma`, in the units of the model's inputs.

    `scales` multiply sigma for each feature of a flattened input; `covariance`, of the flattened input too, multiplies
    its square. All three kinds have the same variance. Raises ModelError for what cannot be the size of any noise.

    Examples
    --------
    >>> import torch
    >>> noise = Noise(0.1, "uniform", scales=np.array([1.0, 0.0]))
    >>> drawn = noise.draw(1000, torch.zeros(2), torch.Generator().manual_seed(0))
    >>> bool(drawn[:, 0].abs().max() <= 0.1 * 3**0.5), drawn[:, 1].abs().max().item()
    (True, 0.0)
    """

    sigma: float
    kind: str = "gaussian"
    scales: Float[np.ndarray, " d"] | None = None
    covariance: Float[np.ndarray, "d d"] | None = None
    _root: Float[np.ndarray, "d d"] | None = field(init=False, repr=False, default=None)

    def __post_init__(self):
        if not (np.isfinite(self.sigma) and self.sigma > 0):
            raise ModelError(f"Noise of sigma {self.sigma:g}. It must be a number above 0, in the inputs' units.")
        if self.kind not in NOISES:
            raise ModelError(f"There is no noise {self.kind!r}. It must be one of {', '.join(NOISES)}.")
        if self.scales is not None and self.covariance is not None:
            raise ModelError("Noise has scales per feature or a covariance, not both: scales are its diagonal's roots.")
        if self.scales is not None and not (np.isfinite(self.scales).all() and (self.scales >= 0).all()):
            raise ModelError("The scales of the noise must be numbers of 0 or more, one per feature.")
        if self.covariance is not None:
            object.__setattr__(self, "_root", square_root(self.covariance))

    def at(self, sigma: float) -> "Noise":
        """The same noise at another sigma; the root of its covariance is not taken again.

        >>> Noise(0.1, "laplace").at(0.2)
        Noise(sigma=0.2, kind='laplace', scales=None, covariance=None)
        """
        other = replace(self, sigma=sigma, covariance=None)
        object.__setattr__(other, "covariance", self.covariance)
        object.__setattr__(other, "_root", self._root)
        return other

    def check(self, n_features: int) -> None:
        """Raise ModelError where scales or covariance are not for inputs of so many features."""
        for name, given in (("scales", self.scales), ("a covariance", self.covariance)):
            if given is not None and len(given) != n_features:
                raise ModelError(f"The noise has {name} for {len(given)} features, an input has {n_features}.")

    def draw(self, n: int, like: "torch.Tensor", generator: "torch.Generator") -> "torch.Tensor":
        """Draw (n, d) vectors of noise for inputs `like` this flattened one, on its device and of its type."""
        to = {"device": like.device, "dtype": like.dtype}
        shape = (n, like.numel())
        if self.kind == "gaussian":
            unit = torch.randn(shape, generator=generator, **to)
        elif self.kind == "uniform":
            unit = (2.0 * torch.rand(shape, generator=generator, **to) - 1.0) * 3**0.5
        else:
            up, down = (torch.empty(shape, **to).exponential_(generator=generator) for _ in range(2))
            unit = (up - down) / 2**0.5
        return self.spread(unit)

    def spread(self, rows: "torch.Tensor") -> "torch.Tensor":
        """Scale the last axis as noise is: unit noise becomes noise, and gradients' products become covariances."""
        if self._root is not None:
            return self.sigma * (rows @ torch.as_tensor(self._root, device=rows.device, dtype=rows.dtype))
        if self.scales is not None:
            return rows * (self.sigma * torch.as_tensor(self.scales, device=rows.device, dtype=rows.dtype))
        return self.sigma * rows


@dataclass(frozen=True, eq=False)
class CutOff:
    """A model of images whose noisy copies are cut off at black (0) and white (1), as a camera's would be.

    Every estimator then speaks of noise that is cut off; how well, the audit says. A tangent at the sample does not see
    what is cut off around it.

    Examples
    --------
    >>> import torch
    >>> from types import SimpleNamespace
    >>> CutOff(SimpleNamespace(logits=lambda x: 2 * x, has_gradients=True)).logits(torch.tensor([[-1.0, 0.5, 3.0]]))
    tensor([[0., 1., 2.]])
    """

    model: Any

    @property
    def has_gradients(self) -> bool:
        """Whether the model's logits can be followed back to its inputs."""
        return self.model.has_gradients

    def logits(self, x: "torch.Tensor") -> "torch.Tensor":
        """The model's logits of what is left of the inputs."""
        return self.model.logits(x.clamp(0.0, 1.0))


def square_root(covariance: Float[np.ndarray, "d d"]) -> Float[np.ndarray, "d d"]:
    """The symmetric root, which scales noise and gradients alike. A covariance may be singular.

    Raises ModelError for what is no covariance.

    Examples
    --------
    >>> square_root(np.diag([4.0, 0.0])).round(6).tolist()
    [[2.0, 0.0], [0.0, 0.0]]
    """
    if not np.isfinite(covariance).all() or not np.allclose(covariance, covariance.T, rtol=1e-6, atol=0.0):
        raise ModelError("The covariance of the noise must be a symmetric matrix of numbers.")
    values, vectors = np.linalg.eigh(np.asarray(covariance, dtype=np.float64))
    if values.min(initial=0.0) < -1e-8 * values.max(initial=0.0):
        raise ModelError(
            f"The covariance of the noise has the negative eigenvalue {values.min():.3g}: no noise varies like this."
        )
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T


# What do estimates of the same samples find but once, whatever their sigma? (ours)
#
# Logits without noise, and the tangents at the samples: under twice the noise they have four times the covariance. What
# rests on noisy copies is another input at every sigma and has to be found anew; but estimators that differ only in
# what they make of a mean tangent share that one.


class Shared:
    """What was found of some samples, for estimates at sigmas up to `widest`.

    Of each kind of thing the last one is kept. `clock` is in seconds and goes as if everything had been found anew, so
    that what an estimate takes by itself can be told.

    Examples
    --------
    >>> shared, made = Shared(widest=0.3), []
    >>> for key in (1, 1, 2):
    ...     _ = shared.once("thing", key, lambda: made.append(1))
    >>> len(made)
    2
    """

    def __init__(self, widest: float):
        self.widest = widest
        self._found: dict[Hashable, tuple[Hashable, Any, float]] = {}
        self._spared = 0.0

    def clock(self) -> float:
        """Seconds, those included that were spared."""
        return time.perf_counter() + self._spared

    def once(self, kind: Hashable, key: Hashable, find: Callable[[], Any]) -> Any:
        """What `find` gives, or gave when it was last asked for this kind with this key."""
        if kind in self._found and self._found[kind][0] == key:
            _, value, seconds = self._found[kind]
            self._spared += seconds
            return value
        start = self.clock()
        value = find()
        self._found[kind] = key, value, self.clock() - start
        return value


# How do the logits change with the input? Logits, and the products of their gradients, chunk of samples by chunk.
#
# Only the C x C products (the Gram matrix) of a sample's gradients are kept: with them every margin's variance and
# every pair's covariance follow, and memory grows neither with the samples nor with the pairs of classes.

MOST_NUMBERS = 2**23
"""How many numbers the gradients of a chunk of samples may have."""

Logits = Callable[["torch.Tensor"], "torch.Tensor"]


@contextmanager
def logits_of(model: Any) -> Iterator[Logits]:
    """Give the function from inputs to logits (n, n_classes), with the model ready for use as long as this lasts.

    `model` is a ``torch.nn.Module`` or has a method ``logits``. A single logit z counts as the two logits (0, z).
    Raises ModelError for a model that is neither, or that does not give logits for each input.

    Examples
    --------
    >>> import torch
    >>> with logits_of(torch.nn.Linear(2, 1)) as logits:
    ...     logits(torch.zeros(3, 2)).shape
    torch.Size([3, 2])
    """
    module = model if isinstance(model, torch.nn.Module) else None
    call = module if module is not None else getattr(model, "logits", None)
    if call is None:
        raise ModelError(f"A {type(model).__name__} is no model: it must be a torch module or have a method `logits`.")

    def logits(x: "torch.Tensor") -> "torch.Tensor":
        given = call(x)
        if given.ndim == 1 and len(given) == len(x):
            given = given[:, None]
        if given.ndim != 2 or len(given) != len(x) or given.shape[1] < 1:
            raise ModelError(f"For {len(x)} inputs the model gave {tuple(given.shape)}; it must give (n, n_classes).")
        return torch.cat([torch.zeros_like(given), given], dim=1) if given.shape[1] == 1 else given

    # Dropout is off while the model is judged; batch normalisation must not look at the other samples.
    trained = [] if module is None else [part for part in module.modules() if part.training]
    for part in trained:
        part.training = False
    try:
        yield logits
    finally:
        for part in trained:
            part.training = True


@dataclass(frozen=True, eq=False)
class NoisyInputs:
    """What every estimator gets, to say how noise changes the predictions of `logits` for the samples `x`.

    `generator` decides all noise; `batch_size` is how many inputs the model gets at once. `constant` says that logits
    without gradients mean a model that does not look at its input, and not one that cannot give them. What several
    estimates of the same samples find but once is in `shared`.
    """

    logits: Logits
    x: "torch.Tensor"
    noise: Noise
    generator: "torch.Generator"
    batch_size: int
    constant: bool = False
    shared: Shared | None = None

    @cached_property
    def clean(self) -> Float[np.ndarray, "n c"]:
        """The logits of the samples without noise, which no sigma changes."""

        def look() -> Float[np.ndarray, "n c"]:
            return clean_logits(self.logits, self.x, batch_size=self.batch_size)

        return look() if self.shared is None else self.shared.once("clean", (), look)

    def at(self, sigma: float) -> "NoisyInputs":
        """The same with noise of another sigma."""
        return replace(self, noise=self.noise.at(sigma))

    def seeds(self, n: int) -> list[int]:
        """Draw `n` seeds; what is drawn from them does not depend on what else is estimated in between."""
        return torch.randint(2**63 - 1, (n,), generator=self.generator, device=self.generator.device).tolist()

    def drawn(self, n: int, seed: int) -> "torch.Tensor":
        """Draw (n, d) vectors of noise where the samples are."""
        return self.noise.draw(n, self.x[0], self.stream(seed))

    def stream(self, seed: int) -> "torch.Generator":
        """Give a generator where the samples are."""
        return torch.Generator(device=self.x.device).manual_seed(seed)


def inputs_of(model: Any, x: "torch.Tensor") -> "torch.Tensor":
    """Bring the inputs to where a module's parameters are, and to their type. Raises ModelError where there is none.

    Examples
    --------
    >>> import torch
    >>> inputs_of(torch.nn.Linear(2, 1), torch.zeros(1, 2, dtype=torch.float64)).dtype
    torch.float32
    """
    if not len(x) or not x.is_floating_point():
        raise ModelError(f"Inputs of shape {tuple(x.shape)} and type {x.dtype}: noise is added to one or more floats.")
    parameters = model.parameters() if isinstance(model, torch.nn.Module) else ()
    first = next((parameter for parameter in parameters if parameter.is_floating_point()), None)
    return x.detach() if first is None else x.detach().to(first.device, first.dtype)


def clean_logits(logits: Logits, x: "torch.Tensor", *, batch_size: int) -> Float[np.ndarray, "n c"]:
    """Give the logits of the samples without noise.

    Examples
    --------
    >>> import torch
    >>> clean_logits(lambda x: 2 * x, torch.ones(1, 2), batch_size=10)
    array([[2., 2.]])
    """
    with torch.inference_mode():
        return np.concatenate([logits(part).double().cpu().numpy() for part in x.split(batch_size)])


def rows_at_once(x: "torch.Tensor", n_classes: int, n_copies: int, batch_size: int) -> int:
    """How many samples make a chunk, so that neither its copies nor its gradients outgrow their limits.

    Examples
    --------
    >>> import torch
    >>> rows_at_once(torch.zeros(1000, 3, 32, 32), 10, 6, 256)
    42
    """
    return max(1, min(batch_size // n_copies, MOST_NUMBERS // (n_classes * x[0].numel())))


def mean_and_jacobian(
    logits: Logits,
    x: "torch.Tensor",
    noise: "torch.Tensor",
    n_classes: int,
    *,
    batch_size: int,
    constant: bool = False,
    wanted: Integer[np.ndarray, "rows k"] | None = None,
) -> tuple["torch.Tensor", "torch.Tensor"]:
    """Mean logits (rows, C) over noisy copies, float64, and their gradients (rows, C, d) by the flattened input.

    `noise` is (rows, N, d), or (1, N, d) for the same noise at every sample. `wanted` names the classes that are
    differentiated, for each sample its own (the gradients are then (rows, k, d), in that order); None means all. Raises
    ModelError where the logits have no gradients, unless the model may be `constant`: then they are 0.

    Examples
    --------
    >>> import torch
    >>> mean, jacobian = mean_and_jacobian(lambda x: x @ torch.ones(2, 2), torch.ones(1, 2), torch.zeros(1, 1, 2), 2,
    ...     batch_size=1)
    >>> mean.tolist(), jacobian.tolist()
    ([[2.0, 2.0]], [[[1.0, 1.0], [1.0, 1.0]]])
    """
    n, n_copies = len(x), noise.shape[1]
    mean = torch.zeros((n, n_classes), dtype=torch.float64, device=x.device)
    classes = torch.arange(n_classes).expand(n, -1) if wanted is None else torch.as_tensor(wanted)
    classes, n_passes = classes.to(x.device), classes.shape[1]
    jacobian = torch.zeros((n, n_passes, x[0].numel()), dtype=x.dtype, device=x.device)
    for part in noise.split(max(1, batch_size // n), dim=1):
        # The copies share one leaf: its gradient is the sum of theirs, so that none of them is ever kept.
        leaf = x.detach().flatten(1).clone().requires_grad_(True)
        copies = (leaf[:, None] + part).flatten(0, 1).unflatten(1, x.shape[1:])
        with torch.enable_grad():
            total = logits(copies).unflatten(0, (n, -1)).sum(dim=1)
        mean += total.detach().double()
        if not total.requires_grad and not constant:
            raise ModelError(
                "This model gives logits without gradients. Take an estimator that needs none, such as Monte-Carlo."
            )
        for place in range(n_passes if total.requires_grad else 0):
            last, asked = place == n_passes - 1, total.gather(1, classes[:, place : place + 1]).sum()
            (gradient,) = torch.autograd.grad(asked, leaf, retain_graph=not last, allow_unused=True)
            if gradient is not None:
                jacobian[:, place] += gradient
    return mean / n_copies, jacobian / n_copies


def gram(jacobian: "torch.Tensor", noise: Noise) -> Float[np.ndarray, "n c c"]:
    """Covariances of the linearised logits under the noise: J S² Jᵀ, in float64, S the root of its covariance.

    Examples
    --------
    >>> import torch
    >>> gram(torch.tensor([[[1.0, 2.0], [0.0, 1.0]]]), Noise(0.5)).tolist()
    [[[1.25, 0.5], [0.5, 0.25]]]
    """
    rows = noise.spread(jacobian.double())
    return (rows @ rows.transpose(1, 2)).cpu().numpy()


# By how much does the predicted class lead each other one, and how do these margins vary together?


ROUNDING = 16.0
"""Differences below so many units in the last place are rounding: two logits that are one."""


@dataclass(frozen=True, eq=False)
class Margins:
    """Mean `limits` and covariances `cov` of the predicted class's lead over each other class.

    `fixed` margins do not vary: their variance and covariances are 0, and a limit that is rounding is 0 too. `left` is
    a bound of the chance that some class overtakes that is not among the `k`; None where all are.
    """

    limits: Float[np.ndarray, "n k"]
    cov: Float[np.ndarray, "n k k"]
    fixed: Bool[np.ndarray, "n k"]
    left: Floats | None = None

    @property
    def scaled(self) -> Float[np.ndarray, "n k"]:
        """Limits in standard deviations: z of proposition 2. Infinite where a margin does not vary."""
        deviation = np.sqrt(np.diagonal(self.cov, axis1=1, axis2=2))
        kept = np.where(self.limits < 0, -np.inf, np.inf)
        return np.where(self.fixed, kept, self.limits / np.where(self.fixed, 1.0, deviation))


def margins(
    mean: Float[np.ndarray, "n c"],
    cov: Float[np.ndarray, "n c c"],
    predicted: Ints,
    *,
    precision: float,
    noise_of_logits: bool = False,
) -> Margins:
    """Turn mean and covariance of logits into those of margins; `precision` is the machine's for the model's numbers.

    A variance |g_t - g_j|² below the rounding of |g_t|² + |g_j|² counts as none. Where covariances were taken from
    logits (`noise_of_logits`) and not from gradients, so does one below the rounding of the logits themselves.

    Examples
    --------
    >>> found = margins(np.array([[1.0, 3.0]]), np.eye(2)[None], np.array([1]), precision=1e-16)
    >>> found.limits.tolist(), found.cov.tolist()
    ([[2.0]], [[[2.0]]])
    """
    n, c = mean.shape
    rows = np.arange(n)[:, None]
    others = np.arange(c - 1) + (np.arange(c - 1) >= predicted[:, None])
    own = predicted[:, None]
    limits = mean[rows, own] - mean[rows, others]
    tt = cov[rows, own, own]
    tj = cov[rows, own, others]
    jk = cov[rows[:, :, None], others[:, :, None], others[:, None, :]]
    # Cov(z_t - z_j, z_t - z_k) = V_tt - V_tj - V_tk + V_jk (lemma 1).
    between = tt[:, :, None] - tj[:, :, None] - tj[:, None, :] + jk
    variance = np.diagonal(between, axis1=1, axis2=2)
    size = tt + np.diagonal(jk, axis1=1, axis2=2)
    unit = ROUNDING * precision * (np.abs(mean[rows, own]) + np.abs(mean[rows, others]))
    rounding = max((ROUNDING * precision) ** 2, 64 * float(np.finfo(np.float64).eps)) * size
    if noise_of_logits:
        rounding = np.maximum(rounding, unit**2)
    fixed = variance <= rounding
    limits = np.where(fixed & (np.abs(limits) <= unit), 0.0, limits)
    between = np.where(fixed[:, :, None] | fixed[:, None, :], 0.0, between)
    return Margins(limits, between, fixed)


def joined(parts: Sequence[Margins], places: Sequence[Integer[np.ndarray, " _"]]) -> Margins:
    """Put the margins of groups of samples back in the samples' order; those of fewer classes get some without limit.

    Examples
    --------
    >>> one = margins(np.array([[1.0, 3.0]]), np.eye(2)[None], np.array([1]), precision=1e-16)
    >>> two = margins(np.array([[1.0, 3.0, 4.0]]), np.eye(3)[None], np.array([2]), precision=1e-16)
    >>> joined([two, one], [np.array([1]), np.array([0])]).limits.tolist()
    [[2.0, inf], [3.0, 1.0]]
    """
    n, k = sum(map(len, places)), max(part.limits.shape[1] for part in parts)
    limits, fixed = np.full((n, k), np.inf), np.zeros((n, k), dtype=bool)
    cov = np.tile(np.eye(k), (n, 1, 1))
    for part, rows in zip(parts, places, strict=True):
        width = part.limits.shape[1]
        limits[rows, :width], fixed[rows, :width], cov[rows, :width, :width] = part.limits, part.fixed, part.cov
    return Margins(limits, cov, fixed)


def mv_sigmoid(z: Float[np.ndarray, "n k"]) -> Floats:
    """The multivariate sigmoid 1 / (1 + sum exp(-z)) of section 3.2.3, a stand-in for the normal distribution function.

    Examples
    --------
    >>> mv_sigmoid(np.array([[0.0], [np.inf]])).tolist()
    [0.5, 1.0]
    """
    from scipy.special import logsumexp

    z = np.asarray(z, dtype=np.float64)
    impossible = (z == -np.inf).any(axis=1)
    finite = np.where(impossible[:, None], 0.0, z)
    p = np.exp(-logsumexp(np.concatenate([np.zeros((len(z), 1)), -finite], axis=1), axis=1))
    return np.where(impossible, 0.0, p)


# Which kind of change breaks a class most? Noise along one named direction at a time (ours; the paper has none).
#
# Images: what making them brighter, adding contrast, blurring or shifting them would change, pixel by pixel. Tables:
# one column. Along such a line only the strength is random, so that a few equally probable strengths count the share of
# noisy copies that keep the prediction, and no luck of draws is in it.

N_STRENGTHS = 32
"""Equally probable strengths of a change, of either sign."""
MOST_COLUMNS = 64


def directions_of(x: "torch.Tensor", names: tuple[str, ...] = ()) -> "dict[str, torch.Tensor]":
    """By name, what each change does to every sample: (n, d), of the length that noise of sigma 1 has.

    `x` are images (n, channels, height, width), or rows (n, d) whose columns have these `names`: of those each
    direction is one column, as long as that column's own part of the noise. An image that a change leaves as it is
    stands still.

    Examples
    --------
    >>> import torch
    >>> found = directions_of(torch.rand((3, 1, 8, 8), generator=torch.Generator().manual_seed(0)))
    >>> list(found), found["blur"].norm(dim=1).round(decimals=3).tolist()
    (['brightness', 'contrast', 'blur', 'shift sideways', 'shift up or down'], [8.0, 8.0, 8.0])
    >>> directions_of(torch.zeros(1, 2), ("age", "height"))["height"]
    tensor([[0., 1.]])
    """
    if x.ndim == 4:
        return {name: _as_long_as_noise(change(x).flatten(1)) for name, change in IMAGE_CHANGES.items()}
    if len(names) != x.shape[1] or len(names) > MOST_COLUMNS:
        raise ModelError(f"{len(names)} names of {x.shape[1]} columns; there must be as many, {MOST_COLUMNS} at most.")
    unit = torch.eye(len(names), dtype=x.dtype, device=x.device)
    return {name: unit[place].expand(len(x), -1) for place, name in enumerate(names)}


def kept_along(inputs: NoisyInputs, predicted: Ints, directions: "dict[str, torch.Tensor]") -> Float[np.ndarray, "n k"]:
    """The share of noisy copies along each direction that keep the prediction, over `N_STRENGTHS` strengths.

    Examples
    --------
    >>> import torch
    >>> from touchstone.core.evaluate.average_case.noise import Noise
    >>> first_is_positive = lambda x: torch.stack([x[:, 0], torch.zeros(len(x))], dim=1)
    >>> inputs = NoisyInputs(first_is_positive, torch.tensor([[0.5, 0.0]]), Noise(0.5), torch.Generator(), batch_size=8)
    >>> kept_along(inputs, np.array([0]), directions_of(inputs.x, ("a", "b"))).tolist()  # Phi(1) is .841
    [[0.84375, 1.0]]
    """
    strengths = torch.as_tensor(quantiles(inputs.noise.kind, N_STRENGTHS), dtype=inputs.x.dtype, device=inputs.x.device)
    own = torch.as_tensor(predicted, device=inputs.x.device)
    step = max(1, inputs.batch_size // N_STRENGTHS)
    kept = np.zeros((len(inputs.x), len(directions)))
    with torch.inference_mode():
        for place, direction in enumerate(directions.values()):
            along = inputs.noise.sigma * direction
            if inputs.x.ndim == 2:
                along = along * _spread_of_columns(inputs)
            for rows in torch.arange(len(inputs.x)).split(step):
                moved = inputs.x[rows].flatten(1)[:, None] + strengths[:, None] * along[rows][:, None]
                answers = inputs.logits(moved.flatten(0, 1).unflatten(1, inputs.x.shape[1:])).argmax(dim=1)
                stays = answers.unflatten(0, (len(rows), -1)) == own[rows][:, None]
                kept[rows.numpy(), place] = stays.double().mean(dim=1).cpu().numpy()
    return kept


def _spread_of_columns(inputs: NoisyInputs) -> "torch.Tensor":
    """What the noise is worth in each column alone."""
    scales, covariance = inputs.noise.scales, inputs.noise.covariance
    of_columns = np.sqrt(np.diag(covariance)) if covariance is not None else scales
    return torch.as_tensor(1.0 if of_columns is None else of_columns, dtype=inputs.x.dtype, device=inputs.x.device)


def quantiles(kind: str, n: int) -> Floats:
    """The middles of `n` equally probable parts of noise of this kind and variance one.

    Examples
    --------
    >>> quantiles("gaussian", 2).round(3).tolist(), quantiles("uniform", 2).round(3).tolist()
    ([-0.674, 0.674], [-0.866, 0.866])
    """
    from scipy.stats import laplace, norm, uniform

    made = {"gaussian": norm(), "uniform": uniform(-(3**0.5), 2 * 3**0.5), "laplace": laplace(scale=0.5**0.5)}
    return made[kind].ppf((np.arange(n) + 0.5) / n)


def covariance_of_changes(x: "torch.Tensor") -> Float[np.ndarray, "d d"]:
    """How pixels vary together under all these changes of these images, each as frequent as the others.

    The variance of a pixel is 1 on average, so that sigma means as much as it does for noise alike in all pixels.

    Examples
    --------
    >>> import torch
    >>> covariance = covariance_of_changes(torch.rand((9, 1, 8, 8), generator=torch.Generator().manual_seed(0)))
    >>> covariance.shape, round(float(np.trace(covariance)), 6)
    ((64, 64), 64.0)
    """
    total = np.zeros((x[0].numel(), x[0].numel()))
    for direction in directions_of(x).values():
        rows = direction.double().cpu().numpy()
        total += rows.T @ rows
    return total * (len(total) / np.trace(total))


def _as_long_as_noise(change: "torch.Tensor") -> "torch.Tensor":
    """Of the length that unit noise has: the root of the number of features; what is nothing stays so."""
    length = change.norm(dim=1, keepdim=True)
    return change * (change.shape[1] ** 0.5 / length.clamp_min(1e-12)) * (length > 1e-6)


def _contrast(x: "torch.Tensor") -> "torch.Tensor":
    return x - x.mean(dim=(1, 2, 3), keepdim=True)


def _blur(x: "torch.Tensor") -> "torch.Tensor":
    return nn.functional.avg_pool2d(nn.functional.pad(x, (1, 1, 1, 1), mode="replicate"), 3, stride=1) - x


def _shift(x: "torch.Tensor", dim: int) -> "torch.Tensor":
    """Half the difference between the image moved by a pixel one way and the other; its edges are repeated."""
    wide = nn.functional.pad(x, (1, 1, 0, 0) if dim == 3 else (0, 0, 1, 1), mode="replicate")
    size = x.shape[dim]
    return (wide.narrow(dim, 0, size) - wide.narrow(dim, 2, size)) / 2


IMAGE_CHANGES: "dict[str, Change]" = {
    "brightness": lambda x: x.new_ones(x.shape),
    "contrast": _contrast,
    "blur": _blur,
    "shift sideways": lambda x: _shift(x, 3),
    "shift up or down": lambda x: _shift(x, 2),
}


# What is the noise worth in each feature? Nothing more than sigma, or as much as features vary in the data.


SHAPES = {
    "isotropic": "the same in every feature",
    "per_feature": "in each feature's own spread",
    "covariance": "as the data vary",
    "repeated": "as repeats of a source vary",
    "changes": "as light, blur and shifts do",
}
"""Sigma alone; times each feature's standard deviation over the data set; or of a covariance: that of all data, of
samples around the mean of their source and class, or of small changes of images."""
MOST_COVARIED = 1024
MOST_CHANGED = 2000
"""Of so many images at most the changes are looked at."""
COVARIED = ("covariance", "repeated", "changes")


def shapes_offered(about: About) -> Titles:
    """Those that the data set has: repeats where samples have sources, changes of images.

    >>> list(shapes_offered(About(None)))
    ['isotropic', 'per_feature', 'covariance', 'repeated', 'changes']
    """
    dataset = about.dataset
    if dataset is None:
        return SHAPES
    left = ({"repeated"} if dataset.sources is None else set()) | ({"changes"} if dataset.kind != "image" else set())
    return {name: title for name, title in SHAPES.items() if name not in left}


def check_shape(shape: str, dataset: Dataset) -> None:
    """Raise DataError, with the remedy, where noise of this shape cannot be made of a data set."""
    if shape == "changes" and dataset.kind != "image":
        raise DataError(f"Only images can be blurred or shifted; {dataset.name} holds others. Choose another shape.")
    if shape == "repeated" and dataset.sources is None:
        raise DataError(f"{dataset.name} does not say which samples are of one source. Choose another shape.")
    if shape in COVARIED and dataset.kind == "image" and dataset.x[0].size > MOST_COVARIED:
        raise DataError(
            f"Noise that varies as the data do is for inputs of at most {MOST_COVARIED} features; those of "
            f"{dataset.name} have {dataset.x[0].size}. Choose another shape of the noise."
        )


def spread_of(shape: str, dataset: Dataset, inputs: "torch.Tensor") -> dict[str, np.ndarray]:
    """What the noise is worth in each feature of all `inputs` of a data set, as `estimate` takes it.

    Raises DataError for more features than a covariance may have, and where no source has two samples of a class.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models.inputs import network_inputs
    >>> wine = load_example("wine")
    >>> {name: of.shape for name, of in spread_of("covariance", wine, network_inputs(wine.x)).items()}
    {'covariance': (13, 13)}
    """
    if shape == "isotropic":
        return {}
    flat = inputs.flatten(1).double().cpu().numpy()
    if shape == "per_feature":
        return {"scales": flat.std(axis=0)}
    if flat.shape[1] > MOST_COVARIED:
        raise DataError(f"The covariance of {flat.shape[1]} features is too large; the most is {MOST_COVARIED}.")
    if shape == "changes":
        step = -(-len(inputs) // MOST_CHANGED)
        return {"covariance": covariance_of_changes(inputs[::step].double())}
    if shape == "repeated":
        return {"covariance": _within_sources(flat, dataset)}
    return {"covariance": np.atleast_2d(np.cov(flat, rowvar=False))}


def _within_sources(flat: np.ndarray, dataset: Dataset) -> np.ndarray:
    """The covariance of samples around the mean of those with their source and class."""
    if dataset.sources is None:
        raise DataError(f"{dataset.name} does not say which samples are of one source.")
    _, codes = np.unique(np.asarray(dataset.sources).astype(str), return_inverse=True)
    _, group = np.unique(np.stack([codes, dataset.y]), axis=1, return_inverse=True)
    group = group.ravel()
    n_of = np.bincount(group)
    sums = np.zeros((len(n_of), flat.shape[1]))
    np.add.at(sums, group, flat)
    off = flat - (sums / n_of[:, None])[group]
    freedom = len(flat) - len(n_of)
    if freedom < 1:
        raise DataError(f"No source of {dataset.name} has two samples of a class, so nothing is repeated.")
    return off.T @ off / freedom
