"""Which samples and classes are fragile under noise? (Han, Srinivas & Lakkaraju 2024)"""

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from core.evaluate.average_case.estimators import (
    MMSE,
    MMSEMVS,
    GaussianLogits,
    PlainMMSE,
    ScaledMMSEMVS,
    Softmax,
    Taylor,
    TaylorMVS,
)
from core.evaluate.average_case.facts import Facts, Mark
from core.evaluate.average_case.gaussian_cdf import NormalProbability, mvn_cdf
from core.evaluate.average_case.gradients import NoisyInputs, inputs_of, logits_of
from core.evaluate.average_case.monte_carlo import MonteCarlo
from core.evaluate.average_case.noise import NOISES, Noise
from core.evaluate.average_case.results import Estimate
from core.models.errors import ModelError

if TYPE_CHECKING:
    import torch

__all__ = [
    "ESTIMATORS",
    "MMSE",
    "MMSEMVS",
    "NOISES",
    "Estimate",
    "Estimator",
    "Facts",
    "GaussianLogits",
    "Mark",
    "MonteCarlo",
    "Noise",
    "NoisyInputs",
    "NormalProbability",
    "PlainMMSE",
    "ScaledMMSEMVS",
    "Softmax",
    "Taylor",
    "TaylorMVS",
    "estimate",
    "facts_of",
    "mvn_cdf",
    "offered",
]


@runtime_checkable
class Estimator(Protocol):
    """What an estimator must do: a frozen dataclass of its options that answers for all samples at once."""

    facts: ClassVar[Facts]

    def __call__(self, inputs: NoisyInputs) -> Estimate:
        """Estimate the robustness of every sample."""
        ...


ESTIMATORS: dict[str, type[Estimator]] = {
    "mmse": MMSE,
    "taylor": Taylor,
    "gaussian_logits": GaussianLogits,
    "monte_carlo": MonteCarlo,
    "softmax": Softmax,
    "mmse_plain": PlainMMSE,
    "taylor_mvs": TaylorMVS,
    "mmse_mvs": MMSEMVS,
    "mmse_scaled": ScaledMMSEMVS,
}
"""Every estimator by name, in the order of pickers and legends; what is to be known of each stands on it (`Facts`)."""


def facts_of(name: str) -> Facts:
    """What is known of an estimator; of one that rows name and the registry does not, its name and a mark.

    >>> facts_of("taylor_mvs").short, facts_of("long gone").title
    ('Taylor, sigmoid', 'long gone')
    """
    return ESTIMATORS[name].facts if name in ESTIMATORS else Facts(name, Mark(0, "star"))


def offered(*, has_gradients: bool) -> dict[str, str]:
    """The estimators that a verdict may rest on, for a model with gradients or without: names and titles.

    >>> offered(has_gradients=False)
    {'gaussian_logits': 'Normal logits (ours)', 'monte_carlo': 'Monte-Carlo'}
    """
    return {
        name: kind.facts.title
        for name, kind in ESTIMATORS.items()
        if kind.facts.offered and (has_gradients or not kind.facts.needs_gradients)
    }


def estimate(
    model: Any,
    x: "torch.Tensor",
    *,
    sigma: float,
    estimator: str | Estimator = "mmse",
    generator: "torch.Generator",
    noise: str = "gaussian",
    scales: Float[np.ndarray, " d"] | None = None,
    covariance: Float[np.ndarray, "d d"] | None = None,
    batch_size: int = 256,
) -> Estimate:
    """Estimate how often noise leaves a model's prediction as it is, for every sample of `x` (n, ...) (definition 1).

    `model` is a ``torch.nn.Module`` or has a method ``logits``; it runs where its parameters are. The noise has
    standard deviation `sigma` in the inputs' units, times `scales` per feature or the root of a `covariance`. Of the
    registered `ESTIMATORS` a name takes the default options; an instance has its own. The model gets at most
    `batch_size` inputs at once. The same generator gives the same answer, for MMSE in chunks of samples too.
    Raises ModelError where the estimator and the model, or the noise and the inputs, do not fit.

    Examples
    --------
    >>> import torch
    >>> model = torch.nn.Linear(2, 2, bias=False)
    >>> _ = model.weight.data.copy_(torch.eye(2))
    >>> x, generator = torch.tensor([[1.0, 0.0]]), torch.Generator().manual_seed(0)
    >>> estimate(model, x, sigma=1.0, estimator="taylor", generator=generator).p_robust.round(4)  # Phi(1 / sqrt(2))
    array([0.7602])
    """
    if isinstance(estimator, str):
        if estimator not in ESTIMATORS:
            raise ModelError(f"There is no estimator {estimator!r}. It must be one of {', '.join(ESTIMATORS)}.")
        estimator = ESTIMATORS[estimator]()
    gradients = getattr(model, "has_gradients", None)
    if gradients is False and (estimator.facts.needs_gradients or getattr(estimator, "control_variate", False)):
        raise ModelError(
            f"This model has no gradients, which {estimator.facts.title} needs. Those that need none: "
            f"{', '.join(name for name, kind in ESTIMATORS.items() if not kind.facts.needs_gradients)}."
        )
    x = inputs_of(model, x)
    drawn = Noise(sigma, noise, scales, covariance)
    drawn.check(x[0].numel())
    with logits_of(model) as logits:
        known = gradients is True or callable(getattr(model, "parameters", None))
        return estimator(NoisyInputs(logits, x, drawn, generator, batch_size, constant=known))
