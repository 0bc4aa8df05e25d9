"""Which sources does a network find within classes? The auto-clustering output layer (Kilinc & Uysal 2017, section 2).

A classifier gets K output units for each class instead of one. Its loss knows the class only: what the K units of a
class are for, it has to find out, and a penalty on the units' activities sees to it that no two fire together and that
all fire alike often. A sample's source is the unit of its own class that fires most. Experimental: it collapses easily,
onto one unit a class, so that what it finds is checked, tried again, and given up for k-means in the end.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Integer, Shaped

from core.cluster.found import FoundSources, OnStep, unheard
from core.cluster.sources import cluster_classes, kmeans
from core.data.errors import DataError
from core.models.architectures import ARCHITECTURES, build
from core.models.classifier import ShouldStop
from core.models.errors import ModelError
from core.models.inputs import network_inputs
from core.models.threads import single_threaded
from core.models.training import best_device, one_torch_thread, predict_logits, sgd, train

if TYPE_CHECKING:
    import torch

TRUNK = "cnn_2"
LEAST_SHARE = 0.05
"""A source with a smaller share of its class means that the network has collapsed."""
PATIENCE = 10
"""So many epochs a try has until half of all units must be in use; it is given up where they are not."""
_EPSILON = 1e-7


@dataclass(frozen=True)
class AcolOptions:
    """How the network is trained: coefficients of the penalty (`acol_penalty`) and of gradient descent.

    `decay` lowers the learning rate to `learning_rate` / (1 + `decay` * updates). `per_class` asks for the penalty of
    the units of every class by themselves, averaged over classes, instead of that of all units together.
    """

    n_epochs: int = 20
    batch_size: int = 128
    learning_rate: float = 0.01
    decay: float = 1e-6
    momentum: float = 0.95
    c1: float = 1.0
    c2: float = 1.0
    c3: float = 0.0
    c4: float = 1e-6
    per_class: bool = False


LADDER = (
    AcolOptions(),
    AcolOptions(c1=0.1, batch_size=400, n_epochs=60),
    AcolOptions(c1=0.1, c2=4.0, batch_size=400, n_epochs=60),
)
"""What is tried, one after the other, each with another seed: the usual options first, then those that come nearest.

