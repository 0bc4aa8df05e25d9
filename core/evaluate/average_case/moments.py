"""Which linear model stands for the model around a sample? Its tangent, a mean tangent, or one that has its moments."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Integer

from core.evaluate.average_case.gradients import NoisyInputs, clean_logits, gram, mean_and_jacobian, rows_at_once
from core.evaluate.average_case.margins import Margins, margins

if TYPE_CHECKING:
    import torch


def linearised(
    inputs: NoisyInputs, n_copies: int, antithetic: bool | None
) -> Iterator[tuple[Integer[np.ndarray, " rows"], Margins]]:
    """Yield, for chunks of samples, their predicted classes and the margins of the model's mean tangent.

    `antithetic` None: the tangent at the sample itself; else see `MMSE`.

    Examples
    --------
    >>> import torch
    >>> from core.evaluate.average_case.noise import Noise
    >>> inputs = NoisyInputs(torch.nn.Linear(2, 3), torch.zeros(5, 2), Noise(0.1), torch.Generator(), batch_size=4)
    >>> [(len(predicted), found.cov.shape) for predicted, found in linearised(inputs, 1, None)]
    [(4, (4, 2, 2)), (1, (1, 2, 2))]
    """
    for x, clean, copies in _chunks(inputs, n_copies, antithetic):
        n_classes = clean.shape[1]
        mean, jacobian = mean_and_jacobian(
            inputs.logits, x, copies, n_classes, batch_size=inputs.batch_size, constant=inputs.constant
        )
        predicted = clean.argmax(axis=1)
        yield predicted, margins(mean.cpu().numpy(), gram(jacobian, inputs.noise), predicted, precision=_precision(x))


def logit_moments(
    inputs: NoisyInputs, n_copies: int, antithetic: bool
) -> Iterator[tuple[Integer[np.ndarray, " rows"], Margins]]:
    """Yield the same from the mean and covariance of the noisy logits, summed up part by part around the clean ones.

    Examples
    --------
    >>> import torch
    >>> from core.evaluate.average_case.noise import Noise
    >>> inputs = NoisyInputs(torch.nn.Linear(2, 3), torch.zeros(5, 2), Noise(0.1), torch.Generator(), batch_size=40)
    >>> [(len(predicted), found.cov.shape) for predicted, found in logit_moments(inputs, 8, True)]
    [(5, (5, 2, 2))]
    """
    import torch

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
        yield (
            predicted,
            margins(clean + shift, cov, predicted, precision=_precision(x), noise_of_logits=True),
        )


def _chunks(
    inputs: NoisyInputs, n_copies: int, antithetic: bool | None
) -> Iterator[tuple["torch.Tensor", Float[np.ndarray, "rows c"], "torch.Tensor"]]:
    """Chunks of samples with their clean logits and the noise of their copies, (rows or 1, n_copies, d)."""
    import torch

    x = inputs.x
    n_features = x[0].numel()
    n_classes = clean_logits(inputs.logits, x[:1], batch_size=1).shape[1]
    step = rows_at_once(x, n_classes, n_copies, inputs.batch_size)
    shared = None
    if antithetic is None:
        shared = torch.zeros((1, 1, n_features), dtype=x.dtype, device=x.device)
    elif antithetic:
        half = inputs.drawn(n_copies // 2, inputs.seeds(1)[0])
        # Side by side, so that a part of the copies holds whole pairs.
        shared = torch.stack([half, -half], dim=1).reshape(1, n_copies, n_features)
    for part in x.split(step):
        copies = shared
        if copies is None:
            copies = torch.stack([inputs.drawn(n_copies, seed) for seed in inputs.seeds(len(part))])
        yield part, clean_logits(inputs.logits, part, batch_size=inputs.batch_size), copies


def _precision(x: "torch.Tensor") -> float:
    import torch

    return float(torch.finfo(x.dtype).eps)
