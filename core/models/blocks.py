"""What are networks made of? A trunk of named stages, a head that turns the last one into logits, and their parts.

This module needs torch as soon as it is imported: import it inside functions only.
"""

from collections import OrderedDict
from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import nn

from touchstone.core.models.errors import ModelError


class Network(nn.Module):
    """A classifier of images (n, channels, height, width) or vectors (n, d), with stages that have names.

    `trunk` holds the stages one after the other, `head` is linear and gives the logits. Inputs are standardised first:
    `centre` and `spread`, per feature or per channel, are part of the network's state, so that whoever asks for its
    gradients or puts noise on its inputs does so in the inputs' own units.

    Examples
    --------
    >>> network = Network({"flatten": nn.Flatten()}, nn.Linear(4, 3), (1, 2, 2))
    >>> network(torch.zeros(5, 1, 2, 2)).shape
    torch.Size([5, 3])
    """

    centre: torch.Tensor
    spread: torch.Tensor

    def __init__(self, stages: Mapping[str, nn.Module], head: nn.Linear, input_shape: tuple[int, ...]):
        super().__init__()
        self.input_shape = input_shape
        self.trunk = nn.Sequential(OrderedDict(stages))
        self.head = head
        # Columns of a table may be huge and hardly vary, which single precision would not see.
        dtype = torch.float64 if len(input_shape) == 1 else torch.float32
        shape = (input_shape[0], *[1] * (len(input_shape) - 1))
        self.register_buffer("centre", torch.zeros(shape, dtype=dtype))
        self.register_buffer("spread", torch.ones(shape, dtype=dtype))
        for module in self.trunk.modules():
            if isinstance(module, nn.Conv2d | nn.Linear):
                # He et al. 2015: torch's own weights shrink the signal from layer to layer, and CNN-3 would not learn.
                nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, x: Float[torch.Tensor, "n ..."]) -> Float[torch.Tensor, "n n_classes"]:
        """Give the logits. Raises ModelError for inputs of another shape."""
        return self.head(self.features(x))

    def features(self, x: Float[torch.Tensor, "n ..."]) -> Float[torch.Tensor, "n n_features"]:
        """Give what the trunk makes of the inputs, which is all that the head sees."""
        if tuple(x.shape[1:]) != self.input_shape:
            given = shown(tuple(x.shape[1:]))
            raise ModelError(f"The network takes inputs of shape {shown(self.input_shape)}, these are of {given}.")
        return self.trunk(((x - self.centre) / self.spread).to(self.head.weight.dtype))

    @property
    def layers(self) -> OrderedDict[str, nn.Module]:
        """The layers that people may choose, from the input on: modules whose output (n, ...) is what they make of it.

        "last convolution" and "last hidden" are there wherever a network has them; a linear model has no layer.
        """
        stages = self.trunk.named_children()
        return OrderedDict((name.replace("_", " "), stage) for name, stage in stages if name != "flatten")


def shown(shape: tuple[int, ...]) -> str:
    """Write a shape for people.

    Examples
    --------
    >>> shown((3, 32, 32)), shown((30,))
    ('3 x 32 x 32', '30')
    """
    return " x ".join(str(size) for size in shape)


class MaxNormLinear(nn.Linear):
    """A dense layer whose units keep their incoming weights within a ball, once `constrain` was called.

    Examples
    --------
    >>> layer = MaxNormLinear(4, 3, max_norm=2.0)
    >>> _ = layer.weight.data.fill_(10.0)
    >>> layer.constrain()
    >>> layer.weight.norm(dim=1)
    tensor([2., 2., 2.], grad_fn=<LinalgVectorNormBackward0>)
    """

    def __init__(self, n_inputs: int, n_outputs: int, *, max_norm: float):
        super().__init__(n_inputs, n_outputs)
        self.max_norm = max_norm

    @torch.no_grad()
    def constrain(self) -> None:
        """Shorten the weight vectors that are too long; called after every step of training."""
        self.weight.renorm_(2, 0, self.max_norm)


class Residual(nn.Module):
    """Two 3x3 convolutions whose result is added to their input (He et al. 2016).

    Where the map is halved or the channels grow, the input reaches the sum through a 1x1 convolution, or, without
    `projection`, thinned out and with zeros for the new channels (their option A, of the networks for CIFAR).

    Examples
    --------
    >>> Residual(16, 32, stride=2, projection=False)(torch.zeros(2, 16, 8, 8)).shape
    torch.Size([2, 32, 4, 4])
    """

    def __init__(self, n_in: int, n_out: int, *, stride: int, projection: bool):
        super().__init__()
        self.convolutions = nn.Sequential(
            *convolution(n_in, n_out, stride=stride), nn.ReLU(), *convolution(n_out, n_out, stride=1)
        )
        if stride == 1 and n_in == n_out:
            self.shortcut = nn.Identity()
        elif projection:
            self.shortcut = nn.Sequential(nn.Conv2d(n_in, n_out, 1, stride, bias=False), nn.BatchNorm2d(n_out))
        else:
            self.shortcut = Thinned(stride, n_out - n_in)

    def forward(self, x: Float[torch.Tensor, "n c h w"]) -> Float[torch.Tensor, "n c2 h2 w2"]:
        """Add what the convolutions make of the input to the input."""
        return torch.relu(self.convolutions(x) + self.shortcut(x))


class Thinned(nn.Module):
    """Every `stride`-th pixel, with `n_new` channels of zeros behind.

    Examples
    --------
    >>> Thinned(2, 3)(torch.ones(1, 1, 4, 4)).sum(dim=(2, 3))
    tensor([[4., 0., 0., 0.]])
    """

    def __init__(self, stride: int, n_new: int):
        super().__init__()
        self.stride, self.n_new = stride, n_new

    def forward(self, x: Float[torch.Tensor, "n c h w"]) -> Float[torch.Tensor, "n c2 h2 w2"]:
        """Thin out, then add channels."""
        return nn.functional.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, 0, self.n_new))


def convolution(n_in: int, n_out: int, *, stride: int) -> tuple[nn.Module, nn.Module]:
    """Make a 3x3 convolution with "same" padding and the batch normalisation behind it.

    Examples
    --------
    >>> [type(part).__name__ for part in convolution(3, 16, stride=1)]
    ['Conv2d', 'BatchNorm2d']
    """
    return nn.Conv2d(n_in, n_out, 3, stride, padding=1, bias=False), nn.BatchNorm2d(n_out)
