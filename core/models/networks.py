"""Which networks can be trained here, how, and what is kept of them? A small one for any data, and those of papers."""

import json
import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from jaxtyping import Float, Shaped

from touchstone.core.data import Dataset
from touchstone.core.data.dataset import Kind, hash_of
from touchstone.core.data.values import Codes
from touchstone.core.models.architectures import ARCHITECTURES, architecture, build
from touchstone.core.models.classical import Inputs, Scores, ShouldStop, stop_if
from touchstone.core.models.errors import ModelError
from touchstone.core.models.inputs import TextVectors, fit_text, fit_vectors, input_shape, network_inputs
from touchstone.core.models.late import nn, torch
from touchstone.core.models.stopping import Training, Watch, loss_of_guessing
from touchstone.core.models.threads import single_threaded

if TYPE_CHECKING:
    from touchstone.core.models.blocks import Network


# How is a network trained? Mini-batches in random order, one loop for all, a look at ``should_stop`` at every epoch.
# How long: until it has learned what it can (`core.models.stopping`), or for a number of epochs where one is asked for.
#
# The loss is the cross-entropy, and where asked for a penalty on its gradient with respect to the inputs, which makes
# networks robust on average (Han et al. 2024, section 4: the same as infinitely many training samples with noise).

OnEpoch = Callable[[int, int, float], None]
"""Called with epochs done, epochs in all as far as is known, and the mean loss of the last one."""
Called = Callable[["torch.Tensor"], "torch.Tensor"]  # a network, or what stands for it: logits of inputs
Loss = Callable[[Called, "torch.Tensor", "torch.Tensor"], "torch.Tensor"]  # of a network on a batch


def train(
    network: "torch.nn.Module",
    inputs: "torch.Tensor",
    y: "torch.Tensor",
    *,
    optimizer: "torch.optim.Optimizer",
    n_epochs: int | None,
    batch_size: int,
    generator: "torch.Generator",
    gradient_penalty: float = 0.0,
    loss: Loss | None = None,
    bfloat16: bool = False,
    device: str = "cpu",
    on_epoch: OnEpoch | None = None,
    should_stop: ShouldStop | None = None,
) -> Training:
    """Train the network in place, and leave it on `device` ready for use. The data goes there as far as there is room.

    With `n_epochs` None it is trained until it has learned what it can (`core.models.stopping`), and left as it was
    when its loss was lowest; else for so many epochs. Gives how long that was, and its accuracy on these samples.

    `loss` is the cross-entropy with `gradient_penalty`, unless another is given. `on_epoch` may use the network, to see
    how good it has become: nothing of what is learnt hangs on it. `generator` decides about everything
    random: the order of the samples and what is dropped out. The same generator gives the same network on the same
    kind of device. With `bfloat16` the products within the network are rounded to it where the processor has
    instructions for that (`multiplies_bfloat16`): it takes about half the time (what it costs:
    docs/measured/performance.md). Weights, losses and predictions stay in single precision, and so does all where there
    is a gradient penalty. Raises ModelError where the loss ceases to be a number, and Cancelled before the next epoch
    once `should_stop()` is true.

    Examples
    --------
    >>> import torch
    >>> network, inputs, y = torch.nn.Linear(1, 2), torch.tensor([[-1.0], [1.0]]), torch.tensor([0, 1])
    >>> optimizer = sgd(network, learning_rate=0.1, momentum=0.9, weight_decay=0.0)
    >>> options = dict(batch_size=2, optimizer=optimizer, generator=torch.Generator().manual_seed(0))
    >>> train(network, inputs, y, n_epochs=50, **options)
    Training(n_updates=50, stopped='ended', accuracy=1.0)
    >>> network(inputs).argmax(dim=1)
    tensor([0, 1])
    """
    normalised = any(isinstance(module, torch.nn.BatchNorm2d) for module in network.modules())
    if normalised and min(len(inputs), batch_size) < 2:
        raise ModelError("Batch normalisation needs two training samples or more, and batches of two or more.")
    loss = loss or partial(penalised_loss, gradient_penalty=gradient_penalty)
    rounded = bfloat16 and not gradient_penalty and multiplies_bfloat16(device)
    layout = torch.channels_last if rounded else torch.contiguous_format
    network.to(device=device, memory_format=layout)
    called = _rounded(network) if rounded else network
    per_epoch = len(batches(len(inputs), batch_size, generator.clone_state(), none_alone=normalised))
    watch = Watch(loss_of_guessing(y.numpy()), updates_per_epoch=per_epoch, n_epochs=n_epochs)
    inputs, y = at_hand(inputs, device), at_hand(y, device)
    best: Mapping[str, torch.Tensor] | None = None
    is_over = False
    with own_randomness(generator, device):
        while not is_over:
            stop_if(should_stop)
            network.train()  # again, for whoever looked at it after the last epoch put dropout to rest
            total = torch.zeros((), device=device)
            for batch in batches(len(inputs), batch_size, generator, none_alone=normalised):
                optimizer.zero_grad()
                value = loss(called, inputs[batch].to(device), y[batch].to(device))
                value.backward()
                optimizer.step()
                constrain(network)
                total += value.detach() * len(batch)
            mean = float(total) / len(inputs)
            if not math.isfinite(mean):
                rates = ", ".join(f"{group['lr']:g}" for group in optimizer.param_groups)
                raise ModelError(
                    f"Training diverged: in epoch {watch.n_done + 1} the loss is no longer a finite number. Take a "
                    f"smaller learning rate (now {rates}) or gradient penalty (now {gradient_penalty:g})."
                )
            is_over = watch.heard(mean)
            if watch.keeps_best and watch.is_best:
                best = {name: value.clone() for name, value in network.state_dict().items()}
            if on_epoch is not None:
                on_epoch(watch.n_done, watch.expected, mean)
    if best is not None and not watch.is_best:
        network.load_state_dict(best)
    network.to(memory_format=torch.contiguous_format).eval()
    n_right = int((predict_logits(network, inputs).argmax(dim=1) == y.cpu()).sum())
    return watch.training(accuracy=n_right / len(y))


