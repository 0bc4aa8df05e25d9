"""Which network can be trained on any data, on a processor, in seconds? One with a single hidden layer."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from jaxtyping import Float, Integer, Shaped

from touchstone.core.models.classifier import ShouldStop, stop_if
from touchstone.core.models.threads import single_threaded
from touchstone.core.models.training import OnEpoch, adamw, one_torch_thread, predict_logits, train
from touchstone.core.models.vectors import fit_vectors

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
        x: Shaped[np.ndarray, "n_samples ..."],
        y: Integer[np.ndarray, " n_samples"],
        *,
        seed: int,
        n_classes: int | None = None,
        should_stop: ShouldStop | None = None,
        on_epoch: OnEpoch | None = None,
    ) -> "MlpSmall":
        """Train (see ``Classifier.fit``); `on_epoch(n_done, n_epochs, loss)` is called after every epoch."""
        import torch

        stop_if(should_stop)
        with single_threaded(), one_torch_thread():
            self._vectors = fit_vectors(x, seed=seed)
            inputs = self._inputs(x)
            n_outputs = int(y.max()) + 1 if n_classes is None else n_classes
            self._absent = absent(y, n_outputs)
            self._network = mlp(inputs.shape[1], self.n_hidden, n_outputs, seed=seed)
            train(
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

    def predict(self, x: Shaped[np.ndarray, "n_samples ..."]) -> Integer[np.ndarray, " n_samples"]:
        """Give the code of the class that each sample is taken for."""
        return self.predict_proba(x).argmax(axis=1)

    def predict_proba(self, x: Shaped[np.ndarray, "n_samples ..."]) -> Float[np.ndarray, "n_samples n_classes"]:
        """Give the probability of every class; 0 for a class without training samples."""
        with single_threaded(), one_torch_thread():
            logits = predict_logits(self._network, self._inputs(x)).masked_fill(self._absent, -np.inf)
            return logits.double().softmax(dim=1).numpy()

    def hidden_layer(self, x: Shaped[np.ndarray, "n_samples ..."]) -> Float[np.ndarray, "n_samples n_hidden"]:
        """Give what the hidden layer makes of each sample, which is all that the network's last step sees."""
        from torch import nn

        with single_threaded(), one_torch_thread():
            return predict_logits(nn.Sequential(*list(self._network.children())[:-1]), self._inputs(x)).double().numpy()

    def _inputs(self, x: Shaped[np.ndarray, "n_samples ..."]) -> "torch.Tensor":
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


def absent(y: Integer[np.ndarray, " n_samples"], n_classes: int) -> "torch.Tensor":
    """Say of every class whether it has no training sample.

    Examples
    --------
    >>> absent(np.array([0, 2]), 4)
    tensor([False,  True, False,  True])
    """
    import torch

    return torch.ones(n_classes, dtype=torch.bool).index_fill(0, torch.from_numpy(np.unique(y)), False)
