"""Which network can be trained on any data, on a processor, in seconds? One with a single hidden layer."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from jaxtyping import Float

from touchstone.core.data import Dataset
from touchstone.core.data.dataset import Kind
from touchstone.core.models import training
from touchstone.core.models.architectures import ARCHITECTURES, build
from touchstone.core.models.classical import Codes, Inputs, Scores, ShouldStop, stop_if
from touchstone.core.models.inputs import fit_text, fit_vectors, input_shape, network_inputs
from touchstone.core.models.threads import single_threaded

if TYPE_CHECKING:
    import torch


@dataclass
class MlpSmall:
    """A network with one hidden layer, on pixels, standardised columns or text vectors.

    Examples
    --------
    >>> x, y = np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([0, 0, 1, 1])
    >>> MlpSmall(n_hidden=16).fit(x, y, seed=0).predict(x)
    array([0, 0, 1, 1])
    """

    label: ClassVar[str] = "Small neural network"

    n_hidden: int = 128
    n_epochs: int = 30
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
        on_epoch: training.OnEpoch | None = None,
    ) -> "MlpSmall":
        """Train (see ``Classifier.fit``); `on_epoch(n_done, n_epochs, loss)` is called after every epoch."""
        import torch

        stop_if(should_stop)
        with single_threaded(), training.one_torch_thread():
            self._vectors = fit_vectors(x, seed=seed)
            inputs = self._inputs(x)
            n_outputs = int(y.max()) + 1 if n_classes is None else n_classes
            self._absent = absent(y, n_outputs)
            self._network = mlp(inputs.shape[1], self.n_hidden, n_outputs, seed=seed)
            training.train(
                self._network,
                inputs,
                torch.tensor(y, dtype=torch.int64),
                optimizer=training.adamw(
                    self._network, learning_rate=self.learning_rate, weight_decay=self.weight_decay
                ),
                n_epochs=self.n_epochs,
                batch_size=self.batch_size,
                generator=torch.Generator().manual_seed(seed),
                on_epoch=on_epoch,
                should_stop=should_stop,
            )
        return self

    def predict(self, x: Inputs) -> Codes:
        """Give the code of the class that each sample is taken for."""
        return self.predict_proba(x).argmax(axis=1)

    def predict_proba(self, x: Inputs) -> Scores:
        """Give the probability of every class; 0 for a class without training samples."""
        with single_threaded(), training.one_torch_thread():
            logits = training.predict_logits(self._network, self._inputs(x)).masked_fill(self._absent, -np.inf)
            return logits.double().softmax(dim=1).numpy()

    def hidden_layer(self, x: Inputs) -> Float[np.ndarray, "n_samples n_hidden"]:
        """Give what the hidden layer makes of each sample, which is all that the network's last step sees."""
        from torch import nn

        with single_threaded(), training.one_torch_thread():
            return (
                training.predict_logits(nn.Sequential(*list(self._network.children())[:-1]), self._inputs(x))
                .double()
                .numpy()
            )

    def _inputs(self, x: Inputs) -> "torch.Tensor":
        import torch

        # A copy, since torch warns of (and could write to) arrays that are read-only, as a Dataset's are.
        return torch.tensor(self._vectors.transform(x), dtype=torch.float32)


def mlp(n_inputs: int, n_hidden: int, n_outputs: int, *, seed: int) -> "torch.nn.Sequential":
    """Make the untrained network; torch's own random state stays as it was.

    Examples
    --------
    >>> [tuple(parameter.shape) for parameter in mlp(64, 128, 10, seed=0).parameters()]
    [(128, 64), (128,), (10, 128), (10,)]
    """
    import torch
    from torch import nn

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
    import torch

    return torch.ones(n_classes, dtype=torch.bool).index_fill(0, torch.from_numpy(np.unique(y)), False)


# Which networks do the papers use? Their architectures, trained as they train them, on the data at hand.


if TYPE_CHECKING:
    import torch

    from touchstone.core.models.blocks import Network


