"""What does one layer of a network make of a sample, and what does the rest of the network, its head, make of that?"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np
from jaxtyping import Float, Integer, Shaped

from touchstone.core.data import DataError, Dataset
from touchstone.core.data.values import check_unique, codes, counted, read_only, texts
from touchstone.core.models.errors import ModelError
from touchstone.core.models.late import torch
from touchstone.core.models.load import Model, model_inputs
from touchstone.core.models.networks import TrainedNetwork, one_torch_thread
from touchstone.core.models.uploaded_model import ForeignModel

DEFAULT_LAYER, OUTPUTS = "last hidden", "outputs"
_SLACK = 0.01  # by how much the probabilities of a row may miss 1: files round them
_BATCH = 1024
Head = Callable[[np.ndarray], np.ndarray]  # features (n, d) -> probabilities (n, n_classes)


@dataclass(frozen=True, eq=False, init=False)
class LayerSamples:
    """Samples as a layer sees them: features, the probabilities that the model gives, and what is true of each.

    `y` are codes into `class_names`; it is None where nobody knows the labels. `confidence` is the highest probability.
    Arrays are read-only. Raises DataError, naming what does not fit, for anything that is not of one piece.

    Examples
    --------
    >>> samples = LayerSamples([[0.0, 1.0], [2.0, 1.0]], [0, 1], [[0.9, 0.1], [0.4, 0.6]], ("a", "b"))
    >>> samples.confidence, samples.predicted
    (array([0.9, 0.6]), array([0, 1]))
    """

    features: Float[np.ndarray, "n_samples n_features"] = field(repr=False)
    y: Integer[np.ndarray, " n_samples"] | None = field(repr=False)
    proba: Float[np.ndarray, "n_samples n_classes"] = field(repr=False)
    class_names: tuple[str, ...]
    ids: Shaped[np.ndarray, " n_samples"] = field(repr=False)
    name: str
    notes: tuple[str, ...] = ()
    units: Integer[np.ndarray, " n_samples"] | None = field(default=None, repr=False)
    """The unit of each sample, in codes that training and test part share; None: each is one."""
    unit_word: str = "sample"

    def __init__(
        self,
        features: Any,
        y: Any,
        proba: Any,
        class_names: Any,
        *,
        ids: Any = None,
        name: str = "samples",
        notes: tuple[str, ...] = (),
        units: Integer[np.ndarray, " n_samples"] | None = None,
        unit_word: str = "sample",
    ):
        features, proba = _numbers(features, "features", name), _numbers(proba, "probabilities", name)
        if len(features) == 0:
            raise DataError(f"{name}: there is not a single sample. Give features of at least one.")
        self.__dict__.update(
            features=features,
            y=None if y is None else codes(y, name),
            proba=proba,
            class_names=tuple(texts(class_names, "class name", name)),
            ids=counted(len(features)) if ids is None else texts(ids, "id", name),
            name=name,
            notes=notes,
            units=units,
            unit_word=unit_word,
        )
        _check(self)

    def __len__(self) -> int:
        return len(self.features)

    @property
    def n_classes(self) -> int:
        """How many classes there are, those included that have no sample here."""
        return len(self.class_names)

    @property
    def confidence(self) -> Float[np.ndarray, " n_samples"]:
        """The highest predicted probability of each sample."""
        return self.proba.max(axis=1)

    @property
    def predicted(self) -> Integer[np.ndarray, " n_samples"]:
        """The code of the class that each sample is taken for."""
        # Some at a time, since numpy's argmax copies an array that may not be written to.
        parts = [self.proba[at : at + _BATCH].argmax(axis=1) for at in range(0, len(self), _BATCH)]
        return np.concatenate(parts)

    @property
    def labels(self) -> Integer[np.ndarray, " n_samples"]:
        """The true classes. Raises DataError where nobody knows them."""
        if self.y is None:
            raise DataError(f"{self.name}: the samples have no labels. Add the true class of each.")
        return self.y

    def counts(self) -> Integer[np.ndarray, " n_classes"]:
        """How many samples each class has."""
        return np.bincount(self.labels, minlength=self.n_classes)

    def take(self, rows: Shaped[np.ndarray, " n_rows"]) -> "LayerSamples":
        """Give some of the samples, by position or by one truth value each."""
        beside = {name: getattr(self, name) for name in ("features", "y", "proba", "ids", "units")}
        taken = {name: values if values is None else values[rows] for name, values in beside.items()}
        return replace(self, **taken, notes=())

    def made_of(self, dataset: Dataset, rows: Integer[np.ndarray, " n_samples"]) -> "LayerSamples":
        """The same with the units of the rows of the data set that these samples are."""
        if dataset.unit_codes is None:
            return self
        return replace(self, units=dataset.unit_codes[rows], unit_word=dataset.unit_word)

    def check_alike(self, other: "LayerSamples") -> None:
        """Raise DataError, saying what differs, unless both come from one layer and know the same classes."""
        if self.class_names != other.class_names:
            raise DataError(
                f"{self.name} and {other.name} differ in their classes: {self.n_classes} and {other.n_classes} names, "
                "which must be the same, in the same order."
            )
        if self.features.shape[1] != other.features.shape[1]:
            raise DataError(
                f"Features of another length: {self.name} has {self.features.shape[1]} a sample, {other.name} has "
                f"{other.features.shape[1]}. Both must come from the same layer of the same model."
            )


@dataclass(frozen=True, eq=False)
class Layer:
    """A layer by its name, with the part of a model `before` it and the part `after` it, which is its head.

    `shape` is what it makes of one sample, such as 16 x 5 x 5; features are that, in a row.
    Calling the layer with features gives the probabilities that the head gives: a layer is a `Head`.

    Examples
    --------
    >>> import torch
    >>> from touchstone.core.models.architectures import build
    >>> state = build("cnn_1", (1, 8, 8), 3, seed=0).state_dict()
    >>> model = TrainedNetwork("cnn_1", (1, 8, 8), ("a", "b", "c"), scale=1.0, fingerprint="", state=state)
    >>> layer = layer_of(model, "last convolution")
    >>> layer.shape, layer(layer.features(torch.zeros(5, 1, 8, 8))).shape
    ((32, 4, 4), (5, 3))
    """

    name: str
    shape: tuple[int, ...]
    class_names: tuple[str, ...]
    before: Callable[["torch.Tensor"], "torch.Tensor"] = field(repr=False)
    after: Callable[["torch.Tensor"], "torch.Tensor"] = field(repr=False)

    @property
    def n_features(self) -> int:
        """How many numbers a sample has in this layer."""
        return prod(self.shape)

    def features(self, inputs: "torch.Tensor") -> Float[np.ndarray, "n_samples n_features"]:
        """Give what the layer makes of inputs, batch by batch."""
        with torch.inference_mode():
            parts = [self.before(batch).flatten(1).float().cpu().numpy() for batch in inputs.split(_BATCH)]
        return np.concatenate(parts) if parts else np.zeros((0, self.n_features), dtype=np.float32)

    def __call__(self, features: Float[np.ndarray, "n n_features"]) -> Float[np.ndarray, "n n_classes"]:
        """Give the probabilities that the head gives for features, wherever they come from."""
        if features.ndim != 2 or features.shape[1] != self.n_features:
            raise ModelError(
                f"The head behind {self.name!r} takes {self.n_features} features a sample, these are of shape "
                f"{features.shape}."
            )
        given = torch.from_numpy(np.array(features, dtype=np.float32))
        with torch.inference_mode():
            parts = [self.after(batch.reshape(-1, *self.shape)) for batch in given.split(_BATCH)]
            logits = torch.cat(parts) if parts else torch.zeros(0, len(self.class_names))
            return logits.double().softmax(dim=1).numpy()

    def samples(self, inputs: "torch.Tensor", y: Any, *, ids: Any = None, name: str = "samples") -> LayerSamples:
        """Give features and probabilities of inputs with their labels."""
        features = self.features(inputs)
        return LayerSamples(features, y, self(features), self.class_names, ids=ids, name=name)


def layer_names(model: Model) -> tuple[str, ...]:
    """Name the layers that a model offers, the usual one first.

    Of a network "last hidden" and "last convolution"; "inputs" where it is linear; "outputs" of a model whose inside
    is not known.

    Examples
    --------
    >>> from touchstone.core.models.architectures import build
    >>> state = build("linear", (2,), 2, seed=0).state_dict()
    >>> layer_names(TrainedNetwork("linear", (2,), ("a", "b"), scale=1.0, fingerprint="", state=state))
    ('inputs',)
    """
    if not isinstance(model, TrainedNetwork):
        return (OUTPUTS,)
    offered = model.module().layers
    return tuple(name for name in (DEFAULT_LAYER, "last convolution") if name in offered) or ("inputs",)


def layer_of(model: Model, name: str | None = None) -> Layer:
    """Give a layer by its name, by default the usual one. Raises ModelError, naming those there are, for another.

    Examples
    --------
    >>> from touchstone.core.models.architectures import build
    >>> state = build("linear", (2,), 2, seed=0).state_dict()
    >>> layer_of(TrainedNetwork("linear", (2,), ("a", "b"), scale=1.0, fingerprint="", state=state), "last hidden")
    Traceback (most recent call last):
    touchstone.core.models.errors.ModelError: The model has no layer 'last hidden'. Take one of: inputs.
    """
    names = layer_names(model)
    name = names[0] if name is None else name
    if name not in names:
        raise ModelError(f"The model has no layer {name!r}. Take one of: {', '.join(names)}.")
    if not isinstance(model, TrainedNetwork):
        return Layer(name, (len(model.class_names),), model.class_names, model.logits, lambda logits: logits)
    network = model.module()
    stages = list(network.trunk.named_children())
    # 0, hence everything, where the name is that of the inputs: no stage of the trunk is called so.
    cut = next((i + 1 for i, (stage, _) in enumerate(stages) if stage.replace("_", " ") == name), 0)
    first = torch.nn.Sequential(*(stage for _, stage in stages[:cut]))
    rest = torch.nn.Sequential(*(stage for _, stage in stages[cut:]), network.head)
    first.eval()
    rest.eval()

    def before(x: "torch.Tensor") -> "torch.Tensor":
        if tuple(x.shape[1:]) != network.input_shape:
            raise ModelError(f"The network takes inputs of shape {network.input_shape}, not {tuple(x.shape[1:])}.")
        return first(((x - network.centre) / network.spread).to(network.head.weight.dtype))

    with torch.inference_mode():
        shape = tuple(before(torch.zeros(1, *network.input_shape)).shape[1:])
    return Layer(name, shape, model.class_names, before, rest)


def layer_samples(
    model: TrainedNetwork | ForeignModel,
    dataset: Dataset,
    rows: Integer[np.ndarray, " n_rows"],
    *,
    layer: str | None = None,
    name: str = "samples",
) -> LayerSamples:
    """Give these rows of a data set as a layer of a model sees them.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> from touchstone.core.models.networks import Mlp2048
    >>> wine = load_example("wine")
    >>> trained = Mlp2048(n_epochs=1).fit(wine.x, wine.y, seed=0).trained(wine)
    >>> layer_samples(trained, wine, np.arange(9)).features.shape
    (9, 2048)
    """
    inputs = model_inputs(model, dataset, rows)
    with one_torch_thread():
        return layer_of(model, layer).samples(inputs, dataset.y[rows], ids=dataset.ids[rows], name=name)


@dataclass(frozen=True, eq=False)
class FittedHead:
    """A linear head that was fitted to uploaded features and probabilities, for want of the model itself.

    `agreement` is how often it takes the samples for the same class as the model did, `error` the mean difference of
    the probability of that class: of the last hidden layer, both are next to perfect, since a network's last step is
    linear there.
    """

    weights: Float[np.ndarray, "n_features n_classes"] = field(repr=False)
    intercept: Float[np.ndarray, " n_classes"] = field(repr=False)
    agreement: float
    error: float

    def __call__(self, features: Float[np.ndarray, "n n_features"]) -> Float[np.ndarray, "n n_classes"]:
        """Give the probabilities that the head gives for features."""
        from scipy.special import softmax

        if features.ndim != 2 or features.shape[1] != len(self.weights):
            raise ModelError(
                f"The head takes {len(self.weights)} features a sample, these are of shape {features.shape}."
            )
        return softmax(features.astype(np.float64) @ self.weights + self.intercept, axis=1)


def fit_head(samples: LayerSamples, *, n_steps: int = 300) -> FittedHead:
    """Fit a linear head to what a model said about samples: cross-entropy with its probabilities, by L-BFGS.

    Examples
    --------
    >>> from scipy.special import softmax
    >>> rng = np.random.default_rng(0)
    >>> features = rng.normal(size=(200, 3))
    >>> samples = LayerSamples(features, None, softmax(features @ rng.normal(size=(3, 4)), axis=1), tuple("abcd"))
    >>> fit_head(samples).agreement > 0.98
    True
    """
    from scipy.optimize import minimize
    from scipy.special import softmax

    # Features of about size 1, whatever the network's: L-BFGS takes its first step without knowing the curvature.
    scale = float(np.sqrt(np.square(samples.features - samples.features.mean(axis=0)).mean())) or 1.0
    x = np.column_stack([samples.features.astype(np.float64) / scale, np.ones(len(samples))])
    p = samples.proba / samples.proba.sum(axis=1, keepdims=True)
    logs = np.log(np.maximum(p, 1e-6))
    # Where the head is linear its logits are, up to a constant per row: least squares is then all but the answer.
    start = _least_squares(x, logs - logs.mean(axis=1, keepdims=True))

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(start.shape)
        q = softmax(x @ weights, axis=1)
        value = -(p * np.log(np.maximum(q, 1e-300))).sum() / len(x)
        # The penalty only decides between weights that mean the same probabilities.
        return float(value + 1e-8 * np.square(weights).sum()), (x.T @ (q - p) / len(x) + 2e-8 * weights).ravel()

    best = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": n_steps}).x
    fitted = best.reshape(start.shape)
    q = softmax(x @ fitted, axis=1)
    rows = np.arange(len(x))
    top = p.argmax(axis=1)
    return FittedHead(
        fitted[:-1] / scale,
        fitted[-1],
        float((q.argmax(axis=1) == top).mean()),
        float(np.abs(q[rows, top] - p[rows, top]).mean()),
    )


def _least_squares(x: Float[np.ndarray, "n d"], y: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "d k"]:
    """Give the least weights with which x tells y, next to exactly: by the smaller of both Gram matrices."""
    from scipy.linalg import solve

    wide = len(x) < x.shape[1]
    gram = x @ x.T if wide else x.T @ x
    gram.flat[:: len(gram) + 1] += 1e-10 * np.trace(gram)
    return x.T @ solve(gram, y, assume_a="pos") if wide else solve(gram, x.T @ y, assume_a="pos")


def _numbers(values: Any, what: str, name: str) -> np.ndarray:
    given = np.asarray(values)
    if given.ndim != 2 or given.dtype.kind not in "fiub":
        raise DataError(
            f"{name}: {what} are {given.dtype} of shape {given.shape}. They must be numbers, a row for each sample."
        )
    array = read_only(values, np.float32 if given.dtype == np.float32 else np.float64)
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(bad):
        raise DataError(f"{name}: {what} of sample {bad[0] + 1} hold something that is no finite number.")
    return array


def _check(samples: LayerSamples) -> None:
    name, n_samples, n_classes = samples.name, len(samples), samples.n_classes
    check_unique(samples.class_names, "class name", name)
    check_unique(samples.ids, "id", name)
    if n_classes < 2:
        raise DataError(f"{name}: {n_classes} class. A classifier needs two classes or more.")
    if samples.features.shape[1] == 0:
        raise DataError(f"{name}: the samples have no features at all.")
    if len(samples.ids) != n_samples or (samples.y is not None and len(samples.y) != n_samples):
        n_described = len(samples.ids) if samples.y is None or len(samples.ids) != n_samples else len(samples.y)
        raise DataError(
            f"{name}: features of {n_samples} samples, but {n_described} labels or ids. There must be as many."
        )
    if samples.proba.shape != (n_samples, n_classes):
        raise DataError(
            f"{name}: probabilities of shape {samples.proba.shape}. They must be of {(n_samples, n_classes)}: a row "
            "for each sample, a column for each class name."
        )
    if samples.y is not None and (samples.y.min() < 0 or samples.y.max() >= n_classes):
        raise DataError(
            f"{name}: labels run from {samples.y.min()} to {samples.y.max()}. With {n_classes} class names they must "
            f"lie in 0 to {n_classes - 1}."
        )
    low, high, sums = samples.proba.min(), samples.proba.max(), samples.proba.sum(axis=1)
    if low < 0 or high > 1 + _SLACK:
        raise DataError(f"{name}: probabilities run from {low:g} to {high:g}; are these logits?")
    row = int(np.abs(sums - 1).argmax())
    if abs(sums[row] - 1) > _SLACK + 1e-9:
        raise DataError(
            f"{name}: the probabilities of sample {samples.ids[row]!r} sum to {sums[row]:.4g}. Each row must sum to 1."
        )