def penalised_loss(network: Called, x: "torch.Tensor", y: "torch.Tensor", gradient_penalty: float) -> "torch.Tensor":
    """Give the mean over the batch of a sample's cross-entropy + `gradient_penalty` * |its gradient by the input|².

    Examples
    --------
    >>> import torch
    >>> network = torch.nn.Linear(1, 2, bias=False)
    >>> _ = network.weight.data.copy_(torch.tensor([[-1.0], [1.0]]))
    >>> x, y = torch.zeros(1, 1), torch.tensor([0])  # the loss is log 2 here, its gradient 1
    >>> penalised_loss(network, x, y, 10.0) - penalised_loss(network, x, y, 0.0)
    tensor(10., grad_fn=<SubBackward0>)
    """
    if not gradient_penalty:
        return torch.nn.functional.cross_entropy(network(x), y)
    x = x.detach().requires_grad_(True)
    summed = torch.nn.functional.cross_entropy(network(x), y, reduction="sum")
    (gradient,) = torch.autograd.grad(summed, x, create_graph=True)
    return (summed + gradient_penalty * gradient.square().sum()) / len(x)


def sgd(
    network: "torch.nn.Module", *, learning_rate: float, momentum: float, weight_decay: float
) -> "torch.optim.Optimizer":
    """Give stochastic gradient descent with Nesterov's momentum.

    Examples
    --------
    >>> import torch
    >>> optimizer = sgd(torch.nn.Linear(3, 2), learning_rate=0.01, momentum=0.95, weight_decay=0.0)
    >>> optimizer.param_groups[0]["nesterov"]
    True
    """
    return torch.optim.SGD(
        network.parameters(),
        lr=learning_rate,
        momentum=momentum,
        weight_decay=weight_decay,
        nesterov=momentum > 0,
        fused=True,  # one call per step instead of one per tensor
    )


def adamw(network: "torch.nn.Module", *, learning_rate: float, weight_decay: float) -> "torch.optim.Optimizer":
    """Give Adam with decoupled weight decay.

    Examples
    --------
    >>> import torch
    >>> type(adamw(torch.nn.Linear(3, 2), learning_rate=0.003, weight_decay=0.01)).__name__
    'AdamW'
    """
    # fused halves the time of a small network
    return torch.optim.AdamW(network.parameters(), lr=learning_rate, weight_decay=weight_decay, fused=True)


def constrain(network: "torch.nn.Module") -> None:
    """Hold every layer to the constraint that it has on its weights, if any.

    Examples
    --------
    >>> import torch
    >>> constrain(torch.nn.Linear(3, 2))
    """
    from touchstone.core.models.blocks import MaxNormLinear

    for module in network.modules():
        if isinstance(module, MaxNormLinear):
            module.constrain()


