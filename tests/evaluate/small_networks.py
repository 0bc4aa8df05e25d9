"""Models whose robustness is known, or nearly: linear ones, quadratics, and a small CNN on real digits."""

from functools import lru_cache

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn


def linear(n_features, n_classes, *, seed, dtype=torch.float64, scale=1.0):
    generator = torch.Generator().manual_seed(seed)
    model = nn.Linear(n_features, n_classes, dtype=dtype)
    with torch.no_grad():
        model.weight.copy_(scale * torch.randn(model.weight.shape, generator=generator, dtype=dtype))
        model.bias.copy_(torch.randn(n_classes, generator=generator, dtype=dtype))
    return model


def samples(n, n_features, *, seed, dtype=torch.float64):
    return torch.randn((n, n_features), generator=torch.Generator().manual_seed(seed), dtype=dtype)


class Logits:
    """A model that is only a function; its logits may have lost their gradients on the way."""

    def __init__(self, function, *, detached=False):
        self.function, self.detached = function, detached

    def logits(self, x):
        return self.function(x).detach() if self.detached else self.function(x)


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@lru_cache(maxsize=1)
def digits_cnn(n_epochs=20):
    """A small CNN, and the images and labels that it was not trained on; its test accuracy is about .98."""
    images, y = load_digits(return_X_y=True)
    x = torch.tensor(images.reshape(-1, 1, 8, 8) / 16.0, dtype=torch.float32)
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:1200], order[1200:]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = nn.Sequential(
            *(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten()),
            *(nn.Linear(512, 64), nn.ReLU(), nn.Linear(64, 10)),
        )
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
        labels = torch.tensor(y)
        for _ in range(n_epochs):
            for batch in torch.as_tensor(np.random.default_rng(_).permutation(train)).split(64):
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(x[batch]), labels[batch]).backward()
                optimizer.step()
    return model.eval(), x[test], y[test]


class SideBySide:
    """Two digits next to each other as one of a hundred classes: the logit of a pair is the sum of either's."""

    def __init__(self, model):
        self.model = model

    def logits(self, x):
        left, right = self.model(x[..., :8]), self.model(x[..., 8:])
        return (left[:, :, None] + right[:, None, :]).flatten(1)
