"""Which weights that others named are those of a network here? Renamed only where the network is the same to the bit.

Two layouts that networks for images of 32 x 32 pixels are often trained in. All else that is named alike (torchvision's
stem of 7 x 7, another pooling) would be read without a word and give other logits, so it is not taken.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    State = Mapping[str, "torch.Tensor"]


@dataclass(frozen=True)
class KeyLayout:
    """How somebody names the weights of one of our networks: ours for each of theirs, or None where it is another's.

    `smallest` and `largest` are the sides of images (pixels) at which both networks pool alike.
    """

    architecture: str
    smallest: int
    largest: int
    known_by: tuple[str, ...]
    ours: Callable[[str], str | None]

    def fits(self, state: "State", input_shape: tuple[int, ...]) -> bool:
        """Whether all keys are of this layout, and the images of a size at which the networks are the same."""
        sides = input_shape[1:]
        return (
            len(input_shape) == 3
            and all(self.smallest <= side <= self.largest for side in sides)
            and all(key in state for key in self.known_by)
            and all(self.ours(key) is not None for key in state)
        )


def renamed(state: "State", input_shape: tuple[int, ...]) -> "tuple[str, dict[str, torch.Tensor]] | None":
    """The network that weights are of and the weights by our names, or None where no known layout fits.

    A convolution's bias before batch normalisation, which ours have not, moves the mean that is taken off.

    Examples
    --------
    >>> import torch
    >>> renamed({"conv1.weight": torch.zeros(64, 3, 7, 7), "fc.weight": torch.zeros(10, 512)}, (3, 32, 32)) is None
    True
    """
    plain = {key.removeprefix("module."): value for key, value in state.items()}
    layout = next((layout for layout in LAYOUTS if layout.fits(plain, input_shape)), None)
    if layout is None:
        return None
    given = {str(layout.ours(key)): value for key, value in plain.items()}
    for key in [key for key in given if _BIAS.fullmatch(key)]:
        stage, place = _BIAS.fullmatch(key).groups()  # type: ignore[union-attr]
        mean = f"{stage}.{int(place) + 1}.running_mean"
        if mean not in given:
            return None
        given[mean] = given[mean] - given.pop(key)
    return layout.architecture, given


_BIAS = re.compile(r"(trunk\.(?:convolution_\d|last_convolution))\.(\d+)\.bias of a convolution")
_STAGES = {"1": "stage_1", "2": "stage_2", "3": "stage_3", "4": "last_convolution"}
_IN_BLOCK = {"conv1": "convolutions.0", "bn1": "convolutions.1", "conv2": "convolutions.3", "bn2": "convolutions.4"}
_BLOCK = re.compile(r"layer([1-4])\.([01])\.(conv1|bn1|conv2|bn2|shortcut\.[01])\.(\w+)")


def _resnet18(key: str) -> str | None:
    """ResNet-18 with a stem of 3 x 3, parts `shortcut` and `linear` (the layout of K. Liu's networks for CIFAR)."""
    part, _, what = key.rpartition(".")
    outer = {"conv1": "trunk.stem.0", "bn1": "trunk.stem.1", "linear": "head"}
    if part in outer:
        return f"{outer[part]}.{what}"
    found = _BLOCK.fullmatch(key)
    if found is None:
        return None
    stage, block, inner, what = found.groups()
    return f"trunk.{_STAGES[stage]}.{block}.{_IN_BLOCK.get(inner, inner)}.{what}"


_CONVOLUTIONS = (2, 2, 4, 4, 4)


def _vgg19_places() -> dict[int, tuple[str, bool]]:
    """Our name for each place in `features` that has weights, and whether it is a convolution."""
    places, at = {}, 0
    for block, n_convolutions in enumerate(_CONVOLUTIONS):
        stage = "last_convolution" if block == len(_CONVOLUTIONS) - 1 else f"convolution_{block + 1}"
        for place in range(n_convolutions):
            places[at] = (f"trunk.{stage}.{3 * place}", True)
            places[at + 1] = (f"trunk.{stage}.{3 * place + 1}", False)
            at += 3
        at += 1  # pooling
    return places


_FEATURES = _vgg19_places()
_DENSE = {"1": "trunk.hidden_1.1", "4": "trunk.last_hidden.1", "6": "head"}


def _vgg19(key: str) -> str | None:
    """VGG-19 with batch normalisation and dense layers of 512 behind dropout (C. Fu's networks for CIFAR)."""
    first, place, what = (*key.split("."), "", "")[:3]
    if first == "classifier" and place in _DENSE and what in ("weight", "bias"):
        return f"{_DENSE[place]}.{what}"
    if first != "features" or not place.isdigit() or int(place) not in _FEATURES:
        return None
    ours, convolves = _FEATURES[int(place)]
    return f"{ours}.{what} of a convolution" if convolves and what == "bias" else f"{ours}.{what}"


LAYOUTS = (
    KeyLayout("resnet18", 25, 32, ("layer4.1.bn2.weight", "layer2.0.shortcut.1.weight", "linear.weight"), _resnet18),
    KeyLayout("vgg19", 32, 32, ("features.50.running_mean", "classifier.1.weight", "classifier.6.weight"), _vgg19),
)