def predict_logits(network: "torch.nn.Module", inputs: "torch.Tensor", *, batch_size: int = 1024) -> "torch.Tensor":
    """Give the logits of all inputs, batch by batch, wherever the network is.

    Examples
    --------
    >>> import torch
    >>> predict_logits(torch.nn.Linear(3, 2), torch.zeros(5, 3)).shape
    torch.Size([5, 2])
    """
    network.eval()
    device = next((parameter.device for parameter in network.parameters()), inputs.device)
    with torch.inference_mode():
        return torch.cat([network(batch.to(device)).cpu() for batch in inputs.split(batch_size)])


def best_device() -> str:
    """Name the device to train on: a GPU where there is one.

    Examples
    --------
    >>> best_device() in ("cpu", "cuda")
    True
    """
    return "cuda" if torch.cuda.is_available() else "cpu"


def at_hand(values: "torch.Tensor", device: str) -> "torch.Tensor":
    """Give the samples where they are trained on, if that leaves half of its free memory; else batches travel there.

    Examples
    --------
    >>> import torch
    >>> at_hand(torch.zeros(3), "cpu").device.type
    'cpu'
    """
    if device == "cpu" or values.nbytes > free_memory(device) / 2:
        return values
    return values.to(device)


def free_memory(device: str) -> int:
    """How many bytes a GPU has left."""
    return torch.cuda.mem_get_info(device)[0]


@cache
def multiplies_bfloat16(device: str) -> bool:
    """Whether a processor multiplies in bfloat16 by itself; on a GPU it was not measured, and is not done.

    Where it does not, the rounding would be played by other instructions, and take longer than single precision.

    Examples
    --------
    >>> multiplies_bfloat16("cpu") in (True, False), multiplies_bfloat16("cuda")
    (True, False)
    """
    known = getattr(torch.cpu, "get_capabilities", dict)()  # torch before 2.11 does not tell
    return device == "cpu" and any(known.get(name, False) for name in ("avx512_bf16", "amx_bf16"))


