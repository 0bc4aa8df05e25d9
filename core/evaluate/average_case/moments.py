"""Which linear model stands for the model around a sample? Its tangent, a mean tangent, or one that has its moments."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Integer

from core.evaluate.average_case.gradients import (
    MOST_NUMBERS,
    NoisyInputs,
    clean_logits,
    gram,
    mean_and_jacobian,
    rows_at_once,
)
from core.evaluate.average_case.margins import Margins, joined, margins
from core.evaluate.average_case.rivals import MANY_CLASSES, Rivals, find_rivals

if TYPE_CHECKING:
    import torch


def linearised(
    inputs: NoisyInputs, n_copies: int, antithetic: bool | None, *, most_left: float = 0.0
) -> Iterator[tuple[Integer[np.ndarray, " rows"], Margins]]:
    """Yield, for chunks of samples, their predicted classes and the margins of the model's mean tangent.

    `antithetic` None: the tangent at the sample itself; else see `MMSE`. With `most_left` above 0 and many classes only
    the rivals of a prediction are differentiated, so that the rest adds about so much at most (`Margins.left`).

    Examples
    --------
    >>> import torch
    >>> from core.evaluate.average_case.noise import Noise
    >>> inputs = NoisyInputs(torch.nn.Linear(2, 3), torch.zeros(5, 2), Noise(0.1), torch.Generator(), batch_size=4)
    >>> [(len(predicted), found.cov.shape) for predicted, found in linearised(inputs, 1, None)]
    [(4, (4, 2, 2)), (1, (1, 2, 2))]
    """
    for x, clean, copies in _chunks(inputs, n_copies, antithetic, few=most_left > 0):
        predicted, n_classes = clean.argmax(axis=1), clean.shape[1]
        if most_left > 0 and n_classes >= MANY_CLASSES:
            at, tangent = (clean, True) if antithetic is None else (_mean_logits(inputs, x, copies), False)
            rivals = find_rivals(inputs, x, predicted, at, most_left=most_left, tangent=tangent)
            yield predicted, _of_rivals(inputs, x, predicted, copies, rivals)
            continue
        mean, jacobian = mean_and_jacobian(
            inputs.logits, x, copies, n_classes, batch_size=inputs.batch_size, constant=inputs.constant
        )
        yield predicted, margins(mean.cpu().numpy(), gram(jacobian, inputs.noise), predicted, precision=_precision(x))


def _of_rivals(
    inputs: NoisyInputs,
    x: "torch.Tensor",
    predicted: Integer[np.ndarray, " n"],
    copies: "torch.Tensor",
    rivals: Rivals,
) -> Margins:
    """The margins over each sample's rivals, and what the classes that were left out may add."""
    import torch

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
        parts.append(replace(moments, limits=limits, fixed=moments.fixed & ~beyond, left=rivals.left[rows]))
        places.append(rows)
    return joined(parts, places)


def _mean_logits(inputs: NoisyInputs, x: "torch.Tensor", copies: "torch.Tensor") -> Float[np.ndarray, "n c"]:
    """Mean logits over the noisy copies, by forward passes alone."""
    import torch

    parts = []
    with torch.inference_mode():
        for part in copies.split(max(1, inputs.batch_size // len(x)), dim=1):
            noisy = (x.flatten(1)[:, None] + part).flatten(0, 1).unflatten(1, x.shape[1:])
            parts.append(inputs.logits(noisy).double().unflatten(0, (len(x), -1)).sum(dim=1))
    return (torch.stack(parts).sum(dim=0) / copies.shape[1]).cpu().numpy()


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
    inputs: NoisyInputs, n_copies: int, antithetic: bool | None, *, few: bool = False
) -> Iterator[tuple["torch.Tensor", Float[np.ndarray, "rows c"], "torch.Tensor"]]:
    """Chunks of samples with their clean logits and the noise of their copies, (rows or 1, n_copies, d)."""
    import torch

    x = inputs.x
    n_features = x[0].numel()
    n_classes = clean_logits(inputs.logits, x[:1], batch_size=1).shape[1]
    # Where few classes are differentiated, their gradients set no limit here.
    step = rows_at_once(x, min(n_classes, MANY_CLASSES) if few else n_classes, n_copies, inputs.batch_size)
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
