"""What would an image with these features look like? A network of transposed convolutions, trained to bring them back.

Its images are what *it* makes of features, not what the layer saw: how far off it is is always stated beside them.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from touchstone.core.models.classical import ShouldStop, stop_if
from touchstone.core.models.errors import ModelError
from touchstone.core.models.late import nn, torch
from touchstone.core.models.networks import OnEpoch, adamw, best_device, one_torch_thread, read_safetensors
from touchstone.core.models.threads import single_threaded

_DESCRIPTION = "touchstone decoder"
_WIDTHS = (64, 32)  # channels of the two maps below the image
_BATCH = 512


@dataclass(frozen=True, eq=False)
class Decoder:
    """A trained decoder: from `n_features` to images of `image_shape` (height, width, channels) in [0, 1].

    `state` holds its weights, the standardisation of the features, and the mean training image.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> decoder = fit_decoder(rng.normal(size=(20, 3)), rng.random((20, 5, 6, 1)), n_epochs=1, seed=0)
    >>> decoder.decode(rng.normal(size=(2, 3))).shape
    (2, 5, 6, 1)
    >>> Decoder.from_bytes(decoder.to_bytes()).image_shape
    (5, 6, 1)
    """

    n_features: int
    image_shape: tuple[int, int, int]
    state: Mapping[str, "torch.Tensor"] = field(repr=False)

    def __post_init__(self):
        expected = _network(self.n_features, self.image_shape).state_dict() | _fixed(self.n_features, self.image_shape)
        shapes, given = ({name: value.shape for name, value in state.items()} for state in (expected, self.state))
        if given != shapes:
            raise ModelError(
                f"The weights are not those of a decoder from {self.n_features} features to images of shape "
                f"{self.image_shape}."
            )

    def decode(self, features: Float[np.ndarray, "n n_features"]) -> Float[np.ndarray, "n height width channels"]:
        """Give the image of each row. Raises ModelError for features of another length."""
        if features.ndim != 2 or features.shape[1] != self.n_features:
            raise ModelError(f"The decoder takes {self.n_features} features a sample, not shape {features.shape}.")
        network = _network(self.n_features, self.image_shape)
        network.load_state_dict({name: value for name, value in self.state.items() if name not in _FIXED})
        network.eval()
        with torch.inference_mode(), one_torch_thread():
            centred = torch.from_numpy(np.array(features, dtype=np.float32)) - self.state["centre"]
            given = centred / self.state["spread"]
            parts = [network(batch) for batch in given.split(_BATCH)]
            images = torch.cat(parts) if parts else torch.zeros(0, *_first_channels(self.image_shape))
        return np.ascontiguousarray(images.permute(0, 2, 3, 1).numpy())

    def squared_errors(
        self, features: Float[np.ndarray, "n n_features"], images: Float[np.ndarray, "n_images height width channels"]
    ) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
        """Give the mean squared error of each image's pixels, and that of showing the mean training image instead."""
        _check_images(images, len(features))
        mean = self.state["mean"].permute(1, 2, 0).numpy()
        apart = [np.square(made - images).mean(axis=(1, 2, 3)) for made in (self.decode(features), mean)]
        return apart[0].astype(np.float64), apart[1].astype(np.float64)

    def to_bytes(self) -> bytes:
        """Write it as safetensors, which cannot run code when it is read."""
        from safetensors.torch import save

        about = {"n_features": self.n_features, "image_shape": list(self.image_shape)}
        return save(
            {name: value.contiguous().clone() for name, value in self.state.items()}, {_DESCRIPTION: json.dumps(about)}
        )

    @classmethod
    def from_bytes(cls, content: bytes) -> "Decoder":
        """Read what `to_bytes` wrote. Raises ModelError for anything else."""
        state, metadata = read_safetensors(content)
        try:
            about = json.loads(metadata[_DESCRIPTION])
            height, width, channels = (int(side) for side in about["image_shape"])
            n_features = int(about["n_features"])
        except (ValueError, KeyError, TypeError) as error:
            raise ModelError(f"The file holds no decoder, or its description cannot be read ({error!r}).") from error
        return cls(n_features, (height, width, channels), state)


