"""Can this file be used as a model of this data set? Read without ever running what is in it, then tried on the data.

- safetensors: the weights of one of our architectures, with or without our description of them;
- ONNX, through onnxruntime where it is installed: any network, without gradients;
- archives of torch.export: only where the server's owner trusts them, since reading one can run code;
- pickles (most .pt, .pth, .pkl, .ckpt, .bin and .joblib files): never, since unpickling runs whatever they say.
"""

import io
import json
import os
import re
import struct
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Integer, Shaped

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.sandbox import MOST_BYTES, SECONDS_TO_READ, Answer, Child
from touchstone.core.data.store import from_bytes, to_bytes
from touchstone.core.models.architectures import ARCHITECTURES
from touchstone.core.models.errors import ModelError
from touchstone.core.models.inputs import InputRange, black_and_white, checked_range, input_shape, network_inputs
from touchstone.core.models.late import torch
from touchstone.core.models.live import LIVE, borrowed, reads, runs
from touchstone.core.models.model_file import RECORDED, ModelFile
from touchstone.core.models.networks import DESCRIPTION, TrainedNetwork, empty_network, read_safetensors
from touchstone.core.models.uploaded_model import READERS, REMEDY, Apart, ForeignKind, ForeignModel, adapt

if TYPE_CHECKING:
    State = Mapping[str, "torch.Tensor"]


# Which weights that others named are those of a network here? Renamed only where the network is the same to the bit.


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
    for form in [form for key in given if (form := _BIAS.fullmatch(key))]:
        key, (stage, place) = form[0], form.groups()
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


# Can this file be used as a model of this data set? Read without ever running what is in it, then tried on the data.