@dataclass
class PaperNetwork:
    """A network of one of the papers, trained by stochastic gradient descent with Nesterov's momentum.

    The defaults are the papers' values; the papers give no number of epochs, and the code of Kilinc & Uysal trains
    CNNs for 150 (what fewer reach: docs/measured/performance.md). `gradient_penalty` is the lambda of Han et al. 2024,
    section 4, in units of the inputs. On images, products are rounded to bfloat16 where the processor multiplies in it.
    Tables are standardised by their training part, and texts become the vectors of `fit_vectors`; both belong to the
    trained network. A GPU is used where there is one.

    Examples
    --------
    >>> x, y = np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([0, 0, 1, 1])
    >>> LinearNetwork().fit(x, y, seed=0).predict(x)
    array([0, 0, 1, 1])
    """

    label: ClassVar[str]
    architecture: ClassVar[str]
    needs: ClassVar[str] = "convolutions need images that are large enough for their depth"
    usual_for: ClassVar[tuple[Kind, ...]] = ()
    """The kinds of data that it is offered for first, where a network is to be trained and kept."""

    n_epochs: int = 20
    batch_size: int = 128
    learning_rate: float = 0.01
    momentum: float = 0.95
    weight_decay: float = 0.0
    gradient_penalty: float = 0.0

    _words = None  # what texts become vectors by, once there are any

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
        on_epoch: training.OnEpoch | None = None,
    ) -> "PaperNetwork":
        """Train (see ``Classifier.fit``); `on_epoch(n_done, n_epochs, loss)` is called after every epoch.

        Raises ModelError where the network does not fit the inputs, or training diverges.
        """
        import torch

        stop_if(should_stop)
        with single_threaded(), training.one_torch_thread():
            self._words = fit_text(x, seed=seed) if x.ndim == 1 else None
            inputs = self._inputs(x)
            network = self.begin(x, y, tuple(inputs.shape[1:]), seed=seed, n_classes=n_classes)
            training.train(
                network,
                inputs,
                torch.tensor(y, dtype=torch.int64),
                optimizer=training.sgd(
                    network, learning_rate=self.learning_rate, momentum=self.momentum, weight_decay=self.weight_decay
                ),
                n_epochs=self.n_epochs,
                batch_size=self.batch_size,
                generator=torch.Generator().manual_seed(seed),
                gradient_penalty=self.gradient_penalty,
                bfloat16=x.ndim == 4,  # pixels of eight bits lose nothing by it, columns of a table might
                device=training.best_device(),
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
        self._network = build(self.architecture, shape, n_outputs, seed=seed, **_standardisation(x))
        return self._network

    def predict(self, x: Inputs) -> Codes:
        """Give the code of the class that each sample is taken for."""
        return self.predict_proba(x).argmax(axis=1)

    def predict_proba(self, x: Inputs) -> Scores:
        """Give the probability of every class; 0 for a class without training samples."""
        with single_threaded(), training.one_torch_thread():
            logits = training.predict_logits(self._network, self._inputs(x)).masked_fill(self._absent, -np.inf)
            return logits.double().softmax(dim=1).numpy()

    def trained(self, dataset: Dataset) -> training.TrainedNetwork:
        """Give what can be stored of the network, which was trained on this data set or a part of it."""
        return training.TrainedNetwork(
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


class LinearNetwork(PaperNetwork):
    """Logits that are linear in the inputs: where the analytic estimators of average-case robustness are exact."""

    label: ClassVar[str] = "Linear model (SGD)"
    architecture: ClassVar[str] = "linear"


class Mlp2048(PaperNetwork):
    """Three hidden layers of 2048 (Kilinc & Uysal 2018, section 5.1)."""

    label: ClassVar[str] = "MLP 3 × 2048"
    architecture: ClassVar[str] = "mlp_2048"
    usual_for: ClassVar[tuple[Kind, ...]] = ("tabular", "text")


class Cnn1(PaperNetwork):
    """Two convolutions (Kilinc & Uysal 2018, section 5.1)."""

    label: ClassVar[str] = "CNN-1"
    architecture: ClassVar[str] = "cnn_1"
    usual_for: ClassVar[tuple[Kind, ...]] = ("image",)


class Cnn2(PaperNetwork):
    """Four convolutions (Kilinc & Uysal 2018, section 5.1)."""

    label: ClassVar[str] = "CNN-2"
    architecture: ClassVar[str] = "cnn_2"


class Cnn3(PaperNetwork):
    """Six convolutions (Kilinc & Uysal 2018, section 5.1)."""

    label: ClassVar[str] = "CNN-3"
    architecture: ClassVar[str] = "cnn_3"


class LeNet(PaperNetwork):
    """Two convolutions and three dense layers."""

    label: ClassVar[str] = "LeNet-5"
    architecture: ClassVar[str] = "lenet"


class ResNet18(PaperNetwork):
    """Eight residual blocks, up to 512 channels."""

    label: ClassVar[str] = "ResNet-18"
    architecture: ClassVar[str] = "resnet18"


class ResNet20(PaperNetwork):
    """Nine narrow residual blocks, up to 64 channels."""

    label: ClassVar[str] = "ResNet-20"
    architecture: ClassVar[str] = "resnet20"


class Vgg19(PaperNetwork):
    """Sixteen convolutions and three dense layers."""

    label: ClassVar[str] = "VGG-19"
    architecture: ClassVar[str] = "vgg19"


def _standardisation(x: Inputs) -> dict[str, Float[np.ndarray, " n_features"]]:
    """Give the centre and spread of a table's columns; images and vectors of texts stay as they are."""
    if x.ndim != 2:
        return {}
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler().fit(x)
    return {"centre": np.asarray(scaler.mean_), "spread": np.asarray(scaler.scale_)}
