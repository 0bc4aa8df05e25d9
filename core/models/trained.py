"""What is left of a network once it was trained? Bytes that say what it is, and that nothing can hide in.

The format is safetensors: numbers behind a JSON header. Unlike a pickle it cannot run code when it is read.
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Shaped

from touchstone.core.data.identity import hash_of
from touchstone.core.models.architectures import architecture
from touchstone.core.models.errors import ModelError
from touchstone.core.models.inputs import network_inputs
from touchstone.core.models.vectors import TextVectors

if TYPE_CHECKING:
    import torch

    from touchstone.core.models.blocks import Network

DESCRIPTION = "touchstone"  # where in the header of a file the network is described
_WORDS = "words."  # how the names of arrays begin that belong to `words`
_VERSION = 1


@dataclass(frozen=True, eq=False)
class TrainedNetwork:
    """A trained network with all that is needed to use it: what it is, what it was trained on, and its weights.

    `input_shape` is that of one input, (channels, height, width) or (d,); `class_names` say what its logits stand for.
    `scale` is what the raw values of its data were divided by, `fingerprint` names the data set (see ``Dataset``).
    `state` holds weights and the standardisation of the inputs, which is part of the network. `words`, where it was
    trained on texts, makes the vectors of them that it takes.

    Examples
    --------
    >>> import torch
    >>> from touchstone.core.models.architectures import build
    >>> state = build("linear", (2,), 3, seed=0).state_dict()
    >>> trained = TrainedNetwork("linear", (2,), ("a", "b", "c"), scale=1.0, fingerprint="", state=state)
    >>> again = TrainedNetwork.from_bytes(trained.to_bytes())
    >>> torch.equal(again.logits(torch.ones(1, 2)), trained.logits(torch.ones(1, 2)))
    True
    """

    architecture: str
    input_shape: tuple[int, ...]
    class_names: tuple[str, ...]
    scale: float
    fingerprint: str
    state: Mapping[str, "torch.Tensor"] = field(repr=False)
    words: TextVectors | None = field(repr=False, default=None)
    _modules: dict[str, "Network"] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self):
        check_state(self.state, self.architecture, self.input_shape, len(self.class_names))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_modules": {}}  # modules are made again where they are needed

    @property
    def has_gradients(self) -> bool:
        """Its logits can be followed back to its inputs."""
        return True

    def logits(self, x: "torch.Tensor") -> "torch.Tensor":
        """Give the logits (n, n_classes) of inputs (n, *input_shape), on the device that these are on.

        Gradients reach the inputs, not the weights. Raises ModelError for inputs of another shape.
        """
        return self.module(x.device)(x)

    def inputs(self, x: Shaped[np.ndarray, "n_samples ..."]) -> "torch.Tensor":
        """Give the inputs of a data set as this network takes them (`core.models.inputs.network_inputs`)."""
        return network_inputs(x if self.words is None or x.ndim != 1 else self.words.transform(x))

    def module(self, device: "torch.device | str" = "cpu") -> "Network":
        """Give the network itself, ready for use: one module for each device, not to be changed."""
        import torch

        where = str(torch.device(device))
        if where not in self._modules:
            with torch.inference_mode(False):  # who asks first may be in it, who asks next may want gradients
                network = empty_network(self.architecture, self.input_shape, len(self.class_names))
                state = {name: value.detach().clone() for name, value in self.state.items()}
                network.load_state_dict(state, assign=True)
                self._modules[where] = network.to(where).eval().requires_grad_(False)
        return self._modules[where]

    def to_bytes(self) -> bytes:
        """Write it as safetensors; the same network gives the same bytes."""
        import torch
        from safetensors.torch import save

        state = {name: value.detach().cpu().contiguous().clone() for name, value in sorted(self.state.items())}
        about: dict[str, Any] = {
            "version": _VERSION,
            "architecture": self.architecture,
            "input_shape": list(self.input_shape),
            "class_names": list(self.class_names),
            "scale": self.scale,
            "fingerprint": self.fingerprint,
        }
        if self.words is not None:
            about["words"], arrays = self.words.parts()
            state |= {_WORDS + name: torch.tensor(array) for name, array in arrays.items()}
        return save(state, {DESCRIPTION: json.dumps({**about, "checksum": _checksum(about, state)})})

    @classmethod
    def from_bytes(cls, content: bytes) -> "TrainedNetwork":
        """Read what `to_bytes` wrote. Raises ModelError where it is something else, damaged, or does not fit itself."""
        state, metadata = read_safetensors(content)
        if DESCRIPTION not in metadata:
            raise ModelError(
                "The file holds weights, but does not say of which network. "
                "Name the architecture, or take a file that was written here."
            )
        try:
            about = json.loads(metadata[DESCRIPTION])
            checksum, version = about.pop("checksum"), about["version"]
            made = {name: about[name] for name in ("architecture", "scale", "fingerprint")}
            shape, names = tuple(map(int, about["input_shape"])), tuple(map(str, about["class_names"]))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"The file's description of its network cannot be read ({error!r}).") from error
        if version != _VERSION:
            raise ModelError(f"The file was written by another version (format {version}, here {_VERSION}).")
        if checksum != _checksum(about, state):
            raise ModelError("The file is damaged: its weights are not those that were written. Download it again.")
        try:
            words = _read_words(about.get("words"), state)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise ModelError(f"The file's description of its words cannot be read ({error!r}).") from error
        weights = {name: value for name, value in state.items() if not name.startswith(_WORDS)}
        return cls(**made, input_shape=shape, class_names=names, state=weights, words=words)


def read_safetensors(content: bytes) -> tuple[dict[str, "torch.Tensor"], dict[str, str]]:
    """Read the tensors of a safetensors file and the texts in its header. Raises ModelError where it cannot be read.

    Examples
    --------
    >>> import torch
    >>> from safetensors.torch import save
    >>> read_safetensors(save({"weight": torch.ones(2)}, {"of": "an example"}))
    ({'weight': tensor([1., 1.])}, {'of': 'an example'})
    """
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        state = load(content)
        (length,) = struct.unpack("<Q", content[:8])
        return state, json.loads(content[8 : 8 + length]).get("__metadata__", {})
    except (SafetensorError, ValueError, KeyError, struct.error) as error:
        raise ModelError(f"This is no safetensors file, or it is damaged ({error}).") from error


def check_state(state: Mapping[str, "torch.Tensor"], name: str, input_shape: tuple[int, ...], n_classes: int) -> None:
    """Raise ModelError, saying what differs, where weights do not belong to this network.

    Examples
    --------
    >>> import torch
    >>> check_state({"head.weight": torch.zeros(2, 4)}, "linear", (4,), 3)
    Traceback (most recent call last):
    touchstone.core.models.errors.ModelError: The weights are of a network with 2 classes. Here there are 3.
    """
    expected = empty_network(name, input_shape, n_classes).state_dict()
    head = state.get("head.weight")
    if head is not None and head.ndim == 2 and len(head) != n_classes:
        raise ModelError(f"The weights are of a network with {len(head)} classes. Here there are {n_classes}.")
    missing, unknown = sorted(expected.keys() - state.keys()), sorted(state.keys() - expected.keys())
    if missing or unknown:
        what = f"there is no {missing[0]!r}" if missing else f"{unknown[0]!r} is unknown"
        raise ModelError(f"The weights are not those of a {name}: {what}. Is this the right architecture?")
    for key, value in expected.items():
        if state[key].shape != value.shape:
            raise ModelError(
                f"The weights do not fit a {name} for inputs of shape {input_shape}: {key!r} has shape "
                f"{tuple(state[key].shape)}, it must be {tuple(value.shape)}. "
                "Was the network trained on inputs of another size?"
            )
        if state[key].dtype != value.dtype:
            raise ModelError(f"The weights {key!r} are of type {state[key].dtype}, they must be {value.dtype}.")
        if not state[key].isfinite().all():
            raise ModelError(f"The weights {key!r} hold something that is no finite number.")
    if not (state["spread"] > 0).all():
        raise ModelError("The spread of the inputs must be positive.")


def empty_network(name: str, input_shape: tuple[int, ...], n_classes: int) -> "Network":
    """Give the network without memory for its weights, to see their names and shapes.

    Examples
    --------
    >>> empty_network("linear", (4,), 3).head.weight.device
    device(type='meta')
    """
    import torch

    with torch.device("meta"):
        return architecture(name)(input_shape, n_classes)


def _read_words(words: list[str] | None, state: Mapping[str, "torch.Tensor"]) -> TextVectors | None:
    if words is None:
        return None
    arrays = {name.removeprefix(_WORDS): value.numpy() for name, value in state.items() if name.startswith(_WORDS)}
    return TextVectors.from_parts(words, arrays)


def _checksum(about: dict[str, Any], state: Mapping[str, "torch.Tensor"]) -> str:
    import torch

    types = {name: [str(value.dtype), list(value.shape)] for name, value in state.items()}
    in_bytes = (state[name].contiguous().reshape(-1).view(torch.uint8) for name in sorted(state))
    return hash_of(json.dumps([about, types], sort_keys=True), *(value.numpy() for value in in_bytes))