def _rounded(network: "torch.nn.Module") -> Called:
    def called(x: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return network(x).float()

    return called


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Keep torch to one thread, for as long as it lasts.

    Examples
    --------
    >>> import torch
    >>> before = torch.get_num_threads()
    >>> with one_torch_thread():
    ...     torch.get_num_threads()
    1
    >>> torch.get_num_threads() == before
    True
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def batches(n_samples: int, batch_size: int, generator: "torch.Generator", *, none_alone: bool) -> "list[torch.Tensor]":
    """Deal out one epoch in random order; with `none_alone`, a last batch of one sample joins the one before.

    Examples
    --------
    >>> import torch
    >>> [len(batch) for batch in batches(9, 4, torch.Generator(), none_alone=True)]
    [4, 5]
    """
    dealt = list(torch.randperm(n_samples, generator=generator).split(batch_size))
    if none_alone and len(dealt[-1]) == 1:
        dealt[-2:] = [torch.cat(dealt[-2:])]
    return dealt


@contextmanager
def own_randomness(generator: "torch.Generator", device: str) -> Iterator[None]:
    """Let dropout, which asks torch's own random state, hang on `generator`; the state is given back as it was.

    Examples
    --------
    >>> import torch
    >>> with own_randomness(torch.Generator().manual_seed(0), "cpu"):
    ...     first = torch.rand(())
    >>> with own_randomness(torch.Generator().manual_seed(0), "cpu"):
    ...     bool(torch.rand(()) == first)
    True
    """
    on_gpu = torch.device(device).type == "cuda"
    # Drawn from a copy: the order of the samples is then the same with and without dropout.
    seed = int(torch.randint(2**31, (1,), generator=generator.clone_state()))
    repeatable = torch.backends.cudnn.flags(enabled=True, deterministic=True) if on_gpu else nullcontext()
    with torch.random.fork_rng(devices=[torch.cuda.current_device()] if on_gpu else []), repeatable:
        torch.default_generator.manual_seed(seed)
        if on_gpu:
            torch.cuda.manual_seed(seed)
        yield


# Which models can learn a data set? Each says so itself: convolutions need images, deep ones images of some size.


def fits(model: type, dataset: Dataset) -> bool:
    """Whether a model can be trained on these inputs; one without `fits` of its own takes any (see ``Classifier``).

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models import MODELS
    >>> fits(MODELS["cnn_1"], load_example("digits")), fits(MODELS["cnn_1"], load_example("wine"))
    (True, False)
    """
    own = getattr(model, "fits", None)
    return own is None or own(dataset)


def check_fitting(models: Iterable[type], dataset: Dataset) -> None:
    """Raise ModelError, before anything is trained, where a model cannot learn this data set."""
    wrong = [model for model in models if not fits(model, dataset)]
    if wrong:
        size = f" of {dataset.x.shape[1]} x {dataset.x.shape[2]} pixels" if dataset.kind == "image" else ""
        needs = "; ".join(dict.fromkeys(model.needs for model in wrong))
        raise ModelError(
            f"{', '.join(model.label for model in wrong)} cannot be trained on {dataset.name}, which is {dataset.kind} "
            f"data{size}: {needs}. Choose other models."
        )


# What is left of a network once it was trained? Bytes that say what it is, and that nothing can hide in.


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
    has_gradients: ClassVar[bool] = True
    """Its logits can be followed back to its inputs."""

    def __post_init__(self):
        check_state(self.state, self.architecture, self.input_shape, len(self.class_names))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_modules": {}}  # modules are made again where they are needed

    def logits(self, x: "torch.Tensor") -> "torch.Tensor":
        """Give the logits (n, n_classes) of inputs (n, *input_shape), on the device that these are on.

        Gradients reach the inputs, not the weights. Raises ModelError for inputs of another shape.
        """
        return self.module(x.device)(x)

    @property
    def takes_texts(self) -> bool:
        """Whether it has words, and makes vectors of texts by itself."""
        return self.words is not None

    def inputs(self, x: Shaped[np.ndarray, "n_samples ..."]) -> "torch.Tensor":
        """Give the inputs of a data set as this network takes them (`core.models.inputs.network_inputs`)."""
        return network_inputs(x if self.words is None or x.ndim != 1 else self.words.transform(x))

    def module(self, device: "torch.device | str" = "cpu") -> "Network":
        """Give the network itself, ready for use: one module for each device, not to be changed."""
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
    with torch.device("meta"):
        return architecture(name)(input_shape, n_classes)


def _read_words(words: list[str] | None, state: Mapping[str, "torch.Tensor"]) -> TextVectors | None:
    if words is None:
        return None
    arrays = {name.removeprefix(_WORDS): value.numpy() for name, value in state.items() if name.startswith(_WORDS)}
    return TextVectors.from_parts(words, arrays)


def _checksum(about: dict[str, Any], state: Mapping[str, "torch.Tensor"]) -> str:
    types = {name: [str(value.dtype), list(value.shape)] for name, value in state.items()}
    in_bytes = (state[name].contiguous().reshape(-1).view(torch.uint8) for name in sorted(state))
    return hash_of(json.dumps([about, types], sort_keys=True), *(value.numpy() for value in in_bytes))


# Which network can be trained on any data, on a processor, in seconds? One with a single hidden layer.


class _Predicting:
    """What is asked of a trained network; `_absent` are the classes that it has not seen."""

    training: "Training"
    """How long it was trained, once it was."""

    _network: "torch.nn.Module"
    _absent: "torch.Tensor"

    def _inputs(self, x: Inputs) -> "torch.Tensor":
        raise NotImplementedError

    def predict(self, x: Inputs) -> Codes:
        """Give the code of the class that each sample is taken for."""
        return self.predict_proba(x).argmax(axis=1)

    def predict_proba(self, x: Inputs) -> Scores:
        """Give the probability of every class; 0 for a class without training samples."""
        with single_threaded(), one_torch_thread():
            logits = predict_logits(self._network, self._inputs(x)).masked_fill(self._absent, -np.inf)
            return logits.double().softmax(dim=1).numpy()


@dataclass
class MlpSmall(_Predicting):
    """A network with one hidden layer, on pixels, standardised columns or text vectors.

    It is trained until it has learned what it can, or for `n_epochs`; `training` says how long that was.

    Examples
    --------
    >>> x, y = np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([0, 0, 1, 1])
    >>> MlpSmall(n_hidden=16).fit(x, y, seed=0).predict(x)
    array([0, 0, 1, 1])
    """

    label: ClassVar[str] = "Small neural network"

    n_hidden: int = 128
    n_epochs: int | None = None
    batch_size: int = 64
    learning_rate: float = 0.003
    weight_decay: float = 0.01

    def fit(
        self,
        x: Inputs,
        y: Codes,
        *,
        seed: int,
        n_classes: int | None = None,
        should_stop: ShouldStop | None = None,
        on_epoch: OnEpoch | None = None,
    ) -> "MlpSmall":
        """Train (see ``Classifier.fit``); `on_epoch` is called after every epoch (`OnEpoch`)."""
        stop_if(should_stop)
        with single_threaded(), one_torch_thread():
            self._vectors = fit_vectors(x, seed=seed)
            inputs = self._inputs(x)
            n_outputs = int(y.max()) + 1 if n_classes is None else n_classes
            self._absent = absent(y, n_outputs)
            self._network = mlp(inputs.shape[1], self.n_hidden, n_outputs, seed=seed)
            self.training = train(
                self._network,
                inputs,
                torch.tensor(y, dtype=torch.int64),
                optimizer=adamw(self._network, learning_rate=self.learning_rate, weight_decay=self.weight_decay),
                n_epochs=self.n_epochs,
                batch_size=self.batch_size,
                generator=torch.Generator().manual_seed(seed),
                on_epoch=on_epoch,
                should_stop=should_stop,
            )
        return self

    def hidden_layer(self, x: Inputs) -> Float[np.ndarray, "n_samples n_hidden"]:
        """Give what the hidden layer makes of each sample, which is all that the network's last step sees."""
        with single_threaded(), one_torch_thread():
            return predict_logits(nn.Sequential(*list(self._network.children())[:-1]), self._inputs(x)).double().numpy()

    def _inputs(self, x: Inputs) -> "torch.Tensor":
        # A copy, since torch warns of (and could write to) arrays that are read-only, as a Dataset's are.
        return torch.tensor(self._vectors.transform(x), dtype=torch.float32)


def mlp(n_inputs: int, n_hidden: int, n_outputs: int, *, seed: int) -> "torch.nn.Sequential":
    """Make the untrained network; torch's own random state stays as it was.

    Examples
    --------
    >>> [tuple(parameter.shape) for parameter in mlp(64, 128, 10, seed=0).parameters()]
    [(128, 64), (128,), (10, 128), (10,)]
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        return nn.Sequential(nn.Linear(n_inputs, n_hidden), nn.ReLU(), nn.Linear(n_hidden, n_outputs))


def absent(y: Codes, n_classes: int) -> "torch.Tensor":
    """Say of every class whether it has no training sample.

    Examples
    --------
    >>> absent(np.array([0, 2]), 4)
    tensor([False,  True, False,  True])
    """
    return torch.ones(n_classes, dtype=torch.bool).index_fill(0, torch.from_numpy(np.unique(y)), False)


# Which networks do the papers use? Their architectures, trained as they train them, on the data at hand.


@dataclass
class PaperNetwork(_Predicting):
    """A network of one of the papers, trained by stochastic gradient descent with Nesterov's momentum.

    The defaults are the papers' values; the papers give no number of epochs, and the code of Kilinc & Uysal trains
    CNNs for 150. Here a network is trained until it has learned what it can, unless `n_epochs` says how long;
    `training` says how long that was (what it costs and brings: docs/measured/training-length.md). `gradient_penalty`
    is the lambda of Han et al. 2024, section 4, in units of the inputs. On images, products are rounded to bfloat16
    where the processor multiplies in it. Tables are standardised by their training part, and texts become the vectors
    of `fit_vectors`; both belong to the trained network. A GPU is used where there is one.

    Examples
    --------
    >>> x, y = np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([0, 0, 1, 1])
    >>> LinearNetwork().fit(x, y, seed=0).predict(x)
    array([0, 0, 1, 1])
    """

    label: ClassVar[str]
    architecture: ClassVar[str]
    usual_for: ClassVar[tuple[Kind, ...]]
    """The kinds of data that it is offered for first, where a network is to be trained and kept."""
    needs: ClassVar[str] = "convolutions need images that are large enough for their depth"

    n_epochs: int | None = None
    batch_size: int = 128
    learning_rate: float = 0.01
    momentum: float = 0.95
    weight_decay: float = 0.0
    gradient_penalty: float = 0.0

    _words = None  # what texts become vectors by, once there are any

    def __init_subclass__(cls, *, label: str = "", architecture: str = "", usual_for: tuple[Kind, ...] = ()) -> None:
        if label:  # a class of one of these, trained otherwise, is the same network
            cls.label, cls.architecture, cls.usual_for = label, architecture, usual_for

    @classmethod
    def fits(cls, dataset: Dataset) -> bool:
        """Whether its depth fits the inputs of a data set; texts are vectors to it."""
        shape = (1,) if dataset.kind == "text" else input_shape(dataset.x)
        return ARCHITECTURES[cls.architecture].fits(shape)

    def fit(
        self,
        x: Inputs,
        y: Codes,
        *,
        seed: int,
        n_classes: int | None = None,
        should_stop: ShouldStop | None = None,
        on_epoch: OnEpoch | None = None,
    ) -> "PaperNetwork":
        """Train (see ``Classifier.fit``); `on_epoch` is called after every epoch (`OnEpoch`).

        Raises ModelError where the network does not fit the inputs, or training diverges.
        """
        stop_if(should_stop)
        with single_threaded(), one_torch_thread():
            self._words = fit_text(x, seed=seed) if x.ndim == 1 else None
            inputs = self._inputs(x)
            network = self.begin(x, y, tuple(inputs.shape[1:]), seed=seed, n_classes=n_classes)
            self.training = train(
                network,
                inputs,
                torch.tensor(y, dtype=torch.int64),
                optimizer=sgd(
                    network, learning_rate=self.learning_rate, momentum=self.momentum, weight_decay=self.weight_decay
                ),
                n_epochs=self.n_epochs,
                batch_size=self.batch_size,
                generator=torch.Generator().manual_seed(seed),
                gradient_penalty=self.gradient_penalty,
                bfloat16=x.ndim == 4,  # pixels of eight bits lose nothing by it, columns of a table might
                device=best_device(),
                on_epoch=on_epoch,
                should_stop=should_stop,
            )
        return self

    def begin(
        self, x: Inputs, y: Codes, shape: tuple[int, ...], *, seed: int, n_classes: int | None = None
    ) -> "Network":
        """Give the untrained network for a training part, which takes inputs of this shape; it is predicted with."""
        n_outputs = int(y.max()) + 1 if n_classes is None else n_classes
        self._absent = absent(y, n_outputs)
        self._network = build(self.architecture, shape, n_outputs, seed=seed)
        if x.ndim == 2:  # so that it takes a table as it is; images and vectors of texts stay as they are
            from sklearn.preprocessing import StandardScaler

            scaler = StandardScaler().fit(x)
            self._network.centre.copy_(torch.tensor(scaler.mean_))
            self._network.spread.copy_(torch.tensor(scaler.scale_))
        return self._network

    def trained(self, dataset: Dataset) -> TrainedNetwork:
        """Give what can be stored of the network, which was trained on this data set or a part of it."""
        return TrainedNetwork(
            architecture=self.architecture,
            input_shape=self._network.input_shape,
            class_names=dataset.class_names,
            scale=dataset.scale,
            fingerprint=dataset.fingerprint,
            state={name: value.detach().cpu().clone() for name, value in self._network.state_dict().items()},
            words=self._words,
        )

    def _inputs(self, x: Inputs) -> "torch.Tensor":
        return network_inputs(x if self._words is None else self._words.transform(x))


class LinearNetwork(PaperNetwork, label="Linear model (SGD)", architecture="linear"):
    """Logits that are linear in the inputs: where the analytic estimators of average-case robustness are exact."""


class Mlp2048(PaperNetwork, label="MLP 3 × 2048", architecture="mlp_2048", usual_for=("tabular", "text")):
    """Three hidden layers of 2048 (Kilinc & Uysal 2018, section 5.1)."""


class Cnn1(PaperNetwork, label="CNN-1", architecture="cnn_1", usual_for=("image",)):
    """Two convolutions (Kilinc & Uysal 2018, section 5.1)."""


class Cnn2(PaperNetwork, label="CNN-2", architecture="cnn_2"):
    """Four convolutions (Kilinc & Uysal 2018, section 5.1)."""


class Cnn3(PaperNetwork, label="CNN-3", architecture="cnn_3"):
    """Six convolutions (Kilinc & Uysal 2018, section 5.1)."""


class LeNet(PaperNetwork, label="LeNet-5", architecture="lenet"):
    """Two convolutions and three dense layers."""


class ResNet18(PaperNetwork, label="ResNet-18", architecture="resnet18"):
    """Eight residual blocks, up to 512 channels."""


class ResNet20(PaperNetwork, label="ResNet-20", architecture="resnet20"):
    """Nine narrow residual blocks, up to 64 channels."""


class Vgg19(PaperNetwork, label="VGG-19", architecture="vgg19"):
    """Sixteen convolutions and three dense layers."""
