"""Which sources does k-means find in what a network makes of the samples? "Deep k-means", which cannot collapse.

A network learns the classes of all samples; what its last hidden layer makes of them is clustered within each class,
into sources of the same size. The features saw the labels, but no model is trained or tested on them.
"""

import numpy as np
from jaxtyping import Float

from touchstone.core.cluster.found import FoundSources, OnStep, unheard
from touchstone.core.cluster.sources import cluster_classes, same_size_kmeans
from touchstone.core.data import Dataset
from touchstone.core.models.classical import ShouldStop
from touchstone.core.models.inputs import network_inputs
from touchstone.core.models.layers import layer_of
from touchstone.core.models.networks import Cnn2, MlpSmall
from touchstone.core.models.threads import single_threaded
from touchstone.core.models.training import fits, one_torch_thread


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
        small = MlpSmall().fit(dataset.x, dataset.y, **options)
        return small.hidden_layer(dataset.x), f"{small.label}, {small.n_epochs} epochs"
    deep = Cnn2().fit(dataset.x, dataset.y, **options)
    with single_threaded(), one_torch_thread():
        features = layer_of(deep.trained(dataset)).features(network_inputs(dataset.x))
    return features, f"{deep.label}, {deep.n_epochs} epochs"