TRUST = "TOUCHSTONE_TRUST_MODELS"
_N_TRIED = 32  # samples that a model is tried on
_FAR = 30  # standard deviations from the training mean at which no value of a column makes sense
_PICKLES = {".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".bin", ".joblib"}
_TORCHVISION = ("layer1.0.conv1.weight", "features.0.weight")  # its ResNets; its VGG, AlexNet and MobileNet
_EXPORT = (
    "torch.export.save(torch.export.export(model.eval(), (x,), "
    'dynamic_shapes=({0: torch.export.Dim("n")},)), "model.pt2")'
)
_INSTEAD = "Save the weights as safetensors (safetensors.torch.save_file), or export the model to ONNX."


@runtime_checkable
class Model(Protocol):
    """What can be asked about its robustness: a network of ours or a model from elsewhere."""

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes that its logits stand for."""

    @property
    def has_gradients(self) -> bool:
        """Whether its logits can be followed back to its inputs."""

    @property
    def takes_texts(self) -> bool:
        """Whether it makes numbers of texts by itself."""

    def logits(self, x: "torch.Tensor") -> "torch.Tensor":
        """Give the logits (n, n_classes) of inputs (n, channels, height, width) or (n, d)."""

    def inputs(self, x: Shaped[np.ndarray, "n_samples ..."]) -> "torch.Tensor":
        """Give the inputs of a data set as this model takes them."""


def load_model(
    name: str,
    content: bytes,
    dataset: Dataset,
    *,
    architecture: str | None = None,
    input_range: InputRange | None = None,
    apart: bool = False,
) -> TrainedNetwork | ForeignModel:
    """Read the file `name` as a model of this data set, whose classes it must know in the same order.

    `architecture` names one of ours, for weights that do not say it themselves. `input_range` is what black and white
    were when the model was trained, e.g. (0, 255) or (-1, 1), or a pair for each channel (`core.models.inputs`);
    without it (0, 1), as our pixels are. Noise is measured in our pixels all the same. A model from elsewhere that
    stands `apart` is run in a process of its own, within limits, and gives no gradients (`core.models.uploaded_model`).
    Raises ModelError, with the reason and a remedy, for what cannot be used.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> load_model("mine.pt", b"\\x80\\x02}q\\x00.", load_example("digits"))
    Traceback (most recent call last):
    touchstone.core.models.errors.ModelError: mine.pt is a pickle. Reading one runs whatever code it holds, ...
    """
    if architecture == RECORDED:
        raise ModelError(
            f"{name} has a model's outputs for {dataset.name}, but not the model. This page needs the model "
            f"itself. Train a model, or upload one."
        )
    try:
        if input_range is not None:
            if dataset.kind != "image":
                raise ModelError(f"An input range ({input_range}) is for images only. Leave it out.")
            checked_range(input_range, dataset.x.shape[3])
        kind = _kind(name, content)
        if kind == "safetensors":
            model = _network(content, dataset, architecture, input_range)
            check_fits(model, dataset)
            return model
        columns = dataset.feature_names
        run = Apart(name, kind, content, columns) if apart else READERS[kind](content, columns)
        examples = _examples(dataset)
        has_gradients = kind == "export" and not apart
        return adapt(run, examples, dataset.class_names, has_gradients=has_gradients, input_range=input_range)
    except ModelError as error:
        raise ModelError(str(error) if str(error).startswith(name) else f"{name}: {error}") from error


def read_stored(stored: bytes, dataset: Dataset, *, apart: bool = False) -> TrainedNetwork | ForeignModel:
    """Read a model as the workspace keeps it (`core.models.load`), checked as `load_model` checks it.

    Workers need not have it `apart`: their trials have a limit of their own.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models.networks import LinearNetwork
    >>> from touchstone.core.models.model_file import RECORDED, ModelFile
    >>> digits = load_example("digits")
    >>> trained = LinearNetwork(n_epochs=1).fit(digits.x, digits.y, seed=0).trained(digits)
    >>> stored = ModelFile(trained.to_bytes(), "linear.safetensors", digits.fingerprint).to_bytes()
    >>> read_stored(stored, digits).architecture
    'linear'
    """
    file = ModelFile.from_bytes(stored)
    if file.architecture == LIVE:
        return _borrowed(file, dataset)
    known = {"architecture": file.architecture, "input_range": file.input_range}
    return load_model(file.file_name, file.content, dataset, **known, apart=apart)


def _borrowed(file: ModelFile, dataset: Dataset) -> ForeignModel:
    """A model of this process, tried on a few samples; of texts on these, unless it takes the vectors beside them."""
    model, class_names = borrowed(file.content)
    if dataset.kind == "text" and dataset.vectors is None:
        return _reader(model, dataset, class_names)
    run, has_gradients = runs(model, dataset, class_names)
    examples, span = _examples(dataset), file.input_range
    try:
        return adapt(run, examples, dataset.class_names, has_gradients=has_gradients, input_range=span)
    except ModelError:
        if dataset.kind != "text" or isinstance(model, torch.nn.Module):
            raise
        return _reader(model, dataset, class_names)


def _reader(model: Any, dataset: Dataset, class_names: tuple[str, ...] | None) -> ForeignModel:
    read = reads(model, dataset, class_names)
    outputs = read(_tried(dataset.x))
    return replace(adapt(lambda x: x, outputs, dataset.class_names, has_gradients=False, input_range=None), reads=read)


def check_fits(model: TrainedNetwork, dataset: Dataset) -> None:
    """Raise ModelError, saying what differs, where a network is not one of this data set's inputs and classes.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models.networks import LinearNetwork
    >>> digits, wine = load_example("digits"), load_example("wine")
    >>> check_fits(LinearNetwork(n_epochs=1).fit(wine.x, wine.y, seed=0).trained(wine), digits)
    Traceback (most recent call last):
    touchstone.core.models.errors.ModelError: The network takes inputs of shape (13,), those of digits have (1, 8, 8).
    """
    if model.words is None or dataset.kind != "text":
        x = _values(dataset)
        if input_shape(x) != model.input_shape:
            raise ModelError(
                f"The network takes inputs of shape {model.input_shape}, those of {dataset.name} have {input_shape(x)}."
            )
    if len(model.class_names) != dataset.n_classes:
        raise ModelError(
            f"The network tells {len(model.class_names)} classes apart, {dataset.name} has {dataset.n_classes}."
        )
    for code, (ours, theirs) in enumerate(zip(model.class_names, dataset.class_names, strict=True)):
        if ours != theirs:
            raise ModelError(
                f"Class {code} of the network is {ours!r}, that of {dataset.name} is {theirs!r}. "
                "The classes must be the same, in the same order."
            )
    if dataset.kind == "tabular" and model.fingerprint:  # weights alone do not say what they were trained on
        _check_columns(model, dataset)


def model_inputs(model: Model, dataset: Dataset, rows: Integer[np.ndarray, " n_rows"] | None = None) -> "torch.Tensor":
    """Give the inputs of a data set, or of these rows, as the model takes them.

    Texts become the vectors of the model's own words; for a model without words they are the data set's own vectors.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models.networks import LinearNetwork
    >>> digits = load_example("digits")
    >>> trained = LinearNetwork(n_epochs=1).fit(digits.x, digits.y, seed=0).trained(digits)
    >>> model_inputs(trained, digits, np.arange(5)).shape
    torch.Size([5, 1, 8, 8])
    """
    x = dataset.x if model.takes_texts else _values(dataset)
    return model.inputs(x if rows is None else x[rows])


def _values(dataset: Dataset) -> np.ndarray:
    if dataset.kind != "text":
        return dataset.x
    if dataset.vectors is None:
        raise ModelError(f"The model takes numbers, {dataset.name} holds texts. Add a file of vectors to the data set.")
    return dataset.vectors


def _examples(dataset: Dataset) -> "torch.Tensor":
    return network_inputs(_tried(_values(dataset)))


def _tried(x: np.ndarray) -> np.ndarray:
    return x[np.unique(np.linspace(0, len(x) - 1, _N_TRIED).astype(int))]


def _check_columns(model: TrainedNetwork, dataset: Dataset) -> None:
    centre, spread = (model.state[name].numpy() for name in ("centre", "spread"))
    far = (np.abs(dataset.x - centre) > _FAR * spread).all(axis=0)
    if far.any():
        column = int(far.argmax())
        values = dataset.x[:, column]
        raise ModelError(
            f"The column {dataset.feature_names[column]!r} of {dataset.name} runs from {values.min():g} to "
            f"{values.max():g}; the network was trained on values around {centre[column]:g} ± {spread[column]:g}. "
            "Are the units the same, and the columns in the same order?"
        )


def _kind(name: str, content: bytes) -> ForeignKind | Literal["safetensors"]:
    """Say what a file is by its first bytes; ModelError for what is not read. Nothing is unpickled to find out."""
    suffix = PurePath(name).suffix.lower()
    is_zip = content[:4] == b"PK\x03\x04"
    members = _members(content) if is_zip else []
    if any(member.endswith("archive_format") for member in members):
        if os.environ.get(TRUST) != "1":
            raise ModelError(
                f"{name} is an archive of torch.export. Reading one can run code, so it is only done where the "
                f"server's owner has switched it on ({TRUST}=1). {_INSTEAD}"
            )
        return "export"
    # Before pickles: the length of a header may begin with the very bytes that a pickle begins with.
    if len(content) > 8 and content[8:9] == b"{" and struct.unpack("<Q", content[:8])[0] <= len(content) - 8:
        return "safetensors"
    if (content[:1] == b"\x80" and content[1:2] <= b"\x05") or any(member.endswith(".pkl") for member in members):
        raise ModelError(
            f"{name} is a pickle. Reading one runs whatever code it holds, so this is never done. {_INSTEAD}"
        )
    if suffix == ".safetensors":
        raise ModelError(f"{name} is no safetensors file, or it is damaged or cut off. Upload it again.")
    if suffix == ".onnx" or (content[:1] == b"\x08" and suffix not in _PICKLES):
        return "onnx"
    what = "looks like a pickle, which is never read" if suffix in _PICKLES else "is of a kind that is not known here"
    raise ModelError(f"{name} {what}. {_INSTEAD}")


def _members(content: bytes) -> list[str]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error) as error:
        raise ModelError(f"The file is a damaged zip archive ({error}). Upload it again.") from error


def _network(content: bytes, dataset: Dataset, name: str | None, input_range: InputRange | None) -> TrainedNetwork:
    """Read weights: with our description as what it says, without one as those of the architecture that was named."""
    state, metadata = read_safetensors(content)
    if DESCRIPTION in metadata:
        trained = TrainedNetwork.from_bytes(content)
        if name is not None and name != trained.architecture:
            raise ModelError(f"The weights are of a {trained.architecture}, not of a {name}.")
        if input_range is not None:
            raise ModelError("The file was written here, where pixels lie in [0, 1]. Leave out the input range.")
        return trained
    shape = input_shape(_values(dataset))
    same = renamed(state, shape)
    if same is not None:
        if name not in (None, same[0]):
            raise ModelError(f"The weights are of a {same[0]}, not of a {name}.")
        name, state = same
    elif any(key.removeprefix("module.") in _TORCHVISION for key in state):
        raise ModelError(
            "The weights are named as torchvision names them, which is not read here. Upload the whole network "
            f"instead: {_EXPORT}, with x a batch of two inputs, where the server's owner trusts models ({TRUST}=1); "
            "or as ONNX."
        )
    if name is None:
        fitting = ", ".join(other.name for other in ARCHITECTURES.values() if other.fits(shape))
        raise ModelError(f"The file does not say of which network its weights are. Name the architecture: {fitting}.")
    expected = empty_network(name, shape, dataset.n_classes).state_dict()
    low, high = black_and_white(input_range or (0.0, 1.0))
    scaled = {"centre": -low / (high - low), "spread": 1 / (high - low)}
    scaled = {key: _per_channel(values, expected[key]) for key, values in scaled.items()}
    state = scaled | {  # weights of half or double precision get that of the network
        key: value.to(expected[key].dtype) if key in expected and value.is_floating_point() else value
        for key, value in state.items()
    }
    head = state.get("head.weight")
    if head is not None and head.shape[:1] == (1,) and dataset.n_classes == 2:  # one logit z is (0, z)
        state |= {
            key: torch.cat([torch.zeros_like(state[key]), state[key]]) for key in state if key.startswith("head.")
        }
    return TrainedNetwork(name, shape, dataset.class_names, scale=dataset.scale, fingerprint="", state=state)


def _per_channel(values: np.ndarray, like: "torch.Tensor") -> "torch.Tensor":
    """Numbers of each channel, or one of all, as a network holds them."""
    of_channel = torch.from_numpy(values).to(like.dtype)
    return of_channel.reshape(-1, *[1] * (like.ndim - 1)).expand(like.shape).clone()


# Does a model from elsewhere know the classes of this data set? Its accuracy, and whether its outputs change places.
#
# A model whose outputs stand in another order than the classes is accepted by every other check, and all that is said
# of it is then wrong. Which of the samples it was trained on nobody knows, so that its accuracy here may flatter it.


MOST_JUDGED, BATCH = 5000, 256
_MUCH_BETTER = 0.2
"""How much accuracy must rise with outputs in another order for that order to be told."""


@dataclass(frozen=True, eq=False)
class Judged:
    """How often each class (rows) was taken for each class (columns) among the samples that were looked at.

    Examples
    --------
    >>> swapped = Judged(("cat", "dog"), np.array([[1, 9], [8, 2]]))
    >>> swapped.accuracy, swapped.majority, swapped.order
    (0.15, 0.5, (1, 0))
    """

    class_names: tuple[str, ...]
    taken_for: Integer[np.ndarray, "c c"]

    @property
    def n(self) -> int:
        """How many samples were looked at."""
        return int(self.taken_for.sum())

    @property
    def n_correct(self) -> int:
        """How many of them were taken for their class."""
        return int(np.trace(self.taken_for))

    @property
    def accuracy(self) -> float:
        """The share of them."""
        return self.n_correct / self.n

    @property
    def majority(self) -> float:
        """What always answering the most frequent class comes to."""
        return float(self.taken_for.sum(axis=1).max() / self.n)

    @property
    def chance(self) -> float:
        """What answering at random comes to."""
        return 1.0 / len(self.class_names)

    @property
    def order(self) -> tuple[int, ...]:
        """For each output the class that it goes with best."""
        from scipy.optimize import linear_sum_assignment

        return tuple(linear_sum_assignment(self.taken_for.T, maximize=True)[1].tolist())

    @property
    def in_order(self) -> float:
        """The accuracy with the outputs in the order of the classes that they go with best."""
        return float(self.taken_for[list(self.order), range(len(self.class_names))].sum() / self.n)

    @property
    def hint(self) -> str:
        """Which output seems to stand for which class, where that would raise accuracy by 20 points; else nothing."""
        if self.in_order < self.accuracy + _MUCH_BETTER:
            return ""
        moved = [f"{place} for “{self.class_names[code]}”" for place, code in enumerate(self.order) if place != code]
        few = ", ".join(moved[:6]) + (f" and {len(moved) - 6} more" if len(moved) > 6 else "")
        return (
            f"With outputs in another order it would be {100 * self.in_order:.1f} %: they seem to stand, counted "
            f"from 0, {few}. Export the model with its outputs in the order of the classes."
        )


def judge(model: Model, dataset: Dataset, rows: Integer[np.ndarray, " n"] | None = None) -> Judged:
    """Ask a model about samples of a data set, all or those in `rows`: at most 5,000, at random.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models.networks import LinearNetwork
    >>> wine = load_example("wine")
    >>> model = LinearNetwork(n_epochs=20).fit(wine.x, wine.y, seed=0).trained(wine)
    >>> judge(model, wine).accuracy > 0.9
    True
    """
    rows = np.arange(dataset.n_samples) if rows is None else rows
    if len(rows) > MOST_JUDGED:
        rows = np.sort(np.random.default_rng(0).choice(rows, MOST_JUDGED, replace=False))
    taken_for = np.zeros((dataset.n_classes, dataset.n_classes), dtype=np.int64)
    with torch.inference_mode():
        for part in np.array_split(rows, max(1, len(rows) // BATCH)):
            said = model.logits(model_inputs(model, dataset, part)).argmax(dim=1).cpu().numpy()
            np.add.at(taken_for, (dataset.y[part], said), 1)
    return Judged(dataset.class_names, taken_for)


def check_above_chance(judged: Judged, name: str) -> None:
    """Raise ModelError where a model's accuracy is significantly below chance: nothing said of it would be worth it.

    Examples
    --------
    >>> check_above_chance(Judged(("cat", "dog"), np.array([[1, 49], [48, 2]])), "mine.onnx")
    Traceback (most recent call last):
    touchstone.core.models.errors.ModelError: mine.onnx: its accuracy on 100 samples is 3.0 %, below chance (50.0 %)...
    """
    from scipy.special import betaincinv

    most = 1.0 if judged.n_correct == judged.n else betaincinv(judged.n_correct + 1, judged.n - judged.n_correct, 0.975)
    if most >= judged.chance:
        return
    remedy = judged.hint or "Are the inputs scaled as in training, and the outputs in the order of the classes?"
    raise ModelError(
        f"{name}: its accuracy on {judged.n:,} samples is {100 * judged.accuracy:.1f} %, below chance "
        f"({100 * judged.chance:.1f} %). {remedy}"
    )


# Does it do what it should, and end? Read and asked in a child process.
#
# A file of a few kilobytes can hold a loop without end or an array of gigabytes. The process that tries it has so much
# time and memory and no more, and whatever comes of it there, whoever asked gets a sentence.


SECONDS_TO_JUDGE = 600
"""What asking a model about thousands of samples may take."""

_DATASET, _MODEL, _ROWS = "dataset", "model", "rows.json"
_READ, _JUDGE = b"read", b"judge"


@dataclass(frozen=True, eq=False)
class Tried:
    """What is known of a model that was read and asked: which network of ours it is, if any, and how it answers."""

    judged: Judged
    architecture: str | None
    has_gradients: bool


def try_model(
    name: str,
    content: bytes,
    dataset: Dataset,
    rows: Integer[np.ndarray, " n"],
    *,
    architecture: str | None = None,
    input_range: InputRange | None = None,
) -> Tried:
    """Read the file `name` as `load_model` does, and judge it on these rows: in a process of its own, within limits.

    Raises ModelError for what cannot be used, and for what takes too long or too much memory.
    """
    file = ModelFile(content, name, dataset.fingerprint, architecture, input_range)
    asked = {_DATASET: to_bytes(dataset), _MODEL: file.to_bytes(), _ROWS: json.dumps(rows.tolist()).encode()}
    with tempfile.TemporaryDirectory(prefix="touchstone-model-") as folder:
        for place, written in asked.items():
            (Path(folder) / place).write_bytes(written)
        child = Child(name, trying, folder, remedy=REMEDY, most_bytes=MOST_BYTES)
        try:
            child.ask(_READ, seconds=SECONDS_TO_READ, doing="reading it and asking it about a few samples")
            said = child.ask(_JUDGE, seconds=SECONDS_TO_JUDGE, doing="asking it about thousands of samples")
        except DataError as problem:
            raise ModelError(str(problem)) from None
        finally:
            child.end()
    told = json.loads(said)
    taken_for = np.array(told["taken_for"], dtype=np.int64).reshape(dataset.n_classes, dataset.n_classes)
    return Tried(Judged(dataset.class_names, taken_for), told["architecture"], bool(told["has_gradients"]))


def trying(folder: str) -> Answer:
    """What the child does: read the model that lies in a folder, and on the next message judge it."""
    torch.set_num_threads(1)
    written = {place: (Path(folder) / place).read_bytes() for place in (_DATASET, _MODEL, _ROWS)}
    dataset, rows = from_bytes(written[_DATASET]), np.array(json.loads(written[_ROWS]), dtype=np.int64)
    models: list[TrainedNetwork | ForeignModel] = []

    def answer(message: bytes) -> bytes:
        try:
            if message == _READ:
                models.append(read_stored(written[_MODEL], dataset))
                return b""
            judged = judge(models[0], dataset, rows)
        except (ModelError, MemoryError):
            raise
        except Exception as problem:  # what runs a model may raise anything
            name, reason = ModelFile.from_bytes(written[_MODEL]).file_name, str(problem) or repr(problem)
            raise ModelError(f"{name}: it could not be asked ({reason.splitlines()[0]}).") from problem
        ours = models[0].architecture if isinstance(models[0], TrainedNetwork) else None
        told = {"taken_for": judged.taken_for.tolist(), "architecture": ours}
        return json.dumps(told | {"has_gradients": models[0].has_gradients}).encode()

    return answer
