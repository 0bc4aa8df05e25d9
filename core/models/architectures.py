"""Which networks are there? Those of the papers, each built for the inputs and the number of classes at hand."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from touchstone.core.models.errors import ModelError
from touchstone.core.models.late import nn, torch

if TYPE_CHECKING:
    from touchstone.core.models.blocks import Network

_LARGEST = 10**9  # numbers in one input
Shape = tuple[int, ...]
Stages = dict[str, "nn.Module"]


@dataclass(frozen=True)
class Architecture:
    """A kind of network: `stages` builds its trunk for a shape, and says how many features come out of it.

    Called with an input shape, (channels, height, width) or (n_features,), and a number of classes, it gives the
    untrained network. `smallest` is how many pixels the shorter side of an image must have for the depth to fit;
    0 means that any input does, vectors too. `normalises` says whether it has batch normalisation.

    Examples
    --------
    >>> ARCHITECTURES["cnn_1"]((1, 8, 8), 10).layers.keys()
    odict_keys(['last convolution', 'last hidden'])
    """

    name: str
    smallest: int
    stages: Callable[[Shape], tuple[Stages, int]]
    normalises: bool = False

    def __call__(self, input_shape: Shape, n_classes: int) -> "Network":
        """Build the untrained network. Raises ModelError where the depth does not fit the inputs."""
        from touchstone.core.models.blocks import Network

        self.check(input_shape)
        if n_classes < 1:
            raise ModelError(f"A network needs a class to give a logit for; there are {n_classes}.")
        stages, n_features = self.stages(input_shape)
        return Network(stages, nn.Linear(n_features, n_classes), input_shape)

    def fits(self, input_shape: Shape) -> bool:
        """Whether it can be built for inputs of this shape."""
        return not self.smallest or (len(input_shape) == 3 and min(input_shape[1:]) >= self.smallest)

    def check(self, input_shape: Shape) -> None:
        """Raise ModelError, naming those that fit, where it cannot be built for inputs of this shape."""
        if len(input_shape) not in (1, 3) or min(input_shape) < 1 or math.prod(input_shape) > _LARGEST:
            raise ModelError(
                f"Inputs of shape {input_shape}. Each must be an image (channels, height, width) or a vector (d,)."
            )
        if self.fits(input_shape):
            return
        if len(input_shape) == 3:
            height, width = input_shape[1:]
            needs = f"images of at least {self.smallest} x {self.smallest} pixels, these are {height} x {width}"
        else:
            needs = f"images, for its convolutions; these inputs are vectors of {input_shape[0]} numbers"
        fitting = ", ".join(other.name for other in ARCHITECTURES.values() if other.fits(input_shape))
        raise ModelError(f"{self.name} needs {needs}. Those that fit: {fitting}.")


def build(name: str, input_shape: Shape, n_classes: int, *, seed: int) -> "Network":
    """Make an untrained network with random weights; torch's own random state stays as it was.

    Examples
    --------
    >>> sum(parameter.numel() for parameter in build("linear", (64,), 10, seed=0).parameters())
    650
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return architecture(name)(input_shape, n_classes)


def architecture(name: str) -> Architecture:
    """Give an architecture by its name. Raises ModelError for a name that there is not.

    Examples
    --------
    >>> architecture("vgg19").smallest
    17
    """
    if name not in ARCHITECTURES:
        raise ModelError(f"There is no architecture {name!r}. It must be one of {', '.join(ARCHITECTURES)}.")
    return ARCHITECTURES[name]


def _linear(shape: Shape) -> tuple[Stages, int]:
    return {"flatten": nn.Flatten()}, math.prod(shape)


def _mlp_2048(shape: Shape) -> tuple[Stages, int]:
    """Kilinc & Uysal 2018, section 5.1: three dense layers of 2048, half dropped out, incoming weights at most 2."""
    from touchstone.core.models.blocks import MaxNormLinear

    stages: Stages = {"flatten": nn.Flatten()}
    n_inputs = math.prod(shape)
    for name in ("hidden_1", "hidden_2", "last_hidden"):
        stages[name] = nn.Sequential(MaxNormLinear(n_inputs, 2048, max_norm=2.0), nn.ReLU(), nn.Dropout(0.5))
        n_inputs = 2048
    return stages, 2048