def fit_decoder(
    features: Float[np.ndarray, "n n_features"],
    images: Float[np.ndarray, "n_images height width channels"],
    *,
    n_epochs: int = 10,
    batch_size: int = 128,
    learning_rate: float = 0.002,
    seed: int,
    should_stop: ShouldStop | None = None,
    on_epoch: OnEpoch | None = None,
) -> Decoder:
    """Train a decoder on training features and the images they came from, for the least squared error.

    The same seed gives the same decoder on the same kind of device. Raises ModelError where features and images do not
    fit, and Cancelled before the next epoch once `should_stop()` is true.
    """
    _check_images(images, len(features))
    if len(features) == 0 or not np.isfinite(features).all():
        raise ModelError("A decoder is trained on finite features of at least one image.")
    shape = (images.shape[1], images.shape[2], images.shape[3])
    device = best_device()
    with single_threaded(), one_torch_thread():
        x, y = (torch.from_numpy(np.array(values, dtype=np.float32)) for values in (features, images))
        y = y.permute(0, 3, 1, 2).contiguous()
        centre, spread = x.mean(dim=0), x.std(dim=0, correction=0)
        spread = torch.where(spread > 0, spread, torch.ones_like(spread))
        x = (x - centre) / spread
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(seed)
            network = _network(features.shape[1], shape).to(device).train()
        optimizer = adamw(network, learning_rate=learning_rate, weight_decay=0.0)
        generator = torch.Generator().manual_seed(seed)
        for epoch in range(n_epochs):
            stop_if(should_stop)
            total = 0.0
            for batch in torch.randperm(len(x), generator=generator).split(batch_size):
                optimizer.zero_grad()
                loss = torch.nn.functional.mse_loss(network(x[batch].to(device)), y[batch].to(device))
                loss.backward()
                optimizer.step()
                total += float(loss.detach()) * len(batch)
            if not math.isfinite(total):
                raise ModelError(f"Training the decoder diverged. Take a smaller learning rate than {learning_rate:g}.")
            if on_epoch is not None:
                on_epoch(epoch + 1, n_epochs, total / len(x))
        state = {name: value.detach().cpu().clone() for name, value in network.state_dict().items()}
    return Decoder(features.shape[1], shape, state | {"centre": centre, "spread": spread, "mean": y.mean(dim=0)})


_FIXED = ("centre", "spread", "mean")


def _fixed(n_features: int, shape: tuple[int, int, int]) -> dict[str, "torch.Tensor"]:
    mean = torch.zeros(_first_channels(shape), device="meta")
    return {name: torch.zeros(n_features, device="meta") for name in ("centre", "spread")} | {"mean": mean}


def _network(n_features: int, shape: tuple[int, int, int]) -> "torch.nn.Module":
    """A dense layer to a map of a quarter of the sides, and two transposed convolutions that double it."""
    height, width, channels = shape
    rows, columns = (math.ceil(side / 4) for side in (height, width))
    return nn.Sequential(
        nn.Linear(n_features, _WIDTHS[0] * rows * columns),
        nn.ReLU(),
        nn.Unflatten(1, (_WIDTHS[0], rows, columns)),
        nn.ConvTranspose2d(_WIDTHS[0], _WIDTHS[1], 4, stride=2, padding=1),
        nn.ReLU(),
        nn.ConvTranspose2d(_WIDTHS[1], channels, 4, stride=2, padding=1),
        # What is too much where a side is no multiple of four is left out.
        nn.ZeroPad2d((0, width - 4 * columns, 0, height - 4 * rows)),
        nn.Sigmoid(),
    )


def _first_channels(shape: tuple[int, int, int]) -> tuple[int, int, int]:
    return shape[2], shape[0], shape[1]


def _check_images(images: np.ndarray, n: int) -> None:
    if images.ndim != 4 or len(images) != n:
        raise ModelError(f"Images of shape {images.shape} for features of {n} samples. There must be one for each.")
    if images.size and (images.min() < 0 or images.max() > 1):
        raise ModelError(f"Pixels run from {images.min():g} to {images.max():g}. They must lie in [0, 1].")
