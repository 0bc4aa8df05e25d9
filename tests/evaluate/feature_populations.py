"""Samples in a feature space that is known: a normal cloud for each class, and the very head that tells them apart."""

import numpy as np

from touchstone.core.models.layers import LayerSamples


class LinearHead:
    """The posterior of normal clouds with one spread: softmax of what is linear in the features."""

    def __init__(self, means, spread=1.0):
        self.means, self.spread = np.asarray(means, dtype=np.float64), spread

    def __call__(self, features):
        logits = features.astype(np.float64) @ self.means.T / self.spread**2
        logits -= np.square(self.means).sum(axis=1) / (2 * self.spread**2)
        raised = np.exp(logits - logits.max(axis=1, keepdims=True))
        return raised / raised.sum(axis=1, keepdims=True)


def names(n_classes):
    return tuple(f"class {label}" for label in range(n_classes))


def head(n_classes=3, n_features=8, *, apart=4.0, seed=0):
    directions = np.random.default_rng(seed).normal(size=(n_classes, n_features))
    return LinearHead(apart * directions / np.linalg.norm(directions, axis=1, keepdims=True))


def cloud(of, n_per_class=100, *, seed=1, name="samples", shrunk=1.0):
    """Samples of every class; `n_per_class` may say how many of each."""
    n_classes, n_features = of.means.shape
    counts = np.broadcast_to(n_per_class, (n_classes,))
    y = np.repeat(np.arange(n_classes), counts)
    noise = np.random.default_rng(seed).normal(size=(len(y), n_features))
    features = of.means[y] + shrunk * of.spread * noise
    return LayerSamples(features, y, of(features), names(n_classes), name=name)
