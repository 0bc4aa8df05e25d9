"""How do the logits change with the input? Logits, and the products of their gradients, chunk of samples by chunk.

Only the C x C products (the Gram matrix) of a sample's gradients are kept: with them every margin's variance and every
pair's covariance follow, and memory grows neither with the samples nor with the pairs of classes.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float, Integer

from touchstone.core.evaluate.average_case.noise import Noise
from touchstone.core.evaluate.average_case.shared import Shared
from touchstone.core.models.errors import ModelError

if TYPE_CHECKING:
    import torch

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
    import torch

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
        import torch

        return torch.randint(2**63 - 1, (n,), generator=self.generator, device=self.generator.device).tolist()

    def drawn(self, n: int, seed: int) -> "torch.Tensor":
        """Draw (n, d) vectors of noise where the samples are."""
        return self.noise.draw(n, self.x[0], self.stream(seed))

    def stream(self, seed: int) -> "torch.Generator":
        """Give a generator where the samples are."""
        import torch

        return torch.Generator(device=self.x.device).manual_seed(seed)


def inputs_of(model: Any, x: "torch.Tensor") -> "torch.Tensor":
    """Bring the inputs to where a module's parameters are, and to their type. Raises ModelError where there is none.

    Examples
    --------
    >>> import torch
    >>> inputs_of(torch.nn.Linear(2, 1), torch.zeros(1, 2, dtype=torch.float64)).dtype
    torch.float32
    """
    import torch

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
    import torch

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
    import torch

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
    left: Float[np.ndarray, " n"] | None = None

    @property
    def scaled(self) -> Float[np.ndarray, "n k"]:
        """Limits in standard deviations: z of proposition 2. Infinite where a margin does not vary."""
        deviation = np.sqrt(np.diagonal(self.cov, axis1=1, axis2=2))
        kept = np.where(self.limits < 0, -np.inf, np.inf)
        return np.where(self.fixed, kept, self.limits / np.where(self.fixed, 1.0, deviation))


def margins(
    mean: Float[np.ndarray, "n c"],
    cov: Float[np.ndarray, "n c c"],
    predicted: Integer[np.ndarray, " n"],
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


def mv_sigmoid(z: Float[np.ndarray, "n k"]) -> Float[np.ndarray, " n"]:
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
