"""Which linear model stands for the model around a sample? Its tangent, a mean tangent, or one that has its moments."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Integer

from touchstone.core.evaluate.average_case.gradients import (
    MOST_NUMBERS,
    NoisyInputs,
    gram,
    mean_and_jacobian,
    rows_at_once,
)
from touchstone.core.evaluate.average_case.margins import Margins, joined, margins
from touchstone.core.evaluate.average_case.rivals import MANY_CLASSES, Rivals, find_rivals

if TYPE_CHECKING:
    import torch


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


def linearised(
    inputs: NoisyInputs, n_copies: int, antithetic: bool | None, *, most_left: float = 0.0
) -> Iterator[tuple[Integer[np.ndarray, " rows"], Margins]]:
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
    inputs: NoisyInputs,
    x: "torch.Tensor",
    predicted: Integer[np.ndarray, " n"],
    copies: "torch.Tensor",
    rivals: Rivals,
) -> Margins:
    """The margins over each sample's rivals."""
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
        parts.append(replace(moments, limits=limits, fixed=moments.fixed & ~beyond))
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
    >>> from touchstone.core.evaluate.average_case.noise import Noise
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
    import torch

    return float(torch.finfo(x.dtype).eps)