Of 50 units, on 3,000 images of MNIST after 20 epochs, 33 hold a twentieth of their class with the usual options, 43
with the second ones and 42 with the third. On digits (8 x 8 pixels) no options were found that hold: the penalty by
class, units that all fire at first, batches of 256 to 1,800 and a stronger balance leave 11 to 24 of 50.
"""


def acol_penalty(z: "torch.Tensor", *, n_classes: int, options: AcolOptions) -> "torch.Tensor":
    """Give R(Z) of activities (n_samples, n_units), where unit k * C + c is the k-th of class c.

    With B = max(Z, 0), U = B'B, v = diag U and V = vv': affinity is the share of U that lies off its diagonal, balance
    that of V, both in units of what is largest; R = c1 * affinity + c2 * (1 - balance) + c3 * (sum U - tr U)
    + c4 * sum Z^2.

    Examples
    --------
    >>> import torch
    >>> apart = torch.eye(4)  # each of four units fires for one sample alone
    >>> bool(acol_penalty(apart, n_classes=2, options=AcolOptions()) < 1e-4)
    True
    >>> bool(acol_penalty(torch.ones(4, 4), n_classes=2, options=AcolOptions()) > 0.9)  # all fire together
    True
    """
    import torch

    if not options.per_class:
        return _penalty(z, options)
    n_units = z.shape[1]
    own = [torch.arange(label, n_units, n_classes, device=z.device) for label in range(n_classes)]
    return torch.stack([_penalty(z[:, units], options) for units in own]).mean()


def _penalty(z: "torch.Tensor", options: AcolOptions) -> "torch.Tensor":
    n = z.shape[1]
    fired = z.clamp(min=0)
    together = fired.T @ fired
    own = together.diagonal()
    trace, total = own.sum(), together.sum()
    affinity = (total - trace) / ((n - 1) * trace + _EPSILON)
    squares = own.square().sum()
    balance = (own.sum().square() - squares) / ((n - 1) * squares + _EPSILON)
    shared = options.c1 * affinity + options.c2 * (1 - balance)
    return shared + options.c3 * (total - trace) + options.c4 * z.square().sum()


def pooled_log_probabilities(z: "torch.Tensor", n_classes: int) -> "torch.Tensor":
    """Give the logarithms of class probabilities (n_samples, n_classes): the softmax over all units, summed by class.

    Examples
    --------
    >>> import torch
    >>> pooled_log_probabilities(torch.zeros(1, 6), 2).exp()
    tensor([[0.5000, 0.5000]])
    """
    return z.log_softmax(dim=1).reshape(len(z), -1, n_classes).logsumexp(dim=1)


def acol_loss(z: "torch.Tensor", y: "torch.Tensor", *, n_classes: int, options: AcolOptions) -> "torch.Tensor":
    """Give the cross-entropy of the pooled probabilities plus the penalty.

    Examples
    --------
    >>> import torch
    >>> z = torch.tensor([[9.0, 0.0, 0.0, 0.0], [0.0, 9.0, 0.0, 0.0]])
    >>> right, wrong = (acol_loss(z, torch.tensor(y), n_classes=2, options=AcolOptions()) for y in ([0, 1], [1, 0]))
    >>> bool(right < wrong)
    True
    """
    import torch

    fit = torch.nn.functional.nll_loss(pooled_log_probabilities(z, n_classes), y)
    return fit + acol_penalty(z, n_classes=n_classes, options=options)


def shares(
    sources: Integer[np.ndarray, " n_samples"], y: Integer[np.ndarray, " n_samples"], *, n_sources: int
) -> Float[np.ndarray, "n_classes n_sources"]:
    """Give the shares that sources have of their class, the largest first, 0 for one that has no sample.

    Examples
    --------
    >>> shares(np.array([0, 1, 1, 1, 2]), np.array([0, 0, 0, 0, 1]), n_sources=2)
    array([[0.75, 0.25],
           [1.  , 0.  ]])
    """
    counts = [np.unique(sources[y == label], return_counts=True)[1] for label in np.unique(y)]
    return np.array(
        [np.pad(np.sort(counted)[::-1], (0, n_sources - len(counted))) / counted.sum() for counted in counts]
    )


def has_collapsed(
    sources: Integer[np.ndarray, " n_samples"], y: Integer[np.ndarray, " n_samples"], *, n_sources: int
) -> bool:
    """Whether a source holds less than a twentieth of its class, or nothing at all.

    Examples
    --------
    >>> y = np.zeros(40, dtype=int)
    >>> has_collapsed(np.arange(40) % 2, y, n_sources=2), has_collapsed((np.arange(40) == 0) * 1, y, n_sources=2)
    (False, True)
    """
    return bool((shares(sources, y, n_sources=n_sources) < LEAST_SHARE).any())


def acol_sources(
    x: Shaped[np.ndarray, "n_samples ..."],
    y: Integer[np.ndarray, " n_samples"],
    *,
    n_sources: int = 5,
    seed: int = 0,
    ladder: tuple[AcolOptions, ...] = LADDER,
    on_step: OnStep = unheard,
    should_stop: ShouldStop | None = None,
    class_names: Sequence[str] | None = None,
) -> FoundSources:
    """Train on images in [0, 1] and their classes until a network has not collapsed, else fall back on k-means.

    A training that diverges has failed, too. `class_names` are for errors; `on_step` hears of the epochs of all tries
    together. Raises DataError for inputs that are no images or too small, and Cancelled between epochs.
    """
    if x.ndim != 4 or not ARCHITECTURES[TRUNK].fits((x.shape[3], *x.shape[1:3])):
        side = ARCHITECTURES[TRUNK].smallest
        raise DataError(
            f"ACOL finds sources in images of at least {side} x {side} pixels, not in inputs of shape {x.shape[1:]}. "
            "Choose another source finder."
        )
    y_code = np.unique(y, return_inverse=True)[1]
    epochs = np.cumsum([0, *(options.n_epochs for options in ladder)]).tolist()
    for number, options in enumerate(ladder):

        def on_epoch(n_done: int, before: int = epochs[number]) -> None:
            on_step(before + n_done, epochs[-1])

        units = _units(
            x,
            y_code,
            n_sources=n_sources,
            seed=seed + number,
            options=options,
            on_epoch=on_epoch,
            should_stop=should_stop,
        )
        if units is not None and not has_collapsed(units, y_code, n_sources=n_sources):
            sources = (y_code * n_sources + units).astype(np.int64)
            return FoundSources(sources, described(options), number + 1, _which_held(number + 1, len(ladder)))
    features = np.asarray(x, dtype=np.float64).reshape(len(x), -1)
    sources = cluster_classes(
        features, y, kmeans, n_sources=n_sources, rng=np.random.default_rng(seed), class_names=class_names
    )
    tries = f"{len(ladder)} of {len(ladder)} tries"
    note = f"ACOL collapsed or diverged in {tries}: these sources are those of k-means on the pixels."
    return FoundSources(sources, "", len(ladder), note)


def described(options: AcolOptions) -> str:
    """Options of a training in a line: those that are not as usual.

    Examples
    --------
    >>> described(AcolOptions()), described(AcolOptions(c1=0.1, n_epochs=60))
    ('usual options', 'n_epochs 60, c1 0.1')
    """
    usual = AcolOptions()
    unusual = [field.name for field in fields(options) if getattr(options, field.name) != getattr(usual, field.name)]
    return ", ".join(f"{name} {getattr(options, name):g}" for name in unusual) or "usual options"


def _which_held(n_tries: int, n_options: int) -> str:
    return "" if n_tries == 1 else f"ACOL failed at first; setting {n_tries} of {n_options} worked."


class _GivenUp(Exception):
    """Too few units are in use still."""


def _units(
    x: np.ndarray,
    y: np.ndarray,
    *,
    n_sources: int,
    seed: int,
    options: AcolOptions,
    on_epoch: Callable[[int], None],
    should_stop: ShouldStop | None,
) -> Integer[np.ndarray, " n_samples"] | None:
    """Train one network; give for each sample which of the units of its class fires most, None if it failed."""
    import torch

    n_classes = int(y.max()) + 1
    with single_threaded(), one_torch_thread():
        inputs = network_inputs(x)
        network = build(TRUNK, tuple(inputs.shape[1:]), n_classes * n_sources, seed=seed)
        optimizer = sgd(network, learning_rate=options.learning_rate, momentum=options.momentum, weight_decay=0.0)
        slower = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda update: 1 / (1 + options.decay * update))
        optimizer.register_step_post_hook(lambda *_: slower.step())

        def fired_most() -> Integer[np.ndarray, " n_samples"]:
            # Unit u belongs to class u modulo the number of classes.
            z = predict_logits(network, inputs).reshape(len(x), n_sources, n_classes).numpy()
            return z[np.arange(len(x)), :, y].argmax(axis=1)

        def look(n_done: int, _n_epochs: int, _loss: float) -> None:
            on_epoch(n_done)
            if n_done == PATIENCE and (shares(fired_most(), y, n_sources=n_sources) >= LEAST_SHARE).mean() < 0.5:
                raise _GivenUp

        try:
            train(
                network,
                inputs,
                torch.tensor(y, dtype=torch.int64),
                optimizer=optimizer,
                n_epochs=options.n_epochs,
                batch_size=options.batch_size,
                generator=torch.Generator().manual_seed(seed),
                loss=lambda network, x, y: acol_loss(network(x), y, n_classes=n_classes, options=options),
                device=best_device(),
                on_epoch=look,
                should_stop=should_stop,
            )
        except (_GivenUp, ModelError):
            return None
        return fired_most()