def _cnn(n_blocks: int) -> Callable[[Shape], tuple[Stages, int]]:
    """CNN-1 to CNN-3 of Kilinc & Uysal 2018, section 5.1: pairs of convolutions, then a dense layer of 2048."""

    def stages(shape: Shape) -> tuple[Stages, int]:
        n_in, height, width = shape
        made: Stages = {}
        for block in range(n_blocks):
            n_out = 32 * 2**block
            last = block == n_blocks - 1
            made["last_convolution" if last else f"convolution_{block + 1}"] = nn.Sequential(
                *(nn.Conv2d(n_in, n_out, 3, padding=1), nn.ReLU()),
                *(nn.Conv2d(n_out, n_out, 3, padding=1), nn.ReLU()),
                *(nn.MaxPool2d(2), nn.Dropout(0.25)),
            )
            n_in, height, width = n_out, height // 2, width // 2
        made["last_hidden"] = _dense(n_in * height * width, 2048, dropout=0.5)
        return made, 2048

    return stages


def _lenet(shape: Shape) -> tuple[Stages, int]:
    """LeCun et al. 1998: two 5x5 convolutions and three dense layers. Images below 32 pixels get a margin of 2."""
    n_channels, *sides = shape
    margin = 0 if min(sides) >= 32 else 2
    height, width = (((side - 4 + 2 * margin) // 2 - 4) // 2 for side in sides)
    return {
        "convolution_1": nn.Sequential(nn.Conv2d(n_channels, 6, 5, padding=margin), nn.ReLU(), nn.MaxPool2d(2)),
        "last_convolution": nn.Sequential(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2)),
        "hidden_1": _dense(16 * height * width, 120),
        "last_hidden": _dense(120, 84),
    }, 84


def _resnet(widths: tuple[int, ...], n_blocks: int, *, projection: bool) -> Callable[[Shape], tuple[Stages, int]]:
    """He et al. 2016, with the 3x3 stem that they give networks for small images."""

    def stages(shape: Shape) -> tuple[Stages, int]:
        from touchstone.core.models.blocks import Residual, convolution

        made: Stages = {"stem": nn.Sequential(*convolution(shape[0], widths[0], stride=1), nn.ReLU())}
        n_in = widths[0]
        for stage, n_out in enumerate(widths):
            blocks = []
            for block in range(n_blocks):
                stride = 2 if stage and not block else 1
                blocks.append(Residual(n_in, n_out, stride=stride, projection=projection))
                n_in = n_out
            last = stage == len(widths) - 1
            made["last_convolution" if last else f"stage_{stage + 1}"] = nn.Sequential(*blocks)
        made["last_hidden"] = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
        return made, n_in

    return stages


def _vgg19(shape: Shape) -> tuple[Stages, int]:
    """Simonyan & Zisserman 2015, network E, with batch normalisation and dense layers of 512, as for small images.

    Pooling keeps the edge of a map of odd size: else images of 28 x 28 pixels would vanish.
    """
    from touchstone.core.models.blocks import convolution

    n_in, height, width = shape
    made: Stages = {}
    for block, (n_out, n_convolutions) in enumerate([(64, 2), (128, 2), (256, 4), (512, 4), (512, 4)]):
        parts: list[nn.Module] = []
        for _ in range(n_convolutions):
            parts += [*convolution(n_in, n_out, stride=1), nn.ReLU()]
            n_in = n_out
        name = "last_convolution" if block == 4 else f"convolution_{block + 1}"
        made[name] = nn.Sequential(*parts, nn.MaxPool2d(2, ceil_mode=True))
        height, width = (height + 1) // 2, (width + 1) // 2
    made["hidden_1"] = _dense(512 * height * width, 512, dropout=0.5)
    made["last_hidden"] = _dense(512, 512, dropout=0.5)
    return made, 512


def _dense(n_inputs: int, n_outputs: int, *, dropout: float = 0.0) -> "nn.Module":
    return nn.Sequential(nn.Flatten(), nn.Linear(n_inputs, n_outputs), nn.ReLU(), nn.Dropout(dropout))


ARCHITECTURES: dict[str, Architecture] = {
    entry.name: entry
    for entry in (
        Architecture("linear", 0, _linear),
        Architecture("mlp_2048", 0, _mlp_2048),
        Architecture("cnn_1", 2, _cnn(1)),
        Architecture("cnn_2", 4, _cnn(2)),
        Architecture("cnn_3", 8, _cnn(3)),
        Architecture("lenet", 12, _lenet),
        Architecture("resnet18", 8, _resnet((64, 128, 256, 512), 2, projection=True), normalises=True),
        Architecture("resnet20", 4, _resnet((16, 32, 64), 3, projection=False), normalises=True),
        Architecture("vgg19", 17, _vgg19, normalises=True),
    )
}
