"""How are repeats of one network trained faster than one after another? All in one step, each on its own samples.

Their parameters are stacked, and a step is one step of all of them. That is made for a GPU, which one small network
leaves idle; benchmarks/bench_together.py measures what it brings. Every network has its own first weights, samples,
order and dropout, and is what `train` would have made of it, but for rounding and for which units were dropped out.
"""

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from itertools import zip_longest

import numpy as np
from jaxtyping import Integer

from touchstone.core.data import Dataset
from touchstone.core.models.architectures import architecture
from touchstone.core.models.classical import ShouldStop, stop_if
from touchstone.core.models.errors import ModelError
from touchstone.core.models.inputs import network_inputs
from touchstone.core.models.late import torch
from touchstone.core.models.networks import (
    PaperNetwork,
    batches,
    best_device,
    one_torch_thread,
    own_randomness,
    predict_logits,
)
from touchstone.core.models.stopping import Training, Watch, loss_of_guessing
from touchstone.core.models.threads import single_threaded

Stacked = dict[str, "torch.Tensor"]  # the parameters of one name of all networks, one network after another
OnEpochTogether = Callable[[int, int, dict[int, float]], None]
"""Called with epochs done, epochs in all as far as is known, and the mean loss of each network still in training."""
OnEpochFitted = Callable[[int, int, dict[int, PaperNetwork]], None]
"""Called with epochs done, epochs in all as far as is known, and the models still in training, by their place."""


def why_not_together(model: object, dataset: Dataset) -> str | None:
    """Say why repeats of a model on this data set have to be trained one after another; None where they need not.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models import MODELS
    >>> digits = load_example("digits")
    >>> why_not_together(MODELS["cnn_1"](), digits) is None
    True
    >>> why_not_together(MODELS["svm"](), digits)
    'SVM is no network of the papers.'
    """
    if not isinstance(model, PaperNetwork):
        return f"{getattr(model, 'label', type(model).__name__)} is no network of the papers."
    if dataset.kind == "text":
        return "Texts become other vectors in every training part, so that networks on them have no inputs in common."
    if architecture(model.architecture).normalises:
        return f"{model.label} normalises over batches, and keeps an account of them, which cannot be stacked."
    return None


def fit_together(
    model: PaperNetwork,
    dataset: Dataset,
    parts: Sequence[Integer[np.ndarray, " _"]],
    seeds: Sequence[int],
    *,
    device: str | None = None,
    on_epoch: OnEpochFitted | None = None,
    should_stop: ShouldStop | None = None,
) -> list[PaperNetwork]:
    """Fit the model once on each part (rows of the data set) with its seed, all at the same time.

    `on_epoch` is called after every epoch, with models that predict as far as they have come (`OnEpochFitted`). Each
    is trained until it has learned what it can, whatever the others do, unless the model says how many epochs.
    The device is the best there is, unless named. Raises ModelError where the model cannot be trained so (see
    `why_not_together`), and for all of them where training diverges for one.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models import MODELS
    >>> wine = load_example("wine")
    >>> parts = [np.arange(0, 178, 2), np.arange(0, 178, 3)]
    >>> fitted = fit_together(MODELS["linear"](), wine, parts, seeds=[0, 1])
    >>> [bool((one.predict(wine.x) == wine.y).mean() > 0.9) for one in fitted]
    [True, True]
    """
    stop_if(should_stop)
    obstacle = why_not_together(model, dataset)
    if obstacle is not None:
        raise ModelError(f"These cannot be trained together. {obstacle}")
    with single_threaded(), one_torch_thread():
        inputs, fitted = network_inputs(dataset.x), [replace(model) for _ in parts]
        shape = tuple(inputs.shape[1:])
        networks = [
            network.begin(dataset.x[part], dataset.y[part], shape, seed=seed, n_classes=dataset.n_classes)
            for network, part, seed in zip(fitted, parts, seeds, strict=True)
        ]
        trainings = train_together(
            networks,
            inputs,
            torch.tensor(dataset.y, dtype=torch.int64),
            [torch.tensor(part, dtype=torch.int64) for part in parts],
            **asdict(model),  # its rates, epochs and batches
            generators=[torch.Generator().manual_seed(seed) for seed in seeds],
            device=device or best_device(),
            on_epoch=None
            if on_epoch is None
            else lambda n_done, n_epochs, losses: on_epoch(n_done, n_epochs, {i: fitted[i] for i in losses}),
            should_stop=should_stop,
        )
        for one, became in zip(fitted, trainings, strict=True):
            one.training = became
    return fitted


