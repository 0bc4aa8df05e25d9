"""Which ways are there to find sources? Clusterings, and networks that are trained for it (Kilinc & Uysal 2017)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial

import numpy as np
from jaxtyping import Float, Integer, Real, Shaped

from touchstone.core.cluster.sources import (
    Clusterer,
    FoundSources,
    OnStep,
    cluster_classes,
    gaussian_mixture,
    kmeans,
    same_size_kmeans,
    unheard,
)
from touchstone.core.data import Dataset
from touchstone.core.data.errors import DataError
from touchstone.core.models.architectures import ARCHITECTURES, build
from touchstone.core.models.classical import ShouldStop
from touchstone.core.models.errors import ModelError
from touchstone.core.models.inputs import network_inputs
from touchstone.core.models.late import torch
from touchstone.core.models.layers import layer_of
from touchstone.core.models.networks import (
    Cnn2,
    MlpSmall,
    adamw,
    best_device,
    fits,
    one_torch_thread,
    predict_logits,
    sgd,
    train,
)
from touchstone.core.models.threads import single_threaded
from touchstone.core.registry import Registry

# Which sources does k-means find in what a network makes of the samples? "Deep k-means", which cannot collapse.
#
# A network learns the classes of all samples; what its last hidden layer makes of them is clustered within each class,
# into sources of the same size. The features saw the labels, but no model is trained or tested on them.


def deep_kmeans(
    dataset: Dataset,
    *,
    n_sources: int = 5,
    seed: int = 0,
    on_step: OnStep = unheard,
    should_stop: ShouldStop | None = None,
) -> FoundSources:
    """Cluster each class by same-size k-means in the last hidden layer of a network of all samples and labels.

    The network is CNN-2 where the samples are images that are large enough for it, else the small neural network, each
    with its usual options. Raises DataError where a class has too few different samples, Cancelled between epochs.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> found = deep_kmeans(load_example("wine"), n_sources=3)
    >>> np.bincount(found.sources)[-3:], found.options
    (array([16, 16, 16]), 'Small neural network, 30 epochs')
    """
    features, options = _last_hidden_layer(dataset, seed, on_step, should_stop)
    sources = cluster_classes(
        features,
        dataset.y,
        same_size_kmeans,
        n_sources=n_sources,
        rng=np.random.default_rng(seed),
        class_names=dataset.class_names,
    )
    return FoundSources(sources, options)


def _last_hidden_layer(
    dataset: Dataset, seed: int, on_step: OnStep, should_stop: ShouldStop | None
) -> tuple[Float[np.ndarray, "n_samples n_features"], str]:
    """The features, and which network they are of."""

    def on_epoch(n_done: int, n_epochs: int, _loss: float) -> None:
        on_step(n_done, n_epochs)

    options = {"seed": seed, "n_classes": dataset.n_classes, "should_stop": should_stop, "on_epoch": on_epoch}
    if not fits(Cnn2, dataset):
        small = MlpSmall(n_epochs=30).fit(dataset.x, dataset.y, **options)
        return small.hidden_layer(dataset.x), f"{small.label}, {small.n_epochs} epochs"
    deep = Cnn2(n_epochs=20).fit(dataset.x, dataset.y, **options)
    with single_threaded(), one_torch_thread():
        features = layer_of(deep.trained(dataset)).features(network_inputs(dataset.x))
    return features, f"{deep.label}, {deep.n_epochs} epochs"


# Which sources does a network find within classes? The auto-clustering output layer (Kilinc & Uysal 2017, section 2).


TRUNK = "cnn_2"
LEAST_SHARE = 0.05
"""A source with a smaller share of its class is too small to be tested on; its samples go to others."""
LEAST_SOURCES = 2
"""A class with fewer sources has none to hold out: the network has collapsed."""
_EPSILON = 1e-7


@dataclass(frozen=True)
class AcolOptions:
    """How the network is trained: coefficients of the penalty (`acol_penalty`) and of the descent.

    `n_updates` is at least so many, in whole epochs. `optimizer` is "sgd", with `momentum`, or "adam"; `decay` lowers
    the learning rate to `learning_rate` / (1 + `decay` * updates). `glorot` starts the head as the authors' code does,
    with uniform weights of Glorot and Bengio and no bias, in place of torch's smaller ones. `per_class` asks for the
    penalty of the units of every class by themselves, averaged over classes, instead of that of all units together.
    """

    n_updates: int = 600
    batch_size: int = 128
    optimizer: str = "sgd"
    learning_rate: float = 0.01
    decay: float = 1e-6
    momentum: float = 0.95
    glorot: bool = True
    c1: float = 1.0
    c2: float = 1.0
    c3: float = 0.0
    c4: float = 1e-6
    per_class: bool = False

    def n_epochs(self, n_samples: int) -> int:
        """How many epochs make so many updates.

        >>> AcolOptions(n_updates=600, batch_size=400).n_epochs(3000)
        75
        """
        return math.ceil(self.n_updates / math.ceil(n_samples / self.batch_size))


LADDER = (
    AcolOptions(c1=0.1, batch_size=400),
    AcolOptions(c1=0.1, batch_size=400, optimizer="adam", learning_rate=0.001),
    AcolOptions(),
)
"""What is tried, one after the other, each with another seed (docs/measured/acol.md has what else was)."""


def acol_penalty(z: "torch.Tensor", *, n_classes: int, options: AcolOptions) -> "torch.Tensor":
    """Give R(Z) of activities (n_samples, n_units), where unit k * C + c is the k-th of class c.

    With B = max(Z, 0), U = B'B, v = diag U and V = vv': affinity is the share of U that lies off its diagonal, balance
    that of V, both in units of what is largest; R = c1 * affinity + c2 * (1 - balance) + c3 * (sum U - tr U)
    + c4 * sum Z^2.

    Examples
    --------
    >>> import torch
    >>> apart = torch.eye(4)  # each of four units fires for one sample alone
    >>> bool(acol_penalty(apart, n_classes=2, options=AcolOptions()) < 1e-4)
    True
    >>> bool(acol_penalty(torch.ones(4, 4), n_classes=2, options=AcolOptions()) > 0.9)  # all fire together
    True
    """
    if not options.per_class:
        return _penalty(z, options)
    n_units = z.shape[1]
    own = [torch.arange(label, n_units, n_classes, device=z.device) for label in range(n_classes)]
    return torch.stack([_penalty(z[:, units], options) for units in own]).mean()


def _penalty(z: "torch.Tensor", options: AcolOptions) -> "torch.Tensor":
    n = z.shape[1]
    fired = z.clamp(min=0)
    together = fired.T @ fired
    own = together.diagonal()
    trace, total = own.sum(), together.sum()
    affinity = (total - trace) / ((n - 1) * trace + _EPSILON)
    squares = own.square().sum()
    balance = (own.sum().square() - squares) / ((n - 1) * squares + _EPSILON)
    shared = options.c1 * affinity + options.c2 * (1 - balance)
    return shared + options.c3 * (total - trace) + options.c4 * z.square().sum()


def pooled_log_probabilities(z: "torch.Tensor", n_classes: int) -> "torch.Tensor":
    """Give the logarithms of class probabilities (n_samples, n_classes): the softmax over all units, summed by class.

    Examples
    --------
    >>> import torch
    >>> pooled_log_probabilities(torch.zeros(1, 6), 2).exp()
    tensor([[0.5000, 0.5000]])
    """
    return z.log_softmax(dim=1).reshape(len(z), -1, n_classes).logsumexp(dim=1)


def acol_loss(z: "torch.Tensor", y: "torch.Tensor", *, n_classes: int, options: AcolOptions) -> "torch.Tensor":
    """Give the cross-entropy of the pooled probabilities plus the penalty.

    Examples
    --------
    >>> import torch
    >>> z = torch.tensor([[9.0, 0.0, 0.0, 0.0], [0.0, 9.0, 0.0, 0.0]])
    >>> right, wrong = (acol_loss(z, torch.tensor(y), n_classes=2, options=AcolOptions()) for y in ([0, 1], [1, 0]))
    >>> bool(right < wrong)
    True
    """
    fit = torch.nn.functional.nll_loss(pooled_log_probabilities(z, n_classes), y)
    return fit + acol_penalty(z, n_classes=n_classes, options=options)


def merged(
    activities: Float[np.ndarray, "n_samples n_sources"], y: Integer[np.ndarray, " n_samples"]
) -> Integer[np.ndarray, " n_samples"]:
    """Give each sample the unit of its class that it fires most, of those that hold a twentieth of their class.

    The smallest unit below that is given up first, and its samples counted for the next one.

    Examples
    --------
    >>> activities = np.array([[3.0, 0.0, 0.0]] * 50 + [[0.0, 3.0, 0.0]] * 48 + [[0.0, 1.0, 2.0]] * 2)
    >>> np.bincount(merged(activities, np.zeros(100, dtype=int)), minlength=3)
    array([50, 50,  0])
    """
    units = np.empty(len(y), dtype=np.int64)
    for label in np.unique(y):
        rows, left = np.flatnonzero(y == label), np.arange(activities.shape[1])
        while True:
            units[rows] = left[activities[rows][:, left].argmax(axis=1)]
            sizes = np.bincount(units[rows], minlength=activities.shape[1])[left]
            if sizes.min() >= LEAST_SHARE * len(rows) or len(left) == 1:
                break
            left = np.delete(left, sizes.argmin())
    return units


def n_sources_of(
    units: Integer[np.ndarray, " n_samples"], y: Integer[np.ndarray, " n_samples"]
) -> Integer[np.ndarray, " n_classes"]:
    """Give how many units the samples of each class fire.

    >>> n_sources_of(np.array([0, 0, 2, 1, 1]), np.array([0, 0, 0, 1, 1]))
    array([2, 1])
    """
    return np.array([len(np.unique(units[y == label])) for label in np.unique(y)])


def acol_sources(
    x: Shaped[np.ndarray, "n_samples ..."],
    y: Integer[np.ndarray, " n_samples"],
    *,
    n_sources: int = 5,
    seed: int = 0,
    ladder: tuple[AcolOptions, ...] = LADDER,
    on_step: OnStep = unheard,
    should_stop: ShouldStop | None = None,
    class_names: Sequence[str] | None = None,
) -> FoundSources:
    """Train on images in [0, 1] and their classes until every class has sources to hold out, else take k-means.

    A training that diverges has failed, too. Where units were given up, a class has fewer than `n_sources`, and a note
    says so. `class_names` are for errors; `on_step` hears of the epochs of all tries together. Raises DataError for
    inputs that are no images or too small, and Cancelled between epochs.
    """
    if x.ndim != 4 or not ARCHITECTURES[TRUNK].fits((x.shape[3], *x.shape[1:3])):
        side = ARCHITECTURES[TRUNK].smallest
        raise DataError(
            f"ACOL finds sources in images of at least {side} x {side} pixels, not in inputs of shape {x.shape[1:]}. "
            "Choose another source finder."
        )
    y_code = np.unique(y, return_inverse=True)[1]
    epochs = np.cumsum([0, *(options.n_epochs(len(x)) for options in ladder)]).tolist()
    for number, options in enumerate(ladder):

        def on_epoch(n_done: int, _activities: Activities, before: int = epochs[number]) -> None:
            on_step(before + n_done, epochs[-1])

        try:
            activities = train_acol(
                x,
                y_code,
                n_sources=n_sources,
                seed=seed + number,
                options=options,
                on_epoch=on_epoch,
                should_stop=should_stop,
            )
        except ModelError:
            continue
        units = merged(activities, y_code)
        n_found = n_sources_of(units, y_code)
        if n_found.min() >= LEAST_SOURCES:
            sources = (y_code * n_sources + units).astype(np.int64)
            note = _note(number + 1, len(ladder), n_found, n_sources)
            return FoundSources(sources, described(options), number + 1, note)
    features = np.asarray(x, dtype=np.float64).reshape(len(x), -1)
    sources = cluster_classes(
        features, y, kmeans, n_sources=n_sources, rng=np.random.default_rng(seed), class_names=class_names
    )
    tries = f"{len(ladder)} of {len(ladder)} tries"
    note = (
        f"ACOL left a class with one source, or diverged, in {tries}: these sources are those of k-means on the pixels."
    )
    return FoundSources(sources, "", len(ladder), note)


def described(options: AcolOptions) -> str:
    """Options of a training in a line: those that are not as usual.

    Examples
    --------
    >>> described(AcolOptions()), described(AcolOptions(c1=0.1, optimizer="adam"))
    ('usual options', 'optimizer adam, c1 0.1')
    """
    usual = AcolOptions()
    unusual = [field.name for field in fields(options) if getattr(options, field.name) != getattr(usual, field.name)]
    values = {name: getattr(options, name) for name in unusual}
    told = [f"{name} {value if isinstance(value, str) else f'{value:g}'}" for name, value in values.items()]
    return ", ".join(told) or "usual options"


def _note(n_tries: int, n_options: int, n_found: Integer[np.ndarray, " n_classes"], n_sources: int) -> str:
    """What somebody has to know who reads results: that it took several tries, that classes have fewer sources."""
    told = [] if n_tries == 1 else [f"ACOL failed at first; setting {n_tries} of {n_options} worked."]
    if n_found.min() < n_sources:
        n_all, n_units = n_found.sum(), n_sources * len(n_found)
        told.append(f"ACOL found {n_all} of {n_units} sources, {n_found.min()} to {n_found.max()} in a class.")
    return " ".join(told)


Activities = Callable[[], Float[np.ndarray, "n_samples n_sources"]]


def train_acol(
    x: Shaped[np.ndarray, "n_samples ..."],
    y: Integer[np.ndarray, " n_samples"],
    *,
    n_sources: int,
    seed: int,
    options: AcolOptions,
    on_epoch: Callable[[int, Activities], None] = lambda n_done, activities: None,
    should_stop: ShouldStop | None = None,
) -> Float[np.ndarray, "n_samples n_sources"]:
    """Train one network; give how much each sample fires the units of its own class (`y` are codes from 0).

    `on_epoch` hears of every epoch, and may ask for the activities then. Raises ModelError where training diverges, and
    Cancelled between epochs.
    """
    n_classes = int(y.max()) + 1
    with single_threaded(), one_torch_thread():
        inputs = network_inputs(x)
        network = build(TRUNK, tuple(inputs.shape[1:]), n_classes * n_sources, seed=seed)
        if options.glorot:
            with torch.no_grad():
                torch.nn.init.xavier_uniform_(network.head.weight, generator=torch.Generator().manual_seed(seed))
                network.head.bias.zero_()
        descent = adamw if options.optimizer == "adam" else partial(sgd, momentum=options.momentum)
        optimizer = descent(network, learning_rate=options.learning_rate, weight_decay=0.0)
        slower = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda update: 1 / (1 + options.decay * update))
        optimizer.register_step_post_hook(lambda *_: slower.step())

        def activities() -> Float[np.ndarray, "n_samples n_sources"]:
            # Unit u belongs to class u modulo the number of classes.
            z = predict_logits(network, inputs).reshape(len(x), n_sources, n_classes).numpy()
            return z[np.arange(len(x)), :, y]

        train(
            network,
            inputs,
            torch.tensor(y, dtype=torch.int64),
            optimizer=optimizer,
            n_epochs=options.n_epochs(len(x)),
            batch_size=options.batch_size,
            generator=torch.Generator().manual_seed(seed),
            loss=lambda network, x, y: acol_loss(network(x), y, n_classes=n_classes, options=options),
            bfloat16=True,
            device=best_device(),
            on_epoch=lambda n_done, _n_epochs, _loss: on_epoch(n_done, activities),
            should_stop=should_stop,
        )
        return activities()


# The ways to find sources, and finding them in one of these ways.


@dataclass(frozen=True)
class SourceFinder:
    """A way to find sources: what the screen calls it, how it finds them, and what it takes.

    One that has `cluster` clusters the features of each class: that takes seconds. One that has `train` trains a
    network, and is called with a data set, `n_sources`, `seed`, `on_step` and `should_stop`; it takes minutes, and so
    its sources are found once by a run of their own (`core.trials.SourcesPlan`) and kept. `fits` says of a data set
    whether it can be used there, `takes` says which it can be used on. `short` is its name beside a model's, where
    there is little room, and `in_sentences` that in a sentence; they are the title where it has none. `version` is
    raised when it comes to find other sources: runs of plans that chose it are then computed by an older method.

    Examples
    --------
    >>> [name for name, finder in SOURCE_FINDERS.items() if finder.trains]
    ['deep_kmeans', 'acol']
    """

    title: str
    train: Callable[..., FoundSources] | None = None
    fits: Callable[[Dataset], bool] = lambda dataset: True
    takes: str = "any data"
    cluster: Clusterer | None = None
    short: str = ""
    in_sentences: str = ""
    version: int = 1

    def __post_init__(self) -> None:
        if (self.train is None) == (self.cluster is None):
            raise TypeError(f"{self.title}: a source finder either clusters features or trains a network.")
        object.__setattr__(self, "short", self.short or self.title)
        object.__setattr__(self, "in_sentences", self.in_sentences or self.short)

    @property
    def trains(self) -> bool:
        """Whether a network is trained to find the sources."""
        return self.train is not None


def trains(method: str) -> bool:
    """Whether a name is that of a source finder that trains a network.

    Examples
    --------
    >>> trains("acol"), trains("kmeans"), trains("known")
    (True, False, False)
    """
    return method in SOURCE_FINDERS and SOURCE_FINDERS[method].trains


def find_sources(
    features: Real[np.ndarray, "n_samples n_features"],
    y: Integer[np.ndarray, " n_samples"],
    *,
    n_sources: int = 5,
    method: str = "kmeans",
    rng: np.random.Generator,
    class_names: Sequence[str] | None = None,
) -> Integer[np.ndarray, " n_samples"]:
    """Cluster the features of each class by one of `SOURCE_FINDERS` that trains nothing (`cluster_classes`).

    Raises DataError for another name, and where a class has fewer different samples than ``n_sources``.

    Examples
    --------
    >>> features, y = np.array([[0.0], [0.1], [5.0], [5.1]]), np.zeros(4, int)
    >>> sources = find_sources(features, y, n_sources=2, rng=np.random.default_rng(0))
    >>> bool(sources[0] == sources[1] != sources[2])
    True
    """
    clusterers = {name: finder.cluster for name, finder in SOURCE_FINDERS.items() if finder.cluster is not None}
    if method not in clusterers:
        raise DataError(f"There is no way to cluster a class called {method!r}; there are: {', '.join(clusterers)}.")
    return cluster_classes(features, y, clusterers[method], n_sources=n_sources, rng=rng, class_names=class_names)


def train_for_sources(
    method: str,
    dataset: Dataset,
    *,
    n_sources: int = 5,
    seed: int = 0,
    on_step: OnStep = unheard,
    should_stop: ShouldStop | None = None,
) -> FoundSources:
    """Find sources by one of `SOURCE_FINDERS` that trains; the same seed gives the same sources.

    Raises DataError for a finder that does not fit the data set or trains nothing, and Cancelled between epochs.
    """
    check_finder(method, dataset)
    train = SOURCE_FINDERS[method].train
    if train is None:
        raise DataError(f"{SOURCE_FINDERS[method].title}: nothing is trained for these. Cluster features instead.")
    return train(dataset, n_sources=n_sources, seed=seed, on_step=on_step, should_stop=should_stop)


def check_finder(method: str, dataset: Dataset) -> None:
    """Raise DataError, before anything is trained, where a source finder cannot be used on this data set.

    Examples
    --------
    >>> from touchstone.core.data import load_example
    >>> check_finder("acol", load_example("wine"))
    Traceback (most recent call last):
    touchstone.core.data.errors.DataError: ACOL (experimental) needs images of at least 4 x 4 pixels, and wine is ...
    """
    finder = SOURCE_FINDERS[method]
    if finder.fits(dataset):
        return
    size = f" of {dataset.x.shape[1]} x {dataset.x.shape[2]} pixels" if dataset.kind == "image" else ""
    raise DataError(
        f"{finder.title} needs {finder.takes}, and {dataset.name} is {dataset.kind} data{size}. "
        "Choose another way to find sources."
    )


_BUILT_IN = {
    "kmeans": SourceFinder("k-means clusters", cluster=kmeans, short="k-means"),
    "same_size_kmeans": SourceFinder(
        "k-means clusters of the same size",
        cluster=same_size_kmeans,
        short="same-size",
        in_sentences="same-size k-means",
        version=2,  # since 2 steps go beyond the means, and starts are tried on 3,000 samples
    ),
    "gaussian_mixture": SourceFinder(
        "Gaussian mixture", cluster=gaussian_mixture, short="mixture", in_sentences="the Gaussian mixture"
    ),
    "deep_kmeans": SourceFinder("deep k-means", deep_kmeans),
    "acol": SourceFinder(
        "ACOL (experimental)",
        lambda dataset, **options: acol_sources(dataset.x, dataset.y, class_names=dataset.class_names, **options),
        lambda dataset: fits(Cnn2, dataset),
        "images of at least 4 x 4 pixels",
        short="ACOL",
    ),
}
SOURCE_FINDERS: Registry[SourceFinder] = Registry(
    "touchstone.source_finders",
    SourceFinder,
    _BUILT_IN,
    taken=("known",),  # in the place of a finder: the sources that the data set names
)
"""Every way to find sources, by name."""
