"""What noise is added to a sample? Normal, uniform or Laplace, alike in all features or not (Han et al. 2024, lemma 2).

Noise is a vector of independent numbers of variance one, times sigma, times what it is worth in each feature: nothing
more (isotropic), a scale per feature, or the square root of a covariance, which makes features vary together.
"""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from touchstone.core.models.errors import ModelError

if TYPE_CHECKING:
    import torch

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
        import torch

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
        import torch

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