def train_together(
    networks: "Sequence[torch.nn.Module]",
    inputs: "torch.Tensor",
    y: "torch.Tensor",
    parts: "Sequence[torch.Tensor]",
    *,
    learning_rate: float,
    momentum: float,
    weight_decay: float,
    n_epochs: int | None,
    batch_size: int,
    generators: "Sequence[torch.Generator]",
    gradient_penalty: float = 0.0,
    device: str = "cpu",
    on_epoch: OnEpochTogether | None = None,
    should_stop: ShouldStop | None = None,
) -> list[Training]:
    """Train networks of one architecture in place, each as `train` with `sgd` would train it on `inputs[part]`.

    With `n_epochs` None each stands still for good once it has learned what it can, as it would alone. Gives how long
    each was trained.

    The whole data moves to the device. A generator decides about the order of its network's samples; what is dropped
    out hangs on all generators together. Whoever has fewer batches stands still while the others end their epoch.
    Raises ModelError for networks with batch normalisation, and where the loss of one ceases to be a number; Cancelled
    before the next epoch once `should_stop()` is true.

    Examples
    --------
    >>> import torch
    >>> networks = [torch.nn.Linear(1, 2) for _ in range(2)]
    >>> inputs, y = torch.tensor([[-1.0], [1.0], [2.0]]), torch.tensor([0, 1, 1])
    >>> parts, generators = [torch.tensor([0, 1]), torch.tensor([0, 1, 2])], [torch.Generator(), torch.Generator()]
    >>> options = dict(learning_rate=0.1, momentum=0.9, weight_decay=0.0, batch_size=2, generators=generators)
    >>> [training.n_updates for training in train_together(networks, inputs, y, parts, n_epochs=50, **options)]
    [50, 100]
    >>> [network(inputs).argmax(dim=1).tolist() for network in networks]
    [[0, 1, 1], [0, 1, 1]]
    """
    if any(isinstance(module, torch.nn.modules.batchnorm._BatchNorm) for module in networks[0].modules()):
        raise ModelError("Networks with batch normalisation cannot be trained together: train them one after another.")
    watches = [
        Watch(
            loss_of_guessing(y[part].numpy()),
            updates_per_epoch=-(-len(part) // batch_size),
            n_epochs=n_epochs,
        )
        for part in parts
    ]
    in_training = list(range(len(networks)))
    best: dict[int, Stacked] = {}
    inputs, y = inputs.to(device), y.to(device)
    together = _Together(networks, device, learning_rate, momentum, weight_decay, gradient_penalty)
    n_done = 0
    with own_randomness(_joined(generators), device):
        while in_training:
            stop_if(should_stop)
            n_done += 1
            total = torch.zeros(len(networks), device=device, dtype=torch.float64)
            dealt = [
                [parts[i][rows] for rows in batches(len(parts[i]), batch_size, generators[i], none_alone=False)]
                if i in in_training
                else []
                for i in range(len(networks))
            ]
            for in_step in zip_longest(*dealt):
                active = [i for i, rows in enumerate(in_step) if rows is not None]
                # The last batches differ in length: what only fills up (-1) is computed, and counts for nothing.
                rows = torch.nn.utils.rnn.pad_sequence([in_step[i] for i in active], batch_first=True, padding_value=-1)
                rows = rows.to(device)
                real = rows >= 0
                rows = rows.clamp(min=0)
                loss = together.step(active, inputs[rows], y[rows], real)
                total[active] += loss * real.sum(dim=1)
            means = (total.cpu() / torch.tensor([len(part) for part in parts])).tolist()
            if not all(map(math.isfinite, means)):
                raise ModelError(
                    f"Training diverged: in epoch {n_done} the loss is no longer a finite number. Take a smaller "
                    f"learning rate (now {learning_rate:g}) or gradient penalty (now {gradient_penalty:g})."
                )
            losses = {i: means[i] for i in in_training}
            over = [i for i, loss in losses.items() if watches[i].heard(loss)]
            for i in in_training:
                if watches[i].keeps_best and watches[i].is_best:
                    best[i] = together.state_of(i)
            if on_epoch is not None:
                on_epoch(n_done, max(watches[i].expected for i in in_training), losses)
            in_training = [i for i in in_training if i not in over]
    together.part()
    trainings = []
    for i, (network, watch, part) in enumerate(zip(networks, watches, parts, strict=True)):
        if i in best and not watch.is_best:
            network.load_state_dict(best[i], strict=False)
        network.eval()
        n_right = int(
            (predict_logits(network, inputs[part.to(device)]).argmax(dim=1) == y[part.to(device)].cpu()).sum()
        )
        trainings.append(watch.training(accuracy=n_right / len(part)))
    return trainings


class _Together:
    """Networks of one architecture whose parameters, and their velocities, are slices of stacked tensors."""

    def __init__(
        self,
        networks: "Sequence[torch.nn.Module]",
        device: str,
        learning_rate: float,
        momentum: float,
        weight_decay: float,
        gradient_penalty: float,
    ):
        from touchstone.core.models.blocks import MaxNormLinear

        self.learning_rate, self.momentum, self.weight_decay = learning_rate, momentum, weight_decay
        self.networks = [network.to(device) for network in networks]
        self.parameters, self.buffers = torch.func.stack_module_state(self.networks)
        self.parameters = {name: value.detach() for name, value in self.parameters.items()}
        self.velocities = {name: torch.zeros_like(value) for name, value in self.parameters.items()}
        for i, network in enumerate(self.networks):
            for name, parameter in network.named_parameters():
                parameter.data = self.parameters[name][i]
        # What is called has no weights of its own: they are handed to it with every call.
        called = copy.deepcopy(self.networks[0]).to("meta").train()
        limited = {name: module for name, module in called.named_modules() if isinstance(module, MaxNormLinear)}
        self.most = {f"{name}.weight".lstrip("."): module.max_norm for name, module in limited.items()}
        self.gradients = torch.func.vmap(
            torch.func.grad_and_value(_loss(called, gradient_penalty)), randomness="different"
        )

    def step(self, active: list[int], x: "torch.Tensor", y: "torch.Tensor", real: "torch.Tensor") -> "torch.Tensor":
        """Let the networks `active` take a step, each on its row of `x`; gives their losses before it."""
        all_move = len(active) == len(self.networks)
        parameters, buffers, velocities = (
            state if all_move else {name: value[active] for name, value in state.items()}
            for state in (self.parameters, self.buffers, self.velocities)
        )
        gradients, losses = self.gradients(parameters, buffers, x, y, real)
        with torch.no_grad():
            for name, gradient in gradients.items():
                self._descend(parameters[name], velocities[name], gradient)
                if name in self.most:
                    parameters[name].flatten(0, 1).renorm_(2, 0, self.most[name])
                if not all_move:
                    self.parameters[name][active] = parameters[name]
                    self.velocities[name][active] = velocities[name]
        return losses

    def _descend(self, parameter: "torch.Tensor", velocity: "torch.Tensor", gradient: "torch.Tensor") -> None:
        """Stochastic gradient descent with Nesterov's momentum, in the order of torch's own."""
        if self.weight_decay:
            gradient = gradient.add(parameter, alpha=self.weight_decay)
        if self.momentum:
            velocity.mul_(self.momentum).add_(gradient)
            gradient = gradient.add(velocity, alpha=self.momentum)
        parameter.add_(gradient, alpha=-self.learning_rate)

    def state_of(self, place: int) -> Stacked:
        """A copy of the parameters of one network."""
        return {name: value[place].clone() for name, value in self.parameters.items()}

    def part(self) -> None:
        """Give every network parameters of its own again."""
        for network in self.networks:
            for parameter in network.parameters():
                parameter.data = parameter.data.clone()


def _loss(called: "torch.nn.Module", gradient_penalty: float) -> "Callable[..., torch.Tensor]":
    """`penalised_loss` of one network's parameters on a batch of which only the samples `real` count."""

    def loss(
        parameters: Stacked, buffers: Stacked, x: "torch.Tensor", y: "torch.Tensor", real: "torch.Tensor"
    ) -> "torch.Tensor":
        def summed(x: "torch.Tensor") -> "tuple[torch.Tensor, torch.Tensor]":
            logits = torch.func.functional_call(called, (parameters, buffers), (x,))
            total = torch.nn.functional.cross_entropy(logits, y, reduction="none").masked_fill(~real, 0.0).sum()
            return total, total

        if gradient_penalty:
            slopes, total = torch.func.grad(summed, has_aux=True)(x)
            total = total + gradient_penalty * slopes.square().sum()  # of a sample that does not count it is 0
        else:
            total, _ = summed(x)
        return total / real.sum()

    return loss


def _joined(generators: "Sequence[torch.Generator]") -> "torch.Generator":
    """A generator that hangs on the state of all, and leaves them as they are."""
    drawn = [int(torch.randint(2**31, (1,), generator=generator.clone_state())) for generator in generators]
    return torch.Generator().manual_seed(int(np.random.SeedSequence(drawn).generate_state(1)[0]))
