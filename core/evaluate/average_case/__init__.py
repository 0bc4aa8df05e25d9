"""Which samples and classes are fragile under noise? (Han, Srinivas & Lakkaraju 2024)"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from touchstone.core.evaluate.average_case.estimators import (
    MMSE,
    MMSEMVS,
    Estimate,
    Facts,
    GaussianLogits,
    Mark,
    PlainMMSE,
    ScaledMMSEMVS,
    Softmax,
    Taylor,
    TaylorMVS,
)
from touchstone.core.evaluate.average_case.gaussian_cdf import NormalProbability, mvn_cdf
from touchstone.core.evaluate.average_case.monte_carlo import MonteCarlo
from touchstone.core.evaluate.average_case.noise import NOISES, Noise, NoisyInputs, Shared, inputs_of, logits_of
from touchstone.core.models.errors import ModelError
from touchstone.core.models.late import torch


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
    Raises ModelError where the estimator and the model, or the noise and the inputs, do not fit. Several at once, which
    share what does not depend on sigma: `estimates`.

    Examples
    --------
    >>> import torch
    >>> model = torch.nn.Linear(2, 2, bias=False)
    >>> _ = model.weight.data.copy_(torch.eye(2))
    >>> x, generator = torch.tensor([[1.0, 0.0]]), torch.Generator().manual_seed(0)
    >>> estimate(model, x, sigma=1.0, estimator="taylor", generator=generator).p_robust.round(4)  # Phi(1 / sqrt(2))
    array([0.7602])
    """
    asked = [(sigma, _usable(estimator, model), generator)]
    spread = {"noise": noise, "scales": scales, "covariance": covariance}
    ((answer, _),) = estimates(model, x, asked, **spread, batch_size=batch_size)
    return answer


def estimates(
    model: Any,
    x: "torch.Tensor",
    asked: Sequence[tuple[float, Estimator, "torch.Generator"]],
    *,
    noise: str = "gaussian",
    scales: Float[np.ndarray, " d"] | None = None,
    covariance: Float[np.ndarray, "d d"] | None = None,
    batch_size: int = 256,
) -> Iterator[tuple[Estimate, float]]:
    """Yield what `estimate` gives for each sigma, estimator and generator, and the seconds that it takes by itself.

    The model is asked but once for what they have in common: logits without noise, the tangents at the samples, and
    mean tangents of the same noisy copies where estimators follow one another.

    Examples
    --------
    >>> import torch
    >>> model, x = torch.nn.Linear(2, 2), torch.zeros(3, 2)
    >>> asked = [(sigma, Taylor(), torch.Generator()) for sigma in (0.1, 0.2)]
    >>> [answer.sigma for answer, seconds in estimates(model, x, asked)]
    [0.1, 0.2]
    """
    x = inputs_of(model, x)
    drawn = Noise(asked[0][0], noise, scales, covariance)
    drawn.check(x[0].numel())
    constant = getattr(model, "has_gradients", None) is True or callable(getattr(model, "parameters", None))
    shared = Shared(max(sigma for sigma, _, _ in asked))
    with logits_of(model) as logits:
        for sigma, estimator, generator in asked:
            start = shared.clock()
            inputs = NoisyInputs(logits, x, drawn.at(sigma), generator, batch_size, constant=constant)
            answer = estimator(replace(inputs, shared=shared) if len(asked) > 1 else inputs)
            yield answer, shared.clock() - start


def _usable(estimator: str | Estimator, model: Any) -> Estimator:
    """An estimator by its name; raises ModelError where there is none, or the model has not what it needs."""
    if isinstance(estimator, str):
        if estimator not in ESTIMATORS:
            raise ModelError(f"There is no estimator {estimator!r}. It must be one of {', '.join(ESTIMATORS)}.")
        estimator = ESTIMATORS[estimator]()
    blind = getattr(model, "has_gradients", None) is False
    if blind and (estimator.facts.needs_gradients or getattr(estimator, "control_variate", False)):
        raise ModelError(
            f"This model has no gradients, which {estimator.facts.title} needs. Those that need none: "
            f"{', '.join(name for name, kind in ESTIMATORS.items() if not kind.facts.needs_gradients)}."
        )
    return estimator
