"""Decoders fitted to features that hold the image, or have nothing to do with it: do decoded images lie nearer?

These worlds were chosen after the others were frozen. An image is a blob whose place and size vary; features are these
three numbers, with a little noise, or three numbers drawn anew. A decoder that is given the latter can only do worse
than the mean image, by what it has learned by heart. True effects are means over 100 other data sets (`truth`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tests.worlds.guided_tests_claims import claim_of_decoder
from tests.worlds.world import World
from touchstone.core.evaluate.claims import Claim
from touchstone.core.evaluate.guided_tests.results import reconstruction
from touchstone.core.models.decoder import fit_decoder

HELPS = "guided_tests.decoder_helps"
SIDE = 8


@dataclass(frozen=True)
class Design:
    """How many images are decoded, and how far features are off (None: they are drawn anew)."""

    name: str
    n_test: int
    effect: float
    noise: float | None = None
    n_train: int = 200
    n_epochs: int = 10

    def world(self) -> World:
        """The world of this design."""
        return World("guided_tests", f"{self.name}, n = {self.n_test}", {HELPS: self.effect}, self.claims)

    def claims(self, data_seed: int, method_seed: int) -> Mapping[str, Claim]:
        """What the page claims of a decoder fitted anew."""
        rng = np.random.default_rng([data_seed, self.n_test])
        (features, images), (new_features, new_images) = (self.drawn(rng, n) for n in (self.n_train, self.n_test))
        decoder = fit_decoder(features, images, n_epochs=self.n_epochs, batch_size=32, seed=method_seed)
        return claim_of_decoder(reconstruction(decoder, new_features, new_images))

    def drawn(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Features and images."""
        latent = rng.uniform(size=(n, 3))
        row, column, size = (part[:, None, None] for part in latent.T)
        rows, columns = np.mgrid[:SIDE, :SIDE] / (SIDE - 1)
        squares = (rows - row) ** 2 + (columns - column) ** 2
        images = np.exp(-squares / (2 * (0.1 + 0.2 * size) ** 2))[..., None]
        features = rng.uniform(size=(n, 3)) if self.noise is None else latent + self.noise * rng.normal(size=(n, 3))
        return features, images


def truth(design: Design, n_data_sets: int = 100) -> tuple[float, float]:
    """By how much decoded images lie nearer: the mean over data sets, and its standard error."""
    values = [design.claims(seed, seed)[HELPS].estimate for seed in range(10_000, 10_000 + n_data_sets)]
    return float(np.mean(values)), float(np.std(values) / np.sqrt(n_data_sets))


DESIGNS = (
    Design("features that say nothing of the image", 60, -0.006),
    Design("features that say nothing of the image, learned by heart", 20, -0.017, n_train=60, n_epochs=60),
    Design("features that hold the image, with noise", 100, 0.096, noise=0.1),
)
WORLDS = tuple(design.world() for design in DESIGNS)
