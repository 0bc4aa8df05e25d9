"""Which classes can noise turn a prediction into? Only their gradients are needed (ours; the paper takes all classes).

A forward pass gives all logits at once, a backward pass the gradient of one. So a few noisy copies tell how much every
class's margin varies, and the classes that hardly ever overtake the predicted one are left without gradients. What
they may add to the chance that the prediction changes is bounded by the sum of their own chances (Bonferroni).

For MMSE that is on the safe side: the variance of a margin under normal noise is never below that of its mean tangent
(the first term of its Hermite series). That the copies are few is allowed for by Student's distribution.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Integer

from touchstone.core.evaluate.average_case.gradients import NoisyInputs

if TYPE_CHECKING:
    import torch

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
    n_needed: Integer[np.ndarray, " n"]
    limits: Float[np.ndarray, "n k"]
    deviation: Float[np.ndarray, "n k"]

    @property
    def left(self) -> Float[np.ndarray, " n"]:
        """What the others may add, at most, to the chance that the prediction changes."""
        return self.left_at(1.0)

    def left_at(self, share: float) -> Float[np.ndarray, " n"]:
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
    predicted: Integer[np.ndarray, " n"],
    mean: Float[np.ndarray, "n c"],
    *,
    most_left: float,
    tangent: bool,
) -> Rivals:
    """Find the classes whose margins have to be differentiated, so that the rest adds at most `most_left`.

    `x` are samples of `inputs`, `predicted` their classes and `mean` their logits, of which margins are differences;
    `tangent` asks about the tangent at the sample, and not about noise as large as it is. The same few directions serve
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


def _deviations(
    inputs: NoisyInputs, x: "torch.Tensor", predicted: Integer[np.ndarray, " n"], size: float
) -> Float[np.ndarray, "n c"]:
    """The standard deviation of every class's margin over noisy copies; of the tangent where `size` is small."""
    import torch

    directions = size * inputs.noise.draw(N_COPIES, x[0], torch.Generator(device=x.device).manual_seed(N_COPIES))
    own = torch.as_tensor(predicted, device=x.device)[:, None, None]
    parts = []
    with torch.inference_mode():
        for part in directions.split(max(1, inputs.batch_size // len(x))):
            noisy = (x.flatten(1)[:, None] + part).flatten(0, 1).unflatten(1, x.shape[1:])
            out = inputs.logits(noisy).double().unflatten(0, (len(x), -1))
            parts.append(out.gather(2, own.expand(-1, len(part), 1)) - out)
    return torch.cat(parts, dim=1).std(dim=1).cpu().numpy() / size
